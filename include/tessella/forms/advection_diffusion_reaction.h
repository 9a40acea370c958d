// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_advection_diffusion_reaction_h
#define tessella_forms_advection_diffusion_reaction_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/tensor_function.h>
#include <deal.II/base/types.h>

#include <tessella/forms/cellwise_coefficient.h>
#include <tessella/forms/form.h>
#include <tessella/forms/function_pointer.h>
#include <tessella/forms/point_data.h>

#include <map>
#include <memory>
#include <string>

namespace Tessella
{
  /// Exception: a coefficient, datum or right-hand side is infinite or not a
  /// number.
  DeclException3(ExcCoefficientNotFinite,
                 std::string,
                 std::string,
                 double,
                 << "The " << arg1 << " is not finite at the point (" << arg2
                 << "): its value there is " << arg3
                 << ". Change the function such that it is finite in the whole"
                    " closed domain.");

  /// Exception: the diffusion tensor is not positive semi-definite.
  DeclException3(ExcNegativeDiffusion,
                 std::string,
                 double,
                 std::string,
                 << "The diffusion coefficient is negative at the point ("
                 << arg1 << "): " << arg3 << " is " << arg2
                 << ". It must be positive semi-definite everywhere.");

  /// Exception: b.n < 0 on a Neumann or Robin part of the boundary.
  DeclException3(ExcInflowOnNeumann,
                 unsigned int,
                 std::string,
                 double,
                 << "The advection field enters the domain through boundary id "
                 << arg1 << ", for example at (" << arg2 << ") where b.n is "
                 << arg3
                 << ", but a Neumann or Robin condition is set there. Use a"
                    " Dirichlet condition on inflow parts.");

  /**
   * Condition on one boundary id, with g = value and alpha = robin_coefficient:
   *   - dirichlet: u = g where n.a n > 0 or b.n < 0, no condition elsewhere;
   *   - neumann: n . a grad u = g + n . flux;
   *   - robin: n . a grad u + alpha u = g + n . flux.
   * Functions are scalar unless stated otherwise; null pointers mean zero. They
   * may be lambdas: {BoundaryType::neumann, [](const auto &x) { ... }}.
   */
  template <int dim>
  struct BoundaryCondition
  {
    BoundaryType         type              = BoundaryType::dirichlet;
    FunctionPointer<dim> value             = {};
    FunctionPointer<dim> robin_coefficient = {};
    /// Function with dim components, for data a grad u of a known u, which
    /// needs the normal. Not available for Dirichlet conditions.
    FunctionPointer<dim> flux = {};
  };

  /**
   * Interior penalty dG for the equation with non-negative characteristic form,
   *   -div(a grad u) + b . grad u + c u = f,
   * Dong, Georgoulis, Kappas, SIAM J. Sci. Comput. 43 (2021), (2.3)-(2.5), with
   * upwind advection. The tensor a is symmetric and positive semi-definite; it
   * may vanish or degenerate. On Dirichlet parts the type of the boundary is
   * determined point by point: elliptic (Nitsche terms) where n.a n > 0;
   * elsewhere inflow where b.n < 0, and outflow where not. On Neumann and Robin
   * parts, b.n < 0 where n.a n > 0 is an error (ExcInflowOnNeumann); where n.a
   * n = 0 these parts are treated as inflow or outflow.
   *
   * theta = 1: symmetric (SIPG), 0: incomplete (IIPG), -1: non-symmetric
   * (NIPG).
   *
   * <b>On a CUDA device</b> coefficients and data are compiled at run time
   * (NVRTC, about a second, see KernelCache) and evaluated there, if all of
   * them are constants, values per material, or functions that also derive from
   * DeviceFunction. If there is any other function, the host's threads evaluate
   * all of them.
   *
   * <b>Discrete functions.</b> A DiscreteFunction is evaluated in the polytope
   * of each point, and on the device by its degrees of freedom.
   *
   * <b>Functions</b> are called by several threads at once, at points of the
   * closed domain, and must be scalar unless stated otherwise. The form shares
   * them with its user: a change in a function takes effect in the next
   * assembly. A copy of a form has its own coefficients and conditions, with
   * the same functions.
   *
   * <b>Errors.</b> Setters throw an exception for constants that are not
   * finite, diffusion that is not positive semi-definite and functions with a
   * wrong number of components. Assembly throws an exception with the point
   * where a function is not finite (ExcCoefficientNotFinite) or its diffusion
   * is negative (ExcNegativeDiffusion). For a variable tensor, diagonal entries
   * and, on the boundary, n.a n are checked.
   */
  template <int dim>
  class AdvectionDiffusionReaction : public Form<dim>
  {
  public:
    AdvectionDiffusionReaction();
    AdvectionDiffusionReaction(const AdvectionDiffusionReaction &form);
    AdvectionDiffusionReaction &
    operator=(const AdvectionDiffusionReaction &form);
    ~AdvectionDiffusionReaction() override;

