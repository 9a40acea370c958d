// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/host_vector.h>

#include "../base/vector_types.h"
#include "block_space.h"

namespace Tessella
{
  using namespace dealii;

  template <typename MatrixType>
  struct BlockPreconditioner<MatrixType>::Implementation
  {
    using Data   = internal::BlockData<MatrixType>;
    using Space  = typename Data::SpaceType;
    using Blocks = typename Data::Blocks;

    void
    chebyshev(const value_type *b,
              value_type       *x,
              const bool        zero_start,
              const bool        transpose) const
    {
      data.chebyshev(degree,
                     largest,
                     zero_start,
                     transpose,
                     b,
                     x,
                     r.data(),
                     d.data(),
                     nullptr,
                     second_d.data());
    }

    Data                                      data;
    unsigned int                              degree    = 1;
    bool                                      symmetric = true;
    double                                    largest   = 0.;
    typename Data::template Array<value_type> r, d;
    /// Second direction, on a device.
    typename Data::template Array<value_type> second_d;
  };



  template <typename MatrixType>
  BlockPreconditioner<MatrixType>::BlockPreconditioner() = default;



  template <typename MatrixType>
  BlockPreconditioner<MatrixType>::~BlockPreconditioner() = default;



  template <typename MatrixType>
  void
  BlockPreconditioner<MatrixType>::clear()
  {
    implementation.reset();
  }



  template <typename MatrixType>
  typename BlockPreconditioner<MatrixType>::size_type
  BlockPreconditioner<MatrixType>::m() const
  {
    return implementation == nullptr ? 0 : implementation->data.matrix->m();
  }



  template <typename MatrixType>
  std::size_t
  BlockPreconditioner<MatrixType>::memory_consumption() const
  {
    return sizeof(*this) +
           (implementation == nullptr
              ? 0
              : implementation->data.memory_consumption() +
                  implementation->r.memory_consumption() +
                  implementation->d.memory_consumption() +
                  implementation->second_d.memory_consumption());
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  BlockPreconditioner<MatrixType>::check(const VectorType &dst,
                                         const VectorType &src) const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    internal::check_vectors(dst,
                            src,
                            m(),
                            implementation->data.matrix->n_owned_rows());
  }



