// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "space_stages.h"

#include <deal.II/base/function.h>
#include <deal.II/base/timer.h>

#include <deal.II/lac/solver_cg.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/penalty.h>
#include <tessella/lac/host_vector.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/vector_tools.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      // Mixes the bits of an array into @p digest (FNV-1a).
      template <typename VectorType>
      void
      mix(const VectorType &values, std::uint64_t &digest)
      {
        const auto *const bytes =
          reinterpret_cast<const unsigned char *>(values.data());
        for (std::size_t i = 0; i < values.size() * sizeof(values[0]); ++i)
          digest = (digest ^ bytes[i]) * 0x100000001b3ull;
      }

      template <int dim>
      std::uint64_t
      digest_of(const PolytopicMesh<dim>  &mesh,
                const std::vector<double> &penalty_factor)
      {
        std::uint64_t digest = 0xcbf29ce484222325ull;
        mix(mesh.box, digest);
        mix(mesh.measure, digest);
        mix(mesh.polytope_interface, digest);
        mix(mesh.subcell_cell, digest);
        mix(mesh.subcell_vertices, digest);
        mix(mesh.interface_polytope, digest);
        mix(mesh.facet_offset, digest);
        mix(mesh.facet_vertices, digest);
        mix(mesh.facet_normal, digest);
        mix(mesh.facet_subcell, digest);
        mix(penalty_factor, digest);
        return digest;
      }
    } // namespace



    template <int dim>
    SpaceStages
    measure_space_stages(const Triangulation<dim>        &triangulation,
                         const std::vector<unsigned int> &ids,
                         const unsigned int               n_repetitions)
    {
      constexpr double never = std::numeric_limits<double>::max();
      SpaceStages      result;
      result.cells = result.view = result.unknowns = result.penalty = never;
      const auto strategy = Agglomeration::by_id<dim>(ids);
      for (unsigned int i = 0; i < n_repetitions; ++i)
        {
          Timer      timer;
          const auto stop = [&](double &least) {
            least = std::min(least, timer.wall_time());
            timer.restart();
          };
          AgglomerationHandler<dim> handler(triangulation);
          stop(result.cells);
          handler.agglomerate(strategy);
          stop(result.view);
          handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
          stop(result.unknowns);
          compute_penalty_factors(handler, PenaltyFormula::simplex);
          stop(result.penalty);
          result.digest = digest_of(handler.polytopic_mesh(),
                                    handler.polytopic_dofs().penalty_factor);
        }
      return result;
    }



    template <int dim>
    PoissonResult
    solve_poisson(const Triangulation<dim>        &triangulation,
                  const std::vector<unsigned int> &ids,
                  const unsigned int               degree)
    {
      using Matrix = HostBlockMatrix<double>;
      using Vector = HostVector<double>;
      AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(Agglomeration::by_id<dim>(ids));
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));

      class Solution : public Function<dim>
      {
      public:
        explicit Solution(const double factor)
          : factor(factor)
        {}
        double
        value(const Point<dim> &x, const unsigned int) const override
        {
          double result = factor;
          for (int d = 0; d < dim; ++d)
            result *= std::sin(numbers::PI * x[d]);
          return result;
        }

      private:
        const double factor;
      };
      const auto                      exact = std::make_shared<Solution>(1.);
      AdvectionDiffusionReaction<dim> form;
      form.set_diffusion(1.);
      form.set_source(
        std::make_shared<Solution>(dim * numbers::PI * numbers::PI));
      BoundaryCondition<dim> condition;
      condition.value = exact;
      form.set_default_boundary_condition(condition);

      typename PolytopicAssembler<dim>::AdditionalData data;
      data.backend = Backend::host;
      PolytopicAssembler<dim> assembler(handler, data);
      Matrix                  matrix;
      Vector                  rhs, solution;
      assembler.reinit(matrix, rhs);
      assembler.assemble(form, matrix, rhs);
      Multigrid<Matrix> multigrid;
      multigrid.initialize(assembler, form, matrix);
      solution.reinit(rhs);
      SolverControl control(1000, 1e-10 * rhs.l2_norm(), false, false);
      SolverCG<Vector>(control).solve(matrix, solution, rhs, multigrid);
      return {Tessella::VectorTools::compute_error(
                handler, solution, *exact, dealii::VectorTools::L2_norm),
              control.last_step()};
    }



#define INSTANTIATE(dim)                                                         \
  template SpaceStages   measure_space_stages(const Triangulation<dim> &,        \
                                              const std::vector<unsigned int> &, \
                                              const unsigned int);               \
  template PoissonResult solve_poisson(const Triangulation<dim> &,               \
                                       const std::vector<unsigned int> &,        \
                                       const unsigned int)

    INSTANTIATE(2);
    INSTANTIATE(3);
#undef INSTANTIATE
  } // namespace Application
} // namespace Tessella
