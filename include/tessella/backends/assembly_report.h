// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_backends_assembly_report_h
#define tessella_backends_assembly_report_h

#include <tessella/base/backend.h>
#include <tessella/quadrature/quadrature_compression.h>

#include <string>
#include <vector>

namespace Tessella
{
  /// Backend, times and memory of the last calls of an assembler.
  struct AssemblyReport
  {
    Backend        backend;         ///< backend that ran
    InstructionSet instruction_set; ///< instruction set of the host kernels
    unsigned int   n_threads;
    double         geometry_time; ///< seconds: penalty factors and tabulation
    double
      structure_time;     ///< seconds: sparsity and matrix creation in reinit()
    double assembly_time; ///< seconds: last assemble()
    // ---- last assemble() on a device
    std::string device_kernels;        ///< name of the kernels that ran
    double      kernel_time;           ///< seconds in kernels
    double upload_time, download_time; ///< seconds for copies of tables and
                                       ///< results, which overlap with kernels
    double                  bytes_uploaded, bytes_downloaded;
    std::vector<KernelTime> kernel_times; ///< kernel_time split by kernels
    /// Seconds before the first kernel: penalty and, if the mesh has changed,
    /// its preparation and upload.
    double preparation_time = 0.;
    /// Seconds in which the host's threads evaluated variable coefficients.
    double tabulation_time = 0.;
    /// Seconds between the first kernel and the end in which the device neither
    /// computed nor copied. In this time the host moved results from pinned
    /// buffers to the matrix, or evaluated coefficients, without overlap.
    double handover_time = 0.;
    /// Bytes of device memory for mesh, structure and buffers.
    double device_memory = 0.;
    /// How coefficients were evaluated: "constant", "evaluated by the host's
    /// threads" (with the reason, if a device could have done it), or the text
    /// of the form (DeviceCoefficients::description()).
    std::string coefficients;
    /// Number of parts in which the mesh passed through the device; 1 if it
    /// fits.
    unsigned int n_parts = 1;
    /// Index of the CUDA device that this process uses; -1 if the process has
    /// not chosen a device or has none.
    int device = -1;
    /// Number of processes that use that device and among which its memory is
    /// divided; 0 in a program of one process.
    unsigned int n_processes_on_device = 0;
    /// Compressed quadrature, on the polytopes of this process; all zero
    /// without it.
    CompressionReport compression = {};
  };
} // namespace Tessella

#endif
