// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_check_components_h
#define tessella_tests_check_components_h

// Systems of several components for multigrid: a scalar problem repeated in
// each component, and linear elasticity.

#include <deal.II/fe/fe_system.h>

#include <tessella/forms/functor_integrand.h>
#include <tessella/lac/host_vector.h>
#include <tessella/operators/pointwise_operator.h>

#include "check_multigrid.h"

namespace MultigridTest
{
  /// Linear elasticity with displacements of zero on the boundary, by the
  /// symmetric interior penalty method. f = 1 in all components.
  template <int dim>
  struct Elasticity
  {
    using Fields                      = FieldComponents<dim>;
    static constexpr int n_components = dim;

    double mu = 1., lambda = 2., constant = 2.5;

    // Entry (i, d) of the stress of a matrix of derivatives.
    template <typename Number>
    void
    stress(const Number gradient[dim][dim], Number result[dim][dim]) const
    {
      Number trace = gradient[0][0];
      for (int d = 1; d < dim; ++d)
        trace += gradient[d][d];
      for (int i = 0; i < dim; ++i)
        {
          for (int d = 0; d < dim; ++d)
            result[i][d] = mu * (gradient[i][d] + gradient[d][i]);
          result[i][i] += lambda * trace;
        }
    }

    template <typename U, typename R>
    void
    volume(const OperatorPoint<dim> &, const U &u, R &r) const
    {
      stress(u.gradient, r.gradient);
      for (int i = 0; i < dim; ++i)
        r.value[i] = -1.;
    }

    // Terms of a facet with the jump of the values and the mean gradient;
    // @p weight is that of the test function's stress on each side.
    template <typename Number>
    void
    facet(const OperatorPoint<dim> &p,
          const Number              jump[dim],
          const Number              gradient[dim][dim],
          const double              weight,
          Number                    flux[dim],
          Number                    tested[dim][dim]) const
    {
      Number mean[dim][dim], product[dim][dim];
      stress(gradient, mean);
      for (int i = 0; i < dim; ++i)
        for (int d = 0; d < dim; ++d)
          product[i][d] = -weight * p.normal[d] * jump[i];
      stress(product, tested);
      // The penalty acts on the stress of the jump, since it is then not larger
      // than needed in any direction.
      const double penalty = -constant * p.penalty / weight;
      for (int i = 0; i < dim; ++i)
        {
          flux[i] = 0. * jump[i];
          for (int d = 0; d < dim; ++d)
            flux[i] += (penalty * tested[i][d] - mean[i][d]) * p.normal[d];
        }
    }

    template <typename U, typename R>
    void
    interior_facet(
      const OperatorPoint<dim> &p, const U &u0, const U &u1, R &r0, R &r1) const
    {
      using Number =
        std::remove_cv_t<std::remove_reference_t<decltype(u0.value[0])>>;
      Number jump[dim], gradient[dim][dim];
      for (int i = 0; i < dim; ++i)
        {
          jump[i] = u0.value[i] - u1.value[i];
          for (int d = 0; d < dim; ++d)
            gradient[i][d] = 0.5 * (u0.gradient[i][d] + u1.gradient[i][d]);
        }
      facet(p, jump, gradient, 0.5, r0.value, r0.gradient);
      for (int i = 0; i < dim; ++i)
        {
          r1.value[i] = -r0.value[i];
          for (int d = 0; d < dim; ++d)
            r1.gradient[i][d] = r0.gradient[i][d];
        }
    }

    template <typename U, typename R>
    void
    boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      facet(p, u.value, u.gradient, 1., r.value, r.gradient);
    }
  };



  /// Copies scalar matrices of the same structure to the blocks of one
  /// component each of @p matrix, which has as many components on the same
  /// polytopes.
  inline void
  repeat_components(const std::vector<const HostBlockMatrix<double> *> &scalar,
                    HostBlockMatrix<double>                            &matrix)
  {
    const BlockSparsity &from = scalar[0]->block_sparsity(),
                        &to   = matrix.block_sparsity();
    AssertThrow(from.block_column == to.block_column, ExcInternalError());
    const auto &offset = scalar[0]->dof_offset();
    std::fill_n(matrix.values(), matrix.n_nonzero_elements(), 0.);
    for (unsigned int k = 0; k < from.row_width.size(); ++k)
      for (std::uint64_t b = from.block_offset[k]; b < from.block_offset[k + 1];
           ++b)
        {
          const unsigned int l   = from.block_column[b];
          const unsigned int n   = offset[k + 1] - offset[k],
                             n_l = offset[l + 1] - offset[l];
          for (unsigned int c = 0; c < scalar.size(); ++c)
            for (unsigned int i = 0; i < n; ++i)
              std::copy_n(
                scalar[c]->values() + from.value_offset[k] +
                  from.column_offset[b] + std::uint64_t(i) * from.row_width[k],
                n_l,
                matrix.values() + to.value_offset[k] + to.column_offset[b] +
                  std::uint64_t(c * n + i) * to.row_width[k] + c * n_l);
        }
  }



  /// Vector of m components that has the values of @p scalar in each of them.
  template <typename VectorType>
  void
  repeat_components(const VectorType                 &scalar,
                    const std::vector<std::uint64_t> &offset,
                    const unsigned int                n_polytopes,
                    const unsigned int                m,
                    VectorType                       &vector)
  {
    for (unsigned int k = 0; k < n_polytopes; ++k)
      for (unsigned int c = 0; c < m; ++c)
        std::copy(scalar.begin() + offset[k],
                  scalar.begin() + offset[k + 1],
                  vector.begin() + m * offset[k] +
                    c * (offset[k + 1] - offset[k]));
  }



  /// Elasticity on the mesh of a handler whose polytopes are given, on the
  /// host.
  template <int dim, typename VectorType>
  struct ElasticityCase
  {
    HostBlockMatrix<double> matrix, without_penalty;
    VectorType              rhs;

    explicit ElasticityCase(const AgglomerationHandler<dim> &handler)
    {
      typename PointwiseOperator<dim>::AdditionalData data;
      data.backend = Backend::host;
      PointwiseOperator<dim> op(handler, data);
      op.reinit(matrix);
      op.reinit(without_penalty);
      op.reinit(rhs);
      VectorType                             zero(rhs);
      FunctorIntegrand<dim, Elasticity<dim>> elasticity;
      op.residual(elasticity, {&zero}, rhs);
      rhs *= -1.;
      op.assemble_jacobian(elasticity, {&zero}, matrix);
      elasticity.functor().constant = 0.;
      op.assemble_jacobian(elasticity, {&zero}, without_penalty);
    }
  };



  /// Iterations of the conjugate gradient method to 1e-8.
  template <typename MatrixType, typename VectorType, typename Preconditioner>
  unsigned int
  iterations(const MatrixType     &matrix,
             const VectorType     &rhs,
             const Preconditioner &preconditioner)
  {
    SolverControl control(500, 1e-8 * rhs.l2_norm(), false, false);
    VectorType    x(rhs);
    x = 0.;
    SolverCG<VectorType>(control).solve(matrix, x, rhs, preconditioner);
    return control.last_step();
  }
} // namespace MultigridTest

#endif
