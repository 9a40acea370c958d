// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_multigrid_level_smoother_h
#define tessella_source_multigrid_level_smoother_h

#include <tessella/device/device_graph.h>
#include <tessella/lac/lusgs.h>
#include <tessella/multigrid/multigrid.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../lac/block_space.h"
#include "../lac/fill_in.h"
#include "../lac/lanczos.h"

namespace Tessella
{
  namespace internal
  {
    /// Matrix of a level of a multigrid method with its smoother, in the memory
    /// space of the matrix: the part that all such methods have in common.
    template <typename MatrixType>
    class LevelSmoother
    {
    public:
      using Data      = BlockData<MatrixType>;
      using Number    = typename Data::Number;
      using SpaceType = typename Data::SpaceType;
      using Blocks    = typename Data::Blocks;
      template <typename T>
      using Array = typename Data::template Array<T>;

      /// Reads the structure of @p A, which must outlive this object, as must
      /// @p same_blocks: data of a matrix with the same blocks of other sizes.
      void
      reinit(const MatrixType &A, const Data *same_blocks = nullptr)
      {
        matrix = &A;
        blocks.reinit(A, same_blocks);
      }

      /**
       * Sets up the smoother from the values of the matrix. Errors are those of
       * BlockData, LUSGS and BlockILU0. @p symmetric: whether the matrix is
       * symmetric and positive definite, which is tested by an estimate of the
       * largest eigenvalue; @p singular: apart from a null space.
       * @p fill_level: see Multigrid::AdditionalData; zero if @p type is not
       * MultigridSmoother::ilu. Collective.
       */
      void
      prepare(const MultigridSmoother type,
              const bool              symmetric,
              const bool              singular,
              const unsigned int      fill_level = 0)
      {
        this->type          = type;
        stored              = nullptr;
        const std::size_t n = matrix->n_owned_rows();
        ++n_prepared;
        Tessella::on_all_processes(matrix->communicator(), [&] {
          if (r.size() != n)
            r.resize(n);
          if (type != MultigridSmoother::gauss_seidel && d.size() != n)
            d.resize(n);
          if (type == MultigridSmoother::chebyshev)
            allocate_second();
        });
        // Sweeps have inverses of their own.
        if (symmetric || (type != MultigridSmoother::ilu &&
                          type != MultigridSmoother::lusgs))
          blocks.invert_diagonal();
        if (symmetric || type == MultigridSmoother::chebyshev)
          largest = blocks.largest_eigenvalue(symmetric, singular);
        if (type == MultigridSmoother::gauss_seidel)
          blocks.make_colors();
        SweepData data;
        // Each hyperplane would be a kernel on a device.
        if (!symmetric &&
            std::is_same<MatrixType, HostBlockMatrix<Number>>::value)
          data.ordering = SweepOrdering::downwind;
        sweeps     = nullptr;
        damping    = Number(1);
        relaxation = 1.;
        if (type == MultigridSmoother::ilu)
          {
            sweeps   = &ilu;
            has_fill = fill_level > 0;
            if (has_fill)
              fill(data, fill_level);
            if (symmetric)
              relax_factors(data, singular);
            else
              factorise(data);
          }
        if (type == MultigridSmoother::lusgs)
          {
            lusgs.initialize(*matrix, data);
            sweeps = &lusgs;
          }
        if (sweeps != nullptr)
          blocks.inverse.resize(0);
      }

      // ---- for SmootherSetUp, which does the work of prepare() for
      // Chebyshev's polynomial on a device

      /// Makes room for the smoother by Chebyshev's polynomial.
      void
      start_chebyshev()
      {
        type       = MultigridSmoother::chebyshev;
        sweeps     = nullptr;
        damping    = Number(1);
        relaxation = 1.;
        r.resize(matrix->n_owned_rows());
        d.resize(matrix->n_owned_rows());
        allocate_second();
        blocks.allocate_inverse();
      }

      /// Sets the estimate of the largest eigenvalue, and the address in the
      /// memory of the matrix from which smooth() reads it.
      void
      set_largest(const double estimate, const double *address)
      {
        largest = estimate;
        stored  = address;
      }

      /// Work vectors of cycles.
      Number *
      residual() const
      {
        return r.data();
      }
      Number *
      update() const
      {
        return d.data();
      }

      /// Adds the addresses of matrix and arrays to the key of a CUDA graph.
      void
      add_arrays_to_key(DeviceGraph::Key &key) const
      {
        const Number *const arrays[] = {matrix->values(),
                                        blocks.inverse.data(),
                                        r.data(),
                                        d.data(),
                                        second_d.data()};
        for (const Number *array : arrays)
          key.push_back(DeviceGraph::address(array));
        key.push_back(matrix->revision());
        key.push_back(matrix->has_external_product());
      }

