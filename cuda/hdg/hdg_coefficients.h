// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_coefficients_h
#define tessella_cuda_hdg_hdg_coefficients_h

#include "hdg_upload.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Stage before the local problems: coefficients, boundary data and
      /// stabilisation, as tables on the device.
      template <int dim>
      class HDGCoefficients
      {
      public:
        /// References must outlive the object.
        HDGCoefficients(const HDGPlan<dim> &plan, HDGUpload<dim> &upload)
          : plan(plan)
          , upload(upload)
        {}

        /// Copies what all tiles share, and prepares the evaluation on the
        /// device. Sets the pointers in @p data.
        void
        prepare(const HDGProblem<dim> &problem, HDGData<dim> &data);

        /// Computes the tables of the polytopes of a tile, data.first to
        /// data.last, and sets their pointers.
        void
        launch(const HDGProblem<dim> &problem, HDGData<dim> &data);

        /// Seconds of the last prepare() and of all launch() since.
        double
        time() const
        {
          return seconds;
        }

        /// Bytes of the arrays that all tiles share.
        std::size_t
        fixed_bytes() const;
        /// Bytes of the tables of polytopes [begin, end).
        std::size_t
        tile_bytes(const HDGForm<dim> &form,
                   const unsigned int  begin,
                   const unsigned int  end) const
        {
          return 8 * (n_volume_values(form, begin, end) +
                      n_facet_values(form, begin, end));
        }
        /// Bytes that tables hold at present.
        std::size_t
        held_bytes() const
        {
          return 8 * (volume_table.size() + facet_table.size());
        }

        /// See HDGAssembler::download_fixed().
        void
        download_fixed(std::vector<char> &values) const;

      private:
        /// Uploads arrays that coefficients may use: those of the mesh once,
        /// fields and values of cells in each call.
        void
        prepare_evaluation(const DeviceCoefficients<dim> &coefficients,
                           const HDGData<dim>            &data);
        /// Evaluates all tables on the device. Returns false if a is not
        /// positive (definite) somewhere; the host then describes the error.
        bool
        evaluate(const DeviceCoefficients<dim> &coefficients,
                 const HDGData<dim>            &data);
        void
        set_task(const HDGData<dim> &data);
        /// Runs all kernels of an evaluation. @p wanted: key of the point whose
        /// error is to be described, or all bits for none.
        ErrorRecord
        launch_evaluation(const DeviceCoefficients<dim> &coefficients,
                          const HDGData<dim>            &data,
                          const unsigned long long       wanted);
        /// Evaluates all tables on the host and copies them.
        void
        tabulate_on_host(const HDGProblem<dim> &problem,
                         const HDGData<dim>    &data);
        std::size_t
        n_volume_values(const HDGForm<dim> &form,
                        const unsigned int  begin,
                        const unsigned int  end) const
        {
          return form.n_tables * plan.n_volume_points(begin, end);
        }
        std::size_t
        n_facet_values(const HDGForm<dim> &form,
                       const unsigned int  begin,
                       const unsigned int  end) const
        {
          return form.facet_table ? std::size_t(4) * (plan.facet_begin[end] -
                                                      plan.facet_begin[begin])
                                  : 0;
        }
        /// Determines which polytopes are fixed.
        void
        find_fixed(const HDGData<dim> &data);

        const HDGPlan<dim> &plan;
        HDGUpload<dim>     &upload;
        TabulationTask<dim> task = {};
        Array<ErrorRecord>  record;
        const unsigned int *boundary_point_group_list = nullptr;
        Array<double>       fields[max_fields], cell_values[max_cell_values];
        Array<char>         fixed;
        Array<double>       boundary, tau, volume_table, facet_table;
        std::vector<double> tables; ///< on the host
        double              seconds = 0.;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
