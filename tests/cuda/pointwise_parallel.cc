// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Pointwise operators on CUDA devices have the same bits for every number of
// processes, which may share a device, and choose the same kernels on all of
// them: residual, tangent, Jacobian, diagonal blocks and integrals. Fields
// whose vectors are on the device have the values of ghosts. Argument: 2d or
// 3d.

#include <tessella/device/cuda_device.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>
#include <tessella/operators/pointwise_operator.h>

#include <iostream>

#include "../mpi/cases.h"
#include "../mpi/field_has_ghosts.h"
#include "../operators/digests.h"
#include "../operators/texts.h"

namespace
{
  struct Result
  {
    /// Digests of residual, tangent, Jacobian, diagonal blocks and integrals.
    std::array<std::uint64_t, 5> digests;
    /// Largest differences of each of them to the host, relative to the largest
    /// entry, for matrices to that of the block row.
    std::array<double, 5> differences;
    std::string           kernels; // of the residual
    bool                  same_kernels, fields;
  };

  /// Results of one backend.
  struct Values
  {
    HostVector<double>      residual, tangent;
    HostBlockMatrix<double> jacobian;
    std::vector<double>     diagonal, integrals;
  };

  /// Largest difference of entries begin .. end - 1 relative to the largest
  /// entry of all processes.
  double
  relative_difference(const MPI_Comm    comm,
                      const double     *a,
                      const double     *b,
                      const std::size_t n)
  {
    double difference = 0., size = 0.;
    for (std::size_t i = 0; i < n; ++i)
      {
        const double d = std::abs(a[i] - b[i]);
        difference     = d <= difference ? difference : d;
        size           = std::max(size, std::abs(b[i]));
      }
    // A maximum over processes may lose what is not a number.
    if (!std::isfinite(difference))
      difference = std::numeric_limits<double>::infinity();
    difference = Utilities::MPI::max(difference, comm);
    size       = Utilities::MPI::max(size, comm);
    return difference == 0. ? 0. : difference / size;
  }

  template <int dim>
  std::array<double, 5>
  differences(const AgglomerationHandler<dim> &handler,
              const Values                    &device,
              const Values                    &host)
  {
    const MPI_Comm comm   = handler.get_communicator();
    const auto    &offset = handler.polytopic_dofs().dof_offset;
    const auto    &blocks = host.jacobian.block_sparsity();
    double         rows = 0., diagonal = 0.;
    std::size_t    begin = 0;
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      {
        const std::size_t first = blocks.value_offset[k],
                          n     = blocks.value_offset[k + 1] - first,
                          width = offset[k + 1] - offset[k];
        rows                    = std::max(rows,
                        relative_difference(MPI_COMM_SELF,
                                            device.jacobian.values() + first,
                                            host.jacobian.values() + first,
                                            n));
        diagonal                = std::max(diagonal,
                            relative_difference(MPI_COMM_SELF,
                                                &device.diagonal[begin],
                                                &host.diagonal[begin],
                                                width * width));
        begin += width * width;
      }
    const std::size_t n = offset[handler.n_polytopes()];
    return {{relative_difference(
               comm, device.residual.begin(), host.residual.begin(), n),
             relative_difference(
               comm, device.tangent.begin(), host.tangent.begin(), n),
             Utilities::MPI::max(rows, comm),
             Utilities::MPI::max(diagonal, comm),
             relative_difference(comm,
                                 device.integrals.data(),
                                 host.integrals.data(),
                                 host.integrals.size())}};
  }

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
    HostVector<double>                u, du;
    Values                            values[2];
    Result                            result;
    for (const bool on_host : {false, true})
      {
        typename PointwiseOperator<dim>::AdditionalData data;
        data.backend = on_host ? Backend::host : Backend::cuda;
        PointwiseOperator<dim> op(handler, data);
        Values                &now = values[on_host];
        op.reinit(now.residual);
        op.reinit(now.tangent);
        op.reinit(now.jacobian);
        op.reinit(u);
        op.reinit(du);
        set_state(handler, state, 0.1, u);
        set_state(handler, std::vector<double>(dim + 2, 0.), 1., du);
        op.residual(integrand, {&u}, now.residual);
        op.apply_tangent(integrand, {&u}, du, now.tangent);
        if (!on_host)
          result.kernels = op.report().kernels;
        const std::vector<const HostVector<double> *> fields = {&u};
        op.assemble_jacobian(integrand, fields, now.jacobian);
        op.diagonal_blocks(integrand, fields, now.diagonal);
        now.integrals =
          integrals_of_all<dim, HostVector<double>>(op, integrand, fields);
      }
    const Values &device = values[0];
    result.digests       = {{digest_of_vector(handler, device.residual),
                             digest_of_vector(handler, device.tangent),
                             digest_of_jacobian(handler, device.jacobian),
                             digest_of_diagonal(handler, device.diagonal),
                             digest_of_values(device.integrals)}};
    result.differences   = differences(handler, device, values[1]);
    DeviceVector<double> x;
    x.reinit(handler.locally_owned_dofs(), comm);
    x.copy_from(std::vector<double>(u.begin(), u.end()));
    result.fields =
      Utilities::MPI::min(field_has_ghosts(handler, x) ? 1 : 0, comm) == 1;
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
            const char *const names[] = {"residual",
                                         "tangent",
                                         "Jacobian",
                                         "diagonal blocks",
                                         "integrals"};
            for (unsigned int i = 0; i < 5; ++i)
              {
                verify(here + names[i] + ", host " +
                         std::to_string(present.differences[i] * 1e12) + "e-12",
                       present.differences[i] <= 1e-12);
                verify(here + names[i] + ", bits",
                       present.digests[i] == first.digests[i]);
              }
            verify(here + "fields on the device", present.fields);
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
