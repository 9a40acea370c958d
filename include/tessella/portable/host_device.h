// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_portable_host_device_h
#define tessella_portable_host_device_h

/// Marks functions that both a C++ compiler and nvcc compile, for host and
/// device.
#ifdef __CUDACC__
#  define TESSELLA_HOST_DEVICE __host__ __device__
#else
#  define TESSELLA_HOST_DEVICE
#endif

/// Before a loop: unrolls it completely in device code.
#ifdef __CUDA_ARCH__
#  define TESSELLA_UNROLL_ON_DEVICE _Pragma("unroll")
#else
#  define TESSELLA_UNROLL_ON_DEVICE
#endif

#endif
