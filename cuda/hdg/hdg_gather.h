// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_gather_h
#define tessella_cuda_hdg_hdg_gather_h

#include "device_copies.h"
#include "hdg_data.h"
#include "hdg_plan.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Adds the matrices K of a tile to the trace matrix, and its right-hand
      /// sides to that of the traces.
      template <int dim>
      class HDGGather
      {
      public:
        /// Arguments of the kernel in addition to HDGData.
        struct Arguments
        {
          const unsigned int *block_of_interface, *interface_of_block,
            *row_block;
          const unsigned int  *entry_of_side; ///< two for each interface
          const unsigned char *irregular;     ///< for each block row, see
                                              ///< hdg_gather_kernel()
          const std::uint64_t *dof_offset;
          const std::uint64_t *block_offset, *value_offset;
          const unsigned int  *block_column, *column_offset, *row_width;
          std::uint64_t        n_rows;
          double              *values, *rhs;
        };

        /// Copies the structure of the matrix to the device.
        void
        prepare(const HDGPlan<dim> &plan, DeviceCopies &copies);

        /// Starts the kernel for the tile that @p data describes.
        void
        launch(const HDGData<dim> &data, double *values, double *rhs) const;

        /// Set by prepare(), except for values and rhs.
        Arguments arguments = {};
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
