// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_stencil_geometry_h
#define tessella_source_operators_stencil_geometry_h

#include <deal.II/base/exceptions.h>

#include <tessella/forms/polytope_stencil.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/quadrature/quadrature_order.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../numerics/collective_ranges.h"
#include "../numerics/polytope_evaluation.h"
#include "../numerics/polytope_projection.h"

namespace Tessella
{
  namespace internal
  {
    // Errors of PolytopewiseOperator on polytope @p k.

    template <int dim>
    [[noreturn]] void
    throw_mean(const unsigned int               k,
               const unsigned int               component,
               const AgglomerationHandler<dim> &handler)
    {
      AssertThrow(false,
                  dealii::ExcMessage(
                    "The mean value of component " + std::to_string(component) +
                    " on polytope " +
                    std::to_string(handler.global_polytope_index(k)) +
                    " is not finite."));
      throw; // not reached
    }

    template <int dim>
    [[noreturn]] void
    throw_coefficient(const unsigned int               k,
                      const AgglomerationHandler<dim> &handler)
    {
      AssertThrow(false,
                  dealii::ExcMessage(
                    "A functor sets a coefficient on polytope " +
                    std::to_string(handler.global_polytope_index(k)) +
                    " that is not finite."));
      throw; // not reached
    }



    /// Geometry of the stencils of all polytopes that this process owns, for
    /// one revision of mesh and space.
    template <int dim>
    class StencilGeometry
    {
    public:
      StencilGeometry(const AgglomerationHandler<dim> &handler,
                      const unsigned int               extra_order)
        : handler(handler)
        , mesh(handler.polytopic_mesh())
        , dofs(handler.polytopic_dofs())
        , evaluator(handler)
        , extra_order(extra_order)
        , tensor(handler.polynomial_space() ==
                   PolynomialSpaceType::tensor_product &&
                 !mesh.is_aligned())
      {
        // Moments of first order need one degree more than mean values.
        handler.tabulate(extra_order + 1);
        const unsigned int n = mesh.n_owned_polytopes();
        basis_offset.assign(n + 1, 0);
        for (unsigned int k = 0; k < n; ++k)
          basis_offset[k + 1] = basis_offset[k] + dofs.n_basis[k];
        basis_mean.resize(basis_offset[n]);
        basis_slope.resize(basis_offset[n] * dim);
        centroid.resize(std::size_t(mesh.n_polytopes()) * dim);
        apply_to_ranges(
          handler.get_communicator(),
          n,
          [&](const unsigned int begin, const unsigned int end) {
            QuadratureBatch<dim> batch;
            std::vector<double>  phi, moments;
            for (unsigned int k = begin; k < end; ++k)
              set_moments(k, batch, phi, moments);
          },
          16);
        handler.exchange_polytope_values(centroid, dim);
        set_linear_indices();
        set_interfaces();
      }

      /// Sets all members of a stencil but coefficients, means and points.
      void
      set(const unsigned int k, PolytopeStencil<dim> &s) const
      {
        s.polytope     = k;
        s.n_components = dofs.n_components;
        s.degree       = dofs.degree[k];
        s.n_basis      = dofs.n_basis[k];
        s.box          = &mesh.box[std::size_t(k) * 2 * dim];
        s.measure      = mesh.measure[k];
        s.surface      = surface[k];
        s.centroid     = &centroid[std::size_t(k) * dim];
        s.basis_mean   = &basis_mean[basis_offset[k]];
        s.basis_slope  = &basis_slope[basis_offset[k] * dim];
        for (int d = 0; d < dim; ++d)
          s.linear[d] = linear[d];
        const std::size_t first = mesh.polytope_interface_offset[k];
        s.n_interfaces          = mesh.polytope_interface_offset[k + 1] - first;
        s.interfaces            = interfaces.data() + first;
      }

