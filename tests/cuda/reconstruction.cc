// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Reconstruction of quadratic functions on CUDA devices, with and without WENO
// and the derivative of its weights: equal to that of the host, the same bits
// in every run and for every number of processes, which may share a device;
// quadratic functions are reproduced. Argument: 2d or 3d.

#include <deal.II/base/function.h>

#include <tessella/device/cuda_device.h>
#include <tessella/flow/quadratic_reconstruction.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/pointwise_operator.h>

#include <iostream>

#include "../mpi/cases.h"

namespace
{
  struct Result
  {
    // Digests of the results of reconstruct(), reconstruct_change() and
    // restrict_to_linear().
    std::array<std::uint64_t, 3> digests;
    // Largest relative differences to the results of the host.
    std::array<double, 3> differences;
    bool                  repeated;
    // Polytopes that stay linear, and those with errors for a quadratic
    // function.
    unsigned int n_linear, n_wrong;
  };

  template <int dim>
  class Quadratic : public Function<dim>
  {
  public:
    explicit Quadratic(const unsigned int m)
      : Function<dim>(m)
    {}
    double
    value(const Point<dim> &x, const unsigned int c) const override
    {
      return 1. + c + x[0] * x[0] - (2. + c) * x[0] * x[dim - 1] + 3. * x[1] +
             0.5 * x[1] * x[1];
    }
  };

  /// Distributes a mesh of cells, polytopes of cells or simplices.
  template <int dim>
  Agglomeration::Strategy<dim>
  distribute_mesh(const std::string                              &name,
                  parallel::fullydistributed::Triangulation<dim> &triangulation)
  {
    Triangulation<dim> serial;
    if (name == "simplices")
      GridGenerator::subdivided_hyper_cube_with_simplices(serial,
                                                          dim == 2 ? 5 : 3);
    else
      {
        // Boxes of different sizes.
        std::vector<std::vector<double>> steps(dim);
        for (int d = 0; d < dim; ++d)
          for (unsigned int i = 0; i < (dim == 2 ? 9 : 5); ++i)
            steps[d].push_back(0.1 + 0.02 * ((3 * i + d) % 4));
        Point<dim> corner;
        for (int d = 0; d < dim; ++d)
          for (const double step : steps[d])
            corner[d] += step;
        GridGenerator::subdivided_hyper_rectangle(serial,
                                                  steps,
                                                  Point<dim>(),
                                                  corner);
      }
    return Agglomeration::distribute<dim>(serial,
                                          name == "polytopes"
                                            ? Agglomeration::rtree_parts<dim>(
                                                dim == 2 ? 17 : 23)
                                            : Agglomeration::none<dim>(),
                                          triangulation);
  }

  /// Coefficients that depend on the polytope alone.
  template <int dim>
  void
  set_function(const AgglomerationHandler<dim> &handler,
               const double                     mean,
               HostVector<double>              &u)
  {
    const auto &mesh = handler.polytopic_mesh();
    const auto &dofs = handler.polytopic_dofs();
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      {
        const double *const box    = &mesh.box[2 * dim * k];
        double              volume = 1.;
        for (int d = 0; d < dim; ++d)
          volume *= box[dim + d] - box[d];
        const unsigned int n = dofs.n_basis[k];
        for (unsigned int i = 0; i < n * dofs.n_components; ++i)
          *(u.begin() + dofs.dof_offset[k] + i) =
            std::sqrt(volume) *
            ((i % n == 0 ? mean : 0.) +
             0.3 * std::sin(i + 3. * box[0] + 7. * box[dim + 1]));
      }
  }

  template <typename Vector>
  DeviceVector<double>
  to_device(const Vector &vector, const DeviceVector<double> &sizes)
  {
    DeviceVector<double> result;
    result.reinit(sizes);
    result.copy_from(std::vector<double>(vector.begin(), vector.end()));
    return result;
  }

  std::vector<double>
  to_host(const DeviceVector<double> &vector)
  {
    std::vector<double> result;
    vector.copy_to(result);
    return result;
  }

  double
  relative_difference(const MPI_Comm             comm,
                      const HostVector<double>  &a,
                      const std::vector<double> &b)
  {
    double difference = 0., size = 0.;
    for (std::size_t i = 0; i < b.size(); ++i)
      {
        const double d = std::abs(*(a.begin() + i) - b[i]);
        if (!(d <= difference) && !std::isnan(difference))
          difference = d;
        size = std::max(size, std::abs(*(a.begin() + i)));
      }
    return Utilities::MPI::max(difference, comm) /
           Utilities::MPI::max(size, comm);
  }

  /// Number of polytopes where @p v is not the quadratic function.
  template <int dim>
  unsigned int
  count_wrong(const AgglomerationHandler<dim> &handler,
              const std::vector<double>       &v)
  {
    HostVector<double> exact;
    PointwiseOperator<dim>(handler).reinit(exact);
    LinearAlgebra::distributed::Vector<double> &vector = exact;
    Tessella::VectorTools::project(handler,
                                   Quadratic<dim>(handler.n_components()),
                                   vector);
    const auto  &offset    = handler.polytopic_dofs().dof_offset;
    const double tolerance = 1e-11 * exact.linfty_norm();
    unsigned int n         = 0;
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      {
        bool right = true;
        for (auto i = offset[k]; i < offset[k + 1]; ++i)
          right = right && std::abs(v[i] - *(exact.begin() + i)) <= tolerance;
        n += !right;
      }
    return Utilities::MPI::sum(n, handler.get_communicator());
  }

