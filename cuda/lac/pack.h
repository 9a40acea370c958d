// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_pack_h
#define tessella_cuda_lac_pack_h

// Values that one instruction loads.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// V values that are loaded at once.
      template <typename Number, int V>
      struct alignas(V * sizeof(Number)) Pack
      {
        Number v[V];
      };

      /// Loads values that are read only once, without displacing vectors from
      /// the caches.
      template <typename Number, int V>
      __device__ inline Pack<Number, V>
      load(const Number *p)
      {
        Pack<Number, V> pack;
        if constexpr (V * sizeof(Number) == 16)
          {
            const float4 raw = __ldcs(reinterpret_cast<const float4 *>(p));
            pack             = reinterpret_cast<const Pack<Number, V> &>(raw);
          }
        else if constexpr (V * sizeof(Number) == 8)
          {
            const float2 raw = __ldcs(reinterpret_cast<const float2 *>(p));
            pack             = reinterpret_cast<const Pack<Number, V> &>(raw);
          }
        else
          pack.v[0] = __ldcs(p);
        return pack;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
