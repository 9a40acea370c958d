// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "form_preparation.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <tessella/grid/revision.h>
#include <tessella/quadrature/quadrature_order.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "facet_penalty.h"
#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    template <int dim>
    FormPreparation<dim>::FormPreparation(AssemblyContext<dim> &context,
                                          const bool            compression)
      : context(context)
      , compression(compression)
    {}



    template <int dim>
    void
    FormPreparation<dim>::start(const Form<dim> &form)
    {
      diffusion.clear();
      form.prepare();
    }



    template <int dim>
    typename FormPreparation<dim>::Sigma
    FormPreparation<dim>::prepare(const Form<dim>   &form,
                                  const bool         keep_diffusion,
                                  const bool         later,
                                  const unsigned int n_components)
    {
      const Timer timer;
      const bool  penalty = form.facet_structure().penalty;
      context.structure.on_all_processes([&]() {
        check(penalty, n_components);
        prepare_rules(form.coefficient_order());
        compress(form);
      });
      const PolytopicMesh<dim> &mesh = context.mesh();
      if (penalty)
        {
          context.space->fill_penalty_factors(
            context.parameters.penalty.formula);
          context.report.geometry_time = timer.wall_time();
        }

      const VolumeStructure structure = form.volume_structure();
      if (!penalty || structure.diffusion == DiffusionType::none)
        {
          // Keeping the zeros lets forms with and without penalty alternate.
          if (no_sigma.size() != mesh.n_facets())
            {
              no_sigma.assign(mesh.n_facets(), 0.);
              no_sigma_revision = new_revision();
            }
          return {&no_sigma, no_sigma_revision};
        }
      if (later && !structure.constant)
        return {&no_sigma, 0};
      return find_sigma(form, keep_diffusion);
    }



    template <int dim>
    void
    FormPreparation<dim>::check(const bool         penalty,
                                const unsigned int n_components) const
    {
      const unsigned int n        = context.space->n_components();
      const double       constant = context.parameters.penalty.constant;
      AssertThrow(n == n_components,
                  ExcMessage("The form is scalar, but the element has " +
                             std::to_string(n) +
                             " components: take a SystemForm, or write the "
                             "form with PolytopeValues."));
      AssertThrow(!penalty || (constant >= 0. && std::isfinite(constant)),
                  ExcMessage("The penalty constant is " +
                             std::to_string(constant) +
                             ", but it must be a finite number that is not"
                             " negative."));
    }



    template <int dim>
    void
    FormPreparation<dim>::prepare_rules(const unsigned int coefficient_order)
    {
      const PolytopicSpace<dim> &space    = *context.space;
      const SpaceRevision        revision = context.revision();
      if (degree_revision != revision || !revision.is_known())
        {
          max_degree      = space.max_degree();
          degree_revision = revision;
        }
      space.tabulate(integrand_degree(dim,
                                      max_degree,
                                      coefficient_order,
                                      space.polynomial_space() ==
                                        PolynomialSpaceType::tensor_product) -
                     2 * max_degree);
      if (present_rules == nullptr || rules_revision != revision ||
          !revision.is_known() || rules_order != coefficient_order)
        {
          present_rules  = std::make_unique<HostRules<dim>>(context.mesh(),
                                                           context.dofs(),
                                                           coefficient_order);
          rules_revision = revision;
          rules_order    = coefficient_order;
        }
    }



    template <int dim>
    bool
    FormPreparation<dim>::may_compress(const VolumeStructure &structure) const
    {
      const PolytopicMesh<dim> &mesh = context.mesh();
      constexpr unsigned int    tabulated =
        1u << static_cast<unsigned int>(SubCellType::tabulated);
      return compression && dim < 4 &&
             context.parameters.compression != QuadratureCompression::never &&
             !structure.cellwise && !mesh.prismatic &&
             context.space->n_components() == 1 &&
             context.revision().is_known() &&
             context.space->polynomial_space() ==
               PolynomialSpaceType::total_degree &&
             (subcell_types(mesh) & tabulated) == 0;
    }



    template <int dim>
    void
    FormPreparation<dim>::compress(const Form<dim> &form)
    {
      const VolumeStructure structure = form.volume_structure();
      present_rules->compressed       = nullptr;
      context.report.compression      = CompressionReport();
      if (compressed_revision != context.revision())
        compressed.clear();
      compressed_revision = context.revision();
      if (!may_compress(structure))
        return;
      // Products of derivatives with constant coefficients have a lower degree.
      const bool gradients = structure.constant && !structure.beta &&
                             !structure.b && !structure.c &&
                             (structure.constant_f || !structure.f);
      Compressed &entry = compressed[{rules_order, gradients}];
      ++entry.n_assemblies;
      if constexpr (dim < 4)
        if (entry.points == nullptr &&
            (context.parameters.compression == QuadratureCompression::always ||
             entry.n_assemblies == 3))
          {
            std::vector<unsigned int> order(max_degree + 1);
            for (unsigned int p = 0; p <= max_degree; ++p)
              order[p] = gradients
                           ? std::max({2 * p, p + 2, 3u}) - 2
                           : quadrature_order(dim, p, rules_order, false);
            entry.points =
              std::make_shared<CompressedQuadrature<dim>>(context.mesh(),
                                                          context.dofs(),
                                                          order);
          }
      present_rules->compressed = entry.points;
      if (entry.points != nullptr)
        context.report.compression = entry.points->report;
    }



    template <int dim>
    typename FormPreparation<dim>::Sigma
    FormPreparation<dim>::find_sigma(const Form<dim> &form,
                                     const bool       keep_diffusion)
    {
      const PolytopicMesh<dim> &mesh     = context.mesh();
      const PolytopicDoFs      &dofs     = context.dofs();
      const double              constant = context.parameters.penalty.constant;
      if (!form.volume_structure().constant)
        {
          compute_varying_sigma(form, keep_diffusion);
          return {&sigma, sigma_revision};
        }

      const std::vector<double> a = constant_diffusion(mesh, form);
      // Data that sigma depends on.
      std::vector<double> key = a;
      key.push_back(constant);
      const std::array<std::uint64_t, 4> revisions = {{mesh.revision,
                                                       mesh.quadrature_revision,
                                                       dofs.revision,
                                                       dofs.penalty_revision}};
      if (!context.revision().is_known() || sigma_revision == 0 ||
          revisions != sigma_revisions || key != sigma_key)
        {
          sigma_revision = 0;
          constant_penalty(mesh, dofs, a, constant, sigma);
          sigma_revision  = new_revision();
          sigma_revisions = revisions;
          sigma_key       = key;
        }
      return {&sigma, sigma_revision};
    }



    template <int dim>
    void
    FormPreparation<dim>::compute_varying_sigma(const Form<dim> &form,
                                                const bool       keep_diffusion)
    {
      const PolytopicMesh<dim> &mesh      = context.mesh();
      const PolytopicDoFs      &dofs      = context.dofs();
      const VolumeStructure     structure = form.volume_structure();
      sigma_revision                      = 0;
      sigma_key.clear();
      const bool keep =
        keep_diffusion && !structure.penalty_diffusion &&
        diffusion.reinit(mesh,
                         dofs,
                         *present_rules,
                         structure.diffusion == DiffusionType::tensor
                           ? dim * dim
                           : 1,
                         diffusion_values_limit(mesh, dofs));
      std::vector<double> a_bar;
      context.structure.on_all_processes([&]() {
        largest_diffusion(problem(form), a_bar, keep ? &diffusion : nullptr);
      });
      if (context.structure.n_processes > 1)
        context.space->exchange_facet_values(a_bar);
      penalty_from_diffusion(dofs,
                             context.parameters.penalty.constant,
                             a_bar,
                             sigma);
      sigma_revision = new_revision();
    }



    template <int dim>
    typename FormPreparation<dim>::Sigma
    FormPreparation<dim>::sigma_from_diffusion(std::vector<double> &a_bar)
    {
      context.space->exchange_facet_values(a_bar);
      penalty_from_diffusion(context.dofs(),
                             context.parameters.penalty.constant,
                             a_bar,
                             sigma);
      // These values are not interchangeable with those of the host.
      sigma_revision = 0;
      return {&sigma, new_revision()};
    }



    template <int dim>
    HostProblem<dim>
    FormPreparation<dim>::problem(const Form<dim> &form) const
    {
      return {context.mesh(),
              context.dofs(),
              form,
              *present_rules,
              select_kernels<dim>(context.parameters.instruction_set)};
    }



    template <int dim>
    bool
    FormPreparation<dim>::varies(const Form<dim> &form)
    {
      const VolumeStructure structure = form.volume_structure();
      return !structure.constant &&
             structure.diffusion != DiffusionType::none &&
             form.facet_structure().penalty;
    }



    template class FormPreparation<2>;
    template class FormPreparation<3>;
    template class FormPreparation<4>;
  } // namespace internal
} // namespace Tessella
