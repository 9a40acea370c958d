# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# cmake -DDIRECTORY=include -DHEADERS="a.h;b.h" -DOUTPUT=file.cc -P ...
# Embeds headers as string literals in a C++ file, for run-time compilation.
set(entries)
foreach(header ${HEADERS})
  file(READ ${DIRECTORY}/${header} text)
  string(APPEND entries
    "          {\"${header}\", R\"tessella(${text})tessella\"},\n")
endforeach()
# The first entries replace headers that NVRTC does not have. Functions that
# start kernels are not instantiated at run time: std::string only has to parse.
set(content "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Made by cmake/embed_headers.cmake.

#include \"device/run_time_compiler.h\"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      const std::vector<EmbeddedHeader> &
      embedded_headers()
      {
        static const std::vector<EmbeddedHeader> headers = {
          {\"cstdint\",
           \"#pragma once\\n\"
           \"namespace std\\n{\\n\"
           \"using uint8_t = unsigned char;\\n\"
           \"using uint64_t = unsigned long long;\\n}\\n\"},
          {\"cstddef\",
           \"#pragma once\\n\"
           \"namespace std\\n{\\nusing size_t = decltype(sizeof(0));\\n}\\n\"},
          {\"cmath\", \"#pragma once\\n\"},
          {\"type_traits\",
           \"#pragma once\\n\"
           \"namespace std\\n{\\n\"
           \"template <bool first, typename A, typename B>\\n\"
           \"struct conditional\\n{\\n  using type = A;\\n};\\n\"
           \"template <typename A, typename B>\\n\"
           \"struct conditional<false, A, B>\\n{\\n  using type = B;\\n};\\n\"
           \"template <bool first, typename A, typename B>\\n\"
           \"using conditional_t = typename conditional<first, A, B>::type;\\n\"
           \"template <typename T>\\nstruct decay\\n{\\n  using type = T;\\n};\\n\"
           \"template <typename T>\\nstruct decay<T &> : decay<T>\\n{};\\n\"
           \"template <typename T>\\nstruct decay<const T> : decay<T>\\n{};\\n\"
           \"template <typename T>\\nusing decay_t = typename decay<T>::type;\\n}\\n\"},
          {\"cuda_runtime.h\", \"#pragma once\\n\"},
          {\"string\",
           \"#pragma once\\n\"
           \"namespace std\\n{\\n\"
           \"struct string\\n{\\n  string(const char *);\\n\"
           \"  string operator+(const char *) const;\\n};\\n\"
           \"template <typename T>\\nstruct remove_reference\\n{\\n\"
           \"  using type = T;\\n};\\n\"
           \"template <typename T>\\nstruct remove_reference<T &>\\n{\\n\"
           \"  using type = T;\\n};\\n\"
           \"template <typename T>\\nusing remove_reference_t =\\n\"
           \"  typename remove_reference<T>::type;\\n}\\n\"},
${entries}        };
        return headers;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
")
file(WRITE ${OUTPUT} "${content}")
