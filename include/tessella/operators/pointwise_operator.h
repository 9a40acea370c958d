// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_operators_pointwise_operator_h
#define tessella_operators_pointwise_operator_h

#include <deal.II/base/types.h>

#include <tessella/backends/assembly_parameters.h>
#include <tessella/forms/pointwise_integrand.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/operators/operator_report.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Nonlinear operator on polytopes that a user writes point by point: its
   * residual, its exact tangent applied without a matrix, its Jacobian and the
   * diagonal blocks of the Jacobian follow from one functor.
   *
   *     PointwiseOperator<dim> op(agglomeration);       // the unknown
   *     const FunctorIntegrand<dim, Burgers<dim>> burgers;
   *     HostVector<double> u, r;
   *     op.reinit(u);
   *     op.reinit(r);
   *     op.residual(burgers, {&u}, r);                  // r = R(u)
   *     op.apply_tangent(burgers, {&u}, du, r);         // r = R'(u) du
   *     HostBlockMatrix<double> jacobian;
   *     op.reinit(jacobian);
   *     op.assemble_jacobian(burgers, {&u}, jacobian);  // R'(u)
   *
   * <b>Fields and test functions.</b> The operator reads one discrete function
   * for each handler, all on the same polytopes, each with its own degree and
   * number of components. Test functions are those of one of the handlers, by
   * default of the first one. Several handlers share polytopes if they have
   * been agglomerated alike (see AgglomerationHandler::agglomerate()). Vectors
   * have the order of degrees of freedom of their handler: by polytope, then by
   * component, then by basis function.
   *
   * <b>Algorithm.</b> The owner computes its rows: each polytope evaluates the
   * fields at the quadrature points of its sub-cells and facets, calls the
   * integrand and multiplies the results by its test functions. Both owners of
   * an interior facet evaluate its flux, with the same arguments in the same
   * order, so that it cancels to the last bit in a conservative integrand. No
   * polytope adds to memory that another one writes.
   *
   * <b>Same input, same bits</b> for every number of threads and processes, as
   * for PolytopicAssembler.
   *
   * <b>Quadrature</b> is exact for polynomials of degree 2 p +
   * PointwiseIntegrand::coefficient_order(); p is the highest degree of a field
   * or of the test functions, on an interface of both polytopes.
   *
   * <b>Tangent and Jacobian</b> are derivatives of the residual that is
   * computed, by dual numbers, not of the integral before quadrature; where a
   * flux has a kink, of the branch that the residual takes. The Jacobian costs
   * as much as the assembly of a form with the same non-zero entries; entries
   * (component and row against component and row) that the derivative has
   * nowhere in a batch of points cost nothing.
   *
   * <b>Vectors</b> are those of PolytopicAssembler: on one process
   * Vector<double>, on many HostVector<double>,
   * LinearAlgebra::distributed::Vector<double> or
   * TrilinosWrappers::MPI::Vector; DeviceVector<double> with a CUDA device.
   * They need no ghost entries; functions are collective and exchange the
   * entries of ghost polytopes. All vectors of a call have one type. Matrices:
   * HostBlockMatrix, TrilinosWrappers::SparseMatrix, DeviceBlockMatrix. Block
   * matrices of float get the entries of those with doubles, rounded.
   *
   * <b>Errors</b>, as exceptions with one sentence: an integrand whose numbers
   * of fields or components do not fit the handlers, handlers with other
   * polytopes, vectors of other sizes, a residual, tangent, Jacobian or
   * diagonal block that is not finite (component and point), a tangent that the
   * integrand does not have, boundary ids that the mesh does not have,
   * Backend::cuda without a device. Results are then undefined.
   */
  template <int dim>
  class PointwiseOperator
  {
  public:
    using AdditionalData = AssemblyParameters;
    using Integrand      = PointwiseIntegrand<dim>;
    using Handlers       = std::vector<const AgglomerationHandler<dim> *>;

    /// Operator on one field, which is also the space of the test functions.
    /// The handler must outlive the operator and have degrees of freedom.
    explicit PointwiseOperator(const AgglomerationHandler<dim> &handler,
                               const AdditionalData &data = AdditionalData());
    /// Operator on several fields; test functions are those of handler
    /// @p test.
    PointwiseOperator(const Handlers       &handlers,
                      const unsigned int    test = 0,
                      const AdditionalData &data = AdditionalData());
    ~PointwiseOperator();

    /// Sets the size of a vector of the test space, or the structure of a
    /// Jacobian with respect to a field in that space. Collective.
    template <typename MatrixOrVector>
    void
    reinit(MatrixOrVector &object);

    /// Sets @p result to R(fields; v) for all test functions v. Collective, as
    /// all functions below.
    template <typename VectorType>
    void
    residual(const Integrand                       &integrand,
             const std::vector<const VectorType *> &fields,
             VectorType                            &result);

    /// Sets @p result to the derivative of R at @p fields in the direction of a
    /// change @p direction of field @p field.
    template <typename VectorType>
    void
    apply_tangent(const Integrand                       &integrand,
                  const std::vector<const VectorType *> &fields,
                  const VectorType                      &direction,
                  VectorType                            &result,
                  const unsigned int                     field = 0);

    /// Sets @p matrix to the derivative of R with respect to field @p field,
    /// which must be in the space of the test functions.
    template <typename VectorType, typename MatrixType>
    void
    assemble_jacobian(const Integrand                       &integrand,
                      const std::vector<const VectorType *> &fields,
                      MatrixType                            &matrix,
                      const unsigned int                     field = 0);

    /**
     * Adds to @p matrix, the Jacobian with respect to a field u in the space of
     * the test functions, what it lacks where field @p field is a function of
     * u: by the chain rule, the product of the derivative of R with respect to
     * that field and the derivative of the field. The field has one degree of
     * freedom on each polytope, which depends on u on the same polytope only,
     * as a sensor or a viscosity does. Entry i of @p derivative, a vector of
     * the test space, is the derivative of the coefficient on the polytope of i
     * with respect to coefficient i of u.
     *
     * The matrix is a HostBlockMatrix<double> with an operator of the host, or
     * a DeviceBlockMatrix<double> and vectors on the device with one of the
     * device, and keeps its structure. On the host, polytopes cost nothing
     * where the derivative vanishes on them and on their neighbours; the device
     * computes a Jacobian more.
     */
    template <typename VectorType, typename MatrixType>
    void
    add_chained_jacobian(const Integrand                       &integrand,
                         const std::vector<const VectorType *> &fields,
                         const unsigned int                     field,
                         const VectorType                      &derivative,
                         MatrixType                            &matrix);

    /// Diagonal blocks of the Jacobian of assemble_jacobian(), one after the
    /// other for the polytopes that this process owns, row by row.
    template <typename VectorType>
    void
    diagonal_blocks(const Integrand                       &integrand,
                    const std::vector<const VectorType *> &fields,
                    std::vector<double>                   &blocks,
                    const unsigned int                     field = 0);

    /// Integral of r.value over the domain, for each component of the
    /// integrand's results. Sums do not depend on threads or processes. A
    /// device evaluates integrands that have device code; the sums of polytopes
    /// alone are copied to the host. A result that is not finite is no error.
    template <typename VectorType>
    std::vector<double>
    integrate_volume(const Integrand                       &integrand,
                     const std::vector<const VectorType *> &fields);

    /// The same over the parts of the boundary, for each boundary id of the
    /// mesh of all processes.
    template <typename VectorType>
    std::map<dealii::types::boundary_id, std::vector<double>>
    integrate_boundary(const Integrand                       &integrand,
                       const std::vector<const VectorType *> &fields);

    // The same for fields in braces, {&u, &v}, where no other argument has the
    // type of the vectors.
    template <typename VectorType, typename MatrixType>
    void
    assemble_jacobian(const Integrand                          &integrand,
                      std::initializer_list<const VectorType *> fields,
                      MatrixType                               &matrix,
                      const unsigned int                        field = 0)
    {
      assemble_jacobian(integrand,
                        std::vector<const VectorType *>(fields),
                        matrix,
                        field);
    }
    template <typename VectorType, typename MatrixType>
    void
    add_chained_jacobian(const Integrand                          &integrand,
                         std::initializer_list<const VectorType *> fields,
                         const unsigned int                        field,
                         const VectorType                         &derivative,
                         MatrixType                               &matrix)
    {
      add_chained_jacobian(integrand,
                           std::vector<const VectorType *>(fields),
                           field,
                           derivative,
                           matrix);
    }
    template <typename VectorType>
    void
    diagonal_blocks(const Integrand                          &integrand,
                    std::initializer_list<const VectorType *> fields,
                    std::vector<double>                      &blocks,
                    const unsigned int                        field = 0)
    {
      diagonal_blocks(integrand,
                      std::vector<const VectorType *>(fields),
                      blocks,
                      field);
    }
    template <typename VectorType>
    std::vector<double>
    integrate_volume(const Integrand                          &integrand,
                     std::initializer_list<const VectorType *> fields)
    {
      return integrate_volume(integrand,
                              std::vector<const VectorType *>(fields));
    }
    template <typename VectorType>
    std::map<dealii::types::boundary_id, std::vector<double>>
    integrate_boundary(const Integrand                          &integrand,
                       std::initializer_list<const VectorType *> fields)
    {
      return integrate_boundary(integrand,
                                std::vector<const VectorType *>(fields));
    }

    const OperatorReport &
    report() const;

    /// Throws if a residual, tangent or Jacobian since the last check was not
    /// finite, as they do themselves unless a DeviceGraph has recorded them: to
    /// be called after the work of a graph, as often as errors are to be found.
    /// Collective.
    void
    check_finite();

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
