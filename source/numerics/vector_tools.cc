// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "../base/collective.h"
#include "../base/parallel_for.h"
#include "../grid/subcell_tree.h"
#include "collective_ranges.h"
#include "function_batch.h"
#include "polytope_projection.h"

namespace Tessella
{
  namespace VectorTools
  {
    using namespace internal;
    using dealii::Function;
    using dealii::Point;

    namespace
    {
      template <int dim>
      std::string
      to_text(const Point<dim> &point)
      {
        std::string text;
        for (int d = 0; d < dim; ++d)
          text += (d > 0 ? ", " : "") + std::to_string(point[d]);
        return text;
      }

      template <int dim>
      void
      check_finite(const std::vector<double>     &values,
                   const std::vector<Point<dim>> &points)
      {
        for (std::size_t i = 0; i < values.size(); ++i)
          AssertThrow(std::isfinite(values[i]),
                      ExcUserInput(
                        "The function is not finite at the point (" +
                        to_text(points[i % points.size()]) +
                        "); functions must have finite values in the "
                        "bounding box of every polytope they are "
                        "interpolated on, and in the domain otherwise."));
      }

      /// Calls worker(k, u_k) on threads for the polytopes of this process,
      /// where u_k points to the entries of @p vector for polytope k. Each
      /// range of @p grain polytopes or more has a worker from make_worker().
      /// Collective.
      template <int dim, typename MakeWorker>
      void
      fill(const AgglomerationHandler<dim> &handler,
           const VectorView                &vector,
           const unsigned int               grain,
           const MakeWorker                &make_worker)
      {
        const PolytopicDoFs &dofs = handler.polytopic_dofs();
        const MPI_Comm       comm = handler.get_communicator();
        std::vector<double>  memory;
        double              *u = nullptr;
        on_all_processes(comm, [&]() {
          u = vector.start(handler.n_locally_owned_dofs(), memory);
        });
        apply_to_ranges(
          comm,
          handler.n_polytopes(),
          [&](const unsigned int begin, const unsigned int end) {
            auto worker = make_worker();
            for (unsigned int k = begin; k < end; ++k)
              worker(k, u + dofs.dof_offset[k]);
          },
          grain);
        on_all_processes(comm, [&]() { vector.finish(memory); });
      }
    } // namespace



    template <int dim>
    void
    interpolate(const AgglomerationHandler<dim> &handler,
                const FunctionArgument<dim>     &argument,
                const VectorView                &vector)
    {
      const Function<dim>         &function = check_function(handler, argument);
      const PolytopicMesh<dim>    &mesh     = handler.polytopic_mesh();
      const PolytopicDoFs         &dofs     = handler.polytopic_dofs();
      const PolytopeEvaluator<dim> evaluator(handler);
      const unsigned int           n_components = handler.n_components();
      fill(handler, vector, 64, [&]() {
        return [&,
                batch  = FunctionBatch<dim>(function),
                rules  = RuleCache<dim>(),
                points = std::vector<Point<dim>>(),
                values = std::vector<double>(),
                phi    = std::vector<double>()](const unsigned int k,
                                             double *const      u_k) mutable {
          const unsigned int  n   = dofs.n_basis[k];
          const double *const box = &mesh.box[std::size_t(k) * 2 * dim];
          // The box is a parallelepiped.
          const ReferenceRule &rule =
            *rules.subcell(SubCellType::parallelepiped, 2 * dofs.degree[k] + 1);
          points.resize(rule.n_points);
          double volume = 1.;
          for (int d = 0; d < dim; ++d)
            {
              volume *= box[dim + d] - box[d];
              for (unsigned int q = 0; q < rule.n_points; ++q)
                points[q][d] = box[d] + (box[dim + d] - box[d]) *
                                          rule.points[d * rule.n_points + q];
            }
          batch.values(points, values);
          check_finite(values, points);
          phi.resize(n);
          std::fill(u_k, u_k + n * n_components, 0.);
          for (unsigned int q = 0; q < rule.n_points; ++q)
            {
              evaluator.basis(k, &points[q][0], phi.data());
              for (unsigned int c = 0; c < n_components; ++c)
                {
                  const double f =
                    values[c * rule.n_points + q] * rule.weights[q] * volume;
                  for (unsigned int i = 0; i < n; ++i)
                    u_k[c * n + i] += f * phi[i];
                }
            }
        };
      });
    }



