// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/base/config.h>
#include <tessella/device/cuda_device.h>

#include "../device/device_call.h"

#ifndef TESSELLA_HAVE_CUDA
#  include "../../cuda/lac/block_matrix.h"
#  include "../../cuda/lac/halo.h"
#  include "../../cuda/lac/vector.h"
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
    // Stand-ins for those functions of cuda/ that are called without
    // device_call(). Without CUDA no object on a device exists, so none of
    // these functions is reached.
    namespace Device
    {
      template <typename Number>
      struct BlockMatrix<Number>::Implementation
      {};
      template <typename Number>
      BlockMatrix<Number>::~BlockMatrix() = default;
      template <typename Number>
      Number *
      BlockMatrix<Number>::values() const
      {
        return nullptr;
      }
      template <typename Number>
      bool
      BlockMatrix<Number>::has_transpose() const
      {
        return false;
      }
      template <typename Number>
      std::size_t
      BlockMatrix<Number>::memory_consumption() const
      {
        return 0;
      }

      template <typename Number>
      struct Halo<Number>::Implementation
      {};
      template <typename Number>
      Halo<Number>::~Halo() = default;
      template <typename Number>
      Number *
      Halo<Number>::send_buffer() const
      {
        return nullptr;
      }
      template <typename Number>
      Number *
      Halo<Number>::receive_buffer() const
      {
        return nullptr;
      }
      template <typename Number>
      const Number *
      Halo<Number>::ghosts() const
      {
        return nullptr;
      }
      template <typename Number>
      std::size_t
      Halo<Number>::memory_consumption() const
      {
        return 0;
      }

      void
      release(void *) noexcept
      {}

      template class BlockMatrix<double>;
      template class BlockMatrix<float>;
      template class Halo<double>;
      template class Halo<float>;
    } // namespace Device
#endif
  } // namespace internal
} // namespace Tessella
