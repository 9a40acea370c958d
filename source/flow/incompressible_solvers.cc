// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "incompressible_solvers.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/parallel.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/solver_cg.h>

#include <tessella/fe/fe_bounding_box_legendre.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "../lac/reproducible_sum.h"

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      using namespace dealii;

      namespace
      {
        /// Calls function(entry) for the entries of the diagonal blocks, block
        /// by block and row by row.
        template <int dim, typename Function>
        void
        for_diagonal(const AgglomerationHandler<dim> &handler,
                     HostBlockMatrix<double>         &matrix,
                     const Function                  &function)
        {
          const BlockSparsity &sparsity = matrix.block_sparsity();
          for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
            {
              const unsigned int n = handler.polytopic_dofs().n_basis[k];
              double *const      block =
                matrix.values() + sparsity.value_offset[k] +
                sparsity.column_offset[sparsity.find_block(k, k)];
              for (unsigned int i = 0; i < n; ++i)
                for (unsigned int j = 0; j < n; ++j)
                  function(block[std::size_t(i) * sparsity.row_width[k] + j]);
            }
        }

        // Moves an assembled matrix to the memory of its products.
        void
        store(HostBlockMatrix<double> &&from, HostBlockMatrix<double> &to)
        {
          to = std::move(from);
        }
        void
        store(HostBlockMatrix<double> &&from, DeviceBlockMatrix<double> &to)
        {
          to.reinit(from.block_sparsity(), from.dof_offset(), from.partition());
          to.copy_from(
            std::vector<double>(from.values(),
                                from.values() + from.n_nonzero_elements()));
          from.clear();
        }
      } // namespace



      AssemblyParameters
      on_host(const AssemblyParameters &parameters)
      {
        AssemblyParameters result = parameters;
        result.backend            = Backend::host;
        return result;
      }



      template <typename VectorType,
                typename MatrixType,
                typename Preconditioner>
      unsigned int
      solve_by_cg(const std::string              &name,
                  const IncompressibleParameters &parameters,
                  const MatrixType               &matrix,
                  const Preconditioner           &preconditioner,
                  const VectorType               &rhs,
                  VectorType                     &solution,
                  KeptVectors<VectorType>        &memory)
      {
        const double norm = rhs.l2_norm();
        if (norm == 0.)
          {
            solution = 0.;
            return 0;
          }
        SolverControl control(parameters.max_iterations,
                              parameters.tolerance * norm,
                              false,
                              false);
        bool          solved = true;
        try
          {
            SolverCG<VectorType> solver(control, memory);
            solver.solve(matrix, solution, rhs, preconditioner);
          }
        catch (const SolverControl::NoConvergence &)
          {
            solved = false;
          }
        if (!solved)
          {
            std::ostringstream text;
            text << "The solver of the " << name << " did not converge: after "
                 << control.last_step() << " iterations the residual is "
                 << control.last_value() / norm
                 << " of the right-hand side, more than the tolerance of "
                 << parameters.tolerance
                 << ". Take shorter steps, more iterations or a larger penalty "
                    "constant.";
            AssertThrow(false, ExcMessage(text.str()));
          }
        return control.last_step();
      }



      // ---- spaces

      template <int dim>
      FlowSpaces<dim>::FlowSpaces(const Triangulation<dim> &triangulation,
                                  const Mapping<dim>       *mapping,
                                  const Agglomeration::Strategy<dim> &strategy,
                                  const IncompressibleParameters &parameters)
        : velocity(triangulation, mapping)
        , pressure(triangulation, mapping)
        , scalar(triangulation, mapping)
        , constant(triangulation, mapping)
      {
        const std::vector<unsigned int> ids = strategy(triangulation);
        for (auto *handler : {&velocity, &pressure, &scalar, &constant})
          handler->agglomerate(
            [&ids](const Triangulation<dim> &) { return ids; });
        velocity.distribute_dofs(
          FESystem<dim>(FE_BoundingBoxLegendre<dim>(parameters.degree), dim));
        pressure.distribute_dofs(
          FE_BoundingBoxLegendre<dim>(parameters.pressure_degree));
        scalar.distribute_dofs(FE_BoundingBoxLegendre<dim>(parameters.degree));
        constant.distribute_dofs(FE_BoundingBoxLegendre<dim>(0));
        for (auto *handler : {&velocity, &pressure, &scalar, &constant})
          handler->set_curved_quadrature(parameters.curved_quadrature);
        // Mass matrices of consistent rules depend on the order of the tables,
        // and must agree between the spaces: all tables have the order of the
        // convection and of errors at once.
        if (parameters.curved_quadrature == CurvedQuadrature::consistent)
          for (auto *handler : {&velocity, &pressure, &scalar})
            handler->tabulate(std::max(parameters.degree, 4U));
      }



      // ---- pressure

      double
      pressure_penalty_constant(const IncompressibleParameters &parameters)
      {
        const double ratio =
          double(parameters.degree) / parameters.pressure_degree;
        return parameters.assembly.penalty.constant * ratio * ratio;
      }



      template <int dim, typename VectorType>
      PressureSolver<dim, VectorType>::PressureSolver(
        const AgglomerationHandler<dim> &handler,
        const IncompressibleParameters  &parameters)
        : parameters(parameters)
      {
        AdvectionDiffusionReaction<dim> form;
        form.set_diffusion(1.);
        Tessella::BoundaryCondition<dim> condition;
        condition.type = BoundaryType::neumann;
        form.set_default_boundary_condition(condition);
        condition.type                           = BoundaryType::dirichlet;
        bool                            closed   = true;
        const IncompressibleConditions &boundary = parameters.boundary;
        for (unsigned int i = 0; i < boundary.n_conditions; ++i)
          if (boundary.type[i] == IncompressibleCondition::outflow)
            {
              closed = false;
              form.set_boundary_condition(boundary.boundary_id[i], condition);
            }
        AssemblyParameters assembly = on_host(parameters.assembly);
        assembly.penalty.constant   = pressure_penalty_constant(parameters);
        PolytopicAssembler<dim> assembler(handler, assembly);
        HostBlockMatrix<double> assembled;
        assembler.reinit(assembled);
        assembler.assemble_matrix(form, assembled);
        typename Multigrid<FlowMatrix<VectorType, float>>::AdditionalData data;
        if (closed)
          {
            null_space = NullSpace<VectorType>::constants(handler);
            data.constant_null_space = {true};
          }
        data.smoother = parameters.pressure_smoother;
        // On METIS polygons three steps of ILU(0) need 9 iterations and two
        // steps 11, in the same time.
        data.n_smoothing_steps =
          data.smoother == MultigridSmoother::ilu ? 3 : 4;
        if (is_direct(handler))
          {
            data.coarse_solver = MultigridCoarseSolver::nested_dissection;
            MultigridHierarchy::AdditionalData one_level;
            one_level.lowest_degree = parameters.pressure_degree;
            const MultigridHierarchy hierarchy(handler, {}, one_level);
            store(std::move(assembled), matrix);
            multigrid.initialize(matrix, hierarchy, data);
            return;
          }
        HostBlockMatrix<double> assembled_without_penalty;
        PenaltyParameters       none = parameters.assembly.penalty;
        none.constant                = 0.;
        assembler.set_penalty(none);
        assembler.reinit(assembled_without_penalty);
        assembler.assemble_matrix(form, assembled_without_penalty);
        // Cells of flows are stretched.
        unsigned int n_coarsest = 64;
        if (on_device<VectorType> &&
            Utilities::MPI::n_mpi_processes(handler.get_communicator()) == 1)
          {
            // A level of few polytopes takes a device as long as their direct
            // solution, which is for one process.
            data.coarse_solver = MultigridCoarseSolver::nested_dissection;
            n_coarsest         = dim == 2 ? 8000 : 2500;
          }
        const MultigridHierarchy hierarchy(
          handler,
          NestedAgglomeration::coupling(handler, assembled, 0, n_coarsest));
        FlowMatrix<VectorType, double> without_penalty;
        store(std::move(assembled), matrix);
        store(std::move(assembled_without_penalty), without_penalty);
        multigrid.initialize(matrix, without_penalty, hierarchy, data);
      }



      template <int dim, typename VectorType>
      bool
      PressureSolver<dim, VectorType>::is_direct(
        const AgglomerationHandler<dim> &handler) const
      {
        unsigned int most = parameters.direct_pressure_unknowns;
        if (most == numbers::invalid_unsigned_int)
          most = !on_device<VectorType> ? 0 : dim == 2 ? 100000 : 10000;
        return handler.n_dofs() <= most &&
               Utilities::MPI::n_mpi_processes(handler.get_communicator()) == 1;
      }



      template <int dim, typename VectorType>
      unsigned int
      PressureSolver<dim, VectorType>::solve(VectorType &rhs,
                                             VectorType &solution) const
      {
        if (!has_null_space())
          return solve_by_cg(
            "pressure", parameters, matrix, multigrid, rhs, solution, memory);
        null_space.project_rhs(rhs);
        const unsigned int n = solve_by_cg(
          "pressure",
          parameters,
          matrix,
          ProjectedPreconditioner<VectorType,
                                  Multigrid<FlowMatrix<VectorType, float>>>(
            null_space, multigrid),
          rhs,
          solution,
          memory);
        null_space.project(solution);
        return n;
      }



      template <int dim, typename VectorType>
      std::size_t
      PressureSolver<dim, VectorType>::memory_consumption() const
      {
        return matrix.memory_consumption() + multigrid.report().memory;
      }



      // ---- velocity

      template <int dim, typename VectorType>
      DiffusionSolver<dim, VectorType>::DiffusionSolver(
        const std::string                               &name,
        const AgglomerationHandler<dim>                 &scalar,
        const AgglomerationHandler<dim>                 &all_components,
        const IncompressibleParameters                  &parameters,
        const double                                     diffusivity,
        const std::vector<std::set<types::boundary_id>> &dirichlet)
        : name(name)
        , scalar(scalar)
        , all_components(all_components)
        , parameters(parameters)
        , diffusivity(diffusivity)
        , mass(scalar)
      {
        for (unsigned int c = 0; c < dirichlet.size(); ++c)
          {
            std::vector<unsigned int> same;
            for (unsigned int d = 0; d < dirichlet.size(); ++d)
              if (dirichlet[d] == dirichlet[c])
                same.push_back(d);
            if (same[0] == c)
              add_system(dirichlet[c], same);
          }
        b.reinit(scalar.locally_owned_dofs(), scalar.get_communicator());
        x.reinit(b);
      }



      template <int dim, typename VectorType>
      void
      DiffusionSolver<dim, VectorType>::add_system(
        const std::set<types::boundary_id> &dirichlet,
        const std::vector<unsigned int>    &components)
      {
        AdvectionDiffusionReaction<dim> form;
        form.set_diffusion(diffusivity);
        Tessella::BoundaryCondition<dim> condition;
        condition.type = BoundaryType::neumann;
        form.set_default_boundary_condition(condition);
        condition.type = BoundaryType::dirichlet;
        for (const types::boundary_id id : dirichlet)
          form.set_boundary_condition(id, condition);
        systems.push_back(std::make_unique<System>());
        System &system    = *systems.back();
        system.components = components;
        PolytopicAssembler<dim> assembler(scalar, on_host(parameters.assembly));
        assembler.reinit(system.matrix);
        assembler.assemble_matrix(form, system.matrix);
        for_diagonal(scalar, system.matrix, [&](const double &entry) {
          system.diagonal.push_back(entry);
        });
      }



      namespace
      {
        template <typename MatrixType>
        void
        initialize_chebyshev(const MatrixType           &matrix,
                             BlockChebyshev<MatrixType> &preconditioner)
        {
          typename BlockChebyshev<MatrixType>::AdditionalData data;
          data.degree = 4;
          preconditioner.initialize(matrix, data);
        }
      } // namespace



      template <int dim, typename VectorType>
      void
      DiffusionSolver<dim, VectorType>::set_factor(const double lambda,
                                                   System      &system) const
      {
        std::size_t i = 0;
        for_diagonal(scalar, system.matrix, [&](double &entry) {
          entry = system.diagonal[i++];
        });
        mass.add_to(lambda, system.matrix);
        if constexpr (!on_device<VectorType>)
          initialize_chebyshev(system.matrix, system.preconditioner);
      }



      template <int dim, typename VectorType>
      void
      DiffusionSolver<dim, VectorType>::send_matrix()
      {
        if constexpr (on_device<VectorType>)
          {
            const PolytopicDoFs &dofs = scalar.polytopic_dofs();
            const unsigned int   n_components =
              all_components.polytopic_dofs().n_components;
            const HostBlockMatrix<double> &one    = systems[0]->matrix;
            const BlockSparsity           &of_one = one.block_sparsity();
            std::vector<const double *>    values(n_components, nullptr);
            for (const auto &system : systems)
              for (const unsigned int c : system->components)
                values[c] = system->matrix.values();
            const ComponentRows rows(of_one, dofs.dof_offset, n_components);
            std::vector<double> all_values(rows.sparsity.n_nonzero_elements());
            auto                to = all_values.begin();
            for (unsigned int k = 0; k < scalar.n_polytopes(); ++k)
              for (unsigned int c = 0; c < n_components; ++c)
                to = std::copy(values[c] + of_one.value_offset[k],
                               values[c] + of_one.value_offset[k + 1],
                               to);
            if (present_factor == 0.)
              all.reinit(rows.sparsity,
                         rows.dof_offset,
                         partition_of_components(all_components,
                                                 rows.dof_offset));
            all.copy_from(all_values);
            initialize_chebyshev(all, all_preconditioner);
          }
      }



      template <int dim, typename VectorType>
      void
      DiffusionSolver<dim, VectorType>::extract(const unsigned int c,
                                                const FlowVector  &from,
                                                FlowVector        &to) const
      {
        const PolytopicDoFs &v = all_components.polytopic_dofs(),
                            &s = scalar.polytopic_dofs();
        for (unsigned int k = 0; k < scalar.n_polytopes(); ++k)
          std::copy_n(from.begin() + v.dof_offset[k] +
                        std::size_t(c) * v.n_basis[k],
                      s.n_basis[k],
                      to.begin() + s.dof_offset[k]);
      }



      template <int dim, typename VectorType>
      void
      DiffusionSolver<dim, VectorType>::insert(const unsigned int c,
                                               const FlowVector  &from,
                                               FlowVector        &to) const
      {
        const PolytopicDoFs &v = all_components.polytopic_dofs(),
                            &s = scalar.polytopic_dofs();
        for (unsigned int k = 0; k < scalar.n_polytopes(); ++k)
          std::copy_n(from.begin() + s.dof_offset[k],
                      s.n_basis[k],
                      to.begin() + v.dof_offset[k] +
                        std::size_t(c) * v.n_basis[k]);
      }



      template <int dim, typename VectorType>
      unsigned int
      DiffusionSolver<dim, VectorType>::solve(const double      lambda,
                                              const VectorType &rhs,
                                              VectorType       &solution)
      {
        if (lambda != present_factor)
          {
            for (auto &system : systems)
              set_factor(lambda, *system);
            send_matrix();
          }
        present_factor      = lambda;
        unsigned int result = 0;
        if constexpr (on_device<VectorType>)
          result = solve_by_cg(
            name, parameters, all, all_preconditioner, rhs, solution, vectors);
        else
          for (auto &system : systems)
            for (const unsigned int c : system->components)
              {
                extract(c, rhs, b);
                extract(c, solution, x);
                result = std::max(result,
                                  solve_by_cg(name,
                                              parameters,
                                              system->matrix,
                                              system->preconditioner,
                                              b,
                                              x,
                                              vectors));
                insert(c, x, solution);
              }
        return result;
      }



      template <int dim, typename VectorType>
      std::size_t
      DiffusionSolver<dim, VectorType>::memory_consumption() const
      {
        std::size_t result = 0;
        for (const auto &system : systems)
          result += system->matrix.memory_consumption() +
                    system->preconditioner.memory_consumption() +
                    sizeof(double) * system->diagonal.size();
        if constexpr (on_device<VectorType>)
          result +=
            all.memory_consumption() + all_preconditioner.memory_consumption();
        return result;
      }



      // ---- penalty step

      void
      HostBlockInverses::reinit(const PolytopicDoFs &dofs,
                                const unsigned int   n_polytopes,
                                const MPI_Comm)
      {
        first.assign(dofs.dof_offset.begin(),
                     dofs.dof_offset.begin() + n_polytopes + 1);
        offset.assign(1, 0);
        for (unsigned int k = 0; k < n_polytopes; ++k)
          offset.push_back(offset.back() + (first[k + 1] - first[k]) *
                                             (first[k + 1] - first[k]));
        inverse.resize(offset.back());
      }



      void
      HostBlockInverses::update(const std::vector<double> &blocks,
                                const std::vector<char>   &changed)
      {
        parallel::apply_to_subranges(
          std::size_t(0),
          changed.size(),
          [&](const std::size_t begin, const std::size_t end) {
            FullMatrix<double> block;
            for (std::size_t k = begin; k < end; ++k)
              {
                if (!changed[k])
                  continue;
                const unsigned int n = first[k + 1] - first[k];
                block.reinit(n, n);
                for (unsigned int i = 0; i < n; ++i)
                  for (unsigned int j = 0; j < n; ++j)
                    block(i, j) = blocks[offset[k] + i * n + j];
                block.gauss_jordan();
                // The inverse is made symmetric, which rounding may disturb.
                for (unsigned int i = 0; i < n; ++i)
                  for (unsigned int j = 0; j < n; ++j)
                    inverse[offset[k] + i * n + j] =
                      0.5 * (block(i, j) + block(j, i));
              }
          },
          16);
      }



      void
      HostBlockInverses::vmult(FlowVector &dst, const FlowVector &src) const
      {
        parallel::apply_to_subranges(
          std::size_t(0),
          offset.size() - 1,
          [&](const std::size_t begin, const std::size_t end) {
            for (std::size_t k = begin; k < end; ++k)
              {
                const std::size_t   n   = first[k + 1] - first[k];
                const double *const x   = src.begin() + first[k];
                const double       *row = &inverse[offset[k]];
                for (std::size_t i = 0; i < n; ++i, row += n)
                  {
                    double sum = 0.;
                    for (std::size_t j = 0; j < n; ++j)
                      sum += row[j] * x[j];
                    *(dst.begin() + first[k] + i) = sum;
                  }
              }
          },
          32);
      }



      template <int dim, typename VectorType>
      PenaltySolver<dim, VectorType>::PenaltySolver(
        const AgglomerationHandler<dim> &velocity,
        const AgglomerationHandler<dim> &constant,
        const IncompressibleParameters  &parameters)
        : velocity(velocity)
        , constant(constant)
        , parameters(parameters)
        , op({&velocity, &velocity, &constant}, 0, parameters.assembly)
        , speed_op({&constant, &velocity}, 0, parameters.assembly)
        , integrand("DivergencePenalty")
        , speed("Speed")
      {
        // Products of two functions, and their weights.
        integrand.set_coefficient_order(2);
        speed.set_coefficient_order(2);
        w.reinit(velocity.locally_owned_dofs(), velocity.get_communicator());
        tau.reinit(constant.locally_owned_dofs(), constant.get_communicator());
        integral.reinit(tau);
        const auto &mesh = constant.polytopic_mesh();
        for (unsigned int k = 0; k < constant.n_polytopes(); ++k)
          {
            root_of_volume.push_back(
              std::sqrt(constant.bounding_box(k).volume()));
            size.push_back(parameters.divergence_factor *
                           std::pow(mesh.measure[k], 1. / dim) /
                           (velocity.polytopic_dofs().degree[k] + 1.));
            log_of_size.push_back(size[k] > 0. ? std::log2(size[k]) : 0.);
          }
        if (!parameters.penalty_step)
          return;
        PointwiseOperator<dim> host_op({&velocity, &velocity, &constant},
                                       0,
                                       on_host(parameters.assembly));
        mass_blocks       = diagonal_blocks(host_op, 1., 0., 0.);
        divergence_blocks = diagonal_blocks(host_op, 0., 1., 0.);
        jump_blocks       = diagonal_blocks(host_op, 0., 0., 1.);
        blocks            = mass_blocks;
        // No factor has this number, so that all blocks are inverted first.
        constexpr int none = std::numeric_limits<int>::max();
        factors.assign(velocity.n_polytopes(),
                       std::array<int, 2>{{none, none}});
        preconditioner.reinit(velocity.polytopic_dofs(),
                              velocity.n_polytopes(),
                              velocity.get_communicator());
      }



      template <int dim, typename VectorType>
      std::vector<double>
      PenaltySolver<dim, VectorType>::diagonal_blocks(
        PointwiseOperator<dim> &host_op,
        const double            mass,
        const double            tau_value,
        const double            speed_value) const
      {
        FlowVector speeds, tau_D;
        speeds.reinit(velocity.locally_owned_dofs(),
                      velocity.get_communicator());
        tau_D.reinit(constant.locally_owned_dofs(),
                     constant.get_communicator());
        // The first function of a space on a polytope is constant.
        for (unsigned int k = 0; k < constant.n_polytopes(); ++k)
          {
            const double one     = std::sqrt(constant.bounding_box(k).volume());
            *(tau_D.begin() + k) = tau_value * one;
            *(speeds.begin() + velocity.polytopic_dofs().dof_offset[k]) =
              speed_value * one;
          }
        Integrand with_factors(integrand);
        with_factors.functor().mass              = mass;
        with_factors.functor().continuity_factor = 1.;
        std::vector<double> result;
        host_op.template diagonal_blocks<FlowVector>(with_factors,
                                                     {&speeds, &speeds, &tau_D},
                                                     result);
        return result;
      }



      template <int dim, typename VectorType>
      std::vector<double>
      PenaltySolver<dim, VectorType>::mean_speeds(
        const VectorType &velocity_vector) const
      {
        speed_op.template residual<VectorType>(speed,
                                               {&tau, &velocity_vector},
                                               integral);
        const auto         &mesh = constant.polytopic_mesh();
        std::vector<double> result =
          Tessella::internal::owned_entries(integral);
        for (unsigned int k = 0; k < result.size(); ++k)
          result[k] = result[k] * root_of_volume[k] / mesh.measure[k];
        return result;
      }



      template <int dim, typename VectorType>
      void
      PenaltySolver<dim, VectorType>::set_velocity(
        const double dt, const VectorType &new_velocity)
      {
        w                                = new_velocity;
        const std::vector<double> speeds = mean_speeds(w);
        std::vector<double>       entries(speeds.size());
        // The coefficients of the constants of the polytopes, with tau_D.
        for (unsigned int k = 0; k < entries.size(); ++k)
          entries[k] = dt * size[k] * speeds[k] * root_of_volume[k];
        Tessella::internal::set_owned_entries(entries, tau);
        integrand.functor().continuity_factor =
          dt * parameters.continuity_factor;
        update_preconditioner(dt, speeds_of_blocks(speeds));
      }



      template <int dim, typename VectorType>
      std::vector<double>
      PenaltySolver<dim, VectorType>::speeds_of_blocks(
        const std::vector<double> &speeds) const
      {
        if (!on_device<VectorType>)
          return speeds;
        // The same bits for every number of processes.
        namespace Sums            = Tessella::internal;
        const double     *measure = constant.polytopic_mesh().measure.data();
        const std::size_t n       = speeds.size();
        const MPI_Comm    communicator = constant.get_communicator();
        const double      sum =
          Sums::value_of_all(communicator,
                             Sums::host_dot(n, measure, speeds.data()));
        const double volume =
          Sums::value_of_all(communicator, Sums::host_sum(n, measure));
        return std::vector<double>(n, sum / volume);
      }



      namespace
      {
        /// Number of the power of 2^{1/3} next to a factor, given its binary
        /// logarithm; of zero, the least number.
        int
        rounded(const double logarithm)
        {
          return static_cast<int>(std::round(3. * logarithm));
        }
        constexpr int number_of_zero = std::numeric_limits<int>::min();

        double
        rounded_factor(const int number)
        {
          return number == number_of_zero ? 0. : std::exp2(number / 3.);
        }
      } // namespace



      template <int dim, typename VectorType>
      void
      PenaltySolver<dim, VectorType>::update_preconditioner(
        const double dt, const std::vector<double> &speeds)
      {
        // The mean speed of a polytope is taken on its facets. Factors are
        // rounded to powers of 2^{1/3}, so that most blocks stay as they are
        // from step to step. They depend on the present velocity alone, as a
        // restart with the same bits needs.
        std::vector<char> changed(speeds.size(), 0);
        const auto       &first    = velocity.polytopic_dofs().dof_offset;
        const double      of_jumps = parameters.continuity_factor > 0.
                                       ? std::log2(parameters.continuity_factor)
                                       : 0.;
        double            speed = -1., logarithm = 0.;
        std::size_t       entry = 0;
        for (unsigned int k = 0; k < speeds.size(); ++k)
          {
            if (speeds[k] != speed)
              {
                speed     = speeds[k];
                logarithm = speed > 0. ? std::log2(dt * speed) : 0.;
              }
            const std::array<int, 2> present = {
              {speed > 0. && size[k] > 0. ? rounded(logarithm + log_of_size[k])
                                          : number_of_zero,
               speed > 0. && parameters.continuity_factor > 0.
                 ? rounded(logarithm + of_jumps)
                 : number_of_zero}};
            const std::size_t n = first[k + 1] - first[k], end = entry + n * n;
            if (present != factors[k])
              {
                changed[k]              = 1;
                factors[k]              = present;
                const double divergence = rounded_factor(present[0]),
                             jumps      = rounded_factor(present[1]);
                for (std::size_t i = entry; i < end; ++i)
                  blocks[i] = mass_blocks[i] +
                              divergence * divergence_blocks[i] +
                              jumps * jump_blocks[i];
              }
            entry = end;
          }
        preconditioner.update(blocks, changed);
      }



      template <int dim, typename VectorType>
      void
      PenaltySolver<dim, VectorType>::vmult(VectorType       &dst,
                                            const VectorType &src) const
      {
        op.template residual<VectorType>(integrand, {&src, &w, &tau}, dst);
      }



      template <int dim, typename VectorType>
      unsigned int
      PenaltySolver<dim, VectorType>::solve(const VectorType &rhs,
                                            VectorType       &solution)
      {
        return solve_by_cg("divergence penalty",
                           parameters,
                           *this,
                           preconditioner,
                           rhs,
                           solution,
                           memory);
      }



#define INSTANTIATE(dim, VectorType)               \
  template class PressureSolver<dim, VectorType>;  \
  template class DiffusionSolver<dim, VectorType>; \
  template class PenaltySolver<dim, VectorType>;
      template struct FlowSpaces<2>;
      template struct FlowSpaces<3>;
      INSTANTIATE(2, HostVector<double>)
      INSTANTIATE(3, HostVector<double>)
      INSTANTIATE(2, DeviceVector<double>)
      INSTANTIATE(3, DeviceVector<double>)
#undef INSTANTIATE
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella
