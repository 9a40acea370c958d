// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_product.h"

#include <algorithm>

#include "../backends/host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    class HostProduct<dim>::RowProduct
    {
    public:
      RowProduct(const HostProduct &product,
                 const double      *src,
                 const double      *ghosts,
                 const bool         transpose)
        : product(product)
        , mesh(product.mesh)
        , dofs(product.dofs)
        , rules(product.rules)
        , kernels(product.kernels)
        , src(src)
        , ghosts(ghosts)
        , transpose(transpose)
        , volume_points(buffer_capacity(rules))
        , facet_points(mesh, dofs, rules, kernels)
        , array_size(
            std::max(facet_points.array_size, pitch(volume_points.capacity)))
        , volume_memory(n_volume_arrays * array_size, 0.)
        , facet_memory(n_facet_arrays * array_size, 0.)
        , neighbor_rows((dim + 1) * array_size)
      {}

      // Computes row k of all components; the result is valid until the next
      // call.
      const double *
      compute(const unsigned int k);

    private:
      static constexpr unsigned int n_volume_arrays = dim * dim + 2 * dim + 1,
                                    n_facet_arrays  = 4 * dim + 2;
      using Terms = HostKernels::ProductTerms<dim>;

      // The component that is read, on a polytope.
      const double *
      function(const unsigned int k) const
      {
        const unsigned int n_owned = mesh.n_owned_polytopes();
        return (k < n_owned
                  ? src + dofs.dof_offset[k]
                  : ghosts + (dofs.dof_offset[k] - dofs.dof_offset[n_owned])) +
               std::size_t(component) * dofs.n_basis[k];
      }
      void
      add_volume();
      // Arrays of the record, of @p n_points in total, from point @p first on.
      Terms
      volume_terms(const unsigned int n_points,
                   const unsigned int first,
                   const unsigned int n);
      void
      add_facets();
      void
      append_facet(const unsigned int facet,
                   const unsigned int code,
                   const unsigned int degree);
      // Copies the coefficients of points [from, from + n) of a facet to those
      // of the buffer from @p to on.
      void
      set_coefficients(const unsigned int facet,
                       const unsigned int code,
                       const unsigned int n_points,
                       const unsigned int from,
                       const unsigned int n,
                       const unsigned int to);
      void
      process_facet_points();
      Terms
      facet_terms(const unsigned int begin, const bool boundary);

      // Arrays of coefficients of facets.
      double *
      b(const unsigned int side, const unsigned int d)
      {
        return facet_memory.data() + (side * dim + d) * array_size;
      }
      double *
      beta(const unsigned int side, const unsigned int d)
      {
        return facet_memory.data() + ((2 + side) * dim + d) * array_size;
      }
      double *
      c(const unsigned int side)
      {
        return facet_memory.data() + (4 * dim + side) * array_size;
      }

      const HostProduct               &product;
      const PolytopicMesh<dim>        &mesh;
      const PolytopicDoFs             &dofs;
      const HostRules<dim>            &rules;
      const HostKernels::Kernels<dim> &kernels;
      const double *const src, *const ghosts;
      const bool transpose;

      unsigned int           k = 0, component = 0;
      const FormTables<dim> *tables = nullptr;
      HostKernels::Space     element;
      VolumePointBuffer<dim> volume_points;
      FacetPointBuffer<dim>  facet_points;
      const unsigned int     array_size;
      std::vector<double>    volume_memory, facet_memory, neighbor_rows;
      std::vector<double>    sums, result;
    };



    template <int dim>
    const double *
    HostProduct<dim>::RowProduct::compute(const unsigned int polytope)
    {
      k                    = polytope;
      element              = product.space(k);
      const unsigned int n = element.n_functions;
      result.resize(std::size_t(dofs.n_components) * n);
      for (unsigned int i = 0; i < dofs.n_components; ++i)
        {
          sums.assign(n * HostKernels::padding, 0.);
          for (const Pair &pair : product.pairs)
            {
              if ((transpose ? pair.trial : pair.test) != i)
                continue;
              tables    = &pair.tables;
              component = transpose ? pair.test : pair.trial;
              if (tables->n_volume > 0)
                add_volume();
              if (tables->facet_structure.facets)
                add_facets();
            }
          kernels.sum_lanes(sums.data(), n, result.data() + std::size_t(i) * n);
        }
      return result.data();
    }



    template <int dim>
    void
    HostProduct<dim>::RowProduct::add_volume()
    {
      const bool constant = tables->volume(k).constant;
      unsigned   n_all    = 0;
      if (!constant)
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          n_all += rules.n_subcell_points(mesh, s, dofs.degree[k]);
      unsigned int subcell = mesh.subcell_offset[k], point = 0, first = 0;
      Terms        terms = volume_terms(n_all, 0, 0);
      while (subcell < mesh.subcell_offset[k + 1])
        {
          const unsigned int n =
            volume_points.fill(mesh, dofs, rules, kernels, k, subcell, point);
          if (!constant)
            terms = volume_terms(n_all, first, volume_points.n_points);
          first += volume_points.n_points;
          kernels.add_product(element,
                              volume_points.x,
                              volume_points.w,
                              n,
                              terms,
                              nullptr,
                              0,
                              function(k),
                              sums.data());
        }
    }



    template <int dim>
    typename HostProduct<dim>::RowProduct::Terms
    HostProduct<dim>::RowProduct::volume_terms(const unsigned int n_points,
                                               const unsigned int first,
                                               const unsigned int n)
    {
      const VolumeStructure &structure = tables->volume_structure;
      const auto             record    = tables->volume(k);
      double                *to        = volume_memory.data();
      unsigned int           i         = 0;
      const auto             next = [&](const bool wanted) -> const double             *{
        if (!wanted)
          return nullptr;
        double *const array = to;
        to += array_size;
        if (record.constant)
          std::fill_n(array, HostKernels::padding, record.values[i]);
        else
          std::copy_n(record.values + std::size_t(i) * n_points + first,
                      n,
                      array);
        ++i;
        return array;
      };
      Terms terms   = {};
      terms.tensor  = structure.diffusion == DiffusionType::tensor;
      terms.varying = !record.constant;
      for (unsigned int d = 0; d < dim * dim; ++d)
        terms.a[d] =
          next(terms.tensor ||
               (d == 0 && structure.diffusion == DiffusionType::isotropic));
      for (unsigned int d = 0; d < dim; ++d)
        terms.beta[0][d] = next(structure.beta);
      for (unsigned int d = 0; d < dim; ++d)
        terms.b[0][d] = next(structure.b);
      terms.c[0] = next(structure.c);
      if (transpose)
        {
          for (unsigned int d = 0; d < dim; ++d)
            {
              std::swap(terms.beta[0][d], terms.b[0][d]);
              if (terms.tensor)
                for (unsigned int e = 0; e < d; ++e)
                  std::swap(terms.a[d * dim + e], terms.a[e * dim + d]);
            }
        }
      return terms;
    }



    template <int dim>
    void
    HostProduct<dim>::RowProduct::add_facets()
    {
      for (unsigned int e = mesh.polytope_interface_offset[k];
           e < mesh.polytope_interface_offset[k + 1];
           ++e)
        {
          const unsigned int code      = mesh.polytope_interface[e];
          const unsigned int interface = code / 2;
          const unsigned int degree =
            Device::interface_degree(mesh, dofs, interface);
          facet_points.open_segment(code, 0);
          for (unsigned int f = mesh.facet_offset[interface];
               f < mesh.facet_offset[interface + 1];
               ++f)
            append_facet(f, code, degree);
          facet_points.close_segment();
        }
      process_facet_points();
    }



    template <int dim>
    void
    HostProduct<dim>::RowProduct::append_facet(const unsigned int facet,
                                               const unsigned int code,
                                               const unsigned int degree)
    {
      const unsigned int n_points = rules.n_facet_points(mesh, facet, degree);
      unsigned int       point    = 0;
      bool               finished = false;
      do
        {
          const unsigned int from = point, to = facet_points.n_points;
          finished = facet_points.append(facet, code, degree, 0., point);
          set_coefficients(
            facet, code, n_points, from, facet_points.n_points - to, to);
          if (!finished)
            {
              facet_points.close_segment();
              facet_points.drop_empty_segment();
              process_facet_points();
              facet_points.open_segment(code, 0);
            }
      } while (!finished);
    }



    template <int dim>
    void
    HostProduct<dim>::RowProduct::set_coefficients(const unsigned int facet,
                                                   const unsigned int code,
                                                   const unsigned int n_points,
                                                   const unsigned int from,
                                                   const unsigned int n,
                                                   const unsigned int to)
    {
      const bool            boundary  = mesh.neighbor(code) == invalid_index;
      const unsigned int    side      = code % 2;
      const FacetStructure &structure = tables->facet_structure;
      // Entry i of the record, times a factor.
      const auto put = [&](const typename FormTables<dim>::Record &record,
                           const unsigned int                      i,
                           const double                            factor,
                           double                                 *array) {
        array += to;
        if (record.constant)
          std::fill_n(array, n, factor * record.values[i]);
        else
          {
            const double *const values =
              record.values + std::size_t(i) * n_points + from;
            for (unsigned int q = 0; q < n; ++q)
              array[q] = factor * values[q];
          }
      };
      const bool         penalty = tables->penalty_facets;
      const unsigned int n_sides = boundary ? 1 : 2;
      // Places of b_t, beta_t and c_t in a record.
      const unsigned int first_beta = structure.b ? n_sides * dim : 0,
                         first_c =
                           first_beta +
                           (structure.beta && !penalty ? n_sides * dim : 0);
      // The own terms come from this side. The transpose takes the neighbour's
      // terms from the other one, where they have the own function as theirs.
      const auto own = tables->facet(facet, side);
      const auto other =
        transpose && !boundary ? tables->facet(facet, 1 - side) : own;
      for (unsigned int t = 0; t < n_sides; ++t)
        {
          const auto  &record = t == 0 ? own : other;
          const double sign   = t == 0 ? 1. : -1.;
          for (unsigned int d = 0; d < dim; ++d)
            {
              double *const to_b    = transpose ? beta(t, d) : b(t, d);
              double *const to_beta = transpose ? b(t, d) : beta(t, d);
              if (structure.b)
                put(record, t * dim + d, 1., to_b);
              if (penalty)
                put(record, d, sign * tables->theta, to_beta);
              else if (structure.beta)
                put(record, first_beta + t * dim + d, 1., to_beta);
            }
          if (penalty)
            put(record, first_c, sign, c(t));
          else
            put(record, first_c + t, 1., c(t));
        }
    }



    template <int dim>
    void
    HostProduct<dim>::RowProduct::process_facet_points()
    {
      for (const auto &segment : facet_points.segments)
        {
          const unsigned int n        = segment.end - segment.begin;
          const bool         boundary = segment.neighbor == invalid_index;
          const double      *x[dim], *other[dim];
          for (unsigned int d = 0; d < dim; ++d)
            {
              x[d]     = facet_points.x[d] + segment.begin;
              other[d] = (facet_points.periodic ? facet_points.neighbor_x[d]
                                                : facet_points.x[d]) +
                         segment.begin;
            }
          if (!boundary)
            kernels.evaluate_function(product.space(segment.neighbor),
                                      other,
                                      n,
                                      function(segment.neighbor),
                                      neighbor_rows.data(),
                                      array_size);
          kernels.add_product(element,
                              x,
                              facet_points.w + segment.begin,
                              n,
                              facet_terms(segment.begin, boundary),
                              boundary ? nullptr : neighbor_rows.data(),
                              array_size,
                              function(k),
                              sums.data());
        }
      facet_points.clear();
    }



    template <int dim>
    typename HostProduct<dim>::RowProduct::Terms
    HostProduct<dim>::RowProduct::facet_terms(const unsigned int begin,
                                              const bool         boundary)
    {
      const FacetStructure &structure = tables->facet_structure;
      const bool            has_b = transpose ? structure.beta : structure.b,
                 has_beta         = transpose ? structure.b : structure.beta;
      Terms terms                 = {};
      terms.varying               = true;
      for (unsigned int t = 0; t < (boundary ? 1 : 2); ++t)
        {
          for (unsigned int d = 0; d < dim; ++d)
            {
              terms.b[t][d]    = has_b ? b(t, d) + begin : nullptr;
              terms.beta[t][d] = has_beta ? beta(t, d) + begin : nullptr;
            }
          terms.c[t] = c(t) + begin;
        }
      return terms;
    }



    template <int dim>
    HostProduct<dim>::HostProduct(const HostProblem<dim>    &problem,
                                  const std::vector<double> &sigma,
                                  const PolynomialSpaceType  space_type)
      : HostProduct(problem, space_type)
    {
      pairs.push_back({0, 0, {}});
      pairs.back().tables.reinit(problem, sigma);
    }



    template <int dim>
    HostProduct<dim>::HostProduct(
      const HostProblem<dim>                                        &problem,
      const std::vector<SystemPair<dim>>                            &forms,
      const std::vector<std::shared_ptr<const std::vector<double>>> &sigma,
      const PolynomialSpaceType                                      space_type)
      : HostProduct(problem, space_type)
    {
      for (std::size_t p = 0; p < forms.size(); ++p)
        {
          pairs.push_back({forms[p].test, forms[p].trial, {}});
          pairs.back().tables.reinit({problem.mesh,
                                      problem.dofs,
                                      *forms[p].form,
                                      problem.rules,
                                      problem.kernels},
                                     *sigma[p]);
        }
    }



    template <int dim>
    HostProduct<dim>::HostProduct(const HostProblem<dim>   &problem,
                                  const PolynomialSpaceType space_type)
      : mesh(problem.mesh)
      , dofs(problem.dofs)
      , rules(problem.rules)
      , kernels(problem.kernels)
      , tensor_product(space_type != PolynomialSpaceType::total_degree)
    {
      const unsigned int max_degree =
        dofs.degree.empty()
          ? 0
          : *std::max_element(dofs.degree.begin(), dofs.degree.end());
      exponents.resize(dim *
                       Legendre::n_functions(dim, max_degree, space_type));
      Legendre::exponents(dim, max_degree, space_type, exponents.data());
      const unsigned int n_owned = mesh.n_owned_polytopes();
      for (unsigned int k = 0; k < n_owned; ++k)
        {
          bool has_ghosts = false;
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              const unsigned int l = mesh.neighbor(mesh.polytope_interface[e]);
              has_ghosts = has_ghosts || (l != invalid_index && l >= n_owned);
            }
          (has_ghosts ? boundary : interior).push_back(k);
        }
    }



    template <int dim>
    void
    HostProduct<dim>::vmult(const Device::Destination<double> &dst,
                            const double                      *src,
                            const double                      *ghosts,
                            const bool                         transpose,
                            const Rows                         rows) const
    {
      const std::vector<unsigned int> *const list =
        rows == Rows::interior   ? &interior
        : rows == Rows::boundary ? &boundary
                                 : nullptr;
      for_polytopes(
        list == nullptr ? mesh.n_owned_polytopes() : list->size(),
        [&](const unsigned int begin, const unsigned int end) {
          RowProduct row(*this, src, ghosts, transpose);
          for (unsigned int i = begin; i < end; ++i)
            {
              const unsigned int  k      = list == nullptr ? i : (*list)[i];
              const double *const values = row.compute(k);
              for (unsigned int j = 0; j < dofs.n_components * dofs.n_basis[k];
                   ++j)
                dst.store(dofs.dof_offset[k] + j, values[j]);
            }
        },
        256);
    }



    namespace
    {
      // Multiplications and additions of the sums at one point over functions
      // of total degree p, values and gradients.
      double
      sum_operations(const int dim, const double p)
      {
        // Functions (a, b, c) and pairs (a, b), or (a, b) and a in 2-D. The
        // last polynomial of degree 0 is not multiplied.
        const double pairs     = (p + 1.) * (p + 2.) / 2.,
                     functions = pairs * (p + 3.) / 3.;
        return dim == 2 ? 4. * (pairs - (p + 1.)) + 6. * (p + 1.)
                        : 4. * (functions - pairs) + 6. * pairs + 8. * (p + 1.);
      }
    } // namespace



    template <int dim>
    double
    HostProduct<dim>::n_operations() const
    {
      double result = 0.;
      for (const Pair &pair : pairs)
        result += n_operations(pair.tables);
      return result;
    }



    template <int dim>
    double
    HostProduct<dim>::n_operations(const FormTables<dim> &tables) const
    {
      double result = 0.;
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        {
          const double own = sum_operations(dim, dofs.degree[k]);
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1] && tables.n_volume > 0;
               ++s)
            result +=
              2. * own * rules.n_subcell_points(mesh, s, dofs.degree[k]);
          if (!tables.facet_structure.facets)
            continue;
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              const unsigned int code = mesh.polytope_interface[e],
                                 l    = mesh.neighbor(code);
              const double other =
                l == invalid_index ? 0. : sum_operations(dim, dofs.degree[l]);
              const unsigned int degree =
                Device::interface_degree(mesh, dofs, code / 2);
              for (unsigned int f = mesh.facet_offset[code / 2];
                   f < mesh.facet_offset[code / 2 + 1];
                   ++f)
                result +=
                  (2. * own + other) * rules.n_facet_points(mesh, f, degree);
            }
        }
      return result;
    }



    template <int dim>
    std::size_t
    HostProduct<dim>::memory_consumption() const
    {
      std::size_t result =
        (interior.capacity() + boundary.capacity()) * sizeof(unsigned int);
      for (const Pair &pair : pairs)
        result += pair.tables.memory_consumption();
      return result;
    }



    template class HostProduct<2>;
    template class HostProduct<3>;
    template class HostProduct<4>;
  } // namespace internal
} // namespace Tessella
