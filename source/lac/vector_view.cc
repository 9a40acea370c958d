// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/lac/vector_view.h>

#include <algorithm>
#include <string>
#include <type_traits>

#ifdef DEAL_II_WITH_PETSC
#  include <deal.II/lac/petsc_vector.h>
#endif

#include "petsc_traits.h"
#include "tpetra_traits.h"
#include "vector_access.h"

namespace Tessella
{
  namespace
  {
    void
    check_number_of_entries(const std::size_t n_here, const std::size_t n_owned)
    {
      AssertThrow(n_here == n_owned,
                  dealii::ExcMessage(
                    "The vector holds " + std::to_string(n_here) +
                    " entries on this process, but the handler has " +
                    std::to_string(n_owned) +
                    " degrees of freedom; reinit() it with "
                    "locally_owned_dofs()."));
    }

    template <typename Vector>
    void
    reinit_vector(Vector                 &vector,
                  const dealii::IndexSet &locally_owned,
                  const MPI_Comm          communicator)
    {
      vector.reinit(locally_owned, communicator);
    }
    template <typename Number>
    void
    reinit_vector(dealii::Vector<Number> &vector,
                  const dealii::IndexSet &locally_owned,
                  const MPI_Comm          communicator)
    {
      const unsigned int n =
        dealii::Utilities::MPI::n_mpi_processes(communicator);
      AssertThrow(n == 1,
                  dealii::ExcMessage(
                    "A Vector lives on one process, but the mesh is "
                    "distributed over " +
                    std::to_string(n) +
                    ": use TrilinosWrappers::MPI::Vector or "
                    "LinearAlgebra::distributed::Vector."));
      vector.reinit(locally_owned.size());
    }

    template <typename Vector>
    void
    reinit_view(void                   *vector,
                const dealii::IndexSet &locally_owned,
                const MPI_Comm          communicator)
    {
      reinit_vector(*static_cast<Vector *>(vector),
                    locally_owned,
                    communicator);
    }
#ifdef DEAL_II_WITH_PETSC
    template <>
    void
    reinit_view<dealii::PETScWrappers::VectorBase>(
      void                   *vector,
      const dealii::IndexSet &locally_owned,
      const MPI_Comm          communicator)
    {
      auto *const parallel = dynamic_cast<dealii::PETScWrappers::MPI::Vector *>(
        static_cast<dealii::PETScWrappers::VectorBase *>(vector));
      AssertThrow(parallel != nullptr,
                  ExcUserInput(
                    "A vector of PETSc that is to be resized must be "
                    "a PETScWrappers::MPI::Vector."));
      parallel->reinit(locally_owned, communicator);
    }
#endif

    /// Access to the entries of vectors in host memory that hold @p Vector's
    /// numbers: copies unless these are doubles.
    template <typename Vector>
    struct Access
    {
      static constexpr bool in_place =
        std::is_same<typename Vector::value_type, double>::value;

      static const double *
      read(const void *vector, const std::size_t n, std::vector<double> &memory)
      {
        const auto *const values =
          internal::vector_data(*static_cast<const Vector *>(vector), n);
        if constexpr (in_place)
          return values;
        else
          {
            memory.assign(values, values + n);
            return memory.data();
          }
      }

      static double *
      start(void *vector, const std::size_t n, std::vector<double> &memory)
      {
        auto *const values =
          internal::vector_data(*static_cast<Vector *>(vector), n);
        if constexpr (in_place)
          return values;
        else
          {
            memory.resize(n);
            return memory.data();
          }
      }

      static void
      finish(void *vector, const std::vector<double> &memory)
      {
        if constexpr (!in_place)
          {
            auto *const values =
              internal::vector_data(*static_cast<Vector *>(vector),
                                    memory.size());
            for (std::size_t i = 0; i < memory.size(); ++i)
              values[i] = static_cast<typename Vector::value_type>(memory[i]);
          }
      }
    };

    template <typename Number>
    struct Access<DeviceVector<Number>>
    {
      static const double *
      read(const void *vector, const std::size_t n, std::vector<double> &memory)
      {
        const auto &source = *static_cast<const DeviceVector<Number> *>(vector);
        check_number_of_entries(source.locally_owned_size(), n);
        std::vector<Number> values;
        source.copy_to(values);
        memory.assign(values.begin(), values.end());
        return memory.data();
      }

      static double *
      start(void *vector, const std::size_t n, std::vector<double> &memory)
      {
        check_number_of_entries(
          static_cast<DeviceVector<Number> *>(vector)->locally_owned_size(), n);
        memory.resize(n);
        return memory.data();
      }

      static void
      finish(void *vector, const std::vector<double> &memory)
      {
        static_cast<DeviceVector<Number> *>(vector)->copy_from(
          std::vector<Number>(memory.begin(), memory.end()));
      }
    };

#ifdef TESSELLA_HAVE_TPETRA
    template <>
    struct Access<dealii::LinearAlgebra::TpetraWrappers::Vector<double>>
    {
      using Vector = dealii::LinearAlgebra::TpetraWrappers::Vector<double>;

