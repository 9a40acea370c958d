// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <cmath>

#include "assembly.h"
#include "kernels.h"
#include "memory.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_slots = 2;
        /// Doubles of a chunk's values and tables: large enough to fill the
        /// device, small enough to overlap copies.
        constexpr std::uint64_t chunk_size = 1ull << 25;

        void
        upload_recurrence()
        {
          double table[3][11];
          for (unsigned int n = 0; n <= 10; ++n)
            {
              table[0][n] = (2. * n + 1.) / (n + 1.);
              table[1][n] = n / (n + 1.);
              table[2][n] = std::sqrt(2. * n + 1.);
            }
          check(cudaMemcpyToSymbol(recurrence, table, sizeof(table)),
                "a copy to the device");
        }
      } // namespace



      unsigned int
      n_devices()
      {
        int n = 0;
        if (cudaGetDeviceCount(&n) != cudaSuccess)
          {
            cudaGetLastError();
            return 0;
          }
        return n;
      }



      std::string
      device_name()
      {
        int            device = 0;
        cudaDeviceProp properties;
        check(cudaGetDevice(&device), "the choice of a device");
        check(cudaGetDeviceProperties(&properties, device),
              "the choice of a device");
        return std::string(properties.name) + ", compute capability " +
               std::to_string(properties.major) + "." +
               std::to_string(properties.minor);
      }



      template <int dim>
      struct Assembler<dim>::Implementation
      {
        Implementation(const PolytopicMesh<dim>         &mesh,
                       const BlockSparsity              &sparsity,
                       const RuleTables                 &rules,
                       const std::vector<unsigned char> &exponents,
                       const Parallel                   &parallel)
          : mesh(mesh)
          , sparsity(sparsity)
          , rules(rules)
          , exponents_host(exponents)
          , parallel(parallel)
        {}

        // Everything that does not depend on the form.
        void
        upload()
        {
          upload_recurrence();
          const unsigned int n = mesh.n_polytopes();
          max_degree =
            *std::max_element(mesh.degree.begin(), mesh.degree.end());
          max_basis =
            *std::max_element(mesh.n_basis.begin(), mesh.n_basis.end());
          const unsigned int min_basis =
            *std::min_element(mesh.n_basis.begin(), mesh.n_basis.end());

          // ---- numbers of points
          subcell_q.assign(1, 0);
          subcell_q.reserve(mesh.n_subcells() + 1);
          for (unsigned int k = 0; k < n; ++k)
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              {
                const unsigned int type =
                  static_cast<unsigned int>(mesh.subcell_type[s]);
                const unsigned int n_points =
                  type == 3 ? mesh.subcell_point_offset[s + 1] -
                                mesh.subcell_point_offset[s]
                            : rules.subcell[type][mesh.degree[k]].n_points;
                subcell_q.push_back(subcell_q.back() + n_points);
              }
          facet_q.assign(1, 0);
          facet_q.reserve(mesh.n_facets() + 1);
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            {
              unsigned int degree = mesh.degree[mesh.interface_polytope[2 * i]];
              if (mesh.interface_polytope[2 * i + 1] != invalid_index)
                degree =
                  std::max(degree,
                           mesh.degree[mesh.interface_polytope[2 * i + 1]]);
              for (unsigned int f = mesh.facet_offset[i];
                   f < mesh.facet_offset[i + 1];
                   ++f)
                {
                  const unsigned int type =
                    static_cast<unsigned int>(mesh.facet_type[f]);
                  const unsigned int n_points =
                    type == 2 ? mesh.facet_point_offset[f + 1] -
                                  mesh.facet_point_offset[f]
                              : rules.facet[type][degree].n_points;
                  facet_q.push_back(facet_q.back() + n_points);
                }
            }

          // ---- blocks
          const std::size_t         n_blocks = sparsity.block_column.size();
          std::vector<unsigned int> row(n_blocks), entry(n_blocks);
          for (unsigned int k = 0; k < n; ++k)
            {
              unsigned int       e   = mesh.polytope_interface_offset[k];
              const unsigned int end = mesh.polytope_interface_offset[k + 1];
              for (std::uint64_t b = sparsity.block_offset[k];
                   b < sparsity.block_offset[k + 1];
                   ++b)
                {
                  while (e < end && mesh.neighbor(mesh.polytope_interface[e]) <
                                      sparsity.block_column[b])
                    ++e;
                  row[b]   = k;
                  entry[b] = e;
                }
            }

          // ---- which kernel
          uniform = (min_basis == max_basis);
          if (max_basis <= 16)
            tile_m = tile_n = max_basis <= 8 ? 1 : 2;
          else if (!uniform)
            tile_m = tile_n = 4;
          else
            {
              tile_m = tile_n = (max_basis + 7) / 8;
              if (tile_m == 7)
                tile_m = 4;
              else if (tile_m > 5)
                tile_m = tile_n = 4;
            }
          if (!uniform)
            {
              std::vector<std::uint64_t> list;
              tile_begin.assign(1, 0);
              for (unsigned int k = 0; k < n; ++k)
                {
                  for (std::uint64_t b = sparsity.block_offset[k];
                       b < sparsity.block_offset[k + 1];
                       ++b)
                    {
                      const unsigned int
                        n_m = n_tiles(mesh.n_basis[k], tile_m),
                        n_n = n_tiles(mesh.n_basis[sparsity.block_column[b]],
                                      tile_n);
                      for (unsigned int i = 0; i < n_m; ++i)
                        for (unsigned int j = 0; j < n_n; ++j)
                          list.push_back(b << 16 | i << 8 | j);
                    }
                  tile_begin.push_back(list.size());
                }
              copy(D.tiles, tiles, list);
            }

          // ---- copies
          copy(D.box, box, mesh.box);
          std::vector<double> map;
          map.reserve(4 * dim * n);
          for (unsigned int k = 0; k < n; ++k)
            for (unsigned int d = 0; d < dim; ++d)
              {
                const double lower = mesh.box[2 * dim * k + d],
                             upper = mesh.box[2 * dim * k + dim + d];
                const double scale = 2. / (upper - lower),
                             value = std::sqrt(1. / (upper - lower));
                for (const double entry :
                     {0.5 * (lower + upper), scale, value, value * scale})
                  map.push_back(entry);
              }
          copy(D.box_map, box_map, map);
          copy(D.degree, degree, mesh.degree);
          copy(D.n_basis, n_basis, mesh.n_basis);
          copy(D.dof_offset, dof_offset, mesh.dof_offset);
          copy(D.subcell_offset, subcell_offset, mesh.subcell_offset);
          copy(D.polytope_interface_offset,
               polytope_interface_offset,
               mesh.polytope_interface_offset);
          copy(D.polytope_interface,
               polytope_interface,
               mesh.polytope_interface);
          copy(D.subcell_type, subcell_type, mesh.subcell_type);
          copy(D.subcell_vertex_offset,
               subcell_vertex_offset,
               mesh.subcell_vertex_offset);
          copy(D.subcell_vertices, subcell_vertices, mesh.subcell_vertices);
          copy(D.subcell_point_offset,
               subcell_point_offset,
               mesh.subcell_point_offset);
          copy(D.subcell_points, subcell_points, mesh.subcell_points);
          copy(D.subcell_point_weights,
               subcell_point_weights,
               mesh.subcell_point_weights);
          copy(D.interface_polytope,
               interface_polytope,
               mesh.interface_polytope);
          copy(D.interface_shift, interface_shift, mesh.interface_shift);
          copy(D.facet_offset, facet_offset, mesh.facet_offset);
          copy(D.shift, shift, mesh.shift);
          copy(D.facet_type, facet_type, mesh.facet_type);
          copy(D.facet_vertex_offset,
               facet_vertex_offset,
               mesh.facet_vertex_offset);
          copy(D.facet_vertices, facet_vertices, mesh.facet_vertices);
          copy(D.facet_normal, facet_normal, mesh.facet_normal);
          copy(D.facet_measure, facet_measure, mesh.facet_measure);
          copy(D.facet_point_offset,
               facet_point_offset,
               mesh.facet_point_offset);
          copy(D.facet_points, facet_points, mesh.facet_points);
          copy(D.facet_point_normals,
               facet_point_normals,
               mesh.facet_point_normals);
          copy(D.facet_point_weights,
               facet_point_weights,
               mesh.facet_point_weights);
          copy(D.block_offset, block_offset, sparsity.block_offset);
          copy(D.value_offset, value_offset, sparsity.value_offset);
          copy(D.block_column, block_column, sparsity.block_column);
          copy(D.column_offset, column_offset, sparsity.column_offset);
          copy(D.row_width, row_width, sparsity.row_width);
          copy(D.subcell_q, subcell_q_array, subcell_q);
          copy(D.facet_q, facet_q_array, facet_q);
          copy(D.block_row, block_row, row);
          copy(D.block_entry, block_entry, entry);
          copy(D.rules, rule_data, rules.data);
          copy(D.exponents, exponents, exponents_host);
          for (unsigned int p = 0; p <= 10; ++p)
            {
              for (unsigned int t = 0; t < 3; ++t)
                D.subcell_rule[t][p] = rules.subcell[t][p];
              for (unsigned int t = 0; t < 2; ++t)
                D.facet_rule[t][p] = rules.facet[t][p];
            }
          D.table_stride = (dim * (max_degree + 1)) | 1u;
          uploaded       = true;
        }

        static unsigned int
        n_tiles(const unsigned int n, const unsigned int tile)
        {
          return (n + 8 * tile - 1) / (8 * tile);
        }

        template <typename Number>
        static void
        copy(const Number             *&pointer,
             Array<Number>             &array,
             const std::vector<Number> &values)
        {
          array   = Array<Number>(values);
          pointer = array.data();
        }

        // Tabulated facet points before each entry of polytope_interface.
        void
        count_facet_points(const bool boundary_only)
        {
          entry_q.assign(1, 0);
          entry_q.reserve(mesh.polytope_interface.size() + 1);
          for (const unsigned int code : mesh.polytope_interface)
            {
              const unsigned int i = code / 2;
              const bool         tabulated =
                !boundary_only || mesh.neighbor(code) == invalid_index;
              entry_q.push_back(entry_q.back() +
                                (tabulated ? facet_q[mesh.facet_offset[i + 1]] -
                                               facet_q[mesh.facet_offset[i]]
                                           : 0));
            }
          copy(D.entry_q, entry_q_array, entry_q);
        }

        Chunk
        next_chunk(const unsigned int begin, const FormData<dim> &form) const
        {
          const unsigned int n     = mesh.n_polytopes();
          Chunk              chunk = {begin, begin, 0, 0};
          while (chunk.end < n)
            {
              const unsigned int  k = chunk.end;
              const std::uint64_t volume =
                subcell_q[mesh.subcell_offset[k + 1]] -
                subcell_q[mesh.subcell_offset[begin]];
              const std::uint64_t facets =
                entry_q[mesh.polytope_interface_offset[k + 1]] -
                entry_q[mesh.polytope_interface_offset[begin]];
              const std::uint64_t values =
                sparsity.value_offset[k + 1] - sparsity.value_offset[begin];
              if (chunk.end > begin && ((form.matrix && values > chunk_size) ||
                                        volume * form.volume_layout.n +
                                            facets * form.facet_layout.n >
                                          chunk_size))
                break;
              chunk.n_volume_points = volume;
              chunk.n_facet_points  = facets;
              ++chunk.end;
            }
          return chunk;
        }

        template <int TM, int TN, bool one_tile>
        void
        launch(const Chunk &chunk, const cudaStream_t stream)
        {
          const std::size_t shared = shared_memory();
          // Degrees vary, and the tiles are in a list; this has kernels for
          // few tile sizes.
          if (TM == TN && !one_tile && !uniform)
            {
              constexpr int T = one_tile ? 4 : TM;
              D.first_unit    = tile_begin[chunk.begin];
              const std::uint64_t n =
                tile_begin[chunk.end] - tile_begin[chunk.begin];
              block_kernel<dim, T, T, Units::listed>
                <<<static_cast<unsigned int>(n), 32, shared, stream>>>(D);
            }
          else if (TM <= 2)
            block_kernel<dim, TM, TN, (TM <= 2 ? Units::rows : Units::blocks)>
              <<<chunk.end - chunk.begin, 32, shared, stream>>>(D);
          else
            {
              D.tiles_m    = n_tiles(max_basis, TM);
              D.tiles_n    = n_tiles(max_basis, TN);
              D.first_unit = sparsity.block_offset[chunk.begin];
              const std::uint64_t n =
                (D.n_polytopes + sparsity.block_offset[chunk.end] -
                 sparsity.block_offset[chunk.begin]) *
                D.tiles_m * D.tiles_n;
              block_kernel<dim, TM, TN, (TM <= 2 ? Units::rows : Units::blocks)>
                <<<static_cast<unsigned int>(n), 32, shared, stream>>>(D);
            }
          check(cudaGetLastError(), "the start of a kernel");
        }

        std::size_t
        shared_memory() const
        {
          return 2 * batch * D.table_stride * sizeof(double2) +
                 16 * batch * sizeof(double);
        }

        void
        launch(const Chunk &chunk, const cudaStream_t stream)
        {
          if (D.form.matrix)
            switch (10 * tile_m + tile_n)
              {
                case 11:
                  launch<1, 1, false>(chunk, stream);
                  break;
                case 22:
                  launch<2, 2, false>(chunk, stream);
                  break;
                case 33:
                  launch<3, 3, true>(chunk, stream);
                  break;
                case 55:
                  launch<5, 5, true>(chunk, stream);
                  break;
                case 47:
                  launch<4, 7, true>(chunk, stream);
                  break;
                default:
                  launch<4, 4, false>(chunk, stream);
              }
          if (D.form.rhs)
            {
              const std::size_t shared = shared_memory();
              rhs_kernel<dim>
                <<<dim3(chunk.end - chunk.begin, (max_basis + 63) / 64),
                   32,
                   shared,
                   stream>>>(D);
              check(cudaGetLastError(), "the start of a kernel");
            }
        }

        const PolytopicMesh<dim>        &mesh;
        const BlockSparsity             &sparsity;
        const RuleTables                 rules;
        const std::vector<unsigned char> exponents_host;
        const Parallel                   parallel;
        bool                             uploaded = false, uniform = true;
        unsigned int max_degree = 0, max_basis = 0, tile_m = 1, tile_n = 1;
        std::vector<std::uint64_t> subcell_q, facet_q, entry_q, tile_begin;

        Data<dim>            D = {};
        Array<double>        box, box_map, subcell_vertices, subcell_points;
        Array<double>        subcell_point_weights, shift, facet_vertices;
        Array<double>        facet_normal, facet_measure, facet_points;
        Array<double>        facet_point_normals, facet_point_weights;
        Array<double>        rule_data, sigma;
        Array<unsigned int>  degree, n_basis, subcell_offset;
        Array<unsigned int>  polytope_interface_offset, polytope_interface;
        Array<unsigned int>  subcell_vertex_offset, subcell_point_offset;
        Array<unsigned int>  interface_polytope, interface_shift, facet_offset;
        Array<unsigned int>  facet_vertex_offset, facet_point_offset;
        Array<unsigned int>  block_column, column_offset, row_width;
        Array<unsigned int>  block_row, block_entry;
        Array<SubCellType>   subcell_type;
        Array<FacetType>     facet_type;
        Array<std::uint64_t> dof_offset, block_offset, value_offset;
        Array<std::uint64_t> subcell_q_array, facet_q_array, entry_q_array;
        Array<std::uint64_t> tiles;
        Array<unsigned char> exponents;

        struct Slot
        {
          Chunk               chunk;
          Array<double>       volume, facets, values, rhs;
          Array<double, true> host_volume, host_facets, host_values, host_rhs;
          Event upload_begin, upload_end, kernel_begin, kernel_end,
            download_begin, download_end;
        };
        std::unique_ptr<Slot> slot[n_slots];
        Stream                upload_stream, kernel_stream, download_stream;
      };



      template <int dim>
      Assembler<dim>::Assembler(const PolytopicMesh<dim>         &mesh,
                                const BlockSparsity              &sparsity,
                                const RuleTables                 &rules,
                                const std::vector<unsigned char> &exponents,
                                const Parallel                   &parallel)
        : implementation(std::make_unique<Implementation>(
            mesh, sparsity, rules, exponents, parallel))
      {
        implementation->upload();
      }



      template <int dim>
      Assembler<dim>::~Assembler() = default;



      template <int dim>
      const std::vector<std::uint64_t> &
      Assembler<dim>::subcell_points() const
      {
        return implementation->subcell_q;
      }



      template <int dim>
      const std::vector<std::uint64_t> &
      Assembler<dim>::entry_points() const
      {
        return implementation->entry_q;
      }



      template <int dim>
      template <typename Number>
      Times
      Assembler<dim>::assemble(
        const FormData<dim>                                          &form,
        const std::vector<double>                                    &sigma,
        const std::function<void(const Chunk &, double *, double *)> &tabulate,
        const Target<Number>                                         &target)
      {
        Implementation           &I    = *implementation;
        const PolytopicMesh<dim> &mesh = I.mesh;
        Times                     times;
        times.kernel =
          "blocks of " + std::to_string(8 * I.tile_m) + " x " +
          std::to_string(8 * I.tile_n) +
          (I.uniform && I.tile_n * 8 >= I.max_basis ? " (specialised)"
                                                    : " (general)");
        I.D.form = form;
        I.count_facet_points(form.constant_facets);
        if (form.constant_facets)
          I.copy(I.D.sigma, I.sigma, sigma);
        using Slot = typename Implementation::Slot;
        const bool values_to_host =
                     form.matrix && target.device_values == nullptr,
                   rhs_to_host = form.rhs && target.device_rhs == nullptr;

        const auto finish = [&](Slot &slot) {
          slot.download_end.wait();
          times.kernels += slot.kernel_end.since(slot.kernel_begin);
          times.upload += slot.upload_end.since(slot.upload_begin);
          times.download += slot.download_end.since(slot.download_begin);
          const Chunk        &chunk   = slot.chunk;
          const std::uint64_t first   = I.sparsity.value_offset[chunk.begin];
          const unsigned int  average = static_cast<unsigned int>(
            (I.sparsity.value_offset[chunk.end] - first) /
              (chunk.end - chunk.begin) +
            1);
          if (values_to_host)
            I.parallel(chunk.end - chunk.begin,
                       (1u << 15) / average + 1,
                       [&](const std::size_t from, const std::size_t to) {
                         const unsigned int begin = chunk.begin + from,
                                            end   = chunk.begin + to;
                         const std::uint64_t v = I.sparsity.value_offset[begin];
                         const Number       *values =
                           slot.host_values.data() + (v - first);
                         if (target.store_block_rows)
                           target.store_block_rows(begin, end, values);
                         else
                           std::copy(values,
                                     values +
                                       (I.sparsity.value_offset[end] - v),
                                     target.host_values + v);
                       });
          if (rhs_to_host)
            std::copy(slot.host_rhs.data(),
                      slot.host_rhs.data() + (mesh.dof_offset[chunk.end] -
                                              mesh.dof_offset[chunk.begin]),
                      target.host_rhs + mesh.dof_offset[chunk.begin]);
        };

        const auto start = [&](Slot &slot, const Chunk &chunk) {
          slot.chunk = chunk;
          const std::size_t n_volume =
                              chunk.n_volume_points * form.volume_layout.n,
                            n_facets =
                              chunk.n_facet_points * form.facet_layout.n;
          const std::size_t n_values =
            values_to_host ? I.sparsity.value_offset[chunk.end] -
                               I.sparsity.value_offset[chunk.begin]
                           : 0;
          const std::size_t n_rhs = rhs_to_host ? mesh.dof_offset[chunk.end] -
                                                    mesh.dof_offset[chunk.begin]
                                                : 0;
          slot.host_volume.resize(n_volume);
          slot.host_facets.resize(n_facets);
          slot.host_values.resize(n_values);
          slot.host_rhs.resize(n_rhs);
          slot.volume.resize(n_volume);
          slot.facets.resize(n_facets);
          slot.values.resize(n_values);
          slot.rhs.resize(n_rhs);

          if (n_volume + n_facets > 0)
            tabulate(chunk, slot.host_volume.data(), slot.host_facets.data());
          slot.upload_begin.record(I.upload_stream);
          const auto copy = [](double            *to,
                               const double      *from,
                               const std::size_t  n,
                               const cudaStream_t stream) {
            if (n > 0)
              check(cudaMemcpyAsync(
                      to, from, n * sizeof(double), cudaMemcpyDefault, stream),
                    "a copy between host and device");
          };
          copy(slot.volume.data(),
               slot.host_volume.data(),
               n_volume,
               I.upload_stream);
          copy(slot.facets.data(),
               slot.host_facets.data(),
               n_facets,
               I.upload_stream);
          slot.upload_end.record(I.upload_stream);

          Data<dim> &D         = I.D;
          D.volume_table       = slot.volume.data();
          D.facet_table        = slot.facets.data();
          D.n_volume_points    = chunk.n_volume_points;
          D.n_facet_points     = chunk.n_facet_points;
          D.first_volume_point = I.subcell_q[mesh.subcell_offset[chunk.begin]];
          D.first_facet_point =
            I.entry_q[mesh.polytope_interface_offset[chunk.begin]];
          // Kernels write to values + value_offset[k] - first_value.
          D.values      = slot.values.data();
          D.rhs         = slot.rhs.data();
          D.first_value = I.sparsity.value_offset[chunk.begin];
          D.first_dof   = mesh.dof_offset[chunk.begin];
          if (form.matrix && !values_to_host)
            {
              D.values      = target.device_values;
              D.first_value = 0;
            }
          if (form.rhs && !rhs_to_host)
            {
              D.rhs       = target.device_rhs;
              D.first_dof = 0;
            }
          D.first_polytope = chunk.begin;
          D.n_polytopes    = chunk.end - chunk.begin;

          check(cudaStreamWaitEvent(I.kernel_stream, slot.upload_end, 0),
                "the assembly on the device");
          slot.kernel_begin.record(I.kernel_stream);
          I.launch(chunk, I.kernel_stream);
          slot.kernel_end.record(I.kernel_stream);

          check(cudaStreamWaitEvent(I.download_stream, slot.kernel_end, 0),
                "the assembly on the device");
          slot.download_begin.record(I.download_stream);
          copy(slot.host_values.data(),
               slot.values.data(),
               n_values,
               I.download_stream);
          copy(slot.host_rhs.data(), slot.rhs.data(), n_rhs, I.download_stream);
          slot.download_end.record(I.download_stream);
          times.bytes_up += 8. * (n_volume + n_facets);
          times.bytes_down += 8. * (n_values + n_rhs);
        };

        try
          {
            // One chunk is computed while the one before is stored.
            Slot        *previous = nullptr;
            unsigned int number   = 0;
            for (unsigned int k = 0; k < mesh.n_polytopes(); ++number)
              {
                const Chunk chunk = I.next_chunk(k, form);
                auto       &slot  = I.slot[number % n_slots];
                if (slot == nullptr)
                  slot = std::make_unique<Slot>();
                start(*slot, chunk);
                if (previous != nullptr)
                  finish(*previous);
                previous = slot.get();
                k        = chunk.end;
              }
            if (previous != nullptr)
              finish(*previous);
            check(cudaStreamSynchronize(I.kernel_stream),
                  "the assembly on the device");
          }
        catch (...)
          {
            // Nothing may still write to buffers.
            cudaStreamSynchronize(I.upload_stream);
            cudaStreamSynchronize(I.kernel_stream);
            cudaStreamSynchronize(I.download_stream);
            cudaGetLastError();
            throw;
          }
        return times;
      }



      template class Assembler<2>;
      template class Assembler<3>;
      template Times
      Assembler<2>::assemble(
        const FormData<2> &,
        const std::vector<double> &,
        const std::function<void(const Chunk &, double *, double *)> &,
        const Target<double> &);
      template Times
      Assembler<3>::assemble(
        const FormData<3> &,
        const std::vector<double> &,
        const std::function<void(const Chunk &, double *, double *)> &,
        const Target<double> &);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
