// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "run_time_compiler.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        // Shared library that may be missing at run time.
        class Library
        {
        public:
          explicit Library(const std::vector<const char *> &names)
          {
            for (const char *name : names)
              if (handle == nullptr)
                handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
          }

          template <typename Function>
          void
          get(Function &function, const char *name)
          {
            function = handle == nullptr
                         ? nullptr
                         : reinterpret_cast<Function>(dlsym(handle, name));
            complete = complete && function != nullptr;
          }

          // Neither NVRTC nor the driver is ever unloaded.
          void *handle   = nullptr;
          bool  complete = true;
        };

        // Declarations as in nvrtc.h, which need not be present when this file
        // is compiled.
        using Program = void *;
        struct NVRTC
        {
          NVRTC()
            : library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
          {
            library.get(version, "nvrtcVersion");
            library.get(create, "nvrtcCreateProgram");
            library.get(compile, "nvrtcCompileProgram");
            library.get(destroy, "nvrtcDestroyProgram");
            library.get(log_size, "nvrtcGetProgramLogSize");
            library.get(log, "nvrtcGetProgramLog");
            library.get(code_size, "nvrtcGetCUBINSize");
            library.get(code, "nvrtcGetCUBIN");
            library.get(add_name, "nvrtcAddNameExpression");
            library.get(lowered_name, "nvrtcGetLoweredName");
            library.get(n_architectures, "nvrtcGetNumSupportedArchs");
            library.get(architectures, "nvrtcGetSupportedArchs");
          }

          Library library;
          int (*version)(int *, int *);
          int (*create)(Program *,
                        const char *,
                        const char *,
                        int,
                        const char *const *,
                        const char *const *);
          int (*compile)(Program, int, const char *const *);
          int (*destroy)(Program *);
          int (*log_size)(Program, std::size_t *);
          int (*log)(Program, char *);
          int (*code_size)(Program, std::size_t *);
          int (*code)(Program, char *);
          int (*add_name)(Program, const char *);
          int (*lowered_name)(Program, const char *, const char **);
          int (*n_architectures)(int *);
          int (*architectures)(int *);
        };

        NVRTC &
        nvrtc()
        {
          static NVRTC object;
          return object;
        }

        // Declarations as in cuda.h.
        struct Driver
        {
          Driver()
            : library({"libcuda.so.1"})
          {
            library.get(load, "cuModuleLoadData");
            library.get(unload, "cuModuleUnload");
            library.get(get_function, "cuModuleGetFunction");
            library.get(set_attribute, "cuFuncSetAttribute");
            library.get(launch, "cuLaunchKernel");
            library.get(error_name, "cuGetErrorName");
          }

          void
          check(const int code, const std::string &what) const
          {
            if (code == 0)
              return;
            const char *name = nullptr;
            error_name(code, &name);
            throw Error(what + " failed: " + (name ? name : "unknown error") +
                        ".");
          }

          Library library;
          int (*load)(void **, const void *);
          int (*unload)(void *);
          int (*get_function)(void **, void *, const char *);
          int (*set_attribute)(void *, int, int);
          int (*launch)(void *,
                        unsigned int,
                        unsigned int,
                        unsigned int,
                        unsigned int,
                        unsigned int,
                        unsigned int,
                        unsigned int,
                        void *,
                        void **,
                        void **);
          int (*error_name)(int, const char **);
        };

        Driver &
        driver()
        {
          static Driver object;
          return object;
        }

        // Two FNV-1a hashes with different start values, 128 bits in all.
        struct Hash
        {
          std::uint64_t a = 14695981039346656037ull, b = 1099511628211ull * 31;

          void
          add(const std::string &text)
          {
            for (const unsigned char c : text)
              {
                a = (a ^ c) * 1099511628211ull;
                b = (b ^ (c + 17u)) * 1099511628211ull;
              }
            a = (a ^ 0xffu) * 1099511628211ull;
            b = (b ^ 0xfeu) * 1099511628211ull;
          }

          std::string
          text() const
          {
            char buffer[33];
            std::snprintf(buffer,
                          sizeof(buffer),
                          "%016llx%016llx",
                          static_cast<unsigned long long>(a),
                          static_cast<unsigned long long>(b));
            return buffer;
          }
        };

        std::string
        hash(const std::string &text)
        {
          Hash h;
          h.add(text);
          return h.text();
        }

        // Format of a cache file: magic line, length of the key, key, a line
        // with size and hash of the code, code.
        constexpr const char *magic = "tessella kernel 1\n";

        bool
        read_cache(const std::string &file,
                   const std::string &key,
                   std::string       &code)
        {
          std::ifstream in(file, std::ios::binary);
          if (!in)
            return false;
          std::ostringstream stream;
          stream << in.rdbuf();
          const std::string text = stream.str();
          const std::string head =
            std::string(magic) + std::to_string(key.size()) + "\n" + key + "\n";
          if (text.compare(0, head.size(), head) != 0)
            return false;
          const std::size_t end = text.find('\n', head.size());
          if (end == std::string::npos)
            return false;
          code = text.substr(end + 1);
          return text.substr(head.size(), end - head.size()) ==
                 std::to_string(code.size()) + " " + hash(code);
        }

        // Takes the names of n kernels, one in a line, from the beginning of
        // the contents of a cache file.
        bool
        split_names(const std::size_t n, Image &image)
        {
          for (std::size_t i = 0; i < n; ++i)
            {
              const std::size_t end = image.code.find('\n');
              if (end == std::string::npos)
                return false;
              image.kernels.push_back(image.code.substr(0, end));
              image.code.erase(0, end + 1);
            }
          return true;
        }

        void
        make_directories(const std::string &directory)
        {
          for (std::size_t i = 1; i <= directory.size(); ++i)
            if (i == directory.size() || directory[i] == '/')
              mkdir(directory.substr(0, i).c_str(), 0700);
        }

        void
        write_cache(const std::string &directory,
                    const std::string &file,
                    const std::string &key,
                    const std::string &code)
        {
          make_directories(directory);
          static std::atomic<unsigned int> counter(0);
          char                             host[256] = "";
          gethostname(host, sizeof(host) - 1);
          const std::string temporary = file + "." + host + "." +
                                        std::to_string(getpid()) + "." +
                                        std::to_string(counter++) + ".tmp";
          {
            std::ofstream out(temporary, std::ios::binary);
            out << magic << key.size() << "\n"
                << key << "\n"
                << code.size() << " " << hash(code) << "\n"
                << code;
            out.close();
            if (out.good() && std::rename(temporary.c_str(), file.c_str()) == 0)
              return;
          }
          std::remove(temporary.c_str());
        }
      } // namespace



      std::string
      why_no_compiler(const std::string &architecture)
      {
        const NVRTC &rtc = nvrtc();
        if (rtc.library.handle == nullptr)
          return "NVRTC, the run-time compiler of CUDA (libnvrtc.so), was not "
                 "found";
        if (!rtc.library.complete)
          return "NVRTC is older than CUDA 11.2";
        int n = 0;
        rtc.n_architectures(&n);
        std::vector<int> known(n);
        rtc.architectures(known.data());
        for (const int a : known)
          if ("sm_" + std::to_string(a) == architecture)
            return "";
        return "NVRTC does not know the architecture " + architecture +
               " of this card";
      }



      Image
      compile(const std::string              &source,
              const std::string              &architecture,
              const std::string              &cache_directory,
              const std::vector<std::string> &kernels)
      {
        const std::string missing = why_no_compiler(architecture);
        if (!missing.empty())
          throw Error(missing + ".");
        const auto start = std::chrono::steady_clock::now();
        const auto since = [&start]() {
          return std::chrono::duration<double>(
                   std::chrono::steady_clock::now() - start)
            .count();
        };
        const NVRTC                   &rtc     = nvrtc();
        const std::vector<std::string> options = {"--gpu-architecture=" +
                                                    architecture,
                                                  "--std=c++17",
                                                  "-default-device"};

        int major = 0, minor = 0;
        rtc.version(&major, &minor);
        Hash headers;
        for (const EmbeddedHeader &header : embedded_headers())
          {
            headers.add(header.name);
            headers.add(header.text);
          }
        std::string key = "nvrtc " + std::to_string(major) + "." +
                          std::to_string(minor) + "\nheaders " +
                          headers.text() + "\n";
        for (const std::string &option : options)
          key += option + "\n";
        for (const std::string &kernel : kernels)
          key += "kernel " + kernel + "\n";
        key += source;
        const std::string file =
          cache_directory.empty() ? "" : cache_directory + "/" + hash(key);

        Image image;
        if (!file.empty() && read_cache(file, key, image.code) &&
            split_names(kernels.size(), image))
          {
            image.from_cache = true;
            image.seconds    = since();
            return image;
          }

        image = Image();
        std::vector<const char *> names, texts, option_texts;
        for (const EmbeddedHeader &header : embedded_headers())
          {
            names.push_back(header.name);
            texts.push_back(header.text);
          }
        for (const std::string &option : options)
          option_texts.push_back(option.c_str());
        Program program = nullptr;
        if (rtc.create(&program,
                       source.c_str(),
                       "coefficients",
                       static_cast<int>(names.size()),
                       texts.data(),
                       names.data()) != 0)
          throw Error("NVRTC could not be started.");
        for (const std::string &kernel : kernels)
          rtc.add_name(program, kernel.c_str());
        const int code = rtc.compile(program,
                                     static_cast<int>(option_texts.size()),
                                     option_texts.data());
        if (code != 0)
          {
            std::size_t size = 0;
            rtc.log_size(program, &size);
            std::vector<char> log(size + 1, 0);
            rtc.log(program, log.data());
            rtc.destroy(&program);
            throw CompilationError(log.data());
          }
        std::size_t size = 0;
        rtc.code_size(program, &size);
        image.code.resize(size);
        rtc.code(program, &image.code[0]);
        std::string names_in_code;
        for (const std::string &kernel : kernels)
          {
            const char *name = nullptr;
            if (rtc.lowered_name(program, kernel.c_str(), &name) != 0 ||
                name == nullptr)
              {
                rtc.destroy(&program);
                throw Error("NVRTC did not compile the kernel " + kernel + ".");
              }
            image.kernels.push_back(name);
            names_in_code += image.kernels.back() + "\n";
          }
        rtc.destroy(&program);
        if (!file.empty())
          write_cache(cache_directory, file, key, names_in_code + image.code);
        image.seconds = since();
        return image;
      }



      std::string
      present_architecture()
      {
        int device = 0, major = 0, minor = 0;
        check(cudaGetDevice(&device), "the choice of a device");
        check(cudaDeviceGetAttribute(&major,
                                     cudaDevAttrComputeCapabilityMajor,
                                     device),
              "a question to the device");
        check(cudaDeviceGetAttribute(&minor,
                                     cudaDevAttrComputeCapabilityMinor,
                                     device),
              "a question to the device");
        return "sm_" + std::to_string(10 * major + minor);
      }



      struct Module::Implementation
      {
        void                                 *module = nullptr;
        mutable std::mutex                    mutex;
        mutable std::map<std::string, void *> kernels;
      };



      Module::Module(const Image &image)
        : implementation(std::make_unique<Implementation>())
      {
        if (!driver().library.complete)
          throw Error("The CUDA driver (libcuda.so.1) was not found.");
        check(cudaFree(nullptr), "the start of the device");
        driver().check(driver().load(&implementation->module,
                                     image.code.data()),
                       "Loading code that was compiled at run time");
      }



      Module::~Module()
      {
        // Errors are ignored: at the end of a program the driver may be gone.
        if (implementation->module != nullptr)
          driver().unload(implementation->module);
      }



      std::string
      Module::launch(const char        *kernel,
                     void              *argument,
                     const unsigned int n_blocks_x,
                     const unsigned int n_blocks_y,
                     const unsigned int n_threads,
                     void              *stream) const
      {
        void *arguments[] = {argument};
        return launch(
          kernel, arguments, n_blocks_x, n_blocks_y, n_threads, 0, stream);
      }



      std::string
      Module::launch(const char        *kernel,
                     void             **arguments,
                     const unsigned int n_blocks_x,
                     const unsigned int n_blocks_y,
                     const unsigned int n_threads,
                     const unsigned int shared_bytes,
                     void              *stream) const
      {
        try
          {
            void *function;
            {
              const std::lock_guard<std::mutex> lock(implementation->mutex);
              void *&entry = implementation->kernels[kernel];
              if (entry == nullptr)
                driver().check(driver().get_function(&entry,
                                                     implementation->module,
                                                     kernel),
                               std::string("Looking for the kernel ") + kernel);
              function = entry;
            }
            // Attribute 8: largest size of the dynamic shared memory.
            if (shared_bytes > 0)
              driver().check(driver().set_attribute(
                               function, 8, static_cast<int>(shared_bytes)),
                             "The choice of the shared memory of a kernel");
            driver().check(
              driver().launch(function,
                              n_blocks_x,
                              n_blocks_y,
                              1,
                              n_threads,
                              1,
                              1,
                              shared_bytes,
                              stream,
                              arguments,
                              nullptr),
              "The start of a kernel that was compiled at run time");
          }
        catch (const Error &error)
          {
            return error.what();
          }
        return "";
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
