// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_constant_facet_kernel_h
#define tessella_cuda_hdg_hdg_constant_facet_kernel_h

#include <tessella/portable/legendre.h>

#include "hdg_facet_kernel.h"

// Integrals over planar facets for a constant stabilisation, without advection,
// and for polytopes of up to 8 hdg_warp_tiles functions. There are fewer
// integrals than in general, and they need fewer instructions.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Visits the functions of total degree up to @p degree, at most
      /// max_degree, in their order, as products of one-dimensional functions:
      /// use(index, value).
      template <int dim, int max_degree, typename Use>
      __device__ inline void
      visit_functions(const unsigned int degree,
                      const double (&values)[dim][max_degree + 1],
                      const Use &use)
      {
#pragma unroll
        for (int grade = 0; grade <= max_degree; ++grade)
          if (grade <= int(degree))
            {
              // number of functions of lower total degree
              unsigned int number = dim == 1 ? grade
                                    : dim == 2
                                      ? grade * (grade + 1) / 2
                                      : grade * (grade + 1) * (grade + 2) / 6;
#pragma unroll
              for (int k0 = grade; k0 >= (dim > 1 ? 0 : grade); --k0)
#pragma unroll
                for (int k1 = grade - k0; k1 >= (dim > 2 ? 0 : grade - k0);
                     --k1)
                  {
                    double value = 1.;
                    if constexpr (dim > 2)
                      value = values[2][grade - k0 - k1];
                    if constexpr (dim > 1)
                      value *= values[1][k1];
                    use(number++, value * values[0][k0]);
                  }
            }
      }



      /**
       * Facet integrals for a positive constant stabilisation tau, without
       * advection, on planar facets. Let S be the integrals of products of
       * trace functions and functions of the polytope. Trace functions are
       * orthonormal on their patch and span the restrictions of the polytope's
       * functions to it. Hence F is the sum of n S over facets of each normal
       * n, R = tau S, G = tau I, and E = tau S^T S, summed over all interfaces
       * of a polytope, since a function on a patch is the sum of its components
       * in the directions of trace functions. So only S is integrated, with
       * functions on the box, which are then transformed to orthonormal ones.
       * Functions have a total degree.
       *
       * One warp processes 32 points at a time. Each lane computes the
       * functions at its point in registers and stores them in shared memory,
       * where products read them. Trace functions at points are operands in
       * registers (see HDGFewFacetFunctions), for 16 points at a time.
       */
      template <int dim, int T>
      struct HDGConstantFacets : public HDGFacetEntry<dim>
      {
        using Entry = HDGFacetEntry<dim>;
        using Entry::Entry;
        using Entry::P, Entry::base, Entry::e, Entry::k, Entry::first_row,
          Entry::lane, Entry::g, Entry::t, Entry::to;

        /// Points, and number of tiles of eight points that are processed at a
        /// time.
        static constexpr unsigned int n_points = hdg_warp_points;
        static constexpr int          U        = 2;
        /// Distances between rows of functions and of generators, such that
        /// pairs and single values that are read at a time lie in different
        /// banks of shared memory.
        static constexpr unsigned int ld            = HDGLayout::ld_pairs,
                                      ld_generators = HDGLayout::ld_single;
        /// Largest degree of up to 8 T functions.
        static constexpr int max_degree =
          dim == 2 ? (T == 2 ? 4 : 5) : (T == 2 ? 2 : 3);

        using Values = double[T][U][2];
        using Sums   = double[T][T][2];

        /// Values at the points: weights times the common factor of functions
        /// on the box, or weights times g; then normals.
        __device__ double *
        weight(const unsigned int i) const
        {
          return base + P.layout.weights + i * n_points;
        }
        __device__ double *
        functions() const
        {
          return base + P.layout.first;
        }
        __device__ double *
        generators() const
        {
          return base + P.layout.second;
        }
        /// Factors and offsets that map a point's coordinates to the box, and
        /// the common factor of functions on the box.
        __device__ double *
        map_to_box() const
        {
          return weight(2 + dim);
        }
        /// Indices of generators, among all generators of a patch.
        __device__ unsigned int *
        numbers() const
        {
          return reinterpret_cast<unsigned int *>(weight(2 + dim) + 8);
        }

        __device__ void
        set_map_to_box() const
        {
          const double *box  = P.D.box + 2 * dim * std::size_t(k);
          double        size = 1.;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            size *= box[dim + d] - box[d];
          if (lane < dim)
            {
              const double lower = box[lane], upper = box[dim + lane],
                           factor        = 2. / (upper - lower);
              map_to_box()[2 * lane]     = factor;
              map_to_box()[2 * lane + 1] = -(lower + upper) / (upper - lower);
            }
          if (lane == 0)
            {
              map_to_box()[2 * dim]     = rsqrt(size);
              map_to_box()[2 * dim + 1] = sqrt(size);
            }
        }

        /// Integrands at a point of a planar facet.
        struct Point
        {
          /// Point as seen by the traces; outer normal of the polytope.
          double x[dim], normal[dim], w;
        };

        /// Point @p r of a point group. w is zero unless @p valid.
        __device__ Point
        point_of(const HDGFacetPointGroup &point_group,
                 const unsigned int        r,
                 const bool                valid) const
        {
          const Data<dim>         &D    = P.D;
          const std::size_t        f    = point_group.facet;
          const FacetType          type = D.facet_type[f];
          const RuleTables::Entry &rule =
            D.facet_rule[static_cast<unsigned int>(type)]
                        [point_group.code >> 4 & 15u];
          const unsigned int n            = rule.n_points,
                             q            = min(point_group.first + r, n - 1);
          const double *const        data = D.rules + rule.offset + q,
                              *const v =
                                D.facet_vertices +
                                std::size_t(D.facet_vertex_offset[f]) * dim;
          const double sign = point_group.code & 1u ? -1. : 1.;
          Point        result;
          double       J[dim - 1][dim], outwards[dim];
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              outwards[d]      = D.facet_normal[f * dim + d];
              result.normal[d] = sign * outwards[d];
              double x         = v[d];
              J[0][d]          = v[dim + d] - x;
              x += data[0] * J[0][d];
              if constexpr (dim > 2)
                {
                  J[1][d] = v[2 * dim + d] - v[d];
                  if (type == FacetType::quadrilateral)
                    {
                      const double twist =
                        v[3 * dim + d] - v[dim + d] - J[1][d];
                      J[0][d] += data[n] * twist;
                      J[1][d] += data[0] * twist;
                    }
                  x += data[n] * J[1][d];
                }
              result.x[d] = x;
            }
          double w = data[(dim - 1) * n];
          if constexpr (dim > 2)
            {
              double volume = 0.;
#pragma unroll
              for (int d = 0; d < dim; ++d)
                volume +=
                  outwards[d] * (J[0][(d + 1) % dim] * J[1][(d + 2) % dim] -
                                 J[0][(d + 2) % dim] * J[1][(d + 1) % dim]);
              w *= fabs(volume);
            }
          else
            w *= D.facet_measure[f];
          result.w = valid && point_group.first + r < n ? w : 0.;
          return result;
        }

        /// Evaluates the functions on the box at the point of this lane, up to
        /// a common factor, which is returned.
        __device__ double
        evaluate_box(const double (&x)[dim]) const
        {
          double values[dim][max_degree + 1];
#pragma unroll
          for (int d = 0; d < dim; ++d)
            Legendre::evaluate(max_degree,
                               map_to_box()[2 * d] * x[d] +
                                 map_to_box()[2 * d + 1],
                               values[d]);
          double *const to = functions() + lane;
          visit_functions<dim, max_degree>(
            this->to.degree, values, [&](const unsigned int i, const double v) {
              to[i * ld] = v;
            });
          return map_to_box()[2 * dim];
        }

        /// Evaluates the generators of the trace functions of a patch.
        __device__ void
        evaluate_generators(const HDGSlicePointGroup &point_group,
                            const unsigned int        degree,
                            const double (&x)[dim]) const
        {
          const double *frame =
            P.patch_frame + std::size_t(point_group.patch) * (dim * (dim + 2));
          double values[dim][max_degree + 1];
          // Without extent, the coefficients of all functions but constants are
          // zero.
#pragma unroll
          for (int d = 0; d < dim; ++d)
            Legendre::evaluate(max_degree,
                               Entry::trace_coordinate(frame, d, x),
                               values[d]);
          double *const to    = generators() + lane;
          const auto    store = [&](const unsigned int i, const double v) {
            to[i * ld_generators] = v;
          };
          if (point_group.list == nullptr)
            visit_functions<dim, max_degree>(degree, values, store);
          else
            {
              double in_plane[dim - 1][max_degree + 1];
#pragma unroll
              for (int d = 0; d + 1 < dim; ++d)
#pragma unroll
                for (int i = 0; i <= max_degree; ++i)
                  in_plane[d][i] = values[d][i];
              visit_functions<dim - 1, max_degree>(degree, in_plane, store);
            }
        }

        /// Evaluates trace functions at points first .. first + 15.
        __device__ void
        evaluate_traces(Values                   &psi,
                        const HDGSlicePointGroup &point_group,
                        const unsigned int        first) const
        {
          Entry::zero(psi);
          const double *const values = generators() + first + g;
#pragma unroll 2
          for (unsigned int j0 = 0; j0 < point_group.n; j0 += 4)
            {
              const unsigned int j  = min(j0 + t, point_group.n - 1),
                                 at = numbers()[j];
              double a[T], b[U];
#pragma unroll
              for (int h = 0; h < T; ++h)
                a[h] =
                  8 * h + g < point_group.n_functions && j0 + t < point_group.n
                    ? __ldg(point_group.coefficients +
                            (8 * h + g) * point_group.n_all + at)
                    : 0.;
#pragma unroll
              for (int u = 0; u < U; ++u)
                b[u] = values[j * ld_generators + 8 * u];
              add_products(psi, a, b, [&](const int h, const int) {
                return h < 2 || 8 * h < point_group.n_functions;
              });
            }
        }

        /// Adds the contributions of points first .. first + 15 that are in the
        /// mask to the integrals of products of trace functions and functions
        /// on the box.
        __device__ void
        add(Sums              &sums,
            const Values      &psi,
            const unsigned int first,
            const unsigned int mask,
            const unsigned int n_psi) const
        {
          const double *const values = functions() + first + 2 * t;
#pragma unroll
          for (int u = 0; u < U; ++u)
            {
              const double2 w = *reinterpret_cast<const double2 *>(
                weight(0) + first + 8 * u + 2 * t);
              double2 b[T];
#pragma unroll
              for (int v = 0; v < T; ++v)
                b[v] = *reinterpret_cast<const double2 *>(
                  values + min(8 * v + g, to.n - 1) * ld + 8 * u);
#pragma unroll
              for (int s = 0; s < 2; ++s)
                {
                  const double factor = mask >> (8 * u + 2 * t + s) & 1u
                                          ? (s == 0 ? w.x : w.y)
                                          : 0.;
                  double       left[T], right[T];
#pragma unroll
                  for (int h = 0; h < T; ++h)
                    {
                      left[h]  = psi[h][u][s] * factor;
                      right[h] = s == 0 ? b[h].x : b[h].y;
                    }
                  add_products(sums, left, right, [&](const int h, const int) {
                    return h < 2 || 8 * h < n_psi;
                  });
                }
            }
        }

        /// Adds integrals of trace functions times g, for the same points.
        __device__ void
        add_data(const Values      &psi,
                 const unsigned int first,
                 const unsigned int mask,
                 double            *to,
                 const unsigned int n_psi,
                 const bool         replace) const
        {
          double result[T] = {};
#pragma unroll
          for (int u = 0; u < U; ++u)
            {
              double2 factor = *reinterpret_cast<const double2 *>(
                weight(1) + first + 8 * u + 2 * t);
              if (!(mask >> (8 * u + 2 * t) & 1u))
                factor.x = 0.;
              if (!(mask >> (8 * u + 2 * t + 1) & 1u))
                factor.y = 0.;
#pragma unroll
              for (int h = 0; h < T; ++h)
                result[h] += psi[h][u][0] * factor.x + psi[h][u][1] * factor.y;
            }
          Entry::put_vector(result, to, n_psi, replace);
        }

        /// Adds the sums to F and R, for facets with one normal. @p replace:
        /// these are the first sums of a patch and replace F and R.
        __device__ void
        put(const Sums &sums,
            const double (&normal)[dim],
            const unsigned int row,
            const unsigned int n_psi,
            const bool         replace) const
        {
          // All rows have the same stride, since A is a multiple of the
          // identity.
          const double *const CT = to.transform_of_polytope();
          const unsigned int  ld = to.L.stride, component = to.n_rows * ld;
          double *const F = to.F(0) + row * ld, *const R = to.R() + row * ld;
#pragma unroll 1
          for (unsigned int j0 = 0; j0 < to.padded_n; j0 += 8)
            {
              double c[T][1][2] = {};
#pragma unroll
              for (int u = 0; u < T; ++u)
                if (8 * u <= j0)
#pragma unroll
                  for (int s = 0; s < 2; ++s)
                    {
                      const unsigned int l = 8 * u + 2 * t + s, j = j0 + g;
                      const double b[1] = {l <= j && j < to.n ? CT[l * ld + j]
                                                              : 0.};
                      double       a[T];
#pragma unroll
                      for (int h = 0; h < T; ++h)
                        a[h] = sums[h][u][s];
                      add_products(c, a, b, [&](const int h, const int) {
                        return h < 2 || 8 * h < n_psi;
                      });
                    }
              const unsigned int at           = g * ld + j0 + 2 * t;
              const auto         row_is_there = [&](const int h) {
                return 8 * h + g < n_psi && j0 + 2 * t < to.padded_n;
              };
#pragma unroll
              for (int d = 0; d <= dim; ++d)
                {
                  const double factor =
                    d < dim ? normal[d < dim ? d : 0] : P.form.tau;
                  double *const entry = (d < dim ? F + d * component : R) + at;
                  if (replace)
                    {
#pragma unroll
                      for (int h = 0; h < T; ++h)
                        if (row_is_there(h))
                          *reinterpret_cast<double2 *>(entry + 8 * h * ld) =
                            make_double2(factor * c[h][0][0],
                                         factor * c[h][0][1]);
                    }
                  else if (factor != 0.)
                    {
                      double2 v[T];
#pragma unroll
                      for (int h = 0; h < T; ++h)
                        if (row_is_there(h))
                          v[h] = *reinterpret_cast<const double2 *>(entry +
                                                                    8 * h * ld);
#pragma unroll
                      for (int h = 0; h < T; ++h)
                        if (row_is_there(h))
                          *reinterpret_cast<double2 *>(entry + 8 * h * ld) =
                            make_double2(v[h].x + factor * c[h][0][0],
                                         v[h].y + factor * c[h][0][1]);
                    }
                }
            }
          // The first function on the box is a constant.
          if (t == 0)
#pragma unroll
            for (int h = 0; h < T; ++h)
              {
                const unsigned int i = 8 * h + g;
                if (i < n_psi)
                  {
                    double *const entry = to.trace_vector(0) + row + i;
                    const double  v = sums[h][0][0] * map_to_box()[2 * dim + 1];
                    *entry          = replace ? v : *entry + v;
                  }
              }
        }

        /// Initialises G and the vectors of a patch.
        __device__ void
        begin_patch(double                   *K,
                    const HDGSlicePointGroup &point_group,
                    const unsigned int        row) const
        {
          const unsigned int n = point_group.n_functions;
          Entry::begin_vectors(point_group.code, row, n);
          if (!(point_group.code & 4u))
            for (unsigned int i0 = 0; i0 < n; i0 += 2)
              {
                const unsigned int i = i0 + lane / 16, j = lane & 15u;
                double *const to_K = K + std::size_t(row + i) * to.n_all + row;
                if (i < n && j <= i)
                  to_K[j] = j == i ? P.form.tau : 0.;
                if (i < n && j + 16 <= i)
                  to_K[j + 16] = j + 16 == i ? P.form.tau : 0.;
              }
        }

        __device__ void
        integrate(double *K) const
        {
          const unsigned int begin = P.entry_point_group[e],
                             end   = P.entry_point_group[e + 1];
          __syncwarp();
          set_map_to_box();
          __syncwarp();
          Sums         sums;
          double       normal[dim] = {};
          unsigned int row = invalid_index, n_psi = 0;
          bool         replace = true, pending = false;
          // The loop has one more pass than there are slices, so that the code
          // stores sums in one place only.
          for (unsigned int slice = begin, n_point_groups = 0; slice <= end;
               slice += n_point_groups)
            {
              HDGSlicePointGroup slice_point_group = {};
              unsigned int       all = 0, facet = 0, next_row = invalid_index;
              bool               begins = false;
              const bool         last   = slice == end;
              if (!last)
                {
                  const auto part = Entry::slice_of_patch(slice, end);
                  const HDGFacetPointGroup &point_group = part.point_group;
                  all                                   = part.lanes;
                  n_point_groups                        = part.n_point_groups();
                  const Point point =
                    point_of(point_group, lane % 4, part.valid);
                  const unsigned int degree = P.patch_degree[part.patch];
                  slice_point_group =
                    make_slice_point_group(P,
                                           P.facet_point_group[slice],
                                           first_row);
                  next_row = first_row + slice_point_group.row;
                  begins   = Entry::begins_patch(begin, slice);
                  // The sums of the previous slice have read its values.
                  __syncwarp();
                  double x[dim];
#pragma unroll
                  for (int d = 0; d < dim; ++d)
                    x[d] = point_group.code & 1u
                             ? point.x[d] +
                                 P.D.shift[(point_group.code >> 8) * dim + d]
                             : point.x[d];
                  weight(0)[lane] = point.w * evaluate_box(x);
#pragma unroll
                  for (int d = 0; d < dim; ++d)
                    weight(2 + d)[lane] = point.normal[d];
                  if (point_group.boundary != invalid_index)
                    weight(1)[lane] =
                      point.w *
                      P.boundary_table[4 * std::size_t(point_group.boundary) +
                                       lane % 4];
                  evaluate_generators(slice_point_group, degree, point.x);
                  if (begins)
                    {
                      if (lane < slice_point_group.n)
                        numbers()[lane] = slice_point_group.index(lane);
                      begin_patch(K, slice_point_group, next_row);
                    }
                  __syncwarp();
                  facet = point_group.facet;
                }
#pragma unroll 1
              for (unsigned int first = 0; first == 0 || all >> first != 0;
                   first += 8 * U)
                {
                  // A shift by 32 bits would be undefined.
                  if (first >= n_points)
                    break;
                  // ---- groups of points with a common normal
                  unsigned int rest = all >> first & ((1u << (8 * U)) - 1u);
#pragma unroll 1
                  do
                    {
                      const unsigned int leader =
                        last ? 0 : first + __ffs(rest) - 1;
                      double n[dim];
                      bool   same   = __shfl_sync(~0u, facet, leader) == facet,
                           parallel = true, goes_on = row == next_row;
#pragma unroll
                      for (int d = 0; d < dim; ++d)
                        {
                          n[d]     = weight(2 + d)[leader];
                          parallel = parallel &&
                                     fabs(weight(2 + d)[lane] - n[d]) <= 1e-15;
                          goes_on = goes_on && fabs(normal[d] - n[d]) <= 1e-15;
                        }
                      if (pending && !goes_on)
                        {
                          put(sums, normal, row, n_psi, replace);
                          replace = false;
                          pending = false;
                        }
                      if (last)
                        break;
                      if (!pending)
                        {
                          replace = replace || row != next_row;
                          row     = next_row;
                          n_psi   = slice_point_group.n_functions;
                          pending = true;
#pragma unroll
                          for (int d = 0; d < dim; ++d)
                            normal[d] = n[d];
                          Entry::zero(sums);
                        }
                      const unsigned int mask =
                        rest & __ballot_sync(~0u, same || parallel) >> first;
                      // This follows the storing of sums, so that both do not
                      // occupy registers at the same time.
                      Values psi;
                      evaluate_traces(psi, slice_point_group, first);
                      if (slice_point_group.code & 2u)
                        add_data(psi,
                                 first,
                                 mask,
                                 to.trace_vector(1) + next_row,
                                 n_psi,
                                 begins && first == 0 && mask & 1u);
                      add(sums, psi, first, mask, n_psi);
                      rest &= ~mask;
                  } while (rest != 0);
                }
              if (last)
                break;
            }
        }
      };



      /// Kernel for up to 8 T functions.
      template <int dim, int T>
      __global__ void __launch_bounds__(32, T > 2 ? 16 : 20)
        hdg_constant_facet_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        facets_of_entries(P, shared, [&](double *base, const unsigned int e) {
          HDGConstantFacets<dim, T>(P, base, e)
            .integrate(traces_of_entry(P, e));
          return true;
        });
      }



      /// E of all facets of a polytope, stored in place of that of its first
      /// entry: the sum of tau S^T S = R^T R / tau, and of the results of other
      /// kernels. One warp for each polytope.
      template <int dim>
      __global__ void __launch_bounds__(32)
        hdg_boundary_kernel(const __grid_constant__ HDGData<dim> P)
      {
        constexpr int      T    = hdg_warp_tiles;
        const unsigned int lane = threadIdx.x & 31u, g = lane / 4, t = lane % 4;
        for (unsigned int k = P.first + blockIdx.x; k < P.last; k += gridDim.x)
          {
            const unsigned int status = P.status[k];
            if (status & hdg_failed)
              continue;
            const HDGBlock<dim, HDGStage::elimination> whole = state_of(P, k);
            const unsigned int begin = P.D.polytope_interface_offset[k],
                               end   = P.D.polytope_interface_offset[k + 1],
                               n = whole.n, ld = whole.L.stride;
            // For other entries, E has been integrated at points.
            const auto projected = [&](const unsigned int e) {
              return P.entry_projected[e] && !(status & hdg_undone);
            };
            double     sums[T][T][2] = {};
            const auto lower         = [](const int h, const int u) {
              return u <= (h | 1);
            };
            const auto row_of = [&](const unsigned int e) {
              return e < end ? P.entry_row[e] : whole.n_traces;
            };
            for (unsigned int e = begin; e < end;)
              {
                // contiguous entries, whose rows are contiguous, too
                const unsigned int row = row_of(e);
                while (e < end && projected(e))
                  ++e;
                const unsigned int next = row_of(e++);
#pragma unroll 4
                for (unsigned int m0 = row; m0 < next; m0 += 4)
                  {
                    const unsigned int m = m0 + t;
                    double             values[T];
#pragma unroll
                    for (int h = 0; h < T; ++h)
                      {
                        const unsigned int j = 8 * h + g;
                        values[h] =
                          m < next && j < n ? whole.R()[m * ld + j] : 0.;
                      }
                    add_products(sums, values, values, lower);
                  }
              }
            const double  factor  = 1. / P.form.tau;
            double *const partial = partial_of_entry(P, begin);
#pragma unroll
            for (int h = 0; h < T; ++h)
#pragma unroll
              for (int u = 0; u <= h; ++u)
#pragma unroll
                for (int s = 0; s < 2; ++s)
                  {
                    const unsigned int i = 8 * h + g, j = 8 * u + 2 * t + s;
                    if (i >= n || j > i || begin == end)
                      continue;
                    double v = factor * sums[h][u][s];
                    for (unsigned int e = begin; e < end; ++e)
                      if (!projected(e))
                        v += partial_of_entry(P, e)[i * ld + j];
                    partial[i * ld + j] = v;
                  }
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
