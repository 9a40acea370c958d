// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tables and indices of pointwise operators on affine simplices, which the
// kernels of a device use: a polynomial is evaluated at points of simplices and
// of facets from its values at nodes, and integrated against another one, as a
// warp does it.

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/quadrature/reference_quadrature.h>

#include "../../source/operators/pointwise_simplices.h"
#include "../../source/operators/simplex_reference.h"
#include "../assembly/compare.h"

using namespace Tessella;
using namespace Tessella::internal;

namespace
{
  template <int dim>
  class SimplexCheck
  {
  public:
    SimplexCheck(const PolytopicMesh<dim> &mesh, const unsigned int p)
      : mesh(mesh)
      , p(p)
      , why(simplices.set_up(mesh))
      , volume(make_rule(dim))
      , facet(make_rule(dim - 1))
      , field(dim, p, volume, facet)
      , test(dim, p, n_components, volume, facet)
    {}

    void
    run(const std::string &name)
    {
      if (!check(name + ", kind of mesh", why.empty()))
        return;
      set_nodal();
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        check_volume(k);
      check_below(name + ", values", largest[0], 1e-12);
      check_below(name + ", gradients", largest[1], 1e-12);
      check_below(name + ", integrals", largest[2], 1e-12);
      records.assign((simplices.facets.size() + 8) * 2 * test.record_size, 0.);
      const unsigned int first = (simplices.n_interior + 7) / 8 * 8;
      for (unsigned int i = 0; i < simplices.facets.size(); ++i)
        check_facet(simplices.facets[i],
                    i < simplices.n_interior ? i
                                             : first + i - simplices.n_interior,
                    i < simplices.n_interior);
      check_below(name + ", traces", largest[3], 1e-12);
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        check_records(k);
      check_below(name + ", integrals on facets", largest[4], 1e-12);
    }

  private:
    static constexpr unsigned int n_components = 2;

    SimplexRule
    make_rule(const unsigned int d) const
    {
      const ReferenceRule &rule = simplex_rule(d, 2 * p + 1);
      return SimplexRule(d,
                         rule.n_points,
                         rule.n_points,
                         rule.points.data(),
                         rule.weights.data());
    }

    // A polynomial of degree p and its gradient.
    double
    value(const Point<dim> &x) const
    {
      double sum = 0.3;
      for (int d = 0; d < dim; ++d)
        sum += (d + 0.7) * x[d];
      return std::pow(sum, p);
    }
    Tensor<1, dim>
    gradient(const Point<dim> &x) const
    {
      double sum = 0.3;
      for (int d = 0; d < dim; ++d)
        sum += (d + 0.7) * x[d];
      Tensor<1, dim> result;
      for (int d = 0; d < dim; ++d)
        result[d] = p == 0 ? 0. : p * std::pow(sum, p - 1.) * (d + 0.7);
      return result;
    }

    // A point from barycentric coordinates 1, 2, .. and vertices.
    static Point<dim>
    position(const double      *vertices,
             const double      *coordinates,
             const unsigned int n)
    {
      Point<dim> x;
      for (int d = 0; d < dim; ++d)
        {
          x[d] = vertices[d];
          for (unsigned int v = 0; v < n; ++v)
            x[d] +=
              coordinates[v] * (vertices[(v + 1) * dim + d] - vertices[d]);
        }
      return x;
    }
    const double *
    vertices(const unsigned int k) const
    {
      return &mesh.subcell_vertices[dim * mesh.subcell_vertex_offset[k]];
    }

    void
    set_nodal()
    {
      const SimplexReference reference(dim, p);
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        for (unsigned int i = 0; i < field.n_nodes; ++i)
          nodal.push_back(value(
            position(vertices(k), &reference.nodes[i * (dim + 1) + 1], dim)));
    }

    // Row l / 4 and column l % 4 of steps of the table with the first entry
    // @p first, for point q.
    double
    product(const std::vector<double>                       &table,
            const std::size_t                                first,
            const unsigned int                               n_nodes,
            const unsigned int                               q,
            const std::function<double(const unsigned int)> &operand) const
    {
      double sum = 0.;
      for (unsigned int step = 0; step < (n_nodes + 3) / 4; ++step)
        for (unsigned int column = 0; column < 4; ++column)
          if (4 * step + column < n_nodes)
            sum += table[(first + step) * 32 + q % 8 * 4 + column] *
                   operand(4 * step + column);
      return sum;
    }

