// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "local_solver.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "../backends/host_points.h"
#include "boundary_data.h"
#include "dense.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      void
      mirror(const unsigned int n, double *A, const unsigned int stride)
      {
        for (unsigned int i = 1; i < n; ++i)
          for (unsigned int j = 0; j < i; ++j)
            A[std::size_t(i) * stride + j] = A[std::size_t(j) * stride + i];
      }
    } // namespace



    template <int dim>
    LocalSolver<dim>::LocalSolver(const LocalProblem<dim> &problem)
      : problem(problem)
      , mesh(problem.mesh)
      , structure(problem.form.volume_structure())
      , tensor(structure.diffusion == DiffusionType::tensor)
      , advection(structure.b)
      , local_basis(problem.kernels, problem.exponents, problem.tensor_product)
    {
      reserve_points(256);
    }



    template <int dim>
    void
    LocalSolver<dim>::reserve_points(const unsigned int n)
    {
      if (n <= capacity)
        return;
      capacity                        = padded(n);
      constexpr unsigned int n_arrays = 4 * dim + 2 * dim * dim + 9;
      point_memory.assign(std::size_t(n_arrays) * capacity, 0.);
      double    *p    = point_memory.data();
      const auto next = [&] {
        double *const result = p;
        p += capacity;
        return result;
      };
      for (unsigned int d = 0; d < dim; ++d)
        {
          x[d]       = next();
          trace_x[d] = next();
          normal[d]  = next();
          b[d]       = next();
        }
      for (unsigned int d = 0; d < dim * dim; ++d)
        {
          a[d]         = next();
          inverse_a[d] = next();
        }
      w          = next();
      c          = next();
      f          = next();
      bn         = next();
      S          = next();
      S_minus_bn = next();
      g          = next();
      alpha      = next();
      one        = next();
      std::fill(one, one + capacity, 1.);
      subcells.resize(capacity);
      materials.resize(capacity);
    }



    template <int dim>
    void
    LocalSolver<dim>::product(const unsigned int n_left,
                              const unsigned int n_right,
                              const unsigned int n,
                              const double      *left,
                              const unsigned int left_stride,
                              const double      *right,
                              const unsigned int right_stride,
                              double            *C,
                              const unsigned int ldc,
                              const bool         accumulate,
                              const bool         symmetric)
    {
      if (n_left == 0 || n_right == 0)
        return;
      problem.kernels.product(n_left,
                              n_right,
                              1,
                              n,
                              left,
                              left_stride,
                              0,
                              right,
                              right_stride,
                              0,
                              C,
                              ldc,
                              accumulate,
                              symmetric);
      n_operations += (symmetric ? 1 : 2) * std::uint64_t(n_left) * n_right * n;
    }



    template <int dim>
    void
    LocalSolver<dim>::assemble(const unsigned int k)
    {
      polytope = k;
      n_basis  = mesh.n_basis[k];
      n_padded = padded(n_basis);
      stride   = dim * n_padded;
      n_mass   = tensor ? stride : n_padded;

      const unsigned int begin = mesh.polytope_interface_offset[k],
                         end   = mesh.polytope_interface_offset[k + 1];
      column.assign(1, 0);
      for (unsigned int e = begin; e < end; ++e)
        column.push_back(
          column.back() +
          problem.trace.n_functions[mesh.polytope_interface[e] / 2]);
      n_traces                  = column.back();
      const unsigned int n_rows = n_traces + 1;

      A.assign(std::size_t(n_mass) * n_mass, 0.);
      E.assign(std::size_t(n_padded) * n_padded, 0.);
      Ht.assign(std::size_t(n_basis) * stride, 0.);
      Ft.assign(std::size_t(n_rows) * stride, 0.);
      Rt.assign(std::size_t(n_rows) * n_padded, 0.);
      Tt.assign(advection ? Rt.size() : 0, 0.);
      K.assign(std::size_t(n_rows) * n_rows, 0.);
      load.assign(n_padded, 0.);
      dirichlet.assign(n_traces, 0.);
      trace_integral.assign(n_traces, 0.);
      boundary_rhs.assign(n_traces, 0.);
      integral_abs_f = integral_abs_g = 0.;
      fixes_constant                  = advection;
      stabilised                      = false;

      local_basis.reinit(mesh, k, problem.order[mesh.degree[k]]);
      assemble_volume();
      for (unsigned int e = begin; e < end; ++e)
        assemble_interface(e - begin);

      // The padding is the identity and does not influence the result.
      for (unsigned int d = 0; d < n_mass / n_padded; ++d)
        for (unsigned int i = n_basis; i < n_padded; ++i)
          A[std::size_t(d * n_padded + i) * (n_mass + 1)] = 1.;
      for (unsigned int i = n_basis; i < n_padded; ++i)
        E[std::size_t(i) * (n_padded + 1)] = 1.;
      if (!tensor)
        mirror(n_basis, A.data(), n_mass);
      if (problem.reduced_flux)
        restrict_flux();
      if (!stabilised)
        throw_local_failure(LocalFailure::no_stabilisation, mesh, k);
    }



    template <int dim>
    void
    LocalSolver<dim>::assemble_volume()
    {
      const unsigned int k = polytope, n = n_basis;
      const unsigned int order = problem.order[mesh.degree[k]];
      // A slice is so short that its basis functions stay in the cache.
      const unsigned int slice =
        std::min(256u,
                 std::max(32u,
                          16384 / ((dim + 1) * n) / HostKernels::padding *
                            HostKernels::padding));
      basis.resize(std::size_t(dim + 1) * n * std::max(slice, capacity));
      weighted.resize(std::size_t(n) * std::max(slice, capacity));

      VolumeBlocks<dim> blocks = {};
      if (structure.diffusion != DiffusionType::none)
        for (unsigned int d = 0; d < (tensor ? dim * dim : 1); ++d)
          blocks.a[d] = a[d];
      for (unsigned int d = 0; d < dim; ++d)
        blocks.b[d] = advection ? b[d] : nullptr;
      blocks.c = structure.c ? c : nullptr;
      blocks.f = structure.f ? f : nullptr;

      // Slices may span several sub-cells.
      unsigned int subcell = mesh.subcell_offset[k], point = 0;
      if (subcell < mesh.subcell_offset[k + 1])
        volume_quadrature.reinit_subcell(mesh, subcell, order);
      while (subcell < mesh.subcell_offset[k + 1])
        {
          unsigned int n_points = 0;
          while (n_points < slice && subcell < mesh.subcell_offset[k + 1])
            {
              const unsigned int take =
                std::min(slice - n_points, volume_quadrature.size() - point);
              for (unsigned int q = 0; q < take; ++q)
                {
                  for (unsigned int d = 0; d < dim; ++d)
                    x[d][n_points + q] = volume_quadrature.x[d][point + q];
                  w[n_points + q]         = volume_quadrature.JxW[point + q];
                  subcells[n_points + q]  = subcell;
                  materials[n_points + q] = mesh.subcell_material[subcell];
                }
              n_points += take;
              point += take;
              if (point == volume_quadrature.size())
                {
                  point = 0;
                  ++subcell;
                  if (subcell < mesh.subcell_offset[k + 1])
                    volume_quadrature.reinit_subcell(mesh, subcell, order);
                }
            }
          if (n_points == 0)
            break;
          const unsigned int m = padded(n_points);
          for (unsigned int q = n_points; q < m; ++q)
            {
              for (unsigned int d = 0; d < dim; ++d)
                x[d][q] = x[d][n_points - 1];
              w[q]         = 0.;
              subcells[q]  = subcells[n_points - 1];
              materials[q] = materials[n_points - 1];
            }

          PointBatch<dim> batch;
          batch.n_points = m;
          std::copy(x, x + dim, batch.x);
          batch.subcell  = subcells.data();
          batch.material = materials.data();
          problem.form.evaluate_volume(batch, blocks);
          if (structure.diffusion == DiffusionType::none)
            std::fill(a[0], a[0] + m, 0.);
          for (unsigned int q = 0; q < m; ++q)
            {
              double inverse[dim * dim];
              invert_diffusion<dim>(tensor, x, q, a, inverse);
              for (unsigned int d = 0; d < (tensor ? dim * dim : 1); ++d)
                inverse_a[d][q] = inverse[d];
            }
          if (blocks.c != nullptr)
            for (unsigned int q = 0; q < n_points; ++q)
              if (c[q] != 0.)
                {
                  fixes_constant = true;
                  stabilised     = stabilised || c[q] > 0.;
                }

          // values and gradients: dim + 1 rows of m points for each function
          const unsigned int function_stride = (dim + 1) * m;
          local_basis.evaluate_box(x, m, basis);
          local_basis.transform(m, basis);
          const auto weigh = [&](const double *const *direction,
                                 const double        *factor) {
            problem.kernels.directional(direction,
                                        factor,
                                        w,
                                        m,
                                        n,
                                        basis.data(),
                                        function_stride,
                                        m,
                                        weighted.data(),
                                        m);
          };
          const auto multiply = [&](const unsigned int row,
                                    double            *C,
                                    const unsigned int ldc,
                                    const bool         symmetric) {
            product(n,
                    n,
                    m,
                    weighted.data(),
                    m,
                    basis.data() + row * m,
                    function_stride,
                    C,
                    ldc,
                    true,
                    symmetric);
          };

          // A: the lower blocks for a tensor, else the upper triangle
          for (unsigned int d = 0; d < (tensor ? dim : 1); ++d)
            for (unsigned int e = 0; e <= d; ++e)
              {
                weigh(nullptr, inverse_a[d * dim + e]);
                multiply(0,
                         A.data() + std::size_t(d) * n_padded * n_mass +
                           e * n_padded,
                         n_mass,
                         !tensor);
              }
          // H^T
          weigh(nullptr, one);
          for (unsigned int d = 0; d < dim; ++d)
            multiply(1 + d, Ht.data() + d * n_padded, stride, false);
          // E: div(b u) tests with -b.grad phi_i; b . grad u is a row of the
          // trial functions and is computed transposed
          if (advection || blocks.c != nullptr)
            {
              if (advection && problem.conservative)
                for (unsigned int d = 0; d < dim; ++d)
                  for (unsigned int q = 0; q < m; ++q)
                    b[d][q] = -b[d][q];
              weigh(advection ? b : nullptr, blocks.c);
              if (advection && !problem.conservative)
                product(n,
                        n,
                        m,
                        basis.data(),
                        function_stride,
                        weighted.data(),
                        m,
                        E.data(),
                        n_padded,
                        true);
              else
                multiply(0, E.data(), n_padded, !advection);
            }
          if (blocks.f != nullptr)
            {
              for (unsigned int q = 0; q < m; ++q)
                {
                  f[q] *= w[q];
                  integral_abs_f += std::abs(f[q]);
                }
              problem.kernels.vector_product(
                n, m, basis.data(), function_stride, f, load.data());
            }
        }
    }



    template <int dim>
    void
    LocalSolver<dim>::assemble_interface(const unsigned int entry)
    {
      const unsigned int code =
        mesh
          .polytope_interface[mesh.polytope_interface_offset[polytope] + entry];
      const unsigned int interface = code / 2;
      const bool         boundary  = mesh.neighbor(code) == invalid_index;
      unsigned int       degree    = mesh.degree[polytope];
      if (!boundary)
        degree = std::max(degree, mesh.degree[mesh.neighbor(code)]);
      const unsigned int side = code % 2;
      for (unsigned int p = problem.trace.patch_offset[interface];
           p < problem.trace.patch_offset[interface + 1];
           ++p)
        {
          if (problem.reduced_flux)
            {
              const std::size_t n_psi = problem.trace.n_patch_functions[p];
              patch_B.assign(n_psi * n_padded, 0.);
              patch_D.assign(n_psi * n_psi, 0.);
            }
          for (unsigned int facet = problem.trace.facet_offset[p];
               facet < problem.trace.facet_offset[p + 1];
               ++facet)
            {
              if (!(mesh.facet_measure[facet] > 0.))
                continue;
              facet_quadrature.reinit_facet(
                mesh, interface, facet, side, problem.order[degree]);
              process_facet(entry, p, facet, boundary);
            }
          if (problem.reduced_flux)
            add_projected_stabilisation(entry, p);
        }
    }



    template <int dim>
    void
    LocalSolver<dim>::add_projected_stabilisation(const unsigned int entry,
                                                  const unsigned int patch)
    {
      const unsigned int n     = n_basis,
                         n_psi = problem.trace.n_patch_functions[patch];
      const std::size_t first =
        column[entry] + problem.trace.first_function[patch];
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



    template <int dim>
    void
    LocalSolver<dim>::restrict_flux()
    {
      const unsigned int n_flux =
        Legendre::n_functions(dim,
                              mesh.degree[polytope] - 1,
                              problem.tensor_product);
      for (unsigned int d = 0; d < n_mass / n_padded; ++d)
        for (unsigned int i = d * n_padded + n_flux; i < d * n_padded + n_basis;
             ++i)
          {
            for (unsigned int j = 0; j < n_mass; ++j)
              A[std::size_t(i) * n_mass + j] = A[std::size_t(j) * n_mass + i] =
                0.;
            A[std::size_t(i) * (n_mass + 1)] = 1.;
          }
      for (std::vector<double> *rows : {&Ht, &Ft})
        for (std::size_t row = 0; row < rows->size(); row += n_padded)
          std::fill(rows->begin() + row + n_flux,
                    rows->begin() + row + n_basis,
                    0.);
    }



    template <int dim>
    void
    LocalSolver<dim>::process_facet(const unsigned int entry,
                                    const unsigned int patch,
                                    const unsigned int facet,
                                    const bool         boundary)
    {
      const unsigned int k = polytope, n = n_basis;
      const unsigned int code =
        mesh.polytope_interface[mesh.polytope_interface_offset[k] + entry];
      const unsigned int side        = code % 2;
      const unsigned int boundary_id = mesh.interface_boundary_id[code / 2];

      // ---- points
      const unsigned int n_points = facet_quadrature.size(),
                         m        = padded(n_points);
      reserve_points(m);
      basis.resize(std::max(basis.size(), std::size_t(dim + 1) * n * m));
      weighted.resize(std::max(weighted.size(), std::size_t(n) * m));
      bool planar = true;
      for (unsigned int q = 0; q < m; ++q)
        {
          const unsigned int p = std::min(q, n_points - 1);
          for (unsigned int d = 0; d < dim; ++d)
            {
              x[d][q]       = facet_quadrature.x[d][p];
              trace_x[d][q] = side == 0 ? facet_quadrature.x[d][p]
                                        : facet_quadrature.neighbor_x[d][p];
              normal[d][q]  = facet_quadrature.normal[d][p];
              planar = planar && std::abs(normal[d][q] - normal[d][0]) < 1e-15;
            }
          w[q]         = q < n_points ? facet_quadrature.JxW[p] : 0.;
          subcells[q]  = facet_quadrature.subcell[p];
          materials[q] = facet_quadrature.material[p];
        }

      // ---- coefficients
      double tau =
        problem.tau_of_facet ? problem.tau_of_facet(facet, side) : problem.tau;
      check_tau(tau, mesh, k);
      const bool projected = problem.reduced_flux;
      if (projected)
        {
          const double *const box  = &mesh.box[2 * dim * std::size_t(k)];
          double              size = 0.;
          for (unsigned int d = 0; d < dim; ++d)
            size = std::max(size, box[dim + d] - box[d]);
          tau /= size;
        }
      const double         direct_tau = projected ? 0. : tau;
      FacetPointBatch<dim> batch;
      batch.n_points = m;
      std::copy(x, x + dim, batch.x);
      std::copy(normal, normal + dim, batch.normal);
      batch.subcell     = subcells.data();
      batch.material    = materials.data();
      batch.boundary_id = boundary_id;
      std::fill(bn, bn + m, 0.);
      if (advection)
        normal_advection(problem.form, batch, b, bn);
      for (unsigned int q = 0; q < m; ++q)
        {
          S[q]          = direct_tau + std::max(bn[q], 0.);
          S_minus_bn[q] = S[q] - bn[q];
          // The energy of the polytope has S - b.n / 2 on its boundary.
          stabilised = stabilised || tau + S[q] + S_minus_bn[q] > 0.;
        }
      const bool dirichlet_condition =
        boundary &&
        problem.form.boundary_type(boundary_id) == BoundaryType::dirichlet;
      if (boundary)
        {
          if (advection && !dirichlet_condition)
            check_outflow<dim>(batch, b, bn);
          problem.form.evaluate_boundary_data(batch, g, alpha);
        }

      // ---- functions
      const unsigned int function_stride = (dim + 1) * m;
      local_basis.evaluate_box(x, m, basis);
      local_basis.transform(m, basis);
      const unsigned int n_psi = problem.trace.n_patch_functions[patch];
      const unsigned int first =
        column[entry] + problem.trace.first_function[patch];
      psi.resize(std::size_t(n_psi) * m);
      weighted_psi.resize(std::size_t(n_psi) * m);
      problem.trace.evaluate(patch, trace_x, m, psi.data(), m, scratch);
      // psi times weights, and times a factor if given
      const auto weigh = [&](const double *factor) {
        for (unsigned int i = 0; i < n_psi; ++i)
          for (unsigned int q = 0; q < m; ++q)
            weighted_psi[std::size_t(i) * m + q] =
              psi[std::size_t(i) * m + q] *
              (factor != nullptr ? w[q] * factor[q] : w[q]);
      };
      const auto multiply =
        [&](double *C, const unsigned int ldc, const bool accumulate) {
          product(n_psi,
                  n,
                  m,
                  weighted_psi.data(),
                  m,
                  basis.data(),
                  function_stride,
                  C,
                  ldc,
                  accumulate);
        };

      // ---- F, R and T. If the factors are constant, all are multiples of one
      // product.
      double *const F_rows = Ft.data() + std::size_t(first) * stride;
      double *const R_rows = Rt.data() + std::size_t(first) * n_padded;
      if (planar)
        {
          facet_product.resize(std::size_t(n_psi) * n_padded);
          weigh(nullptr);
          multiply(facet_product.data(), n_padded, false);
          for (unsigned int i = 0; i < n_psi; ++i)
            for (unsigned int j = 0; j < n; ++j)
              {
                const double value = facet_product[i * n_padded + j];
                for (unsigned int d = 0; d < dim; ++d)
                  F_rows[std::size_t(i) * stride + d * n_padded + j] +=
                    normal[d][0] * value;
                if (!advection)
                  R_rows[std::size_t(i) * n_padded + j] += direct_tau * value;
              }
        }
      else
        for (unsigned int d = 0; d < dim; ++d)
          {
            weigh(normal[d]);
            multiply(F_rows + d * n_padded, stride, true);
          }
      if (advection || !planar)
        {
          weigh(S);
          multiply(R_rows, n_padded, true);
        }
      if (advection)
        {
          weigh(S_minus_bn);
          multiply(Tt.data() + std::size_t(first) * n_padded, n_padded, true);
        }

      if (projected)
        {
          weigh(nullptr);
          multiply(patch_B.data(), n_padded, true);
          for (unsigned int i = 0; i < n_psi; ++i)
            for (unsigned int l = 0; l < n_psi; ++l)
              for (unsigned int q = 0; q < m; ++q)
                patch_D[std::size_t(i) * n_psi + l] +=
                  tau * weighted_psi[std::size_t(i) * m + q] *
                  psi[std::size_t(l) * m + q];
        }

      // ---- E
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
      product(n,
              n,
              m,
              weighted.data(),
              m,
              basis.data(),
              function_stride,
              E.data(),
              n_padded,
              true,
              !advection);

      // ---- rows of the trace equation
      weigh(nullptr);
      for (unsigned int i = 0; i < n_psi; ++i)
        {
          const double *const row = &weighted_psi[std::size_t(i) * m];
          double              sum = 0., data = 0.;
          for (unsigned int q = 0; q < n_points; ++q)
            {
              sum += row[q];
              if (boundary)
                data += row[q] * g[q];
            }
          trace_integral[first + i] += sum;
          if (dirichlet_condition)
            dirichlet[first + i] += data;
          else if (boundary)
            boundary_rhs[first + i] += data;
        }
      if (dirichlet_condition)
        return;
      if (boundary)
        for (unsigned int q = 0; q < m; ++q)
          {
            S_minus_bn[q] = S[q] + alpha[q];
            integral_abs_g += w[q] * std::abs(g[q]);
            fixes_constant = fixes_constant || (w[q] > 0. && alpha[q] != 0.);
          }
      if (projected)
        for (unsigned int q = 0; q < m; ++q)
          S_minus_bn[q] += tau;
      weigh(S_minus_bn);
      const unsigned int n_rows = n_traces + 1;
      product(n_psi,
              n_psi,
              m,
              weighted_psi.data(),
              m,
              psi.data(),
              m,
              K.data() + std::size_t(first) * n_rows + first,
              n_rows,
              true);
    }



    template <int dim>
    void
    LocalSolver<dim>::factorise(const unsigned int n_rows)
    {
      const unsigned int n = n_basis, n_blocks = n_mass / n_padded;

      // ---- A = L L^T; V' = L^-1 H, W' = L^-1 F
      const unsigned int pivot = Dense::cholesky(n_mass, A.data(), n_mass);
      if (pivot != n_mass)
        throw_local_failure(LocalFailure::diffusion, mesh, polytope);
      A_inverse.resize(A.size());
      Dense::invert_lower(n_mass, A.data(), n_mass, A_inverse.data(), n_mass);
      n_operations +=
        2 * std::uint64_t(n_blocks * n) * (n_blocks * n) * (n_blocks * n) / 3;
      const auto apply = [&](const unsigned int         n_vectors,
                             const std::vector<double> &from,
                             std::vector<double>       &to) {
        to.resize(std::size_t(n_vectors) * stride);
        for (unsigned int d = 0; d < (tensor ? 1 : dim); ++d)
          product(n_vectors,
                  n_mass,
                  n_mass,
                  from.data() + d * n_padded,
                  stride,
                  A_inverse.data(),
                  n_mass,
                  to.data() + d * n_padded,
                  stride,
                  false);
      };
      apply(n, Ht, Vt);
      apply(n_rows, Ft, Wt);

      // ---- 1/Z
      product(n,
              n,
              stride,
              Vt.data(),
              stride,
              Vt.data(),
              stride,
              E.data(),
              n_padded,
              true,
              !advection);

      // ---- Y_R = R + H^T A^-1 F, and Y_T likewise
      Yt.assign(std::size_t(n_rows) * n_padded, 0.);
      product(n_rows,
              n,
              stride,
              Wt.data(),
              stride,
              Vt.data(),
              stride,
              Yt.data(),
              n_padded,
              false);
      for (std::size_t i = 0; i < Yt.size(); ++i)
        {
          Rt[i] += Yt[i];
          if (advection)
            Tt[i] += Yt[i];
        }

      // ---- U = Z Y
      U.assign(Yt.size(), 0.);
      Z.resize(E.size());
      bool regular = true;
      if (!advection)
        {
          mirror(n, E.data(), n_padded);
          regular = Dense::cholesky(n_padded, E.data(), n_padded) == n_padded;
          // Only tau and c control the polynomials of highest degree that are
          // orthogonal to all lower degrees, since H maps these to zero.
          double smallest = std::numeric_limits<double>::max(), largest = 0.;
          for (unsigned int i = 0; i < n; ++i)
            {
              const double root = E[std::size_t(i) * (n_padded + 1)];
              smallest          = std::min(smallest, root);
              largest           = std::max(largest, root);
            }
          regular = regular && smallest > 1e-7 * largest;
          if (regular)
            {
              Dense::invert_lower(
                n_padded, E.data(), n_padded, Z.data(), n_padded);
              // Y' = L^-1 Y, U = L^-T Y'
              product(n_rows,
                      n,
                      n_padded,
                      Rt.data(),
                      n_padded,
                      Z.data(),
                      n_padded,
                      Yt.data(),
                      n_padded,
                      false);
              transposed.resize(Z.size());
              Dense::transpose(n_padded,
                               n_padded,
                               Z.data(),
                               n_padded,
                               transposed.data(),
                               n_padded);
              product(n_rows,
                      n,
                      n_padded,
                      Yt.data(),
                      n_padded,
                      transposed.data(),
                      n_padded,
                      U.data(),
                      n_padded,
                      false);
            }
          n_operations += 2 * std::uint64_t(n) * n * n / 3;
        }
      else
        {
          Z       = E;
          regular = Dense::invert(n_padded, Z.data(), n_padded);
          n_operations += 2 * std::uint64_t(n) * n * n;
          if (regular)
            product(n_rows,
                    n,
                    n_padded,
                    Tt.data(),
                    n_padded,
                    Z.data(),
                    n_padded,
                    U.data(),
                    n_padded,
                    false);
        }
      if (!regular)
        throw_local_failure(LocalFailure::schur_complement, mesh, polytope);
    }



    template <int dim>
    void
    LocalSolver<dim>::compute_flux(const unsigned int n_rows)
    {
      // q = L^-T (W' lambda - V' u)
      std::vector<double> &V = transposed;
      V.assign(std::size_t(stride) * n_padded, 0.);
      Dense::transpose(n_basis, stride, Vt.data(), stride, V.data(), n_padded);
      for (std::size_t i = 0; i < U.size(); ++i)
        Yt[i] = -U[i];
      product(n_rows,
              stride,
              n_padded,
              Yt.data(),
              n_padded,
              V.data(),
              n_padded,
              Wt.data(),
              stride,
              true);
      transposed.resize(A.size());
      Dense::transpose(
        n_mass, n_mass, A_inverse.data(), n_mass, transposed.data(), n_mass);
      Q.resize(std::size_t(n_rows) * stride);
      for (unsigned int d = 0; d < (tensor ? 1 : dim); ++d)
        product(n_rows,
                n_mass,
                n_mass,
                Wt.data() + d * n_padded,
                stride,
                transposed.data(),
                n_mass,
                Q.data() + d * n_padded,
                stride,
                false);
    }



    template <int dim>
    void
    LocalSolver<dim>::to_box(const unsigned int n_rows)
    {
      local_basis.to_box(n_rows, U.data(), n_padded);
      local_basis.to_box(n_rows * dim, Q.data(), n_padded);
    }



    template <int dim>
    void
    LocalSolver<dim>::eliminate(const bool recovery)
    {
      const unsigned int n_rows = n_traces + 1;
      std::copy(load.begin(),
                load.end(),
                (advection ? Tt : Rt).begin() +
                  std::size_t(n_traces) * n_padded);
      factorise(n_rows);

      // ---- K
      product(n_rows,
              n_rows,
              stride,
              Wt.data(),
              stride,
              Wt.data(),
              stride,
              K.data(),
              n_rows,
              true,
              !advection);
      Xt.resize(Yt.size());
      const std::vector<double> &left = advection ? Rt : Yt;
      for (std::size_t i = 0; i < Xt.size(); ++i)
        Xt[i] = -left[i];
      product(n_rows,
              n_rows,
              n_padded,
              Xt.data(),
              n_padded,
              advection ? U.data() : Yt.data(),
              n_padded,
              K.data(),
              n_rows,
              true,
              !advection);
      if (!advection)
        mirror(n_rows, K.data(), n_rows);
      if (recovery)
        {
          compute_flux(n_rows);
          to_box(n_rows);
        }
    }



    template <int dim>
    void
    LocalSolver<dim>::solve(const double *lambda)
    {
      // Combine all rows into one.
      std::vector<double> &T       = advection ? Tt : Rt;
      const auto           combine = [&](std::vector<double> &rows,
                               const unsigned int   n) {
        std::vector<double> sum(n, 0.);
        for (unsigned int m = 0; m < n_traces; ++m)
          for (unsigned int i = 0; i < n; ++i)
            sum[i] += lambda[m] * rows[std::size_t(m) * n + i];
        std::copy(sum.begin(), sum.end(), rows.begin());
      };
      combine(Ft, stride);
      combine(T, n_padded);
      for (unsigned int i = 0; i < n_basis; ++i)
        T[i] += load[i];
      factorise(1);
      compute_flux(1);
      to_box(1);
    }



    template class LocalSolver<2>;
    template class LocalSolver<3>;
  } // namespace internal
} // namespace Tessella
