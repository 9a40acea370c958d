// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_simplex_functors_h
#define tessella_tests_cuda_simplex_functors_h

// Functors without gradients on facets, for which pointwise operators have
// kernels on affine simplices. The file uses no deal.II header.

#include <tessella/forms/pointwise_terms.h>

namespace Functors
{
  using namespace Tessella;

  /// m components with all kinds of terms inside polytopes, and values on
  /// facets; uses all members of OperatorPoint. The flux is not conservative.
  template <int dim, int m>
  struct Transport
  {
    using Fields                               = FieldComponents<m>;
    static constexpr int          n_components = m;
    static constexpr unsigned int facet_input  = PointwiseRows::values,
                                  facet_output = PointwiseRows::values;

    TESSELLA_HOST_DEVICE static double
    weight(const OperatorPoint<dim> &p, const int side)
    {
      return 1. + 0.1 * p.material[side] + 0.1 * p.h[side] + 0.1 * p.t +
             0.01 * (p.polytope[side] % 3) + 0.02 * (p.subcell[side] % 5);
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    volume(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      using namespace PointwiseMath;
      const double w = weight(p, 0);
      for (int c = 0; c < m; ++c)
        {
          const int next = (c + 1) % m;
          r.value[c]     = sin(u.value[next]) * u.value[c];
          for (int d = 0; d < dim; ++d)
            {
              r.value[c] += p.x[d] * u.gradient[next][d];
              r.gradient[c][d] = w * exp(u.value[c]) * u.gradient[next][d] -
                                 (d + 1.) * u.value[c] * u.value[next];
            }
        }
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    interior_facet(
      const OperatorPoint<dim> &p, const U &u0, const U &u1, R &r0, R &r1) const
    {
      using namespace PointwiseMath;
      const double w0 = weight(p, 0), w1 = weight(p, 1);
      for (int c = 0; c < m; ++c)
        {
          const auto jump = u0.value[c] - u1.value[c];
          r0.value[c] =
            (p.penalty + p.facet % 3) * jump + w0 * u0.value[(c + 1) % m];
          r1.value[c] =
            -p.penalty * jump +
            w1 * p.normal[dim - 1] * tanh(u0.value[c] * u1.value[(c + 1) % m]) +
            p.x[0];
        }
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      if (p.boundary_id == 1)
        return;
      for (int c = 0; c < m; ++c)
        {
          r.value[c] = (2. + p.boundary_id) * u.value[c] * u.value[c] -
                       p.penalty * weight(p, 0);
          for (int d = 0; d < dim; ++d)
            r.value[c] += p.normal[d] * p.x[d] * u.value[c];
        }
    }
  };

  template <int dim>
  struct OneComponent : public Transport<dim, 1>
  {};
  template <int dim>
  struct ManyComponents : public Transport<dim, dim == 2 ? 5 : 3>
  {};



  /// Two components with a second field; no terms on the boundary.
  template <int dim>
  struct TwoWithField
  {
    using Fields                                = FieldComponents<2, 1>;
    static constexpr int          n_components  = 2;
    static constexpr unsigned int volume_input  = PointwiseRows::values,
                                  volume_output = PointwiseRows::gradients,
                                  facet_input   = PointwiseRows::values,
                                  facet_output  = PointwiseRows::values;

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    volume(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      for (int c = 0; c < 2; ++c)
        for (int d = 0; d < dim; ++d)
          r.gradient[c][d] =
            u.value[2] * u.value[c] * (p.x[d] + u.value[1 - c]);
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    interior_facet(
      const OperatorPoint<dim> &p, const U &u0, const U &u1, R &r0, R &r1) const
    {
      for (int c = 0; c < 2; ++c)
        {
          r0.value[c] = p.normal[0] * (u0.value[2] * u0.value[c] +
                                       u1.value[2] * u1.value[1 - c]);
          r1.value[c] = -r0.value[c];
        }
    }
  };



  /// No terms on facets; reads gradients alone and has no gradients as results.
  template <int dim>
  struct InsideOnly
  {
    using Fields                                = FieldComponents<1>;
    static constexpr int          n_components  = 1;
    static constexpr unsigned int volume_input  = PointwiseRows::gradients,
                                  volume_output = PointwiseRows::values;

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    volume(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      for (int d = 0; d < dim; ++d)
        r.value[0] += (1. + p.x[d]) * u.gradient[0][d] * u.gradient[0][0];
    }
  };
} // namespace Functors

#endif
