// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_discretisation_input_h
#define tessella_applications_common_discretisation_input_h

#include <deal.II/base/parameter_handler.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/backend.h>
#include <tessella/device/cuda_device.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/penalty.h>

#include <cstddef>
#include <string>
#include <vector>

#include "expression.h"

namespace Tessella
{
  namespace Application
  {
    /// Throws if @p backend is Backend::cuda and no device is available; the
    /// message names @p parameter, which asked for the device. Collective.
    void
    check_backend(const std::string &parameter, const Backend backend);

    /// Declares the parameter "Degrees of meshes" in the present section, for
    /// programs that measure some degrees on some meshes only.
    void
    declare_degrees_of_meshes(dealii::ParameterHandler &prm);

    /// Returns the degrees for each mesh. @p section is the present one, for
    /// messages; @p degrees is for all meshes if the parameter is empty.
    std::vector<std::vector<unsigned int>>
    parse_degrees_of_meshes(const dealii::ParameterHandler  &prm,
                            const std::string               &section,
                            const std::vector<unsigned int> &degrees,
                            const unsigned int               n_levels);

    /// Parses "host", "cuda" or "automatic".
    Backend
    parse_backend(const std::string &name);

    /// Parses "plain", "avx2", "avx512" or "automatic".
    InstructionSet
    parse_instruction_set(const std::string &name);

    /// Sections "Discretisation" and "Execution" of a parameter file: element,
    /// penalty, quadrature, and the hardware on which assembly runs.
    class DiscretisationInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// Also sets the number of threads of deal.II. If @p needs_backend,
      /// Execution/Backend = cuda is an error without a device. Programs that
      /// measure several backends check them on their own.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const int                 dim,
                       const bool                needs_backend = true);

      /// Whether the degree differs between polytopes.
      bool
      is_hp() const
      {
        return !degree_expression.empty();
      }

      /// Data of an assembler with the penalty and the hardware of the section.
      template <int dim>
      typename PolytopicAssembler<dim>::AdditionalData
      assembler_data() const
      {
        typename PolytopicAssembler<dim>::AdditionalData data;
        data.backend         = backend;
        data.device_memory   = device_memory;
        data.device          = device;
        data.instruction_set = instruction_set;
        data.penalty         = penalty;
        data.compression     = compression;
        return data;
      }

      /// Sets theta in @p form and, if it is given, the coefficient order.
      template <typename FormType>
      void
      configure(FormType &form) const
      {
        form.set_theta(theta);
        if (coefficient_order >= 0)
          form.set_coefficient_order(coefficient_order);
      }

      /// Distributes DoFs of degree @p degree, or of the degrees that the
      /// degree expression yields for this value, for @p n_components
      /// components.
      template <int dim>
      void
      distribute_dofs(AgglomerationHandler<dim> &handler,
                      const unsigned int         degree,
                      const unsigned int         n_components = 1) const;

      std::vector<unsigned int> degrees;
      /// Whether convergence rates are computed between degrees rather than
      /// between meshes.
      bool   study_in_degree = false;
      double theta           = 1.;
      /// Quadrature order of coefficients; -1: the form decides.
      int coefficient_order = -1;
      /// Quadrature order of errors in excess of 2 p.
      unsigned int      extra_order = 4;
      PenaltyParameters penalty;
      /// Compression of the quadrature of scalar forms.
      QuadratureCompression compression = QuadratureCompression::never;
      Backend               backend     = Backend::automatic;
      /// Limit of device memory in bytes; 0: no limit.
      std::size_t device_memory = 0;
      /// Index of the device; -1: PolytopicAssembler chooses.
      int            device          = -1;
      InstructionSet instruction_set = InstructionSet::automatic;

    private:
      std::vector<Expression> degree_expression; // at most one entry
      PolynomialSpaceType     space = PolynomialSpaceType::total_degree;
    };
  } // namespace Application
} // namespace Tessella

#endif
