// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_form_preparation_h
#define tessella_source_backends_form_preparation_h

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "assembly_context.h"
#include "diffusion_values.h"
#include "host_points.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Data of a form that the host prepares before it computes block rows:
     * quadrature rules and sigma of each facet. Results are kept until the
     * mesh, the space, the order of the quadrature, the diffusion or the
     * penalty changes.
     */
    template <int dim>
    class FormPreparation
    {
    public:
      /// sigma of every facet, and a revision that identifies the values.
      struct Sigma
      {
        const std::vector<double> *values;
        std::uint64_t              revision;
      };

      /// @p compression: whether the parameter of this name is obeyed.
      explicit FormPreparation(AssemblyContext<dim> &context,
                               const bool            compression = false);

      /// Begins work for a form, whose coefficients may have changed.
      void
      start(const Form<dim> &form);

      /**
       * Prepares the quadrature and sigma for @p form. Diffusion values that
       * the computation of sigma evaluates are kept if @p keep_diffusion. A
       * sigma that varies in space is left to the caller if @p later.
       * @p n_components is the number of components that the space must have.
       * Collective.
       */
      Sigma
      prepare(const Form<dim>   &form,
              const bool         keep_diffusion = false,
              const bool         later          = false,
              const unsigned int n_components   = 1);

      /// Prepares the rules for forms of an order. Not collective.
      void
      prepare_rules(const unsigned int coefficient_order);

      /// Sigma of a form with penalty and diffusion. Collective.
      Sigma
      find_sigma(const Form<dim> &form, const bool keep_diffusion);

      /// Sigma that follows from a-bar of the polytopes of this process, which
      /// a device has computed, at index 2 * facet + side. Collective.
      Sigma
      sigma_from_diffusion(std::vector<double> &a_bar);

      /// Whether sigma of the form varies in space.
      static bool
      varies(const Form<dim> &form);

      /// The form with the present rules.
      HostProblem<dim>
      problem(const Form<dim> &form) const;

      const HostRules<dim> &
      rules() const
      {
        return *present_rules;
      }
      /// Order of the forms for which there are rules; initially 0.
      unsigned int
      coefficient_order() const
      {
        return rules_order;
      }
      /// Diffusion values that were kept for the present form, or null.
      const DiffusionValues<dim> *
      kept_diffusion() const
      {
        return diffusion.empty() ? nullptr : &diffusion;
      }

    private:
      void
      check(const bool penalty, const unsigned int n_components) const;

      /// Makes or removes a compressed quadrature, for forms of the order for
      /// which there are rules. Not collective.
      void
      compress(const Form<dim> &form);

      /// Whether the quadrature of a form may be compressed, on all processes.
      bool
      may_compress(const VolumeStructure &structure) const;

      /// Computes sigma of a diffusion that varies in space.
      void
      compute_varying_sigma(const Form<dim> &form, const bool keep_diffusion);

      AssemblyContext<dim> &context;
      const bool            compression;

      // Results and their revisions (0: none).
      SpaceRevision                   degree_revision, rules_revision;
      unsigned int                    max_degree = 0, rules_order = 0;
      std::unique_ptr<HostRules<dim>> present_rules;
      // Compressed quadratures by degree of the integrand (order and whether it
      // is a product of derivatives), and numbers of assemblies.
      struct Compressed
      {
        unsigned int                                     n_assemblies = 0;
        std::shared_ptr<const CompressedQuadrature<dim>> points;
      };
      std::map<std::pair<unsigned int, bool>, Compressed> compressed;
      SpaceRevision                                       compressed_revision;
      std::vector<double>          sigma, sigma_key, no_sigma;
      std::uint64_t                sigma_revision = 0, no_sigma_revision = 0;
      std::array<std::uint64_t, 4> sigma_revisions = {};
      DiffusionValues<dim>         diffusion; // of the present form only
    };
  } // namespace internal
} // namespace Tessella

#endif
