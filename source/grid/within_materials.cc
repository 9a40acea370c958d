// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/grid/tria.h>

#include <tessella/grid/within_materials.h>

#include <map>
#include <utility>

namespace Tessella
{
  using namespace dealii;

  namespace Agglomeration
  {
    template <int dim>
    Strategy<dim>
    within_materials(const Strategy<dim> &strategy)
    {
      return [strategy](const Triangulation<dim> &triangulation) {
        std::vector<unsigned int> ids = strategy(triangulation);
        std::map<std::pair<unsigned int, types::material_id>, unsigned int>
          number;
        for (const auto &cell : triangulation.active_cell_iterators())
          if (!cell->is_artificial())
            {
              unsigned int &id = ids[cell->active_cell_index()];
              id               = number
                     .emplace(std::make_pair(id, cell->material_id()),
                              static_cast<unsigned int>(number.size()))
                     .first->second;
            }
        return ids;
      };
    }



    template Strategy<2>
    within_materials<2>(const Strategy<2> &);
    template Strategy<3>
    within_materials<3>(const Strategy<3> &);
  } // namespace Agglomeration
} // namespace Tessella
