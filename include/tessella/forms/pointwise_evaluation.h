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
      /// Number of rows of a component that a functor uses.
      TESSELLA_HOST_DEVICE constexpr int
      n_used_rows(const int dim, const unsigned int rows)
      {
        return ((rows & PointwiseRows::values) != 0 ? 1 : 0) +
               ((rows & PointwiseRows::gradients) != 0 ? dim : 0);
      }

      /// Calls function(entry, row) for the rows that are used: first values
      /// of all components, then gradients; rows are numbered from zero.
      template <int dim, unsigned int rows, typename Terms, typename Function>
      TESSELLA_HOST_DEVICE inline void
      for_rows(Terms &terms, const int n, const Function &function)
      {
        constexpr int n_rows = n_used_rows(dim, rows);
        TESSELLA_UNROLL_ON_DEVICE
        for (int c = 0; c < n; ++c)
          {
            if ((rows & PointwiseRows::values) != 0)
              function(terms.value[c], c * n_rows);
            if ((rows & PointwiseRows::gradients) != 0)
              TESSELLA_UNROLL_ON_DEVICE
            for (int d = 0; d < dim; ++d)
              function(terms.gradient[c][d], c * n_rows + n_rows - dim + d);
          }
      }



      /// Two numbers that are read at once.
      struct alignas(16) NumberPair
      {
        double first, second;
      };

      /// Coefficients of m components in shared memory, function by function.
      template <int m>
      class SlotCoefficients
      {
      public:
        TESSELLA_HOST_DEVICE explicit SlotCoefficients(const double *data)
          : next(reinterpret_cast<const NumberPair *>(data))
        {}

        /// Reads those of the next function.
        TESSELLA_HOST_DEVICE void
        read(double (&coefficients)[m])
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = 0; c < m; c += 2)
            {
              const NumberPair pair = next[c / 2];
              coefficients[c]       = pair.first;
              if (c + 1 < m)
                coefficients[c + 1] = pair.second;
            }
          next += pointwise_pitch(m) / 2;
        }

      private:
        const NumberPair *next;
      };

      /// Coefficients of m components in a vector, component by component.
      template <int m>
      class VectorCoefficients
      {
      public:
        TESSELLA_HOST_DEVICE
        VectorCoefficients(const double *data, const unsigned int n_basis)
          : next(data)
          , n_basis(n_basis)
        {}

        /// Reads those of the next function.
        TESSELLA_HOST_DEVICE void
        read(double (&coefficients)[m])
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = 0; c < m; ++c)
            coefficients[c] = next[c * n_basis];
          ++next;
        }

      private:
        const double      *next;
        const unsigned int n_basis;
      };

      /// Adds the product of a function with the coefficients of m components
      /// to their values and gradients. Fused explicitly, so that
      /// rounding does not depend on what the compiler combines.
      template <int dim, int m, unsigned int rows>
      TESSELLA_HOST_DEVICE inline void
      add_function(const double (&coefficients)[m],
                   const double phi,
                   const double (&d_phi)[dim],
                   double (&value)[m],
                   double (&gradient)[m][dim])
      {
        TESSELLA_UNROLL_ON_DEVICE
        for (int c = 0; c < m; ++c)
          {
            if ((rows & PointwiseRows::values) != 0)
              value[c] = fma(phi, coefficients[c], value[c]);
            if ((rows & PointwiseRows::gradients) != 0)
              TESSELLA_UNROLL_ON_DEVICE
            for (int d = 0; d < dim; ++d)
              gradient[c][d] = fma(d_phi[d], coefficients[c], gradient[c][d]);
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
        FunctionTable(const double *frame, const double (&x)[dim])
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            {
              const double scale  = frame[dim + d],
                           xi     = (x[d] - frame[d]) * scale,
                           factor = d == 0 ? frame[2 * dim] : 1.;
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



      /// Calls work(value, gradient) for all functions of total degree
      /// @p degree, which the compiler knows.
      template <int dim, int degree, typename Work>
      TESSELLA_HOST_DEVICE inline void
      for_low_degree(const FunctionTable<dim, degree + 1> &t, const Work &work)
      {
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
            work(phi, d_phi);
          }
      }

      /// Adds a field of total degree @p degree, which the compiler knows.
      template <int          dim,
                int          m,
                unsigned int rows,
                int          degree,
                typename Coefficients>
      TESSELLA_HOST_DEVICE inline void
      evaluate_low_degree(const double *frame,
                          Coefficients  coefficients,
                          const double (&x)[dim],
                          double (&value)[m],
                          double (&gradient)[m][dim])
      {
        for_low_degree<dim, degree>(
          FunctionTable<dim, degree + 1>(frame, x),
          [&](const double phi, const double(&d_phi)[dim]) {
            double c[m];
            coefficients.read(c);
            add_function<dim, m, rows>(c, phi, d_phi, value, gradient);
          });
      }



      /// Fills the table of one-dimensional functions of a point.
      template <int dim>
      TESSELLA_HOST_DEVICE inline void
      fill_table(const PointwiseLayout &L,
                 const double          *frame,
                 const double (&x)[dim],
                 const unsigned int degree,
                 const bool         derivatives,
                 double            *table)
      {
        for (int d = 0; d < dim; ++d)
          {
            const double scale = frame[dim + d], xi = (x[d] - frame[d]) * scale,
                         factor = d == 0 ? frame[2 * dim] : 1.;
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
      template <int dim, int m, unsigned int rows, typename Coefficients>
      TESSELLA_HOST_DEVICE inline void
      evaluate_field(const PointwiseLayout &L,
                     const PointwiseField  &field,
                     const unsigned int     degree,
                     const unsigned int     n_basis,
                     const double          *frame,
                     Coefficients           coefficients,
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
        if (field.total_degree && degree <= 3)
          {
            if (degree == 1)
              evaluate_low_degree<dim, m, rows, 1>(
                frame, coefficients, x, value, gradient);
            else if (degree == 2)
              evaluate_low_degree<dim, m, rows, 2>(
                frame, coefficients, x, value, gradient);
            else if (degree == 3)
              evaluate_low_degree<dim, m, rows, 3>(
                frame, coefficients, x, value, gradient);
            else
              evaluate_low_degree<dim, m, rows, 0>(
                frame, coefficients, x, value, gradient);
            return;
          }
#ifdef __CUDA_ARCH__
#  pragma unroll 1
#endif
        for (unsigned int i = 0; i < n_basis; ++i)
          {
            double phi = 0., d_phi[dim], c[m];
            basis_function<dim,
                           (rows & PointwiseRows::values) != 0,
                           (rows & PointwiseRows::gradients) != 0>(
              L, table, field.exponents[i], phi, d_phi);
            coefficients.read(c);
            add_function<dim, m, rows>(c, phi, d_phi, value, gradient);
          }
      }



      /// Fields of a polytope that are in a slot of shared memory.
      template <int dim>
      struct SlotFields
      {
        const double *slot;

        TESSELLA_HOST_DEVICE const double *
        frame() const
        {
          return slot;
        }
        /// Degree and number of functions of a field.
        TESSELLA_HOST_DEVICE unsigned int
        degree(const PointwiseTask<dim> &, const unsigned int field) const
        {
          return static_cast<unsigned int>(slot[2 * dim + 1 + 2 * field]);
        }
        TESSELLA_HOST_DEVICE unsigned int
        n_basis(const PointwiseTask<dim> &, const unsigned int field) const
        {
          return static_cast<unsigned int>(slot[2 * dim + 2 + 2 * field]);
        }
        template <int m>
        TESSELLA_HOST_DEVICE SlotCoefficients<m>
                             coefficients(const PointwiseTask<dim> &T,
                                          const unsigned int        field) const
        {
          return SlotCoefficients<m>(slot + T.fields[field].offset);
        }
      };

      /// Fields of a polytope that are in device memory.
      template <int dim>
      struct PolytopeFields
      {
        const double *data;
        unsigned int  polytope;

        TESSELLA_HOST_DEVICE
        PolytopeFields(const PointwiseTask<dim> &T, const unsigned int polytope)
          : data(T.mesh.frames + (2 * dim + 1) * std::uint64_t(polytope))
          , polytope(polytope)
        {}

        TESSELLA_HOST_DEVICE const double *
        frame() const
        {
          return data;
        }
        TESSELLA_HOST_DEVICE unsigned int
        degree(const PointwiseTask<dim> &T, const unsigned int field) const
        {
          return T.fields[field].degree[polytope];
        }
        TESSELLA_HOST_DEVICE unsigned int
        n_basis(const PointwiseTask<dim> &T, const unsigned int field) const
        {
          return T.fields[field].n_basis[polytope];
        }
        template <int m>
        TESSELLA_HOST_DEVICE VectorCoefficients<m>
                             coefficients(const PointwiseTask<dim> &T,
                                          const unsigned int        field) const
        {
          const PointwiseField &f = T.fields[field];
          return VectorCoefficients<m>(f.coefficients + f.dof_offset[polytope],
                                       f.n_basis[polytope]);
        }
      };



      /// Evaluates the fields of a functor @p F on one side at a point x, and
      /// the direction of a tangent.
      template <int dim, typename F, unsigned int rows, bool tangent>
      class FieldEvaluation
      {
      public:
        using Traits  = PointwiseTraits<dim, F>;
        using Fields  = typename Traits::Fields;
        using Numbers = typename Traits::template Input<double>;

        /// @p table is overwritten.
        template <typename Source>
        TESSELLA_HOST_DEVICE static void
        evaluate(const PointwiseTask<dim> &T,
                 const Source             &source,
                 const double (&x)[dim],
                 double  *table,
                 Numbers &u,
                 Numbers &du)
        {
          unsigned int highest = 0;
          bool         general = false;
          for (int f = 0; f < Fields::n_fields; ++f)
            {
              const unsigned int p = source.degree(T, f);
              if (!T.fields[f].total_degree || p > 3)
                {
                  general = true;
                  highest = p > highest ? p : highest;
                }
            }
          if (general)
            fill_table<dim>(T.layout,
                            source.frame(),
                            x,
                            highest,
                            (rows & PointwiseRows::gradients) != 0,
                            table);
          field_and_rest<0>(T, source, x, table, u, du);
        }

      private:
        template <int i, typename Source>
        TESSELLA_HOST_DEVICE static void
        field_and_rest(const PointwiseTask<dim> &T,
                       const Source             &source,
                       const double (&x)[dim],
                       const double *table,
                       Numbers      &u,
                       Numbers      &du)
        {
          if constexpr (i < Fields::n_fields)
            {
              constexpr int m = Fields::components(i), c0 = Fields::first(i);
              double        value[m], gradient[m][dim];
              const auto    evaluate = [&](const unsigned int field) {
                evaluate_field<dim, m, rows>(
                  T.layout,
                  T.fields[field],
                  source.degree(T, i),
                  source.n_basis(T, i),
                  source.frame(),
                  source.template coefficients<m>(T, field),
                  table,
                  x,
                  value,
                  gradient);
              };
              evaluate(i);
              copy<m>(value, gradient, c0, u);
              if constexpr (tangent)
                {
                  for (int c = 0; c < m; ++c)
                    {
                      value[c] = 0.;
                      for (int d = 0; d < dim; ++d)
                        gradient[c][d] = 0.;
                    }
                  if (T.field == i)
                    evaluate(Fields::n_fields);
                  copy<m>(value, gradient, c0, du);
                }
              field_and_rest<i + 1>(T, source, x, table, u, du);
            }
        }

        template <int m>
        TESSELLA_HOST_DEVICE static void
        copy(const double (&value)[m],
             const double (&gradient)[m][dim],
             const int c0,
             Numbers  &u)
        {
          for (int c = 0; c < m; ++c)
            {
              if ((rows & PointwiseRows::values) != 0)
                u.value[c0 + c] = value[c];
              if ((rows & PointwiseRows::gradients) != 0)
                for (int d = 0; d < dim; ++d)
                  u.gradient[c0 + c][d] = gradient[c][d];
            }
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
