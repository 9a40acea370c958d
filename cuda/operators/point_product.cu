// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "operator_device.h"
#include "point_kernels.h"
#include "point_product.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Largest degrees with a kernel of their own.
        template <int dim, bool tensor_product>
        constexpr unsigned int max_point_degree = tensor_product
                                                    ? (dim == 2 ? 4 : 3)
                                                    : 6;

        /// Calls @p work with the space of a degree, if it has a kernel of its
        /// own; returns whether it has.
        template <int dim, bool tensor_product, int degree = 1, typename Work>
        bool
        with_space(const unsigned int p, const Work &work)
        {
          if (p == degree)
            {
              work(PointSpace<dim, degree, tensor_product>());
              return true;
            }
          if constexpr (degree < max_point_degree<dim, tensor_product>)
            return with_space<dim, tensor_product, degree + 1>(p, work);
          else
            return false;
        }

        template <typename Work>
        bool
        with_space(const unsigned int dim,
                   const bool         tensor_product,
                   const unsigned int degree,
                   const Work        &work)
        {
          if (dim == 2)
            return tensor_product ? with_space<2, true>(degree, work)
                                  : with_space<2, false>(degree, work);
          if (dim == 3)
            return tensor_product ? with_space<3, true>(degree, work)
                                  : with_space<3, false>(degree, work);
          return false;
        }
      } // namespace



      struct PointProduct::Implementation
      {
        struct Group
        {
          unsigned int        degree, n, n_interior;
          Array<unsigned int> polytopes;
        };

        explicit Implementation(const PointProductData &data)
          : dim(data.dim)
          , tensor_product(data.tensor_product)
          , degree(data.degree)
          , n_basis(data.n_basis)
          , exponents(data.exponents)
          , facet_of_point(data.facet_of_point)
          , dof_offset(data.dof_offset)
          , volume_begin(data.volume_begin)
          , side_begin(data.side_begin)
          , volume_records(data.volume_records)
          , frames(data.frames)
          , volume_points(data.volume_points)
          , facet_points(data.facet_points)
          , shift(data.shift)
          , values(data.values)
          , facets(data.facets)
          , groups(data.groups.size())
        {
          unsigned int max_degree = 0;
          for (const unsigned int p : data.degree)
            max_degree = p > max_degree ? p : max_degree;
          for (std::size_t g = 0; g < groups.size(); ++g)
            {
              const PointGroup &given = data.groups[g];
              groups[g].degree        = given.degree;
              groups[g].n             = given.polytopes.size();
              groups[g].n_interior    = given.n_interior;
              groups[g].polytopes     = Array<unsigned int>(given.polytopes);
            }
          arguments = {data.terms,
                       false,
                       data.n_owned,
                       degree.data(),
                       n_basis.data(),
                       exponents.data(),
                       dof_offset.data(),
                       frames.data(),
                       volume_points.data(),
                       facet_points.data(),
                       shift.data(),
                       volume_begin.data(),
                       side_begin.data(),
                       volume_records.data(),
                       facets.data(),
                       facet_of_point.data(),
                       values.data(),
                       nullptr,
                       nullptr,
                       max_degree};
          if (dim == 2)
            allow_memory(general_point_product<2>);
          else if (dim == 3)
            allow_memory(general_point_product<3>);
          else
            allow_memory(general_point_product<4>);
        }

        template <typename Kernel>
        void
        allow_memory(const Kernel &kernel)
        {
          memory = general_memory(dim, arguments.max_degree) * sizeof(double);
          if (memory > shared_memory_limit())
            throw Error(
              "The shared memory of the device does not suffice for "
              "products of this degree.");
          check(
            cudaFuncSetAttribute(kernel,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(memory)),
            "shared memory of a product without a matrix");
        }

        void
        launch(const PointArguments      &args,
               const Group               &group,
               const unsigned int         begin,
               const unsigned int         n,
               const Destination<double> &dst) const
        {
          const unsigned int *const list = group.polytopes.data() + begin;
          if (group.degree == 0)
            {
              if (dim == 2)
                general_point_product<2>
                  <<<n, 32, memory, current_stream()>>>(args, list, dst);
              else if (dim == 3)
                general_point_product<3>
                  <<<n, 32, memory, current_stream()>>>(args, list, dst);
              else
                general_point_product<4>
                  <<<n, 32, memory, current_stream()>>>(args, list, dst);
            }
          else
            with_space(
              dim, tensor_product, group.degree, [&](const auto space) {
                using Space = std::decay_t<decltype(space)>;
                point_product<Space><<<(n + point_warps - 1) / point_warps,
                                       32 * point_warps,
                                       0,
                                       current_stream()>>>(args, list, n, dst);
              });
          check(cudaGetLastError(), "a product without a matrix");
        }

        const unsigned int         dim;
        const bool                 tensor_product;
        const Array<unsigned int>  degree, n_basis, exponents, facet_of_point;
        const Array<std::uint64_t> dof_offset, volume_begin, side_begin,
          volume_records;
        const Array<double> frames, volume_points, facet_points, shift, values;
        const Array<PointFacet> facets;
        std::vector<Group>      groups;
        PointArguments          arguments;
        std::size_t             memory = 0;
      };



      bool
      PointProduct::has_kernel(const unsigned int dim,
                               const unsigned int degree,
                               const bool         tensor_product)
      {
        return with_space(dim, tensor_product, degree, [](const auto) {});
      }



      PointProduct::PointProduct(const PointProductData &data)
        : implementation(std::make_unique<Implementation>(data))
      {}

      PointProduct::~PointProduct() = default;



      void
      PointProduct::vmult(const Destination<double> &dst,
                          const double              *src,
                          const double              *ghosts,
                          const bool                 transpose,
                          const Rows                 rows) const
      {
        PointArguments args = implementation->arguments;
        args.transpose      = transpose;
        args.src            = src;
        args.ghosts         = ghosts;
        for (const Implementation::Group &group : implementation->groups)
          {
            const unsigned int begin =
                                 rows == Rows::boundary ? group.n_interior : 0,
                               end = rows == Rows::interior ? group.n_interior
                                                            : group.n;
            if (end > begin)
              implementation->launch(args, group, begin, end - begin, dst);
          }
      }



      std::size_t
      PointProduct::memory_consumption() const
      {
        const Implementation &i      = *implementation;
        std::size_t           result = 0;
        const auto            add    = [&result](const auto &array) {
          result += array.size() * sizeof(*array.data());
        };
        for (const auto *array :
             {&i.degree, &i.n_basis, &i.exponents, &i.facet_of_point})
          add(*array);
        for (const auto *array :
             {&i.dof_offset, &i.volume_begin, &i.side_begin, &i.volume_records})
          add(*array);
        for (const auto *array : {&i.frames,
                                  &i.volume_points,
                                  &i.facet_points,
                                  &i.shift,
                                  &i.values})
          add(*array);
        add(i.facets);
        for (const auto &group : i.groups)
          add(group.polytopes);
        return result;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
