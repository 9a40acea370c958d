// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_device_vector_h
#define tessella_lac_device_vector_h

#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/types.h>

#include <deal.II/lac/vector.h>
#include <deal.II/lac/vector_type_traits.h>

#include <tessella/base/compatibility.h>
#include <tessella/base/config.h>
#include <tessella/base/epetra.h>

#include <cstddef>
#include <ostream>
#include <type_traits>
#include <vector>

namespace Tessella
{
  /**
   * Vector in the memory of a CUDA device. It has the interface that deal.II's
   * iterative solvers expect, so that they run on the device without a change:
   *
   *     DeviceBlockMatrix<double> matrix;
   *     DeviceVector<double>      rhs;
   *     assembler.reinit(matrix, rhs);
   *     assembler.assemble(form, matrix, rhs);
   *     DeviceVector<double> solution;
   *     solution.reinit(rhs);
   *     SolverCG<DeviceVector<double>> solver(control);
   *     solver.solve(matrix, solution, rhs, PreconditionIdentity());
   *
   * @p Number is double or float.
   *
   * <b>Storage.</b> One array on the device that was current when it was
   * allocated; reinit() to a smaller or equal size keeps it. begin() and end()
   * are addresses in device memory, for kernels. There is no access to single
   * entries, since each access would need a copy: use copy_from() and
   * copy_to().
   *
   * <b>Cost.</b> Operations run at the speed of the device's memory, in the
   * default stream, and return before they are complete. Operations with a
   * result (products, norms, all_zero()) wait for it, about 10 microseconds.
   *
   * <b>Same input, same bits.</b> Sums are computed from integer parts of the
   * entries, or of products rounded to double precision. Results are therefore
   * the same to the last bit for every order of summation, that is, in every
   * run, on every device, for every number of processes, and the same as those
   * of HostVector. Entries that are smaller than the largest one by a factor of
   * 2^96 do not contribute; entries and products from 2^991, 1e298, on count as
   * infinite.
   *
   * <b>Many processes.</b> reinit() with the indices that a process owns
   * creates a distributed vector, of which each process has these entries, on
   * its own device. begin(), end() and copies to and from the host refer to
   * these entries. There are no ghost entries: DeviceBlockMatrix exchanges the
   * entries that it needs. Reductions are collective.
   *
   * Errors, as exceptions: a build without CUDA or a machine without a device
   * (when a vector is constructed), too little memory on the device, vectors of
   * different sizes.
   */
  template <typename Number>
  class DeviceVector : public Subscriptor
  {
  public:
    static_assert(std::is_same<Number, double>::value ||
                    std::is_same<Number, float>::value,
                  "DeviceVector holds double or float.");

    using value_type = Number;
    using real_type  = Number;
    using size_type  = dealii::types::global_dof_index;

    /// Creates an empty vector.
    DeviceVector();
    /// Creates a vector of zeros.
    explicit DeviceVector(const size_type size);
    explicit DeviceVector(const dealii::Vector<Number> &vector);
    DeviceVector(const DeviceVector &vector);
    DeviceVector(DeviceVector &&vector) noexcept;
    ~DeviceVector();

    /// Copies entries, size and distribution of @p vector.
    DeviceVector &
    operator=(const DeviceVector &vector);
    DeviceVector &
    operator=(DeviceVector &&vector) noexcept;
    /// Copies a vector of the other precision.
    template <typename OtherNumber>
    DeviceVector &
    operator=(const DeviceVector<OtherNumber> &vector);
    /// Sets all entries.
    DeviceVector &
    operator=(const Number value);

    /// Sets the size, and all entries to zero unless @p omit_zeroing_entries is
    /// set.
    void
    reinit(const size_type size, const bool omit_zeroing_entries = false);
    /// Makes this a distributed vector. The indices that a process owns are
    /// consecutive and numbered process by process. Collective.
    void
    reinit(const dealii::IndexSet &locally_owned,
           const MPI_Comm          communicator,
           const bool              omit_zeroing_entries = false);
    /// Sets the size and distribution of @p vector.
    template <typename OtherNumber>
    void
    reinit(const DeviceVector<OtherNumber> &vector,
           const bool                       omit_zeroing_entries = false);
    void
    swap(DeviceVector &vector) noexcept;

    // ---- from and to the host; sizes change with the source. If the target is
    // a distributed vector, these are the entries of this process.
    void
    copy_from(const std::vector<Number> &values);
    template <typename OtherNumber>
    void
    copy_from(const dealii::Vector<OtherNumber> &vector);
#ifdef TESSELLA_HAVE_EPETRA
    /// Copies the distribution of @p vector, too.
    void
    copy_from(const dealii::TrilinosWrappers::MPI::Vector &vector);
#endif
    void
    copy_to(std::vector<Number> &values) const;
    template <typename OtherNumber>
    void
    copy_to(dealii::Vector<OtherNumber> &vector) const;
#ifdef TESSELLA_HAVE_EPETRA
    /// @p vector must have the size and distribution of this one.
    void
    copy_to(dealii::TrilinosWrappers::MPI::Vector &vector) const;
#endif

