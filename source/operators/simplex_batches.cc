// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "simplex_batches.h"

#include <tessella/portable/legendre.h>

#include <algorithm>

#include "../../cuda/operators/simplex_data.h"

namespace Tessella
{
  namespace internal
  {
    const HostSimplexKernels::Kernels &
    select_simplex_kernels(const InstructionSet instruction_set)
    {
      switch (instruction_set == InstructionSet::automatic
                ? best_instruction_set()
                : instruction_set)
        {
#ifdef TESSELLA_HAVE_AVX512
          case InstructionSet::avx512:
            return HostSimplexKernels::avx512();
#endif
#ifdef TESSELLA_HAVE_AVX2
          case InstructionSet::avx2:
            return HostSimplexKernels::avx2();
#endif
          default:
            return HostSimplexKernels::plain();
        }
    }



    SimplexMatrix::SimplexMatrix(
      const unsigned int                                       n_rows,
      const unsigned int                                       n_columns,
      const std::function<double(unsigned int, unsigned int)> &entry)
      : n_rows(n_rows)
      , n_columns(n_columns)
    {
      for (unsigned int i = 0, height = 8; i < n_rows; i += height)
        {
          while (height > n_rows - i)
            height /= 2;
          for (unsigned int j = 0; j < n_columns; ++j)
            for (unsigned int r = 0; r < height; ++r)
              values.push_back(entry(i + r, j));
        }
    }



    std::vector<unsigned int>
    order_of_functions(const unsigned int dim, const unsigned int p)
    {
      const unsigned int         n = Legendre::n_functions(dim, p, false);
      std::vector<unsigned char> exponents(n * dim);
      Legendre::exponents(dim, p, false, exponents.data());
      std::vector<unsigned int> place(n);
      unsigned int              position = 0;
      for (unsigned int a = 0; a <= p; ++a)
        for (unsigned int b = 0; b <= p - a; ++b)
          for (unsigned int c = 0; c <= (dim == 3 ? p - a - b : 0); ++c)
            {
              unsigned int m = 0;
              while (exponents[m * dim] != a || exponents[m * dim + 1] != b ||
                     (dim == 3 && exponents[m * dim + 2] != c))
                ++m;
              place[m] = position++;
            }
      return place;
    }



    std::vector<double>
    batches_of_corners(const std::vector<double> &corners,
                       const unsigned int         dim,
                       const std::size_t          n,
                       const unsigned int         lanes)
    {
      const unsigned int  n_values = SimplexData::n_corner_values(dim);
      const std::size_t   n_all    = (n + lanes - 1) / lanes * lanes;
      std::vector<double> result(n_all * n_values);
      for (std::size_t i = 0; i < n_all; ++i)
        for (unsigned int v = 0; v < n_values; ++v)
          result[(i / lanes * n_values + v) * lanes + i % lanes] =
            corners[v * n + std::min(i, n - 1)];
      return result;
    }
  } // namespace internal
} // namespace Tessella
