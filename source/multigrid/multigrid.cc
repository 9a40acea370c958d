// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <tessella/base/error_message.h>
#include <tessella/grid/revision.h>
#include <tessella/lac/host_vector.h>
#include <tessella/multigrid/multigrid.h>

#include <algorithm>
#include <any>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "../base/collective.h"
#include "../base/vector_types.h"
#include "../lac/block_space.h"
#include "dense_inverse.h"
#include "galerkin_structure.h"
#include "level_smoother.h"
#include "nested_dissection.h"
#include "smoother_set_up.h"

namespace Tessella
{
  using namespace dealii;

  template <typename MatrixType>
  struct Multigrid<MatrixType>::Implementation
  {
    using Data      = internal::BlockData<MatrixType>;
    using SpaceType = typename Data::SpaceType;
    using Blocks    = typename Data::Blocks;
    using Number    = value_type;
    using Basis     = typename SpaceType::DoubleBlocks;
    using Pool      = typename SpaceType::Pool;
    template <typename T>
    using Array = typename Data::template Array<T>;

    struct Level
    {
      const MatrixType                   *matrix = nullptr;
      MatrixType                          own;
      internal::LevelSmoother<MatrixType> smoother;
      bool                                prepared = false;
      /// Whether the next coarser level joins polytopes, on any process.
      bool joins = false;
      /// Solution and right-hand side.
      Array<Number> x, b;
      /// Values of the Galerkin matrices with the penalty of the mesh and
      /// without, from which rescale_penalty() computes those of the matrix.
      Array<Number> with_penalty, without_penalty;

      // ---- Galerkin products that give this level's matrix
      internal::GalerkinPlan plan;
      Array<std::uint64_t>   plan_offset;
      Array<unsigned int>    plan_row, plan_block, plan_coarse_row;

      // ---- transfer to the next coarser level
      internal::BlockTransfer<Number> transfer;
      Array<std::uint64_t>            matrix_offset;
      Array<unsigned int>             parent, child_offset, child;
      Array<Number>                   matrix_values;
      /// First DoFs of the polytopes on the coarse and on the fine level.
      Array<std::uint64_t> coarse_offset, fine_offset;

      void
      release_values()
      {
        with_penalty.resize(0);
        without_penalty.resize(0);
      }
    };

    AdditionalData                      data;
    std::vector<std::unique_ptr<Level>> levels;
    /// Indices of blocks, and block row of each block, for Galerkin products
    /// between levels with the same polytopes, which share them.
    struct SameBlocks
    {
      Array<std::uint64_t> offset;
      Array<unsigned int>  block, row;
    };
    SameBlocks same_blocks;
    /// Injection of the level that change_basis_of_injection() changes, before
    /// it does; empty unless update() may need it.
    Array<Number> original_injection;
    /// Hierarchy for update(); null unless it may be called.
    std::unique_ptr<const MultigridHierarchy> hierarchy;
    /// See Multigrid::kept().
    std::any kept;
    /// Whether all coarse matrices are products of the finest one.
    bool is_galerkin = false;
    /// Whether update() may compute them again with a rescaled penalty.
    bool is_rescaled = false;
    /// Revision of the given matrix at initialize().
    std::uint64_t revision = 0;
    /// Inverse of the coarsest matrix: one of both.
    internal::DenseInverse<MatrixType>     inverse;
    internal::NestedDissection<MatrixType> dissection;
    /// Set-up of all smoothers at once, if it is possible.
    internal::SmootherSetUp<MatrixType> set_up;
    /// See MultigridAccess; null if there is none.
    internal::LevelSmoother<MatrixType> *further             = nullptr;
    bool                                 further_is_prepared = false;
    /// Whether prepare_together() follows, so that matrices of levels need not
    /// be tested one after the other.
    bool together = false;
    /// Whether original_injection is kept for a second computation of the
    /// matrices.
    bool keeps_injection = false;
    /// Whether such a set-up failed and the one level by level succeeded, as it
    /// does with other penalties: it would fail again.
    bool one_by_one = false;
    /// Number of this object, for key().
    const std::uint64_t number = new_revision();
    /// Number of inversions of the coarsest matrix by nested dissection.
    std::uint64_t n_dissections = 0;
    /// Boxes of the coarsest polytopes of this process.
    std::vector<double> coarsest_boxes;
    /// Null space of the coarsest matrix, rows of this process.
    typename internal::DenseInverse<MatrixType>::NullVectors null_vectors;
    MultigridReport                                          report;
    MPI_Comm communicator = MPI_COMM_SELF;
    /// Work vectors for vectors of the other precision.
    Array<Number> dst, src;

    // ---- for matrices in double precision
    //
    // Matrix rounded to single precision in the bases given by W, see
    // Blocks::orthonormalise(), the values of W, and the first value of W of
    // each polytope, ghosts included.
    std::unique_ptr<MatrixType> in_basis;
    Array<double>               basis;
    /// The same of the matrix without penalty; empty unless update() may need
    /// it.
    Array<Number>        rounded_without_penalty;
    Array<std::uint64_t> basis_offset;
    /// Work vectors in these bases and in those of the problem.
    Array<double> double_dst, double_src;

    // ---- cycles as CUDA graphs

    /// Source and result of the graphs for a type of vectors, so that addresses
    /// do not depend on the caller's vectors; graphs of the cycle and of its
    /// transpose.
    template <typename VectorNumber>
    struct Graphs
    {
      explicit Graphs(const bool enabled)
        : cycle(enabled)
        , transpose(enabled)
      {}
      Array<VectorNumber> src, dst;
      DeviceGraph         cycle, transpose;
    };
    std::unique_ptr<Graphs<double>> double_graphs;
    std::unique_ptr<Graphs<float>>  float_graphs;

    template <typename VectorNumber>
    std::unique_ptr<Graphs<VectorNumber>> &
    graphs()
    {
      if constexpr (std::is_same<VectorNumber, double>::value)
        return double_graphs;
      else
        return float_graphs;
    }

    // ---- set-up

    // Makes a new implementation by @p make and records the set-up time. If
    // @p make throws, the implementation is null.
    template <typename Make>
    static void
    rebuild(std::unique_ptr<Implementation> &implementation,
            const MultigridHierarchy        &hierarchy,
            const AdditionalData            &data,
            const Make                      &make)
    {
      const Timer timer;
      implementation.reset();
      const Pool pool;
      auto       result      = std::make_unique<Implementation>();
      result->data           = data;
      result->communicator   = hierarchy.communicator();
      result->coarsest_boxes = hierarchy.level(hierarchy.n_levels() - 1).box;
      result->double_graphs =
        std::make_unique<Graphs<double>>(data.cuda_graphs);
      result->float_graphs = std::make_unique<Graphs<float>>(data.cuda_graphs);
      if (data.keep_structures)
        result->hierarchy = std::make_unique<MultigridHierarchy>(hierarchy);
      make(*result);
      result->make_report(hierarchy);
      result->report.setup_time = timer.wall_time();
      implementation            = std::move(result);
    }

