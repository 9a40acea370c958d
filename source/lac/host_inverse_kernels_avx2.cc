// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#define TESSELLA_LANES 4
#define TESSELLA_KERNELS avx2

#include "host_inverse_kernels_implementation.h"
