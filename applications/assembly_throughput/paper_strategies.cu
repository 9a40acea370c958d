// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <cub/cub.cuh>
#include <mutex>
#include <string>
#include <thrust/iterator/counting_iterator.h>
#include <utility>

#include "../../cuda/device/memory.h"
#include "../../cuda/grid/device_mesh.h"
#include "paper_kernels.h"
#include "paper_strategies.h"

namespace Tessella
{
  namespace Application
  {
    using namespace internal::Device;
    using namespace PaperKernels;

    namespace
    {
      /// Maximal number of doubles that are staged in pinned memory at once.
      constexpr std::uint64_t max_staging_size = 1ull << 24;
      /// Maximal number of triples that are sorted at once.
      constexpr std::uint64_t max_triples = (1ull << 31) - 1;

      unsigned int
      n_blocks(const std::uint64_t n_threads, const unsigned int size)
      {
        return static_cast<unsigned int>((n_threads + size - 1) / size);
      }

      double
      seconds_since(const std::chrono::steady_clock::time_point &begin)
      {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                             begin)
          .count();
      }

      std::string
      megabytes(const double bytes)
      {
        return std::to_string(static_cast<std::uint64_t>(
                 std::max(0., bytes) * 1e-6 + 0.999999)) +
               " MB";
      }
    } // namespace



    template <int dim>
    struct PaperAssembler<dim>::Implementation : public PaperInput<dim>
    {
      explicit Implementation(const PaperInput<dim> &input)
        : PaperInput<dim>(input)
        , triples(strategy == AssemblyStrategy::coordinate_sort)
      {}

      using PaperInput<dim>::strategy;
      using PaperInput<dim>::mesh;
      using PaperInput<dim>::dofs;
      using PaperInput<dim>::sparsity;
      using PaperInput<dim>::rules;
      using PaperInput<dim>::exponents;
      using PaperInput<dim>::parallel;
      using PaperInput<dim>::memory;

      /// Simplices of one degree, which a single launch processes.
      struct Group
      {
        unsigned int       begin, n; // range in the list
        unsigned int       degree, n_functions;
        SimplexRules::Rule rule;
        std::uint64_t      first_triple = 0; // of the matrix
        std::uint64_t      table        = 0; // index of the first value
        int                n_sides      = 1; // number of sides with tables
      };

      struct Part
      {
        unsigned int  begin, end;
        std::uint64_t n_triples; // upper bound
      };

      enum Kind
      {
        elements,
        interior,
        boundary
      };

      template <typename Number>
      void
      copy(Array<Number> &array, const std::vector<Number> &values)
      {
        mesh_memory -= array.size() * sizeof(Number);
        array = Array<Number>(values);
        mesh_memory += array.size() * sizeof(Number);
      }

      template <typename Number>
      void
      copy(const Number             *&pointer,
           Array<Number>             &array,
           const std::vector<Number> &values)
      {
        copy(array, values);
        pointer = array.data();
      }

      unsigned int
      facet_functions(const unsigned int interface) const
      {
        const unsigned int j = mesh.interface_polytope[2 * interface + 1];
        const unsigned int n =
          dofs.n_basis[mesh.interface_polytope[2 * interface]];
        return j == invalid_index ? n : std::max(n, dofs.n_basis[j]);
      }

      // Uploads everything that does not depend on the form or a part.
      void
      upload()
      {
        column_bits = 1;
        while ((1ull << column_bits) <= dofs.dof_offset.back())
          ++column_bits;
        A.column_bits = column_bits;
        copy(rule_data, rules.data);
        upload_numbers();
        upload_boxes();
        upload_mesh();
      }

