// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_null_space_h
#define tessella_numerics_null_space_h

#include <deal.II/base/exceptions.h>

#include <deal.II/fe/component_mask.h>
#include <deal.II/lac/full_matrix.h>

#include <tessella/grid/agglomeration_handler.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace Tessella
{
  /**
   * Null space of a singular matrix A, for iterative solvers. On pure Neumann
   * and periodic problems it consists of the constants:
   *
   *     const auto constants =
   * NullSpace<HostVector<double>>::constants(handler);
   *     constants.make_consistent(rhs);     // an error if f and g do not
   * balance SolverCG<HostVector<double>> solver(control); solver.solve(matrix,
   * solution, rhs, ProjectedPreconditioner(constants, preconditioner));
   *     constants.project(solution);        // mean value zero
   *     solution.add(mean, constants.vector(0));  // or another one
   *
   * <b>Definitions.</b> The null space is spanned by vectors z_i, and
   * functionals l_i fix the solution by l_i . x = 0. With Z and L, whose
   * columns are these, the projection is P = 1 - Z (L^T Z)^{-1} L^T. A P = A,
   * and x = P x is the only solution of A x = b that satisfies the conditions.
   * If z_i are in the null space of A^T, too, b is consistent if z_i . b = 0,
   * which P^T b always is. A preconditioner M in a solver becomes P M P^T,
   * which is symmetric if M is. It keeps rounding errors from growing in the
   * null space.
   *
   * <b>Constants.</b> z is the function 1 of a component: the square root of
   * the volume of the bounding box is the coefficient of the first basis
   * function of each polytope, and the others are zero. l has the integrals of
   * the basis functions over the polytopes, so that l . x is the integral of
   * the component over the domain, and l . z its volume. l is the right-hand
   * side of f = 1: P^T subtracts a constant from f. z . b is the integral of f
   * over the domain plus that of g over its boundary.
   *
   * Interior penalty methods have these null spaces on the left as well as on
   * the right, for all three values of theta. If the domain has several parts
   * that are not connected, each has its own constants: give their vectors to
   * the constructor.
   *
   * VectorType: Vector<double>, LinearAlgebra::distributed::Vector<double>,
   * HostVector<double>, DeviceVector<double> or TrilinosWrappers::MPI::Vector;
   * all functions except constants() take any vector of deal.II. They are
   * collective where vectors are distributed. Results have the bits of
   * VectorType's sums: with HostVector and DeviceVector they are the same for
   * every number of threads and processes.
   *
   * Cost of a projection: for each vector a scalar product and an addition.
   */
  template <typename VectorType>
  class NullSpace
  {
  public:
    /// The null space {0}: projections change nothing.
    NullSpace() = default;

    /// Null space spanned by @p vectors, for instance the rigid motions.
    /// Without @p functionals these are the vectors themselves. Throws if the
    /// numbers differ, or if the vectors are linearly dependent on the
    /// functionals' side.
    explicit NullSpace(
      std::vector<VectorType> vectors,
      std::vector<VectorType> functionals = std::vector<VectorType>());

    /**
     * Constants of the components selected by @p mask, by default all of them,
     * in the space of @p handler. The integrals are computed with quadrature
     * over all sub-cells, once, by all threads. Collective. Errors: a handler
     * without degrees of freedom, a mask of another number of components or
     * without any, a Vector<double> on several processes.
     */
    template <int dim>
    static NullSpace
    constants(const AgglomerationHandler<dim> &handler,
              const dealii::ComponentMask     &mask = dealii::ComponentMask());

    /// Dimension of the null space.
    unsigned int
    size() const
    {
      return vectors.size();
    }

    const VectorType &
    vector(const unsigned int i) const
    {
      AssertIndexRange(i, vectors.size());
      return vectors[i];
    }

    const VectorType &
    functional(const unsigned int i) const
    {
      return functionals.empty() ? vector(i) : functionals[i];
    }

    /// x = P x; then l_i . x = 0.
    void
    project(VectorType &x) const
    {
      subtract(x, true);
    }

    /// b = P^T b; then z_i . b = 0.
    void
    project_rhs(VectorType &b) const
    {
      subtract(b, false);
    }

    /**
     * How far A x = b is from having a solution: |z_i . b| divided by the sum
     * of the absolute values of its terms, of which each polytope contributes
     * one for constants. The largest of all i; 0 for b = 0.
     */
    double
    imbalance(const VectorType &b) const;

    /// Applies project_rhs(). Throws if imbalance() exceeds @p tolerance: data
    /// that balance leave errors of quadrature only.
    void
    make_consistent(VectorType &b, const double tolerance = 1e-3) const;

  private:
    // Sum of a vector's products with vector(i), and with their moduli.
    std::pair<double, double>
    balance(const unsigned int i, const VectorType &b) const;
    // Removes the components of vector() that functional() sees, or, if
    // @p from_solution is false, the other way round.
    void
    subtract(VectorType &x, const bool from_solution) const;

    std::vector<VectorType> vectors, functionals;
    // Names of the vectors, for messages.
    std::vector<std::string> names;
    // (L^T Z)^{-1}
    dealii::FullMatrix<double> inverse;
  };



  /**
   * Preconditioner P M P^T for a singular matrix, see NullSpace. Both arguments
   * must outlive the object. vmult() may not run in several threads at the same
   * time.
   */
  template <typename VectorType, typename Preconditioner>
  class ProjectedPreconditioner
  {
  public:
    ProjectedPreconditioner(const NullSpace<VectorType> &null_space,
                            const Preconditioner        &preconditioner)
      : null_space(null_space)
      , preconditioner(preconditioner)
    {}

    void
    vmult(VectorType &dst, const VectorType &src) const
    {
      work = src;
      null_space.project_rhs(work);
      preconditioner.vmult(dst, work);
      null_space.project(dst);
    }

    void
    Tvmult(VectorType &dst, const VectorType &src) const
    {
      work = src;
      null_space.project_rhs(work);
      preconditioner.Tvmult(dst, work);
      null_space.project(dst);
    }

  private:
    const NullSpace<VectorType> &null_space;
    const Preconditioner        &preconditioner;
    mutable VectorType           work;
  };



  // ---- implementation

  template <typename VectorType>
  NullSpace<VectorType>::NullSpace(std::vector<VectorType> new_vectors,
                                   std::vector<VectorType> new_functionals)
    : vectors(std::move(new_vectors))
    , functionals(std::move(new_functionals))
  {
    AssertThrow(functionals.empty() || functionals.size() == vectors.size(),
                dealii::ExcMessage(
                  "A NullSpace of " + std::to_string(vectors.size()) +
                  " vectors was given " + std::to_string(functionals.size()) +
                  " functionals: it needs one for each vector, or none."));
    const unsigned int n = vectors.size();
    if (n == 0)
      return;
    inverse.reinit(n, n);
    for (unsigned int i = 0; i < n; ++i)
      {
        names.push_back("vector " + std::to_string(i) + " of the null space");
        for (unsigned int j = 0; j < n; ++j)
          inverse(i, j) = functional(i) * vectors[j];
      }
    // Elimination without pivots below the rounding error of the products.
    dealii::FullMatrix<double> test(inverse);
    for (unsigned int p = 0; p < n; ++p)
      {
        unsigned int row = p;
        for (unsigned int i = p + 1; i < n; ++i)
          if (std::abs(test(i, p)) > std::abs(test(row, p)))
            row = i;
        const double size = functional(row).l2_norm() * vectors[p].l2_norm();
        AssertThrow(std::abs(test(row, p)) > 1e-12 * size,
                    dealii::ExcMessage(
                      "The vectors of a NullSpace are linearly dependent, or "
                      "their functionals do not determine them: " +
                      names[p] + " adds nothing."));
        for (unsigned int j = 0; j < n; ++j)
          std::swap(test(row, j), test(p, j));
        for (unsigned int i = p + 1; i < n; ++i)
          for (unsigned int j = n; j-- > p;)
            test(i, j) -= test(i, p) / test(p, p) * test(p, j);
      }
    inverse.gauss_jordan();
  }



  template <typename VectorType>
  void
  NullSpace<VectorType>::subtract(VectorType &x, const bool from_solution) const
  {
    const unsigned int  n = size();
    std::vector<double> products(n);
    for (unsigned int i = 0; i < n; ++i)
      products[i] = (from_solution ? functional(i) : vectors[i]) * x;
    for (unsigned int i = 0; i < n; ++i)
      {
        double factor = 0.;
        for (unsigned int j = 0; j < n; ++j)
          factor +=
            (from_solution ? inverse(i, j) : inverse(j, i)) * products[j];
        x.add(-factor, from_solution ? vectors[i] : functional(i));
      }
  }



  template <typename VectorType>
  std::pair<double, double>
  NullSpace<VectorType>::balance(const unsigned int i,
                                 const VectorType  &b) const
  {
    VectorType terms(b);
    terms.scale(vectors[i]);
    return {vectors[i] * b, terms.l1_norm()};
  }



  template <typename VectorType>
  double
  NullSpace<VectorType>::imbalance(const VectorType &b) const
  {
    double result = 0.;
    for (unsigned int i = 0; i < size(); ++i)
      {
        const std::pair<double, double> sums = balance(i, b);
        if (sums.second > 0.)
          result = std::max(result, std::abs(sums.first) / sums.second);
      }
    return result;
  }



  template <typename VectorType>
  void
  NullSpace<VectorType>::make_consistent(VectorType  &b,
                                         const double tolerance) const
  {
    for (unsigned int i = 0; i < size(); ++i)
      {
        const std::pair<double, double> sums = balance(i, b);
        if (std::abs(sums.first) <= tolerance * sums.second)
          continue;
        std::ostringstream text;
        text << "The problem has no solution: the matrix maps " << names[i]
             << " to zero, but its product with the right-hand side (for "
                "constants: the integral of the source plus that of the "
                "boundary data) is "
             << sums.first << " instead of 0, which is "
             << std::abs(sums.first) / sums.second
             << " of the sum of the absolute values of its terms and more than "
                "the tolerance of "
             << tolerance
             << ". Change the data so that they balance, or give a Dirichlet "
                "or Robin condition or a reaction.";
        AssertThrow(false, dealii::ExcMessage(text.str()));
      }
    project_rhs(b);
  }
} // namespace Tessella

#endif
