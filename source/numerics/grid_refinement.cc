// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/grid_refinement.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace Tessella
{
  namespace GridRefinement
  {
    namespace
    {
      using namespace internal;

      /// Integers in the same order as non-negative doubles.
      std::uint64_t
      key(const double value)
      {
        std::uint64_t bits;
        std::memcpy(&bits, &value, sizeof(bits));
        return bits;
      }

      template <int dim>
      void
      check(const dealii::Triangulation<dim> &triangulation,
            const AgglomerationHandler<dim>  &handler,
            const dealii::Vector<double>     &indicators,
            const double                      top,
            const double                      bottom)
      {
        on_all_processes(handler.get_communicator(), [&]() {
          AssertThrow(&handler.get_triangulation() == &triangulation,
                      ExcUserInput("The handler is on another triangulation "
                                   "than the one to be refined."));
          AssertThrow(indicators.size() == handler.n_polytopes(),
                      ExcUserInput(
                        "There are " + std::to_string(indicators.size()) +
                        " error indicators, but " +
                        std::to_string(handler.n_polytopes()) + " polytopes."));
          AssertThrow(top >= 0. && bottom >= 0. && top + bottom <= 1.,
                      ExcUserInput("The fractions to be refined and coarsened "
                                   "must not be negative, and not more than 1 "
                                   "together; they are " +
                                   std::to_string(top) + " and " +
                                   std::to_string(bottom) + "."));
          for (const double eta : indicators)
            AssertThrow(eta >= 0. && std::isfinite(eta),
                        ExcUserInput("An error indicator is " +
                                     std::to_string(eta) +
                                     ", not a finite number from 0."));
        });
      }

      /**
       * Marks polytopes by the weights that @p make_weights returns: for
       * refinement, the smallest set of largest indicators with at least @p top
       * of the total weight; for coarsening, the smallest indicators with at
       * most @p bottom of it.
       */
      template <int dim, typename MakeWeights>
      void
      mark(dealii::Triangulation<dim>      &triangulation,
           const AgglomerationHandler<dim> &handler,
           const dealii::Vector<double>    &indicators,
           const double                     top,
           const double                     bottom,
           const MakeWeights               &make_weights)
      {
        check(triangulation, handler, indicators, top, bottom);
        const std::vector<std::uint64_t> weights = make_weights();

        const MPI_Comm             comm = handler.get_communicator();
        const unsigned int         n    = handler.n_polytopes();
        std::vector<std::uint64_t> keys(n);
        std::uint64_t              all = 0;
        for (unsigned int k = 0; k < n; ++k)
          {
            keys[k] = key(indicators[k]);
            all += weights[k];
          }
        all = dealii::Utilities::MPI::sum(all, comm);
        // Total weight of all polytopes with a key of at least @p bound.
        const auto from = [&](const std::uint64_t bound) {
          std::uint64_t result = 0;
          for (unsigned int k = 0; k < n; ++k)
            if (keys[k] >= bound)
              result += weights[k];
          return dealii::Utilities::MPI::sum(result, comm);
        };
        const std::uint64_t infinite = std::uint64_t(1) << 63;
        const auto          largest  = [&](const auto &holds) {
          // The condition is true at 0 and false from some value on.
          std::uint64_t low = 0, high = infinite;
          while (high - low > 1)
            {
              const std::uint64_t middle   = low + (high - low) / 2;
              (holds(middle) ? low : high) = middle;
            }
          return low;
        };
        const std::uint64_t wanted =
          static_cast<std::uint64_t>(std::ceil(top * static_cast<double>(all)));
        const std::uint64_t refine =
          wanted == 0 ? infinite : largest([&](const std::uint64_t bound) {
            return from(bound) >= wanted;
          });
        const std::uint64_t kept =
          all - static_cast<std::uint64_t>(bottom * static_cast<double>(all));
        // The polytopes that are not coarsened must have at least the weight to
        // be kept.
        const std::uint64_t coarsen =
          bottom <= 0. ? 0 : largest([&](const std::uint64_t bound) {
            return from(bound) >= kept;
          });

        for (const auto &cell : triangulation.active_cell_iterators())
          {
            cell->clear_refine_flag();
            cell->clear_coarsen_flag();
          }
        for (unsigned int k = 0; k < n; ++k)
          if (keys[k] >= refine)
            for (const auto &cell : handler.polytope(k).get_agglomerate())
              cell->set_refine_flag();
          else if (keys[k] < coarsen)
            for (const auto &cell : handler.polytope(k).get_agglomerate())
              if (cell->level() > 0)
                cell->set_coarsen_flag();
      }
    } // namespace



    template <int dim>
    void
    refine_and_coarsen_fixed_fraction(dealii::Triangulation<dim> &triangulation,
                                      const AgglomerationHandler<dim> &handler,
                                      const dealii::Vector<double> &indicators,
                                      const double top_fraction,
                                      const double bottom_fraction)
    {
      const auto squares = [&]() {
        const double largest =
          dealii::Utilities::MPI::max(indicators.size() > 0
                                        ? indicators.linfty_norm()
                                        : 0.,
                                      handler.get_communicator());
        // Squares in units of 2^-31 to 2^-40 of the largest one, so that sums
        // over 2^32 polytopes are exact.
        const int                  bits = std::min(40,
                                  62 - static_cast<int>(std::ceil(std::log2(
                                         handler.n_global_polytopes() + 1.))));
        std::vector<std::uint64_t> weights;
        for (const double eta : indicators)
          {
            const double relative = largest > 0. ? eta / largest : 0.;
            weights.push_back(static_cast<std::uint64_t>(
              std::ldexp(relative * relative, bits)));
          }
        return weights;
      };
      mark(triangulation,
           handler,
           indicators,
           top_fraction,
           bottom_fraction,
           squares);
    }



    template <int dim>
    void
    refine_and_coarsen_fixed_number(dealii::Triangulation<dim> &triangulation,
                                    const AgglomerationHandler<dim> &handler,
                                    const dealii::Vector<double>    &indicators,
                                    const double top_fraction_of_cells,
                                    const double bottom_fraction_of_cells)
    {
      const auto numbers_of_cells = [&handler]() {
        std::vector<std::uint64_t> weights;
        for (const auto &polytope : handler.polytope_iterators())
          weights.push_back(polytope.n_background_cells());
        return weights;
      };
      mark(triangulation,
           handler,
           indicators,
           top_fraction_of_cells,
           bottom_fraction_of_cells,
           numbers_of_cells);
    }



#define TESSELLA_INSTANTIATE(dim)                       \
  template void refine_and_coarsen_fixed_fraction<dim>( \
    dealii::Triangulation<dim> &,                       \
    const AgglomerationHandler<dim> &,                  \
    const dealii::Vector<double> &,                     \
    const double,                                       \
    const double);                                      \
  template void refine_and_coarsen_fixed_number<dim>(   \
    dealii::Triangulation<dim> &,                       \
    const AgglomerationHandler<dim> &,                  \
    const dealii::Vector<double> &,                     \
    const double,                                       \
    const double)
    TESSELLA_INSTANTIATE(2);
    TESSELLA_INSTANTIATE(3);
#undef TESSELLA_INSTANTIATE
  } // namespace GridRefinement
} // namespace Tessella