    // Sets up Galerkin operators. @p without_penalty may be null. Matrices in
    // double precision are changed to the bases of make_basis() if MatrixType
    // is in single precision.
    template <typename GivenMatrix>
    static void
    build_galerkin(std::unique_ptr<Implementation> &implementation,
                   const GivenMatrix               &matrix,
                   const GivenMatrix               *without_penalty,
                   const MultigridHierarchy        &hierarchy,
                   const AdditionalData            &data,
                   const std::function<void()>     &wait = {})
    {
      matrix.check_has_all_blocks("A Galerkin operator of Multigrid");
      rebuild(implementation, hierarchy, data, [&](Implementation &result) {
        const unsigned int level =
          without_penalty == nullptr
            ? 0
            : result.level_without_penalty(*without_penalty, hierarchy);
        if constexpr (std::is_same<GivenMatrix, MatrixType>::value)
          result.start(matrix, hierarchy);
        else
          {
            static_assert(
              std::is_same<Number, float>::value &&
                std::is_same<typename GivenMatrix::value_type, double>::value,
              "A Multigrid in single precision of matrices in double "
              "precision.");
            result.start_in_basis(matrix, hierarchy);
          }
        // A device changes the bases while the host makes structures.
        bool is_in_basis = result.start_in_basis_early(matrix, hierarchy);
        result.make_structures(hierarchy,
                               level == 1 ? without_penalty : nullptr);
        if (wait)
          wait();
        result.compute_and_prepare([&] {
          if (!is_in_basis)
            result.compute_in_basis(matrix, hierarchy);
          is_in_basis = false;
          result.compute_values(without_penalty, level, hierarchy);
        });
        if (!data.keep_structures)
          {
            // A release waits for the device, which has no work here.
            result.set_up.release();
            result.original_injection.resize(0);
            result.rounded_without_penalty.resize(0);
            for (const auto &level : result.levels)
              level->release_values();
          }
        result.is_galerkin = without_penalty == nullptr &&
                             std::is_same<GivenMatrix, MatrixType>::value;
        result.is_rescaled =
          without_penalty != nullptr && result.data.keep_structures;
        result.revision = matrix.revision();
        // update() computes the products again only if they are all that
        // coarse matrices consist of, or if it was announced.
        if (without_penalty != nullptr && !result.data.keep_structures)
          result.forget_plans();
      });
    }

    // Computes the values of all coarse matrices. @p without_penalty, of level
    // @p level_of_none, may be null.
    template <typename GivenMatrix>
    void
    compute_values(const GivenMatrix        *without_penalty,
                   const unsigned int        level_of_none,
                   const MultigridHierarchy &hierarchy)
    {
      if constexpr (std::is_same<GivenMatrix, MatrixType>::value)
        compute_matrices(hierarchy,
                         without_penalty == nullptr ? nullptr
                                                    : without_penalty->values(),
                         level_of_none);
      else
        {
          if (without_penalty != nullptr)
            round(*without_penalty,
                  hierarchy,
                  level_of_none,
                  rounded_without_penalty);
          compute_matrices(hierarchy,
                           without_penalty == nullptr
                             ? nullptr
                             : rounded_without_penalty.data(),
                           level_of_none);
        }
    }

    // Computes null_vectors from the boxes of the coarsest level. A constant
    // has one coefficient in each polytope, as the other basis functions are
    // orthogonal to it on the box.
    void
    set_null_space(const MultigridHierarchy &hierarchy)
    {
      const std::vector<bool> &mask = data.constant_null_space;
      AssertThrow(mask.empty() || mask.size() == hierarchy.n_components(),
                  ExcMessage("constant_null_space of multigrid has " +
                             std::to_string(mask.size()) +
                             " entries, but the element has " +
                             std::to_string(hierarchy.n_components()) +
                             " components."));
      const MultigridHierarchy::Level &level =
        hierarchy.level(hierarchy.n_levels() - 1);
      const unsigned int dim =
        level.degree.empty() ? 0 : level.box.size() / (2 * level.degree.size());
      for (unsigned int c = 0; c < mask.size(); ++c)
        if (mask[c])
          {
            std::vector<double> constant(level.n_dofs(), 0.);
            for (unsigned int k = 0; k < level.n_polytopes(); ++k)
              {
                const double *box = level.box.data() + 2 * dim * std::size_t(k);
                double        volume = 1.;
                for (unsigned int d = 0; d < dim; ++d)
                  volume *= box[dim + d] - box[d];
                constant[first_dof(level, k, c, mask.size())] =
                  std::sqrt(volume);
              }
            null_vectors.push_back(std::move(constant));
          }
    }

    // First DoF of component @p c on polytope @p k.
    static std::uint64_t
    first_dof(const MultigridHierarchy::Level &level,
              const unsigned int               k,
              const unsigned int               c,
              const unsigned int               n_components)
    {
      return level.dof_offset[k] +
             c *
               ((level.dof_offset[k + 1] - level.dof_offset[k]) / n_components);
    }

    // Changes null_vectors to the bases given by W if the coarsest level has
    // them: they become W^{-T} times the vectors, and W^T has zeros below its
    // diagonal. @p place: first value of W of each polytope.
    void
    change_basis_of_null_space(const MultigridHierarchy         &hierarchy,
                               const std::vector<std::uint64_t> &place)
    {
      for (unsigned int l = 0; l + 1 < hierarchy.n_levels(); ++l)
        if (!hierarchy.level(l).parent.empty())
          return;
      if (null_vectors.empty())
        return;
      const MultigridHierarchy::Level &fine   = hierarchy.level(0),
                                      &coarse = hierarchy.level(
                                        hierarchy.n_levels() - 1);
      std::vector<double> W(place[fine.n_owned]);
      SpaceType::call(
        [&] { Basis::download(W.size(), basis.data(), W.data()); });
      const unsigned int m = hierarchy.n_components();
      unsigned int       v = 0;
      for (unsigned int c = 0; c < m; ++c)
        {
          if (!data.constant_null_space[c])
            continue;
          for (unsigned int k = 0; k < fine.n_owned; ++k)
            {
              const std::uint64_t n =
                fine.dof_offset[k + 1] - fine.dof_offset[k];
              null_vectors[v][first_dof(coarse, k, c, m)] /=
                W[place[k] + c * (n / m) * (n + 1)];
            }
          ++v;
        }
    }

    // Throws if @p matrix does not fit level @p l. Collective.
    template <typename GivenMatrix>
    void
    check_matrix(const GivenMatrix        &matrix,
                 const MultigridHierarchy &hierarchy,
                 const unsigned int        l) const
    {
      const MultigridHierarchy::Level &level = hierarchy.level(l);
      Tessella::on_all_processes(communicator, [&] {
        AssertThrow(
          !matrix.empty() && matrix.dof_offset() == level.dof_offset &&
            (matrix.partition() == nullptr) == (level.partition == nullptr),
          ExcMessage("The matrix of level " + std::to_string(l) +
                     " of multigrid has " + std::to_string(matrix.m()) +
                     " rows, which are not the degrees of freedom of "
                     "the hierarchy there (" +
                     std::to_string(level.n_dofs()) +
                     "): make the hierarchy after distribute_dofs(), "
                     "and matrices with the assembler's reinit()."));
      });
    }

    // Level, 0 or 1, of a matrix without penalty. Throws if it fits neither.
    // Collective.
    template <typename GivenMatrix>
    unsigned int
    level_without_penalty(const GivenMatrix        &matrix,
                          const MultigridHierarchy &hierarchy) const
    {
      const bool finest =
        matrix.dof_offset() == hierarchy.level(0).dof_offset ||
        hierarchy.n_levels() == 1 || !hierarchy.has_polytopes_of_mesh(1);
      const unsigned int level =
        Utilities::MPI::min(finest ? 0u : 1u, communicator);
      matrix.check_has_all_blocks("A Galerkin operator of Multigrid");
      check_matrix(matrix, hierarchy, level);
      return level;
    }

    // Makes the levels, of which the first one has @p matrix, and the transfer
    // between them.
    void
    start(const MatrixType &matrix, const MultigridHierarchy &hierarchy)
    {
      AssertThrow(data.n_smoothing_steps > 0,
                  ExcMessage("Multigrid needs one smoothing step or more."));
      check_matrix(matrix, hierarchy, 0);
      if (data.smoother == Smoother::gauss_seidel)
        matrix.check_has_all_blocks("The smoother Gauss-Seidel of Multigrid");
      if (data.smoother == Smoother::ilu || data.smoother == Smoother::lusgs)
        matrix.check_has_all_blocks("The smoother of Multigrid by sweeps");
      for (unsigned int l = 0; l < hierarchy.n_levels(); ++l)
        levels.push_back(std::make_unique<Level>());
      report.levels.resize(hierarchy.n_levels());
      levels[0]->matrix = &matrix;
      levels[0]->smoother.reinit(matrix);
      const Timer timer;
      Tessella::on_all_processes(communicator, [&] {
        for (unsigned int l = 0; l + 1 < hierarchy.n_levels(); ++l)
          make_transfer(hierarchy, l);
      });
      // A process without polytopes must do as many steps as the others.
      for (unsigned int l = 0; l + 1 < hierarchy.n_levels(); ++l)
        levels[l]->joins =
          Utilities::MPI::max(hierarchy.level(l).parent.empty() ? 0u : 1u,
                              communicator) != 0;
      report.times.transfer += timer.wall_time();
    }

