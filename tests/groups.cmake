# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Programs of tests, compiled in groups: parsing the headers of deal.II and
# Trilinos and instantiating their templates takes most of the time of a test, and
# is done once for the tests of a group. Three tests of tests/operators took
# 21 s of processor time instead of 41 s, without precompiled headers. A group is a
# shared library. Each test of it remains a program with a name of its own, which
# consists of run_test.cc and that library. In a group, names of a test are in a
# namespace: "::name" does not find them. If TESSELLA_UNITY_BUILD is OFF, each
# test is compiled alone.

# Tests that are compiled alone, a regular expression for folder/name: those with the
# property TESSELLA_OPTIMIZED, see CMakeLists.txt, because they have other options.
set(TESSELLA_SINGLE_TESTS "/[a-z_]*reference")

# tessella_add_parts(<target> <sources> <objects> <libraries>)
#
# Adds .cu files, objects of other targets and libraries, three lists, to a target.
function(tessella_add_parts target sources objects libraries)
  if(sources)
    list(REMOVE_DUPLICATES sources)
    tessella_add_device_sources(${target} ${sources})
  endif()
  list(REMOVE_DUPLICATES objects)
  foreach(other ${objects})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${other}>)
    if(TESSELLA_HAVE_CUDA)
      target_link_libraries(${target} CUDA::cudart_static ${CMAKE_DL_LIBS})
    endif()
  endforeach()
  if(libraries)
    target_link_libraries(${target} ${libraries})
  endif()
endfunction()

