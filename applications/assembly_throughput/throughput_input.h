// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_throughput_input_h
#define tessella_applications_throughput_input_h

#include <deal.II/base/parameter_handler.h>

#include <tessella/backends/assembly_strategy.h>
#include <tessella/base/backend.h>

#include <string>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// What is filled.
    enum class MatrixKind
    {
      trilinos,     ///< TrilinosWrappers::SparseMatrix
      sparse,       ///< dealii::SparseMatrix<double>
      device,       ///< DeviceBlockMatrix<double>
      device_single ///< DeviceBlockMatrix<float>
    };

    /// "trilinos", "sparse", "device", "device single".
    std::string
    name(const MatrixKind matrix);

    /// How coefficients are given.
    enum class CoefficientKind
    {
      expression, ///< compiled at run time for a device
      function,   ///< evaluated by the host's threads
      functor,    ///< compiled with this program
      constant    ///< their values in one point, everywhere
    };

    /// "expression", "function", "functor", "constant".
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
      /// Length of a space-time slab; 0: none, a problem in space.
      double          time_step    = 0.;
      CoefficientKind coefficients = CoefficientKind::expression;
      /// For quadrature; -1: Discretisation/Coefficient order.
      int coefficient_order = -1;
    };

    /// Section "Benchmark" of a parameter file: what is measured, how often.
    class ThroughputInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// @p default_backend is taken where no list of backends is given; @p
      /// n_levels: number of meshes.
      void
      parse_parameters(dealii::ParameterHandler        &prm,
                       const Backend                    default_backend,
                       const std::vector<unsigned int> &default_degrees,
                       const unsigned int               n_levels);

      unsigned int
      repetitions() const;
      /// Degrees that are measured on mesh @p level.
      const std::vector<unsigned int> &
      degrees(const unsigned int level) const;
      /// All combinations that there are and are wanted: the host has one
      /// strategy only and no matrices on a device; strategies but the first
      /// one fill the first kind of matrix.
      const std::vector<Execution> &
      executions() const;
      /// Memory of the host is touched before times are taken.
      bool
      warm_memory() const;
      /// The host's evaluation of coefficients is measured instead of assembly.
      bool
      coefficients_only() const;

    private:
      unsigned int                           n_repetitions = 5;
      bool                                   warm          = false;
      bool                                   coefficients  = false;
      std::vector<std::vector<unsigned int>> degrees_of_level;
      std::vector<Execution>                 present_executions;
    };
  } // namespace Application
} // namespace Tessella

#endif
