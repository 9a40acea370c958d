// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_function_pointer_h
#define tessella_forms_function_pointer_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>
#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/tensor_function.h>

#include <deal.II/lac/vector.h>

#include <tessella/base/exceptions.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

// Functions given as lambdas, wherever a dealii::Function is an argument.

namespace Tessella
{
  namespace internal
  {
    /// Number and entries of the components of a function's value: a number, a
    /// Tensor<1, n> or a std::array. A type without the member n is none.
    template <typename Value, typename = void>
    struct ValueComponents
    {};
    template <typename Number>
    struct ValueComponents<Number,
                           std::enable_if_t<std::is_arithmetic<Number>::value>>
    {
      static constexpr unsigned int n = 1;
      static double
      get(const Number value, const unsigned int)
      {
        return value;
      }
    };
    template <int size>
    struct ValueComponents<dealii::Tensor<1, size>>
    {
      static constexpr unsigned int n = size;
      static double
      get(const dealii::Tensor<1, size> &value, const unsigned int c)
      {
        return value[c];
      }
    };
    template <std::size_t size>
    struct ValueComponents<std::array<double, size>>
    {
      static constexpr unsigned int n = size;
      static double
      get(const std::array<double, size> &value, const unsigned int c)
      {
        return value[c];
      }
    };

    /// The same for gradients: Tensor<1, dim> of a scalar function, Tensor<2,
    /// dim> of a function with dim components, or a std::array.
    template <int dim, typename Gradient>
    struct GradientComponents
    {};
    template <int dim>
    struct GradientComponents<dim, dealii::Tensor<1, dim>>
    {
      static constexpr unsigned int n = 1;
      static const dealii::Tensor<1, dim> &
      get(const dealii::Tensor<1, dim> &gradient, const unsigned int)
      {
        return gradient;
      }
    };
    template <int dim>
    struct GradientComponents<dim, dealii::Tensor<2, dim>>
    {
      static constexpr unsigned int n = dim;
      static const dealii::Tensor<1, dim> &
      get(const dealii::Tensor<2, dim> &gradient, const unsigned int c)
      {
        return gradient[c];
      }
    };
    template <int dim, std::size_t size>
    struct GradientComponents<dim, std::array<dealii::Tensor<1, dim>, size>>
    {
      static constexpr unsigned int n = size;
      static const dealii::Tensor<1, dim> &
      get(const std::array<dealii::Tensor<1, dim>, size> &gradient,
          const unsigned int                              c)
      {
        return gradient[c];
      }
    };

    /// Type that a callable object returns for a point.
    template <int dim, typename Callable>
    using ResultAt = std::decay_t<
      std::invoke_result_t<const Callable &, const dealii::Point<dim> &>>;

    /// Whether an object is callable with a point and returns a value of a
    /// function.
    template <int dim, typename Callable, typename = void>
    struct IsFunctionOfPoint : std::false_type
    {};
    template <int dim, typename Callable>
    struct IsFunctionOfPoint<
      dim,
      Callable,
      std::void_t<decltype(ValueComponents<ResultAt<dim, Callable>>::n)>>
      : std::true_type
    {};

    /// Whether an object is callable with a point and returns a matrix.
    template <int dim, typename Callable, typename = void>
    struct IsTensorOfPoint : std::false_type
    {};
    template <int dim, typename Callable>
    struct IsTensorOfPoint<dim, Callable, std::void_t<ResultAt<dim, Callable>>>
      : std::is_convertible<ResultAt<dim, Callable>, dealii::Tensor<2, dim>>
    {};

    /// A dealii::Function made of callable objects.
    template <int dim, typename Value, typename Gradient>
    class FunctionFromCallables : public dealii::Function<dim>
    {
      using Components = ValueComponents<ResultAt<dim, Value>>;
      static constexpr bool has_gradient =
        !std::is_same<Gradient, std::nullptr_t>::value;

    public:
      FunctionFromCallables(const Value &value, const Gradient &gradient)
        : dealii::Function<dim>(Components::n)
        , value_of(value)
        , gradient_of(gradient)
      {}

      double
      value(const dealii::Point<dim> &p,
            const unsigned int        component = 0) const override
      {
        AssertIndexRange(component, this->n_components);
        return Components::get(value_of(p), component);
      }

      void
      vector_value(const dealii::Point<dim> &p,
                   dealii::Vector<double>   &values) const override
      {
        const auto value = value_of(p);
        for (unsigned int c = 0; c < Components::n; ++c)
          values[c] = Components::get(value, c);
      }

