// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_lanes_h
#define tessella_forms_pointwise_lanes_h

namespace Tessella
{
  /**
   * Bits of the static member `lanes` of a functor: members that work for
   * several points at once. Such a member
   * - is a template over the type of the point, too, of which it reads x, t,
   *   normal, penalty and h alone; they are numbers with lanes;
   * - has no branch on a number but select(), maximum() and minimum();
   * - calls the functions sqrt(), fabs() and pow(x, double), and functions that
   *   are templates over the number type and called with lanes, only: others
   *   would be compiled with the instructions of one file for the whole
   * program.
   *
   * LanesIntegrand uses these members. A functor without `lanes` has none.
   */
  namespace PointwiseLanes
  {
    constexpr unsigned int none = 0, volume = 1, interior_facet = 2;
  } // namespace PointwiseLanes

  namespace internal
  {
    template <typename F>
    constexpr unsigned int
    functor_lanes(decltype(F::lanes) *)
    {
      return F::lanes;
    }
    template <typename F>
    constexpr unsigned int
    functor_lanes(...)
    {
      return PointwiseLanes::none;
    }
  } // namespace internal

  /// The member `lanes` of the functor @p F, or none.
  template <typename F>
  constexpr unsigned int functor_lanes = internal::functor_lanes<F>(nullptr);
} // namespace Tessella

#endif
