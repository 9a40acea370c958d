// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/timer.h>

#include <deal.II/lac/solver_control.h>

#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/flow/pseudo_transient.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/solver_fused_gmres.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/multigrid/multigrid_hierarchy.h>
#include <tessella/operators/pointwise_operator.h>
#include <tessella/time_stepping/time_state.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../lac/block_space.h"
#include "same_polytopes.h"

namespace Tessella
{
  namespace Flow
  {
    using namespace dealii;

    template <int dim, typename VectorType, typename MatrixType>
    struct PseudoTransient<dim, VectorType, MatrixType>::Implementation
    {
      static constexpr bool on_host =
        std::is_same<VectorType, HostVector<double>>::value;
      using SingleMatrix = std::conditional_t<on_host,
                                              HostBlockMatrix<float>,
                                              DeviceBlockMatrix<float>>;

      Implementation(const AgglomerationHandler<dim> &handler,
                     const AssemblyParameters        &parameters,
                     const SteadyIntegrands<dim>     &integrands,
                     const PseudoTransientData       &data,
                     QuadraticReconstruction<dim>    *reconstruction,
                     ArtificialViscosity<dim>        *viscosity)
        : handler(handler)
        , integrands(integrands)
        , data(data)
        , reconstruction(reconstruction)
        , viscosity(viscosity)
        , constants(handler.get_triangulation(), &handler.get_mapping())
      {
        AssertThrow(data.first_cfl > 0. && data.largest_cfl > 0. &&
                      data.exponent >= 0.,
                    ExcMessage("CFL numbers must be positive, and the exponent "
                               "of their growth must not be negative."));
        AssertThrow(data.method != LinearMethod::gmres_multigrid ||
                      !data.single_precision || handler.max_degree() <= 3,
                    ExcMessage("GMRES with multigrid in single precision is "
                               "for degrees up to 3: take double precision "
                               "(PseudoTransientData::single_precision) or "
                               "another preconditioner."));
        constants.agglomerate(internal::polytopes_of(handler));
        constants.distribute_dofs(FE_BoundingBoxLegendre<dim>(0));
        using Operator = PointwiseOperator<dim>;
        using Handlers = typename Operator::Handlers;
        op             = std::make_unique<Operator>(handler, parameters);
        with_time = std::make_unique<Operator>(Handlers{&handler, &constants},
                                               0,
                                               parameters);
        on_constants =
          std::make_unique<Operator>(Handlers{&handler, &constants},
                                     1,
                                     parameters);
        with_change =
          std::make_unique<Operator>(Handlers{&handler, &handler, &constants},
                                     2,
                                     parameters);
        if (viscosity != nullptr)
          {
            AssertThrow(reconstruction == nullptr,
                        ExcMessage("Artificial viscosity and a reconstruction "
                                   "exclude each other: choose one of them."));
            with_viscosity = std::make_unique<Operator>(
              Handlers{&handler, &constants, &constants}, 0, parameters);
            on_constants->reinit(eps);
          }
        if (reconstruction != nullptr)
          {
            on_quadratic =
              std::make_unique<Operator>(reconstruction->quadratic_handler(),
                                         parameters);
            on_quadratic->reinit(reconstructed);
            on_quadratic->reinit(present);
            on_quadratic->reinit(reconstructed_change);
            on_quadratic->reinit(quadratic_result);
            const auto *const quadratic = &reconstruction->quadratic_handler();
            with_quadratic_change       = std::make_unique<Operator>(
              Handlers{quadratic, quadratic, &constants}, 2, parameters);
            AssertThrow(integrands.admissible_reconstruction != nullptr,
                        ExcMessage(
                          "Steps with a reconstruction need SteadyIntegrands::"
                          "admissible_reconstruction, AdmissibleStep of length "
                          "1: make it as make_steady_integrands() does."));
            integrands.admissible_reconstruction->set_coefficient_order(
              integrands.residual->coefficient_order());
          }
        op->reinit(residual);
        op->reinit(change);
        op->reinit(trial);
        op->reinit(trial_residual);
        op->reinit(difference);
        op->reinit(work);
        on_constants->reinit(inverse_step);
        on_constants->reinit(marks);
        set_factors();
        with_time->reinit(matrix);
      }

