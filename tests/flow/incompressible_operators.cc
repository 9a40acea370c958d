// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Operators of incompressible flow against the slow operator, whose loop uses
// PolytopeValues; adjointness, conservation, polynomial flows.

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/numerics/vector_tools.h>

#include "../messages.h"
#include "../operators/pointwise.h"
#include "incompressible.h"

using namespace Tessella;
using Flow::IncompressibleCondition;

/// Velocity of degree k, pressure of degree k - 1, a scalar of degree 0, and a
/// space of the vorticity, on the same polytopes.
template <int dim>
struct Spaces
{
  Spaces(const std::string     &mesh,
         const std::string     &agglomeration,
         const unsigned int     k,
         const bool             hp         = false,
         const CurvedQuadrature quadrature = CurvedQuadrature::exact)
    : mapping(3)
  {
    make_mesh(mesh, triangulation);
    for (auto *handler : {&velocity, &pressure, &constant, &vorticity})
      {
        *handler = std::make_unique<AgglomerationHandler<dim>>(
          triangulation, mesh == "curved" ? &mapping : nullptr);
        (*handler)->agglomerate(make_strategy<dim>(agglomeration));
        (*handler)->set_curved_quadrature(quadrature);
      }
    distribute(*velocity, k, hp, dim);
    distribute(*pressure, k - 1, hp, 1);
    distribute(*constant, 0, false, 1);
    distribute(*vorticity, k, hp, Flow::n_vorticity<dim>);
    set_field(*velocity, {0.4, 0.2, -0.3}, 0.6, u);
    set_field(*velocity, {-0.2, 0.5, 0.1}, 0.6, w);
    set_field(*velocity, {0.1, -0.3, 0.2}, 0.6, z);
    set_field(*pressure, {0.3}, 0.7, p);
    set_field(*constant, {0.8}, 0.1, tau);
    set_field(*vorticity, {0.3, 0.2, 0.1}, 0.7, omega);
  }
  const MappingQ<dim>                        mapping;
  Triangulation<dim>                         triangulation;
  std::unique_ptr<AgglomerationHandler<dim>> velocity, pressure, constant,
    vorticity;
  Vector<double> u, w, z, p, tau, omega;
};

template <int dim, typename F>
Vector<double>
residual(const Handlers<dim>                       &handlers,
         const F                                   &f,
         const std::vector<const Vector<double> *> &fields,
         const unsigned int                         order = 6)
{
  FunctorIntegrand<dim, F> integrand(f);
  integrand.set_coefficient_order(order);
  PointwiseOperator<dim> op(handlers, 0, Comparison<dim, F>::host());
  Vector<double>         r;
  op.reinit(r);
  op.template residual<Vector<double>>(integrand, fields, r);
  return r;
}

