// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_fe_box_mapping_h
#define tessella_fe_box_mapping_h

#include <deal.II/fe/mapping.h>

namespace Tessella
{
  /// Mapping of the unit hypercube to boxes with edges along the axes.
  /// FE_BoundingBoxLegendre scales its functions by the volume of the box, for
  /// which it asks this class.
  template <int dim>
  class BoxMapping : public dealii::Mapping<dim>
  {
  public:
    /// Volume of the box that belongs to @p cell.
    virtual double
    box_volume(
      const typename dealii::Triangulation<dim>::cell_iterator &cell) const = 0;
  };
} // namespace Tessella

#endif
