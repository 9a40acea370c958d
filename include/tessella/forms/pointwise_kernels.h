// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_kernels_h
#define tessella_forms_pointwise_kernels_h

#include <tessella/forms/device_pointwise_kernels.h>
#include <tessella/forms/pointwise_facet_results.h>
#include <tessella/forms/pointwise_jacobian.h>
#include <tessella/forms/pointwise_residual.h>

#ifdef __CUDACC__
#  include <cuda_runtime.h>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Results on facets for the residual or for the tangent in a direction,
      /// one point for each thread.
      template <int dim, typename F, bool tangent>
      __global__ void
      __launch_bounds__(pointwise_threads(PointwiseKernel::facet_residual),
                        tangent ? 3 : 4)
        pointwise_facets(const PointwiseTask<dim> task, const F f)
      {
        extern __shared__ double2 memory[];
        const std::uint64_t       point =
          std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
        if (point < task.mesh.n_facet_points)
          PointwiseFacetResults<dim, F, tangent>(
            task,
            f,
            reinterpret_cast<double *>(memory) +
              threadIdx.x * task.layout.table_stride)
            .evaluate(point);
      }



      /// Residual, or tangent in a direction, of one group of polytopes per
      /// thread block.
      template <int dim, typename F, bool tangent>
      __global__ void
      __launch_bounds__(pointwise_threads(PointwiseKernel::residual),
                        tangent ? 4 : 5)
        pointwise_residual(const PointwiseTask<dim> task, const F f)
      {
        extern __shared__ double2          memory[];
        PointwiseResidual<dim, F, tangent> block(task,
                                                 f,
                                                 reinterpret_cast<double *>(
                                                   memory),
                                                 blockIdx.x,
                                                 threadIdx.x,
                                                 blockDim.x);
        block.load_polytopes();
        block.clear_sums();
        for (unsigned int b = 0; b < block.group.n_batches; ++b)
          {
            const PointwiseBatch batch =
              task.plan.batches[block.group.first_batch + b];
            block.load_batch(batch);
            __syncthreads();
            block.evaluate(batch);
            __syncthreads();
            block.integrate(batch);
            __syncthreads();
          }
        block.store();
      }



      /// Jacobian or its diagonal blocks: one block row per thread block.
      template <int dim, typename F>
      __global__ void
      __launch_bounds__(pointwise_threads(PointwiseKernel::jacobian), 2)
        pointwise_jacobian(const PointwiseTask<dim> task, const F f)
      {
        extern __shared__ double2 memory[];
        PointwiseJacobian<dim, F> block(task,
                                        f,
                                        reinterpret_cast<double *>(memory),
                                        blockIdx.x,
                                        threadIdx.x,
                                        blockDim.x);
        block.load_polytopes();
        for (unsigned int b = 0; b < block.group.n_batches; ++b)
          {
            const PointwiseBatch batch =
              task.plan.batches[block.group.first_batch + b];
            block.load_batch(batch);
            block.set_batch(batch);
            __syncthreads();
            block.evaluate();
            __syncthreads();
            block.differentiate();
            __syncthreads();
            block.add_entries(b == 0);
            __syncthreads();
          }
      }
    } // namespace Device
  }   // namespace internal



  /// Kernels that nvcc compiles for a functor, see PointwiseTraits.
  template <int dim, typename F>
  class FunctorKernels : public DevicePointwiseKernels<dim>
  {
  public:
    static_assert(PointwiseTraits<dim, F>::Fields::n_fields <=
                    internal::Device::max_operator_fields,
                  "A functor for a device has at most eight fields.");

    FunctorKernels(const F &f, const double time)
      : f(f)
      , time(time)
    {}

    std::string
    description() const override
    {
      return "functor on the device";
    }

    std::string
    launch(const internal::Device::PointwiseKernel     kernel,
           const internal::Device::PointwiseTask<dim> &given,
           const unsigned int                          n_blocks,
           void                                       *stream) const override
    {
      using namespace internal::Device;
      switch (kernel)
        {
          case PointwiseKernel::facet_residual:
            return start(pointwise_facets<dim, F, false>,
                         given,
                         n_blocks,
                         stream);
          case PointwiseKernel::facet_tangent:
            return start(pointwise_facets<dim, F, true>,
                         given,
                         n_blocks,
                         stream);
          case PointwiseKernel::residual:
            return start(pointwise_residual<dim, F, false>,
                         given,
                         n_blocks,
                         stream);
          case PointwiseKernel::tangent:
            return start(pointwise_residual<dim, F, true>,
                         given,
                         n_blocks,
                         stream);
          default:
            return start(pointwise_jacobian<dim, F>, given, n_blocks, stream);
        }
    }

  private:
    template <typename Kernel>
    std::string
    start(const Kernel                               &function,
          const internal::Device::PointwiseTask<dim> &given,
          const unsigned int                          n_blocks,
          void                                       *stream) const
    {
      internal::Device::PointwiseTask<dim> task = given;
      task.t                                    = time;
      const int   bytes = static_cast<int>(task.layout.bytes);
      cudaError_t error =
        cudaFuncSetAttribute(function,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             bytes);
      if (error == cudaSuccess)
        {
          function<<<n_blocks,
                     task.layout.n_threads,
                     bytes,
                     static_cast<cudaStream_t>(stream)>>>(task, f);
          error = cudaGetLastError();
        }
      if (error == cudaSuccess)
        return "";
      return std::string("A kernel of a functor could not be started: ") +
             cudaGetErrorString(error) +
             (error == cudaErrorNoKernelImageForDevice
                ? ". Compile its .cu file for the architecture of this card "
                  "(CMAKE_CUDA_ARCHITECTURES)."
                : ".");
    }

    const F      f;
    const double time;
  };
} // namespace Tessella

#endif

#endif
