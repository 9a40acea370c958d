# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Prints what was configured, at the end of CMake's output.

function(tessella_summary)
  set(cuda "no")
  if(TESSELLA_HAVE_CUDA)
    set(cuda "${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
  endif()
  set(kernels "plain")
  foreach(set AVX2 AVX512)
    if(TESSELLA_HAVE_${set})
      string(APPEND kernels ", ${set}")
    endif()
  endforeach()
  set(tests "no")
  if(TESSELLA_BUILD_TESTS AND NUMDIFF_EXECUTABLE AND PERL_FOUND)
    set(tests "yes")
  endif()
  set(applications "${TESSELLA_BUILD_APPLICATIONS}")
  if(TESSELLA_BUILD_APPLICATIONS AND NOT TESSELLA_HAVE_EPETRA)
    set(applications "those that need no Epetra")
  endif()
  string(JOIN "\n--   " text
    "Tessella ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}"
    "compiler         ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    "deal.II          ${DEAL_II_PACKAGE_VERSION} in ${DEAL_II_PATH}"
    "Trilinos, Epetra ${TESSELLA_HAVE_EPETRA}"
    "host kernels     ${kernels}"
    "CUDA             ${cuda}"
    "programs         ${applications}"
    "tests            ${tests}"
    "installation     ${CMAKE_INSTALL_PREFIX}")
  message(STATUS "${text}")
endfunction()