    template <int dim>
    void
    project(const AgglomerationHandler<dim> &handler,
            const FunctionArgument<dim>     &argument,
            const VectorView                &vector,
            const unsigned int               extra_order)
    {
      const Function<dim> &function = check_function(handler, argument);
      handler.tabulate(extra_order);
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopicDoFs         &dofs = handler.polytopic_dofs();
      const PolytopeEvaluator<dim> evaluator(handler);
      const unsigned int           n_components = handler.n_components();
      fill(handler, vector, 16, [&]() {
        return [&,
                f = FunctionBatch<dim>(function),
                projection =
                  PolytopeProjection<dim>(mesh, dofs, evaluator, n_components),
                points = std::vector<Point<dim>>()](const unsigned int k,
                                                    double *const u_k) mutable {
          projection.compute(
            k,
            2 * dofs.degree[k] + extra_order,
            [&](const QuadratureBatch<dim> &batch,
                std::vector<double>        &values) {
              copy_points(batch, points);
              f.values(points, values);
              check_finite(values, points);
            },
            u_k);
        };
      });
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



    template <int dim>
    void
    point_values(const AgglomerationHandler<dim>     &handler,
                 const ConstVectorView               &vector,
                 const std::vector<Point<dim>>       &points,
                 std::vector<dealii::Vector<double>> &values)
    {
      check_handler(handler);
      if (internal::n_processes(handler.get_communicator()) > 1)
        check_same_points(handler.get_communicator(), points);
      std::vector<double>          memory;
      const double *const          u    = own_values(handler, vector, memory);
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopicDoFs         &dofs = handler.polytopic_dofs();
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
      parallel_for(points.size(), 64, [&](const std::size_t q) {
        const unsigned int s = tree.find(points[q]);
        if (s == invalid_index)
          {
            missing[q] = 1;
            return;
          }
        const unsigned int              k = polytope_of(s);
        std::array<const double *, dim> x;
        for (int d = 0; d < dim; ++d)
          x[d] = &points[q][d];
        values[q].reinit(n_components);
        for (unsigned int c = 0; c < n_components; ++c)
          evaluator.evaluate(k,
                             u + dofs.dof_offset[k] +
                               std::size_t(c) * dofs.n_basis[k],
                             1,
                             x,
                             &values[q][c],
                             nullptr);
      });
      if (internal::n_processes(handler.get_communicator()) > 1)
        share_point_values(handler.get_communicator(),
                           n_components,
                           missing,
                           values);
      for (std::size_t q = 0; q < points.size(); ++q)
        AssertThrow(missing[q] == 0, ExcPointNotInside(to_text(points[q])));
    }



    template <int dim>
    void
    point_value(const AgglomerationHandler<dim> &handler,
                const ConstVectorView           &vector,
                const Point<dim>                &point,
                dealii::Vector<double>          &value)
    {
      std::vector<dealii::Vector<double>> values(1);
      point_values(handler, vector, std::vector<Point<dim>>(1, point), values);
      value = values[0];
    }



#define TESSELLA_INSTANTIATE(dim)                               \
  template void interpolate(const AgglomerationHandler<dim> &,  \
                            const FunctionArgument<dim> &,      \
                            const VectorView &);                \
  template void project(const AgglomerationHandler<dim> &,      \
                        const FunctionArgument<dim> &,          \
                        const VectorView &,                     \
                        const unsigned int);                    \
  template void point_value(const AgglomerationHandler<dim> &,  \
                            const ConstVectorView &,            \
                            const Point<dim> &,                 \
                            dealii::Vector<double> &);          \
  template void point_values(const AgglomerationHandler<dim> &, \
                             const ConstVectorView &,           \
                             const std::vector<Point<dim>> &,   \
                             std::vector<dealii::Vector<double>> &);

    TESSELLA_INSTANTIATE(2)
    TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
  } // namespace VectorTools
} // namespace Tessella
