// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_paper_kernels_h
#define tessella_applications_paper_kernels_h

#include <tessella/lac/block_sparsity.h>

#include <cstddef>
#include <cstdint>

#include "../../cuda/backends/assembly.h"

// Device code of PaperAssembler.

namespace Tessella
{
  namespace Application
  {
    namespace PaperKernels
    {
      using internal::Device::FacetLayout;
      using internal::Device::FormData;
      using internal::Device::VolumeLayout;

      constexpr unsigned int block_size = 64;
      /// Minimal number of thread blocks per multiprocessor, which limits
      /// registers; the values were the fastest on an H200. The paper does
      /// not limit registers, see its remark 3.1: with interior_blocks = 1,
      /// the kernels of precomputed_pattern need 1.3 to 1.5 times as long in
      /// total.
      constexpr unsigned int element_blocks = 1, general_element_blocks = 8,
                             interior_blocks = 10;
      /// Capacity for the reference rule in constant memory, in doubles.
      constexpr unsigned int  max_constant_rule = 7168;
      constexpr std::uint64_t invalid_key       = ~std::uint64_t(0);
      /// sqrt(2 n + 1) P_n: coefficient of x^m at [11 n + m].
      static __constant__ double polynomials[121];
      /// Points (coordinates, weight) of the rule that a kernel reads.
      static __constant__ double constant_rule[max_constant_rule];
      /// Exponents of all basis functions.
      static __constant__ uchar4 functions[1331];

      /// Data that the kernels read; arrays with the names of members of
      /// PolytopicMesh and BlockSparsity are copies of them.
      template <int dim>
      struct Arguments
      {
        /// Centre and scale (2 / width) in each variable, then the product of
        /// the factors sqrt(1 / width).
        const double        *box;
        const unsigned int  *n_basis;
        const std::uint64_t *dof_offset;
        const unsigned int  *subcell_polytope, *facet_interface;
        const double        *subcell_vertices, *facet_vertices;
        const double        *facet_normal, *facet_measure, *sigma, *shift;
        const unsigned int  *interface_polytope, *interface_shift;
        FormData<dim>        form;

        // ---- part of the mesh: its polytopes, pattern and results
        unsigned int         begin, end;
        std::uint64_t        first_value, first_dof;
        const std::uint64_t *value_offset;
        const unsigned int  *row_width;
        const unsigned int  *columns;
        double              *values, *rhs;

        // ---- triples
        std::uint64_t *keys;
        double        *entries;
        unsigned int   column_bits;

        // ---- group of simplices of a launch
        const unsigned int *list;
        unsigned int        n, n_functions, n_points;
        const double       *rule;  // null if in constant memory
        const double       *table; // [(array * n_points + q) * n + simplex]
        std::uint64_t       first_triple;
      };



      /// Coordinate d of point q of the rule, or its weight if d = m.
      template <int m, bool general, int dim>
      __device__ __forceinline__ double
      rule(const Arguments<dim> &A, const unsigned int q, const int d)
      {
        return general && A.rule != nullptr ? __ldg(A.rule + q * (m + 1) + d)
                                            : constant_rule[q * (m + 1) + d];
      }



      /// Affine map from a reference simplex to the variables in which a
      /// bounding box is [-1, 1]^dim.
      template <int m, int dim>
      struct AffineMap
      {
        double origin[dim], matrix[dim][m], scale[dim];

        __device__ __forceinline__
        AffineMap(const double *vertices,
                  const double *shift,
                  const double *box)
        {
          for (int d = 0; d < dim; ++d)
            {
              scale[d]  = box[2 * d + 1];
              origin[d] = (vertices[d] + shift[d] - box[2 * d]) * scale[d];
              for (int e = 0; e < m; ++e)
                matrix[d][e] =
                  (vertices[(e + 1) * dim + d] - vertices[d]) * scale[d];
            }
        }

        __device__ __forceinline__ void
        apply(const double (&r)[m], double (&xi)[dim]) const
        {
          for (int d = 0; d < dim; ++d)
            {
              xi[d] = origin[d];
              for (int e = 0; e < m; ++e)
                xi[d] = fma(matrix[d][e], r[e], xi[d]);
            }
        }
      };



