# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs [LAUNCHER] PROGRAM PARAMETER_FILE with SETTINGS ("Section/Name=value",
# separated by %%) in DIRECTORY. Checks that it succeeds, that the files NAME
# with SUFFIXES (separated by %%) exist and are complete, and that the values in
# the .csv file agree with EXPECT, a list of "level degree column minimum
# maximum" separated by %%.

# With this policy version, empty fields of the .csv file count.
cmake_minimum_required(VERSION 3.16)

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
get_filename_component(name ${PARAMETER_FILE} NAME_WE)
set(arguments --set "Output/Directory=${DIRECTORY}/results")
string(REPLACE "%%" ";" settings "${SETTINGS}")
foreach(setting IN LISTS settings)
  list(APPEND arguments --set "${setting}")
endforeach()
string(REPLACE "%%" ";" launcher "${LAUNCHER}")
execute_process(
  COMMAND ${launcher} ${PROGRAM} ${arguments} ${PARAMETER_FILE}
  WORKING_DIRECTORY ${DIRECTORY}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE error)

set(failures)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit status ${status}\n${output}\n${error}")
endif()

string(REPLACE "%%" ";" suffixes "${SUFFIXES}")
foreach(suffix IN LISTS suffixes)
  if(NOT EXISTS ${DIRECTORY}/results/${name}${suffix})
    list(APPEND failures "${name}${suffix} was not written")
  endif()
endforeach()
file(GLOB drawings ${DIRECTORY}/results/*.vtu ${DIRECTORY}/results/*.svg)
foreach(drawing ${drawings})
  file(READ ${drawing} text)
  if(NOT text MATCHES "</(VTKFile|svg)>[ \n]*$")
    list(APPEND failures "${drawing} has no end")
  endif()
endforeach()
file(GLOB unfinished ${DIRECTORY}/results/*.part ${DIRECTORY}/results/*tmp*)
if(unfinished)
  list(APPEND failures "left behind: ${unfinished}")
endif()

file(STRINGS ${DIRECTORY}/results/${name}.csv rows)
list(POP_FRONT rows header)
string(REPLACE "," ";" header "${header}")
string(REPLACE "%%" ";" expectations "${EXPECT}")
foreach(expectation IN LISTS expectations)
  string(REPLACE " " ";" words "${expectation}")
  list(GET words 0 level)
  list(GET words 1 degree)
  list(GET words 2 column)
  list(GET words 3 minimum)
  list(GET words 4 maximum)
  list(FIND header ${column} index)
  set(value "missing")
  foreach(row IN LISTS rows)
    string(REPLACE "," ";" row "${row}")
    list(GET row 0 row_level)
    list(GET row 1 row_degree)
    if(row_level EQUAL level AND row_degree EQUAL degree)
      list(GET row ${index} value)
    endif()
  endforeach()
  if(NOT (value GREATER_EQUAL minimum AND value LESS_EQUAL maximum))
    list(APPEND failures
      "level ${level}, degree ${degree}: ${column} is ${value}, not from ${minimum} to ${maximum}")
  endif()
endforeach()

if(failures)
  string(REPLACE ";" "\n" failures "${failures}")
  message(FATAL_ERROR "${failures}\n---- output\n${output}\n${error}")
endif()
