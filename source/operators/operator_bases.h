// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_operator_bases_h
#define tessella_source_operators_operator_bases_h

#include <tessella/portable/legendre.h>

#include <algorithm>
#include <vector>

#include "../backends/host_kernels.h"
#include "pointwise_context.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * The bases that the host evaluates for an operator: one for all spaces of
     * a type, since their functions of lower degree are the first ones of a
     * higher degree. On each polytope it has the highest degree of these
     * spaces.
     */
    template <int dim>
    class OperatorBases
    {
    public:
      explicit OperatorBases(const PointwiseContext<dim> &context)
        : context(context)
      {
        for (const auto &space : context.spaces)
          {
            const PolynomialSpaceType type = space->polynomial_space();
            unsigned int              b    = 0;
            while (b < bases.size() && bases[b].type != type)
              ++b;
            if (b == bases.size())
              bases.push_back({type, {}, {}, 0});
            basis_of_field.push_back(b);
            bases[b].spaces.push_back(&space->polytopic_dofs());
          }
        for (Basis &basis : bases)
          {
            unsigned int degree = 0;
            for (const PolytopicDoFs *dofs : basis.spaces)
              for (unsigned int k = 0; k < dofs->degree.size(); ++k)
                {
                  degree = std::max(degree, dofs->degree[k]);
                  basis.max_functions =
                    std::max(basis.max_functions, dofs->n_basis[k]);
                }
            basis.exponents.resize(
              dim * Legendre::n_functions(dim, degree, basis.type));
            Legendre::exponents(dim,
                                degree,
                                basis.type,
                                basis.exponents.data());
          }
      }

      unsigned int
      n_bases() const
      {
        return bases.size();
      }

      /// Basis of a field.
      unsigned int
      basis(const unsigned int field) const
      {
        return basis_of_field[field];
      }

      /// Largest number of functions of a basis on a polytope of this process.
      unsigned int
      max_functions(const unsigned int b) const
      {
        return bases[b].max_functions;
      }

      /// The basis on a polytope.
      HostKernels::Space
      space(const unsigned int b, const unsigned int polytope) const
      {
        const Basis &basis  = bases[b];
        unsigned int degree = 0, n_functions = 0;
        for (const PolytopicDoFs *dofs : basis.spaces)
          {
            degree      = std::max(degree, dofs->degree[polytope]);
            n_functions = std::max(n_functions, dofs->n_basis[polytope]);
          }
        return {degree,
                n_functions,
                basis.exponents.data(),
                &context.mesh().box[2 * dim * std::size_t(polytope)],
                basis.type != PolynomialSpaceType::total_degree};
      }

    private:
      struct Basis
      {
        PolynomialSpaceType                type;
        std::vector<const PolytopicDoFs *> spaces;
        std::vector<unsigned char>         exponents;
        unsigned int                       max_functions;
      };

      const PointwiseContext<dim> &context;
      std::vector<Basis>           bases;
      std::vector<unsigned int>    basis_of_field;
    };
  } // namespace internal
} // namespace Tessella

#endif