    // The same for a matrix in double precision; compute_in_basis() gives the
    // first level its values.
    template <typename DoubleMatrix>
    void
    start_in_basis(const DoubleMatrix       &matrix,
                   const MultigridHierarchy &hierarchy)
    {
      check_matrix(matrix, hierarchy, 0);
      in_basis = std::make_unique<MatrixType>();
      Tessella::on_all_processes(communicator,
                                 [&] { in_basis->reinit(matrix); });
      start(*in_basis, hierarchy);
    }

    // Null space, and for a matrix in double precision values of the first
    // level and injection in the bases of make_basis().
    template <typename GivenMatrix>
    void
    compute_in_basis(const GivenMatrix        &matrix,
                     const MultigridHierarchy &hierarchy)
    {
      null_vectors.clear();
      set_null_space(hierarchy);
      if constexpr (!std::is_same<GivenMatrix, MatrixType>::value)
        {
          make_basis(matrix, hierarchy);
          Tessella::on_all_processes(communicator, [&] {
            change_basis(levels[0]->smoother.blocks.rows,
                         {basis_offset.data(), basis.data()},
                         matrix,
                         in_basis->values());
          });
        }
    }

    // Starts compute_in_basis() if a device can do it beside work of the host.
    // Returns whether it did.
    template <typename GivenMatrix>
    bool
    start_in_basis_early(const GivenMatrix        &matrix,
                         const MultigridHierarchy &hierarchy)
    {
      if (std::is_same<GivenMatrix, MatrixType>::value ||
          !internal::SmootherSetUp<MatrixType>::is_possible(*levels[0]->matrix,
                                                            data.smoother))
        return false;
      keeps_injection = true;
      compute_in_basis(matrix, hierarchy);
      return true;
    }

    // Computes the orthonormal bases of the polytopes and applies them to the
    // first injection into larger polytopes. Coarser levels keep the bases of
    // the problem. The levels above have the leading functions of the finest
    // level.
    template <typename DoubleMatrix>
    void
    make_basis(const DoubleMatrix &matrix, const MultigridHierarchy &hierarchy)
    {
      const internal::BlockRows &rows      = levels[0]->smoother.blocks.rows;
      const auto                &offset    = matrix.dof_offset();
      const auto                &partition = matrix.partition();
      const unsigned int         n_all     = offset.size() - 1;
      std::vector<std::uint64_t> first(n_all + 1, 0);
      for (unsigned int k = 0; k < n_all; ++k)
        first[k + 1] =
          first[k] + (offset[k + 1] - offset[k]) * (offset[k + 1] - offset[k]);
      Tessella::on_all_processes(communicator, [&] {
        if (basis.size() != first[n_all])
          {
            basis_offset.assign(first);
            basis.resize(first[n_all]);
          }
        const unsigned int k = SpaceType::call([&] {
          return Blocks::orthonormalise(rows,
                                        hierarchy.n_components(),
                                        matrix.values(),
                                        basis.data());
        });
        AssertThrow(k == rows.n || !data.symmetric,
                    ExcMessage(
                      "The diagonal block of polytope " + std::to_string(k) +
                      " is singular or not positive definite, but the matrix "
                      "was declared as symmetric and positive definite: check "
                      "the penalty constant, the coefficients and the boundary "
                      "conditions."));
      });
      if (partition != nullptr)
        {
          // Exchanges W of ghosts, padded to blocks of equal size.
          const unsigned int size =
            static_cast<unsigned int>(partition->max(rows.max_size));
          std::vector<double> values(first[n_all]),
            padded(std::size_t(n_all) * size * size);
          SpaceType::call([&] {
            Basis::download(first[rows.n], basis.data(), values.data());
          });
          for (unsigned int k = 0; k < rows.n; ++k)
            std::copy(values.begin() + first[k],
                      values.begin() + first[k + 1],
                      padded.begin() + std::size_t(k) * size * size);
          partition->update_ghosts(padded, size * size);
          for (unsigned int k = rows.n; k < n_all; ++k)
            std::copy_n(padded.begin() + std::size_t(k) * size * size,
                        first[k + 1] - first[k],
                        values.begin() + first[k]);
          basis.copy_from(values);
        }
      change_basis_of_null_space(hierarchy, first);
      for (unsigned int l = 0; l + 1 < levels.size(); ++l)
        if (!hierarchy.level(l).parent.empty())
          {
            Level &level = *levels[l];
            provide_injection(hierarchy, l);
            SpaceType::call([&] {
              Blocks::change_basis_of_injection(rows,
                                                {basis_offset.data(),
                                                 basis.data()},
                                                level.transfer,
                                                n_all,
                                                level.matrix_values.data());
            });
            break;
          }
    }

    // Matrices of injection in the bases of the problem, for each component,
    // since components have different bases of their own.
    void
    provide_injection(const MultigridHierarchy &hierarchy, const unsigned int l)
    {
      Array<Number>    &matrices = levels[l]->matrix_values;
      const std::size_t n        = original_injection.size();
      if (n > 0)
        {
          SpaceType::call([&] {
            Blocks::copy(n, original_injection.data(), matrices.data());
          });
          return;
        }
      separate_components(hierarchy, l);
      if (data.keep_structures || keeps_injection)
        {
          original_injection.resize(matrices.size());
          SpaceType::call([&] {
            Blocks::copy(matrices.size(),
                         matrices.data(),
                         original_injection.data());
          });
        }
    }

    // Gives each component its own matrices of injection.
    void
    separate_components(const MultigridHierarchy &hierarchy,
                        const unsigned int        l)
    {
      const unsigned int m = hierarchy.n_components();
      if (m == 1)
        return;
      std::vector<std::uint64_t> places;
      const std::vector<double>  injection = hierarchy.injection(l, places);
      std::vector<Number>        matrices;
      matrices.reserve(m * injection.size());
      for (std::size_t k = 0; k + 1 < places.size(); ++k)
        for (unsigned int c = 0; c < m; ++c)
          matrices.insert(matrices.end(),
                          injection.begin() + places[k],
                          injection.begin() + places[k + 1]);
      for (std::uint64_t &place : places)
        place *= m;
      Level &level                       = *levels[l];
      level.transfer.matrix_offset       = copy(level.matrix_offset, places);
      level.transfer.matrix              = copy(level.matrix_values, matrices);
      level.transfer.matrix_of_component = true;
    }

    template <typename DoubleMatrix>
    static void
    change_basis(const internal::BlockRows  &rows,
                 const internal::BlockBases &bases,
                 const DoubleMatrix         &from,
                 Number                     *to)
    {
      SpaceType::call(
        [&] { Blocks::change_basis(rows, bases, from.values(), to); });
    }

