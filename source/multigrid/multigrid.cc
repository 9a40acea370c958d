// SPDX-License-Identifier: LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <deal.II/lac/lapack_full_matrix.h>

#include <tessella/multigrid/multigrid.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "../lac/block_space.h"
#include "galerkin_structure.h"

namespace Tessella
{
  using namespace dealii;

  template <typename MatrixType>
  struct Multigrid<MatrixType>::Implementation
  {
    using Data      = internal::BlockData<MatrixType>;
    using SpaceType = typename Data::SpaceType;
    using Blocks    = typename Data::Blocks;
    using Number    = value_type;
    template <typename T>
    using Array = typename Data::template Array<T>;

    struct Level
    {
      const MatrixType *matrix = nullptr;
      MatrixType        own;
      Data              blocks;
      double            largest  = 0.;
      bool              prepared = false;
      vector_type       x, b, r, d;

      // ---- to the next coarser level
      internal::BlockTransfer<Number> transfer;
      Array<std::uint64_t>            matrix_offset;
      Array<unsigned int>             parent, child_offset, child;
      Array<Number>                   matrix_values;
      /// Unknowns of the coarse level.
      Array<std::uint64_t> coarse_offset, fine_offset;
    };

    AdditionalData                      data;
    std::vector<std::unique_ptr<Level>> levels;
    Array<Number>                       inverse; ///< of the coarsest matrix
    MultigridReport                     report;
    /// For vectors of the other precision.
    vector_type dst, src;

    // ---- set-up

    // Transfer from level l.
    void
    make_transfer(const MultigridHierarchy &hierarchy, const unsigned int l)
    {
      const MultigridHierarchy::Level &fine   = hierarchy.level(l),
                                      &coarse = hierarchy.level(l + 1);
      Level &level                            = *levels[l];
      level.fine_offset.assign(fine.dof_offset);
      level.coarse_offset.assign(coarse.dof_offset);
      auto &transfer         = level.transfer;
      transfer               = internal::BlockTransfer<Number>();
      transfer.n_fine        = fine.n_polytopes();
      transfer.n_coarse      = coarse.n_polytopes();
      transfer.fine_offset   = level.fine_offset.data();
      transfer.coarse_offset = level.coarse_offset.data();
      transfer.parent = transfer.child_offset = transfer.child = nullptr;
      transfer.matrix_offset                                   = nullptr;
      transfer.matrix                                          = nullptr;
      for (unsigned int k = 0; k < fine.n_polytopes(); ++k)
        transfer.max_fine =
          std::max<unsigned int>(transfer.max_fine,
                                 fine.dof_offset[k + 1] - fine.dof_offset[k]);
      for (unsigned int k = 0; k < coarse.n_polytopes(); ++k)
        transfer.max_coarse = std::max<unsigned int>(transfer.max_coarse,
                                                     coarse.dof_offset[k + 1] -
                                                       coarse.dof_offset[k]);
      if (fine.parent.empty())
        return;
      std::vector<unsigned int> offset, list;
      internal::list_children(fine.parent, coarse.n_polytopes(), offset, list);
      std::vector<std::uint64_t> places;
      const std::vector<double>  injection = hierarchy.injection(l, places);
      level.parent.assign(fine.parent);
      level.child_offset.assign(offset);
      level.child.assign(list);
      level.matrix_offset.assign(places);
      level.matrix_values.assign(
        std::vector<Number>(injection.begin(), injection.end()));
      transfer.parent        = level.parent.data();
      transfer.child_offset  = level.child_offset.data();
      transfer.child         = level.child.data();
      transfer.matrix_offset = level.matrix_offset.data();
      transfer.matrix        = level.matrix_values.data();
    }

