// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "compressed_quadrature.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>
#include <deal.II/base/timer.h>

#include <tessella/grid/revision.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mesh_points.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      // Polynomials of a total degree on a box, as products of Chebyshev
      // polynomials, which are at most one and have no largest degree.
      template <int dim>
      class BoxPolynomials
      {
      public:
        BoxPolynomials(const unsigned int order, const double *box)
          : order(order)
          , values(dim * (order + 1))
        {
          for (int d = 0; d < dim; ++d)
            {
              center[d] = 0.5 * (box[d] + box[dim + d]);
              scale[d]  = 2. / (box[dim + d] - box[d]);
            }
        }

        // Number of polynomials.
        unsigned int
        size() const
        {
          return Legendre::n_functions(dim, order, false);
        }

        void
        evaluate(const double *x, double *result)
        {
          for (int d = 0; d < dim; ++d)
            {
              const double  xi = (x[d] - center[d]) * scale[d];
              double *const T  = &values[d * (order + 1)];
              T[0]             = 1.;
              if (order > 0)
                T[1] = xi;
              for (unsigned int n = 2; n <= order; ++n)
                T[n] = 2. * xi * T[n - 1] - T[n - 2];
            }
          multiply(0, order, 1., result);
        }

      private:
        // Products of the variables from d on, of total degree at most left.
        void
        multiply(const int          d,
                 const unsigned int left,
                 const double       factor,
                 double           *&result)
        {
          const double *const T = &values[d * (order + 1)];
          for (unsigned int n = 0; n <= left; ++n)
            if (d + 1 == dim)
              *result++ = factor * T[n];
            else
              multiply(d + 1, left - n, factor * T[n], result);
        }

        const unsigned int  order;
        double              center[dim], scale[dim];
        std::vector<double> values;
      };



      // y += factor x.
      inline void
      add(const unsigned int n, const double factor, const double *x, double *y)
      {
        DEAL_II_OPENMP_SIMD_PRAGMA
        for (unsigned int i = 0; i < n; ++i)
          y[i] += factor * x[i];
      }



      /**
       * Finds a subset of weighted points that has the moments of all of them:
       * row i of the values has those of m functions at point i.
       */
      class Reduction
      {
      public:
        Reduction(const unsigned int         n_functions,
                  const std::vector<double> &values,
                  const std::vector<double> &weights)
          : m(n_functions)
          , n(weights.size())
          , values(values)
          , weights(weights)
          , A(values)
          , row(n)
        {
          std::iota(row.begin(), row.end(), 0u);
        }

        /// Returns whether a rule with the moments @p moment was found. Its
        /// points are the indices in @p point.
        bool
        run(const std::vector<double> &moment,
            std::vector<unsigned int> &point,
            std::vector<double>       &new_weights)
        {
          select_basis();
          if (rank == 0 || rank == n)
            return false;
          express_others();
          absorb_others();
          point.assign(row.begin(), row.begin() + rank);
          std::sort(point.begin(), point.end());
          return find_weights(moment, point, new_weights);
        }

        /// Largest error of a moment after run(), relative to the sum of all
        /// weights.
        double error = 0.;

      private:
        double *
        line(const unsigned int i)
        {
          return &A[std::size_t(i) * m];
        }

        // LU factorisation of A with row pivoting; the first `rank` rows are
        // the basis. A function that depends on the functions before it, up to
        // rounding, has no pivot and is left out.
        void
        select_basis()
        {
          for (unsigned int j = 0; j < m && rank < n; ++j)
            {
              unsigned int pivot = rank;
              for (unsigned int i = rank + 1; i < n; ++i)
                if (std::abs(line(i)[j]) > std::abs(line(pivot)[j]))
                  pivot = i;
              if (std::abs(line(pivot)[j]) < least_pivot)
                continue;
              if (pivot != rank)
                {
                  std::swap_ranges(line(rank), line(rank) + m, line(pivot));
                  std::swap(row[rank], row[pivot]);
                }
              column.push_back(j);
              const double *const u = line(rank);
              for (unsigned int i = rank + 1; i < n; ++i)
                {
                  double *const a      = line(i);
                  const double  factor = a[j] / u[j];
                  add(m - j - 1, -factor, u + j + 1, a + j + 1);
                  a[j] = factor;
                }
              ++rank;
            }
        }

        // Y: the values at point rank + i as combination of those at the points
        // of the basis, from the triangular factor L of the factorisation.
        void
        express_others()
        {
          Y.resize(std::size_t(n - rank) * rank);
          // Inverse of the unit triangular factor of the basis, transposed: its
          // row c holds entries c .. rank - 1 of a column of the inverse.
          std::vector<double> inverse(std::size_t(rank) * rank, 0.);
          for (unsigned int i = 0; i < rank; ++i)
            {
              double *const to = &inverse[std::size_t(i) * rank];
              to[i]            = 1.;
              for (unsigned int k = 0; k < i; ++k)
                add(k + 1,
                    -line(i)[column[k]],
                    &inverse[std::size_t(k) * rank],
                    to);
            }
          for (unsigned int i = rank; i < n; ++i)
            {
              double *const y = &Y[std::size_t(i - rank) * rank];
              std::fill(y, y + rank, 0.);
              for (unsigned int k = 0; k < rank; ++k)
                add(k + 1,
                    line(i)[column[k]],
                    &inverse[std::size_t(k) * rank],
                    y);
            }
        }

        // Moves the weights of all other points to the basis. Whenever a weight
        // of the basis becomes zero, its point leaves, and another point takes
        // its place.
        void
        absorb_others()
        {
          std::vector<double> weight(n);
          for (unsigned int i = 0; i < n; ++i)
            weight[i] = weights[row[i]];
          std::vector<bool> gone(n - rank, false);
          // Weights that the basis gains when all others are absorbed.
          std::vector<double> gain(rank, 0.);
          for (unsigned int i = 0; i < n - rank; ++i)
            add(rank, weight[rank + i], &Y[std::size_t(i) * rank], gain.data());
          for (unsigned int step = 0; step < n - rank; ++step)
            {
              double       fraction = 1.;
              unsigned int leaving  = rank;
              for (unsigned int r = 0; r < rank; ++r)
                if (gain[r] < 0. && weight[r] + fraction * gain[r] < 0.)
                  {
                    fraction = weight[r] / -gain[r];
                    leaving  = r;
                  }
              add(rank, fraction, gain.data(), weight.data());
              if (leaving == rank)
                return;
              weight[leaving] = 0.;
              for (unsigned int i = rank; i < n; ++i)
                weight[i] *= 1. - fraction;
              if (!exchange(leaving, weight, gone, gain))
                return;
            }
        }

        // Replaces a point of the basis by the one whose values have the most
        // negative share of it, which then gains weight.
        bool
        exchange(const unsigned int   leaving,
                 std::vector<double> &weight,
                 std::vector<bool>   &gone,
                 std::vector<double> &gain)
        {
          unsigned int entering = n - rank;
          double       least    = -least_pivot;
          for (unsigned int i = 0; i < n - rank; ++i)
            if (const double share = Y[std::size_t(i) * rank + leaving];
                !gone[i] && share < least)
              {
                least    = share;
                entering = i;
              }
          if (entering == n - rank)
            return false;
          gone[entering] = true;
          std::swap(row[leaving], row[rank + entering]);
          weight[leaving]         = weight[rank + entering];
          weight[rank + entering] = 0.;
          double *const pivot     = &Y[std::size_t(entering) * rank];
          std::fill(gain.begin(), gain.end(), 0.);
          for (unsigned int i = 0; i < n - rank; ++i)
            if (!gone[i])
              {
                double *const y      = &Y[std::size_t(i) * rank];
                const double  factor = y[leaving] / pivot[leaving];
                add(rank, -factor, pivot, y);
                y[leaving] = factor;
                add(rank, weight[rank + i], y, gain.data());
              }
          return true;
        }

        // Solves for the weights of the points, once more for the residual, and
        // checks them.
        bool
        find_weights(const std::vector<double> &moment,
                     std::vector<unsigned int> &point,
                     std::vector<double>       &result)
        {
          double sum = 0.;
          for (const double weight : weights)
            sum += weight;

          std::vector<double> B(std::size_t(rank) * rank);
          for (unsigned int j = 0; j < rank; ++j)
            for (unsigned int i = 0; i < rank; ++i)
              B[std::size_t(j) * rank + i] =
                values[std::size_t(point[i]) * m + column[j]];
          std::vector<unsigned int> order(rank);
          if (!factorise(B, order))
            return false;

          result.assign(rank, 0.);
          std::vector<double> residual = moment, step(rank);
          for (unsigned int round = 0; round < 2; ++round)
            {
              solve(B, order, residual, step);
              for (unsigned int i = 0; i < rank; ++i)
                result[i] += step[i];
              residual = moment;
              for (unsigned int i = 0; i < rank; ++i)
                add(m,
                    -result[i],
                    &values[std::size_t(point[i]) * m],
                    residual.data());
            }
          for (const double r : residual)
            error = std::max(error, std::abs(r) / sum);
          // Points without weight leave the rule.
          unsigned int n_points = 0;
          for (unsigned int i = 0; i < rank; ++i)
            {
              if (result[i] < -least_weight * sum)
                return false;
              if (result[i] > least_weight * sum)
                {
                  point[n_points]    = point[i];
                  result[n_points++] = result[i];
                }
            }
          point.resize(n_points);
          result.resize(n_points);
          return error <= tolerance;
        }

        // LU factorisation of a square matrix with row pivoting.
        bool
        factorise(std::vector<double>       &B,
                  std::vector<unsigned int> &order) const
        {
          std::iota(order.begin(), order.end(), 0u);
          for (unsigned int j = 0; j < rank; ++j)
            {
              unsigned int pivot = j;
              for (unsigned int i = j + 1; i < rank; ++i)
                if (std::abs(B[std::size_t(i) * rank + j]) >
                    std::abs(B[std::size_t(pivot) * rank + j]))
                  pivot = i;
              double *const u = &B[std::size_t(j) * rank];
              if (pivot != j)
                {
                  std::swap_ranges(u, u + rank, &B[std::size_t(pivot) * rank]);
                  std::swap(order[j], order[pivot]);
                }
              if (u[j] == 0.)
                return false;
              for (unsigned int i = j + 1; i < rank; ++i)
                {
                  double *const b      = &B[std::size_t(i) * rank];
                  const double  factor = b[j] / u[j];
                  add(rank - j - 1, -factor, u + j + 1, b + j + 1);
                  b[j] = factor;
                }
            }
          return true;
        }

        void
        solve(const std::vector<double>       &B,
              const std::vector<unsigned int> &order,
              const std::vector<double>       &right,
              std::vector<double>             &x) const
        {
          for (unsigned int i = 0; i < rank; ++i)
            {
              x[i] = right[column[order[i]]];
              for (unsigned int j = 0; j < i; ++j)
                x[i] -= B[std::size_t(i) * rank + j] * x[j];
            }
          for (unsigned int i = rank; i-- > 0;)
            {
              for (unsigned int j = i + 1; j < rank; ++j)
                x[i] -= B[std::size_t(i) * rank + j] * x[j];
              x[i] /= B[std::size_t(i) * rank + i];
            }
        }

        // Pivots and shares below this value are rounding; error of moments at
        // which a rule is rejected; weights below which a point is left out,
        // all relative to values and weights of order one.
        static constexpr double least_pivot = 1e-11, tolerance = 2e-14,
                                least_weight = 1e-16;

        const unsigned int         m, n;
        const std::vector<double> &values, &weights;
        std::vector<double>        A;
        std::vector<unsigned int>  row, column;
        std::vector<double>        Y;
        unsigned int               rank = 0;
      };



      /**
       * Finds a subset of many weighted points that has their moments. While
       * there are many more points than polynomials, neighbouring points are
       * joined to clusters, a subset of the clusters takes over all moments,
       * and the points of the other clusters are dropped. The cost of that is
       * proportional to the number of points.
       */
      template <int dim>
      class Recombination
      {
      public:
        Recombination(BoxPolynomials<dim>       &polynomials,
                      const std::vector<double> &x,
                      const std::vector<double> &weights)
          : polynomials(polynomials)
          , m(polynomials.size())
          , x(x)
          , point(weights.size())
          , weight(weights)
          , value(m)
          , moment(m, 0.)
        {
          std::iota(point.begin(), point.end(), 0u);
          for (unsigned int q = 0; q < point.size(); ++q)
            {
              polynomials.evaluate(&x[std::size_t(q) * dim], value.data());
              add(m, weights[q], value.data(), moment.data());
            }
        }

        /// Returns whether a rule was found: indices of its points, weights.
        bool
        run(std::vector<unsigned int> &new_point,
            std::vector<double>       &new_weight)
        {
          while (point.size() > 4 * m)
            if (!drop_clusters())
              return false;
          std::vector<unsigned int> all(point.size() + 1);
          std::iota(all.begin(), all.end(), 0u);
          std::vector<double> values, weights;
          make_clusters(all, values, weights);
          Reduction                 reduction(m, values, weights);
          std::vector<unsigned int> index;
          if (!reduction.run(moment, index, new_weight))
            return false;
          error = reduction.error;
          new_point.clear();
          for (const unsigned int i : index)
            new_point.push_back(point[i]);
          return true;
        }

        /// Largest error of a moment after run(), relative to the sum of all
        /// weights.
        double error = 0.;

      private:
        // Means of the values over the points first[c] .. first[c+1], and sums
        // of their weights.
        void
        make_clusters(const std::vector<unsigned int> &first,
                      std::vector<double>             &values,
                      std::vector<double>             &weights)
        {
          const unsigned int n = first.size() - 1;
          values.assign(std::size_t(n) * m, 0.);
          weights.assign(n, 0.);
          for (unsigned int c = 0; c < n; ++c)
            {
              double *const mean = &values[std::size_t(c) * m];
              for (unsigned int i = first[c]; i < first[c + 1]; ++i)
                weights[c] += weight[i];
              for (unsigned int i = first[c]; i < first[c + 1]; ++i)
                {
                  polynomials.evaluate(&x[std::size_t(point[i]) * dim],
                                       value.data());
                  add(m, weight[i] / weights[c], value.data(), mean);
                }
            }
        }

        bool
        drop_clusters()
        {
          const unsigned int        n = 3 * m;
          std::vector<unsigned int> first(n + 1);
          for (unsigned int c = 0; c <= n; ++c)
            first[c] = std::size_t(c) * point.size() / n;
          std::vector<double> values, weights, new_weights;
          make_clusters(first, values, weights);
          std::vector<unsigned int> kept;
          if (!Reduction(m, values, weights).run(moment, kept, new_weights))
            return false;
          unsigned int n_points = 0;
          for (unsigned int k = 0; k < kept.size(); ++k)
            {
              const unsigned int c      = kept[k];
              const double       factor = new_weights[k] / weights[c];
              for (unsigned int i = first[c]; i < first[c + 1]; ++i, ++n_points)
                {
                  point[n_points]  = point[i];
                  weight[n_points] = factor * weight[i];
                }
            }
          point.resize(n_points);
          weight.resize(n_points);
          return true;
        }

        BoxPolynomials<dim>       &polynomials;
        const unsigned int         m;
        const std::vector<double> &x;
        // Points that are left, and their weights.
        std::vector<unsigned int> point;
        std::vector<double>       weight, value;
        std::vector<double>       moment;
      };



      // Points of one material of a polytope.
      template <int dim>
      struct PointList
      {
        unsigned int        first_subcell;
        std::vector<double> x, weight;
      };



      // Points of the sub-cells of a polytope by material, in the order in
      // which materials occur.
      template <int dim>
      std::vector<PointList<dim>>
      points_by_material(const PolytopicMesh<dim> &mesh,
                         const unsigned int        k,
                         const unsigned int        order)
      {
        std::vector<PointList<dim>> lists;
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          {
            const auto list =
              std::find_if(lists.begin(), lists.end(), [&](const auto &l) {
                return mesh.subcell_material[l.first_subcell] ==
                       mesh.subcell_material[s];
              });
            const std::size_t position = list - lists.begin();
            if (list == lists.end())
              lists.push_back({s, {}, {}});
            PointList<dim> &to = lists[position];
            for_subcell_points(
              mesh,
              s,
              &subcell_rule<dim>(mesh.subcell_type[s], order, mesh.prismatic),
              [&](const unsigned int, const double(&x)[dim], const double w) {
                to.x.insert(to.x.end(), x, x + dim);
                to.weight.push_back(w);
              });
          }
        return lists;
      }



      // Points of a polytope with their sub-cells, and statistics.
      struct PolytopePoints
      {
        std::vector<unsigned int> subcell, n_points;
        std::vector<double>       points;
        std::size_t               n_full     = 0;
        bool                      compressed = false;
        double                    error      = 0.;
      };



      template <int dim>
      PolytopePoints
      compress_polytope(const PolytopicMesh<dim> &mesh,
                        const unsigned int        k,
                        const unsigned int        order)
      {
        PolytopePoints      result;
        BoxPolynomials<dim> polynomials(order,
                                        &mesh.box[2 * dim * std::size_t(k)]);
        const unsigned int  m = polynomials.size();
        for (const PointList<dim> &list : points_by_material(mesh, k, order))
          {
            const unsigned int        n = list.weight.size();
            std::vector<unsigned int> point;
            std::vector<double>       weight;
            bool                      found = false;
            result.n_full += n;
            // Few points are not worth the time.
            if (2 * n > 3 * m)
              {
                Recombination<dim> recombination(polynomials,
                                                 list.x,
                                                 list.weight);
                found = recombination.run(point, weight);
                if (found)
                  result.error = std::max(result.error, recombination.error);
              }
            if (found)
              result.compressed = true;
            else
              {
                point.resize(n);
                std::iota(point.begin(), point.end(), 0u);
                weight = list.weight;
              }
            result.subcell.push_back(list.first_subcell);
            result.n_points.push_back(point.size());
            for (unsigned int i = 0; i < point.size(); ++i)
              {
                const double *const x = &list.x[point[i] * dim];
                result.points.insert(result.points.end(), x, x + dim);
                result.points.push_back(weight[i]);
              }
          }
        return result;
      }
    } // namespace



    template <int dim>
    CompressedQuadrature<dim>::CompressedQuadrature(
      const PolytopicMesh<dim>        &mesh,
      const PolytopicDoFs             &dofs,
      const std::vector<unsigned int> &order)
    {
      const Timer        timer;
      const unsigned int n = mesh.n_owned_polytopes();
      revision             = new_revision();
      std::vector<PolytopePoints> all(n);
      parallel::apply_to_subranges(
        0u,
        n,
        [&](const unsigned int begin, const unsigned int end) {
          for (unsigned int k = begin; k < end; ++k)
            all[k] = compress_polytope(mesh, k, order[dofs.degree[k]]);
        },
        4);

      offset.assign(mesh.n_subcells() + std::size_t(1), 0);
      for (const PolytopePoints &one : all)
        {
          for (unsigned int i = 0; i < one.subcell.size(); ++i)
            offset[one.subcell[i] + 1] = one.n_points[i];
          report.n_full_points += one.n_full;
          report.n_points += one.points.size() / (dim + 1);
          ++(one.compressed ? report.n_compressed : report.n_full);
          report.largest_error = std::max(report.largest_error, one.error);
        }
      AssertThrow(report.n_points <= std::numeric_limits<unsigned int>::max(),
                  ExcMessage("The compressed quadrature has more than 2^32 "
                             "points: do without compression."));
      std::partial_sum(offset.begin(), offset.end(), offset.begin());
      points.reserve((dim + 1) * report.n_points);
      for (const PolytopePoints &one : all)
        points.insert(points.end(), one.points.begin(), one.points.end());
      report.time = timer.wall_time();
    }



    template struct CompressedQuadrature<2>;
    template struct CompressedQuadrature<3>;
  } // namespace internal
} // namespace Tessella
