// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#define TESSELLA_LANES 8
#define TESSELLA_KERNELS avx512

#include "host_inverse_kernels_implementation.h"
