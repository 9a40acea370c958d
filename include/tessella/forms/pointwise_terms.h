// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_terms_h
#define tessella_forms_pointwise_terms_h

#include <tessella/grid/mesh_types.h>
#include <tessella/portable/dual.h>
#include <tessella/portable/has_member.h>
#include <tessella/portable/host_device.h>

// Arguments and results of the functors of PointwiseOperator, in plain types
// for host and device. This file uses neither deal.II nor the standard library,
// since it is compiled at run time as well (NVRTC).

namespace Tessella
{
  /// Rows of test functions or of discrete fields that a functor uses: bits of
  /// volume_input and the like, see PointwiseTraits.
  namespace PointwiseRows
  {
    constexpr unsigned int none = 0, values = 1, gradients = 2, all = 3;
  } // namespace PointwiseRows

  /**
   * Data of one quadrature point that the functor of a PointwiseOperator may
   * use beside the fields.
   *
   * On a facet between two polytopes, index 0 of the arrays belongs to side 0
   * of its interface and index 1 to side 1, whichever polytope computes its
   * rows: both compute the same flux with the same bits. Inside polytopes and
   * on the boundary only index 0 is set.
   */
  template <int dim>
  struct OperatorPoint
  {
    /// Position; at periodic boundaries in the coordinates of side 0.
    double x[dim];
    /// Time, as set by PointwiseIntegrand::set_time().
    double t;
    /// Unit normal from side 0 to side 1, outward on the boundary; zero inside
    /// polytopes.
    double normal[dim];
    /// Penalty of the test space: the larger one of the geometric factors of
    /// both sides, PolytopicDoFs::penalty_factor, which scale like p^2 / h.
    /// Zero inside polytopes.
    double penalty;
    /// Length of the polytopes: measure^(1/dim).
    double h[2];
    /// Index of the polytopes and sub-cells in the flat view of this process,
    /// and deal.II's material id of these sub-cells.
    unsigned int polytope[2], subcell[2], material[2];
    /// Facet of the flat view; invalid_index inside polytopes.
    unsigned int facet;
    /// Boundary id on the boundary; invalid_index elsewhere.
    unsigned int boundary_id;
  };

  /**
   * Values and gradients of @p n scalar functions at a point: of the components
   * of all fields of an operator one after the other, or, as a result, what is
   * multiplied by the values and gradients of the test functions of each
   * component. Entries that the functor has not asked for are not set.
   */
  template <int dim, int n, typename Number>
  struct PointwiseTerms
  {
    Number value[n];
    Number gradient[n][dim];
  };

  /// Numbers of components of the fields of an operator.
  template <int... n>
  struct FieldComponents
  {
    static constexpr int n_fields     = sizeof...(n);
    static constexpr int n_components = (0 + ... + n);

    /// Number of components of field @p f.
    TESSELLA_HOST_DEVICE static constexpr int
    components(const int f)
    {
      constexpr int table[] = {n...};
      return table[f];
    }
    /// First component of field @p f among those of all fields; that of
    /// n_fields is n_components.
    TESSELLA_HOST_DEVICE static constexpr int
    first(const int f)
    {
      int result = 0;
      for (int i = 0; i < f; ++i)
        result += components(i);
      return result;
    }
  };

  /// Functions of doubles with the names of those of Dual, for functors that
  /// are templates over the number type: `using namespace PointwiseMath;`.
  namespace PointwiseMath
  {
    using ::acos;
    using ::acosh;
    using ::asin;
    using ::asinh;
    using ::atan;
    using ::atan2;
    using ::atanh;
    using ::cbrt;
    using ::cos;
    using ::cosh;
    using ::erf;
    using ::erfc;
    using ::exp;
    using ::fabs;
    using ::log;
    using ::pow;
    using ::sin;
    using ::sinh;
    using ::sqrt;
    using ::tan;
    using ::tanh;

    /// The larger one of two numbers, the first one if they are equal. Unlike
    /// CUDA's max(), it is not finite if one of them is not, so that errors are
    /// noticed on every backend.
    template <typename Number>
    TESSELLA_HOST_DEVICE inline Number
    maximum(const Number &a, const Number &b)
    {
      return a >= b || a != a ? a : b;
    }
    /// The smaller one of two numbers, likewise.
    template <typename Number>
    TESSELLA_HOST_DEVICE inline Number
    minimum(const Number &a, const Number &b)
    {
      return a <= b || a != a ? a : b;
    }
  } // namespace PointwiseMath



