# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# If deal.II's flags name a linker that is not installed, it is removed from
# them; an installed linker is kept, unless the user names another one.
foreach(case no-such-linker bfd user)
  set(linker ${case})
  set(CMAKE_EXE_LINKER_FLAGS "")
  if(case STREQUAL "user")
    set(linker bfd)
    set(CMAKE_EXE_LINKER_FLAGS "-fuse-ld=mold")
  endif()
  set(DEAL_II_LINKER_FLAGS "-rdynamic -fuse-ld=${linker} -Wl,-z,relro")
  unset(TESSELLA_LINKER_OF_DEAL_II CACHE)
  include(${MODULE})
  set(has_${case} FALSE)
  if(DEAL_II_LINKER_FLAGS MATCHES "-fuse-ld")
    set(has_${case} TRUE)
  endif()
  if(NOT DEAL_II_LINKER_FLAGS MATCHES "^-rdynamic .*-Wl,-z,relro$")
    message(FATAL_ERROR "Other flags were lost: ${DEAL_II_LINKER_FLAGS}")
  endif()
endforeach()
if(has_no-such-linker OR NOT has_bfd OR has_user)
  message(FATAL_ERROR "A linker that is missing: ${has_no-such-linker}, "
    "one that is there: ${has_bfd}, one beside that of the user: ${has_user}")
endif()
