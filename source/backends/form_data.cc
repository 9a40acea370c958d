// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/stationary_matrix.h>

#include <algorithm>

#include "cuda_tabulation.h"

// Description of a form for the device.

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Reserves n arrays of a table.
      void
      add_arrays(int &entry, const int n, int &total)
      {
        entry = total;
        total += n;
      }



      // Arrays of the volume table, apart from constant coefficients.
      Device::VolumeLayout
      make_volume_layout(const VolumeStructure &V,
                         const unsigned int     dim,
                         const bool             matrix,
                         const bool             rhs)
      {
        Device::VolumeLayout L;
        L.tensor = V.diffusion == DiffusionType::tensor;
        if (matrix && !V.constant)
          {
            if (V.diffusion != DiffusionType::none)
              add_arrays(L.a, L.tensor ? dim * dim : 1, L.n);
            if (V.beta)
              add_arrays(L.beta, dim, L.n);
            if (V.b)
              add_arrays(L.b, dim, L.n);
            if (V.c)
              add_arrays(L.c, 1, L.n);
          }
        if (rhs && V.f)
          add_arrays(L.f, 1, L.n);
        return L;
      }



      // Evaluates the constant volume coefficients of the matrix.
      template <int dim>
      void
      set_constant_volume(const PolytopicMesh<dim> &mesh,
                          const Form<dim>          &form,
                          const VolumeStructure    &V,
                          Device::FormData<dim>    &data)
      {
        const bool a      = V.diffusion != DiffusionType::none,
                   tensor = data.volume_layout.tensor;
        double            entries[dim * dim + 2 * dim + 1] = {};
        VolumeBlocks<dim> blocks                           = {};
        for (unsigned int d = 0; d < dim * dim; ++d)
          blocks.a[d] = (tensor || (a && d == 0)) ? entries + d : nullptr;
        for (unsigned int d = 0; d < dim; ++d)
          {
            blocks.beta[d] = V.beta ? entries + dim * dim + d : nullptr;
            blocks.b[d]    = V.b ? entries + dim * dim + dim + d : nullptr;
          }
        blocks.c = V.c ? entries + dim * dim + 2 * dim : nullptr;
        form.evaluate_volume(first_vertex(mesh), blocks);
        data.C[0][0] = V.c ? *blocks.c : 0.;
        for (unsigned int d = 0; d < dim; ++d)
          {
            data.C[0][1 + d] = V.b ? *blocks.b[d] : 0.;
            data.C[1 + d][0] = V.beta ? *blocks.beta[d] : 0.;
            for (unsigned int e = 0; e < dim; ++e)
              data.C[1 + d][1 + e] = tensor        ? *blocks.a[d * dim + e]
                                     : a && d == e ? *blocks.a[0]
                                                   : 0.;
          }
      }



      // Evaluates the constant right-hand side, which needs no table unless
      // other coefficients do.
      template <int dim>
      void
      set_constant_f(const PolytopicMesh<dim> &mesh,
                     const Form<dim>          &form,
                     Device::FormData<dim>    &data)
      {
        VolumeBlocks<dim> blocks = {};
        blocks.f                 = &data.f;
        form.evaluate_volume(first_vertex(mesh), blocks);
        data.same_f             = true;
        Device::VolumeLayout &L = data.volume_layout;
        if (L.n == 1)
          {
            data.constant_f = true;
            L.f             = -1;
            L.n             = 0;
          }
      }



      // Bits of the non-zero rows of the volume coefficients, as in FormData.
      template <int dim>
      unsigned int
      volume_rows(const VolumeStructure &V, const Device::FormData<dim> &data)
      {
        if (!V.constant)
          return (V.b || V.c ? 1u : 0u) |
                 (V.diffusion != DiffusionType::none || V.beta
                    ? (2u << dim) - 2u
                    : 0u);
        unsigned int rows = 0;
        if (data.matrix && data.volume)
          for (unsigned int e = 0; e <= dim; ++e)
            for (unsigned int f = 0; f <= dim; ++f)
              if (data.C[e][f] != 0.)
                rows |= 1u << e;
        return rows;
      }



      // Sets the terms of interior facets if they are constant.
      template <int dim>
      void
      set_constant_facets(const PolytopicMesh<dim> &mesh,
                          const Form<dim>          &form,
                          Device::FormData<dim>    &data)
      {
        ConstantFacetTerms<dim> terms;
        if (!data.facets || !form.constant_interior_facets(terms))
          return;
        data.constant_facets = true;
        std::copy(terms.a, terms.a + dim * dim, data.a);
        std::copy(terms.b, terms.b + dim, data.b);
        data.theta           = terms.theta;
        data.constant_bottom = terms.boundary_id != invalid_index &&
                               terms.boundary_id == mesh.bottom_id;
      }
    } // namespace



    // Every form writes c. Tabulated interior points use the same arrays as
    // boundary points.
    template <int dim>
    Device::FacetLayout
    make_facet_layout(const FacetStructure        &F,
                      const Device::FormData<dim> &data)
    {
      Device::FacetLayout G;
      if (!F.facets)
        return G;
      const int n_sides = data.constant_facets ? 1 : 2;
      for (int side = 0; side < n_sides; ++side)
        {
          if (side == 0 || !data.penalty_facets)
            add_arrays(G.c[side], 1, G.n);
          if (F.b)
            add_arrays(G.b[side], dim, G.n);
          if (F.beta && !data.penalty_facets)
            add_arrays(G.beta[side], dim, G.n);
        }
      if (data.rhs && F.rhs)
        {
          add_arrays(G.r, 1, G.n);
          if (F.beta)
            add_arrays(G.s, dim, G.n);
        }
      return G;
    }



    template <int dim>
    Device::FormData<dim>
    make_form_data(const PolytopicMesh<dim> &mesh,
                   const Form<dim>          &form,
                   const bool                matrix,
                   const bool                rhs)
    {
      const VolumeStructure V    = form.volume_structure();
      const FacetStructure  F    = form.facet_structure();
      Device::FormData<dim> data = {};
      data.matrix                = matrix;
      data.rhs                   = rhs;
      data.volume = V.diffusion != DiffusionType::none || V.beta || V.b || V.c;
      data.facets = F.facets;
      data.symmetric = V.symmetric;
      data.diagonal  = V.diffusion != DiffusionType::tensor && !V.beta && !V.b;
      data.constant_volume = V.constant;
      data.flux            = F.b || F.beta;
      data.penalty_facets  = form.has_penalty_facets(data.theta);
      const auto *const stationary =
        dynamic_cast<const StationaryMatrix *>(&form);
      data.stationary =
        stationary != nullptr && stationary->matrix_is_stationary();

      data.volume_layout = make_volume_layout(V, dim, matrix, rhs);
      // The right-hand side alone uses the quadrature rule of the matrix.
      if (V.constant && data.volume)
        set_constant_volume(mesh, form, V, data);
      if (rhs && V.f && V.constant_f)
        set_constant_f(mesh, form, data);
      data.volume_rows = volume_rows(V, data);

      set_constant_facets(mesh, form, data);
      data.packed_facets = data.penalty_facets && F.facets && F.mirrored &&
                           !data.constant_facets && mesh.shift.size() <= dim;
      data.continuous   = F.continuous;
      data.facet_layout = make_facet_layout(F, data);
      return data;
    }



#define INSTANTIATE(dim)                                                    \
  template Device::FacetLayout make_facet_layout(                           \
    const FacetStructure &, const Device::FormData<dim> &);                 \
  template Device::FormData<dim> make_form_data(const PolytopicMesh<dim> &, \
                                                const Form<dim> &,          \
                                                const bool,                 \
                                                const bool)

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
