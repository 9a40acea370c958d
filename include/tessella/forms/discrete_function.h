// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_discrete_function_h
#define tessella_forms_discrete_function_h

#include <deal.II/base/function.h>
#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>

#include <tessella/forms/discrete_field.h>

#include <memory>

namespace Tessella
{
  /**
   * Discrete function on polytopes with all its components, as a
   * dealii::Function: for example a velocity that another equation is
   * transported by.
   *
   *     const auto velocity =
   *       std::make_shared<DiscreteFunction<dim>>(flow_handler, flow);
   *     form.set_advection(velocity);
   *
   * <b>In forms.</b> AdvectionDiffusionReaction takes it wherever it takes a
   * Function (diffusion, advection, reaction, source, data on the boundary).
   * It is then evaluated in the polytope of each point, without a search, and
   * on facets on the side that the form asks for: for advection the side of
   * the test function, for diffusion both sides. On a CUDA device it is
   * evaluated there if the function has the degrees of the space that is
   * assembled and if all coefficients of the form read max_fields different
   * components at most; with more of them, the host's threads evaluate the
   * form. A DeviceForm takes component() for each component that it reads.
   *
   * <b>Anywhere else</b> value() and gradient() find the polytope of a point
   * by a search; on an interface, they are those of one of the polytopes. On
   * a mesh that is distributed over processes they know points in the
   * polytopes of the calling process.
   *
   * <b>Vectors.</b> The object refers to handler and vector, which must
   * outlive it. The vector may be on the host or on the device, and
   * distributed over processes, see DiscreteField. Assemblies read its present
   * values. Before other uses after a change of a vector that is on the device
   * or distributed, or of the degrees of freedom of the handler, call
   * prepare().
   *
   * <b>Spaces.</b> In a form, the polytopes must be those of the assembly;
   * degrees and numbers of components may differ from those of its space. Forms
   * that are assembled on other polytopes, too, such as the levels of a
   * MultigridHierarchy, need another function there.
   *
   * <b>Cost</b> at a point: that of the basis functions of the polytope, once
   * for all components, and one multiplication and addition for each function
   * and component. The first search at any point builds a tree of the
   * sub-cells, O(n log n), which a change of the mesh renews.
   *
   * Errors: those of DiscreteField; a handler whose number of components has
   * changed; evaluations after distribute_dofs() of the handler without
   * prepare(); value() or gradient() at a point outside of the mesh; points of
   * a form that lie far outside of the polytopes of their sub-cells, since it
   * is assembled on other polytopes. The last one is noticed where the host
   * evaluates the form: kernels of a device do not compare points with
   * polytopes.
   */
  template <int dim>
  class DiscreteFunction : public dealii::Function<dim>
  {
  public:
    /// VectorType: as for DiscreteField.
    template <typename VectorType>
    DiscreteFunction(const AgglomerationHandler<dim> &handler,
                     const VectorType                &vector);

    /// Reads the present values of the vector, and those of ghosts from other
    /// processes; called when an assembly begins. Collective on a mesh that is
    /// distributed over processes.
    void
    prepare() const;

    /// A component as a field of a form. All of them share one copy of the
    /// vector on the host.
    DiscreteField<dim>
    component(const unsigned int c) const;

    /// Highest degree of all polytopes on this process.
    unsigned int
    degree() const;

    /**
     * Values of all components on the host at points in given sub-cells, and
     * gradients unless @p gradients is null. @p x has dim arrays, @p values
     * n_components arrays, and @p gradients dim arrays for component 0, then
     * those of component 1, and so on. Thread safe.
     */
    void
    evaluate(const unsigned int   n_points,
             const unsigned int  *subcell,
             const double *const *x,
             double *const       *values,
             double *const       *gradients = nullptr) const;

    double
    value(const dealii::Point<dim> &p,
          const unsigned int        component = 0) const override;
    void
    vector_value(const dealii::Point<dim> &p,
                 dealii::Vector<double>   &values) const override;
    dealii::Tensor<1, dim>
    gradient(const dealii::Point<dim> &p,
             const unsigned int        component = 0) const override;

  private:
    struct Implementation;
    std::shared_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
