// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "trace_injection.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>

#include <tessella/values/polytope_quadrature.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "../base/collective.h"
#include "../base/parallel_for.h"
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
          , equal_weights(TraceInjection<dim>::has_equal_weights(*form))
          , exponents(legendre_exponents(dim, 1, false))
        {}

        /// Adds the matrices of both sides, with @p n_modes columns, to zeros;
        /// that of side 1 may be null. @p is_edge: whether the interface is one
        /// straight edge.
        void
        operator()(const unsigned int interface,
                   const unsigned int n_modes,
                   const bool         is_edge,
                   double            *side_0,
                   double            *side_1)
        {
          double *const sides[2] = {side_0, side_1};
          for (unsigned int p = trace.patch_offset[interface];
               p < trace.patch_offset[interface + 1];
               ++p)
            {
              double     share[2] = {0., 0.}, upwind[2] = {0., 0.}, area = 0.;
              const bool needs_shares = side_1 != nullptr && !equal_weights;
              for (unsigned int f = trace.facet_offset[p];
                   f < trace.facet_offset[p + 1];
                   ++f)
                {
                  if (!is_edge || needs_shares)
                    quadrature.reinit_facet(
                      mesh, interface, f, 0, is_edge ? 3 : order);
                  if (!is_edge)
                    evaluate(p);
                  if (needs_shares)
                    {
                      add_diffusion(share);
                      add_advection(upwind);
                      for (const double weight : quadrature.JxW)
                        area += weight;
                    }
                  for (unsigned int t = 0; t < 2; ++t)
                    if (sides[t] != nullptr)
                      {
                        const unsigned int k =
                          mesh
                            .interface_polytope[2 * std::size_t(interface) + t];
                        if (is_edge)
                          set_edge(interface, p, f, t, k, n_modes, sides[t]);
                        else
                          add(p,
                              t == 0 ? quadrature.x : quadrature.neighbor_x,
                              k,
                              n_modes,
                              sides[t]);
                      }
                }
              if (side_1 == nullptr)
                continue;
              const double height =
                needs_shares ? mean_height(interface, area) : 0.;
              for (unsigned int t = 0; t < 2; ++t)
                share[t] += height * upwind[t];
              const double sum = share[0] + share[1];
              for (unsigned int t = 0; t < 2; ++t)
                scale(p, sum > 0. ? share[t] / sum : 0.5, n_modes, sides[t]);
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
            const unsigned int                          n_modes,
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
                matrix[i * n_modes + trace.first_function[p] + m] += sum;
              }
        }

        /// Sets the matrix of polytope @p k, on side @p t, for a straight edge.
        /// Let v_m be the value of a function in the middle of the edge, and
        /// v_h half of its difference along the edge. The projection has the
        /// coefficients |F|^(1/2) v_m and (|F| / 3)^(1/2) v_h for the trace
        /// functions |F|^(-1/2) and (3 / |F|)^(1/2) xi, with xi from -1 to 1
        /// along the edge.
        void
        set_edge(const unsigned int interface,
                 const unsigned int p,
                 const unsigned int f,
                 const unsigned int t,
                 const unsigned int k,
                 const unsigned int n_modes,
                 double            *matrix) const
        {
          const double *const x =
            &mesh
               .facet_vertices[dim * std::size_t(mesh.facet_vertex_offset[f])];
          const double *const frame =
            &trace.frame[std::size_t(dim * dim + 2 * dim) * p];
          const double *const box = &mesh.box[2 * dim * std::size_t(k)];
          const double *const shift =
            &mesh.shift[t == 0
                          ? 0
                          : dim * std::size_t(mesh.interface_shift[interface])];
          double volume = 1., direction = 0.;
          for (unsigned int d = 0; d < dim; ++d)
            {
              volume *= box[dim + d] - box[d];
              direction += frame[d] * (x[dim + d] - x[d]);
            }
          const double measure = mesh.facet_measure[f];
          const double sign    = direction > 0. ? 1. : -1.;
          for (unsigned int i = 0; i < dim + 1; ++i)
            {
              double middle = 1., half = 0.;
              for (unsigned int d = 0; d < dim; ++d)
                if (exponents[i * dim + d] == 1)
                  {
                    const double length = box[dim + d] - box[d];
                    middle =
                      std::sqrt(3.) *
                      ((x[d] + x[dim + d] + 2. * shift[d] - 2. * box[d]) /
                         length -
                       1.);
                    half = std::sqrt(3.) * (x[dim + d] - x[d]) / length;
                  }
              matrix[i * n_modes] = middle * std::sqrt(measure / volume);
              if (n_modes > 1)
                matrix[i * n_modes + 1] =
                  sign * half * std::sqrt(measure / (3. * volume));
            }
        }

        void
        scale(const unsigned int p,
              const double       factor,
              const unsigned int n_modes,
              double            *matrix) const
        {
          const unsigned int first = trace.first_function[p];
          const unsigned int end =
            std::min(n_modes, first + trace.n_patch_functions[p]);
          for (unsigned int i = 0; i < dim + 1; ++i)
            for (unsigned int m = first; m < end; ++m)
              matrix[i * n_modes + m] *= factor;
        }

        const PolytopicMesh<dim>        &mesh;
        const TraceSpace<dim>           &trace;
        const WeightedPenaltyForm<dim>  *form;
        const unsigned int               order;
        const bool                       equal_weights;
        const std::vector<unsigned char> exponents;
        InterfaceQuadrature<dim>         quadrature;
        std::vector<double>              values, an, scratch;
      };
    } // namespace



    template <int dim>
    TraceInjection<dim>::TraceInjection(
      const AgglomerationHandler<dim> &handler,
      const HDG<dim>                  &hdg,
      const BlockMatrixBase           &matrix)
      : n_blocks(matrix.block_sparsity().row_width.size())
      , n_polytopes(handler.n_polytopes())
      , handler(handler)
      , hdg(hdg)
      , trace_matrix(matrix)
    {
      Tessella::on_all_processes(handler.get_communicator(), [&] {
        find_blocks();
        list_sides();
      });
    }



    // Own blocks have the order of their interfaces, ghosts that of their
    // global indices.
    template <int dim>
    void
    TraceInjection<dim>::find_blocks()
    {
      const PolytopicMesh<dim>         &mesh      = handler.polytopic_mesh();
      const std::vector<std::uint64_t> &offset    = trace_matrix.dof_offset();
      const auto                       &partition = trace_matrix.partition();
      const std::uint64_t               first_row =
        partition == nullptr ? 0 : partition->first_row();
      const std::uint64_t n_owned_rows = offset[n_blocks];
      interface.assign(offset.size() - 1, invalid_index);
      block.assign(mesh.n_interfaces(), invalid_index);
      unsigned int n_found = 0;
      const auto   check   = [](const bool fits) {
        AssertThrow(fits,
                    ExcMessage("The trace matrix does not belong to this HDG "
                                   "object: call its reinit() and assemble() "
                                   "before TraceMultigrid::initialize()."));
      };
      for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
        {
          const types::global_dof_index first = hdg.first_dof(i);
          if (first == numbers::invalid_dof_index)
            continue;
          unsigned int b = n_found;
          if (first >= first_row && first < first_row + n_owned_rows)
            {
              check(b < n_blocks && first_row + offset[b] == first);
              ++n_found;
            }
          else
            {
              check(partition != nullptr);
              const auto &ghosts = partition->first_ghost_rows();
              const auto  place =
                std::lower_bound(ghosts.begin(), ghosts.end(), first);
              check(place != ghosts.end() && *place == first);
              b = n_blocks + (place - ghosts.begin());
            }
          block[i]     = b;
          interface[b] = i;
        }
      AssertThrow(n_found == n_blocks,
                  ExcMessage(
                    "The trace matrix has " + std::to_string(n_blocks) +
                    " block rows, but there are " + std::to_string(n_found) +
                    " interfaces with degrees of freedom."));
    }



    template <int dim>
    void
    TraceInjection<dim>::list_sides()
    {
      const PolytopicMesh<dim> &mesh  = handler.polytopic_mesh();
      const unsigned int        n_all = interface.size();
      polytope.assign(2 * std::size_t(n_all), invalid_index);
      matrix_offset.assign(n_all + 1, 0);
      const TraceSpace<dim> &trace = hdg.trace_space();
      parallel_for(n_all, 1024, [&](const unsigned int b) {
        const unsigned int i = interface[b];
        if (i == invalid_index)
          return;
        for (unsigned int t = 0; t < 2; ++t)
          polytope[2 * std::size_t(b) + t] =
            mesh.interface_polytope[2 * std::size_t(i) + t];
        matrix_offset[b + 1] = is_edge(i) ? std::min(trace.n_functions[i], 2u)
                                          : trace.n_functions[i];
      });
      for (unsigned int b = 0; b < n_all; ++b)
        {
          const unsigned int n_modes = matrix_offset[b + 1];
          max_modes                  = std::max(max_modes, n_modes);
          matrix_offset[b + 1] = matrix_offset[b] + 2 * (dim + 1) * n_modes;
        }
      side_offset.assign(n_polytopes + 1, 0);
      parallel_for(n_polytopes, 256, [&](const unsigned int k) {
        for (const unsigned int e : interface_sides(mesh, k))
          if (block[e / 2] != invalid_index)
            ++side_offset[k + 1];
      });
      for (unsigned int k = 0; k < n_polytopes; ++k)
        side_offset[k + 1] += side_offset[k];
      side.resize(side_offset[n_polytopes]);
      parallel_for(n_polytopes, 256, [&](const unsigned int k) {
        unsigned int next = side_offset[k];
        for (const unsigned int e : interface_sides(mesh, k))
          if (block[e / 2] != invalid_index)
            side[next++] = 2 * block[e / 2] + e % 2;
      });
    }



    template <int dim>
    bool
    TraceInjection<dim>::is_edge(const unsigned int interface) const
    {
      const PolytopicMesh<dim> &mesh  = handler.polytopic_mesh();
      const TraceSpace<dim>    &trace = hdg.trace_space();
      if (dim != 2 || trace.tensor_product ||
          trace.patch_offset[interface + 1] !=
            trace.patch_offset[interface] + 1)
        return false;
      const unsigned int p = trace.patch_offset[interface],
                         f = trace.facet_offset[p];
      return trace.facet_offset[p + 1] == f + 1 &&
             mesh.facet_type[f] == FacetType::simplex &&
             mesh.facet_measure[f] > 0.;
    }



    template <int dim>
    bool
    TraceInjection<dim>::has_equal_weights(const Form<dim> &form)
    {
      const VolumeStructure structure = form.volume_structure();
      return structure.constant && !structure.b;
    }



    template <int dim>
    void
    TraceInjection<dim>::set_matrices(const Form<dim> &form)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      const bool                product =
        handler.polynomial_space() == PolynomialSpaceType::tensor_product;
      const unsigned int order = local_quadrature_order(
        dim, std::max(handler.max_degree(), 1u), product, 0);
      Tessella::on_all_processes(handler.get_communicator(), [&] {
        prepare_quadrature(handler, order);
        const WeightedPenaltyForm<dim> weighted(form);
        matrix.assign(matrix_offset.back(), 0.);
        parallel::apply_to_subranges(
          0u,
          static_cast<unsigned int>(interface.size()),
          [&](const unsigned int begin, const unsigned int end) {
            PatchMatrices<dim> make(mesh, hdg.trace_space(), &weighted, order);
            for (unsigned int b = begin; b < end; ++b)
              {
                const unsigned int i = interface[b];
                if (i == invalid_index)
                  continue;
                const bool boundary =
                  mesh.interface_polytope[2 * std::size_t(i) + 1] ==
                  invalid_index;
                double *const     side_0 = &matrix[matrix_offset[b]];
                const std::size_t size =
                  (matrix_offset[b + 1] - matrix_offset[b]) / 2;
                make(i,
                     size / (dim + 1),
                     is_edge(i),
                     side_0,
                     boundary ? nullptr : side_0 + size);
              }
          },
          64);
      });
    }



    template <int dim>
    BlockSparsity
    TraceInjection<dim>::galerkin_sparsity(const BlockSparsity &least) const
    {
      const BlockSparsity &sparsity = trace_matrix.block_sparsity();
      // Calls function(k, columns of row k) on all threads.
      const auto for_rows = [&](const auto &function) {
        parallel::apply_to_subranges(
          0u,
          n_polytopes,
          [&](const unsigned int begin, const unsigned int end) {
            std::vector<unsigned int> list;
            for (unsigned int k = begin; k < end; ++k)
              {
                list.assign(least.block_column.begin() + least.block_offset[k],
                            least.block_column.begin() +
                              least.block_offset[k + 1]);
                for (unsigned int s = side_offset[k]; s < side_offset[k + 1];
                     ++s)
                  for (std::uint64_t b = sparsity.block_offset[side[s] / 2];
                       b < sparsity.block_offset[side[s] / 2 + 1];
                       ++b)
                    for (unsigned int t = 0; t < 2; ++t)
                      {
                        const unsigned int l =
                          polytope[2 * std::size_t(sparsity.block_column[b]) +
                                   t];
                        if (l != invalid_index)
                          list.push_back(l);
                      }
                std::sort(list.begin(), list.end());
                list.erase(std::unique(list.begin(), list.end()), list.end());
                function(k, list);
              }
          },
          64);
      };
      BlockSparsity result;
      result.block_offset.assign(n_polytopes + 1, 0);
      result.value_offset.assign(n_polytopes + 1, 0);
      result.row_width.resize(n_polytopes);
      for_rows(
        [&](const unsigned int k, const std::vector<unsigned int> &list) {
          result.block_offset[k + 1] = list.size();
          result.row_width[k]        = (dim + 1) * list.size();
          result.value_offset[k + 1] = (dim + 1) * (dim + 1) * list.size();
        });
      for (unsigned int k = 0; k < n_polytopes; ++k)
        {
          result.block_offset[k + 1] += result.block_offset[k];
          result.value_offset[k + 1] += result.value_offset[k];
        }
      result.block_column.resize(result.block_offset[n_polytopes]);
      result.column_offset.resize(result.block_offset[n_polytopes]);
      for_rows(
        [&](const unsigned int k, const std::vector<unsigned int> &list) {
          std::copy(list.begin(),
                    list.end(),
                    result.block_column.begin() + result.block_offset[k]);
          for (std::size_t b = 0; b < list.size(); ++b)
            result.column_offset[result.block_offset[k] + b] = (dim + 1) * b;
        });
      return result;
    }



    template struct TraceInjection<2>;
    template struct TraceInjection<3>;
  } // namespace internal
} // namespace Tessella
