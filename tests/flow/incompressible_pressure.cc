// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Iterations of the pressure of incompressible flow from zero to 1e-8, for a
// right-hand side with all frequencies, are at most 20 on triangles, METIS
// polygons and polyhedra, cubes and tetrahedra. On most of the polygons ILU(0)
// without relaxation is indefinite, and conjugate gradients do not converge.

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>

#include <tessella/fe/fe_bounding_box_legendre.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../../source/flow/incompressible_solvers.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;
using Flow::IncompressibleCondition;

/// @p n cells a direction, or simplices of them refined @p n_refinements times,
/// in METIS polytopes of @p n_cells cells; the whole domain closed, or with an
/// outflow. @p degrees: those of the pressure.
template <int dim>
void
test(const std::string               &name,
     const bool                       simplices,
     const unsigned int               n,
     const unsigned int               n_refinements,
     const unsigned int               n_cells,
     const bool                       closed,
     const std::vector<unsigned int> &degrees)
{
  Triangulation<dim> hypercubes, triangulation;
  GridGenerator::subdivided_hyper_cube(hypercubes, n, 0., 1., true);
  if (simplices)
    GridGenerator::convert_hypercube_to_simplex_mesh(hypercubes, triangulation);
  else
    triangulation.copy_triangulation(hypercubes);
  triangulation.refine_global(n_refinements);
  Agglomeration::Strategy<dim> strategy = Agglomeration::none<dim>();
  if (n_cells > 1)
    {
      Agglomeration::RepairOptions options;
      options.min_cells = 3;
      strategy =
        Agglomeration::repair<dim>(Agglomeration::metis<dim>(
                                     triangulation.n_active_cells() / n_cells),
                                   options);
    }
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(strategy);
  for (const unsigned int degree : degrees)
    {
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
      Flow::IncompressibleParameters p;
      p.degree          = degree + 1;
      p.pressure_degree = degree;
      p.max_iterations  = 20;
      for (unsigned int id = 0; id < 2 * dim; ++id)
        p.boundary.add(id,
                       !closed && id == 1 ? IncompressibleCondition::outflow
                                          : IncompressibleCondition::velocity);
      const Flow::internal::PressureSolver<dim, HostVector<double>> solver(
        handler, p);
      HostVector<double> rhs(handler.locally_owned_dofs(),
                             handler.get_communicator()),
        x(rhs);
      for (std::size_t i = 0; i < rhs.locally_owned_size(); ++i)
        *(rhs.begin() + i) = std::sin(1.37 * i * i + 0.3 * i);
      unsigned int n_iterations = 0;
      try
        {
          n_iterations = solver.solve(rhs, x);
        }
      catch (const ExceptionBase &)
        {
          n_iterations = p.max_iterations + 1;
        }
      check(name + (closed ? ", closed" : ", outflow") + ", degree " +
              std::to_string(degree),
            n_iterations <= 20);
    }
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test<2>("triangles", true, 4, 1, 1, true, {1, 2, 3, 5});
  for (const bool closed : {false, true})
    {
      test<2>("polygons of triangles", true, 4, 2, 4, closed, {1, 2, 3, 4});
      test<2>("polygons of squares", false, 32, 0, 4, closed, {2, 3, 4});
    }
  test<3>("cubes", false, 6, 0, 1, true, {1, 2});
  test<3>("tetrahedra", true, 2, 0, 1, false, {1, 2, 3});
  test<3>("polyhedra of tetrahedra", true, 2, 1, 4, true, {1, 2, 3});
}
