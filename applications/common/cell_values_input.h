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
     * Parameters "Diffusion per material", "Diffusion per cell" and the like
     * for reaction and source, of section "Equation": a value for each material
     * id, or for each cell, from a text file with one number per cell of the
     * coarse mesh, which its children inherit, or of the mesh in use, in
     * deal.II's order of active cells.
     *
     * FormType: AdvectionDiffusionReaction<dim> or SpaceTimeForm<dim>.
     */
    class CellValuesInput
    {
    public:
      /// In section "Equation", which has Diffusion, Reaction and Source, too.
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// The same; reads files, which are looked for beside @p parameter_file,
      /// too.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const std::string        &parameter_file);

      bool
      has_diffusion() const;
      bool
      has_reaction() const;
      bool
      has_source() const;
      /// Values that go by the number of a cell in the whole mesh.
      bool
      has_values_per_cell() const;
      /// Parameter that the diffusion is from, for messages.
      const std::string &
      diffusion_name() const;

      /// Gives a form the values per material.
      template <typename FormType>
      void
      set_material_values(FormType &form) const;
      /// Gives a form the values per cell that @p mesh needs, for a handler
      /// that has polytopes. Checks that all materials have values.
      template <typename FormType, int dim>
      void
      set_values(FormType                        &form,
                 const Mesh<dim>                 &mesh,
                 const AgglomerationHandler<dim> &handler) const;

    private:
      /// A coefficient with a value for each material id, or for each cell.
      struct CellData
      {
        std::string                                  name; ///< of the parameter
        std::string                                  file; ///< values are from
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
