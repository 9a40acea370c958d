// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_post_processing_h
#define tessella_source_hdg_post_processing_h

#include <tessella/base/backend.h>
#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>

namespace Tessella
{
  namespace internal
  {
    /// Implements HDG::post_process() on own polytopes. Vectors are numbered as
    /// the degrees of freedom in PolytopicMesh. Cost per polytope: about 2 dim
    /// N^2 q operations for N functions of the finer space and q points.
    template <int dim>
    struct PostProcessing
    {
      const AgglomerationHandler<dim> &handler, &finer;

      /// Throws if @p finer cannot be used.
      void
      check() const;

      void
      run(const Form<dim>     &form,
          const double        *solution,
          const double        *flux,
          const InstructionSet instruction_set,
          double              *result) const;
    };
  } // namespace internal
} // namespace Tessella

#endif
