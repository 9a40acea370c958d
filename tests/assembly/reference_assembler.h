// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_reference_assembler_h
#define tessella_tests_reference_assembler_h

// Slow assembler of (2.3)-(2.5) of Dong, Georgoulis and Kappas (2021) that
// shares no code with the library. It loops over deal.II's cells and faces with
// its own quadrature and basis, one entry at a time. It uses only three results
// of the library: the polytope of every cell, the degrees, and the penalty of
// every facet, which it finds by the position of the facet.

#include <deal.II/base/function_lib.h>
#include <deal.II/base/polynomial.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/base/tensor.h>

#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/fe_pyramid_p.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/fe_wedge_p.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>
#include <deal.II/hp/q_collection.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>

#include <tessella/base/compatibility.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace Reference
{
  using namespace dealii;

  enum class Boundary
  {
    dirichlet,
    neumann,
    robin
  };

  template <int dim>
  struct BoundaryData
  {
    Boundary                                  type = Boundary::dirichlet;
    std::function<double(const Point<dim> &)> g, alpha;
  };

  /// Coefficients; empty functions are zero.
  template <int dim>
  struct Problem
  {
    std::function<Tensor<2, dim>(const Point<dim> &)> a;
    std::function<Tensor<1, dim>(const Point<dim> &)> b;
    std::function<double(const Point<dim> &)>         c, f;
    std::map<types::boundary_id, BoundaryData<dim>>   boundary;
    BoundaryData<dim>                                 default_boundary;
    double                                            theta = 1.;
    /// false: mass matrix without facet terms
    bool facets = true;
    /// A pair of components of a system: the flux of the test function has the
    /// transposed tensor, the boundary counts as elliptic, and the penalty is
    /// multiplied by a factor.
    bool   pair           = false;
    double penalty_factor = 1.;
  };

  /// Polytopes and their polynomial spaces.
  template <int dim>
  struct Space
  {
    const Triangulation<dim> *triangulation = nullptr;
    const Mapping<dim>       *mapping       = nullptr; // null: linear
    std::vector<unsigned int> polytope_of_cell;
    std::vector<unsigned int> degree; // per polytope
    bool                      tensor_product = false;
    // Boxes are computed from the vertices of the cells unless given, as for
    // curved cells.
    std::vector<std::pair<Point<dim>, Point<dim>>> box;

    // Filled by setup().
    std::vector<std::vector<std::array<unsigned int, dim>>> exponents;
    std::vector<unsigned int>                               offset;

    void
    setup()
    {
      const unsigned int n = degree.size();
      if (box.empty())
        {
          box.resize(n);
          std::vector<bool> touched(n, false);
          for (const auto &cell : triangulation->active_cell_iterators())
            {
              const unsigned int k =
                polytope_of_cell[cell->active_cell_index()];
              for (const unsigned int v : cell->vertex_indices())
                {
                  if (!touched[k])
                    box[k] = {cell->vertex(v), cell->vertex(v)};
                  touched[k] = true;
                  for (unsigned int d = 0; d < dim; ++d)
                    {
                      box[k].first[d] =
                        std::min(box[k].first[d], cell->vertex(v)[d]);
                      box[k].second[d] =
                        std::max(box[k].second[d], cell->vertex(v)[d]);
                    }
                }
            }
        }
      exponents.assign(n, {});
      offset.assign(1, 0);
      for (unsigned int k = 0; k < n; ++k)
        {
          const unsigned int            p = degree[k];
          std::array<unsigned int, dim> e;
          e.fill(0);
          // all of {0..p}^dim, then sorted as documented
          unsigned int n_all = 1;
          for (unsigned int d = 0; d < dim; ++d)
            n_all *= p + 1;
          for (unsigned int i = 0; i < n_all; ++i)
            {
              unsigned int rest = i;
              for (unsigned int d = 0; d < dim; ++d)
                {
                  e[d] = rest % (p + 1);
                  rest /= p + 1;
                }
              if (tensor_product || sum(e) <= p)
                exponents[k].push_back(e);
            }
          std::sort(exponents[k].begin(),
                    exponents[k].end(),
                    [this](const auto &x, const auto &y) {
                      const unsigned int gx =
                        tensor_product ? *std::max_element(x.begin(), x.end())
                                       : sum(x);
                      const unsigned int gy =
                        tensor_product ? *std::max_element(y.begin(), y.end())
                                       : sum(y);
                      return gx != gy ? gx < gy : x > y;
                    });
          offset.push_back(offset.back() + exponents[k].size());
        }
    }

    static unsigned int
    sum(const std::array<unsigned int, dim> &e)
    {
      unsigned int s = 0;
      for (const unsigned int x : e)
        s += x;
      return s;
    }

    unsigned int
    n_functions(const unsigned int k) const
    {
      return exponents[k].size();
    }

    // Computes values and gradients of all functions of polytope k at x.
    void
    evaluate(const unsigned int           k,
             const Point<dim>            &x,
             std::vector<double>         &values,
             std::vector<Tensor<1, dim>> &gradients) const
    {
      static const std::vector<Polynomials::Polynomial<double>> legendre =
        Polynomials::Legendre::generate_complete_basis(10);
      const unsigned int n = n_functions(k);
      values.resize(n);
      gradients.resize(n);
      std::array<std::vector<std::array<double, 2>>, dim> table;
      for (unsigned int d = 0; d < dim; ++d)
        {
          const double h = box[k].second[d] - box[k].first[d];
          table[d].resize(degree[k] + 1);
          for (unsigned int m = 0; m <= degree[k]; ++m)
            {
              std::vector<double> result(2);
              legendre[m].value((x[d] - box[k].first[d]) / h, result);
              table[d][m] = {
                {result[0] / std::sqrt(h), result[1] / std::sqrt(h) / h}};
            }
        }
      for (unsigned int i = 0; i < n; ++i)
        {
          values[i] = 1;
          for (unsigned int d = 0; d < dim; ++d)
            {
              values[i] *= table[d][exponents[k][i][d]][0];
              gradients[i][d] = 1;
              for (unsigned int e = 0; e < dim; ++e)
                gradients[i][d] *= table[e][exponents[k][i][e]][d == e ? 1 : 0];
            }
        }
    }
  };

  /// Gauss rule on the unit simplex of dimension @p dim through the collapsed
  /// hypercube, with @p n points in each direction.
  template <int dim>
  Quadrature<dim>
  simplex_quadrature(const unsigned int n)
  {
    const QGauss<dim>       gauss(n);
    std::vector<Point<dim>> points;
    std::vector<double>     weights;
    for (unsigned int q = 0; q < gauss.size(); ++q)
      {
        Point<dim> x;
        double     rest = 1, weight = gauss.weight(q);
        for (unsigned int d = 0; d < dim; ++d)
          {
            x[d] = gauss.point(q)[d] * rest;
            // The later directions are scaled by the remaining length.
            weight *=
              std::pow(1 - gauss.point(q)[d], static_cast<int>(dim - 1 - d));
            rest *= 1 - gauss.point(q)[d];
          }
        points.push_back(x);
        weights.push_back(weight);
      }
    return Quadrature<dim>(points, weights);
  }

  /// Quadrature for any reference cell.
  template <int dim>
  Quadrature<dim>
  cell_quadrature(const Tessella::Compatibility::ReferenceCell<dim> &cell,
                  const unsigned int                                 n)
  {
    if (cell.is_hyper_cube())
      return QGauss<dim>(n);
    if (cell.is_simplex())
      return simplex_quadrature<dim>(n + dim - 1);
    if constexpr (dim == 3)
      {
        std::vector<Point<3>> points;
        std::vector<double>   weights;
        if (cell == ReferenceCells::Wedge)
          {
            const Quadrature<2> triangle = simplex_quadrature<2>(n + 1);
            const QGauss<1>     line(n);
            for (unsigned int i = 0; i < triangle.size(); ++i)
              for (unsigned int j = 0; j < line.size(); ++j)
                {
                  points.emplace_back(triangle.point(i)[0],
                                      triangle.point(i)[1],
                                      line.point(j)[0]);
                  weights.push_back(triangle.weight(i) * line.weight(j));
                }
            return Quadrature<3>(points, weights);
          }
        if (cell == ReferenceCells::Pyramid)
          {
            // base [-1,1]^2, apex (0,0,1)
            const QGauss<3> gauss(n + 2);
            for (unsigned int i = 0; i < gauss.size(); ++i)
              {
                const double z = gauss.point(i)[2];
                points.emplace_back((2 * gauss.point(i)[0] - 1) * (1 - z),
                                    (2 * gauss.point(i)[1] - 1) * (1 - z),
                                    z);
                weights.push_back(gauss.weight(i) * 4 * (1 - z) * (1 - z));
              }
            return Quadrature<3>(points, weights);
          }
      }
    throw std::runtime_error("unknown cell");
  }

  template <int dim>
  std::unique_ptr<FiniteElement<dim>>
  geometry_element(const Tessella::Compatibility::ReferenceCell<dim> &cell)
  {
    if (cell.is_hyper_cube())
      return std::make_unique<FE_DGQ<dim>>(1);
    if (cell.is_simplex())
      return std::make_unique<FE_SimplexDGP<dim>>(1);
    if constexpr (dim == 3)
      {
        if (cell == ReferenceCells::Wedge)
          return std::make_unique<FE_WedgeDGP<3>>(1);
        if (cell == ReferenceCells::Pyramid)
          return std::make_unique<FE_PyramidDGP<3>>(1);
      }
    throw std::runtime_error("unknown cell");
  }

  /// FEValues and FEFaceValues for cells of one type.
  template <int dim>
  struct CellGeometry
  {
    std::unique_ptr<FiniteElement<dim>> fe;
    std::unique_ptr<FEValues<dim>>      cell;
    std::unique_ptr<FEFaceValues<dim>>  face;

    CellGeometry(const Tessella::Compatibility::ReferenceCell<dim> &type,
                 const Mapping<dim>                                *mapping,
                 const unsigned int                                 n)
      : fe(geometry_element<dim>(type))
    {
      const Mapping<dim> &m =
        mapping != nullptr ? *mapping
                           : type.template get_default_linear_mapping<dim>();
      hp::QCollection<dim - 1> faces;
      // Mappings of hypercubes need one rule for all faces.
      for (unsigned int f = 0; f < (type.is_hyper_cube() ? 1 : type.n_faces());
           ++f)
        faces.push_back(
          cell_quadrature<dim - 1>(type.face_reference_cell(f), n));
      cell = std::make_unique<FEValues<dim>>(m,
                                             *fe,
                                             cell_quadrature<dim>(type, n),
                                             update_quadrature_points |
                                               update_JxW_values);
      face = std::make_unique<FEFaceValues<dim>>(m,
                                                 *fe,
                                                 faces,
                                                 update_quadrature_points |
                                                   update_JxW_values |
                                                   update_normal_vectors);
    }
  };

  /// Matrix and right-hand side in dense blocks, with the penalties used.
  template <int dim>
  struct System
  {
    std::map<std::pair<unsigned int, unsigned int>, FullMatrix<double>> block;
    Vector<double>                                                      rhs;

    // Largest entry of each block row.
    std::vector<double>
    row_scale(const unsigned int n) const
    {
      std::vector<double> scale(n, 0.);
      for (const auto &b : block)
        scale[b.first.first] = std::max(scale[b.first.first], [&]() {
          double largest = 0;
          for (unsigned int i = 0; i < b.second.m(); ++i)
            for (unsigned int j = 0; j < b.second.n(); ++j)
              largest = std::max(largest, std::abs(b.second(i, j)));
          return largest;
        }());
      return scale;
    }
  };

  /// Assembles with @p n Gauss points in each direction. @p sigma returns the
  /// penalty of the facet whose vertices have the mean @p centre on one side
  /// and @p other_centre on the other. The two differ only at periodic
  /// boundaries.
  template <int dim>
  System<dim>
  assemble(const Space<dim>                                 &space,
           const Problem<dim>                               &problem,
           const unsigned int                                n,
           const std::function<double(const Point<dim> &centre,
                                      const Point<dim> &other_centre,
                                      const bool        periodic)> &sigma)
  {
    System<dim> system;
    system.rhs.reinit(space.offset.back());

    std::map<unsigned int, std::unique_ptr<CellGeometry<dim>>> geometries;
    const auto geometry = [&](const auto &cell) -> CellGeometry<dim> & {
      const unsigned int type =
        static_cast<std::uint8_t>(cell->reference_cell());
      if (geometries.find(type) == geometries.end())
        geometries[type] =
          std::make_unique<CellGeometry<dim>>(cell->reference_cell(),
                                              space.mapping,
                                              n);
      return *geometries[type];
    };
    const auto block = [&](const unsigned int k,
                           const unsigned int l) -> FullMatrix<double> & {
      FullMatrix<double> &matrix = system.block[std::make_pair(k, l)];
      if (matrix.m() == 0)
        matrix.reinit(space.n_functions(k), space.n_functions(l));
      return matrix;
    };
    const auto a = [&](const Point<dim> &x) {
      return problem.a ? problem.a(x) : Tensor<2, dim>();
    };
    const auto b = [&](const Point<dim> &x) {
      return problem.b ? problem.b(x) : Tensor<1, dim>();
    };

    // Tensor of the flux of the test function.
    const auto test_tensor = [&](const Tensor<2, dim> &A) {
      return problem.pair ? transpose(A) : A;
    };

    std::vector<double>         v1, v2;
    std::vector<Tensor<1, dim>> g1, g2;

    for (const auto &cell : space.triangulation->active_cell_iterators())
      {
        const unsigned int k =
          space.polytope_of_cell[cell->active_cell_index()];
        FEValues<dim> &values = *geometry(cell).cell;
        values.reinit(cell);
        FullMatrix<double> &diagonal = block(k, k);
        for (unsigned int q = 0; q < values.n_quadrature_points; ++q)
          {
            const Point<dim>     x = values.quadrature_point(q);
            const double         w = values.JxW(q);
            const Tensor<2, dim> A = a(x);
            const Tensor<1, dim> B = b(x);
            const double         C = problem.c ? problem.c(x) : 0.;
            const double         F = problem.f ? problem.f(x) : 0.;
            space.evaluate(k, x, v1, g1);
            for (unsigned int i = 0; i < v1.size(); ++i)
              {
                const Tensor<1, dim> Ag = transpose(A) * g1[i];
                for (unsigned int j = 0; j < v1.size(); ++j)
                  diagonal(i, j) +=
                    w * (Ag * g1[j] + (B * g1[j]) * v1[i] + C * v1[j] * v1[i]);
                system.rhs(space.offset[k] + i) += w * F * v1[i];
              }
          }
        if (!problem.facets)
          continue;

        for (const unsigned int f : cell->face_indices())
          {
            Point<dim> centre;
            for (unsigned int v = 0; v < cell->face(f)->n_vertices(); ++v)
              centre += cell->face(f)->vertex(v) / cell->face(f)->n_vertices();

            const bool periodic = cell->has_periodic_neighbor(f);
            if (cell->at_boundary(f) && !periodic)
              {
                FEFaceValues<dim> &face = *geometry(cell).face;
                face.reinit(cell, f);
                const auto entry =
                  problem.boundary.find(cell->face(f)->boundary_id());
                const BoundaryData<dim> &data = entry == problem.boundary.end()
                                                  ? problem.default_boundary
                                                  : entry->second;
                const double             s =
                  problem.penalty_factor * sigma(centre, centre, false);
                for (unsigned int q = 0; q < face.n_quadrature_points; ++q)
                  {
                    const Point<dim>     x      = face.quadrature_point(q);
                    const Tensor<1, dim> normal = face.normal_vector(q);
                    const double         w      = face.JxW(q);
                    const Tensor<2, dim> A      = a(x);
                    const double         bn     = b(x) * normal;
                    const double         g      = data.g ? data.g(x) : 0.;
                    const double alpha = data.alpha ? data.alpha(x) : 0.;
                    const bool   elliptic =
                      problem.pair || normal * (A * normal) > 1e-12 * A.norm();
                    space.evaluate(k, x, v1, g1);
                    for (unsigned int i = 0; i < v1.size(); ++i)
                      {
                        double      &r      = system.rhs(space.offset[k] + i);
                        const double flux_i = normal * (test_tensor(A) * g1[i]);
                        if (elliptic && data.type == Boundary::dirichlet)
                          {
                            for (unsigned int j = 0; j < v1.size(); ++j)
                              {
                                const double flux_j = normal * (A * g1[j]);
                                diagonal(i, j) -=
                                  w * (flux_j * v1[i] +
                                       problem.theta * flux_i * v1[j] -
                                       s * v1[j] * v1[i]);
                              }
                            r -= w * g * (problem.theta * flux_i - s * v1[i]);
                          }
                        else if (elliptic)
                          {
                            if (data.type == Boundary::robin)
                              for (unsigned int j = 0; j < v1.size(); ++j)
                                diagonal(i, j) += w * alpha * v1[j] * v1[i];
                            r += w * g * v1[i];
                          }
                        const bool inflow =
                          bn < 0 &&
                          (!elliptic || data.type == Boundary::dirichlet);
                        if (inflow)
                          {
                            for (unsigned int j = 0; j < v1.size(); ++j)
                              diagonal(i, j) -= w * bn * v1[j] * v1[i];
                            r -= w * bn * g * v1[i];
                          }
                      }
                  }
                continue;
              }

            // Each facet is visited once, from the finer cell. Between cells of
            // one level it is visited from the cell with the lower index, or
            // from the lower face if a cell is its own periodic neighbour.
            if (!periodic && cell->face(f)->has_children())
              continue;
            const auto neighbor =
              periodic ? cell->periodic_neighbor(f) : cell->neighbor(f);
            if (!neighbor->is_active())
              continue; // finer across a periodic boundary
            const bool     coarser = periodic
                                       ? cell->periodic_neighbor_is_coarser(f)
                                       : cell->neighbor_is_coarser(f);
            Tensor<1, dim> shift;
            if (periodic)
              {
                const unsigned int f2 =
                  coarser
                    ? cell->periodic_neighbor_of_coarser_periodic_neighbor(f)
                        .first
                    : cell->periodic_neighbor_face_no(f);
                // Periodic boundaries are parallel planes, so the shift is
                // along the normal.
                FEFaceValues<dim> &face = *geometry(cell).face;
                face.reinit(cell, f);
                const Tensor<1, dim> normal = face.normal_vector(0);
                const Point<dim>     there  = neighbor->face(f2)->center();
                shift = ((there - cell->face(f)->center()) * normal) * normal;
                if (!coarser && cell == neighbor && f2 < f)
                  continue;
              }
            if (!coarser && cell != neighbor &&
                neighbor->active_cell_index() < cell->active_cell_index())
              continue;
            const unsigned int l =
              space.polytope_of_cell[neighbor->active_cell_index()];
            if (k == l && !periodic)
              continue;

            FEFaceValues<dim> &face = *geometry(cell).face;
            face.reinit(cell, f);
            const double s =
              problem.penalty_factor * sigma(centre, centre + shift, periodic);
            for (unsigned int q = 0; q < face.n_quadrature_points; ++q)
              {
                const Point<dim>     x1 = face.quadrature_point(q);
                const Point<dim>     x2 = x1 + shift;
                const Tensor<1, dim> normal =
                  face.normal_vector(q); // from polytope 1 to 2
                const double         w  = face.JxW(q);
                const Tensor<2, dim> A1 = a(x1), A2 = a(x2);
                const double         bn1 = b(x1) * normal, bn2 = b(x2) * normal;
                space.evaluate(k, x1, v1, g1);
                space.evaluate(l, x2, v2, g2);
                const auto add = [&](const unsigned int side_i,
                                     const unsigned int side_j) {
                  const auto         &vi = side_i == 0 ? v1 : v2;
                  const auto         &gi = side_i == 0 ? g1 : g2;
                  const auto         &vj = side_j == 0 ? v1 : v2;
                  const auto         &gj = side_j == 0 ? g1 : g2;
                  const auto         &Ai = side_i == 0 ? A1 : A2;
                  const auto         &Aj = side_j == 0 ? A1 : A2;
                  FullMatrix<double> &matrix =
                    block(side_i == 0 ? k : l, side_j == 0 ? k : l);
                  const Tensor<1, dim> test_flux  = normal * test_tensor(Ai),
                                       trial_flux = normal * Aj;
                  for (unsigned int i = 0; i < vi.size(); ++i)
                    for (unsigned int j = 0; j < vj.size(); ++j)
                      {
                        // Jumps are the value on side 0 minus the value on side
                        // 1.
                        const double jump_v = side_i == 0 ? vi[i] : -vi[i];
                        const double jump_w = side_j == 0 ? vj[j] : -vj[j];
                        const double mean_w = 0.5 * (trial_flux * gj[j]);
                        const double mean_v = 0.5 * (test_flux * gi[i]);
                        double       entry  = -mean_w * jump_v -
                                       problem.theta * mean_v * jump_w +
                                       s * jump_w * jump_v;
                        // upwind term, where the polytope of v has inflow
                        const double bn_i = side_i == 0 ? bn1 : -bn2;
                        if (bn_i < 0)
                          entry -=
                            bn_i * (side_i == side_j ? vj[j] : -vj[j]) * vi[i];
                        matrix(i, j) += w * entry;
                      }
                };
                add(0, 0);
                add(0, 1);
                add(1, 0);
                add(1, 1);
              }
          }
      }
    return system;
  }
} // namespace Reference

#endif
