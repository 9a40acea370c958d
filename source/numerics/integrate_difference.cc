// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/exceptions.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/quadrature/quadrature_order.h>

#include <cmath>
#include <string>

#include "../lac/reproducible_sum.h"
#include "collective_ranges.h"
#include "function_batch.h"
#include "polytope_projection.h"

namespace Tessella
{
  namespace VectorTools
  {
    using namespace internal;
    using dealii::Function;
    using dealii::Point;
    using dealii::VectorTools::NormType;

    namespace
    {
      /// Checks the norm and the exponent. @p who is the name of the calling
      /// function.
      void
      check_norm(const std::string &who,
                 const NormType     norm,
                 const double       exponent)
      {
        AssertThrow(norm == NormType::mean || norm == NormType::L1_norm ||
                      norm == NormType::L2_norm || norm == NormType::Lp_norm ||
                      norm == NormType::Linfty_norm ||
                      norm == NormType::H1_seminorm ||
                      norm == NormType::H1_norm,
                    dealii::ExcMessage(
                      who +
                      " knows mean, L1_norm, L2_norm, Lp_norm, Linfty_norm, "
                      "H1_seminorm and H1_norm; use one of these."));
        AssertThrow(norm != NormType::Lp_norm ||
                      (exponent >= 1. && std::isfinite(exponent)),
                    dealii::ExcMessage(
                      who +
                      " needs an exponent from 1 on for Lp_norm, but it "
                      "is " +
                      std::to_string(exponent) + "."));
      }

      /// Adds the integral over the points of @p batch of that power of the
      /// error of which @p norm is the root, or the largest error, to @p sum,
      /// for the components that @p mask selects.
      template <int dim>
      void
      add_powers(const QuadratureBatch<dim>  &batch,
                 const ErrorBatch<dim>       &error,
                 const NormType               norm,
                 const double                 exponent,
                 const dealii::ComponentMask &mask,
                 double                      &sum)
      {
        const unsigned int n = batch.size();
        if (norm == NormType::Lp_norm)
          {
            // The norm contains powers of the Euclidean length of the vector.
            for (unsigned int q = 0; q < n; ++q)
              {
                double square = 0.;
                for (unsigned int c = 0; c < error.n_components; ++c)
                  if (mask[c])
                    square += error.value[std::size_t(c) * n + q] *
                              error.value[std::size_t(c) * n + q];
                sum += batch.weight[q] * std::pow(square, .5 * exponent);
              }
            return;
          }
        for (unsigned int c = 0; c < error.n_components; ++c)
          for (unsigned int q = 0; mask[c] && q < n; ++q)
            {
              const double      w = batch.weight[q];
              const std::size_t i = std::size_t(c) * n + q;
              const double      e = error.value[i];
              switch (norm)
                {
                  case NormType::mean:
                    sum -= w * e;
                    break;
                  case NormType::L1_norm:
                    sum += w * std::abs(e);
                    break;
                  case NormType::Linfty_norm:
                    sum = std::max(sum, std::abs(e));
                    break;
                  default: // L2_norm, H1_seminorm, H1_norm
                    if (norm != NormType::H1_seminorm)
                      sum += w * e * e;
                    if (norm != NormType::L2_norm)
                      for (int d = 0; d < dim; ++d)
                        sum += w * error.gradient[d][i] * error.gradient[d][i];
                }
            }
      }
    } // namespace



