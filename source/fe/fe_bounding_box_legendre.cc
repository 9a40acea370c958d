// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>

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
  PolynomialSpaceType
  FE_BoundingBoxLegendre<dim>::polynomial_space() const
  {
    return space;
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
  bool
  FE_BoundingBoxLegendre<dim>::has_support_on_face(const unsigned int,
                                                   const unsigned int) const
  {
    return true;
  }



  template <int dim>
  bool
  FE_BoundingBoxLegendre<dim>::hp_constraints_are_implemented() const
  {
    return true;
  }



  template <int dim>
  std::vector<std::pair<unsigned int, unsigned int>>
  FE_BoundingBoxLegendre<dim>::hp_vertex_dof_identities(
    const FiniteElement<dim> &) const
  {
    return {};
  }



  template <int dim>
  std::vector<std::pair<unsigned int, unsigned int>>
  FE_BoundingBoxLegendre<dim>::hp_line_dof_identities(
    const FiniteElement<dim> &) const
  {
    return {};
  }



  template <int dim>
  std::vector<std::pair<unsigned int, unsigned int>>
  FE_BoundingBoxLegendre<dim>::hp_quad_dof_identities(
    const FiniteElement<dim> &, const unsigned int) const
  {
    return {};
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



  template <int dim>
  void
  FE_BoundingBoxLegendre<dim>::get_face_interpolation_matrix(
    const FiniteElement<dim> &source,
    FullMatrix<double>       &matrix,
    const unsigned int) const
  {
    (void)source;
    (void)matrix;
    // No degrees of freedom on faces: the matrix is empty.
    AssertDimension(matrix.m(), 0);
    AssertDimension(matrix.n(), 0);
  }



  template <int dim>
  void
  FE_BoundingBoxLegendre<dim>::get_subface_interpolation_matrix(
    const FiniteElement<dim> &source,
    const unsigned int,
    FullMatrix<double> &matrix,
    const unsigned int) const
  {
    (void)source;
    (void)matrix;
    AssertDimension(matrix.m(), 0);
    AssertDimension(matrix.n(), 0);
  }



  // ---- FEValues: FE_Poly with a factor that depends on the bounding box

  template <int dim>
  std::unique_ptr<typename FiniteElement<dim>::InternalDataBase>
  FE_BoundingBoxLegendre<dim>::get_data(
    const UpdateFlags update_flags,
    const Mapping<dim> &,
    const Quadrature<dim> &quadrature,
    dealii::internal::FEValuesImplementation::FiniteElementRelatedData<dim, dim>
      &) const
  {
    auto data         = std::make_unique<typename FE_Poly<dim>::InternalData>();
    data->update_each = this->requires_update_flags(update_flags);

    const UpdateFlags  flags      = update_flags;
    const unsigned int n          = this->n_dofs_per_cell();
    const unsigned int n_q_points = quadrature.size();

    std::vector<double>         values(flags & update_values ? n : 0);
    std::vector<Tensor<1, dim>> grads(flags & update_gradients ? n : 0);
    std::vector<Tensor<2, dim>> grad_grads(flags & update_hessians ? n : 0);
    std::vector<Tensor<3, dim>> third(flags & update_3rd_derivatives ? n : 0);
    std::vector<Tensor<4, dim>> fourth;
    // Unlike FE_Poly, keep the values on the unit cell: they are scaled on
    // every cell.
    if (!values.empty())
      data->shape_values.reinit(n, n_q_points);
    if (!grads.empty())
      data->shape_gradients.reinit(n, n_q_points);
    if (!grad_grads.empty())
      data->shape_hessians.reinit(n, n_q_points);
    if (!third.empty())
      data->shape_3rd_derivatives.reinit(n, n_q_points);

    for (unsigned int q = 0; q < n_q_points; ++q)
      {
        this->get_poly_space().evaluate(
          quadrature.point(q), values, grads, grad_grads, third, fourth);
        for (unsigned int i = 0; i < values.size(); ++i)
          data->shape_values[i][q] = values[i];
        for (unsigned int i = 0; i < grads.size(); ++i)
          data->shape_gradients[i][q] = grads[i];
        for (unsigned int i = 0; i < grad_grads.size(); ++i)
          data->shape_hessians[i][q] = grad_grads[i];
        for (unsigned int i = 0; i < third.size(); ++i)
          data->shape_3rd_derivatives[i][q] = third[i];
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

    template <int dim>
    void
    scale_derivatives(const double      factor,
                      const UpdateFlags flags,
                      dealii::internal::FEValuesImplementation::
                        FiniteElementRelatedData<dim, dim> &output)
    {
      const auto scale = [factor](auto &table) {
        for (unsigned int i = 0; i < table.size(0); ++i)
          for (unsigned int q = 0; q < table.size(1); ++q)
            table[i][q] *= factor;
      };
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
    const typename Triangulation<dim>::cell_iterator &cell,
    const CellSimilarity::Similarity,
    const Quadrature<dim>                         &quadrature,
    const Mapping<dim>                            &mapping,
    const typename Mapping<dim>::InternalDataBase &mapping_internal,
    const dealii::internal::FEValuesImplementation::MappingRelatedData<dim, dim>
                                                        &mapping_data,
    const typename FiniteElement<dim>::InternalDataBase &fe_internal,
    dealii::internal::FEValuesImplementation::FiniteElementRelatedData<dim, dim>
      &output_data) const
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
    const double factor = scaling(mapping, cell);
    if (data.update_each & update_values)
      for (unsigned int i = 0; i < this->n_dofs_per_cell(); ++i)
        for (unsigned int q = 0; q < quadrature.size(); ++q)
          output_data.shape_values[i][q] = factor * data.shape_values[i][q];
    scale_derivatives<dim>(factor, data.update_each, output_data);
  }



  template <int dim>
  void
  FE_BoundingBoxLegendre<dim>::fill_fe_face_values(
    const typename Triangulation<dim>::cell_iterator &cell,
    const unsigned int                                face_no,
    const hp::QCollection<dim - 1>                   &quadrature,
    const Mapping<dim>                               &mapping,
    const typename Mapping<dim>::InternalDataBase    &mapping_internal,
    const dealii::internal::FEValuesImplementation::MappingRelatedData<dim, dim>
                                                        &mapping_data,
    const typename FiniteElement<dim>::InternalDataBase &fe_internal,
    dealii::internal::FEValuesImplementation::FiniteElementRelatedData<dim, dim>
      &output_data) const
  {
    FE_Poly<dim>::fill_fe_face_values(cell,
                                      face_no,
                                      quadrature,
                                      mapping,
                                      mapping_internal,
                                      mapping_data,
                                      fe_internal,
                                      output_data);

    const auto &data =
      static_cast<const typename FE_Poly<dim>::InternalData &>(fe_internal);
    const double       factor = scaling(mapping, cell);
    const unsigned int n_q_points =
      quadrature[quadrature.size() == 1 ? 0 : face_no].size();
    if (data.update_each & update_values)
      for (unsigned int i = 0; i < this->n_dofs_per_cell(); ++i)
        for (unsigned int q = 0; q < n_q_points; ++q)
          output_data.shape_values[i][q] *= factor;
    scale_derivatives<dim>(factor, data.update_each, output_data);
  }



  template class FE_BoundingBoxLegendre<2>;
  template class FE_BoundingBoxLegendre<3>;
} // namespace Tessella
