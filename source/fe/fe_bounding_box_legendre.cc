// SPDX-License-Identifier: LGPL-2.1-or-later
#include <deal.II/fe/fe_nothing.h>
#include <deal.II/lac/full_matrix.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/fe/legendre.h>
#include <tessella/fe/polynomial_space_legendre.h>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    template <int dim>
    unsigned int
    n_functions(const unsigned int degree, const PolynomialSpaceType space)
    {
      return Legendre::n_functions(
        dim, degree, space == PolynomialSpaceType::tensor_product);
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

    /// Whether the space of degree p and type a is contained in that of degree
    /// q and type b.
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
  {}



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



  template class FE_BoundingBoxLegendre<2>;
  template class FE_BoundingBoxLegendre<3>;
} // namespace Tessella
