// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <tessella/base/compatibility.h>
#include <tessella/hdg/hdg.h>
#include <tessella/lac/trilinos_block_matrix.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <type_traits>

#include "../backends/host_dispatch.h"
#include "../base/collective.h"
#include "../base/vector_types.h"
#include "../lac/halo_exchange.h"
#include "../lac/vector_access.h"
#include "free_parts.h"
#include "local_solver.h"
#include "post_processing.h"
#include "trace_numbering.h"

#ifdef TESSELLA_HAVE_CUDA
#  include "../device/device_share.h"
#  include "cuda_hdg.h"
#endif

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    // Number of polytopes that a task processes at once.
    constexpr unsigned int local_grain = 16;

    // Quadrature order of each degree, for coefficients of a given order.
    std::vector<unsigned int>
    quadrature_orders(const unsigned int dim,
                      const unsigned int max_degree,
                      const bool         tensor_product,
                      const unsigned int coefficient_order)
    {
      std::vector<unsigned int> order(max_degree + 1);
      for (unsigned int p = 0; p <= max_degree; ++p)
        order[p] = std::max(1u,
                            std::min(2 * p * (tensor_product ? dim : 1) +
                                       coefficient_order,
                                     max_quadrature_order - 2));
      return order;
    }
  } // namespace



  template <int dim>
  struct HDG<dim>::Implementation
  {
    Implementation(const AgglomerationHandler<dim> &handler,
                   const AdditionalData            &data)
      : handler(handler)
      , data(data)
      , communicator(handler.get_communicator())
      , n_processes(internal::n_processes(communicator))
      , backend(data.backend == Backend::automatic
                  ? (data.spaces == LocalSpaces::equal &&
                         Utilities::MPI::min(cuda_is_available() ? 1 : 0,
                                             communicator) == 1
                       ? Backend::cuda
                       : Backend::host)
                  : data.backend)
    {}

    // Runs work that does not communicate. If it fails on one process, all
    // processes throw.
    void
    on_all_processes(const std::function<void()> &work) const
    {
      Tessella::on_all_processes(communicator, work);
    }

    const PolytopicMesh<dim> &
    mesh() const
    {
      return handler.polytopic_mesh();
    }

    bool
    tensor_product() const
    {
      return handler.polynomial_space() == PolynomialSpaceType::tensor_product;
    }

    // Quadrature order of each degree. Coefficients count as polynomials of
    // degree 2 at least, or of degree 1 if f is constant.
    std::vector<unsigned int>
    orders(const Form<dim> &form, const unsigned int max_degree) const
    {
      const VolumeStructure structure = form.volume_structure();
      return quadrature_orders(dim,
                               max_degree,
                               tensor_product(),
                               std::max(form.coefficient_order(),
                                        structure.constant_f ? 1u : 2u));
    }

    internal::LocalProblem<dim>
    local_problem(const Form<dim> &form) const
    {
      const unsigned int         max_degree = handler.max_degree();
      std::vector<unsigned char> exponents(
        dim * Legendre::n_functions(dim, max_degree, tensor_product()));
      Legendre::exponents(dim, max_degree, tensor_product(), exponents.data());
      return {mesh(),
              trace,
              form,
              internal::select_kernels<dim>(data.instruction_set),
              orders(form, max_degree),
              exponents,
              tensor_product(),
              data.advection == AdvectionForm::conservative,
              data.tau,
              data.tau_of_facet,
              data.spaces == LocalSpaces::reduced_flux};
    }

    bool
    is_dirichlet(const Form<dim> &form, const unsigned int interface) const
    {
      return mesh().interface_polytope[2 * std::size_t(interface) + 1] ==
               invalid_index &&
             form.boundary_type(mesh().interface_boundary_id[interface]) ==
               BoundaryType::dirichlet;
    }

    void
    reinit(const Form<dim> &form)
    {
      AssertThrow(form.has_boundary_conditions(),
                  ExcMessage(
                    "HDG needs a form with coefficients and Dirichlet, "
                    "Neumann or Robin conditions, such as "
                    "AdvectionDiffusionReaction or a DeviceForm of a "
                    "functor without terms of its own on facets."));
      const Timer                     timer;
      const PolytopicMesh<dim>       &mesh = this->mesh();
      const std::vector<unsigned int> order =
        orders(form, handler.max_degree());
      const unsigned int n = mesh.n_interfaces();
      std::vector<bool>  fixed(n);
      on_all_processes([&] {
        prepare_quadrature(handler, order.back());
        for (unsigned int k = 0;
             data.spaces == LocalSpaces::reduced_flux && k < mesh.n_polytopes();
             ++k)
          AssertThrow(mesh.degree[k] > 0,
                      ExcMessage("LocalSpaces::reduced_flux needs degree 1 or "
                                 "more, which polytope " +
                                 std::to_string(k) + " does not have."));
        trace.reinit(mesh,
                     data.trace_space,
                     tensor_product(),
                     order,
                     data.spaces == LocalSpaces::reduced_flux ? 1 : 0);
        dirichlet_offset.assign(n + 1, 0);
        boundary_interfaces.clear();
        for (unsigned int i = 0; i < n; ++i)
          {
            if (mesh.interface_polytope[2 * std::size_t(i) + 1] ==
                invalid_index)
              boundary_interfaces.push_back(i);
            fixed[i] = is_dirichlet(form, i);
            dirichlet_offset[i + 1] =
              dirichlet_offset[i] + (fixed[i] ? trace.n_functions[i] : 0);
          }
        dirichlet.assign(dirichlet_offset[n], 0.);
      });
      kept.clear();
      kept_offset.clear();
      present_fixed.clear();
#ifdef TESSELLA_HAVE_CUDA
      device.reset();
#endif
      assembled = false;
      revision  = mesh.revision;
      numbering.reinit(handler, trace, fixed);
      halo.reset();
      if (numbering.partition != nullptr)
        halo =
          std::make_unique<internal::HostHalo<double>>(numbering.partition);
      report.trace_space_time = timer.wall_time();
    }

    // Runs function(solver, k) for all own polytopes k on all threads. Returns
    // the number of operations.
    template <typename Function>
    std::uint64_t
    for_local_problems(const Form<dim> &form, const Function &function) const
    {
      const internal::LocalProblem<dim> problem = local_problem(form);
      std::atomic<std::uint64_t>        n_operations(0);
      parallel::apply_to_subranges(
        0u,
        mesh().n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          internal::LocalSolver<dim> solver(problem);
          for (unsigned int k = begin; k < end; ++k)
            function(solver, k);
          n_operations += solver.operations();
        },
        local_grain);
      return n_operations;
    }

    // Data of a polytope that decide whether the constant is fixed and whether
    // the data are compatible.
    struct Balance
    {
      double size  = 0.; // integrals of |f| and |g|
      bool   fixed = false;
    };

    // Matrices K of all own polytopes, with right-hand sides, integrals of the
    // trace functions, and balances.
    struct LocalBlocks
    {
      std::vector<std::uint64_t> matrix_offset, rhs_offset;
      std::vector<double>        matrix, rhs, integral;
      std::vector<Balance>       balance;
    };

    void
    resize(LocalBlocks &blocks) const
    {
      const unsigned int n = mesh().n_owned_polytopes();
      blocks.matrix_offset.assign(n + 1, 0);
      blocks.rhs_offset.assign(n + 1, 0);
      blocks.balance.resize(n);
      std::vector<unsigned int> columns;
      for (unsigned int k = 0; k < n; ++k)
        {
          numbering.free_columns(k, columns);
          const std::uint64_t m       = columns.back();
          blocks.matrix_offset[k + 1] = blocks.matrix_offset[k] + m * m;
          blocks.rhs_offset[k + 1]    = blocks.rhs_offset[k] + m;
        }
      blocks.matrix.resize(blocks.matrix_offset[n]);
      blocks.rhs.resize(blocks.rhs_offset[n]);
      blocks.integral.resize(blocks.rhs_offset[n]);
    }

    void
    generate(const Form<dim> &form, LocalBlocks &blocks)
    {
      const Timer               timer;
      const PolytopicMesh<dim> &mesh = this->mesh();
      const unsigned int        n    = mesh.n_owned_polytopes();
      const bool                keep = data.local_solvers == LocalSolvers::keep;
      resize(blocks);
      kept_offset.assign(keep ? n + 1 : 0, 0);
      for (unsigned int k = 0; keep && k < n; ++k)
        {
          std::uint64_t all = 1;
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            all += trace.n_functions[mesh.polytope_interface[e] / 2];
          kept_offset[k + 1] =
            kept_offset[k] + all * (dim + 1) * mesh.n_basis[k];
        }
      if (keep)
        kept.resize(kept_offset[n]);

      report.local_generation_operations = for_local_problems(
        form, [&](internal::LocalSolver<dim> &solver, const unsigned int k) {
          solver.assemble(k);
          solver.eliminate(keep);
          store(solver, blocks);
          if (keep)
            store_solver(solver);
        });
      report.local_generation_time = timer.wall_time();
      report.local_solver_memory   = 8. * kept.size();
      report.trace_block_memory    = 8. * blocks.matrix.size();
    }

    // Stores the rows and columns of K that belong to DoFs. Dirichlet values
    // move to the right-hand side.
    void
    store(const internal::LocalSolver<dim> &solver, LocalBlocks &blocks)
    {
      const PolytopicMesh<dim> &mesh = this->mesh();
      const unsigned int        k    = solver.polytope;
      std::vector<unsigned int> columns;
      numbering.free_columns(k, columns);
      const unsigned int begin = mesh.polytope_interface_offset[k],
                         n_entries =
                           mesh.polytope_interface_offset[k + 1] - begin,
                         n_free = columns.back(), width = solver.n_traces + 1;
      double *const matrix   = blocks.matrix.data() + blocks.matrix_offset[k];
      double *const rhs      = blocks.rhs.data() + blocks.rhs_offset[k];
      double *const integral = blocks.integral.data() + blocks.rhs_offset[k];
      const auto    is_free  = [&](const unsigned int e) {
        return columns[e + 1] > columns[e];
      };
      for (unsigned int e = 0; e < n_entries; ++e)
        if (is_free(e))
          for (unsigned int i = 0; i < columns[e + 1] - columns[e]; ++i)
            {
              const unsigned int m = solver.column[e] + i, row = columns[e] + i;
              const double *const K = &solver.K[std::size_t(m) * width];
              double value = solver.boundary_rhs[m] - K[solver.n_traces];
              for (unsigned int f = 0; f < n_entries; ++f)
                if (is_free(f))
                  std::copy(K + solver.column[f],
                            K + solver.column[f + 1],
                            matrix + std::size_t(row) * n_free + columns[f]);
                else
                  for (unsigned int j = solver.column[f];
                       j < solver.column[f + 1];
                       ++j)
                    value -= K[j] * solver.dirichlet[j];
              rhs[row]      = value;
              integral[row] = solver.trace_integral[m];
            }

      Balance &balance = blocks.balance[k];
      balance.fixed    = solver.fixes_constant;
      balance.size     = solver.integral_abs_f + solver.integral_abs_g;
      for (unsigned int e = 0; e < n_entries; ++e)
        {
          const unsigned int i = mesh.polytope_interface[begin + e] / 2;
          if (dirichlet_offset[i + 1] > dirichlet_offset[i])
            {
              balance.fixed = true;
              std::copy(solver.dirichlet.begin() + solver.column[e],
                        solver.dirichlet.begin() + solver.column[e + 1],
                        dirichlet.begin() + dirichlet_offset[i]);
            }
        }
    }

    void
    store_solver(const internal::LocalSolver<dim> &solver)
    {
      double            *p = kept.data() + kept_offset[solver.polytope];
      const unsigned int n = solver.n_basis;
      for (unsigned int m = 0; m <= solver.n_traces; ++m)
        {
          p = std::copy_n(solver.solution_row(m), n, p);
          for (unsigned int d = 0; d < dim; ++d)
            p = std::copy_n(solver.flux_row(m, d), n, p);
        }
    }

    void
    gather(const LocalBlocks &blocks, double *values, double *rhs) const
    {
      numbering.gather(
        [&](const unsigned int k) {
          return typename internal::TraceNumbering<dim>::LocalBlock{
            blocks.matrix.data() + blocks.matrix_offset[k],
            blocks.rhs.data() + blocks.rhs_offset[k]};
        },
        values,
        rhs);
    }

    // Parts of the domain without a fixed constant. They are recomputed only if
    // `fixed` changes. `fixed` refers to polytopes and disregards Dirichlet
    // interfaces, which this function adds.
    const std::vector<internal::FreePart> &
    find_free_parts(const std::vector<char> &fixed)
    {
      bool changed = fixed != present_fixed;
      if (n_processes > 1)
        changed = Utilities::MPI::max(changed ? 1 : 0, communicator) > 0;
      if (changed)
        {
          const PolytopicMesh<dim> &mesh = this->mesh();
          std::vector<char>         all  = fixed;
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            if (dirichlet_offset[i + 1] > dirichlet_offset[i])
              all[mesh.interface_polytope[2 * std::size_t(i)]] = true;
          parts         = internal::find_free_parts(handler, numbering, all);
          present_fixed = fixed;
        }
      report.n_free_constants = parts.size();
      return parts;
    }

    void
    fix_constants(const LocalBlocks &blocks, double *values, double *rhs)
    {
      std::vector<char> fixed(mesh().n_owned_polytopes());
      for (unsigned int k = 0; k < fixed.size(); ++k)
        fixed[k] = blocks.balance[k].fixed;
      std::vector<unsigned int> columns;
      const auto                integrals = [&](const unsigned int i) {
        const unsigned int k = mesh().interface_polytope[2 * std::size_t(i)];
        numbering.free_columns(k, columns);
        return blocks.integral.data() + blocks.rhs_offset[k] +
               columns[numbering.entry_of(i, 0)];
      };
      for (const internal::FreePart &part : find_free_parts(fixed))
        {
          std::vector<double> sizes;
          for (const unsigned int k : part.polytopes)
            sizes.push_back(blocks.balance[k].size);
          internal::fix_constant<dim>(
            handler, numbering, part, sizes, integrals, values, rhs);
        }
    }

