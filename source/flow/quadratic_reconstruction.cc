// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "../../cuda/flow/quadratic_reconstruction.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <deal.II/fe/fe_system.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/flow/quadratic_reconstruction.h>
#include <tessella/lac/block_partition.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "../lac/block_space.h"
#include "../numerics/collective_ranges.h"
#include "../numerics/function_batch.h"
#include "../numerics/polytope_evaluation.h"
#include "../numerics/polytope_projection.h"
#include "same_polytopes.h"

namespace Tessella
{
  namespace Flow
  {
    using namespace dealii;

    namespace Device = internal::Device;

    namespace
    {
      /// Monomials up to degree 3 in the variables of a bounding box, which
      /// runs from -1 to 1 in each of them.
      template <int dim>
      struct Monomials
      {
        using Exponents = std::array<unsigned char, dim>;

        Monomials()
        {
          for (unsigned int degree = 0; degree <= 3; ++degree)
            {
              add(degree);
              end[degree] = exponents.size();
            }
          for (int d = 0; d < dim; ++d)
            {
              Exponents a{};
              a[d]      = 1;
              linear[d] = index(a);
            }
          products.resize(end[1] * end[2]);
          for (unsigned int i = 0; i < end[1]; ++i)
            for (unsigned int j = 0; j < end[2]; ++j)
              {
                Exponents a = exponents[i];
                for (int d = 0; d < dim; ++d)
                  a[d] += exponents[j][d];
                products[i * end[2] + j] = index(a);
              }
        }

        unsigned int
        index(const Exponents &a) const
        {
          for (unsigned int i = 0; i < exponents.size(); ++i)
            if (exponents[i] == a)
              return i;
          return invalid_index;
        }

        /// Index of the product of monomial @p i, of degree at most 1, and
        /// monomial @p j, of degree at most 2.
        unsigned int
        product(const unsigned int i, const unsigned int j) const
        {
          return products[i * end[2] + j];
        }

        std::vector<Exponents> exponents;
        /// Number of monomials up to each degree.
        std::array<unsigned int, 4> end;
        /// Indices of the variables.
        std::array<unsigned int, dim> linear;

      private:
        std::vector<unsigned int> products;

        /// Adds the monomials of one degree.
        void
        add(const unsigned int degree)
        {
          Exponents a{};
          for (;;)
            {
              unsigned int sum = 0;
              for (const unsigned char e : a)
                sum += e;
              if (sum == degree)
                exponents.push_back(a);
              int d = 0;
              while (d < dim && a[d] == 3)
                a[d++] = 0;
              if (d == dim)
                return;
              ++a[d];
            }
        }
      };



      /// Quadratic functions and projections on polytopes. Coefficients of
      /// discrete functions are taken with respect to sqrt(box) times the basis
      /// functions, which have size one.
      template <int dim>
      class QuadraticGeometry
      {
      public:
        static constexpr unsigned int n_linear    = dim + 1,
                                      n_quadratic = dim * (dim + 1) / 2,
                                      n_all       = n_linear + n_quadratic;
        /// Coefficients of a polynomial with respect to monomials.
        using Polynomial = std::array<double, n_all>;
        using Linear     = std::array<double, n_linear>;

        explicit QuadraticGeometry(const AgglomerationHandler<dim> &handler)
          : mesh(handler.polytopic_mesh())
        {
          unsigned char exponents[n_all * dim];
          Legendre::exponents(dim,
                              2,
                              PolynomialSpaceType::total_degree,
                              exponents);
          unsigned int r = 0;
          for (unsigned int i = 0; i < n_all; ++i)
            {
              Quadratic    function;
              unsigned int sum = 0, last = 0;
              function.index = i;
              for (int d = 0; d < dim; ++d)
                {
                  function.exponents[d] = exponents[i * dim + d];
                  sum += function.exponents[d];
                  if (function.exponents[d] == 1)
                    last = 1 + d;
                }
              if (sum == 2)
                quadratic[r++] = function;
              else
                index_in_quadratic[last] = i;
            }
          unsigned char linear[n_linear * dim];
          Legendre::exponents(dim,
                              1,
                              PolynomialSpaceType::total_degree,
                              linear);
          for (unsigned int i = 0; i < n_linear; ++i)
            {
              unsigned int a = 0;
              for (int d = 0; d < dim; ++d)
                if (linear[i * dim + d] == 1)
                  a = 1 + d;
              index_in_linear[a] = i;
            }
          set_moments(handler);
        }

        /// One quadratic basis function: its index in the quadratic space.
        struct Quadratic
        {
          unsigned int                   index = 0;
          std::array<unsigned char, dim> exponents{};
        };
        std::array<Quadratic, n_quadratic> quadratic;
        /// Indices of the constant and the linear functions in both spaces.
        std::array<unsigned int, n_linear> index_in_linear, index_in_quadratic;

        /// Quadratic function @p r in the variables of its box.
        Polynomial
        quadratic_function(const unsigned int r) const
        {
          Polynomial result{};
          const auto e               = quadratic[r].exponents;
          result[monomials.index(e)] = 3.;
          for (int d = 0; d < dim; ++d)
            if (e[d] == 2)
              {
                result[monomials.index(e)] = 1.5 * std::sqrt(5.);
                result[0]                  = -0.5 * std::sqrt(5.);
              }
          return result;
        }

