// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_mesh_input_h
#define tessella_applications_common_mesh_input_h

#include <deal.II/base/parameter_handler.h>

#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "flow_mesh_input.h"

namespace Tessella
{
  namespace Application
  {
    /// Distribution of a mesh over MPI processes, named after deal.II's
    /// classes.
    enum class Distribution
    {
      serial,            ///< whole mesh on each process
      p4est,             ///< parallel::distributed::Triangulation
      fully_distributed, ///< parallel::fullydistributed::Triangulation
      shared             ///< parallel::shared::Triangulation
    };

    /// Mesh, ready for agglomeration.
    template <int dim>
    struct Mesh
    {
      std::unique_ptr<dealii::Triangulation<dim>> triangulation;
      /// Curved geometry; null if the vertices define the cells completely.
      std::unique_ptr<dealii::Mapping<dim>> mapping;
      /// File that the mesh was read from; empty for generated meshes.
      std::string file;
      /// Number of cells on level 0, in the order of the file. For a fully
      /// distributed mesh, the number in the whole mesh.
      unsigned int n_coarse_cells = 0;
      /// Text such as "1,234 triangles", for reports.
      std::string description;
    };

    /**
     * Section "Mesh" of a parameter file: a sequence of meshes from one or
     * several files, from deal.II's generators with one or several sets of
     * arguments, or from FlowMeshes, with refinement.
     */
    class MeshInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// Mesh files are also looked for beside @p parameter_file.
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const std::string        &parameter_file);

      unsigned int
      dimension() const
      {
        return present_dimension;
      }
      /// Number of meshes.
      unsigned int
      n_levels() const
      {
        return levels;
      }
      /// Creates mesh number @p level. Every failure of a reader is reported in
      /// one sentence that names the file.
      template <int dim>
      Mesh<dim>
      create(const unsigned int level) const;

      /**
       * Creates mesh number @p level as a parallel::distributed::Triangulation
       * over all processes. After global refinement, all descendants of a cell
       * that are @p levels_together levels finer than it are on the same
       * process. Throws if suits_p4est() is false. Collective.
       */
      template <int dim>
      Mesh<dim>
      create_on_p4est(const unsigned int level,
                      const unsigned int levels_together) const;

      /// Value of the parameter Mesh/Distribution.
      const std::string &
      distribution() const
      {
        return present_distribution;
      }
      /// Whether the cells are quadrilaterals or hexahedra of a generator and
      /// nothing about them depends on the order of all cells.
      bool
      suits_p4est() const;
      bool
      refines_locally() const
      {
        return local_steps > 0;
      }
      /// Whether the mesh has curved cells, periodic boundaries or moved
      /// vertices of refined cells, which deal.II's fully distributed meshes do
      /// not copy from serial ones.
      bool
      needs_whole_mesh() const;
      /// Sets the periodic boundaries in a copy of a mesh.
      template <int dim>
      void
      set_periodic_boundaries(dealii::Triangulation<dim> &triangulation) const;

    private:
      /// Parts of declare_parameters().
      void
      declare_coarse_mesh(dealii::ParameterHandler &prm);
      void
      declare_refinement(dealii::ParameterHandler &prm);
      void
      declare_boundaries_and_distribution(dealii::ParameterHandler &prm);
      /// Throws if parameters do not fit to meshes of FlowMeshes or to files of
      /// second order.
      void
      check_geometry() const;
      /// Sets the mapping of a mesh with curved cells.
      template <int dim>
      void
      set_mapping(Mesh<dim> &mesh) const;
      template <int dim>
      Mesh<dim>
      create(const unsigned int                          level,
             std::unique_ptr<dealii::Triangulation<dim>> triangulation,
             const unsigned int                          levels_together) const;
      /// Number of global refinements of the finest mesh.
      unsigned int
      last_refinements() const;
      /// Throws if a mesh of @p n_coarse_cells cells, refined @p n_refinements
      /// times and then converted to simplices if the parameters ask for it,
      /// does not fit into memory.
      template <int dim>
      void
      check_memory(const double       n_coarse_cells,
                   const unsigned int n_refinements,
                   const bool         distributed) const;
      /// Applies the same check to all meshes before any of them is created, as
      /// far as their numbers of cells follow from the arguments of the
      /// generator.
      template <int dim>
      void
      check_memory_of_generated_meshes(const bool distributed) const;
      template <int dim>
      void
      create_coarse(const unsigned int          level,
                    dealii::Triangulation<dim> &triangulation,
                    Mesh<dim>                  &mesh) const;
      /// Creates the cells of level 0, or refined simplices.
      template <int dim>
      void
      create_cells(const unsigned int level,
                   const unsigned int n_refinements,
                   Mesh<dim>         &mesh) const;
      template <int dim>
      void
      refine_globally(const unsigned int          n_refinements,
                      const unsigned int          levels_together,
                      dealii::Triangulation<dim> &triangulation) const;
      template <int dim>
      void
      refine_locally(dealii::Triangulation<dim> &triangulation) const;

      unsigned int             present_dimension = 2;
      std::vector<std::string> files;
      std::string              generator = "hyper_cube";
      std::vector<std::string> generator_arguments;
      FlowMeshInput            flow_mesh;
      /// Some of the files are of second order: see is_quadratic_msh().
      bool quadratic_files = false;
      /// The meshes are several files or generated meshes rather than
      /// refinements of one mesh.
      bool         sequence = false;
      unsigned int levels = 0, initial_refinements = 0;
      bool         simplices        = false;
      double       distortion       = 0.;
      unsigned int local_steps      = 0;
      double       random_fraction  = 1.;
      std::string  local_expression = "1", boundary_expression,
                  material_expression, periodic,
                  present_distribution = "automatic";
      unsigned int mapping_degree      = 1;
    };

    /// Parses "1, 2, 4..6" as boundary ids; @p name is the name of the
    /// parameter. The text may be empty.
    std::set<dealii::types::boundary_id>
    parse_boundary_ids(const std::string &name, const std::string &text);

    /// Throws if the mesh does not have one of the boundary ids @p ids, for
    /// which the parameter file sets something. The message consists of @p
    /// before, the id, and @p after, which by default is a list of the ids that
    /// the mesh has.
    template <int dim>
    void
    check_boundary_ids(const dealii::Triangulation<dim> &triangulation,
                       const std::set<dealii::types::boundary_id> &ids,
                       const std::string                          &before,
                       const std::string                          &after = "");
  } // namespace Application
} // namespace Tessella

#endif
