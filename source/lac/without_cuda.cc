// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/base/config.h>
#include <tessella/device/cuda_device.h>

#include "../device/device_call.h"

#ifndef TESSELLA_HAVE_CUDA
#  include "../../cuda/lac/block_matrix.h"
#  include "../../cuda/lac/blocks.h"
#  include "../../cuda/lac/halo.h"
#  include "../../cuda/lac/vector.h"
#  include "../../cuda/lac/vector_instantiations.h"
#endif

namespace Tessella
{
  namespace internal
  {
    void
    assert_device_is_available()
    {
#ifdef TESSELLA_HAVE_CUDA
      AssertThrow(cuda_is_available(),
                  dealii::ExcMessage(
                    "No CUDA device was found on this machine, or its driver "
                    "does not work: vectors and matrices on a device cannot be "
                    "used. Use those of deal.II or Trilinos instead."));
#else
      AssertThrow(false,
                  dealii::ExcMessage(
                    "This build of Tessella has no CUDA backend: vectors and "
                    "matrices on a device cannot be used. Use those of deal.II "
                    "or Trilinos, or build with -DTESSELLA_WITH_CUDA=ON."));
#endif
    }



#ifndef TESSELLA_HAVE_CUDA
    // Stand-ins for the definitions in cuda/. Without CUDA no object on a
    // device exists, so none of these functions is reached.
    namespace Device
    {
      namespace
      {
        [[noreturn]] void
        no_device()
        {
          throw Error("This build of Tessella has no CUDA backend.");
        }
      } // namespace

