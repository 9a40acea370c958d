// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "post_processing.h"

#include <deal.II/base/exceptions.h>

#include <tessella/quadrature/reference_quadrature.h>
#include <tessella/values/polytope_quadrature.h>

#include <algorithm>
#include <vector>

#include "../backends/host_dispatch.h"
#include "../lac/dense.h"
#include "local_basis.h"
#include "tensor.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      /// Post-processing polytope by polytope. Each thread has its own object.
      template <int dim>
      class PostProcessor
      {
      public:
        PostProcessor(const AgglomerationHandler<dim> &handler,
                      const Form<dim>                 &form,
                      const AgglomerationHandler<dim> &finer,
                      const HostKernels::Kernels<dim> &kernels)
          : mesh(handler.polytopic_mesh())
          , fine_mesh(finer.polytopic_mesh())
          , dofs(handler.polytopic_dofs())
          , fine_dofs(finer.polytopic_dofs())
          , form(form)
          , kernels(kernels)
          , tensor_product(finer.polynomial_space() ==
                           PolynomialSpaceType::tensor_product)
          , exponents(
              legendre_exponents(dim, finer.max_degree(), tensor_product))
          , local_basis(kernels, exponents, tensor_product)
          , tensor(form.volume_structure().diffusion == DiffusionType::tensor)
        {}

        void
        run(const unsigned int k,
            const unsigned int order,
            const double      *u,
            const double      *q,
            double            *result)
        {
          n        = fine_dofs.n_basis[k];
          n_coarse = dofs.n_basis[k];
          n_padded = padded(n);
          A.assign(std::size_t(n_padded) * n_padded, 0.);
          rhs.assign(n_padded, 0.);
          integrals.assign(n, 0.);
          local_basis.reinit(fine_mesh, fine_dofs, k, order);
          integral = 0.;
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1];
               ++s)
            {
              quadrature.reinit_subcell(mesh, s, order);
              for (unsigned int begin = 0; begin < quadrature.size();
                   begin += slice)
                add_points(begin,
                           std::min(slice, quadrature.size() - begin),
                           u,
                           q);
            }

          // The condition that u* and u have the same integral is a rank-one
          // term, scaled to the size of the other entries.
          double square = 0., largest = 0.;
          for (unsigned int i = 0; i < n; ++i)
            {
              square += integrals[i] * integrals[i];
              largest = std::max(largest, A[std::size_t(i) * (n_padded + 1)]);
            }
          const double scale = (largest > 0. ? largest : 1.) / square;
          for (unsigned int i = 0; i < n; ++i)
            {
              rhs[i] += scale * integral * integrals[i];
              for (unsigned int j = 0; j <= i; ++j)
                {
                  double &entry = A[std::size_t(i) * n_padded + j];
                  entry         = A[std::size_t(j) * n_padded + i] +
                          scale * integrals[i] * integrals[j];
                }
            }
          AssertThrow(Dense::cholesky(n, A.data(), n_padded) == n,
                      ExcMessage("The basis functions of degree " +
                                 std::to_string(fine_dofs.degree[k]) +
                                 " are linearly dependent up to rounding on "
                                 "polytope " +
                                 std::to_string(k) +
                                 ": post-process with a lower degree."));
          for (unsigned int i = 0; i < n; ++i)
            {
              for (unsigned int j = 0; j < i; ++j)
                rhs[i] -= A[std::size_t(i) * n_padded + j] * rhs[j];
              rhs[i] /= A[std::size_t(i) * (n_padded + 1)];
            }
          for (unsigned int i = n; i-- > 0;)
            {
              for (unsigned int j = i + 1; j < n; ++j)
                rhs[i] -= A[std::size_t(j) * n_padded + i] * rhs[j];
              rhs[i] /= A[std::size_t(i) * (n_padded + 1)];
            }
          local_basis.to_box(1, rhs.data(), n_padded);
          std::copy_n(rhs.begin(), n, result);
        }

      private:
        static constexpr unsigned int slice = 64;

        // A slice of points of the present sub-cell, padded.
        struct Slice
        {
          unsigned int m;
          double       x[dim][slice], w[slice], a[dim * dim][slice];
          unsigned int subcells[slice], materials[slice];
          // a^-1 q times weights
          double gradient[dim][slice];
        };

        // Adds the terms of a slice of points of the present sub-cell.
        void
        add_points(const unsigned int begin,
                   const unsigned int n_points,
                   const double      *u,
                   const double      *q)
        {
          Slice points;
          points.m = padded(n_points);
          for (unsigned int p = 0; p < points.m; ++p)
            {
              const unsigned int from = begin + std::min(p, n_points - 1);
              for (unsigned int d = 0; d < dim; ++d)
                points.x[d][p] = quadrature.x[d][from];
              points.w[p]         = p < n_points ? quadrature.JxW[from] : 0.;
              points.subcells[p]  = quadrature.subcell[from];
              points.materials[p] = quadrature.material[from];
            }
          PointBatch<dim> batch;
          batch.n_points = points.m;
          for (unsigned int d = 0; d < dim; ++d)
            batch.x[d] = points.x[d];
          batch.subcell            = points.subcells;
          batch.material           = points.materials;
          VolumeBlocks<dim> blocks = {};
          for (unsigned int d = 0; d < (tensor ? dim * dim : 1); ++d)
            blocks.a[d] = points.a[d];
          form.evaluate_volume(batch, blocks);
          local_basis.evaluate_box(batch.x, points.m, basis);
          evaluate_solution(u, q, points);
          local_basis.transform(points.m, basis);
          add_integrals(points);
        }

        // Computes a^-1 q times weights, and adds to the integral of u. The
        // coarse space is a prefix of the Legendre functions.
        void
        evaluate_solution(const double *u, const double *q, Slice &points)
        {
          const unsigned int m = points.m, stride = (dim + 1) * m;
          double             factor[dim][slice];
          for (unsigned int i = 0; i < n_coarse; ++i)
            for (unsigned int p = 0; p < m; ++p)
              integral += points.w[p] * u[i] * basis[i * stride + p];
          for (unsigned int d = 0; d < dim; ++d)
            {
              std::fill(factor[d], factor[d] + m, 0.);
              for (unsigned int i = 0; i < n_coarse; ++i)
                for (unsigned int p = 0; p < m; ++p)
                  factor[d][p] += q[d * n_coarse + i] * basis[i * stride + p];
            }
          for (unsigned int p = 0; p < m; ++p)
            {
              double inverse[dim][dim];
              if (tensor)
                {
                  double value[dim][dim];
                  for (unsigned int d = 0; d < dim * dim; ++d)
                    value[d / dim][d % dim] = points.a[d][p];
                  AssertThrow(invert_tensor<dim>(value, inverse),
                              ExcMessage("The diffusion tensor is not "
                                         "symmetric and positive definite."));
                }
              for (unsigned int d = 0; d < dim; ++d)
                {
                  double sum = 0.;
                  if (tensor)
                    for (unsigned int e = 0; e < dim; ++e)
                      sum += inverse[d][e] * factor[e][p];
                  else
                    sum = factor[d][p] / points.a[0][p];
                  points.gradient[d][p] = points.w[p] * sum;
                }
            }
        }

        // Adds to the matrix, to the right-hand side and to the integrals of
        // the functions.
        void
        add_integrals(const Slice &points)
        {
          const unsigned int m = points.m, stride = (dim + 1) * m;
          rows.resize(std::size_t(n) * dim * m);
          for (unsigned int i = 0; i < n; ++i)
            {
              const double *const phi = &basis[std::size_t(i) * stride];
              for (unsigned int p = 0; p < m; ++p)
                integrals[i] += points.w[p] * phi[p];
              for (unsigned int d = 0; d < dim; ++d)
                for (unsigned int p = 0; p < m; ++p)
                  {
                    rhs[i] += points.gradient[d][p] * phi[(1 + d) * m + p];
                    rows[(std::size_t(i) * dim + d) * m + p] =
                      points.w[p] * phi[(1 + d) * m + p];
                  }
            }
          kernels.product({n, rows.data(), dim * m, m},
                          {n, basis.data() + m, stride, m},
                          dim,
                          m,
                          A.data(),
                          n_padded,
                          true,
                          true);
        }

        const PolytopicMesh<dim>        &mesh, &fine_mesh;
        const PolytopicDoFs             &dofs, &fine_dofs;
        const Form<dim>                 &form;
        const HostKernels::Kernels<dim> &kernels;
        const bool                       tensor_product;
        const std::vector<unsigned char> exponents;
        LocalBasis<dim>                  local_basis;
        const bool                       tensor;
        double                           integral = 0.;
        PolytopeQuadrature<dim>          quadrature;
        unsigned int                     n = 0, n_coarse = 0, n_padded = 0;
        std::vector<double>              A, rhs, integrals, basis, rows;
      };
    } // namespace



    template <int dim>
    void
    PostProcessing<dim>::check() const
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh(),
                               &fine = finer.polytopic_mesh();
      const PolytopicDoFs &dofs      = handler.polytopic_dofs(),
                          &fine_dofs = finer.polytopic_dofs();
      AssertThrow(finer.n_polytopes() == handler.n_polytopes() &&
                    finer.n_components() == 1 && finer.n_dofs() > 0 &&
                    finer.polynomial_space() == handler.polynomial_space() &&
                    fine.box == mesh.box,
                  ExcMessage("Post-processing needs a handler with the same "
                             "polytopes and a scalar element of the same kind "
                             "and a higher degree."));
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        AssertThrow(fine_dofs.degree[k] >= dofs.degree[k],
                    ExcMessage("Post-processing needs at least the degree of "
                               "the solution on each polytope, but polytope " +
                               std::to_string(k) + " has degree " +
                               std::to_string(fine_dofs.degree[k]) +
                               " instead of " + std::to_string(dofs.degree[k]) +
                               " or more."));
    }



    template <int dim>
    void
    PostProcessing<dim>::run(const Form<dim>     &form,
                             const double        *solution,
                             const double        *flux,
                             const InstructionSet instruction_set,
                             double              *result) const
    {
      const PolytopicDoFs &dofs      = handler.polytopic_dofs(),
                          &fine_dofs = finer.polytopic_dofs();
      const auto order               = [&](const unsigned int degree) {
        return local_quadrature_order(dim,
                                      degree,
                                      finer.polynomial_space() ==
                                        PolynomialSpaceType::tensor_product,
                                      form.coefficient_order());
      };
      prepare_quadrature(handler, order(finer.max_degree()));
      const HostKernels::Kernels<dim> &kernels =
        select_kernels<dim>(instruction_set);
      for_ranges(handler.n_polytopes(),
                 16,
                 [&](const std::size_t begin, const std::size_t end) {
                   PostProcessor<dim> processor(handler, form, finer, kernels);
                   for (std::size_t k = begin; k < end; ++k)
                     processor.run(k,
                                   order(fine_dofs.degree[k]),
                                   solution + dofs.dof_offset[k],
                                   flux + dim * dofs.dof_offset[k],
                                   result + fine_dofs.dof_offset[k]);
                 });
    }



    template struct PostProcessing<2>;
    template struct PostProcessing<3>;
  } // namespace internal
} // namespace Tessella
