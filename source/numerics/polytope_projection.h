// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_polytope_projection_h
#define tessella_source_numerics_polytope_projection_h

#include <limits>

#include "polytope_evaluation.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Solves M x = rhs for a symmetric positive semi-definite matrix, given by
     * the upper triangle of rows of length n, for @p n_rhs right-hand sides,
     * each of length n. A basis function that is, up to rounding, a linear
     * combination of those before it gets the coefficient zero.
     */
    inline void
    solve_cholesky(const unsigned int n,
                   double            *m,
                   const unsigned int n_rhs,
                   double            *rhs,
                   double            *diagonal)
    {
      for (unsigned int k = 0; k < n; ++k)
        diagonal[k] = m[std::size_t(k) * n + k];
      for (unsigned int k = 0; k < n; ++k)
        {
          double *const row_k = m + std::size_t(k) * n;
          const double  pivot = row_k[k];
          if (!(pivot >
                4. * std::numeric_limits<double>::epsilon() * diagonal[k]))
            {
              for (unsigned int j = k; j < n; ++j)
                row_k[j] = 0.;
              continue;
            }
          const double scale = 1. / std::sqrt(pivot);
          for (unsigned int j = k; j < n; ++j)
            row_k[j] *= scale;
          for (unsigned int i = k + 1; i < n; ++i)
            {
              double *const row_i = m + std::size_t(i) * n;
              const double  l     = row_k[i];
              for (unsigned int j = i; j < n; ++j)
                row_i[j] -= l * row_k[j];
            }
        }
      for (unsigned int r = 0; r < n_rhs; ++r)
        {
          double *const b = rhs + std::size_t(r) * n;
          // U^T y = b, then U x = y.
          for (unsigned int k = 0; k < n; ++k)
            {
              const double *const row = m + std::size_t(k) * n;
              b[k]                    = row[k] > 0. ? b[k] / row[k] : 0.;
              for (unsigned int j = k + 1; j < n; ++j)
                b[j] -= row[j] * b[k];
            }
          for (unsigned int k = n; k-- > 0;)
            {
              const double *const row = m + std::size_t(k) * n;
              double              sum = b[k];
              for (unsigned int j = k + 1; j < n; ++j)
                sum -= row[j] * b[j];
              b[k] = row[k] > 0. ? sum / row[k] : 0.;
            }
        }
    }

    /// L2 projection onto the space of one polytope, with mass matrix and
    /// right-hand side by quadrature. Each thread needs its own object.
    template <int dim>
    class PolytopeProjection
    {
    public:
      PolytopeProjection(const PolytopicMesh<dim>     &mesh,
                         const PolytopicDoFs          &dofs,
                         const PolytopeEvaluator<dim> &evaluator,
                         const unsigned int            n_fields)
        : mesh(mesh)
        , dofs(dofs)
        , evaluator(evaluator)
        , n_fields(n_fields)
      {}

      /**
       * Projects onto polytope @p k with quadrature of order @p order. @p
       * evaluate(batch, values) computes values[field * batch.size() + q] at
       * points of whole sub-cells. The result is stored as result[field *
       * n_basis + i].
       */
      template <typename Function>
      void
      compute(const unsigned int k,
              const unsigned int order,
              const Function    &evaluate,
              double            *result)
      {
        const unsigned int n = dofs.n_basis[k];
        phi.resize(n);
        diagonal.resize(n);
        m.assign(std::size_t(n) * n, 0.);
        std::fill(result, result + std::size_t(n) * n_fields, 0.);
        batch.for_subcells(mesh,
                           mesh.subcell_offset[k],
                           mesh.subcell_offset[k + 1],
                           order,
                           [&]() {
                             evaluate(batch, values);
                             for (unsigned int q = 0; q < batch.size(); ++q)
                               add_point(k, q, result);
                           });
        solve_cholesky(n, m.data(), n_fields, result, diagonal.data());
      }

    private:
      /// Adds point @p q of the batch to the mass matrix and to the right-hand
      /// sides @p result.
      void
      add_point(const unsigned int k, const unsigned int q, double *result)
      {
        const unsigned int n = dofs.n_basis[k];
        double             x[dim];
        for (int d = 0; d < dim; ++d)
          x[d] = batch.x[d][q];
        evaluator.basis(k, x, phi.data());
        const double w = batch.weight[q];
        for (unsigned int i = 0; i < n; ++i)
          {
            const double  w_phi = w * phi[i];
            double *const row   = &m[std::size_t(i) * n];
            for (unsigned int j = i; j < n; ++j)
              row[j] += w_phi * phi[j];
          }
        for (unsigned int c = 0; c < n_fields; ++c)
          {
            const double w_f = w * values[std::size_t(c) * batch.size() + q];
            for (unsigned int i = 0; i < n; ++i)
              result[std::size_t(c) * n + i] += w_f * phi[i];
          }
      }

      const PolytopicMesh<dim>     &mesh;
      const PolytopicDoFs          &dofs;
      const PolytopeEvaluator<dim> &evaluator;
      const unsigned int            n_fields;
      QuadratureBatch<dim>          batch;
      std::vector<double>           values, phi, m, diagonal;
    };
  } // namespace internal
} // namespace Tessella

#endif
