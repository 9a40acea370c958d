// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// TraceMultigrid on a CUDA device: the same preconditioner and as many
// iterations as on the host, with both coarse operators, in double, single and
// half precision, as a CUDA graph and without, with kernels that overlap and
// without; new values of the matrix give what a new object gives. Argument: 2d
// or 3d.

#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/matching.h>
#include <tessella/hdg/trace_multigrid.h>

#include <iostream>
#include <memory>
#include <string>

#include "../../cuda/device/overlap.h"
#include "../lambda.h"
#include "checks.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  using Host   = HostBlockMatrix<double>;
  using Device = DeviceBlockMatrix<double>;

  // Trace system of the unit square or cube in simplices, or in polytopes of
  // eight of them, on the host and on the device.
  template <int dim>
  struct Problem
  {
    Problem(const bool polytopes, const bool constant, const unsigned int p)
    {
      GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                          dim == 2 ? 12 : 4);
      handler =
        std::make_unique<Tessella::AgglomerationHandler<dim>>(triangulation);
      handler->agglomerate(polytopes ? Agglomeration::matching<dim>(
                                         triangulation.n_active_cells() / 8)
                                     : Agglomeration::none<dim>());
      handler->distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
      set_coefficients(constant, 1.);
      form.set_source(1.);
      typename HDG<dim>::AdditionalData data;
      data.trace_space =
        polytopes ? TraceSpaceType::interface : TraceSpaceType::facet;
      data.backend = Backend::host;
      on_host      = std::make_unique<HDG<dim>>(*handler, data);
      data.backend = Backend::cuda;
      on_device    = std::make_unique<HDG<dim>>(*handler, data);
      on_host->reinit(form, matrix, rhs);
      on_device->reinit(form, device, device_rhs);
      assemble();
    }

    void
    set_coefficients(const bool constant, const double factor)
    {
      form.set_reaction(1.);
      if (constant)
        form.set_diffusion(factor);
      else
        form.set_diffusion(
          [factor](const Point<dim> &x) { return 1. + factor * x[0] * x[1]; });
    }

    void
    assemble()
    {
      on_host->assemble(form, matrix, rhs);
      on_host->copy_blocks(matrix, host);
      on_device->assemble(form, device, device_rhs);
    }

    template <typename MG>
    unsigned int
    device_iterations(const MG &multigrid) const
    {
      DeviceVector<double> x(device_rhs.size());
      SolverControl        control(100, 1e-10 * device_rhs.l2_norm());
      SolverCG<DeviceVector<double>>(control).solve(device,
                                                    x,
                                                    device_rhs,
                                                    multigrid);
      return control.last_step();
    }

    template <typename MG>
    unsigned int
    host_iterations(const MG &multigrid) const
    {
      Vector<double> x(rhs.size()), b(rhs.size());
      for (unsigned int i = 0; i < b.size(); ++i)
        b(i) = rhs.begin()[i];
      SolverControl control(100, 1e-10 * b.l2_norm());
      SolverCG<Vector<double>>(control).solve(host, x, b, multigrid);
      return control.last_step();
    }

    Triangulation<dim>                                   triangulation;
    std::unique_ptr<Tessella::AgglomerationHandler<dim>> handler;
    AdvectionDiffusionReaction<dim>                      form;
    std::unique_ptr<HDG<dim>>                            on_host, on_device;
    TrilinosWrappers::SparseMatrix                       matrix;
    TrilinosWrappers::MPI::Vector                        rhs;
    Host                                                 host;
    Device                                               device;
    DeviceVector<double>                                 device_rhs;
  };

  Vector<double>
  some_vector(const unsigned int n)
  {
    Vector<double> x(n);
    for (unsigned int i = 0; i < n; ++i)
      x(i) = std::sin(1. + 3. * i);
    return x;
  }

  template <typename MG>
  Vector<double>
  apply(const MG &multigrid, const Vector<double> &x)
  {
    DeviceVector<double> X(x), Y(x.size());
    multigrid.vmult(Y, X);
    Vector<double> y(x.size());
    Y.copy_to(y);
    return y;
  }

  double
  difference(Vector<double> a, const Vector<double> &b)
  {
    a -= b;
    return a.l2_norm() / b.l2_norm();
  }

  template <int dim, typename CoarseOperator>
  void
  compare(const std::string   &name,
          Problem<dim>        &problem,
          const bool           constant,
          const CoarseOperator coarse_operator)
  {
    using OnHost   = TraceMultigrid<dim, Host>;
    using OnDevice = TraceMultigrid<dim, Device>;
    using InFloat  = TraceMultigrid<dim, DeviceBlockMatrix<float>>;
    OnHost     host;
    OnDevice   device;
    InFloat    in_float, in_half;
    const bool galerkin = coarse_operator == CoarseOperator::galerkin;
    const auto data     = [&](auto *multigrid) {
      using MG = std::remove_pointer_t<decltype(multigrid)>;
      typename MG::AdditionalData result;
      result.n_coarsest = 16;
      if (!galerkin)
        result.coarse_operator = MG::CoarseOperator::interior_penalty;
      return result;
    };
    problem.set_coefficients(constant, 1.);
    problem.assemble();
    host.initialize(*problem.handler,
                    *problem.on_host,
                    problem.form,
                    problem.host,
                    data(&host));
    device.initialize(*problem.handler,
                      *problem.on_device,
                      problem.form,
                      problem.device,
                      data(&device));
    in_float.initialize(*problem.handler,
                        *problem.on_device,
                        problem.form,
                        problem.device,
                        data(&in_float));
    auto with_half           = data(&in_half);
    with_half.half_precision = true;
    in_half.initialize(*problem.handler,
                       *problem.on_device,
                       problem.form,
                       problem.device,
                       with_half);
    // Interfaces of polytopes have blocks of different sizes.
    const auto &offset  = problem.device.dof_offset();
    bool        uniform = offset[1] <= 10;
    for (std::size_t k = 0; k + 1 < offset.size(); ++k)
      uniform = uniform && offset[k + 1] - offset[k] == offset[1];
    verify(name + ": half precision where blocks have one size",
           in_half.report().half_precision == uniform);
    auto without_graphs        = data(&device);
    auto half_without_graphs   = with_half;
    without_graphs.cuda_graphs = half_without_graphs.cuda_graphs = false;
    const auto check = [&](const std::string &what) {
      const Vector<double> x = some_vector(problem.rhs.size());
      Vector<double>       y(x.size());
      host.vmult(y, x);
      // Called directly, recorded, and started.
      const Vector<double> first = apply(device, x), second = apply(device, x),
                           third = apply(device, x);
      const double error         = difference(first, y);
      verify(what + ": preconditioner", error < 1e-9, std::to_string(error));
      verify(what + ": the same bits by a graph",
             first == second && first == third);
      const double rounding = difference(apply(in_float, x), y);
      verify(what + ": single precision",
             rounding < 1e-2 && rounding > 0.,
             std::to_string(rounding));
      const Vector<double> by_half = apply(in_half, x);
      const double         coarser = difference(by_half, y);
      verify(what + ": half precision",
             coarser < 2e-2 && coarser > rounding / 10.,
             std::to_string(coarser));
      const unsigned int n[4] = {problem.host_iterations(host),
                                 problem.device_iterations(device),
                                 problem.device_iterations(in_float),
                                 problem.device_iterations(in_half)};
      verify(what + ": iterations",
             n[0] <= 25 && n[1] <= n[0] + 1 && n[2] <= n[0] + 2 &&
               n[3] <= n[0] + 2,
             std::to_string(n[0]) + " " + std::to_string(n[1]) + " " +
               std::to_string(n[2]) + " " + std::to_string(n[3]));
      // The eigenvalues of the set-up are the same as well.
      const bool can_overlap = Tessella::internal::Device::allow_overlap(false);
      verify(what + ": kernels overlap", can_overlap);
      const auto check_overlap = [&](auto       &multigrid,
                                     const auto &multigrid_data) {
        Vector<double> results[2];
        for (const bool overlap : {false, true})
          {
            Tessella::internal::Device::allow_overlap(overlap);
            multigrid.initialize(*problem.handler,
                                 *problem.on_device,
                                 problem.form,
                                 problem.device,
                                 multigrid_data);
            results[overlap] = apply(multigrid, x);
          }
        return results[0] == results[1];
      };
      OnDevice in_double;
      InFloat  again;
      verify(what + ": the same bits by kernels that overlap",
             check_overlap(in_double, without_graphs));
      verify(what + ": the same in half precision",
             check_overlap(again, half_without_graphs));
    };
    check(name);
    verify(name + ": graphs",
           device.graph_report().n_replayed > 0 &&
             in_float.graph_report().n_replayed > 0,
           device.graph_report().why);

    problem.set_coefficients(constant, 3.);
    problem.assemble();
    host.update(problem.form);
    device.update(problem.form);
    in_float.update(problem.form);
    in_half.update(problem.form);
    check(name + ", other values");
    OnDevice fresh;
    fresh.initialize(*problem.handler,
                     *problem.on_device,
                     problem.form,
                     problem.device,
                     data(&fresh));
    const Vector<double> x     = some_vector(problem.rhs.size());
    const double         error = difference(apply(fresh, x), apply(device, x));
    if (constant)
      verify(name + ": as a new object", error < 1e-12, std::to_string(error));
    // Groups are those of the first values, which are as good for the others.
    const unsigned int n_fresh   = problem.device_iterations(fresh),
                       n_updated = problem.device_iterations(device);
    verify(name + ": as good as a new object",
           n_fresh <= 25 && n_updated <= n_fresh + (constant ? 0 : 2),
           std::to_string(n_updated) + " " + std::to_string(n_fresh));
    std::cout << name << ": " << n_updated << " iterations, a new object "
              << n_fresh << ", difference " << error << std::endl;
  }

  // Half precision for types and smoothers that do not have it.
  template <int dim>
  void
  check_errors()
  {
    Problem<dim> problem(false, true, 1);
    const auto   message = [&](auto &multigrid, auto data) {
      try
        {
          multigrid.initialize(*problem.handler,
                               *problem.on_device,
                               problem.form,
                               problem.device,
                               data);
        }
      catch (const ExceptionBase &exception)
        {
          return std::string(exception.what());
        }
      return std::string();
    };
    TraceMultigrid<dim, Device>                          in_double;
    TraceMultigrid<dim, DeviceBlockMatrix<float>>        in_float;
    typename TraceMultigrid<dim, Device>::AdditionalData double_data;
    typename TraceMultigrid<dim, DeviceBlockMatrix<float>>::AdditionalData data;
    double_data.half_precision = data.half_precision = true;
    verify("half precision of a matrix in double precision",
           message(in_double, double_data).find("half_precision") !=
             std::string::npos);
    data.smoother = MultigridSmoother::gauss_seidel;
    verify("half precision with another smoother",
           message(in_float, data).find("half_precision") != std::string::npos);
  }

  template <int dim>
  void
  run()
  {
    check_errors<dim>();
    using CoarseOperator = typename TraceMultigrid<dim, Host>::CoarseOperator;
    for (const bool polytopes : {false, true})
      for (const bool constant : {true, false})
        {
          Problem<dim> problem(polytopes, constant, dim == 2 ? 3 : 2);
          for (const auto coarse_operator :
               {CoarseOperator::galerkin, CoarseOperator::interior_penalty})
            compare<dim, CoarseOperator>(
              std::string(polytopes ? "polytopes" : "simplices") +
                (constant ? ", constant" : ", variable") +
                (coarse_operator == CoarseOperator::galerkin
                   ? ", Galerkin"
                   : ", interior penalty"),
              problem,
              constant,
              coarse_operator);
        }
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [](const std::string &name) {
    if (name == "2d")
      run<2>();
    else
      run<3>();
  });
}
