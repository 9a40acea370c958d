// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_multigrid_smoother_set_up_h
#define tessella_source_multigrid_smoother_set_up_h

#include <deal.II/base/exceptions.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "../../cuda/device/graph_branches.h"
#include "level_smoother.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Set-up of the smoothers by Chebyshev's polynomial of several matrices on
     * a device, in which the host waits once for all of them instead of twenty
     * times for each: numbers of steps are fixed, and scalar products and their
     * quotients stay on the device. Eigenvalues have the bits of
     * LevelSmoother::prepare().
     *
     * The second set-up of the same matrices records the work as a CUDA graph,
     * in which the matrices are independent of each other; further ones start
     * it.
     */
    template <typename MatrixType>
    class SmootherSetUp
    {
    public:
      using Smoother  = LevelSmoother<MatrixType>;
      using Data      = BlockData<MatrixType>;
      using Number    = typename Data::Number;
      using SpaceType = typename Data::SpaceType;
      using Blocks    = typename Data::Blocks;
      template <typename T>
      using Array = typename Data::template Array<T>;

      /// Whether the smoother of type @p type of @p matrix can be set up here:
      /// on a device, and not distributed.
      static bool
      is_possible(const MatrixType &matrix, const MultigridSmoother type)
      {
        return on_device && type == MultigridSmoother::chebyshev &&
               matrix.partition() == nullptr && matrix.n_owned_rows() > 0;
      }

      /// Starts the set-up; @p symmetric and @p singular as for
      /// LevelSmoother::prepare(). The smoothers must outlive the object.
      void
      start(const std::vector<Smoother *> &smoothers,
            const bool                     symmetric,
            const bool                     singular)
      {
        this->smoothers = smoothers;
        this->symmetric = symmetric;
        this->singular  = singular;
        if constexpr (on_device)
          {
            allocate();
            DeviceGraph::Key                   key = {symmetric,
                                                      singular,
                                                      DeviceGraph::address(numbers.data()),
                                                      DeviceGraph::address(sums.data())};
            std::vector<std::function<void()>> works;
            for (std::size_t i = 0; i < smoothers.size(); ++i)
              {
                smoothers[i]->add_arrays_to_key(key);
                key.push_back(DeviceGraph::address(vectors[i]->p.data()));
                key.push_back(DeviceGraph::address(vectors[i]->q.data()));
                works.push_back([this, i] { compute(i); });
              }
            graph.run(key, [&] {
              SpaceType::call([&] { Device::run_in_branches(works); });
            });
          }
      }

      /// Waits for the device and sets the eigenvalues. Returns false if a
      /// diagonal block is singular or a matrix that was declared as symmetric
      /// is indefinite; LevelSmoother::prepare() then says which.
      bool
      finish()
      {
        if constexpr (on_device)
          {
            std::vector<double> results(numbers.size()),
              estimates(smoothers.size());
            SpaceType::call([&] {
              SpaceType::DoubleBlocks::download(results.size(),
                                                numbers.data(),
                                                results.data());
            });
            for (std::size_t i = 0; i < smoothers.size(); ++i)
              {
                const double *const of_matrix = results.data() + i * n_numbers;
                unsigned int        first     = 0;
                std::memcpy(&first, of_matrix + place_of_index, sizeof(first));
                if (first != smoothers[i]->blocks.rows.n)
                  return false;
                estimates[i] = estimate(of_matrix);
                if (!(estimates[i] > 0.))
                  return false;
              }
            largest.assign(estimates);
            for (std::size_t i = 0; i < smoothers.size(); ++i)
              smoothers[i]->set_largest(estimates[i], largest.data() + i);
          }
        return true;
      }

      /// Frees the memory that only a set-up needs.
      void
      release()
      {
        graph.clear();
        vectors.clear();
        numbers.resize(0);
        sums.resize(0);
      }

      std::size_t
      memory_consumption() const
      {
        std::size_t result = numbers.memory_consumption() +
                             sums.memory_consumption() +
                             largest.memory_consumption();
        for (const auto &of_matrix : vectors)
          result += of_matrix->p.memory_consumption() +
                    of_matrix->q.memory_consumption();
        return result;
      }

    private:
      static constexpr bool on_device =
        std::is_same<MatrixType, DeviceBlockMatrix<Number>>::value;

      // Numbers of a matrix: scalar products, the two factors that follow from
      // the last of them, and the index of the first singular block.
      static constexpr std::size_t n_numbers = 24, place_of_beta = 20,
                                   place_of_alpha = 21, place_of_index = 22;
      static_assert(2 * n_lanczos_steps <= place_of_beta &&
                      n_power_steps <= place_of_beta,
                    "Scalar products of an estimate.");

      /// Work vectors of an estimate beside those of the smoother.
      struct Vectors
      {
        Array<Number> p, q;
      };

      void
      allocate()
      {
        const std::size_t n = smoothers.size();
        vectors.resize(n);
        for (std::size_t i = 0; i < n; ++i)
          {
            Smoother &smoother = *smoothers[i];
            smoother.start_chebyshev();
            if (vectors[i] == nullptr)
              vectors[i] = std::make_unique<Vectors>();
            vectors[i]->p.resize(smoother.blocks.rows.n_dofs);
            vectors[i]->q.resize(smoother.blocks.rows.n_dofs);
          }
        numbers.resize(n * n_numbers);
        const std::size_t size = n * Device::n_sum_bytes / sizeof(double);
        if (sums.size() != size)
          {
            sums.resize(size);
            SpaceType::call([&] {
              SpaceType::DoubleBlocks::set_zero(sums.size(), sums.data());
            });
          }
      }

      // Puts the work for smoother i into the present stream.
      void
      compute(const std::size_t i)
      {
        Smoother     &smoother = *smoothers[i];
        const Data   &blocks   = smoother.blocks;
        double *const place    = numbers.data() + i * n_numbers;
        SpaceType::call([&] {
          Blocks::invert_diagonal(blocks.rows,
                                  smoother.matrix->values(),
                                  blocks.inverse.data(),
                                  reinterpret_cast<unsigned int *>(
                                    place + place_of_index));
        });
        // The estimate of the eigenvalue writes vectors only.
        const typename SpaceType::Overlap overlap;
        const std::uint64_t               n = blocks.rows.n_dofs;
        SpaceType::set_pseudo_random(n, 0, smoother.residual());
        if (symmetric)
          start_lanczos(i);
        else
          start_power_method(i);
      }

      // Steps of lanczos_eigenvalue().
      void
      start_lanczos(const std::size_t i)
      {
        const Smoother     &smoother = *smoothers[i];
        const Data         &blocks   = smoother.blocks;
        const std::uint64_t n        = blocks.rows.n_dofs;
        // The diagonal blocks of matrices in half precision are the identity.
        const bool           identity = bool(blocks.external_step);
        Number *const        r        = smoother.residual(),
                      *const z        = identity ? r : smoother.update(),
                      *const p        = vectors[i]->p.data(),
                      *const q        = vectors[i]->q.data();
        double *const        place    = numbers.data() + i * n_numbers,
                      *const beta     = place + place_of_beta,
                      *const alpha    = place + place_of_alpha;
        if (singular)
          {
            smoother.matrix->vmult_owned(q, r);
            SpaceType::call([&] { Blocks::copy(n, q, r); });
          }
        for (unsigned int step = 0; step < n_lanczos_steps; ++step)
          {
            double *const rz = place + 2 * step, *const pq = rz + 1;
            SpaceType::call([&] {
              if (!identity)
                Blocks::apply_diagonal(
                  blocks.rows, blocks.inverse.data(), false, r, z);
              if (step == 0)
                {
                  Blocks::dot_on_device(n, r, z, sum(i, rz));
                  Blocks::copy(n, z, p);
                  return;
                }
              Blocks::dot_on_device(
                n, r, z, sum(i, rz, Device::SumFactor::quotient, rz - 2, beta));
              Blocks::combine_by(n, beta, nullptr, z, p);
            });
            smoother.matrix->vmult_owned(q, p);
            SpaceType::call([&] {
              Blocks::dot_on_device(
                n,
                p,
                q,
                sum(i, pq, Device::SumFactor::negative_reciprocal, rz, alpha));
              if (step + 1 < n_lanczos_steps)
                Blocks::combine_by(n, nullptr, alpha, q, r);
            });
          }
      }

      // Steps of the power method of BlockData::largest_eigenvalue().
      void
      start_power_method(const std::size_t i)
      {
        const Smoother     &smoother = *smoothers[i];
        const Data         &blocks   = smoother.blocks;
        const std::uint64_t n        = blocks.rows.n_dofs;
        Number *const r = smoother.residual(), *const q = vectors[i]->q.data();
        double *const place   = numbers.data() + i * n_numbers,
                      *factor = place + place_of_alpha;
        for (unsigned int step = 0; step < n_power_steps; ++step)
          {
            SpaceType::call([&] {
              Blocks::dot_on_device(n,
                                    r,
                                    r,
                                    sum(i,
                                        place + step,
                                        Device::SumFactor::inverse_root,
                                        nullptr,
                                        factor));
            });
            if (step + 1 == n_power_steps)
              return;
            SpaceType::call(
              [&] { Blocks::combine_by(n, factor, nullptr, nullptr, r); });
            smoother.matrix->vmult_owned(q, r);
            SpaceType::call([&] {
              Blocks::apply_diagonal(
                blocks.rows, blocks.inverse.data(), false, q, r);
            });
          }
      }

      Device::SumOnDevice
      sum(const std::size_t       i,
          double *const           value,
          const Device::SumFactor kind    = Device::SumFactor::none,
          const double           *earlier = nullptr,
          double                 *factor  = nullptr) const
      {
        return {value,
                kind,
                earlier,
                factor,
                sums.data() + i * (Device::n_sum_bytes / sizeof(double))};
      }

      // Estimate from the scalar products of a matrix; zero if it is not
      // positive definite.
      double
      estimate(const double *products) const
      {
        if (!symmetric)
          {
            PowerMethod power;
            for (unsigned int step = 0;
                 step < n_power_steps && power.add(products[step]);
                 ++step)
              ;
            return power_margin * power.eigenvalue;
          }
        LanczosMatrix lanczos;
        for (unsigned int step = 0;
             step < n_lanczos_steps && lanczos.begin_step(products[2 * step]);
             ++step)
          if (!lanczos.end_step(products[2 * step + 1]))
            return 0.;
        return lanczos_margin * lanczos.largest_eigenvalue();
      }

      std::vector<Smoother *>               smoothers;
      bool                                  symmetric = true, singular = false;
      std::vector<std::unique_ptr<Vectors>> vectors;
      Array<double>                         numbers, sums, largest;
      DeviceGraph                           graph;
    };



    /// Lets a preconditioner that contains a Multigrid set up its own smoother
    /// with those of the levels, which do not depend on each other.
    template <typename MatrixType>
    struct MultigridAccess
    {
      /// Later calls of update() prepare @p smoother, too, by Chebyshev's
      /// polynomial, with the symmetry of the levels. It must outlive the
      /// multigrid, and its matrix must have its values before the call.
      static void
      set_further(Multigrid<MatrixType>     &multigrid,
                  LevelSmoother<MatrixType> &smoother);

      /// Whether the last update() did so. It does not if the levels had to be
      /// set up one by one or have a null space.
      static bool
      is_further_prepared(const Multigrid<MatrixType> &multigrid);
    };
  } // namespace internal
} // namespace Tessella

#endif
