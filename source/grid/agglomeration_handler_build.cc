// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/parallel.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/portable/geometry.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "../base/collective.h"
#include "agglomeration_handler_geometry.h"
#include "ghost_exchange.h"

// Construction of the flat view (PolytopicMesh).
//
// The layout is found by counting: cells are sorted into their polytopes, each
// face between two polytopes becomes a record of the first of the two
// polytopes, and the records are sorted polytope by polytope. The work of each
// step is linear in the number of cells and runs in parallel over polytopes or
// cells. The result does not depend on the number of threads.

namespace Tessella
{
  namespace
  {
    template <int dim>
    using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;

    // Position of every active cell in the order of CellId: coarse cells, then
    // children depth first.
    template <int dim>
    void
    number_descendants(const CellIterator<dim>   &cell,
                       unsigned int              &next,
                       std::vector<unsigned int> &position)
    {
      if (cell->is_active())
        position[cell->active_cell_index()] = next++;
      else
        for (unsigned int c = 0; c < cell->n_children(); ++c)
          number_descendants<dim>(cell->child(c), next, position);
    }

    // Whether @p face or one of its descendants has index @p index.
    template <typename FaceIterator>
    bool
    contains_face(const FaceIterator &face, const unsigned int index)
    {
      if (static_cast<unsigned int>(face->index()) == index)
        return true;
      if (face->has_children())
        for (unsigned int c = 0; c < face->n_children(); ++c)
          if (contains_face(face->child(c), index))
            return true;
      return false;
    }

    // Record of one facet, before the facets are sorted.
    struct Record
    {
      std::uint64_t key;      // partner and shift, or boundary id: see below
      unsigned int  first;    // sub-cell on side 0
      unsigned int  position; // position of the finer cell of a hanging facet
      unsigned int  second;   // sub-cell on side 1, or invalid_index
      std::uint8_t  first_face;
      std::uint8_t  face; // face of the sub-cell that determines the geometry
      std::uint8_t  side; // side of that sub-cell

      bool
      operator<(const Record &other) const
      {
        if (key != other.key)
          return key < other.key;
        if (first != other.first)
          return first < other.first;
        if (first_face != other.first_face)
          return first_face < other.first_face;
        return position < other.position;
      }
    };

    // Layout of Record::key: boundary (1 bit), second polytope or boundary id
    // (32), shift (31).
    constexpr std::uint64_t boundary_flag = std::uint64_t(1) << 63;
    constexpr unsigned int  shift_bits    = 31;

    // Calls f(begin, end) for sub-ranges of [0, n) in parallel.
    template <typename Function>
    void
    for_ranges(const unsigned int n,
               const unsigned int grain,
               const Function    &f)
    {
      if (n > 0)
        dealii::parallel::apply_to_subranges(0u, n, f, grain);
    }
  } // namespace

  namespace internal
  {
    template <int dim>
    CellShapes<dim>::CellShapes()
    {
      using ReferenceCell = Compatibility::ReferenceCell<dim>;
      namespace RC        = dealii::ReferenceCells;
      std::vector<ReferenceCell> types;
      if constexpr (dim == 2)
        types = {RC::Triangle, RC::Quadrilateral};
      else
        types = {RC::Tetrahedron, RC::Pyramid, RC::Wedge, RC::Hexahedron};
      for (const ReferenceCell &type : types)
        {
          CellShape<dim> shape;
          shape.type       = type;
          shape.n_vertices = type.n_vertices();
          shape.n_faces    = type.n_faces();
          shape.is_simplex = type.is_simplex();
          if (shape.is_simplex)
            {
              shape.n_corners = dim + 1;
              shape.corner    = {{0, 1, 2, 3}};
            }
          else
            {
              shape.n_corners = 1u << dim;
              if (shape.n_vertices == 5) // pyramid
                shape.corner = {{0, 1, 2, 3, 4, 4, 4, 4}};
              else if (shape.n_vertices == 6) // wedge
                shape.corner = {{0, 1, 2, 2, 3, 4, 5, 5}};
              else
                shape.corner = {{0, 1, 2, 3, 4, 5, 6, 7}};
            }

          dealii::Point<dim> centre;
          for (unsigned int v = 0; v < shape.n_vertices; ++v)
            centre += Compatibility::vertex<dim>(type, v);
          centre /= shape.n_vertices;

          for (unsigned int f = 0; f < shape.n_faces; ++f)
            {
              auto        &face = shape.face[f];
              unsigned int n    = type.face_reference_cell(f).n_vertices();
              shape.n_face_vertices[f] = n;
              std::array<dealii::Point<dim>, 4> p;
              for (unsigned int v = 0; v < n; ++v)
                {
                  face[v] = Compatibility::face_to_cell_vertex<dim>(type, f, v);
                  p[v]    = Compatibility::vertex<dim>(type, face[v]);
                }
              if (n == 4)
                {
                  // In lexicographic order, vertex 3 lies opposite to vertex 0.
                  unsigned int opposite = 3;
                  for (unsigned int v = 1; v < 4; ++v)
                    {
                      const dealii::Point<dim> a = p[v == 1 ? 2 : 1],
                                               b = p[v == 3 ? 2 : 3];
                      if ((p[0] + p[v] - a - b).norm() < 1e-10)
                        opposite = v;
                    }
                  std::swap(face[3], face[opposite]);
                  std::swap(p[3], p[opposite]);
                }
              // The order of the vertices has to yield the outward normal.
              dealii::Tensor<1, dim> normal;
              if constexpr (dim == 2)
                {
                  const dealii::Tensor<1, dim> t = p[1] - p[0];
                  normal[0]                      = t[1];
                  normal[1]                      = -t[0];
                }
              else
                normal =
                  dealii::cross_product_3d(dealii::Tensor<1, dim>(p[1] - p[0]),
                                           dealii::Tensor<1, dim>(p[2] - p[0]));
              if (normal * (p[0] - centre) < 0.)
                {
                  if (dim == 2)
                    std::swap(face[0], face[1]);
                  else
                    std::swap(face[1], face[2]);
                }
            }
          shapes.push_back(shape);
        }
    }

