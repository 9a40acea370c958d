// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/symmetric_tensor.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/penalty.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/quadrature/quadrature_order.h>

#include <cmath>
#include <string>

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



      /// Computes int rho^2 R^2 over whole sub-cells of a polytope.
      template <int dim>
      class VolumeResidual
      {
      public:
        explicit VolumeResidual(const DiscreteProblem<dim> &problem)
          : problem(problem)
          , structure(problem.form.volume_structure())
          , derivatives(problem.handler.polynomial_space() ==
                        PolynomialSpaceType::tensor_product)
          , arrays{VolumeArrays<dim>(structure),
                   VolumeArrays<dim>(structure),
                   VolumeArrays<dim>(structure)}
        {}

        /// Returns the integral over sub-cells [begin, end) of polytope @p k.
        double
        compute(const unsigned int k,
                const double      *u,
                const unsigned int begin,
                const unsigned int end)
        {
          const unsigned int order = quadrature_order(dim,
                                                      problem.dofs.degree[k],
                                                      problem.extra_order,
                                                      false);
          for (int d = 0; d < dim; ++d)
            derivatives.compute(problem.mesh, problem.dofs, k, u, d, du[d]);
          double sum = 0.;
          batch.for_subcells(problem.mesh, begin, end, order, [&]() {
            sum += add(k, u);
          });
          return sum;
        }

      private:
        double
        add(const unsigned int k, const double *u)
        {
          const unsigned int n = batch.size();
          material.resize(n);
          for (unsigned int q = 0; q < n; ++q)
            material[q] = problem.mesh.subcell_material[batch.entity[q]];

          // ---- u and its derivatives
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

          // ---- coefficients
          arrays[0].reinit(n);
          problem.form.evaluate_volume(
            point_batch<dim>(batch, batch.x, batch.entity, material),
            arrays[0].blocks);
          const VolumeBlocks<dim> &blocks = arrays[0].blocks;
          residual.resize(n);
          divergence.assign(n, 0.);
          for (unsigned int q = 0; q < n; ++q)
            {
              double r = structure.f ? blocks.f[q] : 0.;
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
              residual[q] = r;
            }
          if (!structure.constant)
            add_derivatives_of_coefficients();

          // ---- weights
          const double *const box = &problem.mesh.box[std::size_t(k) * 2 * dim];
          double              diameter = 0.;
          for (int d = 0; d < dim; ++d)
            diameter += (box[dim + d] - box[d]) * (box[dim + d] - box[d]);
          diameter         = std::sqrt(diameter);
          const double h   = diameter / std::max(problem.dofs.degree[k], 1U);
          double       sum = 0.;
          for (unsigned int q = 0; q < n; ++q)
            sum += batch.weight[q] * weight(blocks, h, q) * residual[q] *
                   residual[q];
          return sum;
        }

        /// Adds div a . grad u + div beta u to the residual by finite
        /// differences, and computes the divergence of b + beta.
        void
        add_derivatives_of_coefficients()
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

        /// Weight rho^2. @p h is the diameter divided by the polynomial degree.
        double
        weight(const VolumeBlocks<dim> &blocks,
               const double             h,
               const unsigned int       q) const
        {
          double smallest = 0., largest = 0.;
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

        const DiscreteProblem<dim>          &problem;
        const VolumeStructure                structure;
        PolynomialDerivatives<dim>           derivatives;
        VolumeArrays<dim>                    arrays[3];
        QuadratureBatch<dim>                 batch;
        std::array<std::vector<double>, dim> du, gradient, shifted;
        std::vector<double>                  hessian[dim][dim];
        std::vector<double>       value, unused, residual, divergence, step;
        std::vector<unsigned int> material;
      };



      /// Terms of one interface.
      template <int dim>
      class FacetTerms
      {
      public:
        /// @p u: coefficients of owned and ghost polytopes, of which those of
        /// @p component are used.
        FacetTerms(const DiscreteProblem<dim> &problem,
                   const double               *u,
                   const unsigned int          component,
                   const bool                  fluxes)
          : problem(problem)
          , u(u)
          , component(component)
          , fluxes(fluxes)
          , structure(problem.form.volume_structure())
          , facet_structure(problem.form.facet_structure())
          , volume_arrays(structure)
          , facets(problem)
        {}

        double
        compute(const unsigned int i)
        {
          const unsigned int p =
            interface_degree(problem.mesh, problem.dofs, i);
          degree = std::max(p, 1U);
          const unsigned int order =
            quadrature_order(dim, p, problem.extra_order, false);
          double sum = 0.;
          for (unsigned int f = problem.mesh.facet_offset[i];
               f < problem.mesh.facet_offset[i + 1];)
            {
              facets.batch.clear();
              for (; f < problem.mesh.facet_offset[i + 1] &&
                     facets.batch.size() < batch_size;
                   ++f)
                facets.batch.add_facet(problem.mesh, f, order);
              sum +=
                problem.mesh.interface_boundary_id[i] == invalid_index &&
                    problem.mesh.interface_polytope[2 * i + 1] != invalid_index
                  ? interior(i)
                  : boundary(i);
            }
          return sum;
        }

      private:
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
                                     u + problem.dofs.dof_offset[k] +
                                       std::size_t(component) *
                                         problem.dofs.n_basis[k],
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

        /// Weight h_F / (p a_n); the penalty factor of a side is dim p^2 / h.
        double
        flux_weight(const unsigned int q, const unsigned int n_sides) const
        {
          double largest = 0.;
          for (unsigned int side = 0; side < n_sides; ++side)
            largest = std::max(
              largest,
              problem.dofs.penalty_factor[2 * facets.batch.entity[q] + side] *
                normal_diffusion[side][q]);
          return largest > 0. ? dim * degree / largest : 0.;
        }

        double
        interior(const unsigned int i)
        {
          for (unsigned int side = 0; side < 2; ++side)
            evaluate_side(i, side, fluxes);
          facets.evaluate_interior();
          double sum = 0.;
          for (unsigned int q = 0; q < facets.batch.size(); ++q)
            {
              const double jump = value[0][q] - value[1][q];
              double term = std::max(facets.jump_weight(q), 0.) * jump * jump;
              if (fluxes)
                {
                  const double flux_jump = flux[0][q] - flux[1][q];
                  term += flux_weight(q, 2) * flux_jump * flux_jump;
                }
              sum += facets.batch.weight[q] * term;
            }
          return .5 * sum;
        }

        double
        boundary(const unsigned int i)
        {
          // The normal diffusion is needed to detect boundaries that are not of
          // Dirichlet type.
          evaluate_side(i, 0, true);
          const FacetBlocks<dim> &blocks =
            facets.evaluate_boundary(problem.mesh.interface_boundary_id[i]);
          double sum = 0.;
          for (unsigned int q = 0; q < facets.batch.size(); ++q)
            {
              // Terms that integration by parts leaves of the form and of the
              // right-hand side. On Dirichlet parts, the b block cancels the
              // flux, and c (g - u) remains.
              double residual = (facet_structure.rhs ? blocks.r[q] : 0.) -
                                blocks.c[0][q] * value[0][q] - flux[0][q];
              bool dirichlet = !(normal_diffusion[0][q] > 0.);
              if (facet_structure.b)
                for (int d = 0; d < dim; ++d)
                  {
                    residual -= blocks.b[0][d][q] * gradient[0][d][q];
                    dirichlet = dirichlet || blocks.b[0][d][q] != 0.;
                  }
              const double weight =
                dirichlet ? (blocks.c[0][q] > 0. ? 1. / blocks.c[0][q] : 0.)
                : fluxes  ? flux_weight(q, 1)
                          : 0.;
              sum += facets.batch.weight[q] * weight * residual * residual;
            }
          return sum;
        }

        const DiscreteProblem<dim>          &problem;
        const double *const                  u;
        const unsigned int                   component;
        const bool                           fluxes;
        const VolumeStructure                structure;
        const FacetStructure                 facet_structure;
        VolumeArrays<dim>                    volume_arrays;
        FacetPoints<dim>                     facets;
        unsigned int                         degree = 1;
        std::array<std::vector<double>, dim> gradient[2];
        std::array<std::vector<double>, 2>   value, flux, normal_diffusion;
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

      /// Adds the volume terms of component @p c to those of the polytopes.
      /// Collective.
      template <int dim>
      void
      add_volume_terms(const DiscreteProblem<dim> &problem,
                       const unsigned int          c,
                       const double               *u,
                       std::vector<double>        &total)
      {
        const PolytopicDoFs        &dofs  = problem.dofs;
        const std::vector<WorkItem> items = work_items(problem.mesh, 64);
        std::vector<double>         partial(items.size());
        internal::apply_to_ranges(
          problem.handler.get_communicator(),
          items.size(),
          [&](const std::size_t begin, const std::size_t end) {
            VolumeResidual<dim> volume(problem);
            for (std::size_t i = begin; i < end; ++i)
              {
                const unsigned int k = items[i].polytope;
                partial[i]           = volume.compute(k,
                                            u + dofs.dof_offset[k] +
                                              std::size_t(c) * dofs.n_basis[k],
                                            items[i].begin,
                                            items[i].end);
              }
          },
          8);
        for (std::size_t i = 0; i < items.size(); ++i)
          total[items[i].polytope] += partial[i];
      }

      /// Adds the terms of component @p c on interfaces to those of the
      /// polytopes; @p u has the coefficients of ghosts, too. Collective.
      template <int dim>
      void
      add_facet_terms(const DiscreteProblem<dim> &problem,
                      const unsigned int          c,
                      const double               *u,
                      const bool                  fluxes,
                      std::vector<double>        &total)
      {
        const PolytopicMesh<dim> &mesh = problem.mesh;
        std::vector<double>       terms(mesh.n_interfaces());
        internal::apply_to_ranges(
          problem.handler.get_communicator(),
          mesh.n_interfaces(),
          [&](const unsigned int begin, const unsigned int end) {
            FacetTerms<dim> facet(problem, u, c, fluxes);
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
      std::vector<double> own_memory;
      const double *const u = data(handler, forms, sigma, solution, own_memory);
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      const PolytopicDoFs      &dofs = handler.polytopic_dofs();
      handler.tabulate(extra_order);
      if (dofs.penalty_factor.size() != 2 * std::size_t(mesh.n_facets()))
        handler.fill_penalty_factors(PenaltyFormula::simplex);
      const unsigned int  n_own = mesh.n_owned_polytopes();
      std::vector<double> total(n_own, 0.), memory;
      const double       *with_ghosts = nullptr;

      for (unsigned int c = 0; c < handler.n_components(); ++c)
        {
          const unsigned int         f = forms.size() == 1 ? 0 : c;
          const DiscreteProblem<dim> problem(handler,
                                             *forms[f],
                                             sigma[f],
                                             extra_order);
          if (residuals)
            add_volume_terms(problem, c, u, total);
          if (forms[f]->facet_structure().facets)
            {
              if (with_ghosts == nullptr)
                with_ghosts = values_with_ghosts(handler, u, memory);
              add_facet_terms(problem, c, with_ghosts, residuals, total);
            }
        }

      indicators.reinit(n_own);
      for (unsigned int k = 0; k < n_own; ++k)
        indicators[k] = std::sqrt(total[k]);
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
                         dealii::Vector<double> &);

    template double
    global(const AgglomerationHandler<2> &, const dealii::Vector<double> &);
    template double
    global(const AgglomerationHandler<3> &, const dealii::Vector<double> &);
    TESSELLA_INSTANTIATE(2)
    TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
  } // namespace ErrorEstimator
} // namespace Tessella
