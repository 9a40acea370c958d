// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_incompressible_flow_h
#define tessella_flow_incompressible_flow_h

#include <deal.II/base/function.h>

#include <tessella/backends/assembly_parameters.h>
#include <tessella/flow/incompressible_conditions.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/host_vector.h>
#include <tessella/multigrid/multigrid.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace Tessella
{
  namespace Flow
  {
    /// Splitting methods of IncompressibleFlow.
    enum class SplittingMethod
    {
      dual_splitting,     ///< orders 1 to 3
      pressure_correction ///< orders 1 and 2
    };

    /// Temperature of IncompressibleFlow.
    struct TemperatureParameters
    {
      bool enabled = false;
      /// Diffusivity kappa, positive.
      double diffusivity = 1.;
      /// Thermal expansion beta, gravity g and reference temperature T_ref of
      /// the buoyancy - beta (T - T_ref) g, which is added to the force. With
      /// beta = 0 the flow does not feel the temperature. Errors of the
      /// convection are proportional to T - T_ref, see TemperatureConvection.
      double                expansion = 0.;
      std::array<double, 3> gravity   = {{0., 0., 0.}};
      double                reference = 0.;
      /// One condition for each boundary id.
      TemperatureConditions boundary;
    };

    struct IncompressibleParameters
    {
      SplittingMethod method = SplittingMethod::dual_splitting;
      /// Order in time. Methods start with lower orders, unless initialize()
      /// is given past velocities.
      unsigned int order     = 2;
      double       viscosity = 1.;
      /// Degrees of velocity and pressure; that of the pressure is k - 1 or k,
      /// at least 1.
      unsigned int             degree = 2, pressure_degree = 1;
      IncompressibleConditions boundary;
      TemperatureParameters    temperature;
      /// See Convection. The weaker dissipation, zeta = 1, is the default: it
      /// is that of the exact Riemann solver for the transported velocity.
      double zeta = 1., theta = 1.;
      /// Factors zeta_D and zeta_C of the penalties of divergence and of jumps
      /// of the normal velocity, and whether there is a penalty step.
      double divergence_factor = 1., continuity_factor = 1.;
      bool   penalty_step = true;
      /// chi of pressure_correction: 1, or 0 for the scheme without the
      /// rotational term.
      double rotational = 1.;
      /// Runge-Kutta steps of the convection in each interval of the multi-step
      /// method; 0: the convection is extrapolated.
      unsigned int n_subcycles = 0;
      /// Norm of a residual at which an iteration ends, relative to that of the
      /// right-hand side.
      double       tolerance      = 1e-8;
      unsigned int max_iterations = 200;
      /// Smoother of the multigrid method for the pressure. MultigridSmoother::
      /// ilu needs the fewest iterations and the least time, but each process
      /// factorises its own part: on several processes results then have other
      /// bits, and with chebyshev the same ones.
      MultigridSmoother pressure_smoother = MultigridSmoother::ilu;
      /// Unknowns of the pressure up to which the preconditioner, on one
      /// process, is the inverse of the matrix in single precision by nested
      /// dissection instead of a multigrid cycle, whose many short kernels a
      /// device starts one after the other; 0: never. The default value means
      /// 100,000 in two and 10,000 in three dimensions on a device, and 0 on
      /// the host.
      unsigned int direct_pressure_unknowns =
        dealii::numbers::invalid_unsigned_int;
      /// Quadrature on curved cells. The consistent one changes results by less
      /// than the error of the method and is much faster with mappings of
      /// degree 3 and more.
      CurvedQuadrature curved_quadrature = CurvedQuadrature::consistent;
      /// Backend::host; automatic, which is the same here; or cuda, with
      /// device_memory as the limit of the matrices and vectors of the flow;
      /// and the penalty of the interior penalty method.
      AssemblyParameters assembly;
    };

    /// Iterations and seconds of a step on this process.
    struct IncompressibleReport
    {
      unsigned int order = 0;
      double       step  = 0.;
      /// Iterations of velocity: those of all components together.
      unsigned int pressure_iterations = 0, velocity_iterations = 0,
                   penalty_iterations = 0, temperature_iterations = 0;
      double convection_seconds = 0., pressure_seconds = 0.,
             velocity_seconds = 0., penalty_seconds = 0.,
             temperature_seconds = 0.;
    };

    /**
     * Incompressible Navier-Stokes equations
     *   u_t + div(u (x) u) + grad p - nu Laplace(u) = f,   div u = 0
     * on polytopes by the interior penalty dG method in space, with velocities
     * of degree k and pressures of degree k - 1 or k, and splitting methods in
     * time with steps of any length.
     *
     *     IncompressibleFlow<dim> flow(triangulation, nullptr, strategy,
     *                                  functions, parameters);
     *     flow.initialize(0., velocity, pressure); // functions of deal.II
     *     while (flow.time() < end)
     *       flow.step(flow.cfl_step(0.5));
     *
     * <b>Space.</b> The operators are those of incompressible_operators.h.
     *
     * <b>Time.</b> With the coefficients gamma, alpha_i of BDF and beta_i of
     * extrapolation, bdf_coefficients(), the mass matrix M, convection N,
     * gradient G, divergence D and interior penalty A for -Laplace:
     * - pressure_correction (K. Goda, J. Comput. Phys. 30, 1979; with chi = 1
     *   the rotational form of L. Timmermans et al., Int. J. Numer. Meth.
     * Fluids 22, 1996): (gamma M/dt + nu A) u^ = M sum alpha_i u^{n-i}/dt - sum
     *   beta_i N(u^{n-i}) - G p^n + M f; A phi = -gamma/dt D u^; u = u^ -
     *   dt/gamma M^{-1} G phi; p = p^n + phi - chi nu M^{-1} D u^. On outflow
     *   parts phi is the change of the given pressure.
     * - dual_splitting (G. Karniadakis, M. Israeli, S. Orszag, J. Comput. Phys.
     *   97, 1991): u^ = (sum alpha_i u^{n-i} - dt M^{-1} sum beta_i N(u^{n-i})
     * + dt f)/gamma; A p = -gamma/dt D u^ with the Neumann data of
     *   PressureNeumannData, extrapolated with order 2 at most; u^^ = u^ -
     *   dt/gamma M^{-1} G p; (gamma M/dt + nu A) u = gamma/dt M u^^.
     * - Penalty step of N. Fehn, W. Wall, M. Kronbichler (Int. J. Numer. Meth.
     *   Fluids 88, 2018): DivergencePenalty with tau_D = dt zeta_D |u| h/(k+1),
     *   |u| being the mean over the polytope, and tau_C = dt zeta_C |u|, of the
     *   mean of both sides at each point of a facet.
     * - Subcycling (Y. Maday, A. Patera, E. Ronquist, J. Sci. Comput. 5, 1990):
     *   sum alpha_i u^{n-i} and the convection are replaced by the solution of
     *   du~/dt + div(w (x) u~) = 0, w being the polynomial through the past
     *   velocities. The sum is advanced as one vector: at t^{n-i} it gets the
     *   term alpha_i u^{n-i}. Its boundary values where the flow enters are
     *   the Taylor polynomials of the transport from g(t^{n-i}), of degree
     *   order - 1, since g itself would reduce the order. The Runge-Kutta
     *   method is that of Carpenter and Kennedy with five stages.
     *
     * <b>Temperature</b>, by option (TemperatureParameters): the equation
     *   T_t + div(u T) - kappa Laplace(T) = s
     * with T of degree k, TemperatureConvection and the interior penalty
     * method, and - beta (T - T_ref) g in f, after J. Boussinesq (Theorie
     * analytique de la chaleur, volume 2, 1903). The multi-step method is that
     * of the velocity, with explicit convection and implicit diffusion. T^{n+1}
     * is computed first, so that the momentum equation has the buoyancy of the
     * new time. Without given temperatures on the boundary the integral of T
     * changes by sources and fluxes through the boundary alone, up to rounding.
     * Subcycles transport T as they transport the velocity.
     *
     * <b>Solvers.</b> Conjugate gradients: for the pressure with multigrid in
     * single precision, on closed and periodic domains for the constants as
     * null space, so that the mean pressure is zero; for each component of the
     * velocity, whose matrices nu A are assembled once, with the inverse of the
     * diagonal blocks of gamma M/dt + nu A, which is updated when gamma/dt
     * changes; for the temperature the same; for the penalty step with the
     * inverses of its diagonal blocks.
     * First guesses are extrapolated from past solutions.
     *
     * <b>CUDA devices.</b> With Backend::cuda the vectors of steps stay in the
     * memory of the device, of which each process has its own, or processes
     * share one. Operators are compiled at run time with
     * FlowFunctions::device_code(); systems are set up on the host. On several
     * processes the pressure has no nested dissection.
     * One matrix has all components of the velocity, which are solved
     * together. velocity() and pressure() are copies then, which are valid
     * until the next step; cfl_step(), forces() and the like work on copies,
     * too.
     *
     * <b>Results</b> have the same bits for any number of threads, and of
     * processes if the smoother of the pressure is chebyshev, multigrid joins
     * no polytopes and these have the same numbers for each number of
     * processes, since those are the order of the unknowns of the coarsest
     * level, whose matrix is inverted.
     *
     * <b>Errors</b>, as exceptions with one sentence: parameters out of range,
     * a boundary id without a condition or a condition for an id that the mesh
     * does not have, a symmetry part that is not normal to an axis, a closed
     * domain with a net flux, a solver that does not converge, a velocity that
     * is not finite; a temperature that is asked for and not enabled;
     * Backend::cuda without a device, with functions without device code or
     * with matrices and vectors that do not fit into the device's memory.
     * An exception of step() leaves the state as it was.
     */
    template <int dim>
    class IncompressibleFlow
    {
    public:
      using VectorType = HostVector<double>;

      /// @p functions are the data; they, the triangulation and the mapping
      /// must outlive the object. Collective, as all functions below.
      IncompressibleFlow(const dealii::Triangulation<dim>   &triangulation,
                         const dealii::Mapping<dim>         *mapping,
                         const Agglomeration::Strategy<dim> &strategy,
                         const FlowFunctions<dim>           &functions,
                         const IncompressibleParameters     &parameters);
      ~IncompressibleFlow();

      const AgglomerationHandler<dim> &
      velocity_space() const;
      const AgglomerationHandler<dim> &
      pressure_space() const;
      /// Space of the vorticity: one component in 2-D, three in 3-D.
      const AgglomerationHandler<dim> &
      vorticity_space() const;
      /// Space of the temperature, of a component of the velocity.
      const AgglomerationHandler<dim> &
      temperature_space() const;

      /// Starts at @p time with projections of functions. The pressure may be
      /// null for zero, the temperature for the reference temperature.
      void
      initialize(const double                 time,
                 const dealii::Function<dim> &velocity,
                 const dealii::Function<dim> *pressure    = nullptr,
                 const dealii::Function<dim> *temperature = nullptr);
      /// The same, with the states of past times, so that the first step has
      /// the full order: the functions are evaluated at time, time - step and
      /// so on.
      void
      initialize_with_past(const double           time,
                           const double           step,
                           dealii::Function<dim> &velocity,
                           dealii::Function<dim> &pressure,
                           dealii::Function<dim> *temperature = nullptr);

      /// Starts at @p time with velocity, pressure and, if both have one,
      /// temperature of a flow of any degree on the same polytopes: the
      /// functions that both spaces have keep their coefficients, the others
      /// are zero.
      void
      initialize(const double time, const IncompressibleFlow &other);

      /// Advances the state by a step of length @p dt.
      void
      step(const double dt);

      /// Step by a CFL number: cfl_number min 1 / (|u| penalty factor) over the
      /// polytopes, with the factor and the largest |u| of each, and int |g|^2
      /// / int |g| where its part of the boundary has velocities g that exceed
      /// |u|. Infinite at rest.
      double
      cfl_step(const double cfl_number) const;
      /// CFL number of a step.
      double
      cfl_number(const double dt) const;

      double
      time() const;
      unsigned int
      n_steps() const;
      const VectorType &
      velocity() const;
      const VectorType &
      pressure() const;
      const VectorType &
      temperature() const;
      const IncompressibleReport &
      report() const;

      /// Projection of the curl of the velocity.
      void
      compute_vorticity(VectorType &vorticity) const;
      /// Kinetic energy int |u|^2 / 2 and enstrophy int |curl u|^2 / 2.
      std::pair<double, double>
      energy_and_enstrophy() const;
      /// Force of the flow on each part of the boundary, see BoundaryForce. The
      /// consistent one takes the velocity of the last solve with viscosity,
      /// the direct one that at the end of the step.
      std::map<dealii::types::boundary_id, std::vector<double>>
      forces(const bool consistent) const;
      /// Heat that comes in through each part of the boundary by conduction,
      /// divided by density and heat capacity, see HeatFlux. The mean Nusselt
      /// number of a wall is this times its distance from the other wall,
      /// divided by kappa, the difference of temperatures and its area.
      std::map<dealii::types::boundary_id, double>
      heat_fluxes(const bool consistent) const;
      /// Integral of the temperature over the domain.
      double
      temperature_integral() const;
      /// Mass error of each polytope of this process, in the order of their
      /// indices: the flux out of it, int {u} . n, with boundary data on
      /// velocity parts, divided by |u| |K|^{(dim - 1) / dim}, |K| being its
      /// volume and |u| the largest mean speed of all polytopes. Zero at rest.
      /// It costs an integral over the polytopes.
      std::vector<double>
      mass_errors() const;
      /// Largest modulus of these numbers on all processes.
      double
      mass_error() const;

      /// Writes the state with all histories, and continues from it with the
      /// same bits on the same number of processes. Errors of reading: those of
      /// read_time_state(), and a file of another method or order.
      void
      write_state(const std::string         &file_name,
                  const std::vector<double> &numbers = {}) const;
      /// Returns the numbers of write_state().
      std::vector<double>
      read_state(const std::string &file_name);

      /// Memory of the matrices and levels of the solvers, in bytes.
      std::size_t
      memory_consumption() const;

    private:
      struct Implementation;
      std::unique_ptr<Implementation> implementation;
    };
  } // namespace Flow
} // namespace Tessella

#endif
