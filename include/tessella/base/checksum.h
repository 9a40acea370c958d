// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_checksum_h
#define tessella_base_checksum_h

#include <cstddef>
#include <cstdint>
#include <string>

namespace Tessella
{
  /**
   * FNV-1a with 64 bits (Fowler, Noll and Vo,
   * http://www.isthe.com/chongo/tech/comp/fnv/) of data that come in
   * pieces: files carry it so that damage is noticed when they are read. Every
   * step is invertible, so that data which differ in one byte never have the
   * same checksum. It protects from accidents, not from forgery.
   */
  constexpr std::uint64_t checksum_start = 0xCBF29CE484222325ull;

  /// @p state: of the data so far, checksum_start if there are none.
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