      /// Legendre polynomial of degree n and its derivative by Horner's rule.
      __device__ __forceinline__ void
      legendre(const unsigned int n,
               const double       x,
               double            &value,
               double            &derivative)
      {
        const double *c = polynomials + 11 * n;
        value           = c[n];
        derivative      = 0.;
        for (int m = int(n) - 1; m >= 0; --m)
          {
            derivative = fma(derivative, x, value);
            value      = fma(value, x, c[m]);
          }
      }



      /// A basis function and its gradient, without the factor of the
      /// bounding box.
      template <int dim>
      __device__ __forceinline__ void
      evaluate(const uchar4 exponents,
               const double (&xi)[dim],
               const double (&scale)[dim],
               double &value,
               double (&gradient)[dim])
      {
        double x, y, dx, dy;
        legendre(exponents.x, xi[0], x, dx);
        legendre(exponents.y, xi[1], y, dy);
        dx *= scale[0];
        dy *= scale[1];
        if (dim == 2)
          {
            value       = x * y;
            gradient[0] = dx * y;
            gradient[1] = x * dy;
          }
        else
          {
            double z, dz;
            legendre(exponents.z, xi[dim - 1], z, dz);
            dz *= scale[dim - 1];
            const double yz   = y * z;
            value             = x * yz;
            gradient[0]       = dx * yz;
            gradient[1]       = x * (dy * z);
            gradient[dim - 1] = x * (y * dz);
          }
      }

      template <int dim>
      __device__ __forceinline__ double
      dot(const double (&a)[dim], const double (&b)[dim])
      {
        double sum = a[0] * b[0];
        for (int d = 1; d < dim; ++d)
          sum = fma(a[d], b[d], sum);
        return sum;
      }



      /// Rows and columns of one polytope.
      struct Place
      {
        unsigned int  n;          // number of functions
        unsigned int  first;      // index of the first DoF
        std::uint64_t first_row;  // position of the first row's values
        unsigned int  width;      // of a row
        double        box_factor; // common factor of all functions
        bool          rows;       // the rows belong to the part
      };

      template <int dim>
      __device__ __forceinline__ Place
      place(const Arguments<dim> &A, const unsigned int k)
      {
        Place p;
        p.n          = A.n_basis[k];
        p.first      = (unsigned int)(A.dof_offset[k]);
        p.width      = A.row_width[k];
        p.first_row  = A.value_offset[k] - A.first_value;
        p.box_factor = A.box[k * (2 * dim + 1) + 2 * dim];
        p.rows       = k >= A.begin && k < A.end;
        return p;
      }

      /// Stores a triple or adds to an entry, for test function i of one
      /// polytope and trial function j of another.
      template <bool triples, int dim>
      __device__ __forceinline__ void
      put(const Arguments<dim> &A,
          const std::uint64_t   triple,
          const Place          &row,
          const Place          &column,
          const unsigned int    i,
          const unsigned int    j,
          const double          value)
      {
        const bool valid = row.rows && i < row.n && j < column.n;
        if (triples)
          {
            A.keys[triple] =
              valid ? (std::uint64_t(row.first + i) << A.column_bits |
                       (column.first + j))
                    : invalid_key;
            A.entries[triple] = value;
          }
        else if (valid)
          {
            const std::uint64_t begin =
              row.first_row + std::uint64_t(i) * row.width;
            const unsigned int *columns = A.columns + begin;
            const unsigned int  wanted  = column.first + j;
            unsigned int        lower = 0, upper = row.width - 1;
            while (lower < upper)
              {
                const unsigned int middle = (lower + upper) / 2;
                if (__ldg(columns + middle) < wanted)
                  lower = middle + 1;
                else
                  upper = middle;
              }
            atomicAdd(A.values + begin + lower, value);
          }
      }

      /// The same for simplex t of the group and the block of one polytope.
      template <bool triples, int dim>
      __device__ __forceinline__ void
      put_own(const Arguments<dim> &A,
              const unsigned int    t,
              const Place          &own,
              const unsigned int    i,
              const unsigned int    j,
              const double          value)
      {
        put<triples>(A,
                     A.first_triple +
                       std::uint64_t(j * A.n_functions + i) * A.n + t,
                     own,
                     own,
                     i,
                     j,
                     value);
      }