      void
      compute_viscosity(const VectorType &u)
      {
        viscosity->compute(u, eps);
      }

      /// Derivative of the artificial viscosity.
      const VectorType &
      slopes() const
      {
        if constexpr (on_host)
          return viscosity->derivative();
        else
          return viscosity->device_derivative();
      }

      /// Sets @p result to R(@p u); without a reconstruction.
      void
      compute_residual(const VectorType &u, VectorType &result)
      {
        if (viscosity != nullptr)
          {
            compute_viscosity(u);
            with_time->template residual<VectorType>(*integrands.residual,
                                                     {&u, &eps},
                                                     result);
          }
        else
          op->template residual<VectorType>(*integrands.residual, {&u}, result);
      }

      /// Sets @p result to R of the state reconstructed last.
      void
      compute_residual_of_reconstruction(VectorType &result)
      {
        on_quadratic->template residual<VectorType>(*integrands.residual,
                                                    {&reconstructed},
                                                    quadratic_result);
        reconstruction->restrict_to_linear(quadratic_result, result);
      }

      /// The derivative of backward Euler's residual with reconstruction at
      /// the state reconstructed last, as a matrix.
      struct Tangent
      {
        void
        vmult(VectorType &result, const VectorType &direction) const
        {
          auto &data = implementation;
          data.reconstruction->reconstruct_change(direction,
                                                  data.reconstructed_change);
          data.on_quadratic->template apply_tangent<VectorType>(
            *data.integrands.residual,
            {&data.reconstructed},
            data.reconstructed_change,
            data.quadratic_result);
          data.reconstruction->restrict_to_linear(data.quadratic_result,
                                                  result);
          data.with_time->template residual<VectorType>(
            *data.integrands.time_term,
            {&direction, &data.inverse_step},
            data.work);
          result.add(1., data.work);
        }
        Implementation &implementation;
      };

      /// Sets present and reconstructed to the reconstruction of @p u, and
      /// throws if density or pressure is not positive there, since no step
      /// would keep the bound of their changes.
      void
      check_reconstruction(const VectorType &u)
      {
        reconstruction->reconstruct(u, reconstructed);
        present              = reconstructed;
        reconstructed_change = 0.;
        inverse_step         = 0.;
        with_quadratic_change->template residual<VectorType>(
          *integrands.admissible_reconstruction,
          {&present, &reconstructed_change, &inverse_step},
          marks);
        AssertThrow(marks.l2_norm() == 0.,
                    ExcMessage("The reconstruction of the state has a density "
                               "or pressure that is not positive at a "
                               "quadrature point: change the initial state, or "
                               "begin with a solution without a "
                               "reconstruction."));
      }

      /// |R_n|; computes R_n unless it is that of the last step.
      double
      present_residual(const VectorType &u)
      {
        if (norm < 0.)
          {
            if (reconstruction != nullptr)
              {
                check_reconstruction(u);
                compute_residual_of_reconstruction(residual);
              }
            else
              compute_residual(u, residual);
            norm = residual.l2_norm();
            if (state.first_residual == 0.)
              state.first_residual = state.last_residual = norm;
          }
        return norm;
      }

      double
      cfl_number() const
      {
        return state.factor *
               std::min(data.largest_cfl,
                        data.first_cfl *
                          std::pow(state.first_residual / norm, data.exponent));
      }

      /// Sets the field 1 / dt.
      void
      set_steps(const VectorType &u, const double cfl)
      {
        on_constants->template residual<VectorType>(
          *integrands.speed,
          {&u, viscosity == nullptr ? &inverse_step : &eps},
          marks);
        inverse_step = marks;
        inverse_step.scale(per_cfl);
        inverse_step *= 1. / cfl;
      }

      /// Sets the factors of the integrals of wave speeds in 1 / dt for the CFL
      /// number one.
      void
      set_factors()
      {
        const PolytopicMesh<dim> &mesh   = handler.polytopic_mesh();
        const auto               &degree = handler.polytopic_dofs().degree;
        std::vector<double>       values(mesh.n_owned_polytopes());
        for (unsigned int k = 0; k < values.size(); ++k)
          {
            // The basis function is 1 / sqrt(box).
            double box = 1.;
            for (int d = 0; d < dim; ++d)
              box *=
                mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
            values[k] = box * (2. * degree[k] + 1.) / (2. * mesh.measure[k]);
          }
        on_constants->reinit(per_cfl);
        internal::set_owned_entries(values, per_cfl);
      }

