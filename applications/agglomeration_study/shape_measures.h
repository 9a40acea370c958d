// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_agglomeration_study_shape_measures_h
#define tessella_applications_agglomeration_study_shape_measures_h

#include <deal.II/grid/tria.h>

#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// Measures of an agglomeration. Those of shape are means over the
    /// polytopes, between 0 and 1, and 1 is best.
    struct ShapeMeasures
    {
      /// Pairs of face neighbours in different polytopes, for each cell.
      double cut = 0.;
      /// Standard deviation of the numbers of cells, over their mean.
      double deviation = 0.;
      /// Diameter over the largest diameter of all polytopes.
      double uniformity = 0.;
      /// Radius of the largest ball inside over that of the smallest ball
      /// around a polytope. The ball inside is found by a search that starts at
      /// the best centre of a cell: its radius is a lower bound. That of the
      /// ball around is exact up to a per cent.
      double circle_ratio = 0.;
      /// Measure of the polytope over that of its bounding box.
      double box_ratio = 0.;
    };

    /// Cost: some microseconds for each cell, on all threads.
    template <int dim>
    ShapeMeasures
    measure_shapes(const dealii::Triangulation<dim> &triangulation,
                   const std::vector<unsigned int>  &ids);
  } // namespace Application
} // namespace Tessella

#endif
