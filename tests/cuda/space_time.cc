// SPDX-License-Identifier: LGPL-2.1-or-later

// Space-time slabs on a device against the host backend: every entry of matrix
// and right-hand side, on all kinds of meshes, for both spaces, with local time
// stepping, constant and varying coefficients; and the inflow of a solution
// that stays on the device. Returns 77 without a device, 1 if a check fails.

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>

#include <cmath>
#include <iostream>

#include "../space_time/problems.h"

namespace
{
  unsigned int n_checks = 0, n_failures = 0;

  void
  verify(const std::string &name, const double difference, const double bound)
  {
    ++n_checks;
    if (difference <= bound)
      return;
    ++n_failures;
    std::cout << name << ": FAILED, " << difference << " > " << bound
              << std::endl;
  }

  // Largest difference of rows beside the largest entry of their block row.
  void
  compare(const std::string                &name,
          const Tessella::SpaceTimeSlab<2> &slab,
          const Tessella::SpaceTimeForm<2> &form)
  {
    SparsityPattern      patterns[2];
    SparseMatrix<double> matrices[2];
    Vector<double>       rhs[2];
    for (unsigned int i = 0; i < 2; ++i)
      {
        Tessella::PolytopicAssembler<3>::AdditionalData data;
        data.backend =
          i == 0 ? Tessella::Backend::host : Tessella::Backend::cuda;
        Tessella::PolytopicAssembler<3> assembler(slab, data);
        assembler.reinit(patterns[i], matrices[i], rhs[i]);
        assembler.assemble(form, matrices[i], rhs[i]);
      }
    const auto &offset = slab.polytopic_mesh().dof_offset;
    double      worst = 0., worst_rhs = 0.;
    for (unsigned int e = 0; e < slab.n_polytopes(); ++e)
      {
        double largest = 0., difference = 0., largest_rhs = 0.,
               difference_rhs = 0.;
        for (auto row = offset[e]; row < offset[e + 1]; ++row)
          {
            auto other = matrices[1].begin(row);
            for (auto entry = matrices[0].begin(row);
                 entry != matrices[0].end(row);
                 ++entry, ++other)
              {
                largest = std::max(largest, std::abs(entry->value()));
                difference =
                  std::max(difference,
                           std::abs(entry->value() - other->value()));
              }
            largest_rhs = std::max(largest_rhs, std::abs(rhs[0][row]));
            difference_rhs =
              std::max(difference_rhs, std::abs(rhs[0][row] - rhs[1][row]));
          }
        worst = std::max(worst, difference / largest);
        worst_rhs =
          std::max(worst_rhs, difference_rhs / (largest_rhs + 1e-300));
      }
    verify(name + ", matrix", worst, 1e-12);
    // (entries of the right-hand side may cancel)
    verify(name + ", right-hand side", worst_rhs, 1e-10);
  }
} // namespace

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  if (!Tessella::cuda_is_available())
    {
      std::cout << Tessella::why_cuda_is_unavailable() << std::endl;
      return 77;
    }
  const MappingQ<2> mapping(2);
  for (const std::string mesh :
       {"box", "distorted", "simplices", "hanging", "curved"})
    {
      Triangulation<2> triangulation;
      make_mesh(mesh, triangulation);
      Tessella::AgglomerationHandler<2> handler(triangulation,
                                                mesh == "curved" ? &mapping
                                                                 : nullptr);
      handler.agglomerate(scattered<2>(mesh == "box" ? 0 : 4));
      for (const PolynomialSpaceType space :
           {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
        for (unsigned int p = 0; p <= 4; ++p)
          {
            // 0: degrees 1 and 2 in turn
            hp::FECollection<2> elements;
            elements.push_back(
              Tessella::FE_BoundingBoxLegendre<2>(p == 0 ? 1 : p));
            elements.push_back(
              Tessella::FE_BoundingBoxLegendre<2>(p == 0 ? 2 : p));
            std::vector<unsigned int> indices(handler.n_polytopes());
            for (unsigned int k = 0; k < indices.size(); ++k)
              indices[k] = k % 2;
            handler.distribute_dofs(elements, indices);
            Tessella::SpaceTimeSlab<2> slab(handler, space);
            slab.reinit(0.3, 0.4, mixed_intervals(handler.n_polytopes()));
            const std::string name =
              mesh +
              (space == PolynomialSpaceType::prismatic ? ", PQ" : ", P") +
              std::to_string(p);
            Tessella::SpaceTimeForm<2> form;
            PolynomialProblem<2>(2, false).set(form, mesh == "box");
            form.set_start(slab.start());
            compare(name + ", varying", slab, form);
            Tessella::SpaceTimeForm<2> constant;
            constant.set_diffusion(Tensor<2, 2>({{1., 0.2}, {0.2, 0.5}}));
            constant.set_advection(Tensor<1, 2>({1., -0.4}));
            constant.set_reaction(1.);
            constant.set_source(1.);
            compare(name + ", constant", slab, constant);

            // inflow
            Vector<double> solution(slab.n_dofs()), value, expected(solution);
            for (unsigned int i = 0; i < solution.size(); ++i)
              solution[i] = std::sin(1. + 3. * i);
            slab.trace(solution, slab.length(), value);
            const double before = slab.length();
            slab.reinit(0.7, 0.25, mixed_intervals(handler.n_polytopes()));
            expected = 1.;
            slab.add_inflow(value, expected);
            Tessella::DeviceBlockMatrix<double> inflow;
            slab.make_inflow(inflow);
            Tessella::DeviceVector<double> u(solution), rhs(slab.n_dofs());
            rhs = 1.;
            slab.add_inflow(inflow, u, before, rhs);
            Vector<double> result;
            rhs.copy_to(result);
            result -= expected;
            verify(name + ", inflow",
                   result.linfty_norm(),
                   1e-12 * expected.linfty_norm());
          }
    }
  std::cout << n_checks << " checks, " << n_failures << " failures"
            << std::endl;
  return n_failures == 0 ? 0 : 1;
}
