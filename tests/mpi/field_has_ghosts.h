// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_mpi_field_has_ghosts_h
#define tessella_tests_mpi_field_has_ghosts_h

#include <tessella/forms/discrete_field.h>
#include <tessella/forms/discrete_function.h>
#include <tessella/grid/agglomeration_handler.h>

#include <algorithm>
#include <cmath>
#include <vector>

/// A field has the values of other processes on their polytopes, and the
/// components of a discrete function are the fields.
template <int dim, typename Vector>
bool
field_has_ghosts(const Tessella::AgglomerationHandler<dim> &handler,
                 const Vector                              &u)
{
  const auto &mesh = handler.polytopic_mesh();
  bool        same = true;

  const Tessella::DiscreteFunction<dim> function(handler, u);
  std::vector<double>                   all(handler.n_components());
  std::vector<double *>                 all_values;
  for (double &value : all)
    all_values.push_back(&value);
  for (unsigned int c = 0; c < handler.n_components(); ++c)
    {
      const Tessella::DiscreteField<dim> field(handler, u, c);
      std::vector<double>                values(mesh.n_polytopes());
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        {
          double        x[dim], gradient[dim];
          const double *points[dim];
          double       *gradients[dim];
          for (int d = 0; d < dim; ++d)
            {
              x[d]         = .5 * (mesh.box[2 * dim * k + d] +
                           mesh.box[2 * dim * k + dim + d]);
              points[d]    = &x[d];
              gradients[d] = &gradient[d];
            }
          field.evaluate(
            1, &mesh.subcell_offset[k], points, &values[k], gradients);
          function.evaluate(1,
                            &mesh.subcell_offset[k],
                            points,
                            all_values.data());
          same = same && std::abs(all[c] - values[k]) <= 1e-13;
        }
      std::vector<double> of_owners(values);
      std::fill(of_owners.begin() + handler.n_polytopes(), of_owners.end(), 0.);
      handler.exchange_polytope_values(of_owners, 1);
      same = same && values == of_owners;
    }
  return same;
}

#endif
