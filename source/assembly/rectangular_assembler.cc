// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/assembly/rectangular_assembler.h>
#include <tessella/quadrature/quadrature_order.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "../backends/block_row_assembler.h"
#include "../backends/host_dispatch.h"
#include "../backends/system_pairs.h"
#include "../base/collective.h"

namespace Tessella
{
  using namespace dealii;
  using internal::SystemPair;

  namespace
  {
    /// The larger one of two scalar spaces on each polytope.
    PolytopicDoFs
    larger_space(const PolytopicDoFs &a, const PolytopicDoFs &b)
    {
      PolytopicDoFs     result;
      const std::size_t n = a.degree.size();
      result.dof_offset.push_back(0);
      for (std::size_t k = 0; k < n; ++k)
        {
          result.degree.push_back(std::max(a.degree[k], b.degree[k]));
          result.n_basis.push_back(std::max(a.n_basis[k], b.n_basis[k]));
          result.dof_offset.push_back(result.dof_offset.back() +
                                      result.n_basis.back());
        }
      return result;
    }



    /// Entries of one pair of components in the block row of a polytope.
    struct PairRows
    {
      const BlockSparsity       &blocks; ///< of the larger space
      const PolytopicDoFs       &test, &trial;
      const std::vector<double> &values, &rhs;

      template <typename Number>
      void
      store(const unsigned int    k,
            const unsigned int    i,
            const unsigned int    j,
            SparseMatrix<Number> &matrix) const
      {
        std::vector<types::global_dof_index> columns;
        std::vector<std::size_t>             positions;
        for (std::uint64_t b = blocks.block_offset[k];
             b < blocks.block_offset[k + 1];
             ++b)
          {
            const unsigned int l = blocks.block_column[b], n = trial.n_basis[l];
            for (unsigned int c = 0; c < n; ++c)
              {
                columns.push_back(trial.dof_offset[l] + j * n + c);
                positions.push_back(blocks.column_offset[b] + c);
              }
          }
        std::vector<Number> row(columns.size());
        for (unsigned int r = 0; r < test.n_basis[k]; ++r)
          {
            for (std::size_t c = 0; c < row.size(); ++c)
              row[c] =
                values[std::size_t(r) * blocks.row_width[k] + positions[c]];
            matrix.add(test.dof_offset[k] + i * test.n_basis[k] + r,
                       columns.size(),
                       columns.data(),
                       row.data(),
                       false,
                       true);
          }
      }
    };
  } // namespace



  template <int dim>
  RectangularAssembler<dim>::RectangularAssembler(
    const PolytopicSpace<dim> &test,
    const PolytopicSpace<dim> &trial,
    const AssemblyParameters  &parameters)
    : test(&test)
    , trial(&trial)
    , parameters(parameters)
  {
    AssertThrow(parameters.backend != Backend::cuda,
                ExcMessage("Rectangular matrices are assembled by the host: "
                           "take Backend::host or Backend::automatic."));
    AssertThrow(internal::n_processes(test.get_communicator()) == 1,
                ExcMessage("Rectangular matrices are assembled in programs of "
                           "one process only."));
    check_spaces();
  }



  template <int dim>
  void
  RectangularAssembler<dim>::check_spaces() const
  {
    AssertThrow(test->n_dofs() > 0 && trial->n_dofs() > 0,
                ExcMessage(
                  "RectangularAssembler needs degrees of freedom: call "
                  "distribute_dofs() of both handlers first."));
    const PolytopicMesh<dim> &a = test->polytopic_mesh(),
                             &b = trial->polytopic_mesh();
    AssertThrow(a.box == b.box &&
                  a.interface_polytope == b.interface_polytope &&
                  a.facet_offset == b.facet_offset,
                ExcMessage("The test space and the trial space of a "
                           "RectangularAssembler have different polytopes: "
                           "agglomerate both handlers in the same way."));
    AssertThrow(test->polynomial_space() == trial->polynomial_space(),
                ExcMessage(
                  "The test space and the trial space of a "
                  "RectangularAssembler must both have total degree or "
                  "both be tensor-product spaces."));
  }



  template <int dim>
  template <typename Number>
  void
  RectangularAssembler<dim>::reinit(SparsityPattern      &sparsity,
                                    SparseMatrix<Number> &matrix,
                                    Vector<Number>       &rhs) const
  {
    check_spaces();
    const PolytopicDoFs &rows    = test->polytopic_dofs(),
                        &columns = trial->polytopic_dofs();
    const BlockSparsity blocks =
      BlockSparsity::from_mesh(trial->polytopic_mesh(), columns);
    const unsigned int        n = blocks.row_width.size();
    std::vector<unsigned int> widths;
    for (unsigned int k = 0; k < n; ++k)
      widths.insert(widths.end(),
                    rows.dof_offset[k + 1] - rows.dof_offset[k],
                    blocks.row_width[k]);
    matrix.clear();
    sparsity.reinit(rows.dof_offset.back(), columns.dof_offset.back(), widths);
    std::vector<types::global_dof_index> entries;
    for (unsigned int k = 0; k < n; ++k)
      {
        entries.clear();
        for (std::uint64_t b = blocks.block_offset[k];
             b < blocks.block_offset[k + 1];
             ++b)
          for (std::uint64_t j = columns.dof_offset[blocks.block_column[b]];
               j < columns.dof_offset[blocks.block_column[b] + 1];
               ++j)
            entries.push_back(j);
        for (std::uint64_t i = rows.dof_offset[k]; i < rows.dof_offset[k + 1];
             ++i)
          sparsity.add_entries(i, entries.begin(), entries.end(), true);
      }
    sparsity.compress();
    matrix.reinit(sparsity);
    rhs.reinit(rows.dof_offset.back());
  }



