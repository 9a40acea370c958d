// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/parallel.h>

#include <tessella/hdg/trace_space.h>
#include <tessella/portable/legendre.h>
#include <tessella/values/polytope_quadrature.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "local_basis.h"

namespace Tessella
{
  namespace
  {
    /// Generators whose remainder has less than this fraction of the largest
    /// norm make no function.
    constexpr double dependence_tolerance = 1e-8;

    template <int dim>
    constexpr unsigned int frame_size = dim *(dim + 2);

    /// Quadrature points and corners of a patch, seen from its side 0.
    template <int dim>
    struct PatchPoints
    {
      std::array<std::vector<double>, dim> x;
      std::vector<double>                  root_weight;
      std::array<double, dim>              mean_normal;
      double                               measure;
      std::vector<double>                  corners;
    };

    template <int dim>
    void
    collect(const PolytopicMesh<dim> &mesh,
            const unsigned int        interface,
            const unsigned int        begin,
            const unsigned int        end,
            const unsigned int        order,
            InterfaceQuadrature<dim> &quadrature,
            PatchPoints<dim>         &points)
    {
      for (auto &x : points.x)
        x.clear();
      points.root_weight.clear();
      points.mean_normal.fill(0.);
      points.measure = 0.;
      for (unsigned int f = begin; f < end; ++f)
        {
          quadrature.reinit_facet(mesh, interface, f, 0, order);
          for (unsigned int q = 0; q < quadrature.size(); ++q)
            {
              const double w = quadrature.JxW[q];
              for (unsigned int d = 0; d < dim; ++d)
                {
                  points.x[d].push_back(quadrature.x[d][q]);
                  points.mean_normal[d] += w * quadrature.normal[d][q];
                }
              points.root_weight.push_back(std::sqrt(std::max(w, 0.)));
              points.measure += w;
            }
        }
      points.corners.assign(mesh.facet_vertices.begin() +
                              std::size_t(dim) *
                                mesh.facet_vertex_offset[begin],
                            mesh.facet_vertices.begin() +
                              std::size_t(dim) * mesh.facet_vertex_offset[end]);
    }

    /// Orthonormal axes. The last one points along the mean normal, unless the
    /// mean normal vanishes or @p axes_of_space is set.
    template <int dim>
    void
    set_axes(const PatchPoints<dim> &points,
             const bool              axes_of_space,
             double                 *axes)
    {
      std::fill(axes, axes + dim * dim, 0.);
      for (unsigned int d = 0; d < dim; ++d)
        axes[d * dim + d] = 1.;
      double norm = 0.;
      for (const double n : points.mean_normal)
        norm += n * n;
      norm = std::sqrt(norm);
      // The normals of a closed interface cancel.
      if (axes_of_space || !(norm > 0.1 * points.measure))
        return;
      double n[3] = {};
      for (unsigned int d = 0; d < dim; ++d)
        n[d] = points.mean_normal[d] / norm;
      if (dim == 2)
        {
          const double values[4] = {n[1], -n[0], n[0], n[1]};
          std::copy(values, values + 4, axes);
          return;
        }
      // Make the coordinate axis that is farthest from the normal orthogonal to
      // it.
      unsigned int a = 0;
      for (unsigned int d = 1; d < 3; ++d)
        if (std::abs(n[d]) < std::abs(n[a]))
          a = d;
      double t[3], length = 0.;
      for (unsigned int d = 0; d < 3; ++d)
        {
          t[d] = (d == a ? 1. : 0.) - n[a] * n[d];
          length += t[d] * t[d];
        }
      for (double &value : t)
        value /= std::sqrt(length);
      const double s[3]      = {n[1] * t[2] - n[2] * t[1],
                                n[2] * t[0] - n[0] * t[2],
                                n[0] * t[1] - n[1] * t[0]};
      const double values[9] = {
        t[0], t[1], t[2], s[0], s[1], s[2], n[0], n[1], n[2]};
      std::copy(values, values + dim * dim, axes);
    }

