// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_operators_matrix_free_operator_h
#define tessella_operators_matrix_free_operator_h

#include <tessella/backends/assembly_parameters.h>
#include <tessella/base/compatibility.h>
#include <tessella/forms/system_form.h>
#include <tessella/grid/polytopic_space.h>
#include <tessella/lac/host_block_matrix.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace Tessella
{
  template <typename Number>
  class DeviceBlockMatrix;
  template <typename Number>
  class DeviceVector;

  /// Kernel, times and size of a MatrixFreeOperator on this process.
  struct MatrixFreeReport
  {
    Backend backend = Backend::host;
    /// For all computations on the host; a CUDA device does the products alone.
    InstructionSet instruction_set = InstructionSet::automatic;
    unsigned int   n_threads       = 1;
    /// Kernel of the products and why it was chosen.
    std::string kernel, reason;
    /// Seconds of initialize(), and the part for the diagonal blocks.
    double setup_time = 0., diagonal_time = 0.;
    /// Multiplications and additions of one product.
    double n_operations = 0.;
    /// Bytes of tabulated coefficients, and of the diagonal blocks.
    std::size_t table_memory = 0, diagonal_memory = 0;
  };

  /**
   * Operator of a Form that is applied without a matrix. It is the same linear
   * map as the matrix that PolytopicAssembler computes for the form, up to
   * rounding, and is used like a HostBlockMatrix:
   *
   *     MatrixFreeOperator<dim> op;
   *     op.initialize(handler, form);
   *     SolverCG<Vector<double>> solver(control);
   *     solver.solve(op, solution, rhs, preconditioner);
   *
   * The right-hand side is that of PolytopicAssembler::assemble_rhs().
   *
   * <b>Forms.</b> All forms, also those of users: at each quadrature point the
   * rows (value, gradient) of the discrete function are multiplied by the
   * form's coefficients and integrated against the test functions.
   * Coefficients are evaluated once, in initialize(); where they are the same
   * at all points of a polytope or of a facet they are stored once, and equal
   * successive values are shared. After a change of coefficients, call
   * initialize() again. Meshes and spaces are those of the assembler: all
   * cells, polytopes, varying degrees, hanging nodes, periodic and curved
   * boundaries, and slabs.
   *
   * <b>Affine simplices.</b> If all polytopes are single affine simplices of
   * one degree p >= 1, and the form is one of interior penalty and upwind
   * advection with coefficients that are constant on each simplex, a kernel
   * without quadrature computes the products; with advection, those with the
   * transposed operator are computed at quadrature points as for all other
   * meshes and forms. On devices, its degrees end at 8 in 2-D and 6 in 3-D.
   *
   * <b>Systems.</b> A SystemForm of m components is the sum of its scalar
   * forms: the product evaluates each pair of components that has one, at the
   * cost of as many scalar products. On devices there are products of scalar
   * forms only.
   *
   * <b>CUDA devices.</b> @p MatrixType says where products are computed and
   * which vectors they take: for DeviceBlockMatrix<double>, vectors of type
   * DeviceVector<double>. initialize() evaluates the form and computes the
   * diagonal blocks on the host.
   *
   *     MatrixFreeOperator<dim, DeviceBlockMatrix<double>> op;
   *
   * <b>Preconditioners</b> that need products and diagonal blocks alone use
   * block_diagonal():
   *
   *     BlockChebyshev<HostBlockMatrix<double>> chebyshev;
   *     chebyshev.initialize(op.block_diagonal());
   *
   *     Multigrid<HostBlockMatrix<double>> multigrid;
   *     multigrid.initialize(op.block_diagonal(),
   *                          assemble_coarse_operators<
   *                            HostBlockMatrix<double>>(handler, hierarchy,
   * form), hierarchy);
   *
   * so that the finest level has no matrix; on a device with DeviceBlockMatrix
   * instead of HostBlockMatrix. What needs all blocks (Galerkin operators,
   * Gauss-Seidel, LU-SGS, ILU, AMG) is an error or does not accept the
   * operator.
   *
   * <b>Cost.</b> A product evaluates discrete functions at all quadrature
   * points, on facets those of both sides by each owner. With N functions in
   * 3-D, this is about 4 N multiplications and additions per point for a sum
   * and as many for its transpose, while a matrix reads N numbers per unknown
   * and neighbour. initialize() evaluates the form once and assembles the
   * diagonal blocks as cheaply as the assembler computes its block rows, which
   * are not kept.
   *
   * <b>Vectors and processes</b>: those of @p MatrixType. Ghost entries are
   * exchanged while the host computes rows that do not need them. Every sum
   * belongs to one polytope and has an order that the mesh determines: results
   * have the same bits for any number of threads and processes. Products of one
   * object may not run in several threads at the same time.
   *
   * Errors, as exceptions: a scalar form on a space with several components, a
   * system with another number of them or on a device, a space without degrees
   * of freedom, products after the space has changed, a backend that
   * does not fit @p MatrixType, a device whose memory does not suffice,
   * vectors of other sizes.
   */
  template <int dim, typename MatrixType = HostBlockMatrix<double>>
  class MatrixFreeOperator : public Subscriptor
  {
  public:
    using AdditionalData = AssemblyParameters;
    using value_type     = double;
    using size_type      = typename HostBlockMatrix<double>::size_type;
    using vector_type    = std::conditional_t<
      std::is_same<MatrixType, DeviceBlockMatrix<double>>::value,
      DeviceVector<double>,
      dealii::Vector<double>>;

    MatrixFreeOperator();
    ~MatrixFreeOperator();

    /// Prepares products with the operator of @p form on @p handler, which must
    /// outlive this object; the form is not needed afterwards. Collective, as
    /// the products.
    void
    initialize(const PolytopicSpace<dim> &handler,
               const Form<dim>           &form,
               const AdditionalData      &data = AdditionalData());
    /// The same for a system of as many components as @p handler has. On the
    /// host only.
    void
    initialize(const PolytopicSpace<dim> &handler,
               const SystemForm<dim>     &system,
               const AdditionalData      &data = AdditionalData());
    void
    clear();

    /// Number of rows (columns) of all processes.
    size_type
    m() const;
    size_type
    n() const
    {
      return m();
    }

    // ---- products; source and destination must differ. VectorType: see
    // MatrixType
    template <typename VectorType>
    void
    vmult(VectorType &dst, const VectorType &src) const
    {
      checked().vmult(dst, src);
    }
    template <typename VectorType>
    void
    vmult_add(VectorType &dst, const VectorType &src) const
    {
      checked().vmult_add(dst, src);
    }
    template <typename VectorType>
    void
    Tvmult(VectorType &dst, const VectorType &src) const
    {
      checked().Tvmult(dst, src);
    }
    template <typename VectorType>
    void
    Tvmult_add(VectorType &dst, const VectorType &src) const
    {
      checked().Tvmult_add(dst, src);
    }
    /// Computes dst = b - A x (or b - A^T x); @p dst may be @p b.
    template <typename VectorType>
    void
    subtract_product(VectorType       &dst,
                     const VectorType &x,
                     const VectorType &b,
                     const bool        transpose = false) const
    {
      checked().subtract_product(dst, x, b, transpose);
    }
    /// Computes dst = b - A x and returns the norm of dst, which may be @p b.
    template <typename VectorType>
    double
    residual(VectorType &dst, const VectorType &x, const VectorType &b) const
    {
      return checked().residual(dst, x, b);
    }

    /// Block matrix that stores the diagonal blocks of the operator, whose
    /// products are those of the whole operator; for preconditioners. It lives
    /// as long as this object.
    const MatrixType &
    block_diagonal() const
    {
      return checked();
    }
    /// Diagonal blocks of the polytopes that this process owns, one after the
    /// other, row by row, in the memory of the host. They equal those of the
    /// matrix that the host assembles to the last bit.
    void
    diagonal_blocks(std::vector<double> &blocks) const;

    /// Memory in bytes of coefficients, diagonal blocks and ghosts on this
    /// process, without that of the space.
    std::size_t
    memory_consumption() const;
    const MatrixFreeReport &
    report() const;

  private:
    struct Implementation;
    /// Checks the arguments of initialize() and makes its results.
    std::unique_ptr<Implementation>
    start(const PolytopicSpace<dim> &handler, const AdditionalData &data);
    /// The matrix of diagonal blocks, if it fits the present space.
    const MatrixType &
    checked() const;

    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
