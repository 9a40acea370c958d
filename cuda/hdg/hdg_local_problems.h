// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_local_problems_h
#define tessella_cuda_hdg_hdg_local_problems_h

#include "hdg_stages.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// A stream whose kernels have priority over those of other streams.
      class UrgentStream
      {
      public:
        UrgentStream();
        UrgentStream(const UrgentStream &) = delete;
        ~UrgentStream();
        operator cudaStream_t() const
        {
          return stream;
        }

      private:
        cudaStream_t stream = nullptr;
      };



      /// Stage that solves the local problems of a tile: its kernels, and the
      /// data between them.
      template <int dim>
      class HDGLocalProblems
      {
      public:
        /// References must outlive the object.
        HDGLocalProblems(const HDGPlan<dim> &plan, const HDGUpload<dim> &upload)
          : plan(plan)
          , stages(plan, upload)
          , upload(upload)
        {}

        /// Selects the kernels for a form. @p constant_tau: tau is that of the
        /// form.
        void
        prepare(const HDGForm<dim> &form,
                const bool          constant_tau,
                HDGData<dim>       &data)
        {
          data.form = form;
          stages.prepare(constant_tau, data);
        }

        /// Starts the kernels for the polytopes of a tile, data.first to
        /// data.last.
        void
        launch(HDGData<dim> &data);

        /// True: the state of all polytopes is kept for recovery, whatever the
        /// tile. False: only that of a tile exists.
        bool state_is_kept = false;

        /// Lets @p data point to the state of all polytopes, which is kept.
        void
        set_kept_state(HDGData<dim> &data) const
        {
          data.state      = state.data();
          data.transforms = transforms.data();
        }

        /// Values of the state of a polytope between kernels, and for recovery
        /// if elimination is in parts.
        static std::size_t
        state_size(const HDGData<dim> &data)
        {
          return data.state_layout.inverse + data.square();
        }

        /// Bytes of the data between kernels for polytopes [begin, end).
        std::size_t
        tile_bytes(const unsigned int  begin,
                   const unsigned int  end,
                   const HDGData<dim> &data) const;

        /// Bytes that these data and workspaces hold at present.
        std::size_t
        held_bytes() const
        {
          return 8 * (stages.workspace.size() + state.size() + partial.size() +
                      transforms.size() + moments.size());
        }

      private:
        using Kernel = HDGKernel<dim>;

        /// Sets entries and arrays of the tile.
        void
        set_tile(HDGData<dim> &data);
        /// @p of_undone: only for the polytopes in the list of undone ones.
        void
        start(const Kernel       &kernel,
              const HDGData<dim> &tile,
              const cudaStream_t  stream,
              const bool          of_undone = false) const;
        /// Selects the polytopes or entries of the tile that a kernel
        /// processes, and returns their number.
        unsigned int
        select(const Kernel &kernel, HDGData<dim> &data) const;
        /// Eliminates in all classes of polytopes, none of which waits for
        /// another.
        void
        start_eliminations(const std::vector<const Kernel *> &eliminations,
                           const HDGData<dim>                &data);
        /// Lets side streams [0, n) wait for all previous kernels.
        void
        fork(const unsigned int n);
        /// Lets all subsequent kernels wait for side streams [0, n).
        void
        join(const unsigned int n);

        const HDGPlan<dim>   &plan;
        HDGStages<dim>        stages;
        const HDGUpload<dim> &upload;
        Array<double>         state, partial, transforms, moments;
        Array<unsigned int>   undone;
        /// Streams for kernels that run beside others.
        static constexpr unsigned int n_side = 4;
        UrgentStream                  side[n_side];
        Event                         forked, joined[n_side];
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
