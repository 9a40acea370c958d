// SPDX-License-Identifier: LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration_handler.h>

#include <algorithm>

#include "agglomeration_handler_geometry.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    CurvedGeometry<dim>::CurvedGeometry(
      const dealii::Triangulation<dim> &,
      const std::vector<
        typename dealii::Triangulation<dim>::active_cell_iterator> &,
      const dealii::Mapping<dim> *mapping)
    {
      AssertThrow(mapping == nullptr, dealii::ExcNotImplemented());
    }

    template <int dim>
    void
    CurvedGeometry<dim>::face_geometry(const unsigned int,
                                       const unsigned int,
                                       const unsigned int,
                                       double *,
                                       double &) const
    {}

    template class CurvedGeometry<2>;
    template class CurvedGeometry<3>;
  } // namespace internal

  template <int dim>
  void
  AgglomerationHandler<dim>::tabulate(const unsigned int) const
  {}

  template void
  AgglomerationHandler<2>::tabulate(const unsigned int) const;
  template void
  AgglomerationHandler<3>::tabulate(const unsigned int) const;
} // namespace Tessella
