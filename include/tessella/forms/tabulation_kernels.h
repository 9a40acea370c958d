// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_tabulation_kernels_h
#define tessella_forms_tabulation_kernels_h

#include <tessella/forms/device_coefficients.h>
#include <tessella/forms/field_evaluation.h>
#include <tessella/forms/pointwise_coefficients.h>
#include <tessella/portable/geometry.h>

// Kernels that evaluate a functor at quadrature points, for nvcc and NVRTC.
// They write the same tables as the host for other forms; host and device agree
// up to rounding. In all functions, M is the mesh and T the task.

#ifdef __CUDACC__

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Last i of [begin, end) with array[i] <= value, in an ascending array.
      template <typename T>
      __device__ inline unsigned int
      find(const T *array, unsigned int begin, unsigned int end, const T value)
      {
        while (end - begin > 1)
          {
            const unsigned int middle = begin + (end - begin) / 2;
            if (array[middle] <= value)
              begin = middle;
            else
              end = middle;
          }
        return begin;
      }



      /// The same by a whole warp, for long arrays. 32 entries are compared at
      /// once, since a block would otherwise wait for some twenty loads one
      /// after the other.
      template <typename T>
      __device__ inline unsigned int
      find_by_warp(const T     *array,
                   unsigned int begin,
                   unsigned int end,
                   const T      value)
      {
        const unsigned int lane = threadIdx.x % 32;
        while (end - begin > 1)
          {
            const unsigned int step  = (end - begin + 32) / 33;
            const unsigned int entry = begin + (lane + 1) * step;
            const unsigned int n     = __popc(
              __ballot_sync(0xffffffffu, entry < end && array[entry] <= value));
            begin += n * step;
            if (begin + step < end)
              end = begin + step;
          }
        return begin;
      }



      /// Quadrature point q of sub-cell s in a polytope of the given degree.
      template <int dim>
      __device__ inline void
      subcell_position(const MeshData<dim> &M,
                       const unsigned int   s,
                       const unsigned int   q,
                       const unsigned int   degree,
                       double (&x)[dim])
      {
        if (M.volume_points != nullptr)
          {
            const std::uint64_t p = M.subcell_q[s] + q;
            for (int d = 0; d < dim; ++d)
              x[d] = M.volume_points[p * (dim + 1) + d];
            return;
          }
        const SubCellType type = M.subcell_type[s];
        if (type == SubCellType::tabulated)
          {
            const std::uint64_t p = M.subcell_point_offset[s] + q;
            for (int d = 0; d < dim; ++d)
              x[d] = M.subcell_points[p * dim + d];
            return;
          }
        const RuleEntry rule =
          M.subcell_rule[static_cast<unsigned int>(type)][degree];
        double xi[dim];
        for (int d = 0; d < dim; ++d)
          xi[d] = M.rules[rule.offset + d * rule.n_points + q];
        const double *v =
          M.subcell_vertices + std::uint64_t(M.subcell_vertex_offset[s]) * dim;
        if (type == SubCellType::hypercube)
          {
            double J[dim][dim];
            Geometry::multilinear_map<dim, dim>(v, xi, x, J);
            return;
          }
        for (int e = 0; e < dim; ++e)
          x[e] = v[e];
        for (int d = 0; d < dim; ++d)
          {
            const int u = type == SubCellType::parallelepiped ? 1 << d : d + 1;
            for (int e = 0; e < dim; ++e)
              x[e] += xi[d] * (v[u * dim + e] - v[e]);
          }
      }



      /// Quadrature point q of facet f, and normal that points to side 1;
      /// @p degree is the larger one of both sides.
      template <int dim>
      __device__ inline void
      facet_position(const MeshData<dim> &M,
                     const unsigned int   f,
                     const unsigned int   q,
                     const unsigned int   degree,
                     double (&x)[dim],
                     double (&normal)[dim])
      {
        const FacetType type = M.facet_type[f];
        if (type == FacetType::tabulated)
          {
            const std::uint64_t p = M.facet_point_offset[f] + q;
            for (int d = 0; d < dim; ++d)
              {
                x[d]      = M.facet_points[p * dim + d];
                normal[d] = M.facet_point_normals[p * dim + d];
              }
            return;
          }
        const RuleEntry rule =
          M.facet_rule[static_cast<unsigned int>(type)][degree];
        const double *v =
          M.facet_vertices + std::uint64_t(M.facet_vertex_offset[f]) * dim;
        double xi[dim - 1];
        for (int d = 0; d + 1 < dim; ++d)
          xi[d] = M.rules[rule.offset + d * rule.n_points + q];
        if constexpr (dim > 2)
          if (type == FacetType::quadrilateral)
            {
              double J[dim - 1][dim];
              Geometry::multilinear_map<dim - 1, dim>(v, xi, x, J);
              Geometry::cross_product(J, normal);
              double length = 0.;
              for (int e = 0; e < dim; ++e)
                length += normal[e] * normal[e];
              length = 1. / sqrt(length);
              for (int e = 0; e < dim; ++e)
                normal[e] *= length;
              return;
            }
        for (int e = 0; e < dim; ++e)
          {
            x[e] = v[e];
            for (int d = 0; d + 1 < dim; ++d)
              x[e] += xi[d] * (v[(d + 1) * dim + e] - v[e]);
            normal[e] = M.facet_normal[std::uint64_t(f) * dim + e];
          }
      }



      /// Sets values and gradients of the discrete fields of polytope k.
      template <int dim, int n_fields>
      __device__ inline void
      set_fields(const TabulationTask<dim> &T,
                 const unsigned int         k,
                 PointData<dim>            &p)
      {
        const MeshData<dim> &M = T.mesh;
        if (n_fields == 0)
          return;
        // Number of scalar functions of the polytopes that precede this one.
        const std::uint64_t first = T.n_components == 1
                                      ? M.dof_offset[k]
                                      : M.dof_offset[k] / T.n_components;
        for (int i = 0; i < n_fields; ++i)
          evaluate_field<dim>(M.box + 2 * dim * std::uint64_t(k),
                              M.degree[k],
                              M.n_basis[k],
                              M.exponents,
                              T.field[i] + first * T.n_field_components[i] +
                                std::uint64_t(T.field_component[i]) *
                                  M.n_basis[k],
                              p.x,
                              p.value[i],
                              p.gradient[i]);
      }



      /// Sets the values of the sub-cell p.subcell.
      template <int dim, int n_cell_values>
      __device__ inline void
      set_cell_values(const TabulationTask<dim> &T, PointData<dim> &p)
      {
        for (int i = 0; i < n_cell_values; ++i)
          p.cell_value[i] = T.cell_value[i][p.subcell];
      }

      /// Sets all data that depend on the polytope k and the sub-cell.
      template <int dim, typename Coefficients>
      __device__ inline void
      set_data(const TabulationTask<dim> &T,
               const unsigned int         k,
               PointData<dim>            &p)
      {
        set_fields<dim, Coefficients::n_fields>(T, k, p);
        set_cell_values<dim, Coefficients::n_cell_values>(T, p);
      }



      /// Data at volume point @p point of all points, which lies in sub-cell s
      /// of polytope k.
      template <int dim, typename Coefficients>
      __device__ inline void
      set_volume_data(const TabulationTask<dim> &T,
                      const unsigned int         k,
                      const unsigned int         s,
                      const std::uint64_t        point,
                      PointData<dim>            &p)
      {
        const MeshData<dim> &M = T.mesh;
        subcell_position(M,
                         s,
                         static_cast<unsigned int>(point - M.subcell_q[s]),
                         M.degree[k],
                         p.x);
        p.t = T.t;
        for (int d = 0; d < dim; ++d)
          p.normal[d] = 0.;
        p.side        = 0;
        p.subcell     = M.first_subcell + s;
        p.material    = M.subcell_material[s];
        p.boundary_id = invalid_index;
        set_data<dim, Coefficients>(T, k, p);
      }



      /// Records an error. The smallest key of all points with errors is kept,
      /// so that it is the same in every run.
      template <int dim>
      __device__ inline void
      report(const TabulationTask<dim> &T,
             const unsigned long long   key,
             const CoefficientError    &error)
      {
        if (error.kind == CoefficientError::none)
          return;
        if (key == T.wanted)
          T.record->error = error;
        else
          atomicMin(&T.record->key, key);
      }



      /// Points [begin, end) of n that this block evaluates. The search for
      /// them in lists of all points pays off if a thread has several points.
      struct PointRange
      {
        std::uint64_t begin, end;

        __device__
        PointRange(const std::uint64_t n)
        {
          // a multiple of 32, the number of points that are written at once
          const std::uint64_t size =
            ((n + gridDim.x - 1) / gridDim.x + 31) / 32 * 32;
          begin = blockIdx.x * size < n ? blockIdx.x * size : n;
          end   = n - begin < size ? n : begin + size;
        }
      };



      /// Tabulates the volume points of the chunk.
      template <int dim, typename F>
      __device__ inline void
      tabulate_volume(const TabulationTask<dim> &T, const F &f)
      {
        using Coefficients        = PointwiseCoefficients<dim, F>;
        const MeshData<dim>    &M = T.mesh;
        __shared__ unsigned int range[4];
        const PointRange        points(T.n_volume_points);
        if (points.begin == points.end)
          return;
        // The first two warps search both ends of the block's range.
        if (threadIdx.x < 64)
          {
            const unsigned int i     = threadIdx.x / 32;
            const unsigned int k_end = T.first_polytope + T.n_polytopes;
            const unsigned int s =
              find_by_warp(M.subcell_q,
                           M.subcell_offset[T.first_polytope],
                           M.subcell_offset[k_end],
                           T.first_volume_point +
                             (i == 0 ? points.begin : points.end - 1));
            const unsigned int k =
              find_by_warp(M.subcell_offset, T.first_polytope, k_end, s);
            if (threadIdx.x % 32 == 0)
              {
                range[i]     = s;
                range[2 + i] = k;
              }
          }
        __syncthreads();
#  pragma unroll 1
        for (std::uint64_t t = points.begin + threadIdx.x; t < points.end;
             t += blockDim.x)
          {
            const std::uint64_t point = T.first_volume_point + t;
            const unsigned int  s =
              find(M.subcell_q, range[0], range[1] + 1, point);
            const unsigned int k =
              find(M.subcell_offset, range[2], range[3] + 1, s);

            PointData<dim> p;
            set_volume_data<dim, Coefficients>(T, k, s, point, p);

            CoefficientError    error;
            const VolumeLayout &L  = T.volume_layout;
            const auto          at = [&](const int array) -> double          &{
              return T.volume_table[array * T.n_volume_points + t];
            };
            if (Coefficients::has_diffusion && L.a >= 0)
              {
                double a[Coefficients::n_entries];
                Coefficients::diffusion(f, p, a, error);
                for (int d = 0; d < Coefficients::n_entries; ++d)
                  at(L.a + d) = a[d];
              }
            if (Coefficients::has_beta && L.beta >= 0)
              {
                double beta[dim];
                Coefficients::beta(f, p, beta, error);
                for (int d = 0; d < dim; ++d)
                  at(L.beta + d) = beta[d];
              }
            if (Coefficients::has_advection && L.b >= 0)
              {
                double b[dim];
                Coefficients::advection(f, p, b, error);
                for (int d = 0; d < dim; ++d)
                  at(L.b + d) = b[d];
              }
            if (Coefficients::has_reaction && L.c >= 0)
              at(L.c) = Coefficients::reaction(f, p, error);
            if (Coefficients::has_source && L.f >= 0)
              at(L.f) = Coefficients::source(f, p, error);
            report(T, 4 * point + 1, error);
          }
      }



      template <int dim, typename F>
      __device__ inline void
      tabulate_facets(const TabulationTask<dim> &T, const F &f)
      {
        using Coefficients        = PointwiseCoefficients<dim, F>;
        const MeshData<dim>    &M = T.mesh;
        __shared__ unsigned int range[2];
        const PointRange        points(T.n_facet_points);
        if (points.begin == points.end)
          return;
        if (threadIdx.x < 64)
          {
            const unsigned int i = threadIdx.x / 32;
            const unsigned int e = find_by_warp(
              M.entry_q,
              M.polytope_interface_offset[T.first_polytope],
              M.polytope_interface_offset[T.first_polytope + T.n_polytopes],
              T.first_facet_point + (i == 0 ? points.begin : points.end - 1));
            if (threadIdx.x % 32 == 0)
              range[i] = e;
          }
        __syncthreads();
#  pragma unroll 1
        for (std::uint64_t t = points.begin + threadIdx.x; t < points.end;
             t += blockDim.x)
          {
            const std::uint64_t point = T.first_facet_point + t;
            const unsigned int  entry =
              find(M.entry_q, range[0], range[1] + 1, point);
            const unsigned int code = M.polytope_interface[entry], i = code / 2;
            const unsigned int side        = code % 2;
            const unsigned int first_facet = M.facet_offset[i];
            const std::uint64_t local =
              M.facet_q[first_facet] + (point - M.entry_q[entry]);
            const unsigned int facet =
              find(M.facet_q, first_facet, M.facet_offset[i + 1], local);
            const unsigned int k     = M.interface_polytope[code],
                               other = M.interface_polytope[code ^ 1u];
            const bool   boundary    = other == invalid_index;
            unsigned int degree      = M.degree[k];
            if (!boundary && M.degree[other] > degree)
              degree = M.degree[other];

            PointData<dim> own;
            facet_position(M,
                           facet,
                           static_cast<unsigned int>(local - M.facet_q[facet]),
                           degree,
                           own.x,
                           own.normal);
            own.t           = T.t;
            own.side        = 0;
            own.subcell     = M.facet_subcell[2 * std::uint64_t(facet) + side];
            own.material    = M.facet_material[2 * std::uint64_t(facet) + side];
            own.boundary_id = M.boundary_id[i];
            if (side == 1)
              for (int d = 0; d < dim; ++d)
                own.normal[d] = -own.normal[d];

            const FacetLayout &L = T.facet_layout;
            const double       sigma =
              Coefficients::has_diffusion ? T.sigma[facet] : 0.;
            const auto at = [&](const int array) -> double & {
              return T.facet_table[array * T.n_facet_points + t];
            };
            // Coefficients of the trial functions of one side.
            const auto store = [&](const int     i,
                                   const double  c,
                                   const double *b,
                                   const double *beta) {
              if (L.c[i] >= 0)
                at(L.c[i]) = c;
              if (L.b[i] >= 0)
                for (int d = 0; d < dim; ++d)
                  at(L.b[i] + d) = b[d];
              if (L.beta[i] >= 0)
                for (int d = 0; d < dim; ++d)
                  at(L.beta[i] + d) = beta[d];
            };
            CoefficientError error;
            if (!boundary)
              {
                // Facets are stored in the position that side 0 sees.
                PointData<dim>     neighbor = own;
                const unsigned int shift    = M.interface_shift[i];
                if (shift != 0 && side == 0)
                  for (int d = 0; d < dim; ++d)
                    neighbor.x[d] += M.shift[shift * dim + d];
                if (shift != 0 && side == 1)
                  for (int d = 0; d < dim; ++d)
                    own.x[d] += M.shift[shift * dim + d];
                neighbor.side = 1;
                neighbor.subcell =
                  M.facet_subcell[2 * std::uint64_t(facet) + 1 - side];
                neighbor.material =
                  M.facet_material[2 * std::uint64_t(facet) + 1 - side];
                set_data<dim, Coefficients>(T, k, own);
                set_data<dim, Coefficients>(T, other, neighbor);
                InteriorFacetTerms<dim> terms;
                Coefficients::interior_facet(
                  f, own, neighbor, sigma, T.theta, terms, error);
                store(1, terms.c[1], terms.b[1], terms.beta[1]);
                store(0, terms.c[0], terms.b[0], terms.beta[0]);
              }
            else
              {
                set_data<dim, Coefficients>(T, k, own);
                BoundaryFacetTerms<dim> terms;
                Coefficients::boundary_facet(
                  f, own, sigma, T.theta, terms, error);
                if (L.r >= 0)
                  at(L.r) = terms.r;
                if (L.s >= 0)
                  for (int d = 0; d < dim; ++d)
                    at(L.s + d) = terms.s[d];
                store(0, terms.c, terms.b, terms.beta);
              }
            report(T, (1ull << 63) + point, error);
          }
      }



      /// Tabulates b.n on facets, with n out of the polytope to which a point
      /// group belongs, and data on the boundary. Points that fill up a point
      /// group repeat the last one.
      template <int dim, typename F>
      __device__ inline void
      tabulate_traces(const TabulationTask<dim> &T, const F &f)
      {
        using Coefficients     = PointwiseCoefficients<dim, F>;
        const MeshData<dim> &M = T.mesh;
        const unsigned int
          e_begin = M.polytope_interface_offset[T.first_polytope],
          e_end = M.polytope_interface_offset[T.first_polytope + T.n_polytopes];
#  pragma unroll 1
        for (std::uint64_t t =
               std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
             t < 4 * std::uint64_t(T.n_point_groups);
             t += std::uint64_t(gridDim.x) * blockDim.x)
          {
            const unsigned int i_point_group = static_cast<unsigned int>(t / 4),
                               r             = static_cast<unsigned int>(t % 4);
            const unsigned int       number  = T.point_group_list != nullptr
                                                 ? T.point_group_list[i_point_group]
                                                 : T.first_point_group + i_point_group;
            const HDGFacetPointGroup point_group = T.point_groups[number];
            const unsigned int       entry =
              find(T.entry_point_group, e_begin, e_end, number);
            const unsigned int code   = M.polytope_interface[entry],
                               side   = code % 2,
                               degree = point_group.code >> 4 & 15u;
            const FacetType    type   = M.facet_type[point_group.facet];
            const unsigned int n_points =
              type == FacetType::tabulated
                ? M.facet_point_offset[point_group.facet + 1] -
                    M.facet_point_offset[point_group.facet]
                : M.facet_rule[static_cast<unsigned int>(type)][degree]
                    .n_points;

            PointData<dim> p;
            facet_position(M,
                           point_group.facet,
                           point_group.first + r < n_points
                             ? point_group.first + r
                             : n_points - 1,
                           degree,
                           p.x,
                           p.normal);
            p.t    = T.t;
            p.side = 0;
            p.subcell =
              M.facet_subcell[2 * std::uint64_t(point_group.facet) + side];
            p.material    = M.subcell_material[p.subcell - M.first_subcell];
            p.boundary_id = M.boundary_id[code / 2];
            if (side == 1)
              for (int d = 0; d < dim; ++d)
                {
                  p.normal[d] = -p.normal[d];
                  p.x[d] += M.shift[(point_group.code >> 8) * dim + d];
                }
            set_data<dim, Coefficients>(T, M.interface_polytope[code], p);

            CoefficientError error;
            double           bn = 0., b_max = 0.;
            if constexpr (Coefficients::has_advection)
              {
                double b[dim];
                Coefficients::advection(f, p, b, error);
                bn    = Coefficients::normal_advection(b, p);
                b_max = Coefficients::largest_size(b, dim);
              }
            if (T.normal_advection != nullptr)
              T.normal_advection[4 *
                                   std::uint64_t(number - T.first_point_group) +
                                 r] = bn;
            if (point_group.boundary != invalid_index)
              {
                const BoundaryType condition =
                  Coefficients::boundary_type(f, p.boundary_id);
                double *const to =
                  T.boundary_data + 4 * std::uint64_t(point_group.boundary) + r;
                to[0] = Coefficients::boundary_value(f, condition, p, error);
                to[T.n_boundary_points] =
                  condition == BoundaryType::robin
                    ? Coefficients::robin_coefficient(f, p, error)
                    : 0.;
                if (condition != BoundaryType::dirichlet &&
                    PenaltyTerms::is_inflow(bn, b_max))
                  Coefficients::note(error,
                                     CoefficientError::inflow,
                                     CoefficientError::advection,
                                     p,
                                     bn);
              }
            report(T, (1ull << 63) + 4 * std::uint64_t(number) + r, error);
          }
      }



      /// Maximum over the lanes whose distance is a multiple of step (a power
      /// of 2).
      __device__ inline double
      largest_of_lanes(double value, const unsigned int step)
      {
        for (unsigned int offset = 16; offset >= step; offset /= 2)
          {
            const double other = __shfl_xor_sync(0xffffffffu, value, offset);
            value              = other > value ? other : value;
          }
        return value;
      }



      /// Largest n . a n over a polytope's points, for all its facets. Blocks
      /// have one warp.
      template <int dim, typename F>
      __device__ inline void
      largest_diffusion(const TabulationTask<dim> &T, const F &f)
      {
        using Coefficients          = PointwiseCoefficients<dim, F>;
        const MeshData<dim>   &M    = T.mesh;
        const unsigned int     k    = T.first_polytope + blockIdx.x;
        const unsigned int     lane = threadIdx.x;
        constexpr unsigned int n_points =
          128; // points that are evaluated at once
        // A quadratic form depends on the symmetric part only.
        constexpr int n_entries =
          Coefficients::tensor ? dim * (dim + 1) / 2 : 1;
        const unsigned int s_begin = M.subcell_offset[k],
                           s_end   = M.subcell_offset[k + 1];
        if (s_begin == s_end)
          return;
        const std::uint64_t point_begin = M.subcell_q[s_begin],
                            point_end   = M.subcell_q[s_end];
        const unsigned int e_begin      = M.polytope_interface_offset[k],
                           e_end        = M.polytope_interface_offset[k + 1];
        __shared__ double       a[n_entries][n_points];
        __shared__ unsigned int sides[32]; // 2 * facet + side
        for (std::uint64_t begin =
               point_begin + std::uint64_t(blockIdx.y) * n_points;
             begin < point_end;
             begin += std::uint64_t(gridDim.y) * n_points)
          {
            const unsigned int n =
              point_end - begin < n_points
                ? static_cast<unsigned int>(point_end - begin)
                : n_points;
            double largest = 0.; // largest value of isotropic diffusion
#  pragma unroll 1
            for (unsigned int j = lane; j < n; j += 32)
              {
                const std::uint64_t point = begin + j;
                const unsigned int s = find(M.subcell_q, s_begin, s_end, point);
                PointData<dim>     p;
                set_volume_data<dim, Coefficients>(T, k, s, point, p);
                CoefficientError error;
                double           entries[Coefficients::n_entries];
                Coefficients::penalty_diffusion(f, p, entries, error);
                report(T, 4 * point, error);
                if constexpr (Coefficients::tensor)
                  {
                    int position = 0;
                    for (int d = 0; d < dim; ++d)
                      {
                        a[position++][j] = entries[d * dim + d];
                        for (int e = d + 1; e < dim; ++e)
                          a[position++][j] =
                            entries[d * dim + e] + entries[e * dim + d];
                      }
                  }
                else
                  largest = entries[0] > largest ? entries[0] : largest;
              }
            if constexpr (!Coefficients::tensor)
              largest = largest_of_lanes(largest, 1);
            __syncwarp();

            // Non-negative doubles have the same order as their bit patterns.
            const auto store = [&](const unsigned int i, const double value) {
              if (value > 0.)
                atomicMax(reinterpret_cast<unsigned long long *>(T.a_bar + i),
                          static_cast<unsigned long long>(
                            __double_as_longlong(value)));
            };
            // One lane per interface lists its facets, then one lane per facet
            // computes: this waits for memory only a small number of times, not
            // once per facet.
            for (unsigned int e_first = e_begin; e_first < e_end; e_first += 32)
              {
                unsigned int code = 0, f_first = 0, n_facets = 0;
                if (e_first + lane < e_end)
                  {
                    code     = M.polytope_interface[e_first + lane];
                    f_first  = M.facet_offset[code / 2];
                    n_facets = M.facet_offset[code / 2 + 1] - f_first;
                  }
                unsigned int sum = n_facets; // sum up to this lane
                for (unsigned int offset = 1; offset < 32; offset *= 2)
                  {
                    const unsigned int before =
                      __shfl_up_sync(0xffffffffu, sum, offset);
                    sum += lane >= offset ? before : 0;
                  }
                const unsigned int total = __shfl_sync(0xffffffffu, sum, 31);
                for (unsigned int i_first = 0; i_first < total; i_first += 32)
                  {
                    for (unsigned int f = 0; f < n_facets; ++f)
                      {
                        // out of range, since unsigned, for facets below
                        // i_first
                        const unsigned int i = sum - n_facets + f - i_first;
                        if (i < 32)
                          sides[i] = 2 * (f_first + f) + code % 2;
                      }
                    __syncwarp();
                    // If there are fewer facets than lanes, several lanes share
                    // the points of a facet.
                    const unsigned int m     = total - i_first < 32
                                                 ? total - i_first
                                                 : 32,
                                       width = m <= 8    ? 8
                                               : m <= 16 ? 16
                                                         : 32,
                                       i     = lane % width;
                    double value             = largest;
                    if constexpr (Coefficients::tensor)
                      {
                        double products[n_entries] = {};
                        if (i < m)
                          {
                            const double *normal =
                              M.facet_normal +
                              std::uint64_t(sides[i] / 2) * dim;
                            int position = 0;
                            for (int d = 0; d < dim; ++d)
                              for (int e = d; e < dim; ++e)
                                products[position++] = normal[d] * normal[e];
                          }
#  pragma unroll 4
                        for (unsigned int j = lane / width; j < n;
                             j += 32 / width)
                          {
                            double form = 0.;
                            for (int d = 0; d < n_entries; ++d)
                              form += products[d] * a[d][j];
                            value = form > value ? form : value;
                          }
                        value = largest_of_lanes(value, width);
                      }
                    if (lane < m)
                      store(sides[lane], value);
                    __syncwarp();
                  }
              }
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

#endif
