// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_function_batch_h
#define tessella_source_numerics_function_batch_h

#include <deal.II/base/function.h>

#include <deal.II/fe/component_mask.h>

#include <tessella/base/exceptions.h>
#include <tessella/forms/function_pointer.h>
#include <tessella/lac/vector_view.h>

#include <cmath>
#include <string>
#include <vector>

#include "../base/collective.h"
#include "../lac/vector_access.h"
#include "polytope_evaluation.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    void
    check_handler(const AgglomerationHandler<dim> &handler)
    {
      AssertThrow(handler.polytopic_dofs().dof_offset.size() ==
                      handler.polytopic_mesh().n_polytopes() + 1 &&
                    handler.n_dofs() > 0,
                  dealii::ExcMessage(
                    "The agglomeration handler has no degrees of freedom "
                    "yet; call agglomerate() and distribute_dofs() first."));
    }

    /// Checks the handler, and that there is a function with as many
    /// components. Returns the function.
    template <int dim>
    const dealii::Function<dim> &
    check_function(const AgglomerationHandler<dim> &handler,
                   const FunctionReference<dim>    &function)
    {
      check_handler(handler);
      AssertThrow(function != nullptr,
                  dealii::ExcMessage("The function is a null pointer."));
      AssertThrow(
        function->n_components == handler.n_components(),
        dealii::ExcMessage(
          "The function has " + std::to_string(function->n_components) +
          " components, but the finite element has " +
          std::to_string(handler.n_components()) + "; they must be equal."));
      return *function;
    }

    /// Checks that @p mask fits a function and selects a component.
    inline void
    check_mask(const dealii::ComponentMask &mask,
               const unsigned int           n_components)
    {
      AssertThrow(mask.represents_n_components(n_components),
                  dealii::ExcMessage("The component mask has " +
                                     std::to_string(mask.size()) +
                                     " entries, but the finite element has " +
                                     std::to_string(n_components) +
                                     " components; they must be equal."));
      AssertThrow(mask.n_selected_components(n_components) > 0,
                  dealii::ExcMessage("The component mask selects no component; "
                                     "select at least one."));
    }

    /// Entries of @p vector for the degrees of freedom that this process
    /// owns. If a vector does not fit on one process, an exception is thrown
    /// on all processes.
    template <int dim, typename VectorType>
    auto
    own_values(const AgglomerationHandler<dim> &handler, VectorType &vector)
    {
      decltype(vector_data(vector, 0)) result = nullptr;
      on_all_processes(handler.get_communicator(), [&]() {
        result = vector_data(vector, handler.n_locally_owned_dofs());
      });
      return result;
    }

    /// The same for a vector of any type, with @p memory for a copy if it is
    /// not in the memory of the host.
    template <int dim>
    const double *
    own_values(const AgglomerationHandler<dim> &handler,
               const ConstVectorView           &vector,
               std::vector<double>             &memory)
    {
      const double *result = nullptr;
      on_all_processes(handler.get_communicator(), [&]() {
        result = vector.values(handler.n_locally_owned_dofs(), memory);
      });
      return result;
    }

    template <int dim>
    void
    copy_points(const QuadratureBatch<dim>      &batch,
                std::vector<dealii::Point<dim>> &points)
    {
      points.resize(batch.size());
      for (unsigned int q = 0; q < points.size(); ++q)
        for (int d = 0; d < dim; ++d)
          points[q][d] = batch.x[d][q];
    }

    /// Evaluates a Function at many points for all components.
    template <int dim>
    class FunctionBatch
    {
    public:
      explicit FunctionBatch(const dealii::Function<dim> &function)
        : function(function)
        , n_components(function.n_components)
      {}

      /// Computes values[c * n + q] for component c and point q.
      void
      values(const std::vector<dealii::Point<dim>> &points,
             std::vector<double>                   &values)
      {
        const std::size_t n = points.size();
        values.resize(n * n_components);
        if (n_components == 1)
          function.value_list(points, values);
        else
          {
            vector_values.resize(n, dealii::Vector<double>(n_components));
            function.vector_value_list(points, vector_values);
            for (unsigned int c = 0; c < n_components; ++c)
              for (std::size_t q = 0; q < n; ++q)
                values[c * n + q] = vector_values[q][c];
          }
      }

      /// Computes gradients[c * n + q] for component c and point q.
      void
      gradients(const std::vector<dealii::Point<dim>> &points,
                std::vector<dealii::Tensor<1, dim>>   &gradients)
      {
        const std::size_t n = points.size();
        gradients.resize(n * n_components);
        if (n_components == 1)
          function.gradient_list(points, gradients);
        else
          {
            vector_gradients.resize(
              n, std::vector<dealii::Tensor<1, dim>>(n_components));
            function.vector_gradient_list(points, vector_gradients);
            for (unsigned int c = 0; c < n_components; ++c)
              for (std::size_t q = 0; q < n; ++q)
                gradients[c * n + q] = vector_gradients[q][c];
          }
      }

    private:
      const dealii::Function<dim>                     &function;
      const unsigned int                               n_components;
      std::vector<dealii::Vector<double>>              vector_values;
      std::vector<std::vector<dealii::Tensor<1, dim>>> vector_gradients;
    };

    /// Errors at the points of one batch.
    template <int dim>
    struct ErrorBatch
    {
      ErrorBatch(const PolytopeEvaluator<dim> &evaluator,
                 const dealii::Function<dim>  &exact)
        : evaluator(evaluator)
        , exact(exact)
        , n_components(exact.n_components)
      {}

      /// Computes value[c * n + q] and gradient[d][c * n + q], the discrete
      /// function minus the exact one, at the points of @p batch in @p
      /// polytope.
      void
      compute(const QuadratureBatch<dim> &batch,
              const unsigned int          polytope,
              const double               *u,
              const unsigned int          n_basis,
              const bool                  with_values,
              const bool                  with_gradients)
      {
        const unsigned int n = batch.size();
        copy_points(batch, points);
        value.resize(n * n_components);
        if (with_gradients)
          for (int d = 0; d < dim; ++d)
            gradient[d].resize(n * n_components);
        for (unsigned int c = 0; c < n_components; ++c)
          {
            std::array<double *, dim> g;
            for (int d = 0; d < dim; ++d)
              g[d] = with_gradients ? gradient[d].data() + c * n : nullptr;
            evaluator.evaluate(polytope,
                               u + c * n_basis,
                               n,
                               batch.pointers(),
                               value.data() + c * n,
                               with_gradients ? &g : nullptr);
          }
        if (with_values)
          {
            exact.values(points, exact_values);
            for (std::size_t i = 0; i < value.size(); ++i)
              value[i] -= exact_values[i];
          }
        if (with_gradients)
          {
            exact.gradients(points, exact_gradients);
            for (int d = 0; d < dim; ++d)
              for (std::size_t i = 0; i < value.size(); ++i)
                gradient[d][i] -= exact_gradients[i][d];
          }
      }

      const PolytopeEvaluator<dim>        &evaluator;
      FunctionBatch<dim>                   exact;
      const unsigned int                   n_components;
      std::vector<double>                  value;
      std::array<std::vector<double>, dim> gradient;
      std::vector<dealii::Point<dim>>      points;
      std::vector<double>                  exact_values;
      std::vector<dealii::Tensor<1, dim>>  exact_gradients;
    };
  } // namespace internal
} // namespace Tessella

#endif
