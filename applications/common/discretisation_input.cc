// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "discretisation_input.h"

#include <deal.II/base/multithread_info.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/hp/fe_collection.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/device_function.h>
#include <tessella/portable/legendre.h>

#include <cmath>

#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    check_backend(const std::string &parameter, const Backend backend)
    {
      on_all_processes(MPI_COMM_WORLD, [&]() {
        AssertThrow(backend != Backend::cuda || cuda_is_available(),
                    ExcMessage(parameter +
                               " = cuda: " + why_cuda_is_unavailable() +
                               " Take " + parameter + " = host or automatic."));
      });
    }



    void
    declare_degrees_of_meshes(ParameterHandler &prm)
    {
      prm.declare_entry("Degrees of meshes",
                        "",
                        Patterns::Anything(),
                        "Degrees for each mesh, separated by |, for example "
                        "1, 2 | 3 for two meshes. Empty: all degrees of "
                        "Discretisation/Degree on every mesh.");
    }



    std::vector<std::vector<unsigned int>>
    parse_degrees_of_meshes(const ParameterHandler          &prm,
                            const std::string               &section,
                            const std::vector<unsigned int> &degrees,
                            const unsigned int               n_levels)
    {
      std::vector<std::vector<unsigned int>> result(n_levels, degrees);
      const std::vector<std::string>         lists =
        split(prm.get("Degrees of meshes"), '|');
      if (lists.empty())
        return result;
      const std::string name = section + "/Degrees of meshes";
      AssertThrow(lists.size() == n_levels,
                  ExcMessage(
                    name + " has degrees for " + std::to_string(lists.size()) +
                    " meshes, but there are " + std::to_string(n_levels) +
                    " (Mesh/Levels): separate them by |, or leave "
                    "the parameter empty."));
      for (unsigned int level = 0; level < n_levels; ++level)
        result[level] =
          parse_integers(name, lists[level], 0, Legendre::max_degree);
      return result;
    }



    Backend
    parse_backend(const std::string &name)
    {
      return name == "host"   ? Backend::host
             : name == "cuda" ? Backend::cuda
                              : Backend::automatic;
    }



    InstructionSet
    parse_instruction_set(const std::string &name)
    {
      return name == "plain"    ? InstructionSet::plain
             : name == "avx2"   ? InstructionSet::avx2
             : name == "avx512" ? InstructionSet::avx512
                                : InstructionSet::automatic;
    }



    void
    DiscretisationInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Discretisation");
      prm.declare_entry("Study",
                        "h",
                        Patterns::Selection("h|p"),
                        "h: one table per degree, rates between meshes. p: "
                        "one table per mesh, the degree grows.");
      prm.declare_entry("Degree",
                        "1",
                        Patterns::Anything(),
                        "Polynomial degrees from 0 to 10: 1, 2, 3 or 0..6.");
      prm.declare_entry(
        "Degree expression",
        "",
        Patterns::Anything(),
        "hp: degree of a polytope, rounded, as an expression of the centre x, "
        "y, z of its bounding box, the diameter h of the box, and the degree "
        "p from the list above. Empty: p.");
      prm.declare_entry("Polynomial space",
                        "total degree",
                        Patterns::Selection("total degree|tensor product"),
                        "P_p or Q_p on the bounding boxes.");
      prm.declare_entry("Variant",
                        "symmetric",
                        Patterns::Selection(
                          "symmetric|incomplete|non-symmetric"),
                        "Variant of interior penalty.");
      prm.add_parameter("Penalty constant",
                        penalty.constant,
                        "Constant C of the penalty; positive.",
                        Patterns::Double());
      prm.declare_entry("Penalty formula",
                        "simplex",
                        Patterns::Selection("simplex|bounding box"),
                        "simplex: by the largest simplex on a facet inside "
                        "the polytope (Dong, Georgoulis, Kappas 2021). "
                        "bounding box: p^2 over the extent of the box.");
      prm.add_parameter("Coefficient order",
                        coefficient_order,
                        "Coefficients are integrated as polynomials of this "
                        "degree; -1: 0 if all are constant, else 2.",
                        Patterns::Integer(-1, 40));
      prm.declare_entry("Quadrature compression",
                        "never",
                        Patterns::Selection("never|always|automatic"),
                        "Replaces the quadrature points of the sub-cells of a "
                        "polytope by a subset with other weights that is exact "
                        "for the same polynomials: always, or (automatic) from "
                        "the third assembly on one mesh on. It pays for "
                        "polytopes of many sub-cells.");
      prm.add_parameter("Error quadrature order",
                        extra_order,
                        "Errors are integrated with order 2 p + this.",
                        Patterns::Integer(0, 40));
      prm.leave_subsection();

      prm.enter_subsection("Execution");
      prm.declare_entry("Backend",
                        "automatic",
                        Patterns::Selection("automatic|host|cuda"),
                        "Where assembly runs; automatic: on a CUDA device "
                        "where build and machine have one.");
      prm.declare_entry("Device memory",
                        "0",
                        Patterns::Double(0.),
                        "MiB that assembly may take on a CUDA device; 0: what "
                        "is free there, in equal parts for the processes that "
                        "share it. Problems that need more stream through, "
                        "with the same results.");
      prm.declare_entry("Instruction set",
                        "automatic",
                        Patterns::Selection("automatic|plain|avx2|avx512"),
                        "automatic: the widest of this processor. The same "
                        "one gives the same bits everywhere.");
      prm.declare_entry("Threads",
                        "0",
                        Patterns::Integer(0, 4096),
                        "Of each process; 0: as many as there are cores, "
                        "which the processes of a machine share. Results do "
                        "not depend on it.");
      prm.add_parameter("Device",
                        device,
                        "Number of the CUDA device that every process uses, "
                        "counted from 0. -1: the present one; of several "
                        "processes on a machine each takes one in turn, and "
                        "more processes than devices share them.",
                        Patterns::Integer(-1));
      prm.declare_entry("Kernel cache",
                        "",
                        Patterns::Anything(),
                        "Folder for coefficients that were compiled for a "
                        "CUDA device, so that the next run finds them; empty: "
                        "tessella/kernels in $XDG_CACHE_HOME or ~/.cache; "
                        "none: no cache.");
      prm.leave_subsection();
    }

    void
    DiscretisationInput::parse_parameters(ParameterHandler &prm,
                                          const int         dim,
                                          const bool        needs_backend)
    {
      prm.enter_subsection("Discretisation");
      study_in_degree = prm.get("Study") == "p";
      degrees         = parse_integers("Discretisation/Degree",
                               prm.get("Degree"),
                               0,
                               Legendre::max_degree);
      degree_expression.clear();
      if (!prm.get("Degree expression").empty())
        {
          std::vector<std::string> variables = coordinate_names(dim);
          variables.push_back("h");
          variables.push_back("p");
          degree_expression.emplace_back("Discretisation/Degree expression",
                                         prm.get("Degree expression"),
                                         variables,
                                         parse_constants("", ""));
        }
      space                     = prm.get("Polynomial space") == "total degree"
                                    ? PolynomialSpaceType::total_degree
                                    : PolynomialSpaceType::tensor_product;
      const std::string variant = prm.get("Variant");
      theta =
        variant == "symmetric" ? 1. : (variant == "incomplete" ? 0. : -1.);
      compression = QuadratureCompression::never;
      for (const auto choice :
           {QuadratureCompression::always, QuadratureCompression::automatic})
        if (prm.get("Quadrature compression") == name(choice))
          compression = choice;
      penalty.formula = prm.get("Penalty formula") == "simplex"
                          ? PenaltyFormula::simplex
                          : PenaltyFormula::bounding_box;
      prm.leave_subsection();
      AssertThrow(penalty.constant > 0. && std::isfinite(penalty.constant),
                  ExcMessage("Discretisation/Penalty constant is " +
                             Patterns::Tools::to_string(penalty.constant) +
                             ", but it must be positive, or the method is not "
                             "stable."));

      prm.enter_subsection("Execution");
      backend         = parse_backend(prm.get("Backend"));
      device_memory   = static_cast<std::size_t>(1024. * 1024. *
                                               prm.get_double("Device memory"));
      instruction_set = parse_instruction_set(prm.get("Instruction set"));
      if (needs_backend)
        check_backend("Execution/Backend", backend);
      const unsigned int n_threads = prm.get_integer("Threads");
      const std::string  cache     = prm.get("Kernel cache");
      if (!cache.empty())
        KernelCache::set_directory(cache == "none" ? "" : cache);
      prm.leave_subsection();
      // With several processes, deal.II's initialisation has already
      // distributed the cores among them.
      if (n_threads > 0 || Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) == 1)
        MultithreadInfo::set_thread_limit(
          n_threads == 0 ? numbers::invalid_unsigned_int : n_threads);
    }

    template <int dim>
    void
    DiscretisationInput::distribute_dofs(AgglomerationHandler<dim> &handler,
                                         const unsigned int         degree,
                                         const unsigned int n_components) const
    {
      const auto element = [&](const unsigned int p) {
        return FESystem<dim>(FE_BoundingBoxLegendre<dim>(p, space),
                             n_components);
      };
      if (degree_expression.empty())
        {
          if (n_components == 1)
            handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree, space));
          else
            handler.distribute_dofs(element(degree));
          return;
        }
      const Expression         &expression   = degree_expression[0];
      const MPI_Comm            communicator = handler.get_communicator();
      std::vector<unsigned int> degree_of(handler.n_polytopes());
      // This is a flag per degree, since all processes must build the same hp
      // collection.
      std::vector<unsigned int> is_used(Legendre::max_degree + 1, 0);
      on_all_processes(communicator, [&]() {
        for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
          {
            const BoundingBox<dim> box    = handler.bounding_box(k);
            const Point<dim>       center = box.center();
            double                 x[dim + 2];
            for (int d = 0; d < dim; ++d)
              x[d] = center[d];
            x[dim] = box.get_boundary_points().first.distance(
              box.get_boundary_points().second);
            x[dim + 1]         = degree;
            const double value = std::round(expression.value(x));
            AssertThrow(value >= 0. && value <= Legendre::max_degree,
                        ExcMessage("The expression '" + expression.text() +
                                   "' of " + expression.name() + " gives " +
                                   std::to_string(value) +
                                   " on a polytope, but degrees are 0 to " +
                                   std::to_string(Legendre::max_degree) + "."));
            degree_of[k]          = static_cast<unsigned int>(value);
            is_used[degree_of[k]] = 1;
          }
      });
      if (Utilities::MPI::n_mpi_processes(communicator) > 1)
        Utilities::MPI::max(is_used, communicator, is_used);
      hp::FECollection<dim>     collection;
      std::vector<unsigned int> index(is_used.size());
      for (unsigned int p = 0; p < is_used.size(); ++p)
        if (is_used[p] > 0)
          {
            index[p] = collection.size();
            if (n_components == 1)
              collection.push_back(FE_BoundingBoxLegendre<dim>(p, space));
            else
              collection.push_back(element(p));
          }
      std::vector<unsigned int> indices;
      for (const unsigned int p : degree_of)
        indices.push_back(index[p]);
      handler.distribute_dofs(collection, indices);
    }

    template void
    DiscretisationInput::distribute_dofs(AgglomerationHandler<2> &,
                                         const unsigned int,
                                         const unsigned int) const;
    template void
    DiscretisationInput::distribute_dofs(AgglomerationHandler<3> &,
                                         const unsigned int,
                                         const unsigned int) const;
  } // namespace Application
} // namespace Tessella
