// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "throughput_input.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <iterator>
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
      return coefficients == CoefficientKind::expression   ? "expression"
             : coefficients == CoefficientKind::function   ? "function"
             : coefficients == CoefficientKind::functor    ? "functor"
             : coefficients == CoefficientKind::elasticity ? "elasticity"
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
      declare_degrees_of_meshes(prm);
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
        Patterns::List(Patterns::Selection(
          "expression|function|functor|constant|elasticity")),
        "How the coefficients of the equation are given: as expressions, which "
        "are compiled for a CUDA device at run time; as functions, which the "
        "host's threads evaluate; as the functor of this program, whose "
        "coefficients are those of throughput_coefficients.prm; constant: "
        "their values at the point (1/2, ..., 1/2), with which the others are "
        "compared; elasticity: instead of the equation, linear elasticity with "
        "constant Lame parameters, a system of as many components as there are "
        "variables, on the same meshes.");
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

    namespace
    {
      // Calls parse for every entry of a list that is separated by commas.
      template <typename Parse>
      auto
      parse_list(const std::string &text, const Parse &parse)
      {
        std::vector<decltype(parse(text))> result;
        for (const std::string &entry : split(text, ','))
          result.push_back(parse(entry));
        return result;
      }

      InstructionSet
      present_instruction_set(const std::string &name)
      {
        const InstructionSet set = parse_instruction_set(name);
        return set == InstructionSet::automatic ? best_instruction_set() : set;
      }

      MatrixKind
      matrix_kind(const std::string &text)
      {
        return *std::find_if(std::begin(all_matrices),
                             std::end(all_matrices),
                             [&](const MatrixKind kind) {
                               return name(kind) == text;
                             });
      }

      CoefficientKind
      coefficient_kind(const std::string &text)
      {
        return text == "functor"      ? CoefficientKind::functor
               : text == "function"   ? CoefficientKind::function
               : text == "constant"   ? CoefficientKind::constant
               : text == "elasticity" ? CoefficientKind::elasticity
                                      : CoefficientKind::expression;
      }

      // Returns the backends that are asked for; instead of automatic, the one
      // that all processes can use. Collective.
      std::vector<Backend>
      parse_backends(const std::string &list, const Backend default_backend)
      {
        std::vector<Backend> backends = parse_list(list, parse_backend);
        if (backends.empty())
          backends.push_back(default_backend);
        const bool have_device =
          Utilities::MPI::min(cuda_is_available() ? 1 : 0, MPI_COMM_WORLD) > 0;
        for (const Backend backend : backends)
          check_backend(list.empty() ? "Execution/Backend"
                                     : "Benchmark/Backends",
                        backend);
        for (Backend &backend : backends)
          if (backend == Backend::automatic)
            backend = have_device ? Backend::cuda : Backend::host;
        return backends;
      }

      std::vector<int>
      parse_orders(const std::string &list)
      {
        if (list.empty())
          return {-1};
        const std::vector<unsigned int> orders =
          parse_integers("Benchmark/Coefficient orders", list, 0, 20);
        return {orders.begin(), orders.end()};
      }

      // The host has one strategy and no matrices on a device. Strategies other
      // than the first one are compared with one kind of matrix.
      bool
      exists(const Backend                        backend,
             const AssemblyStrategy               strategy,
             const MatrixKind                     matrix,
             const std::vector<AssemblyStrategy> &strategies,
             const std::vector<MatrixKind>       &matrices)
      {
        const bool first = strategy == strategies.front();
        if (backend == Backend::host)
          return first && matrix != MatrixKind::device &&
                 matrix != MatrixKind::device_single;
        return first || matrix == matrices.front();
      }
    } // namespace

    void
    ThroughputInput::parse_parameters(
      ParameterHandler                &prm,
      const Backend                    default_backend,
      const std::vector<unsigned int> &default_degrees,
      const unsigned int               n_levels)
    {
      prm.enter_subsection("Benchmark");
      repetitions            = prm.get_integer("Repetitions");
      warm_memory            = prm.get_bool("Warm memory");
      const double time_step = prm.get_double("Time step");
      coefficients_only      = prm.get_bool("Coefficients only");
      degrees =
        parse_degrees_of_meshes(prm, "Benchmark", default_degrees, n_levels);

      const auto instruction_sets =
        parse_list(prm.get("Instruction sets"), present_instruction_set);
      const auto backends =
        parse_backends(prm.get("Backends"), default_backend);
      const auto strategies =
        parse_list(prm.get("Strategies"), assembly_strategy);
      const auto matrices = parse_list(prm.get("Matrices"), matrix_kind);
      const auto kinds  = parse_list(prm.get("Coefficients"), coefficient_kind);
      const auto orders = parse_orders(prm.get("Coefficient orders"));
      const std::vector<unsigned int> threads =
        parse_integers("Benchmark/Threads", prm.get("Threads"), 1, 4096);
      prm.leave_subsection();
      for (const CoefficientKind kind : kinds)
        AssertThrow(kind != CoefficientKind::elasticity ||
                      (strategies.size() == 1 &&
                       strategies[0] == AssemblyStrategy::block_rows &&
                       time_step == 0. && !coefficients_only),
                    ExcMessage(
                      "Benchmark/Coefficients has 'elasticity', which "
                      "is measured with Benchmark/Strategies = "
                      "block_rows, Time step = 0 and Coefficients only "
                      "= false."));

      executions.clear();
      for (const Backend backend : backends)
        for (const AssemblyStrategy strategy : strategies)
          for (const MatrixKind matrix : matrices)
            if (exists(backend, strategy, matrix, strategies, matrices))
              for (const unsigned int n_threads : threads)
                for (const InstructionSet set : instruction_sets)
                  for (const int order : orders)
                    for (const CoefficientKind kind : kinds)
                      executions.push_back({backend,
                                            backend == Backend::host
                                              ? AssemblyStrategy::block_rows
                                              : strategy,
                                            n_threads,
                                            set,
                                            matrix,
                                            time_step,
                                            kind,
                                            order});
    }
  } // namespace Application
} // namespace Tessella
