// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "cuda_pointwise.h"

#include <deal.II/base/exceptions.h>

#include <tessella/forms/pointwise_jacobian.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <sstream>
#include <string>
#include <utility>

#include "../../cuda/operators/integral_sums.h"
#include "../backends/host_dispatch.h"
#include "cuda_integrals.templates.h"
#include "deferred_checks.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      unsigned int
      even(const unsigned int n)
      {
        return (n + 1) / 2 * 2;
      }
    } // namespace



    template <int dim>
    CUDAPointwiseBackend<dim>::CUDAPointwiseBackend(
      PointwiseContext<dim> &context)
      : PointwiseBackend<dim>(context)
      , host(context)
      , simplices(context)
    {
      device_call([&]() {
        shared_memory = Device::shared_memory_limit();
        clock         = std::make_unique<Device::StreamClock>();
      });
    }



    template <int dim>
    std::string
    CUDAPointwiseBackend<dim>::prepare(const Integrand          &integrand,
                                       const PointwiseResultType type)
    {
      OperatorReport &report = this->context.report;
      report.kernel_time     = 0.;
      report.kernels.clear();
      kernels.reset();
      why_plan.clear();
      left_to_host = false;
      result_type  = type;
      if (!this->has_polytopes())
        return "";
      kernels = integrand.device_kernels();
      // Integrals may be left to the host whatever the backend is.
      if (type == PointwiseResultType::integrals)
        {
          report.integrand = kernels != nullptr
                               ? kernels->description()
                               : "evaluated by the host's threads";
          report.why = kernels != nullptr ? "" : integrand.why_not_on_device();
          why_plan   = "integrals are computed";
          return "";
        }
      if (kernels == nullptr)
        {
          const std::string why = integrand.why_not_on_device();
          return why.empty() ? "the integrand has no device code" : why;
        }
      structure = integrand.structure();
      device_call([&]() {
        prepare_geometry();
        why_plan =
          simplices.prepare(structure, *geometry.tables, shared_memory);
        if (why_plan.empty() && type == PointwiseResultType::jacobian)
          why_plan = simplices.prepare_jacobian(structure);
      });
      report.integrand = kernels->description();
      report.why.clear();
      return "";
    }



    template <int dim>
    std::string
    CUDAPointwiseBackend<dim>::why_not_simplices() const
    {
      return left_to_host ? host.why_not_simplices() : why_plan;
    }



    template <int dim>
    std::string
    CUDAPointwiseBackend<dim>::choose_kernels(
      const std::string &why_not_simplices)
    {
      if (left_to_host)
        return host.choose_kernels(why_not_simplices);
      uses_simplices = why_not_simplices.empty();
      this->context.report.kernels =
        uses_simplices ? "affine simplices"
                       : "all polytopes, since " + why_not_simplices;
      if (uses_simplices || kernels == nullptr ||
          result_type == PointwiseResultType::integrals)
        return "";
      return device_call([&]() {
        return prepare_plan(structure,
                            result_type == PointwiseResultType::jacobian)
          .why;
      });
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::leave_to_host(const std::string &why,
                                             const Integrand   &integrand,
                                             const PointwiseResultType type)
    {
      // Kernels without a plan: the data of a polytope are too large for them.
      const bool too_large = kernels != nullptr;
      AssertThrow(this->context.parameters.backend != Backend::cuda,
                  ExcMessage("A PointwiseOperator cannot run on a CUDA device, "
                             "since " +
                             why + ": take " +
                             (too_large ? "lower degrees, or " : "") +
                             "the backend host or automatic."));
      kernels.reset();
      left_to_host = true;
      host.prepare(integrand, type);
      this->context.report.integrand = "evaluated by the host's threads";
      this->context.report.why       = why;
    }



    // ---- tables

    template <int dim>
    void
    CUDAPointwiseBackend<dim>::prepare_geometry()
    {
      const PointwiseContext<dim> &context  = this->context;
      const PolytopicMesh<dim>    &mesh     = context.mesh();
      const std::uint64_t          revision = context.quadrature_revision;
      Geometry                    &G        = geometry;
      if (G.revision == 0 || G.revision != revision)
        {
          G.revision         = 0;
          G.penalty_revision = 0;
          const HostRules<dim> rules(mesh,
                                     context.quadrature,
                                     context.coefficient_order);
          G.tables = std::make_unique<PointwiseTables<dim>>(
            mesh,
            context.quadrature,
            rules,
            select_kernels<dim>(context.parameters.instruction_set));
          G.frames.assign(polytope_frames(mesh));
          G.shift.assign(mesh.shift);
          G.subcell_material.assign(mesh.subcell_material);
          G.lengths.assign(G.tables->lengths);
          G.volume_points.assign(G.tables->volume_points);
          G.facet_points.assign(G.tables->facet_points);
          G.normals.assign(G.tables->normals);
          G.facet_of_point.assign(G.tables->facet_of_point());
          prepare_spaces();
          G.revision = revision;
        }
      const std::uint64_t penalty = context.test_dofs().penalty_revision;
      if (G.penalty_revision == 0 || G.penalty_revision != penalty)
        {
          G.facets.assign(pointwise_facets(context, *G.tables));
          G.penalty_revision = penalty;
        }
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::prepare_spaces()
    {
      const PointwiseContext<dim> &context = this->context;
      const unsigned int           n       = context.n_fields();
      Geometry                    &G       = geometry;
      AssertThrow(n <= Device::max_operator_fields,
                  ExcMessage("On a CUDA device a PointwiseOperator has at most "
                             "8 fields: take the backend host."));
      G.degree     = std::vector<Array<unsigned int>>(n);
      G.n_basis    = std::vector<Array<unsigned int>>(n);
      G.exponents  = std::vector<Array<unsigned int>>(n);
      G.dof_offset = std::vector<Array<std::uint64_t>>(n);
      G.max_degree.assign(n, 0);
      G.max_basis.assign(n, 0);
      G.total_degree.assign(n, true);
      for (unsigned int f = 0; f < n; ++f)
        {
          const PolytopicDoFs &dofs = context.dofs(f);
          for (unsigned int k = 0; k < dofs.degree.size(); ++k)
            {
              G.max_degree[f] = std::max(G.max_degree[f], dofs.degree[k]);
              G.max_basis[f]  = std::max(G.max_basis[f], dofs.n_basis[k]);
            }
          const PolynomialSpaceType type =
            context.spaces[f]->polynomial_space();
          G.total_degree[f] = type == PolynomialSpaceType::total_degree;
          G.exponents[f].assign(packed_exponents(dim, G.max_degree[f], type));
          G.degree[f].assign(dofs.degree);
          G.n_basis[f].assign(dofs.n_basis);
          G.dof_offset[f].assign(dofs.dof_offset);
        }
    }



    // ---- plans

    template <int dim>
    Device::PointwiseLayout
    CUDAPointwiseBackend<dim>::start_layout(const Structure &structure,
                                            const bool       jacobian,
                                            const bool       direction) const
    {
      const Geometry         &G      = geometry;
      const unsigned int      n      = this->context.n_fields();
      Device::PointwiseLayout layout = Device::PointwiseLayout();
      unsigned int            size   = Device::pointwise_header(dim, n);
      unsigned int degree = G.max_degree[this->context.test], largest = 0;
      for (unsigned int f = 0; f < n; ++f)
        {
          const unsigned int field_size =
            even(G.max_basis[f] *
                 Device::pointwise_pitch(structure.field_components[f]));
          size += field_size;
          largest = std::max(largest, field_size);
          if (!G.total_degree[f] || G.max_degree[f] > 3)
            degree = std::max(degree, G.max_degree[f]);
        }
      // The direction of a tangent.
      if (direction)
        size += largest;
      layout.slot_stride = size;
      const bool gradients =
        ((structure.volume_input | structure.volume_output |
          structure.facet_input | structure.facet_output) &
         PointwiseRows::gradients) != 0;
      layout.n_functions       = degree + 1;
      layout.table_derivatives = dim * (degree + 1);
      // Odd distances spread points over the banks of shared memory.
      layout.table_stride = dim * (degree + 1) * (gradients ? 2 : 1) | 1;
      layout.result_stride =
        structure.n_components *
          std::max(Device::n_used_rows(dim, structure.volume_output),
                   Device::n_used_rows(dim, structure.facet_output)) |
        1;
      layout.basis_stride =
        jacobian ? even(G.max_basis[this->context.test]) : 0;
      return layout;
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::finish_layout(
      const Structure          &structure,
      const bool                jacobian,
      const PointwisePlan<dim> &plan,
      Device::PointwiseLayout  &layout) const
    {
      unsigned int position =
        (plan.max_polytopes + plan.max_neighbors) * layout.slot_stride;
      const auto section = [&](unsigned int &offset, const unsigned int n) {
        offset = position;
        position += even(n);
      };
      if (jacobian)
        // Tiles of trial functions may read beyond the last one.
        section(layout.points, plan.max_size + 16);
      else
        {
          section(layout.table, plan.max_points * layout.table_stride);
          section(layout.result, plan.max_points * layout.result_stride);
          section(layout.sums, plan.max_sums * structure.n_components);
        }
      section(layout.piece_of_point, (plan.max_points + 3) / 4);
      section(layout.polytope_of_slot,
              (plan.max_polytopes + plan.max_neighbors + 1) / 2);
      layout.bytes = position * sizeof(double);
      layout.n_threads =
        Device::pointwise_threads(jacobian ? Device::PointwiseKernel::jacobian
                                           : Device::PointwiseKernel::residual);
      // Small polytopes do not have work for many warps between two barriers.
      if (jacobian)
        layout.n_threads =
          std::max(64u,
                   std::min(layout.n_threads,
                            (2 * plan.max_points + 31) / 32 * 32));
    }



    // Threads work alone; each needs room for the one-dimensional functions of
    // its point if the kernel cannot keep them in registers.
    template <int dim>
    Device::PointwiseLayout
    CUDAPointwiseBackend<dim>::facet_layout(const Structure &structure) const
    {
      Device::PointwiseLayout layout = start_layout(structure, false, false);
      bool                    needed = false;
      for (unsigned int f = 0; f < this->context.n_fields(); ++f)
        needed |= !geometry.total_degree[f] || geometry.max_degree[f] > 3;
      if (!needed)
        layout.table_stride = 0;
      layout.n_threads =
        Device::pointwise_threads(Device::PointwiseKernel::facet_residual);
      while (layout.n_threads > 1 &&
             layout.n_threads * layout.table_stride * sizeof(double) >
               shared_memory)
        layout.n_threads /= 2;
      layout.bytes = layout.n_threads * layout.table_stride * sizeof(double);
      return layout;
    }



    template <int dim>
    std::unique_ptr<PointwisePlan<dim>>
    CUDAPointwiseBackend<dim>::make_plan(const Structure         &structure,
                                         const bool               jacobian,
                                         Device::PointwiseLayout &layout) const
    {
      const unsigned int m        = structure.n_components;
      unsigned int       n_inputs = 0;
      for (const unsigned int n : structure.field_components)
        n_inputs += n;
      const unsigned int   n_basis = geometry.max_basis[this->context.test];
      const BlockSparsity *blocks =
        jacobian ? &this->context.structures[this->context.test].blocks
                 : nullptr;
      const std::size_t wanted[] = {64 << 10, 100 << 10, shared_memory};
      std::unique_ptr<PointwisePlan<dim>> plan;
      // First the wanted size, then ever smaller groups and batches.
      for (unsigned int n_points = 128; n_points >= 1; n_points /= 2)
        {
          layout = start_layout(structure, jacobian, !jacobian);
          const unsigned int  slot = layout.slot_stride * sizeof(double);
          PointwisePlanLimits limits;
          const std::size_t   bytes = wanted[n_points == 128 ? 0 : 2];
          limits.n_points           = jacobian ? 1024 : n_points;
          limits.n_neighbors        = std::max<std::size_t>(
            1, std::min<std::size_t>(n_points / 2, bytes / 3 / slot));
          limits.n_polytopes = std::max<std::size_t>(
            1,
            std::min<std::size_t>(n_points / 8,
                                  bytes / 4 /
                                    (slot + n_basis * m * sizeof(double))));
          limits.n_group_points = 5 * n_points;
          if (jacobian)
            {
              limits.n_polytopes = 1;
              const auto size    = [&](const unsigned int n_sides,
                                    const unsigned int input,
                                    const unsigned int output) {
                return Device::jacobian_sizes(
                         dim, n_sides, input, output, n_inputs, m, layout)
                  .sum();
              };
              limits.volume_size =
                size(1, structure.volume_input, structure.volume_output);
              limits.facet_size =
                size(2, structure.facet_input, structure.facet_output);
              limits.size = (n_points == 128 ? wanted[1] : wanted[2]) *
                            n_points / 128 / sizeof(double);
            }
          plan = std::make_unique<PointwisePlan<dim>>(
            this->context, *geometry.tables, structure, limits, blocks);
          finish_layout(structure, jacobian, *plan, layout);
          if (layout.bytes <= shared_memory)
            return plan;
        }
      return nullptr;
    }



    template <int dim>
    typename CUDAPointwiseBackend<dim>::Plan &
    CUDAPointwiseBackend<dim>::residual_plan(const Structure &structure)
    {
      auto      &plans = residual_plans;
      const auto found =
        std::find_if(plans.begin(), plans.end(), [&](const auto &plan) {
          return is_same(plan->structure, structure);
        });
      if (found != plans.end())
        std::rotate(found, found + 1, plans.end());
      else
        {
          if (plans.size() == 4)
            plans.erase(plans.begin());
          plans.push_back(std::make_unique<Plan>());
          plans.back()->structure = structure;
        }
      return *plans.back();
    }



    template <int dim>
    typename CUDAPointwiseBackend<dim>::Plan &
    CUDAPointwiseBackend<dim>::prepare_plan(const Structure &structure,
                                            const bool       jacobian,
                                            const bool       constants)
    {
      prepare_geometry();
      Plan &plan = constants  ? integral_plan
                   : jacobian ? jacobian_plan
                              : residual_plan(structure);
      if (plan.revision != 0 && plan.revision == geometry.revision &&
          is_same(plan.structure, structure))
        return plan;
      plan.revision = 0;
      plan.why.clear();
      const std::unique_ptr<PointwisePlan<dim>> made =
        make_plan(structure, jacobian, plan.layout);
      if (made == nullptr)
        plan.why = "a polytope needs " + std::to_string(plan.layout.bytes) +
                   " bytes of the shared memory of the device, which has " +
                   std::to_string(shared_memory);
      else
        {
          if (constants)
            for (Device::PointwiseGroup &group : made->groups)
              group.n_basis = 1;
          upload_plan(*made, plan);
        }
      if (made != nullptr && !jacobian)
        {
          plan.facet_layout = facet_layout(structure);
          // A residual needs no room for a direction.
          plan.tangent_layout = plan.layout;
          plan.layout         = start_layout(structure, false, false);
          finish_layout(structure, false, *made, plan.layout);
        }
      plan.structure = structure;
      plan.revision  = geometry.revision;
      return plan;
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::upload_plan(const PointwisePlan<dim> &plan,
                                           Plan                     &to) const
    {
      to.n_groups = plan.groups.size();
      to.groups.assign(plan.groups);
      to.batches.assign(plan.batches);
      to.pieces.assign(plan.pieces);
      to.segments.assign(plan.segments);
      to.slots.assign(plan.slots);
      to.ranges.assign(plan.ranges);
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::prepare_matrix()
    {
      MatrixLayout &to = matrix_layout;
      if (to.revision != 0 && to.revision == geometry.revision)
        return;
      to.revision = 0;
      const BlockSparsity &blocks =
        this->context.structures[this->context.test].blocks;
      const std::vector<std::uint64_t> &dof_offset =
        this->context.test_dofs().dof_offset;
      const unsigned int         n = this->context.mesh().n_owned_polytopes();
      std::vector<std::uint64_t> square(n + 1, 0);
      std::vector<unsigned int>  width(n), diagonal(n);
      for (unsigned int k = 0; k < n; ++k)
        {
          width[k]      = dof_offset[k + 1] - dof_offset[k];
          square[k + 1] = square[k] + std::uint64_t(width[k]) * width[k];
          diagonal[k]   = blocks.column_offset[blocks.find_block(k, k)];
        }
      to.n_square_values = square[n];
      to.value_offset.assign(blocks.value_offset);
      to.row_width.assign(blocks.row_width);
      to.block_offset.assign(blocks.block_offset);
      to.block_column.assign(blocks.block_column);
      to.column_offset.assign(blocks.column_offset);
      to.diagonal.assign(diagonal);
      to.square_offset.assign(square);
      to.square_width.assign(width);
      to.revision = geometry.revision;
    }



    template <int dim>
    Device::ChainedRows
    CUDAPointwiseBackend<dim>::block_rows(const bool diagonal_only) const
    {
      const MatrixLayout        &L = matrix_layout;
      const std::uint64_t *const dofs =
        geometry.dof_offset[this->context.test].data();
      return diagonal_only ? Device::ChainedRows{dofs,
                                                 nullptr,
                                                 L.square_offset.data(),
                                                 nullptr,
                                                 nullptr,
                                                 L.square_width.data()}
                           : Device::ChainedRows{dofs,
                                                 L.block_offset.data(),
                                                 L.value_offset.data(),
                                                 L.block_column.data(),
                                                 L.column_offset.data(),
                                                 L.row_width.data()};
    }



    // ---- kernels

    template <int dim>
    const double *
    CUDAPointwiseBackend<dim>::on_device(const double      *coefficients,
                                         const unsigned int field,
                                         Array<double>     &buffer) const
    {
      const std::size_t n = this->context.dofs(field).dof_offset.back();
      if (n == 0 || Device::is_on_device(coefficients))
        return coefficients;
      if (buffer.size() < n)
        buffer.resize(n);
      Device::upload(buffer.data(), coefficients, n);
      return buffer.data();
    }



    template <int dim>
    template <typename Work>
    void
    CUDAPointwiseBackend<dim>::on_host(const Arguments &arguments,
                                       const Work      &work) const
    {
      std::vector<const double *>    fields = arguments.fields;
      std::list<std::vector<double>> copies;
      const auto download = [&](const double *&from, const unsigned int field) {
        const std::size_t n = this->context.dofs(field).dof_offset.back();
        if (from == nullptr || n == 0 || !Device::is_on_device(from))
          return;
        copies.emplace_back(n);
        Device::download_bytes(copies.back().data(), from, n * sizeof(double));
        from = copies.back().data();
      };
      for (unsigned int f = 0; f < fields.size(); ++f)
        download(fields[f], f);
      const double *direction = arguments.direction;
      download(direction, arguments.field);
      work(Arguments{arguments.integrand, fields, arguments.field, direction});
    }



    template <int dim>
    Device::PointwiseTask<dim>
    CUDAPointwiseBackend<dim>::task(const Plan      *plan,
                                    const Arguments &arguments)
    {
      const Structure            structure = arguments.integrand.structure();
      const unsigned int         field     = arguments.field;
      const double *const        direction = arguments.direction;
      const Geometry            &G         = geometry;
      const unsigned int         n         = this->context.n_fields();
      Device::PointwiseTask<dim> result    = Device::PointwiseTask<dim>();
      result.mesh                          = {G.frames.data(),
                                              G.lengths.data(),
                                              G.shift.data(),
                                              G.subcell_material.data(),
                                              G.volume_points.data(),
                                              G.facet_points.data(),
                                              G.normals.data(),
                                              G.facets.data(),
                                              G.facet_of_point.data(),
                                              G.tables->facet_point.back()};
      if (plan != nullptr)
        {
          result.plan = {plan->groups.data(),
                         plan->batches.data(),
                         plan->pieces.data(),
                         plan->segments.data(),
                         plan->slots.data(),
                         plan->ranges.data()};
          result.layout =
            direction != nullptr ? plan->tangent_layout : plan->layout;
        }
      if (buffers.size() != n)
        buffers = std::vector<Array<double>>(n);
      unsigned int offset = Device::pointwise_header(dim, n);
      for (unsigned int f = 0; f <= n; ++f)
        {
          const unsigned int g = f < n ? f : field;
          result.fields[f]     = {f < n
                                    ? on_device(arguments.fields[f], f, buffers[f])
                                  : direction != nullptr
                                    ? on_device(direction, g, direction_buffer)
                                    : nullptr,
                              G.degree[g].data(),
                              G.n_basis[g].data(),
                              G.dof_offset[g].data(),
                              G.exponents[g].data(),
                              offset,
                              G.total_degree[g]};
          offset += even(G.max_basis[g] * Device::pointwise_pitch(
                                            structure.field_components[g]));
        }
      result.test  = this->context.test;
      result.field = field;
      for (unsigned int f = 0; f < field; ++f)
        result.first_component += structure.field_components[f];
      if (error.size() == 0)
        {
          error.resize(1);
          clear_error();
        }
      result.error = error.data();
      return result;
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::launch(const Device::PointwiseKernel     kernel,
                                      const Device::PointwiseTask<dim> &task,
                                      const std::uint64_t n_blocks) const
    {
      if (n_blocks == 0)
        return;
      const std::string message =
        kernels->launch(kernel,
                        task,
                        static_cast<unsigned int>(n_blocks),
                        Device::current_stream());
      AssertThrow(message.empty(), ExcMessage(message));
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::start_clock()
    {
      if (!Device::is_recording() && !DeferredChecks::active())
        clock->start();
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::finish()
    {
      // Work that is recorded for a CUDA graph has no results yet.
      if (Device::is_recording() || DeferredChecks::active())
        return;
      clock->stop();
      this->context.report.kernel_time = clock->seconds();
      check_finite();
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::clear_error()
    {
      const unsigned long long none = ~0ull;
      Device::upload(error.data(), &none, 1);
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::check_finite()
    {
      if (error.size() == 0)
        return;
      device_call([&]() {
        unsigned long long code = 0;
        Device::download_bytes(&code, error.data(), sizeof(code));
        if (code == ~0ull)
          return;
        clear_error();
        throw_not_finite(code);
      });
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::throw_not_finite(
      const unsigned long long code) const
    {
      if (code >> 63 == 0 && (code & Device::polytope_error) != 0)
        throw_not_finite((code & ~Device::polytope_error) >> 12, code & 0xfff);
      const bool                 facet = code >> 63 != 0;
      const unsigned long long   point = code << 1 >> 13;
      const std::vector<double> &table =
        facet ? geometry.tables->facet_points : geometry.tables->volume_points;
      std::ostringstream text;
      text << "The result of a PointwiseOperator is not finite: component "
           << (code & 0xfff) << " of the integrand at the point (";
      for (unsigned int d = 0; d < dim; ++d)
        text << (d > 0 ? ", " : "") << table[(dim + 1) * point + d];
      text << ").";
      throw ExcMessage(text.str());
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::throw_not_finite(
      const unsigned int polytope, const unsigned int component) const
    {
      const std::vector<double> &box = this->context.mesh().box;
      std::ostringstream         text;
      text << "The Jacobian of a PointwiseOperator is not finite: component "
           << component << " of a polytope around the point (";
      for (unsigned int d = 0; d < dim; ++d)
        text << (d > 0 ? ", " : "")
             << 0.5 * (box[2 * dim * std::size_t(polytope) + d] +
                       box[2 * dim * std::size_t(polytope) + dim + d]);
      text << ").";
      throw ExcMessage(text.str());
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::evaluate_and_sum(
      const Plan &plan, Device::PointwiseTask<dim> &task, const bool tangent)
    {
      const Structure    &structure = plan.structure;
      const std::uint64_t n_points  = task.mesh.n_facet_points;
      const bool          has_facets =
        structure.interior_facets || structure.boundary_facets;
      if (has_facets)
        {
          const std::size_t size =
            2 * structure.n_components *
            Device::n_used_rows(dim, structure.facet_output) * n_points;
          if (facet_results.size() < size)
            facet_results.resize(size);
          task.facet_results = facet_results.data();
        }
      start_clock();
      if (has_facets)
        {
          Device::PointwiseTask<dim> facets = task;
          facets.layout                     = plan.facet_layout;
          launch(tangent ? Device::PointwiseKernel::facet_tangent
                         : Device::PointwiseKernel::facet_residual,
                 facets,
                 (n_points + facets.layout.n_threads - 1) /
                   facets.layout.n_threads);
        }
      launch(tangent ? Device::PointwiseKernel::tangent
                     : Device::PointwiseKernel::residual,
             task,
             plan.n_groups);
      finish();
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::vector(const Arguments &arguments,
                                      double          *result)
    {
      if (!this->has_polytopes())
        return;
      const PointwiseContext<dim> &context = this->context;
      const std::size_t            n =
        context.test_dofs().dof_offset[context.mesh().n_owned_polytopes()];
      device_call([&]() {
        const bool on_device = n > 0 && Device::is_on_device(result);
        if (kernels == nullptr)
          {
            std::vector<double> values(on_device ? n : 0);
            on_host(arguments, [&](const Arguments &present) {
              host.vector(present, on_device ? values.data() : result);
            });
            if (on_device)
              Device::upload(result, values.data(), n);
            return;
          }
        const Plan *plan =
          uses_simplices
            ? nullptr
            : &prepare_plan(arguments.integrand.structure(), false);
        Device::PointwiseTask<dim> task = this->task(plan, arguments);
        if (!on_device && result_buffer.size() < n)
          result_buffer.resize(n);
        task.result = on_device ? result : result_buffer.data();
        if (uses_simplices)
          {
            start_clock();
            simplices.run(*kernels, task);
            finish();
          }
        else
          evaluate_and_sum(*plan, task, arguments.direction != nullptr);
        if (!on_device)
          Device::download_bytes(result,
                                 result_buffer.data(),
                                 n * sizeof(double));
      });
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::jacobian(const Arguments              &arguments,
                                        const AssemblyTarget<double> &target)
    {
      if (!this->has_polytopes())
        return;
      device_call([&]() {
        if (kernels == nullptr)
          {
            on_host(arguments, [&](const Arguments &present) {
              host.jacobian(present, target);
            });
            return;
          }
        Device::PointwiseTask<dim> task = jacobian_task(arguments);
        const std::size_t n = this->context.structures[this->context.test]
                                .blocks.n_nonzero_elements();
        const bool on_device = target.device_values != nullptr;
        if (!on_device && values.size() < n)
          values.resize(n);
        task.values = on_device ? target.device_values : values.data();
        start_clock();
        compute_block_rows(task, 0, this->context.mesh().n_owned_polytopes());
        finish();
        if (on_device)
          return;
        std::vector<double> copy;
        double             *to = target.host_values;
        if (to == nullptr)
          {
            copy.resize(n);
            to = copy.data();
          }
        Device::download_bytes(to, values.data(), n * sizeof(double));
        if (target.store_block_rows && target.host_values == nullptr)
          target.store_block_rows(0,
                                  this->context.mesh().n_owned_polytopes(),
                                  to);
      });
    }



    // Entries are computed in double precision, for so many polytopes at once
    // that they stay in the second level cache until they are rounded.
    template <int dim>
    void
    CUDAPointwiseBackend<dim>::jacobian(const Arguments &arguments,
                                        float           *device_values)
    {
      if (!this->has_polytopes())
        return;
      device_call([&]() {
        if (kernels == nullptr)
          {
            on_host(arguments, [&](const Arguments &present) {
              host.jacobian(present, device_values);
            });
            return;
          }
        Device::PointwiseTask<dim>        task = jacobian_task(arguments);
        const std::vector<std::uint64_t> &offset =
          this->context.structures[this->context.test].blocks.value_offset;
        compute_pieces(task,
                       [&](const unsigned int begin, const unsigned int end) {
                         Device::VectorOperations<float>::copy(offset[end] -
                                                                 offset[begin],
                                                               values.data(),
                                                               device_values +
                                                                 offset[begin]);
                       });
      });
    }



    template <int dim>
    template <typename Function>
    void
    CUDAPointwiseBackend<dim>::compute_pieces(Device::PointwiseTask<dim> &task,
                                              const Function &use_values)
    {
      const std::vector<std::uint64_t> &offset =
        this->context.structures[this->context.test].blocks.value_offset;
      const unsigned int        n = this->context.mesh().n_owned_polytopes();
      constexpr std::uint64_t   n_at_once = 4u << 20;
      std::vector<unsigned int> begin(1, 0);
      std::uint64_t             largest = 0;
      while (begin.back() < n)
        {
          unsigned int k = begin.back() + 1;
          while (k < n && offset[k + 1] - offset[begin.back()] <= n_at_once)
            ++k;
          largest = std::max(largest, offset[k] - offset[begin.back()]);
          begin.push_back(k);
        }
      if (values.size() < largest)
        values.resize(largest);
      task.values = values.data();
      start_clock();
      for (unsigned int i = 0; i + 1 < begin.size(); ++i)
        {
          task.first_value = offset[begin[i]];
          compute_block_rows(task, begin[i], begin[i + 1]);
          use_values(begin[i], begin[i + 1]);
        }
      finish();
    }



    // The field has the same function on a polytope as the first trial function
    // of the first component, so that the kernel of a square Jacobian gives its
    // derivatives in the first column of each block.
    template <int dim>
    void
    CUDAPointwiseBackend<dim>::add_chained_jacobian(
      const Arguments              &arguments,
      const double                 *derivative,
      const AssemblyTarget<double> &target)
    {
      AssertThrow(target.device_values != nullptr,
                  ExcMessage("The derivatives of a field that is a function of "
                             "others are added by the device to matrices on "
                             "the device only: take Backend::host for matrices "
                             "in host memory."));
      if (!this->has_polytopes())
        return;
      device_call([&]() {
        AssertThrow(kernels != nullptr,
                    ExcMessage("The derivatives of a field that is a function "
                               "of others need an integrand with kernels for "
                               "the device."));
        Device::PointwiseTask<dim> task = jacobian_task(arguments);
        const unsigned int         test = this->context.test;
        const BlockSparsity &blocks     = this->context.structures[test].blocks;
        const Device::ChainedRows rows  = block_rows(false);
        const double *const d = on_device(derivative, test, direction_buffer);
        compute_pieces(task,
                       [&](const unsigned int begin, const unsigned int end) {
                         Device::add_chained_blocks(rows,
                                                    begin,
                                                    end,
                                                    blocks.value_offset[begin],
                                                    values.data(),
                                                    d,
                                                    target.device_values);
                       });
      });
    }



    template <int dim>
    Device::PointwiseTask<dim>
    CUDAPointwiseBackend<dim>::jacobian_task(const Arguments &arguments)
    {
      const Plan *plan =
        uses_simplices ? nullptr
                       : &prepare_plan(arguments.integrand.structure(), true);
      Device::PointwiseTask<dim> task = this->task(plan, arguments);
      prepare_matrix();
      task.value_offset = matrix_layout.value_offset.data();
      task.row_width    = matrix_layout.row_width.data();
      task.diagonal     = matrix_layout.diagonal.data();
      return task;
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::compute_block_rows(
      Device::PointwiseTask<dim> &task,
      const unsigned int          begin,
      const unsigned int          end)
    {
      if (uses_simplices)
        simplices.compute_block_rows(*kernels, task, begin, end);
      else
        {
          const std::vector<std::uint64_t> &offset =
            this->context.structures[this->context.test].blocks.value_offset;
          if (!structure.interior_facets && !task.diagonal_only)
            Device::VectorOperations<double>::set_zero(offset[end] -
                                                         offset[begin],
                                                       task.values);
          // A group of this plan is a polytope.
          task.plan.groups = jacobian_plan.groups.data() + begin;
          launch(Device::PointwiseKernel::jacobian, task, end - begin);
        }
      const unsigned int test = this->context.test;
      Device::check_blocks(block_rows(task.diagonal_only),
                           structure.n_components,
                           structure.field_components[task.field],
                           geometry.n_basis[test].data(),
                           begin,
                           end,
                           task.first_value,
                           task.values,
                           task.error);
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::diagonal_blocks(const Arguments &arguments,
                                               double          *blocks)
    {
      if (!this->has_polytopes())
        return;
      device_call([&]() {
        if (kernels == nullptr)
          {
            on_host(arguments, [&](const Arguments &present) {
              host.diagonal_blocks(present, blocks);
            });
            return;
          }
        Device::PointwiseTask<dim> task = jacobian_task(arguments);
        const std::size_t          n    = matrix_layout.n_square_values;
        if (values.size() < n)
          values.resize(n);
        task.values        = values.data();
        task.value_offset  = matrix_layout.square_offset.data();
        task.row_width     = matrix_layout.square_width.data();
        task.diagonal_only = true;
        start_clock();
        compute_block_rows(task, 0, this->context.mesh().n_owned_polytopes());
        finish();
        Device::download_bytes(blocks, values.data(), n * sizeof(double));
      });
    }



    template <int dim>
    bool
    CUDAPointwiseBackend<dim>::boundary_integrals(const Arguments &arguments,
                                                  double          *integrals)
    {
      const Structure    structure = arguments.integrand.structure();
      const unsigned int m         = structure.n_components;
      std::fill_n(integrals,
                  m * this->context.mesh().polytope_interface.size(),
                  0.);
      prepare_geometry();
      if (boundary_revision == 0 || boundary_revision != geometry.revision ||
          boundary_penalty_revision != geometry.penalty_revision)
        {
          boundary_revision = 0;
          boundary.reinit(this->context.mesh(),
                          *geometry.tables,
                          pointwise_facets(this->context, *geometry.tables));
          boundary_revision         = geometry.revision;
          boundary_penalty_revision = geometry.penalty_revision;
        }
      const std::uint64_t n = boundary.n_points();
      if (n == 0 || !structure.boundary_facets ||
          (structure.facet_output & PointwiseRows::values) == 0)
        return true;
      const std::uint64_t distance =
        Device::n_used_rows(dim, structure.facet_output) * n;
      if (facet_results.size() < m * distance)
        facet_results.resize(m * distance);
      Device::PointwiseTask<dim> task = this->task(nullptr, arguments);
      boundary.set_points(task.mesh);
      task.layout        = facet_layout(structure);
      task.facet_results = facet_results.data();
      ignore_errors(task);
      start_clock();
      launch(Device::PointwiseKernel::facet_residual,
             task,
             (n + task.layout.n_threads - 1) / task.layout.n_threads);
      boundary.sum(m, distance, facet_results.data(), integrals);
      clock->stop();
      this->context.report.kernel_time = clock->seconds();
      return true;
    }



    // The residual with the constant as the only test function of each
    // component: gradients of it vanish.
    template <int dim>
    bool
    CUDAPointwiseBackend<dim>::volume_integrals(const Arguments &arguments,
                                                double          *integrals)
    {
      const PointwiseContext<dim> &context   = this->context;
      Structure                    structure = arguments.integrand.structure();
      const unsigned int           m         = structure.n_components;
      const unsigned int           n = context.mesh().n_owned_polytopes();
      if (!structure.volume ||
          (structure.volume_output & PointwiseRows::values) == 0)
        {
          std::fill_n(integrals, std::size_t(m) * n, 0.);
          return true;
        }
      structure.interior_facets = structure.boundary_facets = false;
      const Plan &plan = prepare_plan(structure, false, true);
      if (!plan.why.empty())
        return false;
      // A space whose rows have room for the results of a polytope.
      unsigned int test = context.n_fields();
      for (unsigned int f = 0; f < context.n_fields(); ++f)
        {
          const PolytopicDoFs &dofs = context.dofs(f);
          bool room = geometry.max_degree[f] < plan.layout.n_functions;
          for (unsigned int k = 0; k < n; ++k)
            room = room && dofs.dof_offset[k + 1] - dofs.dof_offset[k] >= m;
          if (room)
            test = f;
        }
      if (test == context.n_fields())
        return false;
      const std::uint64_t n_dofs = context.dofs(test).dof_offset[n];
      if (result_buffer.size() < n_dofs)
        result_buffer.resize(n_dofs);
      if (values.size() < std::size_t(m) * n)
        values.resize(std::size_t(m) * n);
      Device::PointwiseTask<dim> task = this->task(&plan, arguments);
      task.test                       = test;
      task.result                     = result_buffer.data();
      ignore_errors(task);
      start_clock();
      launch(Device::PointwiseKernel::residual, task, plan.n_groups);
      Device::gather_rows(n,
                          m,
                          geometry.dof_offset[test].data(),
                          result_buffer.data(),
                          values.data());
      clock->stop();
      this->context.report.kernel_time = clock->seconds();
      Device::download_bytes(integrals,
                             values.data(),
                             std::size_t(m) * n * sizeof(double));
      const std::vector<double> frames = polytope_frames(context.mesh());
      for (unsigned int k = 0; k < n; ++k)
        for (unsigned int c = 0; c < m; ++c)
          integrals[std::size_t(k) * m + c] /=
            frames[std::size_t(2 * dim + 1) * k + 2 * dim];
      return true;
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::ignore_errors(Device::PointwiseTask<dim> &task)
    {
      if (ignored_error.size() == 0)
        ignored_error.resize(1);
      task.error = ignored_error.data();
    }



    template <int dim>
    void
    CUDAPointwiseBackend<dim>::integrals(const Arguments      &arguments,
                                         const PointwiseRegion region,
                                         double               *integrals)
    {
      device_call([&]() {
        if (kernels != nullptr && (region == PointwiseRegion::boundary_facet
                                     ? boundary_integrals(arguments, integrals)
                                     : volume_integrals(arguments, integrals)))
          return;
        if (kernels != nullptr)
          {
            OperatorReport &report = this->context.report;
            report.integrand       = "evaluated by the host's threads";
            report.why =
              "the polytopes have too few functions, or too much "
              "data, for integrals on the device";
          }
        on_host(arguments, [&](const Arguments &present) {
          host.integrals(present, region, integrals);
        });
      });
    }



    template class CUDAPointwiseBackend<2>;
    template class CUDAPointwiseBackend<3>;
  } // namespace internal
} // namespace Tessella
