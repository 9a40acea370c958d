// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_block_h
#define tessella_forms_pointwise_block_h

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
      /// Number of rows of a component that a functor uses.
      TESSELLA_HOST_DEVICE constexpr int
      n_used_rows(const int dim, const unsigned int rows)
      {
        return ((rows & PointwiseRows::values) != 0 ? 1 : 0) +
               ((rows & PointwiseRows::gradients) != 0 ? dim : 0);
      }

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
          , piece_of_point(reinterpret_cast<unsigned short *>(memory) +
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
              for (unsigned int q = 0; q < piece.n_points; ++q)
                piece_of_point[piece.begin + q] =
                  static_cast<unsigned short>(i);
            }
        }

        /// Data of point @p q of a batch.
        TESSELLA_HOST_DEVICE void
        set_point(const PointwiseBatch &batch,
                  const unsigned int    q,
                  BatchPoint<dim>      &point) const
        {
          const PointwisePiece &piece =
            T.plan.pieces[batch.first_piece + piece_of_point[q]];
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
          for (int s = 0; s < (boundary ? 1 : 2); ++s)
            {
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

        /// Degree and number of functions of a field in a slot.
        TESSELLA_HOST_DEVICE static unsigned int
        degree(const double *slot, const unsigned int field)
        {
          return static_cast<unsigned int>(slot[2 * dim + 1 + 2 * field]);
        }
        TESSELLA_HOST_DEVICE static unsigned int
        n_basis(const double *slot, const unsigned int field)
        {
          return static_cast<unsigned int>(slot[2 * dim + 2 + 2 * field]);
        }

        /// Evaluates the fields on one side at a point x, and the direction of
        /// a tangent if @p direction is not null. @p table is overwritten.
        template <unsigned int rows, bool tangent>
        TESSELLA_HOST_DEVICE void
        evaluate_fields(const double *slot,
                        const double (&x)[dim],
                        double        *table,
                        Input<double> &u,
                        Input<double> &du) const
        {
          unsigned int highest = 0;
          bool         general = false;
          for (int f = 0; f < n_fields; ++f)
            {
              const unsigned int p = degree(slot, f);
              if (!T.fields[f].total_degree || p > 3)
                {
                  general = true;
                  highest = p > highest ? p : highest;
                }
            }
          if (general)
            fill_table<dim>(
              L, slot, x, highest, (rows & gradients) != 0, table);
          evaluate_field_and_rest<rows, tangent, 0>(slot, x, table, u, du);
        }

        const PointwiseTask<dim> &T;
        const PointwiseLayout    &L;
        const F                  &f;
        double *const             memory;
        const unsigned int        thread, n_threads;
        const PointwiseGroup      group;

      protected:
        TESSELLA_HOST_DEVICE void
        load_slots(const unsigned int  first,
                   const unsigned int  n,
                   const unsigned int *list)
        {
          constexpr unsigned int header = pointwise_header(dim, n_fields);
          for (unsigned int index = thread; index < n * L.slot_stride;
               index += n_threads)
            {
              const unsigned int s     = index / L.slot_stride,
                                 entry = index - s * L.slot_stride,
                                 k     = list != nullptr ? list[s]
                                                         : group.first_polytope + s;
              if (entry < header)
                {
                  if (entry == 0)
                    polytope_of_slot[first + s] = k;
                  slot(first + s)[entry] = header_entry(k, entry);
                }
              else
                load_coefficient<0>(k, entry, slot(first + s));
            }
        }

        TESSELLA_HOST_DEVICE double
        header_entry(const unsigned int k, const unsigned int entry) const
        {
          const double *const box = T.mesh.box + 2 * dim * std::uint64_t(k);
          if (entry < dim)
            return 0.5 * (box[entry] + box[dim + entry]);
          if (entry < 2 * dim)
            return 2. / (box[entry] - box[entry - dim]);
          if (entry == 2 * dim)
            {
              double size = 1.;
              for (int d = 0; d < dim; ++d)
                size *= box[dim + d] - box[d];
              return 1. / sqrt(size);
            }
          const unsigned int field = (entry - 2 * dim - 1) / 2;
          if (field >= n_fields)
            return 0.;
          return (entry - 2 * dim - 1) % 2 == 0 ? T.fields[field].degree[k]
                                                : T.fields[field].n_basis[k];
        }

        // Copies an entry if it belongs to field i or one that follows.
        template <int i>
        TESSELLA_HOST_DEVICE void
        load_coefficient(const unsigned int k,
                         const unsigned int entry,
                         double            *slot) const
        {
          constexpr bool is_direction = i == n_fields;
          if constexpr (is_direction)
            {
              if (T.fields[i].coefficients == nullptr)
                return;
              load_entry(
                T.fields[i], Fields::components(T.field), k, entry, slot);
            }
          else
            {
              if (entry < T.fields[i + 1].offset)
                load_entry(T.fields[i], Fields::components(i), k, entry, slot);
              else
                load_coefficient<i + 1>(k, entry, slot);
            }
        }

        TESSELLA_HOST_DEVICE static void
        load_entry(const PointwiseField &field,
                   const unsigned int    m,
                   const unsigned int    k,
                   const unsigned int    entry,
                   double               *slot)
        {
          const unsigned int position = entry - field.offset,
                             pitch = pointwise_pitch(m), i = position / pitch,
                             c = position - i * pitch, n = field.n_basis[k];
          if (i < n)
            slot[entry] =
              c < m ? field.coefficients[field.dof_offset[k] + c * n + i] : 0.;
        }

        template <unsigned int rows, bool tangent, int i>
        TESSELLA_HOST_DEVICE void
        evaluate_field_and_rest(const double *slot,
                                const double (&x)[dim],
                                const double  *table,
                                Input<double> &u,
                                Input<double> &du) const
        {
          if constexpr (i < n_fields)
            {
              constexpr int m = Fields::components(i), c0 = Fields::first(i);
              double        value[m], gradient[m][dim];
              evaluate_field<dim, m, rows>(L,
                                           T.fields[i],
                                           degree(slot, i),
                                           n_basis(slot, i),
                                           slot,
                                           table,
                                           x,
                                           value,
                                           gradient);
              copy<m, rows>(value, gradient, c0, u);
              if constexpr (tangent)
                {
                  for (int c = 0; c < m; ++c)
                    {
                      value[c] = 0.;
                      for (int d = 0; d < dim; ++d)
                        gradient[c][d] = 0.;
                    }
                  if (T.field == i)
                    evaluate_field<dim, m, rows>(L,
                                                 T.fields[n_fields],
                                                 degree(slot, i),
                                                 n_basis(slot, i),
                                                 slot,
                                                 table,
                                                 x,
                                                 value,
                                                 gradient);
                  copy<m, rows>(value, gradient, c0, du);
                }
              evaluate_field_and_rest<rows, tangent, i + 1>(
                slot, x, table, u, du);
            }
        }

        template <int m, unsigned int rows>
        TESSELLA_HOST_DEVICE static void
        copy(const double (&value)[m],
             const double (&gradient)[m][dim],
             const int      c0,
             Input<double> &u)
        {
          for (int c = 0; c < m; ++c)
            {
              if ((rows & PointwiseRows::values) != 0)
                u.value[c0 + c] = value[c];
              if ((rows & PointwiseRows::gradients) != 0)
                for (int d = 0; d < dim; ++d)
                  u.gradient[c0 + c][d] = gradient[c][d];
            }
        }

        /// Calls function(entry, row) for the rows that are used: first values
        /// of all components, then gradients; rows are numbered from zero.
        template <unsigned int rows, typename Terms, typename Function>
        TESSELLA_HOST_DEVICE static void
        for_rows(Terms &terms, const int n, const Function &function)
        {
          constexpr int n_rows = n_used_rows(dim, rows);
#ifdef __CUDA_ARCH__
#  pragma unroll
#endif
          for (int c = 0; c < n; ++c)
            {
              if ((rows & PointwiseRows::values) != 0)
                function(terms.value[c], c * n_rows);
              if ((rows & PointwiseRows::gradients) != 0)
#ifdef __CUDA_ARCH__
#  pragma unroll
#endif
                for (int d = 0; d < dim; ++d)
                  function(terms.gradient[c][d], c * n_rows + n_rows - dim + d);
            }
        }

        unsigned short *const piece_of_point;
        unsigned int *const   polytope_of_slot;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