    /// Frame of a patch: axes, centre, reciprocal half extents.
    template <int dim>
    void
    set_frame(const PatchPoints<dim> &points,
              const bool              axes_of_space,
              double                 *frame)
    {
      set_axes(points, axes_of_space, frame);
      double lower[dim], upper[dim];
      std::fill(lower, lower + dim, 1e300);
      std::fill(upper, upper + dim, -1e300);
      const auto add = [&](const double(&x)[dim]) {
        for (unsigned int d = 0; d < dim; ++d)
          {
            double y = 0.;
            for (unsigned int e = 0; e < dim; ++e)
              y += frame[d * dim + e] * x[e];
            lower[d] = std::min(lower[d], y);
            upper[d] = std::max(upper[d], y);
          }
      };
      double x[dim];
      for (std::size_t v = 0; v < points.corners.size(); v += dim)
        {
          std::copy(points.corners.begin() + v,
                    points.corners.begin() + v + dim,
                    x);
          add(x);
        }
      for (std::size_t q = 0; q < points.root_weight.size(); ++q)
        {
          for (unsigned int d = 0; d < dim; ++d)
            x[d] = points.x[d][q];
          add(x);
        }
      double largest = 0.;
      for (unsigned int d = 0; d < dim; ++d)
        largest = std::max(largest, upper[d] - lower[d]);
      for (unsigned int d = 0; d < dim; ++d)
        {
          const double extent  = upper[d] - lower[d];
          frame[dim * dim + d] = 0.5 * (lower[d] + upper[d]);
          frame[dim * dim + dim + d] =
            extent > dependence_tolerance * largest ? 2. / extent : 0.;
        }
    }

    /// Values of the generators at points: values[g * stride + q]. Generators
    /// that vary with a coordinate without extent are zero.
    template <int dim>
    void
    evaluate_generators(const double                     *frame,
                        const unsigned int                degree,
                        const std::vector<unsigned char> &exponents,
                        const double *const              *x,
                        const unsigned int                n_points,
                        double                           *values,
                        const unsigned int                stride)
    {
      const unsigned int n_generators = exponents.size() / dim;
      double             P[dim][Legendre::max_degree + 1];
      for (unsigned int q = 0; q < n_points; ++q)
        {
          for (unsigned int d = 0; d < dim; ++d)
            {
              const double scale = frame[dim * dim + dim + d];
              double       y     = -frame[dim * dim + d];
              for (unsigned int e = 0; e < dim; ++e)
                y += frame[d * dim + e] * x[e][q];
              if (scale != 0.)
                Legendre::evaluate(degree, scale * y, P[d]);
              else
                {
                  std::fill(P[d], P[d] + degree + 1, 0.);
                  P[d][0] = 1.;
                }
            }
          for (unsigned int g = 0; g < n_generators; ++g)
            {
              double value = P[0][exponents[g * dim]];
              for (unsigned int d = 1; d < dim; ++d)
                value *= P[d][exponents[g * dim + d]];
              values[std::size_t(g) * stride + q] = value;
            }
        }
    }

    double
    dot(const std::vector<double> &a, const std::vector<double> &b)
    {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.);
    }

    /// a += factor * b
    void
    add(std::vector<double>       &a,
        const double               factor,
        const std::vector<double> &b)
    {
      for (std::size_t q = 0; q < a.size(); ++q)
        a[q] += factor * b[q];
    }

    void
    scale(std::vector<double> &a, const double factor)
    {
      for (double &value : a)
        value *= factor;
    }

    /// Values at points of a linear combination of generators, and its
    /// coefficients.
    struct Combination
    {
      std::vector<double> values, coefficients;
    };

    /// Removes the components along orthonormal functions from @p c (twice,
    /// against rounding), and normalises it.
    void
    orthonormalise(const std::vector<Combination> &functions, Combination &c)
    {
      for (unsigned int pass = 0; pass < 2; ++pass)
        for (const Combination &f : functions)
          {
            const double s = -dot(f.values, c.values);
            add(c.values, s, f.values);
            add(c.coefficients, s, f.coefficients);
          }
      const double norm = std::sqrt(dot(c.values, c.values));
      scale(c.values, 1. / norm);
      scale(c.coefficients, 1. / norm);
    }

    std::vector<Combination>
    pivoted_gram_schmidt(std::vector<Combination> rest)
    {
      std::vector<Combination> functions;
      double                   largest = 0.;
      while (!rest.empty())
        {
          unsigned int pivot = 0;
          double       norm  = -1.;
          for (unsigned int g = 0; g < rest.size(); ++g)
            {
              const double n = std::sqrt(dot(rest[g].values, rest[g].values));
              // If several generators have equal norms, take the first,
              // whatever the rounding.
              if (n > norm * (1. + 1e-10))
                {
                  norm  = n;
                  pivot = g;
                }
            }
          largest = std::max(largest, norm);
          if (!(norm > dependence_tolerance * largest))
            break;
          Combination next = std::move(rest[pivot]);
          rest.erase(rest.begin() + pivot);
          orthonormalise(functions, next);
          for (Combination &c : rest)
            {
              const double s = -dot(next.values, c.values);
              add(c.values, s, next.values);
              add(c.coefficients, s, next.coefficients);
            }
          functions.push_back(std::move(next));
        }
      return functions;
    }

