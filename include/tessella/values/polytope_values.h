// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_values_polytope_values_h
#define tessella_values_polytope_values_h

#include <deal.II/base/point.h>
#include <deal.II/base/std_cxx20/iota_view.h>
#include <deal.II/base/symmetric_tensor.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/types.h>

#include <deal.II/fe/fe_update_flags.h>
#include <deal.II/fe/fe_values_extractors.h>
#include <deal.II/lac/vector.h>

#include <tessella/base/compatibility.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/quadrature/quadrature_order.h>
#include <tessella/values/polytope_quadrature.h>

#include <utility>
#include <vector>

namespace Tessella
{
  template <int dim>
  class PolytopeValuesBase;

  namespace internal
  {
    /// Total degree of products of two functions of the given @p degree.
    template <int dim>
    inline unsigned int
    mass_order(const AgglomerationHandler<dim> &handler,
               const unsigned int               degree)
    {
      return integrand_degree(dim,
                              degree,
                              0,
                              handler.polynomial_space() ==
                                PolynomialSpaceType::tensor_product);
    }
  } // namespace internal

  /// Views on the components of a PolytopeValuesBase object, like
  /// dealii::FEValuesViews. Functions for shape functions are inline, since
  /// they are called once per matrix entry.
  namespace PolytopeValuesViews
  {
    /// View on one scalar component.
    template <int dim>
    class Scalar
    {
    public:
      Scalar(const PolytopeValuesBase<dim> &values,
             const unsigned int             component)
        : values(&values)
        , component(component)
      {
        AssertIndexRange(component, values.get_handler().n_components());
      }

      /// Value of this component of shape function @p i at point @p q.
      double
      value(const unsigned int i, const unsigned int q) const
      {
        return values->shape_value_component(i, q, component);
      }

      dealii::Tensor<1, dim>
      gradient(const unsigned int i, const unsigned int q) const
      {
        return values->shape_grad_component(i, q, component);
      }

      dealii::Tensor<2, dim>
      hessian(const unsigned int i, const unsigned int q) const
      {
        return values->shape_hessian_component(i, q, component);
      }

      /// Values of this component of a discrete function at all points;
      /// @p vector is indexed by global degrees of freedom. Results are
      /// resized.
      template <typename VectorType>
      void
      get_function_values(const VectorType    &vector,
                          std::vector<double> &result) const
      {
        values->component_values(values->local_coefficients(vector),
                                 component,
                                 result);
      }

      template <typename VectorType>
      void
      get_function_gradients(const VectorType                    &vector,
                             std::vector<dealii::Tensor<1, dim>> &result) const
      {
        values->component_gradients(values->local_coefficients(vector),
                                    component,
                                    result);
      }

      template <typename VectorType>
      void
      get_function_hessians(const VectorType                    &vector,
                            std::vector<dealii::Tensor<2, dim>> &result) const
      {
        values->component_hessians(values->local_coefficients(vector),
                                   component,
                                   result);
      }

      template <typename VectorType>
      void
      get_function_laplacians(const VectorType    &vector,
                              std::vector<double> &result) const
      {
        std::vector<dealii::Tensor<2, dim>> hessians;
        get_function_hessians(vector, hessians);
        result.resize(hessians.size());
        for (unsigned int q = 0; q < result.size(); ++q)
          result[q] = dealii::trace(hessians[q]);
      }

    private:
      const PolytopeValuesBase<dim> *values;
      unsigned int                   component;
    };

    /// View on dim components that form a vector.
    template <int dim>
    class Vector
    {
    public:
      Vector(const PolytopeValuesBase<dim> &values,
             const unsigned int             first_component)
        : values(&values)
        , first_component(first_component)
      {
        AssertIndexRange(first_component + dim - 1,
                         values.get_handler().n_components());
      }

      dealii::Tensor<1, dim>
      value(const unsigned int i, const unsigned int q) const
      {
        const auto             c = values->system_to_component_index(i);
        dealii::Tensor<1, dim> result;
        // unsigned: the difference is large for components before the first one
        if (c.first - first_component < dim)
          result[c.first - first_component] = values->scalar_value(c.second, q);
        return result;
      }

      /// gradient[c][d] is the derivative of component c in direction d.
      dealii::Tensor<2, dim>
      gradient(const unsigned int i, const unsigned int q) const
      {
        const auto             c = values->system_to_component_index(i);
        dealii::Tensor<2, dim> result;
        if (c.first - first_component < dim)
          result[c.first - first_component] =
            values->scalar_gradient(c.second, q);
        return result;
      }

