// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "simplex_reference.h"

#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      using Real   = long double;
      using Matrix = std::vector<Real>; // row-major

      // C = A B with A of size m x k and B of size k x n.
      Matrix
      matrix_product(const Matrix      &A,
                     const Matrix      &B,
                     const unsigned int m,
                     const unsigned int k,
                     const unsigned int n)
      {
        Matrix C(m * n);
        for (unsigned int i = 0; i < m; ++i)
          for (unsigned int l = 0; l < k; ++l)
            for (unsigned int j = 0; j < n; ++j)
              C[i * n + j] += A[i * k + l] * B[l * n + j];
        return C;
      }

      // Inverse by Gauss-Jordan elimination with row pivoting.
      Matrix
      inverse_of(Matrix A, const unsigned int n)
      {
        Matrix B(n * n);
        for (unsigned int i = 0; i < n; ++i)
          B[i * n + i] = 1;
        for (unsigned int c = 0; c < n; ++c)
          {
            unsigned int pivot = c;
            for (unsigned int i = c + 1; i < n; ++i)
              if (std::fabs(A[i * n + c]) > std::fabs(A[pivot * n + c]))
                pivot = i;
            for (unsigned int j = 0; j < n; ++j)
              {
                std::swap(A[c * n + j], A[pivot * n + j]);
                std::swap(B[c * n + j], B[pivot * n + j]);
              }
            const Real factor = 1 / A[c * n + c];
            for (unsigned int j = 0; j < n; ++j)
              {
                A[c * n + j] *= factor;
                B[c * n + j] *= factor;
              }
            for (unsigned int i = 0; i < n; ++i)
              if (i != c)
                {
                  const Real s = A[i * n + c];
                  for (unsigned int j = 0; j < n; ++j)
                    {
                      A[i * n + j] -= s * A[c * n + j];
                      B[i * n + j] -= s * B[c * n + j];
                    }
                }
          }
        return B;
      }

      // P_degree(x) and its derivative.
      void
      legendre(const unsigned int degree,
               const Real         x,
               Real              &value,
               Real              &slope)
      {
        Real previous = 0, d_previous = 0;
        value = 1;
        slope = 0;
        for (unsigned int n = 0; n < degree; ++n)
          {
            const Real next =
                         ((2 * n + 1) * x * value - n * previous) / (n + 1),
                       d_next = d_previous + (2 * n + 1) * value;
            previous          = value;
            d_previous        = slope;
            value             = next;
            slope             = d_next;
          }
      }

      const Real pi = 3.14159265358979323846264338327950288L;

      // Gauss points and weights on [0,1].
      void
      gauss(const unsigned int n, std::vector<Real> &x, std::vector<Real> &w)
      {
        for (unsigned int i = 0; i < n; ++i)
          {
            Real t = -std::cos(pi * (i + 0.75L) / (n + 0.5L)), value, slope;
            for (unsigned int step = 0; step < 20; ++step)
              {
                legendre(n, t, value, slope);
                t -= value / slope;
              }
            legendre(n, t, value, slope);
            x.push_back((1 + t) / 2);
            w.push_back(1 / ((1 - t * t) * slope * slope));
          }
      }

      // Point i of the n + 1 Gauss-Lobatto points on [0,1]; the midpoint for n
      // = 0.
      Real
      lobatto(const unsigned int n, const unsigned int i)
      {
        if (n == 0)
          return 0.5L;
        if (i == 0 || i == n)
          return i == 0 ? 0 : 1;
        if (2 * i == n)
          return 0.5L;
        if (2 * i > n)
          return 1 - lobatto(n, n - i);
        Real t = -std::cos(pi * i / n), value, slope;
        for (unsigned int step = 0; step < 30; ++step)
          {
            // P_n'' follows from Legendre's equation.
            legendre(n, t, value, slope);
            const Real second =
              (2 * t * slope - n * (n + 1) * value) / (1 - t * t);
            t -= slope / second;
          }
        return (1 + t) / 2;
      }

      using Index = std::vector<unsigned int>;

      // Barycentric coordinates of the node with multi-index alpha.
      std::vector<Real>
      node(const Index &alpha)
      {
        const unsigned int m = alpha.size();
        unsigned int       n = 0;
        for (const unsigned int a : alpha)
          n += a;
        std::vector<Real> x(m);
        if (m == 1)
          {
            x[0] = 1;
            return x;
          }
        if (m == 2)
          {
            x[0] = lobatto(n, alpha[0]);
            x[1] = lobatto(n, alpha[1]);
            return x;
          }
        Real sum = 0;
        for (unsigned int i = 0; i < m; ++i)
          {
            Index rest = alpha;
            rest.erase(rest.begin() + i);
            const Real              weight = lobatto(n, n - alpha[i]);
            const std::vector<Real> y      = node(rest);
            for (unsigned int j = 0; j < m; ++j)
              if (j != i)
                x[j] += weight * y[j - (j > i)];
            sum += weight;
          }
        for (Real &value : x)
          value /= sum;
        return x;
      }

      // Multi-indices of m entries with sum n; the last entry varies slowest.
      void
      multi_indices(const unsigned int  m,
                    const unsigned int  n,
                    Index               tail,
                    std::vector<Index> &result)
      {
        if (m == 1)
          {
            tail.insert(tail.begin(), n);
            result.push_back(tail);
            return;
          }
        for (unsigned int last = 0; last <= n; ++last)
          {
            Index next = tail;
            next.insert(next.begin(), last);
            multi_indices(m - 1, n - last, next, result);
          }
      }

      /**
       * Orthonormal polynomials on the simplex xi_d >= 0, sum of xi_d <= 1,
       * with respect to mean values. Each polynomial is a variable times one of
       * lower degree, orthogonalised: these products are well conditioned
       * (Brubeck, Nakatsukasa, Trefethen, Vandermonde with Arnoldi, SIAM Review
       * 63, 2021).
       */
      class OrthonormalBasis
      {
      public:
        OrthonormalBasis(const unsigned int dim, const unsigned int degree)
          : dim(dim)
          , degree(degree)
          , n(Legendre::n_functions(dim, degree, false))
          , parent(n)
          , variable(n)
          , coefficients(n * n)
        {
          set_parents();
          set_quadrature();
          orthonormalise();
        }

        const unsigned int dim, degree, n;
        /// Quadrature that is exact for degree 2p, with sum of weights 1.
        std::vector<std::vector<Real>> points;
        std::vector<Real>              weights;

        /// Values (d < 0) or derivatives with respect to variable d of all
        /// polynomials at points: n for each point.
        Matrix
        evaluate(const std::vector<std::vector<Real>> &x, const int d) const
        {
          Matrix result;
          for (const std::vector<Real> &point : x)
            {
              std::vector<Real> values(n, 1), slopes(n);
              for (unsigned int m = 1; m < n; ++m)
                {
                  const Real xi   = 2 * point[variable[m]] - 1;
                  values[m]       = xi * values[parent[m]];
                  slopes[m]       = xi * slopes[parent[m]];
                  const Real *row = &coefficients[m * n];
                  if (static_cast<int>(variable[m]) == d)
                    slopes[m] += 2 * values[parent[m]];
                  for (unsigned int l = 0; l < m; ++l)
                    {
                      values[m] -= row[l] * values[l];
                      slopes[m] -= row[l] * slopes[l];
                    }
                  values[m] *= row[m];
                  slopes[m] *= row[m];
                }
              const std::vector<Real> &wanted = d < 0 ? values : slopes;
              result.insert(result.end(), wanted.begin(), wanted.end());
            }
          return result;
        }

      private:
        // Polynomial m is coefficients[m * n + m] times the difference of
        // (2 xi - 1) times its parent and the sum over l < m of
        // coefficients[m * n + l] times polynomial l.
        std::vector<unsigned int> parent, variable;
        Matrix                    coefficients;

        void
        set_parents()
        {
          std::vector<unsigned char> exponents(n * dim);
          Legendre::exponents(dim, degree, false, exponents.data());
          std::map<Index, unsigned int> number;
          for (unsigned int m = 0; m < n; ++m)
            {
              Index index(&exponents[m * dim], &exponents[m * dim] + dim);
              number[index] = m;
              if (m == 0)
                continue;
              while (index[variable[m]] == 0)
                ++variable[m];
              --index[variable[m]];
              parent[m] = number[index];
            }
        }

        // Gauss points of the cube, collapsed to the simplex.
        void
        set_quadrature()
        {
          std::vector<Real> x, w;
          gauss(degree + 2, x, w);
          const unsigned int n_1d     = x.size();
          unsigned int       n_points = 1;
          for (unsigned int d = 0; d < dim; ++d)
            n_points *= n_1d;
          for (unsigned int q = 0; q < n_points; ++q)
            {
              std::vector<Real> point(dim);
              Real              rest = 1, weight = 1;
              unsigned int      i = q;
              for (unsigned int d = 0; d < dim; ++d, i /= n_1d)
                {
                  // The weight is (dim - d) (1 - x)^(dim-1-d) in each variable.
                  weight *= (dim - d) * w[i % n_1d];
                  for (unsigned int e = d + 1; e < dim; ++e)
                    weight *= 1 - x[i % n_1d];
                  point[d] = rest * x[i % n_1d];
                  rest -= point[d];
                }
              points.push_back(point);
              weights.push_back(weight);
            }
        }

        // Gram-Schmidt, twice for orthogonality to rounding.
        void
        orthonormalise()
        {
          const unsigned int n_points = points.size();
          Matrix             values(n * n_points, 1);
          const auto dot = [&](const unsigned int i, const unsigned int j) {
            Real sum = 0;
            for (unsigned int q = 0; q < n_points; ++q)
              sum += weights[q] * values[i * n_points + q] *
                     values[j * n_points + q];
            return sum;
          };
          for (unsigned int m = 1; m < n; ++m)
            {
              Real *const value = &values[m * n_points];
              for (unsigned int q = 0; q < n_points; ++q)
                value[q] = (2 * points[q][variable[m]] - 1) *
                           values[parent[m] * n_points + q];
              for (unsigned int pass = 0; pass < 2; ++pass)
                for (unsigned int l = 0; l < m; ++l)
                  {
                    const Real s = dot(m, l);
                    coefficients[m * n + l] += s;
                    for (unsigned int q = 0; q < n_points; ++q)
                      value[q] -= s * values[l * n_points + q];
                  }
              const Real s            = 1 / std::sqrt(dot(m, m));
              coefficients[m * n + m] = s;
              for (unsigned int q = 0; q < n_points; ++q)
                value[q] *= s;
            }
        }
      };

      // Moments with the first n_moments polynomials of a basis, of functions
      // with n values at each of the basis's quadrature points.
      Matrix
      moments(const OrthonormalBasis &basis,
              const Matrix           &functions,
              const unsigned int      n,
              const unsigned int      n_moments)
      {
        Matrix     test   = basis.evaluate(basis.points, -1);
        const auto n_test = basis.n;
        Matrix     result(n_moments * n);
        for (unsigned int q = 0; q < basis.points.size(); ++q)
          for (unsigned int m = 0; m < n_moments; ++m)
            for (unsigned int i = 0; i < n; ++i)
              result[m * n + i] +=
                basis.weights[q] * test[q * n_test + m] * functions[q * n + i];
        return result;
      }

      std::vector<double>
      rounded(const Matrix &A)
      {
        return std::vector<double>(A.begin(), A.end());
      }

      // Coordinates xi of nodes on a simplex of dimension dim, whose
      // multi-indices are the first dim + 1 entries.
      std::vector<std::vector<Real>>
      coordinates(const std::vector<Index> &indices, const unsigned int dim)
      {
        std::vector<std::vector<Real>> points;
        for (const Index &index : indices)
          {
            const std::vector<Real> lambda =
              node(Index(index.begin(), index.begin() + dim + 1));
            points.emplace_back(lambda.begin() + 1, lambda.end());
          }
        return points;
      }
    } // namespace



    SimplexReference::SimplexReference(const unsigned int dim,
                                       const unsigned int degree)
      : dim(dim)
      , degree(degree)
      , n(Legendre::n_functions(dim, degree, false))
      , n_face(Legendre::n_functions(dim - 1, degree, false))
      , n_lower(degree == 0 ? 0 : Legendre::n_functions(dim, degree - 1, false))
      , n_face_lower(
          degree == 0 ? 0 : Legendre::n_functions(dim - 1, degree - 1, false))
    {
      std::vector<Index> indices;
      multi_indices(dim + 1, degree, Index(), indices);
      std::map<Index, unsigned int> number;
      for (unsigned int i = 0; i < n; ++i)
        number[indices[i]] = i;
      for (const Index &index : indices)
        for (const Real value : node(index))
          nodes.push_back(static_cast<double>(value));
      for (unsigned int f = 0; f <= dim; ++f)
        for (unsigned int i = 0; i < n; ++i)
          {
            // The last entry belongs to vertex f.
            Index own = indices[i];
            own.pop_back();
            own.insert(own.begin() + f, indices[i].back());
            frame.push_back(static_cast<unsigned short>(number[own]));
          }

      const OrthonormalBasis basis(dim, degree), face(dim - 1, degree);
      const Matrix           to_modes =
        inverse_of(basis.evaluate(coordinates(indices, dim), -1), n);
      for (unsigned int d = 0; d < dim; ++d)
        gradient[d] = rounded(matrix_product(
          moments(basis, basis.evaluate(basis.points, d), n, n_lower),
          to_modes,
          n_lower,
          n,
          n));
      projection =
        rounded(Matrix(to_modes.begin(), to_modes.begin() + n_lower * n));
      Matrix transposed(n * n);
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < n; ++j)
          transposed[j * n + i] = to_modes[i * n + j];
      mass = rounded(matrix_product(transposed, to_modes, n, n, n));

      const Matrix face_to_modes = inverse_of(
        face.evaluate(coordinates(std::vector<Index>(indices.begin(),
                                                     indices.begin() + n_face),
                                  dim - 1),
                      -1),
        n_face);
      face_moments = rounded(face_to_modes);
      for (unsigned int d = 0; d + 1 < dim; ++d)
        tangential[d] = rounded(matrix_product(
          moments(face, face.evaluate(face.points, d), n_face, n_face_lower),
          face_to_modes,
          n_face_lower,
          n_face,
          n_face));
      std::vector<std::vector<Real>> on_face = face.points;
      for (std::vector<Real> &point : on_face)
        point.push_back(0);
      transversal = rounded(matrix_product(
        moments(face, basis.evaluate(on_face, dim - 1), n, n_face_lower),
        to_modes,
        n_face_lower,
        n,
        n));
    }



    std::vector<double>
    lagrange_polynomials(const unsigned int         dim,
                         const unsigned int         degree,
                         const std::vector<double> &points,
                         const int                  d)
    {
      std::vector<Index> indices;
      multi_indices(dim + 1, degree, Index(), indices);
      const OrthonormalBasis basis(dim, degree);
      const unsigned int     n = basis.n, n_points = points.size() / dim;
      const Matrix           to_modes =
        inverse_of(basis.evaluate(coordinates(indices, dim), -1), n);
      std::vector<std::vector<Real>> x;
      for (unsigned int q = 0; q < n_points; ++q)
        x.emplace_back(points.begin() + q * dim,
                       points.begin() + (q + 1) * dim);
      return rounded(
        matrix_product(basis.evaluate(x, d), to_modes, n_points, n, n));
    }



    std::vector<unsigned short>
    face_nodes(const unsigned int  dim,
               const unsigned int  degree,
               const unsigned int *vertices)
    {
      std::vector<Index> indices, of_face;
      multi_indices(dim + 1, degree, Index(), indices);
      multi_indices(dim, degree, Index(), of_face);
      std::map<Index, unsigned int> number;
      for (unsigned int i = 0; i < indices.size(); ++i)
        number[indices[i]] = i;
      std::vector<unsigned short> result;
      for (const Index &index : of_face)
        {
          Index in_simplex(dim + 1, 0);
          for (unsigned int v = 0; v < dim; ++v)
            in_simplex[vertices[v]] = index[v];
          result.push_back(static_cast<unsigned short>(number[in_simplex]));
        }
      return result;
    }
  } // namespace internal
} // namespace Tessella
