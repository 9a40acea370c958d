// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_device_evaluation_h
#define tessella_cuda_backends_device_evaluation_h

#include <tessella/forms/device_coefficients.h>

#include <cstdint>
#include <vector>

#include "../device/kernel_clock.h"
#include "../device/memory.h"
#include "../device/pipeline_times.h"
#include "../device/workspace.h"
#include "data.h"
#include "point_numbers.h"

// Evaluation of the coefficients of a form on the device.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Evaluates forms on the device: the tables of chunks, and the penalty.
       * The object keeps the mesh data that coefficients read, and memory for
       * fields, from one form to the next. prepare() selects the form.
       */
      template <int dim>
      class DeviceEvaluation
      {
      public:
        DeviceEvaluation(const AssemblerInput<dim> &input,
                         const PointNumbers<dim>   &points);

        /// Uploads what the coefficients read: once data of the mesh, which @p
        /// D has on the device, and in each call fields and values of cells. @p
        /// evaluation must stay alive as long as other functions are called.
        void
        prepare(const Evaluation<dim> &evaluation, const Data<dim> &D);

        /// Starts the computation of n . a n on all facets of the polytopes.
        void
        launch_diffusion();

        /// Starts the computation of the penalty factors @p sigma of all
        /// facets.
        void
        launch_penalty(double *sigma);

        /// Adds the time of launch_penalty().
        void
        add_penalty_time(PipelineTimes &times) const;

        /// Starts the computation of the tables of a chunk. @p clock may be
        /// null: no times are recorded then.
        void
        launch_tables(const FormData<dim> &form,
                      const Chunk         &chunk,
                      double              *volume_table,
                      double              *facet_table,
                      KernelClock         *clock);

        /// Waits for the kernels, and throws if one of them has recorded an
        /// invalid point: the first such point is evaluated once more, with
        /// tables in @p memory, to describe the error.
        void
        check_points(const FormData<dim>      &form,
                     const std::vector<Chunk> &chunks,
                     char                     *memory);

        /// Result of launch_diffusion(): two values per facet.
        const double *
        diffusion() const
        {
          return a_bar.data();
        }

        /// Bytes of device memory.
        std::size_t
        memory() const;

      private:
        /// Uploads the arrays of the mesh that Data does not have.
        void
        prepare_mesh(const Data<dim> &D);

        void
        launch(const CoefficientKernel kernel,
               const std::uint64_t     n_blocks,
               const unsigned int      n_blocks_y = 1);

        ErrorRecord
        download_record() const;

        const PointNumbers<dim>  &points;
        const PolytopicMesh<dim> &mesh;
        const unsigned int        n_components, first, last;
        Workspace                &workspace;

        const Evaluation<dim> *evaluation = nullptr;
        bool                   mesh_ready = false;
        MeshData<dim>          mesh_data  = {};
        TabulationTask<dim>    task       = {};
        Array<char>            coefficient_memory;
        Array<double>          fields[max_fields], cell_values[max_cell_values];
        Array<double>          a_bar, factor;
        std::uint64_t          factor_revision = 0;
        Array<ErrorRecord>     record;
        Event                  penalty_begin, penalty_end;
        /// Number of volume points of the polytope with most points. 0: not
        /// known yet, since the search needs as much time as a kernel.
        std::uint64_t most_points = 0;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
