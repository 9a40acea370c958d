// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_forms_host_coefficients_h
#define tessella_source_forms_host_coefficients_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>
#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/tensor_function.h>

#include <tessella/forms/cellwise_coefficient.h>
#include <tessella/forms/discrete_function.h>
#include <tessella/forms/form.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

// Coefficients given as constants, functions, or values per cell, and their
// values at the points of a batch.

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    std::string
    to_string(const double *const *x, const unsigned int q)
    {
      std::string text;
      for (unsigned int d = 0; d < dim; ++d)
        text += (d > 0 ? ", " : "") + std::to_string(x[d][q]);
      return text;
    }

    // Throws an exception that names the coefficient if a value is not finite.
    template <int dim>
    void
    check_finite(const double        *values,
                 const double *const *x,
                 const unsigned int   n,
                 const char          *name);

    // As above, for the dim^rank entries of each tensor.
    template <int rank, int dim>
    void
    check_finite(const std::vector<dealii::Tensor<rank, dim>> &values,
                 const double *const                          *x,
                 const char                                   *name);

    void
    check_constant(const double value, const std::string &name);

    // The function if it is a discrete one, which is evaluated in the polytope
    // of a point, and null otherwise. There are none on slabs.
    template <int dim>
    const DiscreteFunction<dim> *
    as_discrete(const dealii::Function<dim> *function)
    {
      if constexpr (dim < 4)
        return dynamic_cast<const DiscreteFunction<dim> *>(function);
      else
        return nullptr;
    }

    template <typename FunctionType>
    void
    check_components(const FunctionType *function,
                     const unsigned int  n_components,
                     const std::string  &name)
    {
      AssertThrow(function != nullptr,
                  dealii::ExcMessage("The function given as " + name +
                                     " is a null pointer."));
      AssertThrow(function->n_components == n_components,
                  dealii::ExcMessage("The function given as " + name + " has " +
                                     std::to_string(function->n_components) +
                                     " components instead of " +
                                     std::to_string(n_components) + "."));
    }

    // Points of a batch as a vector of Point, which deal.II's functions
    // require. Each thread has one buffer, since a thread evaluates one batch
    // at a time. Several coefficients at the same points share the buffer while
    // an object of this class exists.
    template <int dim>
    class SharedPoints
    {
    public:
      SharedPoints()
      {
        buffer().shared = true;
        buffer().from   = nullptr;
      }

      SharedPoints(const SharedPoints &) = delete;

      ~SharedPoints()
      {
        buffer().shared = false;
        buffer().from   = nullptr;
      }

      static const std::vector<dealii::Point<dim>> &
      get(const double *const *x, const unsigned int n)
      {
        Buffer &b = buffer();
        if (b.shared && b.from == x[0] && b.points.size() == n)
          return b.points;
        b.points.resize(n);
        const double *coordinates[dim];
        std::copy_n(x, dim, coordinates);
        double *const to = n > 0 ? &b.points[0][0] : nullptr;
        for (unsigned int q = 0; q < n; ++q)
          for (unsigned int d = 0; d < dim; ++d)
            to[q * dim + d] = coordinates[d][q];
        b.from = x[0];
        return b.points;
      }

    private:
      struct Buffer
      {
        std::vector<dealii::Point<dim>> points;
        const double                   *from   = nullptr; // x[0] of the points
        bool                            shared = false;
      };

      static Buffer &
      buffer()
      {
        static thread_local Buffer b;
        return b;
      }
    };

    // A scalar coefficient: a constant, a function, or a value per cell.
    template <int dim>
    struct ScalarCoefficient
    {
      double                                       constant = 0.;
      std::shared_ptr<const dealii::Function<dim>> function;
      // used instead of constant and function
      std::shared_ptr<const CellwiseCoefficient> cellwise;
      const char                                *name = "coefficient";

      void
      set(const double value);
      void
      set(const std::shared_ptr<const dealii::Function<dim>> &f);
      void
      set(const CellwiseCoefficient &values);

      bool
      present() const
      {
        return !is_constant() || constant != 0.;
      }

      bool
      is_constant() const
      {
        return function == nullptr && cellwise == nullptr;
      }

      // Whether values on both sides of a facet may differ.
      bool
      depends_on_side() const
      {
        return cellwise != nullptr || as_discrete(function.get()) != nullptr;
      }

      // Whether values depend on the sub-cell, and not only on its material.
      bool
      depends_on_subcell() const
      {
        return cellwise != nullptr && cellwise->subcell_values() != nullptr;
      }

      void
      evaluate(const PointBatch<dim> &points, double *values) const;
      // Must not be called for values per cell; searches the polytopes of a
      // discrete function.
      void
      evaluate(const double *const *x,
               const unsigned int   n,
               double              *values,
               const unsigned int   component = 0) const;
    };

    // A vector-valued coefficient: constant, Function with dim components, or
    // TensorFunction.
    template <int dim>
    struct VectorCoefficient
    {
      dealii::Tensor<1, dim>                                constant;
      std::shared_ptr<const dealii::Function<dim>>          function;
      std::shared_ptr<const dealii::TensorFunction<1, dim>> tensor_function;
      const char                                           *name = "advection";

      bool
      variable() const
      {
        return function != nullptr || tensor_function != nullptr;
      }

      bool
      present() const
      {
        return variable() || constant.norm_square() != 0.;
      }

      void
      evaluate(const PointBatch<dim> &points, double *const *values) const;
    };
  } // namespace internal
} // namespace Tessella

#endif
