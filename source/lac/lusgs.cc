// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/lac/host_vector.h>
#include <tessella/lac/lusgs.h>

#include <string>
#include <type_traits>

#include "../base/vector_types.h"
#include "block_ordering.h"
#include "block_space.h"
#include "host_inverses.h"
#include "host_sweeps.h"
#include "step_halo.h"
#include "sweep_plan.h"
#include "transpose_plan.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    template <typename MatrixType, typename Storage>
    struct SweepSpace;
    template <typename Number, typename Storage>
    struct SweepSpace<HostBlockMatrix<Number>, Storage>
    {
      using Sweeps        = internal::HostSweeps<Number, Storage>;
      using Factorisation = internal::HostFactorisation<Number>;
      static constexpr SweepOrdering ordering = SweepOrdering::hyperplanes;
      // Rows of blocks are read one after the other.
      static constexpr bool in_place = std::is_same<Number, Storage>::value;
    };
    template <typename Number, typename Storage>
    struct SweepSpace<DeviceBlockMatrix<Number>, Storage>
    {
      using Sweeps        = internal::Device::Sweeps<Number, Storage>;
      using Factorisation = internal::Device::Factorisation<Number>;
      static constexpr SweepOrdering ordering = SweepOrdering::colors;
      // Rows of blocks in single precision are in general not aligned to the
      // units of 32 bytes in which memory is read.
      static constexpr bool in_place =
        std::is_same<Number, Storage>::value && sizeof(Number) == 8;
    };
  } // namespace



  template <typename MatrixType, typename Storage>
  struct SweepPreconditioner<MatrixType, Storage>::Implementation
  {
    using Data   = internal::BlockData<MatrixType>;
    using Space  = typename Data::SpaceType;
    using Blocks = typename Data::Blocks;
    using Sweeps = typename SweepSpace<MatrixType, Storage>::Sweeps;
    using Factorisation =
      typename SweepSpace<MatrixType, Storage>::Factorisation;
    using SweepPlan = internal::SweepPlan;
    template <typename T>
    using Array                = typename Data::template Array<T>;
    static constexpr bool same = std::is_same<Number, Storage>::value;

    /// Rows and blocks of a SweepPlan in the memory of the matrix.
    struct Lists
    {
      void
      assign(const SweepPlan &plan)
      {
        rows.assign(plan.rows);
        blocks.assign(plan.blocks);
      }
      Array<internal::SweepRow>   rows;
      Array<internal::SweepBlock> blocks;
    };

    /// Whether the order is also that of a matrix, which may have new values in
    /// the memory of the old ones, with these parameters. Collective.
    bool
    has_order_of(const MatrixType &other, const SweepData &given) const
    {
      const bool here = matrix == &other && revision == other.revision() &&
                        parameters.ordering == given.ordering &&
                        parameters.numbering == given.numbering &&
                        parameters.n_sweeps == given.n_sweeps &&
                        given.ordering != SweepOrdering::downwind;
      return other.partition() == nullptr
               ? here
               : Utilities::MPI::min(here ? 1 : 0, other.communicator()) == 1;
    }
    void
    set_order(const SweepData &given, const bool local);
    /// Copies the off-diagonal blocks of the matrix into @p values and lets the
    /// plan read them there.
    template <typename To, typename Copy>
    void
    pack(Array<To> &values, const std::uint64_t n_more, const Copy &copy);
    void
    factorise(const double relaxation);
    void
    make_transposed();
    /// Collects the blocks of the transpose of this process' rows, which other
    /// processes have in part, in transposed_values, where @p other reads them.
    void
    collect_transposed(SweepPlan &other);
    void
    sweep(const Number *b, Number *x, const bool transpose);

    const MatrixType *matrix   = nullptr;
    std::uint64_t     revision = 0; ///< of the matrix, after initialize()
    SweepData         parameters;
    Data              data; ///< of LUSGS only
    /// Step of each block row, invalid_index for ghosts that are left out.
    std::vector<unsigned int>  step;
    unsigned int               n_steps = 0, n_sweeps = 1;
    SweepPlan                  plan;
    std::vector<std::uint64_t> packed; ///< places of packed blocks
    /// Blocks that pack() copies.
    Array<internal::BlockCopy> copies;
    Lists                      lists, transposed;
    bool                       has_transposed = false;
    Array<Storage>             values, inverse, transposed_values;
    const Storage             *off_diagonal = nullptr, *diagonal = nullptr;
    Array<Number>              rest, upper;
    /// Exchange of ghost entries between colours; null on one process and for
    /// other orderings.
    std::unique_ptr<internal::StepHalo<MatrixType>> halo;
  };



  template <typename MatrixType, typename Storage>
  void
  SweepPreconditioner<MatrixType, Storage>::Implementation::set_order(
    const SweepData &given, const bool local)
  {
    parameters                     = given;
    const BlockSparsity &sparsity  = matrix->block_sparsity();
    const unsigned int   n         = sparsity.row_width.size();
    const auto          &partition = matrix->partition();
    const SweepOrdering  ordering =
      parameters.ordering == SweepOrdering::automatic
         ? SweepSpace<MatrixType, Storage>::ordering
         : parameters.ordering;
    n_sweeps = parameters.n_sweeps;
    Tessella::on_all_processes(matrix->communicator(), [&] {
      AssertThrow(n_sweeps > 0,
                  ExcMessage("The number of sweeps of LUSGS must be "
                             "positive."));
      AssertThrow(parameters.numbering.empty() ||
                    ordering == SweepOrdering::hyperplanes,
                  ExcMessage("A numbering needs SweepOrdering::hyperplanes."));
      std::vector<bool> found(n, false);
      AssertThrow(parameters.numbering.empty() ||
                    parameters.numbering.size() == n,
                  ExcMessage("The numbering has " +
                             std::to_string(parameters.numbering.size()) +
                             " entries, but this process owns " +
                             std::to_string(n) + " block rows."));
      for (const unsigned int i : parameters.numbering)
        {
          AssertThrow(i < n && !found[i],
                      ExcMessage(
                        "The numbering is not a permutation of the "
                        "numbers from 0 to n - 1: " +
                        std::to_string(i) +
                        (i < n ? " occurs twice." : " is too large.")));
          found[i] = true;
        }
    });
    if (ordering == SweepOrdering::colors)
      {
        step = internal::greedy_colors(*matrix, n_steps);
        step.resize(matrix->dof_offset().size() - 1, invalid_index);
        if (partition != nullptr && !local)
          {
            partition->update_ghosts(step);
            halo = std::make_unique<internal::StepHalo<MatrixType>>(*matrix,
                                                                    step,
                                                                    n_steps);
          }
      }
    else
      {
        std::vector<unsigned int> numbering = parameters.numbering;
        if (ordering == SweepOrdering::downwind)
          {
            // On a device, values are copied to the host.
            std::vector<Number> copy;
            const Number       *host_values = matrix->values();
            if constexpr (!std::is_same<MatrixType,
                                        HostBlockMatrix<Number>>::value)
              {
                matrix->copy_to(copy);
                host_values = copy.data();
              }
            numbering = internal::downwind_numbering(sparsity,
                                                     matrix->dof_offset(),
                                                     host_values);
          }
        else if (numbering.empty())
          numbering = internal::reverse_cuthill_mckee(sparsity);
        step = internal::wave_fronts(sparsity, numbering, n_steps);
        step.resize(matrix->dof_offset().size() - 1, invalid_index);
      }
    Tessella::on_all_processes(matrix->communicator(), [&] {
      plan.reinit(*matrix, step, n_steps, false);
      if (halo != nullptr)
        halo->renumber(plan);
    });
    plan.reduce_sizes(matrix->communicator());
  }



  template <typename MatrixType, typename Storage>
  template <typename To, typename Copy>
  void
  SweepPreconditioner<MatrixType, Storage>::Implementation::pack(
    Array<To> &to, const std::uint64_t n_more, const Copy &copy)
  {
    if (copies.size() == 0)
      {
        std::vector<internal::BlockCopy> list;
        packed = plan.pack(list);
        plan.read_packed(packed, false);
        // Diagonal blocks, if there are more values, follow in the order of the
        // plan.
        std::uint64_t        place    = plan.n_values();
        const BlockSparsity &sparsity = matrix->block_sparsity();
        if (n_more > 0)
          for (const unsigned int k : plan.row_index)
            {
              const std::uint64_t b = sparsity.find_block(k, k);
              const unsigned int  n =
                matrix->dof_offset()[k + 1] - matrix->dof_offset()[k];
              AssertThrow(b != BlockSparsity::no_block,
                          ExcMessage("Block row " + std::to_string(k) +
                                     " of the matrix has no diagonal block."));
              list.push_back(
                {sparsity.value_offset[k] + sparsity.column_offset[b],
                 place,
                 n,
                 n,
                 sparsity.row_width[k]});
              place += std::uint64_t(n) * n;
            }
        copies.assign(list);
      }
    to.resize(plan.n_values() + n_more);
    Space::call(
      [&] { copy(copies.size(), copies.data(), matrix->values(), to.data()); });
  }



  template <typename MatrixType, typename Storage>
  void
  SweepPreconditioner<MatrixType, Storage>::Implementation::factorise(
    const double relaxation)
  {
    std::uint64_t n_squares = 0;
    for (const internal::SweepRow &row : plan.rows)
      n_squares += std::uint64_t(row.size) * row.size;
    Array<Number> e, inverses;
    pack(e, n_squares, [](const auto &...arguments) {
      SweepSpace<MatrixType, Number>::Sweeps::pack(arguments...);
    });
    inverses.resize(n_squares);
    // The multiple of the inverses that the updates use.
    Array<Number> relaxed;
    if (relaxation != 1.)
      {
        relaxed.resize(n_squares);
        Space::call([&] { Blocks::set_zero(n_squares, relaxed.data()); });
      }
    internal::FactorPlan factors;
    factors.reinit(*matrix, step, plan, packed);
    const unsigned int         n = plan.rows.size();
    std::vector<std::uint64_t> value_offset, dof_offset(1, 0);
    for (unsigned int p = 0; p < n; ++p)
      {
        plan.rows[p].square = factors.square[p];
        value_offset.push_back(e.size() - n_squares + factors.square[p]);
        dof_offset.push_back(dof_offset.back() + factors.size[p]);
      }
    Array<unsigned int>           size, zeros;
    Array<std::uint64_t>          pivot, square, places, dofs;
    Array<internal::FactorPivot>  pivots;
    Array<internal::FactorUpdate> updates;
    size.assign(factors.size);
    zeros.assign(std::vector<unsigned int>(n, 0));
    pivot.assign(factors.pivot_offset);
    square.assign(factors.square);
    places.assign(value_offset);
    dofs.assign(dof_offset);
    pivots.assign(factors.pivots);
    updates.assign(factors.updates);
    for (unsigned int s = 0; s < n_steps; ++s)
      {
        const unsigned int begin = plan.step_offset[s],
                           end   = plan.step_offset[s + 1];
        internal::BlockRows rows;
        rows.n                      = end - begin;
        rows.max_size               = plan.max_size;
        rows.max_width              = plan.max_size;
        rows.dof_offset             = dofs.data() + begin;
        rows.value_offset           = places.data() + begin;
        rows.square_offset          = square.data() + begin;
        rows.row_width              = size.data() + begin;
        rows.diagonal               = zeros.data() + begin;
        const unsigned int singular = Space::call([&] {
          if (relaxation != 0.)
            Factorisation::step(
              {end - begin,
               plan.max_size,
               size.data() + begin,
               pivot.data() + begin,
               pivots.data(),
               updates.data(),
               relaxation == 1. ? inverses.data() : relaxed.data(),
               e.data()});
          const unsigned int result =
            internal::invert_diagonal<Blocks>(rows, e.data(), inverses.data());
          if (relaxation != 1.)
            Blocks::add(factors.square[end] - factors.square[begin],
                        Number(relaxation),
                        inverses.data() + factors.square[begin],
                        relaxed.data() + factors.square[begin]);
          return result;
        });
        AssertThrow(singular == rows.n,
                    ExcMessage(
                      "The pivot block of polytope " +
                      std::to_string(plan.row_index[begin + singular]) +
                      " is singular in the incomplete factorisation: take "
                      "LUSGS or BlockJacobi, or check coefficients, boundary "
                      "conditions and penalty."));
      }
    values.resize(plan.n_values());
    inverse.resize(n_squares);
    Space::template convert<Storage>(plan.n_values(), e.data(), values.data());
    Space::template convert<Storage>(n_squares,
                                     inverses.data(),
                                     inverse.data());
    off_diagonal = values.data();
    diagonal     = inverse.data();
  }



  template <typename MatrixType, typename Storage>
  void
  SweepPreconditioner<MatrixType, Storage>::Implementation::make_transposed()
  {
    SweepPlan other;
    Tessella::on_all_processes(matrix->communicator(), [&] {
      other.reinit(*matrix, step, n_steps, true);
      for (unsigned int p = 0; p < other.rows.size(); ++p)
        other.rows[p].square = plan.rows[p].square;
      if (halo == nullptr && !packed.empty())
        other.read_packed(packed, true);
    });
    if (halo != nullptr)
      collect_transposed(other);
    Tessella::on_all_processes(matrix->communicator(), [&] {
      if (halo != nullptr)
        halo->renumber(other);
      transposed.assign(other);
    });
    has_transposed = true;
  }



  template <typename MatrixType, typename Storage>
  void
  SweepPreconditioner<MatrixType, Storage>::Implementation::collect_transposed(
    SweepPlan &other)
  {
    const internal::TransposePlan exchange(*matrix, true);
    const BlockSparsity          &sparsity   = matrix->block_sparsity();
    const auto                   &dof_offset = matrix->dof_offset();
    Array<Storage>                send;
    // Messages are in the memory of the host.
    std::vector<Storage> sent, received;
    Storage             *from = nullptr, *to = nullptr;
    Tessella::on_all_processes(matrix->communicator(), [&] {
      std::vector<internal::BlockCopy> copies, to_send;
      transposed_values.resize(
        other.pack_transposed(*matrix, exchange, copies));
      send.resize(exchange.sent_first.back());
      for (std::size_t i = 0; i < exchange.sent_row.size(); ++i)
        {
          const unsigned int  k = exchange.sent_row[i];
          const std::uint64_t b = exchange.sent_block[i];
          const unsigned int  l = sparsity.block_column[b];
          to_send.push_back(
            {sparsity.value_offset[k] + sparsity.column_offset[b],
             exchange.sent_first[i],
             static_cast<unsigned int>(dof_offset[k + 1] - dof_offset[k]),
             static_cast<unsigned int>(dof_offset[l + 1] - dof_offset[l]),
             sparsity.row_width[k]});
        }
      const auto pack = [&](const std::vector<internal::BlockCopy> &blocks,
                            Storage                                *target) {
        Array<internal::BlockCopy> list;
        list.assign(blocks);
        Space::call([&] {
          Sweeps::pack(blocks.size(), list.data(), matrix->values(), target);
        });
      };
      pack(copies, transposed_values.data());
      pack(to_send, send.data());
      if constexpr (std::is_same<MatrixType, HostBlockMatrix<Number>>::value)
        {
          from = send.data();
          to   = transposed_values.data();
        }
      else
        {
          sent.resize(send.size());
          received.resize(exchange.n_received);
          Space::call([&] {
            internal::Device::VectorOperations<Storage>::download(sent.size(),
                                                                  send.data(),
                                                                  sent.data());
          });
          from = sent.data();
          to   = received.data();
        }
    });
    internal::HaloMessages messages;
    internal::start_messages(messages,
                             matrix->communicator(),
                             exchange.sends,
                             from,
                             exchange.receives,
                             to);
    messages.finish();
    if constexpr (!std::is_same<MatrixType, HostBlockMatrix<Number>>::value)
      if (!received.empty())
        Space::call([&] {
          internal::Device::upload(transposed_values.data(),
                                   received.data(),
                                   received.size());
        });
  }



  template <typename MatrixType, typename Storage>
  void
  SweepPreconditioner<MatrixType, Storage>::Implementation::sweep(
    const Number *b, Number *x, const bool transpose)
  {
    if (transpose && !has_transposed)
      make_transposed();
    const Lists                         &list = transpose ? transposed : lists;
    internal::SweepStep<Number, Storage> s;
    s.max_size = plan.max_size;
    s.divisor  = plan.divisor;
    s.blocks   = list.blocks.data();
    s.values =
      transpose && halo != nullptr ? transposed_values.data() : off_diagonal;
    s.inverse   = diagonal;
    s.transpose = transpose;
    s.x         = x;
    s.n_dofs    = matrix->n_owned_rows();
    s.ghosts    = halo != nullptr ? halo->ghosts() : nullptr;
    // A step reads entries that earlier ones have computed. Each exchanges
    // those that the last one has.
    unsigned int last = invalid_index;
    const auto   run  = [&](const unsigned int i) {
      s.rows = list.rows.data() + plan.step_offset[i];
      s.n    = plan.step_offset[i + 1] - plan.step_offset[i];
      if (halo != nullptr && last != invalid_index)
        halo->exchange(last, x);
      Space::call([&] { Sweeps::step(s); });
      last = i;
    };
    if (n_sweeps > 1)
      Space::call([&] { Blocks::set_zero(s.n_dofs, upper.data()); });
    for (unsigned int i = 0; i < n_sweeps; ++i)
      {
        // Block rows of the first step have no blocks in L, those of the last
        // step none in U.
        s.forward  = true;
        s.b        = b;
        s.subtract = i > 0 ? upper.data() : nullptr;
        s.rest     = rest.data();
        for (unsigned int step = i > 0; step < n_steps; ++step)
          run(step);
        s.forward  = false;
        s.b        = rest.data();
        s.subtract = nullptr;
        s.rest     = i + 1 < n_sweeps ? upper.data() : nullptr;
        for (unsigned int step = n_steps > 0 ? n_steps - 1 : 0; step-- > 0;)
          run(step);
      }
  }



  template <typename MatrixType, typename Storage>
  SweepPreconditioner<MatrixType, Storage>::SweepPreconditioner() = default;



  template <typename MatrixType, typename Storage>
  SweepPreconditioner<MatrixType, Storage>::~SweepPreconditioner() = default;



  template <typename MatrixType, typename Storage>
  void
  SweepPreconditioner<MatrixType, Storage>::clear()
  {
    implementation.reset();
  }



  template <typename MatrixType, typename Storage>
  typename SweepPreconditioner<MatrixType, Storage>::size_type
  SweepPreconditioner<MatrixType, Storage>::m() const
  {
    return implementation == nullptr ? 0 : implementation->matrix->m();
  }



  template <typename MatrixType, typename Storage>
  unsigned int
  SweepPreconditioner<MatrixType, Storage>::n_steps() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->n_steps;
  }



  template <typename MatrixType, typename Storage>
  std::size_t
  SweepPreconditioner<MatrixType, Storage>::memory_consumption() const
  {
    if (implementation == nullptr)
      return sizeof(*this);
    const Implementation &i    = *implementation;
    const auto            size = [](const auto &array) {
      return array.size() * sizeof(array[0]);
    };
    std::size_t result =
      sizeof(*this) + i.values.memory_consumption() +
      i.inverse.memory_consumption() +
      i.transposed_values.memory_consumption() + i.copies.memory_consumption() +
      i.rest.memory_consumption() + i.upper.memory_consumption() +
      size(i.plan.rows) + size(i.plan.blocks) + size(i.plan.block_index) +
      size(i.plan.row_index) + size(i.packed) + size(i.step);
    if (i.data.matrix != nullptr)
      result += i.data.memory_consumption();
    for (const auto *lists : {&i.lists, &i.transposed})
      result +=
        lists->rows.memory_consumption() + lists->blocks.memory_consumption();
    return result;
  }



  template <typename MatrixType, typename Storage>
  template <typename VectorType>
  void
  SweepPreconditioner<MatrixType, Storage>::apply(VectorType       &dst,
                                                  const VectorType &src,
                                                  const bool transpose) const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    internal::check_vectors(dst,
                            src,
                            m(),
                            implementation->matrix->n_owned_rows());
    implementation->sweep(internal::entries(src),
                          internal::entries(dst),
                          transpose);
  }



  template <typename MatrixType, typename Storage>
  void
  SweepPreconditioner<MatrixType, Storage>::vmult_owned(
    value_type *dst, const value_type *src, const bool transpose) const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    implementation->sweep(src, dst, transpose);
  }



  template <typename MatrixType, typename Storage>
  template <typename VectorType>
  void
  SweepPreconditioner<MatrixType, Storage>::vmult(VectorType       &dst,
                                                  const VectorType &src) const
  {
    apply(dst, src, false);
  }



  template <typename MatrixType, typename Storage>
  template <typename VectorType>
  void
  SweepPreconditioner<MatrixType, Storage>::Tvmult(VectorType       &dst,
                                                   const VectorType &src) const
  {
    apply(dst, src, true);
  }



  template <typename MatrixType, typename Storage>
  void
  LUSGS<MatrixType, Storage>::initialize(const MatrixType &matrix,
                                         const SweepData  &parameters)
  {
    using Implementation =
      typename SweepPreconditioner<MatrixType, Storage>::Implementation;
    using Space = typename Implementation::Space;
    matrix.check_has_all_blocks("LUSGS");
    const bool keeps = this->implementation != nullptr &&
                       this->implementation->has_order_of(matrix, parameters);
    if (!keeps)
      {
        this->implementation         = std::make_unique<Implementation>();
        this->implementation->matrix = &matrix;
        this->implementation->data.reinit(matrix);
      }
    Implementation &i = *this->implementation;
    i.revision        = 0;
    i.has_transposed  = false;
    i.data.invert_diagonal();
    if (!keeps)
      i.set_order(parameters, false);
    Tessella::on_all_processes(matrix.communicator(), [&] {
      if constexpr (Implementation::same)
        i.diagonal = i.data.inverse.data();
      else
        {
          const std::size_t n = i.data.inverse.size();
          i.inverse.resize(n);
          Space::template convert<Storage>(n,
                                           i.data.inverse.data(),
                                           i.inverse.data());
          i.data.inverse.resize(0);
          i.diagonal = i.inverse.data();
        }
      if constexpr (SweepSpace<MatrixType, Storage>::in_place)
        i.off_diagonal = matrix.values();
      else
        {
          i.pack(i.values, 0, [](const auto &...arguments) {
            Implementation::Sweeps::pack(arguments...);
          });
          i.off_diagonal = i.values.data();
        }
      if (!keeps)
        i.lists.assign(i.plan);
      if (i.rest.size() != matrix.n_owned_rows())
        i.rest.resize(matrix.n_owned_rows());
      if (parameters.n_sweeps > 1)
        i.upper.resize(matrix.n_owned_rows());
    });
    i.revision = matrix.revision();
  }



  template <typename MatrixType, typename Storage>
  void
  BlockILU0<MatrixType, Storage>::initialize(const MatrixType &matrix,
                                             const SweepData  &parameters)
  {
    using Implementation =
      typename SweepPreconditioner<MatrixType, Storage>::Implementation;
    matrix.check_has_all_blocks("BlockILU0");
    AssertThrow(parameters.n_sweeps == 1,
                ExcMessage("BlockILU0 has one sweep: n_sweeps must be 1."));
    AssertThrow(parameters.relaxation >= 0. && parameters.relaxation <= 1.,
                ExcMessage("The relaxation of BlockILU0 is " +
                           std::to_string(parameters.relaxation) +
                           ", but must be between 0 and 1."));
    const bool keeps = this->implementation != nullptr &&
                       this->implementation->has_order_of(matrix, parameters);
    if (!keeps)
      {
        this->implementation         = std::make_unique<Implementation>();
        this->implementation->matrix = &matrix;
        this->implementation->set_order(parameters, true);
      }
    Implementation &i = *this->implementation;
    i.revision        = 0;
    i.has_transposed  = false;
    Tessella::on_all_processes(matrix.communicator(), [&] {
      i.factorise(parameters.relaxation);
      if (!keeps)
        i.lists.assign(i.plan);
      if (i.rest.size() != matrix.n_owned_rows())
        i.rest.resize(matrix.n_owned_rows());
    });
    i.revision = matrix.revision();
  }



