// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Integrals over the facets of a polytope.

#include <algorithm>
#include <cmath>

#include "../backends/host_points.h"
#include "interface_sides.h"
#include "local_solver.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    template <int dim>
    void
    LocalSolver<dim>::assemble_interface(const unsigned int entry)
    {
      const unsigned int     code      = interface_sides(mesh, polytope)[entry];
      const unsigned int     interface = code / 2;
      const TraceSpace<dim> &trace     = problem.trace;
      unsigned int           degree    = dofs.degree[polytope];
      PresentFacet           present;
      present.side        = code % 2;
      present.boundary_id = mesh.interface_boundary_id[interface];
      present.boundary    = mesh.neighbor(code) == invalid_index;
      present.dirichlet =
        present.boundary && problem.form.boundary_type(present.boundary_id) ==
                              BoundaryType::dirichlet;
      if (!present.boundary)
        degree = std::max(degree, dofs.degree[mesh.neighbor(code)]);
      for (unsigned int p = trace.patch_offset[interface];
           p < trace.patch_offset[interface + 1];
           ++p)
        {
          present.patch = p;
          present.n_psi = trace.n_patch_functions[p];
          present.first = column[entry] + trace.first_function[p];
          if (problem.reduced_flux)
            {
              const std::size_t n_psi = present.n_psi;
              patch_B.assign(n_psi * n_padded, 0.);
              patch_D.assign(n_psi * n_psi, 0.);
            }
          for (unsigned int facet = trace.facet_offset[p];
               facet < trace.facet_offset[p + 1];
               ++facet)
            {
              if (!(mesh.facet_measure[facet] > 0.))
                continue;
              present.facet = facet;
              facet_quadrature.reinit_facet(
                mesh, interface, facet, present.side, problem.order[degree]);
              process_facet(present);
            }
          if (problem.reduced_flux)
            add_projected_stabilisation(present);
        }
    }



    template <int dim>
    void
    LocalSolver<dim>::process_facet(PresentFacet present)
    {
      present.n_points = facet_quadrature.size();
      present.m        = padded(present.n_points);
      fill_facet_points(present);
      evaluate_facet_coefficients(present);
      evaluate_facet_functions(present);
      add_trace_couplings(present);
      if (problem.reduced_flux)
        add_projection(present);
      add_stabilisation(present);
      add_trace_equation(present);
    }



    template <int dim>
    void
    LocalSolver<dim>::fill_facet_points(PresentFacet &facet)
    {
      const unsigned int n = n_basis, n_points = facet.n_points, m = facet.m;
      reserve_points(m);
      basis.resize(std::max(basis.size(), std::size_t(dim + 1) * n * m));
      weighted.resize(std::max(weighted.size(), std::size_t(n) * m));
      for (unsigned int q = 0; q < m; ++q)
        {
          const unsigned int p = std::min(q, n_points - 1);
          for (unsigned int d = 0; d < dim; ++d)
            {
              x[d][q]       = facet_quadrature.x[d][p];
              trace_x[d][q] = facet.side == 0
                                ? facet_quadrature.x[d][p]
                                : facet_quadrature.neighbor_x[d][p];
              normal[d][q]  = facet_quadrature.normal[d][p];
              facet.planar =
                facet.planar && std::abs(normal[d][q] - normal[d][0]) < 1e-15;
            }
          w[q]         = q < n_points ? facet_quadrature.JxW[p] : 0.;
          subcells[q]  = facet_quadrature.subcell[p];
          materials[q] = facet_quadrature.material[p];
        }
    }



    template <int dim>
    void
    LocalSolver<dim>::evaluate_facet_coefficients(PresentFacet &facet)
    {
      const unsigned int k = polytope, m = facet.m;
      double tau = problem.stabilisation(k, facet.facet, facet.side);
      if (problem.reduced_flux)
        {
          const double *const box  = &mesh.box[2 * dim * std::size_t(k)];
          double              size = 0.;
          for (unsigned int d = 0; d < dim; ++d)
            size = std::max(size, box[dim + d] - box[d]);
          tau /= size;
          facet.projected_tau = tau;
        }
      else
        facet.tau = tau;

      FacetPointBatch<dim> batch;
      batch.n_points = m;
      std::copy(x, x + dim, batch.x);
      std::copy(normal, normal + dim, batch.normal);
      batch.subcell     = subcells.data();
      batch.material    = materials.data();
      batch.boundary_id = facet.boundary_id;
      std::fill(bn, bn + m, 0.);
      if (advection)
        problem.normal_advection(batch, b, bn);
      for (unsigned int q = 0; q < m; ++q)
        {
          S[q]          = facet.tau + std::max(bn[q], 0.);
          S_minus_bn[q] = S[q] - bn[q];
          // The energy of the polytope has S - b.n / 2 on its boundary.
          stabilised = stabilised || tau + S[q] + S_minus_bn[q] > 0.;
        }
      if (facet.boundary)
        {
          if (advection && !facet.dirichlet)
            problem.check_outflow(batch, b, bn);
          problem.form.evaluate_boundary_data(batch, g, alpha);
        }
    }



    template <int dim>
    void
    LocalSolver<dim>::evaluate_facet_functions(const PresentFacet &facet)
    {
      const unsigned int m = facet.m;
      local_basis.evaluate_box(x, m, basis);
      local_basis.transform(m, basis);
      psi.resize(std::size_t(facet.n_psi) * m);
      weighted_psi.resize(std::size_t(facet.n_psi) * m);
      problem.trace.evaluate(facet.patch, trace_x, m, psi.data(), m, scratch);
    }



    template <int dim>
    void
    LocalSolver<dim>::weigh_traces(const PresentFacet &facet,
                                   const double       *factor)
    {
      const unsigned int m = facet.m;
      for (unsigned int i = 0; i < facet.n_psi; ++i)
        for (unsigned int q = 0; q < m; ++q)
          weighted_psi[std::size_t(i) * m + q] =
            psi[std::size_t(i) * m + q] *
            (factor != nullptr ? w[q] * factor[q] : w[q]);
    }



    template <int dim>
    void
    LocalSolver<dim>::integrate_traces(const PresentFacet &facet,
                                       const double       *factor,
                                       double             *C,
                                       const unsigned int  ldc,
                                       const bool          accumulate)
    {
      weigh_traces(facet, factor);
      product({facet.n_psi, weighted_psi.data(), facet.m},
              {n_basis, basis.data(), (dim + 1) * facet.m},
              facet.m,
              C,
              ldc,
              accumulate);
    }



    template <int dim>
    void
    LocalSolver<dim>::add_trace_couplings(const PresentFacet &facet)
    {
      double *const F_rows = Ft.data() + std::size_t(facet.first) * stride;
      double *const R_rows = Rt.data() + std::size_t(facet.first) * n_padded;
      // If the factors are constant, all matrices are multiples of one product.
      if (facet.planar)
        {
          facet_product.resize(std::size_t(facet.n_psi) * n_padded);
          integrate_traces(
            facet, nullptr, facet_product.data(), n_padded, false);
          for (unsigned int i = 0; i < facet.n_psi; ++i)
            for (unsigned int j = 0; j < n_basis; ++j)
              {
                const double value = facet_product[i * n_padded + j];
                for (unsigned int d = 0; d < dim; ++d)
                  F_rows[std::size_t(i) * stride + d * n_padded + j] +=
                    normal[d][0] * value;
                if (!advection)
                  R_rows[std::size_t(i) * n_padded + j] += facet.tau * value;
              }
        }
      else
        for (unsigned int d = 0; d < dim; ++d)
          integrate_traces(
            facet, normal[d], F_rows + d * n_padded, stride, true);
      if (advection || !facet.planar)
        integrate_traces(facet, S, R_rows, n_padded, true);
      if (advection)
        integrate_traces(facet,
                         S_minus_bn,
                         Tt.data() + std::size_t(facet.first) * n_padded,
                         n_padded,
                         true);
    }



    template <int dim>
    void
    LocalSolver<dim>::add_projection(const PresentFacet &facet)
    {
      const unsigned int m = facet.m, n_psi = facet.n_psi;
      integrate_traces(facet, nullptr, patch_B.data(), n_padded, true);
      for (unsigned int i = 0; i < n_psi; ++i)
        for (unsigned int l = 0; l < n_psi; ++l)
          for (unsigned int q = 0; q < m; ++q)
            patch_D[std::size_t(i) * n_psi + l] +=
              facet.projected_tau * weighted_psi[std::size_t(i) * m + q] *
              psi[std::size_t(l) * m + q];
    }



    template <int dim>
    void
    LocalSolver<dim>::add_stabilisation(const PresentFacet &facet)
    {
      const unsigned int n = n_basis, m = facet.m,
                         function_stride = (dim + 1) * m;
      problem.kernels.directional(nullptr,
                                  problem.conservative ? S : S_minus_bn,
                                  w,
                                  m,
                                  n,
                                  basis.data(),
                                  function_stride,
                                  m,
                                  weighted.data(),
                                  m);
      product({n, weighted.data(), m},
              {n, basis.data(), function_stride},
              m,
              E.data(),
              n_padded,
              true,
              !advection);
    }



    template <int dim>
    void
    LocalSolver<dim>::add_trace_equation(const PresentFacet &facet)
    {
      const unsigned int m = facet.m, n_psi = facet.n_psi, first = facet.first;
      weigh_traces(facet, nullptr);
      for (unsigned int i = 0; i < n_psi; ++i)
        {
          const double *const row = &weighted_psi[std::size_t(i) * m];
          double              sum = 0., data = 0.;
          for (unsigned int q = 0; q < facet.n_points; ++q)
            {
              sum += row[q];
              if (facet.boundary)
                data += row[q] * g[q];
            }
          trace_integral[first + i] += sum;
          if (facet.dirichlet)
            dirichlet[first + i] += data;
          else if (facet.boundary)
            boundary_rhs[first + i] += data;
        }
      if (facet.dirichlet)
        return;
      if (facet.boundary)
        for (unsigned int q = 0; q < m; ++q)
          {
            S_minus_bn[q] = S[q] + alpha[q];
            integral_abs_g += w[q] * std::abs(g[q]);
            fixes_constant = fixes_constant || (w[q] > 0. && alpha[q] != 0.);
          }
      if (problem.reduced_flux)
        for (unsigned int q = 0; q < m; ++q)
          S_minus_bn[q] += facet.projected_tau;
      weigh_traces(facet, S_minus_bn);
      const unsigned int n_rows = n_traces + 1;
      product({n_psi, weighted_psi.data(), m},
              {n_psi, psi.data(), m},
              m,
              K.data() + std::size_t(first) * n_rows + first,
              n_rows,
              true);
    }



    template <int dim>
    void
    LocalSolver<dim>::add_projected_stabilisation(const PresentFacet &patch)
    {
      const unsigned int n = n_basis, n_psi = patch.n_psi;
      const std::size_t  first = patch.first;
      patch_DB.assign(patch_B.size(), 0.);
      for (unsigned int i = 0; i < n_psi; ++i)
        {
          double *const row = &patch_DB[std::size_t(i) * n_padded];
          for (unsigned int l = 0; l < n_psi; ++l)
            {
              const double        D = patch_D[std::size_t(i) * n_psi + l];
              const double *const B = &patch_B[std::size_t(l) * n_padded];
              for (unsigned int j = 0; j < n; ++j)
                row[j] += D * B[j];
            }
          for (unsigned int j = 0; j < n; ++j)
            Rt[(first + i) * n_padded + j] += row[j];
          if (advection)
            for (unsigned int j = 0; j < n; ++j)
              Tt[(first + i) * n_padded + j] += row[j];
          const double *const B = &patch_B[std::size_t(i) * n_padded];
          for (unsigned int j = 0; j < n; ++j)
            for (unsigned int l = 0; l < n; ++l)
              E[std::size_t(j) * n_padded + l] += B[j] * row[l];
        }
      n_operations += 2 * std::uint64_t(n) * n_psi * (n_psi + n);
    }



    template void
    LocalSolver<2>::assemble_interface(const unsigned int);
    template void
    LocalSolver<3>::assemble_interface(const unsigned int);
  } // namespace internal
} // namespace Tessella
