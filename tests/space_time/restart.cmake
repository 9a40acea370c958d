# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs PROGRAM with PARAMETER_FILE in DIRECTORY to t = 0.5, continues to t = 1,
# and runs it without a break: the final states must be the same to the last
# bit. With LAUNCHER (words separated by %%, to be followed by a number) it also
# runs on two processes, and from t = 0.5 on three: the errors must be the same.
# Then it runs with a solver that gives up, where the message must name the slab
# and the preceding state must be written, and with a state of another degree.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
set(common --set "Mesh/Levels=1" --set "Discretisation/Degree=1"
  --set "Time/Elements=PQ" --set "Time/Step=0.25" --set "Output/Solution=false")

string(REPLACE "%%" ";" launcher "${LAUNCHER}")

function(run name)
  execute_process(
    COMMAND ${processes} ${PROGRAM} ${common} --set "Output/Directory=${DIRECTORY}/${name}"
      ${ARGN} ${PARAMETER_FILE}
    WORKING_DIRECTORY ${DIRECTORY}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  set(status ${status} PARENT_SCOPE)
  set(text "${output}\n${error}" PARENT_SCOPE)
endfunction()

get_filename_component(file ${PARAMETER_FILE} NAME_WE)
set(state ${file}-0-PQ1.state)
foreach(case "half;--set;Time/Final time=0.5"
    "rest;--set;Time/Restart from=${DIRECTORY}/half/${state}" "whole")
  run(${case})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${case}: exit status ${status}\n${text}")
  endif()
endforeach()
file(READ ${DIRECTORY}/rest/${state} rest)
file(READ ${DIRECTORY}/whole/${state} whole)
if(NOT rest STREQUAL whole)
  message(FATAL_ERROR "The run that was restarted ends in another state.")
endif()

if(launcher)
  set(processes ${launcher} 2)
  run(half_2 --set "Time/Final time=0.5")
  set(processes ${launcher} 3)
  run(rest_3 --set "Time/Restart from=${DIRECTORY}/half_2/${state}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "on 3 processes: exit status ${status}\n${text}")
  endif()
  foreach(case rest rest_3)
    file(STRINGS ${DIRECTORY}/${case}/${file}.csv ${case})
    # The number of iterations is not compared.
    string(REGEX REPLACE "([^,;]*,)([^,;]*,)([^,;]*)$" "" ${case} "${${case}}")
  endforeach()
  if(NOT rest STREQUAL rest_3)
    message(FATAL_ERROR "Other errors on 3 processes:\n${rest}\n${rest_3}")
  endif()
  run(other --set "Discretisation/Degree=2"
    --set "Time/Restart from=${DIRECTORY}/half_2/${state}")
  if(status EQUAL 0 OR NOT text MATCHES "unknowns, but this mesh and degree have")
    message(FATAL_ERROR "exit status ${status}\n${text}")
  endif()
  set(processes)
endif()

run(failure --set "Solver/Method=gmres" --set "Solver/Preconditioner=none"
  --set "Solver/Maximum iterations=2")
string(REGEX REPLACE "[ \n]+" " " text "${text}")
# The message of the solver, without the location of the throw.
if(status EQUAL 0 OR NOT text MATCHES
   "slab 1, from t = 0 to 0.25, was not solved: The linear system was not solved"
   OR NOT text MATCHES "last good state, of t = 0, to")
  message(FATAL_ERROR "exit status ${status}\n${text}")
endif()
file(STRINGS ${DIRECTORY}/failure/${state} lines)
list(GET lines 1 second)
if(NOT second MATCHES "^time 0 ")
  message(FATAL_ERROR "The state before the failure is not of t = 0: ${second}")
endif()
