// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_coefficient_source_h
#define tessella_cuda_backends_coefficient_source_h

#include <cstddef>
#include <memory>

#include "../device/pipeline_times.h"
#include "chunk_planner.h"
#include "data.h"
#include "device_evaluation.h"
#include "point_numbers.h"

// Sources of the tables of coefficients: constants, evaluation on the device,
// or tables from the host.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Source of the coefficients of one assembly. Every kind follows the same
       * protocol:
       *  - make() chooses the kind of source and takes device memory for it;
       *  - start() is called once, before the first chunk;
       *  - for each chunk, send() lets the host evaluate what it has to and
       *    starts the copy to the device, and launch() starts the kernels that
       *    complete the tables, ahead of those that read them;
       *  - finish() is called after the last chunk.
       *
       * Forms of constant coefficients have tables without entries, for which
       * all sources do nothing.
       */
      template <int dim>
      class CoefficientSource
      {
      public:
        using Pipeline = Workspace::Implementation;

        /// Data of an assembly that every source reads.
        struct Context
        {
          const FormData<dim>     &form;
          const PointNumbers<dim> &points;
          const unsigned int       first, last; ///< range of polytopes
          Pipeline                &workspace;
          PipelineTimes           &times;
        };

        /**
         * Source for a form whose coefficients are given by @p tabulation, or
         * are evaluated by @p evaluation if it is not null. @p available is the
         * device memory in bytes that is left for chunks, from which the source
         * subtracts what it takes.
         */
        static std::unique_ptr<CoefficientSource>
        make(const Context         &context,
             const Tabulation      &tabulation,
             DeviceEvaluation<dim> *evaluation,
             const Data<dim>       &data,
             std::size_t           &available);

        virtual ~CoefficientSource() = default;

        virtual void
        start(const ChunkPlan &)
        {}

        /// Sets Slot::uploads if a copy is under way.
        virtual void
        send(const ChunkInSlot &chunk) = 0;

        virtual void
        launch(const ChunkInSlot &)
        {}

        /// Whether launch() records times in Slot::tabulation_clock.
        virtual bool
        records_times() const
        {
          return false;
        }

        virtual void
        finish(const ChunkPlan &)
        {}

      protected:
        explicit CoefficientSource(const Context &context);

        /// Begins and ends a copy to the device, for which the kernels of the
        /// slot wait. @p overwrites: it goes to memory of the slot, which the
        /// former contents must have left.
        void
        begin_upload(const ChunkInSlot &chunk, const bool overwrites);
        void
        end_upload(const ChunkInSlot &chunk);

        /// Copies the first bytes of the slot's tables to memory of the slot.
        void
        upload_tables(const ChunkInSlot &chunk,
                      double            *to,
                      const std::size_t  bytes);

        const Context context;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
