// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_basic_block_matrix_templates_h
#define tessella_source_lac_basic_block_matrix_templates_h

#include <deal.II/base/exceptions.h>

#include <tessella/base/config.h>
#include <tessella/lac/basic_block_matrix.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <string>
#include <type_traits>
#include <utility>

#include "../../cuda/lac/block_matrix.h"
#include "vector_access.h"

// Definitions of the functions of BasicBlockMatrix. The class Data has
//   check_available()      throws if its memory cannot be used
//   make(structure)        creates an object with values that are zero
//   make_like(structure, other)   the same if an object of either precision
//                          has the same structure
//   values(), memory_consumption()
//   set_zero(n)
//   copy_from(from, n), copy_to(to, n)   values in host memory; the former
//                          rounds them if the types differ
//   convert(from, n)       copies values in its own memory
//   product(structure, y, x), transpose_product(structure, y, x)
//   external               product to be used instead if it is set

namespace Tessella
{
  template <typename Number, typename Data>
  BasicBlockMatrix<Number, Data>::BasicBlockMatrix()
  {
    Data::check_available();
  }



  template <typename Number, typename Data>
  BasicBlockMatrix<Number, Data>::BasicBlockMatrix(
    BasicBlockMatrix &&) noexcept = default;



  template <typename Number, typename Data>
  BasicBlockMatrix<Number, Data>::~BasicBlockMatrix() = default;



  template <typename Number, typename Data>
  BasicBlockMatrix<Number, Data> &
  BasicBlockMatrix<Number, Data>::operator=(BasicBlockMatrix &&) noexcept =
    default;



  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::reinit(
    BlockSparsity                                sparsity,
    const std::vector<std::uint64_t>            &dof_offset,
    const std::shared_ptr<const BlockPartition> &partition)
  {
    data.reset(); // frees memory for the new matrix
    set_structure(std::move(sparsity), dof_offset, partition);
    try
      {
        data = Data::make(*this);
      }
    catch (...)
      {
        // The matrix is empty if there is too little memory.
        clear_structure();
        throw;
      }
  }



  template <typename Number, typename Data>
  template <typename OtherNumber, typename OtherData>
  void
  BasicBlockMatrix<Number, Data>::reinit(
    const BasicBlockMatrix<OtherNumber, OtherData> &matrix)
  {
    if constexpr (std::is_same<Data, OtherData>::value)
      if (this == &matrix)
        {
          *this = 0.;
          return;
        }
    AssertThrow(matrix.data != nullptr, dealii::ExcNotInitialized());
    data.reset(); // frees memory for the new matrix
    share_structure(matrix);
    try
      {
        data = Data::make_like(*this, *matrix.data);
      }
    catch (...)
      {
        clear_structure();
        throw;
      }
  }



  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::clear()
  {
    data.reset();
    clear_structure();
  }



  template <typename Number, typename Data>
  BasicBlockMatrix<Number, Data> &
  BasicBlockMatrix<Number, Data>::operator=(const double zero)
  {
    AssertThrow(zero == 0.,
                dealii::ExcMessage(
                  "All values of a matrix can only be set to zero."));
    if (data != nullptr)
      data->set_zero(n_nonzero_elements());
    return *this;
  }



  template <typename Number, typename Data>
  std::size_t
  BasicBlockMatrix<Number, Data>::memory_consumption() const
  {
    return sizeof(*this) + structure_memory_consumption() +
           (data == nullptr ? 0 : data->memory_consumption());
  }



  template <typename Number, typename Data>
  Number *
  BasicBlockMatrix<Number, Data>::values()
  {
    return data == nullptr ? nullptr : data->values();
  }



  template <typename Number, typename Data>
  const Number *
  BasicBlockMatrix<Number, Data>::values() const
  {
    return data == nullptr ? nullptr : data->values();
  }



  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::multiply_owned(
    const internal::Device::Destination<Number> &dst,
    const Number                                *src,
    const bool                                   transpose) const
  {
    if (empty())
      return;
    if (data->external)
      data->external(dst, src, transpose);
    else if (transpose)
      data->transpose_product(*this, dst, src);
    else
      data->product(*this, dst, src);
  }



  template <typename Number, typename Data>
  template <typename VectorType>
  void
  BasicBlockMatrix<Number, Data>::multiply(VectorType       &dst,
                                           const VectorType &src,
                                           const bool        transpose,
                                           const bool        add) const
  {
    internal::check_vectors(dst, src, m(), n_owned_rows());
    multiply_owned({internal::entries(dst),
                    add ? internal::Device::Product::add
                        : internal::Device::Product::set},
                   internal::entries(src),
                   transpose);
  }



