// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/mpi.h>

#include <tessella/flow/artificial_viscosity.h>

#include <algorithm>
#include <cmath>

namespace Tessella
{
  namespace Flow
  {
    using namespace dealii;

    namespace
    {
      /// Coefficient of the constant one on polytope @p k.
      template <int dim>
      double
      unit(const PolytopicMesh<dim> &mesh, const unsigned int k)
      {
        double box = 1.;
        for (int d = 0; d < dim; ++d)
          box *= mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
        return std::sqrt(box);
      }
    } // namespace



    template <int dim>
    ArtificialViscosity<dim>::ArtificialViscosity(
      const AgglomerationHandler<dim> &handler,
      const ShockSensor<dim>          &sensor,
      const bool                       exact)
      : exact(exact)
      , handler(handler)
      , sensor(sensor)
      , polytopewise(handler)
    {}



    template <int dim>
    void
    ArtificialViscosity<dim>::compute(const VectorType &u,
                                      VectorType       &viscosity)
    {
      const std::vector<std::uint64_t> &offset =
        handler.polytopic_dofs().dof_offset;
      slopes                                                   = u;
      LinearAlgebra::distributed::Vector<double> &coefficients = slopes;
      values = polytopewise.apply(sensor, coefficients);
      for (unsigned int k = 0; k < values.size(); ++k)
        {
          const double factor        = unit(handler.polytopic_mesh(), k);
          viscosity.local_element(k) = values[k] * factor;
          for (std::uint64_t i = offset[k]; i < offset[k + 1]; ++i)
            slopes.local_element(i) *= factor;
        }
    }



    template <int dim>
    std::pair<double, unsigned int>
    ArtificialViscosity<dim>::extent() const
    {
      double       largest = 0.;
      unsigned int n       = 0;
      for (const double value : values)
        {
          largest = std::max(largest, value);
          n += value != 0.;
        }
      return {Utilities::MPI::max(largest, handler.get_communicator()),
              Utilities::MPI::sum(n, handler.get_communicator())};
    }



    template class ArtificialViscosity<2>;
    template class ArtificialViscosity<3>;
  } // namespace Flow
} // namespace Tessella
