// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/symmetric_tensor.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/penalty.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/quadrature/quadrature_order.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "../backends/host_system.h"
#include "../lac/reproducible_sum.h"
#include "collective_ranges.h"
#include "facet_points.h"
#include "form_arrays.h"
#include "polynomial_derivatives.h"
#include "polytope_evaluation.h"
#include "polytope_projection.h"

namespace Tessella
{
  namespace ErrorEstimator
  {
    namespace
    {
      using namespace internal;

      /// Entry (i, j) of the diffusion tensor at point q.
      template <int dim>
      double
      diffusion(const VolumeStructure   &structure,
                const VolumeBlocks<dim> &blocks,
                const int                i,
                const int                j,
                const unsigned int       q)
      {
        switch (structure.diffusion)
          {
            case DiffusionType::none:
              return 0.;
            case DiffusionType::isotropic:
              return i == j ? blocks.a[0][q] : 0.;
            default:
              return blocks.a[i * dim + j][q];
          }
      }



      /// A scalar form that is applied to a component of the solution, as a
      /// part of the equation of one test component.
      template <int dim>
      struct EstimatorPart
      {
        EstimatorPart(const DiscreteProblem<dim> &problem,
                      const unsigned int          component,
                      const bool                  source,
                      const bool                  diagonal)
          : problem(problem)
          , component(component)
          , source(source)
          , diagonal(diagonal)
        {}

        /// Coefficients of the component on a polytope.
        const double *
        coefficients(const double *u, const unsigned int k) const
        {
          return u + problem.dofs.dof_offset[k] +
                 std::size_t(component) * problem.dofs.n_basis[k];
        }

        DiscreteProblem<dim> problem;
        unsigned int         component;
        /// Whether the form has the data of the equation, and whether the
        /// component is that of the test function, whose form has the weights.
        bool source, diagonal;
      };

      /// The parts of one equation.
      template <int dim>
      using EstimatorEquation = std::vector<EstimatorPart<dim>>;



      /// Contribution of a part to the residual R at points of a polytope, and
      /// the weight rho^2.
      template <int dim>
      class VolumePart
      {
      public:
        explicit VolumePart(const EstimatorPart<dim> &part)
          : part(part)
          , problem(part.problem)
          , structure(problem.form.volume_structure())
          , derivatives(problem.handler.polynomial_space() ==
                        PolynomialSpaceType::tensor_product)
          , arrays{VolumeArrays<dim>(structure),
                   VolumeArrays<dim>(structure),
                   VolumeArrays<dim>(structure)}
        {}

        /// Moves to polytope @p polytope of the solution @p solution.
        void
        reinit(const unsigned int polytope, const double *solution)
        {
          k = polytope;
          u = part.coefficients(solution, k);
          for (int d = 0; d < dim; ++d)
            derivatives.compute(problem.mesh, problem.dofs, k, u, d, du[d]);
        }

        /// Adds the contribution at all points of @p batch.
        void
        add(const QuadratureBatch<dim>      &batch,
            const std::vector<unsigned int> &material,
            std::vector<double>             &residual)
        {
          const unsigned int n = batch.size();
          evaluate_function(batch);
          arrays[0].reinit(n);
          problem.form.evaluate_volume(
            point_batch<dim>(batch, batch.x, batch.entity, material),
            arrays[0].blocks);
          const VolumeBlocks<dim> &blocks = arrays[0].blocks;
          divergence.assign(n, 0.);
          for (unsigned int q = 0; q < n; ++q)
            {
              double r = structure.f && part.source ? blocks.f[q] : 0.;
              if (structure.c)
                r -= blocks.c[q] * value[q];
              for (int i = 0; i < dim; ++i)
                {
                  if (structure.b)
                    r -= blocks.b[i][q] * gradient[i][q];
                  if (structure.beta)
                    r += blocks.beta[i][q] * gradient[i][q];
                  for (int j = 0; j < dim; ++j)
                    r +=
                      diffusion(structure, blocks, i, j, q) * hessian[i][j][q];
                }
              residual[q] += r;
            }
          if (!structure.constant)
            add_derivatives_of_coefficients(batch, material, residual);
        }

        /// Weight rho^2 at a point of the last batch. @p h is the diameter
        /// divided by the polynomial degree.
        double
        weight(const double h, const unsigned int q) const;