    template <int dim>
    void
    integrate_difference(const AgglomerationHandler<dim> &handler,
                         const ConstVectorView           &solution,
                         const FunctionArgument<dim>     &argument,
                         dealii::Vector<float>           &difference,
                         const NormType                   norm,
                         const unsigned int               extra_order,
                         const double                     exponent,
                         const dealii::ComponentMask     &mask)
    {
      check_norm("integrate_difference()", norm, exponent);
      check_mask(mask, handler.n_components());
      const bool gradients =
        (norm == NormType::H1_seminorm || norm == NormType::H1_norm);
      const Function<dim> &exact = check_function(handler, argument);
      handler.tabulate(extra_order);
      std::vector<double>          memory;
      const double *const          u    = own_values(handler, solution, memory);
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopicDoFs         &dofs = handler.polytopic_dofs();
      const PolytopeEvaluator<dim> evaluator(handler);

      const std::vector<WorkItem> items = work_items(mesh, 64);
      std::vector<double>         partial(items.size());
      apply_to_ranges(
        handler.get_communicator(),
        items.size(),
        [&](const std::size_t begin, const std::size_t end) {
          QuadratureBatch<dim> batch;
          ErrorBatch<dim>      error(evaluator, exact);
          for (std::size_t item = begin; item < end; ++item)
            {
              const unsigned int k = items[item].polytope;
              const unsigned int order =
                quadrature_order(dim, dofs.degree[k], extra_order, false);
              double sum = 0.;
              batch.for_subcells(
                mesh, items[item].begin, items[item].end, order, [&]() {
                  error.compute(batch,
                                k,
                                u + dofs.dof_offset[k],
                                dofs.n_basis[k],
                                norm != NormType::H1_seminorm,
                                gradients);
                  add_powers(batch, error, norm, exponent, mask, sum);
                });
              partial[item] = sum;
            }
        },
        8);

      std::vector<double> total(mesh.n_owned_polytopes(), 0.);
      for (std::size_t item = 0; item < items.size(); ++item)
        {
          double &t = total[items[item].polytope];
          t         = norm == NormType::Linfty_norm ? std::max(t, partial[item])
                                                    : t + partial[item];
        }
      const bool root = (gradients || norm == NormType::L2_norm);
      difference.reinit(mesh.n_owned_polytopes(), true);
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        difference[k] = static_cast<float>(root ? std::sqrt(total[k])
                                           : norm == NormType::Lp_norm
                                             ? std::pow(total[k], 1. / exponent)
                                             : total[k]);
    }



    template <int dim>
    double
    compute_global_error(const AgglomerationHandler<dim> &handler,
                         const dealii::Vector<float>     &cellwise_error,
                         const NormType                   norm,
                         const double                     exponent)
    {
      check_norm("compute_global_error()", norm, exponent);
      const MPI_Comm communicator = handler.get_communicator();
      on_all_processes(communicator, [&]() {
        AssertThrow(cellwise_error.size() == handler.n_polytopes(),
                    ExcUserInput(
                      "compute_global_error() was given " +
                      std::to_string(cellwise_error.size()) +
                      " numbers, but this process has " +
                      std::to_string(handler.n_polytopes()) +
                      " polytopes: give the vector that "
                      "integrate_difference() filled for this handler."));
      });
      // Sums of powers have the same bits for any number of processes.
      std::vector<double> powers;
      double              largest = 0.;
      for (const float d : cellwise_error)
        {
          const double e = d;
          switch (norm)
            {
              case NormType::mean:
              case NormType::L1_norm:
                powers.push_back(e);
                break;
              case NormType::Linfty_norm:
                largest = std::max(largest, e);
                break;
              case NormType::Lp_norm:
                powers.push_back(std::pow(e, exponent));
                break;
              default: // L2_norm, H1_seminorm, H1_norm
                powers.push_back(e * e);
            }
        }
      if (norm == NormType::Linfty_norm)
        return dealii::Utilities::MPI::max(largest, communicator);
      const double sum =
        value_of_all(communicator, host_sum(powers.size(), powers.data()));
      if (norm == NormType::Lp_norm)
        return std::pow(sum, 1. / exponent);
      return (norm == NormType::L2_norm || norm == NormType::H1_seminorm ||
              norm == NormType::H1_norm)
               ? std::sqrt(sum)
               : sum;
    }



#define TESSELLA_INSTANTIATE(dim)                                            \
  template void integrate_difference<dim>(const AgglomerationHandler<dim> &, \
                                          const ConstVectorView &,           \
                                          const FunctionArgument<dim> &,     \
                                          dealii::Vector<float> &,           \
                                          const NormType,                    \
                                          const unsigned int,                \
                                          const double,                      \
                                          const dealii::ComponentMask &);

    TESSELLA_INSTANTIATE(2)
    TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
    template double
    compute_global_error<2>(const AgglomerationHandler<2> &,
                            const dealii::Vector<float> &,
                            const NormType,
                            const double);
    template double
    compute_global_error<3>(const AgglomerationHandler<3> &,
                            const dealii::Vector<float> &,
                            const NormType,
                            const double);
  } // namespace VectorTools
} // namespace Tessella
