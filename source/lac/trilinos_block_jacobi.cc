// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/base/on_all_processes.h>
#include <tessella/lac/trilinos_block_jacobi.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>

#include "epetra_rows.h"

#ifdef TESSELLA_HAVE_EPETRA
namespace Tessella
{
  using namespace dealii;

  template <int dim>
  void
  TrilinosBlockJacobi<dim>::initialize(
    const PolytopicSpace<dim>            &space,
    const TrilinosWrappers::SparseMatrix &new_matrix)
  {
    matrix = &new_matrix;
    offset = &space.polytopic_dofs().dof_offset;
    blocks.resize(space.n_polytopes());
    const EpetraRows rows(*matrix);
    on_all_processes(space.get_communicator(), [&]() {
      for (std::size_t k = 0; k < blocks.size(); ++k)
        {
          const int begin = (*offset)[k], end = (*offset)[k + 1];
          auto     &block = blocks[k];
          block.reinit(end - begin);
          block = 0.;
          for (int row = begin; row < end; ++row)
            for (int i = rows.offset[row]; i < rows.offset[row + 1]; ++i)
              if (rows.column[i] >= begin && rows.column[i] < end)
                block(row - begin, rows.column[i] - begin) = rows.value[i];
          try
            {
              block.compute_lu_factorization();
            }
          catch (const std::exception &)
            {
              AssertThrow(false,
                          ExcMessage("The diagonal block of polytope " +
                                     std::to_string(k) + " is singular."));
            }
        }
    });
  }

  template <int dim>
  void
  TrilinosBlockJacobi<dim>::vmult(VectorType &dst, const VectorType &src) const
  {
    const std::vector<std::uint64_t> &offset = *this->offset;
    double                           *d      = dst.begin();
    const double                     *s      = src.begin();
    Vector<double>                    local;
    for (std::size_t k = 0; k < blocks.size(); ++k)
      {
        const std::size_t n = offset[k + 1] - offset[k];
        if (local.size() != n)
          local.reinit(n, true);
        std::copy(s + offset[k], s + offset[k + 1], local.begin());
        blocks[k].solve(local);
        std::copy(local.begin(), local.end(), d + offset[k]);
      }
  }

  template <int dim>
  void
  TrilinosBlockJacobi<dim>::sweep(VectorType       &x,
                                  const VectorType &b,
                                  const bool        ascending) const
  {
    const std::vector<std::uint64_t> &offset = *this->offset;
    const EpetraRows                  rows(*matrix);
    double                           *d = x.begin();
    const double                     *r = b.begin();
    Vector<double>                    local;
    const std::size_t                 n_blocks = blocks.size();
    const int                         n_own    = offset[n_blocks];
    for (std::size_t i = 0; i < n_blocks; ++i)
      {
        const std::size_t k     = ascending ? i : n_blocks - 1 - i;
        const std::size_t begin = offset[k], end = offset[k + 1];
        if (local.size() != end - begin)
          local.reinit(end - begin, true);
        for (std::size_t row = begin; row < end; ++row)
          {
            double sum = r[row];
            for (int j = rows.offset[row]; j < rows.offset[row + 1]; ++j)
              if (rows.column[j] < n_own)
                sum -= rows.value[j] * d[rows.column[j]];
            local(row - begin) = sum;
          }
        blocks[k].solve(local);
        for (std::size_t row = begin; row < end; ++row)
          d[row] += local(row - begin);
      }
  }

  template class TrilinosBlockJacobi<2>;
  template class TrilinosBlockJacobi<3>;
  // space-time slabs over three dimensions
  template class TrilinosBlockJacobi<4>;
} // namespace Tessella
#endif
