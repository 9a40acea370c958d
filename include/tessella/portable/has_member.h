// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_portable_has_member_h
#define tessella_portable_has_member_h

namespace Tessella
{
  namespace internal
  {
    // Replacement for std::declval, which is not available in run-time
    // compilation.
    template <typename T>
    T
    make() noexcept;
  } // namespace internal
} // namespace Tessella

/// Defines a template Name<F, ...>: whether const F has a member that can be
/// called as @p call, in which make<T>() stands for arguments of type T. The
/// parameters of the template behind F are the last arguments of the macro.
/// Functors are called on the device, where they are constants, so that a
/// member that is not const is an error.
#define TESSELLA_HAS_MEMBER(Name, call, ...)                              \
  template <typename F, __VA_ARGS__>                                      \
  struct Name                                                             \
  {                                                                       \
    template <typename G>                                                 \
    static constexpr auto                                                 \
    test(int) -> decltype(::Tessella::internal::make<G &>().call, bool()) \
    {                                                                     \
      return true;                                                        \
    }                                                                     \
    template <typename G>                                                 \
    static constexpr bool                                                 \
    test(...)                                                             \
    {                                                                     \
      return false;                                                       \
    }                                                                     \
    static constexpr bool value = test<const F>(0);                       \
    static_assert(value || !test<F>(0),                                   \
                  "The members of a functor must be const.");             \
  };

#endif
