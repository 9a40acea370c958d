// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_equation_input_h
#define tessella_applications_common_equation_input_h

#include <deal.II/base/function.h>
#include <deal.II/base/parameter_handler.h>

#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration_handler.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cell_values_input.h"
#include "expression.h"
#include "mesh_input.h"

namespace Tessella
{
  namespace Application
  {
    /// Boundary value problem, ready for assembly.
    template <int dim>
    struct Problem
    {
      AdvectionDiffusionReaction<dim> form;
      /// Null if none was given.
      std::shared_ptr<const dealii::Function<dim>> exact_solution;
      /// Coefficients of the form that are functions of position; the others
      /// are null.
      std::shared_ptr<const dealii::Function<dim>> diffusion, advection,
        reaction, source;
      std::shared_ptr<const dealii::TensorFunction<2, dim>> diffusion_tensor;
      /// Boundary ids for which conditions are given.
      std::set<dealii::types::boundary_id> boundary_ids;
      bool                                 has_advection = false;
      /// Whether the matrix is symmetric; set by StudyParameters.
      bool symmetric = false;
    };

    /// Declares the parameter "Constants" in the present section.
    void
    declare_constants(dealii::ParameterHandler &prm);

    /// Declares the parameter "Source" in the present section.
    void
    declare_source(dealii::ParameterHandler &prm);

    /// Parses "0: x; default: y" as pairs; the key -1 stands for default. @p
    /// name is the name of the parameter, for messages.
    std::map<int, std::string>
    parse_boundary_map(const std::string &name,
                       const std::string &text,
                       const char         separator);

    /**
     * Sections "Equation" and "Boundary conditions" of a parameter file:
     * coefficients, right-hand side, exact solution and boundary data as
     * expressions of x, y, z.
     *
     * With an exact solution u, the right-hand side -div(a grad u) + b . grad u
     * + c u and boundary data are derived from u, a, b and c unless they are
     * given: u on Dirichlet parts, n . a grad u on Neumann parts, n . a grad u
     * + alpha u on Robin parts.
     *
     * Diffusion, reaction and source may have a value for each material id, as
     * in "Diffusion per material = 0: 1, 7: 100", or for each cell; see
     * CellValuesInput.
     */
    class EquationInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// Parses all expressions, for dimension @p dim, and reads the values per
      /// cell. Their files are also looked for beside @p parameter_file.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const int                 dim,
                       const std::string        &parameter_file = "");

      /// Creates the problem. Values per cell are missing until
      /// set_cell_values() is called.
      template <int dim>
      Problem<dim>
      create() const;

      /// Sets the values per cell of @p mesh in the form. The handler must
      /// already have polytopes. Checks that all materials have values. Does
      /// nothing if the parameters contain no such values.
      template <int dim>
      void
      set_cell_values(Problem<dim>                    &problem,
                      const Mesh<dim>                 &mesh,
                      const AgglomerationHandler<dim> &handler) const
      {
        cell_values.set_values(problem.form, mesh, handler);
      }

      /// Whether a file sets values per cell, which are identified by the index
      /// of a cell in the whole mesh.
      bool
      has_cell_values() const
      {
        return cell_values.has_values_per_cell();
      }

    private:
      CellValuesInput cell_values;

      struct Condition
      {
        BoundaryType            type = BoundaryType::dirichlet;
        std::vector<Expression> value;       // at most one entry
        std::vector<Expression> coefficient; // at most one entry
      };

      /// Parses expressions that are separated by semicolons.
      std::vector<Expression>
      parse(const std::string &name, const std::string &text) const;
      /// Checks the numbers of expressions, and removes coefficients that are
      /// zero.
      void
      check_coefficients(const int dim);
      void
      parse_boundary_conditions(const dealii::ParameterHandler &prm);
      template <int dim>
      void
      set_diffusion(Problem<dim> &problem) const;
      /// Sets advection, reaction and source.
      template <int dim>
      void
      set_other_coefficients(Problem<dim> &problem) const;
      template <int dim>
      void
      set_boundary_conditions(Problem<dim> &problem) const;

      std::vector<std::string>      variables;
      std::map<std::string, double> constants;
      std::vector<Expression> diffusion, advection, reaction, source, exact;
      /// Key -1: all boundary ids without an entry of their own.
      std::map<int, Condition> conditions;
    };
  } // namespace Application
} // namespace Tessella

#endif
