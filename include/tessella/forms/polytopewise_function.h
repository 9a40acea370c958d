// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_polytopewise_function_h
#define tessella_forms_polytopewise_function_h

#include <tessella/forms/polytopewise_task.h>

#include <memory>
#include <string>

// What PolytopewiseOperator calls. .cu files of users include this file, so
// that it uses no deal.II.

namespace Tessella
{
  /// The kernel of a functor of PolytopewiseOperator on a CUDA device.
  template <int dim>
  class DevicePolytopewiseKernel
  {
  public:
    virtual ~DevicePolytopewiseKernel() = default;

    /// Where the functor comes from, for reports: "functor on the device".
    virtual std::string
    description() const = 0;

    /// Starts the kernel for the polytopes of @p task in a cudaStream_t.
    /// Returns an error message, or an empty string.
    virtual std::string
    launch(const internal::Device::PolytopewiseTask<dim> &task,
           void                                          *stream) const = 0;
  };



  /**
   * A functor of PolytopewiseOperator whose type is known at run time only. The
   * classes derived from it are
   * - PolytopewiseFunctor: a functor in C++, for the host, and for a CUDA
   * device if nvcc compiles its file,
   * - PolytopewiseText: a functor in C++ given as text, which is compiled for
   *   the device while the program runs.
   */
  template <int dim>
  class PolytopewiseFunction
  {
  public:
    virtual ~PolytopewiseFunction() = default;

    /// Whether PolytopeStencil::x and values are set.
    virtual bool
    point_values() const = 0;

    /// Calls the functor on the host, see PolytopewiseTraits. Thread safe.
    virtual double
    evaluate(const PolytopeStencil<dim> &stencil, double *u) const = 0;

    /// The kernel for the present device, or null: then the host evaluates the
    /// functor for vectors of the device, too.
    virtual std::shared_ptr<const DevicePolytopewiseKernel<dim>>
    device_kernel() const
    {
      return nullptr;
    }

    /// Why there is no kernel, as part of a sentence; empty if there is one.
    virtual std::string
    why_not_on_device() const
    {
      return "the functor was not compiled by nvcc";
    }
  };
} // namespace Tessella

#endif
