// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "form_tables.h"

#include <algorithm>

#include "../backends/facet_points.h"
#include "../backends/host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    class FormTables<dim>::Evaluator
    {
    public:
      Evaluator(FormTables                &tables,
                const HostProblem<dim>    &problem,
                const std::vector<double> &sigma)
        : tables(tables)
        , problem(problem)
        , mesh(problem.mesh)
        , sigma(sigma)
        , volume_points(buffer_capacity(problem.rules))
        , facet_points(mesh, problem.dofs, problem.rules, problem.kernels)
        , memory((4 * dim + 2) * facet_points.array_size)
      {}

      void
      evaluate(const unsigned int k, std::vector<NewRecord> &records)
      {
        if (tables.n_volume > 0)
          evaluate_volume(k, records);
        if (!tables.facet_structure.facets)
          return;
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int code     = mesh.polytope_interface[e],
                               neighbor = mesh.neighbor(code);
            evaluate_interface(code, records);
            if (neighbor != invalid_index &&
                neighbor >= mesh.n_owned_polytopes())
              evaluate_interface(code ^ 1u, records);
          }
      }

    private:
      void
      evaluate_volume(const unsigned int k, std::vector<NewRecord> &records);
      void
      evaluate_interface(const unsigned int code, std::vector<NewRecord> &);
      // Evaluates the points in the buffer and copies the results to @p to,
      // whose arrays have a distance of @p n.
      void
      process(const unsigned int n, double *to);

      FormTables                &tables;
      const HostProblem<dim>    &problem;
      const PolytopicMesh<dim>  &mesh;
      const std::vector<double> &sigma;
      VolumePointBuffer<dim>     volume_points;
      FacetPointBuffer<dim>      facet_points;
      std::vector<double>        memory, result;
    };



    template <int dim>
    void
    FormTables<dim>::Evaluator::evaluate_volume(const unsigned int      k,
                                                std::vector<NewRecord> &records)
    {
      unsigned int n_all = 0;
      for (unsigned int s = mesh.subcell_offset[k];
           s < mesh.subcell_offset[k + 1];
           ++s)
        n_all +=
          problem.rules.n_subcell_points(mesh, s, problem.dofs.degree[k]);
      NewRecord record = {&tables.volume_places[k], tables.n_volume, n_all, {}};
      record.values.resize(std::size_t(n_all) * tables.n_volume);
      const VolumeStructure &structure = tables.volume_structure;
      unsigned int subcell = mesh.subcell_offset[k], point = 0, first = 0;
      const bool   tensor = structure.diffusion == DiffusionType::tensor;
      while (subcell < mesh.subcell_offset[k + 1])
        {
          volume_points.fill(mesh,
                             problem.dofs,
                             problem.rules,
                             problem.kernels,
                             k,
                             subcell,
                             point);
          double    *next = record.values.data() + first;
          const auto take = [&](const bool wanted) {
            double *const result = wanted ? next : nullptr;
            next += wanted ? n_all : 0;
            return result;
          };
          VolumeBlocks<dim> blocks;
          for (unsigned int d = 0; d < dim * dim; ++d)
            blocks.a[d] =
              take(tensor ||
                   (d == 0 && structure.diffusion == DiffusionType::isotropic));
          for (unsigned int d = 0; d < dim; ++d)
            blocks.beta[d] = take(structure.beta);
          for (unsigned int d = 0; d < dim; ++d)
            blocks.b[d] = take(structure.b);
          blocks.c = take(structure.c);
          blocks.f = nullptr;
          problem.form.evaluate_volume(volume_points.batch(), blocks);
          first += volume_points.n_points;
        }
      records.push_back(std::move(record));
    }



    template <int dim>
    void
    FormTables<dim>::Evaluator::evaluate_interface(
      const unsigned int code, std::vector<NewRecord> &records)
    {
      const unsigned int interface = code / 2;
      const unsigned int degree =
        Device::interface_degree(mesh, problem.dofs, interface);
      const unsigned int begin    = mesh.facet_offset[interface],
                         end      = mesh.facet_offset[interface + 1];
      const unsigned int n_arrays = mesh.neighbor(code) == invalid_index
                                      ? tables.n_boundary
                                      : tables.n_interior;
      unsigned int       n_all    = 0;
      for (unsigned int f = begin; f < end; ++f)
        n_all += problem.rules.n_facet_points(mesh, f, degree);
      result.resize(std::size_t(n_arrays) * n_all);
      facet_points.append_interface(code, sigma, [&]() {
        process(n_all, result.data());
      });
      process(n_all, result.data());
      unsigned int first = 0;
      for (unsigned int f = begin; f < end; ++f)
        {
          const unsigned int n = problem.rules.n_facet_points(mesh, f, degree);
          NewRecord          record = {
                     &tables.facet_places[2 * std::size_t(f) + code % 2],
                     n_arrays,
                     n,
                     {}};
          record.values.resize(std::size_t(n) * n_arrays);
          for (unsigned int i = 0; i < n_arrays; ++i)
            std::copy_n(result.data() + std::size_t(i) * n_all + first,
                        n,
                        record.values.data() + std::size_t(i) * n);
          records.push_back(std::move(record));
          first += n;
        }
    }



    template <int dim>
    void
    FormTables<dim>::Evaluator::process(const unsigned int n, double *to)
    {
      for (const auto &segment : facet_points.segments)
        {
          const bool boundary = segment.boundary_id != invalid_index;
          const FacetPointBatch<dim> batch =
            facet_points.batch(segment.begin, segment.end, segment.boundary_id);
          FacetBlocks<dim> blocks;
          double          *next = memory.data();
          const auto       take = [&](const bool wanted) {
            double *const result = wanted ? next : nullptr;
            next += wanted ? facet_points.array_size : 0;
            return result;
          };
          const FacetStructure &structure = tables.facet_structure;
          const bool            beta = structure.beta && !tables.penalty_facets;
          for (unsigned int side = 0; side < 2; ++side)
            for (unsigned int d = 0; d < dim; ++d)
              blocks.b[side][d] = take(structure.b && (side == 0 || !boundary));
          for (unsigned int side = 0; side < 2; ++side)
            for (unsigned int d = 0; d < dim; ++d)
              blocks.beta[side][d] = take(beta && (side == 0 || !boundary));
          blocks.c[0] = take(true);
          // The array that follows the stored ones takes c_1 if it is not
          // needed.
          blocks.c[1] = take(!boundary);
          blocks.r    = nullptr;
          std::fill(blocks.s, blocks.s + dim, nullptr);
          if (boundary)
            problem.form.evaluate_boundary_facets(batch, blocks);
          else
            problem.form.evaluate_interior_facets(batch, blocks);
          const unsigned int n_arrays =
            boundary ? tables.n_boundary : tables.n_interior;
          for (unsigned int i = 0; i < n_arrays; ++i)
            std::copy_n(memory.data() + i * facet_points.array_size,
                        segment.n_points,
                        to + std::size_t(i) * n + segment.first);
        }
      facet_points.clear();
    }



    template <int dim>
    void
    FormTables<dim>::store(const NewRecord &record, std::uint64_t &last)
    {
      const std::vector<double> &given    = record.values;
      const unsigned int         n        = record.n_points;
      bool                       constant = n > 0;
      for (unsigned int i = 0; i < record.n_arrays && constant; ++i)
        {
          const auto begin = given.begin() + std::size_t(i) * n;
          constant = std::all_of(begin, begin + n, [begin](const double value) {
            return value == *begin;
          });
        }
      if (!constant)
        {
          *record.place = values.size();
          values.insert(values.end(), given.begin(), given.end());
          return;
        }
      bool same = last != ~std::uint64_t(0);
      for (unsigned int i = 0; i < record.n_arrays && same; ++i)
        same = values[last + i] == given[std::size_t(i) * n];
      if (!same)
        {
          last = values.size();
          for (unsigned int i = 0; i < record.n_arrays; ++i)
            values.push_back(given[std::size_t(i) * n]);
        }
      *record.place = last | constant_bit;
    }



    template <int dim>
    void
    FormTables<dim>::reinit(const HostProblem<dim>    &problem,
                            const std::vector<double> &sigma)
    {
      volume_structure = problem.form.volume_structure();
      facet_structure  = problem.form.facet_structure();
      penalty_facets   = facet_structure.b && facet_structure.beta &&
                       problem.form.has_penalty_facets(theta);
      const VolumeStructure &volume = volume_structure;
      n_volume = (volume.diffusion == DiffusionType::none        ? 0
                  : volume.diffusion == DiffusionType::isotropic ? 1
                                                                 : dim * dim) +
                 (volume.beta ? dim : 0) + (volume.b ? dim : 0) +
                 (volume.c ? 1 : 0);
      const unsigned int n_vectors =
        (facet_structure.b ? 1 : 0) +
        (facet_structure.beta && !penalty_facets ? 1 : 0);
      n_boundary = n_vectors * dim + 1;
      n_interior = 2 * n_vectors * dim + (penalty_facets ? 1 : 2);

      const unsigned int n = problem.mesh.n_owned_polytopes();
      values.clear();
      volume_places.assign(n, 0);
      facet_places.assign(2 * std::size_t(problem.mesh.n_facets()), 0);
      // Records of several polytopes are evaluated by all threads and stored in
      // the order of the polytopes.
      constexpr unsigned int chunk = 4096;
      std::uint64_t          last[3];
      std::fill(last, last + 3, ~std::uint64_t(0));
      std::vector<std::vector<NewRecord>> records(std::min(n, chunk));
      for (unsigned int first = 0; first < n; first += chunk)
        {
          const unsigned int size = std::min(chunk, n - first);
          for_polytopes(size,
                        [&](const unsigned int begin, const unsigned int end) {
                          Evaluator evaluator(*this, problem, sigma);
                          for (unsigned int k = begin; k < end; ++k)
                            {
                              records[k].clear();
                              evaluator.evaluate(first + k, records[k]);
                            }
                        });
          for (unsigned int k = 0; k < size; ++k)
            for (const NewRecord &record : records[k])
              {
                const bool is_volume =
                  record.place >= volume_places.data() &&
                  record.place < volume_places.data() + volume_places.size();
                store(record,
                      last[is_volume                       ? 0
                           : record.n_arrays == n_interior ? 1
                                                           : 2]);
              }
        }
      values.shrink_to_fit();
    }



    template <int dim>
    std::size_t
    FormTables<dim>::memory_consumption() const
    {
      return values.capacity() * sizeof(double) +
             (volume_places.capacity() + facet_places.capacity()) *
               sizeof(std::uint64_t);
    }



    template class FormTables<2>;
    template class FormTables<3>;
    template class FormTables<4>;
  } // namespace internal
} // namespace Tessella
