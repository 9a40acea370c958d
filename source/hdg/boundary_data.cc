// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "boundary_data.h"

#include <deal.II/base/exceptions.h>

#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/penalty_terms.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "../forms/host_coefficients.h"
#include "tensor.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      // Text such as "polytope 3 (box (0, 0) to (1, 1))".
      template <int dim>
      std::string
      describe_polytope(const PolytopicMesh<dim> &mesh, const unsigned int k)
      {
        std::string text = "polytope " + std::to_string(k) + " (box";
        for (unsigned int corner = 0; corner < 2; ++corner)
          {
            text += corner == 0 ? " (" : " to (";
            for (unsigned int d = 0; d < dim; ++d)
              text += (d > 0 ? ", " : "") +
                      std::to_string(
                        mesh.box[(2 * std::size_t(k) + corner) * dim + d]);
            text += ")";
          }
        return text + ")";
      }
    } // namespace



    template <int dim>
    void
    normal_advection(const Form<dim>            &form,
                     const FacetPointBatch<dim> &points,
                     double *const              *b,
                     double                     *bn)
    {
      VolumeBlocks<dim> blocks = {};
      std::copy_n(b, dim, blocks.b);
      form.evaluate_volume(points, blocks);
      std::fill_n(bn, points.n_points, 0.);
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int q = 0; q < points.n_points; ++q)
          bn[q] += b[d][q] * points.normal[d][q];
    }



    template <int dim>
    void
    check_tau(const double              tau,
              const PolytopicMesh<dim> &mesh,
              const unsigned int        k)
    {
      AssertThrow(tau >= 0. && std::isfinite(tau),
                  ExcMessage("The stabilisation tau is " + std::to_string(tau) +
                             " on a facet of " + describe_polytope(mesh, k) +
                             ", but it must be a finite number that is not "
                             "negative."));
    }



    template <int dim>
    void
    check_outflow(const FacetPointBatch<dim> &points,
                  const double *const        *b,
                  const double               *bn)
    {
      for (unsigned int q = 0; q < points.n_points; ++q)
        {
          double b_max = 0.;
          for (unsigned int d = 0; d < dim; ++d)
            b_max = std::max(b_max, std::abs(b[d][q]));
          AssertThrow(!PenaltyTerms::is_inflow(bn[q], b_max),
                      ExcInflowOnNeumann(points.boundary_id,
                                         to_string<dim>(points.x, q),
                                         bn[q]));
        }
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
    void
    throw_local_failure(const Device::HDGFailure  failure,
                        const PolytopicMesh<dim> &mesh,
                        const PolytopicDoFs      &dofs,
                        const unsigned int        k)
    {
      const std::string name = describe_polytope(mesh, k);
      switch (failure)
        {
          case Device::HDGFailure::diffusion:
            AssertThrow(
              false,
              ExcMessage(
                "The diffusion varies by more than rounding allows for within " +
                name + ": use polytopes that follow its jumps."));
            break;
          case Device::HDGFailure::schur_complement:
            AssertThrow(
              false,
              ExcMessage(
                "The local problem on " + name +
                " is singular up to rounding: the stabilisation tau is too small"
                " there, or the reaction is negative. Give a larger tau."));
            break;
          case Device::HDGFailure::no_stabilisation:
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
                std::to_string(dofs.degree[k]) + " are linearly dependent on " +
                name +
                ": it has no volume, or is too thin within its bounding box. Use "
                "a lower degree or another agglomeration."));
        }
      std::abort(); // not reached
    }



#define INSTANTIATE(dim)                                         \
  template void normal_advection(const Form<dim> &,              \
                                 const FacetPointBatch<dim> &,   \
                                 double *const *,                \
                                 double *);                      \
  template void check_tau(const double,                          \
                          const PolytopicMesh<dim> &,            \
                          const unsigned int);                   \
  template void check_outflow<dim>(const FacetPointBatch<dim> &, \
                                   const double *const *,        \
                                   const double *);              \
  template void invert_diffusion<dim>(const bool,                \
                                      const double *const *,     \
                                      const unsigned int,        \
                                      const double *const *,     \
                                      double *);                 \
  template void throw_local_failure(const Device::HDGFailure,    \
                                    const PolytopicMesh<dim> &,  \
                                    const PolytopicDoFs &,       \
                                    const unsigned int);
    INSTANTIATE(2)
    INSTANTIATE(3)
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
