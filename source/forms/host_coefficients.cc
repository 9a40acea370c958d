// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_coefficients.h"

#include <tessella/forms/advection_diffusion_reaction.h>

#include <cmath>

#include "../base/dimensions.h"
#include "vector_lanes.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      // The sum of 0 * value is zero unless a value is not finite. Four
      // independent sums shorten the chain of dependent additions.
      bool
      all_finite(const double *values, const std::size_t n)
      {
        Pair        sum[4] = {};
        std::size_t q      = 0;
        for (; q + 4 * width <= n; q += 4 * width)
          for (unsigned int l = 0; l < 4; ++l)
            sum[l] += load(Pair(), values + q + l * width) * 0.;
        double total = 0.;
        for (; q < n; ++q)
          total += values[q] * 0.;
        for (const Pair &s : sum)
          total += s[0] + s[1];
        return total == 0.;
      }

      // Evaluates a function if it is a discrete one; returns whether it is.
      template <int dim>
      bool
      evaluate_discrete(const Function<dim>   *function,
                        const PointBatch<dim> &points,
                        const char            *name,
                        double *const         *values)
      {
        if constexpr (dim < 4)
          if (const DiscreteFunction<dim> *const discrete =
                as_discrete(function))
            {
              discrete->evaluate(points.n_points,
                                 points.subcell,
                                 points.x,
                                 values);
              for (unsigned int c = 0; c < discrete->n_components; ++c)
                check_finite<dim>(values[c], points.x, points.n_points, name);
              return true;
            }
        return false;
      }
    } // namespace



    template <int dim>
    void
    check_finite(const double        *values,
                 const double *const *x,
                 const unsigned int   n,
                 const char          *name)
    {
      if (!all_finite(values, n))
        for (unsigned int q = 0; q < n; ++q)
          AssertThrow(std::isfinite(values[q]),
                      ExcCoefficientNotFinite(name,
                                              to_string<dim>(x, q),
                                              values[q]));
    }



    template <int rank, int dim>
    void
    check_finite(const std::vector<Tensor<rank, dim>> &values,
                 const double *const                  *x,
                 const char                           *name)
    {
      constexpr unsigned int n_entries = rank == 1 ? dim : dim * dim;
      const double *v = reinterpret_cast<const double *>(values.data());
      if (!all_finite(v, values.size() * n_entries))
        for (unsigned int q = 0; q < values.size(); ++q)
          for (unsigned int d = 0; d < n_entries; ++d)
            AssertThrow(std::isfinite(v[q * n_entries + d]),
                        ExcCoefficientNotFinite(name,
                                                to_string<dim>(x, q),
                                                v[q * n_entries + d]));
    }



    void
    check_constant(const double value, const std::string &name)
    {
      AssertThrow(std::isfinite(value),
                  ExcMessage("The " + name + " " + std::to_string(value) +
                             " is not a finite number."));
    }



    template <int dim>
    void
    ScalarCoefficient<dim>::set(const double value)
    {
      check_constant(value, name);
      constant = value;
      function = nullptr;
      cellwise = nullptr;
    }



    template <int dim>
    void
    ScalarCoefficient<dim>::set(const std::shared_ptr<const Function<dim>> &f)
    {
      check_components(f.get(), 1, name);
      set(0.);
      function = f;
    }



    template <int dim>
    void
    ScalarCoefficient<dim>::set(const CellwiseCoefficient &values)
    {
      set(0.);
      cellwise = std::make_shared<const CellwiseCoefficient>(values);
    }



    template <int dim>
    void
    ScalarCoefficient<dim>::evaluate(const PointBatch<dim> &points,
                                     double                *values) const
    {
      if (cellwise != nullptr)
        cellwise->evaluate(points.n_points,
                           points.subcell,
                           points.material,
                           values);
      else if (!evaluate_discrete(function.get(), points, name, &values))
        evaluate(points.x, points.n_points, values);
    }



    template <int dim>
    void
    ScalarCoefficient<dim>::evaluate(const double *const *x,
                                     const unsigned int   n,
                                     double              *values,
                                     const unsigned int   component) const
    {
      if (function == nullptr)
        {
          std::fill(values, values + n, constant);
          return;
        }
      static thread_local std::vector<double> result;
      result.resize(n);
      function->value_list(SharedPoints<dim>::get(x, n), result, component);
      std::copy(result.begin(), result.end(), values);
      check_finite<dim>(values, x, n, name);
    }



    template <int dim>
    void
    VectorCoefficient<dim>::evaluate(const PointBatch<dim> &points,
                                     double *const         *values) const
    {
      const double *const *x = points.x;
      const unsigned int   n = points.n_points;
      if (evaluate_discrete(function.get(), points, name, values))
        return;
      if (tensor_function != nullptr)
        {
          static thread_local std::vector<Tensor<1, dim>> result;
          result.resize(n);
          tensor_function->value_list(SharedPoints<dim>::get(x, n), result);
          check_finite<1, dim>(result, x, name);
          for (unsigned int q = 0; q < n; ++q)
            for (unsigned int d = 0; d < dim; ++d)
              values[d][q] = result[q][d];
        }
      else if (function != nullptr)
        {
          static thread_local std::vector<double> result;
          result.resize(n);
          const std::vector<Point<dim>> &list = SharedPoints<dim>::get(x, n);
          for (unsigned int d = 0; d < dim; ++d)
            {
              function->value_list(list, result, d);
              check_finite<dim>(result.data(), x, n, name);
              std::copy(result.begin(), result.end(), values[d]);
            }
        }
      else
        for (unsigned int d = 0; d < dim; ++d)
          std::fill(values[d], values[d] + n, constant[d]);
    }



#define INSTANTIATE(dim)                                          \
  template void check_finite<dim>(const double *,                 \
                                  const double *const *,          \
                                  const unsigned int,             \
                                  const char *);                  \
  template void check_finite(const std::vector<Tensor<1, dim>> &, \
                             const double *const *,               \
                             const char *);                       \
  template void check_finite(const std::vector<Tensor<2, dim>> &, \
                             const double *const *,               \
                             const char *);                       \
  template struct ScalarCoefficient<dim>;                         \
  template struct VectorCoefficient<dim>;

    TESSELLA_FOR_DIMENSIONS(INSTANTIATE)
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
