// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_space_time_slab_data_h
#define tessella_source_space_time_slab_data_h

#include <deal.II/base/exceptions.h>

#include <tessella/base/compatibility.h>
#include <tessella/grid/revision.h>
#include <tessella/quadrature/reference_quadrature.h>
#include <tessella/space_time/space_time_slab.h>

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "../backends/host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    /// Calls function(k) for k in 0 .. n-1, on all threads.
    template <typename Function>
    void
    for_all(const std::size_t n, const Function &function)
    {
      for_ranges(n, 1024, [&](const std::size_t begin, const std::size_t end) {
        for (std::size_t k = begin; k < end; ++k)
          function(static_cast<unsigned int>(k));
      });
    }

    /// Turns the sizes in entries 1 .. n into offsets.
    template <typename Integer>
    void
    accumulate(std::vector<Integer> &sizes)
    {
      sizes[0]            = 0;
      std::uint64_t total = 0;
      for (Integer &size : sizes)
        {
          total += size;
          AssertThrow(total < static_cast<std::uint64_t>(
                                std::numeric_limits<Integer>::max()),
                      dealii::ExcMessage(
                        "The slab has too many elements for 32-bit "
                        "numbers: use fewer intervals a slab."));
          size = static_cast<Integer>(total);
        }
    }
  } // namespace internal



  template <int dim>
  struct SpaceTimeSlab<dim>::Implementation
  {
    static constexpr int D = dim + 1;

    Implementation(const AgglomerationHandler<dim> &handler,
                   const PolynomialSpaceType        space)
      : handler(&handler)
      , space(space)
    {}

    /// Origins of the interface with the element above or below on the same
    /// polytope, and of the bottom of the slab.
    static constexpr unsigned int in_column = invalid_index - 1,
                                  at_bottom = invalid_index - 2;

    /// Whether an interface with this origin is a base of an element.
    static bool
    is_horizontal(const unsigned int origin)
    {
      return origin == in_column || origin == at_bottom;
    }

    /// Start of sub-interval @p i of @p m sub-intervals, or the end of the slab
    /// if i is m.
    double
    breakpoint(const unsigned int m, const unsigned int i) const
    {
      return i == m ? length : length * (static_cast<double>(i) / m);
    }

    SpaceRevision
    revision_of_handler() const
    {
      return {handler->polytopic_mesh().revision,
              handler->polytopic_dofs().revision};
    }

    bool
    parallel() const
    {
      return handler->polytopic_mesh().whole.is_set;
    }

    unsigned int
    n_owned_elements() const
    {
      return mesh.n_owned_polytopes();
    }

    // ---- structure
    void
    build_structure();
    void
    build_spaces();
    void
    build_subcells();
    /// Numbering that involves all processes. Collective.
    void
    number_in_parallel();
    void
    set_whole_mesh();
    void
    set_whole_space();
    class InterfaceBuilder;
    void
    list_interfaces();
    void
    build_facets();
    template <typename Function>
    void
    for_facets(const Function &function) const;
    void
    copy_facet(const unsigned int facet,
               const unsigned int from,
               const unsigned int interface);
    void
    copy_facet_vertices(const unsigned int facet,
                        const unsigned int from,
                        const unsigned int origin);

    // ---- data that depend on the length of the slab
    void
    set_times();
    void
    set_element_times(const unsigned int element);
    void
    set_facet_times(const unsigned int interface);

    // ---- products of the handler's quadrature tables with Gauss points in
    // time
    void
    tabulate_products();
    const ReferenceRule &
    time_rule(const unsigned int degree) const;
    void
    tabulate_subcells();
    void
    tabulate_facets();
    void
    add_horizontal_points(const unsigned int facet,
                          const unsigned int subcell,
                          const double       normal);
    void
    add_vertical_points(const unsigned int   facet,
                        const unsigned int   spatial_facet,
                        const ReferenceRule &rule);
    void
    add_facet_point(const double *x,
                    const double *normal,
                    const double  time,
                    const double  time_normal,
                    const double  weight);

    /// Block-diagonal mass matrix of the handler's space.
    void
    compute_mass();
    template <typename Function>
    double
    sum_over_polytopes(const ConstVectorView &value, const Function &function);

    SmartPointer<const AgglomerationHandler<dim>> handler;
    const PolynomialSpaceType                     space;
    double                                        start = 0., length = 0.;
    std::uint64_t                                 n_changes    = 0;
    std::uint64_t                                 n_structures = 0;
    /// Revision of the handler's mesh and space from which those of the slab
    /// were made.
    SpaceRevision spatial_revision;
    /// Data of all polytopes of the flat view, ghosts included.
    std::vector<unsigned int> intervals, first_element, element_polytope;
    /// Distinct numbers of sub-intervals, over all processes.
    std::set<unsigned int> interval_numbers;

    // ---- several processes
    std::uint64_t n_all_elements = 0, first_own_dof = 0, n_all_dofs = 0;
    /// First degree of freedom of ghost polytopes.
    std::vector<std::uint64_t> ghost_first_dof;

    PolytopicMesh<D> mesh;
    PolytopicDoFs    dofs;
    /// Spatial interface of each interface, or in_column, or at_bottom.
    std::vector<unsigned int> interface_origin;

    // quadrature and penalty that have been requested so far
    bool          has_tables   = false;
    unsigned int  extra_order  = 0;
    std::uint64_t table_origin = 0;
    int           formula      = -1;

    // space-time basis functions: index of the spatial factor, degree in time
    std::vector<unsigned int> spatial_function, time_degree;

    // mass matrices of the polytopes, and the revision of mesh and space
    std::vector<double>        mass;
    std::vector<std::uint64_t> mass_offset;
    SpaceRevision              mass_revision;
  };
} // namespace Tessella

#endif
