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

// Evaluation of a form on a device: arguments of its kernels, and their launch.
// The types are plain, since they are compiled at run time as well.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Arrays of tabulated coefficients. Each member is the index of the
      /// first array of an entry, or -1 if the form does not have that entry.
      /// Array c holds the points of a chunk at [c * n_points + q].
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

      /// Point group of a facet (up to four quadrature points), seen from one
      /// of its polytopes, for hybridizable methods.
      struct HDGFacetPointGroup
      {
        unsigned int facet, first, patch;
        /// Index of the patch's first function among the polytope's.
        unsigned int row;
        /// side | 2 (boundary) | 4 (Dirichlet) | degree of the rule << 4 |
        /// index of the periodic shift << 8.
        unsigned int code;
        /// Index among the point groups of boundary facets, or invalid_index.
        unsigned int boundary;
        /// Orientation of the facet in a polytope that is one simplex.
        unsigned int orientation;
      };

      /// Reference rule: coordinates [d * n_points + q], then weights.
      struct RuleEntry
      {
        unsigned int n_points = 0;
        unsigned int offset   = 0; ///< offset of the first entry
      };

      /// Arrays of PolytopicMesh, and quadrature, in device memory.
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
        /// Compressed quadrature: coordinates and weight of each volume point;
        /// null if sub-cells have the rules below.
        const double *volume_points;
        RuleEntry     subcell_rule[5][11], facet_rule[4][11];

        // ---- data that coefficients may use
        /// Two entries per facet, as PolytopicMesh::facet_subcell (indices of
        /// the whole mesh), and the materials of these sub-cells.
        const unsigned int *facet_subcell, *facet_material;
        const unsigned int *subcell_material, *boundary_id;
        /// First degree of freedom of each polytope of the whole mesh.
        const std::uint64_t *dof_offset;
        /// Index of sub-cell 0 in the whole mesh.
        unsigned int first_subcell;
      };

      /// First point of an assembly at which an error occurs.
      struct ErrorRecord
      {
        unsigned long long key; ///< all bits are set if there is no error
        CoefficientError   error;
      };

      /// Arguments of a kernel that evaluates a form.
      template <int dim>
      struct TabulationTask
      {
        MeshData<dim> mesh;
        VolumeLayout  volume_layout;
        FacetLayout   facet_layout;
        /// Tables for the points of a chunk.
        double       *volume_table, *facet_table;
        std::uint64_t n_volume_points, n_facet_points;
        std::uint64_t first_volume_point, first_facet_point;
        unsigned int  first_polytope, n_polytopes;

        const double *sigma; ///< penalty of the facets
        /// Output: maximum of n . a n on both sides of each facet.
        double *a_bar;

        /// Coefficients of discrete fields. A field is component
        /// field_component of a function of n_field_components components
        /// with the degrees of the space that is assembled, which has
        /// n_components components itself.
        const double *field[max_fields];
        unsigned int  field_component[max_fields],
          n_field_components[max_fields], n_components;
        /// Values per sub-cell, by index of the whole mesh.
        const double *cell_value[max_cell_values];
        double        t, theta;

        // ---- hybridizable methods (CoefficientKernel::traces)
        /// All point groups, and the first one of each entry of
        /// polytope_interface.
        const HDGFacetPointGroup *point_groups;
        const unsigned int       *entry_point_group;
        /// Point groups to evaluate: the entries of point_group_list, in
        /// ascending order, or, if it is null, n_point_groups groups from
        /// first_point_group on.
        const unsigned int *point_group_list;
        unsigned int        first_point_group, n_point_groups;
        /// Output: b.n at four points per point group (unless null); g, then
        /// alpha, at four points per point group of the boundary.
        double       *normal_advection, *boundary_data;
        std::uint64_t n_boundary_points;

        ErrorRecord *record;
        /// Key of the point for which the record is to be filled.
        unsigned long long wanted;
      };

      enum class CoefficientKernel
      {
        volume, ///< volume points of the chunk, shared by the thread blocks
        facets, ///< facet points of the chunk, shared in the same way
        /// Largest diffusion: thread blocks of one warp per polytope; several
        /// in y share its points.
        penalty,
        /// b.n and boundary data, for hybridizable methods.
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
    /// Arguments: PointData::t, the variant of the interior penalty (see
    /// AdvectionDiffusionReaction), the discrete fields that PointData
    /// contains, and the arrays with a value for each sub-cell of the whole
    /// mesh that it contains.
    DeviceCoefficients(
      const double                           time,
      const double                           theta,
      const std::vector<DiscreteField<dim>> &fields,
      const std::vector<std::shared_ptr<const std::vector<double>>>
        &cell_values)
      : time(time)
      , theta(theta)
      , present_fields(fields)
      , present_cell_values(cell_values)
    {}
    virtual ~DeviceCoefficients() = default;

    /// Description in words, for reports.
    virtual std::string
    description() const = 0;

    /// Launches a kernel in a stream (a cudaStream_t). Returns a sentence that
    /// describes the error, or an empty string.
    virtual std::string
    launch(const internal::Device::CoefficientKernel    kernel,
           const internal::Device::TabulationTask<dim> &task,
           const unsigned int                           n_blocks_x,
           const unsigned int                           n_blocks_y,
           void                                        *stream) const = 0;

    const std::vector<DiscreteField<dim>> &
    fields() const
    {
      return present_fields;
    }
    /// Whether a kernel can evaluate the fields beside functions of the space
    /// @p dofs: it has one table of degrees only.
    bool
    fields_fit(const PolytopicDoFs &dofs) const
    {
      // Forms on slabs have no discrete fields.
      if constexpr (dim < 4)
        for (const DiscreteField<dim> &field : present_fields)
          if (!field.has_degrees_of(dofs))
            return false;
      return true;
    }
    const std::vector<std::shared_ptr<const std::vector<double>>> &
    cell_values() const
    {
      return present_cell_values;
    }

    /// Throws the same exception as the host.
    [[noreturn]] virtual void
    throw_error(const CoefficientError &error) const
    {
      internal::throw_coefficient_error(error, dim);
    }

  protected:
    /// The task of a kernel with the time and theta of these coefficients.
    internal::Device::TabulationTask<dim>
    with_parameters(internal::Device::TabulationTask<dim> task) const
    {
      task.t     = time;
      task.theta = theta;
      return task;
    }

  private:
    const double                          time, theta;
    const std::vector<DiscreteField<dim>> present_fields;
    const std::vector<std::shared_ptr<const std::vector<double>>>
      present_cell_values;
  };
#endif
} // namespace Tessella

#endif
