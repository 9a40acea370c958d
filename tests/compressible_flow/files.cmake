# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Runs PROGRAM in DIRECTORY and looks at its files: histories of forces and lists of
# fields of steady and unsteady runs (bump.prm and vortex.prm of the folder SOURCE),
# which a run that goes on from a checkpoint continues, drawings, and sections and
# surfaces of a wing (WING, a parameter file) and a sphere.

cmake_minimum_required(VERSION 3.16)

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})

# Runs a parameter file with settings and returns the output.
function(run file)
  set(settings)
  foreach(setting ${ARGN})
    list(APPEND settings --set ${setting})
  endforeach()
  execute_process(
    COMMAND ${PROGRAM} ${settings} ${file}
    WORKING_DIRECTORY ${DIRECTORY}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "exit status ${result} of ${ARGN}\n${output}\n${error}")
  endif()
endfunction()

# Checks that a file has a number of lines that match an expression.
function(expect_lines file number expression)
  file(STRINGS ${DIRECTORY}/${file} lines REGEX "${expression}")
  list(LENGTH lines n)
  if(NOT n EQUAL number)
    message(FATAL_ERROR
      "${file} has ${n} lines with '${expression}' instead of ${number}.")
  endif()
endfunction()

function(expect_same first second)
  file(READ ${DIRECTORY}/${first} a)
  file(READ ${DIRECTORY}/${second} b)
  # deal.II writes the date.
  string(REGEX REPLACE "on [0-9/]+ at [0-9:]+" "" a "${a}")
  string(REGEX REPLACE "on [0-9/]+ at [0-9:]+" "" b "${b}")
  if(NOT a STREQUAL b)
    message(FATAL_ERROR "${first} and ${second} differ:\n${a}\n${b}")
  endif()
endfunction()

# A steady run of six steps.
set(bump ${SOURCE}/bump.prm "Mesh/Levels=1" "Output/Name=flow" "Forces/Steps=2"
  "Steady/Field steps=4")
run(${bump} "Output/Directory=whole")
set(stem flow-0-p2)
expect_lines(whole/${stem}-history.csv 1 "^step,C_l,C_d,C_m$")
expect_lines(whole/${stem}-history.csv 3 "^[246],")
expect_lines(whole/${stem}.pvd 1 "timestep=\"4\".*file=\"${stem}-0000.vtu\"")
expect_lines(whole/${stem}.pvd 1 "timestep=\"6\".*file=\"${stem}-solution.vtu\"")
expect_lines(whole/${stem}.pvd 2 "<DataSet ")
expect_lines(whole/${stem}-residuals.svg 1 "class=\"curve\"")
expect_lines(whole/${stem}-forces.svg 3 "class=\"curve\"")
# The wall is at y = 0 beside the bump, up to rounding.
expect_lines(whole/${stem}-surface.svg 2 "class=\"curve\"")
# The last line of the history is the result.
file(STRINGS ${DIRECTORY}/whole/${stem}-history.csv history)
file(STRINGS ${DIRECTORY}/whole/${stem}-forces.csv forces)
list(GET history -1 last)
list(GET forces -1 result)
if(NOT last STREQUAL "6,${result}")
  message(FATAL_ERROR "The history ends with ${last}, the forces are ${result}.")
endif()
foreach(file ${stem}-0000.vtu ${stem}-solution.vtu)
  if(NOT EXISTS ${DIRECTORY}/whole/${file})
    message(FATAL_ERROR "${file} is missing.")
  endif()
endforeach()

# The same with a stop after five steps.
run(${bump} "Output/Directory=parts" "Time/Stop after=5")
expect_lines(parts/${stem}.pvd 1 "<DataSet ")
run(${bump} "Output/Directory=parts"
  "Time/Restart from=parts/${stem}.checkpoint")
foreach(file ${stem}-history.csv ${stem}.pvd ${stem}-forces.svg
    ${stem}-residuals.svg)
  expect_same(whole/${file} parts/${file})
endforeach()