      private:
        /// Sets u and its derivatives.
        void
        evaluate_function(const QuadratureBatch<dim> &batch)
        {
          const unsigned int n = batch.size();
          value.resize(n);
          unused.resize(n);
          std::array<double *, dim> pointers;
          for (int i = 0; i < dim; ++i)
            {
              gradient[i].resize(n);
              for (int j = 0; j < dim; ++j)
                hessian[i][j].resize(n);
              pointers[i] = gradient[i].data();
            }
          problem.evaluator.evaluate(
            k, u, n, batch.pointers(), value.data(), &pointers);
          if (structure.diffusion != DiffusionType::none)
            for (int i = 0; i < dim; ++i)
              {
                for (int j = 0; j < dim; ++j)
                  pointers[j] = hessian[i][j].data();
                problem.evaluator.evaluate(k,
                                           du[i].data(),
                                           n,
                                           batch.pointers(),
                                           unused.data(),
                                           &pointers);
              }
        }

        /// Adds div a . grad u + div beta u to the residual by finite
        /// differences, and computes the divergence of b + beta.
        void
        add_derivatives_of_coefficients(
          const QuadratureBatch<dim>      &batch,
          const std::vector<unsigned int> &material,
          std::vector<double>             &residual)
        {
          const unsigned int n = batch.size();
          step.resize(n);
          for (int d = 0; d < dim; ++d)
            {
              for (unsigned int q = 0; q < n; ++q)
                {
                  const unsigned int s = batch.entity[q];
                  double
                    lower =
                      problem.mesh.subcell_vertices
                        [std::size_t(problem.mesh.subcell_vertex_offset[s]) *
                           dim +
                         d],
                    upper = lower;
                  for (unsigned int v = problem.mesh.subcell_vertex_offset[s];
                       v < problem.mesh.subcell_vertex_offset[s + 1];
                       ++v)
                    {
                      const double x =
                        problem.mesh.subcell_vertices[std::size_t(v) * dim + d];
                      lower = std::min(lower, x);
                      upper = std::max(upper, x);
                    }
                  step[q] = 1e-6 * (upper - lower);
                }
              for (unsigned int side = 0; side < 2; ++side)
                {
                  shifted = batch.x;
                  for (unsigned int q = 0; q < n; ++q)
                    shifted[d][q] += side == 0 ? -step[q] : step[q];
                  arrays[1 + side].reinit(n);
                  VolumeBlocks<dim> wanted = arrays[1 + side].blocks;
                  wanted.c                 = nullptr;
                  wanted.f                 = nullptr;
                  problem.form.evaluate_volume(
                    point_batch<dim>(batch, shifted, batch.entity, material),
                    wanted);
                }
              const VolumeBlocks<dim> &below = arrays[1].blocks,
                                      &above = arrays[2].blocks;
              for (unsigned int q = 0; q < n; ++q)
                {
                  const double scale = .5 / step[q];
                  for (int j = 0; j < dim; ++j)
                    residual[q] += scale *
                                   (diffusion(structure, above, d, j, q) -
                                    diffusion(structure, below, d, j, q)) *
                                   gradient[j][q];
                  if (structure.beta)
                    {
                      const double derivative =
                        scale * (above.beta[d][q] - below.beta[d][q]);
                      residual[q] += derivative * value[q];
                      divergence[q] += derivative;
                    }
                  if (structure.b)
                    divergence[q] += scale * (above.b[d][q] - below.b[d][q]);
                }
            }
        }

        const EstimatorPart<dim>            &part;
        const DiscreteProblem<dim>          &problem;
        const VolumeStructure                structure;
        PolynomialDerivatives<dim>           derivatives;
        VolumeArrays<dim>                    arrays[3];
        unsigned int                         k = 0;
        const double                        *u = nullptr;
        std::array<std::vector<double>, dim> du, gradient, shifted;
        std::vector<double>                  hessian[dim][dim];
        std::vector<double>                  value, unused, divergence, step;
      };



