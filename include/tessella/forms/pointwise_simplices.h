// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_simplices_h
#define tessella_forms_pointwise_simplices_h

#include <tessella/forms/pointwise_call.h>
#include <tessella/forms/pointwise_results.h>
#include <tessella/forms/simplex_basis.h>
#include <tessella/portable/matrix_products.h>

// Residual and tangent of a pointwise operator on conforming affine simplices
// on a device, see SimplexTask. A warp works alone.

#ifdef __CUDACC__

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      template <int n>
      __device__ __forceinline__ void
      set_zero(double (&c)[n][2])
      {
        TESSELLA_UNROLL_ON_DEVICE
        for (int i = 0; i < n; ++i)
          c[i][0] = c[i][1] = 0.;
      }

      /// Copies a number from device memory to shared memory, or sets it to
      /// zero unless @p present. The copy is complete for this lane after
      /// finish_operands().
      __device__ __forceinline__ void
      copy_operand(double *to, const double *from, const bool present)
      {
#  if __CUDA_ARCH__ >= 800
        const unsigned int address =
          static_cast<unsigned int>(__cvta_generic_to_shared(to));
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                     :
                     : "r"(address), "l"(from), "r"(present ? 8 : 0)
                     : "memory");
#  else
        *to = present ? *from : 0.;
