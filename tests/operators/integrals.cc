// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Integrals of PointwiseOperator over the domain and over boundary ids: forces,
// fluxes and energies of a velocity and a pressure, in two spaces, are exact
// for polynomials and have the same bits for any number of processes.

#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/forms/functor_integrand.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/pointwise_operator.h>

#include "../mpi/cases.h"
#include "../numerics/components.h"
#include "../tests.h"

namespace TVT    = Tessella::VectorTools;
using VectorType = LinearAlgebra::distributed::Vector<double>;

/// On the boundary the force of a viscous fluid, -p n + nu (grad u + grad u^T)
/// n in each direction, and the flux u . n. Inside |u|^2 / 2, p, p div u and 1.
template <int dim>
struct FluidIntegrals
{
  using Fields                                = FieldComponents<dim, 1>;
  static constexpr int          n_components  = 4;
  static constexpr unsigned int volume_output = PointwiseRows::values,
                                facet_output  = PointwiseRows::values;

  double nu = 0.;

  template <typename U, typename R>
  void
  volume(const OperatorPoint<dim> &, const U &u, R &r) const
  {
    const auto p = u.value[dim];
    for (int d = 0; d < dim; ++d)
      {
        r.value[0] += 0.5 * u.value[d] * u.value[d];
        r.value[2] += p * u.gradient[d][d];
      }
    r.value[1] = p;
    r.value[3] = 1.;
  }

  template <typename U, typename R>
  void
  boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
  {
    for (int i = 0; i < dim; ++i)
      {
        r.value[i] = -1. * u.value[dim] * p.normal[i];
        for (int j = 0; j < dim; ++j)
          r.value[i] +=
            nu * (u.gradient[i][j] + u.gradient[j][i]) * p.normal[j];
        r.value[dim] += u.value[i] * p.normal[i];
      }
  }
};

/// (x^2 + y, x y, x z), and as the last component 1 + 2 x + 3 y.
template <int dim>
class Flow : public Function<dim>
{
public:
  explicit Flow(const bool pressure)
    : Function<dim>(pressure ? 1 : dim)
    , pressure(pressure)
  {}
  double
  value(const Point<dim> &x, const unsigned int c) const override
  {
    if (pressure)
      return 1. + 2. * x[0] + 3. * x[1];
    return c == 0 ? x[0] * x[0] + x[1] : x[0] * x[c];
  }

private:
  const bool pressure;
};

/// The four integrals inside, then those on all boundary ids.
using Integrals = std::vector<std::vector<double>>;

template <int dim>
Integrals
integrate(const Triangulation<dim>           &triangulation,
          const Agglomeration::Strategy<dim> &strategy,
          const Mapping<dim>                 *mapping = nullptr)
{
  AgglomerationHandler<dim> velocity(triangulation, mapping),
    pressure(triangulation, mapping);
  for (auto *handler : {&velocity, &pressure})
    handler->agglomerate(strategy);
  distribute_components(velocity, dim, 2, true);
  distribute_components(pressure, 1, 1, false);
  VectorType u(velocity.locally_owned_dofs(), velocity.get_communicator()),
    p(pressure.locally_owned_dofs(), pressure.get_communicator());
  TVT::project(velocity, Flow<dim>(false), u);
  TVT::project(pressure, Flow<dim>(true), p);

  typename PointwiseOperator<dim>::AdditionalData data;
  data.backend = Backend::host;
  PointwiseOperator<dim> op({&velocity, &pressure}, 0, data);
  FluidIntegrals<dim>    functor;
  functor.nu = 0.25;
  FunctorIntegrand<dim, FluidIntegrals<dim>> integrand(functor);
  // Functions on curved boundaries have higher degrees.
  integrand.set_coefficient_order(mapping == nullptr ? 2 : 12);
  Integrals result(1, op.integrate_volume(integrand, {&u, &p}));
  for (const auto &id : op.integrate_boundary(integrand, {&u, &p}))
    {
      result.push_back(id.second);
      result.back().push_back(id.first);
    }
  return result;
}

