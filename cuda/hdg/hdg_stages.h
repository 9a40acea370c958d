// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_stages_h
#define tessella_cuda_hdg_hdg_stages_h

#include <vector>

#include "hdg_upload.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// A kernel of the local problems, with its workspace and launch
      /// parameters.
      template <int dim>
      struct HDGKernel
      {
        HDGStage what                = HDGStage::simplex;
        void (*kernel)(HDGData<dim>) = nullptr;
        HDGLayout    layout;
        std::size_t  shared_bytes = 0;
        unsigned int n_threads = 32, n_blocks = 1;
        /// Range in the list of polytopes for elimination.
        std::size_t first_listed = 0, last_listed = 0;

        bool
        is_listed() const
        {
          return last_listed > first_listed;
        }
      };



      /// Selects the kernels of the local problems for a form, in the order in
      /// which they run.
      template <int dim>
      class HDGStages
      {
      public:
        /// References must outlive the object.
        HDGStages(const HDGPlan<dim> &plan, const HDGUpload<dim> &upload)
          : plan(plan)
          , upload(upload)
        {}

        /// Selects kernels for data.form, with workspaces and launch
        /// parameters, and sets the members of @p data that they depend on. @p
        /// constant_tau: tau is that of the form.
        void
        prepare(const bool constant_tau, HDGData<dim> &data);

        std::vector<HDGKernel<dim>> kernels;
        /// For kernels whose workspace does not fit into shared memory.
        Array<double> workspace;
        /// Polytopes, sorted into classes for elimination, on the host and on
        /// the device.
        std::vector<unsigned int> elimination_list;
        Array<unsigned int>       list;

      private:
        using Kernel = void (*)(HDGData<dim>);

        /// A kernel to be added. in_global: the same with its workspace in
        /// global memory, unless it always fits into shared memory.
        struct Request
        {
          HDGStage     what;
          Kernel       in_shared;
          unsigned int n_problems, n_threads = 32;
          Kernel       in_global = nullptr;
          unsigned int n_rows = 1, n_point_groups = 1;
        };

        /// Limits of the device.
        struct Limits
        {
          std::size_t shared,
            available; ///< bytes of shared memory per multiprocessor, and for a
                       ///< workspace
          unsigned int processors;
        };

        void
        add_simplex(HDGData<dim> &data);
        void
        add_volume(HDGData<dim> &data);
        void
        add_facets(const bool constant_tau, HDGData<dim> &data);
        void
        add_elimination(const HDGData<dim> &data);
        void
        add(const Request &request, const HDGData<dim> &data);
        /// Adds @p kernel with a workspace in shared or global memory.
        void
        add(HDGKernel<dim>    &kernel,
            const Kernel       in_shared,
            const Kernel       in_global,
            const unsigned int n_problems);

        /// Layout of a stage other than that of simplices.
        HDGLayout
        layout_of(const HDGStage      what,
                  const HDGData<dim> &data,
                  const unsigned int  n_rows = 1,
                  const unsigned int  slice  = 4) const;
        /// Number of points of a slice of the volume.
        unsigned int
        slice_of(const Request &request, const HDGData<dim> &data) const;

        /// Polytopes with up to n_rows rows, of which a multiprocessor has
        /// enough memory for n_together at a time.
        struct EliminationClass
        {
          unsigned int n_rows, n_together;
        };
        std::vector<EliminationClass>
        elimination_classes(const HDGStage      stage,
                            const HDGData<dim> &data) const;
        /// Sorts polytopes into classes by their number of trace functions,
        /// which is below n_rows.
        void
        list_polytopes(const std::vector<EliminationClass> &classes);

        const HDGPlan<dim>       &plan;
        const HDGUpload<dim>     &upload;
        Limits                    limits         = {};
        std::size_t               workspace_size = 0;
        std::vector<unsigned int> elimination_limits;
        std::vector<std::size_t>  elimination_begin;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
