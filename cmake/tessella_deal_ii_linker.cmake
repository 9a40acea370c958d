# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Some packages of deal.II (Debian 13) export the linker that they were built
# with, "-fuse-ld=mold", but do not depend on it. If that linker is missing, the
# compiler cannot link. This file then selects the compiler's own linker, which
# produces equivalent programs. A linker that CMAKE_EXE_LINKER_FLAGS names takes
# precedence over that of deal.II, whose flag would come after it. Include this file
# after find_package(deal.II).
if("${DEAL_II_LINKER_FLAGS}" MATCHES "-fuse-ld=([^ ;]+)")
  set(tessella_linker_flag "${CMAKE_MATCH_0}")
  set(tessella_linker_name "${CMAKE_MATCH_1}")
  find_program(TESSELLA_LINKER_OF_DEAL_II
    NAMES ld.${tessella_linker_name} ${tessella_linker_name})
  mark_as_advanced(TESSELLA_LINKER_OF_DEAL_II)
  if("${CMAKE_EXE_LINKER_FLAGS}" MATCHES "-fuse-ld=")
    string(REPLACE "${tessella_linker_flag}" "" DEAL_II_LINKER_FLAGS
      "${DEAL_II_LINKER_FLAGS}")
  elseif(NOT TESSELLA_LINKER_OF_DEAL_II)
    string(REPLACE "${tessella_linker_flag}" "" DEAL_II_LINKER_FLAGS
      "${DEAL_II_LINKER_FLAGS}")
    message(STATUS
      "deal.II asks for the linker ${tessella_linker_name}, which is not "
      "installed: the compiler's own linker is used.")
  endif()
endif()
