# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs PROGRAM in DIRECTORY on steady.prm and vortex.prm of the folder SOURCE
# without a stop, and with a stop and a restart, and compares the results. Then
# restarts with mistakes, and looks at a run that does not converge.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})

macro(run status)
  set(settings)
  foreach(setting ${ARGN})
    list(APPEND settings --set ${setting})
  endforeach()
  execute_process(
    COMMAND ${PROGRAM} ${settings} ${DIRECTORY}/run.prm
    WORKING_DIRECTORY ${DIRECTORY}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if((${status} STREQUAL "good" AND NOT result EQUAL 0) OR
     (${status} STREQUAL "bad" AND NOT result EQUAL 1))
    message(FATAL_ERROR "exit status ${result} of ${ARGN}\n${output}\n${error}")
  endif()
endmacro()

macro(expect text)
  string(REGEX REPLACE "[ \n]+" " " said "${error}")
  string(FIND "${said}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "The program does not say '${text}', but\n${error}")
  endif()
endmacro()

# Steps without their times, and the table.
macro(read_steps variable name)
  file(READ ${DIRECTORY}/${name}-0-p2-residuals.csv ${variable})
  string(REGEX REPLACE ",[^,\n]*\n" "\n" ${variable} "${${variable}}")
endmacro()

set(one "Mesh/Levels=1" "Discretisation/Degree=2" "Output/Directory=.")

configure_file(${SOURCE}/steady.prm ${DIRECTORY}/run.prm COPYONLY)
run(good ${one} "Output/Name=whole")
run(good ${one} "Output/Name=part" "Time/Stop after=3")
read_steps(steps part)
string(REGEX MATCHALL "\n" lines "${steps}")
list(LENGTH lines n)
if(NOT n EQUAL 4)
  message(FATAL_ERROR "There are ${n} lines instead of 4:\n${steps}")
endif()
run(good ${one} "Output/Name=rest" "Time/Restart from=part-0-p2.checkpoint")
read_steps(whole whole)
read_steps(rest rest)
if(NOT whole STREQUAL rest)
  message(FATAL_ERROR "A restart changes the steps:\n${whole}\n${rest}")
endif()
file(READ ${DIRECTORY}/whole.txt whole)
file(READ ${DIRECTORY}/rest.txt rest)
if(NOT whole STREQUAL rest)
  message(FATAL_ERROR "A restart changes the table:\n${whole}\n${rest}")
endif()

run(bad ${one} "Flow/Gamma=1.3" "Time/Restart from=part-0-p2.checkpoint")
expect("set sections Flow and Shock capturing to those of the checkpoint")
set(sensor "Shock capturing/Sensor=persson-peraire")
run(bad ${one} ${sensor} "Time/Restart from=part-0-p2.checkpoint")
expect("set sections Flow and Shock capturing to those of the checkpoint")
run(bad ${one} ${sensor} "Flow/Reynolds number=100" "Flow/Steady=false")
expect("Shock capturing/Sensor in unsteady flow is for flow without viscosity")
run(bad ${one} ${sensor} "Steady/Reconstruction=weno")
expect("Shock capturing/Sensor is for flow without reconstruction")
run(bad ${one} ${sensor} "Flow/Steady=false" "Time/Method=bdf")
expect("Shock capturing/Sensor needs an explicit method in unsteady flow")
run(bad ${one} ${sensor} "Shock capturing/Width=0")
expect("Shock capturing/Width and Shock capturing/Strength must be positive")
run(bad ${one} "Mesh/Initial refinements=2"
  "Time/Restart from=part-0-p2.checkpoint")
expect("polytopes")

run(bad ${one} "Output/Name=short" "Steady/Maximum steps=2")
expect("has not converged: there were 2 steps. Step 2 had the CFL number")
expect("The last state is in './short-0-p2.checkpoint'")
run(good ${one} "Output/Name=long"
  "Time/Restart from=short-0-p2.checkpoint")
read_steps(long long)
read_steps(whole whole)
if(NOT whole STREQUAL long)
  message(FATAL_ERROR "A failed run does not go on:\n${whole}\n${long}")
endif()

configure_file(${SOURCE}/vortex.prm ${DIRECTORY}/run.prm COPYONLY)
set(one ${one} "Flow/Tick=0")
run(good ${one} "Output/Name=whole")
run(good ${one} "Output/Name=part" "Time/Stop after=3")
run(good ${one} "Output/Name=rest" "Time/Restart from=part-0-p2.checkpoint")
file(READ ${DIRECTORY}/whole.txt whole)
file(READ ${DIRECTORY}/rest.txt rest)
if(NOT whole STREQUAL rest)
  message(FATAL_ERROR "A restart changes the table:\n${whole}\n${rest}")
endif()
run(bad ${one} "Flow/Gamma=1.3" "Time/Restart from=part-0-p2.checkpoint")
expect("and the equation to those of the checkpoint")
