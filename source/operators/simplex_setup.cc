// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "simplex_setup.h"

#include <tessella/portable/legendre.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "affine_simplex.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      /// A simplex whose vertices have an order that all neighbours agree on.
      template <int dim>
      struct SortedSimplex : public AffineSimplex<dim>
      {
        using AffineSimplex<dim>::vertices;

        explicit SortedSimplex(const double *const points)
          : AffineSimplex<dim>(points)
        {
          // Vertices are sorted in a direction that is not parallel to faces of
          // usual meshes, so that a periodic shift does not change the order.
          const auto position = [](const std::array<double, dim> &x) {
            constexpr double direction[3] = {0.8305, 0.4716281, 0.29663717};
            double           sum          = 0;
            for (unsigned int d = 0; d < dim; ++d)
              sum += direction[d] * x[d];
            return sum;
          };
          std::sort(vertices.begin(),
                    vertices.end(),
                    [&](const auto &x, const auto &y) {
                      return position(x) < position(y);
                    });
          this->set_gradients();
        }
      };

      /// Components in the frame of a face of a vector: its products with the
      /// gradients of the frame's coordinates.
      template <int dim>
      void
      to_frame(const SortedSimplex<dim> &simplex,
               const unsigned int        face,
               const double *const       vector,
               const double              factor,
               double *const             components)
      {
        for (unsigned int a = 1; a <= dim; ++a)
          {
            const unsigned int v   = a == dim ? face : a + (a >= face);
            double             sum = 0;
            for (unsigned int d = 0; d < dim; ++d)
              sum += vector[d] * simplex.gradients[v][d];
            components[a - 1] = factor * sum;
          }
      }

      /// Set-up of SimplexData, polytope by polytope.
      template <int dim>
      class SimplexSetup
      {
      public:
        SimplexSetup(const PolytopicMesh<dim>  &mesh,
                     const Form<dim>           &form,
                     const std::vector<double> &sigma,
                     SimplexData               &data)
          : mesh(mesh)
          , form(form)
          , sigma(sigma)
          , data(data)
          , volume(form.volume_structure())
          , facets(form.facet_structure())
        {}

        /// Fills the arrays; returns why not, or an empty text.
        std::string
        run()
        {
          form.has_penalty_facets(data.theta);
          data.corners.resize(SimplexData::n_corner_values(dim) *
                              std::size_t(data.n_simplices));
          data.coefficients.assign(SimplexData::n_coefficients(dim) *
                                     std::size_t(data.n_rows),
                                   0.);
          data.neighbor.assign((dim + 1) * std::size_t(data.n_rows),
                               SimplexData::no_neighbor);
          for (unsigned int k = 0; k < data.n_simplices; ++k)
            set_corners(k);
          std::string why;
          for (unsigned int k = 0; k < data.n_rows && why.empty(); ++k)
            {
              why = set_volume(k);
              for (unsigned int e = mesh.polytope_interface_offset[k];
                   e < mesh.polytope_interface_offset[k + 1] && why.empty();
                   ++e)
                {
                  const unsigned int i = mesh.polytope_interface[e];
                  for (unsigned int f = mesh.facet_offset[i / 2];
                       f < mesh.facet_offset[i / 2 + 1] && why.empty();
                       ++f)
                    why = set_face(k, i, f);
                }
            }
          return why;
        }

      private:
        const PolytopicMesh<dim>  &mesh;
        const Form<dim>           &form;
        const std::vector<double> &sigma;
        SimplexData               &data;
        const VolumeStructure      volume;
        const FacetStructure       facets;


        const std::string varies =
          "the coefficients of the form are not constant on each polytope";

        SortedSimplex<dim>
        simplex(const unsigned int k) const
        {
          return SortedSimplex<dim>(
            &mesh.subcell_vertices
               [dim * std::size_t(
                        mesh.subcell_vertex_offset[mesh.subcell_offset[k]])]);
        }

        void
        set_corners(const unsigned int k)
        {
          simplex(k).set_corners(&mesh.box[2 * dim * std::size_t(k)],
                                 data.n_simplices,
                                 data.corners.data() + k);
        }

        // Entries with the same bits at all n points.
        static bool
        is_constant(const double *const values, const unsigned int n)
        {
          return std::all_of(values, values + n, [&](const double value) {
            return value == values[0];
          });
        }

        std::string
        set_volume(const unsigned int k)
        {
          constexpr unsigned int                            n    = dim + 1;
          const SortedSimplex<dim>                          cell = simplex(k);
          std::array<double, dim * n>                       x;
          std::array<unsigned int, n>                       subcell, material;
          std::array<double, (dim * dim + 2 * dim + 2) * n> memory;
          memory.fill(0.);
          PointBatch<dim>   points;
          VolumeBlocks<dim> blocks;
          points.n_points = n;
          subcell.fill(mesh.subcell_offset[k]);
          material.fill(mesh.subcell_material[mesh.subcell_offset[k]]);
          points.subcell  = subcell.data();
          points.material = material.data();
          for (unsigned int d = 0; d < dim; ++d)
            {
              points.x[d] = &x[d * n];
              for (unsigned int v = 0; v < n; ++v)
                x[d * n + v] = cell.vertices[v][d];
            }
          double *const a = memory.data(), *const b = a + dim * dim * n,
                        *const c = b + dim * n;
          const bool tensor      = volume.diffusion == DiffusionType::tensor;
          for (unsigned int d = 0; d < dim * dim; ++d)
            blocks.a[d] =
              tensor || (d == 0 && volume.diffusion != DiffusionType::none)
                ? a + d * n
                : nullptr;
          for (unsigned int d = 0; d < dim; ++d)
            {
              blocks.beta[d] = nullptr;
              blocks.b[d]    = volume.b ? b + d * n : nullptr;
            }
          blocks.c = volume.c ? c : nullptr;
          blocks.f = nullptr;
          form.evaluate_volume(points, blocks);
          for (unsigned int i = 0; i <= dim * dim + dim; ++i)
            if (!is_constant(a + i * n, n))
              return varies;
          double A[dim][dim];
          for (unsigned int i = 0; i < dim; ++i)
            for (unsigned int j = 0; j < dim; ++j)
              {
                A[i][j] = tensor ? a[(i * dim + j) * n] : i == j ? a[0] : 0.;
                if (tensor && a[(i * dim + j) * n] != a[(j * dim + i) * n])
                  return "the diffusion tensor is not symmetric";
              }
          double *row =
            &data
               .coefficients[SimplexData::n_coefficients(dim) * std::size_t(k)];
          for (unsigned int i = 1; i <= dim; ++i)
            for (unsigned int j = i; j <= dim; ++j, ++row)
              for (unsigned int d = 0; d < dim; ++d)
                for (unsigned int e = 0; e < dim; ++e)
                  *row += mesh.measure[k] * cell.gradients[i][d] * A[d][e] *
                          cell.gradients[j][e];
          *row++ = mesh.measure[k] * c[0];
          for (unsigned int i = 1; i <= dim; ++i, ++row)
            for (unsigned int d = 0; d < dim; ++d)
              *row += mesh.measure[k] * cell.gradients[i][d] * b[d * n];
          return "";
        }

        std::string
        set_face(const unsigned int k,
                 const unsigned int interface_and_side,
                 const unsigned int f)
        {
          const unsigned int i        = interface_and_side / 2,
                             side     = interface_and_side % 2,
                             neighbor = mesh.neighbor(interface_and_side);
          const bool at_boundary      = neighbor == invalid_index;
          if (mesh.facet_type[f] != FacetType::simplex)
            return "there are curved facets";
          const double *const points =
            &mesh
               .facet_vertices[dim * std::size_t(mesh.facet_vertex_offset[f])];
          const std::array<double, dim> zero{};
          const double *const           periodic =
            &mesh.shift[dim * mesh.interface_shift[i]];
          const double *const shift[2] = {zero.data(), periodic};

          const SortedSimplex<dim>      cell = simplex(k);
          std::array<unsigned int, dim> order, other;
          const unsigned int            face =
            find_face<dim>(cell, points, shift[side], order);
          if (face == no_face)
            return "there are hanging nodes";
          double b[2][dim], c;
          if (!evaluate(k, interface_and_side, f, b, c))
            return varies;
          constexpr unsigned int size = 2 * dim + 1;
          double *const          row =
            &data
               .coefficients[SimplexData::n_coefficients(dim) * std::size_t(k) +
                             SimplexData::face_index(dim) + face * size];
          const double measure = mesh.facet_measure[f];
          to_frame(cell, face, b[0], measure, row);
          row[2 * dim] = measure * c;
          if (at_boundary || !facets.facets)
            return "";
          const SortedSimplex<dim> next = simplex(neighbor);
          const unsigned int       neighbor_face =
            find_face<dim>(next, points, shift[1 - side], other);
          if (neighbor_face == no_face)
            return "there are hanging nodes";
          if (order != other)
            return "a periodic shift changes the order of vertices";
          to_frame(next, neighbor_face, b[1], measure, row + dim);
          data.neighbor[k * std::size_t(dim + 1) + face] =
            4 * neighbor + neighbor_face;
          return "";
        }

        // Coefficients of the terms of a facet; false if they are not constant
        // or not those of an interior penalty form.
        bool
        evaluate(const unsigned int k,
                 const unsigned int interface_and_side,
                 const unsigned int f,
                 double (&b)[2][dim],
                 double &c) const
        {
          constexpr unsigned int n    = dim;
          const unsigned int     i    = interface_and_side / 2,
                             side     = interface_and_side % 2,
                             neighbor = mesh.neighbor(interface_and_side);
          std::array<double, dim * n> x, y, normal;
          std::array<double, n>       penalty;
          std::array<unsigned int, n> subcell[2], material[2];
          std::array<double, (4 * dim + 2 + 1 + dim) * n> memory;
          memory.fill(0.);
          FacetPointBatch<dim> points;
          FacetBlocks<dim>     blocks;
          points.n_points = n;
          const std::size_t first =
            dim * std::size_t(mesh.facet_vertex_offset[f]);
          const double *const shift =
            &mesh.shift[dim * mesh.interface_shift[i]];
          for (unsigned int d = 0; d < dim; ++d)
            {
              for (unsigned int v = 0; v < n; ++v)
                {
                  const double at = mesh.facet_vertices[first + v * dim + d];
                  x[d * n + v]    = side == 0 ? at : at + shift[d];
                  y[d * n + v]    = side == 1 ? at : at + shift[d];
                  normal[d * n + v] =
                    (side == 0 ? 1. : -1.) *
                    mesh.facet_normal[f * std::size_t(dim) + d];
                }
              points.x[d]          = &x[d * n];
              points.neighbor_x[d] = &y[d * n];
              points.normal[d]     = &normal[d * n];
            }
          penalty.fill(sigma.empty() ? 0. : sigma[f]);
          points.sigma                = penalty.data();
          const unsigned int cells[2] = {k, neighbor};
          for (unsigned int s = 0; s < 2; ++s)
            if (cells[s] != invalid_index)
              {
                subcell[s].fill(mesh.subcell_offset[cells[s]]);
                material[s].fill(
                  mesh.subcell_material[mesh.subcell_offset[cells[s]]]);
              }
          points.subcell           = subcell[0].data();
          points.material          = material[0].data();
          const bool at_boundary   = neighbor == invalid_index;
          points.neighbor_subcell  = at_boundary ? nullptr : subcell[1].data();
          points.neighbor_material = at_boundary ? nullptr : material[1].data();
          points.boundary_id       = mesh.interface_boundary_id[i];

          double    *entry = memory.data();
          const auto next  = [&](const bool wanted) -> double  *{
            double *const array = entry;
            entry += n;
            return wanted ? array : nullptr;
          };
          for (unsigned int s = 0; s < 2; ++s)
            {
              const bool wanted = s == 0 || !at_boundary;
              for (unsigned int d = 0; d < dim; ++d)
                {
                  blocks.b[s][d]    = next(wanted && facets.b);
                  blocks.beta[s][d] = next(wanted && facets.beta);
                }
              blocks.c[s] = next(wanted);
            }
          blocks.r = nullptr;
          for (unsigned int d = 0; d < dim; ++d)
            blocks.s[d] = nullptr;
          c = 0;
          for (unsigned int d = 0; d < dim; ++d)
            b[0][d] = b[1][d] = 0;
          if (!facets.facets)
            return true;
          if (at_boundary)
            form.evaluate_boundary_facets(points, blocks);
          else
            form.evaluate_interior_facets(points, blocks);
          for (const double *array = memory.data(); array < entry; array += n)
            if (!is_constant(array, n))
              return false;
          c = blocks.c[0][0];
          for (unsigned int s = 0; s < (at_boundary ? 1u : 2u); ++s)
            for (unsigned int d = 0; d < dim; ++d)
              b[s][d] = facets.b ? blocks.b[s][d][0] : 0.;
          return true;
        }
      };
    } // namespace



    template <int dim>
    std::string
    set_up_simplex_data(const PolytopicMesh<dim>  &mesh,
                        const PolytopicDoFs       &dofs,
                        const Form<dim>           &form,
                        const std::vector<double> &sigma,
                        SimplexData               &data)
    {
      data             = SimplexData();
      data.dim         = dim;
      data.n_rows      = mesh.n_owned_polytopes();
      data.n_simplices = mesh.n_polytopes();
      if (data.n_simplices >= (1u << 30))
        return "there are more than 2^30 polytopes";
      if (dofs.n_components != 1)
        return "the space has several components";
      if (mesh.prismatic || mesh.n_subcells() != data.n_simplices ||
          std::any_of(mesh.subcell_type.begin(),
                      mesh.subcell_type.end(),
                      [](const SubCellType type) {
                        return type != SubCellType::simplex;
                      }))
        return "not every polytope is one affine simplex";
      data.degree          = data.n_simplices == 0 ? 0 : dofs.degree[0];
      const unsigned int n = Legendre::n_functions(dim, data.degree, false);
      for (unsigned int k = 0; k < data.n_simplices; ++k)
        if (dofs.degree[k] != data.degree || dofs.n_basis[k] != n)
          return "the polytopes have different degrees, or spaces that are not "
                 "of total degree";
      if (data.degree == 0)
        return "the polynomial degree is 0";
      const VolumeStructure volume = form.volume_structure();
      double                theta  = 1.;
      if (volume.beta ||
          (form.facet_structure().facets && !form.has_penalty_facets(theta)))
        return "the form has other terms than those of interior penalty and "
               "upwind advection";
      if (form.coefficient_order() > 0)
        return "the coefficients of the form are not constant on each polytope";
      data.reaction  = volume.c;
      data.advection = volume.b;
      return SimplexSetup<dim>(mesh, form, sigma, data).run();
    }



    template std::string
    set_up_simplex_data(const PolytopicMesh<2> &,
                        const PolytopicDoFs &,
                        const Form<2> &,
                        const std::vector<double> &,
                        SimplexData &);
    template std::string
    set_up_simplex_data(const PolytopicMesh<3> &,
                        const PolytopicDoFs &,
                        const Form<3> &,
                        const std::vector<double> &,
                        SimplexData &);
  } // namespace internal
} // namespace Tessella