        /// A linear function from its coefficients.
        Polynomial
        linear_function(const Linear &u) const
        {
          Polynomial result{};
          result[0] = u[0];
          for (int d = 0; d < dim; ++d)
            result[monomials.linear[d]] = std::sqrt(3.) * u[1 + d];
          return result;
        }

        /// The polynomial in the variables of polytope @p j, whose box is moved
        /// by @p shift, from that in the variables of polytope @p k.
        Polynomial
        in_variables_of(const unsigned int j,
                        const double      *shift,
                        const unsigned int k,
                        const Polynomial  &f) const
        {
          // Coefficient of x^l in (s x + t)^i, for each direction.
          double power[dim][3][3] = {};
          for (int d = 0; d < dim; ++d)
            {
              const double *const a  = &mesh.box[std::size_t(k) * 2 * dim],
                                  *b = &mesh.box[std::size_t(j) * 2 * dim];
              const double width     = a[dim + d] - a[d];
              const double s         = (b[dim + d] - b[d]) / width,
                           t = (b[dim + d] + b[d] + 2. * shift[d] - a[dim + d] -
                                a[d]) /
                               width;
              power[d][0][0] = 1.;
              power[d][1][0] = t;
              power[d][1][1] = s;
              power[d][2][0] = t * t;
              power[d][2][1] = 2. * s * t;
              power[d][2][2] = s * s;
            }
          Polynomial result{};
          for (unsigned int i = 0; i < n_all; ++i)
            for (unsigned int l = 0; l < n_all && f[i] != 0.; ++l)
              {
                double factor = f[i];
                for (int d = 0; d < dim; ++d)
                  factor *= power[d][monomials.exponents[i][d]]
                                 [monomials.exponents[l][d]];
                result[l] += factor;
              }
          return result;
        }

        /// L2 projection onto linear functions on polytope @p j of a polynomial
        /// in its variables.
        Linear
        project(const unsigned int j, const Polynomial &f) const
        {
          const double *const m = &moments[std::size_t(j) * n_moments()];
          double              gram[n_linear * n_linear], diagonal[n_linear];
          Linear              result{};
          for (unsigned int a = 0; a < n_linear; ++a)
            {
              for (unsigned int b = a; b < n_linear; ++b)
                gram[a * n_linear + b] = m[monomials.product(a, b)];
              for (unsigned int i = 0; i < n_all; ++i)
                result[a] += f[i] * m[monomials.product(a, i)];
            }
          internal::solve_cholesky(n_linear, gram, 1, result.data(), diagonal);
          Linear sorted;
          sorted[0] = result[0];
          for (int d = 0; d < dim; ++d)
            sorted[1 + d] = result[monomials.linear[d]] / std::sqrt(3.);
          return sorted;
        }

        /// Factor of coefficient @p r of a function on polytope @p j for the
        /// same function on polytope @p k.
        double
        change_of_box(const unsigned int j,
                      const unsigned int k,
                      const unsigned int r) const
        {
          double factor = 1.;
          for (int d = 0; d < dim; ++d)
            factor *= std::pow(extent(k, d) / extent(j, d),
                               double(quadratic[r].exponents[d]));
          return factor;
        }

        /// The same factor from a box of size one.
        double
        scale_of_box(const unsigned int k, const unsigned int r) const
        {
          double factor = 1.;
          for (int d = 0; d < dim; ++d)
            for (unsigned int e = 0; e < quadratic[r].exponents[d]; ++e)
              factor *= extent(k, d);
          return factor;
        }

        /// sqrt(volume of the bounding box).
        double
        unit(const unsigned int k) const
        {
          double volume = 1.;
          for (int d = 0; d < dim; ++d)
            volume *= extent(k, d);
          return std::sqrt(volume);
        }

        const PolytopicMesh<dim> &mesh;

      private:
        unsigned int
        n_moments() const
        {
          return monomials.exponents.size();
        }

        double
        extent(const unsigned int k, const int d) const
        {
          const double *const box = &mesh.box[std::size_t(k) * 2 * dim];
          return box[dim + d] - box[d];
        }

        /// Mean values of all monomials over the polytopes.
        void
        set_moments(const AgglomerationHandler<dim> &handler)
        {
          const unsigned int n = n_moments();
          moments.assign(std::size_t(mesh.n_polytopes()) * n, 0.);
          handler.tabulate(3);
          internal::apply_to_ranges(
            handler.get_communicator(),
            mesh.n_owned_polytopes(),
            [&](const unsigned int begin, const unsigned int end) {
              internal::QuadratureBatch<dim> batch;
              for (unsigned int k = begin; k < end; ++k)
                {
                  batch.for_subcells(mesh,
                                     mesh.subcell_offset[k],
                                     mesh.subcell_offset[k + 1],
                                     3,
                                     [&]() { add_moments(k, batch); });
                  double *const m = &moments[std::size_t(k) * n];
                  for (unsigned int i = n; i-- > 0;)
                    m[i] /= m[0];
                }
            },
            16);
          handler.exchange_polytope_values(moments, n);
        }

