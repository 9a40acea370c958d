// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "cuda_pointwise_simplices.h"

#include <deal.II/base/exceptions.h>

#include <tessella/forms/pointwise_evaluation.h>

#include <algorithm>

#include "../../cuda/device/graph.h"
#include "../backends/host_points.h"
#include "simplex_reference.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      // Distance of rows in shared memory that spreads those of a warp over the
      // banks.
      unsigned int
      row_distance(const unsigned int n)
      {
        return (n + 7) / 16 * 16 + 8;
      }
    } // namespace



    template <int dim>
    std::string
    CUDAPointwiseSimplices<dim>::prepare(const Structure            &structure,
                                         const PointwiseTables<dim> &tables,
                                         const std::size_t shared_memory)
    {
      if (!Device::has_simplex_kernels(structure.interior_facets ||
                                         structure.boundary_facets,
                                       structure.facet_input,
                                       structure.facet_output))
        return "the functor has gradients on facets";
      this->shared_memory = shared_memory;
      if (revision == 0 || revision != context.quadrature_revision)
        {
          revision = 0;
          why      = set_up(tables);
          revision = context.quadrature_revision;
        }
      return why;
    }



    template <int dim>
    std::string
    CUDAPointwiseSimplices<dim>::set_up(const PointwiseTables<dim> &tables)
    {
      const PolytopicMesh<dim> &mesh = context.mesh();
      for (unsigned int f = 0; f < context.n_fields(); ++f)
        {
          const std::string reason = why_no_simplex_field(dim, context.dofs(f));
          if (!reason.empty())
            return reason;
        }
      PointwiseSimplices<dim> &simplices = mesh_data;
      const std::string        reason    = simplices.set_up(mesh);
      if (!reason.empty())
        return reason;

      const HostRules<dim>     rules(mesh,
                                 context.quadrature,
                                 context.coefficient_order);
      const unsigned int       degree = context.quadrature.degree[0];
      const HostKernels::Rule &volume =
                                rules.subcell(SubCellType::simplex, degree),
                              &facet = rules.facet(FacetType::simplex, degree);
      const SimplexRule volume_rule(
        dim, volume.n_points, volume.n_padded, volume.points, volume.weights),
        facet_rule(
          dim - 1, facet.n_points, facet.n_padded, facet.points, facet.weights);
      AssertThrow(tables.facet_point.back() ==
                      std::uint64_t(mesh.n_facets()) * facet.n_points &&
                    tables.subcell_point[mesh.n_owned_polytopes()] ==
                      std::uint64_t(mesh.n_owned_polytopes()) * volume.n_points,
                  ExcInternalError());

      facets.assign(simplices.facets);
      face_records.assign(simplices.face_records);
      geometry.assign(simplices.geometry);
      corners.assign(simplices.corners);
      facet_measure.assign(
        {mesh.facet_measure.begin(), mesh.facet_measure.end()});
      fields.clear();
      for (unsigned int f = 0; f < context.n_fields(); ++f)
        add_field(context.dofs(f), volume_rule, facet_rule);
      const SimplexTestTables made(dim,
                                   context.test_dofs().degree[0],
                                   context.test_dofs().n_components,
                                   volume_rule,
                                   facet_rule);
      test.assign(made.test);
      face_test.assign(made.face_test);
      face_position.assign(made.face_position);

      common                   = Device::SimplexTask<dim>();
      common.n_nodes           = made.n_nodes;
      common.n_face_nodes      = made.n_face_nodes;
      common.node_tiles        = made.node_tiles;
      common.face_tiles        = made.face_tiles;
      common.facets            = facets.data();
      common.n_interior        = simplices.n_interior;
      common.n_boundary        = simplices.n_boundary;
      common.facet_measure     = facet_measure.data();
      common.n_facet_points    = facet.n_points;
      common.facet_point_tiles = facet_rule.n_tiles();
      common.face_test         = face_test.data();
      common.record_size       = made.record_size;
      common.n_simplices       = mesh.n_owned_polytopes();
      common.geometry          = geometry.data();
      common.n_points          = volume.n_points;
      common.point_tiles       = volume_rule.n_tiles();
      common.test              = test.data();
      common.face_records      = face_records.data();
      common.face_position     = face_position.data();
      common.facet_pitch       = row_distance(2 * made.record_size);
      common.pitch =
        row_distance(made.n_nodes * context.test_dofs().n_components);
      records.resize(std::size_t(common.n_facet_groups()) *
                     Device::simplices_of_warp * 2 * made.record_size);
      common.records = records.data();
      // The change to rows of basis functions of low degree is short.
      const unsigned int p = context.test_dofs().degree[0];
      common.basis_degree  = p <= 2 ? p : 0;
      common.corner_stride = mesh.n_polytopes();
      common.corners       = corners.data();
      common.nodes         = fields[context.test]->nodes->coordinates();
      return check_memory(shared_memory);
    }



    template <int dim>
    void
    CUDAPointwiseSimplices<dim>::add_field(const PolytopicDoFs &dofs,
                                           const SimplexRule   &volume,
                                           const SimplexRule   &facet)
    {
      const unsigned int p = dofs.degree[0], n = context.mesh().n_polytopes();
      const SimplexFieldTables made(dim, p, volume, facet);
      fields.push_back(std::make_unique<Field>());
      Field &field       = *fields.back();
      field.n_components = dofs.n_components;
      field.n_nodes      = made.n_nodes;
      field.n_face_nodes = made.n_face_nodes;
      field.node_steps   = made.node_steps;
      field.face_steps   = made.face_steps;
      field.values.assign(made.values);
      field.derivatives.assign(made.derivatives);
      field.face_values.assign(made.face_values);
      field.face_node.assign(made.face_node);
      field.nodal.resize(std::size_t(n) * field.n_components * field.n_nodes);
      field.nodes = std::make_unique<Device::SimplexNodes>(
        dim, p, n, corners.data(), SimplexReference(dim, p).nodes);
    }



    template <int dim>
    std::string
    CUDAPointwiseSimplices<dim>::check_memory(const std::size_t shared_memory)
    {
      this->shared_memory = shared_memory;
      for (unsigned int f = 0; f < fields.size(); ++f)
        {
          Device::SimplexTask<dim> task = common;
          if (!set_memory(task, f))
            return "a group of simplices needs more shared memory than the "
                   "device has";
        }
      return "";
    }



    template <int dim>
    bool
    CUDAPointwiseSimplices<dim>::set_memory(Device::SimplexTask<dim> &task,
                                            const unsigned int direction) const
    {
      task.operands = task.facet_operands = 0;
      const auto add                      = [&](const Field &field) {
        task.operands += 32 * field.n_components * field.node_steps;
        task.facet_operands += 2 * 32 * field.n_components * field.face_steps;
      };
      for (const auto &field : fields)
        add(*field);
      if (direction != invalid_index)
        add(*fields[direction]);
      // Fewer warps if the memory is too small for four.
      // Few warps are spread better over the device in blocks of one.
      const auto threads =
        [&](unsigned int &n, const unsigned int n_warps, const auto &bytes) {
          for (n = n_warps < 8192 ? 32 : 128; n > 0 && bytes() > shared_memory;
               n -= 32)
            ;
          return n > 0;
        };
      const bool facets_fit = threads(task.facet_threads,
                                      task.n_facet_groups(),
                                      [&]() { return task.facet_bytes(); });
      return threads(task.n_threads,
                     task.n_groups(),
                     [&]() { return task.n_bytes(); }) &&
             facets_fit;
    }



    template <int dim>
    Device::SimplexField
    CUDAPointwiseSimplices<dim>::evaluate(Field                        &field,
                                          const Device::PointwiseField &given,
                                          Array<double> &nodal) const
    {
      // Coefficients of ghosts follow those of the own polytopes.
      field.nodes->evaluate(field.n_components,
                            context.mesh().n_polytopes(),
                            given.coefficients,
                            nullptr,
                            nodal.data());
      return {nodal.data(),
              field.n_nodes,
              field.n_face_nodes,
              field.node_steps,
              field.face_steps,
              field.values.data(),
              field.derivatives.data(),
              field.face_values.data(),
              field.face_node.data()};
    }



    template <int dim>
    void
    CUDAPointwiseSimplices<dim>::launch(
      const DevicePointwiseKernels<dim> &kernels,
      const Device::PointwiseKernel      kernel,
      const Device::SimplexTask<dim>    &task,
      const unsigned int                 n_groups,
      const unsigned int                 n_threads) const
    {
      const unsigned int n_warps  = n_threads / 32,
                         n_blocks = (n_groups + n_warps - 1) / n_warps;
      if (n_blocks == 0)
        return;
      const std::string message =
        kernels.launch(kernel, task, n_blocks, Device::current_stream());
      AssertThrow(message.empty(), ExcMessage(message));
    }



    template <int dim>
    void
    CUDAPointwiseSimplices<dim>::run(const DevicePointwiseKernels<dim> &kernels,
                                     const Device::PointwiseTask<dim>  &given)
    {
      const unsigned int n          = fields.size();
      const bool         tangent    = given.fields[n].coefficients != nullptr;
      Device::SimplexTask<dim> task = common;
      task.mesh                     = given.mesh;
      task.field                    = given.field;
      task.error                    = given.error;
      task.result                   = given.result;
      set_memory(task, tangent ? given.field : invalid_index);
      for (unsigned int f = 0; f < n; ++f)
        task.fields[f] =
          evaluate(*fields[f], given.fields[f], fields[f]->nodal);
      if (tangent)
        {
          Field            &field = *fields[given.field];
          const std::size_t size  = field.nodal.size();
          if (direction.size() < size)
            direction.resize(size);
          task.fields[n] = evaluate(field, given.fields[n], direction);
        }
      launch(kernels,
             tangent ? Device::PointwiseKernel::simplex_facet_tangent
                     : Device::PointwiseKernel::simplex_facet_residual,
             task,
             task.n_facet_groups(),
             task.facet_threads);
      launch(kernels,
             tangent ? Device::PointwiseKernel::simplex_tangent
                     : Device::PointwiseKernel::simplex_residual,
             task,
             task.n_groups(),
             task.n_threads);
      if (task.basis_degree == 0)
        fields[context.test]->nodes->basis_rows(
          context.test_dofs().n_components,
          task.n_simplices,
          given.result,
          {given.result, Device::Product::set});
    }



    // ---- Jacobians

    template <int dim>
    std::string
    CUDAPointwiseSimplices<dim>::set_faces()
    {
      const BlockSparsity &blocks = context.structures[context.test].blocks;
      const PointwiseSimplices<dim>           &M = mesh_data;
      std::vector<Device::SimplexJacobianFace> result;
      for (unsigned int k = 0; k < common.n_simplices; ++k)
        {
          unsigned int neighbors[dim + 1];
          for (unsigned int a = 0; a <= dim; ++a)
            {
              const unsigned int record = M.face_records[4 * k + a],
                                 slot = record >> 6, side = record >> 5 & 1;
              const bool interior = slot < M.n_interior;
              // Slots of the boundary begin at a multiple of 8.
              const Device::SimplexFacet &facet =
                M.facets[interior ? slot
                                  : slot -
                                      common.n_interior_groups() *
                                        Device::simplices_of_warp +
                                      M.n_interior];
              neighbors[a] =
                interior ? facet.polytope[1 - side] : invalid_index;
              if (neighbors[a] == k)
                return "a simplex is its own neighbor";
              if (interior &&
                  std::count(neighbors, neighbors + a, neighbors[a]) > 0)
                return "two simplices have two common faces";
              result.push_back(
                {facet.facet,
                 side,
                 interior
                   ? blocks.column_offset[blocks.find_block(k, neighbors[a])]
                   : 0});
            }
        }
      faces.assign(result);
      return "";
    }



    template <int dim>
    std::string
    CUDAPointwiseSimplices<dim>::prepare_jacobian(const Structure &structure)
    {
      const unsigned int degree = context.test_dofs().degree[0];
      if (degree < 1 || degree > 3)
        return "the degree of a Jacobian's space is not 1, 2 or 3";
      if (faces_revision == 0 || faces_revision != revision)
        {
          faces_revision = 0;
          why_no_faces   = set_faces();
          faces_revision = revision;
        }
      if (!why_no_faces.empty())
        return why_no_faces;
      Device::SimplexJacobianTask<dim> &J = jacobian;
      J                                   = Device::SimplexJacobianTask<dim>();
      unsigned int n_inputs               = 0;
      for (unsigned int f = 0; f < fields.size(); ++f)
        {
          J.field_degree[f] = context.dofs(f).degree[0];
          J.field_basis[f]  = fields[f]->n_nodes;
          n_inputs += fields[f]->n_components;
        }
      J.faces              = faces.data();
      J.n_facet_points     = common.n_facet_points;
      J.n_volume_points    = common.n_points;
      const unsigned int m = structure.n_components, N = common.n_nodes;
      J.block_bytes = Device::simplex_jacobian_size(
                        dim,
                        N,
                        n_inputs,
                        m,
                        Device::n_used_rows(dim, structure.volume_input),
                        Device::n_used_rows(dim, structure.volume_output),
                        J.n_facet_points,
                        J.n_volume_points) *
                      sizeof(double);
      J.block_threads = Device::simplex_jacobian_threads(degree);
      return J.block_bytes > shared_memory
               ? "the data of a simplex need more shared memory than the device "
                 "has"
               : "";
    }



    template <int dim>
    void
    CUDAPointwiseSimplices<dim>::compute_block_rows(
      const DevicePointwiseKernels<dim> &kernels,
      const Device::PointwiseTask<dim>  &given,
      const unsigned int                 begin,
      const unsigned int                 end) const
    {
      Device::SimplexJacobianTask<dim> J = jacobian;
      J.mesh                             = given.mesh;
      std::copy_n(given.fields, fields.size(), J.given_fields);
      J.first_component         = given.first_component;
      J.values                  = given.values;
      J.first_value             = given.first_value;
      J.value_offset            = given.value_offset;
      J.row_width               = given.row_width;
      J.diagonal                = given.diagonal;
      J.diagonal_only           = given.diagonal_only;
      J.first_simplex           = begin;
      const unsigned int degree = context.test_dofs().degree[0];
      const std::string  message =
        kernels.launch(degree == 1 ? Device::PointwiseKernel::simplex_jacobian_1
                       : degree == 2
                         ? Device::PointwiseKernel::simplex_jacobian_2
                         : Device::PointwiseKernel::simplex_jacobian_3,
                       J,
                       end - begin,
                       Device::current_stream());
      AssertThrow(message.empty(), ExcMessage(message));
    }



    template class CUDAPointwiseSimplices<2>;
    template class CUDAPointwiseSimplices<3>;
  } // namespace internal
} // namespace Tessella
