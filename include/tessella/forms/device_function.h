// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_device_function_h
#define tessella_forms_device_function_h

#include <string>

namespace Tessella
{
  /**
   * A Function or TensorFunction may also derive from this class if it can
   * provide its values as C++ code. Forms whose coefficients all provide code
   * (or are constant, or have a value per material) are compiled for a CUDA
   * device while the program runs, and evaluated there.
   */
  class DeviceFunction
  {
  public:
    virtual ~DeviceFunction() = default;

    /**
     * Body of a C++ function with the arguments double x, y, z (z is zero in
     * two dimensions) and t (time; of four variables the last one) that returns
     * @p component (entries of a tensor row by row). It may use all functions
     * that CUDA offers without an include.
     */
    virtual std::string
    device_code(const unsigned int component) const = 0;

    /// Origin of the component, for messages: "the expression 'x*y' of
    /// Equation/Diffusion".
    virtual std::string
    origin(const unsigned int component) const = 0;

    /// Throws the exception of the function for a point where its value is not
    /// finite.
    [[noreturn]] virtual void
    throw_not_finite(const unsigned int component,
                     const double       value,
                     const double      *x) const = 0;
  };

  /// Directory on disk for kernels that were compiled at run time.
  namespace KernelCache
  {
    /// Sets the directory to use from now on; an empty string means none.
    void
    set_directory(const std::string &directory);

    /// Directory in use: the one that was set, else tessella/kernels in
    /// $XDG_CACHE_HOME, else in $HOME/.cache. An empty string means none.
    std::string
    directory();
  } // namespace KernelCache
} // namespace Tessella

#endif