        void
        add_moments(const unsigned int                    k,
                    const internal::QuadratureBatch<dim> &batch)
        {
          const double *const box = &mesh.box[std::size_t(k) * 2 * dim];
          double *const       m   = &moments[std::size_t(k) * n_moments()];
          for (unsigned int q = 0; q < batch.size(); ++q)
            {
              double powers[dim][4];
              for (int d = 0; d < dim; ++d)
                {
                  powers[d][0] = 1.;
                  const double x =
                    (2. * batch.x[d][q] - box[d] - box[dim + d]) / extent(k, d);
                  for (unsigned int i = 1; i < 4; ++i)
                    powers[d][i] = powers[d][i - 1] * x;
                }
              for (unsigned int i = 0; i < n_moments(); ++i)
                {
                  double product = batch.weight[q];
                  for (int d = 0; d < dim; ++d)
                    product *= powers[d][monomials.exponents[i][d]];
                  m[i] += product;
                }
            }
        }

        const Monomials<dim> monomials;
        std::vector<double>  moments;
      };
    } // namespace



    template <int dim>
    struct QuadraticReconstruction<dim>::Implementation
    {
      using Geometry                            = QuadraticGeometry<dim>;
      using Linear                              = typename Geometry::Linear;
      static constexpr unsigned int n_linear    = Geometry::n_linear,
                                    n_quadratic = Geometry::n_quadratic;
      /// Block that maps coefficients of a linear function to those of the
      /// quadratic part: entry r n_linear + a.
      using Block = std::array<double, n_quadratic * n_linear>;

      Implementation(const AgglomerationHandler<dim> &linear,
                     const ReconstructionData        &data)
        : linear(linear)
        , quadratic(linear.get_triangulation(), &linear.get_mapping())
        , data(data)
        , m(linear.n_components())
        , geometry(linear)
      {
        quadratic.agglomerate(internal::polytopes_of(linear));
        quadratic.distribute_dofs(
          FESystem<dim>(FE_BoundingBoxLegendre<dim>(2), m));
        const PolytopicMesh<dim> &mesh = geometry.mesh;
        const unsigned int        n    = mesh.n_owned_polytopes();
        projections.resize(n);
        own.assign(n, Block{});
        others.assign(mesh.polytope_interface_offset[n], Block{});
        is_linear.assign(mesh.n_polytopes(), 0.);
        internal::apply_to_ranges(
          linear.get_communicator(),
          n,
          [&](const unsigned int begin, const unsigned int end) {
            for (unsigned int k = begin; k < end; ++k)
              set_blocks(k);
          },
          16);
        linear.exchange_polytope_values(is_linear, 1);
        n_linear_polytopes =
          Utilities::MPI::sum(static_cast<unsigned int>(std::count(
                                is_linear.begin(), is_linear.begin() + n, 1.)),
                              linear.get_communicator());
      }

      /// Shift of the neighbour's coordinates in those of the own polytope.
      std::array<double, dim>
      shift(const unsigned int interface_and_side) const
      {
        const PolytopicMesh<dim> &mesh      = geometry.mesh;
        const unsigned int        interface = interface_and_side / 2;
        std::array<double, dim>   result{};
        if (!mesh.shift.empty())
          for (int d = 0; d < dim; ++d)
            result[d] =
              (interface_and_side % 2 == 0 ? -1. : 1.) *
              mesh
                .shift[std::size_t(mesh.interface_shift[interface]) * dim + d];
        return result;
      }

      /// Solves the least squares problem of polytope @p k for all right-hand
      /// sides.
      void
      set_blocks(const unsigned int k)
      {
        const PolytopicMesh<dim> &mesh  = geometry.mesh;
        const unsigned int        first = mesh.polytope_interface_offset[k],
                           end          = mesh.polytope_interface_offset[k + 1];
        typename Geometry::Polynomial psi[n_quadratic];
        for (unsigned int r = 0; r < n_quadratic; ++r)
          {
            psi[r]                = geometry.quadratic_function(r);
            const Linear part     = geometry.project(k, psi[r]);
            const auto   subtract = geometry.linear_function(part);
            for (unsigned int i = 0; i < psi[r].size(); ++i)
              psi[r][i] -= subtract[i];
            std::copy_n(part.begin(), n_linear, &projections[k][r * n_linear]);
          }
        // Matrices of the least squares problem and of the linear functions of
        // k on each neighbour.
        std::vector<Block>                        matrix(end - first);
        std::vector<std::array<Linear, n_linear>> continued(end - first);
        double normal[n_quadratic * n_quadratic] = {}, diagonal[n_quadratic];
        for (unsigned int j = first; j < end; ++j)
          {
            const unsigned int neighbor =
              mesh.neighbor(mesh.polytope_interface[j]);
            if (neighbor == invalid_index)
              continue;
            const auto moved       = shift(mesh.polytope_interface[j]);
            const auto on_neighbor = [&](const auto &f) {
              return geometry.project(
                neighbor,
                geometry.in_variables_of(neighbor, moved.data(), k, f));
            };
            Block &a = matrix[j - first];
            for (unsigned int r = 0; r < n_quadratic; ++r)
              {
                const Linear column = on_neighbor(psi[r]);
                std::copy_n(column.begin(), n_linear, &a[r * n_linear]);
              }
            for (unsigned int b = 0; b < n_linear; ++b)
              {
                Linear unit{};
                unit[b] = 1.;
                continued[j - first][b] =
                  on_neighbor(geometry.linear_function(unit));
              }
            for (unsigned int r = 0; r < n_quadratic; ++r)
              for (unsigned int s = r; s < n_quadratic; ++s)
                for (unsigned int b = 0; b < n_linear; ++b)
                  normal[r * n_quadratic + s] +=
                    a[r * n_linear + b] * a[s * n_linear + b];
          }
        // The columns of the pseudo-inverse are solutions for the rows of the
        // matrix.
        std::vector<double> rhs((end - first) * n_linear * n_quadratic);
        for (unsigned int j = 0; j < end - first; ++j)
          for (unsigned int b = 0; b < n_linear; ++b)
            for (unsigned int r = 0; r < n_quadratic; ++r)
              rhs[(j * n_linear + b) * n_quadratic + r] =
                matrix[j][r * n_linear + b];
        internal::solve_cholesky(
          n_quadratic, normal, (end - first) * n_linear, rhs.data(), diagonal);
        for (unsigned int r = 0; r < n_quadratic; ++r)
          {
            const double pivot = normal[r * n_quadratic + r];
            if (!(pivot * pivot > smallest_pivot * diagonal[r]))
              {
                is_linear[k] = 1.;
                return;
              }
          }
        for (unsigned int j = 0; j < end - first; ++j)
          for (unsigned int r = 0; r < n_quadratic; ++r)
            for (unsigned int b = 0; b < n_linear; ++b)
              {
                const double entry = rhs[(j * n_linear + b) * n_quadratic + r];
                others[first + j][r * n_linear + b] = entry;
                for (unsigned int a = 0; a < n_linear; ++a)
                  own[k][r * n_linear + a] -= entry * continued[j][a][b];
              }
      }

