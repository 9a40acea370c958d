// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/time_stepping/cfl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  CFLSteps<dim>::CFLSteps(const AgglomerationHandler<dim> &handler,
                          const CFLLength                  kind,
                          const PenaltyFormula             formula)
    : handler(handler)
    , length(handler.n_polytopes(), 0.)
  {
    if (kind == CFLLength::penalty)
      compute_penalty_factors(handler, formula);
    const auto          &mesh    = handler.polytopic_mesh();
    const PolytopicDoFs &dofs    = handler.polytopic_dofs();
    const auto          &factors = dofs.penalty_factor;
    for (unsigned int k = 0; k < length.size(); ++k)
      {
        double surface = 0., factor = 0.;
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int i    = mesh.polytope_interface[e] / 2,
                               side = mesh.polytope_interface[e] % 2;
            double measure          = 0.;
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              {
                measure += mesh.facet_measure[f];
                if (kind == CFLLength::penalty)
                  factor = std::max(factor, factors[2 * f + side]);
              }
            surface += measure;
          }
        length[k] =
          kind == CFLLength::penalty
            ? 1. / factor
            : 2. * mesh.measure[k] / (surface * (2. * dofs.degree[k] + 1.));
      }
  }



  template <int dim>
  std::vector<double>
  CFLSteps<dim>::local(const double               cfl_number,
                       const std::vector<double> &speeds) const
  {
    AssertThrow(cfl_number > 0. && std::isfinite(cfl_number),
                ExcMessage("The CFL number must be positive and finite."));
    std::vector<double> result;
    on_all_processes(handler.get_communicator(), [&]() {
      AssertThrow(speeds.size() == length.size(),
                  ExcMessage("There are " + std::to_string(speeds.size()) +
                             " speeds for " + std::to_string(length.size()) +
                             " polytopes."));
      for (unsigned int k = 0; k < speeds.size(); ++k)
        {
          if (!(speeds[k] >= 0. && std::isfinite(speeds[k])))
            {
              std::ostringstream speed;
              speed << speeds[k];
              AssertThrow(false,
                          ExcMessage(
                            "The largest speed on polytope " +
                            std::to_string(handler.global_polytope_index(k)) +
                            " is " + speed.str() +
                            ", but must be finite and not negative."));
            }
          result.push_back(speeds[k] > 0.
                             ? cfl_number * length[k] / speeds[k]
                             : std::numeric_limits<double>::infinity());
        }
    });
    return result;
  }



  template <int dim>
  double
  CFLSteps<dim>::smallest(const double               cfl_number,
                          const std::vector<double> &speeds) const
  {
    double result = std::numeric_limits<double>::infinity();
    for (const double dt : local(cfl_number, speeds))
      result = std::min(result, dt);
    return Utilities::MPI::min(result, handler.get_communicator());
  }



  template class CFLSteps<2>;
  template class CFLSteps<3>;
} // namespace Tessella
