// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/quadrature.h>

#include <deal.II/fe/fe_update_flags.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>
#include <deal.II/hp/q_collection.h>
#include <deal.II/non_matching/immersed_surface_quadrature.h>

#include <tessella/values/mapping_bounding_box.h>

#include <cmath>

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  MappingBoundingBox<dim>::MappingBoundingBox(
    const AgglomerationHandler<dim> &handler)
    : handler(&handler)
  {}



  template <int dim>
  const double *
  MappingBoundingBox<dim>::box(const CellIterator &cell) const
  {
    AssertThrow(cell->is_active(),
                ExcMessage("Only active cells belong to a polytope and can be "
                           "mapped to its bounding box."));
    const std::vector<unsigned int> &polytope_of_cell =
      handler->polytope_of_cell();
    AssertIndexRange(cell->active_cell_index(), polytope_of_cell.size());
    return &handler->polytopic_mesh()
              .box[2 * dim *
                   std::size_t(polytope_of_cell[cell->active_cell_index()])];
  }



  template <int dim>
  double
  MappingBoundingBox<dim>::box_volume(const CellIterator &cell) const
  {
    const double *corners = box(cell);
    double        volume  = 1.;
    for (unsigned int d = 0; d < dim; ++d)
      volume *= corners[dim + d] - corners[d];
    return volume;
  }



  template <int dim>
  boost::container::small_vector<Point<dim>,
                                 GeometryInfo<dim>::vertices_per_cell>
  MappingBoundingBox<dim>::get_vertices(const CellIterator &cell) const
  {
    const double *corners = box(cell);
    boost::container::small_vector<Point<dim>,
                                   GeometryInfo<dim>::vertices_per_cell>
      vertices;
    for (unsigned int v = 0; v < (1u << dim); ++v)
      {
        Point<dim> p;
        for (unsigned int d = 0; d < dim; ++d)
          p[d] = corners[(v & (1u << d)) != 0 ? dim + d : d];
        vertices.push_back(p);
      }
    return vertices;
  }



  template <int dim>
  Point<dim>
  MappingBoundingBox<dim>::get_center(const CellIterator &cell,
                                      const bool) const
  {
    Point<dim> center;
    for (unsigned int d = 0; d < dim; ++d)
      center[d] = 0.5;
    return transform_unit_to_real_cell(cell, center);
  }



  template <int dim>
  Point<dim>
  MappingBoundingBox<dim>::transform_unit_to_real_cell(
    const CellIterator &cell, const Point<dim> &p) const
  {
    const double *corners = box(cell);
    Point<dim>    x;
    for (unsigned int d = 0; d < dim; ++d)
      x[d] = corners[d] + (corners[dim + d] - corners[d]) * p[d];
    return x;
  }



  template <int dim>
  Point<dim>
  MappingBoundingBox<dim>::transform_real_to_unit_cell(
    const CellIterator &cell, const Point<dim> &p) const
  {
    const double *corners = box(cell);
    Point<dim>    xi;
    for (unsigned int d = 0; d < dim; ++d)
      xi[d] = (p[d] - corners[d]) / (corners[dim + d] - corners[d]);
    return xi;
  }



  namespace
  {
    DeclExceptionMsg(ExcMappingKind,
                     "MappingBoundingBox does not know this kind of "
                     "transformation for tensors of this rank.");

    /// Inverse of the diagonal Jacobian.
    template <int dim>
    Tensor<1, dim>
    inverse(const Tensor<1, dim> &extents)
    {
      Tensor<1, dim> result;
      for (unsigned int d = 0; d < dim; ++d)
        result[d] = 1. / extents[d];
      return result;
    }

    /// Kinds of transformation of the tensors of one rank.
    struct Kinds
    {
      MappingKind covariant, contravariant, piola;
    };

    /// Entry of the result: @p factor times the entry of the argument.
    template <int dim>
    void
    scale(const double input,
          const double factor,
          const Tensor<1, dim> &,
          double &output)
    {
      output = factor * input;
    }

    /// Multiplies entry (j, k, ...) of a tensor by @p factor times g[j] times
    /// g[k] ...
    template <int dim, typename InputType, int rank>
    void
    scale(const InputType      &input,
          const double          factor,
          const Tensor<1, dim> &g,
          Tensor<rank, dim>    &output)
    {
      for (unsigned int j = 0; j < dim; ++j)
        scale(input[j], factor * g[j], g, output[j]);
    }

    /// Transforms the first index of tensors according to @p kind and all
    /// others, which are those of derivatives, as covariant ones.
    template <int dim, typename InputType, typename OutputType, typename Data>
    void
    transform_tensors(const ArrayView<const InputType> &input,
                      const MappingKind                 kind,
                      const Kinds                      &kinds,
                      const Data                       &data,
                      const ArrayView<OutputType>      &output)
    {
      AssertDimension(input.size(), output.size());
      const Tensor<1, dim> g = inverse(data.extents);
      Tensor<1, dim>       f = g;
      if (kind == kinds.contravariant)
        f = data.extents;
      else if (kind != kinds.covariant)
        {
          AssertThrow(kind == kinds.piola, ExcMappingKind());
          f = 1. / data.volume * data.extents;
        }
      for (unsigned int q = 0; q < output.size(); ++q)
        for (unsigned int i = 0; i < dim; ++i)
          scale(input[q][i], f[i], g, output[q][i]);
    }

    /// Transforms derivatives of functions that have values on the unit cell,
    /// such that the first index stays as it is.
    template <int dim, typename InputType, typename OutputType, typename Data>
    void
    transform_derivatives(const ArrayView<const InputType> &input,
                          const MappingKind                 kind,
                          const MappingKind                 covariant,
                          const Data                       &data,
                          const ArrayView<OutputType>      &output)
    {
      AssertDimension(input.size(), output.size());
      AssertThrow(kind == covariant, ExcMappingKind());
      const Tensor<1, dim> g = inverse(data.extents);
      for (unsigned int q = 0; q < output.size(); ++q)
        for (unsigned int i = 0; i < dim; ++i)
          scale(input[q][i], 1., g, output[q][i]);
    }
  } // namespace



  template <int dim>
  void
  MappingBoundingBox<dim>::transform(
    const ArrayView<const Tensor<1, dim>> &input,
    const MappingKind                      kind,
    const InternalDataBase                &internal,
    const ArrayView<Tensor<1, dim>>       &output) const
  {
    transform_tensors<dim>(input,
                           kind,
                           {mapping_covariant,
                            mapping_contravariant,
                            mapping_piola},
                           static_cast<const InternalData &>(internal),
                           output);
  }



  template <int dim>
  void
  MappingBoundingBox<dim>::transform(
    const ArrayView<const DerivativeForm<1, dim, dim>> &input,
    const MappingKind                                   kind,
    const InternalDataBase                             &internal,
    const ArrayView<Tensor<2, dim>>                    &output) const
  {
    transform_derivatives<dim>(input,
                               kind,
                               mapping_covariant,
                               static_cast<const InternalData &>(internal),
                               output);
  }



  template <int dim>
  void
  MappingBoundingBox<dim>::transform(
    const ArrayView<const Tensor<2, dim>> &input,
    const MappingKind                      kind,
    const InternalDataBase                &internal,
    const ArrayView<Tensor<2, dim>>       &output) const
  {
    transform_tensors<dim>(input,
                           kind,
                           {mapping_covariant_gradient,
                            mapping_contravariant_gradient,
                            mapping_piola_gradient},
                           static_cast<const InternalData &>(internal),
                           output);
  }



  template <int dim>
  void
  MappingBoundingBox<dim>::transform(
    const ArrayView<const DerivativeForm<2, dim, dim>> &input,
    const MappingKind                                   kind,
    const InternalDataBase                             &internal,
    const ArrayView<Tensor<3, dim>>                    &output) const
  {
    transform_derivatives<dim>(input,
                               kind,
                               mapping_covariant_gradient,
                               static_cast<const InternalData &>(internal),
                               output);
  }



  template <int dim>
  void
  MappingBoundingBox<dim>::transform(
    const ArrayView<const Tensor<3, dim>> &input,
    const MappingKind                      kind,
    const InternalDataBase                &internal,
    const ArrayView<Tensor<3, dim>>       &output) const
  {
    transform_tensors<dim>(input,
                           kind,
                           {mapping_covariant_hessian,
                            mapping_contravariant_hessian,
                            mapping_piola_hessian},
                           static_cast<const InternalData &>(internal),
                           output);
  }



  template <int dim>
  UpdateFlags
  MappingBoundingBox<dim>::requires_update_flags(
    const UpdateFlags update_flags) const
  {
    UpdateFlags result = update_flags;
    if (update_flags & update_boundary_forms)
      result |= update_normal_vectors;
    return result;
  }



  template <int dim>
  std::unique_ptr<typename Mapping<dim>::InternalDataBase>
  MappingBoundingBox<dim>::get_data(const UpdateFlags update_flags,
                                    const Quadrature<dim> &) const
  {
    auto data         = std::make_unique<InternalData>();
    data->update_each = requires_update_flags(update_flags);
    return data;
  }



  template <int dim>
  std::unique_ptr<typename Mapping<dim>::InternalDataBase>
  MappingBoundingBox<dim>::get_face_data(const UpdateFlags update_flags,
                                         const hp::QCollection<dim - 1> &) const
  {
    return get_data(update_flags, Quadrature<dim>());
  }



  template <int dim>
  std::unique_ptr<typename Mapping<dim>::InternalDataBase>
  MappingBoundingBox<dim>::get_subface_data(const UpdateFlags update_flags,
                                            const Quadrature<dim - 1> &) const
  {
    return get_data(update_flags, Quadrature<dim>());
  }



  template <int dim>
  void
  MappingBoundingBox<dim>::fill_constants(const double       *corners,
                                          const InternalData &data,
                                          MappingData        &output) const
  {
    data.volume = 1.;
    DerivativeForm<1, dim, dim> jacobian, inverse;
    for (unsigned int d = 0; d < dim; ++d)
      {
        data.extents[d] = corners[dim + d] - corners[d];
        data.volume *= data.extents[d];
        jacobian[d][d] = data.extents[d];
        inverse[d][d]  = 1. / data.extents[d];
      }
    // Arrays that were not requested are empty. All derivatives of the Jacobian
    // vanish.
    for (auto &j : output.jacobians)
      j = jacobian;
    for (auto &j : output.inverse_jacobians)
      j = inverse;
    for (auto &j : output.jacobian_grads)
      j = DerivativeForm<2, dim, dim>();
    for (auto &j : output.jacobian_pushed_forward_grads)
      j = Tensor<3, dim>();
    for (auto &j : output.jacobian_2nd_derivatives)
      j = DerivativeForm<3, dim, dim>();
    for (auto &j : output.jacobian_pushed_forward_2nd_derivatives)
      j = Tensor<4, dim>();
    for (auto &j : output.jacobian_3rd_derivatives)
      j = DerivativeForm<4, dim, dim>();
    for (auto &j : output.jacobian_pushed_forward_3rd_derivatives)
      j = Tensor<5, dim>();
  }



  template <int dim>
  CellSimilarity::Similarity
  MappingBoundingBox<dim>::fill_fe_values(const CellIterator &cell,
                                          const CellSimilarity::Similarity,
                                          const Quadrature<dim>  &quadrature,
                                          const InternalDataBase &internal_data,
                                          MappingData            &output) const
  {
    const InternalData &data = static_cast<const InternalData &>(internal_data);
    const double       *corners = box(cell);
    fill_constants(corners, data, output);
    for (unsigned int q = 0; q < output.quadrature_points.size(); ++q)
      for (unsigned int d = 0; d < dim; ++d)
        output.quadrature_points[q][d] =
          corners[d] + data.extents[d] * quadrature.point(q)[d];
    for (unsigned int q = 0; q < output.JxW_values.size(); ++q)
      output.JxW_values[q] = data.volume * quadrature.weight(q);
    // Similar cells may belong to polytopes with different boxes.
    return CellSimilarity::none;
  }



  template <int dim>
  void
  MappingBoundingBox<dim>::fill_fe_face_values(
    const CellIterator             &cell,
    const unsigned int              face_no,
    const hp::QCollection<dim - 1> &quadrature,
    const InternalDataBase         &internal_data,
    MappingData                    &output) const
  {
    AssertThrow(cell->reference_cell() ==
                    ReferenceCells::get_hypercube<dim>() &&
                  (dim < 3 || (cell->face_orientation(face_no) &&
                               !cell->face_flip(face_no) &&
                               !cell->face_rotation(face_no))),
                ExcMessage("The faces of a bounding box can be used only "
                           "through hypercubes whose face has the standard "
                           "orientation. To integrate over the faces of a "
                           "polytope use PolytopeInterfaceValues."));

    const InternalData &data = static_cast<const InternalData &>(internal_data);
    const double       *corners = box(cell);
    fill_constants(corners, data, output);

    const Quadrature<dim - 1> &rule =
      quadrature[quadrature.size() == 1 ? 0 : face_no];
    const unsigned int direction = face_no / 2;
    const double       area      = data.volume / data.extents[direction];
    Tensor<1, dim>     normal;
    normal[direction] = face_no % 2 == 0 ? -1. : 1.;

    // The coordinates of the face are the directions that follow the normal one
    // cyclically.
    for (unsigned int q = 0; q < output.quadrature_points.size(); ++q)
      {
        Point<dim> &x = output.quadrature_points[q];
        x[direction]  = corners[face_no % 2 == 0 ? direction : dim + direction];
        for (unsigned int e = 0; e + 1 < dim; ++e)
          {
            const unsigned int d = (direction + 1 + e) % dim;
            x[d] = corners[d] + data.extents[d] * rule.point(q)[e];
          }
      }
    for (unsigned int q = 0; q < output.JxW_values.size(); ++q)
      output.JxW_values[q] = area * rule.weight(q);
    for (auto &n : output.normal_vectors)
      n = normal;
    for (auto &n : output.boundary_forms)
      n = area * normal;
  }



  template <int dim>
  void
  MappingBoundingBox<dim>::fill_fe_subface_values(const CellIterator &,
                                                  const unsigned int,
                                                  const unsigned int,
                                                  const Quadrature<dim - 1> &,
                                                  const InternalDataBase &,
                                                  MappingData &) const
  {
    AssertThrow(false,
                ExcMessage("Bounding boxes have no sub-faces. To integrate "
                           "over the faces of a polytope use "
                           "PolytopeInterfaceValues."));
  }



  template <int dim>
  void
  MappingBoundingBox<dim>::fill_fe_immersed_surface_values(
    const typename Triangulation<dim>::cell_iterator  &cell,
    const NonMatching::ImmersedSurfaceQuadrature<dim> &quadrature,
    const InternalDataBase                            &internal_data,
    MappingData                                       &output) const
  {
    const InternalData &data = static_cast<const InternalData &>(internal_data);
    const double       *corners = box(cell);
    fill_constants(corners, data, output);
    for (unsigned int q = 0; q < quadrature.size(); ++q)
      {
        // A surface element n dS is transformed by det(J) J^{-T}.
        Tensor<1, dim> form = quadrature.normal_vector(q);
        for (unsigned int d = 0; d < dim; ++d)
          form[d] *= data.volume / data.extents[d];
        const double norm = form.norm();
        if (output.quadrature_points.size() > 0)
          for (unsigned int d = 0; d < dim; ++d)
            output.quadrature_points[q][d] =
              corners[d] + data.extents[d] * quadrature.point(q)[d];
        if (output.JxW_values.size() > 0)
          output.JxW_values[q] = norm * quadrature.weight(q);
        if (output.normal_vectors.size() > 0)
          output.normal_vectors[q] = form / norm;
      }
  }



  template class MappingBoundingBox<2>;
  template class MappingBoundingBox<3>;
} // namespace Tessella
