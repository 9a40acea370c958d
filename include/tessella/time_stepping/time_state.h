// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_time_stepping_time_state_h
#define tessella_time_stepping_time_state_h

#include <deal.II/base/exceptions.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/time_stepping/step_control.h>
#include <tessella/time_stepping/time_history.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace Tessella
{
  template <typename Number>
  class DeviceVector;

  /**
   * What a run remembers between two time steps, except its vectors. A run that
   * continues from the state and the vectors of a checkpoint computes the same
   * bits as one that was never stopped.
   *
   * Checkpoints of changing meshes are those of write_checkpoint(), with text()
   * as user data and the vectors as discrete functions. For a mesh that the
   * program creates in the same way again there are write_time_state() and
   * read_time_state(), which store neither mesh nor polytopes.
   */
  struct TimeState
  {
    double time = 0.;
    /// Length of the next step, if it does not follow from the solution.
    double        step    = 0.;
    std::uint64_t n_steps = 0;
    /// Control of the steps by error estimates.
    PIController::State control;
    /// Lengths of past steps, the latest first; see store_history().
    std::vector<double> history_steps;
    /// Name of the method, which a run must have in common with the run that it
    /// continues.
    std::string method;
    /// Numbers of the program.
    std::vector<double> numbers;

    /// Text of one line, with all bits of the numbers. The name of the method
    /// must not contain a line break.
    std::string
    text() const;
    /// Reads what text() wrote; other texts are an error.
    static TimeState
    from_text(const std::string &text);
  };

  namespace internal
  {
    void
    write_time_state(const std::string                      &file_name,
                     const std::vector<std::uint64_t>       &polytopes,
                     const std::vector<unsigned int>        &n_entries,
                     const MPI_Comm                          communicator,
                     const TimeState                        &state,
                     const std::vector<std::vector<double>> &vectors);
    TimeState
    read_time_state(const std::string                &file_name,
                    const std::vector<std::uint64_t> &polytopes,
                    const std::vector<unsigned int>  &n_entries,
                    const MPI_Comm                    communicator,
                    std::vector<std::vector<double>> &vectors);

    /// Checksums of the geometry of the owned polytopes, and their numbers of
    /// degrees of freedom.
    template <int dim>
    void
    identify_polytopes(const AgglomerationHandler<dim> &handler,
                       std::vector<std::uint64_t>      &polytopes,
                       std::vector<unsigned int>       &n_entries);

    template <typename VectorType>
    std::vector<double>
    owned_entries(const VectorType &vector)
    {
      return std::vector<double>(vector.begin(),
                                 vector.begin() + vector.locally_owned_size());
    }
    template <typename VectorType>
    void
    set_owned_entries(const std::vector<double> &values, VectorType &vector)
    {
      AssertThrow(values.size() == vector.locally_owned_size(),
                  dealii::ExcMessage(
                    "A vector of a checkpoint has " +
                    std::to_string(values.size()) +
                    " entries, but the vector to be read has " +
                    std::to_string(vector.locally_owned_size()) + "."));
      std::copy(values.begin(), values.end(), vector.begin());
    }
    template <typename Number>
    std::vector<double>
    owned_entries(const DeviceVector<Number> &vector)
    {
      std::vector<Number> values;
      vector.copy_to(values);
      return std::vector<double>(values.begin(), values.end());
    }
    template <typename Number>
    void
    set_owned_entries(const std::vector<double> &values,
                      DeviceVector<Number>      &vector)
    {
      vector.copy_from(std::vector<Number>(values.begin(), values.end()));
    }
  } // namespace internal

  /**
   * Writes @p state and @p vectors, which hold degrees of freedom of
   * @p handler. The file replaces an earlier one only when it is complete.
   * Memory: a copy of the vectors. Collective.
   *
   * VectorType: Vector, HostVector, LinearAlgebra::distributed::Vector or
   * DeviceVector, of double; float is stored as double.
   */
  template <int dim, typename VectorType>
  void
  write_time_state(const std::string                     &file_name,
                   const AgglomerationHandler<dim>       &handler,
                   const TimeState                       &state,
                   const std::vector<const VectorType *> &vectors)
  {
    std::vector<std::uint64_t> polytopes;
    std::vector<unsigned int>  n_entries;
    internal::identify_polytopes(handler, polytopes, n_entries);
    std::vector<std::vector<double>> values;
    for (const VectorType *vector : vectors)
      values.push_back(internal::owned_entries(*vector));
    internal::write_time_state(file_name,
                               polytopes,
                               n_entries,
                               handler.get_communicator(),
                               state,
                               values);
  }

  /**
   * Reads a file of write_time_state(), on any number of processes. @p vectors
   * becomes as many copies of @p model, a vector of @p handler, as there are
   * vectors in the file, with their entries. Collective.
   *
   * Errors, on all processes: a file that is missing, is no such file or is
   * damaged, that was written for other polytopes or for other degrees or
   * numbers of components.
   */
  template <int dim, typename VectorType>
  TimeState
  read_time_state(const std::string               &file_name,
                  const AgglomerationHandler<dim> &handler,
                  const VectorType                &model,
                  std::vector<VectorType>         &vectors)
  {
    std::vector<std::uint64_t> polytopes;
    std::vector<unsigned int>  n_entries;
    internal::identify_polytopes(handler, polytopes, n_entries);
    std::vector<std::vector<double>> values;
    const TimeState                  state = internal::read_time_state(
      file_name, polytopes, n_entries, handler.get_communicator(), values);
    vectors.assign(values.size(), model);
    for (unsigned int i = 0; i < values.size(); ++i)
      internal::set_owned_entries(values[i], vectors[i]);
    return state;
  }

  /// Adds the steps of @p history to @p state and the addresses of its values
  /// to @p vectors, the latest first. One state can hold several histories of
  /// the same length of time, of which the last one stores the steps.
  template <typename VectorType>
  void
  store_history(const TimeHistory<VectorType>   &history,
                TimeState                       &state,
                std::vector<const VectorType *> &vectors)
  {
    state.history_steps.clear();
    for (unsigned int i = 0; i < history.size(); ++i)
      {
        state.history_steps.push_back(history.step(i));
        vectors.push_back(&history.value(i));
      }
  }

  /// Fills @p history with the steps of @p state and the vectors from number
  /// @p first. Errors: fewer vectors than steps, more than the history takes.
  template <typename VectorType>
  void
  restore_history(const TimeState               &state,
                  const std::vector<VectorType> &vectors,
                  const unsigned int             first,
                  TimeHistory<VectorType>       &history)
  {
    const unsigned int n = state.history_steps.size();
    AssertThrow(first + n <= vectors.size(),
                dealii::ExcMessage("The checkpoint has " +
                                   std::to_string(vectors.size()) +
                                   " vectors, but its history needs " +
                                   std::to_string(first + n) + "."));
    AssertThrow(n <= history.max_size(),
                dealii::ExcMessage(
                  "The checkpoint has a history of " + std::to_string(n) +
                  " steps, but the method keeps " +
                  std::to_string(history.max_size()) +
                  ": continue with the method and the order of the run that "
                  "wrote it."));
    history.clear();
    for (unsigned int i = n; i-- > 0;)
      history.push(state.history_steps[i], vectors[first + i]);
  }
} // namespace Tessella

#endif
