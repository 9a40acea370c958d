// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_recover_kernel_h
#define tessella_cuda_hdg_hdg_recover_kernel_h

#include "hdg_simplex_kernel.h"
#include "simplex_basis.h"

// Kernels that compute u and q of hybridizable dG from traces and the stored
// parts of local problems.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Traces with their numbering, and the vectors of u and q.
      struct HDGVectors
      {
        const unsigned int  *block_of_interface;
        const std::uint64_t *dof_offset;
        const double        *trace;
        double              *solution, *flux;

        /// Stores coefficient j of u (r = 0), or of component r - 1 of q, on
        /// polytope k with n functions.
        template <int dim>
        __device__ void
        store(const HDGData<dim> &P,
              const unsigned int  k,
              const unsigned int  n,
              const unsigned int  r,
              const unsigned int  j,
              const double        value) const
        {
          if (r == 0)
            solution[P.D.dof_offset[k] + j] = value;
          else
            flux[dim * P.D.dof_offset[k] + (r - 1) * n + j] = value;
        }
      };



      /// Reads the traces of polytope k, including those of Dirichlet
      /// interfaces.
      template <int dim>
      __device__ inline void
      read_traces(const HDGData<dim> &P,
                  const unsigned int  k,
                  const HDGVectors   &vectors,
                  double *const       lambda)
      {
        const std::uint64_t first = P.trace_offset[k];
        const unsigned int  n_traces =
          (unsigned int)(P.trace_offset[k + 1] - first);
        const unsigned int begin = P.D.polytope_interface_offset[k],
                           end   = P.D.polytope_interface_offset[k + 1];
        for (unsigned int e = begin; e < end; ++e)
          {
            const unsigned int row = P.entry_row[e],
                               next =
                                 e + 1 < end ? P.entry_row[e + 1] : n_traces;
            const unsigned int b =
              vectors.block_of_interface[P.D.polytope_interface[e] / 2];
            for (unsigned int m = row + threadIdx.x; m < next; m += blockDim.x)
              lambda[m] = b == invalid_index
                            ? P.dirichlet[first + m]
                            : vectors.trace[vectors.dof_offset[b] + m - row];
          }
      }



      /// Computes the coefficients of u and q in orthonormal functions from @p
      /// lambda and the results of hdg_few_functions_elimination_kernel(). @p
      /// sums: scratch for twice as many values as results.
      template <int dim>
      __device__ inline void
      recover_from_rows(const HDGBlock<dim, HDGStage::elimination> &block,
                        const double                               *lambda,
                        double                                     *sums,
                        double                                     *result)
      {
        const unsigned int n = block.n, length = (dim + 1) * n,
                           ld = block.L.stride;
        double *const parts   = sums + length;
        for (unsigned int t = threadIdx.x; t < length; t += blockDim.x)
          {
            const unsigned int  d = block.over_n(t), j = t - d * n;
            const double *const rows = (d < dim ? block.F(d) : block.R()) + j;
            double value             = d < dim ? 0. : rows[block.n_traces * ld];

#pragma unroll 8
            for (unsigned int m = 0; m < block.n_traces; ++m)
              value += lambda[m] * rows[m * ld];
            sums[t] = value;
          }
        __syncthreads();
        // ---- (Y^T lambda + contribution of f) / sqrt(a), by components
        for (unsigned int t = threadIdx.x; t < length; t += blockDim.x)
          {
            const unsigned int  d = block.over_n(t), i = t - d * n;
            const double *const row =
              (d < dim ? block.H(d) : block.E()) + i * ld;
            double value = 0.;
            for (unsigned int l = 0; l < n; ++l)
              value += row[l] * sums[d * n + l];
            parts[t] = value;
          }
        __syncthreads();
        // ---- u, then q = a (sum - V u)
        const double a = block.P.form.a;
        for (unsigned int t = threadIdx.x; t < length; t += blockDim.x)
          {
            const unsigned int  d = block.over_n(t), j = t - d * n;
            const double *const column =
              (d > 0 ? block.H(d - 1) : block.E()) + j;
            double value = 0.;
            for (unsigned int i = 0; i < n; ++i)
              {
                double y = 0.;
#pragma unroll
                for (unsigned int e = 0; e <= dim; ++e)
                  y += parts[e * n + i];
                value += column[i * ld] * y;
              }
            result[t] = d > 0 ? a * (sums[t - n] - value) : a * value;
          }
      }



      /// Computes u and q of a polytope, one thread block each.
      template <int dim>
      __global__ void __launch_bounds__(256, 3)
        hdg_recover_kernel(const HDGData<dim>                 P,
                           const __grid_constant__ HDGVectors vectors)
      {
        extern __shared__ double shared[];
        const unsigned int       k = P.first + blockIdx.x, n = P.D.n_basis[k];
        const unsigned int       n_traces =
          (unsigned int)(P.trace_offset[k + 1] - P.trace_offset[k]);
        // The sums begin at an even index: compilers read traces in pairs, so
        // that the last trace of an odd number would be read together with the
        // first sum.
        double *const lambda = shared, *const sum =
                                         shared + n_traces + n_traces % 2;
        read_traces(P, k, vectors, lambda);
        __syncthreads();
        const unsigned int length = (dim + 1) * n;
        const double      *CT     = nullptr;
        unsigned int       ld     = n;
        if (P.solvers == nullptr)
          {
            const HDGBlock<dim, HDGStage::elimination> block = state_of(P, k);
            recover_from_rows(block, lambda, sum + length, sum);
            CT = block.transform_of_polytope();
            ld = P.state_layout.stride;
          }
        else
          {
            const double *const solver =
              P.solvers + (P.solver_offset[k] - P.first_solver);
            for (unsigned int i = threadIdx.x; i < length; i += blockDim.x)
              {
                double value = solver[std::size_t(n_traces) * length + i];
                for (unsigned int m = 0; m < n_traces; ++m)
                  value += lambda[m] * solver[std::size_t(m) * length + i];
                sum[i] = value;
              }
            CT = solver + std::size_t(n_traces + 1) * length;
          }
        __syncthreads();
        for (unsigned int t = threadIdx.x; t < length; t += blockDim.x)
          {
            const unsigned int r = t / n, j = t % n;
            double             value = 0.;
            for (unsigned int i = j; i < n; ++i)
              value += CT[j * ld + i] * sum[r * n + i];
            vectors.store(P, k, n, r, j, value);
          }
      }



      /// Transforms coefficients from the orthonormal functions of a simplex to
      /// those of its bounding box, by values at the points of the box's Gauss
      /// rule. Coefficients are those of functions without their normalisation
      /// factors. @p values: scratch for 2 (dim + 1) (degree + 1)^dim values.
      template <int dim>
      __device__ void
      recover_from_simplex(const HDGData<dim>    &P,
                           const HDGSimplex<dim> &map,
                           const unsigned int     k,
                           const double          *coefficients,
                           double                *values,
                           const HDGVectors      &vectors)
      {
        const unsigned int n = P.D.n_basis[k], degree = P.D.degree[k],
                           m      = degree + 1;
        const double *const gauss = P.gauss, *const table = gauss + 2 * m;
        const double *box      = P.D.box + 2 * dim * std::size_t(k);
        double        measure  = 1.;
        unsigned int  n_points = 1;
        for (int d = 0; d < dim; ++d)
          {
            measure *= box[dim + d] - box[d];
            n_points *= m;
          }
        const double scale = sqrt(measure / map.det);
        for (unsigned int q = threadIdx.x; q < n_points; q += blockDim.x)
          {
            double       x[dim], xi[dim], w = scale;
            unsigned int rest = q;
            for (int d = 0; d < dim; ++d, rest /= m)
              {
                const unsigned int i = rest % m;
                x[d]                 = 0.5 * (box[d] + box[dim + d]) +
                       0.5 * (box[dim + d] - box[d]) * gauss[i] - map.vertex[d];
                w *= gauss[m + i];
              }
            for (int d = 0; d < dim; ++d)
              {
                xi[d] = 0.;
                for (int e = 0; e < dim; ++e)
                  xi[d] += map.gradient[1 + d][e] * x[e];
              }
            double sum[dim + 1] = {};
            visit_simplex_basis<dim>(
              degree,
              xi,
              [&](const unsigned int i, const double v, const double) {
#pragma unroll
                for (int r = 0; r <= dim; ++r)
                  sum[r] += coefficients[r * n + i] * v;
              },
              [&](const unsigned int j, const unsigned int alpha) {
                const double *step = P.steps + (alpha * m + j) * 3;
                return JacobiStep{__ldg(step),
                                  __ldg(step + 1),
                                  __ldg(step + 2)};
              });
#pragma unroll
            for (int r = 0; r <= dim; ++r)
              values[r * n_points + q] = w * sum[r];
          }
        __syncthreads();
        // ---- integrals against Legendre functions, variable by variable
        double      *from = values, *to = values + (dim + 1) * n_points;
        unsigned int stride = 1;
#pragma unroll
        for (int d = 0; d + 1 < dim; ++d, stride *= m)
          {
            for (unsigned int t = threadIdx.x; t < (dim + 1) * n_points;
                 t += blockDim.x)
              {
                const unsigned int e = t / stride % m, first = t - e * stride;
                double             sum = 0.;
                for (unsigned int q = 0; q < m; ++q)
                  sum += __ldg(table + e * m + q) * from[first + q * stride];
                to[t] = sum;
              }
            __syncthreads();
            double *const other = from;
            from                = to;
            to                  = other;
          }
        for (unsigned int t = threadIdx.x; t < (dim + 1) * n; t += blockDim.x)
          {
            const unsigned int   r = t / n, j = t % n;
            const unsigned char *e     = P.D.exponents + dim * j;
            unsigned int         first = r * n_points, s = 1;
#pragma unroll
            for (int d = 0; d + 1 < dim; ++d, s *= m)
              first += e[d] * s;
            double value = 0.;
            for (unsigned int q = 0; q < m; ++q)
              value +=
                __ldg(table + e[dim - 1] * m + q) * from[first + q * stride];
            vectors.store(P, k, n, r, j, value);
          }
      }



      /// Computes u and q of a simplex, one thread block each.
      template <int dim>
      __global__ void
      hdg_simplex_recover_kernel(const __grid_constant__ HDGData<dim> P,
                                 const __grid_constant__ HDGVectors   vectors)
      {
        extern __shared__ double  shared[];
        __shared__ HDGSimplexFace face[dim + 1];
        const unsigned int        k = P.first + blockIdx.x, n = P.D.n_basis[k],
                           lane   = threadIdx.x & 31u,
                           n_face = P.n_face_functions, padded_n = padded(n),
                           n_rows = (dim + 1) * n_face;
        if (threadIdx.x <= dim)
          face[threadIdx.x] = P.faces[std::size_t(k) * (dim + 1) + threadIdx.x];
        double *const lambda = shared, *const chi = lambda + P.max_traces,
                      *const u = chi + n_rows, *const part = u + (dim + 1) * n;
        read_traces(P, k, vectors, lambda);
        __syncthreads();
        // ---- traces, expanded in chi
        for (unsigned int i = threadIdx.x; i < n_rows; i += blockDim.x)
          {
            const unsigned int    f = i / n_face, l = i - f * n_face;
            const HDGSimplexFace &s   = face[f];
            double                sum = 0.;
            if (P.transfer == nullptr)
              sum = s.reversed && l % 2 == 1 ? -lambda[s.row + l]
                                             : lambda[s.row + l];
            else
              for (unsigned int m = 0; m < s.n_functions; ++m)
                sum += lambda[s.row + m] * hdg_transfer(P, k, f, m)[l];
            chi[i] = sum;
          }
        __syncthreads();
        // ---- u
        const double *const Y =
          P.solvers + std::size_t(k) * hdg_simplex_solver_size(n, n_rows + 1) -
          P.first_solver;
        for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
          {
            double sum = Y[n_rows * padded_n + i];
            for (unsigned int m = 0; m < n_rows; ++m)
              sum += chi[m] * Y[m * padded_n + i];
            u[i] = sum;
          }
        __syncthreads();
        if (threadIdx.x < 32)
          {
            const double *const factor = Y + (n_rows + 1) * padded_n;
            for (unsigned int tile = (n + 7) / 8; tile-- > 0;)
              {
                const unsigned int i0 = 8 * tile, b = min(8u, n - i0);
                const auto         row = [&](const unsigned int l) {
                  return factor + 2 * pairs_before_row(i0 + l);
                };

                double x = 0.;
                for (unsigned int l = lane & 7u; l < b; ++l)
                  x += row(l)[i0 + (lane & 7u)] * u[i0 + l];
                __syncwarp();
                if (lane < b)
                  u[i0 + lane] = x;
                for (unsigned int j0 = 0; j0 < i0; j0 += 32)
                  {
                    const unsigned int j   = min(j0 + lane, i0 - 1);
                    double             sum = 0.;
#pragma unroll
                    for (unsigned int l = 0; l < 8; ++l)
                      {
                        const double other = __shfl_sync(~0u, x, l);
                        if (l < b)
                          sum += row(l)[j] * other;
                      }
                    if (j0 + lane < i0)
                      u[j] -= sum;
                  }
                __syncwarp();
              }
          }
        __syncthreads();
        // ---- q = a (sum_f n_f B_f lambda_f - D^T u)
        for (unsigned int t = threadIdx.x; t < (2 * dim + 1) * n;
             t += blockDim.x)
          {
            const unsigned int r = t / n, l = t - r * n;
            double             sum = 0.;
            if (r < dim)
              for (unsigned int i = 0; i < n; ++i)
                sum += __ldg(P.derivative + (r * n + i) * n + l) * u[i];
            else
              for (unsigned int m = 0; m < n_face; ++m)
                sum +=
                  __ldg(P.trace_tables +
                        ((r - dim) * (dim + 1) * n_face + m) * padded_n + l) *
                  chi[(r - dim) * n_face + m];
            part[t] = sum;
          }
        __syncthreads();
        const HDGSimplex<dim> map(P.D, k);
        for (unsigned int l = threadIdx.x; l < n; l += blockDim.x)
          {
            const double factor = P.factor[l];
            u[l] *= factor;
#pragma unroll
            for (int d = 0; d < dim; ++d)
              {
                double sum = 0.;
#pragma unroll
                for (int e = 0; e < dim; ++e)
                  sum -= map.gradient[1 + e][d] * part[e * n + l];
#pragma unroll
                for (int f = 0; f <= dim; ++f)
                  sum -= map.gradient[f][d] * rsqrt(sqrt(map.product(f, f))) *
                         part[(dim + f) * n + l];
                u[(1 + d) * n + l] = P.form.a * factor * sum;
              }
          }
        __syncthreads();
        recover_from_simplex(P, map, k, u, part, vectors);
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
