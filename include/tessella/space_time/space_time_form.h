// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_space_time_space_time_form_h
#define tessella_space_time_space_time_form_h

#include <deal.II/base/function.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/tensor_function.h>

#include <tessella/forms/advection_diffusion_reaction.h>

#include <memory>

namespace Tessella
{
  /**
   * Space-time dG for
   *   du/dt - div(a grad u) + w . grad u + c u = f      in (0, T) x D,
   * Dong, Georgoulis, Kappas, SIAM J. Sci. Comput. 43 (2021), (2.8)-(2.9) with
   * the inflow data of (2.5), to be assembled on a SpaceTimeSlab<dim>. As an
   * equation in dim + 1 variables it is the one of AdvectionDiffusionReaction
   * with diffusion diag(a, 0) and advection (w, 1), and this class is that
   * form: interior penalty and upwind in space, upwind in time.
   *
   * Coefficients, data and sources are functions of dim + 1 variables, the last
   * one being time; they are called by several threads at once. A
   * deal.II function of dim variables with a time of its own becomes one with
   * TimeDependentFunction.
   *
   * set_start() says where the slab begins. What flows in from the slab before
   * is not part of the form: SpaceTimeSlab::add_inflow().
   */
  template <int dim>
  class SpaceTimeForm : public AdvectionDiffusionReaction<dim + 1>
  {
  public:
    using FunctionPointer = std::shared_ptr<const dealii::Function<dim + 1>>;

    SpaceTimeForm();

    // Coefficients. Unset ones are zero. The last call for a coefficient
    // counts.
    void
    set_diffusion(const double a);
    void
    set_diffusion(const dealii::Tensor<2, dim> &a);
    /// Scalar.
    void
    set_diffusion(const FunctionPointer &a);
    /// A Function with dim * dim components, row by row.
    void
    set_diffusion_tensor(const FunctionPointer &a);
    void
    set_advection(const dealii::Tensor<1, dim> &w);
    /// A Function with dim components.
    void
    set_advection(const FunctionPointer &w);
    void
    set_reaction(const double c);
    void
    set_reaction(const FunctionPointer &c);
    void
    set_source(const double f);
    void
    set_source(const FunctionPointer &f);

    /// Condition on the part of the boundary of D with one id, at all times.
    /// The flux of a Neumann or Robin condition has dim components.
    void
    set_boundary_condition(const dealii::types::boundary_id  id,
                           const BoundaryCondition<dim + 1> &condition);
    void
    set_default_boundary_condition(const BoundaryCondition<dim + 1> &condition);

    /// Time at which the slab begins that is assembled next. Not while a form
    /// is being assembled.
    void
    set_start(const double time);

    /// Whether matrices of slabs of equal length are equal: no coefficient of
    /// the matrix is a function, or all that are have been declared not to
    /// depend on time.
    bool
    matrix_is_stationary() const;
    void
    declare_matrix_stationary(const bool stationary = true);

  private:
    FunctionPointer
    shifted(const FunctionPointer &function,
            const unsigned int     n_components) const;
    BoundaryCondition<dim + 1>
    shifted(const BoundaryCondition<dim + 1> &condition);

    std::shared_ptr<double> start;
    bool                    declared_stationary = false, has_robin = false;
  };



  /**
   * A function of dim + 1 variables, the last one being time, from one of dim
   * variables with deal.II's set_time(). Since that changes the function, calls
   * go one after the other: a slow way where values are evaluated by many
   * threads. Write functions of dim + 1 variables where speed matters.
   */
  template <int dim>
  class TimeDependentFunction : public dealii::Function<dim + 1>
  {
  public:
    explicit TimeDependentFunction(
      const std::shared_ptr<dealii::Function<dim>> &function);
    ~TimeDependentFunction() override;

    double
    value(const dealii::Point<dim + 1> &p,
          const unsigned int            component = 0) const override;
    void
    value_list(const std::vector<dealii::Point<dim + 1>> &points,
               std::vector<double>                       &values,
               const unsigned int component = 0) const override;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
