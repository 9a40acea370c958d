// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_pointwise_simplices_h
#define tessella_source_operators_host_pointwise_simplices_h

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pointwise_backend.h"
#include "pointwise_simplices.h"
#include "simplex_batches.h"
#include "simplex_reference.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Residuals and tangents of pointwise operators on the host, for meshes of
     * conforming affine simplices and integrands with values alone on facets.
     * The steps are those of the kernels of SimplexTask: values of the fields
     * at the nodes of SimplexReference; the integrand on facets, each of them
     * once, whose results are stored as integrals against the Lagrange
     * polynomials of the face for both sides; the integrand inside simplices,
     * to which these records are added; and rows of the basis functions.
     *
     * All steps compute the same for several simplices or facets at once, a
     * batch, by the SIMD units, see HostSimplexKernels. Results do not depend
     * on the batch in which a simplex is, nor on the number of threads.
     */
    template <int dim>
    class HostPointwiseSimplices
    {
    public:
      using Arguments = PointwiseArguments<dim>;
      using Structure = typename PointwiseIntegrand<dim>::Structure;

      explicit HostPointwiseSimplices(const PointwiseContext<dim> &context);

      /// Prepares the mesh and tables for the present order of the quadrature;
      /// those of other orders on the same spaces are kept. Returns why
      /// integrands of this structure need HostPointwiseRows, or an empty text.
      std::string
      prepare(const Structure &structure);

      /// See PointwiseBackend::vector(); @p lengths are OperatorPoint::h. Does
      /// not check whether results are finite.
      void
      compute(const Arguments           &arguments,
              const std::vector<double> &lengths,
              double                    *result);

    private:
      /// Values of a field at the points of quadrature.
      struct FieldTables
      {
        /// Lagrange polynomials at points of a simplex, their derivatives with
        /// respect to barycentric coordinate d + 1, and those of a face at
        /// points of a facet.
        SimplexMatrix values, derivatives[dim], face_values;
      };

      /// Rules and tables of one order of the quadrature.
      struct Tables
      {
        unsigned int n_points, n_facet_points;
        /// Barycentric coordinates of the points: coordinates from vertices.
        SimplexMatrix point_map, facet_point_map;
        /// Weights times Lagrange polynomials: those of the face; those of the
        /// simplex and their derivatives, of which the latter follow the
        /// former.
        SimplexMatrix            face_test, value_test, gradient_test;
        std::vector<FieldTables> fields;
      };

      struct Field
      {
        explicit Field(const PolytopicDoFs &dofs);

        unsigned int                 n_components, n, n_face;
        SimplexReference             reference;
        HostSimplexKernels::Operator op;
        std::vector<unsigned int>    place; ///< see order_of_functions()
        /// Those of the present order.
        const FieldTables *tables = nullptr;
        /// Node of the simplex that is node i of the facet: entry code n_face
        /// + i.
        std::vector<unsigned short> face_node;
        /// Component c at node i of polytope k: entry (k n_components + c) n +
        /// i.
        std::vector<double> nodal;
      };

      /// Arrays of the points of a batch: point q of lane l is at q lanes + l.
      struct Points;

      std::string
      set_up();
      Tables
      make_tables() const;

      /// Calls function(begin, end) for ranges of batches of @p n simplices or
      /// facets.
      template <typename Function>
      void
      for_batches(const std::size_t n, const Function &function) const;

      void
      evaluate_nodes(const Field         &field,
                     const PolytopicDoFs &dofs,
                     const double        *coefficients,
                     std::vector<double> &nodal) const;

      // ---- facets
      unsigned int
      facet_of_slot(const std::size_t slot) const;
      void
      compute_facets(const std::size_t batch, Points &points);
      void
      set_facet_points(const Device::SimplexFacet *const *facets,
                       const bool                         interior,
                       Points                            &points) const;
      void
      read_facets(const Field                       &field,
                  const std::vector<double>         &nodal,
                  const Device::SimplexFacet *const *facets,
                  const unsigned int                 side,
                  double *const                     *rows,
                  Points                            &points) const;
      void
      store_records(const std::size_t                  first_slot,
                    const Device::SimplexFacet *const *facets,
                    const unsigned int                 side,
                    Points                            &points);

      // ---- simplices
      void
      compute_simplices(const std::size_t batch,
                        Points           &points,
                        double           *result);
      void
      set_volume_points(const unsigned int *own, Points &points) const;
      void
      read_simplices(const Field               &field,
                     const std::vector<double> &nodal,
                     const unsigned int        *own,
                     const double              *derivatives,
                     double *const             *rows,
                     Points                    &points) const;
      void
      add_volume(const double *derivatives, Points &points) const;
      void
      add_records(const unsigned int *own, double *y) const;

      const PointwiseContext<dim>       &context;
      const HostSimplexKernels::Kernels &kernels;
      const unsigned int                 lanes;

      std::uint64_t                       revision = 0;
      std::string                         why;
      PointwiseSimplices<dim>             simplices;
      std::vector<std::unique_ptr<Field>> fields;
      /// In batches: corners of SimplexData; derivatives of barycentric
      /// coordinates 1 .. dim and the measure, see SimplexTask::geometry.
      std::vector<double>       corners, geometry;
      std::vector<double>       direction; ///< as Field::nodal
      std::vector<unsigned int> facet_interface;

      // ---- quadrature and test functions, for each order
      std::map<unsigned int, Tables> tables_of_order;
      const Tables                  *tables = nullptr; ///< present order
      /// Entry ((2 slot + side) n_components + c) n_face + i, see
      /// PointwiseSimplices::face_records.
      std::vector<double> records;

      // ---- present call
      const Arguments           *arguments = nullptr;
      const std::vector<double> *lengths   = nullptr;
      Structure                  structure;
    };
  } // namespace internal
} // namespace Tessella

#endif