      static const double *
      read(const void *vector, const std::size_t n, std::vector<double> &)
      {
        const Vector &source = *static_cast<const Vector *>(vector);
        check(source, n);
        return source.trilinos_vector()
          .getLocalViewHost(Tpetra::Access::ReadOnly)
          .data();
      }

      static double *
      start(void *vector, const std::size_t n, std::vector<double> &)
      {
        Vector &destination = *static_cast<Vector *>(vector);
        check(destination, n);
        return internal::VectorTraits<Vector>::values(destination);
      }

      static void
      finish(void *, const std::vector<double> &)
      {}

    private:
      static void
      check(const Vector &vector, const std::size_t n)
      {
        AssertThrow(!vector.has_ghost_elements(),
                    dealii::ExcMessage(
                      "The vector has ghost entries, but one without is "
                      "needed: reinit() it with locally_owned_dofs() alone, "
                      "and assign the other one to it."));
        check_number_of_entries(vector.locally_owned_size(), n);
      }
    };
#endif

#ifdef DEAL_II_WITH_PETSC
    template <>
    struct Access<dealii::PETScWrappers::VectorBase>
    {
#  ifdef TESSELLA_HAVE_PETSC
      using Vector = dealii::PETScWrappers::VectorBase;

      static const double *
      read(const void *vector, const std::size_t n, std::vector<double> &memory)
      {
        const Vector &source = *static_cast<const Vector *>(vector);
        check(source, n);
        const double *values = nullptr;
        const Vec     vec    = static_cast<const Vec &>(source);
        internal::check_petsc(VecGetArrayRead(vec, &values));
        memory.assign(values, values + n);
        internal::check_petsc(VecRestoreArrayRead(vec, &values));
        return memory.data();
      }

      static double *
      start(void *vector, const std::size_t n, std::vector<double> &memory)
      {
        check(*static_cast<const Vector *>(vector), n);
        memory.resize(n);
        return memory.data();
      }

      static void
      finish(void *vector, const std::vector<double> &memory)
      {
        const Vec vec =
          static_cast<const Vec &>(*static_cast<const Vector *>(vector));
        double *values = nullptr;
        internal::check_petsc(VecGetArray(vec, &values));
        std::copy(memory.begin(), memory.end(), values);
        internal::check_petsc(VecRestoreArray(vec, &values));
      }

    private:
      static void
      check(const Vector &vector, const std::size_t n)
      {
        AssertThrow(!vector.has_ghost_elements(),
                    dealii::ExcMessage(
                      "The vector has ghost entries, but one without is "
                      "needed: reinit() it with locally_owned_dofs() alone, "
                      "and assign the other one to it."));
        check_number_of_entries(vector.locally_owned_size(), n);
      }
#  else
      static double *
      start(const void *, const std::size_t, std::vector<double> &)
      {
        AssertThrow(false,
                    ExcUserInput("Vectors of PETSc are supported where PETSc "
                                 "was configured for real numbers in double "
                                 "precision, and here it was not."));
        return nullptr;
      }
      static const double *
      read(const void *vector, const std::size_t n, std::vector<double> &memory)
      {
        return start(vector, n, memory);
      }
      static void
      finish(void *, const std::vector<double> &)
      {}
#  endif
    };
#endif
  } // namespace



#define TESSELLA_DEFINE_VIEWS(...)                            \
  ConstVectorView::ConstVectorView(const __VA_ARGS__ &vector) \
    : vector(&vector)                                         \
    , read(&Access<__VA_ARGS__>::read)                        \
  {}                                                          \
  VectorView::VectorView(__VA_ARGS__ &vector)                 \
    : ConstVectorView(vector)                                 \
    , vector(&vector)                                         \
    , start_writing(&Access<__VA_ARGS__>::start)              \
    , finish_writing(&Access<__VA_ARGS__>::finish)            \
    , reinit_vector(&reinit_view<__VA_ARGS__>)                \
  {}

  TESSELLA_DEFINE_VIEWS(dealii::Vector<double>)
  TESSELLA_DEFINE_VIEWS(dealii::Vector<float>)
  TESSELLA_DEFINE_VIEWS(dealii::LinearAlgebra::distributed::Vector<double>)
  TESSELLA_DEFINE_VIEWS(dealii::LinearAlgebra::distributed::Vector<float>)
  TESSELLA_DEFINE_VIEWS(DeviceVector<double>)
  TESSELLA_DEFINE_VIEWS(DeviceVector<float>)
#ifdef TESSELLA_HAVE_EPETRA
  TESSELLA_DEFINE_VIEWS(dealii::TrilinosWrappers::MPI::Vector)
#endif
#ifdef TESSELLA_HAVE_TPETRA
  TESSELLA_DEFINE_VIEWS(dealii::LinearAlgebra::TpetraWrappers::Vector<double>)
#endif
#ifdef DEAL_II_WITH_PETSC
  TESSELLA_DEFINE_VIEWS(dealii::PETScWrappers::VectorBase)
#endif
#undef TESSELLA_DEFINE_VIEWS
} // namespace Tessella