  template <typename MatrixType>
  void
  BlockPreconditioner<MatrixType>::invert_diagonal(const MatrixType &matrix)
  {
    implementation = std::make_unique<Implementation>();
    implementation->data.reinit(matrix);
    implementation->data.invert_diagonal();
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  BlockPreconditioner<MatrixType>::vmult(VectorType       &dst,
                                         const VectorType &src) const
  {
    check(dst, src);
    apply(internal::entries(dst), internal::entries(src), false);
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  BlockPreconditioner<MatrixType>::Tvmult(VectorType       &dst,
                                          const VectorType &src) const
  {
    check(dst, src);
    apply(internal::entries(dst), internal::entries(src), true);
  }



  // ---- BlockJacobi

  template <typename MatrixType>
  void
  BlockJacobi<MatrixType>::initialize(const MatrixType &matrix)
  {
    this->invert_diagonal(matrix);
  }



  template <typename MatrixType>
  void
  BlockJacobi<MatrixType>::apply(Number       *dst,
                                 const Number *src,
                                 const bool    transpose) const
  {
    using Implementation =
      typename BlockPreconditioner<MatrixType>::Implementation;
    const auto &data = this->implementation->data;
    Implementation::Space::call([&] {
      Implementation::Blocks::apply_diagonal(
        data.rows, data.inverse.data(), transpose, src, dst);
    });
  }



  // ---- BlockChebyshev

  template <typename MatrixType>
  void
  BlockChebyshev<MatrixType>::initialize(const MatrixType     &matrix,
                                         const AdditionalData &data)
  {
    AssertThrow(data.degree > 0,
                ExcMessage("The degree of BlockChebyshev must be positive."));
    this->invert_diagonal(matrix);
    auto &implementation     = *this->implementation;
    implementation.degree    = data.degree;
    implementation.symmetric = data.symmetric;
    implementation.largest =
      implementation.data.largest_eigenvalue(data.symmetric);
    implementation.r.resize(matrix.n_owned_rows());
    implementation.d.resize(matrix.n_owned_rows());
    if (std::is_same<MatrixType,
                     DeviceBlockMatrix<typename MatrixType::value_type>>::value)
      implementation.second_d.resize(matrix.n_owned_rows());
  }



  template <typename MatrixType>
  void
  BlockChebyshev<MatrixType>::apply(Number       *dst,
                                    const Number *src,
                                    const bool    transpose) const
  {
    this->implementation->chebyshev(src, dst, true, transpose);
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  BlockChebyshev<MatrixType>::smooth(VectorType &x, const VectorType &b) const
  {
    this->check(x, b);
    this->implementation->chebyshev(internal::entries(b),
                                    internal::entries(x),
                                    false,
                                    false);
  }



  template <typename MatrixType>
  double
  BlockChebyshev<MatrixType>::largest_eigenvalue() const
  {
    AssertThrow(this->implementation != nullptr, ExcNotInitialized());
    return this->implementation->largest;
  }



  // ---- BlockGaussSeidel

  template <typename MatrixType>
  void
  BlockGaussSeidel<MatrixType>::initialize(const MatrixType     &matrix,
                                           const AdditionalData &data)
  {
    AssertThrow(data.n_sweeps > 0,
                ExcMessage("The number of sweeps of BlockGaussSeidel must be "
                           "positive."));
    matrix.check_has_all_blocks("BlockGaussSeidel");
    this->invert_diagonal(matrix);
    this->implementation->data.make_colors();
    this->implementation->degree    = data.n_sweeps;
    this->implementation->symmetric = data.symmetric;
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  BlockGaussSeidel<MatrixType>::sweep(VectorType       &x,
                                      const VectorType &b,
                                      const bool        ascending) const
  {
    this->check(x, b);
    this->implementation->data.relax(ascending,
                                     internal::entries(b),
                                     internal::entries(x));
  }



  template <typename MatrixType>
  void
  BlockGaussSeidel<MatrixType>::apply(Number       *dst,
                                      const Number *src,
                                      const bool    transpose) const
  {
    using Implementation =
      typename BlockPreconditioner<MatrixType>::Implementation;
    const auto &implementation = *this->implementation;
    AssertThrow(!transpose || implementation.symmetric,
                ExcMessage("BlockGaussSeidel has a transpose for symmetric "
                           "matrices only: use BlockJacobi or BlockChebyshev, "
                           "or a solver that does not need it."));
    Implementation::Space::call([&] {
      Implementation::Blocks::set_zero(implementation.data.rows.n_dofs, dst);
    });
    for (unsigned int i = 0; i < implementation.degree; ++i)
      for (const bool ascending : {true, false})
        implementation.data.relax(ascending, src, dst);
  }



  template <typename MatrixType>
  unsigned int
  BlockGaussSeidel<MatrixType>::n_colors() const
  {
    AssertThrow(this->implementation != nullptr, ExcNotInitialized());
    return this->implementation->data.color_offset.size() - 1;
  }



#define INSTANTIATE_VECTOR(MatrixType, VectorType)                            \
  template void BlockPreconditioner<MatrixType>::vmult(VectorType &,          \
                                                       const VectorType &)    \
    const;                                                                    \
  template void BlockPreconditioner<MatrixType>::Tvmult(VectorType &,         \
                                                        const VectorType &)   \
    const;                                                                    \
  template void BlockChebyshev<MatrixType>::smooth(VectorType &,              \
                                                   const VectorType &) const; \
  template void BlockGaussSeidel<MatrixType>::sweep(VectorType &,             \
                                                    const VectorType &,       \
                                                    const bool) const;

#define INSTANTIATE(MatrixType)                   \
  template class BlockPreconditioner<MatrixType>; \
  template class BlockJacobi<MatrixType>;         \
  template class BlockChebyshev<MatrixType>;      \
  template class BlockGaussSeidel<MatrixType>;

#define INSTANTIATE_NUMBER(Number)                                \
  INSTANTIATE(HostBlockMatrix<Number>)                            \
  INSTANTIATE_VECTOR(HostBlockMatrix<Number>, Vector<Number>)     \
  INSTANTIATE_VECTOR(HostBlockMatrix<Number>,                     \
                     LinearAlgebra::distributed::Vector<Number>)  \
  INSTANTIATE_VECTOR(HostBlockMatrix<Number>, HostVector<Number>) \
  INSTANTIATE(DeviceBlockMatrix<Number>)                          \
  INSTANTIATE_VECTOR(DeviceBlockMatrix<Number>, DeviceVector<Number>)

  INSTANTIATE_NUMBER(double)
  INSTANTIATE_NUMBER(float)
  TESSELLA_IF_EPETRA(INSTANTIATE_VECTOR(HostBlockMatrix<double>,
                                        TrilinosWrappers::MPI::Vector))
#undef INSTANTIATE_NUMBER
#undef INSTANTIATE
#undef INSTANTIATE_VECTOR
} // namespace Tessella
