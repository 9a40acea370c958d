# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Checks that all parameters of PROGRAM are documented: --print-parameters must
# write a comment before each. FILES, separated by %%, must contain only
# parameters of the program; these are studies that are too long for a test.

cmake_minimum_required(VERSION 3.16)

execute_process(COMMAND ${PROGRAM} --print-parameters
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit status ${status}: ${error}")
endif()
# A semicolon would end an element of a list.
string(REPLACE ";" "," lines "${output}")
string(REPLACE "\n" ";" lines "${lines}")
set(before)
set(n 0)
foreach(line IN LISTS lines)
  if(line MATCHES "^ *set ")
    math(EXPR n "${n} + 1")
    if(NOT before MATCHES "^ *# *[^ ]")
      message(SEND_ERROR "A parameter without explanation: ${line}")
    endif()
  endif()
  set(before "${line}")
endforeach()
if(n EQUAL 0)
  message(FATAL_ERROR "There are no parameters:\n${output}")
endif()

string(REPLACE "%%" ";" files "${FILES}")
foreach(file IN LISTS files)
  execute_process(COMMAND ${PROGRAM} ${file} --print-parameters
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "${file}: exit status ${status}: ${error}")
  endif()
endforeach()
