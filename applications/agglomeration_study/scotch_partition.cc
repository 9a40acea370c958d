// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "scotch_partition.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/timer.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#ifdef TESSELLA_HAVE_SCOTCH
extern "C" {
#  include <scotch.h>
}
#endif

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

#ifdef TESSELLA_HAVE_SCOTCH
    std::vector<unsigned int>
    partition_by_scotch(const DynamicSparsityPattern &pattern,
                        const unsigned int            n_parts,
                        const unsigned int            n_threads,
                        double                       &seconds)
    {
      std::vector<SCOTCH_Num> offsets(1, 0), neighbors, parts(pattern.n_rows());
      for (std::size_t i = 0; i < pattern.n_rows(); ++i)
        {
          for (auto entry = pattern.begin(i); entry != pattern.end(i); ++entry)
            if (entry->column() != i)
              neighbors.push_back(entry->column());
          offsets.push_back(neighbors.size());
        }

      Timer          timer;
      SCOTCH_Graph   graph, bound_graph;
      SCOTCH_Context context;
      SCOTCH_Strat   strategy;
      const bool     failed =
        SCOTCH_graphInit(&graph) != 0 || SCOTCH_graphInit(&bound_graph) != 0 ||
        SCOTCH_contextInit(&context) != 0 || SCOTCH_stratInit(&strategy) != 0 ||
        SCOTCH_graphBuild(&graph,
                          0,
                          parts.size(),
                          offsets.data(),
                          nullptr,
                          nullptr,
                          nullptr,
                          neighbors.size(),
                          neighbors.data(),
                          nullptr) != 0 ||
        SCOTCH_contextOptionSetNum(&context,
                                   SCOTCH_OPTIONNUMDETERMINISTIC,
                                   1) != 0 ||
        SCOTCH_contextThreadSpawn(&context, n_threads, nullptr) != 0 ||
        SCOTCH_contextBindGraph(&context, &graph, &bound_graph) != 0 ||
        SCOTCH_graphPart(&bound_graph, n_parts, &strategy, parts.data()) != 0;
      SCOTCH_stratExit(&strategy);
      SCOTCH_graphExit(&bound_graph);
      SCOTCH_contextExit(&context);
      SCOTCH_graphExit(&graph);
      seconds = timer.wall_time();
      AssertThrow(!failed,
                  ExcMessage("Scotch failed: leave scotch out of "
                             "Study/Strategies."));
      return std::vector<unsigned int>(parts.begin(), parts.end());
    }
#else
    std::vector<unsigned int>
    partition_by_scotch(const DynamicSparsityPattern &,
                        const unsigned int,
                        const unsigned int,
                        double &)
    {
      AssertThrow(false,
                  ExcMessage("This program was built without Scotch 7: leave "
                             "scotch out of Study/Strategies, or install "
                             "Scotch's headers and configure again."));
      return {};
    }
#endif
  } // namespace Application
} // namespace Tessella
