// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "cell_values_input.h"

#include <deal.II/lac/vector.h>

#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/space_time/space_time_form.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "expression.h"
#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    CellValuesInput::declare_parameters(ParameterHandler &prm)
    {
      for (const std::string name : {"Diffusion", "Reaction", "Source"})
        {
          prm.declare_entry(name + " per material",
                            "",
                            Patterns::Anything(),
                            "Instead of the expression, a value for each "
                            "material id of the mesh: 0: 1, 7: 100. Jumps lie "
                            "between cells, also inside polytopes.");
          prm.declare_entry(name + " per cell",
                            "",
                            Patterns::Anything(),
                            "The same, as a text file of numbers (# begins a "
                            "comment): one for each cell before refinement, or "
                            "for each cell in use, in their order.");
        }
    }



    CellValuesInput::CellData
    CellValuesInput::parse_cell_data(ParameterHandler  &prm,
                                     const std::string &coefficient,
                                     const std::string &unset,
                                     const std::string &parameter_file)
    {
      CellData          data;
      const std::string materials = prm.get(coefficient + " per material"),
                        file      = prm.get(coefficient + " per cell");
      if (materials.empty() && file.empty())
        return data;
      data.name = "Equation/" + coefficient +
                  (file.empty() ? " per material" : " per cell");
      AssertThrow(materials.empty() || file.empty(),
                  ExcMessage("Both Equation/" + coefficient +
                             " per material and Equation/" + coefficient +
                             " per cell are given: keep one of them."));
      AssertThrow(prm.get(coefficient) == unset,
                  ExcMessage("Both Equation/" + coefficient + " and " +
                             data.name + " are given: keep one of them."));
      const auto check = [&](const double value, const std::string &where) {
        AssertThrow(std::isfinite(value),
                    ExcMessage(data.name + ": the value " + where +
                               " is not a finite number."));
        AssertThrow(coefficient != "Diffusion" || value >= 0.,
                    ExcMessage(data.name + ": the value " + where + " is " +
                               std::to_string(value) +
                               ", but diffusion must not be negative."));
      };

      if (file.empty())
        {
          for (const std::string &entry : split(materials, ','))
            {
              const auto colon = entry.find(':');
              const auto key   = split(entry.substr(0, colon), ',');
              const auto value = colon == std::string::npos
                                   ? std::vector<std::string>()
                                   : split(entry.substr(colon + 1), ',');
              AssertThrow(key.size() == 1 && value.size() == 1 &&
                            is_index(key[0]),
                          ExcMessage("The entry '" + entry + "' of " +
                                     data.name +
                                     " is not of the form 'id: value'."));
              const types::material_id id = std::stoul(key[0]);
              AssertThrow(data.by_material.count(id) == 0,
                          ExcMessage(data.name +
                                     " has two values for the "
                                     "material id " +
                                     key[0] + "."));
              const double number =
                Expression(data.name, value[0], {}, parse_constants("", ""))
                  .value(nullptr);
              check(number, "for material id " + key[0]);
              data.by_material[id] = number;
            }
          return data;
        }

      data.file = find_file("file of " + data.name, file, parameter_file);
      std::ifstream in(data.file);
      AssertThrow(in,
                  ExcMessage("The file '" + data.file + "' of " + data.name +
                             " cannot be read."));
      std::string line;
      while (std::getline(in, line))
        {
          std::istringstream words(line.substr(0, line.find('#')));
          std::string        word;
          while (words >> word)
            {
              const std::string where =
                "number " + std::to_string(data.by_cell.size() + 1) +
                " of the file '" + data.file + "'";
              char        *end   = nullptr;
              const double value = std::strtod(word.c_str(), &end);
              AssertThrow(end == word.c_str() + word.size(),
                          ExcMessage(data.name + ": '" + word + "', " + where +
                                     ", is not a number."));
              check(value, where);
              data.by_cell.push_back(value);
            }
        }
      AssertThrow(!data.by_cell.empty(),
                  ExcMessage("The file '" + data.file + "' of " + data.name +
                             " has no values."));
      return data;
    }



    void
    CellValuesInput::parse_parameters(ParameterHandler  &prm,
                                      const std::string &parameter_file)
    {
      diffusion = parse_cell_data(prm, "Diffusion", "1", parameter_file);
      reaction  = parse_cell_data(prm, "Reaction", "0", parameter_file);
      source    = parse_cell_data(prm, "Source", "auto", parameter_file);
    }



    void
    CellValuesInput::check_source(const bool given_exact,
                                  const bool given_source) const
    {
      AssertThrow(!given_exact || given_source || has_source() ||
                    !(has_diffusion() || has_reaction()),
                  ExcMessage("Equation/Source must be given, since it cannot "
                             "be derived from Equation/Exact solution with "
                             "values per material or cell."));
    }

    bool
    CellValuesInput::has_values_per_cell() const
    {
      return !diffusion.by_cell.empty() || !reaction.by_cell.empty() ||
             !source.by_cell.empty();
    }



    template <typename FormType>
    void
    CellValuesInput::set_material_values(FormType &form) const
    {
      if (!diffusion.by_material.empty())
        form.set_diffusion(CellwiseCoefficient(diffusion.by_material));
      if (!reaction.by_material.empty())
        form.set_reaction(CellwiseCoefficient(reaction.by_material));
      if (!source.by_material.empty())
        form.set_source(CellwiseCoefficient(source.by_material));
    }



    template <typename FormType, int dim>
    void
    CellValuesInput::set_values(FormType                        &form,
                                const Mesh<dim>                 &mesh,
                                const AgglomerationHandler<dim> &handler) const
    {
      const Triangulation<dim> &triangulation = *mesh.triangulation;
      for (const CellData *data : {&diffusion, &reaction, &source})
        {
          if (!data->by_material.empty())
            for (const auto &cell : triangulation.active_cell_iterators())
              AssertThrow(cell->is_artificial() ||
                            data->by_material.count(cell->material_id()) > 0,
                          ExcMessage(data->name +
                                     " has no value for the material id " +
                                     std::to_string(cell->material_id()) +
                                     ", which cells of the mesh have."));
          if (data->by_cell.empty())
            continue;
          const std::size_t  n        = data->by_cell.size();
          const unsigned int n_coarse = triangulation.n_cells(0),
                             n_active = triangulation.n_active_cells();
          AssertThrow(n == n_coarse || n == n_active,
                      ExcMessage(
                        "The file '" + data->file + "' of " + data->name +
                        " has " + std::to_string(n) +
                        " values, but the mesh has " +
                        std::to_string(n_coarse) + " cells before and " +
                        std::to_string(n_active) + " after refinement."));
          Vector<double> values(n_active);
          for (const auto &cell : triangulation.active_cell_iterators())
            {
              typename Triangulation<dim>::cell_iterator ancestor = cell;
              while (n == n_coarse && ancestor->level() > 0)
                ancestor = ancestor->parent();
              values(cell->active_cell_index()) =
                data->by_cell[n == n_coarse ? ancestor->index()
                                            : cell->active_cell_index()];
            }
          const CellwiseCoefficient coefficient(handler.polytopic_mesh(),
                                                values);
          if (data == &diffusion)
            form.set_diffusion(coefficient);
          else if (data == &reaction)
            form.set_reaction(coefficient);
          else
            form.set_source(coefficient);
        }
    }



#define INSTANTIATE(FormType, dim)                                             \
  template void CellValuesInput::set_material_values(FormType<dim> &) const;   \
  template void CellValuesInput::set_values(FormType<dim> &,                   \
                                            const Mesh<dim> &,                 \
                                            const AgglomerationHandler<dim> &) \
    const;
    INSTANTIATE(AdvectionDiffusionReaction, 2)
    INSTANTIATE(AdvectionDiffusionReaction, 3)
    INSTANTIATE(SpaceTimeForm, 2)
    INSTANTIATE(SpaceTimeForm, 3)
#undef INSTANTIATE
  } // namespace Application
} // namespace Tessella
