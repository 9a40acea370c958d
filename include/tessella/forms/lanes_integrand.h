// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_lanes_integrand_h
#define tessella_forms_lanes_integrand_h

#include <tessella/base/backend.h>
#include <tessella/forms/functor_integrand.h>
#include <tessella/forms/pointwise_lanes.h>

namespace Tessella
{
  /**
   * Functions of LanesIntegrand that evaluate the functor @p F for several
   * points at once, compiled for one instruction set. A program that uses
   * LanesIntegrand<dim, F> has two files that include lanes_evaluation.h, each
   * compiled with the options for its instruction set and with the line
   *     template LanesFunctions<dim, F> LanesFunctions<dim, F>::avx512();
   * or avx2() in namespace Tessella, if config.h defines TESSELLA_HAVE_AVX512
   * or TESSELLA_HAVE_AVX2. Arguments are those of PointwiseIntegrand; regions
   * are those of functor_lanes.
   */
  template <int dim, typename F>
  struct LanesFunctions
  {
    void (*evaluate)(const F                    &f,
                     const PointwiseRegion       region,
                     const unsigned int          n,
                     const OperatorPoint<dim>   *points,
                     const double *const *const *in,
                     double *const *const       *out)   = nullptr;
    void (*evaluate_jacobian)(const F                    &f,
                              const PointwiseRegion       region,
                              const unsigned int          n,
                              const OperatorPoint<dim>   *points,
                              const double *const *const *in,
                              double *const              *out) = nullptr;

#ifdef TESSELLA_HAVE_AVX512
    static LanesFunctions
    avx512();
#endif
#ifdef TESSELLA_HAVE_AVX2
    static LanesFunctions
    avx2();
#endif

    /// Those of an instruction set; null pointers for `plain`.
    static LanesFunctions
    select(const InstructionSet instruction_set)
    {
      switch (instruction_set == InstructionSet::automatic
                ? best_instruction_set()
                : instruction_set)
        {
#ifdef TESSELLA_HAVE_AVX512
          case InstructionSet::avx512:
            return avx512();
#endif
#ifdef TESSELLA_HAVE_AVX2
          case InstructionSet::avx2:
            return avx2();
#endif
          default:
            return {};
        }
    }
  };



  inline namespace
#ifdef __CUDACC__
    LanesForDevice
#else
    LanesForHost
#endif
  {
    /**
     * FunctorIntegrand whose residuals and Jacobians the host computes for
     * several points at once, by the SIMD units of the processor on which the
     * program runs. The functor says with PointwiseLanes which of its members
     * can; all else is as in FunctorIntegrand, kernels for a device included.
     *
     * Fluxes of the Jacobian of the Euler equations in 3-D take an eighth of
     * the time with AVX-512. Results differ by rounding from those of
     * FunctorIntegrand, and have the same bits for every number of threads and
     * processes, as those have. Jacobians of a member with a derivative of its
     * own are those of FunctorIntegrand.
     */
    template <int dim, typename F>
    class LanesIntegrand : public FunctorIntegrand<dim, F>
    {
    public:
      explicit LanesIntegrand(
        const F             &functor         = F(),
        const InstructionSet instruction_set = InstructionSet::automatic)
        : FunctorIntegrand<dim, F>(functor)
        , functions(LanesFunctions<dim, F>::select(instruction_set))
      {}

      void
      evaluate(const PointwiseRegion       region,
               const unsigned int          n,
               const OperatorPoint<dim>   *points,
               const double *const *const *in,
               double *const *const       *out) const override
      {
        if (functions.evaluate != nullptr && has_lanes(region))
          functions.evaluate(this->functor(), region, n, points, in, out);
        else
          FunctorIntegrand<dim, F>::evaluate(region, n, points, in, out);
      }

      void
      evaluate_jacobian(const PointwiseRegion       region,
                        const unsigned int          n,
                        const OperatorPoint<dim>   *points,
                        const double *const *const *in,
                        double *const              *out) const override
      {
        if (functions.evaluate_jacobian != nullptr && has_lanes(region) &&
            !has_derivative(region))
          functions.evaluate_jacobian(
            this->functor(), region, n, points, in, out);
        else
          FunctorIntegrand<dim, F>::evaluate_jacobian(
            region, n, points, in, out);
      }

    private:
      static bool
      has_lanes(const PointwiseRegion region)
      {
        return (region == PointwiseRegion::volume &&
                (functor_lanes<F> & PointwiseLanes::volume) != 0) ||
               (region == PointwiseRegion::interior_facet &&
                (functor_lanes<F> & PointwiseLanes::interior_facet) != 0);
      }

      static bool
      has_derivative(const PointwiseRegion region)
      {
        using Traits = PointwiseTraits<dim, F>;
        return region == PointwiseRegion::volume
                 ? Traits::has_volume_derivative
                 : Traits::has_interior_facet_derivative;
      }

      LanesFunctions<dim, F> functions;
    };
  } // namespace
} // namespace Tessella

#endif