      /// Coefficients of @p u in the order of the flat view, with ghosts.
      std::vector<double>
      with_ghosts(const VectorType &u) const
      {
        const PolytopicDoFs &dofs = linear.polytopic_dofs();
        std::vector<double>  values(dofs.dof_offset.back());
        const double *const  entries = internal::own_values(linear, u);
        std::copy_n(entries, linear.n_locally_owned_dofs(), values.begin());
        linear.exchange_dof_values(values);
        return values;
      }

      /// Adds @p block times the coefficients of all components of polytope
      /// @p j to @p c, entries component n_quadratic + r.
      void
      add_product(const Block               &block,
                  const std::vector<double> &values,
                  const unsigned int         j,
                  double                    *c) const
      {
        const double        factor = 1. / geometry.unit(j);
        const double *const u = &values[linear.polytopic_dofs().dof_offset[j]];
        for (unsigned int i = 0; i < m; ++i)
          for (unsigned int a = 0; a < n_linear; ++a)
            {
              const double value =
                factor * u[i * n_linear + geometry.index_in_linear[a]];
              for (unsigned int r = 0; r < n_quadratic; ++r)
                c[i * n_quadratic + r] += block[r * n_linear + a] * value;
            }
      }

      /// Quadratic parts by least squares; the result is for all polytopes of
      /// the flat view if @p ghosts is set.
      std::vector<double>
      quadratic_parts(const std::vector<double> &values,
                      const bool                 ghosts) const
      {
        const PolytopicMesh<dim> &mesh = geometry.mesh;
        const unsigned int        size = m * n_quadratic;
        std::vector<double>       c(std::size_t(mesh.n_polytopes()) * size, 0.);
        internal::apply_to_ranges(
          linear.get_communicator(),
          mesh.n_owned_polytopes(),
          [&](const unsigned int begin, const unsigned int end) {
            for (unsigned int k = begin; k < end; ++k)
              {
                double *const c_k = &c[std::size_t(k) * size];
                add_product(own[k], values, k, c_k);
                for (unsigned int j = mesh.polytope_interface_offset[k];
                     j < mesh.polytope_interface_offset[k + 1];
                     ++j)
                  {
                    const unsigned int neighbor =
                      mesh.neighbor(mesh.polytope_interface[j]);
                    if (neighbor != invalid_index)
                      add_product(others[j], values, neighbor, c_k);
                  }
              }
          },
          64);
        if (ghosts)
          linear.exchange_polytope_values(c, size);
        return c;
      }

      /// Calls function(weight index, polytope) for the own part and those of
      /// all neighbours that are not linear.
      template <typename Function>
      void
      for_candidates(const unsigned int k, const Function &function) const
      {
        const PolytopicMesh<dim> &mesh  = geometry.mesh;
        const unsigned int        first = mesh.polytope_interface_offset[k];
        function(k + first, k);
        for (unsigned int j = first; j < mesh.polytope_interface_offset[k + 1];
             ++j)
          {
            const unsigned int neighbor =
              mesh.neighbor(mesh.polytope_interface[j]);
            if (neighbor != invalid_index && is_linear[neighbor] == 0.)
              function(k + 1 + j, neighbor);
          }
      }

      /// Sets the weights of polytope @p k.
      void
      set_weights(const unsigned int         k,
                  const std::vector<double> &values,
                  const std::vector<double> &c)
      {
        for (unsigned int i = 0; i < m; ++i)
          {
            const double *const u =
              &values[linear.polytopic_dofs().dof_offset[k] + i * n_linear];
            double size = 0., sum = 0.;
            for (unsigned int a = 0; a < n_linear; ++a)
              size += u[a] * u[a];
            const double unit = geometry.unit(k);
            const double epsilon =
              epsilon_factor * size / (unit * unit) + 1e-60;
            for_candidates(k, [&](const unsigned int w, const unsigned int j) {
              double square = 0.;
              for (unsigned int r = 0; r < n_quadratic; ++r)
                {
                  const double part =
                    geometry.change_of_box(j, k, r) *
                    c[(std::size_t(j) * m + i) * n_quadratic + r];
                  square += part * part;
                }
              const double weight = (j == k ? data.own_weight : 1.) /
                                    std::pow(epsilon + square, data.exponent);
              weights[std::size_t(w) * m + i] = weight;
              sum += weight;
            });
            for_candidates(k, [&](const unsigned int w, const unsigned int) {
              weights[std::size_t(w) * m + i] /= sum;
            });
          }
      }

