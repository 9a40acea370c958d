// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/parallel.h>
#include <deal.II/base/quadrature_lib.h>

#include <deal.II/grid/tria.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "../base/collective.h"
#include "../base/vector_types.h"
#include "collective_ranges.h"
#include "form_arrays.h"
#include "polytope_evaluation.h"
#include "polytope_projection.h"

namespace Tessella
{
  namespace VectorTools
  {
    namespace
    {
      using namespace internal;
      using dealii::Function;
      using dealii::Point;
      using dealii::Tensor;
      using dealii::VectorTools::NormType;

      template <int dim>
      void
      check_handler(const AgglomerationHandler<dim> &handler)
      {
        AssertThrow(handler.polytopic_mesh().dof_offset.size() ==
                        handler.polytopic_mesh().n_polytopes() + 1 &&
                      handler.n_dofs() > 0,
                    dealii::ExcMessage(
                      "The agglomeration handler has no degrees of freedom "
                      "yet; call agglomerate() and distribute_dofs() first."));
      }

      template <int dim>
      void
      check_function(const AgglomerationHandler<dim> &handler,
                     const Function<dim>             &function)
      {
        AssertThrow(
          function.n_components == handler.n_components(),
          dealii::ExcMessage(
            "The function has " + std::to_string(function.n_components) +
            " components, but the finite element has " +
            std::to_string(handler.n_components()) + "; they must be equal."));
      }

      /// Entries of @p vector for the degrees of freedom that this process
      /// owns. If a vector does not fit on one process, an exception is thrown
      /// on all processes.
      template <int dim, typename VectorType>
      auto
      own_values(const AgglomerationHandler<dim> &handler, VectorType &vector)
      {
        decltype(vector_data(vector, 0)) result = nullptr;
        on_all_processes(handler.get_communicator(), [&]() {
          result = vector_data(vector, handler.n_locally_owned_dofs());
        });
        return result;
      }

      /// Checks the norm and the exponent. @p who is the name of the calling
      /// function.
      void
      check_norm(const std::string &who,
                 const NormType     norm,
                 const double       exponent)
      {
        AssertThrow(norm == NormType::mean || norm == NormType::L1_norm ||
                      norm == NormType::L2_norm || norm == NormType::Lp_norm ||
                      norm == NormType::Linfty_norm ||
                      norm == NormType::H1_seminorm ||
                      norm == NormType::H1_norm,
                    dealii::ExcMessage(
                      who +
                      " knows mean, L1_norm, L2_norm, Lp_norm, Linfty_norm, "
                      "H1_seminorm and H1_norm; use one of these."));
        AssertThrow(norm != NormType::Lp_norm ||
                      (exponent >= 1. && std::isfinite(exponent)),
                    dealii::ExcMessage(
                      who +
                      " needs an exponent from 1 on for Lp_norm, but it "
                      "is " +
                      std::to_string(exponent) + "."));
      }

      template <int dim>
      void
      copy_points(const QuadratureBatch<dim> &batch,
                  std::vector<Point<dim>>    &points)
      {
        points.resize(batch.size());
        for (unsigned int q = 0; q < points.size(); ++q)
          for (int d = 0; d < dim; ++d)
            points[q][d] = batch.x[d][q];
      }

      /// Evaluates a Function at many points for all components.
      template <int dim>
      class FunctionBatch
      {
      public:
        explicit FunctionBatch(const Function<dim> &function)
          : function(function)
          , n_components(function.n_components)
        {}

        /// Computes values[c * n + q] for component c and point q.
        void
        values(const std::vector<Point<dim>> &points,
               std::vector<double>           &values)
        {
          const std::size_t n = points.size();
          values.resize(n * n_components);
          if (n_components == 1)
            function.value_list(points, values);
          else
            {
              vector_values.resize(n, dealii::Vector<double>(n_components));
              function.vector_value_list(points, vector_values);
              for (unsigned int c = 0; c < n_components; ++c)
                for (std::size_t q = 0; q < n; ++q)
                  values[c * n + q] = vector_values[q][c];
            }
        }

        /// Computes gradients[c * n + q] for component c and point q.
        void
        gradients(const std::vector<Point<dim>> &points,
                  std::vector<Tensor<1, dim>>   &gradients)
        {
          const std::size_t n = points.size();
          gradients.resize(n * n_components);
          if (n_components == 1)
            function.gradient_list(points, gradients);
          else
            {
              vector_gradients.resize(
                n, std::vector<Tensor<1, dim>>(n_components));
              function.vector_gradient_list(points, vector_gradients);
              for (unsigned int c = 0; c < n_components; ++c)
                for (std::size_t q = 0; q < n; ++q)
                  gradients[c * n + q] = vector_gradients[q][c];
            }
        }

      private:
        const Function<dim>                     &function;
        const unsigned int                       n_components;
        std::vector<dealii::Vector<double>>      vector_values;
        std::vector<std::vector<Tensor<1, dim>>> vector_gradients;
      };

      template <int dim>
      void
      check_finite(const std::vector<double>     &values,
                   const std::vector<Point<dim>> &points)
      {
        for (std::size_t i = 0; i < values.size(); ++i)
          if (!std::isfinite(values[i]))
            {
              std::string where;
              for (int d = 0; d < dim; ++d)
                where += (d > 0 ? ", " : "") +
                         std::to_string(points[i % points.size()][d]);
              AssertThrow(false,
                          ExcUserInput(
                            "The function is not finite at the point (" +
                            where +
                            "); functions must have finite values in the "
                            "bounding box of every polytope they are "
                            "interpolated on, and in the domain otherwise."));
            }
      }

      /**
       * Tree of bounding boxes of sub-cells that finds the sub-cell in which a
       * point lies. The set-up costs O(n log n), a query O(log n) and some
       * inverse maps.
       */
      template <int dim>
      class SubCellTree
      {
      public:
        explicit SubCellTree(const AgglomerationHandler<dim> &handler)
          : handler(handler)
          , mesh(handler.polytopic_mesh())
        {
          // Sub-cells of owned polytopes come first.
          const unsigned int n = mesh.subcell_offset[mesh.n_owned_polytopes()];
          boxes.resize(n);
          indices.resize(n);
          for (unsigned int s = 0; s < n; ++s)
            {
              indices[s] = s;
              Box &box   = boxes[s];
              for (unsigned int v = mesh.subcell_vertex_offset[s];
                   v < mesh.subcell_vertex_offset[s + 1];
                   ++v)
                box.add(&mesh.subcell_vertices[std::size_t(v) * dim]);
              // A curved cell may extend beyond its corners. Points on the
              // surface of other cells may be off by rounding.
              double extent = 0.;
              for (int d = 0; d < dim; ++d)
                extent = std::max(extent, box.upper[d] - box.lower[d]);
              box.grow(mesh.subcell_type[s] == SubCellType::tabulated
                         ? .5 * extent
                         : 2. * tolerance * extent);
            }
          if (n > 0)
            {
              nodes.reserve(2 * (n / leaf_size + 1));
              build(0, n);
            }
        }

