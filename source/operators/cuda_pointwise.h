// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_cuda_pointwise_h
#define tessella_source_operators_cuda_pointwise_h

#include <tessella/forms/device_pointwise_kernels.h>

#include <memory>
#include <string>
#include <vector>

#include "../../cuda/device/graph.h"
#include "../../cuda/operators/chained_blocks.h"
#include "../../cuda/operators/operator_device.h"
#include "../lac/block_space.h"
#include "cuda_integrals.h"
#include "cuda_pointwise_simplices.h"
#include "host_pointwise_backend.h"
#include "pointwise_backend.h"
#include "pointwise_plan.h"
#include "pointwise_tables.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Pointwise operators on a CUDA device, by the kernels of an integrand.
     * Tables of points and plans are made by the host, copied to the device
     * once, and kept until the mesh, the spaces or the order of the quadrature
     * change.
     *
     * Coefficients and results may be in device memory or in host memory; the
     * latter are copied. Integrands without device code, and spaces so large
     * that the data of a polytope exceed the shared memory, are left to the
     * host's threads, with the reason in the report; if the parameters ask for
     * Backend::cuda, both are errors, except for integrals.
     *
     * Residuals and tangents on conforming affine simplices have kernels of
     * their own, see CUDAPointwiseSimplices.
     *
     * <b>Values that are not finite.</b> The kernels of residuals and tangents
     * leave component and point of one. Of a Jacobian, a kernel of its own
     * looks at one entry of each sub-block, see Device::check_blocks().
     *
     * <b>Integrals.</b> The kernels are those of the residual: over the
     * boundary, results at its points are summed for each interface; inside of
     * polytopes they are multiplied by the constant function. Sums of polytopes
     * and interfaces are copied to the host, which adds them.
     */
    template <int dim>
    class CUDAPointwiseBackend : public PointwiseBackend<dim>
    {
    public:
      using Integrand = typename PointwiseBackend<dim>::Integrand;
      using Arguments = typename PointwiseBackend<dim>::Arguments;

      explicit CUDAPointwiseBackend(PointwiseContext<dim> &context);

      Backend
      type() const override
      {
        return Backend::cuda;
      }

      std::string
      prepare(const Integrand          &integrand,
              const PointwiseResultType type) override;

      std::string
      why_not_simplices() const override;

      std::string
      choose_kernels(const std::string &why_not_simplices) override;

      void
      leave_to_host(const std::string        &why,
                    const Integrand          &integrand,
                    const PointwiseResultType type) override;

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

      void
      check_finite() override;

    private:
      using Structure = typename PointwiseIntegrand<dim>::Structure;
      using Kernels   = DevicePointwiseKernels<dim>;
      template <typename T>
      using Array = DeviceSpaceArray<T>;

      // Tables of points, and data of the spaces.
      struct Geometry
      {
        std::uint64_t revision = 0, penalty_revision = 0;
        std::unique_ptr<PointwiseTables<dim>> tables;
        Array<double> frames, lengths, shift, volume_points, facet_points,
          normals;
        Array<unsigned int>               subcell_material, facet_of_point;
        Array<Device::PointwiseFacet>     facets;
        std::vector<Array<unsigned int>>  degree, n_basis, exponents;
        std::vector<Array<std::uint64_t>> dof_offset;
        std::vector<unsigned int>         max_degree, max_basis;
        std::vector<bool>                 total_degree;
      };

      // A plan on the device, with what it depends on.
      struct Plan
      {
        std::uint64_t revision = 0;
        Structure     structure;
        // Reason why there is no plan, or an empty string.
        std::string why;

        unsigned int                    n_groups = 0;
        Device::PointwiseLayout         layout, tangent_layout, facet_layout;
        Array<Device::PointwiseGroup>   groups;
        Array<Device::PointwiseBatch>   batches;
        Array<Device::PointwisePiece>   pieces;
        Array<Device::PointwiseSegment> segments;
        Array<unsigned int>             slots, ranges;
      };

      // Layout of the Jacobian, and of its diagonal blocks alone.
      struct MatrixLayout
      {
        std::uint64_t        revision = 0;
        Array<std::uint64_t> value_offset, block_offset, square_offset;
        Array<unsigned int>  row_width, block_column, column_offset,
          square_width, diagonal;
        std::uint64_t n_square_values = 0;
      };

      void
      prepare_matrix();
      // Block rows of the matrix; with @p diagonal_only those of its diagonal
      // blocks.
      Device::ChainedRows
      block_rows(const bool diagonal_only) const;

      void
      prepare_geometry();
      void
      prepare_spaces();
      // The plan of residuals of functors with this structure, which may be
      // empty. At most four are kept.
      Plan &
      residual_plan(const Structure &structure);
      // With @p constants, the only test functions are constants.
      Plan &
      prepare_plan(const Structure &structure,
                   const bool       jacobian,
                   const bool       constants = false);
      // Plan that the shared memory can hold; null if there is none. The layout
      // then has the smallest number of bytes that was found.
      std::unique_ptr<PointwisePlan<dim>>
      make_plan(const Structure         &structure,
                const bool               jacobian,
                Device::PointwiseLayout &layout) const;
      Device::PointwiseLayout
      start_layout(const Structure &structure,
                   const bool       jacobian,
                   const bool       direction) const;
      void
      finish_layout(const Structure          &structure,
                    const bool                jacobian,
                    const PointwisePlan<dim> &plan,
                    Device::PointwiseLayout  &layout) const;
      // Layout of the kernels that evaluate points on facets.
      Device::PointwiseLayout
      facet_layout(const Structure &structure) const;
      void
      upload_plan(const PointwisePlan<dim> &plan, Plan &to) const;

      // Arguments of all kernels; the plan is null for those that need none.
      Device::PointwiseTask<dim>
      task(const Plan *plan, const Arguments &arguments);
      // Coefficients in device memory.
      const double *
      on_device(const double      *coefficients,
                const unsigned int field,
                Array<double>     &buffer) const;
      // Calls work(arguments) with coefficients in host memory.
      template <typename Work>
      void
      on_host(const Arguments &arguments, const Work &work) const;
      // Residual or tangent: results on facets, then sums over points.
      void
      evaluate_and_sum(const Plan                 &plan,
                       Device::PointwiseTask<dim> &task,
                       const bool                  tangent);
      // Task of a Jacobian, without the place of its entries.
      Device::PointwiseTask<dim>
      jacobian_task(const Arguments &arguments);
      // Block rows of the polytopes begin .. end - 1, which begin at the values
      // of the task.
      void
      compute_block_rows(Device::PointwiseTask<dim> &task,
                         const unsigned int          begin,
                         const unsigned int          end);

      // Computes all block rows, so many at once that they stay in the second
      // level cache, and calls @p use_values with the first of these and the
      // end while the values are in the array values.
      template <typename Function>
      void
      compute_pieces(Device::PointwiseTask<dim> &task,
                     const Function             &use_values);
      // Integrals on the device; false if this is not possible.
      bool
      boundary_integrals(const Arguments &arguments, double *integrals);
      bool
      volume_integrals(const Arguments &arguments, double *integrals);
      // Lets a kernel find results that are not finite without reporting them.
      void
      ignore_errors(Device::PointwiseTask<dim> &task);
      // Starts a kernel.
      void
      launch(const Device::PointwiseKernel     kernel,
             const Device::PointwiseTask<dim> &task,
             const std::uint64_t               n_blocks) const;
      // Starts the clock of the kernels, unless work is recorded.
      void
      start_clock();
      // Reports the time since start_clock(), and results that are not finite.
      void
      finish();
      void
      clear_error();
      [[noreturn]] void
      throw_not_finite(const unsigned long long code) const;
      // For entries of the Jacobian.
      [[noreturn]] void
      throw_not_finite(const unsigned int polytope,
                       const unsigned int component) const;

      HostPointwiseBackend<dim> host;
      // Kernels of the integrand that was prepared; null if the host evaluates
      // it.
      std::shared_ptr<const Kernels> kernels;
      Geometry                       geometry;
      Plan                           jacobian_plan, integral_plan;
      // Plans of residuals for the functors of an operator, which may have
      // different structures and be used in turn; the latest one is the last.
      std::vector<std::unique_ptr<Plan>> residual_plans;
      MatrixLayout                       matrix_layout;
      CUDAPointwiseSimplices<dim>        simplices;
      DeviceBoundaryPoints<dim>          boundary;
      std::uint64_t boundary_revision = 0, boundary_penalty_revision = 0;
      // Why the integrand that was prepared needs a plan.
      std::string         why_plan;
      bool                uses_simplices = false;
      bool                left_to_host   = false;
      PointwiseResultType result_type    = PointwiseResultType::vector;
      // Structure of the integrand that was prepared.
      Structure                  structure;
      std::vector<Array<double>> buffers;
      Array<double> direction_buffer, result_buffer, facet_results, values;
      Array<unsigned long long>            error, ignored_error;
      std::size_t                          shared_memory = 0;
      std::unique_ptr<Device::StreamClock> clock;
    };
  } // namespace internal
} // namespace Tessella

#endif
