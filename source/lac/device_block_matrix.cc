// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/base/config.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "../../cuda/lac/vector.h"
#include "../device/device_call.h"
#include "basic_block_matrix.templates.h"
#include "device_block_data.h"
#include "store_block_row.h"

namespace Tessella
{
  using namespace dealii;

  template <typename Number>
  std::size_t
  DeviceBlockMatrix<Number>::vmult_bytes() const
  {
    if (this->values() == nullptr)
      return 0;
    return (this->n_nonzero_elements() + 2 * this->n_owned_rows()) *
             sizeof(Number) +
           this->block_sparsity().block_column.size() * sizeof(unsigned int);
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <typename Number>
  void
  DeviceBlockMatrix<Number>::copy_to(
    TrilinosWrappers::SparseMatrix &matrix) const
  {
    double *const to = TrilinosBlockMatrix::values(matrix,
                                                   this->block_sparsity(),
                                                   this->dof_offset());
    if constexpr (std::is_same<Number, double>::value)
      internal::device_call([&] {
        internal::Device::VectorOperations<Number>::download(
          this->n_nonzero_elements(), this->values(), to);
      });
    else
      {
        std::vector<Number> from;
        copy_to(from);
        std::copy(from.begin(), from.end(), to);
      }
  }
#endif



  template <typename Number>
  void
  DeviceBlockMatrix<Number>::copy_to(SparseMatrix<Number> &matrix) const
  {
    const BlockSparsity &blocks = this->block_sparsity();
    AssertThrow(matrix.m() == this->m() &&
                  matrix.n_nonzero_elements() == blocks.n_nonzero_elements(),
                ExcMessage("The matrix does not have the structure of this one:"
                           " call reinit() of the assembler on it."));
    std::vector<Number> from;
    copy_to(from);
    for (unsigned int k = 0; k < blocks.row_width.size(); ++k)
      internal::store_block_row(matrix,
                                blocks,
                                this->dof_offset(),
                                k,
                                from.data() + blocks.value_offset[k]);
  }



  TESSELLA_INSTANTIATE_BLOCK_MATRIX(double, internal::DeviceBlockData)
  TESSELLA_INSTANTIATE_BLOCK_MATRIX(float, internal::DeviceBlockData)
  TESSELLA_INSTANTIATE_PRODUCTS(double,
                                internal::DeviceBlockData,
                                DeviceVector<double>)
  TESSELLA_INSTANTIATE_PRODUCTS(float,
                                internal::DeviceBlockData,
                                DeviceVector<float>)
  template class DeviceBlockMatrix<double>;
  template class DeviceBlockMatrix<float>;
} // namespace Tessella
