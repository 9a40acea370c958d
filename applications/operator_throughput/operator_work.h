// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_operator_throughput_operator_work_h
#define tessella_applications_operator_throughput_operator_work_h

#include <tessella/grid/agglomeration_handler.h>

/// Operations and bytes that an operator needs at least.
struct OperatorWork
{
  double flops = 0., bytes = 0.;
};

/// Operations of a functor at a point of a volume and of an interior facet.
struct FunctorOperations
{
  double volume = 0., facet = 0.;
};

/// Those of the Euler equations with the flux HLLC, and of the convection of
/// incompressible flow, in three variables. Additions, multiplications,
/// divisions, roots and absolute values count as one each.
FunctorOperations
euler_operations();
FunctorOperations
convection_operations();

/**
 * Work of a conservation law in three variables whose volumes have values as
 * input and gradients as output, and whose facets have values alone, summed
 * over all polytopes.
 *
 * Operations: at each point and side 2 N m for the fields (N basis functions, m
 * components), at each point 2 N m for each row of results that is multiplied
 * by test functions, and the operations of the functor. Both owners of a facet
 * evaluate it. For tangents the fields count twice, and
 * the functor as it does with dual numbers. Jacobians: the functor with one
 * direction after the other but one evaluation of the values, and the products
 * of test functions, derivatives and trial functions, the smaller product
 * first. Basis functions at the points are not counted.
 *
 * Bytes: coefficients and results once, vertices of sub-cells and facets,
 * normals and measures once, entries of the matrix once.
 */
class OperatorWorkCounter
{
public:
  OperatorWorkCounter(const Tessella::AgglomerationHandler<3> &handler,
                      const unsigned int                       order,
                      const FunctorOperations                 &functor);

  OperatorWork
  residual() const;
  OperatorWork
  tangent() const;
  OperatorWork
  jacobian() const;

private:
  FunctorOperations functor;
  /// Number of components.
  double m = 1.;
  /// Sums over polytopes of the numbers of points, times the number of basis
  /// functions, and times its square (facets: with both sides).
  double n_volume = 0., n_facet = 0., volume_basis = 0., facet_basis = 0.,
         other_basis = 0., volume_pairs = 0., facet_pairs = 0.;
  double vectors = 0., geometry = 0., entries = 0.;
};

#endif
