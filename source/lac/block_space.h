// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_block_space_h
#define tessella_source_lac_block_space_h

#include <deal.II/base/exceptions.h>

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "../../cuda/device/memory_pool.h"
#include "../../cuda/device/overlap.h"
#include "../../cuda/lac/product_step.h"
#include "../../cuda/lac/set_up.h"
#include "../../cuda/lac/vector.h"
#include "../base/collective.h"
#include "../device/device_call.h"
#include "halo_exchange.h"
#include "host_blocks.h"
#include "vector_access.h"

// Memory space (host or device) of a matrix type: arrays, operations and ghost
// exchange for templates over the matrix type.

namespace Tessella
{
  namespace internal
  {
    /// Array in device memory, with the functions of HostArray.
    template <typename T>
    class DeviceSpaceArray
    {
    public:
      DeviceSpaceArray()                         = default;
      DeviceSpaceArray(const DeviceSpaceArray &) = delete;
      DeviceSpaceArray &
      operator=(const DeviceSpaceArray &) = delete;
      ~DeviceSpaceArray()
      {
        Device::release(begin);
      }
      void
      assign(const std::vector<T> &values)
      {
        resize(values.size());
        copy_from(values);
      }
      /// Sets the size, with which the contents are lost. Memory of the same
      /// size is kept, since an allocation on a device takes long and CUDA
      /// graphs need the same addresses.
      void
      resize(const std::size_t size)
      {
        if (size == n)
          return;
        Device::release(begin);
        begin = nullptr;
        n     = 0;
        if (size > 0)
          device_call([&] { begin = Device::allocate<T>(size); });
        n = size;
      }
      /// Copies @p values, which must have the size of the array, from host
      /// memory.
      void
      copy_from(const std::vector<T> &values)
      {
        if (n > 0)
          device_call([&] { Device::upload(begin, values.data(), n); });
      }
      std::size_t
      size() const
      {
        return n;
      }
      T *
      data() const
      {
        return begin;
      }
      std::size_t
      memory_consumption() const
      {
        return n * sizeof(T);
      }

    private:
      T          *begin = nullptr;
      std::size_t n     = 0;
    };

    /// Operations on block matrices and vectors in device memory. HostBlocks
    /// has those that templates over the type of the matrix use.
    template <typename Number>
    struct DeviceBlocks : public Device::Blocks<Number>,
                          public Device::VectorOperations<Number>
    {};

    /// While an object of this class exists, the calling thread allocates
    /// arrays in device memory as parts of larger pieces, see
    /// Device::open_pool().
    class DevicePool
    {
    public:
      DevicePool()
      {
        device_call([] { Device::open_pool(); });
      }
      DevicePool(const DevicePool &) = delete;
      DevicePool &
      operator=(const DevicePool &) = delete;
      ~DevicePool()
      {
        Device::close_pool();
      }
    };

    /// Lets kernels overlap while it exists, see Device::begin_overlap().
    class DeviceOverlap
    {
    public:
      DeviceOverlap()
      {
        device_call([] { Device::begin_overlap(); });
      }
      DeviceOverlap(const DeviceOverlap &) = delete;
      DeviceOverlap &
      operator=(const DeviceOverlap &) = delete;
      ~DeviceOverlap()
      {
        Device::end_overlap();
      }
    };

    /// The same two in host memory, where nothing has to be done.
    class HostOverlap
    {
    public:
      HostOverlap()
      {}
      ~HostOverlap()
      {}
    };
    class HostPool
    {
    public:
      HostPool()
      {}
      ~HostPool()
      {}
    };

    template <typename MatrixType>
    struct Space;

    template <typename Number>
    struct Space<HostBlockMatrix<Number>>
    {
      using Blocks       = HostBlocks<Number>;
      using DoubleBlocks = HostBlocks<double>;
      using Halo         = HostHalo<Number>;
      using Pool         = HostPool;
      using Overlap      = HostOverlap;
      template <typename T>
      using Array = HostArray<T>;
      template <typename To, typename From>
      static void
      convert(const std::size_t n, const From *from, To *to)
      {
        for_entries(n, [&](const std::size_t i) {
          to[i] = static_cast<To>(from[i]);
        });
      }
      static void
      set_pseudo_random(const std::size_t   n,
                        const std::uint64_t first,
                        Number             *y)
      {
        for_entries(n, [&](const std::size_t i) {
          y[i] = static_cast<Number>(pseudo_random_number(first + i));
        });
      }
      template <typename Index>
      static void
      set_indices(const std::size_t n, Index *y)
      {
        for_entries(n,
                    [&](const std::size_t i) { y[i] = static_cast<Index>(i); });
      }
      static void
      set_rows_of_blocks(const unsigned int   n,
                         const std::uint64_t *offset,
                         unsigned int        *row)
      {
        for_blocks(n, [&](const unsigned int k) {
          std::fill(row + offset[k], row + offset[k + 1], k);
        });
      }
      template <typename Function>
      static auto
      call(const Function &function) -> decltype(function())
      {
        return function();
      }
    };

