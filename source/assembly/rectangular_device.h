// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_assembly_rectangular_device_h
#define tessella_source_assembly_rectangular_device_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/grid/revision.h>
#include <tessella/lac/device_rectangular_matrix.h>

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "../../cuda/lac/sub_blocks.h"
#include "../backends/assembly_backend.h"
#include "../backends/system_pairs.h"
#include "../grid/space_view.h"
#include "../lac/block_space.h"
#include "rectangular_rows.h"

// Structure and assembly of rectangular matrices in the memory of a device.

namespace Tessella
{
  namespace internal
  {
    /// The scalar space that has the larger degree of two spaces on each
    /// polytope.
    template <int dim>
    class LargerSpace : public SpaceView<dim>
    {
    public:
      /// @p rich is the one of both spaces that has tabulated the quadrature;
      /// its degrees are lower than those of @p dofs by up to @p missing.
      /// Collective.
      LargerSpace(const PolytopicSpace<dim> &rich,
                  const PolytopicDoFs       &dofs,
                  const unsigned int         missing)
        : SpaceView<dim>(rich, PolytopicDoFs(dofs))
        , missing(missing)
        , n_on_process(dealii::Utilities::MPI::all_gather(
            rich.get_communicator(),
            dofs.dof_offset[rich.polytopic_mesh().n_owned_polytopes()]))
      {}

      dealii::types::global_dof_index
      n_dofs() const override
      {
        return std::accumulate(n_on_process.begin(),
                               n_on_process.end(),
                               std::uint64_t(0));
      }
      unsigned int
      max_degree() const override
      {
        return this->space.max_degree();
      }
      unsigned int
      max_dofs_per_polytope() const override
      {
        return Legendre::n_functions(dim,
                                     max_degree(),
                                     this->polynomial_space());
      }
      dealii::IndexSet
      locally_owned_dofs() const override
      {
        const unsigned int rank =
          dealii::Utilities::MPI::this_mpi_process(this->get_communicator());
        const std::uint64_t first = std::accumulate(n_on_process.begin(),
                                                    n_on_process.begin() + rank,
                                                    std::uint64_t(0));
        dealii::IndexSet    result(n_dofs());
        result.add_range(first, first + n_on_process[rank]);
        return result;
      }
      void
      tabulate(const unsigned int extra_order) const override
      {
        this->space.tabulate(extra_order + 2 * missing);
      }

    private:
      const unsigned int               missing;
      const std::vector<std::uint64_t> n_on_process;
    };



    /// Blocks of a rectangular matrix: columns are those of the trial space,
    /// and values follow each other by rows of the test space.
    inline BlockSparsity
    rectangular_blocks(const RectangularStructure &structure)
    {
      BlockSparsity blocks = structure.trial.blocks;
      for (std::size_t k = 0; k < blocks.row_width.size(); ++k)
        blocks.value_offset[k + 1] =
          blocks.value_offset[k] +
          (structure.test.dof_offset[k + 1] - structure.test.dof_offset[k]) *
            blocks.row_width[k];
      return blocks;
    }

    /// Collective.
    template <typename Number>
    void
    reinit_on_device(DeviceRectangularMatrix<Number> &matrix,
                     RectangularStructure            &structure)
    {
      const auto &columns = structure.trial.partition();
      structure.test.on_all_processes([&]() {
        const auto &offset = structure.test.dof_offset;
        matrix.reinit(rectangular_blocks(structure),
                      {offset.begin(),
                       offset.begin() + structure.test.n_owned_polytopes + 1},
                      structure.trial.dof_offset,
                      columns,
                      structure.test.n_dofs);
      });
    }



