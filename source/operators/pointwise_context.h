// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_pointwise_context_h
#define tessella_source_operators_pointwise_context_h

#include <tessella/backends/assembly_parameters.h>
#include <tessella/base/compatibility.h>
#include <tessella/grid/polytopic_space.h>
#include <tessella/grid/revision.h>
#include <tessella/operators/operator_report.h>

#include <vector>

#include "../lac/matrix_structure.h"

namespace Tessella
{
  namespace internal
  {
    /// Data of a PointwiseOperator that its backend shares.
    template <int dim>
    struct PointwiseContext
    {
      /// @p spaces are those of the fields, on the same polytopes; test
      /// functions are those of space @p test.
      PointwiseContext(const std::vector<const PolytopicSpace<dim> *> &spaces,
                       const unsigned int                              test,
                       const AssemblyParameters &parameters);

      unsigned int
      n_fields() const
      {
        return spaces.size();
      }

      /// The mesh on which quadrature is done. Each space has its own copy of
      /// the mesh, with the same numbering of polytopes, interfaces and facets;
      /// this one has tabulated quadrature of the highest order.
      const PolytopicMesh<dim> &
      mesh() const
      {
        return spaces[finest]->polytopic_mesh();
      }

      /// Degrees and degrees of freedom of a field, and of the test functions,
      /// which also have the penalty factors.
      const PolytopicDoFs &
      dofs(const unsigned int field) const
      {
        return spaces[field]->polytopic_dofs();
      }
      const PolytopicDoFs &
      test_dofs() const
      {
        return dofs(test);
      }

      /// Error: a handler without degrees of freedom.
      void
      check_dofs() const;

      /**
       * Makes sure that all members below, the tabulated quadrature and the
       * penalty factors are those of the present degrees of freedom, for
       * integrands of an order. Throws if the handlers do not have the same
       * polytopes. Collective.
       */
      void
      prepare(const unsigned int coefficient_order);

      std::vector<SmartPointer<const PolytopicSpace<dim>>> spaces;
      const unsigned int                                   test;
      AssemblyParameters                                   parameters;
      /// Structure of the vectors of each field.
      std::vector<MatrixStructure> structures;
      /// The largest degree of a field or of the test functions on each
      /// polytope, by which quadrature rules are chosen. Only the members that
      /// concern degrees are set.
      PolytopicDoFs quadrature;
      unsigned int  coefficient_order = 0;
      /// Changes if mesh, degrees or order of the quadrature change; zero after
      /// a prepare() for other spaces that failed.
      std::uint64_t quadrature_revision = 0;
      /// Changes if mesh or degrees change.
      std::uint64_t  spaces_revision = 0;
      OperatorReport report;

    private:
      void
      check_polytopes() const;
      void
      find_quadrature();

      unsigned int finest = 0;
      /// Its largest degree, whose search takes a loop over all polytopes.
      unsigned int finest_degree = 0;
      /// Largest difference between the degree of a polytope and that of the
      /// finest space there.
      unsigned int               excess          = 0;
      bool                       tensor_product  = false;
      std::uint64_t              tables_revision = 0;
      std::vector<SpaceRevision> revisions;
    };
  } // namespace internal
} // namespace Tessella

#endif
