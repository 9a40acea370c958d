// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_discrete_field_h
#define tessella_forms_discrete_field_h

#include <cstddef>
#include <cstdint>
#include <memory>

// This file includes no deal.II header, so that .cu files can include it.

namespace Tessella
{
  template <int dim>
  class AgglomerationHandler;
  struct PolytopicDoFs;

  /**
   * Discrete function on polytopes, on whose values and gradients coefficients
   * may depend, for example the previous iterate of a nonlinear problem, or the
   * previous time step.
   *
   *     const DiscreteField<dim> u(agglomeration, solution);
   *     form.add_field(u); // PointData::value[0], PointData::gradient[0]
   *
   * <b>Several components.</b> A field is one component of a function (of which
   * DiscreteFunction has all), for example the velocity in direction x; a form
   * takes a field for each component that it reads:
   *
   *     for (unsigned int c = 0; c < dim; ++c)
   *       form.add_field({velocity_handler, velocity, c});
   *
   * <b>Vectors.</b> The object refers to handler and vector, which must outlive
   * it, and reads the vector when an assembly begins. The vector may be on the
   * host or on the device, whatever the backend is. If it is on the other side,
   * it is copied once per assembly (8 bytes per degree of freedom of all
   * components), so that on one process a loop with DeviceVector and
   * Backend::cuda copies nothing. On a mesh that is distributed over processes
   * the values of ghosts are exchanged when an assembly begins, on the host.
   *
   * <b>Spaces.</b> The polytopes must be those of the assembly; degrees and
   * numbers of components may differ from those of the space that is assembled.
   * A device evaluates fields whose degrees are those of that space; with other
   * ones the host's threads evaluate the form.
   *
   * Errors: a component that the handler does not have; in assembly, a vector
   * whose size differs from the number of degrees of freedom, or a
   * dealii::Vector on a mesh that is distributed over processes.
   */
  template <int dim>
  class DiscreteField
  {
  public:
    /// VectorType: dealii::Vector<double>,
    /// LinearAlgebra::distributed::Vector<double>, HostVector<double>,
    /// TrilinosWrappers::MPI::Vector or DeviceVector<double>.
    template <typename VectorType>
    DiscreteField(const AgglomerationHandler<dim> &handler,
                  const VectorType                &vector,
                  const unsigned int               component = 0);

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

    /// Coefficients of the basis, of all components, in host memory, valid
    /// until the vector changes.
    const double *
    host_values() const;

    /// Coefficients of the basis, of all components, in device memory; null if
    /// the vector is on the host, or the mesh is distributed over processes.
    const double *
    device_values() const;

    /// Number of coefficients of all components on this process.
    std::size_t
    size() const;

    /// The component of the function that this field is, and the number of
    /// components that the function has.
    unsigned int
    component() const;
    unsigned int
    n_components() const;

    /// Whether the degrees of all polytopes are those of another space on the
    /// same mesh.
    bool
    has_degrees_of(const PolytopicDoFs &dofs) const;

  private:
    struct Implementation;
    std::shared_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
