// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_deferred_checks_h
#define tessella_source_operators_deferred_checks_h

namespace Tessella
{
  namespace internal
  {
    /**
     * While an object of this class lives, pointwise operators on a device do
     * not look in each call whether results are finite, for which they would
     * wait for the device: PointwiseOperator::check_finite() must be called
     * afterwards. It is for loops of many short calls by the same thread.
     */
    class DeferredChecks
    {
    public:
      DeferredChecks()
      {
        ++depth();
      }
      ~DeferredChecks()
      {
        --depth();
      }
      DeferredChecks(const DeferredChecks &) = delete;

      static bool
      active()
      {
        return depth() > 0;
      }

    private:
      static unsigned int &
      depth()
      {
        thread_local unsigned int result = 0;
        return result;
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
