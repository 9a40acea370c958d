// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Block preconditioners and multigrid on a CUDA device: the same results and
// iterations as on the host, symmetry, the same bits when repeated; the
// messages if there is no device, or too little memory; elasticity, and null
// spaces. Argument: 2d, 3d, components, null_space, update, memory or
// unavailable. Returns 77 if the case cannot run on this machine, 1 if a check
// fails.

#include <iostream>

#include "../../cuda/device/memory_pool.h"
#include "../multigrid/check_components.h"
#include "../multigrid/check_null_space.h"
#include "../multigrid/check_update.h"
#include "../tests.h"
#include "checks.h"

using namespace MultigridTest;

namespace
{
  using Host   = HostBlockMatrix<double>;
  using Device = DeviceBlockMatrix<double>;

  double
  relative_difference(const Vector<double> &a, const Vector<double> &b)
  {
    Vector<double> c(a);
    c -= b;
    return c.l2_norm() / b.l2_norm();
  }

  /// Difference between the same preconditioner on host and device, applied to
  /// the same vector.
  template <typename OnHost, typename OnDevice>
  double
  difference(const OnHost &host, const OnDevice &device, const unsigned int n)
  {
    const Vector<double> x = some_vector(n, 5);
    Vector<double>       y(n);
    host.vmult(y, x);
    DeviceVector<double> X(x), Y(n);
    device.vmult(Y, X);
    return relative_difference(get(Y), y);
  }

  // Multigrid in single precision for matrices in double precision.
  template <int dim>
  void
  compare_single_precision(const std::string        &name,
                           const Case<dim, Host>    &host,
                           const Case<dim, Device>  &device,
                           const MultigridHierarchy &hierarchy,
                           const bool                bounded)
  {
    Multigrid<DeviceBlockMatrix<float>> on_device;
    on_device.initialize(device.matrix, device.without_penalty, hierarchy);
    Multigrid<HostBlockMatrix<float>> on_host;
    on_host.initialize(host.matrix, host.without_penalty, hierarchy);
    const unsigned int n = device.cg_iterations(on_device),
                       N = host.cg_iterations(on_host);
    verify(name + ", in float",
           n <= N + 1 && N <= n + 1 && (!bounded || n <= 20),
           std::to_string(n) + " " + std::to_string(N));
  }

  template <int dim>
  void
  compare(const std::string               &name,
          const unsigned int               cells,
          const unsigned int               size,
          const std::vector<unsigned int> &degrees,
          const bool                       simplices)
  {
    Case<dim, Host>   host(cells, size, degrees, simplices);
    Case<dim, Device> device(cells, size, degrees, simplices);
    // The matrices have the same values, so that only the preconditioners can
    // differ.
    std::vector<double> values;
    host.matrix.copy_to(values);
    device.matrix.copy_from(values);
    host.without_penalty.copy_to(values);
    device.without_penalty.copy_from(values);
    device.rhs.copy_from(host.rhs);
    const unsigned int       n         = host.rhs.size();
    const MultigridHierarchy hierarchy = host.hierarchy();
    const auto below = [&](const std::string &what, const double value) {
      verify(name + what, value < 1e-9, std::to_string(value / 1e-9));
    };

    BlockJacobi<Host>   jacobi;
    BlockJacobi<Device> device_jacobi;
    jacobi.initialize(host.matrix);
    device_jacobi.initialize(device.matrix);
    below(", block Jacobi", difference(jacobi, device_jacobi, n));
    below(", its transpose", device.asymmetry(device_jacobi, true));
    BlockChebyshev<Host>   chebyshev;
    BlockChebyshev<Device> device_chebyshev;
    chebyshev.initialize(host.matrix);
    device_chebyshev.initialize(device.matrix);
    below(", Chebyshev", difference(chebyshev, device_chebyshev, n));
    BlockGaussSeidel<Host>   gauss_seidel;
    BlockGaussSeidel<Device> device_gauss_seidel;
    gauss_seidel.initialize(host.matrix);
    device_gauss_seidel.initialize(device.matrix);
    below(", Gauss-Seidel", difference(gauss_seidel, device_gauss_seidel, n));

    const bool one_degree = degrees.size() == 1;
    for (unsigned int kind = 0; kind < 8; ++kind)
      {
        Multigrid<Host>                            multigrid;
        Multigrid<Device>                          device_multigrid;
        typename Multigrid<Host>::AdditionalData   data;
        typename Multigrid<Device>::AdditionalData device_data;
        if (kind % 2 == 1)
          {
            data.smoother        = Multigrid<Host>::Smoother::gauss_seidel;
            device_data.smoother = Multigrid<Device>::Smoother::gauss_seidel;
          }
        if (kind / 2 % 2 == 1)
          {
            data.cycle        = Multigrid<Host>::Cycle::w;
            device_data.cycle = Multigrid<Device>::Cycle::w;
          }
        if (kind < 4)
          {
            multigrid.initialize(host.matrix, hierarchy, data);
            device_multigrid.initialize(device.matrix, hierarchy, device_data);
          }
        else
          {
            multigrid.initialize(host.matrix,
                                 host.without_penalty,
                                 hierarchy,
                                 data);
            device_multigrid.initialize(device.matrix,
                                        device.without_penalty,
                                        hierarchy,
                                        device_data);
          }
        const std::string what = ", multigrid " + std::to_string(kind);
        below(what, difference(multigrid, device_multigrid, n));
        below(what + ", symmetry", device.asymmetry(device_multigrid, false));
        const unsigned int on_host   = host.cg_iterations(multigrid),
                           on_device = device.cg_iterations(device_multigrid);
        verify(name + what + ", iterations",
               on_host == on_device &&
                 (kind < 4 || !one_degree || on_host <= 20),
               std::to_string(on_host) + " " + std::to_string(on_device));
        DeviceVector<double> X(some_vector(n, 9)), Y(n), Z(n);
        device_multigrid.vmult(Y, X);
        device_multigrid.vmult(Z, X);
        verify(name + what + ", same bits", Y == Z);
      }
    // assembled on the device
    Multigrid<Device> assembled;
    assembled.initialize(device.matrix,
                         assemble_coarse_operators<Device>(*device.handler,
                                                           hierarchy,
                                                           device.form,
                                                           device.data),
                         hierarchy);
    const unsigned int iterations = device.cg_iterations(assembled);
    verify(name + ", assembled operators",
           iterations <= 25,
           std::to_string(iterations));
    compare_single_precision(name, host, device, hierarchy, one_degree);
  }