      dealii::SymmetricTensor<2, dim>
      symmetric_gradient(const unsigned int i, const unsigned int q) const
      {
        return dealii::symmetrize(gradient(i, q));
      }

      double
      divergence(const unsigned int i, const unsigned int q) const
      {
        const auto         c = values->system_to_component_index(i);
        const unsigned int d = c.first - first_component;
        return d < dim ? values->scalar_gradient(c.second, q)[d] : 0.;
      }

      /// One component in 2-D, three in 3-D, as in deal.II.
      dealii::Tensor<1, dim == 2 ? 1 : dim>
      curl(const unsigned int i, const unsigned int q) const
      {
        dealii::Tensor<1, dim == 2 ? 1 : dim> result;
        const auto                            g = gradient(i, q);
        if constexpr (dim == 2)
          result[0] = g[1][0] - g[0][1];
        else
          for (unsigned int d = 0; d < dim; ++d)
            result[d] =
              g[(d + 2) % dim][(d + 1) % dim] - g[(d + 1) % dim][(d + 2) % dim];
        return result;
      }

      /// hessian[c] has the second derivatives of component c.
      dealii::Tensor<3, dim>
      hessian(const unsigned int i, const unsigned int q) const
      {
        const auto             c = values->system_to_component_index(i);
        dealii::Tensor<3, dim> result;
        if (c.first - first_component < dim)
          result[c.first - first_component] =
            values->scalar_hessian(c.second, q);
        return result;
      }

      template <typename VectorType>
      void
      get_function_values(const VectorType                    &vector,
                          std::vector<dealii::Tensor<1, dim>> &result) const
      {
        result.resize(values->n_quadrature_points);
        values->for_components(values->local_coefficients(vector),
                               first_component,
                               dim,
                               &PolytopeValuesBase<dim>::component_values,
                               result);
      }

      template <typename VectorType>
      void
      get_function_gradients(const VectorType                    &vector,
                             std::vector<dealii::Tensor<2, dim>> &result) const
      {
        result.resize(values->n_quadrature_points);
        values->for_components(values->local_coefficients(vector),
                               first_component,
                               dim,
                               &PolytopeValuesBase<dim>::component_gradients,
                               result);
      }

      template <typename VectorType>
      void
      get_function_symmetric_gradients(
        const VectorType                             &vector,
        std::vector<dealii::SymmetricTensor<2, dim>> &result) const
      {
        std::vector<dealii::Tensor<2, dim>> gradients;
        get_function_gradients(vector, gradients);
        result.resize(gradients.size());
        for (unsigned int q = 0; q < result.size(); ++q)
          result[q] = dealii::symmetrize(gradients[q]);
      }

      template <typename VectorType>
      void
      get_function_divergences(const VectorType    &vector,
                               std::vector<double> &result) const
      {
        std::vector<dealii::Tensor<2, dim>> gradients;
        get_function_gradients(vector, gradients);
        result.resize(gradients.size());
        for (unsigned int q = 0; q < result.size(); ++q)
          result[q] = dealii::trace(gradients[q]);
      }

    private:
      const PolytopeValuesBase<dim> *values;
      unsigned int                   first_component;
    };

    /// View on components that form a tensor of rank 2, row by row, or, with
    /// TensorType = SymmetricTensor<2, dim>, a symmetric one in the order of
    /// SymmetricTensor::unrolled_to_component_indices().
    template <int dim, typename TensorType>
    class Matrix
    {
    public:
      Matrix(const PolytopeValuesBase<dim> &values,
             const unsigned int             first_component)
        : values(&values)
        , first_component(first_component)
      {
        AssertIndexRange(first_component + n_components - 1,
                         values.get_handler().n_components());
      }

      TensorType
      value(const unsigned int i, const unsigned int q) const
      {
        const auto         c = values->system_to_component_index(i);
        const unsigned int n = c.first - first_component;
        TensorType         result;
        if (n < n_components)
          result[TensorType::unrolled_to_component_indices(n)] =
            values->scalar_value(c.second, q);
        return result;
      }

