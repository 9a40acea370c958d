// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "mesh_input.h"

#include <deal.II/distributed/tria.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>

#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/grid/mapping_quadratic.h>
#include <tessella/grid/read_quadratic_msh.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>
#include <tuple>

#include "expression.h"
#include "memory_check.h"
#include "mesh_reader.h"
#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    MeshInput::declare_coarse_mesh(ParameterHandler &prm)
    {
      prm.add_parameter("Dimension",
                        present_dimension,
                        "Dimension of space.",
                        Patterns::Integer(2, 3));
      prm.declare_entry(
        "Files",
        "",
        Patterns::Anything(),
        "Mesh files, separated by commas: .msh (gmsh 2 and 4), .vtk, .inp "
        "(UCD or Abaqus), .unv, and what else deal.II reads; triangles, "
        "quadrilaterals, tetrahedra, hexahedra or mixed. Cells of .msh files of "
        "second order (gmsh -order 2) are curved. Several files are a "
        "sequence of meshes, coarse to fine. They are looked for in the "
        "present folder, then beside the parameter file. Empty: the mesh "
        "comes from the generator below.");
      prm.add_parameter("Generator",
                        generator,
                        "Name of a function of dealii::GridGenerator.");
      prm.declare_entry("Generator arguments",
                        "0 : 1 : false",
                        Patterns::Anything(),
                        "Its arguments, separated by colons. Several sets of "
                        "arguments, separated by |, are a sequence of "
                        "meshes.");
      flow_mesh.declare_parameters(prm);
    }

    void
    MeshInput::declare_refinement(ParameterHandler &prm)
    {
      prm.declare_entry(
        "Levels",
        "0",
        Patterns::Anything(),
        "Number of meshes. With several files or sets of arguments: how many "
        "of them are used (0: all). With one of them: every mesh is the one "
        "before refined once (0 means 1).");
      prm.add_parameter("Initial refinements",
                        initial_refinements,
                        "Global refinements of the first mesh (with several "
                        "files or sets of arguments: of every mesh).",
                        Patterns::Integer(0, 20));
      prm.add_parameter("Convert to simplices",
                        simplices,
                        "Cut quadrilaterals into 8 triangles, hexahedra into "
                        "24 tetrahedra (after global refinement).");
      prm.add_parameter("Distortion",
                        distortion,
                        "Interior vertices move at random by this fraction "
                        "of the shortest edge, 0 to 0.45.",
                        Patterns::Double());
      prm.add_parameter("Local refinement steps",
                        local_steps,
                        "Local refinements at the end; they leave hanging "
                        "nodes.",
                        Patterns::Integer(0, 30));
      prm.add_parameter("Local refinement expression",
                        local_expression,
                        "Cells are refined where this is positive at their "
                        "centre x, y, z; h is the cell's diameter. For "
                        "example 0.3 - sqrt(x^2 + y^2), or h - sqrt(x^2 + "
                        "y^2) for the cells around a point.");
      prm.add_parameter("Local refinement fraction",
                        random_fraction,
                        "Of those cells, the fraction to be refined, chosen "
                        "at random (the same ones in every run), 0 to 1.",
                        Patterns::Double());
    }

    void
    MeshInput::declare_boundaries_and_distribution(ParameterHandler &prm)
    {
      prm.add_parameter(
        "Boundary id expression",
        boundary_expression,
        "Boundary id of a face from its centre, rounded, for example "
        "if(x < 1e-9, 1, 0). Empty: the ids of the file or generator stay.");
      prm.add_parameter("Material id expression",
                        material_expression,
                        "Material id of a cell from its centre, rounded. "
                        "Empty: the ids of the file or generator stay.");
      prm.add_parameter(
        "Periodic boundaries",
        periodic,
        "Pairs of boundary ids and the direction in which they are apart, "
        "separated by commas: 0-1 x, 2-3 y.");
      prm.add_parameter("Mapping degree",
                        mapping_degree,
                        "Polynomial degree of curved cells (of generators "
                        "and geometries with curved boundaries), at most 2 "
                        "for triangles and tetrahedra; 1: straight edges. "
                        "Cells of files of second order have degree 2 in any "
                        "case.",
                        Patterns::Integer(1, 10));
      prm.add_parameter(
        "Distribution",
        present_distribution,
        "How the mesh lies on several MPI processes. p4est: each one makes and "
        "keeps its part only; generated quadrilaterals and hexahedra; polytopes "
        "other than by the methods none and parents are those of each part by "
        "itself. fully distributed: each makes the whole mesh and its "
        "polytopes and keeps those that METIS gives it, by the cost of "
        "quadrature; the same polytopes as on one process. shared: the same, "
        "but all keep the mesh. automatic: p4est where polytopes are then the "
        "same as on one process, shared with curved cells, periodic "
        "boundaries, distortion or values per cell, otherwise fully distributed; on one process none "
        "of these. A mesh with fewer cells than processes is an error.",
        Patterns::Selection("automatic|p4est|fully distributed|shared"));
    }

    void
    MeshInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Mesh");
      declare_coarse_mesh(prm);
      declare_refinement(prm);
      declare_boundaries_and_distribution(prm);
      prm.leave_subsection();
    }

    void
    MeshInput::parse_parameters(ParameterHandler  &prm,
                                const std::string &parameter_file)
    {
      prm.enter_subsection("Mesh");
      files               = split(prm.get("Files"), ',');
      generator_arguments = split(prm.get("Generator arguments"), '|');
      levels = parse_integers("Mesh/Levels", prm.get("Levels"), 0, 30)[0];
      prm.leave_subsection();

      AssertThrow(distortion >= 0. && distortion <= 0.45,
                  ExcMessage("Mesh/Distortion must lie between 0 and 0.45, or "
                             "cells may turn over."));
      AssertThrow(random_fraction >= 0. && random_fraction <= 1.,
                  ExcMessage(
                    "Mesh/Local refinement fraction must lie between 0 and "
                    "1."));
      for (std::string &file : files)
        file = find_file("mesh file", file, parameter_file);
      if (generator_arguments.empty())
        generator_arguments.emplace_back();
      if (flow_mesh.is_given())
        generator_arguments.assign(1, "");
      quadratic_files =
        std::any_of(files.begin(), files.end(), [&](const std::string &file) {
          return is_quadratic_msh(file, present_dimension);
        });
      check_geometry();
      const std::size_t n_meshes =
        files.empty() ? generator_arguments.size() : files.size();
      AssertThrow(n_meshes < 2 || levels <= n_meshes,
                  ExcMessage("Mesh/Levels is " + std::to_string(levels) +
                             ", but only " + std::to_string(n_meshes) +
                             (files.empty()
                                ? " sets of generator arguments are given."
                                : " mesh files are given.")));
      sequence = n_meshes > 1;
      if (levels == 0)
        levels = n_meshes;
    }

    void
    MeshInput::check_geometry() const
    {
      flow_mesh.check();
      AssertThrow(!flow_mesh.is_given() || files.empty(),
                  ExcMessage("Mesh/Geometry = " + flow_mesh.name() +
                             " is for generated meshes: leave Mesh/Files "
                             "empty, or set Mesh/Geometry = none."));
      AssertThrow(!flow_mesh.is_given() || !simplices,
                  ExcMessage("Mesh/Convert to simplices is not for "
                             "Mesh/Geometry = " +
                             flow_mesh.name() +
                             ": set Mesh/Geometry simplices = true."));
      if (!quadratic_files)
        return;
      AssertThrow(mapping_degree <= 2,
                  ExcMessage("The mesh file has cells of second order, but "
                             "Mesh/Mapping degree is " +
                             std::to_string(mapping_degree) + "."));
      AssertThrow(!simplices && distortion == 0. && periodic.empty(),
                  ExcMessage("A mesh file with cells of second order works "
                             "without Mesh/Convert to simplices, Distortion "
                             "and Periodic boundaries."));
    }

    bool
    MeshInput::suits_p4est() const
    {
      return files.empty() && !simplices && !flow_mesh.is_given() &&
             generator.find("simplices") == std::string::npos &&
             generator.find("simplex") == std::string::npos &&
             distortion == 0. && (local_steps == 0 || random_fraction == 1.);
    }

    bool
    MeshInput::needs_whole_mesh() const
    {
      return mapping_degree > 1 || quadratic_files || flow_mesh.is_given() ||
             !periodic.empty() || (distortion > 0. && !simplices);
    }

    namespace
    {
      int
      rounded_id(const Expression &expression, const double value)
      {
        AssertThrow(std::isfinite(value) && value > -0.5 && value < 1e9,
                    ExcMessage("The expression '" + expression.text() +
                               "' of " + expression.name() + " gives " +
                               std::to_string(value) +
                               ", which is no id: ids are integers from 0."));
        return static_cast<int>(std::lround(value));
      }

      template <int dim>
      void
      set_boundary_ids(const Expression   &expression,
                       Triangulation<dim> &triangulation)
      {
        for (const auto &cell : triangulation.cell_iterators())
          for (const unsigned int f : cell->face_indices())
            if (cell->face(f)->at_boundary() &&
                (cell->is_active() || cell->level() == 0))
              {
                const Point<dim> center = cell->face(f)->center();
                cell->face(f)->set_boundary_id(
                  rounded_id(expression, expression.value(&center[0])));
              }
      }

      template <int dim>
      void
      set_material_ids(const Expression   &expression,
                       Triangulation<dim> &triangulation)
      {
        for (const auto &cell : triangulation.active_cell_iterators())
          {
            const Point<dim> center = cell->center();
            cell->set_material_id(
              rounded_id(expression, expression.value(&center[0])));
          }
      }

      // Lower bound for the number of cells that a generator creates; one if it
      // does not follow from the arguments, or if they are not valid.
      double
      n_generated_cells(const int          dim,
                        const std::string &generator,
                        const std::string &arguments)
      {
        const std::vector<std::string> list    = split(arguments, ':');
        const auto                     product = [&](const std::size_t i) {
          double result = 1.;
          for (const std::string &text :
               split(i < list.size() ? list[i] : "", ','))
            {
              double             n = 0.;
              std::istringstream in(text);
              if (in >> n && n > 1.)
                result *= n;
            }
          return result;
        };
        if (generator == "subdivided_hyper_cube" ||
            generator == "subdivided_hyper_cube_with_simplices")
          return std::pow(product(0), dim);
        if (generator == "subdivided_hyper_rectangle" ||
            generator == "subdivided_hyper_rectangle_with_simplices" ||
            generator == "cheese")
          return product(0);
        if (generator == "subdivided_cylinder")
          return product(0);
        if (generator == "hyper_shell" || generator == "cylinder_shell")
          return product(3);
        return 1.;
      }
    } // namespace

    unsigned int
    MeshInput::last_refinements() const
    {
      return initial_refinements + (sequence ? 0 : levels - 1);
    }

    template <int dim>
    void
    MeshInput::check_memory(const double       n_coarse_cells,
                            const unsigned int n_refinements,
                            const bool         distributed) const
    {
      std::string origin, remedy;
      const auto  add = [&](const std::string &name, const std::string &value) {
        origin += (origin.empty() ? "" : ", ") + name + " = " + value;
        remedy += (remedy.empty() ? "lower " : " or ") + name;
      };
      if (initial_refinements > 0)
        add("Mesh/Initial refinements", std::to_string(initial_refinements));
      if (!sequence && levels > 1)
        add("Mesh/Levels", std::to_string(levels));
      if (origin.empty() || n_coarse_cells > 1e6)
        {
          if (flow_mesh.is_given())
            add("Mesh/Geometry cells", std::to_string(flow_mesh.n_cells()));
          else if (files.empty())
            add("Mesh/Generator arguments", generator_arguments[0]);
          else
            add("Mesh/Files", files[0]);
        }
      const unsigned int n_children = 1 << dim;
      Application::check_memory(dim,
                                n_coarse_cells *
                                  std::pow(n_children, n_refinements) *
                                  (simplices ? (dim == 2 ? 8. : 24.) : 1.),
                                distributed,
                                origin,
                                remedy);
    }

    template <int dim>
    void
    MeshInput::check_memory_of_generated_meshes(const bool distributed) const
    {
      double n_cells =
        flow_mesh.is_given() ? flow_mesh.n_cells_at_least(dim) : 1.;
      for (unsigned int i = 0; files.empty() && !flow_mesh.is_given() &&
                               i < generator_arguments.size();
           ++i)
        if (!sequence || i < levels)
          n_cells =
            std::max(n_cells,
                     n_generated_cells(dim, generator, generator_arguments[i]));
      check_memory<dim>(n_cells, last_refinements(), distributed);
    }

    template <int dim>
    void
    MeshInput::create_coarse(const unsigned int  level,
                             Triangulation<dim> &triangulation,
                             Mesh<dim>          &mesh) const
    {
      if (!files.empty())
        {
          mesh.file = files[std::min<std::size_t>(level, files.size() - 1)];
          if (is_quadratic_msh(mesh.file, dim))
            mesh.mapping = read_quadratic_msh(mesh.file, triangulation);
          else
            read_mesh_file(mesh.file, triangulation);
        }
      else if (flow_mesh.is_given())
        flow_mesh.create(triangulation);
      else
        {
          const std::string &arguments =
            generator_arguments[sequence ? level : 0];
          try
            {
              // deal.II 9.4 does not know this generator by name.
              if (generator == "subdivided_hyper_cube_with_simplices")
                {
                  const auto a = Patterns::Tools::Convert<
                    std::tuple<unsigned int, double, double, bool>>::
                    to_value(arguments);
                  GridGenerator::subdivided_hyper_cube_with_simplices(
                    triangulation,
                    std::get<0>(a),
                    std::get<1>(a),
                    std::get<2>(a),
                    std::get<3>(a));
                }
              else
                GridGenerator::generate_from_name_and_arguments(triangulation,
                                                                generator,
                                                                arguments);
            }
          catch (const std::exception &exception)
            {
              AssertThrow(false,
                          ExcMessage("The mesh generator '" + generator +
                                     "' does not work with the arguments '" +
                                     arguments + "' in dimension " +
                                     std::to_string(dim) + ": " +
                                     error_message(exception)));
            }
        }
    }

    template <int dim>
    void
    MeshInput::set_periodic_boundaries(Triangulation<dim> &triangulation) const
    {
      if (periodic.empty())
        return;
      std::vector<
        GridTools::PeriodicFacePair<typename Triangulation<dim>::cell_iterator>>
        pairs;
      for (const std::string &entry : split(periodic, ','))
        {
          unsigned int       id[2];
          char               dash = 0, axis = 0;
          std::istringstream stream(entry);
          stream >> id[0] >> dash >> id[1] >> axis;
          AssertThrow(stream && dash == '-' && axis >= 'x' &&
                        axis < 'x' + dim && stream.rdbuf()->in_avail() == 0,
                      ExcMessage("The entry '" + entry +
                                 "' of Mesh/Periodic boundaries is not of "
                                 "the form '0-1 x'."));
          const auto before = pairs.size();
          try
            {
              GridTools::collect_periodic_faces(
                triangulation, id[0], id[1], axis - 'x', pairs);
            }
          catch (const std::exception &exception)
            {
              AssertThrow(false,
                          ExcMessage("The boundaries of '" + entry +
                                     "' in Mesh/Periodic boundaries do not "
                                     "match face by face: " +
                                     error_message(exception)));
            }
          AssertThrow(pairs.size() > before,
                      ExcMessage("The boundaries of '" + entry +
                                 "' in Mesh/Periodic boundaries have no "
                                 "faces: the mesh has no such boundary "
                                 "ids."));
        }
      triangulation.add_periodicity(pairs);
    }

    template <int dim>
    Mesh<dim>
    MeshInput::create(const unsigned int level) const
    {
      return create<dim>(level, std::make_unique<Triangulation<dim>>(), 0);
    }

    template <int dim>
    Mesh<dim>
    MeshInput::create_on_p4est(const unsigned int level,
                               const unsigned int levels_together) const
    {
      AssertThrow(suits_p4est(),
                  ExcMessage("Mesh/Distribution = p4est is for quadrilaterals "
                             "and hexahedra of a generator, without Distortion "
                             "or a Local refinement fraction: take fully "
                             "distributed."));
#ifdef DEAL_II_WITH_P4EST
      // The mesh is partitioned by explicit calls of repartition(), see below.
      using Distributed = parallel::distributed::Triangulation<dim>;
      return create<dim>(
        level,
        std::make_unique<Distributed>(MPI_COMM_WORLD,
                                      Triangulation<dim>::none,
                                      Distributed::no_automatic_repartitioning),
        levels_together);
#else
      (void)level;
      (void)levels_together;
      AssertThrow(false,
                  ExcMessage("Mesh/Distribution = p4est needs a deal.II with "
                             "p4est: take fully distributed."));
      return {};
#endif
    }

    namespace
    {
      // Whether the mesh is distributed over all processes by p4est; otherwise
      // it is a whole mesh on this process.
      template <int dim>
      bool
      is_on_p4est(const Triangulation<dim> &triangulation)
      {
#ifdef DEAL_II_WITH_P4EST
        return dynamic_cast<const parallel::distributed::Triangulation<dim> *>(
                 &triangulation) != nullptr;
#else
        (void)triangulation;
        return false;
#endif
      }

      // Distributes the cells anew if the mesh is on p4est.
      template <int dim>
      void
      repartition(Triangulation<dim> &triangulation)
      {
#ifdef DEAL_II_WITH_P4EST
        if (auto *p4est =
              dynamic_cast<parallel::distributed::Triangulation<dim> *>(
                &triangulation))
          p4est->repartition();
#else
        (void)triangulation;
#endif
      }

      // Runs work that may throw on one process only and that does not
      // communicate.
      template <int dim>
      void
      guard(const Triangulation<dim>    &triangulation,
            const std::function<void()> &work)
      {
        on_all_processes(is_on_p4est(triangulation) ? MPI_COMM_WORLD
                                                    : MPI_COMM_SELF,
                         work);
      }

      // Sets the refinement flags of cells where an expression of the centre
      // and of the diameter is positive, or of a random part of them. Returns
      // the number of these cells of all processes.
      template <int dim>
      double
      mark_cells(const Expression   &where,
                 const double        random_fraction,
                 std::mt19937       &random,
                 Triangulation<dim> &triangulation)
      {
        double n_marked = 0.;
        for (const auto &cell : triangulation.active_cell_iterators())
          {
            if (!cell->is_locally_owned())
              continue;
            double x[dim + 1];
            for (int d = 0; d < dim; ++d)
              x[d] = cell->center()[d];
            x[dim] = cell->diameter();
            if (where.value(x) > 0. &&
                (random_fraction == 1. ||
                 random() <
                   random_fraction * static_cast<double>(std::mt19937::max())))
              {
                cell->set_refine_flag();
                ++n_marked;
              }
          }
        return is_on_p4est(triangulation)
                 ? Utilities::MPI::sum(n_marked, MPI_COMM_WORLD)
                 : n_marked;
      }

      // Text such as "1,234 triangles, 5 quadrilaterals".
      template <int dim>
      std::string
      describe_cells(const Triangulation<dim> &triangulation)
      {
        std::map<std::string, std::uint64_t> kinds;
        if (is_on_p4est(triangulation))
          kinds[dim == 2 ? "quadrilaterals" : "hexahedra"] =
            triangulation.n_global_active_cells();
        else
          for (const auto &cell : triangulation.active_cell_iterators())
            {
              const unsigned int n = cell->n_vertices();
              ++kinds[dim == 2 ? (n == 3 ? "triangles" : "quadrilaterals")
                      : n == 4 ? "tetrahedra"
                      : n == 5 ? "pyramids"
                      : n == 6 ? "wedges"
                               : "hexahedra"];
            }
        std::string text;
        for (const auto &kind : kinds)
          text += (text.empty() ? "" : ", ") + std::to_string(kind.second) +
                  " " + kind.first;
        return text;
      }
    } // namespace

    template <int dim>
    void
    MeshInput::create_cells(const unsigned int level,
                            const unsigned int n_refinements,
                            Mesh<dim>         &mesh) const
    {
      Triangulation<dim> &tria        = *mesh.triangulation;
      const bool          distributed = is_on_p4est(tria);
      const auto          check_size  = [&](const Triangulation<dim> &coarse) {
        check_memory<dim>(coarse.n_active_cells(),
                          last_refinements(),
                          distributed);
      };
      if (simplices)
        {
          Triangulation<dim> cubes, flat;
          create_coarse(level, cubes, mesh);
          AssertThrow(cubes.all_reference_cells_are_hyper_cube(),
                      ExcMessage("Mesh/Convert to simplices works for "
                                 "quadrilaterals and hexahedra only, but the "
                                 "mesh has other cells."));
          check_size(cubes);
          cubes.refine_global(n_refinements);
          GridGenerator::flatten_triangulation(cubes, flat);
          GridGenerator::convert_hypercube_to_simplex_mesh(flat, tria);
        }
      else if (!distributed)
        {
          create_coarse(level, tria, mesh);
          check_size(tria);
        }
      else
        {
          Triangulation<dim> coarse;
          guard(tria, [&]() {
            create_coarse(level, coarse, mesh);
            AssertThrow(coarse.all_reference_cells_are_hyper_cube() &&
                          coarse.n_levels() == 1,
                        ExcMessage("Mesh/Distribution = p4est works for "
                                   "quadrilaterals and hexahedra that the "
                                   "generator has not refined: take fully "
                                   "distributed."));
            check_size(coarse);
          });
          tria.copy_triangulation(coarse);
        }
      mesh.n_coarse_cells = tria.n_cells(0);
    }

    template <int dim>
    void
    MeshInput::refine_globally(const unsigned int  n_refinements,
                               const unsigned int  levels_together,
                               Triangulation<dim> &tria) const
    {
      if (is_on_p4est(tria))
        {
          const unsigned int together =
            local_steps == 0 ? std::min(levels_together, n_refinements) : 0;
          repartition(tria);
          for (unsigned int i = 0; i < n_refinements; ++i)
            {
              tria.refine_global(1);
              if (i + together < n_refinements)
                repartition(tria);
            }
        }
      else if (!simplices) // which were refined as cubes
        tria.refine_global(n_refinements);
    }

    template <int dim>
    void
    MeshInput::refine_locally(Triangulation<dim> &tria) const
    {
      std::vector<std::string> variables = coordinate_names(dim);
      variables.push_back("h");
      const Expression where("Mesh/Local refinement expression",
                             local_expression,
                             variables,
                             parse_constants("", ""));
      std::mt19937     random(1);
      for (unsigned int step = 0; step < local_steps; ++step)
        {
          const double n_marked =
            mark_cells(where, random_fraction, random, tria);
          if (n_marked == 0.)
            break;
          guard(tria, [&]() {
            Application::check_memory(dim,
                                      tria.n_global_active_cells() +
                                        ((1 << dim) - 1) * n_marked,
                                      is_on_p4est(tria),
                                      "Mesh/Local refinement steps = " +
                                        std::to_string(local_steps),
                                      "lower Mesh/Local refinement steps");
          });
          try
            {
              tria.execute_coarsening_and_refinement();
              repartition(tria);
            }
          catch (const std::exception &exception)
            {
              AssertThrow(false,
                          ExcMessage("deal.II cannot refine this mesh "
                                     "locally: " +
                                     error_message(exception)));
            }
        }
    }

    template <int dim>
    void
    MeshInput::set_mapping(Mesh<dim> &mesh) const
    {
      // That of a file of second order is there already.
      if (mapping_degree == 1 || mesh.mapping)
        return;
      const Triangulation<dim> &tria = *mesh.triangulation;
      if (tria.all_reference_cells_are_hyper_cube())
        {
          mesh.mapping = std::make_unique<MappingQ<dim>>(mapping_degree);
          return;
        }
      AssertThrow(tria.all_reference_cells_are_simplex() && !simplices &&
                    mapping_degree == 2,
                  ExcMessage("Mesh/Mapping degree is " +
                             std::to_string(mapping_degree) +
                             ", but triangles and tetrahedra are curved with "
                             "degree 2 only, and those made by Convert to "
                             "simplices and meshes of several types of cells "
                             "not at all; set it to 1 for this mesh."));
      mesh.mapping = std::make_unique<MappingQuadratic<dim>>(tria);
    }

    template <int dim>
    Mesh<dim>
    MeshInput::create(const unsigned int                  level,
                      std::unique_ptr<Triangulation<dim>> triangulation,
                      const unsigned int                  levels_together) const
    {
      AssertIndexRange(level, levels);
      Mesh<dim> mesh;
      mesh.triangulation       = std::move(triangulation);
      Triangulation<dim> &tria = *mesh.triangulation;
      const unsigned int  n_refinements =
        initial_refinements + (sequence ? 0 : level);
      // Reads an expression of the coordinates and sets ids.
      const auto set_ids =
        [&](const std::string &name, const std::string &text, const auto &set) {
          if (!text.empty())
            set(Expression("Mesh/" + name,
                           text,
                           coordinate_names(dim),
                           parse_constants("", "")),
                tria);
        };
      const auto set_boundaries = [&]() {
        set_ids("Boundary id expression",
                boundary_expression,
                set_boundary_ids<dim>);
      };

      // All meshes are checked before the first one is used.
      guard(tria, [&]() {
        check_memory_of_generated_meshes<dim>(is_on_p4est(tria));
      });
      create_cells(level, n_refinements, mesh);
      if (!boundary_expression.empty())
        guard(tria, set_boundaries);
      set_periodic_boundaries(tria);
      refine_globally(n_refinements, levels_together, tria);
      // This is done before local refinement, after which hanging nodes would
      // have to be kept on their edges.
      if (distortion > 0.)
        GridTools::distort_random(distortion, tria);
      refine_locally(tria);
      guard(tria, [&]() {
        set_boundaries();
        set_ids("Material id expression",
                material_expression,
                set_material_ids<dim>);
      });
      set_mapping(mesh);
      mesh.description = describe_cells(tria);
      return mesh;
    }

    std::set<types::boundary_id>
    parse_boundary_ids(const std::string &name, const std::string &text)
    {
      if (text.empty())
        return {};
      const auto ids = parse_integers(name, text, 0, 1000000);
      return {ids.begin(), ids.end()};
    }

    template <int dim>
    void
    check_boundary_ids(const Triangulation<dim>           &triangulation,
                       const std::set<types::boundary_id> &ids,
                       const std::string                  &before,
                       const std::string                  &after)
    {
      std::set<types::boundary_id> present;
      std::string                  names;
      for (const types::boundary_id id : triangulation.get_boundary_ids())
        {
          present.insert(id);
          names += (names.empty() ? "" : ", ") + std::to_string(id);
        }
      for (const types::boundary_id id : ids)
        AssertThrow(present.count(id) > 0,
                    ExcMessage(before + " the id " + std::to_string(id) +
                               (after.empty()
                                  ? ", but the mesh has the boundary ids " +
                                      names + " only."
                                  : after)));
    }

    template Mesh<2>
    MeshInput::create(const unsigned int) const;
    template Mesh<3>
    MeshInput::create(const unsigned int) const;
    template Mesh<2>
    MeshInput::create_on_p4est(const unsigned int, const unsigned int) const;
    template Mesh<3>
    MeshInput::create_on_p4est(const unsigned int, const unsigned int) const;
    template void
    MeshInput::set_periodic_boundaries(Triangulation<2> &) const;
    template void
    MeshInput::set_periodic_boundaries(Triangulation<3> &) const;
    template void
    check_boundary_ids(const Triangulation<2> &,
                       const std::set<types::boundary_id> &,
                       const std::string &,
                       const std::string &);
    template void
    check_boundary_ids(const Triangulation<3> &,
                       const std::set<types::boundary_id> &,
                       const std::string &,
                       const std::string &);
  } // namespace Application
} // namespace Tessella
