# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs PROGRAM PARAMETER_FILE, and then with mistakes in the same folder: each ends
# with one sentence and a non-zero exit status, and leaves files of the first run
# as they were. A run that fails in a step writes its state before that step, from
# which another one goes on.

cmake_minimum_required(VERSION 3.16)

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
get_filename_component(name ${PARAMETER_FILE} NAME_WE)

# run(setting...) sets status, output and error. %% stands for a semicolon.
function(run)
  set(arguments --set Output/Directory=${DIRECTORY}/results
    --set "Time/Final time=0.02")
  foreach(setting IN LISTS ARGN)
    string(REPLACE "%%" "\\;" setting "${setting}")
    list(APPEND arguments --set "${setting}")
  endforeach()
  execute_process(COMMAND ${PROGRAM} ${arguments} ${PARAMETER_FILE}
    WORKING_DIRECTORY ${DIRECTORY}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  foreach(variable status output error)
    set(${variable} "${${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()

# Files with checksums, except for those that match a regular expression.
function(list_files variable ignored)
  set(result)
  file(GLOB files ${DIRECTORY}/results/*)
  foreach(file ${files})
    if(ignored STREQUAL "" OR NOT file MATCHES "${ignored}")
      file(SHA256 ${file} sum)
      list(APPEND result "${file} ${sum}")
    endif()
  endforeach()
  set(${variable} "${result}" PARENT_SCOPE)
endfunction()

# mistake(text ignored setting...)
function(mistake text ignored)
  list_files(before "${ignored}")
  run(${ARGN})
  string(REGEX REPLACE "[ \t\n]+" " " said "${error}")
  string(REGEX MATCHALL "\n" lines "${error}")
  list(LENGTH lines n_lines)
  list_files(after "${ignored}")
  if(NOT status MATCHES "^[0-9]+$" OR status EQUAL 0 OR status GREATER 127 OR
      NOT said MATCHES "${text}" OR n_lines GREATER 8)
    message(FATAL_ERROR "${ARGN}: exit status ${status}, not \"${text}\":\n"
      "${output}\n${error}")
  endif()
  if(NOT "${before}" STREQUAL "${after}")
    message(FATAL_ERROR "${ARGN} changed files:\n${before}\nto\n${after}")
  endif()
endfunction()

run("Time/Checkpoint after steps=2")
set(checkpoint ${DIRECTORY}/results/${name}-0-p2.checkpoint)
if(NOT status EQUAL 0 OR NOT EXISTS ${checkpoint})
  message(FATAL_ERROR "exit status ${status}\n${output}\n${error}")
endif()

set(restart "Time/Restart from=${checkpoint}")
mistake("was written for another mesh of 4 polytopes" ""
  ${restart} "Mesh/Initial refinements=2")
mistake("has 12 unknowns on a polytope where this run has 20" ""
  ${restart} "Discretisation/Degree=3")
mistake("was written by dual splitting of order 2, pressure degree 1, but" ""
  ${restart} "Time/Order=1")
mistake("was written by dual splitting of order 2, pressure degree 1, but" ""
  ${restart} "Discretisation/Pressure degree=equal")
mistake("Pressure degree" "" "Discretisation/Pressure degree=0")

# Runs that fail in a step have begun to write their own files: records and the
# state before that step.
set(own "-p2(-records.csv|.checkpoint)$")
set(good_state "The state before this step was written to [^ ]*checkpoint\\.")
set(vortex "Flow/Exact=false" "Records/Picture interval=0"
  "Boundary conditions/Types=0: velocity, 1: velocity, 2: velocity, 3: velocity"
  "Flow/Velocity=sin(pi*x)^2*sin(2*pi*y)%% -sin(2*pi*x)*sin(pi*y)^2")
mistake("In step 1 at time 0, of length 0.005 and CFL number [0-9.]+: .*did not converge.*${good_state}"
  "${own}" ${vortex} "Solver/Maximum iterations=1" "Solver/Tolerance=1e-14")
# The written state is a good one.
run(${vortex} ${restart} "Time/Stop after steps=1")
if(NOT status EQUAL 0 OR NOT output MATCHES "stopped after 1 steps at time 0.005")
  message(FATAL_ERROR "exit status ${status}\n${output}\n${error}")
endif()
# Without viscosity and penalties a flow with long steps grows beyond all bounds.
mistake("In step [0-9]+ at time [0-9]+, of length 10 and CFL number [0-9.e+]+: The velocity is not finite at time [0-9]+, after a step with the CFL number [0-9.e+]+: take shorter steps\\. ${good_state}"
  "${own}" ${vortex} "Flow/Viscosity=1e-6" "Discretisation/Divergence penalty=0"
  "Discretisation/Continuity penalty=0" "Time/Step=10" "Time/Final time=1e9")