      /// Weighted means of the parts @p c, with the present weights.
      std::vector<double>
      weighted_parts(const std::vector<double> &c) const
      {
        const unsigned int  n = geometry.mesh.n_owned_polytopes();
        std::vector<double> result(std::size_t(n) * m * n_quadratic, 0.);
        for (unsigned int k = 0; k < n; ++k)
          if (is_linear[k] == 0.)
            for_candidates(k, [&](const unsigned int w, const unsigned int j) {
              for (unsigned int r = 0; r < n_quadratic; ++r)
                {
                  const double factor = geometry.change_of_box(j, k, r);
                  for (unsigned int i = 0; i < m; ++i)
                    result[(std::size_t(k) * m + i) * n_quadratic + r] +=
                      weights[std::size_t(w) * m + i] * factor *
                      c[(std::size_t(j) * m + i) * n_quadratic + r];
                }
            });
        return result;
      }

      /// Change of the weighted means at the state reconstructed last, where
      /// the linear function changes by @p du and the parts by @p dc.
      std::vector<double>
      weighted_change(const std::vector<double> &du,
                      const std::vector<double> &dc) const
      {
        const unsigned int  n = geometry.mesh.n_owned_polytopes();
        std::vector<double> result(std::size_t(n) * m * n_quadratic, 0.);
        internal::apply_to_ranges(
          linear.get_communicator(),
          n,
          [&](const unsigned int begin, const unsigned int end) {
            for (unsigned int k = begin; k < end; ++k)
              if (is_linear[k] == 0.)
                for (unsigned int i = 0; i < m; ++i)
                  add_weighted_change(
                    k,
                    i,
                    du,
                    dc,
                    &result[(std::size_t(k) * m + i) * n_quadratic]);
          },
          64);
        return result;
      }

      /// The same of component @p i on polytope @p k.
      void
      add_weighted_change(const unsigned int         k,
                          const unsigned int         i,
                          const std::vector<double> &du,
                          const std::vector<double> &dc,
                          double                    *result) const
      {
        const std::size_t first =
          linear.polytopic_dofs().dof_offset[k] + i * n_linear;
        const double unit = geometry.unit(k);
        double       size = 0., change_of_size = 0.;
        for (unsigned int a = 0; a < n_linear; ++a)
          {
            size += state[first + a] * state[first + a];
            change_of_size += 2. * state[first + a] * du[first + a];
          }
        const double factor         = epsilon_factor / (unit * unit),
                     epsilon        = factor * size + 1e-60,
                     epsilon_change = factor * change_of_size;
        // Weighted sums of the parts, of them times the change of the logarithm
        // of their weight, and of this change.
        double mean[n_quadratic] = {}, slope[n_quadratic] = {}, sum = 0.;
        for_candidates(k, [&](const unsigned int w, const unsigned int j) {
          double       part[n_quadratic], square = 0., change_of_square = 0.;
          const double weight = weights[std::size_t(w) * m + i];
          for (unsigned int r = 0; r < n_quadratic; ++r)
            {
              const std::size_t entry =
                (std::size_t(j) * m + i) * n_quadratic + r;
              const double scale  = geometry.change_of_box(j, k, r),
                           change = scale * dc[entry];
              part[r]             = scale * state_parts[entry];
              square += part[r] * part[r];
              change_of_square += 2. * part[r] * change;
              result[r] += weight * change;
            }
          const double change_of_weight = -data.exponent * weight *
                                          (epsilon_change + change_of_square) /
                                          (epsilon + square);
          sum += change_of_weight;
          for (unsigned int r = 0; r < n_quadratic; ++r)
            {
              mean[r] += weight * part[r];
              slope[r] += change_of_weight * part[r];
            }
        });
        for (unsigned int r = 0; r < n_quadratic; ++r)
          result[r] += slope[r] - sum * mean[r];
      }

      /// Writes V from U and the quadratic parts.
      void
      write(const std::vector<double> &values,
            const std::vector<double> &c,
            VectorType                &v) const
      {
        double *const        target = internal::own_values(quadratic, v);
        const PolytopicDoFs &from   = linear.polytopic_dofs(),
                            &to     = quadratic.polytopic_dofs();
        for (unsigned int k = 0; k < geometry.mesh.n_owned_polytopes(); ++k)
          {
            const double unit = geometry.unit(k);
            for (unsigned int i = 0; i < m; ++i)
              {
                const double *const u =
                  &values[from.dof_offset[k] + i * n_linear];
                double *const v_k =
                  target + to.dof_offset[k] + i * Geometry::n_all;
                const double *const part =
                  &c[(std::size_t(k) * m + i) * n_quadratic];
                for (unsigned int r = 0; r < n_quadratic; ++r)
                  v_k[geometry.quadratic[r].index] = unit * part[r];
                for (unsigned int a = 0; a < n_linear; ++a)
                  {
                    double sum = 0.;
                    for (unsigned int r = 0; r < n_quadratic; ++r)
                      sum += projections[k][r * n_linear + a] * part[r];
                    v_k[geometry.index_in_quadratic[a]] =
                      u[geometry.index_in_linear[a]] - unit * sum;
                  }
              }
          }
      }

