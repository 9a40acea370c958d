// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares every matrix entry on triangles and tetrahedra of degree 2 to the
// reference assembler.

#include <tessella/grid/flow_meshes.h>
#include <tessella/grid/mapping_quadratic.h>

#include "reference_meshes.h"

template <int dim>
void
compare_simplices()
{
  Reference::Problem<dim> problem = full_problem<dim>();
  // no facet on which b.n changes its sign
  problem.b = [](const Point<dim> &x) {
    Tensor<1, dim> b = x;
    b[0] -= 0.3 * x[1];
    b[1] += 0.3 * x[0];
    if (dim == 3)
      b = Tensor<1, dim>();
    return b;
  };
  Triangulation<dim>               triangulation;
  Tessella::FlowMeshes::Resolution resolution;
  resolution.simplices = true;
  resolution.n_cells   = dim == 2 ? 2 : 3;
  Tessella::FlowMeshes::sphere(triangulation,
                               resolution,
                               .5,
                               dim == 2 ? 2. : 1.4);
  const Tessella::MappingQuadratic<dim> mapping(triangulation);
  mapping.check_jacobians(triangulation);
  for (const std::string agglomeration : {"none", "steps", "scattered"})
    {
      Tessella::AgglomerationHandler<dim> handler(triangulation, &mapping);
      handler.agglomerate(make_strategy<dim>(agglomeration));
      for (unsigned int p = 1; p <= (dim == 2 ? 3 : 1); ++p)
        {
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
          compare_and_log(std::to_string(dim) + "-D curved simplices, " +
                            agglomeration + ", p = " + std::to_string(p),
                          handler,
                          problem,
                          8,
                          dim == 2 ? p + 16 : p + 9,
                          &mapping);
        }
    }
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  compare_simplices<2>();
  compare_simplices<3>();
}
