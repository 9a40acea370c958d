// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Pointwise operators of five components in 2-D and four in 3-D, and operators
// on pyramids and wedges, against the slow operator with derivatives by Sacado.
//
// Only as Release, as pointwise_3d.

#include "../mixed_mesh.h"
#include "pointwise.h"

/// Terms that couple component c with its neighbours c + 1 and c - 1, in all
/// rows.
template <int dim, int m>
struct Chain
{
  using Fields                      = Tessella::FieldComponents<m>;
  static constexpr int n_components = m;

  template <typename U, typename R>
  TESSELLA_HOST_DEVICE void
  volume(const OperatorPoint<dim> &p, const U &u, R &r) const
  {
    using namespace Tessella::PointwiseMath;
    for (int c = 0; c < m; ++c)
      {
        const int next = (c + 1) % m, last = (c + m - 1) % m;
        r.value[c] = sin(u.value[next]) * u.value[c] + p.x[0] * u.value[last];
        for (int d = 0; d < dim; ++d)
          {
            r.gradient[c][d] =
              (1. + u.value[last] * u.value[last]) * u.gradient[next][d] +
              0.3 * (d + 1.) * u.value[c] * u.value[next];
            r.value[c] += 0.1 * u.gradient[c][d] * u.gradient[last][d];
          }
      }
  }

  template <typename U, typename R>
  TESSELLA_HOST_DEVICE void
  interior_facet(
    const OperatorPoint<dim> &p, const U &u0, const U &u1, R &r0, R &r1) const
  {
    for (int c = 0; c < m; ++c)
      {
        const int  next = (c + 1) % m;
        const auto jump = u0.value[c] - u1.value[c];
        auto       flux = p.penalty * jump * (2. + u0.value[next]);
        for (int d = 0; d < dim; ++d)
          {
            flux += 0.5 * p.normal[d] *
                    (u0.value[c] * u0.value[next] - u1.gradient[next][d]);
            r0.gradient[c][d] = -0.5 * p.normal[d] * jump * u1.value[next];
            r1.gradient[c][d] = -0.4 * p.normal[d] * jump * u0.value[next];
          }
        r0.value[c] = flux;
        r1.value[c] = -flux;
      }
  }

  template <typename U, typename R>
  TESSELLA_HOST_DEVICE void
  boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
  {
    using namespace Tessella::PointwiseMath;
    for (int c = 0; c < m; ++c)
      {
        const int next = (c + 1) % m;
        r.value[c]     = p.penalty * exp(0.2 * u.value[c]) * u.value[next];
        for (int d = 0; d < dim; ++d)
          r.gradient[c][d] =
            p.normal[d] * u.value[c] * (1. + p.x[0] - u.value[next]);
      }
  }
};

template <int dim, int m>
void
compare_chain(const std::string                  &name,
              Triangulation<dim>                 &triangulation,
              const Mapping<dim>                 *mapping,
              const std::string                  &agglomeration,
              const unsigned int                  p,
              const bool                          hp,
              const Tessella::PolynomialSpaceType space)
{
  AgglomerationHandler<dim> handler(triangulation, mapping);
  handler.agglomerate(make_strategy<dim>(agglomeration));
  distribute(handler, p, hp, m, space);
  std::vector<double> constants;
  for (int c = 0; c < m; ++c)
    constants.push_back(0.4 - 0.15 * c);
  Vector<double> u;
  set_field(handler, constants, 0.4, u);
  compare<dim>(
    name + ", m = " + std::to_string(m), {&handler}, 0, Chain<dim, m>(), {u});
}

/// A cube, a pyramid, a wedge and a tetrahedron, each a polytope, and two of
/// them in each polytope.
void
compare_mixed()
{
  const auto total = Tessella::PolynomialSpaceType::total_degree;
  for (const unsigned int n : {1, 2})
    for (const unsigned int p : {1, 2, 3})
      {
        Triangulation<3> triangulation;
        make_mixed_mesh(triangulation);
        AgglomerationHandler<3> flow(triangulation), chain(triangulation);
        for (auto *handler : {&flow, &chain})
          handler->agglomerate([n](const Triangulation<3> &mesh) {
            std::vector<unsigned int> ids;
            for (unsigned int i = 0; i < mesh.n_active_cells(); ++i)
              ids.push_back(i / n);
            return ids;
          });
        const std::string name = "3-D pyramids and wedges, " +
                                 std::to_string(n) +
                                 " cells, p = " + std::to_string(p);
        distribute(flow, p, n == 2, 5, total);
        distribute(chain, p, n == 2, 4, total);
        Vector<double> u;
        set_field(flow, euler_state<3>(), 0.1, u);
        compare<3>(name + ", Euler", {&flow}, 0, euler<3>(), {u}, 1);
        set_field(chain, {0.4, 0.2, 0.1, -0.1}, 0.4, u);
        compare<3>(name + ", m = 4", {&chain}, 0, Chain<3, 4>(), {u});
      }
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();
  for_meshes<2>([](auto &&...arguments) { compare_chain<2, 5>(arguments...); });
  for_meshes<3>([](auto &&...arguments) { compare_chain<3, 4>(arguments...); });
  compare_mixed();
}
