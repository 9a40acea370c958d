// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Host side of assembly on a CUDA device; empty in a build without CUDA.
#include <tessella/base/config.h>

#ifdef TESSELLA_HAVE_CUDA

#  include <deal.II/base/exceptions.h>

#  include <tessella/quadrature/reference_quadrature.h>

#  include <algorithm>
#  include <cmath>
#  include <future>
#  include <string>
#  include <tuple>
#  include <type_traits>

#  include "cuda_assembly.h"
#  include "cuda_tabulation.h"
#  include "host_assembly.h"
#  include "host_dispatch.h"
#  include "mesh_part.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      void
      parallel_ranges(
        const std::size_t                                    n,
        const std::size_t                                    size,
        const std::function<void(std::size_t, std::size_t)> &function)
      {
        for_ranges(n, size, function);
      }

      std::string
      megabytes(const std::size_t bytes)
      {
        return std::to_string((bytes + 999999) / 1000000) + " MB";
      }

      template <int dim>
      unsigned int
      highest_degree(const PolytopicMesh<dim> &mesh)
      {
        return mesh.whole.is_set
                 ? mesh.whole.max_degree
                 : *std::max_element(mesh.degree.begin(), mesh.degree.end());
      }

      // Degrees that determine the choice of kernels, equal on all processes.
      template <int dim>
      Device::Degrees
      make_degrees(const PolytopicMesh<dim> &mesh)
      {
        Device::Degrees degrees;
        const bool      whole = mesh.whole.is_set;
        degrees.max_degree    = highest_degree(mesh);
        degrees.max_basis =
          whole ? mesh.whole.max_basis
                : *std::max_element(mesh.n_basis.begin(), mesh.n_basis.end());
        degrees.min_basis =
          whole ? mesh.whole.min_basis
                : *std::min_element(mesh.n_basis.begin(), mesh.n_basis.end());
        unsigned int subcells = whole ? mesh.whole.subcell_types : 0,
                     facets   = whole ? mesh.whole.facet_types : 0;
        if (!whole)
          {
            for (const SubCellType type : mesh.subcell_type)
              subcells |= 1u << static_cast<unsigned int>(type);
            for (const FacetType type : mesh.facet_type)
              facets |= 1u << static_cast<unsigned int>(type);
          }
        constexpr unsigned int simplex =
          1u << static_cast<unsigned int>(FacetType::simplex);
        constexpr unsigned int prism =
          1u << static_cast<unsigned int>(FacetType::prism);
        degrees.simplices =
          subcells == 1u << static_cast<unsigned int>(SubCellType::simplex) &&
          facets == simplex;
        degrees.prisms =
          subcells == 1u << static_cast<unsigned int>(SubCellType::prism) &&
          (facets & ~(simplex | prism)) == 0;
        degrees.bottom_id = mesh.bottom_id;
        return degrees;
      }



      template <int dim>
      Device::RuleTables
      make_rule_tables(const PolytopicMesh<dim> &mesh,
                       const HostRules<dim>     &rules)
      {
        Device::RuleTables tables;
        const auto         add_rule = [&](Device::RuleTables::Entry &entry,
                                  const unsigned int         n_points,
                                  const double              *points,
                                  const std::size_t          distance,
                                  const double              *weights,
                                  const unsigned int         rule_dim) {
          entry.n_points = n_points;
          entry.offset   = tables.data.size();
          for (unsigned int d = 0; d < rule_dim; ++d)
            tables.data.insert(tables.data.end(),
                               points + d * distance,
                               points + d * distance + n_points);
          tables.data.insert(tables.data.end(), weights, weights + n_points);
        };
        const auto add = [&](Device::RuleTables::Entry &entry,
                             const HostKernels::Rule   &rule,
                             const unsigned int         rule_dim) {
          add_rule(entry,
                   rule.n_points,
                   rule.points,
                   rule.n_padded,
                   rule.weights,
                   rule_dim);
        };
        const unsigned int max_degree = highest_degree(mesh);
        for (const SubCellType type : {SubCellType::simplex,
                                       SubCellType::parallelepiped,
                                       SubCellType::hypercube,
                                       SubCellType::prism})
          if (std::find(mesh.subcell_type.begin(),
                        mesh.subcell_type.end(),
                        type) != mesh.subcell_type.end())
            for (unsigned int p = 0; p <= max_degree; ++p)
              add(tables.subcell[static_cast<unsigned int>(type)][p],
                  rules.subcell(type, p),
                  dim);
        for (const FacetType type :
             {FacetType::simplex, FacetType::quadrilateral, FacetType::prism})
          if (std::find(mesh.facet_type.begin(), mesh.facet_type.end(), type) !=
              mesh.facet_type.end())
            for (unsigned int p = 0; p <= max_degree; ++p)
              add(tables.facet[static_cast<unsigned int>(type)][p],
                  rules.facet(type, p),
                  dim - 1);
        if (tables.subcell[0][max_degree].n_points > 0)
          for (unsigned int order = 1; order <= 2 * max_degree; ++order)
            {
              const ReferenceRule &rule = simplex_rule(dim, order);
              add_rule(tables.simplex[order],
                       rule.n_points,
                       rule.points.data(),
                       rule.n_points,
                       rule.weights.data(),
                       dim);
            }
        return tables;
      }



      // Device memory in bytes for a part that consists of one polytope and its
      // neighbours. Parts with several polytopes need less than the sum.
      template <int dim>
      std::size_t
      part_bytes(const PolytopicMesh<dim> &mesh,
                 const BlockSparsity      &sparsity,
                 const Device::RuleTables &rules,
                 const bool                evaluation,
                 const unsigned int        k)
      {
        const std::size_t n_blocks =
          sparsity.block_offset[k + 1] - sparsity.block_offset[k];
        // bounding box and its map, offsets; entries of the structure
        std::size_t bytes = n_blocks * (48 * dim + 64 + 16);
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          {
            bytes += (evaluation ? 4 : 0) + 17 +
                     8 * dim *
                       std::size_t(mesh.subcell_vertex_offset[s + 1] -
                                   mesh.subcell_vertex_offset[s]);
            if (mesh.subcell_type[s] == SubCellType::tabulated)
              bytes += 8 * (dim + 1) *
                       std::size_t(n_subcell_points(mesh, rules, s, 0));
          }
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int i = mesh.polytope_interface[e] / 2;
            bytes += 32;
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              {
                bytes += (evaluation ? 32 : 0) + 33 + 8 * dim +
                         8 * dim *
                           std::size_t(mesh.facet_vertex_offset[f + 1] -
                                       mesh.facet_vertex_offset[f]);
                if (mesh.facet_type[f] == FacetType::tabulated)
                  bytes += 8 * (2 * dim + 1) *
                           std::size_t(n_facet_points(mesh, rules, f, 0));
              }
          }
        return bytes;
      }



      // Bytes of the tables, the values and the right-hand side of a block row.
      template <int dim>
      std::size_t
      row_bytes(const PolytopicMesh<dim>    &mesh,
                const BlockSparsity         &sparsity,
                const Device::RuleTables    &rules,
                const Device::FormData<dim> &data,
                const std::size_t            values_size,
                const std::size_t            rhs_size,
                const unsigned int           k)
      {
        std::size_t bytes =
          values_size *
            (sparsity.value_offset[k + 1] - sparsity.value_offset[k]) +
          rhs_size * (mesh.dof_offset[k + 1] - mesh.dof_offset[k]) + 4 * 256;
        for (unsigned int s = mesh.subcell_offset[k];
             data.volume_layout.n > 0 && s < mesh.subcell_offset[k + 1];
             ++s)
          bytes += 8ull * data.volume_layout.n *
                   n_subcell_points(mesh, rules, s, mesh.degree[k]);
        for (unsigned int e = mesh.polytope_interface_offset[k];
             data.facet_layout.n > 0 &&
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int code = mesh.polytope_interface[e], i = code / 2;
            if (data.constant_facets && mesh.neighbor(code) != invalid_index)
              continue;
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              bytes += 8ull * data.facet_layout.n *
                       n_facet_points(mesh,
                                      rules,
                                      f,
                                      Device::interface_degree(mesh, i));
          }
        return bytes;
      }



      // Arrays for the coefficients of the whole mesh.
      template <int dim>
      Device::CoefficientArrays
      coefficient_arrays(const PolytopicMesh<dim> &mesh)
      {
        Device::CoefficientArrays arrays;
        arrays.facet_material.resize(mesh.facet_subcell.size());
        for_ranges(arrays.facet_material.size(),
                   8192,
                   [&](const std::size_t begin, const std::size_t end) {
                     for (std::size_t i = begin; i < end; ++i)
                       arrays.facet_material[i] =
                         mesh.facet_subcell[i] == invalid_index
                           ? invalid_index
                           : mesh.subcell_material[mesh.facet_subcell[i]];
                   });
        return arrays;
      }



      // Arrays for the coefficients of a part; indices refer to the whole mesh.
      template <int dim>
      Device::CoefficientArrays
      coefficient_arrays(const PolytopicMesh<dim> &mesh,
                         const MeshPart<dim>      &part)
      {
        Device::CoefficientArrays arrays;
        arrays.first_subcell = mesh.subcell_offset[part.begin];
        arrays.subcell_material.assign(mesh.subcell_material.begin() +
                                         mesh.subcell_offset[part.begin],
                                       mesh.subcell_material.begin() +
                                         mesh.subcell_offset[part.end]);
        for (const unsigned int k : part.polytope)
          arrays.dof_offset.push_back(mesh.dof_offset[k]);
        for (const unsigned int f : part.facet)
          for (unsigned int side = 0; side < 2; ++side)
            {
              const unsigned int s =
                mesh.facet_subcell[2 * std::size_t(f) + side];
              arrays.facet_subcell.push_back(s);
              arrays.facet_material.push_back(
                s == invalid_index ? s : mesh.subcell_material[s]);
            }
        return arrays;
      }
    } // namespace



    template <int dim>
    void
    CUDAAssembly<dim>::start(const std::size_t  result_bytes,
                             const unsigned int n_processes)
    {
      try
        {
          if (workspace == nullptr)
            workspace = std::make_unique<Device::Workspace>(
              Device::Parallel(parallel_ranges), n_processes);
          workspace->reserve_pinned(result_bytes);
        }
      catch (const Device::Error &error)
        {
          workspace.reset();
          AssertThrow(false, dealii::ExcMessage(error.what()));
        }
    }



    template <int dim>
    std::size_t
    CUDAAssembly<dim>::held() const
    {
      return workspace == nullptr ? 0 : workspace->used();
    }



    template <int dim>
    template <typename Function>
    auto
    CUDAAssembly<dim>::guard(const Function &function) -> decltype(function())
    {
      start(0);
      try
        {
          return function();
        }
      catch (const Device::Error &error)
        {
          // Data on the device may be incomplete.
          device.reset();
          paper.reset();
          workspace.reset();
          AssertThrow(false, dealii::ExcMessage(error.what()));
        }
      return decltype(function())();
    }



    template <int dim>
    template <typename Number>
    Device::Times
    CUDAAssembly<dim>::assemble(const Problem                &problem,
                                const AssemblyTarget<Number> &target)
    {
      return guard([&]() { return run(problem, target); });
    }



    template <int dim>
    void
    CUDAAssembly<dim>::largest_diffusion(const Problem       &problem,
                                         std::vector<double> &a_bar)
    {
      guard([&]() { return run(problem, AssemblyTarget<double>(), &a_bar); });
    }



    template <int dim>
    void
    CUDAAssembly<dim>::prepare(const PolytopicMesh<dim> &mesh,
                               const BlockSparsity      &sparsity,
                               const HostRules<dim>     &rules,
                               const unsigned int        coefficient_order,
                               const PolynomialSpaceType space,
                               const std::size_t         device_memory)
    {
      guard([&]() {
        select_mesh(
          mesh, rules, coefficient_order, space, AssemblyStrategy::block_rows);
        if (device != nullptr)
          return;
        send_mesh(mesh, sparsity, device_memory);
        prepared = device != nullptr;
        // Not for slabs, whose facet coefficients vary at the bottom.
        if (prepared && !mesh.prismatic)
          device->expect_constant_facets();
      });
    }



    template <int dim>
    void
    CUDAAssembly<dim>::select_mesh(const PolytopicMesh<dim> &mesh,
                                   const HostRules<dim>     &rules,
                                   const unsigned int        coefficient_order,
                                   const PolynomialSpaceType space,
                                   const AssemblyStrategy    strategy)
    {
      const Key key = {{mesh.revision,
                        mesh.quadrature_revision,
                        coefficient_order,
                        static_cast<unsigned int>(space) +
                          4u * static_cast<unsigned int>(strategy)}};
      if (key == present && mesh.revision != 0)
        return;
      device.reset();
      paper.reset();
      present                       = key;
      tables                        = make_rule_tables(mesh, rules);
      const unsigned int max_degree = highest_degree(mesh);
      // Spaces of lower degree are prefixes of the largest space.
      exponents.resize(dim * Legendre::n_functions(dim, max_degree, space));
      Legendre::exponents(dim, max_degree, space, exponents.data());
      degrees = make_degrees(mesh);
    }



    template <int dim>
    void
    CUDAAssembly<dim>::send_mesh(const PolytopicMesh<dim> &mesh,
                                 const BlockSparsity      &sparsity,
                                 const std::size_t         device_memory)
    {
      workspace->set_limit(device_memory);
      const std::size_t bytes = Device::Assembler<dim>::memory(
        mesh, sparsity, tables, exponents.size());
      if (bytes > workspace->limit() / 2)
        {
          device.reset();
          return;
        }
      if (device != nullptr)
        return;
      // Releases the memory of a much larger mesh.
      if (workspace->used() > 4 * bytes)
        workspace->release();
      device =
        std::make_unique<Device::Assembler<dim>>(mesh,
                                                 sparsity,
                                                 0,
                                                 mesh.n_owned_polytopes(),
                                                 degrees,
                                                 tables,
                                                 exponents,
                                                 *workspace,
                                                 parallel_ranges);
    }



    template <int dim>
    template <typename Number>
    Device::Times
    CUDAAssembly<dim>::run(const Problem                &problem,
                           const AssemblyTarget<Number> &target,
                           std::vector<double>          *a_bar)
    {
      const PolytopicMesh<dim>   &mesh     = problem.mesh;
      const BlockSparsity        &sparsity = problem.sparsity;
      const Device::FormData<dim> data =
        make_form_data(mesh,
                       problem.form,
                       target.has_matrix(),
                       target.has_rhs(),
                       problem.strategy == AssemblyStrategy::block_rows);

      select_mesh(mesh,
                  problem.rules,
                  problem.form.coefficient_order(),
                  problem.space,
                  problem.strategy);
      if (problem.strategy != AssemblyStrategy::block_rows)
        return run_paper_strategy(problem, data, target);
      if (device == nullptr || prepared)
        send_mesh(mesh, sparsity, problem.device_memory);
      prepared = false;
      if (device == nullptr)
        return run_parts(problem, data, target, a_bar);
      try
        {
          Device::Evaluation<dim> evaluation;
          evaluation.coefficients = problem.coefficients;
          evaluation.arrays       = [&]() { return coefficient_arrays(mesh); };
          evaluation.penalty      = problem.device_penalty;
          evaluation.constant     = problem.penalty_constant;
          evaluation.factor       = mesh.penalty_factor.data();
          evaluation.factor_revision = mesh.penalty_revision;
          if (a_bar != nullptr)
            {
              a_bar->resize(2 * std::size_t(mesh.n_facets()));
              device->largest_diffusion(evaluation, a_bar->data());
              return Device::Times();
            }
          return run_rows(problem,
                          data,
                          *device,
                          0,
                          0,
                          problem.penalty,
                          target,
                          problem.coefficients ? &evaluation : nullptr);
        }
      catch (const Device::RowTooLarge &)
        {
          device.reset();
          return run_parts(problem, data, target);
        }
    }



    template <int dim>
    template <typename Number>
    Device::Times
    CUDAAssembly<dim>::run_paper_strategy(const Problem                &problem,
                                          const Device::FormData<dim>  &data,
                                          const AssemblyTarget<Number> &target)
    {
      if constexpr (dim == 4)
        throw Device::Error("The assembly strategy " + name(problem.strategy) +
                            " works on meshes of two and three variables: use "
                            "the strategy " +
                            name(AssemblyStrategy::block_rows) +
                            " for slabs of three space dimensions and time.");
      else if constexpr (std::is_same<Number, double>::value)
        {
          if (paper == nullptr)
            paper = std::make_unique<Device::PaperAssembler<dim>>(
              problem.strategy,
              problem.mesh,
              problem.sparsity,
              tables,
              exponents,
              parallel_ranges,
              problem.device_memory);
          return run_rows(problem, data, *paper, 0, 0, problem.penalty, target);
        }
      throw Device::Error("The assembly strategy " + name(problem.strategy) +
                          " computes in double precision only: use the "
                          "strategy " +
                          name(AssemblyStrategy::block_rows) + ".");
    }



    template <int dim>
    template <typename Number, typename AssemblerType>
    Device::Times
    CUDAAssembly<dim>::run_rows(const Problem                 &problem,
                                const Device::FormData<dim>   &data,
                                AssemblerType                 &assembler,
                                const unsigned int             first,
                                const unsigned int             shift,
                                const Device::Penalty         &penalty,
                                const AssemblyTarget<Number>  &target,
                                const Device::Evaluation<dim> *evaluation)
    {
      if constexpr (std::is_same<AssemblerType, Device::Assembler<dim>>::value)
        if (evaluation != nullptr)
          return assembler.assemble(data, penalty, {}, target, evaluation);

      constexpr bool block_rows =
        std::is_same<AssemblerType, Device::Assembler<dim>>::value;
      const PolytopicMesh<dim>        &mesh = problem.mesh;
      const HostKernels::Kernels<dim> &kernels =
        select_kernels<dim>(problem.instruction_set);
      const double               *sigma     = problem.penalty.sigma;
      const DiffusionValues<dim> *diffusion = problem.diffusion;
      // Chunk with the polytope indices of the whole mesh.
      const auto number = [&](const Device::Chunk &local) {
        Device::Chunk chunk = local;
        chunk.begin += first - shift;
        chunk.end += first - shift;
        return chunk;
      };
      const auto subcell_points = [&]() {
        return Device::Range<std::uint64_t>{assembler.subcell_points(),
                                            mesh.subcell_offset[first]};
      };
      const auto facets = [&](const Device::Chunk &chunk,
                              const unsigned int   begin,
                              const unsigned int   end,
                              double              *table) {
        if (chunk.n_facet_points > 0 && data.facet_layout.n > 0)
          tabulate_facets(
            mesh,
            problem.form,
            sigma,
            problem.rules,
            kernels,
            data,
            Device::Range<std::uint64_t>{assembler.entry_points(),
                                         mesh.polytope_interface_offset[first]},
            chunk,
            chunk.begin + begin,
            chunk.begin + end,
            table);
      };

      Device::Tabulation tabulation;
      tabulation.chunk = [&](const Device::Chunk &local,
                             double              *volume_table,
                             double              *facet_table) {
        const Device::Chunk chunk = number(local);
        for_polytopes(chunk.end - chunk.begin,
                      [&](const unsigned int begin, const unsigned int end) {
                        if (data.volume_layout.n > 0)
                          tabulate_volume(mesh,
                                          problem.form,
                                          problem.rules,
                                          kernels,
                                          data.volume_layout,
                                          subcell_points(),
                                          chunk,
                                          chunk.begin + begin,
                                          chunk.begin + end,
                                          volume_table,
                                          diffusion);
                        facets(chunk, begin, end, facet_table);
                      });
      };
      if constexpr (!block_rows)
        return assembler.assemble(data, penalty, tabulation.chunk, target);
      else
        {
          if (problem.find_penalty)
            {
              tabulation.start_chunks = [&]() {
                const auto found = problem.find_penalty();
                sigma            = found.first.sigma;
                diffusion        = found.second;
              };
              const bool penalty_varies =
                data.volume_layout.a >= 0 &&
                problem.form.facet_structure().penalty;
              if (penalty_varies)
                {
                  kept_a_bar.resize(2 * std::size_t(mesh.n_facets()));
                  for_ranges(kept_a_bar.size(),
                             1 << 14,
                             [&](const std::size_t begin,
                                 const std::size_t end) {
                               std::fill(kept_a_bar.begin() + begin,
                                         kept_a_bar.begin() + end,
                                         0.);
                             });
                }
              else
                kept_sigma.assign(mesh.n_facets(), 0.);
              tabulation.volume = [&,
                                   penalty_varies](const Device::Chunk &chunk,
                                                   double              *table) {
                return tabulate_packed_volume(mesh,
                                              problem.form,
                                              problem.rules,
                                              kernels,
                                              data,
                                              subcell_points(),
                                              chunk,
                                              table,
                                              penalty_varies ? kept_a_bar.data()
                                                             : nullptr);
              };
              tabulation.start_facets = [&, penalty_varies]() {
                if (penalty_varies)
                  penalty_from_diffusion(mesh,
                                         problem.penalty_constant,
                                         kept_a_bar,
                                         kept_sigma);
                sigma = kept_sigma.data();
              };
              tabulation.facets = [&](const Device::Chunk &chunk,
                                      double              *table) {
                for_polytopes(chunk.end - chunk.begin,
                              [&](const unsigned int begin,
                                  const unsigned int end) {
                                facets(chunk, begin, end, table);
                              });
              };
              tabulation.packed_facets = [&](const Device::Chunk &chunk,
                                             double              *interior,
                                             double              *boundary) {
                tabulate_packed_facets(mesh,
                                       problem.form,
                                       sigma,
                                       problem.rules,
                                       kernels,
                                       data,
                                       assembler.packed_interior_points(),
                                       assembler.packed_boundary_points(),
                                       chunk,
                                       interior,
                                       boundary);
              };
            }
          return assembler.assemble(data, penalty, tabulation, target);
        }
    }



    template <int dim>
    template <typename Number>
    Device::Times
    CUDAAssembly<dim>::run_parts(const Problem                &the_problem,
                                 const Device::FormData<dim>  &data,
                                 const AssemblyTarget<Number> &target,
                                 std::vector<double>          *a_bar_wanted)
    {
      Problem problem = the_problem;
      if (problem.find_penalty)
        {
          std::tie(problem.penalty, problem.diffusion) = problem.find_penalty();
          problem.find_penalty                         = nullptr;
        }
      const PolytopicMesh<dim> &mesh     = problem.mesh;
      const BlockSparsity      &sparsity = problem.sparsity;
      const unsigned int        n        = mesh.n_owned_polytopes();
      workspace->release();
      workspace->set_limit(problem.device_memory);

      // ---- memory for the mesh of a part: half of the limit, or less if a
      // block row needs more than the other half
      std::vector<std::size_t> part(n), row(n);
      for_polytopes(n, [&](const unsigned int begin, const unsigned int end) {
        for (unsigned int k = begin; k < end; ++k)
          {
            part[k] = part_bytes(
              mesh, sparsity, tables, problem.coefficients != nullptr, k);
            row[k] = row_bytes(mesh,
                               sparsity,
                               tables,
                               data,
                               target.device_values ? 0 : sizeof(Number),
                               target.device_rhs ? 0 : sizeof(Number),
                               k);
          }
      });
      const std::size_t limit       = workspace->limit();
      const std::size_t largest_row = *std::max_element(row.begin(), row.end());
      std::size_t       mesh_limit =
        std::min(limit / 2, limit > largest_row ? limit - largest_row : 0);

      const auto find_end = [&](const unsigned int begin) {
        // Rules, exponents and gaps between arrays.
        std::size_t bytes =
          tables.data.size() * sizeof(double) + exponents.size() + (1 << 15);
        unsigned int end = begin;
        while (end < n && (end == begin || bytes + part[end] <= mesh_limit))
          bytes += part[end++];
        return end;
      };
      const auto make_part = [&](const unsigned int begin) {
        return std::make_unique<MeshPart<dim>>(mesh,
                                               sparsity,
                                               begin,
                                               find_end(begin));
      };

      // Calls function(part, assembler) for each part; the next part is made at
      // the same time.
      const auto for_parts = [&](const auto &function) {
        std::future<std::unique_ptr<MeshPart<dim>>> next =
          std::async(std::launch::async, make_part, 0u);
        while (true)
          {
            const std::unique_ptr<MeshPart<dim>> present = next.get();
            if (present->end < n)
              next = std::async(std::launch::async, make_part, present->end);
            const unsigned int begin = present->begin;
            try
              {
                const std::size_t bytes = Device::Assembler<dim>::memory(
                  present->mesh, present->sparsity, tables, exponents.size());
                if (bytes > limit)
                  throw Device::RowTooLarge(begin, 0);
                workspace->reserve_mesh(std::max(bytes, mesh_limit));
                Device::Assembler<dim> assembler(present->mesh,
                                                 present->sparsity,
                                                 present->first,
                                                 present->first + present->end -
                                                   begin,
                                                 degrees,
                                                 tables,
                                                 exponents,
                                                 *workspace,
                                                 parallel_ranges);
                function(*present, assembler);
              }
            catch (const Device::RowTooLarge &error)
              {
                // The estimate does not include the data that kernels and
                // coefficients keep for a part: a smaller part may leave enough
                // memory for the row.
                if (present->end - begin > 1)
                  {
                    if (next.valid())
                      next.wait();
                    mesh_limit /= 2;
                    workspace->release();
                    next = std::async(std::launch::async, make_part, begin);
                    continue;
                  }
                const unsigned int k =
                  error.bytes == 0 ? begin : present->polytope[error.polytope];
                const std::string need =
                  "The block row of polytope " + std::to_string(k) +
                  " needs about " + megabytes(part[k] + row[k]) +
                  " of memory on the CUDA device (mesh " + megabytes(part[k]) +
                  ", values and coefficients " + megabytes(row[k]) + "), but ";
                if (problem.n_sharing > 1 && limit == problem.device_memory)
                  throw Device::Error(
                    need + "assembly by one of the " +
                    std::to_string(problem.n_sharing) +
                    " processes that share it may use only " +
                    megabytes(limit) +
                    " there. Use fewer processes a device, or the host "
                    "backend.");
                if (problem.device_memory > 0 && limit == problem.device_memory)
                  throw Device::Error(need + "assembly may use only " +
                                      megabytes(limit) +
                                      " there. Raise this limit of the device "
                                      "memory, or use the host backend.");
                throw Device::Error(need + "only " + megabytes(limit) +
                                    " are free there. Free memory of the "
                                    "device, use a smaller problem, or the "
                                    "host backend.");
              }
            if (present->end == n)
              break;
          }
      };
      const auto evaluation_of = [&](const MeshPart<dim> &present) {
        Device::Evaluation<dim> evaluation;
        evaluation.coefficients = problem.coefficients;
        evaluation.arrays       = [&mesh, &present]() {
          return coefficient_arrays(mesh, present);
        };
        return evaluation;
      };

      // ---- penalty, which needs both sides of facets; these may be in
      // different parts
      std::vector<double> whole_sigma;
      const double       *all_sigma = problem.penalty.sigma;
      if (problem.device_penalty || a_bar_wanted != nullptr)
        {
          std::vector<double> a_bar(2 * std::size_t(mesh.n_facets()), 0.),
            local;
          for_parts([&](const MeshPart<dim>    &present,
                        Device::Assembler<dim> &assembler) {
            local.resize(2 * present.facet.size());
            assembler.largest_diffusion(evaluation_of(present), local.data());
            const PolytopicMesh<dim> &M = present.mesh;
            for (unsigned int e = M.polytope_interface_offset[present.first];
                 e < M.polytope_interface_offset[present.first + present.end -
                                                 present.begin];
                 ++e)
              {
                const unsigned int code = M.polytope_interface[e];
                for (unsigned int f = M.facet_offset[code / 2];
                     f < M.facet_offset[code / 2 + 1];
                     ++f)
                  a_bar[2 * std::size_t(present.facet[f]) + code % 2] =
                    local[2 * std::size_t(f) + code % 2];
              }
          });
          if (a_bar_wanted != nullptr)
            {
              *a_bar_wanted = std::move(a_bar);
              return Device::Times();
            }
          whole_sigma.resize(mesh.n_facets());
          for (std::size_t f = 0; f < whole_sigma.size(); ++f)
            whole_sigma[f] =
              problem.penalty_constant *
              std::max(mesh.penalty_factor[2 * f] * a_bar[2 * f],
                       mesh.penalty_factor[2 * f + 1] * a_bar[2 * f + 1]);
          all_sigma = whole_sigma.data();
        }

      Device::Times times;
      times.n_parts = 0;
      std::vector<double> sigma;
      for_parts(
        [&](const MeshPart<dim> &present, Device::Assembler<dim> &assembler) {
          sigma.resize(present.facet.size());
          for_ranges(sigma.size(),
                     8192,
                     [&](const std::size_t from, const std::size_t to) {
                       for (std::size_t f = from; f < to; ++f)
                         sigma[f] = all_sigma[present.facet[f]];
                     });

          const unsigned int     begin       = present.begin;
          AssemblyTarget<Number> part_target = target;
          for (Number **values :
               {&part_target.device_values, &part_target.host_values})
            if (*values != nullptr)
              *values += sparsity.value_offset[begin];
          for (Number **rhs : {&part_target.device_rhs, &part_target.host_rhs})
            if (*rhs != nullptr)
              *rhs += mesh.dof_offset[begin];
          const unsigned int shift = present.first;
          if (target.store_block_rows)
            part_target.store_block_rows =
              [&target, begin, shift](const unsigned int from,
                                      const unsigned int to,
                                      const Number      *values) {
                target.store_block_rows(from - shift + begin,
                                        to - shift + begin,
                                        values);
              };
          const Device::Evaluation<dim> evaluation = evaluation_of(present);
          times.add(run_rows(problem,
                             data,
                             assembler,
                             begin,
                             shift,
                             {sigma.data(), 0},
                             part_target,
                             problem.coefficients ? &evaluation : nullptr));
          ++times.n_parts;
        });
      return times;
    }



#  define INSTANTIATE(dim)                              \
    template class CUDAAssembly<dim>;                   \
    template Device::Times CUDAAssembly<dim>::assemble( \
      const Problem &, const AssemblyTarget<double> &); \
    template Device::Times CUDAAssembly<dim>::assemble( \
      const Problem &, const AssemblyTarget<float> &)

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#  undef INSTANTIATE
  } // namespace internal
} // namespace Tessella

#endif
