// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_polytopewise_task_h
#define tessella_forms_polytopewise_task_h

#include <tessella/forms/polytope_stencil.h>
#include <tessella/portable/host_device.h>

#include <cstdint>

// Arguments of the kernel of a functor of PolytopewiseOperator, and the kernel.
// The types are plain, since .cu files of users include this file and NVRTC
// compiles it at run time.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Number of threads of a block of the kernel.
      constexpr unsigned int polytopewise_threads = 64;

      /**
       * Stencils of polytopes begin .. end - 1 of the flat view as arrays in
       * the memory of a device, and the results of a functor. Sizes are those
       * of polytopes that the process owns, but for the mean values.
       */
      template <int dim>
      struct PolytopewiseTask
      {
        unsigned int begin, end;
        unsigned int n_components;

        // ---- each polytope
        const unsigned int *degree, *n_basis;
        /// First coefficient, first basis function, first interface and first
        /// point of each polytope, and their numbers at the end.
        const std::uint64_t *first_dof, *first_basis, *first_interface,
          *first_point;
        /// Members of PolytopeStencil, dim or 2 dim values each where they are
        /// vectors.
        const double *box, *measure, *surface, *centroid;

        // ---- each basis function
        const double *basis_mean, *basis_slope;
        unsigned int  linear[dim];

        const StencilInterface<dim> *interfaces;
        const double                *coefficients, *means;

        /// Coordinates of all points; null for functors without point values.
        const double *x[dim];
        /// Values at the points of the polytopes from begin on: polytope by
        /// polytope, and in it as in PolytopeStencil::values.
        double *values;

        /// Coefficients that the functor changes, which begin as those of the
        /// function, and one number for each polytope.
        double *changed, *results;

        /// Sets all members of a stencil that the functor may use.
        TESSELLA_HOST_DEVICE void
        set(const unsigned int k, PolytopeStencil<dim> &s) const
        {
          s.polytope     = k;
          s.n_components = n_components;
          s.degree       = degree[k];
          s.n_basis      = n_basis[k];
          s.box          = box + 2 * dim * static_cast<std::uint64_t>(k);
          s.measure      = measure[k];
          s.surface      = surface[k];
          s.centroid     = centroid + dim * static_cast<std::uint64_t>(k);
          s.basis_mean   = basis_mean + first_basis[k];
          s.basis_slope  = basis_slope + dim * first_basis[k];
          for (int d = 0; d < dim; ++d)
            s.linear[d] = linear[d];
          s.coefficients = coefficients + first_dof[k];
          s.means        = means;
          s.n_interfaces = static_cast<unsigned int>(first_interface[k + 1] -
                                                     first_interface[k]);
          s.interfaces   = interfaces + first_interface[k];
          if (values == nullptr)
            return;
          const std::uint64_t first = first_point[k];
          s.n_points = static_cast<unsigned int>(first_point[k + 1] - first);
          for (int d = 0; d < dim; ++d)
            s.x[d] = x[d] + first;
          s.values = values + n_components * (first - first_point[begin]);
        }
      };

#ifdef __CUDACC__
      /// Calls a functor for one polytope per thread.
      template <int dim, typename F>
      __global__ void
      __launch_bounds__(polytopewise_threads)
        polytopewise(const PolytopewiseTask<dim> task, const F f)
      {
        const unsigned int k =
          task.begin + blockIdx.x * polytopewise_threads + threadIdx.x;
        if (k >= task.end)
          return;
        PolytopeStencil<dim> stencil = {};
        task.set(k, stencil);
        task.results[k] = f(stencil, task.changed + task.first_dof[k]);
      }
#endif
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
