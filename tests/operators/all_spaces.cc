// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Every number of components up to five with every degree up to six, and up to
// two components with degrees up to ten: residual, tangent and Jacobian of
// quadratic terms, for which R(u + v) - R(u - v) = 2 R'(u) v.

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/operators/pointwise_operator.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "../tests.h"
#include "quadratic_terms.h"

using namespace dealii;
using namespace Tessella;

/// Raises @p largest to the largest entry of @p difference relative to @p size,
/// and to a huge number if an entry is not finite.
void
raise(double &largest, const Vector<double> &difference, const double size)
{
  for (const double entry : difference)
    {
      const double value = std::abs(entry) / size;
      if (!(value <= largest))
        largest = std::isfinite(value) ? value : 1e300;
    }
}

template <int dim>
void
check_space(const Triangulation<dim> &triangulation,
            const unsigned int        m,
            const unsigned int        p,
            double (&largest)[2])
{
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::none<dim>());
  handler.distribute_dofs(FESystem<dim>(FE_BoundingBoxLegendre<dim>(p), m));
  AssemblyParameters data;
  data.backend = Backend::host;
  PointwiseOperator<dim>      op(handler, data);
  PointwiseTextIntegrand<dim> integrand(quadratic_terms(m));
  integrand.set_coefficient_order(p + 1);

  const unsigned int n = handler.n_dofs();
  Vector<double>     u(n), v(n), sum(n), difference(n), tangent(n), product(n);
  for (unsigned int i = 0; i < n; ++i)
    {
      u(i) = std::sin(1. + 2.3 * i) / (1. + i % 5);
      v(i) = std::cos(0.4 + 1.7 * i) / (1. + i % 3);
    }
  Vector<double> plus(u), minus(u);
  plus += v;
  minus -= v;
  op.residual(integrand, {&plus}, sum);
  op.residual(integrand, {&minus}, difference);
  const double size = sum.linfty_norm();
  sum -= difference;
  op.apply_tangent(integrand, {&u}, v, tangent);
  sum.add(-2., tangent);
  raise(largest[0], sum, size);

  HostBlockMatrix<double> jacobian;
  op.reinit(jacobian);
  op.assemble_jacobian(integrand, {&u}, jacobian);
  jacobian.vmult(product, v);
  product -= tangent;
  raise(largest[1], product, tangent.linfty_norm());
}

template <int dim>
void
check_spaces()
{
  Triangulation<dim>        triangulation;
  std::vector<unsigned int> n_cells(dim, 1);
  Point<dim>                corner;
  n_cells[0] = 2;
  for (unsigned int d = 0; d < dim; ++d)
    corner[d] = 1. + 0.2 * d;
  GridGenerator::subdivided_hyper_rectangle(triangulation,
                                            n_cells,
                                            Point<dim>(),
                                            corner);
  for (unsigned int m = 1; m <= 5; ++m)
    {
      double largest[2] = {};
      for (unsigned int p = 0; p <= (m <= 2 ? 10 : 6); ++p)
        check_space(triangulation, m, p, largest);
      const std::string name =
        std::to_string(dim) + "-D, m = " + std::to_string(m);
      check_below(name + ", tangent", largest[0], 1e-12);
      check_below(name + ", Jacobian", largest[1], 1e-12);
    }
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  check_spaces<2>();
  check_spaces<3>();
}
