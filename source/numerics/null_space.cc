// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/parallel.h>

#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/null_space.h>
#include <tessella/portable/legendre.h>
#include <tessella/values/polytope_quadrature.h>

#include <algorithm>
#include <type_traits>

#include "../base/collective.h"
#include "../base/vector_types.h"
#include "../lac/vector_access.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    // Gives a vector the distribution of the handler's degrees of freedom, and
    // entries.
    template <int dim>
    void
    set_constants_vector(const AgglomerationHandler<dim> &handler,
                         const std::vector<double>       &values,
                         Vector<double>                  &vector)
    {
      vector.reinit(handler.n_dofs());
      std::copy(values.begin(), values.end(), vector.begin());
    }

    template <int dim>
    void
    set_constants_vector(const AgglomerationHandler<dim> &handler,
                         const std::vector<double>       &values,
                         DeviceVector<double>            &vector)
    {
      vector.reinit(handler.locally_owned_dofs(),
                    handler.get_communicator(),
                    true);
      vector.copy_from(values);
    }

    template <int dim, typename VectorType>
    void
    set_constants_vector(const AgglomerationHandler<dim> &handler,
                         const std::vector<double>       &values,
                         VectorType                      &vector)
    {
      vector.reinit(handler.locally_owned_dofs(), handler.get_communicator());
      std::copy(values.begin(), values.end(), internal::entries(vector));
    }

    // Integrals of the basis functions of a component over the own polytopes,
    // in the order of polytopes.
    template <int dim>
    std::vector<double>
    integrals_of_basis(const AgglomerationHandler<dim> &handler)
    {
      const PolytopicMesh<dim>  &mesh = handler.polytopic_mesh();
      const PolytopicDoFs       &dofs = handler.polytopic_dofs();
      const unsigned int         n    = handler.n_polytopes();
      std::vector<std::uint64_t> first(n + 1, 0);
      unsigned int               highest = 0;
      for (unsigned int k = 0; k < n; ++k)
        {
          first[k + 1] = first[k] + dofs.n_basis[k];
          highest      = std::max(highest, dofs.degree[k]);
        }
      std::vector<double> result(first[n], 0.);
      const bool          tensor_product =
        handler.polynomial_space() == PolynomialSpaceType::tensor_product;
      std::vector<unsigned char> exponents(
        dim * Legendre::n_functions(dim, highest, tensor_product));
      Legendre::exponents(dim, highest, tensor_product, exponents.data());
      prepare_quadrature(handler, (tensor_product ? dim : 1) * highest);
      parallel::apply_to_subranges(
        0u,
        n,
        [&](const unsigned int begin, const unsigned int end) {
          PolytopeQuadrature<dim> quadrature;
          double                  line[dim][Legendre::max_degree + 1];
          for (unsigned int k = begin; k < end; ++k)
            {
              const double *const box =
                mesh.box.data() + 2 * dim * std::size_t(k);
              const unsigned int p = dofs.degree[k];
              quadrature.reinit(handler, k, (tensor_product ? dim : 1) * p);
              for (unsigned int q = 0; q < quadrature.size(); ++q)
                {
                  double factor = quadrature.JxW[q];
                  for (int d = 0; d < dim; ++d)
                    {
                      const double length = box[dim + d] - box[d];
                      Legendre::evaluate(p,
                                         (2. * quadrature.x[d][q] - box[d] -
                                          box[dim + d]) /
                                           length,
                                         line[d]);
                      factor /= std::sqrt(length);
                    }
                  for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
                    {
                      double value = factor;
                      for (int d = 0; d < dim; ++d)
                        value *= line[d][exponents[dim * i + d]];
                      result[first[k] + i] += value;
                    }
                }
            }
        },
        16);
      return result;
    }
  } // namespace



  template <typename VectorType>
  template <int dim>
  NullSpace<VectorType>
  NullSpace<VectorType>::constants(const AgglomerationHandler<dim> &handler,
                                   const ComponentMask             &mask)
  {
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    const PolytopicDoFs      &dofs = handler.polytopic_dofs();
    const unsigned int        m    = handler.n_components();
    AssertThrow(handler.n_dofs() > 0,
                ExcMessage("The constants of a space need degrees of freedom: "
                           "call distribute_dofs() of the AgglomerationHandler "
                           "first."));
    AssertThrow(mask.represents_n_components(m),
                ExcMessage("The component mask of a NullSpace has " +
                           std::to_string(mask.size()) +
                           " components, but the element has " +
                           std::to_string(m) + "."));
    AssertThrow(mask.n_selected_components(m) > 0,
                ExcMessage("The component mask of a NullSpace selects no "
                           "component."));
    AssertThrow((!std::is_same<VectorType, Vector<double>>::value ||
                 internal::n_processes(handler.get_communicator()) == 1),
                ExcMessage("A Vector lives on one process, but the mesh is "
                           "distributed over several: use HostVector, "
                           "LinearAlgebra::distributed::Vector or "
                           "TrilinosWrappers::MPI::Vector."));
    std::vector<double> integrals;
    Tessella::on_all_processes(handler.get_communicator(), [&] {
      integrals = integrals_of_basis(handler);
    });

    const unsigned int       n = handler.n_polytopes();
    std::vector<VectorType>  ones, functionals;
    std::vector<std::string> what;
    for (unsigned int c = 0; c < m; ++c)
      {
        if (!mask[c])
          continue;
        std::vector<double> one(dofs.dof_offset[n], 0.), l(one);
        const double       *integral = integrals.data();
        for (unsigned int k = 0; k < n; ++k)
          {
            const double *const box =
              mesh.box.data() + 2 * dim * std::size_t(k);
            double volume = 1.;
            for (int d = 0; d < dim; ++d)
              volume *= box[dim + d] - box[d];
            const std::uint64_t first =
              dofs.dof_offset[k] + std::uint64_t(c) * dofs.n_basis[k];
            one[first] = std::sqrt(volume);
            std::copy_n(integral, dofs.n_basis[k], l.begin() + first);
            integral += dofs.n_basis[k];
          }
        ones.emplace_back();
        functionals.emplace_back();
        set_constants_vector(handler, one, ones.back());
        set_constants_vector(handler, l, functionals.back());
        what.push_back(m == 1
                         ? "constants"
                         : "the constants of component " + std::to_string(c));
      }
    NullSpace result(std::move(ones), std::move(functionals));
    result.names = what;
    return result;
  }



#define INSTANTIATE(dim, VectorType)                               \
  template NullSpace<VectorType> NullSpace<VectorType>::constants( \
    const AgglomerationHandler<dim> &, const ComponentMask &);

  TESSELLA_FOR_VECTOR_TYPES(INSTANTIATE, 2)
  TESSELLA_FOR_VECTOR_TYPES(INSTANTIATE, 3)
  INSTANTIATE(2, HostVector<double>)
  INSTANTIATE(3, HostVector<double>)
  INSTANTIATE(2, DeviceVector<double>)
  INSTANTIATE(3, DeviceVector<double>)
#undef INSTANTIATE
} // namespace Tessella
