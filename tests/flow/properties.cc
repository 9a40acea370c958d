// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Properties of compressible flow beyond those of single operators: uniform
// flow on curved hypercubes and with P1P2, conservation and derivatives of
// P1P2, derivatives with artificial viscosity, the last steps of Newton's
// method, periodic boundaries, the positivity limiter, and the same bits for
// any number of threads.

#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>

#include <tessella/flow/exact_flows.h>
#include <tessella/flow/navier_stokes.h>
#include <tessella/flow/polytope_functors.h>
#include <tessella/flow/pseudo_transient.h>
#include <tessella/flow/shock_capturing.h>
#include <tessella/grid/flow_meshes.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/polytopewise_operator.h>

#include "../messages.h"
#include "../operators/pointwise.h"
#include "states.h"

using namespace Tessella;
using Flow::ConditionType;
using Tessella::AgglomerationHandler;

template <int dim>
std::vector<double>
uniform()
{
  std::vector<double> velocity(dim, 0.1);
  velocity[0] = 0.5;
  velocity[1] = 0.3;
  return state<dim>(1.2, velocity, 0.9);
}

template <int dim, typename F>
F
far_field(F f = F())
{
  f.boundary.n_conditions  = 1;
  f.boundary.conditions[0] = condition<dim>(Flow::any_boundary,
                                            ConditionType::far_field,
                                            uniform<dim>());
  return f;
}

AssemblyParameters
on_host()
{
  AssemblyParameters parameters;
  parameters.backend = Backend::host;
  return parameters;
}

/// Volume of the bounding box of a polytope.
template <int dim>
double
box_volume(const PolytopicMesh<dim> &mesh, const unsigned int k)
{
  double result = 1.;
  for (int d = 0; d < dim; ++d)
    result *= mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
  return result;
}

/// Largest integral of a residual with basis functions of size one, over the
/// largest entry of the flux of uniform flow.
template <int dim>
double
largest_integral(const AgglomerationHandler<dim> &handler,
                 const HostVector<double>        &r)
{
  const Flow::IdealGas<dim> gas;
  double                    size = 1., flux[dim + 2][dim], largest = 0.;
  gas.flux(uniform<dim>().data(), flux);
  for (const auto &row : flux)
    for (const double entry : row)
      size = std::max(size, std::abs(entry));
  const auto &offset = handler.polytopic_dofs().dof_offset;
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    for (std::uint64_t i = offset[k]; i < offset[k + 1]; ++i)
      largest = std::max(largest,
                         std::abs(r.local_element(i)) *
                           std::sqrt(box_volume(handler.polytopic_mesh(), k)));
  return largest / size;
}

/// A residual's integrals with the constant one, less the flux through the
/// boundary.
template <int dim>
double
drift(const AgglomerationHandler<dim>                         &handler,
      const HostVector<double>                                &r,
      const std::map<types::boundary_id, std::vector<double>> &fluxes)
{
  std::vector<double> sum(dim + 2, 0.);
  const auto         &dofs = handler.polytopic_dofs();
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    for (int c = 0; c < dim + 2; ++c)
      sum[c] += std::sqrt(box_volume(handler.polytopic_mesh(), k)) *
                r.local_element(dofs.dof_offset[k] + c * dofs.n_basis[k]);
  for (const auto &flux : fluxes)
    for (int c = 0; c < dim + 2; ++c)
      sum[c] -= flux.second[c];
  double largest = 0.;
  for (const double value : sum)
    largest = std::max(largest, std::abs(value));
  return largest;
}

template <int dim>
void
set(const AgglomerationHandler<dim> &handler,
    const double                     size,
    HostVector<double>              &u)
{
  Vector<double> values;
  set_field(handler, uniform<dim>(), size, values);
  PointwiseOperator<dim>(handler, on_host()).reinit(u);
  std::copy(values.begin(), values.end(), u.begin());
}



