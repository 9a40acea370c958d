// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/forms/limiters.h>
#include <tessella/forms/polytopewise_functor.h>

#include "polytopewise_functors.h"

using namespace Tessella;

namespace
{
  /// New coefficients and a result to which every member of a stencil
  /// contributes.
  struct Everything
  {
    static constexpr bool point_values = true;

    double factor = 0.7;

    template <int dim>
    TESSELLA_HOST_DEVICE double
    operator()(const PolytopeStencil<dim> &s, double *u) const
    {
      double sum = s.measure + 0.1 * s.surface + 0.01 * s.degree;
      for (unsigned int j = 0; j < s.n_interfaces; ++j)
        {
          const StencilInterface<dim> &i = s.interfaces[j];
          for (int d = 0; d < dim; ++d)
            sum += i.measure * (d + 1.) * i.centroid[d];
          if (s.at_boundary(j))
            {
              sum += 0.01 * i.boundary_id;
              continue;
            }
          for (unsigned int c = 0; c < s.n_components; ++c)
            sum += i.neighbor_measure * (c + 1.) * s.neighbor_mean(j, c);
          for (int d = 0; d < dim; ++d)
            sum +=
              i.neighbor_measure * (i.neighbor_centroid[d] - s.centroid[d]);
        }
      double largest = -1e300, moment = 0.;
      for (unsigned int q = 0; q < s.n_points; ++q)
        for (unsigned int c = 0; c < s.n_components; ++c)
          {
            largest = s.value(q, c) > largest ? s.value(q, c) : largest;
            for (int d = 0; d < dim; ++d)
              moment += (d + 1.) * s.x[d][q] * s.value(q, c);
          }
      sum += largest + moment / s.n_points;
      for (unsigned int c = 0; c < s.n_components; ++c)
        {
          double g[dim] = {};
          if (s.degree > 0)
            s.slope(c, g);
          for (int d = 0; d < dim; ++d)
            sum += 0.1 * g[d];
          if (s.degree > 0 && c == 0)
            s.set_linear(c, g, u);
          else
            s.scale_towards_mean(c, factor, u);
        }
      return sum;
    }
  };

  struct NotFinite
  {
    template <int dim>
    TESSELLA_HOST_DEVICE double
    operator()(const PolytopeStencil<dim> &s, double *u) const
    {
      if (s.centroid[0] > 0.5)
        u[0] = 1. / (s.measure - s.measure);
      else
        u[0] = 7.;
      return 0.;
    }
  };

  template <int dim, typename F>
  std::shared_ptr<const PolytopewiseFunction<dim>>
  make(const F &f)
  {
    return std::make_shared<const PolytopewiseFunctor<dim, F>>(f);
  }
} // namespace



template <int dim>
std::shared_ptr<const PolytopewiseFunction<dim>>
make_polytopewise(const PolytopewiseCase name)
{
  switch (name)
    {
      case PolytopewiseCase::slopes:
        return make<dim>(SlopeLimiter());
        case PolytopewiseCase::bounds: {
          BoundLimiter bounds;
          bounds.lower          = 0.1;
          bounds.upper          = 1.05;
          bounds.all_components = true;
          return make<dim>(bounds);
        }
      case PolytopewiseCase::everything:
        return make<dim>(Everything());
      default:
        return make<dim>(NotFinite());
    }
}



template std::shared_ptr<const PolytopewiseFunction<2>>
make_polytopewise<2>(const PolytopewiseCase);
template std::shared_ptr<const PolytopewiseFunction<3>>
make_polytopewise<3>(const PolytopewiseCase);