# Without ticks the state at the end is recorded. A run that goes on from there writes
# the file again, which is in the list only once.
set(vortex ${SOURCE}/vortex.prm "Mesh/Levels=1" "Discretisation/Degree=1"
  "Output/Name=vortex" "Output/Solution=true")
set(stem vortex-0-p1)
set(end ${vortex} "Flow/Tick=0" "Output/Directory=end" "Time/Checkpoint every=1")
run(${end} "Time/Final time=0.2")
expect_lines(end/${stem}.pvd 1 "timestep=\"0.2\".*file=\"${stem}-solution.vtu\"")
run(${end} "Time/Restart from=end/${stem}.checkpoint")
expect_lines(end/${stem}.pvd 1 "timestep=\"0.5\".*file=\"${stem}-solution.vtu\"")
expect_lines(end/${stem}.pvd 1 "<DataSet ")

# With ticks, a stop between two of them changes neither history nor list.
list(APPEND vortex "Forces/Boundary ids=0")
run(${vortex} "Output/Directory=whole")
expect_lines(whole/${stem}-history.csv 4 "^(0|0.2|0.4|0.5),")
expect_lines(whole/${stem}.pvd 4 "<DataSet ")
run(${vortex} "Output/Directory=parts" "Time/Stop after=8")
expect_lines(parts/${stem}-history.csv 2 "^(0|0.2),")
run(${vortex} "Output/Directory=parts" "Time/Restart from=parts/${stem}.checkpoint")
foreach(file ${stem}-history.csv ${stem}.pvd)
  expect_same(whole/${file} parts/${file})
endforeach()

# Sections: with constants on tetrahedra their pressures are among those at the
# points of the surface.
run(${WING} "Forces/Span stations=0.5264, 1.0767" "Output/Name=wing"
  "Output/Directory=whole")
set(sections wing-0-p0-sections)
set(number "[-+.e0-9]+")
expect_lines(whole/${sections}.csv 1 "^station,side,chord,x,y,z,C_p,Mach_number$")
# Two sides at two stations, of the flow and of the measurement.
expect_lines(whole/${sections}.svg 8 "class=\"curve\"")
# Facets of the body that can be seen, and one for each side of a convex body.
file(STRINGS ${DIRECTORY}/whole/wing-0-p0-surface.svg facets REGEX "class=\"facet\"")
list(LENGTH facets n)
if(n LESS 100)
  message(FATAL_ERROR "There are ${n} facets of the wing in its drawing.")
endif()
run(${SOURCE}/../../parameter_files/flow_sphere.prm "Mesh/Geometry cells=4"
  "Mesh/Geometry far field=5" "Mesh/Levels=1" "Discretisation/Degree=0"
  "Steady/Maximum steps=20" "Execution/Backend=host" "Output/Name=sphere"
  "Output/Directory=whole" "Output/Solution=false")
expect_lines(whole/sphere-0-p0-surface.svg 48 "class=\"facet\"")
expect_lines(whole/sphere-0-p0-surface.svg 24 "class=\"legend\"")
file(STRINGS ${DIRECTORY}/whole/wing-0-p0-surface.csv surface)
set(pressures)
foreach(line ${surface})
  string(REPLACE "," ";" words "${line}")
  list(GET words 3 pressure)
  list(APPEND pressures ${pressure})
endforeach()
foreach(station 0.5264 1.0767)
  foreach(side 1 -1)
    # Coordinates are as exact as those of vertices.
    file(STRINGS ${DIRECTORY}/whole/${sections}.csv lines REGEX
      "^${station},${side},(0|1|0[.][0-9]+|${number}e-[0-9]+),${number},${station},")
    list(LENGTH lines n)
    if(n LESS 8)
      message(FATAL_ERROR "There are ${n} points at ${station}, side ${side}.")
    endif()
    foreach(line ${lines})
      string(REPLACE "," ";" words "${line}")
      list(GET words 6 pressure)
      list(FIND pressures ${pressure} found)
      if(found EQUAL -1)
        message(FATAL_ERROR "No point of the surface has C_p of ${line}.")
      endif()
    endforeach()
  endforeach()
endforeach()
