// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_facet_points_h
#define tessella_source_numerics_facet_points_h

#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>

#include <array>
#include <vector>

#include "../base/collective.h"
#include "form_arrays.h"
#include "polytope_evaluation.h"

namespace Tessella
{
  namespace internal
  {
    /// Points of @p batch, with coordinates @p x, in the structure that forms
    /// expect.
    template <int dim>
    PointBatch<dim>
    point_batch(const QuadratureBatch<dim>                 &batch,
                const std::array<std::vector<double>, dim> &x,
                const std::vector<unsigned int>            &subcell,
                const std::vector<unsigned int>            &material)
    {
      PointBatch<dim> points;
      points.n_points = batch.size();
      for (int d = 0; d < dim; ++d)
        points.x[d] = x[d].data();
      points.subcell  = subcell.data();
      points.material = material.data();
      return points;
    }

    /// Discretisation of which errors or their indicators are computed.
    template <int dim>
    struct DiscreteProblem
    {
      DiscreteProblem(const AgglomerationHandler<dim> &handler,
                      const Form<dim>                 &form,
                      const std::vector<double>       &sigma,
                      const unsigned int               extra_order)
        : handler(handler)
        , mesh(handler.polytopic_mesh())
        , dofs(handler.polytopic_dofs())
        , form(form)
        , sigma(sigma)
        , extra_order(extra_order)
        , evaluator(handler)
      {}

      const AgglomerationHandler<dim> &handler;
      const PolytopicMesh<dim>        &mesh;
      const PolytopicDoFs             &dofs;
      const Form<dim>                 &form;
      /// Penalty per facet; empty if the form needs none.
      const std::vector<double> &sigma;
      /// Order of quadrature beyond twice the degree.
      const unsigned int           extra_order;
      const PolytopeEvaluator<dim> evaluator;
    };

    /// Coefficients of owned and ghost polytopes, which jumps need. @p u has
    /// those of owned polytopes; @p memory keeps a copy where there are ghosts.
    /// Collective.
    template <int dim>
    const double *
    values_with_ghosts(const AgglomerationHandler<dim> &handler,
                       const double                    *u,
                       std::vector<double>             &memory)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      if (mesh.n_owned_polytopes() == mesh.n_polytopes() &&
          n_processes(handler.get_communicator()) == 1)
        return u;
      memory.assign(u, u + handler.n_locally_owned_dofs());
      memory.resize(handler.polytopic_dofs().dof_offset.back());
      handler.exchange_dof_values(memory);
      return memory.data();
    }

    /// Points of facets as seen from both of their sides, and the blocks of a
    /// form there.
    template <int dim>
    class FacetPoints
    {
    public:
      explicit FacetPoints(const DiscreteProblem<dim> &problem)
        : problem(problem)
        , arrays{FacetArrays<dim>(problem.form.facet_structure()),
                 FacetArrays<dim>(problem.form.facet_structure())}
      {}

      /// Points as seen from side 0. They must be filled first.
      QuadratureBatch<dim> batch;

      /// Takes over the points of the batch for side @p side.
      void
      reinit_side(const unsigned int side)
      {
        const unsigned int n = batch.size();
        if (side == 1)
          other_x = batch.x;
        subcell[side].resize(n);
        material[side].resize(n);
        for (unsigned int q = 0; q < n; ++q)
          {
            const unsigned int s =
              problem.mesh.facet_subcell[2 * batch.entity[q] + side];
            subcell[side][q] = s;
            material[side][q] =
              s == invalid_index ? 0 : problem.mesh.subcell_material[s];
          }
      }

      /// Adds the periodic shift of @p interface, if it has one, to points
      /// [@p begin, @p end) of side 1.
      void
      add_shift(const unsigned int interface,
                const unsigned int begin,
                const unsigned int end)
      {
        const unsigned int shift = problem.mesh.interface_shift[interface];
        if (shift != 0)
          for (int d = 0; d < dim; ++d)
            for (unsigned int q = begin; q < end; ++q)
              other_x[d][q] += problem.mesh.shift[shift * dim + d];
      }

      /// Coordinates of the points from @p first on, as seen from side @p side.
      std::array<const double *, dim>
      pointers(const unsigned int side, const unsigned int first = 0) const
      {
        std::array<const double *, dim> p;
        for (int d = 0; d < dim; ++d)
          p[d] = x(side)[d].data() + first;
        return p;
      }

      /// The points as points of the volume on side @p side.
      PointBatch<dim>
      volume_points(const unsigned int side) const
      {
        return point_batch<dim>(batch, x(side), subcell[side], material[side]);
      }

      /// Evaluates the form on interior facets, with both sides in the role of
      /// the own one.
      void
      evaluate_interior()
      {
        // Side 1 has the opposite normal.
        for (int d = 0; d < dim; ++d)
          {
            other_normal[d] = batch.normal[d];
            for (double &c : other_normal[d])
              c = -c;
          }
        for (unsigned int side = 0; side < 2; ++side)
          {
            FacetPointBatch<dim> points = facet_points(side);
            for (int d = 0; d < dim; ++d)
              points.neighbor_x[d] = x(1 - side)[d].data();
            points.neighbor_subcell  = subcell[1 - side].data();
            points.neighbor_material = material[1 - side].data();
            points.boundary_id       = invalid_index;
            arrays[side].reinit(batch.size(), false);
            problem.form.evaluate_interior_facets(points, arrays[side].blocks);
          }
      }

      /// Energy that the form assigns to a jump by one at point @p q, after
      /// evaluate_interior(): its value for the traces 1/2 and -1/2.
      double
      jump_weight(const unsigned int q) const
      {
        const FacetBlocks<dim> &b0 = arrays[0].blocks, &b1 = arrays[1].blocks;
        return .25 * (b0.c[0][q] + b1.c[0][q] - b0.c[1][q] - b1.c[1][q]);
      }

      /// Evaluates the form on facets of the boundary.
      const FacetBlocks<dim> &
      evaluate_boundary(const unsigned int boundary_id)
      {
        FacetPointBatch<dim> points = facet_points(0);
        for (int d = 0; d < dim; ++d)
          points.neighbor_x[d] = nullptr;
        points.boundary_id = boundary_id;
        arrays[0].reinit(batch.size(), true);
        problem.form.evaluate_boundary_facets(points, arrays[0].blocks);
        return arrays[0].blocks;
      }

    private:
      const std::array<std::vector<double>, dim> &
      x(const unsigned int side) const
      {
        return side == 0 ? batch.x : other_x;
      }

      /// Entries that facets of the boundary have, too.
      FacetPointBatch<dim>
      facet_points(const unsigned int side)
      {
        const unsigned int n = batch.size();
        penalty.resize(n);
        for (unsigned int q = 0; q < n; ++q)
          penalty[q] =
            problem.sigma.empty() ? 0. : problem.sigma[batch.entity[q]];
        FacetPointBatch<dim> points;
        static_cast<PointBatch<dim> &>(points) = volume_points(side);
        for (int d = 0; d < dim; ++d)
          points.normal[d] =
            (side == 0 ? batch.normal : other_normal)[d].data();
        points.sigma = penalty.data();
        return points;
      }

      const DiscreteProblem<dim>              &problem;
      FacetArrays<dim>                         arrays[2];
      std::array<std::vector<unsigned int>, 2> subcell, material;
      std::array<std::vector<double>, dim>     other_x, other_normal;
      std::vector<double>                      penalty;
    };
  } // namespace internal
} // namespace Tessella

#endif
