// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_slab_functor_h
#define tessella_tests_cuda_slab_functor_h

#include <tessella/forms/form.h>

#include <memory>

/// Functor on a slab that starts at a time: du/dt - div((1 + t) grad u) + x t .
/// grad u = x_0 - 2 t, u = x_1 + t on the boundary, without inflow from below.
template <int D>
std::unique_ptr<Tessella::Form<D>>
make_slab_functor(const double start);

#endif