    template <int dim>
    const CellShape<dim> &
    CellShapes<dim>::operator()(
      const Compatibility::ReferenceCell<dim> &type) const
    {
      for (const CellShape<dim> &shape : shapes)
        if (shape.type == type)
          return shape;
      AssertThrow(false,
                  ExcUserInput("The mesh has cells of the type " +
                               type.to_string() +
                               ", which polytopes cannot be made of."));
      return shapes[0];
    }

    template class CellShapes<2>;
    template class CellShapes<3>;
  } // namespace internal

  namespace
  {
    // Jacobian determinant of the multilinear map at a point of the unit cube.
    template <int dim>
    double
    multilinear_determinant(const double *v, const double *xi)
    {
      double x[dim], J[dim][dim];
      Geometry::multilinear_map<dim, dim>(v, xi, x, J);
      return Geometry::determinant(J);
    }

    // Type and measure of a sub-cell.
    template <int dim>
    struct Shape
    {
      SubCellType type;
      double      measure;
      bool        valid; // false if it has no volume or is turned inside out
    };

    // Analyses the corners @p v of a simplex or a multilinear hypercube. A
    // simplex of the opposite orientation is reordered, which changes only the
    // sign of its determinant.
    template <int dim>
    Shape<dim>
    analyse(const bool is_simplex, double *v)
    {
      double e[dim][dim];
      // Lengths are compared with the edges of the same cell, so that thin
      // cells of boundary layers are classified correctly.
      double shortest = std::numeric_limits<double>::max(), largest = 0.,
             scale = 1.;
      for (int d = 0; d < dim; ++d)
        {
          const double *end    = v + dim * (is_simplex ? d + 1 : (1 << d));
          double        square = 0.;
          for (int i = 0; i < dim; ++i)
            {
              e[d][i] = end[i] - v[i];
              square += e[d][i] * e[d][i];
              largest = std::max({largest, std::abs(v[i]), std::abs(end[i])});
            }
          const double length = std::sqrt(square);
          shortest            = std::min(shortest, length);
          scale *= length;
        }
      const double det = Geometry::determinant(e);

      if (is_simplex)
        {
          if (det < 0.)
            for (int i = 0; i < dim; ++i)
              std::swap(v[dim * (dim - 1) + i], v[dim * dim + i]);
          const double measure = std::abs(det) / (dim == 2 ? 2. : 6.);
          return {SubCellType::simplex, measure, measure > 1e-14 * scale};
        }

      // The cell is a parallelepiped if it is one up to rounding of the
      // coordinates.
      const double tolerance =
        1e-12 * shortest +
        8. * std::numeric_limits<double>::epsilon() * largest;
      bool affine = true;
      for (unsigned int c = 3; c < (1u << dim) && affine; ++c)
        {
          if (c == 4)
            continue;
          for (int i = 0; i < dim; ++i)
            {
              double x = v[i];
              for (int d = 0; d < dim; ++d)
                if ((c >> d) & 1u)
                  x += e[d][i];
              if (!(std::abs(x - v[c * dim + i]) <= tolerance))
                affine = false;
            }
        }
      if (affine)
        return {SubCellType::parallelepiped, det, det > 1e-14 * scale};

      // The Jacobian determinant must not be negative at a corner. In 2-D,
      // where it is linear, this test is exact; in 3-D it is the test of
      // deal.II.
      bool valid = true;
      for (unsigned int c = 0; c < (1u << dim); ++c)
        {
          double xi[dim];
          for (int d = 0; d < dim; ++d)
            xi[d] = (c >> d) & 1u;
          if (!(multilinear_determinant<dim>(v, xi) >= -1e-12 * scale))
            valid = false;
        }
      // Gauss rule with two points per direction: the Jacobian determinant is
      // at most quadratic in each variable.
      const double root    = std::sqrt(1. / 12.);
      double       measure = 0.;
      for (unsigned int c = 0; c < (1u << dim); ++c)
        {
          double xi[dim];
          for (int d = 0; d < dim; ++d)
            xi[d] = .5 + ((c >> d) & 1u ? root : -root);
          measure += multilinear_determinant<dim>(v, xi);
        }
      measure /= (1u << dim);
      return {SubCellType::hypercube,
              measure,
              valid && measure > 1e-14 * scale};
    }

    // Mean unit normal and area of a facet with vertices v.
    template <int dim>
    void
    facet_geometry(const unsigned int n_vertices,
                   const double      *v,
                   double            *normal,
                   double            &measure)
    {
      if constexpr (dim == 2)
        {
          (void)n_vertices;
          const double t[2]  = {v[2] - v[0], v[3] - v[1]};
          measure            = std::sqrt(t[0] * t[0] + t[1] * t[1]);
          const double scale = measure > 0. ? 1. / measure : 0.;
          normal[0]          = t[1] * scale;
          normal[1]          = -t[0] * scale;
        }
      else
        {
          double a[3], b[3], n[3];
          for (int i = 0; i < 3; ++i)
            if (n_vertices == 3)
              {
                a[i] = v[3 + i] - v[i];
                b[i] = v[6 + i] - v[i];
              }
            else
              {
                // Half the cross product of the diagonals is the integral of
                // the unit normal.
                a[i] = v[9 + i] - v[i];
                b[i] = v[6 + i] - v[3 + i];
              }
          Geometry::cross_product(a, b, n);
          const double length =
            std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
          measure            = .5 * length;
          const double scale = length > 0. ? 1. / length : 0.;
          for (int i = 0; i < 3; ++i)
            normal[i] = n[i] * scale;
          if (n_vertices == 3)
            return;

          // The facet is not planar: its area is the integral of the length of
          // the normal.
          double height = 0., size = 0.;
          for (int i = 0; i < 3; ++i)
            {
              height += (v[3 + i] - v[i]) * normal[i];
              size += a[i] * a[i] + b[i] * b[i];
            }
          if (std::abs(height) <= 1e-12 * std::sqrt(size))
            return;
          // Gauss rule with six points per direction.
          static const double x[3] = {0.23861918608319690863,
                                      0.66120938646626451366,
                                      0.93246951420315202781};
          static const double w[3] = {0.46791393457269104739,
                                      0.36076157304813860757,
                                      0.17132449237917034504};
          measure                  = 0.;
          for (unsigned int p = 0; p < 6; ++p)
            for (unsigned int q = 0; q < 6; ++q)
              {
                const double s = .5 * (1. + (p < 3 ? x[p] : -x[p - 3])),
                             t = .5 * (1. + (q < 3 ? x[q] : -x[q - 3]));
                double ds[3], dt[3], m[3];
                for (int i = 0; i < 3; ++i)
                  {
                    ds[i] =
                      (1. - t) * (v[3 + i] - v[i]) + t * (v[9 + i] - v[6 + i]);
                    dt[i] =
                      (1. - s) * (v[6 + i] - v[i]) + s * (v[9 + i] - v[3 + i]);
                  }
                Geometry::cross_product(ds, dt, m);
                measure += .25 * w[p % 3] * w[q % 3] *
                           std::sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
              }
        }
    }

