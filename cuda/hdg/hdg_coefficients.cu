// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <chrono>

#include "../../source/hdg/tensor.h"
#include "../backends/mesh_data.h"
#include "hdg_coefficients.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
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



        void
        copy(double *to, const double *from, const std::size_t n)
        {
          check(cudaMemcpy(to, from, 8 * n, cudaMemcpyHostToDevice),
                "a copy to the device");
        }



        /// Adds the seconds of its life to a sum.
        class AddTime
        {
        public:
          explicit AddTime(double &sum)
            : sum(sum)
          {}
          ~AddTime()
          {
            sum += std::chrono::duration<double>(
                     std::chrono::steady_clock::now() - start)
                     .count();
          }

        private:
          double                                     &sum;
          const std::chrono::steady_clock::time_point start =
            std::chrono::steady_clock::now();
        };
      } // namespace



      template <int dim>
      std::size_t
      HDGCoefficients<dim>::fixed_bytes() const
      {
        std::size_t n = boundary.size() + tau.size();
        for (const Array<double> &values : fields)
          n += values.size();
        for (const Array<double> &values : cell_values)
          n += values.size();
        return 8 * n;
      }



      template <int dim>
      void
      HDGCoefficients<dim>::prepare(const HDGProblem<dim> &problem,
                                    HDGData<dim>          &data)
      {
        seconds = 0.;
        const AddTime timer(seconds);
        boundary.resize(8ull * plan.n_boundary_point_groups);
        if (!problem.boundary.empty())
          copy(boundary.data(),
               problem.boundary.data(),
               problem.boundary.size());
        data.boundary_table    = boundary.data();
        data.n_boundary_points = 4ull * plan.n_boundary_point_groups;
        if (!problem.tau.empty())
          {
            tau.resize(problem.tau.size());
            copy(tau.data(), problem.tau.data(), problem.tau.size());
          }
        data.tau   = problem.tau.empty() ? nullptr : tau.data();
        data.robin = problem.robin;
        if (problem.coefficients != nullptr)
          prepare_evaluation(*problem.coefficients, data);
      }



      template <int dim>
      void
      HDGCoefficients<dim>::launch(const HDGProblem<dim> &problem,
                                   HDGData<dim>          &data)
      {
        const AddTime       timer(seconds);
        const HDGForm<dim> &form  = problem.form;
        const unsigned int  begin = data.first, end = data.last;
        data.volume_table = nullptr;
        data.facet_table  = nullptr;
        data.first_volume_point =
          plan.subcell_q[plan.mesh.subcell_offset[begin]];
        data.first_facet_point_group = plan.facet_begin[begin];
        data.n_volume_points         = plan.n_volume_points(begin, end);
        volume_table.resize(n_volume_values(form, begin, end));
        facet_table.resize(n_facet_values(form, begin, end));
        // If the device cannot evaluate, the host does, and describes the
        // error.
        if (problem.coefficients == nullptr ||
            !evaluate(*problem.coefficients, data))
          tabulate_on_host(problem, data);
        data.volume_table = volume_table.data();
        data.facet_table =
          n_facet_values(form, begin, end) > 0 ? facet_table.data() : nullptr;
        if (form.table_c >= 0 || problem.robin)
          find_fixed(data);
      }



      template <int dim>
      void
      HDGCoefficients<dim>::tabulate_on_host(const HDGProblem<dim> &problem,
                                             const HDGData<dim>    &data)
      {
        const std::size_t n_volume = n_volume_values(problem.form,
                                                     data.first,
                                                     data.last),
                          n_facets =
                            n_facet_values(problem.form, data.first, data.last);
        if (n_volume + n_facets == 0)
          return;
        tables.resize(n_volume + n_facets);
        problem.tabulate(data.first,
                         data.last,
                         data.n_volume_points,
                         n_volume > 0 ? tables.data() : nullptr,
                         tables.data() + n_volume);
        if (n_volume > 0)
          copy(volume_table.data(), tables.data(), n_volume);
        if (n_facets > 0)
          copy(facet_table.data(), tables.data() + n_volume, n_facets);
      }



      template <int dim>
      void
      HDGCoefficients<dim>::find_fixed(const HDGData<dim> &data)
      {
        fixed.resize(plan.mesh.n_owned_polytopes());
        hdg_fixed_kernel<dim><<<(data.last - data.first + 3) / 4, 128>>>(
          data,
          upload.all_facet_point_groups,
          data.form.table_c < 0
            ? nullptr
            : volume_table.data() + data.form.table_c * data.n_volume_points,
          fixed.data());
        check(cudaGetLastError(), "the coefficients");
      }



      template <int dim>
      void
      HDGCoefficients<dim>::download_fixed(std::vector<char> &values) const
      {
        values.resize(plan.mesh.n_owned_polytopes());
        check(cudaMemcpy(values.data(),
                         fixed.data(),
                         values.size(),
                         cudaMemcpyDeviceToHost),
              "a copy to the host");
      }



      template <int dim>
      void
      HDGCoefficients<dim>::prepare_evaluation(
        const DeviceCoefficients<dim> &coefficients, const HDGData<dim> &data)
      {
        if (task.record == nullptr)
          {
            task.mesh              = make_mesh_data(data.D);
            task.point_groups      = upload.all_facet_point_groups;
            task.entry_point_group = upload.all_entry_point_groups;
            boundary_point_group_list =
              upload.copies.upload(plan.boundary_point_groups);
            record.resize(1);
            task.record = record.data();
          }
        const auto &list  = coefficients.fields();
        task.n_components = 1;
        for (std::size_t i = 0; i < list.size(); ++i)
          {
            task.field_component[i]    = list[i].component();
            task.n_field_components[i] = list[i].n_components();
            task.field[i]              = list[i].device_values();
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



      template <int dim>
      void
      HDGCoefficients<dim>::set_task(const HDGData<dim> &data)
      {
        const HDGForm<dim> &form  = data.form;
        const unsigned int  begin = plan.facet_begin[data.first],
                           end    = plan.facet_begin[data.last];
        task.volume_layout.a      = form.table_a;
        task.volume_layout.b      = form.table_b;
        task.volume_layout.c      = form.table_c;
        task.volume_layout.f      = form.table_f;
        task.volume_layout.tensor = form.tensor;
        task.volume_layout.n      = form.n_tables;
        task.volume_table         = volume_table.data();
        task.n_volume_points      = data.n_volume_points;
        task.first_volume_point   = data.first_volume_point;
        task.first_polytope       = data.first;
        task.n_polytopes          = data.last - data.first;
        task.first_point_group    = begin;
        // All point groups if b.n is tabulated, else those on the boundary.
        if (form.facet_table)
          {
            task.point_group_list = nullptr;
            task.n_point_groups   = end - begin;
            task.normal_advection = facet_table.data();
          }
        else
          {
            const std::vector<unsigned int> &list = plan.boundary_point_groups;
            const auto                       first =
                         std::lower_bound(list.begin(), list.end(), begin),
                       last = std::lower_bound(first, list.end(), end);
            task.point_group_list =
              boundary_point_group_list + (first - list.begin());
            task.n_point_groups   = last - first;
            task.normal_advection = nullptr;
          }
        task.boundary_data     = boundary.data();
        task.n_boundary_points = data.n_boundary_points;
      }



      template <int dim>
      ErrorRecord
      HDGCoefficients<dim>::launch_evaluation(
        const DeviceCoefficients<dim> &coefficients,
        const HDGData<dim>            &data,
        const unsigned long long       wanted)
      {
        const HDGForm<dim> &form  = data.form;
        const auto          start = [&](const CoefficientKernel kernel,
                               const std::uint64_t     n_points) {
          if (n_points == 0)
            return;
          const std::string error =
            coefficients.launch(kernel,
                                task,
                                (unsigned int)((n_points + tabulation_threads -
                                                1) /
                                               tabulation_threads),
                                1,
                                nullptr);
          if (!error.empty())
            throw Error(error);
        };
        ErrorRecord result = {};
        result.key         = ~0ull;
        check(cudaMemcpy(
                record.data(), &result, sizeof(result), cudaMemcpyHostToDevice),
              "a copy to the device");
        task.wanted = wanted;
        start(CoefficientKernel::volume,
              form.n_tables > 0 ? data.n_volume_points : 0);
        start(CoefficientKernel::traces, 4ull * task.n_point_groups);
        if (wanted == ~0ull && form.table_a >= 0)
          hdg_invert_kernel<dim>
            <<<(unsigned int)((data.n_volume_points + 127) / 128), 128>>>(
              volume_table.data() + form.table_a * data.n_volume_points,
              data.n_volume_points,
              form.tensor,
              record.data());
        check(cudaMemcpy(
                &result, record.data(), sizeof(result), cudaMemcpyDeviceToHost),
              "the coefficients");
        return result;
      }



      template <int dim>
      bool
      HDGCoefficients<dim>::evaluate(
        const DeviceCoefficients<dim> &coefficients, const HDGData<dim> &data)
      {
        set_task(data);
        const unsigned long long key =
          launch_evaluation(coefficients, data, ~0ull).key;
        if (key == ~0ull)
          return true;
        if (key == not_positive)
          return false;
        coefficients.throw_error(
          launch_evaluation(coefficients, data, key).error);
        return false; // not reached
      }



      template class HDGCoefficients<2>;
      template class HDGCoefficients<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
