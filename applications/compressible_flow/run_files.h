// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_run_files_h
#define tessella_applications_compressible_flow_run_files_h

#include <string>
#include <utility>
#include <vector>

#include "../common/study_table.h"
#include "flow_output.h"

namespace Tessella
{
  namespace Application
  {
    /// VTU files of one run at several times or steps, with their PVD file. A
    /// run that goes on from a checkpoint continues the list of the run before.
    class FieldSeries
    {
    public:
      /// @p continued: the first process reads the list that the PVD file has.
      /// Collective.
      FieldSeries(const OutputInput &output,
                  const std::string &stem,
                  const bool         continued);

      /// Name of the next file, that of the state at @p time. Files of this
      /// time and later ones leave the list, and the PVD file is written again.
      /// Collective.
      std::string
      add(const double time);

      /// The same for a file with the name stem + @p ending. If the list has
      /// this time, it stays as it is.
      std::string
      add_last(const double time, const std::string &ending);

    private:
      /// Takes files of times after @p time, and of this time if @p with_this
      /// is set, from the list.
      void
      remove_after(const double time, const bool with_this);
      bool
      has_file(const std::string &path) const;
      /// Puts the file @p name in the list, at its end, in place of an earlier
      /// entry with this name, and returns its path.
      std::string
      append(const double time, const std::string &name);

      const OutputInput                          &output;
      const std::string                           stem;
      std::vector<std::pair<double, std::string>> files;
      /// The first entries of the list come from the PVD file.
      std::size_t n_read = 0;
    };

    /// Forces at several times, or after several steps of a steady run, with
    /// their file and drawing. A run that goes on from a checkpoint continues
    /// the file.
    class ForceHistory
    {
    public:
      /// @p variable: "time" or "step". Collective.
      ForceHistory(const OutputInput &output,
                   const std::string &stem,
                   const std::string &variable,
                   const bool         continued);

      /// Adds a line, which replaces those of this time and later ones, and
      /// writes STEM-history.csv again. Collective.
      void
      add(const double time, const ForceCoefficients &forces);

      /// Draws STEM-forces.svg; nothing if there are fewer than two lines.
      /// Collective.
      void
      draw() const;

    private:
      struct Line
      {
        double            time;
        ForceCoefficients forces;
      };

      const OutputInput &output;
      const std::string  stem, variable;
      std::vector<Line>  lines;
    };

    /// Draws the residuals of a steady run over its steps as
    /// STEM-residuals.svg. Collective.
    void
    draw_residuals(const OutputInput                            &output,
                   const std::string                            &stem,
                   const std::vector<Flow::PseudoTransientStep> &steps);

    /// Writes STEM-surface.csv with a drawing, in three dimensions of the body
    /// from above, ahead and the side to which it extends, and
    /// STEM-sections.csv with a drawing, beside the points of Forces/Section
    /// data, if Forces/Span stations are given.
    /// Collective.
    template <int dim>
    void
    write_surface(const OutputInput         &output,
                  const std::string         &stem,
                  const ForceInput          &forces,
                  const FlowEvaluation<dim> &evaluation,
                  const ConservationVector  &u);
  } // namespace Application
} // namespace Tessella

#endif
