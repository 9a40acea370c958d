// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <chrono>
#include <cmath>
#include <type_traits>

#include "../device/pipeline.h"
#include "assembly.h"
#include "launch.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Size in bytes of a chunk's values and tables, unless a smaller size
        /// is required: large enough to fill the device, small enough to
        /// overlap copies.
        constexpr std::size_t max_chunk        = std::size_t(1) << 28,
                              min_chunk        = std::size_t(1) << 24,
                              max_fast_chunk   = std::size_t(1) << 29,
                              max_device_chunk = std::size_t(1) << 30;

        constexpr std::size_t
        aligned(const std::size_t bytes)
        {
          return (bytes + 255) / 256 * 256;
        }

        constexpr unsigned long long no_error = ~0ull;

        __global__ void
        penalty_kernel(const double      *factor,
                       const double      *a_bar,
                       const double       constant,
                       const unsigned int n,
                       double            *sigma)
        {
          const unsigned int f = blockIdx.x * blockDim.x + threadIdx.x;
          if (f < n)
            sigma[f] = constant * fmax(factor[2 * std::size_t(f)] *
                                         a_bar[2 * std::size_t(f)],
                                       factor[2 * std::size_t(f) + 1] *
                                         a_bar[2 * std::size_t(f) + 1]);
        }

        // Packed source of each array of the volume tables. The kernel expands
        // packed tables that the host has sent into the tables of a chunk:
        // points of the volume in the first grid direction, arrays in the
        // second.
        template <int dim>
        struct PackedSources
        {
          int    array[PackedTables<dim>::max_arrays];
          double f;
        };

        template <int dim>
        __global__ void
        unpack_volume_kernel(const double       *packed, // at the first point
                             const std::uint64_t n_packed,
                             const PackedSources<dim> sources,
                             const std::uint64_t      n,
                             double                  *table)
        {
          const std::uint64_t q =
            blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x;
          if (q >= n)
            return;
          const int source = sources.array[blockIdx.y];
          table[blockIdx.y * n + q] =
            source < 0 ? sources.f : packed[source * n_packed + q];
        }

        // One warp per entry of polytope_interface.
        template <int dim>
        __global__ void
        unpack_facets_kernel(const double        *interior,
                             const std::uint64_t  n_interior,
                             const double        *boundary,
                             const std::uint64_t  n_boundary,
                             const std::uint64_t *first_packed,
                             const unsigned int  *interfaces,
                             const unsigned int  *polytopes,
                             const std::uint64_t *first_point,
                             const unsigned int   first_entry,
                             const unsigned int   last_entry,
                             const FacetLayout    layout,
                             const bool           continuous,
                             const std::uint64_t  n,
                             double              *table)
        {
          const std::uint64_t entry =
            first_entry +
            (blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x) / 32;
          if (entry >= last_entry)
            return;
          const unsigned int  code  = interfaces[entry];
          const std::uint64_t from  = first_packed[code / 2],
                              begin = first_point[entry];
          const unsigned int n_points =
            static_cast<unsigned int>(first_point[entry + 1] - begin);
          table += begin - first_point[first_entry];
          const bool on_boundary =
            polytopes[2 * std::size_t(code / 2) + 1] == invalid_index;
          for (unsigned int q = threadIdx.x % 32; q < n_points; q += 32)
            if (on_boundary)
              {
                const double *p    = boundary + from + q;
                const auto    move = [&](const int array, const int n_arrays) {
                  for (int d = 0; array >= 0 && d < n_arrays;
                       ++d, p += n_boundary)
                    table[(array + d) * n + q] = *p;
                };
                move(layout.c[0], 1);
                move(layout.b[0], dim);
                move(layout.r, 1);
                move(layout.s, dim);
              }
            else
              {
                const unsigned int side    = code % 2;
                const double      *p       = interior + from + q;
                table[layout.c[0] * n + q] = p[side * n_interior];
                for (int d = 0; layout.b[0] >= 0 && d < dim; ++d)
                  {
                    const double b0                  = p[(2 + d) * n_interior],
                                 b1                  = continuous
                                                         ? b0
                                                         : p[(2 + dim + d) * n_interior];
                    table[(layout.b[0] + d) * n + q] = side == 0 ? b0 : -b1;
                    table[(layout.b[1] + d) * n + q] = side == 0 ? b1 : -b0;
                  }
              }
        }
      } // namespace



      template <int dim>
      struct Assembler<dim>::Implementation
      {
        Implementation(const PolytopicMesh<dim>         &mesh,
                       const BlockSparsity              &sparsity,
                       const unsigned int                first,
                       const unsigned int                last,
                       const Degrees                    &degrees,
                       const RuleTables                 &rules,
                       const std::vector<unsigned char> &exponents,
                       Workspace                        &workspace,
                       const Parallel                   &parallel)
          : mesh(mesh)
          , sparsity(sparsity)
          , first(first)
          , last(last)
          , rules(rules)
          , exponents_host(exponents)
          , workspace(workspace)
          , parallel(parallel)
          , degrees(degrees)
        {}

        // Uploads everything that does not depend on the form.
        void
        upload()
        {
          const unsigned int n = mesh.n_polytopes();
          count_points();

          // ---- copies
          RawArray<double> map(4 * dim * std::size_t(n));
          over_polytopes([&](const unsigned int k) {
            for (unsigned int d = 0; d < dim; ++d)
              {
                const double lower  = mesh.box[2 * dim * k + d],
                             upper  = mesh.box[2 * dim * k + dim + d];
                const double scale  = 2. / (upper - lower),
                             value  = std::sqrt(1. / (upper - lower));
                double *const entry = &map[4 * (dim * std::size_t(k) + d)];
                entry[0]            = 0.5 * (lower + upper);
                entry[1]            = scale;
                entry[2]            = value;
                entry[3]            = value * scale;
              }
          });
          std::vector<Workspace::Implementation::Part> parts;
          std::size_t                                  bytes = 0;
          workspace->reserve_mesh(
            Assembler::memory(mesh, sparsity, rules, exponents_host.size()));
          char *const memory = workspace->mesh.data();
          const auto  add = [&](auto &pointer, const auto *from, const auto n) {
            pointer =
              reinterpret_cast<std::decay_t<decltype(from)>>(memory + bytes);
            if (n > 0)
              parts.push_back({reinterpret_cast<const char *>(from),
                               n * sizeof(*from),
                               bytes});
            bytes += aligned(n * sizeof(*from));
          };
          visit_arrays(D, mesh, sparsity, add);
          add(D.box_map, map.data(), map.size());
          add(D.subcell_q, subcell_q.data(), subcell_q.size());
          add(D.facet_q, facet_q.data(), facet_q.size());
          add(D.rules, rules.data.data(), rules.data.size());
          add(D.exponents, exponents_host.data(), exponents_host.size());
          workspace->upload(memory, parts);
          // Set before the kernels that read them.
          sigma   = reinterpret_cast<double *>(memory + bytes);
          D.sigma = sigma;
          bytes += aligned(mesh.n_facets() * sizeof(double));
          entry_q_device = reinterpret_cast<std::uint64_t *>(memory + bytes);
          D.entry_q      = entry_q_device;

          for (unsigned int p = 0; p <= 10; ++p)
            {
              for (unsigned int t = 0; t < 5; ++t)
                D.subcell_rule[t][p] = rules.subcell[t][p];
              for (unsigned int t = 0; t < 4; ++t)
                D.facet_rule[t][p] = rules.facet[t][p];
            }
          kernels = std::make_unique<Kernels<dim>>(
            mesh, sparsity, first, last, degrees, rules, workspace, parallel);
          kernels->bind(D);
        }

        // Calls visit(pointer in D, array, size) for all arrays that are copied
        // unchanged.
        template <typename Visitor>
        static void
        visit_arrays(Data<dim>                &D,
                     const PolytopicMesh<dim> &mesh,
                     const BlockSparsity      &sparsity,
                     const Visitor            &visitor)
        {
          const auto visit = [&](auto &pointer, const auto &array) {
            visitor(pointer, array.data(), array.size());
          };
          visit(D.box, mesh.box);
          visit(D.degree, mesh.degree);
          visit(D.n_basis, mesh.n_basis);
          visit(D.dof_offset, mesh.dof_offset);
          visit(D.subcell_offset, mesh.subcell_offset);
          visit(D.polytope_interface_offset, mesh.polytope_interface_offset);
          visit(D.polytope_interface, mesh.polytope_interface);
          visit(D.subcell_type, mesh.subcell_type);
          visit(D.subcell_vertex_offset, mesh.subcell_vertex_offset);
          visit(D.subcell_vertices, mesh.subcell_vertices);
          visit(D.subcell_point_offset, mesh.subcell_point_offset);
          visit(D.subcell_points, mesh.subcell_points);
          visit(D.subcell_point_weights, mesh.subcell_point_weights);
          visit(D.interface_polytope, mesh.interface_polytope);
          visit(D.interface_shift, mesh.interface_shift);
          visit(D.facet_offset, mesh.facet_offset);
          visit(D.shift, mesh.shift);
          visit(D.facet_type, mesh.facet_type);
          visit(D.facet_vertex_offset, mesh.facet_vertex_offset);
          visit(D.facet_vertices, mesh.facet_vertices);
          visit(D.facet_normal, mesh.facet_normal);
          visit(D.facet_measure, mesh.facet_measure);
          visit(D.facet_point_offset, mesh.facet_point_offset);
          visit(D.facet_points, mesh.facet_points);
          visit(D.facet_point_normals, mesh.facet_point_normals);
          visit(D.facet_point_weights, mesh.facet_point_weights);
          visit(D.block_offset, sparsity.block_offset);
          visit(D.value_offset, sparsity.value_offset);
          visit(D.block_column, sparsity.block_column);
          visit(D.column_offset, sparsity.column_offset);
          visit(D.row_width, sparsity.row_width);
        }

        // Calls function(k) for all polytopes, distributed over all threads.
        template <typename Function>
        void
        over_polytopes(const Function &function) const
        {
          parallel(mesh.n_polytopes(),
                   1024,
                   [&](const std::size_t begin, const std::size_t end) {
                     for (std::size_t k = begin; k < end; ++k)
                       function(static_cast<unsigned int>(k));
                   });
        }

        // Computes the first quadrature point of each sub-cell and facet.
        void
        count_points()
        {
          RawArray<unsigned char> degree(
            std::max(mesh.n_subcells(), mesh.n_facets()));
          over_polytopes([&](const unsigned int k) {
            std::fill(degree.data() + mesh.subcell_offset[k],
                      degree.data() + mesh.subcell_offset[k + 1],
                      static_cast<unsigned char>(mesh.degree[k]));
          });
          subcell_q =
            running_sums(parallel, mesh.n_subcells(), [&](const std::size_t s) {
              return n_subcell_points(mesh, rules, s, degree[s]);
            });
          parallel(mesh.n_interfaces(),
                   4096,
                   [&](const std::size_t begin, const std::size_t end) {
                     for (std::size_t i = begin; i < end; ++i)
                       std::fill(degree.data() + mesh.facet_offset[i],
                                 degree.data() + mesh.facet_offset[i + 1],
                                 static_cast<unsigned char>(
                                   interface_degree(mesh, i)));
                   });
          facet_q =
            running_sums(parallel, mesh.n_facets(), [&](const std::size_t f) {
              return n_facet_points(mesh, rules, f, degree[f]);
            });
        }

        // Computes the number of tabulated facet points that precede each entry
        // of polytope_interface, on host and device.
        void
        count_facet_points(const bool boundary_only, const bool no_bottom)
        {
          RawArray<std::uint64_t> &sums = entry_q[no_bottom       ? 2
                                                  : boundary_only ? 1
                                                                  : 0];
          if (sums.size() == 0)
            sums =
              running_sums(parallel,
                           mesh.polytope_interface.size(),
                           [&](const std::size_t e) -> std::uint64_t {
                             const unsigned int code =
                                                  mesh.polytope_interface[e],
                                                i = code / 2;
                             return (!boundary_only ||
                                     mesh.neighbor(code) == invalid_index) &&
                                        !(no_bottom &&
                                          mesh.interface_boundary_id[i] ==
                                            degrees.bottom_id)
                                      ? facet_q[mesh.facet_offset[i + 1]] -
                                          facet_q[mesh.facet_offset[i]]
                                      : 0;
                           });
          if (present_entry_q != sums.data())
            copy_to_device(entry_q_device, sums.data(), sums.size());
          present_entry_q = sums.data();
        }

        // Computes the number of points of packed facet tables that precede
        // each entry of polytope_interface, and the first packed point of each
        // interface.
        void
        count_packed_points()
        {
          if (packed_q_device.size() > 0)
            return;
          for (const bool boundary : {false, true})
            packed_q[boundary] =
              running_sums(parallel,
                           mesh.polytope_interface.size(),
                           [&](const std::size_t e) -> std::uint64_t {
                             const unsigned int code =
                                                  mesh.polytope_interface[e],
                                                i = code / 2;
                             return code % 2 == 0 && (mesh.neighbor(code) ==
                                                      invalid_index) == boundary
                                      ? facet_q[mesh.facet_offset[i + 1]] -
                                          facet_q[mesh.facet_offset[i]]
                                      : 0;
                           });
          std::vector<std::uint64_t> first_packed(mesh.n_interfaces());
          parallel(mesh.polytope_interface.size(),
                   8192,
                   [&](const std::size_t begin, const std::size_t end) {
                     for (std::size_t e = begin; e < end; ++e)
                       {
                         const unsigned int code = mesh.polytope_interface[e];
                         if (code % 2 == 0)
                           first_packed[code / 2] =
                             packed_q[mesh.neighbor(code) == invalid_index][e];
                       }
                   });
          packed_q_device.resize(first_packed.size());
          copy_to_device(packed_q_device.data(),
                         first_packed.data(),
                         first_packed.size());
        }

        std::uint64_t
        packed_points(const bool         boundary,
                      const unsigned int begin,
                      const unsigned int end) const
        {
          return packed_q[boundary][mesh.polytope_interface_offset[end]] -
                 packed_q[boundary][mesh.polytope_interface_offset[begin]];
        }

        // ---- evaluation of a form on the device

        // Uploads the mesh data and the fields that an evaluation reads.
        void
        prepare_evaluation(const Evaluation<dim> &evaluation)
        {
          if (coefficient_memory.size() == 0)
            {
              const CoefficientArrays arrays = evaluation.arrays();
              std::size_t             bytes  = 0;
              const auto              visit  = [&](const auto &visitor) {
                visitor(M.facet_subcell, arrays.facet_subcell);
                visitor(M.facet_material, arrays.facet_material);
                visitor(M.subcell_material, arrays.subcell_material);
                visitor(M.boundary_id, arrays.boundary_id);
                visitor(M.dof_offset, arrays.dof_offset);
              };
              visit([&](auto &, const auto &array) {
                bytes += aligned(array.size() * sizeof(array[0]));
              });
              coefficient_memory.resize(bytes);
              std::size_t offset = 0;
              visit([&](auto &pointer, const auto &array) {
                auto *const to = reinterpret_cast<std::remove_const_t<
                  std::remove_reference_t<decltype(array[0])>> *>(
                  coefficient_memory.data() + offset);
                copy_to_device(to, array.data(), array.size());
                pointer = to;
                offset += aligned(array.size() * sizeof(array[0]));
              });
              M.first_subcell = arrays.first_subcell;

              M.box                       = D.box;
              M.degree                    = D.degree;
              M.n_basis                   = D.n_basis;
              M.subcell_offset            = D.subcell_offset;
              M.polytope_interface_offset = D.polytope_interface_offset;
              M.polytope_interface        = D.polytope_interface;
              M.subcell_type              = D.subcell_type;
              M.subcell_vertex_offset     = D.subcell_vertex_offset;
              M.subcell_point_offset      = D.subcell_point_offset;
              M.subcell_vertices          = D.subcell_vertices;
              M.subcell_points            = D.subcell_points;
              M.interface_polytope        = D.interface_polytope;
              M.interface_shift           = D.interface_shift;
              M.facet_offset              = D.facet_offset;
              M.shift                     = D.shift;
              M.facet_type                = D.facet_type;
              M.facet_vertex_offset       = D.facet_vertex_offset;
              M.facet_point_offset        = D.facet_point_offset;
              M.facet_vertices            = D.facet_vertices;
              M.facet_normal              = D.facet_normal;
              M.facet_points              = D.facet_points;
              M.facet_point_normals       = D.facet_point_normals;
              M.exponents                 = D.exponents;
              M.subcell_q                 = D.subcell_q;
              M.facet_q                   = D.facet_q;
              M.entry_q                   = entry_q_device;
              M.rules                     = D.rules;
              std::copy(&D.subcell_rule[0][0],
                        &D.subcell_rule[0][0] + 5 * 11,
                        &M.subcell_rule[0][0]);
              std::copy(&D.facet_rule[0][0],
                        &D.facet_rule[0][0] + 4 * 11,
                        &M.facet_rule[0][0]);
            }

          task        = {};
          task.mesh   = M;
          task.sigma  = sigma;
          task.wanted = no_error;
          // Forms on slabs have no discrete fields.
          if constexpr (dim < 4)
            {
              const auto &list = evaluation.coefficients->fields();
              for (std::size_t i = 0; i < list.size(); ++i)
                {
                  task.field[i] = list[i].device_values();
                  if (task.field[i] == nullptr)
                    {
                      fields[i].resize(list[i].size());
                      copy_to_device(fields[i].data(),
                                     list[i].host_values(),
                                     list[i].size());
                      task.field[i] = fields[i].data();
                    }
                }
            }
          const auto &values = evaluation.coefficients->cell_values();
          for (std::size_t i = 0; i < values.size(); ++i)
            {
              cell_values[i].resize(values[i]->size());
              copy_to_device(cell_values[i].data(),
                             values[i]->data(),
                             values[i]->size());
              task.cell_value[i] = cell_values[i].data();
            }
          record.resize(1);
          ErrorRecord clean = {};
          clean.key         = no_error;
          copy_to_device(record.data(), &clean, 1);
          task.record = record.data();
        }

        void
        launch(const Evaluation<dim>  &evaluation,
               const CoefficientKernel kernel,
               const std::uint64_t     n_blocks,
               const unsigned int      n_blocks_y = 1)
        {
          if (n_blocks == 0)
            return;
          const std::string error =
            evaluation.coefficients->launch(kernel,
                                            task,
                                            static_cast<unsigned int>(n_blocks),
                                            n_blocks_y,
                                            static_cast<cudaStream_t>(
                                              workspace->kernel_stream));
          if (!error.empty())
            throw Error(error);
        }

        // Computes n . a n for all polytopes.
        void
        launch_penalty(const Evaluation<dim> &evaluation)
        {
          a_bar.resize(2 * std::size_t(mesh.n_facets()));
          task.a_bar          = a_bar.data();
          task.first_polytope = first;
          task.n_polytopes    = last - first;
          check(cudaMemsetAsync(a_bar.data(),
                                0,
                                a_bar.size() * sizeof(double),
                                workspace->kernel_stream),
                "the assembly on the device");
          // Polytopes of very many points are processed by several thread
          // blocks, each of which has at least 1024 points.
          if (most_points == 0)
            for (unsigned int k = first; k < last; ++k)
              most_points = std::max(most_points, volume_points(k, k + 1));
          const unsigned int n_parts = static_cast<unsigned int>(
            std::min<std::uint64_t>(256, (most_points + 1023) / 1024));
          launch(evaluation,
                 CoefficientKernel::penalty,
                 last - first,
                 std::max(1u, n_parts));
        }

        std::size_t
        evaluation_memory() const
        {
          std::size_t bytes = coefficient_memory.size() +
                              sizeof(double) * (a_bar.size() + factor.size() +
                                                packed_q_device.size());
          for (const Array<double> &field : fields)
            bytes += sizeof(double) * field.size();
          for (const Array<double> &values : cell_values)
            bytes += sizeof(double) * values.size();
          return bytes;
        }

        // Computes the tables of a chunk. @p clock may be null: no times are
        // recorded then.
        void
        launch_tables(const Evaluation<dim> &evaluation,
                      const FormData<dim>   &form,
                      const Chunk           &chunk,
                      char                  *volume,
                      char                  *facets,
                      KernelClock           *clock)
        {
          const cudaStream_t stream = workspace->kernel_stream;
          task.volume_layout        = form.volume_layout;
          task.facet_layout         = form.facet_layout;
          task.volume_table         = reinterpret_cast<double *>(volume);
          task.facet_table          = reinterpret_cast<double *>(facets);
          task.n_volume_points      = chunk.n_volume_points;
          task.n_facet_points       = chunk.n_facet_points;
          task.first_volume_point = subcell_q[mesh.subcell_offset[chunk.begin]];
          task.first_facet_point =
            present_entry_q[mesh.polytope_interface_offset[chunk.begin]];
          task.first_polytope = chunk.begin;
          task.n_polytopes    = chunk.end - chunk.begin;
          // A thread has several points, see PointRange.
          constexpr unsigned int n = 4 * tabulation_threads;
          if (clock != nullptr)
            clock->start(stream);
          if (form.volume_layout.n > 0)
            {
              launch(evaluation,
                     CoefficientKernel::volume,
                     (chunk.n_volume_points + n - 1) / n);
              if (clock != nullptr)
                clock->stop("coefficients (volume)", stream);
            }
          if (form.facet_layout.n > 0)
            {
              launch(evaluation,
                     CoefficientKernel::facets,
                     (chunk.n_facet_points + n - 1) / n);
              if (clock != nullptr)
                clock->stop("coefficients (facets)", stream);
            }
        }

        ErrorRecord
        download_record() const
        {
          check(cudaStreamSynchronize(workspace->kernel_stream),
                "the assembly on the device");
          ErrorRecord result;
          check(cudaMemcpy(&result,
                           record.data(),
                           sizeof(result),
                           cudaMemcpyDeviceToHost),
                "a copy to the host");
          return result;
        }

        // Throws if a kernel has recorded an invalid point: the first such
        // point is evaluated once more to describe the error.
        void
        check_points(const Evaluation<dim>    &evaluation,
                     const FormData<dim>      &form,
                     const std::vector<Chunk> &chunks,
                     char                     *memory)
        {
          const unsigned long long key = download_record().key;
          if (key == no_error)
            return;
          task.wanted       = key;
          const bool facets = key >> 63;
          if (!facets && key % 4 == 0)
            launch_penalty(evaluation);
          else
            for (const Chunk &chunk : chunks)
              {
                const std::uint64_t point =
                  facets ? key - (1ull << 63) : key / 4;
                const std::uint64_t end =
                  facets
                    ? present_entry_q[mesh.polytope_interface_offset[chunk.end]]
                    : subcell_q[mesh.subcell_offset[chunk.end]];
                if (point >= end)
                  continue;
                const Layout sizes = layout(chunk.begin, chunk.end, form, 0, 0);
                launch_tables(evaluation,
                              form,
                              chunk,
                              memory,
                              memory + aligned(sizes.volume),
                              nullptr);
                break;
              }
          evaluation.coefficients->throw_error(download_record().error);
        }

        // Operations on vectors and matrices on the device run in the default
        // stream, for which the streams of the workspace do not wait: fields
        // may still be under computation, and the target matrix may still be
        // read.
        static void
        wait_for_default_stream()
        {
          check(cudaStreamSynchronize(nullptr), "work on the device");
        }

        template <typename Number>
        void
        copy_to_device(Number *to, const Number *from, const std::size_t n)
        {
          workspace->upload(
            reinterpret_cast<char *>(to),
            {{reinterpret_cast<const char *>(from), n * sizeof(Number), 0}});
        }

        // Sizes in bytes of the tables and results of block rows in a slot;
        // they are stored in this order.
        struct Layout
        {
          std::size_t volume = 0, facets = 0, values = 0, rhs = 0;
          std::size_t
          bytes() const
          {
            return aligned(volume) + aligned(facets) + aligned(values) +
                   aligned(rhs);
          }
        };

        std::uint64_t
        volume_points(const unsigned int begin, const unsigned int end) const
        {
          return subcell_q[mesh.subcell_offset[end]] -
                 subcell_q[mesh.subcell_offset[begin]];
        }

        std::uint64_t
        facet_points(const unsigned int begin, const unsigned int end) const
        {
          return present_entry_q[mesh.polytope_interface_offset[end]] -
                 present_entry_q[mesh.polytope_interface_offset[begin]];
        }

        // Layout of block rows [begin, end); the last arguments are the sizes
        // of a matrix value and a vector entry, or 0.
        Layout
        layout(const unsigned int   begin,
               const unsigned int   end,
               const FormData<dim> &form,
               const std::size_t    values_size,
               const std::size_t    rhs_size) const
        {
          Layout layout;
          layout.volume =
            volume_points(begin, end) * form.volume_layout.n * sizeof(double);
          layout.facets =
            facet_points(begin, end) * form.facet_layout.n * sizeof(double);
          layout.values =
            (sparsity.value_offset[end] - sparsity.value_offset[begin]) *
            values_size;
          layout.rhs =
            (mesh.dof_offset[end] - mesh.dof_offset[begin]) * rhs_size;
          return layout;
        }

        // Largest range of block rows from `begin` on that fits into the given
        // size, but at least one block row. All sizes grow with the end, which
        // is found by bisection.
        Chunk
        next_chunk(const unsigned int   begin,
                   const FormData<dim> &form,
                   const std::size_t    values_size,
                   const std::size_t    rhs_size,
                   const std::size_t    bytes) const
        {
          unsigned int fits = begin + 1, too_many = last + 1;
          while (too_many - fits > 1)
            {
              const unsigned int middle = fits + (too_many - fits) / 2;
              if (layout(begin, middle, form, values_size, rhs_size).bytes() <=
                  bytes)
                fits = middle;
              else
                too_many = middle;
            }
          return {begin,
                  fits,
                  volume_points(begin, fits),
                  facet_points(begin, fits)};
        }

        const PolytopicMesh<dim>         &mesh;
        const BlockSparsity              &sparsity;
        const unsigned int                first, last;
        const RuleTables                 &rules;
        const std::vector<unsigned char> &exponents_host;
        Workspace                        &workspace;
        const Parallel                    parallel;
        const Degrees                     degrees;
        std::unique_ptr<Kernels<dim>>     kernels;
        RawArray<std::uint64_t> subcell_q, facet_q, entry_q[3], packed_q[2];
        /// Number of volume points of the polytope with most points. 0: not
        /// known yet, since the search needs as much time as a kernel.
        std::uint64_t        most_points = 0;
        Array<std::uint64_t> packed_q_device;

        Data<dim> D = {};
        // in the memory of the workspace
        double              *sigma           = nullptr;
        std::uint64_t       *entry_q_device  = nullptr;
        const std::uint64_t *present_entry_q = nullptr;
        std::uint64_t        sigma_revision  = 0;

        // ---- evaluation of a form on the device
        MeshData<dim>       M    = {};
        TabulationTask<dim> task = {};
        Array<char>         coefficient_memory;
        Array<double>       fields[max_fields], cell_values[max_cell_values];
        Array<double>       a_bar, factor;
        std::uint64_t       factor_revision = 0;
        Array<ErrorRecord>  record;
        Event               penalty_begin, penalty_end;
      };



      template <int dim>
      Assembler<dim>::Assembler(const PolytopicMesh<dim>         &mesh,
                                const BlockSparsity              &sparsity,
                                const unsigned int                first,
                                const unsigned int                last,
                                const Degrees                    &degrees,
                                const RuleTables                 &rules,
                                const std::vector<unsigned char> &exponents,
                                Workspace                        &workspace,
                                const Parallel                   &parallel)
        : implementation(std::make_unique<Implementation>(mesh,
                                                          sparsity,
                                                          first,
                                                          last,
                                                          degrees,
                                                          rules,
                                                          exponents,
                                                          workspace,
                                                          parallel))
      {
        implementation->upload();
      }



      template <int dim>
      Assembler<dim>::~Assembler() = default;



      template <int dim>
      const std::uint64_t *
      Assembler<dim>::subcell_points() const
      {
        return implementation->subcell_q.data();
      }



      template <int dim>
      const std::uint64_t *
      Assembler<dim>::entry_points() const
      {
        return implementation->present_entry_q;
      }



      template <int dim>
      const std::uint64_t *
      Assembler<dim>::packed_interior_points() const
      {
        return implementation->packed_q[0].data();
      }



      template <int dim>
      const std::uint64_t *
      Assembler<dim>::packed_boundary_points() const
      {
        return implementation->packed_q[1].data();
      }



      template <int dim>
      std::size_t
      Assembler<dim>::memory(const PolytopicMesh<dim> &mesh,
                             const BlockSparsity      &sparsity,
                             const RuleTables         &rules,
                             const std::size_t         n_exponents)
      {
        std::size_t bytes = 0;
        const auto  add   = [&](const auto &, const auto *from, const auto n) {
          bytes += aligned(n * sizeof(*from));
        };
        Data<dim> D;
        Implementation::visit_arrays(D, mesh, sparsity, add);
        const std::size_t n = mesh.n_polytopes();
        return bytes + aligned(4 * dim * n * sizeof(double)) +
               aligned((mesh.n_subcells() + 1ull) * 8) +
               aligned((mesh.n_facets() + 1ull) * 8) +
               Kernels<dim>::memory(mesh, sparsity, rules) +
               aligned(rules.data.size() * sizeof(double)) +
               aligned(n_exponents) +
               aligned(mesh.n_facets() * sizeof(double)) +
               aligned((mesh.polytope_interface.size() + 1) * 8);
      }



      template <int dim>
      void
      Assembler<dim>::expect_constant_facets()
      {
        implementation->count_facet_points(true, false);
      }



      template <int dim>
      void
      Assembler<dim>::largest_diffusion(const Evaluation<dim> &evaluation,
                                        double                *a_bar)
      {
        Implementation &I = *implementation;
        I.wait_for_default_stream();
        I.prepare_evaluation(evaluation);
        I.launch_penalty(evaluation);
        I.check_points(evaluation, {}, {}, nullptr);
        check(cudaMemcpy(a_bar,
                         I.a_bar.data(),
                         2 * std::size_t(I.mesh.n_facets()) * sizeof(double),
                         cudaMemcpyDeviceToHost),
              "a copy to the host");
      }



      template <int dim>
      template <typename Number>
      Times
      Assembler<dim>::assemble(const FormData<dim>   &form,
                               const Penalty         &penalty,
                               const Tabulation      &tabulation,
                               const Target<Number>  &target,
                               const Evaluation<dim> *evaluation)
      {
        using Pipeline                     = Workspace::Implementation;
        Implementation &I                  = *implementation;
        Pipeline &W                        = *I.workspace.operator->();
        const PolytopicMesh<dim>  &mesh    = I.mesh;
        const auto                 now     = std::chrono::steady_clock::now;
        const auto                 seconds = [](const auto duration) {
          return std::chrono::duration<double>(duration).count();
        };
        Times times;
        I.wait_for_default_stream();
        times.kernel = I.kernels->name(form);
        I.kernels->prepare(
          form, I.subcell_q.data(), I.workspace, I.parallel, I.D);
        I.kernels->bind(I.D);
        I.D.form = form;
        I.count_facet_points(form.constant_facets, form.constant_bottom);
        if (evaluation != nullptr)
          I.prepare_evaluation(*evaluation);
        const bool device_penalty =
          evaluation != nullptr && evaluation->penalty;
        if ((form.constant_facets || evaluation != nullptr) &&
            !device_penalty &&
            (penalty.revision == 0 || penalty.revision != I.sigma_revision))
          {
            I.copy_to_device(I.sigma, penalty.sigma, mesh.n_facets());
            I.sigma_revision = penalty.revision;
          }

        // ---- chunks
        const bool values_to_host =
                     form.matrix && target.device_values == nullptr,
                   rhs_to_host = form.rhs && target.device_rhs == nullptr;
        const std::size_t values_size = values_to_host ? sizeof(Number) : 0,
                          rhs_size    = rhs_to_host ? sizeof(Number) : 0;
        const PackedTables<dim> packed(form);
        bool       rounds = evaluation == nullptr && tabulation.volume;
        const bool packed_facets =
          rounds && form.packed_facets && form.facet_layout.n > 0;
        if (packed_facets)
          I.count_packed_points();
        const std::size_t present =
          W.mesh.size() + I.kernels->memory() + I.evaluation_memory();
        std::size_t available = W.limit > present ? W.limit - present : 0;
        // ---- tables of all chunks: volume, interior and boundary facets
        struct
        {
          std::uint64_t n_volume = 0, n_interior = 0, n_boundary = 0;
          double *volume = nullptr, *interior = nullptr, *boundary = nullptr;
        } all;
        if (rounds)
          {
            all.n_volume = I.volume_points(I.first, I.last);
            if (packed_facets)
              {
                all.n_interior = I.packed_points(false, I.first, I.last);
                all.n_boundary = I.packed_points(true, I.first, I.last);
              }
            const std::size_t volume =
                                aligned(8 * all.n_volume * packed.n_volume),
                              interior =
                                aligned(8 * all.n_interior * packed.n_interior),
                              bytes =
                                volume + interior +
                                aligned(8 * all.n_boundary * packed.n_boundary);
            rounds = bytes <= available / 2;
            if (rounds)
              {
                available -= bytes;
                if (W.packed.size() < bytes && W.used() + bytes > W.limit)
                  for (auto &slot : W.slot)
                    slot.memory.release();
                W.packed.resize(bytes);
                all.volume = reinterpret_cast<double *>(W.packed.data());
                all.interior =
                  reinterpret_cast<double *>(W.packed.data() + volume);
                all.boundary = reinterpret_cast<double *>(W.packed.data() +
                                                          volume + interior);
              }
          }
        if (!rounds)
          {
            if (W.used() > W.limit)
              W.packed.release();
            if (evaluation == nullptr && tabulation.start_chunks)
              tabulation.start_chunks();
          }
        const std::size_t total =
          I.layout(I.first, I.last, form, values_size, rhs_size).bytes();
        // Kernels are faster than copies to the host. The first chunks are
        // small, so that copies start soon; later ones are larger, since each
        // launch ends with a wave of thread blocks that does not fill the
        // device. If the host tabulates coefficients, all chunks have the same
        // size, because its tables come at an even pace. If the kernels need
        // little time compared with the copy, or if no result is copied, a
        // single chunk is used unless it is too large.
        const auto chunk_size = [&](const std::size_t n_chunks,
                                    const std::size_t limit) {
          return std::min(std::min(limit,
                                   std::max(min_chunk, total / n_chunks + 1)),
                          available / Pipeline::max_slots);
        };
        const bool even = evaluation == nullptr &&
                          !(form.constant_volume && form.constant_facets),
                   on_device =
                     evaluation != nullptr && !values_to_host && !rhs_to_host,
                   whole        = on_device || I.kernels->fast(form);
        const std::size_t limit = on_device ? max_device_chunk : max_fast_chunk;
        std::size_t chunk_bytes = whole ? chunk_size(total / limit + 1, limit)
                                        : chunk_size(even ? 8 : 16, max_chunk);
        const std::size_t largest =
          whole ? chunk_bytes : chunk_size(even ? 8 : 4, max_chunk);
        std::vector<Chunk> chunks;
        std::size_t        slot_bytes = 0;
        for (unsigned int k = I.first; k < I.last; k = chunks.back().end)
          {
            chunks.push_back(
              I.next_chunk(k, form, values_size, rhs_size, chunk_bytes));
            chunk_bytes = std::min(2 * chunk_bytes, largest);
            const std::size_t bytes =
              I.layout(k, chunks.back().end, form, values_size, rhs_size)
                .bytes();
            if (bytes > available)
              throw RowTooLarge(k, bytes);
            slot_bytes = std::max(slot_bytes, bytes);
          }
        unsigned int n_slots =
          std::min<std::size_t>(Pipeline::max_slots, chunks.size());
        while (n_slots > 1 && n_slots * slot_bytes > available)
          --n_slots;
        bool release = W.used() > W.limit;
        for (unsigned int s = 0; s < n_slots; ++s)
          release = release || W.slot[s].memory.size() < slot_bytes;
        if (release)
          for (auto &slot : W.slot)
            slot.memory.release();
        for (unsigned int s = 0; s < n_slots; ++s)
          {
            W.slot[s].memory.resize(slot_bytes);
            W.slot[s].busy = W.slot[s].uploads = false;
          }
        if (values_to_host || rhs_to_host)
          W.reserve_pinned(total);
        times.memory = W.used();

        // ---- intervals in which the device was busy, in seconds since the
        // start
        std::vector<std::pair<double, double>> busy;
        const auto                             note =
          [&](const Event &begin, const Event &end, double &sum) {
            const double from = begin.since(W.start), to = end.since(W.start);
            sum += to - from;
            busy.emplace_back(from, to);
          };
        const auto start_time = now();
        W.start.record(W.kernel_stream);
        if (device_penalty)
          {
            const std::size_t n = mesh.n_facets();
            if (evaluation->factor_revision == 0 ||
                evaluation->factor_revision != I.factor_revision)
              {
                I.factor.resize(2 * n);
                I.copy_to_device(I.factor.data(), evaluation->factor, 2 * n);
                I.factor_revision = evaluation->factor_revision;
              }
            I.penalty_begin.record(W.kernel_stream);
            I.launch_penalty(*evaluation);
            if (n > 0)
              penalty_kernel<<<(n + 255) / 256, 256, 0, W.kernel_stream>>>(
                I.factor.data(),
                I.a_bar.data(),
                evaluation->constant,
                static_cast<unsigned int>(n),
                I.sigma);
            check(cudaGetLastError(), "the start of a kernel");
            I.penalty_end.record(W.kernel_stream);
            // The values on the device do not belong to the caller's revision.
            I.sigma_revision = 0;
          }
        const auto finish_upload = [&](Pipeline::Slot &slot) {
          if (slot.uploads)
            {
              slot.upload_end.wait();
              note(slot.upload_begin, slot.upload_end, times.upload);
              slot.uploads = false;
            }
        };
        const auto finish_slot = [&](Pipeline::Slot &slot) {
          slot.kernel_end.wait();
          note(slot.kernel_begin, slot.kernel_end, times.kernels);
          if (evaluation != nullptr || rounds)
            slot.tabulation_clock.add_to(times);
          slot.clock.add_to(times);
          finish_upload(slot);
        };

        // Copies n_arrays arrays of n values each from a pinned buffer into
        // arrays of n_all values on the device.
        const auto upload_arrays = [&](const double       *from,
                                       const std::uint64_t n,
                                       double             *to,
                                       const std::uint64_t n_all,
                                       const int           n_arrays) {
          if (n == 0 || n_arrays == 0)
            return;
          check(cudaMemcpy2DAsync(to,
                                  n_all * sizeof(double),
                                  from,
                                  n * sizeof(double),
                                  n * sizeof(double),
                                  n_arrays,
                                  cudaMemcpyHostToDevice,
                                  W.upload_stream),
                "a copy to the device");
          times.bytes_up += sizeof(double) * double(n) * n_arrays;
        };

        // ---- volume tables of all chunks
        std::vector<char> symmetric(chunks.size());
        const auto        send_volumes = [&]() {
          for (unsigned int c = 0; c < chunks.size(); ++c)
            {
              const Chunk    &chunk = chunks[c];
              Pipeline::Slot &slot  = W.slot[c % n_slots];
              finish_upload(slot);
              slot.tables.resize(8 * chunk.n_volume_points * packed.n_volume);
              double *const table =
                reinterpret_cast<double *>(slot.tables.data());
              const auto before = now();
              symmetric[c]      = tabulation.volume(chunk, table);
              times.tabulation += seconds(now() - before);
              slot.upload_begin.record(W.upload_stream);
              upload_arrays(table,
                            chunk.n_volume_points,
                            all.volume + I.volume_points(I.first, chunk.begin),
                            all.n_volume,
                            packed.n_volume -
                              (symmetric[c] ? packed.n_lower : 0));
              slot.upload_end.record(W.upload_stream);
              slot.uploads = true;
            }
          const auto before = now();
          if (tabulation.start_facets)
            tabulation.start_facets();
          times.tabulation += seconds(now() - before);
        };

        // ---- copies of results to the host
        unsigned int n_started = 0, n_finished = 0;
        const auto   finish_piece = [&]() {
          auto &piece = W.piece[n_finished % Pipeline::n_pieces];
          ++n_finished;
          piece.end.wait();
          note(piece.begin, piece.end, times.download);
          piece.store(piece.buffer.data(), piece.bytes);
        };
        const auto start_piece =
          [&](const char                                    *from,
              const std::size_t                              bytes,
              std::function<void(const char *, std::size_t)> store) {
            if (n_started - n_finished == Pipeline::n_pieces)
              finish_piece();
            auto &piece = W.piece[n_started % Pipeline::n_pieces];
            ++n_started;
            piece.buffer.resize(bytes);
            piece.bytes = bytes;
            piece.store = std::move(store);
            piece.begin.record(W.download_stream);
            check(cudaMemcpyAsync(piece.buffer.data(),
                                  from,
                                  bytes,
                                  cudaMemcpyDeviceToHost,
                                  W.download_stream),
                  "a copy to the host");
            piece.end.record(W.download_stream);
            times.bytes_down += bytes;
          };
        const std::size_t piece_size = W.piece_bytes;
        const bool        by_workers = (values_to_host || rhs_to_host) &&
                                !target.store_block_rows &&
                                W.n_processes >= Download::least_processes;
        if (by_workers)
          W.download.start();
        // Starts the copy of an array of a chunk to the host.
        const auto start_array = [&](const unsigned int chunk,
                                     const Event       &ready,
                                     const char        *from,
                                     char              *to,
                                     const std::size_t  bytes) {
          if (by_workers)
            {
              W.download.add(chunk, ready, from, to, bytes);
              times.bytes_down += bytes;
              return;
            }
          for (std::size_t begin = 0; begin < bytes; begin += piece_size)
            start_piece(
              from + begin,
              std::min(piece_size, bytes - begin),
              [&I, to, begin](const char *buffer, const std::size_t n) {
                I.parallel(n,
                           std::size_t(1) << 18,
                           [&](const std::size_t b, const std::size_t e) {
                             copy_past_caches(to + begin + b,
                                              buffer + b,
                                              e - b);
                           });
              });
        };
        // Passes block rows [begin, end) to the callback.
        const auto start_rows = [&](const char        *from,
                                    const unsigned int begin,
                                    const unsigned int end) {
          const std::uint64_t first = I.sparsity.value_offset[begin];
          start_piece(
            from,
            (I.sparsity.value_offset[end] - first) * sizeof(Number),
            [&I, &target, begin, end, first](const char *buffer,
                                             const std::size_t) {
              const Number *const values =
                reinterpret_cast<const Number *>(buffer);
              const std::size_t average =
                (I.sparsity.value_offset[end] - first) / (end - begin) + 1;
              I.parallel(end - begin,
                         (std::size_t(1) << 15) / average + 1,
                         [&](const std::size_t b, const std::size_t e) {
                           target.store_block_rows(
                             begin + b,
                             begin + e,
                             values +
                               (I.sparsity.value_offset[begin + b] - first));
                         });
            });
        };

        // ---- chunks in slots
        const auto start = [&](const unsigned int number) {
          Pipeline::Slot &slot  = W.slot[number % n_slots];
          const Chunk    &chunk = chunks[number];
          const auto      layout =
            I.layout(chunk.begin, chunk.end, form, values_size, rhs_size);
          char *const volume  = slot.memory.data(),
                      *facets = volume + aligned(layout.volume),
                      *values = facets + aligned(layout.facets),
                      *rhs    = values + aligned(layout.values);
          if (slot.busy)
            finish_slot(slot);
          finish_upload(slot);
          // Volume tables if they are not on the device yet, padding, facet
          // tables.
          const std::size_t   gap        = rounds ? 0 : aligned(layout.volume);
          const std::uint64_t n_interior = packed_facets && rounds
                                             ? I.packed_points(false,
                                                               chunk.begin,
                                                               chunk.end)
                                             : 0,
                              n_boundary = packed_facets && rounds
                                             ? I.packed_points(true,
                                                               chunk.begin,
                                                               chunk.end)
                                             : 0;
          const std::size_t bytes        = rounds && packed_facets
                                             ? 8 * (n_interior * packed.n_interior +
                                             n_boundary * packed.n_boundary)
                                             : gap + layout.facets;
          slot.uploads = rounds || (bytes > 0 && evaluation == nullptr);
          if (slot.uploads)
            {
              slot.tables.resize(bytes);
              double *const table =
                reinterpret_cast<double *>(slot.tables.data());
              double *const packed_boundary =
                table + n_interior * packed.n_interior;
              const auto before = now();
              if (!rounds)
                tabulation.chunk(chunk,
                                 table,
                                 reinterpret_cast<double *>(slot.tables.data() +
                                                            gap));
              else if (packed_facets)
                tabulation.packed_facets(chunk, table, packed_boundary);
              else if (bytes > 0)
                tabulation.facets(chunk, table);
              times.tabulation += seconds(now() - before);
              if (slot.busy && !(rounds && packed_facets))
                check(cudaStreamWaitEvent(W.upload_stream,
                                          slot.download_end,
                                          0),
                      "the assembly on the device");
              slot.upload_begin.record(W.upload_stream);
              if (rounds && packed_facets)
                {
                  upload_arrays(table,
                                n_interior,
                                all.interior +
                                  I.packed_points(false, I.first, chunk.begin),
                                all.n_interior,
                                packed.n_interior);
                  upload_arrays(packed_boundary,
                                n_boundary,
                                all.boundary +
                                  I.packed_points(true, I.first, chunk.begin),
                                all.n_boundary,
                                packed.n_boundary);
                }
              else if (bytes > 0)
                {
                  check(cudaMemcpyAsync(rounds ? facets : volume,
                                        slot.tables.data(),
                                        bytes,
                                        cudaMemcpyHostToDevice,
                                        W.upload_stream),
                        "a copy to the device");
                  times.bytes_up += bytes;
                }
              slot.upload_end.record(W.upload_stream);
              check(cudaStreamWaitEvent(W.kernel_stream, slot.upload_end, 0),
                    "the assembly on the device");
            }
          // The former contents of the slot must have left it.
          if (slot.busy)
            check(cudaStreamWaitEvent(W.kernel_stream, slot.download_end, 0),
                  "the assembly on the device");

          Data<dim> &D         = I.D;
          D.volume_table       = reinterpret_cast<double *>(volume);
          D.facet_table        = reinterpret_cast<double *>(facets);
          D.n_volume_points    = chunk.n_volume_points;
          D.n_facet_points     = chunk.n_facet_points;
          D.first_volume_point = I.subcell_q[mesh.subcell_offset[chunk.begin]];
          D.first_facet_point =
            I.present_entry_q[mesh.polytope_interface_offset[chunk.begin]];
          // Kernels write to values + value_offset[k] - first_value.
          D.values = values_to_host ? reinterpret_cast<Number *>(values)
                                    : target.device_values;
          D.first_value =
            I.sparsity.value_offset[values_to_host ? chunk.begin : I.first];
          D.rhs =
            rhs_to_host ? reinterpret_cast<Number *>(rhs) : target.device_rhs;
          D.first_dof = mesh.dof_offset[rhs_to_host ? chunk.begin : I.first];
          D.first_polytope = chunk.begin;
          D.n_polytopes    = chunk.end - chunk.begin;

          slot.kernel_begin.record(W.kernel_stream);
          if (evaluation != nullptr)
            I.launch_tables(
              *evaluation, form, chunk, volume, facets, &slot.tabulation_clock);
          if (rounds)
            {
              slot.tabulation_clock.start(W.kernel_stream);
              if (chunk.n_volume_points > 0 && form.volume_layout.n > 0)
                {
                  PackedSources<dim> sources;
                  std::copy_n(symmetric[number] ? packed.symmetric
                                                : packed.volume,
                              form.volume_layout.n,
                              sources.array);
                  sources.f = form.f;
                  unpack_volume_kernel<dim>
                    <<<dim3((chunk.n_volume_points + 255) / 256,
                            form.volume_layout.n),
                       256,
                       0,
                       W.kernel_stream>>>(all.volume +
                                            I.volume_points(I.first,
                                                            chunk.begin),
                                          all.n_volume,
                                          sources,
                                          chunk.n_volume_points,
                                          reinterpret_cast<double *>(volume));
                }
              const unsigned int first_entry =
                                   mesh.polytope_interface_offset[chunk.begin],
                                 last_entry =
                                   mesh.polytope_interface_offset[chunk.end];
              if (packed_facets && last_entry > first_entry)
                unpack_facets_kernel<dim>
                  <<<(last_entry - first_entry + 7) / 8,
                     256,
                     0,
                     W.kernel_stream>>>(all.interior,
                                        all.n_interior,
                                        all.boundary,
                                        all.n_boundary,
                                        I.packed_q_device.data(),
                                        D.polytope_interface,
                                        D.interface_polytope,
                                        D.entry_q,
                                        first_entry,
                                        last_entry,
                                        form.facet_layout,
                                        form.continuous,
                                        chunk.n_facet_points,
                                        reinterpret_cast<double *>(facets));
              check(cudaGetLastError(), "the start of a kernel");
              slot.tabulation_clock.stop("tables", W.kernel_stream);
            }
          I.kernels->template launch<Number>(D,
                                             chunk,
                                             W.kernel_stream,
                                             slot.clock);
          slot.kernel_end.record(W.kernel_stream);
          slot.busy = true;
        };

        const auto download = [&](const unsigned int number) {
          Pipeline::Slot &slot  = W.slot[number % n_slots];
          const Chunk    &chunk = chunks[number];
          const auto      layout =
            I.layout(chunk.begin, chunk.end, form, values_size, rhs_size);
          const char *const values = slot.memory.data() +
                                     aligned(layout.volume) +
                                     aligned(layout.facets),
                            *rhs = values + aligned(layout.values);
          check(cudaStreamWaitEvent(W.download_stream, slot.kernel_end, 0),
                "the assembly on the device");
          if (values_to_host && target.store_block_rows)
            for (unsigned int k = chunk.begin; k < chunk.end;)
              {
                const std::uint64_t first = I.sparsity.value_offset[k];
                const auto          end =
                  std::upper_bound(I.sparsity.value_offset.begin() + k + 2,
                                   I.sparsity.value_offset.begin() + chunk.end +
                                     1,
                                   first + piece_size / sizeof(Number));
                const unsigned int k_end = static_cast<unsigned int>(
                  end - I.sparsity.value_offset.begin() - 1);
                start_rows(values +
                             (first - I.sparsity.value_offset[chunk.begin]) *
                               sizeof(Number),
                           k,
                           k_end);
                k = k_end;
              }
          else if (values_to_host)
            start_array(number,
                        slot.kernel_end,
                        values,
                        reinterpret_cast<char *>(
                          target.host_values +
                          (I.sparsity.value_offset[chunk.begin] -
                           I.sparsity.value_offset[I.first])),
                        layout.values);
          if (rhs_to_host)
            start_array(number,
                        slot.kernel_end,
                        rhs,
                        reinterpret_cast<char *>(target.host_rhs +
                                                 (mesh.dof_offset[chunk.begin] -
                                                  mesh.dof_offset[I.first])),
                        layout.rhs);
          slot.download_end.record(W.download_stream);
        };

        // Waits until the workers have copied the results of a chunk.
        double     last_arrival = 0.; // seconds since the start
        const auto finish_chunk = [&](const unsigned int number) {
          const double arrival =
                         seconds(W.download.finish(number) - start_time),
                       begin =
                         std::max(last_arrival,
                                  W.slot[number % n_slots].kernel_end.since(
                                    W.start));
          if (arrival > begin)
            {
              times.download += arrival - begin;
              busy.emplace_back(begin, arrival);
              last_arrival = arrival;
            }
        };

        try
          {
            if (rounds)
              send_volumes();
            // A chunk is computed while the results of the preceding one are
            // copied.
            for (unsigned int c = 0; c < chunks.size(); ++c)
              {
                if (by_workers && n_slots == 1 && c > 0)
                  finish_chunk(c - 1);
                start(c);
                if (by_workers)
                  {
                    // Workers may begin with this chunk once the preceding one
                    // is finished.
                    download(c);
                    if (n_slots > 1 && c > 0)
                      finish_chunk(c - 1);
                  }
                else if (n_slots == 1)
                  download(c);
                else if (c > 0)
                  download(c - 1);
              }
            if (by_workers && !chunks.empty())
              finish_chunk(chunks.size() - 1);
            else if (n_slots > 1)
              download(chunks.size() - 1);
            while (n_finished < n_started)
              finish_piece();
            for (unsigned int s = 0; s < n_slots; ++s)
              finish_slot(W.slot[s]);
            if (device_penalty)
              {
                const double before = times.kernels;
                note(I.penalty_begin, I.penalty_end, times.kernels);
                times.add_kernel("penalty", times.kernels - before);
              }
            if (evaluation != nullptr)
              I.check_points(*evaluation,
                             form,
                             chunks,
                             W.slot[0].memory.data());
          }
        catch (...)
          {
            // No copy may still write to the buffers.
            cudaStreamSynchronize(W.upload_stream);
            cudaStreamSynchronize(W.kernel_stream);
            cudaStreamSynchronize(W.download_stream);
            W.download.cancel();
            cudaGetLastError();
            throw;
          }

        // ---- time in which the device was idle
        times.loop = times.idle = seconds(now() - start_time);
        std::sort(busy.begin(), busy.end());
        double end = 0.;
        for (const auto &interval : busy)
          {
            times.idle -=
              std::max(0., interval.second - std::max(end, interval.first));
            end = std::max(end, interval.second);
          }
        return times;
      }



      template class Assembler<2>;
      template class Assembler<3>;
      template class Assembler<4>;
      template Times
      Assembler<2>::assemble(const FormData<2> &,
                             const Penalty &,
                             const Tabulation &,
                             const Target<double> &,
                             const Evaluation<2> *);
      template Times
      Assembler<3>::assemble(const FormData<3> &,
                             const Penalty &,
                             const Tabulation &,
                             const Target<double> &,
                             const Evaluation<3> *);
      template Times
      Assembler<4>::assemble(const FormData<4> &,
                             const Penalty &,
                             const Tabulation &,
                             const Target<double> &,
                             const Evaluation<4> *);
      template Times
      Assembler<2>::assemble(const FormData<2> &,
                             const Penalty &,
                             const Tabulation &,
                             const Target<float> &,
                             const Evaluation<2> *);
      template Times
      Assembler<3>::assemble(const FormData<3> &,
                             const Penalty &,
                             const Tabulation &,
                             const Target<float> &,
                             const Evaluation<3> *);
      template Times
      Assembler<4>::assemble(const FormData<4> &,
                             const Penalty &,
                             const Tabulation &,
                             const Target<float> &,
                             const Evaluation<4> *);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
