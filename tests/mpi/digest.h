// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_mpi_digest_h
#define tessella_tests_mpi_digest_h

// Checksum of the data of all polytopes on all processes, which does not depend
// on their owners.

#include <deal.II/base/mpi.h>

#include <tessella/grid/agglomeration_handler.h>

#include <cstdint>
#include <cstring>
#include <vector>

struct Digest
{
  std::uint64_t state = 0x9E3779B97F4A7C15ull;

  void
  add(const std::uint64_t value)
  {
    state ^= value + 0x9E3779B97F4A7C15ull + (state << 6) + (state >> 2);
    state *= 0xBF58476D1CE4E5B9ull;
    state ^= state >> 29;
  }
  void
  add(const double value)
  {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    add(bits);
  }
};

/// Identifier of a polytope, which does not depend on its owner: its first
/// cell.
template <int dim>
std::uint64_t
name(const Tessella::AgglomerationHandler<dim> &handler, const unsigned int k)
{
  const auto &mesh = handler.polytopic_mesh();
  Digest      digest;
  for (const auto i :
       handler.active_cell(mesh.subcell_cell[mesh.subcell_offset[k]])
         ->id()
         .template to_binary<dim>())
    digest.add(std::uint64_t(i));
  return digest.state;
}

/// Returns on process 0 the results of make(communicator of n processes) for n
/// = 1, 2, ..., all; nothing on the others.
template <typename Result, typename Function>
std::vector<Result>
for_numbers_of_processes(const Function &make)
{
  const unsigned int n_all =
    dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  const unsigned int me =
    dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD);
  std::vector<Result> results;
  for (unsigned int n = 1; n <= n_all; ++n)
    {
      MPI_Comm comm;
      MPI_Comm_split(MPI_COMM_WORLD, me < n ? 0 : MPI_UNDEFINED, me, &comm);
      if (me < n)
        {
          const Result result = make(comm);
          if (me == 0)
            results.push_back(result);
          MPI_Comm_free(&comm);
        }
    }
  return results;
}

/// @p values(k, digest) adds the data of owned polytope k. Its cells, box and
/// degree are added first.
template <int dim, typename Values>
std::uint64_t
digest_of_polytopes(const Tessella::AgglomerationHandler<dim> &handler,
                    const Values                              &values)
{
  const auto   &mesh = handler.polytopic_mesh();
  const auto   &dofs = handler.polytopic_dofs();
  std::uint64_t sum  = 0;
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    {
      Digest digest;
      for (const auto &cell : handler.polytope(k).get_agglomerate())
        for (const auto i : cell->id().template to_binary<dim>())
          digest.add(std::uint64_t(i));
      for (int d = 0; d < 2 * dim; ++d)
        digest.add(mesh.box[2 * dim * k + d]);
      digest.add(std::uint64_t(dofs.degree[k]));
      values(k, digest);
      sum += digest.state;
    }
  return dealii::Utilities::MPI::sum(sum, handler.get_communicator());
}

/// Digest of a vector of DoFs.
template <int dim, typename VectorType>
std::uint64_t
digest_of_vector(const Tessella::AgglomerationHandler<dim> &handler,
                 const VectorType                          &vector)
{
  const auto &dofs = handler.polytopic_dofs();
  return digest_of_polytopes(
    handler, [&](const unsigned int k, Digest &digest) {
      for (auto i = dofs.dof_offset[k]; i < dofs.dof_offset[k + 1]; ++i)
        digest.add(*(vector.begin() + i));
    });
}

#endif
