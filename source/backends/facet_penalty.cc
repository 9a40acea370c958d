// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "facet_penalty.h"

#include <tessella/forms/penalty_terms.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    std::vector<double>
    constant_diffusion(const PolytopicMesh<dim> &mesh, const Form<dim> &form)
    {
      const unsigned int n_entries =
        form.volume_structure().diffusion == DiffusionType::tensor ? dim * dim
                                                                   : 1;
      std::vector<double> entries(dim * dim);
      if (mesh.n_subcells() == 0) // a process without polytopes
        {
          entries.resize(n_entries);
          return entries;
        }
      double *a[dim * dim];
      for (unsigned int d = 0; d < dim * dim; ++d)
        a[d] = &entries[d];
      form.evaluate_diffusion(first_vertex(mesh), a);
      entries.resize(n_entries);
      return entries;
    }



    template <int dim>
    bool
    raise_largest_diffusion(const PolytopicMesh<dim>        &mesh,
                            const HostKernels::Kernels<dim> &kernels,
                            const bool                       tensor,
                            const unsigned int               k,
                            const double *const             *a,
                            const unsigned int               n_points,
                            double                          *a_bar)
    {
      // Facets are collected, since the kernel reads the values once for
      // several facets.
      constexpr unsigned int max_facets = 16;
      double                 normals[max_facets * dim], largest[max_facets];
      double                *targets[max_facets];
      unsigned int           n_facets = 0;
      const bool symmetric = tensor && kernels.is_symmetric(a, n_points);
      const auto raise     = [&]() {
        if (tensor)
          kernels.largest_quadratic_forms(
            a, symmetric, n_points, normals, n_facets, largest);
        for (unsigned int i = 0; i < n_facets; ++i)
          *targets[i] = std::max(*targets[i], largest[i]);
        n_facets = 0;
      };
      if (!tensor)
        std::fill_n(largest,
                    max_facets,
                    std::max(0., *std::max_element(a[0], a[0] + n_points)));
      for (unsigned int e = mesh.polytope_interface_offset[k];
           e < mesh.polytope_interface_offset[k + 1];
           ++e)
        {
          const unsigned int i = mesh.polytope_interface[e];
          for (unsigned int f = mesh.facet_offset[i / 2];
               f < mesh.facet_offset[i / 2 + 1];
               ++f)
            {
              // n . a n for the mean normal
              if (tensor)
                std::copy_n(&mesh.facet_normal[f * dim],
                            dim,
                            normals + n_facets * dim);
              targets[n_facets++] = a_bar + 2 * std::size_t(f) + i % 2;
              if (n_facets == max_facets)
                raise();
            }
        }
      raise();
      return symmetric;
    }



    namespace
    {
      // Sigma of n facets, where a_bar(f) has a-bar of both sides of facet f.
      template <typename Diffusion>
      void
      set_penalty(const PolytopicDoFs &dofs,
                  const double         constant,
                  const std::size_t    n,
                  const Diffusion     &a_bar,
                  std::vector<double> &sigma)
      {
        sigma.resize(n);
        for_ranges(
          n, 1 << 13, [&](const std::size_t begin, const std::size_t end) {
            for (std::size_t f = begin; f < end; ++f)
              {
                const std::array<double, 2> a = a_bar(f);
                sigma[f] =
                  constant * std::max(dofs.penalty_factor[2 * f] * a[0],
                                      dofs.penalty_factor[2 * f + 1] * a[1]);
              }
          });
      }
    } // namespace



    void
    penalty_from_diffusion(const PolytopicDoFs       &dofs,
                           const double               constant,
                           const std::vector<double> &a_bar,
                           std::vector<double>       &sigma)
    {
      set_penalty(
        dofs,
        constant,
        dofs.penalty_factor.size() / 2,
        [&](const std::size_t f) -> std::array<double, 2> {
          return {{a_bar[2 * f], a_bar[2 * f + 1]}};
        },
        sigma);
    }



    template <int dim>
    void
    constant_penalty(const PolytopicMesh<dim>  &mesh,
                     const PolytopicDoFs       &dofs,
                     const std::vector<double> &a,
                     const double               constant,
                     std::vector<double>       &sigma)
    {
      set_penalty(
        dofs,
        constant,
        mesh.n_facets(),
        [&](const std::size_t f) -> std::array<double, 2> {
          // n . a n for the mean normal of a facet
          const double a_bar =
            PenaltyTerms::quadratic_form<dim>(a.size() > 1,
                                              a.data(),
                                              &mesh.facet_normal[f * dim]);
          return {{a_bar, a_bar}};
        },
        sigma);
    }



    namespace
    {
      // largest_diffusion() for polytopes [begin, end).
      template <int dim>
      void
      largest_diffusion_of(const HostProblem<dim> &problem,
                           const unsigned int      begin,
                           const unsigned int      end,
                           std::vector<double>    &a_bar,
                           DiffusionValues<dim>   *diffusion)
      {
        const PolytopicMesh<dim>        &mesh    = problem.mesh;
        const Form<dim>                 &form    = problem.form;
        const HostKernels::Kernels<dim> &kernels = problem.kernels;
        const bool                       tensor =
          form.volume_structure().diffusion == DiffusionType::tensor;
        const unsigned int     n_entries = tensor ? dim * dim : 1;
        VolumePointBuffer<dim> points(buffer_capacity(problem.rules));
        std::vector<double>    memory(n_entries * pitch(points.capacity));
        double                *a[dim * dim] = {};
        for (unsigned int d = 0; d < n_entries; ++d)
          a[d] = memory.data() + d * pitch(points.capacity);

        for (unsigned int k = begin; k < end; ++k)
          {
            std::uint64_t first   = 0;
            unsigned int  subcell = mesh.subcell_offset[k], point = 0;
            while (subcell < mesh.subcell_offset[k + 1])
              {
                points.fill(mesh,
                            problem.dofs,
                            problem.rules,
                            kernels,
                            k,
                            subcell,
                            point);
                form.evaluate_diffusion(points.batch(), a);
                if (diffusion != nullptr)
                  for (unsigned int d = 0; d < n_entries; ++d)
                    kernels.stream(a[d],
                                   points.n_points,
                                   diffusion->values(k) +
                                     d * diffusion->n_points(k) + first);
                first += points.n_points;
                raise_largest_diffusion(
                  mesh, kernels, tensor, k, a, points.n_points, a_bar.data());
              }
          }
        kernels.finish_streams();
      }
    } // namespace



    template <int dim>
    void
    largest_diffusion(const HostProblem<dim> &problem,
                      std::vector<double>    &a_bar,
                      DiffusionValues<dim>   *diffusion)
    {
      a_bar.assign(2 * std::size_t(problem.mesh.n_facets()), 0.);
      for_polytopes(problem.mesh.n_owned_polytopes(),
                    [&](const unsigned int begin, const unsigned int end) {
                      largest_diffusion_of(
                        problem, begin, end, a_bar, diffusion);
                    });
    }



    template <int dim>
    void
    compute_penalty(const HostProblem<dim> &problem,
                    const double            constant,
                    std::vector<double>    &sigma,
                    DiffusionValues<dim>   *diffusion)
    {
      const PolytopicMesh<dim> &mesh      = problem.mesh;
      const PolytopicDoFs      &dofs      = problem.dofs;
      const Form<dim>          &form      = problem.form;
      const VolumeStructure     structure = form.volume_structure();
      if (structure.diffusion == DiffusionType::none ||
          !form.facet_structure().penalty)
        sigma.assign(mesh.n_facets(), 0.);
      else if (structure.constant)
        constant_penalty(
          mesh, dofs, constant_diffusion(mesh, form), constant, sigma);
      else
        {
          std::vector<double> a_bar;
          largest_diffusion(problem, a_bar, diffusion);
          penalty_from_diffusion(dofs, constant, a_bar, sigma);
        }
    }



#define INSTANTIATE(dim)                                                      \
  template std::vector<double> constant_diffusion(const PolytopicMesh<dim> &, \
                                                  const Form<dim> &);         \
  template bool raise_largest_diffusion(const PolytopicMesh<dim> &,           \
                                        const HostKernels::Kernels<dim> &,    \
                                        const bool,                           \
                                        const unsigned int,                   \
                                        const double *const *,                \
                                        const unsigned int,                   \
                                        double *);                            \
  template void constant_penalty(const PolytopicMesh<dim> &,                  \
                                 const PolytopicDoFs &,                       \
                                 const std::vector<double> &,                 \
                                 const double,                                \
                                 std::vector<double> &);                      \
  template void largest_diffusion(const HostProblem<dim> &,                   \
                                  std::vector<double> &,                      \
                                  DiffusionValues<dim> *);                    \
  template void compute_penalty(const HostProblem<dim> &,                     \
                                const double,                                 \
                                std::vector<double> &,                        \
                                DiffusionValues<dim> *)

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
