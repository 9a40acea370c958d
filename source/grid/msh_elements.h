// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_msh_elements_h
#define tessella_source_grid_msh_elements_h

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Element of a .msh file.
    struct MshElement
    {
      std::size_t  tag;
      unsigned int type;
      int          group; ///< physical group, 0 if there is none
      /// Indices of nodes in MshFile::nodes, in gmsh's order.
      std::vector<std::size_t> nodes;
    };

    /// Elements that differ from cells of first order, by gmsh's numbers.
    struct MshElementType
    {
      int          dimension;
      unsigned int n_nodes;
      unsigned int order;
      /// 'l' line, 't' triangle, 'q' quadrilateral, 'T' tetrahedron, 'H'
      /// hexahedron, 'o' anything else.
      char shape;
    };

    /// Type by its number; throws for numbers above 31 and others that have no
    /// meaning here.
    const MshElementType &
    msh_element_type(const unsigned int number);

    /// Nodes and elements of a .msh file of format 2.2 or 4.1 in text form.
    struct MshFile
    {
      /// Throws a reason without the name of the file.
      explicit MshFile(const std::string &file);

      std::vector<std::array<double, 3>> nodes;
      std::vector<MshElement>            elements;

    private:
      using Groups = std::map<std::pair<int, int>, int>;

      void
      read_nodes_2(std::istream &in);
      void
      read_elements_2(std::istream &in);
      void
      read_entities(std::istream &in);
      void
      read_nodes_4(std::istream &in);
      void
      read_elements_4(std::istream &in);
      std::size_t
      node_index(const std::size_t tag) const;

      std::unordered_map<std::size_t, std::size_t> index_of_tag;
      /// Physical group of each entity, by dimension and tag.
      Groups groups;
    };
  } // namespace internal
} // namespace Tessella

#endif
