// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "assembly_strategy.h"

#include <tessella/base/exceptions.h>

#include <algorithm>
#include <iterator>

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      // In the order of AssemblyStrategy.
      const std::string names[] = {"block_rows",
                                   "coordinate_sort",
                                   "precomputed_pattern"};
    } // namespace



    std::string
    name(const AssemblyStrategy strategy)
    {
      return names[static_cast<unsigned int>(strategy)];
    }



    std::string
    assembly_strategy_names()
    {
      return names[0] + "|" + names[1] + "|" + names[2];
    }



    AssemblyStrategy
    assembly_strategy(const std::string &wanted)
    {
      const auto found = std::find(std::begin(names), std::end(names), wanted);
      AssertThrow(found != std::end(names),
                  ExcUserInput("There is no assembly strategy '" + wanted +
                               "': use one of " + assembly_strategy_names() +
                               "."));
      return static_cast<AssemblyStrategy>(found - std::begin(names));
    }
  } // namespace Application
} // namespace Tessella
