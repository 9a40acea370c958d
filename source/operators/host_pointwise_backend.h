// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_pointwise_backend_h
#define tessella_source_operators_host_pointwise_backend_h

#include <cstdint>
#include <memory>

#include "host_pointwise_rows.h"
#include "operator_bases.h"
#include "pointwise_backend.h"

namespace Tessella
{
  namespace internal
  {
    /// Pointwise operators on the host, by all threads. Rules and bases are
    /// kept until the spaces or the order of the quadrature change.
    template <int dim>
    class HostPointwiseBackend : public PointwiseBackend<dim>
    {
    public:
      using Integrand = typename PointwiseBackend<dim>::Integrand;
      using Fields    = typename PointwiseBackend<dim>::Fields;

      using PointwiseBackend<dim>::PointwiseBackend;

      Backend
      type() const override
      {
        return Backend::host;
      }

      void
      residual(const Integrand &integrand,
               const Fields    &fields,
               double          *result) override;

      void
      tangent(const Integrand   &integrand,
              const Fields      &fields,
              const unsigned int field,
              const double      *direction,
              double            *result) override;

      void
      jacobian(const Integrand              &integrand,
               const Fields                 &fields,
               const unsigned int            field,
               const AssemblyTarget<double> &target) override;

      void
      diagonal_blocks(const Integrand   &integrand,
                      const Fields      &fields,
                      const unsigned int field,
                      double            *blocks) override;

      void
      volume_integrals(const Integrand &integrand,
                       const Fields    &fields,
                       double          *integrals) override;

      void
      boundary_integrals(const Integrand &integrand,
                         const Fields    &fields,
                         double          *integrals) override;

    private:
      using Rows = HostPointwiseRows<dim>;

      // The problem, with present rules and bases.
      HostPointwiseProblem<dim>
      problem(const Integrand   &integrand,
              const Fields      &fields,
              const unsigned int field     = 0,
              const double      *direction = nullptr);

      // Residual or tangent.
      void
      compute_vector(const HostPointwiseProblem<dim> &problem, double *result);

      // Calls work(rows, k) for all owned polytopes.
      template <typename Work>
      void
      for_rows(const HostPointwiseProblem<dim> &problem,
               const typename Rows::Result      result,
               const Work                      &work) const;

      std::uint64_t                       revision = 0;
      std::unique_ptr<HostRules<dim>>     rules;
      std::unique_ptr<OperatorBases<dim>> bases;
    };
  } // namespace internal
} // namespace Tessella

#endif