      /// Pivots of normal equations below this part of the diagonal belong to
      /// functions that the neighbours do not determine.
      static constexpr double smallest_pivot = 1e-8;
      /// Part of |U_k|^2 that is added to the indicators of WENO.
      static constexpr double epsilon_factor = 1e-12;

      const AgglomerationHandler<dim> &linear;
      AgglomerationHandler<dim>        quadratic;
      const ReconstructionData         data;
      const unsigned int               m;
      const Geometry                   geometry;
      /// Linear parts of the projected quadratic functions, and the blocks of
      /// the own polytope and of the neighbours behind all interfaces.
      std::vector<Block> projections, own, others;
      /// 1 for polytopes that stay linear, of the whole flat view.
      std::vector<double> is_linear;
      /// Weights for all components of the own part of polytope k, entry k plus
      /// its first interface, and of the neighbours after it.
      std::vector<double> weights;
      /// For the exact tangent of WENO: coefficients and quadratic parts of the
      /// state reconstructed last, of the whole flat view.
      std::vector<double> state, state_parts;
      unsigned int        n_linear_polytopes = 0;
      /// Null before the first call for vectors on the device.
      std::unique_ptr<DeviceData> on_device;
    };



    /// Blocks, weights and the exchange of ghosts on the device, see
    /// Device::ReconstructionArrays. Linear functions are the first ones of the
    /// quadratic space, in the same order.
    template <int dim>
    struct QuadraticReconstruction<dim>::DeviceData
    {
      using Geometry                            = QuadraticGeometry<dim>;
      static constexpr unsigned int n_linear    = Geometry::n_linear,
                                    n_quadratic = Geometry::n_quadratic;

      explicit DeviceData(const Implementation &host)
        : host(host)
        , n(host.geometry.mesh.n_owned_polytopes())
        , size_of_parts(host.m * n_quadratic)
      {
        on_all_processes(host.linear.get_communicator(), [&]() {
          check_order();
          internal::device_call([&]() {
            set_entries();
            set_polytopes();
            arrays.n            = n;
            arrays.n_components = host.m;
            arrays.own_weight   = host.data.own_weight;
            arrays.exponent     = host.data.exponent;
          });
        });
        halo = make_halo(host.m * n_linear);
        if (!host.data.weno)
          return;
        halo_of_parts = make_halo(size_of_parts);
        if (host.data.exact_tangent)
          halo_of_changes = make_halo(size_of_parts);
      }

      /// Checks sizes of vectors of both spaces. Collective.
      void
      check(const DeviceVector<double> &u, const DeviceVector<double> &v) const
      {
        const auto check_vector = [](const AgglomerationHandler<dim> &handler,
                                     const DeviceVector<double>      &vector) {
          AssertThrow(
            vector.size() == handler.n_dofs() &&
              vector.locally_owned_size() == handler.n_locally_owned_dofs(),
            ExcMessage("A vector of a reconstruction has " +
                       std::to_string(vector.locally_owned_size()) + " of " +
                       std::to_string(vector.size()) +
                       " entries on this process, but there are " +
                       std::to_string(handler.n_locally_owned_dofs()) + " of " +
                       std::to_string(handler.n_dofs()) +
                       " degrees of freedom: call PointwiseOperator::"
                       "reinit() of its space on it."));
        };
        on_all_processes(host.linear.get_communicator(), [&]() {
          check_vector(host.linear, u);
          check_vector(host.quadratic, v);
        });
      }

      /// reconstruct() if @p set_weights is set, else reconstruct_change().
      void
      reconstruct(const bool set_weights, const double *u, double *v)
      {
        const Device::CoefficientsWithGhosts values = with_ghosts(u, halo);
        if (!host.data.weno)
          {
            internal::device_call(
              [&]() { Device::reconstruct_quadratic<dim>(arrays, values, v); });
            return;
          }
        if (host.data.exact_tangent && !set_weights)
          {
            reconstruct_exact_change(values, v);
            return;
          }
        internal::device_call([&]() {
          Device::quadratic_parts<dim>(arrays, values, parts.data());
        });
        all_parts = with_ghosts(parts.data(), halo_of_parts);
        internal::device_call([&]() {
          Device::average_quadratic_parts<dim>(
            arrays, set_weights, u, all_parts, weights.data(), v);
          if (host.data.exact_tangent)
            Device::VectorOperations<double>::copy(state.size(),
                                                   u,
                                                   state.data());
        });
      }

    private:
      using Halo = std::unique_ptr<internal::DeviceHalo<double>>;
      template <typename T>
      using Array = internal::DeviceSpaceArray<T>;

      static Device::CoefficientsWithGhosts
      with_ghosts(const double *owned, const Halo &halo)
      {
        if (halo == nullptr)
          return {owned, nullptr};
        halo->start(owned);
        return {owned, halo->finish()};
      }

