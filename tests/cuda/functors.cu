// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// The functors of the tests, for a device where there is CUDA.

#include "../forms/create_functors.h"