        /// Sub-cell with the lowest index that contains @p point, or
        /// invalid_index.
        unsigned int
        find(const Point<dim> &point) const
        {
          unsigned int result = invalid_index;
          if (!nodes.empty())
            find(0, point, result);
          return result;
        }

      private:
        /// Distance, in reference coordinates, up to which a point outside
        /// still belongs to a sub-cell.
        static constexpr double       tolerance = 1e-8;
        static constexpr unsigned int leaf_size = 8;

        struct Box
        {
          double lower[dim], upper[dim];
          Box()
          {
            std::fill(lower, lower + dim, std::numeric_limits<double>::max());
            std::fill(upper,
                      upper + dim,
                      std::numeric_limits<double>::lowest());
          }
          void
          add(const double *x)
          {
            for (int d = 0; d < dim; ++d)
              {
                lower[d] = std::min(lower[d], x[d]);
                upper[d] = std::max(upper[d], x[d]);
              }
          }
          void
          grow(const double amount)
          {
            for (int d = 0; d < dim; ++d)
              {
                lower[d] -= amount;
                upper[d] += amount;
              }
          }
          bool
          contains(const Point<dim> &x) const
          {
            for (int d = 0; d < dim; ++d)
              if (!(x[d] >= lower[d] && x[d] <= upper[d]))
                return false;
            return true;
          }
        };

        struct Node
        {
          Box          box;
          unsigned int begin, end; ///< range of indices of a leaf
          unsigned int right = 0;  ///< second child; the first is next
        };

        unsigned int
        build(const unsigned int begin, const unsigned int end)
        {
          const unsigned int me = nodes.size();
          nodes.emplace_back();
          Box box, centers;
          for (unsigned int i = begin; i < end; ++i)
            {
              const Box &b = boxes[indices[i]];
              box.add(b.lower);
              box.add(b.upper);
              double center[dim];
              for (int d = 0; d < dim; ++d)
                center[d] = b.lower[d] + b.upper[d];
              centers.add(center);
            }
          nodes[me].box   = box;
          nodes[me].begin = begin;
          nodes[me].end   = end;
          if (end - begin > leaf_size)
            {
              int axis = 0;
              for (int d = 1; d < dim; ++d)
                if (centers.upper[d] - centers.lower[d] >
                    centers.upper[axis] - centers.lower[axis])
                  axis = d;
              const unsigned int middle = (begin + end) / 2;
              std::nth_element(indices.begin() + begin,
                               indices.begin() + middle,
                               indices.begin() + end,
                               [&](const unsigned int a, const unsigned int b) {
                                 const double x = boxes[a].lower[axis] +
                                                  boxes[a].upper[axis],
                                              y = boxes[b].lower[axis] +
                                                  boxes[b].upper[axis];
                                 return x < y || (x == y && a < b);
                               });
              build(begin, middle);
              const unsigned int right = build(middle, end);
              nodes[me].right          = right;
            }
          return me;
        }

        void
        find(const unsigned int node,
             const Point<dim>  &point,
             unsigned int      &result) const
        {
          const Node &n = nodes[node];
          if (!n.box.contains(point))
            return;
          if (n.right != 0)
            {
              find(node + 1, point, result);
              find(n.right, point, result);
            }
          else
            for (unsigned int i = n.begin; i < n.end; ++i)
              if (indices[i] < result && boxes[indices[i]].contains(point) &&
                  inside(indices[i], point))
                result = indices[i];
        }

        bool
        inside(const unsigned int s, const Point<dim> &point) const
        {
          const double *const v =
            &mesh.subcell_vertices[std::size_t(mesh.subcell_vertex_offset[s]) *
                                   dim];
          const SubCellType type = mesh.subcell_type[s];
          if (type == SubCellType::tabulated)
            {
              const auto cell = handler.active_cell(mesh.subcell_cell[s]);
              try
                {
                  const Point<dim> unit =
                    handler.get_mapping().transform_real_to_unit_cell(cell,
                                                                      point);
                  return cell->reference_cell().contains_point(unit, tolerance);
                }
              catch (
                const typename dealii::Mapping<dim>::ExcTransformationFailed &)
                {
                  // Mappings throw this exception for points far outside.
                  return false;
                }
            }
          if (type == SubCellType::simplex ||
              type == SubCellType::parallelepiped)
            {
              const bool simplex = (type == SubCellType::simplex);
              double     j[dim][dim], r[dim];
              for (int k = 0; k < dim; ++k)
                for (int d = 0; d < dim; ++d)
                  j[k][d] = v[(simplex ? k + 1 : (1 << k)) * dim + d] - v[d];
              for (int d = 0; d < dim; ++d)
                r[d] = point[d] - v[d];
              double xi[dim], sum = 0.;
              if (!solve(j, r, xi))
                return false;
              for (int d = 0; d < dim; ++d)
                {
                  if (!(xi[d] >= -tolerance &&
                        xi[d] <= 1. + (simplex ? dim : 1) * tolerance))
                    return false;
                  sum += xi[d];
                }
              return !simplex || sum <= 1. + dim * tolerance;
            }
          return inside_multilinear(v, point);
        }

        /// Solves J^T x = r, where row k of J is the derivative in direction k.
        static bool
        solve(const double (&j)[dim][dim], const double *r, double *xi)
        {
          const double det = Geometry::determinant(j);
          if (det == 0.)
            return false;
          for (int k = 0; k < dim; ++k)
            {
              double m[dim][dim];
              for (int a = 0; a < dim; ++a)
                for (int d = 0; d < dim; ++d)
                  m[a][d] = (a == k) ? r[d] : j[a][d];
              xi[k] = Geometry::determinant(m) / det;
            }
          return true;
        }