    // The matrices of all coarse levels.
    void
    make_matrices(const MultigridHierarchy &hierarchy,
                  const MatrixType         *without_penalty)
    {
      // Of the finer level: with the penalty of the mesh, and without.
      const MatrixType *full = levels[0]->matrix, *none = without_penalty;
      MatrixType        present_full, present_none;
      for (unsigned int l = 0; l + 1 < levels.size(); ++l)
        {
          const MultigridHierarchy::Level &fine   = hierarchy.level(l),
                                          &coarse = hierarchy.level(l + 1);
          const internal::GalerkinStructure structure(full->block_sparsity(),
                                                      fine.parent,
                                                      coarse.n_polytopes(),
                                                      coarse.dof_offset);
          Array<std::uint64_t>              offset;
          Array<unsigned int>               row, block, coarse_row;
          internal::GalerkinPlan            plan;
          offset.assign(structure.offset);
          row.assign(structure.row);
          block.assign(structure.block);
          coarse_row.assign(structure.coarse_row);
          plan.n_blocks   = structure.coarse_row.size();
          plan.offset     = offset.data();
          plan.row        = row.data();
          plan.block      = block.data();
          plan.coarse_row = coarse_row.data();

          Level &level = *levels[l + 1];
          level.own.reinit(structure.sparsity, coarse.dof_offset);
          level.matrix = &level.own;
          level.blocks.reinit(level.own);
          const auto galerkin = [&](const MatrixType &from, MatrixType &to) {
            SpaceType::call([&] {
              Blocks::galerkin(levels[l]->blocks.rows,
                               level.blocks.rows,
                               levels[l]->transfer,
                               plan,
                               from.values(),
                               to.values());
            });
          };
          if (without_penalty == nullptr)
            {
              galerkin(*full, level.own);
              full = &level.own;
              continue;
            }
          MatrixType next_full, next_none;
          next_full.reinit(structure.sparsity, coarse.dof_offset);
          next_none.reinit(structure.sparsity, coarse.dof_offset);
          galerkin(*full, next_full);
          galerkin(*none, next_none);
          double ratio = coarse.penalty_ratio;
          for (unsigned int attempt = 0;; ++attempt)
            {
              SpaceType::call([&] {
                const std::size_t n = level.own.n_nonzero_elements();
                Blocks::set_zero(n, level.own.values());
                Blocks::add(n, ratio, next_full.values(), level.own.values());
                Blocks::add(n,
                            1. - ratio,
                            next_none.values(),
                            level.own.values());
              });
              try
                {
                  prepare_level(l + 1);
                  break;
                }
              catch (const ExceptionBase &)
                {
                  if (!data.symmetric || ratio == 1.)
                    throw;
                }
              ratio = attempt < 3 ? std::sqrt(ratio) : 1.;
            }
          report.levels[l + 1].penalty_ratio = ratio;
          present_full                       = std::move(next_full);
          present_none                       = std::move(next_none);
          full                               = &present_full;
          none                               = &present_none;
        }
    }

    // Vectors and what solves or smooths, unless it is there.
    void
    prepare_level(const unsigned int l)
    {
      Level &level = *levels[l];
      if (level.prepared)
        return;
      auto             &info = report.levels[l];
      const std::size_t n    = level.matrix->m();
      if (l > 0)
        {
          level.x.reinit(n);
          level.b.reinit(n);
        }
      try
        {
          if (l + 1 == levels.size())
            invert_coarsest();
          else
            {
              level.r.reinit(n);
              level.blocks.invert_diagonal();
              if (data.smoother == Smoother::chebyshev)
                {
                  level.d.reinit(n);
                  info.largest_eigenvalue = level.largest =
                    level.blocks.largest_eigenvalue(data.symmetric);
                }
              else
                {
                  level.blocks.make_colors();
                  info.n_colors = level.blocks.color_offset.size() - 1;
                  // (to find an indefinite matrix)
                  if (data.symmetric)
                    level.blocks.largest_eigenvalue(true);
                }
            }
        }
      catch (const ExceptionBase &)
        {
          // the sentence alone would point at the mesh
          if (l > 0 && l + 1 < levels.size())
            rethrow(l);
          throw;
        }
      level.prepared = true;
    }

