# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Installs the build in BUILD_DIRECTORY to DIRECTORY/installed, and moves it,
# because an installation must not depend on the folder where it was created.
# Extracts the first C++ and the first CMake block of README, builds them as a
# separate project in DIRECTORY, and runs the program with MESH. Its error must
# be that of polynomials of degree three.

function(run)
  execute_process(COMMAND ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Returns the text between the line "```LANGUAGE" and the next "```".
function(code_block language result)
  file(READ ${README} text)
  string(FIND "${text}" "```${language}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "${README} has no block \"```${language}\".")
  endif()
  string(LENGTH "```${language}\n" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
run(${CMAKE_COMMAND} --install ${BUILD_DIRECTORY}
  --prefix ${DIRECTORY}/installed)
file(RENAME ${DIRECTORY}/installed ${DIRECTORY}/moved)

code_block(cpp program)
file(WRITE ${DIRECTORY}/poisson.cc "${program}")
code_block(cmake project)
file(WRITE ${DIRECTORY}/CMakeLists.txt "${project}")

# No build type is given: the only installed one must be chosen.
run(${CMAKE_COMMAND} -S ${DIRECTORY} -B ${DIRECTORY}/build -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${DIRECTORY}/moved)
if(NOT output MATCHES "CMAKE_BUILD_TYPE is ${BUILD_TYPE}")
  message(FATAL_ERROR "The installed build type is not the default:\n${output}")
endif()
run(${CMAKE_COMMAND} --build ${DIRECTORY}/build)

execute_process(COMMAND ${DIRECTORY}/build/poisson ${MESH}
  WORKING_DIRECTORY ${DIRECTORY}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(NOT status EQUAL 0 OR
   NOT output MATCHES "80 DoFs, L2 error ([0-9.e+-]+)" OR
   NOT CMAKE_MATCH_1 LESS 2e-4 OR
   NOT EXISTS ${DIRECTORY}/solution.vtu)
  message(FATAL_ERROR "The program failed (${status}) or its error is too "
    "large.")
endif()

# A tutorial is built from the installed copy, and its results are those of its
# introduction.
if(BASH AND UNIX)
  run(${BASH} ${TUTORIALS} ${DIRECTORY}/moved 2)
  message("${output}")
endif()

# The installed application runs as well and finds its library.
run(${DIRECTORY}/moved/bin/convergence_study --help)

# A program with a functor in a .cu file, compiled by nvcc if the library was
# built with CUDA.
run(${CMAKE_COMMAND} -S ${FUNCTOR} -B ${DIRECTORY}/functor -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_PREFIX_PATH=${DIRECTORY}/moved
  -DTESSELLA_HEADERS=${DIRECTORY}/moved/include
  -DCMAKE_CUDA_COMPILER=${CUDA_COMPILER} -DCMAKE_CUDA_ARCHITECTURES=75)
run(${CMAKE_COMMAND} --build ${DIRECTORY}/functor)
run(${DIRECTORY}/functor/functor)
if(NOT output MATCHES "diffusion 3\n")
  message(FATAL_ERROR "The functor is wrong: ${output}")
endif()

# Release and Debug must not be mixed.
set(other Debug)
if(BUILD_TYPE STREQUAL "Debug")
  set(other Release)
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${DIRECTORY} -B ${DIRECTORY}/build-other
    -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${other}
    -DCMAKE_PREFIX_PATH=${DIRECTORY}/moved
  RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "Tessella[ \n]+was[ \n]+installed")
  message(FATAL_ERROR "Mixing build types was not noticed:\n${output}")
endif()

# The soname of the library and the package file must agree on compatible
# versions: those with the same minor version.
string(REGEX MATCH "^[0-9]+\\.[0-9]+" series "${VERSION}")
file(GLOB_RECURSE names RELATIVE ${DIRECTORY}/moved
  ${DIRECTORY}/moved/lib*/libtessella*.so.${series})
if(NOT names)
  message(FATAL_ERROR "There is no libtessella.so.${series}.")
endif()
file(GLOB_RECURSE version_file ${DIRECTORY}/moved/tessellaConfigVersion.cmake)
string(REPLACE "." ";" numbers "${VERSION}")
list(GET numbers 0 major)
list(GET numbers 1 minor)
math(EXPR next "${minor} + 1")
foreach(wanted ${series} ${major}.${next})
  set(PACKAGE_FIND_VERSION ${wanted})
  set(PACKAGE_FIND_VERSION_MAJOR ${major})
  string(REGEX REPLACE ".*\\." "" PACKAGE_FIND_VERSION_MINOR ${wanted})
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
  include(${version_file})
  if((wanted STREQUAL series AND NOT PACKAGE_VERSION_COMPATIBLE) OR
     (NOT wanted STREQUAL series AND PACKAGE_VERSION_COMPATIBLE))
    message(FATAL_ERROR "Version ${wanted} of ${VERSION}: compatible is "
      "${PACKAGE_VERSION_COMPATIBLE}.")
  endif()
endforeach()
