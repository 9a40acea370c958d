# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Options of the programs: help, documented parameters that can be read again,
# --set, and mistakes on the command line.

cmake_minimum_required(VERSION 3.16)

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})

# run(STATUS PATTERN ARGUMENTS...) checks the exit status, and stdout (status 0)
# or stderr against a regular expression.
function(run wanted pattern)
  execute_process(COMMAND ${launcher} ${PROGRAM} ${ARGN}
    WORKING_DIRECTORY ${DIRECTORY}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(wanted EQUAL 0)
    set(text "${output}")
  else()
    set(text "${error}")
  endif()
  string(REGEX REPLACE "[ \t\n]+" " " text "${text}")
  if(NOT status EQUAL wanted OR NOT text MATCHES "${pattern}")
    message(FATAL_ERROR
      "${ARGN}: exit status ${status}, not ${wanted}; or this does not match "
      "\"${pattern}\":\n${output}\n${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(0 "Usage: .*--print-parameters" --help)
run(0 "subsection Mesh.*set Threads" --print-parameters)
run(0 "Wrote all.prm" --print-parameters all.prm)
# Parameters that are written and read again have the default values.
run(0 "Wrote again.prm" all.prm --print-parameters again.prm)
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files all.prm again.prm
  WORKING_DIRECTORY ${DIRECTORY} RESULT_VARIABLE different)
if(different)
  message(FATAL_ERROR "Parameters change when they are written and read.")
endif()

# Two runs without times print the same, for any number of threads.
set(short --set Mesh/Levels=1 --set "Discretisation/Degree=2" --set
  Output/Times=false)
foreach(n 1 2)
  execute_process(
    COMMAND ${PROGRAM} ${short} --set Execution/Threads=${n} ${PARAMETER_FILE}
    WORKING_DIRECTORY ${DIRECTORY} RESULT_VARIABLE status
    OUTPUT_VARIABLE output_${n})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "The run with ${n} threads failed.")
  endif()
endforeach()
if(NOT output_1 STREQUAL output_2)
  message(FATAL_ERROR "One thread:\n${output_1}\nTwo:\n${output_2}")
endif()

run(1 "no option '--helo'" --helo)
run(1 "parameter file is missing")
run(1 "More than one parameter file" a.prm b.prm)
run(1 "'no_such.prm' does not exist" no_such.prm)
run(1 "must be .Section/Name=value" --set Mesh ${PARAMETER_FILE})
run(1 "no such section" --set Mash/Levels=2 ${PARAMETER_FILE})
run(1 "no such parameter" --set Mesh/Level=2 ${PARAMETER_FILE})
run(1 "does not match" --set Mesh/Dimension=4 ${PARAMETER_FILE})
run(1 "cannot be made" ${short} --set Output/Directory=/proc/no/such
  ${PARAMETER_FILE})
run(1 "cannot be made or written to: .* is no folder" ${short}
  --set Output/Directory=${PARAMETER_FILE}/results ${PARAMETER_FILE})
if(output)
  message(FATAL_ERROR "This was noticed too late:\n${output}")
endif()
if(MPIEXEC)
  set(launcher ${MPIEXEC} --allow-run-as-root --oversubscribe -n 2)
  foreach(distribution p4est "fully distributed" shared)
    run(1 "fewer cells .1. than there are processes .2." ${short}
      --set "Mesh/Distribution=${distribution}" --set Mesh/Generator=hyper_cube
      --set "Mesh/Generator arguments=0 : 1 : false" --set Mesh/Distortion=0
      --set "Mesh/Initial refinements=0" --set Agglomeration/Method=none
      ${PARAMETER_FILE})
  endforeach()
  # a program that runs on one process only
  set(PROGRAM ${SERIAL_PROGRAM})
  run(1 "started on 2 MPI processes" all.prm)
endif()