      // Numbers of points, polytopes of sub-cells, interfaces of facets and
      // entries of interfaces.
      void
      upload_numbers()
      {
        subcell_q.assign(1, 0);
        subcell_q.reserve(mesh.n_subcells() + 1);
        std::vector<unsigned int> polytope(mesh.n_subcells()),
          interface(mesh.n_facets());
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1];
               ++s)
            {
              polytope[s] = k;
              subcell_q.push_back(subcell_q.back() +
                                  rules.subcell[dofs.degree[k]].n_points);
            }
        for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
          std::fill(interface.begin() + mesh.facet_offset[i],
                    interface.begin() + mesh.facet_offset[i + 1],
                    i);
        entry_of_side.assign(2 * std::size_t(mesh.n_interfaces()),
                             invalid_index);
        for (unsigned int e = 0; e < mesh.polytope_interface.size(); ++e)
          entry_of_side[mesh.polytope_interface[e]] = e;
        copy(A.subcell_polytope, subcell_polytope, polytope);
        copy(A.facet_interface, facet_interface, interface);
        copy(interface_entry, entry_of_side);
        copy(subcell_q_array, subcell_q);
      }

      // Maps to bounding boxes, see Arguments::box.
      void
      upload_boxes()
      {
        std::vector<double> map;
        map.reserve((2 * dim + 1) * std::size_t(mesh.n_polytopes()));
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          {
            double factor = 1.;
            for (unsigned int d = 0; d < dim; ++d)
              {
                const double lower = mesh.box[2 * dim * k + d],
                             upper = mesh.box[2 * dim * k + dim + d];
                map.push_back(0.5 * (lower + upper));
                map.push_back(2. / (upper - lower));
                factor *= std::sqrt(1. / (upper - lower));
              }
            map.push_back(factor);
          }
        copy(A.box, box, map);
      }

      // The mesh, the space on it, and the structure of the matrix.
      void
      upload_mesh()
      {
        device_mesh = DeviceMesh<dim>::share(mesh);
        space       = std::make_unique<DeviceSpace>(dofs);
        mesh_memory += device_mesh->memory() + space->memory();
        const MeshArrays<dim> &M = device_mesh->arrays();
        A.subcell_vertices       = M.subcell_vertices;
        A.facet_vertices         = M.facet_vertices;
        A.facet_normal           = M.facet_normal;
        A.facet_measure          = M.facet_measure;
        A.shift                  = M.shift;
        A.interface_polytope     = M.interface_polytope;
        A.interface_shift        = M.interface_shift;
        A.n_basis                = space->arrays().n_basis;
        A.dof_offset = blocks.dof_offset = space->arrays().dof_offset;
        copy(A.value_offset, value_offset, sparsity.value_offset);
        copy(A.row_width, row_width, sparsity.row_width);
        copy(blocks.block_offset, block_offset, sparsity.block_offset);
        copy(blocks.block_column, block_column, sparsity.block_column);
        copy(blocks.column_offset, column_offset, sparsity.column_offset);
        blocks.value_offset = A.value_offset;
        blocks.row_width    = A.row_width;
      }

      // All assemblers of the process share the constant memory.
      void
      upload_constants()
      {
        double table[121] = {};
        table[0]          = 1.;
        table[12]         = 1.;
        for (unsigned int n = 1; n < 10; ++n)
          for (unsigned int m = 0; m <= n + 1; ++m)
            table[11 * (n + 1) + m] =
              ((2. * n + 1.) * (m > 0 ? table[11 * n + m - 1] : 0.) -
               n * table[11 * (n - 1) + m]) /
              (n + 1.);
        for (unsigned int n = 0; n <= 10; ++n)
          for (unsigned int m = 0; m <= n; ++m)
            table[11 * n + m] *= std::sqrt(2. * n + 1.);
        check(cudaMemcpyToSymbolAsync(polynomials,
                                      table,
                                      sizeof(table),
                                      0,
                                      cudaMemcpyHostToDevice,
                                      stream),
              "a copy to the device");
        std::vector<uchar4> list(exponents.size() / dim);
        for (std::size_t i = 0; i < list.size(); ++i)
          list[i] = make_uchar4(exponents[dim * i],
                                exponents[dim * i + 1],
                                dim == 3 ? exponents[dim * i + dim - 1] : 0,
                                0);
        check(cudaMemcpyToSymbolAsync(functions,
                                      list.data(),
                                      list.size() * sizeof(uchar4),
                                      0,
                                      cudaMemcpyHostToDevice,
                                      stream),
              "a copy to the device");
        check(cudaStreamSynchronize(stream), "a copy to the device");
      }

      void
      count_facet_points(const FormData<dim> &form)
      {
        entry_q.assign(1, 0);
        entry_q.reserve(mesh.polytope_interface.size() + 1);
        for (const unsigned int code : mesh.polytope_interface)
          {
            const unsigned int i = code / 2;
            const bool         tabulated =
              !form.constant_facets || mesh.neighbor(code) == invalid_index;
            entry_q.push_back(
              entry_q.back() +
              (tabulated
                 ? std::uint64_t(mesh.facet_offset[i + 1] -
                                 mesh.facet_offset[i]) *
                     rules.facet[interface_degree(mesh, dofs, i)].n_points
                 : 0));
          }
      }

      // ---- parts

      std::vector<Part>
      make_parts(const FormData<dim>  &form,
                 const Target<double> &target,
                 const double          available) const
      {
        // Bytes of a matrix entry, not counting its triples.
        const std::uint64_t entry_bytes = !form.matrix                      ? 0
                                          : target.device_values == nullptr ? 12
                                                                            : 4;
        std::vector<Part>   parts;
        const unsigned int  n = mesh.n_polytopes();
        for (unsigned int k = 0; k < n;)
          {
            Part   part  = {k, k, 0};
            double bytes = 0.;
            for (; k < n; ++k)
              {
                std::uint64_t n_triples = 0;
                const double  n_tables =
                  double(form.volume_layout.n) *
                    (subcell_q[mesh.subcell_offset[k + 1]] -
                     subcell_q[mesh.subcell_offset[k]]) +
                  // Factor 2, because the part also holds the tables of the
                  // other side.
                  2. * form.facet_layout.n *
                    (entry_q[mesh.polytope_interface_offset[k + 1]] -
                     entry_q[mesh.polytope_interface_offset[k]]);
                if (triples && form.matrix)
                  {
                    if (form.volume)
                      n_triples +=
                        std::uint64_t(dofs.n_basis[k]) * dofs.n_basis[k] *
                        (mesh.subcell_offset[k + 1] - mesh.subcell_offset[k]);
                    if (form.facets)
                      for (unsigned int e = mesh.polytope_interface_offset[k];
                           e < mesh.polytope_interface_offset[k + 1];
                           ++e)
                        {
                          const unsigned int code = mesh.polytope_interface[e],
                                             i    = code / 2,
                                             j    = mesh.neighbor(code);
                          // The facet is counted from its other side.
                          if (j != invalid_index &&
                              ((j >= part.begin && j < k) ||
                               (j == k && code % 2 == 1)))
                            continue;
                          const std::uint64_t size = facet_functions(i);
                          n_triples +=
                            (j == invalid_index ? 1 : 4) * size * size *
                            (mesh.facet_offset[i + 1] - mesh.facet_offset[i]);
                        }
                  }
                if (triples && form.rhs)
                  n_triples +=
                    std::uint64_t(dofs.n_basis[k]) *
                    (mesh.subcell_offset[k + 1] - mesh.subcell_offset[k] + 1);
                const double more =
                  33. * n_triples + 8. * n_tables +
                  entry_bytes *
                    (sparsity.value_offset[k + 1] - sparsity.value_offset[k]) +
                  16. * dofs.n_basis[k];
                if (bytes + more > available ||
                    part.n_triples + n_triples > max_triples)
                  {
                    if (k == part.begin)
                      throw Error(
                        "The assembly strategy " + name(strategy) + " needs " +
                        megabytes(more) + " of device memory for polytope " +
                        std::to_string(k) + ", but it has " +
                        megabytes(available) +
                        ": raise AdditionalData::device_memory, or use "
                        "the strategy " +
                        name(AssemblyStrategy::block_rows) + ".");
                    break;
                  }
                bytes += more;
                part.n_triples += n_triples;
              }
            part.end = k;
            parts.push_back(part);
          }
        return parts;
      }

      // Makes the lists of the simplices that contribute to the rows of a
      // part.
      void
      make_groups(const Part &part)
      {
        if (part.begin == listed_begin && part.end == listed_end)
          return;
        listed_begin = listed_end = 0;
        pattern_there             = false;
        std::vector<unsigned int> by_degree[3][11];
        for (unsigned int k = part.begin; k < part.end; ++k)
          {
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              by_degree[elements][dofs.degree[k]].push_back(s);
            for (unsigned int e = mesh.polytope_interface_offset[k];
                 e < mesh.polytope_interface_offset[k + 1];
                 ++e)
              {
                const unsigned int code = mesh.polytope_interface[e],
                                   i = code / 2, j = mesh.neighbor(code);
                // Facets of this interface are in the list of side 0 already.
                if (code % 2 == 1 && j >= part.begin && j < part.end)
                  continue;
                std::vector<unsigned int> &list =
                  by_degree[j == invalid_index ? boundary : interior]
                           [interface_degree(mesh, dofs, i)];
                for (unsigned int f = mesh.facet_offset[i];
                     f < mesh.facet_offset[i + 1];
                     ++f)
                  list.push_back(f);
              }
          }
        std::vector<unsigned int> list;
        for (unsigned int kind = 0; kind < 3; ++kind)
          {
            groups[kind].clear();
            for (unsigned int p = 0; p <= 10; ++p)
              {
                std::vector<unsigned int> &ids = by_degree[kind][p];
                if (ids.empty())
                  continue;
                std::sort(ids.begin(), ids.end());
                Group group;
                group.begin  = static_cast<unsigned int>(list.size());
                group.n      = static_cast<unsigned int>(ids.size());
                group.degree = p;
                group.n_functions =
                  kind == elements
                    ? dofs.n_basis[owner(mesh.subcell_offset, ids[0])]
                    : facet_functions(owner(mesh.facet_offset, ids[0]));
                group.rule =
                  kind == elements ? rules.subcell[p] : rules.facet[p];
                list.insert(list.end(), ids.begin(), ids.end());
                groups[kind].push_back(group);
              }
          }
        lists        = Array<unsigned int>(list);
        host_list    = std::move(list);
        listed_begin = part.begin;
        listed_end   = part.end;
      }

      // The index whose range of an array of offsets contains i.
      static unsigned int
      owner(const std::vector<unsigned int> &offset, const unsigned int i)
      {
        return static_cast<unsigned int>(
          std::upper_bound(offset.begin(), offset.end(), i) - offset.begin() -
          1);
      }

      // ---- time

      struct Interval
      {
        std::string name;
        Event       begin, end;
      };

      template <typename Function>
      void
      timed(const std::string &name, const Function &function)
      {
        intervals.push_back(std::make_unique<Interval>());
        intervals.back()->name = name;
        intervals.back()->begin.record(stream);
        function();
        check(cudaGetLastError(), "the start of a kernel");
        intervals.back()->end.record(stream);
      }

      void
      collect(Times &times)
      {
        check(cudaStreamSynchronize(stream), "the assembly on the device");
        for (const auto &interval : intervals)
          {
            const double seconds = interval->end.since(interval->begin);
            if (interval->name == "upload")
              times.upload += seconds;
            else if (interval->name == "download")
              times.download += seconds;
            else
              {
                times.kernels += seconds;
                times.add_kernel(interval->name, seconds);
              }
          }
        intervals.clear();
      }

      // ---- coefficients

      // Sets the positions of the groups' tables; returns their total size.
      std::uint64_t
      place_tables(const FormData<dim> &form)
      {
        std::uint64_t size = 0;
        for (unsigned int kind = 0; kind < 3; ++kind)
          for (Group &group : groups[kind])
            {
              const bool there =
                kind == elements ||
                (form.facets && (kind == boundary || !form.constant_facets));
              group.n_sides = kind == interior ? 2 : 1;
              group.table   = size;
              if (there)
                size += std::uint64_t(kind == elements
                                        ? form.volume_layout.n
                                        : group.n_sides * form.facet_layout.n) *
                        group.rule.n_points * group.n;
            }
        return size;
      }

      // Polytopes from k on whose tables fit into the staging memory, but at
      // least one.
      Chunk
      next_chunk(const unsigned int   begin,
                 const unsigned int   end,
                 const FormData<dim> &form) const
      {
        Chunk chunk = {begin, begin, 0, 0};
        for (unsigned int k = begin; k < end; ++k)
          {
            const std::uint64_t volume = subcell_q[mesh.subcell_offset[k + 1]] -
                                         subcell_q[mesh.subcell_offset[begin]];
            const std::uint64_t facets =
              entry_q[mesh.polytope_interface_offset[k + 1]] -
              entry_q[mesh.polytope_interface_offset[begin]];
            if (k > begin &&
                volume * form.volume_layout.n + facets * form.facet_layout.n >
                  staging_size)
              break;
            chunk.n_volume_points = volume;
            chunk.n_facet_points  = facets;
            chunk.end             = k + 1;
          }
        return chunk;
      }

      // Moves the volume tables of a chunk from the staging memory to those
      // of its groups.
      void
      distribute_volume_tables(const Chunk &chunk, const int n_arrays)
      {
        for (const Group &group : groups[elements])
          {
            const auto first    = host_list.begin() + group.begin;
            const auto position = [&](const unsigned int polytope) {
              return static_cast<unsigned int>(
                std::lower_bound(first,
                                 first + group.n,
                                 mesh.subcell_offset[polytope]) -
                first);
            };
            const unsigned int begin = position(chunk.begin),
                               end   = position(chunk.end);
            if (begin < end)
              reorder_volume<<<
                n_blocks(std::uint64_t(end - begin) * group.rule.n_points, 256),
                256,
                0,
                stream>>>(lists.data() + group.begin,
                          begin,
                          end,
                          group.n,
                          group.rule.n_points,
                          n_arrays,
                          subcell_q_array.data(),
                          subcell_q[mesh.subcell_offset[chunk.begin]],
                          chunk.n_volume_points,
                          staging.data(),
                          tables.data() + group.table);
          }
      }

      // The same for the facet tables, which begin at @p from.
      void
      distribute_facet_tables(const Chunk         &chunk,
                              const FormData<dim> &form,
                              const double        *from)
      {
        for (const Kind kind : {interior, boundary})
          if (kind == boundary || !form.constant_facets)
            for (const Group &group : groups[kind])
              reorder_facets<<<
                n_blocks(std::uint64_t(group.n) * group.rule.n_points, 256),
                256,
                0,
                stream>>>(lists.data() + group.begin,
                          group.n,
                          group.rule.n_points,
                          form.facet_layout.n,
                          group.n_sides,
                          facet_interface.data(),
                          device_mesh->arrays().facet_offset,
                          interface_entry.data(),
                          mesh.polytope_interface_offset[chunk.begin],
                          mesh.polytope_interface_offset[chunk.end],
                          entry_q_array.data(),
                          chunk.n_facet_points,
                          from,
                          tables.data() + group.table);
      }

      // Evaluates the tables of a part, chunk by chunk, and reorders them.
      void
      tabulate(const Part          &part,
               const FormData<dim> &form,
               const Tabulate      &function,
               Times               &times)
      {
        const int n_volume       = form.volume_layout.n,
                  n_facets       = form.facet_layout.n;
        const std::uint64_t size = place_tables(form);
        if (size == 0)
          return;
        tables.resize(size);
        if (n_facets > 0)
          copy(entry_q_array, entry_q);

        for (unsigned int k = part.begin; k < part.end;)
          {
            const Chunk chunk               = next_chunk(k, part.end, form);
            k                               = chunk.end;
            const std::uint64_t volume_size = chunk.n_volume_points * n_volume,
                                total =
                                  volume_size + chunk.n_facet_points * n_facets;
            if (total == 0)
              continue;
            check(cudaStreamSynchronize(stream), "the assembly on the device");
            host_staging.resize(total);
            staging.resize(total);
            const auto begin = std::chrono::steady_clock::now();
            function(chunk,
                     host_staging.data(),
                     host_staging.data() + volume_size);
            times.tabulation += seconds_since(begin);
            timed("upload", [&]() {
              check(cudaMemcpyAsync(staging.data(),
                                    host_staging.data(),
                                    total * sizeof(double),
                                    cudaMemcpyHostToDevice,
                                    stream),
                    "a copy to the device");
            });
            times.bytes_up += 8. * total;
            timed("tables", [&]() {
              if (n_volume > 0)
                distribute_volume_tables(chunk, n_volume);
              if (chunk.n_facet_points * n_facets > 0)
                distribute_facet_tables(chunk,
                                        form,
                                        staging.data() + volume_size);
            });
          }
      }

      // ---- kernels

      // Sets the arguments of a group; the rule goes to constant memory if it
      // fits.
      void
      set_group(const Kind kind, const Group &group)
      {
        A.list        = lists.data() + group.begin;
        A.n           = group.n;
        A.n_functions = group.n_functions;
        A.n_points    = group.rule.n_points;
        A.table       = tables.data() + group.table;
        const std::size_t size =
          (kind == elements ? dim + 1 : dim) * group.rule.n_points;
        A.rule = rule_data.data() + group.rule.offset;
        if (size <= max_constant_rule)
          {
            check(cudaMemcpyToSymbolAsync(constant_rule,
                                          A.rule,
                                          size * sizeof(double),
                                          0,
                                          cudaMemcpyDeviceToDevice,
                                          stream),
                  "a copy on the device");
            A.rule = nullptr;
          }
      }

      template <bool sort>
      void
      launch_matrix(const Kind kind, const Group &group)
      {
        const unsigned int n = n_blocks(group.n, block_size);
        if (kind == elements)
          {
            if (A.form.constant_volume && A.rule == nullptr)
              element_kernel<dim, sort, false><<<n, block_size, 0, stream>>>(A);
            else
              element_kernel<dim, sort, true><<<n, block_size, 0, stream>>>(A);
          }
        else if (kind == interior)
          {
            if (A.form.constant_facets && A.rule == nullptr)
              interior_kernel<dim, sort, false>
                <<<n, block_size, 0, stream>>>(A);
            else
              interior_kernel<dim, sort, true><<<n, block_size, 0, stream>>>(A);
          }
        else
          boundary_kernel<dim, sort><<<n, block_size, 0, stream>>>(A);
      }

      template <bool sort>
      void
      launch_rhs(const Kind kind, const Group &group)
      {
        const unsigned int n = n_blocks(group.n, block_size);
        if (kind == elements)
          rhs_kernel<dim, dim, sort><<<n, block_size, 0, stream>>>(A);
        else
          rhs_kernel<dim, dim - 1, sort><<<n, block_size, 0, stream>>>(A);
      }

      // Runs the kernels of the matrix or of the right-hand side; returns the
      // number of triples.
      std::uint64_t
      run_groups(const bool matrix)
      {
        const char *const names[3]  = {"elements",
                                       "interior facets",
                                       "boundary facets"};
        std::uint64_t     n_triples = 0;
        for (const Kind kind : {elements, interior, boundary})
          {
            if (matrix
                  ? (kind == elements ? !A.form.volume : !A.form.facets)
                  : (kind == elements ? A.form.volume_layout.f < 0
                                      : (kind == interior || !A.form.facets ||
                                         A.form.facet_layout.r < 0)))
              continue;
            for (const Group &group : groups[kind])
              {
                timed(matrix ? names[kind] : "right-hand side", [&]() {
                  set_group(kind, group);
                  A.first_triple = n_triples;
                  if (matrix && triples)
                    launch_matrix<true>(kind, group);
                  else if (matrix)
                    launch_matrix<false>(kind, group);
                  else if (triples)
                    launch_rhs<true>(kind, group);
                  else
                    launch_rhs<false>(kind, group);
                });
                n_triples +=
                  std::uint64_t(group.n) * group.n_functions *
                  (matrix ? (kind == interior ? 4 : 1) * group.n_functions : 1);
              }
          }
        return n_triples;
      }

      // Calls a function of CUB, first for the size of its temporary memory.
      template <typename Function>
      void
      call_cub(const std::string &name,
               const char        *purpose,
               const Function    &function)
      {
        std::size_t bytes = 0;
        check(function(nullptr, bytes), purpose);
        temporary.resize(bytes);
        timed(name,
              [&]() { check(function(temporary.data(), bytes), purpose); });
      }

      // Sorts triples and adds them to the result of the given size.
      template <bool matrix>
      void
      sort_and_sum(const Part         &part,
                   const std::uint64_t n_triples,
                   const std::uint64_t size,
                   double             *result)
      {
        const unsigned int n = static_cast<unsigned int>(n_triples);
        cub::DoubleBuffer<std::uint64_t> key_buffer(keys[0].data(),
                                                    keys[1].data());
        cub::DoubleBuffer<double>        entry_buffer(entries[0].data(),
                                               entries[1].data());
        const int           n_bits = matrix ? 2 * column_bits : column_bits;
        unsigned int        n_runs = 0;
        std::uint64_t       last   = invalid_key;
        unsigned int *const count  = counter.data();
        if (n > 0)
          {
            call_cub("sort",
                     "the sort of triples",
                     [&](void *buffer, std::size_t &bytes) {
                       return cub::DeviceRadixSort::SortPairs(buffer,
                                                              bytes,
                                                              key_buffer,
                                                              entry_buffer,
                                                              n,
                                                              0,
                                                              n_bits,
                                                              stream);
                     });
            const IsFirst first = {key_buffer.Current()};
            const thrust::counting_iterator<unsigned int> numbers(0);
            runs.resize(size + 1);
            call_cub("sum",
                     "the search for equal triples",
                     [&](void *buffer, std::size_t &bytes) {
                       return cub::DeviceSelect::If(buffer,
                                                    bytes,
                                                    numbers,
                                                    runs.data(),
                                                    count,
                                                    static_cast<int>(n),
                                                    first,
                                                    stream);
                     });
            check(cudaMemcpyAsync(&n_runs,
                                  count,
                                  sizeof(n_runs),
                                  cudaMemcpyDeviceToHost,
                                  stream),
                  "a copy from the device");
            check(cudaMemcpyAsync(&last,
                                  key_buffer.Current() + n - 1,
                                  sizeof(last),
                                  cudaMemcpyDeviceToHost,
                                  stream),
                  "a copy from the device");
            check(cudaStreamSynchronize(stream), "the assembly on the device");
          }
        const std::uint64_t n_entries =
          n_runs - (n_runs > 0 && last == invalid_key ? 1 : 0);
        timed("sum", [&]() {
          if (n_entries < size)
            check(cudaMemsetAsync(result, 0, size * sizeof(double), stream),
                  "a write on the device");
          if (n_runs > 0)
            sum_kernel<matrix><<<n_blocks(n_runs, 256), 256, 0, stream>>>(
              key_buffer.Current(),
              entry_buffer.Current(),
              runs.data(),
              n_runs,
              n,
              n_entries == size,
              blocks,
              part.begin,
              part.end,
              column_bits,
              result);
        });
      }

      // ---- results

      void
      download(const Part           &part,
               const FormData<dim>  &form,
               const Target<double> &target,
               Times                &times)
      {
        const auto fetch = [&](const double       *from,
                               const std::uint64_t n) -> const double * {
          host_staging.resize(n);
          timed("download", [&]() {
            check(cudaMemcpyAsync(host_staging.data(),
                                  from,
                                  n * sizeof(double),
                                  cudaMemcpyDeviceToHost,
                                  stream),
                  "a copy from the device");
          });
          check(cudaStreamSynchronize(stream), "the assembly on the device");
          times.bytes_down += 8. * n;
          return host_staging.data();
        };
        const auto move =
          [&](double *to, const double *from, const std::uint64_t n) {
            parallel(n,
                     1u << 16,
                     [&](const std::size_t begin, const std::size_t end) {
                       std::memcpy(to + begin,
                                   from + begin,
                                   (end - begin) * sizeof(double));
                     });
          };
        if (form.matrix && target.device_values == nullptr)
          for (unsigned int k = part.begin; k < part.end;)
            {
              const unsigned int begin = k;
              for (++k; k < part.end && sparsity.value_offset[k + 1] -
                                            sparsity.value_offset[begin] <=
                                          staging_size;
                   ++k)
                ;
              const std::uint64_t first = sparsity.value_offset[begin],
                                  n     = sparsity.value_offset[k] - first;
              const double *const from =
                fetch(A.values + (first - A.first_value), n);
              if (target.store_block_rows)
                parallel(
                  k - begin,
                  16,
                  [&](const std::size_t from_row, const std::size_t to_row) {
                    target.store_block_rows(
                      begin + from_row,
                      begin + to_row,
                      from + (sparsity.value_offset[begin + from_row] - first));
                  });
              else
                move(target.host_values + first, from, n);
            }
        if (form.rhs && target.device_rhs == nullptr)
          {
            const std::uint64_t first = dofs.dof_offset[part.begin],
                                n     = dofs.dof_offset[part.end] - first;
            move(target.host_rhs + first, fetch(A.rhs, n), n);
          }
      }

      void
      assemble_part(const Part           &part,
                    const FormData<dim>  &form,
                    const Target<double> &target,
                    const Tabulate       &tabulate,
                    Times                &times)
      {
        make_groups(part);
        A.begin                      = part.begin;
        A.end                        = part.end;
        A.first_value                = sparsity.value_offset[part.begin];
        A.first_dof                  = dofs.dof_offset[part.begin];
        const std::uint64_t n_values = form.matrix
                                         ? sparsity.value_offset[part.end] -
                                             A.first_value
                                         : 0,
                            n_rhs    = form.rhs
                                         ? dofs.dof_offset[part.end] - A.first_dof
                                         : 0;
        if (target.device_values != nullptr)
          A.values = target.device_values + A.first_value;
        else
          {
            values.resize(n_values);
            A.values = values.data();
          }
        if (target.device_rhs != nullptr)
          A.rhs = target.device_rhs + A.first_dof;
        else
          {
            rhs.resize(n_rhs);
            A.rhs = rhs.data();
          }
        this->tabulate(part, form, tabulate, times);

        if (triples)
          {
            std::uint64_t n_triples = 0, n_rhs_triples = 0;
            for (const Kind kind : {elements, interior, boundary})
              for (const Group &group : groups[kind])
                {
                  const std::uint64_t size =
                    std::uint64_t(group.n) * group.n_functions;
                  if (kind == elements ? form.volume : form.facets)
                    n_triples +=
                      size * group.n_functions * (kind == interior ? 4 : 1);
                  if (kind != interior)
                    n_rhs_triples += size;
                }
            const std::uint64_t n = std::max(form.matrix ? n_triples : 0,
                                             form.rhs ? n_rhs_triples : 0);
            for (unsigned int b = 0; b < 2; ++b)
              {
                keys[b].resize(n);
                entries[b].resize(n);
              }
            A.keys    = keys[0].data();
            A.entries = entries[0].data();
            counter.resize(1);
            if (form.matrix)
              sort_and_sum<true>(part, run_groups(true), n_values, A.values);
            if (form.rhs)
              sort_and_sum<false>(part, run_groups(false), n_rhs, A.rhs);
          }
        else
          {
            if (form.matrix)
              {
                columns.resize(n_values);
                A.columns = columns.data();
                if (!pattern_there)
                  timed("pattern", [&]() {
                    pattern_kernel<<<part.end - part.begin, 128, 0, stream>>>(
                      blocks, part.begin, A.first_value, columns.data());
                  });
                pattern_there = true;
                timed("zero", [&]() {
                  check(cudaMemsetAsync(
                          A.values, 0, n_values * sizeof(double), stream),
                        "a write on the device");
                });
                run_groups(true);
              }
            if (form.rhs)
              {
                timed("zero", [&]() {
                  check(
                    cudaMemsetAsync(A.rhs, 0, n_rhs * sizeof(double), stream),
                    "a write on the device");
                });
                run_groups(false);
              }
          }
        download(part, form, target, times);
        collect(times);
      }

      // Memory on the device, in bytes, that depends on a part.
      std::size_t
      part_memory() const
      {
        return 8 * (values.size() + rhs.size() + tables.size() +
                    staging.size() + keys[0].size() + keys[1].size() +
                    entries[0].size() + entries[1].size()) +
               4 * (columns.size() + runs.size() + lists.size()) +
               temporary.size();
      }

      const bool    triples;
      std::uint64_t staging_size = max_staging_size;
      std::size_t   mesh_memory  = 0; // bytes that do not depend on a part

      std::vector<std::uint64_t> subcell_q, entry_q;
      std::vector<unsigned int>  entry_of_side, host_list;
      unsigned int               column_bits  = 1;
      unsigned int               listed_begin = 0, listed_end = 0;
      bool                       pattern_there = false;
      std::vector<Group>         groups[3];

      Arguments<dim>                         A      = {};
      Blocks                                 blocks = {};
      std::shared_ptr<const DeviceMesh<dim>> device_mesh;
      std::unique_ptr<DeviceSpace>           space;
      Array<double>                          box, sigma;
      Array<double>        rule_data, tables, staging, values, rhs;
      Array<double>        entries[2];
      Array<std::uint64_t> keys[2];
      Array<double, true>  host_staging;
      Array<unsigned int>  subcell_polytope, facet_interface, interface_entry;
      Array<unsigned int>  row_width, columns, lists, runs, counter;
      Array<unsigned int>  block_column, column_offset;
      Array<std::uint64_t> value_offset, block_offset;
      Array<std::uint64_t> subcell_q_array, entry_q_array;
      Array<unsigned char> temporary;

      Stream                                 stream;
      std::vector<std::unique_ptr<Interval>> intervals;
    };



    template <int dim>
    PaperAssembler<dim>::PaperAssembler(const PaperInput<dim> &input)
      : implementation(std::make_unique<Implementation>(input))
    {
      implementation->upload();
    }



    template <int dim>
    PaperAssembler<dim>::~PaperAssembler() = default;



    template <int dim>
    PointPositions
    PaperAssembler<dim>::points() const
    {
      return {implementation->subcell_q.data(),
              implementation->entry_q.data(),
              nullptr,
              nullptr};
    }



    template <int dim>
    Times
    PaperAssembler<dim>::assemble(const FormData<dim>  &form,
                                  const double         *sigma,
                                  const Tabulate       &tabulate,
                                  const Target<double> &target)
    {
      static std::mutex           mutex; // protects the constant memory
      std::lock_guard<std::mutex> lock(mutex);

      Implementation &I = *implementation;
      Times           times;
      times.kernel = std::string("one thread a simplex, ") +
                     (I.triples ? "sort and sum of coordinate triples"
                                : "binary search and atomic additions");
      I.intervals.clear();
      I.A.form = form;
      I.count_facet_points(form);
      I.upload_constants();
      if (form.constant_facets)
        I.copy(I.A.sigma,
               I.sigma,
               std::vector<double>(sigma, sigma + I.mesh.n_facets()));

      std::size_t free = 0, total = 0;
      check(cudaMemGetInfo(&free, &total), "the query of free memory");
      // The rest is for lists and for temporary memory of the sort.
      double available = 0.9 * (double(free) + I.part_memory());
      if (I.memory > 0)
        available =
          std::min(available, double(I.memory) - double(I.mesh_memory));
      I.staging_size =
        std::min(max_staging_size,
                 static_cast<std::uint64_t>(std::max(4096., available / 64.)));
      available -= 8. * I.staging_size;
      const auto begin = std::chrono::steady_clock::now();
      try
        {
          const auto parts = I.make_parts(form, target, available);
          for (const auto &part : parts)
            I.assemble_part(part, form, target, tabulate, times);
          times.n_parts = parts.size();
        }
      catch (...)
        {
          // No copy may still write to the buffers.
          cudaStreamSynchronize(I.stream);
          cudaGetLastError();
          throw;
        }
      times.memory = I.mesh_memory + I.part_memory();
      times.loop   = seconds_since(begin);
      times.idle =
        std::max(0.,
                 times.loop - times.kernels - times.upload - times.download);
      return times;
    }



    template class PaperAssembler<2>;
    template class PaperAssembler<3>;
  } // namespace Application
} // namespace Tessella
