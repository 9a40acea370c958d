// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_checksum_h
#define tessella_base_checksum_h

#include <cstddef>
#include <cstdint>
#include <string>

namespace Tessella
{
  /**
   * Initial state of the 64-bit FNV-1a checksum (Fowler, Noll and Vo,
   * http://www.isthe.com/chongo/tech/comp/fnv/). The data may come in pieces.
   * Files carry the checksum so that damage is noticed when they are read.
   * Every step is invertible, so that data which differ in one byte never have
   * the same checksum. It protects against accidents, not against forgery.
   */
  constexpr std::uint64_t checksum_start = 0xCBF29CE484222325ull;

  /// Checksum of @p size bytes at @p data that follow other data; @p state is
  /// the checksum of these other data, or checksum_start if there are none.
  inline std::uint64_t
  checksum(const char         *data,
           const std::size_t   size,
           const std::uint64_t state = checksum_start)
  {
    std::uint64_t result = state;
    for (std::size_t i = 0; i < size; ++i)
      {
        result ^= static_cast<unsigned char>(data[i]);
        result *= 0x100000001B3ull;
      }
    return result;
  }

  inline std::uint64_t
  checksum(const std::string &text, const std::uint64_t state = checksum_start)
  {
    return checksum(text.data(), text.size(), state);
  }
} // namespace Tessella

#endif