      /// Solves the linear system. Returns the number of iterations; throws if
      /// there are too many.
      unsigned int
      solve_linear(const VectorType &u)
      {
        if (viscosity == nullptr)
          with_time->template assemble_jacobian<VectorType>(*integrands.matrix,
                                                            {&u, &inverse_step},
                                                            matrix);
        else
          {
            with_viscosity->template assemble_jacobian<VectorType>(
              *integrands.matrix, {&u, &eps, &inverse_step}, matrix);
            if (viscosity->exact)
              with_time->template add_chained_jacobian<VectorType>(
                *integrands.residual, {&u, &eps}, 1, slopes(), matrix);
          }
        change = 0.;
        if (data.method == LinearMethod::gmres_multigrid)
          return data.single_precision ? solve_with<Multigrid<SingleMatrix>>(u)
                                       : solve_with<Multigrid<MatrixType>>(u);
        if (data.method == LinearMethod::gmres_ilu0)
          return data.single_precision
                   ? solve_with<BlockILU0<MatrixType, float>>(u)
                   : solve_with<BlockILU0<MatrixType>>(u);
        return data.single_precision ? solve_with<LUSGS<MatrixType, float>>(u)
                                     : solve_with<LUSGS<MatrixType>>(u);
      }

      template <typename Preconditioner>
      void
      initialize(Preconditioner &preconditioner)
      {
        preconditioner.initialize(matrix, data.sweeps);
      }
      void
      initialize(Multigrid<MatrixType> &multigrid)
      {
        initialize_multigrid(matrix, multigrid);
      }
      /// Up to degree 3, blocks need no change of basis before they are
      /// rounded; without one, structures are kept from step to step.
      void
      initialize(Multigrid<SingleMatrix> &multigrid)
      {
        on_all_processes(handler.get_communicator(), [&]() {
          if (rounded.empty())
            rounded.reinit(matrix);
          internal::BlockData<MatrixType>::SpaceType::convert(
            matrix.n_nonzero_elements(), matrix.values(), rounded.values());
        });
        initialize_multigrid(rounded, multigrid);
      }

      template <typename Matrix>
      void
      initialize_multigrid(const Matrix &finest, Multigrid<Matrix> &multigrid)
      {
        // Structures stay as they are.
        if (multigrid.m() > 0)
          {
            multigrid.update();
            return;
          }
        MultigridHierarchy::AdditionalData levels;
        levels.lowest_degree = 0;
        hierarchy            = std::make_unique<MultigridHierarchy>(
          handler, NestedAgglomeration::rtree(handler), levels);
        typename Multigrid<Matrix>::AdditionalData parameters;
        parameters.smoother          = MultigridSmoother::lusgs;
        parameters.n_smoothing_steps = data.sweeps.n_sweeps;
        parameters.symmetric         = false;
        multigrid.initialize(finest, *hierarchy, parameters);
      }

      template <typename Preconditioner>
      unsigned int
      solve_with(const VectorType &u)
      {
        Preconditioner &preconditioner =
          std::get<Preconditioner>(preconditioners);
        initialize(preconditioner);
        if (data.method == LinearMethod::lusgs)
          {
            preconditioner.vmult(change, residual);
            return 0;
          }
        double tolerance = data.linear_tolerance;
        if (data.tighten)
          tolerance =
            std::min(tolerance,
                     std::max(1e-6,
                              0.9 * std::pow(norm / state.last_residual, 2)));
        SolverControl control(data.max_iterations,
                              tolerance * norm,
                              false,
                              false);
        using Solver = SolverFusedGMRES<VectorType>;
        typename Solver::AdditionalData parameters(data.gmres_vectors);
        parameters.second_below = data.second_below;
        Solver solver(control, parameters);
        try
          {
            if (reconstruction == nullptr)
              solver.solve(matrix, change, residual, preconditioner);
            else
              {
                // Failed trials have left another state.
                reconstruction->reconstruct(u, reconstructed);
                solver.solve(Tangent{*this}, change, residual, preconditioner);
              }
          }
        catch (const SolverControl::NoConvergence &)
          {
            // A solution that is better than none is left to the line search.
            if (!(control.last_value() < 0.5 * norm))
              throw;
            slow = true;
          }
        return control.last_step();
      }

