// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_polytopewise_text_h
#define tessella_forms_polytopewise_text_h

#include <tessella/forms/polytopewise_function.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /**
   * A functor of PolytopewiseOperator given as text of C++, which a CUDA device
   * compiles while the program runs (NVRTC, with the cache of KernelCache):
   *
   *     PolytopewiseText<dim> damping(
   *       "struct Functor\n"
   *       "{\n"
   *       "  double factor;\n"
   *       "  double operator()(const PolytopeStencil<dim> &s,\n"
   *       "                    double *u) const\n"
   *       "  {\n"
   *       "    for (unsigned int c = 0; c < s.n_components; ++c)\n"
   *       "      s.scale_towards_mean(c, factor, u);\n"
   *       "    return factor;\n"
   *       "  }\n"
   *       "};");
   *     damping.parameters = {0.5};
   *     op.apply(damping, u); // a DeviceVector<double>
   *
   * The text defines a struct Functor with the members that PolytopewiseTraits
   * describes, whose data are the doubles of parameters, in their order. dim is
   * known by name, namespace Tessella is in use, and so are the functions of
   * CUDA's mathematics library.
   *
   * <b>Host.</b> The host cannot compile text: a program whose vectors may be
   * in the memory of the host gives a host function that computes the same.
   *
   * <b>Errors</b>, as exceptions with one sentence: a text that does not
   * compile, with the message of the compiler; data of the functor that are not
   * as many doubles as there are parameters; evaluation on the host without a
   * host function.
   */
  template <int dim>
  class PolytopewiseText : public PolytopewiseFunction<dim>
  {
  public:
    using HostFunction =
      std::function<double(const PolytopeStencil<dim> &, double *)>;

    /// @p with_point_values: whether PolytopeStencil::x and values are set.
    explicit PolytopewiseText(const std::string  &text,
                              const bool          with_point_values = false,
                              const HostFunction &host              = {});

    /// Data of the functor, which can be changed between calls. Another number
    /// of them is another functor, which is compiled again.
    std::vector<double> parameters;

    bool
    point_values() const override;

    double
    evaluate(const PolytopeStencil<dim> &stencil, double *u) const override;

    std::shared_ptr<const DevicePolytopewiseKernel<dim>>
    device_kernel() const override;

    std::string
    why_not_on_device() const override;

    /// Compiles the kernel for @p architecture ("sm_90") without a device, as a
    /// check. Returns an empty string, or the reason why there is no compiler.
    /// Errors: a text that does not compile.
    std::string
    check_compilation(const std::string &architecture) const;

  private:
    std::string
    source() const;

    const std::string  text;
    const bool         with_point_values;
    const HostFunction host;
  };
} // namespace Tessella

#endif