      /// Entry of the coefficient table; 0 if the form does not have the
      /// coefficient.
      template <int dim>
      __device__ __forceinline__ double
      coefficient(const Arguments<dim> &A,
                  const int             array,
                  const unsigned int    q,
                  const unsigned int    t)
      {
        return array < 0
                 ? 0.
                 : __ldg(A.table + (std::size_t(array) * A.n_points + q) * A.n +
                         t);
      }



      /// Absolute value of the Jacobian determinant of a sub-cell's affine
      /// map.
      template <int dim>
      __device__ __forceinline__ double
      jacobian_determinant(const double *v)
      {
        double J[dim][dim];
        for (int d = 0; d < dim; ++d)
          for (int e = 0; e < dim; ++e)
            J[d][e] = v[(d + 1) * dim + e] - v[e];
        if (dim == 2)
          return fabs(J[0][0] * J[1][1] - J[0][1] * J[1][0]);
        constexpr int l = dim - 1;
        return fabs(J[0][0] * (J[1][1] * J[l][l] - J[1][l] * J[l][1]) -
                    J[0][1] * (J[1][0] * J[l][l] - J[1][l] * J[l][0]) +
                    J[0][l] * (J[1][0] * J[l][1] - J[1][1] * J[l][0]));
      }



      /// Volume integrals, one thread per sub-cell. general: the rule may be
      /// in global memory, and coefficients may vary.
      template <int dim, bool triples, bool general>
      __global__ void
      __launch_bounds__(block_size,
                        general ? general_element_blocks : element_blocks)
        element_kernel(const __grid_constant__ Arguments<dim> A)
      {
        const unsigned int t = blockIdx.x * block_size + threadIdx.x;
        if (t >= A.n)
          return;
        const unsigned int s = A.list[t];
        const unsigned int k = A.subcell_polytope[s];
        const double      *v =
          A.subcell_vertices + std::size_t(s) * ((dim + 1) * dim);
        const AffineMap<dim, dim> map(v, A.shift, A.box + k * (2 * dim + 1));
        const Place               own = place(A, k);
        const double              factor =
          jacobian_determinant<dim>(v) * own.box_factor * own.box_factor;
        const VolumeLayout &V = A.form.volume_layout;

        for (unsigned int j = 0; j < A.n_functions; ++j)
          for (unsigned int i = 0; i < A.n_functions; ++i)
            {
              double sum = 0.;
              for (unsigned int q = 0; q < A.n_points; ++q)
                {
                  double r[dim], xi[dim], u, du[dim], w, dw[dim];
                  for (int d = 0; d < dim; ++d)
                    r[d] = rule<dim, general>(A, q, d);
                  map.apply(r, xi);
                  evaluate<dim>(functions[j], xi, map.scale, u, du);
                  evaluate<dim>(functions[i], xi, map.scale, w, dw);
                  double value;
                  if (!general || A.form.constant_volume)
                    {
                      if (A.form.diagonal)
                        value = fma(A.form.C[1][1],
                                    dot<dim>(du, dw),
                                    A.form.C[0][0] * (u * w));
                      else
                        {
                          double row = A.form.C[0][0] * u;
                          for (int e = 0; e < dim; ++e)
                            row = fma(A.form.C[0][1 + e], du[e], row);
                          value = w * row;
                          for (int d = 0; d < dim; ++d)
                            {
                              row = A.form.C[1 + d][0] * u;
                              for (int e = 0; e < dim; ++e)
                                row = fma(A.form.C[1 + d][1 + e], du[e], row);
                              value = fma(dw[d], row, value);
                            }
                        }
                    }
                  else
                    {
                      double row = coefficient(A, V.c, q, t) * u;
                      if (V.b >= 0)
                        for (int e = 0; e < dim; ++e)
                          row = fma(coefficient(A, V.b + e, q, t), du[e], row);
                      value = w * row;
                      if (V.beta >= 0)
                        for (int d = 0; d < dim; ++d)
                          value = fma(dw[d] * u,
                                      coefficient(A, V.beta + d, q, t),
                                      value);
                      if (V.a >= 0 && !V.tensor)
                        value = fma(coefficient(A, V.a, q, t),
                                    dot<dim>(du, dw),
                                    value);
                      if (V.a >= 0 && V.tensor)
                        for (int d = 0; d < dim; ++d)
                          {
                            row = 0.;
                            for (int e = 0; e < dim; ++e)
                              row = fma(coefficient(A, V.a + d * dim + e, q, t),
                                        du[e],
                                        row);
                            value = fma(dw[d], row, value);
                          }
                    }
                  sum = fma(rule<dim, general>(A, q, dim), value, sum);
                }
              put_own<triples>(A, t, own, i, j, factor * sum);
            }
      }



