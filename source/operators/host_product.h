// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_product_h
#define tessella_source_operators_host_product_h

#include <memory>
#include <vector>

#include "../backends/facet_points.h"
#include "../backends/system_pairs.h"
#include "form_tables.h"
#include "product_kernel.h"

namespace Tessella
{
  namespace internal
  {
    /// Products without a matrix for all forms, meshes and degrees on the
    /// host's threads: each polytope evaluates its function and those of its
    /// neighbours at the quadrature points, applies the coefficients of the
    /// form, and integrates against its test functions. Systems do this for
    /// each pair of components that has a form.
    template <int dim>
    class HostProduct : public ProductKernel
    {
    public:
      /// @p problem and what it refers to must outlive this object; the form is
      /// not needed after the constructor.
      HostProduct(const HostProblem<dim>    &problem,
                  const std::vector<double> &sigma,
                  const PolynomialSpaceType  space);
      /// The same for the forms of the pairs of components of a system, each
      /// with its sigma; the form of @p problem is not used.
      HostProduct(
        const HostProblem<dim>                                        &problem,
        const std::vector<SystemPair<dim>>                            &pairs,
        const std::vector<std::shared_ptr<const std::vector<double>>> &sigma,
        const PolynomialSpaceType                                      space);

      void
      vmult(const Device::Destination<double> &dst,
            const double                      *src,
            const double                      *ghosts,
            const bool                         transpose,
            const Rows                         rows) const override;
      Backend
      type() const override
      {
        return Backend::host;
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
      n_operations() const override;
      std::size_t
      memory_consumption() const override;

    private:
      // Coefficients that couple two components.
      struct Pair
      {
        unsigned int    test, trial;
        FormTables<dim> tables;
      };
      // Computes rows; each task has one object.
      class RowProduct;

      // Mesh, basis and lists of polytopes, without pairs.
      HostProduct(const HostProblem<dim>   &problem,
                  const PolynomialSpaceType space);
      double
      n_operations(const FormTables<dim> &tables) const;

      HostKernels::Space
      space(const unsigned int k) const
      {
        return {dofs.degree[k],
                dofs.n_basis[k],
                exponents.data(),
                &mesh.box[2 * dim * std::size_t(k)],
                tensor_product};
      }

      const PolytopicMesh<dim>        &mesh;
      const PolytopicDoFs             &dofs;
      const HostRules<dim>            &rules;
      const HostKernels::Kernels<dim> &kernels;
      const bool                       tensor_product;
      std::vector<unsigned char>       exponents;
      std::vector<Pair>                pairs;
      /// Polytopes without and with neighbours on other processes.
      std::vector<unsigned int> interior, boundary;
    };
  } // namespace internal
} // namespace Tessella

#endif
