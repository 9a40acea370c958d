// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_cuda_pointwise_simplices_h
#define tessella_source_operators_cuda_pointwise_simplices_h

#include <tessella/forms/device_pointwise_kernels.h>
#include <tessella/forms/pointwise_integrand.h>

#include <memory>
#include <string>
#include <vector>

#include "../../cuda/operators/simplex_nodes.h"
#include "../lac/block_space.h"
#include "pointwise_context.h"
#include "pointwise_simplices.h"
#include "pointwise_tables.h"

namespace Tessella
{
  namespace internal
  {
    struct SimplexRule;

    /**
     * Pointwise operators on a CUDA device if all polytopes are conforming
     * affine simplices, each field has one degree up to 4, and the functor has
     * no gradients on facets. Residuals and tangents: values at nodes of all
     * fields, the two kernels of the functor that SimplexTask describes, and
     * the change to rows of basis functions. Jacobians with test functions of
     * degree 1, 2 or 3: one kernel, see SimplexJacobian.
     */
    template <int dim>
    class CUDAPointwiseSimplices
    {
    public:
      using Structure = typename PointwiseIntegrand<dim>::Structure;

      explicit CUDAPointwiseSimplices(const PointwiseContext<dim> &context)
        : context(context)
      {}

      /// Makes all data for the present mesh, spaces and quadrature, whose
      /// points are in @p tables. Returns why these kernels cannot be used, or
      /// an empty text. @p shared_memory: bytes of a thread block.
      std::string
      prepare(const Structure            &structure,
              const PointwiseTables<dim> &tables,
              const std::size_t           shared_memory);

      /// The same for Jacobians, after prepare().
      std::string
      prepare_jacobian(const Structure &structure);

      /// Starts the kernel of a Jacobian for the block rows begin .. end - 1;
      /// coefficients, entries and their layout are those of @p task.
      void
      compute_block_rows(const DevicePointwiseKernels<dim> &kernels,
                         const Device::PointwiseTask<dim>  &task,
                         const unsigned int                 begin,
                         const unsigned int                 end) const;

      /// Starts the kernels for a residual or, if there is a direction, a
      /// tangent; coefficients, direction and result are those of @p task.
      void
      run(const DevicePointwiseKernels<dim> &kernels,
          const Device::PointwiseTask<dim>  &task);

    private:
      template <typename T>
      using Array = DeviceSpaceArray<T>;

      // A field with its tables.
      struct Field
      {
        unsigned int n_components, n_nodes, n_face_nodes, node_steps,
          face_steps;
        std::unique_ptr<Device::SimplexNodes> nodes;
        Array<double>         values, derivatives, face_values, nodal;
        Array<unsigned short> face_node;
      };

      std::string
      set_up(const PointwiseTables<dim> &tables);
      void
      add_field(const PolytopicDoFs &dofs,
                const SimplexRule   &volume,
                const SimplexRule   &facet);
      std::string
      check_memory(const std::size_t shared_memory);
      // Memory and threads of a block, for a tangent with respect to a field or
      // a residual (field: invalid_index); false if there is not enough memory.
      bool
      set_memory(Device::SimplexTask<dim> &task,
                 const unsigned int        direction) const;
      // Values at nodes of a field or of a direction.
      Device::SimplexField
      evaluate(Field                        &field,
               const Device::PointwiseField &given,
               Array<double>                &nodal) const;
      // Sets what the Jacobian needs to know of the faces of all simplices.
      // Returns why its kernel cannot be used, or an empty text.
      std::string
      set_faces();
      void
      launch(const DevicePointwiseKernels<dim> &kernels,
             const Device::PointwiseKernel      kernel,
             const Device::SimplexTask<dim>    &task,
             const unsigned int                 n_groups,
             const unsigned int                 n_threads) const;

      const PointwiseContext<dim> &context;
      std::uint64_t                revision = 0;
      std::string                  why;
      std::size_t                  shared_memory = 0;

      std::vector<std::unique_ptr<Field>> fields;
      // All members but pointers to fields.
      Device::SimplexTask<dim>    common;
      Array<Device::SimplexFacet> facets;
      Array<unsigned int>         face_records;
      Array<double> geometry, corners, facet_measure, test, face_test, records,
        direction;
      Array<unsigned char> face_position;

      // Jacobian: all members but those that the call determines.
      PointwiseSimplices<dim>            mesh_data;
      std::uint64_t                      faces_revision = 0;
      std::string                        why_no_faces;
      Array<Device::SimplexJacobianFace> faces;
      Device::SimplexJacobianTask<dim>   jacobian;
    };
  } // namespace internal
} // namespace Tessella

#endif
