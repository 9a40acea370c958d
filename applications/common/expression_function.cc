// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/vectorization.h>

#include <deal.II/lac/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "expression_program.h"
#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    using ExpressionProgram::batch_size;

    namespace
    {
      template <int dim>
      double
      checked(const double      value,
              const Expression &expression,
              const Point<dim> &p)
      {
        AssertThrow(std::isfinite(value),
                    Expression::ExcNotFinite(expression.text(),
                                             expression.name(),
                                             std::isnan(value)
                                               ? std::fabs(value)
                                               : value,
                                             point_text(&p[0], dim)));
        return value;
      }

      // Throws for the first value that is not finite.
      template <int dim>
      void
      check_batch(const double      *values,
                  const unsigned int n,
                  const Expression  &expression,
                  const Point<dim>  *points)
      {
        // A sum of products v * 0 is zero unless a value is not finite. Several
        // sums are independent of each other and hide latency.
        constexpr unsigned int  width = VectorizedArray<double>::size();
        VectorizedArray<double> sum[4], v;
        for (VectorizedArray<double> &s : sum)
          s = 0.;
        unsigned int q = 0;
        for (; q + 4 * width <= n; q += 4 * width)
          for (unsigned int l = 0; l < 4; ++l)
            {
              v.load(values + q + l * width);
              sum[l] += v * 0.;
            }
        bool finite = true;
        for (; q < n; ++q)
          finite = finite && std::isfinite(values[q]);
        sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        for (unsigned int l = 0; l < width; ++l)
          finite = finite && sum[0][l] == 0.;
        if (!finite)
          for (q = 0; q < n; ++q)
            checked(values[q], expression, points[q]);
      }

      // Calls function(begin, n, coordinates) for batches of points.
      template <int dim, typename Function>
      void
      for_batches(const std::vector<Point<dim>> &points,
                  const Function                &function)
      {
        double        x[dim][batch_size];
        const double *pointers[dim];
        for (int d = 0; d < dim; ++d)
          pointers[d] = x[d];
        for (std::size_t begin = 0; begin < points.size(); begin += batch_size)
          {
            const unsigned int n =
              std::min<std::size_t>(batch_size, points.size() - begin);
            for (unsigned int q = 0; q < n; ++q)
              for (int d = 0; d < dim; ++d)
                x[d][q] = points[begin + q][d];
            function(begin, n, pointers);
          }
      }
    } // namespace

    bool
    is_constant(const std::vector<Expression> &expressions)
    {
      return std::all_of(expressions.begin(),
                         expressions.end(),
                         [](const Expression &e) { return e.is_constant(); });
    }

    template <int dim>
    ExpressionCode<dim>::ExpressionCode(
      const std::vector<Expression> &components)
      : components(components)
    {}

    template <int dim>
    std::string
    ExpressionCode<dim>::device_code(const unsigned int component) const
    {
      AssertIndexRange(component, components.size());
      return "return " +
             components[component].device_code(coordinate_names(dim)) + ";";
    }

    template <int dim>
    std::string
    ExpressionCode<dim>::origin(const unsigned int component) const
    {
      return "the expression '" + components[component].text() + "' of " +
             components[component].name();
    }

    template <int dim>
    void
    ExpressionCode<dim>::throw_not_finite(const unsigned int component,
                                          const double       value,
                                          const double      *x) const
    {
      Point<dim> p;
      for (int d = 0; d < dim; ++d)
        p[d] = x[d];
      checked(value, components[component], p);
      std::abort(); // not reached
    }

    template <int dim>
    ExpressionFunction<dim>::ExpressionFunction(
      const std::vector<Expression> &components)
      : Function<dim>(components.size())
      , ExpressionCode<dim>(components)
    {}

    template <int dim>
    double
    ExpressionFunction<dim>::value(const Point<dim>  &p,
                                   const unsigned int component) const
    {
      AssertIndexRange(component, this->components.size());
      return checked(this->components[component].value(&p[0]),
                     this->components[component],
                     p);
    }

    template <int dim>
    void
    ExpressionFunction<dim>::value_list(const std::vector<Point<dim>> &points,
                                        std::vector<double>           &values,
                                        const unsigned int component) const
    {
      AssertDimension(points.size(), values.size());
      const Expression &expression = this->components[component];
      for_batches<dim>(points,
                       [&](const std::size_t    begin,
                           const unsigned int   n,
                           const double *const *x) {
                         expression.values(n, x, values.data() + begin);
                         check_batch(values.data() + begin,
                                     n,
                                     expression,
                                     points.data() + begin);
                       });
    }

    template <int dim>
    Tensor<1, dim>
    ExpressionFunction<dim>::gradient(const Point<dim>  &p,
                                      const unsigned int component) const
    {
      Tensor<1, dim> result;
      this->components[component].template derivatives<dim>({p},
                                                            nullptr,
                                                            &result,
                                                            nullptr);
      return result;
    }

    template <int dim>
    void
    ExpressionFunction<dim>::gradient_list(
      const std::vector<Point<dim>> &points,
      std::vector<Tensor<1, dim>>   &gradients,
      const unsigned int             component) const
    {
      AssertDimension(points.size(), gradients.size());
      this->components[component].template derivatives<dim>(points,
                                                            nullptr,
                                                            gradients.data(),
                                                            nullptr);
    }

    template <int dim>
    ExpressionTensorFunction<dim>::ExpressionTensorFunction(
      const std::vector<Expression> &components)
      : ExpressionCode<dim>(components)
    {
      AssertDimension(components.size(), dim * dim);
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          same_as_transposed[i * dim + j] =
            this->components[i * dim + j].text() ==
            this->components[j * dim + i].text();
    }

    template <int dim>
    Tensor<2, dim>
    ExpressionTensorFunction<dim>::value(const Point<dim> &p) const
    {
      Tensor<2, dim> result;
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          result[i][j] = checked(this->components[i * dim + j].value(&p[0]),
                                 this->components[i * dim + j],
                                 p);
      return result;
    }

    template <int dim>
    void
    ExpressionTensorFunction<dim>::value_list(
      const std::vector<Point<dim>> &points,
      std::vector<Tensor<2, dim>>   &values) const
    {
      AssertDimension(points.size(), values.size());
      double v[batch_size];
      for_batches<dim>(
        points,
        [&](const std::size_t    begin,
            const unsigned int   n,
            const double *const *x) {
          for (int i = 0; i < dim; ++i)
            for (int j = 0; j < dim; ++j)
              {
                if (j < i && same_as_transposed[i * dim + j])
                  continue;
                const Expression &expression = this->components[i * dim + j];
                expression.values(n, x, v);
                check_batch(v, n, expression, points.data() + begin);
                for (unsigned int q = 0; q < n; ++q)
                  values[begin + q][i][j] = v[q];
                if (j > i && same_as_transposed[j * dim + i])
                  for (unsigned int q = 0; q < n; ++q)
                    values[begin + q][j][i] = v[q];
              }
        });
    }

    template class ExpressionCode<2>;
    template class ExpressionCode<3>;
    template class ExpressionCode<4>;
    template class ExpressionFunction<2>;
    template class ExpressionFunction<3>;
    template class ExpressionFunction<4>;
    template class ExpressionTensorFunction<2>;
    template class ExpressionTensorFunction<3>;
  } // namespace Application
} // namespace Tessella
