// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_system_launcher_h
#define tessella_cuda_backends_system_launcher_h

#include <tessella/forms/constant_system.h>

#include "data.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Largest degree that SystemRowKernel is compiled for.
      constexpr unsigned int max_system_degree = 3;

      /// Launches SystemRowKernel for the rows of a chunk, on a mesh of
      /// simplices with one degree from 1 to max_system_degree. @p Number is
      /// the type of the matrix.
      template <int dim, typename Number>
      void
      launch_system_rows(const unsigned int              degree,
                         const Data<dim>                &data,
                         const ConstantSystemTerms<dim> &system,
                         const cudaStream_t              stream);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
