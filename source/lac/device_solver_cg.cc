// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/lac/device_solver_cg.h>

#include <cmath>
#include <sstream>
#include <string>

#include "../../cuda/lac/scalars.h"
#include "../../cuda/lac/vector.h"
#include "../base/collective.h"
#include "../device/device_call.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    void
    check_step(const CGNumbers &numbers, const unsigned int step)
    {
      const std::string where = " in step " + std::to_string(step) +
                                " of the conjugate gradient "
                                "method";
      AssertThrow(std::isfinite(numbers.pq) && std::isfinite(numbers.rr),
                  ExcMessage("Numbers are no longer finite" + where +
                             ": check that the matrix, the preconditioner and "
                             "the right-hand side are."));
      if (!(numbers.pq > 0.))
        {
          std::ostringstream text;
          text << "The matrix or the preconditioner is not positive definite: "
                  "the product of a direction, the matrix and the direction "
                  "is "
               << numbers.pq << where
               << ". Check the penalty constant, the coefficients and the "
                  "boundary conditions, or take GMRES.";
          AssertThrow(false, ExcMessage(text.str()));
        }
      AssertThrow(numbers.length != 0.,
                  ExcMessage("The product of the residual and the "
                             "preconditioned residual is zero or not finite" +
                             where +
                             ": the preconditioner is not positive definite."));
    }



    namespace
    {
      template <typename Number>
      using Operations = Device::VectorOperations<Number>;

      // Places of scalars in device memory; r.z has two.
      constexpr unsigned int place_of_rz = 0, place_of_pq = 2, place_of_rr = 3,
                             place_of_alpha = 4, place_of_beta = 5;
      // Places of a sum and its factor in the memory of the host.
      constexpr unsigned int host_place_of_pq = 0, host_place_of_rr = 2;

      Device::SumOnDevice
      sum(const Device::Scalars  &scalars,
          const unsigned int      place,
          const Device::SumFactor kind    = Device::SumFactor::none,
          const unsigned int      earlier = 0,
          const unsigned int      factor  = 0)
      {
        double *const values = scalars.values();
        return {values + place,
                kind,
                values + earlier,
                values + factor,
                scalars.sum_memory()};
      }

      void
      check_sizes(const std::size_t n, const std::size_t other)
      {
        AssertThrow(n == other, ExcDimensionMismatch(other, n));
      }
    } // namespace



    template <typename Number>
    bool
    DeviceCGSteps<Number>::is_possible(const VectorType &x)
    {
      return n_processes(x.get_mpi_communicator()) == 1 && x.size() > 0 &&
             x.size() <= Device::max_n_on_device;
    }



    template <typename Number>
    DeviceCGSteps<Number>::DeviceCGSteps()
      : scalars(device_call([] { return Device::take_scalars(); }))
    {}



    template <typename Number>
    void
    DeviceCGSteps<Number>::set_direction(const VectorType &r,
                                         const VectorType &z,
                                         VectorType       &p)
    {
      const std::size_t n = p.locally_owned_size();
      check_sizes(n, r.locally_owned_size());
      check_sizes(n, z.locally_owned_size());
      const unsigned int present = place_of_rz + n_directions % 2,
                         earlier = place_of_rz + (n_directions + 1) % 2;
      device_call([&] {
        if (n_directions == 0)
          {
            Operations<Number>::dot_on_device(n,
                                              r.begin(),
                                              z.begin(),
                                              sum(*scalars, present));
            Operations<Number>::copy(n, z.begin(), p.begin());
            return;
          }
        // Without a preconditioner, the step has computed beta.
        if (&r != &z)
          Operations<Number>::dot_on_device(n,
                                            r.begin(),
                                            z.begin(),
                                            sum(*scalars,
                                                present,
                                                Device::SumFactor::quotient,
                                                earlier,
                                                place_of_beta));
        Operations<Number>::combine_by(
          n, scalars->values() + place_of_beta, nullptr, z.begin(), p.begin());
      });
      without_preconditioner = &r == &z;
      ++n_directions;
    }



    template <typename Number>
    void
    DeviceCGSteps<Number>::make_step(const VectorType &p,
                                     const VectorType &q,
                                     VectorType       &x,
                                     VectorType       &r)
    {
      const std::size_t n = p.locally_owned_size();
      check_sizes(n, q.locally_owned_size());
      check_sizes(n, x.locally_owned_size());
      check_sizes(n, r.locally_owned_size());
      const unsigned int next    = place_of_rz + n_directions % 2,
                         present = place_of_rz + (n_directions + 1) % 2;
      device_call([&] {
        Device::SumOnDevice of_pq = sum(*scalars,
                                        place_of_pq,
                                        Device::SumFactor::step_length,
                                        present,
                                        place_of_alpha);
        Device::SumOnDevice of_rr = without_preconditioner
                                      ? sum(*scalars,
                                            next,
                                            Device::SumFactor::quotient,
                                            present,
                                            place_of_beta)
                                      : sum(*scalars, place_of_rr);
        of_pq.on_host             = scalars->on_host() + host_place_of_pq;
        of_rr.on_host             = scalars->on_host() + host_place_of_rr;
        Operations<Number>::dot_on_device(n, p.begin(), q.begin(), of_pq);
        Operations<Number>::step_on_device(n,
                                           scalars->values() + place_of_alpha,
                                           p.begin(),
                                           q.begin(),
                                           x.begin(),
                                           r.begin(),
                                           of_rr);
        scalars->mark();
      });
    }



    template <typename Number>
    CGNumbers
    DeviceCGSteps<Number>::wait()
    {
      return device_call([&] {
        scalars->wait();
        const double *const numbers = scalars->on_host();
        return CGNumbers{numbers[host_place_of_pq],
                         numbers[host_place_of_pq + 1],
                         numbers[host_place_of_rr]};
      });
    }



    template class DeviceCGSteps<double>;
    template class DeviceCGSteps<float>;
  } // namespace internal
} // namespace Tessella
