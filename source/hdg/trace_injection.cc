// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "trace_injection.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>

#include <tessella/values/polytope_quadrature.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "interface_sides.h"
#include "local_basis.h"
#include "weighted_penalty_form.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      /// Weights of the sides and matrices of the patches of an interface. Each
      /// thread has its own object.
      template <int dim>
      class PatchMatrices
      {
      public:
        PatchMatrices(const PolytopicMesh<dim>       &mesh,
                      const TraceSpace<dim>          &trace,
                      const WeightedPenaltyForm<dim> *form,
                      const unsigned int              order)
          : mesh(mesh)
          , trace(trace)
          , form(form)
          , order(order)
          , exponents(legendre_exponents(dim, 1, false))
        {}

        /// Writes the matrices of both sides; that of side 1 may be null.
        void
        operator()(const unsigned int interface,
                   const unsigned int n_functions,
                   double            *side_0,
                   double            *side_1)
        {
          double *const sides[2] = {side_0, side_1};
          for (unsigned int p = trace.patch_offset[interface];
               p < trace.patch_offset[interface + 1];
               ++p)
            {
              double share[2] = {0., 0.}, upwind[2] = {0., 0.}, area = 0.;
              for (unsigned int f = trace.facet_offset[p];
                   f < trace.facet_offset[p + 1];
                   ++f)
                {
                  quadrature.reinit_facet(mesh, interface, f, 0, order);
                  evaluate(p);
                  if (side_1 != nullptr)
                    {
                      add_diffusion(share);
                      add_advection(upwind);
                      for (const double weight : quadrature.JxW)
                        area += weight;
                    }
                  for (unsigned int t = 0; t < 2; ++t)
                    if (sides[t] != nullptr)
                      add(
                        p,
                        t == 0 ? quadrature.x : quadrature.neighbor_x,
                        mesh.interface_polytope[2 * std::size_t(interface) + t],
                        n_functions,
                        sides[t]);
                }
              if (side_1 == nullptr)
                continue;
              const double height = mean_height(interface, area);
              for (unsigned int t = 0; t < 2; ++t)
                share[t] += height * upwind[t];
              const double sum = share[0] + share[1];
              for (unsigned int t = 0; t < 2; ++t)
                scale(p,
                      sum > 0. ? share[t] / sum : 0.5,
                      n_functions,
                      sides[t]);
            }
        }

      private:
        /// Trace functions at the quadrature points, times weights.
        void
        evaluate(const unsigned int p)
        {
          const unsigned int n = quadrature.size();
          const double      *x[dim];
          for (unsigned int d = 0; d < dim; ++d)
            x[d] = quadrature.x[d].data();
          values.resize(std::size_t(trace.n_patch_functions[p]) * n);
          trace.evaluate(p, x, n, values.data(), n, scratch);
          for (std::size_t i = 0; i < values.size(); ++i)
            values[i] *= quadrature.JxW[i % n];
        }

        /// Adds the integrals of n . a n on both sides.
        void
        add_diffusion(double (&share)[2])
        {
          if (form->volume_structure().diffusion == DiffusionType::none)
            return;
          const unsigned int n = quadrature.size();
          const double      *normal[dim];
          PointBatch<dim>    points;
          points.n_points = n;
          an.resize(std::size_t(dim + 1) * n);
          for (unsigned int t = 0; t < 2; ++t)
            {
              const auto &x = t == 0 ? quadrature.x : quadrature.neighbor_x;
              points.subcell =
                (t == 0 ? quadrature.subcell : quadrature.neighbor_subcell)
                  .data();
              points.material =
                (t == 0 ? quadrature.material : quadrature.neighbor_material)
                  .data();
              for (unsigned int d = 0; d < dim; ++d)
                {
                  points.x[d] = x[d].data();
                  normal[d]   = quadrature.normal[d].data();
                }
              form->conormal(points, normal, an);
              for (unsigned int q = 0; q < n; ++q)
                share[t] += quadrature.JxW[q] * an[std::size_t(dim) * n + q];
            }
        }

        /// Adds the integrals of the outflow from both sides.
        void
        add_advection(double (&upwind)[2])
        {
          if (!form->volume_structure().b)
            return;
          const unsigned int n = quadrature.size();
          PointBatch<dim>    points;
          VolumeBlocks<dim>  blocks = {};
          points.n_points           = n;
          points.subcell            = quadrature.subcell.data();
          points.material           = quadrature.material.data();
          an.resize(std::size_t(dim) * n);
          for (unsigned int d = 0; d < dim; ++d)
            {
              points.x[d] = quadrature.x[d].data();
              blocks.b[d] = an.data() + std::size_t(d) * n;
            }
          form->evaluate_volume(points, blocks);
          for (unsigned int q = 0; q < n; ++q)
            {
              double bn = 0.;
              for (unsigned int d = 0; d < dim; ++d)
                bn += blocks.b[d][q] * quadrature.normal[d][q];
              upwind[bn > 0. ? 0 : 1] += quadrature.JxW[q] * std::abs(bn);
            }
        }

        /// Mean height of both boxes above a patch, from their volumes.
        double
        mean_height(const unsigned int interface, const double area) const
        {
          double inverse = 0.;
          for (unsigned int t = 0; t < 2; ++t)
            {
              const double *const box =
                &mesh.box[2 * dim *
                          std::size_t(
                            mesh.interface_polytope[2 * std::size_t(interface) +
                                                    t])];
              double volume = 1.;
              for (unsigned int d = 0; d < dim; ++d)
                volume *= box[dim + d] - box[d];
              inverse += 0.5 * area / volume;
            }
          return inverse > 0. ? 1. / inverse : 0.;
        }

        /// Adds the integrals of a facet.
        void
        add(const unsigned int                          p,
            const std::array<std::vector<double>, dim> &x,
            const unsigned int                          polytope,
            const unsigned int                          n_functions,
            double                                     *matrix)
        {
          const unsigned int  n   = quadrature.size();
          const double *const box = &mesh.box[2 * dim * std::size_t(polytope)];
          double              volume = 1.;
          for (unsigned int d = 0; d < dim; ++d)
            volume *= box[dim + d] - box[d];
          const double constant = 1. / std::sqrt(volume);
          for (unsigned int i = 0; i < dim + 1; ++i)
            for (unsigned int m = 0; m < trace.n_patch_functions[p]; ++m)
              {
                const double *const mu  = values.data() + std::size_t(m) * n;
                double              sum = 0.;
                for (unsigned int q = 0; q < n; ++q)
                  {
                    double v = constant;
                    for (unsigned int d = 0; d < dim; ++d)
                      if (exponents[i * dim + d] == 1)
                        v *= std::sqrt(3.) * (2. * (x[d][q] - box[d]) /
                                                (box[dim + d] - box[d]) -
                                              1.);
                    sum += v * mu[q];
                  }
                matrix[i * n_functions + trace.first_function[p] + m] += sum;
              }
        }

        void
        scale(const unsigned int p,
              const double       factor,
              const unsigned int n_functions,
              double            *matrix) const
        {
          for (unsigned int i = 0; i < dim + 1; ++i)
            for (unsigned int m = 0; m < trace.n_patch_functions[p]; ++m)
              matrix[i * n_functions + trace.first_function[p] + m] *= factor;
        }

        const PolytopicMesh<dim>        &mesh;
        const TraceSpace<dim>           &trace;
        const WeightedPenaltyForm<dim>  *form;
        const unsigned int               order;
        const std::vector<unsigned char> exponents;
        InterfaceQuadrature<dim>         quadrature;
        std::vector<double>              values, an, scratch;
      };
    } // namespace



    template <int dim>
    TraceInjection<dim>::TraceInjection(
      const AgglomerationHandler<dim>  &handler,
      const AgglomerationHandler<dim>  &coarse,
      const HDG<dim>                   &hdg,
      const Form<dim>                  &form,
      const std::vector<std::uint64_t> &trace_offset)
      : n_blocks(trace_offset.size() - 1)
      , n_polytopes(handler.n_polytopes())
      , coarse_offset(coarse.polytopic_dofs().dof_offset.begin(),
                      coarse.polytopic_dofs().dof_offset.end())
    {
      fine_offset = trace_offset;
      fine_offset.insert(fine_offset.end(),
                         trace_offset.begin(),
                         trace_offset.end());
      set_parents(handler, hdg);
      set_matrices(handler, hdg, form);
    }



    template <int dim>
    void
    TraceInjection<dim>::set_parents(const AgglomerationHandler<dim> &handler,
                                     const HDG<dim>                  &hdg)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      parent.assign(side_1(n_blocks), 0);
      std::vector<unsigned int> block(mesh.n_interfaces(), invalid_index);
      for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
        {
          const types::global_dof_index first = hdg.first_dof(i);
          if (first == numbers::invalid_dof_index)
            continue;
          const unsigned int b = interface.size();
          AssertThrow(b < n_blocks && fine_offset[b] == first,
                      ExcMessage("The trace matrix does not belong to this HDG "
                                 "object: call its reinit() and assemble() "
                                 "before TraceMultigrid::initialize()."));
          block[i] = b;
          interface.push_back(i);
          const unsigned int *const k =
            &mesh.interface_polytope[2 * std::size_t(i)];
          parent[b]         = k[0];
          parent[side_1(b)] = k[1] == invalid_index ? k[0] : k[1];
        }
      AssertThrow(interface.size() == n_blocks,
                  ExcMessage("The trace matrix has " +
                             std::to_string(n_blocks) +
                             " block rows, but there are " +
                             std::to_string(interface.size()) +
                             " interfaces with degrees of freedom."));
      child_offset.assign(1, 0);
      for (unsigned int k = 0; k < n_polytopes; ++k)
        {
          for (const unsigned int e : interface_sides(mesh, k))
            if (block[e / 2] != invalid_index)
              child.push_back(e % 2 == 0 ? block[e / 2] : side_1(block[e / 2]));
          child_offset.push_back(child.size());
        }
    }



    template <int dim>
    void
    TraceInjection<dim>::set_matrices(const AgglomerationHandler<dim> &handler,
                                      const HDG<dim>                  &hdg,
                                      const Form<dim>                 &form)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      const bool                product =
        handler.polynomial_space() == PolynomialSpaceType::tensor_product;
      const unsigned int order = local_quadrature_order(
        dim, std::max(handler.max_degree(), 1u), product, 0);
      prepare_quadrature(handler, order);
      const WeightedPenaltyForm<dim> weighted(form);
      matrix_offset.assign(fine_offset.size(), 0);
      for (unsigned int e = 0; e + 1 < matrix_offset.size(); ++e)
        matrix_offset[e + 1] =
          matrix_offset[e] +
          (e == n_blocks ? 0
                         : (dim + 1) * (fine_offset[e + 1] - fine_offset[e]));
      matrix.assign(matrix_offset.back(), 0.);
      parallel::apply_to_subranges(
        0u,
        n_blocks,
        [&](const unsigned int begin, const unsigned int end) {
          PatchMatrices<dim> make(mesh, hdg.trace_space(), &weighted, order);
          for (unsigned int b = begin; b < end; ++b)
            {
              const unsigned int i = interface[b];
              const bool         boundary =
                mesh.interface_polytope[2 * std::size_t(i) + 1] ==
                invalid_index;
              make(i,
                   fine_offset[b + 1] - fine_offset[b],
                   &matrix[matrix_offset[b]],
                   boundary ? nullptr : &matrix[matrix_offset[side_1(b)]]);
            }
        },
        64);
    }



    template <int dim>
    BlockSparsity
    TraceInjection<dim>::galerkin_sparsity(const BlockSparsity &sparsity,
                                           const BlockSparsity &least) const
    {
      std::vector<std::vector<unsigned int>> columns(n_polytopes);
      parallel::apply_to_subranges(
        0u,
        n_polytopes,
        [&](const unsigned int begin, const unsigned int end) {
          for (unsigned int k = begin; k < end; ++k)
            {
              std::vector<unsigned int> &list = columns[k];
              list.assign(least.block_column.begin() + least.block_offset[k],
                          least.block_column.begin() +
                            least.block_offset[k + 1]);
              for (unsigned int c = child_offset[k]; c < child_offset[k + 1];
                   ++c)
                {
                  const unsigned int i = child[c] % (n_blocks + 1);
                  for (std::uint64_t b = sparsity.block_offset[i];
                       b < sparsity.block_offset[i + 1];
                       ++b)
                    {
                      list.push_back(parent[sparsity.block_column[b]]);
                      list.push_back(parent[side_1(sparsity.block_column[b])]);
                    }
                }
              std::sort(list.begin(), list.end());
              list.erase(std::unique(list.begin(), list.end()), list.end());
            }
        },
        64);
      BlockSparsity result;
      result.block_offset.assign(1, 0);
      result.value_offset.assign(1, 0);
      for (unsigned int k = 0; k < n_polytopes; ++k)
        {
          unsigned int width = 0;
          for (const unsigned int l : columns[k])
            {
              result.block_column.push_back(l);
              result.column_offset.push_back(width);
              width += coarse_offset[l + 1] - coarse_offset[l];
            }
          result.row_width.push_back(width);
          result.block_offset.push_back(result.block_column.size());
          result.value_offset.push_back(
            result.value_offset.back() +
            width * (coarse_offset[k + 1] - coarse_offset[k]));
        }
      return result;
    }



    template <int dim>
    void
    TraceInjection<dim>::galerkin(const BlockSparsity       &sparsity,
                                  const std::vector<double> &values,
                                  const BlockSparsity       &least,
                                  HostBlockMatrix<double>   &result) const
    {
      const BlockSparsity coarse = galerkin_sparsity(sparsity, least);
      result.reinit(coarse, coarse_offset);
      double *const to   = result.values();
      const auto    rows = [&](const unsigned int k) {
        std::vector<double> half;
        for (unsigned int c = child_offset[k]; c < child_offset[k + 1]; ++c)
          {
            const unsigned int i     = child[c] % (n_blocks + 1);
            const unsigned int width = sparsity.row_width[i];
            const unsigned int n_i   = fine_offset[i + 1] - fine_offset[i];
            const double      *P     = &matrix[matrix_offset[child[c]]];
            half.assign(std::size_t(dim + 1) * width, 0.);
            for (unsigned int r = 0; r < dim + 1; ++r)
              for (unsigned int m = 0; m < n_i; ++m)
                {
                  const double  factor = P[r * n_i + m];
                  const double *row =
                    &values[sparsity.value_offset[i] + std::size_t(m) * width];
                  double *const sums = &half[std::size_t(r) * width];
                  for (unsigned int j = 0; j < width && factor != 0.; ++j)
                    sums[j] += factor * row[j];
                }
            for (std::uint64_t b = sparsity.block_offset[i];
                 b < sparsity.block_offset[i + 1];
                 ++b)
              {
                const unsigned int j   = sparsity.block_column[b];
                const unsigned int n_j = fine_offset[j + 1] - fine_offset[j];
                for (const unsigned int e : {j, side_1(j)})
                  {
                    const double       *Q     = &matrix[matrix_offset[e]];
                    const std::uint64_t place = coarse.find_block(k, parent[e]);
                    for (unsigned int r = 0; r < dim + 1; ++r)
                      for (unsigned int s = 0; s < dim + 1; ++s)
                        {
                          const double *const from =
                            &half[std::size_t(r) * width +
                                  sparsity.column_offset[b]];
                          double sum = 0.;
                          for (unsigned int m = 0; m < n_j; ++m)
                            sum += from[m] * Q[s * n_j + m];
                          to[coarse.value_offset[k] +
                             std::size_t(r) * coarse.row_width[k] +
                             coarse.column_offset[place] + s] += sum;
                        }
                  }
              }
          }
      };
      parallel::apply_to_subranges(
        0u,
        n_polytopes,
        [&](const unsigned int begin, const unsigned int end) {
          for (unsigned int k = begin; k < end; ++k)
            rows(k);
        },
        16);
    }



    template struct TraceInjection<2>;
    template struct TraceInjection<3>;
  } // namespace internal
} // namespace Tessella