/// All functors, their tangents and Jacobians.
template <int dim>
void
test_against_reference(const std::string &mesh,
                       const std::string &agglomeration,
                       const bool         hp)
{
  using Data             = PolynomialFlow<dim>;
  const std::string name = std::to_string(dim) + "-D, " + mesh;
  Spaces<dim>       s(mesh, agglomeration, 2, hp);
  Data              data;
  data.moving         = 0.7;
  const auto boundary = all_conditions();

  Flow::Convection<dim, Data> convection;
  convection.boundary = boundary;
  convection.data     = data;
  for (const double zeta : {1., 2.})
    {
      convection.zeta = zeta;
      compare<dim>(name + ", convection, zeta " + std::to_string(int(zeta)),
                   {s.velocity.get()},
                   0,
                   convection,
                   {s.u},
                   2);
    }
  Flow::Convection<dim, Data, true> transport;
  transport.boundary = boundary;
  transport.data     = data;
  transport.times    = {2, {1.3, -0.4, 0.}, {0.2, 0.1, 0.}};
  compare<dim>(name + ", transport",
               {s.velocity.get(), s.velocity.get()},
               0,
               transport,
               {s.u, s.w},
               2);
  Flow::Convection<dim, Data, true, true> transport_with_values;
  transport_with_values.boundary = boundary;
  transport_with_values.data     = data;
  transport_with_values.times    = transport.times;
  compare<dim>(name + ", transport with boundary values",
               {s.velocity.get(), s.velocity.get(), s.velocity.get()},
               0,
               transport_with_values,
               {s.u, s.w, s.z},
               2);
  compare<dim>(name + ", derivative along a velocity",
               {s.velocity.get(), s.velocity.get()},
               0,
               Flow::DerivativeAlong<dim>(),
               {s.u, s.w},
               2);
  Flow::PressureGradient<dim, Data> gradient;
  gradient.boundary          = boundary;
  gradient.data              = data;
  gradient.outflow.increment = true;
  gradient.outflow.old_time  = 0.1;
  compare<dim>(name + ", gradient",
               {s.velocity.get(), s.pressure.get()},
               0,
               gradient,
               {s.u, s.p});
  Flow::VelocityDivergence<dim, Data> divergence;
  divergence.boundary = boundary;
  divergence.data     = data;
  compare<dim>(name + ", divergence",
               {s.pressure.get(), s.velocity.get()},
               1,
               divergence,
               {s.p, s.u});
  Flow::DivergencePenalty<dim> penalty;
  penalty.continuity_factor = 0.4;
  compare<dim>(name + ", penalty",
               {s.velocity.get(), s.velocity.get(), s.constant.get()},
               0,
               penalty,
               {s.u, s.w, s.tau});
  Flow::ViscousBoundaryData<dim, Data> viscous;
  viscous.boundary  = boundary;
  viscous.data      = data;
  viscous.viscosity = 0.3;
  compare<dim>(name + ", viscous data", {s.velocity.get()}, 0, viscous, {s.u});
  Flow::PressureBoundaryData<dim, Data> outflow;
  outflow.boundary = boundary;
  outflow.data     = data;
  compare<dim>(name + ", pressure data", {s.pressure.get()}, 0, outflow, {s.p});
  Flow::PressureNeumannData<dim, Data> neumann;
  neumann.boundary      = boundary;
  neumann.data          = data;
  neumann.viscosity     = 0.3;
  neumann.gamma_over_dt = 1.7;
  compare<dim>(name + ", Neumann data",
               {s.pressure.get(), s.vorticity.get()},
               1,
               neumann,
               {s.p, s.omega});
  Flow::ConvectionDifference<dim> difference;
  difference.boundary  = boundary;
  difference.weight[0] = 1.;
  difference.weight[1] = -1.5;
  difference.weight[2] = 0.5;
  compare<dim>(
    name + ", difference of convection",
    {s.pressure.get(), s.velocity.get(), s.velocity.get(), s.velocity.get()},
    1,
    difference,
    {s.p, s.u, s.w, s.z});
  compare<dim>(name + ", vorticity",
               {s.vorticity.get(), s.velocity.get()},
               0,
               Flow::Vorticity<dim>(),
               {s.omega, s.u});
}



/// v . G p = - p . D v for homogeneous data, entry by entry.
template <int dim>
void
test_adjoint(const std::string     &mesh,
             const std::string     &agglomeration,
             const CurvedQuadrature quadrature = CurvedQuadrature::exact)
{
  const std::string name =
    std::to_string(dim) + "-D, " + mesh +
    (quadrature == CurvedQuadrature::exact ? "" : ", consistent quadrature");
  Spaces<dim>                 s(mesh, agglomeration, 2, false, quadrature);
  Flow::PressureGradient<dim> gradient;
  gradient.boundary = all_conditions();
  Flow::VelocityDivergence<dim> divergence;
  divergence.boundary  = gradient.boundary;
  const unsigned int n = s.velocity->n_dofs(), m = s.pressure->n_dofs();
  FullMatrix<double> G(n, m), D(m, n);
  Vector<double>     u(n), p(m);
  for (unsigned int j = 0; j < m; ++j)
    {
      p                           = 0.;
      p(j)                        = 1.;
      const Vector<double> column = residual<dim>(
        {s.velocity.get(), s.pressure.get()}, gradient, {&u, &p}, 0);
      for (unsigned int i = 0; i < n; ++i)
        G(i, j) = column(i);
    }
  p = 0.;
  for (unsigned int j = 0; j < n; ++j)
    {
      u                           = 0.;
      u(j)                        = 1.;
      const Vector<double> column = residual<dim>(
        {s.pressure.get(), s.velocity.get()}, divergence, {&p, &u}, 0);
      for (unsigned int i = 0; i < m; ++i)
        D(i, j) = column(i);
    }
  double largest = 0., size = 0.;
  for (unsigned int i = 0; i < n; ++i)
    for (unsigned int j = 0; j < m; ++j)
      {
        largest = std::max(largest, std::abs(G(i, j) + D(j, i)));
        size    = std::max(size, std::abs(G(i, j)));
      }
  check_below(name + ", G = -D^T", largest / size, 1e-14);
}



