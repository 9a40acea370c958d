// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_values_polytope_interface_values_h
#define tessella_values_polytope_interface_values_h

#include <tessella/values/polytope_values.h>

#include <array>
#include <utility>
#include <vector>

namespace Tessella
{
  template <int dim>
  class PolytopeInterfaceValues;

  /// Views on the components of a PolytopeInterfaceValues object, like
  /// dealii::FEInterfaceViews.
  namespace PolytopeInterfaceViews
  {
    /// View on the components that @p Extractor chooses; the types are those of
    /// the view of PolytopeValuesBase.
    template <int dim, typename Extractor>
    class View
    {
      using PolytopeView =
        decltype(std::declval<const PolytopeValuesBase<dim>
                                &>()[std::declval<const Extractor &>()]);

    public:
      using value_type =
        decltype(std::declval<const PolytopeView &>().value(0u, 0u));
      using gradient_type =
        decltype(std::declval<const PolytopeView &>().gradient(0u, 0u));

      View(const PolytopeInterfaceValues<dim> &values,
           const Extractor                    &extractor)
        : values(&values)
        , extractor(extractor)
      {}

      value_type
      value(const bool         here_or_there,
            const unsigned int interface_dof,
            const unsigned int q) const
      {
        return values->trace(here_or_there, interface_dof, value_at(q));
      }

      gradient_type
      gradient(const bool         here_or_there,
               const unsigned int interface_dof,
               const unsigned int q) const
      {
        return values->trace(here_or_there, interface_dof, gradient_at(q));
      }

      value_type
      jump_in_values(const unsigned int interface_dof,
                     const unsigned int q) const
      {
        return values->jump(interface_dof, value_at(q));
      }

      gradient_type
      jump_in_gradients(const unsigned int interface_dof,
                        const unsigned int q) const
      {
        return values->jump(interface_dof, gradient_at(q));
      }

      value_type
      average_of_values(const unsigned int interface_dof,
                        const unsigned int q) const
      {
        return values->average(interface_dof, value_at(q));
      }

      gradient_type
      average_of_gradients(const unsigned int interface_dof,
                           const unsigned int q) const
      {
        return values->average(interface_dof, gradient_at(q));
      }

      auto
      jump_in_hessians(const unsigned int interface_dof,
                       const unsigned int q) const
      {
        return values->jump(interface_dof, hessian_at(q));
      }

      auto
      average_of_hessians(const unsigned int interface_dof,
                          const unsigned int q) const
      {
        return values->average(interface_dof, hessian_at(q));
      }

      /// Jumps of the symmetric parts of the gradients of a vector, for
      /// elasticity.
      auto
      jump_in_symmetric_gradients(const unsigned int interface_dof,
                                  const unsigned int q) const
      {
        return dealii::symmetrize(jump_in_gradients(interface_dof, q));
      }

      auto
      average_of_symmetric_gradients(const unsigned int interface_dof,
                                     const unsigned int q) const
      {
        return dealii::symmetrize(average_of_gradients(interface_dof, q));
      }

      // ---- discrete functions; results are resized

      template <typename VectorType>
      void
      get_jump_in_function_values(const VectorType        &vector,
                                  std::vector<value_type> &result) const
      {
        values->combine(1., -1., result, [&](const auto &v, auto &r) {
          v[extractor].get_function_values(vector, r);
        });
      }

      template <typename VectorType>
      void
      get_jump_in_function_gradients(const VectorType           &vector,
                                     std::vector<gradient_type> &result) const
      {
        values->combine(1., -1., result, [&](const auto &v, auto &r) {
          v[extractor].get_function_gradients(vector, r);
        });
      }

      template <typename VectorType>
      void
      get_average_of_function_values(const VectorType        &vector,
                                     std::vector<value_type> &result) const
      {
        values->combine(0.5, 0.5, result, [&](const auto &v, auto &r) {
          v[extractor].get_function_values(vector, r);
        });
      }

      template <typename VectorType>
      void
      get_average_of_function_gradients(
        const VectorType &vector, std::vector<gradient_type> &result) const
      {
        values->combine(0.5, 0.5, result, [&](const auto &v, auto &r) {
          v[extractor].get_function_gradients(vector, r);
        });
      }

