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
   * A functor as DeviceForm describes it, given as text. A Form returns it from
   * Form::device_coefficients() if the functor is compiled for a CUDA device
   * while the program runs (NVRTC, with the cache of KernelCache). The form
   * itself evaluates the same coefficients on the host.
   */
  template <int dim>
  struct RunTimeFunctor
  {
    /// Function of a point that the functor calls as name(p).
    struct PointFunction
    {
      std::string name;
      /// Body of a C++ function of const double x, y, z (zero in two
      /// dimensions), t (of four variables the last one) and const Point &p
      /// that returns a double.
      std::string body;
      /// Origin of the function, for messages of the compiler: "the expression
      /// 'x*y' of Equation/Diffusion".
      std::string origin;
    };

    /// Functions of a point, defined in this order.
    std::vector<PointFunction> functions;

    /// C++ code that follows the functions: at least a struct Coefficients,
    /// whose members are marked __device__. Point is PointData<dim>, namespace
    /// Tessella is in use, and Jet is available.
    std::string text;

    double                          time = 0., theta = 1.;
    std::vector<DiscreteField<dim>> fields;
    /// Arrays of cell values, as in DeviceForm::add_cell_values().
    std::vector<std::shared_ptr<const std::vector<double>>> cell_values;

    /// Called for the first point with an error. If the function is empty or
    /// returns, the exceptions of AdvectionDiffusionReaction are thrown.
    std::function<void(const CoefficientError &)> throw_error;
  };

  /**
   * Compiles and loads a functor for the current device; a process compiles the
   * same text only once. @p why_not is the reason if the result is null because
   * there is no compiler.
   *
   * Errors: a text that does not compile. The message contains the compiler's
   * message and the origin of the function with the error.
   */
  template <int dim>
  std::shared_ptr<const DeviceCoefficients<dim>>
  compile_functor(const RunTimeFunctor<dim> &functor, std::string &why_not);

  /// Compiles for @p architecture ("sm_90") without a device, as a check.
  /// Returns an empty string for success, "from the cache" if the result was
  /// found there, and else the reason of the failure.
  template <int dim>
  std::string
  check_compilation(const RunTimeFunctor<dim> &functor,
                    const std::string         &architecture);
} // namespace Tessella

#endif
