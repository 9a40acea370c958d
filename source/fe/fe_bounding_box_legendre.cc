// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>

#include <tessella/fe/box_mapping.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/fe/polynomial_space_legendre.h>
#include <tessella/portable/legendre.h>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    template <int dim>
    unsigned int
    n_functions(const unsigned int degree, const PolynomialSpaceType space)
    {
      return Legendre::n_functions(dim, degree, space);
    }

    template <int dim>
    FiniteElementData<dim>
    element_data(const unsigned int degree, const PolynomialSpaceType space)
    {
      std::vector<unsigned int> dofs_per_object(dim + 1, 0u);
      dofs_per_object[dim] = n_functions<dim>(degree, space);
      return FiniteElementData<dim>(dofs_per_object,
                                    1,
                                    degree,
                                    FiniteElementData<dim>::L2);
    }

    /// Whether the polynomial space of degree p and type a is contained in that
    /// of degree q and type b.
    bool
    is_contained(const int                 dim,
                 const unsigned int        p,
                 const PolynomialSpaceType a,
                 const unsigned int        q,
                 const PolynomialSpaceType b)
    {
      return (a == PolynomialSpaceType::tensor_product &&
                  b == PolynomialSpaceType::total_degree
                ? dim * p
                : p) <= q;
    }
  } // namespace



  template <int dim>
  FE_BoundingBoxLegendre<dim>::FE_BoundingBoxLegendre(
    const unsigned int degree, const PolynomialSpaceType space)
    : FE_Poly<dim>(PolynomialSpaceLegendre<dim>(degree, space),
                   element_data<dim>(degree, space),
                   std::vector<bool>(n_functions<dim>(degree, space), true),
                   std::vector<ComponentMask>(n_functions<dim>(degree, space),
                                              ComponentMask(1, true)))
    , space(space)
  {
    AssertThrow(space != PolynomialSpaceType::prismatic,
                ExcMessage("Prismatic spaces are for space-time slabs (see "
                           "SpaceTimeSlab): use total-degree or tensor-product"
                           " elements here."));
  }



  template <int dim>
  std::string
  FE_BoundingBoxLegendre<dim>::get_name() const
  {
    return "FE_BoundingBoxLegendre<" + std::to_string(dim) + ">(" +
           std::to_string(this->degree) +
           (space == PolynomialSpaceType::tensor_product ? ", tensor_product)"
                                                         : ")");
  }



  template <int dim>
  std::unique_ptr<FiniteElement<dim>>
  FE_BoundingBoxLegendre<dim>::clone() const
  {
    return std::make_unique<FE_BoundingBoxLegendre<dim>>(*this);
  }



  template <int dim>
  std::pair<Table<2, bool>, std::vector<unsigned int>>
  FE_BoundingBoxLegendre<dim>::get_constant_modes() const
  {
    Table<2, bool> constant_modes(1, this->n_dofs_per_cell());
    constant_modes(0, 0) = true;
    return {constant_modes, std::vector<unsigned int>(1, 0u)};
  }



  template <int dim>
  FiniteElementDomination::Domination
  FE_BoundingBoxLegendre<dim>::compare_for_domination(
    const FiniteElement<dim> &fe_other, const unsigned int codim) const
  {
    Assert(codim <= dim, ExcImpossibleInDim(dim));
    if (codim > 0)
      return FiniteElementDomination::no_requirements;

    if (const auto *other =
          dynamic_cast<const FE_BoundingBoxLegendre<dim> *>(&fe_other))
      {
        const bool smaller =
          is_contained(dim, this->degree, space, other->degree, other->space);
        const bool larger =
          is_contained(dim, other->degree, other->space, this->degree, space);
        return smaller && larger
                 ? FiniteElementDomination::either_element_can_dominate
               : smaller ? FiniteElementDomination::this_element_dominates
               : larger  ? FiniteElementDomination::other_element_dominates
                         : FiniteElementDomination::neither_element_dominates;
      }
    if (const auto *nothing = dynamic_cast<const FE_Nothing<dim> *>(&fe_other))
      return nothing->is_dominating()
               ? FiniteElementDomination::other_element_dominates
               : FiniteElementDomination::no_requirements;
    return FiniteElementDomination::neither_element_dominates;
  }



  template <int dim>
  void
  FE_BoundingBoxLegendre<dim>::get_interpolation_matrix(
    const FiniteElement<dim> &source, FullMatrix<double> &matrix) const
  {
    const auto *other =
      dynamic_cast<const FE_BoundingBoxLegendre<dim> *>(&source);
    AssertThrow(
      other != nullptr,
      (typename FiniteElement<dim>::ExcInterpolationNotImplemented()));
    AssertDimension(matrix.m(), this->n_dofs_per_cell());
    AssertDimension(matrix.n(), source.n_dofs_per_cell());

    const auto &to =
      static_cast<const PolynomialSpaceLegendre<dim> &>(this->get_poly_space());
    const auto &from = static_cast<const PolynomialSpaceLegendre<dim> &>(
      other->get_poly_space());
    matrix = 0.;
    for (unsigned int i = 0; i < matrix.m(); ++i)
      for (unsigned int j = 0; j < matrix.n(); ++j)
        {
          bool same = true;
          for (unsigned int d = 0; d < dim; ++d)
            same = same && to.exponent(i, d) == from.exponent(j, d);
          if (same)
            matrix(i, j) = 1.;
        }
  }



  // ---- FEValues: FE_Poly with a factor that depends on the bounding box

  template <int dim>
  std::unique_ptr<typename FiniteElement<dim>::InternalDataBase>
  FE_BoundingBoxLegendre<dim>::get_data(const UpdateFlags update_flags,
                                        const Mapping<dim> &,
                                        const Quadrature<dim> &quadrature,
                                        ElementData &) const
  {
    auto data         = std::make_unique<typename FE_Poly<dim>::InternalData>();
    data->update_each = this->requires_update_flags(update_flags);

    const unsigned int          n = this->n_dofs_per_cell();
    std::vector<double>         values;
    std::vector<Tensor<1, dim>> grads;
    std::vector<Tensor<2, dim>> grad_grads;
    std::vector<Tensor<3, dim>> third;
    std::vector<Tensor<4, dim>> fourth;
    // Unlike FE_Poly, keep the values on the unit cell: they are scaled on
    // every cell.
    const auto prepare =
      [&](const UpdateFlags flag, auto &functions, auto &table) {
        if (update_flags & flag)
          {
            functions.resize(n);
            table.reinit(n, quadrature.size());
          }
      };
    prepare(update_values, values, data->shape_values);
    prepare(update_gradients, grads, data->shape_gradients);
    prepare(update_hessians, grad_grads, data->shape_hessians);
    prepare(update_3rd_derivatives, third, data->shape_3rd_derivatives);

    for (unsigned int q = 0; q < quadrature.size(); ++q)
      {
        this->get_poly_space().evaluate(
          quadrature.point(q), values, grads, grad_grads, third, fourth);
        const auto store = [q](const auto &functions, auto &table) {
          for (unsigned int i = 0; i < functions.size(); ++i)
            table[i][q] = functions[i];
        };
        store(values, data->shape_values);
        store(grads, data->shape_gradients);
        store(grad_grads, data->shape_hessians);
        store(third, data->shape_3rd_derivatives);
      }
    return data;
  }



  namespace
  {
    /// 1 / sqrt(volume of the box), or 1 for other mappings.
    template <int dim>
    double
    scaling(const Mapping<dim>                               &mapping,
            const typename Triangulation<dim>::cell_iterator &cell)
    {
      const auto *box_mapping = dynamic_cast<const BoxMapping<dim> *>(&mapping);
      return box_mapping == nullptr
               ? 1.
               : 1. / std::sqrt(box_mapping->box_volume(cell));
    }

    template <typename ElementData>
    void
    scale_functions(const double      factor,
                    const UpdateFlags flags,
                    ElementData      &output)
    {
      const auto scale = [factor](auto &table) {
        for (unsigned int i = 0; i < table.size(0); ++i)
          for (unsigned int q = 0; q < table.size(1); ++q)
            table[i][q] *= factor;
      };
      if (flags & update_values)
        scale(output.shape_values);
      if (flags & update_gradients)
        scale(output.shape_gradients);
      if (flags & update_hessians)
        scale(output.shape_hessians);
      if (flags & update_3rd_derivatives)
        scale(output.shape_3rd_derivatives);
    }
  } // namespace



  template <int dim>
  void
  FE_BoundingBoxLegendre<dim>::fill_fe_values(
    const CellIterator &cell,
    const CellSimilarity::Similarity,
    const Quadrature<dim>                               &quadrature,
    const Mapping<dim>                                  &mapping,
    const typename Mapping<dim>::InternalDataBase       &mapping_internal,
    const MappingData                                   &mapping_data,
    const typename FiniteElement<dim>::InternalDataBase &fe_internal,
    ElementData                                         &output_data) const
  {
    // The derivatives of the previous cell were scaled in place, so that all
    // have to be computed again even if the cells are similar.
    FE_Poly<dim>::fill_fe_values(cell,
                                 CellSimilarity::none,
                                 quadrature,
                                 mapping,
                                 mapping_internal,
                                 mapping_data,
                                 fe_internal,
                                 output_data);

    const auto &data =
      static_cast<const typename FE_Poly<dim>::InternalData &>(fe_internal);
    if (data.update_each & update_values)
      for (unsigned int i = 0; i < this->n_dofs_per_cell(); ++i)
        for (unsigned int q = 0; q < quadrature.size(); ++q)
          output_data.shape_values[i][q] = data.shape_values[i][q];
    scale_functions(scaling(mapping, cell), data.update_each, output_data);
  }



  template <int dim>
  void
  FE_BoundingBoxLegendre<dim>::fill_fe_face_values(
    const CellIterator                                  &cell,
    const unsigned int                                   face_no,
    const hp::QCollection<dim - 1>                      &quadrature,
    const Mapping<dim>                                  &mapping,
    const typename Mapping<dim>::InternalDataBase       &mapping_internal,
    const MappingData                                   &mapping_data,
    const typename FiniteElement<dim>::InternalDataBase &fe_internal,
    ElementData                                         &output_data) const
  {
    FE_Poly<dim>::fill_fe_face_values(cell,
                                      face_no,
                                      quadrature,
                                      mapping,
                                      mapping_internal,
                                      mapping_data,
                                      fe_internal,
                                      output_data);

    scale_functions(scaling(mapping, cell),
                    fe_internal.update_each,
                    output_data);
  }



  template class FE_BoundingBoxLegendre<2>;
  template class FE_BoundingBoxLegendre<3>;
} // namespace Tessella
