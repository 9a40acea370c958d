// SPDX-License-Identifier: LGPL-2.1-or-later

// The functors of the tests, for the host, where there is no CUDA.

#include "../forms/create_functors.h"
