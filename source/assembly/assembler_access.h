// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_assembly_assembler_access_h
#define tessella_source_assembly_assembler_access_h

#include <tessella/assembly/polytopic_assembler.h>

#include "../backends/assembly_strategy.h"

namespace Tessella
{
  namespace internal
  {
    /// Functions of PolytopicAssembler for measurements, which are not part of
    /// the library's interface.
    struct AssemblerAccess
    {
      /// Sets the strategy of the following assemblies; an error without a CUDA
      /// device or with several processes, unless it is block_rows.
      template <int dim>
      static void
      set_strategy(PolytopicAssembler<dim> &assembler,
                   const AssemblyStrategy   strategy);
    };
  } // namespace internal
} // namespace Tessella

#endif