      /// Component r is the sum over d of the derivative of entry (r, d) in
      /// direction d.
      dealii::Tensor<1, dim>
      divergence(const unsigned int i, const unsigned int q) const
      {
        const auto             c = values->system_to_component_index(i);
        const unsigned int     n = c.first - first_component;
        dealii::Tensor<1, dim> result;
        if (n < n_components)
          {
            const auto  at       = TensorType::unrolled_to_component_indices(n);
            const auto &gradient = values->scalar_gradient(c.second, q);
            result[at[0]]        = gradient[at[1]];
            if (is_symmetric && at[0] != at[1])
              result[at[1]] = gradient[at[0]];
          }
        return result;
      }

      template <typename VectorType>
      void
      get_function_values(const VectorType        &vector,
                          std::vector<TensorType> &result) const
      {
        const auto          coefficients = values->local_coefficients(vector);
        std::vector<double> of_component;
        result.assign(values->n_quadrature_points, TensorType());
        for (unsigned int n = 0; n < n_components; ++n)
          {
            values->component_values(coefficients,
                                     first_component + n,
                                     of_component);
            for (unsigned int q = 0; q < result.size(); ++q)
              result[q][TensorType::unrolled_to_component_indices(n)] =
                of_component[q];
          }
      }

    private:
      static constexpr unsigned int n_components =
        TensorType::n_independent_components;
      static constexpr bool is_symmetric = n_components < dim * dim;

      const PolytopeValuesBase<dim> *values;
      unsigned int                   first_component;
    };
  } // namespace PolytopeValuesViews

  /**
   * Shape functions of one polytope at quadrature points: common base class of
   * PolytopeValues and of the two sides of PolytopeInterfaceValues. The
   * interface is that of dealii::FEValuesBase.
   *
   * Shape function i of a handler with several components belongs to component
   * i / n, where n is the number of scalar functions of the polytope, and is
   * zero in all others. Values, gradients and Hessians are those on the
   * polytope itself (in real space) of the functions that are orthonormal on
   * its bounding box.
   *
   * <b>Cost.</b> Shape functions are evaluated for each point from
   * one-dimensional tables: dim (p + 1) terms of a recurrence, and dim - 1
   * multiplications per value, dim times that for gradients. Scalar functions
   * are stored once for all components. Memory is kept between calls of
   * reinit().
   */
  template <int dim>
  class PolytopeValuesBase
  {
  public:
    /// Creates an object without points, for derived classes.
    PolytopeValuesBase(const AgglomerationHandler<dim> &handler,
                       const unsigned int               extra_order,
                       const dealii::UpdateFlags        update_flags);

    // Views refer to the object that created them, which therefore must not be
    // copied.
    PolytopeValuesBase(const PolytopeValuesBase &) = delete;
    PolytopeValuesBase &
    operator=(const PolytopeValuesBase &) = delete;

    /// Number of quadrature points on the present polytope or interface.
    unsigned int n_quadrature_points = 0;
    /// Number of degrees of freedom of the present polytope.
    unsigned int dofs_per_cell = 0;

    using IndexRange =
      dealii::std_cxx20::ranges::iota_view<unsigned int, unsigned int>;

    IndexRange
    quadrature_point_indices() const
    {
      return IndexRange(0u, n_quadrature_points);
    }

    IndexRange
    dof_indices() const
    {
      return IndexRange(0u, dofs_per_cell);
    }

    const dealii::Point<dim> &
    quadrature_point(const unsigned int q) const
    {
      AssertIndexRange(q, n_quadrature_points);
      return points[q];
    }

    const std::vector<dealii::Point<dim>> &
    get_quadrature_points() const
    {
      return points;
    }

    /// Quadrature weight times Jacobian determinant (on facets, times the
    /// surface element).
    double
    JxW(const unsigned int q) const
    {
      AssertIndexRange(q, n_quadrature_points);
      return JxW_values[q];
    }

    const std::vector<double> &
    get_JxW_values() const
    {
      return JxW_values;
    }

    /// Unit normal that points out of the polytope; available on interfaces
    /// only.
    const dealii::Tensor<1, dim> &
    normal_vector(const unsigned int q) const
    {
      AssertIndexRange(q, normals.size());
      return normals[q];
    }

    const std::vector<dealii::Tensor<1, dim>> &
    get_normal_vectors() const
    {
      return normals;
    }

    /// Index of the present polytope.
    unsigned int
    polytope_index() const
    {
      return polytope;
    }

