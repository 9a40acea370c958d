// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_cell_values_input_h
#define tessella_applications_cell_values_input_h

#include <deal.II/base/parameter_handler.h>

#include <tessella/grid/agglomeration_handler.h>

#include <map>
#include <string>
#include <vector>

#include "mesh_input.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Parameters "Diffusion per material", "Diffusion per cell" and their
     * counterparts for reaction and source, in section "Equation". They set a
     * value for each material id, or for each cell from a text file. The file
     * has one number per cell, either of the coarse mesh, whose children
     * inherit it, or of the mesh in use, in deal.II's order of active cells.
     *
     * FormType: AdvectionDiffusionReaction<dim> or SpaceTimeForm<dim>.
     */
    class CellValuesInput
    {
    public:
      /// Callers are inside section "Equation", which also has Diffusion,
      /// Reaction and Source.
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// Callers are inside section "Equation". Reads the files, which are
      /// also looked for beside @p parameter_file.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const std::string        &parameter_file);

      bool
      has_diffusion() const
      {
        return !diffusion.empty();
      }
      bool
      has_reaction() const
      {
        return !reaction.empty();
      }
      bool
      has_source() const
      {
        return !source.empty();
      }
      /// Whether there are values per cell, which are identified by the index
      /// of a cell in the whole mesh.
      bool
      has_values_per_cell() const;
      /// Name of the parameter that sets the diffusion, for messages.
      const std::string &
      diffusion_name() const
      {
        return diffusion.name;
      }

      /// Throws if the source would have to be derived from an exact solution
      /// and coefficients that depend on cells. @p given_exact and @p
      /// given_source: whether Exact solution and Source are given.
      void
      check_source(const bool given_exact, const bool given_source) const;

      /// Sets the values per material in @p form.
      template <typename FormType>
      void
      set_material_values(FormType &form) const;
      /// Sets the values per cell of @p mesh in @p form. The handler must
      /// already have polytopes. Checks that all materials have values.
      template <typename FormType, int dim>
      void
      set_values(FormType                        &form,
                 const Mesh<dim>                 &mesh,
                 const AgglomerationHandler<dim> &handler) const;

    private:
      /// Coefficient with a value for each material id, or for each cell.
      struct CellData
      {
        std::string name; ///< name of the parameter
        std::string file; ///< file that the values are from
        std::map<dealii::types::material_id, double> by_material;
        std::vector<double>                          by_cell;

        bool
        empty() const
        {
          return by_material.empty() && by_cell.empty();
        }
      };

      static CellData
      parse_cell_data(dealii::ParameterHandler &prm,
                      const std::string        &coefficient,
                      const std::string        &unset,
                      const std::string        &parameter_file);

      CellData diffusion, reaction, source;
    };
  } // namespace Application
} // namespace Tessella

#endif