#ifdef TESSELLA_HAVE_CUDA
    // ---- backend for a device

    internal::CUDAHDG<dim> &
    device_object(const internal::LocalProblem<dim> &problem)
    {
      if (device == nullptr || !device->fits(problem))
        {
          device.reset();
          fixed_interfaces.resize(mesh().n_interfaces());
          for (unsigned int i = 0; i < fixed_interfaces.size(); ++i)
            fixed_interfaces[i] = is_dirichlet(problem.form, i);
          on_all_processes([&] {
            device = std::make_unique<internal::CUDAHDG<dim>>(
              problem,
              numbering.sparsity,
              internal::Device::HDGNumbering{numbering.block_of_interface,
                                             numbering.interface_of_block,
                                             numbering.dof_offset,
                                             fixed_interfaces},
              data.device_memory);
          });
          internal::Device::HDGSizes sizes = device->sizes();
          if (n_processes > 1)
            {
              const internal::Device::HDGSizes own = sizes;
              Utilities::MPI::max(
                ArrayView<const unsigned int>(own.data(), own.size()),
                communicator,
                ArrayView<unsigned int>(sizes.data(), sizes.size()));
            }
          on_all_processes([&] { device->upload(sizes); });
          assembled = false;
        }
      return *device;
    }

    void
    set_times(const internal::Device::HDGTimes &times, const double all)
    {
      report.coefficient_time      = all - times.generation - times.gather;
      report.local_generation_time = times.generation;
      report.global_assembly_time  = times.gather;
      report.local_generation_operations = device->operations();
      report.coefficients                = device->coefficients_are;
      report.local_solver_memory         = times.solver_bytes;
      report.trace_block_memory          = times.trace_bytes;
      report.n_tiles                     = times.n_tiles;
    }

    // Counterpart of generate() for several processes, each with its device.
    void
    generate_on_device(const Form<dim> &form, LocalBlocks &blocks)
    {
      const internal::LocalProblem<dim> problem = local_problem(form);
      internal::CUDAHDG<dim>           &cuda    = device_object(problem);
      dirichlet_is_here                         = false;
      cuda.set_device_memory(data.device_memory > 0
                               ? data.device_memory
                               : internal::share_of_device_memory(
                                   communicator,
                                   internal::processes_on_device(communicator),
                                   cuda.memory()));
      on_all_processes([&] {
        const Timer               timer;
        const PolytopicMesh<dim> &mesh = this->mesh();
        std::vector<double>       rhs, integral, abs_f;
        resize(blocks);
        const internal::Device::HDGTimes times = cuda.assemble_blocks(
          problem,
          data.local_solvers == LocalSolvers::keep,
          [&](const unsigned int k, const double *K) { store(k, K, blocks); },
          rhs);
        set_times(times, timer.wall_time());
        cuda.balance(integral, abs_f);
        std::vector<unsigned int> columns;
        for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
          {
            numbering.free_columns(k, columns);
            std::uint64_t row = cuda.trace_offset()[k],
                          to  = blocks.rhs_offset[k];
            for (unsigned int e = 0; e + 1 < columns.size(); ++e)
              {
                const unsigned int n_free = columns[e + 1] - columns[e];
                std::copy_n(rhs.begin() + row, n_free, blocks.rhs.begin() + to);
                std::copy_n(integral.begin() + row,
                            n_free,
                            blocks.integral.begin() + to);
                to += n_free;
                row += n_functions(k, e);
              }
            blocks.balance[k].fixed = cuda.fixes_constant[k] != 0;
            blocks.balance[k].size = abs_f[k] + cuda.integral_abs_g(problem, k);
          }
      });
    }

    // Number of trace functions of an interface, entry e of polytope k.
    unsigned int
    n_functions(const unsigned int k, const unsigned int e) const
    {
      return trace.n_functions
        [mesh().polytope_interface[mesh().polytope_interface_offset[k] + e] /
         2];
    }

    // Stores the rows and columns of K (for all trace functions) that belong to
    // DoFs.
    void
    store(const unsigned int k, const double *K, LocalBlocks &blocks) const
    {
      std::vector<unsigned int> columns;
      numbering.free_columns(k, columns);
      const std::size_t n =
        device->trace_offset()[k + 1] - device->trace_offset()[k];
      double            *to = blocks.matrix.data() + blocks.matrix_offset[k];
      const unsigned int n_entries = columns.size() - 1;
      for (unsigned int e = 0; e < n_entries; ++e)
        {
          for (unsigned int i = 0; i < columns[e + 1] - columns[e]; ++i)
            {
              const double *from = K + i * n;
              for (unsigned int f = 0; f < n_entries; ++f)
                {
                  to = std::copy_n(from, columns[f + 1] - columns[f], to);
                  from += n_functions(k, f);
                }
            }
          K += n_functions(k, e) * n;
        }
    }

    // First trace function of interface i within its polytope on side 0.
    unsigned int
    first_trace(const unsigned int i) const
    {
      const unsigned int k   = mesh().interface_polytope[2 * std::size_t(i)];
      unsigned int       row = 0;
      for (unsigned int e = mesh().polytope_interface_offset[k];
           mesh().polytope_interface[e] != 2 * i;
           ++e)
        row += trace.n_functions[mesh().polytope_interface[e] / 2];
      return row;
    }

    // Assembles the matrix and right-hand side into device memory.
    void
    assemble_on_device(const Form<dim> &form, double *values, double *rhs)
    {
      const internal::LocalProblem<dim> problem = local_problem(form);
      internal::CUDAHDG<dim>           &cuda    = device_object(problem);
      assembled                                 = false;
      dirichlet_is_here                         = false;
      const Timer                      timer;
      const internal::Device::HDGTimes times = cuda.assemble(
        problem, data.local_solvers == LocalSolvers::keep, values, rhs);
      set_times(times, timer.wall_time());

      const std::vector<internal::FreePart> &free =
        find_free_parts(cuda.fixes_constant);
      if (!free.empty())
        {
          // This case is rare, and its copies take little of the total time.
          std::vector<double> host_values(
            numbering.sparsity.n_nonzero_elements()),
            host_rhs(numbering.n_owned_dofs()), integral, abs_f;
          cuda.download(values, host_values.data(), host_values.size());
          cuda.download(rhs, host_rhs.data(), host_rhs.size());
          cuda.balance(integral, abs_f);
          const auto integrals = [&](const unsigned int i) {
            return integral.data() +
                   cuda.trace_offset()
                     [mesh().interface_polytope[2 * std::size_t(i)]] +
                   first_trace(i);
          };
          for (const internal::FreePart &part : free)
            {
              std::vector<double> sizes;
              for (const unsigned int k : part.polytopes)
                sizes.push_back(abs_f[k] + cuda.integral_abs_g(problem, k));
              internal::fix_constant<dim>(handler,
                                          numbering,
                                          part,
                                          sizes,
                                          integrals,
                                          host_values.data(),
                                          host_rhs.data());
            }
          cuda.upload(host_values.data(), values, host_values.size());
          cuda.upload(host_rhs.data(), rhs, host_rhs.size());
        }
      assembled = true;
    }

    // Computes solution and flux from traces. All vectors are in device memory.
    void
    recover_on_device(const Form<dim> &form,
                      const double    *trace,
                      double          *solution,
                      double          *flux)
    {
      const internal::LocalProblem<dim> problem = local_problem(form);
      AssertThrow(device != nullptr && device->fits(problem),
                  ExcMessage("HDG::recover() needs the form of the last "
                             "assemble()."));
      report.local_solve_time = device->recover(problem, trace, solution, flux);
      report.local_solve_operations = report.local_solver_memory > 0.
                                        ? 2. * report.local_solver_memory / 8.
                                        : report.local_generation_operations;
    }

    // Copies the projections of Dirichlet data to the host on first use.
    void
    fetch_dirichlet()
    {
      if (backend != Backend::cuda || dirichlet_is_here || device == nullptr)
        return;
      const std::vector<double> values = device->dirichlet();
      for (unsigned int i = 0; i < mesh().n_interfaces(); ++i)
        if (dirichlet_offset[i + 1] > dirichlet_offset[i])
          // Ghost polytopes have no boundary interfaces, so side 0 is an own
          // polytope.
          std::copy_n(values.begin() +
                        device->trace_offset()
                          [mesh().interface_polytope[2 * std::size_t(i)]] +
                        first_trace(i),
                      dirichlet_offset[i + 1] - dirichlet_offset[i],
                      dirichlet.begin() + dirichlet_offset[i]);
      dirichlet_is_here = true;
    }
