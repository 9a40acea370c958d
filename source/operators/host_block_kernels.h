// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_block_kernels_h
#define tessella_source_operators_host_block_kernels_h

#include <tessella/base/config.h>

// Interface of the SIMD kernel for blocks of systems with few functions. As
// those in host_kernels.h, each translation unit is compiled for one
// instruction set, and this header and the kernel use plain types and no
// library.

namespace Tessella
{
  namespace internal
  {
    namespace HostBlockKernels
    {
      /// Largest product of the numbers of test and trial functions.
      constexpr unsigned int max_products = 16;

      /// Test or trial functions: function i, row r and point q at
      /// [i function_stride + r row_stride + q], for rows [begin, end).
      struct Functions
      {
        unsigned int  n, n_components;
        const double *data;
        unsigned int  function_stride, row_stride;
        unsigned int  begin, end;
      };

      /**
       * Adds the sums over points of
       *   w table(e, s; c, r) test_ir trial_js
       * to entry [(c n_test + i) width + e n_trial + j], for all components c
       * and functions i of the test space, e and j of the trial space and rows
       * r and s. The table has the array of field row e n_rows + s and output
       * row c n_rows + r at [((e n_rows + s) n_outputs + c n_rows + r) pitch].
       * Arrays that vanish at all n points cost nothing else.
       */
      struct Block
      {
        Functions     test, trial;
        unsigned int  n; ///< number of points
        const double *w;
        const double *table;
        unsigned long pitch;
        unsigned int  n_rows, n_outputs;
        double       *to;
        unsigned long width;
      };

      typedef void (*AddBlock)(const Block &block);

      AddBlock
      plain();

#ifdef TESSELLA_HAVE_AVX2
      AddBlock
      avx2();
#endif

#ifdef TESSELLA_HAVE_AVX512
      AddBlock
      avx512();
#endif
    } // namespace HostBlockKernels
  }   // namespace internal
} // namespace Tessella

#endif
