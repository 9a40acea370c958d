# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs PROGRAM PARAMETER_FILE (or COMMAND, with %% between its words) in an
# empty DIRECTORY and checks that it
#   - ends with a non-zero exit status, but not by a signal,
#   - prints the text in ERROR_FILE (or ERROR) on stderr, where white space is
#     ignored, in at most 8 lines (or MAX_LINES): a sentence, not a stack trace,
#   - leaves no file behind.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
if(NOT COMMAND)
  set(COMMAND ${PROGRAM} ${PARAMETER_FILE})
endif()
string(REPLACE "%%" ";" command "${COMMAND}")
if(NOT MAX_LINES)
  set(MAX_LINES 8)
endif()
execute_process(
  COMMAND ${command}
  WORKING_DIRECTORY ${DIRECTORY}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE error)

macro(fail reason)
  message(FATAL_ERROR "${reason}\n"
    "command: ${command}\nexit status: ${status}\n"
    "---- stdout\n${output}\n---- stderr\n${error}\n----")
endmacro()

if(status EQUAL 0)
  fail("The program did not notice the mistake.")
elseif(NOT status MATCHES "^[0-9]+$" OR status GREATER 127)
  fail("The program crashed.")
endif()

set(expected "${ERROR}")
if(ERROR_FILE)
  file(READ ${ERROR_FILE} expected)
endif()
string(STRIP "${expected}" expected)
string(REGEX REPLACE "[ \t\n]+" " " expected "${expected}")
string(REGEX REPLACE "[ \t\n]+" " " said "${error}")
string(FIND "${said}" "${expected}" position)
if(expected STREQUAL "" OR position EQUAL -1)
  fail("The program does not say: ${expected}")
endif()

string(STRIP "${error}" stripped)
string(REGEX MATCHALL "\n" line_breaks "${stripped}")
list(LENGTH line_breaks n_line_breaks)
if(NOT n_line_breaks LESS MAX_LINES)
  fail("The message has more than ${MAX_LINES} lines.")
endif()

file(GLOB_RECURSE left_behind ${DIRECTORY}/*)
if(left_behind)
  fail("The program left files behind: ${left_behind}")
endif()