#endif

    // Preparations of an assembly.
    void
    prepare(const Form<dim> &form)
    {
      on_all_processes([&] {
        form.prepare();
        check_reinit(form);
        prepare_quadrature(handler, orders(form, handler.max_degree()).back());
      });
      report.backend         = backend;
      report.n_threads       = MultithreadInfo::n_threads();
      report.instruction_set = data.instruction_set == InstructionSet::automatic
                                 ? best_instruction_set()
                                 : data.instruction_set;
    }

    void
    check_device(const char *what) const
    {
      AssertThrow(backend == Backend::cuda,
                  ExcMessage(std::string(what) +
                             " needs an HDG object with Backend::cuda; this "
                             "one runs on the host. Use the classes of "
                             "TrilinosWrappers."));
      AssertThrow(n_processes == 1,
                  ExcMessage(std::string(what) +
                             " of HDG lives on one process, but the mesh is "
                             "distributed over " +
                             std::to_string(n_processes) +
                             ": use TrilinosWrappers::SparseMatrix and "
                             "TrilinosWrappers::MPI::Vector; local problems "
                             "and the solution from traces are computed by the "
                             "device of each process all the same."));
    }

    void
    check_reinit(const Form<dim> &form) const
    {
      bool same = revision == mesh().revision &&
                  numbering.block_of_interface.size() == mesh().n_interfaces();
      // All other interfaces have no boundary condition.
      for (std::size_t b = 0; same && b < boundary_interfaces.size(); ++b)
        {
          const unsigned int i = boundary_interfaces[b];
          same                 = trace.n_functions[i] == 0 ||
                 is_dirichlet(form, i) ==
                   (numbering.block_of_interface[i] == invalid_index);
        }
      AssertThrow(same,
                  ExcMessage("The trace spaces do not belong to this mesh, "
                             "element and set of Dirichlet boundaries: call "
                             "reinit() of the HDG object first."));
    }

    // Trace DoFs of own and ghost blocks, in the order of `numbering`.
    struct Unknowns
    {
      const double *own, *ghosts;
      std::uint64_t n_owned;

      const double *
      operator+(const std::uint64_t i) const
      {
        return i < n_owned ? own + i : ghosts + (i - n_owned);
      }
    };

