// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/portable/geometry.h>

#include <cmath>

#include "../base/vector_types.h"
#include "collective_ranges.h"
#include "facet_points.h"
#include "form_arrays.h"
#include "function_batch.h"
#include "polytope_projection.h"

namespace Tessella
{
  namespace VectorTools
  {
    using namespace internal;
    using dealii::Function;
    using dealii::Point;

    namespace
    {
      /// Squares of the norms, summed per work item.
      struct Squares
      {
        double L2 = 0., H1 = 0., energy = 0.;
      };

      /// Volume terms of compute_errors() on one batch of whole sub-cells.
      template <int dim>
      class VolumeErrors
      {
      public:
        VolumeErrors(const DiscreteProblem<dim> &problem,
                     const Function<dim>        &exact)
          : problem(problem)
          , structure(problem.form.volume_structure())
          , arrays(structure)
          , error(problem.evaluator, exact)
        {}

        void
        add(const QuadratureBatch<dim> &batch,
            const unsigned int          k,
            const double               *u,
            Squares                    &sum)
        {
          const unsigned int n = batch.size();
          error.compute(batch, k, u, problem.dofs.n_basis[k], true, true);
          material.resize(n);
          for (unsigned int q = 0; q < n; ++q)
            material[q] = problem.mesh.subcell_material[batch.entity[q]];
          arrays.reinit(n);
          const VolumeBlocks<dim> &blocks = arrays.blocks;
          if (structure.b || structure.beta || structure.c ||
              structure.diffusion != DiffusionType::none)
            {
              VolumeBlocks<dim> wanted = arrays.blocks;
              wanted.f                 = nullptr;
              problem.form.evaluate_volume(
                point_batch<dim>(batch, batch.x, batch.entity, material),
                wanted);
            }

          reaction.assign(n, 0.);
          if (structure.c)
            std::copy(blocks.c, blocks.c + n, reaction.begin());
          if (structure.b || structure.beta)
            subtract_half_divergence(batch);

          for (unsigned int q = 0; q < n; ++q)
            {
              const double w = batch.weight[q], e = error.value[q];
              double       g_g = 0., g_a_g = 0.;
              for (int d = 0; d < dim; ++d)
                g_g += error.gradient[d][q] * error.gradient[d][q];
              if (structure.diffusion == DiffusionType::isotropic)
                g_a_g = blocks.a[0][q] * g_g;
              else if (structure.diffusion == DiffusionType::tensor)
                for (int i = 0; i < dim; ++i)
                  for (int j = 0; j < dim; ++j)
                    g_a_g += error.gradient[i][q] * blocks.a[i * dim + j][q] *
                             error.gradient[j][q];
              sum.L2 += w * e * e;
              sum.H1 += w * g_g;
              sum.energy +=
                w * (std::max(g_a_g, 0.) + std::max(reaction[q], 0.) * e * e);
            }
        }

      private:
        /// Subtracts half of the divergence of b + beta, which is computed by a
        /// least-squares linear fit on each sub-cell.
        void
        subtract_half_divergence(const QuadratureBatch<dim> &batch)
        {
          const unsigned int n = batch.size();
          for (unsigned int begin = 0, end = 0; begin < n; begin = end)
            {
              while (end < n && batch.entity[end] == batch.entity[begin])
                ++end;
              double sum = 0., mean_x[dim] = {}, mean_b[dim] = {};
              auto   field = [&](const int d, const unsigned int q) {
                return (structure.b ? arrays.blocks.b[d][q] : 0.) +
                       (structure.beta ? arrays.blocks.beta[d][q] : 0.);
              };
              for (unsigned int q = begin; q < end; ++q)
                {
                  const double w = batch.weight[q];
                  sum += w;
                  for (int d = 0; d < dim; ++d)
                    {
                      mean_x[d] += w * batch.x[d][q];
                      mean_b[d] += w * field(d, q);
                    }
                }
              for (int d = 0; d < dim; ++d)
                {
                  mean_x[d] /= sum;
                  mean_b[d] /= sum;
                }
              // With C_ij = int x_i x_j and G_ij = int x_i b_j, the divergence
              // is trace(C^{-1} G).
              double c[dim][dim] = {}, g[dim][dim] = {};
              for (unsigned int q = begin; q < end; ++q)
                for (int i = 0; i < dim; ++i)
                  {
                    const double x =
                      batch.weight[q] * (batch.x[i][q] - mean_x[i]);
                    for (int j = 0; j < dim; ++j)
                      {
                        c[i][j] += x * (batch.x[j][q] - mean_x[j]);
                        g[i][j] += x * (field(j, q) - mean_b[j]);
                      }
                  }
              const double det        = Geometry::determinant(c);
              double       divergence = 0.;
              if (det > 0.)
                for (int j = 0; j < dim; ++j)
                  {
                    // Component j of C^{-1} applied to column j of G.
                    double m[dim][dim];
                    for (int i = 0; i < dim; ++i)
                      for (int l = 0; l < dim; ++l)
                        m[i][l] = (l == j) ? g[i][j] : c[i][l];
                    divergence += Geometry::determinant(m) / det;
                  }
              for (unsigned int q = begin; q < end; ++q)
                reaction[q] -= .5 * divergence;
            }
        }

