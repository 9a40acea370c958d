// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_device_function_h
#define tessella_forms_device_function_h

#include <string>

namespace Tessella
{
  /**
   * A Function or TensorFunction that can say itself in C++ may derive from
   * this class, too: forms whose coefficients can all do so (or are constant,
   * or have a value per material) are compiled for a CUDA device while the
   * program runs, and evaluated there.
   */
  class DeviceFunction
  {
  public:
    virtual ~DeviceFunction() = default;

    /**
     * The body of a C++ function with the arguments double x, y, z (z is zero
     * in two dimensions) and t (time; of four variables the last one) that
     * returns @p component (entries of a
     * tensor row by row). It may use what CUDA offers without an include.
     */
    virtual std::string
    device_code(const unsigned int component) const = 0;

    /// Where the component comes from, for messages: "the expression 'x*y' of
    /// Equation/Diffusion".
    virtual std::string
    origin(const unsigned int component) const = 0;

    /// Throws what the function throws at a point where its value is not
    /// finite.
    [[noreturn]] virtual void
    throw_not_finite(const unsigned int component,
                     const double       value,
                     const double      *x) const = 0;
  };

  /// Where kernels that were compiled at run time are kept on disk.
  namespace KernelCache
  {
    /// The directory to use from now on; empty: none.
    void
    set_directory(const std::string &directory);

    /// The directory in use: what was set, else tessella/kernels in
    /// $XDG_CACHE_HOME, else in $HOME/.cache; empty: none.
    std::string
    directory();
  } // namespace KernelCache
} // namespace Tessella

#endif