  template <typename Number, typename Data>
  template <typename VectorType>
  void
  BasicBlockMatrix<Number, Data>::subtract_product(VectorType       &dst,
                                                   const VectorType &x,
                                                   const VectorType &b,
                                                   const bool transpose) const
  {
    if (&dst != &b)
      dst.reinit(b, true);
    internal::check_vectors(dst, x, m(), n_owned_rows());
    internal::check_vector(b, m(), n_owned_rows());
    subtract_product_owned(internal::entries(dst),
                           internal::entries(x),
                           internal::entries(b),
                           transpose);
  }



  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::vmult_owned(Number       *dst,
                                              const Number *src) const
  {
    multiply_owned({dst, internal::Device::Product::set}, src, false);
  }



  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::subtract_product_owned(
    Number *dst, const Number *x, const Number *b, const bool transpose) const
  {
    multiply_owned({dst, internal::Device::Product::subtract, b}, x, transpose);
  }



  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::copy_from(const std::vector<Number> &from)
  {
    AssertThrow(from.size() == n_nonzero_elements(),
                dealii::ExcDimensionMismatch(from.size(),
                                             n_nonzero_elements()));
    if (!from.empty())
      data->copy_from(from.data(), from.size());
  }



  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::copy_to(std::vector<Number> &to) const
  {
    to.resize(n_nonzero_elements());
    if (!to.empty())
      data->copy_to(to.data(), to.size());
  }



  template <typename Number, typename Data>
  template <typename OtherNumber, typename OtherData>
  void
  BasicBlockMatrix<Number, Data>::copy_from(
    const BasicBlockMatrix<OtherNumber, OtherData> &matrix)
  {
    matrix.check_has_all_blocks("A copy in another precision");
    reinit(matrix);
    if (!empty())
      data->convert(matrix.values(), n_nonzero_elements());
  }



  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::set_external_product(
    const ExternalProduct &product)
  {
    AssertThrow(data != nullptr && block_sparsity().block_column.size() ==
                                     block_sparsity().row_width.size(),
                dealii::ExcMessage("A block matrix with an external product "
                                   "must have the diagonal blocks alone."));
    data->external = product;
  }



  template <typename Number, typename Data>
  bool
  BasicBlockMatrix<Number, Data>::has_external_product() const
  {
    return data != nullptr && data->external;
  }



  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::check_has_all_blocks(const char *what) const
  {
    AssertThrow(!has_external_product(),
                dealii::ExcMessage(
                  std::string(what) +
                  " needs all blocks of a matrix, but an operator without a "
                  "matrix has the diagonal blocks alone: take BlockJacobi, "
                  "BlockChebyshev or Multigrid with coarse matrices of "
                  "assemble_coarse_operators(), or assemble the matrix."));
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <typename Number, typename Data>
  void
  BasicBlockMatrix<Number, Data>::copy_from(
    const dealii::TrilinosWrappers::SparseMatrix &matrix,
    const BlockSparsity                          &sparsity,
    const std::vector<std::uint64_t>             &dof_offset)
  {
    const double *const from = TrilinosBlockMatrix::values(
      const_cast<dealii::TrilinosWrappers::SparseMatrix &>(matrix),
      sparsity,
      dof_offset);
    TrilinosBlockMatrix::check_columns(matrix, sparsity, dof_offset);
    reinit(sparsity, dof_offset);
    data->copy_from(from, n_nonzero_elements());
  }
#endif
} // namespace Tessella

/// Instantiates the class and its functions for matrices of the data class
/// @p Data.
#define TESSELLA_INSTANTIATE_BLOCK_MATRIX(Number, Data)            \
  template class BasicBlockMatrix<Number, Data<Number>>;           \
  template void BasicBlockMatrix<Number, Data<Number>>::copy_from( \
    const BasicBlockMatrix<double, Data<double>> &);               \
  template void BasicBlockMatrix<Number, Data<Number>>::copy_from( \
    const BasicBlockMatrix<float, Data<float>> &);                 \
  template void BasicBlockMatrix<Number, Data<Number>>::reinit(    \
    const BasicBlockMatrix<double, Data<double>> &);               \
  template void BasicBlockMatrix<Number, Data<Number>>::reinit(    \
    const BasicBlockMatrix<float, Data<float>> &);

/// Instantiates the products with vectors of a type.
#define TESSELLA_INSTANTIATE_PRODUCTS(Number, Data, VectorType)           \
  template void BasicBlockMatrix<Number, Data<Number>>::multiply(         \
    VectorType &, const VectorType &, const bool, const bool) const;      \
  template void BasicBlockMatrix<Number, Data<Number>>::subtract_product( \
    VectorType &, const VectorType &, const VectorType &, const bool) const;

#endif
