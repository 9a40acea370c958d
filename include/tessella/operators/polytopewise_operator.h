// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_operators_polytopewise_operator_h
#define tessella_operators_polytopewise_operator_h

#include <tessella/forms/polytope_stencil.h>
#include <tessella/grid/agglomeration_handler.h>

#include <functional>
#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Operator that a user writes polytope by polytope: a functor gets the
   * coefficients and mean values of a discrete function on a polytope, with
   * mean values, centroids and measures of its neighbours, and computes new
   * coefficients or one number, for example a limiter or a largest wave speed.
   *
   *     PolytopewiseOperator<dim> limiter(agglomeration);
   *     SlopeLimiter              slopes;
   *     limiter.apply(slopes, u);                      // changes u
   *     const auto speeds = limiter.evaluate(speed, u); // one number each
   *
   * The functor's members are those of PolytopewiseTraits.
   *
   * <b>Geometry</b> (centroids, mean values and slopes of the basis functions
   * on the polytopes, measures of interfaces) is computed once for a mesh and
   * its space, with exact quadrature: 8 (1 + dim) bytes per basis function, and
   * for each interface of a polytope 56 bytes in 2-D, 72 in 3-D. Points are
   * computed in each call of a functor that uses them. The host's threads share
   * the work.
   *
   * <b>Many processes.</b> Functions are collective; mean values of ghost
   * polytopes are exchanged.
   *
   * <b>Same input, same bits</b> for every number of threads and processes: the
   * order of interfaces and points is that of the flat view, and no polytope
   * reads coefficients that another one changes.
   *
   * <b>Vectors</b>: Vector<double>, LinearAlgebra::distributed::Vector<double>
   * or TrilinosWrappers::MPI::Vector, with the degrees of freedom that this
   * process owns.
   *
   * <b>Errors</b>, as exceptions with one sentence: a handler without degrees
   * of freedom, vectors of other sizes, a polytope on which a mean value or a
   * coefficient of the result is not finite.
   */
  template <int dim>
  class PolytopewiseOperator
  {
  public:
    /// The handler must outlive the operator and have degrees of freedom.
    /// Quadrature points, PolytopeStencil::x, are those of order 2 p +
    /// @p extra_order.
    explicit PolytopewiseOperator(const AgglomerationHandler<dim> &handler,
                                  const unsigned int extra_order = 2);
    ~PolytopewiseOperator();

    /// Replaces the coefficients of @p vector by those that the functor writes.
    /// Returns its results for the polytopes that this process owns.
    template <typename Functor, typename VectorType>
    std::vector<double>
    apply(const Functor &functor, VectorType &vector)
    {
      return call(functor, vector);
    }

    /// Returns the results of the functor for the polytopes that this process
    /// owns; coefficients that it writes are ignored.
    template <typename Functor, typename VectorType>
    std::vector<double>
    evaluate(const Functor &functor, const VectorType &vector)
    {
      return call(functor, vector);
    }

    /// Mean values of all components on the polytopes that this process owns:
    /// entry k n_components + c.
    template <typename VectorType>
    std::vector<double>
    mean_values(const VectorType &vector);

    /// Integral of each component over the domain, on all processes with the
    /// same bits for any number of them.
    template <typename VectorType>
    std::vector<double>
    integrals(const VectorType &vector);

  private:
    using Function =
      std::function<double(const PolytopeStencil<dim> &, double *)>;

    template <typename Functor, typename VectorType>
    std::vector<double>
    call(const Functor &functor, VectorType &vector)
    {
      return loop([&functor](const PolytopeStencil<dim> &stencil,
                             double *u) { return functor(stencil, u); },
                  PolytopewiseTraits<Functor>::point_values,
                  vector);
    }

    /// Calls @p function for all owned polytopes, and stores what it writes in
    /// @p vector unless that is const.
    template <typename VectorType>
    std::vector<double>
    loop(const Function &function, const bool point_values, VectorType &vector);

    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
