# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs PROGRAM in DIRECTORY with the sensor in unsteady flow: the moving viscous shock
# of the folder SOURCE and Sod's shock tube (SOD, a parameter file), by explicit and
# implicit methods.

cmake_minimum_required(VERSION 3.16)

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})

# Runs ${file} with settings under a name, and sets ${name} to the columns of its
# table, which a run that stops early does not write.
macro(run name)
  set(settings --set "Output/Name=${name}" --set "Output/Directory=.")
  foreach(setting ${common} ${ARGN})
    list(APPEND settings --set ${setting})
  endforeach()
  execute_process(
    COMMAND ${PROGRAM} ${settings} ${file}
    WORKING_DIRECTORY ${DIRECTORY}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "exit status ${result} of ${ARGN}\n${output}")
  endif()
  if(EXISTS ${DIRECTORY}/${name}.csv)
    read_table(${name})
  endif()
endmacro()

macro(read_table name)
  file(STRINGS ${DIRECTORY}/${name}.csv ${name} REGEX "^0,")
  string(REPLACE "," ";" ${name} "${${name}}")
  list(GET ${name} 5 ${name}_steps)
  list(GET ${name} 6 ${name}_error)
  list(GET ${name} -1 ${name}_last)
endmacro()

macro(expect_same first second)
  if(NOT ${first} STREQUAL ${second})
    message(FATAL_ERROR "${first} and ${second} differ:\n${${first}}\n${${second}}")
  endif()
endmacro()

# Errors have four digits: 4.010e-05. Checks that those of two runs differ by at most
# a number of per mille of the second one.
macro(expect_near first second bound)
  foreach(run ${first} ${second})
    if(NOT ${run}_error MATCHES "^([0-9])\\.([0-9][0-9][0-9])e(.*)$")
      message(FATAL_ERROR "${run} has the error ${${run}_error}.")
    endif()
    set(${run}_digits ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    set(${run}_exponent ${CMAKE_MATCH_3})
  endforeach()
  math(EXPR difference "1000 * (${${first}_digits} - ${${second}_digits})")
  string(REPLACE "-" "" difference "${difference}")
  math(EXPR allowed "${bound} * ${${second}_digits}")
  if(NOT ${first}_exponent STREQUAL ${second}_exponent OR difference GREATER allowed)
    message(FATAL_ERROR
      "The errors of ${first}, ${${first}_error}, and ${second}, ${${second}_error}, \
differ by more than ${bound} per mille.")
  endif()
endmacro()

macro(expect_fewer first second)
  if(NOT ${first} LESS ${second})
    message(FATAL_ERROR "${first}, ${${first}}, is not below ${second}, ${${second}}.")
  endif()
endmacro()

set(sensor "Shock capturing/Sensor=persson-peraire")
set(implicit "Time/Method=sdirk" "Time/CFL number=4")
set(bdf "Time/Method=bdf" "Time/CFL number=2")
set(file ${SOURCE}/moving_shock.prm)

# A resolved shock has no artificial viscosity: tables are those without a sensor, so
# that orders in space and time are, too.
set(common "Time/Final time=0.02")
run(smooth ${implicit})
run(smooth_sensor ${sensor} ${implicit})
expect_same(smooth smooth_sensor)
run(smooth_bdf ${bdf})
run(smooth_bdf_sensor ${sensor} ${bdf})
expect_same(smooth_bdf smooth_bdf_sensor)

# A shock thinner than a cell: the same errors by explicit and implicit methods, beside
# those of time. The exact tangent needs fewer iterations and no shorter steps.
set(common "Time/Final time=0.04" ${sensor}
  "Mesh/Generator arguments=16, 1 : -0.5, 0 : 0.5, 0.0625 : true"
  "Flow/Constants=R = 2000, M = 1.5811388300841898, C = -0.5"
  "Flow/Reynolds number=2000")
run(explicit)
run(plain ${implicit} "Shock capturing/Sensor=none")
run(exact ${implicit})
run(frozen ${implicit} "Shock capturing/Tangent=frozen")
run(matrix_free ${implicit} "Newton/Jacobian=matrix-free")
run(multistep ${bdf} "Time/Checkpoint every=1")
expect_near(exact explicit 5)
expect_near(frozen explicit 5)
expect_near(matrix_free exact 1)
expect_near(multistep explicit 5)
expect_fewer(exact_last frozen_last)
expect_fewer(exact_steps frozen_steps)
expect_fewer(matrix_free_last frozen_last)
if(plain_error STREQUAL exact_error)
  message(FATAL_ERROR "There is no artificial viscosity in the shock.")
endif()

# A restart of a method with several steps, and the same bits for every number of
# threads.
run(part ${bdf} "Time/Stop after=4")
run(rest ${bdf} "Time/Checkpoint every=1" "Time/Restart from=part-0-p2.checkpoint")
set(ENV{DEAL_II_NUM_THREADS} 1)
run(one_thread ${bdf} "Time/Checkpoint every=1")
unset(ENV{DEAL_II_NUM_THREADS})
foreach(name rest one_thread)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files
      ${name}-0-p2.checkpoint multistep-0-p2.checkpoint
    WORKING_DIRECTORY ${DIRECTORY} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "The checkpoints of ${name} and multistep differ.")
  endif()
endforeach()

# Sod's shock tube without viscosity of the gas.
set(file ${SOD})
set(common "Time/Final time=0.03")
run(sod)
run(sod_sdirk "Time/Method=sdirk" "Time/CFL number=1")
run(sod_bdf "Time/Method=bdf" "Time/CFL number=1")
expect_near(sod_sdirk sod 20)
expect_near(sod_bdf sod 20)