      /// The change with the derivative of the weights for the change @p du of
      /// the linear function.
      void
      reconstruct_exact_change(const Device::CoefficientsWithGhosts &du,
                               double                               *dv)
      {
        internal::device_call(
          [&]() { Device::quadratic_parts<dim>(arrays, du, changes.data()); });
        const Device::CoefficientsWithGhosts all =
          with_ghosts(changes.data(), halo_of_changes);
        internal::device_call([&]() {
          Device::average_quadratic_changes<dim>(
            arrays, state.data(), all_parts, weights.data(), du.owned, all, dv);
        });
      }

      /// Exchange of @p size numbers for each polytope; null on one process.
      Halo
      make_halo(const unsigned int size) const
      {
        const MPI_Comm comm = host.linear.get_communicator();
        if (internal::n_processes(comm) == 1)
          return nullptr;
        const unsigned int n_all = host.geometry.mesh.n_polytopes(),
                           given = host.m * n_linear;
        std::vector<std::uint64_t> offset, ghosts;
        for (unsigned int k = 0; k <= n_all; ++k)
          offset.push_back(std::uint64_t(k) * size);
        for (unsigned int k = n; k < n_all; ++k)
          ghosts.push_back(host.linear.first_dof(k) / given * size);
        const auto partition =
          std::make_shared<const BlockPartition>(comm, offset, n, ghosts);
        Halo result;
        on_all_processes(comm, [&]() {
          result = std::make_unique<internal::DeviceHalo<double>>(partition);
        });
        return result;
      }

      void
      check_order() const
      {
        const Geometry &geometry = host.geometry;
        bool            right    = true;
        for (unsigned int r = 0; r < n_quadratic; ++r)
          right = right && geometry.quadratic[r].index == n_linear + r;
        AssertThrow(right &&
                      geometry.index_in_linear == geometry.index_in_quadratic,
                    ExcInternalError());
      }

      /// Adds a block, whose columns are sorted as the linear functions are.
      void
      add_block(const unsigned int                    k,
                const unsigned int                    j,
                const typename Implementation::Block &block,
                std::vector<double>                  &blocks) const
      {
        const Geometry &geometry = host.geometry;
        for (unsigned int r = 0; r < n_quadratic; ++r)
          {
            const double factor =
              (host.data.weno ? 1. / geometry.scale_of_box(k, r)
                              : geometry.unit(k)) /
              geometry.unit(j);
            double row[n_linear];
            for (unsigned int a = 0; a < n_linear; ++a)
              row[geometry.index_in_linear[a]] =
                factor * block[r * n_linear + a];
            blocks.insert(blocks.end(), row, row + n_linear);
          }
      }

      void
      set_entries()
      {
        const PolytopicMesh<dim>  &mesh = host.geometry.mesh;
        std::vector<unsigned int>  offsets(1, 0), polytopes;
        std::vector<unsigned char> candidates;
        std::vector<double>        values;
        const auto                 add = [&](const unsigned int                    k,
                             const unsigned int                    j,
                             const typename Implementation::Block &block) {
          polytopes.push_back(j);
          candidates.push_back(host.is_linear[j] == 0.);
          add_block(k, j, block, values);
        };
        for (unsigned int k = 0; k < n; ++k)
          {
            add(k, k, host.own[k]);
            for (unsigned int j = mesh.polytope_interface_offset[k];
                 j < mesh.polytope_interface_offset[k + 1];
                 ++j)
              {
                const unsigned int neighbor =
                  mesh.neighbor(mesh.polytope_interface[j]);
                if (neighbor != invalid_index)
                  add(k, neighbor, host.others[j]);
              }
            offsets.push_back(polytopes.size());
          }
        entry_offset.assign(offsets);
        polytope.assign(polytopes);
        blocks.assign(values);
        arrays.entry_offset = entry_offset.data();
        arrays.polytope     = polytope.data();
        arrays.blocks       = blocks.data();
        if (!host.data.weno)
          return;
        is_candidate.assign(candidates);
        arrays.is_candidate = is_candidate.data();
        weights.resize(polytopes.size() * host.m);
        parts.resize(std::size_t(n) * size_of_parts);
        if (!host.data.exact_tangent)
          return;
        changes.resize(parts.size());
        state.resize(std::size_t(n) * host.m * n_linear);
      }

      void
      set_polytopes()
      {
        const Geometry     &geometry = host.geometry;
        std::vector<double> projection, scales, units;
        for (unsigned int k = 0; k < n; ++k)
          {
            double rows[n_linear][n_quadratic];
            for (unsigned int a = 0; a < n_linear; ++a)
              for (unsigned int r = 0; r < n_quadratic; ++r)
                rows[geometry.index_in_linear[a]][r] =
                  host.projections[k][r * n_linear + a];
            for (const auto &row : rows)
              projection.insert(projection.end(), row, row + n_quadratic);
            units.push_back(geometry.unit(k));
            for (unsigned int r = 0; r < n_quadratic; ++r)
              scales.push_back(geometry.scale_of_box(k, r));
          }
        projections.assign(projection);
        arrays.projections = projections.data();
        if (!host.data.weno)
          return;
        scale.assign(scales);
        unit.assign(units);
        arrays.scale = scale.data();
        arrays.unit  = unit.data();
      }