  namespace internal
  {
    TESSELLA_HAS_MEMBER(HasVolumeTerms,
                        volume(make<const OperatorPoint<dim> &>(),
                               make<const In &>(),
                               make<Out &>()),
                        int dim,
                        typename In,
                        typename Out)
    TESSELLA_HAS_MEMBER(HasInteriorFacetTerms,
                        interior_facet(make<const OperatorPoint<dim> &>(),
                                       make<const In &>(),
                                       make<const In &>(),
                                       make<Out &>(),
                                       make<Out &>()),
                        int dim,
                        typename In,
                        typename Out)
    TESSELLA_HAS_MEMBER(HasBoundaryFacetTerms,
                        boundary_facet(make<const OperatorPoint<dim> &>(),
                                       make<const In &>(),
                                       make<Out &>()),
                        int dim,
                        typename In,
                        typename Out)
    TESSELLA_HAS_MEMBER(HasVolumeDerivative,
                        volume_derivative(make<const OperatorPoint<dim> &>(),
                                          make<const In &>(),
                                          make<const In &>(),
                                          make<Out &>()),
                        int dim,
                        typename In,
                        typename Out)
    TESSELLA_HAS_MEMBER(
      HasInteriorFacetDerivative,
      interior_facet_derivative(make<const OperatorPoint<dim> &>(),
                                make<const In &>(),
                                make<const In &>(),
                                make<const In &>(),
                                make<const In &>(),
                                make<Out &>(),
                                make<Out &>()),
      int dim,
      typename In,
      typename Out)
    TESSELLA_HAS_MEMBER(
      HasBoundaryFacetDerivative,
      boundary_facet_derivative(make<const OperatorPoint<dim> &>(),
                                make<const In &>(),
                                make<const In &>(),
                                make<Out &>()),
      int dim,
      typename In,
      typename Out)

#define TESSELLA_ROWS_OF(name)                                               \
  template <typename F>                                                      \
  TESSELLA_HOST_DEVICE constexpr auto name##_of(int)->decltype(F::name + 0u) \
  {                                                                          \
    return F::name;                                                          \
  }                                                                          \
  template <typename F>                                                      \
  TESSELLA_HOST_DEVICE constexpr unsigned int name##_of(...)                 \
  {                                                                          \
    return PointwiseRows::all;                                               \
  }
    TESSELLA_ROWS_OF(volume_input)
    TESSELLA_ROWS_OF(volume_output)
    TESSELLA_ROWS_OF(facet_input)
    TESSELLA_ROWS_OF(facet_output)
#undef TESSELLA_ROWS_OF
  } // namespace internal



