// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_run_time_functor_h
#define tessella_forms_run_time_functor_h

#include <tessella/forms/device_coefficients.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /**
   * A functor as DeviceForm describes it, given as text: what a Form returns
   * from Form::device_coefficients() if it is compiled for a CUDA device while
   * the program runs (NVRTC, with the cache that KernelCache is about). The
   * form itself evaluates the same on the host.
   */
  template <int dim>
  struct RunTimeFunctor
  {
    /// A function of a point that the functor calls as name(p).
    struct PointFunction
    {
      std::string name;
      /// Of a C++ function of const double x, y, z (zero in two dimensions), t
      /// (of four variables the last one) and const Point &p that returns a
      /// double.
      std::string body;
      /// Where it comes from, for messages of the compiler: "the expression
      /// 'x*y' of Equation/Diffusion".
      std::string origin;
    };

    /// Defined in this order.
    std::vector<PointFunction> functions;

    /// C++ after these: at least a struct Coefficients, whose members are
    /// marked __device__. Point is PointData<dim>, namespace Tessella is in
    /// use, and Jet is there.
    std::string text;

    double                          time = 0., theta = 1.;
    std::vector<DiscreteField<dim>> fields;
    /// As DeviceForm::add_cell_values().
    std::vector<std::shared_ptr<const std::vector<double>>> cell_values;

    /// Called for the first bad point; returns or is empty where the sentences
    /// of AdvectionDiffusionReaction will do.
    std::function<void(const CoefficientError &)> throw_error;
  };

  /**
   * Compiles and loads for the current device; the same text a second time in a
   * process is found there. @p why_not says why the result is null if there is
   * no compiler.
   *
   * Errors: a text that does not compile, with the compiler's message and the
   * origin of the function that it is about.
   */
  template <int dim>
  std::shared_ptr<const DeviceCoefficients<dim>>
  compile_functor(const RunTimeFunctor<dim> &functor, std::string &why_not);

  /// Compiles for @p architecture ("sm_90") without a device, as a check;
  /// empty if that worked, "from the cache" if it was there, else why not.
  template <int dim>
  std::string
  check_compilation(const RunTimeFunctor<dim> &functor,
                    const std::string         &architecture);
} // namespace Tessella

#endif
