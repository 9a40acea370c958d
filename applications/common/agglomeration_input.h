// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_agglomeration_input_h
#define tessella_applications_common_agglomeration_input_h

#include <deal.II/base/parameter_handler.h>

#include <tessella/grid/agglomeration.h>

#include <string>
#include <vector>

#include "mesh_input.h"

namespace Tessella
{
  namespace Application
  {
    /// Section "Agglomeration" of a parameter file, which says how cells are
    /// grouped into polytopes.
    class AgglomerationInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const std::string        &parameter_file);

      /// Strategy that groups the cells of @p mesh into polytopes.
      template <int dim>
      Agglomeration::Strategy<dim>
      strategy(const Mesh<dim> &mesh) const;
      /// Polytope id of every active cell of @p mesh.
      template <int dim>
      std::vector<unsigned int>
      create(const Mesh<dim> &mesh) const
      {
        return strategy(mesh)(*mesh.triangulation);
      }

      /// Whether the polytopes of a p4est mesh are the same for any number of
      /// processes, provided that all descendants of a cell that are
      /// levels_up() levels finer than it are on the same process.
      bool
      suits_p4est(const bool refined_locally) const;
      unsigned int
      levels_up() const;

      /// Sentence that reports the number and the sizes of the polytopes.
      static std::string
      describe(const Agglomeration::Statistics &statistics);

    private:
      /// Whether polytopes are split or merged after the method.
      bool
      is_repaired() const;

      std::string  method = "matching", file, field = "polytope", weights;
      double       cells_per_polytope = 8.;
      unsigned int n_polytopes = 0, levels = 1, min_cells = 1;
      bool         split_disconnected = false;
    };
  } // namespace Application
} // namespace Tessella

#endif