    PolytopeAccessor<dim>
    get_polytope() const
    {
      return handler->polytope(polytope);
    }

    const AgglomerationHandler<dim> &
    get_handler() const
    {
      return *handler;
    }

    /// Finite element of the present polytope.
    const dealii::FiniteElement<dim> &
    get_fe() const
    {
      return handler->get_fe_collection()[get_polytope().active_fe_index()];
    }

    /// Active cell in which point @p q lies.
    typename dealii::Triangulation<dim>::active_cell_iterator
    cell(const unsigned int q) const
    {
      AssertIndexRange(q, n_quadrature_points);
      return handler->active_cell(
        handler->polytopic_mesh().subcell_cell[subcells[q]]);
    }

    /// Material id of the cell in which point @p q lies.
    dealii::types::material_id
    material_id(const unsigned int q) const
    {
      AssertIndexRange(q, n_quadrature_points);
      return static_cast<dealii::types::material_id>(materials[q]);
    }

    /// Component of shape function @p i and its index among the scalar
    /// functions.
    std::pair<unsigned int, unsigned int>
    system_to_component_index(const unsigned int i) const
    {
      AssertIndexRange(i, dofs_per_cell);
      return {i / n_basis, i % n_basis};
    }

    /// Global degrees of freedom of the polytope, in the order of the shape
    /// functions.
    void
    get_dof_indices(
      std::vector<dealii::types::global_dof_index> &indices) const;

    // ---- shape functions; those without a component are for handlers with one
    // component, or return the value in the only non-zero component
    double
    shape_value(const unsigned int i, const unsigned int q) const
    {
      return scalar_value(system_to_component_index(i).second, q);
    }

    dealii::Tensor<1, dim>
    shape_grad(const unsigned int i, const unsigned int q) const
    {
      return scalar_gradient(system_to_component_index(i).second, q);
    }

    dealii::Tensor<2, dim>
    shape_hessian(const unsigned int i, const unsigned int q) const
    {
      return scalar_hessian(system_to_component_index(i).second, q);
    }

    double
    shape_value_component(const unsigned int i,
                          const unsigned int q,
                          const unsigned int component) const
    {
      const auto c = system_to_component_index(i);
      return c.first == component ? scalar_value(c.second, q) : 0.;
    }

    dealii::Tensor<1, dim>
    shape_grad_component(const unsigned int i,
                         const unsigned int q,
                         const unsigned int component) const
    {
      const auto c = system_to_component_index(i);
      return c.first == component ? scalar_gradient(c.second, q)
                                  : dealii::Tensor<1, dim>();
    }

    dealii::Tensor<2, dim>
    shape_hessian_component(const unsigned int i,
                            const unsigned int q,
                            const unsigned int component) const
    {
      const auto c = system_to_component_index(i);
      return c.first == component ? scalar_hessian(c.second, q)
                                  : dealii::Tensor<2, dim>();
    }

    PolytopeValuesViews::Scalar<dim>
    operator[](const dealii::FEValuesExtractors::Scalar &scalar) const
    {
      return {*this, scalar.component};
    }

    PolytopeValuesViews::Vector<dim>
    operator[](const dealii::FEValuesExtractors::Vector &vector) const
    {
      return {*this, vector.first_vector_component};
    }

    PolytopeValuesViews::Matrix<dim, dealii::Tensor<2, dim>>
    operator[](const dealii::FEValuesExtractors::Tensor<2> &tensor) const
    {
      return {*this, tensor.first_tensor_component};
    }

    PolytopeValuesViews::Matrix<dim, dealii::SymmetricTensor<2, dim>>
    operator[](
      const dealii::FEValuesExtractors::SymmetricTensor<2> &tensor) const
    {
      return {*this, tensor.first_tensor_component};
    }

    // ---- discrete functions: @p vector is indexed by global degrees of
    // freedom (any deal.II vector with extract_subvector_to()); results are
    // resized

    /// Values of a scalar discrete function.
    template <typename VectorType>
    void
    get_function_values(const VectorType    &vector,
                        std::vector<double> &result) const
    {
      check_scalar();
      component_values(local_coefficients(vector), 0, result);
    }

    template <typename VectorType>
    void
    get_function_gradients(const VectorType                    &vector,
                           std::vector<dealii::Tensor<1, dim>> &result) const
    {
      check_scalar();
      component_gradients(local_coefficients(vector), 0, result);
    }

