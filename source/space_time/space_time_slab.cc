// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/tensor.h>

#include <deal.II/lac/vector.h>

#include <tessella/base/epetra.h>
#include <tessella/base/exceptions.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/penalty.h>
#include <tessella/lac/block_sparsity.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/quadrature/reference_quadrature.h>
#include <tessella/space_time/space_time_slab.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include "../backends/host_assembly.h"
#include "../backends/host_dispatch.h"
#include "../base/collective.h"
#include "../base/vector_types.h"
#include "../lac/vector_access.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    constexpr std::size_t grain = 1024;

    /// Calls function(k) for k in 0 .. n-1, on all threads.
    template <typename Function>
    void
    over(const std::size_t n, const Function &function)
    {
      internal::for_ranges(n,
                           grain,
                           [&](const std::size_t begin, const std::size_t end) {
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
                      ExcMessage("The slab has too many elements for 32-bit "
                                 "numbers: use fewer intervals a slab."));
          size = static_cast<Integer>(total);
        }
    }

    /// Measure of a simplex, or of the multilinear image of a hypercube, with
    /// @p n vertices. The sign is the orientation of the vertices.
    template <int dim>
    double
    signed_measure(const double *vertices, const unsigned int n)
    {
      const auto determinant =
        [](const std::array<Tensor<1, dim>, dim> &edges) {
          Tensor<2, dim> J;
          for (unsigned int d = 0; d < dim; ++d)
            J[d] = edges[d];
          return dealii::determinant(J);
        };
      std::array<Tensor<1, dim>, dim> edges;
      if (n == dim + 1)
        {
          for (unsigned int d = 0; d < dim; ++d)
            for (unsigned int e = 0; e < dim; ++e)
              edges[d][e] = vertices[dim * (d + 1) + e] - vertices[e];
          return determinant(edges) / (dim == 2 ? 2. : 6.);
        }
      // The determinant has degree dim - 1 in each variable.
      const ReferenceRule &rule = hypercube_rule(dim, dim - 1);
      double               sum  = 0.;
      for (unsigned int q = 0; q < rule.n_points; ++q)
        {
          for (unsigned int d = 0; d < dim; ++d)
            {
              edges[d] = Tensor<1, dim>();
              for (unsigned int v = 0; v < n; ++v)
                {
                  double slope = v >> d & 1u ? 1. : -1.;
                  for (unsigned int c = 0; c < dim; ++c)
                    if (c != d)
                      {
                        const double xi = rule.points[c * rule.n_points + q];
                        slope *= v >> c & 1u ? xi : 1. - xi;
                      }
                  for (unsigned int e = 0; e < dim; ++e)
                    edges[d][e] += slope * vertices[dim * v + e];
                }
            }
          sum += rule.weights[q] * determinant(edges);
        }
      return sum;
    }

    void
    check_size(const Vector<double> &vector,
               const IndexSet       &owned,
               const std::string    &space)
    {
      AssertThrow(
        vector.size() == owned.size() && owned.n_elements() == owned.size(),
        ExcMessage("A vector of the " + space + " has " +
                   std::to_string(vector.size()) + " entries, but there are " +
                   std::to_string(owned.n_elements()) + " of " +
                   std::to_string(owned.size()) +
                   " degrees of freedom on this process: with several "
                   "processes use TrilinosWrappers::MPI::Vector."));
    }
#ifdef TESSELLA_HAVE_EPETRA
    void
    check_size(const TrilinosWrappers::MPI::Vector &vector,
               const IndexSet                      &owned,
               const std::string                   &space)
    {
      AssertThrow(
        vector.size() == owned.size() &&
          static_cast<std::uint64_t>(vector.trilinos_vector().MyLength()) ==
            owned.n_elements(),
        ExcMessage("A vector of the " + space +
                   " must have the degrees of freedom that a process"
                   " owns, " +
                   std::to_string(owned.n_elements()) + " of " +
                   std::to_string(owned.size()) + ", and no ghost entries."));
    }
#endif

    template <int dim>
    void
    reinit_vector(Vector<double>                  &vector,
                  const AgglomerationHandler<dim> &handler)
    {
      vector.reinit(handler.n_dofs());
    }
#ifdef TESSELLA_HAVE_EPETRA
    template <int dim>
    void
    reinit_vector(TrilinosWrappers::MPI::Vector   &vector,
                  const AgglomerationHandler<dim> &handler)
    {
      vector.reinit(handler.locally_owned_dofs(), handler.get_communicator());
    }
#endif

    const double *
    begin(const Vector<double> &vector)
    {
      return vector.begin();
    }
    double *
    begin(Vector<double> &vector)
    {
      return vector.begin();
    }
#ifdef TESSELLA_HAVE_EPETRA
    const double *
    begin(const TrilinosWrappers::MPI::Vector &vector)
    {
      internal::check_no_ghosts(vector);
      return vector.trilinos_vector()[0];
    }
    double *
    begin(TrilinosWrappers::MPI::Vector &vector)
    {
      internal::check_no_ghosts(vector);
      return vector.trilinos_vector()[0];
    }
