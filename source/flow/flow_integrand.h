// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_flow_flow_integrand_h
#define tessella_source_flow_flow_integrand_h

#include <tessella/flow/incompressible_temperature.h>
#include <tessella/forms/functor_integrand.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../forms/pointwise_text_kernels.h"

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      /**
       * Integrand of a functor of incompressible_operators.h or
       * incompressible_temperature.h whose data are FlowFunctionData. A device
       * compiles the functor at run time together with
       * FlowFunctions::device_code(), so that the kernels contain the data of
       * the program. The functor's bits are its argument on the device, too:
       * there its data are a struct of the same size.
       */
      template <int dim, typename F>
      class FlowIntegrand : public FunctorIntegrand<dim, F>
      {
      public:
        /// @p type is the functor's type in namespace Flow without the
        /// dimension: Name<DIM, FlowData, true> has the type "Name" and the
        /// arguments ", FlowData, true". Functors without data need no
        /// @p functions.
        explicit FlowIntegrand(const std::string        &type,
                               const std::string        &arguments = "",
                               const FlowFunctions<dim> *functions = nullptr)
          : type(type)
          , arguments(arguments)
          , functions(functions)
        {}

        std::shared_ptr<const DevicePointwiseKernels<dim>>
        device_kernels() const override
        {
          using Tessella::internal::run_time_pointwise_kernels;
          std::vector<double> bits((sizeof(F) + sizeof(double) - 1) /
                                   sizeof(double));
          std::memcpy(static_cast<void *>(bits.data()),
                      static_cast<const void *>(&this->functor()),
                      sizeof(F));
          if (kernels != nullptr)
            return run_time_pointwise_kernels<dim>(*kernels,
                                                   bits,
                                                   this->get_time());
          const std::string text = device_text();
          if (text.empty())
            why_not = "the functions of the flow have no device code";
          else
            kernels = run_time_pointwise_kernels<dim>(text,
                                                      bits,
                                                      this->get_time(),
                                                      why_not);
          return kernels;
        }

        std::string
        why_not_on_device() const override
        {
          return why_not;
        }

        /// The functor in C++ as a device compiles it; empty if its data have
        /// no such code.
        std::string
        device_text() const
        {
          std::string data;
          if (functions != nullptr)
            {
              const std::string members = functions->device_code();
              if (members.empty())
                return "";
              data = "struct FlowData\n{\n  using Point = OperatorPoint<" +
                     std::to_string(dim) + ">;\n  const void *functions;\n" +
                     members + "};\n";
            }
          return "#include <tessella/flow/incompressible_temperature.h>\n"
                 "using namespace Tessella;\n" +
                 data + "using Functor = Tessella::Flow::" + type + "<" +
                 std::to_string(dim) + arguments +
                 ">;\nstatic_assert(sizeof(Functor) == " +
                 std::to_string(sizeof(F)) +
                 ", \"The functor has another size on the device.\");\n";
        }

      private:
        const std::string         type, arguments;
        const FlowFunctions<dim> *functions;
        mutable std::string       why_not;
        /// Kernels of the first call, for the following ones.
        mutable std::shared_ptr<const DevicePointwiseKernels<dim>> kernels;
      };
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella

#endif