    // Values of a matrix of level @p l, 0 or 1, in the bases given by W.
    template <typename DoubleMatrix>
    void
    round(const DoubleMatrix       &from,
          const MultigridHierarchy &hierarchy,
          const unsigned int        l,
          Array<Number>            &to) const
    {
      if (l == 0)
        {
          Tessella::on_all_processes(communicator, [&] {
            to.resize(from.n_nonzero_elements());
            change_basis(levels[0]->smoother.blocks.rows,
                         {basis_offset.data(), basis.data()},
                         from,
                         to.data());
          });
          return;
        }
      // Level 1 has the same blocks as a matrix that was assembled there.
      const internal::BlockRows &rows = levels[1]->smoother.blocks.rows;
      Tessella::on_all_processes(communicator, [&] {
        const BlockSparsity &given = from.block_sparsity(),
                            &own   = levels[1]->matrix->block_sparsity();
        AssertThrow(&given == &own || given.block_column == own.block_column,
                    ExcMessage("The matrix without penalty does not have the "
                               "blocks of the matrix of multigrid."));
        to.resize(from.n_nonzero_elements());
        // The functions of level 1 are the first ones of each component, and
        // their W is a leading part of that of level 0: the Galerkin product of
        // a block-diagonal matrix.
        const DiagonalBlocks fine(hierarchy.level(0).dof_offset),
          coarse(hierarchy.level(1).dof_offset);
        internal::GalerkinPlan plan;
        plan.fine       = fine.rows;
        plan.coarse     = coarse.rows;
        plan.n_blocks   = coarse.rows.n;
        plan.offset     = coarse.numbers.data();
        plan.row        = coarse.indices.data();
        plan.block      = coarse.indices.data();
        plan.coarse_row = coarse.indices.data();
        internal::BlockTransfer<double> transfer;
        transfer.n_fine        = fine.rows.n;
        transfer.n_coarse      = coarse.rows.n;
        transfer.n_components  = hierarchy.n_components();
        transfer.fine_offset   = fine.rows.dof_offset;
        transfer.coarse_offset = coarse.rows.dof_offset;
        transfer.parent        = nullptr;
        transfer.child_offset  = nullptr;
        transfer.child         = nullptr;
        transfer.matrix_offset = nullptr;
        transfer.matrix        = nullptr;
        transfer.max_fine      = fine.rows.max_size;
        transfer.max_coarse    = coarse.rows.max_size;
        Array<double> leading;
        leading.resize(coarse.n_values);
        SpaceType::call([&] {
          Basis::galerkin(plan, transfer, {basis.data(), leading.data()});
        });
        change_basis(rows,
                     {coarse.rows.value_offset, leading.data()},
                     from,
                     to.data());
      });
    }

    // Structure of a block-diagonal matrix.
    struct DiagonalBlocks
    {
      explicit DiagonalBlocks(const std::vector<std::uint64_t> &dof_offset)
      {
        const unsigned int         n = dof_offset.size() - 1;
        std::vector<unsigned int>  numbers_of_blocks(n), sizes(n);
        std::vector<std::uint64_t> offsets(n + 1), squares(n + 1, 0);
        std::iota(numbers_of_blocks.begin(), numbers_of_blocks.end(), 0u);
        std::iota(offsets.begin(), offsets.end(), std::uint64_t(0));
        for (unsigned int k = 0; k < n; ++k)
          {
            sizes[k]       = dof_offset[k + 1] - dof_offset[k];
            squares[k + 1] = squares[k] + std::uint64_t(sizes[k]) * sizes[k];
            rows.max_size  = std::max(rows.max_size, sizes[k]);
          }
        n_values           = squares[n];
        rows.n             = n;
        rows.max_width     = rows.max_size;
        rows.n_dofs        = dof_offset[n];
        rows.dof_offset    = copy(first_dof, dof_offset);
        rows.block_offset  = copy(numbers, offsets);
        rows.value_offset  = copy(first_value, squares);
        rows.square_offset = rows.value_offset;
        rows.block_column  = copy(indices, numbers_of_blocks);
        rows.column_offset = copy(zeros, std::vector<unsigned int>(n, 0));
        rows.row_width     = copy(width, sizes);
        rows.diagonal      = rows.column_offset;
      }

      internal::BlockRows  rows;
      std::uint64_t        n_values;
      Array<std::uint64_t> first_dof, numbers, first_value;
      /// 0, 1, 2, ... and other arrays with an entry for each block.
      Array<unsigned int> indices, zeros, width;
    };

    // Fills an array and returns its address.
    template <typename T>
    static const T *
    copy(Array<T> &array, const std::vector<T> &values)
    {
      array.assign(values);
      return array.data();
    }

    // Transfer between level l and the next coarser level.
    void
    make_transfer(const MultigridHierarchy &hierarchy, const unsigned int l)
    {
      const MultigridHierarchy::Level &fine   = hierarchy.level(l),
                                      &coarse = hierarchy.level(l + 1);
      Level &level                            = *levels[l];
      auto  &transfer                         = level.transfer;
      transfer               = internal::BlockTransfer<Number>();
      transfer.n_fine        = fine.n_owned;
      transfer.n_coarse      = coarse.n_owned;
      transfer.n_components  = hierarchy.n_components();
      transfer.fine_offset   = copy(level.fine_offset, fine.dof_offset);
      transfer.coarse_offset = copy(level.coarse_offset, coarse.dof_offset);
      const auto max_dofs    = [](const MultigridHierarchy::Level &space) {
        std::uint64_t result = 0;
        for (unsigned int k = 0; k < space.n_polytopes(); ++k)
          result =
            std::max(result, space.dof_offset[k + 1] - space.dof_offset[k]);
        return static_cast<unsigned int>(result);
      };
      transfer.max_fine   = max_dofs(fine);
      transfer.max_coarse = max_dofs(coarse);
      if (fine.parent.empty())
        return;
      const internal::GroupMembers children =
        internal::list_members(fine.parent, fine.n_owned, coarse.n_owned);
      std::vector<std::uint64_t> places;
      const std::vector<double>  injection = hierarchy.injection(l, places);
      transfer.parent =
        copy(level.parent,
             std::vector<unsigned int>(fine.parent.begin(),
                                       fine.parent.begin() + fine.n_owned));
      transfer.child_offset  = copy(level.child_offset, children.offset);
      transfer.child         = copy(level.child, children.member);
      transfer.matrix_offset = copy(level.matrix_offset, places);
      transfer.matrix =
        copy(level.matrix_values,
             std::vector<Number>(injection.begin(), injection.end()));
    }

    // Structures of the matrices of all coarse levels. @p of_level_1: a matrix
    // that was assembled on level 1, or null. Collective.
    template <typename GivenMatrix>
    void
    make_structures(const MultigridHierarchy &hierarchy,
                    const GivenMatrix        *of_level_1)
    {
      const Timer timer;
      for (unsigned int l = 0; l + 1 < levels.size(); ++l)
        make_structure(hierarchy, l, l == 0 ? of_level_1 : nullptr);
      report.times.structures += timer.wall_time();
    }

    // Values of the Galerkin matrices of all coarse levels. @p without_penalty:
    // values of a matrix of level @p level_of_none, 0 or 1, or null.
    void
    compute_matrices(const MultigridHierarchy &hierarchy,
                     const Number             *without_penalty,
                     const unsigned int        level_of_none)
    {
      // Values of the finer level with the penalty of the mesh, and without.
      const Number *full = levels[0]->matrix->values(), *none = without_penalty;
      for (unsigned int l = 0; l + 1 < levels.size(); ++l)
        {
          Level &level = *levels[l + 1];
          if (without_penalty == nullptr)
            {
              Tessella::on_all_processes(communicator, [&] {
                compute_galerkin(l, {full, level.own.values()});
              });
              full = level.own.values();
              continue;
            }
          const bool is_given = l < level_of_none;
          Tessella::on_all_processes(communicator, [&] {
            const std::size_t n = level.own.n_nonzero_elements();
            level.with_penalty.resize(n);
            if (is_given)
              {
                compute_galerkin(l, {full, level.with_penalty.data()});
                return;
              }
            level.without_penalty.resize(n);
            compute_galerkin(l,
                             {full,
                              level.with_penalty.data(),
                              none,
                              level.without_penalty.data()});
          });
          if (!is_given)
            none = level.without_penalty.data();
          full = level.with_penalty.data();
          rescale_penalty(hierarchy, l + 1, full, none);
        }
    }

