// SPDX-License-Identifier: LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/lac/block_preconditioners.h>

#include "block_space.h"

namespace Tessella
{
  using namespace dealii;

  template <typename MatrixType>
  struct BlockPreconditioner<MatrixType>::Implementation
  {
    internal::BlockData<MatrixType> data;
    unsigned int                    degree    = 1;
    bool                            symmetric = true;
    double                          largest   = 0.;
    vector_type                     r, d;
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
    return implementation == nullptr ? 0 : implementation->data.rows.n_dofs;
  }



  template <typename MatrixType>
  typename BlockPreconditioner<MatrixType>::size_type
  BlockPreconditioner<MatrixType>::n() const
  {
    return m();
  }



  template <typename MatrixType>
  std::size_t
  BlockPreconditioner<MatrixType>::memory_consumption() const
  {
    return sizeof(*this) + (implementation == nullptr
                              ? 0
                              : implementation->data.memory_consumption() +
                                  implementation->r.memory_consumption() +
                                  implementation->d.memory_consumption());
  }



  template <typename MatrixType>
  void
  BlockPreconditioner<MatrixType>::check(const vector_type &dst,
                                         const vector_type &src) const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    AssertThrow(src.size() == n(), ExcDimensionMismatch(src.size(), n()));
    AssertThrow(dst.size() == m(), ExcDimensionMismatch(dst.size(), m()));
    AssertThrow(&dst != &src || dst.size() == 0,
                ExcMessage("Source and destination of a preconditioner must be"
                           " different vectors."));
  }



  // ---- BlockJacobi

  template <typename MatrixType>
  void
  BlockJacobi<MatrixType>::initialize(const MatrixType &matrix)
  {
    using Implementation =
      typename BlockPreconditioner<MatrixType>::Implementation;
    this->implementation = std::make_unique<Implementation>();
    this->implementation->data.reinit(matrix);
    this->implementation->data.invert_diagonal();
  }



  namespace
  {
    template <typename MatrixType, typename Vector>
    void
    apply_diagonal(const internal::BlockData<MatrixType> &data,
                   Vector                                &dst,
                   const Vector                          &src,
                   const bool                             transpose)
    {
      using Data = internal::BlockData<MatrixType>;
      Data::SpaceType::call([&] {
        Data::Blocks::apply_diagonal(
          data.rows, data.inverse.data(), transpose, src.begin(), dst.begin());
      });
    }
  } // namespace



  template <typename MatrixType>
  void
  BlockJacobi<MatrixType>::vmult(vector_type &dst, const vector_type &src) const
  {
    this->check(dst, src);
    apply_diagonal(this->implementation->data, dst, src, false);
  }



  template <typename MatrixType>
  void
  BlockJacobi<MatrixType>::Tvmult(vector_type       &dst,
                                  const vector_type &src) const
  {
    this->check(dst, src);
    apply_diagonal(this->implementation->data, dst, src, true);
  }



  // ---- BlockChebyshev

  template <typename MatrixType>
  void
  BlockChebyshev<MatrixType>::initialize(const MatrixType     &matrix,
                                         const AdditionalData &data)
  {
    AssertThrow(data.degree > 0,
                ExcMessage("The degree of BlockChebyshev must be positive."));
    using Implementation =
      typename BlockPreconditioner<MatrixType>::Implementation;
    this->implementation = std::make_unique<Implementation>();
    auto &implementation = *this->implementation;
    implementation.data.reinit(matrix);
    implementation.data.invert_diagonal();
    implementation.degree    = data.degree;
    implementation.symmetric = data.symmetric;
    implementation.largest =
      implementation.data.largest_eigenvalue(data.symmetric);
    implementation.r.reinit(matrix.m());
    implementation.d.reinit(matrix.m());
  }



  template <typename MatrixType>
  void
  BlockChebyshev<MatrixType>::apply(vector_type       &x,
                                    const vector_type &b,
                                    const bool         zero_start,
                                    const bool         transpose) const
  {
    using Data                 = internal::BlockData<MatrixType>;
    using Number               = typename MatrixType::value_type;
    auto       &implementation = *this->implementation;
    const Data &data           = implementation.data;
    for (unsigned int i = 1; i <= implementation.degree; ++i)
      {
        const bool set = zero_start && i == 1;
        if (!set)
          data.matrix->subtract_product(implementation.r, x, b, transpose);
        const Number alpha = i == 1 ? 0. : (2. * i - 3.) / (2. * i + 1.),
                     beta =
                       (8. * i - 4.) / (2. * i + 1.) / implementation.largest;
        Data::SpaceType::call([&] {
          Data::Blocks::polynomial_step(data.rows,
                                        data.inverse.data(),
                                        transpose,
                                        alpha,
                                        beta,
                                        set ? b.begin()
                                            : implementation.r.begin(),
                                        implementation.d.begin(),
                                        x.begin(),
                                        set);
        });
      }
  }



  template <typename MatrixType>
  void
  BlockChebyshev<MatrixType>::vmult(vector_type       &dst,
                                    const vector_type &src) const
  {
    this->check(dst, src);
    apply(dst, src, true, false);
  }



  template <typename MatrixType>
  void
  BlockChebyshev<MatrixType>::Tvmult(vector_type       &dst,
                                     const vector_type &src) const
  {
    this->check(dst, src);
    apply(dst, src, true, true);
  }



  template <typename MatrixType>
  void
  BlockChebyshev<MatrixType>::smooth(vector_type &x, const vector_type &b) const
  {
    this->check(x, b);
    apply(x, b, false, false);
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
    using Implementation =
      typename BlockPreconditioner<MatrixType>::Implementation;
    this->implementation = std::make_unique<Implementation>();
    this->implementation->data.reinit(matrix);
    this->implementation->data.invert_diagonal();
    this->implementation->data.make_colors();
    this->implementation->degree    = data.n_sweeps;
    this->implementation->symmetric = data.symmetric;
  }



  template <typename MatrixType>
  void
  BlockGaussSeidel<MatrixType>::sweep(vector_type       &x,
                                      const vector_type &b,
                                      const bool         ascending) const
  {
    this->check(x, b);
    using Data                  = internal::BlockData<MatrixType>;
    const Data        &data     = this->implementation->data;
    const unsigned int n_colors = data.color_offset.size() - 1;
    for (unsigned int i = 0; i < n_colors; ++i)
      {
        const unsigned int c = ascending ? i : n_colors - 1 - i;
        Data::SpaceType::call([&] {
          Data::Blocks::relax(data.rows,
                              data.matrix->values(),
                              data.inverse.data(),
                              data.color_list.data() + data.color_offset[c],
                              data.color_offset[c + 1] - data.color_offset[c],
                              b.begin(),
                              x.begin());
        });
      }
  }



  template <typename MatrixType>
  void
  BlockGaussSeidel<MatrixType>::vmult(vector_type       &dst,
                                      const vector_type &src) const
  {
    this->check(dst, src);
    dst = 0.;
    for (unsigned int i = 0; i < this->implementation->degree; ++i)
      {
        sweep(dst, src, true);
        sweep(dst, src, false);
      }
  }



  template <typename MatrixType>
  void
  BlockGaussSeidel<MatrixType>::Tvmult(vector_type       &dst,
                                       const vector_type &src) const
  {
    this->check(dst, src);
    AssertThrow(this->implementation->symmetric,
                ExcMessage("BlockGaussSeidel has a transpose for symmetric "
                           "matrices only: use BlockJacobi or BlockChebyshev, "
                           "or a solver that does not need it."));
    vmult(dst, src);
  }



  template <typename MatrixType>
  unsigned int
  BlockGaussSeidel<MatrixType>::n_colors() const
  {
    AssertThrow(this->implementation != nullptr, ExcNotInitialized());
    return this->implementation->data.color_offset.size() - 1;
  }



#define INSTANTIATE(MatrixType)                   \
  template class BlockPreconditioner<MatrixType>; \
  template class BlockJacobi<MatrixType>;         \
  template class BlockChebyshev<MatrixType>;      \
  template class BlockGaussSeidel<MatrixType>;

  INSTANTIATE(HostBlockMatrix<double>)
  INSTANTIATE(HostBlockMatrix<float>)
  INSTANTIATE(DeviceBlockMatrix<double>)
  INSTANTIATE(DeviceBlockMatrix<float>)
#undef INSTANTIATE
} // namespace Tessella
