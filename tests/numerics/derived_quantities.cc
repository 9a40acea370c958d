// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// PolytopicDataOut: quantities that a DataPostprocessor computes from the
// polynomials at the nodes, functions of several handlers, and the names and
// interpretations of components.

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/numerics/data_postprocessor.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include "../messages.h"
#include "../tests.h"
#include "components.h"
#include "polynomial.h"

using namespace dealii;
using namespace Tessella;
namespace TVT        = Tessella::VectorTools;
using Interpretation = DataComponentInterpretation::DataComponentInterpretation;

/// Rotation of the velocity, in 3-D its last component.
template <int dim>
class Vorticity : public DataPostprocessorScalar<dim>
{
public:
  Vorticity()
    : DataPostprocessorScalar<dim>("vorticity", update_gradients)
  {}
  void
  evaluate_vector_field(const DataPostprocessorInputs::Vector<dim> &input,
                        std::vector<Vector<double>> &result) const override
  {
    for (unsigned int q = 0; q < result.size(); ++q)
      result[q][0] =
        input.solution_gradients[q][1][0] - input.solution_gradients[q][0][1];
  }
};

/// Momentum flux p n + (u . n) u in direction x, from u and p, minus the
/// coordinates.
template <int dim>
class Flux : public DataPostprocessorVector<dim>
{
public:
  Flux()
    : DataPostprocessorVector<dim>("flux",
                                   update_values | update_quadrature_points)
  {}
  void
  evaluate_vector_field(const DataPostprocessorInputs::Vector<dim> &input,
                        std::vector<Vector<double>> &result) const override
  {
    for (unsigned int q = 0; q < result.size(); ++q)
      for (int d = 0; d < dim; ++d)
        result[q][d] =
          input.solution_values[q][0] * input.solution_values[q][d] +
          (d == 0 ? input.solution_values[q][dim] : 0.) -
          input.evaluation_points[q][d];
  }
};

/// Square of the gradient of a scalar function.
template <int dim>
class Slope : public DataPostprocessorScalar<dim>
{
public:
  explicit Slope(const UpdateFlags flags = update_gradients)
    : DataPostprocessorScalar<dim>("slope", flags)
  {}
  void
  evaluate_scalar_field(const DataPostprocessorInputs::Scalar<dim> &input,
                        std::vector<Vector<double>> &result) const override
  {
    for (unsigned int q = 0; q < result.size(); ++q)
      result[q][0] = input.solution_gradients[q].norm_square();
  }
};

/// Laplacian of the first component and mixed derivative of the last one.
template <int dim>
class Curvature : public DataPostprocessorVector<dim>
{
public:
  Curvature()
    : DataPostprocessorVector<dim>("curvature", update_hessians)
  {}
  void
  evaluate_vector_field(const DataPostprocessorInputs::Vector<dim> &input,
                        std::vector<Vector<double>> &result) const override
  {
    for (unsigned int q = 0; q < result.size(); ++q)
      {
        result[q][0] = trace(input.solution_hessians[q][0]);
        result[q][1] = input.solution_hessians[q][dim - 1][0][1];
      }
  }
};

/// Access to patches and names.
template <int dim>
struct Output : public PolytopicDataOut<dim>
{
  using PolytopicDataOut<dim>::PolytopicDataOut;
  using PolytopicDataOut<dim>::get_dataset_names;
  using PolytopicDataOut<dim>::get_nonscalar_data_ranges;
  using PolytopicDataOut<dim>::get_patches;
};

/// Largest difference between row @p row and a function of the node, at the
/// vertices of all patches.
template <int dim, typename Function>
double
difference(const Output<dim> &output,
           const unsigned int row,
           const unsigned int n,
           const Function    &function)
{
  double result = 0.;
  for (const auto &patch : output.get_patches())
    for (unsigned int v = 0; v < patch.reference_cell.n_vertices(); ++v)
      {
        // The corner of a subdivided hypercube, or the vertex of a simplex.
        unsigned int node = v, step = n;
        if (patch.reference_cell.is_hyper_cube())
          {
            node = 0;
            for (int d = 0; d < dim; ++d)
              {
                node += ((v >> d) & 1) * step;
                step *= n + 1;
              }
          }
        result = std::max(result,
                          std::abs(patch.data(row, node) -
                                   function(patch.vertices[v])));
      }
  return result;
}

