// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Rectangular matrices on several processes: block rows have the same bits as
// on one process, products with vectors agree to rounding, the classes of
// matrices and of vectors agree, and the report.

#include <deal.II/base/mpi.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/rectangular_assembler.h>
#include <tessella/forms/divergence_form.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "../messages.h"
#include "elasticity.h"

using namespace Tessella;

template <int dim>
struct Case
{
  parallel::distributed::Triangulation<dim>  triangulation;
  AgglomerationHandler<dim>                  pressure, speed;
  TrilinosWrappers::SparseMatrix             matrix;
  TrilinosWrappers::MPI::Vector              rhs;
  LinearAlgebra::distributed::Vector<double> other_rhs;
  AssemblyReport                             report;

  static const Triangulation<dim> &
  refine(parallel::distributed::Triangulation<dim> &triangulation)
  {
    GridGenerator::hyper_cube(triangulation, 0., 1., true);
    triangulation.refine_global(dim == 2 ? 4 : 2);
    for (const auto &cell : triangulation.active_cell_iterators())
      if (cell->is_locally_owned() && cell->center()[0] < 0.3 &&
          cell->center()[1] > 0.5)
        cell->set_refine_flag();
    triangulation.execute_coarsening_and_refinement();
    return triangulation;
  }

  static std::unique_ptr<DivergenceForm<dim>>
  make_form()
  {
    auto form = std::make_unique<DivergenceForm<dim>>();
    form->set_dirichlet(
      std::make_shared<VectorLambda<dim>>([](const Point<dim> &x) {
        Tensor<1, dim> u;
        for (unsigned int d = 0; d < dim; ++d)
          u[d] = std::sin(x[d] + 2. * x[0]);
        return u;
      }));
    return form;
  }

  Case(const MPI_Comm     communicator,
       const unsigned int p_pressure,
       const unsigned int p_speed)
    : triangulation(communicator)
    , pressure(refine(triangulation))
    , speed(triangulation)
  {
    for (auto *handler : {&pressure, &speed})
      handler->agglomerate(Agglomeration::complete_families<dim>());
    Elasticity::distribute(pressure, 1, p_pressure);
    Elasticity::distribute(speed, dim, p_speed);
    RectangularAssembler<dim>      assembler(pressure, speed);
    TrilinosWrappers::SparseMatrix other;
    assembler.reinit(other, other_rhs);
    assembler.assemble(*make_form(), other, other_rhs);
    assembler.reinit(matrix, rhs);
    assembler.assemble(*make_form(), matrix, rhs);
    report = assembler.report();
  }
};

bool
same_bits(const double a, const double b)
{
  return std::memcmp(&a, &b, sizeof(double)) == 0;
}

void
check_on_all(const std::string &name, const bool condition)
{
  check(name, Utilities::MPI::min(condition ? 1 : 0, MPI_COMM_WORLD) == 1);
}

/// Products with the matrix and with its transpose.
template <int dim>
void
compare_products(const std::string &name,
                 const Case<dim>   &here,
                 const Case<dim>   &all)
{
  const auto entry = [](const auto i) { return std::sin(1. + 0.37 * i); };
  double     worst = 0.;
  for (const bool transposed : {false, true})
    {
      TrilinosWrappers::MPI::Vector x[2], y[2];
      for (unsigned int c = 0; c < 2; ++c)
        {
          const auto &matrix = (c == 0 ? here : all).matrix;
          const auto  comm   = c == 0 ? MPI_COMM_SELF : MPI_COMM_WORLD;
          const auto  rows   = matrix.locally_owned_range_indices(),
                     columns = matrix.locally_owned_domain_indices();
          x[c].reinit(transposed ? rows : columns, comm);
          y[c].reinit(transposed ? columns : rows, comm);
          for (const auto i : x[c].locally_owned_elements())
            x[c](i) = entry(i);
          x[c].compress(VectorOperation::insert);
          if (transposed)
            matrix.Tvmult(y[c], x[c]);
          else
            matrix.vmult(y[c], x[c]);
        }
      for (const auto i : y[1].locally_owned_elements())
        worst =
          std::max(worst, std::abs(y[0](i) - y[1](i)) / y[0].linfty_norm());
    }
  check_below(name + ", products",
              Utilities::MPI::max(worst, MPI_COMM_WORLD),
              1e-14);
}

template <int dim>
void
compare_processes(const unsigned int p_pressure, const unsigned int p_speed)
{
  const Case<dim> here(MPI_COMM_SELF, p_pressure, p_speed),
    all(MPI_COMM_WORLD, p_pressure, p_speed);
  bool matrix =
         here.matrix.m() == all.matrix.m() &&
         here.matrix.n() == all.matrix.n() &&
         here.matrix.n_nonzero_elements() == all.matrix.n_nonzero_elements(),
       rhs = true, nonzero = false;
  for (const auto i : all.rhs.locally_owned_elements())
    {
      rhs = rhs && same_bits(here.rhs(i), all.rhs(i)) &&
            same_bits(all.rhs(i), all.other_rhs(i));
      for (auto entry = all.matrix.begin(i); entry != all.matrix.end(i);
           ++entry)
        {
          matrix  = matrix && same_bits(entry->value(),
                                       here.matrix.el(i, entry->column()));
          nonzero = nonzero || entry->value() != 0.;
        }
    }
  const std::string name = std::to_string(dim) +
                           "d, p = " + std::to_string(p_pressure) + ", " +
                           std::to_string(p_speed);
  check_on_all(name + ", matrix", matrix && nonzero);
  check_on_all(name + ", rhs", rhs);
  compare_products(name, here, all);
  check_on_all(name + ", report",
               all.report.backend == Backend::host &&
                 all.report.assembly_time > 0. &&
                 all.report.structure_time > 0. && all.report.n_threads == 1);

  // deal.II's matrix on one process.
  RectangularAssembler<dim> assembler(here.pressure, here.speed);
  SparsityPattern           sparsity;
  SparseMatrix<double>      plain;
  Vector<double>            f;
  assembler.reinit(sparsity, plain, f);
  assembler.assemble(*Case<dim>::make_form(), plain, f);
  bool same = plain.n_nonzero_elements() == here.matrix.n_nonzero_elements();
  for (unsigned int i = 0; i < plain.m(); ++i)
    {
      same = same && f(i) == here.rhs(i);
      for (auto entry = plain.begin(i); entry != plain.end(i); ++entry)
        same = same && entry->value() == here.matrix.el(i, entry->column());
    }
  check_on_all(name + ", SparseMatrix", same);
}

void
errors()
{
  Case<2>                 all(MPI_COMM_WORLD, 1, 2);
  RectangularAssembler<2> assembler(all.pressure, all.speed);
  const DivergenceForm<2> form;
  const auto says = [](const auto &function, const std::string &text) {
    check_on_all(text, contains(message_of(function), text));
  };
  says(
    [&]() {
      SparsityPattern      sparsity;
      SparseMatrix<double> matrix;
      Vector<double>       rhs;
      assembler.reinit(sparsity, matrix, rhs);
    },
    "A dealii::SparseMatrix lives on one process");
  Elasticity::distribute(all.speed, 2, 3);
  says([&]() { assembler.assemble(form, all.matrix, all.rhs); },
       "The matrix does not have the structure of these spaces");
  Elasticity::distribute(all.pressure, 1, 2);
  says([&]() { assembler.assemble(form, all.matrix, all.rhs); },
       "does not have the size of these spaces");
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  compare_processes<2>(1, 2);
  compare_processes<2>(3, 1);
  compare_processes<3>(1, 2);
  errors();
}