#ifdef TESSELLA_HAVE_EPETRA
    // View of the vector with ghost values from their owners. Collective.
    Unknowns
    exchange(const TrilinosWrappers::MPI::Vector &vector) const
    {
      Unknowns result = {vector.begin(), nullptr, numbering.n_owned_dofs()};
      if (halo != nullptr)
        {
          halo->start(result.own);
          result.ghosts = halo->finish();
        }
      return result;
    }
#endif

    // Coefficients lambda of all interfaces of polytope k.
    void
    local_trace(const unsigned int   k,
                const Unknowns      &unknowns,
                std::vector<double> &lambda) const
    {
      lambda.clear();
      for (unsigned int e = mesh().polytope_interface_offset[k];
           e < mesh().polytope_interface_offset[k + 1];
           ++e)
        {
          const unsigned int i     = mesh().polytope_interface[e] / 2,
                             block = numbering.block_of_interface[i];
          if (block != invalid_index)
            {
              const double *const first =
                unknowns + numbering.dof_offset[block];
              lambda.insert(lambda.end(), first, first + trace.n_functions[i]);
            }
          else
            lambda.insert(lambda.end(),
                          dirichlet.begin() + dirichlet_offset[i],
                          dirichlet.begin() + dirichlet_offset[i + 1]);
        }
    }

    // Vectors are distributed over the processes like the degrees of freedom of
    // the handler.
    void
    reinit_vector(Vector<double> &vector, const unsigned int n_components) const
    {
      vector.reinit(n_components * mesh().dof_offset.back());
    }