/// Uniform flow on curved quadrilaterals or hexahedra of degree @p m, with the
/// functions of degree 2 and with P1P2, whose residual keeps integrals.
template <int dim>
void
test_curved(const unsigned int m, const std::string &agglomeration)
{
  FlowMeshes::Resolution resolution;
  resolution.n_cells  = dim == 2 ? 8 : 6;
  resolution.n_slices = 2;
  Triangulation<dim> triangulation;
  if (dim == 2)
    FlowMeshes::sphere(triangulation, resolution, 0.5, 1.5);
  else
    FlowMeshes::bump(triangulation, resolution);
  const MappingQ<dim>       mapping(m);
  AgglomerationHandler<dim> handler(triangulation, &mapping);
  handler.agglomerate(make_strategy<dim>(agglomeration));
  const std::string name = std::to_string(dim) + "-D, mapping of degree " +
                           std::to_string(m) + ", " + agglomeration;
  using Euler = Flow::Euler<dim>;
  FunctorIntegrand<dim, Euler> integrand(far_field<dim, Euler>());
  integrand.set_coefficient_order(2);
  HostVector<double> u, v, r, s;
  distribute(handler, 2, false, dim + 2);
  {
    PointwiseOperator<dim> op(handler, on_host());
    op.reinit(r);
    set(handler, 0., u);
    op.template residual<HostVector<double>>(integrand, {&u}, r);
    check_below(name + ", uniform flow", largest_integral(handler, r), 1e-13);
  }

  distribute(handler, 1, false, dim + 2);
  Flow::QuadraticReconstruction<dim> reconstruction(handler);
  const auto            &quadratic = reconstruction.quadratic_handler();
  PointwiseOperator<dim> op(quadratic, on_host());
  PointwiseOperator<dim>(handler, on_host()).reinit(s);
  for (HostVector<double> *vector : {&v, &r})
    op.reinit(*vector);
  set(handler, 0., u);
  reconstruction.reconstruct(u, v);
  op.template residual<HostVector<double>>(integrand, {&v}, r);
  reconstruction.restrict_to_linear(r, s);
  check_below(name + ", P1P2, uniform flow",
              largest_integral(handler, s),
              1e-13);
  set(handler, 0.03, u);
  reconstruction.reconstruct(u, v);
  op.template residual<HostVector<double>>(integrand, {&v}, r);
  reconstruction.restrict_to_linear(r, s);
  check(name + ", P1P2, disturbed flow has a residual", s.l2_norm() > 1e-3);
  check_below(
    name + ", P1P2, conservation",
    drift(handler,
          s,
          op.template integrate_boundary<HostVector<double>>(integrand, {&v})),
    2e-13);
}



/// Derivatives of the residual of reconstructed functions, and with artificial
/// viscosity, against dual numbers of Sacado.
void
test_derivatives()
{
  Triangulation<2> triangulation;
  make_mesh("hanging", triangulation);
  AgglomerationHandler<2> handler(triangulation), constants(triangulation);
  handler.agglomerate(make_strategy<2>("scattered"));
  constants.agglomerate(make_strategy<2>("scattered"));
  constants.distribute_dofs(FE_BoundingBoxLegendre<2>(0));
  distribute(handler, 1, false, 4);
  using Euler                            = Flow::Euler<2>;
  const Euler                      euler = far_field<2, Euler>();
  Flow::QuadraticReconstruction<2> reconstruction(handler);
  const auto          &quadratic = reconstruction.quadratic_handler();
  HostVector<double>   u, du, v, dv, r, s;
  PointwiseOperator<2> op(quadratic, on_host());
  for (HostVector<double> *vector : {&v, &dv, &r})
    op.reinit(*vector);
  set(handler, 0.1, u);
  set(handler, 0.1, du);
  for (unsigned int i = 0; i < du.size(); ++i)
    du[i] = random(3 * i);
  s.reinit(u);
  reconstruction.reconstruct(u, v);
  reconstruction.reconstruct_change(du, dv);
  FunctorIntegrand<2, Euler> integrand(euler);
  integrand.set_coefficient_order(2);
  op.apply_tangent<HostVector<double>>(integrand, {&v}, dv, r);
  reconstruction.restrict_to_linear(r, s);
  // The reconstruction is linear: the same with differences of results.
  Vector<double>  state(v.size()), change(v.size()), product(v.size());
  SlowOperator<2> slow({&quadratic}, 0, 2, 0.);
  std::copy(v.begin(), v.end(), state.begin());
  slow.compute(
    [&](const PointwiseRegion                     region,
        const OperatorPoint<2>                   &p,
        const std::array<std::vector<double>, 2> &in) {
      return evaluate_by_sacado<2>(euler, region, p, in);
    },
    {&state});
  u.add(1., du);
  reconstruction.reconstruct(u, dv);
  dv.add(-1., v);
  std::copy(dv.begin(), dv.end(), change.begin());
  slow.jacobians[0].vmult(product, change);
  HostVector<double> expected(s), of_quadratic(r);
  std::copy(product.begin(), product.end(), of_quadratic.begin());
  reconstruction.restrict_to_linear(of_quadratic, expected);
  const double size = expected.l2_norm();
  expected.add(-1., s);
  check_below("P1P2, tangent", expected.l2_norm() / size, 1e-12);

  using Viscous   = Flow::WithArtificialViscosity<2, Euler>;
  Viscous viscous = far_field<2, Viscous>();
  viscous.order   = 5.;
  distribute(handler, 2, true, 4);
  Vector<double> field, viscosity;
  set_field(handler, uniform<2>(), 0.2, field);
  set_field(constants, {0.1}, 0.02, viscosity);
  compare<2>("Artificial viscosity",
             {&handler, &constants},
             0,
             viscous,
             {field, viscosity});
}



