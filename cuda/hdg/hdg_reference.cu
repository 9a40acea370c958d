// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/portable/legendre.h>

#include <cmath>

#include "block_dense.h"
#include "hdg_reference.h"
#include "simplex_basis.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// A value with its gradient.
        template <int dim>
        struct Dual
        {
          double v = 0., g[dim] = {};

          TESSELLA_HOST_DEVICE Dual
          operator*(const double c) const
          {
            Dual r = *this;
            r.v *= c;
            for (double &d : r.g)
              d *= c;
            return r;
          }
          TESSELLA_HOST_DEVICE Dual
          operator+(const double c) const
          {
            Dual r = *this;
            r.v += c;
            return r;
          }
          TESSELLA_HOST_DEVICE Dual
          operator-(const double c) const
          {
            return *this + -c;
          }
          TESSELLA_HOST_DEVICE Dual
          operator+(const Dual &b) const
          {
            Dual r = *this;
            r.v += b.v;
            for (int d = 0; d < dim; ++d)
              r.g[d] += b.g[d];
            return r;
          }
          TESSELLA_HOST_DEVICE Dual
          operator-(const Dual &b) const
          {
            return *this + b * -1.;
          }
          TESSELLA_HOST_DEVICE Dual
          operator*(const Dual &b) const
          {
            Dual r;
            r.v = v * b.v;
            for (int d = 0; d < dim; ++d)
              r.g[d] = v * b.g[d] + g[d] * b.v;
            return r;
          }
        };

        template <int dim>
        std::vector<double>
        values(const unsigned int degree, const double (&x)[dim])
        {
          std::vector<double> result;
          visit_simplex_basis<dim>(
            degree,
            x,
            [&](const unsigned int, const double v, const double factor) {
              result.push_back(v * std::sqrt(factor));
            },
            JacobiStep::make);
          return result;
        }

        /// Values of the orthonormal functions on the unit simplex of dimension
        /// dim - 1.
        template <int dim>
        std::vector<double>
        face_values(const unsigned int degree, const double (&y)[dim - 1])
        {
          if constexpr (dim == 3)
            return values<2>(degree, y);
          else
            {
              double P[Legendre::max_degree + 1];
              Legendre::evaluate(degree, 2. * y[0] - 1., P);
              return std::vector<double>(P, P + degree + 1);
            }
        }


        /// Computes the tables of SimplexReference one after the other.
        template <int dim>
        class ReferenceBuilder
        {
        public:
          ReferenceBuilder(const RuleTables &rules, const unsigned int degree)
            : degree(degree)
            , n(Legendre::n_functions(dim, degree, false))
            , n_face(Legendre::n_functions(dim - 1, degree, false))
            , volume(rules.subcell[0][degree])
            , facet(rules.facet[0][degree])
            , volume_data(rules.data.data() + volume.offset)
            , facet_data(rules.data.data() + facet.offset)
            , B((dim + 1) * n_face * n, 0.)
          {
            visit_lower([&](const unsigned int i, const unsigned int j) {
              if (j % 2 == 0)
                result.schur_place.push_back(i * row_stride(n) + j);
            });
            integrate_volume();
            multiply_derivatives();
            for (int f = 0; f <= dim; ++f)
              {
                integrate_face(f);
                multiply_traces(f);
              }
            set_trace_squares();
            set_face_values();
            set_recurrences();
            set_gauss();
          }

          SimplexReference result;

        private:
          // Calls function(i, j) for the stored entries of a symmetric matrix.
          template <typename Function>
          void
          visit_lower(const Function &function) const
          {
            for (unsigned int i = 0; i < n; ++i)
              for (unsigned int j = 0; j < i / 2 * 2 + 2; ++j)
                function(i, j);
          }

          // Row i of the matrix of derivatives with respect to variable e.
          double *
          D(const int e, const unsigned int i)
          {
            return &result.derivative[(e * n + i) * n];
          }

          double
          coordinate(const unsigned int q, const int d) const
          {
            return facet_data[d * facet.n_points + q];
          }

          // Tables `derivative` and `load`.
          void
          integrate_volume()
          {
            result.derivative.assign(std::size_t(dim) * n * n, 0.);
            for (unsigned int q = 0; q < volume.n_points; ++q)
              {
                Dual<dim> x[dim];
                for (int d = 0; d < dim; ++d)
                  {
                    x[d].v    = volume_data[d * volume.n_points + q];
                    x[d].g[d] = 1.;
                  }
                const double w = volume_data[dim * volume.n_points + q];
                std::vector<Dual<dim>> phi;
                visit_simplex_basis<dim>(
                  degree,
                  x,
                  [&](const unsigned int,
                      const Dual<dim> &v,
                      const double     factor) {
                    phi.push_back(v * std::sqrt(factor));
                  },
                  JacobiStep::make);
                for (unsigned int i = 0; i < n; ++i)
                  {
                    result.load.push_back(w * phi[i].v);
                    for (int e = 0; e < dim; ++e)
                      for (unsigned int j = 0; j < n; ++j)
                        D(e, i)[j] += w * phi[i].v * phi[j].g[e];
                  }
                result.load.resize((q + 1) * padded(n), 0.);
              }
          }

          // Part of the table `schur` without faces.
          void
          multiply_derivatives()
          {
            for (int e = 0; e < dim; ++e)
              for (int f = e; f < dim; ++f)
                visit_lower([&](const unsigned int i, const unsigned int j) {
                  double sum = 0.;
                  for (unsigned int l = 0; l < n && j < n; ++l)
                    sum += D(e, i)[l] * D(f, j)[l] +
                           (e < f ? D(f, i)[l] * D(e, j)[l] : 0.);
                  result.schur.push_back(sum);
                });
          }

          // B of a face, whose vertices are in ascending order.
          void
          integrate_face(const int f)
          {
            const auto corner = [&](const int v, const int d) {
              return (v < f ? v : v + 1) == d + 1 ? 1. : 0.;
            };
            for (unsigned int q = 0; q < facet.n_points; ++q)
              {
                double x[dim], y[dim - 1];
                for (int d = 0; d < dim; ++d)
                  {
                    x[d] = corner(0, d);
                    for (int v = 1; v < dim; ++v)
                      {
                        y[v - 1] = coordinate(q, v - 1);
                        x[d] += y[v - 1] * (corner(v, d) - corner(0, d));
                      }
                  }
                const double              w   = coordinate(q, dim - 1);
                const std::vector<double> phi = values<dim>(degree, x),
                                          chi = face_values<dim>(degree, y);
                for (unsigned int l = 0; l < n_face; ++l)
                  for (unsigned int i = 0; i < n; ++i)
                    B[(f * n_face + l) * n + i] += w * chi[l] * phi[i];
              }
          }

          // Parts of the tables `schur` and `trace` of a face.
          void
          multiply_traces(const int f)
          {
            visit_lower([&](const unsigned int i, const unsigned int j) {
              double sum = 0.;
              for (unsigned int l = f * n_face; l < (f + 1) * n_face && j < n;
                   ++l)
                sum += B[l * n + i] * B[l * n + j];
              result.schur.push_back(sum);
            });
            for (int r = 0; r <= dim; ++r)
              for (unsigned int l = f * n_face; l < (f + 1) * n_face; ++l)
                for (unsigned int i = 0; i < padded(n); ++i)
                  {
                    double sum = 0.;
                    if (i >= n)
                      ;
                    else if (r == 0)
                      sum = B[l * n + i];
                    else
                      for (unsigned int j = 0; j < n; ++j)
                        sum += B[l * n + j] * D(r - 1, i)[j];
                    result.trace.push_back(sum);
                  }
          }

          void
          set_trace_squares()
          {
            const unsigned int n_rows = (dim + 1) * n_face;
            for (unsigned int l = 0; l < n_rows; ++l)
              for (unsigned int m = 0; m < n_rows; ++m)
                {
                  double sum = 0.;
                  for (unsigned int i = 0; i < n; ++i)
                    sum += B[l * n + i] * B[m * n + i];
                  result.trace_squares.push_back(sum);
                }
          }

          void
          set_face_values()
          {
            unsigned int n_orientations = 1;
            for (int v = 0; v < dim; ++v)
              n_orientations *= dim + 1;
            for (unsigned int o = 0; o < n_orientations; ++o)
              {
                // positions of the facet's vertices among those of the face
                unsigned int vertex[dim], rest = o;
                for (int v = dim; v-- > 0; rest /= dim + 1)
                  vertex[v] = rest % (dim + 1);
                unsigned int place[dim] = {};
                for (int v = 0; v < dim; ++v)
                  for (int u = 0; u < dim; ++u)
                    place[v] += vertex[u] < vertex[v];
                for (unsigned int q = 0; q < facet.n_points; ++q)
                  {
                    double y[dim - 1] = {}, first = 1.;
                    for (int v = 1; v < dim; ++v)
                      {
                        first -= coordinate(q, v - 1);
                        if (place[v] > 0)
                          y[place[v] - 1] += coordinate(q, v - 1);
                      }
                    if (place[0] > 0)
                      y[place[0] - 1] += first;
                    const std::vector<double> chi = face_values<dim>(degree, y);
                    result.face_values.insert(result.face_values.end(),
                                              chi.begin(),
                                              chi.end());
                  }
              }
          }

          // Tables `factor` and `steps`, for evaluation on the device.
          void
          set_recurrences()
          {
            const double origin[dim] = {};
            visit_simplex_basis<dim>(
              degree,
              origin,
              [&](const unsigned int, const double, const double factor) {
                result.factor.push_back(std::sqrt(factor));
              },
              JacobiStep::make);
            for (unsigned int alpha = 0; alpha <= 2 * degree + 2; ++alpha)
              for (unsigned int k = 0; k <= degree; ++k)
                {
                  const JacobiStep step = JacobiStep::make(k, alpha);
                  result.steps.insert(result.steps.end(),
                                      {step.of_y, step.of_s, step.of_previous});
                }
          }

          // Gauss points by Newton's method.
          void
          set_gauss()
          {
            const unsigned int  m = degree + 1;
            std::vector<double> points(m), weights(m);
            for (unsigned int q = 0; q < m; ++q)
              {
                double x     = std::cos(3.14159265358979323846 * (q + 0.75) /
                                    (m + 0.5)),
                       slope = 1.;
                for (unsigned int step = 0; step < 20; ++step)
                  {
                    double previous = 1., present = x;
                    for (unsigned int k = 1; k < m; ++k)
                      {
                        const double next =
                          ((2. * k + 1.) * x * present - k * previous) /
                          (k + 1.);
                        previous = present;
                        present  = next;
                      }
                    slope = m * (x * present - previous) / (x * x - 1.);
                    x -= present / slope;
                  }
                points[q]  = x;
                weights[q] = 1. / ((1. - x * x) * slope * slope);
              }
            result.gauss = points;
            result.gauss.insert(result.gauss.end(),
                                weights.begin(),
                                weights.end());
            result.gauss.resize(2 * m + m * m);
            for (unsigned int q = 0; q < m; ++q)
              {
                double P[Legendre::max_degree + 1];
                Legendre::evaluate(degree, points[q], P);
                for (unsigned int k = 0; k < m; ++k)
                  result.gauss[2 * m + k * m + q] = P[k];
              }
          }

          const unsigned int  degree, n, n_face;
          const RuleEntry     volume, facet;
          const double *const volume_data, *const facet_data;
          std::vector<double> B; ///< B_f of SimplexReference for all faces
        };
      } // namespace



      template <int dim>
      SimplexReference
      make_simplex_reference(const RuleTables &rules, const unsigned int degree)
      {
        return ReferenceBuilder<dim>(rules, degree).result;
      }



      template SimplexReference
      make_simplex_reference<2>(const RuleTables &, const unsigned int);
      template SimplexReference
      make_simplex_reference<3>(const RuleTables &, const unsigned int);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