    private:
      /// Functions of a polytope and a shape function.
      auto
      value_at(const unsigned int q) const
      {
        return
          [this, q](const PolytopeValuesBase<dim> &v, const unsigned int i) {
            return v[extractor].value(i, q);
          };
      }

      auto
      gradient_at(const unsigned int q) const
      {
        return
          [this, q](const PolytopeValuesBase<dim> &v, const unsigned int i) {
            return v[extractor].gradient(i, q);
          };
      }

      auto
      hessian_at(const unsigned int q) const
      {
        return
          [this, q](const PolytopeValuesBase<dim> &v, const unsigned int i) {
            return v[extractor].hessian(i, q);
          };
      }

      const PolytopeInterfaceValues<dim> *values;
      Extractor                           extractor;
    };

    /// View on one scalar component.
    template <int dim>
    using Scalar = View<dim, dealii::FEValuesExtractors::Scalar>;

    /// View on dim components that form a vector; gradients as in
    /// PolytopeValuesViews::Vector.
    template <int dim>
    using Vector = View<dim, dealii::FEValuesExtractors::Vector>;
  } // namespace PolytopeInterfaceViews

  /**
   * Shape functions of two neighbouring polytopes on all facets of the
   * interface between them, or of one polytope on all facets with one boundary
   * id, used like FEInterfaceValues:
   *
   *     PolytopeInterfaceValues<dim> values(handler, 0, flags);
   *     for (const auto &polytope : handler.polytope_iterators())
   *       for (unsigned int f = 0; f < polytope.n_faces(); ++f)
   *         if (polytope.at_boundary(f) ||
   *             polytope.index() < polytope.neighbor(f).index())
   *           {
   *             values.reinit(polytope, f);
   *             ...
   *           }
   *
   * With periodic boundaries a polytope may be its own neighbour, through two
   * faces of the polytope. Such a loop must visit only one of them, see
   * reinit_interface().
   *
   * As in deal.II, "here" is the polytope given to reinit() and "there" its
   * neighbour. Normals point from here to there, a jump is here minus there and
   * an average the arithmetic mean; at the boundary, jump and average are the
   * value here. Interface degrees of freedom are those of the polytope here,
   * followed by those there.
   *
   * The quadrature is exact for polynomials of degree 2 p + extra_order times
   * the unit normal, p being the larger degree of both sides (tensor product
   * spaces: 2 dim p + extra_order). At periodic boundaries the functions there
   * are evaluated at the shifted points.
   *
   * Use one object per thread. The constructor has the same arguments and
   * restrictions as that of PolytopeValues.
   */
  template <int dim>
  class PolytopeInterfaceValues : private PolytopeValuesBase<dim>
  {
    // The base class holds the values here.
    using Base = PolytopeValuesBase<dim>;

  public:
    PolytopeInterfaceValues(const AgglomerationHandler<dim> &handler,
                            const unsigned int               extra_order,
                            const dealii::UpdateFlags        update_flags);

    /// Moves to face @p face of @p polytope, that is, all that the polytope
    /// shares with one neighbour or one boundary id.
    void
    reinit(const PolytopeAccessor<dim> &polytope, const unsigned int face)
    {
      reinit(polytope.index(), face);
    }

    void
    reinit(const unsigned int polytope, const unsigned int face);

    /// Moves to an interface of the flat view, whose side @p side is "here". A
    /// loop over all interfaces with side 0 visits every interface once.
    void
    reinit_interface(const unsigned int interface, const unsigned int side = 0);

    using typename Base::IndexRange;
    /// Number of quadrature points on the present interface.
    using Base::n_quadrature_points;
    using Base::quadrature_point_indices;

    IndexRange
    dof_indices() const
    {
      return IndexRange(0u, n_current_interface_dofs());
    }

    bool
    at_boundary() const
    {
      return there.polytope_index() == invalid_index;
    }

    /// Boundary id of the present interface, which must be at the boundary.
    dealii::types::boundary_id
    boundary_id() const;

    /// Index of the present interface in the flat view.
    unsigned int
    interface_index() const
    {
      return interface;
    }

    // ---- points in the coordinates of the polytope here, and weights
    using Base::get_JxW_values;
    using Base::get_quadrature_points;
    using Base::JxW;
    using Base::quadrature_point;

