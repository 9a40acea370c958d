// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_backends_assembly_parameters_h
#define tessella_backends_assembly_parameters_h

#include <tessella/base/backend.h>
#include <tessella/grid/penalty.h>
#include <tessella/quadrature/quadrature_compression.h>

#include <cstddef>

namespace Tessella
{
  /// Choices of a PolytopicAssembler, which calls them AdditionalData.
  struct AssemblyParameters
  {
    Backend           backend         = Backend::automatic;
    InstructionSet    instruction_set = InstructionSet::automatic;
    PenaltyParameters penalty;
    /**
     * Compressed quadrature of the volume terms, for spaces of total degree on
     * sub-cells that are not curved. It pays for polytopes of many sub-cells:
     * sixty triangles with polynomials of degree 3 have 720 points, and 28
     * suffice. Coefficients that do not depend on the point and the material
     * alone, such as values per cell, need the full rule.
     */
    QuadratureCompression compression = QuadratureCompression::never;
    /**
     * Bytes that mesh, structure and results that wait for their copy may
     * occupy on a CUDA device. 0 means the free memory, less a reserve, in
     * equal parts for the processes that share the device. Further lists that
     * kernels need are not counted. Meshes and matrices that do not fit are
     * processed in parts, with the same results to the last bit; it is an error
     * if a single block row does not fit.
     */
    std::size_t device_memory = 0;
    /// Index of the CUDA device, see choose_cuda_device(). -1: each of several
    /// processes chooses one; a single process keeps the present device.
    int device = -1;
  };
} // namespace Tessella

#endif
