// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Reference for measured times: points of the smallest known rules compared
// with those of the library, and operations and bytes on small meshes, counted
// by hand.

#include <deal.II/grid/grid_generator.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/quadrature/reference_quadrature.h>

#include "../../applications/assembly_throughput/assembly_work.cc"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;
using namespace Tessella::Application;

void
equal(const std::string &what, const double value, const double expected)
{
  deallog << what << ": "
          << (value == expected ? std::string("ok")
                                : std::to_string(value) + " instead of " +
                                    std::to_string(expected))
          << std::endl;
}

void
rules()
{
  bool lean = true, grows = true;
  for (unsigned int dim = 1; dim <= 3; ++dim)
    for (unsigned int order = 0; order <= 20; ++order)
      {
        const unsigned int n = leanest_simplex_rule(dim, order);
        lean = lean && n >= 1 && n <= simplex_rule(dim, order).n_points;
        grows =
          grows && (order == 0 || n >= leanest_simplex_rule(dim, order - 1));
        // No rule of order 2 k has fewer points than the number of polynomials
        // of degree k.
        unsigned int n_polynomials = 1;
        for (unsigned int d = 1; d <= dim; ++d)
          n_polynomials = n_polynomials * (order / 2 + d) / d;
        lean = lean && n >= n_polynomials;
      }
  deallog << "leanest rules: " << (lean && grows ? "ok" : "wrong") << std::endl;
  equal("no table", leanest_simplex_rule(3, 21), 0);
}

// The unit square or cube as two boxes, each of which may be cut into
// simplices.
template <int dim>
void
count(const unsigned int degree, const bool simplices)
{
  Triangulation<dim>        boxes, tria;
  std::vector<unsigned int> repetitions(dim, 1);
  repetitions[0] = 2;
  Point<dim> corner;
  for (unsigned int d = 0; d < dim; ++d)
    corner[d] = 1.;
  GridGenerator::subdivided_hyper_rectangle(boxes,
                                            repetitions,
                                            Point<dim>(),
                                            corner);
  if (simplices)
    GridGenerator::convert_hypercube_to_simplex_mesh(boxes, tria);
  else
    tria.copy_triangulation(boxes);
  std::vector<unsigned int> ids;
  for (const auto &cell : tria.active_cell_iterators())
    ids.push_back(cell->center()[0] < 0.5 ? 0 : 1);

  AgglomerationHandler<dim> handler(tria);
  handler.agglomerate(Agglomeration::by_id<dim>(ids));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
  const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
  const PolytopicDoFs      &dofs = handler.polytopic_dofs();

  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(1.);
  const AssemblyWork constant = assembly_work(mesh, dofs, form);
  Tensor<1, dim>     b;
  b[0] = 1.;
  form.set_advection(b);
  form.set_diffusion(std::make_shared<Functions::ConstantFunction<dim>>(1., 1));
  form.set_coefficient_order(0);
  const AssemblyWork variable = assembly_work(mesh, dofs, form);

  deallog << (simplices ? "simplices" : "boxes") << ", p = " << degree << ", "
          << dim << "-D" << std::endl;
  const double n_cells = tria.n_active_cells(), n = handler.n_dofs() / 2.,
               n_faces =
                 (tria.n_active_faces() * 2. -
                  n_cells *
                    tria.begin_active()->n_faces()), // number of boundary faces
    n_common               = simplices ? (dim == 2 ? 2. : 4.) : 1.;
  const unsigned int gauss = degree + 1;
  const double       n_q   = simplices ? leanest_simplex_rule(dim, 2 * degree)
                                       : std::pow(gauss, double(dim));
  const double       n_f = simplices ? leanest_simplex_rule(dim - 1, 2 * degree)
                                     : std::pow(gauss, dim - 1.);
  equal("volume points", constant.n_volume_points, n_cells * n_q);
  equal("facet points",
        constant.n_facet_points,
        (n_faces + 2. * n_common) * n_f);
  equal("operations",
        constant.flops(),
        2. * (dim + 1) * n * n * n_cells * n_q +
          4. * n * n * (n_faces + 4. * n_common) * n_f);
  equal("operations at the boundary",
        constant.boundary_flops,
        4. * n * n * n_faces * n_f);
  equal("matrix", constant.matrix_bytes(), 8. * 4. * n * n);
  equal("right-hand side", constant.rhs_bytes, 8. * 2. * n);
  equal("constant coefficients",
        constant.volume_coefficient_bytes + constant.facet_coefficient_bytes,
        0.);
  equal("coefficients",
        variable.volume_coefficient_bytes + variable.facet_coefficient_bytes,
        8. * ((1. + dim) * n_cells * n_q +
              (dim + 1.) * (n_faces + n_common) * n_f));
  equal("same operations", variable.flops(), constant.flops());
  const double mesh_bytes =
    constant.subcell_bytes + constant.facet_bytes + constant.structure_bytes;
  deallog << "mesh: "
          << (mesh_bytes > 8. * dim * tria.n_vertices() &&
                  mesh_bytes <
                    mesh.memory_consumption() + dofs.memory_consumption() + 100.
                ? "ok"
                : "wrong")
          << std::endl;
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  rules();
  count<2>(1, false);
  count<2>(3, true);
  count<3>(1, true);
  count<3>(2, false);
  count<3>(2, true);
}
