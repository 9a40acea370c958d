// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flat_view_builder.h"

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/utilities.h>

#include <tessella/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "../base/parallel_for.h"
#include "cell_shapes.h"
#include "curved_geometry.h"
#include "face_search.h"
#include "facet_records.h"
#include "periodic_shifts.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      void
      accumulate(std::vector<unsigned int> &offsets)
      {
        std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
      }



      // Calls work(begin, end) for ranges of polytopes that cover all of them,
      // one for each thread. Work on a range that scans a list of all cells or
      // interfaces for those of its polytopes needs no synchronisation, and its
      // result does not depend on the ranges.
      template <typename Work>
      void
      for_ranges_of_polytopes(const unsigned int n_polytopes, const Work &work)
      {
        const std::uint64_t n_ranges =
          std::min(n_polytopes, dealii::MultithreadInfo::n_threads());
        parallel_for(n_ranges, 1, [&](const std::uint64_t i) {
          work(static_cast<unsigned int>(n_polytopes * i / n_ranges),
               static_cast<unsigned int>(n_polytopes * (i + 1) / n_ranges));
        });
      }



      // View that has only the number of sub-cells of each polytope.
      template <int dim>
      PolytopicMesh<dim>
      count_subcells(const std::vector<unsigned int> &ids,
                     const unsigned int               n_polytopes)
      {
        PolytopicMesh<dim> view;
        view.subcell_offset.assign(n_polytopes + 1, 0);
        for_ranges_of_polytopes(n_polytopes,
                                [&](const unsigned int begin,
                                    const unsigned int end) {
                                  for (const unsigned int id : ids)
                                    if (id - begin < end - begin)
                                      ++view.subcell_offset[id + 1];
                                });
        for (unsigned int k = 0; k < n_polytopes; ++k)
          AssertThrow(view.subcell_offset[k + 1] > 0,
                      ExcUserInput(
                        "Polytope ids must count from 0 without gaps, "
                        "but no cell has id " +
                        std::to_string(k) +
                        "; Agglomeration::by_id() renumbers."));
        accumulate(view.subcell_offset);
        return view;
      }



      // Builds the flat view in stages.
      //
      // The layout is found by counting: cells are sorted into their polytopes,
      // each face between two polytopes becomes a record of the first of the
      // two polytopes, and the records are sorted polytope by polytope. The
      // work of each step is linear in the number of cells and runs in parallel
      // over polytopes or cells. The result does not depend on the number of
      // threads.
      template <int dim>
      class FlatViewBuilder
      {
      public:
        using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;
        using ActiveCellIterator =
          typename dealii::Triangulation<dim>::active_cell_iterator;

        // See build_flat_view() for the arguments.
        FlatViewBuilder(const dealii::Triangulation<dim> &triangulation,
                        const ActiveCells<dim>           &cells,
                        const dealii::Mapping<dim>       *mapping,
                        const PolytopeNumbering          &numbering)
          : view(count_subcells<dim>(numbering.ids, numbering.n_polytopes))
          , triangulation(triangulation)
          , cells(cells)
          , ids(numbering.ids)
          , position(numbering.position)
          , order(numbering.order)
          , n_polytopes(numbering.n_polytopes)
          , n_owned(numbering.n_owned)
          , shapes(CellShapes<dim>::get())
          , only_shape(n_polytopes > 0 &&
                           triangulation.get_reference_cells().size() == 1
                         ? &shapes(triangulation.get_reference_cells()[0])
                         : nullptr)
          , n_facet_vertices(equal_number_of_face_vertices(only_shape))
          , is_conforming(triangulation.n_levels() == 1)
          , curved(triangulation, cells, shapes, mapping)
          , periodic(triangulation)
        {
          AssertThrow(periodic.shifts.empty() || !curved.has_vertices(),
                      ExcUserInput(
                        "Periodic boundaries need a mapping that leaves "
                        "the vertices of the triangulation where they "
                        "are."));
        }

        FlatView<dim>
        build()
        {
          sort_cells_into_polytopes();
          allocate_subcells();
          number_subcell_vertices();
          divide_into_parts();
          parallel_for(parts.size(), 1, [&](const unsigned int i) {
            work_on_part(parts[i]);
          });
          sort_records();
          // Filling a new array with zeros takes as long as the system needs to
          // provide the memory.
          run_together({[&]() { allocate_interfaces(); },
                        [&]() { number_facet_vertices(); },
                        [&]() { allocate_facets(); }});
          fill_interfaces();
          list_interfaces_of_polytopes();
          fill_facets();
          if (curved.n_curved() > 0)
            fill_curved_facets();
          return {std::move(view), std::move(curved_facets), curved.n_curved()};
        }

      private:
        // Runs independent pieces of work at the same time.
        static void
        run_together(const std::vector<std::function<void()>> &pieces)
        {
          parallel_for(pieces.size(), 1, [&](const std::size_t i) {
            pieces[i]();
          });
        }

        void
        sort_cells_into_polytopes()
        {
          const unsigned int              n_cells = cells.size();
          const std::vector<unsigned int> by_position =
            dealii::Utilities::invert_permutation(position);
          subcell_of_cell.resize(n_cells);
          view.subcell_cell.resize(view.subcell_offset[n_polytopes]);
          for_ranges_of_polytopes(
            n_polytopes, [&](const unsigned int begin, const unsigned int end) {
              std::vector<unsigned int> next(view.subcell_offset.begin() +
                                               begin,
                                             view.subcell_offset.begin() + end);
              for (unsigned int i = 0; i < n_cells; ++i)
                {
                  const unsigned int c =
                    by_position.empty() ? i : by_position[i];
                  if (ids[c] - begin >= end - begin)
                    continue;
                  const unsigned int s = next[ids[c] - begin]++;
                  view.subcell_cell[s] = c;
                  subcell_of_cell[c]   = s;
                }
            });
        }

        void
        allocate_subcells()
        {
          const unsigned int n_subcells = view.subcell_offset.back();
          run_together(
            {[&]() { view.subcell_vertex_offset.resize(n_subcells + 1); },
             [&]() { view.subcell_material.resize(n_subcells); },
             [&]() {
               view.box.resize(static_cast<std::size_t>(n_polytopes) * 2 * dim);
             },
             [&]() {
               view.subcell_type.resize(n_subcells);
               view.measure.resize(n_polytopes);
             }});
        }

        void
        number_subcell_vertices()
        {
          auto &offset = view.subcell_vertex_offset;
          if (only_shape != nullptr)
            parallel_for(offset.size(), 4096, [&](const std::size_t s) {
              offset[s] = s * only_shape->n_corners;
            });
          else
            {
              offset[0] = 0;
              for (unsigned int s = 0; s < view.subcell_cell.size(); ++s)
                offset[s + 1] =
                  offset[s] + shape_of(view.subcell_cell[s]).n_corners;
            }
          view.subcell_vertices.resize(std::size_t(offset.back()) * dim);
        }

        void
        divide_into_parts()
        {
          parts.resize(
            std::min<unsigned int>(n_polytopes,
                                   8 * dealii::MultithreadInfo::n_threads()));
          unsigned int k = 0;
          for (unsigned int i = 0; i < parts.size(); ++i)
            {
              // Each range has about the same number of cells.
              parts[i].begin = k;
              const unsigned int end =
                static_cast<std::uint64_t>(view.subcell_cell.size()) * (i + 1) /
                parts.size();
              while (k < n_polytopes && view.subcell_offset[k] < end)
                ++k;
              parts[i].end = k;
            }
          record_offset.assign(n_polytopes + 1, 0);
        }

        // Places the sub-cells of a range of polytopes and collects their
        // facets.
        void
        work_on_part(PolytopeRange &part)
        {
          // Most cells own at most half of their faces.
          part.records.reserve(dim *
                               std::size_t(view.subcell_offset[part.end] -
                                           view.subcell_offset[part.begin]));
          for (unsigned int k = part.begin; k < part.end; ++k)
            {
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
                  measure += place_subcell(k, s);
                  collect_facets(k, s, part);
                }
              view.measure[k]      = measure;
              record_offset[k + 1] = static_cast<unsigned int>(
                part.records.size() - n_records_before);
            }
        }

        // Writes geometry and material of a sub-cell, enlarges the box of its
        // polytope and returns its measure.
        double
        place_subcell(const unsigned int polytope, const unsigned int subcell)
        {
          const unsigned int    c     = view.subcell_cell[subcell];
          const CellShape<dim> &shape = shape_of(c);
          double *box = view.box.data() + std::size_t(2 * dim) * polytope;
          double  vertices[dim << dim];
          cell_vertices(c, shape, vertices);
          double *corners =
            view.subcell_vertices.data() +
            static_cast<std::size_t>(view.subcell_vertex_offset[subcell]) * dim;
          for (unsigned int v = 0; v < shape.n_corners; ++v)
            for (int d = 0; d < dim; ++d)
              {
                const double x       = vertices[shape.corner[v] * dim + d];
                corners[v * dim + d] = x;
                box[d]               = std::min(box[d], x);
                box[dim + d]         = std::max(box[dim + d], x);
              }
          SubCellGeometry found =
            analyse_subcell<dim>(shape.is_simplex, corners);
          if (curved.is_curved(c))
            {
              found.type    = SubCellType::tabulated;
              found.measure = curved.measure(c);
              AssertThrow(found.measure > 0.,
                          ExcUserInput(
                            "Cell " + cells[c]->id().to_string() +
                            " of polytope " + std::to_string(polytope) +
                            " turns over: the Jacobian determinant of its "
                            "curved map is not positive everywhere; refine the "
                            "mesh there, or curve inner edges as well."));
              found.valid = true;
              curved.enlarge_box(c, box);
            }
          AssertThrow(found.valid,
                      ExcUserInput(
                        "Polytope " + std::to_string(polytope) +
                        " has no volume or is turned inside out: its cell " +
                        cells[c]->id().to_string() +
                        " is degenerate, concave or inverted."));
          view.subcell_type[subcell]     = found.type;
          view.subcell_material[subcell] = cells[c]->material_id();
          return found.measure;
        }

        // Vertices of a cell as the mapping places them.
        void
        cell_vertices(const unsigned int    cell,
                      const CellShape<dim> &shape,
                      double               *v) const
        {
          if (curved.has_vertices())
            curved.vertices(cell, v);
          else
            for (unsigned int i = 0; i < shape.n_vertices; ++i)
              {
                const dealii::Point<dim> &p = cells[cell]->vertex(i);
                for (int d = 0; d < dim; ++d)
                  v[i * dim + d] = p[d];
              }
        }

        void
        collect_facets(const unsigned int polytope,
                       const unsigned int subcell,
                       PolytopeRange     &part) const
        {
          const unsigned int        c    = view.subcell_cell[subcell];
          const ActiveCellIterator &cell = cells[c];
          const auto               &map = triangulation.get_periodic_face_map();
          const unsigned int        n_faces = shape_of(c).n_faces;
          for (unsigned int f = 0; f < n_faces; ++f)
            {
              const SubCellFace face = {polytope,
                                        subcell,
                                        c,
                                        static_cast<std::uint8_t>(f)};
              if (cell->neighbor_index(f) >= 0)
                {
                  add_interior_facet(face, part);
                  continue;
                }
              if (!map.empty())
                {
                  const auto it =
                    map.find(std::make_pair(CellIterator(cell), f));
                  if (it != map.end())
                    {
                      const auto &neighbor = it->second.first;
                      add_periodic_facet(face,
                                         neighbor.first,
                                         neighbor.second,
                                         part);
                      continue;
                    }
                }
              if (polytope < n_owned)
                part.records.push_back(face.record_of_first(
                  boundary_key(cell->face(f)->boundary_id()), invalid_index));
            }
        }

        void
        add_interior_facet(const SubCellFace &face, PolytopeRange &part) const
        {
          const ActiveCellIterator &cell     = cells[face.cell];
          CellIterator              neighbor = cell->neighbor(face.number);
          if (!neighbor->is_active())
            {
              // The finer cells create the facets, unless the neighbour is
              // refined only parallel to the face.
              if (cell->face(face.number)->has_children())
                return;
              neighbor =
                active_cell_at_face<dim>(neighbor,
                                         cell->face_index(face.number));
            }
          const unsigned int nc    = neighbor->active_cell_index();
          const unsigned int other = ids[nc];
          if (other == face.polytope || !is_wanted(face.polytope, other))
            return;
          if (is_before(face.polytope, other))
            {
              part.records.push_back(
                face.record_of_first(interface_key(other, 0),
                                     subcell_of_cell[nc]));
              return;
            }
          // The neighbour's polytope is on side 0 and creates the facet, unless
          // this cell is the finer one.
          if (is_conforming)
            return;
          const unsigned int index   = cell->face_index(face.number);
          const unsigned int n_faces = shape_of(nc).n_faces;
          if (has_face(neighbor, n_faces, index, face.number ^ 1u))
            return;
          unsigned int coarse_face = 0;
          while (coarse_face < n_faces &&
                 !contains_face(neighbor->face(coarse_face), index))
            ++coarse_face;
          AssertThrow(coarse_face < n_faces, dealii::ExcInternalError());
          part.foreign.emplace_back(
            other,
            face.record_of_second(interface_key(face.polytope, 0),
                                  subcell_of_cell[nc],
                                  coarse_face,
                                  position[face.cell]));
        }

        void
        add_periodic_facet(const SubCellFace  &face,
                           const CellIterator &neighbor,
                           const unsigned int  neighbor_face,
                           PolytopeRange      &part) const
        {
          if (!neighbor->is_active())
            return;
          const unsigned int k = face.polytope, s = face.subcell;
          const unsigned int nc    = neighbor->active_cell_index();
          const unsigned int other = ids[nc];
          if (!is_wanted(k, other))
            return;
          const ActiveCellIterator &cell = cells[face.cell];
          const unsigned int        t    = subcell_of_cell[nc];
          const auto               &map = triangulation.get_periodic_face_map();
          const auto back = map.find(std::make_pair(neighbor, neighbor_face));
          const bool conforming =
            back != map.end() && back->second.first.first == cell;
          // Side 0 is the polytope of lower index. If both sides belong to one
          // polytope, it is the lower sub-cell, or the lower face of the same
          // sub-cell.
          const bool is_first = k != other ? is_before(k, other)
                                : s != t   ? s < t
                                           : face.number < neighbor_face;
          if (!is_first && conforming)
            return;
          const unsigned int shift =
            periodic.find(cell, face.number, neighbor, neighbor_face);
          if (is_first)
            {
              part.records.push_back(
                face.record_of_first(interface_key(other, shift), t));
              return;
            }
          // The shift leads from the neighbour to this cell.
          const FacetRecord record =
            face.record_of_second(interface_key(k, periodic.opposite(shift)),
                                  t,
                                  neighbor_face,
                                  position.empty() ? face.cell
                                                   : position[face.cell]);
          if (other == k)
            part.records.push_back(record);
          else
            part.foreign.emplace_back(other, record);
        }

        // Gathers the records of all parts, sorted polytope by polytope.
        void
        sort_records()
        {
          std::uint64_t n_records = 0;
          for (const PolytopeRange &part : parts)
            {
              n_records += part.records.size() + part.foreign.size();
              for (const auto &foreign : part.foreign)
                ++record_offset[foreign.first + 1];
            }
          AssertThrow(2 * n_records * (dim == 2 ? 2 : 4) < invalid_index,
                      ExcUserInput(
                        "The mesh has " + std::to_string(n_records) +
                        " facets, too many for the 32-bit indices of "
                        "the flat view."));
          accumulate(record_offset);
          // Not initialised: the threads that fill the records touch the memory
          // first.
          records.reset(new FacetRecord[n_records]);
          interface_offset.assign(n_polytopes + 1, 0);

          // Records from other ranges go to the end of the range of their
          // polytope.
          std::vector<unsigned int> fill(record_offset.begin() + 1,
                                         record_offset.end());
          for (const PolytopeRange &part : parts)
            for (const auto &foreign : part.foreign)
              records[--fill[foreign.first]] = foreign.second;
          parallel_for(parts.size(), 1, [&](const unsigned int i) {
            sort_part(parts[i], fill);
          });
          parts.clear();
          accumulate(interface_offset);
        }

        // Moves the records of a part to their place and sorts them. fill: ends
        // of the places, polytope by polytope.
        void
        sort_part(PolytopeRange &part, const std::vector<unsigned int> &fill)
        {
          auto source = part.records.begin();
          for (unsigned int k = part.begin; k < part.end; ++k)
            {
              const unsigned int n     = fill[k] - record_offset[k];
              FacetRecord *const first = records.get() + record_offset[k];
              FacetRecord *const last  = records.get() + record_offset[k + 1];
              std::copy(source, source + n, first);
              source += n;
              std::sort(first, last);
              for (const FacetRecord *r = first; r != last; ++r)
                if (r == first || r->key != (r - 1)->key)
                  ++interface_offset[k + 1];
            }
          std::vector<FacetRecord>().swap(part.records);
        }

        void
        allocate_interfaces()
        {
          const unsigned int n_interfaces = interface_offset[n_polytopes];
          view.interface_polytope.resize(2 * std::size_t(n_interfaces));
          view.interface_boundary_id.resize(n_interfaces);
          view.interface_shift.resize(n_interfaces);
          view.facet_offset.resize(n_interfaces + 1);
          view.facet_offset[n_interfaces] = n_facets();
          view.shift.assign(dim, 0.);
          for (const auto &shift : periodic.shifts)
            for (int d = 0; d < dim; ++d)
              view.shift.push_back(shift[d]);
        }

        void
        fill_interfaces()
        {
          parallel_for(n_polytopes, 256, [&](const unsigned int k) {
            unsigned int next = interface_offset[k];
            for (unsigned int f = record_offset[k]; f < record_offset[k + 1];
                 ++f)
              if (f == record_offset[k] || records[f].key != records[f - 1].key)
                fill_interface(next++, k, f);
          });
        }

        void
        number_facet_vertices()
        {
          auto &offset = view.facet_vertex_offset;
          offset.resize(n_facets() + std::size_t(1));
          if (n_facet_vertices != 0)
            parallel_for(offset.size(), 4096, [&](const std::size_t f) {
              offset[f] = f * n_facet_vertices;
            });
          else
            for (unsigned int f = 0; f < n_facets(); ++f)
              offset[f + 1] = offset[f] + shape_of(source_cell(records[f]))
                                            .n_face_vertices[records[f].face];
          view.facet_vertices.resize(std::size_t(offset.back()) * dim);
        }

        void
        allocate_facets()
        {
          view.facet_type.resize(n_facets());
          view.facet_normal.resize(static_cast<std::size_t>(n_facets()) * dim);
          view.facet_measure.resize(n_facets());
          view.facet_subcell.resize(2 * static_cast<std::size_t>(n_facets()));
        }

        void
        fill_facets()
        {
          parallel_for(view.n_interfaces(), 1024, [&](const unsigned int i) {
            for (unsigned int f = view.facet_offset[i];
                 f < view.facet_offset[i + 1];
                 ++f)
              fill_facet(f, i);
          });
        }

        void
        fill_interface(const unsigned int interface,
                       const unsigned int polytope,
                       const unsigned int first_facet)
        {
          const std::uint64_t key      = records[first_facet].key;
          const bool          boundary = (key & boundary_flag) != 0;
          const unsigned int  partner =
            static_cast<unsigned int>((key & ~boundary_flag) >> shift_bits);
          view.facet_offset[interface]           = first_facet;
          view.interface_polytope[2 * interface] = polytope;
          view.interface_polytope[2 * interface + 1] =
            boundary ? invalid_index : partner;
          view.interface_boundary_id[interface] =
            boundary ? partner : invalid_index;
          view.interface_shift[interface] =
            boundary ? 0
                     : static_cast<unsigned int>(
                         key & ((std::uint64_t(1) << shift_bits) - 1));
        }

        void
        fill_facet(const unsigned int facet, const unsigned int interface)
        {
          const FacetRecord &r                           = records[facet];
          view.facet_subcell[2 * std::size_t(facet)]     = r.first;
          view.facet_subcell[2 * std::size_t(facet) + 1] = r.second;
          const unsigned int    c                        = source_cell(r);
          const CellShape<dim> &shape                    = shape_of(c);
          double                copy[dim << dim];
          const double         *vertices = copy;
          if (shape.is_simplex || shape.is_collapsed())
            cell_vertices(c, shape, copy);
          else // The sub-cell has all vertices of the cell in the same order.
            vertices =
              view.subcell_vertices.data() +
              std::size_t(
                view.subcell_vertex_offset[r.side == 0 ? r.first : r.second]) *
                dim;
          const unsigned int n = shape.n_face_vertices[r.face];
          double            *v = view.facet_vertices.data() +
                      std::size_t(view.facet_vertex_offset[facet]) * dim;
          const double *shift =
            view.shift.data() +
            std::size_t(dim) * view.interface_shift[interface];
          for (unsigned int j = 0; j < n; ++j)
            for (int d = 0; d < dim; ++d)
              v[j * dim + d] = vertices[shape.face[r.face][j] * dim + d] -
                               (r.side == 0 ? 0. : shift[d]);
          // The vertex order has to be outward from the source cell up to here.
          // Simplices may have the opposite orientation.
          bool flip = r.side == 1;
          if (shape.is_simplex)
            flip ^= shape.is_inverted(vertices);
          if (flip)
            for (int d = 0; d < dim; ++d)
              std::swap(v[(dim - 2) * dim + d], v[(dim - 1) * dim + d]);
          facet_geometry<dim>(n,
                              v,
                              view.facet_normal.data() +
                                std::size_t(dim) * facet,
                              view.facet_measure[facet]);
          view.facet_type[facet] =
            n == dim ? FacetType::simplex : FacetType::quadrilateral;
        }

        // Lists the curved facets and replaces their geometry.
        void
        fill_curved_facets()
        {
          std::vector<std::pair<unsigned int, unsigned int>> faces;
          for (unsigned int i = 0; i < view.interface_shift.size(); ++i)
            for (unsigned int f = view.facet_offset[i];
                 f < view.facet_offset[i + 1];
                 ++f)
              {
                const FacetRecord &r = records[f];
                const unsigned int c = source_cell(r);
                if (!curved.is_curved_face(c, r.face))
                  continue;
                view.facet_type[f] = FacetType::tabulated;
                curved_facets.push_back(
                  {f,
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

        // Lists the interfaces of each polytope: neighbours of lower index (the
        // polytope is on side 1), then the polytope itself across a periodic
        // boundary, then neighbours of higher index and boundaries (the
        // polytope is on side 0).
        void
        list_interfaces_of_polytopes()
        {
          const unsigned int n_interfaces     = interface_offset[n_polytopes];
          const unsigned int *const  partners = view.interface_polytope.data();
          std::vector<unsigned int> &offset   = view.polytope_interface_offset;
          offset.assign(n_polytopes + 1, 0);
          // Those on side 0 are neighbours in the list of interfaces. Ghosts
          // have no list.
          for_ranges_of_polytopes(
            n_owned, [&](const unsigned int begin, const unsigned int end) {
              for (unsigned int k = begin; k < end; ++k)
                offset[k + 1] = interface_offset[k + 1] - interface_offset[k];
              for (unsigned int i = 0; i < n_interfaces; ++i)
                {
                  const unsigned int second = partners[2 * std::size_t(i) + 1];
                  if (second - begin < end - begin)
                    ++offset[second + 1];
                }
            });
          accumulate(offset);
          view.polytope_interface.resize(offset[n_polytopes]);

          for_ranges_of_polytopes(
            n_owned, [&](const unsigned int begin, const unsigned int end) {
              std::vector<unsigned int> next(offset.begin() + begin,
                                             offset.begin() + end);
              for (unsigned int i = 0; i < n_interfaces; ++i)
                {
                  const unsigned int second = partners[2 * std::size_t(i) + 1];
                  if (second - begin < end - begin &&
                      second != partners[2 * std::size_t(i)])
                    view.polytope_interface[next[second - begin]++] = 2 * i + 1;
                }
              for (unsigned int k = begin; k < end; ++k)
                for (unsigned int i = interface_offset[k];
                     i < interface_offset[k + 1];
                     ++i)
                  {
                    unsigned int &place              = next[k - begin];
                    view.polytope_interface[place++] = 2 * i;
                    if (partners[2 * std::size_t(i) + 1] == k)
                      view.polytope_interface[place++] = 2 * i + 1;
                  }
            });
          // Local indices of ghosts do not follow the global order.
          if (n_owned < n_polytopes)
            sort_interfaces_of_polytopes();
        }

        void
        sort_interfaces_of_polytopes()
        {
          const auto place = [&](const unsigned int entry) {
            const unsigned int neighbor = view.neighbor(entry);
            return neighbor == invalid_index ? invalid_index : order[neighbor];
          };
          const auto before = [&](const unsigned int a, const unsigned int b) {
            const unsigned int place_a = place(a), place_b = place(b);
            return place_a != place_b ? place_a < place_b : a < b;
          };
          parallel_for(n_owned, 1024, [&](const unsigned int k) {
            std::sort(view.polytope_interface.begin() +
                        view.polytope_interface_offset[k],
                      view.polytope_interface.begin() +
                        view.polytope_interface_offset[k + 1],
                      before);
          });
        }

        // Whether polytope k is on side 0 of its interface with other.
        bool
        is_before(const unsigned int k, const unsigned int other) const
        {
          return order.empty() ? k < other : order[k] < order[other];
        }
        // Whether the facets between two polytopes are stored: a ghost keeps
        // only those that it shares with an owned polytope.
        bool
        is_wanted(const unsigned int k, const unsigned int other) const
        {
          return k < n_owned || other < n_owned;
        }
        const CellShape<dim> &
        shape_of(const unsigned int cell) const
        {
          return only_shape != nullptr ? *only_shape
                                       : shapes(cells[cell]->reference_cell());
        }
        unsigned int
        n_facets() const
        {
          return record_offset[n_polytopes];
        }
        // Number of vertices of all facets, or 0 if they differ.
        static unsigned int
        equal_number_of_face_vertices(const CellShape<dim> *const shape)
        {
          if (dim == 2)
            return 2;
          if (shape == nullptr)
            return 0;
          for (unsigned int f = 1; f < shape->n_faces; ++f)
            if (shape->n_face_vertices[f] != shape->n_face_vertices[0])
              return 0;
          return shape->n_face_vertices[0];
        }
        // Cell that determines the geometry of a facet.
        unsigned int
        source_cell(const FacetRecord &r) const
        {
          return view.subcell_cell[r.side == 0 ? r.first : r.second];
        }

        PolytopicMesh<dim>       view;
        std::vector<CurvedFacet> curved_facets;

        const dealii::Triangulation<dim> &triangulation;
        const ActiveCells<dim>           &cells;
        const std::vector<unsigned int>  &ids;
        const std::vector<unsigned int>  &position;
        const std::vector<unsigned int>  &order;
        const unsigned int                n_polytopes, n_owned;
        const CellShapes<dim>            &shapes;
        // Null pointer if there are several types of cells.
        const CellShape<dim> *only_shape;
        const unsigned int    n_facet_vertices;
        // Whether every face is one of both its cells.
        const bool                is_conforming;
        const CurvedGeometry<dim> curved;
        const PeriodicShifts<dim> periodic;

        // ---- intermediate tables
        std::vector<unsigned int>  subcell_of_cell;
        std::vector<PolytopeRange> parts;
        // First record of each polytope, and all records.
        std::vector<unsigned int>      record_offset;
        std::unique_ptr<FacetRecord[]> records;
        // First interface with each polytope on side 0.
        std::vector<unsigned int> interface_offset;
      };
    } // namespace



    template <int dim>
    FlatView<dim>
    build_flat_view(const dealii::Triangulation<dim> &triangulation,
                    const ActiveCells<dim>           &cells,
                    const dealii::Mapping<dim>       *mapping,
                    const PolytopeNumbering          &numbering)
    {
      return FlatViewBuilder<dim>(triangulation, cells, mapping, numbering)
        .build();
    }

#define INSTANTIATE(dim)                                                     \
  template FlatView<dim> build_flat_view(const dealii::Triangulation<dim> &, \
                                         const ActiveCells<dim> &,           \
                                         const dealii::Mapping<dim> *,       \
                                         const PolytopeNumbering &)

    INSTANTIATE(2);
    INSTANTIATE(3);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
