// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#define TESSELLA_LANES 2
#define TESSELLA_KERNELS plain

#include "host_inverse_kernels_implementation.h"
