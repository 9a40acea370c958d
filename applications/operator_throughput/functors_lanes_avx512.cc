// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#define TESSELLA_LANES_SET avx512

#include "functors_lanes.h"