    // ---- unit normals from here to there (outward at the boundary)
    using Base::get_normal_vectors;
    using Base::normal_vector;

    /// The same as normal_vector(); deal.II's name up to 9.6.
    const dealii::Tensor<1, dim> &
    normal(const unsigned int q) const
    {
      return this->normal_vector(q);
    }

    /// Facet of the flat view on which point @p q lies.
    unsigned int
    facet(const unsigned int q) const
    {
      AssertIndexRange(q, this->n_quadrature_points);
      return quadrature.facet[q];
    }

    /// Geometric factor of the interior penalty at point @p q, without constant
    /// and coefficient: the larger of both sides. compute_penalty_factors()
    /// must have been called for the handler.
    double
    penalty_factor(const unsigned int q) const;

    /// Values of one side alone: 0 here, 1 there (not at the boundary). Normals
    /// there point from there to here.
    const PolytopeValuesBase<dim> &
    get_polytope_values(const unsigned int side) const;

    unsigned int
    n_current_interface_dofs() const
    {
      return this->dofs_per_cell + there.dofs_per_cell;
    }

    /// Global indices of all interface degrees of freedom. If a polytope is its
    /// own neighbour through a periodic boundary, each index occurs twice, and
    /// distribute_local_to_global() adds both contributions.
    std::vector<dealii::types::global_dof_index>
    get_interface_dof_indices() const;

    /// Indices of the degree of freedom within the polytopes here and there;
    /// numbers::invalid_unsigned_int for the polytope to which it does not
    /// belong.
    std::array<unsigned int, 2>
    interface_dof_to_dof_indices(const unsigned int interface_dof) const
    {
      AssertIndexRange(interface_dof, n_current_interface_dofs());
      if (interface_dof < this->dofs_per_cell)
        return {{interface_dof, dealii::numbers::invalid_unsigned_int}};
      return {{dealii::numbers::invalid_unsigned_int,
               interface_dof - this->dofs_per_cell}};
    }

    // ---- shape functions; @p component is needed for several components only

    /// Value here (true) or there (false).
    double
    shape_value(const bool         here_or_there,
                const unsigned int interface_dof,
                const unsigned int q,
                const unsigned int component = 0) const
    {
      return trace(here_or_there, interface_dof, value_at(q, component));
    }

    dealii::Tensor<1, dim>
    shape_grad(const bool         here_or_there,
               const unsigned int interface_dof,
               const unsigned int q,
               const unsigned int component = 0) const
    {
      return trace(here_or_there, interface_dof, gradient_at(q, component));
    }

    double
    jump_in_shape_values(const unsigned int interface_dof,
                         const unsigned int q,
                         const unsigned int component = 0) const
    {
      return jump(interface_dof, value_at(q, component));
    }

    dealii::Tensor<1, dim>
    jump_in_shape_gradients(const unsigned int interface_dof,
                            const unsigned int q,
                            const unsigned int component = 0) const
    {
      return jump(interface_dof, gradient_at(q, component));
    }

    dealii::Tensor<2, dim>
    jump_in_shape_hessians(const unsigned int interface_dof,
                           const unsigned int q,
                           const unsigned int component = 0) const
    {
      return jump(interface_dof, hessian_at(q, component));
    }

    double
    average_of_shape_values(const unsigned int interface_dof,
                            const unsigned int q,
                            const unsigned int component = 0) const
    {
      return average(interface_dof, value_at(q, component));
    }

    dealii::Tensor<1, dim>
    average_of_shape_gradients(const unsigned int interface_dof,
                               const unsigned int q,
                               const unsigned int component = 0) const
    {
      return average(interface_dof, gradient_at(q, component));
    }

    dealii::Tensor<2, dim>
    average_of_shape_hessians(const unsigned int interface_dof,
                              const unsigned int q,
                              const unsigned int component = 0) const
    {
      return average(interface_dof, hessian_at(q, component));
    }

    PolytopeInterfaceViews::Scalar<dim>
    operator[](const dealii::FEValuesExtractors::Scalar &scalar) const
    {
      return {*this, scalar};
    }

    PolytopeInterfaceViews::Vector<dim>
    operator[](const dealii::FEValuesExtractors::Vector &vector) const
    {
      return {*this, vector};
    }

