// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// The kernel of host_block_kernels.h for one instruction set. Each
// host_block_kernels_*.cc includes this file once and defines TESSELLA_LANES
// (doubles per vector) and TESSELLA_KERNELS (name of the function that returns
// the kernel).

#include <cstring>

#include "host_block_kernels.h"

namespace Tessella
{
  namespace internal
  {
    namespace HostBlockKernels
    {
      namespace
      {
        constexpr unsigned int lanes = TESSELLA_LANES;

        typedef double Vector __attribute__((vector_size(8 * TESSELLA_LANES)));
        typedef double UnalignedVector
          __attribute__((vector_size(8 * TESSELLA_LANES), aligned(8)));
        // Trial functions of degree 1 in 3-D.
        typedef double Four __attribute__((vector_size(32)));
        typedef double UnalignedFour
          __attribute__((vector_size(32), aligned(8)));

        // Points that are processed together.
        constexpr unsigned int max_points = 32;

        struct Workspace
        {
          // Products of all pairs of functions, point by point.
          alignas(64) double products[max_points * max_products];
          // Points whose weight is not zero.
          unsigned int points[max_points], n_points;
          // Table and destination of pairs of components.
          const double *tables[64];
          double       *to[64];
        };

        // Sets the products of row r of the test and row s of the trial
        // functions with the weights of points from `first` on. With four = 4
        // trial functions, these are one vector.
        template <unsigned int four>
        inline void
        set_products(const Block       &b,
                     const unsigned int first,
                     const unsigned int r,
                     const unsigned int s,
                     const unsigned int pitch,
                     Workspace         &work)
        {
          const double *const test =
            b.test.data + r * b.test.row_stride + first;
          const double *const trial =
            b.trial.data + s * b.trial.row_stride + first;
          for (unsigned int p = 0; p < work.n_points; ++p)
            {
              const unsigned int q      = work.points[p];
              const double       weight = b.w[first + q];
              double *const      to     = work.products + p * pitch;
              if (four == 4)
                {
                  const unsigned int stride = b.trial.function_stride;
                  const Four         psi    = {trial[q],
                                               trial[stride + q],
                                               trial[2 * stride + q],
                                               trial[3 * stride + q]};
                  for (unsigned int i = 0; i < b.test.n; ++i)
                    *reinterpret_cast<UnalignedFour *>(to + 4 * i) =
                      (weight * test[i * b.test.function_stride + q]) * psi;
                }
              else
                for (unsigned int i = 0; i < b.test.n; ++i)
                  for (unsigned int j = 0; j < b.trial.n; ++j)
                    to[i * b.trial.n + j] =
                      weight * test[i * b.test.function_stride + q] *
                      trial[j * b.trial.function_stride + q];
            }
        }

        // Adds the blocks of `size` pairs of components.
        template <unsigned int size, unsigned int nv, unsigned int four>
        inline void
        add_pairs(const Block         &b,
                  const Workspace     &work,
                  const double *const *tables,
                  double *const       *to)
        {
          Vector sums[size][nv];
          for (unsigned int g = 0; g < size; ++g)
            for (unsigned int v = 0; v < nv; ++v)
              sums[g][v] = Vector{};
          for (unsigned int p = 0; p < work.n_points; ++p)
            {
              const unsigned int q = work.points[p];
              Vector             product[nv];
              for (unsigned int v = 0; v < nv; ++v)
                product[v] = *reinterpret_cast<const Vector *>(
                  work.products + (p * nv + v) * lanes);
              for (unsigned int g = 0; g < size; ++g)
                {
                  const double t = tables[g][q];
                  for (unsigned int v = 0; v < nv; ++v)
                    sums[g][v] += t * product[v];
                }
            }
          for (unsigned int g = 0; g < size; ++g)
            {
              alignas(64) double entries[nv * lanes];
              for (unsigned int v = 0; v < nv; ++v)
                *reinterpret_cast<Vector *>(entries + v * lanes) = sums[g][v];
              if (four == 4)
                for (unsigned int i = 0; i < b.test.n; ++i)
                  *reinterpret_cast<UnalignedFour *>(to[g] + i * b.width) +=
                    *reinterpret_cast<const UnalignedFour *>(entries + 4 * i);
              else
                for (unsigned int i = 0; i < b.test.n; ++i)
                  for (unsigned int j = 0; j < b.trial.n; ++j)
                    to[g][i * b.width + j] += entries[i * b.trial.n + j];
            }
        }

