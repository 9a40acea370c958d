// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_mpi_cases_h
#define tessella_tests_mpi_cases_h

// Distributed meshes, polytopes and degrees that do not depend on the number of
// processes.

#include <deal.II/base/function_parser.h>

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/distributed/shared_tria.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>

#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "../meshes.h"
#include "digest.h"

using namespace dealii;
using namespace Tessella;

/// Function of x, y, z.
template <int dim>
std::shared_ptr<Function<dim>>
parse(const std::string &text)
{
  auto function = std::make_shared<FunctionParser<dim>>(1);
  function->initialize(FunctionParser<dim>::default_variable_names(),
                       text,
                       std::map<std::string, double>());
  return function;
}

/// Refines the cells with where(centre) == true. On shared meshes every process
/// marks all cells.
template <int dim, typename Where>
void
refine(Triangulation<dim> &triangulation, const Where &where)
{
  const bool all = dynamic_cast<parallel::DistributedTriangulationBase<dim> *>(
                     &triangulation) == nullptr;
  for (const auto &cell : triangulation.active_cell_iterators())
    if ((all || cell->is_locally_owned()) && where(cell->center()))
      cell->set_refine_flag();
  triangulation.execute_coarsening_and_refinement();
}

/// Creates the L-shaped domain, refined @p n_times around the corner.
template <int dim>
void
make_l_shape(Triangulation<dim> &triangulation, const unsigned int n_times)
{
  GridGenerator::hyper_L(triangulation);
  triangulation.refine_global(dim == 2 ? 3 : 2);
  for (unsigned int i = 0; i < n_times; ++i)
    refine(triangulation,
           [](const Point<dim> &center) { return center.norm() < 0.4; });
}

/// Creates the unit cube, periodic in the first @p n_periodic directions, with
/// hanging nodes.
template <int dim>
void
make_periodic(Triangulation<dim> &triangulation,
              const unsigned int  n_periodic,
              const unsigned int  n_refinements)
{
  GridGenerator::hyper_cube(triangulation, 0., 1., true);
  std::vector<unsigned int> directions(n_periodic);
  std::iota(directions.begin(), directions.end(), 0u);
  add_periodic_faces(triangulation, directions);
  triangulation.refine_global(n_refinements);
  refine(triangulation,
         [](const Point<dim> &center) { return center[0] < 0.3; });
}

/// Shared mesh without artificial cells, partitioned along a space-filling
/// curve.
template <int dim>
parallel::shared::Triangulation<dim>
shared_mesh(const MPI_Comm comm)
{
  return {comm,
          Triangulation<dim>::none,
          false,
          parallel::shared::Triangulation<dim>::partition_zorder};
}

/// Simplices in connected polytopes from METIS; also distributes the mesh.
template <int dim>
Agglomeration::Strategy<dim>
distribute_simplices(
  parallel::fullydistributed::Triangulation<dim> &triangulation)
{
  Triangulation<dim> serial;
  GridGenerator::subdivided_hyper_cube_with_simplices(serial, dim == 2 ? 9 : 4);
  return Agglomeration::distribute<dim>(serial,
                                        Agglomeration::repair<dim>(
                                          Agglomeration::metis<dim>(23)),
                                        triangulation);
}

/// Two polytopes, so that with three processes or more some own none.
template <int dim>
Agglomeration::Strategy<dim>
distribute_two_polytopes(
  parallel::fullydistributed::Triangulation<dim> &triangulation)
{
  Triangulation<dim> serial;
  GridGenerator::subdivided_hyper_cube(serial, 3);
  return Agglomeration::distribute<dim>(serial,
                                        Agglomeration::rtree_parts<dim>(2),
                                        triangulation);
}

/// Distributes DoFs of degree 2, or 1 to 3 if @p hp, plus @p more.
template <int dim>
void
distribute_degrees(AgglomerationHandler<dim> &handler,
                   const bool                 hp,
                   const unsigned int         more = 0)
{
  if (!hp)
    {
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2 + more));
      return;
    }
  const hp::FECollection<dim> collection(FE_BoundingBoxLegendre<dim>(1 + more),
                                         FE_BoundingBoxLegendre<dim>(3 + more),
                                         FE_BoundingBoxLegendre<dim>(2 + more));
  std::vector<unsigned int>   indices;
  for (const auto &polytope : handler.polytope_iterators())
    indices.push_back(name(handler, polytope.index()) % 3);
  handler.distribute_dofs(collection, indices);
}

/// Distributes one of two degrees, by the position of a polytope.
template <int dim>
void
distribute_by_position(AgglomerationHandler<dim>         &handler,
                       const std::array<unsigned int, 2> &degrees,
                       const PolynomialSpaceType          space,
                       const unsigned int                 n_components)
{
  hp::FECollection<dim> collection;
  for (const unsigned int p : degrees)
    if (n_components == 1)
      collection.push_back(FE_BoundingBoxLegendre<dim>(p, space));
    else
      collection.push_back(
        FESystem<dim>(FE_BoundingBoxLegendre<dim>(p, space), n_components));
  std::vector<unsigned int> indices;
  for (const auto &polytope : handler.polytope_iterators())
    indices.push_back(polytope.bounding_box().center()[1] < 0.4);
  handler.distribute_dofs(collection, indices);
}

#endif
