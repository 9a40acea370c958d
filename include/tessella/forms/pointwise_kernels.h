// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_kernels_h
#define tessella_forms_pointwise_kernels_h

#include <tessella/forms/device_pointwise_kernels.h>
#include <tessella/forms/pointwise_facet_results.h>
#include <tessella/forms/pointwise_jacobian.h>
#include <tessella/forms/pointwise_residual.h>
#include <tessella/forms/pointwise_simplices.h>
#include <tessella/forms/pointwise_uses.h>
#include <tessella/forms/simplex_jacobian.h>

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



      /// Largest number of threads of a block on affine simplices.
      constexpr unsigned int simplex_block = 128;

      /// Memory of a warp of which all warps of a block have @p n doubles.
      __device__ __forceinline__ double *
      memory_of_warp(const unsigned int n)
      {
        extern __shared__ double2 memory[];
        return reinterpret_cast<double *>(memory) + threadIdx.x / 32 * n;
      }

      /// Results on facets of affine simplices, 8 facets for each warp.
      template <int dim, typename F, bool tangent>
      __global__ void
      __launch_bounds__(simplex_block, tangent ? 3 : 4)
        simplex_facets(const SimplexTask<dim> task, const F f)
      {
        const unsigned int group =
          blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
        if (group < task.n_facet_groups())
          SimplexFacetResults<dim, F, tangent>(
            task,
            f,
            memory_of_warp(task.facet_operands +
                           simplices_of_warp * task.facet_pitch),
            group)
            .run();
      }

      /// Residual, or tangent, on affine simplices, 8 for each warp.
      template <int dim, typename F, bool tangent>
      __global__ void
      __launch_bounds__(simplex_block, tangent ? 3 : 4)
        simplex_residual(const SimplexTask<dim> task, const F f)
      {
        const unsigned int group =
          blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
        if (group < task.n_groups())
          SimplexResults<dim, F, tangent>(
            task,
            f,
            memory_of_warp(task.operands + simplices_of_warp * task.pitch),
            group)
            .run();
      }

      /// Jacobian, or its diagonal blocks, on affine simplices: one block row
      /// per thread block.
      template <int dim, typename F, int degree>
      __global__ void
      __launch_bounds__(simplex_jacobian_threads(degree),
                        degree == 1   ? 8
                        : degree == 2 ? 3
                                      : 1)
        simplex_jacobian(const SimplexJacobianTask<dim> task, const F f)
      {
        extern __shared__ double2 memory[];
        SimplexJacobian<dim, F, degree>(task,
                                        f,
                                        reinterpret_cast<double *>(memory),
                                        task.first_simplex + blockIdx.x)
          .run();
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
      const auto run = [&](const auto &function) {
        return start(function,
                     given,
                     n_blocks,
                     given.layout.n_threads,
                     given.layout.bytes,
                     stream);
      };
      if constexpr (functor_has_use<F, PointwiseUses::residual>)
        {
          if (kernel == PointwiseKernel::facet_residual)
            return run(pointwise_facets<dim, F, false>);
          if (kernel == PointwiseKernel::residual)
            return run(pointwise_residual<dim, F, false>);
        }
      if constexpr (functor_has_use<F, PointwiseUses::tangent>)
        {
          if (kernel == PointwiseKernel::facet_tangent)
            return run(pointwise_facets<dim, F, true>);
          if (kernel == PointwiseKernel::tangent)
            return run(pointwise_residual<dim, F, true>);
        }
      if constexpr (functor_has_use<F, PointwiseUses::jacobian>)
        if (kernel == PointwiseKernel::jacobian)
          return run(pointwise_jacobian<dim, F>);
      return no_such_kernel;
    }

    std::string
    launch(const internal::Device::PointwiseKernel   kernel,
           const internal::Device::SimplexTask<dim> &given,
           const unsigned int                        n_blocks,
           void                                     *stream) const override
    {
      using namespace internal::Device;
      using Traits = PointwiseTraits<dim, F>;
      if constexpr (has_simplex_kernels(Traits::has_interior_facet ||
                                          Traits::has_boundary_facet,
                                        Traits::facet_input,
                                        Traits::facet_output))
        {
          const auto facets = [&](const auto &function) {
            return start(function,
                         given,
                         n_blocks,
                         given.facet_threads,
                         given.facet_bytes(),
                         stream);
          };
          const auto run = [&](const auto &function) {
            return start(function,
                         given,
                         n_blocks,
                         given.n_threads,
                         given.n_bytes(),
                         stream);
          };
          if constexpr (functor_has_use<F, PointwiseUses::residual>)
            {
              if (kernel == PointwiseKernel::simplex_facet_residual)
                return facets(simplex_facets<dim, F, false>);
              if (kernel == PointwiseKernel::simplex_residual)
                return run(simplex_residual<dim, F, false>);
            }
          if constexpr (functor_has_use<F, PointwiseUses::tangent>)
            {
              if (kernel == PointwiseKernel::simplex_facet_tangent)
                return facets(simplex_facets<dim, F, true>);
              if (kernel == PointwiseKernel::simplex_tangent)
                return run(simplex_residual<dim, F, true>);
            }
          return no_such_kernel;
        }
      return "The functor has no kernels on affine simplices.";
    }

    std::string
    launch(const internal::Device::PointwiseKernel           kernel,
           const internal::Device::SimplexJacobianTask<dim> &given,
           const unsigned int                                n_blocks,
           void *stream) const override
    {
      using namespace internal::Device;
      using Traits = PointwiseTraits<dim, F>;
      if constexpr (has_simplex_kernels(Traits::has_interior_facet ||
                                          Traits::has_boundary_facet,
                                        Traits::facet_input,
                                        Traits::facet_output))
        {
          const auto run = [&](const auto &function) {
            return start(function,
                         given,
                         n_blocks,
                         given.block_threads,
                         given.block_bytes,
                         stream);
          };
          if constexpr (functor_has_use<F, PointwiseUses::jacobian>)
            switch (kernel)
              {
                case PointwiseKernel::simplex_jacobian_1:
                  return run(simplex_jacobian<dim, F, 1>);
                case PointwiseKernel::simplex_jacobian_2:
                  return run(simplex_jacobian<dim, F, 2>);
                default:
                  return run(simplex_jacobian<dim, F, 3>);
              }
          return no_such_kernel;
        }
      return "The functor has no kernels on affine simplices.";
    }

  private:
    static constexpr const char *no_such_kernel =
      "The functor is not for this kernel (PointwiseUses).";

    template <typename Kernel, typename Task>
    std::string
    start(const Kernel      &function,
          const Task        &given,
          const unsigned int n_blocks,
          const unsigned int n_threads,
          const unsigned int bytes,
          void              *stream) const
    {
      Task task = given;
      task.t    = time;
      cudaError_t error =
        cudaFuncSetAttribute(function,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes));
      if (error == cudaSuccess)
        {
          function<<<n_blocks,
                     n_threads,
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
