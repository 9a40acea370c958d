// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_screen_h
#define tessella_applications_common_screen_h

#include <ostream>
#include <utility>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// How a program was asked to run: --quiet, --verbose, --validate.
    struct RunMode
    {
      bool quiet = false, verbose = false, validate = false;
    };

    /// The mode of this program, which run_program() sets.
    RunMode &
    run_mode();

    /// Whether this is the first MPI process, or the only one.
    bool
    is_first_process();

    /// Standard output of the first process. The output is discarded on other
    /// processes and with --quiet or --validate. A line of show_progress() is
    /// erased first.
    std::ostream &
    screen();

    /**
     * Shows on the error stream, from the first second on, how much of the work
     * is done and how long the rest will take if the speed stays the same. The
     * line is overwritten by the next call, five times a second at most. It
     * appears only if the error stream is a terminal, on the first process and
     * without --quiet.
     *
     * @param fraction part of the work that is done, from 0 to 1; within a
     * ProgressPart, part of its work.
     */
    void
    show_progress(const double fraction);

    /// Erases the line of show_progress().
    void
    erase_progress();

    /**
     * Range for a ProgressPart: the run of a study with degree number @p index
     * of @p degrees on mesh number @p level. The degrees are the inner loop.
     * The number of cells is taken to grow by 2^dim from mesh to mesh, and the
     * work by the square of the number of basis functions; with @p time_steps,
     * also by the number of steps of an explicit method.
     */
    std::pair<double, double>
    part_of_study(const int                        dim,
                  const unsigned int               n_levels,
                  const std::vector<unsigned int> &degrees,
                  const unsigned int               level,
                  const unsigned int               index,
                  const bool                       time_steps = false);

    /**
     * Part of the work of a program. Until the object is destroyed, fractions
     * given to show_progress() are those of this part. Parts can be nested.
     */
    class ProgressPart
    {
    public:
      /// The part that lasts from @p range.first to @p range.second, which are
      /// fractions of the work, or of the part that is present.
      explicit ProgressPart(const std::pair<double, double> &range);

      ProgressPart(const ProgressPart &) = delete;
      ProgressPart &
      operator=(const ProgressPart &) = delete;
      ~ProgressPart();

    private:
      double begin_before, end_before;
    };
  } // namespace Application
} // namespace Tessella

#endif