using Data = Flow::ExactStates<2, true>;

template <typename F>
F
manufactured(F f = F())
{
  f.data.flow.type        = Flow::ExactFlowType::manufactured;
  f.boundary.n_conditions = 1;
  auto &condition         = f.boundary.conditions[0];
  condition.boundary_id   = Flow::any_boundary;
  condition.type          = ConditionType::given_state;
  return f;
}

/// Steps of PseudoTransient for the manufactured flow on polygons with linear
/// functions.
template <typename F>
std::vector<Flow::PseudoTransientStep>
steps(const F &f, const bool reconstruct, const bool weno, const bool sensor)
{
  Triangulation<2> triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, 6);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(Agglomeration::rtree_parts<2>(16));
  distribute(handler, 1, false, 4);
  Flow::PseudoTransientData data;
  data.tolerance       = 1e-11;
  data.sweeps.ordering = SweepOrdering::colors;
  Flow::ReconstructionData parameters;
  parameters.weno = weno;
  std::unique_ptr<Flow::QuadraticReconstruction<2>> reconstruction;
  std::unique_ptr<Flow::ArtificialViscosity<2>>     viscosity;
  if (reconstruct)
    reconstruction =
      std::make_unique<Flow::QuadraticReconstruction<2>>(handler, parameters);
  if (sensor)
    {
      // On its ramp everywhere.
      Flow::ShockSensor<2> wide;
      wide.threshold = -6.;
      wide.width     = 6.;
      viscosity = std::make_unique<Flow::ArtificialViscosity<2>>(handler, wide);
    }
  const auto integrands = Flow::make_steady_integrands<2>(f, f, 2);
  Flow::PseudoTransient<2, HostVector<double>, HostBlockMatrix<double>>
                     iteration(handler,
              on_host(),
              integrands,
              data,
              reconstruction.get(),
              viscosity.get());
  HostVector<double> u;
  iteration.reinit(u);
  set(handler, 0., u);
  std::vector<Flow::PseudoTransientStep> result;
  iteration.solve(u, [&](const Flow::PseudoTransientStep &step) {
    result.push_back(step);
    return true;
  });
  return result;
}

