// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "cell_shapes.h"

#include <deal.II/grid/reference_cell.h>

#include <tessella/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    CellShape<dim>::CellShape(const Compatibility::ReferenceCell<dim> &type)
      : type(type)
      , n_vertices(type.n_vertices())
      , n_faces(type.n_faces())
      , is_simplex(type.is_simplex())
      , n_corners(is_simplex ? dim + 1 : 1u << dim)
    {
      if (is_simplex)
        corner = {{0, 1, 2, 3}};
      else if (n_vertices == 5) // pyramid
        corner = {{0, 1, 2, 3, 4, 4, 4, 4}};
      else if (n_vertices == 6) // wedge
        corner = {{0, 1, 2, 2, 3, 4, 5, 5}};
      else
        corner = {{0, 1, 2, 3, 4, 5, 6, 7}};

      dealii::Point<dim> centre;
      for (unsigned int v = 0; v < n_vertices; ++v)
        centre += Compatibility::vertex<dim>(type, v);
      centre /= n_vertices;

      for (unsigned int f = 0; f < n_faces; ++f)
        {
          n_face_vertices[f] = type.face_reference_cell(f).n_vertices();
          for (unsigned int v = 0; v < n_face_vertices[f]; ++v)
            face[f][v] = Compatibility::face_to_cell_vertex<dim>(type, f, v);
          order_face(f, centre);
        }
    }



    template <int dim>
    void
    CellShape<dim>::order_face(const unsigned int        f,
                               const dealii::Point<dim> &centre)
    {
      std::array<dealii::Point<dim>, 4> p = face_vertices(f);
      if (n_face_vertices[f] == 4)
        {
          // In lexicographic order, vertex 3 lies opposite to vertex 0.
          unsigned int opposite = 3;
          for (unsigned int v = 1; v < 4; ++v)
            {
              const dealii::Point<dim> a = p[v == 1 ? 2 : 1],
                                       b = p[v == 3 ? 2 : 3];
              if ((p[0] + p[v] - a - b).norm() < 1e-10)
                opposite = v;
            }
          std::swap(face[f][3], face[f][opposite]);
          std::swap(p[3], p[opposite]);
        }
      // The order of the vertices has to yield the outward normal.
      if (normal_of_face(p) * (p[0] - centre) < 0.)
        std::swap(face[f][dim - 2], face[f][dim - 1]);
    }



    template <int dim>
    CellShapes<dim>::CellShapes()
    {
      namespace RC = dealii::ReferenceCells;
      std::vector<Compatibility::ReferenceCell<dim>> types;
      if constexpr (dim == 2)
        types = {RC::Triangle, RC::Quadrilateral};
      else
        types = {RC::Tetrahedron, RC::Pyramid, RC::Wedge, RC::Hexahedron};
      for (const auto &type : types)
        shapes.emplace_back(type);
    }



    template <int dim>
    const CellShapes<dim> &
    CellShapes<dim>::get()
    {
      static const CellShapes<dim> shapes;
      return shapes;
    }



    template <int dim>
    const CellShape<dim> &
    CellShapes<dim>::operator()(
      const Compatibility::ReferenceCell<dim> &type) const
    {
      for (const CellShape<dim> &shape : shapes)
        if (shape.type == type)
          return shape;
      AssertThrow(false,
                  ExcUserInput("The mesh has cells of the type " +
                               type.to_string() +
                               ", which polytopes cannot be made of."));
      return shapes[0];
    }



    namespace
    {
      // Jacobian determinant of the multilinear map at a point of the unit
      // cube.
      template <int dim>
      double
      multilinear_determinant(const double *v, const double *xi)
      {
        double x[dim], J[dim][dim];
        Geometry::multilinear_map<dim, dim>(v, xi, x, J);
        return Geometry::determinant(J);
      }

      // Whether the corners v of a hypercube lie where the edges e from its
      // first corner would place those of a parallelepiped.
      template <int dim>
      bool
      is_parallelepiped(const double *v,
                        const double (&e)[dim][dim],
                        const double tolerance)
      {
        for (unsigned int c = 3; c < (1u << dim); ++c)
          {
            if (c == 4)
              continue;
            for (int i = 0; i < dim; ++i)
              {
                double x = v[i];
                for (int d = 0; d < dim; ++d)
                  if ((c >> d) & 1u)
                    x += e[d][i];
                if (!(std::abs(x - v[c * dim + i]) <= tolerance))
                  return false;
              }
          }
        return true;
      }

      // Analyses a hypercube whose edges from the first corner have the product
      // of lengths scale.
      template <int dim>
      SubCellGeometry
      analyse_multilinear(const double *v, const double scale)
      {
        // The Jacobian determinant must not be negative at a corner. In 2-D,
        // where it is linear, this test is exact; in 3-D it is the test of
        // deal.II.
        bool valid = true;
        for (unsigned int c = 0; c < (1u << dim); ++c)
          {
            double xi[dim];
            for (int d = 0; d < dim; ++d)
              xi[d] = (c >> d) & 1u;
            if (!(multilinear_determinant<dim>(v, xi) >= -1e-12 * scale))
              valid = false;
          }
        // Gauss rule with two points per direction: the Jacobian determinant is
        // at most quadratic in each variable.
        const double root    = std::sqrt(1. / 12.);
        double       measure = 0.;
        for (unsigned int c = 0; c < (1u << dim); ++c)
          {
            double xi[dim];
            for (int d = 0; d < dim; ++d)
              xi[d] = .5 + ((c >> d) & 1u ? root : -root);
            measure += multilinear_determinant<dim>(v, xi);
          }
        measure /= (1u << dim);
        return {SubCellType::hypercube,
                measure,
                valid && measure > 1e-14 * scale};
      }

      // Area of the bilinear surface with vertices v.
      double
      bilinear_area(const double *v)
      {
        // Gauss rule with six points per direction.
        static const double x[3]    = {0.23861918608319690863,
                                       0.66120938646626451366,
                                       0.93246951420315202781};
        static const double w[3]    = {0.46791393457269104739,
                                       0.36076157304813860757,
                                       0.17132449237917034504};
        double              measure = 0.;
        for (unsigned int p = 0; p < 6; ++p)
          for (unsigned int q = 0; q < 6; ++q)
            {
              const double s = .5 * (1. + (p < 3 ? x[p] : -x[p - 3])),
                           t = .5 * (1. + (q < 3 ? x[q] : -x[q - 3]));
              double ds[3], dt[3], m[3];
              for (int i = 0; i < 3; ++i)
                {
                  ds[i] =
                    (1. - t) * (v[3 + i] - v[i]) + t * (v[9 + i] - v[6 + i]);
                  dt[i] =
                    (1. - s) * (v[6 + i] - v[i]) + s * (v[9 + i] - v[3 + i]);
                }
              Geometry::cross_product(ds, dt, m);
              measure += .25 * w[p % 3] * w[q % 3] *
                         std::sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
            }
        return measure;
      }
    } // namespace



    template <int dim>
    SubCellGeometry
    analyse_subcell(const bool is_simplex, double *v)
    {
      double e[dim][dim];
      // Lengths are compared with the edges of the same cell, so that thin
      // cells of boundary layers are classified correctly.
      double shortest = std::numeric_limits<double>::max(), largest = 0.,
             scale = 1.;
      for (int d = 0; d < dim; ++d)
        {
          const double *end    = v + dim * (is_simplex ? d + 1 : (1 << d));
          double        square = 0.;
          for (int i = 0; i < dim; ++i)
            {
              e[d][i] = end[i] - v[i];
              square += e[d][i] * e[d][i];
              largest = std::max({largest, std::abs(v[i]), std::abs(end[i])});
            }
          const double length = std::sqrt(square);
          shortest            = std::min(shortest, length);
          scale *= length;
        }
      const double det = Geometry::determinant(e);

      if (is_simplex)
        {
          if (det < 0.)
            for (int i = 0; i < dim; ++i)
              std::swap(v[dim * (dim - 1) + i], v[dim * dim + i]);
          const double measure = std::abs(det) / (dim == 2 ? 2. : 6.);
          return {SubCellType::simplex, measure, measure > 1e-14 * scale};
        }

      // The cell is a parallelepiped if it is one up to rounding of the
      // coordinates.
      const double tolerance =
        1e-12 * shortest +
        8. * std::numeric_limits<double>::epsilon() * largest;
      if (is_parallelepiped<dim>(v, e, tolerance))
        return {SubCellType::parallelepiped, det, det > 1e-14 * scale};
      return analyse_multilinear<dim>(v, scale);
    }



    template <int dim>
    void
    facet_geometry(const unsigned int n_vertices,
                   const double      *v,
                   double            *normal,
                   double            &measure)
    {
      if constexpr (dim == 2)
        {
          (void)n_vertices;
          const double t[2]  = {v[2] - v[0], v[3] - v[1]};
          measure            = std::sqrt(t[0] * t[0] + t[1] * t[1]);
          const double scale = measure > 0. ? 1. / measure : 0.;
          normal[0]          = t[1] * scale;
          normal[1]          = -t[0] * scale;
        }
      else
        {
          double a[3], b[3], n[3];
          for (int i = 0; i < 3; ++i)
            if (n_vertices == 3)
              {
                a[i] = v[3 + i] - v[i];
                b[i] = v[6 + i] - v[i];
              }
            else
              {
                // Half the cross product of the diagonals is the integral of
                // the unit normal.
                a[i] = v[9 + i] - v[i];
                b[i] = v[6 + i] - v[3 + i];
              }
          Geometry::cross_product(a, b, n);
          const double length =
            std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
          measure            = .5 * length;
          const double scale = length > 0. ? 1. / length : 0.;
          for (int i = 0; i < 3; ++i)
            normal[i] = n[i] * scale;
          if (n_vertices == 3)
            return;

          // The facet is not planar: its area is the integral of the length of
          // the normal.
          double height = 0., size = 0.;
          for (int i = 0; i < 3; ++i)
            {
              height += (v[3 + i] - v[i]) * normal[i];
              size += a[i] * a[i] + b[i] * b[i];
            }
          if (std::abs(height) <= 1e-12 * std::sqrt(size))
            return;
          measure = bilinear_area(v);
        }
    }

#define INSTANTIATE(dim)                                               \
  template struct CellShape<dim>;                                      \
  template class CellShapes<dim>;                                      \
  template SubCellGeometry analyse_subcell<dim>(const bool, double *); \
  template void            facet_geometry<dim>(const unsigned int,     \
                                    const double *,         \
                                    double *,               \
                                    double &)

    INSTANTIATE(2);
    INSTANTIATE(3);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
