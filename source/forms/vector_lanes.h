// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_forms_vector_lanes_h
#define tessella_source_forms_vector_lanes_h

// Loops over quadrature points with vectors of two numbers.

namespace Tessella
{
  namespace internal
  {
    // Two lanes, which every processor of the usual architectures supports;
    // VectorizedArray has only one lane in many builds of deal.II.
    typedef double         Pair __attribute__((vector_size(16)));
    constexpr unsigned int width = 2;

    inline double
    load(double, const double *from)
    {
      return *from;
    }

    inline Pair
    load(Pair, const double *from)
    {
      return Pair{from[0], from[1]};
    }

    inline void
    store(const double v, double *to)
    {
      *to = v;
    }

    inline void
    store(const Pair v, double *to)
    {
      to[0] = v[0];
      to[1] = v[1];
    }

    template <typename Number>
    Number
    minimum(const Number a, const Number b)
    {
      return a < b ? a : b;
    }

    // Calls body(type, q) for all q < n: with a vector type and groups of width
    // points first, then with double for each remaining point.
    template <typename Body>
    void
    for_vectors(const unsigned int n, const Body &body)
    {
      unsigned int q = 0;
      for (; q + width <= n; q += width)
        body(Pair(), q);
      for (; q < n; ++q)
        body(double(), q);
    }
  } // namespace internal
} // namespace Tessella

#endif