  // Polytopes that fill only a small part of their boxes. Only iterations are
  // compared, because diagonal blocks are so ill-conditioned that rounding
  // errors are visible in their inverses.
  // The inverse by nested dissection.
  template <int dim>
  void
  compare_dissection()
  {
    const unsigned int                 cells = dim == 2 ? 16 : 3;
    const Case<dim, Host>              host(cells, 2, {3, 2}, true);
    const Case<dim, Device>            device(cells, 2, {3, 2}, true);
    MultigridHierarchy::AdditionalData one_level;
    one_level.lowest_degree = 3;
    const MultigridHierarchy hierarchy(*host.handler, {}, one_level);
    const std::string name = std::to_string(dim) + "-D, nested dissection";
    const auto        initialize = [&](auto &multigrid, const auto &matrix) {
      typename std::decay_t<decltype(multigrid)>::AdditionalData data;
      data.coarse_solver = MultigridCoarseSolver::nested_dissection;
      multigrid.initialize(matrix, hierarchy, data);
    };
    Multigrid<Host>   multigrid;
    Multigrid<Device> device_multigrid;
    initialize(multigrid, host.matrix);
    initialize(device_multigrid, device.matrix);
    const double error =
      difference(multigrid, device_multigrid, host.matrix.m());
    verify(name, error < 1e-11, std::to_string(error * 1e12) + "e-12");
    Multigrid<DeviceBlockMatrix<float>> in_float;
    initialize(in_float, device.matrix);
    const unsigned int n = device.cg_iterations(in_float);
    verify(name + ", in float", n <= 3, std::to_string(n));
  }

  template <int dim>
  void
  compare_iterations(const unsigned int p)
  {
    const Case<dim, Host>    host(dim == 2 ? 6 : 2, 4, {p}, true);
    const Case<dim, Device>  device(dim == 2 ? 6 : 2, 4, {p}, true);
    const MultigridHierarchy hierarchy = host.hierarchy(4);
    const std::string        name =
      std::to_string(dim) + "-D, simplices, p = " + std::to_string(p);
    Multigrid<Host>   multigrid;
    Multigrid<Device> device_multigrid;
    multigrid.initialize(host.matrix, host.without_penalty, hierarchy);
    device_multigrid.initialize(device.matrix,
                                device.without_penalty,
                                hierarchy);
    const unsigned int on_host   = host.cg_iterations(multigrid),
                       on_device = device.cg_iterations(device_multigrid);
    verify(name + ", iterations",
           on_host == on_device && on_host <= 20,
           std::to_string(on_host) + " " + std::to_string(on_device));
    compare_single_precision(name, host, device, hierarchy, true);
  }

