// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_hdg_trace_multigrid_h
#define tessella_hdg_trace_multigrid_h

#include <tessella/base/compatibility.h>
#include <tessella/hdg/hdg.h>
#include <tessella/multigrid/multigrid.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace Tessella
{
  /// Sizes, time and memory of a TraceMultigrid object.
  struct TraceMultigridReport
  {
    std::uint64_t n_trace_dofs = 0, n_coarse_dofs = 0;
    /// Number of entries of the matrix on polytopes, divided by that of the
    /// trace matrix; of this process.
    double coarse_complexity = 0.;
    /// Estimate of the largest eigenvalue of D^{-1} T; 0 if it is not needed.
    double largest_eigenvalue = 0.;
    /// Whether the smoother on traces works in half precision.
    bool half_precision = false;
    /// Levels of the multigrid on polytopes.
    MultigridReport coarse;
    double          setup_time = 0.; ///< seconds
    /// Stages of the last initialize() or update() with their times in seconds,
    /// in their order. On a device a stage of initialize() ends when its work
    /// has ended, and one of update() when the host has finished its part.
    std::vector<std::pair<std::string, double>> stages;
    /// Memory in bytes, without the trace matrix.
    std::size_t memory = 0;
  };

  /**
   * Multigrid preconditioner for the trace systems of HDG on polytopes of any
   * shape, on the host or on a CUDA device: the same algorithm for
   * HostBlockMatrix and DeviceBlockMatrix.
   *
   *     hdg.assemble(form, matrix, rhs);
   *     hdg.copy_blocks(matrix, blocks);
   *     TraceMultigrid<dim, HostBlockMatrix<double>> multigrid;
   *     multigrid.initialize(handler, hdg, form, blocks);
   *     SolverCG<VectorType> solver(control);
   *     solver.solve(blocks, trace, rhs, multigrid);
   *
   * <b>Algorithm.</b> A smoother on the trace matrix T, whose blocks belong to
   * interfaces, and a correction from the space of discontinuous polynomials of
   * degree one on the polytopes, whatever the degree of the traces:
   *
   *     x = S(0, b),
   *     x = x + P B P^T (b - T x),
   *     x = S(x, b).
   *
   * <i>Injection</i> P. The trace of a discontinuous function v on an interface
   * is the L2 projection to the trace functions of w_0 v_0 + w_1 v_1. The
   * weights are the shares of the two sides in s_t = a_t / h + max(b . n_t, 0),
   * with a_t the mean of n . a n, n_t the outer normal and h the mean height of
   * both boxes above the interface: where coefficients jump, the trace follows
   * the side with the larger one, and where advection dominates the side from
   * which the flow comes, as the solution does. On simplices
   * the space contains the continuous functions of degree one, from which B.
   * Cockburn, O. Dubois, J. Gopalakrishnan and S. Tan (Multigrid for an HDG
   * method, IMA J. Numer. Anal. 34, 2014) correct; on other polytopes there are
   * no such functions, but discontinuous ones. The coarse space is not
   * inherited from agglomerated skeletons (S. Muralikrishnan, T. Bui-Thanh, J.
   * N. Shadid, A multilevel approach for trace system in HDG discretizations,
   * J. Comput. Phys. 407, 2020); M. Kronbichler and W. A. Wall (SIAM J. Sci.
   * Comput. 40, 2018) compare solvers of this kind.
   *
   * <i>Coarse operator</i>, CoarseOperator::galerkin: P^T T P + s (A - A_0),
   * where A and A_0 are matrices of the symmetric interior penalty method of
   * degree one with and without penalty. Averages of A are weighted and its
   * penalty follows the smaller diffusion of the two sides (A. Ern, A.
   * Stephansen, P. Zunino, IMA J. Numer. Anal. 29, 2009). The second term, with
   * the factor s = AdditionalData::penalty_share, is needed as P may map
   * functions to zero, for example those of opposite sign on neighbours, which
   * cycles on groups do not see if s is far smaller. It vanishes for continuous
   * functions. CoarseOperator::interior_penalty takes A
   * itself, which couples neighbours only and needs no values of T. It is as
   * good if the diffusion does not jump and tau is of its size, but not
   * otherwise, where it was found to be indefinite (jumps of 1e4 and more).
   *
   * <i>Coarse solver</i> B: a cycle of Multigrid on groups of polytopes, with
   * the penalty rescaled: what P^T T P has in addition to A_0 acts like a
   * penalty, since it vanishes for continuous functions. Groups are made by
   * NestedAgglomeration::coupling(), so that they follow jumps and anisotropy
   * of the diffusion as far as possible. Without groups the coarse matrix is
   * inverted. Where many materials meet, groups of several ones represent none
   * of them well: pairs (AdditionalData::n_children = 2), eight steps of both
   * smoothers and a penalty_share of 0.03 then take half as many iterations.
   *
   * <i>Smoother</i> S: MultigridSmoother::chebyshev is that of BlockChebyshev
   * with the diagonal blocks of T, one for each interface; the blocks of high
   * degree are where the degree is treated, so that no levels of lower degree
   * are needed. Where advection dominates, S and the smoother of the coarse
   * solver should be MultigridSmoother::lusgs: on the host, its block
   * Gauss-Seidel sweeps follow the flow, along which the trace matrix is nearly
   * triangular.
   *
   * The preconditioner is symmetric if the matrix is.
   *
   * <b>Other values.</b> update() takes new values of the matrix and new
   * coefficients of the form. Groups, structures and lists are kept, so that it
   * costs the numerical part alone.
   *
   * <b>Precision.</b> For HostBlockMatrix<float> and DeviceBlockMatrix<float>
   * initialize() takes the trace matrix in double precision, keeps a rounded
   * copy and works in single precision inside a solver in double precision,
   * which halves the bytes of a cycle. Coarse operators are computed in double
   * precision and rounded. Where coefficients jump by 1e5 or more take double
   * precision: rounding errors of the large entries are then as large as the
   * small ones. Take it with GMRES, too, unless it is a flexible one: its
   * solution is a sum of products with the preconditioner, whose rounding
   * errors the residual that it reports does not contain.
   *
   * <b>Half precision.</b> With AdditionalData::half_precision,
   * DeviceBlockMatrix<float> and Chebyshev's polynomial, the smoother on traces
   * works in bases of the interfaces in which the diagonal blocks of T are the
   * identity, and keeps the other blocks with 11 significant bits; sums and
   * vectors are in single precision. It then reads a third of the bytes of
   * single precision. For symmetric matrices, whose entries are at most one in
   * these bases. Blocks must have one size of at most ten rows; otherwise the
   * trace matrix is rounded to single precision (TraceMultigridReport).
   *
   * <b>On a device</b> P, P^T T P, the coefficients of groups and cycles are
   * computed there. Interior penalty is assembled on the device if the form is
   * symmetric with constant coefficients, and else by the host. A cycle is a
   * CUDA graph from the second vmult() on, see Multigrid.
   *
   * <b>Several processes.</b> HostBlockMatrix only, with
   * CoarseOperator::interior_penalty: P^T T P needs rows of T that other
   * processes have. Polytopes of different processes are not grouped.
   *
   * <b>tau</b> should be of the size of the diffusion on each polytope
   * (HDG::AdditionalData::tau_of_facet). On polytopes that are not simplices
   * traces are determined by tau alone in part, and the trace matrix is
   * ill-conditioned where tau is far smaller than a / h; no preconditioner of
   * this kind then has few iterations. Neither has it where the diffusion jumps
   * inside a polytope, whose functions of degree one cannot follow: see
   * Agglomeration::within_materials().
   *
   * <b>Cost</b> of vmult(), with k smoothing steps: 2 k products with T, and
   * about as much on polytopes as Multigrid for interior penalty of degree one
   * with a wider stencil. On straight edges P has two columns for each side,
   * whatever the degree, and P^T T P reads the leading 2 x 2 entries of the
   * blocks of T.
   *
   * <b>Same input, same bits</b> for every number of threads. vmult() of one
   * object may not run in several threads at the same time.
   *
   * Errors, as exceptions: CoarseOperator::galerkin on several processes, a
   * matrix of another HDG object, no smoothing steps, Tvmult() of a
   * preconditioner that is not symmetric, update() with another structure;
   * those of Multigrid and BlockChebyshev (singular diagonal blocks, a matrix
   * that is found to be indefinite though declared as symmetric, a coarsest
   * level that is too large).
   */
  template <int dim, typename MatrixType>
  class TraceMultigrid : public Subscriptor
  {
  public:
    using value_type  = typename MatrixType::value_type;
    using size_type   = typename MatrixType::size_type;
    using vector_type = typename MatrixType::vector_type;
    using Smoother    = MultigridSmoother;
    /// Type of the trace matrix: MatrixType in double precision.
    using TraceMatrix = typename std::conditional<
      std::is_same<MatrixType, HostBlockMatrix<value_type>>::value,
      HostBlockMatrix<double>,
      DeviceBlockMatrix<double>>::type;

    enum class CoarseOperator
    {
      galerkin,
      interior_penalty
    };

    struct AdditionalData
    {
      Smoother smoother = Smoother::chebyshev;
      /// Degree of the polynomial, or number of steps, before and after the
      /// coarse correction.
      unsigned int n_smoothing_steps = 6;
      /// Whether the trace matrix is symmetric and positive definite.
      bool           symmetric       = true;
      CoarseOperator coarse_operator = CoarseOperator::galerkin;
      /// Factor s of the penalty in CoarseOperator::galerkin.
      double penalty_share = 0.1;
      /// Largest number of polytopes on the coarsest level, and number of
      /// those that become one (0: 2^dim), if groups are made here.
      unsigned int n_coarsest = 64, n_children = 0;
      /// Whether cycles on a device are recorded as CUDA graphs.
      bool cuda_graphs = true;
      /// Whether the smoother on traces takes a matrix in half precision, see
      /// the class.
      bool half_precision = false;
      /// Multigrid on polytopes. AdditionalData::symmetric, cuda_graphs and
      /// keep_structures are taken from here.
      typename Multigrid<MatrixType>::AdditionalData coarse;
    };

    TraceMultigrid();
    ~TraceMultigrid();

    /**
     * Sets up the preconditioner for @p matrix, the trace matrix that @p hdg
     * has assembled for @p form on @p handler. @p matrix must outlive this
     * object; @p handler and @p hdg must if update() is called. Polytopes are
     * grouped by NestedAgglomeration::coupling() of their interior penalty
     * matrix. Collective.
     */
    void
    initialize(const AgglomerationHandler<dim> &handler,
               const HDG<dim>                  &hdg,
               const Form<dim>                 &form,
               const TraceMatrix               &matrix,
               const AdditionalData            &data = AdditionalData());
    /// The same with groups of your own, as for MultigridHierarchy, see
    /// NestedAgglomeration; none if @p parents is empty.
    void
    initialize(const AgglomerationHandler<dim>    &handler,
               const HDG<dim>                     &hdg,
               const Form<dim>                    &form,
               const TraceMatrix                  &matrix,
               const NestedAgglomeration::Parents &parents,
               const AdditionalData               &data = AdditionalData());
    /// Takes the values that the trace matrix given to initialize() now has,
    /// and the coefficients of @p form, with the boundary conditions of the
    /// same ids as before. The objects given to initialize() must still exist,
    /// unchanged. If it throws, the object must be initialised again.
    /// Collective.
    void
    update(const Form<dim> &form);
    void
    clear();

    size_type
    m() const;
    size_type
    n() const
    {
      return m();
    }

    /// One cycle for T x = src with x = 0 at the start. VectorType: any vector
    /// that the matrix accepts.
    template <typename VectorType>
    void
    vmult(VectorType &dst, const VectorType &src) const;
    /// The same, for symmetric preconditioners only.
    template <typename VectorType>
    void
    Tvmult(VectorType &dst, const VectorType &src) const;

    const TraceMultigridReport &
    report() const;
    /// Report of the CUDA graph of vmult(); on the host all numbers are zero.
    const DeviceGraphReport &
    graph_report() const;

  private:
    void
    set_up(const AgglomerationHandler<dim>    &handler,
           const HDG<dim>                     &hdg,
           const Form<dim>                    &form,
           const TraceMatrix                  &matrix,
           const NestedAgglomeration::Parents *parents,
           const AdditionalData               &data);
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
