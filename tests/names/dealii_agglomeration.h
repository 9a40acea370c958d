// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_names_dealii_agglomeration_h
#define tessella_tests_names_dealii_agglomeration_h

// Names that deal.II's own agglomeration adds to namespace dealii: its headers
// if deal.II has them, otherwise declarations.

#if __has_include(<deal.II/dofs/agglomeration_handler.h>)
#  include <deal.II/dofs/agglomeration_handler.h>
#elif __has_include(<deal.II/grid/agglomeration_handler.h>)
#  include <deal.II/grid/agglomeration_handler.h>
#else

namespace dealii
{
  namespace internal
  {
    template <int, int>
    class AgglomerationHandlerImplementation;
    template <int dim, int spacedim>
    class PolytopeCache;
  } // namespace internal

  template <int dim, int spacedim = dim>
  class AgglomerationAccessor
  {};
  template <int dim, int spacedim = dim>
  class AgglomerationIterator
  {};
  template <int dim, int spacedim = dim>
  class AgglomerationHandler
  {};
  template <int dim, typename RtreeType>
  class CellsAgglomerator
  {};
  template <int dim, int spacedim = dim>
  class MappingBox
  {};
} // namespace dealii

#endif
#endif
