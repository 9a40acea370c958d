// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "../base/vector_types.h"
#include "basic_block_matrix.templates.h"
#include "halo_exchange.h"
#include "host_blocks.h"
#include "transpose_plan.h"

namespace Tessella
{
  using namespace dealii;
  using internal::Device::Destination;

  namespace internal
  {
    /// Values in host memory and the exchange between processes.
    template <typename Number>
    struct HostBlockData
    {
      /// See BasicBlockMatrix::set_external_product().
      std::function<
        void(const Destination<Number> &, const Number *, const bool)>
        external;

      static void
      check_available()
      {}

      static std::unique_ptr<HostBlockData>
      make(const BlockMatrixBase &structure);

      /// The same, for a structure that another matrix has as well.
      template <typename OtherNumber>
      static std::unique_ptr<HostBlockData>
      make_like(const BlockMatrixBase &structure,
                const HostBlockData<OtherNumber> &)
      {
        return make(structure);
      }

      Number *
      values() const
      {
        return array.data();
      }

      std::size_t
      memory_consumption() const;

      void
      set_zero(const std::size_t n)
      {
        HostBlocks<Number>::set_zero(n, values());
      }

      template <typename From>
      void
      copy_from(const From *from, const std::size_t n)
      {
        Number *const to = values();
        for_entries(n, [&](const std::size_t i) {
          to[i] = static_cast<Number>(from[i]);
        });
      }

      void
      copy_to(Number *to, const std::size_t n) const
      {
        std::copy_n(values(), n, to);
      }

      template <typename From>
      void
      convert(const From *from, const std::size_t n)
      {
        copy_from(from, n);
      }

      void
      product(const BlockMatrixBase     &structure,
              const Destination<Number> &y,
              const Number              *x);
      void
      transpose_product(const BlockMatrixBase     &structure,
                        const Destination<Number> &y,
                        const Number              *x);

      HostArray<Number> array;
      /// Ghost exchange; null on a single process.
      std::unique_ptr<HostHalo<Number>> halo;
      /// Block rows without and with ghost columns; empty on a single process.
      std::vector<unsigned int> interior, boundary;
      /// Columns of the block rows with ghosts in the order of the block rows
      /// of all processes, and their positions in the block row.
      std::vector<std::uint64_t>           ordered_offset;
      std::vector<unsigned int>            ordered_column, ordered_place;
      std::once_flag                       transpose_made;
      std::unique_ptr<const TransposePlan> transpose;
      /// Contributions to products with the transpose that are sent and
      /// received; empty on a single process.
      HostArray<Number> sent, received;

    private:
      void
      list_rows(const BlockMatrixBase &structure);
    };



    template <typename Number>
    std::unique_ptr<HostBlockData<Number>>
    HostBlockData<Number>::make(const BlockMatrixBase &structure)
    {
      auto data = std::make_unique<HostBlockData>();
      data->array.resize(structure.n_nonzero_elements());
      if (structure.partition() != nullptr)
        {
          data->halo =
            std::make_unique<HostHalo<Number>>(structure.partition());
          data->list_rows(structure);
        }
      data->set_zero(structure.n_nonzero_elements());
      return data;
    }



    // Lists the block rows without and with columns of other processes, and the
    // order of summation of the latter.
    template <typename Number>
    void
    HostBlockData<Number>::list_rows(const BlockMatrixBase &matrix)
    {
      const BlockSparsity &sparsity = matrix.block_sparsity();
      const unsigned int   n        = sparsity.row_width.size();
      for (unsigned int k = 0; k < n; ++k)
        // Columns are in ascending order, ghosts have the largest indices.
        (sparsity.block_column[sparsity.block_offset[k + 1] - 1] < n ? interior
                                                                     : boundary)
          .push_back(k);
      const std::vector<std::uint64_t> blocks = ordered_blocks(matrix);
      ordered_offset.assign(1, 0);
      for (const unsigned int k : boundary)
        {
          for (std::uint64_t m = sparsity.block_offset[k];
               m < sparsity.block_offset[k + 1];
               ++m)
            {
              ordered_column.push_back(sparsity.block_column[blocks[m]]);
              ordered_place.push_back(sparsity.column_offset[blocks[m]]);
            }
          ordered_offset.push_back(ordered_column.size());
        }
    }



    template <typename Number>
    std::size_t
    HostBlockData<Number>::memory_consumption() const
    {
      return (transpose == nullptr ? 0 : transpose->memory_consumption()) +
             sent.memory_consumption() + received.memory_consumption() +
             array.memory_consumption() +
             ordered_offset.capacity() * sizeof(std::uint64_t) +
             (interior.capacity() + boundary.capacity() +
              ordered_column.capacity() + ordered_place.capacity()) *
               sizeof(unsigned int) +
             (halo == nullptr ? 0 : halo->memory_consumption());
    }