    template <typename VectorType>
    void
    get_function_hessians(const VectorType                    &vector,
                          std::vector<dealii::Tensor<2, dim>> &result) const
    {
      check_scalar();
      component_hessians(local_coefficients(vector), 0, result);
    }

    /// Values of all components: result[q](component).
    template <typename VectorType>
    void
    get_function_values(const VectorType                    &vector,
                        std::vector<dealii::Vector<double>> &result) const
    {
      const unsigned int n_components = handler->n_components();
      result.resize(n_quadrature_points);
      for (auto &r : result)
        if (r.size() != n_components)
          r.reinit(n_components);
      for_components(local_coefficients(vector),
                     0,
                     n_components,
                     &PolytopeValuesBase::component_values,
                     result);
    }

    /// Gradients of all components: result[q][component].
    template <typename VectorType>
    void
    get_function_gradients(
      const VectorType                                 &vector,
      std::vector<std::vector<dealii::Tensor<1, dim>>> &result) const
    {
      const unsigned int n_components = handler->n_components();
      result.resize(n_quadrature_points);
      for (auto &r : result)
        r.resize(n_components);
      for_components(local_coefficients(vector),
                     0,
                     n_components,
                     &PolytopeValuesBase::component_gradients,
                     result);
    }

    // ---- for the views and for users who need one component of a function
    /// Entries of @p vector on the present polytope.
    template <typename VectorType>
    std::vector<double>
    local_coefficients(const VectorType &vector) const
    {
      std::vector<dealii::types::global_dof_index> indices;
      get_dof_indices(indices);
      std::vector<double> coefficients(indices.size());
      vector.extract_subvector_to(indices, coefficients);
      return coefficients;
    }

    /// Values of component @p component at all points, for the function with
    /// the given local coefficients (dofs_per_cell entries).
    void
    component_values(const std::vector<double> &coefficients,
                     const unsigned int         component,
                     std::vector<double>       &result) const
    {
      sum_up(coefficients, component, values, result);
    }
    void
    component_gradients(const std::vector<double>           &coefficients,
                        const unsigned int                   component,
                        std::vector<dealii::Tensor<1, dim>> &result) const
    {
      sum_up(coefficients, component, gradients, result);
    }
    void
    component_hessians(const std::vector<double>           &coefficients,
                       const unsigned int                   component,
                       std::vector<dealii::Tensor<2, dim>> &result) const
    {
      sum_up(coefficients, component, hessians, result);
    }

    /// Stores what @p evaluate computes for @p n components from @p first on
    /// as result[q][0] to result[q][n-1]. @p result has its size already.
    template <typename T, typename ResultType>
    void
    for_components(
      const std::vector<double> &coefficients,
      const unsigned int         first,
      const unsigned int         n,
      void (PolytopeValuesBase::*evaluate)(const std::vector<double> &,
                                           const unsigned int,
                                           std::vector<T> &) const,
      std::vector<ResultType> &result) const
    {
      std::vector<T> of_component;
      for (unsigned int c = 0; c < n; ++c)
        {
          (this->*evaluate)(coefficients, first + c, of_component);
          for (unsigned int q = 0; q < n_quadrature_points; ++q)
            result[q][c] = of_component[q];
        }
    }

    /// Number of scalar functions of the present polytope.
    unsigned int
    n_scalar_functions() const
    {
      return n_basis;
    }

    /// Scalar function @p i at point @p q, the same for all components.
    double
    scalar_value(const unsigned int i, const unsigned int q) const
    {
      Assert(flags & dealii::update_values,
             dealii::ExcMessage(
               "Values were asked for without update_values."));
      return entry(values, i, q);
    }

    const dealii::Tensor<1, dim> &
    scalar_gradient(const unsigned int i, const unsigned int q) const
    {
      Assert(flags & dealii::update_gradients,
             dealii::ExcMessage(
               "Gradients were asked for without update_gradients."));
      return entry(gradients, i, q);
    }

    const dealii::Tensor<2, dim> &
    scalar_hessian(const unsigned int i, const unsigned int q) const
    {
      Assert(flags & dealii::update_hessians,
             dealii::ExcMessage(
               "Hessians were asked for without update_hessians."));
      return entry(hessians, i, q);
    }

    std::size_t
    memory_consumption() const;

