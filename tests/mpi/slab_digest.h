// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_mpi_slab_digest_h
#define tessella_tests_mpi_slab_digest_h

#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/space_time/space_time_slab.h>

#include <array>
#include <map>

#include "digest.h"

/// Digests of the matrix and of the right-hand side of a slab, by (polytope,
/// interval, local index), over all processes.
template <int dim>
std::array<std::uint64_t, 2>
slab_digests(const Tessella::AgglomerationHandler<dim>    &handler,
             const Tessella::SpaceTimeSlab<dim>           &slab,
             const dealii::TrilinosWrappers::SparseMatrix &matrix,
             const dealii::TrilinosWrappers::MPI::Vector  &rhs,
             const MPI_Comm                                comm)
{
  const auto         &mesh = slab.polytopic_mesh();
  const auto         &dofs = slab.polytopic_dofs();
  std::vector<double> names(handler.polytopic_mesh().n_polytopes());
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    names[k] = static_cast<double>(name(handler, k) >> 12);
  handler.exchange_polytope_values(names, 1);
  std::map<dealii::types::global_dof_index, std::array<double, 3>> dof_names;
  for (unsigned int e = 0; e < mesh.n_polytopes(); ++e)
    {
      const unsigned int k = slab.polytope_of_element(e);
      for (unsigned int i = 0; i < dofs.n_basis[e]; ++i)
        dof_names[slab.first_dof(e) + i] = {
          {names[k], double(e - slab.first_element(k)), double(i)}};
    }
  std::array<std::uint64_t, 2> sums = {{0, 0}}, result;
  const auto add = [](Digest &digest, const std::array<double, 3> &n) {
    for (const double number : n)
      digest.add(number);
  };
  for (const auto row : slab.locally_owned_dofs())
    {
      // The iterator of an end copies a row, too.
      const auto end = matrix.end(row);
      for (auto entry = matrix.begin(row); entry != end; ++entry)
        {
          Digest digest;
          add(digest, dof_names.at(row));
          add(digest, dof_names.at(entry->column()));
          digest.add(double(entry->value()));
          sums[0] += digest.state;
        }
      Digest digest;
      add(digest, dof_names.at(row));
      digest.add(double(rhs(row)));
      sums[1] += digest.state;
    }
  MPI_Allreduce(sums.data(), result.data(), 2, MPI_UINT64_T, MPI_SUM, comm);
  return result;
}

#endif