/// Function of a member of PolynomialFlow.
template <int dim, typename Member>
class Exact : public Function<dim>
{
public:
  Exact(const unsigned int n, const Member &member)
    : Function<dim>(n)
    , member(member)
  {}
  double
  value(const Point<dim> &x, const unsigned int c) const override
  {
    OperatorPoint<dim> p = {};
    for (int d = 0; d < dim; ++d)
      p.x[d] = x[d];
    double u[3];
    member(p, u);
    return u[c];
  }

private:
  const Member member;
};

template <int dim, typename Member>
void
project(const AgglomerationHandler<dim> &handler,
        const Member                    &member,
        Vector<double>                  &u)
{
  u.reinit(handler.n_dofs());
  Tessella::VectorTools::project(
    handler, Exact<dim, Member>(handler.n_components(), member), u);
}

/// Convection or pressure gradient as a force.
template <int dim>
struct AsForce
{
  PolynomialFlow<dim> flow;
  bool                convection = true;

  void
  force(const OperatorPoint<dim> &p, double *f) const
  {
    if (convection)
      flow.convection(p, f);
    else
      flow.pressure_gradient(p, f);
  }
};

/// Polynomial flows are reproduced; a wrong sign or factor is not.
template <int dim>
void
test_polynomials(const std::string &mesh, const std::string &agglomeration)
{
  using Data             = PolynomialFlow<dim>;
  const std::string name = std::to_string(dim) + "-D, " + mesh + ", ";
  Spaces<dim>       s(mesh, agglomeration, 3);
  const Data        data;
  project(
    *s.velocity,
    [&](const OperatorPoint<dim> &p, double *u) { data.velocity(p, u); },
    s.u);
  project(
    *s.pressure,
    [&](const OperatorPoint<dim> &p, double *u) { *u = data.pressure(p); },
    s.p);
  // The flow leaves through the part with id 1.
  const auto boundary = velocity_conditions(mesh == "curved" ? 7 : 1);
  const auto compare_with_force =
    [&](const std::string &what, Vector<double> &r, const bool convection) {
      Flow::Force<dim, AsForce<dim>> force;
      force.data.convection = convection;
      const Vector<double> f =
        residual<dim>({s.velocity.get()}, force, {&s.u}, 8);
      r -= f;
      check_below(name + what, r.linfty_norm() / f.linfty_norm(), 1e-12);
    };
  for (const double zeta : {1., 2.})
    {
      Flow::Convection<dim, Data> convection;
      convection.boundary = boundary;
      convection.zeta     = zeta;
      Vector<double> r =
        residual<dim>({s.velocity.get()}, convection, {&s.u}, 8);
      compare_with_force("convection, zeta " + std::to_string(int(zeta)),
                         r,
                         true);
    }
  Flow::PressureGradient<dim, Data> gradient;
  gradient.boundary = boundary;
  Vector<double> r =
    residual<dim>({s.velocity.get(), s.pressure.get()}, gradient, {&s.u, &s.p});
  compare_with_force("gradient", r, false);
  Flow::VelocityDivergence<dim, Data> divergence;
  divergence.boundary = boundary;
  r                   = residual<dim>({s.pressure.get(), s.velocity.get()},
                    divergence,
                    {&s.p, &s.u});
  check_below(name + "divergence", r.linfty_norm(), 1e-12);
  Flow::DivergencePenalty<dim> penalty;
  penalty.mass = 0.;
  r = residual<dim>({s.velocity.get(), s.velocity.get(), s.constant.get()},
                    penalty,
                    {&s.u, &s.u, &s.tau});
  check_below(name + "penalty", r.linfty_norm(), 1e-12);
}



