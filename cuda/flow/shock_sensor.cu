// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "shock_sensor.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;

        /// One polytope per thread.
        template <int dim>
        __global__ void
        __launch_bounds__(n_threads)
          sensor_kernel(const SensorArrays           arrays,
                        const Flow::ShockSensor<dim> sensor,
                        const double *__restrict__ u,
                        double *__restrict__ slopes,
                        double *__restrict__ field)
        {
          const unsigned int k = blockIdx.x * n_threads + threadIdx.x;
          if (k >= arrays.n)
            return;
          constexpr unsigned int m     = dim + 2;
          const std::uint64_t    first = arrays.dof_offset[k];
          const unsigned int     n     = arrays.n_basis[k];
          PolytopeStencil<dim>   s     = {};
          s.n_components               = m;
          s.degree                     = arrays.degree[k];
          s.n_basis                    = n;
          s.measure                    = arrays.measure[k];
          s.basis_mean                 = arrays.basis_mean + first / m;
          s.coefficients               = u + first;
          // The mean values of this polytope alone: it is number 0.
          double means[m];
          for (unsigned int c = 0; c < m; ++c)
            {
              means[c] = 0.;
              for (unsigned int i = 0; i < n; ++i)
                means[c] += u[first + c * n + i] * s.basis_mean[i];
            }
          s.means           = means;
          const double unit = arrays.unit[k];
          field[k]          = unit * sensor(s, slopes + first);
          for (unsigned int i = 0; i < m * n; ++i)
            slopes[first + i] *= unit;
        }



        /// One polytope per thread, which adds in the order of the host.
        __global__ void
        __launch_bounds__(n_threads)
          derivative_kernel(const SensorArrays arrays,
                            const double *__restrict__ slopes,
                            const double *__restrict__ direction,
                            double *__restrict__ change)
        {
          const unsigned int k = blockIdx.x * n_threads + threadIdx.x;
          if (k >= arrays.n)
            return;
          double sum = 0.;
          for (std::uint64_t i = arrays.dof_offset[k];
               i < arrays.dof_offset[k + 1];
               ++i)
            sum += slopes[i] * direction[i];
          change[k] = sum;
        }
      } // namespace



      template <int dim>
      void
      evaluate_sensor(const SensorArrays           &arrays,
                      const Flow::ShockSensor<dim> &sensor,
                      const double                 *u,
                      double                       *slopes,
                      double                       *field)
      {
        if (arrays.n == 0)
          return;
        sensor_kernel<dim>
          <<<(arrays.n + n_threads - 1) / n_threads,
             n_threads,
             0,
             current_stream()>>>(arrays, sensor, u, slopes, field);
        check(cudaGetLastError(), "the sensor of shocks");
      }



      void
      apply_sensor_derivative(const SensorArrays &arrays,
                              const double       *slopes,
                              const double       *direction,
                              double             *change)
      {
        if (arrays.n == 0)
          return;
        derivative_kernel<<<(arrays.n + n_threads - 1) / n_threads,
                            n_threads,
                            0,
                            current_stream()>>>(arrays,
                                                slopes,
                                                direction,
                                                change);
        check(cudaGetLastError(), "the derivative of the sensor of shocks");
      }



      template void
      evaluate_sensor(const SensorArrays &,
                      const Flow::ShockSensor<2> &,
                      const double *,
                      double *,
                      double *);
      template void
      evaluate_sensor(const SensorArrays &,
                      const Flow::ShockSensor<3> &,
                      const double *,
                      double *,
                      double *);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
