// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_first_touch_vector_h
#define tessella_base_first_touch_vector_h

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Allocator that leaves new entries of arithmetic types uninitialised.
    template <typename T>
    class FirstTouchAllocator : public std::allocator<T>
    {
    public:
      template <typename U>
      struct rebind
      {
        using other = FirstTouchAllocator<U>;
      };

      FirstTouchAllocator() = default;
      template <typename U>
      FirstTouchAllocator(const FirstTouchAllocator<U> &) noexcept
      {}

      template <typename U>
      void
      construct(U *place)
      {
        ::new (static_cast<void *>(place)) U;
      }
      template <typename U, typename... Arguments>
      void
      construct(U *place, Arguments &&...arguments)
      {
        ::new (static_cast<void *>(place))
          U(std::forward<Arguments>(arguments)...);
      }
    };
  } // namespace internal

  /**
   * std::vector whose resize() and constructor from a size leave new entries of
   * arithmetic types uninitialised: each page is touched first by the thread
   * that writes to it, while zeros would be written by one thread. For large
   * arrays that several threads fill. assign() and insertions set entries as
   * usual.
   */
  template <typename T>
  using FirstTouchVector = std::vector<T, internal::FirstTouchAllocator<T>>;
} // namespace Tessella

#endif
