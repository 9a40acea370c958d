// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "slab_launcher.h"

template struct Tessella::internal::Device::SlabLauncher<4, double>;
template struct Tessella::internal::Device::SlabLauncher<4, float>;
