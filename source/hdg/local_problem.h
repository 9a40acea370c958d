// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_local_problem_h
#define tessella_source_hdg_local_problem_h

#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/hdg/trace_space.h>

#include <functional>
#include <vector>

#include "../../cuda/hdg/hdg.h"
#include "../backends/host_kernels.h"

namespace Tessella
{
  namespace internal
  {
    /// Data that all local problems share. The functions evaluate and check
    /// functions of the caller, and describe errors, for both backends.
    template <int dim>
    struct LocalProblem
    {
      const AgglomerationHandler<dim> &handler;
      const PolytopicMesh<dim>        &mesh;
      const PolytopicDoFs             &dofs;
      const TraceSpace<dim>           &trace;
      const Form<dim>                 &form;
      const HostKernels::Kernels<dim> &kernels;
      /// Quadrature order of each polynomial degree.
      std::vector<unsigned int> order;
      /// Exponents for the largest degree; smaller spaces are prefixes.
      std::vector<unsigned char> exponents;
      bool                       tensor_product;
      /// Advection is div(b u) instead of b . grad u.
      bool   conservative;
      double tau;
      /// Stabilisation of a facet and a side; replaces tau if set.
      std::function<double(unsigned int, unsigned int)> tau_of_facet;
      /// The flux has one degree less, see LocalSpaces::reduced_flux.
      bool reduced_flux = false;

      /// Stabilisation on a side of a facet, which belongs to polytope @p k.
      /// Throws if it cannot be one.
      double
      stabilisation(const unsigned int k,
                    const unsigned int facet,
                    const unsigned int side) const;

      /// Throws if @p tau cannot be the stabilisation on a facet of polytope
      /// @p k.
      void
      check_tau(const double tau, const unsigned int k) const;

      /// The advection field b (dim arrays), and its normal component bn.
      void
      normal_advection(const FacetPointBatch<dim> &points,
                       double *const              *b,
                       double                     *bn) const;

      /// Throws if the advection field b (dim arrays) enters the domain through
      /// a Neumann or Robin boundary.
      static void
      check_outflow(const FacetPointBatch<dim> &points,
                    const double *const        *b,
                    const double               *bn);

      /**
       * Inverse of a at @p n_points points x. @p a and @p inverse, which may be
       * equal: arrays of the dim * dim entries if @p tensor, else of the scalar
       * value. Throws if a is not positive (tensor: not symmetric and positive
       * definite).
       */
      static void
      invert_diffusion(const bool           tensor,
                       const double *const *x,
                       const unsigned int   n_points,
                       const double *const *a,
                       double *const       *inverse);

      /// Throws for polytope @p k, whose local problem cannot be solved.
      [[noreturn]] void
      throw_failure(const Device::HDGFailure failure,
                    const unsigned int       k) const;
    };
  } // namespace internal
} // namespace Tessella

#endif
