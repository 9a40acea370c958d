// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_simplex_product.h"

#include <deal.II/base/parallel.h>

#include <algorithm>
#include <utility>

namespace Tessella
{
  namespace internal
  {
    static_assert(HostSimplexKernels::no_neighbor == SimplexData::no_neighbor,
                  "Kernels and data have the same mark.");

    HostSimplexProduct::HostSimplexProduct(SimplexData        &&simplex_data,
                                           const InstructionSet instruction_set)
      : data(std::move(simplex_data))
      , reference(data.dim, data.degree)
      , kernels(select_simplex_kernels(instruction_set))
      , place(order_of_functions(data.dim, data.degree))
    {
      set_matrices();
      make_batches();
    }



    HostSimplexKernels::Matrix
    HostSimplexProduct::pack(
      const unsigned int                                       n_rows,
      const unsigned int                                       n_columns,
      const std::function<double(unsigned int, unsigned int)> &entry)
    {
      matrices.emplace_back(n_rows, n_columns, entry);
      return matrices.back().view();
    }



    void
    HostSimplexProduct::set_matrices()
    {
      const SimplexReference &r   = reference;
      const unsigned int      dim = data.dim, n = r.n, n_face = r.n_face,
                         n_lower = r.n_lower, n_face_lower = r.n_face_lower;
      op.dim            = dim;
      op.degree         = data.degree;
      op.n              = n;
      op.n_face         = n_face;
      op.n_lower        = n_lower;
      op.n_face_lower   = n_face_lower;
      op.nodes          = r.nodes.data();
      op.frame          = r.frame.data();
      op.reaction       = data.reaction;
      op.advection      = data.advection;
      op.n_coefficients = SimplexData::n_coefficients(dim);
      op.reaction_index = SimplexData::reaction_index(dim);
      op.face_index     = SimplexData::face_index(dim);

      const auto gradient = [&](const unsigned int i, const unsigned int j) {
        return r.gradient[i / n_lower][i % n_lower * n + j];
      };
      op.gradient = pack(dim * n_lower, n, gradient);
      op.gradient_transposed =
        pack(n, dim * n_lower, [&](const unsigned int i, const unsigned int j) {
          return gradient(j, i);
        });
      op.projection_transposed =
        pack(n, n_lower, [&](const unsigned int i, const unsigned int j) {
          return r.projection[j * n + i];
        });
      op.mass = pack(n, n, [&](const unsigned int i, const unsigned int j) {
        return r.mass[i * n + j];
      });
      op.jump =
        pack(n_face, n_face, [&](const unsigned int i, const unsigned int j) {
          return r.face_moments[i * n_face + j];
        });
      // Tangential derivatives from values on the face come first.
      const unsigned int n_tangential = (dim - 1) * n_face;
      op.slope =
        pack(n_face_lower,
             n_tangential + n,
             [&](const unsigned int i, const unsigned int j) {
               return j < n_tangential
                        ? r.tangential[j / n_face][i * n_face + j % n_face]
                        : r.transversal[i * n + j - n_tangential];
             });
      op.face_rows = pack(
        n_face,
        n_face + (dim - 1) * n_face_lower,
        [&](const unsigned int i, const unsigned int j) {
          if (j < n_face)
            return r.face_moments[j * n_face + i];
          const unsigned int m = j - n_face;
          return r.tangential[m / n_face_lower][m % n_face_lower * n_face + i];
        });
      op.transversal_rows =
        pack(n, n_face_lower, [&](const unsigned int i, const unsigned int j) {
          return r.transversal[j * n + i];
        });
    }



