// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_solver_fused_gmres_h
#define tessella_lac_solver_fused_gmres_h

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/solver.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/vector_memory.h>

#include <tessella/device/device_graph.h>
#include <tessella/lac/multi_vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace Tessella
{
  /**
   * Restarted GMRES (Y. Saad and M. H. Schultz, SIAM J. Sci. Stat. Comput. 7,
   * 1986) with the interface of deal.II's solvers, whose scalar products are
   * computed together:
   *
   *     SolverControl                        control(200, 1e-8 * b.l2_norm());
   *     SolverFusedGMRES<HostVector<double>> solver(control);
   *     solver.solve(A, x, b, preconditioner);
   *
   * A needs only vmult(), P only vmult(). A new basis vector is made orthogonal
   * by the classical Gram-Schmidt method, which needs one group of scalar
   * products in each iteration instead of one product after the other, and
   * again if little of the vector is left, AdditionalData::second_below (J. W.
   * Daniel, W. B. Gragg, L. Kaufman, G. W. Stewart, Math. Comp. 30, 1976). For
   * HostVector and DeviceVector, a group is one kernel that reads the new
   * vector once and one reduction message, and so is the subtraction of all
   * basis vectors; sums have the same bits for every number of threads and
   * processes. In a program of one process the factors of the subtraction stay
   * on the device, and the host waits once. All other vectors of deal.II work,
   * too, with one scalar product after the other.
   *
   * The norm of a new basis vector follows from the last group of products. If
   * it is much smaller than that of the vector before the second subtraction,
   * it is computed again.
   *
   * Cost of iteration k: one product with A and P, 2 k + 6 vectors of memory
   * traffic, one reduction; 2 k vectors and a reduction more for a second
   * subtraction, 4 vectors more with CUDA graphs. Memory: restart_length + 3
   * vectors, 2 more with CUDA graphs, twice as many if flexible.
   *
   * Errors, as exceptions: SolverControl::NoConvergence; a restart length of
   * zero; a residual that is not finite, through SolverControl.
   */
  template <typename VectorType>
  class SolverFusedGMRES : public dealii::SolverBase<VectorType>
  {
  public:
    struct AdditionalData
    {
      explicit AdditionalData(const unsigned int restart_length        = 30,
                              const bool         right_preconditioning = true,
                              const bool         flexible              = false,
                              const bool         cuda_graphs           = false,
                              const double       second_below = 0.70710678)
        : restart_length(restart_length)
        , right_preconditioning(right_preconditioning)
        , flexible(flexible)
        , cuda_graphs(cuda_graphs)
        , second_below(second_below)
      {}

      /// Number of basis vectors after which the iteration starts again from
      /// the current solution.
      unsigned int restart_length;
      /// Whether A P y = b, x = P y is solved, whose residual is that of A x =
      /// b, instead of P A x = P b, whose residual enters the SolverControl.
      bool right_preconditioning;
      /// Whether P may change from one product to the next, as do inner
      /// iterations. The preconditioner is then taken from the right.
      bool flexible;
      /// Whether the products with A and P of an iteration on a DeviceVector
      /// are one CUDA graph, see DeviceGraph: A and P must then start their
      /// work as that class asks for, and must be the same in all iterations.
      /// It pays only where the host starts kernels more slowly than they run;
      /// an iteration with LU-SGS on 2,312 triangles gains nothing. Results
      /// have the same bits. Work that cannot be recorded, and a flexible
      /// preconditioner, run without a graph.
      bool cuda_graphs;
      /// A vector is made orthogonal a second time if its norm has fallen below
      /// this times the former one. At worst, the products of a new basis
      /// vector with the others are those among the others, or rounding errors,
      /// divided by this.
      double second_below;
    };

    SolverFusedGMRES(dealii::SolverControl            &control,
                     dealii::VectorMemory<VectorType> &memory,
                     const AdditionalData             &data = AdditionalData())
      : dealii::SolverBase<VectorType>(control, memory)
      , data(data)
      , graph(data.cuda_graphs)
    {}

    explicit SolverFusedGMRES(dealii::SolverControl &control,
                              const AdditionalData  &data = AdditionalData())
      : dealii::SolverBase<VectorType>(control)
      , data(data)
      , graph(data.cuda_graphs)
    {}

    /// Solves A x = b from the initial guess @p x.
    template <typename MatrixType, typename PreconditionerType>
    void
    solve(const MatrixType         &A,
          VectorType               &x,
          const VectorType         &b,
          const PreconditionerType &preconditioner);

    /// How the products of the last solve() were started, if they were to be a
    /// CUDA graph.
    const DeviceGraphReport &
    graph_report() const
    {
      return graph.report();
    }

  private:
    using Operations = internal::MultiVector<VectorType>;
    using State      = dealii::SolverControl::State;
    using Vectors =
      std::vector<typename dealii::VectorMemory<VectorType>::Pointer>;

    /// Vector @p i of a list, which grows.
    VectorType &
    vector(Vectors &vectors, const unsigned int i, const VectorType &x)
    {
      while (vectors.size() <= i)
        {
          vectors.emplace_back(this->memory);
          vectors.back()->reinit(x, true);
        }
      return *vectors[i];
    }

    /// Subtracts the projection on the vectors of @p basis from @p w, adds its
    /// coefficients to @p h, and returns the norm of the result, zero if only
    /// rounding errors are left.
    double
    orthogonalise(const std::vector<const VectorType *> &basis,
                  VectorType                            &w,
                  std::vector<double>                   &h) const;

    /// Solution of the least squares problem of @p n columns.
    static std::vector<double>
    back_substitute(const std::vector<std::vector<double>> &columns,
                    const std::vector<double>              &g,
                    const unsigned int                      n);

    /// Does @p multiply, which sets its second argument to the product of its
    /// first one with A and P, through vectors of its own, if that can be a
    /// graph; basis vectors are others in each iteration.
    template <typename Multiply>
    void
    multiply_as_graph(const Multiply   &multiply,
                      const VectorType &v,
                      VectorType       &w,
                      Vectors          &work);

    const AdditionalData data;
    DeviceGraph          graph;
  };



  template <typename VectorType>
  double
  SolverFusedGMRES<VectorType>::orthogonalise(
    const std::vector<const VectorType *> &basis,
    VectorType                            &w,
    std::vector<double>                   &h) const
  {
    const unsigned int  n = basis.size();
    std::vector<double> products(n + 1);
    h.assign(n + 1, 0.);
    double first = 0., norm = 0.;
    for (unsigned int pass = 0; pass < 2; ++pass)
      {
        Operations::project_out(basis, w, products.data());
        double square = products[n];
        for (unsigned int i = 0; i < n; ++i)
          {
            h[i] += products[i];
            square -= products[i] * products[i];
          }
        if (pass == 0)
          {
            first = products[n];
            if (square >= data.second_below * data.second_below * first)
              return std::sqrt(square);
          }
        else
          norm = square >= 0.5 * products[n] ? std::sqrt(square)
                                             : double(w.l2_norm());
      }
    using Number = typename VectorType::value_type;
    return norm <=
               4. * std::numeric_limits<Number>::epsilon() * std::sqrt(first)
             ? 0.
             : norm;
  }



  template <typename VectorType>
  std::vector<double>
  SolverFusedGMRES<VectorType>::back_substitute(
    const std::vector<std::vector<double>> &columns,
    const std::vector<double>              &g,
    const unsigned int                      n)
  {
    std::vector<double> y(g.begin(), g.begin() + n);
    for (unsigned int i = n; i-- > 0;)
      {
        for (unsigned int j = i + 1; j < n; ++j)
          y[i] -= columns[j][i] * y[j];
        // A column of zeros belongs to a singular matrix.
        y[i] = columns[i][i] == 0. ? 0. : y[i] / columns[i][i];
      }
    return y;
  }



  template <typename VectorType>
  template <typename Multiply>
  void
  SolverFusedGMRES<VectorType>::multiply_as_graph(const Multiply   &multiply,
                                                  const VectorType &v,
                                                  VectorType       &w,
                                                  Vectors          &work)
  {
    using Number = typename VectorType::value_type;
    if constexpr (std::is_same<VectorType, DeviceVector<Number>>::value)
      if (data.cuda_graphs && !data.flexible && graph.report().why.empty())
        {
          VectorType &from = vector(work, 1, v), &to = vector(work, 2, v);
          from = v;
          graph.run({DeviceGraph::address(from.begin()),
                     DeviceGraph::address(to.begin())},
                    [&]() { multiply(from, to); });
          w = to;
          return;
        }
    multiply(v, w);
  }



  template <typename VectorType>
  template <typename MatrixType, typename PreconditionerType>
  void
  SolverFusedGMRES<VectorType>::solve(const MatrixType         &A,
                                      VectorType               &x,
                                      const VectorType         &b,
                                      const PreconditionerType &preconditioner)
  {
    using Number = typename VectorType::value_type;
    AssertThrow(data.restart_length > 0,
                dealii::ExcMessage("The restart length of GMRES must be "
                                   "positive."));
    const bool   right = data.right_preconditioning || data.flexible;
    Vectors      basis, directions, work;
    VectorType  &t = vector(work, 0, x), &u = vector(directions, 0, x);
    unsigned int iteration = 0;
    double       residual  = 0.;
    State        state     = State::iterate;
    // The graph of another solve may belong to other operators.
    graph.clear();
    while (state == State::iterate)
      {
        VectorType &r = vector(basis, 0, x);
        A.vmult(right ? r : t, x);
        (right ? r : t).sadd(Number(-1), Number(1), b);
        if (!right)
          preconditioner.vmult(r, t);
        residual = r.l2_norm();
        state    = this->iteration_status(iteration, residual, x);
        if (state != State::iterate)
          break;
        r *= Number(1. / residual);
        std::vector<const VectorType *>  known(1, &r), searched;
        std::vector<std::vector<double>> columns;
        std::vector<double>              g(1, residual), c, s;
        while (state == State::iterate && columns.size() < data.restart_length)
          {
            const unsigned int k = columns.size();
            VectorType        &w = vector(basis, k + 1, x);
            VectorType        &z = data.flexible ? vector(directions, k, x) : u;
            multiply_as_graph(
              [&](const VectorType &from, VectorType &to) {
                if (right)
                  {
                    preconditioner.vmult(z, from);
                    A.vmult(to, z);
                  }
                else
                  {
                    A.vmult(t, from);
                    preconditioner.vmult(to, t);
                  }
              },
              *known[k],
              w,
              work);
            searched.push_back(&z);
            std::vector<double> h;
            const double        norm = orthogonalise(known, w, h);
            // Givens rotations keep the least squares problem triangular.
            for (unsigned int i = 0; i < k; ++i)
              {
                const double a = h[i];
                h[i]           = c[i] * a + s[i] * h[i + 1];
                h[i + 1]       = -s[i] * a + c[i] * h[i + 1];
              }
            const double length = std::hypot(h[k], norm);
            c.push_back(length == 0. ? 1. : h[k] / length);
            s.push_back(length == 0. ? 0. : norm / length);
            h[k] = length;
            g.push_back(-s[k] * g[k]);
            g[k] *= c[k];
            columns.push_back(h);
            residual = std::abs(g[k + 1]);
            state    = this->iteration_status(++iteration, residual, x);
            if (norm == 0.)
              break;
            w *= Number(1. / norm);
            known.push_back(&w);
          }
        const unsigned int        n = columns.size();
        const std::vector<double> y = back_substitute(columns, g, n);
        known.resize(n);
        if (data.flexible)
          Operations::add(searched, y.data(), x);
        else if (right)
          {
            t = Number(0);
            Operations::add(known, y.data(), t);
            preconditioner.vmult(u, t);
            x.add(Number(1), u);
          }
        else
          Operations::add(known, y.data(), x);
      }
    AssertThrow(state == State::success,
                dealii::SolverControl::NoConvergence(iteration, residual));
  }
} // namespace Tessella

#endif