/// Compares the integrals of the unit cube to exact values.
template <int dim>
void
check_values(const std::string &name, const Integrals &integrals)
{
  const double nu = 0.25, z = dim - 2;
  const auto   close =
    [&](const std::string &what, const double value, const double exact) {
      check_close(name + what, value, exact, 1e-12);
    };
  check(name + "boundary ids", integrals.size() == 1 + 2 * dim);
  close("energy", integrals[0][0], 0.5 * (13. / 15. + (dim - 1) / 9.));
  close("pressure", integrals[0][1], 3.5);
  close("work", integrals[0][2], (2. + (dim - 1)) * 23. / 12.);
  close("volume", integrals[0][3], 1.);
  // x = 1, with the normal in direction x
  close("force in x", integrals[2][0], -4.5 + 4. * nu);
  close("force in y", integrals[2][1], 1.5 * nu);
  if (dim == 3)
    close("force in z", integrals[2][2], 0.5 * nu);
  close("flux", integrals[2][dim], 1.5);
  // y = 0: n = (0, -1), u . n = 0
  close("force in y below", integrals[3][1], 2. - 2. * nu * 0.5);
  close("force in x below", integrals[3][0], -1. * nu);
  close("flux below", integrals[3][dim], 0.);
  // The fluxes of all parts are the integral of div u.
  double sum = 0.;
  for (unsigned int i = 1; i < integrals.size(); ++i)
    sum += integrals[i][dim];
  close("sum of fluxes", sum, 1.5 + 0.5 * z);
}

template <int dim>
void
test()
{
  const std::string name = std::to_string(dim) + "-D ";
  const auto        cases =
    for_numbers_of_processes<Integrals>([](const MPI_Comm comm) {
      parallel::distributed::Triangulation<dim> triangulation(comm);
      GridGenerator::hyper_cube(triangulation, 0., 1., true);
      triangulation.refine_global(2);
      refine(triangulation,
             [](const Point<dim> &center) { return center[0] < 0.3; });
      return integrate<dim>(triangulation,
                            Agglomeration::complete_families<dim>());
    });
  bool same = true;
  for (const Integrals &integrals : cases)
    same = same && integrals == cases[0];
  if (!cases.empty())
    {
      check(name + "same bits", same);
      check_values<dim>(name, cases[0]);
    }

  // ---- distorted cells, on one process
  Triangulation<dim> distorted;
  GridGenerator::subdivided_hyper_cube(distorted, 4, 0., 1., true);
  GridTools::distort_random(0.2, distorted, true);
  check_values<dim>(name + "distorted cells, ",
                    integrate<dim>(distorted, Agglomeration::metis<dim>(9)));

  // ---- curved boundary: int p n = int grad p, int u . n = int div u
  Triangulation<dim> ball;
  GridGenerator::hyper_ball_balanced(ball);
  const MappingQ<dim> mapping(3);
  const Integrals     integrals =
    integrate<dim>(ball, Agglomeration::metis<dim>(5), &mapping);
  const double volume = integrals[0][3];
  const double exact  = dim == 2 ? numbers::PI : 4. / 3. * numbers::PI;
  check_close(name + "ball, volume", volume / exact, 1., 2e-3);
  // div u = (2 + dim - 1) x has the mean value zero, nu lap u = nu (2, 0, 0)
  // plus nu grad div u = nu (dim + 1, 0, 0).
  check_close(name + "ball, flux", integrals[1][dim], 0., 1e-11);
  check_close(name + "ball, force in x",
              integrals[1][0],
              (-2. + 0.25 * (2. + dim + 1.)) * volume,
              1e-11);
  check_close(name + "ball, force in y", integrals[1][1], -3. * volume, 1e-11);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  test<2>();
  test<3>();
}