    namespace
    {
      // Work arrays of a thread.
      template <typename Number>
      struct Work
      {
        std::vector<Number> gathered, values, sums;
      };

      // Calls compute(e, k, work) for the blocks k = (*list)[e], or for all
      // blocks k = e of this process if @p list is null. It computes the sums
      // of the rows of block k, which go to @p y.
      template <typename Number, typename Function>
      void
      compute_blocks(const BlockMatrixBase           &matrix,
                     const std::vector<unsigned int> *list,
                     const Destination<Number>       &y,
                     const Function                  &compute)
      {
        const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
        for_block_ranges(list == nullptr
                           ? matrix.block_sparsity().row_width.size()
                           : list->size(),
                         [&](const unsigned int begin, const unsigned int end) {
                           Work<Number> work;
                           for (unsigned int e = begin; e < end; ++e)
                             {
                               const unsigned int k =
                                 list == nullptr ? e : (*list)[e];
                               const std::uint64_t first = dof_offset[k];
                               const unsigned int n = dof_offset[k + 1] - first;
                               work.sums.resize(n);
                               compute(e, k, work);
                               for (unsigned int i = 0; i < n; ++i)
                                 y.store(first + i, work.sums[i]);
                             }
                         });
      }

      // Product with the block rows in @p list, which have no ghosts, or with
      // all block rows if it is null.
      template <typename Number>
      void
      multiply_rows(const BlockMatrixBase           &matrix,
                    const Number                    *values,
                    const std::vector<unsigned int> *list,
                    const Destination<Number>       &y,
                    const Number                    *x)
      {
        const BlockSparsity              &sparsity   = matrix.block_sparsity();
        const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
        const unsigned int                n_owned = sparsity.row_width.size();
        compute_blocks(matrix,
                       list,
                       y,
                       [&](const unsigned int,
                           const unsigned int k,
                           Work<Number>      &work) {
                         const unsigned int width = sparsity.row_width[k];
                         work.gathered.resize(width);
                         gather<Number>(sparsity.block_column.data() +
                                          sparsity.block_offset[k],
                                        sparsity.block_offset[k + 1] -
                                          sparsity.block_offset[k],
                                        dof_offset.data(),
                                        n_owned,
                                        x,
                                        nullptr,
                                        work.gathered.data());
                         multiply(values + sparsity.value_offset[k],
                                  work.sums.size(),
                                  width,
                                  width,
                                  work.gathered.data(),
                                  work.sums.data());
                       });
      }

      // Product with the block rows with ghosts, where @p ghosts has the ghost
      // entries of x. The columns are gathered in the order that they have on a
      // single process, so that sums are identical to the last bit.
      template <typename Data, typename Number>
      void
      multiply_boundary(const BlockMatrixBase     &matrix,
                        const Data                &data,
                        const Destination<Number> &y,
                        const Number              *x,
                        const Number              *ghosts)
      {
        const BlockSparsity              &sparsity   = matrix.block_sparsity();
        const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
        const unsigned int                n_owned = sparsity.row_width.size();
        compute_blocks(
          matrix,
          &data.boundary,
          y,
          [&](const unsigned int e, const unsigned int k, Work<Number> &work) {
            const unsigned int width = sparsity.row_width[k];
            const std::size_t  n     = work.sums.size();
            work.gathered.resize(width);
            work.values.resize(n * width);
            const unsigned int *const columns =
              data.ordered_column.data() + data.ordered_offset[e];
            const unsigned int *const places =
              data.ordered_place.data() + data.ordered_offset[e];
            const std::size_t n_columns =
              data.ordered_offset[e + 1] - data.ordered_offset[e];
            gather(columns,
                   n_columns,
                   dof_offset.data(),
                   n_owned,
                   x,
                   ghosts,
                   work.gathered.data());
            const Number *row = data.values() + sparsity.value_offset[k];
            Number       *to  = work.values.data();
            for (std::size_t i = 0; i < n; ++i, row += width)
              for (std::size_t m = 0; m < n_columns; ++m)
                to = std::copy_n(row + places[m],
                                 dof_offset[columns[m] + 1] -
                                   dof_offset[columns[m]],
                                 to);
            multiply(work.values.data(),
                     n,
                     width,
                     width,
                     work.gathered.data(),
                     work.sums.data());
          });
      }