      /// Adds all addresses and numbers on which cycles depend.
      void
      add_to_key(DeviceGraph::Key &key) const
      {
        add_arrays_to_key(key);
        key.push_back(DeviceGraph::address(stored));
        // Numbers and lists of other set-ups are arguments of the kernels.
        key.push_back(stored == nullptr ? n_prepared : 0);
      }

      /// Improves the approximation @p x of the solution of A x = b by
      /// @p n_steps steps before or after a correction from a coarser space;
      /// @p x is taken as zero and not read if @p zero_start.
      void
      smooth(const unsigned int n_steps,
             Number            *x,
             const Number      *b,
             const bool         zero_start,
             const bool         before,
             const bool         transpose)
      {
        if (type == MultigridSmoother::chebyshev)
          {
            blocks.chebyshev(n_steps,
                             largest,
                             zero_start,
                             transpose,
                             b,
                             x,
                             r.data(),
                             d.data(),
                             stored,
                             second_d.data());
            return;
          }
        const std::size_t n = blocks.rows.n_dofs;
        if (type == MultigridSmoother::gauss_seidel)
          {
            if (zero_start)
              SpaceType::call([&] { Blocks::set_zero(n, x); });
            for (unsigned int s = 0; s < n_steps; ++s)
              blocks.relax(before, b, x);
            return;
          }
        for (unsigned int s = 0; s < n_steps; ++s)
          {
            if (s == 0 && zero_start)
              {
                sweeps->vmult_owned(x, b, transpose);
                if (damping != Number(1))
                  SpaceType::call(
                    [&] { Blocks::scale_add(n, damping, nullptr, x); });
                continue;
              }
            matrix->subtract_product_owned(r.data(), x, b, transpose);
            sweeps->vmult_owned(d.data(), r.data(), transpose);
            SpaceType::call([&] { Blocks::add(n, damping, d.data(), x); });
          }
      }

      /// One cycle for A x = b: smoothing, correction from coarser spaces,
      /// smoothing. correct(residual) adds the correction to @p x.
      template <typename Correct>
      void
      cycle(const unsigned int n_steps,
            Number            *x,
            const Number      *b,
            const bool         zero_start,
            const bool         transpose,
            const Correct     &correct)
      {
        smooth(n_steps, x, b, zero_start, true, transpose);
        matrix->subtract_product_owned(r.data(), x, b, transpose);
        correct(r.data());
        smooth(n_steps, x, b, false, false, transpose);
      }

      std::size_t
      memory_consumption() const
      {
        return blocks.memory_consumption() + ilu.memory_consumption() +
               lusgs.memory_consumption() + r.memory_consumption() +
               d.memory_consumption() + second_d.memory_consumption() +
               (filled.empty() ? 0 : filled.memory_consumption());
      }

      const MatrixType *matrix = nullptr;
      Data              blocks;
      /// Estimate of the largest eigenvalue of D^{-1} A, or 0.
      double largest = 0.;
      /// SweepData::relaxation of the incomplete factorisation.
      double relaxation = 1.;

    private:
      /// Makes room for the second direction of BlockData::chebyshev(), which
      /// a device needs.
      void
      allocate_second()
      {
        if constexpr (std::is_same<MatrixType,
                                   DeviceBlockMatrix<Number>>::value)
          second_d.resize(matrix->n_owned_rows());
      }

      /**
       * Makes an incomplete factorisation M of a symmetric matrix that is
       * positive definite and whose steps x += M^{-1} (b - A x) do not amplify,
       * which those for eigenvalues of M^{-1} A above 2 do. Without relaxation
       * the estimate of the largest eigenvalue may be 1.9: factors that are
       * exact along lines of cells come near to 2, and are better than relaxed
       * ones. Otherwise the largest of some relaxations is taken with which it
       * is at most 1.7. With the last one the factorisation is that of LUSGS,
       * whose eigenvalues are at most 1; if those of several processes, which
       * lack the blocks between the processes, are larger than 1.7 even so,
       * steps are damped. Factors with fill-in need little relaxation, and each
       * hundredth makes them worse for couplings that are strong in one
       * direction: steps with eigenvalues up to 3 are damped instead.
       */
      void
      relax_factors(SweepData data, const bool singular)
      {
        const unsigned int  n_steps = 15;
        std::vector<double> factors = {1., 0.9, 0.7, 0.5, 0.};
        if (has_fill)
          factors.insert(factors.begin() + 1, {0.995, 0.98, 0.95});
        for (const double factor : factors)
          {
            const double bound      = factor == 1. ? 1.9 : 1.7;
            double       eigenvalue = 0.;
            data.relaxation = relaxation = factor;
            try
              {
                factorise(data);
                eigenvalue = lanczos_eigenvalue(
                  *matrix, n_steps, singular, [&](const Number *r, Number *z) {
                    ilu.vmult_owned(z, r);
                  });
              }
            catch (const dealii::ExceptionBase &)
              {
                // A pivot block may have become singular. Other errors come
                // again with the last factor.
                if (factor == 0.)
                  throw;
              }
            if (eigenvalue > 0. && eigenvalue <= bound)
              return;
            if ((factor == 0. && eigenvalue > bound) ||
                (has_fill && eigenvalue > bound && eigenvalue <= 3.))
              {
                damping = Number(1.7 / eigenvalue);
                return;
              }
          }
      }

