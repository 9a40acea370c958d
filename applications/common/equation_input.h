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
    /// A boundary value problem, ready for assembly.
    template <int dim>
    struct Problem
    {
      AdvectionDiffusionReaction<dim> form;
      /// Null if none was given.
      std::shared_ptr<const dealii::Function<dim>> exact_solution;
      /// Coefficients of the form that are functions, null those that are not.
      std::shared_ptr<const dealii::Function<dim>> diffusion, advection,
        reaction, source;
      std::shared_ptr<const dealii::TensorFunction<2, dim>> diffusion_tensor;
      /// Boundary ids that conditions are given for.
      std::set<dealii::types::boundary_id> boundary_ids;
      bool                                 has_diffusion = false;
      bool                                 has_advection = false;
    };

    /// "0: x; default: y" as pairs; -1 stands for default. @p name: of the
    /// parameter, for messages.
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
     * Diffusion, reaction and source may have a value for each material id
     * ("Diffusion per material = 0: 1, 7: 100") or for each cell, from a text
     * file with one number per cell of the coarse mesh, which its children
     * inherit, or of the mesh in use, in deal.II's order of active cells.
     */
    class EquationInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// Parses all expressions, for dimension @p dim, and reads values per
      /// cell; files are looked for beside @p parameter_file, too.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const int                 dim,
                       const std::string        &parameter_file = "");

      /// Values per cell are missing until set_cell_values() is called.
      template <int dim>
      Problem<dim>
      create() const;

      /// Gives the form the values per cell that @p mesh needs, for a handler
      /// that has polytopes. Checks that all materials have values. Nothing to
      /// do without such values.
      template <int dim>
      void
      set_cell_values(Problem<dim>                    &problem,
                      const Mesh<dim>                 &mesh,
                      const AgglomerationHandler<dim> &handler) const;

      /// Values per cell from a file, which go by the number of a cell in the
      /// whole mesh.
      bool
      has_cell_values() const;

    private:
      CellValuesInput cell_values;

      struct Condition
      {
        BoundaryType            type = BoundaryType::dirichlet;
        std::vector<Expression> value;       // empty or one
        std::vector<Expression> coefficient; // empty or one
      };

      std::vector<Expression> diffusion, advection, reaction, source, exact;
      /// Key -1: all ids without an entry of their own.
      std::map<int, Condition> conditions;
    };
  } // namespace Application
} // namespace Tessella

#endif