    void
    prepare_levels(const MultigridHierarchy &hierarchy)
    {
      const unsigned int n_levels = levels.size();
      double             entries  = 0.;
      for (unsigned int l = 0; l < n_levels; ++l)
        {
          const Level &level = *levels[l];
          auto        &info  = report.levels[l];
          info.n_polytopes   = hierarchy.level(l).n_polytopes();
          info.max_degree = *std::max_element(hierarchy.level(l).degree.begin(),
                                              hierarchy.level(l).degree.end());
          info.n_dofs     = level.matrix->m();
          info.n_nonzero_elements = level.matrix->n_nonzero_elements();
          entries += info.n_nonzero_elements;
          prepare_level(l);
        }
      report.operator_complexity =
        entries / std::max(1., double(report.levels[0].n_nonzero_elements));
      for (unsigned int l = 0; l < n_levels; ++l)
        {
          const Level &level = *levels[l];
          report.memory +=
            level.blocks.memory_consumption() + level.x.memory_consumption() +
            level.b.memory_consumption() + level.r.memory_consumption() +
            level.d.memory_consumption() +
            level.matrix_values.memory_consumption() +
            (l > 0 ? level.matrix->memory_consumption() : 0);
        }
      report.memory += inverse.memory_consumption();
    }

    [[noreturn]] static void
    rethrow(const unsigned int l)
    {
      std::string text;
      try
        {
          throw;
        }
      catch (const ExceptionBase &exception)
        {
          std::ostringstream stream;
          exception.print_info(stream);
          text = stream.str();
        }
      text.erase(0, text.find_first_not_of(" \n"));
      text.erase(text.find_last_not_of(" \n") + 1);
      AssertThrow(false,
                  ExcMessage("On level " + std::to_string(l) +
                             " of the multigrid hierarchy: " + text));
      throw; // not reached
    }

    void
    invert_coarsest()
    {
      const MatrixType   &matrix = *levels.back()->matrix;
      const std::uint64_t n      = matrix.m();
      AssertThrow(n <= data.max_coarse_dofs,
                  ExcMessage("The coarsest level of multigrid has " +
                             std::to_string(n) + " unknowns, more than the " +
                             std::to_string(data.max_coarse_dofs) +
                             " allowed for its dense inverse: give more "
                             "levels, or a larger max_coarse_dofs."));
      std::vector<Number> values(matrix.n_nonzero_elements());
      SpaceType::call([&] {
        Blocks::download(values.size(), matrix.values(), values.data());
      });
      const BlockSparsity     &sparsity = matrix.block_sparsity();
      const auto              &offset   = matrix.dof_offset();
      LAPACKFullMatrix<double> dense(n, n);
      dense = 0.;
      for (unsigned int k = 0; k < sparsity.row_width.size(); ++k)
        for (std::uint64_t b = sparsity.block_offset[k];
             b < sparsity.block_offset[k + 1];
             ++b)
          {
            const unsigned int l = sparsity.block_column[b];
            const Number *value  = values.data() + sparsity.value_offset[k] +
                                  sparsity.column_offset[b];
            for (std::uint64_t i = offset[k]; i < offset[k + 1];
                 ++i, value += sparsity.row_width[k])
              for (std::uint64_t j = offset[l]; j < offset[l + 1]; ++j)
                dense(i, j) = value[j - offset[l]];
          }
      const auto norm = [n](const LAPACKFullMatrix<double> &A) {
        double largest = 0.;
        for (std::uint64_t j = 0; j < n; ++j)
          {
            double sum = 0.;
            for (std::uint64_t i = 0; i < n; ++i)
              sum += std::abs(A(i, j));
            largest = std::max(largest, sum);
          }
        return largest;
      };
      const double before   = norm(dense);
      bool         singular = !std::isfinite(before);
      try
        {
          if (data.symmetric && !singular)
            {
              // Sum of both halves: rounding made them differ.
              for (std::uint64_t i = 0; i < n; ++i)
                for (std::uint64_t j = 0; j < i; ++j)
                  dense(i, j) = dense(j, i) = 0.5 * (dense(i, j) + dense(j, i));
              dense.set_property(LAPACKSupport::symmetric);
              dense.compute_cholesky_factorization();
              dense.invert();
              for (std::uint64_t i = 0; i < n; ++i)
                for (std::uint64_t j = 0; j < i; ++j)
                  dense(j, i) = dense(i, j);
            }
          else if (!singular)
            {
              dense.compute_lu_factorization();
              dense.invert();
            }
        }
      catch (const ExceptionBase &)
        {
          singular = true;
        }
      constexpr double epsilon = std::numeric_limits<Number>::epsilon();
      singular = singular || !(norm(dense) * before < 0.1 / epsilon);
      AssertThrow(!singular,
                  ExcMessage(
                    std::string("The matrix of the coarsest level of multigrid "
                                "is singular") +
                    (data.symmetric ? " or not positive definite" : "") +
                    ": check that the problem has a unique solution (a "
                    "Dirichlet, Robin or inflow boundary, or a reaction term)"
                    " and that the penalty constant is large enough."));
      std::vector<Number> rows(n * n);
      for (std::uint64_t i = 0; i < n; ++i)
        for (std::uint64_t j = 0; j < n; ++j)
          rows[i * n + j] = dense(i, j);
      inverse.assign(rows);
    }

