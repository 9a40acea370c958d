# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Options that all programs have: --version, --help, --validate, --quiet,
# --verbose, parameters as JSON, progress on a terminal, manual pages and
# completion. Variables: DIRECTORY (scratch, emptied first), PROGRAMS (folder),
# PARAMETER_FILES (folder), MANUALS (folder), VERSION, BASH and SCRIPT, which may
# be empty, and CASES: "program file setting..." with %% between the words and @@
# between the cases, which --validate must accept.

cmake_minimum_required(VERSION 3.16)

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
set(study ${PROGRAMS}/convergence_study)
set(poisson ${PARAMETER_FILES}/poisson_2d.prm)

# run(STATUS PATTERN COMMAND...) checks the exit status, and stdout (status 0) or
# stderr against a regular expression.
function(run wanted pattern)
  execute_process(COMMAND ${ARGN}
    WORKING_DIRECTORY ${DIRECTORY}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(wanted EQUAL 0)
    set(text "${output}")
  else()
    set(text "${error}")
  endif()
  string(REGEX REPLACE "[ \t\n]+" " " text "${text}")
  if(NOT status EQUAL wanted OR NOT text MATCHES "${pattern}")
    message(FATAL_ERROR
      "${ARGN}: exit status ${status}, not ${wanted}; or this does not match "
      "\"${pattern}\":\n${output}\n${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
  set(error "${error}" PARENT_SCOPE)
endfunction()

# Nothing but DIRECTORY itself may be there.
function(check_no_files what)
  file(GLOB files ${DIRECTORY}/*)
  if(files)
    message(FATAL_ERROR "${what} wrote ${files}.")
  endif()
endfunction()

# ---- every program
string(REPLACE "@@" ";" cases "${CASES}")
set(programs ${study} ${PROGRAMS}/tessella_info)
foreach(case IN LISTS cases)
  string(REPLACE "%%" ";" words "${case}")
  list(POP_FRONT words name file)
  set(settings)
  foreach(word IN LISTS words)
    list(APPEND settings --set "${word}")
  endforeach()
  run(0 "${file}.prm is valid" ${PROGRAMS}/${name} --validate ${settings}
    ${PARAMETER_FILES}/${file}.prm)
  list(APPEND programs ${PROGRAMS}/${name})
endforeach()
check_no_files("--validate")
list(REMOVE_DUPLICATES programs)
# The manual pages consist of what the programs print for --help.
foreach(program IN LISTS programs)
  get_filename_component(name ${program} NAME)
  file(READ ${MANUALS}/${name}.1 manual)
  if(NOT manual MATCHES "^.TH ${name} 1 .*.SH NAME.*.SH SYNOPSIS.*.SH OPTIONS.*version.*.SH DESCRIPTION")
    message(FATAL_ERROR "The manual page of ${name} is:\n${manual}")
  endif()
endforeach()
foreach(name convergence_study assembly_throughput tessella_info)
  run(0 "^${name} .Tessella. ${VERSION} commit .*deal.II .*Trilinos .*CUDA "
    ${PROGRAMS}/${name} --version)
  run(0 "^${name}: .*Usage: .*Options: .*--version" ${PROGRAMS}/${name} --help)
endforeach()
run(0 "Host: [0-9]+ cores.*CUDA: .*assembly, residuals, coefficients . yes"
  ${PROGRAMS}/tessella_info)
run(1 "takes no file" ${PROGRAMS}/tessella_info ${poisson})
run(1 "no option '--validate'" ${PROGRAMS}/tessella_info --validate)

# ---- what --validate finds
run(0 "level 1, degree 2: [0-9]+ polytopes, [0-9]+ unknowns, [0-9]+ entries, about [0-9.]+ GiB.*The system of level 1, degree 2 needs about"
  ${study} --validate --set Mesh/Levels=2 --set "Discretisation/Degree=1, 2"
  ${poisson})
run(0 "^$" ${study} --validate --quiet --set Mesh/Levels=1 ${poisson})
run(1 "for the id 7, but" ${study} --validate --set Mesh/Levels=1
  --set "Boundary conditions/Types=7: neumann" ${poisson})
run(1 "does not exist" ${study} --validate --set Mesh/Files=no_such.msh
  ${poisson})
run(1 "are valid, but the system of level 0, degree 10 needs about [0-9.e+]+ GiB of memory, and [0-9.]+ GiB are available"
  ${study} --validate --set Mesh/Dimension=3 --set Mesh/Levels=1
  --set "Mesh/Generator=subdivided_hyper_cube" --set Mesh/Distortion=0
  --set "Mesh/Generator arguments=24 : 0 : 1 : false"
  --set "Mesh/Initial refinements=0" --set Agglomeration/Method=none
  --set Discretisation/Degree=10 --set "Equation/Exact solution=x"
  ${poisson})
check_no_files("--validate")

# ---- how much is printed
set(short --set Mesh/Levels=1 --set "Discretisation/Degree=2")
run(0 "^$" ${study} --quiet ${short} ${poisson})
if(error OR NOT EXISTS ${DIRECTORY}/results/poisson_2d.csv)
  message(FATAL_ERROR "With --quiet the table is missing, or there is: ${error}")
endif()
run(0 "deal.II .*not the default: .*Mesh/Levels = 1 .*largest memory of a process [0-9.]+ GiB"
  ${study} --verbose ${short} ${poisson})
run(1 "exclude each other" ${study} --quiet --verbose ${poisson})

# ---- JSON
run(0 "Wrote all.json" ${study} ${short} ${poisson} --print-parameters all.json)
run(0 "Wrote again.json" ${study} all.json --print-parameters again.json)
run(0 "Wrote from_json.prm" ${study} all.json --print-parameters from_json.prm)
run(0 "Wrote from_prm.prm" ${study} ${short} ${poisson}
  --print-parameters from_prm.prm)
foreach(pair "all.json;again.json" "from_json.prm;from_prm.prm")
  list(GET pair 0 one)
  list(GET pair 1 other)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${one} ${other}
    WORKING_DIRECTORY ${DIRECTORY} RESULT_VARIABLE different)
  if(different)
    message(FATAL_ERROR "${one} and ${other} differ.")
  endif()
endforeach()
# short form, as a person writes it
file(WRITE ${DIRECTORY}/short.json
  "{\"Mesh\": {\"Levels\": \"1\"}, \"Discretisation\": {\"Degree\": \"3\"}}")
run(0 "set Degree *= 3 " ${study} short.json --print-parameters)
file(WRITE ${DIRECTORY}/wrong.json "{\"Mesh\": {\"Levels\" 1}}")
run(1 "'wrong.json' is no valid JSON: .*in line 1." ${study} wrong.json)
file(WRITE ${DIRECTORY}/unknown.json "{\"Mesh\": {\"Level\": \"1\"}}")
run(1 "'unknown.json' sets 'Level', but there is no such parameter." ${study} unknown.json)

# ---- progress, on a terminal only, from the first second on
if(SCRIPT)
  set(shown)
  foreach(steps 400 1600 6400)
    set(flow ${PROGRAMS}/conservation_law --set Mesh/Levels=1
      --set Discretisation/Degree=3 --set "Mesh/Initial refinements=5"
      --set Execution/Threads=1 --set Execution/Backend=host
      --set "Time/CFL number=0.02" --set "Time/Stop after=${steps}"
      ${PARAMETER_FILES}/conservation_advection_2d.prm)
    string(REPLACE ";" "\" \"" quoted "\"${flow}\"")
    run(0 "stopped after ${steps} steps" ${SCRIPT} -qec "${quoted}" /dev/null)
    string(REGEX MATCH "% done, about [0-9.]+ (s|min|h) remain" shown "${output}")
    if(shown)
      break()
    endif()
  endforeach()
  if(NOT shown)
    message(FATAL_ERROR "A terminal shows no progress:\n${output}")
  endif()
endif()

# ---- completion
if(BASH)
  file(WRITE ${DIRECTORY}/complete.sh "source ${MANUALS}/convergence_study
complete_words()
{
  COMP_WORDS=(\"\$@\")
  COMP_CWORD=\$((\$# - 1))
  _convergence_study 2>/dev/null
  printf '%s|' \"\${COMPREPLY[@]}\"
  echo
}
complete_words ${study} --v
complete_words ${study} --set Mesh/Lev
complete_words ${study} --set 'Mesh/Initial r'
complete_words ${study} short
")
  run(0 "--validate.--verbose.--version. Mesh/Levels=. Mesh/Initial refinements=. short.json."
    ${BASH} complete.sh)
endif()
