// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_study_parameters_h
#define tessella_applications_common_study_parameters_h

#include <deal.II/base/parameter_handler.h>

#include <string>

#include "agglomeration_input.h"
#include "discretisation_input.h"
#include "distributed_mesh.h"
#include "equation_input.h"
#include "linear_solver.h"
#include "mesh_input.h"
#include "study_table.h"

namespace Tessella
{
  namespace Application
  {
    /// Sections that the parameter files of most programs begin with.
    struct MeshParameters
    {
      MeshInput          mesh;
      AgglomerationInput agglomeration;

      void
      declare(dealii::ParameterHandler &prm)
      {
        mesh.declare_parameters(prm);
        agglomeration.declare_parameters(prm);
      }

      void
      parse(dealii::ParameterHandler &prm, const std::string &file)
      {
        mesh.parse_parameters(prm, file);
        agglomeration.parse_parameters(prm, file);
      }

      unsigned int
      dimension() const
      {
        return mesh.dimension();
      }
    };

    /// MeshParameters with the sections of the equation and its discretisation.
    /// Programs with an equation of their own give the class of its section.
    template <typename EquationType = EquationInput>
    struct StudyParameters : MeshParameters
    {
      EquationType        equation;
      DiscretisationInput discretisation;

      void
      declare(dealii::ParameterHandler &prm)
      {
        MeshParameters::declare(prm);
        equation.declare_parameters(prm);
        discretisation.declare_parameters(prm);
      }

      /// See DiscretisationInput::parse_parameters() for @p needs_backend.
      void
      parse(dealii::ParameterHandler &prm,
            const std::string        &file,
            const bool                needs_backend = true)
      {
        MeshParameters::parse(prm, file);
        equation.parse_parameters(prm, mesh.dimension(), file);
        discretisation.parse_parameters(prm, mesh.dimension(), needs_backend);
      }

      /// Creates mesh number @p level and its polytopes. Collective.
      template <int dim>
      AgglomeratedMesh<dim>
      create_mesh(const unsigned int level) const
      {
        return create_agglomerated_mesh<dim>(mesh,
                                             agglomeration,
                                             equation.has_cell_values(),
                                             level);
      }

      /// Creates the problem, whose form has the parameters of the
      /// discretisation.
      template <int dim>
      Problem<dim>
      create_problem() const
      {
        Problem<dim> problem = equation.template create<dim>();
        discretisation.configure(problem.form);
        // A tensor from the parameter file has already been checked for
        // symmetry.
        problem.symmetric =
          !problem.has_advection && discretisation.theta == 1.;
        return problem;
      }
    };

    /// StudyParameters with the sections "Solver" and "Output", for programs
    /// with linear systems on a sequence of meshes.
    template <typename EquationType = EquationInput>
    struct SolverStudyParameters : StudyParameters<EquationType>
    {
      LinearSolver solver;
      OutputInput  output;

      void
      declare(dealii::ParameterHandler &prm)
      {
        StudyParameters<EquationType>::declare(prm);
        solver.declare_parameters(prm);
        output.declare_parameters(prm);
      }

      void
      parse(dealii::ParameterHandler &prm, const std::string &file)
      {
        StudyParameters<EquationType>::parse(prm, file);
        solver.parse_parameters();
        output.parse_parameters(file);
      }
    };
  } // namespace Application
} // namespace Tessella

#endif
