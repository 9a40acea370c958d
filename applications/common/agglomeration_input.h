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
    /// Section "Agglomeration" of a parameter file: how cells become polytopes.
    class AgglomerationInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const std::string        &parameter_file);

      /// How cells of @p mesh become polytopes.
      template <int dim>
      Agglomeration::Strategy<dim>
      strategy(const Mesh<dim> &mesh) const;
      /// Polytope id of every active cell of @p mesh.
      template <int dim>
      std::vector<unsigned int>
      create(const Mesh<dim> &mesh) const;

      /// Polytopes of a p4est mesh are the same for any number of processes,
      /// if descendants levels_up() levels down are on one process.
      bool
      suits_p4est(const bool refined_locally) const;
      unsigned int
      levels_up() const;

      /// The sentence that reports what came out.
      static std::string
      describe(const Agglomeration::Statistics &statistics);

    private:
      std::string  method, file, field, weights, parameter_file;
      double       cells_per_polytope = 1.;
      unsigned int n_polytopes = 0, levels = 1, min_cells = 1;
      bool         split_disconnected = false;
    };
  } // namespace Application
} // namespace Tessella

#endif