      dealii::Tensor<1, dim>
      gradient(const dealii::Point<dim> &p,
               const unsigned int        component = 0) const override
      {
        if constexpr (has_gradient)
          {
            using Gradients = GradientComponents<dim, ResultAt<dim, Gradient>>;
            static_assert(Gradients::n == Components::n,
                          "Value and gradient of a function have different "
                          "numbers of components.");
            return Gradients::get(gradient_of(p), component);
          }
        else
          {
            AssertThrow(false,
                        ExcUserInput("The gradient of a function is needed "
                                     "that was given by its values alone: give "
                                     "a second lambda for the gradient, as in "
                                     "{value, gradient}."));
            return {};
          }
      }

    private:
      // Functions are copied as pointers.
      const std::decay_t<Value>    value_of;
      const std::decay_t<Gradient> gradient_of;
    };

    /// A dealii::TensorFunction made of a callable object.
    template <int dim, typename Callable>
    class TensorFunctionFromCallable : public dealii::TensorFunction<2, dim>
    {
    public:
      explicit TensorFunctionFromCallable(const Callable &callable)
        : callable(callable)
      {}

      dealii::Tensor<2, dim>
      value(const dealii::Point<dim> &p) const override
      {
        return callable(p);
      }

    private:
      const std::decay_t<Callable> callable;
    };
  } // namespace internal

  /**
   * Shared pointer to a dealii::Function, which may also be made from a number
   * or from a lambda or another object that is callable with a point. The value
   * is a number, a Tensor<1, n> or a std::array<double, n>, which tells the
   * number of components:
   *
   *     form.set_source([](const auto &x) { return x[0] * x[1]; });
   *     form.set_advection([](const auto &x) {
   *       return Tensor<1, 2>({-x[1], x[0]});
   *     });
   *     form.set_boundary_condition(1, {BoundaryType::neumann, flux});
   *
   * A second callable object returns the gradient: Tensor<1, dim> for a scalar
   * function, Tensor<2, dim> (row c: gradient of component c) for dim
   * components, or a std::array. It is an error if a gradient is needed and was
   * not given. Callable objects are copied; they are called by several threads
   * at once.
   */
  template <int dim>
  class FunctionPointer : public std::shared_ptr<const dealii::Function<dim>>
  {
    using Base = std::shared_ptr<const dealii::Function<dim>>;

  public:
    FunctionPointer() = default;
    FunctionPointer(std::nullptr_t)
    {}
    template <typename FunctionType,
              typename = std::enable_if_t<
                std::is_convertible<FunctionType *,
                                    const dealii::Function<dim> *>::value>>
    FunctionPointer(const std::shared_ptr<FunctionType> &function)
      : Base(function)
    {}
    /// A constant.
    template <typename Number,
              std::enable_if_t<std::is_arithmetic<Number>::value, int> = 0>
    FunctionPointer(const Number value)
      : Base(std::make_shared<dealii::Functions::ConstantFunction<dim>>(value))
    {}
    template <
      typename Callable,
      std::enable_if_t<internal::IsFunctionOfPoint<dim, Callable>::value, int> =
        0>
    FunctionPointer(const Callable &value)
      : FunctionPointer(value, nullptr)
    {}
    template <
      typename Callable,
      typename Gradient,
      std::enable_if_t<internal::IsFunctionOfPoint<dim, Callable>::value, int> =
        0>
    FunctionPointer(const Callable &value, const Gradient &gradient)
      : Base(
          std::make_shared<
            internal::FunctionFromCallables<dim, Callable, Gradient>>(value,
                                                                      gradient))
    {}
  };

  /// Function as an argument of a call that does not keep it: a
  /// dealii::Function itself, or whatever a FunctionPointer is made of.
  template <int dim>
  class FunctionReference : public FunctionPointer<dim>
  {
  public:
    using FunctionPointer<dim>::FunctionPointer;
    /// The function must outlive this object.
    FunctionReference(const dealii::Function<dim> &function)
      : FunctionPointer<dim>(
          // without an owner
          std::shared_ptr<const dealii::Function<dim>>(std::shared_ptr<void>(),
                                                       &function))
    {}
  };

  namespace internal
  {
    template <int dim>
    struct NotDeduced
    {
      using type = FunctionReference<dim>;
    };
  } // namespace internal

  /// FunctionReference as the type of an argument from which the compiler does
  /// not deduce the dimension, so that lambdas convert to it.
  template <int dim>
  using FunctionArgument = typename internal::NotDeduced<dim>::type;
} // namespace Tessella

#endif
