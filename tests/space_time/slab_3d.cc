// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Space-time slabs in three space dimensions: the matrix is a sum of products
// of matrices in space and in time, polynomials are reproduced on all kinds of
// meshes with local time stepping, several slabs have the same solution as one
// slab of several intervals, mass is conserved without outflow, convergence
// rates; values per material and per cell. With an argument the program writes
// the table of errors.

#include <tessella/quadrature/reference_quadrature.h>

#include "../assembly/assembler_data.h"
#include "checks.h"

// With constant coefficients the block of two elements of one interval is
//   T (x) M + I (x) A
// where A and M are the matrices of the equation and of u v in space, and T is
// that of d/dt and the inflow in time, for functions that are orthonormal in
// time. A penalty that varies with time on facets would break this structure.
void
compare_with_products(const std::string &name, const unsigned int n_polytopes)
{
  Triangulation<3> triangulation;
  make_mesh(name, triangulation);
  Tessella::AgglomerationHandler<3> handler(triangulation,
                                            mapping_for<3, 2>(name));
  handler.agglomerate(scattered<3>(n_polytopes));
  const unsigned int p = 2;
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<3>(p));
  const Tensor<2, 3> a({{1., 0.2, 0.}, {0.2, 0.5, 0.1}, {0., 0.1, 0.7}});
  const Tensor<1, 3> w({1., -0.4, 0.3});
  const double       c = 0.8, length = 0.7;
  // Odd orders have the same points on facets that are not planar.
  const unsigned int order = 1;

  // ---- in space
  const auto set_coefficients = [&](auto &form) {
    form.set_diffusion(a);
    form.set_advection(w);
    form.set_reaction(c);
    form.set_coefficient_order(order);
  };
  Tessella::AdvectionDiffusionReaction<3> stationary;
  set_coefficients(stationary);
  Tessella::PolytopicAssembler<3> assembler(handler,
                                            on<3>(Tessella::Backend::host));
  SparsityPattern                 patterns[3];
  SparseMatrix<double>            A, M, B;
  Vector<double>                  rhs;
  assembler.reinit(patterns[0], A, rhs);
  assembler.assemble_matrix(stationary, A);
  assembler.reinit(patterns[1], M, rhs);
  assembler.assemble_matrix(Tessella::MassForm<3>(1.), M);

  // ---- in time: int psi_j' psi_i + psi_j(0) psi_i(0)
  double                         T[p + 1][p + 1];
  const Tessella::ReferenceRule &rule = Tessella::simplex_rule(1, 2 * p);
  for (unsigned int i = 0; i <= p; ++i)
    for (unsigned int j = 0; j <= p; ++j)
      {
        double value[p + 1], slope[p + 1];
        Tessella::Legendre::evaluate(p, -1., value);
        T[i][j] = value[i] * value[j] / length;
        for (unsigned int q = 0; q < rule.n_points; ++q)
          {
            Tessella::Legendre::evaluate(p,
                                         2. * rule.points[q] - 1.,
                                         value,
                                         slope);
            T[i][j] += rule.weights[q] * value[i] * slope[j] * 2. / length;
          }
      }

  for (const PolynomialSpaceType space :
       {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
    {
      // exponents of functions, and indices of their spatial factors
      const unsigned int n   = Tessella::Legendre::n_functions(4, p, space),
                         n_x = Tessella::Legendre::n_functions(3, p, false);
      std::vector<unsigned char> e(4 * n), f(3 * n_x);
      Tessella::Legendre::exponents(4, p, space, e.data());
      Tessella::Legendre::exponents(3, p, false, f.data());
      std::vector<unsigned int> factor(n);
      for (unsigned int i = 0; i < n; ++i)
        while (!std::equal(&e[4 * i], &e[4 * i] + 3, &f[3 * factor[i]]))
          ++factor[i];

      Tessella::SpaceTimeSlab<3> slab(handler, space);
      slab.reinit(0.3, length);
      Tessella::SpaceTimeForm<3> form;
      set_coefficients(form);
      Tessella::PolytopicAssembler<4> product(slab,
                                              on<4>(Tessella::Backend::host));
      product.reinit(patterns[2], B, rhs);
      product.assemble_matrix(form, B);
      double difference = 0., largest = 0.;
      for (const auto &entry : B)
        {
          const unsigned int k = entry.row() / n, l = entry.column() / n,
                             i = entry.row() % n, j = entry.column() % n;
          const unsigned int row    = k * n_x + factor[i],
                             column = l * n_x + factor[j];
          const double expected =
            (k == l ? T[e[4 * i + 3]][e[4 * j + 3]] * M(row, column) : 0.) +
            (e[4 * i + 3] == e[4 * j + 3] ? A(row, column) : 0.);
          largest    = std::max(largest, std::abs(expected));
          difference = std::max(difference, std::abs(entry.value() - expected));
        }
      check_below(name +
                    (space == PolynomialSpaceType::prismatic ? ", PQ" : ", P") +
                    " matrix of products",
                  difference,
                  1e-12 * largest);
    }
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  for (const std::string name :
       {"box", "distorted", "simplices", "hanging", "curved", "periodic"})
    compare_with_products(name, name == "periodic" ? 5 : 4);
  compare_with_products("wedge", 1);
  compare_with_products("pyramid", 1);
  reproduce_polynomials<3>({"distorted", "simplices", "hanging", "curved"},
                           {1, 0});
  reproduce_polynomials<3>({"box"}, {2});
  compare_slabs<3>(1);
  check_cell_values<3>();
  for (const PolynomialSpaceType space :
       {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
    {
      converge<3>(space, 1, {3, 6}, false, argc > 1);
      converge<3>(
        space, 2, {2, 4}, space == PolynomialSpaceType::prismatic, argc > 1);
    }
}
