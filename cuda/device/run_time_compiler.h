// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_run_time_compiler_h
#define tessella_cuda_device_run_time_compiler_h

#include <memory>
#include <string>
#include <vector>

#include "device.h"

// Compilation of device code at run time (NVRTC), with a cache on disk. NVRTC
// and the driver are loaded dynamically, so that a program starts without them.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Header that sources may include, with its name and text.
      struct EmbeddedHeader
      {
        const char *name, *text;
      };

      /// Headers of this library that device code needs; CMake embeds the text
      /// of the installed headers.
      const std::vector<EmbeddedHeader> &
      embedded_headers();

      /// Machine code for one architecture.
      struct Image
      {
        std::string code;
        /// Names of the wanted kernels in the code.
        std::vector<std::string> kernels;
        bool                     from_cache = false;
        double seconds = 0.; ///< time of compilation or of reading the cache
      };

      /// The source has errors; what() is the compiler's output.
      struct CompilationError : public Error
      {
        explicit CompilationError(const std::string &log)
          : Error(log)
        {}
      };

      /// Reason why nothing can be compiled, as part of a sentence ("NVRTC was
      /// not found"); empty if compilation is possible. @p architecture is a
      /// name such as "sm_90".
      std::string
      why_no_compiler(const std::string &architecture);

      /**
       * Compiles @p source, which may include the library's headers. Kernels
       * that are templates are instantiated by their names, @p kernels, as in
       * "kernel<2>"; those that are extern "C" need not be listed.
       *
       * The cache is a directory; an empty name disables it. The key of a file
       * consists of source, headers, options, architecture and the version of
       * NVRTC. Files are written under a temporary name and then renamed, so
       * that programs may share a cache. A damaged file counts as missing, and
       * failure to write a file is not an error.
       *
       * Throws CompilationError, and Error if no compiler is available.
       */
      Image
      compile(const std::string              &source,
              const std::string              &architecture,
              const std::string              &cache_directory,
              const std::vector<std::string> &kernels = {});

      /// Architecture of the current device, such as "sm_90".
      std::string
      present_architecture();

      /// Machine code loaded into the memory of the current device.
      class Module
      {
      public:
        explicit Module(const Image &image);
        Module(const Module &) = delete;
        ~Module();

        /// Starts a kernel with one argument; @p stream is a cudaStream_t.
        /// Returns an error message, or an empty string.
        std::string
        launch(const char        *kernel,
               void              *argument,
               const unsigned int n_blocks_x,
               const unsigned int n_blocks_y,
               const unsigned int n_threads,
               void              *stream) const;

        /// The same with several arguments, which are given by their
        /// addresses, and with dynamic shared memory.
        std::string
        launch(const char        *kernel,
               void             **arguments,
               const unsigned int n_blocks_x,
               const unsigned int n_blocks_y,
               const unsigned int n_threads,
               const unsigned int shared_bytes,
               void              *stream) const;

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
