# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# If deal.II's flags name a linker that is not installed, it is removed from
# them; an installed linker is kept.
foreach(linker no-such-linker bfd)
  set(DEAL_II_LINKER_FLAGS "-rdynamic -fuse-ld=${linker} -Wl,-z,relro")
  unset(TESSELLA_LINKER_OF_DEAL_II CACHE)
  include(${MODULE})
  set(has_${linker} FALSE)
  if(DEAL_II_LINKER_FLAGS MATCHES "-fuse-ld")
    set(has_${linker} TRUE)
  endif()
  if(NOT DEAL_II_LINKER_FLAGS MATCHES "^-rdynamic .*-Wl,-z,relro$")
    message(FATAL_ERROR "Other flags were lost: ${DEAL_II_LINKER_FLAGS}")
  endif()
endforeach()
if(has_no-such-linker OR NOT has_bfd)
  message(FATAL_ERROR "A linker that is missing: ${has_no-such-linker}, "
    "one that is there: ${has_bfd}")
endif()