template <int dim>
void
quantities(const bool simplices)
{
  Triangulation<dim> triangulation;
  if (simplices)
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 3);
  else
    {
      GridGenerator::subdivided_hyper_cube(triangulation, 4);
      GridTools::distort_random(.2, triangulation, true);
    }
  AgglomerationHandler<dim> velocity(triangulation), pressure(triangulation);
  for (auto *handler : {&velocity, &pressure})
    handler->agglomerate(Agglomeration::by_id<dim>(scattered(triangulation)));
  distribute_components(velocity, dim, 2, true);
  distribute_components(pressure, 1, 1, true);
  const Polynomial<dim> exact_u(2, dim), exact_p(1);
  Vector<double>        u(velocity.n_dofs()), p(pressure.n_dofs());
  TVT::project(velocity, exact_u, u);
  TVT::project(pressure, exact_p, p);

  const Vorticity<dim> vorticity;
  const Flux<dim>      flux;
  const Slope<dim>     slope;
  Output<dim>          output(velocity);
  output.add_data_vector(u, "velocity");
  output.add_data_vector(u, vorticity);
  output.add_data_vector(pressure, p, {"pressure"});
  output.add_data_vector(
    std::vector<const AgglomerationHandler<dim> *>{&velocity, &pressure},
    std::vector<const Vector<double> *>{&u, &p},
    flux);
  output.add_data_vector(
    std::vector<const AgglomerationHandler<dim> *>{&pressure},
    std::vector<const Vector<double> *>{&p},
    slope);
  const Curvature<dim> curvature;
  output.add_data_vector(u, curvature);
  output.build_patches(2);

  const std::string name =
    std::to_string(dim) + (simplices ? "-D simplices, " : "-D hypercubes, ");
  const auto names = output.get_dataset_names();
  check(name + "names",
        names.size() == 3 * dim + 7 && names[0] == "velocity" &&
          names[dim] == "vorticity" && names[dim + 1] == "pressure" &&
          names[dim + 2] == "flux" && names[2 * dim + 2] == "slope");
  const auto ranges = output.get_nonscalar_data_ranges();
  check(name + "vectors",
        ranges.size() == 3 && std::get<0>(ranges[1]) == dim + 2 &&
          std::get<1>(ranges[1]) == 2 * dim + 1 &&
          std::get<2>(ranges[1]) == "flux" &&
          std::get<3>(ranges[1]) ==
            DataComponentInterpretation::component_is_part_of_vector);
  // Patches have single precision.
  const double bound = 1e-5;
  const auto   compare =
    [&](const std::string &what, const unsigned int row, const auto &function) {
      check_below(name + what, difference(output, row, 2, function), bound);
    };
  compare("velocity", 1, [&](const Point<dim> &x) {
    return exact_u.value(x, 1);
  });
  compare("vorticity", dim, [&](const Point<dim> &x) {
    return exact_u.gradient(x, 1)[0] - exact_u.gradient(x, 0)[1];
  });
  compare("pressure", dim + 1, [&](const Point<dim> &x) {
    return exact_p.value(x);
  });
  compare("flux", dim + 2, [&](const Point<dim> &x) {
    return exact_u.value(x, 0) * exact_u.value(x, 0) + exact_p.value(x) - x[0];
  });
  compare("flux in y", dim + 3, [&](const Point<dim> &x) {
    return exact_u.value(x, 0) * exact_u.value(x, 1) - x[1];
  });
  compare("slope", 2 * dim + 2, [&](const Point<dim> &x) {
    return exact_p.gradient(x).norm_square();
  });
  // The polynomial is (.2 + sum_d a_d x_d)^2 with a_d = .4 + .3 d.
  double square = 0.;
  for (int d = 0; d < dim; ++d)
    square += (.4 + .3 * d) * (.4 + .3 * d);
  compare("Laplacian", 2 * dim + 3, [&](const Point<dim> &) {
    return 2. * square;
  });
  compare("mixed derivative", 2 * dim + 4, [&](const Point<dim> &) {
    return dim * 2. * .4 * .7;
  });
  std::ostringstream vtu;
  output.write_vtu(vtu);
  check(name + "file",
        contains(vtu.str(), "Name=\"flux\" NumberOfComponents=\"3\"") &&
          contains(vtu.str(), "Name=\"vorticity\""));

  // ---- other interpretations of components
  Output<dim>              scalars(velocity);
  std::vector<std::string> one_by_one;
  for (int d = 0; d < dim; ++d)
    one_by_one.push_back("u" + std::to_string(d));
  scalars.add_data_vector(u,
                          one_by_one,
                          std::vector<Interpretation>(
                            dim,
                            DataComponentInterpretation::component_is_scalar));
  check(name + "scalars", scalars.get_nonscalar_data_ranges().empty());

  // ---- mistakes
  AgglomerationHandler<dim> other(triangulation);
  other.agglomerate(Agglomeration::none<dim>());
  distribute_components(other, 1, 1, true);
  Vector<double>   w(other.n_dofs());
  const Slope<dim> normals(update_normal_vectors);
  check(name + "other polytopes",
        contains(message_of([&] { output.add_data_vector(other, w, {"w"}); }),
                 "have different polytopes"));
  check(name + "normals",
        contains(message_of([&] { output.add_data_vector(u, normals); }),
                 "its update flags ask for more"));
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  for (const bool simplices : {false, true})
    {
      quantities<2>(simplices);
      quantities<3>(simplices);
    }
}
