// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_multigrid_multigrid_h
#define tessella_multigrid_multigrid_h

#include <deal.II/base/multithread_info.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/compatibility.h>
#include <tessella/base/exceptions.h>
#include <tessella/device/device_graph.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/multigrid/multigrid_hierarchy.h>

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    template <typename MatrixType>
    struct MultigridAccess;
  }

  /// Levels, time and memory of a Multigrid object; counts are totals of all
  /// processes.
  struct MultigridReport
  {
    struct Level
    {
      unsigned int  n_polytopes = 0, max_degree = 0;
      std::uint64_t n_dofs = 0, n_nonzero_elements = 0;
      /// Estimate of the largest eigenvalue of D^{-1} A; 0 if it is not needed.
      double       largest_eigenvalue = 0.;
      unsigned int n_colors           = 0; ///< 0 if colours are not used
      /// Factor relative to the penalty of the mesh; 1 unless it is rescaled.
      double penalty_ratio = 1.;
      /// SweepData::relaxation of the smoother by an incomplete factorisation.
      double relaxation = 1.;
    };
    std::vector<Level> levels;
    double             setup_time = 0.; ///< seconds
    /**
     * Parts of setup_time in seconds: injection between levels; structures of
     * the coarse matrices; smoothers with their eigenvalues; solver of the
     * coarsest level. The rest is for the values of matrices. A device works
     * while the host goes on, so that times of kernels may be in a later part.
     */
    struct Times
    {
      double transfer = 0., structures = 0., smoothers = 0., coarse_solver = 0.;
    } times;
    /// Memory of all levels on this process in bytes, without the matrix on
    /// which the object is based.
    std::size_t memory = 0;
    /// Number of entries of the matrices of all levels, divided by that of the
    /// first one.
    double operator_complexity = 1.;
  };

  /// Smoothers of Multigrid and TraceMultigrid.
  enum class MultigridSmoother
  {
    /// The polynomial of BlockChebyshev.
    chebyshev,
    /// Sweeps of BlockGaussSeidel by colours.
    gauss_seidel,
    /// Steps of LUSGS, which are Gauss-Seidel sweeps there and back. On the
    /// host, if the matrix is not symmetric, with SweepOrdering::downwind: for
    /// problems where advection dominates.
    lusgs,
    /// Steps of BlockILU0, in the same order, which need a copy of the matrix.
    /// If the matrix is symmetric, the factors of each level are relaxed as far
    /// as their steps need it in order not to diverge. If it is not, steps may
    /// diverge where those of LUSGS do not.
    ilu
  };

  /// Solvers of the coarsest level of Multigrid.
  enum class MultigridCoarseSolver
  {
    /// The inverse as a dense matrix.
    dense,
    /**
     * The inverses of a nested dissection: polytopes that separate parts of the
     * mesh from each other are eliminated after those inside of the parts, and
     * the inverses of the parts are dense. In two dimensions a coarsest level
     * of a hundred thousand unknowns needs a few hundred megabytes, and a
     * device applies the inverse by few kernels. For symmetric matrices on one
     * process.
     */
    nested_dissection
  };

  /**
   * Multigrid on nested polytopes (see MultigridHierarchy) as a preconditioner
   * for deal.II's solvers, on the host or on a CUDA device: the same algorithm
   * for HostBlockMatrix and DeviceBlockMatrix.
   *
   *     assembler.assemble(problem, matrix, rhs);
   *     Multigrid<DeviceBlockMatrix<double>> multigrid;
   *     multigrid.initialize(assembler, problem, matrix);
   *     SolverCG<DeviceVector<double>> solver(control);
   *     solver.solve(matrix, solution, rhs, multigrid);
   *
   * Other functions initialize() take a hierarchy and matrices of your own.
   *
   * <b>Coarse operators.</b> With P the injection of a level into the finer
   * one:
   * - <i>Galerkin</i>: P^T A P. The penalty of the finest level is inherited.
   *   On coarse levels, whose own penalty would be smaller in proportion to p^2
   *   / h, it forces coarse functions to be nearly continuous. On polytopes
   *   only a small part of the functions of low degree is nearly continuous, so
   *   that iterations grow with the number of levels.
   * - <i>Galerkin with the penalty rescaled</i>: P^T (A_0 + s (A - A_0)) P, A_0
   *   being the matrix that was assembled with a penalty constant of zero and s
   *   the ratio of p^2 / h on the two levels. Everything is computed from the
   *   two matrices. If s turns out too small on a level (the matrix is declared
   *   as symmetric and found to be indefinite, as it may be on graded meshes),
   *   s is replaced by its square root, up to three times in succession, and
   *   then by 1. Where degrees vary s hardly falls: re-discretised operators
   *   are better there.
   * - <i>re-discretised</i>: matrices that PolytopicAssembler assembles on the
   *   coarse polytopes, see assemble_coarse_operators().
   *
   * <b>Smoothers</b>: BlockChebyshev, steps of LUSGS or BlockILU0, or sweeps of
   * BlockGaussSeidel, in ascending order of the colours before and in
   * descending order after the coarse correction. The system of the coarsest
   * level is solved with its inverse. With a symmetric matrix the
   * preconditioner is symmetric.
   *
   * The factors M of BlockILU0 need not be positive definite on irregular
   * polytopes, and those that are may be so small that steps amplify what
   * belongs to eigenvalues of M^{-1} A above 2. For a symmetric matrix the
   * largest eigenvalue is therefore estimated by 15 steps of Lanczos' method.
   * If it is more than 1.9, the factors are made again with
   * SweepData::relaxation 0.9, 0.7, 0.5, 0 in turn until it is at most 1.7. If
   * it is larger even so, which happens on several processes, steps are damped.
   * Each attempt costs a factorisation and 15 products and sweeps.
   * MultigridReport has the relaxation of each level.
   *
   * <b>Null space.</b> On pure Neumann and periodic problems the matrix maps
   * constants, of some or of all components, to zero. With
   * AdditionalData::constant_null_space the coarsest level is solved with the
   * pseudo-inverse, without which such a matrix is an error; all other parts
   * are as for regular matrices. NullSpace makes the right-hand side consistent
   * and fixes the constants of the solution:
   *
   *     data.constant_null_space = {true};
   *     multigrid.initialize(assembler, problem, matrix, data);
   *     const auto constants = NullSpace<VectorType>::constants(handler);
   *     constants.make_consistent(rhs);
   *     solver.solve(matrix, solution, rhs,
   *                  ProjectedPreconditioner(constants, multigrid));
   *     constants.project(solution);
   *
   * <b>Precision.</b> A Multigrid of a float matrix accepts vectors of double,
   * too: a preconditioner in single precision in a solver in double precision
   * moves half of the bytes. It is initialised with the matrices in double
   * precision:
   *
   *     Multigrid<DeviceBlockMatrix<float>> multigrid;
   *     multigrid.initialize(assembler, problem, matrix); // matrix of double
   *
   * On polytopes that fill their boxes badly, diagonal blocks D of higher
   * degrees are ill-conditioned, and a matrix that is rounded directly is not
   * positive definite from p = 4 or 5 on. It is therefore first transformed to
   * bases of the polytopes in which the diagonal blocks are the identity, W A
   * W^T with W D W^T = 1 and W lower triangular, so that levels of lower degree
   * still have the first functions of a polytope. Vectors are transformed to
   * these bases and back in double precision. Coarse operators that were
   * assembled, and hierarchies that join polytopes at a high degree, do not use
   * these bases: they are for degrees up to 3 or so. Of several components each
   * one has its own W, made from its part of D: the diagonal blocks are then
   * the identity within components, and as well conditioned as the coupling of
   * the components allows.
   *
   * <b>Several components.</b> The same functions serve systems of m equations.
   * Blocks of the matrix, and those which smoothers invert, couple all
   * components of a polytope. Transfer works component by component.
   *
   * <b>Many processes.</b> All functions are collective. Levels are distributed
   * in the same way as the finest one: restriction and prolongation need no
   * communication, smoothers exchange the same data as a product. The matrix of
   * the coarsest level is gathered and inverted by every process, each of which
   * keeps its rows of the inverse; a cycle gathers the right-hand side of that
   * level once. Iterations are close to those of one process, but not equal,
   * since polytopes of different processes are not joined. If no polytopes are
   * joined and only the degree is reduced, results have the same bits.
   *
   * <b>CUDA graphs.</b> On a device, vmult() and Tvmult() copy the source, do
   * the whole cycle as one DeviceGraph from the second call on, and copy the
   * result, so that cycles on small meshes do not wait for launches. Values of
   * the matrix may change in between; a reinit() of the matrix needs a new
   * initialize() as ever. Results have the same bits as without graphs. With
   * several processes, whose cycles exchange data, there are no graphs. After
   * update() the graphs of Chebyshev's polynomial are still valid. Its set-up
   * is a graph as well from the second update() on, or from the first one if
   * AdditionalData::keep_structures is set.
   *
   * <b>Same input, same bits</b>: as for the matrices and preconditioners.
   * vmult() of one object may not run in several threads at the same time.
   *
   * Errors, as exceptions: singular diagonal blocks, a matrix that is found to
   * be indefinite though declared as symmetric, a coarsest level that is
   * singular or too large, a hierarchy for another matrix, too little memory on
   * the device.
   */
  template <typename MatrixType>
  class Multigrid : public Subscriptor
  {
  public:
    using value_type  = typename MatrixType::value_type;
    using size_type   = typename MatrixType::size_type;
    using vector_type = typename MatrixType::vector_type;
    using Smoother    = MultigridSmoother;

    enum class Cycle
    {
      v,
      w,
      /// V over the levels that reduce the degree, W over those of the lowest
      /// degree, on which polytopes are joined. The levels that are visited
      /// several times are small.
      w_on_lowest_degree
    };

    struct AdditionalData
    {
      Smoother smoother = Smoother::chebyshev;
      /// Degree of the polynomial, or number of sweeps or steps, before and
      /// after the coarse correction.
      unsigned int n_smoothing_steps = 4;
      /// Steps more on the levels of the lowest degree, on which polytopes are
      /// joined: they cost little beside the levels of higher degree.
      unsigned int n_additional_steps = 0;
      /**
       * Levels of fill-in k of the smoother Smoother::ilu, ILU(k) instead of
       * ILU(0), on the host. If it is not zero, the polytopes are numbered by
       * the fill-in that is discarded (minimum discarded fill, P.-O. Persson
       * and J. Peraire, SIAM J. Sci. Comput. 30, 2008), which follows strong
       * couplings: two levels with one or two steps solve diffusion whose
       * principal values differ by 1e4 on irregular polytopes. The factors need
       * about twice the memory of the matrix then, and need little relaxation.
       */
      unsigned int fill_level = 0;
      Cycle        cycle      = Cycle::v;
      /// Whether the matrix is symmetric and positive definite.
      bool symmetric = true;
      /// Maximum number of DoFs on the coarsest level, and in the largest dense
      /// inverse of its solver; a larger number is an error.
      unsigned int          max_coarse_dofs = 4000;
      MultigridCoarseSolver coarse_solver   = MultigridCoarseSolver::dense;
      /// Whether the constants of each component are in the null space of the
      /// matrix and of its transpose; empty means none of them.
      std::vector<bool> constant_null_space;
      /// Whether cycles on a device are recorded as CUDA graphs.
      bool cuda_graphs = true;
      /// Whether update() will be called after an initialize() with a rescaled
      /// penalty: keeps the structures that it needs and the matrix without
      /// penalty.
      bool keep_structures = false;
    };

    Multigrid();
    ~Multigrid();

    /**
     * Sets up Galerkin operators with the penalty rescaled, from what was used
     * to assemble the matrix: @p problem, a Form or a SystemForm, is assembled
     * without its penalty for the next level, or for the mesh if that level has
     * other polytopes. Polytopes are joined by NestedAgglomeration::rtree(),
     * degrees are reduced one by one. The handler of @p assembler must be an
     * AgglomerationHandler. For @p matrix, see the function after the next one.
     * Cost, beside that of the set-up: this assembly, and memory for its matrix
     * until the function returns, which at degree 3 in 3-D is a quarter of that
     * of @p matrix. On a device, and with one process, the assembly runs in a
     * thread of its own while this one makes the structures of the levels.
     */
    template <typename OtherMatrix, typename Problem, int dim>
    void
    initialize(const PolytopicAssembler<dim> &assembler,
               const Problem                 &problem,
               const OtherMatrix             &matrix,
               const AdditionalData          &data = AdditionalData());
    /// The same with a hierarchy of your own.
    template <typename OtherMatrix, typename Problem, int dim>
    void
    initialize(const PolytopicAssembler<dim> &assembler,
               const Problem                 &problem,
               const OtherMatrix             &matrix,
               const MultigridHierarchy      &hierarchy,
               const AdditionalData          &data = AdditionalData());
    /// Sets up Galerkin operators. OtherMatrix: MatrixType, where @p matrix
    /// must outlive this object; or the same in double precision if MatrixType
    /// is in single precision, see above, where it is not needed afterwards.
    template <typename OtherMatrix>
    void
    initialize(const OtherMatrix        &matrix,
               const MultigridHierarchy &hierarchy,
               const AdditionalData     &data = AdditionalData());
    /// Sets up Galerkin operators with the penalty rescaled. @p without_penalty
    /// is a matrix of the mesh or, if it has the same polytopes, of the next
    /// level, and is not needed afterwards.
    template <typename OtherMatrix>
    void
    initialize(const OtherMatrix        &matrix,
               const OtherMatrix        &without_penalty,
               const MultigridHierarchy &hierarchy,
               const AdditionalData     &data = AdditionalData());
    /// Uses assembled coarse operators: one matrix for each level except the
    /// first.
    void
    initialize(const MatrixType         &matrix,
               std::vector<MatrixType> &&coarse_matrices,
               const MultigridHierarchy &hierarchy,
               const AdditionalData     &data = AdditionalData());
    /**
     * Takes new values of the matrix that was given to the initialize() with
     * the same arguments, into which @p problem has been assembled again, for
     * example with other coefficients. Hierarchy, structures, lists and memory
     * are kept: needs AdditionalData::keep_structures. The mesh and its degrees
     * of freedom must be the same, and exist since then. Collective.
     */
    template <typename OtherMatrix, typename Problem, int dim>
    void
    update(const PolytopicAssembler<dim> &assembler,
           const Problem                 &problem,
           const OtherMatrix             &matrix);
    /// The same after initialize() with these matrices, both of which have new
    /// values.
    template <typename OtherMatrix>
    void
    update(const OtherMatrix &matrix, const OtherMatrix &without_penalty);
    /// Takes new values of the matrix that was given to the initialize() for
    /// Galerkin operators without rescaled penalty, in the precision of this
    /// object; hierarchy, structures and orders of sweeps are kept. The
    /// structure of the matrix must be the same. Collective.
    void
    update();
    void
    clear();

    size_type
    m() const;
    size_type
    n() const
    {
      return m();
    }

    /// One cycle for A x = src with x = 0 at the start. VectorType: any vector
    /// that the matrix accepts, or the same in the other precision.
    template <typename VectorType>
    void
    vmult(VectorType &dst, const VectorType &src) const;
    /// The same if the matrix is symmetric; else the transpose, which is
    /// not available with BlockGaussSeidel as smoother.
    template <typename VectorType>
    void
    Tvmult(VectorType &dst, const VectorType &src) const;
    /// One cycle that improves @p x. Not available for a multigrid in single
    /// precision of matrices in double precision.
    template <typename VectorType>
    void
    step(VectorType &x, const VectorType &b) const;

    /// Key of a DeviceGraph whose work calls vmult(): a graph stays valid as
    /// long as the key is the same, which it is after update() with the
    /// smoother Smoother::chebyshev on one process.
    DeviceGraph::Key
    graph_key() const;

    const MultigridReport &
    report() const;
    /// Report of the graphs of vmult() for vectors of doubles or floats; on the
    /// host all numbers are zero.
    template <typename VectorNumber>
    const DeviceGraphReport &
    graph_report() const;

  private:
    friend struct internal::MultigridAccess<MatrixType>;
    struct Implementation;
    /// Object of internal::WithoutPenalty for update().
    std::any &
    kept();
    /// The public function with the same first arguments, for a matrix without
    /// penalty whose values are set when @p wait returns. The structures of the
    /// levels are made before.
    template <typename OtherMatrix>
    void
    initialize(const OtherMatrix           &matrix,
               const OtherMatrix           &without_penalty,
               const MultigridHierarchy    &hierarchy,
               const AdditionalData        &data,
               const std::function<void()> &wait);
    template <typename VectorType>
    void
    check(const VectorType &dst, const VectorType &src) const;
    std::unique_ptr<Implementation> implementation;
  };

  namespace internal
  {
    /// The handler on which an assembler works, which must not be a slab.
    template <int dim>
    const AgglomerationHandler<dim> &
    handler_of(const PolytopicAssembler<dim> &assembler)
    {
      const auto *const handler =
        dynamic_cast<const AgglomerationHandler<dim> *>(&assembler.space());
      AssertThrow(handler != nullptr,
                  ExcUserInput("Multigrid joins the polytopes of an "
                               "AgglomerationHandler, but the assembler works "
                               "on another space, such as a space-time slab."));
      return *handler;
    }

    /// Does @p work in a thread of its own, for the current device of the
    /// calling thread. Errors come with get().
    std::future<void>
    start_beside(const std::function<void()> &work);

    /// Assembles problems without their penalty, for the next coarser level if
    /// it has the same polytopes, or else for the mesh.
    template <int dim, typename MatrixType>
    class WithoutPenalty
    {
    public:
      WithoutPenalty(const PolytopicAssembler<dim> &of_mesh,
                     const MultigridHierarchy      &hierarchy)
        : space(hierarchy.space_of_level(of_mesh.space(),
                                         hierarchy.n_levels() > 1 &&
                                             hierarchy.has_polytopes_of_mesh(1)
                                           ? 1
                                           : 0))
        , assembler(
            std::make_unique<PolytopicAssembler<dim>>(*space,
                                                      parameters(of_mesh)))
      {
        assembler->reinit(matrix);
      }

      template <typename Problem>
      const MatrixType &
      assemble(const Problem &problem)
      {
        assembler->assemble_matrix(problem, matrix);
        return matrix;
      }

      /// The matrix with its structure, and perhaps without values.
      const MatrixType &
      get_matrix() const
      {
        return matrix;
      }

      /// Whether assembly can go on beside other work of this process: a
      /// device does it, and there are no other processes to talk to.
      bool
      can_run_beside() const
      {
        using Number = typename MatrixType::value_type;
        return std::is_same<MatrixType, DeviceBlockMatrix<Number>>::value &&
               matrix.partition() == nullptr &&
               dealii::MultithreadInfo::n_threads() > 1;
      }

      /// Frees all but the matrix.
      void
      forget_assembler()
      {
        assembler.reset();
        space.reset();
      }

    private:
      static typename PolytopicAssembler<dim>::AdditionalData
      parameters(const PolytopicAssembler<dim> &of_mesh)
      {
        auto data             = of_mesh.parameters();
        data.penalty.constant = 0.;
        return data;
      }

      std::unique_ptr<PolytopicSpace<dim>>     space;
      std::unique_ptr<PolytopicAssembler<dim>> assembler;
      MatrixType                               matrix;
    };
  } // namespace internal



  template <typename MatrixType>
  template <typename OtherMatrix, typename Problem, int dim>
  void
  Multigrid<MatrixType>::initialize(const PolytopicAssembler<dim> &assembler,
                                    const Problem                 &problem,
                                    const OtherMatrix             &matrix,
                                    const MultigridHierarchy      &hierarchy,
                                    const AdditionalData          &data)
  {
    using Kept          = internal::WithoutPenalty<dim, OtherMatrix>;
    const auto none     = std::make_shared<Kept>(assembler, hierarchy);
    const auto assemble = [&] {
      none->assemble(problem);
      if (!data.keep_structures)
        none->forget_assembler();
    };
    // Waits for the assembly when it is destroyed.
    std::future<void> assembly;
    if (none->can_run_beside())
      assembly = internal::start_beside(assemble);
    else
      assemble();
    initialize(matrix, none->get_matrix(), hierarchy, data, [&] {
      if (assembly.valid())
        assembly.get();
    });
    if (data.keep_structures)
      kept() = none;
  }



  template <typename MatrixType>
  template <typename OtherMatrix, typename Problem, int dim>
  void
  Multigrid<MatrixType>::update(const PolytopicAssembler<dim> &assembler,
                                const Problem                 &problem,
                                const OtherMatrix             &matrix)
  {
    using Kept      = internal::WithoutPenalty<dim, OtherMatrix>;
    const auto none = std::any_cast<std::shared_ptr<Kept>>(&kept());
    AssertThrow(none != nullptr,
                ExcUserInput("Multigrid::update() needs an initialize() with "
                             "the same arguments and with "
                             "AdditionalData::keep_structures."));
    AssertThrow(internal::handler_of(assembler).n_dofs() == m(),
                ExcUserInput("Multigrid::update() was given an assembler with "
                             "another number of degrees of freedom than "
                             "initialize()."));
    update(matrix, (*none)->assemble(problem));
  }



  template <typename MatrixType>
  template <typename OtherMatrix, typename Problem, int dim>
  void
  Multigrid<MatrixType>::initialize(const PolytopicAssembler<dim> &assembler,
                                    const Problem                 &problem,
                                    const OtherMatrix             &matrix,
                                    const AdditionalData          &data)
  {
    const AgglomerationHandler<dim> &handler = internal::handler_of(assembler);
    const MultigridHierarchy         hierarchy(handler,
                                       NestedAgglomeration::rtree(handler));
    initialize(assembler, problem, matrix, hierarchy, data);
  }



  /**
   * Re-discretised operators for Multigrid: @p form, assembled on every level
   * of the hierarchy except the first, with quadrature over the sub-cells and
   * the penalty of the level's polytopes. MatrixType: HostBlockMatrix or
   * DeviceBlockMatrix. Cost: every level needs a handler, some microseconds per
   * cell in 3-D, and an assembly on all sub-cells.
   */
  template <typename MatrixType, int dim>
  std::vector<MatrixType>
  assemble_coarse_operators(
    const AgglomerationHandler<dim>                        &handler,
    const MultigridHierarchy                               &hierarchy,
    const Form<dim>                                        &form,
    const typename PolytopicAssembler<dim>::AdditionalData &data =
      typename PolytopicAssembler<dim>::AdditionalData());
} // namespace Tessella

#endif
