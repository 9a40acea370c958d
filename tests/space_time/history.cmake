# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Compares an interrupted run of PROGRAM with PARAMETER_FILE to an uninterrupted
# one. The former ends with an error some slabs after its last state and is then
# continued. Screen output and files must agree to the last byte, in the same
# folder, and, except for the paths in the .pvd file, in another one. With
# LAUNCHER (words separated by %%, to be followed by a number) this is tested on
# two processes. States that were changed in one character or truncated are
# refused, and the message names the other state. All files are below DIRECTORY.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
string(REPLACE "%%" ";" launcher "${LAUNCHER}")
# On several processes the direct solver (MUMPS) uses messages in the order of
# their arrival, so its rounding errors differ from run to run.
set(solver)
if(launcher)
  list(APPEND launcher 2)
  set(solver --set "Solver/Method=gmres"
    --set "Solver/Preconditioner=block jacobi")
endif()
get_filename_component(name ${PARAMETER_FILE} NAME_WE)
set(run ${name}-0-PQ1)

macro(fail)
  message(FATAL_ERROR ${ARGN} "\nexit status: ${status}\n"
    "---- stdout\n${output}\n---- stderr\n${error}\n----")
endmacro()

# Sets status, output and error.
macro(run folder)
  execute_process(
    COMMAND ${launcher} ${PROGRAM}
      --set "Mesh/Initial refinements=3" --set "Discretisation/Degree=1"
      --set "Time/Tolerance=0.01" --set "Time/Output every=2"
      --set "Time/State every=3" --set "Output/Times=false"
      --set "Output/Directory=${folder}" ${solver} ${ARGN} ${PARAMETER_FILE}
    WORKING_DIRECTORY ${DIRECTORY}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  # Lines may be broken anywhere.
  string(REGEX REPLACE "[ \n]+" " " sentence "${error}")
endmacro()

macro(run_well)
  run(${ARGN})
  if(NOT status EQUAL 0)
    fail("A run failed.")
  endif()
endmacro()

macro(expect_failure)
  if(status EQUAL 0)
    fail("The program did not notice: ${ARGN}")
  endif()
  foreach(text ${ARGN})
    string(FIND "${sentence}" "${text}" position)
    if(position EQUAL -1)
      fail("The message does not say '${text}'.")
    endif()
  endforeach()
endmacro()

# Checks that the folders have the same files with the same bytes, except for
# those whose names match WITHOUT.
function(compare first second without)
  file(GLOB names RELATIVE ${DIRECTORY}/${first} ${DIRECTORY}/${first}/*)
  file(GLOB other RELATIVE ${DIRECTORY}/${second} ${DIRECTORY}/${second}/*)
  if(without)
    list(FILTER names EXCLUDE REGEX "${without}")
    list(FILTER other EXCLUDE REGEX "${without}")
  elseif(NOT names STREQUAL other)
    message(FATAL_ERROR "${first}: ${names}\n${second}: ${other}")
  endif()
  if(NOT other)
    message(FATAL_ERROR "${second} has no files.")
  endif()
  foreach(file ${other})
    foreach(folder first second)
      file(READ ${DIRECTORY}/${${folder}}/${file} text_of_${folder})
      # deal.II writes the date into VTU and .pvd files.
      string(REGEX REPLACE "deal.II library on [0-9:/ at]+" ""
        text_of_${folder} "${text_of_${folder}}")
    endforeach()
    if(NOT text_of_first STREQUAL text_of_second)
      message(FATAL_ERROR "${first}/${file} and ${second}/${file} differ.")
    endif()
  endforeach()
endfunction()

# ---- without and with an interruption
run_well(whole)
set(whole_output "${output}")
file(STRINGS ${DIRECTORY}/whole/${run}-steps.csv slabs)
list(LENGTH slabs n_slabs)
if(n_slabs LESS 10 OR whole_output MATCHES "\\| 0 +\\| [0-9]+ +\\| 0\\.")
  fail("${n_slabs} lines are too few for this test.")
endif()
run(same "--set" "Time/Intervals=if(t > 0.6, 0, 1)")
expect_failure("Time/Intervals is 0")
file(COPY ${DIRECTORY}/same/ DESTINATION ${DIRECTORY}/earlier)
set(state ${DIRECTORY}/earlier/${run}.state)
set(previous ${DIRECTORY}/earlier/${run}.previous.state)
run_well(same --set "Time/Restart from=same/${run}.state")
if(NOT output STREQUAL whole_output)
  fail("The run that was interrupted does not print\n${whole_output}")
endif()
compare(whole same "")

# ---- continued from the end, as if the tables had not been written
run_well(finished --set "Time/Restart from=whole/${run}.state")
if(NOT output STREQUAL whole_output)
  fail("The run that begins at the end does not print\n${whole_output}")
endif()
compare(whole finished "\\.pvd$|state$")

# ---- in another folder
run_well(another --set "Time/Restart from=earlier/${run}.state")
if(NOT output STREQUAL whole_output)
  fail("The run in another folder does not print\n${whole_output}")
endif()
# States and the .pvd file contain names of files.
compare(whole another "\\.pvd$|state$")
function(pvd_files folder result)
  file(STRINGS ${DIRECTORY}/${folder}/${run}.pvd lines REGEX "DataSet ")
  set(files)
  foreach(line ${lines})
    string(REGEX REPLACE ".*file=\"([^\"]*)\".*" "\\1" file "${line}")
    if(NOT EXISTS ${DIRECTORY}/${folder}/${file})
      message(FATAL_ERROR "The file ${file} of ${folder}/${run}.pvd is missing.")
    endif()
    get_filename_component(file ${file} NAME)
    list(APPEND files ${file})
  endforeach()
  set(${result} ${files} PARENT_SCOPE)
endfunction()
pvd_files(whole whole_files)
pvd_files(another another_files)
if(NOT whole_files STREQUAL another_files)
  message(FATAL_ERROR "Files of the .pvd file: ${another_files}")
endif()

if(launcher)
  return()
endif()

# ---- continued from the preceding state
run_well(another --set "Time/Restart from=earlier/${run}.previous.state")
if(NOT output STREQUAL whole_output)
  fail("The run from the state before does not print\n${whole_output}")
endif()
# The folder also has the earlier VTU files.
compare(whole another "\\.pvd$|state$")

# ---- damage: in the middle, the time, the version, the checksum, the end
set(damaged ${DIRECTORY}/damaged/${run}.state)
file(READ ${state} text)
file(MAKE_DIRECTORY ${DIRECTORY}/damaged)
file(COPY ${previous} DESTINATION ${DIRECTORY}/damaged)
file(STRINGS ${state} lines)
list(GET lines 1 second)
list(GET lines 20 polytope)
string(REGEX REPLACE "([^3])3([^3]*)$" "\\14\\2" changed "${polytope}")
string(REGEX REPLACE "^time 0.5" "time 0.4" earlier_time "${second}")
string(REGEX REPLACE "state 3" "state 2" version "${text}")
string(REGEX REPLACE "^tess" "tass" magic "${text}")
string(REPLACE "${polytope}" "${changed}" middle "${text}")
string(REPLACE "${second}" "${earlier_time}" time "${text}")
string(LENGTH "${text}" length)
math(EXPR length "${length} - 8")
string(SUBSTRING "${text}" 0 ${length} end)
foreach(what version magic middle time end)
  if(text STREQUAL "${${what}}")
    message(FATAL_ERROR "The test does not change: ${what}")
  endif()
  file(WRITE ${damaged} "${${what}}")
  run(nothing --set "Time/Restart from=${damaged}")
  expect_failure("is damaged" "${run}.previous.state' of t = 0"
    "is complete; set Time/Restart from to it")
endforeach()
# both states, and a file that is no state
file(READ ${previous} text)
string(REGEX REPLACE "0" "1" text "${text}")
file(WRITE ${DIRECTORY}/damaged/${run}.previous.state "${text}")
run(nothing --set "Time/Restart from=${damaged}")
expect_failure("is damaged" "there is no other complete state beside it")
run(nothing --set "Time/Restart from=${PARAMETER_FILE}")
expect_failure("is not a state that this program wrote")
if(EXISTS ${DIRECTORY}/nothing)
  message(FATAL_ERROR "A mistake left files behind.")
endif()

# ---- format 2, which has neither history nor checksum
string(REGEX REPLACE "time ([^ ]*) step ([^ ]*) unknowns ([^ ]*)" "\\1 \\2 \\3"
  second "${second}")
list(FILTER lines INCLUDE REGEX "^[0-9]+_[0-9]+:")
string(REPLACE ";" "\n" lines "${lines}")
file(WRITE ${DIRECTORY}/earlier/old.state
  "tessella-space-time-state 2\n${second}\n${lines}\n")
run(earlier --set "Time/Restart from=earlier/old.state")
expect_failure("would be overwritten: set Output/Directory to another folder")
run_well(old --set "Time/Restart from=earlier/old.state")
if(NOT output MATCHES "tables, errors and files begin at t = 0")
  fail("It is not said that the state has no history.")
endif()
file(STRINGS ${DIRECTORY}/whole/${run}.state whole REGEX "^[0-9]+_[0-9]+:")
file(STRINGS ${DIRECTORY}/old/${run}.state old REGEX "^[0-9]+_[0-9]+:")
if(NOT whole STREQUAL old)
  message(FATAL_ERROR "The run from the old state ends in another one.")
endif()
