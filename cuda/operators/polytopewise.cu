// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/portable/legendre.h>

#include "../device/memory.h"
#include "polytopewise.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128, point_threads = 64;

        unsigned int
        n_blocks(const std::size_t n)
        {
          return static_cast<unsigned int>((n + n_threads - 1) / n_threads);
        }

        __device__ void
        lower_to(std::uint64_t &index, const std::uint64_t i)
        {
          atomicMin(reinterpret_cast<unsigned long long *>(&index),
                    static_cast<unsigned long long>(i));
        }

        /// One component on one polytope per thread, in the order of the host.
        template <int dim>
        __global__ void
        __launch_bounds__(n_threads)
          means_kernel(const PolytopewiseTask<dim> task,
                       double *__restrict__ means,
                       PolytopewiseStatus *status)
        {
          const unsigned int  m = task.n_components;
          const std::uint64_t j =
            std::uint64_t(blockIdx.x) * n_threads + threadIdx.x;
          if (j >= std::uint64_t(task.end - task.begin) * m)
            return;
          const unsigned int k    = task.begin + (unsigned int)(j / m),
                             n    = task.n_basis[k];
          const double *const phi = task.basis_mean + task.first_basis[k],
                              *a  = task.coefficients + task.first_dof[k] +
                                   (j % m) * std::uint64_t(n);
          double sum = 0.;
          for (unsigned int i = 0; i < n; ++i)
            sum += a[i] * phi[i];
          const std::uint64_t entry = std::uint64_t(k) * m + j % m;
          if (!isfinite(sum))
            lower_to(status->mean, entry);
          means[entry] = sum;
        }

        /// One polytope per thread block, one of its points per thread at a
        /// time. Legendre functions L_n of variable d are in shared memory,
        /// since exponents choose among them: entry (d (max_degree + 1) + n)
        /// point_threads + thread.
        template <int dim>
        __global__ void
        __launch_bounds__(point_threads)
          values_kernel(const PolytopewiseTask<dim> task,
                        const unsigned char *__restrict__ exponents,
                        const unsigned int max_degree)
        {
          // Components for which a basis function is computed once.
          constexpr unsigned int   width = 5;
          extern __shared__ double tables[];
          double *const            table = tables + threadIdx.x;
          const unsigned int k = task.begin + blockIdx.x, m = task.n_components,
                             n = task.n_basis[k], p = task.degree[k];
          const std::uint64_t first = task.first_point[k];
          const unsigned int  n_points =
            (unsigned int)(task.first_point[k + 1] - first);
          const double *const box = task.box + 2 * dim * std::uint64_t(k),
                              *u  = task.coefficients + task.first_dof[k];
          double *const values =
            task.values + m * (first - task.first_point[task.begin]);
          double volume = 1.;
          for (int d = 0; d < dim; ++d)
            volume *= box[dim + d] - box[d];
          const double factor = 1. / sqrt(volume);
          for (unsigned int q = threadIdx.x; q < n_points; q += point_threads)
            {
              for (int d = 0; d < dim; ++d)
                {
                  const double x = task.x[d][first + q], lower = box[d],
                               upper = box[dim + d];
                  double l[Legendre::max_degree + 1];
                  Legendre::evaluate(
                    p, (x + x - (upper + lower)) / (upper - lower), l);
#pragma unroll
                  for (unsigned int i = 0; i <= Legendre::max_degree; ++i)
                    if (i <= p)
                      table[(d * (max_degree + 1) + i) * point_threads] = l[i];
                }
              for (unsigned int c = 0; c < m; c += width)
                {
                  double sum[width] = {};
                  for (unsigned int i = 0; i < n; ++i)
                    {
                      double phi = 1.;
#pragma unroll
                      for (int d = 0; d < dim; ++d)
                        phi *= table[(d * (max_degree + 1) +
                                      exponents[i * dim + d]) *
                                     point_threads];
#pragma unroll
                      for (unsigned int w = 0; w < width; ++w)
                        if (c + w < m)
                          sum[w] += u[std::uint64_t(c + w) * n + i] * phi;
                    }
#pragma unroll
                  for (unsigned int w = 0; w < width; ++w)
                    if (c + w < m)
                      values[std::uint64_t(c + w) * n_points + q] =
                        factor * sum[w];
                }
            }
        }

        __global__ void
        __launch_bounds__(n_threads)
          check_kernel(const std::size_t n,
                       const double *__restrict__ changed,
                       PolytopewiseStatus *status)
        {
          const std::size_t i =
            std::size_t(blockIdx.x) * n_threads + threadIdx.x;
          if (i < n && !isfinite(changed[i]))
            lower_to(status->coefficient, i);
        }
      } // namespace



      void
      clear_status(PolytopewiseStatus *status)
      {
        check(cudaMemsetAsync(
                status, 0xff, sizeof(PolytopewiseStatus), current_stream()),
              "a functor of polytopes");
      }



      template <int dim>
      void
      compute_means(const PolytopewiseTask<dim> &task,
                    double                      *means,
                    PolytopewiseStatus          *status)
      {
        if (task.begin == task.end)
          return;
        means_kernel<dim>
          <<<n_blocks(std::size_t(task.end - task.begin) * task.n_components),
             n_threads,
             0,
             current_stream()>>>(task, means, status);
        check(cudaGetLastError(), "the mean values on polytopes");
      }



      template <int dim>
      void
      evaluate_at_points(const PolytopewiseTask<dim> &task,
                         const unsigned char         *exponents,
                         const unsigned int           max_degree)
      {
        if (task.begin == task.end)
          return;
        values_kernel<dim>
          <<<task.end - task.begin,
             point_threads,
             dim *(max_degree + 1) * point_threads * sizeof(double),
             current_stream()>>>(task, exponents, max_degree);
        check(cudaGetLastError(), "the values at points of polytopes");
      }



      void
      check_coefficients(const std::size_t   n,
                         const double       *changed,
                         PolytopewiseStatus *status)
      {
        if (n == 0)
          return;
        check_kernel<<<n_blocks(n), n_threads, 0, current_stream()>>>(n,
                                                                      changed,
                                                                      status);
        check(cudaGetLastError(), "a functor of polytopes");
      }



#define TESSELLA_INSTANTIATE(dim)                                 \
  template void compute_means(const PolytopewiseTask<dim> &,      \
                              double *,                           \
                              PolytopewiseStatus *);              \
  template void evaluate_at_points(const PolytopewiseTask<dim> &, \
                                   const unsigned char *,         \
                                   const unsigned int);

      TESSELLA_INSTANTIATE(2)
      TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
