// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_pointwise_backend_h
#define tessella_source_operators_pointwise_backend_h

#include <deal.II/base/exceptions.h>

#include <tessella/base/backend.h>
#include <tessella/forms/pointwise_integrand.h>

#include <memory>
#include <string>
#include <vector>

#include "../backends/target.h"
#include "pointwise_context.h"

namespace Tessella
{
  namespace internal
  {
    /// Whether integrands with these structures, PointwiseIntegrand::Structure,
    /// have the same buffers and plans.
    template <typename Structure>
    bool
    is_same(const Structure &a, const Structure &b)
    {
      return a.field_components == b.field_components &&
             a.n_components == b.n_components && a.volume == b.volume &&
             a.interior_facets == b.interior_facets &&
             a.boundary_facets == b.boundary_facets &&
             a.volume_input == b.volume_input &&
             a.volume_output == b.volume_output &&
             a.facet_input == b.facet_input && a.facet_output == b.facet_output;
    }



    /// Integrand and discrete functions that a PointwiseBackend evaluates.
    template <int dim>
    struct PointwiseArguments
    {
      const PointwiseIntegrand<dim> &integrand;
      /// Coefficients of each field.
      const std::vector<const double *> &fields;
      /// The field of a tangent or of a Jacobian, and the direction of a
      /// tangent, which has the entries of ghosts as well; null otherwise.
      unsigned int  field     = 0;
      const double *direction = nullptr;
    };

    /// Kinds of results of a pointwise operator, which need plans of their own.
    enum class PointwiseResultType
    {
      vector,
      jacobian,
      integrals
    };

    /**
     * Evaluation of pointwise operators on the host or on a CUDA device. Mesh,
     * spaces, parameters and report are those of the context, which must
     * outlive the backend and is prepared when a function is called.
     *
     * <b>Arrays.</b> Coefficients of a field are those of the polytopes that
     * the process owns followed by those of ghosts, in the order of
     * PolytopicDoFs::dof_offset of the field. Results have the entries of owned
     * polytopes. All these arrays are in host memory if type() is
     * Backend::host, and in device memory if it is Backend::cuda.
     *
     * No function communicates. An error of one process is thrown by that
     * process; the caller tells the others. A result that is not finite is an
     * error of all functions but integrals().
     */
    template <int dim>
    class PointwiseBackend
    {
    public:
      using Integrand = PointwiseIntegrand<dim>;
      using Arguments = PointwiseArguments<dim>;

      explicit PointwiseBackend(PointwiseContext<dim> &context)
        : context(context)
      {}
      virtual ~PointwiseBackend() = default;

      /// host or cuda.
      virtual Backend
      type() const = 0;

      /// Prepares the evaluation of an integrand, before the functions below
      /// are called for it. Returns the reason if this process must leave it to
      /// the host's threads though the backend is that of a device.
      virtual std::string
      prepare(const Integrand &, const PointwiseResultType)
      {
        return "";
      }
      /// Reason why the evaluation that was prepared needs the kernels for all
      /// kinds of polytopes; empty if those for simplices can compute it, or if
      /// this process has no polytopes.
      virtual std::string
      why_not_simplices() const
      {
        return "";
      }
      /// Prepares the kernels for all kinds of polytopes if this or another
      /// process has a reason, else those for simplices. Returns the reason if
      /// this process must leave the evaluation to the host's threads.
      virtual std::string
      choose_kernels(const std::string &)
      {
        return "";
      }
      /// Leaves the evaluation that was prepared to the host's threads, since
      /// it or another process has the reason @p why. The two functions above
      /// are those of the host afterwards.
      virtual void
      leave_to_host(const std::string &,
                    const Integrand &,
                    const PointwiseResultType)
      {}

      /// Sets @p result to R(fields; v) for the test functions v of owned
      /// polytopes, or, if there is a direction, to the derivative of R in the
      /// direction of that change of a field.
      virtual void
      vector(const Arguments &arguments, double *result) = 0;

      /// Computes the derivative of R with respect to a field, which is in the
      /// space of the test functions. The target may be on the host or on the
      /// device for both types of backends; its layout is that of
      /// context.structures[context.test].blocks.
      virtual void
      jacobian(const Arguments              &arguments,
               const AssemblyTarget<double> &target) = 0;

      /// The same, rounded to single precision, in device memory.
      virtual void
      jacobian(const Arguments &arguments, float *device_values) = 0;

      /// Adds the products of the derivative with respect to a field, constant
      /// on each polytope, and the derivatives of its coefficients on their
      /// polytopes, which have the entries of ghosts as well, to the values of
      /// @p target, an array. The host's backend needs a target and derivatives
      /// in host memory, the device's a target on the device.
      virtual void
      add_chained_jacobian(const Arguments              &arguments,
                           const double                 *derivative,
                           const AssemblyTarget<double> &target) = 0;

      /// Diagonal blocks of jacobian(), one after the other, row by row, in
      /// host memory.
      virtual void
      diagonal_blocks(const Arguments &arguments, double *blocks) = 0;

      /// Integrals of r.value over each owned polytope: entry k n_components +
      /// c of @p integrals, in host memory, where n_components is that of the
      /// integrand. For PointwiseRegion::boundary_facet over interfaces at the
      /// boundary: entry e n_components + c for entry e of PolytopicMesh::
      /// polytope_interface; entries of interior interfaces are zero.
      virtual void
      integrals(const Arguments      &arguments,
                const PointwiseRegion region,
                double               *integrals) = 0;

      /// Throws if a result since the last check was not finite. The functions
      /// above do so themselves, unless they are recorded for a CUDA graph.
      virtual void
      check_finite()
      {}

    protected:
      /// Whether this process has polytopes.
      bool
      has_polytopes() const
      {
        return context.mesh().n_owned_polytopes() > 0;
      }

      PointwiseContext<dim> &context;
    };



    /// Creates the backend that the parameters of the context choose. With
    /// several processes, all use the same one. Collective.
    template <int dim>
    std::unique_ptr<PointwiseBackend<dim>>
    make_pointwise_backend(PointwiseContext<dim> &context);
  } // namespace internal
} // namespace Tessella

#endif
