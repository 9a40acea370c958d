// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "cell_id_files.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      using dealii::ExcMessage;

      constexpr unsigned int largest_id =
        std::numeric_limits<unsigned int>::max() - 1;

      std::string
      read_text(const std::string &file_name)
      {
        std::ifstream stream(file_name, std::ios::binary);
        AssertThrow(stream,
                    ExcMessage("The file '" + file_name +
                               "' cannot be opened: check its name and "
                               "permissions."));
        std::string text{std::istreambuf_iterator<char>(stream),
                         std::istreambuf_iterator<char>()};
        AssertThrow(!stream.bad(),
                    ExcMessage("The file '" + file_name + "' cannot be read."));
        return text;
      }

      /// Word of a text and its line.
      struct Token
      {
        std::string_view text;
        unsigned int     line = 0;

        explicit operator bool() const
        {
          return !text.empty();
        }
      };

      /// Splits a text into words.
      class Scanner
      {
      public:
        Scanner(const std::string &file_name, const bool hash_comments)
          : file_name(file_name)
          , text(read_text(file_name))
          , hash_comments(hash_comments)
        {}

        /// Returns the next word without consuming it; empty at the end of the
        /// text.
        Token
        peek()
        {
          if (!current)
            current = scan();
          return current;
        }

        Token
        next()
        {
          const Token token = peek();
          if (token)
            last_line = token.line;
          current = Token();
          return token;
        }

        /// Returns the next word and consumes it; throws if there is none.
        Token
        expect(const std::string &what)
        {
          const Token token = next();
          AssertThrow(token,
                      ExcMessage("The file '" + file_name + "' ends where " +
                                 what + " should be: the file is truncated."));
          return token;
        }

        std::uint64_t
        expect_integer(const std::string &what)
        {
          const Token   token = expect(what);
          std::uint64_t value = 0;
          AssertThrow(parse_integer(token.text, value),
                      ExcMessage("The file '" + file_name + "' has '" +
                                 shown(token.text) + "' on line " +
                                 std::to_string(token.line) + " where " + what +
                                 " should be."));
          return value;
        }

        /// Skips @p n words.
        void
        skip(const std::uint64_t n, const std::string &what)
        {
          for (std::uint64_t k = 0; k < n; ++k)
            expect(what);
        }

        /// Rest of the current line; after a call of rest_of_line(), the whole
        /// next line.
        std::string_view
        rest_of_line()
        {
          Assert(!current, dealii::ExcInternalError());
          const std::size_t begin = position;
          const std::size_t end =
            std::min(text.find('\n', position), text.size());
          position  = std::min(end + 1, text.size());
          last_line = line++;
          std::string_view result(text.data() + begin, end - begin);
          if (!result.empty() && result.back() == '\r')
            result.remove_suffix(1);
          return result;
        }

        /// Whether the next word is on the same line as the last one.
        bool
        same_line()
        {
          const Token token = peek();
          return token && token.line == last_line;
        }

        unsigned int
        line_of_last() const
        {
          return last_line;
        }

        static bool
        parse_integer(const std::string_view word, std::uint64_t &value)
        {
          const auto result =
            std::from_chars(word.data(), word.data() + word.size(), value);
          return result.ec == std::errc() &&
                 result.ptr == word.data() + word.size();
        }

        /// Word, shortened for error messages.
        static std::string
        shown(const std::string_view word)
        {
          return word.size() <= 30 ? std::string(word)
                                   : std::string(word.substr(0, 27)) + "...";
        }

        const std::string file_name;

      private:
        Token
        scan()
        {
          const auto is_space = [](const char c) {
            return c == ' ' || c == '\t' || c == '\n' || c == '\r' ||
                   c == '\v' || c == '\f';
          };
          while (position < text.size())
            {
              const char c = text[position];
              if (hash_comments && c == '#')
                position = std::min(text.find('\n', position), text.size());
              else if (is_space(c))
                {
                  line += c == '\n';
                  ++position;
                }
              else
                {
                  const std::size_t begin = position;
                  while (position < text.size() && !is_space(text[position]) &&
                         !(hash_comments && text[position] == '#'))
                    ++position;
                  return {std::string_view(text.data() + begin,
                                           position - begin),
                          line};
                }
            }
          return {};
        }

        const std::string text;
        const bool        hash_comments;
        std::size_t       position  = 0;
        unsigned int      line      = 1;
        unsigned int      last_line = 0;
        Token             current;
      };



      /// Parses a non-negative integer, which may be written in floating point.
      bool
      parse_id(const std::string_view word, unsigned int &id)
      {
        std::uint64_t value = 0;
        if (Scanner::parse_integer(word, value))
          {
            id = static_cast<unsigned int>(
              std::min<std::uint64_t>(value, largest_id));
            return value <= largest_id;
          }
        const std::string copy(word);
        char             *end = nullptr;
        const double      x   = std::strtod(copy.c_str(), &end);
        if (end != copy.c_str() + copy.size() || !(x >= 0.) ||
            !(x <= largest_id) || x != std::floor(x))
          return false;
        id = static_cast<unsigned int>(x);
        return true;
      }



      /// Reads the values of one array of a VTK file; throws if a value is not
      /// an id.
      std::vector<unsigned int>
      read_ids(Scanner            &scanner,
               const std::uint64_t n,
               const std::string  &field)
      {
        std::vector<unsigned int> ids;
        for (std::uint64_t k = 0; k < n; ++k)
          {
            const Token token =
              scanner.expect("entry " + std::to_string(k) + " of " +
                             std::to_string(n) + " of field '" + field + "'");
            unsigned int id = 0;
            AssertThrow(parse_id(token.text, id),
                        ExcMessage(
                          "Entry " + std::to_string(k) + " of field '" + field +
                          "' in the file '" + scanner.file_name + "', '" +
                          Scanner::shown(token.text) + "' on line " +
                          std::to_string(token.line) +
                          ", is not a non-negative integer: polytope ids must "
                          "be."));
            ids.push_back(id);
          }
        return ids;
      }



      /// Dimension of a VTK cell that a mesh may have; 0 for other types.
      unsigned int
      dimension_of_vtk_cell(const std::uint64_t type)
      {
        // triangle, pixel, quadrilateral
        if (type == 5 || type == 8 || type == 9)
          return 2;
        // tetrahedron, voxel, hexahedron, wedge, pyramid
        return type >= 10 && type <= 14 ? 3 : 0;
      }



      /// The same for a gmsh element.
      unsigned int
      dimension_of_gmsh_element(const std::uint64_t type)
      {
        // triangle, quadrilateral
        if (type == 2 || type == 3)
          return 2;
        // tetrahedron, hexahedron, wedge, pyramid
        return type >= 4 && type <= 7 ? 3 : 0;
      }



      /// Reads a cell-data field of a legacy VTK file.
      class VtkReader
      {
      public:
        VtkReader(const std::string &file_name, const std::string &field)
          : file_name(file_name)
          , field(field)
          , scanner(file_name, false)
        {}

        /// Values of the field on the cells of dimension @p dim.
        std::vector<unsigned int>
        read(const unsigned int dim)
        {
          read_header();
          while (const Token token = scanner.next())
            read_section(token.text);
          check();
          std::vector<unsigned int> result;
          for (std::size_t k = 0; k < ids.size(); ++k)
            if (cell_dimensions[k] == dim)
              result.push_back(ids[k]);
          return result;
        }

      private:
        void
        read_header()
        {
          const std::string_view version = scanner.rest_of_line();
          AssertThrow(version.rfind("# vtk DataFile", 0) == 0,
                      ExcMessage("The file '" + file_name +
                                 "' is not a legacy VTK file: its first line "
                                 "must begin with '# vtk DataFile'."));
          scanner.rest_of_line(); // title
          const Token encoding = scanner.expect("ASCII");
          AssertThrow(encoding.text == "ASCII",
                      ExcMessage("The VTK file '" + file_name +
                                 "' is in form '" +
                                 Scanner::shown(encoding.text) +
                                 "': write it in ASCII form."));
        }

        /// Reads the section that begins with @p word. Unknown words belong to
        /// points and connectivity.
        void
        read_section(const std::string_view word)
        {
          if (word == "CELL_TYPES")
            {
              const std::uint64_t n =
                scanner.expect_integer("the number of cells");
              for (std::uint64_t k = 0; k < n; ++k)
                cell_dimensions.push_back(
                  dimension_of_vtk_cell(scanner.expect_integer("a cell type")));
            }
          else if (word == "CELL_DATA" || word == "POINT_DATA")
            {
              in_cell_data = word == "CELL_DATA";
              n_tuples     = scanner.expect_integer("a number of values");
              if (in_cell_data)
                n_cells = n_tuples;
            }
          else if (word == "LOOKUP_TABLE")
            {
              scanner.expect("the name of a lookup table");
              const std::uint64_t n =
                scanner.expect_integer("the size of a lookup table");
              scanner.skip(4 * n, "values of a lookup table");
            }
          else if (word == "FIELD")
            read_field_arrays();
          else if (word == "METADATA")
            skip_metadata();
          else if (word == "SCALARS" || word == "VECTORS" ||
                   word == "NORMALS" || word == "TENSORS" ||
                   word == "TEXTURE_COORDINATES" || word == "COLOR_SCALARS")
            read_attribute(word);
        }

        /// Reads an array whose number of components follows from its kind or
        /// from its head.
        void
        read_attribute(const std::string_view kind)
        {
          const std::string name(scanner.expect("a field name").text);
          std::uint64_t     n_components = kind == "SCALARS"   ? 1
                                           : kind == "TENSORS" ? 9
                                                               : 3;
          if (kind == "TEXTURE_COORDINATES" || kind == "COLOR_SCALARS")
            n_components = scanner.expect_integer("a number of components");
          if (kind != "COLOR_SCALARS")
            scanner.expect("a data type");
          if (kind == "SCALARS")
            {
              if (scanner.same_line())
                n_components = scanner.expect_integer("a number of components");
              if (scanner.peek().text == "LOOKUP_TABLE")
                scanner.skip(2, "the name of a lookup table");
            }
          read_array(name, n_components, n_tuples);
        }

        void
        read_field_arrays()
        {
          scanner.expect("a name");
          const std::uint64_t n_arrays =
            scanner.expect_integer("a number of arrays");
          for (std::uint64_t k = 0; k < n_arrays; ++k)
            {
              Token name = scanner.expect("a field name");
              if (name.text == "METADATA")
                {
                  skip_metadata();
                  name = scanner.expect("a field name");
                }
              const std::string   array_name(name.text);
              const std::uint64_t n_components =
                scanner.expect_integer("a number of components");
              const std::uint64_t n =
                scanner.expect_integer("a number of values");
              scanner.expect("a data type");
              read_array(array_name, n_components, n);
            }
        }

        /// The section ends with an empty line.
        void
        skip_metadata()
        {
          while (scanner.peek() &&
                 scanner.peek().line <= scanner.line_of_last() + 1)
            scanner.next();
        }

        /// Reads or skips the values of one array.
        void
        read_array(const std::string  &name,
                   const std::uint64_t n_components,
                   const std::uint64_t n_tuples)
        {
          if (in_cell_data)
            names += (names.empty() ? "'" : ", '") + name + "'";
          if (!in_cell_data || name != field || found)
            {
              scanner.skip(n_components * n_tuples,
                           "values of field '" + name + "'");
              return;
            }
          AssertThrow(n_components == 1,
                      ExcMessage("Field '" + field + "' in the file '" +
                                 file_name + "' has " +
                                 std::to_string(n_components) +
                                 " components: polytope ids are a field of "
                                 "one component."));
          ids   = read_ids(scanner, n_tuples, field);
          found = true;
        }

        /// Throws if the file lacks ids or has another number of them than
        /// cells.
        void
        check() const
        {
          AssertThrow(!cell_dimensions.empty(),
                      ExcMessage("The VTK file '" + file_name +
                                 "' has no section CELL_TYPES: polytope ids "
                                 "can be read from unstructured grids only."));
          AssertThrow(found,
                      ExcMessage(
                        "The VTK file '" + file_name +
                        "' has no cell-data field '" + field + "'" +
                        (names.empty()
                           ? " and no other cell data."
                           : "; its cell-data fields are " + names + ".")));
          AssertThrow(ids.size() == cell_dimensions.size() &&
                        n_cells == cell_dimensions.size(),
                      ExcMessage(
                        "Field '" + field + "' in the file '" + file_name +
                        "' has " + std::to_string(ids.size()) + " values for " +
                        std::to_string(cell_dimensions.size()) + " cells."));
        }

        const std::string        &file_name, &field;
        Scanner                   scanner;
        std::vector<unsigned int> cell_dimensions;
        bool                      in_cell_data = false;
        std::uint64_t             n_cells = 0, n_tuples = 0;
        /// Names of all cell-data fields.
        std::string               names;
        std::vector<unsigned int> ids;
        bool                      found = false;
      };



      /// Reads a field of tags of the elements of a gmsh file.
      class GmshReader
      {
      public:
        GmshReader(const std::string &file_name,
                   const std::string &field,
                   const unsigned int dim)
          : file_name(file_name)
          , field(field)
          , dim(dim)
          , scanner(file_name, false)
        {}

        std::vector<unsigned int>
        read()
        {
          read_version();
          const std::string section = version == "1" ? "$ELM" : "$Elements";
          Token             token;
          do
            token = scanner.expect("section " + section);
          while (token.text != section);
          if (version[0] != '4')
            read_elements();
          else
            read_blocks();
          return ids;
        }

      private:
        void
        read_version()
        {
          const Token first = scanner.expect("$MeshFormat");
          AssertThrow(first.text == "$MeshFormat" || first.text == "$NOD",
                      ExcMessage("The file '" + file_name +
                                 "' is not a gmsh file of format 1, 2 or 4: it "
                                 "must begin with '$MeshFormat' or '$NOD'."));
          if (first.text == "$MeshFormat")
            {
              version = scanner.expect("the number of the format").text;
              AssertThrow(version[0] == '2' || version[0] == '4',
                          ExcMessage("The gmsh file '" + file_name +
                                     "' has format " + Scanner::shown(version) +
                                     ": write it in format 2 or 4."));
              AssertThrow(scanner.expect_integer("the kind of file") == 0,
                          ExcMessage("The gmsh file '" + file_name +
                                     "' is binary: write it in ASCII form."));
            }
          AssertThrow(version[0] != '4' || field == "elementary",
                      ExcMessage("Physical tags cannot be read from the gmsh "
                                 "file '" +
                                 file_name +
                                 "' of format 4 as a field: they are the "
                                 "mesh's material ids, so agglomerate by "
                                 "these, or write the file in format 2."));
        }

        /// Reads the elements of format 1 or 2.
        void
        read_elements()
        {
          const std::uint64_t n =
            scanner.expect_integer("the number of elements");
          for (std::uint64_t k = 0; k < n; ++k)
            {
              scanner.expect_integer("the number of an element");
              const std::uint64_t type =
                scanner.expect_integer("an element type");
              // Format 1 always has two tags.
              const std::uint64_t n_tags =
                version == "1" ? 2 : scanner.expect_integer("a number of tags");
              std::uint64_t tags[2] = {0, 0};
              for (std::uint64_t t = 0; t < n_tags; ++t)
                {
                  const std::uint64_t tag =
                    scanner.expect_integer("an element tag");
                  if (t < 2)
                    tags[t] = tag;
                }
              if (dimension_of_gmsh_element(type) == dim)
                {
                  AssertThrow(n_tags >= 2,
                              ExcMessage(
                                "The gmsh file '" + file_name +
                                "' has an element with fewer than two tags "
                                "on line " +
                                std::to_string(scanner.line_of_last()) + "."));
                  add(tags[field == "elementary"]);
                }
              skip_line();
            }
        }

        /// Reads the blocks of elements of format 4.
        void
        read_blocks()
        {
          const std::uint64_t n_blocks =
            scanner.expect_integer("the number of element blocks");
          skip_line();
          for (std::uint64_t b = 0; b < n_blocks; ++b)
            {
              // In format 4.0, dimension and tag are in the opposite order of
              // 4.1.
              const std::uint64_t numbers[2] = {
                scanner.expect_integer("an entity"),
                scanner.expect_integer("an entity")};
              const std::uint64_t tag =
                numbers[version != "4" && version != "4.0"];
              const std::uint64_t type =
                scanner.expect_integer("an element type");
              const std::uint64_t n =
                scanner.expect_integer("the number of elements");
              for (std::uint64_t k = 0; k < n; ++k)
                {
                  scanner.expect_integer("the number of an element");
                  if (dimension_of_gmsh_element(type) == dim)
                    add(tag);
                  skip_line();
                }
            }
        }

        void
        add(const std::uint64_t id)
        {
          AssertThrow(id <= largest_id,
                      ExcMessage("The gmsh file '" + file_name +
                                 "' has the tag " + std::to_string(id) +
                                 " on line " +
                                 std::to_string(scanner.line_of_last()) +
                                 ", which is too large for a polytope id."));
          ids.push_back(static_cast<unsigned int>(id));
        }

        /// Skips the rest of a line.
        void
        skip_line()
        {
          while (scanner.same_line())
            scanner.next();
        }

        const std::string        &file_name, &field;
        const unsigned int        dim;
        Scanner                   scanner;
        std::string               version = "1";
        std::vector<unsigned int> ids;
      };
    } // namespace



    std::vector<unsigned int>
    read_id_file(const std::string &file_name)
    {
      Scanner                   scanner(file_name, true);
      std::vector<unsigned int> ids;
      while (const Token token = scanner.next())
        {
          std::uint64_t value = 0;
          AssertThrow(Scanner::parse_integer(token.text, value) &&
                        value <= largest_id,
                      ExcMessage("Entry " + std::to_string(ids.size()) +
                                 " of the file '" + file_name + "', '" +
                                 Scanner::shown(token.text) + "' on line " +
                                 std::to_string(token.line) +
                                 ", is not an integer between 0 and " +
                                 std::to_string(largest_id) +
                                 ": polytope ids must be."));
          ids.push_back(static_cast<unsigned int>(value));
        }
      return ids;
    }



    std::vector<unsigned int>
    read_cell_data_file(const std::string &file_name,
                        const std::string &field,
                        const unsigned int dim)
    {
      const auto ends_with = [&](const std::string &ending) {
        return file_name.size() >= ending.size() &&
               file_name.compare(file_name.size() - ending.size(),
                                 ending.size(),
                                 ending) == 0;
      };
      if (ends_with(".msh"))
        {
          AssertThrow(field == "elementary" || field == "physical",
                      ExcMessage("A gmsh file has no cell-data field '" +
                                 field +
                                 "': ask for 'elementary' or 'physical'."));
          return GmshReader(file_name, field, dim).read();
        }
      AssertThrow(ends_with(".vtk"),
                  ExcMessage("Polytope ids cannot be read from the file '" +
                             file_name +
                             "': the name of a mesh file with cell data must "
                             "end in .vtk (legacy VTK) or .msh (gmsh)."));
      return VtkReader(file_name, field).read(dim);
    }
  } // namespace internal
} // namespace Tessella
