// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_space_time_parabolic_state_file_h
#define tessella_applications_space_time_parabolic_state_file_h

#include <deal.II/lac/trilinos_vector.h>

#include <tessella/grid/agglomeration_handler.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// Row of the tables for one slab.
    struct SlabRecord
    {
      double        time = 0., length = 0.; ///< its end
      std::uint64_t elements = 0, unknowns = 0, iterations = 0;
      double        jump = 0., mass = 0.;
      /// L2 norm at the end; nan without an exact solution.
      double error = std::numeric_limits<double>::quiet_NaN();
    };

    /// All that a run has done up to a time.
    struct RunHistory
    {
      std::vector<SlabRecord> slabs;
      std::uint64_t           n_rejected = 0;
      /// SpaceTimeErrors::sums() of the slabs that have an error.
      std::array<double, 4> error_sums{};
      /// Times and VTU files, relative to the folder of the state.
      std::vector<std::pair<double, std::string>> fields;
      /// Number of the next VTU file.
      std::uint64_t next_field = 0;
    };

    /// The solution at the end of a slab, and how the run came there.
    struct State
    {
      double                                time = 0., step = 0.;
      dealii::TrilinosWrappers::MPI::Vector value;
      RunHistory                            history;
      /// False for what was read from a file of format 2, which has none.
      bool has_history = true;
    };

    /**
     * Writes @p state to @p file, NAME.state. If @p latest, the file of the
     * run's state before, is NAME.state too, that one remains as
     * NAME.previous.state; if it is NAME.previous.state, it stays. A
     * NAME.previous.state of another run is removed. Whenever the program is
     * ended, NAME.state is a complete state. The file is text with a checksum
     * of all that stands before it in the last line; polytopes are in the order
     * of their first cells, which does not depend on the number of processes.
     * Collective.
     */
    template <int dim>
    void
    write_state(const std::string               &file,
                const std::string               &latest,
                const State                     &state,
                const AgglomerationHandler<dim> &handler);

    /// Reads what this process owns from a file of format 3, or of format 2,
    /// which has neither checksum nor history. A file that is damaged is an
    /// error that names the run's other state if that is complete. @p state has
    /// a vector of the handler's size. Does not communicate.
    template <int dim>
    void
    read_state(const std::string               &file,
               const AgglomerationHandler<dim> &handler,
               State                           &state);

    /// NAME.previous.state for NAME.state, and the other way round; empty for
    /// other names.
    std::string
    other_state(const std::string &file);
  } // namespace Application
} // namespace Tessella

#endif