    /// Functions of a patch, with their coefficients.
    template <int dim>
    std::vector<Combination>
    make_basis(const PatchPoints<dim>           &points,
               const double                     *frame,
               const unsigned int                degree,
               const std::vector<unsigned char> &exponents)
    {
      const unsigned int n_points     = points.root_weight.size(),
                         n_generators = exponents.size() / dim;
      std::vector<double> values(std::size_t(n_generators) * n_points);
      const double       *x[dim];
      for (unsigned int d = 0; d < dim; ++d)
        x[d] = points.x[d].data();
      evaluate_generators<dim>(
        frame, degree, exponents, x, n_points, values.data(), n_points);

      std::vector<Combination> generators;
      for (unsigned int g = 0; g < n_generators; ++g)
        {
          bool used = true;
          for (unsigned int d = 0; d < dim; ++d)
            used = used && (exponents[g * dim + d] == 0 ||
                            frame[dim * dim + dim + d] != 0.);
          if (!used)
            continue;
          Combination c;
          c.coefficients.assign(n_generators, 0.);
          c.coefficients[g] = 1.;
          c.values.assign(values.begin() + std::size_t(g) * n_points,
                          values.begin() + std::size_t(g + 1) * n_points);
          for (unsigned int q = 0; q < n_points; ++q)
            c.values[q] *= points.root_weight[q];
          generators.push_back(std::move(c));
        }
      std::vector<Combination> functions =
        pivoted_gram_schmidt(std::move(generators));

      // Functions are evaluated from their coefficients, which magnify rounding
      // errors if generators nearly depend on each other. Hence a second
      // orthonormalisation, with the values that the coefficients produce.
      std::vector<Combination> result;
      for (Combination &c : functions)
        {
          std::fill(c.values.begin(), c.values.end(), 0.);
          for (unsigned int g = 0; g < n_generators; ++g)
            if (c.coefficients[g] != 0.)
              for (unsigned int q = 0; q < n_points; ++q)
                c.values[q] += c.coefficients[g] *
                               values[std::size_t(g) * n_points + q] *
                               points.root_weight[q];
          orthonormalise(result, c);
          result.push_back(std::move(c));
        }
      return result;
    }

    /// Coefficients and frame for a patch of one straight edge: Legendre
    /// polynomials are orthogonal there, and Gram-Schmidt would produce them,
    /// scaled.
    std::vector<double>
    make_edge_basis(const PolytopicMesh<2>           &mesh,
                    const unsigned int                facet,
                    const unsigned int                degree,
                    const std::vector<unsigned char> &exponents,
                    double                           *frame)
    {
      PatchPoints<2> points;
      points.measure = mesh.facet_measure[facet];
      for (unsigned int d = 0; d < 2; ++d)
        points.mean_normal[d] =
          points.measure * mesh.facet_normal[2 * std::size_t(facet) + d];
      const double *const corners =
        &mesh.facet_vertices[2 * std::size_t(mesh.facet_vertex_offset[facet])];
      points.corners.assign(corners, corners + 4);
      set_frame(points, false, frame);
      const unsigned int  n_generators = exponents.size() / 2;
      std::vector<double> coefficients(std::size_t(degree + 1) * n_generators,
                                       0.);
      unsigned int        function = 0;
      for (unsigned int g = 0; g < n_generators; ++g)
        if (exponents[2 * g + 1] == 0)
          coefficients[std::size_t(function++) * n_generators + g] =
            1. / std::sqrt(points.measure);
      return coefficients;
    }

    /// Bases of patches, one after the other. Each thread has its own object.
    template <int dim>
    class PatchBasis
    {
    public:
      PatchBasis(const PolytopicMesh<dim>        &mesh,
                 const std::vector<unsigned int> &order,
                 const bool                       tensor_product)
        : mesh(mesh)
        , order(order)
        , tensor_product(tensor_product)
      {}

      /// Coefficients of the functions on the facets [begin, end) of
      /// @p interface. Also fills the frame.
      std::vector<double>
      operator()(const unsigned int interface,
                 const unsigned int begin,
                 const unsigned int end,
                 const unsigned int degree,
                 double            *frame)
      {
        const std::vector<unsigned char> exponents =
          internal::legendre_exponents(dim, degree, tensor_product);
        if constexpr (dim == 2)
          if (end == begin + 1 && !tensor_product &&
              mesh.facet_type[begin] == FacetType::simplex &&
              mesh.facet_measure[begin] > 0.)
            return make_edge_basis(mesh, begin, degree, exponents, frame);
        collect(mesh, interface, begin, end, order[degree], quadrature, points);
        set_frame(points, tensor_product, frame);
        std::vector<double> coefficients;
        for (const Combination &c :
             make_basis(points, frame, degree, exponents))
          coefficients.insert(coefficients.end(),
                              c.coefficients.begin(),
                              c.coefficients.end());
        return coefficients;
      }

