// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Functions on polytopes as functions of a DoFHandler: the same values at
// points of the cells, and deal.II's FEFieldFunction, DataPostprocessor and
// integrate_difference() on them, for triangles, quadrilaterals, tetrahedra,
// hexahedra and a mixed mesh, several degrees and components.

#include <deal.II/base/function_lib.h>
#include <deal.II/base/quadrature_lib.h>

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/numerics/data_out.h>
#include <deal.II/numerics/data_postprocessor.h>
#include <deal.II/numerics/fe_field_function.h>
#include <deal.II/numerics/vector_tools.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/function_pointer.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/dof_handler_bridge.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "../messages.h"
#include "../mixed_mesh.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  using VectorType = LinearAlgebra::distributed::Vector<double>;

  bool
  on_all(const bool condition)
  {
    return Utilities::MPI::min(condition ? 1 : 0, MPI_COMM_WORLD) == 1;
  }

  // Coefficients that have nothing to do with each other.
  template <int dim>
  VectorType
  any_function(const Tessella::AgglomerationHandler<dim> &handler)
  {
    VectorType u(handler.locally_owned_dofs(), handler.get_communicator());
    for (const auto i : u.locally_owned_elements())
      u(i) = std::sin(1. + 7. * i);
    return u;
  }

  // Largest difference between the polynomials of polytopes and the function of
  // the DoFHandler at points inside the cells.
  template <int dim>
  double
  difference(const Tessella::AgglomerationHandler<dim> &handler,
             const VectorType                          &u,
             const DoFHandler<dim>                     &dof_handler,
             const VectorType                          &v)
  {
    const unsigned int          n_components = handler.n_components();
    std::vector<Point<dim>>     points;
    std::vector<Vector<double>> values;
    double                      largest = 0.;
    const Point<dim>            where =
      dim == 2 ? Point<dim>(.31, .23) : Point<dim>(.31, .23, .17);
    const Quadrature<dim> rule(where);
    std::vector<double>   shape;
    for (const auto &polytope : handler.polytope_iterators())
      for (const auto &on_mesh : polytope->get_agglomerate())
        {
          const typename DoFHandler<dim>::active_cell_iterator cell(
            &on_mesh->get_triangulation(),
            on_mesh->level(),
            on_mesh->index(),
            &dof_handler);
          const FiniteElement<dim> &fe = cell->get_fe();
          const Mapping<dim>       &mapping =
            cell->reference_cell().template get_default_linear_mapping<dim>();
          const Point<dim> x = mapping.transform_unit_to_real_cell(cell, where);
          // the polynomial of the polytope
          const FiniteElement<dim>            &own = polytope->get_fe();
          const auto                           box = polytope->bounding_box();
          std::vector<types::global_dof_index> indices;
          polytope->get_dof_indices(indices);
          const unsigned int        n    = indices.size() / n_components;
          const Point<dim>          unit = box.real_to_unit(x);
          const FiniteElement<dim> &base = own.base_element(0);
          std::vector<types::global_dof_index> dofs(fe.n_dofs_per_cell());
          cell->get_dof_indices(dofs);
          for (unsigned int c = 0; c < n_components; ++c)
            {
              double expected = 0., present = 0.;
              for (unsigned int i = 0; i < n; ++i)
                expected += u(indices[c * n + i]) * base.shape_value(i, unit) /
                            std::sqrt(box.volume());
              for (unsigned int i = 0; i < dofs.size(); ++i)
                if (fe.system_to_component_index(i).first == c)
                  present += v(dofs[i]) * fe.shape_value(i, where);
              largest = std::max(largest, std::abs(expected - present));
            }
        }
    return Utilities::MPI::max(largest, MPI_COMM_WORLD);
  }

  template <int dim>
  void
  check_mesh(
    const std::string        &name,
    const Triangulation<dim> &triangulation,
    const unsigned int        degree,
    const unsigned int        n_components,
    const PolynomialSpaceType space = PolynomialSpaceType::total_degree)
  {
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(Agglomeration::rtree<dim>(1));
    handler.distribute_dofs(
      FESystem<dim>(FE_BoundingBoxLegendre<dim>(degree, space), n_components));
    const VectorType      u = any_function(handler);
    DoFHandlerBridge<dim> bridge(handler);
    VectorType            v;
    bridge.interpolate(u, v);
    check_below(name + ", p = " + std::to_string(degree),
                difference(handler, u, bridge.get_dof_handler(), v) /
                  u.linfty_norm(),
                1e-11);
    HostVector<double> other;
    bridge.interpolate(u, VectorView(other));
    bool same = other.locally_owned_size() == v.locally_owned_size();
    for (unsigned int i = 0; same && i < other.locally_owned_size(); ++i)
      same = other.local_element(i) == v.local_element(i);
    check("another vector", on_all(same));
  }

  class Vorticity : public DataPostprocessorScalar<2>
  {
  public:
    Vorticity()
      : DataPostprocessorScalar<2>("vorticity", update_gradients)
    {}
    void
    evaluate_vector_field(const DataPostprocessorInputs::Vector<2> &input,
                          std::vector<Vector<double>> &result) const override
    {
      for (unsigned int q = 0; q < result.size(); ++q)
        result[q][0] =
          input.solution_gradients[q][1][0] - input.solution_gradients[q][0][1];
    }
  };

  // deal.II's own functions on a rotation about the origin.
  void
  check_dealii(const Triangulation<2> &triangulation)
  {
    Tessella::AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(Agglomeration::rtree<2>(1));
    handler.distribute_dofs(FESystem<2>(FE_BoundingBoxLegendre<2>(2), 2));
    HostVector<double> u(handler.locally_owned_dofs(),
                         handler.get_communicator());
    const auto         rotation = [](const Point<2> &x) {
      return Tensor<1, 2>({-x[1], x[0] + x[0] * x[1]});
    };
    Tessella::VectorTools::project(handler, rotation, u);
    const DoFHandlerBridge<2> bridge(handler);
    VectorType                v;
    bridge.interpolate(u, v);

    const FunctionPointer<2> exact(rotation);
    Vector<float>            errors;
    const Quadrature<2>      rule = QGauss<2>(3);
    dealii::VectorTools::integrate_difference(handler.get_mapping(),
                                              bridge.get_dof_handler(),
                                              v,
                                              *exact,
                                              errors,
                                              rule,
                                              dealii::VectorTools::L2_norm);
    check_below("integrate_difference()",
                dealii::VectorTools::compute_global_error(
                  triangulation, errors, dealii::VectorTools::L2_norm),
                1e-12);

    Functions::FEFieldFunction<2, VectorType> field(bridge.get_dof_handler(),
                                                    v,
                                                    handler.get_mapping());
    double                                    largest = 0.;
    unsigned int                              n       = 0;
    for (const auto &cell : triangulation.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          Vector<double> value(2);
          field.vector_value(cell->center(), value);
          for (unsigned int c = 0; c < 2; ++c)
            largest =
              std::max(largest,
                       std::abs(value[c] - rotation(cell->center())[c]));
          ++n;
        }
    check("FEFieldFunction", on_all(n > 0 && largest < 1e-12));

    const Vorticity vorticity;
    DataOut<2>      data_out;
    data_out.attach_dof_handler(bridge.get_dof_handler());
    data_out.add_data_vector(v, vorticity);
    data_out.build_patches(handler.get_mapping());
    std::ostringstream text;
    data_out.write_gnuplot(text);
    std::istringstream lines(text.str());
    bool               good = true;
    n                       = 0;
    for (std::string line; std::getline(lines, line);)
      {
        double x, y, w;
        if (std::istringstream(line) >> x >> y >> w)
          {
            good = good && std::abs(w - (2. + y)) < 1e-5;
            ++n;
          }
      }
    check("DataPostprocessor", on_all(good && n > 0));
  }

  void
  check_errors(const Triangulation<2> &triangulation)
  {
    Tessella::AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(Agglomeration::rtree<2>(1));
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
    const VectorType u = any_function(handler);
    VectorType       v;
    const auto       message = [&](const FiniteElement<2> &fe) {
      DoFHandler<2> dof_handler(triangulation);
      dof_handler.distribute_dofs(fe);
      return message_of([&]() {
        Tessella::VectorTools::interpolate_to_dof_handler(handler,
                                                          u,
                                                          dof_handler,
                                                          v);
      });
    };
    check("continuous element", contains(message(FE_Q<2>(1)), "discontinuous"));
    check("components",
          contains(message(FESystem<2>(FE_DGQ<2>(1), 2)), "components"));
    check("element of choice", message(FE_DGQ<2>(3)) == "no exception");
    Triangulation<2> triangles;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangles, 2);
    Tessella::AgglomerationHandler<2> other(triangles);
    other.agglomerate(Agglomeration::rtree<2>(1));
    other.distribute_dofs(FE_BoundingBoxLegendre<2>(7));
    check("degree that deal.II does not have",
          contains(message_of([&]() { DoFHandlerBridge<2> bridge(other); }),
                   "take a lower degree"));
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  {
    parallel::distributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
    GridGenerator::hyper_L(triangulation);
    triangulation.refine_global(2);
    for (const auto &cell : triangulation.active_cell_iterators())
      if (cell->is_locally_owned() && cell->center()[0] < -.5)
        cell->set_refine_flag();
    triangulation.execute_coarsening_and_refinement();
    GridTools::transform(
      [](const Point<2> &x) {
        return Point<2>(x[0] + .2 * x[0] * x[1], x[1] - .1 * x[0] * x[1]);
      },
      triangulation);
    check_mesh("quadrilaterals", triangulation, 1, 1);
    check_mesh("quadrilaterals", triangulation, 4, 2);
    check_dealii(triangulation);
    check_errors(triangulation);
  }
  {
    parallel::distributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(3);
    check_mesh("tensor product space",
               triangulation,
               2,
               1,
               PolynomialSpaceType::tensor_product);
  }
  {
    parallel::distributed::Triangulation<3> triangulation(MPI_COMM_WORLD);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(2);
    GridTools::transform(
      [](const Point<3> &x) {
        return Point<3>(x[0] + .2 * x[1] * x[2], x[1], x[2] - .1 * x[0] * x[1]);
      },
      triangulation);
    check_mesh("hexahedra", triangulation, 3, 3);
  }
  {
    Triangulation<2> serial;
    GridGenerator::subdivided_hyper_cube_with_simplices(serial, 6);
    parallel::fullydistributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
    Agglomeration::distribute<2>(serial,
                                 Agglomeration::rtree<2>(1),
                                 triangulation);
    check_mesh("triangles", triangulation, 0, 1);
    check_mesh("triangles", triangulation, 2, 2);
  }
  {
    Triangulation<3> serial;
    GridGenerator::subdivided_hyper_cube_with_simplices(serial, 3);
    parallel::fullydistributed::Triangulation<3> triangulation(MPI_COMM_WORLD);
    Agglomeration::distribute<3>(serial,
                                 Agglomeration::rtree<3>(1),
                                 triangulation);
    check_mesh("tetrahedra", triangulation, 2, 1);
  }
  // Every process has the whole mixed meshes.
  {
    Triangulation<2>         triangulation;
    std::vector<CellData<2>> cells(2);
    cells[0].vertices = {0, 1, 2, 3};
    cells[1].vertices = {1, 4, 3};
    triangulation.create_triangulation(
      {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, .5}}, cells, SubCellData());
    check_mesh("quadrilateral and triangle", triangulation, 2, 2);
  }
#ifndef DEBUG
  // The Debug version of deal.II 9.4 does not compare the elements of wedges
  // and pyramids.
  {
    Triangulation<3> triangulation;
    make_mixed_mesh(triangulation);
    check_mesh("all kinds of cells", triangulation, 1, 2);
  }
#endif
}
