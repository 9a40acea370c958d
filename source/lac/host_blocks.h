// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_host_blocks_h
#define tessella_source_lac_host_blocks_h

#include <deal.II/base/parallel.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "../../cuda/lac/blocks.h"
#include "../../cuda/lac/reproducible_sum.h"
#include "../base/host_memory.h"

// Operations on block matrices on the host. Every sum is computed by one thread
// in an order that depends on the structure only.

namespace Tessella
{
  namespace internal
  {
    /// Uninitialised array (first touch by the thread that uses it).
    template <typename T>
    class HostArray
    {
    public:
      void
      resize(const std::size_t size)
      {
        array.reset(size > 0 ? new T[size] : nullptr);
        n = size;
        if (size * sizeof(T) > (1u << 22))
          Device::advise_large_pages(array.get(), size * sizeof(T));
      }
      void
      assign(const std::vector<T> &values)
      {
        resize(values.size());
        copy_from(values);
      }
      /// Copies @p values, which must have the size of the array.
      void
      copy_from(const std::vector<T> &values)
      {
        std::copy(values.begin(), values.end(), data());
      }
      T *
      data() const
      {
        return array.get();
      }
      std::size_t
      size() const
      {
        return n;
      }
      std::size_t
      memory_consumption() const
      {
        return n * sizeof(T);
      }

    private:
      std::unique_ptr<T[]> array;
      std::size_t          n = 0;
    };

    /// Calls function(begin, end) for ranges of block rows, on all threads.
    template <typename Function>
    void
    for_block_ranges(const unsigned int n, const Function &function)
    {
      if (n > 0)
        dealii::parallel::apply_to_subranges(
          0u,
          n,
          [&](const unsigned int begin, const unsigned int end) {
            function(begin, end);
          },
          32);
    }

    template <typename Function>
    void
    for_blocks(const unsigned int n, const Function &function)
    {
      for_block_ranges(n,
                       [&](const unsigned int begin, const unsigned int end) {
                         for (unsigned int k = begin; k < end; ++k)
                           function(k);
                       });
    }

    template <typename Function>
    void
    for_entries(const std::size_t n, const Function &function)
    {
      if (n > 0)
        dealii::parallel::apply_to_subranges(
          std::size_t(0),
          n,
          [&](const std::size_t begin, const std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
              function(i);
          },
          8192);
    }

    /// Copies the entries of @p x that belong to the listed block columns to
    /// @p to. Entries of block columns with index @p n_owned and above are in
    /// @p ghosts.
    template <typename Number>
    inline void
    gather(const unsigned int  *columns,
           const std::size_t    n_columns,
           const std::uint64_t *dof_offset,
           const unsigned int   n_owned,
           const Number        *x,
           const Number        *ghosts,
           Number              *to)
    {
      for (std::size_t m = 0; m < n_columns; ++m)
        {
          const std::uint64_t first = dof_offset[columns[m]];
          const std::size_t   n     = dof_offset[columns[m] + 1] - first;
          const Number *const from  = columns[m] < n_owned
                                        ? x + first
                                        : ghosts + (first - dof_offset[n_owned]);
          std::memcpy(to, from, n * sizeof(Number));
          to += n;
        }
    }

