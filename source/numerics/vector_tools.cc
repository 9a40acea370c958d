// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/parallel.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <string>

#include "../base/vector_types.h"
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
    } // namespace



    template <int dim, typename VectorType>
    void
    interpolate(const AgglomerationHandler<dim> &handler,
                const Function<dim>             &function,
                VectorType                      &vector)
    {
      check_function(handler, function);
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopicDoFs         &dofs = handler.polytopic_dofs();
      const PolytopeEvaluator<dim> evaluator(handler);
      double *const                u            = own_values(handler, vector);
      const unsigned int           n_components = handler.n_components();

      apply_to_ranges(
        handler.get_communicator(),
        mesh.n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          FunctionBatch<dim>      batch(function);
          RuleCache<dim>          rules;
          std::vector<Point<dim>> points;
          std::vector<double>     values, phi;
          for (unsigned int k = begin; k < end; ++k)
            {
              const unsigned int  n   = dofs.n_basis[k];
              const double *const box = &mesh.box[std::size_t(k) * 2 * dim];
              // The box is a parallelepiped.
              const ReferenceRule &rule =
                *rules.subcell(SubCellType::parallelepiped,
                               2 * dofs.degree[k] + 1);
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
              double *const u_k = u + dofs.dof_offset[k];
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
      check_function(handler, function);
      handler.tabulate(extra_order);
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopicDoFs         &dofs = handler.polytopic_dofs();
      const PolytopeEvaluator<dim> evaluator(handler);
      double *const                u            = own_values(handler, vector);
      const unsigned int           n_components = handler.n_components();

      apply_to_ranges(
        handler.get_communicator(),
        mesh.n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          FunctionBatch<dim>      f(function);
          PolytopeProjection<dim> projection(mesh,
                                             dofs,
                                             evaluator,
                                             n_components);
          std::vector<Point<dim>> points;
          for (unsigned int k = begin; k < end; ++k)
            projection.compute(
              k,
              2 * dofs.degree[k] + extra_order,
              [&](const QuadratureBatch<dim> &batch,
                  std::vector<double>        &values) {
                copy_points(batch, points);
                f.values(points, values);
                check_finite(values, points);
              },
              u + dofs.dof_offset[k]);
        },
        16);
    }



#define TESSELLA_INSTANTIATE(dim, VectorType)                                \
  template void interpolate<dim, VectorType>(                                \
    const AgglomerationHandler<dim> &, const Function<dim> &, VectorType &); \
  template void project<dim, VectorType>(const AgglomerationHandler<dim> &,  \
                                         const Function<dim> &,              \
                                         VectorType &,                       \
                                         const unsigned int);

    TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 2)
    TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 3)
  } // namespace VectorTools
} // namespace Tessella
