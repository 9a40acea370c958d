// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_flow_quadratic_reconstruction_h
#define tessella_cuda_flow_quadratic_reconstruction_h

#include <cstddef>

// Flow::QuadraticReconstruction on device memory. Kernels run in the present
// stream (graph.h). Every sum has one order, so that results have the same bits
// in every run.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Least squares problems of the polytopes that a process owns, which come
       * before ghosts, with n_linear = dim + 1 linear and n_quadratic = dim
       * (dim + 1) / 2 quadratic functions of a component. Polytope k, its own
       * part and those of its neighbours have the entries
       * entry_offset[k] .. entry_offset[k + 1] - 1 of the arrays named below,
       * the polytope itself first.
       */
      struct ReconstructionArrays
      {
        /// Numbers of owned polytopes and of components.
        unsigned int n, n_components;
        /// First entry of each polytope, and the number of entries at the end.
        const unsigned int *entry_offset;
        /// For each entry, the polytope.
        const unsigned int *polytope;
        /// For each entry, the block n_quadratic x n_linear, row by row, that
        /// maps the coefficients of a linear function on that polytope to its
        /// share of the quadratic part on polytope k. Without WENO, quadratic
        /// parts are the coefficients of the result; with WENO, they refer to
        /// the variables of space, which neighbours have in common.
        const double *blocks;
        /// For each polytope n_linear x n_quadratic numbers: the linear
        /// coefficients of the result are those of the given function less the
        /// products with the quadratic coefficients of the result.
        const double *projections;

        // ---- for WENO only
        /// For each entry, whether the part of that polytope is a candidate; 0
        /// for the first entry of a polytope that stays linear.
        const unsigned char *is_candidate;
        /// For each polytope n_quadratic factors: coefficients with respect to
        /// functions of size one on its box from the quadratic part.
        const double *scale;
        /// Square root of the volume of the box of each polytope.
        const double *unit;
        /// ReconstructionData::own_weight and exponent.
        double own_weight, exponent;
      };

      /// Coefficients of owned polytopes, and those of ghosts.
      struct CoefficientsWithGhosts
      {
        const double *owned, *ghosts;
      };

      /// Sets @p v to the result without WENO for the linear function @p u.
      template <int dim>
      void
      reconstruct_quadratic(const ReconstructionArrays   &arrays,
                            const CoefficientsWithGhosts &u,
                            double                       *v);

      /// Sets @p parts to the quadratic parts of owned polytopes, for WENO:
      /// entry (k n_components + component) n_quadratic + r.
      template <int dim>
      void
      quadratic_parts(const ReconstructionArrays   &arrays,
                      const CoefficientsWithGhosts &u,
                      double                       *parts);

      /// Sets @p v to the result with WENO for the linear function @p u, whose
      /// quadratic parts are @p parts. @p weights has n_components numbers for
      /// each entry of a polytope; they are computed if @p set_weights is set,
      /// and used as they are otherwise.
      template <int dim>
      void
      average_quadratic_parts(const ReconstructionArrays   &arrays,
                              const bool                    set_weights,
                              const double                 *u,
                              const CoefficientsWithGhosts &parts,
                              double                       *weights,
                              double                       *v);

      /// Sets @p dv to the derivative of average_quadratic_parts(), that of the
      /// weights included, at the linear function @p u with the quadratic parts
      /// @p parts and the weights @p weights of that function, in the direction
      /// @p du with the quadratic parts @p changes.
      template <int dim>
      void
      average_quadratic_changes(const ReconstructionArrays   &arrays,
                                const double                 *u,
                                const CoefficientsWithGhosts &parts,
                                const double                 *weights,
                                const double                 *du,
                                const CoefficientsWithGhosts &changes,
                                double                       *dv);

      /// Sets @p r to the entries of @p s that belong to linear functions, for
      /// @p n functions.
      template <int dim>
      void
      restrict_to_linear(const std::size_t n, const double *s, double *r);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
