// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Instantiates the functors of the tests, for a device if there is CUDA.

#include "../forms/create_functors.h"