  template <int dim>
  void
  run()
  {
    const std::string name = std::to_string(dim) + "-D";
    for (const unsigned int p : {1u, 2u, 3u, 4u})
      compare<dim>(
        name + ", p = " + std::to_string(p), dim == 2 ? 16 : 6, 2, {p}, false);
    compare<dim>(name + ", hp", dim == 2 ? 12 : 4, 3, {2, 1, 3}, true);
    for (const unsigned int p : {4u, 5u, 6u})
      compare_iterations<dim>(p);
    compare_dissection<dim>();
    if (dim == 2)
      compare<dim>(name + ", p = 8", 6, 2, {8}, false);

    // advection, and errors
    Tensor<1, dim> b;
    b[0] = 1.;
    b[1] = 0.3;
    Case<dim, Device> device(dim == 2 ? 16 : 6, 2, {2}, false, b, 1e-4);
    Multigrid<Device> multigrid;
    typename Multigrid<Device>::AdditionalData data;
    data.symmetric = false;
    data.smoother  = Multigrid<Device>::Smoother::gauss_seidel;
    multigrid.initialize(device.matrix,
                         device.without_penalty,
                         device.hierarchy(),
                         data);
    const unsigned int iterations = device.gmres_iterations(multigrid);
    verify(name + ", advection", iterations <= 25, std::to_string(iterations));
    std::vector<double> values;
    device.matrix.copy_to(values);
    const auto        &sparsity = device.matrix.block_sparsity();
    const unsigned int size =
      device.matrix.dof_offset()[8] - device.matrix.dof_offset()[7];
    std::fill_n(values.begin() + sparsity.value_offset[7],
                std::size_t(size) * sparsity.row_width[7],
                0.);
    device.matrix.copy_from(values);
    verify(name + ", singular block",
           contains(message_of([&] {
                      BlockJacobi<Device> jacobi;
                      jacobi.initialize(device.matrix);
                    }),
                    "The diagonal block of block row 7 is singular"));
  }

  // Elasticity: the same cycles and iterations as on the host.
  template <int dim>
  void
  compare_components(const unsigned int               cells,
                     const std::vector<unsigned int> &degrees)
  {
    Case<dim, Host>       scalar(cells, 2, {1}, true);
    hp::FECollection<dim> elements;
    for (const unsigned int p : degrees)
      elements.push_back(FESystem<dim>(FE_BoundingBoxLegendre<dim>(p), dim));
    std::vector<unsigned int> indices(scalar.handler->n_polytopes());
    for (unsigned int k = 0; k < indices.size(); ++k)
      indices[k] = k % degrees.size();
    scalar.handler->distribute_dofs(elements, indices);
    const ElasticityCase<dim, Vector<double>> test(*scalar.handler);
    Device                                    matrix, without_penalty;
    const auto copy = [](const Host &from, Device &to) {
      std::vector<double> values;
      from.copy_to(values);
      to.reinit(from.block_sparsity(), from.dof_offset());
      to.copy_from(values);
    };
    copy(test.matrix, matrix);
    copy(test.without_penalty, without_penalty);
    const DeviceVector<double> rhs(test.rhs);
    const auto                 hierarchy = scalar.hierarchy();
    const std::string          name = std::to_string(dim) + "-D elasticity";
    for (unsigned int kind = 0; kind < 4; ++kind)
      {
        Multigrid<Host>                            multigrid;
        Multigrid<Device>                          device_multigrid;
        typename Multigrid<Host>::AdditionalData   data;
        typename Multigrid<Device>::AdditionalData device_data;
        if (kind % 2 == 1)
          {
            data.smoother        = Multigrid<Host>::Smoother::gauss_seidel;
            device_data.smoother = Multigrid<Device>::Smoother::gauss_seidel;
          }
        if (kind < 2)
          {
            multigrid.initialize(test.matrix, hierarchy, data);
            device_multigrid.initialize(matrix, hierarchy, device_data);
          }
        else
          {
            multigrid.initialize(test.matrix,
                                 test.without_penalty,
                                 hierarchy,
                                 data);
            device_multigrid.initialize(matrix,
                                        without_penalty,
                                        hierarchy,
                                        device_data);
          }
        const double error =
          difference(multigrid, device_multigrid, test.rhs.size());
        verify(name + ", multigrid " + std::to_string(kind),
               error < 1e-9,
               std::to_string(error / 1e-9));
        const unsigned int on_host =
                             iterations(test.matrix, test.rhs, multigrid),
                           on_device =
                             iterations(matrix, rhs, device_multigrid);
        verify(name + ", iterations " + std::to_string(kind),
               on_host == on_device && (kind < 2 || on_host <= 30),
               std::to_string(on_host) + " " + std::to_string(on_device));
      }
    Multigrid<HostBlockMatrix<float>>   in_float;
    Multigrid<DeviceBlockMatrix<float>> on_device;
    in_float.initialize(test.matrix, test.without_penalty, hierarchy);
    on_device.initialize(matrix, without_penalty, hierarchy);
    const unsigned int n = iterations(matrix, rhs, on_device),
                       N = iterations(test.matrix, test.rhs, in_float);
    verify(name + ", in float",
           n <= N + 1 && N <= n + 1,
           std::to_string(n) + " " + std::to_string(N));
  }

