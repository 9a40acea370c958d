// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "hdg_layout.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Assigns the arrays of a workspace to positions one after the other.
        /// All positions are even.
        class Positions
        {
        public:
          /// Position of an array of n values.
          std::size_t
          operator()(const std::size_t n)
          {
            const std::size_t begin = end;
            end += (n + 1) / 2 * 2;
            return begin;
          }

          std::size_t end = 0;
        };



        void
        set_constant_facets(HDGLayout            &L,
                            const HDGLayoutSizes &S,
                            Positions            &take)
        {
          L.first  = take(std::size_t(S.basis) * L.ld_pairs);
          L.second = take(std::size_t(S.basis) * L.ld_single);
          // Also the map to the box, and a list of generators.
          L.weights =
            take((2 + S.dim) * hdg_warp_points + 8 + (S.basis + 1) / 2);
        }



        void
        set_facets(HDGLayout &L, const HDGLayoutSizes &S, Positions &take)
        {
          const unsigned int n_tables = S.dim * (S.degree + 1);
          if (S.basis <= 8 * hdg_warp_tiles)
            {
              // Values of functions are in registers.
              const std::size_t row = row_stride(hdg_warp_points);
              L.tables              = take(n_tables * row);
              L.weights             = take((7 + S.dim) * row);
              return;
            }
          // Values of functions, of traces, and of the generators of traces.
          const std::size_t values =
            std::size_t(S.basis) * row_stride(hdg_warp_points);
          L.second = take(values);
          L.first  = take(values);
          L.points = take(values);
          // Weights overwrite tables that are not needed any more.
          const std::size_t rows = std::max(n_tables, 6u + S.dim);
          L.tables = L.weights = take(rows * hdg_warp_points);
        }



        void
        set_few_elimination(HDGLayout            &L,
                            const HDGLayoutSizes &S,
                            Positions            &take)
        {
          // A line holds all components of a row, and the row of R that becomes
          // Y.
          L.wide_stride = row_stride((S.dim + 1) * padded(S.basis));
          L.first       = take(std::size_t(S.rows) * L.wide_stride);
          // Afterwards three values for each row replace the factor.
          L.second  = take(std::max<std::size_t>(S.basis * L.wide_stride,
                                                3 * std::size_t(S.rows)));
          L.vectors = take((S.rows + 1) / 2);
        }



        void
        set_schur(HDGLayout &L, const HDGLayoutSizes &S, Positions &take)
        {
          L.flux          = take(std::size_t(S.dim) * S.basis * L.mass_stride);
          L.schur         = take(2 * std::size_t(S.basis) * L.stride);
          L.schur_inverse = take(8 * ((S.basis + 7) / 8 * 8));
          L.diagonal_entries = take(S.basis + 2);
        }



        /// Matrices of the basis, the volume and the elimination.
        void
        set_matrices(HDGLayout &L, const HDGLayoutSizes &S, Positions &take)
        {
          const bool         whole = S.stage == HDGStage::elimination;
          const unsigned int basis = S.basis, rows = S.rows;
          // The mass matrix of the basis is in front of `transform` and
          // overlaps the end of `flux`.
          L.mass = take(S.diagonal ? 0 : std::size_t(L.n_mass) * L.mass_stride);
          L.flux =
            take(std::size_t(L.n_blocks) * (basis + rows) * L.mass_stride);
          L.transform = take(whole ? 0 : std::size_t(basis) * L.stride);
          L.schur     = take(std::size_t(basis + rows) * L.stride);
          L.advection = take(S.advection ? std::size_t(rows) * L.stride : 0);
          L.vectors   = take(4 * std::size_t(rows));
          L.inverse =
            take(S.diagonal || !whole ? 0 : 8 * ((L.n_mass + 7) / 8 * 8));
          L.schur_inverse    = take(8 * ((basis + 7) / 8 * 8));
          L.diagonal_entries = take(std::size_t(std::max(L.n_mass, basis)) + 2);
        }



        /// Values at points behind the matrices of the volume.
        void
        set_points(HDGLayout &L, const HDGLayoutSizes &S, Positions &take)
        {
          const bool        whole    = S.stage == HDGStage::elimination;
          const std::size_t n_tables = std::size_t(S.dim) * (S.degree + 1);
          // Functions and their gradients, or traces and functions.
          const unsigned int rows_of_gradients =
            S.gradients ? (S.dim + 1) * L.point_stride : 0;
          const std::size_t values =
            S.basis * std::size_t(std::max(rows_of_gradients, L.wide_stride));
          L.first   = take(whole ? 0 : values);
          L.second  = take(whole ? 0 : values);
          L.points  = take(whole ? 0 : std::size_t(S.dim) * L.n_wide);
          L.tables  = take(whole ? 0 : n_tables * L.n_wide);
          L.weights = take(whole ? 0 : std::size_t(L.n_weights) * S.slice);
          // Tables of each warp's points, for f.
          if (S.stage == HDGStage::volume)
            take.end = std::max(take.end,
                                L.first + HDGLayout::n_threads(S.basis) / 32 *
                                            n_tables * hdg_warp_points);
        }
      } // namespace



      void
      HDGLayout::set_simplex(const unsigned int basis,
                             const unsigned int rows,
                             const unsigned int n_warps,
                             const bool         transformed)
      {
        n_basis     = basis;
        n_rows      = rows;
        stride      = row_stride(basis);
        mass_stride = row_stride(rows - 1);
        Positions         take;
        const std::size_t solution = std::size_t(basis + rows) * stride,
                          square =
                            transformed ? std::size_t(rows) * mass_stride : 0;
        schur            = take(std::max(solution, square));
        first            = take(square);
        vectors          = take(4 * rows);
        diagonal_entries = take(8);
        weights          = take(std::size_t(n_warps) * padded(basis));
        size             = take.end;
      }



      void
      HDGLayout::set(const HDGLayoutSizes &sizes)
      {
        const HDGStage stage = sizes.stage;
        const bool     in_parts =
          stage == HDGStage::schur || stage == HDGStage::few_elimination;
        n_basis      = sizes.basis;
        n_rows       = sizes.rows;
        max_degree   = sizes.degree;
        diagonal     = sizes.diagonal;
        n_mass       = sizes.tensor ? sizes.dim * padded(n_basis) : n_basis;
        n_blocks     = sizes.tensor ? 1 : sizes.dim;
        n_points     = sizes.slice;
        n_wide       = 2 * n_points;
        stride       = row_stride(n_basis);
        mass_stride  = row_stride(n_mass);
        point_stride = row_stride(n_points);
        wide_stride  = row_stride(n_wide);
        few          = (in_parts || stage == HDGStage::elimination) &&
              n_basis <= 8 * hdg_warp_tiles && diagonal && !sizes.advection;
        Positions take;
        switch (stage)
          {
            case HDGStage::boundary:
              take(2);
              break;
            case HDGStage::constant_facets:
              set_constant_facets(*this, sizes, take);
              break;
            case HDGStage::facets:
              set_facets(*this, sizes, take);
              break;
            case HDGStage::few_elimination:
              set_few_elimination(*this, sizes, take);
              break;
            case HDGStage::schur:
              set_schur(*this, sizes, take);
              break;
            case HDGStage::moments:
              tables = take(2 * std::size_t(sizes.dim) * (2 * max_degree + 1) *
                            row_stride(hdg_warp_points));
              break;
            case HDGStage::basis:
              set_matrices(*this, sizes, take);
              break;
            default:
              set_matrices(*this, sizes, take);
              set_points(*this, sizes, take);
          }
        size = take.end;
      }



      void
      HDGLayout::add_moments(const std::size_t n_moments,
                             const std::size_t n_scratch)
      {
        tables = (std::max(size, n_scratch) + 1) / 2 * 2;
        size   = tables + n_moments;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