    template <typename Number>
    struct Space<DeviceBlockMatrix<Number>>
    {
      using Blocks       = DeviceBlocks<Number>;
      using DoubleBlocks = DeviceBlocks<double>;
      using Halo         = DeviceHalo<Number>;
      using Pool         = DevicePool;
      using Overlap      = DeviceOverlap;
      template <typename T>
      using Array = DeviceSpaceArray<T>;
      template <typename To, typename From>
      static void
      convert(const std::size_t n, const From *from, To *to)
      {
        device_call([&] { Device::VectorOperations<To>::copy(n, from, to); });
      }
      static void
      set_pseudo_random(const std::size_t   n,
                        const std::uint64_t first,
                        Number             *y)
      {
        device_call([&] { Device::set_pseudo_random(n, first, y); });
      }
      template <typename Index>
      static void
      set_indices(const std::size_t n, Index *y)
      {
        device_call([&] { Device::set_indices(n, y); });
      }
      static void
      set_rows_of_blocks(const unsigned int   n,
                         const std::uint64_t *offset,
                         unsigned int        *row)
      {
        device_call([&] { Device::set_rows_of_blocks(n, offset, row); });
      }
      template <typename Function>
      static auto
      call(const Function &function) -> decltype(function())
      {
        return device_call(function);
      }
    };

    /**
     * Data of the preconditioners and smoothers of a matrix, in the memory
     * space of the matrix: its structure, the inverses of its diagonal blocks,
     * and colours, which are lists of block rows that are not coupled with each
     * other.
     */
    template <typename MatrixType>
    class BlockData
    {
    public:
      using Number    = typename MatrixType::value_type;
      using SpaceType = Space<MatrixType>;
      using Blocks    = typename SpaceType::Blocks;
      template <typename T>
      using Array = typename SpaceType::template Array<T>;

      // All functions are collective; an error on one process is thrown on all.

      /// Copies the structure only; @p matrix must outlive this object, and so
      /// must @p same_blocks, which has a matrix of the same blocks of other
      /// sizes and shares what is the same.
      void
      reinit(const MatrixType &matrix, const BlockData *same_blocks = nullptr);
      /// Inverts the diagonal blocks. Throws if a block is singular, with the
      /// index of the block.
      void
      invert_diagonal();
      /// Makes room for the inverses, for those who compute them by themselves.
      /// Not collective.
      void
      allocate_inverse();
      /// Greedy colouring in the order of the block rows of all processes.
      void
      make_colors();
      /// Estimate of the largest eigenvalue of D^{-1} A from a fixed start
      /// vector: ten steps of Lanczos' method, enlarged by a tenth, if
      /// @p symmetric, else twenty steps of the power method, enlarged by a
      /// fifth. Throws if a matrix declared as symmetric turns out to be
      /// indefinite. @p singular: whether it has a null space and is otherwise
      /// positive definite.
      double
      largest_eigenvalue(const bool symmetric,
                         const bool singular = false) const;
      /// Improves the approximation @p x of the solution of A x = b by the
      /// polynomial of BlockChebyshev of degree @p degree, where @p largest is
      /// the largest eigenvalue of D^{-1} A. If @p zero_start, the initial x is
      /// taken as zero and is not read. @p r and @p d are work vectors. If
      /// @p stored is not null, it is the address of the largest eigenvalue in
      /// the memory of the matrix, from where it is read, so that CUDA graphs
      /// stay valid when it changes; the bits of the result are the same.
      /// @p second_d: a further work vector, with which a device does a product
      /// and a step by one kernel where it can, with the same bits; or null.
      void
      chebyshev(const unsigned int degree,
                const double       largest,
                const bool         zero_start,
                const bool         transpose,
                const Number      *b,
                Number            *x,
                Number            *r,
                Number            *d,
                const double      *stored   = nullptr,
                Number            *second_d = nullptr) const;
      /// One Gauss-Seidel sweep over the colours, in ascending or descending
      /// order.
      void
      relax(const bool ascending, const Number *b, Number *x) const;

      MPI_Comm
      communicator() const
      {
        return matrix->communicator();
      }

      const MatrixType *matrix = nullptr;
      BlockRows         rows;
      Array<Number>     inverse;
      /// Product and step of chebyshev() for a matrix with an external product
      /// on a device; without a source of the product, the residual is the
      /// right-hand side. If it is empty, product and step are two kernels.
      std::function<void(const Device::ProductStep<Number> &)> external_step;
      /// Colour c consists of color_list[color_offset[c] .. color_offset[c+1]).
      std::vector<unsigned int> color_offset;
      Array<unsigned int>       color_list;

      std::size_t
      memory_consumption() const;

    private:
      static constexpr bool on_device =
        std::is_same<MatrixType, DeviceBlockMatrix<Number>>::value;
      bool
      has_product_step() const;
      void
      multiply_and_step(const Device::ProductStep<Number> &product) const;

      Array<std::uint64_t> dof_offset, block_offset, value_offset,
        square_offset;
      Array<unsigned int> block_column, column_offset, row_width, diagonal,
        order, ordered_offset;
      std::uint64_t n_squares = 0;
      /// Ghost exchange of relax(); null on a single process.
      std::unique_ptr<typename SpaceType::Halo> halo;
    };
  } // namespace internal
} // namespace Tessella

#endif
