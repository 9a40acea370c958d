// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_assembly_system_h
#define tessella_tests_assembly_system_h

#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>

#include <tessella/assembly/polytopic_assembler.h>

#include <memory>

#include "assembler_data.h"

/// Assembled matrix and right-hand side.
struct System
{
  dealii::SparsityPattern      sparsity;
  dealii::SparseMatrix<double> matrix;
  dealii::Vector<double>       rhs;
};

template <int dim>
std::unique_ptr<System>
assemble_system(const Tessella::AgglomerationHandler<dim> &handler,
                const Tessella::Form<dim>                 &form,
                const Tessella::Backend backend = Tessella::Backend::automatic)
{
  Tessella::PolytopicAssembler<dim> assembler(handler, on<dim>(backend));
  auto                              system = std::make_unique<System>();
  assembler.reinit(system->sparsity, system->matrix, system->rhs);
  assembler.assemble(form, system->matrix, system->rhs);
  return system;
}

#endif
