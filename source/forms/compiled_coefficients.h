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
        const DeviceFunction *function  = nullptr; ///< that it is from
        unsigned int          component = 0;
      };

      struct Condition
      {
        BoundaryType type = BoundaryType::dirichlet;
        Entry        value, robin_coefficient;
        /// n . flux is added to the value.
        std::vector<Entry> flux;
      };

      /// One or dim * dim, dim, one, one; or none.
      std::vector<Entry> diffusion, advection, reaction, source;
      /// Key -1: all ids without an entry of their own.
      std::map<int, Condition> conditions;

      /// PointData::cell_value, that code may use.
      std::vector<std::shared_ptr<const std::vector<double>>> cell_values;

      /// All of them as a functor.
      template <int dim>
      RunTimeFunctor<dim>
      functor() const;

      /// The entry that an error is about; null: none.
      const Entry *
      find(const CoefficientError &error) const;

    private:
      /// Calls function(name of the member function, entry) for all.
      template <typename Function>
      void
      visit(const Function &function) const;
    };

    /// As compile_functor(). @p time: PointData::t. @p owner keeps the
    /// functions alive that messages ask.
    template <int dim>
    std::shared_ptr<const DeviceCoefficients<dim>>
    compile_coefficients(const CoefficientCode             &code,
                         const double                       theta,
                         const double                       time,
                         const std::shared_ptr<const void> &owner,
                         std::string                       &why_not);
  } // namespace internal
} // namespace Tessella

#endif
