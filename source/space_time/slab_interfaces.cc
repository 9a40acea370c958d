// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "slab_data.h"

namespace Tessella
{
  /// Lists the interfaces of all elements and numbers them.
  template <int dim>
  class SpaceTimeSlab<dim>::Implementation::InterfaceBuilder
  {
  public:
    explicit InterfaceBuilder(Implementation &slab)
      : slab(slab)
      , spatial(slab.handler->polytopic_mesh())
      , mesh(slab.mesh)
      , n_own(slab.n_owned_elements())
    {}

    /// Lists the interfaces of each element, sorted by neighbour.
    void
    list_entries()
    {
      mesh.polytope_interface_offset.assign(slab.element_polytope.size() + 1,
                                            0);
      internal::for_all(n_own, [&](const unsigned int e) {
        unsigned int n = 0;
        for_entries(e,
                    [&n](const unsigned int,
                         const unsigned int,
                         const unsigned int) { ++n; });
        mesh.polytope_interface_offset[e + 1] = n;
      });
      internal::accumulate(mesh.polytope_interface_offset);
      entries.resize(mesh.polytope_interface_offset.back());
      internal::for_all(n_own, [&](const unsigned int e) {
        Entry *const first = entries.data() + mesh.polytope_interface_offset[e];
        Entry       *last  = first;
        for_entries(e,
                    [&](const unsigned int group,
                        const unsigned int neighbor,
                        const unsigned int code) {
                      *last++ = {group, neighbor, code};
                    });
        // Boundary entries remain sorted by boundary id, with the bottom at the
        // end.
        std::stable_sort(first, last, [](const Entry &a, const Entry &b) {
          return a.group != b.group ? a.group < b.group
                                    : a.neighbor < b.neighbor;
        });
      });
    }

    /// Numbers the interfaces and sets their data.
    void
    number_interfaces()
    {
      std::vector<unsigned int> first_interface(n_own + 1, 0);
      internal::for_all(n_own, [&](const unsigned int e) {
        for (unsigned int x = mesh.polytope_interface_offset[e];
             x < mesh.polytope_interface_offset[e + 1];
             ++x)
          first_interface[e + 1] += is_numbered(e, entries[x]) ? 1 : 0;
      });
      internal::accumulate(first_interface);
      const unsigned int n_interfaces = first_interface.back();
      mesh.interface_polytope.resize(2 * std::size_t(n_interfaces));
      mesh.interface_boundary_id.resize(n_interfaces);
      mesh.interface_shift.resize(n_interfaces);
      mesh.polytope_interface.resize(entries.size());
      slab.interface_origin.resize(n_interfaces);
      mesh.facet_offset.assign(n_interfaces + 1, 0);
      internal::for_all(n_own, [&](const unsigned int e) {
        unsigned int i = first_interface[e];
        for (unsigned int x = mesh.polytope_interface_offset[e];
             x < mesh.polytope_interface_offset[e + 1];
             ++x)
          if (is_numbered(e, entries[x]))
            {
              mesh.polytope_interface[x] = 2 * i + side(e, entries[x]);
              describe(i, e, entries[x]);
              ++i;
            }
      });
      internal::accumulate(mesh.facet_offset);
    }

    /// Finds the numbers that interfaces got from the entries of their other
    /// sides.
    void
    look_up_numbers()
    {
      internal::for_all(n_own, [&](const unsigned int e) {
        for (unsigned int x = mesh.polytope_interface_offset[e];
             x < mesh.polytope_interface_offset[e + 1];
             ++x)
          if (!is_numbered(e, entries[x]))
            {
              const unsigned int f     = entries[x].neighbor;
              unsigned int       other = mesh.polytope_interface_offset[f];
              while (entries[other].neighbor != e ||
                     side(f, entries[other]) == 1 ||
                     (entries[x].code == in_column) !=
                       (entries[other].code == in_column) ||
                     (entries[x].code != in_column &&
                      entries[x].code / 2 != entries[other].code / 2))
                ++other;
              mesh.polytope_interface[x] = mesh.polytope_interface[other] + 1;
            }
      });
    }

  private:
    /// Entry of an element's list of interfaces.
    struct Entry
    {
      /// Position of the neighbour's polytope in the order of all polytopes.
      unsigned int group;
      /// Neighbouring element, or invalid_index on the boundary.
      unsigned int neighbor;
      /// 2 * spatial interface + side, or in_column, or at_bottom.
      unsigned int code;
    };

