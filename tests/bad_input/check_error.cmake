# SPDX-License-Identifier: LGPL-2.1-or-later

# Runs PROGRAM PARAMETER_FILE in an empty DIRECTORY and checks that it
#   - ends with an exit status that is not zero, but not by a signal,
#   - says the text in ERROR_FILE on stderr (white space does not count) in at
#     most 8 lines: a sentence, not a stack trace,
#   - leaves no file behind.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
execute_process(
  COMMAND ${PROGRAM} ${PARAMETER_FILE}
  WORKING_DIRECTORY ${DIRECTORY}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE error)

macro(fail reason)
  message(FATAL_ERROR "${reason}\n"
    "command: ${PROGRAM} ${PARAMETER_FILE}\nexit status: ${status}\n"
    "---- stdout\n${output}\n---- stderr\n${error}\n----")
endmacro()

if(status EQUAL 0)
  fail("The program did not notice the mistake.")
elseif(NOT status MATCHES "^[0-9]+$" OR status GREATER 127)
  fail("The program crashed.")
endif()

file(READ ${ERROR_FILE} expected)
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
if(n_line_breaks GREATER 7)
  fail("The message has more than 8 lines.")
endif()

file(GLOB_RECURSE left_behind ${DIRECTORY}/*)
if(left_behind)
  fail("The program left files behind: ${left_behind}")
endif()
