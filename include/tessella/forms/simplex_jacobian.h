// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_simplex_jacobian_h
#define tessella_forms_simplex_jacobian_h

#include <tessella/forms/pointwise_call.h>
#include <tessella/forms/pointwise_evaluation.h>
#include <tessella/portable/matrix_products.h>

// Jacobian of a pointwise operator on conforming affine simplices on a device.

#ifdef __CUDACC__

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// A number in shared memory, with an offset in doubles that the compiler
      /// knows, so that it needs no arithmetic.
      template <int offset = 0>
      __device__ __forceinline__ double
      load_shared(const unsigned int address)
      {
        double result;
        asm volatile("ld.shared.f64 %0, [%1+%2];"
                     : "=d"(result)
                     : "r"(address), "n"(8 * offset));
        return result;
      }



      /**
       * Block row of one simplex with test functions of the given degree,
       * computed by a thread block. Lanes evaluate basis functions and fields
       * at points and sides, then the functor with dual numbers, on a facet
       * with respect to one component on both sides. The blocks of all pairs of
       * components, one below the other, are a matrix with m^2 N rows, of which
       * a warp computes some tiles of 8 x 8 entries: products of test functions
       * and derivatives, which it makes in registers, are one operand of the
       * matrix units, for all columns; trial functions are the other one.
       * Distances in shared memory are known to the compiler.
       */
      template <int dim, typename F, int degree>
      class SimplexJacobian
      {
      public:
        using Traits = PointwiseTraits<dim, F>;
        using Call   = PointwiseCall<dim, F>;
        using Fields = typename Traits::Fields;

        __device__
        SimplexJacobian(const SimplexJacobianTask<dim> &task,
                        const F                        &f,
                        double                         *memory,
                        const unsigned int              simplex)
          : T(task)
          , f(f)
          , thread(threadIdx.x)
          , n_threads(blockDim.x)
          , k(simplex)
          , faces(reinterpret_cast<Face *>(memory))
          , facet_derivatives(memory + n_faces * simplex_face_size)
          , facet_functions(facet_derivatives +
                            (T.n_facet_points * n_faces + 3) * facet_distance)
          , facet_inputs(facet_functions + (T.n_facet_points * n_faces + 3) *
                                             facet_function_distance)
          , volume_derivatives(facet_inputs +
                               2 * n_faces * T.n_facet_points * n_inputs)
          , volume_functions(volume_derivatives +
                             (T.n_volume_points + 3) * volume_distance)
          , volume_inputs(volume_functions +
                          (T.n_volume_points + 3) * volume_function_distance)
        {}

        __device__ void
        run()
        {
          if (thread < n_faces)
            set_face(thread);
          clear_ends();
          __syncthreads();
          evaluate();
          __syncthreads();
          differentiate();
          __syncthreads();
          add_chunks();
        }

      private:
        static constexpr int m = Traits::n_outputs, n_inputs = Traits::n_inputs,
                             N = static_cast<int>(
                               Legendre::n_functions(dim, degree, false)),
                             n_in  = n_used_rows(dim, Traits::volume_input),
                             n_out = n_used_rows(dim, Traits::volume_output);
        // Tiles of columns and of rows that a warp computes at once; rows are
        // shared evenly.
        static constexpr int n_columns   = (N + 7) / 8 < 3 ? (N + 7) / 8 : 3,
                             n_tiles     = (m * m * N + 7) / 8,
                             n_chunks    = n_tiles < 2     ? 1
                                           : n_tiles <= 16 ? 2
                                                           : (n_tiles + 7) / 8,
                             n_rows      = (n_tiles + n_chunks - 1) / n_chunks;
        static constexpr bool gradients  = ((Traits::volume_input |
                                            Traits::volume_output) &
                                           PointwiseRows::gradients) != 0,
                              has_facets = Traits::has_interior_facet ||
                                           Traits::has_boundary_facet,
                              has_volume =
                                Traits::has_volume && n_in * n_out > 0;
        static constexpr unsigned int n_faces         = dim + 1,
                                      facet_distance  = 2 * m * m,
                                      volume_distance = m * m * n_in * n_out,
                                      facet_function_distance =
                                        simplex_function_distance(2 * N),
                                      volume_function_distance =
                                        simplex_function_distance(
                                          (gradients ? dim + 1 : 1) * N);

        // A face of the simplex; side 0 is that of the facet, not that of the
        // simplex.
        struct Face
        {
          double       normal[dim], penalty, h[2];
          unsigned int facet, side, column, shift, boundary_id, boundary;
          unsigned int polytope[2], material[2], subcell[2];
        };
        static_assert(sizeof(Face) <= simplex_face_size * sizeof(double),
                      "The memory of a face is too small.");

        // Sums of a warp, and for each tile the place of this lane's row in the
        // matrix, its pair of components and test function.
        struct Tiles
        {
          unsigned int row, column;
          unsigned int place[n_rows], pair[n_rows], function[n_rows];
          double       sum[n_columns][n_rows][2];
        };

        const SimplexJacobianTask<dim> &T;
        const F                        &f;
        const unsigned int              thread, n_threads, k;
        Face *const                     faces;
        double *const facet_derivatives, *const facet_functions,
                                           *const       facet_inputs,
                                             *const     volume_derivatives,
                                               *const   volume_functions,
                                                 *const volume_inputs;

        __device__ void
        set_face(const unsigned int a) const
        {
          const SimplexJacobianFace data  = T.faces[n_faces * k + a];
          const PointwiseFacet     &facet = T.mesh.facets[data.facet];
          Face                     &face  = faces[a];
          face.facet                      = data.facet;
          face.side                       = data.side;
          face.column                     = data.column;
          face.shift                      = facet.shift;
          face.penalty                    = facet.penalty;
          face.boundary_id                = facet.boundary_id;
          face.boundary = facet.polytope[1] == invalid_index ? 1 : 0;
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            face.normal[d] =
              T.mesh.normals[std::size_t(dim) * facet.first_normal + d];
          TESSELLA_UNROLL_ON_DEVICE
          for (int s = 0; s < 2; ++s)
            {
              const unsigned int of =
                face.boundary == 1 ? facet.polytope[0] : facet.polytope[s];
              face.polytope[s] = of;
              face.h[s]        = T.mesh.length[of];
              face.subcell[s]  = facet.subcell[face.boundary == 1 ? 0 : s];
              face.material[s] = T.mesh.subcell_material[face.subcell[s]];
            }
        }

        // Sums take four points at once and may read beyond the last one.
        __device__ void
        clear_ends() const
        {
          const unsigned int n_f = T.n_facet_points * n_faces,
                             n_v = T.n_volume_points;
          const auto clear       = [&](double *data, const unsigned int n) {
            for (unsigned int i = thread; i < n; i += n_threads)
              data[i] = 0.;
          };
          clear(facet_derivatives + n_f * facet_distance, 3 * facet_distance);
          clear(facet_functions + n_f * facet_function_distance,
                3 * facet_function_distance);
          clear(volume_derivatives + n_v * volume_distance,
                3 * volume_distance);
          clear(volume_functions + n_v * volume_function_distance,
                3 * volume_function_distance);
        }

        // Basis functions and fields at all points.
        __device__ void
        evaluate() const
        {
          if constexpr (has_facets)
            {
              for (unsigned int i = thread; i < 2 * n_faces * T.n_facet_points;
                   i += n_threads)
                evaluate_facet(i >> 1, i & 1u);
            }
          if constexpr (has_volume)
            {
              for (unsigned int q = n_threads - 1 - thread;
                   q < T.n_volume_points;
                   q += n_threads)
                evaluate_volume(q);
            }
        }

        // h = 0: this simplex, 1: the neighbour.
        __device__ __forceinline__ void
        evaluate_facet(const unsigned int point, const unsigned int h) const
        {
          const unsigned int a    = point / T.n_facet_points;
          const Face        &face = faces[a];
          double *const      to =
            facet_functions + point * facet_function_distance + h * N;
          if (face.boundary == 1 && h == 1)
            {
              for (int j = 0; j < N; ++j)
                to[j] = 0.;
              return;
            }
          const unsigned int  s = h ^ face.side;
          const double *const from =
            facet_point(face, point - a * T.n_facet_points);
          double x[dim];
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            x[d] = __ldg(from + d);
          if (s == 1 && face.shift != 0)
            {
              for (int d = 0; d < dim; ++d)
                x[d] += __ldg(T.mesh.shift + face.shift * dim + d);
            }
          evaluate_point<Traits::facet_input, false>(
            s == 0 ? face.polytope[0] : face.polytope[1],
            x,
            to,
            facet_inputs + (2 * point + h) * n_inputs);
        }

        __device__ __forceinline__ void
        evaluate_volume(const unsigned int q) const
        {
          const double *const from = volume_point(q);
          double              x[dim];
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            x[d] = __ldg(from + d);
          evaluate_point<Traits::volume_input, gradients>(
            k,
            x,
            volume_functions + q * volume_function_distance,
            volume_inputs + q * (n_inputs * n_in));
        }

        // Coordinates and weight of a point.
        __device__ __forceinline__ const double *
        facet_point(const Face &face, const unsigned int q) const
        {
          return T.mesh.facet_points +
                 (dim + 1) * (std::uint64_t(face.facet) * T.n_facet_points + q);
        }
        __device__ __forceinline__ const double *
        volume_point(const unsigned int q) const
        {
          return T.mesh.volume_points +
                 (dim + 1) * (std::uint64_t(k) * T.n_volume_points + q);
        }

        template <unsigned int rows, bool with_gradients>
        __device__ __forceinline__ void
        evaluate_point(const unsigned int polytope,
                       const double (&x)[dim],
                       double *functions,
                       double *values) const
        {
          double frame[2 * dim + 1];
          TESSELLA_UNROLL_ON_DEVICE
          for (int i = 0; i < 2 * dim + 1; ++i)
            frame[i] =
              __ldg(T.mesh.frames + std::size_t(polytope) * (2 * dim + 1) + i);
          int i = 0;
          for_low_degree<dim, degree>(FunctionTable<dim, degree + 1>(frame, x),
                                      [&](const double phi,
                                          const double(&d_phi)[dim]) {
                                        functions[i] = phi;
                                        if constexpr (with_gradients)
                                          {
                                            TESSELLA_UNROLL_ON_DEVICE
                                            for (int d = 0; d < dim; ++d)
                                              functions[(d + 1) * N + i] =
                                                d_phi[d];
                                          }
                                        ++i;
                                      });
          evaluate_field_and_rest<0, rows>(polytope, frame, x, values);
        }

        // Values of field i and of those that follow.
        template <int i, unsigned int rows>
        __device__ __forceinline__ void
        evaluate_field_and_rest(const unsigned int polytope,
                                const double (&frame)[2 * dim + 1],
                                const double (&x)[dim],
                                double *values) const
        {
          if constexpr (i < Fields::n_fields)
            {
              constexpr int m_i                   = Fields::components(i),
                            n_r                   = n_used_rows(dim, rows);
              const PointwiseField         &field = T.given_fields[i];
              const VectorCoefficients<m_i> coefficients(
                field.coefficients + field.dof_offset[polytope],
                T.field_basis[i]);
              double value[m_i], gradient[m_i][dim];
              TESSELLA_UNROLL_ON_DEVICE
              for (int c = 0; c < m_i; ++c)
                {
                  value[c] = 0.;
                  TESSELLA_UNROLL_ON_DEVICE
                  for (int d = 0; d < dim; ++d)
                    gradient[c][d] = 0.;
                }
              const auto evaluate = [&](const auto p) {
                evaluate_low_degree<dim, m_i, rows, decltype(p)::value>(
                  frame, coefficients, x, value, gradient);
              };
              // One field is in the space of the test functions.
              if (Fields::n_fields == 1 || T.field_degree[i] == degree)
                evaluate(Number<degree>());
              else
                switch (T.field_degree[i])
                  {
                    case 0:
                      evaluate(Number<0>());
                      break;
                    case 1:
                      evaluate(Number<1>());
                      break;
                    case 2:
                      evaluate(Number<2>());
                      break;
                    case 3:
                      evaluate(Number<3>());
                      break;
                    default:
                      evaluate(Number<4>());
                  }
              TESSELLA_UNROLL_ON_DEVICE
              for (int c = 0; c < m_i; ++c)
                {
                  double *const to = values + (Fields::first(i) + c) * n_r;
                  if constexpr ((rows & PointwiseRows::values) != 0)
                    to[0] = value[c];
                  if constexpr ((rows & PointwiseRows::gradients) != 0)
                    {
                      TESSELLA_UNROLL_ON_DEVICE
                      for (int d = 0; d < dim; ++d)
                        to[n_r - dim + d] = gradient[c][d];
                    }
                }
              evaluate_field_and_rest<i + 1, rows>(polytope, frame, x, values);
            }
        }

        template <int n>
        struct Number
        {
          static constexpr int value = n;
        };

        // ---- derivatives
        __device__ void
        differentiate() const
        {
          if constexpr (has_facets)
            {
              for (unsigned int i = thread; i < n_faces * T.n_facet_points * m;
                   i += n_threads)
                differentiate_facet(i / m, i % m);
            }
          if constexpr (has_volume)
            {
              for (unsigned int i = n_threads - 1 - thread;
                   i < T.n_volume_points * (m * n_in);
                   i += n_threads)
                differentiate_volume(i / (m * n_in), i % (m * n_in));
            }
        }

        // Dual numbers whose derivative l is one for the given row of all
        // fields; the others are zero.
        template <unsigned int rows, int n>
        __device__ __forceinline__ static void
        set_direction(const double                           *values,
                      const int                               direction,
                      const int                               l,
                      PointwiseTerms<dim, n_inputs, Dual<n>> &u)
        {
          for_rows<dim, rows>(u, n_inputs, [&](Dual<n> &entry, const int row) {
            entry.value = values[row];
            TESSELLA_UNROLL_ON_DEVICE
            for (int i = 0; i < n; ++i)
              entry.derivative[i] = i == l && row == direction ? 1. : 0.;
          });
        }
        template <int n>
        __device__ __forceinline__ static void
        set_zero(PointwiseTerms<dim, m, Dual<n>> &r)
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = 0; c < m; ++c)
            {
              r.value[c] = 0.;
              TESSELLA_UNROLL_ON_DEVICE
              for (int d = 0; d < dim; ++d)
                r.gradient[c][d] = 0.;
            }
        }

        // Derivatives with respect to a component on both sides: derivative l
        // of a dual number is that on side l.
        __device__ __forceinline__ void
        differentiate_facet(const unsigned int point,
                            const unsigned int c2) const
        {
          const unsigned int              n = T.n_facet_points, a = point / n;
          const Face                     &face = faces[a];
          PointwiseTerms<dim, m, Dual<2>> r0, r1;
          set_zero(r0);
          set_zero(r1);
          const double *const x = facet_point(face, point - a * n);
          OperatorPoint<dim>  p;
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            {
              p.x[d]      = __ldg(x + d);
              p.normal[d] = face.normal[d];
            }
          p.t           = T.t;
          p.penalty     = face.penalty;
          p.facet       = face.facet;
          p.boundary_id = face.boundary_id;
          TESSELLA_UNROLL_ON_DEVICE
          for (int s = 0; s < 2; ++s)
            {
              p.polytope[s] = face.polytope[s];
              p.h[s]        = face.h[s];
              p.subcell[s]  = face.subcell[s];
              p.material[s] = face.material[s];
            }
          const int direction = static_cast<int>(T.first_component + c2);
          // Side h of the inputs is this simplex or the neighbour.
          const double *const values = facet_inputs + 2 * point * n_inputs;
          PointwiseTerms<dim, n_inputs, Dual<2>> u0, u1;
          set_direction<Traits::facet_input>(values + face.side * n_inputs,
                                             direction,
                                             0,
                                             u0);
          if (face.boundary == 1)
            {
              if constexpr (Traits::has_boundary_facet)
                Call::boundary_facet(f, p, u0, r0);
            }
          else if constexpr (Traits::has_interior_facet)
            {
              set_direction<Traits::facet_input>(
                values + (1 - face.side) * n_inputs, direction, 1, u1);
              Call::interior_facet(f, p, u0, u1, r0, r1);
            }
          const double  weight = __ldg(x + dim);
          const bool    first  = face.side == 0;
          double *const to = facet_derivatives + point * facet_distance + c2;
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = 0; c < m; ++c)
            {
              // Selected by values, since addresses would need local memory.
              const Dual<2> &a = r0.value[c], &b = r1.value[c];
              to[c * m] = weight * (first ? a.derivative[0] : b.derivative[1]);
              to[(m + c) * m] =
                weight * (first ? a.derivative[1] : b.derivative[0]);
            }
        }

        __device__ __forceinline__ void
        differentiate_volume(const unsigned int q, const unsigned int row) const
        {
          const double *const x = volume_point(q);
          OperatorPoint<dim>  p;
          TESSELLA_UNROLL_ON_DEVICE
          for (int d = 0; d < dim; ++d)
            {
              p.x[d]      = __ldg(x + d);
              p.normal[d] = 0.;
            }
          p.t           = T.t;
          p.penalty     = 0.;
          p.facet       = invalid_index;
          p.boundary_id = invalid_index;
          p.polytope[0] = k;
          p.h[0]        = T.mesh.length[k];
          p.subcell[0]  = k;
          p.material[0] = T.mesh.subcell_material[k];
          PointwiseTerms<dim, n_inputs, Dual<1>> u;
          PointwiseTerms<dim, m, Dual<1>>        r;
          set_direction<Traits::volume_input>(
            volume_inputs + q * (n_inputs * n_in),
            static_cast<int>(T.first_component * n_in + row),
            0,
            u);
          set_zero(r);
          Call::volume(f, p, u, r);
          const double  weight = __ldg(x + dim);
          double *const to =
            volume_derivatives + q * volume_distance + row * n_out;
          for_rows<dim, Traits::volume_output>(
            r, m, [&](const Dual<1> &entry, const int i) {
              to[i / n_out * (m * n_in * n_out) + i % n_out] =
                weight * entry.derivative[0];
            });
        }

        // ---- entries
        __device__ void
        add_chunks() const
        {
          constexpr unsigned int height = 8 * n_rows, width = 8 * n_columns,
                                 n_strips = (N + width - 1) / width;
          const unsigned int lane         = thread % 32;
          for (unsigned int task = thread / 32; task < n_chunks * n_strips;
               task += n_threads / 32)
            {
              Tiles tiles;
              tiles.row    = task % n_chunks * height + lane / 4;
              tiles.column = n_strips == 1 ? 0 : task / n_chunks * width;
              const unsigned int length = T.row_width[k];
              TESSELLA_UNROLL_ON_DEVICE
              for (int t = 0; t < n_rows; ++t)
                {
                  // Rows beyond the last one repeat it and are not stored.
                  const unsigned int row =
                                       min(tiles.row + 8 * t, m * m * N - 1u),
                                     pair = row / N, c = pair / m;
                  tiles.pair[t]     = pair;
                  tiles.function[t] = row - pair * N;
                  tiles.place[t]    = (c * N + tiles.function[t]) * length +
                                   (pair - c * m) * N + tiles.column +
                                   lane % 4 * 2;
                }
              clear(tiles);
              if constexpr (has_volume)
                add_volume(tiles);
              if constexpr (has_facets)
                add_facets(0, n_faces * T.n_facet_points, 0, tiles);
              store(T.diagonal_only ? 0 : T.diagonal[k], tiles);
              if (!T.diagonal_only)
#  pragma unroll 1
                for (unsigned int a = 0; a < n_faces; ++a)
                  if (faces[a].boundary == 0)
                    {
                      clear(tiles);
                      if constexpr (Traits::has_interior_facet)
                        add_facets(a * T.n_facet_points,
                                   T.n_facet_points,
                                   1,
                                   tiles);
                      store(faces[a].column, tiles);
                    }
            }
        }

        __device__ __forceinline__ static void
        clear(Tiles &tiles)
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (auto &row : tiles.sum)
            TESSELLA_UNROLL_ON_DEVICE
          for (auto &sum : row)
            sum[0] = sum[1] = 0.;
        }

        __device__ __forceinline__ void
        add_volume(Tiles &tiles) const
        {
          constexpr int in0 =
                          (Traits::volume_input & PointwiseRows::values) != 0
                            ? 0
                            : N,
                        out0 =
                          (Traits::volume_output & PointwiseRows::values) != 0
                            ? 0
                            : N;
          add_points<n_in, n_out, volume_distance, volume_function_distance>(
            T.n_volume_points,
            volume_derivatives,
            volume_functions + out0,
            volume_functions + in0,
            tiles);
        }

        // Trial functions of this simplex (h = 0) or of neighbours.
        __device__ __forceinline__ void
        add_facets(const unsigned int first,
                   const unsigned int n,
                   const unsigned int h,
                   Tiles             &tiles) const
        {
          const double *const functions =
            facet_functions + first * facet_function_distance;
          add_points<1, 1, facet_distance, facet_function_distance>(
            n,
            facet_derivatives + first * facet_distance + h * (m * m),
            functions,
            functions + h * N,
            tiles);
        }

        template <int inputs, int outputs, int distance, int function_distance>
        __device__ __forceinline__ void
        add_points(const unsigned int  n,
                   const double *const derivatives,
                   const double *const test,
                   const double *const trial,
                   Tiles              &tiles) const
        {
          const auto address = [](const double *p) {
            return static_cast<unsigned int>(__cvta_generic_to_shared(p));
          };
          const unsigned int lane = thread % 32, q = lane % 4;
          unsigned int       D[n_rows], phi[n_rows],
            psi =
              address(trial + q * function_distance + tiles.column + lane / 4);
          TESSELLA_UNROLL_ON_DEVICE
          for (int t = 0; t < n_rows; ++t)
            {
              D[t] = address(derivatives + q * distance +
                             tiles.pair[t] * (inputs * outputs));
              phi[t] =
                address(test + q * function_distance + tiles.function[t]);
            }
          const auto step = [&](const bool present) {
            add_row<0, inputs, outputs>(D, phi, psi, present, tiles);
            TESSELLA_UNROLL_ON_DEVICE
            for (int t = 0; t < n_rows; ++t)
              {
                D[t] += 4 * 8 * distance;
                phi[t] += 4 * 8 * function_distance;
              }
            psi += 4 * 8 * function_distance;
          };
#  pragma unroll 1
          for (unsigned int i = 0; i < n / 4; ++i)
            step(true);
          if (n % 4 != 0)
            step(q < n % 4);
        }

        // Row s of the trial functions and those that follow, at four points.
        template <int s, int inputs, int outputs>
        __device__ __forceinline__ static void
        add_row(const unsigned int (&D)[n_rows],
                const unsigned int (&phi)[n_rows],
                const unsigned int psi,
                const bool         present,
                Tiles             &tiles)
        {
          if constexpr (s < inputs)
            {
              double a[n_rows], b[n_columns];
              TESSELLA_UNROLL_ON_DEVICE
              for (int t = 0; t < n_rows; ++t)
                a[t] = sum_of_rows<s * outputs, outputs>(D[t], phi[t]);
              set_trial<s, 0>(psi, present, b);
              TESSELLA_UNROLL_ON_DEVICE
              for (int u = 0; u < n_columns; ++u)
                MatrixProducts::add_all(
                  tiles.sum[u], [&](const int t) { return a[t]; }, b[u]);
              add_row<s + 1, inputs, outputs>(D, phi, psi, present, tiles);
            }
        }

        template <int first, int outputs>
        __device__ __forceinline__ static double
        sum_of_rows(const unsigned int D, const unsigned int phi)
        {
          double sum = load_shared<first>(D) * load_shared(phi);
          if constexpr (outputs > 1)
            sum = fma(load_shared<first + 1>(D), load_shared<N>(phi), sum);
          if constexpr (outputs > 2)
            sum = fma(load_shared<first + 2>(D), load_shared<2 * N>(phi), sum);
          if constexpr (outputs > 3)
            sum = fma(load_shared<first + 3>(D), load_shared<3 * N>(phi), sum);
          return sum;
        }

        template <int s, int u>
        __device__ __forceinline__ static void
        set_trial(const unsigned int psi,
                  const bool         present,
                  double (&b)[n_columns])
        {
          if constexpr (u < n_columns)
            {
              const double value = load_shared<s * N + 8 * u>(psi);
              b[u]               = present ? value : 0.;
              set_trial<s, u + 1>(psi, present, b);
            }
        }

        __device__ __forceinline__ void
        store(const unsigned int column, const Tiles &tiles) const
        {
          double *const to =
            T.values + (T.value_offset[k] - T.first_value) + column;
          const unsigned int j = tiles.column + thread % 4 * 2;
          TESSELLA_UNROLL_ON_DEVICE
          for (int t = 0; t < n_rows; ++t)
            if (tiles.row + 8 * t < m * m * N)
              TESSELLA_UNROLL_ON_DEVICE
          for (int u = 0; u < n_columns; ++u)
            {
              double *const entry   = to + tiles.place[t] + 8 * u;
              const double(&sum)[2] = tiles.sum[u][t];
              // All offsets are even if N is.
              if constexpr (N % 2 == 0)
                {
                  if (j + 8 * u < N)
                    *reinterpret_cast<double2 *>(entry) =
                      make_double2(sum[0], sum[1]);
                }
              else
                {
                  if (j + 8 * u < N)
                    entry[0] = sum[0];
                  if (j + 8 * u + 1 < N)
                    entry[1] = sum[1];
                }
            }
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

#endif
