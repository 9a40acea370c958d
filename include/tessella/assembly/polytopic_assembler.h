// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_assembly_polytopic_assembler_h
#define tessella_assembly_polytopic_assembler_h

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>

#include <tessella/backends/assembly_parameters.h>
#include <tessella/backends/assembly_report.h>
#include <tessella/base/epetra.h>
#include <tessella/device/cuda_device.h>
#include <tessella/forms/form.h>
#include <tessella/forms/system_form.h>
#include <tessella/grid/polytopic_space.h>

#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Assembles scalar forms, and systems of them, on polytopic meshes into the
   * matrices of a deal.II program.
   *
   *     PolytopicAssembler<dim> assembler(agglomeration);
   *     TrilinosWrappers::SparseMatrix matrix;
   *     TrilinosWrappers::MPI::Vector  rhs;
   *     assembler.reinit(matrix, rhs);         // structure, once
   *     assembler.assemble(form, matrix, rhs); // as often as coefficients
   *                                            // change
   *
   * <b>Algorithm.</b> The owner computes its rows: every polytope computes its
   * block row, that is its diagonal block and one block for each neighbour. No
   * polytope adds values to memory that another polytope writes, so that
   * neither colouring nor locking is needed. Basis functions are evaluated once
   * per quadrature point; blocks are matrix products, vectorised over points.
   *
   * <b>Same input, same bits.</b> The order of summation is fixed by the mesh:
   * matrix and vector are the same to the last bit in every run and for every
   * number of threads (MultithreadInfo::set_thread_limit()). Another
   * instruction set may round differently; AdditionalData::instruction_set
   * fixes one.
   *
   * <b>Quadrature</b> is of order 2 p + Form::coefficient_order() in the space
   * variables; on an interface, p is the larger degree of its two polytopes.
   *
   * <b>Storage and cost.</b> Values are written directly to the CSR arrays of
   * the Trilinos matrix, whose structure reinit() builds from finished arrays
   * (see TrilinosBlockMatrix). In addition, the assembler stores 20 bytes per
   * block. With N functions and q points on a polytope, assembly costs about 2
   * (dim + 1) N^2 q operations for its volume and 8 N^2 per point on its
   * boundary.
   *
   * <b>CUDA.</b> With Backend::cuda the same algorithm runs on a device.
   * Results are the same to the last bit in every run, and agree with the
   * host's results up to rounding.
   *
   * Mesh, structure, quadrature and penalty are kept on host and device as long
   * as the revisions in PolytopicMesh and PolytopicDoFs stay the same: repeated
   * assembly then has no serial work that grows with the mesh. After
   * distribute_dofs() on the same mesh, its copy on the device is kept.
   * Quadrature rules and the data that depend on them are kept for one
   * coefficient order; if forms of different orders alternate, use one
   * assembler for each order.
   *
   * Variable coefficients and boundary data are evaluated on the device, at the
   * points of a chunk just before the kernels that use them, if the form has
   * device code for them (DeviceForm in a .cu file; AdvectionDiffusionReaction
   * with functions that are a DeviceFunction). This writes and reads 8 bytes
   * per value and point on the device, and leaves no work per point to the
   * host. Otherwise the host's threads evaluate the coefficients, chunk by
   * chunk while the device works on another one. AssemblyReport::coefficients
   * says which of the two was used.
   *
   * Values come back in pieces through pinned buffers, from which all threads
   * move them to the matrix; with constant coefficients this needs as much time
   * as the copy into pinned memory. The constructor starts the device and
   * allocates the pinned buffers, 64 MB for large problems: 0.2 s the first
   * time in a process. On the device, mesh and structure need about 1.5 times
   * PolytopicMesh::memory_consumption(), and results that wait for their copy
   * up to 0.8 GB. This is reduced, down to one block row and its neighbourhood,
   * if AdditionalData::device_memory or the device requires it. A mesh that
   * needs more than half of the memory is processed in parts, which have to be
   * uploaded in every assembly.
   *
   * <b>Many processes.</b> On a mesh that is distributed over processes, each
   * process computes the rows of the polytopes that it owns, on a CUDA device
   * that it may share (choose_cuda_device()). All functions are collective. A
   * variable diffusion coefficient needs one exchange of its maxima with
   * neighbours per assembly; no other data are exchanged. Rows are the same to
   * the last bit for any number of processes. Every process reports its own
   * times. An error on one process is thrown on all; with Backend::automatic
   * the device is used if all processes have one. Only the classes of
   * TrilinosWrappers, TpetraWrappers and PETScWrappers, block matrices and
   * their vectors are supported.
   *
   * <b>Matrices and vectors</b>, where Number is double or float:
   * - TrilinosWrappers::SparseMatrix with TrilinosWrappers::MPI::Vector;
   * - LinearAlgebra::TpetraWrappers::SparseMatrix<double> with
   *   LinearAlgebra::TpetraWrappers::Vector<double>, in host memory, if deal.II
   *   has this matrix (since 9.6, with Tpetra);
   * - PETScWrappers::MPI::SparseMatrix with PETScWrappers::MPI::Vector, if
   *   PETSc computes with double;
   * - SparseMatrix<Number> with Vector<Number>, in a program of one process;
   * - HostBlockMatrix<Number>, for multigrid, with Vector<Number> in a program
   *   of one process, HostVector<Number>,
   *   LinearAlgebra::distributed::Vector<Number>, or
   *   TrilinosWrappers::MPI::Vector if Number is double;
   * - DeviceBlockMatrix<Number> with DeviceVector<Number>, on a CUDA device.
   *   With Backend::host, values are computed by the host and copied to the
   *   device.
   *
   * In single precision, the host computes in double precision and rounds, and
   * a device computes in single precision.
   *
   * <b>Solving on the device.</b> DeviceBlockMatrix and DeviceVector keep the
   * assembled values in the device's memory, in double or single precision;
   * nothing is copied to the host:
   *
   *     DeviceBlockMatrix<double> matrix;
   *     DeviceVector<double>      rhs;
   *     assembler.reinit(matrix, rhs);
   *     assembler.assemble(form, matrix, rhs);
   *
   * <b>Matrices with a structure from elsewhere</b> are accepted if they have
   * the same structure: a TrilinosWrappers::SparseMatrix from
   * AgglomerationHandler::make_sparsity_pattern(), for example. Any other
   * structure is an error.
   *
   * <b>Systems.</b> For an element with m components, a SystemForm has a scalar
   * form for each pair of components that meet. Its coefficients are evaluated
   * on a device if the forms have code for that; if the destination is in the
   * host's memory, the matrix must fit into the memory of the device. Test and
   * trial functions of different spaces are for RectangularAssembler.
   *
   * <b>Errors.</b> An exception is thrown for: a polytopic mesh without degrees
   * of freedom, an element with another number of components than the form, a
   * negative penalty
   * constant, an instruction set that the processor does not have,
   * Backend::cuda without a device or in a build without CUDA, too little
   * memory on the device, coefficients that are not finite (the message
   * contains the point), and errors of the form itself. After an exception,
   * matrix and vector have undefined values.
   */
  template <int dim>
  class PolytopicAssembler
  {
  public:
    using AdditionalData = AssemblyParameters;

    /// @p handler is an AgglomerationHandler or a SpaceTimeSlab; it must
    /// outlive the assembler and have degrees of freedom.
    explicit PolytopicAssembler(const PolytopicSpace<dim> &handler,
                                const AdditionalData &data = AdditionalData());
    ~PolytopicAssembler();

    // ---- structure, once
    /// Sets the structure of a matrix, or the size of a vector. Collective.
    template <typename MatrixOrVector>
    void
    reinit(MatrixOrVector &object);
    template <typename MatrixType, typename VectorType>
    void
    reinit(MatrixType &matrix, VectorType &rhs);
    template <typename Number>
    void
    reinit(dealii::SparsityPattern      &sparsity,
           dealii::SparseMatrix<Number> &matrix,
           dealii::Vector<Number>       &rhs);

    /// Sets the penalty of the following assemblies, in place of
    /// AdditionalData::penalty.
    void
    set_penalty(const PenaltyParameters &penalty);
    /// The parameters given to the constructor, with the present penalty.
    const AdditionalData &
    parameters() const;

    /// The handler or slab given to the constructor.
    const PolytopicSpace<dim> &
    space() const;

    // ---- values, as often as coefficients change; the contents of matrix and
    // vector are overwritten. Collective.
    template <typename MatrixType, typename VectorType>
    void
    assemble(const Form<dim> &form, MatrixType &matrix, VectorType &rhs);
    template <typename MatrixType>
    void
    assemble_matrix(const Form<dim> &form, MatrixType &matrix);
    template <typename VectorType>
    void
    assemble_rhs(const Form<dim> &form, VectorType &rhs);

    /// The same for systems.
    template <typename MatrixType, typename VectorType>
    void
    assemble(const SystemForm<dim> &system,
             MatrixType            &matrix,
             VectorType            &rhs);
    template <typename MatrixType>
    void
    assemble_matrix(const SystemForm<dim> &system, MatrixType &matrix);
    template <typename VectorType>
    void
    assemble_rhs(const SystemForm<dim> &system, VectorType &rhs);

    /// Penalty sigma of every facet for @p form (index: facet of the flat
    /// view), as assembly uses it.
    std::vector<double>
    penalty(const Form<dim> &form) const;

    const AssemblyReport &
    report() const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
