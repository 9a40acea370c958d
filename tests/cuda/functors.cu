// SPDX-License-Identifier: LGPL-2.1-or-later

// The functors of the tests, for a device where there is CUDA.

#include "../forms/create_functors.h"