#endif
  } // namespace



  template <int dim>
  struct SpaceTimeSlab<dim>::Implementation
  {
    static constexpr int D = dim + 1;

    Implementation(const AgglomerationHandler<dim> &handler,
                   const PolynomialSpaceType        space)
      : handler(&handler)
      , space(space)
    {}

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
    /// Codes of the interface with the element above or below on the same
    /// polytope, and of the bottom of the slab.
    static constexpr unsigned int in_column = invalid_index - 1,
                                  at_bottom = invalid_index - 2;

    /// Sum over all processes.
    double
    sum(const double value) const
    {
      return parallel()
               ? Utilities::MPI::sum(value, handler->get_communicator())
               : value;
    }

    /// Start of sub-interval i of polytope k, or the end of the slab if i is
    /// the number of sub-intervals.
    double
    breakpoint(const unsigned int k, const unsigned int i) const
    {
      const unsigned int m = intervals[k];
      return i == m ? length : length * (static_cast<double>(i) / m);
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

    void
    build_structure();
    void
    number_in_parallel();
    void
    list_interfaces();
    void
    build_subcells();
    void
    build_facets();
    void
    build_spaces();
    void
    set_times();
    void
    tabulate_products();
    void
    compute_mass();

    SmartPointer<const AgglomerationHandler<dim>> handler;
    const PolynomialSpaceType                     space;
    double                                        start = 0., length = 0.;
    std::uint64_t                                 n_changes    = 0;
    std::uint64_t                                 n_structures = 0;
    /// Revision of the handler's mesh from which this mesh was made.
    std::uint64_t spatial_revision = 0;
    /// Data of all polytopes of the flat view, ghosts included.
    std::vector<unsigned int> intervals, first_element, element_polytope;
    /// Distinct numbers of sub-intervals, over all processes.
    std::set<unsigned int> interval_numbers;

    // ---- several processes
    std::uint64_t n_all_elements = 0, first_own_dof = 0, n_all_dofs = 0;
    /// First degree of freedom of ghost polytopes.
    std::vector<double> ghost_first_dof;

    PolytopicMesh<D> mesh;
    /// Entries of the lists of all elements, in the order of
    /// polytope_interface.
    std::vector<Entry> entries;
    /// Spatial interface of each interface, or in_column, or at_bottom.
    std::vector<unsigned int> interface_origin;

    // quadrature and penalty that have been requested so far
    bool          has_tables   = false;
    unsigned int  extra_order  = 0;
    std::uint64_t table_origin = 0;
    int           formula      = -1;

    // space-time basis functions: index of the spatial factor, degree in time
    std::vector<unsigned int> spatial_function, time_degree;

    // mass matrices of the polytopes, and the revision of their mesh
    std::vector<double>        mass;
    std::vector<std::uint64_t> mass_offset;
    std::uint64_t              mass_revision = 0;
  };



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::build_structure()
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    const unsigned int        n       = spatial.n_polytopes();
    mesh                              = PolytopicMesh<D>();
    mesh.prismatic                    = true;
    mesh.bottom_id                    = bottom_id;
    mesh.shift.resize(spatial.shift.size() / dim * D, 0.);
    for (unsigned int s = 0; s < spatial.shift.size() / dim; ++s)
      std::copy_n(&spatial.shift[s * dim], dim, &mesh.shift[s * D]);

    first_element.assign(n + 1, 0);
    std::copy(intervals.begin(), intervals.end(), first_element.begin() + 1);
    accumulate(first_element);
    element_polytope.resize(first_element[n]);
    over(n, [&](const unsigned int k) {
      std::fill(element_polytope.begin() + first_element[k],
                element_polytope.begin() + first_element[k + 1],
                k);
    });
    mesh.n_owned = spatial.n_owned == invalid_index
                     ? invalid_index
                     : first_element[spatial.n_owned];
    build_spaces();
    build_subcells();
    number_in_parallel();
    list_interfaces();
    build_facets();
    ++n_structures;
    spatial_revision = spatial.revision;
    has_tables       = false;
    formula          = -1;
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::build_spaces()
  {
    const PolytopicMesh<dim> &spatial    = handler->polytopic_mesh();
    const unsigned int        n_elements = element_polytope.size();
    mesh.degree.resize(n_elements);
    mesh.n_basis.resize(n_elements);
    mesh.dof_offset.assign(n_elements + 1, 0);
    mesh.measure.resize(n_elements);
    mesh.box.resize(2 * D * std::size_t(n_elements));
    for (unsigned int e = 0; e < n_elements; ++e)
      {
        mesh.degree[e]  = spatial.degree[element_polytope[e]];
        mesh.n_basis[e] = Legendre::n_functions(D, mesh.degree[e], space);
        mesh.dof_offset[e + 1] = mesh.dof_offset[e] + mesh.n_basis[e];
      }

    // Basis functions are products of spatial functions and polynomials in
    // time. The spatial functions are numbered as those of the handler.
    const unsigned int p         = handler->max_degree();
    const unsigned int n         = Legendre::n_functions(D, p, space),
                       n_spatial = Legendre::n_functions(
                         dim, p, PolynomialSpaceType::total_degree);
    std::vector<unsigned char> exponents(D * n), factors(dim * n_spatial);
    Legendre::exponents(D, p, space, exponents.data());
    Legendre::exponents(dim,
                        p,
                        PolynomialSpaceType::total_degree,
                        factors.data());
    spatial_function.resize(n);
    time_degree.resize(n);
    for (unsigned int i = 0; i < n; ++i)
      {
        const unsigned char *e = &exponents[D * i];
        time_degree[i]         = e[dim];
        for (unsigned int s = 0; s < n_spatial; ++s)
          if (std::equal(e, e + dim, &factors[dim * s]))
            spatial_function[i] = s;
      }
  }



  // Numbering that involves all processes. Collective.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::number_in_parallel()
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    const unsigned int        n_own   = n_owned_elements();
    n_all_elements                    = n_own;
    first_own_dof                     = 0;
    n_all_dofs                        = mesh.dof_offset[n_own];
    interval_numbers.clear();
    interval_numbers.insert(intervals.begin(), intervals.end());
    if (!parallel())
      return;

    const MPI_Comm      communicator = handler->get_communicator();
    const std::uint64_t n_own_dofs   = n_all_dofs;
#ifdef DEAL_II_WITH_MPI
    MPI_Exscan(
      &n_own_dofs, &first_own_dof, 1, MPI_UINT64_T, MPI_SUM, communicator);
    if (internal::this_process(communicator) == 0)
      first_own_dof = 0;
#endif
    n_all_dofs     = Utilities::MPI::sum(n_own_dofs, communicator);
    n_all_elements = Utilities::MPI::sum(n_all_elements, communicator);
    AssertThrow(n_all_elements < invalid_index,
                ExcUserInput("The slab has " + std::to_string(n_all_elements) +
                             " elements, more than can be counted with 32 "
                             "bits: use fewer intervals a slab."));
    const std::vector<unsigned int> own(interval_numbers.begin(),
                                        interval_numbers.end());
    for (const std::vector<unsigned int> &numbers :
         Utilities::MPI::all_gather(communicator, own))
      interval_numbers.insert(numbers.begin(), numbers.end());
    // Integers below 2^53 are exact in double.
    std::vector<double> first_dof(spatial.n_polytopes());
    for (unsigned int k = 0; k < handler->n_polytopes(); ++k)
      first_dof[k] =
        static_cast<double>(first_own_dof + mesh.dof_offset[first_element[k]]);
    handler->exchange_polytope_values(first_dof, 1);
    ghost_first_dof.assign(first_dof.begin() + handler->n_polytopes(),
                           first_dof.end());

    // ---- properties of the mesh of all processes
    const auto bit = [](const auto type) {
      return 1u << static_cast<unsigned int>(type);
    };
    const auto &from = spatial.whole;
    auto       &to   = mesh.whole;
    to.is_set        = true;
    const auto translate =
      [&](const unsigned int types, const auto type, const auto result) {
        return types & bit(type) ? bit(result) : 0u;
      };
    using S = SubCellType;
    using F = FacetType;
    to.subcell_types =
      translate(from.subcell_types, S::simplex, S::prism) |
      translate(from.subcell_types, S::parallelepiped, S::parallelepiped) |
      translate(from.subcell_types, S::hypercube, S::hypercube) |
      translate(from.subcell_types, S::tabulated, S::tabulated);
    // vertical facets, then bottoms and bases
    to.facet_types =
      translate(from.facet_types, F::simplex, F::prism) |
      translate(from.facet_types, F::quadrilateral, F::quadrilateral) |
      translate(from.facet_types, F::tabulated, F::tabulated) |
      translate(from.subcell_types, S::simplex, F::simplex) |
      translate(from.subcell_types, S::parallelepiped, F::quadrilateral) |
      translate(from.subcell_types, S::hypercube, F::quadrilateral) |
      translate(from.subcell_types, S::tabulated, F::tabulated);
    to.aligned              = from.aligned;
    to.total_degree         = space == PolynomialSpaceType::total_degree;
    to.max_degree           = from.max_degree;
    to.max_basis            = Legendre::n_functions(D, from.max_degree, space);
    unsigned int min_degree = 0;
    while (min_degree < from.max_degree &&
           Legendre::n_functions(dim, min_degree, false) < from.min_basis)
      ++min_degree;
    to.min_basis = Legendre::n_functions(D, min_degree, space);
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::build_subcells()
  {
    const PolytopicMesh<dim> &spatial    = handler->polytopic_mesh();
    const unsigned int        n_elements = element_polytope.size();
    mesh.subcell_offset.assign(n_elements + 1, 0);
    for (unsigned int e = 0; e < n_elements; ++e)
      {
        const unsigned int k = element_polytope[e];
        mesh.subcell_offset[e + 1] =
          spatial.subcell_offset[k + 1] - spatial.subcell_offset[k];
      }
    accumulate(mesh.subcell_offset);
    const unsigned int n = mesh.subcell_offset.back();
    mesh.subcell_type.resize(n);
    mesh.subcell_cell.resize(n);
    mesh.subcell_material.resize(n);
    mesh.subcell_vertex_offset.assign(n + 1, 0);
    const auto for_subcells = [&](const auto &function) {
      over(n_elements, [&](const unsigned int e) {
        unsigned int s = spatial.subcell_offset[element_polytope[e]];
        for (unsigned int i = mesh.subcell_offset[e];
             i < mesh.subcell_offset[e + 1];
             ++i, ++s)
          function(i, s);
      });
    };
    for_subcells([&](const unsigned int i, const unsigned int s) {
      const SubCellType  type = spatial.subcell_type[s];
      const unsigned int n_vertices =
        spatial.subcell_vertex_offset[s + 1] - spatial.subcell_vertex_offset[s];
      mesh.subcell_type[i] =
        type == SubCellType::simplex ? SubCellType::prism : type;
      mesh.subcell_cell[i]     = spatial.subcell_cell[s];
      mesh.subcell_material[i] = spatial.subcell_material[s];
      mesh.subcell_vertex_offset[i + 1] =
        type == SubCellType::simplex ? n_vertices + 1 : 2 * n_vertices;
    });
    accumulate(mesh.subcell_vertex_offset);
    mesh.subcell_vertices.resize(D *
                                 std::size_t(mesh.subcell_vertex_offset[n]));
    for_subcells([&](const unsigned int i, const unsigned int s) {
      const unsigned int first = spatial.subcell_vertex_offset[s],
                         m     = spatial.subcell_vertex_offset[s + 1] - first;
      double *to =
        &mesh.subcell_vertices[D * std::size_t(mesh.subcell_vertex_offset[i])];
      const unsigned int n_vertices =
        mesh.subcell_vertex_offset[i + 1] - mesh.subcell_vertex_offset[i];
      for (unsigned int v = 0; v < n_vertices; ++v, to += D)
        std::copy_n(&spatial.subcell_vertices[dim * (first + v % m)], dim, to);
    });
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::list_interfaces()
  {
    const PolytopicMesh<dim> &spatial    = handler->polytopic_mesh();
    const unsigned int        n_elements = element_polytope.size();

    const unsigned int n_own = n_owned_elements();

    // Calls add(group, neighbor, code) for all interfaces of an element. The
    // spatial list is in the order of all polytopes: neighbours on side 0 of
    // the interfaces come before the polytope itself.
    const auto for_entries = [&](const unsigned int e, const auto &add) {
      const unsigned int k = element_polytope[e], i = e - first_element[k],
                         m = intervals[k];
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
          const std::uint64_t m_l = intervals[neighbor];
          for (unsigned int j = i * m_l / m;
               j * std::uint64_t(m) < (i + 1) * m_l;
               ++j)
            add(group, first_element[neighbor] + j, code);
        }
      if (i > 0)
        add(own_group, e - 1, in_column);
      if (i + 1 < m)
        add(own_group, e + 1, in_column);
      if (i == 0)
        add(invalid_index, invalid_index, at_bottom);
    };

    mesh.polytope_interface_offset.assign(n_elements + 1, 0);
    // Ghosts have no list.
    over(n_own, [&](const unsigned int e) {
      unsigned int n = 0;
      for_entries(e,
                  [&n](const unsigned int,
                       const unsigned int,
                       const unsigned int) { ++n; });
      mesh.polytope_interface_offset[e + 1] = n;
    });
    accumulate(mesh.polytope_interface_offset);
    entries.resize(mesh.polytope_interface_offset.back());
    over(n_own, [&](const unsigned int e) {
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
        return a.group != b.group ? a.group < b.group : a.neighbor < b.neighbor;
      });
    });

    // Interfaces are numbered from side 0, whose polytope comes first in the
    // order of all polytopes. If side 0 is a ghost, the own side numbers the
    // interface.
    const auto side = [](const unsigned int e, const Entry &entry) {
      return entry.code == in_column   ? (entry.neighbor < e ? 1u : 0u)
             : entry.code == at_bottom ? 0u
                                       : entry.code % 2;
    };
    const auto is_numbered = [&](const unsigned int e, const Entry &entry) {
      return side(e, entry) == 0 ||
             (entry.neighbor != invalid_index && entry.neighbor >= n_own);
    };
    std::vector<unsigned int> first_interface(n_own + 1, 0);
    over(n_own, [&](const unsigned int e) {
      for (unsigned int x = mesh.polytope_interface_offset[e];
           x < mesh.polytope_interface_offset[e + 1];
           ++x)
        first_interface[e + 1] += is_numbered(e, entries[x]) ? 1 : 0;
    });
    accumulate(first_interface);
    const unsigned int n_interfaces = first_interface.back();
    mesh.interface_polytope.resize(2 * std::size_t(n_interfaces));
    mesh.interface_boundary_id.resize(n_interfaces);
    mesh.interface_shift.resize(n_interfaces);
    mesh.polytope_interface.resize(entries.size());
    interface_origin.resize(n_interfaces);
    mesh.facet_offset.assign(n_interfaces + 1, 0);
    over(n_own, [&](const unsigned int e) {
      unsigned int i = first_interface[e];
      for (unsigned int x = mesh.polytope_interface_offset[e];
           x < mesh.polytope_interface_offset[e + 1];
           ++x)
        {
          const Entry &entry = entries[x];
          if (!is_numbered(e, entry))
            continue;
          const unsigned int own_side                   = side(e, entry);
          mesh.polytope_interface[x]                    = 2 * i + own_side;
          mesh.interface_polytope[2 * i + own_side]     = e;
          mesh.interface_polytope[2 * i + 1 - own_side] = entry.neighbor;
          if (entry.code == in_column || entry.code == at_bottom)
            {
              mesh.interface_boundary_id[i] =
                entry.code == at_bottom ? bottom_id : invalid_index;
              mesh.interface_shift[i] = 0;
              interface_origin[i]     = entry.code;
              mesh.facet_offset[i + 1] =
                mesh.subcell_offset[e + 1] - mesh.subcell_offset[e];
            }
          else
            {
              const unsigned int s          = entry.code / 2;
              mesh.interface_boundary_id[i] = spatial.interface_boundary_id[s];
              mesh.interface_shift[i]       = spatial.interface_shift[s];
              interface_origin[i]           = s;
              mesh.facet_offset[i + 1] =
                spatial.facet_offset[s + 1] - spatial.facet_offset[s];
            }
          ++i;
        }
    });
    accumulate(mesh.facet_offset);
    // Side 1 looks up the indices.
    over(n_own, [&](const unsigned int e) {
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



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::build_facets()
  {
    const PolytopicMesh<dim> &spatial      = handler->polytopic_mesh();
    const unsigned int        n_interfaces = interface_origin.size(),
                       n_facets            = mesh.facet_offset.back();
    mesh.facet_type.resize(n_facets);
    mesh.facet_normal.assign(D * std::size_t(n_facets), 0.);
    mesh.facet_measure.resize(n_facets);
    mesh.facet_subcell.assign(2 * std::size_t(n_facets), invalid_index);
    mesh.penalty_factor.clear();
    mesh.facet_vertex_offset.assign(n_facets + 1, 0);

    // Calls function(facet, spatial facet or sub-cell, origin, interface).
    const auto for_facets = [&](const auto &function) {
      over(n_interfaces, [&](const unsigned int i) {
        const unsigned int origin = interface_origin[i];
        unsigned int       s =
          origin == in_column || origin == at_bottom
                  ? spatial.subcell_offset
                [element_polytope[mesh.interface_polytope[2 * i]]]
                  : spatial.facet_offset[origin];
        for (unsigned int f = mesh.facet_offset[i];
             f < mesh.facet_offset[i + 1];
             ++f, ++s)
          function(f, s, origin, i);
      });
    };
    for_facets([&](const unsigned int f,
                   const unsigned int s,
                   const unsigned int origin,
                   const unsigned int i) {
      const unsigned int *elements = &mesh.interface_polytope[2 * i];
      if (origin == in_column || origin == at_bottom)
        {
          const SubCellType type = spatial.subcell_type[s];
          mesh.facet_type[f] = type == SubCellType::simplex ? FacetType::simplex
                               : type == SubCellType::tabulated
                                 ? FacetType::tabulated
                                 : FacetType::quadrilateral;
          mesh.facet_normal[D * f + dim] = origin == at_bottom ? -1. : 1.;
          mesh.facet_vertex_offset[f + 1] =
            spatial.subcell_vertex_offset[s + 1] -
            spatial.subcell_vertex_offset[s];
          for (unsigned int side = 0; side < 2; ++side)
            if (elements[side] != invalid_index)
              mesh.facet_subcell[2 * f + side] =
                mesh.subcell_offset[elements[side]] + s -
                spatial.subcell_offset[element_polytope[elements[side]]];
        }
      else
        {
          const FacetType type = spatial.facet_type[s];
          mesh.facet_type[f] =
            type == FacetType::simplex ? FacetType::prism : type;
          std::copy_n(&spatial.facet_normal[dim * s],
                      dim,
                      &mesh.facet_normal[D * f]);
          const unsigned int n_vertices =
            spatial.facet_vertex_offset[s + 1] - spatial.facet_vertex_offset[s];
          mesh.facet_vertex_offset[f + 1] =
            type == FacetType::simplex ? n_vertices + 1 : 2 * n_vertices;
          for (unsigned int side = 0; side < 2; ++side)
            if (elements[side] != invalid_index)
              mesh.facet_subcell[2 * f + side] =
                mesh.subcell_offset[elements[side]] +
                spatial.facet_subcell[2 * s + side] -
                spatial.subcell_offset[element_polytope[elements[side]]];
        }
    });
    accumulate(mesh.facet_vertex_offset);
    mesh.facet_vertices.resize(D *
                               std::size_t(mesh.facet_vertex_offset[n_facets]));
    for_facets([&](const unsigned int f,
                   const unsigned int s,
                   const unsigned int origin,
                   const unsigned int) {
      double *to =
        &mesh.facet_vertices[D * std::size_t(mesh.facet_vertex_offset[f])];
      const unsigned int n =
        mesh.facet_vertex_offset[f + 1] - mesh.facet_vertex_offset[f];
      if (origin == in_column || origin == at_bottom)
        {
          // Orders the vertices such that their orientation matches the normal
          // of the facet. Vertices with positive measure have an upward normal
          // for dim = 2 and a downward normal for dim = 3.
          const double *from =
            &spatial.subcell_vertices[dim * spatial.subcell_vertex_offset[s]];
          const double size     = signed_measure<dim>(from, n);
          mesh.facet_measure[f] = std::abs(size);
          const bool swap =
            (size > 0.) != ((dim == 2) == (origin == in_column));
          // swaps the first two directions
          constexpr unsigned int exchanged[8] = {0, 2, 1, 3, 4, 6, 5, 7};
          for (unsigned int v = 0; v < n; ++v, to += D)
            std::copy_n(from + dim * (swap ? exchanged[v] : v), dim, to);
        }
      else
        {
          const unsigned int first = spatial.facet_vertex_offset[s],
                             m     = spatial.facet_vertex_offset[s + 1] - first;
          for (unsigned int v = 0; v < n; ++v, to += D)
            std::copy_n(&spatial.facet_vertices[dim * (first + v % m)],
                        dim,
                        to);
        }
    });
  }



  // Sets all data that depend on the length of the slab.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::set_times()
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    over(element_polytope.size(), [&](const unsigned int e) {
      const unsigned int k = element_polytope[e], i = e - first_element[k];
      const double       lower = breakpoint(k, i), upper = breakpoint(k, i + 1);
      double            *box = &mesh.box[2 * D * std::size_t(e)];
      std::copy_n(&spatial.box[2 * dim * k], dim, box);
      std::copy_n(&spatial.box[2 * dim * k + dim], dim, box + D);
      box[dim]        = lower;
      box[D + dim]    = upper;
      mesh.measure[e] = spatial.measure[k] * (upper - lower);
      for (unsigned int s = mesh.subcell_offset[e];
           s < mesh.subcell_offset[e + 1];
           ++s)
        {
          const unsigned int first = mesh.subcell_vertex_offset[s],
                             n     = mesh.subcell_vertex_offset[s + 1] - first;
          const unsigned int n_lower =
            mesh.subcell_type[s] == SubCellType::prism ? n - 1 : n / 2;
          for (unsigned int v = 0; v < n; ++v)
            mesh.subcell_vertices[D * (first + v) + dim] =
              v < n_lower ? lower : upper;
        }
    });
    over(interface_origin.size(), [&](const unsigned int i) {
      const unsigned int  origin   = interface_origin[i];
      const unsigned int *elements = &mesh.interface_polytope[2 * i];
      const bool    horizontal     = origin == in_column || origin == at_bottom;
      const double *box0  = &mesh.box[2 * D * std::size_t(elements[0])];
      double        lower = box0[dim], upper = box0[D + dim];
      if (origin == in_column)
        lower = upper;
      else if (origin == at_bottom)
        upper = lower;
      else if (elements[1] != invalid_index)
        {
          const double *box1 = &mesh.box[2 * D * std::size_t(elements[1])];
          lower              = std::max(lower, box1[dim]);
          upper              = std::min(upper, box1[D + dim]);
        }
      for (unsigned int f = mesh.facet_offset[i]; f < mesh.facet_offset[i + 1];
           ++f)
        {
          const unsigned int first   = mesh.facet_vertex_offset[f],
                             n       = mesh.facet_vertex_offset[f + 1] - first;
          const unsigned int n_lower = horizontal ? n
                                       : mesh.facet_type[f] == FacetType::prism
                                         ? n - 1
                                         : n / 2;
          for (unsigned int v = 0; v < n; ++v)
            mesh.facet_vertices[D * (first + v) + dim] =
              v < n_lower ? lower : upper;
          if (!horizontal)
            mesh.facet_measure[f] =
              spatial.facet_measure[spatial.facet_offset[origin] + f -
                                    mesh.facet_offset[i]] *
              (upper - lower);
        }
    });
    mesh.revision = PolytopicMesh<D>::new_revision();
    ++n_changes;
    // The revision of the quadrature covers the coordinates of its points.
    table_origin = 0;
    if (has_tables)
      tabulate_products();
  }



  // Products of the handler's quadrature tables with Gauss points in time.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::tabulate_products()
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    has_tables                        = true;
    if (table_origin == spatial.quadrature_revision && table_origin != 0)
      return;
    table_origin = spatial.quadrature_revision;
    mesh.subcell_point_offset.clear();
    mesh.facet_point_offset.clear();
    mesh.subcell_points.clear();
    mesh.subcell_point_weights.clear();
    mesh.facet_points.clear();
    mesh.facet_point_normals.clear();
    mesh.facet_point_weights.clear();
    if (spatial.subcell_point_offset.empty())
      return;

    const auto rule = [&](const unsigned int degree) -> const ReferenceRule & {
      return simplex_rule(1,
                          std::min(2 * degree + extra_order,
                                   max_quadrature_order));
    };
    mesh.subcell_point_offset.push_back(0);
    for (unsigned int e = 0; e < element_polytope.size(); ++e)
      {
        const unsigned int   k     = element_polytope[e];
        const double        *box   = &mesh.box[2 * D * std::size_t(e)];
        const double         lower = box[dim], size = box[D + dim] - lower;
        const ReferenceRule &time = rule(mesh.degree[e]);
        for (unsigned int s = spatial.subcell_offset[k];
             s < spatial.subcell_offset[k + 1];
             ++s)
          {
            for (unsigned int t = 0; t < time.n_points; ++t)
              for (unsigned int q = spatial.subcell_point_offset[s];
                   q < spatial.subcell_point_offset[s + 1];
                   ++q)
                {
                  for (unsigned int d = 0; d < dim; ++d)
                    mesh.subcell_points.push_back(
                      spatial.subcell_points[dim * q + d]);
                  mesh.subcell_points.push_back(lower + size * time.points[t]);
                  mesh.subcell_point_weights.push_back(
                    spatial.subcell_point_weights[q] * size * time.weights[t]);
                }
            mesh.subcell_point_offset.push_back(
              mesh.subcell_point_weights.size());
          }
      }

    mesh.facet_point_offset.push_back(0);
    const auto add_point = [&](const double *x,
                               const double *normal,
                               const double  time,
                               const double  time_normal,
                               const double  weight) {
      for (unsigned int d = 0; d < dim; ++d)
        {
          mesh.facet_points.push_back(x[d]);
          mesh.facet_point_normals.push_back(normal == nullptr ? 0.
                                                               : normal[d]);
        }
      mesh.facet_points.push_back(time);
      mesh.facet_point_normals.push_back(time_normal);
      mesh.facet_point_weights.push_back(weight);
    };
    for (unsigned int i = 0; i < interface_origin.size(); ++i)
      {
        const unsigned int  origin   = interface_origin[i];
        const unsigned int *elements = &mesh.interface_polytope[2 * i];
        const unsigned int  degree =
          elements[1] == invalid_index
             ? mesh.degree[elements[0]]
             : std::max(mesh.degree[elements[0]], mesh.degree[elements[1]]);
        const ReferenceRule &time = rule(degree);
        for (unsigned int f = mesh.facet_offset[i];
             f < mesh.facet_offset[i + 1];
             ++f)
          {
            const unsigned int j     = f - mesh.facet_offset[i];
            const unsigned int first = mesh.facet_vertex_offset[f],
                               last  = mesh.facet_vertex_offset[f + 1] - 1;
            const double lower       = mesh.facet_vertices[D * first + dim],
                         size = mesh.facet_vertices[D * last + dim] - lower;
            if (mesh.facet_type[f] != FacetType::tabulated)
              ;
            else if (origin == in_column || origin == at_bottom)
              {
                const unsigned int s =
                  spatial.subcell_offset[element_polytope[elements[0]]] + j;
                double measure = 0.;
                for (unsigned int q = spatial.subcell_point_offset[s];
                     q < spatial.subcell_point_offset[s + 1];
                     ++q)
                  {
                    add_point(&spatial.subcell_points[dim * q],
                              nullptr,
                              lower,
                              origin == at_bottom ? -1. : 1.,
                              spatial.subcell_point_weights[q]);
                    measure += spatial.subcell_point_weights[q];
                  }
                mesh.facet_measure[f] = measure;
              }
            else
              {
                const unsigned int s = spatial.facet_offset[origin] + j;
                for (unsigned int t = 0; t < time.n_points; ++t)
                  for (unsigned int q = spatial.facet_point_offset[s];
                       q < spatial.facet_point_offset[s + 1];
                       ++q)
                    add_point(&spatial.facet_points[dim * q],
                              &spatial.facet_point_normals[dim * q],
                              lower + size * time.points[t],
                              0.,
                              spatial.facet_point_weights[q] * size *
                                time.weights[t]);
              }
            mesh.facet_point_offset.push_back(mesh.facet_point_weights.size());
          }
      }
    mesh.quadrature_revision = PolytopicMesh<D>::new_revision();
  }



  // Block-diagonal mass matrix of the handler's space.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::compute_mass()
  {
    handler->tabulate(0);
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    if (mass_revision == spatial.revision && mass_revision != 0)
      return;
    const unsigned int n = handler->n_polytopes();
    BlockSparsity      sparsity;
    sparsity.block_offset.resize(n + 1);
    sparsity.value_offset.resize(n + 1);
    sparsity.row_width.assign(spatial.n_basis.begin(),
                              spatial.n_basis.begin() + n);
    sparsity.block_column.resize(n);
    sparsity.column_offset.assign(n, 0);
    for (unsigned int k = 0; k < n; ++k)
      {
        sparsity.block_offset[k + 1] = k + 1;
        sparsity.block_column[k]     = k;
        sparsity.value_offset[k + 1] =
          sparsity.value_offset[k] +
          std::uint64_t(spatial.n_basis[k]) * spatial.n_basis[k];
      }
    mass.resize(sparsity.value_offset[n]);
    internal::AssemblyTarget<double> target;
    target.host_values = mass.data();
    internal::assemble_on_host(spatial,
                               sparsity,
                               MassForm<dim>(1.),
                               std::vector<double>(spatial.n_facets(), 0.),
                               internal::HostRules<dim>(spatial, 0),
                               PolynomialSpaceType::total_degree,
                               InstructionSet::automatic,
                               target);
    mass_offset   = std::move(sparsity.value_offset);
    mass_revision = spatial.revision;
  }



  template <int dim>
  SpaceTimeSlab<dim>::SpaceTimeSlab(const AgglomerationHandler<dim> &handler,
                                    const PolynomialSpaceType        space)
    : implementation(std::make_unique<Implementation>(handler, space))
  {
    AssertThrow(space == PolynomialSpaceType::total_degree ||
                  space == PolynomialSpaceType::prismatic,
                ExcUserInput("Space-time elements have spaces of total degree "
                             "or prismatic ones: full tensor products are not"
                             " among them."));
  }



  template <int dim>
  SpaceTimeSlab<dim>::~SpaceTimeSlab() = default;



  template <int dim>
  void
  SpaceTimeSlab<dim>::reinit(const double                     start,
                             const double                     length,
                             const std::vector<unsigned int> &n_intervals)
  {
    const AgglomerationHandler<dim> &handler  = *implementation->handler;
    const PolytopicMesh<dim>        &spatial  = handler.polytopic_mesh();
    const bool                       parallel = implementation->parallel();
    const auto                       check    = [&]() {
      AssertThrow(std::isfinite(start),
                  ExcUserInput("A time step begins at " +
                               std::to_string(start) +
                               ": times must be finite numbers."));
      AssertThrow(std::isfinite(length) && length > 0.,
                  ExcUserInput("A time step has the length " +
                               std::to_string(length) +
                               ": it must be a positive number."));
      AssertThrow(handler.n_dofs() > 0 && handler.n_components() == 1 &&
                    handler.polynomial_space() ==
                      PolynomialSpaceType::total_degree,
                  ExcMessage("A space-time slab needs degrees of freedom of "
                                                      "one component and total degree: call "
                                                      "distribute_dofs() with "
                                                      "FE_BoundingBoxLegendre<dim>(degree)."));
      AssertThrow(n_intervals.empty() ||
                    n_intervals.size() == handler.n_polytopes(),
                  ExcMessage("There are numbers of time intervals for " +
                             std::to_string(n_intervals.size()) +
                             " polytopes, but the mesh has " +
                             std::to_string(handler.n_polytopes()) + "."));
      for (unsigned int k = 0; k < n_intervals.size(); ++k)
        AssertThrow(n_intervals[k] > 0,
                    ExcUserInput("Polytope " + std::to_string(k) +
                                 " has no time interval: give at least 1."));
    };
    if (parallel)
      Tessella::on_all_processes(handler.get_communicator(), check);
    else
      check();

    implementation->start               = start;
    std::vector<unsigned int> intervals = n_intervals;
    intervals.resize(spatial.n_polytopes(), 1);
    bool same = spatial.revision != 0 &&
                spatial.revision == implementation->spatial_revision &&
                std::equal(intervals.begin(),
                           intervals.begin() + handler.n_polytopes(),
                           implementation->intervals.begin());
    if (parallel)
      {
        same =
          Utilities::MPI::min(same ? 1 : 0, handler.get_communicator()) == 1;
        if (!same)
          {
            // values of ghosts
            std::vector<double> numbers(intervals.begin(), intervals.end());
            handler.exchange_polytope_values(numbers, 1);
            std::copy(numbers.begin(), numbers.end(), intervals.begin());
          }
      }
    if (same && length == implementation->length)
      return;
    implementation->length = length;
    if (!same)
      {
        implementation->intervals = std::move(intervals);
        implementation->build_structure();
      }
    implementation->set_times();
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::start() const
  {
    return implementation->start;
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::length() const
  {
    return implementation->length;
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::end() const
  {
    return implementation->start + implementation->length;
  }



  template <int dim>
  std::uint64_t
  SpaceTimeSlab<dim>::revision() const
  {
    return implementation->n_changes;
  }



  template <int dim>
  std::uint64_t
  SpaceTimeSlab<dim>::structure_revision() const
  {
    return implementation->n_structures;
  }



  template <int dim>
  const AgglomerationHandler<dim> &
  SpaceTimeSlab<dim>::handler() const
  {
    return *implementation->handler;
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::n_intervals(const unsigned int polytope) const
  {
    return implementation->intervals[polytope];
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::first_element(const unsigned int polytope) const
  {
    return implementation->first_element[polytope];
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::polytope_of_element(const unsigned int element) const
  {
    return implementation->element_polytope[element];
  }



  template <int dim>
  std::vector<unsigned int>
  SpaceTimeSlab<dim>::subcell_origin() const
  {
    const PolytopicMesh<dim + 1> &mesh = implementation->mesh;
    const PolytopicMesh<dim>     &spatial =
      implementation->handler->polytopic_mesh();
    std::vector<unsigned int> result(mesh.n_subcells());
    for (unsigned int e = 0; e < mesh.n_polytopes(); ++e)
      std::iota(result.begin() + mesh.subcell_offset[e],
                result.begin() + mesh.subcell_offset[e + 1],
                spatial.subcell_offset[implementation->element_polytope[e]]);
    return result;
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::element_begin(const unsigned int element) const
  {
    return implementation->mesh.box[2 * (dim + 1) * std::size_t(element) + dim];
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::element_end(const unsigned int element) const
  {
    return implementation->mesh
      .box[2 * (dim + 1) * std::size_t(element) + 2 * dim + 1];
  }



  template <int dim>
  std::vector<double>
  SpaceTimeSlab<dim>::breakpoints() const
  {
    // Breakpoints i / m and j / n coincide or differ by at least 1 / (m n), so
    // the tolerance merges only coinciding ones.
    std::vector<double> result;
    for (const unsigned int m : implementation->interval_numbers)
      for (unsigned int i = 0; i <= m; ++i)
        result.push_back(i == m ? implementation->length
                                : implementation->length *
                                    (static_cast<double>(i) / m));
    std::sort(result.begin(), result.end());
    const double tolerance = 1e-12 * implementation->length;
    result.erase(std::unique(result.begin(),
                             result.end(),
                             [tolerance](const double a, const double b) {
                               return b - a <= tolerance;
                             }),
                 result.end());
    return result;
  }



  template <int dim>
  template <typename VectorType, typename SpatialVectorType>
  void
  SpaceTimeSlab<dim>::trace(const VectorType  &solution,
                            const double       time,
                            SpatialVectorType &values,
                            const bool         from_above) const
  {
    const Implementation     &data    = *implementation;
    const PolytopicMesh<dim> &spatial = data.handler->polytopic_mesh();
    check_size(solution, locally_owned_dofs(), "slab");
    AssertThrow(time >= 0. && time <= data.length,
                ExcMessage("The local time " + std::to_string(time) +
                           " lies outside the slab."));
    reinit_vector(values, *data.handler);
    const double *u = begin(solution);
    double       *v = begin(values);
    over(data.handler->n_polytopes(), [&](const unsigned int k) {
      unsigned int       e   = data.first_element[k];
      const unsigned int end = data.first_element[k + 1];
      while (e + 1 < end &&
             (from_above ? time >= element_end(e) : time > element_end(e)))
        ++e;
      const double lower = element_begin(e), upper = element_end(e),
                   size = upper - lower;
      double factor[Legendre::max_degree + 1];
      Legendre::evaluate(data.mesh.degree[e],
                         time == upper ? 1. : 2. * (time - lower) / size - 1.,
                         factor);
      const double  scale = std::sqrt(1. / size);
      const double *from  = u + data.mesh.dof_offset[e];
      double       *to    = v + spatial.dof_offset[k];
      for (unsigned int i = 0; i < data.mesh.n_basis[e]; ++i)
        to[data.spatial_function[i]] +=
          scale * factor[data.time_degree[i]] * from[i];
    });
  }



  template <int dim>
  template <typename VectorType, typename SpatialVectorType>
  void
  SpaceTimeSlab<dim>::add_inflow(const SpatialVectorType &value,
                                 VectorType              &rhs) const
  {
    Implementation           &data    = *implementation;
    const PolytopicMesh<dim> &spatial = data.handler->polytopic_mesh();
    check_size(value, data.handler->locally_owned_dofs(), "handler");
    check_size(rhs, locally_owned_dofs(), "slab");
    data.compute_mass();
    const double *v = begin(value);
    double       *F = begin(rhs);
    over(data.handler->n_polytopes(), [&](const unsigned int k) {
      const unsigned int  e = data.first_element[k], n = spatial.n_basis[k];
      const double       *M = &data.mass[data.mass_offset[k]];
      const double       *u = v + spatial.dof_offset[k];
      std::vector<double> product(n, 0.);
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < n; ++j)
          product[i] += M[std::size_t(i) * n + j] * u[j];
      double factor[Legendre::max_degree + 1];
      Legendre::evaluate(data.mesh.degree[e], -1., factor);
      const double scale = std::sqrt(1. / (element_end(e) - element_begin(e)));
      double      *to    = F + data.mesh.dof_offset[e];
      for (unsigned int i = 0; i < data.mesh.n_basis[e]; ++i)
        to[i] += scale * factor[data.time_degree[i]] *
                 product[data.spatial_function[i]];
    });
  }



  template <int dim>
  template <typename VectorType, typename SpatialVectorType>
  void
  SpaceTimeSlab<dim>::extend(const SpatialVectorType &value,
                             VectorType              &solution) const
  {
    const Implementation     &data    = *implementation;
    const PolytopicMesh<dim> &spatial = data.handler->polytopic_mesh();
    check_size(value, data.handler->locally_owned_dofs(), "handler");
    check_size(solution, locally_owned_dofs(), "slab");
    const double *v = begin(value);
    double       *u = begin(solution);
    over(n_polytopes(), [&](const unsigned int e) {
      const double *from  = v + spatial.dof_offset[data.element_polytope[e]];
      double       *to    = u + data.mesh.dof_offset[e];
      const double  scale = std::sqrt(element_end(e) - element_begin(e));
      for (unsigned int i = 0; i < data.mesh.n_basis[e]; ++i)
        to[i] = data.time_degree[i] == 0
                  ? scale * from[data.spatial_function[i]]
                  : 0.;
    });
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::make_inflow(DeviceBlockMatrix<double> &matrix) const
  {
    Implementation           &data    = *implementation;
    const PolytopicMesh<dim> &spatial = data.handler->polytopic_mesh();
    AssertThrow(internal::n_processes(get_communicator()) == 1,
                ExcMessage("A DeviceBlockMatrix lives on one process, but the "
                           "slab is distributed over several: use "
                           "add_inflow() with vectors of TrilinosWrappers."));
    data.compute_mass();
    const unsigned int n_elements = data.element_polytope.size();

    // Each block row has one block. The block of a bottom element is in the
    // column of the top element of its polytope; all other blocks are zero.
    BlockSparsity sparsity;
    sparsity.row_width = data.mesh.n_basis;
    sparsity.column_offset.assign(n_elements, 0);
    sparsity.block_column.resize(n_elements);
    sparsity.block_offset.assign(n_elements + 1, 0);
    sparsity.value_offset.assign(n_elements + 1, 0);
    for (unsigned int e = 0; e < n_elements; ++e)
      {
        const unsigned int k = data.element_polytope[e];
        sparsity.block_column[e] =
          e == data.first_element[k] ? data.first_element[k + 1] - 1 : e;
        sparsity.block_offset[e + 1] = e + 1;
        sparsity.value_offset[e + 1] =
          sparsity.value_offset[e] +
          std::uint64_t(data.mesh.n_basis[e]) * data.mesh.n_basis[e];
      }
    std::vector<double> values(sparsity.value_offset.back(), 0.);
    over(spatial.n_polytopes(), [&](const unsigned int k) {
      const unsigned int e = data.first_element[k], n = data.mesh.n_basis[e],
                         n_spatial = spatial.n_basis[k];
      const double *M              = &data.mass[data.mass_offset[k]];
      double       *to             = &values[sparsity.value_offset[e]];
      double bottom[Legendre::max_degree + 1], top[Legendre::max_degree + 1];
      Legendre::evaluate(data.mesh.degree[e], -1., bottom);
      Legendre::evaluate(data.mesh.degree[e], 1., top);
      // Both elements have 1 / data.intervals[k] of the length of the slab.
      const double scale = data.intervals[k];
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < n; ++j)
          to[std::size_t(i) * n + j] =
            scale * bottom[data.time_degree[i]] * top[data.time_degree[j]] *
            M[std::size_t(data.spatial_function[i]) * n_spatial +
              data.spatial_function[j]];
    });
    matrix.reinit(sparsity, data.mesh.dof_offset);
    matrix.copy_from(values);
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::add_inflow(const DeviceBlockMatrix<double> &inflow,
                                 const DeviceVector<double>      &before,
                                 const double                     length_before,
                                 DeviceVector<double>            &rhs) const
  {
    AssertThrow(inflow.m() == n_dofs(),
                ExcDimensionMismatch(inflow.m(), n_dofs()));
    AssertThrow(length_before > 0.,
                ExcMessage("The slab before must have a positive length."));
    DeviceVector<double> product(n_dofs());
    inflow.vmult(product, before);
    rhs.add(1. / std::sqrt(length() * length_before), product);
  }



  template <int dim>
  template <typename SpatialVectorType>
  double
  SpaceTimeSlab<dim>::L2_norm(const SpatialVectorType &value) const
  {
    Implementation           &data    = *implementation;
    const PolytopicMesh<dim> &spatial = data.handler->polytopic_mesh();
    check_size(value, data.handler->locally_owned_dofs(), "handler");
    data.compute_mass();
    const double *v   = begin(value);
    double        sum = 0.;
    for (unsigned int k = 0; k < data.handler->n_polytopes(); ++k)
      {
        const unsigned int n = spatial.n_basis[k];
        const double      *M = &data.mass[data.mass_offset[k]];
        const double      *u = v + spatial.dof_offset[k];
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int j = 0; j < n; ++j)
            sum += u[i] * M[std::size_t(i) * n + j] * u[j];
      }
    return std::sqrt(std::max(data.sum(sum), 0.));
  }



  template <int dim>
  template <typename SpatialVectorType>
  double
  SpaceTimeSlab<dim>::integral(const SpatialVectorType &value) const
  {
    Implementation           &data    = *implementation;
    const PolytopicMesh<dim> &spatial = data.handler->polytopic_mesh();
    check_size(value, data.handler->locally_owned_dofs(), "handler");
    data.compute_mass();
    const double *v = begin(value);
    // The first basis function is 1 / sqrt(volume of the box).
    double sum = 0.;
    for (unsigned int k = 0; k < data.handler->n_polytopes(); ++k)
      {
        const unsigned int n      = spatial.n_basis[k];
        const double      *M      = &data.mass[data.mass_offset[k]];
        const double      *u      = v + spatial.dof_offset[k];
        double             volume = 1.;
        for (unsigned int d = 0; d < dim; ++d)
          volume *=
            spatial.box[2 * dim * k + dim + d] - spatial.box[2 * dim * k + d];
        double product = 0.;
        for (unsigned int j = 0; j < n; ++j)
          product += M[j] * u[j];
        sum += std::sqrt(volume) * product;
      }
    return data.sum(sum);
  }



  template <int dim>
  const PolytopicMesh<dim + 1> &
  SpaceTimeSlab<dim>::polytopic_mesh() const
  {
    // throws if the triangulation has changed
    implementation->handler->polytopic_mesh();
    return implementation->mesh;
  }



  template <int dim>
  PolynomialSpaceType
  SpaceTimeSlab<dim>::polynomial_space() const
  {
    return implementation->space;
  }



  template <int dim>
  MPI_Comm
  SpaceTimeSlab<dim>::get_communicator() const
  {
    return implementation->handler->get_communicator();
  }



  template <int dim>
  types::global_dof_index
  SpaceTimeSlab<dim>::n_dofs() const
  {
    return static_cast<types::global_dof_index>(implementation->n_all_dofs);
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::n_polytopes() const
  {
    return implementation->n_owned_elements();
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::n_global_polytopes() const
  {
    return static_cast<unsigned int>(implementation->n_all_elements);
  }



  template <int dim>
  types::global_dof_index
  SpaceTimeSlab<dim>::first_dof(const unsigned int element) const
  {
    const Implementation &data   = *implementation;
    const std::uint64_t   offset = data.mesh.dof_offset[element];
    if (element < data.n_owned_elements())
      return static_cast<types::global_dof_index>(data.first_own_dof + offset);
    // Elements of a polytope are numbered consecutively by their owner, too.
    const unsigned int k = data.element_polytope[element];
    return static_cast<types::global_dof_index>(
      data.ghost_first_dof[k - data.handler->n_polytopes()] +
      (offset - data.mesh.dof_offset[data.first_element[k]]));
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::exchange_facet_values(std::vector<double> &values) const
  {
    const Implementation         &data = *implementation;
    const PolytopicMesh<dim + 1> &mesh = data.mesh;
    AssertDimension(values.size(), 2 * std::size_t(mesh.n_facets()));
    if (!data.parallel())
      return;
    const PolytopicMesh<dim> &spatial = data.handler->polytopic_mesh();

    // A spatial facet has a facet in the slab for every pair of intersecting
    // intervals of its two sides. Round r exchanges the r-th of them in time.
    unsigned int              n_rounds = 0;
    std::vector<unsigned int> round(mesh.n_interfaces(), invalid_index);
    for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
      {
        const unsigned int *e = &mesh.interface_polytope[2 * i];
        if (e[1] == invalid_index ||
            data.interface_origin[i] == Implementation::in_column ||
            std::max(e[0], e[1]) < data.n_owned_elements())
          continue;
        std::uint64_t m[2], j[2];
        for (unsigned int side = 0; side < 2; ++side)
          {
            const unsigned int k = data.element_polytope[e[side]];
            m[side]              = data.intervals[k];
            j[side]              = e[side] - data.first_element[k];
          }
        // A common end of two intervals is counted once.
        const std::uint64_t common = std::gcd(m[0], m[1]);
        round[i]                   = static_cast<unsigned int>(
          j[0] + j[1] - std::max(j[0] * common / m[0], j[1] * common / m[1]));
        n_rounds = std::max(n_rounds, round[i] + 1);
      }
    n_rounds = Utilities::MPI::max(n_rounds, get_communicator());
    std::vector<double> present(2 * std::size_t(spatial.n_facets()));
    for (unsigned int r = 0; r < n_rounds; ++r)
      {
        const auto for_facets = [&](const auto &function) {
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            if (round[i] == r)
              for (unsigned int f = 2 * mesh.facet_offset[i];
                   f < 2 * mesh.facet_offset[i + 1];
                   ++f)
                function(
                  values[f],
                  present[2 * spatial.facet_offset[data.interface_origin[i]] +
                          f - 2 * mesh.facet_offset[i]]);
        };
        for_facets([](const double value, double &to) { to = value; });
        data.handler->exchange_facet_values(present);
        for_facets([](double &value, const double from) { value = from; });
      }
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::n_components() const
  {
    return 1;
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::max_degree() const
  {
    return implementation->handler->max_degree();
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::max_dofs_per_polytope() const
  {
    return Legendre::n_functions(dim + 1, max_degree(), implementation->space);
  }



  template <int dim>
  IndexSet
  SpaceTimeSlab<dim>::locally_owned_dofs() const
  {
    const Implementation &data = *implementation;
    if (!data.parallel())
      return complete_index_set(n_dofs());
    IndexSet result(n_dofs());
    result.add_range(data.first_own_dof,
                     data.first_own_dof +
                       data.mesh.dof_offset[data.n_owned_elements()]);
    return result;
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::tabulate(const unsigned int extra_order) const
  {
    Implementation &data = *implementation;
    data.handler->tabulate(extra_order);
    if (extra_order > data.extra_order)
      data.table_origin = 0;
    data.extra_order = std::max(data.extra_order, extra_order);
    data.tabulate_products();
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::fill_penalty_factors(const PenaltyFormula formula) const
  {
    Implementation &data = *implementation;
    if (data.formula == static_cast<int>(formula))
      return;
    compute_penalty_factors(*data.handler, formula);
    const PolytopicMesh<dim> &spatial = data.handler->polytopic_mesh();
    PolytopicMesh<dim + 1>   &mesh    = data.mesh;
    mesh.penalty_factor.assign(2 * std::size_t(mesh.n_facets()), 0.);
    over(mesh.n_interfaces(), [&](const unsigned int i) {
      const unsigned int origin = data.interface_origin[i];
      if (origin == Implementation::in_column ||
          origin == Implementation::at_bottom)
        return;
      std::copy_n(&spatial.penalty_factor[2 * spatial.facet_offset[origin]],
                  2 * (mesh.facet_offset[i + 1] - mesh.facet_offset[i]),
                  &mesh.penalty_factor[2 * mesh.facet_offset[i]]);
    });
    mesh.penalty_revision = PolytopicMesh<dim + 1>::new_revision();
    data.formula          = static_cast<int>(formula);
  }



  template <int dim>
  std::size_t
  SpaceTimeSlab<dim>::memory_consumption() const
  {
    const Implementation &data = *implementation;
    return sizeof(data) + data.mesh.memory_consumption() +
           8 * (data.mass.capacity() + data.mass_offset.capacity() +
                data.entries.capacity()) +
           4 * (data.intervals.capacity() + data.first_element.capacity() +
                data.element_polytope.capacity() +
                data.interface_origin.capacity());
  }



  template class SpaceTimeSlab<2>;
  template class SpaceTimeSlab<3>;

#define INSTANTIATE(dim, VectorType, SpatialVectorType)                   \
  template void SpaceTimeSlab<dim>::trace(const VectorType &,             \
                                          const double,                   \
                                          SpatialVectorType &,            \
                                          const bool) const;              \
  template void SpaceTimeSlab<dim>::extend(const SpatialVectorType &,     \
                                           VectorType &) const;           \
  template void SpaceTimeSlab<dim>::add_inflow(const SpatialVectorType &, \
                                               VectorType &) const;
#define INSTANTIATE_NORMS(dim, VectorType)                               \
  template double SpaceTimeSlab<dim>::L2_norm(const VectorType &) const; \
  template double SpaceTimeSlab<dim>::integral(const VectorType &) const;
#define INSTANTIATE_ALL(dim)                                        \
  INSTANTIATE(dim, Vector<double>, Vector<double>)                  \
  INSTANTIATE_NORMS(dim, Vector<double>)                            \
  TESSELLA_IF_EPETRA(                                               \
    INSTANTIATE(dim, TrilinosWrappers::MPI::Vector, Vector<double>) \
      INSTANTIATE(dim,                                              \
                  TrilinosWrappers::MPI::Vector,                    \
                  TrilinosWrappers::MPI::Vector)                    \
        INSTANTIATE_NORMS(dim, TrilinosWrappers::MPI::Vector))

  INSTANTIATE_ALL(2)
  INSTANTIATE_ALL(3)
#undef INSTANTIATE_ALL
#undef INSTANTIATE_NORMS
#undef INSTANTIATE
} // namespace Tessella
