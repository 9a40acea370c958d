// SPDX-License-Identifier: LGPL-2.1-or-later
#include "throughput_case.h"

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>
#include <deal.II/base/utilities.h>

#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/assembly/block_sparsity.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <malloc.h>
#include <memory>

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

      /// Touches memory and gives it back to the allocator, which keeps it:
      /// allocations that follow find pages that are there.
      void
      touch_memory(const std::size_t bytes)
      {
        // Everything from the heap, and nothing back to the system.
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, -1);
        const std::unique_ptr<char[]> memory(new char[bytes]);
        constexpr std::size_t         page = 4096;
        volatile char                *p    = memory.get();
        for (std::size_t i = 0; i < bytes; i += page)
          p[i] = 0;
      }

      using KernelTimes = std::vector<KernelTime>;

      void
      keep_least(KernelTimes &least, const KernelTimes &times)
      {
        // (some kernels run in the first assembly only)
        for (KernelTime &kernel : least)
          for (const KernelTime &time : times)
            if (time.name == kernel.name)
              kernel.seconds = std::min(kernel.seconds, time.seconds);
      }
      struct TrilinosSystem
      {
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs;

        template <int dim>
        void
        reinit(PolytopicAssembler<dim> &assembler)
        {
          assembler.reinit(matrix, rhs);
        }
      };

      struct SparseSystem
      {
        SparsityPattern      pattern;
        SparseMatrix<double> matrix;
        Vector<double>       rhs;

        template <int dim>
        void
        reinit(PolytopicAssembler<dim> &assembler)
        {
          assembler.reinit(pattern, matrix, rhs);
        }
      };

      template <typename Number>
      struct DeviceSystem
      {
        DeviceBlockMatrix<Number> matrix;
        DeviceVector<Number>      rhs;

        template <int dim>
        void
        reinit(PolytopicAssembler<dim> &assembler)
        {
          assembler.reinit(matrix, rhs);
        }
      };

      /// First the program that assembles once, then repeated assembly.
      template <typename System, int dim>
      void
      measure_assembly(PolytopicAssembler<dim> &assembler,
                       const Problem<dim>      &problem,
                       const unsigned int       repetitions,
                       ThroughputResult        &result)
      {
        System system;
        Timer  timer;
        system.reinit(assembler);
        result.structure = timer.wall_time();
        // the solution that a program has, too
        auto solution = system.rhs;
        timer.restart();
        assembler.assemble(problem.form, system.matrix, system.rhs);
        result.first = timer.wall_time();

        result.assembly         = std::numeric_limits<double>::max();
        double      kernel_time = assembler.report().kernel_time;
        KernelTimes kernels     = assembler.report().kernel_times;
        for (unsigned int r = 0; r < repetitions; ++r)
          {
            timer.restart();
            assembler.assemble(problem.form, system.matrix, system.rhs);
            const double time = timer.wall_time();
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
        result.n_nonzero           = system.matrix.n_nonzero_elements();
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
    measure_case(const AgglomeratedMesh<dim> &mesh,
                 const EquationInput         &equation,
                 Problem<dim>                 problem,
                 const DiscretisationInput   &discretisation,
                 const unsigned int           degree,
                 const Execution             &execution,
                 const unsigned int           repetitions,
                 const bool                   warm_memory)
    {
      MultithreadInfo::set_thread_limit(execution.n_threads);
      ThroughputResult result;
      result.execution = execution;
      result.degree    = degree;

      double memory_before = 0.;
      if (!warm_memory)
        {
          memory_before = resident_memory();
          // a new measurement of the largest resident size
          std::ofstream("/proc/self/clear_refs") << "5";
        }

      Timer                     timer;
      AgglomerationHandler<dim> handler(*mesh.mesh.triangulation,
                                        mesh.mesh.mapping.get());
      handler.agglomerate(Agglomeration::by_id<dim>(mesh.ids));
      equation.set_cell_values(problem, mesh.mesh, handler);
      discretisation.distribute_dofs(handler, degree);
      compute_penalty_factors(handler, discretisation.penalty().formula);
      result.setup = timer.wall_time();

      const PolytopicMesh<dim> &view = handler.polytopic_mesh();
      if (warm_memory)
        {
          const BlockSparsity sparsity = BlockSparsity::from_mesh(view);
          // Values and columns, and as much again as the columns take for what
          // is there for a time only.
          touch_memory(sparsity.n_nonzero_elements() *
                         (sizeof(double) + 2 * sizeof(int)) +
                       handler.n_dofs() * 8 * sizeof(double));
        }

      typename PolytopicAssembler<dim>::AdditionalData data;
      data.backend         = execution.backend;
      data.strategy        = execution.strategy;
      data.instruction_set = execution.instruction_set;
      data.penalty         = discretisation.penalty();
      data.device_memory   = discretisation.device_memory();
      PolytopicAssembler<dim> assembler(handler, data);
      switch (execution.matrix)
        {
          case MatrixKind::trilinos:
            measure_assembly<TrilinosSystem>(assembler,
                                             problem,
                                             repetitions,
                                             result);
            break;
          case MatrixKind::sparse:
            measure_assembly<SparseSystem>(assembler,
                                           problem,
                                           repetitions,
                                           result);
            break;
          case MatrixKind::device:
            measure_assembly<DeviceSystem<double>>(assembler,
                                                   problem,
                                                   repetitions,
                                                   result);
            break;
          case MatrixKind::device_single:
            measure_assembly<DeviceSystem<float>>(assembler,
                                                  problem,
                                                  repetitions,
                                                  result);
            break;
        }
      const double peak = peak_memory();

      result.n_cells     = mesh.mesh.triangulation->n_active_cells();
      result.n_polytopes = handler.n_polytopes();
      result.n_dofs      = handler.n_dofs();
      result.work        = assembly_work(view, problem.form);
      if (execution.matrix == MatrixKind::device_single)
        for (double *bytes : {&result.work.diagonal_bytes,
                              &result.work.neighbor_bytes,
                              &result.work.rhs_bytes})
          *bytes *= double(sizeof(float)) / sizeof(double);
      if (!warm_memory)
        result.memory = (mesh.resident + peak - memory_before) /
                        (mesh.mesh.triangulation->memory_consumption() +
                         view.memory_consumption() +
                         result.n_nonzero * (sizeof(double) + sizeof(int)) +
                         result.n_dofs * (2. * sizeof(double) + sizeof(int)));
      return result;
    }

    template ThroughputResult
    measure_case(const AgglomeratedMesh<2> &,
                 const EquationInput &,
                 Problem<2>,
                 const DiscretisationInput &,
                 const unsigned int,
                 const Execution &,
                 const unsigned int,
                 const bool);
    template ThroughputResult
    measure_case(const AgglomeratedMesh<3> &,
                 const EquationInput &,
                 Problem<3>,
                 const DiscretisationInput &,
                 const unsigned int,
                 const Execution &,
                 const unsigned int,
                 const bool);
  } // namespace Application
} // namespace Tessella