#  endif
      }
      __device__ __forceinline__ void
      finish_operands()
      {
#  if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_all;" : : : "memory");
#  endif
      }



      /**
       * A functor on 8 facets: values of the fields at the points on both sides
       * are products of the values at nodes of the faces with a constant table.
       * The functor is called once for a point, for both sides, so that a
       * conservative flux cancels to the last bit; so do its integrals, which
       * are products with another constant table.
       */
      template <int dim, typename F, bool tangent>
      class SimplexFacetResults
      {
      public:
        using Results = PointwiseResults<dim, F, tangent>;
        using Traits  = typename Results::Traits;
        using Call    = PointwiseCall<dim, F>;
        using Fields  = typename Traits::Fields;
        using Numbers = typename Traits::template Input<double>;

        /// @p memory: of this warp.
        __device__
        SimplexFacetResults(const SimplexTask<dim> &task,
                            const F                &f,
                            double                 *memory,
                            const unsigned int      group)
          : T(task)
          , f(f)
          , lane(threadIdx.x & 31u)
          , row(lane >> 2)
          , column(lane & 3u)
          , operands(memory + lane)
          , sums(memory + task.facet_operands)
          , boundary(group >= task.n_interior_groups())
          , first_slot(group * simplices_of_warp)
        {
          const unsigned int begin =
            boundary ? task.n_interior_groups() * simplices_of_warp : 0;
          n_present        = min(simplices_of_warp,
                          (boundary ? task.n_boundary : task.n_interior) -
                            (first_slot - begin));
          const uint4 data = __ldg(reinterpret_cast<const uint4 *>(
            task.facets + (boundary ? task.n_interior : 0) +
            (first_slot - begin) + min(row, n_present - 1)));
          polytope[0]      = data.x;
          polytope[1]      = data.y;
          facet            = data.z;
          code[0]          = data.w & 0xffu;
          code[1]          = data.w >> 8 & 0xffu;
        }

        __device__ void
        run()
        {
          if constexpr (Traits::has_interior_facet)
            if (!boundary)
              run_kind<false>();
          if constexpr (Traits::has_boundary_facet)
            if (boundary)
              run_kind<true>();
        }

      private:
        static constexpr int m = Traits::n_outputs, n_inputs = Traits::n_inputs,
                             n_fields = Fields::n_fields;

        const SimplexTask<dim> &T;
        const F                &f;
        const unsigned int      lane, row, column;
        double *const operands, *const sums;
        const bool         boundary;
        const unsigned int first_slot;
        unsigned int       n_present;
        // Facet of this lane's row.
        unsigned int polytope[2], facet, code[2];

        template <bool at_boundary>
        __device__ __forceinline__ void
        run_kind()
        {
          load_field_and_rest<at_boundary, 0>(operands);
          OperatorPoint<dim> p;
          set_facet<at_boundary>(p);
          const double measure = __ldg(T.facet_measure + facet);
          finish_operands();
#  pragma unroll 1
          for (unsigned int tile = 0; tile < T.facet_point_tiles; ++tile)
            {
              double u[2 * n_inputs][2], du[tangent ? 2 * n_inputs : 1][2],
                r[2 * m][2];
              set_zero(u);
              set_zero(du);
              evaluate_field_and_rest<0>(tile, operands, u, du);
              TESSELLA_UNROLL_ON_DEVICE
              for (int e = 0; e < 2; ++e)
                call<at_boundary>(p, measure, tile, e, u, du, r);
              integrate<at_boundary>(tile, r);
            }
          __syncwarp();
          store();
        }

        // Copies the values at nodes of field i and of those that follow, each
        // with its direction. All are read by the lane that copies them.
        template <bool at_boundary, int i>
        __device__ __forceinline__ void
        load_field_and_rest(double *to) const
        {
          if constexpr (i < n_fields)
            {
              constexpr int m_i = Fields::components(i);
              load<at_boundary, m_i>(T.fields[i], to);
              to += T.fields[i].face_steps * (2 * m_i * 32);
              if (tangent && T.field == i)
                {
                  load<at_boundary, m_i>(T.fields[n_fields], to);
                  to += T.fields[i].face_steps * (2 * m_i * 32);
                }
              load_field_and_rest<at_boundary, i + 1>(to);
            }
        }

        template <bool at_boundary, int m_i>
        __device__ __forceinline__ void
        load(const SimplexField &field, double *to) const
        {
          const unsigned int N = field.n_nodes;
#  pragma unroll 1
          for (unsigned int step = 0; step < field.face_steps; ++step)
            {
              const unsigned int i       = 4 * step + column;
              const bool         present = i < field.n_face_nodes;
              TESSELLA_UNROLL_ON_DEVICE
              for (int s = 0; s < 2; ++s)
                {
                  const unsigned int node = __ldg(
                    field.face_node + code[s] * (4 * field.face_steps) + i);
                  const double *const from =
                    field.nodal + std::size_t(polytope[s]) * (m_i * N) + node;
                  TESSELLA_UNROLL_ON_DEVICE
                  for (int c = 0; c < m_i; ++c)
                    copy_operand(to + ((step * m_i + c) * 2 + s) * 32,
                                 from + c * N,
                                 present && !(at_boundary && s == 1));
                }
            }
        }

        template <bool at_boundary>
        __device__ __forceinline__ void
        set_facet(OperatorPoint<dim> &p) const
        {
          const PointwiseFacet &data = T.mesh.facets[facet];
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            p.normal[d] = __ldg(T.mesh.normals + std::size_t(dim) * facet + d);
          p.t           = T.t;
          p.penalty     = data.penalty;
          p.facet       = facet;
          p.boundary_id = data.boundary_id;
          TESSELLA_UNROLL_ON_DEVICE
          for (int s = 0; s < (at_boundary ? 1 : 2); ++s)
            {
              p.polytope[s] = polytope[s];
              p.h[s]        = T.mesh.length[polytope[s]];
              p.subcell[s]  = data.subcell[s];
              p.material[s] = T.mesh.subcell_material[data.subcell[s]];
            }
        }

        // Values at the points of a tile: entry 2 c + s for component c on side
        // s.
        template <int i>
        __device__ __forceinline__ void
        evaluate_field_and_rest(
          const unsigned int tile,
          const double      *a,
          double (&u)[2 * n_inputs][2],
          double (&du)[tangent ? 2 * n_inputs : 1][2]) const
        {
          if constexpr (i < n_fields)
            {
              constexpr int m_i = Fields::components(i), c0 = Fields::first(i);
              const unsigned int  steps = T.fields[i].face_steps;
              const double *const table =
                T.fields[i].face_values + tile * (steps * 32) + lane;
              evaluate<m_i>(table, steps, a, &u[2 * c0]);
              a += steps * (2 * m_i * 32);
              if constexpr (tangent)
                if (T.field == i)
                  {
                    evaluate<m_i>(table, steps, a, &du[2 * c0]);
                    a += steps * (2 * m_i * 32);
                  }
              evaluate_field_and_rest<i + 1>(tile, a, u, du);
            }
        }

        template <int m_i>
        __device__ __forceinline__ static void
        evaluate(const double      *table,
                 const unsigned int steps,
                 const double      *a,
                 double (*u)[2])
        {
#  pragma unroll 1
          for (unsigned int step = 0; step < steps; ++step)
            {
              const double b = __ldg(table + step * 32);
              TESSELLA_UNROLL_ON_DEVICE
              for (int c = 0; c < m_i; ++c)
                MatrixProducts::add(u[2 * c],
                                    u[2 * c + 1],
                                    a[((step * m_i + c) * 2 + 0) * 32],
                                    a[((step * m_i + c) * 2 + 1) * 32],
                                    b);
            }
        }

        // Calls the functor at point e of this lane; results: entry 2 c + s.
        template <bool at_boundary>
        __device__ __forceinline__ void
        call(OperatorPoint<dim> &p,
             const double        measure,
             const unsigned int  tile,
             const int           e,
             const double (&u)[2 * n_inputs][2],
             const double (&du)[tangent ? 2 * n_inputs : 1][2],
             double (&result)[2 * m][2]) const
        {
          const std::uint64_t number =
            std::uint64_t(facet) * T.n_facet_points +
            min(8 * tile + 2 * column + e, T.n_facet_points - 1);
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            p.x[d] = __ldg(T.mesh.facet_points + (dim + 1) * number + d);
          Numbers v0, dv0, v1, dv1;
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = 0; c < n_inputs; ++c)
            {
              v0.value[c] = u[2 * c][e];
              v1.value[c] = u[2 * c + 1][e];
              if constexpr (tangent)
                {
                  dv0.value[c] = du[2 * c][e];
                  dv1.value[c] = du[2 * c + 1][e];
                }
            }
          const auto write = [&](const auto &r, const int s) {
            Results::template write<PointwiseRows::values>(
              r,
              measure,
              true,
              number,
              T.error,
              [&](const int c, const double value) {
                result[2 * c + s][e] = value;
              });
          };
          if constexpr (at_boundary)
            Results::template call<PointwiseRows::values>(
              v0, dv0, v0, dv0, [&](const auto &w, const auto &, auto &r) {
                Call::boundary_facet(f, p, w, r[0]);
                write(r[0], 0);
                for (int c = 0; c < m; ++c)
                  result[2 * c + 1][e] = 0.;
              });
          else
            Results::template call<PointwiseRows::values>(
              v0, dv0, v1, dv1, [&](const auto &w0, const auto &w1, auto &r) {
                Call::interior_facet(f, p, w0, w1, r[0], r[1]);
                write(r[0], 0);
                write(r[1], 1);
              });
        }

        // Adds the integrals over the points of a tile.
        template <bool at_boundary>
        __device__ __forceinline__ void
        integrate(const unsigned int tile, const double (&r)[2 * m][2])
        {
          const unsigned int  n = T.face_tiles, N = T.n_face_nodes;
          const double *const table = T.face_test + tile * (2 * n * 32) + lane;
          double *const       to    = sums + row * T.facet_pitch;
#  pragma unroll 1
          for (unsigned int i = 0; i < n; ++i)
            {
              const unsigned int node = 8 * i + 2 * column;
              double             c[2 * m][2];
              TESSELLA_UNROLL_ON_DEVICE
              for (int j = 0; j < 2 * m; ++j)
                TESSELLA_UNROLL_ON_DEVICE
              for (int e = 0; e < 2; ++e)
                c[j][e] = tile > 0 && node + e < N
                            ? to[j % 2 * T.record_size + j / 2 * N + node + e]
                            : 0.;
              TESSELLA_UNROLL_ON_DEVICE
              for (int e = 0; e < 2; ++e)
                {
                  const double b = __ldg(table + (e * n + i) * 32);
                  MatrixProducts::add_all(
                    c, [&](const int j) { return r[j][e]; }, b);
                }
              TESSELLA_UNROLL_ON_DEVICE
              for (int j = 0; j < 2 * m; ++j)
                TESSELLA_UNROLL_ON_DEVICE
              for (int e = 0; e < 2; ++e)
                if (node + e < N)
                  to[j % 2 * T.record_size + j / 2 * N + node + e] = c[j][e];
            }
        }

        // Copies the records of the group, which are one after the other.
        __device__ __forceinline__ void
        store() const
        {
          const unsigned int R  = T.record_size;
          double2 *const     to = reinterpret_cast<double2 *>(T.records) +
                              std::size_t(first_slot) * R;
          // 8 lanes for each of 4 facets at once.
          for (unsigned int i = lane >> 3; i < n_present; i += 4)
            {
              const double2 *const from =
                reinterpret_cast<const double2 *>(sums + i * T.facet_pitch);
              for (unsigned int j = lane & 7u; j < R; j += 8)
                to[i * R + j] = from[j];
            }
        }
      };



      /**
       * A functor at the points of 8 simplices, in the same way as on facets,
       * and the sums of the rows of Lagrange polynomials.
       */
      template <int dim, typename F, bool tangent>
      class SimplexResults
      {
      public:
        using Results = PointwiseResults<dim, F, tangent>;
        using Traits  = typename Results::Traits;
        using Call    = PointwiseCall<dim, F>;
        using Fields  = typename Traits::Fields;
        using Numbers = typename Traits::template Input<double>;

        /// @p memory: of this warp.
        __device__
        SimplexResults(const SimplexTask<dim> &task,
                       const F                &f,
                       double                 *memory,
                       const unsigned int      group)
          : T(task)
          , f(f)
          , lane(threadIdx.x & 31u)
          , row(lane >> 2)
          , column(lane & 3u)
          , operands(memory + lane)
          , sums(memory + task.operands)
          , first(group * simplices_of_warp)
          , n_present(min(simplices_of_warp, task.n_simplices - first))
          , simplex(first + min(row, n_present - 1))
        {}

        __device__ void
        run()
        {
          if constexpr (Traits::has_volume)
            {
              load_field_and_rest<0>(operands);
              load_geometry();
              finish_operands();
#  pragma unroll 1
              for (unsigned int tile = 0; tile < T.point_tiles; ++tile)
                evaluate(tile);
            }
          else
            clear();
          __syncwarp();
          if constexpr (Traits::has_interior_facet ||
                        Traits::has_boundary_facet)
            add_faces();
          if (T.basis_degree == 1)
            store_linear();
          else
            {
              if (T.basis_degree == 2)
                change_rows<2>();
              store();
            }
        }

      private:
        static constexpr int m = Traits::n_outputs, n_inputs = Traits::n_inputs,
                             n_fields        = Fields::n_fields;
        static constexpr unsigned int input  = Traits::volume_input,
                                      output = Traits::volume_output;
        static constexpr bool in_values = (input & PointwiseRows::values) != 0,
                              in_gradients =
                                (input & PointwiseRows::gradients) != 0,
                              out_values =
                                (output & PointwiseRows::values) != 0,
                              out_gradients =
                                (output & PointwiseRows::gradients) != 0;
        static constexpr int n_rows = n_used_rows(dim, output);

        // Fields at the points of a tile: values, and derivatives with respect
        // to barycentric coordinates.
        struct Values
        {
          double value[in_values ? n_inputs : 1][2];
          double derivative[in_gradients ? dim : 1][in_gradients ? n_inputs : 1]
                           [2];
        };

        const SimplexTask<dim> &T;
        const F                &f;
        const unsigned int      lane, row, column;
        double *const operands, *const sums;
        const unsigned int first, n_present, simplex;
        double             geometry[dim][dim], measure;

        template <int i>
        __device__ __forceinline__ void
        load_field_and_rest(double *to) const
        {
          if constexpr (i < n_fields)
            {
              constexpr int m_i = Fields::components(i);
              load<m_i>(T.fields[i], to);
              to += T.fields[i].node_steps * (m_i * 32);
              if (tangent && T.field == i)
                {
                  load<m_i>(T.fields[n_fields], to);
                  to += T.fields[i].node_steps * (m_i * 32);
                }
              load_field_and_rest<i + 1>(to);
            }
        }

        template <int m_i>
        __device__ __forceinline__ void
        load(const SimplexField &field, double *to) const
        {
          const unsigned int  N = field.n_nodes;
          const double *const from =
            field.nodal + std::size_t(simplex) * (m_i * N);
#  pragma unroll 1
          for (unsigned int step = 0; step < field.node_steps; ++step)
            {
              const unsigned int i = 4 * step + column;
              TESSELLA_UNROLL_ON_DEVICE
              for (int c = 0; c < m_i; ++c)
                copy_operand(to + (step * m_i + c) * 32,
                             from + c * N + min(i, N - 1),
                             i < N);
            }
        }

        __device__ __forceinline__ void
        load_geometry()
        {
          const double *const data =
            T.geometry + std::size_t(simplex) * (dim * dim + 1);
          if (in_gradients || out_gradients)
            {
              TESSELLA_UNROLL_ON_DEVICE
              for (int a = 0; a < dim; ++a)
                TESSELLA_UNROLL_ON_DEVICE
              for (int d = 0; d < dim; ++d)
                geometry[a][d] = __ldg(data + a * dim + d);
            }

          measure = __ldg(data + dim * dim);
        }

        __device__ __forceinline__ void
        evaluate(const unsigned int tile)
        {
          Values u, du;
          evaluate_field_and_rest<0>(tile, operands, u, du);
          OperatorPoint<dim> p;
          p.t = T.t;
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            p.normal[d] = 0.;
          p.penalty     = 0.;
          p.facet       = invalid_index;
          p.boundary_id = invalid_index;
          p.polytope[0] = simplex;
          p.h[0]        = T.mesh.length[simplex];
          p.subcell[0]  = simplex;
          p.material[0] = T.mesh.subcell_material[simplex];
          double r[n_rows > 0 ? n_rows : 1][m][2];
          TESSELLA_UNROLL_ON_DEVICE
          for (int e = 0; e < 2; ++e)
            call(p, tile, e, u, du, r);
          integrate(tile, r);
        }

        template <int i>
        __device__ __forceinline__ void
        evaluate_field_and_rest(const unsigned int tile,
                                const double      *a,
                                Values            &u,
                                Values            &du) const
        {
          if constexpr (i < n_fields)
            {
              constexpr int m_i = Fields::components(i), c0 = Fields::first(i);
              const SimplexField &field = T.fields[i];
              evaluate_field<m_i, c0>(field, tile, a, u);
              a += field.node_steps * (m_i * 32);
              if constexpr (tangent)
                {
                  if (T.field == i)
                    {
                      evaluate_field<m_i, c0>(field, tile, a, du);
                      a += field.node_steps * (m_i * 32);
                    }
                  else
                    clear_field<m_i, c0>(du);
                }
              evaluate_field_and_rest<i + 1>(tile, a, u, du);
            }
        }

        template <int m_i, int c0>
        __device__ __forceinline__ static void
        clear_field(Values &u)
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = c0; c < c0 + m_i; ++c)
            TESSELLA_UNROLL_ON_DEVICE
          for (int e = 0; e < 2; ++e)
            {
              if constexpr (in_values)
                u.value[c][e] = 0.;
              if constexpr (in_gradients)
                {
                  TESSELLA_UNROLL_ON_DEVICE
                  for (int d = 0; d < dim; ++d)
                    u.derivative[d][c][e] = 0.;
                }
            }
        }

        template <int m_i, int c0>
        __device__ __forceinline__ void
        evaluate_field(const SimplexField &field,
                       const unsigned int  tile,
                       const double       *a,
                       Values             &u) const
        {
          clear_field<m_i, c0>(u);
          const unsigned int  steps = field.node_steps;
          const double *const values =
                                field.values + tile * (steps * 32) + lane,
                              *const derivatives = field.derivatives +
                                                   tile * (dim * steps * 32) +
                                                   lane;
#  pragma unroll 1
          for (unsigned int step = 0; step < steps; ++step)
            {
              const auto add = [&](double(*to)[2], const double b) {
                TESSELLA_UNROLL_ON_DEVICE
                for (int c = 0; c + 1 < m_i; c += 2)
                  MatrixProducts::add(to[c],
                                      to[c + 1],
                                      a[(step * m_i + c) * 32],
                                      a[(step * m_i + c + 1) * 32],
                                      b);
                if (m_i % 2 == 1)
                  MatrixProducts::add(to[m_i - 1],
                                      a[(step * m_i + m_i - 1) * 32],
                                      b);
              };
              if constexpr (in_values)
                add(&u.value[c0], __ldg(values + step * 32));
              if constexpr (in_gradients)
                {
                  TESSELLA_UNROLL_ON_DEVICE
                  for (int d = 0; d < dim; ++d)
                    add(&u.derivative[d][c0],
                        __ldg(derivatives + (d * steps + step) * 32));
                }
            }
        }

        // Values and gradients at point e of this lane.
        __device__ __forceinline__ void
        set_numbers(const Values &u, const int e, Numbers &v) const
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = 0; c < n_inputs; ++c)
            {
              if constexpr (in_values)
                v.value[c] = u.value[c][e];
              if constexpr (in_gradients)
                {
                  TESSELLA_UNROLL_ON_DEVICE
                  for (int d = 0; d < dim; ++d)
                    {
                      v.gradient[c][d] = geometry[0][d] * u.derivative[0][c][e];
                      TESSELLA_UNROLL_ON_DEVICE
                      for (int a = 1; a < dim; ++a)
                        v.gradient[c][d] = fma(geometry[a][d],
                                               u.derivative[a][c][e],
                                               v.gradient[c][d]);
                    }
                }
            }
        }

        // Calls the functor at point e of this lane. Results against
        // derivatives with respect to x become results against those with
        // respect to barycentric coordinates.
        __device__ __forceinline__ void
        call(OperatorPoint<dim> &p,
             const unsigned int  tile,
             const int           e,
             const Values       &u,
             const Values       &du,
             double (&result)[n_rows > 0 ? n_rows : 1][m][2]) const
        {
          const std::uint64_t number =
            std::uint64_t(simplex) * T.n_points +
            min(8 * tile + 2 * column + e, T.n_points - 1);
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            p.x[d] = __ldg(T.mesh.volume_points + (dim + 1) * number + d);
          Numbers v, dv;
          set_numbers(u, e, v);
          if constexpr (tangent)
            set_numbers(du, e, dv);
          double terms[n_rows > 0 ? m * n_rows : 1];
          Results::template call<input>(
            v, dv, v, dv, [&](const auto &w, const auto &, auto &r) {
              Call::volume(f, p, w, r[0]);
              Results::template write<output>(
                r[0],
                measure,
                false,
                number,
                T.error,
                [&](const int i, const double value) { terms[i] = value; });
            });
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = 0; c < m; ++c)
            {
              if constexpr (out_values)
                result[0][c][e] = terms[c * n_rows];
              if constexpr (out_gradients)
                {
                  TESSELLA_UNROLL_ON_DEVICE
                  for (int a = 0; a < dim; ++a)
                    {
                      const double *const g = terms + c * n_rows + n_rows - dim;
                      double              sum = geometry[a][0] * g[0];
                      TESSELLA_UNROLL_ON_DEVICE
                      for (int d = 1; d < dim; ++d)
                        sum = fma(geometry[a][d], g[d], sum);
                      result[n_rows - dim + a][c][e] = sum;
                    }
                }
            }
        }

        __device__ __forceinline__ void
        integrate(const unsigned int tile,
                  const double (&r)[n_rows > 0 ? n_rows : 1][m][2])
        {
          const unsigned int N  = T.n_nodes;
          double *const      to = sums + row * T.pitch;
          const double      *next =
            T.test + std::size_t(tile) * T.node_tiles * ((dim + 1) * 2 * 32) +
            lane;
#  pragma unroll 1
          for (unsigned int i = 0; i < T.node_tiles;
               ++i, next += (dim + 1) * 2 * 32)
            {
              const unsigned int node = 8 * i + 2 * column;
              double             c[m][2];
              TESSELLA_UNROLL_ON_DEVICE
              for (int j = 0; j < m; ++j)
                TESSELLA_UNROLL_ON_DEVICE
              for (int e = 0; e < 2; ++e)
                c[j][e] = tile > 0 && node + e < N ? to[j * N + node + e] : 0.;
              TESSELLA_UNROLL_ON_DEVICE
              for (int k = 0; k < n_rows; ++k)
                TESSELLA_UNROLL_ON_DEVICE
              for (int e = 0; e < 2; ++e)
                {
                  // Row 0 of the table has values.
                  constexpr int shift = out_values ? 0 : 1;
                  const double  b = __ldg(next + ((k + shift) * 2 + e) * 32);
                  MatrixProducts::add_all(
                    c, [&](const int j) { return r[k][j][e]; }, b);
                }
              TESSELLA_UNROLL_ON_DEVICE
              for (int j = 0; j < m; ++j)
                TESSELLA_UNROLL_ON_DEVICE
              for (int e = 0; e < 2; ++e)
                if (node + e < N)
                  to[j * N + node + e] = c[j][e];
            }
        }

        __device__ __forceinline__ void
        clear()
        {
          for (unsigned int i = lane; i < simplices_of_warp * T.pitch; i += 32)
            sums[i] = 0.;
        }

        // Adds the records of all faces, in their order. A lane adds the terms
        // of every fourth node of its simplex.
        __device__ __forceinline__ void
        add_faces() const
        {
          const unsigned int N = T.n_nodes, n = T.n_face_nodes;
          const uint4        data =
            __ldg(reinterpret_cast<const uint4 *>(T.face_records) + simplex);
          const unsigned int code[4] = {data.x, data.y, data.z, data.w};
#  pragma unroll 1
          for (unsigned int node = column; node < N; node += 4)
            {
              double *const to = sums + row * T.pitch + node;
              double        values[dim + 1][m], sum[m];
              TESSELLA_UNROLL_ON_DEVICE
              for (int a = 0; a <= dim; ++a)
                {
                  const unsigned int i =
                    __ldg(T.face_position + (code[a] & 31u) * N + node);
                  const bool present = i != T.none && is_present(code[a]);
                  const double *const from =
                    T.records + std::size_t(code[a] >> 5) * T.record_size + i;
                  TESSELLA_UNROLL_ON_DEVICE
                  for (int c = 0; c < m; ++c)
                    values[a][c] = present ? __ldg(from + c * n) : 0.;
                }
              TESSELLA_UNROLL_ON_DEVICE
              for (int c = 0; c < m; ++c)
                sum[c] = to[c * N];
              TESSELLA_UNROLL_ON_DEVICE
              for (int a = 0; a <= dim; ++a)
                TESSELLA_UNROLL_ON_DEVICE
              for (int c = 0; c < m; ++c)
                sum[c] += values[a][c];
              TESSELLA_UNROLL_ON_DEVICE
              for (int c = 0; c < m; ++c)
                to[c * N] = sum[c];
            }
          __syncwarp();
        }

        // Replaces rows of Lagrange polynomials by those of basis functions; a
        // lane takes a component of a simplex.
        template <int degree>
        __device__ __forceinline__ void
        change_rows() const
        {
          for (unsigned int i = lane; i < n_present * m; i += 32)
            {
              double *const rows = sums + i / m * T.pitch + i % m * T.n_nodes;
              BoxPolynomials<dim, degree>(T.corners,
                                          T.corner_stride,
                                          first + i / m)
                .change_rows(
                  T.nodes,
                  [&](const int j) { return rows[j]; },
                  [&](const int j, const double value) { rows[j] = value; });
            }
          __syncwarp();
        }

        // Whether the functor has terms on this kind of facet.
        __device__ __forceinline__ bool
        is_present(const unsigned int code) const
        {
          if (Traits::has_interior_facet && Traits::has_boundary_facet)
            return true;
          const bool interior =
            (code >> 6) < T.n_interior_groups() * simplices_of_warp;
          return interior ? Traits::has_interior_facet
                          : Traits::has_boundary_facet;
        }

        // Stores rows of linear basis functions: the nodes are the vertices,
        // and a lane has the function i, a constant or the coordinate i - 1 of
        // the bounding box.
        __device__ __forceinline__ void
        store_linear() const
        {
          const unsigned int i = column;
          if (i > dim || row >= n_present)
            return;
          const std::size_t   n     = T.corner_stride;
          const double *const x     = T.corners + simplex;
          const double        scale = __ldg(x + (dim + 1) * dim * n) *
                               (i == 0 ? 1. : Legendre::internal::scale(1));
          double basis[dim + 1];
          TESSELLA_UNROLL_ON_DEVICE
          for (int v = 0; v <= dim; ++v)
            basis[v] =
              scale * (i == 0 ? 1. : __ldg(x + (v * dim + (i - 1)) * n));
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = 0; c < m; ++c)
            {
              const double *const rows = sums + row * T.pitch + c * (dim + 1);
              double              sum  = basis[0] * rows[0];
              TESSELLA_UNROLL_ON_DEVICE
              for (int v = 1; v <= dim; ++v)
                sum = fma(basis[v], rows[v], sum);
              T.result[(std::size_t(simplex) * m + c) * (dim + 1) + i] = sum;
            }
        }

        // Stores all rows as they are.
        __device__ __forceinline__ void
        store() const
        {
          const unsigned int N = T.n_nodes;
          if (row < n_present)
            for (unsigned int i = column; i < N; i += 4)
              {
                TESSELLA_UNROLL_ON_DEVICE
                for (int c = 0; c < m; ++c)
                  T.result[(std::size_t(simplex) * m + c) * N + i] =
                    sums[row * T.pitch + c * N + i];
              }
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

#endif
