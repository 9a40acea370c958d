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

      namespace
      {
        /// Diagonal blocks of a matrix whose rows may share their values, in
        /// the order of its BlockSparsity and row by row.
        std::vector<double>
        diagonal_blocks_of(const ComponentRows       &rows,
                           const std::vector<double> &values)
        {
          const BlockSparsity &sparsity = rows.sparsity;
          const unsigned int   n_rows   = sparsity.row_width.size();
          std::vector<double>  result;
          for (unsigned int k = 0; k < n_rows; ++k)
            {
              if (k > 0 &&
                  sparsity.value_offset[k] == sparsity.value_offset[k - 1])
                continue;
              const std::size_t n = rows.dof_offset[k + 1] - rows.dof_offset[k];
              auto row            = values.begin() + sparsity.value_offset[k] +
                         sparsity.column_offset[sparsity.find_block(k, k)];
              for (std::size_t i = 0; i < n; ++i, row += sparsity.row_width[k])
                result.insert(result.end(), row, row + n);
            }
          return result;
        }

        /// Each block of @p blocks, which have the sizes n_basis^2, as many
        /// times as @p n_times says.
        std::vector<double>
        repeated_blocks(const std::vector<unsigned int> &n_basis,
                        const std::vector<unsigned int> &n_times,
                        const std::vector<double>       &blocks)
        {
          std::vector<double> result;
          auto                from = blocks.begin();
          for (unsigned int k = 0; k < n_times.size(); ++k)
            {
              const auto end = from + std::size_t(n_basis[k]) * n_basis[k];
              for (unsigned int i = 0; i < n_times[k]; ++i)
                result.insert(result.end(), from, end);
              from = end;
            }
          return result;
        }

        /// Whether the rows of polytope @p k are the same in all matrices; that
        /// of component c is matrices[first[c]].
        bool
        has_equal_rows(const std::vector<HostBlockMatrix<double>> &matrices,
                       const std::vector<unsigned int>            &first,
                       const unsigned int                          k)
        {
          const auto &offset      = matrices[0].block_sparsity().value_offset;
          const double *const row = matrices[0].values();
          for (unsigned int c = 1; c < first.size(); ++c)
            if (first[c] == c && !std::equal(row + offset[k],
                                             row + offset[k + 1],
                                             matrices[c].values() + offset[k]))
              return false;
          return true;
        }
      } // namespace



      template <int dim, typename VectorType>
      DiffusionSolver<dim, VectorType>::DiffusionSolver(
        const std::string                               &name,
        const AgglomerationHandler<dim>                 &scalar,
        const AgglomerationHandler<dim>                 &all_components,
        const IncompressibleParameters                  &parameters,
        const double                                     diffusivity,
        const std::vector<std::set<types::boundary_id>> &dirichlet)
        : name(name)
        , parameters(parameters)
      {
        const unsigned int n_components = dirichlet.size();
        // Matrices of components with the same conditions are equal.
        std::vector<HostBlockMatrix<double>> matrices(n_components);
        std::vector<unsigned int>            first(n_components);
        for (unsigned int c = 0; c < n_components; ++c)
          {
            first[c] =
              std::find(dirichlet.begin(), dirichlet.end(), dirichlet[c]) -
              dirichlet.begin();
            if (first[c] == c)
              assemble(scalar, diffusivity, dirichlet[c], matrices[c]);
          }
        const BlockSparsity &one  = matrices[0].block_sparsity();
        const PolytopicDoFs &dofs = scalar.polytopic_dofs();
        const unsigned int   n    = scalar.n_polytopes();
        // Conditions of other types change diagonal blocks at the boundary.
        std::vector<bool> shared(n);
        for (unsigned int k = 0; k < n; ++k)
          shared[k] = has_equal_rows(matrices, first, k);
        const ComponentRows rows(one, dofs.dof_offset, n_components, shared);
        std::vector<double> values;
        values.reserve(rows.sparsity.n_nonzero_elements());
        std::vector<unsigned int> n_blocks(n);
        for (unsigned int k = 0; k < n; ++k)
          {
            n_blocks[k] = shared[k] ? 1 : n_components;
            for (unsigned int c = 0; c < n_blocks[k]; ++c)
              {
                const double *const from = matrices[first[c]].values();
                values.insert(values.end(),
                              from + one.value_offset[k],
                              from + one.value_offset[k + 1]);
              }
          }
        matrices.clear();
        matrix.reinit(rows.sparsity,
                      rows.dof_offset,
                      partition_of_components(all_components, rows.dof_offset));
        matrix.copy_from(values);
        blocks.reinit(matrix);
        diffusion.assign(diagonal_blocks_of(rows, values));

        const std::vector<std::uint64_t> offset(dofs.dof_offset.begin(),
                                                dofs.dof_offset.begin() + n +
                                                  1);
        HostBlockMatrix<double>          of_one;
        of_one.reinit(diagonal_sparsity(offset), offset);
        MassMatrix<dim>(scalar).add_to(1., of_one);
        std::vector<double> of_mass;
        of_one.copy_to(of_mass);
        mass.assign(repeated_blocks(dofs.n_basis, n_blocks, of_mass));
        r.resize(matrix.n_owned_rows());
        d.resize(matrix.n_owned_rows());
      }



      template <int dim, typename VectorType>
      void
      DiffusionSolver<dim, VectorType>::assemble(
        const AgglomerationHandler<dim>    &scalar,
        const double                        diffusivity,
        const std::set<types::boundary_id> &dirichlet,
        HostBlockMatrix<double>            &result) const
      {
        AdvectionDiffusionReaction<dim> form;
        form.set_diffusion(diffusivity);
        Tessella::BoundaryCondition<dim> condition;
        condition.type = BoundaryType::neumann;
        form.set_default_boundary_condition(condition);
        condition.type = BoundaryType::dirichlet;
        for (const types::boundary_id id : dirichlet)
          form.set_boundary_condition(id, condition);
        PolytopicAssembler<dim> assembler(scalar, on_host(parameters.assembly));
        assembler.reinit(result);
        assembler.assemble_matrix(form, result);
      }



      template <int dim, typename VectorType>
      void
      DiffusionSolver<dim, VectorType>::vmult(VectorType       &dst,
                                              const VectorType &src) const
      {
        blocks.chebyshev(4,
                         largest_eigenvalue,
                         true,
                         false,
                         src.begin(),
                         dst.begin(),
                         r.data(),
                         d.data());
      }



      template <int dim, typename VectorType>
      unsigned int
      DiffusionSolver<dim, VectorType>::solve(const double      lambda,
                                              const VectorType &rhs,
                                              VectorType       &solution)
      {
        if (lambda != present_factor)
          {
            Data::SpaceType::call([&] {
              Data::Blocks::set_diagonal(blocks.rows,
                                         diffusion.data(),
                                         lambda,
                                         mass.data(),
                                         matrix.values());
            });
            blocks.invert_diagonal();
            largest_eigenvalue = blocks.largest_eigenvalue(true);
          }
        present_factor = lambda;
        return solve_by_cg(
          name, parameters, matrix, *this, rhs, solution, vectors);
      }



      template <int dim, typename VectorType>
      std::size_t
      DiffusionSolver<dim, VectorType>::memory_consumption() const
      {
        return matrix.memory_consumption() + blocks.memory_consumption() +
               diffusion.memory_consumption() + mass.memory_consumption() +
               r.memory_consumption() + d.memory_consumption();
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
