// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/mass_matrix.h>
#include <tessella/values/polytope_values.h>

#include <cmath>
#include <limits>
#include <string>

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  MassMatrix<dim>::MassMatrix(const AgglomerationHandler<dim> &handler)
    : handler(handler)
  {
    const unsigned int               n_polytopes = handler.n_polytopes();
    const std::vector<unsigned int> &n_basis = handler.polytopic_dofs().n_basis;
    offset.assign(n_polytopes + 1, 0);
    for (unsigned int k = 0; k < n_polytopes; ++k)
      offset[k + 1] =
        offset[k] + std::size_t(n_basis[k]) * (n_basis[k] + 1) / 2;
    blocks.assign(offset[n_polytopes], 0.);
    // Quadrature of curved cells is not tabulated by several threads.
    prepare_quadrature(handler, 2 * handler.max_degree());
    on_all_processes(handler.get_communicator(), [&]() {
      parallel::apply_to_subranges(
        0U,
        n_polytopes,
        [&](const unsigned int begin, const unsigned int end) {
          PolytopeValues<dim> values(handler, 0, update_values);
          for (unsigned int k = begin; k < end; ++k)
            {
              values.reinit(k);
              for (const unsigned int q : values.quadrature_point_indices())
                {
                  double *entry = &blocks[offset[k]];
                  for (unsigned int i = 0; i < n_basis[k]; ++i)
                    {
                      const double w =
                        values.JxW(q) * values.scalar_value(i, q);
                      for (unsigned int j = 0; j <= i; ++j)
                        *entry++ += w * values.scalar_value(j, q);
                    }
                }
              factor(k);
            }
        },
        16);
    });
  }



  template <int dim>
  void
  MassMatrix<dim>::factor(const unsigned int k)
  {
    const unsigned int n     = handler.polytopic_dofs().n_basis[k];
    double *const      block = &blocks[offset[k]];
    for (unsigned int i = 0; i < n; ++i)
      {
        double *const row      = block + std::size_t(i) * (i + 1) / 2;
        const double  diagonal = row[i];
        for (unsigned int j = 0; j <= i; ++j)
          {
            const double *const other = block + std::size_t(j) * (j + 1) / 2;
            double              sum   = row[j];
            for (unsigned int l = 0; l < j; ++l)
              sum -= row[l] * other[l];
            // The diagonal of other rows is already inverted.
            row[j] = j < i ? sum * other[j] : sum;
          }
        AssertThrow(
          row[i] > 10. * std::numeric_limits<double>::epsilon() * diagonal,
          ExcMessage(
            "The basis functions are linearly dependent on polytope " +
            std::to_string(handler.global_polytope_index(k)) +
            " up to rounding: lower the degree, or take other polytopes."));
        row[i] = 1. / std::sqrt(row[i]);
      }
  }



  template <int dim>
  void
  MassMatrix<dim>::apply_inverse(
    const double                                factor,
    LinearAlgebra::distributed::Vector<double> &vector) const
  {
    const PolytopicDoFs &dofs = handler.polytopic_dofs();
    double *const        u    = vector.begin();
    parallel::apply_to_subranges(
      0U,
      handler.n_polytopes(),
      [&](const unsigned int begin, const unsigned int end) {
        for (unsigned int k = begin; k < end; ++k)
          for (unsigned int c = 0; c < dofs.n_components; ++c)
            {
              const unsigned int  n     = dofs.n_basis[k];
              const double *const block = &blocks[offset[k]];
              double *const b   = u + dofs.dof_offset[k] + std::size_t(c) * n;
              const double *row = block;
              for (unsigned int i = 0; i < n; row += ++i)
                {
                  double sum = factor * b[i];
                  for (unsigned int j = 0; j < i; ++j)
                    sum -= row[j] * b[j];
                  b[i] = sum * row[i];
                }
              for (unsigned int i = n; i-- > 0;)
                {
                  row -= i + 1;
                  b[i] *= row[i];
                  for (unsigned int j = 0; j < i; ++j)
                    b[j] -= row[j] * b[i];
                }
            }
      },
      64);
  }



  template <int dim>
  void
  MassMatrix<dim>::vmult_add(
    const double                                      factor,
    LinearAlgebra::distributed::Vector<double>       &dst,
    const LinearAlgebra::distributed::Vector<double> &src) const
  {
    const PolytopicDoFs &dofs = handler.polytopic_dofs();
    parallel::apply_to_subranges(
      0U,
      handler.n_polytopes(),
      [&](const unsigned int begin, const unsigned int end) {
        std::vector<double> y;
        for (unsigned int k = begin; k < end; ++k)
          for (unsigned int c = 0; c < dofs.n_components; ++c)
            {
              const unsigned int  n     = dofs.n_basis[k];
              const double *const block = &blocks[offset[k]];
              const std::size_t first = dofs.dof_offset[k] + std::size_t(c) * n;
              const double *const x   = src.begin() + first;
              double *const       b   = dst.begin() + first;
              // y = L^T x, then L y.
              y.assign(n, 0.);
              const double *row = block;
              for (unsigned int i = 0; i < n; row += ++i)
                {
                  for (unsigned int j = 0; j < i; ++j)
                    y[j] += row[j] * x[i];
                  y[i] += x[i] / row[i];
                }
              row = block;
              for (unsigned int i = 0; i < n; row += ++i)
                {
                  double sum = y[i] / row[i];
                  for (unsigned int j = 0; j < i; ++j)
                    sum += row[j] * y[j];
                  b[i] += factor * sum;
                }
            }
      },
      64);
  }



  template <int dim>
  void
  MassMatrix<dim>::add_to(const double             factor,
                          HostBlockMatrix<double> &matrix) const
  {
    const PolytopicDoFs &dofs     = handler.polytopic_dofs();
    const BlockSparsity &sparsity = matrix.block_sparsity();
    parallel::apply_to_subranges(
      0U,
      handler.n_polytopes(),
      [&](const unsigned int begin, const unsigned int end) {
        for (unsigned int k = begin; k < end; ++k)
          {
            const unsigned int n     = dofs.n_basis[k];
            const std::size_t  width = sparsity.row_width[k];
            double *const      first =
              matrix.values() + sparsity.value_offset[k] +
              sparsity.column_offset[sparsity.find_block(k, k)];
            const double *row = &blocks[offset[k]];
            for (unsigned int i = 0; i < n; row += ++i)
              {
                const double *other = &blocks[offset[k]];
                for (unsigned int j = 0; j <= i; other += ++j)
                  {
                    double sum = (i == j ? 1. / row[i] : row[j]) / other[j];
                    for (unsigned int l = 0; l < j; ++l)
                      sum += row[l] * other[l];
                    for (unsigned int c = 0; c < dofs.n_components; ++c)
                      {
                        const std::size_t r = c * std::size_t(n) + i,
                                          s = c * std::size_t(n) + j;
                        first[r * width + s] += factor * sum;
                        if (i != j)
                          first[s * width + r] += factor * sum;
                      }
                  }
              }
          }
      },
      64);
  }



  template class MassMatrix<2>;
  template class MassMatrix<3>;
} // namespace Tessella
