// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_text_table_h
#define tessella_applications_common_text_table_h

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /**
     * Table whose rows need not have all columns. Columns appear in the order
     * in which they are first used; missing entries are left empty.
     */
    class TextTable
    {
    public:
      void
      start_row()
      {
        rows.emplace_back();
      }
      /// Starts a row with the columns "level" and "degree".
      void
      start_row(const std::uint64_t level, const std::uint64_t degree);

      /// Sets a column of the last row.
      void
      add(const std::string &column, const std::string &value);
      void
      add(const std::string &column, const std::uint64_t value);
      /// Prints @p digits significant digits; the entry is empty if @p value is
      /// not finite.
      void
      add(const std::string &column,
          const double       value,
          const unsigned int digits = 3);

      /// Prints in scientific notation; the entry is empty if @p value is not
      /// finite.
      void
      add_scientific(const std::string &column, const double value);

      bool
      empty() const
      {
        return rows.empty();
      }

      /// Prints aligned columns between bars.
      void
      print(std::ostream &out) const;
      /// Writes a header in the first line; blanks in the names of columns
      /// become _.
      void
      write_csv(std::ostream &out) const;

    private:
      std::vector<std::string>              columns;
      std::vector<std::vector<std::string>> rows;
    };
  } // namespace Application
} // namespace Tessella

#endif