#ifdef TESSELLA_HAVE_EPETRA
    void
    reinit_vector(TrilinosWrappers::MPI::Vector &vector,
                  const unsigned int             n_components) const
    {
      const IndexSet owned = handler.locally_owned_dofs();
      IndexSet       set(n_components * owned.size());
      if (owned.n_elements() > 0)
        {
          const types::global_dof_index first = owned.nth_index_in_set(0);
          set.add_range(n_components * first,
                        n_components * (first + owned.n_elements()));
        }
      vector.reinit(set, communicator);
    }
#endif

    // Throws if a vector without distribution is used on several processes.
    template <typename VectorType>
    void
    check_shared(const VectorType &) const
    {
      AssertThrow((n_processes == 1 ||
                   !std::is_same<VectorType, Vector<double>>::value),
                  ExcMessage("A Vector lives on one process, but the mesh is "
                             "distributed over " +
                             std::to_string(n_processes) +
                             ": use TrilinosWrappers::MPI::Vector."));
    }

    const AgglomerationHandler<dim> &handler;
    AdditionalData                   data;
    const MPI_Comm                   communicator;
    const unsigned int               n_processes;
    const Backend                    backend;
    HDGReport                        report;
    std::uint64_t                    revision  = 0;
    bool                             assembled = false;

    TraceSpace<dim>               trace;
    std::vector<unsigned int>     boundary_interfaces;
    internal::TraceNumbering<dim> numbering;
    // exchange of ghost values; null on one process
    std::unique_ptr<internal::HostHalo<double>> halo;
    // projections of Dirichlet values, interface by interface
    std::vector<std::uint64_t> dirichlet_offset;
    std::vector<double>        dirichlet;
    // u, then the components of q, for each polytope and each of its trace
    // functions, then for f
    std::vector<std::uint64_t> kept_offset;
    std::vector<double>        kept;

    // parts without a fixed constant, and the argument they were found for
    std::vector<internal::FreePart> parts;
    std::vector<char>               present_fixed;