      template <int dim>
      double
      VolumePart<dim>::weight(const double h, const unsigned int q) const
      {
        const VolumeBlocks<dim> &blocks   = arrays[0].blocks;
        double                   smallest = 0., largest = 0.;
        if (structure.diffusion == DiffusionType::isotropic)
          smallest = largest = blocks.a[0][q];
        else if (structure.diffusion == DiffusionType::tensor)
          {
            dealii::SymmetricTensor<2, dim> a;
            for (int i = 0; i < dim; ++i)
              for (int j = i; j < dim; ++j)
                a[i][j] =
                  .5 * (blocks.a[i * dim + j][q] + blocks.a[j * dim + i][q]);
            const auto values = dealii::eigenvalues(a);
            largest           = values[0];
            smallest          = values[dim - 1];
          }
        double flow = 0.;
        for (int d = 0; d < dim; ++d)
          {
            const double b = (structure.b ? blocks.b[d][q] : 0.) +
                             (structure.beta ? blocks.beta[d][q] : 0.);
            flow += b * b;
          }
        flow = std::sqrt(flow);
        const double reaction =
          (structure.c ? blocks.c[q] : 0.) - .5 * divergence[q];

        // inverse = 1 / rho^2. Eigenvalues due to rounding do not count as
        // diffusion.
        double inverse = smallest > 1e-14 * largest ? smallest / (h * h) : 0.;
        inverse        = std::max({inverse, reaction, flow / h});
        if (!(inverse > 0.))
          inverse = largest / (h * h);
        return inverse > 0. ? 1. / inverse : 0.;
      }


      /// Computes int rho^2 R^2 over whole sub-cells of a polytope.
      template <int dim>
      class VolumeResidual
      {
      public:
        explicit VolumeResidual(const EstimatorEquation<dim> &equation)
          : problem(equation.front().problem)
        {
          for (const EstimatorPart<dim> &part : equation)
            {
              if (part.diagonal)
                diagonal = parts.size();
              parts.push_back(std::make_unique<VolumePart<dim>>(part));
            }
        }

        /// Returns the integral over sub-cells [begin, end) of polytope @p k.
        double
        compute(const unsigned int k,
                const double      *u,
                const unsigned int begin,
                const unsigned int end)
        {
          if (diagonal >= parts.size())
            return 0.; // without a weight
          const unsigned int order = quadrature_order(dim,
                                                      problem.dofs.degree[k],
                                                      problem.extra_order,
                                                      false);
          for (const auto &part : parts)
            part->reinit(k, u);
          double sum = 0.;
          batch.for_subcells(problem.mesh, begin, end, order, [&]() {
            sum += add(k);
          });
          return sum;
        }

      private:
        double
        add(const unsigned int k)
        {
          const unsigned int n = batch.size();
          material.resize(n);
          for (unsigned int q = 0; q < n; ++q)
            material[q] = problem.mesh.subcell_material[batch.entity[q]];
          residual.assign(n, 0.);
          for (const auto &part : parts)
            part->add(batch, material, residual);
          const double *const box = &problem.mesh.box[std::size_t(k) * 2 * dim];
          double              diameter = 0.;
          for (int d = 0; d < dim; ++d)
            diameter += (box[dim + d] - box[d]) * (box[dim + d] - box[d]);
          diameter         = std::sqrt(diameter);
          const double h   = diameter / std::max(problem.dofs.degree[k], 1U);
          double       sum = 0.;
          for (unsigned int q = 0; q < n; ++q)
            sum += batch.weight[q] * parts[diagonal]->weight(h, q) *
                   residual[q] * residual[q];
          return sum;
        }

        const DiscreteProblem<dim>                   &problem;
        std::vector<std::unique_ptr<VolumePart<dim>>> parts;
        std::size_t               diagonal = std::size_t(-1);
        QuadratureBatch<dim>      batch;
        std::vector<double>       residual;
        std::vector<unsigned int> material;
      };



      /// Traces and fluxes of a part at points of facets.
      template <int dim>
      class FacetPart
      {
      public:
        /// @p u: coefficients of owned and ghost polytopes.
        FacetPart(const EstimatorPart<dim> &part, const double *u)
          : part(part)
          , problem(part.problem)
          , u(u)
          , structure(problem.form.volume_structure())
          , facet_structure(problem.form.facet_structure())
          , volume_arrays(structure)
          , facets(problem)
        {}