    // ---- scalar discrete functions

    template <typename VectorType>
    void
    get_jump_in_function_values(const VectorType    &vector,
                                std::vector<double> &result) const
    {
      combine(1., -1., result, [&](const auto &v, auto &r) {
        v.get_function_values(vector, r);
      });
    }

    template <typename VectorType>
    void
    get_jump_in_function_gradients(
      const VectorType                    &vector,
      std::vector<dealii::Tensor<1, dim>> &result) const
    {
      combine(1., -1., result, [&](const auto &v, auto &r) {
        v.get_function_gradients(vector, r);
      });
    }

    template <typename VectorType>
    void
    get_average_of_function_values(const VectorType    &vector,
                                   std::vector<double> &result) const
    {
      combine(0.5, 0.5, result, [&](const auto &v, auto &r) {
        v.get_function_values(vector, r);
      });
    }

    template <typename VectorType>
    void
    get_average_of_function_gradients(
      const VectorType                    &vector,
      std::vector<dealii::Tensor<1, dim>> &result) const
    {
      combine(0.5, 0.5, result, [&](const auto &v, auto &r) {
        v.get_function_gradients(vector, r);
      });
    }

    // ---- for the views: value of @p function(values, i) on the side to which
    // the degree of freedom belongs
    template <typename Function>
    auto
    trace(const bool         here_or_there,
          const unsigned int interface_dof,
          const Function    &function) const
    {
      AssertIndexRange(interface_dof, n_current_interface_dofs());
      const bool is_here = interface_dof < this->dofs_per_cell;
      using ReturnType   = decltype(function(here(), 0u));
      if (is_here != here_or_there)
        return ReturnType();
      return is_here ? function(here(), interface_dof)
                     : function(there, interface_dof - this->dofs_per_cell);
    }

    template <typename Function>
    auto
    jump(const unsigned int interface_dof, const Function &function) const
    {
      AssertIndexRange(interface_dof, n_current_interface_dofs());
      using ReturnType = decltype(function(here(), 0u));
      return interface_dof < this->dofs_per_cell
               ? function(here(), interface_dof)
               : ReturnType(
                   -function(there, interface_dof - this->dofs_per_cell));
    }

    template <typename Function>
    auto
    average(const unsigned int interface_dof, const Function &function) const
    {
      AssertIndexRange(interface_dof, n_current_interface_dofs());
      using ReturnType    = decltype(function(here(), 0u));
      const double factor = at_boundary() ? 1. : 0.5;
      return ReturnType(
        factor * (interface_dof < this->dofs_per_cell
                    ? function(here(), interface_dof)
                    : function(there, interface_dof - this->dofs_per_cell)));
    }

    /// Factors times what @p function(values, result) computes here and there;
    /// at the boundary, what it computes here.
    template <typename T, typename Function>
    void
    combine(const double    factor_here,
            const double    factor_there,
            std::vector<T> &result,
            const Function &function) const
    {
      function(here(), result);
      if (at_boundary())
        return;
      std::vector<T> other;
      function(there, other);
      for (unsigned int q = 0; q < result.size(); ++q)
        result[q] = factor_here * result[q] + factor_there * other[q];
    }

  private:
    const Base &
    here() const
    {
      return *this;
    }

    /// Functions of a polytope and a shape function, for trace(), jump() and
    /// average().
    static auto
    value_at(const unsigned int q, const unsigned int component)
    {
      return [=](const Base &v, const unsigned int i) {
        return v.shape_value_component(i, q, component);
      };
    }

    static auto
    gradient_at(const unsigned int q, const unsigned int component)
    {
      return [=](const Base &v, const unsigned int i) {
        return v.shape_grad_component(i, q, component);
      };
    }

    static auto
    hessian_at(const unsigned int q, const unsigned int component)
    {
      return [=](const Base &v, const unsigned int i) {
        return v.shape_hessian_component(i, q, component);
      };
    }

    /// Makes protected functions of the base class available.
    class Side : public Base
    {
    public:
      using PolytopeValuesBase<dim>::PolytopeValuesBase;
      using Base::clear;
      using Base::fill;
    };

    unsigned int             interface = invalid_index;
    InterfaceQuadrature<dim> quadrature;
    Side                     there;
  };
} // namespace Tessella

#endif
