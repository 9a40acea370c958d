// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#define TESSELLA_LANES 4
#define TESSELLA_TILE_ROWS 4
#define TESSELLA_TILE_COLUMNS 2
#define TESSELLA_KERNELS avx2

#include "host_kernels_implementation.h"
