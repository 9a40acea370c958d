// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Benchmark of pointwise operators: residual, tangent and Jacobian of the Euler
// equations on tetrahedra and on polyhedra of tetrahedra, on a CUDA device and
// on the host. Prints times per polytope and the times that the operations and
// bytes need at least at the rates of the device. See
// doc/performance/pointwise-operators.md.
//
// Arguments: degrees (1,2,3 by default), largest number of unknowns in
// thousands (4000), "host" to measure the host, too.

#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>

#include <tessella/base/information.h>
#include <tessella/device/cuda_device.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/operators/pointwise_operator.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "operator_throughput/euler.h"
#include "operator_throughput/operator_work.h"

namespace
{
  using namespace dealii;
  using namespace Tessella;

  constexpr int dim = 3, m = 5;

  /// Rates of one H200, as BENCHMARKS.md has them.
  constexpr double flop_rate = 56.9e12, byte_rate = 4.28e12;

  /// Density, momentum and energy, slightly disturbed.
  Vector<double>
  make_state(const AgglomerationHandler<dim> &handler)
  {
    const double   state[m] = {1.2, 0.5, 0.3, 0.3, 2.7};
    Vector<double> u(handler.n_dofs());
    const auto    &mesh = handler.polytopic_mesh();
    const auto    &dofs = handler.polytopic_dofs();
    for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
      {
        double volume = 1.;
        for (int d = 0; d < dim; ++d)
          volume *= mesh.box[6 * k + 3 + d] - mesh.box[6 * k + d];
        const unsigned int n = dofs.n_basis[k];
        for (unsigned int c = 0; c < m; ++c)
          for (unsigned int i = 0; i < n; ++i)
            u(dofs.dof_offset[k] + c * n + i) =
              std::sqrt(volume) * ((i == 0 ? state[c] : 0.) +
                                   0.01 * std::sin(i + 1.7 * c + 0.3 * k) / n);
      }
    return u;
  }

  /// Smallest time of some calls, as @p seconds returns it after each.
  double
  smallest(const std::function<void()>   &work,
           const std::function<double()> &seconds)
  {
    work();
    double result = 1e300;
    for (unsigned int i = 0; i < 5; ++i)
      {
        work();
        result = std::min(result, seconds());
      }
    return result;
  }

  void
  print(const std::string  &name,
        const double        n_polytopes,
        const double        kernel,
        const double        total,
        const OperatorWork &work)
  {
    const double floor =
      std::max(work.flops / flop_rate, work.bytes / byte_rate);
    std::cout << "  " << std::setw(18) << std::left << name << std::right
              << std::setprecision(4) << std::setw(10)
              << kernel / n_polytopes * 1e9 << " ns" << std::setw(10)
              << total / n_polytopes * 1e9 << " ns total" << std::setw(10)
              << work.flops / n_polytopes << " flop" << std::setw(10)
              << work.bytes / n_polytopes << " bytes, floor " << std::setw(8)
              << floor / n_polytopes * 1e9 << " ns, factor "
              << std::setprecision(3) << kernel / floor << std::endl;
  }

  template <typename VectorType, typename MatrixType>
  void
  measure(const Backend                    backend,
          const AgglomerationHandler<dim> &handler,
          const PointwiseIntegrand<dim>   &integrand,
          const bool                       with_matrix)
  {
    PointwiseOperator<dim>::AdditionalData data;
    data.backend = backend;
    PointwiseOperator<dim> op(handler, data);
    const Vector<double>   state = make_state(handler);
    VectorType             u, du, r;
    op.reinit(u);
    op.reinit(du);
    op.reinit(r);
    if constexpr (std::is_same<VectorType, Vector<double>>::value)
      {
        u  = state;
        du = state;
      }
    else
      {
        u.copy_from(state);
        du.copy_from(state);
      }
    const double n      = handler.polytopic_mesh().n_polytopes();
    const bool   device = backend == Backend::cuda;
    const auto   time   = [&](const std::function<void()> &work,
                          const std::string           &name,
                          const OperatorWork          &counted) {
      double     total   = 1e300;
      const auto seconds = [&]() {
        total = std::min(total, op.report().time);
        return device ? op.report().kernel_time : op.report().time;
      };
      const double kernel = smallest(work, seconds);
      print((device ? "device " : "host ") + name, n, kernel, total, counted);
    };
    const OperatorWorkCounter counter(handler, integrand.coefficient_order());
    time([&]() { op.residual(integrand, {&u}, r); },
         "residual",
         counter.residual());
    time([&]() { op.apply_tangent(integrand, {&u}, du, r); },
         "tangent",
         counter.tangent());
    if (!with_matrix)
      return;
    MatrixType matrix;
    op.reinit(matrix);
    time(
      [&]() {
        const std::vector<const VectorType *> fields = {&u};
        op.assemble_jacobian(integrand, fields, matrix);
      },
      "Jacobian",
      counter.jacobian());
  }

  void
  run(const std::vector<unsigned int> &degrees,
      const double                     max_unknowns,
      const bool                       host)
  {
    std::cout << library_information() << ".\n"
              << (cuda_is_available() ? cuda_device_name()
                                      : why_cuda_is_unavailable())
              << std::endl;
    Euler<dim>   euler;
    const double state[m] = {1.2, 0.5, 0.3, 0.3, 2.7};
    std::copy(state, state + m, euler.outside);
    const auto integrand = make_euler(euler);
    for (const bool polyhedra : {false, true})
      for (const unsigned int p : degrees)
        {
          const double cells = max_unknowns * (polyhedra ? 16. : 1.) /
                               (m * (p + 1) * (p + 2) * (p + 3) / 6);
          const auto n = static_cast<unsigned int>(
            std::max(2., std::cbrt(std::min(cells, 1.2e6) / 5.)));
          Triangulation<dim> triangulation;
          GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
          AgglomerationHandler<dim> handler(triangulation);
          const unsigned int        n_cells = triangulation.n_active_cells();
          handler.agglomerate(Agglomeration::rtree_parts<dim>(
            polyhedra ? n_cells / 16 : n_cells));
          handler.distribute_dofs(
            FESystem<dim>(FE_BoundingBoxLegendre<dim>(p), m));
          integrand->set_coefficient_order(p);
          std::cout << (polyhedra ? "polyhedra of 16 tetrahedra" : "tetrahedra")
                    << ", p = " << p << ": "
                    << handler.polytopic_mesh().n_polytopes() << " polytopes, "
                    << handler.n_dofs() << " unknowns" << std::endl;
          if (cuda_is_available())
            measure<DeviceVector<double>, DeviceBlockMatrix<double>>(
              Backend::cuda, handler, *integrand, true);
          if (host || !cuda_is_available())
            measure<Vector<double>, HostBlockMatrix<double>>(Backend::host,
                                                             handler,
                                                             *integrand,
                                                             true);
        }
  }
} // namespace

int
main(int argc, char **argv)
{
  try
    {
      Utilities::MPI::MPI_InitFinalize mpi(argc, argv);
      std::vector<unsigned int>        degrees = {1, 2, 3};
      if (argc > 1)
        {
          degrees.clear();
          for (const char *c = argv[1]; *c != 0; ++c)
            if (*c >= '0' && *c <= '9')
              degrees.push_back(*c - '0');
        }
      run(degrees,
          1e3 * (argc > 2 ? std::atof(argv[2]) : 4000.),
          argc > 3 && std::string(argv[3]) == "host");
    }
  catch (const std::exception &e)
    {
      std::cerr << e.what() << std::endl;
      return 1;
    }
  return 0;
}
