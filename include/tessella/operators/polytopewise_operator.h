// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_operators_polytopewise_operator_h
#define tessella_operators_polytopewise_operator_h

#include <tessella/forms/polytope_stencil.h>
#include <tessella/forms/polytopewise_function.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/operators/operator_report.h>

#include <memory>
#include <type_traits>
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
   * The functor's members are those of PolytopewiseTraits. It is any object
   * with these members, or a PolytopewiseFunction: a functor for host and
   * device, or text that the device compiles.
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
   * <b>Device.</b> Vectors in the memory of a CUDA device stay there: one
   * thread calls the functor for each polytope, and all that comes to the host
   * is its result, one number. That needs a PolytopewiseFunction with a kernel,
   * see PolytopewiseFunctor and PolytopewiseText. Other functors are evaluated
   * by the host, to which the vector is copied; report() has the reason. On the
   * device the operator keeps the geometry, one vector, and, for functors that
   * use them, 8 dim bytes for each point; values at points are computed for as
   * many polytopes at a time as fit into 256 MiB. Host and device agree up to
   * rounding.
   *
   * <b>Same input, same bits</b> for every number of threads and processes: the
   * order of interfaces and points is that of the flat view, and no polytope
   * reads coefficients that another one changes.
   *
   * <b>Vectors</b>: Vector<double>, LinearAlgebra::distributed::Vector<double>,
   * TrilinosWrappers::MPI::Vector or DeviceVector<double>, with the degrees of
   * freedom that this process owns.
   *
   * <b>Errors</b>, as exceptions with one sentence: a handler without degrees
   * of freedom, vectors of other sizes, a polytope on which a mean value or a
   * coefficient of the result is not finite, too little memory on a device, and
   * those of PolytopewiseText and of functors. Vectors then stay as they are.
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
      return call_functor(functor, vector);
    }

    /// Returns the results of the functor for the polytopes that this process
    /// owns; coefficients that it writes are ignored.
    template <typename Functor, typename VectorType>
    std::vector<double>
    evaluate(const Functor &functor, const VectorType &vector)
    {
      return call_functor(functor, vector);
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

    /// Where the last call of apply() or evaluate() ran, and its times.
    const OperatorReport &
    report() const;

  private:
    using Function = PolytopewiseFunction<dim>;

    /// A functor of the host.
    template <typename Functor>
    class HostFunctor : public Function
    {
    public:
      explicit HostFunctor(const Functor &functor)
        : functor(functor)
      {}

      bool
      point_values() const override
      {
        return PolytopewiseTraits<Functor>::point_values;
      }

      double
      evaluate(const PolytopeStencil<dim> &stencil, double *u) const override
      {
        return functor(stencil, u);
      }

    private:
      const Functor &functor;
    };

    template <typename Functor, typename VectorType>
    std::vector<double>
    call_functor(const Functor &functor, VectorType &vector)
    {
      if constexpr (std::is_base_of<Function, Functor>::value)
        return call(static_cast<const Function &>(functor), vector);
      else
        return call(HostFunctor<Functor>(functor), vector);
    }

    /// Calls @p function for all owned polytopes, and stores what it writes in
    /// @p vector unless that is const.
    template <typename VectorType>
    std::vector<double>
    call(const Function &function, VectorType &vector);

    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
