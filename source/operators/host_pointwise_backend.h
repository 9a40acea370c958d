// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_pointwise_backend_h
#define tessella_source_operators_host_pointwise_backend_h

#include <cstdint>
#include <memory>
#include <vector>

#include "host_pointwise_rows.h"
#include "host_pointwise_simplices.h"
#include "operator_bases.h"
#include "pointwise_backend.h"

namespace Tessella
{
  namespace internal
  {
    /// Pointwise operators on the host, by all threads. Rules, bases and
    /// buffers are kept until the spaces or the order of the quadrature change.
    template <int dim>
    class HostPointwiseBackend : public PointwiseBackend<dim>
    {
    public:
      using Arguments = typename PointwiseBackend<dim>::Arguments;

      explicit HostPointwiseBackend(PointwiseContext<dim> &context)
        : PointwiseBackend<dim>(context)
        , simplices(context)
      {}

      Backend
      type() const override
      {
        return Backend::host;
      }

      std::string
      prepare(const PointwiseIntegrand<dim> &integrand,
              const PointwiseResultType      type) override;
      std::string
      why_not_simplices() const override
      {
        return reason;
      }
      std::string
      choose_kernels(const std::string &why_not_simplices) override;

      void
      vector(const Arguments &arguments, double *result) override;

      void
      jacobian(const Arguments              &arguments,
               const AssemblyTarget<double> &target) override;
      void
      jacobian(const Arguments &arguments, float *device_values) override;

      void
      add_chained_jacobian(const Arguments              &arguments,
                           const double                 *derivative,
                           const AssemblyTarget<double> &target) override;

      void
      diagonal_blocks(const Arguments &arguments, double *blocks) override;

      void
      integrals(const Arguments      &arguments,
                const PointwiseRegion region,
                double               *integrals) override;

    private:
      using Rows = HostPointwiseRows<dim>;

      // The problem, with present rules and bases.
      HostPointwiseProblem<dim>
      problem(const Arguments &arguments);

      // Calls work(rows, k) for all owned polytopes.
      template <typename Work>
      void
      for_rows(const HostPointwiseProblem<dim> &problem,
               const typename Rows::Result      result,
               const Work                      &work);

      // Rules and bases of the present spaces and order of the quadrature.
      void
      update();
      // Lengths of the present mesh.
      void
      update_lengths();

      HostPointwiseSimplices<dim> simplices;
      std::string                 reason;
      bool                        uses_simplices = false;

      std::uint64_t                       revision = 0;
      std::unique_ptr<HostRules<dim>>     rules;
      std::unique_ptr<OperatorBases<dim>> bases;
      std::vector<double>                 lengths; // OperatorPoint::h
      std::uint64_t                       lengths_revision = 0;
      // Objects for the next task or call, since they own large buffers. Those
      // used last are at the end.
      std::vector<std::unique_ptr<Rows>> idle;
    };
  } // namespace internal
} // namespace Tessella

#endif
