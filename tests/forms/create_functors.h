// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Instantiates the functors: included by a .cc file for the host, by a .cu file
// for a device.

#include <cstring>

#include "functors.h"

namespace Functors
{
  template <int dim>
  FormPointer<dim>
  create(const char        *name,
         const unsigned int order,
         const Fields<dim> &fields,
         const CellValues  &cell_values)
  {
    const auto is = [name](const char *other) {
      return std::strcmp(name, other) == 0;
    };
    if (is("full"))
      return make<dim>(Full<dim>(), order);
    if (is("materials"))
      return make<dim>(Materials<dim>(), order);
    if (is("degenerate"))
      return make<dim>(Degenerate<dim>(), order);
    if (is("advection"))
      return make<dim>(Advection<dim>(), order);
    if (is("field"))
      return make<dim>(Field<dim>(), order, fields);
    if (is("cells"))
      return make<dim>(Cells<dim>(), order, {}, cell_values);
    Quasilinear<dim> quasilinear;
    quasilinear.newton = is("newton");
    if (is("picard") || is("newton"))
      return make<dim>(quasilinear, order, fields);
    Bad<dim> bad;
    bad.negative = is("negative");
    if (is("negative") || is("not_finite"))
      return make<dim>(bad, order);
    return nullptr;
  }

  template FormPointer<2>
  create(const char *,
         const unsigned int,
         const Fields<2> &,
         const CellValues &);
  template FormPointer<3>
  create(const char *,
         const unsigned int,
         const Fields<3> &,
         const CellValues &);
} // namespace Functors
