// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_forms_advection_diffusion_reaction_data_h
#define tessella_source_forms_advection_diffusion_reaction_data_h

#include <tessella/forms/advection_diffusion_reaction.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiled_coefficients.h"
#include "host_coefficients.h"

namespace Tessella
{
  template <int dim>
  struct AdvectionDiffusionReaction<dim>::Implementation
  {
    // Diffusion: a scalar, a constant tensor or a tensor function. Values per
    // cell may be multiplied by the constant tensor.
    DiffusionType                    diffusion_type = DiffusionType::none;
    internal::ScalarCoefficient<dim> scalar_diffusion;
    dealii::Tensor<2, dim>           constant_tensor;
    std::shared_ptr<const dealii::TensorFunction<2, dim>> tensor_function;

    internal::VectorCoefficient<dim> advection;
    internal::ScalarCoefficient<dim> reaction, source;

    std::map<dealii::types::boundary_id, BoundaryCondition<dim>> conditions;
    BoundaryCondition<dim> default_condition;

    double theta             = 1.;
    int    coefficient_order = -1;
    bool   compile           = true;
    // reason why the last device_coefficients() returned a null pointer
    std::string why_not_on_device;

    // Source code of all coefficients and data. Returns false and sets
    // why_not_on_device if one of them has no code.
    // Components of discrete functions that the code reads are added to the
    // fields.
    bool
    make_code(internal::CoefficientCode       &code,
              std::vector<DiscreteField<dim>> &fields);

    // Discrete functions of all coefficients and data, each one once.
    std::vector<const DiscreteFunction<dim> *>
    discrete_functions() const;

    bool
    constant() const
    {
      return tensor_function == nullptr && scalar_diffusion.is_constant() &&
             !advection.variable() && reaction.is_constant();
    }

    // Whether all coefficients are constant within each cell.
    bool
    constant_on_cells() const
    {
      return tensor_function == nullptr &&
             scalar_diffusion.function == nullptr && !advection.variable() &&
             reaction.function == nullptr;
    }

    const BoundaryCondition<dim> &
    condition(const dealii::types::boundary_id id) const
    {
      const auto it = conditions.find(id);
      return it == conditions.end() ? default_condition : it->second;
    }

    void
    evaluate_boundary_data(const FacetPointBatch<dim> &points,
                           double                     *g,
                           double                     *alpha) const;
  };
} // namespace Tessella

#endif
