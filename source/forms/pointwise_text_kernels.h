// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_forms_pointwise_text_kernels_h
#define tessella_source_forms_pointwise_text_kernels_h

#include <tessella/forms/device_pointwise_kernels.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pointwise_program.h"

namespace Tessella
{
  namespace internal
  {
    /// Results of the terms in a region: values of the program by their side
    /// and row.
    struct PointwiseResult
    {
      unsigned int side, row, value;
    };

    /// Statements of C++ that compute results of a program with the arguments
    /// of a functor's member, see PointwiseTraits. @p sides are the names of
    /// the fields and the results of each side, such as u0 and r0.
    std::string
    pointwise_code(const PointwiseProgram             &program,
                   const std::vector<PointwiseResult> &results,
                   const unsigned int                  dim,
                   const std::vector<std::string>     &fields,
                   const std::vector<std::string>     &outputs);

    /// Kernels that are compiled at run time for a functor given as the text of
    /// a struct Functor whose data are the numbers @p parameters. Null without
    /// a compiler, with the reason in @p why_not. The text is compiled when a
    /// kernel is started for the first time.
    template <int dim>
    std::shared_ptr<const DevicePointwiseKernels<dim>>
    run_time_pointwise_kernels(const std::string         &functor,
                               const std::vector<double> &parameters,
                               const double               time,
                               std::string               &why_not);

    /// The same kernels with other parameters and another time, at less cost.
    /// @p kernels are those of run_time_pointwise_kernels().
    template <int dim>
    std::shared_ptr<const DevicePointwiseKernels<dim>>
    run_time_pointwise_kernels(const DevicePointwiseKernels<dim> &kernels,
                               const std::vector<double>         &parameters,
                               const double                       time);

    /// Compiles residual, tangent and Jacobian without a device, see
    /// PointwiseTextIntegrand::check_compilation().
    template <int dim>
    std::string
    check_pointwise_kernels(const std::string   &functor,
                            const std::string   &architecture,
                            std::vector<double> &seconds);
  } // namespace internal
} // namespace Tessella

#endif