        static bool
        inside_multilinear(const double *v, const Point<dim> &point)
        {
          const Geometry::MultilinearMap<dim, dim> map(v);
          // Newton's method starts at the centre. In strongly distorted cells
          // it may leave the range of the map; it then starts again near each
          // corner.
          for (int start = 0; start <= (1 << dim); ++start)
            {
              double xi[dim];
              for (int d = 0; d < dim; ++d)
                xi[d] =
                  (start == 0) ? .5 : ((((start - 1) >> d) & 1) ? .9 : .1);
              bool converged = false;
              for (unsigned int i = 0; i < 25 && !converged; ++i)
                {
                  double x[dim], j[dim][dim], r[dim], step[dim], length = 0.,
                                                                 size = 0.;
                  map.evaluate(xi, x, j);
                  for (int d = 0; d < dim; ++d)
                    r[d] = point[d] - x[d];
                  if (!solve(j, r, step))
                    break;
                  for (int d = 0; d < dim; ++d)
                    {
                      xi[d] += step[d];
                      length = std::max(length, std::abs(step[d]));
                      size   = std::max(size, std::abs(xi[d]));
                    }
                  if (!(size < 1e3))
                    break;
                  converged = (length < .1 * tolerance);
                }
              if (converged)
                {
                  bool in = true;
                  for (int d = 0; d < dim; ++d)
                    in = in && xi[d] >= -tolerance && xi[d] <= 1. + tolerance;
                  if (in)
                    return true;
                  // The map of a convex cell is one-to-one near the cell: if
                  // the first solution lies outside but near, it is the only
                  // one.
                  if (start == 0)
                    {
                      double distance = 0.;
                      for (int d = 0; d < dim; ++d)
                        distance = std::max(distance, std::abs(xi[d] - .5));
                      if (distance < 1.)
                        return false;
                    }
                }
            }
          return false;
        }

        const AgglomerationHandler<dim> &handler;
        const PolytopicMesh<dim>        &mesh;
        std::vector<Box>                 boxes;
        std::vector<unsigned int>        indices;
        std::vector<Node>                nodes;
      };

      /// Errors at the points of one batch.
      template <int dim>
      struct ErrorBatch
      {
        ErrorBatch(const PolytopeEvaluator<dim> &evaluator,
                   const Function<dim>          &exact)
          : evaluator(evaluator)
          , exact(exact)
          , n_components(exact.n_components)
        {}

        /// Computes value[c * n + q] and gradient[d][c * n + q], the discrete
        /// function minus the exact one, at the points of @p batch in @p
        /// polytope.
        void
        compute(const QuadratureBatch<dim> &batch,
                const unsigned int          polytope,
                const double               *u,
                const unsigned int          n_basis,
                const bool                  with_values,
                const bool                  with_gradients)
        {
          const unsigned int n = batch.size();
          copy_points(batch, points);
          value.resize(n * n_components);
          if (with_gradients)
            for (int d = 0; d < dim; ++d)
              gradient[d].resize(n * n_components);
          for (unsigned int c = 0; c < n_components; ++c)
            {
              std::array<double *, dim> g;
              for (int d = 0; d < dim; ++d)
                g[d] = with_gradients ? gradient[d].data() + c * n : nullptr;
              evaluator.evaluate(polytope,
                                 u + c * n_basis,
                                 n,
                                 batch.pointers(),
                                 value.data() + c * n,
                                 with_gradients ? &g : nullptr);
            }
          if (with_values)
            {
              exact.values(points, exact_values);
              for (std::size_t i = 0; i < value.size(); ++i)
                value[i] -= exact_values[i];
            }
          if (with_gradients)
            {
              exact.gradients(points, exact_gradients);
              for (int d = 0; d < dim; ++d)
                for (std::size_t i = 0; i < value.size(); ++i)
                  gradient[d][i] -= exact_gradients[i][d];
            }
        }

        const PolytopeEvaluator<dim>        &evaluator;
        FunctionBatch<dim>                   exact;
        const unsigned int                   n_components;
        std::vector<double>                  value;
        std::array<std::vector<double>, dim> gradient;
        std::vector<Point<dim>>              points;
        std::vector<double>                  exact_values;
        std::vector<Tensor<1, dim>>          exact_gradients;
      };
    } // namespace



    template <int dim, typename VectorType>
    void
    interpolate(const AgglomerationHandler<dim> &handler,
                const Function<dim>             &function,
                VectorType                      &vector)
    {
      check_handler(handler);
      check_function(handler, function);
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopeEvaluator<dim> evaluator(handler);
      double *const                u            = own_values(handler, vector);
      const unsigned int           n_components = handler.n_components();

      internal::apply_to_ranges(
        handler.get_communicator(),
        mesh.n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          FunctionBatch<dim>      batch(function);
          RuleCache<dim>          rules;
          std::vector<Point<dim>> points;
          std::vector<double>     values, phi;
          for (unsigned int k = begin; k < end; ++k)
            {
              const unsigned int  n   = mesh.n_basis[k];
              const double *const box = &mesh.box[std::size_t(k) * 2 * dim];
              // The box is a parallelepiped.
              const ReferenceRule &rule =
                *rules.subcell(SubCellType::parallelepiped,
                               2 * mesh.degree[k] + 1);
              points.resize(rule.n_points);
              double volume = 1.;
              for (int d = 0; d < dim; ++d)
                {
                  volume *= box[dim + d] - box[d];
                  for (unsigned int q = 0; q < rule.n_points; ++q)
                    points[q][d] =
                      box[d] + (box[dim + d] - box[d]) *
                                 rule.points[d * rule.n_points + q];
                }
              batch.values(points, values);
              check_finite(values, points);
              phi.resize(n);
              double *const u_k = u + mesh.dof_offset[k];
              std::fill(u_k, u_k + n * n_components, 0.);
              for (unsigned int q = 0; q < rule.n_points; ++q)
                {
                  evaluator.basis(k, &points[q][0], phi.data());
                  for (unsigned int c = 0; c < n_components; ++c)
                    {
                      const double f = values[c * rule.n_points + q] *
                                       rule.weights[q] * volume;
                      for (unsigned int i = 0; i < n; ++i)
                        u_k[c * n + i] += f * phi[i];
                    }
                }
            }
        },
        64);
    }