    // ---- cycles

    void
    smooth(const unsigned int l,
           vector_type       &x,
           const vector_type &b,
           const bool         zero_start,
           const bool         before,
           const bool         transpose)
    {
      Level &level = *levels[l];
      if (data.smoother == Smoother::gauss_seidel)
        {
          if (zero_start)
            x = Number(0);
          const unsigned int n_colors = level.blocks.color_offset.size() - 1;
          for (unsigned int s = 0; s < data.n_smoothing_steps; ++s)
            for (unsigned int i = 0; i < n_colors; ++i)
              {
                const unsigned int c     = before ? i : n_colors - 1 - i;
                const unsigned int first = level.blocks.color_offset[c];
                SpaceType::call([&] {
                  Blocks::relax(level.blocks.rows,
                                level.matrix->values(),
                                level.blocks.inverse.data(),
                                level.blocks.color_list.data() + first,
                                level.blocks.color_offset[c + 1] - first,
                                b.begin(),
                                x.begin());
                });
              }
          return;
        }
      for (unsigned int i = 1; i <= data.n_smoothing_steps; ++i)
        {
          const bool set = zero_start && i == 1;
          if (!set)
            level.matrix->subtract_product(level.r, x, b, transpose);
          const Number alpha = i == 1 ? 0. : (2. * i - 3.) / (2. * i + 1.),
                       beta  = (8. * i - 4.) / (2. * i + 1.) / level.largest;
          SpaceType::call([&] {
            Blocks::polynomial_step(level.blocks.rows,
                                    level.blocks.inverse.data(),
                                    transpose,
                                    alpha,
                                    beta,
                                    set ? b.begin() : level.r.begin(),
                                    level.d.begin(),
                                    x.begin(),
                                    set);
          });
        }
    }

    // Improves x, which is taken as zero if @p zero_start.
    void
    cycle(const unsigned int l,
          vector_type       &x,
          const vector_type &b,
          const bool         zero_start,
          const bool         transpose)
    {
      Level &level = *levels[l];
      if (l + 1 == levels.size())
        {
          // exact: what x was does not matter
          apply_inverse(b, x, transpose);
          return;
        }
      smooth(l, x, b, zero_start, true, transpose);
      Level &coarse = *levels[l + 1];
      level.matrix->subtract_product(level.r, x, b, transpose);
      SpaceType::call([&] {
        Blocks::restrict_to(level.transfer, level.r.begin(), coarse.b.begin());
      });
      cycle(l + 1, coarse.x, coarse.b, true, transpose);
      if (data.cycle == Cycle::w && l + 2 < levels.size())
        cycle(l + 1, coarse.x, coarse.b, false, transpose);
      SpaceType::call([&] {
        Blocks::prolongate_add(level.transfer, coarse.x.begin(), x.begin());
      });
      smooth(l, x, b, false, false, transpose);
    }

    void
    apply_inverse(const vector_type &b, vector_type &x, const bool transpose)
    {
      SpaceType::call([&] {
        Blocks::dense_product(
          b.size(), transpose, inverse.data(), b.begin(), x.begin());
      });
    }
  };



  template <typename MatrixType>
  Multigrid<MatrixType>::Multigrid() = default;



