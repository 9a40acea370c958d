// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_study_parameters_h
#define tessella_applications_common_study_parameters_h

#include <deal.II/base/parameter_handler.h>

#include <string>

#include "agglomeration_input.h"
#include "discretisation_input.h"
#include "equation_input.h"
#include "mesh_input.h"

namespace Tessella
{
  namespace Application
  {
    /// Sections that the parameter files of most programs begin with. Programs
    /// with an equation of their own give the class of its section.
    template <typename EquationType = EquationInput>
    struct StudyParameters
    {
      MeshInput           mesh;
      AgglomerationInput  agglomeration;
      EquationType        equation;
      DiscretisationInput discretisation;

      void
      declare(dealii::ParameterHandler &prm)
      {
        mesh.declare_parameters(prm);
        agglomeration.declare_parameters(prm);
        equation.declare_parameters(prm);
        discretisation.declare_parameters(prm);
      }

      /// See DiscretisationInput::parse_parameters() for @p needs_backend.
      void
      parse(dealii::ParameterHandler &prm,
            const std::string        &file,
            const bool                needs_backend = true)
      {
        mesh.parse_parameters(prm, file);
        agglomeration.parse_parameters(prm, file);
        equation.parse_parameters(prm, mesh.dimension(), file);
        discretisation.parse_parameters(prm, mesh.dimension(), needs_backend);
      }
    };
  } // namespace Application
} // namespace Tessella

#endif
