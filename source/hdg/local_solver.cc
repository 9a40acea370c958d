// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "local_solver.h"

#include <algorithm>
#include <cmath>

#include "../backends/host_points.h"
#include "../lac/dense.h"
#include "interface_sides.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    template <int dim>
    LocalSolver<dim>::LocalSolver(const LocalProblem<dim> &problem)
      : problem(problem)
      , mesh(problem.mesh)
      , dofs(problem.dofs)
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
    LocalSolver<dim>::product(const Rows        &left,
                              const Rows        &right,
                              const unsigned int n,
                              double            *C,
                              const unsigned int ldc,
                              const bool         accumulate,
                              const bool         symmetric)
    {
      if (left.n == 0 || right.n == 0)
        return;
      problem.kernels.product({left.n, left.data, left.stride, 0},
                              {right.n, right.data, right.stride, 0},
                              1,
                              n,
                              C,
                              ldc,
                              accumulate,
                              symmetric);
      n_operations += (symmetric ? 1 : 2) * std::uint64_t(left.n) * right.n * n;
    }



    template <int dim>
    void
    LocalSolver<dim>::assemble(const unsigned int k)
    {
      polytope = k;
      n_basis  = dofs.n_basis[k];
      n_padded = padded(n_basis);
      stride   = dim * n_padded;
      n_mass   = tensor ? stride : n_padded;

      column.assign(1, 0);
      for (const unsigned int code : interface_sides(mesh, k))
        column.push_back(column.back() + problem.trace.n_functions[code / 2]);
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

      local_basis.reinit(mesh, dofs, k, problem.order[dofs.degree[k]]);
      assemble_volume();
      for (unsigned int e = 0; e + 1 < column.size(); ++e)
        assemble_interface(e);

      // The padding is the identity and does not influence the result.
      for (unsigned int d = 0; d < n_mass / n_padded; ++d)
        for (unsigned int i = n_basis; i < n_padded; ++i)
          A[std::size_t(d * n_padded + i) * (n_mass + 1)] = 1.;
      for (unsigned int i = n_basis; i < n_padded; ++i)
        E[std::size_t(i) * (n_padded + 1)] = 1.;
      if (!tensor)
        Dense::mirror(n_basis, A.data(), n_mass);
      if (problem.reduced_flux)
        restrict_flux();
      if (!stabilised)
        problem.throw_failure(Device::HDGFailure::no_stabilisation, k);
    }



    template <int dim>
    void
    LocalSolver<dim>::assemble_volume()
    {
      const unsigned int k = polytope, n = n_basis;
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
      const unsigned int end     = mesh.subcell_offset[k + 1];
      unsigned int       subcell = mesh.subcell_offset[k], point = 0;
      if (subcell < end)
        volume_quadrature.reinit_subcell(mesh,
                                         subcell,
                                         problem.order[dofs.degree[k]]);
      while (subcell < end)
        {
          const unsigned int n_points = fill_slice(slice, subcell, point);
          if (n_points == 0)
            break;
          const unsigned int m = padded(n_points);
          evaluate_coefficients(n_points, blocks);
          // values and gradients: dim + 1 rows of m points for each function
          local_basis.evaluate_box(x, m, basis);
          local_basis.transform(m, basis);
          add_volume_integrals(m, blocks);
        }
    }



    template <int dim>
    unsigned int
    LocalSolver<dim>::fill_slice(const unsigned int size,
                                 unsigned int      &subcell,
                                 unsigned int      &point)
    {
      const unsigned int end      = mesh.subcell_offset[polytope + 1];
      unsigned int       n_points = 0;
      while (n_points < size && subcell < end)
        {
          const unsigned int take =
            std::min(size - n_points, volume_quadrature.size() - point);
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
              if (subcell < end)
                volume_quadrature.reinit_subcell(
                  mesh, subcell, problem.order[dofs.degree[polytope]]);
            }
        }
      for (unsigned int q = n_points; n_points > 0 && q < padded(n_points); ++q)
        {
          for (unsigned int d = 0; d < dim; ++d)
            x[d][q] = x[d][n_points - 1];
          w[q]         = 0.;
          subcells[q]  = subcells[n_points - 1];
          materials[q] = materials[n_points - 1];
        }
      return n_points;
    }



    template <int dim>
    void
    LocalSolver<dim>::evaluate_coefficients(const unsigned int n_points,
                                            VolumeBlocks<dim> &blocks)
    {
      const unsigned int m = padded(n_points);
      PointBatch<dim>    batch;
      batch.n_points = m;
      std::copy(x, x + dim, batch.x);
      batch.subcell  = subcells.data();
      batch.material = materials.data();
      problem.form.evaluate_volume(batch, blocks);
      if (structure.diffusion == DiffusionType::none)
        std::fill(a[0], a[0] + m, 0.);
      problem.invert_diffusion(tensor, x, m, a, inverse_a);
      if (blocks.c != nullptr)
        for (unsigned int q = 0; q < n_points; ++q)
          if (c[q] != 0.)
            {
              fixes_constant = true;
              stabilised     = stabilised || c[q] > 0.;
            }
    }



    template <int dim>
    void
    LocalSolver<dim>::add_volume_integrals(const unsigned int       m,
                                           const VolumeBlocks<dim> &blocks)
    {
      const unsigned int n = n_basis, function_stride = (dim + 1) * m;
      const auto         weigh = [&](const double *const *direction,
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
        product({n, weighted.data(), m},
                {n, basis.data() + row * m, function_stride},
                m,
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
            product({n, basis.data(), function_stride},
                    {n, weighted.data(), m},
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



    template <int dim>
    void
    LocalSolver<dim>::restrict_flux()
    {
      const unsigned int n_flux =
        Legendre::n_functions(dim,
                              dofs.degree[polytope] - 1,
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



    template class LocalSolver<2>;
    template class LocalSolver<3>;
  } // namespace internal
} // namespace Tessella
