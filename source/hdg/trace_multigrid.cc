// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/hdg/trace_multigrid.h>
#include <tessella/lac/host_vector.h>

#include <algorithm>
#include <vector>

#include "../base/collective.h"
#include "../base/vector_types.h"
#include "../multigrid/level_smoother.h"
#include "trace_injection.h"
#include "weighted_penalty_form.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim, typename MatrixType>
  struct TraceMultigrid<dim, MatrixType>::Implementation
  {
    using Data      = internal::BlockData<MatrixType>;
    using SpaceType = typename Data::SpaceType;
    using Blocks    = typename Data::Blocks;
    template <typename T>
    using Array = typename Data::template Array<T>;

    AdditionalData                      data;
    const MatrixType                   *matrix = nullptr;
    TraceMultigridReport                report;
    internal::LevelSmoother<MatrixType> smoother;
    MatrixType                          coarse_matrix;
    Multigrid<MatrixType>               coarse;
    /// Right-hand side and solution on polytopes.
    vector_type coarse_rhs, coarse_solution;

    // ---- injection; see TraceInjection
    Array<std::uint64_t> fine_offset, coarse_offset, matrix_offset;
    Array<unsigned int>  parent, child_offset, child;
    Array<value_type>    injection;
    /// Restriction of both sides, prolongation of each one.
    internal::BlockTransfer<value_type> restriction, prolongation[2];

    // ---- set-up

    void
    initialize(const AgglomerationHandler<dim>    &handler,
               const HDG<dim>                     &hdg,
               const Form<dim>                    &form,
               const NestedAgglomeration::Parents *parents)
    {
      AgglomerationHandler<dim> coarse_handler(handler.get_triangulation(),
                                               &handler.get_mapping());
      coarse_handler.agglomerate(
        Agglomeration::by_id<dim>(handler.polytope_of_cell()));
      coarse_handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
      AssertThrow(coarse_handler.n_polytopes() == handler.n_polytopes(),
                  ExcInternalError());
      const internal::TraceInjection<dim> P(
        handler, coarse_handler, hdg, form, matrix->dof_offset());
      copy_injection(P);
      set_coarse_operator(coarse_handler, form, P, parents);

      const std::size_t n  = matrix->n_owned_rows();
      report.n_trace_dofs  = n;
      report.n_coarse_dofs = coarse_matrix.m();
      report.coarse_complexity =
        1. * coarse_matrix.n_nonzero_elements() /
        std::max<std::uint64_t>(1, matrix->n_nonzero_elements());
      report.coarse = coarse.report();
      resize(coarse_rhs, coarse_matrix.m());
      resize(coarse_solution, coarse_matrix.m());
      smoother.reinit(*matrix);
      smoother.prepare(data.smoother, data.symmetric, false);
      if (data.smoother == Smoother::chebyshev)
        report.largest_eigenvalue = smoother.largest;
      report.memory = smoother.memory_consumption() +
                      coarse_matrix.memory_consumption() +
                      coarse.report().memory + injection.memory_consumption();
    }

    static void
    resize(vector_type &vector, const std::size_t n)
    {
      vector.reinit(n);
    }

    // Assembles interior penalty with or without its penalty.
    static void
    assemble(const AgglomerationHandler<dim> &handler,
             const Form<dim>                 &form,
             const bool                       with_penalty,
             HostBlockMatrix<double>         &result)
    {
      typename PolytopicAssembler<dim>::AdditionalData parameters;
      parameters.backend = Backend::host;
      if (!with_penalty)
        parameters.penalty.constant = 0.;
      PolytopicAssembler<dim> assembler(handler, parameters);
      assembler.reinit(result);
      assembler.assemble_matrix(form, result);
    }

    // Adds @p factor times the blocks of @p from, whose structure may have
    // fewer blocks.
    static void
    add(const double                   factor,
        const HostBlockMatrix<double> &from,
        HostBlockMatrix<double>       &to)
    {
      const BlockSparsity &source              = from.block_sparsity(),
                          &target              = to.block_sparsity();
      const std::vector<std::uint64_t> &offset = from.dof_offset();
      internal::for_blocks(source.row_width.size(), [&](const unsigned int k) {
        const unsigned int n = offset[k + 1] - offset[k];
        for (std::uint64_t b = source.block_offset[k];
             b < source.block_offset[k + 1];
             ++b)
          {
            const unsigned int  l     = source.block_column[b];
            const std::uint64_t place = target.find_block(k, l);
            for (unsigned int i = 0; i < n; ++i)
              for (unsigned int j = 0; j < offset[l + 1] - offset[l]; ++j)
                to.values()[target.value_offset[k] + i * target.row_width[k] +
                            target.column_offset[place] + j] +=
                  factor * from.values()[source.value_offset[k] +
                                         i * source.row_width[k] +
                                         source.column_offset[b] + j];
          }
      });
    }

    // Moves a matrix to the memory of MatrixType.
    static void
    move(HostBlockMatrix<double> &&from, MatrixType &to)
    {
      if constexpr (std::is_same<MatrixType, HostBlockMatrix<double>>::value)
        to = std::move(from);
      else
        {
          to.reinit(from.block_sparsity(), from.dof_offset());
          to.copy_from(
            std::vector<value_type>(from.values(),
                                    from.values() + from.n_nonzero_elements()));
        }
    }

    void
    set_coarse_operator(const AgglomerationHandler<dim>     &coarse_handler,
                        const Form<dim>                     &form,
                        const internal::TraceInjection<dim> &P,
                        const NestedAgglomeration::Parents  *parents)
    {
      const internal::WeightedPenaltyForm<dim> weighted(form);
      HostBlockMatrix<double>                  full, none;
      assemble(coarse_handler, weighted, true, full);
      assemble(coarse_handler, weighted, false, none);
      const MultigridHierarchy hierarchy(
        coarse_handler,
        parents != nullptr
          ? *parents
          : NestedAgglomeration::coupling(coarse_handler, full));
      if (data.coarse_operator == CoarseOperator::galerkin)
        {
          HostBlockMatrix<double> galerkin, wide;
          std::vector<value_type> values;
          matrix->copy_to(values);
          P.galerkin(matrix->block_sparsity(),
                     values,
                     full.block_sparsity(),
                     galerkin);
          add(data.penalty_share, full, galerkin);
          add(-data.penalty_share, none, galerkin);
          wide.reinit(galerkin.block_sparsity(), galerkin.dof_offset());
          add(1., none, wide);
          full = std::move(galerkin);
          none = std::move(wide);
        }
      MatrixType without_penalty;
      move(std::move(full), coarse_matrix);
      move(std::move(none), without_penalty);
      auto parameters      = data.coarse;
      parameters.symmetric = data.symmetric;
      coarse.initialize(coarse_matrix, without_penalty, hierarchy, parameters);
    }

    // Copies the injection to the memory of the matrix.
    void
    copy_injection(const internal::TraceInjection<dim> &P)
    {
      fine_offset.assign(P.fine_offset);
      coarse_offset.assign(P.coarse_offset);
      matrix_offset.assign(P.matrix_offset);
      parent.assign(P.parent);
      child_offset.assign(P.child_offset);
      child.assign(P.child);
      injection.assign(
        std::vector<value_type>(P.matrix.begin(), P.matrix.end()));
      unsigned int max_fine = 0;
      for (unsigned int b = 0; b < P.n_blocks; ++b)
        max_fine =
          std::max<unsigned int>(max_fine,
                                 P.fine_offset[b + 1] - P.fine_offset[b]);
      restriction.n_fine        = P.parent.size();
      restriction.n_coarse      = P.n_polytopes;
      restriction.fine_offset   = fine_offset.data();
      restriction.coarse_offset = coarse_offset.data();
      restriction.parent        = parent.data();
      restriction.child_offset  = child_offset.data();
      restriction.child         = child.data();
      restriction.matrix_offset = matrix_offset.data();
      restriction.matrix        = injection.data();
      restriction.max_fine      = max_fine;
      restriction.max_coarse    = dim + 1;
      for (unsigned int side = 0; side < 2; ++side)
        {
          const unsigned int first  = side == 0 ? 0 : P.side_1(0);
          prolongation[side]        = restriction;
          prolongation[side].n_fine = P.n_blocks;
          prolongation[side].parent += first;
          prolongation[side].matrix_offset += first;
        }
    }

    // ---- cycles

    void
    cycle(value_type *x, const value_type *b)
    {
      smoother.cycle(data.n_smoothing_steps,
                     x,
                     b,
                     true,
                     false,
                     [&](const value_type *residual) {
                       SpaceType::call([&] {
                         Blocks::restrict_to(restriction,
                                             residual,
                                             internal::entries(coarse_rhs));
                       });
                       coarse.vmult(coarse_solution, coarse_rhs);
                       for (const auto &transfer : prolongation)
                         SpaceType::call([&] {
                           Blocks::prolongate_add(
                             transfer, internal::entries(coarse_solution), x);
                         });
                     });
    }
  };



  template <int dim, typename MatrixType>
  TraceMultigrid<dim, MatrixType>::TraceMultigrid() = default;



  template <int dim, typename MatrixType>
  TraceMultigrid<dim, MatrixType>::~TraceMultigrid() = default;



  template <int dim, typename MatrixType>
  void
  TraceMultigrid<dim, MatrixType>::clear()
  {
    implementation.reset();
  }



  template <int dim, typename MatrixType>
  void
  TraceMultigrid<dim, MatrixType>::initialize(
    const AgglomerationHandler<dim>    &handler,
    const HDG<dim>                     &hdg,
    const Form<dim>                    &form,
    const MatrixType                   &matrix,
    const NestedAgglomeration::Parents &parents,
    const AdditionalData               &data)
  {
    set_up(handler, hdg, form, matrix, &parents, data);
  }



  template <int dim, typename MatrixType>
  void
  TraceMultigrid<dim, MatrixType>::initialize(
    const AgglomerationHandler<dim> &handler,
    const HDG<dim>                  &hdg,
    const Form<dim>                 &form,
    const MatrixType                &matrix,
    const AdditionalData            &data)
  {
    set_up(handler, hdg, form, matrix, nullptr, data);
  }



  template <int dim, typename MatrixType>
  void
  TraceMultigrid<dim, MatrixType>::set_up(
    const AgglomerationHandler<dim>    &handler,
    const HDG<dim>                     &hdg,
    const Form<dim>                    &form,
    const MatrixType                   &matrix,
    const NestedAgglomeration::Parents *parents,
    const AdditionalData               &data)
  {
    const Timer timer;
    clear();
    AssertThrow(internal::n_processes(handler.get_communicator()) == 1,
                ExcMessage("TraceMultigrid works on one process, but the mesh "
                           "is distributed over several: use another "
                           "preconditioner, such as BlockGaussSeidel."));
    AssertThrow(data.n_smoothing_steps > 0,
                ExcMessage("TraceMultigrid needs one smoothing step or more."));
    AssertThrow(matrix.m() == hdg.n_dofs() && !matrix.empty(),
                ExcMessage(
                  "The trace matrix has " + std::to_string(matrix.m()) +
                  " rows, but the HDG object has " +
                  std::to_string(hdg.n_dofs()) +
                  " trace unknowns: TraceMultigrid needs a matrix that "
                  "it has assembled."));
    matrix.check_has_all_blocks("TraceMultigrid");
    auto result    = std::make_unique<Implementation>();
    result->data   = data;
    result->matrix = &matrix;
    result->initialize(handler, hdg, form, parents);
    result->report.setup_time = timer.wall_time();
    implementation            = std::move(result);
  }



  template <int dim, typename MatrixType>
  typename TraceMultigrid<dim, MatrixType>::size_type
  TraceMultigrid<dim, MatrixType>::m() const
  {
    return implementation == nullptr ? 0 : implementation->matrix->m();
  }



  template <int dim, typename MatrixType>
  template <typename VectorType>
  void
  TraceMultigrid<dim, MatrixType>::vmult(VectorType       &dst,
                                         const VectorType &src) const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    internal::check_vectors(dst, src, m(), m());
    implementation->cycle(internal::entries(dst), internal::entries(src));
  }



  template <int dim, typename MatrixType>
  template <typename VectorType>
  void
  TraceMultigrid<dim, MatrixType>::Tvmult(VectorType       &dst,
                                          const VectorType &src) const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    AssertThrow(implementation->data.symmetric,
                ExcMessage("TraceMultigrid has a transpose for symmetric "
                           "matrices only: take a solver that does not need "
                           "it, such as GMRES."));
    vmult(dst, src);
  }



  template <int dim, typename MatrixType>
  const TraceMultigridReport &
  TraceMultigrid<dim, MatrixType>::report() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->report;
  }



#define INSTANTIATE_VECTOR(dim, Matrix, VectorType)                           \
  template void TraceMultigrid<dim, Matrix>::vmult(VectorType &,              \
                                                   const VectorType &) const; \
  template void TraceMultigrid<dim, Matrix>::Tvmult(VectorType &,             \
                                                    const VectorType &) const;

#define INSTANTIATE(dim)                                                   \
  template class TraceMultigrid<dim, HostBlockMatrix<double>>;             \
  template class TraceMultigrid<dim, DeviceBlockMatrix<double>>;           \
  INSTANTIATE_VECTOR(dim, HostBlockMatrix<double>, Vector<double>)         \
  INSTANTIATE_VECTOR(dim, HostBlockMatrix<double>, HostVector<double>)     \
  INSTANTIATE_VECTOR(dim, DeviceBlockMatrix<double>, DeviceVector<double>) \
  TESSELLA_IF_EPETRA(INSTANTIATE_VECTOR(dim,                               \
                                        HostBlockMatrix<double>,           \
                                        TrilinosWrappers::MPI::Vector))

  INSTANTIATE(2)
  INSTANTIATE(3)
#undef INSTANTIATE
#undef INSTANTIATE_VECTOR
} // namespace Tessella