    // Translations between the periodic faces of a triangulation.
    template <int dim>
    class PeriodicShifts
    {
    public:
      // Collects all translations in sorted order, without the zero
      // translation, which comes first in the flat view.
      PeriodicShifts(const dealii::Triangulation<dim> &triangulation)
      {
        for (const auto &pair : triangulation.get_periodic_face_map())
          {
            const auto &a = pair.first;
            const auto &b = pair.second.first;
            if (a.first->level() != b.first->level())
              continue;
            const dealii::Tensor<1, dim> shift =
              between(a.first, a.second, b.first, b.second);
            bool known = false;
            for (const auto &s : shifts)
              known |= (s - shift).norm() <= 1e-8 * s.norm();
            if (!known)
              shifts.push_back(shift);
          }
        // Comparison with a tolerance: rounding must not decide the order.
        std::sort(shifts.begin(),
                  shifts.end(),
                  [](const dealii::Tensor<1, dim> &a,
                     const dealii::Tensor<1, dim> &b) {
                    const double tolerance = 1e-8 * (a.norm() + b.norm());
                    for (int d = 0; d < dim; ++d)
                      if (std::abs(a[d] - b[d]) > tolerance)
                        return a[d] < b[d];
                    return false;
                  });
      }

      // Index, from 1 on, of the shift from face f of a cell to the face of its
      // periodic neighbour, which may be coarser.
      unsigned int
      find(CellIterator<dim>        cell,
           const unsigned int       f,
           const CellIterator<dim> &neighbor,
           const unsigned int       neighbor_face) const
      {
        while (cell->level() > neighbor->level())
          cell = cell->parent();
        const dealii::Tensor<1, dim> shift =
          between(cell, f, neighbor, neighbor_face);
        for (unsigned int s = 0; s < shifts.size(); ++s)
          if ((shifts[s] - shift).norm() <= 1e-8 * shift.norm())
            return s + 1;
        Assert(false, dealii::ExcInternalError());
        return 0;
      }

      // Index of the inverse of shift @p s.
      unsigned int
      opposite(const unsigned int s) const
      {
        for (unsigned int t = 0; t < shifts.size(); ++t)
          if ((shifts[t] + shifts[s - 1]).norm() <= 1e-8 * shifts[t].norm())
            return t + 1;
        Assert(false, dealii::ExcInternalError());
        return 0;
      }

      std::vector<dealii::Tensor<1, dim>> shifts;

    private:
      static dealii::Tensor<1, dim>
      between(const CellIterator<dim> &a,
              const unsigned int       a_face,
              const CellIterator<dim> &b,
              const unsigned int       b_face)
      {
        const auto             fa = a->face(a_face);
        const auto             fb = b->face(b_face);
        const unsigned int     n  = fa->n_vertices();
        dealii::Tensor<1, dim> shift;
        bool                   same = fb->n_vertices() == n;
        double                 size = 0.;
        if (same)
          {
            for (unsigned int v = 0; v < n; ++v)
              shift += (fb->vertex(v) - fa->vertex(v)) / double(n);
            for (unsigned int v = 1; v < n; ++v)
              size = std::max(size, (fa->vertex(v) - fa->vertex(0)).norm());
            for (unsigned int v = 0; v < n; ++v)
              {
                bool found = false;
                for (unsigned int w = 0; w < n; ++w)
                  found |= (fa->vertex(v) + shift - fb->vertex(w)).norm() <=
                           1e-8 * (size + shift.norm());
                same &= found;
              }
            same &= shift.norm() > 1e-8 * size;
          }
        AssertThrow(same,
                    ExcUserInput(
                      "Face " + std::to_string(a_face) + " of cell " +
                      a->id().to_string() + " and its periodic partner, face " +
                      std::to_string(b_face) + " of cell " +
                      b->id().to_string() +
                      ", are not translations of each other; only such "
                      "periodic boundaries are possible."));
        return shift;
      }
    };
  } // namespace

