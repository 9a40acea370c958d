// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_text_integrand_h
#define tessella_forms_pointwise_text_integrand_h

#include <tessella/forms/pointwise_integrand.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /**
   * Integrand of a PointwiseOperator whose terms are given as text, for example
   * in a parameter file:
   *
   *     PointwiseTextTerms terms; // u_t + div(u^2 / 2 (1, .., 1)) = 0
   *     terms.volume =
   *       "for (int d = 0; d < dim; ++d)"
   *       "  r.gradient[0][d] = -0.5 * u.value[0] * u.value[0];";
   *     terms.interior_facet =
   *       "s = max(abs(u0.value[0]), abs(u1.value[0]));"
   *       "flux = speed * s * (u0.value[0] - u1.value[0]);"
   *       "for (int d = 0; d < dim; ++d)"
   *       "  flux += 0.25 * n[d] * (u0.value[0]^2 + u1.value[0]^2);"
   *       "r0.value[0] = flux;  r1.value[0] = -flux;";
   *     terms.parameters["speed"] = 0.5;
   *     PointwiseTextIntegrand<dim> integrand(terms);
   *
   * <b>Terms.</b> The three texts have the meaning of the members of a functor,
   * see PointwiseTraits. An empty text, or one that sets no result, has no
   * terms in its region. The rows that the operator evaluates are those that
   * the texts read and write.
   *
   * <b>Language.</b> Statements of C++ on doubles, separated by semicolons:
   * - assignments name = expression, also with += -= *= /=; names of the user
   *   may have indices, flux[c][d], and need no declaration (const, double and
   *   auto in front of it are allowed);
   * - for (int i = a; i < b; ++i) with limits that are integers known when the
   *   text is read, if (condition) .. else .., braces and comments.
   *
   * Expressions have + - * / ^ (a power, also **), comparisons, && || !,
   * condition ? a : b, numbers, and the functions abs, acos, acosh, asin,
   * asinh, atan, atan2, atanh, cbrt, ceil, cos, cosh, cot, csc, erf, erfc, exp,
   * floor, if, int, log, log2, log10, max, min, pow, rint, round, sec, sign,
   * sin, sinh, sqrt, tan, tanh. All numbers are doubles: 1/2 is 0.5. Indices
   * are integers known when the text is read.
   *
   * <b>Data.</b> Fields u.value[c], u.gradient[c][d] and results r.value[c],
   * r.gradient[c][d], on facets between polytopes with the side: u0, u1, r0,
   * r1 or u[s], r[s]. Results are zero unless they are set. The point has x[d]
   * (or x, y, z), t, on facets the normal n[d] and p.penalty, and p.h[s],
   * p.material[s] and on the boundary p.boundary_id; see OperatorPoint, whose
   * members can be written p.x[d] and so on. dim, pi and the parameters are
   * known by name.
   *
   * <b>Evaluation.</b> On the host operations are carried out one after the
   * other for 32 points at a time; derivatives are derived from the text with
   * symbols, so that entries of a Jacobian that are zero cost nothing. A CUDA
   * device gets a functor in C++ of the same operations, which is compiled when
   * a kernel is first needed (NVRTC, a few seconds) and kept in the memory and
   * in the directory of KernelCache. Host and device agree up to rounding.
   *
   * <b>Errors</b> in a text, unknown names and indices out of range end in one
   * sentence with line and character when the object is made.
   */
  struct PointwiseTextTerms
  {
    /// Origin of the texts, for messages: "Equation".
    std::string name;
    /// Number of components of each field, and of the test functions.
    std::vector<unsigned int> field_components = {1};
    unsigned int              n_components     = 1;
    std::string               volume, interior_facet, boundary_facet;
    /// Parameters with their values, which can be changed later.
    std::map<std::string, double> parameters;
  };



  /// Integrand from text, see PointwiseTextTerms.
  template <int dim>
  class PointwiseTextIntegrand : public PointwiseIntegrand<dim>
  {
  public:
    using Structure = typename PointwiseIntegrand<dim>::Structure;

    explicit PointwiseTextIntegrand(const PointwiseTextTerms &terms);
    ~PointwiseTextIntegrand() override;

    /// Changes a parameter, which must exist. Nothing is compiled again.
    void
    set_parameter(const std::string &name, const double value);
    double
    parameter(const std::string &name) const;

    Structure
    structure() const override;

    void
    evaluate(const PointwiseRegion       region,
             const unsigned int          n,
             const OperatorPoint<dim>   *points,
             const double *const *const *in,
             double *const *const       *out) const override;

    void
    evaluate_tangent(const PointwiseRegion       region,
                     const unsigned int          n,
                     const OperatorPoint<dim>   *points,
                     const double *const *const *in,
                     const double *const *const *direction,
                     double *const *const       *out) const override;

    void
    evaluate_jacobian(const PointwiseRegion       region,
                      const unsigned int          n,
                      const OperatorPoint<dim>   *points,
                      const double *const *const *in,
                      double *const              *out) const override;

    std::shared_ptr<const DevicePointwiseKernels<dim>>
    device_kernels() const override;

    std::string
    why_not_on_device() const override;

    /// The functor in C++ that a device compiles, a struct Functor.
    std::string
    device_code() const;

    /// Compiles the kernels of residual, tangent and Jacobian for
    /// @p architecture ("sm_90") without a device, as a check. Returns an empty
    /// string, or the reason why there is no compiler; @p seconds are the
    /// times of the five kernels. Errors: a text that does not compile.
    std::string
    check_compilation(const std::string   &architecture,
                      std::vector<double> &seconds) const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