    // Frees the lists of Galerkin products.
    void
    forget_plans()
    {
      same_blocks.offset.resize(0);
      same_blocks.block.resize(0);
      same_blocks.row.resize(0);
      for (const auto &level : levels)
        {
          level->plan_offset.resize(0);
          level->plan_row.resize(0);
          level->plan_block.resize(0);
          level->plan_coarse_row.resize(0);
        }
    }

    // Structure of the matrix of level l + 1, and how it follows from level l.
    // @p assembled: a matrix of level l + 1, whose structure is taken if the
    // levels have the same polytopes; or null. Collective.
    template <typename GivenMatrix>
    void
    make_structure(const MultigridHierarchy &hierarchy,
                   const unsigned int        l,
                   const GivenMatrix        *assembled)
    {
      const MultigridHierarchy::Level &fine   = hierarchy.level(l),
                                      &coarse = hierarchy.level(l + 1);
      Level                  &level           = *levels[l + 1];
      internal::GalerkinPlan &plan            = level.plan;
      Tessella::on_all_processes(communicator, [&] {
        const BlockSparsity &blocks = levels[l]->matrix->block_sparsity();
        if (assembled != nullptr && fine.parent.empty() &&
            has_blocks(*assembled, blocks))
          {
            plan.n_blocks = blocks.block_column.size();
            keep_blocks(levels[l]->smoother.blocks.rows, plan);
            level.own.reinit(*assembled);
            return;
          }
        internal::GalerkinStructure structure(blocks,
                                              fine.parent,
                                              coarse.n_owned,
                                              coarse.dof_offset);
        plan.n_blocks = structure.sparsity.block_column.size();
        if (fine.parent.empty())
          keep_blocks(levels[l]->smoother.blocks.rows, plan);
        else
          {
            plan.offset     = copy(level.plan_offset, structure.offset);
            plan.row        = copy(level.plan_row, structure.row);
            plan.block      = copy(level.plan_block, structure.block);
            plan.coarse_row = copy(level.plan_coarse_row, structure.coarse_row);
          }
        level.own.reinit(std::move(structure.sparsity),
                         coarse.dof_offset,
                         coarse.partition);
      });
      level.matrix = &level.own;
      level.smoother.reinit(level.own,
                            fine.parent.empty() ? &levels[l]->smoother.blocks
                                                : nullptr);
      plan.fine   = levels[l]->smoother.blocks.rows;
      plan.coarse = level.smoother.blocks.rows;
    }

    // Whether a matrix on one process has the blocks @p blocks, of whatever
    // sizes, and values of its own for each of them.
    template <typename GivenMatrix>
    static bool
    has_blocks(const GivenMatrix &matrix, const BlockSparsity &blocks)
    {
      const BlockSparsity &given = matrix.block_sparsity();
      const auto          &first = given.value_offset;
      return matrix.partition() == nullptr &&
             given.block_offset == blocks.block_offset &&
             given.block_column == blocks.block_column &&
             std::adjacent_find(first.begin(), first.end()) == first.end();
    }

    // Lists of a Galerkin product of each block with the block of the same
    // index.
    void
    keep_blocks(const internal::BlockRows &rows, internal::GalerkinPlan &plan)
    {
      if (same_blocks.block.size() != plan.n_blocks)
        {
          same_blocks.offset.resize(plan.n_blocks + 1);
          same_blocks.block.resize(plan.n_blocks);
          same_blocks.row.resize(plan.n_blocks);
          SpaceType::set_indices(plan.n_blocks + 1, same_blocks.offset.data());
          SpaceType::set_indices(plan.n_blocks, same_blocks.block.data());
          SpaceType::set_rows_of_blocks(rows.n,
                                        rows.block_offset,
                                        same_blocks.row.data());
        }
      plan.offset = same_blocks.offset.data();
      plan.block  = same_blocks.block.data();
      plan.row = plan.coarse_row = same_blocks.row.data();
    }

    // Matrix of level @p l from those with the penalty of the mesh and without,
    // and its smoother, unless that follows for all levels together.
    void
    rescale_penalty(const MultigridHierarchy &hierarchy,
                    const unsigned int        l,
                    const Number             *full,
                    const Number             *none)
    {
      Level &level = *levels[l];
      double ratio = hierarchy.level(l).penalty_ratio;
      for (unsigned int attempt = 0;; ++attempt)
        {
          SpaceType::call([&] {
            Blocks::combine(level.own.n_nonzero_elements(),
                            Number(0),
                            Number(ratio),
                            full,
                            Number(1. - ratio),
                            none,
                            level.own.values());
          });
          try
            {
              if (!together)
                prepare_level(l);
              break;
            }
          catch (const ExceptionBase &)
            {
              if (!data.symmetric || ratio == 1.)
                throw;
            }
          ratio = attempt < 3 ? std::sqrt(ratio) : 1.;
        }
      report.levels[l].penalty_ratio = ratio;
    }

    // Galerkin products of one or two matrices of level l for the next coarser
    // level.
    void
    compute_galerkin(const unsigned int                      l,
                     const internal::GalerkinValues<Number> &values) const
    {
      SpaceType::call([&] {
        Blocks::galerkin(levels[l + 1]->plan, levels[l]->transfer, values);
      });
    }

    // Computes values again by @p compute() and then smoothers and coarse
    // solver.
    template <typename Compute>
    void
    compute_again(const Compute &compute)
    {
      const Timer timer;
      const Pool  pool;
      report.times = typename MultigridReport::Times();
      compute_and_prepare(compute);
      for (unsigned int l = 0; l < levels.size(); ++l)
        describe_smoother(l);
      report.setup_time = timer.wall_time();
    }

    // Takes new values of the matrix of the finest level.
    void
    update()
    {
      compute_again([&] {
        for (unsigned int l = 0; l + 1 < levels.size(); ++l)
          Tessella::on_all_processes(communicator, [&] {
            compute_galerkin(l,
                             {levels[l]->matrix->values(),
                              levels[l + 1]->own.values()});
          });
      });
    }

    // The same with a new matrix without penalty.
    template <typename GivenMatrix>
    void
    update(const GivenMatrix &matrix, const GivenMatrix &without_penalty)
    {
      check_matrix(matrix, *hierarchy, 0);
      const bool same_type = std::is_same<GivenMatrix, MatrixType>::value;
      AssertThrow((in_basis == nullptr) == same_type &&
                    (!same_type ||
                     static_cast<const void *>(levels[0]->matrix) == &matrix),
                  ExcMessage("Multigrid::update() was given another matrix "
                             "than initialize()."));
      AssertThrow(matrix.revision() == revision,
                  ExcMessage("The structure of the matrix has changed since "
                             "Multigrid::initialize(): call initialize() "
                             "again."));
      const unsigned int level =
        level_without_penalty(without_penalty, *hierarchy);
      compute_again([&] {
        compute_in_basis(matrix, *hierarchy);
        compute_values(&without_penalty, level, *hierarchy);
      });
    }

    // Computes the values of all matrices by @p compute(), and smoothers and
    // coarse solver. A device does all levels without waits if that is
    // possible; if a matrix turns out to be singular or indefinite then,
    // everything is done again level by level, which finds the level and may
    // try other penalties.
    template <typename Compute>
    void
    compute_and_prepare(const Compute &compute)
    {
      const auto forget = [&] {
        for (const auto &level : levels)
          level->prepared = false;
      };
      forget();
      further_is_prepared = false;
      together            = !one_by_one && can_prepare_together();
      const bool tried    = together;
      if (together)
        {
          bool good = false;
          try
            {
              compute();
              good = prepare_together();
            }
          catch (...)
            {
              together = false;
              throw;
            }
          together = false;
          if (good)
            return;
          set_up.release();
          forget();
        }
      compute();
      prepare_levels();
      one_by_one = one_by_one || tried;
    }

