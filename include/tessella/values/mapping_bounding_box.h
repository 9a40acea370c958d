// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_values_mapping_bounding_box_h
#define tessella_values_mapping_bounding_box_h

#include <tessella/base/compatibility.h>
#include <tessella/fe/box_mapping.h>
#include <tessella/grid/agglomeration_handler.h>

namespace Tessella
{
  /**
   * Maps the unit hypercube to the bounding box of the polytope to which an
   * active cell belongs: x_d = lower_d + h_d xi_d, so that the Jacobian is the
   * constant diagonal matrix of the box's extents h. All cells of a polytope
   * have the same image.
   *
   * With FE_BoundingBoxLegendre and this mapping, deal.II's FEValues evaluates
   * a polytope's basis at points given in unit coordinates of the box; JxW
   * values refer to the whole box. For integrals over polytopes and their faces
   * use PolytopeValues and PolytopeInterfaceValues.
   *
   * Cells of every shape are mapped from the unit hypercube, also simplices.
   * Faces are those of the box. FEFaceValues works for cells whose face has the
   * standard orientation; sub-faces have no meaning on a box, and functions for
   * them throw an exception.
   */
  template <int dim>
  class MappingBoundingBox : public BoxMapping<dim>
  {
  public:
    using CellIterator     = typename dealii::Triangulation<dim>::cell_iterator;
    using InternalDataBase = typename dealii::Mapping<dim>::InternalDataBase;
    using MappingData =
      dealii::internal::FEValuesImplementation::MappingRelatedData<dim, dim>;

    /// @p handler must outlive the mapping and must have polytopes already.
    explicit MappingBoundingBox(const AgglomerationHandler<dim> &handler);

    std::unique_ptr<dealii::Mapping<dim>>
    clone() const override
    {
      return std::make_unique<MappingBoundingBox<dim>>(*handler);
    }

    bool
    preserves_vertex_locations() const override
    {
      return false;
    }

    bool
    is_compatible_with(
      const Compatibility::ReferenceCell<dim> &reference_cell) const override
    {
      return reference_cell.get_dimension() == dim;
    }

    /// Corners of the box, 2^dim points in lexicographic order.
    boost::container::small_vector<dealii::Point<dim>,
                                   dealii::GeometryInfo<dim>::vertices_per_cell>
    get_vertices(const CellIterator &cell) const override;

    dealii::Point<dim>
    get_center(const CellIterator &cell,
               const bool map_center_of_reference_cell = true) const override;

    dealii::Point<dim>
    transform_unit_to_real_cell(const CellIterator       &cell,
                                const dealii::Point<dim> &p) const override;

    /// Points outside the box are mapped as well, without an exception.
    dealii::Point<dim>
    transform_real_to_unit_cell(const CellIterator       &cell,
                                const dealii::Point<dim> &p) const override;

    // ---- transformation of vectors and tensors by the diagonal Jacobian
    void
    transform(
      const dealii::ArrayView<const dealii::Tensor<1, dim>> &input,
      const dealii::MappingKind                              kind,
      const InternalDataBase                                &internal,
      const dealii::ArrayView<dealii::Tensor<1, dim>> &output) const override;

    void
    transform(
      const dealii::ArrayView<const dealii::DerivativeForm<1, dim, dim>> &input,
      const dealii::MappingKind                                           kind,
      const InternalDataBase                          &internal,
      const dealii::ArrayView<dealii::Tensor<2, dim>> &output) const override;

    void
    transform(
      const dealii::ArrayView<const dealii::Tensor<2, dim>> &input,
      const dealii::MappingKind                              kind,
      const InternalDataBase                                &internal,
      const dealii::ArrayView<dealii::Tensor<2, dim>> &output) const override;

    void
    transform(
      const dealii::ArrayView<const dealii::DerivativeForm<2, dim, dim>> &input,
      const dealii::MappingKind                                           kind,
      const InternalDataBase                          &internal,
      const dealii::ArrayView<dealii::Tensor<3, dim>> &output) const override;

    void
    transform(
      const dealii::ArrayView<const dealii::Tensor<3, dim>> &input,
      const dealii::MappingKind                              kind,
      const InternalDataBase                                &internal,
      const dealii::ArrayView<dealii::Tensor<3, dim>> &output) const override;

    /// Volume of the box that belongs to @p cell.
    double
    box_volume(const CellIterator &cell) const override;

  protected:
    /// Data for transform(): the extents of the present box.
    class InternalData : public InternalDataBase
    {
    public:
      // deal.II calls this function from version 9.6 on.
      void
      reinit(const dealii::UpdateFlags update_flags,
             const dealii::Quadrature<dim> &) TESSELLA_OVERRIDE_FROM_9_6
      {
        this->update_each = update_flags;
      }

      std::size_t
      memory_consumption() const override
      {
        return sizeof(*this);
      }

      mutable dealii::Tensor<1, dim> extents;
      mutable double                 volume = 0.;
    };

    dealii::UpdateFlags
    requires_update_flags(
      const dealii::UpdateFlags update_flags) const override;

    std::unique_ptr<InternalDataBase>
    get_data(const dealii::UpdateFlags      update_flags,
             const dealii::Quadrature<dim> &quadrature) const override;

    using dealii::Mapping<dim>::get_face_data;

    std::unique_ptr<InternalDataBase>
    get_face_data(
      const dealii::UpdateFlags               update_flags,
      const dealii::hp::QCollection<dim - 1> &quadrature) const override;

    std::unique_ptr<InternalDataBase>
    get_subface_data(
      const dealii::UpdateFlags          update_flags,
      const dealii::Quadrature<dim - 1> &quadrature) const override;

    dealii::CellSimilarity::Similarity
    fill_fe_values(const CellIterator                      &cell,
                   const dealii::CellSimilarity::Similarity cell_similarity,
                   const dealii::Quadrature<dim>           &quadrature,
                   const InternalDataBase                  &internal_data,
                   MappingData &output_data) const override;

    using dealii::Mapping<dim>::fill_fe_face_values;

    void
    fill_fe_face_values(const CellIterator                     &cell,
                        const unsigned int                      face_no,
                        const dealii::hp::QCollection<dim - 1> &quadrature,
                        const InternalDataBase                 &internal_data,
                        MappingData &output_data) const override;

    void
    fill_fe_subface_values(const CellIterator                &cell,
                           const unsigned int                 face_no,
                           const unsigned int                 subface_no,
                           const dealii::Quadrature<dim - 1> &quadrature,
                           const InternalDataBase            &internal_data,
                           MappingData &output_data) const override;

    void
    fill_fe_immersed_surface_values(
      const CellIterator                                        &cell,
      const dealii::NonMatching::ImmersedSurfaceQuadrature<dim> &quadrature,
      const InternalDataBase                                    &internal_data,
      MappingData &output_data) const override;

  private:
    /// Lower and upper corner of the cell's box, 2 dim values.
    const double *
    box(const CellIterator &cell) const;

    /// Reads the box into @p data and fills all entries that do not depend on
    /// points.
    void
    fill_constants(const double       *box,
                   const InternalData &data,
                   MappingData        &output_data) const;

    SmartPointer<const AgglomerationHandler<dim>> handler;
  };
} // namespace Tessella

#endif
