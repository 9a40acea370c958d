// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_pointwise_simplices.h"

#include <deal.II/base/parallel.h>

#include <algorithm>
#include <utility>

#include "../backends/host_points.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Lagrange polynomials at the points of a rule, or their derivatives.
      SimplexMatrix
      values_at_points(const unsigned int dim,
                       const unsigned int degree,
                       const SimplexRule &rule,
                       const int          derivative = -1)
      {
        const std::vector<double> table =
          lagrange_polynomials(dim, degree, rule.points, derivative);
        const unsigned int n = table.size() / rule.n_points();
        return SimplexMatrix(rule.n_points(),
                             n,
                             [&](const unsigned int q, const unsigned int i) {
                               return table[q * n + i];
                             });
      }

      // The transposes of tables with weights, beside each other.
      SimplexMatrix
      test_at_points(const std::vector<std::vector<double>> &tables,
                     const SimplexRule                      &rule)
      {
        const unsigned int n_points = rule.n_points(),
                           n        = tables[0].size() / n_points;
        return SimplexMatrix(n,
                             tables.size() * n_points,
                             [&](const unsigned int i, const unsigned int j) {
                               const unsigned int q = j % n_points;
                               return rule.weights[q] *
                                      tables[j / n_points][q * n + i];
                             });
      }

      // Barycentric coordinates of points.
      SimplexMatrix
      coordinates_of_points(const unsigned int dim, const SimplexRule &rule)
      {
        return SimplexMatrix(rule.n_points(),
                             dim + 1,
                             [&](const unsigned int q, const unsigned int v) {
                               const double *const xi =
                                 rule.points.data() + q * dim;
                               if (v > 0)
                                 return xi[v - 1];
                               double first = 1.;
                               for (unsigned int d = 0; d < dim; ++d)
                                 first -= xi[d];
                               return first;
                             });
      }
    } // namespace



    template <int dim>
    HostPointwiseSimplices<dim>::Field::Field(const PolytopicDoFs &dofs)
      : n_components(dofs.n_components)
      , reference(dim, dofs.degree[0])
      , op()
      , place(order_of_functions(dim, dofs.degree[0]))
    {
      n         = reference.n;
      n_face    = reference.n_face;
      op.dim    = dim;
      op.degree = dofs.degree[0];
      op.n      = n;
      op.nodes  = reference.nodes.data();
      for (const auto &vertices : face_codes(dim))
        {
          const auto nodes = face_nodes(dim, op.degree, vertices.data());
          face_node.insert(face_node.end(), nodes.begin(), nodes.end());
        }
    }



    template <int dim>
    struct HostPointwiseSimplices<dim>::Points
    {
      Points(const Structure   &structure,
             const unsigned int max_points,
             const unsigned int max_nodes,
             const unsigned int lanes,
             const bool         has_direction)
        : pitch(max_points * lanes)
        , n_inputs(structure.n_inputs())
        , n_outputs(structure.n_outputs())
        , points(pitch)
        , x(dim * std::size_t(pitch))
        , values((has_direction ? 4 : 2) * n_inputs * std::size_t(pitch))
        , terms(2 * n_outputs * std::size_t(pitch))
        , fluxes(dim * std::size_t(pitch))
        , nodes(max_nodes * lanes)
        , rows(max_nodes * lanes)
        , y(structure.n_components * std::size_t(max_nodes) * lanes)
      {
        for (unsigned int s = 0; s < 2; ++s)
          {
            in[s].resize(n_inputs);
            direction[s].resize(n_inputs);
            out[s].resize(n_outputs);
          }
      }

      /// Sets the pointers of used rows, and null pointers for the others.
      /// Terms are zero afterwards.
      void
      set_rows(const unsigned int n_sides,
               const unsigned int input,
               const unsigned int output,
               const unsigned int n)
      {
        const auto is_used = [](const unsigned int used, const unsigned int i) {
          return (used & (i % (dim + 1) == 0 ? PointwiseRows::values
                                             : PointwiseRows::gradients)) != 0;
        };
        for (unsigned int s = 0; s < 2; ++s)
          {
            const bool there = s < n_sides;
            for (unsigned int i = 0; i < n_inputs; ++i)
              {
                const bool used = there && is_used(input, i);
                in[s][i]        = used
                                    ? &values[(s * n_inputs + i) * std::size_t(pitch)]
                                    : nullptr;
                direction[s][i] =
                  used && values.size() > 2 * n_inputs * std::size_t(pitch)
                    ? &values[((2 + s) * n_inputs + i) * std::size_t(pitch)]
                    : nullptr;
              }
            for (unsigned int o = 0; o < n_outputs; ++o)
              {
                out[s][o] = there && is_used(output, o)
                              ? &terms[(s * n_outputs + o) * std::size_t(pitch)]
                              : nullptr;
                if (out[s][o] != nullptr)
                  std::fill_n(out[s][o], n, 0.);
              }
          }
      }

      /// Evaluates the integrand at @p n points.
      void
      evaluate(const Arguments      &arguments,
               const PointwiseRegion region,
               const unsigned int    n)
      {
        const double *const *inputs[2]     = {in[0].data(), in[1].data()};
        const double *const *directions[2] = {direction[0].data(),
                                              direction[1].data()};
        double *const       *outputs[2]    = {out[0].data(), out[1].data()};
        if (arguments.direction == nullptr)
          arguments.integrand.evaluate(
            region, n, points.data(), inputs, outputs);
        else
          arguments.integrand.evaluate_tangent(
            region, n, points.data(), inputs, directions, outputs);
      }

      const unsigned int              pitch, n_inputs, n_outputs;
      std::vector<OperatorPoint<dim>> points;
      std::vector<double>             x, values, terms, fluxes;
      /// Values at nodes of one component; rows of basis functions.
      std::vector<double> nodes, rows;
      /// Rows of Lagrange polynomials of all components.
      std::vector<double>   y;
      std::vector<double *> in[2], direction[2], out[2];
    };



    template <int dim>
    HostPointwiseSimplices<dim>::HostPointwiseSimplices(
      const PointwiseContext<dim> &context)
      : context(context)
      , kernels(select_simplex_kernels(context.parameters.instruction_set))
      , lanes(kernels.lanes)
    {}



    template <int dim>
    std::string
    HostPointwiseSimplices<dim>::prepare(const Structure &given)
    {
      structure = given;
      if ((structure.interior_facets || structure.boundary_facets) &&
          ((structure.facet_input | structure.facet_output) &
           PointwiseRows::gradients) != 0)
        return "the functor has gradients on facets";
      if (revision == 0 || revision != context.spaces_revision)
        {
          revision = 0;
          tables_of_order.clear();
          why      = set_up();
          revision = context.spaces_revision;
        }
      if (!why.empty())
        return why;
      const unsigned int order = context.coefficient_order;
      if (tables_of_order.count(order) == 0)
        tables_of_order.emplace(order, make_tables());
      tables = &tables_of_order.at(order);
      for (unsigned int f = 0; f < fields.size(); ++f)
        fields[f]->tables = &tables->fields[f];
      return "";
    }



    template <int dim>
    std::string
    HostPointwiseSimplices<dim>::set_up()
    {
      const PolytopicMesh<dim> &mesh = context.mesh();
      for (unsigned int f = 0; f < context.n_fields(); ++f)
        {
          const std::string reason = why_no_simplex_field(dim, context.dofs(f));
          if (!reason.empty())
            return reason;
        }
      const std::string reason = simplices.set_up(mesh);
      if (!reason.empty())
        return reason;
      fields.clear();
      for (unsigned int f = 0; f < context.n_fields(); ++f)
        {
          fields.push_back(std::make_unique<Field>(context.dofs(f)));
          Field &field = *fields.back();
          field.nodal.resize(std::size_t(mesh.n_polytopes()) *
                             field.n_components * field.n);
        }
      corners =
        batches_of_corners(simplices.corners, dim, mesh.n_polytopes(), lanes);
      // Lanes without a simplex repeat the last one.
      constexpr unsigned int n_values = dim * dim + 1;
      const std::size_t      n_rows   = mesh.n_owned_polytopes();
      geometry.resize((n_rows + lanes - 1) / lanes * lanes * n_values);
      for (std::size_t i = 0; i < geometry.size(); ++i)
        geometry[i] =
          simplices
            .geometry[std::min(i / (n_values * lanes) * lanes + i % lanes,
                               n_rows - 1) *
                        n_values +
                      i / lanes % n_values];
      facet_interface.resize(mesh.n_facets());
      for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
        std::fill(facet_interface.begin() + mesh.facet_offset[i],
                  facet_interface.begin() + mesh.facet_offset[i + 1],
                  i);
      return "";
    }



    template <int dim>
    typename HostPointwiseSimplices<dim>::Tables
    HostPointwiseSimplices<dim>::make_tables() const
    {
      const HostRules<dim>     rules(context.mesh(),
                                 context.quadrature,
                                 context.coefficient_order);
      const unsigned int       degree = context.quadrature.degree[0];
      const HostKernels::Rule &of_volume =
                                rules.subcell(SubCellType::simplex, degree),
                              &of_facet =
                                rules.facet(FacetType::simplex, degree);
      const SimplexRule volume(dim,
                               of_volume.n_points,
                               of_volume.n_padded,
                               of_volume.points,
                               of_volume.weights),
        facet(dim - 1,
              of_facet.n_points,
              of_facet.n_padded,
              of_facet.points,
              of_facet.weights);
      Tables result;
      result.n_points        = of_volume.n_points;
      result.n_facet_points  = of_facet.n_points;
      result.point_map       = coordinates_of_points(dim, volume);
      result.facet_point_map = coordinates_of_points(dim - 1, facet);
      for (const auto &field : fields)
        {
          const unsigned int p = field->op.degree;
          result.fields.emplace_back();
          FieldTables &of_field = result.fields.back();
          of_field.values       = values_at_points(dim, p, volume);
          of_field.face_values  = values_at_points(dim - 1, p, facet);
          for (int d = 0; d < dim; ++d)
            of_field.derivatives[d] = values_at_points(dim, p, volume, d);
        }
      const unsigned int               p = fields[context.test]->op.degree;
      std::vector<std::vector<double>> gradients;
      for (int d = 0; d < dim; ++d)
        gradients.push_back(lagrange_polynomials(dim, p, volume.points, d));
      result.value_test =
        test_at_points({lagrange_polynomials(dim, p, volume.points)}, volume);
      result.gradient_test = test_at_points(gradients, volume);
      result.face_test =
        test_at_points({lagrange_polynomials(dim - 1, p, facet.points)}, facet);
      return result;
    }



    template <int dim>
    template <typename Function>
    void
    HostPointwiseSimplices<dim>::for_batches(const std::size_t n,
                                             const Function   &function) const
    {
      if (n > 0)
        dealii::parallel::apply_to_subranges(std::size_t(0),
                                             (n + lanes - 1) / lanes,
                                             function,
                                             32);
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::evaluate_nodes(
      const Field         &field,
      const PolytopicDoFs &dofs,
      const double        *coefficients,
      std::vector<double> &nodal) const
    {
      const std::size_t n_all = context.mesh().n_polytopes(), n = field.n,
                        m = field.n_components, n_corner = (dim + 1) * dim + 1;
      for_batches(n_all, [&](const std::size_t begin, const std::size_t end) {
        std::vector<double> u(n * lanes), values(n * lanes);
        for (std::size_t batch = begin; batch < end; ++batch)
          for (std::size_t c = 0; c < m; ++c)
            {
              for (std::size_t l = 0; l < lanes; ++l)
                {
                  const std::size_t k = std::min(batch * lanes + l, n_all - 1);
                  const double *const from =
                    coefficients + dofs.dof_offset[k] + c * n;
                  for (std::size_t i = 0; i < n; ++i)
                    u[field.place[i] * lanes + l] = from[i];
                }
              kernels.evaluate(field.op,
                               &corners[batch * n_corner * lanes],
                               u.data(),
                               values.data());
              for (std::size_t k = batch * lanes;
                   k < std::min((batch + 1) * lanes, n_all);
                   ++k)
                for (std::size_t i = 0; i < n; ++i)
                  nodal[(k * m + c) * n + i] = values[i * lanes + k % lanes];
            }
      });
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::compute(const Arguments           &given,
                                         const std::vector<double> &h,
                                         double                    *result)
    {
      arguments = &given;
      lengths   = &h;
      for (unsigned int f = 0; f < fields.size(); ++f)
        evaluate_nodes(*fields[f],
                       context.dofs(f),
                       given.fields[f],
                       fields[f]->nodal);
      if (given.direction != nullptr)
        {
          const Field &field = *fields[given.field];
          direction.resize(field.nodal.size());
          evaluate_nodes(field,
                         context.dofs(given.field),
                         given.direction,
                         direction);
        }
      unsigned int max_nodes = 0;
      for (const auto &field : fields)
        max_nodes = std::max(max_nodes, field->n);
      const auto make_points = [&]() {
        return Points(structure,
                      std::max(tables->n_points, tables->n_facet_points),
                      std::max(max_nodes, dim * (dim + 1) + 0u),
                      lanes,
                      given.direction != nullptr);
      };

      const std::size_t n_interior = simplices.n_interior,
                        boundary =
                          (n_interior + Device::simplices_of_warp - 1) /
                          Device::simplices_of_warp * Device::simplices_of_warp,
                        n_slots = boundary + simplices.n_boundary;
      const Field &test         = *fields[context.test];
      records.resize((n_slots + lanes) * 2 * test.n_components * test.n_face);
      if (structure.interior_facets || structure.boundary_facets)
        for_batches(n_slots,
                    [&](const std::size_t begin, const std::size_t end) {
                      Points points = make_points();
                      for (std::size_t batch = begin; batch < end; ++batch)
                        compute_facets(batch, points);
                    });
      for_batches(context.mesh().n_owned_polytopes(),
                  [&](const std::size_t begin, const std::size_t end) {
                    Points points = make_points();
                    for (std::size_t batch = begin; batch < end; ++batch)
                      compute_simplices(batch, points, result);
                  });
    }



    // ---- facets

    // Lanes without a facet repeat the last one of their kind.
    template <int dim>
    unsigned int
    HostPointwiseSimplices<dim>::facet_of_slot(const std::size_t slot) const
    {
      const std::size_t n_interior = simplices.n_interior,
                        boundary =
                          (n_interior + Device::simplices_of_warp - 1) /
                          Device::simplices_of_warp * Device::simplices_of_warp;
      return slot < boundary ? std::min(slot, n_interior - 1)
                             : std::min(n_interior + slot - boundary,
                                        simplices.facets.size() - 1);
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::compute_facets(const std::size_t batch,
                                                Points           &points)
    {
      const Device::SimplexFacet *facets[HostSimplexKernels::max_lanes];
      const std::size_t           first = batch * lanes;
      const bool interior = facet_of_slot(first) < simplices.n_interior;
      for (unsigned int l = 0; l < lanes; ++l)
        facets[l] = &simplices.facets[facet_of_slot(first + l)];
      const unsigned int n_sides = interior ? 2 : 1,
                         n       = tables->n_facet_points * lanes;
      points.set_rows(n_sides,
                      structure.facet_input,
                      structure.facet_output,
                      n);
      if (interior ? structure.interior_facets : structure.boundary_facets)
        {
          set_facet_points(facets, interior, points);
          for (unsigned int s = 0; s < n_sides; ++s)
            {
              unsigned int row = 0;
              for (unsigned int f = 0; f < fields.size(); ++f)
                {
                  const Field &field = *fields[f];
                  read_facets(
                    field, field.nodal, facets, s, &points.in[s][row], points);
                  if (arguments->direction != nullptr && f == arguments->field)
                    read_facets(field,
                                direction,
                                facets,
                                s,
                                &points.direction[s][row],
                                points);
                  else
                    std::fill_n(&points.direction[s][row],
                                (dim + 1) * field.n_components,
                                nullptr);
                  row += (dim + 1) * field.n_components;
                }
            }
          points.evaluate(*arguments,
                          interior ? PointwiseRegion::interior_facet
                                   : PointwiseRegion::boundary_facet,
                          n);
        }
      for (unsigned int s = 0; s < n_sides; ++s)
        store_records(first, facets, s, points);
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::set_facet_points(
      const Device::SimplexFacet *const *facets,
      const bool                         interior,
      Points                            &points) const
    {
      const PolytopicMesh<dim>  &mesh    = context.mesh();
      const std::vector<double> &penalty = context.test_dofs().penalty_factor;
      const double               t       = arguments->integrand.get_time();
      for (int d = 0; d < dim; ++d)
        {
          for (unsigned int l = 0; l < lanes; ++l)
            for (int v = 0; v < dim; ++v)
              points.nodes[v * lanes + l] =
                mesh
                  .facet_vertices[(mesh.facet_vertex_offset[facets[l]->facet] +
                                   std::size_t(v)) *
                                    dim +
                                  d];
          kernels.multiply(tables->facet_point_map.view(),
                           points.nodes.data(),
                           &points.x[d * std::size_t(points.pitch)]);
        }
      for (unsigned int l = 0; l < lanes; ++l)
        {
          const unsigned int f      = facets[l]->facet;
          const double      *normal = &mesh.facet_normal[f * std::size_t(dim)];
          const double sigma = std::max(penalty[2 * f], penalty[2 * f + 1]);
          const unsigned int interface   = facet_interface[f],
                             k[2]        = {facets[l]->polytope[0],
                                     interior ? facets[l]->polytope[1] : 0};
          const double       h[2]        = {(*lengths)[k[0]],
                               interior ? (*lengths)[k[1]] : 0.};
          const unsigned int material[2] = {mesh.subcell_material[k[0]],
                                            interior
                                              ? mesh.subcell_material[k[1]]
                                              : 0};
          // Members one by one: copies of a whole object would be calls.
          for (unsigned int q = 0; q < tables->n_facet_points; ++q)
            {
              OperatorPoint<dim> &point = points.points[q * lanes + l];
              for (int d = 0; d < dim; ++d)
                {
                  point.x[d] =
                    points.x[d * std::size_t(points.pitch) + q * lanes + l];
                  point.normal[d] = normal[d];
                }
              point.t           = t;
              point.penalty     = sigma;
              point.facet       = f;
              point.boundary_id = mesh.interface_boundary_id[interface];
              for (unsigned int s = 0; s < 2; ++s)
                {
                  point.h[s]        = h[s];
                  point.polytope[s] = point.subcell[s] = k[s];
                  point.material[s]                    = material[s];
                }
            }
        }
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::read_facets(
      const Field                       &field,
      const std::vector<double>         &nodal,
      const Device::SimplexFacet *const *facets,
      const unsigned int                 side,
      double *const                     *rows,
      Points                            &points) const
    {
      const unsigned int n = field.n, n_face = field.n_face;
      for (unsigned int c = 0; c < field.n_components; ++c)
        {
          double *const row = rows[c * (dim + 1)];
          if (row == nullptr)
            continue;
          for (unsigned int l = 0; l < lanes; ++l)
            {
              const double *const from =
                &nodal[(std::size_t(facets[l]->polytope[side]) *
                          field.n_components +
                        c) *
                       n];
              const unsigned short *const node =
                &field.face_node[facets[l]->code[side] * n_face];
              for (unsigned int i = 0; i < n_face; ++i)
                points.nodes[i * lanes + l] = from[node[i]];
            }
          kernels.multiply(field.tables->face_values.view(),
                           points.nodes.data(),
                           row);
        }
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::store_records(
      const std::size_t                  first_slot,
      const Device::SimplexFacet *const *facets,
      const unsigned int                 side,
      Points                            &points)
    {
      const Field       &test   = *fields[context.test];
      const unsigned int n_face = test.n_face, m = test.n_components;
      const FirstTouchVector<double> &measures = context.mesh().facet_measure;
      double                          measure[HostSimplexKernels::max_lanes];
      for (unsigned int l = 0; l < lanes; ++l)
        measure[l] = measures[facets[l]->facet];
      for (unsigned int c = 0; c < m; ++c)
        {
          const double *const terms = points.out[side][c * (dim + 1)];
          if (terms != nullptr)
            kernels.multiply(tables->face_test.view(),
                             terms,
                             points.nodes.data());
          for (unsigned int l = 0; l < lanes; ++l)
            {
              double *const to =
                &records[((2 * (first_slot + l) + side) * m + c) * n_face];
              for (unsigned int i = 0; i < n_face; ++i)
                to[i] = terms != nullptr
                          ? measure[l] * points.nodes[i * lanes + l]
                          : 0.;
            }
        }
    }



    // ---- simplices

    template <int dim>
    void
    HostPointwiseSimplices<dim>::compute_simplices(const std::size_t batch,
                                                   Points           &points,
                                                   double           *result)
    {
      const std::size_t n_rows = context.mesh().n_owned_polytopes();
      unsigned int      own[HostSimplexKernels::max_lanes];
      for (unsigned int l = 0; l < lanes; ++l)
        own[l] = std::min(batch * lanes + l, n_rows - 1);
      const double *const derivatives =
        &geometry[batch * lanes * (dim * dim + 1)];
      std::fill(points.y.begin(), points.y.end(), 0.);
      if (structure.volume)
        {
          set_volume_points(own, points);
          points.set_rows(1,
                          structure.volume_input,
                          structure.volume_output,
                          tables->n_points * lanes);
          unsigned int row = 0;
          for (unsigned int f = 0; f < fields.size(); ++f)
            {
              const Field &field = *fields[f];
              read_simplices(field,
                             field.nodal,
                             own,
                             derivatives,
                             &points.in[0][row],
                             points);
              if (arguments->direction != nullptr && f == arguments->field)
                read_simplices(field,
                               direction,
                               own,
                               derivatives,
                               &points.direction[0][row],
                               points);
              else
                std::fill_n(&points.direction[0][row],
                            (dim + 1) * field.n_components,
                            nullptr);
              row += (dim + 1) * field.n_components;
            }
          points.evaluate(*arguments,
                          PointwiseRegion::volume,
                          tables->n_points * lanes);
          add_volume(derivatives, points);
        }
      if (structure.interior_facets || structure.boundary_facets)
        add_records(own, points.y.data());

      const Field                      &test     = *fields[context.test];
      const unsigned int                n        = test.n;
      const std::size_t                 n_corner = (dim + 1) * dim + 1;
      const std::vector<std::uint64_t> &offset = context.test_dofs().dof_offset;
      for (unsigned int c = 0; c < test.n_components; ++c)
        {
          kernels.integrate(test.op,
                            &corners[batch * n_corner * lanes],
                            &points.y[c * n * lanes],
                            points.rows.data());
          for (std::size_t k = batch * lanes;
               k < std::min((batch + 1) * lanes, n_rows);
               ++k)
            for (unsigned int i = 0; i < n; ++i)
              result[offset[k] + c * n + i] =
                points.rows[test.place[i] * lanes + k % lanes];
        }
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::set_volume_points(const unsigned int *own,
                                                   Points &points) const
    {
      const PolytopicMesh<dim> &mesh = context.mesh();
      const double              t    = arguments->integrand.get_time();
      for (int d = 0; d < dim; ++d)
        {
          for (unsigned int l = 0; l < lanes; ++l)
            for (int v = 0; v <= dim; ++v)
              points.nodes[v * lanes + l] =
                mesh.subcell_vertices[(mesh.subcell_vertex_offset[own[l]] +
                                       std::size_t(v)) *
                                        dim +
                                      d];
          kernels.multiply(tables->point_map.view(),
                           points.nodes.data(),
                           &points.x[d * std::size_t(points.pitch)]);
        }
      for (unsigned int l = 0; l < lanes; ++l)
        {
          const double       h        = (*lengths)[own[l]];
          const unsigned int material = mesh.subcell_material[own[l]];
          for (unsigned int q = 0; q < tables->n_points; ++q)
            {
              OperatorPoint<dim> &point = points.points[q * lanes + l];
              for (int d = 0; d < dim; ++d)
                point.x[d] =
                  points.x[d * std::size_t(points.pitch) + q * lanes + l];
              point.t           = t;
              point.h[0]        = h;
              point.polytope[0] = point.subcell[0] = own[l];
              point.material[0]                    = material;
              point.facet = point.boundary_id = invalid_index;
            }
        }
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::read_simplices(
      const Field               &field,
      const std::vector<double> &nodal,
      const unsigned int        *own,
      const double              *derivatives,
      double *const             *rows,
      Points                    &points) const
    {
      const std::size_t pitch = points.pitch;
      for (unsigned int c = 0; c < field.n_components; ++c, rows += dim + 1)
        {
          for (unsigned int l = 0; l < lanes; ++l)
            {
              const double *const from =
                &nodal[(std::size_t(own[l]) * field.n_components + c) *
                       field.n];
              for (unsigned int i = 0; i < field.n; ++i)
                points.nodes[i * lanes + l] = from[i];
            }
          if (rows[0] != nullptr)
            kernels.multiply(field.tables->values.view(),
                             points.nodes.data(),
                             rows[0]);
          if (rows[1] == nullptr)
            continue;
          for (int d = 0; d < dim; ++d)
            kernels.multiply(field.tables->derivatives[d].view(),
                             points.nodes.data(),
                             &points.fluxes[d * pitch]);
          kernels.transform(dim,
                            true,
                            derivatives,
                            tables->n_points,
                            points.fluxes.data(),
                            pitch / lanes,
                            rows[1],
                            pitch / lanes);
        }
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::add_volume(const double *derivatives,
                                            Points       &points) const
    {
      const Field        &test    = *fields[context.test];
      const unsigned int  n       = test.n;
      const double *const measure = derivatives + dim * dim * lanes;
      for (unsigned int c = 0; c < test.n_components; ++c)
        {
          double *const *const terms = &points.out[0][c * (dim + 1)];
          double *const        y     = &points.y[c * n * lanes];
          if (terms[0] != nullptr)
            {
              kernels.multiply(tables->value_test.view(),
                               terms[0],
                               points.nodes.data());
              kernels.add(n, measure, points.nodes.data(), y);
            }
          if (terms[1] == nullptr)
            continue;
          kernels.transform(dim,
                            false,
                            derivatives,
                            tables->n_points,
                            terms[1],
                            points.pitch / lanes,
                            points.fluxes.data(),
                            tables->n_points);
          kernels.multiply(tables->gradient_test.view(),
                           points.fluxes.data(),
                           points.nodes.data());
          kernels.add(n, measure, points.nodes.data(), y);
        }
    }



    template <int dim>
    void
    HostPointwiseSimplices<dim>::add_records(const unsigned int *own,
                                             double             *y) const
    {
      const Field       &test = *fields[context.test];
      const unsigned int n = test.n, n_face = test.n_face,
                         m = test.n_components;
      const auto &record   = simplices.face_records;
      for (unsigned int l = 0; l < lanes; ++l)
        for (unsigned int face = 0; face <= dim; ++face)
          {
            const unsigned int  number = record[4 * std::size_t(own[l]) + face];
            const double *const from =
              &records[std::size_t(number / 32) * m * n_face];
            const unsigned short *const node =
              &test.face_node[number % 32 * n_face];
            // For each node, all components, whose entries lie apart.
            for (unsigned int i = 0; i < n_face; ++i)
              {
                double *const to = y + node[i] * lanes + l;
                for (unsigned int c = 0; c < m; ++c)
                  to[c * n * lanes] += from[c * n_face + i];
              }
          }
    }



    template class HostPointwiseSimplices<2>;
    template class HostPointwiseSimplices<3>;
  } // namespace internal
} // namespace Tessella