      /// Whether density and pressure stay near their values in a step of
      /// length 2^-i.
      bool
      is_admissible(const VectorType &u, const unsigned int i)
      {
        with_change->template residual<VectorType>(*integrands.admissible[i],
                                                   {&u, &change, &inverse_step},
                                                   marks);
        return marks.l2_norm() == 0.;
      }

      /// The same for the reconstructions of u, which is present, and of
      /// @p next. Leaves the latter in reconstructed.
      bool
      has_admissible_reconstruction(const VectorType &next)
      {
        reconstruction->reconstruct(next, reconstructed);
        reconstructed_change = present;
        reconstructed_change.add(-1., reconstructed);
        with_quadratic_change->template residual<VectorType>(
          *integrands.admissible_reconstruction,
          {&present, &reconstructed_change, &inverse_step},
          marks);
        return marks.l2_norm() == 0.;
      }

      /// Takes the longest step that is admissible and reduces the residual of
      /// backward Euler. Returns its length, or zero.
      double
      search(VectorType &u)
      {
        double length = 1.;
        for (unsigned int i = 0; i < integrands.admissible.size();
             ++i, length *= 0.5)
          {
            if (!is_admissible(u, i))
              continue;
            trial = u;
            trial.add(-length, change);
            if (reconstruction != nullptr &&
                !has_admissible_reconstruction(trial))
              continue;
            try
              {
                if (reconstruction != nullptr)
                  compute_residual_of_reconstruction(trial_residual);
                else
                  compute_residual(trial, trial_residual);
              }
            catch (const ExceptionBase &)
              {
                continue;
              }
            difference.equ(-length, change);
            with_time->template residual<VectorType>(
              *integrands.time_term, {&difference, &inverse_step}, work);
            work.add(1., trial_residual);
            if (!(work.l2_norm() <= (1. - 1e-4 * length) * norm))
              continue;
            u                   = trial;
            residual            = trial_residual;
            state.last_residual = norm;
            norm                = residual.l2_norm();
            if (reconstruction != nullptr)
              present = reconstructed;
            return length;
          }
        return 0.;
      }

      PseudoTransientStep
      step(VectorType &u)
      {
        present_residual(u);
        PseudoTransientStep result;
        result.step = ++state.n_steps;
        result.cfl  = cfl_number();
        // Failed trials have left that of another state.
        if (viscosity != nullptr)
          compute_viscosity(u);
        set_steps(u, result.cfl);
        slow = false;
        try
          {
            result.n_iterations = solve_linear(u);
            result.length       = search(u);
          }
        catch (const SolverControl::NoConvergence &failure)
          {
            result.n_iterations = failure.last_step;
          }
        if (result.length == 0.)
          {
            state.factor *= 0.25;
            ++state.n_failures;
          }
        else
          {
            state.n_failures = 0;
            if (slow || result.length < 0.1)
              state.factor *= 0.5;
            else if (result.length == 1.)
              state.factor = std::min(1., 2. * state.factor);
          }
        result.residual  = norm;
        result.reduction = norm / state.first_residual;
        result.seconds   = timer.wall_time();
        return result;
      }

      bool
      has_converged(const VectorType &u)
      {
        return present_residual(u) <=
               std::max(data.tolerance * state.first_residual,
                        data.absolute_tolerance);
      }

      const AgglomerationHandler<dim>        &handler;
      const SteadyIntegrands<dim>            &integrands;
      const PseudoTransientData               data;
      QuadraticReconstruction<dim>           *reconstruction;
      ArtificialViscosity<dim>               *viscosity;
      AgglomerationHandler<dim>               constants;
      std::unique_ptr<PointwiseOperator<dim>> op, with_time, on_constants,
        with_change, on_quadratic, with_quadratic_change, with_viscosity;
      /// Reconstructions of the last state, of that whose residual is known,
      /// and of a change, and results that are tested with quadratic functions.
      VectorType reconstructed, present, reconstructed_change, quadratic_result;
      /// Artificial viscosity.
      VectorType eps;
      VectorType residual, change, trial, trial_residual, difference, work,
        inverse_step, marks, per_cfl;
      MatrixType matrix;
      /// The same in float, for multigrid.
      SingleMatrix rounded;
      /// The one that is used keeps its order from step to step.
      std::tuple<LUSGS<MatrixType>,
                 LUSGS<MatrixType, float>,
                 BlockILU0<MatrixType>,
                 BlockILU0<MatrixType, float>,
                 Multigrid<MatrixType>,
                 Multigrid<SingleMatrix>>
                                          preconditioners;
      std::unique_ptr<MultigridHierarchy> hierarchy;
      PseudoTransientState                state;
      /// Norm of the residual, -1 if it is not known.
      double norm = -1.;
      /// Whether GMRES has not reached its tolerance in the present step.
      bool  slow = false;
      Timer timer;
    };