        /// Evaluates the points and u as seen from side @p side and, if @p
        /// with_flux is true, also flux[side] = n . q with the normal of the
        /// batch, and n . a n.
        void
        evaluate_side(const unsigned int i,
                      const unsigned int side,
                      const bool         with_flux)
        {
          const QuadratureBatch<dim> &batch = facets.batch;
          const unsigned int          n     = batch.size();
          facets.reinit_side(side);
          if (side == 1)
            facets.add_shift(i, 0, n);

          const unsigned int k = problem.mesh.interface_polytope[2 * i + side];
          std::array<double *, dim> gradients;
          for (int d = 0; d < dim; ++d)
            {
              gradient[side][d].resize(n);
              gradients[d] = gradient[side][d].data();
            }
          value[side].resize(n);
          problem.evaluator.evaluate(k,
                                     part.coefficients(u, k),
                                     n,
                                     facets.pointers(side),
                                     value[side].data(),
                                     with_flux ? &gradients : nullptr);
          flux[side].assign(n, 0.);
          normal_diffusion[side].assign(n, 0.);
          if (!with_flux)
            return;

          volume_arrays.reinit(n);
          VolumeBlocks<dim> blocks = volume_arrays.blocks;
          for (int d = 0; d < dim; ++d)
            blocks.b[d] = nullptr;
          blocks.c = nullptr;
          blocks.f = nullptr;
          problem.form.evaluate_volume(facets.volume_points(side), blocks);
          for (unsigned int q = 0; q < n; ++q)
            for (int c = 0; c < dim; ++c)
              {
                const double n_c = batch.normal[c][q];
                if (structure.beta)
                  flux[side][q] += n_c * blocks.beta[c][q] * value[side][q];
                for (int j = 0; j < dim; ++j)
                  {
                    const double a = diffusion(structure, blocks, c, j, q);
                    flux[side][q] += n_c * a * gradient[side][j][q];
                    normal_diffusion[side][q] += n_c * a * batch.normal[j][q];
                  }
              }
        }

        /// Adds the terms that integration by parts leaves of the form and of
        /// the data on the boundary, after evaluate_side(). On Dirichlet parts,
        /// the b block cancels the flux, and c (g - u) remains.
        void
        add_boundary(const unsigned int boundary_id, std::vector<double> &sum)
        {
          boundary = facets.evaluate_boundary(boundary_id);
          for (unsigned int q = 0; q < facets.batch.size(); ++q)
            {
              double residual =
                (facet_structure.rhs && part.source ? boundary.r[q] : 0.) -
                boundary.c[0][q] * value[0][q] - flux[0][q];
              if (facet_structure.b)
                for (int d = 0; d < dim; ++d)
                  residual -= boundary.b[0][d][q] * gradient[0][d][q];
              sum[q] += residual;
            }
        }

        /// Whether the boundary is of Dirichlet type at a point, and the weight
        /// of the residual there, after add_boundary().
        double
        boundary_weight(const unsigned int q,
                        const unsigned int degree,
                        const bool         fluxes) const
        {
          bool dirichlet = !(normal_diffusion[0][q] > 0.);
          if (facet_structure.b)
            for (int d = 0; d < dim; ++d)
              dirichlet = dirichlet || boundary.b[0][d][q] != 0.;
          const double c = boundary.c[0][q];
          return dirichlet ? (c > 0. ? 1. / c : 0.)
                 : fluxes  ? flux_weight(q, 1, degree)
                           : 0.;
        }

        /// Weight h_F / (p a_n); the penalty factor of a side is dim p^2 / h.
        double
        flux_weight(const unsigned int q,
                    const unsigned int n_sides,
                    const unsigned int degree) const
        {
          double largest = 0.;
          for (unsigned int side = 0; side < n_sides; ++side)
            largest = std::max(
              largest,
              problem.dofs.penalty_factor[2 * facets.batch.entity[q] + side] *
                normal_diffusion[side][q]);
          return largest > 0. ? dim * degree / largest : 0.;
        }

      private:
        const EstimatorPart<dim>            &part;
        const DiscreteProblem<dim>          &problem;
        const double *const                  u;
        const VolumeStructure                structure;
        const FacetStructure                 facet_structure;
        VolumeArrays<dim>                    volume_arrays;
        FacetBlocks<dim>                     boundary;
        std::array<std::vector<double>, dim> gradient[2];

      public:
        FacetPoints<dim>                   facets;
        std::array<std::vector<double>, 2> value, flux, normal_diffusion;
      };



