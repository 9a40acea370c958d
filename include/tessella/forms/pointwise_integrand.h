// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_integrand_h
#define tessella_forms_pointwise_integrand_h

#include <tessella/forms/pointwise_terms.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

// This file includes no deal.II header, so that .cu files can include it.

namespace Tessella
{
  /// Quadrature points inside a polytope, on facets between two polytopes or on
  /// the boundary.
  enum class PointwiseRegion
  {
    volume,
    interior_facet,
    boundary_facet
  };

  /// Kernels of an integrand that was compiled for a device.
  template <int dim>
  class DevicePointwiseKernels;

  /**
   * Integrand of a PointwiseOperator: fluxes as functions of discrete fields,
   * for many points at once. FunctorIntegrand makes one from a functor that
   * works on one point, see PointwiseTraits; classes of a user may derive from
   * this class directly, for example to call a library of material laws.
   *
   * <b>Arrays.</b> Entry c (dim + 1) + r of an array of pointers belongs to row
   * r of component c, where row 0 is the value and rows 1 .. dim are the
   * derivatives; each points to one double for each point. Components of all
   * fields are numbered one after the other. Pointers of rows that
   * structure() does not ask for are null. Results hold zeros when a function
   * is called.
   */
  template <int dim>
  class PointwiseIntegrand
  {
  public:
    virtual ~PointwiseIntegrand() = default;

    struct Structure
    {
      /// Number of components of each field.
      std::vector<unsigned int> field_components;
      /// Number of components of the test functions.
      unsigned int n_components = 1;
      /// Whether there are terms in a region.
      bool volume = true, interior_facets = true, boundary_facets = true;
      /// Rows of the fields that are read and rows of test functions that are
      /// written, see PointwiseRows.
      unsigned int volume_input  = PointwiseRows::all,
                   volume_output = PointwiseRows::all,
                   facet_input   = PointwiseRows::all,
                   facet_output  = PointwiseRows::all;
      /// Number of arrays of a side: (dim + 1) times that of components.
      unsigned int
      n_inputs() const
      {
        unsigned int n = 0;
        for (const unsigned int m : field_components)
          n += m;
        return (dim + 1) * n;
      }
      unsigned int
      n_outputs() const
      {
        return (dim + 1) * n_components;
      }
    };

    virtual Structure
    structure() const = 0;

    /// Order of the polynomials that are integrated exactly beyond 2 p, where p
    /// is the highest degree of a field or of the test functions on a polytope
    /// or facet. A flux of degree k in the fields needs (k - 1) p.
    virtual unsigned int
    coefficient_order() const
    {
      return order;
    }
    void
    set_coefficient_order(const unsigned int value)
    {
      order = value;
    }

    /// Time of the points, OperatorPoint::t.
    void
    set_time(const double t)
    {
      time = t;
    }
    double
    get_time() const
    {
      return time;
    }

    /// Boundary ids for which the integrand has conditions of their own. An id
    /// that the mesh does not have is then an error of the operator, since it
    /// is mostly a slip of the pen; without ids nothing is checked.
    void
    set_boundary_ids(const std::vector<unsigned int> &ids)
    {
      checked_ids = ids;
    }
    const std::vector<unsigned int> &
    boundary_ids() const
    {
      return checked_ids;
    }

    /**
     * Terms at @p n points of a region. @p in[s] has the fields of side s and
     * @p out[s] the terms for the test functions of side s; only side 0 exists
     * except on facets between polytopes. Thread safe.
     */
    virtual void
    evaluate(const PointwiseRegion       region,
             const unsigned int          n,
             const OperatorPoint<dim>   *points,
             const double *const *const *in,
             double *const *const       *out) const = 0;

    /**
     * Derivative of the terms in the direction of a change of the fields, whose
     * rows are in @p direction; null pointers stand for zero. The default
     * throws: an integrand without it has a residual only.
     */
    virtual void
    evaluate_tangent(const PointwiseRegion       region,
                     const unsigned int          n,
                     const OperatorPoint<dim>   *points,
                     const double *const *const *in,
                     const double *const *const *direction,
                     double *const *const       *out) const;

    /**
     * Derivatives of the terms with respect to rows of the fields: entry
     * [(s n_inputs + i) n_sides n_outputs + t n_outputs + o] of @p out is the
     * derivative of output o of side t with respect to input i of side s, where
     * n_inputs and n_outputs count all rows of one side; null for entries that
     * are not wanted. The default calls evaluate_tangent() with unit
     * directions.
     */
    virtual void
    evaluate_jacobian(const PointwiseRegion       region,
                      const unsigned int          n,
                      const OperatorPoint<dim>   *points,
                      const double *const *const *in,
                      double *const              *out) const;

    /// Kernels for a device; null if the integrand has none.
    virtual std::shared_ptr<const DevicePointwiseKernels<dim>>
    device_kernels() const
    {
      return nullptr;
    }

    /// Reason why there are no device kernels, for reports.
    virtual std::string
    why_not_on_device() const
    {
      return "the integrand has no device code";
    }

  private:
    double                    time  = 0.;
    unsigned int              order = 2;
    std::vector<unsigned int> checked_ids;
  };
} // namespace Tessella

#endif
