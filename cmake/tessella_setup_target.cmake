# SPDX-License-Identifier: LGPL-2.1-or-later

# tessella_setup_target(<target>)
#
# Sets up a target that uses Tessella: everything that deal_ii_setup_target()
# does (include paths, flags and libraries of deal.II for the build type in
# CMAKE_BUILD_TYPE), and the Tessella library of the same build type. Call it
# instead of deal_ii_setup_target(); calling both does no harm.
function(tessella_setup_target target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR
      "tessella_setup_target(): there is no target \"${target}\".")
  endif()
  deal_ii_setup_target(${target})

  # Debug and Release of deal.II must not meet in one program.
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
  # The plain signature, as deal_ii_setup_target() uses it.
  target_link_libraries(${target} Tessella::tessella)
endfunction()