      const Implementation &host;
      /// Number of owned polytopes, and of quadratic parts of each.
      const unsigned int           n, size_of_parts;
      Array<unsigned int>          entry_offset, polytope;
      Array<unsigned char>         is_candidate;
      Array<double>                blocks, projections, scale, unit;
      Array<double>                weights, parts;
      Device::ReconstructionArrays arrays = Device::ReconstructionArrays();
      Halo                         halo, halo_of_parts;
      /// Parts of the state reconstructed last.
      Device::CoefficientsWithGhosts all_parts{};
      /// For the exact tangent of WENO: that state, and changes of parts.
      Array<double> state, changes;
      Halo          halo_of_changes;
    };



    template <int dim>
    typename QuadraticReconstruction<dim>::DeviceData &
    QuadraticReconstruction<dim>::device_data(
      const DeviceVector<double> &u, const DeviceVector<double> &v) const
    {
      std::unique_ptr<DeviceData> &data = implementation->on_device;
      if (data == nullptr)
        data = std::make_unique<DeviceData>(*implementation);
      data->check(u, v);
      return *data;
    }



    template <int dim>
    QuadraticReconstruction<dim>::QuadraticReconstruction(
      const AgglomerationHandler<dim> &linear, const ReconstructionData &data)
    {
      internal::check_handler(linear);
      bool right =
        linear.polynomial_space() == PolynomialSpaceType::total_degree;
      for (const unsigned int p : linear.polytopic_dofs().degree)
        right = right && p == 1;
      AssertThrow(right,
                  ExcMessage("Reconstruction of quadratic functions needs "
                             "polynomials of total degree 1 on all polytopes: "
                             "choose degree 1 and this polynomial space."));
      implementation = std::make_unique<Implementation>(linear, data);
    }

    template <int dim>
    QuadraticReconstruction<dim>::~QuadraticReconstruction() = default;



    template <int dim>
    unsigned int
    QuadraticReconstruction<dim>::n_linear_polytopes() const
    {
      return implementation->n_linear_polytopes;
    }



    template <int dim>
    const AgglomerationHandler<dim> &
    QuadraticReconstruction<dim>::quadratic_handler() const
    {
      return implementation->quadratic;
    }



    template <int dim>
    void
    QuadraticReconstruction<dim>::reconstruct(const VectorType &u,
                                              VectorType       &v)
    {
      Implementation           &r      = *implementation;
      const std::vector<double> values = r.with_ghosts(u);
      const std::vector<double> c      = r.quadratic_parts(values, r.data.weno);
      if (!r.data.weno)
        {
          r.write(values, c, v);
          return;
        }
      const PolytopicMesh<dim> &mesh = r.geometry.mesh;
      const unsigned int        n    = mesh.n_owned_polytopes();
      r.weights.resize(std::size_t(n + mesh.polytope_interface_offset[n]) *
                       r.m);
      for (unsigned int k = 0; k < n; ++k)
        r.set_weights(k, values, c);
      r.write(values, r.weighted_parts(c), v);
      if (r.data.exact_tangent)
        {
          r.state       = values;
          r.state_parts = c;
        }
    }



    template <int dim>
    void
    QuadraticReconstruction<dim>::reconstruct_change(const VectorType &du,
                                                     VectorType       &dv) const
    {
      const Implementation     &r      = *implementation;
      const std::vector<double> values = r.with_ghosts(du);
      const std::vector<double> c      = r.quadratic_parts(values, r.data.weno);
      r.write(values,
              !r.data.weno           ? c
              : r.data.exact_tangent ? r.weighted_change(values, c)
                                     : r.weighted_parts(c),
              dv);
    }



    template <int dim>
    void
    QuadraticReconstruction<dim>::restrict_to_linear(const VectorType &s,
                                                     VectorType       &r) const
    {
      const Implementation &data   = *implementation;
      const double *const   source = internal::own_values(data.quadratic, s);
      double *const         target = internal::own_values(data.linear, r);
      using Geometry               = QuadraticGeometry<dim>;
      // Both spaces have one degree, so that offsets are regular.
      const std::size_t n = std::size_t(data.linear.n_polytopes()) * data.m;
      for (std::size_t i = 0; i < n; ++i)
        for (unsigned int a = 0; a < Geometry::n_linear; ++a)
          target[i * Geometry::n_linear + data.geometry.index_in_linear[a]] =
            source[i * Geometry::n_all + data.geometry.index_in_quadratic[a]];
    }



    template <int dim>
    void
    QuadraticReconstruction<dim>::reconstruct(const DeviceVector<double> &u,
                                              DeviceVector<double>       &v)
    {
      device_data(u, v).reconstruct(true, u.begin(), v.begin());
    }



    template <int dim>
    void
    QuadraticReconstruction<dim>::reconstruct_change(
      const DeviceVector<double> &du, DeviceVector<double> &dv) const
    {
      device_data(du, dv).reconstruct(false, du.begin(), dv.begin());
    }



    template <int dim>
    void
    QuadraticReconstruction<dim>::restrict_to_linear(
      const DeviceVector<double> &s, DeviceVector<double> &r) const
    {
      device_data(r, s);
      const Implementation &data = *implementation;
      internal::device_call([&]() {
        internal::Device::restrict_to_linear<dim>(
          std::size_t(data.geometry.mesh.n_owned_polytopes()) * data.m,
          s.begin(),
          r.begin());
      });
    }



    template class QuadraticReconstruction<2>;
    template class QuadraticReconstruction<3>;
  } // namespace Flow
} // namespace Tessella
