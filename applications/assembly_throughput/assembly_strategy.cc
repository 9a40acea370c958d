// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "assembly_strategy.h"

#include <tessella/base/exceptions.h>

namespace Tessella
{
  namespace Application
  {
    std::string
    name(const AssemblyStrategy strategy)
    {
      return strategy == AssemblyStrategy::coordinate_sort ? "coordinate_sort"
             : strategy == AssemblyStrategy::precomputed_pattern
               ? "precomputed_pattern"
               : "block_rows";
    }



    std::string
    assembly_strategy_names()
    {
      return name(AssemblyStrategy::block_rows) + "|" +
             name(AssemblyStrategy::coordinate_sort) + "|" +
             name(AssemblyStrategy::precomputed_pattern);
    }



    AssemblyStrategy
    assembly_strategy(const std::string &wanted)
    {
      for (const AssemblyStrategy strategy :
           {AssemblyStrategy::block_rows,
            AssemblyStrategy::coordinate_sort,
            AssemblyStrategy::precomputed_pattern})
        if (wanted == name(strategy))
          return strategy;
      AssertThrow(false,
                  ExcUserInput("There is no assembly strategy '" + wanted +
                               "': use one of " + assembly_strategy_names() +
                               "."));
      return AssemblyStrategy::block_rows;
    }
  } // namespace Application
} // namespace Tessella
