// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "simplex_kernel.h"

#include "../../cuda/operators/simplex_product.h"
#include "../device/device_call.h"
#include "../device/with_cuda.h"
#include "host_simplex_product.h"
#include "simplex_setup.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      const std::string simplex_reason =
        "every polytope is an affine simplex with constant coefficients";

      class HostSimplexKernel : public ProductKernel
      {
      public:
        HostSimplexKernel(SimplexData        &&data,
                          const InstructionSet instruction_set)
          : product(std::move(data), instruction_set)
        {}

        void
        vmult(const Device::Destination<double> &dst,
              const double                      *src,
              const double                      *ghosts,
              const bool                         transpose,
              const Rows                         rows) const override
        {
          if (rows != Rows::interior)
            product.vmult(dst, src, ghosts, transpose);
        }

        Backend
        type() const override
        {
          return Backend::host;
        }
        std::string
        name() const override
        {
          return "affine simplices";
        }
        std::string
        reason() const override
        {
          return simplex_reason;
        }
        double
        n_operations() const override
        {
          return product.n_operations();
        }
        std::size_t
        memory_consumption() const override
        {
          return product.memory_consumption();
        }

      private:
        const HostSimplexProduct product;
      };

      class CUDASimplexKernel : public ProductKernel
      {
      public:
        explicit CUDASimplexKernel(const SimplexData &data)
        {
          const SimplexReference reference(data.dim, data.degree);
          operations = HostSimplexProduct::n_operations(data, reference);
          device_call([&] {
            product = std::make_unique<Device::SimplexProduct>(data, reference);
          });
        }

        void
        vmult(const Device::Destination<double> &dst,
              const double                      *src,
              const double                      *ghosts,
              const bool                         transpose,
              const Rows                         rows) const override
        {
          if (rows != Rows::interior)
            device_call([&] { product->vmult(dst, src, ghosts, transpose); });
        }

        Backend
        type() const override
        {
          return Backend::cuda;
        }
        std::string
        name() const override
        {
          return "affine simplices";
        }
        std::string
        reason() const override
        {
          return simplex_reason;
        }
        double
        n_operations() const override
        {
          return operations;
        }
        std::size_t
        memory_consumption() const override
        {
          return product->memory_consumption();
        }

      private:
        std::unique_ptr<Device::SimplexProduct> product;
        double                                  operations;
      };
    } // namespace



    template <int dim>
    std::unique_ptr<ProductKernel>
    make_simplex_kernel(const PolytopicMesh<dim>  &mesh,
                        const PolytopicDoFs       &dofs,
                        const Form<dim>           &form,
                        const std::vector<double> &sigma,
                        const Backend              backend,
                        const InstructionSet       instruction_set)
    {
      SimplexData data;
      if (!set_up_simplex_data(mesh, dofs, form, sigma, data).empty())
        return nullptr;
      if constexpr (with_cuda)
        if (backend == Backend::cuda)
          {
            if (data.degree > Device::SimplexProduct::max_degree(dim))
              return nullptr;
            return std::make_unique<CUDASimplexKernel>(data);
          }
      return std::make_unique<HostSimplexKernel>(std::move(data),
                                                 instruction_set);
    }



#define INSTANTIATE(dim)                                       \
  template std::unique_ptr<ProductKernel> make_simplex_kernel( \
    const PolytopicMesh<dim> &,                                \
    const PolytopicDoFs &,                                     \
    const Form<dim> &,                                         \
    const std::vector<double> &,                               \
    const Backend,                                             \
    const InstructionSet)

    INSTANTIATE(2);
    INSTANTIATE(3);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
