// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/utilities.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/data_out.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>

#include "../base/collective.h"
#include "new_file.h"
#include "polytope_outlines.h"

namespace Tessella
{
  using namespace internal;

  namespace
  {
    /// Writer of the arrays of a VTU file.
    class VtuWriter
    {
    public:
      VtuWriter(std::ostream &out, const bool binary)
        : out(out)
        , binary(binary)
      {
        out.precision(17);
        const std::uint16_t one = 1;
        const bool          little_endian =
          *reinterpret_cast<const unsigned char *>(&one) == 1;
        out << "<?xml version=\"1.0\"?>\n"
            << "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
               "byte_order=\""
            << (little_endian ? "Little" : "Big")
            << "Endian\" header_type=\"UInt64\">\n"
            << "<UnstructuredGrid>\n";
      }

      template <typename T>
      void
      array(const char           *type,
            const std::string    &name,
            const std::vector<T> &data,
            const unsigned int    n_components = 1)
      {
        out << "<DataArray type=\"" << type << "\" Name=\"" << name << '"';
        if (n_components > 1)
          out << " NumberOfComponents=\"" << n_components << '"';
        out << " format=\"" << (binary ? "binary" : "ascii") << "\">\n";
        if (binary)
          {
            const std::uint64_t        n_bytes = data.size() * sizeof(T);
            std::vector<unsigned char> bytes(sizeof(n_bytes) + n_bytes);
            std::memcpy(bytes.data(), &n_bytes, sizeof(n_bytes));
            if (n_bytes > 0)
              std::memcpy(bytes.data() + sizeof(n_bytes), data.data(), n_bytes);
            out << dealii::Utilities::encode_base64(bytes) << '\n';
          }
        else
          for (std::size_t i = 0; i < data.size(); ++i)
            out << +data[i]
                << ((i + 1) % (n_components > 1 ? n_components : 12) == 0 ||
                        i + 1 == data.size()
                      ? '\n'
                      : ' ');
        out << "</DataArray>\n";
      }

    private:
      std::ostream &out;
      const bool    binary;
    };

    /// Cells of the grid whose cells are the polytopes.
    struct PolytopeGrid
    {
      std::vector<double>       points; // three coordinates per point
      std::vector<std::int64_t> connectivity, offsets, faces, face_offsets;
      std::vector<std::uint8_t> types;
      std::vector<unsigned int> polytope;
    };

    PolytopeGrid
    make_grid(const AgglomerationHandler<2> &handler)
    {
      const PolytopicMesh<2> &mesh = handler.polytopic_mesh();
      PolytopeGrid            grid;
      const PolygonOutlines   outlines(handler);
      for (std::size_t i = 0; i < outlines.points.size(); i += 2)
        grid.points.insert(grid.points.end(),
                           {outlines.points[i], outlines.points[i + 1], 0.});
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        for (const auto &polygon : outlines.polygons(k))
          {
            grid.connectivity.insert(grid.connectivity.end(),
                                     polygon.begin(),
                                     polygon.end());
            grid.offsets.push_back(grid.connectivity.size());
            grid.types.push_back(7); // VTK_POLYGON
            grid.polytope.push_back(k);
          }
      return grid;
    }

    PolytopeGrid
    make_grid(const AgglomerationHandler<3> &handler)
    {
      const PolytopicMesh<3>   &mesh = handler.polytopic_mesh();
      PolytopeGrid              grid;
      PointNumbering<3>         numbering(point_tolerance(mesh));
      std::vector<std::int64_t> vertices;
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        {
          vertices.clear();
          // Number of faces, then for each face the number of its points and
          // the points.
          const std::size_t start = grid.faces.size();
          grid.faces.push_back(0);
          for_facets(mesh,
                     k,
                     [&](const unsigned int i,
                         const unsigned int f,
                         const unsigned int side) {
                       double             corners[4][3];
                       const unsigned int n =
                         facet_corners(mesh, i, f, side, corners);
                       grid.faces.push_back(n);
                       for (unsigned int v = 0; v < n; ++v)
                         {
                           const unsigned int p = numbering.number(corners[v]);
                           grid.faces.push_back(p);
                           vertices.push_back(p);
                         }
                       ++grid.faces[start];
                     });
          std::sort(vertices.begin(), vertices.end());
          vertices.erase(std::unique(vertices.begin(), vertices.end()),
                         vertices.end());
          grid.connectivity.insert(grid.connectivity.end(),
                                   vertices.begin(),
                                   vertices.end());
          grid.offsets.push_back(grid.connectivity.size());
          grid.face_offsets.push_back(grid.faces.size());
          grid.types.push_back(42); // VTK_POLYHEDRON
          grid.polytope.push_back(k);
        }
      grid.points = std::move(numbering.points);
      return grid;
    }

    /// Writes the piece of this process.
    template <int dim>
    void
    write_piece(const AgglomerationHandler<dim> &handler,
                NewFile                         &file,
                const PolytopeOutputFlags       &flags)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      const PolytopicDoFs      &dofs = handler.polytopic_dofs();
      for (const auto &data : flags.data)
        AssertThrow(data.second.size() == handler.n_polytopes(),
                    dealii::ExcMessage(
                      "The cell data \"" + data.first + "\" has " +
                      std::to_string(data.second.size()) +
                      " numbers instead of one per polytope, " +
                      std::to_string(handler.n_polytopes()) + "."));
      const PolytopeGrid              grid    = make_grid(handler);
      const std::size_t               n_cells = grid.polytope.size();
      const std::vector<unsigned int> color   = color_polytopes(mesh);

