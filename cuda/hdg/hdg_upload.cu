// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cmath>

#include "hdg_reference.h"
#include "hdg_simplex_kernel.h"
#include "hdg_tables.h"
#include "hdg_upload.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      template <int dim>
      HDGUpload<dim>::HDGUpload(const HDGPlan<dim> &plan)
        : plan(plan)
      {}



      template <int dim>
      void
      HDGUpload<dim>::prepare(HDGData<dim> &data)
      {
        data.tensor_product = plan.trace.tensor_product;
        device_mesh         = DeviceMesh<dim>::share(plan.mesh);
        device_space        = std::make_unique<DeviceSpace>(plan.dofs);
        static_cast<MeshArrays<dim> &>(data.D) = device_mesh->arrays();
        static_cast<SpaceArrays &>(data.D)     = device_space->arrays();
        upload_functions(data);
        if (plan.max_basis <= 8 * hdg_warp_tiles)
          {
            upload_moments(data);
            upload_bricks(data);
          }
        if (plan.simplices)
          upload_simplex_reference(data);
        upload_plan(data);
        if (plan.simplices)
          compute_faces(data);
      }



      template <int dim>
      void
      HDGUpload<dim>::upload_functions(HDGData<dim> &P)
      {
        const std::vector<unsigned char> &exponents = plan.exponents;
        const RuleTables                 &rules     = plan.rules;
        Data<dim>                        &D         = P.D;
        D.rules                                     = copies.upload(rules.data);
        D.exponents                                 = copies.upload(exponents);
        for (unsigned int p = 0; p <= 10; ++p)
          {
            for (unsigned int t = 0; t < 5; ++t)
              D.subcell_rule[t][p] = rules.subcell[t][p];
            for (unsigned int t = 0; t < 4; ++t)
              D.facet_rule[t][p] = rules.facet[t][p];
          }
        std::vector<unsigned short> planar;
        for (std::size_t g = 0; g < exponents.size() / dim; ++g)
          if (exponents[dim * g + dim - 1] == 0)
            planar.push_back(static_cast<unsigned short>(g));
        P.planar = copies.upload(planar);
        for (unsigned int p = 0; p <= plan.max_degree; ++p)
          for (unsigned int i = 0; i < 2; ++i)
            P.n_generators[i][p] =
              Legendre::n_functions(dim - i, p, P.tensor_product);
        const HDGDerivatives derivatives =
          make_derivatives(dim, exponents, plan.max_basis);
        P.derivative_begin    = copies.upload(derivatives.derivative_begin);
        P.derivative_function = copies.upload(derivatives.derivative_function);
        P.derivative_factor   = copies.upload(derivatives.derivative_factor);
      }



      template <int dim>
      void
      HDGUpload<dim>::upload_moments(HDGData<dim> &P)
      {
        const HDGMoments moments = make_moments(dim,
                                                plan.exponents,
                                                plan.max_basis,
                                                plan.max_degree,
                                                P.tensor_product);
        P.moment_row             = copies.upload(moments.moment_row);
        P.n_moment_rows          = moments.moment_row.size();
        P.n_source_rows          = moments.n_source_rows;
        P.product_begin          = copies.upload(moments.product_begin);
        P.product_moment         = copies.upload(moments.product_moment);
        P.product_factor         = copies.upload(moments.product_factor);
        P.function_moment        = copies.upload(moments.function_moment);
        P.moments_stride =
          (P.n_moment_rows + P.n_source_rows) * (2 * plan.max_degree + 1);
      }



      template <int dim>
      void
      HDGUpload<dim>::upload_bricks(HDGData<dim> &P)
      {
        const HDGLineRules lines = make_line_rules(dim, plan.rules);
        if (!lines.valid)
          return;
        const PolytopicMesh<dim>  &mesh = plan.mesh;
        const unsigned int         n    = mesh.n_owned_polytopes();
        std::vector<unsigned char> of_bricks(n, 1);
        plan.parallel(n,
                      1024,
                      [&](const std::size_t begin, const std::size_t end) {
                        for (std::size_t k = begin; k < end; ++k)
                          for (unsigned int s = mesh.subcell_offset[k];
                               s < mesh.subcell_offset[k + 1];
                               ++s)
                            if (!is_brick(s))
                              of_bricks[k] = 0;
                      });
        n_bricks = std::count(of_bricks.begin(), of_bricks.end(), 1);
        if (n_bricks == 0)
          return;
        P.line_stride = lines.line_stride;
        std::copy(std::begin(lines.n_line_points),
                  std::end(lines.n_line_points),
                  P.n_line_points);
        P.line_rule = copies.upload(lines.line_rule);
        P.bricks    = copies.upload(of_bricks);
      }



      template <int dim>
      bool
      HDGUpload<dim>::is_brick(const unsigned int subcell) const
      {
        const PolytopicMesh<dim> &mesh = plan.mesh;
        if (mesh.subcell_type[subcell] != SubCellType::parallelepiped)
          return false;
        const double *v =
          &mesh.subcell_vertices[std::size_t(
                                   mesh.subcell_vertex_offset[subcell]) *
                                 dim];
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int e = 0; e < dim; ++e)
            if (e != d && std::abs(v[(1u << d) * dim + e] - v[e]) >
                            1e-15 * std::abs(v[(1u << d) * dim + d] - v[d]))
              return false;
        return true;
      }



      template <int dim>
      void
      HDGUpload<dim>::upload_simplex_reference(HDGData<dim> &P)
      {
        const SimplexReference reference =
          make_simplex_reference<dim>(plan.rules, plan.max_degree);
        P.derivative       = copies.upload(reference.derivative);
        P.schur_tables     = copies.upload(reference.schur);
        P.trace_tables     = copies.upload(reference.trace);
        P.trace_squares    = copies.upload(reference.trace_squares);
        P.load             = copies.upload(reference.load);
        P.face_values      = copies.upload(reference.face_values);
        P.gauss            = copies.upload(reference.gauss);
        P.schur_place      = copies.upload(reference.schur_place);
        P.n_schur_pairs    = reference.schur_place.size();
        P.factor           = copies.upload(reference.factor);
        P.steps            = copies.upload(reference.steps);
        P.n_face_functions = plan.n_face_functions;
        P.max_traces       = plan.max_traces;
      }



      template <int dim>
      void
      HDGUpload<dim>::upload_plan(HDGData<dim> &P)
      {
        P.D.subcell_q          = copies.upload(plan.subcell_q);
        P.volume_point_group   = copies.upload(plan.volume_point_groups);
        all_facet_point_groups = copies.upload(plan.facet_point_groups);
        few_facet_point_groups = copies.upload(plan.short_facet_point_groups);
        P.volume_begin         = copies.upload(plan.volume_begin);
        P.mass_point_group     = copies.upload(plan.mass_point_groups);
        P.mass_begin           = copies.upload(plan.mass_begin);
        P.facet_begin          = copies.upload(plan.facet_begin);
        P.entry_row            = copies.upload(plan.entry_row);
        P.entry_polytope       = copies.upload(plan.entry_polytope);
        all_entry_point_groups = copies.upload(plan.entry_point_group);
        few_entry_point_groups = copies.upload(plan.short_entry_point_group);
        P.entry_fixed          = copies.upload(plan.entry_fixed);
        P.entry_projected      = copies.upload(plan.entry_projected);
        projected_list         = copies.upload(plan.projected_entries);
        other_list             = copies.upload(plan.other_entries);
        P.trace_offset         = copies.upload(plan.trace_offset);
        P.square_offset        = copies.upload(plan.square_offset);
        P.solver_offset        = copies.upload(plan.solver_offset);
        const TraceSpace<dim> &trace = plan.trace;
        P.patch_degree               = copies.upload(trace.degree);
        P.patch_functions            = copies.upload(trace.n_patch_functions);
        P.max_functions              = trace.n_patch_functions.empty()
                                         ? 0
                                         : *std::max_element(trace.n_patch_functions.begin(),
                                                trace.n_patch_functions.end());
        P.patch_frame                = copies.upload(trace.frame);
        P.patch_coefficients         = copies.upload(trace.coefficients);
        P.patch_offset               = copies.upload(trace.coefficient_offset);
      }



      template <int dim>
      void
      HDGUpload<dim>::compute_faces(HDGData<dim> &P)
      {
        const unsigned int n = (dim + 1) * plan.mesh.n_owned_polytopes();
        faces.resize(n);
        P.facet_point_group = all_facet_point_groups;
        P.faces             = faces.data();
        if (dim > 2 || plan.shared_patches)
          {
            transfer.resize(std::size_t(n) * P.max_functions *
                            plan.n_face_functions);
            P.transfer = transfer.data();
          }
        hdg_faces_kernel<dim><<<(n + 127) / 128, 128>>>(P, n, faces.data());
        if (P.transfer != nullptr)
          hdg_transfer_kernel<dim><<<n, 32>>>(P, transfer.data());
        check(cudaGetLastError(), "trace spaces");
      }



      template class HDGUpload<2>;
      template class HDGUpload<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
