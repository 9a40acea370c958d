// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_html_report_h
#define tessella_applications_common_html_report_h

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// Description of the run of a program in its report.
    struct RunDescription
    {
      std::string program;
      std::string versions; ///< see version_text()
      /// All parameters as list_parameters() returns them: before and after the
      /// parameter file was read.
      std::vector<std::string> defaults, parameters;
      double                   seconds; ///< wall time
    };

    /**
     * Report of a run as one HTML page that refers to no other file: notes,
     * tables, drawings, times as bars, parameters and versions. The page is
     * also well-formed XML, and has no script.
     *
     * Content is collected only after open(). On several processes only the
     * report of the first one is written.
     */
    class HtmlReport
    {
    public:
      /// @p with_times: whether times are shown; without them, equal runs give
      /// equal pages.
      void
      open(const std::string &title,
           const std::string &file_name,
           const bool         with_times);

      bool
      is_open() const
      {
        return !file.empty();
      }

      const std::string &
      file_name() const
      {
        return file;
      }

      /// Adds a line of text.
      void
      add_note(const std::string &line);

      /// Adds the table that @p write_csv writes, with the names of columns in
      /// the first line. Columns of times, whose names end in seconds, _s or
      /// _ms, are drawn as bars. A table of the same title is replaced, so that
      /// a program may add a table each time it grows.
      void
      add_table(const std::string                         &title,
                const std::function<void(std::ostream &)> &write_csv);

      /// Adds the drawing that @p write_svg writes. A drawing of the same title
      /// is replaced.
      void
      add_drawing(const std::string                         &title,
                  const std::function<void(std::ostream &)> &write_svg);

      /// Writes the page.
      void
      write(std::ostream &out, const RunDescription &run) const;

    private:
      using Row   = std::vector<std::string>;
      using Table = std::vector<Row>; // the first row has the names of columns

      void
      write_results(std::ostream &out) const;

      std::string                                      title, file;
      bool                                             with_times = true;
      std::vector<std::string>                         notes;
      std::vector<std::pair<std::string, Table>>       tables;
      std::vector<std::pair<std::string, std::string>> drawings;
    };

    /// The report of this program. It is open if the parameters ask for it, and
    /// run_program() writes it after the work.
    HtmlReport &
    html_report();

    /// Title of a table or drawing in the file NAME + @p ending: "-times.csv"
    /// becomes "times", and ".csv" becomes "results".
    std::string
    title_of_ending(const std::string &ending);
  } // namespace Application
} // namespace Tessella

#endif