    size_type
    size() const
    {
      return n_global;
    }
    bool
    empty() const
    {
      return n_global == 0;
    }
    /// Number of entries of this process.
    size_type
    locally_owned_size() const
    {
      return n;
    }
    bool
    in_local_range(const size_type index) const
    {
      return index >= first && index < first + n;
    }
    dealii::IndexSet
    locally_owned_elements() const;
    /// Communicator of the distribution; only this process belongs to it if the
    /// vector is not distributed.
    MPI_Comm
    get_mpi_communicator() const
    {
      return communicator;
    }
    /// Does nothing; exists for compatibility with other vectors.
    void
    compress(const dealii::VectorOperation::values =
               dealii::VectorOperation::unknown) const
    {}
    void
    update_ghost_values() const
    {}
    void
    zero_out_ghost_values() const
    {}
    bool
    has_ghost_elements() const
    {
      return false;
    }

    /// Address of the first entry in device memory.
    Number *
    begin()
    {
      return values;
    }
    const Number *
    begin() const
    {
      return values;
    }
    Number *
    end()
    {
      return values + n;
    }
    const Number *
    end() const
    {
      return values + n;
    }

    // ---- each function sets this vector to the expression in its comment
    DeviceVector &
    operator*=(const Number factor);
    DeviceVector &
    operator/=(const Number factor)
    {
      return *this *= Number(1) / factor;
    }
    DeviceVector &
    operator+=(const DeviceVector &V)
    {
      sadd(1, 1, V);
      return *this;
    }
    DeviceVector &
    operator-=(const DeviceVector &V)
    {
      sadd(1, -1, V);
      return *this;
    }
    /// this + a, entry by entry
    void
    add(const Number a);
    /// this + a V
    void
    add(const Number a, const DeviceVector &V)
    {
      sadd(1, a, V);
    }
    /// this + a V + b W
    void
    add(const Number        a,
        const DeviceVector &V,
        const Number        b,
        const DeviceVector &W);
    /// s this + V
    void
    sadd(const Number s, const DeviceVector &V)
    {
      sadd(s, 1, V);
    }
    /// s this + a V
    void
    sadd(const Number s, const Number a, const DeviceVector &V);
    /// a V
    void
    equ(const Number a, const DeviceVector &V);
    /// this times V, entry by entry
    void
    scale(const DeviceVector &V);

    // ---- reductions
    Number
    operator*(const DeviceVector &V) const;
    /// Sets this = this + a V and returns this * W.
    Number
    add_and_dot(const Number a, const DeviceVector &V, const DeviceVector &W);
    real_type
    norm_sqr() const
    {
      return *this * *this;
    }
    real_type
    l1_norm() const;
    real_type
    l2_norm() const;
    real_type
    linfty_norm() const;
    Number
    mean_value() const;
    bool
    all_zero() const;
    bool
    operator==(const DeviceVector &V) const;
    bool
    operator!=(const DeviceVector &V) const
    {
      return !(*this == V);
    }

    /// Prints the entries of this process, through a copy to the host.
    void
    print(std::ostream      &out,
          const unsigned int precision  = 3,
          const bool         scientific = true,
          const bool         across     = true) const;

    /// Memory in bytes, including memory on the device.
    std::size_t
    memory_consumption() const;

  private:
    /// Whether @p here is true on all processes of the distribution.
    bool
    on_all(const bool here) const;
    void
    check_size(const DeviceVector &vector) const;

    void
    resize(const size_type size, const bool omit_zeroing_entries);
    /// Gives a copy the size of its source, unless this vector is distributed.
    void
    reinit_for_copy(const size_type size);

    Number   *values   = nullptr;
    size_type n        = 0; ///< number of entries on this process
    size_type capacity = 0;
    /// Number of all entries, and global index of the first one on this
    /// process.
    size_type n_global = 0, first = 0;
    MPI_Comm  communicator = MPI_COMM_SELF;
    bool      distributed  = false;
  };



  template <typename Number>
  inline void
  swap(DeviceVector<Number> &u, DeviceVector<Number> &v) noexcept
  {
    u.swap(v);
  }
} // namespace Tessella

DEAL_II_NAMESPACE_OPEN
/// The vector may be distributed.
template <typename Number>
struct is_serial_vector<Tessella::DeviceVector<Number>> : std::false_type
{};
DEAL_II_NAMESPACE_CLOSE

#endif