    /// y = A x for a row-major array whose rows begin @p stride entries apart.
    /// Each row has eight partial sums in registers.
    template <typename Number>
    inline void
    multiply(const Number      *A,
             const unsigned int n_rows,
             const unsigned int n_columns,
             const std::size_t  stride,
             const Number      *x,
             Number            *y)
    {
      constexpr unsigned int lanes = 32 / sizeof(Number);
      typedef Number         Pack __attribute__((vector_size(32), aligned(4)));
      const auto             sum = [](const Pack &p) {
        Number s = p[0];
        for (unsigned int v = 1; v < lanes; ++v)
          s += p[v];
        return s;
      };
      const unsigned int whole = n_columns / lanes * lanes;
      unsigned int       i     = 0;
      for (; i + 4 <= n_rows; i += 4, A += 4 * stride)
        {
          Pack s0 = {}, s1 = {}, s2 = {}, s3 = {};
          for (unsigned int j = 0; j < whole; j += lanes)
            {
              const Pack z = *reinterpret_cast<const Pack *>(x + j);
              s0 += *reinterpret_cast<const Pack *>(A + j) * z;
              s1 += *reinterpret_cast<const Pack *>(A + stride + j) * z;
              s2 += *reinterpret_cast<const Pack *>(A + 2 * stride + j) * z;
              s3 += *reinterpret_cast<const Pack *>(A + 3 * stride + j) * z;
            }
          y[i]     = sum(s0);
          y[i + 1] = sum(s1);
          y[i + 2] = sum(s2);
          y[i + 3] = sum(s3);
          for (unsigned int j = whole; j < n_columns; ++j)
            {
              y[i] += A[j] * x[j];
              y[i + 1] += A[stride + j] * x[j];
              y[i + 2] += A[2 * stride + j] * x[j];
              y[i + 3] += A[3 * stride + j] * x[j];
            }
        }
      for (; i < n_rows; ++i, A += stride)
        {
          Pack s = {};
          for (unsigned int j = 0; j < whole; j += lanes)
            s += *reinterpret_cast<const Pack *>(A + j) *
                 *reinterpret_cast<const Pack *>(x + j);
          y[i] = sum(s);
          for (unsigned int j = whole; j < n_columns; ++j)
            y[i] += A[j] * x[j];
        }
    }

    /// Host counterpart of Device::Blocks, with operations on vectors.
    template <typename Number>
    struct HostBlocks
    {
      static unsigned int
      invert_diagonal(const BlockRows &rows,
                      const Number    *values,
                      Number          *inverse);
      static unsigned int
      orthonormalise(const BlockRows &rows, const double *values, double *W);
      static void
      change_basis(const BlockRows     &rows,
                   const std::uint64_t *place,
                   const double        *W,
                   const double        *values,
                   Number              *to);
      static void
      change_basis_of_injection(const BlockRows     &rows,
                                const std::uint64_t *place,
                                const double        *W,
                                const unsigned int   n,
                                const std::uint64_t *fine_offset,
                                const std::uint64_t *matrix_offset,
                                Number              *matrix);
      static void
      apply_diagonal(const BlockRows &rows,
                     const Number    *inverse,
                     const bool       transpose,
                     const Number    *x,
                     Number          *y);
      static void
      polynomial_step(const BlockRows &rows,
                      const Number    *inverse,
                      const bool       transpose,
                      const Number     alpha,
                      const Number     beta,
                      const Number     weight,
                      const Number    *r,
                      Number          *d,
                      Number          *x,
                      const bool       set);
      static void
      relax(const BlockRows    &rows,
            const Number       *values,
            const Number       *inverse,
            const unsigned int *list,
            const unsigned int  n,
            const Number       *b,
            const Number       *ghosts,
            Number             *x);
      static void
      restrict_to(const BlockTransfer<Number> &transfer,
                  const Number                *fine,
                  Number                      *coarse);
      static void
      prolongate_add(const BlockTransfer<Number> &transfer,
                     const Number                *coarse,
                     Number                      *fine);
      static void
      galerkin(const BlockRows             &fine,
               const BlockRows             &coarse,
               const BlockTransfer<Number> &transfer,
               const GalerkinPlan          &plan,
               const Number                *fine_values,
               Number                      *coarse_values);
      static void
      dense_product(const unsigned int n_rows,
                    const unsigned int n_columns,
                    const Number      *A,
                    const Number      *x,
                    Number            *y);
      /// y += factor x.
      static void
      add(const std::size_t n, const Number factor, const Number *x, Number *y);
      /// y = s y + x, or y = s y if @p x is null.
      static void
      scale_add(const std::size_t n,
                const Number      s,
                const Number     *x,
                Number           *y);
      static void
      set_zero(const std::size_t n, Number *y);
      static void
      copy(const std::size_t n, const Number *from, Number *to);
      /// Copies to host memory.
      static void
      download(const std::size_t n, const Number *from, Number *to);
      static ReproducibleSum
      dot(const std::size_t n, const Number *x, const Number *y);
    };
  } // namespace internal
} // namespace Tessella

#endif
