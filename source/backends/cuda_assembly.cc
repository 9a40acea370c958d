// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Host side of assembly on a CUDA device.

#include "cuda_assembly.h"

#include <deal.II/base/exceptions.h>

#include <tessella/grid/revision.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "cuda_tabulation.h"
#include "host_assembly.h"
#include "host_dispatch.h"
#include "mesh_part.h"
#include "mesh_part_loop.h"

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

      // Degrees that determine the choice of kernels, equal on all processes.
      template <int dim>
      Device::Degrees
      make_degrees(const PolytopicMesh<dim> &mesh, const PolytopicDoFs &dofs)
      {
        Device::Degrees degrees;
        const bool      whole_space = dofs.whole.is_set;
        degrees.max_degree          = highest_degree(dofs);
        degrees.max_basis =
          whole_space
            ? dofs.whole.max_basis
            : *std::max_element(dofs.n_basis.begin(), dofs.n_basis.end());
        degrees.min_basis =
          whole_space
            ? dofs.whole.min_basis
            : *std::min_element(dofs.n_basis.begin(), dofs.n_basis.end());
        const unsigned int subcells = subcell_types(mesh),
                           facets   = facet_types(mesh);
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
        degrees.parallelepipeds =
          dim < 4 && !mesh.prismatic &&
          subcells ==
            1u << static_cast<unsigned int>(SubCellType::parallelepiped) &&
          facets ==
            (dim == 2
               ? simplex
               : 1u << static_cast<unsigned int>(FacetType::quadrilateral));
        degrees.bottom_id = mesh.bottom_id;
        return degrees;
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



      /// Evaluates the coefficients of rows with the host's threads, in the
      /// tables that an assembler asks for.
      template <int dim>
      class RowTabulation
      {
      public:
        using Problem = typename CUDAAssembly<dim>::Problem;

        /// Polytope @p first of the mesh has index @p shift in the assembler.
        RowTabulation(const Problem                &problem,
                      const Device::FormData<dim>  &data,
                      const Device::Assembler<dim> &assembler,
                      const unsigned int            first,
                      const unsigned int            shift)
          : problem(problem)
          , mesh(problem.mesh)
          , data(data)
          , assembler(assembler)
          , first(first)
          , shift(shift)
          , host{problem.mesh,
                 problem.dofs,
                 problem.form,
                 problem.rules,
                 select_kernels<dim>(problem.instruction_set),
                 data}
          , sigma(problem.penalty.sigma)
          , diffusion(problem.diffusion)
        {}

        /// Computes the volume and facet tables of a chunk.
        void
        tabulate(const Device::Chunk &local,
                 double              *volume_table,
                 double              *facet_table) const
        {
          // Chunk with the polytope indices of the whole mesh.
          Device::Chunk chunk = local;
          chunk.begin += first - shift;
          chunk.end += first - shift;
          for_polytopes(chunk.end - chunk.begin,
                        [&](const unsigned int begin, const unsigned int end) {
                          if (data.volume_layout.n > 0)
                            host.volume(subcell_points(),
                                        chunk,
                                        chunk.begin + begin,
                                        chunk.begin + end,
                                        volume_table,
                                        diffusion);
                          facets(chunk, begin, end, facet_table);
                        });
        }

        /// Sets the functions for two rounds, see Device::Tabulation. The
        /// assembler has all polytopes. @p a_bar and @p kept_sigma are memory
        /// for the penalty. This object must outlive @p tabulation.
        void
        tabulate_in_rounds(Device::Tabulation  &tabulation,
                           std::vector<double> &a_bar,
                           std::vector<double> &kept_sigma)
        {
          tabulation.start_chunks = [this]() {
            const auto found = problem.find_penalty();
            sigma            = found.first.sigma;
            diffusion        = found.second;
          };
          const bool penalty_varies =
            data.volume_layout.a >= 0 && problem.form.facet_structure().penalty;
          if (penalty_varies)
            set_zero(a_bar, 2 * std::size_t(mesh.n_facets()));
          else
            kept_sigma.assign(mesh.n_facets(), 0.);
          tabulation.volume = [this, &a_bar, penalty_varies](
                                const Device::Chunk &chunk, double *table) {
            return host.packed_volume(subcell_points(),
                                      chunk,
                                      table,
                                      penalty_varies ? a_bar.data() : nullptr);
          };
          tabulation.start_facets =
            [this, &a_bar, &kept_sigma, penalty_varies]() {
              if (penalty_varies)
                penalty_from_diffusion(problem.dofs,
                                       problem.penalty_constant,
                                       a_bar,
                                       kept_sigma);
              sigma = kept_sigma.data();
            };
          tabulation.facets = [this](const Device::Chunk &chunk,
                                     double              *table) {
            for_polytopes(chunk.end - chunk.begin,
                          [&](const unsigned int begin,
                              const unsigned int end) {
                            facets(chunk, begin, end, table);
                          });
          };
          tabulation.packed_facets = [this](const Device::Chunk &chunk,
                                            double              *interior,
                                            double              *boundary) {
            host.packed_facets(sigma,
                               assembler.points().interior,
                               assembler.points().boundary,
                               chunk,
                               interior,
                               boundary);
          };
        }

      private:
        Device::Range<std::uint64_t>
        subcell_points() const
        {
          return {assembler.points().subcell, mesh.subcell_offset[first]};
        }

        /// Facet tables of polytopes [begin, end) of a chunk.
        void
        facets(const Device::Chunk &chunk,
               const unsigned int   begin,
               const unsigned int   end,
               double              *table) const
        {
          if (chunk.n_facet_points > 0 && data.facet_layout.n > 0)
            host.facets(sigma,
                        Device::Range<std::uint64_t>{
                          assembler.points().entry,
                          mesh.polytope_interface_offset[first]},
                        chunk,
                        chunk.begin + begin,
                        chunk.begin + end,
                        table);
        }

        /// Sets an array to zero with all threads.
        static void
        set_zero(std::vector<double> &array, const std::size_t n)
        {
          array.resize(n);
          for_ranges(
            n, 1 << 14, [&](const std::size_t begin, const std::size_t end) {
              std::fill(array.begin() + begin, array.begin() + end, 0.);
            });
        }

        const Problem                &problem;
        const PolytopicMesh<dim>     &mesh;
        const Device::FormData<dim>  &data;
        const Device::Assembler<dim> &assembler;
        const unsigned int            first, shift;
        const HostTabulation<dim>     host;
        /// Set later if the penalty is not known yet.
        const double               *sigma;
        const DiffusionValues<dim> *diffusion;
      };



      // Largest n . a n on both sides of all facets, computed part by part.
      template <int dim, typename EvaluationOf>
      std::vector<double>
      largest_diffusion_of_parts(const PolytopicMesh<dim> &mesh,
                                 MeshPartLoop<dim>        &parts,
                                 const EvaluationOf       &evaluation_of)
      {
        std::vector<double> a_bar(2 * std::size_t(mesh.n_facets()), 0.), local;
        parts.run([&](const MeshPart<dim>    &part,
                      Device::Assembler<dim> &assembler) {
          local.resize(2 * part.facet.size());
          assembler.largest_diffusion(evaluation_of(part), local.data());
          const PolytopicMesh<dim> &M = part.mesh;
          for (unsigned int e = M.polytope_interface_offset[part.first];
               e <
               M.polytope_interface_offset[part.first + part.end - part.begin];
               ++e)
            {
              const unsigned int code = M.polytope_interface[e];
              for (unsigned int f = M.facet_offset[code / 2];
                   f < M.facet_offset[code / 2 + 1];
                   ++f)
                a_bar[2 * std::size_t(part.facet[f]) + code % 2] =
                  local[2 * std::size_t(f) + code % 2];
            }
        });
        return a_bar;
      }



      // Destination of the rows of a part. @p target must outlive the result.
      template <int dim, typename Number>
      AssemblyTarget<Number>
      target_of_part(const PolytopicDoFs          &dofs,
                     const BlockSparsity          &sparsity,
                     const MeshPart<dim>          &part,
                     const AssemblyTarget<Number> &target)
      {
        const unsigned int     begin = part.begin, shift = part.first;
        AssemblyTarget<Number> result = target;
        for (Number **values : {&result.device_values, &result.host_values})
          if (*values != nullptr)
            *values +=
              sparsity.value_offset[begin] - sparsity.value_offset.front();
        for (Number **rhs : {&result.device_rhs, &result.host_rhs})
          if (*rhs != nullptr)
            *rhs += dofs.dof_offset[begin] - dofs.dof_offset.front();
        if (target.store_block_rows)
          result.store_block_rows =
            [&target, begin, shift](const unsigned int from,
                                    const unsigned int to,
                                    const Number      *values) {
              target.store_block_rows(from - shift + begin,
                                      to - shift + begin,
                                      values);
            };
        return result;
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
          kept_mesh.reset();
          device.reset();
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
    CUDAAssembly<dim>::prepare(const Discretisation &discretisation)
    {
      guard([&]() {
        select_mesh(discretisation);
        if (device != nullptr)
          return;
        send_mesh(discretisation);
        prepared = device != nullptr;
        // Not for slabs, whose facet coefficients vary at the bottom.
        if (prepared && !discretisation.mesh.prismatic)
          device->expect_constant_facets();
      });
    }



    template <int dim>
    void
    CUDAAssembly<dim>::select_mesh(const Discretisation &discretisation)
    {
      const PolytopicMesh<dim> &mesh       = discretisation.mesh;
      const PolytopicDoFs      &dofs       = discretisation.dofs;
      const PolynomialSpaceType space      = discretisation.space;
      const auto               &compressed = discretisation.rules.compressed;
      const Key                 key        = {{mesh.revision,
                                               mesh.quadrature_revision,
                                               dofs.revision,
                                               discretisation.coefficient_order,
                                               static_cast<unsigned int>(space),
                        compressed == nullptr ? 0 : compressed->revision}};
      if (key == present &&
          SpaceRevision{mesh.revision, dofs.revision}.is_known())
        return;
      const bool same_mesh = key[0] == present[0] && key[1] == present[1];
      if (!same_mesh)
        kept_mesh.reset();
      else if (device != nullptr)
        kept_mesh = device->shared_mesh();
      device.reset();
      present         = key;
      degrees         = make_degrees(mesh, dofs);
      tables          = device_rule_tables(mesh,
                                  dofs,
                                  discretisation.rules,
                                  degrees.parallelepipeds);
      kept_compressed = compressed;
      if (compressed != nullptr)
        tables.volume_points = {compressed->offset.data(),
                                compressed->points.data()};
      const unsigned int max_degree = highest_degree(dofs);
      // Spaces of lower degree are prefixes of the largest space.
      exponents.resize(dim * Legendre::n_functions(dim, max_degree, space));
      Legendre::exponents(dim, max_degree, space, exponents.data());
    }



    template <int dim>
    void
    CUDAAssembly<dim>::send_mesh(const Discretisation &discretisation)
    {
      const PolytopicMesh<dim> &mesh     = discretisation.mesh;
      const PolytopicDoFs      &dofs     = discretisation.dofs;
      const BlockSparsity      &sparsity = discretisation.sparsity;
      workspace->set_limit(discretisation.device_memory);
      const std::size_t bytes = Device::Assembler<dim>::memory(
        mesh, dofs, sparsity, tables, exponents.size());
      if (bytes > workspace->limit() / 2)
        {
          kept_mesh.reset();
          device.reset();
          return;
        }
      if (device != nullptr)
        return;
      // Releases the memory of a much larger mesh.
      if (workspace->used() > 4 * bytes)
        workspace->release();
      device = std::make_unique<Device::Assembler<dim>>(
        Device::AssemblerInput<dim>{mesh,
                                    dofs,
                                    sparsity,
                                    0,
                                    mesh.n_owned_polytopes(),
                                    degrees,
                                    tables,
                                    exponents,
                                    *workspace,
                                    parallel_ranges});
      kept_mesh.reset();
    }



    template <int dim>
    template <typename Number>
    Device::Times
    CUDAAssembly<dim>::run(const Problem                &problem,
                           const AssemblyTarget<Number> &target,
                           std::vector<double>          *a_bar)
    {
      const PolytopicMesh<dim> &mesh = problem.mesh;
      const PolytopicDoFs      &dofs = problem.dofs;
      Device::FormData<dim>     data = make_form_data(mesh,
                                                  problem.form,
                                                  target.has_matrix(),
                                                  target.has_rhs());
      if (problem.system != nullptr)
        data.facet_layout = Device::FacetLayout(); // There are no tables.

      select_mesh(problem);
      if (device == nullptr || prepared)
        send_mesh(problem);
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
          evaluation.factor       = dofs.penalty_factor.data();
          evaluation.factor_revision = dofs.penalty_revision;
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
    CUDAAssembly<dim>::run_rows(const Problem                 &problem,
                                const Device::FormData<dim>   &data,
                                Device::Assembler<dim>        &assembler,
                                const unsigned int             first,
                                const unsigned int             shift,
                                const Device::Penalty         &penalty,
                                const AssemblyTarget<Number>  &target,
                                const Device::Evaluation<dim> *evaluation)
    {
      if (evaluation != nullptr)
        return assembler.assemble(
          data, penalty, {}, target, evaluation, problem.system);

      RowTabulation<dim> rows(problem, data, assembler, first, shift);
      Device::Tabulation tabulation;
      tabulation.chunk = [&](const Device::Chunk &chunk,
                             double              *volume_table,
                             double              *facet_table) {
        rows.tabulate(chunk, volume_table, facet_table);
      };
      if (problem.find_penalty)
        rows.tabulate_in_rounds(tabulation, kept_a_bar, kept_sigma);
      return assembler.assemble(
        data, penalty, tabulation, target, nullptr, problem.system);
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
      const PolytopicMesh<dim> &mesh = problem.mesh;
      const PolytopicDoFs      &dofs = problem.dofs;
      workspace->release();
      workspace->set_limit(problem.device_memory);
      MeshPartLoop<dim> parts({mesh,
                               dofs,
                               problem.sparsity,
                               tables,
                               exponents,
                               degrees,
                               *workspace,
                               parallel_ranges,
                               problem.device_memory,
                               problem.n_sharing},
                              data,
                              problem.coefficients != nullptr,
                              target.device_values ? 0 : sizeof(Number),
                              target.device_rhs ? 0 : sizeof(Number));
      const auto evaluation_of = [&](const MeshPart<dim> &part) {
        Device::Evaluation<dim> evaluation;
        evaluation.coefficients = problem.coefficients;
        evaluation.arrays       = [&mesh, &dofs, &part]() {
          return part.coefficient_arrays(mesh, dofs);
        };
        return evaluation;
      };

      // ---- penalty, which needs both sides of facets; these may be in
      // different parts
      std::vector<double> whole_sigma;
      const double       *all_sigma = problem.penalty.sigma;
      if (problem.device_penalty || a_bar_wanted != nullptr)
        {
          std::vector<double> a_bar =
            largest_diffusion_of_parts<dim>(mesh, parts, evaluation_of);
          if (a_bar_wanted != nullptr)
            {
              *a_bar_wanted = std::move(a_bar);
              return Device::Times();
            }
          penalty_from_diffusion(dofs,
                                 problem.penalty_constant,
                                 a_bar,
                                 whole_sigma);
          all_sigma = whole_sigma.data();
        }

      Device::Times times;
      times.n_parts = 0;
      std::vector<double> sigma;
      parts.run([&](const MeshPart<dim>    &part,
                    Device::Assembler<dim> &assembler) {
        sigma.resize(part.facet.size());
        for_ranges(sigma.size(),
                   8192,
                   [&](const std::size_t from, const std::size_t to) {
                     for (std::size_t f = from; f < to; ++f)
                       sigma[f] = all_sigma[part.facet[f]];
                   });
        const Device::Evaluation<dim> evaluation = evaluation_of(part);
        times.add(run_rows(problem,
                           data,
                           assembler,
                           part.begin,
                           part.first,
                           {sigma.data(), 0},
                           target_of_part(dofs, problem.sparsity, part, target),
                           problem.coefficients ? &evaluation : nullptr));
        ++times.n_parts;
      });
      return times;
    }



#define TESSELLA_INSTANTIATE(dim)                     \
  template class CUDAAssembly<dim>;                   \
  template Device::Times CUDAAssembly<dim>::assemble( \
    const Problem &, const AssemblyTarget<double> &); \
  template Device::Times CUDAAssembly<dim>::assemble( \
    const Problem &, const AssemblyTarget<float> &)

    TESSELLA_INSTANTIATE(2);
    TESSELLA_INSTANTIATE(3);
    TESSELLA_INSTANTIATE(4);
#undef TESSELLA_INSTANTIATE
  } // namespace internal
} // namespace Tessella
