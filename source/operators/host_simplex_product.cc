// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_simplex_product.h"

#include <deal.II/base/parallel.h>

#include <tessella/portable/legendre.h>

#include <algorithm>

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // y += s A x and y += s A^T x, with A of size m x n.
      void
      add_product(const std::vector<double> &A,
                  const unsigned int         m,
                  const unsigned int         n,
                  const double               s,
                  const double              *x,
                  double                    *y)
      {
        for (unsigned int i = 0; i < m; ++i)
          {
            double sum = 0;
            for (unsigned int j = 0; j < n; ++j)
              sum += A[i * n + j] * x[j];
            y[i] += s * sum;
          }
      }

      void
      add_transposed_product(const std::vector<double> &A,
                             const unsigned int         m,
                             const unsigned int         n,
                             const double               s,
                             const double              *x,
                             double                    *y)
      {
        for (unsigned int i = 0; i < m; ++i)
          for (unsigned int j = 0; j < n; ++j)
            y[j] += A[i * n + j] * (s * x[i]);
      }
    } // namespace



    /// Intermediate results of one simplex.
    struct HostSimplexProduct::Work
    {
      explicit Work(const SimplexReference &r)
        : rows(r.n)
        , gradient(r.dim * r.n_lower)
        , flux(r.n_lower)
        , own(r.n)
        , other(r.n)
        , combined(r.n)
        , jump(r.n_face)
        , value(r.n_face)
        , phi(r.n)
      {}

      std::vector<double> rows, gradient, flux, own, other, combined, jump,
        value, phi;
    };



    HostSimplexProduct::HostSimplexProduct(SimplexData &&simplex_data)
      : data(std::move(simplex_data))
      , reference(data.dim, data.degree)
      , exponents(reference.n * data.dim)
      , nodal(std::size_t(reference.n) * data.n_simplices)
    {
      Legendre::exponents(data.dim, data.degree, false, exponents.data());
    }



    // Values of all basis functions at node i.
    void
    HostSimplexProduct::basis_values(const unsigned int k,
                                     const unsigned int i,
                                     double            *phi) const
    {
      const unsigned int  dim    = data.dim;
      const double *const corner = data.corners.data() + k;
      const std::size_t   stride = data.n_simplices;
      double              values[3][Legendre::max_degree + 1];
      for (unsigned int d = 0; d < dim; ++d)
        {
          double xi = 0;
          for (unsigned int v = 0; v <= dim; ++v)
            xi += reference.nodes[i * (dim + 1) + v] *
                  corner[(v * dim + d) * stride];
          Legendre::evaluate(data.degree, xi, values[d]);
        }
      for (unsigned int m = 0; m < reference.n; ++m)
        {
          phi[m] = corner[(dim + 1) * dim * stride];
          for (unsigned int d = 0; d < dim; ++d)
            phi[m] *= values[d][exponents[m * dim + d]];
        }
    }



    void
    HostSimplexProduct::evaluate_at_nodes(const unsigned int k,
                                          const double      *u,
                                          double            *values) const
    {
      std::vector<double> phi(reference.n);
      for (unsigned int i = 0; i < reference.n; ++i)
        {
          basis_values(k, i, phi.data());
          values[i] = 0;
          for (unsigned int m = 0; m < reference.n; ++m)
            values[i] += phi[m] * u[m];
        }
    }



    void
    HostSimplexProduct::add_volume(const unsigned int k,
                                   double            *y,
                                   Work              &work) const
    {
      const SimplexReference &r   = reference;
      const unsigned int      dim = data.dim;
      const double
        *u = &nodal[k * std::size_t(r.n)],
        *row =
          &data.coefficients[k * std::size_t(SimplexData::n_coefficients(dim))];
      std::fill(work.gradient.begin(), work.gradient.end(), 0.);
      for (unsigned int d = 0; d < dim; ++d)
        add_product(
          r.gradient[d], r.n_lower, r.n, 1., u, &work.gradient[d * r.n_lower]);
      // Entry (i, j) of the upper triangle.
      const auto a = [&](const unsigned int i, const unsigned int j) {
        const unsigned int s = std::min(i, j), t = std::max(i, j);
        return row[s * dim - s * (s + 1) / 2 + t];
      };
      for (unsigned int i = 0; i < dim; ++i)
        {
          std::fill(work.flux.begin(), work.flux.end(), 0.);
          for (unsigned int j = 0; j < dim; ++j)
            for (unsigned int m = 0; m < r.n_lower; ++m)
              work.flux[m] += a(i, j) * work.gradient[j * r.n_lower + m];
          add_transposed_product(
            r.gradient[i], r.n_lower, r.n, 1., work.flux.data(), y);
        }
      if (data.reaction)
        add_product(
          r.mass, r.n, r.n, row[SimplexData::reaction_index(dim)], u, y);
      if (data.advection)
        {
          const double *b = row + SimplexData::reaction_index(dim) + 1;
          std::fill(work.flux.begin(), work.flux.end(), 0.);
          for (unsigned int j = 0; j < dim; ++j)
            for (unsigned int m = 0; m < r.n_lower; ++m)
              work.flux[m] += b[j] * work.gradient[j * r.n_lower + m];
          add_transposed_product(
            r.projection, r.n_lower, r.n, 1., work.flux.data(), y);
        }
    }



    void
    HostSimplexProduct::add_face(const unsigned int k,
                                 const unsigned int face,
                                 const bool         transpose,
                                 double            *y,
                                 Work              &work) const
    {
      const SimplexReference &r   = reference;
      const unsigned int      dim = data.dim;
      const double *const     row =
        &data.coefficients[k * std::size_t(SimplexData::n_coefficients(dim)) +
                           SimplexData::face_index(dim) + face * (2 * dim + 1)];
      const unsigned short *frame = &r.frame[face * r.n];
      const double         *u     = &nodal[k * std::size_t(r.n)];
      for (unsigned int i = 0; i < r.n; ++i)
        work.own[i] = u[frame[i]];
      const unsigned int code = data.neighbor[k * std::size_t(dim + 1) + face];
      std::fill(work.other.begin(), work.other.end(), 0.);
      if (code != SimplexData::no_neighbor)
        for (unsigned int i = 0; i < r.n; ++i)
          work.other[i] =
            nodal[code / 4 * std::size_t(r.n) + r.frame[code % 4 * r.n + i]];

      // Moments of the jump, and of b_0 . grad u + b_1 . grad u_1.
      const double q = transpose ? data.theta : 1.,
                   s = transpose ? 1. : data.theta;
      std::fill(work.jump.begin(), work.jump.end(), 0.);
      std::fill(work.value.begin(), work.value.end(), 0.);
      for (unsigned int i = 0; i < r.n_face; ++i)
        work.combined[i] = work.own[i] - work.other[i];
      add_product(r.face_moments,
                  r.n_face,
                  r.n_face,
                  1.,
                  work.combined.data(),
                  work.jump.data());
      for (unsigned int d = 0; d < dim; ++d)
        {
          for (unsigned int i = 0; i < r.n; ++i)
            work.combined[i] =
              row[d] * work.own[i] + row[dim + d] * work.other[i];
          add_product(d + 1 == dim ? r.transversal : r.tangential[d],
                      r.n_face_lower,
                      d + 1 == dim ? r.n : r.n_face,
                      q,
                      work.combined.data(),
                      work.value.data());
        }
      for (unsigned int m = 0; m < r.n_face; ++m)
        work.value[m] += row[2 * dim] * work.jump[m];

      std::fill(work.rows.begin(), work.rows.end(), 0.);
      add_transposed_product(r.face_moments,
                             r.n_face,
                             r.n_face,
                             1.,
                             work.value.data(),
                             work.rows.data());
      for (unsigned int d = 0; d < dim; ++d)
        add_transposed_product(d + 1 == dim ? r.transversal : r.tangential[d],
                               r.n_face_lower,
                               d + 1 == dim ? r.n : r.n_face,
                               s * row[d],
                               work.jump.data(),
                               work.rows.data());
      for (unsigned int i = 0; i < r.n; ++i)
        y[frame[i]] += work.rows[i];
    }



    void
    HostSimplexProduct::vmult(const Device::Destination<double> &dst,
                              const double                      *src,
                              const double                      *ghosts,
                              const bool transpose) const
    {
      const std::size_t n = reference.n;
      dealii::parallel::apply_to_subranges(
        0u,
        data.n_simplices,
        [&](const unsigned int begin, const unsigned int end) {
          for (unsigned int k = begin; k < end; ++k)
            evaluate_at_nodes(k,
                              k < data.n_rows ? src + k * n
                                              : ghosts + (k - data.n_rows) * n,
                              &nodal[k * n]);
        },
        64);
      dealii::parallel::apply_to_subranges(
        0u,
        data.n_rows,
        [&](const unsigned int begin, const unsigned int end) {
          Work                work(reference);
          std::vector<double> y(n), result(n);
          for (unsigned int k = begin; k < end; ++k)
            {
              std::fill(y.begin(), y.end(), 0.);
              std::fill(result.begin(), result.end(), 0.);
              add_volume(k, y.data(), work);
              for (unsigned int face = 0; face <= data.dim; ++face)
                add_face(k, face, transpose, y.data(), work);
              for (unsigned int i = 0; i < n; ++i)
                {
                  basis_values(k, i, work.phi.data());
                  for (unsigned int m = 0; m < n; ++m)
                    result[m] += work.phi[m] * y[i];
                }
              for (unsigned int m = 0; m < n; ++m)
                dst.store(k * n + m, result[m]);
            }
        },
        64);
    }



    double
    HostSimplexProduct::n_operations(const SimplexData      &data,
                                     const SimplexReference &r)
    {
      const double volume = 2. * r.n * r.n + 2. * r.dim * r.n_lower * r.n +
                            (data.reaction ? r.n * r.n : 0.) +
                            (data.advection ? r.n_lower * r.n : 0.);
      const double face = 2. * r.n_face * r.n_face +
                          2. * r.n_face_lower * (r.n + (r.dim - 1.) * r.n_face);
      return 2. * data.n_rows * (volume + (r.dim + 1.) * face);
    }



    std::size_t
    HostSimplexProduct::memory_consumption() const
    {
      return data.memory_consumption() + nodal.size() * sizeof(double);
    }
  } // namespace internal
} // namespace Tessella
