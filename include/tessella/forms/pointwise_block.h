// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_block_h
#define tessella_forms_pointwise_block_h

#include <tessella/forms/pointwise_call.h>
#include <tessella/forms/pointwise_evaluation.h>
#include <tessella/grid/mesh_types.h>

// Work of one thread block of the kernels of pointwise operators. It is divided
// into steps between which the threads of the block wait for each other.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Region of a quadrature point.
      enum class PointKind
      {
        volume,
        interior_facet,
        boundary_facet
      };

      /// A quadrature point of a batch.
      template <int dim>
      struct BatchPoint
      {
        OperatorPoint<dim> data;
        double             weight;
        std::uint64_t      number;  ///< in the tables
        unsigned int       slot[2]; ///< of the polytopes on both sides
        unsigned int       side, shift;
        PointKind          kind;
      };



      /**
       * Data of a thread block and the steps that all kernels share. Each
       * thread has an object of its own.
       */
      template <int dim, typename F>
      class PointwiseBlock
      {
      public:
        using Traits = PointwiseTraits<dim, F>;
        using Call   = PointwiseCall<dim, F>;
        using Fields = typename Traits::Fields;
        template <typename Number>
        using Input = typename Traits::template Input<Number>;
        template <typename Number>
        using Output = typename Traits::template Output<Number>;

        static constexpr int n_inputs            = Traits::n_inputs,
                             n_outputs           = Traits::n_outputs,
                             n_fields            = Fields::n_fields;
        static constexpr unsigned int gradients  = PointwiseRows::gradients,
                                      used_input = Traits::volume_input |
                                                   Traits::facet_input,
                                      used_output = Traits::volume_output |
                                                    Traits::facet_output;

        TESSELLA_HOST_DEVICE
        PointwiseBlock(const PointwiseTask<dim> &task,
                       const F                  &f,
                       double                   *memory,
                       const unsigned int        block,
                       const unsigned int        thread,
                       const unsigned int        n_threads)
          : T(task)
          , L(task.layout)
          , f(f)
          , memory(memory)
          , thread(thread)
          , n_threads(n_threads)
          , group(task.plan.groups[block])
          , points(reinterpret_cast<unsigned short *>(memory) +
                   4 * L.piece_of_point)
          , polytope_of_slot(reinterpret_cast<unsigned int *>(memory) +
                             2 * L.polytope_of_slot)
        {}

        /// Copies the data of the group's polytopes to their slots.
        TESSELLA_HOST_DEVICE void
        load_polytopes()
        {
          load_slots(0, group.n_polytopes, nullptr);
        }

        /// Copies the data of neighbours, and lists the piece of each point.
        TESSELLA_HOST_DEVICE void
        load_batch(const PointwiseBatch &batch)
        {
          load_slots(group.n_polytopes,
                     batch.n_slots,
                     T.plan.slots + batch.first_slot);
          for (unsigned int i = thread; i < batch.n_pieces; i += n_threads)
            {
              const PointwisePiece &piece =
                T.plan.pieces[batch.first_piece + i];
              const unsigned int entry =
                piece.other == piece.own ? i | own_neighbor : i;
              for (unsigned int q = 0; q < piece.n_points; ++q)
                points[piece.begin + q] = static_cast<unsigned short>(entry);
            }
          finish_copies();
        }

        /// Piece of point @p q of the batch.
        TESSELLA_HOST_DEVICE unsigned int
        piece_of_point(const unsigned int q) const
        {
          return points[q] & (own_neighbor - 1);
        }

        /// Whether a point with this entry of the list of points is on a
        /// periodic boundary where the polytope is its own neighbour.
        TESSELLA_HOST_DEVICE static bool
        is_own_neighbor(const unsigned int entry)
        {
          return (entry & own_neighbor) != 0;
        }

        /// Data of point @p q of a batch.
        TESSELLA_HOST_DEVICE void
        set_point(const PointwiseBatch &batch,
                  const unsigned int    q,
                  BatchPoint<dim>      &point) const
        {
          const PointwisePiece &piece =
            T.plan.pieces[batch.first_piece + piece_of_point(q)];
          const unsigned int j     = q - piece.begin;
          const bool         facet = q >= batch.n_volume_points;
          point.number             = piece.point + j;
          point.side               = piece.side;
          point.shift              = piece.shift;
          const double *const x =
            (facet ? T.mesh.facet_points : T.mesh.volume_points) +
            (dim + 1) * point.number;
          OperatorPoint<dim> &p = point.data;
          for (int d = 0; d < dim; ++d)
            p.x[d] = x[d];
          point.weight = x[dim];
          p.t          = T.t;
          if (!facet)
            {
              point.kind    = PointKind::volume;
              point.slot[0] = piece.own;
              for (int d = 0; d < dim; ++d)
                p.normal[d] = 0.;
              p.penalty     = 0.;
              p.facet       = invalid_index;
              p.boundary_id = invalid_index;
              p.polytope[0] = polytope_of_slot[piece.own];
              p.h[0]        = T.mesh.length[p.polytope[0]];
              p.subcell[0]  = piece.item;
              p.material[0] = T.mesh.subcell_material[piece.item];
              return;
            }
          const bool boundary = piece.other == PointwisePiece::none;
          point.kind =
            boundary ? PointKind::boundary_facet : PointKind::interior_facet;
          const double *const normal =
            T.mesh.normals +
            std::uint64_t(dim) * (piece.normal + (piece.varies ? j : 0));
          for (int d = 0; d < dim; ++d)
            p.normal[d] = normal[d];
          const PointwiseFacet &facet_data = T.mesh.facets[piece.item];
          p.penalty                        = facet_data.penalty;
          p.facet                          = piece.item;
          p.boundary_id                    = facet_data.boundary_id;
          point.slot[0] = piece.side == 0 ? piece.own : piece.other;
          point.slot[1] = piece.side == 0 ? piece.other : piece.own;
          // Unrolled, since variable indices would need local memory.
          TESSELLA_UNROLL_ON_DEVICE
          for (int s = 0; s < 2; ++s)
            {
              if (s == 1 && boundary)
                break;
              p.polytope[s] = polytope_of_slot[point.slot[s]];
              p.h[s]        = T.mesh.length[p.polytope[s]];
              p.subcell[s]  = facet_data.subcell[s];
              p.material[s] = T.mesh.subcell_material[p.subcell[s]];
            }
        }

        TESSELLA_HOST_DEVICE double *
        slot(const unsigned int index) const
        {
          return memory + index * L.slot_stride;
        }

        /// Position of a point as its side @p s sees it.
        TESSELLA_HOST_DEVICE void
        position(const BatchPoint<dim> &point,
                 const unsigned int     s,
                 double (&x)[dim]) const
        {
          for (int d = 0; d < dim; ++d)
            x[d] = point.data.x[d];
          if (s == 1 && point.shift != 0)
            for (int d = 0; d < dim; ++d)
              x[d] += T.mesh.shift[point.shift * dim + d];
        }

        /// Degree of a field in a slot.
        TESSELLA_HOST_DEVICE unsigned int
        degree(const double *slot, const unsigned int field) const
        {
          return SlotFields<dim>{slot}.degree(T, field);
        }
        TESSELLA_HOST_DEVICE unsigned int
        n_basis(const double *slot, const unsigned int field) const
        {
          return SlotFields<dim>{slot}.n_basis(T, field);
        }

        /// Evaluates the fields on one side at a point x, and the direction of
        /// a tangent. @p table is overwritten.
        template <unsigned int rows, bool tangent>
        TESSELLA_HOST_DEVICE void
        evaluate_fields(const double *slot,
                        const double (&x)[dim],
                        double        *table,
                        Input<double> &u,
                        Input<double> &du) const
        {
          FieldEvaluation<dim, F, rows, tangent>::evaluate(
            T, SlotFields<dim>{slot}, x, table, u, du);
        }

        const PointwiseTask<dim> &T;
        const PointwiseLayout    &L;
        const F                  &f;
        double *const             memory;
        const unsigned int        thread, n_threads;
        const PointwiseGroup      group;

      protected:
        // Flag of an entry of points.
        static constexpr unsigned int own_neighbor = 1u << 15;

        // Copies n polytopes to slots: those of a list, or those of the group.
        // A warp copies some slots at once, so that their loads overlap.
        TESSELLA_HOST_DEVICE void
        load_slots(const unsigned int  first,
                   const unsigned int  n,
                   const unsigned int *list)
        {
          constexpr unsigned int frame = 2 * dim + 1, at_once = 4;
          const unsigned int     n_lanes = n_threads < 32 ? n_threads : 32,
                             lane = thread % n_lanes, warp = thread / n_lanes,
                             n_warps = n_threads / n_lanes;
          for (unsigned int s0 = warp; s0 < n; s0 += at_once * n_warps)
            {
              unsigned int k[at_once];
              TESSELLA_UNROLL_ON_DEVICE
              for (unsigned int u = 0; u < at_once; ++u)
                {
                  const unsigned int s = s0 + u * n_warps;
                  k[u]                 = s >= n            ? invalid_index
                                         : list != nullptr ? list[s]
                                                           : group.first_polytope + s;
                }
              TESSELLA_UNROLL_ON_DEVICE
              for (unsigned int u = 0; u < at_once; ++u)
                if (k[u] != invalid_index)
                  {
                    const unsigned int s  = first + s0 + u * n_warps;
                    double *const      to = slot(s);
                    if (lane == 0)
                      polytope_of_slot[s] = k[u];
                    for (unsigned int i = lane; i < frame; i += n_lanes)
                      copy(to + i,
                           T.mesh.frames + frame * std::uint64_t(k[u]) + i);
                  }
              load_field_and_rest<0>(first + s0, n_warps, k, lane, n_lanes);
            }
        }

        // Copies the coefficients of field i, of those that follow, and of the
        // direction.
        template <int i, unsigned int n>
        TESSELLA_HOST_DEVICE void
        load_field_and_rest(const unsigned int first,
                            const unsigned int distance,
                            const unsigned int (&k)[n],
                            const unsigned int lane,
                            const unsigned int n_lanes) const
        {
          constexpr bool        is_direction = i == n_fields;
          const PointwiseField &field        = T.fields[i];
          if (is_direction && field.coefficients == nullptr)
            return;
          const unsigned int m = Fields::components(is_direction ? T.field : i);
          const unsigned int pitch = pointwise_pitch(m);
          std::uint64_t      dof[n];
          unsigned int       n_basis[n], degree[n];
          // 2^32 / n_basis, rounded up, which divides small numbers.
          unsigned int inverse = 0, divisor = 0;
          TESSELLA_UNROLL_ON_DEVICE
          for (unsigned int u = 0; u < n; ++u)
            if (k[u] != invalid_index)
              {
                dof[u]     = field.dof_offset[k[u]];
                n_basis[u] = field.n_basis[k[u]];
                degree[u]  = field.degree[k[u]];
              }
          TESSELLA_UNROLL_ON_DEVICE
          for (unsigned int u = 0; u < n; ++u)
            if (k[u] != invalid_index)
              {
                double *const to = slot(first + u * distance);
                if (!is_direction && lane == 0)
                  {
                    to[2 * dim + 1 + 2 * i] = degree[u];
                    to[2 * dim + 2 + 2 * i] = n_basis[u];
                  }
                if (n_basis[u] != divisor)
                  {
                    divisor = n_basis[u];
                    inverse = 0xffffffffu / divisor + 1;
                  }
                const double *const from = field.coefficients + dof[u];
                for (unsigned int e = lane; e < divisor * m; e += n_lanes)
                  {
                    const unsigned int c = divisor == 1 ? e
                                                        : high_word(e, inverse),
                                       j = e - c * divisor;
                    copy(to + field.offset + j * pitch + c, from + e);
                  }
              }
          if constexpr (!is_direction)
            load_field_and_rest<i + 1>(first, distance, k, lane, n_lanes);
        }

        // Product of two numbers, divided by 2^32.
        TESSELLA_HOST_DEVICE static unsigned int
        high_word(const unsigned int a, const unsigned int b)
        {
          return static_cast<unsigned int>(std::uint64_t(a) * b >> 32);
        }

        // Copies a number from device memory to shared memory. The copy is
        // complete after finish_copies(), for the thread that started it.
        TESSELLA_HOST_DEVICE static void
        copy(double *to, const double *from)
        {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
          const unsigned int address =
            static_cast<unsigned int>(__cvta_generic_to_shared(to));
          asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
                       :
                       : "r"(address), "l"(from)
                       : "memory");
#else
          *to = *from;
#endif
        }
        TESSELLA_HOST_DEVICE static void
        finish_copies()
        {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
          asm volatile("cp.async.wait_all;" : : : "memory");
#endif
        }

        // Piece of each point of the batch, with a flag.
        unsigned short *const points;
        unsigned int *const   polytope_of_slot;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
