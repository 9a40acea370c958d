// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_time_stepping_time_history_h
#define tessella_time_stepping_time_history_h

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /**
   * Values of a quantity at past times, the latest first, with the lengths of
   * the steps that began there: the memory of a multi-step method. step(i) is
   * the length from the time of value(i) to that of value(i - 1), or for i = 0
   * to the present time. A splitting method keeps one history for each quantity
   * that it extrapolates.
   *
   * At most n values are kept, in memory that is used again: push() copies one
   * vector and moves no other.
   */
  template <typename VectorType>
  class TimeHistory
  {
  public:
    explicit TimeHistory(const unsigned int n)
      : n(n)
    {
      AssertThrow(
        n >= 1, dealii::ExcMessage("A history must keep at least one value."));
    }

    unsigned int
    size() const
    {
      return values.size();
    }
    unsigned int
    max_size() const
    {
      return n;
    }
    const VectorType &
    value(const unsigned int i) const
    {
      check_index(i);
      return *values[i];
    }
    double
    step(const unsigned int i) const
    {
      check_index(i);
      return steps[i];
    }
    void
    clear()
    {
      values.clear();
      steps.clear();
    }

    /// Adds @p value, from whose time a step of length @p step leads to the
    /// present time. The oldest value is forgotten if there are too many.
    void
    push(const double step, const VectorType &value)
    {
      AssertThrow(step > 0. && std::isfinite(step),
                  dealii::ExcMessage("A history has only steps whose length is "
                                     "positive and finite."));
      AssertThrow(
        values.empty() || values[0]->size() == value.size(),
        dealii::ExcMessage(
          "The history has vectors of " + std::to_string(values[0]->size()) +
          " entries and cannot take one of " + std::to_string(value.size()) +
          ": clear it after a change of mesh or degree."));
      if (values.size() < n)
        {
          values.push_back(std::make_unique<VectorType>(value));
          steps.push_back(step);
        }
      else
        *values.back() = value;
      std::rotate(values.begin(), values.end() - 1, values.end());
      std::rotate(steps.begin(), steps.end() - 1, steps.end());
      steps[0] = step;
    }

  private:
    void
    check_index(const unsigned int i) const
    {
      AssertThrow(i < values.size(),
                  dealii::ExcMessage("The history has " +
                                     std::to_string(values.size()) +
                                     " values, but number " +
                                     std::to_string(i) + " was asked for."));
    }

    unsigned int                             n;
    std::vector<std::unique_ptr<VectorType>> values;
    std::vector<double>                      steps;
  };
} // namespace Tessella

#endif