template <typename F>
void
test_threads(const std::string &name,
             const F           &f,
             const bool         reconstruct = false,
             const bool         weno        = false,
             const bool         sensor      = false)
{
  std::vector<std::vector<Flow::PseudoTransientStep>> results;
  for (const unsigned int n : {1, 2, 4})
    {
      MultithreadInfo::set_thread_limit(n);
      results.push_back(steps(f, reconstruct, weno, sensor));
    }
  MultithreadInfo::set_thread_limit(n_threads());
  bool same = true;
  for (const auto &result : results)
    {
      same = same && result.size() == results[0].size();
      for (unsigned int i = 0; same && i < result.size(); ++i)
        same = result[i].residual == results[0][i].residual &&
               result[i].cfl == results[0][i].cfl &&
               result[i].n_iterations == results[0][i].n_iterations;
    }
  check(name + ": the same bits for 1, 2 and 4 threads", same);
  const auto        &r = results[0];
  const unsigned int n = r.size();
  check(name + ": several steps", n >= 4);
  // Weights of WENO are held fixed in the tangent. The last residuals are
  // rounding errors.
  unsigned int last = n - 1;
  while (last > 1 && r[last].reduction < 1e-9)
    --last;
  if (!weno)
    check(name + ": the last steps are quadratic",
          r[last - 1].reduction < 1e-3 &&
            r[last].reduction <
              100. * r[last - 1].reduction * r[last - 1].reduction);
}



/// A flow with the period one in both directions.
class Periodic : public Function<2>
{
public:
  explicit Periodic(const double shift)
    : Function<2>(4)
    , shift(shift)
  {}
  double
  value(const Point<2> &x, const unsigned int component) const override
  {
    const double a   = 2. * numbers::PI * (x[0] - shift),
                 b   = 2. * numbers::PI * x[1],
                 rho = 1. + 0.3 * std::sin(a) * std::cos(b),
                 u = 0.5 + 0.2 * std::cos(a), v = 0.1 + 0.2 * std::sin(a + b),
                 p        = 1. + 0.2 * std::cos(a + b);
    const double state[4] = {rho,
                             rho * u,
                             rho * v,
                             p / 0.4 + 0.5 * rho * (u * u + v * v)};
    return state[component];
  }

private:
  const double shift;
};

/// Residuals on a mesh that is periodic in both directions: a flow that is
/// moved by two cells has the residual that is moved by two cells, and there is
/// no flux through the boundary.
template <typename F>
void
test_periodic(const std::string &name, const F &f)
{
  Triangulation<2> triangulation;
  GridGenerator::subdivided_hyper_cube(triangulation, 6, 0., 1., true);
  std::vector<GridTools::PeriodicFacePair<Triangulation<2>::cell_iterator>>
    pairs;
  GridTools::collect_periodic_faces(triangulation, 0, 1, 0, pairs);
  GridTools::collect_periodic_faces(triangulation, 2, 3, 1, pairs);
  triangulation.add_periodicity(pairs);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(Agglomeration::none<2>());
  distribute(handler, 2, false, 4);
  FunctorIntegrand<2, F> integrand(f);
  integrand.set_coefficient_order(2);
  PointwiseOperator<2> op(handler, on_host());
  HostVector<double>   u, r, moved;
  for (HostVector<double> *vector : {&u, &r, &moved})
    op.reinit(*vector);
  LinearAlgebra::distributed::Vector<double> &vector = u;
  Tessella::VectorTools::project(handler, Periodic(1. / 3.), vector);
  op.residual<HostVector<double>>(integrand, {&u}, moved);
  Tessella::VectorTools::project(handler, Periodic(0.), vector);
  op.residual<HostVector<double>>(integrand, {&u}, r);
  const auto  &mesh    = handler.polytopic_mesh();
  const auto  &offset  = handler.polytopic_dofs().dof_offset;
  double       largest = 0.;
  unsigned int n_pairs = 0;
  for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
    for (unsigned int l = 0; l < mesh.n_polytopes(); ++l)
      {
        const double shift = mesh.box[4 * l] - mesh.box[4 * k] - 1. / 3.;
        if (std::abs(shift - std::round(shift)) > 1e-9 ||
            std::abs(mesh.box[4 * k + 1] - mesh.box[4 * l + 1]) > 1e-9)
          continue;
        ++n_pairs;
        for (std::uint64_t i = 0; i < offset[k + 1] - offset[k]; ++i)
          largest = std::max(largest,
                             std::abs(r[offset[k] + i] - moved[offset[l] + i]));
      }
  check(name + ", periodic: there is a residual",
        r.linfty_norm() > 1e-3 && n_pairs == mesh.n_polytopes());
  check_below(name + ", periodic: moved flow", largest, 1e-13);
  const auto fluxes =
    op.integrate_boundary<HostVector<double>>(integrand, {&u});
  check_below(name + ", periodic: conservation",
              drift(handler, r, fluxes),
              1e-13);
}



