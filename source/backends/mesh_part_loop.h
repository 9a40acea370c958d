// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_mesh_part_loop_h
#define tessella_source_backends_mesh_part_loop_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "../../cuda/backends/assembly.h"
#include "mesh_part.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Loop over the parts in which a mesh goes through a device whose memory
     * does not suffice for the whole mesh. Parts are as large as the memory
     * permits; if an estimate was too low, the loop continues with smaller
     * ones.
     */
    template <int dim>
    class MeshPartLoop
    {
    public:
      /// All objects must outlive the loop.
      struct Data
      {
        const PolytopicMesh<dim>         &mesh;
        const PolytopicDoFs              &dofs;
        const BlockSparsity              &sparsity;
        const Device::RuleTables         &tables;
        const std::vector<unsigned char> &exponents;
        const Device::Degrees            &degrees;
        Device::Workspace                &workspace;
        const Device::Parallel            parallel;
        /// Limit of the device memory and number of processes that share it, as
        /// in CUDAAssembly::Problem.
        const std::size_t  device_memory;
        const unsigned int n_sharing;
      };

      /// @p evaluation: coefficients are evaluated on the device. The last
      /// arguments are the sizes of a matrix value and a vector entry, or 0 if
      /// they need no memory for chunks.
      MeshPartLoop(const Data                  &data,
                   const Device::FormData<dim> &form,
                   const bool                   evaluation,
                   const std::size_t            values_size,
                   const std::size_t            rhs_size);

      /// Calls @p function for each part and an assembler for it; the next part
      /// is made at the same time. Throws Device::Error if a single block row
      /// needs more memory than there is.
      void
      run(const std::function<void(const MeshPart<dim> &,
                                   Device::Assembler<dim> &)> &function);

    private:
      /// The part that begins at a polytope.
      std::unique_ptr<MeshPart<dim>>
      make_part(const unsigned int begin) const;

      /// Runs one part.
      void
      run_part(const MeshPart<dim>                                 &part,
               const std::function<void(const MeshPart<dim> &,
                                        Device::Assembler<dim> &)> &function);

      [[noreturn]] void
      throw_too_large(const unsigned int polytope) const;

      const Data         data;
      const unsigned int n; ///< number of polytopes with rows
      const std::size_t  limit;
      /// Bytes of device memory for each polytope as part of a mesh, and for
      /// its block row.
      std::vector<std::size_t> part_bytes, row_bytes;
      /// Memory for the mesh of a part.
      std::size_t mesh_limit;
    };
  } // namespace internal
} // namespace Tessella

#endif
