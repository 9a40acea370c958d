// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_source_forms_compiled_coefficients_h
#define tessella_source_forms_compiled_coefficients_h

#include <tessella/forms/device_coefficients.h>
#include <tessella/forms/device_function.h>

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

      /// A complete source with the kernels that DeviceCoefficients need.
      std::string
      source_text(const int dim) const;

      /// Throws with the name of the entry that a compiler's message is about,
      /// if it is about one.
      void
      explain(const std::string &log) const;

      /// The entry that an error is about; null: none.
      const Entry *
      find(const CoefficientError &error) const;

    private:
      /// Calls function(name of the member function, entry) for all.
      template <typename Function>
      void
      visit(const Function &function) const;
    };

    /**
     * Compiles and loads @p code for the current device; the same code a second
     * time in a process is found there. @p why_not says why the result is null
     * if there is no compiler. @p owner keeps the functions alive that messages
     * ask.
     */
    template <int dim>
    std::shared_ptr<const DeviceCoefficients<dim>>
    compile_coefficients(const CoefficientCode             &code,
                         const double                       theta,
                         const std::shared_ptr<const void> &owner,
                         std::string                       &why_not);

    /// Compiles for @p architecture ("sm_90") without a device, as a check;
    /// empty if that worked, "from the cache" if it was there, else why not.
    std::string
    check_compilation(const CoefficientCode &code,
                      const int              dim,
                      const std::string     &architecture);
  } // namespace internal
} // namespace Tessella

#endif
