// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_pointwise_rows.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <string>

#include "../backends/host_dispatch.h"
#include "pointwise_backend.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      template <int dim>
      unsigned int
      n_neighbor_functions(const OperatorBases<dim> &bases,
                           const unsigned int        k)
      {
        unsigned int n = 0;
        for (unsigned int b = 0; b < bases.n_bases(); ++b)
          n = std::max(n, bases.space(b, k).n_functions);
        return n;
      }
    } // namespace



    template <int dim>
    HostPointwiseRows<dim>::HostPointwiseRows(
      const HostPointwiseProblem<dim> &given, const Result result)
      : problem(given)
      , context(problem->context)
      , mesh(context.mesh())
      , kernels(problem->kernels)
      , structure(problem->integrand.structure())
      , result_type(result)
      , n_inputs(structure.n_inputs())
      , n_outputs(structure.n_outputs())
      , time(problem->integrand.get_time())
      , volume_points(buffer_capacity(problem->rules))
      , facet_points(mesh, context.quadrature, problem->rules, kernels)
      , points(std::max(volume_points.capacity, facet_points.array_size))
      , facets(facet_points.array_size, 0)
    {
      allocate();
    }



    template <int dim>
    bool
    HostPointwiseRows<dim>::fits(const HostPointwiseProblem<dim> &other,
                                 const Result                     result) const
    {
      return result == result_type && other.field == problem->field &&
             (other.direction == nullptr) == (problem->direction == nullptr) &&
             is_same(other.integrand.structure(), structure);
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::restart(const HostPointwiseProblem<dim> &other)
    {
      problem.emplace(other);
      time = other.integrand.get_time();
    }



    // Arrays begin at a cache line: their vectors never lie in two.
    template <int dim>
    double *
    HostPointwiseRows<dim>::next(const std::size_t n)
    {
      constexpr std::size_t line = 64, entries = line / sizeof(double);
      memory.emplace_back(new double[n + entries]);
      void       *begin = memory.back().get();
      std::size_t space = (n + entries) * sizeof(double);
      return static_cast<double *>(
        std::align(line, n * sizeof(double), begin, space));
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::allocate()
    {
      unsigned int max_functions = 0;
      for (unsigned int b = 0; b < problem->bases.n_bases(); ++b)
        max_functions =
          std::max(max_functions, problem->bases.max_functions(b));
      // The largest slice is that of the smallest space.
      max_slice   = slice_size(1);
      array_pitch = pitch(max_slice);
      for (unsigned int b = 0; b < problem->bases.n_bases(); ++b)
        {
          const unsigned int n = problem->bases.max_functions(b);
          // A slice has fewer points if there are more functions.
          const std::size_t size =
            (dim + 1) * std::max(std::size_t(n) * slice_size(n),
                                 std::size_t(16384) / (dim + 1));
          slice.basis.push_back(next(size));
          slice.neighbor_basis.push_back(next(size));
        }
      const std::size_t P = array_pitch;
      own                 = next(n_inputs * P);
      neighbor            = next(n_inputs * P);
      own_direction = neighbor_direction = terms = neighbor_terms = own_table =
        neighbor_table = factor = transposed_trial = nullptr;
      if (result_type == Result::terms)
        {
          terms          = next(n_outputs * P);
          neighbor_terms = next(n_outputs * P);
          if (problem->direction != nullptr)
            {
              own_direction      = next(n_inputs * P);
              neighbor_direction = next(n_inputs * P);
            }
        }
      else
        {
          const std::size_t n_entries =
            std::size_t(dim + 1) * structure.field_components[problem->field] *
            n_outputs;
          own_table      = next(n_entries * P);
          neighbor_table = next(n_entries * P);
          factor = next(std::max(std::size_t(dim + 1) * 32 * max_functions,
                                 std::size_t(16384)));
          transposed_trial =
            next(std::max(std::size_t(dim + 1) * 32 * padded(max_functions),
                          std::size_t(32768)));
          table_pointers.assign(4 * n_inputs * n_outputs, nullptr);
        }
      sums = next(std::size_t(max_functions) * structure.n_components);
      for (unsigned int s = 0; s < 2; ++s)
        {
          in[s].resize(n_inputs);
          direction[s].resize(n_inputs);
          out[s].resize(n_outputs);
        }
    }



    // Bases of a slice fit into the second level of the cache, and tables of a
    // Jacobian into a part of it.
    template <int dim>
    unsigned int
    HostPointwiseRows<dim>::slice_size(const unsigned int n_functions) const
    {
      unsigned int n = 16384 / ((dim + 1) * n_functions);
      if (result_type == Result::jacobian)
        n = std::min(n, 32768 / (n_inputs * structure.n_components));
      n = n / HostKernels::padding * HostKernels::padding;
      return std::min(256u, std::max(32u, n));
    }



    // ---- points

    template <int dim>
    void
    HostPointwiseRows<dim>::set_volume_points(const unsigned int k,
                                              const unsigned int n)
    {
      OperatorPoint<dim> p = {};
      p.t                  = time;
      p.h[0]               = problem->lengths[k];
      p.polytope[0]        = k;
      p.facet = p.boundary_id = invalid_index;
      // Members that vary are written in place: copying an object right after
      // writes to its members would wait for these.
      for (unsigned int q = 0; q < n; ++q)
        {
          OperatorPoint<dim> &point = points[q];
          point                     = p;
          for (unsigned int d = 0; d < dim; ++d)
            point.x[d] = volume_points.x[d][q];
          point.subcell[0]  = volume_points.subcells[q];
          point.material[0] = volume_points.materials[q];
        }
    }



    template <int dim>
    template <typename Process>
    void
    HostPointwiseRows<dim>::for_volume_slices(const unsigned int k,
                                              const Process     &process)
    {
      const unsigned int size =
        slice_size(n_neighbor_functions(problem->bases, k));
      slice.k              = k;
      slice.input          = structure.volume_input;
      slice.output         = structure.volume_output;
      unsigned int subcell = mesh.subcell_offset[k], point = 0;
      while (subcell < mesh.subcell_offset[k + 1])
        {
          const unsigned int n_points = volume_points.fill(mesh,
                                                           context.quadrature,
                                                           problem->rules,
                                                           kernels,
                                                           k,
                                                           subcell,
                                                           point);
          set_volume_points(k, n_points);
          for (unsigned int q = 0; q < n_points; q += size)
            {
              slice.n = std::min(size, n_points - q);
              for (unsigned int d = 0; d < dim; ++d)
                slice.x[d] = volume_points.x[d] + q;
              slice.w      = volume_points.w + q;
              slice.points = points.data() + q;
              slice.parts  = {{0,
                               slice.n,
                               PointwiseRegion::volume,
                               0,
                               invalid_index,
                               invalid_index}};
              process();
            }
        }
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::append_facet(const unsigned int facet,
                                         const unsigned int interface,
                                         const unsigned int degree,
                                         unsigned int      &point,
                                         bool              &finished)
    {
      const std::vector<double> &factors = context.test_dofs().penalty_factor;
      const unsigned int         begin   = facet_points.n_points;
      // The view of side 0, whichever side computes its rows.
      finished = facet_points.append(facet,
                                     2 * interface,
                                     degree,
                                     std::max(factors[2 * facet],
                                              factors[2 * facet + 1]),
                                     point);
      std::fill(facets.begin() + begin,
                facets.begin() + facet_points.n_points,
                facet);
    }



    template <int dim>
    template <typename Process>
    void
    HostPointwiseRows<dim>::for_facet_slices(const unsigned int k,
                                             const bool         interior,
                                             const bool         boundary,
                                             const Process     &process)
    {
      slice.k      = k;
      slice.input  = structure.facet_input;
      slice.output = structure.facet_output;
      for (unsigned int e = mesh.polytope_interface_offset[k];
           e < mesh.polytope_interface_offset[k + 1];
           ++e)
        {
          const unsigned int interface = mesh.polytope_interface[e] / 2;
          const unsigned int other = mesh.neighbor(mesh.polytope_interface[e]);
          if (!(other == invalid_index ? boundary : interior))
            continue;
          unsigned int degree = context.quadrature.degree[k];
          if (other != invalid_index)
            degree = std::max(degree, context.quadrature.degree[other]);
          const auto open = [&]() {
            facet_points.open_segment(mesh.polytope_interface[e], 0);
            segment_entries.push_back(e);
          };
          const auto close = [&]() {
            const unsigned int begin = facet_points.n_points;
            facet_points.close_segment();
            if (begin > 0)
              std::fill(facets.begin() + begin,
                        facets.begin() + facet_points.n_points,
                        facets[begin - 1]);
            facet_points.drop_empty_segment();
            segment_entries.resize(facet_points.segments.size());
          };
          open();
          for (unsigned int f = mesh.facet_offset[interface];
               f < mesh.facet_offset[interface + 1];
               ++f)
            {
              unsigned int point    = 0;
              bool         finished = false;
              while (true)
                {
                  append_facet(f, interface, degree, point, finished);
                  if (finished)
                    break;
                  // The buffer is full: process its points and continue.
                  close();
                  process_facet_points(k, process);
                  open();
                }
            }
          close();
        }
      if (facet_points.n_points > 0)
        process_facet_points(k, process);
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::set_facet_points(const unsigned int n)
    {
      for (std::size_t s = 0; s < facet_points.segments.size(); ++s)
        {
          const auto        &segment = facet_points.segments[s];
          const unsigned int interface =
            mesh.polytope_interface[segment_entries[s]] / 2;
          const bool   has_neighbor = segment.neighbor != invalid_index;
          unsigned int polytope[2]  = {mesh.interface_polytope[2 * interface],
                                       0};
          double       h[2]         = {problem->lengths[polytope[0]], 0.};
          if (has_neighbor)
            {
              polytope[1] = mesh.interface_polytope[2 * interface + 1];
              h[1]        = problem->lengths[polytope[1]];
            }
          // Every member is written by itself: copying an object right after
          // writes to its members would wait for these.
          for (unsigned int q = segment.begin; q < std::min(n, segment.end);
               ++q)
            {
              OperatorPoint<dim> &point = points[q];
              for (unsigned int d = 0; d < dim; ++d)
                {
                  point.x[d]      = facet_points.x[d][q];
                  point.normal[d] = facet_points.normal[d][q];
                }
              point.t           = time;
              point.penalty     = facet_points.sigma[q];
              point.h[0]        = h[0];
              point.h[1]        = h[1];
              point.polytope[0] = polytope[0];
              point.polytope[1] = polytope[1];
              point.subcell[0]  = facet_points.subcells[q];
              point.material[0] = facet_points.materials[q];
              point.subcell[1] =
                has_neighbor ? facet_points.neighbor_subcells[q] : 0;
              point.material[1] =
                has_neighbor ? facet_points.neighbor_materials[q] : 0;
              point.facet       = facets[q];
              point.boundary_id = segment.boundary_id;
            }
        }
    }



    template <int dim>
    template <typename Process>
    void
    HostPointwiseRows<dim>::process_facet_points(const unsigned int k,
                                                 const Process     &process)
    {
      const unsigned int n_points = facet_points.n_points;
      set_facet_points(n_points);
      unsigned int n_max = n_neighbor_functions(problem->bases, k);
      for (const auto &segment : facet_points.segments)
        if (segment.neighbor != invalid_index)
          n_max =
            std::max(n_max,
                     n_neighbor_functions(problem->bases, segment.neighbor));
      const unsigned int size = slice_size(n_max);
      std::size_t        s    = 0;
      for (unsigned int q = 0; q < n_points; q += size)
        {
          slice.n = std::min(size, n_points - q);
          for (unsigned int d = 0; d < dim; ++d)
            {
              slice.x[d]          = facet_points.x[d] + q;
              slice.neighbor_x[d] = facet_points.periodic
                                      ? facet_points.neighbor_x[d] + q
                                      : slice.x[d];
            }
          slice.w      = facet_points.w + q;
          slice.points = points.data() + q;
          slice.parts.clear();
          for (; s < facet_points.segments.size() &&
                 facet_points.segments[s].begin < q + slice.n;
               ++s)
            {
              const auto        &segment  = facet_points.segments[s];
              const unsigned int end      = std::min(segment.end, q + slice.n);
              const bool         boundary = segment.neighbor == invalid_index;
              slice.parts.push_back(
                {std::max(segment.begin, q) - q,
                 end - q,
                 boundary ? PointwiseRegion::boundary_facet
                          : PointwiseRegion::interior_facet,
                 mesh.polytope_interface[segment_entries[s]] % 2,
                 segment.neighbor,
                 segment_entries[s]});
              if (end < segment.end)
                break; // the next slice has the rest
            }
          process();
        }
      facet_points.clear();
      segment_entries.clear();
    }



    // ---- evaluation

    // Points of side 1 are those of side 0 plus a shift.
    template <int dim>
    void
    HostPointwiseRows<dim>::evaluate_bases()
    {
      const unsigned int n = slice.n, stride = (dim + 1) * n;
      const bool         gradients =
        ((slice.input | slice.output) & PointwiseRows::gradients) != 0;
      for (unsigned int b = 0; b < problem->bases.n_bases(); ++b)
        {
          const HostKernels::Space here = problem->bases.space(b, slice.k);
          const auto evaluate           = [&](const HostKernels::Space &space,
                                    const Part               &part,
                                    const unsigned int        side,
                                    double                   *to) {
            const double *x[dim];
            for (unsigned int d = 0; d < dim; ++d)
              x[d] =
                (side == 0 ? slice.x[d] : slice.neighbor_x[d]) + part.begin;
            kernels.evaluate_basis(space,
                                   x,
                                   part.end - part.begin,
                                   to + part.begin,
                                   stride,
                                   gradients ? n : 0);
          };
          // Consecutive parts with the polytope on one side at once.
          for (std::size_t i = 0; i < slice.parts.size();)
            {
              Part part = slice.parts[i];
              for (++i;
                   i < slice.parts.size() && slice.parts[i].side == part.side;
                   ++i)
                part.end = slice.parts[i].end;
              evaluate(here, part, part.side, slice.basis[b]);
            }
          for (const Part &part : slice.parts)
            if (part.neighbor != invalid_index)
              evaluate(problem->bases.space(b, part.neighbor),
                       part,
                       1 - part.side,
                       slice.neighbor_basis[b]);
        }
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::evaluate_field(const unsigned int f,
                                           const double      *coefficients,
                                           double            *own_rows,
                                           double            *neighbor_rows)
    {
      const RowRange       rows(slice.input);
      const PolytopicDoFs &dofs = context.dofs(f);
      const unsigned int   b = problem->bases.basis(f), n = slice.n;
      const std::size_t    P = array_pitch;
      if (rows.n() == 0)
        return;
      const auto evaluate = [&](const unsigned int k,
                                const double      *basis,
                                const unsigned int begin,
                                const unsigned int end,
                                double            *to) {
        kernels.interpolate(
          coefficients + dofs.dof_offset[k],
          dofs.n_basis[k],
          dofs.n_components,
          {dofs.n_basis[k], basis + rows.begin * n + begin, (dim + 1) * n, n},
          rows.n(),
          end - begin,
          to + rows.begin * P + begin,
          (dim + 1) * P,
          P);
      };
      evaluate(slice.k, slice.basis[b], 0, n, own_rows);
      for (const Part &part : slice.parts)
        if (part.neighbor != invalid_index)
          evaluate(part.neighbor,
                   slice.neighbor_basis[b],
                   part.begin,
                   part.end,
                   neighbor_rows);
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::evaluate_fields()
    {
      std::size_t first = 0;
      for (unsigned int f = 0; f < context.n_fields(); ++f)
        {
          evaluate_field(f, problem->fields[f], own + first, neighbor + first);
          if (problem->direction != nullptr && f == problem->field)
            evaluate_field(f,
                           problem->direction,
                           own_direction + first,
                           neighbor_direction + first);
          first +=
            std::size_t(dim + 1) * context.dofs(f).n_components * array_pitch;
        }
    }



    template <int dim>
    template <typename Function>
    void
    HostPointwiseRows<dim>::for_calls(const Function &function) const
    {
      for (std::size_t i = 0; i < slice.parts.size();)
        {
          Part part = slice.parts[i];
          for (++i;
               i < slice.parts.size() && slice.parts[i].region == part.region &&
               slice.parts[i].side == part.side;
               ++i)
            part.end = slice.parts[i].end;
          function(part);
        }
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::evaluate_terms()
    {
      const std::size_t P = array_pitch;
      const RowRange    in_rows(slice.input), out_rows(slice.output);
      const bool        has_neighbor =
        slice.parts[0].region != PointwiseRegion::volume;
      for (unsigned int c = 0; c < n_outputs; c += dim + 1)
        for (unsigned int r = out_rows.begin; r < out_rows.end; ++r)
          {
            std::fill_n(terms + (c + r) * P, slice.n, 0.);
            if (has_neighbor)
              std::fill_n(neighbor_terms + (c + r) * P, slice.n, 0.);
          }
      // Rows that are not used have null pointers.
      for (unsigned int s = 0; s < 2; ++s)
        {
          std::fill(in[s].begin(), in[s].end(), nullptr);
          std::fill(direction[s].begin(), direction[s].end(), nullptr);
          std::fill(out[s].begin(), out[s].end(), nullptr);
        }
      // Rows of the tangent's field.
      unsigned int first = 0;
      for (unsigned int f = 0; f < problem->field; ++f)
        first += (dim + 1) * structure.field_components[f];
      const unsigned int last =
        first + (dim + 1) * structure.field_components[problem->field];

      for_calls([&](const Part &part) {
        for (unsigned int s = 0; s < 2; ++s)
          {
            const bool          is_own = s == part.side;
            const double *const values = (is_own ? own : neighbor) + part.begin;
            const double *const changes =
              is_own ? own_direction : neighbor_direction;
            double *const results =
              (is_own ? terms : neighbor_terms) + part.begin;
            for (unsigned int c = 0; c < n_inputs; c += dim + 1)
              for (unsigned int i = c + in_rows.begin; i < c + in_rows.end; ++i)
                {
                  in[s][i] = values + i * P;
                  if (problem->direction != nullptr && i >= first && i < last)
                    direction[s][i] = changes + part.begin + i * P;
                }
            for (unsigned int c = 0; c < n_outputs; c += dim + 1)
              for (unsigned int o = c + out_rows.begin; o < c + out_rows.end;
                   ++o)
                out[s][o] = results + o * P;
          }
        const double *const *in_pointers[2]  = {in[0].data(), in[1].data()};
        const double *const *directions[2]   = {direction[0].data(),
                                                direction[1].data()};
        double *const       *out_pointers[2] = {out[0].data(), out[1].data()};
        const unsigned int   n               = part.end - part.begin;
        const OperatorPoint<dim> *const p    = slice.points + part.begin;
        if (problem->direction == nullptr)
          problem->integrand.evaluate(
            part.region, n, p, in_pointers, out_pointers);
        else
          problem->integrand.evaluate_tangent(
            part.region, n, p, in_pointers, directions, out_pointers);
      });
      if (diagnosis)
        check_terms();
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::check_terms() const
    {
      const RowRange rows(slice.output);
      for (unsigned int q = 0; q < slice.n; ++q)
        for (unsigned int c = 0; c < structure.n_components; ++c)
          for (unsigned int r = rows.begin; r < rows.end; ++r)
            if (!std::isfinite(
                  terms[(c * (dim + 1) + r) * std::size_t(array_pitch) + q]))
              throw_at_point(q, c);
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::throw_at_point(const unsigned int q,
                                           const unsigned int component) const
    {
      std::ostringstream text;
      text << (result_type == Result::jacobian ? "The Jacobian"
               : problem->direction == nullptr ? "The residual"
                                               : "The tangent")
           << " of a PointwiseOperator is not finite: component " << component
           << " of the integrand at the point (";
      for (unsigned int d = 0; d < dim; ++d)
        text << (d > 0 ? ", " : "") << slice.points[q].x[d];
      text << ").";
      throw ExcMessage(text.str());
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::compute_vector(const unsigned int k, double *result)
    {
      const PolytopicDoFs &dofs = context.test_dofs();
      const unsigned int   n = dofs.n_basis[k], m = dofs.n_components;
      const unsigned int   b = problem->bases.basis(context.test);
      std::fill_n(sums, n * m, 0.);
      const auto add = [&]() {
        const RowRange rows(slice.output);
        if (rows.n() == 0)
          return;
        evaluate_bases();
        evaluate_fields();
        evaluate_terms();
        const std::size_t P = array_pitch;
        for (unsigned int c = 0; c < m; ++c)
          kernels.scale(slice.w,
                        slice.n,
                        rows.n(),
                        terms + (c * (dim + 1) + rows.begin) * P,
                        P);
        kernels.product(
          {n,
           slice.basis[b] + rows.begin * slice.n,
           (dim + 1) * slice.n,
           slice.n},
          {m, terms + rows.begin * P, (dim + 1) * array_pitch, array_pitch},
          rows.n(),
          slice.n,
          sums,
          m,
          true,
          false);
      };
      if (structure.volume)
        for_volume_slices(k, add);
      if (structure.interior_facets || structure.boundary_facets)
        for_facet_slices(k,
                         structure.interior_facets,
                         structure.boundary_facets,
                         add);
      for (unsigned int c = 0; c < m; ++c)
        for (unsigned int i = 0; i < n; ++i)
          result[c * n + i] = sums[i * m + c];
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::throw_not_finite(const unsigned int   k,
                                             const BlockSparsity *sparsity)
    {
      const PolytopicDoFs &dofs   = context.test_dofs();
      const std::size_t    n_rows = dofs.n_basis[k] * dofs.n_components,
                        width     = result_type == Result::terms ? 1
                                    : sparsity == nullptr        ? n_rows
                                                          : sparsity->row_width[k];
      std::vector<double> result(n_rows * width);
      diagnosis = true;
      if (result_type == Result::terms)
        compute_vector(k, result.data());
      else if (sparsity == nullptr)
        compute_diagonal_block(k, result.data());
      else
        compute_block_row(k, *sparsity, result.data());
      const auto entry =
        std::find_if(result.begin(), result.end(), [](const double r) {
          return !std::isfinite(r);
        });
      // Kernels that round in another way may have had another result.
      const unsigned int component =
        entry == result.end()
          ? 0
          : (entry - result.begin()) / width / dofs.n_basis[k];
      std::ostringstream text;
      text << "The result of a PointwiseOperator is not finite: component "
           << component << " of a polytope around the point (";
      for (unsigned int d = 0; d < dim; ++d)
        text << (d > 0 ? ", " : "")
             << 0.5 *
                  (mesh.box[2 * dim * k + d] + mesh.box[2 * dim * k + dim + d]);
      text << ").";
      throw ExcMessage(text.str());
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::compute_volume_integrals(const unsigned int k,
                                                     double *integrals)
    {
      const unsigned int m = structure.n_components;
      std::fill_n(integrals, m, 0.);
      if (!structure.volume ||
          (structure.volume_output & PointwiseRows::values) == 0)
        return;
      for_volume_slices(k, [&]() {
        evaluate_bases();
        evaluate_fields();
        evaluate_terms();
        kernels.vector_product(
          m, slice.n, terms, (dim + 1) * array_pitch, slice.w, integrals);
      });
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::compute_boundary_integrals(const unsigned int k,
                                                       double *integrals)
    {
      const unsigned int m = structure.n_components;
      if (!structure.boundary_facets ||
          (structure.facet_output & PointwiseRows::values) == 0)
        return;
      for_facet_slices(k, false, true, [&]() {
        evaluate_bases();
        evaluate_fields();
        evaluate_terms();
        for (const Part &part : slice.parts)
          kernels.vector_product(m,
                                 part.end - part.begin,
                                 terms + part.begin,
                                 (dim + 1) * array_pitch,
                                 slice.w + part.begin,
                                 integrals + std::size_t(part.entry) * m);
      });
    }
  } // namespace internal
} // namespace Tessella

#include "host_pointwise_blocks.templates.h"

namespace Tessella
{
  namespace internal
  {
    template class HostPointwiseRows<2>;
    template class HostPointwiseRows<3>;
  } // namespace internal
} // namespace Tessella
