// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "throughput_input.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/portable/legendre.h>

#include <algorithm>
#include <string>

#include "../common/discretisation_input.h"
#include "../common/expression.h"
#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    std::string
    name(const MatrixKind matrix)
    {
      switch (matrix)
        {
          case MatrixKind::trilinos:
            return "trilinos";
          case MatrixKind::sparse:
            return "sparse";
          case MatrixKind::device:
            return "device";
          default:
            return "device single";
        }
    }

    std::string
    name(const CoefficientKind coefficients)
    {
      return coefficients == CoefficientKind::expression ? "expression"
             : coefficients == CoefficientKind::function ? "function"
             : coefficients == CoefficientKind::functor  ? "functor"
                                                         : "constant";
    }

    namespace
    {
      constexpr MatrixKind all_matrices[] = {MatrixKind::trilinos,
                                             MatrixKind::sparse,
                                             MatrixKind::device,
                                             MatrixKind::device_single};

      std::string
      matrix_names()
      {
        std::string names;
        for (const MatrixKind matrix : all_matrices)
          names += (names.empty() ? "" : "|") + name(matrix);
        return names;
      }
    } // namespace

    void
    ThroughputInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Benchmark");
      prm.declare_entry("Repetitions",
                        "5",
                        Patterns::Integer(1),
                        "Assemblies per case after the first one; the "
                        "fastest counts.");
      prm.declare_entry("Degrees of meshes",
                        "",
                        Patterns::Anything(),
                        "Degrees for each mesh, separated by |, for example "
                        "1, 2 | 3 for two meshes. Empty: all degrees of "
                        "Discretisation/Degree on every mesh.");
      prm.declare_entry("Backends",
                        "",
                        Patterns::List(
                          Patterns::Selection("|automatic|host|cuda")),
                        "Backends to measure: cuda, host. Empty: "
                        "Execution/Backend.");
      prm.declare_entry(
        "Strategies",
        "block_rows",
        Patterns::List(Patterns::Selection(assembly_strategy_names())),
        "Ways to assemble on a CUDA device. block_rows is the library's own; "
        "the others are those of Dong, Georgoulis and Kappas (2021): "
        "coordinate_sort their approach 1, precomputed_pattern approach 2. "
        "The host has block_rows only.");
      prm.declare_entry(
        "Matrices",
        "trilinos",
        Patterns::List(Patterns::Selection(matrix_names())),
        "What is filled: a TrilinosWrappers::SparseMatrix, a "
        "dealii::SparseMatrix, or a DeviceBlockMatrix in double or single "
        "precision (CUDA only). Strategies but the first one fill the first "
        "kind only.");
      prm.declare_entry(
        "Coefficients",
        "expression",
        Patterns::List(
          Patterns::Selection("expression|function|functor|constant")),
        "How the coefficients of the equation are given: as expressions, which "
        "are compiled for a CUDA device at run time; as functions, which the "
        "host's threads evaluate; as the functor of this program, whose "
        "coefficients are those of throughput_coefficients.prm; constant: "
        "their values at the point (1/2, ..., 1/2), with which the others are "
        "compared.");
      prm.declare_entry(
        "Coefficient orders",
        "",
        Patterns::Anything(),
        "Measure with quadrature for coefficients of each of these polynomial "
        "degrees: 0, 2. Empty: Discretisation/Coefficient order.");
      prm.declare_entry("Threads",
                        "1",
                        Patterns::Anything(),
                        "Numbers of threads to run with: 1, 2, 4.");
      prm.declare_entry(
        "Instruction sets",
        "automatic",
        Patterns::List(Patterns::Selection("automatic|plain|avx2|avx512")),
        "Host kernels to run; automatic is the widest of the processor.");
      prm.declare_entry("Time step",
                        "0",
                        Patterns::Double(0.),
                        "Length of a space-time slab, whose "
                        "elements of total degree are assembled for du/dt - "
                        "div(a grad u) + b . grad u + c u = 1 with the constant"
                        " coefficients of the equation, and with the inflow of "
                        "a slab before. 0: the equation in space.");
      prm.declare_entry("Warm memory",
                        "false",
                        Patterns::Bool(),
                        "Touch as much memory as a case needs and keep it in "
                        "the process before times are taken: what a program "
                        "sees that has run for a while. Virtual machines may "
                        "need a second for each GiB touched first. The memory "
                        "of a case is not measured then.");
      prm.declare_entry("Coefficients only",
                        "false",
                        Patterns::Bool(),
                        "Measure what the host does for coefficients that "
                        "vary, instead of assembly: evaluating the functions "
                        "alone, and tabulating them for a device, which need "
                        "not be there.");
      prm.leave_subsection();
    }

    void
    ThroughputInput::parse_parameters(
      ParameterHandler                &prm,
      const Backend                    default_backend,
      const std::vector<unsigned int> &default_degrees,
      const unsigned int               n_levels)
    {
      prm.enter_subsection("Benchmark");
      n_repetitions          = prm.get_integer("Repetitions");
      warm                   = prm.get_bool("Warm memory");
      const double time_step = prm.get_double("Time step");
      coefficients           = prm.get_bool("Coefficients only");

      degrees_of_level.assign(n_levels, default_degrees);
      const std::vector<std::string> lists =
        split(prm.get("Degrees of meshes"), '|');
      if (!lists.empty())
        {
          AssertThrow(lists.size() == n_levels,
                      ExcMessage(
                        "Benchmark/Degrees of meshes has degrees for " +
                        std::to_string(lists.size()) +
                        " meshes, but there are " + std::to_string(n_levels) +
                        " (Mesh/Levels): separate them by |, or leave "
                        "the parameter empty."));
          for (unsigned int level = 0; level < n_levels; ++level)
            degrees_of_level[level] =
              parse_integers("Benchmark/Degrees of meshes",
                             lists[level],
                             0,
                             Legendre::max_degree);
        }

      std::vector<InstructionSet> instruction_sets;
      for (const std::string &set : split(prm.get("Instruction sets"), ','))
        instruction_sets.push_back(set == "plain"    ? InstructionSet::plain
                                   : set == "avx2"   ? InstructionSet::avx2
                                   : set == "avx512" ? InstructionSet::avx512
                                                     : best_instruction_set());
      std::vector<Backend> backends;
      for (const std::string &backend : split(prm.get("Backends"), ','))
        backends.push_back(backend == "host"   ? Backend::host
                           : backend == "cuda" ? Backend::cuda
                                               : Backend::automatic);
      if (backends.empty())
        backends.push_back(default_backend);
      // All processes must choose the same backend.
      const bool have_device =
        Utilities::MPI::min(cuda_is_available() ? 1 : 0, MPI_COMM_WORLD) > 0;
      for (const Backend backend : backends)
        check_backend(prm.get("Backends").empty() ? "Execution/Backend"
                                                  : "Benchmark/Backends",
                      backend);
      for (Backend &backend : backends)
        if (backend == Backend::automatic)
          backend = have_device ? Backend::cuda : Backend::host;
      std::vector<AssemblyStrategy> strategies;
      for (const std::string &strategy : split(prm.get("Strategies"), ','))
        strategies.push_back(assembly_strategy(strategy));
      std::vector<MatrixKind> matrices;
      for (const std::string &matrix : split(prm.get("Matrices"), ','))
        for (const MatrixKind kind : all_matrices)
          if (name(kind) == matrix)
            matrices.push_back(kind);
      std::vector<CoefficientKind> kinds;
      for (const std::string &kind : split(prm.get("Coefficients"), ','))
        kinds.push_back(kind == "functor"    ? CoefficientKind::functor
                        : kind == "function" ? CoefficientKind::function
                        : kind == "constant" ? CoefficientKind::constant
                                             : CoefficientKind::expression);
      std::vector<int> orders = {-1};
      if (!prm.get("Coefficient orders").empty())
        {
          orders.clear();
          for (const unsigned int order :
               parse_integers("Benchmark/Coefficient orders",
                              prm.get("Coefficient orders"),
                              0,
                              20))
            orders.push_back(static_cast<int>(order));
        }
      const std::vector<unsigned int> threads =
        parse_integers("Benchmark/Threads", prm.get("Threads"), 1, 4096);
      prm.leave_subsection();

      present_executions.clear();
      for (const Backend backend : backends)
        for (const AssemblyStrategy strategy : strategies)
          for (const MatrixKind matrix : matrices)
            {
              // The host has one strategy and no matrices on a device.
              // Strategies other than the first one are compared with one kind
              // of matrix.
              const bool host      = backend == Backend::host,
                         first     = strategy == strategies.front(),
                         on_device = matrix == MatrixKind::device ||
                                     matrix == MatrixKind::device_single;
              if ((host && (!first || on_device)) ||
                  (!first && matrix != matrices.front()))
                continue;
              for (const unsigned int n_threads : threads)
                for (const InstructionSet set : instruction_sets)
                  for (const int order : orders)
                    for (const CoefficientKind kind : kinds)
                      present_executions.push_back(
                        {backend,
                         backend == Backend::host ? AssemblyStrategy::block_rows
                                                  : strategy,
                         n_threads,
                         set,
                         matrix,
                         time_step,
                         kind,
                         order});
            }
    }

    unsigned int
    ThroughputInput::repetitions() const
    {
      return n_repetitions;
    }

    const std::vector<unsigned int> &
    ThroughputInput::degrees(const unsigned int level) const
    {
      AssertIndexRange(level, degrees_of_level.size());
      return degrees_of_level[level];
    }

    const std::vector<Execution> &
    ThroughputInput::executions() const
    {
      return present_executions;
    }

    bool
    ThroughputInput::warm_memory() const
    {
      return warm;
    }

    bool
    ThroughputInput::coefficients_only() const
    {
      return coefficients;
    }
  } // namespace Application
} // namespace Tessella
