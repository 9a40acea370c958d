// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_reference_meshes_h
#define tessella_tests_reference_meshes_h

// Compares every entry of matrix and right-hand side to the reference
// assembler, for all kinds of meshes, agglomerations and degrees of the full
// problem.

#include "compare.h"

template <int dim>
void
compare_and_log(const std::string                         &name,
                const Tessella::AgglomerationHandler<dim> &handler,
                const Reference::Problem<dim>             &problem,
                const unsigned int                         coefficient_order,
                const unsigned int                         n_points,
                const Mapping<dim>                        *mapping = nullptr)
{
  const auto difference = compare(handler,
                                  problem,
                                  Give::tensor_functions,
                                  coefficient_order,
                                  n_points,
                                  mapping);
  check_below(name + " matrix", difference.first, 1e-12);
  check_below(name + " rhs", difference.second, 1e-12);
}

template <int dim>
void
compare_meshes()
{
  const Reference::Problem<dim> problem = full_problem<dim>();
  for (const std::string &mesh : straight_meshes)
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      // The area element of bilinear faces is not a polynomial, so both
      // assemblers use enough points.
      const bool warped = (dim == 3 && mesh == "distorted");
      for (const std::string agglomeration :
           {"none", "slabs", "steps", "scattered", "one"})
        {
          Tessella::AgglomerationHandler<dim> handler(triangulation);
          handler.agglomerate(make_strategy<dim>(agglomeration));
          for (unsigned int p = 0; p <= 4; ++p)
            {
              // many small blocks only once; with all degrees together below
              if (dim == 3 && agglomeration == "none" && p > 2)
                continue;
              handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
              compare_and_log(mesh + ", " + agglomeration +
                                ", p = " + std::to_string(p),
                              handler,
                              problem,
                              warped ? 22 : 4,
                              warped ? p + 12 : p + 5);
            }
          // tensor-product space
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(
            2, Tessella::PolynomialSpaceType::tensor_product));
          compare_and_log(mesh + ", " + agglomeration + ", Q2",
                          handler,
                          problem,
                          warped ? 22 : 4,
                          warped ? 14 : 2 * dim + 5);
          // hp
          distribute_mixed_degrees(handler, 4);
          compare_and_log(mesh + ", " + agglomeration + ", hp",
                          handler,
                          problem,
                          warped ? 22 : 4,
                          warped ? 16 : 9);
        }
    }
}

/// Compares on a mesh of cells of several types, up to degree @p max_degree.
template <int dim>
void
compare_mixed(const Triangulation<dim> &triangulation,
              const unsigned int        max_degree)
{
  for (const std::string agglomeration : {"none", "slabs", "one"})
    {
      Tessella::AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(make_strategy<dim>(agglomeration));
      for (unsigned int p = 0; p <= max_degree; ++p)
        {
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
          compare_and_log("mixed, " + agglomeration +
                            ", p = " + std::to_string(p),
                          handler,
                          full_problem<dim>(),
                          4,
                          p + 5);
        }
    }
}

/// Curved cells: compares the points of the library's tables to those of
/// FEValues.
template <int dim>
void
compare_curved()
{
  Reference::Problem<dim> problem = full_problem<dim>();
  // no facet on which b.n changes its sign
  problem.b = [](const Point<dim> &x) {
    Tensor<1, dim> b = x;
    b[0] -= 0.3 * x[1];
    b[1] += 0.3 * x[0];
    if (dim == 3)
      b = Tensor<1, dim>();
    return b;
  };
  Triangulation<dim> triangulation;
  make_mesh("curved", triangulation);
  const MappingQ<dim> mapping(3);
  for (const std::string agglomeration : {"none", "steps", "scattered"})
    {
      Tessella::AgglomerationHandler<dim> handler(triangulation, &mapping);
      handler.agglomerate(make_strategy<dim>(agglomeration));
      for (unsigned int p = 1; p <= 3; ++p)
        {
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
          compare_and_log("curved, " + agglomeration +
                            ", p = " + std::to_string(p),
                          handler,
                          problem,
                          8,
                          p + 16,
                          &mapping);
        }
    }
}

#endif
