// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/hdg/trace_multigrid.h>
#include <tessella/lac/host_vector.h>

#include <algorithm>
#include <vector>

#include "../base/collective.h"
#include "../base/vector_types.h"
#include "../lac/half_matrix.h"
#include "../lac/host_interfaces.h"
#include "../multigrid/smoother_set_up.h"
#include "linear_space.h"
#include "trace_injection.h"
#include "weighted_penalty_form.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim, typename MatrixType>
  struct TraceMultigrid<dim, MatrixType>::Implementation
  {
    using Data         = internal::BlockData<MatrixType>;
    using Number       = value_type;
    using SpaceType    = typename Data::SpaceType;
    using DoubleBlocks = typename SpaceType::DoubleBlocks;
    using Interfaces   = typename internal::InterfaceSpace<
      MatrixType>::template Interfaces<Number>;
    using DoubleInterfaces = typename internal::InterfaceSpace<
      MatrixType>::template Interfaces<double>;
    template <typename T>
    using Array  = typename Data::template Array<T>;
    using Access = internal::MultigridAccess<MatrixType>;
    static constexpr bool is_double =
      std::is_same<MatrixType, TraceMatrix>::value;
    static constexpr bool on_device =
      std::is_same<TraceMatrix, DeviceBlockMatrix<double>>::value;
    static constexpr bool may_be_half = on_device && !is_double;

    Implementation(const AgglomerationHandler<dim> &handler,
                   const HDG<dim>                  &hdg,
                   const TraceMatrix               &matrix,
                   const AdditionalData            &data)
      : data(data)
      , trace(matrix)
      , space(handler)
      , P(handler, hdg, matrix)
      , graph(data.cuda_graphs)
      , trace_revision(matrix.revision())
    {}

    const AdditionalData       data;
    const TraceMatrix         &trace;
    internal::LinearSpace<dim> space;
    TraceMultigridReport       report;
    /// Rounded copy of the trace matrix for multigrid in single precision,
    /// empty if there is one in half precision.
    MatrixType                            rounded;
    std::unique_ptr<internal::HalfMatrix> half;
    internal::LevelSmoother<MatrixType>   smoother;
    internal::SmootherSetUp<MatrixType>   set_up;

    // ---- injection
    internal::TraceInjection<dim> P;
    Array<unsigned int>           polytope, side_offset, side;
    Array<std::uint64_t>          matrix_offset;
    Array<double>                 injection;
    Array<Number>                 rounded_injection;
    /// Whether the arrays have the matrices of equal weights.
    bool                                equal_weights = false;
    internal::InterfaceTransfer<double> double_transfer;
    internal::InterfaceTransfer<Number> transfer;

    // ---- matrices on polytopes
    /// Interior penalty with and without penalty, and P^T T P plus a share of
    /// the penalty with the matrix without penalty in its structure. The latter
    /// are used if the coarse operator is Galerkin's.
    TraceMatrix                      full, none, galerkin, wide_none;
    internal::BlockData<TraceMatrix> trace_rows, narrow_rows, wide_rows;
    /// Assemblers on the host and on the device, made when they are needed.
    std::unique_ptr<PolytopicAssembler<dim>> assemblers[2];
    /// Coarse matrices in the precision of the cycles.
    MatrixType            rounded_coarse, rounded_none;
    Multigrid<MatrixType> coarse;
    /// Right-hand side and solution on polytopes.
    using CoarseVector = typename std::
      conditional<on_device, DeviceVector<Number>, HostVector<Number>>::type;
    CoarseVector coarse_rhs, coarse_solution;

    /// Exchanges of ghosts on traces and polytopes; null on one process.
    std::unique_ptr<typename SpaceType::Halo> trace_halo, polytope_halo;

    /// Source and result of the cycle as a graph or in the other precision.
    Array<Number> src, dst;
    DeviceGraph   graph;

    const std::uint64_t trace_revision;

    // ---- set-up

    // Ends a stage of the set-up.
    void
    end_stage(const char *name, Timer &timer)
    {
      if constexpr (on_device)
        SpaceType::call([] { internal::Device::synchronize(); });
      end_host_stage(name, timer);
    }

    // The same without a wait for the device, which goes on with this stage
    // while the host begins the next one.
    void
    end_host_stage(const char *name, Timer &timer)
    {
      report.stages.emplace_back(name, timer.wall_time());
      timer.restart();
    }

    bool
    is_galerkin() const
    {
      return data.coarse_operator == CoarseOperator::galerkin;
    }

    void
    initialize(const Form<dim>                    &form,
               const NestedAgglomeration::Parents *parents)
    {
      Timer timer;
      if constexpr (is_double)
        smoother.reinit(trace);
      else
        {
          if (is_galerkin() || data.half_precision)
            trace_rows.reinit(trace);
          make_half();
          if (half == nullptr)
            {
              rounded.copy_from(trace);
              smoother.reinit(rounded);
            }
        }
      end_stage("structure of the trace matrix", timer);
      copy_structure();
      make_injection(form);
      end_stage("injection", timer);
      assemble_interior_penalty(form, true);
      end_stage("interior penalty", timer);
      const MultigridHierarchy hierarchy(space,
                                         parents != nullptr ? *parents
                                                            : make_groups());
      end_stage("groups", timer);
      if (is_galerkin())
        {
          make_galerkin_structure();
          end_stage("structure of P^T T P", timer);
          compute_galerkin();
          end_stage("P^T T P", timer);
        }
      initialize_coarse(hierarchy);
      end_stage("coarse multigrid", timer);
      prepare_smoother();
      if (set_up.is_possible(*smoother.matrix, data.smoother))
        {
          Access::set_further(coarse, smoother);
          set_up.release();
        }
      end_stage("smoother", timer);
    }

    void
    update(const Form<dim> &form)
    {
      Timer timer;
      report.stages.clear();
      if (half != nullptr)
        half->set_values();
      else if constexpr (!is_double)
        round(trace, rounded);
      if (!equal_weights ||
          !internal::TraceInjection<dim>::has_equal_weights(form))
        make_injection(form);
      else if (half != nullptr)
        round_injection();
      end_host_stage("injection", timer);
      assemble_interior_penalty(form, false);
      end_host_stage("interior penalty", timer);
      if (is_galerkin())
        {
          compute_galerkin();
          end_host_stage("P^T T P", timer);
        }
      if constexpr (is_double)
        coarse.update(coarse_matrix(), coarse_none());
      else
        {
          round(coarse_matrix(), rounded_coarse);
          round(coarse_none(), rounded_none);
          coarse.update(rounded_coarse, rounded_none);
        }
      end_host_stage("coarse multigrid", timer);
      if (Access::is_further_prepared(coarse))
        make_report();
      else
        prepare_smoother();
      end_host_stage("smoother", timer);
    }

    // Takes the trace matrix in half precision if this is asked for and
    // possible.
    void
    make_half()
    {
      if constexpr (may_be_half)
        {
          if (!data.half_precision ||
              !internal::HalfMatrix::is_possible(trace_rows))
            return;
          half = std::make_unique<internal::HalfMatrix>();
          half->reinit(trace_rows);
          half->set_values();
          smoother.reinit(half->matrix());
          smoother.blocks.external_step =
            [this](const internal::Device::ProductStep<float> &product) {
              SpaceType::call(
                [&] { internal::Device::product_step(half->blocks, product); });
            };
        }
    }

    // Copies the lists of the injection to the memory of the matrix.
    void
    copy_structure()
    {
      Tessella::on_all_processes(trace.communicator(), [&] {
        polytope.assign(P.polytope);
        side_offset.assign(P.side_offset);
        side.assign(P.side);
        matrix_offset.assign(P.matrix_offset);
      });
      resize(coarse_rhs);
      resize(coarse_solution);
      const auto set = [&](auto &to) {
        to.n_blocks      = P.n_blocks;
        to.n_polytopes   = P.n_polytopes;
        to.n_functions   = dim + 1;
        to.max_modes     = P.max_modes;
        to.first_row     = smoother.blocks.rows.dof_offset;
        to.polytope      = polytope.data();
        to.side_offset   = side_offset.data();
        to.side          = side.data();
        to.matrix_offset = matrix_offset.data();
      };
      set(transfer);
      set(double_transfer);
    }

    void
    resize(CoarseVector &vector) const
    {
      if constexpr (on_device)
        vector.reinit(space.n_dofs());
      else if (trace.partition() == nullptr)
        vector.reinit(space.n_dofs());
      else
        vector.reinit(space.locally_owned_dofs(), space.get_communicator());
    }

    void
    make_injection(const Form<dim> &form)
    {
      P.set_matrices(form);
      equal_weights = internal::TraceInjection<dim>::has_equal_weights(form);
      Tessella::on_all_processes(trace.communicator(), [&] {
        injection.assign(P.matrix);
        double_transfer.matrix = injection.data();
        if constexpr (is_double)
          transfer.matrix = injection.data();
        else
          {
            rounded_injection.resize(P.matrix.size());
            round_injection();
            transfer.matrix = rounded_injection.data();
          }
      });
    }

    // Injection of the cycles, in single precision and in the bases of the
    // smoother.
    void
    round_injection()
    {
      if constexpr (may_be_half)
        if (half != nullptr)
          {
            SpaceType::call([&] {
              internal::Device::change_basis_of_interfaces(
                half->blocks, double_transfer, rounded_injection.data());
            });
            return;
          }
      SpaceType::convert(P.matrix.size(),
                         injection.data(),
                         rounded_injection.data());
    }

    // Whether the matrices of a form with weighted averages are those of the
    // form itself, so that a device can assemble them without the host's
    // evaluation.
    static bool
    is_unweighted(const Form<dim> &form)
    {
      const VolumeStructure structure = form.volume_structure();
      return structure.constant && structure.symmetric;
    }

    // Assembles interior penalty with and without its penalty. @p reinit: also
    // the structures.
    void
    assemble_interior_penalty(const Form<dim> &form, const bool reinit)
    {
      const bool        use_device = on_device && is_unweighted(form);
      auto             &assembler  = assemblers[use_device ? 1 : 0];
      PenaltyParameters penalty;
      if (assembler == nullptr)
        {
          typename PolytopicAssembler<dim>::AdditionalData parameters;
          parameters.backend = use_device ? Backend::cuda : Backend::host;
          assembler =
            std::make_unique<PolytopicAssembler<dim>>(space, parameters);
        }
      const auto assemble = [&](const Form<dim> &problem) {
        HostBlockMatrix<double> on_host;
        for (TraceMatrix *matrix : {&full, &none})
          {
            penalty.constant =
              matrix == &full ? PenaltyParameters().constant : 0.;
            assembler->set_penalty(penalty);
            if constexpr (on_device)
              if (!use_device)
                {
                  if (on_host.empty())
                    assembler->reinit(on_host);
                  assembler->assemble_matrix(problem, on_host);
                  if (reinit && matrix == &full)
                    full.reinit(on_host.block_sparsity(), on_host.dof_offset());
                  if (reinit && matrix == &none)
                    none.reinit(full);
                  SpaceType::call([&] {
                    internal::Device::upload(matrix->values(),
                                             on_host.values(),
                                             on_host.n_nonzero_elements());
                  });
                  continue;
                }
            if (reinit && matrix == &full)
              assembler->reinit(full);
            if (reinit && matrix == &none)
              none.reinit(full);
            assembler->assemble_matrix(problem, *matrix);
          }
      };
      if (use_device)
        assemble(form);
      else
        assemble(internal::WeightedPenaltyForm<dim>(form));
      if (reinit)
        narrow_rows.reinit(full);
    }

    NestedAgglomeration::Parents
    make_groups()
    {
      const std::size_t   n = full.block_sparsity().block_column.size();
      Array<double>       entries;
      std::vector<double> on_host(n);
      Tessella::on_all_processes(trace.communicator(), [&] {
        entries.resize(n);
        SpaceType::call([&] {
          DoubleInterfaces::first_entries(narrow_rows.rows,
                                          full.values(),
                                          entries.data());
          DoubleBlocks::download(n, entries.data(), on_host.data());
        });
      });
      return NestedAgglomeration::coupling(
        static_cast<const PolytopicSpace<dim> &>(space),
        full.block_sparsity(),
        on_host,
        data.n_children,
        data.n_coarsest);
    }

    void
    make_galerkin_structure()
    {
      galerkin.reinit(P.galerkin_sparsity(full.block_sparsity()),
                      full.dof_offset());
      wide_none.reinit(galerkin);
      wide_rows.reinit(galerkin);
    }

    // P^T T P + s (A - A_0), and A_0 in the same structure.
    void
    compute_galerkin()
    {
      const internal::BlockRows &narrow = narrow_rows.rows,
                                &wide   = wide_rows.rows;
      const internal::BlockRows *fine   = &trace_rows.rows;
      if constexpr (is_double)
        fine = &smoother.blocks.rows;
      SpaceType::call([&] {
        DoubleInterfaces::galerkin(
          double_transfer, *fine, wide, trace.values(), galerkin.values());
        DoubleInterfaces::add_blocks(
          narrow, wide, data.penalty_share, full.values(), galerkin.values());
        DoubleInterfaces::add_blocks(
          narrow, wide, -data.penalty_share, none.values(), galerkin.values());
        DoubleBlocks::set_zero(wide_none.n_nonzero_elements(),
                               wide_none.values());
        DoubleInterfaces::add_blocks(
          narrow, wide, 1., none.values(), wide_none.values());
      });
    }

    const TraceMatrix &
    coarse_matrix() const
    {
      return is_galerkin() ? galerkin : full;
    }

    const TraceMatrix &
    coarse_none() const
    {
      return is_galerkin() ? wide_none : none;
    }

    static void
    round(const TraceMatrix &from, MatrixType &to)
    {
      SpaceType::convert(from.n_nonzero_elements(), from.values(), to.values());
    }

    void
    initialize_coarse(const MultigridHierarchy &hierarchy)
    {
      auto parameters      = data.coarse;
      parameters.symmetric = data.symmetric;
      // The graph of the whole cycle contains this one.
      parameters.cuda_graphs     = false;
      parameters.keep_structures = true;
      if constexpr (is_double)
        coarse.initialize(coarse_matrix(),
                          coarse_none(),
                          hierarchy,
                          parameters);
      else
        {
          rounded_coarse.copy_from(coarse_matrix());
          rounded_none.copy_from(coarse_none());
          coarse.initialize(rounded_coarse,
                            rounded_none,
                            hierarchy,
                            parameters);
        }
      if (trace.partition() != nullptr)
        {
          trace_halo =
            std::make_unique<typename SpaceType::Halo>(trace.partition());
          polytope_halo =
            std::make_unique<typename SpaceType::Halo>(full.partition());
        }
    }

    void
    prepare_smoother()
    {
      bool is_prepared = false;
      if (set_up.is_possible(*smoother.matrix, data.smoother))
        try
          {
            set_up.start({&smoother}, data.symmetric, false);
            is_prepared = set_up.finish();
          }
        catch (const ExceptionBase &)
          {}
      // A failure comes again, with its cause.
      if (!is_prepared)
        smoother.prepare(data.smoother, data.symmetric, false);
      make_report();
    }

    void
    make_report()
    {
      if (data.smoother == Smoother::chebyshev)
        report.largest_eigenvalue = smoother.largest;
      report.half_precision = half != nullptr;
      report.n_trace_dofs   = trace.m();
      report.n_coarse_dofs  = coarse_matrix().m();
      report.coarse_complexity =
        1. * coarse_matrix().n_nonzero_elements() /
        std::max<std::uint64_t>(1, trace.n_nonzero_elements());
      report.coarse = coarse.report();
      report.memory =
        smoother.memory_consumption() + set_up.memory_consumption() +
        (half == nullptr ? 0 : half->memory_consumption()) +
        rounded.memory_consumption() + full.memory_consumption() +
        none.memory_consumption() + galerkin.memory_consumption() +
        wide_none.memory_consumption() + rounded_coarse.memory_consumption() +
        rounded_none.memory_consumption() + coarse.report().memory +
        injection.memory_consumption() + rounded_injection.memory_consumption();
    }

    // ---- cycles

    void
    cycle(Number *x, const Number *b)
    {
      // A cycle writes vectors only.
      const typename SpaceType::Overlap overlap;
      const auto                        with_ghosts =
        [](auto &halo, const Number *entries, const std::uint64_t n) {
          internal::EntriesWithGhosts<Number> result = {entries, nullptr, n};
          if (halo != nullptr)
            {
              halo->start(entries);
              result.ghosts = halo->finish();
            }
          return result;
        };
      smoother.cycle(
        data.n_smoothing_steps, x, b, true, false, [&](const Number *residual) {
          const auto traces =
            with_ghosts(trace_halo, residual, trace.n_owned_rows());
          SpaceType::call([&] {
            Interfaces::restrict_to(transfer,
                                    traces,
                                    internal::entries(coarse_rhs));
          });
          coarse.vmult(coarse_solution, coarse_rhs);
          const auto polytopes =
            with_ghosts(polytope_halo,
                        internal::entries(
                          static_cast<const CoarseVector &>(coarse_solution)),
                        full.n_owned_rows());
          SpaceType::call(
            [&] { Interfaces::prolongate_add(transfer, polytopes, x); });
        });
    }

    // Addresses and numbers on which the cycle depends.
    DeviceGraph::Key
    key() const
    {
      DeviceGraph::Key result = coarse.graph_key();
      smoother.add_to_key(result);
      result.push_back(DeviceGraph::address(transfer.matrix));
      return result;
    }

    // dst = M src. Graphs and the other precision need vectors of this object.
    template <typename VectorNumber>
    void
    apply(const std::size_t n, VectorNumber *to, const VectorNumber *from)
    {
      constexpr bool same = std::is_same<VectorNumber, Number>::value;
      const bool     by_graph =
        on_device && data.cuda_graphs && trace.partition() == nullptr && n > 0;
      if constexpr (same)
        if (!by_graph)
          {
            cycle(to, from);
            return;
          }
      if (src.size() != n)
        {
          src.resize(n);
          dst.resize(n);
        }
      change_basis<false>(n, from, src.data());
      if (by_graph)
        graph.run(key(), [&] { cycle(dst.data(), src.data()); });
      else
        cycle(dst.data(), src.data());
      change_basis<true>(n, dst.data(), to);
    }

    // Copies a vector to the bases of the smoother, or from them if @p back.
    template <bool back, typename From, typename To>
    void
    change_basis(const std::size_t n, const From *from, To *to) const
    {
      if constexpr (may_be_half &&
                    std::is_same<
                      typename std::conditional<back, To, From>::type,
                      double>::value)
        if (half != nullptr)
          {
            SpaceType::call([&] {
              if constexpr (back)
                internal::Device::from_bases(half->blocks, from, to);
              else
                internal::Device::to_bases(half->blocks, from, to);
            });
            return;
          }
      SpaceType::convert(n, from, to);
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
    const TraceMatrix                  &matrix,
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
    const TraceMatrix               &matrix,
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
    const TraceMatrix                  &matrix,
    const NestedAgglomeration::Parents *parents,
    const AdditionalData               &data)
  {
    const Timer timer;
    clear();
    AssertThrow(internal::n_processes(handler.get_communicator()) == 1 ||
                  data.coarse_operator == CoarseOperator::interior_penalty,
                ExcMessage("TraceMultigrid makes its coarse operator from the "
                           "trace matrix on one process only, but the mesh is "
                           "distributed over several: set "
                           "AdditionalData::coarse_operator to "
                           "CoarseOperator::interior_penalty."));
    AssertThrow((std::is_same<TraceMatrix, HostBlockMatrix<double>>::value) ||
                  internal::n_processes(handler.get_communicator()) == 1,
                ExcMessage("TraceMultigrid works with a matrix on a device on "
                           "one process only: take HostBlockMatrix<double> on "
                           "several."));
    AssertThrow(!data.half_precision ||
                  (Implementation::may_be_half && data.symmetric &&
                   data.smoother == Smoother::chebyshev),
                ExcMessage("TraceMultigrid in half precision is for "
                           "DeviceBlockMatrix<float>, symmetric matrices and "
                           "Chebyshev's polynomial as smoother: set "
                           "AdditionalData::half_precision to false."));
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
    const typename Implementation::SpaceType::Pool pool;
    auto result = std::make_unique<Implementation>(handler, hdg, matrix, data);
    result->report.stages.emplace_back("lists", timer.wall_time());
    result->initialize(form, parents);
    result->report.setup_time = timer.wall_time();
    implementation            = std::move(result);
  }



  template <int dim, typename MatrixType>
  void
  TraceMultigrid<dim, MatrixType>::update(const Form<dim> &form)
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    const Timer timer;
    AssertThrow(implementation->trace.revision() ==
                  implementation->trace_revision,
                ExcMessage("The trace matrix has another structure than that "
                           "given to TraceMultigrid::initialize(): call "
                           "initialize() again."));
    implementation->update(form);
    implementation->report.setup_time = timer.wall_time();
  }



  template <int dim, typename MatrixType>
  typename TraceMultigrid<dim, MatrixType>::size_type
  TraceMultigrid<dim, MatrixType>::m() const
  {
    return implementation == nullptr ? 0 : implementation->trace.m();
  }



  template <int dim, typename MatrixType>
  template <typename VectorType>
  void
  TraceMultigrid<dim, MatrixType>::vmult(VectorType       &dst,
                                         const VectorType &src) const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    const std::uint64_t n = implementation->trace.n_owned_rows();
    internal::check_vectors(dst, src, m(), n);
    implementation->apply(n, internal::entries(dst), internal::entries(src));
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



  template <int dim, typename MatrixType>
  const DeviceGraphReport &
  TraceMultigrid<dim, MatrixType>::graph_report() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->graph.report();
  }



