// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_run_time_compiler_h
#define tessella_cuda_device_run_time_compiler_h

#include <memory>
#include <string>
#include <vector>

#include "device.h"

// Compilation of device code while a program runs (NVRTC), with a cache on
// disk. NVRTC and the driver are looked for at run time: a program starts
// without them.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// A header that sources may include, by name.
      struct EmbeddedHeader
      {
        const char *name, *text;
      };

      /// Those of this library that device code needs; made by CMake from the
      /// installed ones.
      const std::vector<EmbeddedHeader> &
      embedded_headers();

      /// Machine code of one card.
      struct Image
      {
        std::string code;
        bool        from_cache = false;
        double      seconds    = 0.; ///< that it took
      };

      /// The source has errors; what() is the compiler's text.
      struct CompilationError : public Error
      {
        explicit CompilationError(const std::string &log)
          : Error(log)
        {}
      };

      /// Why nothing can be compiled, as part of a sentence ("NVRTC was not
      /// found"); empty if it can. @p architecture: "sm_90" and the like.
      std::string
      why_no_compiler(const std::string &architecture);

      /**
       * Compiles @p source, which may include the library's headers. The cache
       * is a directory; the key of its files are source, headers, options,
       * architecture and the version of NVRTC. Files are written under another
       * name and renamed, so that programs may share a cache; one that is
       * damaged counts as not there, and one that cannot be written is no
       * error. Empty: no cache.
       *
       * Throws CompilationError, and Error if there is no compiler.
       */
      Image
      compile(const std::string &source,
              const std::string &architecture,
              const std::string &cache_directory);

      /// Of the current device: "sm_90".
      std::string
      present_architecture();

      /// Machine code in the memory of the current device.
      class Module
      {
      public:
        explicit Module(const Image &image);
        Module(const Module &) = delete;
        ~Module();

        /// Starts a kernel with one argument; @p stream: a cudaStream_t.
        /// Returns what went wrong, or an empty text.
        std::string
        launch(const char        *kernel,
               void              *argument,
               const unsigned int n_blocks_x,
               const unsigned int n_blocks_y,
               const unsigned int n_threads,
               void              *stream) const;

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
