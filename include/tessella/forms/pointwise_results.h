// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_results_h
#define tessella_forms_pointwise_results_h

#include <tessella/forms/pointwise_evaluation.h>

// Results of a functor at a point, or their derivative, in the kernels of
// residuals and tangents.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Calls of a functor with doubles for the residual, with dual numbers
      /// for the tangent.
      template <int dim, typename F, bool tangent>
      class PointwiseResults
      {
      public:
        using Traits = PointwiseTraits<dim, F>;
        template <typename Number>
        using Input = typename Traits::template Input<Number>;
        template <typename Number>
        using Output           = typename Traits::template Output<Number>;
        static constexpr int m = Traits::n_outputs;

        /// Calls work(u0, u1, results) with zero results.
        template <unsigned int rows, typename Work>
        TESSELLA_HOST_DEVICE static void
        call(const Input<double> &u0,
             const Input<double> &du0,
             const Input<double> &u1,
             const Input<double> &du1,
             const Work          &work)
        {
          if constexpr (tangent)
            {
              Input<Dual<1>>  v0, v1;
              Output<Dual<1>> r[2];
              set_dual<rows>(u0, du0, v0);
              set_dual<rows>(u1, du1, v1);
              set_zero(r);
              work(v0, v1, r);
            }
          else
            {
              Output<double> r[2];
              set_zero(r);
              work(u0, u1, r);
            }
        }

        /// Calls store(row, result) with the results times the weight of the
        /// point. If one is not finite, the code of its component and of point
        /// @p number of the tables is left in @p error, unless there is a
        /// smaller one.
        template <unsigned int rows, typename Terms, typename Store>
        TESSELLA_HOST_DEVICE static void
        write(const Terms        &r,
              const double        weight,
              const bool          facet,
              const std::uint64_t number_of_point,
              unsigned long long *error,
              const Store        &store)
        {
          double check = 0.; // not a number if a result is not finite
          for_rows<dim, rows>(r, m, [&](const auto &entry, const int row) {
            const double value = number(entry);
            check              = fma(value, 0., check);
            store(row, weight * value);
          });
          if (!(check == 0.))
            report<rows>(r, facet, number_of_point, error);
        }

      private:
        template <unsigned int rows, typename Terms>
        TESSELLA_HOST_DEVICE static void
        report(const Terms        &r,
               const bool          facet,
               const std::uint64_t number_of_point,
               unsigned long long *error)
        {
          unsigned int  component = 0;
          constexpr int n_rows    = n_used_rows(dim, rows);
          bool          found     = false;
          for_rows<dim, rows>(r, m, [&](const auto &entry, const int row) {
            const double zero = number(entry) * 0.;
            if (!found && !(zero == 0.))
              {
                found     = true;
                component = static_cast<unsigned int>(row / n_rows);
              }
          });
          const unsigned long long code =
            pointwise_error_code(facet, number_of_point, component);
#ifdef __CUDA_ARCH__
          atomicMin(error, code);
#else
          *error = code < *error ? code : *error;
#endif
        }

        template <unsigned int rows>
        TESSELLA_HOST_DEVICE static void
        set_dual(const Input<double> &u,
                 const Input<double> &du,
                 Input<Dual<1>>      &v)
        {
          for (int c = 0; c < Traits::n_inputs; ++c)
            {
              if ((rows & PointwiseRows::values) != 0)
                {
                  v.value[c].value         = u.value[c];
                  v.value[c].derivative[0] = du.value[c];
                }
              if ((rows & PointwiseRows::gradients) != 0)
                for (int d = 0; d < dim; ++d)
                  {
                    v.gradient[c][d].value         = u.gradient[c][d];
                    v.gradient[c][d].derivative[0] = du.gradient[c][d];
                  }
            }
        }

        template <typename Number>
        TESSELLA_HOST_DEVICE static void
        set_zero(Output<Number> (&r)[2])
        {
          for (int s = 0; s < 2; ++s)
            for (int c = 0; c < m; ++c)
              {
                r[s].value[c] = 0.;
                for (int d = 0; d < dim; ++d)
                  r[s].gradient[c][d] = 0.;
              }
        }

        TESSELLA_HOST_DEVICE static double
        number(const double value)
        {
          return value;
        }
        TESSELLA_HOST_DEVICE static double
        number(const Dual<1> &value)
        {
          return value.derivative[0];
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
