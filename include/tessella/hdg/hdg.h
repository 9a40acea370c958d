// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_hdg_hdg_h
#define tessella_hdg_hdg_h

#include <deal.II/lac/vector.h>

#include <tessella/base/backend.h>
#include <tessella/base/epetra.h>
#include <tessella/device/cuda_device.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/hdg/trace_space.h>
#include <tessella/lac/block_sparsity.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/vector_view.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /// Treatment of the local solvers of HDG after the assembly of the trace
  /// matrix.
  enum class LocalSolvers
  {
    keep,     ///< store them; recover() is then a sum of stored vectors
    recompute ///< compute them again in recover()
  };

  /// Polynomial spaces on a polytope and on its interfaces.
  enum class LocalSpaces
  {
    /// u, q and traces have the degree of the handler.
    equal,
    /// u has the degree of the handler, q and traces have one less, and tau
    /// divided by the size of the polytope acts on the projection of u to the
    /// traces. Available on the host only.
    reduced_flux
  };

  /// Form of the equation to which the advection field b belongs.
  enum class AdvectionForm
  {
    conservative, ///< div(b u)
    convective    ///< b . grad u, as in AdvectionDiffusionReaction
  };

  /// Backend, times, operations and memory of the last calls of an HDG object.
  /// Times are wall times in seconds. On a device, times of local generation,
  /// global assembly and local solve are those of the kernels.
  struct HDGReport
  {
    Backend        backend         = Backend::host;
    unsigned int   n_tiles         = 1; ///< number of tiles, on a device
    unsigned int   n_threads       = 1;
    InstructionSet instruction_set = InstructionSet::automatic;
    double trace_space_time        = 0.; ///< seconds: bases of the trace spaces
    double structure_time = 0.; ///< seconds: sparsity and matrix creation
    /// Time for integrals, local factorisations and K of all polytopes.
    double local_generation_time = 0.;
    /// Time to gather matrix and right-hand side from the K of the polytopes.
    double global_assembly_time = 0.;
    /// Time to compute u and q from traces.
    double local_solve_time = 0.;
    /// On a device: time for tables of variable coefficients, with their
    /// upload, and for data on the boundary; time to copy results to host
    /// memory.
    double coefficient_time = 0., copy_time = 0.;
    /// On a device: how coefficients and data were evaluated, in words.
    std::string coefficients;
    /// Floating-point operations of the products and factorisations in local
    /// generation.
    double local_generation_operations = 0.;
    /// Floating-point operations in the local solve.
    double local_solve_operations = 0.;
    /// Bytes of local solvers that are kept, and of K at its maximum.
    double local_solver_memory = 0., trace_block_memory = 0.;
    /// Number of parts of the domain on which the constant is fixed only by the
    /// condition that the documentation of HDG describes.
    unsigned int n_free_constants = 0;
  };

  /**
   * Hybridizable discontinuous Galerkin on polytopes for
   *   -div(a grad u) + div(b u) + c u = f,
   * with a symmetric and positive definite: only traces are coupled globally.
   *
   *     HDG<dim> hdg(agglomeration);           // handler with p, scalar
   *     hdg.reinit(form, matrix, rhs);         // trace spaces and structure
   *     hdg.assemble(form, matrix, rhs);       // trace matrix
   *     ... solve matrix * trace = rhs with the program's own solver ...
   *     hdg.recover(form, trace, u, q);
   *     hdg.post_process(form, u, q, handler_of_degree_p_plus_1, u_star);
   *
   * <b>Method.</b> <b>q is a grad u</b>, not grad u; its sign is that of King,
   * Yakovlev, Fu, Kirby, Sherwin, J. Sci. Comput. 60 (2014), where a = 1. On
   * every polytope K, for all v and w in the polytope's space (components of q
   * have the same space as u),
   *   (a^-1 q, w) + (u, div w) - <lambda, n.w> = 0,
   *   -(div q, v) - (b u, grad v) + (c u, v)
   *     + <S u - (S - b.n) lambda, v> = (f, v),
   * and the flux is continuous in the mean against all trace functions mu,
   *   sum over both sides <n.q - S (u - lambda) - b.n lambda, mu> = 0,
   * with S = tau + max(b.n, 0): for vanishing diffusion and tau this is the
   * upwind flux. At Dirichlet boundaries lambda is the L2 projection of the
   * data, and its coefficients are not DoFs of the matrix. At other boundaries
   * n.q - S (u - lambda) + alpha lambda = g in the mean (n.a grad u = g, n.a
   * grad u + alpha u = g). AdvectionForm::convective replaces div(b u) by b .
   * grad u.
   *
   * The form supplies a, b, c, f and the conditions, each of which may be
   * constant or variable. It is an AdvectionDiffusionReaction, a DeviceForm of
   * a functor without its own facet terms, or any other form with
   * Form::has_boundary_conditions(). theta and penalty of the interior penalty
   * method are ignored.
   *
   * <b>tau</b>, with LocalSpaces::equal, is of order one and must not grow with
   * 1/h: with tau ~ 1/h the order of q falls by one. It has the unit of a
   * divided by a length; if the size of a or that of the domain is far from
   * one, use the size of a divided by that of the domain. If tau is zero on a
   * whole polytope boundary, without c > 0, the local problem is singular,
   * which is an error. Zero on one side of a facet is allowed; zero on both
   * sides may leave traces undetermined and the trace matrix singular.
   *
   * <b>Trace spaces</b>: see TraceSpaceType and TraceSpace. Interfaces without
   * area have no functions and couple nothing.
   *
   * <b>Order</b> in L2, with LocalSpaces::equal. u: p + 1. q: p + 1 on
   * simplices; on other shapes theory predicts p + 1/2 for these spaces.
   * post_process(): p + 2 on simplices for p >= 1; on other shapes only p + 1
   * is certain. On agglomerates of six triangles, over four meshes, q has p +
   * 0.8 and u* has p + 1.0, p + 1.2 and p + 1.5 for p = 1, 2, 3. The reason is
   * that on shapes other than simplices P_p^d and P_p are too small for the
   * trace functions of all facets: they have no M-decomposition (B. Cockburn,
   * G. Fu, F. J. Sayas, Superconvergence by M-decompositions, part I, Math.
   * Comp. 86, 2017). u* gets its gradient from q, and its order cannot exceed
   * that of q by more than one. Traces on facets instead of interfaces have the
   * same orders. Trace functions of a higher degree are orthogonal to all
   * traces that u and q can have on facets and change neither.
   *
   * <b>LocalSpaces::reduced_flux</b> has the full orders on polytopes of any
   * shape. u has degree p, q and traces have degree p - 1, and with the L2
   * projection P to the traces S (u - lambda) becomes
   *   tau / h (P u - lambda) + max(b.n, 0) (u - lambda),
   * h the longest edge of the polytope's bounding box: Lehrenfeld and
   * Schoeberl's stabilisation (C. Lehrenfeld, diploma thesis, RWTH Aachen,
   * 2010; I. Oikawa, J. Sci. Comput. 65, 2015; W. Qiu, J. Shen, K. Shi, Math.
   * Comp. 87, 2018). Then u has order p + 1 and q order p. The trace system is
   * that of degree p - 1, and u plays the role of u* for that degree:
   * post_process() does not improve it. tau has the unit of a and is of its
   * size. Traces must be on facets: theory needs n.q in the trace space, and on
   * bent interfaces errors can grow when the mesh becomes finer. Coefficients
   * of q are numbered as for degree p; those of the highest degree are zero.
   *
   * <b>DoFs</b> of the matrix belong to the trace functions on interfaces that
   * are not Dirichlet, interface by interface in the order of the flat view.
   * Each interface is one block row, coupled with all other such interfaces of
   * its two polytopes.
   *
   * <b>Algorithm.</b> Local problems are independent of each other and are
   * distributed over threads; see LocalSolver (source/hdg/local_solver.h) for
   * the matrices. Then the owner of a block row gathers it from the K of its
   * two polytopes, in this order, so that no two threads add to the same entry.
   * Matrix, vectors and solution are the same to the last bit for every number
   * of threads. Without advection the matrix is symmetric to the last bit; it
   * is positive definite if c and alpha are not negative.
   *
   * <b>On a CUDA device</b> (Backend::cuda) one thread block per polytope runs
   * the same algorithm, with products on the matrix units: quadrature points,
   * bases, integrals, elimination. Polytopes are processed in tiles that fit
   * into AdditionalData::device_memory together with the mesh, all data that
   * are kept, and the matrix. The matrix is gathered on the device from the
   * tiles in their order: the result does not depend on the tiles, and is the
   * same to the last bit in every run. If polytopes are simplices and a and c
   * are constant without advection, integrals come from tables of the unit
   * simplex instead of quadrature. Variable coefficients, b on facets, f and
   * data on the boundary are evaluated on the device if the form has device
   * code for them (Form::device_coefficients(): functors, expressions, values
   * of cells; see HDGReport::coefficients), and else by the host's threads. The
   * host's threads also evaluate data on the boundary if coefficients and f are
   * constants, and tau_of_facet. Host and device agree up to rounding. With
   * DeviceBlockMatrix and DeviceVector only data that the host evaluates are
   * copied:
   *
   *     DeviceBlockMatrix<double> matrix;  DeviceVector<double> rhs, trace;
   *     hdg.reinit(form, matrix, rhs);
   *     hdg.assemble(form, matrix, rhs);
   *     SolverCG<DeviceVector<double>> ...   // BlockJacobi, BlockChebyshev
   *     hdg.recover(form, trace, u, q);      // DeviceVector, too
   *
   * <b>Cost.</b> With N functions on a polytope, m on its interfaces, q
   * quadrature points: about (2 + 2 dim) N^2 q operations for the integrals and
   * 4 dim N^3 + 4 dim N^2 m + (dim + 1) N m^2 for the rest; with a full tensor
   * a up to dim times that. Between generation and gathering, K of all
   * polytopes is in memory (8 m^2 bytes each, about as much as the matrix).
   * LocalSolvers::keep needs 8 (dim + 1) N (m + 1) bytes per polytope until the
   * next assemble(). On a device, if a is a constant scalar and there is no
   * advection, this is 8 (N (m + 1) + N^2 / 2) bytes for simplices; for other
   * polytopes, m is that of the largest polytope if N is at most 24. In this
   * case integrals on simplices are combinations of tables on the device, and q
   * is not eliminated.
   *
   * <b>Many processes.</b> On distributed meshes all functions are collective.
   * Local problems are solved by the owners of polytopes, on a device if each
   * process has one or a share of one; the trace matrix is then gathered and
   * solved on the host. A block row belongs to the process that owns the
   * polytope on side 0 of its interface; the contribution of the other polytope
   * is received from its owner, once per assembly. DoFs are numbered process by
   * process. For the same polytopes, matrix, right-hand side, and u and q of
   * equal traces are the same to the last bit for any number of processes.
   * Trace vectors are those of TrilinosWrappers, without ghosts; u and q, of
   * any type that VectorView lists, are distributed in the same way.
   *
   * <b>Undetermined constants.</b> On a connected part of the domain without
   * Dirichlet and Robin conditions, without advection and reaction, no
   * condition fixes the constant. f and g must balance there: it is an error if
   * int f + int g exceeds 1e-3 of int |f| + int |g|, and a smaller imbalance is
   * subtracted evenly from the right-hand side. The constant is then fixed such
   * that the trace has mean value zero on the first interface of this part: the
   * matrix m m^T, with m the integrals of the trace functions of that
   * interface, is added to the interface's diagonal block. The solution of the
   * consistent system with mean value zero is then the only one, and the matrix
   * stays symmetric and positive definite. NullSpace::project() gives u the
   * mean value zero on the domain.
   *
   * <b>Errors</b>: no degrees of freedom, several components, a matrix on the
   * device of several MPI processes, a not positive (definite), tau negative or
   * the local problem singular (with the polytope), inflow at Neumann or Robin
   * boundaries, coefficients or data that are not finite, a form without
   * boundary conditions, a matrix of another structure, no device or too little
   * memory on it; LocalSpaces::reduced_flux with traces on interfaces, with
   * degree 0, or on a device.
   */
  template <int dim>
  class HDG
  {
  public:
    struct AdditionalData
    {
      TraceSpaceType trace_space = TraceSpaceType::interface;
      double         tau         = 1.;
      /// If set, replaces tau by a function of a facet of the flat view and a
      /// side (0 or 1). Must be thread safe.
      std::function<double(const unsigned int facet, const unsigned int side)>
                     tau_of_facet;
      AdvectionForm  advection       = AdvectionForm::conservative;
      LocalSolvers   local_solvers   = LocalSolvers::keep;
      InstructionSet instruction_set = InstructionSet::automatic;
      Backend        backend         = Backend::automatic;
      LocalSpaces    spaces          = LocalSpaces::equal;
      /// Bytes on a device for mesh, local solvers that are kept and tiles; 0
      /// means all free memory.
      std::size_t device_memory = 0;
    };

    /// @p handler must outlive the object and have degrees of freedom.
    explicit HDG(const AgglomerationHandler<dim> &handler,
                 const AdditionalData            &data = AdditionalData());
    ~HDG();

    /// Sets up trace spaces and numbering for the handler's present degrees and
    /// the form's boundary conditions.
    void
    reinit(const Form<dim> &form);
#ifdef TESSELLA_HAVE_EPETRA
    /// Sets up trace spaces, numbering and structure.
    void
    reinit(const Form<dim>                        &form,
           dealii::TrilinosWrappers::SparseMatrix &matrix,
           dealii::TrilinosWrappers::MPI::Vector  &rhs);
#endif
    /// The same for a matrix on the device (Backend::cuda only).
    void
    reinit(const Form<dim>           &form,
           DeviceBlockMatrix<double> &matrix,
           DeviceVector<double>      &rhs);

#ifdef TESSELLA_HAVE_EPETRA
    /// Assembles trace matrix and right-hand side, whose contents are
    /// overwritten. The form must have Dirichlet conditions on the same
    /// boundary ids as in reinit().
    void
    assemble(const Form<dim>                        &form,
             dealii::TrilinosWrappers::SparseMatrix &matrix,
             dealii::TrilinosWrappers::MPI::Vector  &rhs);
#endif
    /// The same on the device (Backend::cuda only).
    void
    assemble(const Form<dim>           &form,
             DeviceBlockMatrix<double> &matrix,
             DeviceVector<double>      &rhs);

#ifdef TESSELLA_HAVE_EPETRA
    /**
     * Computes u and q from the traces. @p solution gets n_dofs() entries of
     * the handler; @p flux gets dim times as many, numbered as by a handler for
     * dim components. Both vectors are resized. @p form must be that of the
     * last assemble(). HDGSolution does this in one call for output and errors.
     */
    void
    recover(const Form<dim>                             &form,
            const dealii::TrilinosWrappers::MPI::Vector &trace,
            const VectorView                            &solution,
            const VectorView                            &flux);
#endif
    /// The same on the device (Backend::cuda only).
    void
    recover(const Form<dim>            &form,
            const DeviceVector<double> &trace,
            DeviceVector<double>       &solution,
            DeviceVector<double>       &flux);

    /**
     * Computes u* of the degree that @p finer has on the polytope (p + 1):
     * (grad u*, grad v) = (a^-1 q, grad v) for all v, and the integral of u* is
     * equal to that of u. @p finer must have the same polytopes. The result is
     * resized.
     */
    void
    post_process(const Form<dim>                 &form,
                 const ConstVectorView           &solution,
                 const ConstVectorView           &flux,
                 const AgglomerationHandler<dim> &finer,
                 const VectorView                &result) const;

    /// The handler given to the constructor.
    const AgglomerationHandler<dim> &
    handler() const;

#ifdef TESSELLA_HAVE_EPETRA
    /// Copies the trace matrix with its values into blocks, one block row per
    /// interface, for preconditioners that work on blocks. @p matrix must have
    /// been set up by reinit() and assemble(). Collective.
    void
    copy_blocks(const dealii::TrilinosWrappers::SparseMatrix &matrix,
                HostBlockMatrix<double>                      &blocks) const;
#endif

    /// Number of trace DoFs of all processes.
    std::uint64_t
    n_dofs() const;

    const TraceSpace<dim> &
    trace_space() const;

#ifdef TESSELLA_HAVE_EPETRA
    /// Coefficients of the trace functions on @p interface, which must belong
    /// to this process and may be a Dirichlet interface; available after
    /// assemble().
    std::vector<double>
    trace_coefficients(const dealii::TrilinosWrappers::MPI::Vector &trace,
                       const unsigned int interface) const;
#endif

    /// Backend that is used.
    Backend
    backend() const;

    /// First trace DoF of @p interface, numbered over all processes;
    /// numbers::invalid_dof_index if the interface has none. Their number is
    /// trace_space().n_functions.
    dealii::types::global_dof_index
    first_dof(const unsigned int interface) const;

    const HDGReport &
    report() const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