    // Setters of coefficients. Coefficients that are not set are zero. The last
    // call for a coefficient determines it.
    void
    set_diffusion(const double a);
    void
    set_diffusion(const dealii::Tensor<2, dim> &a);
    void
    set_diffusion(const FunctionPointer<dim> &a);
    void
    set_diffusion(
      const std::shared_ptr<const dealii::TensorFunction<2, dim>> &a);
    /// Diffusion as a lambda that returns a Tensor<2, dim>; one that returns a
    /// number is a FunctionPointer.
    template <typename Callable>
    std::enable_if_t<internal::IsTensorOfPoint<dim, Callable>::value>
    set_diffusion(const Callable &a)
    {
      set_diffusion(std::shared_ptr<const dealii::TensorFunction<2, dim>>(
        std::make_shared<internal::TensorFunctionFromCallable<dim, Callable>>(
          a)));
    }
    void
    set_diffusion(const CellwiseCoefficient &a);
    /// Diffusion as a value per cell times a tensor.
    void
    set_diffusion(const CellwiseCoefficient    &a,
                  const dealii::Tensor<2, dim> &tensor);
    void
    set_advection(const dealii::Tensor<1, dim> &b);
    /// Advection as a Function with dim components.
    void
    set_advection(const FunctionPointer<dim> &b);
    void
    set_advection(
      const std::shared_ptr<const dealii::TensorFunction<1, dim>> &b);
    void
    set_reaction(const double c);
    void
    set_reaction(const FunctionPointer<dim> &c);
    void
    set_reaction(const CellwiseCoefficient &c);
    void
    set_source(const double f);
    void
    set_source(const FunctionPointer<dim> &f);
    void
    set_source(const CellwiseCoefficient &f);
    void
    set_boundary_condition(const dealii::types::boundary_id id,
                           const BoundaryCondition<dim>    &condition);
    /// Sets the condition for boundary ids that have no condition of their own;
    /// the default is a homogeneous Dirichlet condition.
    void
    set_default_boundary_condition(const BoundaryCondition<dim> &condition);
    /// Condition on a boundary id, either its own or the default one. The
    /// reference is valid until the next change of conditions.
    const BoundaryCondition<dim> &
    boundary_condition(const dealii::types::boundary_id id) const;
    void
    set_theta(const double theta);
    /// Polynomial degree of the coefficients, for the choice of the quadrature;
    /// by default 0 if all are constant (on cells), else 2 or the highest
    /// degree of a DiscreteFunction, if that is larger.
    void
    set_coefficient_order(const unsigned int order);
    /// Whether no coefficient of the matrix varies within a cell.
    bool
    is_constant_on_cells() const;
    /// Whether coefficients may be compiled for a device (default); otherwise
    /// the host's threads always evaluate them.
    void
    set_run_time_compilation(const bool compile);

    /// Reads the present values of discrete functions.
    void
    prepare() const override;
    std::shared_ptr<const DeviceCoefficients<dim>>
    device_coefficients() const override;
    /// PointData::t for coefficients that are compiled for a device.
    virtual double
    device_time() const
    {
      return 0.;
    }
    std::string
    why_not_on_device() const override;
    VolumeStructure
    volume_structure() const override;
    FacetStructure
    facet_structure() const override;
    unsigned int
    coefficient_order() const override;
    void
    evaluate_diffusion(const PointBatch<dim> &points,
                       double *const         *a) const override;
    void
    evaluate_volume(const PointBatch<dim> &points,
                    VolumeBlocks<dim>     &blocks) const override;
    void
    evaluate_interior_facets(const FacetPointBatch<dim> &points,
                             FacetBlocks<dim>           &blocks) const override;
    void
    evaluate_both_sides(const FacetPointBatch<dim> &points,
                        FacetBlocks<dim>           &own,
                        FacetBlocks<dim>           &neighbor) const override;
    bool
    has_penalty_facets(double &theta) const override;
    bool
    constant_interior_facets(ConstantFacetTerms<dim> &terms) const override;
    void
    evaluate_boundary_facets(const FacetPointBatch<dim> &points,
                             FacetBlocks<dim>           &blocks) const override;
    bool
    has_boundary_conditions() const override
    {
      return true;
    }
    BoundaryType
    boundary_type(const unsigned int boundary_id) const override;
    void
    evaluate_boundary_data(const FacetPointBatch<dim> &points,
                           double                     *g,
                           double                     *alpha) const override;

    struct Implementation;

  private:
    /// @p neighbor may be null.
    void
    evaluate_facets(const FacetPointBatch<dim> &points,
                    FacetBlocks<dim>           &own,
                    FacetBlocks<dim>           *neighbor) const;

    std::unique_ptr<Implementation> data;
  };

  /// The form int c u v, with right-hand side int f v if a source is given,
  /// without facet terms. c = 1 yields the mass matrix, which has one block per
  /// polytope.
  template <int dim>
  class MassForm : public Form<dim>
  {
  public:
    explicit MassForm(const double factor = 1.);
    /// Form with right-hand side (f, v), for projections.
    MassForm(const double                factor,
             const FunctionPointer<dim> &source,
             const unsigned int          component = 0);

    VolumeStructure
    volume_structure() const override;
    FacetStructure
    facet_structure() const override;
    void
    evaluate_diffusion(const PointBatch<dim> &points,
                       double *const         *a) const override;
    void
    evaluate_volume(const PointBatch<dim> &points,
                    VolumeBlocks<dim>     &blocks) const override;
    void
    evaluate_interior_facets(const FacetPointBatch<dim> &points,
                             FacetBlocks<dim>           &blocks) const override;
    void
    evaluate_boundary_facets(const FacetPointBatch<dim> &points,
                             FacetBlocks<dim>           &blocks) const override;

  private:
    double                                       factor;
    std::shared_ptr<const dealii::Function<dim>> source;
    unsigned int                                 component;
  };
} // namespace Tessella

#endif