/// The positivity limiter on states that violate its bounds: a spike of the
/// density, one of the pressure, and states that need no limiter.
template <int dim>
void
test_limiter(const std::string &agglomeration)
{
  Triangulation<dim> triangulation;
  make_mesh("distorted", triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>(agglomeration));
  distribute(handler, 2, false, dim + 2);
  Vector<double> u;
  set_field(handler, uniform<dim>(), 0.02, u);
  const auto &mesh = handler.polytopic_mesh();
  const auto &dofs = handler.polytopic_dofs();
  for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
    {
      double *const first = u.begin() + dofs.dof_offset[k];
      const double  one   = std::sqrt(box_volume(mesh, k));
      if (k % 3 == 1)
        first[1] += 1.4 * one; // density
      if (k % 3 == 2)
        first[(dim + 1) * dofs.n_basis[k] + 1] -= 2.5 * one; // energy
    }
  const Flow::IdealGas<dim>     gas;
  PolytopewiseOperator<dim>     op(handler, 3);
  const Flow::LargestSpeed<dim> speed{gas, {}};
  Flow::PositivityLimiter<dim>  limiter;
  const std::string             name =
    std::to_string(dim) + "-D, limiter, " + agglomeration;
  // Means stay positive, which the limiter needs.
  const auto   before = op.mean_values(u), old_speeds = op.evaluate(speed, u);
  unsigned int n_bad = 0;
  for (const double s : old_speeds)
    n_bad += s < 0.;
  check(name + ": states that are not admissible",
        n_bad >= mesh.n_polytopes() / 3);
  Vector<double> limited = u;
  const auto     factors = op.apply(limiter, limited);
  const auto     after   = op.mean_values(limited),
             speeds      = op.evaluate(speed, limited);
  double change          = 0.;
  for (unsigned int i = 0; i < before.size(); ++i)
    change = std::max(change, std::abs(after[i] - before[i]));
  check_below(name + ": mean values", change, 1e-14 * 10.);
  bool positive = true, untouched = true, scaled = true;
  for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
    {
      positive     = positive && speeds[k] > 0. && factors[k] >= 0.;
      bool changed = false;
      for (std::uint64_t i = dofs.dof_offset[k]; i < dofs.dof_offset[k + 1];
           ++i)
        changed = changed || limited(i) != u(i);
      if (old_speeds[k] < 0.)
        scaled = scaled && changed;
      else
        untouched = untouched && !changed && factors[k] == 1.;
    }
  check(name + ": density and pressure are positive at all points", positive);
  check(name + ": all others are limited", scaled);
  check(name + ": admissible functions stay as they are", untouched);
  // A mean that is not admissible.
  u(dofs.dof_offset[0]) = -1.;
  limited               = u;
  check(name + ": a bad mean", op.apply(limiter, limited)[0] == -1.);
}



int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();
  for (const unsigned int m : {2, 3})
    for (const std::string agglomeration : {"none", "steps"})
      test_curved<2>(m, agglomeration);
  test_curved<3>(2, "none");
  test_curved<3>(2, "steps");
  test_derivatives();
  using Euler   = Flow::Euler<2, Flow::HLLC, Data>;
  using Viscous = Flow::WithArtificialViscosity<2, Euler>;
  test_threads("P1P2", manufactured<Euler>(), true);
  test_threads("P1P2 with WENO", manufactured<Euler>(), true, true);
  test_threads("Sensor", manufactured<Viscous>(), false, false, true);
  Flow::NavierStokes<2> viscous;
  viscous.viscosity.reference = 0.03;
  test_periodic("Euler", Flow::Euler<2>());
  test_periodic("Navier-Stokes", viscous);
  test_limiter<2>("scattered");
  test_limiter<3>("none");
}
