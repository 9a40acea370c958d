// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_trace_system_h
#define tessella_source_hdg_trace_system_h

#include <tessella/grid/revision.h>
#include <tessella/hdg/hdg.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "../lac/halo_exchange.h"
#include "free_parts.h"
#include "local_solver.h"
#include "trace_numbering.h"

namespace Tessella
{
  namespace internal
  {
    /// Trace DoFs of own and ghost blocks, in the order of TraceNumbering.
    struct TraceUnknowns
    {
      const double *own, *ghosts;
      std::uint64_t n_owned;

      const double *
      operator+(const std::uint64_t i) const
      {
        return i < n_owned ? own + i : ghosts + (i - n_owned);
      }
    };

    /**
     * Data that class HDG and its backends share: trace spaces, numbering,
     * parts of the domain without a fixed constant, and the report.
     */
    template <int dim>
    class TraceSystem
    {
    public:
      using AdditionalData = typename HDG<dim>::AdditionalData;

      /// @p handler must outlive the object.
      TraceSystem(const AgglomerationHandler<dim> &handler,
                  const AdditionalData            &data);

      /// Sets up trace spaces and numbering. Collective.
      void
      reinit(const Form<dim> &form);

      /// Throws unless reinit() was called for the present mesh and space and
      /// for the Dirichlet boundaries of @p form.
      void
      check_reinit(const Form<dim> &form) const;

      /// Runs work that does not communicate. If it fails on one process, all
      /// processes throw.
      void
      on_all_processes(const std::function<void()> &work) const;

      const PolytopicMesh<dim> &
      mesh() const
      {
        return handler.polytopic_mesh();
      }

      const PolytopicDoFs &
      dofs() const
      {
        return handler.polytopic_dofs();
      }

      bool
      tensor_product() const
      {
        return handler.polynomial_space() ==
               PolynomialSpaceType::tensor_product;
      }

      /// Quadrature order of each degree. Coefficients count as polynomials of
      /// degree 2 at least, or of degree 1 if f is constant.
      std::vector<unsigned int>
      orders(const Form<dim> &form) const;

      /// Data of all local problems; contains references to this object and to
      /// @p form.
      LocalProblem<dim>
      local_problem(const Form<dim> &form) const;

      bool
      is_dirichlet(const Form<dim> &form, const unsigned int interface) const;

      /// True if @p interface has Dirichlet coefficients.
      bool
      has_dirichlet_coefficients(const unsigned int interface) const
      {
        return dirichlet_offset[interface + 1] > dirichlet_offset[interface];
      }

      void
      resize(LocalBlocks &blocks) const;

      /// Stores the rows and columns of the K of polytope @p k that belong to
      /// DoFs. @p stride: distance between rows of K, which has all trace
      /// functions.
      void
      store_matrix(const unsigned int k,
                   const double      *K,
                   const std::size_t  stride,
                   LocalBlocks       &blocks) const;

      /// Computes matrix and right-hand side from the K of the polytopes, fixes
      /// undetermined constants, and reports the time. Collective.
      void
      gather(const LocalBlocks &blocks, double *values, double *rhs);

      /// Finds the parts of the domain without a fixed constant, if @p fixed
      /// has changed. It refers to own polytopes on which a coefficient fixes
      /// the constant; this function adds those with Dirichlet interfaces.
      /// Collective.
      void
      find_free_parts(const std::vector<char> &fixed);

      /// Values of a vector of this process with ghost values from their
      /// owners. Collective.
      TraceUnknowns
      exchange(const double *own) const;

      const AgglomerationHandler<dim> &handler;
      const AdditionalData             data;
      const MPI_Comm                   communicator;
      const unsigned int               n_processes;

      HDGReport           report;
      TraceSpace<dim>     trace;
      TraceNumbering<dim> numbering;
      FreeParts<dim>      free_parts;
      /// Projections of Dirichlet values, interface by interface.
      std::vector<std::uint64_t> dirichlet_offset;
      std::vector<double>        dirichlet;

    private:
      SpaceRevision             revision;
      std::vector<unsigned int> boundary_interfaces;
      /// Exchange of ghost values; null on one process.
      std::unique_ptr<HostHalo<double>> halo;
      /// The argument that free_parts were found for.
      std::vector<char> present_fixed;
    };
  } // namespace internal
} // namespace Tessella

#endif
