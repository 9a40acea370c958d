// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_strategy_assembler_h
#define tessella_applications_strategy_assembler_h

#include "../../source/assembly/assembly_procedure.h"
#include "assembly_strategy.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Assembly by a strategy other than AssemblyStrategy::block_rows, with the
     * interface of PolytopicAssembler. It needs a CUDA device, a program of one
     * process, a mesh of simplices in two or three dimensions, and a matrix in
     * double precision. Varying coefficients are evaluated by the host's
     * threads.
     */
    template <int dim>
    class StrategyAssembler
    {
    public:
      StrategyAssembler(const PolytopicSpace<dim> &space,
                        const AssemblyStrategy     strategy,
                        const AssemblyParameters  &parameters);

      template <typename MatrixType, typename VectorType>
      void
      reinit(MatrixType &matrix, VectorType &rhs)
      {
        procedure.reinit_matrix(matrix);
        procedure.reinit_vector(rhs);
      }
      void
      reinit(dealii::SparsityPattern      &sparsity,
             dealii::SparseMatrix<double> &matrix,
             dealii::Vector<double>       &rhs)
      {
        procedure.reinit_matrix(matrix, sparsity);
        procedure.reinit_vector(rhs);
      }

      /// Assembles a matrix, a vector, or a matrix and a vector.
      template <typename... Destination>
      void
      assemble(const Form<dim> &form, Destination &...destination)
      {
        procedure.assemble(form, destination...);
      }

      const AssemblyReport &
      report() const
      {
        return procedure.context.report;
      }

    private:
      internal::AssemblyProcedure<dim> procedure;
    };
  } // namespace Application
} // namespace Tessella

#endif
