// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Every number of components up to five with every degree up to six, and up to
// two components with degrees up to ten, on a CUDA device: residual, tangent
// and Jacobian are those of the host, on boxes and on simplices. Prints which
// kernels ran. Argument: dimension and number of components, as in 3d_5. The
// functor of a case is compiled at run time, 12 kernels.

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/operators/pointwise_operator.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "../operators/quadratic_terms.h"
#include "checks.h"

namespace
{
  using namespace dealii;
  using namespace Tessella;

  /// Largest difference of entries begin .. end - 1 relative to the largest
  /// one.
  double
  difference(const double *a, const double *b, const std::size_t n)
  {
    double size = 0., largest = 0.;
    for (std::size_t i = 0; i < n; ++i)
      {
        size           = std::max(size, std::abs(a[i]));
        const double d = std::abs(a[i] - b[i]);
        if (!(d <= largest) && !std::isnan(largest))
          largest = d;
      }
    return size == 0. ? largest : largest / size;
  }

  /// Results of one backend.
  template <int dim>
  struct Results
  {
    Results(const AgglomerationHandler<dim>   &handler,
            const PointwiseTextIntegrand<dim> &integrand,
            const Backend                      backend)
    {
      AssemblyParameters data;
      data.backend = backend;
      PointwiseOperator<dim> op(handler, data);
      const unsigned int     n = handler.n_dofs();
      Vector<double>         u(n), v(n);
      for (unsigned int i = 0; i < n; ++i)
        {
          u(i) = std::sin(1. + 2.3 * i) / (1. + i % 5);
          v(i) = std::cos(0.4 + 1.7 * i) / (1. + i % 3);
        }
      op.reinit(residual);
      op.reinit(tangent);
      op.residual(integrand, {&u}, residual);
      ran     = op.report().backend;
      kernels = op.report().kernels;
      op.apply_tangent(integrand, {&u}, v, tangent);
      op.reinit(jacobian);
      op.assemble_jacobian(integrand, {&u}, jacobian);
    }

    Backend                 ran = Backend::automatic;
    Vector<double>          residual, tangent;
    HostBlockMatrix<double> jacobian;
    std::string             kernels;
  };

  template <int dim>
  std::string
  compare(const std::string                 &name,
          const AgglomerationHandler<dim>   &handler,
          const PointwiseTextIntegrand<dim> &integrand)
  {
    const Results<dim> host(handler, integrand, Backend::host),
      cuda(handler, integrand, Backend::cuda);
    verify(name + "on the device", cuda.ran == Backend::cuda);
    const auto check = [&](const std::string &what, const double value) {
      verify(name + what,
             value <= 1e-12,
             std::to_string(value * 1e12) + "e-12");
    };
    const auto of_vectors = [&](const Vector<double> &a,
                                const Vector<double> &b) {
      return difference(a.begin(), b.begin(), a.size());
    };
    check("residual", of_vectors(host.residual, cuda.residual));
    check("tangent", of_vectors(host.tangent, cuda.tangent));
    const auto &offset  = host.jacobian.block_sparsity().value_offset;
    double      largest = 0.;
    for (std::size_t k = 0; k + 1 < offset.size(); ++k)
      {
        const double d = difference(host.jacobian.values() + offset[k],
                                    cuda.jacobian.values() + offset[k],
                                    offset[k + 1] - offset[k]);
        if (!(d <= largest) && !std::isnan(largest))
          largest = d;
      }
    check("Jacobian", largest);
    verify(name + "not zero",
           host.residual.linfty_norm() > 0. && host.tangent.linfty_norm() > 0.);
    return cuda.kernels;
  }

  template <int dim>
  void
  check_mesh(const bool simplices, const unsigned int m)
  {
    Triangulation<dim>        triangulation;
    std::vector<unsigned int> n_cells(dim, 1);
    Point<dim>                corner;
    n_cells[0] = 2;
    for (unsigned int d = 0; d < dim; ++d)
      corner[d] = 1. + 0.2 * d;
    if (simplices)
      GridGenerator::subdivided_hyper_rectangle_with_simplices(triangulation,
                                                               n_cells,
                                                               Point<dim>(),
                                                               corner);
    else
      GridGenerator::subdivided_hyper_rectangle(triangulation,
                                                n_cells,
                                                Point<dim>(),
                                                corner);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(Agglomeration::none<dim>());
    PointwiseTextIntegrand<dim> integrand(quadratic_terms(m));
    for (unsigned int p = 0; p <= (m <= 2 ? 10 : 6); ++p)
      {
        handler.distribute_dofs(
          FESystem<dim>(FE_BoundingBoxLegendre<dim>(p), m));
        integrand.set_coefficient_order(p + 1);
        const std::string name =
          std::to_string(dim) + "-D, " + (simplices ? "simplices" : "boxes") +
          ", m = " + std::to_string(m) + ", p = " + std::to_string(p) + ": ";
        std::cout << name << compare(name, handler, integrand) << std::endl;
      }
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [](const std::string &name) {
    const unsigned int m = name.size() == 4 ? name[3] - '0' : 0;
    AssertThrow(m >= 1 && m <= 5, ExcMessage("The argument is 2d_1 or so."));
    for (const bool simplices : {false, true})
      if (name[0] == '2')
        check_mesh<2>(simplices, m);
      else
        check_mesh<3>(simplices, m);
  });
}
