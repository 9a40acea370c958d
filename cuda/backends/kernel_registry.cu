// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/portable/legendre.h>

#include "kernel_registry.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Entry of the registry.
        struct RowKernel
        {
          const char *name;
          RowScheme   scheme;
          /// The kernel is compiled for the degree of the mesh.
          bool specialised;
          /// The kernel serves facet terms of all kinds, not only those that
          /// Form::has_penalty_facets() describes.
          bool any_facets;
          bool (*serves)(const MeshProperties &mesh);
        };

        // In four variables, only general kernels exist.
        bool
        is_simple(const MeshProperties &mesh)
        {
          return mesh.dim < 4 && mesh.uniform &&
                 !(mesh.tensor_space && mesh.degree > 0);
        }

        bool
        serves_block_rows(const MeshProperties &mesh)
        {
          return is_simple(mesh) && mesh.degree <= (mesh.dim == 2 ? 6 : 3);
        }

        bool
        serves_blocks(const MeshProperties &mesh)
        {
          return is_simple(mesh) && mesh.dim == 3 && mesh.degree <= 5;
        }

        bool
        serves_any_block_rows(const MeshProperties &mesh)
        {
          return !is_simple(mesh) && mesh.n_basis <= (mesh.dim == 4 ? 20 : 28);
        }

        bool
        serves_all(const MeshProperties &)
        {
          return true;
        }

        constexpr RowKernel row_kernels[] = {
          {"block rows", RowScheme::rows, true, false, serves_block_rows},
          {"blocks", RowScheme::blocks, true, false, serves_blocks},
          {"block rows", RowScheme::rows, false, false, serves_any_block_rows},
          {"tiles of 32 x 32", RowScheme::units, false, true, serves_all}};

        const RowKernel &
        find(const MeshProperties &mesh, const bool any_facets)
        {
          const RowKernel *kernel = row_kernels;
          while (!kernel->serves(mesh) || (any_facets && !kernel->any_facets))
            ++kernel;
          return *kernel;
        }

        template <int dim>
        bool
        has_other_facets(const FormData<dim> &form)
        {
          return form.facets && !form.penalty_facets;
        }

        // Why none of the specialised kernels is used.
        std::string
        reason(const MeshProperties &mesh, const bool any_facets)
        {
          return any_facets      ? "facet terms without penalty"
                 : mesh.dim == 4 ? "four variables"
                 : !mesh.uniform ? "several degrees"
                 : mesh.tensor_space && mesh.degree > 0
                   ? "tensor-product space"
                   : "p = " + std::to_string(mesh.degree);
        }
      } // namespace



      MeshProperties::MeshProperties(const int dim, const Degrees &degrees)
        : dim(dim)
        , degree(degrees.max_degree)
        , n_basis(degrees.max_basis)
        , uniform(degrees.max_basis == degrees.min_basis)
        , tensor_space(n_basis != Legendre::n_functions(dim, degree, false))
        , simplices(degrees.simplices)
        , prisms(degrees.prisms)
        , parallelepipeds(degrees.parallelepipeds)
      {}



      template <int dim>
      KernelRegistry<dim>::KernelRegistry(const MeshProperties &mesh)
        : mesh(mesh)
      {
        const RowKernel &kernel = find(mesh, false);
        present.scheme          = kernel.scheme;
        if (kernel.specialised)
          {
            present.degree = mesh.degree;
            present.tiles  = 0;
          }
        else if (kernel.scheme == RowScheme::rows)
          {
            const unsigned int n = mesh.n_basis;
            present.tiles        = n <= 4 ? 1 : n <= 12 ? 2 : n <= 20 ? 3 : 4;
            present.packed       = true;
          }
      }



      template <int dim>
      RowScheme
      KernelRegistry<dim>::scheme(const FormData<dim> &form) const
      {
        return find(mesh, has_other_facets(form)).scheme;
      }



      template <int dim>
      bool
      KernelRegistry<dim>::slab_matrix(const FormData<dim> &form)
      {
        if (!form.stationary || !form.volume || !form.facets ||
            !form.penalty_facets)
          return false;
        if (!form.constant_volume)
          // Tables of b include the coefficient of d/dt.
          return !form.constant_facets && form.volume_layout.b >= 0;
        if (!form.constant_facets || !form.constant_bottom ||
            !(form.b[dim - 1] > 0.) || form.C[0][dim] != form.b[dim - 1] ||
            form.C[dim][0] != 0.)
          return false;
        for (int d = 1; d <= dim; ++d)
          if (form.C[d][dim] != 0. || form.C[dim][d] != 0. ||
              form.a[(d - 1) * dim + dim - 1] != 0. ||
              form.a[(dim - 1) * dim + d - 1] != 0.)
            return false;
        return true;
      }



      template <int dim>
      bool
      KernelRegistry<dim>::slab_rhs(const FormData<dim> &form)
      {
        return form.constant_f && form.constant_volume;
      }



      template <int dim>
      std::string
      KernelRegistry<dim>::name(const FormData<dim> &form) const
      {
        const bool       any_facets = has_other_facets(form);
        const RowKernel &kernel     = find(mesh, any_facets);
        return kernel.name +
               (kernel.specialised
                  ? ", p = " + std::to_string(present.degree) + " (specialised)"
                  : " (general: " + reason(mesh, any_facets) + ")");
      }



      template class KernelRegistry<2>;
      template class KernelRegistry<3>;
      template class KernelRegistry<4>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
