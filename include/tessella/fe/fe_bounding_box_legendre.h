// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_fe_fe_bounding_box_legendre_h
#define tessella_fe_fe_bounding_box_legendre_h

#include <deal.II/fe/fe_poly.h>

#include <tessella/grid/agglomeration_handler.h>

namespace Tessella
{
  /**
   * Discontinuous element of tensor-product Legendre polynomials on the
   * bounding box of a polytope (see Legendre for formula and order): total
   * degree at most p by default, the full tensor space as an option, p = 0
   * .. 10.
   *
   * As a deal.II element it lives on the unit hypercube, where its functions
   * are orthonormal. With a MappingBoundingBox, FEValues gives the functions of
   * the polytope's box, orthonormal there: values carry the factor 1 /
   * sqrt(volume of the box), which no mapping alone could bring.
   */
  template <int dim>
  class FE_BoundingBoxLegendre : public dealii::FE_Poly<dim>
  {
  public:
    explicit FE_BoundingBoxLegendre(
      const unsigned int        degree,
      const PolynomialSpaceType space = PolynomialSpaceType::total_degree);

    PolynomialSpaceType
    polynomial_space() const;

    std::string
    get_name() const override;
    std::unique_ptr<dealii::FiniteElement<dim>>
    clone() const override;

    // (further overrides: requires_update_flags, fill_fe_values, hp
    // compatibility ... by the implementation)
  private:
    PolynomialSpaceType space;
  };
} // namespace Tessella

#endif
