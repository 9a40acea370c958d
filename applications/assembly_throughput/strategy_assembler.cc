// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "strategy_assembler.h"

#include <deal.II/base/timer.h>

#include <tessella/device/cuda_device.h>
#include <tessella/grid/revision.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "../../cuda/lac/vector.h"
#include "../../source/backends/cuda_backend.h"
#include "../../source/backends/cuda_tabulation.h"
#include "../../source/backends/host_dispatch.h"
#include "../../source/device/device_call.h"
#include "paper_strategies.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      // Begin of messages about a strategy, and their end.
      std::string
      the_strategy(const AssemblyStrategy strategy)
      {
        return "The assembly strategy " + name(strategy);
      }

      std::string
      use_block_rows()
      {
        return "the strategy " + name(AssemblyStrategy::block_rows);
      }

      template <int dim>
      void
      check_mesh(const AssemblyStrategy    strategy,
                 const PolytopicMesh<dim> &mesh,
                 const PolytopicDoFs      &dofs)
      {
        const auto not_simplices = [&](const std::string &what) {
          return ExcMessage(the_strategy(strategy) +
                            " serves meshes of simplices only, but this one "
                            "has " +
                            what +
                            " of another type: convert the mesh to simplices, "
                            "or use " +
                            use_block_rows() + ".");
        };
        for (const SubCellType type : mesh.subcell_type)
          AssertThrow(type == SubCellType::simplex, not_simplices("sub-cells"));
        for (const FacetType type : mesh.facet_type)
          AssertThrow(type == FacetType::simplex, not_simplices("facets"));
        AssertThrow(dofs.dof_offset.back() < 0xFFFFFFFFull,
                    ExcMessage(the_strategy(strategy) +
                               " serves up to 2^32 - 2 degrees of freedom: "
                               "use " +
                               use_block_rows() + "."));
      }



      // The rules of a mesh of simplices for spaces up to a degree.
      template <int dim>
      SimplexRules
      make_simplex_rules(const internal::HostRules<dim> &rules,
                         const unsigned int              max_degree)
      {
        SimplexRules result;
        const auto   add = [&](SimplexRules::Rule                &entry,
                             const internal::HostKernels::Rule &rule,
                             const unsigned int                 rule_dim) {
          entry = {result.data.size(), rule.n_points};
          for (unsigned int q = 0; q < rule.n_points; ++q)
            {
              for (unsigned int d = 0; d < rule_dim; ++d)
                result.data.push_back(rule.points[d * rule.n_padded + q]);
              result.data.push_back(rule.weights[q]);
            }
        };
        for (unsigned int p = 0; p <= max_degree; ++p)
          {
            add(result.subcell[p], rules.subcell(SubCellType::simplex, p), dim);
            add(result.facet[p], rules.facet(FacetType::simplex, p), dim - 1);
          }
        return result;
      }



      // Data of a form with tables of all coefficients but the constant ones of
      // the matrix.
      template <int dim>
      internal::Device::FormData<dim>
      make_tabulated_form(const PolytopicMesh<dim>               &mesh,
                          const Form<dim>                        &form,
                          const internal::AssemblyTarget<double> &target)
      {
        internal::Device::FormData<dim> data = internal::make_form_data(
          mesh, form, target.has_matrix(), target.has_rhs());
        if (data.constant_f)
          {
            data.volume_layout.f = 0;
            data.volume_layout.n = 1;
          }
        data.constant_f      = false;
        data.same_f          = false;
        data.penalty_facets  = false;
        data.packed_facets   = false;
        data.constant_bottom = false;
        data.facet_layout =
          internal::make_facet_layout(form.facet_structure(), data);
        return data;
      }



      /// Assembly by PaperAssembler. Its data on the device are kept until the
      /// mesh, the space or the order of quadrature changes.
      template <int dim>
      class StrategyBackend : public internal::AssemblyBackend<dim>
      {
      public:
        StrategyBackend(internal::AssemblyContext<dim> &context,
                        const AssemblyStrategy          strategy)
          : internal::AssemblyBackend<dim>(context)
          , strategy(strategy)
        {
          if (context.parameters.device >= 0)
            context.report.device =
              choose_cuda_device(context.structure.communicator,
                                 context.parameters.device);
        }

        Backend
        type() const override
        {
          return Backend::cuda;
        }

        void
        assemble(const Form<dim> &form,
                 const typename internal::AssemblyBackend<dim>::Target
                   &destination) override
        {
          const auto *const in_double =
            std::get_if<const internal::AssemblyTarget<double> *>(&destination);
          AssertThrow(in_double != nullptr,
                      ExcMessage(the_strategy(strategy) +
                                 " computes in double precision only: use " +
                                 use_block_rows() + "."));
          const internal::AssemblyTarget<double> &target = **in_double;
          // Assembly does not wait for the default stream by itself.
          if (target.device_values != nullptr || target.device_rhs != nullptr)
            internal::device_call([] { internal::Device::synchronize(); });
          const Timer     timer;
          AssemblyReport &report = context.report;
          preparation.start(form);
          report.coefficients = internal::describe_host_coefficients(form);
          const std::vector<double> &sigma =
            *preparation.prepare(form, target.has_matrix()).values;
          try
            {
              const internal::Device::Times times = run(form, sigma, target);
              internal::report_times(times, report);
              // time except for the loop over parts
              report.preparation_time =
                timer.wall_time() - report.geometry_time - times.loop;
            }
          catch (const internal::Device::Error &error)
            {
              // Data on the device may be incomplete.
              assembler.reset();
              AssertThrow(false, ExcMessage(error.what()));
            }
        }

      private:
        using internal::AssemblyBackend<dim>::context;
        using internal::AssemblyBackend<dim>::preparation;

        internal::Device::Times
        run(const Form<dim>                        &form,
            const std::vector<double>              &sigma,
            const internal::AssemblyTarget<double> &target)
        {
          const PolytopicMesh<dim>             &mesh = context.mesh();
          const internal::Device::FormData<dim> data =
            make_tabulated_form(mesh, form, target);
          update();
          const internal::HostTabulation<dim> host = {
            mesh,
            context.dofs(),
            form,
            preparation.rules(),
            internal::select_kernels<dim>(context.parameters.instruction_set),
            data};
          const auto tabulate = [&](const internal::Device::Chunk &chunk,
                                    double                        *volume_table,
                                    double *facet_table) {
            internal::for_polytopes(
              chunk.end - chunk.begin,
              [&](const unsigned int begin, const unsigned int end) {
                if (data.volume_layout.n > 0)
                  host.volume({assembler->points().subcell, 0},
                              chunk,
                              chunk.begin + begin,
                              chunk.begin + end,
                              volume_table,
                              preparation.kept_diffusion());
                if (chunk.n_facet_points > 0 && data.facet_layout.n > 0)
                  host.facets(sigma.data(),
                              {assembler->points().entry, 0},
                              chunk,
                              chunk.begin + begin,
                              chunk.begin + end,
                              facet_table);
              });
          };
          return assembler->assemble(data, sigma.data(), tabulate, target);
        }

        // Makes the assembler for the present mesh, space and order.
        void
        update()
        {
          const SpaceRevision revision = context.revision();
          if (assembler != nullptr && revision.is_known() &&
              revision == present &&
              preparation.coefficient_order() == present_order)
            return;
          assembler.reset();
          const PolytopicMesh<dim> &mesh = context.mesh();
          const PolytopicDoFs      &dofs = context.dofs();
          check_mesh(strategy, mesh, dofs);
          const unsigned int max_degree =
            *std::max_element(dofs.degree.begin(), dofs.degree.end());
          const PolynomialSpaceType  space = context.space->polynomial_space();
          std::vector<unsigned char> exponents(
            dim * Legendre::n_functions(dim, max_degree, space));
          Legendre::exponents(dim, max_degree, space, exponents.data());
          assembler     = std::make_unique<PaperAssembler<dim>>(PaperInput<dim>{
                strategy,
                mesh,
                dofs,
                context.structure.blocks,
                make_simplex_rules(preparation.rules(), max_degree),
                exponents,
                [](const std::size_t                                    n,
               const std::size_t                                    size,
               const std::function<void(std::size_t, std::size_t)> &function) {
              internal::for_ranges(n, size, function);
            },
                context.parameters.device_memory});
          present       = revision;
          present_order = preparation.coefficient_order();
        }

        const AssemblyStrategy               strategy;
        SpaceRevision                        present;
        unsigned int                         present_order = 0;
        std::unique_ptr<PaperAssembler<dim>> assembler;
      };



      // Throws if the strategy cannot run.
      template <int dim>
      std::unique_ptr<internal::AssemblyBackend<dim>>
      make_strategy_backend(internal::AssemblyContext<dim> &context,
                            const AssemblyStrategy          strategy)
      {
        AssertThrow(context.structure.n_processes == 1,
                    ExcMessage(the_strategy(strategy) +
                               " runs on one process only: use " +
                               use_block_rows() + "."));
        AssertThrow(context.parameters.backend != Backend::host &&
                      cuda_is_available(),
                    ExcMessage(the_strategy(strategy) +
                               " runs on a CUDA device only: take the backend "
                               "cuda on a machine that has one, or " +
                               use_block_rows() + "."));
        if constexpr (dim == 4)
          {
            AssertThrow(false,
                        ExcMessage(the_strategy(strategy) +
                                   " works on meshes of two and three "
                                   "variables: use " +
                                   use_block_rows() +
                                   " for slabs of three space dimensions and "
                                   "time."));
          }
        else if constexpr (internal::with_cuda)
          return std::make_unique<StrategyBackend<dim>>(context, strategy);
        return nullptr;
      }
    } // namespace



    template <int dim>
    StrategyAssembler<dim>::StrategyAssembler(
      const PolytopicSpace<dim> &space,
      const AssemblyStrategy     strategy,
      const AssemblyParameters  &parameters)
      : procedure(space,
                  parameters,
                  [strategy](internal::AssemblyContext<dim> &context) {
                    return make_strategy_backend(context, strategy);
                  })
    {}



    template class StrategyAssembler<2>;
    template class StrategyAssembler<3>;
    template class StrategyAssembler<4>;
  } // namespace Application
} // namespace Tessella