# tessella_test_group(<library> <folder/name.cc>...)
#
# Adds the library of a group, with the parts that properties TESSELLA_SOURCES_name,
# TESSELLA_OBJECTS_name and TESSELLA_LIBRARIES_name of the folder name.
function(tessella_test_group library)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${library}.cc)
  file(GLOB headers CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/tests/*.h ${PROJECT_SOURCE_DIR}/tests/*/*.h
    ${PROJECT_SOURCE_DIR}/tests/*/*.inc)
  add_custom_command(OUTPUT ${source}
    COMMAND ${PERL_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/group.pl
      ${source} ${ARGN}
    DEPENDS ${PROJECT_SOURCE_DIR}/tests/group.pl ${ARGN} ${headers}
    VERBATIM)
  # A command of one target alone would wait for all libraries that the target links
  # with, and the compiler for the command.
  add_custom_target(${library}_source DEPENDS ${source})
  add_library(${library} SHARED EXCLUDE_FROM_ALL ${source})
  add_dependencies(${library} ${library}_source)
  tessella_setup_target(${library})
  target_link_libraries(${library} ${TEST_LIBRARIES})
  foreach(kind SOURCES OBJECTS LIBRARIES)
    set(${kind})
    foreach(test ${ARGN})
      get_filename_component(name ${test} NAME_WE)
      get_directory_property(parts TESSELLA_${kind}_${name})
      list(APPEND ${kind} ${parts})
    endforeach()
  endforeach()
  tessella_add_parts(${library} "${SOURCES}" "${OBJECTS}" "${LIBRARIES}")
  # deal.II's macro defines these, too.
  target_compile_definitions(${library} PRIVATE
    SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}" TESTING_ENVIRONMENT=light)
  # The compiler considers the anonymous namespaces of tests to be those of a
  # header.
  target_compile_options(${library} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
  # Programs need nothing but run_test() from the library.
  set_target_properties(${library} PROPERTIES
    DEFINE_SYMBOL ""
    INTERFACE_LINK_LIBRARIES ""
    INTERFACE_COMPILE_OPTIONS ""
    INTERFACE_COMPILE_DEFINITIONS "")
endfunction()

# tessella_grouped_program(<target> <library>)
#
# Adds the program of a test of a group.
function(tessella_grouped_program target library)
  add_executable(${target} EXCLUDE_FROM_ALL
    $<TARGET_OBJECTS:tessella_run_test>)
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX TESSELLA_GROUPED ON)
  target_link_libraries(${target} ${library})
endfunction()

# tessella_divide_tests(<variable> <name>...)
#
# Divides tests of the current folder, in their order, into groups of about equal
# size: a list with one word "name:name..." for each group.
function(tessella_divide_tests variable)
  set(total 0)
  foreach(name ${ARGN})
    file(SIZE ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cc size_${name})
    math(EXPR total "${total} + ${size_${name}}")
  endforeach()
  math(EXPR n_groups
    "(${total} + ${TESSELLA_TEST_GROUP_SIZE} - 1) / ${TESSELLA_TEST_GROUP_SIZE}")
  set(groups)
  set(group)
  set(last_index 0)
  set(first 0)
  foreach(name ${ARGN})
    # The middle of a test, in units of the size of all, decides on its group.
    math(EXPR index
      "(2 * ${first} + ${size_${name}}) * ${n_groups} / (2 * ${total})")
    math(EXPR first "${first} + ${size_${name}}")
    if(group AND NOT index EQUAL last_index)
      string(REPLACE ";" ":" word "${group}")
      list(APPEND groups ${word})
      set(group)
    endif()
    set(last_index ${index})
    list(APPEND group ${name})
  endforeach()
  string(REPLACE ";" ":" word "${group}")
  list(APPEND groups ${word})
  set(${variable} "${groups}" PARENT_SCOPE)
endfunction()

# Folders whose tests make one group together, if groups may be that large. Their
# tests have different names and do not use SOURCE_DIR.
set(TESSELLA_SMALL_FOLDERS base fe forms lac space_time time_stepping)

# tessella_small_test_group(<library>)
#
# Adds the library of these folders, after all of them.
function(tessella_small_test_group library)
  get_property(sources GLOBAL PROPERTY TESSELLA_SMALL_TESTS)
  if(sources)
    tessella_test_group(${library} ${sources})
  endif()
endfunction()

# tessella_grouped_programs(<prefix> <suffix> <name>...)
#
# Adds programs <prefix><name><suffix> of tests name.cc of the current folder, in
# groups.
function(tessella_grouped_programs prefix suffix)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  if(folder IN_LIST TESSELLA_SMALL_FOLDERS AND
     TESSELLA_TEST_GROUP_SIZE GREATER 150000)
    foreach(name ${ARGN})
      set_property(GLOBAL APPEND PROPERTY TESSELLA_SMALL_TESTS
        ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cc)
      tessella_grouped_program(${prefix}${name}${suffix} tests_small)
    endforeach()
    return()
  endif()
  tessella_divide_tests(groups ${ARGN})
  set(number 0)
  foreach(group ${groups})
    string(REPLACE ":" ";" names "${group}")
    set(library tests_${folder}_${number})
    math(EXPR number "${number} + 1")
    set(sources ${names})
    list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(TRANSFORM sources APPEND .cc)
    tessella_test_group(${library} ${sources})
    foreach(name ${names})
      tessella_grouped_program(${prefix}${name}${suffix} ${library})
    endforeach()
  endforeach()
endfunction()

# tessella_group_tests()
#
# Adds the programs of the tests name.cc that deal_ii_pickup_tests(), which must be
# called afterwards, finds in the current folder. That macro builds a program only
# if there is no target of its name, that is, those of TESSELLA_SINGLE_TESTS.
function(tessella_group_tests)
  if(NOT TESSELLA_UNITY_BUILD)
    return()
  endif()
  string(TOLOWER ${CMAKE_BUILD_TYPE} build)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  file(GLOB outputs RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.output *.run_only)
  set(names)
  foreach(output ${outputs})
    string(REGEX REPLACE "\\..*" "" name ${output})
    set(skip OFF)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cc OR
       "${folder}/${name}" MATCHES "${TESSELLA_SINGLE_TESTS}" OR
       (TEST_PICKUP_REGEX AND NOT "${folder}/${name}" MATCHES "${TEST_PICKUP_REGEX}")
       OR (output MATCHES "\\.(debug|release)\\." AND
         NOT output MATCHES "\\.${build}\\."))
      set(skip ON)
    endif()
    string(REGEX MATCHALL "\\.with_[a-z0-9]+=(on|off)" conditions ${output})
    foreach(condition ${conditions})
      string(REGEX MATCH "with_([a-z0-9]+)=(on|off)" unused ${condition})
      string(TOUPPER ${CMAKE_MATCH_1} feature)
      set(wanted ${CMAKE_MATCH_2})
      if((wanted AND NOT DEAL_II_WITH_${feature}) OR
         (NOT wanted AND DEAL_II_WITH_${feature}))
        set(skip ON)
      endif()
    endforeach()
    if(NOT skip)
      list(APPEND names ${name})
    endif()
  endforeach()
  if(names)
    list(REMOVE_DUPLICATES names)
    list(SORT names)
    tessella_grouped_programs(${folder}. .${build} ${names})
    # Each program lies in the folder in which its test runs.
    foreach(name ${names})
      set_target_properties(${folder}.${name}.${build} PROPERTIES
        OUTPUT_NAME ${name}.${build}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}.${build})
    endforeach()
  endif()
endfunction()
