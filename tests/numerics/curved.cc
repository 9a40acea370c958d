// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Functions and output on curved cells.

#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/svg.h>
#include <tessella/numerics/vector_tools.h>

#include <sstream>

#include "../tests.h"
#include "polynomial.h"

using dealii::Triangulation;
using dealii::Vector;
using Norm = dealii::VectorTools::NormType;
using namespace Tessella;

template <int dim>
class UnitFunction : public Function<dim>
{
public:
  double
  value(const Point<dim> &, const unsigned int) const override
  {
    return 1.;
  }
  Tensor<1, dim>
  gradient(const Point<dim> &, const unsigned int) const override
  {
    return {};
  }
};

/// Values of an array in polytopes.vtu.
std::vector<double>
array(const std::string &name)
{
  std::ifstream     in("polytopes.vtu");
  std::stringstream content;
  content << in.rdbuf();
  const std::string   vtu = content.str();
  std::vector<double> values;
  std::size_t         i = vtu.find("Name=\"" + name + "\"");
  i                     = vtu.find('>', i) + 1;
  std::stringstream data(vtu.substr(i, vtu.find('<', i) - i));
  for (double v; data >> v;)
    values.push_back(v);
  return values;
}

/// Gives access to the patches that data_out writes.
class Patches : public PolytopicDataOut<2>
{
public:
  static const std::vector<dealii::DataOutBase::Patch<2, 2>> &
  of(const PolytopicDataOut<2> &data_out)
  {
    return (data_out.*&Patches::get_patches)();
  }
};

void
disc()
{
  Triangulation<2> triangulation;
  dealii::GridGenerator::hyper_ball(triangulation);
  triangulation.refine_global(2);
  const dealii::MappingQ<2> mapping(4);
  AgglomerationHandler<2>   handler(triangulation, &mapping);
  handler.agglomerate(Agglomeration::by_id<2>(scattered(triangulation)));
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
  const Polynomial<2> exact(2);
  Vector<double>      u(handler.n_dofs());
  Vector<float>       difference;
  // The vector is zero.
  Tessella::VectorTools::integrate_difference(
    handler, u, UnitFunction<2>(), difference, Norm::mean);
  check_close("disc, area",
              Tessella::VectorTools::compute_global_error(handler,
                                                          difference,
                                                          Norm::mean),
              dealii::numbers::PI,
              1e-6);
  Tessella::VectorTools::project(handler, exact, u);
  Tessella::VectorTools::integrate_difference(
    handler, u, exact, difference, Norm::H1_norm);
  check_below("disc, project",
              Tessella::VectorTools::compute_global_error(handler,
                                                          difference,
                                                          Norm::H1_norm),
              1e-11);
  // between the arc and the chords of the cells
  std::vector<Point<2>> points;
  for (unsigned int i = 0; i < 97; ++i)
    points.emplace_back((1. - 1e-7) * std::cos(.1 + .0651 * i),
                        (1. - 1e-7) * std::sin(.1 + .0651 * i));
  std::vector<Vector<double>> values;
  Tessella::VectorTools::point_values(handler, u, points, values);
  double error = 0.;
  for (unsigned int i = 0; i < points.size(); ++i)
    error = std::max(error, std::abs(values[i][0] - exact.value(points[i])));
  check_below("disc, point values", error, 1e-11);

  // Polygons with arcs: their area is that of a regular polygon of 16 * 8
  // corners.
  PolytopeOutputFlags flags;
  flags.binary = false;
  write_polytopes_vtu(handler, "polytopes.vtu", flags);
  const auto corners = array("Points"), connectivity = array("connectivity"),
             offsets = array("offsets");
  double   area      = 0.;
  unsigned begin     = 0;
  for (const double end : offsets)
    {
      for (unsigned int i = begin; i < end; ++i)
        {
          const unsigned int p = 3 * connectivity[i],
                             q = 3 * connectivity[i + 1 < end ? i + 1 : begin];
          area +=
            .5 * (corners[p] * corners[q + 1] - corners[q] * corners[p + 1]);
        }
      begin = end;
    }
  check_close("disc, polygons",
              area,
              64. * std::sin(dealii::numbers::PI / 64.),
              1e-6);
  MeshSvgFlags svg_flags;
  svg_flags.fine_cells = true;
  write_mesh_svg(handler, "mesh.svg", svg_flags);
  PolytopicDataOut<2> data_out(handler);
  data_out.add_data_vector(u, "u");
  data_out.build_patches(3);
  data_out.write_vtu_file("solution.vtu");
  double largest = 0.;
  for (const auto &patch : Patches::of(data_out))
    for (unsigned int q = 0; q < patch.data.n_cols(); ++q)
      {
        const Point<2> x(patch.data(patch.data.n_rows() - 2, q),
                         patch.data(patch.data.n_rows() - 1, q));
        if (patch.points_are_available)
          largest =
            std::max(largest, std::abs(patch.data(0, q) - exact.value(x)));
      }
  check_below("disc, patches", largest, 1e-5);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  disc();
}