        // Whether an array is zero at all points.
        inline bool
        vanishes(const double *t, const unsigned int n)
        {
          auto         zero = Vector{} == Vector{};
          unsigned int q    = 0;
          for (; q + lanes <= n; q += lanes)
            zero &=
              *reinterpret_cast<const UnalignedVector *>(t + q) == Vector{};
          bool result = true;
          for (unsigned int l = 0; l < lanes; ++l)
            result = result && zero[l] != 0;
          for (; q < n; ++q)
            result = result && t[q] == 0.;
          return result;
        }

        template <unsigned int nv, unsigned int four>
        void
        add_points(const Block       &b,
                   const unsigned int first,
                   const unsigned int n,
                   Workspace         &work)
        {
          work.n_points = 0;
          for (unsigned int q = 0; q < n; ++q)
            if (b.w[first + q] != 0.)
              work.points[work.n_points++] = q;
          // Independent sums hide the latency of additions.
          constexpr unsigned int size = nv < 2 ? 8 : nv < 4 ? 4 : 2;
          for (unsigned int r = b.test.begin; r < b.test.end; ++r)
            for (unsigned int s = b.trial.begin; s < b.trial.end; ++s)
              {
                set_products<four>(b, first, r, s, nv * lanes, work);
                unsigned int n_pairs = 0;
                const auto   flush   = [&]() {
                  unsigned int g = 0;
                  for (; g + size <= n_pairs; g += size)
                    add_pairs<size, nv, four>(b,
                                              work,
                                              work.tables + g,
                                              work.to + g);
                  for (; g < n_pairs; ++g)
                    add_pairs<1, nv, four>(b,
                                           work,
                                           work.tables + g,
                                           work.to + g);
                  n_pairs = 0;
                };
                for (unsigned int c = 0; c < b.test.n_components; ++c)
                  for (unsigned int e = 0; e < b.trial.n_components; ++e)
                    {
                      const double *const table =
                        b.table +
                        ((e * b.n_rows + s) * b.n_outputs + c * b.n_rows + r) *
                          b.pitch +
                        first;
                      if (vanishes(table, n))
                        continue;
                      work.tables[n_pairs] = table;
                      work.to[n_pairs++] =
                        b.to + c * b.test.n * b.width + e * b.trial.n;
                      if (n_pairs == 64)
                        flush();
                    }
                flush();
              }
        }

        template <unsigned int nv>
        void
        add(const Block &b)
        {
          Workspace work;
          // Lanes behind the last product are multiplied, too.
          if (b.test.n * b.trial.n < nv * lanes)
            std::memset(work.products, 0, sizeof(work.products));
          for (unsigned int first = 0; first < b.n; first += max_points)
            {
              const unsigned int n =
                b.n - first < max_points ? b.n - first : max_points;
              // A row of four entries has four lanes at least.
              if constexpr (nv * lanes >= 4)
                if (b.trial.n == 4)
                  {
                    add_points<nv, 4>(b, first, n, work);
                    continue;
                  }
              add_points<nv, 0>(b, first, n, work);
            }
        }

        void
        add_block(const Block &b)
        {
          constexpr unsigned int max_vectors = max_products / lanes;
          const unsigned int     n           = b.test.n * b.trial.n;
          if (n <= lanes)
            add<1>(b);
          else if (n <= 2 * lanes)
            add<2>(b);
          else if (n <= 4 * lanes)
            add < max_vectors<4 ? 2 : 4>(b);
          else
            add<max_vectors>(b);
        }
      } // namespace



      AddBlock
      TESSELLA_KERNELS()
      {
        return add_block;
      }
    } // namespace HostBlockKernels
  }   // namespace internal
} // namespace Tessella
