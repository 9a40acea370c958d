// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_forms_compiled_coefficients_h
#define tessella_source_forms_compiled_coefficients_h

#include <tessella/forms/device_function.h>
#include <tessella/forms/run_time_functor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Coefficients of an equation, each as the body of a C++ function of x, y,
     * z, t and PointData p; empty ones are absent.
     */
    struct CoefficientCode
    {
      /// A component of a coefficient.
      struct Entry
      {
        std::string           code;
        const DeviceFunction *function  = nullptr; ///< function with this code
        unsigned int          component = 0;
      };

      struct Condition
      {
        BoundaryType type = BoundaryType::dirichlet;
        Entry        value, robin_coefficient;
        /// Its normal component, n . flux, is added to the value.
        std::vector<Entry> flux;
      };

      /// Numbers of entries: 1 or dim * dim (diffusion), dim (advection), 1, 1;
      /// empty if the coefficient is absent.
      std::vector<Entry> diffusion, advection, reaction, source;
      /// Key -1 stands for all ids without an entry of their own.
      std::map<int, Condition> conditions;

      /// Number of fields that code may use as PointData::value.
      unsigned int n_fields = 0;

      /// Values that code may use as PointData::cell_value.
      std::vector<std::shared_ptr<const std::vector<double>>> cell_values;

      /// Functor with all coefficients and conditions.
      template <int dim>
      RunTimeFunctor<dim>
      functor() const;

      /// Entry that an error refers to, or null if there is none.
      const Entry *
      find(const CoefficientError &error) const;

    private:
      /// Calls function(name of the member function, entry) for all entries.
      template <typename Function>
      void
      visit(const Function &function) const;
    };

    /// Compiles the code as compile_functor() does. @p fields has the fields of
    /// PointData::value, and @p time is PointData::t.
    /// @p owner keeps the functions alive whose origins messages quote.
    template <int dim>
    std::shared_ptr<const DeviceCoefficients<dim>>
    compile_coefficients(const CoefficientCode                 &code,
                         const std::vector<DiscreteField<dim>> &fields,
                         const double                           theta,
                         const double                           time,
                         const std::shared_ptr<const void>     &owner,
                         std::string                           &why_not);
  } // namespace internal
} // namespace Tessella

#endif
