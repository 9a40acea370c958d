// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <tuple>

#include "../../source/hdg/tensor.h"
#include "../device/memory.h"
#include "hdg.h"
#include "hdg_constant_facet_kernel.h"
#include "hdg_elimination_kernel.h"
#include "hdg_facet_kernel.h"
#include "hdg_kernel.h"
#include "hdg_moments_kernel.h"
#include "hdg_recover_kernel.h"
#include "hdg_reference.h"
#include "hdg_simplex_kernel.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// A stream whose kernels have priority over those of other streams.
        class UrgentStream
        {
        public:
          UrgentStream()
          {
            int least = 0, greatest = 0;
            check(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                  "the creation of a stream");
            check(cudaStreamCreateWithPriority(&stream,
                                               cudaStreamNonBlocking,
                                               greatest),
                  "the creation of a stream");
          }
          UrgentStream(const UrgentStream &) = delete;
          ~UrgentStream()
          {
            cudaStreamDestroy(stream);
          }
          operator cudaStream_t() const
          {
            return stream;
          }

        private:
          cudaStream_t stream = nullptr;
        };



        /// Data for the kernels that follow the local problems.
        template <int dim>
        struct Gather
        {
          const unsigned int *polytope_interface_offset, *polytope_interface,
            *interface_polytope;
          const unsigned int *block_of_interface, *interface_of_block,
            *row_block, *entry_row;
          const unsigned int  *entry_of_side; ///< two for each interface
          const unsigned char *irregular;     ///< for each block row, see
                                              ///< hdg_gather_kernel()
          const std::uint64_t *dof_offset, *trace_offset, *square_offset;
          const std::uint64_t *block_offset, *value_offset;
          const unsigned int  *block_column, *column_offset, *row_width;
          const double        *K, *local_rhs;
          std::uint64_t        first_square, n_rows;
          unsigned int         first, last;
          double              *values, *rhs;
        };



        /// Writes the rows of the trace matrix, one warp for each row: first
        /// the contribution of the polytope on side 0, then that on side 1, as
        /// far as they are in the tile. A block row is irregular if one of its
        /// polytopes is its own neighbour, so that several contributions have
        /// the same column.
        template <int dim>
        __global__ void
        hdg_gather_kernel(const Gather<dim> G)
        {
          const unsigned int  lane = threadIdx.x & 31u;
          const std::uint64_t row =
            (std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
          if (row >= G.n_rows)
            return;
          const unsigned int b         = G.row_block[row],
                             i         = (unsigned int)(row - G.dof_offset[b]),
                             interface = G.interface_of_block[b];
          const bool    irregular      = G.irregular[b];
          double *const out =
            G.values + G.value_offset[b] + std::uint64_t(i) * G.row_width[b];
          for (unsigned int side = 0; side < 2; ++side)
            {
              const unsigned int
                k = G.interface_polytope[2 * std::size_t(interface) + side],
                other =
                  G.interface_polytope[2 * std::size_t(interface) + 1 - side];
              if (k == invalid_index || k < G.first || k >= G.last)
                continue;
              if (irregular && side == 0)
                for (unsigned int j = lane; j < G.row_width[b]; j += 32)
                  out[j] = 0.;
              __syncwarp();
              const std::uint64_t first = G.trace_offset[k];
              const unsigned int  n =
                (unsigned int)(G.trace_offset[k + 1] - first);
              const unsigned int own =
                G.entry_row[G.entry_of_side[2 * std::size_t(interface) +
                                            side]] +
                i;
              const double *const K = G.K +
                                      (G.square_offset[k] - G.first_square) +
                                      std::uint64_t(own) * n;
              const unsigned int end = G.polytope_interface_offset[k + 1];
              for (unsigned int e = G.polytope_interface_offset[k]; e < end;
                   ++e)
                {
                  const unsigned int j      = G.polytope_interface[e] / 2;
                  const unsigned int column = G.block_of_interface[j];
                  if (column == invalid_index)
                    continue;
                  // last block of the row whose column is not larger
                  std::uint64_t low  = G.block_offset[b],
                                high = G.block_offset[b + 1];
                  while (high - low > 1)
                    {
                      const std::uint64_t middle = (low + high) / 2;
                      if (G.block_column[middle] <= column)
                        low = middle;
                      else
                        high = middle;
                    }
                  const bool shared =
                    side == 1 &&
                    G.interface_polytope[G.polytope_interface[e] ^ 1u] == other;
                  const bool         add = irregular || shared;
                  const unsigned int m =
                    (unsigned int)(G.dof_offset[column + 1] -
                                   G.dof_offset[column]);
                  double *const       to   = out + G.column_offset[low];
                  const double *const from = K + G.entry_row[e];
                  for (unsigned int l = lane; l < m; l += 32)
                    to[l] = add ? to[l] + from[l] : from[l];
                  if (irregular)
                    __syncwarp();
                }
              if (lane == 0)
                {
                  const double value = G.local_rhs[first + own];
                  G.rhs[row]         = side == 0 ? value : G.rhs[row] + value;
                }
              __syncwarp();
            }
        }



        /// Key of a point at which a is not positive (definite). Keys of errors
        /// in evaluation are smaller.
        constexpr unsigned long long not_positive = ~0ull - 1;

        /// Replaces a by its inverse.
        template <int dim>
        __global__ void
        hdg_invert_kernel(double             *a,
                          const std::uint64_t n,
                          const bool          tensor,
                          ErrorRecord        *record)
        {
          const std::uint64_t q =
            std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
          if (q >= n)
            return;
          bool good = true;
          if (!tensor)
            {
              good = a[q] > 0.;
              a[q] = 1. / a[q];
            }
          else
            {
              double A[dim][dim], inverse[dim][dim];
              for (int d = 0; d < dim * dim; ++d)
                A[d / dim][d % dim] = a[d * n + q];
              good = invert_tensor<dim>(A, inverse);
              for (int d = 0; d < dim * dim; ++d)
                a[d * n + q] = inverse[d / dim][d % dim];
            }
          if (!good)
            atomicMin(&record->key, not_positive);
        }



        /// For each polytope of the tile, by one warp: is c or alpha non-zero
        /// somewhere? c is its array in the volume table, or null.
        template <int dim>
        __global__ void
        hdg_fixed_kernel(const HDGData<dim>        P,
                         const HDGFacetPointGroup *point_groups,
                         const double             *c,
                         char                     *fixed)
        {
          const unsigned int lane = threadIdx.x & 31u;
          const unsigned int k =
            P.first + (blockIdx.x * blockDim.x + threadIdx.x) / 32;
          if (k >= P.last)
            return;
          bool found = false;
          if (c != nullptr)
            {
              const std::uint64_t begin = P.D.subcell_q[P.D.subcell_offset[k]],
                                  end =
                                    P.D.subcell_q[P.D.subcell_offset[k + 1]];
              for (std::uint64_t q = begin + lane; q < end; q += 32)
                found = found || c[q - P.first_volume_point] != 0.;
            }
          for (unsigned int i = P.facet_begin[k] + lane;
               i < P.facet_begin[k + 1];
               i += 32)
            if (point_groups[i].boundary != invalid_index)
              for (unsigned int r = 0; r < 4; ++r)
                found =
                  found ||
                  P.boundary_table[P.n_boundary_points +
                                   4 * std::size_t(point_groups[i].boundary) +
                                   r] != 0.;
          found = __any_sync(0xffffffffu, found);
          if (lane == 0)
            fixed[k] = found;
        }
      } // namespace



      template <int dim>
      struct HDGAssembler<dim>::Implementation
      {
        Implementation(const PolytopicMesh<dim>         &mesh,
                       const TraceSpace<dim>            &trace,
                       const BlockSparsity              &sparsity,
                       const HDGNumbering               &numbering,
                       const RuleTables                 &rules,
                       const std::vector<unsigned char> &exponents,
                       const bool                        tensor_product,
                       const std::size_t                 device_memory,
                       const Parallel                   &parallel)
          : mesh(mesh)
          , trace(trace)
          , sparsity(sparsity)
          , numbering(numbering)
          , rules(rules)
          , exponents(exponents)
          , tensor_product(tensor_product)
          , device_memory(device_memory)
          , parallel(parallel)
        {}

        template <typename T>
        const T *
        upload(const std::vector<T> &values)
        {
          if (values.empty())
            return nullptr;
          memory.push_back(std::make_unique<Array<char>>());
          memory.back()->resize(values.size() * sizeof(T));
          used += values.size() * sizeof(T);
          check(cudaMemcpy(memory.back()->data(),
                           values.data(),
                           values.size() * sizeof(T),
                           cudaMemcpyHostToDevice),
                "a copy to the device");
          return reinterpret_cast<const T *>(memory.back()->data());
        }

        // ---- quadrature points and traces of polytopes
        void
        plan()
        {
          const unsigned int n         = mesh.n_owned_polytopes(),
                             n_entries = mesh.polytope_interface.size();
          entry_row.assign(n_entries, 0);
          entry_polytope.assign(n_entries, 0);
          entry_point_group.assign(n_entries + std::size_t(1), 0);
          short_entry_point_group.assign(n_entries + std::size_t(1), 0);
          entry_fixed.assign(n_entries, 0);
          entry_projected.assign(n_entries, 0);
          entry_of_side.assign(2 * std::size_t(mesh.n_interfaces()),
                               invalid_index);
          trace_offset.assign(n + 1, 0);
          square_offset.assign(n + 1, 0);
          solver_offset.assign(n + 1, 0);
          volume_begin.assign(n + 1, 0);
          mass_begin.assign(n + 1, 0);
          subcell_q.assign(mesh.n_subcells() + 1, 0);
          facet_begin.assign(n + 1, 0);
          // Boundary point groups are numbered interface by interface.
          std::vector<unsigned int> first_boundary(mesh.n_interfaces(), 0);
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            if (mesh.interface_polytope[2 * std::size_t(i) + 1] ==
                invalid_index)
              {
                first_boundary[i]         = n_boundary_point_groups;
                const unsigned int degree = interface_degree(mesh, i);
                for (unsigned int f = mesh.facet_offset[i];
                     f < mesh.facet_offset[i + 1];
                     ++f)
                  n_boundary_point_groups += n_point_groups(f, degree);
              }
          planar.assign(mesh.n_facets(), 0);
          for (unsigned int f = 0; f < mesh.n_facets(); ++f)
            planar[f] = is_planar(f);
          std::vector<unsigned char> suitable(mesh.n_interfaces(), 0);
          parallel(mesh.n_interfaces(),
                   1024,
                   [&](const std::size_t begin, const std::size_t end) {
                     for (std::size_t i = begin; i < end; ++i)
                       suitable[i] = is_suitable(i);
                   });
          unsigned int short_point_groups = 0;
          for (unsigned int k = 0; k < n; ++k)
            {
              std::uint64_t n_traces     = 0;
              unsigned int  point_groups = 0;
              for (unsigned int e = mesh.polytope_interface_offset[k];
                   e < mesh.polytope_interface_offset[k + 1];
                   ++e)
                {
                  const unsigned int code    = mesh.polytope_interface[e],
                                     i       = code / 2;
                  entry_of_side[code]        = e;
                  entry_row[e]               = n_traces;
                  entry_polytope[e]          = k;
                  entry_point_group[e]       = facet_begin[k] + point_groups;
                  short_entry_point_group[e] = short_point_groups;
                  entry_fixed[e]             = numbering.fixed[i];
                  // On the boundary G contains other terms.
                  entry_projected[e] =
                    suitable[i] && (numbering.fixed[i] ||
                                    mesh.neighbor(code) != invalid_index);
                  (entry_projected[e] ? projected_entries : other_entries)
                    .push_back(e);
                  n_traces += trace.n_functions[i];
                  const unsigned int degree = interface_degree(mesh, i);
                  for (unsigned int f = mesh.facet_offset[i];
                       f < mesh.facet_offset[i + 1];
                       ++f)
                    if (mesh.facet_measure[f] > 0.)
                      {
                        point_groups += n_point_groups(f, degree);
                        short_point_groups +=
                          n_point_groups(f, short_degree(code, f));
                      }
                }
              unsigned int volume = 0, mass = 0;
              for (unsigned int s = mesh.subcell_offset[k];
                   s < mesh.subcell_offset[k + 1];
                   ++s)
                {
                  const unsigned int n_points =
                    n_subcell_points(mesh, rules, s, mesh.degree[k]);
                  volume += (n_points + 3) / 4;
                  mass += n_mass_point_groups(k, s);
                  subcell_q[s + 1] = subcell_q[s] + n_points;
                }
              trace_offset[k + 1]  = trace_offset[k] + n_traces;
              square_offset[k + 1] = square_offset[k] + n_traces * n_traces;
              const std::uint64_t n_basis = mesh.n_basis[k];
              solver_offset[k + 1] =
                solver_offset[k] +
                ((n_traces + 1) * (dim + 1) + n_basis) * n_basis;
              volume_begin[k + 1] = volume_begin[k] + volume;
              mass_begin[k + 1]   = mass_begin[k] + mass;
              facet_begin[k + 1]  = facet_begin[k] + point_groups;
              max_traces       = std::max(max_traces, (unsigned int)n_traces);
              max_basis        = std::max(max_basis, mesh.n_basis[k]);
              max_degree       = std::max(max_degree, mesh.degree[k]);
              max_point_groups = std::max({max_point_groups, volume, mass});
              max_facet_point_groups =
                std::max(max_facet_point_groups, point_groups);
            }
          n_face_functions =
            Legendre::n_functions(dim - 1, max_degree, trace.tensor_product);
          for (unsigned int p = 0; p + 1 < trace.facet_offset.size(); ++p)
            if (trace.facet_offset[p + 1] > trace.facet_offset[p] + 1)
              shared_patches = true;
          entry_point_group[n_entries]       = facet_begin[n];
          short_entry_point_group[n_entries] = short_point_groups;
          simplices = mesh.subcell_offset[n] == n && !trace.tensor_product &&
                      std::all_of(mesh.degree.begin(),
                                  mesh.degree.end(),
                                  [&](const unsigned int p) {
                                    return p == max_degree;
                                  }) &&
                      std::all_of(mesh.subcell_type.begin(),
                                  mesh.subcell_type.end(),
                                  [](const SubCellType type) {
                                    return type == SubCellType::simplex;
                                  }) &&
                      std::all_of(mesh.facet_type.begin(),
                                  mesh.facet_type.end(),
                                  [](const FacetType type) {
                                    return type == FacetType::simplex;
                                  });
          volume_point_groups.resize(volume_begin[n]);
          mass_point_groups.resize(mass_begin[n]);
          facet_point_groups.resize(facet_begin[n]);
          short_facet_point_groups.resize(short_point_groups);
          parallel(n, 256, [&](const std::size_t begin, const std::size_t end) {
            for (std::size_t k = begin; k < end; ++k)
              plan_polytope(k, first_boundary);
          });
          for (unsigned int i = 0; i < facet_point_groups.size(); ++i)
            if (facet_point_groups[i].boundary != invalid_index)
              boundary_point_groups.push_back(i);

          unsigned int smallest = 10;
          for (unsigned int k = 0; k < n; ++k)
            smallest = std::min(smallest, mesh.degree[k]);
          sizes = {max_traces,
                   max_basis,
                   max_degree,
                   10 - smallest,
                   max_point_groups,
                   max_facet_point_groups,
                   simplices ? 0u : 1u,
                   shared_patches ? 1u : 0u};

          // ---- block rows
          const unsigned int n_blocks = numbering.interface_of_block.size();
          row_block.resize(numbering.dof_offset[n_blocks]);
          irregular.assign(n_blocks, 0);
          std::vector<unsigned char> self(mesh.n_polytopes(), 0);
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            if (mesh.interface_polytope[2 * std::size_t(i)] ==
                mesh.interface_polytope[2 * std::size_t(i) + 1])
              self[mesh.interface_polytope[2 * std::size_t(i)]] = 1;
          for (unsigned int b = 0; b < n_blocks; ++b)
            {
              std::fill(row_block.begin() + numbering.dof_offset[b],
                        row_block.begin() + numbering.dof_offset[b + 1],
                        b);
              for (unsigned int side = 0; side < 2; ++side)
                {
                  const unsigned int k =
                    mesh.interface_polytope
                      [2 * std::size_t(numbering.interface_of_block[b]) + side];
                  if (k != invalid_index && self[k])
                    irregular[b] = 1;
                }
            }
        }

        unsigned int
        n_mass_point_groups(const unsigned int k,
                            const unsigned int subcell) const
        {
          return (n_subcell_points(
                    mesh, rules, subcell, P.mass_degree[mesh.degree[k]]) +
                  3) /
                 4;
        }

        // True if all points are in a plane and thus have the same normal.
        bool
        is_planar(const unsigned int f) const
        {
          if (mesh.facet_type[f] == FacetType::simplex)
            return true;
          if (dim < 3 || mesh.facet_type[f] != FacetType::quadrilateral)
            return false;
          const double *v =
            &mesh
               .facet_vertices[std::size_t(mesh.facet_vertex_offset[f]) * dim];
          double edge[3][3] = {}, square = 0.;
          for (unsigned int i = 0; i < 3; ++i)
            for (unsigned int d = 0; d < dim; ++d)
              {
                edge[i][d] = v[(i + 1) * dim + d] - v[d];
                square += edge[i][d] * edge[i][d];
              }
          double volume = 0.;
          for (unsigned int d = 0; d < 3; ++d)
            volume +=
              edge[2][d] * (edge[0][(d + 1) % 3] * edge[1][(d + 2) % 3] -
                            edge[0][(d + 2) % 3] * edge[1][(d + 1) % 3]);
          return std::abs(volume) <=
                 1e-14 * mesh.facet_measure[f] * std::sqrt(square);
        }

        // True if all facets are planar, and trace functions lose at most three
        // digits by rounding, since their coefficients, which magnify rounding
        // errors, are small enough.
        bool
        is_suitable(const unsigned int i) const
        {
          double measure = 0.;
          for (unsigned int f = mesh.facet_offset[i];
               f < mesh.facet_offset[i + 1];
               ++f)
            {
              if (!planar[f])
                return false;
              measure += mesh.facet_measure[f];
            }
          for (unsigned int p = trace.patch_offset[i];
               p < trace.patch_offset[i + 1];
               ++p)
            {
              const unsigned int n = trace.n_patch_functions[p];
              if (n == 0)
                return false;
              const std::uint64_t begin = trace.coefficient_offset[p],
                                  size =
                                    (trace.coefficient_offset[p + 1] - begin) /
                                    n;
              double patch_measure = 0.;
              for (unsigned int f = trace.facet_offset[p];
                   f < trace.facet_offset[p + 1];
                   ++f)
                patch_measure += mesh.facet_measure[f];
              for (unsigned int m = 0; m < n; ++m)
                {
                  double sum = 0.;
                  for (std::uint64_t g = 0; g < size; ++g)
                    sum += std::abs(trace.coefficients[begin + m * size + g]);
                  if (!(sum * std::sqrt(patch_measure) < 1000.))
                    return false;
                }
            }
          return measure > 0.;
        }

        // Degree whose rule is exact for products of two functions on a facet
        // of an entry of polytope_interface. Facets on the boundary need the
        // rule of the full degree, since data may be any functions.
        unsigned int
        short_degree(const unsigned int entry, const unsigned int f) const
        {
          const unsigned int degree = interface_degree(mesh, entry / 2);
          return planar[f] && mesh.neighbor(entry) != invalid_index
                   ? P.mass_degree[degree]
                   : degree;
        }

        unsigned int
        n_point_groups(const unsigned int facet,
                       const unsigned int degree) const
        {
          return (n_facet_points(mesh, rules, facet, degree) + 3) / 4;
        }

        void
        plan_polytope(const unsigned int               k,
                      const std::vector<unsigned int> &first_boundary)
        {
          unsigned int to = volume_begin[k];
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1];
               ++s)
            for (unsigned int q = 0;
                 q < n_subcell_points(mesh, rules, s, mesh.degree[k]);
                 q += 4)
              volume_point_groups[to++] = {s, q};
          to = mass_begin[k];
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1];
               ++s)
            for (unsigned int i = 0; i < n_mass_point_groups(k, s); ++i)
              mass_point_groups[to++] = {s, 4 * i};
          to                 = facet_begin[k];
          unsigned int faces = 0, n_facets = 0;
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              const unsigned int entry  = mesh.polytope_interface[e],
                                 i      = entry / 2;
              const bool boundary       = mesh.neighbor(entry) == invalid_index;
              const unsigned int degree = interface_degree(mesh, i);
              unsigned int shift = entry % 2 == 1 ? mesh.interface_shift[i] : 0;
              const unsigned int code = entry % 2 | (boundary ? 2u : 0u) |
                                        (numbering.fixed[i] ? 4u : 0u) |
                                        shift << 8;
              unsigned int short_to = short_entry_point_group[e];
              unsigned int number   = first_boundary[i];
              for (unsigned int p = trace.patch_offset[i];
                   p < trace.patch_offset[i + 1];
                   ++p)
                for (unsigned int f = trace.facet_offset[p];
                     f < trace.facet_offset[p + 1];
                     ++f)
                  {
                    const unsigned int orientation =
                      orientation_of(k, entry, f);
                    const auto add =
                      [&](const unsigned int               rule_degree,
                          unsigned int                    &at,
                          std::vector<HDGFacetPointGroup> &point_groups) {
                        for (unsigned int i = 0;
                             i < n_point_groups(f, rule_degree);
                             ++i)
                          point_groups[at++] = {f,
                                                4 * i,
                                                p,
                                                entry_row[e] +
                                                  trace.first_function[p],
                                                code | rule_degree << 4,
                                                boundary ? number + i
                                                         : invalid_index,
                                                orientation};
                      };
                    faces |= 1u << opposite_vertex<dim>(orientation);
                    ++n_facets;
                    if (mesh.facet_measure[f] > 0.)
                      {
                        add(degree, to, facet_point_groups);
                        add(short_degree(entry, f),
                            short_to,
                            short_facet_point_groups);
                      }
                    number += n_point_groups(f, degree);
                  }
            }
          // Kernels expect exactly one facet on each face.
          if (n_facets != dim + 1 || faces != (2u << dim) - 1)
            simplices = false;
        }

        // Orientation of a facet in a polytope that is one simplex. If it has
        // none, returns 0 and sets simplices to false.
        unsigned int
        orientation_of(const unsigned int k,
                       const unsigned int entry,
                       const unsigned int f)
        {
          if (!simplices)
            return 0;
          const double *vertices =
            &mesh.subcell_vertices[std::size_t(mesh.subcell_vertex_offset
                                                 [mesh.subcell_offset[k]]) *
                                   dim];
          double shift[dim] = {}, size = 0.;
          for (int d = 0; d < dim; ++d)
            {
              size += mesh.box[(2 * std::size_t(k) + 1) * dim + d] -
                      mesh.box[2 * std::size_t(k) * dim + d];
              if (entry % 2 == 1)
                shift[d] =
                  mesh
                    .shift[std::size_t(mesh.interface_shift[entry / 2]) * dim +
                           d];
            }
          unsigned int vertex[dim];
          for (int v = 0; v < dim; ++v)
            {
              const double *x =
                &mesh.facet_vertices[(std::size_t(mesh.facet_vertex_offset[f]) +
                                      v) *
                                     dim];
              vertex[v] = dim + 1;
              for (int u = 0; u <= dim; ++u)
                {
                  double distance = 0.;
                  for (int d = 0; d < dim; ++d)
                    distance +=
                      std::abs(vertices[u * dim + d] - x[d] - shift[d]);
                  if (distance < 1e-12 * size)
                    vertex[v] = u;
                }
              if (vertex[v] > dim)
                {
                  simplices = false;
                  return 0;
                }
            }
          return facet_orientation<dim>(vertex);
        }

        void
        set_sizes(const HDGSizes &of_all)
        {
          const auto size = [&of_all](const HDGSize what) {
            return of_all[static_cast<std::size_t>(what)];
          };
          max_traces             = size(HDGSize::traces);
          max_basis              = size(HDGSize::basis);
          max_degree             = size(HDGSize::degree);
          max_point_groups       = size(HDGSize::volume_point_groups);
          max_facet_point_groups = size(HDGSize::facet_point_groups);
          shared_patches         = size(HDGSize::shared_patches) > 0;
          n_face_functions =
            Legendre::n_functions(dim - 1, max_degree, trace.tensor_product);
          simplices = size(HDGSize::others) == 0 &&
                      max_degree + size(HDGSize::ten_less_degree) == 10;
        }

        void
        upload_mesh()
        {
          Data<dim> &D                = P.D;
          D.box                       = upload(mesh.box);
          D.degree                    = upload(mesh.degree);
          D.n_basis                   = upload(mesh.n_basis);
          D.dof_offset                = upload(mesh.dof_offset);
          D.polytope_interface_offset = upload(mesh.polytope_interface_offset);
          D.polytope_interface        = upload(mesh.polytope_interface);
          D.subcell_type              = upload(mesh.subcell_type);
          D.subcell_vertex_offset     = upload(mesh.subcell_vertex_offset);
          D.subcell_vertices          = upload(mesh.subcell_vertices);
          D.subcell_point_offset      = upload(mesh.subcell_point_offset);
          D.subcell_points            = upload(mesh.subcell_points);
          D.subcell_point_weights     = upload(mesh.subcell_point_weights);
          D.interface_polytope        = upload(mesh.interface_polytope);
          D.shift                     = upload(mesh.shift);
          D.facet_type                = upload(mesh.facet_type);
          D.facet_vertex_offset       = upload(mesh.facet_vertex_offset);
          D.facet_vertices            = upload(mesh.facet_vertices);
          D.facet_normal              = upload(mesh.facet_normal);
          D.facet_measure             = upload(mesh.facet_measure);
          D.facet_point_offset        = upload(mesh.facet_point_offset);
          D.facet_points              = upload(mesh.facet_points);
          D.facet_point_normals       = upload(mesh.facet_point_normals);
          D.facet_point_weights       = upload(mesh.facet_point_weights);
          D.rules                     = upload(rules.data);
          D.exponents                 = upload(exponents);
          for (unsigned int p = 0; p <= 10; ++p)
            {
              for (unsigned int t = 0; t < 5; ++t)
                D.subcell_rule[t][p] = rules.subcell[t][p];
              for (unsigned int t = 0; t < 4; ++t)
                D.facet_rule[t][p] = rules.facet[t][p];
            }
          P.tensor_product = tensor_product;
          std::vector<unsigned short> planar;
          for (std::size_t g = 0; g < exponents.size() / dim; ++g)
            if (exponents[dim * g + dim - 1] == 0)
              planar.push_back(static_cast<unsigned short>(g));
          P.planar = upload(planar);
          for (unsigned int p = 0; p <= max_degree; ++p)
            for (unsigned int i = 0; i < 2; ++i)
              P.n_generators[i][p] =
                Legendre::n_functions(dim - i, p, tensor_product);
          upload_derivatives(exponents);
          if (max_basis <= 8 * hdg_warp_tiles)
            {
              upload_moments(exponents);
              upload_bricks();
            }
          if (simplices)
            {
              const SimplexReference reference =
                make_simplex_reference<dim>(rules,
                                            max_degree,
                                            row_stride(max_basis));
              P.derivative       = upload(reference.derivative);
              P.schur_tables     = upload(reference.schur);
              P.trace_tables     = upload(reference.trace);
              P.trace_squares    = upload(reference.trace_squares);
              P.load             = upload(reference.load);
              P.face_values      = upload(reference.face_values);
              P.gauss            = upload(reference.gauss);
              P.schur_place      = upload(reference.schur_place);
              P.n_schur_pairs    = reference.schur_place.size();
              P.factor           = upload(reference.factor);
              P.steps            = upload(reference.steps);
              P.n_face_functions = n_face_functions;
              P.max_traces       = max_traces;
            }
          D.subcell_offset       = upload(mesh.subcell_offset);
          D.subcell_q            = upload(subcell_q);
          P.volume_point_group   = upload(volume_point_groups);
          all_facet_point_groups = upload(facet_point_groups);
          few_facet_point_groups = upload(short_facet_point_groups);
          P.volume_begin         = upload(volume_begin);
          P.mass_point_group     = upload(mass_point_groups);
          P.mass_begin           = upload(mass_begin);
          P.facet_begin          = upload(facet_begin);
          P.entry_row            = upload(entry_row);
          P.entry_polytope       = upload(entry_polytope);
          all_entry_point_groups = upload(entry_point_group);
          few_entry_point_groups = upload(short_entry_point_group);
          P.entry_fixed          = upload(entry_fixed);
          P.entry_projected      = upload(entry_projected);
          projected_list         = upload(projected_entries);
          other_list             = upload(other_entries);
          P.trace_offset         = upload(trace_offset);
          P.square_offset        = upload(square_offset);
          P.solver_offset        = upload(solver_offset);
          P.patch_degree         = upload(trace.degree);
          P.patch_functions      = upload(trace.n_patch_functions);
          P.max_functions =
            trace.n_patch_functions.empty()
              ? 0
              : *std::max_element(trace.n_patch_functions.begin(),
                                  trace.n_patch_functions.end());
          P.patch_frame        = upload(trace.frame);
          P.patch_coefficients = upload(trace.coefficients);
          P.patch_offset       = upload(trace.coefficient_offset);

          G.polytope_interface_offset = D.polytope_interface_offset;
          G.polytope_interface        = D.polytope_interface;
          G.interface_polytope        = D.interface_polytope;
          G.entry_row                 = P.entry_row;
          G.trace_offset              = P.trace_offset;
          G.square_offset             = P.square_offset;
          G.block_of_interface        = upload(numbering.block_of_interface);
          G.interface_of_block        = upload(numbering.interface_of_block);
          G.dof_offset                = upload(numbering.dof_offset);
          G.row_block                 = upload(row_block);
          G.irregular                 = upload(irregular);
          G.entry_of_side             = upload(entry_of_side);
          G.block_offset              = upload(sparsity.block_offset);
          G.value_offset              = upload(sparsity.value_offset);
          G.block_column              = upload(sparsity.block_column);
          G.column_offset             = upload(sparsity.column_offset);
          G.row_width                 = upload(sparsity.row_width);
          G.n_rows                    = row_block.size();

          const std::size_t n_traces = trace_offset.back();
          rhs.resize(n_traces);
          integral.resize(n_traces);
          dirichlet.resize(n_traces);
          abs_f.resize(mesh.n_owned_polytopes());
          failure.resize(1);
          status.resize(mesh.n_owned_polytopes());
          P.status = status.data();
          if (simplices)
            upload_simplices();
          // status, and the lists for elimination and of undone polytopes
          used += 12ull * mesh.n_owned_polytopes() + 4;
          used += 8 * (3 * n_traces + mesh.n_owned_polytopes());
          P.rhs       = rhs.data();
          P.integral  = integral.data();
          P.dirichlet = dirichlet.data();
          P.abs_f     = abs_f.data();
          P.failure   = failure.data();
        }

        // Computes faces of simplices, and the transformations from their
        // functions to trace functions.
        void
        upload_simplices()
        {
          const unsigned int n = (dim + 1) * mesh.n_owned_polytopes();
          faces.resize(n);
          used += sizeof(HDGSimplexFace) * n;
          P.facet_point_group = all_facet_point_groups;
          P.faces             = faces.data();
          if (dim > 2 || shared_patches)
            {
              transfer.resize(std::size_t(n) * P.max_functions *
                              n_face_functions);
              used += 8 * transfer.size();
              P.transfer = transfer.data();
            }
          hdg_faces_kernel<dim><<<(n + 127) / 128, 128>>>(P, n, faces.data());
          if (P.transfer != nullptr)
            hdg_transfer_kernel<dim><<<n, 32>>>(P, transfer.data());
          check(cudaGetLastError(), "trace spaces");
        }

        // See HDGData::derivative_begin. P_n' is the sum of (2 k + 1) P_k, k =
        // n - 1, n - 3, ...
        void
        upload_derivatives(const std::vector<unsigned char> &exponents)
        {
          std::vector<unsigned int> begin(1, 0), function;
          std::vector<double>       factor;
          for (unsigned int d = 0; d < dim; ++d)
            for (unsigned int l = 0; l < max_basis; ++l)
              {
                const unsigned char *low = &exponents[std::size_t(dim) * l];
                for (unsigned int m = 0; m < max_basis; ++m)
                  {
                    const unsigned char *high =
                      &exponents[std::size_t(dim) * m];
                    bool occurs = high[d] > low[d] && (high[d] - low[d]) % 2;
                    for (unsigned int e = 0; e < dim; ++e)
                      occurs = occurs && (e == d || high[e] == low[e]);
                    if (!occurs)
                      continue;
                    function.push_back(m);
                    factor.push_back(
                      std::sqrt((2. * high[d] + 1.) * (2. * low[d] + 1.)));
                  }
                begin.push_back(function.size());
              }
          P.derivative_begin    = upload(begin);
          P.derivative_function = upload(function);
          P.derivative_factor   = upload(factor);
        }

        // See HDGData::moment_row. The product of two Legendre functions is a
        // sum of Legendre functions: P_a P_b = sum over r <= min(a, b) of A_r
        // A_(a-r) A_(b-r) / A_(a+b-r) (2 n + 1) / (2 n + 2 r + 1) P_n, n = a +
        // b - 2 r, A_m = 1 3 ... (2 m - 1) / m! (Adams, 1878).
        void
        upload_moments(const std::vector<unsigned char> &exponents)
        {
          const unsigned int width = 2 * max_degree + 1;
          const auto         A     = [](const unsigned int m) {
            double value = 1.;
            for (unsigned int i = 1; i <= m; ++i)
              value *= (2. * i - 1.) / i;
            return value;
          };
          // factor of P_n in the product of normalised functions
          const auto factor = [&](const unsigned int a,
                                  const unsigned int b,
                                  const unsigned int r) {
            const unsigned int n = a + b - 2 * r;
            return A(r) * A(a - r) * A(b - r) / A(a + b - r) * (2. * n + 1.) /
                   (2. * (n + r) + 1.) *
                   std::sqrt((2. * a + 1.) * (2. * b + 1.) / (2. * n + 1.));
          };
          std::vector<unsigned int> rows;
          std::vector<unsigned int> row_of(width * width, invalid_index);
          // Rows of lower degree come first.
          for (unsigned int degree = 0; degree < width; ++degree)
            {
              for (unsigned int c = 0; c <= (dim > 2 ? degree : 0); ++c)
                for (unsigned int b = 0; b <= degree; ++b)
                  if ((tensor_product ? std::max(b, c) : b + c) == degree)
                    {
                      row_of[c * width + b] = rows.size();
                      rows.push_back((width + b) | (dim > 2 ? 2 * width + c : 0)
                                                     << 10);
                    }
              if (degree == max_degree)
                P.n_source_rows = rows.size();
            }
          P.n_moment_rows  = rows.size();
          P.moment_row     = upload(rows);
          const auto index = [&](const unsigned int(&e)[3]) {
            return row_of[e[2] * width + e[1]] * width + e[0];
          };
          std::vector<unsigned int> begin(1, 0), moment, of_function;
          std::vector<double>       factors;
          for (unsigned int i = 0; i < max_basis; ++i)
            {
              unsigned int first[3] = {}, second[3] = {}, r[3], e[3];
              for (unsigned int d = 0; d < dim; ++d)
                first[d] = exponents[std::size_t(dim) * i + d];
              of_function.push_back(index(first));
              for (unsigned int j = 0; j <= i; ++j)
                {
                  for (unsigned int d = 0; d < dim; ++d)
                    second[d] = exponents[std::size_t(dim) * j + d];
                  for (r[0] = 0; r[0] <= std::min(first[0], second[0]); ++r[0])
                    for (r[1] = 0; r[1] <= std::min(first[1], second[1]);
                         ++r[1])
                      for (r[2] = 0; r[2] <= std::min(first[2], second[2]);
                           ++r[2])
                        {
                          double product = 1.;
                          for (unsigned int d = 0; d < 3; ++d)
                            {
                              product *= factor(first[d], second[d], r[d]);
                              e[d] = first[d] + second[d] - 2 * r[d];
                            }
                          moment.push_back(index(e));
                          factors.push_back(product);
                        }
                  begin.push_back(moment.size());
                }
            }
          P.product_begin   = upload(begin);
          P.product_moment  = upload(moment);
          P.product_factor  = upload(factors);
          P.function_moment = upload(of_function);
          P.moments_stride  = (P.n_moment_rows + P.n_source_rows) * width;
        }

        // Fills HDGData::bricks and the one-dimensional rules.
        void
        upload_bricks()
        {
          constexpr unsigned int type =
            static_cast<unsigned int>(SubCellType::parallelepiped);
          // ---- one-dimensional rules, if all rules are products
          std::vector<double> lines[11];
          P.line_stride = 1;
          bool good     = true;
          for (unsigned int p = 0; p <= 10; ++p)
            {
              const unsigned int of_all = rules.subcell[type][p].n_points;
              unsigned int       n = 0, product = 0;
              while (product < of_all)
                {
                  ++n;
                  product = n;
                  for (unsigned int d = 1; d < dim; ++d)
                    product *= n;
                }
              P.n_line_points[p] = static_cast<unsigned char>(n);
              P.line_stride      = std::max(P.line_stride, n);
              good               = good && product == of_all;
              if (!good)
                break;
              const double *const data =
                rules.data.data() + rules.subcell[type][p].offset;
              lines[p].assign(2 * std::size_t(n), 0.);
              for (unsigned int q = 0; q < of_all; ++q)
                {
                  lines[p][q % n] = data[q % n];
                  lines[p][n + q % n] += data[dim * of_all + q];
                }
              for (unsigned int q = 0; q < of_all; ++q)
                {
                  double       weight = 1.;
                  unsigned int rest   = q;
                  for (unsigned int d = 0; d < dim; ++d, rest /= n)
                    {
                      weight *= lines[p][n + rest % n];
                      good = good && data[d * of_all + q] == lines[p][rest % n];
                    }
                  good =
                    good && std::abs(weight - data[dim * of_all + q]) < 1e-15;
                }
            }
          if (!good)
            return;
          std::vector<double> all(2 * 11 * std::size_t(P.line_stride), 0.);
          for (unsigned int p = 0; p <= 10; ++p)
            for (unsigned int i = 0; i < 2; ++i)
              std::copy_n(lines[p].begin() + i * P.n_line_points[p],
                          P.n_line_points[p],
                          all.begin() + (2 * p + i) * P.line_stride);
          // ---- polytopes whose sub-cells are bricks
          const unsigned int         n = mesh.n_owned_polytopes();
          std::vector<unsigned char> of_bricks(n, 1);
          parallel(n,
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
          P.line_rule = upload(all);
          P.bricks    = upload(of_bricks);
        }

        bool
        is_brick(const unsigned int subcell) const
        {
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

        // ---- tiles

        // Bytes of the arrays that all tiles share.
        std::size_t
        fixed_bytes() const
        {
          std::size_t n = boundary.size() + tau.size();
          for (const Array<double> &values : fields)
            n += values.size();
          for (const Array<double> &values : cell_values)
            n += values.size();
          return used + 8 * n;
        }

        std::size_t
        held() const
        {
          return fixed_bytes() +
                 8 * (K.size() + solvers.size() + workspace.size() +
                      volume_table.size() + facet_table.size() + state.size() +
                      partial.size() + transforms.size() + moments.size());
        }

        // Number of bytes that this object may use. If the last assembly needed
        // one tile and this one needs the same size, that size is returned,
        // since asking the driver for free memory takes time.
        std::size_t
        limit(const HDGForm<dim> &form,
              const bool          keep,
              const bool          tile_solvers)
        {
          const unsigned int n = mesh.n_owned_polytopes();
          wanted               = fixed_bytes() + (keep ? kept_bytes() : 0) +
                   tile_bytes(0, n, form, tile_solvers);
          if (device_memory == 0 && wanted == one_tile)
            return wanted;
          const Memory      present = device_memory_of_card();
          const std::size_t reserve =
            std::min(std::size_t(512) << 20, present.total / 16);
          const std::size_t free = present.free + held();
          const std::size_t most = free > reserve ? free - reserve : 0;
          return device_memory > 0 ? std::min(device_memory, most) : most;
        }

        void
        check_mesh(const std::size_t limit) const
        {
          if (fixed_bytes() > limit)
            throw Error("Mesh and trace spaces need " +
                        std::to_string((fixed_bytes() + 999) / 1000) +
                        " kB on the device, of which " +
                        std::to_string(limit / 1000) +
                        " kB may be used: allow more memory, or use the host.");
        }

        static Memory
        device_memory_of_card()
        {
          return Device::device_memory();
        }

        std::uint64_t
        volume_points(const unsigned int begin, const unsigned int end) const
        {
          return subcell_q[mesh.subcell_offset[end]] -
                 subcell_q[mesh.subcell_offset[begin]];
        }

        // True if elimination is in two parts, and recovery begins with their
        // state.
        bool
        in_parts() const
        {
          return !P.simplex && P.state_layout.few;
        }

        // Number of values of a polytope's matrix.
        std::size_t
        square() const
        {
          return std::size_t(P.state_layout.n_basis) * P.state_layout.stride;
        }

        // Bytes of the data for recovery on all polytopes.
        std::size_t
        kept_bytes() const
        {
          return 8 * (in_parts() ? (P.state_layout.inverse + square()) *
                                     mesh.n_owned_polytopes()
                                 : solver_begin(mesh.n_owned_polytopes()));
        }

        // Bytes of the arrays of a tile.
        std::size_t
        tile_bytes(const unsigned int  begin,
                   const unsigned int  end,
                   const HDGForm<dim> &form,
                   const bool          with_solvers) const
        {
          const std::size_t between =
            P.simplex
              ? 0
              : ((state_is_kept ? 0 : P.state_layout.inverse + square()) +
                 (has_moments ? P.moments_stride : 0)) *
                    (end - begin) +
                  square() * (first_entry(end) - first_entry(begin));
          return 8 * (square_offset[end] - square_offset[begin] + between +
                      (with_solvers && !in_parts()
                         ? solver_begin(end) - solver_begin(begin)
                         : 0) +
                      form.n_tables * volume_points(begin, end) +
                      (form.facet_table
                         ? 4ull * (facet_begin[end] - facet_begin[begin])
                         : 0));
        }

        // Number of values that are kept for recovery on the polytopes before
        // k.
        std::uint64_t
        solver_begin(const unsigned int k) const
        {
          return P.simplex
                   ? std::uint64_t(k) *
                       hdg_simplex_solver_size(max_basis,
                                               (dim + 1) * n_face_functions + 1)
                   : solver_offset[k];
        }

        unsigned int
        first_entry(const unsigned int k) const
        {
          return mesh.polytope_interface_offset[k];
        }

        // A kernel of the local problems, with its workspace and launch
        // parameters.
        struct Stage
        {
          HDGStage what                = HDGStage::simplex;
          void (*kernel)(HDGData<dim>) = nullptr;
          HDGLayout    layout;
          std::size_t  shared_bytes = 0;
          unsigned int n_threads = 32, n_blocks = 1;
          // Range in elimination_list.
          std::size_t first_listed = 0, last_listed = 0;

          bool
          is_listed() const
          {
            return last_listed > first_listed;
          }
        };

        // Sets workspace and threads of the local problems. @p constant_tau:
        // tau is that of the form.
        void
        set_layout(const HDGForm<dim> &form, const bool constant_tau)
        {
          const bool diagonal = !form.tensor && form.table_a < 0;
          const auto kind     = [](const HDGForm<dim> &f) {
            return std::make_tuple(f.tensor,
                                   f.advection,
                                   f.reaction,
                                   f.table_a,
                                   f.table_b,
                                   f.table_c,
                                   f.facet_table);
          };
          if (kind(form) != kind(P.form))
            n_operations[0] = n_operations[1] = -1.;
          P.form = form;
          P.simplex =
            simplices && diagonal && !form.advection && form.table_c < 0;
          const auto attribute = [](const cudaDeviceAttr what) {
            int device = 0, value = 0;
            check(cudaGetDevice(&device), "the start of a kernel");
            check(cudaDeviceGetAttribute(&value, what, device),
                  "the start of a kernel");
            return value;
          };
          const std::size_t most = attribute(
                              cudaDevAttrMaxSharedMemoryPerBlockOptin),
                            available = most - 1024;
          const unsigned int processors =
            attribute(cudaDevAttrMultiProcessorCount);
          const bool exact =
            form.table_a < 0 && form.table_b < 0 && form.table_c < 0;
          // On planar facets tau and, if b is constant, b.n are constants.
          const bool few_points = !P.simplex && !form.facet_table;
          P.facet_point_group =
            few_points ? few_facet_point_groups : all_facet_point_groups;
          P.entry_point_group =
            few_points ? few_entry_point_groups : all_entry_point_groups;
          std::size_t in_global = 0;
          stages.clear();
          const auto add = [&](const HDGStage what,
                               void (*in_shared)(HDGData<dim>),
                               void (*in_global_memory)(HDGData<dim>),
                               const unsigned int n_rows,
                               const unsigned int point_groups,
                               const unsigned int n_problems,
                               unsigned int       n_threads,
                               const unsigned int max_threads,
                               const unsigned int max_warps,
                               const std::size_t  tiles) {
            Stage stage;
            stage.what     = what;
            const auto set = [&](const unsigned int slice) {
              stage.layout.set(what,
                               dim,
                               max_basis,
                               n_rows,
                               max_degree,
                               form.tensor,
                               diagonal,
                               form.advection,
                               what == HDGStage::volume && !exact,
                               slice);
              if (what == HDGStage::basis)
                stage.layout.add_moments(
                  P.moments_stride,
                  n_bricks == 0
                    ? 0
                    : HDGBrickMoments<dim>::n_scratch_of_products(max_degree) +
                        HDGBrickMoments<dim>::n_most *
                          HDGBrickMoments<dim>::n_scratch_of_source(
                            max_degree, P.n_line_points[max_degree]));
              return 8 * stage.layout.size;
            };
            // A slice has as many points as there are, at most 64 (twice as
            // many if only values are needed). It is shorter if more blocks
            // then fit on a multiprocessor, as far as registers allow.
            const auto n_warps = [&](const unsigned int slice) {
              const std::size_t bytes = set(slice);
              return bytes > available
                       ? 0
                       : std::min<std::size_t>(max_warps,
                                               most / (bytes + 1024) *
                                                 n_threads / 32);
            };
            const unsigned int wanted =
              std::min(64u, std::max(4u, (2 * point_groups + 3) / 4 * 4));
            unsigned int slice = wanted;
            for (unsigned int next = slice; next > 16;)
              {
                next = std::max(16u, next / 8 * 4);
                if (n_warps(next) > n_warps(slice))
                  slice = next;
              }
            const std::size_t bytes = set(slice);
            stage.shared_bytes      = bytes <= available ? bytes : 0;
            while (n_threads < max_threads && n_threads / 32 < tiles &&
                   n_warps(slice) < max_warps)
              n_threads *= 2;
            stage.kernel =
              stage.shared_bytes > 0 ? in_shared : in_global_memory;
            stage.n_threads = n_threads;
            stage.n_blocks  = n_problems;
            if (stage.shared_bytes == 0)
              {
                // Workspaces are in global memory, for all thread blocks that
                // run at a time.
                set(wanted);
                stage.n_blocks = std::min(n_problems, 4 * processors);
                in_global =
                  std::max(in_global, stage.n_blocks * stage.layout.size);
              }
            else
              check(cudaFuncSetAttribute(
                      reinterpret_cast<const void *>(stage.kernel),
                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                      static_cast<int>(stage.shared_bytes)),
                    "the start of a kernel");
            stages.push_back(stage);
          };
          const std::size_t  tiles_of_basis = (max_basis + 15) / 16;
          const unsigned int few            = HDGLayout::n_threads(max_basis),
                             n              = mesh.n_owned_polytopes();
          if (P.simplex)
            in_global = add_simplex_stage(available, processors);
          else
            {
              has_moments    = P.moment_row != nullptr;
              P.part_is_done = has_moments && exact;
              // The next kernel computes the moments of bricks.
              if (has_moments && !(P.part_is_done && n_bricks == n))
                add(HDGStage::moments,
                    &hdg_moments_kernel<dim>,
                    nullptr,
                    1,
                    1,
                    n,
                    64,
                    64,
                    16,
                    1);
              if (P.part_is_done)
                add(HDGStage::basis,
                    &hdg_basis_kernel<dim>,
                    nullptr,
                    1,
                    1,
                    n,
                    128,
                    128,
                    16,
                    1);
              add(HDGStage::volume,
                  &hdg_volume_kernel<dim, true>,
                  &hdg_volume_kernel<dim, false>,
                  1,
                  max_point_groups,
                  // The kernel may have hardly any polytopes left.
                  P.part_is_done ? std::min(n, 4 * processors) : n,
                  few,
                  few,
                  16,
                  few / 32);
              const auto layout = [&](const HDGStage     stage,
                                      const unsigned int rows) {
                HDGLayout result;
                result.set(stage,
                           dim,
                           max_basis,
                           rows,
                           max_degree,
                           form.tensor,
                           diagonal,
                           form.advection,
                           false,
                           4);
                return result;
              };
              const unsigned int all_rows = max_traces + 1;
              P.state_layout = layout(HDGStage::elimination, all_rows);
              P.projected    = P.state_layout.few && !tensor_product &&
                            constant_tau && form.tau > 0.;
              if (P.projected)
                add(HDGStage::constant_facets,
                    max_basis <= 16 ? &hdg_constant_facet_kernel<dim, 2>
                                    : &hdg_constant_facet_kernel<dim, 3>,
                    nullptr,
                    1,
                    1,
                    projected_entries.size(),
                    32,
                    32,
                    16,
                    1);
              add(HDGStage::facets,
                  max_basis <= 16   ? &hdg_few_functions_facet_kernel<dim, 2>
                  : max_basis <= 24 ? &hdg_few_functions_facet_kernel<dim, 3>
                                    : &hdg_facet_kernel<dim, true>,
                  &hdg_facet_kernel<dim, false>,
                  1,
                  1,
                  P.projected ? other_entries.size() : first_entry(n),
                  32,
                  32,
                  16,
                  1);
              if (P.projected)
                add(HDGStage::boundary,
                    &hdg_boundary_kernel<dim>,
                    nullptr,
                    1,
                    1,
                    n,
                    32,
                    32,
                    16,
                    1);
              // Elimination: classes of polytopes by the number of thread
              // blocks for which a multiprocessor has enough memory at a time.
              const bool     in_parts = P.state_layout.few;
              const HDGStage stage =
                in_parts ? HDGStage::few_elimination : HDGStage::elimination;
              std::vector<unsigned int> limits, together;
              for (const unsigned int n_together : {8, 4, 3, 2, 1})
                {
                  const unsigned int before =
                    limits.empty() ? 0 : limits.back();
                  unsigned int rows = all_rows;
                  while (rows > before && 8 * layout(stage, rows).size >
                                            most / n_together - 1024)
                    --rows;
                  if (rows == before)
                    continue;
                  limits.push_back(rows);
                  together.push_back(n_together);
                }
              if (limits.empty() || limits.back() < all_rows)
                {
                  limits.push_back(all_rows);
                  together.push_back(1);
                }
              list_polytopes(limits);
              if (in_parts)
                add(HDGStage::schur,
                    &hdg_schur_kernel<dim>,
                    nullptr,
                    1,
                    1,
                    n,
                    64,
                    64,
                    16,
                    1);
              for (std::size_t i = 0; i < limits.size(); ++i)
                if (elimination_begin[i] < elimination_begin[i + 1])
                  {
                    const unsigned int threads =
                      std::min<std::size_t>(
                        16 / together[i],
                        tiles_of_basis * ((max_basis + limits[i] + 14) / 16)) *
                      32;
                    const bool two_tiles = HDGLayout::few_tiles(max_basis) == 2;
                    add(
                      stage,
                      !in_parts ? &hdg_elimination_kernel<dim, true>
                      : two_tiles
                        ? &hdg_few_functions_elimination_kernel<dim, 2, true>
                        : &hdg_few_functions_elimination_kernel<dim, 3, true>,
                      !in_parts ? &hdg_elimination_kernel<dim, false>
                      : two_tiles
                        ? &hdg_few_functions_elimination_kernel<dim, 2, false>
                        : &hdg_few_functions_elimination_kernel<dim, 3, false>,
                      limits[i],
                      1,
                      elimination_begin[i + 1] - elimination_begin[i],
                      threads,
                      threads,
                      16,
                      1);
                    stages.back().first_listed = elimination_begin[i];
                    stages.back().last_listed  = elimination_begin[i + 1];
                  }
            }
          workspace.resize(in_global);
        }

        // Returns the number of values of its workspace in global memory.
        std::size_t
        add_simplex_stage(const std::size_t  available,
                          const unsigned int processors)
        {
          Stage stage;
          stage.what              = HDGStage::simplex;
          const unsigned int rows = (dim + 1) * n_face_functions + 1;
          stage.n_threads         = max_basis <= 28   ? 32
                                    : max_basis <= 36 ? 64
                                    : max_basis <= 56 ? 128
                                                      : 256;
          stage.layout.set_simplex(max_basis,
                                   rows,
                                   stage.n_threads / 32,
                                   P.transfer != nullptr);
          const std::size_t bytes = 8 * stage.layout.size;
          const bool        fits  = bytes <= available;
          stage.kernel            = fits ? &hdg_simplex_kernel<dim, true>
                                         : &hdg_simplex_kernel<dim, false>;
          stage.shared_bytes      = fits ? bytes : 0;
          stage.n_blocks =
            fits ? mesh.n_owned_polytopes()
                 : std::min(mesh.n_owned_polytopes(), 4 * processors);
          stages.push_back(stage);
          if (!fits)
            return stage.n_blocks * stage.layout.size;
          check(
            cudaFuncSetAttribute(reinterpret_cast<const void *>(stage.kernel),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "the start of a kernel");
          return 0;
        }

        // Sorts polytopes into classes by their number of trace functions:
        // below limits[0], below limits[1], ...
        void
        list_polytopes(const std::vector<unsigned int> &limits)
        {
          if (limits == elimination_limits)
            return;
          elimination_limits = limits;
          elimination_list.clear();
          elimination_begin.assign(1, 0);
          for (std::size_t i = 0; i < limits.size(); ++i)
            {
              for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
                {
                  const std::uint64_t n_traces =
                    trace_offset[k + 1] - trace_offset[k];
                  if (n_traces < limits[i] &&
                      (i == 0 || n_traces >= limits[i - 1]))
                    elimination_list.push_back(k);
                }
              elimination_begin.push_back(elimination_list.size());
            }
          list.resize(elimination_list.size());
          check(cudaMemcpy(list.data(),
                           elimination_list.data(),
                           4 * elimination_list.size(),
                           cudaMemcpyHostToDevice),
                "a copy to the device");
        }

        void
        resize_state(const std::size_t n_polytopes)
        {
          state.resize(P.state_layout.inverse * n_polytopes);
          transforms.resize(square() * n_polytopes);
        }

        // Starts the kernels for polytopes [begin, end).
        void
        start_stages(const unsigned int begin, const unsigned int end)
        {
          P.first       = begin;
          P.last        = end;
          P.first_entry = first_entry(begin);
          P.last_entry  = first_entry(end);
          if (!P.simplex)
            {
              const std::size_t first = state_is_kept ? begin : 0;
              if (!state_is_kept)
                resize_state(end - begin);
              partial.resize(square() * (P.last_entry - P.first_entry));
              if (has_moments)
                moments.resize(std::size_t(P.moments_stride) * (end - begin));
              P.moments    = has_moments ? moments.data() : nullptr;
              P.state      = state.data() + P.state_layout.inverse * first;
              P.transforms = transforms.data() + square() * first;
              P.partial    = partial.data();
            }
          const bool beside = !P.simplex && P.part_is_done;
          if (beside)
            {
              undone.resize(end - begin + std::size_t(1));
              P.undone = undone.data();
              check(cudaMemsetAsync(P.undone, 0, 4, nullptr),
                    "the local problems");
            }
          P.of_undone      = false;
          const auto start = [&](const Stage       &stage,
                                 const cudaStream_t stream) {
            HDGData<dim> data       = P;
            unsigned int n_problems = end - begin;
            data.list               = nullptr;
            // Selects the values in [first, last) from part of a sorted list.
            const auto set_list = [&](const auto         &values,
                                      const unsigned int *on_device,
                                      const std::size_t   begin_of_values,
                                      const std::size_t   end_of_values,
                                      const unsigned int  first,
                                      const unsigned int  last) {
              const auto from =
                           std::lower_bound(values.begin() + begin_of_values,
                                            values.begin() + end_of_values,
                                            first),
                         to = std::lower_bound(from,
                                               values.begin() + end_of_values,
                                               last);
              data.list     = on_device + (from - values.begin());
              n_problems = data.n_listed = to - from;
            };
            if (P.of_undone)
              n_problems = stage.n_blocks;
            else if (stage.what == HDGStage::constant_facets)
              set_list(projected_entries,
                       projected_list,
                       0,
                       projected_entries.size(),
                       P.first_entry,
                       P.last_entry);
            else if (stage.what == HDGStage::facets && P.projected)
              set_list(other_entries,
                       other_list,
                       0,
                       other_entries.size(),
                       P.first_entry,
                       P.last_entry);
            else if (stage.what == HDGStage::facets)
              n_problems = data.n_listed = P.last_entry - P.first_entry;
            else if (stage.is_listed())
              set_list(elimination_list,
                       list.data(),
                       stage.first_listed,
                       stage.last_listed,
                       begin,
                       end);
            data.layout = stage.layout;
            data.workspace =
              stage.shared_bytes == 0 ? workspace.data() : nullptr;
            if (n_problems > 0)
              stage.kernel<<<std::min(stage.n_blocks, n_problems),
                             stage.n_threads,
                             stage.shared_bytes,
                             stream>>>(data);
            check(cudaGetLastError(), "the local problems");
          };
          // fork() lets side streams wait for all previous kernels, and join()
          // lets all subsequent kernels wait for side streams.
          const auto fork = [&](const unsigned int first,
                                const unsigned int last) {
            forked.record(nullptr);
            for (unsigned int i = first; i < last; ++i)
              check(cudaStreamWaitEvent(side[i], forked, 0),
                    "the local problems");
          };
          const auto join = [&](const unsigned int first,
                                const unsigned int last) {
            for (unsigned int i = first; i < last; ++i)
              {
                joined[i].record(side[i]);
                check(cudaStreamWaitEvent(nullptr, joined[i], 0),
                      "the local problems");
              }
          };
          std::vector<const Stage *> eliminations;
          for (const Stage &stage : stages)
            if (stage.is_listed())
              eliminations.push_back(&stage);
            else if (beside && stage.what == HDGStage::volume)
              {
                // Only a small number of polytopes need this kernel. It runs
                // beside the facet kernels of all others.
                fork(0, 1);
                start(stage, side[0]);
              }
            else if (beside && stage.what == HDGStage::facets)
              {
                P.of_undone  = true;
                Stage few    = stage;
                few.n_blocks = 32 * hdg_blocks_of_undone;
                start(few, side[0]);
                P.of_undone = false;
                start(stage, nullptr);
                join(0, 1);
              }
            else
              start(stage, nullptr);
          // ---- the largest polytopes start first, and no class waits for
          // another
          const unsigned int n_beside = std::min<std::size_t>(
            n_side, eliminations.empty() ? 0 : eliminations.size() - 1);
          fork(0, n_beside);
          for (std::size_t i = 0; i < eliminations.size(); ++i)
            {
              const Stage &stage = *eliminations[eliminations.size() - 1 - i];
              if (i == 0)
                start(stage, nullptr);
              else
                start(stage, side[(i - 1) % n_side]);
            }
          join(0, n_beside);
        }

        // Assembles all tiles. function(begin, end) uses the K of one tile.
        template <typename Function>
        HDGTimes
        assemble(const HDGProblem<dim> &problem,
                 const bool             keep,
                 const Function        &function)
        {
          HDGTimes times;
          kept      = false;
          with_kept = keep;
          prepare(problem, times);
          state_is_kept = keep && in_parts();
          if (!keep || in_parts())
            solvers.release();
          const std::size_t most = limit(problem.form, keep, false);
          const std::size_t all  = keep ? kept_bytes() : 0;
          check_mesh(most);
          const std::size_t before = fixed_bytes();
          if (before + all > most)
            throw Error("The local solvers of all polytopes need " +
                        std::to_string((before + all + 999999) / 1000000) +
                        " MB on the device, of which " +
                        std::to_string(most / 1000000) +
                        " MB may be used: let them be computed again "
                        "(LocalSolvers::recompute), or allow more memory.");
          if (state_is_kept)
            resize_state(mesh.n_owned_polytopes());
          else if (keep)
            solvers.resize(solver_begin(mesh.n_owned_polytopes()));
          P.solvers      = keep && !in_parts() ? solvers.data() : nullptr;
          P.first_solver = 0;
          for_tiles(problem, false, most - before - all, times, function);
          kept               = keep;
          times.trace_bytes  = 8. * K.size();
          times.solver_bytes = keep ? kept_bytes() : 0.;
          return times;
        }

        // Runs function(begin, end) after the local problems of each tile.
        template <typename Function>
        void
        for_tiles(const HDGProblem<dim> &problem,
                  const bool             tile_solvers,
                  const std::size_t      bytes,
                  HDGTimes              &times,
                  const Function        &function)
        {
          const unsigned int       n    = mesh.n_owned_polytopes();
          const unsigned long long none = ~0ull;
          one_tile                      = 0;
          check(cudaMemcpy(failure.data(), &none, 8, cudaMemcpyHostToDevice),
                "a copy to the device");

          for (unsigned int begin = 0; begin < n;)
            {
              unsigned int fits = begin + 1, too_many = n + 1;
              while (too_many - fits > 1)
                {
                  const unsigned int middle = fits + (too_many - fits) / 2;
                  if (tile_bytes(begin, middle, problem.form, tile_solvers) <=
                      bytes)
                    fits = middle;
                  else
                    too_many = middle;
                }
              const unsigned int end = fits;
              P.first                = begin;
              P.last                 = end;
              tabulate(problem, begin, end, times);
              const std::size_t size =
                square_offset[end] - square_offset[begin];
              K.resize(size);
              P.K            = K.data();
              P.first_square = square_offset[begin];
              if (tile_solvers && !in_parts())
                {
                  solvers.resize(solver_begin(end) - solver_begin(begin));
                  P.solvers      = solvers.data();
                  P.first_solver = solver_begin(begin);
                }
              start.record(nullptr);
              start_stages(begin, end);
              stop.record(nullptr);
              function(begin, end);
              done.record(nullptr);
              done.wait();
              times.generation += stop.since(start);
              times.gather += done.since(stop);
              ++times.n_tiles;
              begin = end;
            }
          one_tile = times.n_tiles == 1 ? wanted : 0;
        }

        void
        copy(double *to, const double *from, const std::size_t n)
        {
          check(cudaMemcpy(to, from, 8 * n, cudaMemcpyHostToDevice),
                "a copy to the device");
        }
        void
        copy(double *to, const std::vector<double> &from)
        {
          copy(to, from.data(), from.size());
        }

        // Prepares data that all tiles share, and the evaluation of
        // coefficients.
        void
        prepare(const HDGProblem<dim> &problem, HDGTimes &times)
        {
          set_layout(problem.form, problem.tau.empty());
          const auto now = std::chrono::steady_clock::now();
          boundary.resize(8ull * n_boundary_point_groups);
          if (!problem.boundary.empty())
            copy(boundary.data(), problem.boundary);
          P.boundary_table    = boundary.data();
          P.n_boundary_points = 4ull * n_boundary_point_groups;
          if (!problem.tau.empty())
            {
              tau.resize(problem.tau.size());
              copy(tau.data(), problem.tau);
            }
          P.tau   = problem.tau.empty() ? nullptr : tau.data();
          P.robin = problem.robin;
          if (problem.coefficients != nullptr)
            prepare_evaluation(*problem.coefficients);
          times.coefficients += since(now);
        }

        static double
        since(const std::chrono::steady_clock::time_point &start)
        {
          return std::chrono::duration<double>(
                   std::chrono::steady_clock::now() - start)
            .count();
        }

        void
        tabulate(const HDGProblem<dim> &problem,
                 const unsigned int     begin,
                 const unsigned int     end,
                 HDGTimes              &times)
        {
          const HDGForm<dim> &form   = problem.form;
          P.volume_table             = nullptr;
          P.facet_table              = nullptr;
          P.first_volume_point       = subcell_q[mesh.subcell_offset[begin]];
          P.first_facet_point_group  = facet_begin[begin];
          P.n_volume_points          = volume_points(begin, end);
          const auto        now      = std::chrono::steady_clock::now();
          const std::size_t n_volume = form.n_tables * P.n_volume_points,
                            n_facets =
                              form.facet_table
                                ? 4ull * (facet_begin[end] - facet_begin[begin])
                                : 0;
          volume_table.resize(n_volume);
          facet_table.resize(n_facets);
          // If the device cannot evaluate, the host does, and describes the
          // error.
          const bool on_device =
            problem.coefficients != nullptr &&
            evaluate(*problem.coefficients, form, begin, end);
          if (!on_device && n_volume + n_facets > 0)
            {
              tables.resize(n_volume + n_facets);
              problem.tabulate(begin,
                               end,
                               P.n_volume_points,
                               n_volume > 0 ? tables.data() : nullptr,
                               tables.data() + n_volume);
              if (n_volume > 0)
                check(cudaMemcpy(volume_table.data(),
                                 tables.data(),
                                 8 * n_volume,
                                 cudaMemcpyHostToDevice),
                      "a copy to the device");
              if (n_facets > 0)
                check(cudaMemcpy(facet_table.data(),
                                 tables.data() + n_volume,
                                 8 * n_facets,
                                 cudaMemcpyHostToDevice),
                      "a copy to the device");
            }
          P.volume_table = volume_table.data();
          P.facet_table  = n_facets > 0 ? facet_table.data() : nullptr;
          if (form.table_c >= 0 || problem.robin)
            {
              fixed.resize(mesh.n_owned_polytopes());
              hdg_fixed_kernel<dim><<<(end - begin + 3) / 4, 128>>>(
                P,
                all_facet_point_groups,
                form.table_c < 0
                  ? nullptr
                  : volume_table.data() + form.table_c * P.n_volume_points,
                fixed.data());
              check(cudaGetLastError(), "the coefficients");
            }
          times.coefficients += since(now);
        }

        // Uploads arrays that coefficients may use: those of the mesh once,
        // fields and values of cells in each call.
        void
        prepare_evaluation(const DeviceCoefficients<dim> &coefficients)
        {
          MeshData<dim>   &M = task.mesh;
          const Data<dim> &D = P.D;
          if (M.subcell_material == nullptr)
            {
              M.subcell_material          = upload(mesh.subcell_material);
              M.facet_subcell             = upload(mesh.facet_subcell);
              M.boundary_id               = upload(mesh.interface_boundary_id);
              M.dof_offset                = D.dof_offset;
              M.box                       = D.box;
              M.degree                    = D.degree;
              M.n_basis                   = D.n_basis;
              M.exponents                 = D.exponents;
              M.subcell_offset            = D.subcell_offset;
              M.subcell_q                 = D.subcell_q;
              M.subcell_type              = D.subcell_type;
              M.subcell_vertex_offset     = D.subcell_vertex_offset;
              M.subcell_vertices          = D.subcell_vertices;
              M.subcell_point_offset      = D.subcell_point_offset;
              M.subcell_points            = D.subcell_points;
              M.polytope_interface_offset = D.polytope_interface_offset;
              M.polytope_interface        = D.polytope_interface;
              M.interface_polytope        = D.interface_polytope;
              M.shift                     = D.shift;
              M.facet_type                = D.facet_type;
              M.facet_vertex_offset       = D.facet_vertex_offset;
              M.facet_vertices            = D.facet_vertices;
              M.facet_normal              = D.facet_normal;
              M.facet_point_offset        = D.facet_point_offset;
              M.facet_points              = D.facet_points;
              M.facet_point_normals       = D.facet_point_normals;
              M.rules                     = D.rules;
              std::copy(&D.subcell_rule[0][0],
                        &D.subcell_rule[0][0] + 5 * 11,
                        &M.subcell_rule[0][0]);
              std::copy(&D.facet_rule[0][0],
                        &D.facet_rule[0][0] + 4 * 11,
                        &M.facet_rule[0][0]);
              M.first_subcell           = 0;
              task.point_groups         = all_facet_point_groups;
              task.entry_point_group    = all_entry_point_groups;
              boundary_point_group_list = upload(boundary_point_groups);
              record.resize(1);
              task.record = record.data();
            }
          const auto &list = coefficients.fields();
          for (std::size_t i = 0; i < list.size(); ++i)
            {
              task.field[i] = list[i].device_values();
              if (task.field[i] == nullptr)
                {
                  fields[i].resize(list[i].size());
                  copy(fields[i].data(), list[i].host_values(), list[i].size());
                  task.field[i] = fields[i].data();
                }
            }
          const auto &values = coefficients.cell_values();
          for (std::size_t i = 0; i < values.size(); ++i)
            {
              cell_values[i].resize(values[i]->size());
              copy(cell_values[i].data(), values[i]->data(), values[i]->size());
              task.cell_value[i] = cell_values[i].data();
            }
        }

        // Evaluates all tables on the device. Returns false if a is not
        // positive (definite) somewhere; the host then describes the error.
        bool
        evaluate(const DeviceCoefficients<dim> &coefficients,
                 const HDGForm<dim>            &form,
                 const unsigned int             begin,
                 const unsigned int             end)
        {
          task.volume_layout.a      = form.table_a;
          task.volume_layout.b      = form.table_b;
          task.volume_layout.c      = form.table_c;
          task.volume_layout.f      = form.table_f;
          task.volume_layout.tensor = form.tensor;
          task.volume_layout.n      = form.n_tables;
          task.volume_table         = volume_table.data();
          task.n_volume_points      = P.n_volume_points;
          task.first_volume_point   = P.first_volume_point;
          task.first_polytope       = begin;
          task.n_polytopes          = end - begin;
          // All point groups if b.n is tabulated, else those on the boundary.
          const auto first = std::lower_bound(boundary_point_groups.begin(),
                                              boundary_point_groups.end(),
                                              facet_begin[begin]),
                     last  = std::lower_bound(first,
                                             boundary_point_groups.end(),
                                             facet_begin[end]);
          task.first_point_group = facet_begin[begin];
          task.point_group_list  = nullptr;
          task.n_point_groups    = facet_begin[end] - facet_begin[begin];
          task.normal_advection =
            form.facet_table ? facet_table.data() : nullptr;
          if (!form.facet_table)
            {
              task.point_group_list = boundary_point_group_list +
                                      (first - boundary_point_groups.begin());
              task.n_point_groups = last - first;
            }
          task.boundary_data     = boundary.data();
          task.n_boundary_points = P.n_boundary_points;
          ErrorRecord result     = {};
          const auto  start      = [&](const CoefficientKernel kernel,
                                 const std::uint64_t     n_points) {
            if (n_points == 0)
              return;
            const std::string error =
              coefficients.launch(kernel,
                                  task,
                                  (unsigned int)((n_points +
                                                  tabulation_threads - 1) /
                                                 tabulation_threads),
                                  1,
                                  nullptr);
            if (!error.empty())
              throw Error(error);
          };
          const auto launch = [&](const unsigned long long wanted) {
            result.key = ~0ull;
            check(cudaMemcpy(record.data(),
                             &result,
                             sizeof(result),
                             cudaMemcpyHostToDevice),
                  "a copy to the device");
            task.wanted = wanted;
            start(CoefficientKernel::volume,
                  form.n_tables > 0 ? P.n_volume_points : 0);
            start(CoefficientKernel::traces, 4ull * task.n_point_groups);
            if (wanted == ~0ull && form.table_a >= 0)
              hdg_invert_kernel<dim>
                <<<(unsigned int)((P.n_volume_points + 127) / 128), 128>>>(
                  volume_table.data() + form.table_a * P.n_volume_points,
                  P.n_volume_points,
                  form.tensor,
                  record.data());
            check(cudaMemcpy(&result,
                             record.data(),
                             sizeof(result),
                             cudaMemcpyDeviceToHost),
                  "the coefficients");
          };
          launch(~0ull);
          if (result.key == ~0ull)
            return true;
          if (result.key == not_positive)
            return false;
          launch(result.key);
          coefficients.throw_error(result.error);
          return false; // not reached
        }

        // Number of multiplications and additions in products and
        // factorisations of one pass.
        double
        operations(const bool recovery) const
        {
          const bool exact =
            P.form.table_a < 0 && P.form.table_b < 0 && P.form.table_c < 0;
          const std::vector<unsigned int> &point_groups =
            P.facet_point_group == all_facet_point_groups
              ? entry_point_group
              : short_entry_point_group;
          double sum = 0.;
          for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
            {
              const double n = mesh.n_basis[k],
                           m = 1. * (trace_offset[k + 1] - trace_offset[k]),
                           q = 4. * (volume_begin[k + 1] - volume_begin[k]),
                           s = 4. * (mass_begin[k + 1] - mass_begin[k]),
                           f = 4. * (point_groups[first_entry(k + 1)] -
                                     point_groups[first_entry(k)]);
              const double c = P.form.tensor ? dim * n : n; // rows of A
              if (P.simplex)
                {
                  // linear combinations of tables, f; elimination;
                  // transformation from functions of faces to trace functions
                  const double M = n_face_functions, rows = (dim + 1) * M;
                  sum += n * (n + 1) * (dim + 2) * (dim + 1) / 2. +
                         2. * (dim + 1) * rows * n + 2. * n * q +
                         n * n * n / 3. + n * n * (rows + 1) +
                         n * rows * (rows + 3);
                  if (P.transfer != nullptr)
                    sum += 2. * m * rows * M + m * m * M;
                  continue;
                }
              // orthonormal basis (once), integrals, H^T A^-1 H
              sum += n * n * s + 2. / 3. * n * n * n + 2. * n * n * f +
                     dim * n * n * n;
              if (exact)
                sum += dim * n * n * n + 2. * n * q + n * n;
              else
                sum += 2. * n * n * (dim + 1) * q + 2. * dim * n * n * q +
                       (P.form.reaction || P.form.advection ? n * n * q : 0.);
              // facets; the traces of a facet are evaluated at its own points
              // only
              const double entries =
                std::max(1.,
                         1. * (mesh.polytope_interface_offset[k + 1] -
                               mesh.polytope_interface_offset[k]));
              sum += n * n * f + 2. * (dim + 1) * n * m * f / entries;
              // elimination
              if (!(!P.form.tensor && P.form.table_a < 0))
                sum += (exact ? 0. : n * n * q) + c * c * c / 3. +
                       dim * n * (n + m) * c;
              sum += 2. * dim * n * n * m + n * n * n / 3. + n * n * m +
                     (dim + 1) * n * m * m;
              if (recovery && !in_parts())
                sum +=
                  n * n * m + 2. * dim * n * n * m +
                  (!P.form.tensor && P.form.table_a < 0 ? 0. : dim * n * m * c);
            }
          return sum;
        }

        const PolytopicMesh<dim>        &mesh;
        const TraceSpace<dim>           &trace;
        const BlockSparsity             &sparsity;
        const HDGNumbering               numbering;
        const RuleTables                &rules;
        const std::vector<unsigned char> exponents;
        const bool                       tensor_product;
        std::size_t                      device_memory;
        const Parallel                   parallel;

        // ---- data on the host
        std::vector<HDGVolumePointGroup> volume_point_groups, mass_point_groups;
        // The short list is for integrands that are polynomials.
        std::vector<HDGFacetPointGroup> facet_point_groups,
          short_facet_point_groups;
        // Indices of the point groups on the boundary.
        std::vector<unsigned int> boundary_point_groups;
        std::vector<unsigned int> volume_begin, mass_begin, facet_begin,
          entry_row, entry_polytope, entry_point_group, short_entry_point_group,
          entry_of_side, row_block;
        std::vector<unsigned char> entry_fixed, irregular, planar;
        // Entries that HDGConstantFacets handles, and all others.
        std::vector<unsigned char> entry_projected;
        std::vector<unsigned int>  projected_entries, other_entries;
        std::vector<std::uint64_t> trace_offset, square_offset, solver_offset,
          subcell_q;
        unsigned int n_boundary_point_groups = 0, max_traces = 0, max_basis = 0,
                     max_degree = 0, max_point_groups = 0,
                     max_facet_point_groups = 0;
        // True if each polytope is one simplex, and all have the same degree.
        // Threads only ever set it to false.
        std::atomic<bool> simplices{false};
        // True if a patch has functions on several facets.
        bool                shared_patches   = false;
        unsigned int        n_face_functions = 0;
        HDGSizes            sizes            = {};
        std::vector<double> tables;

        // ---- data on the device
        std::vector<std::unique_ptr<Array<char>>> memory;
        std::size_t                               used   = 0;
        const HDGFacetPointGroup *all_facet_point_groups = nullptr,
                                 *few_facet_point_groups = nullptr;
        const unsigned int *projected_list = nullptr, *other_list = nullptr;
        const unsigned int *all_entry_point_groups = nullptr,
                           *few_entry_point_groups = nullptr;
        HDGData<dim>          P                    = {};
        TabulationTask<dim>   task                 = {};
        Array<ErrorRecord>    record;
        const unsigned int   *boundary_point_group_list = nullptr;
        Array<double>         fields[max_fields], cell_values[max_cell_values];
        Array<char>           fixed;
        Gather<dim>           G = {};
        Array<HDGSimplexFace> faces;
        Array<double> transfer, K, rhs, integral, dirichlet, abs_f, solvers,
          workspace, volume_table, facet_table, boundary, tau, state, partial,
          transforms, moments;
        // True if integrals over the volume come from moments.
        bool has_moments = false;
        // Number of polytopes of bricks.
        unsigned int n_bricks = 0;
        // Classes of polytopes for elimination.
        std::vector<unsigned int> elimination_limits, elimination_list;
        std::vector<std::size_t>  elimination_begin;
        Array<unsigned long long> failure;
        Array<unsigned int>       status, list, undone;
        Event                     start, stop, done;
        // Streams for kernels that run beside others.
        static constexpr unsigned int n_side = 4;
        UrgentStream                  side[n_side];
        Event                         forked, joined[n_side];
        std::vector<Stage>            stages;
        // Bytes of all arrays if there is one tile: in this assembly, and in
        // the last one (0 if it had several tiles).
        std::size_t wanted = 0, one_tile = 0;
        // kept: local solvers are available. with_kept: they were requested.
        bool kept = false, with_kept = false;
        // True if `state` and `transforms` hold all polytopes, whatever the
        // tile.
        bool state_is_kept = false;
        // Number of operations for the form P.form, without and with recovery;
        // negative: not counted.
        mutable double n_operations[2] = {-1., -1.};
      };



      template <int dim>
      HDGAssembler<dim>::HDGAssembler(
        const PolytopicMesh<dim>         &mesh,
        const TraceSpace<dim>            &trace,
        const BlockSparsity              &sparsity,
        const HDGNumbering               &numbering,
        const RuleTables                 &rules,
        const std::vector<unsigned int>  &mass_degree,
        const std::vector<unsigned char> &exponents,
        const bool                        tensor_product,
        const std::size_t                 device_memory,
        const Parallel                   &parallel)
        : implementation(std::make_unique<Implementation>(mesh,
                                                          trace,
                                                          sparsity,
                                                          numbering,
                                                          rules,
                                                          exponents,
                                                          tensor_product,
                                                          device_memory,
                                                          parallel))
      {
        std::copy(mass_degree.begin(),
                  mass_degree.end(),
                  implementation->P.mass_degree);
        implementation->plan();
      }



      template <int dim>
      HDGAssembler<dim>::~HDGAssembler() = default;



      template <int dim>
      const std::vector<std::uint64_t> &
      HDGAssembler<dim>::subcell_points() const
      {
        return implementation->subcell_q;
      }



      template <int dim>
      const std::vector<HDGFacetPointGroup> &
      HDGAssembler<dim>::facet_point_groups() const
      {
        return implementation->facet_point_groups;
      }



      template <int dim>
      const std::vector<unsigned int> &
      HDGAssembler<dim>::facet_begin() const
      {
        return implementation->facet_begin;
      }



      template <int dim>
      unsigned int
      HDGAssembler<dim>::n_boundary_point_groups() const
      {
        return implementation->n_boundary_point_groups;
      }



      template <int dim>
      const std::vector<std::uint64_t> &
      HDGAssembler<dim>::trace_offset() const
      {
        return implementation->trace_offset;
      }



      template <int dim>
      const HDGSizes &
      HDGAssembler<dim>::sizes() const
      {
        return implementation->sizes;
      }



      template <int dim>
      void
      HDGAssembler<dim>::upload(const HDGSizes &sizes)
      {
        implementation->set_sizes(sizes);
        if (implementation->mesh.n_owned_polytopes() > 0)
          implementation->upload_mesh();
      }



      template <int dim>
      std::size_t
      HDGAssembler<dim>::memory() const
      {
        return implementation->held();
      }



      template <int dim>
      void
      HDGAssembler<dim>::set_device_memory(const std::size_t bytes)
      {
        implementation->device_memory = bytes;
      }



      template <int dim>
      HDGTimes
      HDGAssembler<dim>::assemble(const HDGProblem<dim> &problem,
                                  const bool             keep,
                                  double                *values,
                                  double                *right_hand_side)
      {
        Implementation &data = *implementation;
        auto           &G    = data.G;
        G.values             = values;
        G.rhs                = right_hand_side;
        G.local_rhs          = data.rhs.data();
        const HDGTimes times = data.assemble(
          problem, keep, [&](const unsigned int begin, const unsigned int end) {
            G.K                          = data.P.K;
            G.first                      = begin;
            G.last                       = end;
            G.first_square               = data.P.first_square;
            const std::uint64_t n_blocks = (G.n_rows + 3) / 4;
            if (n_blocks > 0)
              hdg_gather_kernel<dim><<<(unsigned int)n_blocks, 128>>>(G);
            check(cudaGetLastError(), "the trace matrix");
          });
        set_failure();
        return times;
      }



      template <int dim>
      HDGTimes
      HDGAssembler<dim>::assemble_blocks(const HDGProblem<dim> &problem,
                                         const bool             keep,
                                         const UseBlocks       &use,
                                         std::vector<double>   &rhs)
      {
        Implementation &data = *implementation;
        rhs.resize(data.trace_offset.back());
        if (data.mesh.n_owned_polytopes() == 0)
          return HDGTimes();
        std::vector<double> blocks;
        const HDGTimes      times = data.assemble(
          problem, keep, [&](const unsigned int begin, const unsigned int end) {
            blocks.resize(data.square_offset[end] - data.square_offset[begin]);
            download_array(data.P.K,
                           blocks.data(),
                           blocks.size(),
                           data.parallel);
            data.parallel(end - begin,
                          16,
                          [&](const std::size_t first, const std::size_t last) {
                            for (std::size_t k = begin + first;
                                 k < begin + last;
                                 ++k)
                              use(k,
                                  blocks.data() + (data.square_offset[k] -
                                                   data.square_offset[begin]));
                          });
          });
        download_array(data.rhs.data(), rhs.data(), rhs.size(), data.parallel);
        set_failure();
        return times;
      }



      template <int dim>
      void
      HDGAssembler<dim>::set_failure()
      {
        failed_polytope        = invalid_index;
        unsigned long long key = 0;
        check(cudaMemcpy(&key,
                         implementation->failure.data(),
                         8,
                         cudaMemcpyDeviceToHost),
              "a copy to the host");
        if (key != ~0ull)
          {
            failed_polytope = (unsigned int)(key >> 8);
            failure         = static_cast<HDGFailure>(key & 255u);
          }
      }



      template <int dim>
      double
      HDGAssembler<dim>::recover(const HDGProblem<dim> &problem,
                                 const double          *trace,
                                 double                *solution,
                                 double                *flux)
      {
        Implementation &data = *implementation;
        if (data.mesh.n_owned_polytopes() == 0)
          return 0.;
        HDGTimes   times;
        const auto apply = [&](const unsigned int begin,
                               const unsigned int end) {
          data.P.first              = begin;
          data.P.last               = end;
          const unsigned int length = (dim + 1) * data.max_basis;
          std::size_t        points = 2 * (dim + 1);
          for (int d = 0; d < dim; ++d)
            points *= data.max_degree + 1;
          // sums by components or faces, or values at points
          const std::size_t parts = std::max<std::size_t>(points,
                                                          (2 * dim + 1) *
                                                            data.max_basis),
                            shared =
                              8ull *
                              (data.max_traces + 1 + length +
                               (data.P.simplex
                                  ? (dim + 1) * data.n_face_functions + parts
                                : data.in_parts() ? 2 * length
                                                  : 0));
          const auto kernel = data.P.simplex ? &hdg_simplex_recover_kernel<dim>
                                             : &hdg_recover_kernel<dim>;
          check(
            cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared)),
            "the start of a kernel");
          const unsigned int n_threads = length <= 32   ? 32
                                         : length <= 64 ? 64
                                         : length < 256 ? 128
                                                        : 256;
          kernel<<<end - begin, n_threads, shared>>>(data.P,
                                                     data.G.block_of_interface,
                                                     data.G.dof_offset,
                                                     trace,
                                                     solution,
                                                     flux);
          check(cudaGetLastError(), "the solution from traces");
        };
        if (data.kept)
          {
            if (data.in_parts())
              {
                data.P.state      = data.state.data();
                data.P.transforms = data.transforms.data();
              }
            else
              data.P.solvers = data.solvers.data();
            data.P.first_solver = 0;
            data.start.record(nullptr);
            apply(0, data.mesh.n_owned_polytopes());
            data.done.record(nullptr);
            data.done.wait();
            return data.done.since(data.start);
          }
        data.prepare(problem, times);
        data.state_is_kept      = false;
        data.P.solvers          = nullptr;
        const std::size_t limit = data.limit(problem.form, false, true);
        data.check_mesh(limit);
        data.for_tiles(problem, true, limit - data.fixed_bytes(), times, apply);
        return times.generation + times.gather + times.coefficients;
      }



      template <int dim>
      double
      HDGAssembler<dim>::operations() const
      {
        const Implementation &data = *implementation;
        double               &n    = data.n_operations[data.with_kept ? 1 : 0];
        if (n < 0.)
          n = data.operations(data.with_kept);
        return n;
      }



      template <int dim>
      void
      HDGAssembler<dim>::download_fixed(std::vector<char> &fixed) const
      {
        const Implementation &data = *implementation;
        fixed.resize(data.mesh.n_owned_polytopes());
        check(cudaMemcpy(fixed.data(),
                         data.fixed.data(),
                         fixed.size(),
                         cudaMemcpyDeviceToHost),
              "a copy to the host");
      }



      template <int dim>
      bool
      HDGAssembler<dim>::is_kept() const
      {
        return implementation->kept;
      }



      template <int dim>
      void
      HDGAssembler<dim>::download_balance(std::vector<double> &integral,
                                          std::vector<double> &abs_f) const
      {
        const Implementation &data = *implementation;
        integral.resize(data.trace_offset.back());
        abs_f.resize(data.mesh.n_owned_polytopes());
        download_array(data.integral.data(),
                       integral.data(),
                       integral.size(),
                       data.parallel);
        download_array(data.abs_f.data(),
                       abs_f.data(),
                       abs_f.size(),
                       data.parallel);
      }



      template <int dim>
      void
      HDGAssembler<dim>::download_dirichlet(std::vector<double> &values) const
      {
        const Implementation &data = *implementation;
        values.resize(data.trace_offset.back());
        download_array(data.dirichlet.data(),
                       values.data(),
                       values.size(),
                       data.parallel);
      }



      void
      download_array(const double     *from,
                     double           *to,
                     const std::size_t n,
                     const Parallel   &parallel)
      {
        constexpr std::size_t piece = std::size_t(2) << 20;
        Array<double, true>   buffer[2];
        Event                 arrived[2];
        const std::size_t     n_pieces = (n + piece - 1) / piece;
        const auto            size     = [&](const std::size_t p) {
          return std::min(piece, n - p * piece);
        };
        const auto begin = [&](const std::size_t p) {
          if (p >= n_pieces)
            return;
          buffer[p % 2].resize(std::min(piece, n));
          check(cudaMemcpyAsync(buffer[p % 2].data(),
                                from + p * piece,
                                8 * size(p),
                                cudaMemcpyDeviceToHost,
                                nullptr),
                "a copy to the host");
          arrived[p % 2].record(nullptr);
        };
        begin(0);
        for (std::size_t p = 0; p < n_pieces; ++p)
          {
            begin(p + 1);
            arrived[p % 2].wait();
            const double *const source = buffer[p % 2].data();
            double *const       target = to + p * piece;
            parallel(size(p),
                     std::size_t(1) << 15,
                     [&](const std::size_t first, const std::size_t last) {
                       std::memcpy(target + first,
                                   source + first,
                                   8 * (last - first));
                     });
          }
      }



      template class HDGAssembler<2>;
      template class HDGAssembler<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
