// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_pointwise_simplices_h
#define tessella_source_operators_pointwise_simplices_h

#include <tessella/forms/simplex_task.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * A mesh of conforming affine simplices, for the kernels that SimplexTask
     * describes. Vertices of simplices and facets have the order of the mesh,
     * on which the points of quadrature rules depend.
     */
    template <int dim>
    struct PointwiseSimplices
    {
      /// Fills all members and returns an empty text, or returns why the mesh
      /// is not of this kind. A process sees this for its own polytopes and
      /// their neighbours only.
      std::string
      set_up(const PolytopicMesh<dim> &mesh);

      /// See SimplexTask; corners: see SimplexData.
      std::vector<Device::SimplexFacet> facets;
      unsigned int                      n_interior = 0, n_boundary = 0;
      std::vector<unsigned int>         face_records;
      std::vector<double>               geometry, corners;

    private:
      std::string
      add_facet(const PolytopicMesh<dim>    &mesh,
                const unsigned int           i,
                const unsigned int           f,
                std::array<unsigned int, 2> &face);
    };

    /// Vertices of the simplex that are vertices 0 .. dim - 1 of a facet, for
    /// each code of SimplexFacet.
    std::vector<std::array<unsigned int, 3>>
    face_codes(const unsigned int dim);

    /// Why the kernels for simplices cannot use a field in this space, or an
    /// empty text.
    std::string
    why_no_simplex_field(const unsigned int dim, const PolytopicDoFs &dofs);



    /// A quadrature rule on a simplex: barycentric coordinates 1 .. dim of each
    /// point, and weights whose sum is one.
    struct SimplexRule
    {
      SimplexRule(const unsigned int  dim,
                  const unsigned int  n_points,
                  const unsigned int  stride,
                  const double *const coordinates,
                  const double *const weights);

      std::vector<double> points, weights;

      unsigned int
      n_points() const
      {
        return weights.size();
      }
      unsigned int
      n_tiles() const
      {
        return (n_points() + 7) / 8;
      }
    };

    /// Tables of SimplexField for a degree.
    struct SimplexFieldTables
    {
      SimplexFieldTables(const unsigned int dim,
                         const unsigned int degree,
                         const SimplexRule &volume,
                         const SimplexRule &facet);

      unsigned int                n_nodes, n_face_nodes, node_steps, face_steps;
      std::vector<double>         values, derivatives, face_values;
      std::vector<unsigned short> face_node;
    };

    /// Tables of SimplexTask for test functions of a degree with
    /// @p n_components.
    struct SimplexTestTables
    {
      SimplexTestTables(const unsigned int dim,
                        const unsigned int degree,
                        const unsigned int n_components,
                        const SimplexRule &volume,
                        const SimplexRule &facet);

      unsigned int n_nodes, n_face_nodes, node_tiles, face_tiles, record_size;
      std::vector<double>        test, face_test;
      std::vector<unsigned char> face_position;
    };
  } // namespace internal
} // namespace Tessella

#endif
