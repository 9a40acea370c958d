// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "cuda_product.h"

#include <algorithm>

#include "../../cuda/operators/point_product.h"
#include "../device/device_call.h"
#include "../device/with_cuda.h"
#include "form_tables.h"
#include "pointwise_tables.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      template <int dim>
      void
      set_terms(const FormTables<dim> &tables, Device::PointTerms &terms)
      {
        const VolumeStructure &volume = tables.volume_structure;
        const FacetStructure  &facet  = tables.facet_structure;
        terms.isotropic  = volume.diffusion == DiffusionType::isotropic;
        terms.tensor     = volume.diffusion == DiffusionType::tensor;
        terms.beta       = volume.beta;
        terms.b          = volume.b;
        terms.c          = volume.c;
        terms.facet_beta = facet.beta;
        terms.facet_b    = facet.b;
        terms.penalty    = tables.penalty_facets;
        terms.theta      = tables.theta;
      }



      // Facets of owned polytopes as these see them, in the order of the
      // host's products.
      template <int dim>
      void
      set_facets(const PolytopicMesh<dim>   &mesh,
                 const FormTables<dim>      &tables,
                 const PointwiseTables<dim> &points,
                 Device::PointProductData   &data)
      {
        data.side_begin.assign(1, 0);
        for (unsigned int k = 0; k < data.n_owned; ++k)
          {
            unsigned int n = 0;
            for (unsigned int e = mesh.polytope_interface_offset[k];
                 e < mesh.polytope_interface_offset[k + 1] &&
                 tables.facet_structure.facets;
                 ++e)
              {
                const unsigned int code      = mesh.polytope_interface[e],
                                   interface = code / 2, side = code % 2;
                for (unsigned int f = mesh.facet_offset[interface];
                     f < mesh.facet_offset[interface + 1];
                     ++f)
                  {
                    Device::PointFacet facet = {};
                    facet.own_record         = tables.facet_place(f, side);
                    facet.other_record       = tables.facet_place(f, 1 - side);
                    facet.first_point        = points.facet_point[f];
                    facet.begin              = n;
                    facet.n_points =
                      points.facet_point[f + 1] - points.facet_point[f];
                    facet.neighbor = mesh.neighbor(code);
                    facet.shift    = mesh.interface_shift[interface];
                    facet.side     = side;
                    data.facet_of_point.insert(data.facet_of_point.end(),
                                               facet.n_points,
                                               data.facets.size());
                    data.facets.push_back(facet);
                    n += facet.n_points;
                  }
              }
            data.side_begin.push_back(data.side_begin.back() + n);
          }
      }



      // Polytopes whose neighbours have other degrees have no kernel for their
      // degree.
      template <int dim>
      void
      set_groups(const PolytopicMesh<dim> &mesh,
                 const PolynomialSpaceType space,
                 Device::PointProductData &data)
      {
        std::vector<Device::PointGroup> groups(Legendre::max_degree + 1);
        for (const bool at_ghosts : {false, true})
          for (unsigned int k = 0; k < data.n_owned; ++k)
            {
              const unsigned int p = data.degree[k];
              unsigned int       group =
                space != PolynomialSpaceType::prismatic &&
                    Device::PointProduct::has_kernel(dim,
                                                     p,
                                                     data.tensor_product)
                        ? p
                        : 0;
              bool has_ghosts = false;
              for (unsigned int e = mesh.polytope_interface_offset[k];
                   e < mesh.polytope_interface_offset[k + 1];
                   ++e)
                {
                  const unsigned int l =
                    mesh.neighbor(mesh.polytope_interface[e]);
                  if (l == invalid_index)
                    continue;
                  has_ghosts = has_ghosts || l >= data.n_owned;
                  if (data.degree[l] != p)
                    group = 0;
                }
              if (has_ghosts != at_ghosts)
                continue;
              groups[group].degree = group;
              groups[group].polytopes.push_back(k);
              groups[group].n_interior += !at_ghosts;
            }
        for (auto &group : groups)
          if (!group.polytopes.empty())
            data.groups.push_back(std::move(group));
      }



      template <int dim>
      Device::PointProductData
      point_product_data(const HostProblem<dim>    &problem,
                         const std::vector<double> &sigma,
                         const PolynomialSpaceType  space)
      {
        const PolytopicMesh<dim> &mesh = problem.mesh;
        const PolytopicDoFs      &dofs = problem.dofs;
        FormTables<dim>           tables;
        tables.reinit(problem, sigma);
        PointwiseTables<dim> points(mesh, dofs, problem.rules, problem.kernels);
        Device::PointProductData data;
        data.dim            = dim;
        data.n_owned        = mesh.n_owned_polytopes();
        data.tensor_product = space == PolynomialSpaceType::tensor_product;
        set_terms(tables, data.terms);
        data.degree     = dofs.degree;
        data.n_basis    = dofs.n_basis;
        data.dof_offset = dofs.dof_offset;
        data.frames     = polytope_frames(mesh);
        data.shift      = mesh.shift;
        const unsigned int degree =
          data.degree.empty()
            ? 0
            : *std::max_element(data.degree.begin(), data.degree.end());
        data.exponents = packed_exponents(dim, degree, space);
        for (unsigned int k = 0; k <= data.n_owned; ++k)
          data.volume_begin.push_back(
            points.subcell_point[mesh.subcell_offset[k]]);
        if (tables.n_volume > 0)
          for (unsigned int k = 0; k < data.n_owned; ++k)
            data.volume_records.push_back(tables.volume_place(k));
        else
          points.volume_points.clear();
        set_facets(mesh, tables, points, data);
        set_groups(mesh, space, data);
        data.volume_points = std::move(points.volume_points);
        data.facet_points  = std::move(points.facet_points);
        data.values        = tables.all_values();
        return data;
      }



      // Multiplications and additions of a product: at a point, each function
      // is evaluated by two of both for each number of its sum, and so is the
      // product with each test function.
      double
      n_product_operations(const Device::PointProductData &data)
      {
        double result = 0.;
        for (unsigned int k = 0; k < data.n_owned; ++k)
          {
            const double n = data.n_basis[k];
            if (!data.volume_records.empty())
              result +=
                8. * n * (data.volume_begin[k + 1] - data.volume_begin[k]);
            for (std::uint64_t j = data.side_begin[k];
                 j < data.side_begin[k + 1];)
              {
                const Device::PointFacet &facet =
                  data.facets[data.facet_of_point[j]];
                const double other = facet.neighbor == invalid_index
                                       ? 0.
                                       : data.n_basis[facet.neighbor];
                result += (8. * n + 4. * other) * facet.n_points;
                j += facet.n_points;
              }
          }
        return result;
      }

      class CUDAProduct : public ProductKernel
      {
      public:
        explicit CUDAProduct(const Device::PointProductData &data)
          : operations(n_product_operations(data))
        {
          device_call(
            [&] { product = std::make_unique<Device::PointProduct>(data); });
        }

        void
        vmult(const Device::Destination<double> &dst,
              const double                      *src,
              const double                      *ghosts,
              const bool                         transpose,
              const Rows                         rows) const override
        {
          using DeviceRows = Device::PointProduct::Rows;
          device_call([&] {
            product->vmult(dst,
                           src,
                           ghosts,
                           transpose,
                           rows == Rows::all        ? DeviceRows::all
                           : rows == Rows::interior ? DeviceRows::interior
                                                    : DeviceRows::boundary);
          });
        }

        Backend
        type() const override
        {
          return Backend::cuda;
        }
        std::string
        name() const override
        {
          return "sums at quadrature points";
        }
        std::string
        reason() const override
        {
          return "serves all forms, meshes and degrees";
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
        std::unique_ptr<Device::PointProduct> product;
        const double                          operations;
      };
    } // namespace



    template <int dim>
    std::unique_ptr<ProductKernel>
    make_cuda_product(const HostProblem<dim>    &problem,
                      const std::vector<double> &sigma,
                      const PolynomialSpaceType  space)
    {
      assert_device_is_available();
      if constexpr (with_cuda)
        return std::make_unique<CUDAProduct>(
          point_product_data(problem, sigma, space));
      else
        return nullptr; // not reached
    }



#define INSTANTIATE(dim)                                          \
  template std::unique_ptr<ProductKernel> make_cuda_product<dim>( \
    const HostProblem<dim> &,                                     \
    const std::vector<double> &,                                  \
    PolynomialSpaceType)

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