#define INSTANTIATE_VECTOR(MatrixType, Storage, VectorType)       \
  template void SweepPreconditioner<MatrixType, Storage>::vmult(  \
    VectorType &, const VectorType &) const;                      \
  template void SweepPreconditioner<MatrixType, Storage>::Tvmult( \
    VectorType &, const VectorType &) const;

#define INSTANTIATE(MatrixType, Storage)                   \
  template class SweepPreconditioner<MatrixType, Storage>; \
  template class LUSGS<MatrixType, Storage>;               \
  template class BlockILU0<MatrixType, Storage>;

#define INSTANTIATE_NUMBER(Number, Storage)                                \
  INSTANTIATE(HostBlockMatrix<Number>, Storage)                            \
  INSTANTIATE_VECTOR(HostBlockMatrix<Number>, Storage, Vector<Number>)     \
  INSTANTIATE_VECTOR(HostBlockMatrix<Number>,                              \
                     Storage,                                              \
                     LinearAlgebra::distributed::Vector<Number>)           \
  INSTANTIATE_VECTOR(HostBlockMatrix<Number>, Storage, HostVector<Number>) \
  INSTANTIATE(DeviceBlockMatrix<Number>, Storage)                          \
  INSTANTIATE_VECTOR(DeviceBlockMatrix<Number>, Storage, DeviceVector<Number>)

  INSTANTIATE_NUMBER(double, double)
  INSTANTIATE_NUMBER(double, float)
  INSTANTIATE_NUMBER(float, float)
  TESSELLA_IF_EPETRA(INSTANTIATE_VECTOR(HostBlockMatrix<double>,
                                        double,
                                        TrilinosWrappers::MPI::Vector)
                       INSTANTIATE_VECTOR(HostBlockMatrix<double>,
                                          float,
                                          TrilinosWrappers::MPI::Vector))
#undef INSTANTIATE_NUMBER
#undef INSTANTIATE
#undef INSTANTIATE_VECTOR
} // namespace Tessella