      /// Terms of one interface.
      template <int dim>
      class FacetTerms
      {
      public:
        /// @p u: coefficients of owned and ghost polytopes.
        FacetTerms(const EstimatorEquation<dim> &equation,
                   const double                 *u,
                   const bool                    fluxes)
          : problem(equation.front().problem)
          , fluxes(fluxes)
        {
          for (const EstimatorPart<dim> &part : equation)
            {
              if (part.diagonal)
                diagonal = parts.size();
              parts.push_back(std::make_unique<FacetPart<dim>>(part, u));
            }
        }

        double
        compute(const unsigned int i)
        {
          if (diagonal >= parts.size())
            return 0.; // without a weight
          const unsigned int p =
            interface_degree(problem.mesh, problem.dofs, i);
          degree = std::max(p, 1U);
          const unsigned int order =
            quadrature_order(dim, p, problem.extra_order, false);
          double sum = 0.;
          for (unsigned int f = problem.mesh.facet_offset[i];
               f < problem.mesh.facet_offset[i + 1];)
            {
              for (const auto &part : parts)
                part->facets.batch.clear();
              for (; f < problem.mesh.facet_offset[i + 1] &&
                     parts.front()->facets.batch.size() < batch_size;
                   ++f)
                for (const auto &part : parts)
                  part->facets.batch.add_facet(problem.mesh, f, order);
              sum +=
                problem.mesh.interface_boundary_id[i] == invalid_index &&
                    problem.mesh.interface_polytope[2 * i + 1] != invalid_index
                  ? interior(i)
                  : boundary(i);
            }
          return sum;
        }

      private:
        double
        interior(const unsigned int i)
        {
          FacetPart<dim> &own = *parts[diagonal];
          // Jumps alone need the component itself only.
          for (const auto &part : parts)
            if (fluxes || part.get() == &own)
              for (unsigned int side = 0; side < 2; ++side)
                part->evaluate_side(i, side, fluxes);
          own.facets.evaluate_interior();
          const QuadratureBatch<dim> &batch = own.facets.batch;
          double                      sum   = 0.;
          for (unsigned int q = 0; q < batch.size(); ++q)
            {
              const double jump = own.value[0][q] - own.value[1][q];
              double       term =
                std::max(own.facets.jump_weight(q), 0.) * jump * jump;
              if (fluxes)
                {
                  double flux_jump = 0.;
                  for (const auto &part : parts)
                    flux_jump += part->flux[0][q] - part->flux[1][q];
                  term += own.flux_weight(q, 2, degree) * flux_jump * flux_jump;
                }
              sum += batch.weight[q] * term;
            }
          return .5 * sum;
        }

        double
        boundary(const unsigned int i)
        {
          const FacetPart<dim>       &own   = *parts[diagonal];
          const QuadratureBatch<dim> &batch = own.facets.batch;
          residual.assign(batch.size(), 0.);
          // The normal diffusion is needed to detect boundaries that are not of
          // Dirichlet type.
          for (const auto &part : parts)
            {
              part->evaluate_side(i, 0, true);
              part->add_boundary(problem.mesh.interface_boundary_id[i],
                                 residual);
            }
          double sum = 0.;
          for (unsigned int q = 0; q < batch.size(); ++q)
            sum += batch.weight[q] * own.boundary_weight(q, degree, fluxes) *
                   residual[q] * residual[q];
          return sum;
        }

        const DiscreteProblem<dim>                  &problem;
        const bool                                   fluxes;
        std::vector<std::unique_ptr<FacetPart<dim>>> parts;
        std::size_t                                  diagonal = std::size_t(-1);
        unsigned int                                 degree   = 1;
        std::vector<double>                          residual;
      };



      /// Checks the arguments, with the same result on all processes.
      template <int dim>
      const double *
      data(const AgglomerationHandler<dim>        &handler,
           const std::vector<const Form<dim> *>   &forms,
           const std::vector<std::vector<double>> &sigma,
           const ConstVectorView                  &solution,
           std::vector<double>                    &memory)
      {
        const double *result = nullptr;
        on_all_processes(handler.get_communicator(), [&]() {
          AssertThrow(handler.n_dofs() > 0,
                      ExcUserInput("Error indicators need a handler with "
                                   "degrees of freedom."));
          AssertThrow(
            (forms.size() == 1 || forms.size() == handler.n_components()) &&
              sigma.size() == forms.size(),
            ExcUserInput("Error indicators need one form and its penalty for "
                         "each of the " +
                         std::to_string(handler.n_components()) +
                         " components, or one for all, but there are " +
                         std::to_string(forms.size()) + " forms and " +
                         std::to_string(sigma.size()) +
                         " arrays of penalties."));
          for (unsigned int f = 0; f < forms.size(); ++f)
            {
              const FacetStructure facets = forms[f]->facet_structure();
              AssertThrow(
                sigma[f].size() == handler.polytopic_mesh().n_facets() ||
                  (sigma[f].empty() && !(facets.facets && facets.penalty)),
                ExcUserInput("Error indicators need the penalty of every "
                             "facet: pass what "
                             "PolytopicAssembler::penalty() returns for "
                             "this form and handler."));
            }
          result = solution.values(handler.n_locally_owned_dofs(), memory);
        });
        for (const Form<dim> *form : forms)
          form->prepare();
        return result;
      }