    template <int dim, typename VectorType>
    void
    project(const AgglomerationHandler<dim> &handler,
            const Function<dim>             &function,
            VectorType                      &vector,
            const unsigned int               extra_order)
    {
      check_handler(handler);
      check_function(handler, function);
      handler.tabulate(extra_order);
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopeEvaluator<dim> evaluator(handler);
      double *const                u            = own_values(handler, vector);
      const unsigned int           n_components = handler.n_components();

      internal::apply_to_ranges(
        handler.get_communicator(),
        mesh.n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          FunctionBatch<dim>      f(function);
          PolytopeProjection<dim> projection(mesh, evaluator, n_components);
          std::vector<Point<dim>> points;
          for (unsigned int k = begin; k < end; ++k)
            projection.compute(
              k,
              2 * mesh.degree[k] + extra_order,
              [&](const QuadratureBatch<dim> &batch,
                  std::vector<double>        &values) {
                copy_points(batch, points);
                f.values(points, values);
                check_finite(values, points);
              },
              u + mesh.dof_offset[k]);
        },
        16);
    }



    namespace
    {
      /// Throws if the processes pass different points, since they would
      /// receive each other's values.
      template <int dim>
      void
      check_same_points(const MPI_Comm                 communicator,
                        const std::vector<Point<dim>> &points)
      {
        std::uint64_t number = points.size();
        for (const Point<dim> &x : points)
          for (int d = 0; d < dim; ++d)
            {
              std::uint64_t bits;
              std::memcpy(&bits, &x[d], sizeof(bits));
              number = (number ^ bits) * 1099511628211ull;
              number ^= number >> 32;
            }
        AssertThrow(dealii::Utilities::MPI::min(number, communicator) ==
                      dealii::Utilities::MPI::max(number, communicator),
                    ExcUserInput(
                      "The processes ask for values at different points: "
                      "point_value() and point_values() need the same points, "
                      "all of them, on every process."));
      }

      /// Sends the values at points that this process has to all processes. If
      /// several processes have a point, the value of the lowest rank is used.
      /// The entries of @p missing become zero for points that some process
      /// has.
      void
      share_point_values(const MPI_Comm                       communicator,
                         const unsigned int                   n_components,
                         std::vector<unsigned char>          &missing,
                         std::vector<dealii::Vector<double>> &values)
      {
        const unsigned int n  = internal::n_processes(communicator),
                           me = internal::this_process(communicator);
        std::vector<unsigned int> owner(missing.size());
        for (std::size_t q = 0; q < missing.size(); ++q)
          owner[q] = missing[q] != 0 ? n : me;
        dealii::Utilities::MPI::min(owner, communicator, owner);
        std::vector<double> all(missing.size() * n_components, 0.);
        for (std::size_t q = 0; q < missing.size(); ++q)
          if (owner[q] == me)
            for (unsigned int c = 0; c < n_components; ++c)
              all[q * n_components + c] = values[q][c];
        dealii::Utilities::MPI::sum(all, communicator, all);
        for (std::size_t q = 0; q < missing.size(); ++q)
          {
            missing[q] = owner[q] == n ? 1 : 0;
            values[q].reinit(n_components);
            for (unsigned int c = 0; c < n_components; ++c)
              values[q][c] = all[q * n_components + c];
          }
      }
    } // namespace



    template <int dim, typename VectorType>
    void
    point_values(const AgglomerationHandler<dim>     &handler,
                 const VectorType                    &vector,
                 const std::vector<Point<dim>>       &points,
                 std::vector<dealii::Vector<double>> &values)
    {
      check_handler(handler);
      if (internal::n_processes(handler.get_communicator()) > 1)
        check_same_points(handler.get_communicator(), points);
      const double *const          u    = own_values(handler, vector);
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopeEvaluator<dim> evaluator(handler);
      const SubCellTree<dim>       tree(handler);
      const unsigned int           n_components = handler.n_components();
      values.resize(points.size());

      // subcell_offset is sorted, so that bisection finds the polytope of a
      // sub-cell.
      auto polytope_of = [&](const unsigned int s) {
        return static_cast<unsigned int>(
          std::upper_bound(mesh.subcell_offset.begin(),
                           mesh.subcell_offset.end(),
                           s) -
          mesh.subcell_offset.begin() - 1);
      };

      std::vector<unsigned char> missing(points.size(), 0);
      dealii::parallel::apply_to_subranges(
        std::size_t(0),
        points.size(),
        [&](const std::size_t begin, const std::size_t end) {
          for (std::size_t q = begin; q < end; ++q)
            {
              const unsigned int s = tree.find(points[q]);
              if (s == invalid_index)
                {
                  missing[q] = 1;
                  continue;
                }
              const unsigned int              k = polytope_of(s);
              std::array<const double *, dim> x;
              for (int d = 0; d < dim; ++d)
                x[d] = &points[q][d];
              values[q].reinit(n_components);
              for (unsigned int c = 0; c < n_components; ++c)
                evaluator.evaluate(k,
                                   u + mesh.dof_offset[k] +
                                     std::size_t(c) * mesh.n_basis[k],
                                   1,
                                   x,
                                   &values[q][c],
                                   nullptr);
            }
        },
        64);
      if (internal::n_processes(handler.get_communicator()) > 1)
        share_point_values(handler.get_communicator(),
                           n_components,
                           missing,
                           values);
      for (std::size_t q = 0; q < points.size(); ++q)
        if (missing[q] != 0)
          {
            std::string text;
            for (int d = 0; d < dim; ++d)
              text += (d > 0 ? ", " : "") + std::to_string(points[q][d]);
            AssertThrow(false, ExcPointNotInside(text));
          }
    }



    template <int dim, typename VectorType>
    void
    point_value(const AgglomerationHandler<dim> &handler,
                const VectorType                &vector,
                const Point<dim>                &point,
                dealii::Vector<double>          &value)
    {
      std::vector<dealii::Vector<double>> values(1);
      point_values(handler, vector, std::vector<Point<dim>>(1, point), values);
      value = values[0];
    }



    template <int dim, typename VectorType>
    void
    integrate_difference(const AgglomerationHandler<dim> &handler,
                         const VectorType                &solution,
                         const Function<dim>             &exact,
                         dealii::Vector<float>           &difference,
                         const NormType                   norm,
                         const unsigned int               extra_order,
                         const double                     exponent)
    {
      check_norm("integrate_difference()", norm, exponent);
      const bool gradients =
        (norm == NormType::H1_seminorm || norm == NormType::H1_norm);
      check_handler(handler);
      check_function(handler, exact);
      handler.tabulate(extra_order);
      const double *const          u    = own_values(handler, solution);
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopeEvaluator<dim> evaluator(handler);
      const unsigned int           n_components = handler.n_components();

      const std::vector<WorkItem> items = work_items(mesh, 64);
      std::vector<double>         partial(items.size());
      internal::apply_to_ranges(
        handler.get_communicator(),
        items.size(),
        [&](const std::size_t begin, const std::size_t end) {
          QuadratureBatch<dim> batch;
          ErrorBatch<dim>      error(evaluator, exact);
          for (std::size_t item = begin; item < end; ++item)
            {
              const unsigned int k = items[item].polytope;
              const unsigned int order =
                std::max(2 * mesh.degree[k] + extra_order, 1U);
              double sum = 0.;
              for (unsigned int s = items[item].begin; s < items[item].end;)
                {
                  batch.clear();
                  for (; s < items[item].end && batch.size() < batch_size; ++s)
                    batch.add_subcell(mesh, s, order);
                  error.compute(batch,
                                k,
                                u + mesh.dof_offset[k],
                                mesh.n_basis[k],
                                norm != NormType::H1_seminorm,
                                gradients);
                  const unsigned int n = batch.size();
                  if (norm == NormType::Lp_norm)
                    {
                      // The norm contains powers of the Euclidean length of the
                      // vector.
                      for (unsigned int q = 0; q < n; ++q)
                        {
                          double square = 0.;
                          for (unsigned int c = 0; c < n_components; ++c)
                            square += error.value[std::size_t(c) * n + q] *
                                      error.value[std::size_t(c) * n + q];
                          sum +=
                            batch.weight[q] * std::pow(square, .5 * exponent);
                        }
                      continue;
                    }
                  for (unsigned int c = 0; c < n_components; ++c)
                    for (unsigned int q = 0; q < n; ++q)
                      {
                        const double      w = batch.weight[q];
                        const std::size_t i = std::size_t(c) * n + q;
                        const double      e = error.value[i];
                        switch (norm)
                          {
                            case NormType::mean:
                              sum -= w * e;
                              break;
                            case NormType::L1_norm:
                              sum += w * std::abs(e);
                              break;
                            case NormType::Linfty_norm:
                              sum = std::max(sum, std::abs(e));
                              break;
                            default:
                              if (norm != NormType::H1_seminorm)
                                sum += w * e * e;
                              if (gradients)
                                for (int d = 0; d < dim; ++d)
                                  sum += w * error.gradient[d][i] *
                                         error.gradient[d][i];
                          }
                      }
                }
              partial[item] = sum;
            }
        },
        8);

      std::vector<double> total(mesh.n_owned_polytopes(), 0.);
      for (std::size_t item = 0; item < items.size(); ++item)
        {
          double &t = total[items[item].polytope];
          t         = norm == NormType::Linfty_norm ? std::max(t, partial[item])
                                                    : t + partial[item];
        }
      const bool root = (gradients || norm == NormType::L2_norm);
      difference.reinit(mesh.n_owned_polytopes(), true);
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        difference[k] = static_cast<float>(root ? std::sqrt(total[k])
                                           : norm == NormType::Lp_norm
                                             ? std::pow(total[k], 1. / exponent)
                                             : total[k]);
    }



    template <int dim>
    double
    compute_global_error(const AgglomerationHandler<dim> &handler,
                         const dealii::Vector<float>     &cellwise_error,
                         const NormType                   norm,
                         const double                     exponent)
    {
      check_norm("compute_global_error()", norm, exponent);
      const MPI_Comm communicator = handler.get_communicator();
      on_all_processes(communicator, [&]() {
        AssertThrow(cellwise_error.size() == handler.n_polytopes(),
                    ExcUserInput(
                      "compute_global_error() was given " +
                      std::to_string(cellwise_error.size()) +
                      " numbers, but this process has " +
                      std::to_string(handler.n_polytopes()) +
                      " polytopes: give the vector that "
                      "integrate_difference() filled for this handler."));
      });
      double sum = 0.;
      for (const float d : cellwise_error)
        {
          const double e = d;
          switch (norm)
            {
              case NormType::mean:
              case NormType::L1_norm:
                sum += e;
                break;
              case NormType::Linfty_norm:
                sum = std::max(sum, e);
                break;
              case NormType::Lp_norm:
                sum += std::pow(e, exponent);
                break;
              default: // L2_norm, H1_seminorm, H1_norm
                sum += e * e;
            }
        }
      if (internal::n_processes(communicator) > 1)
        sum = norm == NormType::Linfty_norm
                ? dealii::Utilities::MPI::max(sum, communicator)
                : dealii::Utilities::MPI::sum(sum, communicator);
      if (norm == NormType::Lp_norm)
        return std::pow(sum, 1. / exponent);
      return (norm == NormType::L2_norm || norm == NormType::H1_seminorm ||
              norm == NormType::H1_norm)
               ? std::sqrt(sum)
               : sum;
    }



    namespace
    {
      /// Squares of the norms, summed per work item.
      struct Squares
      {
        double L2 = 0., H1 = 0., energy = 0.;
      };

      /// Volume terms of compute_errors() on one batch of whole sub-cells.
      template <int dim>
      class VolumeErrors
      {
      public:
        VolumeErrors(const PolytopicMesh<dim>     &mesh,
                     const Form<dim>              &form,
                     const PolytopeEvaluator<dim> &evaluator,
                     const Function<dim>          &exact)
          : mesh(mesh)
          , form(form)
          , structure(form.volume_structure())
          , arrays(structure)
          , error(evaluator, exact)
        {}

        void
        add(const QuadratureBatch<dim> &batch,
            const unsigned int          k,
            const double               *u,
            Squares                    &sum)
        {
          const unsigned int n = batch.size();
          error.compute(batch, k, u, mesh.n_basis[k], true, true);
          material.resize(n);
          for (unsigned int q = 0; q < n; ++q)
            material[q] = mesh.subcell_material[batch.entity[q]];
          PointBatch<dim> points;
          points.n_points = n;
          for (int d = 0; d < dim; ++d)
            points.x[d] = batch.x[d].data();
          points.subcell  = batch.entity.data();
          points.material = material.data();
          arrays.reinit(n);
          const VolumeBlocks<dim> &blocks = arrays.blocks;
          if (structure.b || structure.beta || structure.c ||
              structure.diffusion != DiffusionType::none)
            {
              VolumeBlocks<dim> wanted = arrays.blocks;
              wanted.f                 = nullptr;
              form.evaluate_volume(points, wanted);
            }

          reaction.assign(n, 0.);
          if (structure.c)
            std::copy(blocks.c, blocks.c + n, reaction.begin());
          if (structure.b || structure.beta)
            subtract_half_divergence(batch);

          for (unsigned int q = 0; q < n; ++q)
            {
              const double w = batch.weight[q], e = error.value[q];
              double       g_g = 0., g_a_g = 0.;
              for (int d = 0; d < dim; ++d)
                g_g += error.gradient[d][q] * error.gradient[d][q];
              if (structure.diffusion == DiffusionType::isotropic)
                g_a_g = blocks.a[0][q] * g_g;
              else if (structure.diffusion == DiffusionType::tensor)
                for (int i = 0; i < dim; ++i)
                  for (int j = 0; j < dim; ++j)
                    g_a_g += error.gradient[i][q] * blocks.a[i * dim + j][q] *
                             error.gradient[j][q];
              sum.L2 += w * e * e;
              sum.H1 += w * g_g;
              sum.energy +=
                w * (std::max(g_a_g, 0.) + std::max(reaction[q], 0.) * e * e);
            }
        }

      private:
        /// Subtracts half of the divergence of b + beta, which is computed by a
        /// least-squares linear fit on each sub-cell.
        void
        subtract_half_divergence(const QuadratureBatch<dim> &batch)
        {
          const unsigned int n = batch.size();
          for (unsigned int begin = 0, end = 0; begin < n; begin = end)
            {
              while (end < n && batch.entity[end] == batch.entity[begin])
                ++end;
              double sum = 0., mean_x[dim] = {}, mean_b[dim] = {};
              auto   field = [&](const int d, const unsigned int q) {
                return (structure.b ? arrays.blocks.b[d][q] : 0.) +
                       (structure.beta ? arrays.blocks.beta[d][q] : 0.);
              };
              for (unsigned int q = begin; q < end; ++q)
                {
                  const double w = batch.weight[q];
                  sum += w;
                  for (int d = 0; d < dim; ++d)
                    {
                      mean_x[d] += w * batch.x[d][q];
                      mean_b[d] += w * field(d, q);
                    }
                }
              for (int d = 0; d < dim; ++d)
                {
                  mean_x[d] /= sum;
                  mean_b[d] /= sum;
                }
              // With C_ij = int x_i x_j and G_ij = int x_i b_j, the divergence
              // is trace(C^{-1} G).
              double c[dim][dim] = {}, g[dim][dim] = {};
              for (unsigned int q = begin; q < end; ++q)
                for (int i = 0; i < dim; ++i)
                  {
                    const double x =
                      batch.weight[q] * (batch.x[i][q] - mean_x[i]);
                    for (int j = 0; j < dim; ++j)
                      {
                        c[i][j] += x * (batch.x[j][q] - mean_x[j]);
                        g[i][j] += x * (field(j, q) - mean_b[j]);
                      }
                  }
              const double det        = Geometry::determinant(c);
              double       divergence = 0.;
              if (det > 0.)
                for (int j = 0; j < dim; ++j)
                  {
                    // Component j of C^{-1} applied to column j of G.
                    double m[dim][dim];
                    for (int i = 0; i < dim; ++i)
                      for (int l = 0; l < dim; ++l)
                        m[i][l] = (l == j) ? g[i][j] : c[i][l];
                    divergence += Geometry::determinant(m) / det;
                  }
              for (unsigned int q = begin; q < end; ++q)
                reaction[q] -= .5 * divergence;
            }
        }

        const PolytopicMesh<dim> &mesh;
        const Form<dim>          &form;
        const VolumeStructure     structure;
        VolumeArrays<dim>         arrays;
        ErrorBatch<dim>           error;
        std::vector<unsigned int> material;
        std::vector<double>       reaction;
      };

      /// Facet terms of compute_errors() for several interfaces at once, all of
      /// them interior or all with the same boundary id.
      template <int dim>
      class FacetErrors
      {
      public:
        FacetErrors(const PolytopicMesh<dim>     &mesh,
                    const Form<dim>              &form,
                    const std::vector<double>    &sigma,
                    const PolytopeEvaluator<dim> &evaluator,
                    const Function<dim>          &exact,
                    const double                 *u,
                    const unsigned int            extra_order)
          : mesh(mesh)
          , form(form)
          , sigma(sigma)
          , evaluator(evaluator)
          , exact(exact)
          , u(u)
          , extra_order(extra_order)
          , structure(form.volume_structure())
          , volume_arrays(structure)
          , facet_arrays{FacetArrays<dim>(form.facet_structure()),
                         FacetArrays<dim>(form.facet_structure())}
        {}

        /// Returns the terms of interfaces [begin, end).
        double
        compute(const unsigned int begin, const unsigned int end)
        {
          double             sum     = 0.;
          const unsigned int n_owned = mesh.n_owned_polytopes();
          for (unsigned int i = begin; i < end;)
            {
              // The owner of side 0 counts the jump.
              if (mesh.interface_polytope[2 * i] >= n_owned)
                {
                  ++i;
                  continue;
                }
              // A batch contains as many interfaces of the same kind as fit
              // into it.
              const unsigned int id = mesh.interface_boundary_id[i];
              batch.clear();
              ranges.clear();
              for (; i < end && mesh.interface_boundary_id[i] == id &&
                     mesh.interface_polytope[2 * i] < n_owned &&
                     batch.size() < batch_size;
                   ++i)
                {
                  const unsigned int first = batch.size();
                  const unsigned int order =
                    std::max(2 * interface_degree(mesh, i) + extra_order, 1U);
                  for (unsigned int f = mesh.facet_offset[i];
                       f < mesh.facet_offset[i + 1];
                       ++f)
                    batch.add_facet(mesh, f, order);
                  ranges.push_back({i, first, batch.size()});
                }
              sum += (id == invalid_index) ? interior() : boundary(id);
            }
          return sum;
        }

      private:
        /// Fills the entries that the batches of both sides share.
        void
        common(FacetPointBatch<dim> &points)
        {
          const unsigned int n = batch.size();
          points.n_points      = n;
          penalty.resize(n);
          for (unsigned int q = 0; q < n; ++q)
            penalty[q] = sigma.empty() ? 0. : sigma[batch.entity[q]];
          points.sigma = penalty.data();
        }

        void
        sides()
        {
          const unsigned int n = batch.size();
          for (unsigned int side = 0; side < 2; ++side)
            {
              subcell[side].resize(n);
              material[side].resize(n);
              for (unsigned int q = 0; q < n; ++q)
                {
                  const unsigned int s =
                    mesh.facet_subcell[2 * batch.entity[q] + side];
                  subcell[side][q] = s;
                  material[side][q] =
                    s == invalid_index ? 0 : mesh.subcell_material[s];
                }
            }
        }

        double
        interior()
        {
          const unsigned int n = batch.size();
          sides();
          // Side 1 has the opposite normal, and its points may be shifted.
          for (int d = 0; d < dim; ++d)
            {
              other_x[d]      = batch.x[d];
              other_normal[d] = batch.normal[d];
              for (double &c : other_normal[d])
                c = -c;
            }
          jump.resize(n);
          other.resize(n);
          for (const Range &r : ranges)
            {
              const unsigned int shift = mesh.interface_shift[r.interface];
              if (shift != 0)
                for (int d = 0; d < dim; ++d)
                  for (unsigned int q = r.begin; q < r.end; ++q)
                    other_x[d][q] += mesh.shift[shift * dim + d];
              if (r.end == r.begin)
                continue;
              const unsigned int k0 = mesh.interface_polytope[2 * r.interface],
                                 k1 =
                                   mesh.interface_polytope[2 * r.interface + 1];
              std::array<const double *, dim> x;
              for (int d = 0; d < dim; ++d)
                x[d] = other_x[d].data() + r.begin;
              evaluator.evaluate(k0,
                                 u + mesh.dof_offset[k0],
                                 r.end - r.begin,
                                 batch.pointers(r.begin),
                                 jump.data() + r.begin,
                                 nullptr);
              evaluator.evaluate(k1,
                                 u + mesh.dof_offset[k1],
                                 r.end - r.begin,
                                 x,
                                 other.data() + r.begin,
                                 nullptr);
            }

          for (unsigned int side = 0; side < 2; ++side)
            {
              FacetPointBatch<dim> points;
              common(points);
              for (int d = 0; d < dim; ++d)
                {
                  points.x[d] = (side == 0 ? batch.x : other_x)[d].data();
                  points.neighbor_x[d] =
                    (side == 0 ? other_x : batch.x)[d].data();
                  points.normal[d] =
                    (side == 0 ? batch.normal : other_normal)[d].data();
                }
              points.subcell           = subcell[side].data();
              points.material          = material[side].data();
              points.neighbor_subcell  = subcell[1 - side].data();
              points.neighbor_material = material[1 - side].data();
              points.boundary_id       = invalid_index;
              facet_arrays[side].reinit(n, false);
              form.evaluate_interior_facets(points, facet_arrays[side].blocks);
            }
          const FacetBlocks<dim> &b0 = facet_arrays[0].blocks,
                                 &b1 = facet_arrays[1].blocks;
          double sum                 = 0.;
          for (unsigned int q = 0; q < n; ++q)
            {
              const double weight =
                .25 * (b0.c[0][q] + b1.c[0][q] - b0.c[1][q] - b1.c[1][q]);
              const double j = jump[q] - other[q];
              sum += batch.weight[q] * std::max(weight, 0.) * j * j;
            }
          return sum;
        }

        double
        boundary(const unsigned int id)
        {
          const unsigned int n = batch.size();
          sides();
          jump.resize(n);
          for (const Range &r : ranges)
            if (r.end > r.begin)
              {
                const unsigned int k0 =
                  mesh.interface_polytope[2 * r.interface];
                evaluator.evaluate(k0,
                                   u + mesh.dof_offset[k0],
                                   r.end - r.begin,
                                   batch.pointers(r.begin),
                                   jump.data() + r.begin,
                                   nullptr);
              }
          copy_points(batch, exact_points);
          exact.values(exact_points, exact_values);

          FacetPointBatch<dim> points;
          common(points);
          for (int d = 0; d < dim; ++d)
            {
              points.x[d]          = batch.x[d].data();
              points.neighbor_x[d] = nullptr;
              points.normal[d]     = batch.normal[d].data();
            }
          points.subcell     = subcell[0].data();
          points.material    = material[0].data();
          points.boundary_id = id;
          facet_arrays[0].reinit(n, true);
          form.evaluate_boundary_facets(points, facet_arrays[0].blocks);
          normal_flow.assign(n, 0.);
          if (structure.b || structure.beta)
            {
              volume_arrays.reinit(n);
              form.evaluate_volume(points, volume_arrays.blocks);
              for (int d = 0; d < dim; ++d)
                for (unsigned int q = 0; q < n; ++q)
                  normal_flow[q] +=
                    batch.normal[d][q] *
                    ((structure.b ? volume_arrays.blocks.b[d][q] : 0.) +
                     (structure.beta ? volume_arrays.blocks.beta[d][q] : 0.));
            }
          double sum = 0.;
          for (unsigned int q = 0; q < n; ++q)
            {
              const double weight =
                facet_arrays[0].blocks.c[0][q] + .5 * normal_flow[q];
              const double e = jump[q] - exact_values[q];
              sum += batch.weight[q] * std::max(weight, 0.) * e * e;
            }
          return sum;
        }

        struct Range
        {
          unsigned int interface, begin, end;
        };

        const PolytopicMesh<dim>                &mesh;
        const Form<dim>                         &form;
        const std::vector<double>               &sigma;
        const PolytopeEvaluator<dim>            &evaluator;
        FunctionBatch<dim>                       exact;
        const double *const                      u;
        const unsigned int                       extra_order;
        const VolumeStructure                    structure;
        VolumeArrays<dim>                        volume_arrays;
        FacetArrays<dim>                         facet_arrays[2];
        QuadratureBatch<dim>                     batch;
        std::vector<Range>                       ranges;
        std::array<std::vector<unsigned int>, 2> subcell, material;
        std::array<std::vector<double>, dim>     other_x, other_normal;
        std::vector<double>     penalty, jump, other, normal_flow, exact_values;
        std::vector<Point<dim>> exact_points;
      };
    } // namespace



    template <int dim, typename VectorType>
    ErrorNorms
    compute_errors(const AgglomerationHandler<dim> &handler,
                   const Form<dim>                 &form,
                   const std::vector<double>       &sigma,
                   const VectorType                &solution,
                   const Function<dim>             &exact,
                   const unsigned int               extra_order)
    {
      check_handler(handler);
      check_function(handler, exact);
      AssertThrow(handler.n_components() == 1,
                  dealii::ExcMessage(
                    "compute_errors() is for scalar problems; for several "
                    "components use integrate_difference()."));
      handler.tabulate(extra_order);
      const PolytopicMesh<dim> &mesh   = handler.polytopic_mesh();
      const FacetStructure      facets = form.facet_structure();
      on_all_processes(handler.get_communicator(), [&]() {
        AssertThrow(
          sigma.size() == mesh.n_facets() ||
            (sigma.empty() && !(facets.facets && facets.penalty)),
          dealii::ExcMessage(
            "compute_errors() needs the penalty of every facet; pass "
            "what PolytopicAssembler::penalty() returns for this form "
            "and handler."));
      });
      const double *const          u = own_values(handler, solution);
      const PolytopeEvaluator<dim> evaluator(handler);

      const std::vector<WorkItem> items = work_items(mesh, 64);
      std::vector<Squares>        partial(items.size());
      internal::apply_to_ranges(
        handler.get_communicator(),
        items.size(),
        [&](const std::size_t begin, const std::size_t end) {
          QuadratureBatch<dim> batch;
          VolumeErrors<dim>    errors(mesh, form, evaluator, exact);
          for (std::size_t item = begin; item < end; ++item)
            {
              const unsigned int k = items[item].polytope;
              // At least dim + 1 points are needed for the divergence.
              const unsigned int order =
                std::max(2 * mesh.degree[k] + extra_order, 2U);
              Squares sum;
              for (unsigned int s = items[item].begin; s < items[item].end;)
                {
                  batch.clear();
                  for (; s < items[item].end && batch.size() < batch_size; ++s)
                    batch.add_subcell(mesh, s, order);
                  errors.add(batch, k, u + mesh.dof_offset[k], sum);
                }
              partial[item] = sum;
            }
        },
        8);
      Squares total;
      for (const Squares &s : partial)
        {
          total.L2 += s.L2;
          total.H1 += s.H1;
          total.energy += s.energy;
        }

      if (facets.facets)
        {
          // Jumps need the values of ghosts.
          std::vector<double> with_ghosts;
          const double       *all = u;
          if (mesh.n_owned_polytopes() < mesh.n_polytopes())
            {
              with_ghosts.assign(u, u + handler.n_locally_owned_dofs());
              with_ghosts.resize(mesh.dof_offset.back());
              handler.exchange_dof_values(with_ghosts);
              all = with_ghosts.data();
            }
          // Interfaces are divided into pieces of fixed size, so that sums do
          // not depend on the number of threads.
          const unsigned int  piece = 64, n_interfaces = mesh.n_interfaces();
          std::vector<double> sums((n_interfaces + piece - 1) / piece);
          internal::apply_to_ranges(
            handler.get_communicator(),
            sums.size(),
            [&](const std::size_t begin, const std::size_t end) {
              FacetErrors<dim> errors(
                mesh, form, sigma, evaluator, exact, all, extra_order);
              for (std::size_t i = begin; i < end; ++i)
                sums[i] = errors.compute(i * piece,
                                         std::min<unsigned int>((i + 1) * piece,
                                                                n_interfaces));
            },
            2);
          for (const double s : sums)
            total.energy += s;
        }

      if (internal::n_processes(handler.get_communicator()) > 1)
        {
          const std::vector<double> own = {total.L2, total.H1, total.energy};
          std::vector<double>       sum(3);
          dealii::Utilities::MPI::sum(own, handler.get_communicator(), sum);
          total.L2     = sum[0];
          total.H1     = sum[1];
          total.energy = sum[2];
        }
      ErrorNorms result;
      result.L2          = std::sqrt(total.L2);
      result.H1_seminorm = std::sqrt(total.H1);
      result.dG          = std::sqrt(total.energy);
      return result;
    }