  /**
   * Members of the functor @p F of a PointwiseOperator, with their defaults.
   *
   * A functor describes an operator of m components that reads discrete fields,
   * point by point:
   *
   *     template <int dim>
   *     struct Burgers // u_t + div(u^2 / 2 (1, .., 1)) = 0
   *     {
   *       using Fields                      = FieldComponents<1>;
   *       static constexpr int n_components = 1;
   *       // optional, all rows by default
   *       static constexpr unsigned int volume_input  = PointwiseRows::values,
   *                                     volume_output =
   * PointwiseRows::gradients, facet_input   = PointwiseRows::values,
   *                                     facet_output  = PointwiseRows::values;
   *
   *       template <typename U, typename R>
   *       TESSELLA_HOST_DEVICE void
   *       volume(const OperatorPoint<dim> &, const U &u, R &r) const
   *       {
   *         for (int d = 0; d < dim; ++d)
   *           r.gradient[0][d] = -0.5 * u.value[0] * u.value[0];
   *       }
   *       template <typename U, typename R>
   *       TESSELLA_HOST_DEVICE void
   *       interior_facet(const OperatorPoint<dim> &p,
   *                      const U                  &u0,
   *                      const U                  &u1,
   *                      R                        &r0,
   *                      R                        &r1) const
   *       {
   *         using namespace PointwiseMath;
   *         auto flux   = ...;
   *         r0.value[0] = flux;
   *         r1.value[0] = -flux;
   *       }
   *       template <typename U, typename R>
   *       TESSELLA_HOST_DEVICE void
   *       boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const;
   *     };
   *
   * U and R are PointwiseTerms<dim, Fields::n_components, Number> and
   * PointwiseTerms<dim, n_components, Number>; Number is double for the
   * operator, and Dual for its tangent, so that members must be templates. A
   * local variable of the number type is `auto` or
   * `std::decay_t<decltype(u.value[0])>`. Results are zero when a member is
   * called.
   *
   * The operator is
   *   R(u; v) = sum over polytopes of int r.value . v + r.gradient : grad v
   *           + sum over interior facets of
   *               int r0.value . v0 + r0.gradient : grad v0
   *                 + r1.value . v1 + r1.gradient : grad v1
   *           + sum over boundary facets of int r.value . v + r.gradient : grad
   * v with the test functions v of all components. Members that a functor does
   * not have count as zero. A boundary facet without a condition must set
   * nothing.
   *
   * <b>Derivatives</b> follow from these members by dual numbers. A functor may
   * have members of its own instead, for each region, that set the derivative
   * dr of the results in the direction of a change du of the fields; they are
   * called with doubles, and their results are zero when they are called:
   *
   *       TESSELLA_HOST_DEVICE void
   *       volume_derivative(const OperatorPoint<dim> &p,
   *                         const PointwiseTerms<dim, n, double> &u,
   *                         const PointwiseTerms<dim, n, double> &du,
   *                         PointwiseTerms<dim, m, double>       &dr) const;
   *       TESSELLA_HOST_DEVICE void
   *       interior_facet_derivative(p, u0, u1, du0, du1, dr0, dr1) const;
   *       TESSELLA_HOST_DEVICE void
   *       boundary_facet_derivative(p, u, du, dr) const;
   *
   * Tangents and Jacobians then consist of them, on the host and on a device; a
   * Jacobian calls them once for each row of the fields. For a device they are
   * marked as the other members. Nothing checks that a derivative is that of
   * its member, and Newton's method with a wrong one converges slowly or not at
   * all.
   *
   * Functors are copied to the device bit by bit: their data must be plain.
   */
  template <int dim, typename F>
  struct PointwiseTraits
  {
    using Fields = typename F::Fields;
    /// Number of components of all fields, and of the test functions.
    static constexpr int n_inputs  = Fields::n_components,
                         n_outputs = F::n_components;

    template <typename Number>
    using Input = PointwiseTerms<dim, n_inputs, Number>;
    template <typename Number>
    using Output = PointwiseTerms<dim, n_outputs, Number>;

    static constexpr bool
      has_volume =
        internal::HasVolumeTerms<F, dim, Input<double>, Output<double>>::value,
      has_interior_facet = internal::
        HasInteriorFacetTerms<F, dim, Input<double>, Output<double>>::value,
      has_boundary_facet = internal::
        HasBoundaryFacetTerms<F, dim, Input<double>, Output<double>>::value;
    /// Whether the functor has derivatives of its own.
    static constexpr bool
      has_volume_derivative = internal::
        HasVolumeDerivative<F, dim, Input<double>, Output<double>>::value,
      has_interior_facet_derivative =
        internal::HasInteriorFacetDerivative<F,
                                             dim,
                                             Input<double>,
                                             Output<double>>::value,
      has_boundary_facet_derivative =
        internal::HasBoundaryFacetDerivative<F,
                                             dim,
                                             Input<double>,
                                             Output<double>>::value;
    static_assert((has_volume || !has_volume_derivative) &&
                    (has_interior_facet || !has_interior_facet_derivative) &&
                    (has_boundary_facet || !has_boundary_facet_derivative),
                  "A functor with a derivative needs the member that it is "
                  "the derivative of.");
    static_assert(has_volume || has_interior_facet || has_boundary_facet,
                  "A functor needs a member volume(), interior_facet() or "
                  "boundary_facet() with the arguments that PointwiseTraits "
                  "describes.");

    static constexpr unsigned int volume_input =
                                    internal::volume_input_of<F>(0),
                                  volume_output =
                                    internal::volume_output_of<F>(0),
                                  facet_input = internal::facet_input_of<F>(0),
                                  facet_output =
                                    internal::facet_output_of<F>(0);
  };
} // namespace Tessella

#endif