    template <int dim, typename VectorType, typename MatrixType>
    PseudoTransient<dim, VectorType, MatrixType>::PseudoTransient(
      const AgglomerationHandler<dim> &handler,
      const AssemblyParameters        &parameters,
      const SteadyIntegrands<dim>     &integrands,
      const PseudoTransientData       &data,
      QuadraticReconstruction<dim>    *reconstruction,
      ArtificialViscosity<dim>        *viscosity)
      : implementation(std::make_unique<Implementation>(
          handler, parameters, integrands, data, reconstruction, viscosity))
    {}



    template <int dim, typename VectorType, typename MatrixType>
    PseudoTransient<dim, VectorType, MatrixType>::~PseudoTransient() = default;



    template <int dim, typename VectorType, typename MatrixType>
    void
    PseudoTransient<dim, VectorType, MatrixType>::reinit(VectorType &u)
    {
      implementation->op->reinit(u);
    }



    template <int dim, typename VectorType, typename MatrixType>
    double
    PseudoTransient<dim, VectorType, MatrixType>::residual_norm(
      const VectorType &u)
    {
      return implementation->present_residual(u);
    }



    template <int dim, typename VectorType, typename MatrixType>
    bool
    PseudoTransient<dim, VectorType, MatrixType>::has_converged(
      const VectorType &u)
    {
      return implementation->has_converged(u);
    }



    template <int dim, typename VectorType, typename MatrixType>
    PseudoTransientStep
    PseudoTransient<dim, VectorType, MatrixType>::step(VectorType &u)
    {
      return implementation->step(u);
    }



    template <int dim, typename VectorType, typename MatrixType>
    void
    PseudoTransient<dim, VectorType, MatrixType>::solve(
      VectorType                                             &u,
      const std::function<bool(const PseudoTransientStep &)> &report)
    {
      const PseudoTransientData &data = implementation->data;
      PseudoTransientStep        last;
      const auto                 fail = [&](const std::string &reason) {
        std::ostringstream text;
        text << "The iteration to a steady state has not converged: " << reason
             << ". Step " << last.step << " had the CFL number " << last.cfl
             << " and left a residual of " << last.residual << ", "
             << last.reduction << " times the first one.";
        AssertThrow(false, ExcNotSteady(text.str()));
      };
      while (!has_converged(u))
        {
          if (state().n_steps >= data.max_steps)
            fail("there were " + std::to_string(data.max_steps) + " steps");
          last = step(u);
          if (report && !report(last))
            return;
          if (state().n_failures > data.max_failures)
            fail("there were " + std::to_string(state().n_failures) +
                 " failures in a row");
        }
    }



    template <int dim, typename VectorType, typename MatrixType>
    const PseudoTransientState &
    PseudoTransient<dim, VectorType, MatrixType>::state() const
    {
      return implementation->state;
    }



    template <int dim, typename VectorType, typename MatrixType>
    void
    PseudoTransient<dim, VectorType, MatrixType>::set_state(
      const PseudoTransientState &state)
    {
      implementation->state = state;
      implementation->norm  = -1.;
    }



    template class PseudoTransient<2,
                                   HostVector<double>,
                                   HostBlockMatrix<double>>;
    template class PseudoTransient<3,
                                   HostVector<double>,
                                   HostBlockMatrix<double>>;
    template class PseudoTransient<2,
                                   DeviceVector<double>,
                                   DeviceBlockMatrix<double>>;
    template class PseudoTransient<3,
                                   DeviceVector<double>,
                                   DeviceBlockMatrix<double>>;
  } // namespace Flow
} // namespace Tessella