      file.write([&](std::ostream &out) {
        VtuWriter writer(out, flags.binary);
        out << "<Piece NumberOfPoints=\"" << grid.points.size() / 3
            << "\" NumberOfCells=\"" << n_cells << "\">\n<Points>\n";
        writer.array("Float64", "Points", grid.points, 3);
        out << "</Points>\n<Cells>\n";
        writer.array("Int64", "connectivity", grid.connectivity);
        writer.array("Int64", "offsets", grid.offsets);
        writer.array("UInt8", "types", grid.types);
        if (dim == 3)
          {
            writer.array("Int64", "faces", grid.faces);
            writer.array("Int64", "faceoffsets", grid.face_offsets);
          }
        out << "</Cells>\n<CellData Scalars=\"color\">\n";
        std::vector<std::int32_t> integers(n_cells);
        std::vector<double>       numbers(n_cells);
        auto integer_data = [&](const char *name, const auto &value) {
          for (std::size_t i = 0; i < n_cells; ++i)
            integers[i] = value(grid.polytope[i]);
          writer.array("Int32", name, integers);
        };
        auto number_data = [&](const std::string         &name,
                               const std::vector<double> &values) {
          for (std::size_t i = 0; i < n_cells; ++i)
            numbers[i] = values[grid.polytope[i]];
          writer.array("Float64", name, numbers);
        };
        integer_data("polytope", [&](const unsigned int k) {
          return handler.global_polytope_index(k);
        });
        integer_data("color", [&](const unsigned int k) { return color[k]; });
        if (dofs.degree.size() == mesh.n_polytopes())
          integer_data("degree",
                       [&](const unsigned int k) { return dofs.degree[k]; });
        number_data("measure", mesh.measure);
        for (const auto &data : flags.data)
          number_data(data.first, data.second);
        out << "</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
      });
    }

    /// Writes the file that refers to the pieces of all processes.
    void
    write_pvtu(NewFile                   &file,
               const std::string         &stem,
               const unsigned int         n_pieces,
               const bool                 has_degrees,
               const PolytopeOutputFlags &flags)
    {
      file.write([&](std::ostream &out) {
        out << "<?xml version=\"1.0\"?>\n"
            << "<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\">\n"
            << "<PUnstructuredGrid GhostLevel=\"0\">\n<PPoints>\n"
            << "<PDataArray type=\"Float64\" NumberOfComponents=\"3\"/>\n"
            << "</PPoints>\n<PCellData Scalars=\"color\">\n";
        const auto field = [&](const char *type, const std::string &name) {
          out << "<PDataArray type=\"" << type << "\" Name=\"" << name
              << "\"/>\n";
        };
        field("Int32", "polytope");
        field("Int32", "color");
        if (has_degrees)
          field("Int32", "degree");
        field("Float64", "measure");
        for (const auto &data : flags.data)
          field("Float64", data.first);
        out << "</PCellData>\n";
        // The pieces are in the same folder as this file.
        const std::string name = stem.substr(stem.find_last_of('/') + 1);
        for (unsigned int i = 0; i < n_pieces; ++i)
          out << "<Piece Source=\"" << name << '.' << i << ".vtu\"/>\n";
        out << "</PUnstructuredGrid>\n</VTKFile>\n";
      });
    }
  } // namespace



  template <int dim>
  void
  write_polytopes_vtu(const AgglomerationHandler<dim> &handler,
                      const std::string               &file_name,
                      const PolytopeOutputFlags       &flags)
  {
    const MPI_Comm     communicator = handler.get_communicator();
    const unsigned int n_processes  = internal::n_processes(communicator);
    if (n_processes > 1)
      {
        const std::size_t  dot     = file_name.rfind(".vtu");
        const std::string  stem    = file_name.substr(0, dot);
        const unsigned int process = internal::this_process(communicator);
        // Either all files are published or none.
        std::vector<std::unique_ptr<NewFile>> files;
        Tessella::on_all_processes(communicator, [&]() {
          files.push_back(std::make_unique<NewFile>(
            stem + '.' + std::to_string(process) + ".vtu"));
          write_piece(handler, *files[0], flags);
          if (process > 0)
            return;
          files.push_back(std::make_unique<NewFile>(stem + ".pvtu"));
          write_pvtu(*files[1],
                     stem,
                     n_processes,
                     handler.polytopic_dofs().degree.size() ==
                       handler.polytopic_mesh().n_polytopes(),
                     flags);
        });
        Tessella::on_all_processes(communicator, [&]() {
          for (const auto &file : files)
            file->publish();
        });
      }
    else
      {
        NewFile file(file_name);
        write_piece(handler, file, flags);
        file.publish();
      }
  }



  template void
  write_polytopes_vtu<2>(const AgglomerationHandler<2> &,
                         const std::string &,
                         const PolytopeOutputFlags &);
  template void
  write_polytopes_vtu<3>(const AgglomerationHandler<3> &,
                         const std::string &,
                         const PolytopeOutputFlags &);
} // namespace Tessella
