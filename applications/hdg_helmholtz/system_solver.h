// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_hdg_helmholtz_system_solver_h
#define tessella_applications_hdg_helmholtz_system_solver_h

#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>

#include <functional>
#include <string>

#include "../common/iteration.h"
#include "hdg_parameters.h"

namespace Tessella
{
  namespace Application
  {
    /// Solves trace systems, and the systems of interior penalty that they are
    /// compared with, as the section "HDG" says.
    class SystemSolver
    {
    public:
      /// Solver that was used; a direct solver has no iterations.
      struct Report
      {
        std::string  solver;
        unsigned int n_iterations = 0;
      };

      /// Solution of a trace system by the given iteration with TraceMultigrid,
      /// which needs more than the matrix.
      template <typename MatrixType, typename VectorType>
      using MultigridSolve = std::function<void(const Iteration &,
                                                const MatrixType &,
                                                VectorType &,
                                                const VectorType &)>;
      using HostMultigridSolve =
        MultigridSolve<HostBlockMatrix<double>,
                       dealii::TrilinosWrappers::MPI::Vector>;
      using DeviceMultigridSolve =
        MultigridSolve<DeviceBlockMatrix<double>, DeviceVector<double>>;

      /// @p dim is the dimension of space. With advection, matrices are not
      /// symmetric.
      SystemSolver(const HDGParameters &parameters,
                   const int            dim,
                   const bool           has_advection);

      /// Solves a system on the host; @p copy_blocks copies the matrix to a
      /// block matrix. Without @p multigrid, systems for which the parameters
      /// ask for it are solved as with the automatic preconditioner.
      Report
      solve(const dealii::TrilinosWrappers::SparseMatrix         &matrix,
            const std::function<void(HostBlockMatrix<double> &)> &copy_blocks,
            dealii::TrilinosWrappers::MPI::Vector                &solution,
            const dealii::TrilinosWrappers::MPI::Vector          &rhs,
            const HostMultigridSolve &multigrid = nullptr) const;

      /// Solves a system on a device.
      Report
      solve(const DeviceBlockMatrix<double> &matrix,
            DeviceVector<double>            &solution,
            const DeviceVector<double>      &rhs,
            const DeviceMultigridSolve      &multigrid) const;

    private:
      bool
      is_direct(const dealii::types::global_dof_index n_unknowns) const;
      /// Iterates on the host with a preconditioner of this name.
      void
      iterate(const std::string                            &preconditioner,
              dealii::SolverControl                        &control,
              const dealii::TrilinosWrappers::SparseMatrix &matrix,
              const std::function<void(HostBlockMatrix<double> &)> &copy_blocks,
              dealii::TrilinosWrappers::MPI::Vector                &solution,
              const dealii::TrilinosWrappers::MPI::Vector          &rhs,
              const HostMultigridSolve &multigrid) const;

      const HDGParameters &parameters;
      const int            dim;
      const bool           has_advection;
      const std::string    iterative_method;
    };
  } // namespace Application
} // namespace Tessella

#endif
