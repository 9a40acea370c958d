// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_simplex_kernel_h
#define tessella_cuda_hdg_hdg_simplex_kernel_h

#include "hdg_kernel.h"
#include "hdg_reference.h"

// The local problems of hybridizable dG on simplices, for a constant scalar a
// and without advection, with one thread block for each simplex. Functions are
// orthonormal on the simplex. Functions chi are orthonormal on each of its
// faces; traces are expanded in them at the end. All integrals before
// elimination are then linear combinations of a small number of matrices on the
// unit simplex (SimplexReference), whose factors follow from the gradients of
// the barycentric coordinates. With the notation of LocalSolver
// (source/hdg/local_solver.h), a face f with outward normal n_f, B_f = <phi_i,
// chi_l>_f and D_d = (phi_i, d_d phi_j), rows of traces are
//
//   Y_f = tau_f B_f + a B_f (sum_d n_d D_d)^T,
//   K_fg = delta_fg tau_f + a n_f.n_g B_f B_g^T - Y_f Z Y_g^T,
//
// where only the last product is computed for each simplex. q is not eliminated
// with all traces, since it follows from u and traces.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// The affine map from the unit simplex.
      template <int dim>
      struct HDGSimplex
      {
        double det;         ///< positive
        double vertex[dim]; ///< image of the origin
        /// gradient[v][d]: gradient of barycentric coordinate v. Coordinates v
        /// > 0 are the coordinates on the unit simplex.
        double gradient[dim + 1][dim];

        __device__
        HDGSimplex(const Data<dim> &D, const unsigned int k)
        {
          const double *v =
            D.subcell_vertices +
            std::size_t(D.subcell_offset[k]) * (dim * (dim + 1));
          double J[dim][dim];
#pragma unroll
          for (int e = 0; e < dim; ++e)
            {
              vertex[e] = v[e];
#pragma unroll
              for (int d = 0; d < dim; ++d)
                J[d][e] = v[(d + 1) * dim + e] - v[e];
            }
          det = determinant(J);
#pragma unroll
          for (int e = 0; e < dim; ++e)
            {
              gradient[0][e] = 0.;
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  // gradient from cofactors of the Jacobian
                  double &g = gradient[d + 1][e];
                  if constexpr (dim == 2)
                    g = ((d + e) % 2 == 0 ? 1. : -1.) * J[1 - d][1 - e] / det;
                  else
                    {
                      const int a = (d + 1) % 3, b = (d + 2) % 3,
                                f = (e + 1) % 3, h = (e + 2) % 3;
                      g = (J[a][f] * J[b][h] - J[a][h] * J[b][f]) / det;
                    }
                  gradient[0][e] -= g;
                }
            }
          det = fabs(det);
        }

        __device__ double
        product(const int v, const int w) const
        {
          double sum = 0.;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            sum += gradient[v][d] * gradient[w][d];
          return sum;
        }
      };



      /// Fills the faces of simplices, one thread for each face.
      template <int dim>
      __global__ void
      hdg_faces_kernel(const __grid_constant__ HDGData<dim> P,
                       const unsigned int                   n_faces,
                       HDGSimplexFace *const                faces)
      {
        const unsigned int number = blockIdx.x * blockDim.x + threadIdx.x;
        if (number >= n_faces)
          return;
        const unsigned int k = number / (dim + 1), f = number % (dim + 1),
                           n_point_groups =
                             (P.D.facet_rule[0][P.D.degree[k]].n_points + 3) /
                             4;
        unsigned int at = P.facet_begin[k];
        while (opposite_vertex<dim>(P.facet_point_group[at].orientation) != f)
          at += n_point_groups;
        const HDGFacetPointGroup point_group = P.facet_point_group[at];
        HDGSimplexFace           face        = {};
        face.row                             = point_group.row;
        face.facet                           = point_group.facet;
        face.code                            = point_group.code;
        face.boundary                        = point_group.boundary;
        face.orientation                     = point_group.orientation;
        face.n_functions = P.patch_functions[point_group.patch];
        if (dim == 2 && P.transfer == nullptr)
          {
            const double *v = P.D.subcell_vertices +
                              std::size_t(P.D.subcell_offset[k]) * 6,
                         *axis =
                           P.patch_frame + std::size_t(point_group.patch) * 8;
            const unsigned int first = f == 0 ? 1 : 0, second = f == 2 ? 1 : 2;
            face.reversed = axis[0] * (v[2 * second] - v[2 * first]) +
                              axis[1] * (v[2 * second + 1] - v[2 * first + 1]) <
                            0.;
          }
        faces[number] = face;
      }



      /// Row m of the matrix that transforms from chi on face f to the
      /// functions of its patch.
      template <int dim>
      __device__ inline const double *
      hdg_transfer(const HDGData<dim> &P,
                   const unsigned int  k,
                   const unsigned int  f,
                   const unsigned int  m)
      {
        return P.transfer +
               ((std::size_t(k) * (dim + 1) + f) * P.max_functions + m) *
                 P.n_face_functions;
      }



      /// Replaces a symmetric positive definite matrix of b <= 8 rows, whose
      /// lower triangle is at @p S, by the inverse of its Cholesky factor, with
      /// zeros above; by one warp. Returns true if a pivot is too small
      /// compared with the diagonal entries before elimination. All lanes
      /// factorise the whole matrix, two columns at a time, since this needs no
      /// communication.
      __device__ inline bool
      invert_factor(const unsigned int b,
                    double            *S,
                    const unsigned int ld,
                    const double      *diagonal)
      {
        const unsigned int lane = threadIdx.x & 31u;
        double             m[8][8], x[8];
        bool               bad = false;
#pragma unroll
        for (unsigned int i = 0; i < 8; ++i)
#pragma unroll
          for (unsigned int j = 0; j <= i; ++j)
            m[i][j] = i < b ? S[ld * i + j] : i == j ? 1. : 0.;
#pragma unroll
        for (unsigned int j = 0; j < 8; j += 2)
          {
            // The second pivot is the determinant divided by the first pivot.
            const double first = m[j][j], det = m[j][j] * m[j + 1][j + 1] -
                                                m[j + 1][j] * m[j + 1][j];
            if (j < b && !(first > 1e-13 * diagonal[j]))
              bad = true;
            if (j + 1 < b && !(det > 1e-13 * diagonal[j + 1] * first))
              bad = true;
            const double r = rsqrt(first > 0. ? first : 1.),
                         s = first * r * rsqrt(det > 0. ? det : 1.);
            // From here on, diagonal entries hold their reciprocals.
            m[j][j]         = r;
            m[j + 1][j + 1] = s;
            m[j + 1][j] *= r;
#pragma unroll
            for (unsigned int i = j + 2; i < 8; ++i)
              {
                m[i][j] *= r;
                m[i][j + 1] = (m[i][j + 1] - m[i][j] * m[j + 1][j]) * s;
#pragma unroll
                for (unsigned int l = j + 2; l <= i; ++l)
                  m[i][l] -= m[i][j] * m[l][j] + m[i][j + 1] * m[l][j + 1];
              }
          }
        // ---- each lane computes a column of the inverse
        const unsigned int column = lane & 7u;
#pragma unroll
        for (unsigned int j = 0; j < 8; ++j)
          {
            double sum = j == column ? 1. : 0.;
#pragma unroll
            for (unsigned int l = 0; l < j; ++l)
              sum -= m[j][l] * x[l];
            x[j] = sum * m[j][j];
          }
        __syncwarp();
        if (lane < b)
#pragma unroll
          for (unsigned int j = 0; j < 8; ++j)
            if (j < b)
              S[ld * j + column] = x[j];
        return bad;
      }



      /// Factors that map integrals on the unit simplex to those on a simplex.
      template <int dim>
      struct HDGSimplexFactors
      {
        static constexpr unsigned int n_squares = dim * (dim + 1) / 2,
                                      n_schur   = n_squares + dim + 1;
        double det;
        double gradient[dim + 1][dim];
        double schur[n_schur];           ///< factors of SimplexReference::schur
        double trace[dim + 1][dim + 1];  ///< factors of SimplexReference::trace
        double square[dim + 1][dim + 1]; ///< factors of the blocks of
                                         ///< trace_squares
        /// Square roots of the measures of faces, relative to those of the unit
        /// simplex.
        double measure[dim + 1];
        double tau[dim + 1];

        /// Computes all factors, by one warp.
        __device__ void
        set(const HDGData<dim>   &P,
            const unsigned int    k,
            const HDGSimplexFace *face)
        {
          const unsigned int lane = threadIdx.x & 31u;
          if (lane <= dim)
            tau[lane] = P.tau != nullptr
                          ? P.tau[2 * std::size_t(face[lane].facet) +
                                  (face[lane].code & 1u)]
                          : P.form.tau;
          {
            const HDGSimplex<dim> map(P.D, k);
            if (lane == 0)
              {
                det = map.det;
#pragma unroll
                for (int v = 0; v <= dim; ++v)
#pragma unroll
                  for (int d = 0; d < dim; ++d)
                    gradient[v][d] = map.gradient[v][d];
              }
          }
          __syncwarp();
          if (lane < (dim + 1) * (dim + 1))
            {
              const unsigned int f = lane / (dim + 1), h = lane % (dim + 1);
              double             value = 0., f_square = 0., h_square = 0.;
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  value += gradient[f][d] * gradient[h][d];
                  f_square += gradient[f][d] * gradient[f][d];
                  h_square += gradient[h][d] * gradient[h][d];
                }
              value *= P.form.a;
              // Ratio of the measures of face and simplex, each relative to the
              // unit simplex.
              const double length = sqrt(f_square), root = sqrt(length),
                           reciprocal = 1. / root;
              square[f][h] = value * reciprocal * rsqrt(sqrt(h_square));
              trace[f][h]  = h == 0 ? tau[f] * root : -value * reciprocal;
              if (h == 0)
                {
                  schur[n_squares + f] = tau[f] * length;
                  measure[f]           = sqrt(det * length);
                }
              else if (f > 0 && f <= h)
                // Pairs are in the order (1, 1), (1, 2), ..., (dim, dim).
                schur[(f - 1) * dim - (f - 1) * (f - 2) / 2 + h - f] = value;
            }
        }
      };



      /// The local problem of a simplex. Row f n_face + l of traces belongs to
      /// function l of face f, chi; the last row belongs to the source term f.
      /// P: data of all kernels; L: layout of the workspace, which begins at
      /// base; k: polytope; n: its number of functions.
      template <int dim>
      struct HDGSimplexBlock
      {
        const HDGData<dim>           &P;
        const HDGLayout              &L;
        double *const                 base;
        const HDGSimplexFace *const   face;    ///< in shared memory
        const HDGSimplexFactors<dim> &factors; ///< in shared memory
        const unsigned int            k, n, n_face, n_rows, n_traces, padded_n;

        __device__
        HDGSimplexBlock(const HDGData<dim>           &P,
                        double                       *base,
                        const HDGSimplexFace         *face,
                        const HDGSimplexFactors<dim> &factors,
                        const unsigned int            k)
          : P(P)
          , L(P.layout)
          , base(base)
          , face(face)
          , factors(factors)
          , k(k)
          , n(P.layout.n_basis)
          , n_face(P.n_face_functions)
          , n_rows((dim + 1) * P.n_face_functions)
          , n_traces((unsigned int)(P.trace_offset[k + 1] - P.trace_offset[k]))
          , padded_n(padded(P.layout.n_basis))
        {}

        __device__ double *
        E() const
        {
          return base + L.schur;
        }
        __device__ double *
        R() const
        {
          return E() + std::size_t(n) * L.stride;
        }
        /// Vectors of traces. 0: integrals of boundary data, 1: contributions
        /// of f, 2: given values, 3: right-hand side.
        __device__ double *
        vector(const unsigned int i) const
        {
          return base + L.vectors + i * L.n_rows;
        }

        /// Computes the Schur complement (its lower triangle, without c), the
        /// rows of traces, and f. Requires source(). Ends with a barrier.
        __device__ void
        integrals() const
        {
          constexpr unsigned int n_tables = HDGSimplexFactors<dim>::n_schur;
          {
            double factor[n_tables];
#pragma unroll
            for (unsigned int b = 0; b < n_tables; ++b)
              factor[b] = factors.schur[b];
            const unsigned int end = P.n_schur_pairs;
            const double2     *tables =
              reinterpret_cast<const double2 *>(P.schur_tables);
#pragma unroll 2
            for (unsigned int t = threadIdx.x; t < end; t += blockDim.x)
              {
                const unsigned int place = __ldg(P.schur_place + t);
                double2            sum   = make_double2(0., 0.);
#pragma unroll
                for (unsigned int b = 0; b < n_tables; ++b)
                  {
                    const double2 v = __ldg(tables + (b * end + t));
                    sum.x += factor[b] * v.x;
                    sum.y += factor[b] * v.y;
                  }
                *reinterpret_cast<double2 *>(E() + place) = sum;
              }
          }
          {
            const unsigned int width = padded_n / 2, size = n_face * width,
                               inverse = 0xffffffffu / width + 1;
            const double2 *tables =
              reinterpret_cast<const double2 *>(P.trace_tables);
            for (unsigned int f = 0; f <= dim; ++f)
              {
                double factor[dim + 1];
#pragma unroll
                for (int b = 0; b <= dim; ++b)
                  factor[b] = factors.trace[f][b];
#pragma unroll 2
                for (unsigned int t = threadIdx.x; t < size; t += blockDim.x)
                  {
                    const unsigned int l =
                      width == 1 ? t : __umulhi(t, inverse);
                    double2 sum = make_double2(0., 0.);
#pragma unroll
                    for (int b = 0; b <= dim; ++b)
                      {
                        const double2 v =
                          __ldg(tables + ((f * (dim + 1) + b) * size + t));
                        sum.x += factor[b] * v.x;
                        sum.y += factor[b] * v.y;
                      }
                    *reinterpret_cast<double2 *>(
                      R() + (f * n_face + l) * L.stride + 2 * (t - l * width)) =
                      sum;
                  }
              }
          }
          __syncthreads();
          // ---- f, from the partial sums of all warps
          const double  root = sqrt(factors.det);
          double *const load = R() + std::size_t(n_rows) * L.stride;
          for (unsigned int i = threadIdx.x; i < padded_n; i += blockDim.x)
            {
              double sum = 0.;
              for (unsigned int w = 0; w < blockDim.x / 32; ++w)
                sum += base[L.weights + w * padded_n + i];
              load[i] = root * sum;
            }
        }

        /// int f phi_i, and the integral of |f|, on the unit simplex. Each warp
        /// has its own points.
        __device__ void
        source(double *abs_f) const
        {
          const HDGForm<dim> &form = P.form;
          const unsigned int  lane = threadIdx.x & 31u, warp = this_warp(),
                             n_warps  = blockDim.x / 32;
          const RuleEntry    rule     = P.D.subcell_rule[0][P.D.degree[k]];
          const unsigned int n_points = form.source ? rule.n_points : 0;
          const double      *table =
            form.table_f < 0
                   ? nullptr
                   : P.volume_table + form.table_f * P.n_volume_points +
                  (P.D.subcell_q[P.D.subcell_offset[k]] - P.first_volume_point);
          double2 *const to =
            reinterpret_cast<double2 *>(base + L.weights + warp * padded_n);
          const double2 *values = reinterpret_cast<const double2 *>(P.load);
          // Loads of several points are in flight at a time.
          constexpr unsigned int batch = 8;
          for (unsigned int i = lane; i < padded_n / 2; i += 32)
            {
              double2 sum = make_double2(0., 0.);
              for (unsigned int first = warp; first < n_points;
                   first += batch * n_warps)
                {
                  double  f[batch];
                  double2 v[batch];
#pragma unroll
                  for (unsigned int r = 0; r < batch; ++r)
                    {
                      const unsigned int q =
                        min(first + r * n_warps, n_points - 1);
                      f[r] = table != nullptr ? __ldg(table + q) : form.f;
                      v[r] = __ldg(values + q * (padded_n / 2) + i);
                    }
#pragma unroll
                  for (unsigned int r = 0; r < batch; ++r)
                    if (first + r * n_warps < n_points)
                      {
                        sum.x += f[r] * v[r].x;
                        sum.y += f[r] * v[r].y;
                      }
                }
              to[i] = sum;
            }
          if (warp == n_warps - 1)
            {
              const double *rule_weights =
                P.D.rules + rule.offset + dim * rule.n_points;
              double sum = 0.;
              for (unsigned int q = lane; q < n_points; q += 32)
                sum +=
                  fabs(table != nullptr ? table[q] : form.f) * rule_weights[q];
              for (unsigned int s = 16; s > 0; s /= 2)
                sum += __shfl_xor_sync(~0u, sum, s);
              if (lane == 0)
                *abs_f = sum;
            }
        }

        /// Value at a point of a boundary face: alpha if @p alpha, else g.
        __device__ double
        boundary_value(const HDGSimplexFace &f,
                       const unsigned int    q,
                       const bool            alpha) const
        {
          return P.boundary_table[(alpha ? P.n_boundary_points : 0) +
                                  4 * std::size_t(f.boundary) + q];
        }

        /// Sum over the points of a boundary face of weight, chi_l and g; or,
        /// unless m = n_face, of weight, chi_l, chi_m and alpha.
        __device__ double
        boundary_integral(const HDGSimplexFace &f,
                          const unsigned int    l,
                          const unsigned int    m) const
        {
          const bool      square = m < n_face;
          const RuleEntry rule   = P.D.facet_rule[0][P.D.degree[k]];
          const double   *weights =
            P.D.rules + rule.offset + (dim - 1) * rule.n_points;
          const double *chi =
            P.face_values + std::size_t(f.orientation) * rule.n_points * n_face;
          double sum = 0.;
          for (unsigned int q = 0; q < rule.n_points; ++q)
            sum += weights[q] * boundary_value(f, q, square) *
                   __ldg(chi + q * n_face + l) *
                   (square ? __ldg(chi + q * n_face + m) : 1.);
          return sum;
        }

        /// Integrals of g on boundary faces.
        __device__ void
        boundary_data() const
        {
          for (unsigned int i = threadIdx.x; i < n_rows; i += blockDim.x)
            {
              const unsigned int    f = i / n_face;
              const HDGSimplexFace &s = face[f];
              vector(0)[i]            = s.code & 2u
                                          ? factors.measure[f] *
                                   boundary_integral(s, i - f * n_face, n_face)
                                          : 0.;
            }
        }

        /// Factorises the Schur complement. Rows of traces, and of f, become
        /// solutions with the factor. Columns are processed in groups of eight,
        /// and all updates of a group are summed in registers. The inverses of
        /// diagonal blocks replace these blocks of the factor. *bad is set if a
        /// pivot is too small. Ends with a barrier.
        __device__ void
        factorise(int *bad) const
        {
          const unsigned int ld = L.stride, lane = threadIdx.x & 31u,
                             g = lane / 4, t = lane % 4, warp = this_warp(),
                             n_warps = blockDim.x / 32, end = n + n_rows + 1;
          double *const S = E();
          if (warp == 0)
            diagonal_block(0, bad);
          __syncthreads();
          for (unsigned int k = 0; k < n; k += 8)
            {
              const unsigned int  b       = min(8u, n - k);
              double *const       inverse = S + k * (ld + 1);
              const double *const right   = S + min(k + g, n - 1) * ld + t;
              // for a tile of 16 rows: first the update, then the difference
              double     c[2][1][2];
              const auto subtract = [&](const unsigned int i0,
                                        const unsigned int end) {
#pragma unroll
                for (int h = 0; h < 2; ++h)
                  c[h][0][0] = c[h][0][1] = 0.;
                const double *const left[2] = {S + min(i0 + g, end - 1) * ld,
                                               S +
                                                 min(i0 + 8 + g, end - 1) * ld};
#pragma unroll 2
                for (unsigned int l = 0; l < k; l += 4)
                  {
                    const double a[2] = {left[0][l + t], left[1][l + t]},
                                 v[1] = {right[l]};
                    add_products(c, a, v);
                  }
#pragma unroll
                for (int h = 0; h < 2; ++h)
                  {
                    const double2 v =
                      *reinterpret_cast<const double2 *>(left[h] + k + 2 * t);
                    c[h][0][0] = 2 * t < b ? v.x - c[h][0][0] : 0.;
                    c[h][0][1] = 2 * t + 1 < b ? v.y - c[h][0][1] : 0.;
                  }
              };
              const auto solve = [&](const unsigned int i0,
                                     const unsigned int end) {
                const double *const row = inverse + g * ld + 2 * t;
                const double2       v   = {g < b && 2 * t < b ? row[0] : 0.,
                                   g < b && 2 * t + 1 < b ? row[1] : 0.};
                double r[2][1][2] = {};
#pragma unroll
                for (int s = 0; s < 2; ++s)
                  {
                    const double a[2] = {c[0][0][s], c[1][0][s]},
                                 w[1] = {s == 0 ? v.x : v.y};
                    add_products(r, a, w);
                  }
                // Lanes without a row have read the last row.
                __syncwarp();
#pragma unroll
                for (int h = 0; h < 2; ++h)
                  if (i0 + 8 * h + g < end)
                    {
                      double *const to = S + (i0 + 8 * h + g) * ld + k + 2 * t;
                      if (2 * t + 1 < b)
                        *reinterpret_cast<double2 *>(to) =
                          make_double2(r[h][0][0], r[h][0][1]);
                      else if (2 * t < b)
                        *to = r[h][0][0];
                    }
              };
              // The first warp goes on to the next diagonal block. Other warps,
              // if present, process the remaining rows.
              unsigned int begin = k + b, worker = warp, n_workers = n_warps;
              if (begin < n)
                {
                  begin = min(n, k + 16);
                  if (warp == 0)
                    {
                      subtract(k + 8, begin);
                      solve(k + 8, begin);
                      __syncwarp();
                      diagonal_block(k + 8, bad);
                    }
                  if (n_warps > 1)
                    {
                      worker    = warp == 0 ? end : warp - 1;
                      n_workers = n_warps - 1;
                    }
                }
              for (unsigned int i0 = begin + 16 * worker; i0 < end;
                   i0 += 16 * n_workers)
                {
                  subtract(i0, end);
                  solve(i0, end);
                }
              __syncthreads();
            }
        }

        /// Factorises the diagonal block at row @p k, after the updates from
        /// all previous columns, by one warp.
        __device__ void
        diagonal_block(const unsigned int k, int *bad) const
        {
          const unsigned int ld = L.stride, lane = threadIdx.x & 31u,
                             g = lane / 4, t = lane % 4, b = min(8u, n - k);
          double *const       S            = E() + k * (ld + 1);
          const double *const row          = E() + min(k + g, n - 1) * ld + t;
          double *const       diagonal     = base + L.diagonal_entries;
          double              sum[1][1][2] = {};
#pragma unroll 2
          for (unsigned int l = 0; l < k; l += 4)
            {
              const double v[1] = {row[l]};
              add_products(sum, v, v);
            }
#pragma unroll
          for (unsigned int s = 0; s < 2; ++s)
            if (g < b && 2 * t + s <= g)
              {
                double &entry = S[g * ld + 2 * t + s];
                double  v     = entry;
                if (2 * t + s == g)
                  {
                    v += P.form.reaction ? P.form.c : 0.;
                    diagonal[g] = v;
                  }
                entry = v - sum[0][0][s];
              }
          __syncwarp();
          if (invert_factor(b, S, ld, diagonal) && lane == 0)
            *bad = 1;
        }

        /// Computes K in functions of faces, from solutions in R(), and the
        /// contributions of f to traces. K goes to both triangles of @p to,
        /// with row distance @p ld_to. If @p own, trace functions equal face
        /// functions up to signs, and K has their order.
        template <bool own>
        __device__ void
        products_of_traces(double *to, const unsigned int ld_to) const
        {
          const unsigned int lane = threadIdx.x & 31u, g = lane / 4,
                             t = lane % 4, warp = this_warp(),
                             n_warps = blockDim.x / 32, ld = L.stride;
          const double *const Y      = R();
          double *const       load   = vector(1);
          unsigned int        number = 0;
          for (unsigned int i0 = 0; i0 <= n_rows; i0 += 16)
            for (unsigned int j0 = 0; j0 < n_rows && j0 <= i0; j0 += 16)
              {
                const bool mine = number == warp;
                number          = number + 1 == n_warps ? 0 : number + 1;
                if (!mine)
                  continue;
                const double *left[2], *right[2];
#pragma unroll
                for (int h = 0; h < 2; ++h)
                  {
                    left[h]  = Y + min(i0 + 8 * h + g, n_rows) * ld + t;
                    right[h] = Y + min(j0 + 8 * h + g, n_rows) * ld + t;
                  }
                double c[2][2][2] = {};
#pragma unroll 2
                for (unsigned int l = 0; l < padded_n; l += 4)
                  {
                    const double a[2] = {left[0][l], left[1][l]},
                                 b[2] = {right[0][l], right[1][l]};
                    add_products(c, a, b);
                  }
#pragma unroll
                for (int h = 0; h < 2; ++h)
                  {
                    const unsigned int i = i0 + 8 * h + g;
                    if (i > n_rows)
                      continue;
                    const unsigned int f   = face_of(min(i, n_rows - 1)),
                                       l   = i - f * n_face;
                    const HDGSimplexFace s = face[f];
                    const bool   negative  = own && s.reversed && l % 2 == 1;
                    const double tau       = factors.tau[f];
                    const unsigned int row = own ? s.row + l : i;
#pragma unroll
                    for (int u = 0; u < 2; ++u)
#pragma unroll
                      for (int v = 0; v < 2; ++v)
                        {
                          const unsigned int j = j0 + 8 * u + 2 * t + v;
                          if (i == n_rows && j < n_rows)
                            load[j] = c[h][u][v];
                          if (i == n_rows || j > i)
                            continue;
                          const unsigned int e = face_of(j), m = j - e * n_face;
                          double             w = factors.square[f][e] *
                                       __ldg(P.trace_squares + i * n_rows + j) -
                                     c[h][u][v];
                          if (f == e && !(s.code & 4u))
                            {
                              if (i == j)
                                w += tau;
                              if (P.robin && s.code & 2u)
                                w += boundary_integral(s, l, m);
                            }
                          if (negative !=
                              (own && face[e].reversed && m % 2 == 1))
                            w = -w;
                          const unsigned int column = own ? face[e].row + m : j;
                          to[row * ld_to + column]  = w;
                          to[column * ld_to + row]  = w;
                        }
                  }
              }
        }

        __device__ unsigned int
        face_of(const unsigned int i) const
        {
          unsigned int f = 0;
#pragma unroll
          for (int s = 1; s <= dim; ++s)
            f += i >= s * n_face;
          return f;
        }

        // ---- transformation from chi to trace functions

        __device__ const double *
        transfer(const unsigned int f, const unsigned int m) const
        {
          return hdg_transfer(P, k, f, m);
        }

        /// True if an earlier face has the same trace functions.
        __device__ bool
        shares_patch(const unsigned int f) const
        {
          bool shared = false;
          for (unsigned int h = 0; h < f; ++h)
            shared = shared || face[h].row == face[f].row;
          return shared;
        }

        /// Entry of trace function @p m, for a vector in chi.
        template <typename Value>
        __device__ double
        in_traces(const unsigned int m, const Value &value) const
        {
          double sum = 0.;
          for (unsigned int f = 0; f <= dim; ++f)
            {
              const HDGSimplexFace &s = face[f];
              if (m < s.row || m >= s.row + s.n_functions)
                continue;
              const unsigned int i = m - s.row;
              if (P.transfer == nullptr)
                return s.reversed && i % 2 == 1 ? -value(f, i) : value(f, i);
              const double *row = transfer(f, i);
              for (unsigned int l = 0; l < n_face; ++l)
                sum += row[l] * value(f, l);
            }
          return sum;
        }

        /// K if trace functions differ from functions of faces: T K T^T,
        /// through shared memory.
        __device__ void
        transform_K(double *K) const
        {
          const unsigned int ld    = L.mass_stride;
          double *const      K_chi = base + L.first;
          products_of_traces<false>(K_chi, ld);
          __syncthreads();
          double *const product = E();
          unsigned int  counter = 0;
          for (unsigned int f = 0; f <= dim; ++f)
            {
              const HDGSimplexFace &s     = face[f];
              const bool            again = shares_patch(f);
              if (again)
                __syncthreads();
              block_product<2>(
                s.n_functions,
                n_rows,
                padded(n_face),
                [&](const unsigned int m, const unsigned int l) {
                  return l < n_face ? transfer(f, m)[l] : 0.;
                },
                [&](const unsigned int j, const unsigned int l) {
                  return l < n_face ? K_chi[j * ld + f * n_face + l] : 0.;
                },
                [&](const unsigned int m,
                    const unsigned int j,
                    const double       v) {
                  double &entry = product[(s.row + m) * ld + j];
                  entry         = again ? entry + v : v;
                },
                counter);
            }
          __syncthreads();
          for (unsigned int f = 0; f <= dim; ++f)
            {
              const HDGSimplexFace &s     = face[f];
              const bool            again = shares_patch(f);
              if (again)
                __syncthreads();
              block_product<2>(
                n_traces,
                s.n_functions,
                padded(n_face),
                [&](const unsigned int i, const unsigned int l) {
                  return l < n_face ? product[i * ld + f * n_face + l] : 0.;
                },
                [&](const unsigned int m, const unsigned int l) {
                  return l < n_face ? transfer(f, m)[l] : 0.;
                },
                [&](const unsigned int i,
                    const unsigned int m,
                    const double       v) {
                  const unsigned int j = s.row + m;
                  if (j > i)
                    return;
                  double      &entry  = K[i * n_traces + j];
                  const double w      = again ? entry + v : v;
                  entry               = w;
                  K[j * n_traces + i] = w;
                },
                counter);
            }
        }

        /// Stores vectors of traces in global memory, after K.
        __device__ void
        store_vectors(const double *K) const
        {
          const std::uint64_t first = P.trace_offset[k];
          double *const given = vector(2), *const rhs = vector(3);
          bool dirichlet = false;
          for (unsigned int f = 0; f <= dim; ++f)
            dirichlet = dirichlet || face[f].code & 4u;
          for (unsigned int m = threadIdx.x; m < n_traces; m += blockDim.x)
            {
              bool fixed = false;
              for (unsigned int f = 0; f <= dim; ++f)
                if (face[f].row <= m && m < face[f].row + face[f].n_functions)
                  fixed = face[f].code & 4u;
              const double data =
                in_traces(m, [&](const unsigned int f, const unsigned int l) {
                  return vector(0)[f * n_face + l];
                });
              const double load =
                in_traces(m, [&](const unsigned int f, const unsigned int l) {
                  return vector(1)[f * n_face + l];
                });
              // The first chi is the constant 1 / sqrt(measure of the face).
              P.integral[first + m] =
                in_traces(m, [&](const unsigned int f, const unsigned int l) {
                  return l == 0 ? factors.measure[f] *
                                    (dim == 3 ? 0.70710678118654752 : 1.)
                                : 0.;
                });
              const double value     = fixed ? load : data + load;
              P.dirichlet[first + m] = given[m] = fixed ? data : 0.;
              if (dirichlet)
                rhs[m] = value;
              else
                P.rhs[first + m] = value;
            }
          if (!dirichlet)
            return;
          __syncthreads();
          for (unsigned int m = threadIdx.x; m < n_traces; m += blockDim.x)
            {
              double sum = 0.;
              for (unsigned int j = 0; j < n_traces; ++j)
                sum += K[std::size_t(j) * n_traces + m] * given[j];
              P.rhs[first + m] = rhs[m] - sum;
            }
        }

        /// Stores the data for recovery: Y and the factor.
        __device__ void
        store_solver() const
        {
          double2 *const to = reinterpret_cast<double2 *>(
            P.solvers +
            std::size_t(k) * hdg_simplex_solver_size(n, n_rows + 1) -
            P.first_solver);
          const unsigned int width   = padded_n / 2,
                             inverse = 0xffffffffu / width + 1,
                             size    = (n_rows + 1) * width;
#pragma unroll 2
          for (unsigned int i = threadIdx.x; i < size; i += blockDim.x)
            {
              const unsigned int m = width == 1 ? i : __umulhi(i, inverse);
              to[i] = *reinterpret_cast<const double2 *>(R() + m * L.stride +
                                                         2 * (i - m * width));
            }
#pragma unroll 2
          for (unsigned int i = threadIdx.x; i < P.n_schur_pairs;
               i += blockDim.x)
            to[size + i] = *reinterpret_cast<const double2 *>(
              E() + __ldg(P.schur_place + i));
        }
      };



      /// K and the data for recovery, one thread block for each simplex.
      template <int dim, bool in_shared>
      __global__ void
      __launch_bounds__(dim == 2 ? 128 : 256, dim == 2 ? 5 : 2)
        hdg_simplex_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double  shared[];
        __shared__ double         abs_f;
        __shared__ HDGSimplexFace face[dim + 1];
        __shared__ HDGSimplexFactors<dim> factors;
        __shared__ int                    bad;
        double *const                     base =
          in_shared ? shared : P.workspace + blockIdx.x * P.layout.size;
        for (unsigned int k = P.first + blockIdx.x; k < P.last; k += gridDim.x)
          {
            const HDGSimplexBlock<dim> block(P, base, face, factors, k);
            double *const K = P.K + (P.square_offset[k] - P.first_square);
            if (this_warp() == 0)
              {
                if (threadIdx.x <= dim)
                  face[threadIdx.x] =
                    P.faces[std::size_t(k) * (dim + 1) + threadIdx.x];
                if (threadIdx.x == 0)
                  bad = 0;
                __syncwarp();
                factors.set(P, k, face);
              }
            block.source(&abs_f);
            __syncthreads();
            block.integrals();
            block.boundary_data();
            block.factorise(&bad);
            const bool good = bad == 0;
            if (good)
              {
                if (P.solvers != nullptr)
                  block.store_solver();
                if (P.transfer == nullptr)
                  block.template products_of_traces<true>(K, block.n_traces);
                else
                  block.transform_K(K);
                __syncthreads();
                block.store_vectors(K);
              }
            if (threadIdx.x == 0)
              {
                P.abs_f[k]      = factors.det * abs_f;
                bool stabilised = P.form.reaction && P.form.c > 0.;
                for (unsigned int f = 0; f <= dim; ++f)
                  stabilised = stabilised || factors.tau[f] > 0.;
                if (!stabilised)
                  fail(P, k, HDGFailure::no_stabilisation);
                else if (!good)
                  fail(P, k, HDGFailure::schur_complement);
              }
            __syncthreads();
          }
      }



      /// The matrices from chi to trace functions, for all faces, one warp for
      /// each.
      template <int dim>
      __global__ void __launch_bounds__(32)
        hdg_transfer_kernel(const __grid_constant__ HDGData<dim> P,
                            double *const                        transfer)
      {
        constexpr unsigned int max_degree = Legendre::max_degree;
        __shared__ double      table[dim * (max_degree + 1) * 32], psi[32];
        const unsigned int     lane = threadIdx.x, k = blockIdx.x / (dim + 1),
                           n      = P.n_face_functions;
        const HDGSimplexFace face = P.faces[blockIdx.x];
        // A point group of the facet has its patch.
        unsigned int at = P.facet_begin[k];
        while (P.facet_point_group[at].orientation != face.orientation)
          ++at;
        const HDGFacetPointGroup point_group = P.facet_point_group[at];
        const RuleEntry          rule        = P.D.facet_rule[0][P.D.degree[k]];
        double *const            to = transfer + std::size_t(blockIdx.x) *
                                        P.max_functions * P.n_face_functions;
        const double *frame =
          P.patch_frame + std::size_t(point_group.patch) * (dim * (dim + 2));
        const HDGSlicePointGroup generators =
          make_slice_point_group(P, point_group, 0);
        const double root =
          sqrt((dim == 3 ? 2. : 1.) * P.D.facet_measure[point_group.facet]);
        for (unsigned int i = lane; i < face.n_functions * n; i += 32)
          to[i] = 0.;
        for (unsigned int first = 0; first < rule.n_points; first += 32)
          {
            const unsigned int q = min(first + lane, rule.n_points - 1);
            double             x[dim], normal[dim];
            general_facet_point(
              P.D, point_group.facet, q, P.D.degree[k], x, normal);
            const double w =
              first + lane < rule.n_points
                ? root * P.D.rules[rule.offset + (dim - 1) * rule.n_points + q]
                : 0.;
            double *const values = table + lane;
            for (unsigned int d = 0; d < dim; ++d)
              {
                const double scale = frame[dim * dim + dim + d];
                double       y     = -frame[dim * dim + d];
                for (unsigned int e = 0; e < dim; ++e)
                  y += frame[d * dim + e] * x[e];
                const unsigned int degree = P.patch_degree[point_group.patch];
                double *const      column = values + d * (max_degree + 1) * 32;
                for (unsigned int i = 0; i <= degree; ++i)
                  column[32 * i] = i == 0 ? 1. : 0.;
                if (scale != 0.)
                  write_legendre(
                    degree, scale * y, 1., 0., column, nullptr, 32);
              }
            const double *chi =
              P.face_values +
              (std::size_t(face.orientation) * rule.n_points + first) * n;
            for (unsigned int m = 0; m < face.n_functions; ++m)
              {
                const double *c =
                  generators.coefficients + std::size_t(m) * generators.n_all;
                double sum = 0.;
                for (unsigned int l = 0; l < generators.n; ++l)
                  {
                    const unsigned int   g     = generators.index(l);
                    const unsigned char *e     = P.D.exponents + dim * g;
                    double               value = c[g];
                    for (unsigned int d = 0; d < dim; ++d)
                      value *= values[(d * (max_degree + 1) + e[d]) * 32];
                    sum += value;
                  }
                __syncwarp();
                psi[lane] = w * sum;
                __syncwarp();
                const unsigned int end = min(32u, rule.n_points - first);
                for (unsigned int l = lane; l < n; l += 32)
                  {
                    double value = to[m * n + l];
                    for (unsigned int r = 0; r < end; ++r)
                      value += psi[r] * chi[r * n + l];
                    to[m * n + l] = value;
                  }
              }
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
