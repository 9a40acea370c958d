// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_evaluation_h
#define tessella_forms_pointwise_evaluation_h

#include <tessella/forms/device_pointwise_kernels.h>
#include <tessella/forms/pointwise_terms.h>
#include <tessella/portable/host_device.h>
#include <tessella/portable/legendre.h>

#include <cmath>

// Values and gradients of discrete fields at one point, from coefficients in
// shared memory.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Two numbers that are read at once.
      struct alignas(16) NumberPair
      {
        double first, second;
      };

      /// Adds the product of a function with the coefficients of m components
      /// to their values. Fused explicitly, so that both owners of a facet get
      /// the same bits.
      template <int m>
      TESSELLA_HOST_DEVICE inline void
      add_coefficients(const NumberPair *coefficients,
                       const double      phi,
                       double (&value)[m])
      {
        TESSELLA_UNROLL_ON_DEVICE
        for (int c = 0; c < m; c += 2)
          {
            const NumberPair pair = coefficients[c / 2];
            value[c]              = fma(phi, pair.first, value[c]);
            if (c + 1 < m)
              value[c + 1] = fma(phi, pair.second, value[c + 1]);
          }
      }

      /// The same for the value and the gradient of a function.
      template <int dim, int m, unsigned int rows>
      TESSELLA_HOST_DEVICE inline void
      add_coefficients(const NumberPair *coefficients,
                       const double      phi,
                       const double (&d_phi)[dim],
                       double (&value)[m],
                       double (&gradient)[m][dim])
      {
        TESSELLA_UNROLL_ON_DEVICE
        for (int c = 0; c < m; c += 2)
          {
            const NumberPair pair = coefficients[c / 2];
            if ((rows & PointwiseRows::values) != 0)
              {
                value[c] = fma(phi, pair.first, value[c]);
                if (c + 1 < m)
                  value[c + 1] = fma(phi, pair.second, value[c + 1]);
              }
            if ((rows & PointwiseRows::gradients) != 0)
              TESSELLA_UNROLL_ON_DEVICE
            for (int d = 0; d < dim; ++d)
              {
                gradient[c][d] = fma(d_phi[d], pair.first, gradient[c][d]);
                if (c + 1 < m)
                  gradient[c + 1][d] =
                    fma(d_phi[d], pair.second, gradient[c + 1][d]);
              }
          }
      }



      /// One-dimensional functions of a polytope at a point, in registers if
      /// all indices are known to the compiler. The factor of the basis is
      /// contained in those of the first variable, the scale of the map in
      /// derivatives.
      template <int dim, int n>
      struct FunctionTable
      {
        double v[dim][n], dv[dim][n];

        TESSELLA_HOST_DEVICE
        FunctionTable(const double *slot, const double (&x)[dim])
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            {
              const double scale = slot[dim + d], xi = (x[d] - slot[d]) * scale,
                           factor = d == 0 ? slot[2 * dim] : 1.;
              Legendre::evaluate(n - 1, xi, v[d], dv[d]);
              TESSELLA_UNROLL_ON_DEVICE
              for (int i = 0; i < n; ++i)
                {
                  if (d == 0)
                    v[d][i] *= factor;
                  dv[d][i] *= factor * scale;
                }
            }
        }
      };



      /// Adds a field of total degree @p degree, which the compiler knows.
      template <int dim, int m, unsigned int rows, int degree>
      TESSELLA_HOST_DEVICE inline void
      evaluate_low_degree(const double *slot,
                          const double *coefficients,
                          const double (&x)[dim],
                          double (&value)[m],
                          double (&gradient)[m][dim])
      {
        const FunctionTable<dim, degree + 1> t(slot, x);
        const NumberPair                    *c =
          reinterpret_cast<const NumberPair *>(coefficients);
        TESSELLA_UNROLL_ON_DEVICE
        for (int grade = 0; grade <= degree; ++grade)
          TESSELLA_UNROLL_ON_DEVICE
        for (int k0 = grade; k0 >= 0; --k0)
          TESSELLA_UNROLL_ON_DEVICE
        for (int k1 = grade - k0; k1 >= (dim == 2 ? grade - k0 : 0); --k1)
          {
            const int k2 = grade - k0 - k1;
            double    phi, d_phi[dim];
            if constexpr (dim == 2)
              {
                phi      = t.v[0][k0] * t.v[1][k1];
                d_phi[0] = t.dv[0][k0] * t.v[1][k1];
                d_phi[1] = t.v[0][k0] * t.dv[1][k1];
              }
            else
              {
                const double xy = t.v[0][k0] * t.v[1][k1];
                phi             = xy * t.v[2][k2];
                d_phi[0]        = t.dv[0][k0] * t.v[1][k1] * t.v[2][k2];
                d_phi[1]        = t.v[0][k0] * t.dv[1][k1] * t.v[2][k2];
                d_phi[2]        = xy * t.dv[2][k2];
              }
            add_coefficients<dim, m, rows>(c, phi, d_phi, value, gradient);
            c += pointwise_pitch(m) / 2;
          }
      }



      /// Fills the table of one-dimensional functions of a point.
      template <int dim>
      TESSELLA_HOST_DEVICE inline void
      fill_table(const PointwiseLayout &L,
                 const double          *slot,
                 const double (&x)[dim],
                 const unsigned int degree,
                 const bool         derivatives,
                 double            *table)
      {
        for (int d = 0; d < dim; ++d)
          {
            const double scale = slot[dim + d], xi = (x[d] - slot[d]) * scale,
                         factor = d == 0 ? slot[2 * dim] : 1.;
            double *v           = table + d * L.n_functions;
            if (derivatives)
              {
                double *dv = v + L.table_derivatives;
                Legendre::evaluate(degree, xi, v, dv);
                for (unsigned int i = 0; i <= degree; ++i)
                  {
                    v[i] *= factor;
                    dv[i] *= factor * scale;
                  }
              }
            else
              {
                Legendre::evaluate(degree, xi, v);
                if (d == 0)
                  for (unsigned int i = 0; i <= degree; ++i)
                    v[i] *= factor;
              }
          }
      }

      /// Value and gradient of the basis function with the given exponents,
      /// from a table.
      template <int dim, bool values, bool gradients>
      TESSELLA_HOST_DEVICE inline void
      basis_function(const PointwiseLayout &L,
                     const double          *table,
                     const unsigned int     exponents,
                     double                &phi,
                     double (&d_phi)[dim])
      {
        double v[dim];
        TESSELLA_UNROLL_ON_DEVICE
        for (int d = 0; d < dim; ++d)
          v[d] = table[d * L.n_functions + (exponents >> (8 * d) & 255u)];
        if (values)
          {
            phi = v[0];
            TESSELLA_UNROLL_ON_DEVICE
            for (int d = 1; d < dim; ++d)
              phi *= v[d];
          }
        if (gradients)
          TESSELLA_UNROLL_ON_DEVICE
        for (int e = 0; e < dim; ++e)
          {
            d_phi[e] = table[L.table_derivatives + e * L.n_functions +
                             (exponents >> (8 * e) & 255u)];
            TESSELLA_UNROLL_ON_DEVICE
            for (int d = 0; d < dim; ++d)
              if (d != e)
                d_phi[e] *= v[d];
          }
      }



      /// Values and gradients of m components of a field. Other fields than
      /// those of low total degree need the table of the point.
      template <int dim, int m, unsigned int rows>
      TESSELLA_HOST_DEVICE inline void
      evaluate_field(const PointwiseLayout &L,
                     const PointwiseField  &field,
                     const unsigned int     degree,
                     const unsigned int     n_basis,
                     const double          *slot,
                     const double          *table,
                     const double (&x)[dim],
                     double (&value)[m],
                     double (&gradient)[m][dim])
      {
        for (int c = 0; c < m; ++c)
          {
            value[c] = 0.;
            for (int d = 0; d < dim; ++d)
              gradient[c][d] = 0.;
          }
        const double *coefficients = slot + field.offset;
        if (field.total_degree && degree <= 3)
          {
            if (degree == 1)
              evaluate_low_degree<dim, m, rows, 1>(
                slot, coefficients, x, value, gradient);
            else if (degree == 2)
              evaluate_low_degree<dim, m, rows, 2>(
                slot, coefficients, x, value, gradient);
            else if (degree == 3)
              evaluate_low_degree<dim, m, rows, 3>(
                slot, coefficients, x, value, gradient);
            else
              evaluate_low_degree<dim, m, rows, 0>(
                slot, coefficients, x, value, gradient);
            return;
          }
        const NumberPair *c =
          reinterpret_cast<const NumberPair *>(coefficients);
#ifdef __CUDA_ARCH__
#  pragma unroll 1
#endif
        for (unsigned int i = 0; i < n_basis; ++i)
          {
            double phi = 0., d_phi[dim];
            basis_function<dim,
                           (rows & PointwiseRows::values) != 0,
                           (rows & PointwiseRows::gradients) != 0>(
              L, table, field.exponents[i], phi, d_phi);
            add_coefficients<dim, m, rows>(c, phi, d_phi, value, gradient);
            c += pointwise_pitch(m) / 2;
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
