// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_fe_fe_bounding_box_legendre_h
#define tessella_fe_fe_bounding_box_legendre_h

#include <deal.II/fe/fe_poly.h>
#include <deal.II/lac/full_matrix.h>

#include <tessella/portable/legendre.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace Tessella
{
  /**
   * Discontinuous element of tensor-product Legendre polynomials on the
   * bounding box of a polytope, of degree p = 0 .. 10. The space is that of
   * total degree at most p by default; the full tensor space is an option. See
   * Legendre for the formula and the order of the functions.
   *
   * As a deal.II element it lives on the unit hypercube, where its functions
   * are orthonormal. With a MappingBoundingBox, FEValues returns the functions
   * of the polytope's bounding box, which are orthonormal there: values carry
   * the factor 1 / sqrt(volume of the box), which a mapping alone cannot
   * supply. With any other mapping there is no such factor.
   *
   * The element is modal: it has no support points, neither ordinary nor
   * generalized ones, since the factor differs from polytope to polytope and
   * deal.II's interpolation does not tell the element which cell it is on. Use
   * Tessella::VectorTools::interpolate() and project() instead.
   */
  template <int dim>
  class FE_BoundingBoxLegendre : public dealii::FE_Poly<dim>
  {
  public:
    using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;
    using MappingData =
      dealii::internal::FEValuesImplementation::MappingRelatedData<dim, dim>;
    using ElementData =
      dealii::internal::FEValuesImplementation::FiniteElementRelatedData<dim,
                                                                         dim>;
    using DoFIdentities = std::vector<std::pair<unsigned int, unsigned int>>;

    /// Throws an exception if @p degree is larger than Legendre::max_degree.
    explicit FE_BoundingBoxLegendre(
      const unsigned int        degree,
      const PolynomialSpaceType space = PolynomialSpaceType::total_degree);

    PolynomialSpaceType
    polynomial_space() const
    {
      return space;
    }

    std::string
    get_name() const override;

    std::unique_ptr<dealii::FiniteElement<dim>>
    clone() const override;

    /// Function 0 is constant on every polytope. Its value is 1 / sqrt(volume
    /// of the box), so the constant function 1 has a different coefficient in
    /// every polytope.
    std::pair<dealii::Table<2, bool>, std::vector<unsigned int>>
    get_constant_modes() const override;

    /// Every function is non-zero somewhere on every face.
    bool
    has_support_on_face(const unsigned int, const unsigned int) const override
    {
      return true;
    }

    // ---- hp: cells share no degrees of freedom
    bool
    hp_constraints_are_implemented() const override
    {
      return true;
    }

    DoFIdentities
    hp_vertex_dof_identities(const dealii::FiniteElement<dim> &) const override
    {
      return {};
    }

    DoFIdentities
    hp_line_dof_identities(const dealii::FiniteElement<dim> &) const override
    {
      return {};
    }

    DoFIdentities
    hp_quad_dof_identities(const dealii::FiniteElement<dim> &,
                           const unsigned int = 0) const override
    {
      return {};
    }

    /// For codim 0 the smaller space dominates; for a positive codim there are
    /// no requirements.
    dealii::FiniteElementDomination::Domination
    compare_for_domination(const dealii::FiniteElement<dim> &fe_other,
                           const unsigned int codim = 0) const override final;

    /// Matrix that maps coefficients of @p source, another element of this
    /// class, to coefficients of this element. Functions that both have are
    /// kept and all others dropped, which is the L2 projection on the box.
    void
    get_interpolation_matrix(const dealii::FiniteElement<dim> &source,
                             dealii::FullMatrix<double> &matrix) const override;

    // The matrices of faces are empty: faces have no degrees of freedom.
    void
    get_face_interpolation_matrix(const dealii::FiniteElement<dim> &,
                                  dealii::FullMatrix<double> &matrix,
                                  const unsigned int = 0) const override
    {
      (void)matrix;
      AssertDimension(matrix.m(), 0);
      AssertDimension(matrix.n(), 0);
    }

    void
    get_subface_interpolation_matrix(
      const dealii::FiniteElement<dim> &source,
      const unsigned int,
      dealii::FullMatrix<double> &matrix,
      const unsigned int          face_no = 0) const override
    {
      get_face_interpolation_matrix(source, matrix, face_no);
    }

  protected:
    std::unique_ptr<typename dealii::FiniteElement<dim>::InternalDataBase>
    get_data(const dealii::UpdateFlags      update_flags,
             const dealii::Mapping<dim>    &mapping,
             const dealii::Quadrature<dim> &quadrature,
             ElementData                   &output_data) const override;

    void
    fill_fe_values(
      const CellIterator                                    &cell,
      const dealii::CellSimilarity::Similarity               cell_similarity,
      const dealii::Quadrature<dim>                         &quadrature,
      const dealii::Mapping<dim>                            &mapping,
      const typename dealii::Mapping<dim>::InternalDataBase &mapping_internal,
      const MappingData                                     &mapping_data,
      const typename dealii::FiniteElement<dim>::InternalDataBase &fe_internal,
      ElementData &output_data) const override;

    using dealii::FiniteElement<dim>::fill_fe_face_values;

    void
    fill_fe_face_values(
      const CellIterator                                    &cell,
      const unsigned int                                     face_no,
      const dealii::hp::QCollection<dim - 1>                &quadrature,
      const dealii::Mapping<dim>                            &mapping,
      const typename dealii::Mapping<dim>::InternalDataBase &mapping_internal,
      const MappingData                                     &mapping_data,
      const typename dealii::FiniteElement<dim>::InternalDataBase &fe_internal,
      ElementData &output_data) const override;

  private:
    PolynomialSpaceType space;
  };
} // namespace Tessella

#endif
