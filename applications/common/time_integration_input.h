// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_time_integration_input_h
#define tessella_applications_common_time_integration_input_h

#include <deal.II/base/parameter_handler.h>

#include <string>

namespace Tessella
{
  namespace Application
  {
    enum class TimeMethod
    {
      ssp,
      runge_kutta,
      low_storage,
      sdirk,
      bdf
    };

    /// Sections "Time" and "Newton" of the parameter file.
    class TimeIntegrationInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// Text of the entry Final time, an expression.
      std::string
      final_time_text(dealii::ParameterHandler &prm) const;
      void
      parse_parameters(dealii::ParameterHandler &prm, const double final_time);

      bool
      is_implicit() const
      {
        return method == TimeMethod::sdirk || method == TimeMethod::bdf;
      }
      /// Order of the method for polynomials of degree @p degree.
      unsigned int
      order_for(const unsigned int degree) const;
      /// Name and order, such as "bdf 2".
      std::string
      description(const unsigned int degree) const;

      TimeMethod method     = TimeMethod::ssp;
      double     final_time = 1., cfl_number = 0.5;
      /// Checkpoints after so many steps, 0: never; end after so many, 0: at
      /// the final time.
      unsigned int checkpoint_steps = 0, stop_steps = 0;
      std::string  restart;

      // ---- implicit methods
      double       newton_tolerance = 1e-10, linear_tolerance = 1e-4;
      unsigned int newton_steps = 20, step_halvings = 8, gmres_vectors = 30,
                   gmres_steps     = 300;
      unsigned int step_reductions = 6;
      bool         matrix_free     = false;

    private:
      std::string  method_name = "ssp";
      unsigned int order       = 0; ///< 0: automatic
    };
  } // namespace Application
} // namespace Tessella

#endif
