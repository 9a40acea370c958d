# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# tessella_readme_program(<file>)
#
# Writes the first C++ program of README.md to <file>, so that the tests compile
# the program that README.md shows. CMake configures again when README.md
# changes; <file> is left alone if it already has this text. The function uses
# strings and no lists, because C++ is full of semicolons and brackets.
function(tessella_readme_program output)
  set(readme ${PROJECT_SOURCE_DIR}/README.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${readme})
  file(READ ${readme} text)
  set(begin_mark "\n```cpp\n")
  set(end_mark "\n```\n")
  string(FIND "${text}" "${begin_mark}" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "README.md has no C++ program: no line \"```cpp\".")
  endif()
  string(LENGTH "${begin_mark}" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "${end_mark}" length)
  if(length EQUAL -1)
    message(FATAL_ERROR
      "The C++ program of README.md does not end: no line \"```\" after it.")
  endif()
  string(SUBSTRING "${text}" 0 ${length} program)
  set(present)
  if(EXISTS ${output})
    file(READ ${output} present)
  endif()
  if(NOT "${present}" STREQUAL "${program}\n")
    file(WRITE ${output} "${program}\n")
  endif()
endfunction()
