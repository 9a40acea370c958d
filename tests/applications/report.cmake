# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Reports as one HTML page: a study whose name has characters that HTML reserves, a
# folder that cannot be made, and no report with --validate. Variables: DIRECTORY
# (scratch, emptied first), PROGRAM, PYTHON,
# CHECK (check_report.py) and PARAMETER_FILE.

cmake_minimum_required(VERSION 3.16)

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
set(name "a<b>&\"c\"")
set(study ${PROGRAM} --set Mesh/Levels=2 --set "Discretisation/Degree=1, 2"
  --set Output/Report=true --set "Output/Name=${name}" ${PARAMETER_FILE})

execute_process(COMMAND ${study} --validate WORKING_DIRECTORY ${DIRECTORY}
  RESULT_VARIABLE status OUTPUT_QUIET)
file(GLOB files ${DIRECTORY}/*)
if(status OR files)
  message(FATAL_ERROR "--validate: exit status ${status}, files: ${files}")
endif()

execute_process(COMMAND ${study} WORKING_DIRECTORY ${DIRECTORY}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status OR NOT output MATCHES "Wrote results/[^\n]*-report.html.")
  message(FATAL_ERROR "exit status ${status}: ${output}")
endif()
set(results "${DIRECTORY}/results/${name}")
execute_process(
  COMMAND ${PYTHON} ${CHECK} "${results}-report.html" "${results}.csv"
    convergence "polytopes 1" "solution 1 p1" "solution 1 p2" results
  RESULT_VARIABLE status ERROR_VARIABLE error)
if(status)
  message(FATAL_ERROR "${error}")
endif()
file(READ "${results}-report.html" page)
foreach(text "a&lt;b&gt;&amp;&quot;c&quot;</h1>" "<td>Mesh/Levels</td>"
    "deal.II  " "All [0-9]+ parameters" "which ran for " "Backend host")
  if(NOT page MATCHES "${text}")
    message(FATAL_ERROR "The report lacks \"${text}\".")
  endif()
endforeach()

# The same bytes in every run without times; drawings only in the report.
foreach(run 1 2)
  execute_process(COMMAND ${study} --quiet --set Output/Times=false
      --set Output/SVG=false --set Output/CSV=false
      --set Output/Directory=${DIRECTORY}/again --set "Output/Name=again"
    WORKING_DIRECTORY ${DIRECTORY} RESULT_VARIABLE status)
  file(READ ${DIRECTORY}/again/again-report.html page_${run})
endforeach()
file(GLOB files ${DIRECTORY}/again/*.svg ${DIRECTORY}/again/*.csv)
if(status OR files OR NOT page_1 STREQUAL page_2 OR
   NOT page_1 MATCHES "class=.curve." OR page_1 MATCHES "class=.bar.")
  message(FATAL_ERROR "Without times: ${status}, files: ${files}")
endif()

execute_process(COMMAND ${study} --set Output/Directory=/dev/null/results
  RESULT_VARIABLE status ERROR_VARIABLE error OUTPUT_QUIET)
if(NOT status EQUAL 1 OR
   NOT error MATCHES "^convergence_study: [^\n]*Output/Directory[^\n]*\n$")
  message(FATAL_ERROR "A wrong folder: ${status}, ${error}")
endif()
