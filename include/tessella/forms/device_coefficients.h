// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_device_coefficients_h
#define tessella_forms_device_coefficients_h

#include <tessella/forms/coefficient_error.h>
#include <tessella/forms/point_data.h>
#include <tessella/grid/mesh_types.h>

#include <cstdint>

#ifndef __CUDACC_RTC__
#  include <tessella/forms/discrete_field.h>

#  include <memory>
#  include <string>
#  include <vector>
#endif

// Evaluation of a form on a device: what its kernels are given, and how they
// are started. Plain types, compiled at run time as well.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Arrays of tabulated coefficients: first array of each entry, or -1
      /// where the form does not have it. Array c holds the points of a chunk
      /// at [c * n_points + q].
      struct VolumeLayout
      {
        int  a = -1, beta = -1, b = -1, c = -1, f = -1;
        bool tensor = false;
        int  n      = 0; ///< number of arrays
      };
      struct FacetLayout
      {
        int b[2] = {-1, -1}, beta[2] = {-1, -1}, c[2] = {-1, -1};
        int r = -1, s = -1;
        int n = 0;
      };

      /// Up to four quadrature points of a facet, as one of its polytopes sees
      /// it, in hybridizable methods.
      struct HDGFacetQuad
      {
        unsigned int facet, first, patch;
        /// Of the patch's first function within the polytope's.
        unsigned int row;
        /// side | 2 (boundary) | 4 (Dirichlet) | degree of the rule << 4 |
        /// number of the periodic shift << 8.
        unsigned int code;
        /// Among the quads of boundary facets, or invalid_index.
        unsigned int boundary;
        /// Of the facet in a polytope that is one simplex.
        unsigned int orientation;
      };

      /// A reference rule: coordinates [d * n_points + q], then weights.
      struct RuleEntry
      {
        unsigned int n_points = 0;
        unsigned int offset   = 0; ///< of the first number
      };

      /// Arrays of PolytopicMesh, and quadrature, in the memory of the device.
      template <int dim>
      struct MeshData
      {
        const double       *box;
        const unsigned int *degree, *n_basis, *subcell_offset;
        const unsigned int *polytope_interface_offset, *polytope_interface;
        const SubCellType  *subcell_type;
        const unsigned int *subcell_vertex_offset, *subcell_point_offset;
        const double       *subcell_vertices, *subcell_points;
        const unsigned int *interface_polytope, *interface_shift, *facet_offset;
        const double       *shift;
        const FacetType    *facet_type;
        const unsigned int *facet_vertex_offset, *facet_point_offset;
        const double       *facet_vertices, *facet_normal;
        const double       *facet_points, *facet_point_normals;
        const unsigned char *exponents;

        /// First quadrature point of each sub-cell and facet, and first
        /// tabulated facet point of each entry of polytope_interface.
        const std::uint64_t *subcell_q, *facet_q, *entry_q;
        const double        *rules;
        RuleEntry            subcell_rule[5][11], facet_rule[4][11];

        // ---- what coefficients may ask for
        /// Two a facet, as PolytopicMesh::facet_subcell (numbers of the whole
        /// mesh), and the materials of these.
        const unsigned int *facet_subcell, *facet_material;
        const unsigned int *subcell_material, *boundary_id;
        /// First degree of freedom of each polytope, in the whole mesh.
        const std::uint64_t *dof_offset;
        /// Number of sub-cell 0 in the whole mesh.
        unsigned int first_subcell;
      };

      /// The first bad point of an assembly.
      struct ErrorRecord
      {
        unsigned long long key; ///< all bits set: none
        CoefficientError   error;
      };

      /// What a kernel of a form is given.
      template <int dim>
      struct TabulationTask
      {
        MeshData<dim> mesh;
        VolumeLayout  volume_layout;
        FacetLayout   facet_layout;
        /// The points of a chunk.
        double       *volume_table, *facet_table;
        std::uint64_t n_volume_points, n_facet_points;
        std::uint64_t first_volume_point, first_facet_point;
        unsigned int  first_polytope, n_polytopes;

        const double *sigma; ///< penalty of the facets
        /// n . a n at most, on both sides of each facet (written).
        double *a_bar;

        const double *field[max_fields];
        /// By sub-cell, in numbers of the whole mesh.
        const double *cell_value[max_cell_values];
        double        t, theta;

        // ---- hybridizable methods (CoefficientKernel::traces)
        /// All quads, and the first one of each entry of polytope_interface.
        const HDGFacetQuad *quads;
        const unsigned int *entry_quad;
        /// Those that are looked at: first_quad and so on, or of a list
        /// (ascending).
        const unsigned int *quad_list;
        unsigned int        first_quad, n_quads;
        /// Written: b.n at four points a quad (unless null); g, then alpha, at
        /// four points a quad of the boundary.
        double       *normal_advection, *boundary_data;
        std::uint64_t n_boundary_points;

        ErrorRecord *record;
        /// Key of the point that shall be described in the record.
        unsigned long long wanted;
      };

      enum class CoefficientKernel
      {
        volume, ///< blocks share the volume points of the chunk
        facets, ///< and the facet points
        /// Largest diffusion: one block of a warp per polytope, several in y
        /// share its points.
        penalty,
        /// b.n and data on the boundary, for hybridizable methods.
        traces
      };

      constexpr unsigned int tabulation_threads = 128;
    } // namespace Device
  }   // namespace internal

#ifndef __CUDACC_RTC__
  /**
   * Evaluates a form on a CUDA device, at the points of a chunk of block rows,
   * before the kernels that use the values.
   */
  template <int dim>
  class DeviceCoefficients
  {
  public:
    virtual ~DeviceCoefficients() = default;

    /// In words, for reports.
    virtual std::string
    description() const = 0;

    /// Starts a kernel in a stream (a cudaStream_t); returns what went wrong as
    /// a sentence, or an empty text.
    virtual std::string
    launch(const internal::Device::CoefficientKernel    kernel,
           const internal::Device::TabulationTask<dim> &task,
           const unsigned int                           n_blocks_x,
           const unsigned int                           n_blocks_y,
           void                                        *stream) const = 0;

    /// Those that PointData has.
    virtual const std::vector<DiscreteField<dim>> &
    fields() const = 0;

    /// Arrays with a value for each sub-cell of the whole mesh, those that
    /// PointData has.
    virtual const std::vector<std::shared_ptr<const std::vector<double>>> &
    cell_values() const
    {
      static const std::vector<std::shared_ptr<const std::vector<double>>> none;
      return none;
    }

    /// Throws what the host throws.
    [[noreturn]] virtual void
    throw_error(const CoefficientError &error) const
    {
      internal::throw_coefficient_error(error, dim);
    }
  };
#endif
} // namespace Tessella

#endif