    bool
    can_prepare_together() const
    {
      for (const auto &level : levels)
        if (!internal::SmootherSetUp<MatrixType>::is_possible(*level->matrix,
                                                              data.smoother))
          return false;
      return true;
    }

    // Sets up all smoothers and the coarse solver; the host waits for the
    // device twice. Returns false if one of them failed.
    bool
    prepare_together()
    {
      const Timer                                        timer;
      std::vector<internal::LevelSmoother<MatrixType> *> smoothers;
      for (unsigned int l = 0; l < levels.size(); ++l)
        {
          allocate_vectors(l);
          if (l + 1 < levels.size())
            smoothers.push_back(&levels[l]->smoother);
        }
      const bool with_further = further != nullptr && null_vectors.empty();
      if (with_further)
        smoothers.push_back(further);
      try
        {
          invert_coarsest([&] {
            set_up.start(smoothers, data.symmetric, !null_vectors.empty());
          });
        }
      catch (const ExceptionBase &)
        {
          return false;
        }
      const double coarse_solver = timer.wall_time();
      if (!set_up.finish())
        return false;
      for (const auto &level : levels)
        level->prepared = true;
      further_is_prepared = with_further;
      report.times.coarse_solver += coarse_solver;
      report.times.smoothers += timer.wall_time() - coarse_solver;
      return true;
    }

    void
    allocate_vectors(const unsigned int l)
    {
      Level            &level = *levels[l];
      const std::size_t n     = level.matrix->n_owned_rows();
      Tessella::on_all_processes(communicator, [&] {
        if (l > 0 && level.x.size() != n)
          {
            level.x.resize(n);
            level.b.resize(n);
          }
      });
    }

    // Allocates the vectors and sets up the smoother or the coarse solver of a
    // level, unless this has been done.
    void
    prepare_level(const unsigned int l)
    {
      Level &level = *levels[l];
      if (level.prepared)
        return;
      const Timer timer;
      allocate_vectors(l);
      try
        {
          if (l + 1 == levels.size())
            invert_coarsest([] {});
          else
            level.smoother.prepare(data.smoother,
                                   data.symmetric,
                                   !null_vectors.empty(),
                                   data.smoother == Smoother::ilu
                                     ? data.fill_level
                                     : 0);
        }
      catch (const ExceptionBase &)
        {
          // Without the level, the message would suggest an error in the mesh.
          if (l > 0 && l + 1 < levels.size())
            rethrow(l);
          throw;
        }
      level.prepared = true;
      (l + 1 == levels.size() ? report.times.coarse_solver
                              : report.times.smoothers) += timer.wall_time();
    }

    void
    prepare_levels()
    {
      for (unsigned int l = 0; l < levels.size(); ++l)
        prepare_level(l);
    }

    // Fills the part of the report that update() changes.
    void
    describe_smoother(const unsigned int l)
    {
      auto       &info     = report.levels[l];
      const auto &smoother = levels[l]->smoother;
      if (l + 1 == levels.size())
        return;
      if (data.smoother == Smoother::chebyshev)
        info.largest_eigenvalue = smoother.largest;
      info.relaxation = smoother.relaxation;
      if (data.smoother == Smoother::gauss_seidel)
        info.n_colors = smoother.blocks.color_offset.size() - 1;
    }

    void
    make_report(const MultigridHierarchy &hierarchy)
    {
      const unsigned int n_levels = levels.size();
      double             entries  = 0.;
      for (unsigned int l = 0; l < n_levels; ++l)
        {
          const Level &level = *levels[l];
          auto        &info  = report.levels[l];
          const auto  &space = hierarchy.level(l);
          info.n_polytopes   = space.n_owned;
          info.max_degree    = 0;
          for (unsigned int k = 0; k < space.n_owned; ++k)
            info.max_degree = std::max(info.max_degree, space.degree[k]);
          info.n_dofs             = level.matrix->m();
          info.n_nonzero_elements = level.matrix->n_nonzero_elements();
          if (space.partition != nullptr)
            {
              info.n_polytopes = space.partition->sum(info.n_polytopes);
              info.max_degree  = space.partition->max(info.max_degree);
              info.n_nonzero_elements =
                space.partition->sum(info.n_nonzero_elements);
            }
          entries += info.n_nonzero_elements;
          describe_smoother(l);
        }
      report.operator_complexity =
        entries / std::max(1., double(report.levels[0].n_nonzero_elements));
      for (unsigned int l = 0; l < n_levels; ++l)
        {
          const Level &level = *levels[l];
          report.memory += level.smoother.memory_consumption() +
                           level.x.memory_consumption() +
                           level.b.memory_consumption() +
                           level.with_penalty.memory_consumption() +
                           level.without_penalty.memory_consumption() +
                           level.matrix_values.memory_consumption() +
                           (l > 0 ? level.matrix->memory_consumption() : 0);
        }
      report.memory +=
        inverse.memory_consumption() + dissection.memory_consumption() +
        set_up.memory_consumption() + basis.memory_consumption() +
        rounded_without_penalty.memory_consumption() +
        (in_basis == nullptr ? 0 : in_basis->memory_consumption());
    }

    [[noreturn]] static void
    rethrow(const unsigned int l)
    {
      try
        {
          throw;
        }
      catch (const ExceptionBase &exception)
        {
          AssertThrow(false,
                      ExcMessage("On level " + std::to_string(l) +
                                 " of the multigrid hierarchy: " +
                                 error_message(exception)));
        }
      throw; // not reached
    }

    // Makes the solver of the coarsest level. @p meanwhile: work to start when
    // the values are in host memory.
    void
    invert_coarsest(const std::function<void()> &meanwhile)
    {
      const MatrixType &matrix = *levels.back()->matrix;
      matrix.check_has_all_blocks("The coarsest level of Multigrid");
      if (data.coarse_solver == MultigridCoarseSolver::nested_dissection)
        {
          AssertThrow(data.symmetric && matrix.partition() == nullptr,
                      ExcMessage("A nested dissection of the coarsest level of "
                                 "multigrid is for symmetric matrices on one "
                                 "process: take the dense inverse."));
          ++n_dissections;
          meanwhile();
          dissection.reinit(matrix,
                            coarsest_boxes,
                            null_vectors,
                            data.max_coarse_dofs);
          return;
        }
      AssertThrow(matrix.m() <= data.max_coarse_dofs,
                  ExcMessage("The coarsest level of multigrid has " +
                             std::to_string(matrix.m()) +
                             " unknowns, more than the " +
                             std::to_string(data.max_coarse_dofs) +
                             " allowed for its dense inverse: give more "
                             "levels, or a larger max_coarse_dofs."));
      inverse.reinit(
        matrix, data.symmetric, communicator, null_vectors, meanwhile);
    }

    // ---- cycles

    // Whether cycles visit level @p l twice.
    bool
    visit_twice(const unsigned int l) const
    {
      if (data.cycle == Cycle::v || l + 1 == levels.size())
        return false;
      return data.cycle == Cycle::w || levels[l]->joins;
    }

    // Improves x, which is taken as zero if @p zero_start.
    void
    cycle(const unsigned int l,
          Number            *x,
          const Number      *b,
          const bool         zero_start,
          const bool         transpose)
    {
      Level &level = *levels[l];
      if (l + 1 == levels.size())
        {
          // The inverse is exact, so the initial x does not matter.
          if (dissection.empty())
            inverse.vmult(b, x, transpose);
          else
            dissection.vmult(b, x);
          return;
        }
      // A cycle writes vectors only.
      const typename SpaceType::Overlap overlap;
      Level                            &coarse   = *levels[l + 1];
      Number *const                     coarse_x = coarse.x.data();
      Number *const                     coarse_b = coarse.b.data();
      level.smoother.cycle(
        data.n_smoothing_steps + (level.joins ? data.n_additional_steps : 0),
        x,
        b,
        zero_start,
        transpose,
        [&](const Number *residual) {
          SpaceType::call(
            [&] { Blocks::restrict_to(level.transfer, residual, coarse_b); });
          cycle(l + 1, coarse_x, coarse_b, true, transpose);
          if (visit_twice(l + 1))
            cycle(l + 1, coarse_x, coarse_b, false, transpose);
          SpaceType::call(
            [&] { Blocks::prolongate_add(level.transfer, coarse_x, x); });
        });
    }

