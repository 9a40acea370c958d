// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "throughput_case.h"

#include <deal.II/base/function.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>
#include <deal.II/base/utilities.h>

#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/forms/isotropic_elasticity.h>
#include <tessella/lac/block_sparsity.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <malloc.h>
#include <memory>
#include <type_traits>

#include "functor.h"
#include "strategy_assembler.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      double
      peak_memory()
      {
        Utilities::System::MemoryStats stats;
        Utilities::System::get_memory_stats(stats);
        return 1024. * stats.VmHWM;
      }

      /// Touches memory and returns it to the allocator, which keeps it, so
      /// that later allocations reuse pages that are already mapped.
      void
      touch_memory(const std::size_t bytes)
      {
        // All allocations use the heap, which never returns memory to the
        // system.
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, -1);
        const std::unique_ptr<char[]> memory(new char[bytes]);
        constexpr std::size_t         page = 4096;
        volatile char                *p    = memory.get();
        for (std::size_t i = 0; i < bytes; i += page)
          p[i] = 0;
      }

      /// Touches the memory of values and columns of the matrix, another array
      /// of the size of the columns for temporary data, and eight vectors.
      template <int dim>
      void
      touch_for(const PolytopicMesh<dim> &mesh, const PolytopicDoFs &dofs)
      {
        const BlockSparsity sparsity = BlockSparsity::from_mesh(mesh, dofs);
        touch_memory(sparsity.n_nonzero_elements() *
                       (sizeof(double) + 2 * sizeof(int)) +
                     dofs.dof_offset.back() * 8 * sizeof(double));
      }

      // ---- Several processes start at the same time; the slowest one counts.

      void
      wait_for_all()
      {
        if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
          MPI_Barrier(MPI_COMM_WORLD);
      }

      double
      largest(const double seconds)
      {
        return Utilities::MPI::max(seconds, MPI_COMM_WORLD);
      }

      double
      slowest(const Timer &timer)
      {
        return largest(timer.wall_time());
      }

      /// Takes the times, the kernel times and the memory of the process with
      /// the largest value.
      void
      reduce(AssemblyReport &report)
      {
        for (double *time : {&report.structure_time,
                             &report.geometry_time,
                             &report.assembly_time,
                             &report.preparation_time,
                             &report.tabulation_time,
                             &report.upload_time,
                             &report.kernel_time,
                             &report.download_time,
                             &report.handover_time})
          *time = largest(*time);
        report.device_memory    = largest(report.device_memory);
        report.compression.time = largest(report.compression.time);
        report.n_parts = Utilities::MPI::max(report.n_parts, MPI_COMM_WORLD);
        // The processes need not run the same kernels.
        std::vector<std::pair<std::string, double>> own;
        for (const KernelTime &kernel : report.kernel_times)
          own.emplace_back(kernel.name, kernel.seconds);
        report.kernel_times.clear();
        for (const auto &times :
             Utilities::MPI::all_gather(MPI_COMM_WORLD, own))
          for (const auto &time : times)
            {
              const auto same = std::find_if(report.kernel_times.begin(),
                                             report.kernel_times.end(),
                                             [&](const KernelTime &kernel) {
                                               return kernel.name == time.first;
                                             });
              if (same == report.kernel_times.end())
                report.kernel_times.push_back({time.first, time.second});
              else
                same->seconds = std::max(same->seconds, time.second);
            }
      }

      void
      sum_up(AssemblyWork &work)
      {
        for (double *number : {&work.volume_flops,
                               &work.interior_diagonal_flops,
                               &work.boundary_flops,
                               &work.neighbor_flops,
                               &work.diagonal_bytes,
                               &work.neighbor_bytes,
                               &work.rhs_bytes,
                               &work.subcell_bytes,
                               &work.facet_bytes,
                               &work.structure_bytes,
                               &work.volume_coefficient_bytes,
                               &work.facet_coefficient_bytes})
          *number = Utilities::MPI::sum(*number, MPI_COMM_WORLD);
        for (std::uint64_t *number :
             {&work.n_volume_points, &work.n_facet_points})
          *number = Utilities::MPI::sum(*number, MPI_COMM_WORLD);
      }

      using KernelTimes = std::vector<KernelTime>;

      void
      keep_least(KernelTimes &least, const KernelTimes &times)
      {
        // Some kernels run in the first assembly only.
        for (KernelTime &kernel : least)
          for (const KernelTime &time : times)
            if (time.name == kernel.name)
              kernel.seconds = std::min(kernel.seconds, time.seconds);
      }



      struct TrilinosSystem
      {
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs;

        template <typename Assembler>
        void
        reinit(Assembler &assembler)
        {
          assembler.reinit(matrix, rhs);
        }
      };

      struct SparseSystem
      {
        SparsityPattern      pattern;
        SparseMatrix<double> matrix;
        Vector<double>       rhs;

        template <typename Assembler>
        void
        reinit(Assembler &assembler)
        {
          assembler.reinit(pattern, matrix, rhs);
        }
      };

      template <typename Number>
      struct DeviceSystem
      {
        DeviceBlockMatrix<Number> matrix;
        DeviceVector<Number>      rhs;

        template <typename Assembler>
        void
        reinit(Assembler &assembler)
        {
          assembler.reinit(matrix, rhs);
        }
      };

      /// Measures a program that assembles once, and then repeated assembly. @p
      /// complete adds the remaining contributions to the right-hand side.
      template <typename System,
                typename Assembler,
                typename FormType,
                typename Complete>
      void
      measure_assembly(Assembler         &assembler,
                       const FormType    &form,
                       const unsigned int repetitions,
                       const Complete    &complete,
                       ThroughputResult  &result)
      {
        System system;
        wait_for_all();
        Timer timer;
        system.reinit(assembler);
        result.structure = slowest(timer);
        // A program also stores its solution.
        auto solution = system.rhs;
        timer.restart();
        assembler.assemble(form, system.matrix, system.rhs);
        complete(system.rhs);
        result.first = slowest(timer);

        result.assembly         = std::numeric_limits<double>::max();
        double      kernel_time = assembler.report().kernel_time;
        KernelTimes kernels     = assembler.report().kernel_times;
        for (unsigned int r = 0; r < repetitions; ++r)
          {
            wait_for_all();
            timer.restart();
            assembler.assemble(form, system.matrix, system.rhs);
            complete(system.rhs);
            const double time = slowest(timer);
            kernel_time = std::min(kernel_time, assembler.report().kernel_time);
            keep_least(kernels, assembler.report().kernel_times);
            if (time < result.assembly)
              {
                result.assembly = time;
                result.report   = assembler.report();
              }
          }
        result.report.kernel_times = kernels;
        result.report.kernel_time  = kernel_time;
        if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
          reduce(result.report);
        result.n_nonzero = system.matrix.n_nonzero_elements();
      }

      /// Measures assembly into the kind of matrix that @p result asks for.
      template <int dim, typename FormType, typename Complete>
      void
      measure_kinds(const PolytopicSpace<dim> &space,
                    const FormType            &form,
                    const DiscretisationInput &discretisation,
                    const unsigned int         repetitions,
                    const Complete            &complete,
                    ThroughputResult          &result)
      {
        const Execution &execution = result.execution;
        typename PolytopicAssembler<dim>::AdditionalData data;
        data.backend         = execution.backend;
        data.instruction_set = execution.instruction_set;
        data.penalty         = discretisation.penalty;
        data.compression     = discretisation.compression;
        data.device_memory   = discretisation.device_memory;
        data.device          = discretisation.device;
        const auto measure   = [&](auto &assembler) {
          switch (execution.matrix)
            {
              case MatrixKind::trilinos:
                measure_assembly<TrilinosSystem>(
                  assembler, form, repetitions, complete, result);
                break;
              case MatrixKind::sparse:
                measure_assembly<SparseSystem>(
                  assembler, form, repetitions, complete, result);
                break;
              case MatrixKind::device:
                measure_assembly<DeviceSystem<double>>(
                  assembler, form, repetitions, complete, result);
                break;
              case MatrixKind::device_single:
                measure_assembly<DeviceSystem<float>>(
                  assembler, form, repetitions, complete, result);
                break;
            }
        };
        if (execution.strategy == AssemblyStrategy::block_rows)
          {
            PolytopicAssembler<dim> assembler(space, data);
            measure(assembler);
          }
        else if constexpr (std::is_base_of<Form<dim>, FormType>::value)
          {
            StrategyAssembler<dim> assembler(space, execution.strategy, data);
            measure(assembler);
          }
      }

      /// Work of an assembly with the quadrature of its report.
      template <int dim>
      AssemblyWork
      work_of(const PolytopicMesh<dim> &mesh,
              const PolytopicDoFs      &dofs,
              const Form<dim>          &form,
              const AssemblyReport     &report)
      {
        AssemblyWork work = assembly_work(mesh, dofs, form);
        use_compressed_points(dim, report.compression, work);
        return work;
      }

      /// Measures linear elasticity with a unit force. Its work is that of all
      /// pairs of components of the scalar form with the same quadrature, while
      /// geometry and structure are read once.
      template <int dim>
      void
      measure_elasticity(const AgglomerationHandler<dim> &handler,
                         const DiscretisationInput       &discretisation,
                         const unsigned int               repetitions,
                         ThroughputResult                &result)
      {
        IsotropicElasticity<dim> form(1., 1.);
        form.set_force(
          std::make_shared<Functions::ConstantFunction<dim>>(1., dim));
        form.set_theta(discretisation.theta);
        form.set_coefficient_order(result.coefficient_order);
        measure_kinds<dim>(
          handler,
          static_cast<const SystemForm<dim> &>(form),
          discretisation,
          repetitions,
          [](auto &) {},
          result);
        AssemblyWork &work = result.work;
        work               = assembly_work(handler.polytopic_mesh(),
                             handler.polytopic_dofs(),
                             *form.form(0, 0));
        for (double *number : {&work.volume_flops,
                               &work.interior_diagonal_flops,
                               &work.boundary_flops,
                               &work.neighbor_flops,
                               &work.diagonal_bytes,
                               &work.neighbor_bytes})
          *number *= dim * dim;
        work.rhs_bytes *= dim;
      }

      /// Coefficients of a form at the point (1/2, ..., 1/2), in a cell of
      /// index and material zero.
      template <int dim>
      struct CoefficientValues
      {
        explicit CoefficientValues(const Form<dim> &form)
        {
          const VolumeStructure structure = form.volume_structure();
          tensor = structure.diffusion == DiffusionType::tensor;
          double             x[dim], a[dim * dim] = {}, b[dim] = {};
          VolumeBlocks<dim>  blocks = {};
          PointBatch<dim>    point;
          const unsigned int zero = 0;
          point.n_points          = 1;
          point.subcell = point.material = &zero;
          for (unsigned int d = 0; d < dim; ++d)
            {
              x[d]        = 0.5;
              point.x[d]  = x + d;
              blocks.b[d] = structure.b ? b + d : nullptr;
            }
          for (unsigned int d = 0; d < dim * dim; ++d)
            if (tensor ||
                (d == 0 && structure.diffusion != DiffusionType::none))
              blocks.a[d] = a + d;
          blocks.c = structure.c ? &reaction : nullptr;
          blocks.f = structure.f ? &source : nullptr;
          form.evaluate_volume(point, blocks);
          for (unsigned int d = 0; d < dim; ++d)
            {
              advection[d] = b[d];
              for (unsigned int e = 0; e < dim; ++e)
                diffusion[d][e] =
                  tensor ? a[dim * d + e] : (d == e ? a[0] : 0.);
            }
        }

        bool           tensor;
        Tensor<2, dim> diffusion;
        Tensor<1, dim> advection;
        double         reaction = 0., source = 0.;
      };

      /// Measures one space-time slab over the polytopes with total-degree
      /// elements. The coefficients of the problem must be constant. The inflow
      /// from the preceding slab contributes to the right-hand side if the
      /// latter is on the host.
      template <int dim>
      void
      measure_slab(const AgglomerationHandler<dim> &handler,
                   const Problem<dim>              &problem,
                   const DiscretisationInput       &discretisation,
                   const unsigned int               repetitions,
                   const bool                       warm_memory,
                   ThroughputResult                &result)
      {
        AssertThrow(problem.form.volume_structure().constant,
                    ExcMessage("With Benchmark/Time step, coefficients of the "
                               "equation must be constant."));
        const CoefficientValues<dim> values(problem.form);
        SpaceTimeForm<dim>           form;
        form.set_diffusion(values.diffusion);
        form.set_advection(values.advection);
        form.set_reaction(values.reaction);
        form.set_source(1.);
        form.set_theta(discretisation.theta);

        Timer              timer;
        SpaceTimeSlab<dim> slab(handler, PolynomialSpaceType::total_degree);
        slab.reinit(0., result.execution.time_step);
        result.setup += timer.wall_time();
        Vector<double> before(handler.n_dofs());
        before = 1.;
        if (warm_memory)
          touch_for(slab.polytopic_mesh(), slab.polytopic_dofs());
        measure_kinds<dim + 1>(
          slab,
          static_cast<const Form<dim + 1> &>(form),
          discretisation,
          repetitions,
          [&](auto &rhs) {
            using VectorType = std::decay_t<decltype(rhs)>;
            if constexpr (std::is_same<VectorType, Vector<double>>::value ||
                          std::is_same<VectorType,
                                       TrilinosWrappers::MPI::Vector>::value)
              slab.add_inflow(before, rhs);
          },
          result);
        result.n_dofs = slab.n_dofs();
        result.work =
          assembly_work(slab.polytopic_mesh(), slab.polytopic_dofs(), form);
      }
    } // namespace

    namespace
    {
      /// Values of all volume coefficients at some points of the unit cube.
      template <int dim>
      std::vector<double>
      sample(const Form<dim> &form)
      {
        constexpr unsigned int n       = 4;
        const double           x[3][n] = {{0.1, 0.4, 0.7, 0.9},
                                          {0.8, 0.2, 0.5, 0.3},
                                          {0.3, 0.9, 0.6, 0.2}};
        std::vector<double>    values((dim * dim + 2 * dim + 2) * n, 0.);
        double                *next = values.data();
        const auto             take = [&next](const bool wanted) {
          next += n;
          return wanted ? next - n : nullptr;
        };
        const VolumeStructure structure = form.volume_structure();
        VolumeBlocks<dim>     blocks    = {};
        for (int d = 0; d < dim * dim; ++d)
          blocks.a[d] =
            take(structure.diffusion == DiffusionType::tensor ||
                 (d == 0 && structure.diffusion != DiffusionType::none));
        for (int d = 0; d < dim; ++d)
          {
            blocks.beta[d] = take(structure.beta);
            blocks.b[d]    = take(structure.b);
          }
        blocks.c = take(structure.c);
        blocks.f = take(structure.f);
        const std::vector<unsigned int> zeros(n, 0);
        PointBatch<dim>                 points;
        points.n_points = n;
        for (int d = 0; d < dim; ++d)
          points.x[d] = x[d];
        points.subcell = points.material = zeros.data();
        form.evaluate_volume(points, blocks);
        return values;
      }

      /// Form of the problem with constant coefficients, which are the values
      /// at the point (1/2, ..., 1/2), and with its boundary conditions on the
      /// given boundary ids.
      template <int dim>
      std::unique_ptr<AdvectionDiffusionReaction<dim>>
      make_constant_form(const Problem<dim>                    &problem,
                         const std::vector<types::boundary_id> &boundary_ids)
      {
        // A copy of the form would share its coefficients with the original.
        auto   form  = std::make_unique<AdvectionDiffusionReaction<dim>>();
        double theta = 1.;
        problem.form.has_penalty_facets(theta);
        form->set_theta(theta);
        for (const types::boundary_id id : boundary_ids)
          form->set_boundary_condition(id, problem.form.boundary_condition(id));
        const CoefficientValues<dim> values(problem.form);
        if (values.tensor)
          form->set_diffusion(values.diffusion);
        else
          form->set_diffusion(values.diffusion[0][0]);
        form->set_advection(values.advection);
        form->set_reaction(values.reaction);
        form->set_source(values.source);
        return form;
      }

      /// Form of the problem with the given representation of coefficients. @p
      /// order is the order of quadrature; -1: the order of the form.
      template <int dim>
      std::unique_ptr<Form<dim>>
      make_form(const Problem<dim>                    &problem,
                const CoefficientKind                  coefficients,
                const int                              order,
                const std::vector<types::boundary_id> &boundary_ids)
      {
        if (coefficients != CoefficientKind::functor)
          {
            // The order of quadrature is that of the equation for elasticity,
            // too.
            auto form = coefficients == CoefficientKind::constant
                          ? make_constant_form(problem, boundary_ids)
                          : std::make_unique<AdvectionDiffusionReaction<dim>>(
                              problem.form);
            form->set_run_time_compilation(coefficients !=
                                           CoefficientKind::function);
            if (order >= 0)
              form->set_coefficient_order(order);
            return form;
          }
        double theta = 1.;
        problem.form.has_penalty_facets(theta);
        std::unique_ptr<Form<dim>> form =
          make_functor_form<dim>(order >= 0 ? static_cast<unsigned int>(order)
                                            : problem.form.coefficient_order(),
                                 theta);
        const std::vector<double> here  = sample(*form),
                                  there = sample(problem.form);
        bool same                       = true;
        for (std::size_t i = 0; i < here.size(); ++i)
          same = same && std::abs(here[i] - there[i]) < 1e-12;
        AssertThrow(same,
                    ExcMessage("Benchmark/Coefficients has 'functor', but the "
                               "equation is not that of the functor of this "
                               "program: use the section Equation of "
                               "throughput_coefficients.prm."));
        return form;
      }
    } // namespace

    double
    resident_memory()
    {
      malloc_trim(0);
      Utilities::System::MemoryStats stats;
      Utilities::System::get_memory_stats(stats);
      return 1024. * stats.VmRSS;
    }

    template <int dim>
    ThroughputResult
    measure_case(BenchmarkCase<dim> benchmark,
                 const Execution   &execution,
                 const bool         warm_memory)
    {
      const Mesh<dim> &mesh    = benchmark.mesh.mesh;
      Problem<dim>    &problem = benchmark.problem;
      MultithreadInfo::set_thread_limit(execution.n_threads);
      ThroughputResult result;
      result.execution = execution;
      result.degree    = benchmark.degree;

      double memory_before = 0.;
      if (!warm_memory)
        {
          memory_before = resident_memory();
          // Resets the peak of the resident set size.
          std::ofstream("/proc/self/clear_refs") << "5";
        }

      wait_for_all();
      Timer                     timer;
      AgglomerationHandler<dim> handler(*mesh.triangulation,
                                        mesh.mapping.get());
      handler.agglomerate(benchmark.mesh.strategy);
      on_all_processes(MPI_COMM_WORLD, [&]() {
        benchmark.equation.set_cell_values(problem, mesh, handler);
      });
      const std::unique_ptr<Form<dim>> form =
        make_form(problem,
                  execution.coefficients,
                  execution.coefficient_order >= 0
                    ? execution.coefficient_order
                    : benchmark.discretisation.coefficient_order,
                  mesh.triangulation->get_boundary_ids());
      result.coefficient_order = form->coefficient_order();
      const bool elasticity =
        execution.coefficients == CoefficientKind::elasticity;
      benchmark.discretisation.distribute_dofs(handler,
                                               benchmark.degree,
                                               elasticity ? dim : 1);
      compute_penalty_factors(handler,
                              benchmark.discretisation.penalty.formula);
      result.setup         = slowest(timer);
      result.mesh          = largest(benchmark.mesh.mesh_seconds);
      result.agglomeration = largest(benchmark.mesh.agglomeration_seconds);
      result.n_processes   = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);

      const PolytopicMesh<dim> &view = handler.polytopic_mesh();
      const PolytopicDoFs      &dofs = handler.polytopic_dofs();
      if (warm_memory && execution.time_step == 0.)
        touch_for(view, dofs);

      if (execution.time_step > 0.)
        measure_slab(handler,
                     problem,
                     benchmark.discretisation,
                     benchmark.repetitions,
                     warm_memory,
                     result);
      else if (elasticity)
        measure_elasticity(handler,
                           benchmark.discretisation,
                           benchmark.repetitions,
                           result);
      else
        measure_kinds<dim>(
          handler,
          *form,
          benchmark.discretisation,
          benchmark.repetitions,
          [](auto &) {},
          result);
      const double peak = peak_memory();

      result.n_cells     = mesh.triangulation->n_global_active_cells();
      result.n_polytopes = handler.n_global_polytopes();
      if (execution.time_step == 0.)
        {
          result.n_dofs = handler.n_dofs();
          if (!elasticity)
            result.work = work_of(view, dofs, *form, result.report);
          sum_up(result.work);
        }
      if (execution.matrix == MatrixKind::device_single)
        for (double *bytes : {&result.work.diagonal_bytes,
                              &result.work.neighbor_bytes,
                              &result.work.rhs_bytes})
          *bytes *= double(sizeof(float)) / sizeof(double);
      if (!warm_memory)
        {
          const auto sum = [](const double bytes) {
            return Utilities::MPI::sum(bytes, MPI_COMM_WORLD);
          };
          result.memory =
            sum(benchmark.mesh.resident + peak - memory_before) /
            (sum(mesh.triangulation->memory_consumption() +
                 view.memory_consumption() + dofs.memory_consumption()) +
             result.n_nonzero * (sizeof(double) + sizeof(int)) +
             result.n_dofs * (2. * sizeof(double) + sizeof(int)));
        }
      return result;
    }

    template ThroughputResult
    measure_case(BenchmarkCase<2>, const Execution &, const bool);
    template ThroughputResult
    measure_case(BenchmarkCase<3>, const Execution &, const bool);
  } // namespace Application
} // namespace Tessella
