# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# tessella_setup_target(<target>)
#
# Sets up a target that uses Tessella: does everything that
# deal_ii_setup_target() does (include paths, flags and libraries of deal.II for
# the build type in CMAKE_BUILD_TYPE), and links the Tessella library of the
# same build type. Call it instead of deal_ii_setup_target(); calling both does
# no harm.
function(tessella_setup_target target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR
      "tessella_setup_target(): there is no target \"${target}\".")
  endif()
  deal_ii_setup_target(${target})

  # Debug and Release of deal.II must not be mixed in one program.
  get_target_property(imported Tessella::tessella IMPORTED)
  if(imported)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
    get_target_property(installed Tessella::tessella IMPORTED_CONFIGURATIONS)
    if(NOT build_type IN_LIST installed)
      message(FATAL_ERROR
        "CMAKE_BUILD_TYPE is \"${CMAKE_BUILD_TYPE}\", but Tessella was "
        "installed as ${installed} only: install it with "
        "-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} too, or change the build "
        "type.")
    endif()
  endif()
  # The signature without keyword, which deal_ii_setup_target() uses, too.
  target_link_libraries(${target} Tessella::tessella)
endfunction()

# tessella_add_device_sources(<target> <file.cu>...)
#
# Adds files with functors for DeviceForm to a target. nvcc compiles them if
# Tessella has its CUDA backend and CUDA is an enabled language of the project;
# otherwise they are compiled as C++ for the host backend, from the same source.
# Call it after project() and enable_language(CUDA).
function(tessella_add_device_sources target)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("CUDA" IN_LIST languages AND TESSELLA_HAVE_CUDA)
    set_target_properties(${target} PROPERTIES
      CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
  else()
    # Without these options, compilers treat .cu files as another language.
    set_source_files_properties(${ARGN} PROPERTIES
      LANGUAGE CXX COMPILE_OPTIONS "-xc++")
  endif()
  target_sources(${target} PRIVATE ${ARGN})
endfunction()