  template <int dim>
  template <typename Number>
  void
  RectangularAssembler<dim>::assemble(const SystemForm<dim> &system,
                                      SparseMatrix<Number>  &matrix,
                                      Vector<Number>        &rhs) const
  {
    check_spaces();
    const auto pairs = internal::prepare_pairs(system,
                                               test->n_components(),
                                               trial->n_components());
    for (const SystemPair<dim> &pair : pairs)
      AssertThrow(!pair.form->facet_structure().penalty,
                  ExcMessage("A form of a rectangular matrix has no penalty."));
    AssertThrow(matrix.m() == test->n_dofs() && matrix.n() == trial->n_dofs() &&
                  rhs.size() == test->n_dofs(),
                ExcMessage("The matrix or the vector does not have the size of "
                           "these spaces: call reinit() of the assembler."));
    matrix = 0;
    rhs    = 0;

    // Quadrature for the larger space, on the mesh that has tabulated it.
    const PolytopicSpace<dim> &rich =
      test->max_degree() > trial->max_degree() ? *test : *trial;
    const PolytopicDoFs &rows    = test->polytopic_dofs(),
                        &columns = trial->polytopic_dofs();
    const PolytopicDoFs larger   = larger_space(rows, columns);
    const unsigned int  order    = pairs.front().form->coefficient_order(),
                       degree    = rich.max_degree();
    unsigned int missing         = 0;
    for (std::size_t k = 0; k < larger.degree.size(); ++k)
      missing =
        std::max(missing, larger.degree[k] - rich.polytopic_dofs().degree[k]);
    const PolynomialSpaceType space = rich.polynomial_space();
    const bool tensor_product = space != PolynomialSpaceType::total_degree;
    rich.tabulate(
      internal::integrand_degree(
        dim, degree, order, space == PolynomialSpaceType::tensor_product) -
      2 * degree + 2 * missing);
    const PolytopicMesh<dim>      &mesh = rich.polytopic_mesh();
    const internal::HostRules<dim> rules(mesh, larger, order);
    const BlockSparsity        blocks = BlockSparsity::from_mesh(mesh, larger);
    std::vector<unsigned char> exponents(
      dim * Legendre::n_functions(dim, degree, space));
    Legendre::exponents(dim, degree, space, exponents.data());
    const std::vector<double> no_sigma(mesh.n_facets(), 0.);

    for (const SystemPair<dim> &pair : pairs)
      {
        const internal::HostProblem<dim> problem = {
          mesh,
          larger,
          *pair.form,
          rules,
          internal::select_kernels<dim>(parameters.instruction_set)};
        internal::for_polytopes(
          blocks.row_width.size(),
          [&](const unsigned int begin, const unsigned int end) {
            internal::BlockRowAssembler<dim> assembler(problem,
                                                       blocks,
                                                       no_sigma,
                                                       exponents,
                                                       tensor_product,
                                                       true,
                                                       pair.rhs,
                                                       nullptr,
                                                       nullptr);
            std::vector<double>              values, f;
            const PairRows result = {blocks, rows, columns, values, f};
            for (unsigned int k = begin; k < end; ++k)
              {
                values.resize(blocks.value_offset[k + 1] -
                              blocks.value_offset[k]);
                f.resize(larger.n_basis[k]);
                assembler.assemble(k, values.data(), f.data());
                result.store(k, pair.test, pair.trial, matrix);
                if (pair.rhs)
                  std::copy_n(f.begin(),
                              rows.n_basis[k],
                              rhs.begin() + rows.dof_offset[k] +
                                pair.test * rows.n_basis[k]);
              }
          });
      }
  }



#define INSTANTIATE(dim, Number)                                             \
  template void RectangularAssembler<dim>::reinit(SparsityPattern &,         \
                                                  SparseMatrix<Number> &,    \
                                                  Vector<Number> &) const;   \
  template void RectangularAssembler<dim>::assemble(const SystemForm<dim> &, \
                                                    SparseMatrix<Number> &,  \
                                                    Vector<Number> &) const;

  template class RectangularAssembler<2>;
  template class RectangularAssembler<3>;
  INSTANTIATE(2, double)
  INSTANTIATE(2, float)
  INSTANTIATE(3, double)
  INSTANTIATE(3, float)
#undef INSTANTIATE
} // namespace Tessella