      template <typename Number>
      struct BlockMatrix<Number>::Implementation
      {};
      template <typename Number>
      BlockMatrix<Number>::BlockMatrix(const BlockSparsity &,
                                       const std::vector<std::uint64_t> &,
                                       const AllProcesses *)
      {
        no_device();
      }
      template <typename Number>
      BlockMatrix<Number>::~BlockMatrix() = default;
      template <typename Number>
      Number *
      BlockMatrix<Number>::values() const
      {
        no_device();
      }
      template <typename Number>
      void
      BlockMatrix<Number>::vmult(Number *,
                                 const Number *,
                                 const Product,
                                 const Number *,
                                 const ProductRows,
                                 const Number *) const
      {
        no_device();
      }
      template <typename Number>
      bool
      BlockMatrix<Number>::has_transpose() const
      {
        no_device();
      }
      template <typename Number>
      void
      BlockMatrix<Number>::make_transpose(const BlockSparsity &,
                                          const std::vector<std::uint64_t> &,
                                          const std::vector<std::uint64_t> &,
                                          const std::vector<std::uint64_t> &,
                                          const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      void
      BlockMatrix<Number>::Tvmult(Number *,
                                  const Number *,
                                  const Product,
                                  const Number *) const
      {
        no_device();
      }
      template <typename Number>
      const Number *
      BlockMatrix<Number>::row_sums(const Number *) const
      {
        no_device();
      }
      template <typename Number>
      void
      BlockMatrix<Number>::column_sums(Number *,
                                       const Number *,
                                       const Product,
                                       const Number *) const
      {
        no_device();
      }
      template <typename Number>
      std::size_t
      BlockMatrix<Number>::memory_consumption() const
      {
        no_device();
      }
      template <typename Number>
      struct Halo<Number>::Implementation
      {};
      template <typename Number>
      Halo<Number>::Halo(const std::vector<unsigned int> &, const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      Halo<Number>::~Halo() = default;
      template <typename Number>
      void
      Halo<Number>::pack(const Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Halo<Number>::wait_for_packed()
      {
        no_device();
      }
      template <typename Number>
      Number *
      Halo<Number>::send_buffer() const
      {
        no_device();
      }
      template <typename Number>
      Number *
      Halo<Number>::receive_buffer() const
      {
        no_device();
      }
      template <typename Number>
      void
      Halo<Number>::upload()
      {
        no_device();
      }
      template <typename Number>
      const Number *
      Halo<Number>::ghosts() const
      {
        no_device();
      }
      template <typename Number>
      std::size_t
      Halo<Number>::memory_consumption() const
      {
        no_device();
      }
      template class Halo<double>;
      template class Halo<float>;

      void *
      allocate_bytes(const std::size_t)
      {
        no_device();
      }
      void
      upload_bytes(void *, const void *, const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      unsigned int
      Blocks<Number>::invert_diagonal(const BlockRows &,
                                      const Number *,
                                      Number *)
      {
        no_device();
      }
      template <typename Number>
      unsigned int
      Blocks<Number>::orthonormalise(const BlockRows &,
                                     const double *,
                                     double *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::change_basis(const BlockRows &,
                                   const std::uint64_t *,
                                   const double *,
                                   const double *,
                                   Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::change_basis_of_injection(const BlockRows &,
                                                const std::uint64_t *,
                                                const double *,
                                                const unsigned int,
                                                const std::uint64_t *,
                                                const std::uint64_t *,
                                                Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::apply_diagonal(
        const BlockRows &, const Number *, const bool, const Number *, Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::polynomial_step(const BlockRows &,
                                      const Number *,
                                      const bool,
                                      const Number,
                                      const Number,
                                      const Number,
                                      const Number *,
                                      Number *,
                                      Number *,
                                      const bool)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::relax(const BlockRows &,
                            const Number *,
                            const Number *,
                            const unsigned int *,
                            const unsigned int,
                            const Number *,
                            const Number *,
                            Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::restrict_to(const BlockTransfer<Number> &,
                                  const Number *,
                                  Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::prolongate_add(const BlockTransfer<Number> &,
                                     const Number *,
                                     Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::galerkin(const BlockRows &,
                               const BlockRows &,
                               const BlockTransfer<Number> &,
                               const GalerkinPlan &,
                               const Number *,
                               Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::dense_product(const unsigned int,
                                    const unsigned int,
                                    const Number *,
                                    const Number *,
                                    Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::add(const std::size_t,
                          const Number,
                          const Number *,
                          Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::scale_add(const std::size_t,
                                const Number,
                                const Number *,
                                Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::set_zero(const std::size_t, Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::copy(const std::size_t, const Number *, Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      Blocks<Number>::download(const std::size_t, const Number *, Number *)
      {
        no_device();
      }
      template <typename Number>
      ReproducibleSum
      Blocks<Number>::dot(const std::size_t, const Number *, const Number *)
      {
        no_device();
      }
      template struct Blocks<double>;
      template struct Blocks<float>;

      void
      release(void *) noexcept
      {}

      void
      synchronize()
      {
        no_device();
      }

      template <typename Number>
      Number *
      allocate(const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      void
      upload(Number *, const Number *, const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      void
      download(Number *, const Number *, const std::size_t)
      {
        no_device();
      }
      template <typename To, typename From>
      void
      copy(To *, const From *, const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      void
      set(Number *, const std::size_t, const Number)
      {
        no_device();
      }
      template <typename Number>
      void
      combine(Number *,
              const std::size_t,
              const Number,
              const Number,
              const Number *,
              const Number,
              const Number *)
      {
        no_device();
      }
      template <typename Number>
      void
      shift(Number *, const std::size_t, const Number)
      {
        no_device();
      }
      template <typename Number>
      void
      multiply(Number *, const Number *, const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      ReproducibleSum
      dot(const Number *, const Number *, const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      ReproducibleSum
      add_and_dot(Number *,
                  const Number,
                  const Number *,
                  const Number *,
                  const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      ReproducibleSum
      sum(const Number *, const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      ReproducibleSum
      absolute_sum(const Number *, const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      double
      absolute_maximum(const Number *, const std::size_t)
      {
        no_device();
      }
      template <typename Number>
      bool
      equal(const Number *, const Number *, const std::size_t)
      {
        no_device();
      }

      template class BlockMatrix<double>;
      template class BlockMatrix<float>;
      TESSELLA_INSTANTIATE_VECTOR_OPERATIONS(double)
      TESSELLA_INSTANTIATE_VECTOR_OPERATIONS(float)
    } // namespace Device
#endif
  } // namespace internal
} // namespace Tessella
