// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "free_parts.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "../base/collective.h"
#include "interface_sides.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      /// Parts of the own polytopes, connected through interfaces with trace
      /// DoFs.
      struct LocalParts
      {
        std::vector<FreePart>     parts;
        std::vector<unsigned int> part_of_polytope;
      };

      template <int dim>
      LocalParts
      connect(const PolytopicMesh<dim>  &mesh,
              const TraceNumbering<dim> &numbering)
      {
        const unsigned int n = mesh.n_owned_polytopes();
        LocalParts         result;
        result.part_of_polytope.assign(n, invalid_index);
        for (unsigned int seed = 0; seed < n; ++seed)
          {
            if (result.part_of_polytope[seed] != invalid_index)
              continue;
            FreePart part;
            part.polytopes.assign(1, seed);
            result.part_of_polytope[seed] = result.parts.size();
            for (std::size_t next = 0; next < part.polytopes.size(); ++next)
              {
                const unsigned int k = part.polytopes[next];
                for (const unsigned int code : interface_sides(mesh, k))
                  {
                    const unsigned int neighbor = mesh.neighbor(code);
                    if (numbering.block_of_interface[code / 2] == invalid_index)
                      continue;
                    if (code % 2 == 0)
                      part.interfaces.push_back(code / 2);
                    if (neighbor < n && // invalid_index is larger, too
                        result.part_of_polytope[neighbor] == invalid_index)
                      {
                        result.part_of_polytope[neighbor] = result.parts.size();
                        part.polytopes.push_back(neighbor);
                      }
                  }
              }
            std::sort(part.interfaces.begin(), part.interfaces.end());
            result.parts.push_back(std::move(part));
          }
        return result;
      }

      /// For each local part, the smallest global polytope index in the whole
      /// part.
      template <int dim>
      std::vector<double>
      connect_processes(const AgglomerationHandler<dim> &handler,
                        const TraceNumbering<dim>       &numbering,
                        const LocalParts                &local)
      {
        const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
        const unsigned int        n    = mesh.n_owned_polytopes();
        std::vector<double>       label, of_polytope(mesh.n_polytopes());
        for (const FreePart &part : local.parts)
          label.push_back(handler.global_polytope_index(
            *std::min_element(part.polytopes.begin(), part.polytopes.end())));
        for (bool again = true; again;)
          {
            for (unsigned int k = 0; k < n; ++k)
              of_polytope[k] = label[local.part_of_polytope[k]];
            handler.exchange_polytope_values(of_polytope, 1);
            bool changed = false;
            for (unsigned int k = 0; k < n; ++k)
              for (const unsigned int code : interface_sides(mesh, k))
                {
                  const unsigned int neighbor = mesh.neighbor(code);
                  if (neighbor == invalid_index || neighbor < n ||
                      numbering.block_of_interface[code / 2] == invalid_index)
                    continue;
                  double &mine = label[local.part_of_polytope[k]];
                  if (of_polytope[neighbor] < mine)
                    {
                      mine    = of_polytope[neighbor];
                      changed = true;
                    }
                }
            again = numbering.partition != nullptr &&
                    Utilities::MPI::max(changed ? 1 : 0,
                                        handler.get_communicator()) > 0;
          }
        return label;
      }

      /**
       * Sum of all values over all processes. The result is the same to the
       * last bit for every order of the values, since integers are added:
       * multiples of 2^-30 and 2^-61 of the largest value, rounded down to a
       * power of two.
       */
      double
      unordered_sum(const MPI_Comm             communicator,
                    const bool                 parallel,
                    const std::vector<double> &values)
      {
        double largest = 0.;
        for (const double value : values)
          largest = std::max(largest, std::abs(value));
        if (parallel)
          largest = Utilities::MPI::max(largest, communicator);
        if (largest == 0. || !std::isfinite(largest))
          return largest;
        const int exponent = std::ilogb(largest);
        // No overflow: up to 2^32 terms, each below 2^31 in modulus.
        const double coarse  = std::ldexp(1., exponent - 30),
                     fine    = std::ldexp(1., exponent - 61);
        std::int64_t sums[2] = {0, 0};
        for (const double value : values)
          {
            const std::int64_t n = std::llround(value / coarse);
            sums[0] += n;
            sums[1] += std::llround((value - n * coarse) / fine);
          }
        if (parallel)
          {
            const int ierr = MPI_Allreduce(
              MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, communicator);
            AssertThrowMPI(ierr);
          }
        return sums[0] * coarse + sums[1] * fine;
      }
      /// Fixes the constant on one part. @p sizes: integrals of |f| and |g| for
      /// each polytope of the part.
      template <int dim>
      void
      fix_constant(const AgglomerationHandler<dim> &handler,
                   const TraceNumbering<dim>       &numbering,
                   const FreePart                  &part,
                   const std::vector<double>       &sizes,
                   const TraceIntegrals            &integrals,
                   double                          *values,
                   double                          *rhs)
      {
        const auto for_unknowns = [&](const auto &function) {
          for (const unsigned int i : part.interfaces)
            {
              const unsigned int  row   = numbering.block_of_interface[i];
              const double *const m     = integrals(i);
              const std::uint64_t first = numbering.dof_offset[row],
                                  end   = numbering.dof_offset[row + 1];
              for (std::uint64_t j = first; j < end; ++j)
                function(m[j - first], rhs[j]);
            }
        };
        // The coefficients of the constant 1 are the integrals of the trace
        // functions, so the product with the right-hand side is int f + int g.
        std::vector<double> products, squares;
        for_unknowns([&](const double m, const double &F) {
          products.push_back(m * F);
          squares.push_back(m * m);
        });
        const auto total = [&](const std::vector<double> &terms) {
          return unordered_sum(handler.get_communicator(),
                               numbering.partition != nullptr,
                               terms);
        };
        const double sum = total(products), measure = total(squares),
                     size = total(sizes);
        AssertThrow(
          std::abs(sum) <= 1e-3 * size,
          ExcMessage("The problem has no solution: on a part of the domain "
                     "nothing fixes the constant (no Dirichlet or Robin "
                     "condition, no advection, no reaction), but the integrals "
                     "of the right-hand side and of the Neumann data there sum "
                     "up to " +
                     std::to_string(sum) +
                     " instead of 0. Change the data, or give a Dirichlet or "
                     "Robin condition or a positive reaction."));
        for_unknowns(
          [&](const double m, double &F) { F -= sum / measure * m; });
        if (part.first_interface == invalid_index)
          return;
        // Scale the rank-one term to the size of the block's diagonal.
        const BlockSparsity &sparsity = numbering.sparsity;
        const unsigned int   i        = part.first_interface,
                           row        = numbering.block_of_interface[i],
                           n          = static_cast<unsigned int>(
                             numbering.dof_offset[row + 1] -
                             numbering.dof_offset[row]),
                           width = sparsity.row_width[row];
        const double *const m    = integrals(i);
        std::size_t         b    = sparsity.block_offset[row];
        while (sparsity.block_column[b] != row)
          ++b;
        double *const diagonal =
          values + sparsity.value_offset[row] + sparsity.column_offset[b];
        double largest = 0., square = 0.;
        for (unsigned int j = 0; j < n; ++j)
          {
            largest = std::max(largest, diagonal[std::size_t(j) * width + j]);
            square += m[j] * m[j];
          }
        for (unsigned int j = 0; j < n; ++j)
          for (unsigned int l = 0; l < n; ++l)
            diagonal[std::size_t(j) * width + l] +=
              largest / square * (m[j] * m[l]);
      }
    } // namespace



    template <int dim>
    void
    FreeParts<dim>::reinit(const std::vector<char> &fixed)
    {
      const PolytopicMesh<dim> &mesh     = handler.polytopic_mesh();
      const bool                parallel = numbering.partition != nullptr;
      LocalParts                local    = connect(mesh, numbering);
      const std::vector<double> label =
        connect_processes(handler, numbering, local);

      // ---- which parts are fixed, and which have trace DoFs
      std::map<double, std::pair<bool, bool>> states;
      for (unsigned int p = 0; p < label.size(); ++p)
        {
          std::pair<bool, bool> &part = states[label[p]];
          for (const unsigned int k : local.parts[p].polytopes)
            part.first = part.first || fixed[k];
          part.second = part.second || !local.parts[p].interfaces.empty();
        }
      if (parallel)
        for (const auto &others : Utilities::MPI::all_gather(
               handler.get_communicator(),
               std::map<double, std::pair<bool, bool>>(states)))
          for (const auto &other : others)
            {
              std::pair<bool, bool> &part = states[other.first];
              part.first                  = part.first || other.second.first;
              part.second                 = part.second || other.second.second;
            }

      // ---- the free parts, in the order of their labels
      parts.clear();
      for (const auto &entry : states)
        {
          if (entry.second.first || !entry.second.second)
            continue;
          FreePart part;
          for (unsigned int p = 0; p < label.size(); ++p)
            if (label[p] == entry.first)
              {
                const FreePart &from = local.parts[p];
                part.polytopes.insert(part.polytopes.end(),
                                      from.polytopes.begin(),
                                      from.polytopes.end());
                part.interfaces.insert(part.interfaces.end(),
                                       from.interfaces.begin(),
                                       from.interfaces.end());
              }
          std::sort(part.interfaces.begin(), part.interfaces.end());
          // The list of a polytope has the same order on all processes.
          unsigned int first_polytope = invalid_index;
          if (!part.interfaces.empty())
            {
              first_polytope =
                mesh
                  .interface_polytope[2 * std::size_t(part.interfaces.front())];
              for (unsigned int e =
                     mesh.polytope_interface_offset[first_polytope + 1];
                   e-- > mesh.polytope_interface_offset[first_polytope];)
                {
                  const unsigned int code = mesh.polytope_interface[e];
                  if (code % 2 == 0 &&
                      numbering.block_of_interface[code / 2] != invalid_index)
                    part.first_interface = code / 2;
                }
            }
          if (parallel)
            {
              using Cell                 = CellId::binary_type;
              std::pair<bool, Cell> mine = {!part.interfaces.empty(), Cell()};
              if (mine.first)
                mine.second =
                  handler
                    .active_cell(
                      mesh.subcell_cell[mesh.subcell_offset[first_polytope]])
                    ->id()
                    .template to_binary<dim>();
              for (const auto &other :
                   Utilities::MPI::all_gather(handler.get_communicator(), mine))
                if (other.first && mine.first &&
                    CellId(other.second) < CellId(mine.second))
                  part.first_interface = invalid_index;
            }
          parts.push_back(std::move(part));
        }
    }



    template <int dim>
    void
    FreeParts<dim>::fix_constants(
      const std::function<double(const unsigned int)> &size,
      const TraceIntegrals                            &integrals,
      double                                          *values,
      double                                          *rhs) const
    {
      for (const FreePart &part : parts)
        {
          std::vector<double> sizes;
          for (const unsigned int k : part.polytopes)
            sizes.push_back(size(k));
          fix_constant(handler, numbering, part, sizes, integrals, values, rhs);
        }
    }



    template class FreeParts<2>;
    template class FreeParts<3>;
  } // namespace internal
} // namespace Tessella
