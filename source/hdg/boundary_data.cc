// SPDX-License-Identifier: LGPL-2.1-or-later

#include "boundary_data.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/point.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "tensor.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      template <int dim>
      std::string
      to_string(const double *const *x, const unsigned int q)
      {
        std::string text;
        for (unsigned int d = 0; d < dim; ++d)
          text += (d > 0 ? ", " : "") + std::to_string(x[d][q]);
        return text;
      }
    } // namespace



    template <int dim>
    void
    evaluate_boundary_data(const BoundaryCondition<dim> &condition,
                           const unsigned int            boundary_id,
                           const unsigned int            n,
                           const double *const          *x,
                           const double *const          *normal,
                           const double                 *bn,
                           double                       *g,
                           double                       *alpha)
    {
      if (condition.type != BoundaryType::dirichlet)
        for (unsigned int q = 0; q < n; ++q)
          AssertThrow(bn[q] >= -1e-10,
                      ExcInflowOnNeumann(boundary_id,
                                         to_string<dim>(x, q),
                                         bn[q]));
      std::vector<Point<dim>> points(n);
      for (unsigned int q = 0; q < n; ++q)
        for (unsigned int d = 0; d < dim; ++d)
          points[q][d] = x[d][q];
      std::vector<double> values(n);
      const auto          add = [&](const Function<dim> &function,
                           const unsigned int   component,
                           const double        *factor,
                           const char          *name,
                           double              *result) {
        function.value_list(points, values, component);
        for (unsigned int q = 0; q < n; ++q)
          {
            AssertThrow(std::isfinite(values[q]),
                        ExcCoefficientNotFinite(name,
                                                to_string<dim>(x, q),
                                                values[q]));
            result[q] += factor != nullptr ? factor[q] * values[q] : values[q];
          }
      };
      if (condition.value != nullptr)
        add(*condition.value, 0, nullptr, "boundary value", g);
      if (condition.type == BoundaryType::dirichlet)
        return;
      if (condition.flux != nullptr)
        for (unsigned int d = 0; d < dim; ++d)
          add(*condition.flux, d, normal[d], "boundary flux", g);
      if (condition.type == BoundaryType::robin &&
          condition.robin_coefficient != nullptr)
        add(
          *condition.robin_coefficient, 0, nullptr, "Robin coefficient", alpha);
    }



    template <int dim>
    void
    invert_diffusion(const bool           tensor,
                     const double *const *x,
                     const unsigned int   q,
                     const double *const *a,
                     double              *result)
    {
      if (!tensor)
        {
          AssertThrow(a[0][q] > 0.,
                      ExcMessage(
                        "The diffusion coefficient is not positive at the "
                        "point (" +
                        to_string<dim>(x, q) +
                        "); a hybridizable method needs the inverse. Use"
                        " interior penalty for equations that degenerate."));
          result[0] = 1. / a[0][q];
          return;
        }
      double value[dim][dim], inverse[dim][dim];
      for (unsigned int d = 0; d < dim * dim; ++d)
        value[d / dim][d % dim] = a[d][q];
      AssertThrow(invert_tensor<dim>(value, inverse),
                  ExcMessage("The diffusion tensor is not symmetric and "
                             "positive definite at the point (" +
                             to_string<dim>(x, q) +
                             "); a hybridizable method needs the inverse. Use"
                             " interior penalty for equations that "
                             "degenerate."));
      for (unsigned int d = 0; d < dim * dim; ++d)
        result[d] = inverse[d / dim][d % dim];
    }



    template <int dim>
    std::string
    describe_polytope(const PolytopicMesh<dim> &mesh, const unsigned int k)
    {
      std::string text = "polytope " + std::to_string(k) + " (box";
      for (unsigned int corner = 0; corner < 2; ++corner)
        {
          text += corner == 0 ? " (" : " to (";
          for (unsigned int d = 0; d < dim; ++d)
            text +=
              (d > 0 ? ", " : "") +
              std::to_string(mesh.box[(2 * std::size_t(k) + corner) * dim + d]);
          text += ")";
        }
      return text + ")";
    }



    template <int dim>
    void
    throw_local_failure(const LocalFailure        failure,
                        const PolytopicMesh<dim> &mesh,
                        const unsigned int        k)
    {
      const std::string name = describe_polytope(mesh, k);
      switch (failure)
        {
          case LocalFailure::diffusion:
            AssertThrow(
              false,
              ExcMessage(
                "The diffusion varies by more than rounding allows for within " +
                name + ": use polytopes that follow its jumps."));
            break;
          case LocalFailure::schur_complement:
            AssertThrow(
              false,
              ExcMessage(
                "The local problem on " + name +
                " is singular up to rounding: the stabilisation tau is too small"
                " there, or the reaction is negative. Give a larger tau."));
            break;
          case LocalFailure::no_stabilisation:
            AssertThrow(
              false,
              ExcMessage(
                "The local problem on " + name +
                " is singular: the stabilisation tau is zero on its whole "
                "boundary and there is no reaction. Give a positive tau."));
            break;
          default:
            AssertThrow(
              false,
              ExcMessage(
                "The basis functions of degree " +
                std::to_string(mesh.degree[k]) + " are linearly dependent on " +
                name +
                ": it has no volume, or is too thin within its bounding box. Use "
                "a lower degree or another agglomeration."));
        }
      std::abort(); // (not reached)
    }



#define INSTANTIATE(dim)                                                    \
  template void evaluate_boundary_data<dim>(const BoundaryCondition<dim> &, \
                                            const unsigned int,             \
                                            const unsigned int,             \
                                            const double *const *,          \
                                            const double *const *,          \
                                            const double *,                 \
                                            double *,                       \
                                            double *);                      \
  template void invert_diffusion<dim>(const bool,                           \
                                      const double *const *,                \
                                      const unsigned int,                   \
                                      const double *const *,                \
                                      double *);                            \
  template std::string describe_polytope(const PolytopicMesh<dim> &,        \
                                         const unsigned int);               \
  template void        throw_local_failure(const LocalFailure,              \
                                           const PolytopicMesh<dim> &,      \
                                           const unsigned int);
    INSTANTIATE(2)
    INSTANTIATE(3)
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