    void
    find(const unsigned int i, const double difference)
    {
      largest[i] = std::max(largest[i], std::abs(difference));
    }

    void
    check_volume(const unsigned int k)
    {
      const auto operand = [&](const unsigned int i) {
        return nodal[k * field.n_nodes + i];
      };
      const double *geometry = &simplices.geometry[k * (dim * dim + 1)];
      double        integral = 0., expected = 0.;
      for (unsigned int q = 0; q < volume.n_points(); ++q)
        {
          const Point<dim> x =
            position(vertices(k), &volume.points[q * dim], dim);
          const unsigned int tile = q / 8;
          find(0,
               value(x) - product(field.values,
                                  tile * field.node_steps,
                                  field.n_nodes,
                                  q,
                                  operand));
          Tensor<1, dim> found;
          for (int a = 0; a < dim; ++a)
            {
              const double slope = product(field.derivatives,
                                           (tile * dim + a) * field.node_steps,
                                           field.n_nodes,
                                           q,
                                           operand);
              for (int d = 0; d < dim; ++d)
                found[d] += geometry[a * dim + d] * slope;
            }
          find(1, (gradient(x) - found).norm() / (1. + gradient(x).norm()));
          // The function times itself and its derivative.
          expected += geometry[dim * dim] * volume.weights[q] *
                      (value(x) * value(x) + gradient(x) * gradient(x));
          const unsigned int e = q % 2, lane = q % 8 / 2;
          for (unsigned int i = 0; i < test.n_nodes; ++i)
            for (int r = 0; r <= dim; ++r)
              {
                const double entry =
                  test
                    .test[(((tile * test.node_tiles + i / 8) * (dim + 1) + r) *
                             2 +
                           e) *
                            32 +
                          i % 8 * 4 + lane];
                double result = value(x);
                if (r > 0)
                  {
                    result = 0.;
                    for (int d = 0; d < dim; ++d)
                      result += geometry[(r - 1) * dim + d] * gradient(x)[d];
                  }
                integral += geometry[dim * dim] * entry * result * operand(i);
              }
        }
      find(2, (integral - expected) / (1. + std::abs(expected)));
    }

    void
    check_facet(const Device::SimplexFacet &data,
                const unsigned int          slot,
                const bool                  interior)
    {
      const unsigned int f = data.facet;
      const double      *corners =
        &mesh.facet_vertices[dim * mesh.facet_vertex_offset[f]];
      unsigned int interface = 0;
      while (mesh.facet_offset[interface + 1] <= f)
        ++interface;
      for (unsigned int s = 0; s < (interior ? 2 : 1); ++s)
        {
          Point<dim> shift;
          if (s == 1)
            for (int d = 0; d < dim; ++d)
              shift[d] = mesh.shift[dim * mesh.interface_shift[interface] + d];
          const unsigned int k       = data.polytope[s];
          const auto         operand = [&](const unsigned int i) {
            return nodal[k * field.n_nodes +
                         field
                           .face_node[data.code[s] * 4 * field.face_steps + i]];
          };
          for (unsigned int q = 0; q < facet.n_points(); ++q)
            {
              const Point<dim> x =
                position(corners, &facet.points[q * (dim - 1)], dim - 1);
              find(3,
                   value(x + shift) - product(field.face_values,
                                              q / 8 * field.face_steps,
                                              field.n_face_nodes,
                                              q,
                                              operand));
              for (unsigned int i = 0; i < test.n_face_nodes; ++i)
                for (unsigned int c = 0; c < n_components; ++c)
                  records[(2 * slot + s) * test.record_size +
                          c * test.n_face_nodes + i] +=
                    mesh.facet_measure[f] * (c + 1.) * (x + shift)[0] *
                    test.face_test[((q / 8 * 2 + q % 2) * test.face_tiles +
                                    i / 8) *
                                     32 +
                                   i % 8 * 4 + q % 8 / 2];
            }
        }
    }

    // Integrals of x times the polynomial over the boundary of a simplex.
    void
    check_records(const unsigned int k)
    {
      std::vector<double> rows(n_components * test.n_nodes);
      for (int a = 0; a <= dim; ++a)
        {
          const unsigned int entry = simplices.face_records[k * 4 + a],
                             code  = entry % 32;
          for (unsigned int i = 0; i < test.n_nodes; ++i)
            {
              const unsigned int position =
                test.face_position[code * test.n_nodes + i];
              if (position != 0xff)
                for (unsigned int c = 0; c < n_components; ++c)
                  rows[c * test.n_nodes + i] +=
                    records[entry / 32 * test.record_size +
                            c * test.n_face_nodes + position];
            }
        }
      double expected = 0.;
      for (unsigned int e = mesh.polytope_interface_offset[k];
           e < mesh.polytope_interface_offset[k + 1];
           ++e)
        {
          const unsigned int i    = mesh.polytope_interface[e] / 2,
                             side = mesh.polytope_interface[e] % 2;
          Point<dim> shift;
          if (side == 1)
            for (int d = 0; d < dim; ++d)
              shift[d] = mesh.shift[dim * mesh.interface_shift[i] + d];
          for (unsigned int f = mesh.facet_offset[i];
               f < mesh.facet_offset[i + 1];
               ++f)
            for (unsigned int q = 0; q < facet.n_points(); ++q)
              {
                const Point<dim> x =
                  position(
                    &mesh.facet_vertices[dim * mesh.facet_vertex_offset[f]],
                    &facet.points[q * (dim - 1)],
                    dim - 1) +
                  shift;
                expected +=
                  mesh.facet_measure[f] * facet.weights[q] * x[0] * value(x);
              }
        }
      for (unsigned int c = 0; c < n_components; ++c)
        {
          double found = 0.;
          for (unsigned int i = 0; i < test.n_nodes; ++i)
            found += rows[c * test.n_nodes + i] * nodal[k * test.n_nodes + i];
          find(4, (found - (c + 1.) * expected) / (1. + std::abs(expected)));
        }
    }

    const PolytopicMesh<dim> &mesh;
    const unsigned int        p;
    PointwiseSimplices<dim>   simplices;
    const std::string         why;
    const SimplexRule         volume, facet;
    const SimplexFieldTables  field;
    const SimplexTestTables   test;
    std::vector<double>       nodal, records;
    double                    largest[5] = {};
  };



  template <int dim>
  void
  check_meshes()
  {
    const std::string  d = std::to_string(dim) + "-D ";
    Triangulation<dim> triangulation, periodic;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 2);
    GridTools::transform(
      [](const Point<dim> &x) {
        Point<dim> y = x;
        y[0] += 0.1 * std::sin(5. * x[1]) * x[dim - 1];
        y[dim - 1] += 0.08 * std::cos(4. * x[0]) + 0.2 * x[1] * x[0];
        return y;
      },
      triangulation);
    make_mesh("periodic simplices", periodic);
    for (const auto *mesh : {&triangulation, &periodic})
      {
        AgglomerationHandler<dim> handler(*mesh);
        handler.agglomerate(Agglomeration::none<dim>());
        handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
        for (unsigned int p = 0; p <= 4; ++p)
          SimplexCheck<dim>(handler.polytopic_mesh(), p)
            .run(d + (mesh == &periodic ? "periodic" : "simplices") +
                 ", degree " + std::to_string(p));
      }
    // Meshes of other kinds.
    const auto check_reason = [&](const std::string                  &name,
                                  const Triangulation<dim>           &mesh,
                                  const Agglomeration::Strategy<dim> &strategy,
                                  const std::string                  &text) {
      AgglomerationHandler<dim> handler(mesh);
      handler.agglomerate(strategy);
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
      const std::string why =
        PointwiseSimplices<dim>().set_up(handler.polytopic_mesh());
      check(d + name, why.find(text) != std::string::npos);
    };
    check_reason("agglomerates",
                 triangulation,
                 make_strategy<dim>("steps"),
                 "one affine simplex");
    Triangulation<dim> boxes;
    make_mesh("box", boxes);
    check_reason("boxes",
                 boxes,
                 Agglomeration::none<dim>(),
                 "one affine simplex");
  }
} // namespace

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  check_meshes<2>();
  check_meshes<3>();
}