        const DiscreteProblem<dim> &problem;
        const VolumeStructure       structure;
        VolumeArrays<dim>           arrays;
        ErrorBatch<dim>             error;
        std::vector<unsigned int>   material;
        std::vector<double>         reaction;
      };

      /// Facet terms of compute_errors() for several interfaces at once, all of
      /// them interior or all with the same boundary id.
      template <int dim>
      class FacetErrors
      {
      public:
        /// @p u: coefficients of owned and ghost polytopes.
        FacetErrors(const DiscreteProblem<dim> &problem,
                    const Function<dim>        &exact,
                    const double               *u)
          : problem(problem)
          , exact(exact)
          , u(u)
          , structure(problem.form.volume_structure())
          , volume_arrays(structure)
          , facets(problem)
        {}

        /// Returns the terms of interfaces [begin, end).
        double
        compute(const unsigned int begin, const unsigned int end)
        {
          double             sum     = 0.;
          const unsigned int n_owned = problem.mesh.n_owned_polytopes();
          for (unsigned int i = begin; i < end;)
            {
              // The owner of side 0 counts the jump.
              if (problem.mesh.interface_polytope[2 * i] >= n_owned)
                {
                  ++i;
                  continue;
                }
              // A batch contains as many interfaces of the same kind as fit
              // into it.
              const unsigned int id = problem.mesh.interface_boundary_id[i];
              facets.batch.clear();
              ranges.clear();
              for (; i < end && problem.mesh.interface_boundary_id[i] == id &&
                     problem.mesh.interface_polytope[2 * i] < n_owned &&
                     facets.batch.size() < batch_size;
                   ++i)
                {
                  const unsigned int first = facets.batch.size();
                  const unsigned int order = std::max(
                    2 * interface_degree(problem.mesh, problem.dofs, i) +
                      problem.extra_order,
                    1U);
                  for (unsigned int f = problem.mesh.facet_offset[i];
                       f < problem.mesh.facet_offset[i + 1];
                       ++f)
                    facets.batch.add_facet(problem.mesh, f, order);
                  if (facets.batch.size() > first)
                    ranges.push_back({i, first, facets.batch.size()});
                }
              sum += (id == invalid_index) ? interior() : boundary(id);
            }
          return sum;
        }

      private:
        /// Computes the discrete function on one side of all points.
        void
        evaluate(const unsigned int side, std::vector<double> &values)
        {
          values.resize(facets.batch.size());
          for (const Range &r : ranges)
            {
              const unsigned int k =
                problem.mesh.interface_polytope[2 * r.interface + side];
              problem.evaluator.evaluate(k,
                                         u + problem.dofs.dof_offset[k],
                                         r.end - r.begin,
                                         facets.pointers(side, r.begin),
                                         values.data() + r.begin,
                                         nullptr);
            }
        }

        double
        interior()
        {
          facets.reinit_side(0);
          facets.reinit_side(1);
          for (const Range &r : ranges)
            facets.add_shift(r.interface, r.begin, r.end);
          evaluate(0, jump);
          evaluate(1, other);
          facets.evaluate_interior();
          double sum = 0.;
          for (unsigned int q = 0; q < facets.batch.size(); ++q)
            {
              const double j = jump[q] - other[q];
              sum += facets.batch.weight[q] *
                     std::max(facets.jump_weight(q), 0.) * j * j;
            }
          return sum;
        }

        double
        boundary(const unsigned int id)
        {
          const QuadratureBatch<dim> &batch = facets.batch;
          const unsigned int          n     = batch.size();
          facets.reinit_side(0);
          evaluate(0, jump);
          copy_points(batch, exact_points);
          exact.values(exact_points, exact_values);

          const FacetBlocks<dim> &blocks = facets.evaluate_boundary(id);
          normal_flow.assign(n, 0.);
          if (structure.b || structure.beta)
            {
              volume_arrays.reinit(n);
              problem.form.evaluate_volume(facets.volume_points(0),
                                           volume_arrays.blocks);
              for (int d = 0; d < dim; ++d)
                for (unsigned int q = 0; q < n; ++q)
                  normal_flow[q] +=
                    batch.normal[d][q] *
                    ((structure.b ? volume_arrays.blocks.b[d][q] : 0.) +
                     (structure.beta ? volume_arrays.blocks.beta[d][q] : 0.));
            }
          double sum = 0.;
          for (unsigned int q = 0; q < n; ++q)
            {
              const double weight = blocks.c[0][q] + .5 * normal_flow[q];
              const double e      = jump[q] - exact_values[q];
              sum += batch.weight[q] * std::max(weight, 0.) * e * e;
            }
          return sum;
        }

        /// Points of one interface.
        struct Range
        {
          unsigned int interface, begin, end;
        };