#define TESSELLA_INSTANTIATE_VECTOR(dim, VectorType)                         \
  template void interpolate<dim, VectorType>(                                \
    const AgglomerationHandler<dim> &, const Function<dim> &, VectorType &); \
  template void project<dim, VectorType>(const AgglomerationHandler<dim> &,  \
                                         const Function<dim> &,              \
                                         VectorType &,                       \
                                         const unsigned int);                \
  template void point_value<dim, VectorType>(                                \
    const AgglomerationHandler<dim> &,                                       \
    const VectorType &,                                                      \
    const Point<dim> &,                                                      \
    dealii::Vector<double> &);                                               \
  template void point_values<dim, VectorType>(                               \
    const AgglomerationHandler<dim> &,                                       \
    const VectorType &,                                                      \
    const std::vector<Point<dim>> &,                                         \
    std::vector<dealii::Vector<double>> &);                                  \
  template void integrate_difference<dim, VectorType>(                       \
    const AgglomerationHandler<dim> &,                                       \
    const VectorType &,                                                      \
    const Function<dim> &,                                                   \
    dealii::Vector<float> &,                                                 \
    const NormType,                                                          \
    const unsigned int,                                                      \
    const double);                                                           \
  template ErrorNorms compute_errors<dim, VectorType>(                       \
    const AgglomerationHandler<dim> &,                                       \
    const Form<dim> &,                                                       \
    const std::vector<double> &,                                             \
    const VectorType &,                                                      \
    const Function<dim> &,                                                   \
    const unsigned int);

#define TESSELLA_INSTANTIATE(dim)                                              \
  template double compute_global_error<dim>(const AgglomerationHandler<dim> &, \
                                            const dealii::Vector<float> &,     \
                                            const NormType,                    \
                                            const double);                     \
  TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE_VECTOR, dim)

    TESSELLA_INSTANTIATE(2)
    TESSELLA_INSTANTIATE(3)
  } // namespace VectorTools
} // namespace Tessella
