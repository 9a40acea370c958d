# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Options for C++ code of a Release build that runs rarely: most of it is templates
# of deal.II and the C++ library, whose optimisation takes half of the compile time.
# Eight files of source/numerics took 16 s of processor time instead of 31 s.
# Without -mvzeroupper, which GCC 16 switches off at this level, the precompiled
# header would not fit.
set(options -Og -fno-unroll-loops)
include(CheckCXXCompilerFlag)
foreach(flag -fno-unroll-all-loops -mvzeroupper)
  check_cxx_compiler_flag(${flag} TESSELLA_COMPILER_HAS${flag})
  if(TESSELLA_COMPILER_HAS${flag})
    list(APPEND options ${flag})
  endif()
endforeach()
set(tessella_less_optimization
  "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${options}>")
unset(options)
