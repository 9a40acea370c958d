// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_copies_h
#define tessella_tests_cuda_copies_h

#include <tessella/base/config.h>

#ifdef TESSELLA_HAVE_CUDA
#  include <string>

/// Number of lists that kernels read before they had arrived on the device.
unsigned int
n_late_lists();

/// Message of the error for an array of 2^45 bytes on the device.
std::string
message_of_large_array();
#endif

#endif
