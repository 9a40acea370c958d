// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// A system of forms on several processes has the same bits as on one process.

#include <deal.II/base/mpi.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <cstring>

#include "elasticity.h"

using namespace Tessella;

template <int dim>
struct Case
{
  parallel::distributed::Triangulation<dim> triangulation;
  AgglomerationHandler<dim>                 handler;
  TrilinosWrappers::SparseMatrix            matrix;
  TrilinosWrappers::MPI::Vector             rhs;

  static const Triangulation<dim> &
  refine(parallel::distributed::Triangulation<dim> &triangulation)
  {
    GridGenerator::hyper_cube(triangulation, 0., 1., true);
    triangulation.refine_global(dim == 2 ? 4 : 3);
    for (const auto &cell : triangulation.active_cell_iterators())
      if (cell->is_locally_owned() && cell->center()[0] < 0.3 &&
          cell->center()[1] > 0.5)
        cell->set_refine_flag();
    triangulation.execute_coarsening_and_refinement();
    return triangulation;
  }

  Case(const MPI_Comm communicator, const unsigned int degree)
    : triangulation(communicator)
    , handler(refine(triangulation))
  {
    handler.agglomerate(Agglomeration::complete_families<dim>());
    Elasticity::distribute(handler, dim, degree);
    PolytopicAssembler<dim> assembler(handler);
    assembler.reinit(matrix, rhs);
    assembler.assemble(*Elasticity::make_form<dim>(false), matrix, rhs);
  }
};

bool
same_bits(const double a, const double b)
{
  return std::memcmp(&a, &b, sizeof(double)) == 0;
}

template <int dim>
void
compare_processes(const unsigned int degree)
{
  const Case<dim> here(MPI_COMM_SELF, degree), all(MPI_COMM_WORLD, degree);
  bool            matrix =
         here.matrix.m() == all.matrix.m() &&
         here.matrix.n_nonzero_elements() == all.matrix.n_nonzero_elements(),
       rhs = true;
  for (const auto i : all.rhs.locally_owned_elements())
    {
      rhs = rhs && same_bits(here.rhs(i), all.rhs(i));
      for (auto entry = all.matrix.begin(i); entry != all.matrix.end(i);
           ++entry)
        matrix = matrix &&
                 same_bits(entry->value(), here.matrix.el(i, entry->column()));
    }
  const std::string name =
    std::to_string(dim) + "d, p = " + std::to_string(degree);
  check(name + ", matrix",
        Utilities::MPI::min(matrix ? 1 : 0, MPI_COMM_WORLD) == 1);
  check(name + ", rhs", Utilities::MPI::min(rhs ? 1 : 0, MPI_COMM_WORLD) == 1);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  compare_processes<2>(1);
  compare_processes<2>(3);
  compare_processes<3>(1);
}