    /**
     * Assembly into matrices and vectors on a device: an AssemblyBackend
     * computes each pair of components as a scalar form on the larger space,
     * and the sub-blocks that belong to functions of both spaces are copied
     * into the matrix. The backend is that of the parameters; the results of
     * the host are sent to the device.
     */
    template <int dim>
    class RectangularDevice
    {
    public:
      /// Collective.
      RectangularDevice(const PolytopicSpace<dim>  &rich,
                        const PolytopicDoFs        &larger,
                        const unsigned int          missing,
                        const RectangularStructure &structure,
                        const PolytopicDoFs        &test,
                        const PolytopicDoFs        &trial,
                        const AssemblyParameters   &parameters)
        : space(rich, larger, missing)
        , context(space, parameters)
      {
        // The host assembles rectangular matrices with all points, too.
        context.parameters.compression = QuadratureCompression::never;
        MatrixStructure &scalar        = context.structure;
        scalar.blocks =
          BlockSparsity::from_mesh(context.mesh(), context.dofs());
        scalar.dof_offset        = context.dofs().dof_offset;
        scalar.n_owned_polytopes = structure.test.n_owned_polytopes;
        scalar.n_owned_rows      = scalar.dof_offset[scalar.n_owned_polytopes];
        scalar.n_dofs            = space.n_dofs();
        backend                  = make_assembly_backend(context);
        scalar.on_all_processes([&]() { send(structure, test, trial); });
      }

      /// Overwrites the entries of matrix and right-hand side. Collective.
      template <typename Number>
      void
      assemble(const std::vector<SystemPair<dim>> &pairs,
               Number                             *matrix,
               Number                             *rhs,
               AssemblyReport                     &report)
      {
        const MatrixStructure   &scalar = context.structure;
        DeviceSpaceArray<Number> values, entries;
        scalar.on_all_processes([&]() {
          values.resize(scalar.blocks.n_nonzero_elements());
          entries.resize(scalar.n_owned_rows);
        });
        clear_pairs(report);
        for (const SystemPair<dim> &pair : pairs)
          {
            // Blocks of neighbours are written by forms with facets only.
            scalar.on_all_processes([&]() {
              if (!pair.form->facet_structure().facets)
                device_call([&] {
                  Device::VectorOperations<Number>::set_zero(values.size(),
                                                             values.data());
                });
            });
            AssemblyTarget<Number> target;
            target.device_values = values.data();
            target.device_rhs    = pair.rhs ? entries.data() : nullptr;
            backend->assemble(*pair.form, &target);
            add_pair(context.report, report);
            scalar.on_all_processes([&]() {
              device_call([&] {
                Device::copy_sub_blocks(
                  blocks, pair.test, pair.trial, values.data(), matrix);
                if (pair.rhs)
                  Device::copy_sub_rows(blocks, pair.test, entries.data(), rhs);
              });
            });
          }
        report.backend = backend->type();
        report.device  = context.report.device;
      }

    private:
      /// Sends the positions of the sub-blocks to the device.
      void
      send(const RectangularStructure &structure,
           const PolytopicDoFs        &test,
           const PolytopicDoFs        &trial)
      {
        const BlockSparsity &from = context.structure.blocks,
                            to    = rectangular_blocks(structure);
        const std::size_t n       = from.row_width.size();
        n_rows.assign({test.n_basis.begin(), test.n_basis.begin() + n});
        std::vector<unsigned int> columns;
        columns.reserve(from.block_column.size());
        for (const unsigned int l : from.block_column)
          columns.push_back(trial.n_basis[l]);
        n_columns.assign(columns);
        block_offset.assign(from.block_offset);
        from_value.assign(from.value_offset);
        to_value.assign(to.value_offset);
        from_width.assign(from.row_width);
        to_width.assign(to.row_width);
        from_column.assign(from.column_offset);
        to_column.assign(to.column_offset);
        from_row.assign(context.structure.dof_offset);
        to_row.assign(structure.test.dof_offset);
        blocks.n_block_rows = n;
        blocks.block_offset = block_offset.data();
        blocks.from_value   = from_value.data();
        blocks.to_value     = to_value.data();
        blocks.from_width   = from_width.data();
        blocks.to_width     = to_width.data();
        blocks.from_column  = from_column.data();
        blocks.to_column    = to_column.data();
        blocks.n_rows       = n_rows.data();
        blocks.n_columns    = n_columns.data();
        blocks.from_row     = from_row.data();
        blocks.to_row       = to_row.data();
      }

      const LargerSpace<dim>                space;
      AssemblyContext<dim>                  context;
      std::unique_ptr<AssemblyBackend<dim>> backend;

      Device::SubBlocks               blocks;
      DeviceSpaceArray<std::uint64_t> block_offset, from_value, to_value,
        from_row, to_row;
      DeviceSpaceArray<unsigned int> from_width, to_width, from_column,
        to_column, n_rows, n_columns;
    };
  } // namespace internal
} // namespace Tessella

#endif
