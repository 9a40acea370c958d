// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_read_quadratic_msh_h
#define tessella_grid_read_quadratic_msh_h

#include <tessella/grid/mapping_quadratic.h>

#include <memory>
#include <string>

namespace Tessella
{
  /// Whether @p file is a .msh file, as text, that has elements of second order
  /// of dimension @p dim. False for a file that cannot be read.
  bool
  is_quadratic_msh(const std::string &file, const int dim);

  /**
   * Reads a mesh of second order, which deal.II's GridIn refuses, from a .msh
   * file of gmsh (format 2.2 or 4.1, text): triangles with 6 nodes, tetrahedra
   * with 10, quadrilaterals with 8 or 9, and hexahedra with 20 or 27. With 8 or
   * 20 nodes, those of faces and centres are points of the serendipity map, so
   * that the geometry is the same.
   *
   * @p triangulation, which must be empty, becomes the straight mesh of the
   * corners, with its cells in the order of the file. Physical groups are
   * material ids of cells and boundary ids of faces on the boundary. The
   * returned mapping has the nodes.
   *
   * Throws one sentence, which names the file, if it is damaged, binary, or of
   * another format, if it has cells of several types or of first order as well,
   * if cells disagree about the node of a common edge or face, and if a cell
   * turns over (see MappingQuadratic::has_positive_jacobian()); that message
   * has the number of the element. Simplices of the opposite orientation are
   * turned.
   */
  template <int dim>
  std::unique_ptr<MappingQuadratic<dim>>
  read_quadratic_msh(const std::string          &file,
                     dealii::Triangulation<dim> &triangulation);
} // namespace Tessella

#endif