/// Boundary data of the viscous term against those of the assembler.
template <int dim>
void
test_viscous_data(const std::string &mesh, const std::string &agglomeration)
{
  using Data = PolynomialFlow<dim>;
  Spaces<dim>                          s(mesh, agglomeration, 2);
  Flow::ViscousBoundaryData<dim, Data> viscous;
  viscous.boundary       = velocity_conditions(1);
  viscous.viscosity      = 0.3;
  const Vector<double> r = residual<dim>({s.velocity.get()}, viscous, {&s.u});
  AgglomerationHandler<dim> scalar(s.triangulation,
                                   mesh == "curved" ? &s.mapping : nullptr);
  scalar.agglomerate(make_strategy<dim>(agglomeration));
  distribute(scalar, 2, false, 1);
  AssemblyParameters parameters;
  parameters.backend = Backend::host;
  PolytopicAssembler<dim> assembler(scalar, parameters);
  Vector<double>          f(scalar.n_dofs());
  double                  largest = 0.;
  for (int c = 0; c < dim; ++c)
    {
      const auto member = [c](const OperatorPoint<dim> &p, double *u) {
        double g[3];
        Data().velocity(p, g);
        *u = g[c];
      };
      AdvectionDiffusionReaction<dim> form;
      form.set_diffusion(0.3);
      form.set_coefficient_order(6);
      BoundaryCondition<dim> condition;
      condition.value =
        std::make_shared<Exact<dim, decltype(member)>>(1, member);
      form.set_default_boundary_condition(condition);
      if (mesh != "curved")
        {
          // du/dn of the part with id 1, whose normal is the first unit vector.
          const auto derivative = [c](const OperatorPoint<dim> &p, double *u) {
            OperatorPoint<dim> q = p;
            q.normal[0]          = 1.;
            double h[3];
            Data().normal_derivative(q, h);
            *u = 0.3 * h[c];
          };
          condition.type = BoundaryType::neumann;
          condition.value =
            std::make_shared<Exact<dim, decltype(derivative)>>(1, derivative);
          form.set_boundary_condition(1, condition);
        }
      assembler.assemble_rhs(form, f);
      const auto &a = s.velocity->polytopic_dofs(),
                 &b = scalar.polytopic_dofs();
      for (unsigned int k = 0; k < scalar.n_polytopes(); ++k)
        for (unsigned int i = 0; i < b.n_basis[k]; ++i)
          largest =
            std::max(largest,
                     std::abs(r(a.dof_offset[k] + c * a.n_basis[k] + i) -
                              f(b.dof_offset[k] + i)));
    }
  check_below(std::to_string(dim) + "-D, " + mesh +
                ", viscous data and assembler",
              largest / r.linfty_norm(),
              1e-12);
}



/// Conservation of momentum, dissipation, and an id without a condition.
template <int dim>
void
test_properties(const std::string &mesh, const std::string &agglomeration)
{
  using Data             = PolynomialFlow<dim>;
  using F                = Flow::Convection<dim, Data>;
  const std::string name = std::to_string(dim) + "-D, " + mesh + ", ";
  Spaces<dim>       s(mesh, agglomeration, 2);
  double            energy[2];
  for (const double zeta : {1., 2.})
    {
      F convection;
      convection.boundary = all_conditions();
      convection.zeta     = zeta;
      FunctorIntegrand<dim, F> integrand(convection);
      integrand.set_coefficient_order(2);
      PointwiseOperator<dim> op(*s.velocity, Comparison<dim, F>::host());
      Vector<double>         r;
      op.reinit(r);
      op.template residual<Vector<double>>(integrand, {&s.u}, r);
      energy[zeta == 2.] = r * s.u;
      std::vector<double> sum(dim, 0.);
      const auto         &dofs = s.velocity->polytopic_dofs();
      for (unsigned int k = 0; k < s.velocity->n_polytopes(); ++k)
        for (int c = 0; c < dim; ++c)
          sum[c] += std::sqrt(s.velocity->bounding_box(k).volume()) *
                    r(dofs.dof_offset[k] + c * dofs.n_basis[k]);
      for (const auto &flux :
           op.template integrate_boundary<Vector<double>>(integrand, {&s.u}))
        for (int c = 0; c < dim; ++c)
          sum[c] -= flux.second[c];
      for (int c = 0; c < dim; ++c)
        check_below(name + "conservation", std::abs(sum[c]), 1e-13);
    }
  check(name + "zeta = 2 dissipates more", energy[1] > energy[0] + 1e-3);
  F missing;
  missing.boundary.add(17, IncompressibleCondition::velocity);
  check(name + "an id without a condition",
        contains(message_of([&]() {
                   residual<dim>({s.velocity.get()}, missing, {&s.u});
                 }),
                 "not finite"));
}



template <int dim>
void
test()
{
  test_against_reference<dim>("hanging", "scattered", true);
  test_against_reference<dim>("simplices", "steps", false);
  test_against_reference<dim>("hanging periodic", "none", false);
  test_against_reference<dim>("curved", dim == 2 ? "scattered" : "none", false);
  for (const std::string mesh : {"hanging", "simplices", "periodic simplices"})
    test_adjoint<dim>(mesh, "scattered");
  test_adjoint<dim>("curved", "none", CurvedQuadrature::consistent);
  for (const std::string mesh : {"distorted", "hanging"})
    {
      // Hexahedra that are distorted have curved faces.
      if (dim == 2 || mesh != "distorted")
        test_polynomials<dim>(mesh, "scattered");
      test_viscous_data<dim>(mesh, "scattered");
    }
  test_polynomials<dim>("simplices", "scattered");
  test_viscous_data<dim>("curved", "none");
  test_properties<dim>("hanging", "scattered");
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();
  test<2>();
  test<3>();
}