      /// Collects the points of polytope @p k and of its facets in @p batch.
      void
      collect_points(const unsigned int k, QuadratureBatch<dim> &batch) const
      {
        batch.clear();
        const unsigned int order = order_of(dofs.degree[k]);
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          batch.add_subcell(mesh, s, order);
        for (unsigned int j = mesh.polytope_interface_offset[k];
             j < mesh.polytope_interface_offset[k + 1];
             ++j)
          {
            const unsigned int interface_and_side = mesh.polytope_interface[j],
                               neighbor = mesh.neighbor(interface_and_side);
            const unsigned int degree =
              neighbor == invalid_index
                ? dofs.degree[k]
                : std::max(dofs.degree[k], dofs.degree[neighbor]);
            add_interface(interface_and_side, order_of(degree), batch);
          }
      }

      const AgglomerationHandler<dim> &handler;
      const PolytopicMesh<dim>        &mesh;
      const PolytopicDoFs             &dofs;
      const PolytopeEvaluator<dim>     evaluator;
      /// First entry of each owned polytope in basis_mean.
      std::vector<std::uint64_t> basis_offset;
      /// As in PolytopeStencil; centroids are those of ghosts, too.
      std::vector<double> basis_mean, basis_slope, centroid, surface;
      std::vector<StencilInterface<dim>> interfaces;
      unsigned int                       linear[dim] = {};

    private:
      unsigned int
      order_of(const unsigned int degree) const
      {
        return quadrature_order(dim, degree, extra_order, tensor);
      }

      /// Appends the points of an interface in the coordinates of its side.
      void
      add_interface(const unsigned int    interface_and_side,
                    const unsigned int    order,
                    QuadratureBatch<dim> &batch) const
      {
        const unsigned int interface = interface_and_side / 2,
                           first     = batch.size();
        for (unsigned int f = mesh.facet_offset[interface];
             f < mesh.facet_offset[interface + 1];
             ++f)
          batch.add_facet(mesh, f, order);
        if (interface_and_side % 2 == 1)
          for (int d = 0; d < dim; ++d)
            for (unsigned int q = first; q < batch.size(); ++q)
              batch.x[d][q] += shift(interface, d);
      }

      double
      shift(const unsigned int interface, const int d) const
      {
        return mesh.shift.empty()
                 ? 0.
                 : mesh
                     .shift[std::size_t(mesh.interface_shift[interface]) * dim +
                            d];
      }

      /// Computes the centroid of polytope @p k and the mean values and slopes
      /// of its basis functions.
      void
      set_moments(const unsigned int    k,
                  QuadratureBatch<dim> &batch,
                  std::vector<double>  &phi,
                  std::vector<double>  &moments)
      {
        const unsigned int  n    = dofs.n_basis[k];
        const double *const box  = &mesh.box[std::size_t(k) * 2 * dim];
        double *const       mean = &basis_mean[basis_offset[k]];
        phi.resize(n);
        // Integrals of x_d and of x_d x_e about the centre of the box.
        double first[dim] = {}, second[dim * dim] = {}, volume = 0.;
        moments.assign(std::size_t(n) * dim, 0.);
        std::fill(mean, mean + n, 0.);
        const unsigned int order =
          quadrature_order(dim, std::max(dofs.degree[k], 1u), 1, tensor);
        batch.for_subcells(mesh,
                           mesh.subcell_offset[k],
                           mesh.subcell_offset[k + 1],
                           order,
                           [&]() {
                             for (unsigned int q = 0; q < batch.size(); ++q)
                               {
                                 double       x[dim], r[dim];
                                 const double w = batch.weight[q];
                                 volume += w;
                                 for (int d = 0; d < dim; ++d)
                                   {
                                     x[d] = batch.x[d][q];
                                     r[d] =
                                       x[d] - 0.5 * (box[d] + box[dim + d]);
                                     first[d] += w * r[d];
                                     for (int e = 0; e <= d; ++e)
                                       second[e * dim + d] += w * r[d] * r[e];
                                   }
                                 evaluator.basis(k, x, phi.data());
                                 for (unsigned int i = 0; i < n; ++i)
                                   {
                                     mean[i] += w * phi[i];
                                     for (int d = 0; d < dim; ++d)
                                       moments[d * n + i] += w * phi[i] * r[d];
                                   }
                               }
                           });
        double c[dim];
        for (int d = 0; d < dim; ++d)
          {
            c[d] = first[d] / volume;
            centroid[std::size_t(k) * dim + d] =
              0.5 * (box[d] + box[dim + d]) + c[d];
          }
        set_slopes(k, volume, c, second, mean, moments, phi);
      }

