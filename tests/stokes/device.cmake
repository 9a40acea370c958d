# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs PROGRAM on PARAMETER_FILE in DIRECTORY with a direct solver on the host and
# with multigrid on a CUDA device. All errors and their rates must be the same, and
# the second run may take at most twice as many iterations. Without a device the
# program says so, and the test is skipped.

file(REMOVE_RECURSE ${DIRECTORY})
get_filename_component(name ${PARAMETER_FILE} NAME_WE)
macro(run folder preconditioner)
  file(MAKE_DIRECTORY ${DIRECTORY}/${folder})
  # The errors have four digits, which rounding in the solver hardly changes with
  # this tolerance.
  execute_process(
    COMMAND ${PROGRAM} --set Output/Directory=. --set Solver/Tolerance=1e-12
      --set "Solver/Velocity preconditioner=${preconditioner}" ${ARGN}
      ${PARAMETER_FILE}
    WORKING_DIRECTORY ${DIRECTORY}/${folder}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    # The message may have line breaks anywhere.
    string(REGEX REPLACE "[ \t\n]+" " " said "${error}")
    if("${folder}" STREQUAL "device" AND said MATCHES "Take direct or amg\\.")
      message("This machine has no CUDA device.")
      return()
    endif()
    message(FATAL_ERROR "exit status ${status}\n${output}\n${error}")
  endif()
  # Rows of the tables without the number of iterations, and these numbers.
  file(STRINGS ${DIRECTORY}/${folder}/${name}.txt lines REGEX "^ +[0-9]")
  set(${folder})
  set(${folder}_iterations)
  foreach(line ${lines})
    string(REGEX MATCH "^ *([0-9]+ +[0-9]+ +[0-9]+) +([0-9]+) +(.*)$" row "${line}")
    list(APPEND ${folder} "${CMAKE_MATCH_1} ${CMAKE_MATCH_3}")
    list(APPEND ${folder}_iterations ${CMAKE_MATCH_2})
  endforeach()
endmacro()
run(device "device multigrid")
run(host direct --set Discretisation/Backend=host)
list(LENGTH host n)
if(n LESS 6 OR NOT host STREQUAL device)
  message(FATAL_ERROR "The tables differ.\nhost: ${host}\ndevice: ${device}")
endif()
math(EXPR last "${n} - 1")
foreach(i RANGE ${last})
  list(GET host_iterations ${i} of_host)
  list(GET device_iterations ${i} of_device)
  math(EXPR limit "2 * ${of_host}")
  if(of_device GREATER limit)
    message(FATAL_ERROR "There are ${device_iterations} iterations, with a direct "
      "solver ${host_iterations}.")
  endif()
endforeach()
message(STATUS "iterations ${device_iterations}, with a direct solver "
  "${host_iterations}")