    // Addresses and numbers on which cycles depend: those which update() may
    // change, and those of the given matrix.
    DeviceGraph::Key
    key() const
    {
      DeviceGraph::Key result;
      for (const auto &level : levels)
        {
          if (level != levels.back())
            level->smoother.add_to_key(result);
          const Number *const arrays[] = {level->x.data(),
                                          level->b.data(),
                                          level->matrix_values.data()};
          for (const Number *array : arrays)
            result.push_back(DeviceGraph::address(array));
        }
      inverse.add_to_key(result);
      result.push_back(DeviceGraph::address(basis.data()));
      result.push_back(n_dissections);
      // Arrays of another object can have the same addresses.
      result.push_back(number);
      return result;
    }

    // dst = M src or M^T src, with vectors of either precision.
    template <typename VectorNumber>
    void
    apply(const std::size_t   n,
          VectorNumber       *to,
          const VectorNumber *from,
          const bool          transpose)
    {
      if constexpr (std::is_same<MatrixType, DeviceBlockMatrix<Number>>::value)
        if (data.cuda_graphs && n > 0 &&
            levels[0]->matrix->partition() == nullptr)
          {
            Graphs<VectorNumber> &G = *graphs<VectorNumber>();
            if (G.src.size() != n)
              {
                G.src.resize(n);
                G.dst.resize(n);
              }
            SpaceType::convert(n, from, G.src.data());
            (transpose ? G.transpose : G.cycle).run(key(), [&] {
              apply_directly(n, G.dst.data(), G.src.data(), transpose);
            });
            SpaceType::convert(n, G.dst.data(), to);
            return;
          }
      apply_directly(n, to, from, transpose);
    }

    template <typename VectorNumber>
    void
    apply_directly(const std::size_t   n,
                   VectorNumber       *to,
                   const VectorNumber *from,
                   const bool          transpose)
    {
      const auto reinit = [n](auto &array) {
        if (array.size() != n)
          array.resize(n);
      };
      constexpr bool same = std::is_same<VectorNumber, Number>::value;
      if (in_basis == nullptr)
        {
          if constexpr (same)
            cycle(0, to, from, true, transpose);
          else
            {
              reinit(src);
              reinit(dst);
              SpaceType::convert(n, from, src.data());
              cycle(0, dst.data(), src.data(), true, transpose);
              SpaceType::convert(n, dst.data(), to);
            }
          return;
        }
      // Preconditioner W^T M' W, with W in double precision
      reinit(src);
      reinit(dst);
      reinit(double_src);
      reinit(double_dst);
      const internal::BlockRows &rows = levels[0]->smoother.blocks.rows;
      const auto                 apply_basis =
        [&](const bool transpose, const double *x, double *y) {
          SpaceType::call([&] {
            Basis::apply_diagonal(rows, basis.data(), transpose, x, y);
          });
        };
      const double *x = nullptr;
      if constexpr (std::is_same<VectorNumber, double>::value)
        x = from;
      else
        {
          SpaceType::convert(n, from, double_src.data());
          x = double_src.data();
        }
      apply_basis(false, x, double_dst.data());
      SpaceType::convert(n, double_dst.data(), src.data());
      cycle(0, dst.data(), src.data(), true, transpose);
      SpaceType::convert(n, dst.data(), double_src.data());
      if constexpr (std::is_same<VectorNumber, double>::value)
        apply_basis(true, double_src.data(), to);
      else
        {
          apply_basis(true, double_src.data(), double_dst.data());
          SpaceType::convert(n, double_dst.data(), to);
        }
    }
  };



  template <typename MatrixType>
  Multigrid<MatrixType>::Multigrid() = default;



  template <typename MatrixType>
  Multigrid<MatrixType>::~Multigrid() = default;



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::clear()
  {
    implementation.reset();
  }



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::initialize(const MatrixType         &matrix,
                                    std::vector<MatrixType> &&coarse_matrices,
                                    const MultigridHierarchy &hierarchy,
                                    const AdditionalData     &data)
  {
    Implementation::rebuild(implementation, hierarchy, data, [&](auto &result) {
      AssertThrow(coarse_matrices.size() + 1 == hierarchy.n_levels(),
                  ExcMessage("Multigrid was given " +
                             std::to_string(coarse_matrices.size()) +
                             " coarse matrices, but the hierarchy has " +
                             std::to_string(hierarchy.n_levels() - 1) +
                             " coarse levels."));
      result.start(matrix, hierarchy);
      for (unsigned int l = 1; l < hierarchy.n_levels(); ++l)
        {
          result.check_matrix(coarse_matrices[l - 1], hierarchy, l);
          auto &level  = *result.levels[l];
          level.own    = std::move(coarse_matrices[l - 1]);
          level.matrix = &level.own;
          level.smoother.reinit(level.own);
        }
      result.compute_and_prepare([&] {
        result.null_vectors.clear();
        result.set_null_space(hierarchy);
      });
      if (!data.keep_structures)
        result.set_up.release();
    });
  }



  template <typename MatrixType>
  template <typename OtherMatrix>
  void
  Multigrid<MatrixType>::initialize(const OtherMatrix        &matrix,
                                    const MultigridHierarchy &hierarchy,
                                    const AdditionalData     &data)
  {
    Implementation::template build_galerkin<OtherMatrix>(
      implementation, matrix, nullptr, hierarchy, data);
  }



  template <typename MatrixType>
  template <typename OtherMatrix>
  void
  Multigrid<MatrixType>::initialize(const OtherMatrix        &matrix,
                                    const OtherMatrix        &without_penalty,
                                    const MultigridHierarchy &hierarchy,
                                    const AdditionalData     &data)
  {
    initialize(matrix, without_penalty, hierarchy, data, {});
  }



  template <typename MatrixType>
  template <typename OtherMatrix>
  void
  Multigrid<MatrixType>::initialize(const OtherMatrix        &matrix,
                                    const OtherMatrix        &without_penalty,
                                    const MultigridHierarchy &hierarchy,
                                    const AdditionalData     &data,
                                    const std::function<void()> &wait)
  {
    Implementation::build_galerkin(
      implementation, matrix, &without_penalty, hierarchy, data, wait);
  }



  std::future<void>
  internal::start_beside(const std::function<void()> &work)
  {
    const int device =
      device_call([] { return internal::Device::current_device(); });
    return std::async(std::launch::async, [work, device] {
      device_call([&] { internal::Device::set_device(device); });
      work();
    });
  }



  template <typename MatrixType>
  void
  internal::MultigridAccess<MatrixType>::set_further(
    Multigrid<MatrixType> &multigrid, LevelSmoother<MatrixType> &smoother)
  {
    multigrid.implementation->further = &smoother;
  }



  template <typename MatrixType>
  bool
  internal::MultigridAccess<MatrixType>::is_further_prepared(
    const Multigrid<MatrixType> &multigrid)
  {
    return multigrid.implementation->further_is_prepared;
  }



