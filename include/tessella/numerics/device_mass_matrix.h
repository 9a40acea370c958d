// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_device_mass_matrix_h
#define tessella_numerics_device_mass_matrix_h

#include <tessella/lac/device_vector.h>
#include <tessella/numerics/mass_matrix.h>

#include <memory>

namespace Tessella
{
  /**
   * MassMatrix for vectors on a CUDA device. The host computes the blocks; the
   * device has one for all components of a polytope, and its inverse: 16 n^2
   * bytes for each polytope with n functions, and two vectors. Each function is
   * one kernel, or two, that reads the blocks once.
   *
   * The handler must outlive the object and keep its degrees of freedom.
   * Vectors are those of PointwiseOperator; the objects serve one process or
   * many. Errors: those of MassMatrix and of DeviceVector; a block that is
   * singular.
   */
  template <int dim>
  class DeviceMassMatrix
  {
  public:
    explicit DeviceMassMatrix(const AgglomerationHandler<dim> &handler);
    ~DeviceMassMatrix();

    /// Sets @p vector to factor M^{-1} vector.
    void
    apply_inverse(const double factor, DeviceVector<double> &vector) const;

    /// Sets @p d to alpha d + beta M^{-1} r and adds weight d to @p x; d is
    /// not read if alpha = 0. One kernel.
    void
    advance(const double                alpha,
            const double                beta,
            const double                weight,
            const DeviceVector<double> &r,
            DeviceVector<double>       &d,
            DeviceVector<double>       &x) const;

    /// Adds factor M src to @p dst.
    void
    vmult_add(const double                factor,
              DeviceVector<double>       &dst,
              const DeviceVector<double> &src) const;

    /// Adds factor M to @p matrix, which is in the memory of the host and has
    /// the rows of the handler.
    void
    add_to(const double factor, HostBlockMatrix<double> &matrix) const
    {
      mass.add_to(factor, matrix);
    }

  private:
    const MassMatrix<dim> mass;
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
