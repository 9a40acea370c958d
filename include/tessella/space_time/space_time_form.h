// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_space_time_space_time_form_h
#define tessella_space_time_space_time_form_h

#include <deal.II/base/function.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/tensor_function.h>

#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/stationary_matrix.h>

#include <memory>
#include <mutex>
#include <vector>

namespace Tessella
{
  template <int dim>
  class SpaceTimeSlab;

  /**
   * Space-time dG for
   *   du/dt - div(a grad u) + w . grad u + c u = f      in (0, T) x D,
   * Dong, Georgoulis, Kappas, SIAM J. Sci. Comput. 43 (2021), (2.8)-(2.9) with
   * the inflow data of (2.5), to be assembled on a SpaceTimeSlab<dim>. As an
   * equation in dim + 1 variables it is that of AdvectionDiffusionReaction with
   * diffusion diag(a, 0) and advection (w, 1), and this class is that form:
   * interior penalty and upwind in space, upwind in time.
   *
   * Coefficients, data and sources are either functions of dim + 1 variables,
   * the last one being time, which are called by several threads at once. Or
   * they do not depend on time and have a value for each cell or material of
   * the handler's mesh (CellwiseCoefficient), also where these jump inside a
   * polytope. Functions that also derive from DeviceFunction are evaluated by a
   * CUDA device, if all functions of the form do so or are constant. Their code
   * has time in z if the space has two dimensions, in t if it has three.
   * TimeDependentFunction turns a deal.II function of dim variables with
   * set_time() into a function of dim + 1 variables.
   *
   * set_slab() sets the slab of the next assembly. The inflow from the previous
   * slab is not part of the form: see SpaceTimeSlab::add_inflow().
   */
  template <int dim>
  class SpaceTimeForm : public AdvectionDiffusionReaction<dim + 1>,
                        public StationaryMatrix
  {
  public:
    using FunctionPointer = Tessella::FunctionPointer<dim + 1>;

    SpaceTimeForm();
    /// Not copyable, since the form's functions refer to the slab of this
    /// object.
    SpaceTimeForm(const SpaceTimeForm &) = delete;
    SpaceTimeForm &
    operator=(const SpaceTimeForm &) = delete;

    // Setters of coefficients. Coefficients that are not set are zero. The last
    // call for a coefficient determines it.
    void
    set_diffusion(const double a);
    void
    set_diffusion(const dealii::Tensor<2, dim> &a);
    /// Diffusion as a scalar function.
    void
    set_diffusion(const FunctionPointer &a);
    /// Diffusion as a Function with dim * dim components, row by row.
    void
    set_diffusion_tensor(const FunctionPointer &a);
    void
    set_diffusion(const CellwiseCoefficient &a);
    /// Diffusion as a value per cell times a tensor.
    void
    set_diffusion(const CellwiseCoefficient    &a,
                  const dealii::Tensor<2, dim> &tensor);
    void
    set_advection(const dealii::Tensor<1, dim> &w);
    /// Advection as a Function with dim components.
    void
    set_advection(const FunctionPointer &w);
    void
    set_reaction(const double c)
    {
      cell_reaction = nullptr;
      Base::set_reaction(c);
    }
    void
    set_reaction(const FunctionPointer &c)
    {
      cell_reaction = nullptr;
      Base::set_reaction(shifted(c, 1));
    }
    void
    set_reaction(const CellwiseCoefficient &c);
    void
    set_source(const double f)
    {
      cell_source = nullptr;
      Base::set_source(f);
    }
    void
    set_source(const FunctionPointer &f)
    {
      cell_source = nullptr;
      Base::set_source(shifted(f, 1));
    }
    void
    set_source(const CellwiseCoefficient &f);

    /// Sets the condition on the part of the boundary of D with one id, at all
    /// times. The flux of a Neumann or Robin condition has dim components.
    void
    set_boundary_condition(const dealii::types::boundary_id  id,
                           const BoundaryCondition<dim + 1> &condition);
    void
    set_default_boundary_condition(const BoundaryCondition<dim + 1> &condition);

    /// Sets the slab of the next assembly: its start, and its cells for values
    /// per cell. Must not be called while a form is being assembled. Cost: a
    /// pass over the slab's sub-cells if there are values per cell, not per
    /// material.
    void
    set_slab(const SpaceTimeSlab<dim> &slab);
    /// The same without values per cell; @p time is the beginning of the slab.
    void
    set_start(const double time)
    {
      *start = time;
    }

    /// Whether matrices of slabs of equal length are equal, that is, whether no
    /// coefficient of the matrix is a function, or all functions have been
    /// declared independent of time. A CUDA device then computes rows from
    /// matrices in space, for elements that are as high as the slab and have
    /// only such neighbours.
    bool
    matrix_is_stationary() const override;
    void
    declare_matrix_stationary(const bool stationary = true)
    {
      declared_stationary = stationary;
    }

    // ---- for assembly
    bool
    constant_interior_facets(ConstantFacetTerms<dim + 1> &terms) const override;
    double
    device_time() const override;

  private:
    using Base = AdvectionDiffusionReaction<dim + 1>;

    FunctionPointer
    shifted(const FunctionPointer &function,
            const unsigned int     n_components) const;
    BoundaryCondition<dim + 1>
    shifted(const BoundaryCondition<dim + 1> &condition);

    std::shared_ptr<double> start;
    /// Values per cell of the handler's mesh; null if there are none. Those of
    /// the diffusion are multiplied by a tensor.
    std::shared_ptr<const CellwiseCoefficient> cell_diffusion, cell_reaction,
      cell_source;
    dealii::Tensor<2, dim> cell_tensor;
    bool                   declared_stationary = false, has_robin = false;
  };



  /**
   * A function of dim + 1 variables, the last one being time, made from a
   * function of dim variables with deal.II's set_time(). Since set_time()
   * changes the function, calls are serialised, which is slow if many threads
   * evaluate values. Write functions of dim + 1 variables if speed matters.
   */
  template <int dim>
  class TimeDependentFunction : public dealii::Function<dim + 1>
  {
  public:
    explicit TimeDependentFunction(
      const std::shared_ptr<dealii::Function<dim>> &function)
      : dealii::Function<dim + 1>(function->n_components)
      , function(function)
    {}

    double
    value(const dealii::Point<dim + 1> &p,
          const unsigned int            component = 0) const override;
    void
    value_list(const std::vector<dealii::Point<dim + 1>> &points,
               std::vector<double>                       &values,
               const unsigned int component = 0) const override;

  private:
    const std::shared_ptr<dealii::Function<dim>> function;
    /// Protects the function and the work arrays.
    mutable std::mutex                      mutex;
    mutable std::vector<dealii::Point<dim>> present_points;
    mutable std::vector<double>             present_values;
  };
} // namespace Tessella

#endif
