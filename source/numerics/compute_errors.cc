// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/portable/geometry.h>

#include <cmath>

#include "../lac/reproducible_sum.h"
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
      /// Squares of the norms of one component.
      struct Squares
      {
        double L2 = 0., H1 = 0., energy = 0.;
      };

      /// The selected components of a mask, in ascending order.
      std::vector<unsigned int>
      selected_components(const dealii::ComponentMask &mask,
                          const unsigned int           n_components)
      {
        std::vector<unsigned int> components;
        for (unsigned int c = 0; c < n_components; ++c)
          if (mask[c])
            components.push_back(c);
        return components;
      }

      /// Volume terms of compute_errors() on one batch of whole sub-cells.
      template <int dim>
      class VolumeErrors
      {
      public:
        VolumeErrors(const DiscreteProblem<dim>      &problem,
                     const Function<dim>             &exact,
                     const std::vector<unsigned int> &components)
          : problem(problem)
          , components(components)
          , structure(problem.form.volume_structure())
          , arrays(structure)
          , error(problem.evaluator, exact)
        {}

        /// Adds the terms of component components[i] to sums[i].
        void
        add(const QuadratureBatch<dim> &batch,
            const unsigned int          k,
            const double               *u,
            Squares                    *sums)
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

          for (unsigned int i = 0; i < components.size(); ++i)
            add_component(batch, std::size_t(components[i]) * n, sums[i]);
        }

      private:
        /// Adds the terms of the component whose errors begin at @p first.
        void
        add_component(const QuadratureBatch<dim> &batch,
                      const std::size_t           first,
                      Squares                    &sum) const
        {
          const VolumeBlocks<dim> &blocks = arrays.blocks;
          for (unsigned int q = 0; q < batch.size(); ++q)
            {
              const double w = batch.weight[q], e = error.value[first + q];
              double       g[dim], g_g = 0., g_a_g = 0.;
              for (int d = 0; d < dim; ++d)
                {
                  g[d] = error.gradient[d][first + q];
                  g_g += g[d] * g[d];
                }
              if (structure.diffusion == DiffusionType::isotropic)
                g_a_g = blocks.a[0][q] * g_g;
              else if (structure.diffusion == DiffusionType::tensor)
                for (int i = 0; i < dim; ++i)
                  for (int j = 0; j < dim; ++j)
                    g_a_g += g[i] * blocks.a[i * dim + j][q] * g[j];
              sum.L2 += w * e * e;
              sum.H1 += w * g_g;
              sum.energy +=
                w * (std::max(g_a_g, 0.) + std::max(reaction[q], 0.) * e * e);
            }
        }

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

        const DiscreteProblem<dim>      &problem;
        const std::vector<unsigned int> &components;
        const VolumeStructure            structure;
        VolumeArrays<dim>                arrays;
        ErrorBatch<dim>                  error;
        std::vector<unsigned int>        material;
        std::vector<double>              reaction;
      };

      /// Facet terms of compute_errors() for several interfaces at once, all of
      /// them interior or all with the same boundary id.
      template <int dim>
      class FacetErrors
      {
      public:
        /// @p u: coefficients of owned and ghost polytopes. @p energies:
        /// the result for interface i and component components[c] is added to
        /// entry [i * components.size() + c].
        FacetErrors(const DiscreteProblem<dim>      &problem,
                    const Function<dim>             &exact,
                    const std::vector<unsigned int> &components,
                    const double                    *u,
                    std::vector<double>             &energies)
          : problem(problem)
          , exact(exact)
          , components(components)
          , u(u)
          , energies(energies)
          , structure(problem.form.volume_structure())
          , volume_arrays(structure)
          , facets(problem)
        {}

        /// Computes the terms of interfaces [begin, end).
        void
        compute(const unsigned int begin, const unsigned int end)
        {
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
              if (id == invalid_index)
                interior();
              else
                boundary(id);
            }
        }

      private:
        /// Computes component @p c of the discrete function on one side of all
        /// points.
        void
        evaluate(const unsigned int   side,
                 const unsigned int   c,
                 std::vector<double> &values)
        {
          values.resize(facets.batch.size());
          for (const Range &r : ranges)
            {
              const unsigned int k =
                problem.mesh.interface_polytope[2 * r.interface + side];
              problem.evaluator.evaluate(k,
                                         u + problem.dofs.dof_offset[k] +
                                           std::size_t(c) *
                                             problem.dofs.n_basis[k],
                                         r.end - r.begin,
                                         facets.pointers(side, r.begin),
                                         values.data() + r.begin,
                                         nullptr);
            }
        }

        /// Adds the integrals of weight[q] jump[q]^2 over the interfaces of the
        /// batch for component components[i].
        void
        add_squares(const unsigned int i)
        {
          for (const Range &r : ranges)
            {
              double sum = 0.;
              for (unsigned int q = r.begin; q < r.end; ++q)
                sum += facets.batch.weight[q] * std::max(weight[q], 0.) *
                       jump[q] * jump[q];
              energies[std::size_t(r.interface) * components.size() + i] += sum;
            }
        }

        void
        interior()
        {
          facets.reinit_side(0);
          facets.reinit_side(1);
          for (const Range &r : ranges)
            facets.add_shift(r.interface, r.begin, r.end);
          facets.evaluate_interior();
          const unsigned int n = facets.batch.size();
          weight.resize(n);
          for (unsigned int q = 0; q < n; ++q)
            weight[q] = facets.jump_weight(q);
          for (unsigned int i = 0; i < components.size(); ++i)
            {
              evaluate(0, components[i], jump);
              evaluate(1, components[i], other);
              for (unsigned int q = 0; q < n; ++q)
                jump[q] -= other[q];
              add_squares(i);
            }
        }

        void
        boundary(const unsigned int id)
        {
          const QuadratureBatch<dim> &batch = facets.batch;
          const unsigned int          n     = batch.size();
          facets.reinit_side(0);
          copy_points(batch, exact_points);
          exact.values(exact_points, exact_values);

          const FacetBlocks<dim> &blocks = facets.evaluate_boundary(id);
          weight.assign(blocks.c[0], blocks.c[0] + n);
          if (structure.b || structure.beta)
            {
              volume_arrays.reinit(n);
              problem.form.evaluate_volume(facets.volume_points(0),
                                           volume_arrays.blocks);
              for (unsigned int q = 0; q < n; ++q)
                {
                  double flow = 0.;
                  for (int d = 0; d < dim; ++d)
                    flow +=
                      batch.normal[d][q] *
                      ((structure.b ? volume_arrays.blocks.b[d][q] : 0.) +
                       (structure.beta ? volume_arrays.blocks.beta[d][q] : 0.));
                  weight[q] += .5 * flow;
                }
            }
          for (unsigned int i = 0; i < components.size(); ++i)
            {
              const unsigned int c = components[i];
              evaluate(0, c, jump);
              for (unsigned int q = 0; q < n; ++q)
                jump[q] -= exact_values[std::size_t(c) * n + q];
              add_squares(i);
            }
        }

        /// Points of one interface.
        struct Range
        {
          unsigned int interface, begin, end;
        };

        const DiscreteProblem<dim>      &problem;
        FunctionBatch<dim>               exact;
        const std::vector<unsigned int> &components;
        const double *const              u;
        std::vector<double>             &energies;
        const VolumeStructure            structure;
        VolumeArrays<dim>                volume_arrays;
        FacetPoints<dim>                 facets;
        std::vector<Range>               ranges;
        std::vector<double>              jump, other, weight, exact_values;
        std::vector<Point<dim>>          exact_points;
      };

      /// Terms of all owned polytopes, one entry for each polytope and each
      /// selected component, in this order. Collective.
      template <int dim>
      std::vector<Squares>
      volume_errors(const DiscreteProblem<dim>      &problem,
                    const Function<dim>             &exact,
                    const std::vector<unsigned int> &components,
                    const double                    *u)
      {
        const PolytopicMesh<dim>   &mesh  = problem.mesh;
        const PolytopicDoFs        &dofs  = problem.dofs;
        const std::size_t           m     = components.size();
        const std::vector<WorkItem> items = work_items(mesh, 64);
        std::vector<Squares>        partial(items.size() * m);
        apply_to_ranges(
          problem.handler.get_communicator(),
          items.size(),
          [&](const std::size_t begin, const std::size_t end) {
            QuadratureBatch<dim> batch;
            VolumeErrors<dim>    errors(problem, exact, components);
            for (std::size_t item = begin; item < end; ++item)
              {
                const unsigned int k = items[item].polytope;
                // At least dim + 1 points are needed for the divergence.
                const unsigned int order =
                  std::max(2 * dofs.degree[k] + problem.extra_order, 2U);
                batch.for_subcells(
                  mesh, items[item].begin, items[item].end, order, [&]() {
                    errors.add(batch,
                               k,
                               u + dofs.dof_offset[k],
                               partial.data() + item * m);
                  });
              }
          },
          8);
        std::vector<Squares> total(mesh.n_owned_polytopes() * m);
        for (std::size_t item = 0; item < items.size(); ++item)
          for (std::size_t c = 0; c < m; ++c)
            {
              Squares       &sum = total[items[item].polytope * m + c];
              const Squares &s   = partial[item * m + c];
              sum.L2 += s.L2;
              sum.H1 += s.H1;
              sum.energy += s.energy;
            }
        return total;
      }

      /// Energies of all interfaces, one entry for each interface and each
      /// selected component, in this order. Collective.
      template <int dim>
      std::vector<double>
      facet_errors(const DiscreteProblem<dim>      &problem,
                   const Function<dim>             &exact,
                   const std::vector<unsigned int> &components,
                   const double                    *u)
      {
        std::vector<double> memory;
        const double *const all =
          values_with_ghosts(problem.handler, u, memory);
        const unsigned int  n_interfaces = problem.mesh.n_interfaces();
        std::vector<double> energies(n_interfaces * components.size(), 0.);
        apply_to_ranges(
          problem.handler.get_communicator(),
          n_interfaces,
          [&](const unsigned int begin, const unsigned int end) {
            FacetErrors<dim> errors(problem, exact, components, all, energies);
            errors.compute(begin, end);
          },
          128);
        return energies;
      }

      /// Checks the arguments, computes the squares of the norms of the
      /// components that @p mask selects, and sums them over all processes,
      /// with the same bits for any number of them. Collective.
      template <int dim>
      std::vector<Squares>
      squares_of_errors(const AgglomerationHandler<dim> &handler,
                        const Form<dim>                 &form,
                        const std::vector<double>       &sigma,
                        const ConstVectorView           &solution,
                        const FunctionReference<dim>    &argument,
                        const unsigned int               extra_order,
                        const dealii::ComponentMask     &mask)
      {
        const Function<dim> &exact = check_function(handler, argument);
        check_mask(mask, handler.n_components());
        handler.tabulate(extra_order);
        const PolytopicMesh<dim> &mesh   = handler.polytopic_mesh();
        const FacetStructure      facets = form.facet_structure();
        const MPI_Comm            comm   = handler.get_communicator();
        on_all_processes(comm, [&]() {
          AssertThrow(
            sigma.size() == mesh.n_facets() ||
              (sigma.empty() && !(facets.facets && facets.penalty)),
            dealii::ExcMessage(
              "compute_errors() needs the penalty of every facet; pass "
              "what PolytopicAssembler::penalty() returns for this form "
              "and handler."));
        });
        form.prepare();
        const std::vector<unsigned int> components =
          selected_components(mask, handler.n_components());
        const std::size_t          m = components.size();
        std::vector<double>        memory;
        const double *const        u = own_values(handler, solution, memory);
        const DiscreteProblem<dim> problem(handler, form, sigma, extra_order);

        const std::vector<Squares> of_polytopes =
          volume_errors(problem, exact, components, u);
        std::vector<double> of_interfaces;
        if (facets.facets)
          of_interfaces = facet_errors(problem, exact, components, u);
        std::vector<Squares> result(m);
        std::vector<double>  terms;
        for (std::size_t c = 0; c < m; ++c)
          {
            const auto sum_of_all = [&](double Squares::*entry) {
              terms.clear();
              for (std::size_t i = c; i < of_polytopes.size(); i += m)
                terms.push_back(of_polytopes[i].*entry);
              if (entry == &Squares::energy)
                for (std::size_t i = c; i < of_interfaces.size(); i += m)
                  terms.push_back(of_interfaces[i]);
              result[c].*entry =
                value_of_all(comm, host_sum(terms.size(), terms.data()));
            };
            sum_of_all(&Squares::L2);
            sum_of_all(&Squares::H1);
            sum_of_all(&Squares::energy);
          }
        return result;
      }

      ErrorNorms
      norms_of(const Squares &squares)
      {
        return {std::sqrt(squares.L2),
                std::sqrt(squares.H1),
                std::sqrt(squares.energy)};
      }
    } // namespace



    template <int dim>
    ErrorNorms
    compute_errors(const AgglomerationHandler<dim> &handler,
                   const Form<dim>                 &form,
                   const std::vector<double>       &sigma,
                   const ConstVectorView           &solution,
                   const FunctionArgument<dim>     &exact,
                   const unsigned int               extra_order,
                   const dealii::ComponentMask     &mask)
    {
      Squares total;
      for (const Squares &s : squares_of_errors(
             handler, form, sigma, solution, exact, extra_order, mask))
        {
          total.L2 += s.L2;
          total.H1 += s.H1;
          total.energy += s.energy;
        }
      return norms_of(total);
    }



    template <int dim>
    std::vector<ErrorNorms>
    compute_component_errors(const AgglomerationHandler<dim>        &handler,
                             const std::vector<const Form<dim> *>   &forms,
                             const std::vector<std::vector<double>> &sigma,
                             const ConstVectorView                  &solution,
                             const FunctionArgument<dim>            &exact,
                             const unsigned int extra_order)
    {
      const unsigned int n_components = handler.n_components();
      AssertThrow((forms.size() == 1 || forms.size() == n_components) &&
                    sigma.size() == forms.size(),
                  ExcUserInput(
                    "compute_component_errors() needs one form and its penalty "
                    "for each of the " +
                    std::to_string(n_components) +
                    " components, or one for all, but it was given " +
                    std::to_string(forms.size()) + " forms and " +
                    std::to_string(sigma.size()) + " arrays of penalties."));
      std::vector<ErrorNorms> result;
      for (unsigned int f = 0; f < forms.size(); ++f)
        {
          dealii::ComponentMask mask;
          if (forms.size() > 1)
            {
              mask = dealii::ComponentMask(n_components, false);
              mask.set(f, true);
            }
          for (const Squares &s : squares_of_errors(handler,
                                                    *forms[f],
                                                    sigma[f],
                                                    solution,
                                                    exact,
                                                    extra_order,
                                                    mask))
            result.push_back(norms_of(s));
        }
      return result;
    }



#define TESSELLA_INSTANTIATE(dim)                                            \
  template ErrorNorms compute_errors<dim>(const AgglomerationHandler<dim> &, \
                                          const Form<dim> &,                 \
                                          const std::vector<double> &,       \
                                          const ConstVectorView &,           \
                                          const FunctionArgument<dim> &,     \
                                          const unsigned int,                \
                                          const dealii::ComponentMask &);    \
  template std::vector<ErrorNorms> compute_component_errors<dim>(            \
    const AgglomerationHandler<dim> &,                                       \
    const std::vector<const Form<dim> *> &,                                  \
    const std::vector<std::vector<double>> &,                                \
    const ConstVectorView &,                                                 \
    const FunctionArgument<dim> &,                                           \
    const unsigned int);

    TESSELLA_INSTANTIATE(2)
    TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
  } // namespace VectorTools
} // namespace Tessella
