// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_profiler_h
#define tessella_tests_cuda_profiler_h

// Range of a program that a profiler of CUDA records if it is told to wait for
// it (ncu --profile-from-start off). Without CUDA these do nothing.

void
start_profiler();

void
stop_profiler();

#endif
