# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# For a deal.II 9.8 whose Trilinos has no Epetra, CMake must print a sentence
# that says so, and succeed with TESSELLA_WITH_EPETRA=OFF. A package that stops
# CMake at its first function stands for this deal.II. Variables:
# SOURCE_DIRECTORY, DIRECTORY (scratch, emptied first), GENERATOR

file(REMOVE_RECURSE ${DIRECTORY})
file(WRITE ${DIRECTORY}/deal.IIConfig.cmake [[
foreach(feature MPI METIS MUPARSER TRILINOS)
  set(DEAL_II_WITH_${feature} ON)
endforeach()
set(DEAL_II_PATH ${CMAKE_CURRENT_LIST_DIR})
set(DEAL_II_INCLUDE_RELDIR include)
macro(deal_ii_initialize_cached_variables)
  message(FATAL_ERROR "This deal.II is good enough.")
endmacro()
]])
file(WRITE ${DIRECTORY}/deal.IIConfigVersion.cmake [[
set(PACKAGE_VERSION 9.8.0)
set(PACKAGE_VERSION_COMPATIBLE TRUE)
]])
set(with "#define DEAL_II_TRILINOS_WITH_")
set(without "/* #undef DEAL_II_TRILINOS_WITH_")

# configure(<lines of config.h> <text expected> <option>...)
function(configure config expected)
  file(WRITE ${DIRECTORY}/include/deal.II/base/config.h "${config}\n")
  file(REMOVE_RECURSE ${DIRECTORY}/build)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIRECTORY} -B ${DIRECTORY}/build
      -G ${GENERATOR} -DDEAL_II_DIR=${DIRECTORY} -DCMAKE_BUILD_TYPE=Release
      ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(FIND "${output}" "${expected}" position)
  if(status EQUAL 0 OR position EQUAL -1)
    message(FATAL_ERROR "\"${expected}\" was expected, but CMake said:\n"
      "${output}")
  endif()
endfunction()

set(no_epetra "has no Trilinos with Epetra, on which Tessella's functions for \
TrilinosWrappers rest: use another deal.II (DEAL_II_DIR), or leave these \
functions out with -DTESSELLA_WITH_EPETRA=OFF.")
set(good "This deal.II is good enough.")
set(trilinos "#define DEAL_II_WITH_TRILINOS\n")
configure("${trilinos}${without}EPETRA */\n${without}EPETRAEXT */" "${no_epetra}")
configure("/* #undef DEAL_II_WITH_TRILINOS */" "${no_epetra}")
configure("${trilinos}${without}EPETRA */" "${good}" -DTESSELLA_WITH_EPETRA=OFF)
configure("${trilinos}${with}EPETRA\n${without}EPETRAEXT */" "${good}")
# deal.II 9.7
configure("${trilinos}${without}EPETRAEXT */" "${good}")