      /// Integrals over interior facets, one thread per facet, which
      /// contributes to four blocks. general: as above.
      template <int dim, bool triples, bool general>
      __global__ void
      __launch_bounds__(block_size, interior_blocks)
        interior_kernel(const __grid_constant__ Arguments<dim> A)
      {
        constexpr int      m = dim - 1;
        const unsigned int t = blockIdx.x * block_size + threadIdx.x;
        if (t >= A.n)
          return;
        const unsigned int f         = A.list[t];
        const unsigned int interface = A.facet_interface[f];
        const unsigned int k0        = A.interface_polytope[2 * interface],
                           k1        = A.interface_polytope[2 * interface + 1];
        const double *v = A.facet_vertices + std::size_t(f) * (dim * dim);
        const AffineMap<m, dim> map0(v, A.shift, A.box + k0 * (2 * dim + 1)),
          map1(v,
               A.shift + dim * A.interface_shift[interface],
               A.box + k1 * (2 * dim + 1));
        const Place  p0 = place(A, k0), p1 = place(A, k1);
        const double measure = (dim - 1) * A.facet_measure[f];

        // Half of a n, and the values that result from the penalty and from
        // the flow through the facet; the normal points to side 1.
        double conormal[dim], c0 = 0., c1 = 0.;
        if (!general || A.form.constant_facets)
          {
            double bn = 0.;
            for (int d = 0; d < dim; ++d)
              {
                conormal[d] = 0.;
                for (int e = 0; e < dim; ++e)
                  conormal[d] += 0.5 * A.form.a[d * dim + e] *
                                 A.facet_normal[std::size_t(f) * dim + e];
                bn += A.form.b[d] * A.facet_normal[std::size_t(f) * dim + d];
              }
            c0 = A.sigma[f] - fmin(bn, 0.);
            c1 = A.sigma[f] + fmax(bn, 0.);
          }
        const FacetLayout &F = A.form.facet_layout;

        for (unsigned int j = 0; j < A.n_functions; ++j)
          for (unsigned int i = 0; i < A.n_functions; ++i)
            {
              // indices: side of the row, side of the column
              double s00 = 0., s01 = 0., s10 = 0., s11 = 0.;
              for (unsigned int q = 0; q < A.n_points; ++q)
                {
                  double r[m], xi[dim], u0, du0[dim], u1, du1[dim], w0,
                    dw0[dim], w1, dw1[dim];
                  for (int d = 0; d < m; ++d)
                    r[d] = rule<m, general>(A, q, d);
                  const double weight = rule<m, general>(A, q, m);
                  map0.apply(r, xi);
                  evaluate<dim>(functions[j], xi, map0.scale, u0, du0);
                  evaluate<dim>(functions[i], xi, map0.scale, w0, dw0);
                  map1.apply(r, xi);
                  evaluate<dim>(functions[j], xi, map1.scale, u1, du1);
                  evaluate<dim>(functions[i], xi, map1.scale, w1, dw1);
                  if (!general || A.form.constant_facets)
                    {
                      const double flux0 = dot<dim>(conormal, du0),
                                   flux1 = dot<dim>(conormal, du1);
                      const double test0 =
                        A.form.theta * dot<dim>(conormal, dw0);
                      const double test1 =
                        A.form.theta * dot<dim>(conormal, dw1);
                      w0 *= weight;
                      w1 *= weight;
                      const double wu0 = weight * u0, wu1 = weight * u1;
                      s00 += w0 * (c0 * u0 - flux0) - test0 * wu0;
                      s01 += test0 * wu1 - w0 * (c0 * u1 + flux1);
                      s11 += w1 * (c1 * u1 + flux1) + test1 * wu1;
                      s10 += w1 * (flux0 - c1 * u0) - test1 * wu0;
                    }
                  else
                    {
                      const auto term = [&](const int     side,
                                            const int     other,
                                            const double  w,
                                            const double *dw,
                                            const double  u,
                                            const double *du) {
                        const auto at = [&](const int array) {
                          return coefficient(A, side * F.n + array, q, t);
                        };
                        double row  = F.c[other] >= 0 ? at(F.c[other]) * u : 0.,
                               flux = 0.;
                        if (F.b[other] >= 0)
                          for (int d = 0; d < dim; ++d)
                            row = fma(at(F.b[other] + d), du[d], row);
                        if (F.beta[other] >= 0)
                          for (int d = 0; d < dim; ++d)
                            flux = fma(at(F.beta[other] + d), dw[d], flux);
                        return weight * (w * row + flux * u);
                      };
                      if (p0.rows)
                        {
                          s00 += term(0, 0, w0, dw0, u0, du0);
                          s01 += term(0, 1, w0, dw0, u1, du1);
                        }
                      if (p1.rows)
                        {
                          s11 += term(1, 0, w1, dw1, u1, du1);
                          s10 += term(1, 1, w1, dw1, u0, du0);
                        }
                    }
                }
              const std::uint64_t first =
                A.first_triple +
                4 * std::uint64_t(j * A.n_functions + i) * A.n + t;
              const double f0 = measure * p0.box_factor,
                           f1 = measure * p1.box_factor;
              put<triples>(A, first, p0, p0, i, j, f0 * p0.box_factor * s00);
              put<triples>(
                A, first + A.n, p0, p1, i, j, f0 * p1.box_factor * s01);
              put<triples>(A,
                           first + 2 * std::uint64_t(A.n),
                           p1,
                           p0,
                           i,
                           j,
                           f1 * p0.box_factor * s10);
              put<triples>(A,
                           first + 3 * std::uint64_t(A.n),
                           p1,
                           p1,
                           i,
                           j,
                           f1 * p1.box_factor * s11);
            }
      }



