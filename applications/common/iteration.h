// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_iteration_h
#define tessella_applications_common_iteration_h

#include <deal.II/lac/solver_bicgstab.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>

#include <tessella/lac/device_solver_cg.h>

#include <string>
#include <type_traits>

namespace Tessella
{
  namespace Application
  {
    /// An iterative method with its parameters.
    struct Iteration
    {
      std::string            method;  ///< "cg", "gmres" or "bicgstab"
      unsigned int           restart; ///< vectors that gmres keeps
      dealii::SolverControl &control;

      /// Solves the system, beginning with @p solution. The matrix and the
      /// vectors decide whether this is done on the host or on a device.
      template <typename Matrix, typename Vector, typename Preconditioner>
      void
      solve(const Matrix         &matrix,
            Vector               &solution,
            const Vector         &rhs,
            const Preconditioner &preconditioner) const
      {
        constexpr bool on_device =
          std::is_same<Vector, DeviceVector<double>>::value;
        using CG = std::conditional_t<on_device,
                                      DeviceSolverCG<Vector>,
                                      dealii::SolverCG<Vector>>;
        if (method == "cg")
          CG(control).solve(matrix, solution, rhs, preconditioner);
        else if (method == "bicgstab")
          dealii::SolverBicgstab<Vector>(control).solve(matrix,
                                                        solution,
                                                        rhs,
                                                        preconditioner);
        else
          {
            // Right preconditioning makes the solver test the true residual.
            typename dealii::SolverGMRES<Vector>::AdditionalData data;
            data.max_n_tmp_vectors     = restart + 2;
            data.right_preconditioning = true;
            dealii::SolverGMRES<Vector>(control, data)
              .solve(matrix, solution, rhs, preconditioner);
          }
      }
    };
  } // namespace Application
} // namespace Tessella

#endif