    private:
      const PolytopicMesh<dim>        &mesh;
      const std::vector<unsigned int> &order;
      const bool                       tensor_product;
      InterfaceQuadrature<dim>         quadrature;
      PatchPoints<dim>                 points;
    };
  } // namespace



  template <int dim>
  void
  TraceSpace<dim>::reinit(const PolytopicMesh<dim>        &mesh,
                          const PolytopicDoFs             &dofs,
                          const TraceSpaceType             new_type,
                          const bool                       new_tensor_product,
                          const std::vector<unsigned int> &order,
                          const unsigned int               reduction)
  {
    type                            = new_type;
    tensor_product                  = new_tensor_product;
    const unsigned int n_interfaces = mesh.n_interfaces();

    // ---- patches
    patch_offset.assign(1, 0);
    facet_offset.assign(1, 0);
    degree.clear();
    std::vector<unsigned int> patch_interface;
    for (unsigned int i = 0; i < n_interfaces; ++i)
      {
        unsigned int p = 0;
        for (unsigned int side = 0; side < 2; ++side)
          {
            const unsigned int k =
              mesh.interface_polytope[2 * std::size_t(i) + side];
            if (k != invalid_index)
              p = std::max(p, dofs.degree[k]);
          }
        const unsigned int begin = mesh.facet_offset[i],
                           end   = mesh.facet_offset[i + 1];
        for (unsigned int f = begin; f < end; ++f)
          if (type == TraceSpaceType::facet || f + 1 == end)
            {
              facet_offset.push_back(f + 1);
              degree.push_back(static_cast<unsigned char>(p - reduction));
              patch_interface.push_back(i);
            }
        patch_offset.push_back(degree.size());
      }

    // ---- functions of the patches
    const unsigned int n = degree.size();
    frame.assign(std::size_t(n) * frame_size<dim>, 0.);
    n_patch_functions.assign(n, 0);
    std::vector<std::vector<double>> basis(n);
    dealii::parallel::apply_to_subranges(
      0u,
      n,
      [&](const unsigned int begin, const unsigned int end) {
        PatchBasis<dim> make(mesh, order, tensor_product);
        for (unsigned int p = begin; p < end; ++p)
          {
            basis[p] = make(patch_interface[p],
                            facet_offset[p],
                            facet_offset[p + 1],
                            degree[p],
                            &frame[std::size_t(p) * frame_size<dim>]);
            n_patch_functions[p] =
              basis[p].size() /
              Legendre::n_functions(dim, degree[p], tensor_product);
          }
      },
      64);

    // ---- numbering
    first_function.assign(n, 0);
    n_functions.assign(n_interfaces, 0);
    coefficient_offset.assign(n + 1, 0);
    for (unsigned int i = 0; i < n_interfaces; ++i)
      for (unsigned int p = patch_offset[i]; p < patch_offset[i + 1]; ++p)
        {
          first_function[p] = n_functions[i];
          n_functions[i] += n_patch_functions[p];
          coefficient_offset[p + 1] = coefficient_offset[p] + basis[p].size();
        }
    coefficients.clear();
    coefficients.reserve(coefficient_offset[n]);
    for (const std::vector<double> &c : basis)
      coefficients.insert(coefficients.end(), c.begin(), c.end());
  }



  template <int dim>
  void
  TraceSpace<dim>::evaluate(const unsigned int   patch,
                            const double *const *x,
                            const unsigned int   n_points,
                            double              *values,
                            const unsigned int   stride,
                            std::vector<double> &scratch) const
  {
    const unsigned int p = degree[patch];
    // One list of exponents for each degree and kind of space.
    static thread_local std::vector<unsigned char>
                                lists[2][Legendre::max_degree + 1];
    std::vector<unsigned char> &exponents = lists[tensor_product][p];
    if (exponents.empty())
      exponents = internal::legendre_exponents(dim, p, tensor_product);
    const unsigned int n_generators = exponents.size() / dim;
    scratch.resize(std::size_t(n_generators) * n_points);
    evaluate_generators<dim>(&frame[std::size_t(patch) * frame_size<dim>],
                             p,
                             exponents,
                             x,
                             n_points,
                             scratch.data(),
                             n_points);
    const double *c = coefficients.data() + coefficient_offset[patch];
    for (unsigned int m = 0; m < n_patch_functions[patch];
         ++m, c += n_generators)
      {
        double *const row = values + std::size_t(m) * stride;
        std::fill(row, row + n_points, 0.);
        for (unsigned int g = 0; g < n_generators; ++g)
          if (c[g] != 0.)
            {
              const double *const generator =
                &scratch[std::size_t(g) * n_points];
              for (unsigned int q = 0; q < n_points; ++q)
                row[q] += c[g] * generator[q];
            }
      }
  }



  template struct TraceSpace<2>;
  template struct TraceSpace<3>;
} // namespace Tessella