      /// Adds the volume terms of an equation to those of the polytopes.
      /// Collective.
      template <int dim>
      void
      add_volume_terms(const EstimatorEquation<dim> &equation,
                       const double                 *u,
                       std::vector<double>          &total)
      {
        const DiscreteProblem<dim> &problem = equation.front().problem;
        const std::vector<WorkItem> items   = work_items(problem.mesh, 64);
        std::vector<double>         partial(items.size());
        internal::apply_to_ranges(
          problem.handler.get_communicator(),
          items.size(),
          [&](const std::size_t begin, const std::size_t end) {
            VolumeResidual<dim> volume(equation);
            for (std::size_t i = begin; i < end; ++i)
              partial[i] = volume.compute(items[i].polytope,
                                          u,
                                          items[i].begin,
                                          items[i].end);
          },
          8);
        for (std::size_t i = 0; i < items.size(); ++i)
          total[items[i].polytope] += partial[i];
      }

      /// Adds the terms of an equation on interfaces to those of the polytopes;
      /// @p u has the coefficients of ghosts, too. Collective.
      template <int dim>
      void
      add_facet_terms(const EstimatorEquation<dim> &equation,
                      const double                 *u,
                      const bool                    fluxes,
                      std::vector<double>          &total)
      {
        const DiscreteProblem<dim> &problem = equation.front().problem;
        const PolytopicMesh<dim>   &mesh    = problem.mesh;
        std::vector<double>         terms(mesh.n_interfaces());
        internal::apply_to_ranges(
          problem.handler.get_communicator(),
          mesh.n_interfaces(),
          [&](const unsigned int begin, const unsigned int end) {
            FacetTerms<dim> facet(equation, u, fluxes);
            for (unsigned int i = begin; i < end; ++i)
              terms[i] = facet.compute(i);
          },
          32);
        for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            total[k] += terms[mesh.polytope_interface[e] / 2];
      }

      /// Sets the indicators of a list of equations. Collective.
      template <int dim>
      void
      add_equations(const AgglomerationHandler<dim>           &handler,
                    const std::vector<EstimatorEquation<dim>> &equations,
                    const bool                                 residuals,
                    const double                              *u,
                    dealii::Vector<double>                    &indicators)
      {
        const unsigned int n_own = handler.polytopic_mesh().n_owned_polytopes();
        std::vector<double> total(n_own, 0.), memory;
        const double       *with_ghosts = nullptr;
        for (const EstimatorEquation<dim> &equation : equations)
          {
            if (residuals)
              add_volume_terms(equation, u, total);
            const bool has_facets =
              std::any_of(equation.begin(),
                          equation.end(),
                          [](const EstimatorPart<dim> &part) {
                            return part.problem.form.facet_structure().facets;
                          });
            if (!has_facets)
              continue;
            if (with_ghosts == nullptr)
              with_ghosts = values_with_ghosts(handler, u, memory);
            add_facet_terms(equation, with_ghosts, residuals, total);
          }
        indicators.reinit(n_own);
        for (unsigned int k = 0; k < n_own; ++k)
          indicators[k] = std::sqrt(total[k]);
      }

      /// Quadrature points and geometric factors that estimates need.
      template <int dim>
      void
      prepare(const AgglomerationHandler<dim> &handler,
              const unsigned int               extra_order)
      {
        handler.tabulate(extra_order);
        if (handler.polytopic_dofs().penalty_factor.size() !=
            2 * std::size_t(handler.polytopic_mesh().n_facets()))
          handler.fill_penalty_factors(PenaltyFormula::simplex);
      }
    } // namespace



