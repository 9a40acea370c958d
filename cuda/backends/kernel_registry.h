// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_kernel_registry_h
#define tessella_cuda_backends_kernel_registry_h

#include <string>

#include "assembly.h"

// The kernels that compute block rows, what they serve, and the choice among
// them.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Scheme by which the block rows of a mesh are computed.
      enum class RowScheme
      {
        rows,   ///< a warp computes a block row
        blocks, ///< a warp computes a block or half of a block
        units   ///< a warp computes a tile of 32 x 32 entries
      };

      /// Kernel that is used for a mesh.
      struct KernelChoice
      {
        RowScheme scheme = RowScheme::units;
        /// Degree that the kernel is compiled for; -1: any degree.
        int degree = -1;
        /// Number of tiles of 8 own functions, and whether the last tile is
        /// shared with the neighbour's functions (RowKernel).
        int  tiles  = 4;
        bool packed = false;
      };

      /// Properties of the whole mesh by which kernels are chosen, so that the
      /// same kernels compute all parts of it.
      struct MeshProperties
      {
        int          dim;
        unsigned int degree, n_basis;       ///< largest ones
        bool         uniform, tensor_space; ///< uniform: all spaces are equal
        bool         simplices, prisms, parallelepipeds; ///< as in Degrees

        MeshProperties(const int dim, const Degrees &degrees);
      };

      /**
       * Registry of the kernels that compute block rows of the matrix. Every
       * kernel declares which meshes (degrees, spaces) and which forms it
       * serves; all of them serve cells of every type and both precisions. The
       * first one in the table that serves mesh and form computes them; the
       * last one serves everything.
       *
       * The kernels for slabs compute those rows of a mesh of prisms that are
       * upright (see Row), ahead of the others, for some forms.
       */
      template <int dim>
      class KernelRegistry
      {
      public:
        explicit KernelRegistry(const MeshProperties &mesh);

        /// The kernel for the mesh, and for forms that it serves.
        const KernelChoice &
        choice() const
        {
          return present;
        }

        /// The scheme for a form on the mesh.
        RowScheme
        scheme(const FormData<dim> &form) const;

        /// Whether SlabKernel serves the matrix or the right-hand side,
        /// respectively, on upright rows. Each depends on the form only, not on
        /// the terms that are assembled together.
        static bool
        slab_matrix(const FormData<dim> &form);

        static bool
        slab_rhs(const FormData<dim> &form);

        /// Name of the kernel for a form, with the degree that it is compiled
        /// for, or else the reason why a general kernel is used.
        std::string
        name(const FormData<dim> &form) const;

      private:
        const MeshProperties mesh;
        KernelChoice         present;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
