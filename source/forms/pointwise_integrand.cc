// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/forms/pointwise_integrand.h>

#include <algorithm>

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  void
  PointwiseIntegrand<dim>::evaluate_tangent(const PointwiseRegion,
                                            const unsigned int,
                                            const OperatorPoint<dim> *,
                                            const double *const *const *,
                                            const double *const *const *,
                                            double *const *const *) const
  {
    AssertThrow(false,
                ExcMessage("This integrand has a residual, but no tangent: "
                           "implement evaluate_tangent(), or write it as a "
                           "functor for FunctorIntegrand."));
  }



  template <int dim>
  void
  PointwiseIntegrand<dim>::evaluate_jacobian(const PointwiseRegion       region,
                                             const unsigned int          n,
                                             const OperatorPoint<dim>   *points,
                                             const double *const *const *in,
                                             double *const *out) const
  {
    const bool         interior = region == PointwiseRegion::interior_facet;
    const unsigned int n_sides  = interior ? 2 : 1;
    const Structure    rows     = structure();
    const unsigned int n_in = rows.n_inputs(), n_out = rows.n_outputs();
    const unsigned int used = region == PointwiseRegion::volume
                                ? rows.volume_output
                                : rows.facet_output;

    const std::vector<double>   one(n, 1.);
    std::vector<const double *> rows_of_side[2];
    const double *const        *direction[2];
    double *const              *results[2];
    std::vector<double *>       wanted(n_sides * n_out);
    std::vector<double>         memory(n_sides * n_out * std::size_t(n));
    for (unsigned int s = 0; s < 2; ++s)
      {
        rows_of_side[s].assign(n_in, nullptr);
        direction[s] = rows_of_side[s].data();
      }
    for (unsigned int t = 0; t < n_sides; ++t)
      results[t] = wanted.data() + t * n_out;

    for (unsigned int s = 0; s < n_sides; ++s)
      for (unsigned int i = 0; i < n_in; ++i)
        {
          double *const *const begin =
            out + std::size_t(s * n_in + i) * n_sides * n_out;
          if (std::all_of(begin, begin + n_sides * n_out, [](const double *p) {
                return p == nullptr;
              }))
            continue;
          // The integrand may write all rows of test functions that it uses.
          for (unsigned int o = 0; o < n_sides * n_out; ++o)
            wanted[o] = begin[o] != nullptr ? begin[o]
                        : used & (o % (dim + 1) == 0 ? PointwiseRows::values
                                                     : PointwiseRows::gradients)
                          ? memory.data() + o * std::size_t(n)
                          : nullptr;
          rows_of_side[s][i] = one.data();
          evaluate_tangent(region, n, points, in, direction, results);
          rows_of_side[s][i] = nullptr;
        }
  }



  template class PointwiseIntegrand<2>;
  template class PointwiseIntegrand<3>;
  template class PointwiseIntegrand<4>;
} // namespace Tessella