    template <int dim>
    void
    estimate(const AgglomerationHandler<dim>        &handler,
             const std::vector<const Form<dim> *>   &forms,
             const std::vector<std::vector<double>> &sigma,
             const unsigned int                      extra_order,
             const bool                              residuals,
             const ConstVectorView                  &solution,
             dealii::Vector<double>                 &indicators)
    {
      std::vector<double> memory;
      const double *const u = data(handler, forms, sigma, solution, memory);
      prepare(handler, extra_order);
      std::vector<EstimatorEquation<dim>> equations(handler.n_components());
      for (unsigned int c = 0; c < equations.size(); ++c)
        {
          const unsigned int f = forms.size() == 1 ? 0 : c;
          equations[c].emplace_back(
            DiscreteProblem<dim>(handler, *forms[f], sigma[f], extra_order),
            c,
            true,
            true);
        }
      add_equations(handler, equations, residuals, u, indicators);
    }



    template <int dim>
    void
    residual(const AgglomerationHandler<dim> &handler,
             const SystemForm<dim>           &system,
             const ConstVectorView           &solution,
             dealii::Vector<double>          &indicators,
             const unsigned int               extra_order,
             const AssemblyParameters        &parameters)
    {
      std::vector<double> memory;
      const double       *u = nullptr;
      on_all_processes(handler.get_communicator(), [&]() {
        AssertThrow(handler.n_dofs() > 0,
                    ExcUserInput("Error indicators need a handler with degrees "
                                 "of freedom."));
        u = solution.values(handler.n_locally_owned_dofs(), memory);
      });
      // Sigma of each pair, as for the matrix.
      AssemblyContext<dim> context(handler, parameters);
      context.structure.on_all_processes(
        [&]() { context.structure.update(handler); });
      FormPreparation<dim> preparation(context);
      HostSystem<dim>      pairs(context, preparation);
      pairs.start(system);
      prepare(handler, extra_order);
      std::vector<EstimatorEquation<dim>> equations(handler.n_components());
      for (std::size_t p = 0; p < pairs.present_pairs().size(); ++p)
        {
          const SystemPair<dim> &pair = pairs.present_pairs()[p];
          equations[pair.test].emplace_back(
            DiscreteProblem<dim>(
              handler, *pair.form, *pairs.present_sigma()[p], extra_order),
            pair.trial,
            pair.rhs,
            pair.trial == pair.test);
        }
      equations.erase(std::remove_if(equations.begin(),
                                     equations.end(),
                                     [](const auto &e) { return e.empty(); }),
                      equations.end());
      add_equations(handler, equations, true, u, indicators);
    }



    template <int dim>
    double
    global(const AgglomerationHandler<dim> &handler,
           const dealii::Vector<double>    &indicators)
    {
      const MPI_Comm communicator = handler.get_communicator();
      on_all_processes(communicator, [&]() {
        AssertThrow(indicators.size() == handler.n_polytopes(),
                    ExcUserInput(
                      "There are " + std::to_string(indicators.size()) +
                      " error indicators, but this process has " +
                      std::to_string(handler.n_polytopes()) +
                      " polytopes: give the vector that residual() or jumps() "
                      "filled for this handler."));
      });
      return std::sqrt(value_of_all(
        communicator,
        host_dot(indicators.size(), indicators.begin(), indicators.begin())));
    }



#define TESSELLA_INSTANTIATE(dim)                                  \
  template void estimate(const AgglomerationHandler<dim> &,        \
                         const std::vector<const Form<dim> *> &,   \
                         const std::vector<std::vector<double>> &, \
                         const unsigned int,                       \
                         const bool,                               \
                         const ConstVectorView &,                  \
                         dealii::Vector<double> &);                \
  template void residual(const AgglomerationHandler<dim> &,        \
                         const SystemForm<dim> &,                  \
                         const ConstVectorView &,                  \
                         dealii::Vector<double> &,                 \
                         const unsigned int,                       \
                         const AssemblyParameters &);

    template double
    global(const AgglomerationHandler<2> &, const dealii::Vector<double> &);
    template double
    global(const AgglomerationHandler<3> &, const dealii::Vector<double> &);
    TESSELLA_INSTANTIATE(2)
    TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
  } // namespace ErrorEstimator
} // namespace Tessella
