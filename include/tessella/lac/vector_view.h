// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_vector_view_h
#define tessella_lac_vector_view_h

#include <deal.II/base/config.h>

#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/base/compatibility.h>
#include <tessella/base/config.h>

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

DEAL_II_NAMESPACE_OPEN
#ifdef TESSELLA_HAVE_EPETRA
namespace TrilinosWrappers
{
  namespace MPI
  {
    class Vector;
  }
} // namespace TrilinosWrappers
#endif
#ifdef TESSELLA_HAVE_TPETRA
namespace LinearAlgebra
{
  namespace TpetraWrappers
  {
    template <typename Number, typename MemorySpace>
    class Vector;
  }
} // namespace LinearAlgebra
#endif
#ifdef DEAL_II_WITH_PETSC
namespace PETScWrappers
{
  class VectorBase;
}
#endif
DEAL_II_NAMESPACE_CLOSE

namespace Tessella
{
  template <typename Number>
  class DeviceVector;

  /**
   * Argument of functions that read a vector of degrees of freedom, of any of
   * these types, each of which converts to it: dealii::Vector,
   * LinearAlgebra::distributed::Vector, HostVector, DeviceVector, all of these
   * of double or float, TrilinosWrappers::MPI::Vector, and vectors of
   * PETScWrappers and LinearAlgebra::TpetraWrappers where they hold doubles.
   * Such functions exist once, and are called with the vector itself:
   *
   *     VectorTools::point_value(handler, solution, point, value);
   *
   * The view refers to the vector, which must outlive it. Of the vector it
   * needs the entries that the process owns, without ghosts. Vectors of doubles
   * in host memory are read in place; others are copied to the host first, once
   * per call.
   */
  class ConstVectorView
  {
  public:
    ConstVectorView(const dealii::Vector<double> &vector);
    ConstVectorView(const dealii::Vector<float> &vector);
    ConstVectorView(
      const dealii::LinearAlgebra::distributed::Vector<double> &vector);
    ConstVectorView(
      const dealii::LinearAlgebra::distributed::Vector<float> &vector);
    ConstVectorView(const DeviceVector<double> &vector);
    ConstVectorView(const DeviceVector<float> &vector);
#ifdef TESSELLA_HAVE_EPETRA
    ConstVectorView(const dealii::TrilinosWrappers::MPI::Vector &vector);
#endif
#ifdef TESSELLA_HAVE_TPETRA
    ConstVectorView(const dealii::LinearAlgebra::TpetraWrappers::
                      Vector<double, dealii::MemorySpace::Host> &vector);
#endif
#ifdef DEAL_II_WITH_PETSC
    ConstVectorView(const dealii::PETScWrappers::VectorBase &vector);
#endif
    /// A pointer, as in lists of pointers to vectors; it must not be null.
    template <
      typename VectorType,
      typename = std::enable_if_t<
        std::is_constructible<ConstVectorView, const VectorType &>::value>>
    ConstVectorView(const VectorType *vector)
      : ConstVectorView(*vector)
    {}

    /// Address of the entries that this process owns, in their order; either
    /// in the vector or in @p memory. Throws unless there are @p n_owned of
    /// them, and for vectors with ghost entries among the owned ones.
    const double *
    values(const std::size_t n_owned, std::vector<double> &memory) const
    {
      return read(vector, n_owned, memory);
    }

  private:
    const void *vector;
    const double *(*read)(const void *, std::size_t, std::vector<double> &);
  };

  /// The same for functions that write a vector. Unless they say that they
  /// resize it, its size and distribution must be those of the handler's
  /// degrees of freedom.
  class VectorView : public ConstVectorView
  {
  public:
    VectorView(dealii::Vector<double> &vector);
    VectorView(dealii::Vector<float> &vector);
    VectorView(dealii::LinearAlgebra::distributed::Vector<double> &vector);
    VectorView(dealii::LinearAlgebra::distributed::Vector<float> &vector);
    VectorView(DeviceVector<double> &vector);
    VectorView(DeviceVector<float> &vector);
#ifdef TESSELLA_HAVE_EPETRA
    VectorView(dealii::TrilinosWrappers::MPI::Vector &vector);
#endif
#ifdef TESSELLA_HAVE_TPETRA
    VectorView(dealii::LinearAlgebra::TpetraWrappers::
                 Vector<double, dealii::MemorySpace::Host> &vector);
#endif
#ifdef DEAL_II_WITH_PETSC
    VectorView(dealii::PETScWrappers::VectorBase &vector);
#endif
    /// A pointer, as in lists of pointers to vectors; it must not be null.
    template <typename VectorType,
              typename = std::enable_if_t<
                std::is_constructible<VectorView, VectorType &>::value>>
    VectorView(VectorType *vector)
      : VectorView(*vector)
    {}

    /// Address to which all @p n_owned entries that this process owns have to
    /// be written; finish() must follow, with the same @p memory. Errors: as
    /// for ConstVectorView::values().
    double *
    start(const std::size_t n_owned, std::vector<double> &memory) const
    {
      return start_writing(vector, n_owned, memory);
    }
    /// Copies what was written to @p memory into the vector.
    void
    finish(const std::vector<double> &memory) const
    {
      finish_writing(vector, memory);
    }

    /// Gives the vector the size and the distribution of these indices. A
    /// dealii::Vector gets all of them. Collective.
    void
    reinit(const dealii::IndexSet &locally_owned,
           const MPI_Comm          communicator) const
    {
      reinit_vector(vector, locally_owned, communicator);
    }

  private:
    void *vector;
    double *(*start_writing)(void *, std::size_t, std::vector<double> &);
    void (*finish_writing)(void *, const std::vector<double> &);
    void (*reinit_vector)(void *, const dealii::IndexSet &, MPI_Comm);
  };

  /// Argument that is one vector or a list of vectors:
  /// solution, {solution, other}, {&solution, &other}, or a std::vector of
  /// pointers to vectors. View: ConstVectorView or VectorView.
  template <typename View>
  class VectorViewList
  {
  public:
    VectorViewList() = default;
    VectorViewList(std::initializer_list<View> list)
      : views(list)
    {}
    template <typename VectorType>
    VectorViewList(const std::vector<VectorType *> &list)
      : views(list.begin(), list.end())
    {}
    template <typename VectorType,
              typename = std::enable_if_t<
                std::is_convertible<VectorType &, View>::value>>
    VectorViewList(VectorType &vector)
      : views(1, View(vector))
    {}
    template <typename VectorType,
              typename = std::enable_if_t<
                std::is_convertible<const VectorType &, View>::value>>
    VectorViewList(const VectorType &vector)
      : views(1, View(vector))
    {}

    /// Views that write, where views that read are wanted.
    template <typename OtherView,
              typename = std::enable_if_t<
                std::is_convertible<const OtherView &, View>::value>>
    VectorViewList(const VectorViewList<OtherView> &list)
    {
      for (std::size_t i = 0; i < list.size(); ++i)
        views.push_back(list[i]);
    }

    std::size_t
    size() const
    {
      return views.size();
    }
    bool
    empty() const
    {
      return views.empty();
    }
    const View &
    operator[](const std::size_t i) const
    {
      return views[i];
    }

  private:
    std::vector<View> views;
  };

  using ConstVectorViews = VectorViewList<ConstVectorView>;
  using VectorViews      = VectorViewList<VectorView>;
} // namespace Tessella

#endif