  protected:
    /// Takes over points, weights and materials and evaluates the shape
    /// functions of @p polytope. Normals may be empty; otherwise they are
    /// scaled by @p normal_sign.
    void
    fill(const unsigned int                          polytope,
         const unsigned int                          n_points,
         const std::array<std::vector<double>, dim> &x,
         const std::vector<double>                  &JxW,
         const std::vector<unsigned int>            &subcells,
         const std::vector<unsigned int>            &materials,
         const std::array<std::vector<double>, dim> *normals     = nullptr,
         const double                                normal_sign = 1.);

    /// Marks the object as one without a polytope (other side of the boundary).
    void
    clear();

    SmartPointer<const AgglomerationHandler<dim>> handler;
    unsigned int                                  extra_order;
    dealii::UpdateFlags                           flags;

  private:
    /// Values of a discrete function from those of the scalar functions.
    template <typename T>
    void
    sum_up(const std::vector<double> &coefficients,
           const unsigned int         component,
           const std::vector<T>      &functions,
           std::vector<T>            &result) const
    {
      const unsigned int first = component * n_basis;
      AssertIndexRange(first + n_basis, coefficients.size() + 1);
      AssertThrow(functions.size() ==
                    std::size_t(n_quadrature_points) * n_basis,
                  dealii::ExcMessage(
                    "Values or derivatives of a discrete function "
                    "were asked for, but the object was made without "
                    "the update flag for them."));
      result.resize(n_quadrature_points);
      const double *c = coefficients.data() + first;
      for (unsigned int q = 0; q < n_quadrature_points; ++q)
        {
          const T *f   = functions.data() + std::size_t(q) * n_basis;
          T        sum = T();
          for (unsigned int i = 0; i < n_basis; ++i)
            sum += c[i] * f[i];
          result[q] = sum;
        }
    }

    void
    evaluate(const std::array<std::vector<double>, dim> &x);

    void
    check_scalar() const;

    /// Entry for the scalar function @p i at point @p q.
    template <typename T>
    const T &
    entry(const std::vector<T> &array,
          const unsigned int    i,
          const unsigned int    q) const
    {
      AssertIndexRange(i, n_basis);
      AssertIndexRange(q, n_quadrature_points);
      return array[std::size_t(q) * n_basis + i];
    }

    std::vector<unsigned char>          exponents;
    unsigned int                        polytope = invalid_index;
    unsigned int                        n_basis  = 0;
    std::vector<dealii::Point<dim>>     points;
    std::vector<double>                 JxW_values;
    std::vector<dealii::Tensor<1, dim>> normals;
    std::vector<unsigned int>           subcells, materials;
    // indexed by q * n_basis + i
    std::vector<double>                 values;
    std::vector<dealii::Tensor<1, dim>> gradients;
    std::vector<dealii::Tensor<2, dim>> hessians;
  };

  /**
   * Shape functions of a polytope at the quadrature points of its sub-cells,
   * used like FEValues:
   *
   *     PolytopeValues<dim> values(handler,
   *                                0,
   *                                update_values | update_gradients);
   *     for (const auto &polytope : handler.polytope_iterators())
   *       {
   *         values.reinit(polytope);
   *         for (const unsigned int q : values.quadrature_point_indices())
   *           for (const unsigned int i : values.dof_indices())
   *             ...  values.shape_grad(i, q) ... values.JxW(q);
   *         polytope.get_dof_indices(dof_indices);
   *         constraints.distribute_local_to_global(...);
   *       }
   *
   * The quadrature is exact for polynomials of degree 2 p + extra_order, p
   * being the polytope's degree (tensor product spaces: 2 dim p + extra_order).
   * Points, weights and materials are always available; update_values,
   * update_gradients and update_hessians choose which data of the shape
   * functions are computed.
   *
   * Use one object per thread. On curved meshes the constructor may tabulate
   * quadrature in the handler and should not be called by several threads at
   * once.
   */
  template <int dim>
  class PolytopeValues : public PolytopeValuesBase<dim>
  {
  public:
    // The arguments are the handler, extra_order and the update flags.
    using PolytopeValuesBase<dim>::PolytopeValuesBase;

    void
    reinit(const PolytopeAccessor<dim> &polytope)
    {
      reinit(polytope.index());
    }

    void
    reinit(const unsigned int polytope);

  private:
    PolytopeQuadrature<dim> quadrature;
  };
} // namespace Tessella

#endif