      /// Integrals over facets on the boundary, one thread per facet.
      template <int dim, bool triples>
      __global__ void
      __launch_bounds__(block_size)
        boundary_kernel(const __grid_constant__ Arguments<dim> A)
      {
        constexpr int      m = dim - 1;
        const unsigned int t = blockIdx.x * block_size + threadIdx.x;
        if (t >= A.n)
          return;
        const unsigned int f = A.list[t];
        const unsigned int k = A.interface_polytope[2 * A.facet_interface[f]];
        const AffineMap<m, dim> map(A.facet_vertices +
                                      std::size_t(f) * (dim * dim),
                                    A.shift,
                                    A.box + k * (2 * dim + 1));
        const Place             own = place(A, k);
        const double            factor =
          (dim - 1) * A.facet_measure[f] * own.box_factor * own.box_factor;
        const FacetLayout &F = A.form.facet_layout;

        for (unsigned int j = 0; j < A.n_functions; ++j)
          for (unsigned int i = 0; i < A.n_functions; ++i)
            {
              double sum = 0.;
              for (unsigned int q = 0; q < A.n_points; ++q)
                {
                  // Loads from memory come first.
                  const double c = coefficient(A, F.c[0], q, t);
                  double       b[dim], beta[dim];
                  for (int d = 0; d < dim; ++d)
                    b[d] = beta[d] = 0.;
                  if (F.b[0] >= 0)
                    for (int d = 0; d < dim; ++d)
                      b[d] = coefficient(A, F.b[0] + d, q, t);
                  if (F.beta[0] >= 0)
                    for (int d = 0; d < dim; ++d)
                      beta[d] = coefficient(A, F.beta[0] + d, q, t);
                  double r[m], xi[dim], u, du[dim], w, dw[dim];
                  for (int d = 0; d < m; ++d)
                    r[d] = rule<m, true>(A, q, d);
                  map.apply(r, xi);
                  evaluate<dim>(functions[j], xi, map.scale, u, du);
                  evaluate<dim>(functions[i], xi, map.scale, w, dw);
                  sum = fma(rule<m, true>(A, q, m),
                            fma(w,
                                fma(c, u, dot<dim>(b, du)),
                                dot<dim>(beta, dw) * u),
                            sum);
                }
              put_own<triples>(A, t, own, i, j, factor * sum);
            }
      }



