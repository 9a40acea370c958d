// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_host_inverses_h
#define tessella_source_lac_host_inverses_h

#include <tessella/base/backend.h>

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <vector>

#include "host_blocks.h"
#include "host_inverse_kernels.h"

namespace Tessella
{
  namespace internal
  {
    /// The kernel for this processor.
    inline HostInverseKernels::Invert
    select_inverse_kernel()
    {
      switch (best_instruction_set())
        {
#ifdef TESSELLA_HAVE_AVX512
          case InstructionSet::avx512:
            return HostInverseKernels::avx512();
#endif
#ifdef TESSELLA_HAVE_AVX2
          case InstructionSet::avx2:
            return HostInverseKernels::avx2();
#endif
          default:
            return HostInverseKernels::plain();
        }
    }

    /**
     * Sets @p inverse to the inverses of the diagonal blocks of a matrix with
     * the entries @p values, both in the memory of @p Blocks. Returns the first
     * block row whose diagonal block is singular, or the number of rows. Rows
     * that share their values (BlockRows::shares_values()) are skipped. All
     * matrices are inverted in double precision, since blocks of high degree
     * are singular in single precision although the rounded inverses are
     * accurate.
     */
    template <typename Blocks, typename Number>
    unsigned int
    invert_diagonal(const BlockRows &rows,
                    const Number    *values,
                    Number          *inverse)
    {
      if constexpr (!std::is_same<Blocks, HostBlocks<Number>>::value)
        return Blocks::invert_diagonal(rows, values, inverse);
      else
        {
          const HostInverseKernels::Invert invert = select_inverse_kernel();
          std::atomic<unsigned int>        first(rows.n);
          for_block_ranges(
            rows.n, [&](const unsigned int begin, const unsigned int end) {
              std::vector<unsigned int> swaps;
              std::vector<double>       block;
              for (unsigned int k = begin; k < end; ++k)
                {
                  if (rows.shares_values(k))
                    continue;
                  constexpr unsigned int padding = HostInverseKernels::padding;
                  const unsigned int     n       = rows.size(k);
                  const std::size_t      pitch =
                    (n + padding - 1) / padding * padding;
                  const Number *from =
                    values + rows.value_offset[k] + rows.diagonal[k];
                  swaps.resize(n);
                  block.resize(n * pitch);
                  for (unsigned int i = 0; i < n; ++i)
                    {
                      double *const row = block.data() + i * pitch;
                      std::copy_n(from + std::size_t(i) * rows.row_width[k],
                                  n,
                                  row);
                      std::fill(row + n, row + pitch, 0.);
                    }
                  const bool good =
                    invert(n, pitch, block.data(), swaps.data());
                  for (unsigned int i = 0; i < n; ++i)
                    std::copy_n(block.data() + i * pitch,
                                n,
                                inverse + rows.square_offset[k] +
                                  std::size_t(i) * n);
                  unsigned int present = first;
                  while (!good && k < present &&
                         !first.compare_exchange_weak(present, k))
                    ;
                }
            });
          return first;
        }
    }
  } // namespace internal
} // namespace Tessella

#endif