  template <typename MatrixType>
  Multigrid<MatrixType>::~Multigrid() = default;



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::clear()
  {
    implementation.reset();
  }



  namespace
  {
    template <typename MatrixType>
    void
    check_matrix(const MatrixType                &matrix,
                 const MultigridHierarchy::Level &level,
                 const unsigned int               l)
    {
      AssertThrow(!matrix.empty() && matrix.dof_offset() == level.dof_offset,
                  ExcMessage("The matrix of level " + std::to_string(l) +
                             " of multigrid has " + std::to_string(matrix.m()) +
                             " rows, which are not the degrees of freedom of "
                             "the hierarchy there (" +
                             std::to_string(level.n_dofs()) +
                             "): make the hierarchy after distribute_dofs(), "
                             "and matrices with the assembler's reinit()."));
    }

    template <typename Implementation, typename MatrixType, typename Data>
    std::unique_ptr<Implementation>
    start(const MatrixType         &matrix,
          const MultigridHierarchy &hierarchy,
          const Data               &data)
    {
      AssertThrow(data.n_smoothing_steps > 0,
                  ExcMessage("Multigrid needs one smoothing step or more."));
      check_matrix(matrix, hierarchy.level(0), 0);
      auto result  = std::make_unique<Implementation>();
      result->data = data;
      for (unsigned int l = 0; l < hierarchy.n_levels(); ++l)
        result->levels.push_back(
          std::make_unique<typename Implementation::Level>());
      result->report.levels.resize(hierarchy.n_levels());
      result->levels[0]->matrix = &matrix;
      result->levels[0]->blocks.reinit(matrix);
      for (unsigned int l = 0; l + 1 < hierarchy.n_levels(); ++l)
        result->make_transfer(hierarchy, l);
      return result;
    }
  } // namespace



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::initialize(const MatrixType         &matrix,
                                    const MultigridHierarchy &hierarchy,
                                    const AdditionalData     &data)
  {
    const Timer timer;
    implementation.reset();
    auto result = start<Implementation>(matrix, hierarchy, data);
    result->make_matrices(hierarchy, nullptr);
    result->prepare_levels(hierarchy);
    result->report.setup_time = timer.wall_time();
    implementation            = std::move(result);
  }



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::initialize(const MatrixType         &matrix,
                                    const MatrixType         &without_penalty,
                                    const MultigridHierarchy &hierarchy,
                                    const AdditionalData     &data)
  {
    const Timer timer;
    implementation.reset();
    check_matrix(without_penalty, hierarchy.level(0), 0);
    auto result = start<Implementation>(matrix, hierarchy, data);
    result->make_matrices(hierarchy, &without_penalty);
    result->prepare_levels(hierarchy);
    result->report.setup_time = timer.wall_time();
    implementation            = std::move(result);
  }



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::initialize(const MatrixType         &matrix,
                                    std::vector<MatrixType> &&coarse_matrices,
                                    const MultigridHierarchy &hierarchy,
                                    const AdditionalData     &data)
  {
    const Timer timer;
    implementation.reset();
    AssertThrow(coarse_matrices.size() + 1 == hierarchy.n_levels(),
                ExcMessage("Multigrid was given " +
                           std::to_string(coarse_matrices.size()) +
                           " coarse matrices, but the hierarchy has " +
                           std::to_string(hierarchy.n_levels() - 1) +
                           " coarse levels."));
    auto result = start<Implementation>(matrix, hierarchy, data);
    for (unsigned int l = 0; l + 1 < hierarchy.n_levels(); ++l)
      {
        check_matrix(coarse_matrices[l], hierarchy.level(l + 1), l + 1);
        auto &level  = *result->levels[l + 1];
        level.own    = std::move(coarse_matrices[l]);
        level.matrix = &level.own;
        level.blocks.reinit(level.own);
      }
    result->prepare_levels(hierarchy);
    result->report.setup_time = timer.wall_time();
    implementation            = std::move(result);
  }



  template <typename MatrixType>
  typename Multigrid<MatrixType>::size_type
  Multigrid<MatrixType>::m() const
  {
    return implementation == nullptr ? 0
                                     : implementation->levels[0]->matrix->m();
  }



