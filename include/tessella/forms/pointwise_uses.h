// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_uses_h
#define tessella_forms_pointwise_uses_h

namespace Tessella
{
  /// Bits of the static member `uses` of a functor: which of residual, tangent
  /// and Jacobian a PointwiseOperator evaluates. A functor without this member
  /// is compiled for all of them.
  namespace PointwiseUses
  {
    constexpr unsigned int residual = 1, tangent = 2, jacobian = 4, all = 7;
  } // namespace PointwiseUses

  namespace internal
  {
    template <typename F>
    constexpr unsigned int
    functor_uses(decltype(F::uses) *)
    {
      return F::uses;
    }
    template <typename F>
    constexpr unsigned int
    functor_uses(...)
    {
      return PointwiseUses::all;
    }
  } // namespace internal

  /// Whether the functor @p F is evaluated for @p use. The code for the other
  /// uses, of host and device, is not compiled.
  template <typename F, unsigned int use>
  constexpr bool functor_has_use = (internal::functor_uses<F>(nullptr) & use) !=
                                   0;
} // namespace Tessella

#endif