  void
  run_components()
  {
    compare_components<2>(12, {3});
    compare_components<2>(8, {2, 1, 3});
    compare_components<3>(3, {2});
  }

  void
  run_null_space()
  {
    for (const bool periodic : {false, true})
      {
        check_null_space_solutions<2, Device, DeviceVector<double>>(periodic,
                                                                    verify);
        check_null_space_solutions<3, Device, DeviceVector<double>>(periodic,
                                                                    verify);
      }
    check_null_space_bits<2, Device, DeviceVector<double>>(verify);
    check_null_space_bits<3, Device, DeviceVector<double>>(verify);
  }

  /// Arrays of a multigrid are in pieces of memory, which it leaves to nobody:
  /// neither when it is set up again nor at its end.
  void
  check_pool()
  {
    using Tessella::internal::Device::pool_use;
    const auto text = []() {
      return std::to_string(pool_use().n_pieces) + " pieces, " +
             std::to_string(pool_use().n_arrays) + " arrays";
    };
    verify("no pieces of memory before",
           pool_use().n_pieces == 0 && pool_use().n_arrays == 0,
           text());
    {
      Case<2, Device>   device(8, 2, {2}, false);
      const std::size_t n_others = pool_use().n_arrays;
      {
        Multigrid<Device> multigrid;
        multigrid.initialize(device.matrix, device.hierarchy());
        const std::size_t n_arrays = pool_use().n_arrays;
        verify("arrays in pieces of memory",
               pool_use().n_pieces > 0 && n_arrays > n_others,
               text());
        multigrid.initialize(device.matrix, device.hierarchy());
        verify("as many arrays after another set-up",
               pool_use().n_arrays == n_arrays,
               text());
      }
      verify("arrays are released", pool_use().n_arrays == n_others, text());
    }
    verify("pieces of memory are freed",
           pool_use().n_pieces == 0 && pool_use().n_arrays == 0,
           text());
  }

  void
  run_memory()
  {
    Case<3, Device>   device(12, 2, {3}, false);
    Multigrid<Device> multigrid;
    // Vectors take almost all memory; their sizes have 32 bits.
    std::vector<std::unique_ptr<DeviceVector<double>>> taken;
    for (std::size_t size = std::size_t(1) << 31; size >= 1 << 17; size /= 2)
      while (message_of([&] {
               taken.push_back(std::make_unique<DeviceVector<double>>(size));
             }) == "no exception")
        ;
    const std::string text = message_of(
      [&] { multigrid.initialize(device.matrix, device.hierarchy()); });
    verify("memory", contains(text, "memory"), text);
    taken.clear();
    multigrid.initialize(device.matrix, device.hierarchy());
    verify("memory again", device.cg_iterations(multigrid) < 60);
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [](const std::string &name) {
    if (name == "unavailable")
      verify("no device",
             contains(message_of([] {
                        Device              matrix;
                        BlockJacobi<Device> jacobi;
                        jacobi.initialize(matrix);
                      }),
                      "CUDA"));
    else if (name == "memory")
      run_memory();
    else if (name == "components")
      run_components();
    else if (name == "null_space")
      run_null_space();
    else if (name == "update")
      {
        const auto check = [](const std::string &what,
                              const bool         good,
                              const std::string &text) {
          verify(what, good, text);
        };
        check_rescaled_updates<Device, DeviceBlockMatrix<float>>(check);
        check_pool();
      }
    else if (name == "2d")
      run<2>();
    else
      run<3>();
  });
}
