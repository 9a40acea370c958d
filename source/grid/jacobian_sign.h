// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_jacobian_sign_h
#define tessella_source_grid_jacobian_sign_h

#include <deal.II/base/point.h>

#include <deal.II/fe/fe.h>
#include <deal.II/lac/full_matrix.h>

#include <array>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Bounds of the Jacobian determinant of maps of degree 2, see
    /// MappingQuadratic::has_positive_jacobian().
    template <int dim>
    class JacobianSign
    {
    public:
      /// For simplices or for hypercubes; the tables are made on first use.
      static const JacobianSign &
      get(const bool simplex);

      /// Whether the determinant of the map with these nodes of @p fe has one
      /// sign on the whole cell, which is positive for hypercubes.
      bool
      is_positive(const dealii::FiniteElement<dim>      &fe,
                  const std::vector<dealii::Point<dim>> &nodes) const;

    private:
      /// Part of the reference cell: the points p_0 + sum t_d (p_d+1 - p_0)
      /// with t in the reference cell.
      using Part = std::array<dealii::Point<dim>, dim + 1>;

      explicit JacobianSign(const bool simplex);

      /// Values of all Bernstein polynomials at a point.
      std::vector<double>
      bernstein(const dealii::Point<dim> &t) const;

      /// Halves @p part, of which one half replaces it and the other is
      /// returned.
      Part
      bisect(Part &part) const;

      bool                                   simplex;
      unsigned int                           degree; ///< of the determinant
      std::vector<dealii::Point<dim>>        lattice;
      std::vector<std::array<unsigned, dim>> index; ///< times 1/degree
      /// Bernstein coefficients from values at the lattice.
      dealii::FullMatrix<double> inverse;
    };
  } // namespace internal
} // namespace Tessella

#endif
