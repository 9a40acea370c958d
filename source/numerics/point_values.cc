// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/parallel.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/vector_tools.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "../base/collective.h"
#include "../base/vector_types.h"
#include "function_batch.h"
#include "subcell_tree.h"

namespace Tessella
{
  namespace VectorTools
  {
    using namespace internal;
    using dealii::Function;
    using dealii::Point;

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
                                   u + dofs.dof_offset[k] +
                                     std::size_t(c) * dofs.n_basis[k],
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



#define TESSELLA_INSTANTIATE(dim, VectorType)  \
  template void point_value<dim, VectorType>(  \
    const AgglomerationHandler<dim> &,         \
    const VectorType &,                        \
    const Point<dim> &,                        \
    dealii::Vector<double> &);                 \
  template void point_values<dim, VectorType>( \
    const AgglomerationHandler<dim> &,         \
    const VectorType &,                        \
    const std::vector<Point<dim>> &,           \
    std::vector<dealii::Vector<double>> &);

    TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 2)
    TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 3)
  } // namespace VectorTools
} // namespace Tessella
