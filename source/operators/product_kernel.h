// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_product_kernel_h
#define tessella_source_operators_product_kernel_h

#include <tessella/base/backend.h>

#include <cstddef>
#include <string>

#include "../../cuda/lac/block_matrix.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Product of the operator of a form with a vector, without a matrix. A
     * MatrixFreeOperator has one object, which its function make_kernel()
     * chooses: kernels for special meshes and forms are asked first, and the
     * kernel for all forms comes last.
     *
     * Vectors are arrays in the memory of type(): entries of owned polytopes in
     * the order of PolytopicDoFs::dof_offset, and those of ghosts, which the
     * caller has exchanged, in an array of their own. No function communicates.
     */
    class ProductKernel
    {
    public:
      /// Polytopes whose rows are computed: all that the process owns, or those
      /// without and those with neighbours on other processes.
      enum class Rows
      {
        all,
        interior,
        boundary
      };

      virtual ~ProductKernel() = default;

      /// Computes A x, or A^T x if @p transpose, for the rows in @p rows and
      /// stores it as @p dst demands. @p ghosts is not read for interior rows.
      virtual void
      vmult(const Device::Destination<double> &dst,
            const double                      *src,
            const double                      *ghosts,
            const bool                         transpose,
            const Rows                         rows) const = 0;

      /// host or cuda.
      virtual Backend
      type() const = 0;

      /// Name of the kernel and why it was chosen, for reports.
      virtual std::string
      name() const = 0;
      virtual std::string
      reason() const = 0;

      /// Number of multiplications and additions of one product.
      virtual double
      n_operations() const = 0;

      /// Memory in bytes on host and device.
      virtual std::size_t
      memory_consumption() const = 0;
    };
  } // namespace internal
} // namespace Tessella

#endif