      /// Right-hand side, one thread per sub-cell (m = dim) or facet on the
      /// boundary (m = dim - 1).
      template <int dim, int m, bool triples>
      __global__ void
      __launch_bounds__(block_size)
        rhs_kernel(const __grid_constant__ Arguments<dim> A)
      {
        const unsigned int t = blockIdx.x * block_size + threadIdx.x;
        if (t >= A.n)
          return;
        const unsigned int s = A.list[t];
        const unsigned int k =
          m == dim ? A.subcell_polytope[s]
                   : A.interface_polytope[2 * A.facet_interface[s]];
        const double *v =
          m == dim ? A.subcell_vertices + std::size_t(s) * ((dim + 1) * dim)
                   : A.facet_vertices + std::size_t(s) * (dim * dim);
        const AffineMap<m, dim> map(v, A.shift, A.box + k * (2 * dim + 1));
        const Place             own    = place(A, k);
        double                  factor = own.box_factor;
        if (m == dim)
          factor *= jacobian_determinant<dim>(v);
        else
          factor *= (dim - 1) * A.facet_measure[s];
        const int value_array =
          m == dim ? A.form.volume_layout.f : A.form.facet_layout.r;
        const int gradient_array = m == dim ? -1 : A.form.facet_layout.s;

        for (unsigned int i = 0; i < A.n_functions; ++i)
          {
            double sum = 0.;
            for (unsigned int q = 0; q < A.n_points; ++q)
              {
                double r[m], xi[dim], w, dw[dim];
                for (int d = 0; d < m; ++d)
                  r[d] = rule<m, true>(A, q, d);
                map.apply(r, xi);
                evaluate<dim>(functions[i], xi, map.scale, w, dw);
                double value = coefficient(A, value_array, q, t) * w;
                if (gradient_array >= 0)
                  for (int d = 0; d < dim; ++d)
                    value = fma(coefficient(A, gradient_array + d, q, t),
                                dw[d],
                                value);
                sum = fma(rule<m, true>(A, q, m), value, sum);
              }
            const std::uint64_t row = own.first + i;
            if (triples)
              {
                const std::uint64_t position =
                  A.first_triple + std::uint64_t(i) * A.n + t;
                A.keys[position]    = row;
                A.entries[position] = factor * sum;
              }
            else
              atomicAdd(A.rhs + (row - A.first_dof), factor * sum);
          }
      }



      /// Block structure of the matrix.
      struct Blocks
      {
        const std::uint64_t *dof_offset, *block_offset, *value_offset;
        const unsigned int  *block_column, *column_offset, *row_width;
      };

      /// Approach 2: computes the column indices of all entries of block
      /// rows, with one thread block per polytope.
      static __global__ void
      pattern_kernel(const Blocks        B,
                     const unsigned int  first_polytope,
                     const std::uint64_t first_value,
                     unsigned int       *columns)
      {
        const unsigned int k     = first_polytope + blockIdx.x;
        const unsigned int width = B.row_width[k];
        const unsigned int n =
          (unsigned int)(B.dof_offset[k + 1] - B.dof_offset[k]);
        const std::uint64_t first = B.value_offset[k] - first_value;
        for (unsigned int c = threadIdx.x; c < width; c += blockDim.x)
          {
            std::uint64_t lower = B.block_offset[k],
                          upper = B.block_offset[k + 1] - 1;
            while (lower < upper)
              {
                const std::uint64_t middle = (lower + upper + 1) / 2;
                if (B.column_offset[middle] <= c)
                  lower = middle;
                else
                  upper = middle - 1;
              }
            const unsigned int column =
              (unsigned int)(B.dof_offset[B.block_column[lower]]) +
              (c - B.column_offset[lower]);
            for (unsigned int i = 0; i < n; ++i)
              columns[first + std::uint64_t(i) * width + c] = column;
          }
      }



      /// Last index in [lower, upper] with offset[index] <= value.
      __device__ __forceinline__ unsigned int
      polytope_of(const std::uint64_t *offset,
                  unsigned int         lower,
                  unsigned int         upper,
                  const std::uint64_t  value)
      {
        while (lower < upper)
          {
            const unsigned int middle = (lower + upper + 1) / 2;
            if (offset[middle] <= value)
              lower = middle;
            else
              upper = middle - 1;
          }
        return lower;
      }

      /// Selects positions at which a new key begins.
      struct IsFirst
      {
        const std::uint64_t *keys;

        __device__ __forceinline__ bool
        operator()(const unsigned int i) const
        {
          return i == 0 || keys[i] != keys[i - 1];
        }
      };

