// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Host side of hybridizable dG on a CUDA device.

#include <deal.II/base/array_view.h>
#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>

#include <tessella/forms/device_coefficients.h>
#include <tessella/grid/revision.h>
#include <tessella/lac/device_vector.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../../cuda/lac/vector.h"
#include "../backends/host_dispatch.h"
#include "../device/device_call.h"
#include "../device/device_share.h"
#include "../grid/mesh_points.h"
#include "device_tabulation.h"
#include "hdg_backend.h"
#include "interface_sides.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      const Device::Parallel parallel_ranges =
        [](const std::size_t n, const std::size_t size, const auto &function) {
          for_ranges(n, size, function);
        };

      // Reference rules that PolytopeQuadrature and InterfaceQuadrature use.
      template <int dim>
      Device::RuleTables
      make_rules(const PolytopicMesh<dim>        &mesh,
                 const std::vector<unsigned int> &order)
      {
        Device::RuleTables tables;
        const auto         add = [&](Device::RuleTables::Entry &entry,
                             const ReferenceRule       &rule) {
          entry.n_points = rule.n_points;
          entry.offset   = tables.data.size();
          tables.data.insert(tables.data.end(),
                             rule.points.begin(),
                             rule.points.end());
          tables.data.insert(tables.data.end(),
                             rule.weights.begin(),
                             rule.weights.end());
        };
        const auto has = [](const auto &types, const auto type) {
          return std::find(types.begin(), types.end(), type) != types.end();
        };
        for (unsigned int p = 0; p < order.size(); ++p)
          {
            for (const SubCellType type : {SubCellType::simplex,
                                           SubCellType::parallelepiped,
                                           SubCellType::hypercube})
              if (has(mesh.subcell_type, type))
                add(tables.subcell[static_cast<unsigned int>(type)][p],
                    subcell_rule<dim>(type, order[p]));
            for (const FacetType type :
                 {FacetType::simplex, FacetType::quadrilateral})
              if (has(mesh.facet_type, type))
                add(tables.facet[static_cast<unsigned int>(type)][p],
                    facet_rule<dim>(type, order[p]));
          }
        return tables;
      }

      // For each degree, the degree whose rule integrates squares of
      // polynomials. Lower degrees have rules of lower order.
      std::vector<unsigned int>
      mass_degrees(const std::vector<unsigned int> &order,
                   const unsigned int               factor)
      {
        std::vector<unsigned int> result;
        for (unsigned int p = 0; p < order.size(); ++p)
          {
            unsigned int least = p;
            while (least > 0 && order[least - 1] >= 2 * p * factor)
              --least;
            result.push_back(least);
          }
        return result;
      }

      void
      download(const double *from, double *to, const std::size_t n)
      {
        device_call(
          [&] { Device::download_array(from, to, n, parallel_ranges); });
      }

      void
      upload(const double *from, double *to, const std::size_t n)
      {
        device_call([&] { Device::upload(to, from, n); });
      }



      template <int dim>
      Device::HDGInput<dim>
      make_input(const LocalProblem<dim> &problem,
                 const TraceSystem<dim>  &system)
      {
        const PolytopicMesh<dim>  &mesh      = problem.mesh;
        const TraceNumbering<dim> &numbering = system.numbering;
        std::vector<bool>          fixed(mesh.n_interfaces());
        for (unsigned int i = 0; i < fixed.size(); ++i)
          fixed[i] = system.is_dirichlet(problem.form, i);
        return {mesh,
                problem.dofs,
                problem.trace,
                {numbering.block_of_interface,
                 numbering.interface_of_block,
                 numbering.dof_offset,
                 numbering.sparsity,
                 fixed},
                make_rules(mesh, problem.order),
                mass_degrees(problem.order, problem.tensor_product ? dim : 1),
                problem.exponents,
                parallel_ranges};
      }



      /// The object on the device for a mesh and quadrature rules.
      template <int dim>
      struct CUDASetup
      {
        CUDASetup(const LocalProblem<dim> &problem,
                  const TraceSystem<dim>  &system)
          : revision{problem.mesh.revision, problem.dofs.revision}
          , quadrature_revision(problem.mesh.quadrature_revision)
          , order(problem.order)
          , plan(make_input(problem, system))
        {
          // Ghost polytopes have no boundary interfaces.
          const PolytopicMesh<dim> &mesh = problem.mesh;
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            if (mesh.interface_polytope[2 * std::size_t(i) + 1] ==
                invalid_index)
              boundary_ids.insert(mesh.interface_boundary_id[i]);
        }

        const SpaceRevision                        revision;
        const std::uint64_t                        quadrature_revision;
        const std::vector<unsigned int>            order;
        std::set<unsigned int>                     boundary_ids;
        Device::HDGPlan<dim>                       plan;
        std::unique_ptr<Device::HDGAssembler<dim>> device;
      };



      /**
       * Hybridizable dG on a CUDA device. The host supplies reference
       * quadrature rules and the tables of DeviceTabulation, turns error codes
       * of the device into error messages, and gathers the trace matrix if
       * there are several processes.
       */
      template <int dim>
      class CUDAHDG : public HDGBackend<dim>
      {
      public:
        explicit CUDAHDG(TraceSystem<dim> &system)
          : HDGBackend<dim>(system, Backend::cuda)
        {}

        void
        clear() override
        {
          setup.reset();
        }

        void
        assemble(const Form<dim> &form, double *values, double *rhs) override
        {
          if (system.n_processes == 1)
            {
              const std::size_t n_values = system.numbering.sparsity
                                             .n_nonzero_elements(),
                                n_dofs = system.numbering.n_dofs();
              device_values.reinit(n_values + n_dofs, true);
              double *const result = device_values.begin();
              assemble_on_device(form, result, result + n_values);
              const Timer timer;
              download(result, values, n_values);
              download(result + n_values, rhs, n_dofs);
              system.report.copy_time = timer.wall_time();
              return;
            }
          const LocalProblem<dim> problem = system.local_problem(form);
          set_up(problem);
          dirichlet_is_here = false;
          if (system.data.device_memory == 0)
            setup->device->device_memory =
              share_of_device_memory(system.communicator,
                                     processes_on_device(system.communicator),
                                     setup->device->memory());
          LocalBlocks blocks;
          system.on_all_processes([&] { generate(problem, blocks); });
          system.gather(blocks, values, rhs);
        }

        void
        recover(const Form<dim>     &form,
                const TraceUnknowns &traces,
                double              *solution,
                double              *flux) override
        {
          system.on_all_processes([&] {
            const PolytopicMesh<dim> &mesh = system.mesh();
            const std::uint64_t       n_ghosts =
              system.numbering.dof_offset.back() - traces.n_owned;
            const unsigned int n_polytopes = mesh.n_owned_polytopes();
            const std::size_t  n =
              n_polytopes > 0 ? system.dofs().dof_offset[n_polytopes] : 0;
            DeviceVector<double> all, u, q;
            all.reinit(traces.n_owned + n_ghosts, true);
            u.reinit(n, true);
            q.reinit(dim * n, true);
            upload(traces.own, all.begin(), traces.n_owned);
            upload(traces.ghosts, all.begin() + traces.n_owned, n_ghosts);
            recover_on_device(form, all.begin(), u.begin(), q.begin());
            download(u.begin(), solution, n);
            download(q.begin(), flux, dim * n);
          });
        }

        void
        fetch_dirichlet() override
        {
          if (dirichlet_is_here || setup == nullptr)
            return;
          std::vector<double> values;
          device_call([&] { setup->device->download_dirichlet(values); });
          // Ghost polytopes have no boundary interfaces, so side 0 is an own
          // polytope.
          for (unsigned int i = 0; i < system.mesh().n_interfaces(); ++i)
            if (system.has_dirichlet_coefficients(i))
              std::copy_n(values.begin() + first_trace(i),
                          system.dirichlet_offset[i + 1] -
                            system.dirichlet_offset[i],
                          system.dirichlet.begin() +
                            system.dirichlet_offset[i]);
          dirichlet_is_here = true;
        }

        void
        reinit_on_device(const Form<dim> &form) override
        {
          set_up(system.local_problem(form));
        }

        void
        assemble_on_device(const Form<dim> &form,
                           double          *values,
                           double          *rhs) override
        {
          const LocalProblem<dim> problem = system.local_problem(form);
          set_up(problem);
          dirichlet_is_here = false;
          run(problem, [&](const Device::HDGProblem<dim> &device_problem) {
            return setup->device->assemble(device_problem,
                                           system.data.local_solvers ==
                                             LocalSolvers::keep,
                                           values,
                                           rhs);
          });
          system.report.copy_time = 0.;

          system.find_free_parts(fixes_constant);
          if (system.free_parts.size() == 0)
            return;
          // This case is rare, and its copies take little of the total time.
          const TraceNumbering<dim> &numbering = system.numbering;
          std::vector<double>        host_values(
            numbering.sparsity.n_nonzero_elements()),
            host_rhs(numbering.n_owned_dofs()), integral, abs_f;
          download(values, host_values.data(), host_values.size());
          download(rhs, host_rhs.data(), host_rhs.size());
          device_call(
            [&] { setup->device->download_balance(integral, abs_f); });
          const DeviceTabulation<dim> tabulation(problem, setup->plan);
          system.free_parts.fix_constants(
            [&](const unsigned int k) {
              return abs_f[k] + tabulation.integral_abs_g(k);
            },
            [&](const unsigned int i) {
              return integral.data() + first_trace(i);
            },
            host_values.data(),
            host_rhs.data());
          upload(host_values.data(), values, host_values.size());
          upload(host_rhs.data(), rhs, host_rhs.size());
        }

        void
        recover_on_device(const Form<dim> &form,
                          const double    *traces,
                          double          *solution,
                          double          *flux) override
        {
          const LocalProblem<dim> problem = system.local_problem(form);
          AssertThrow(fits(problem),
                      ExcMessage("HDG::recover() needs the form of the last "
                                 "assemble()."));
          const Device::HDGProblem<dim> device_problem =
            setup->device->is_kept ? Device::HDGProblem<dim>()
                                   : make_problem(problem);
          HDGReport &report       = system.report;
          report.local_solve_time = device_call([&] {
            return setup->device->recover(device_problem,
                                          traces,
                                          solution,
                                          flux);
          });
          report.local_solve_operations =
            report.local_solver_memory > 0.
              ? 2. * report.local_solver_memory / 8.
              : report.local_generation_operations;
        }

      private:
        using Setup = CUDASetup<dim>;
        using HDGBackend<dim>::system;

        bool
        fits(const LocalProblem<dim> &problem) const
        {
          return setup != nullptr &&
                 setup->revision == SpaceRevision{problem.mesh.revision,
                                                  problem.dofs.revision} &&
                 problem.mesh.quadrature_revision ==
                   setup->quadrature_revision &&
                 problem.order == setup->order;
        }

        /// Makes setup if it does not fit. Collective.
        void
        set_up(const LocalProblem<dim> &problem)
        {
          if (fits(problem))
            return;
          setup.reset();
          std::unique_ptr<Setup> next;
          system.on_all_processes(
            [&] { next = std::make_unique<Setup>(problem, system); });
          const Device::HDGSizes own   = next->plan.sizes;
          Device::HDGSizes       sizes = own;
          if (system.n_processes > 1)
            Utilities::MPI::max(
              ArrayView<const unsigned int>(own.data(), own.size()),
              system.communicator,
              ArrayView<unsigned int>(sizes.data(), sizes.size()));
          next->plan.set_sizes(sizes);
          system.on_all_processes([&] {
            device_call([&] {
              next->device = Device::HDGAssembler<dim>::create(next->plan);
            });
          });
          next->device->device_memory = system.data.device_memory;
          setup                       = std::move(next);
        }

        using Assembly =
          std::function<Device::HDGTimes(const Device::HDGProblem<dim> &)>;
        /// Runs an assembly, turns its failures into exceptions, finds out
        /// which polytopes fix the constant, and fills the report.
        void
        run(const LocalProblem<dim> &problem, const Assembly &assembly)
        {
          const Timer                   timer;
          const Device::HDGProblem<dim> device_problem = make_problem(problem);
          const Device::HDGTimes        times =
            device_call([&] { return assembly(device_problem); });
          const Device::HDGForm<dim> &form = device_problem.form;
          if (!form.advection && (form.table_c >= 0 || device_problem.robin) &&
              system.mesh().n_owned_polytopes() > 0)
            {
              std::vector<char> fixed;
              device_call([&] { setup->device->download_fixed(fixed); });
              for (unsigned int k = 0; k < fixed.size(); ++k)
                fixes_constant[k] = fixes_constant[k] || fixed[k];
            }
          if (setup->device->failed_polytope != invalid_index)
            problem.throw_failure(setup->device->failure,
                                  setup->device->failed_polytope);

          HDGReport &report = system.report;
          report.coefficient_time =
            timer.wall_time() - times.generation - times.gather;
          report.local_generation_time       = times.generation;
          report.global_assembly_time        = times.gather;
          report.local_generation_operations = setup->device->operations();
          report.local_solver_memory         = times.solver_bytes;
          report.trace_block_memory          = times.trace_bytes;
          report.n_tiles                     = times.n_tiles;
        }

        Device::HDGProblem<dim>
        make_problem(const LocalProblem<dim> &problem)
        {
          const PolytopicMesh<dim> &mesh      = system.mesh();
          const VolumeStructure     structure = problem.form.volume_structure();
          const DeviceTabulation<dim> tabulation(problem, setup->plan);
          Device::HDGProblem<dim>     result;
          const Device::HDGForm<dim>  form = result.form = tabulation.form();
          fixes_constant.assign(mesh.n_owned_polytopes(),
                                form.advection ||
                                  (structure.constant && form.c != 0.));
          result.robin = std::any_of(setup->boundary_ids.begin(),
                                     setup->boundary_ids.end(),
                                     [&](const unsigned int id) {
                                       return problem.form.boundary_type(id) ==
                                              BoundaryType::robin;
                                     });
          if (problem.tau_of_facet)
            result.tau = tabulation.tau();
          else
            problem.check_tau(problem.tau, 0);

          // Coefficients are evaluated by the device or by the host.
          std::string &description = system.report.coefficients;
          coefficients             = problem.form.device_coefficients();
          if (coefficients != nullptr &&
              !coefficients->fields_fit(problem.dofs))
            coefficients = nullptr;
          if (coefficients != nullptr)
            {
              for (const auto &values : coefficients->cell_values())
                AssertThrow(
                  values->size() == mesh.n_subcells(),
                  ExcMessage(
                    "Values of cells are used on another mesh than they "
                    "were made for: make new ones after agglomerate()."));
              result.coefficients = coefficients.get();
              description         = coefficients->description();
            }
          else
            {
              result.boundary          = tabulation.boundary();
              const std::string reason = problem.form.why_not_on_device();
              description              = form.n_tables == 0
                                           ? "constant"
                                           : "evaluated by the host's threads" +
                                  (reason.empty() ? "" : " (" + reason + ")");
            }
          result.tabulate = [tabulation, form](const unsigned int  begin,
                                               const unsigned int  end,
                                               const std::uint64_t n_points,
                                               double             *volume,
                                               double             *facets) {
            tabulation.tabulate(form, begin, end, n_points, volume, facets);
          };
          return result;
        }

        /// Assembles the K of own polytopes, for a matrix on several processes.
        void
        generate(const LocalProblem<dim> &problem, LocalBlocks &blocks)
        {
          std::vector<double> rhs, integral, abs_f;
          system.resize(blocks);
          run(problem, [&](const Device::HDGProblem<dim> &device_problem) {
            return setup->device->assemble_blocks(
              device_problem,
              system.data.local_solvers == LocalSolvers::keep,
              [&](const unsigned int k, const double *K) {
                const std::vector<std::uint64_t> &offset =
                  setup->plan.trace_offset;
                system.store_matrix(k, K, offset[k + 1] - offset[k], blocks);
              },
              rhs);
          });
          device_call(
            [&] { setup->device->download_balance(integral, abs_f); });
          const DeviceTabulation<dim> tabulation(problem, setup->plan);
          std::vector<unsigned int>   columns;
          for (unsigned int k = 0; k < system.mesh().n_owned_polytopes(); ++k)
            {
              system.numbering.free_columns(k, columns);
              const auto    sides = interface_sides(system.mesh(), k);
              std::uint64_t row   = setup->plan.trace_offset[k],
                            to    = blocks.rhs_offset[k];
              for (unsigned int e = 0; e < sides.size(); ++e)
                {
                  const unsigned int n_free = columns[e + 1] - columns[e];
                  std::copy_n(rhs.begin() + row,
                              n_free,
                              blocks.rhs.begin() + to);
                  std::copy_n(integral.begin() + row,
                              n_free,
                              blocks.integral.begin() + to);
                  to += n_free;
                  row += system.trace.n_functions[sides[e] / 2];
                }
              blocks.balance[k].fixed = fixes_constant[k] != 0;
              blocks.balance[k].size  = abs_f[k] + tabulation.integral_abs_g(k);
            }
        }

        /// Position of the first trace function of interface @p i, in its
        /// polytope on side 0, among the trace functions of all polytopes.
        std::uint64_t
        first_trace(const unsigned int i) const
        {
          const Device::HDGPlan<dim> &plan = setup->plan;
          const unsigned int e = plan.entry_of_side[2 * std::size_t(i)];
          return plan.trace_offset[plan.entry_polytope[e]] + plan.entry_row[e];
        }

        std::unique_ptr<Setup> setup;
        /// For each polytope, after an assembly: true if c or alpha is non-zero
        /// somewhere, or with advection.
        std::vector<char>                              fixes_constant;
        std::shared_ptr<const DeviceCoefficients<dim>> coefficients;
        bool dirichlet_is_here = false;
        /// Device memory for the matrix and right-hand side if the caller keeps
        /// them on the host.
        DeviceVector<double> device_values;
      };
    } // namespace



    template <int dim>
    std::unique_ptr<HDGBackend<dim>>
    make_cuda_hdg(TraceSystem<dim> &system)
    {
      return std::make_unique<CUDAHDG<dim>>(system);
    }



    template std::unique_ptr<HDGBackend<2>>
    make_cuda_hdg(TraceSystem<2> &);
    template std::unique_ptr<HDGBackend<3>>
    make_cuda_hdg(TraceSystem<3> &);
  } // namespace internal
} // namespace Tessella