  template <int dim>
  Result
  compute(const MPI_Comm     comm,
          const std::string &mesh,
          const unsigned int m,
          const bool         weno,
          const bool         exact)
  {
    parallel::fullydistributed::Triangulation<dim> triangulation(comm);
    const auto                strategy = distribute_mesh(mesh, triangulation);
    AgglomerationHandler<dim> linear(triangulation);
    linear.agglomerate(strategy);
    linear.distribute_dofs(FESystem<dim>(FE_BoundingBoxLegendre<dim>(1), m));
    Flow::ReconstructionData data;
    data.weno          = weno;
    data.exact_tangent = exact;
    Flow::QuadraticReconstruction<dim> reconstruction(linear, data);
    const auto            &quadratic = reconstruction.quadratic_handler();
    PointwiseOperator<dim> on_linear(linear), on_quadratic(quadratic);
    HostVector<double>     u, du, r, v, dv;
    DeviceVector<double>   x, y;
    for (auto *vector : {&u, &du, &r})
      on_linear.reinit(*vector);
    for (auto *vector : {&v, &dv})
      on_quadratic.reinit(*vector);
    on_linear.reinit(x);
    on_quadratic.reinit(y);
    set_function(linear, 1., u);
    set_function(linear, 0., du);
    reconstruction.reconstruct(u, v);
    reconstruction.reconstruct_change(du, dv);
    reconstruction.restrict_to_linear(dv, r);

    Result result;
    result.repeated = true;
    for (const bool again : {false, true})
      {
        reconstruction.reconstruct(to_device(u, x), y);
        const auto found = to_host(y);
        reconstruction.reconstruct_change(to_device(du, x), y);
        const auto found_change = to_host(y);
        reconstruction.restrict_to_linear(to_device(dv, y), x);
        const auto                         found_part = to_host(x);
        const std::array<std::uint64_t, 3> digests    = {
             {digest_of_vector(quadratic, found),
              digest_of_vector(quadratic, found_change),
              digest_of_vector(linear, found_part)}};
        result.repeated =
          result.repeated && (!again || digests == result.digests);
        result.digests     = digests;
        result.differences = {{relative_difference(comm, v, found),
                               relative_difference(comm, dv, found_change),
                               relative_difference(comm, r, found_part)}};
      }
    LinearAlgebra::distributed::Vector<double> &vector = u;
    Tessella::VectorTools::project(linear, Quadratic<dim>(m), vector);
    reconstruction.reconstruct(to_device(u, x), y);
    result.n_linear = reconstruction.n_linear_polytopes();
    result.n_wrong  = count_wrong(quadratic, to_host(y));
    return result;
  }

  unsigned int n_failures = 0;

  void
  verify(const std::string &name, const bool good, const double value = 0.)
  {
    if (good)
      return;
    ++n_failures;
    std::cout << name << ": FAILED " << value << std::endl;
  }

  template <int dim>
  void
  test(const std::string &mesh,
       const unsigned int m,
       const bool         weno,
       const bool         exact = false)
  {
    const std::string name = mesh + ", " + std::to_string(m) + " components" +
                             (weno ? ", WENO" : "") +
                             (exact ? ", exact tangent, " : ", ");
    const auto results =
      for_numbers_of_processes<Result>([&](const MPI_Comm comm) {
        return compute<dim>(comm, mesh, m, weno, exact);
      });
    for (unsigned int n = 0; n < results.size(); ++n)
      {
        const Result     &result = results[n];
        const std::string here = name + std::to_string(n + 1) + " processes: ";
        for (const double difference : result.differences)
          verify(here + "host", difference <= 1e-12, difference);
        verify(here + "bits in two runs", result.repeated);
        verify(here + "bits", result.digests == results[0].digests);
        // Tetrahedra in corners have one neighbour.
        verify(here + "polytopes that stay linear",
               mesh == "simplices" ? dim == 2 || result.n_linear > 0
                                   : result.n_linear == 0,
               result.n_linear);
        verify(here + "quadratic function",
               result.n_wrong == result.n_linear,
               result.n_wrong);
      }
    if (!results.empty())
      std::cout << name << results.size() << " numbers of processes"
                << std::endl;
  }

  template <int dim>
  void
  test_all()
  {
    for (const bool weno : {false, true})
      for (const std::string mesh : {"cells", "polytopes", "simplices"})
        test<dim>(mesh, dim + 2, weno);
    for (const std::string mesh : {"cells", "polytopes", "simplices"})
      test<dim>(mesh, dim + 2, true, true);
    // More components than lanes have at once, and one.
    for (const unsigned int m : {1, 7})
      {
        test<dim>("polytopes", m, false);
        test<dim>("polytopes", m, true);
        test<dim>("polytopes", m, true, true);
      }
  }
} // namespace

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  if (!cuda_is_available())
    return 77;
  if (argc > 1 && std::string(argv[1]) == "2d")
    test_all<2>();
  else
    test_all<3>();
  return n_failures > 0;
}
