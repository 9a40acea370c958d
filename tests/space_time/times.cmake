# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs PROGRAM with PARAMETER_FILE in DIRECTORY: the sum of the printed stages
# must be its wall time, and almost nothing may be left for "other".

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
# Microseconds since 1970; CMake prints fractions of a second from 3.23 on only.
function(now result)
  execute_process(COMMAND date +%s%6N OUTPUT_VARIABLE value
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${result} ${value} PARENT_SCOPE)
endfunction()

# Sets the microseconds of a run of PROGRAM that only prints its help, which are
# those of loading its libraries, beginning and ending.
function(measure_loading result)
  now(begin)
  execute_process(COMMAND ${PROGRAM} --help
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  now(end)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "--help: exit status ${status}\n${output}\n${error}")
  endif()
  math(EXPR time "${end} - ${begin}")
  set(${result} ${time} PARENT_SCOPE)
endfunction()

macro(run)
  now(begin)
  execute_process(
    COMMAND ${PROGRAM} --set "Mesh/Levels=1"
      --set "Discretisation/Degree=1, 2" --set "Time/State every=1"
      --set "Output/Directory=${DIRECTORY}" ${PARAMETER_FILE}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  now(end)
  math(EXPR elapsed "${end} - ${begin}")
endmacro()
run()
macro(fail)
  message(FATAL_ERROR ${ARGN} "\nexit status: ${status}\n"
    "---- stdout\n${output}\n---- stderr\n${error}\n----")
endmacro()

# Converts seconds to integer microseconds, which CMake can add.
function(microseconds number result)
  if(NOT number MATCHES "^([0-9]+)\\.?([0-9]*)$")
    message(FATAL_ERROR "'${number}' is no time.\n${output}")
  endif()
  set(whole ${CMAKE_MATCH_1})
  string(SUBSTRING "${CMAKE_MATCH_2}000000" 0 6 fraction)
  # The 1 avoids leading zeros.
  math(EXPR value "${whole} * 1000000 + 1${fraction} - 1000000")
  set(${result} ${value} PARENT_SCOPE)
endfunction()

if(NOT status EQUAL 0)
  fail("The run failed.")
endif()

# One stage is called output.
set(total 0)
foreach(stage start mesh agglomeration set-up assembly solver jumps errors output
    states other sum)
  if(NOT output MATCHES "\n\\| ${stage} +\\| ([0-9.]+) ")
    fail("The stage '${stage}' is missing.")
  endif()
  microseconds(${CMAKE_MATCH_1} time_of_${stage})
  if(NOT stage STREQUAL sum)
    if(time_of_${stage} EQUAL 0 AND NOT stage STREQUAL other)
      fail("The stage '${stage}' is not timed.")
    endif()
    math(EXPR total "${total} + ${time_of_${stage}}")
  endif()
endforeach()
set(sum ${time_of_sum})
math(EXPR difference "100 * (${total} - ${sum})")
if(difference GREATER sum OR difference LESS -${sum})
  fail("The stages take ${total} microseconds together, not ${sum}.")
endif()
math(EXPR other "20 * ${time_of_other}")
if(other GREATER sum)
  fail("The stage 'other' takes more than 5 per cent.")
endif()
if(sum GREATER elapsed)
  fail("The sum is more than the wall time, ${elapsed} microseconds.")
endif()
# The sum does not include the loading of libraries before main(), which is
# measured before and after. On a busy machine these times differ: the run is
# repeated some times, until the sum is nearly all of the rest.
set(text)
foreach(attempt RANGE 1 8)
  measure_loading(loading)
  run()
  measure_loading(after)
  if(after GREATER loading)
    set(loading ${after})
  endif()
  if(NOT status EQUAL 0 OR NOT output MATCHES "\n\\| sum +\\| ([0-9.]+) ")
    fail("The run failed in attempt ${attempt}.")
  endif()
  microseconds(${CMAKE_MATCH_1} sum)
  math(EXPR least "(${elapsed} - ${loading}) * 8 / 10")
  string(APPEND text "\n${elapsed} ${loading} ${sum}")
  if(least GREATER 0 AND NOT sum LESS least)
    set(long_enough TRUE)
    break()
  endif()
endforeach()
if(NOT long_enough)
  fail("The sum is not the wall time. Microseconds of runs, of loading, and "
    "sums:${text}")
endif()
file(READ ${DIRECTORY}/space_time_rates.txt text)
if(NOT text MATCHES "\n\\| sum +\\| ")
  fail("The table of stages is not in the text file:\n${text}")
endif()