  template <int dim>
  void
  AgglomerationHandler<dim>::build(std::vector<unsigned int> &&ids)
  {
    if (!is_parallel)
      {
        build(std::move(ids), {}, {}, invalid_index);
        return;
      }

    // ---- numbering that does not depend on which process owns which cell
    const MPI_Comm communicator =
      Compatibility::get_communicator(*triangulation);
    std::vector<unsigned int> position, order;
    Tessella::on_all_processes(communicator, [&]() {
      AssertThrow(ids.size() == cells.size(),
                  ExcUserInput(
                    "The agglomeration strategy returned " +
                    std::to_string(ids.size()) + " polytope ids for " +
                    std::to_string(cells.size()) + " active cells."));
      // The local coarse cells may be in another order than their ids. A
      // process that owns no cells may have a coarse cell without a valid id.
      bool own_cells = false;
      for (const auto &cell : cells)
        own_cells = own_cells || cell->is_locally_owned();
      std::vector<std::pair<dealii::CellId, CellIterator<dim>>> coarse;
      for (auto cell = triangulation->begin(0); cell != triangulation->end(0);
           ++cell)
        coarse.emplace_back(own_cells ? cell->id() : dealii::CellId(), cell);
      std::sort(coarse.begin(), coarse.end(), [](const auto &a, const auto &b) {
        return a.first < b.first;
      });
      position.resize(cells.size());
      unsigned int next = 0;
      for (const auto &cell : coarse)
        number_descendants<dim>(cell.second, next, position);
    });
    const unsigned int n_own = number_in_parallel(ids, position, order);
    Tessella::on_all_processes(communicator, [&]() {
      build(std::move(ids), position, order, n_own);
    });

    // ---- measures and boxes of ghosts, from their owners
    std::vector<double> facts((2 * dim + 1) * std::size_t(mesh.n_polytopes()));
    for (unsigned int k = 0; k < n_own; ++k)
      {
        facts[(2 * dim + 1) * std::size_t(k)] = mesh.measure[k];
        std::copy_n(&mesh.box[2 * dim * std::size_t(k)],
                    2 * dim,
                    &facts[(2 * dim + 1) * std::size_t(k) + 1]);
      }
    (*ghosts)(facts, 2 * dim + 1, false);
    for (unsigned int k = n_own; k < mesh.n_polytopes(); ++k)
      {
        mesh.measure[k] = facts[(2 * dim + 1) * std::size_t(k)];
        std::copy_n(&facts[(2 * dim + 1) * std::size_t(k) + 1],
                    2 * dim,
                    &mesh.box[2 * dim * std::size_t(k)]);
      }
    list_shared_facets(mesh, order);

    // ---- types of all cells and facets, for all processes
    unsigned int types = 0;
    for (const SubCellType type : mesh.subcell_type)
      types |= 1u << static_cast<unsigned int>(type);
    for (const FacetType type : mesh.facet_type)
      types |= 256u << static_cast<unsigned int>(type);
    if (!mesh.is_aligned())
      types |= 1u << 16;
#ifdef DEAL_II_WITH_MPI
    MPI_Allreduce(MPI_IN_PLACE, &types, 1, MPI_UNSIGNED, MPI_BOR, communicator);
#endif
    mesh.whole.is_set        = true;
    mesh.whole.subcell_types = types & 255u;
    mesh.whole.facet_types   = (types >> 8) & 255u;
    mesh.whole.aligned       = (types >> 16) == 0;
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::build(std::vector<unsigned int>      &&ids,
                                   const std::vector<unsigned int> &positions,
                                   const std::vector<unsigned int> &order,
                                   const unsigned int               n_own)
  {
    const auto        &tria    = *triangulation;
    const unsigned int n_cells = cells.size();
    AssertThrow(ids.size() == n_cells,
                ExcUserInput("The agglomeration strategy returned " +
                             std::to_string(ids.size()) + " polytope ids for " +
                             std::to_string(n_cells) + " active cells."));

    // ---- clear the state first, so that an error below leaves nothing
    // half-built
    clear_polytopes();
    PolytopicMesh<dim> view;

    // ---- sort cells into polytopes; with several processes, ghost polytopes
    // come last, and the remaining cells belong to no polytope
    const bool distributed = n_own != invalid_index;
    if (!distributed)
      {
        const unsigned int largest = *std::max_element(ids.begin(), ids.end());
        AssertThrow(largest < n_cells,
                    ExcUserInput("Polytope ids must count from 0 without gaps, "
                                 "but there is id " +
                                 std::to_string(largest) + " among " +
                                 std::to_string(n_cells) +
                                 " cells; Agglomeration::by_id() renumbers."));
        first_global_polytope = 0;
        n_all_polytopes       = largest + 1;
      }
    else
      view.n_owned = n_own;
    const unsigned int n_polytopes =
                         distributed ? order.size() : n_all_polytopes,
                       n_owned = distributed ? n_own : n_polytopes;
    // Whether a polytope is on side 0 of its interface with another polytope.
    const auto before = [&](const unsigned int k, const unsigned int other) {
      return distributed ? order[k] < order[other] : k < other;
    };
    view.subcell_offset.assign(n_polytopes + 1, 0);
    for (const unsigned int id : ids)
      if (id != invalid_index)
        ++view.subcell_offset[id + 1];
    for (unsigned int k = 0; k < n_polytopes; ++k)
      {
        AssertThrow(view.subcell_offset[k + 1] > 0,
                    ExcUserInput("Polytope ids must count from 0 without gaps, "
                                 "but no cell has id " +
                                 std::to_string(k) +
                                 "; Agglomeration::by_id() renumbers."));
        view.subcell_offset[k + 1] += view.subcell_offset[k];
      }

    const unsigned int n_subcells = view.subcell_offset[n_polytopes];

    std::vector<unsigned int> position; // empty: position among active cells
    if (distributed)
      position = positions;
    else if (tria.n_levels() > 1)
      {
        position.resize(n_cells);
        unsigned int next = 0;
        for (auto cell = tria.begin(0); cell != tria.end(0); ++cell)
          number_descendants<dim>(cell, next, position);
      }
    std::vector<unsigned int> subcell_of_cell(n_cells);
    view.subcell_cell.resize(n_subcells);
    {
      std::vector<unsigned int> next(view.subcell_offset.begin(),
                                     view.subcell_offset.end() - 1);
      std::vector<unsigned int> by_position;
      if (!position.empty())
        {
          by_position.resize(n_cells);
          for (unsigned int c = 0; c < n_cells; ++c)
            by_position[position[c]] = c;
        }
      for (unsigned int i = 0; i < n_cells; ++i)
        {
          const unsigned int c = by_position.empty() ? i : by_position[i];
          if (ids[c] == invalid_index)
            continue;
          const unsigned int s = next[ids[c]]++;
          view.subcell_cell[s] = c;
          subcell_of_cell[c]   = s;
        }
    }

    // ---- sub-cells
    static const internal::CellShapes<dim> shapes;
    const bool                             uniform =
      n_subcells > 0 && tria.get_reference_cells().size() == 1;
    const internal::CellShape<dim> *only_shape =
      uniform ? &shapes(tria.get_reference_cells()[0]) : nullptr;
    const auto shape_of =
      [&](const unsigned int c) -> const internal::CellShape<dim> & {
      return uniform ? *only_shape : shapes(cells[c]->reference_cell());
    };
    view.subcell_vertex_offset.resize(n_subcells + 1);
    view.subcell_vertex_offset[0] = 0;
    for (unsigned int s = 0; s < n_subcells; ++s)
      view.subcell_vertex_offset[s + 1] =
        view.subcell_vertex_offset[s] +
        shape_of(view.subcell_cell[s]).n_corners;
    view.subcell_vertices.resize(
      static_cast<std::size_t>(view.subcell_vertex_offset[n_subcells]) * dim);
    view.subcell_type.resize(n_subcells);
    view.subcell_material.resize(n_subcells);
    view.box.resize(static_cast<std::size_t>(n_polytopes) * 2 * dim);
    view.measure.resize(n_polytopes);

    // Vertices of the cell as the mapping places them.
    const internal::CurvedGeometry<dim> curved(tria,
                                               cells,
                                               shapes,
                                               user_mapping);
    const auto cell_vertices = [&](const unsigned int              c,
                                   const internal::CellShape<dim> &shape,
                                   double                         *v) {
      if (curved.has_vertices())
        curved.vertices(c, v);
      else
        for (unsigned int i = 0; i < shape.n_vertices; ++i)
          {
            const dealii::Point<dim> &p = cells[c]->vertex(i);
            for (int d = 0; d < dim; ++d)
              v[i * dim + d] = p[d];
          }
    };

    const PeriodicShifts<dim> periodic(tria);
    AssertThrow(periodic.shifts.empty() || !curved.has_vertices(),
                ExcUserInput("Periodic boundaries need a mapping that leaves "
                             "the vertices of the triangulation where they "
                             "are."));
    const bool has_periodic = !tria.get_periodic_face_map().empty();

    // Sub-cells and facet records, polytope by polytope. The polytopes are
    // divided into ranges, each of which collects its own records in the order
    // of the polytopes; the ranges follow each other in the same order.
    const unsigned int n_parts =
      std::min<unsigned int>(n_polytopes,
                             8 * dealii::MultithreadInfo::n_threads());
    struct Part
    {
      std::vector<Record> records; // records of this range's polytopes
      std::vector<std::pair<unsigned int, Record>>
        foreign; // polytope of another range and its record
    };
    std::vector<Part>         parts(n_parts);
    std::vector<unsigned int> first_polytope(n_parts + 1, n_polytopes);
    for (unsigned int i = 0, k = 0; i < n_parts; ++i)
      {
        // Each range has about the same number of cells.
        first_polytope[i] = k;
        const unsigned int end =
          static_cast<std::uint64_t>(n_subcells) * (i + 1) / n_parts;
        while (k < n_polytopes && view.subcell_offset[k] < end)
          ++k;
      }
    std::vector<unsigned int> record_offset(n_polytopes + 1, 0);

    const auto work_on_part = [&](const unsigned int i) {
      Part &part = parts[i];
      part.records.reserve(view.subcell_offset[first_polytope[i + 1]] -
                           view.subcell_offset[first_polytope[i]]);
      double vertices[dim << dim];
      for (unsigned int k = first_polytope[i]; k < first_polytope[i + 1]; ++k)
        {
          // A ghost keeps only the facets that it shares with an owned
          // polytope.
          const bool ghost  = k >= n_owned;
          const auto wanted = [&](const unsigned int other) {
            return !ghost || other < n_owned;
          };
          double *box     = view.box.data() + std::size_t(2 * dim) * k;
          double  measure = 0.;
          for (int d = 0; d < dim; ++d)
            {
              box[d]       = std::numeric_limits<double>::max();
              box[dim + d] = std::numeric_limits<double>::lowest();
            }
          const std::size_t n_records_before = part.records.size();
          for (unsigned int s = view.subcell_offset[k];
               s < view.subcell_offset[k + 1];
               ++s)
            {
              const unsigned int              c     = view.subcell_cell[s];
              const auto                     &cell  = cells[c];
              const internal::CellShape<dim> &shape = shape_of(c);

              // -- geometry
              cell_vertices(c, shape, vertices);
              double *corners =
                view.subcell_vertices.data() +
                static_cast<std::size_t>(view.subcell_vertex_offset[s]) * dim;
              for (unsigned int v = 0; v < shape.n_corners; ++v)
                for (int d = 0; d < dim; ++d)
                  {
                    const double x       = vertices[shape.corner[v] * dim + d];
                    corners[v * dim + d] = x;
                    box[d]               = std::min(box[d], x);
                    box[dim + d]         = std::max(box[dim + d], x);
                  }
              Shape<dim> found = analyse<dim>(shape.is_simplex, corners);
              if (curved.is_curved(c))
                {
                  found.type    = SubCellType::tabulated;
                  found.measure = curved.measure(c);
                  found.valid   = found.measure > 0.;
                  curved.enlarge_box(c, box);
                }
              AssertThrow(
                found.valid,
                ExcUserInput(
                  "Polytope " + std::to_string(k) +
                  " has no volume or is turned inside out: its cell " +
                  cell->id().to_string() +
                  " is degenerate, concave or inverted."));
              view.subcell_type[s]     = found.type;
              view.subcell_material[s] = cell->material_id();
              measure += found.measure;

              // -- faces
              for (unsigned int f = 0; f < shape.n_faces; ++f)
                {
                  Record record;
                  record.face = static_cast<std::uint8_t>(f);
                  if (cell->neighbor_index(f) >= 0)
                    {
                      CellIterator<dim> neighbor = cell->neighbor(f);
                      if (!neighbor->is_active())
                        {
                          // The finer cells create the facets, unless the
                          // neighbour is refined only parallel to the face.
                          if (cell->face(f)->has_children())
                            continue;
                          const unsigned int index = cell->face_index(f);
                          while (!neighbor->is_active())
                            {
                              bool descended = false;
                              for (unsigned int child = 0;
                                   child < neighbor->n_children() && !descended;
                                   ++child)
                                for (const unsigned int g :
                                     neighbor->child(child)->face_indices())
                                  if (neighbor->child(child)->face_index(g) ==
                                      index)
                                    {
                                      neighbor  = neighbor->child(child);
                                      descended = true;
                                      break;
                                    }
                              AssertThrow(descended,
                                          dealii::ExcInternalError());
                            }
                        }
                      const unsigned int nc    = neighbor->active_cell_index();
                      const unsigned int other = ids[nc];
                      if (other == k || !wanted(other))
                        continue;
                      if (before(k, other))
                        {
                          record.key   = std::uint64_t(other) << shift_bits;
                          record.first = s;
                          record.first_face = record.face;
                          record.position   = 0;
                          record.second     = subcell_of_cell[nc];
                          record.side       = 0;
                          part.records.push_back(record);
                          continue;
                        }
                      // The neighbour's polytope is on side 0 and creates the
                      // facet, unless this cell is the finer one.
                      const unsigned int index = cell->face_index(f);
                      const unsigned int n_neighbor_faces =
                        shape_of(nc).n_faces;
                      // On structured meshes, the neighbour shares its opposite
                      // face.
                      bool conforming =
                        (f ^ 1u) < n_neighbor_faces &&
                        static_cast<unsigned int>(
                          neighbor->face_index(f ^ 1u)) == index;
                      if (!conforming)
                        for (unsigned int g = 0;
                             g < n_neighbor_faces && !conforming;
                             ++g)
                          conforming = neighbor->face_index(g) == index;
                      if (conforming)
                        continue;
                      unsigned int coarse_face = 0;
                      while (coarse_face < n_neighbor_faces &&
                             !contains_face(neighbor->face(coarse_face), index))
                        ++coarse_face;
                      AssertThrow(coarse_face < n_neighbor_faces,
                                  dealii::ExcInternalError());
                      record.key   = std::uint64_t(k) << shift_bits;
                      record.first = subcell_of_cell[nc];
                      record.first_face =
                        static_cast<std::uint8_t>(coarse_face);
                      record.position = position[c];
                      record.second   = s;
                      record.side     = 1;
                      part.foreign.emplace_back(other, record);
                      continue;
                    }

                  if (has_periodic)
                    {
                      const auto &map = tria.get_periodic_face_map();
                      const auto  it =
                        map.find(std::make_pair(CellIterator<dim>(cell), f));
                      if (it != map.end())
                        {
                          const CellIterator<dim> &neighbor =
                            it->second.first.first;
                          const unsigned int neighbor_face =
                            it->second.first.second;
                          if (!neighbor->is_active())
                            continue;
                          const unsigned int nc = neighbor->active_cell_index();
                          const unsigned int other = ids[nc];
                          if (!wanted(other))
                            continue;
                          const unsigned int t = subcell_of_cell[nc];
                          const auto         back =
                            map.find(std::make_pair(neighbor, neighbor_face));
                          const bool conforming =
                            back != map.end() &&
                            back->second.first.first == cell;
                          // Side 0 is the polytope of lower index. If both
                          // sides belong to one polytope, it is the lower
                          // sub-cell, or the lower face of the same sub-cell.
                          const bool is_first = k != other ? before(k, other)
                                                : s != t   ? s < t
                                                           : f < neighbor_face;
                          if (!is_first && conforming)
                            continue;
                          const unsigned int shift =
                            is_first
                              ? periodic.find(cell, f, neighbor, neighbor_face)
                              :
                              // shift from the neighbour to this cell
                              periodic.opposite(periodic.find(
                                cell, f, neighbor, neighbor_face));
                          record.key = (std::uint64_t(is_first ? other : k)
                                        << shift_bits) +
                                       shift;
                          record.first = is_first ? s : t;
                          record.first_face =
                            is_first ? record.face
                                     : static_cast<std::uint8_t>(neighbor_face);
                          record.position =
                            is_first ? 0 : (position.empty() ? c : position[c]);
                          record.second = is_first ? t : s;
                          record.side   = is_first ? 0 : 1;
                          if (is_first || other == k)
                            part.records.push_back(record);
                          else
                            part.foreign.emplace_back(other, record);
                          continue;
                        }
                    }

                  if (ghost)
                    continue;
                  record.key =
                    boundary_flag |
                    (std::uint64_t(cell->face(f)->boundary_id()) << shift_bits);
                  record.first      = s;
                  record.first_face = record.face;
                  record.position   = 0;
                  record.second     = invalid_index;
                  record.side       = 0;
                  part.records.push_back(record);
                }
            }
          view.measure[k] = measure;
          record_offset[k + 1] =
            static_cast<unsigned int>(part.records.size() - n_records_before);
        }
    };
    for_ranges(n_parts,
               1,
               [&](const unsigned int begin, const unsigned int end) {
                 for (unsigned int i = begin; i < end; ++i)
                   work_on_part(i);
               });

    // ---- collect and sort the records of all polytopes
    for (const Part &part : parts)
      for (const auto &foreign : part.foreign)
        ++record_offset[foreign.first + 1];
    std::uint64_t n_records = 0;
    for (const Part &part : parts)
      n_records += part.records.size() + part.foreign.size();
    AssertThrow(2 * n_records * (dim == 2 ? 2 : 4) < invalid_index,
                ExcUserInput("The mesh has " + std::to_string(n_records) +
                             " facets, too many for the 32-bit indices of the "
                             "flat view."));
    for (unsigned int k = 0; k < n_polytopes; ++k)
      record_offset[k + 1] += record_offset[k];
    std::vector<Record>       records(n_records);
    std::vector<unsigned int> n_first(
      n_polytopes); // number of interfaces with this polytope on side 0
    {
      bool has_foreign = false;
      for (const Part &part : parts)
        has_foreign |= !part.foreign.empty();
      std::vector<unsigned int> fill;
      if (has_foreign)
        {
          // Records from other ranges go to the end of the range of their
          // polytope.
          fill.assign(record_offset.begin() + 1, record_offset.end());
          for (const Part &part : parts)
            for (const auto &foreign : part.foreign)
              records[--fill[foreign.first]] = foreign.second;
        }
      for_ranges(
        n_parts, 1, [&](const unsigned int begin, const unsigned int end) {
          for (unsigned int i = begin; i < end; ++i)
            {
              auto source = parts[i].records.begin();
              for (unsigned int k = first_polytope[i];
                   k < first_polytope[i + 1];
                   ++k)
                {
                  const unsigned int n =
                    (has_foreign ? fill[k] : record_offset[k + 1]) -
                    record_offset[k];
                  const auto first = records.begin() + record_offset[k];
                  const auto last  = records.begin() + record_offset[k + 1];
                  std::copy(source, source + n, first);
                  source += n;
                  std::sort(first, last);
                  unsigned int n_interfaces = 0;
                  for (auto r = first; r != last; ++r)
                    if (r == first || r->key != (r - 1)->key)
                      ++n_interfaces;
                  n_first[k] = n_interfaces;
                }
              std::vector<Record>().swap(parts[i].records);
            }
        });
      parts.clear();
    }

    // ---- interfaces and facets
    std::vector<unsigned int> interface_offset(n_polytopes + 1, 0);
    for (unsigned int k = 0; k < n_polytopes; ++k)
      interface_offset[k + 1] = interface_offset[k] + n_first[k];
    const unsigned int n_interfaces = interface_offset[n_polytopes];
    const unsigned int n_facets     = static_cast<unsigned int>(n_records);
    view.interface_polytope.resize(2 * std::size_t(n_interfaces));
    view.interface_boundary_id.resize(n_interfaces);
    view.interface_shift.resize(n_interfaces);
    view.facet_offset.resize(n_interfaces + 1);
    view.facet_offset[n_interfaces] = n_facets;
    view.shift.assign(dim, 0.);
    for (const auto &shift : periodic.shifts)
      for (int d = 0; d < dim; ++d)
        view.shift.push_back(shift[d]);

    // Cell that determines the geometry of a record's facet.
    const auto source_cell = [&](const Record &r) {
      return view.subcell_cell[r.side == 0 ? r.first : r.second];
    };
    view.facet_vertex_offset.resize(n_facets + 1);
    view.facet_vertex_offset[0] = 0;
    if (dim == 2 || uniform)
      {
        const unsigned int n = dim == 2 ? 2 : only_shape->n_face_vertices[0];
        if (dim == 2 || only_shape->is_simplex ||
            only_shape->n_vertices == (1u << dim))
          for (unsigned int f = 0; f < n_facets; ++f)
            view.facet_vertex_offset[f + 1] = (f + 1) * n;
        else
          for (unsigned int f = 0; f < n_facets; ++f)
            view.facet_vertex_offset[f + 1] =
              view.facet_vertex_offset[f] +
              only_shape->n_face_vertices[records[f].face];
      }
    else
      for (unsigned int f = 0; f < n_facets; ++f)
        view.facet_vertex_offset[f + 1] =
          view.facet_vertex_offset[f] +
          shape_of(source_cell(records[f])).n_face_vertices[records[f].face];
    view.facet_type.resize(n_facets);
    view.facet_vertices.resize(
      static_cast<std::size_t>(view.facet_vertex_offset[n_facets]) * dim);
    view.facet_normal.resize(static_cast<std::size_t>(n_facets) * dim);
    view.facet_measure.resize(n_facets);
    view.facet_subcell.resize(2 * static_cast<std::size_t>(n_facets));

    for_ranges(
      n_polytopes, 256, [&](const unsigned int begin, const unsigned int end) {
        double vertices[dim << dim];
        for (unsigned int k = begin; k < end; ++k)
          {
            unsigned int i = interface_offset[k];
            for (unsigned int f = record_offset[k]; f < record_offset[k + 1];
                 ++f)
              {
                const Record &r = records[f];
                if (f == record_offset[k] || r.key != records[f - 1].key)
                  {
                    const bool         boundary = (r.key & boundary_flag) != 0;
                    const unsigned int partner  = static_cast<unsigned int>(
                      (r.key & ~boundary_flag) >> shift_bits);
                    view.facet_offset[i]           = f;
                    view.interface_polytope[2 * i] = k;
                    view.interface_polytope[2 * i + 1] =
                      boundary ? invalid_index : partner;
                    view.interface_boundary_id[i] =
                      boundary ? partner : invalid_index;
                    view.interface_shift[i] =
                      boundary
                        ? 0
                        : static_cast<unsigned int>(
                            r.key & ((std::uint64_t(1) << shift_bits) - 1));
                    ++i;
                  }

                view.facet_subcell[2 * std::size_t(f)]     = r.first;
                view.facet_subcell[2 * std::size_t(f) + 1] = r.second;
                const unsigned int              c          = source_cell(r);
                const internal::CellShape<dim> &shape      = shape_of(c);
                cell_vertices(c, shape, vertices);
                const unsigned int n = shape.n_face_vertices[r.face];
                double            *v = view.facet_vertices.data() +
                            std::size_t(view.facet_vertex_offset[f]) * dim;
                const double *shift =
                  view.shift.data() +
                  std::size_t(dim) * view.interface_shift[i - 1];
                for (unsigned int j = 0; j < n; ++j)
                  for (int d = 0; d < dim; ++d)
                    v[j * dim + d] = vertices[shape.face[r.face][j] * dim + d] -
                                     (r.side == 0 ? 0. : shift[d]);
                // The vertex order has to be outward from the source cell up to
                // here. Simplices may have the opposite orientation.
                bool flip = r.side == 1;
                if (shape.is_simplex)
                  flip ^= shape.is_inverted(vertices);
                if (flip)
                  for (int d = 0; d < dim; ++d)
                    std::swap(v[(dim - 2) * dim + d], v[(dim - 1) * dim + d]);
                facet_geometry<dim>(n,
                                    v,
                                    view.facet_normal.data() +
                                      std::size_t(dim) * f,
                                    view.facet_measure[f]);
                view.facet_type[f] =
                  n == dim ? FacetType::simplex : FacetType::quadrilateral;
              }
          }
      });

    // ---- curved facets
    if (curved.n_curved() > 0)
      {
        std::vector<std::pair<unsigned int, unsigned int>> faces;
        for (unsigned int i = 0; i < n_interfaces; ++i)
          for (unsigned int f = view.facet_offset[i];
               f < view.facet_offset[i + 1];
               ++f)
            {
              const Record      &r = records[f];
              const unsigned int c = source_cell(r);
              if (!curved.is_curved_face(c, r.face))
                continue;
              view.facet_type[f] = FacetType::tabulated;
              curved_facets.push_back({f,
                                       c,
                                       r.face,
                                       r.side,
                                       view.interface_shift[i],
                                       {{view.interface_polytope[2 * i],
                                         view.interface_polytope[2 * i + 1]}}});
              faces.emplace_back(c, r.face);
            }
        const auto integrals = curved.face_integrals(faces);
        for (std::size_t j = 0; j < curved_facets.size(); ++j)
          {
            const unsigned int f      = curved_facets[j].facet;
            double             square = 0.;
            for (int d = 0; d < dim; ++d)
              square += integrals[j][d] * integrals[j][d];
            const double sign  = curved_facets[j].side == 0 ? 1. : -1.;
            const double scale = square > 0. ? sign / std::sqrt(square) : 0.;
            for (int d = 0; d < dim; ++d)
              view.facet_normal[std::size_t(dim) * f + d] =
                integrals[j][d] * scale;
            view.facet_measure[f] = integrals[j][dim];
          }
      }
    present_n_curved_cells = curved.n_curved();

    // ---- interface list of each polytope: neighbours of lower index (the
    // polytope is on side 1), then the polytope itself across a periodic
    // boundary, then neighbours of higher index and boundaries (the polytope is
    // on side 0)
    view.polytope_interface_offset.assign(n_polytopes + 1, 0);
    for (unsigned int i = 0; i < n_interfaces; ++i)
      {
        ++view.polytope_interface_offset[view.interface_polytope[2 * i] + 1];
        if (view.interface_polytope[2 * i + 1] != invalid_index)
          ++view.polytope_interface_offset[view.interface_polytope[2 * i + 1] +
                                           1];
      }
    for (unsigned int k = n_owned; k < n_polytopes; ++k)
      view.polytope_interface_offset[k + 1] = 0; // ghosts have no list
    for (unsigned int k = 0; k < n_polytopes; ++k)
      view.polytope_interface_offset[k + 1] +=
        view.polytope_interface_offset[k];
    view.polytope_interface.resize(view.polytope_interface_offset[n_polytopes]);
    {
      std::vector<unsigned int> next(view.polytope_interface_offset.begin(),
                                     view.polytope_interface_offset.end() - 1);
      for (unsigned int i = 0; i < n_interfaces; ++i)
        {
          const unsigned int second = view.interface_polytope[2 * i + 1];
          if (second != invalid_index && second < n_owned &&
              second != view.interface_polytope[2 * i])
            view.polytope_interface[next[second]++] = 2 * i + 1;
        }
      for (unsigned int i = 0; i < n_interfaces; ++i)
        {
          const unsigned int first = view.interface_polytope[2 * i];
          if (first >= n_owned)
            continue;
          view.polytope_interface[next[first]++] = 2 * i;
          if (view.interface_polytope[2 * i + 1] == first)
            view.polytope_interface[next[first]++] = 2 * i + 1;
        }
      // Local indices of ghosts do not follow the global order.
      if (n_owned < n_polytopes)
        for_ranges(
          n_owned, 1024, [&](const unsigned int begin, const unsigned int end) {
            for (unsigned int k = begin; k < end; ++k)
              std::sort(view.polytope_interface.begin() +
                          view.polytope_interface_offset[k],
                        view.polytope_interface.begin() +
                          view.polytope_interface_offset[k + 1],
                        [&](const unsigned int a, const unsigned int b) {
                          const auto place = [&](const unsigned int entry) {
                            const unsigned int neighbor = view.neighbor(entry);
                            return neighbor == invalid_index ? invalid_index
                                                             : order[neighbor];
                          };
                          const unsigned int place_a = place(a),
                                             place_b = place(b);
                          return place_a != place_b ? place_a < place_b : a < b;
                        });
          });
    }

    mesh          = std::move(view);
    cell_polytope = std::move(ids);
  }

  template void
  AgglomerationHandler<2>::build(std::vector<unsigned int> &&);
  template void
  AgglomerationHandler<3>::build(std::vector<unsigned int> &&);
  template void
  AgglomerationHandler<2>::build(std::vector<unsigned int> &&,
                                 const std::vector<unsigned int> &,
                                 const std::vector<unsigned int> &,
                                 const unsigned int);
  template void
  AgglomerationHandler<3>::build(std::vector<unsigned int> &&,
                                 const std::vector<unsigned int> &,
                                 const std::vector<unsigned int> &,
                                 const unsigned int);
} // namespace Tessella
