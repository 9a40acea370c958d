// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_polytopewise_functor_h
#define tessella_forms_polytopewise_functor_h

#include <tessella/forms/polytopewise_function.h>

#include <memory>
#include <string>
#include <type_traits>

#ifdef __CUDACC__
#  include <cuda_runtime.h>
#endif

namespace Tessella
{
  // Compiled by nvcc, the class has a kernel; otherwise it has none. A program
  // may contain both, which must not share code.
#ifdef __CUDACC__
  inline namespace CompiledForDevice
#else
  inline namespace CompiledForHost
#endif
  {
#ifdef __CUDACC__
    /// The kernel that nvcc compiles for a functor.
    template <int dim, typename F>
    class PolytopewiseFunctorKernel : public DevicePolytopewiseKernel<dim>
    {
    public:
      explicit PolytopewiseFunctorKernel(const F &f)
        : f(f)
      {}

      std::string
      description() const override
      {
        return "functor on the device";
      }

      std::string
      launch(const internal::Device::PolytopewiseTask<dim> &task,
             void *stream) const override
      {
        using namespace internal::Device;
        polytopewise<dim, F>
          <<<(task.end - task.begin + polytopewise_threads - 1) /
               polytopewise_threads,
             polytopewise_threads,
             0,
             static_cast<cudaStream_t>(stream)>>>(task, f);
        const cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess)
          return "";
        return std::string("A kernel of a functor could not be started: ") +
               cudaGetErrorString(error) +
               (error == cudaErrorNoKernelImageForDevice
                  ? ". Compile its .cu file for the architecture of this card "
                    "(CMAKE_CUDA_ARCHITECTURES)."
                  : ".");
      }

    private:
      const F f;
    };
#endif



    /**
     * A functor of PolytopewiseOperator in C++, see PolytopewiseTraits:
     *
     *     const PolytopewiseFunctor<dim, SlopeLimiter> slopes;
     *     op.apply(slopes, u);
     *
     * <b>Device.</b> With a CUDA device and in a .cu file that nvcc compiles,
     * the functor works on vectors in the memory of the device, one polytope
     * for each thread. This header and those that it includes need no deal.II.
     * A program keeps the functor and
     *
     *     std::unique_ptr<PolytopewiseFunction<dim>> make_limiter();
     *
     * in a .cu file of its own, and the rest of the program uses
     * PolytopewiseFunction only. Compiled without nvcc, the functor works on
     * the host, also for vectors of the device, which then are copied.
     */
    template <int dim, typename F>
    class PolytopewiseFunctor : public PolytopewiseFunction<dim>
    {
    public:
      static_assert(std::is_trivially_copyable<F>::value,
                    "A functor is copied to the device as it is: its members "
                    "must be plain data.");

      explicit PolytopewiseFunctor(const F &functor = F())
        : f(functor)
      {}

      /// Access to the functor, to change its parameters between calls.
      F &
      functor()
      {
        return f;
      }
      const F &
      functor() const
      {
        return f;
      }

      bool
      point_values() const override
      {
        return PolytopewiseTraits<F>::point_values;
      }

      double
      evaluate(const PolytopeStencil<dim> &stencil, double *u) const override
      {
        return f(stencil, u);
      }

#ifdef __CUDACC__
      std::shared_ptr<const DevicePolytopewiseKernel<dim>>
      device_kernel() const override
      {
        return std::make_shared<const PolytopewiseFunctorKernel<dim, F>>(f);
      }

      std::string
      why_not_on_device() const override
      {
        return "";
      }
#endif

    private:
      F f;
    };
  } // namespace
} // namespace Tessella

#endif
