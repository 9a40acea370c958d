// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_vector_access_h
#define tessella_source_lac_vector_access_h

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/base/config.h>
#include <tessella/base/epetra.h>
#include <tessella/lac/device_vector.h>

#include <cstddef>
#include <string>
#include <type_traits>

// Access to the locally owned entries of vectors of any type: pointer to the
// first entry, and number of entries.

namespace Tessella
{
  namespace internal
  {
    /// Trilinos vectors with ghost entries store them among the owned entries,
    /// in the order of global indices, and are therefore rejected.
    template <typename VectorType>
    inline void
    check_no_ghosts(const VectorType &)
    {}
#ifdef TESSELLA_HAVE_EPETRA
    inline void
    check_no_ghosts(const dealii::TrilinosWrappers::MPI::Vector &vector)
    {
      AssertThrow(!vector.has_ghost_elements(),
                  dealii::ExcMessage(
                    "The vector has ghost entries, but one without is needed: "
                    "reinit() it with locally_owned_dofs() alone, and assign "
                    "the other one to it."));
    }
#endif

    template <typename VectorType>
    inline auto
    entries(VectorType &vector) -> decltype(&*vector.begin())
    {
      return vector.begin();
    }
#ifdef TESSELLA_HAVE_EPETRA
    inline double *
    entries(dealii::TrilinosWrappers::MPI::Vector &vector)
    {
      return vector.trilinos_vector()[0];
    }
    inline const double *
    entries(const dealii::TrilinosWrappers::MPI::Vector &vector)
    {
      return vector.trilinos_vector()[0];
    }
#endif

    template <typename VectorType>
    inline std::size_t
    n_entries(const VectorType &vector)
    {
      return vector.locally_owned_size();
    }
    template <typename Number>
    inline std::size_t
    n_entries(const dealii::Vector<Number> &vector)
    {
      return vector.size();
    }

    /// Address of the entries of a vector that holds the @p n degrees of
    /// freedom that this process owns, in their order. A loop over operator()
    /// would look up every entry of a Trilinos vector in a map.
    template <typename VectorType>
    inline auto
    vector_data(VectorType &vector, const std::size_t n)
      -> decltype(&*vector.begin())
    {
      check_no_ghosts(vector);
      const std::size_t n_here = vector.end() - vector.begin();
      using Vector             = std::remove_const_t<VectorType>;
      constexpr bool serial =
        std::is_same<Vector, dealii::Vector<double>>::value ||
        std::is_same<Vector, dealii::Vector<float>>::value;
      AssertThrow(n_here == n,
                  dealii::ExcMessage(
                    (serial ? "The vector has " : "The vector holds ") +
                    std::to_string(n_here) +
                    (serial ? " entries" : " entries on this process") +
                    ", but the handler has " + std::to_string(n) +
                    " degrees of freedom; reinit() it with " +
                    (serial ? "n_dofs()." : "locally_owned_dofs().")));
      return n > 0 ? &*vector.begin() : nullptr;
    }

    /// Checks that a vector has @p n entries in total and @p n_owned on this
    /// process.
    template <typename VectorType>
    void
    check_vector(const VectorType   &vector,
                 const std::uint64_t n,
                 const std::uint64_t n_owned)
    {
      check_no_ghosts(vector);
      AssertThrow(vector.size() == n,
                  dealii::ExcDimensionMismatch(vector.size(), n));
      AssertThrow(n_entries(vector) == n_owned,
                  dealii::ExcMessage(
                    "This process owns " + std::to_string(n_owned) +
                    " rows of the matrix, but " +
                    std::to_string(n_entries(vector)) +
                    " entries of the vector, which is distributed in another "
                    "way: call reinit() of the assembler on it."));
    }

    template <typename VectorType>
    void
    check_vectors(const VectorType   &dst,
                  const VectorType   &src,
                  const std::uint64_t n,
                  const std::uint64_t n_owned)
    {
      check_vector(src, n, n_owned);
      check_vector(dst, n, n_owned);
      AssertThrow(&dst != &src || n == 0,
                  dealii::ExcMessage("Source and destination of a product must "
                                     "be different vectors."));
    }
  } // namespace internal
} // namespace Tessella

#endif
