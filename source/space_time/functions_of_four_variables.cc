// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Instantiations in four variables (space and time); deal.II provides its
// function classes in one, two and three variables.

#include <deal.II/base/function.templates.h>
#include <deal.II/base/tensor_function.templates.h>

namespace dealii
{
  template class Function<4, double>;
  template class TensorFunction<1, 4, double>;
  template class TensorFunction<2, 4, double>;
} // namespace dealii
