// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_device_pointwise_kernels_h
#define tessella_forms_device_pointwise_kernels_h

#include <tessella/forms/pointwise_terms.h>
#include <tessella/forms/simplex_task.h>
#include <tessella/portable/host_device.h>

#include <cstddef>
#include <cstdint>
#include <string>

// Arguments of the kernels of pointwise operators, and their launch. The types
// are plain, since .cu files of users include this file.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Largest number of fields of an operator.
      constexpr int max_operator_fields = 8;

      /// Consecutive quadrature points of a sub-cell, or of a facet as one of
      /// its polytopes sees it, in a batch of points.
      struct alignas(16) PointwisePiece
      {
        /// Value of other on the boundary.
        static constexpr unsigned short none = 0xffff;

        std::uint64_t  point;  ///< first point in the tables
        unsigned int   item;   ///< sub-cell or facet
        unsigned int   normal; ///< first normal in the tables
        unsigned short n_points;
        unsigned short begin; ///< first point in the batch
        /// Slots of the polytope whose rows are computed and of its neighbour.
        unsigned short own, other;
        unsigned short shift;  ///< index of the periodic shift
        unsigned char  side;   ///< side of the interface that own is
        unsigned char  varies; ///< whether each point has a normal of its own
      };

      /// Points that a thread block evaluates at once: first points of volumes,
      /// then points of facets. Slots hold the data of polytopes in shared
      /// memory: first those of the group, then the neighbours that the batch
      /// needs.
      struct PointwiseBatch
      {
        unsigned int first_piece, n_pieces;
        unsigned int n_volume_points, n_facet_points;
        unsigned int first_slot, n_slots; ///< list of neighbours
        unsigned int first_range;         ///< see PointwisePlanArrays::ranges
        unsigned int first_segment, n_segments;
        /// Whether a polytope is its own neighbour across a periodic boundary.
        unsigned int own_neighbor;
      };

      /// Points of a batch on the interfaces with one neighbour, which
      /// contribute to one block of a Jacobian.
      struct PointwiseSegment
      {
        unsigned int   column; ///< first column of the block
        unsigned short slot;
        unsigned short begin, end; ///< facet points of the batch
        unsigned short first;      ///< no batch before contributes to the block
      };

      /// Consecutive polytopes that a thread block computes, with test spaces
      /// of the same dimension.
      struct PointwiseGroup
      {
        unsigned int first_polytope, n_polytopes;
        unsigned int first_batch, n_batches;
        unsigned int n_basis; ///< number of test functions per component
        /// Number of lanes that share the points of one test function; a power
        /// of two up to 32.
        unsigned int n_splits;
      };

      /// Data of a facet.
      struct alignas(16) PointwiseFacet
      {
        double        penalty;
        std::uint64_t first_point; ///< in the tables
        /// Polytopes on both sides; invalid_index beyond the boundary.
        unsigned int   polytope[2];
        unsigned int   subcell[2];
        unsigned int   boundary_id;
        unsigned int   first_normal;  ///< in the tables
        unsigned short shift;         ///< index of the periodic shift
        unsigned short normal_varies; ///< whether each point has its own normal
        unsigned int   reserved;
      };

      /// Order in which the points of all owned polytopes are processed.
      struct PointwisePlanArrays
      {
        const PointwiseGroup   *groups;
        const PointwiseBatch   *batches;
        const PointwisePiece   *pieces;
        const PointwiseSegment *segments;
        const unsigned int     *slots;
        /// For each batch and polytope of the group, and at the end: first
        /// point of the polytope in the batch, and, shifted left by 16, the
        /// number of its points in earlier batches modulo 32.
        const unsigned int *ranges;
      };

      /// Geometry and quadrature points.
      template <int dim>
      struct PointwiseMesh
      {
        /// For each polytope: centre of the bounding box, scales of the map to
        /// [-1,1]^dim, factor of the basis functions.
        const double       *frames;
        const double       *length; ///< OperatorPoint::h of each polytope
        const double       *shift;
        const unsigned int *subcell_material;
        /// Coordinates and weight of each point.
        const double         *volume_points, *facet_points;
        const double         *normals;
        const PointwiseFacet *facets;
        const unsigned int   *facet_of_point;
        std::uint64_t         n_facet_points;
      };

      /// A discrete function, or a change of one.
      struct PointwiseField
      {
        const double        *coefficients;
        const unsigned int  *degree, *n_basis;
        const std::uint64_t *dof_offset;
        /// Exponents of each function, 8 bits for each variable.
        const unsigned int *exponents;
        /// Position in a slot, counted in doubles, and whether the space is of
        /// total degree.
        unsigned int offset;
        bool         total_degree;
      };

      /// Sections of shared memory; offsets and strides count doubles.
      struct PointwiseLayout
      {
        unsigned int slot_stride;
        /// One-dimensional functions of one point: entry d n_functions + e, and
        /// derivatives from table_derivatives on.
        unsigned int n_functions, table_derivatives, table_stride;
        unsigned int table, result, result_stride, sums;
        /// Basis functions of a point, for Jacobians: distance between rows.
        unsigned int basis_stride;
        unsigned int points; ///< all data of points, for Jacobians
        /// Arrays of integers: piece of each point, polytope of each slot.
        unsigned int piece_of_point, polytope_of_slot;
        unsigned int bytes;
        /// Number of threads of a block, at most pointwise_threads().
        unsigned int n_threads;
      };

      /// Arguments of a kernel.
      template <int dim>
      struct PointwiseTask
      {
        PointwiseMesh<dim>  mesh;
        PointwisePlanArrays plan;
        PointwiseLayout     layout;
        /// Fields, and the direction of a tangent at the end.
        PointwiseField fields[max_operator_fields + 1];
        unsigned int   test; ///< field in whose space the test functions are
        /// Field of the tangent's direction or of the Jacobian, and its first
        /// component.
        unsigned int field, first_component;
        double       t;

        double *result; ///< residual or tangent
        /// Results of the integrand on facets times the weight of the point:
        /// entry (side * n_rows + row) * n_facet_points + point. Rows: values
        /// and derivatives that PointwiseTraits::facet_output names, for each
        /// component.
        double *facet_results;

        /// Jacobian: entries from number first_value of the matrix on; for
        /// each polytope, first value, length of rows and first column of the
        /// diagonal block.
        double              *values;
        std::uint64_t        first_value;
        const std::uint64_t *value_offset;
        const unsigned int  *row_width, *diagonal;
        /// Whether only diagonal blocks are computed.
        bool diagonal_only;

        /// Smallest code of a result that is not finite; see
        /// pointwise_error_code().
        unsigned long long *error;
      };

      /// Arguments of a kernel on affine simplices.
      template <int dim>
      using SimplexTask =
        SimplexTaskOf<dim, PointwiseMesh<dim>, max_operator_fields + 1>;
      /// A face of a simplex, as the kernel of a Jacobian sees it: the facet,
      /// the side of it that the simplex is, and the first column of the block
      /// of the neighbour.
      struct SimplexJacobianFace
      {
        unsigned int facet, side, column;
      };

      /// Doubles in shared memory for each face of a simplex.
      constexpr unsigned int simplex_face_size = 14;

      /// Threads of a block of SimplexJacobian: one or two for each point.
      TESSELLA_HOST_DEVICE constexpr unsigned int
      simplex_jacobian_threads(const unsigned int degree)
      {
        return 32u << degree;
      }

      /// Distance between the basis functions of two points in shared memory,
      /// from their number, so that those of four points lie in different
      /// banks.
      TESSELLA_HOST_DEVICE constexpr unsigned int
      simplex_function_distance(const unsigned int n)
      {
        return (n + 3) / 8 * 8 + 4;
      }

      /**
       * Number of doubles in the shared memory of a block of SimplexJacobian,
       * for a functor with n_inputs components of all fields and m of the
       * results, with n_in and n_out rows inside of polytopes, values alone on
       * facets, and N basis functions: faces; derivatives and basis functions
       * at each point, with three more points at the end, and fields. Tiles of
       * trial functions are read beyond the last one.
       */
      constexpr unsigned int
      simplex_jacobian_size(const unsigned int dim,
                            const unsigned int N,
                            const unsigned int n_inputs,
                            const unsigned int m,
                            const unsigned int n_in,
                            const unsigned int n_out,
                            const unsigned int n_facet_points,
                            const unsigned int n_volume_points)
      {
        return (dim + 1) * simplex_face_size +
               (n_facet_points * (dim + 1) + 3) *
                 (2 * m * m + simplex_function_distance(2 * N)) +
               2 * (dim + 1) * n_facet_points * n_inputs +
               (n_volume_points + 3) *
                 (m * m * n_in * n_out +
                  simplex_function_distance(
                    (n_in > 1 || n_out > 1 ? dim + 1 : 1) * N)) +
               n_volume_points * n_inputs * n_in + 24;
      }

      /**
       * Arguments of the kernel of a Jacobian on a mesh whose polytopes are
       * conforming affine simplices with fields of one degree each.
       */
      template <int dim>
      struct SimplexJacobianTask
      {
        PointwiseMesh<dim> mesh;
        PointwiseField     given_fields[max_operator_fields];
        unsigned int       field_degree[max_operator_fields],
          field_basis[max_operator_fields];
        /// First component of the Jacobian's field.
        unsigned int first_component;
        double       t;
        /// dim + 1 for each simplex.
        const SimplexJacobianFace *faces;
        unsigned int               n_facet_points, n_volume_points;
        unsigned int               first_simplex; ///< that of the first block
        /// See PointwiseTask.
        double              *values;
        std::uint64_t        first_value;
        const std::uint64_t *value_offset;
        const unsigned int  *row_width, *diagonal;
        bool                 diagonal_only;
        /// Threads and bytes of the shared memory of a block.
        unsigned int block_threads, block_bytes;
      };

      /// Number of doubles at the beginning of a slot: centre of the bounding
      /// box, scales of the map to [-1,1]^dim, factor of the basis functions,
      /// and for each field its degree and number of functions.
      TESSELLA_HOST_DEVICE constexpr unsigned int
      pointwise_header(const unsigned int dim, const unsigned int n_fields)
      {
        return (2 * dim + 1 + 2 * n_fields + 1) / 2 * 2;
      }

      /// Distance between the coefficients of two basis functions in a slot, so
      /// that two components can be read at once.
      TESSELLA_HOST_DEVICE constexpr unsigned int
      pointwise_pitch(const unsigned int n_components)
      {
        return (n_components + 1) / 2 * 2;
      }

      /// Code of an error: component, point in the tables, and whether it is on
      /// a facet.
      TESSELLA_HOST_DEVICE constexpr unsigned long long
      pointwise_error_code(const bool               facet,
                           const unsigned long long point,
                           const unsigned int       component)
      {
        return (facet ? 1ull << 63 : 0ull) | point << 12 | component;
      }

      /// Kernels of a functor. The residual and the tangent read what
      /// facet_residual and facet_tangent have computed; the same holds for
      /// those on affine simplices.
      enum class PointwiseKernel
      {
        facet_residual,
        facet_tangent,
        residual,
        tangent,
        jacobian,
        simplex_facet_residual,
        simplex_facet_tangent,
        simplex_residual,
        simplex_tangent,
        simplex_jacobian_1,
        simplex_jacobian_2,
        simplex_jacobian_3
      };
      constexpr unsigned int n_pointwise_kernels = 12;

      /// Whether there are kernels on affine simplices for functors with these
      /// rows on facets.
      TESSELLA_HOST_DEVICE constexpr bool
      has_simplex_kernels(const bool         has_facets,
                          const unsigned int facet_input,
                          const unsigned int facet_output)
      {
        return !has_facets ||
               ((facet_input | facet_output) & PointwiseRows::gradients) == 0;
      }

      /// Largest number of threads of the blocks of a kernel.
      TESSELLA_HOST_DEVICE constexpr unsigned int
      pointwise_threads(const PointwiseKernel kernel)
      {
        return kernel == PointwiseKernel::jacobian ? 192 : 128;
      }
    } // namespace Device
  }   // namespace internal



  /**
   * Kernels of an integrand of a PointwiseOperator on a CUDA device. The class
   * FunctorKernels makes them from a functor.
   */
  template <int dim>
  class DevicePointwiseKernels
  {
  public:
    virtual ~DevicePointwiseKernels() = default;

    /// Description in words, for reports.
    virtual std::string
    description() const = 0;

    /// Launches a kernel with @p n_blocks thread blocks in a stream (a
    /// cudaStream_t). Returns a sentence that describes the error, or an empty
    /// string.
    virtual std::string
    launch(const internal::Device::PointwiseKernel     kernel,
           const internal::Device::PointwiseTask<dim> &task,
           const unsigned int                          n_blocks,
           void                                       *stream) const = 0;
    /// The same for kernels on affine simplices, which exist for functors as
    /// has_simplex_kernels() says.
    virtual std::string
    launch(const internal::Device::PointwiseKernel   kernel,
           const internal::Device::SimplexTask<dim> &task,
           const unsigned int                        n_blocks,
           void                                     *stream) const = 0;
    virtual std::string
    launch(const internal::Device::PointwiseKernel           kernel,
           const internal::Device::SimplexJacobianTask<dim> &task,
           const unsigned int                                n_blocks,
           void                                             *stream) const = 0;
  };
} // namespace Tessella

#endif
