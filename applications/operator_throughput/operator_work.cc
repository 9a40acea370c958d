// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "operator_work.h"

#include <tessella/quadrature/quadrature_order.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <cmath>

#include "functors.h"

namespace
{
  using namespace Tessella;

  /// Operations of a derivative over those of a value: three for a product, one
  /// for a sum.
  constexpr double derivative = 2.;

  /// A number that counts the operations on it.
  struct Counted
  {
    double        value = 0.;
    static double n;

    Counted() = default;
    Counted(const double v)
      : value(v)
    {}
  };
  double Counted::n = 0.;

#define COUNTED_COMPARISON(op)                         \
  bool operator op(const Counted &a, const Counted &b) \
  {                                                    \
    return a.value op b.value;                         \
  }
#define COUNTED_OPERATOR(op)                              \
  Counted operator op(const Counted &a, const Counted &b) \
  {                                                       \
    ++Counted::n;                                         \
    return Counted(a.value op b.value);                   \
  }
  COUNTED_OPERATOR(+)
  COUNTED_OPERATOR(-)
  COUNTED_OPERATOR(*)
  COUNTED_OPERATOR(/)
  COUNTED_COMPARISON(<)
  COUNTED_COMPARISON(>=)
#undef COUNTED_OPERATOR
#undef COUNTED_COMPARISON
  Counted &
  operator+=(Counted &a, const Counted &b)
  {
    return a = a + b;
  }
  Counted
  operator-(const Counted &a)
  {
    return Counted(-a.value);
  }
  Counted
  sqrt(const Counted &a)
  {
    ++Counted::n;
    return Counted(std::sqrt(a.value));
  }
  Counted
  fabs(const Counted &a)
  {
    ++Counted::n;
    return Counted(std::fabs(a.value));
  }
  Counted
  minimum(const Counted &a, const Counted &b)
  {
    return b < a ? b : a;
  }
  Counted
  maximum(const Counted &a, const Counted &b)
  {
    return a < b ? b : a;
  }

  /// The operations of a functor of @p m components for two given states.
  template <int m, typename F>
  FunctorOperations
  count(const F &functor, const double (&state)[2][m])
  {
    PointwiseTerms<3, m, Counted> u0, u1, r0, r1;
    for (int c = 0; c < m; ++c)
      {
        u0.value[c] = state[0][c];
        u1.value[c] = state[1][c];
      }
    OperatorPoint<3> p = {};
    p.normal[0]        = 1.;
    FunctorOperations result;
    Counted::n = 0.;
    functor.volume(p, u0, r0);
    result.volume = Counted::n;
    Counted::n    = 0.;
    functor.interior_facet(p, u0, u1, r0, r1);
    result.facet = Counted::n;
    return result;
  }
} // namespace



FunctorOperations
euler_operations()
{
  return count<5>(Flow::Euler<3>(),
                  {{1.2, 0.5, 0.3, 0.3, 2.7}, {1.1, 0.4, 0.2, 0.3, 2.6}});
}



FunctorOperations
convection_operations()
{
  return count<3>(Flow::Convection<3>(), {{0.5, 0.3, 0.3}, {0.4, 0.2, 0.3}});
}



OperatorWorkCounter::OperatorWorkCounter(
  const Tessella::AgglomerationHandler<3> &handler,
  const unsigned int                       order,
  const FunctorOperations                 &functor)
  : functor(functor)
  , m(handler.polytopic_dofs().n_components)
{
  const auto &mesh = handler.polytopic_mesh();
  const auto &dofs = handler.polytopic_dofs();
  // All sub-cells are tetrahedra and all polytopes have one degree.
  const unsigned int quadrature =
    Tessella::internal::quadrature_order(3, dofs.degree[0], order, false);
  const double n_v = simplex_rule(3, quadrature).n_points,
               n_f = simplex_rule(2, quadrature).n_points, N = dofs.n_basis[0];
  double interior = 0., all = 0.;
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    {
      const double n     = mesh.facet_offset[i + 1] - mesh.facet_offset[i];
      const bool   inner = mesh.interface_polytope[2 * i + 1] != invalid_index;
      all += n * (inner ? 2. : 1.);
      interior += inner ? 2. * n : 0.;
    }
  n_volume      = n_v * mesh.n_subcells();
  n_facet       = n_f * all;
  volume_basis  = n_volume * N;
  facet_basis   = n_facet * N;
  other_basis   = n_f * interior * N;
  volume_pairs  = volume_basis * N;
  facet_pairs   = (facet_basis + other_basis) * N;
  vectors       = 8. * handler.n_dofs();
  geometry      = 8. * (12. * mesh.n_subcells() + 13. * mesh.n_facets());
  double blocks = mesh.n_polytopes();
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    blocks += mesh.interface_polytope[2 * i + 1] != invalid_index ? 2. : 0.;
  entries = 8. * blocks * N * m * N * m;
}



OperatorWork
OperatorWorkCounter::residual() const
{
  return {n_volume * functor.volume + n_facet * functor.facet +
            2. * m * (4. * volume_basis + 2. * facet_basis + other_basis),
          2. * vectors + geometry};
}



OperatorWork
OperatorWorkCounter::tangent() const
{
  return {(1. + derivative) *
              (n_volume * functor.volume + n_facet * functor.facet) +
            2. * m * (5. * volume_basis + 3. * facet_basis + 2. * other_basis),
          3. * vectors + geometry};
}



OperatorWork
OperatorWorkCounter::jacobian() const
{
  return {n_volume * functor.volume * (1. + m * derivative) +
            n_facet * functor.facet * (1. + 2. * m * derivative) +
            2. * m * (volume_basis + facet_basis + other_basis) +
            m * m *
              (6. * volume_basis + 2. * (facet_basis + other_basis) +
               2. * volume_pairs + 2. * facet_pairs),
          vectors + geometry + entries};
}
