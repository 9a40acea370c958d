// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Pointwise operators on CUDA devices have the same bits for every number of
// processes, which may share a device, and choose the same kernels on all of
// them. Argument: 2d or 3d.

#include <tessella/device/cuda_device.h>
#include <tessella/lac/host_vector.h>
#include <tessella/operators/pointwise_operator.h>

#include <iostream>

#include "../mpi/cases.h"
#include "../operators/texts.h"

namespace
{
  struct Result
  {
    std::uint64_t residual, tangent;
    std::string   kernels;
    double        difference; // to the host
    bool          same_kernels;
  };

  // Coefficients that depend on the polytope alone.
  template <int dim>
  void
  set_state(const AgglomerationHandler<dim> &handler,
            const std::vector<double>       &constants,
            const double                     size,
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
            ((i % n == 0 ? constants[i / n] : 0.) +
             size / n * std::sin(i + 3. * box[0] + 7. * box[dim + 1]));
      }
  }

  template <int dim>
  std::vector<Result>
  compute(const MPI_Comm comm, const std::array<unsigned int, 2> &degrees)
  {
    parallel::fullydistributed::Triangulation<dim> triangulation(comm);
    Triangulation<dim>                             serial;
    GridGenerator::subdivided_hyper_cube_with_simplices(serial,
                                                        dim == 2 ? 6 : 3);
    const auto strategy =
      Agglomeration::distribute<dim>(serial,
                                     Agglomeration::none<dim>(),
                                     triangulation);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(strategy);
    distribute_by_position(handler,
                           degrees,
                           PolynomialSpaceType::total_degree,
                           dim + 2);
    const std::vector<double> state =
      dim == 2 ? std::vector<double>{1.2, 0.5, 0.3, 2.7}
               : std::vector<double>{1.2, 0.5, 0.3, 0.2, 2.7};
    const PointwiseTextIntegrand<dim> integrand(Texts::euler(dim, state));
    HostVector<double>                u, du, r[2], s[2];
    Result                            result;
    for (const bool on_host : {false, true})
      {
        typename PointwiseOperator<dim>::AdditionalData data;
        data.backend = on_host ? Backend::host : Backend::cuda;
        PointwiseOperator<dim> op(handler, data);
        op.reinit(r[on_host]);
        op.reinit(s[on_host]);
        op.reinit(u);
        op.reinit(du);
        set_state(handler, state, 0.1, u);
        set_state(handler, std::vector<double>(dim + 2, 0.), 1., du);
        op.residual(integrand, {&u}, r[on_host]);
        op.apply_tangent(integrand, {&u}, du, s[on_host]);
        if (!on_host)
          result.kernels = op.report().kernels;
      }
    result.residual              = digest_of_vector(handler, r[0]);
    result.tangent               = digest_of_vector(handler, s[0]);
    double            difference = 0., size = 0.;
    const std::size_t n =
      handler.polytopic_dofs().dof_offset[handler.n_polytopes()];
    for (const auto *pair : {r, s})
      for (std::size_t i = 0; i < n; ++i)
        {
          const double a = *(pair[0].begin() + i), b = *(pair[1].begin() + i);
          difference = std::max(difference, std::abs(a - b));
          size       = std::max(size, std::abs(b));
        }
    result.difference =
      Utilities::MPI::max(difference, comm) / Utilities::MPI::max(size, comm);
    result.same_kernels = true;
    for (const std::string &other :
         Utilities::MPI::all_gather(comm, result.kernels))
      result.same_kernels &= other == result.kernels;
    return {result};
  }

  template <int dim>
  unsigned int
  n_failures()
  {
    unsigned int result = 0;
    const auto   verify = [&](const std::string &name, const bool good) {
      std::cout << name << ": " << (good ? "ok" : "FAILED") << std::endl;
      result += !good;
    };
    for (const std::array<unsigned int, 2> degrees :
         {std::array<unsigned int, 2>{{1, 1}}, {{3, 3}}, {{1, 2}}})
      {
        const std::string name = "degrees " + std::to_string(degrees[0]) +
                                 ", " + std::to_string(degrees[1]);
        const auto results = for_numbers_of_processes<std::vector<Result>>(
          [&](const MPI_Comm comm) { return compute<dim>(comm, degrees); });
        for (unsigned int n = 0; n < results.size(); ++n)
          {
            const Result     &present = results[n][0], &first = results[0][0];
            const std::string here =
              name + ", " + std::to_string(n + 1) + " processes, ";
            verify(here + present.kernels,
                   present.same_kernels &&
                     present.kernels ==
                       (degrees[0] == degrees[1]
                          ? "affine simplices"
                          : "all polytopes, since the polytopes have different "
                            "degrees"));
            verify(here + "host", present.difference <= 1e-12);
            verify(here + "bits",
                   present.residual == first.residual &&
                     present.tangent == first.tangent);
          }
      }
    return result;
  }
} // namespace

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  if (!cuda_is_available())
    return 77;
  return argc > 1 && std::string(argv[1]) == "2d" ? n_failures<2>()
                                                  : n_failures<3>();
}
