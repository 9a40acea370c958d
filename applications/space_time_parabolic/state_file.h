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
      double        time = 0., length = 0.; ///< time is the end of the slab
      std::uint64_t elements = 0, unknowns = 0, iterations = 0;
      double        jump = 0., mass = 0.;
      /// L2 norm at the end of the slab; nan without an exact solution.
      double error = std::numeric_limits<double>::quiet_NaN();
    };

    /// History of a run up to a time.
    struct RunHistory
    {
      std::vector<SlabRecord> slabs;
      std::uint64_t           n_rejected = 0;
      /// SpaceTimeErrors::sums() over the slabs that have an error.
      std::array<double, 4> error_sums{};
      /// Times and names of VTU files, relative to the folder of the state.
      std::vector<std::pair<double, std::string>> fields;
      /// Number of the next VTU file.
      std::uint64_t next_field = 0;
    };

    /// Solution at the end of a slab, and the history of the run up to it.
    struct State
    {
      double                                time = 0., step = 0.;
      dealii::TrilinosWrappers::MPI::Vector value;
      RunHistory                            history;
      /// False for states from a file of format 2, which contains no history.
      bool has_history = true;
    };

    /**
     * Writes @p state to @p file, which is called NAME.state. @p latest is the
     * file of the preceding state of this run. If it is NAME.state too, it is
     * kept as NAME.previous.state; if it is NAME.previous.state, it is left as
     * it is. A NAME.previous.state of another run is removed. NAME.state is a
     * complete state even if the program is ended at any moment. The file is
     * text; its last line has a checksum of the preceding text. Polytopes are
     * in the order of their first cells, which does not depend on the number of
     * processes. Collective.
     */
    template <int dim>
    void
    write_state(const std::string               &file,
                const std::string               &latest,
                const State                     &state,
                const AgglomerationHandler<dim> &handler);

    /// Reads the part that this process owns from a file of format 3, or of
    /// format 2, which has neither checksum nor history. Throws if the file is
    /// damaged; the message names the run's other state if that one is
    /// complete. @p state must already have a vector of the handler's size. Not
    /// collective.
    template <int dim>
    void
    read_state(const std::string               &file,
               const AgglomerationHandler<dim> &handler,
               State                           &state);

    /// Returns NAME.previous.state for NAME.state and vice versa; empty for
    /// other names.
    std::string
    other_state(const std::string &file);
  } // namespace Application
} // namespace Tessella

#endif
