# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs COMMAND (%% between its words) in an empty DIRECTORY: the program poisson
# with a mesh, on any number of processes.
#
# With FAILS it must end with the exit status 1, print exactly one line of its
# own, which contains the text FAILS, print nothing on stdout and leave no file.
#
# Otherwise it must print exactly one line that begins with LINE, with an error
# between MINIMUM and MAXIMUM, and leave nothing but a complete file
# solution.vtu, whose pieces together have N_CELLS cells.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
string(REPLACE "%%" ";" command "${COMMAND}")
execute_process(
  COMMAND ${command}
  WORKING_DIRECTORY ${DIRECTORY}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE error)
file(GLOB_RECURSE files RELATIVE ${DIRECTORY} ${DIRECTORY}/*)

macro(fail reason)
  message(FATAL_ERROR "${reason}\n"
    "command: ${command}\nexit status: ${status}\nfiles: ${files}\n"
    "---- stdout\n${output}\n---- stderr\n${error}\n----")
endmacro()

# Counts the occurrences of @p pattern.
function(count pattern text result)
  string(REGEX MATCHALL "${pattern}" matches "${text}")
  list(LENGTH matches n)
  set(${result} ${n} PARENT_SCOPE)
endfunction()

if(FAILS)
  if(NOT status EQUAL 1)
    fail("The exit status is not 1.")
  endif()
  # mpirun prints messages of its own, too.
  count("poisson: " "${error}" n_lines)
  string(FIND "${error}" "${FAILS}" position)
  if(NOT n_lines EQUAL 1 OR position EQUAL -1)
    fail("The error is not said, or not in one line: ${FAILS}")
  endif()
  if(error MATCHES "terminate called|Aborted|Stacktrace")
    fail("The program crashed.")
  endif()
  if(NOT output STREQUAL "")
    fail("Something was printed before the mistake was noticed.")
  endif()
  if(files)
    fail("A file was left behind.")
  endif()
  return()
endif()

if(NOT status EQUAL 0)
  fail("The program failed.")
endif()
count("\n" "${output}" n_lines)
if(NOT n_lines EQUAL 1 OR
   NOT output MATCHES "^${LINE}, L2 error ([0-9.e+-]+)\n$")
  fail("The output is not the one line \"${LINE}, L2 error ...\".")
endif()
if(CMAKE_MATCH_1 LESS MINIMUM OR CMAKE_MATCH_1 GREATER MAXIMUM)
  fail("The error is not from ${MINIMUM} to ${MAXIMUM}.")
endif()
if(NOT files STREQUAL "solution.vtu")
  fail("There is not the one file solution.vtu.")
endif()

file(READ ${DIRECTORY}/solution.vtu text)
string(FIND "${text}" "</VTKFile>" first)
string(FIND "${text}" "</VTKFile>" last REVERSE)
if(first EQUAL -1 OR NOT first EQUAL last OR
   NOT text MATCHES "</VTKFile>[ \n]*$")
  fail("solution.vtu is not one whole file.")
endif()
string(REGEX MATCHALL "NumberOfCells=\"[0-9]+\"" parts "${text}")
set(n_cells 0)
foreach(part IN LISTS parts)
  string(REGEX REPLACE "[^0-9]" "" n "${part}")
  math(EXPR n_cells "${n_cells} + ${n}")
endforeach()
if(NOT n_cells EQUAL N_CELLS)
  fail("solution.vtu has ${n_cells} cells instead of ${N_CELLS}.")
endif()