  template <typename MatrixType>
  void
  Multigrid<MatrixType>::update()
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    AssertThrow(implementation->is_galerkin,
                ExcMessage("Multigrid::update() needs Galerkin operators "
                           "without rescaled penalty in the precision of the "
                           "matrix: call initialize() again."));
    implementation->update();
  }



  template <typename MatrixType>
  template <typename OtherMatrix>
  void
  Multigrid<MatrixType>::update(const OtherMatrix &matrix,
                                const OtherMatrix &without_penalty)
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    AssertThrow(implementation->is_rescaled,
                ExcMessage("Multigrid::update() with a rescaled penalty needs "
                           "an initialize() with a matrix without penalty and "
                           "with AdditionalData::keep_structures."));
    implementation->update(matrix, without_penalty);
  }



  template <typename MatrixType>
  DeviceGraph::Key
  Multigrid<MatrixType>::graph_key() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->key();
  }



  template <typename MatrixType>
  std::any &
  Multigrid<MatrixType>::kept()
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->kept;
  }



  template <typename MatrixType>
  typename Multigrid<MatrixType>::size_type
  Multigrid<MatrixType>::m() const
  {
    return implementation == nullptr ? 0
                                     : implementation->levels[0]->matrix->m();
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  Multigrid<MatrixType>::check(const VectorType &dst,
                               const VectorType &src) const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    internal::check_vectors(dst,
                            src,
                            m(),
                            implementation->levels[0]->matrix->n_owned_rows());
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  Multigrid<MatrixType>::vmult(VectorType &dst, const VectorType &src) const
  {
    check(dst, src);
    implementation->apply(internal::n_entries(src),
                          internal::entries(dst),
                          internal::entries(src),
                          false);
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  Multigrid<MatrixType>::Tvmult(VectorType &dst, const VectorType &src) const
  {
    check(dst, src);
    AssertThrow(implementation->data.symmetric ||
                  implementation->data.smoother != Smoother::gauss_seidel,
                ExcMessage("Multigrid for a matrix that is not symmetric has "
                           "no transpose with the smoother BlockGaussSeidel: "
                           "take another one, such as LUSGS."));
    implementation->apply(internal::n_entries(src),
                          internal::entries(dst),
                          internal::entries(src),
                          !implementation->data.symmetric);
  }



  template <typename MatrixType>
  template <typename VectorType>
  void
  Multigrid<MatrixType>::step(VectorType &x, const VectorType &b) const
  {
    check(x, b);
    AssertThrow(implementation->in_basis == nullptr,
                ExcMessage("A Multigrid in single precision of a matrix in "
                           "double precision has no step(): apply vmult() to "
                           "the residual."));
    implementation->cycle(
      0, internal::entries(x), internal::entries(b), false, false);
  }



  template <typename MatrixType>
  const MultigridReport &
  Multigrid<MatrixType>::report() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->report;
  }



  template <typename MatrixType>
  template <typename VectorNumber>
  const DeviceGraphReport &
  Multigrid<MatrixType>::graph_report() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->template graphs<VectorNumber>()->cycle.report();
  }



  template <typename MatrixType, int dim>
  std::vector<MatrixType>
  assemble_coarse_operators(
    const AgglomerationHandler<dim>                        &handler,
    const MultigridHierarchy                               &hierarchy,
    const Form<dim>                                        &form,
    const typename PolytopicAssembler<dim>::AdditionalData &data)
  {
    std::vector<MatrixType> result(hierarchy.n_levels() - 1);
    for (unsigned int l = 1; l < hierarchy.n_levels(); ++l)
      {
        const auto              coarse = hierarchy.coarse_handler(handler, l);
        PolytopicAssembler<dim> assembler(*coarse, data);
        assembler.reinit(result[l - 1]);
        assembler.assemble_matrix(form, result[l - 1]);
      }
    return result;
  }



#define INSTANTIATE_VMULT(Matrix, VectorType)                               \
  template void Multigrid<Matrix>::vmult(VectorType &, const VectorType &)  \
    const;                                                                  \
  template void Multigrid<Matrix>::Tvmult(VectorType &, const VectorType &) \
    const;

#define INSTANTIATE_VECTOR(Matrix, VectorType) \
  INSTANTIATE_VMULT(Matrix, VectorType)        \
  template void Multigrid<Matrix>::step(VectorType &, const VectorType &) const;

#define INSTANTIATE_COARSE_OPERATORS(Matrix, dim)         \
  template std::vector<Matrix> assemble_coarse_operators( \
    const AgglomerationHandler<dim> &,                    \
    const MultigridHierarchy &,                           \
    const Form<dim> &,                                    \
    const PolytopicAssembler<dim>::AdditionalData &);

#define INSTANTIATE_GALERKIN(Matrix, OtherMatrix)                             \
  template void Multigrid<Matrix>::initialize(const OtherMatrix &,            \
                                              const MultigridHierarchy &,     \
                                              const AdditionalData &);        \
  template void Multigrid<Matrix>::initialize(const OtherMatrix &,            \
                                              const OtherMatrix &,            \
                                              const MultigridHierarchy &,     \
                                              const AdditionalData &);        \
  template void Multigrid<Matrix>::initialize(const OtherMatrix &,            \
                                              const OtherMatrix &,            \
                                              const MultigridHierarchy &,     \
                                              const AdditionalData &,         \
                                              const std::function<void()> &); \
  template void Multigrid<Matrix>::update(const OtherMatrix &,                \
                                          const OtherMatrix &);

#define INSTANTIATE_GRAPH_REPORT(Matrix, VectorNumber) \
  template const DeviceGraphReport &                   \
  Multigrid<Matrix>::graph_report<VectorNumber>() const;

#define INSTANTIATE(Matrix, VectorType, OtherVector) \
  template class Multigrid<Matrix>;                  \
  template struct internal::MultigridAccess<Matrix>; \
  INSTANTIATE_GRAPH_REPORT(Matrix, double)           \
  INSTANTIATE_GRAPH_REPORT(Matrix, float)            \
  INSTANTIATE_GALERKIN(Matrix, Matrix)               \
  INSTANTIATE_VECTOR(Matrix, VectorType)             \
  INSTANTIATE_VMULT(Matrix, OtherVector)             \
  INSTANTIATE_COARSE_OPERATORS(Matrix, 2)            \
  INSTANTIATE_COARSE_OPERATORS(Matrix, 3)

  INSTANTIATE_GALERKIN(HostBlockMatrix<float>, HostBlockMatrix<double>)
  INSTANTIATE_GALERKIN(DeviceBlockMatrix<float>, DeviceBlockMatrix<double>)
  INSTANTIATE(HostBlockMatrix<double>, Vector<double>, Vector<float>)
  INSTANTIATE(HostBlockMatrix<float>, Vector<float>, Vector<double>)
  INSTANTIATE(DeviceBlockMatrix<double>,
              DeviceVector<double>,
              DeviceVector<float>)
  INSTANTIATE(DeviceBlockMatrix<float>,
              DeviceVector<float>,
              DeviceVector<double>)
  INSTANTIATE_VECTOR(HostBlockMatrix<double>,
                     LinearAlgebra::distributed::Vector<double>)
  INSTANTIATE_VECTOR(HostBlockMatrix<float>,
                     LinearAlgebra::distributed::Vector<float>)
  INSTANTIATE_VECTOR(HostBlockMatrix<double>, HostVector<double>)
  INSTANTIATE_VECTOR(HostBlockMatrix<float>, HostVector<float>)
  TESSELLA_IF_EPETRA(INSTANTIATE_VECTOR(HostBlockMatrix<double>,
                                        TrilinosWrappers::MPI::Vector))
  INSTANTIATE_VMULT(HostBlockMatrix<float>,
                    LinearAlgebra::distributed::Vector<double>)
  INSTANTIATE_VMULT(HostBlockMatrix<float>, HostVector<double>)
  TESSELLA_IF_EPETRA(INSTANTIATE_VMULT(HostBlockMatrix<float>,
                                       TrilinosWrappers::MPI::Vector))
#undef INSTANTIATE
#undef INSTANTIATE_GALERKIN
#undef INSTANTIATE_COARSE_OPERATORS
#undef INSTANTIATE_VECTOR
#undef INSTANTIATE_VMULT
#undef INSTANTIATE_GRAPH_REPORT
} // namespace Tessella
