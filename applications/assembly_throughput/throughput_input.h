// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_throughput_input_h
#define tessella_applications_throughput_input_h

#include <deal.II/base/parameter_handler.h>

#include <tessella/base/backend.h>

#include <string>
#include <vector>

#include "assembly_strategy.h"

namespace Tessella
{
  namespace Application
  {
    /// Matrix class that assembly fills.
    enum class MatrixKind
    {
      trilinos,     ///< TrilinosWrappers::SparseMatrix
      sparse,       ///< dealii::SparseMatrix<double>
      device,       ///< DeviceBlockMatrix<double>
      device_single ///< DeviceBlockMatrix<float>
    };

    /// Returns "trilinos", "sparse", "device" or "device single".
    std::string
    name(const MatrixKind matrix);

    /// Representation of the coefficients.
    enum class CoefficientKind
    {
      expression, ///< compiled at run time for a device
      function,   ///< evaluated by the threads of the host
      functor,    ///< compiled with this program
      constant,   ///< set to their values at one point
      /// Instead of the equation, linear elasticity with lambda = mu = 1.
      elasticity
    };

    /// Returns "expression", "function", "functor", "constant" or
    /// "elasticity".
    std::string
    name(const CoefficientKind coefficients);

    /// One way to run assembly.
    struct Execution
    {
      Backend          backend         = Backend::host; ///< not automatic
      AssemblyStrategy strategy        = AssemblyStrategy::block_rows;
      unsigned int     n_threads       = 1;
      InstructionSet   instruction_set = InstructionSet::plain;
      MatrixKind       matrix          = MatrixKind::trilinos;
      /// Length of a space-time slab; 0: the problem is stationary, without a
      /// slab.
      double          time_step    = 0.;
      CoefficientKind coefficients = CoefficientKind::expression;
      /// Order of quadrature; -1: Discretisation/Coefficient order.
      int coefficient_order = -1;
    };

    /// Section "Benchmark" of a parameter file: the cases and their
    /// repetitions.
    class ThroughputInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// @p default_backend is used if no list of backends is given. @p
      /// n_levels is the number of meshes.
      void
      parse_parameters(dealii::ParameterHandler        &prm,
                       const Backend                    default_backend,
                       const std::vector<unsigned int> &default_degrees,
                       const unsigned int               n_levels);

      /// Assemblies per case after the first one.
      unsigned int repetitions = 5;
      /// Degrees to be measured, for each mesh.
      std::vector<std::vector<unsigned int>> degrees;
      /// All wanted combinations that exist. The host has only one strategy and
      /// no matrices on a device. Strategies other than the first one fill only
      /// the first kind of matrix.
      std::vector<Execution> executions;
      /// Whether host memory is touched before times are measured.
      bool warm_memory = false;
      /// Whether the evaluation of coefficients on the host is measured instead
      /// of assembly.
      bool coefficients_only = false;
    };
  } // namespace Application
} // namespace Tessella

#endif