  template <typename MatrixType>
  typename Multigrid<MatrixType>::size_type
  Multigrid<MatrixType>::n() const
  {
    return m();
  }



  namespace
  {
    template <typename Implementation, typename Vector>
    void
    check_vectors(const Implementation *implementation,
                  const std::uint64_t   n,
                  const Vector         &dst,
                  const Vector         &src)
    {
      AssertThrow(implementation != nullptr, ExcNotInitialized());
      AssertThrow(src.size() == n, ExcDimensionMismatch(src.size(), n));
      AssertThrow(dst.size() == n, ExcDimensionMismatch(dst.size(), n));
      AssertThrow(&dst != &src,
                  ExcMessage("Source and destination of a preconditioner must "
                             "be different vectors."));
    }
  } // namespace



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::vmult(vector_type &dst, const vector_type &src) const
  {
    check_vectors(implementation.get(), m(), dst, src);
    implementation->cycle(0, dst, src, true, false);
  }



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::Tvmult(vector_type &dst, const vector_type &src) const
  {
    check_vectors(implementation.get(), m(), dst, src);
    AssertThrow(implementation->data.symmetric ||
                  implementation->data.smoother == Smoother::chebyshev,
                ExcMessage("Multigrid for a matrix that is not symmetric has a "
                           "transpose with the smoother BlockChebyshev only."));
    implementation->cycle(0, dst, src, true, !implementation->data.symmetric);
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  Multigrid<MatrixType>::vmult(VectorType &dst, const VectorType &src) const
  {
    check_vectors(implementation.get(), m(), dst, src);
    implementation->src = src;
    implementation->dst.reinit(implementation->src, true);
    implementation->cycle(
      0, implementation->dst, implementation->src, true, false);
    dst = implementation->dst;
  }



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::step(vector_type &x, const vector_type &b) const
  {
    check_vectors(implementation.get(), m(), x, b);
    implementation->cycle(0, x, b, false, false);
  }



  template <typename MatrixType>
  const MultigridReport &
  Multigrid<MatrixType>::report() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->report;
  }



  template <typename MatrixType, int dim>
  std::vector<MatrixType>
  assemble_coarse_operators(
    const AgglomerationHandler<dim>                        &handler,
    const MultigridHierarchy                               &hierarchy,
    const Form<dim>                                        &form,
    const typename PolytopicAssembler<dim>::AdditionalData &data)
  {
    std::vector<MatrixType> result(hierarchy.n_levels() - 1);
    for (unsigned int l = 1; l < hierarchy.n_levels(); ++l)
      {
        const auto              coarse = hierarchy.coarse_handler(handler, l);
        PolytopicAssembler<dim> assembler(*coarse, data);
        assembler.reinit(result[l - 1]);
        assembler.assemble_matrix(form, result[l - 1]);
      }
    return result;
  }



#define INSTANTIATE(Matrix, Number, OtherVector)                             \
  template class Multigrid<Matrix<Number>>;                                  \
  template void Multigrid<Matrix<Number>>::vmult(OtherVector &,              \
                                                 const OtherVector &) const; \
  template std::vector<Matrix<Number>> assemble_coarse_operators(            \
    const AgglomerationHandler<2> &,                                         \
    const MultigridHierarchy &,                                              \
    const Form<2> &,                                                         \
    const PolytopicAssembler<2>::AdditionalData &);                          \
  template std::vector<Matrix<Number>> assemble_coarse_operators(            \
    const AgglomerationHandler<3> &,                                         \
    const MultigridHierarchy &,                                              \
    const Form<3> &,                                                         \
    const PolytopicAssembler<3>::AdditionalData &);

  INSTANTIATE(HostBlockMatrix, double, Vector<float>)
  INSTANTIATE(HostBlockMatrix, float, Vector<double>)
  INSTANTIATE(DeviceBlockMatrix, double, DeviceVector<float>)
  INSTANTIATE(DeviceBlockMatrix, float, DeviceVector<double>)
#undef INSTANTIATE
} // namespace Tessella
