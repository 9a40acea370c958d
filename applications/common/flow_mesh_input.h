// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_flow_mesh_input_h
#define tessella_applications_common_flow_mesh_input_h

#include <deal.II/base/parameter_handler.h>

#include <deal.II/grid/tria.h>

#include <tessella/grid/flow_meshes.h>

#include <string>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// Parameters of section "Mesh" that choose one of FlowMeshes. Their names
    /// begin with Geometry.
    class FlowMeshInput
    {
    public:
      /// Declares the parameters in the present section.
      void
      declare_parameters(dealii::ParameterHandler &prm);

      /// Throws one sentence if parameters do not fit to the geometry.
      void
      check() const;

      /// Whether the mesh is one of FlowMeshes.
      bool
      is_given() const
      {
        return geometry != "none";
      }

      const std::string &
      name() const
      {
        return geometry;
      }

      bool
      has_simplices() const
      {
        return resolution.simplices;
      }

      unsigned int
      n_cells() const
      {
        return resolution.n_cells;
      }

      /// Lower bound for the number of cells.
      double
      n_cells_at_least(const unsigned int dim) const;

      template <int dim>
      void
      create(dealii::Triangulation<dim> &triangulation) const;

    private:
      std::string            geometry = "none", trailing_edge = "coefficient";
      FlowMeshes::Resolution resolution;
      double                 radius = .5, depth = 1.;
      std::vector<double>    far_field = {10.};
    };
  } // namespace Application
} // namespace Tessella

#endif
