// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/lac/two_level_preconditioner.h>
#include <tessella/portable/legendre.h>

#include "epetra_rows.h"

#ifdef TESSELLA_HAVE_EPETRA
DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#  include <Epetra_Import.h>
#  include <Epetra_IntVector.h>
#  include <Epetra_Map.h>
#  include <Teuchos_ParameterList.hpp>
#  include <ml_MultiLevelPreconditioner.h>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS

#  include <algorithm>
#  include <array>
#  include <cmath>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    // Entry 0 and entries 1 + d are the indices of the function 1 and of the
    // linear function in direction d, in every space of degree one or higher.
    template <int dim>
    std::array<unsigned int, dim + 1>
    linear_functions(const PolynomialSpaceType space)
    {
      const unsigned int n_linear = Legendre::n_functions(dim, 1, space);
      std::vector<unsigned char> exponents(n_linear * dim);
      Legendre::exponents(dim, 1, space, exponents.data());
      std::array<unsigned int, dim + 1> result{};
      for (unsigned int i = 1; i < n_linear; ++i)
        {
          unsigned int sum = 0, direction = 0;
          for (int d = 0; d < dim; ++d)
            if (exponents[i * dim + d] > 0)
              {
                ++sum;
                direction = d;
              }
          if (sum == 1)
            result[1 + direction] = i;
        }
      return result;
    }
  } // namespace

  template <int dim>
  void
  TwoLevelPreconditioner<dim>::initialize(
    const PolytopicSpace<dim>            &space,
    const TrilinosWrappers::SparseMatrix &new_matrix,
    const AdditionalData                 &data)
  {
    matrix = &new_matrix;
    several_processes =
      Utilities::MPI::n_mpi_processes(space.get_communicator()) > 1;
    amg.clear(); // it refers to the coarse matrix and the null space
    residual.clear();
    smoother.initialize(space, *matrix);
    select_coarse_dofs(space);
    copy_coarse_matrix(space.polytopic_dofs().dof_offset[space.n_polytopes()]);
    compute_null_space(space);
    initialize_multigrid(data.symmetric);
    coarse_rhs.reinit(coarse_matrix.locally_owned_range_indices(),
                      space.get_communicator());
    coarse_solution.reinit(coarse_rhs);
  }

  template <int dim>
  void
  TwoLevelPreconditioner<dim>::select_coarse_dofs(
    const PolytopicSpace<dim> &space)
  {
    const PolytopicDoFs &dofs = space.polytopic_dofs();
    const auto local          = linear_functions<dim>(space.polynomial_space());
    fine.clear();
    for (unsigned int k = 0; k < space.n_polytopes(); ++k)
      for (unsigned int i = 0; i < (dofs.n_basis[k] > 1 ? dim + 1 : 1); ++i)
        fine.push_back(dofs.dof_offset[k] + local[i]);
  }

  template <int dim>
  void
  TwoLevelPreconditioner<dim>::copy_coarse_matrix(const std::size_t n_fine_dofs)
  {
    // coarse[i] is the coarse index of the fine DoF i, or -1.
    std::vector<int> coarse(n_fine_dofs, -1);
    for (std::size_t i = 0; i < fine.size(); ++i)
      coarse[fine[i]] = i;

    const EpetraRows        rows(*matrix);
    const Epetra_CrsMatrix &epetra = matrix->trilinos_matrix();
    const Epetra_Comm      &comm   = epetra.Comm();
    const int               size   = fine.size();
    const Epetra_Map        map(-1, size, 0, comm);
    const int               first = map.MinMyGID();
    // The ghost exchange provides the coarse index of every local column.
    Epetra_IntVector own(epetra.DomainMap()), all(epetra.ColMap());
    for (std::size_t i = 0; i < coarse.size(); ++i)
      own[i] = coarse[i] >= 0 ? first + coarse[i] : -1;
    if (epetra.Importer() != nullptr)
      all.Import(own, *epetra.Importer(), Insert);
    else
      std::copy_n(own.Values(), own.MyLength(), all.Values());
    Epetra_CrsMatrix    submatrix(Copy, map, 0);
    std::vector<int>    columns;
    std::vector<double> values;
    for (int row = 0; row < size; ++row)
      {
        columns.clear();
        values.clear();
        const auto f = fine[row];
        for (int i = rows.offset[f]; i < rows.offset[f + 1]; ++i)
          if (all[rows.column[i]] >= 0)
            {
              columns.push_back(all[rows.column[i]]);
              values.push_back(rows.value[i]);
            }
        submatrix.InsertGlobalValues(first + row,
                                     columns.size(),
                                     values.data(),
                                     columns.data());
      }
    submatrix.FillComplete();
    coarse_matrix.reinit(submatrix, true);
  }

  // The near null space is spanned by 1 and x_d. On the box [l, u] in direction
  // d the linear basis function is sqrt(3) xi_d phi_0.
  template <int dim>
  void
  TwoLevelPreconditioner<dim>::compute_null_space(
    const PolytopicSpace<dim> &space)
  {
    const auto          &mesh = space.polytopic_mesh();
    const PolytopicDoFs &dofs = space.polytopic_dofs();
    const std::size_t    size = fine.size();
    // An empty vector would mean to ML that there is no null space.
    null_space.assign(std::max<std::size_t>(1, (dim + 1) * size), 0.);
    for (unsigned int k = 0, c = 0; k < space.n_polytopes(); ++k)
      {
        const double *box    = mesh.box.data() + 2 * dim * k;
        double        volume = 1.;
        for (int d = 0; d < dim; ++d)
          volume *= box[dim + d] - box[d];
        const double root = std::sqrt(volume);
        null_space[c]     = root;
        for (int d = 0; d < dim; ++d)
          null_space[(d + 1) * size + c] = 0.5 * (box[d] + box[dim + d]) * root;
        ++c;
        for (int d = 0; d < dim && dofs.n_basis[k] > 1; ++d, ++c)
          null_space[(d + 1) * size + c] =
            0.5 * (box[dim + d] - box[d]) / std::sqrt(3.) * root;
      }
  }

  template <int dim>
  void
  TwoLevelPreconditioner<dim>::initialize_multigrid(const bool symmetric)
  {
    Teuchos::ParameterList parameters;
    ML_Epetra::SetDefaults(symmetric ? "SA" : "NSSA", parameters);
    parameters.set("ML output", 0);
    parameters.set("PDE equations", 1);
    parameters.set("null space: type", "pre-computed");
    parameters.set("null space: dimension", dim + 1);
    parameters.set("null space: vectors", null_space.data());
    parameters.set("null space: add default vectors", false);
    parameters.set("aggregation: threshold", 0.);
    parameters.set("coarse: max size", 1000);
    parameters.set("coarse: type", "Amesos-KLU");
    parameters.set("smoother: type",
                   symmetric ? "symmetric Gauss-Seidel" : "Gauss-Seidel");
    parameters.set("smoother: sweeps", 2);
    amg.initialize(coarse_matrix, parameters);
  }

  template <int dim>
  void
  TwoLevelPreconditioner<dim>::vmult(VectorType       &dst,
                                     const VectorType &src) const
  {
    if (residual.size() != src.size())
      {
        residual.reinit(src, true);
        correction.reinit(src, true);
      }
    dst = 0.;
    smoother.sweep(dst, src, true);

    matrix->vmult(residual, dst);
    residual.sadd(-1., 1., src);
    {
      double       *c = coarse_rhs.begin();
      const double *f = residual.begin();
      for (std::size_t i = 0; i < fine.size(); ++i)
        c[i] = f[fine[i]];
    }
    amg.vmult(coarse_solution, coarse_rhs);
    {
      const double *c = coarse_solution.begin();
      double       *f = dst.begin();
      for (std::size_t i = 0; i < fine.size(); ++i)
        f[fine[i]] += c[i];
    }

    if (!several_processes)
      {
        smoother.sweep(dst, src, false);
        return;
      }
    // A sweep ignores the DoFs of other processes, so the residual is computed
    // with the whole matrix.
    matrix->vmult(residual, dst);
    residual.sadd(-1., 1., src);
    correction = 0.;
    smoother.sweep(correction, residual, false);
    dst += correction;
  }

  template class TwoLevelPreconditioner<2>;
  template class TwoLevelPreconditioner<3>;
  // space-time slabs over three dimensions
  template class TwoLevelPreconditioner<4>;
} // namespace Tessella
#endif