#ifdef TESSELLA_HAVE_CUDA
    std::vector<bool>                       fixed_interfaces;
    bool                                    dirichlet_is_here = false;
    std::unique_ptr<internal::CUDAHDG<dim>> device;
    // device memory for the matrix and right-hand side if the caller keeps
    // them on the host
    std::unique_ptr<DeviceVector<double>> device_values;
#endif
  };



  template <int dim>
  HDG<dim>::HDG(const AgglomerationHandler<dim> &handler,
                const AdditionalData            &data)
    : implementation(std::make_unique<Implementation>(handler, data))
  {
    AssertThrow(handler.n_global_polytopes() > 0 && handler.n_dofs() > 0,
                ExcMessage("HDG needs degrees of freedom: call agglomerate() "
                           "and distribute_dofs() of the AgglomerationHandler "
                           "first."));
    AssertThrow(handler.n_components() == 1,
                ExcMessage("HDG solves scalar equations, but the element has " +
                           std::to_string(handler.n_components()) +
                           " components: distribute the degrees of freedom of "
                           "a scalar element."));
    AssertThrow(!handler.polytopic_mesh().prismatic &&
                  handler.polynomial_space() != PolynomialSpaceType::prismatic,
                ExcMessage("HDG works with spaces of total degree or "
                           "tensor-product spaces, not with prismatic ones or "
                           "space-time slabs."));
    AssertThrow(data.spaces == LocalSpaces::equal ||
                  data.trace_space == TraceSpaceType::facet,
                ExcMessage("LocalSpaces::reduced_flux needs "
                           "TraceSpaceType::facet."));
    if (data.backend == Backend::cuda)
      {
        AssertThrow(data.spaces == LocalSpaces::equal,
                    ExcMessage("HDG computes with LocalSpaces::reduced_flux on "
                               "the host only: use Backend::host or "
                               "Backend::automatic."));
#ifndef TESSELLA_HAVE_CUDA
        AssertThrow(false,
                    ExcMessage("This build of Tessella has no CUDA backend: "
                               "take the host backend, or build with "
                               "-DTESSELLA_WITH_CUDA=ON."));
#endif
        AssertThrow(cuda_is_available(),
                    ExcMessage(why_cuda_is_unavailable() +
                               " Please take the backend host or "
                               "automatic."));
      }
    AssertThrow(data.instruction_set == InstructionSet::automatic ||
                  data.instruction_set <= best_instruction_set(),
                ExcMessage("This processor or this build of Tessella does not "
                           "have the instruction set " +
                           name(data.instruction_set) + "."));
  }



  template <int dim>
  HDG<dim>::~HDG() = default;



  template <int dim>
  void
  HDG<dim>::reinit(const Form<dim> &form)
  {
    implementation->reinit(form);
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  void
  HDG<dim>::reinit(const Form<dim>                &form,
                   TrilinosWrappers::SparseMatrix &matrix,
                   TrilinosWrappers::MPI::Vector  &rhs)
  {
    implementation->reinit(form);
    const Timer timer;
    const auto &numbering = implementation->numbering;
    implementation->on_all_processes([&] {
      TrilinosBlockMatrix::check_size(numbering.sparsity, numbering.dof_offset);
    });
    TrilinosBlockMatrix::reinit(matrix,
                                numbering.sparsity,
                                numbering.dof_offset,
                                implementation->communicator,
                                numbering.ghost_columns);
    IndexSet owned(n_dofs());
    owned.add_range(numbering.first_dof(),
                    numbering.first_dof() + numbering.n_owned_dofs());
    rhs.reinit(owned, implementation->communicator);
    implementation->report.structure_time = timer.wall_time();
  }
#endif



  template <int dim>
  void
  HDG<dim>::reinit(const Form<dim>           &form,
                   DeviceBlockMatrix<double> &matrix,
                   DeviceVector<double>      &rhs)
  {
    implementation->check_device("A DeviceBlockMatrix");
    implementation->reinit(form);
    const Timer timer;
    matrix.reinit(implementation->numbering.sparsity,
                  implementation->numbering.dof_offset);
    rhs.reinit(n_dofs());
#ifdef TESSELLA_HAVE_CUDA
    implementation->device_object(implementation->local_problem(form));
#endif
    implementation->report.structure_time = timer.wall_time();
  }



  template <int dim>
  void
  HDG<dim>::assemble(const Form<dim>           &form,
                     DeviceBlockMatrix<double> &matrix,
                     DeviceVector<double>      &rhs)
  {
    Implementation &data = *implementation;
    data.check_device("A DeviceBlockMatrix");
    data.prepare(form);
    const BlockSparsity &sparsity = data.numbering.sparsity;
    AssertThrow(matrix.dof_offset() == data.numbering.dof_offset &&
                  matrix.block_sparsity().value_offset ==
                    sparsity.value_offset &&
                  matrix.block_sparsity().block_column ==
                    sparsity.block_column &&
                  rhs.size() == n_dofs(),
                ExcMessage("Matrix or vector do not have the structure of this "
                           "trace space: call reinit() of the HDG object on "
                           "them."));
#ifdef TESSELLA_HAVE_CUDA
    data.assemble_on_device(form, matrix.values(), rhs.begin());
    data.report.copy_time = 0.;
#endif
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  void
  HDG<dim>::assemble(const Form<dim>                &form,
                     TrilinosWrappers::SparseMatrix &matrix,
                     TrilinosWrappers::MPI::Vector  &rhs)
  {
    Implementation &data = *implementation;
    data.prepare(form);
    double *values = nullptr;
    data.on_all_processes([&] {
      values = TrilinosBlockMatrix::values(matrix,
                                           data.numbering.sparsity,
                                           data.numbering.dof_offset);
      AssertThrow(rhs.size() == n_dofs() &&
                    rhs.locally_owned_size() == data.numbering.n_owned_dofs(),
                  ExcMessage("The vector does not have the size of this trace "
                             "space: call reinit() of the HDG object on it."));
    });
    data.assembled = false;
#  ifdef TESSELLA_HAVE_CUDA
    if (data.backend == Backend::cuda && data.n_processes == 1)
      {
        const std::size_t n_values =
          data.numbering.sparsity.n_nonzero_elements();
        if (data.device_values == nullptr)
          data.device_values = std::make_unique<DeviceVector<double>>();
        DeviceVector<double> &result = *data.device_values;
        result.reinit(n_values + n_dofs(), true);
        data.assemble_on_device(form,
                                result.begin(),
                                result.begin() + n_values);
        const Timer timer;
        data.device->download(result.begin(), values, n_values);
        data.device->download(result.begin() + n_values, rhs.begin(), n_dofs());
        data.report.copy_time = timer.wall_time();
        return;
      }
#  endif
    typename Implementation::LocalBlocks blocks;
    data.report.global_assembly_time = 0.;
#  ifdef TESSELLA_HAVE_CUDA
    if (data.backend == Backend::cuda)
      data.generate_on_device(form, blocks);
    else
#  endif
      data.on_all_processes([&] { data.generate(form, blocks); });
    const Timer timer;
    data.gather(blocks, values, rhs.begin());
    data.fix_constants(blocks, values, rhs.begin());
    data.report.global_assembly_time += timer.wall_time();
    data.assembled = true;
  }
#endif



  template <int dim>
  void
  HDG<dim>::recover(const Form<dim>            &form,
                    const DeviceVector<double> &trace,
                    DeviceVector<double>       &solution,
                    DeviceVector<double>       &flux)
  {
    Implementation &data = *implementation;
    data.check_device("A DeviceVector");
    AssertThrow(data.assembled,
                ExcMessage("HDG::recover() needs the local problems: call "
                           "assemble() first."));
    data.check_reinit(form);
    AssertThrow(trace.size() == n_dofs(),
                ExcMessage("The vector does not have the size of this trace "
                           "space."));
    const std::uint64_t n = data.mesh().dof_offset.back();
    solution.reinit(n, true);
    flux.reinit(dim * n, true);
#ifdef TESSELLA_HAVE_CUDA
    data.recover_on_device(form, trace.begin(), solution.begin(), flux.begin());
#endif
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  template <typename VectorType>
  void
  HDG<dim>::recover(const Form<dim>                     &form,
                    const TrilinosWrappers::MPI::Vector &trace,
                    VectorType                          &solution,
                    VectorType                          &flux)
  {
    const Timer     timer;
    Implementation &data = *implementation;
    data.on_all_processes([&] {
      AssertThrow(data.assembled,
                  ExcMessage("HDG::recover() needs the local problems: call "
                             "assemble() first."));
      data.check_reinit(form);
      data.check_shared(solution);
      internal::check_no_ghosts(trace);
      AssertThrow(trace.size() == n_dofs() &&
                    trace.locally_owned_size() == data.numbering.n_owned_dofs(),
                  ExcMessage("The vector does not have the size of this trace "
                             "space."));
    });
    data.reinit_vector(solution, 1);
    data.reinit_vector(flux, dim);
    const PolytopicMesh<dim>               &mesh     = data.mesh();
    const typename Implementation::Unknowns unknowns = data.exchange(trace);
#  ifdef TESSELLA_HAVE_CUDA
    if (data.backend == Backend::cuda)
      {
        data.on_all_processes([&] {
          const std::uint64_t n_ghosts =
            data.numbering.dof_offset.back() - unknowns.n_owned;
          const unsigned int n_polytopes = mesh.n_owned_polytopes();
          const std::size_t  n =
            n_polytopes > 0 ? mesh.dof_offset[n_polytopes] : 0;
          DeviceVector<double> all, u, q;
          all.reinit(unknowns.n_owned + n_ghosts, true);
          u.reinit(n, true);
          q.reinit(dim * n, true);
          using Device = internal::CUDAHDG<dim>;
          Device::upload(unknowns.own, all.begin(), unknowns.n_owned);
          Device::upload(unknowns.ghosts,
                         all.begin() + unknowns.n_owned,
                         n_ghosts);
          data.recover_on_device(form, all.begin(), u.begin(), q.begin());
          Device::download(u.begin(), solution.begin(), n);
          Device::download(q.begin(), flux.begin(), dim * n);
        });
        return;
      }
#  endif

    if (data.data.local_solvers == LocalSolvers::recompute)
      data.on_all_processes([&] {
        data.report.local_solve_operations = data.for_local_problems(
          form, [&](internal::LocalSolver<dim> &solver, const unsigned int k) {
            std::vector<double> lambda;
            data.local_trace(k, unknowns, lambda);
            solver.assemble(k);
            solver.solve(lambda.data());
            const unsigned int n = mesh.n_basis[k];
            std::copy_n(solver.solution_row(0),
                        n,
                        solution.begin() + mesh.dof_offset[k]);
            for (unsigned int d = 0; d < dim; ++d)
              std::copy_n(solver.flux_row(0, d),
                          n,
                          flux.begin() + dim * mesh.dof_offset[k] + d * n);
          });
      });
    else
      {
        internal::for_ranges(
          mesh.n_owned_polytopes(),
          local_grain,
          [&](const std::size_t begin, const std::size_t end) {
            std::vector<double> lambda, sum;
            for (std::size_t k = begin; k < end; ++k)
              {
                data.local_trace(k, unknowns, lambda);
                const unsigned int n = mesh.n_basis[k], all = (dim + 1) * n;
                const double      *row = data.kept.data() + data.kept_offset[k];
                // The row for f comes last.
                const double *const particular =
                  row + std::size_t(lambda.size()) * all;
                sum.assign(particular, particular + all);
                for (const double factor : lambda)
                  {
                    for (unsigned int i = 0; i < all; ++i)
                      sum[i] += factor * row[i];
                    row += all;
                  }
                std::copy_n(sum.begin(),
                            n,
                            solution.begin() + mesh.dof_offset[k]);
                std::copy(sum.begin() + n,
                          sum.end(),
                          flux.begin() + dim * mesh.dof_offset[k]);
              }
          });
        data.report.local_solve_operations = 2. * data.kept.size();
      }
    data.report.local_solve_time = timer.wall_time();
  }
#endif



  template <int dim>
  template <typename VectorType>
  void
  HDG<dim>::post_process(const Form<dim>                 &form,
                         const VectorType                &solution,
                         const VectorType                &flux,
                         const AgglomerationHandler<dim> &finer,
                         VectorType                      &result) const
  {
    const AgglomerationHandler<dim> &handler = implementation->handler;
    implementation->on_all_processes([&] {
      internal::check_post_processing(handler, finer);
      implementation->check_shared(solution);
      internal::check_no_ghosts(solution);
      internal::check_no_ghosts(flux);
      AssertThrow(solution.size() == handler.n_dofs() &&
                    flux.size() == dim * handler.n_dofs(),
                  ExcMessage("Solution and flux do not have the sizes that "
                             "HDG::recover() gives them."));
    });
    if constexpr (std::is_same<VectorType, Vector<double>>::value)
      result.reinit(finer.n_dofs());
    else
      result.reinit(finer.locally_owned_dofs(), implementation->communicator);
    implementation->on_all_processes([&] {
      internal::post_process(handler,
                             form,
                             solution.begin(),
                             flux.begin(),
                             finer,
                             implementation->data.instruction_set,
                             result.begin());
    });
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  void
  HDG<dim>::copy_blocks(const TrilinosWrappers::SparseMatrix &matrix,
                        HostBlockMatrix<double>              &blocks) const
  {
    const auto &numbering = implementation->numbering;
    blocks.reinit(numbering.sparsity,
                  numbering.dof_offset,
                  numbering.partition);
    implementation->on_all_processes([&] {
      const double *const values = TrilinosBlockMatrix::values(
        const_cast<TrilinosWrappers::SparseMatrix &>(matrix),
        numbering.sparsity,
        numbering.dof_offset);
      blocks.copy_from(
        std::vector<double>(values,
                            values + numbering.sparsity.n_nonzero_elements()));
    });
  }
#endif



  template <int dim>
  std::uint64_t
  HDG<dim>::n_dofs() const
  {
    return implementation->numbering.n_dofs();
  }



  template <int dim>
  const TraceSpace<dim> &
  HDG<dim>::trace_space() const
  {
    return implementation->trace;
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  std::vector<double>
  HDG<dim>::trace_coefficients(const TrilinosWrappers::MPI::Vector &trace,
                               const unsigned int interface) const
  {
    Implementation &data      = *implementation;
    const auto     &numbering = data.numbering;
    AssertIndexRange(interface, numbering.block_of_interface.size());
    internal::check_no_ghosts(trace);
#  ifdef TESSELLA_HAVE_CUDA
    data.fetch_dirichlet();
#  endif
    const unsigned int block = numbering.block_of_interface[interface];
    AssertThrow(block == invalid_index || block < numbering.n_owned_blocks(),
                ExcMessage("Interface " + std::to_string(interface) +
                           " belongs to another process."));
    if (block != invalid_index)
      return {trace.begin() + numbering.dof_offset[block],
              trace.begin() + numbering.dof_offset[block + 1]};
    return {data.dirichlet.begin() + data.dirichlet_offset[interface],
            data.dirichlet.begin() + data.dirichlet_offset[interface + 1]};
  }
#endif



  template <int dim>
  types::global_dof_index
  HDG<dim>::first_dof(const unsigned int interface) const
  {
    const auto &numbering = implementation->numbering;
    AssertIndexRange(interface, numbering.block_of_interface.size());
    const unsigned int block = numbering.block_of_interface[interface];
    if (block == invalid_index)
      return numbers::invalid_dof_index;
    return block < numbering.n_owned_blocks()
             ? numbering.first_dof() + numbering.dof_offset[block]
             : numbering.ghost_columns[numbering.dof_offset[block] -
                                       numbering.n_owned_dofs()];
  }



  template <int dim>
  Backend
  HDG<dim>::backend() const
  {
    return implementation->backend;
  }



  template <int dim>
  const HDGReport &
  HDG<dim>::report() const
  {
    return implementation->report;
  }



#define INSTANTIATE(dim, VectorType)                                       \
  TESSELLA_IF_EPETRA(                                                      \
    template void HDG<dim>::recover(const Form<dim> &,                     \
                                    const TrilinosWrappers::MPI::Vector &, \
                                    VectorType &,                          \
                                    VectorType &);)                        \
  template void HDG<dim>::post_process(const Form<dim> &,                  \
                                       const VectorType &,                 \
                                       const VectorType &,                 \
                                       const AgglomerationHandler<dim> &,  \
                                       VectorType &) const;
  INSTANTIATE(2, Vector<double>)
  TESSELLA_IF_EPETRA(INSTANTIATE(2, TrilinosWrappers::MPI::Vector))
  INSTANTIATE(3, Vector<double>)
  TESSELLA_IF_EPETRA(INSTANTIATE(3, TrilinosWrappers::MPI::Vector))
#undef INSTANTIATE
  template class HDG<2>;
  template class HDG<3>;
} // namespace Tessella
