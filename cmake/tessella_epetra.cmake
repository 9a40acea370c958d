# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# tessella_check_epetra()
#
# Sets TESSELLA_HAVE_EPETRA to TESSELLA_WITH_EPETRA, after a check that the
# classes of TrilinosWrappers in the deal.II that was found are based on Epetra.
# Since version 9.8, config.h of deal.II says so; without Epetra these classes
# are based on Tpetra. Earlier versions support Trilinos only with Epetra.
macro(tessella_check_epetra)
  option(TESSELLA_WITH_EPETRA
    "Matrices and vectors of TrilinosWrappers, on top of Epetra" ON)
  set(TESSELLA_HAVE_EPETRA OFF)
  if(TESSELLA_WITH_EPETRA)
    set(TESSELLA_HAVE_EPETRA ON)
    file(STRINGS ${DEAL_II_PATH}/${DEAL_II_INCLUDE_RELDIR}/deal.II/base/config.h
      tessella_no_epetra
      REGEX "^/\\* #undef DEAL_II_(WITH_TRILINOS|TRILINOS_WITH_EPETRA) \\*/")
    if(tessella_no_epetra)
      message(FATAL_ERROR
        "The deal.II in ${DEAL_II_PATH} has no Trilinos with Epetra, on which "
        "Tessella's functions for TrilinosWrappers rest: use another deal.II "
        "(DEAL_II_DIR), or leave these functions out with "
        "-DTESSELLA_WITH_EPETRA=OFF.")
    endif()
  endif()
endmacro()