      /// Approach 1: sums up sorted triples, with one thread per key. The
      /// sums are contiguous if every entry of the result has one; else each
      /// sum is stored at the position of its key.
      template <bool matrix>
      __global__ void
      sum_kernel(const std::uint64_t *keys,
                 const double        *entries,
                 const unsigned int  *first,
                 const unsigned int   n_runs,
                 const unsigned int   n_triples,
                 const bool           complete,
                 const Blocks         B,
                 const unsigned int   begin,
                 const unsigned int   end,
                 const unsigned int   column_bits,
                 double              *result)
      {
        const unsigned int run = blockIdx.x * blockDim.x + threadIdx.x;
        if (run >= n_runs)
          return;
        const unsigned int from = first[run],
                           to   = run + 1 < n_runs ? first[run + 1] : n_triples;
        const std::uint64_t key = keys[from];
        if (key == invalid_key)
          return;
        double sum = 0.;
        for (unsigned int i = from; i < to; ++i)
          sum += entries[i];
        std::uint64_t position = run;
        if (!complete && !matrix)
          position = key - B.dof_offset[begin];
        else if (!complete)
          {
            const std::uint64_t row = key >> column_bits,
                                column =
                                  key & ((std::uint64_t(1) << column_bits) - 1);
            const unsigned int k =
              polytope_of(B.dof_offset, begin, end - 1, row);
            std::uint64_t lower = B.block_offset[k],
                          upper = B.block_offset[k + 1] - 1;
            while (lower < upper)
              {
                const std::uint64_t middle = (lower + upper + 1) / 2;
                if (B.dof_offset[B.block_column[middle]] <= column)
                  lower = middle;
                else
                  upper = middle - 1;
              }
            position = B.value_offset[k] - B.value_offset[begin] +
                       (row - B.dof_offset[k]) * B.row_width[k] +
                       B.column_offset[lower] +
                       (column - B.dof_offset[B.block_column[lower]]);
          }
        result[position] = sum;
      }



      /// Reorders the tables of sub-cells [begin, end) of a group.
      static __global__ void
      reorder_volume(const unsigned int  *list,
                     const unsigned int   begin,
                     const unsigned int   end,
                     const unsigned int   n,
                     const unsigned int   n_points,
                     const int            n_arrays,
                     const std::uint64_t *subcell_point,
                     const std::uint64_t  first_point,
                     const std::uint64_t  chunk_points,
                     const double        *source,
                     double              *table)
      {
        const std::uint64_t id =
          blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x;
        const unsigned int t = begin + (unsigned int)(id % (end - begin)),
                           q = (unsigned int)(id / (end - begin));
        if (q >= n_points)
          return;
        const std::uint64_t from = subcell_point[list[t]] - first_point + q;
        for (int a = 0; a < n_arrays; ++a)
          table[(std::size_t(a) * n_points + q) * n + t] =
            source[a * chunk_points + from];
      }

      /// Reorders the tables of facets whose entry of polytope_interface is
      /// in [begin, end).
      static __global__ void
      reorder_facets(const unsigned int  *list,
                     const unsigned int   n,
                     const unsigned int   n_points,
                     const int            n_arrays,
                     const int            n_sides,
                     const unsigned int  *facet_interface,
                     const unsigned int  *facet_offset,
                     const unsigned int  *interface_entry,
                     const unsigned int   begin,
                     const unsigned int   end,
                     const std::uint64_t *entry_point,
                     const std::uint64_t  chunk_points,
                     const double        *source,
                     double              *table)
      {
        const std::uint64_t id =
          blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x;
        const unsigned int t = (unsigned int)(id % n),
                           q = (unsigned int)(id / n);
        if (q >= n_points)
          return;
        const unsigned int f = list[t], i = facet_interface[f];
        for (int side = 0; side < n_sides; ++side)
          {
            const unsigned int e = interface_entry[2 * i + side];
            if (e < begin || e >= end)
              continue;
            const std::uint64_t from =
              entry_point[e] - entry_point[begin] +
              std::uint64_t(f - facet_offset[i]) * n_points + q;
            for (int a = 0; a < n_arrays; ++a)
              table[(std::size_t(side * n_arrays + a) * n_points + q) * n + t] =
                source[a * chunk_points + from];
          }
      }
    } // namespace PaperKernels
  }   // namespace Application
} // namespace Tessella

#endif
