// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "incompressible_scheme.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/device/cuda_device.h>
#include <tessella/device/device_memory.h>
#include <tessella/numerics/vector_tools.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <sstream>

#include "../operators/deferred_checks.h"

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      using namespace dealii;

      namespace
      {
        std::string
        value_text(const double value)
        {
          std::ostringstream text;
          text << value;
          return text.str();
        }

        /// Largest |u| at the quadrature points of a polytope.
        struct LargestSpeed
        {
          static constexpr bool point_values = true;

          template <int dim>
          double
          operator()(const PolytopeStencil<dim> &s, double *) const
          {
            double largest = 0.;
            for (unsigned int q = 0; q < s.n_points; ++q)
              {
                double square = 0.;
                for (int c = 0; c < dim; ++c)
                  square += s.value(q, c) * s.value(q, c);
                largest = std::max(largest, square);
              }
            return std::sqrt(largest);
          }
        };

        /// Integrals of |n_c| over parts of the boundary.
        template <int dim>
        struct NormalComponents
        {
          static constexpr int n_components          = dim;
          using Fields                               = FieldComponents<dim>;
          static constexpr unsigned int facet_input  = PointwiseRows::none,
                                        facet_output = PointwiseRows::values;
          template <typename U, typename R>
          void
          boundary_facet(const OperatorPoint<dim> &p, const U &, R &r) const
          {
            for (int c = 0; c < dim; ++c)
              r.value[c] = std::abs(p.normal[c]);
          }
        };
      } // namespace



      namespace
      {
        bool
        has(const IncompressibleConditions &boundary,
            const IncompressibleCondition   type)
        {
          for (unsigned int i = 0; i < boundary.n_conditions; ++i)
            if (boundary.type[i] == type)
              return true;
          return false;
        }
      } // namespace



      namespace
      {
        /// Bytes of device memory that the matrices, levels and vectors of a
        /// flow need at least on this process: blocks of polytopes and their
        /// neighbours in double precision for velocity, temperature and
        /// pressure, those of the pressure and of its smoother in single
        /// precision, inverses of diagonal blocks, and the vectors of a step.
        /// Coarser levels, kernels and lists of the mesh come on top.
        template <int dim>
        double
        needed_device_memory(const FlowSpaces<dim>          &spaces,
                             const IncompressibleParameters &parameters)
        {
          const auto &mesh           = spaces.scalar.polytopic_mesh();
          const auto &n_u            = spaces.scalar.polytopic_dofs().n_basis,
                     &n_p            = spaces.pressure.polytopic_dofs().n_basis;
          const bool has_temperature = parameters.temperature.enabled;
          double     of_u = 0., of_p = 0., diagonal = 0., entries = 0.;
          for (unsigned int k = 0; k < spaces.scalar.n_polytopes(); ++k)
            {
              double       u_row = n_u[k], p_row = n_p[k];
              unsigned int last = invalid_index;
              for (unsigned int i = mesh.polytope_interface_offset[k];
                   i < mesh.polytope_interface_offset[k + 1];
                   ++i)
                {
                  const unsigned int j =
                    mesh.neighbor(mesh.polytope_interface[i]);
                  // Two interfaces with one neighbour follow each other.
                  if (j == invalid_index || j == last)
                    continue;
                  last = j;
                  u_row += n_u[j];
                  p_row += n_p[j];
                }
              of_u += n_u[k] * u_row;
              of_p += n_p[k] * p_row;
              diagonal += double(n_u[k]) * n_u[k];
              entries += (dim + 0.25 * has_temperature) * n_u[k] + 0.5 * n_p[k];
            }
          // Components share the values of polytopes inside of the domain.
          const unsigned int n_matrices = 1 + has_temperature;
          // Each mass matrix has blocks and inverses, each matrix of a
          // DiffusionSolver two arrays of blocks and the inverses, and the
          // inverses of the penalty step couple all components.
          const double blocks =
            diagonal * (2. + 2. * has_temperature + 3. * n_matrices +
                        dim * dim * parameters.penalty_step);
          const double n_vectors = 20. + 2. * parameters.order;
          return 8. *
                   (n_matrices * of_u + of_p + blocks + n_vectors * entries) +
                 4. * 2. * of_p;
        }
      } // namespace



      template <int dim, typename VectorType>
      SplittingScheme<dim, VectorType>::SplittingScheme(
        const Triangulation<dim>           &triangulation,
        const Mapping<dim>                 *mapping,
        const Agglomeration::Strategy<dim> &strategy,
        const FlowFunctions<dim>           &functions,
        const IncompressibleParameters     &given)
        : FlowScheme<dim>(triangulation, mapping, strategy, functions, given)
        , has_outflow(
            has(parameters.boundary, IncompressibleCondition::outflow))
        , has_velocity(
            has(parameters.boundary, IncompressibleCondition::velocity))
        , u_op(spaces.velocity, parameters.assembly)
        , up_op({&spaces.velocity, &spaces.pressure}, 0, parameters.assembly)
        , pu_op({&spaces.pressure, &spaces.velocity}, 0, parameters.assembly)
        , p_op(spaces.pressure, parameters.assembly)
        , pw_op({&spaces.pressure, &spaces.vorticity()}, 0, parameters.assembly)
        , wu_op({&spaces.vorticity(), &spaces.velocity}, 0, parameters.assembly)
        , puuu_op({&spaces.pressure,
                   &spaces.velocity,
                   &spaces.velocity,
                   &spaces.velocity},
                  0,
                  parameters.assembly)
        , cu_op({&spaces.constant, &spaces.velocity},
                0,
                on_host(parameters.assembly))
        , c_op(spaces.constant, on_host(parameters.assembly))
        , force_op({&spaces.velocity, &spaces.pressure}, 0, parameters.assembly)
        , convection("Convection", ", FlowData", &functions)
        , gradient("PressureGradient", ", FlowData", &functions)
        , divergence("VelocityDivergence", ", FlowData", &functions)
        , viscous_data("ViscousBoundaryData", ", FlowData", &functions)
        , outflow_pressure("PressureBoundaryData", ", FlowData", &functions)
        , neumann_data("PressureNeumannData", ", FlowData", &functions)
        , convection_difference("ConvectionDifference")
        , curl("Vorticity")
        , force("Force", ", FlowData", &functions)
        , needed_memory(checked_device_memory())
        , velocity_mass(spaces.velocity)
        , pressure_mass(spaces.pressure)
        , vorticity_mass(spaces.vorticity())
        , polytopewise(spaces.velocity)
        , past_u(std::max(parameters.order, 2U) - 1)
        , past_n(std::max(parameters.order, 2U) - 1)
        , past_p(std::max(parameters.order, 2U) - 1)
      {
        // Every operator has one order of quadrature: on the velocity's space
        // it is exact for the convection, 3 k.
        const unsigned int order = std::max(parameters.degree, 2U);
        const auto         set   = [&](auto &integrand, const unsigned int n) {
          integrand.functor().boundary = parameters.boundary;
          integrand.set_coefficient_order(n);
        };
        const Data data{&functions};
        const auto set_with_data = [&](auto &integrand, const unsigned int n) {
          set(integrand, n);
          integrand.functor().data = data;
        };
        set_with_data(convection, order);
        set_with_data(viscous_data, order);
        set_with_data(gradient, 2);
        set_with_data(divergence, 2);
        set_with_data(outflow_pressure, order);
        set_with_data(data_flux, order);
        set_with_data(data_speed, 2);
        set_with_data(neumann_data, 2);
        set(convection_difference, order);
        force.functor().data = data;
        force.set_coefficient_order(order);
        curl.set_coefficient_order(0);
        convection.functor().zeta        = parameters.zeta;
        convection.functor().theta       = parameters.theta;
        viscous_data.functor().viscosity = neumann_data.functor().viscosity =
          parameters.viscosity;
        viscous_data.functor().penalty_constant =
          parameters.assembly.penalty.constant;
        outflow_pressure.functor().penalty_constant =
          pressure_penalty_constant(parameters);

        check_boundary_ids();
        pressure_solver =
          std::make_unique<PressureSolver<dim, VectorType>>(spaces.pressure,
                                                            parameters);
        velocity_solver = std::make_unique<DiffusionSolver<dim, VectorType>>(
          "velocity",
          spaces.scalar,
          spaces.velocity,
          parameters,
          parameters.viscosity,
          given_components());
        if (parameters.n_subcycles > 0)
          make_subcycles();
        if (parameters.temperature.enabled)
          heat_equation =
            std::make_unique<TemperatureEquation<dim, VectorType>>(spaces,
                                                                   functions,
                                                                   parameters);
        penalty_solver =
          std::make_unique<PenaltySolver<dim, VectorType>>(spaces.velocity,
                                                           spaces.constant,
                                                           parameters);
        cfl =
          std::make_unique<CFLSteps<dim>>(spaces.velocity,
                                          CFLLength::penalty,
                                          parameters.assembly.penalty.formula);
        u_op.reinit(u);
        p_op.reinit(p);
        for (VectorType *v : {&present_convection,
                              &work_u,
                              &terms_u,
                              &sum_u,
                              &rhs_u,
                              &next_u,
                              &viscous_u,
                              &next_viscous_u})
          v->reinit(u);
        for (VectorType *v :
             {&work_p, &terms_p, &next_p, &weak_divergence, &phi})
          v->reinit(p);
        if (on_device<VectorType>)
          {
            host_u.reinit(spaces.velocity.locally_owned_dofs(),
                          spaces.velocity.get_communicator());
            host_p.reinit(spaces.pressure.locally_owned_dofs(),
                          spaces.pressure.get_communicator());
            host_t.reinit(spaces.scalar.locally_owned_dofs(),
                          spaces.scalar.get_communicator());
          }
        wu_op.reinit(omega);
        wu_op.reinit(zero_omega);
      }



      template <int dim, typename VectorType>
      double
      SplittingScheme<dim, VectorType>::checked_device_memory() const
      {
        if (!on_device<VectorType>)
          return 0.;
        const double bytes = needed_device_memory(spaces, parameters);
        check_device_memory(spaces.scalar.get_communicator(),
                            bytes,
                            parameters.assembly.device_memory,
                            "The system of matrices and vectors of the flow",
                            "use a coarser mesh, a lower degree, more devices, "
                            "or the backend host");
        return bytes;
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::make_subcycles()
      {
        using Subcycles = typename decltype(subcycles)::element_type;
        subcycles       = std::make_unique<Subcycles>("Convection",
                                                "",
                                                spaces.velocity,
                                                spaces.velocity,
                                                functions,
                                                parameters,
                                                velocity_mass,
                                                has_velocity);
        subcycles->set_functors([&](auto &functor) {
          functor.boundary = parameters.boundary;
          functor.data     = Data{&functions};
          functor.theta    = parameters.theta;
        });
      }



      // ---- checks

      namespace
      {
        /// Throws unless each boundary id of the mesh has one condition, and
        /// there are no others. @p name is that of a condition.
        template <typename Type>
        void
        check_types(
          const BoundaryTypes<Type>                               &boundary,
          const std::map<types::boundary_id, std::vector<double>> &of_id,
          const std::string                                       &name)
        {
          for (const auto &id : of_id)
            AssertThrow(boundary.find(id.first) < boundary.n_conditions,
                        ExcMessage("Boundary id " + std::to_string(id.first) +
                                   " has no " + name +
                                   ": give one for each boundary id of the "
                                   "mesh."));
          for (unsigned int i = 0; i < boundary.n_conditions; ++i)
            {
              const std::string id = std::to_string(boundary.boundary_id[i]);
              AssertThrow(of_id.count(boundary.boundary_id[i]) > 0,
                          ExcMessage("There is a " + name +
                                     " for boundary id " + id +
                                     ", which the mesh does not have."));
              AssertThrow(boundary.find(boundary.boundary_id[i]) == i,
                          ExcMessage("Boundary id " + id +
                                     " has more than one " + name + "."));
            }
        }
      } // namespace



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::check_boundary_ids()
      {
        VectorType zero;
        p_op.reinit(zero);
        const auto of_id =
          p_op.template integrate_boundary<VectorType>(data_flux, {&zero});
        check_types(parameters.boundary, of_id, "boundary condition");
        if (parameters.temperature.enabled)
          check_types(parameters.temperature.boundary,
                      of_id,
                      "boundary condition of the temperature");
      }



      template <int dim, typename VectorType>
      std::vector<unsigned int>
      SplittingScheme<dim, VectorType>::symmetry_axes()
      {
        const IncompressibleConditions &boundary = parameters.boundary;
        std::vector<unsigned int>       result(boundary.n_conditions, 0);
        FunctorIntegrand<dim, NormalComponents<dim>> integrand;
        integrand.set_coefficient_order(std::max(parameters.degree, 2U));
        VectorType zero;
        u_op.reinit(zero);
        const auto of_id =
          u_op.template integrate_boundary<VectorType>(integrand, {&zero});
        for (unsigned int i = 0; i < boundary.n_conditions; ++i)
          if (boundary.type[i] == IncompressibleCondition::symmetry)
            {
              const std::vector<double> &n = of_id.at(boundary.boundary_id[i]);
              double                     sum = 0.;
              for (unsigned int c = 0; c < dim; ++c)
                {
                  sum += n[c];
                  if (n[c] > n[result[i]])
                    result[i] = c;
                }
              AssertThrow(n[result[i]] > (1. - 1e-10) * sum,
                          ExcMessage("The symmetry part with boundary id " +
                                     std::to_string(boundary.boundary_id[i]) +
                                     " is not normal to an axis."));
            }
        return result;
      }



      template <int dim, typename VectorType>
      std::vector<std::set<types::boundary_id>>
      SplittingScheme<dim, VectorType>::given_components()
      {
        const IncompressibleConditions &boundary = parameters.boundary;
        const std::vector<unsigned int> axes     = symmetry_axes();
        std::vector<std::set<types::boundary_id>> result(dim);
        for (unsigned int c = 0; c < dim; ++c)
          for (unsigned int i = 0; i < boundary.n_conditions; ++i)
            if (boundary.type[i] == IncompressibleCondition::velocity ||
                (boundary.type[i] == IncompressibleCondition::symmetry &&
                 axes[i] == c))
              result[c].insert(boundary.boundary_id[i]);
        return result;
      }



      template <int dim, typename VectorType>
      TemperatureEquation<dim, VectorType> &
      SplittingScheme<dim, VectorType>::heat() const
      {
        AssertThrow(heat_equation != nullptr,
                    ExcMessage("The flow has no temperature: set "
                               "TemperatureParameters::enabled."));
        return *heat_equation;
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::check_net_flux(const double t)
      {
        if (has_outflow || !has_velocity)
          return;
        data_flux.set_time(t);
        double sums[2] = {0., 0.};
        for (const bool modulus : {false, true})
          {
            data_flux.functor().modulus = modulus;
            for (const auto &id :
                 p_op.template integrate_boundary<VectorType>(data_flux, {&p}))
              sums[modulus] += id.second[0];
          }
        AssertThrow(std::abs(sums[0]) <= 1e-4 * sums[1],
                    ExcMessage(
                      "The flux of the velocity through the boundary of the "
                      "closed domain is " +
                      value_text(sums[0]) + " at time " + value_text(t) +
                      ", but must be zero: change the boundary data, or make a "
                      "part of the boundary an outflow."));
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::add_boundary_speeds(
        std::vector<double> &speeds)
      {
        if (!has_velocity)
          return;
        FlowVector zero, moments[2];
        c_op.reinit(zero);
        for (const bool squared : {false, true})
          {
            c_op.reinit(moments[squared]);
            data_speed.functor().squared = squared;
            residual(c_op, data_speed, time, {&zero}, moments[squared]);
          }
        for (unsigned int k = 0; k < speeds.size(); ++k)
          if (const double first = *(moments[0].begin() + k); first > 0.)
            speeds[k] = std::max(speeds[k], *(moments[1].begin() + k) / first);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::check_operators()
      {
        // Operators of the host have checked their results.
        if (!on_device<VectorType>)
          return;
        std::vector<PointwiseOperator<dim> *> all = penalty_solver->operators();
        all.insert(all.begin(),
                   {&u_op, &up_op, &pu_op, &p_op, &pw_op, &wu_op, &puuu_op});
        if (subcycles != nullptr)
          for (PointwiseOperator<dim> *op : subcycles->operators())
            all.push_back(op);
        if (heat_equation != nullptr)
          for (PointwiseOperator<dim> *op : heat_equation->operators())
            all.push_back(op);
        std::exception_ptr first;
        for (PointwiseOperator<dim> *op : all)
          try
            {
              op->check_finite();
            }
          catch (const ExceptionBase &)
            {
              if (first == nullptr)
                first = std::current_exception();
            }
        if (first != nullptr)
          std::rethrow_exception(first);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::check_finite(const Step  &s,
                                                     const double norm)
      {
        if (std::isfinite(norm))
          return;
        check_operators();
        AssertThrow(false,
                    ExcMessage("The velocity is not finite at time " +
                               value_text(s.end) +
                               ", after a step with the CFL "
                               "number " +
                               value_text(s.dt / cfl_step(1.)) +
                               ": take shorter steps."));
      }



      // ---- stages of a step

      template <int dim, typename VectorType>
      typename SplittingScheme<dim, VectorType>::Step
      SplittingScheme<dim, VectorType>::make_step(const double dt) const
      {
        Step s;
        s.dt    = dt;
        s.begin = time;
        s.end   = time + dt;
        s.order = std::min(parameters.order, past_u.size() + 1);
        s.lengths.assign(1, dt);
        s.past.assign(1, &u);
        for (unsigned int i = 0; i + 1 < s.order; ++i)
          {
            s.lengths.push_back(past_u.step(i));
            s.past.push_back(&past_u.value(i));
          }
        s.bdf           = bdf_coefficients(s.order, s.lengths);
        s.gamma_over_dt = s.bdf.gamma / dt;
        return s;
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::compute_convection(
        const double t, const VectorType &velocity, VectorType &result)
      {
        residual(u_op, convection, t, {&velocity}, result);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::add_force(const double t,
                                                  const double factor,
                                                  VectorType  &rhs)
      {
        if (!functions.has_force())
          return;
        residual(u_op, force, t, {&u}, terms_u);
        rhs.add(factor, terms_u);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::explicit_velocity(const Step &s,
                                                          VectorType &result)
      {
        VectorType &sum = sum_u;
        if (parameters.n_subcycles > 0)
          subcycles->run(s, s.past, sum);
        else
          set_to_sum(terms_of(s.order, s.bdf.alpha, s.past), sum);
        result = 0.;
        add_force(s.end, 1., result);
        if (heat_equation != nullptr)
          heat_equation->add_buoyancy(u, result);
        if (parameters.n_subcycles == 0)
          for (unsigned int i = 0; i < s.order; ++i)
            result.add(-s.bdf.beta[i],
                       i == 0 ? present_convection : past_n.value(i - 1));
        velocity_mass.apply_inverse(1. / s.gamma_over_dt, result);
        result.add(1. / s.bdf.gamma, sum);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::finish_convection()
      {
        // One check, which waits for a device: in the other stages solvers do.
        (subcycles != nullptr ? *subcycles->operators()[0] : u_op)
          .check_finite();
        report.convection_seconds += lap();
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::add_neumann_data(const Step &s,
                                                         VectorType &rhs)
      {
        if (!has_velocity)
          return;
        // The second extrapolation has order two at most.
        const unsigned int    order = std::min(s.order, 2U);
        const BDFCoefficients low =
          bdf_coefficients(order,
                           {s.lengths.begin(), s.lengths.begin() + order});
        VectorType &extrapolated = sum_u, &terms = terms_p;
        set_to_sum(terms_of(order, low.beta, s.past), extrapolated);
        vorticity(extrapolated, omega);
        neumann_data.functor().gamma_over_dt = s.gamma_over_dt;
        residual(pw_op, neumann_data, s.end, {&p, &omega}, terms);
        rhs += terms;
        if (s.order < 3 || parameters.n_subcycles > 0)
          return;
        auto &weight = convection_difference.functor().weight;
        for (unsigned int i = 0; i < 3; ++i)
          weight[i] = s.bdf.beta[i] - (i < order ? low.beta[i] : 0.);
        residual(puuu_op,
                 convection_difference,
                 s.end,
                 {&p, s.past[0], s.past[1], s.past[2]},
                 terms);
        rhs += terms;
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::add_outflow_pressure(
        const Step &s, const bool increment, VectorType &rhs)
      {
        if (!has_outflow)
          return;
        outflow_pressure.functor().outflow = {increment, s.begin};
        residual(p_op, outflow_pressure, s.end, {&p}, terms_p);
        rhs += terms_p;
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::project(const Step       &s,
                                                const VectorType &phi,
                                                const bool        increment,
                                                VectorType       &velocity)
      {
        gradient.functor().outflow = {increment, s.begin};
        residual(up_op, gradient, s.end, {&velocity, &phi}, work_u);
        velocity_mass.apply_inverse(-1. / s.gamma_over_dt, work_u);
        velocity += work_u;
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::add_last_change(const Step  &s,
                                                        const double factor,
                                                        VectorType &guess) const
      {
        if (past_u.size() == 0)
          return;
        const double ratio = factor * s.dt / past_u.step(0);
        guess.add(ratio, u);
        guess.add(-ratio, viscous_u);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::solve_velocity(const Step &s,
                                                       VectorType &rhs,
                                                       VectorType &velocity)
      {
        residual(u_op, viscous_data, s.end, {&u}, work_u);
        rhs += work_u;
        set_to_sum(terms_of(s.order, s.bdf.beta, s.past), velocity);
        add_last_change(s, -1., velocity);
        report.velocity_iterations =
          velocity_solver->solve(s.gamma_over_dt, rhs, velocity);
        next_viscous_u = velocity;
        report.velocity_seconds += lap();
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::dual_splitting_step(const Step &s)
      {
        explicit_velocity(s, next_u);
        finish_convection();
        divergence.functor().boundary_velocity = BoundaryVelocity::none;
        residual(pu_op, divergence, s.end, {&p, &next_u}, work_p);
        work_p *= -s.gamma_over_dt;
        add_neumann_data(s, work_p);
        add_outflow_pressure(s, false, work_p);
        next_p.equ(s.bdf.beta[0], p);
        for (unsigned int i = 1; i < s.order; ++i)
          next_p.add(s.bdf.beta[i], past_p.value(i - 1));
        report.pressure_iterations = pressure_solver->solve(work_p, next_p);
        project(s, next_p, false, next_u);
        report.pressure_seconds += lap();

        VectorType &rhs = rhs_u;
        rhs             = 0.;
        velocity_mass.vmult_add(s.gamma_over_dt, rhs, next_u);
        solve_velocity(s, rhs, next_u);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::pressure_correction_step(const Step &s)
      {
        explicit_velocity(s, next_u);
        VectorType &rhs = rhs_u;
        rhs             = 0.;
        velocity_mass.vmult_add(s.gamma_over_dt, rhs, next_u);
        gradient.functor().outflow = {false, s.begin};
        residual(up_op, gradient, s.begin, {&u, &p}, work_u);
        rhs -= work_u;
        finish_convection();
        solve_velocity(s, rhs, next_u);

        divergence.functor().boundary_velocity = BoundaryVelocity::given;
        residual(pu_op, divergence, s.end, {&p, &next_u}, work_p);
        weak_divergence = work_p;
        work_p *= -s.gamma_over_dt;
        add_outflow_pressure(s, true, work_p);
        // The last increment, changed in proportion to the length of the step.
        phi = 0.;
        if (past_p.size() > 0)
          {
            const double ratio = s.dt / past_p.step(0);
            phi.add(ratio, p);
            phi.add(-ratio, past_p.value(0));
          }
        report.pressure_iterations = pressure_solver->solve(work_p, phi);
        project(s, phi, true, next_u);
        next_p = p;
        next_p += phi;
        pressure_mass.apply_inverse(-parameters.rotational *
                                      parameters.viscosity,
                                    weak_divergence);
        next_p += weak_divergence;
        if (pressure_solver->has_null_space())
          pressure_solver->constants().project(next_p);
        report.pressure_seconds += lap();
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::penalty_step(const Step &s,
                                                     VectorType &velocity)
      {
        if (!parameters.penalty_step)
          return;
        penalty_solver->set_velocity(s.dt, velocity);
        VectorType &rhs = rhs_u;
        rhs             = 0.;
        velocity_mass.vmult_add(1., rhs, velocity);
        add_last_change(s, 1., velocity);
        report.penalty_iterations = penalty_solver->solve(rhs, velocity);
        report.penalty_seconds += lap();
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::vorticity(const VectorType &given,
                                                  VectorType       &result)
      {
        residual(wu_op, curl, time, {&zero_omega, &given}, result);
        vorticity_mass.apply_inverse(1., result);
      }



      template <int dim, typename VectorType>
      std::string
      SplittingScheme<dim, VectorType>::description() const
      {
        return std::string(parameters.method == SplittingMethod::dual_splitting
                             ? "dual splitting"
                             : "pressure correction") +
               " of order " + std::to_string(parameters.order) +
               ", pressure degree " +
               std::to_string(parameters.pressure_degree) +
               (heat_equation != nullptr ? ", with a temperature" : "");
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::initialize(
        const double         new_time,
        const Function<dim> &velocity_function,
        const Function<dim> *pressure_function,
        const Function<dim> *temperature_function)
      {
        time    = new_time;
        n_steps = 0;
        past_u.clear();
        past_n.clear();
        past_p.clear();
        p = 0.;
        project_function(spaces.velocity, velocity_function, u);
        viscous_u = u;
        if (pressure_function != nullptr)
          project_function(spaces.pressure, *pressure_function, p);
        if (pressure_solver->has_null_space())
          pressure_solver->constants().project(p);
        if (heat_equation != nullptr)
          heat_equation->initialize(temperature_function);
        state_changes();
        check_net_flux(time);
      }



      namespace
      {
        /// Takes the coefficients of the functions that both spaces have. The
        /// first functions of a polytope are those of the lower degree.
        void
        copy_common_functions(const PolytopicDoFs &from_dofs,
                              const FlowVector    &from,
                              const PolytopicDoFs &dofs,
                              const unsigned int   n_polytopes,
                              FlowVector          &to)
        {
          to = 0.;
          for (unsigned int k = 0; k < n_polytopes; ++k)
            for (unsigned int c = 0; c < dofs.n_components; ++c)
              std::copy_n(from.begin() + from_dofs.dof_offset[k] +
                            std::size_t(c) * from_dofs.n_basis[k],
                          std::min(from_dofs.n_basis[k], dofs.n_basis[k]),
                          to.begin() + dofs.dof_offset[k] +
                            std::size_t(c) * dofs.n_basis[k]);
        }
      } // namespace



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::initialize(const double     new_time,
                                                   FlowScheme<dim> &other)
      {
        const FlowSpaces<dim> &others = other.spaces;
        const unsigned int     n      = spaces.velocity.n_polytopes();
        AssertThrow(n == others.velocity.n_polytopes() &&
                      spaces.velocity.polytope_of_cell() ==
                        others.velocity.polytope_of_cell(),
                    ExcMessage(
                      "A flow starts from another one only on the same "
                      "polytopes."));
        initialize(new_time,
                   Functions::ZeroFunction<dim>(dim),
                   nullptr,
                   nullptr);
        FlowVector velocity_copy, pressure_copy;
        velocity_copy.reinit(spaces.velocity.locally_owned_dofs(),
                             spaces.velocity.get_communicator());
        pressure_copy.reinit(spaces.pressure.locally_owned_dofs(),
                             spaces.pressure.get_communicator());
        copy_common_functions(others.velocity.polytopic_dofs(),
                              other.velocity(),
                              spaces.velocity.polytopic_dofs(),
                              n,
                              velocity_copy);
        copy_common_functions(others.pressure.polytopic_dofs(),
                              other.pressure(),
                              spaces.pressure.polytopic_dofs(),
                              n,
                              pressure_copy);
        assign(velocity_copy, u);
        assign(pressure_copy, p);
        if (heat_equation != nullptr && other.parameters.temperature.enabled)
          {
            FlowVector copy;
            copy.reinit(spaces.scalar.locally_owned_dofs(),
                        spaces.scalar.get_communicator());
            copy_common_functions(others.scalar.polytopic_dofs(),
                                  other.temperature(),
                                  spaces.scalar.polytopic_dofs(),
                                  n,
                                  copy);
            assign(copy, heat_equation->present);
          }
        state_changes();
        viscous_u = u;
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::initialize_with_past(
        const double   new_time,
        const double   length,
        Function<dim> &velocity_function,
        Function<dim> &pressure_function,
        Function<dim> *temperature_function)
      {
        const auto set_time = [&](const double t) {
          velocity_function.set_time(t);
          pressure_function.set_time(t);
          if (temperature_function != nullptr)
            temperature_function->set_time(t);
        };
        set_time(new_time);
        initialize(new_time,
                   velocity_function,
                   &pressure_function,
                   temperature_function);
        for (unsigned int i = parameters.order - 1; i > 0; --i)
          {
            const double t = new_time - i * length;
            set_time(t);
            VectorType before_u(u), before_p(p), n(u);
            project_function(spaces.velocity, velocity_function, before_u);
            project_function(spaces.pressure, pressure_function, before_p);
            if (pressure_solver->has_null_space())
              pressure_solver->constants().project(before_p);
            compute_convection(t, before_u, n);
            past_u.push(length, before_u);
            past_n.push(length, n);
            past_p.push(length, before_p);
            if (heat_equation != nullptr)
              heat_equation->add_past(t,
                                      length,
                                      before_u,
                                      temperature_function);
          }
        set_time(new_time);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::step(const double dt)
      {
        check_step(dt);

        report = IncompressibleReport();
        lap();
        const auto s = make_step(dt);
        report.order = s.order;
        report.step  = dt;
        check_net_flux(s.end);
        double norm = 0.;
        try
          {
            // A device would wait for the check of each operator.
            const Tessella::internal::DeferredChecks deferred;
            if (parameters.n_subcycles == 0)
              compute_convection(time, u, present_convection);
            report.convection_seconds += lap();
            if (heat_equation != nullptr)
              {
                // First, so that the force has the new temperature.
                report.temperature_iterations = heat_equation->solve(s);
                report.temperature_seconds    = lap();
              }
            if (parameters.method == SplittingMethod::dual_splitting)
              dual_splitting_step(s);
            else
              pressure_correction_step(s);
            penalty_step(s, next_u);
            norm = next_u.linfty_norm() + next_p.linfty_norm();
            if (heat_equation != nullptr)
              norm += heat_equation->next.linfty_norm();
          }
        catch (const ExceptionBase &)
          {
            check_operators();
            // Solvers do not converge if vectors are not finite.
            check_finite(s,
                         next_u.l2_norm() + next_p.l2_norm() + rhs_u.l2_norm() +
                           work_p.l2_norm());
            throw;
          }
        check_finite(s, norm);
        past_u.push(dt, u);
        past_n.push(dt, present_convection);
        past_p.push(dt, p);
        if (heat_equation != nullptr)
          heat_equation->accept(dt);
        u         = next_u;
        p         = next_p;
        viscous_u = next_viscous_u;
        time      = s.end;
        ++n_steps;
        state_changes();
      }



      template <int dim, typename VectorType>
      double
      SplittingScheme<dim, VectorType>::cfl_step(const double number)
      {
        const typename FlowVector::Base &vector = velocity();
        std::vector<double>              speeds =
          polytopewise.evaluate(LargestSpeed(), vector);
        add_boundary_speeds(speeds);
        return cfl->smallest(number, speeds);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::state_changes()
      {
        host_u_is_present = host_p_is_present = host_t_is_present = false;
      }



      template <int dim, typename VectorType>
      const FlowVector &
      SplittingScheme<dim, VectorType>::velocity()
      {
        if (host_u_is_present)
          return host_u;
        host_u_is_present = on_device<VectorType>;
        return to_host(u, host_u);
      }



      template <int dim, typename VectorType>
      const FlowVector &
      SplittingScheme<dim, VectorType>::pressure()
      {
        if (host_p_is_present)
          return host_p;
        host_p_is_present = on_device<VectorType>;
        return to_host(p, host_p);
      }



      template <int dim, typename VectorType>
      const FlowVector &
      SplittingScheme<dim, VectorType>::temperature()
      {
        const VectorType &t = heat().present;
        if (host_t_is_present)
          return host_t;
        host_t_is_present = on_device<VectorType>;
        return to_host(t, host_t);
      }



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::compute_vorticity(FlowVector &result)
      {
        vorticity(u, omega);
        result.reinit(spaces.vorticity().locally_owned_dofs(),
                      spaces.vorticity().get_communicator());
        if (on_device<VectorType>)
          to_host(omega, result);
        else
          result = to_host(omega, result);
      }



      template <int dim, typename VectorType>
      std::size_t
      SplittingScheme<dim, VectorType>::memory_consumption() const
      {
        return pressure_solver->memory_consumption() +
               velocity_solver->memory_consumption() +
               (heat_equation != nullptr ? heat_equation->memory_consumption()
                                         : 0);
      }



      template <int dim, typename VectorType>
      std::pair<double, double>
      SplittingScheme<dim, VectorType>::energy_and_enstrophy()
      {
        FunctorIntegrand<dim, EnergyAndEnstrophy<dim>> integrand;
        integrand.set_coefficient_order(std::max(parameters.degree, 2U));
        const std::vector<double> sums =
          u_op.template integrate_volume<VectorType>(integrand, {&u});
        return {sums[0], sums[1]};
      }



      template <int dim, typename VectorType>
      std::map<types::boundary_id, std::vector<double>>
      SplittingScheme<dim, VectorType>::forces(const bool consistent)
      {
        FunctorIntegrand<dim, BoundaryForce<dim, Data>> integrand;
        auto                                           &f = integrand.functor();
        f.convection       = convection.functor();
        f.viscosity        = parameters.viscosity;
        f.penalty_constant = parameters.assembly.penalty.constant;
        f.consistent       = consistent;
        integrand.set_time(time);
        integrand.set_coefficient_order(std::max(parameters.degree, 2U));
        return force_op.template integrate_boundary<VectorType>(
          integrand, {consistent ? &viscous_u : &u, &p});
      }



      template <int dim, typename VectorType>
      std::map<types::boundary_id, double>
      SplittingScheme<dim, VectorType>::heat_fluxes(const bool consistent)
      {
        return heat().heat_fluxes(time, consistent);
      }



      template <int dim, typename VectorType>
      double
      SplittingScheme<dim, VectorType>::temperature_integral()
      {
        return heat().integral();
      }



      template <int dim, typename VectorType>
      std::vector<double>
      SplittingScheme<dim, VectorType>::mass_errors()
      {
        FunctorIntegrand<dim, VelocityDivergence<dim, Data>> integrand(
          divergence.functor());
        integrand.functor().boundary_velocity = BoundaryVelocity::given;
        integrand.set_coefficient_order(2);
        FlowVector flux, zero;
        cu_op.reinit(flux);
        cu_op.reinit(zero);
        residual(cu_op, integrand, time, {&zero, &velocity()}, flux);
        const std::vector<double> speeds = penalty_solver->mean_speeds(u);
        const auto               &space  = spaces.constant;
        double                    speed  = 0.;
        for (const double s : speeds)
          speed = std::max(speed, s);
        speed = Utilities::MPI::max(speed, space.get_communicator());
        std::vector<double> result(speeds.size(), 0.);
        if (speed > 0.)
          for (unsigned int k = 0; k < result.size(); ++k)
            result[k] =
              *(flux.begin() + k) * std::sqrt(space.bounding_box(k).volume()) /
              (speed *
               std::pow(space.polytopic_mesh().measure[k], (dim - 1.) / dim));
        return result;
      }



      // ---- checkpoints: pressures and temperatures are stored as the first
      // component of a velocity, since a file has vectors of one space

      namespace
      {
        /// Copies scalars to the first component of velocities, whose others
        /// become zero.
        template <int dim, typename VectorType>
        void
        store_as_velocities(const FlowSpaces<dim>                 &spaces,
                            const AgglomerationHandler<dim>       &handler,
                            const std::vector<const VectorType *> &scalars,
                            std::vector<VectorType>               &result)
        {
          const PolytopicDoFs &dofs      = spaces.velocity.polytopic_dofs(),
                              &of_scalar = handler.polytopic_dofs();
          FlowVector velocity, copy;
          velocity.reinit(spaces.velocity.locally_owned_dofs(),
                          spaces.velocity.get_communicator());
          copy.reinit(handler.locally_owned_dofs(), handler.get_communicator());
          for (unsigned int i = 0; i < scalars.size(); ++i)
            {
              const FlowVector &scalar = to_host(*scalars[i], copy);
              for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
                std::copy_n(scalar.begin() + of_scalar.dof_offset[k],
                            of_scalar.n_basis[k],
                            velocity.begin() + dofs.dof_offset[k]);
              assign(velocity, result[i]);
            }
        }

        /// The first component of velocity @p from as a scalar of @p handler.
        template <int dim, typename VectorType>
        void
        restore_from_velocity(const FlowSpaces<dim>           &spaces,
                              const AgglomerationHandler<dim> &handler,
                              const VectorType                &from,
                              VectorType                      &result)
        {
          const PolytopicDoFs &dofs      = spaces.velocity.polytopic_dofs(),
                              &of_scalar = handler.polytopic_dofs();
          FlowVector copy, scalar;
          copy.reinit(spaces.velocity.locally_owned_dofs(),
                      spaces.velocity.get_communicator());
          scalar.reinit(handler.locally_owned_dofs(),
                        handler.get_communicator());
          const FlowVector &velocity = to_host(from, copy);
          for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
            std::copy_n(velocity.begin() + dofs.dof_offset[k],
                        of_scalar.n_basis[k],
                        scalar.begin() + of_scalar.dof_offset[k]);
          assign(scalar, result);
        }

        /// The present value of a quantity and its past ones.
        template <typename VectorType>
        std::vector<const VectorType *>
        with_past(const VectorType              &present,
                  const TimeHistory<VectorType> &past)
        {
          std::vector<const VectorType *> result(1, &present);
          for (unsigned int i = 0; i < past.size(); ++i)
            result.push_back(&past.value(i));
          return result;
        }
      } // namespace



      template <int dim, typename VectorType>
      void
      SplittingScheme<dim, VectorType>::write_state(
        const std::string &file_name, const std::vector<double> &numbers)
      {
        TimeState state;
        state.time    = time;
        state.n_steps = n_steps;
        state.method  = description();
        state.numbers = numbers;
        // The latest state first: velocities, convections, pressures.
        std::vector<const VectorType *> vectors{&u};
        store_history(past_u, state, vectors);
        // Subcycling needs no convections, but a run that goes on without it
        // does.
        TimeHistory<VectorType> convections(past_n.max_size());
        if (parameters.n_subcycles > 0)
          {
            std::vector<double> times(1, time);
            for (unsigned int i = 0; i < past_u.size(); ++i)
              times.push_back(times.back() - past_u.step(i));
            VectorType n(u);
            for (unsigned int i = past_u.size(); i > 0; --i)
              {
                compute_convection(times[i], past_u.value(i - 1), n);
                convections.push(past_u.step(i - 1), n);
              }
          }
        store_history(parameters.n_subcycles > 0 ? convections : past_n,
                      state,
                      vectors);
        const unsigned int      n = past_u.size();
        std::vector<VectorType> pressures(n + 1, u),
          temperatures(heat_equation != nullptr ? 2 * n + 1 : 0, u);
        store_as_velocities(spaces,
                            spaces.pressure,
                            with_past(p, past_p),
                            pressures);
        for (const VectorType &pressure : pressures)
          vectors.push_back(&pressure);
        vectors.push_back(&viscous_u);
        // Then temperatures and their convections.
        if (heat_equation != nullptr)
          {
            auto scalars =
              with_past(heat_equation->present, heat_equation->past);
            for (unsigned int i = 0; i < n; ++i)
              scalars.push_back(&heat_equation->past_n.value(i));
            store_as_velocities(spaces, spaces.scalar, scalars, temperatures);
          }
        for (const VectorType &temperature : temperatures)
          vectors.push_back(&temperature);
        write_time_state(file_name, spaces.velocity, state, vectors);
      }



      template <int dim, typename VectorType>
      std::vector<double>
      SplittingScheme<dim, VectorType>::read_state(const std::string &file_name)
      {
        std::vector<VectorType> vectors;
        const TimeState         state =
          read_time_state(file_name, spaces.velocity, u, vectors);
        AssertThrow(state.method == description(),
                    ExcMessage("The checkpoint '" + file_name +
                               "' was written by " + state.method +
                               ", but this run uses " + description() +
                               ": choose the method, order and degrees of the "
                               "checkpoint."));
        const unsigned int n                 = state.history_steps.size();
        const unsigned int first_temperature = 3 * n + 3;
        AssertThrow(vectors.size() ==
                      first_temperature +
                        (heat_equation != nullptr ? 2 * n + 1 : 0),
                    ExcMessage("The checkpoint '" + file_name +
                               "' was not written by an incompressible flow."));
        std::vector<VectorType> pressures(n + 1, p);
        for (unsigned int i = 0; i <= n; ++i)
          restore_from_velocity(spaces,
                                spaces.pressure,
                                vectors[1 + 2 * n + i],
                                pressures[i]);
        if (heat_equation != nullptr)
          {
            std::vector<VectorType> scalars(2 * n + 1, heat_equation->present);
            for (unsigned int i = 0; i < scalars.size(); ++i)
              restore_from_velocity(spaces,
                                    spaces.scalar,
                                    vectors[first_temperature + i],
                                    scalars[i]);
            restore_history(state, scalars, 1, heat_equation->past);
            restore_history(state, scalars, 1 + n, heat_equation->past_n);
            heat_equation->present = scalars[0];
          }
        restore_history(state, vectors, 1, past_u);
        restore_history(state, vectors, 1 + n, past_n);
        restore_history(state, pressures, 1, past_p);
        u         = vectors[0];
        viscous_u = vectors[first_temperature - 1];
        p         = pressures[0];
        time      = state.time;
        n_steps   = state.n_steps;
        state_changes();
        return state.numbers;
      }



      template <int dim>
      std::unique_ptr<FlowScheme<dim>>
      make_flow_scheme(const Triangulation<dim>           &triangulation,
                       const Mapping<dim>                 *mapping,
                       const Agglomeration::Strategy<dim> &strategy,
                       const FlowFunctions<dim>           &functions,
                       const IncompressibleParameters     &parameters)
      {
        if (parameters.assembly.backend != Backend::cuda)
          return std::make_unique<SplittingScheme<dim, HostVector<double>>>(
            triangulation, mapping, strategy, functions, parameters);
        AssertThrow(!functions.device_code().empty(),
                    ExcMessage("The boundary values of the flow have no code "
                               "for a CUDA device: take the backend host."));
        // Before the first vector, which is on the device of this process.
        const MPI_Comm communicator = triangulation.get_communicator();
        const int      device       = parameters.assembly.device;
        if (device >= 0 || Utilities::MPI::n_mpi_processes(communicator) > 1)
          choose_cuda_device(communicator, device);
        return std::make_unique<SplittingScheme<dim, DeviceVector<double>>>(
          triangulation, mapping, strategy, functions, parameters);
      }



#define INSTANTIATE(dim)                                      \
  template std::unique_ptr<FlowScheme<dim>> make_flow_scheme( \
    const Triangulation<dim> &,                               \
    const Mapping<dim> *,                                     \
    const Agglomeration::Strategy<dim> &,                     \
    const FlowFunctions<dim> &,                               \
    const IncompressibleParameters &);
      INSTANTIATE(2)
      INSTANTIATE(3)
#undef INSTANTIATE
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella
