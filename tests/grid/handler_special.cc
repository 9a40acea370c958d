// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Curved, mixed and periodic meshes; numbering, sparsity patterns, errors.

#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/fe/mapping_q_eulerian.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/manifold_lib.h>
#include <deal.II/lac/block_sparsity_pattern.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/numerics/vector_tools.h>

#include <tessella/base/config.h>
#include <tessella/grid/penalty.h>

#ifdef TESSELLA_HAVE_EPETRA
#  include <deal.II/lac/trilinos_sparsity_pattern.h>
#endif

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "../meshes.h"
#include "../messages.h"
#include "../mixed_mesh.h"
#include "check_mesh.h"

// ---- curved

// A displacement of the unit cube. Linear: x_0 and x_0 / 2 in the first and
// second direction; quadratic: x_0^2 / 2 + x_1 (1 - x_1).
template <int dim>
class Displacement : public Function<dim>
{
public:
  Displacement(const bool quadratic)
    : Function<dim>(dim)
    , quadratic(quadratic)
  {}

  double
  value(const Point<dim> &x, const unsigned int component) const override
  {
    if (quadratic)
      return component == 0 ? .5 * x[0] * x[0] + x[1] * (1. - x[1]) : 0.;
    return component == 0 ? x[0] : component == 1 ? .5 * x[0] : 0.;
  }

private:
  const bool quadratic;
};

// A chart that is sheared by a quadratic function.
template <int dim>
class ShearManifold : public ChartManifold<dim>
{
public:
  std::unique_ptr<Manifold<dim>>
  clone() const override
  {
    return std::make_unique<ShearManifold<dim>>();
  }
  Point<dim>
  push_forward(const Point<dim> &p) const override
  {
    Point<dim> q = p;
    q[1] += .3 * (p[0] * p[0] - 1.);
    return q;
  }
  Point<dim>
  pull_back(const Point<dim> &p) const override
  {
    Point<dim> q = p;
    q[1] -= .3 * (p[0] * p[0] - 1.);
    return q;
  }
};

// Points of tabulated sub-cells lie in the boxes, and integrate moments as the
// surface does: int x_0^4 dx = int x_0^5 n_0 / 5 dS.
template <int dim>
void
check_tables(const std::string &name, const AgglomerationHandler<dim> &handler)
{
  const PolytopicMesh<dim> &mesh   = handler.polytopic_mesh();
  double                    volume = 0., surface = 0., measure = 0.;
  bool                      inside = true;
  for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
    for (unsigned int s = mesh.subcell_offset[k];
         s < mesh.subcell_offset[k + 1];
         ++s)
      {
        if (mesh.subcell_type[s] != SubCellType::tabulated)
          continue;
        for (unsigned int q = mesh.subcell_point_offset[s];
             q < mesh.subcell_point_offset[s + 1];
             ++q)
          {
            const double *x = mesh.subcell_points.data() + q * dim;
            for (int d = 0; d < dim; ++d)
              inside &= x[d] > mesh.box[2 * dim * k + d] &&
                        x[d] < mesh.box[2 * dim * k + dim + d];
            volume += std::pow(x[0], 4) * mesh.subcell_point_weights[q];
            measure += mesh.subcell_point_weights[q];
          }
      }
  check(name + " points in boxes", inside);
  // Only if all cells are tabulated, so that no other contribution is missing.
  for (const SubCellType type : mesh.subcell_type)
    if (type != SubCellType::tabulated)
      return;
  double sum = 0.;
  for (const double m : mesh.measure)
    sum += m;
  check_close(name + " weights", measure, sum, 1e-12 * sum);
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    if (mesh.interface_boundary_id[i] != invalid_index)
      for (unsigned int f = mesh.facet_offset[i]; f < mesh.facet_offset[i + 1];
           ++f)
        on_facet<dim>(mesh,
                      f,
                      [&](const Point<dim> &x, const Tensor<1, dim> &normal) {
                        surface += std::pow(x[0], 5) / 5. * normal[0];
                      });
  check_close(name + " moments", volume, surface, 1e-12 * surface);
}

template <int dim>
void
check_curved()
{
  const std::string d = std::to_string(dim) + "-D ";
  {
    Triangulation<dim> tria;
    GridGenerator::hyper_ball(tria);
    tria.refine_global(dim == 2 ? 3 : 1);
    const unsigned int  k = dim == 2 ? 4 : 2;
    const MappingQ<dim> mapping(k);
    check_all(d + "ball", tria, GridTools::volume(tria, mapping), &mapping);
    {
      AgglomerationHandler<dim> handler(tria, &mapping);
      handler.agglomerate(mixed_up<dim>(5));
      unsigned int n_boundary = 0;
      for (const auto &cell : tria.active_cell_iterators())
        n_boundary += cell->at_boundary();
      check(d + "ball: cells at the boundary are curved",
            handler.n_curved_cells() >= n_boundary &&
              handler.n_curved_cells() < tria.n_active_cells());
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
      handler.tabulate(0);
      check_tables(d + "ball", handler);
      // A higher order replaces the table, a lower one does not.
      const std::size_t n =
        handler.polytopic_mesh().subcell_point_weights.size();
      handler.tabulate(0);
      check(d + "ball: same order",
            handler.polytopic_mesh().subcell_point_weights.size() == n);
      handler.tabulate(6);
      check(d + "ball: higher order",
            handler.polytopic_mesh().subcell_point_weights.size() > n);
      check_tables(d + "ball, higher order", handler);
    }
    // In 3-D away from the boundary, because the two arcs on the finer side of
    // a hanging face with an edge on the sphere differ from the arc of the
    // coarser side.
    if (dim == 2)
      refine_some(tria, 1);
    else
      {
        for (const auto &cell : tria.active_cell_iterators())
          if (cell->center().norm() < .35)
            cell->set_refine_flag();
        tria.execute_coarsening_and_refinement();
      }
    check_all(d + "ball with hanging nodes",
              tria,
              GridTools::volume(tria, mapping),
              &mapping);
    // A linear mapping does not curve cells.
    const MappingQ<dim>       linear(1);
    AgglomerationHandler<dim> handler(tria, &linear);
    handler.agglomerate(mixed_up<dim>(5));
    check(d + "ball, linear mapping", handler.n_curved_cells() == 0);
  }
  {
    // One layer of cells, each of which is curved on two faces.
    Triangulation<dim> tria;
    GridGenerator::hyper_shell(tria, Point<dim>(), .5, 1., dim == 2 ? 8 : 12);
    const MappingQ<dim> mapping(2);
    check_all(d + "shell", tria, GridTools::volume(tria, mapping), &mapping);
    AgglomerationHandler<dim> handler(tria, &mapping);
    handler.agglomerate(mixed_up<dim>(3));
    check(d + "shell: all cells are curved",
          handler.n_curved_cells() == tria.n_active_cells());
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
    handler.tabulate(0);
    check_tables(d + "shell", handler);
  }
  {
    // Vertices that the mapping moves: a linear displacement of the square or
    // cube, and a quadratic one.
    Triangulation<dim> tria;
    GridGenerator::subdivided_hyper_cube(tria, 3);
    FESystem<dim>   fe(FE_Q<dim>(2), dim);
    DoFHandler<dim> dof_handler(tria);
    dof_handler.distribute_dofs(fe);
    Vector<double> displacement(dof_handler.n_dofs());
    for (const bool quadratic : {false, true})
      {
        dealii::VectorTools::interpolate(dof_handler,
                                         Displacement<dim>(quadratic),
                                         displacement);
        const MappingQEulerian<dim> mapping(2, dof_handler, displacement);
        check_all(d + (quadratic ? "quadratic" : "linear") + " displacement",
                  tria,
                  quadratic ? 1.5 : 2.,
                  &mapping);
        AgglomerationHandler<dim> handler(tria, &mapping);
        handler.agglomerate(mixed_up<dim>(3));
        check(d + "displaced cells",
              handler.n_curved_cells() ==
                (quadratic ? tria.n_active_cells() : 0));
      }
  }
  {
    // Curved simplices.
    Triangulation<dim> cubes, tria;
    GridGenerator::subdivided_hyper_cube(cubes, 2, -1., 1.);
    GridGenerator::convert_hypercube_to_simplex_mesh(cubes, tria);
    for (const auto &cell : tria.active_cell_iterators())
      cell->set_all_manifold_ids(1);
    // A shear by a quadratic function preserves volumes.
    tria.set_manifold(1, ShearManifold<dim>());
    const MappingFE<dim> mapping{FE_SimplexP<dim>(2)};
    // Vertices have x_0 = -1, 0 or 1, and are moved like the chart.
    GridTools::transform(
      [](const Point<dim> &p) { return ShearManifold<dim>().push_forward(p); },
      tria);
    const double volume = dim == 2 ? 4. : 8.;
    check_all(d + "curved simplices", tria, volume, &mapping);
    AgglomerationHandler<dim> handler(tria, &mapping);
    handler.agglomerate(mixed_up<dim>(3));
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(3));
    handler.tabulate(0);
    check(d + "curved simplices are curved", handler.n_curved_cells() > 0);
    check_tables(d + "curved simplices", handler);
  }
}

// A mapping that throws while tables of a higher order are made: those of a
// lower order are made again, and not taken from what is left.
template <int dim>
class FailingMapping : public MappingQ<dim>
{
public:
  FailingMapping(const std::shared_ptr<bool> &fails)
    : MappingQ<dim>(2)
    , fails(fails)
  {}

  std::unique_ptr<Mapping<dim>>
  clone() const override
  {
    return std::make_unique<FailingMapping<dim>>(fails);
  }

  std::vector<Point<dim>>
  compute_mapping_support_points(
    const typename Triangulation<dim>::cell_iterator &cell) const override
  {
    AssertThrow(!*fails, ExcMessage("There is no such cell."));
    return MappingQ<dim>::compute_mapping_support_points(cell);
  }

private:
  const std::shared_ptr<bool> fails;
};

template <int dim>
void
failing_mapping()
{
  const std::string  d = std::to_string(dim) + "-D ";
  Triangulation<dim> tria;
  GridGenerator::hyper_shell(tria, Point<dim>(), .5, 1., dim == 2 ? 8 : 12);
  const auto                fails = std::make_shared<bool>(false);
  const FailingMapping<dim> mapping(fails);
  AgglomerationHandler<dim> handler(tria, &mapping);
  handler.agglomerate(mixed_up<dim>(3));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  handler.tabulate(0);
  const std::vector<double> points = handler.polytopic_mesh().subcell_points,
                            weights =
                              handler.polytopic_mesh().facet_point_weights;
  *fails = true;
  check(d + "tables for which the mapping fails",
        message_of([&]() {
          handler.tabulate(3);
        }).find("There is no such cell.") != std::string::npos);
  *fails = false;
  handler.tabulate(0);
  check(d + "tables afterwards",
        handler.polytopic_mesh().subcell_points == points &&
          handler.polytopic_mesh().facet_point_weights == weights);
}

// ---- mixed

void
check_mixed_2d()
{
  // A square and two triangles beside it, refined by hand: rows of squares on
  // the left, triangles on the right.
  const unsigned int       n = 4;
  std::vector<Point<2>>    vertices;
  std::vector<CellData<2>> cells;
  for (unsigned int j = 0; j <= n; ++j)
    for (unsigned int i = 0; i <= 2 * n; ++i)
      vertices.emplace_back(double(i) / n, double(j) / n + .02 * (i * i % 3));
  const auto id = [&](const unsigned int i, const unsigned int j) {
    return j * (2 * n + 1) + i;
  };
  for (unsigned int j = 0; j < n; ++j)
    for (unsigned int i = 0; i < 2 * n; ++i)
      if (i < n)
        {
          CellData<2> cell(4);
          cell.vertices = {id(i, j),
                           id(i + 1, j),
                           id(i, j + 1),
                           id(i + 1, j + 1)};
          cells.push_back(cell);
        }
      else
        {
          CellData<2> cell(3);
          cell.vertices = {id(i, j), id(i + 1, j), id(i + 1, j + 1)};
          cells.push_back(cell);
          // with the wrong orientation
          cell.vertices = {id(i, j), id(i, j + 1), id(i + 1, j + 1)};
          if (j % 2 == 0)
            std::swap(cell.vertices[1], cell.vertices[2]);
          cells.push_back(cell);
        }
  Triangulation<2> tria;
  tria.create_triangulation(vertices, cells, SubCellData());
  check_all("2-D mixed", tria, 2.);
}

void
check_mixed_3d()
{
  Triangulation<3> tria;
  make_mixed_mesh(tria);
  // 1 + 1/6 + 1/2 + volume of the tetrahedron
  check_all("3-D mixed", tria, 1. + 1. / 6. + .5 + 1. / 12.);
}

// ---- periodic

template <int dim>
void
check_periodic()
{
  const std::string d = std::to_string(dim) + "-D periodic ";
  for (const unsigned int n_refined : {0, 1})
    {
      Triangulation<dim> tria;
      GridGenerator::subdivided_hyper_cube(tria, 3, 0., 1., true);
      add_periodic_faces(tria, {0, 1});
      refine_some(tria, n_refined);
      const std::string name =
        d + (n_refined > 0 ? "with hanging nodes" : "cubes");
      check_all(name, tria, 1.);

      AgglomerationHandler<dim> handler(tria);
      handler.agglomerate(mixed_up<dim>(1));
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      check(name + ": one polytope, faces",
            mesh.n_interfaces() == (dim == 2 ? 2 : 4) &&
              mesh.interface_polytope[0] == 0 &&
              mesh.interface_polytope[1] == 0 &&
              mesh.polytope_interface.size() == (dim == 2 ? 4 : 6));
      // each face of a pair is counted once
      double area = 0.;
      for (unsigned int i = 0; i < 2; ++i)
        for (unsigned int f = mesh.facet_offset[i];
             f < mesh.facet_offset[i + 1];
             ++f)
          area += mesh.facet_measure[f];
      check_close(name + ": area", area, 2., 1e-12);
    }
  {
    // Faces that are not translations of each other.
    std::vector<Point<dim>> vertices;
    Triangulation<dim>      tria;
    GridGenerator::subdivided_hyper_cube(tria, 3, 0., 1., true);
    add_periodic_faces(tria, {0});
    GridTools::transform(
      [](const Point<dim> &p) {
        Point<dim> q = p;
        q[1] += .1 * p[0] * p[1];
        return q;
      },
      tria);
    check_throws<ExcUserInput>(
      d + "boundary that is no translation",
      [&]() {
        AgglomerationHandler<dim> handler(tria);
        handler.agglomerate(mixed_up<dim>(3));
      },
      "translations");
  }
}

// ---- thin cells

// Boundary layer cells are neither treated as cells without volume nor as
// affine cells.
void
check_thin()
{
  for (const bool affine : {true, false})
    {
      Triangulation<3> tria;
      GridGenerator::subdivided_hyper_cube(tria, 3);
      GridTools::transform(
        [affine](const Point<3> &p) {
          return Point<3>(p[0],
                          1e-7 * p[1] * (affine ? 1. : 1. + 1e-4 * p[0]),
                          1e-7 * p[2]);
        },
        tria);
      AgglomerationHandler<3> handler(tria);
      handler.agglomerate(mixed_up<3>(4));
      const auto &types = handler.polytopic_mesh().subcell_type;
      bool        right = true;
      for (const SubCellType type : types)
        right &= type == (affine ? SubCellType::parallelepiped
                                 : SubCellType::hypercube);
      check(affine ? "thin affine cells" : "thin cells, nearly affine", right);
    }
}

// ---- numbering

template <int dim>
void
check_numbering()
{
  const std::string  d = std::to_string(dim) + "-D ";
  Triangulation<dim> tria;
  GridGenerator::subdivided_hyper_cube(tria, 4);
  AgglomerationHandler<dim> handler(tria);

  // As in deal.II's handler, the given cells are agglomerated and the others
  // remain single.
  handler.define_agglomerate({handler.active_cell(5), handler.active_cell(2)});
  handler.define_agglomerate({handler.active_cell(0), handler.active_cell(1)});
  handler.finalize_agglomerates();
  check(d + "agglomerates by hand",
        handler.n_polytopes() == tria.n_active_cells() - 2 &&
          handler.polytope_of_cell()[5] == 0 &&
          handler.polytope_of_cell()[2] == 0 &&
          handler.polytope_of_cell()[1] == 1 &&
          handler.polytope_of_cell()[3] == 2 &&
          handler.polytope(0).n_background_cells() == 2 &&
          handler.polytope(0).get_agglomerate()[0] == handler.active_cell(2));
  check_mesh(d + "agglomerates by hand, mesh", handler, 1.);

  // hp, two components
  hp::FECollection<dim>     collection;
  std::vector<unsigned int> indices(handler.n_polytopes());
  for (unsigned int p = 0; p < 4; ++p)
    collection.push_back(FESystem<dim>(FE_BoundingBoxLegendre<dim>(p), 2));
  std::uint64_t n_dofs = 0;
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    {
      indices[k] = k % 4;
      n_dofs += 2 * (dim == 2 ? (k % 4 + 1) * (k % 4 + 2) / 2
                              : (k % 4 + 1) * (k % 4 + 2) * (k % 4 + 3) / 6);
    }
  handler.distribute_dofs(collection, indices);
  check(d + "hp: dofs",
        handler.n_dofs() == n_dofs && handler.n_components() == 2 &&
          handler.max_degree() == 3 &&
          handler.max_dofs_per_polytope() == (dim == 2 ? 20 : 40) &&
          handler.polytope(6).degree() == 2 &&
          handler.polytope(6).active_fe_index() == 2);
  std::vector<types::global_dof_index> dofs;
  handler.polytope(1).get_dof_indices(dofs);
  check(d + "hp: indices of a polytope",
        dofs.size() == 2 * (dim + 1) && dofs.front() == 2 &&
          dofs.back() == 2 + 2 * (dim + 1) - 1);

  // Sparsity: blocks of neighbours, the same in every class.
  DynamicSparsityPattern dsp(handler.n_dofs(), handler.n_dofs());
  handler.make_sparsity_pattern(dsp);
  std::uint64_t n_nonzeros = 0;
  bool          right      = true;
  for (const auto &polytope : handler.polytope_iterators())
    {
      polytope.get_dof_indices(dofs);
      std::uint64_t n_columns = dofs.size();
      for (unsigned int f = 0; f < polytope.n_faces(); ++f)
        if (!polytope.at_boundary(f))
          {
            n_columns += polytope.neighbor(f).n_dofs();
            std::vector<types::global_dof_index> columns;
            polytope.neighbor(f).get_dof_indices(columns);
            for (const auto column : columns)
              right &= dsp.exists(dofs[0], column);
          }
      n_nonzeros += n_columns * dofs.size();
    }
  check(d + "sparsity", right && dsp.n_nonzero_elements() == n_nonzeros);
  SparsityPattern sparsity(handler.n_dofs(),
                           handler.n_dofs(),
                           dsp.max_entries_per_row());
  handler.make_sparsity_pattern(sparsity);
  sparsity.compress();
  check(d + "SparsityPattern", sparsity.n_nonzero_elements() == n_nonzeros);
  BlockDynamicSparsityPattern blocks(1, 1);
  blocks.block(0, 0).reinit(handler.n_dofs(), handler.n_dofs());
  blocks.collect_sizes();
  handler.make_sparsity_pattern(blocks);
  bool others = blocks.n_nonzero_elements() == n_nonzeros;
#ifdef TESSELLA_HAVE_EPETRA
  TrilinosWrappers::SparsityPattern trilinos(handler.locally_owned_dofs(),
                                             MPI_COMM_WORLD,
                                             10);
  handler.make_sparsity_pattern(trilinos);
  trilinos.compress();
  others = others && trilinos.n_nonzero_elements() == n_nonzeros;
#endif
  check(d + "other sparsity patterns", others);

  // Periodic: blocks that occur twice are stored once.
  {
    Triangulation<dim> square;
    GridGenerator::subdivided_hyper_cube(square, 2, 0., 1., true);
    add_periodic_faces(square, {0});
    AgglomerationHandler<dim> periodic(square);
    periodic.agglomerate([](const Triangulation<dim> &t) {
      std::vector<unsigned int> ids(t.n_active_cells());
      for (unsigned int i = 0; i < ids.size(); ++i)
        ids[i] = i % 2;
      return ids;
    });
    periodic.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
    DynamicSparsityPattern pattern(periodic.n_dofs());
    periodic.make_sparsity_pattern(pattern);
    check(d + "sparsity, periodic",
          pattern.n_nonzero_elements() == 4 * (dim + 1) * (dim + 1) &&
            periodic.polytopic_mesh().polytope_interface.size() ==
              2 * (2 + 2 * (dim - 1)));
  }

  check(d + "memory",
        handler.memory_consumption() >
          handler.polytopic_mesh().memory_consumption());

  // A new space leaves the geometry as it is.
  const PolytopicMesh<dim>          &mesh   = handler.polytopic_mesh();
  const PolytopicDoFs               &space  = handler.polytopic_dofs();
  const std::array<std::uint64_t, 3> before = {
    {mesh.revision, mesh.quadrature_revision, space.revision}};
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  check(d + "revisions, new space",
        before[0] != 0 && mesh.revision == before[0] &&
          mesh.quadrature_revision == before[1] && space.revision != 0 &&
          space.revision != before[2]);
  handler.agglomerate(mixed_up<dim>(4));
  check(d + "revisions, new mesh",
        mesh.revision != 0 && mesh.revision != before[0] &&
          space.revision == 0 && space.degree.empty());
}

// ---- the interface of deal.II's class

template <int dim>
void
check_vocabulary()
{
  const std::string  d = std::to_string(dim) + "-D ";
  Triangulation<dim> tria;
  GridGenerator::subdivided_hyper_cube(tria, 4);
  refine_some(tria, 2);
  AgglomerationHandler<dim> handler(tria);
  handler.agglomerate(mixed_up<dim>(9));
  const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();

  // Iterators.
  const auto begin = handler.begin(), end = handler.end();
  auto       it = begin;
  check(d + "iterators",
        end - begin == 9 && std::distance(begin, end) == 9 &&
          begin[3].index() == 3 && (2 + begin)->index() == 2 &&
          (*(end - 1)).index() == 8 && (it++)->index() == 0 &&
          (it--)->index() == 1 && it == begin && ++it != begin && begin < end &&
          end > begin && begin <= begin && end >= begin && (it -= 1) == begin &&
          handler.polytope(4)->index() == 4 &&
          end.state() == IteratorState::past_the_end &&
          std::is_copy_assignable<PolytopeIterator<dim>>::value);
  const auto largest =
    std::max_element(begin, end, [](const auto &a, const auto &b) {
      return a.volume() < b.volume();
    });
  check(d + "iterators in algorithms",
        largest->volume() ==
          *std::max_element(mesh.measure.begin(), mesh.measure.end()));

  // Properties of a polytope, with "." and with "->".
  double           volume = 0.;
  bool             same = true, faces_fit = true, neighbors_fit = true;
  std::set<CellId> ids;
  unsigned int     k = 0;
  for (const auto &polytope : handler.polytope_iterators())
    {
      volume += polytope->volume();
      std::set<CellId> cells;
      for (const auto &cell : polytope->get_agglomerate())
        cells.insert(cell->id());
      ids.insert(polytope->id());
      same = same && polytope->index() == k && polytope.index() == k++ &&
             polytope.volume() == polytope->measure() &&
             polytope->get_bounding_box().get_boundary_points() ==
               polytope.bounding_box().get_boundary_points() &&
             polytope->id() == *cells.begin() &&
             polytope->subdomain_id() == 0 && polytope->active_fe_index() == 0;
      double area = 0., expected = 0.;
      for (const auto &face : polytope->polytope_boundary())
        {
          area += face->measure();
          faces_fit = faces_fit && !face->has_children();
        }
      for (unsigned int f = 0; f < polytope->n_faces(); ++f)
        {
          const unsigned int i =
            mesh.polytope_interface
              [mesh.polytope_interface_offset[polytope->index()] + f] /
            2;
          for (unsigned int g = mesh.facet_offset[i];
               g < mesh.facet_offset[i + 1];
               ++g)
            expected += mesh.facet_measure[g];
          const auto neighbor = polytope->neighbor(f);
          neighbors_fit =
            neighbors_fit &&
            (polytope->at_boundary(f)
               ? neighbor.state() == IteratorState::invalid
               : neighbor.state() == IteratorState::valid &&
                   neighbor->neighbor(
                     polytope->neighbor_of_agglomerated_neighbor(f)) ==
                     polytope);
        }
      faces_fit = faces_fit && std::abs(area - expected) < 1e-12 * expected;
    }
  check(d + "the same by both names", same);
  check(d + "ids of polytopes", ids.size() == 9);
  check(d + "faces of the boundary", faces_fit);
  check(d + "neighbours", neighbors_fit);
  check_close(d + "volume", volume, 1., 1e-12);

  // Elements.
  hp::FECollection<dim> collection(FE_BoundingBoxLegendre<dim>(1),
                                   FE_BoundingBoxLegendre<dim>(2),
                                   FE_BoundingBoxLegendre<dim>(3));
  const auto            degrees = [&]() {
    std::string result;
    for (const auto &polytope : handler.polytope_iterators())
      result += std::to_string(polytope->get_fe().degree) +
                (polytope->degree() == polytope->get_fe().degree ? "" : "?");
    return result;
  };
  for (const auto &polytope : handler.polytope_iterators())
    polytope->set_active_fe_index(polytope->index() % 3);
  check(d + "index before degrees of freedom",
        handler.polytope(5)->active_fe_index() == 2);
  handler.distribute_agglomerated_dofs(collection);
  check(d + "elements that were set", degrees() == "123123123");
  handler.polytope(4)->set_active_fe_index(2);
  check(d + "degrees of freedom stay",
        degrees() == "123123123" && handler.polytope(4).active_fe_index() == 1);
  handler.distribute_dofs(collection);
  check(d + "one element set anew", degrees() == "123133123");
  handler.polytope(7).set_active_fe_index(3);
  check_throws<ExcUserInput>(
    d + "index outside of the collection",
    [&]() { handler.distribute_dofs(collection); },
    "Polytope 7 has element index 3, but the collection has 3 elements.");
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(4));
  check(d + "one element for all", degrees() == "444444444");
  handler.distribute_dofs(collection);
  check(d + "index 0 by default", degrees() == "111111111");
  handler.polytope(0)->set_active_fe_index(1);
  handler.agglomerate(mixed_up<dim>(9));
  handler.distribute_dofs(collection);
  check(d + "index 0 in a new agglomeration", degrees() == "111111111");
  check(d + "first element", handler.get_fe(2).degree == 3);

  // Sparsity patterns may have any size beforehand.
  DynamicSparsityPattern expected(handler.n_dofs(), handler.n_dofs()), dsp(1);
  SparsityPattern        sparsity;
#ifdef TESSELLA_HAVE_EPETRA
  TrilinosWrappers::SparsityPattern distributed;
#else
  DynamicSparsityPattern distributed;
#endif
  handler.make_sparsity_pattern(expected);
  handler.create_agglomeration_sparsity_pattern(dsp);
  handler.create_agglomeration_sparsity_pattern(sparsity);
  handler.create_agglomeration_sparsity_pattern(distributed);
  bool right = true;
  for (const auto &entry : expected)
    right = right && dsp.exists(entry.row(), entry.column()) &&
            sparsity.exists(entry.row(), entry.column()) &&
            distributed.exists(entry.row(), entry.column());
  check(d + "sparsity patterns made",
        right && dsp.n_nonzero_elements() == expected.n_nonzero_elements() &&
          sparsity.n_nonzero_elements() == expected.n_nonzero_elements() &&
          distributed.n_nonzero_elements() == expected.n_nonzero_elements());

  // Without finalize_agglomerates().
  AgglomerationHandler<dim> by_hand(tria);
  by_hand.define_agglomerate({by_hand.active_cell(0), by_hand.active_cell(1)});
  check_throws<ExcUserInput>(
    d + "agglomerates that are not finalized",
    [&]() { by_hand.n_agglomerates(); },
    "finalize_agglomerates()");
  check_throws<ExcUserInput>(
    d + "iterators that are not finalized",
    [&]() { by_hand.polytope_iterators(); },
    "finalize_agglomerates()");
  by_hand.distribute_agglomerated_dofs(FE_BoundingBoxLegendre<dim>(1));
  check(d + "agglomerates finalized",
        by_hand.n_agglomerates() == tria.n_active_cells() - 1 &&
          by_hand.n_dofs() == (dim + 1) * (tria.n_active_cells() - 1));
}

// ---- a mesh that changes

void
check_change()
{
  Triangulation<2> tria;
  GridGenerator::subdivided_hyper_cube(tria, 3);
  tria.refine_global();
  AgglomerationHandler<2>              handler(tria);
  const FE_BoundingBoxLegendre<2>      fe(1);
  std::vector<double>                  values;
  DynamicSparsityPattern               dsp;
  const hp::FECollection<2>            collection(fe);
  std::unique_ptr<PolytopeIterator<2>> polytope;
  // Everything that depends on cells, polytopes and indices.
  const std::vector<std::pair<std::string, std::function<void()>>> uses = {
    {"flat view", [&]() { handler.polytopic_mesh(); }},
    {"space", [&]() { handler.polytopic_dofs(); }},
    {"space to change", [&]() { handler.mutable_polytopic_dofs(); }},
    {"elements", [&]() { handler.distribute_dofs(fe); }},
    {"collection", [&]() { handler.distribute_dofs(collection); }},
    {"agglomerated dofs", [&]() { handler.distribute_agglomerated_dofs(fe); }},
    {"end of a series", [&]() { handler.finalize_agglomerates(); }},
    {"cells of polytopes", [&]() { handler.polytope_of_cell(); }},
    {"cell", [&]() { handler.active_cell(0); }},
    {"polytope", [&]() { handler.polytope(0); }},
    {"iterators", [&]() { handler.polytope_iterators(); }},
    {"box", [&]() { handler.bounding_box(0); }},
    {"element index", [&]() { handler.active_fe_index(0); }},
    {"global number", [&]() { handler.global_polytope_index(0); }},
    {"first dof", [&]() { handler.first_dof(0); }},
    {"owned dofs", [&]() { handler.locally_owned_dofs(); }},
    {"relevant dofs", [&]() { handler.locally_relevant_dofs(); }},
    {"sparsity", [&]() { handler.make_sparsity_pattern(dsp); }},
    {"new sparsity",
     [&]() { handler.create_agglomeration_sparsity_pattern(dsp); }},
    {"tables", [&]() { handler.tabulate(2); }},
    {"penalty",
     [&]() { handler.fill_penalty_factors(PenaltyFormula::simplex); }},
    {"exchange of polytopes",
     [&]() { handler.exchange_polytope_values(values, 1); }},
    {"exchange of dofs", [&]() { handler.exchange_dof_values(values); }},
    {"exchange of facets", [&]() { handler.exchange_facet_values(values); }},
    {"accessor: dofs",
     [&]() {
       std::vector<types::global_dof_index> dofs;
       (*polytope)->get_dof_indices(dofs);
     }},
    {"accessor: volume", [&]() { (*polytope)->volume(); }},
    {"accessor: faces", [&]() { (*polytope)->n_faces(); }},
    {"accessor: boundary", [&]() { (*polytope)->polytope_boundary(); }},
    {"accessor: id", [&]() { (*polytope)->id(); }},
    {"accessor: element", [&]() { (*polytope)->set_active_fe_index(0); }}};

  const auto refine = [&]() {
    // Four cells become one, and one becomes four, so that the number of cells
    // is unchanged.
    for (const auto &cell : tria.active_cell_iterators())
      if (cell->level() == 1 && cell->parent()->center().norm() < .3)
        cell->set_coarsen_flag();
    tria.last_active()->set_refine_flag();
    tria.execute_coarsening_and_refinement();
  };
  const std::vector<std::pair<std::string, std::function<void()>>> changes = {
    {"as many cells", refine},
    {"vertices", [&]() { GridTools::scale(2., tria); }},
    {"refinement", [&]() { tria.refine_global(); }}};
  for (const auto &change : changes)
    {
      handler.agglomerate(mixed_up<2>(5));
      handler.distribute_dofs(fe);
      polytope = std::make_unique<PolytopeIterator<2>>(handler.polytope(1));
      const unsigned int n_cells = tria.n_active_cells();
      // A series of agglomerates that is not finished is lost.
      handler.define_agglomerate(
        {handler.active_cell(0), handler.active_cell(1)});
      change.second();
      if (change.first != "refinement")
        check("as many cells after: " + change.first,
              tria.n_active_cells() == n_cells);
      for (const auto &use : uses)
        check_throws<ExcUserInput>(change.first + ", " + use.first,
                                   use.second,
                                   "The triangulation has changed");
      check(change.first + ", counts",
            handler.n_polytopes() == 5 && handler.n_dofs() == 15);

      handler.agglomerate(mixed_up<2>(5));
      check_mesh(change.first + ", afresh",
                 handler,
                 change.first == "as many cells" ? 1. : 4.);
      handler.distribute_dofs(fe);
      check(change.first + ", cells",
            handler.active_cell(tria.n_active_cells() - 1) ==
                tria.last_active() &&
              handler.polytope_of_cell().size() == tria.n_active_cells());
    }

  // define_agglomerate() accepts the new cells of the triangulation.
  tria.refine_global();
  const auto first = tria.begin_active();
  handler.define_agglomerate({first, std::next(first)});
  check("change, nothing but new cells",
        handler.n_polytopes() == 0 && handler.n_dofs() == 0);
  handler.finalize_agglomerates();
  check("change, agglomerates by hand",
        handler.n_agglomerates() == tria.n_active_cells() - 1 &&
          handler.polytope_of_cell()[0] == 0 &&
          handler.polytope_of_cell()[1] == 0);

  // A handler that has been moved is connected to the triangulation; one that
  // is destroyed is not.
  {
    AgglomerationHandler<2> moved(std::move(handler));
    check("moved", moved.n_polytopes() == tria.n_active_cells() - 1);
    tria.refine_global();
    check_throws<ExcUserInput>(
      "moved, refinement",
      [&]() { moved.polytopic_mesh(); },
      "The triangulation has changed");
  }
  tria.refine_global();
  // A mesh that is destroyed.
  Triangulation<2> other;
  GridGenerator::hyper_cube(other);
  AgglomerationHandler<2> without(other);
  other.clear();
  check_throws<ExcUserInput>(
    "no mesh any more",
    [&]() { without.agglomerate(mixed_up<2>(1)); },
    "no cells");
}

// ---- errors

void
check_errors()
{
  Triangulation<2> empty;
  check_throws<ExcUserInput>(
    "empty triangulation",
    [&]() { AgglomerationHandler<2> handler(empty); },
    "no cells");

  Triangulation<2> tria;
  GridGenerator::subdivided_hyper_cube(tria, 3);
  {
    AgglomerationHandler<2> handler(tria);
    check_throws<ExcUserInput>(
      "no polytopes yet",
      [&]() { handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1)); },
      "agglomerate");
    check_throws<ExcUserInput>(
      "no strategy",
      [&]() { handler.agglomerate(Agglomeration::Strategy<2>()); },
      "empty");
    const auto fixed = [](const std::vector<unsigned int> &ids) {
      return [ids](const Triangulation<2> &) { return ids; };
    };
    check_throws<ExcUserInput>(
      "too few ids",
      [&]() {
        handler.agglomerate(fixed({0, 1}));
      },
      "2");
    check_throws<ExcUserInput>(
      "gaps",
      [&]() {
        handler.agglomerate(fixed({0, 1, 3, 3, 0, 0, 0, 0, 0}));
      },
      "no cell has id 2");
    check_throws<ExcUserInput>(
      "too large ids",
      [&]() {
        handler.agglomerate(fixed({0, 1, 9, 3, 0, 0, 0, 0, 0}));
      },
      "id 9");
    check_throws<ExcUserInput>(
      "cell named twice",
      [&]() {
        handler.define_agglomerate(
          {handler.active_cell(0), handler.active_cell(0)});
        handler.finalize_agglomerates();
      },
      "twice");
    // A failed call does not leave anything behind.
    handler.define_agglomerate(
      {handler.active_cell(0), handler.active_cell(1)});
    handler.finalize_agglomerates();
    check("polytopes after an error", handler.n_polytopes() == 8);
    Triangulation<2> other;
    GridGenerator::hyper_cube(other);
    check_throws<ExcUserInput>(
      "cell of another mesh",
      [&]() { handler.define_agglomerate({other.begin_active()}); },
      "another triangulation");

    check_throws<ExcUserInput>(
      "another element",
      [&]() { handler.distribute_dofs(FE_Q<2>(1)); },
      "FE_BoundingBoxLegendre");
    check_throws<ExcUserInput>(
      "a system of several elements",
      [&]() {
        handler.distribute_dofs(FESystem<2>(
          FE_BoundingBoxLegendre<2>(1), 1, FE_BoundingBoxLegendre<2>(2), 1));
      },
      "several base elements");
    hp::FECollection<2> collection(FE_BoundingBoxLegendre<2>(1));
    check_throws<ExcUserInput>(
      "number of indices",
      [&]() {
        handler.distribute_dofs(collection, {0, 0});
      },
      "8 polytopes");
    check_throws<ExcUserInput>(
      "index too large",
      [&]() {
        handler.distribute_dofs(collection, {0, 0, 0, 1, 0, 0, 0, 0});
      },
      "Polytope 3");
    // In Debug, deal.II detects this itself.
    deal_II_exceptions::disable_abort_on_exception();
    check_throws<ExceptionBase>(
      "different components",
      [&]() {
        collection.push_back(FESystem<2>(FE_BoundingBoxLegendre<2>(1), 2));
        handler.distribute_dofs(collection, std::vector<unsigned int>(8, 0));
      },
      "components");
    hp::FECollection<2> spaces(
      FE_BoundingBoxLegendre<2>(1),
      FE_BoundingBoxLegendre<2>(1, PolynomialSpaceType::tensor_product));
    check_throws<ExcUserInput>(
      "different spaces",
      [&]() {
        handler.distribute_dofs(spaces, std::vector<unsigned int>(8, 0));
      },
      "total degree");
    DynamicSparsityPattern dsp(3);
    check_throws<ExcUserInput>(
      "sparsity without dofs",
      [&]() { handler.make_sparsity_pattern(dsp); },
      "distribute_dofs");
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
    check_throws<ExcUserInput>(
      "sparsity of another size",
      [&]() { handler.make_sparsity_pattern(dsp); },
      "24");

    tria.refine_global();
    check_throws<ExcUserInput>(
      "mesh that has changed",
      [&]() { handler.finalize_agglomerates(); },
      "changed");
  }

  // Cells without volume and inverted ones.
  for (const bool inverted : {false, true})
    {
      Triangulation<2>      bad;
      std::vector<Point<2>> vertices = {
        {0, 0}, {1, 0}, {0, 1}, {1, 1}, {inverted ? .5 : 1., 0}, {1, 1}};
      if (inverted)
        vertices[5] = Point<2>(.5, 1.);
      std::vector<CellData<2>> cells(2, CellData<2>(4));
      cells[0].vertices = {0, 1, 2, 3};
      cells[1].vertices = {1, 4, 3, 5};
      bad.create_triangulation(vertices, cells, SubCellData());
      AgglomerationHandler<2> handler(bad);
      check_throws<ExcUserInput>(
        inverted ? "inverted cell" : "cell without volume",
        [&]() {
          handler.agglomerate([](const Triangulation<2> &) {
            return std::vector<unsigned int>{1, 0};
          });
        },
        "Polytope 0 has no volume");
      check("nothing half-made remains", handler.n_polytopes() == 0);
    }

  // A mapping for other cell types.
  check_throws<ExcUserInput>(
    "mapping for other cells",
    [&]() {
      const MappingFE<2>      mapping{FE_SimplexP<2>(2)};
      AgglomerationHandler<2> handler(tria, &mapping);
    },
    "does not know the cell type");
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);

  check_curved<2>();
  check_curved<3>();
  failing_mapping<2>();
  failing_mapping<3>();
  check_mixed_2d();
  check_mixed_3d();
  check_periodic<2>();
  check_periodic<3>();
  check_thin();
  check_numbering<2>();
  check_numbering<3>();
  check_vocabulary<2>();
  check_vocabulary<3>();
  check_change();
  check_errors();
}
