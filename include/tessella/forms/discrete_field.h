// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_discrete_field_h
#define tessella_forms_discrete_field_h

#include <tessella/base/config.h>

#include <cstddef>
#include <cstdint>
#include <memory>

// This file includes no deal.II header, so that .cu files can include it.

namespace dealii
{
  template <typename Number>
  class Vector;
#ifdef TESSELLA_HAVE_EPETRA
  namespace TrilinosWrappers
  {
    namespace MPI
    {
      class Vector;
    }
  } // namespace TrilinosWrappers
#endif
} // namespace dealii

namespace Tessella
{
  template <int dim>
  class AgglomerationHandler;
  template <typename Number>
  class DeviceVector;

  /**
   * Discrete function on polytopes, on whose values and gradients coefficients
   * may depend, for example the previous iterate of a nonlinear problem, or the
   * previous time step.
   *
   *     const DiscreteField<dim> u(agglomeration, solution);
   *     form.add_field(u); // PointData::value[0], PointData::gradient[0]
   *
   * The object refers to handler and vector, which must outlive it, and reads
   * the vector when an assembly begins. The vector may be on the host or on the
   * device, whatever the backend is. If it is on the other side, it is copied
   * once per assembly (8 bytes per degree of freedom), so that a loop with
   * DeviceVector and Backend::cuda copies nothing.
   *
   * The polytopes must be those of the assembly. Errors, in assembly: a vector
   * whose size differs from the number of degrees of freedom, or a vector that
   * is distributed over several processes.
   */
  template <int dim>
  class DiscreteField
  {
  public:
    DiscreteField(const AgglomerationHandler<dim> &handler,
                  const dealii::Vector<double>    &vector);
#ifdef TESSELLA_HAVE_EPETRA
    DiscreteField(const AgglomerationHandler<dim>             &handler,
                  const dealii::TrilinosWrappers::MPI::Vector &vector);
#endif
    DiscreteField(const AgglomerationHandler<dim> &handler,
                  const DeviceVector<double>      &vector);

    /// Reads the present values of the vector; called when an assembly begins.
    void
    prepare() const;

    /**
     * Values and gradients on the host at points in given sub-cells. @p x and
     * @p gradients have dim arrays each. Thread safe. Cost: as for basis
     * functions of the polytope and their gradients.
     */
    void
    evaluate(const unsigned int   n_points,
             const unsigned int  *subcell,
             const double *const *x,
             double              *values,
             double *const       *gradients) const;

    /// Coefficients of the basis in host memory, valid until the vector
    /// changes.
    const double *
    host_values() const;

    /// Coefficients of the basis in device memory; null if the vector is on the
    /// host.
    const double *
    device_values() const;

    std::size_t
    size() const;

  private:
    struct Implementation;
    std::shared_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