      // y = A_b^T x for block b of block row k.
      template <typename Number>
      void
      transposed_block(const BlockMatrixBase &matrix,
                       const Number          *values,
                       const unsigned int     k,
                       const std::uint64_t    b,
                       const Number          *x,
                       Number                *y)
      {
        const BlockSparsity              &sparsity   = matrix.block_sparsity();
        const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
        const unsigned int                l          = sparsity.block_column[b];
        const unsigned int                n = dof_offset[l + 1] - dof_offset[l];
        const Number                     *row =
          values + sparsity.value_offset[k] + sparsity.column_offset[b];
        std::fill(y, y + n, Number(0));
        for (std::uint64_t i = dof_offset[k]; i < dof_offset[k + 1];
             ++i, row += sparsity.row_width[k])
          for (unsigned int j = 0; j < n; ++j)
            y[j] += row[j] * x[i];
      }

      // Transposed product for the block columns in @p list, or for all block
      // columns of this process if it is null.
      template <typename Data, typename Number>
      void
      multiply_columns(const BlockMatrixBase           &matrix,
                       Data                            &data,
                       const std::vector<unsigned int> *list,
                       const Destination<Number>       &y,
                       const Number                    *x)
      {
        const unsigned int   n_owned = matrix.block_sparsity().row_width.size();
        const TransposePlan &plan    = *data.transpose;
        compute_blocks(
          matrix,
          list,
          y,
          [&](const unsigned int, const unsigned int k, Work<Number> &work) {
            const std::size_t n = work.sums.size();
            std::fill(work.sums.begin(), work.sums.end(), Number(0));
            work.values.resize(n);
            for (std::uint64_t m = plan.offset[k]; m < plan.offset[k + 1]; ++m)
              {
                const Number *from = work.values.data();
                if (plan.row[m] < n_owned)
                  transposed_block(matrix,
                                   data.values(),
                                   plan.row[m],
                                   plan.place[m],
                                   x,
                                   work.values.data());
                else
                  from = data.received.data() + plan.place[m];
                for (std::size_t j = 0; j < n; ++j)
                  work.sums[j] += from[j];
              }
          });
      }
    } // namespace



    template <typename Number>
    void
    HostBlockData<Number>::product(const BlockMatrixBase     &matrix,
                                   const Destination<Number> &y,
                                   const Number              *x)
    {
      if (halo == nullptr)
        {
          multiply_rows<Number>(matrix, values(), nullptr, y, x);
          return;
        }
      halo->start(x);
      multiply_rows<Number>(matrix, values(), &interior, y, x);
      const Number *const ghosts = halo->finish();
      multiply_boundary(matrix, *this, y, x, ghosts);
    }



    template <typename Number>
    void
    HostBlockData<Number>::transpose_product(const BlockMatrixBase     &matrix,
                                             const Destination<Number> &y,
                                             const Number              *x)
    {
      std::call_once(transpose_made, [&] {
        auto plan = std::make_unique<const TransposePlan>(matrix);
        sent.resize(plan->sent_first.back());
        received.resize(plan->n_received);
        transpose = std::move(plan);
      });
      if (halo == nullptr)
        {
          multiply_columns(matrix, *this, nullptr, y, x);
          return;
        }
      const TransposePlan &plan = *transpose;
      for_blocks(plan.sent_row.size(), [&](const unsigned int i) {
        transposed_block(matrix,
                         values(),
                         plan.sent_row[i],
                         plan.sent_block[i],
                         x,
                         sent.data() + plan.sent_first[i]);
      });
      HaloMessages messages;
      start_messages(messages,
                     matrix.partition()->communicator(),
                     plan.sends,
                     sent.data(),
                     plan.receives,
                     received.data());
      multiply_columns(matrix, *this, &interior, y, x);
      messages.finish();
      multiply_columns(matrix, *this, &boundary, y, x);
    }
  } // namespace internal



#define INSTANTIATE_PRODUCTS(Number, VectorType) \
  TESSELLA_INSTANTIATE_PRODUCTS(Number, internal::HostBlockData, VectorType)
#define INSTANTIATE(Number)                                                \
  TESSELLA_INSTANTIATE_BLOCK_MATRIX(Number, internal::HostBlockData)       \
  template class HostBlockMatrix<Number>;                                  \
  INSTANTIATE_PRODUCTS(Number, Vector<Number>)                             \
  INSTANTIATE_PRODUCTS(Number, LinearAlgebra::distributed::Vector<Number>) \
  INSTANTIATE_PRODUCTS(Number, HostVector<Number>)

  INSTANTIATE(double)
  INSTANTIATE(float)
  TESSELLA_IF_EPETRA(INSTANTIATE_PRODUCTS(double,
                                          TrilinosWrappers::MPI::Vector))
#undef INSTANTIATE
#undef INSTANTIATE_PRODUCTS
} // namespace Tessella