    /// Calls add(group, neighbor, code) for all interfaces of an element. The
    /// spatial list is in the order of all polytopes: neighbours on side 0 of
    /// the interfaces come before the polytope itself.
    template <typename Function>
    void
    for_entries(const unsigned int e, const Function &add) const
    {
      const unsigned int k = slab.element_polytope[e],
                         i = e - slab.first_element[k], m = slab.intervals[k];
      unsigned int group = 0, own_group = 0, previous = invalid_index;
      for (unsigned int x = spatial.polytope_interface_offset[k];
           x < spatial.polytope_interface_offset[k + 1];
           ++x)
        {
          const unsigned int code     = spatial.polytope_interface[x];
          const unsigned int neighbor = spatial.neighbor(code);
          if (neighbor == invalid_index)
            {
              add(invalid_index, invalid_index, code);
              continue;
            }
          if (neighbor == k)
            {
              add(own_group, e, code);
              continue;
            }
          if (neighbor != previous)
            group += 2;
          previous = neighbor;
          if (code % 2 == 1)
            own_group = group + 1;
          // sub-intervals j with j / m_l < (i + 1) / m and
          // (j + 1) / m_l > i / m
          const std::uint64_t m_l = slab.intervals[neighbor];
          for (unsigned int j = i * m_l / m;
               j * std::uint64_t(m) < (i + 1) * m_l;
               ++j)
            add(group, slab.first_element[neighbor] + j, code);
        }
      if (i > 0)
        add(own_group, e - 1, in_column);
      if (i + 1 < m)
        add(own_group, e + 1, in_column);
      if (i == 0)
        add(invalid_index, invalid_index, at_bottom);
    }

    /// Sets the data of interface @p i, which gets its number from @p entry of
    /// element @p e.
    void
    describe(const unsigned int i, const unsigned int e, const Entry &entry)
    {
      const unsigned int own_side                   = side(e, entry);
      mesh.interface_polytope[2 * i + own_side]     = e;
      mesh.interface_polytope[2 * i + 1 - own_side] = entry.neighbor;
      if (is_horizontal(entry.code))
        {
          mesh.interface_boundary_id[i] =
            entry.code == at_bottom ? bottom_id : invalid_index;
          mesh.interface_shift[i]  = 0;
          slab.interface_origin[i] = entry.code;
          mesh.facet_offset[i + 1] =
            mesh.subcell_offset[e + 1] - mesh.subcell_offset[e];
        }
      else
        {
          const unsigned int s          = entry.code / 2;
          mesh.interface_boundary_id[i] = spatial.interface_boundary_id[s];
          mesh.interface_shift[i]       = spatial.interface_shift[s];
          slab.interface_origin[i]      = s;
          mesh.facet_offset[i + 1] =
            spatial.facet_offset[s + 1] - spatial.facet_offset[s];
        }
    }

    /// Side of the interface on which element @p e lies.
    static unsigned int
    side(const unsigned int e, const Entry &entry)
    {
      return entry.code == in_column   ? (entry.neighbor < e ? 1u : 0u)
             : entry.code == at_bottom ? 0u
                                       : entry.code % 2;
    }

    /// Whether the interface gets its number from this entry. Interfaces are
    /// numbered from side 0, whose polytope comes first in the order of all
    /// polytopes. If side 0 is a ghost, the own side numbers the interface.
    bool
    is_numbered(const unsigned int e, const Entry &entry) const
    {
      return side(e, entry) == 0 ||
             (entry.neighbor != invalid_index && entry.neighbor >= n_own);
    }

    Implementation           &slab;
    const PolytopicMesh<dim> &spatial;
    PolytopicMesh<D>         &mesh;
    /// Elements with lists; ghosts have none.
    const unsigned int n_own;
    /// Entries of all elements, in the order of polytope_interface.
    std::vector<Entry> entries;
  };



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::list_interfaces()
  {
    InterfaceBuilder builder(*this);
    builder.list_entries();
    builder.number_interfaces();
    builder.look_up_numbers();
  }



#define INSTANTIATE(dim) \
  template void SpaceTimeSlab<dim>::Implementation::list_interfaces();

  INSTANTIATE(2)
  INSTANTIATE(3)
#undef INSTANTIATE
} // namespace Tessella
