// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_host_vector_h
#define tessella_lac_host_vector_h

#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/types.h>

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/vector_type_traits.h>

#include <type_traits>

namespace Tessella
{
  /**
   * LinearAlgebra::distributed::Vector whose sums have the same bits for every
   * number of processes and threads. The method and the results are those of
   * DeviceVector, whose documentation describes them. If matrix and
   * preconditioner are the same for every number of processes, then deal.II's
   * solvers with this vector take the same steps, too:
   *
   *     HostBlockMatrix<double> matrix;
   *     HostVector<double>      rhs;
   *     assembler.reinit(matrix, rhs);
   *     assembler.assemble(form, matrix, rhs);
   *     HostVector<double> solution(rhs);
   *     SolverCG<HostVector<double>> solver(control);
   *     solver.solve(matrix, solution, rhs, preconditioner);
   *
   * @p Number is double or float. Cost: products and norms need the time to
   * read their vectors or, if these are in the caches, that of some twenty
   * operations per entry. Errors: those of the base class.
   */
  template <typename Number>
  class HostVector : public dealii::LinearAlgebra::distributed::Vector<Number>
  {
  public:
    static_assert(std::is_same<Number, double>::value ||
                    std::is_same<Number, float>::value,
                  "HostVector holds double or float.");

    using Base      = dealii::LinearAlgebra::distributed::Vector<Number>;
    using real_type = Number;
    using size_type = dealii::types::global_dof_index;

    HostVector() = default;
    /// Constructors for vectors of zeros on one process or on several.
    using Base::Base;
    HostVector(const HostVector &vector) = default;
    HostVector &
    operator=(const HostVector &vector) = default;
    /// Sets all entries.
    HostVector &
    operator=(const Number value);

    // ---- sums; collective
    using Base::operator*;
    Number
    operator*(const HostVector &V) const;
    using Base::add_and_dot;
    /// Sets this = this + a V and returns this * W.
    Number
    add_and_dot(const Number a, const HostVector &V, const HostVector &W);
    real_type
    norm_sqr() const;
    real_type
    l1_norm() const;
    real_type
    l2_norm() const;
    Number
    mean_value() const;

  private:
    void
    check_entries(const HostVector &V) const;
  };
} // namespace Tessella

DEAL_II_NAMESPACE_OPEN
template <typename Number>
struct is_serial_vector<Tessella::HostVector<Number>> : std::false_type
{};
DEAL_II_NAMESPACE_CLOSE

#endif