#define INSTANTIATE_VECTOR(dim, Matrix, VectorType)                           \
  template void TraceMultigrid<dim, Matrix>::vmult(VectorType &,              \
                                                   const VectorType &) const; \
  template void TraceMultigrid<dim, Matrix>::Tvmult(VectorType &,             \
                                                    const VectorType &) const;

#define INSTANTIATE_HOST(dim, Number)                                  \
  template class TraceMultigrid<dim, HostBlockMatrix<Number>>;         \
  INSTANTIATE_VECTOR(dim, HostBlockMatrix<Number>, Vector<double>)     \
  INSTANTIATE_VECTOR(dim, HostBlockMatrix<Number>, HostVector<double>) \
  TESSELLA_IF_EPETRA(INSTANTIATE_VECTOR(dim,                           \
                                        HostBlockMatrix<Number>,       \
                                        TrilinosWrappers::MPI::Vector))

#define INSTANTIATE_DEVICE(dim, Number)                          \
  template class TraceMultigrid<dim, DeviceBlockMatrix<Number>>; \
  INSTANTIATE_VECTOR(dim, DeviceBlockMatrix<Number>, DeviceVector<double>)

#define INSTANTIATE(dim)          \
  INSTANTIATE_HOST(dim, double)   \
  INSTANTIATE_HOST(dim, float)    \
  INSTANTIATE_DEVICE(dim, double) \
  INSTANTIATE_DEVICE(dim, float)

  INSTANTIATE(2)
  INSTANTIATE(3)
#undef INSTANTIATE
#undef INSTANTIATE_HOST
#undef INSTANTIATE_DEVICE
#undef INSTANTIATE_VECTOR
} // namespace Tessella
