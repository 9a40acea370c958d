// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "launcher.h"

template struct Tessella::internal::Device::Launcher<4, double>;
