// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "msh_elements.h"

#include <deal.II/base/exceptions.h>

#include <tessella/base/exceptions.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace Tessella
{
  namespace internal
  {
    const MshElementType &
    msh_element_type(const unsigned int number)
    {
      static const std::map<unsigned int, MshElementType> types = {
        {1, {1, 2, 1, 'l'}},
        {2, {2, 3, 1, 't'}},
        {3, {2, 4, 1, 'q'}},
        {4, {3, 4, 1, 'T'}},
        {5, {3, 8, 1, 'H'}},
        {6, {3, 6, 1, 'o'}},
        {7, {3, 5, 1, 'o'}},
        {8, {1, 3, 2, 'l'}},
        {9, {2, 6, 2, 't'}},
        {10, {2, 9, 2, 'q'}},
        {11, {3, 10, 2, 'T'}},
        {12, {3, 27, 2, 'H'}},
        {13, {3, 18, 2, 'o'}},
        {14, {3, 14, 2, 'o'}},
        {15, {0, 1, 1, 'p'}},
        {16, {2, 8, 2, 'q'}},
        {17, {3, 20, 2, 'H'}},
        {18, {3, 15, 2, 'o'}},
        {19, {3, 13, 2, 'o'}}};
      const auto found = types.find(number);
      AssertThrow(found != types.end(),
                  ExcUserInput("it has elements of type " +
                               std::to_string(number) +
                               ", which are not of first or second order"));
      return found->second;
    }



    namespace
    {
      template <typename Number>
      Number
      read(std::istream &in)
      {
        Number value{};
        in >> value;
        AssertThrow(bool(in),
                    ExcUserInput("it ends, or has no number, where one is "
                                 "needed"));
        return value;
      }



      void
      skip(std::istream &in, const std::size_t n)
      {
        for (std::size_t i = 0; i < n; ++i)
          read<double>(in);
      }
    } // namespace



    MshFile::MshFile(const std::string &file)
    {
      std::ifstream in(file);
      AssertThrow(bool(in), ExcUserInput("it cannot be opened"));
      std::string line, last = "none";
      double      version = 0.;
      while (std::getline(in, line))
        {
          if (line.empty() || line[0] != '$')
            continue;
          while (line.back() == '\r' || line.back() == ' ')
            line.pop_back();
          if (line == "$MeshFormat")
            {
              version          = read<double>(in);
              const int binary = read<int>(in);
              AssertThrow(binary == 0,
                          ExcUserInput("it is binary: write it as text "
                                       "(Mesh.Binary = 0)"));
              AssertThrow(version == 2.2 || version == 4.1,
                          ExcUserInput("its format is " +
                                       std::to_string(version) +
                                       ": write format 2.2 or 4.1"));
            }
          else if (line == "$Entities")
            read_entities(in);
          else if (line == "$Nodes")
            version > 4. ? read_nodes_4(in) : read_nodes_2(in);
          else if (line == "$Elements")
            version > 4. ? read_elements_4(in) : read_elements_2(in);
          last = line;
        }
      AssertThrow(last == "$EndElements" || last.compare(0, 4, "$End") == 0,
                  ExcUserInput("its last section has no end, so the file seems "
                               "to be truncated"));
      AssertThrow(!elements.empty(), ExcUserInput("it has no elements"));
    }



    std::size_t
    MshFile::node_index(const std::size_t tag) const
    {
      const auto found = index_of_tag.find(tag);
      AssertThrow(found != index_of_tag.end(),
                  ExcUserInput("an element has the node " +
                               std::to_string(tag) + ", which is missing"));
      return found->second;
    }



    void
    MshFile::read_nodes_2(std::istream &in)
    {
      const std::size_t n = read<std::size_t>(in);
      for (std::size_t i = 0; i < n; ++i)
        {
          index_of_tag[read<std::size_t>(in)] = i;
          std::array<double, 3> x;
          for (double &value : x)
            value = read<double>(in);
          nodes.push_back(x);
        }
    }



    void
    MshFile::read_elements_2(std::istream &in)
    {
      const std::size_t n = read<std::size_t>(in);
      for (std::size_t i = 0; i < n; ++i)
        {
          MshElement element;
          element.tag         = read<std::size_t>(in);
          element.type        = read<unsigned int>(in);
          const unsigned tags = read<unsigned int>(in);
          element.group       = tags > 0 ? read<int>(in) : 0;
          skip(in, tags > 1 ? tags - 1 : 0);
          element.nodes.resize(msh_element_type(element.type).n_nodes);
          for (std::size_t &node : element.nodes)
            node = node_index(read<std::size_t>(in));
          elements.push_back(element);
        }
    }



    void
    MshFile::read_entities(std::istream &in)
    {
      std::size_t n[4];
      for (std::size_t &value : n)
        value = read<std::size_t>(in);
      for (int dimension = 0; dimension < 4; ++dimension)
        for (std::size_t i = 0; i < n[dimension]; ++i)
          {
            const int tag = read<int>(in);
            skip(in, dimension == 0 ? 3 : 6); // a point, or a box
            const std::size_t n_groups = read<std::size_t>(in);
            for (std::size_t g = 0; g < n_groups; ++g)
              {
                const int group = read<int>(in);
                if (g == 0)
                  groups[{dimension, tag}] = group;
              }
            if (dimension > 0)
              skip(in, read<std::size_t>(in)); // its boundary
          }
    }



    void
    MshFile::read_nodes_4(std::istream &in)
    {
      const std::size_t n_blocks = read<std::size_t>(in);
      skip(in, 3);
      for (std::size_t b = 0; b < n_blocks; ++b)
        {
          const int dimension = read<int>(in);
          read<int>(in); // tag of the entity
          const int         parametric = read<int>(in);
          const std::size_t n          = read<std::size_t>(in);
          for (std::size_t i = 0; i < n; ++i)
            index_of_tag[read<std::size_t>(in)] = nodes.size() + i;
          for (std::size_t i = 0; i < n; ++i)
            {
              std::array<double, 3> x;
              for (double &value : x)
                value = read<double>(in);
              skip(in, parametric != 0 ? dimension : 0);
              nodes.push_back(x);
            }
        }
    }



    void
    MshFile::read_elements_4(std::istream &in)
    {
      const std::size_t n_blocks = read<std::size_t>(in);
      skip(in, 3);
      for (std::size_t b = 0; b < n_blocks; ++b)
        {
          const int          dimension = read<int>(in);
          const int          entity    = read<int>(in);
          const unsigned int type      = read<unsigned int>(in);
          const std::size_t  n         = read<std::size_t>(in);
          const auto         group     = groups.find({dimension, entity});
          const unsigned int n_nodes   = msh_element_type(type).n_nodes;
          for (std::size_t i = 0; i < n; ++i)
            {
              MshElement element;
              element.tag   = read<std::size_t>(in);
              element.type  = type;
              element.group = group == groups.end() ? 0 : group->second;
              element.nodes.resize(n_nodes);
              for (std::size_t &node : element.nodes)
                node = node_index(read<std::size_t>(in));
              elements.push_back(element);
            }
        }
    }
  } // namespace internal
} // namespace Tessella
