// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/base/config.h>

#include "profiler.h"

#ifdef TESSELLA_HAVE_CUDA
#  include <cuda_profiler_api.h>
#endif

void
start_profiler()
{
#ifdef TESSELLA_HAVE_CUDA
  cudaProfilerStart();
#endif
}



void
stop_profiler()
{
#ifdef TESSELLA_HAVE_CUDA
  cudaProfilerStop();
#endif
}
