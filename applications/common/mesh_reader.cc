// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "mesh_reader.h"

#include <deal.II/base/exceptions.h>

#include <deal.II/grid/grid_in.h>

#include <tessella/base/error_message.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      // Compares the numbers that a .msh or .vtk file announces with its
      // contents. deal.II 9.4 checks only some of them, and a truncated file
      // may end in zeros.
      void
      check_complete(const std::string &file_name, const std::string &suffix)
      {
        std::ifstream in(file_name, std::ios::binary);
        in.seekg(0, std::ios::end);
        const std::streamoff size = in.tellg();
        AssertThrow(size > 0, ExcMessage("it is empty"));
        if (suffix == "vtk")
          {
            // values of the cell data
            in.seekg(0);
            std::string word;
            std::size_t n = 0;
            while (in >> word)
              if (word == "CELL_DATA")
                in >> n;
              else if (n > 0 && word == "LOOKUP_TABLE")
                {
                  in >> word;
                  std::size_t k = 0;
                  double      value;
                  while (k < n && in >> value)
                    ++k;
                  AssertThrow(k == n,
                              ExcMessage(
                                "its cell data has " + std::to_string(k) +
                                " values instead of " + std::to_string(n)));
                }
          }
        if (suffix == "msh")
          {
            in.seekg(std::max<std::streamoff>(0, size - 4096));
            const std::string end((std::istreambuf_iterator<char>(in)),
                                  std::istreambuf_iterator<char>());
            const auto        last_end   = end.rfind("$End");
            const auto        last_begin = end.rfind('$');
            AssertThrow(last_end != std::string::npos &&
                          last_begin == last_end &&
                          end.find_last_not_of(" \t\r\n") != std::string::npos,
                        ExcMessage("its last section has no end, so the file "
                                   "seems to be truncated"));
          }
      }

      // Format of a mesh file, by its name and, for UCD and Abaqus files, which
      // share a suffix, by its first lines.
      template <int dim>
      typename GridIn<dim>::Format
      format_of(const std::string &file_name, const std::string &suffix)
      {
        using Grid = GridIn<dim>;
        static const std::map<std::string, typename Grid::Format> formats = {
          {"msh", Grid::msh},
          {"vtk", Grid::vtk},
          {"vtu", Grid::vtu},
          {"unv", Grid::unv},
          {"inp", Grid::ucd},
          {"ucd", Grid::ucd},
          {"abq", Grid::ucd},
          {"mesh", Grid::dbmesh},
          {"dbmesh", Grid::dbmesh},
          {"dat", Grid::tecplot},
          {"e", Grid::exodusii},
          {"exo", Grid::exodusii},
          {"exodusii", Grid::exodusii}};
        const auto found = formats.find(suffix);
        AssertThrow(found != formats.end(),
                    ExcMessage("The format of the mesh file '" + file_name +
                               "' is unknown: its name must end in .msh, .vtk, "
                               ".vtu, .inp, .ucd, .abq, .unv, .mesh, .dat, "
                               ".e or .exo."));
        if (found->second != Grid::ucd)
          return found->second;
        // Abaqus files have lines "*KEYWORD".
        std::ifstream in(file_name);
        std::string   line;
        for (unsigned int i = 0; i < 50 && std::getline(in, line); ++i)
          if (!line.empty() && line[0] == '*')
            return Grid::abaqus;
        return Grid::ucd;
      }

    } // namespace

    template <int dim>
    void
    read_mesh_file(const std::string  &file_name,
                   Triangulation<dim> &triangulation)
    {
      const auto        dot = file_name.rfind('.');
      const std::string suffix =
        dot == std::string::npos ? "" : file_name.substr(dot + 1);
      const auto  format = format_of<dim>(file_name, suffix);
      GridIn<dim> grid_in(triangulation);
      try
        {
          check_complete(file_name, suffix);
          if (format == GridIn<dim>::exodusii)
            grid_in.read_exodusii(file_name);
          else
            {
              std::ifstream in(file_name);
              grid_in.read(in, format);
            }
          AssertThrow(triangulation.n_active_cells() > 0,
                      ExcMessage("it has no cells"));
          for (const auto &cell : triangulation.active_cell_iterators())
            AssertThrow(cell->measure() > 0. && std::isfinite(cell->measure()),
                        ExcMessage("cell " + std::to_string(cell->index()) +
                                   " has no volume"));
        }
      catch (const std::exception &exception)
        {
          std::string reason = error_message(exception);
          if (dynamic_cast<const ExcIO *>(&exception) != nullptr)
            reason = "the file ends, or has no number, where one is needed";
          while (!reason.empty() && reason.back() == '.')
            reason.pop_back();
          AssertThrow(false,
                      ExcMessage(
                        "The mesh file '" + file_name +
                        "' cannot be read as a mesh of dimension " +
                        std::to_string(dim) +
                        ": it is damaged, incomplete, or has cells that "
                        "deal.II does not know (" +
                        reason + ")."));
        }
    }

    std::vector<unsigned int>
    read_vtk_cell_data(const int          dim,
                       const std::string &file_name,
                       const std::string &field)
    {
      std::ifstream in(file_name);
      const auto require = [&](const bool condition, const std::string &what) {
        AssertThrow(condition,
                    ExcMessage("The cell data field '" + field +
                               "' cannot be read from '" + file_name +
                               "': " + what + "."));
      };
      require(bool(in), "the file cannot be opened");

      std::vector<int>    types;
      std::vector<double> values;
      std::string         word, header;
      std::getline(in, header);
      require(header.compare(0, 5, "# vtk") == 0,
              "it is no legacy .vtk file (write it as ASCII .vtk)");
      std::size_t n_data     = 0;
      const auto  read_array = [&](const std::size_t n) {
        values.resize(n);
        for (double &v : values)
          in >> v;
        require(bool(in), "it has too few values");
      };
      while (values.empty() && in >> word)
        if (word == "BINARY")
          require(false, "the file is binary; write it as ASCII");
        else if (word == "CELL_TYPES")
          {
            std::size_t n = 0;
            in >> n;
            types.resize(in ? n : 0);
            for (int &t : types)
              in >> t;
            require(bool(in), "the list of cell types is incomplete");
          }
        else if (word == "CELL_DATA")
          in >> n_data;
        else if (n_data > 0 && word == "SCALARS")
          {
            std::string name, type, line;
            in >> name >> type;
            std::getline(in, line);
            in >> word >> line; // LOOKUP_TABLE name
            if (name == field)
              read_array(n_data);
          }
        else if (n_data > 0 && word == "FIELD")
          {
            std::size_t n_arrays = 0;
            in >> word >> n_arrays;
            for (std::size_t i = 0; i < n_arrays && values.empty(); ++i)
              {
                std::string name, type;
                std::size_t n_components = 0, n = 0;
                in >> name >> n_components >> n >> type;
                require(bool(in), "the file is incomplete");
                if (name == field)
                  {
                    require(n_components == 1 && n == n_data,
                            "it is no scalar per cell");
                    read_array(n);
                  }
                else
                  for (std::size_t k = 0; k < n * n_components; ++k)
                    in >> word;
              }
          }
      require(!values.empty(), "the file has no such field");
      require(types.size() == values.size(),
              "it has not one value for every cell");

      // Cells of lower dimension carry boundary ids; deal.II does not count
      // them as cells.
      std::vector<unsigned int> ids;
      for (std::size_t i = 0; i < types.size(); ++i)
        {
          const int t = types[i];
          if (dim == 2 ? (t == 5 || t == 8 || t == 9) : (t >= 10 && t <= 14))
            {
              require(values[i] >= 0. && values[i] == std::floor(values[i]) &&
                        values[i] < std::numeric_limits<unsigned int>::max(),
                      "the value " + std::to_string(values[i]) +
                        " is no integer from 0");
              ids.push_back(static_cast<unsigned int>(values[i]));
            }
        }
      return ids;
    }

    template void
    read_mesh_file(const std::string &, Triangulation<2> &);
    template void
    read_mesh_file(const std::string &, Triangulation<3> &);
  } // namespace Application
} // namespace Tessella
