# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs PROGRAM on PARAMETER_FILE with SETTINGS (arguments of --set with %% between
# them) in an empty DIRECTORY, to which it writes its files, and then once more for
# each line of the file MISTAKES:
#   Section/Parameter=value | sentence
# Each of these runs must end with an exit status that is not zero and print the
# sentence, where white space is ignored, and leave all files as they were after
# the first run.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
string(REPLACE "%%" ";" list "${SETTINGS}")
set(settings --set "Output/Directory=.")
foreach(setting IN LISTS list)
  list(APPEND settings --set "${setting}")
endforeach()

macro(run)
  execute_process(
    COMMAND ${PROGRAM} ${settings} --set "${setting}" ${PARAMETER_FILE}
    WORKING_DIRECTORY ${DIRECTORY}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
endmacro()
macro(fail reason)
  message(FATAL_ERROR "${setting}: ${reason}\nexit status: ${status}\n"
    "---- stdout\n${output}\n---- stderr\n${error}\n----")
endmacro()

# Names, times and checksums of all files.
macro(read_output variable)
  set(${variable})
  file(GLOB_RECURSE files ${DIRECTORY}/*)
  foreach(file ${files})
    file(SHA256 ${file} sum)
    file(TIMESTAMP ${file} time "%s")
    list(APPEND ${variable} ${file} ${time} ${sum})
  endforeach()
endmacro()

set(setting "Output/Directory=.")
run()
if(NOT status EQUAL 0)
  fail("The first run fails.")
endif()
read_output(before)
if(NOT before)
  fail("The first run writes no file.")
endif()

# A file that is written again, with the same content, gets another time.
execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1)
file(STRINGS ${MISTAKES} lines)
foreach(line IN LISTS lines)
  string(FIND "${line}" " | " position)
  string(SUBSTRING "${line}" 0 ${position} setting)
  math(EXPR position "${position} + 3")
  string(SUBSTRING "${line}" ${position} -1 expected)
  run()
  if(NOT status MATCHES "^[0-9]+$" OR status EQUAL 0 OR status GREATER 127)
    fail("The program does not notice the mistake, or crashes.")
  endif()
  string(REGEX REPLACE "[ \t\n]+" " " said "${error}")
  string(FIND "${said}" "${expected}" position)
  if(position EQUAL -1)
    fail("The program does not say: ${expected}")
  endif()
  read_output(after)
  if(NOT before STREQUAL after)
    fail("Files have changed:\n${before}\n${after}")
  endif()
endforeach()