      /// Makes incomplete factors of the matrix, or of the one with fill-in,
      /// which is local to a process. Errors are those of all processes.
      void
      factorise(const SweepData &data)
      {
        if (has_fill)
          Tessella::on_all_processes(matrix->communicator(),
                                     [&] { ilu.initialize(filled, data); });
        else
          ilu.initialize(*matrix, data);
      }

      /**
       * Copies the blocks of this process into the pattern of ILU(@p level),
       * with zeros in the blocks that fill in, and sets the numbering by
       * discarded_fill_numbering(). Numbering and pattern are made in the first
       * call and kept, since new values of a matrix have much the same
       * couplings.
       */
      void
      fill(SweepData &data, const unsigned int level)
      {
        if constexpr (std::is_same<MatrixType, HostBlockMatrix<Number>>::value)
          Tessella::on_all_processes(matrix->communicator(), [&] {
            const BlockSparsity       &sparsity = matrix->block_sparsity();
            const unsigned int         n        = sparsity.row_width.size();
            std::vector<std::uint64_t> offset   = matrix->dof_offset();
            if (numbering.size() != n || filled.empty())
              {
                numbering = discarded_fill_numbering(
                  sparsity, coupling_norms(sparsity, offset, matrix->values()));
                BlockSparsity pattern =
                  fill_in(sparsity, offset, numbering, level);
                offset.resize(n + 1);
                filled.reinit(std::move(pattern), offset);
              }
            copy_blocks(*matrix, filled);
          });
        else
          AssertThrow(false,
                      dealii::ExcMessage(
                        "Incomplete factorisations with fill-in as smoothers "
                        "of multigrid are for matrices on the host: set "
                        "fill_level to zero."));
        data.ordering  = SweepOrdering::hyperplanes;
        data.numbering = numbering;
      }

      /// Copies the blocks that @p to has as well; others of it become zero.
      static void
      copy_blocks(const MatrixType &from, MatrixType &to)
      {
        const BlockSparsity &source = from.block_sparsity(),
                            &target = to.block_sparsity();
        const auto &offset          = from.dof_offset();
        to                          = 0.;
        for_blocks(target.row_width.size(), [&](const unsigned int k) {
          const std::size_t n = offset[k + 1] - offset[k];
          for (std::uint64_t b = source.block_offset[k];
               b < source.block_offset[k + 1];
               ++b)
            {
              const unsigned int  l = source.block_column[b];
              const std::uint64_t c = target.find_block(k, l);
              if (c == BlockSparsity::no_block)
                continue;
              for (std::size_t i = 0; i < n; ++i)
                std::copy_n(from.values() + source.value_offset[k] +
                              i * source.row_width[k] + source.column_offset[b],
                            offset[l + 1] - offset[l],
                            to.values() + target.value_offset[k] +
                              i * target.row_width[k] +
                              target.column_offset[c]);
            }
        });
      }

      MultigridSmoother     type = MultigridSmoother::chebyshev;
      BlockILU0<MatrixType> ilu;
      LUSGS<MatrixType>     lusgs;
      /// One of both, or null.
      SweepPreconditioner<MatrixType> *sweeps = nullptr;
      /// Copy of the matrix with blocks that fill in, and its numbering; empty
      /// without fill-in.
      /// Whether factors are those of the matrix with fill-in, which is empty
      /// on processes without polytopes.
      bool                      has_fill = false;
      MatrixType                filled;
      std::vector<unsigned int> numbering;
      /// Place of the largest eigenvalue in the memory of the matrix, null if
      /// cycles take the number itself.
      const double *stored = nullptr;
      /// Number of calls of prepare().
      std::uint64_t n_prepared = 0;
      /// Factor of the updates of sweeps.
      Number damping = 1;
      /// Residual, and update of the smoother; on a device the update
      /// alternates between two arrays.
      Array<Number> r, d, second_d;
    };
  } // namespace internal
} // namespace Tessella

#endif