        const DiscreteProblem<dim> &problem;
        FunctionBatch<dim>          exact;
        const double *const         u;
        const VolumeStructure       structure;
        VolumeArrays<dim>           volume_arrays;
        FacetPoints<dim>            facets;
        std::vector<Range>          ranges;
        std::vector<double>         jump, other, normal_flow, exact_values;
        std::vector<Point<dim>>     exact_points;
      };

      /// Sums the volume terms over the polytopes of this process, in an order
      /// that does not depend on the number of threads. Collective.
      template <int dim>
      Squares
      volume_errors(const DiscreteProblem<dim> &problem,
                    const Function<dim>        &exact,
                    const double               *u)
      {
        const PolytopicMesh<dim>   &mesh  = problem.mesh;
        const PolytopicDoFs        &dofs  = problem.dofs;
        const std::vector<WorkItem> items = work_items(mesh, 64);
        std::vector<Squares>        partial(items.size());
        apply_to_ranges(
          problem.handler.get_communicator(),
          items.size(),
          [&](const std::size_t begin, const std::size_t end) {
            QuadratureBatch<dim> batch;
            VolumeErrors<dim>    errors(problem, exact);
            for (std::size_t item = begin; item < end; ++item)
              {
                const unsigned int k = items[item].polytope;
                // At least dim + 1 points are needed for the divergence.
                const unsigned int order =
                  std::max(2 * dofs.degree[k] + problem.extra_order, 2U);
                batch.for_subcells(
                  mesh, items[item].begin, items[item].end, order, [&]() {
                    errors.add(batch, k, u + dofs.dof_offset[k], partial[item]);
                  });
              }
          },
          8);
        Squares total;
        for (const Squares &s : partial)
          {
            total.L2 += s.L2;
            total.H1 += s.H1;
            total.energy += s.energy;
          }
        return total;
      }

      /// Adds the facet terms of this process to @p energy, in an order that
      /// does not depend on the number of threads. Collective.
      template <int dim>
      void
      add_facet_errors(const DiscreteProblem<dim> &problem,
                       const Function<dim>        &exact,
                       const double               *u,
                       double                     &energy)
      {
        std::vector<double> memory;
        const double *const all =
          values_with_ghosts(problem.handler, u, memory);
        // Interfaces are divided into pieces of fixed size.
        const unsigned int piece        = 64,
                           n_interfaces = problem.mesh.n_interfaces();
        std::vector<double> sums((n_interfaces + piece - 1) / piece);
        apply_to_ranges(
          problem.handler.get_communicator(),
          sums.size(),
          [&](const std::size_t begin, const std::size_t end) {
            FacetErrors<dim> errors(problem, exact, all);
            for (std::size_t i = begin; i < end; ++i)
              sums[i] = errors.compute(i * piece,
                                       std::min<unsigned int>((i + 1) * piece,
                                                              n_interfaces));
          },
          2);
        for (const double s : sums)
          energy += s;
      }
    } // namespace



    template <int dim, typename VectorType>
    ErrorNorms
    compute_errors(const AgglomerationHandler<dim> &handler,
                   const Form<dim>                 &form,
                   const std::vector<double>       &sigma,
                   const VectorType                &solution,
                   const Function<dim>             &exact,
                   const unsigned int               extra_order)
    {
      check_function(handler, exact);
      AssertThrow(handler.n_components() == 1,
                  dealii::ExcMessage(
                    "compute_errors() is for scalar problems; for several "
                    "components use integrate_difference()."));
      handler.tabulate(extra_order);
      const PolytopicMesh<dim> &mesh   = handler.polytopic_mesh();
      const FacetStructure      facets = form.facet_structure();
      on_all_processes(handler.get_communicator(), [&]() {
        AssertThrow(
          sigma.size() == mesh.n_facets() ||
            (sigma.empty() && !(facets.facets && facets.penalty)),
          dealii::ExcMessage(
            "compute_errors() needs the penalty of every facet; pass "
            "what PolytopicAssembler::penalty() returns for this form "
            "and handler."));
      });
      const double *const        u = own_values(handler, solution);
      const DiscreteProblem<dim> problem(handler, form, sigma, extra_order);

      Squares total = volume_errors(problem, exact, u);
      if (facets.facets)
        add_facet_errors(problem, exact, u, total.energy);
      const double own[3] = {total.L2, total.H1, total.energy};
      double       sum[3];
      dealii::Utilities::MPI::sum(own, handler.get_communicator(), sum);
      return {std::sqrt(sum[0]), std::sqrt(sum[1]), std::sqrt(sum[2])};
    }



#define TESSELLA_INSTANTIATE(dim, VectorType)          \
  template ErrorNorms compute_errors<dim, VectorType>( \
    const AgglomerationHandler<dim> &,                 \
    const Form<dim> &,                                 \
    const std::vector<double> &,                       \
    const VectorType &,                                \
    const Function<dim> &,                             \
    const unsigned int);

    TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 2)
    TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 3)
#undef TESSELLA_INSTANTIATE
  } // namespace VectorTools
} // namespace Tessella