    void
    HostSimplexProduct::make_batches()
    {
      const unsigned int lanes = kernels.lanes, dim = data.dim;
      const auto         n_batches = [lanes](const unsigned int n) {
        return std::size_t((n + lanes - 1) / lanes);
      };
      const std::size_t n_all = n_batches(data.n_simplices),
                        n_own = n_batches(data.n_rows);
      corners = batches_of_corners(data.corners, dim, data.n_simplices, lanes);
      coefficients.assign(n_own * op.n_coefficients * lanes, 0.);
      neighbors.assign(n_own * (dim + 1) * lanes, SimplexData::no_neighbor);
      for (std::size_t k = 0; k < data.n_rows; ++k)
        {
          const std::size_t batch = k / lanes, l = k % lanes;
          for (unsigned int v = 0; v < op.n_coefficients; ++v)
            coefficients[(batch * op.n_coefficients + v) * lanes + l] =
              data.coefficients[k * op.n_coefficients + v];
          for (unsigned int face = 0; face <= dim; ++face)
            neighbors[(batch * (dim + 1) + face) * lanes + l] =
              data.neighbor[k * (dim + 1) + face];
        }
      nodal.resize(n_all * reference.n * lanes);
      data.corners      = std::vector<double>();
      data.coefficients = std::vector<double>();
      data.neighbor     = std::vector<unsigned int>();
    }



    void
    HostSimplexProduct::vmult(const Device::Destination<double> &dst,
                              const double                      *src,
                              const double                      *ghosts,
                              const bool transpose) const
    {
      const std::size_t  n = reference.n, lanes = kernels.lanes;
      const unsigned int n_corners = SimplexData::n_corner_values(data.dim);
      // Calls function(begin, end) for batches of the first simplices.
      const auto for_batches = [lanes](const std::size_t n_simplices,
                                       const auto       &function) {
        dealii::parallel::apply_to_subranges(std::size_t(0),
                                             (n_simplices + lanes - 1) / lanes,
                                             function,
                                             16);
      };
      for_batches(data.n_simplices,
                  [&](const std::size_t begin, const std::size_t end) {
                    std::vector<double> u(n * lanes);
                    for (std::size_t batch = begin; batch < end; ++batch)
                      {
                        for (std::size_t l = 0; l < lanes; ++l)
                          {
                            const std::size_t k =
                              std::min<std::size_t>(batch * lanes + l,
                                                    data.n_simplices - 1);
                            const double *const from =
                              k < data.n_rows ? src + k * n
                                              : ghosts + (k - data.n_rows) * n;
                            for (std::size_t m = 0; m < n; ++m)
                              u[place[m] * lanes + l] = from[m];
                          }
                        kernels.evaluate(op,
                                         &corners[batch * n_corners * lanes],
                                         u.data(),
                                         &nodal[batch * n * lanes]);
                      }
                  });
      for_batches(
        data.n_rows, [&](const std::size_t begin, const std::size_t end) {
          std::vector<double> work(HostSimplexKernels::work_size(op) * lanes),
            y(n * lanes), rows(n * lanes);
          for (std::size_t batch = begin; batch < end; ++batch)
            {
              kernels.apply(op,
                            transpose ? data.theta : 1.,
                            transpose ? 1. : data.theta,
                            nodal.data(),
                            batch,
                            &coefficients[batch * op.n_coefficients * lanes],
                            &neighbors[batch * (data.dim + 1) * lanes],
                            work.data(),
                            y.data());
              kernels.integrate(op,
                                &corners[batch * n_corners * lanes],
                                y.data(),
                                rows.data());
              for (std::size_t k = batch * lanes;
                   k < std::min<std::size_t>((batch + 1) * lanes, data.n_rows);
                   ++k)
                for (std::size_t m = 0; m < n; ++m)
                  dst.store(k * n + m, rows[place[m] * lanes + k % lanes]);
            }
        });
    }



    double
    HostSimplexProduct::n_operations(const SimplexData      &data,
                                     const SimplexReference &r)
    {
      const double volume = 2. * r.n * r.n + 2. * r.dim * r.n_lower * r.n +
                            (data.reaction ? r.n * r.n : 0.) +
                            (data.advection ? r.n_lower * r.n : 0.);
      const double face = 2. * r.n_face * r.n_face +
                          2. * r.n_face_lower * (r.n + (r.dim - 1.) * r.n_face);
      return 2. * data.n_rows * (volume + (r.dim + 1.) * face);
    }



    std::size_t
    HostSimplexProduct::memory_consumption() const
    {
      return (corners.size() + coefficients.size() + nodal.size()) *
               sizeof(double) +
             neighbors.size() * sizeof(unsigned int);
    }
  } // namespace internal
} // namespace Tessella