      /// Solves with the covariance matrix of polytope @p k for the slopes of
      /// the basis functions, whose @p moments are about the centre of the box,
      /// and divides the integrals @p mean by the volume.
      void
      set_slopes(const unsigned int   k,
                 const double         volume,
                 const double        *c,
                 const double        *second,
                 double              *mean,
                 std::vector<double> &moments,
                 std::vector<double> &rhs)
      {
        const unsigned int n = dofs.n_basis[k];
        rhs.resize(std::size_t(n) * dim);
        for (unsigned int i = 0; i < n; ++i)
          for (int d = 0; d < dim; ++d)
            rhs[i * dim + d] = moments[d * n + i] - c[d] * mean[i];
        double covariance[dim * dim], diagonal[dim];
        for (int d = 0; d < dim; ++d)
          for (int e = d; e < dim; ++e)
            covariance[d * dim + e] =
              second[d * dim + e] - volume * c[d] * c[e];
        solve_cholesky(dim, covariance, n, rhs.data(), diagonal);
        std::copy_n(rhs.begin(),
                    std::size_t(n) * dim,
                    &basis_slope[basis_offset[k] * dim]);
        for (unsigned int i = 0; i < n; ++i)
          mean[i] /= volume;
      }

      void
      set_linear_indices()
      {
        const PolynomialSpaceType  space = handler.polynomial_space();
        const unsigned int         n     = Legendre::n_functions(dim, 1, space);
        std::vector<unsigned char> exponents(std::size_t(n) * dim);
        Legendre::exponents(dim, 1, space, exponents.data());
        for (unsigned int i = 0; i < n; ++i)
          {
            unsigned int sum = 0;
            for (int d = 0; d < dim; ++d)
              sum += exponents[i * dim + d];
            for (int d = 0; d < dim; ++d)
              if (sum == 1 && exponents[i * dim + d] == 1)
                linear[d] = i;
          }
      }

      void
      set_interfaces()
      {
        const unsigned int n = mesh.n_owned_polytopes();
        interfaces.resize(mesh.polytope_interface_offset[n]);
        surface.assign(n, 0.);
        apply_to_ranges(
          handler.get_communicator(),
          n,
          [&](const unsigned int begin, const unsigned int end) {
            QuadratureBatch<dim> batch;
            for (unsigned int k = begin; k < end; ++k)
              for (unsigned int j = mesh.polytope_interface_offset[k];
                   j < mesh.polytope_interface_offset[k + 1];
                   ++j)
                {
                  set_interface(mesh.polytope_interface[j],
                                interfaces[j],
                                batch);
                  surface[k] += interfaces[j].measure;
                }
          },
          64);
      }

      void
      set_interface(const unsigned int     interface_and_side,
                    StencilInterface<dim> &result,
                    QuadratureBatch<dim>  &batch) const
      {
        const unsigned int interface = interface_and_side / 2;
        result.neighbor              = mesh.neighbor(interface_and_side);
        result.boundary_id           = mesh.interface_boundary_id[interface];
        batch.clear();
        add_interface(interface_and_side, 1, batch);
        result.measure = 0.;
        double integral[dim]{};
        for (unsigned int q = 0; q < batch.size(); ++q)
          {
            result.measure += batch.weight[q];
            for (int d = 0; d < dim; ++d)
              integral[d] += batch.weight[q] * batch.x[d][q];
          }
        const bool   inner = result.neighbor != invalid_index;
        const double sign  = interface_and_side % 2 == 0 ? -1. : 1.;
        for (int d = 0; d < dim; ++d)
          {
            result.centroid[d] = integral[d] / result.measure;
            // A point x of side 0 is x + shift for side 1.
            result.neighbor_centroid[d] =
              inner ? centroid[std::size_t(result.neighbor) * dim + d] +
                        sign * shift(interface, d)
                    : 0.;
          }
        result.neighbor_measure = inner ? mesh.measure[result.neighbor] : 0.;
      }

      const unsigned int extra_order;
      const bool         tensor;
    };
  } // namespace internal
} // namespace Tessella

#endif
