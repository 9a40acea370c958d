// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/forms/advection_diffusion_reaction.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "advection_diffusion_reaction_data.h"

namespace Tessella
{
  using namespace dealii;
  using internal::check_components;
  using internal::check_constant;
  using internal::VectorCoefficient;

  namespace
  {
    // Gaussian elimination of the symmetric part; pivots may be negative within
    // rounding errors.
    template <int dim>
    void
    check_semidefinite(const Tensor<2, dim> &a)
    {
      double largest = 0.;
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int e = 0; e < dim; ++e)
          {
            check_constant(a[d][e], "entry of the diffusion tensor");
            largest = std::max(largest, std::abs(a[d][e]));
          }
      const double   tolerance = 1e-12 * largest;
      Tensor<2, dim> s         = 0.5 * (a + transpose(a));
      const auto     verify    = [](const bool good) {
        AssertThrow(good,
                    ExcMessage("The diffusion tensor is not positive "
                                      "semi-definite."));
      };
      for (unsigned int k = 0; k < dim; ++k)
        {
          verify(s[k][k] >= -tolerance);
          for (unsigned int d = k + 1; d < dim; ++d)
            if (s[k][k] > tolerance)
              for (unsigned int e = k + 1; e < dim; ++e)
                s[d][e] -= s[d][k] * s[k][e] / s[k][k];
            else
              verify(std::abs(s[d][k]) <= 1e-6 * largest);
        }
    }
  } // namespace



  template <int dim>
  AdvectionDiffusionReaction<dim>::AdvectionDiffusionReaction()
    : data(std::make_unique<Implementation>())
  {
    data->scalar_diffusion.name = "diffusion coefficient";
    data->reaction.name         = "reaction coefficient";
    data->source.name           = "right-hand side";
  }



  template <int dim>
  AdvectionDiffusionReaction<dim>::AdvectionDiffusionReaction(
    const AdvectionDiffusionReaction &form)
    : Form<dim>(form)
    , data(std::make_unique<Implementation>(*form.data))
  {}



  template <int dim>
  AdvectionDiffusionReaction<dim> &
  AdvectionDiffusionReaction<dim>::operator=(
    const AdvectionDiffusionReaction &form)
  {
    *data = *form.data;
    return *this;
  }



  template <int dim>
  AdvectionDiffusionReaction<dim>::~AdvectionDiffusionReaction() = default;



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(const double a)
  {
    AssertThrow(a >= 0. && std::isfinite(a),
                ExcMessage("The diffusion coefficient " + std::to_string(a) +
                           " is not a finite non-negative number."));
    data->scalar_diffusion.set(a);
    data->tensor_function = nullptr;
    data->diffusion_type =
      a == 0. ? DiffusionType::none : DiffusionType::isotropic;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(const Tensor<2, dim> &a)
  {
    check_semidefinite(a);
    set_diffusion(0.);
    data->constant_tensor = a;
    data->diffusion_type =
      a.norm_square() == 0. ? DiffusionType::none : DiffusionType::tensor;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(const FunctionPointer<dim> &a)
  {
    data->scalar_diffusion.set(a);
    data->tensor_function = nullptr;
    data->diffusion_type  = DiffusionType::isotropic;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(
    const std::shared_ptr<const TensorFunction<2, dim>> &a)
  {
    AssertThrow(a != nullptr,
                ExcMessage("The function given as diffusion tensor is a null "
                           "pointer."));
    set_diffusion(0.);
    data->tensor_function = a;
    data->diffusion_type  = DiffusionType::tensor;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(const CellwiseCoefficient &a)
  {
    data->scalar_diffusion.set(a);
    data->tensor_function = nullptr;
    data->diffusion_type  = DiffusionType::isotropic;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_diffusion(const CellwiseCoefficient &a,
                                                 const Tensor<2, dim> &tensor)
  {
    check_semidefinite(tensor);
    set_diffusion(a);
    data->constant_tensor = tensor;
    data->diffusion_type  = DiffusionType::tensor;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_advection(const Tensor<1, dim> &b)
  {
    for (unsigned int d = 0; d < dim; ++d)
      check_constant(b[d], "component of the advection field");
    data->advection          = VectorCoefficient<dim>();
    data->advection.constant = b;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_advection(const FunctionPointer<dim> &b)
  {
    check_components(b.get(), dim, "advection field");
    data->advection          = VectorCoefficient<dim>();
    data->advection.function = b;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_advection(
    const std::shared_ptr<const TensorFunction<1, dim>> &b)
  {
    AssertThrow(b != nullptr,
                ExcMessage("The function given as advection field is a null "
                           "pointer."));
    data->advection                 = VectorCoefficient<dim>();
    data->advection.tensor_function = b;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_reaction(const double c)
  {
    data->reaction.set(c);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_reaction(const FunctionPointer<dim> &c)
  {
    data->reaction.set(c);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_reaction(const CellwiseCoefficient &c)
  {
    data->reaction.set(c);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_source(const double f)
  {
    data->source.set(f);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_source(const FunctionPointer<dim> &f)
  {
    data->source.set(f);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_source(const CellwiseCoefficient &f)
  {
    data->source.set(f);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_boundary_condition(
    const types::boundary_id id, const BoundaryCondition<dim> &condition)
  {
    data->conditions[id] = condition;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_default_boundary_condition(
    const BoundaryCondition<dim> &condition)
  {
    data->default_condition = condition;
  }



  template <int dim>
  const BoundaryCondition<dim> &
  AdvectionDiffusionReaction<dim>::boundary_condition(
    const types::boundary_id id) const
  {
    return data->condition(id);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_theta(const double theta)
  {
    data->theta = theta;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_coefficient_order(
    const unsigned int order)
  {
    data->coefficient_order = order;
  }



  template <int dim>
  bool
  AdvectionDiffusionReaction<dim>::is_constant_on_cells() const
  {
    return data->constant_on_cells();
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::set_run_time_compilation(const bool compile)
  {
    data->compile = compile;
  }



  template <int dim>
  std::string
  AdvectionDiffusionReaction<dim>::why_not_on_device() const
  {
    return data->why_not_on_device;
  }



  template <int dim>
  VolumeStructure
  AdvectionDiffusionReaction<dim>::volume_structure() const
  {
    VolumeStructure structure;
    structure.diffusion  = data->diffusion_type;
    structure.b          = data->advection.present();
    structure.c          = data->reaction.present();
    structure.f          = data->source.present();
    structure.constant_f = data->source.is_constant();
    // The tensor is used as the caller passed it, so it may be unsymmetric.
    structure.symmetric = !structure.b && data->theta == 1. &&
                          data->diffusion_type != DiffusionType::tensor;
    structure.constant = data->constant();
    structure.cellwise = data->scalar_diffusion.depends_on_subcell() ||
                         data->reaction.depends_on_subcell() ||
                         data->source.depends_on_subcell();
    return structure;
  }



  template <int dim>
  FacetStructure
  AdvectionDiffusionReaction<dim>::facet_structure() const
  {
    FacetStructure structure;
    const bool     diffusion = data->diffusion_type != DiffusionType::none;
    structure.b              = diffusion;
    structure.beta           = diffusion && data->theta != 0.;
    structure.penalty        = diffusion;
    structure.facets         = diffusion || data->advection.present();
    structure.mirrored       = true;
    // Values per cell and discrete functions jump across facets.
    structure.continuous = !data->scalar_diffusion.depends_on_side();
    return structure;
  }



  template <int dim>
  unsigned int
  AdvectionDiffusionReaction<dim>::coefficient_order() const
  {
    if (data->coefficient_order >= 0)
      return data->coefficient_order;
    unsigned int order = data->constant_on_cells() ? 0 : 2;
    if constexpr (dim < 4)
      for (const DiscreteFunction<dim> *const f : data->discrete_functions())
        order = std::max(order, f->degree());
    return order;
  }



  template <int dim>
  bool
  AdvectionDiffusionReaction<dim>::has_penalty_facets(double &theta) const
  {
    theta = data->theta;
    return true;
  }



  template <int dim>
  bool
  AdvectionDiffusionReaction<dim>::constant_interior_facets(
    ConstantFacetTerms<dim> &terms) const
  {
    if (!data->constant())
      return false;
    for (unsigned int d = 0; d < dim; ++d)
      {
        terms.b[d] = data->advection.constant[d];
        for (unsigned int e = 0; e < dim; ++e)
          terms.a[d * dim + e] =
            data->diffusion_type == DiffusionType::tensor
              ? data->constant_tensor[d][e]
            : d == e && data->diffusion_type == DiffusionType::isotropic
              ? data->scalar_diffusion.constant
              : 0.;
      }
    terms.theta = data->theta;
    return true;
  }



  template <int dim>
  std::vector<const DiscreteFunction<dim> *>
  AdvectionDiffusionReaction<dim>::Implementation::discrete_functions() const
  {
    std::vector<const DiscreteFunction<dim> *> result;

    const auto add = [&](const Function<dim> *function) {
      const auto *const f = internal::as_discrete(function);
      if (f != nullptr &&
          std::find(result.begin(), result.end(), f) == result.end())
        result.push_back(f);
    };
    const auto add_condition = [&](const BoundaryCondition<dim> &condition) {
      add(condition.value.get());
      add(condition.robin_coefficient.get());
      add(condition.flux.get());
    };
    for (const auto *coefficient : {&scalar_diffusion, &reaction, &source})
      add(coefficient->function.get());
    add(advection.function.get());
    for (const auto &condition : conditions)
      add_condition(condition.second);
    add_condition(default_condition);
    return result;
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::prepare() const
  {
    if constexpr (dim < 4)
      for (const DiscreteFunction<dim> *const f : data->discrete_functions())
        f->prepare();
  }



  template <int dim>
  BoundaryType
  AdvectionDiffusionReaction<dim>::boundary_type(
    const unsigned int boundary_id) const
  {
    return data->condition(boundary_id).type;
  }



  template class AdvectionDiffusionReaction<2>;
  template class AdvectionDiffusionReaction<3>;
  template class AdvectionDiffusionReaction<4>;
} // namespace Tessella
