// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "cell_polynomials.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/parallel.h>

#include <algorithm>

namespace Tessella
{
  namespace internal
  {
    void
    copy_coefficients(const PolytopicDoFs         &dofs,
                      const unsigned int           k,
                      const std::vector<double>   &coefficients,
                      const std::vector<double *> &values)
    {
      const std::size_t size = coefficients.size() / values.size();
      for (std::size_t v = 0; v < values.size(); ++v)
        std::copy_n(coefficients.data() + v * size,
                    size,
                    values[v] + dofs.dof_offset[k]);
    }



    template <int dim>
    unsigned int
    min_degree(const AgglomerationHandler<dim> &handler)
    {
      const PolytopicDoFs &dofs   = handler.polytopic_dofs();
      unsigned int         result = handler.max_degree();
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        result = std::min(result, dofs.degree[k]);
      return dealii::Utilities::MPI::min(result, handler.get_communicator());
    }



    template <int dim>
    std::vector<unsigned int>
    subcells_of_cells(const PolytopicMesh<dim> &mesh,
                      const unsigned int        n_active_cells)
    {
      std::vector<unsigned int> result(n_active_cells, invalid_index);
      for (unsigned int s = 0;
           s < mesh.subcell_offset[mesh.n_owned_polytopes()];
           ++s)
        result[mesh.subcell_cell[s]] = s;
      return result;
    }



    template <int dim>
    void
    project_cell_polynomials(
      const AgglomerationHandler<dim>        &handler,
      const std::vector<CellPolynomial<dim>> &polynomials,
      const PolynomialSpaceType               space,
      const unsigned int                      max_degree,
      const std::vector<double *>            &values)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      const PolytopicDoFs      &dofs = handler.polytopic_dofs();
      const unsigned int n_fields    = values.size() * handler.n_components();
      // Degree of products in the given space.
      const unsigned int factor =
        space == PolynomialSpaceType::tensor_product ||
            handler.polynomial_space() == PolynomialSpaceType::tensor_product
          ? dim
          : 1;
      const auto order = [&](const unsigned int p_new,
                             const unsigned int p_old) {
        return factor * (p_new + std::max(p_new, p_old));
      };
      // The minimum over all processes makes them use the same rules.
      handler.tabulate(order(handler.max_degree(), max_degree) -
                       2 * min_degree(handler));

      const PolytopeEvaluator<dim> evaluator(handler);
      dealii::parallel::apply_to_subranges(
        0U,
        mesh.n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          PolytopeProjection<dim> projection(mesh, dofs, evaluator, n_fields);
          CellPolynomialEvaluator<dim> cell_evaluator(space);
          std::vector<double>          result;
          for (unsigned int k = begin; k < end; ++k)
            {
              unsigned int p = 0;
              for (unsigned int s = mesh.subcell_offset[k];
                   s < mesh.subcell_offset[k + 1];
                   ++s)
                p = std::max(p, polynomials[mesh.subcell_cell[s]].degree);
              result.resize(std::size_t(n_fields) * dofs.n_basis[k]);
              projection.compute(
                k,
                order(dofs.degree[k], p),
                [&](const QuadratureBatch<dim> &batch,
                    std::vector<double>        &fields) {
                  const unsigned int n = batch.size();
                  fields.assign(std::size_t(n_fields) * n, 0.);
                  for (unsigned int q = 0, next = 0; q < n; q = next)
                    {
                      while (next < n && batch.entity[next] == batch.entity[q])
                        ++next;
                      cell_evaluator.evaluate(
                        polynomials[mesh.subcell_cell[batch.entity[q]]],
                        batch,
                        q,
                        next,
                        fields.data());
                    }
                },
                result.data());
              copy_coefficients(dofs, k, result, values);
            }
        },
        8);
    }



#define TESSELLA_INSTANTIATE(dim)                                      \
  template unsigned int min_degree(const AgglomerationHandler<dim> &); \
  template std::vector<unsigned int> subcells_of_cells(                \
    const PolytopicMesh<dim> &, const unsigned int);                   \
  template void project_cell_polynomials(                              \
    const AgglomerationHandler<dim> &,                                 \
    const std::vector<CellPolynomial<dim>> &,                          \
    const PolynomialSpaceType,                                         \
    const unsigned int,                                                \
    const std::vector<double *> &);

    TESSELLA_INSTANTIATE(2)
    TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
  } // namespace internal
} // namespace Tessella
