// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Systems of forms: linear elasticity and systems of four and five components
// against the reference assembler, systems of forms of several kinds against
// their scalar matrices, same bits for all numbers of threads, classes of
// matrices, and errors.

#include <deal.II/base/multithread_info.h>

#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>

#include <cstring>

#include "../messages.h"
#include "chain_system.h"
#include "elasticity.h"
#include "mixed_system.h"

using namespace Tessella;

template <int dim>
void
compare_elasticity()
{
  for (const std::string &mesh : straight_meshes)
    {
      // The area element of warped faces is not a polynomial.
      if (dim == 3 && mesh == "distorted")
        continue;
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      double largest[2] = {0., 0.};
      for (const std::string agglomeration : {"none", "steps", "scattered"})
        {
          AgglomerationHandler<dim> handler(triangulation),
            scalar(triangulation);
          handler.agglomerate(make_strategy<dim>(agglomeration));
          scalar.agglomerate(make_strategy<dim>(agglomeration));
          // Degree 0 stands for degrees 1 to 3.
          for (const unsigned int p : {0, 1, 2, 3, 4})
            {
              if ((dim == 3 && (p > 2 || agglomeration == "none")) ||
                  (p != 2 && agglomeration != "steps"))
                continue;
              Elasticity::distribute(handler, dim, p);
              Elasticity::distribute(scalar, 1, p);
              for (const double theta : {1., -1.})
                for (const bool constant : {false, true})
                  {
                    // Cells alone have variable coefficients only.
                    if (theta != 1. &&
                        (p != 2 || (constant && agglomeration == "none")))
                      continue;
                    // Integrands have degree 2 p + 2. Rules of simplices are
                    // products of rules, for one degree less in each variable.
                    const bool simplices =
                      mesh.find("simplices") != std::string::npos;
                    const auto d = Elasticity::compare(handler,
                                                       scalar,
                                                       constant,
                                                       theta,
                                                       (p == 0 ? 3 : p) +
                                                         (simplices ? 3 : 2));
                    largest[0]   = std::max(largest[0], d.first);
                    largest[1]   = std::max(largest[1], d.second);
                    AssertThrow(d.first == d.first && d.second == d.second,
                                ExcMessage("not a number"));
                  }
            }
        }
      check_below("elasticity, " + std::to_string(dim) + "d, " + mesh +
                    ", matrix",
                  largest[0],
                  1e-12);
      check_below("elasticity, " + std::to_string(dim) + "d, " + mesh + ", rhs",
                  largest[1],
                  1e-12);
    }
}



template <int dim, typename Matrix>
void
compare_mixed(const std::string               &name,
              const AgglomerationHandler<dim> &handler,
              const AgglomerationHandler<dim> &scalar,
              const Matrix                    &matrix,
              const Vector<double>            &rhs,
              const double                     tolerance)
{
  const MixedSystem<dim>  system;
  PolytopicAssembler<dim> assembler(scalar);
  const auto             &dofs  = handler.polytopic_dofs();
  const auto             &one   = scalar.polytopic_dofs();
  double                  worst = 0., worst_rhs = 0.;
  for (unsigned int i = 0; i < 3; ++i)
    for (unsigned int j = 0; j < 3; ++j)
      {
        SparsityPattern      sparsity;
        SparseMatrix<double> part;
        Vector<double>       f;
        assembler.reinit(sparsity, part, f);
        if (const auto *form = system.form(i, j))
          assembler.assemble(*form, part, f);
        for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
          for (unsigned int r = 0; r < one.n_basis[k]; ++r)
            {
              const unsigned int row =
                dofs.dof_offset[k] + i * one.n_basis[k] + r;
              if (i == j)
                worst_rhs =
                  std::max(worst_rhs,
                           std::abs(rhs(row) - f(one.dof_offset[k] + r)) /
                             (f.linfty_norm() + 1e-300));
              for (unsigned int l = 0; l < handler.n_polytopes(); ++l)
                for (unsigned int c = 0; c < one.n_basis[l]; ++c)
                  worst = std::max(
                    worst,
                    std::abs(
                      matrix.el(row,
                                dofs.dof_offset[l] + j * one.n_basis[l] + c) -
                      part.el(one.dof_offset[k] + r, one.dof_offset[l] + c)) /
                      part.frobenius_norm());
            }
      }
  check_below(name + ", matrix", worst, tolerance);
  check_below(name + ", rhs", worst_rhs, tolerance);
}



/// Entries of a HostBlockMatrix.
template <typename Number>
struct Entries
{
  const HostBlockMatrix<Number> &matrix;

  double
  el(const unsigned int row, const unsigned int column) const
  {
    const auto        &offset = matrix.dof_offset();
    const auto        &blocks = matrix.block_sparsity();
    const unsigned int k =
      std::upper_bound(offset.begin(), offset.end(), row) - offset.begin() - 1;
    const unsigned int l =
      std::upper_bound(offset.begin(), offset.end(), column) - offset.begin() -
      1;
    const auto b = blocks.find_block(k, l);
    return b == BlockSparsity::no_block
             ? 0.
             : matrix.values()[blocks.value_offset[k] +
                               (row - offset[k]) * blocks.row_width[k] +
                               blocks.column_offset[b] + (column - offset[l])];
  }
};



void
mixed_systems()
{
  for (const std::string mesh : {"box", "hanging periodic", "simplices"})
    {
      Triangulation<2> triangulation;
      make_mesh(mesh, triangulation);
      AgglomerationHandler<2> handler(triangulation), scalar(triangulation);
      handler.agglomerate(make_strategy<2>("steps"));
      scalar.agglomerate(make_strategy<2>("steps"));
      Elasticity::distribute(handler, 3, 0);
      Elasticity::distribute(scalar, 1, 0);
      const MixedSystem<2>  system;
      PolytopicAssembler<2> assembler(handler);
      {
        SparsityPattern      sparsity;
        SparseMatrix<double> matrix;
        Vector<double>       rhs;
        assembler.reinit(sparsity, matrix, rhs);
        assembler.assemble(system, matrix, rhs);
        compare_mixed(
          mesh + ", SparseMatrix", handler, scalar, matrix, rhs, 1e-14);
        Vector<double> alone(rhs.size());
        assembler.assemble_rhs(system, alone);
        alone -= rhs;
        check(mesh + ", rhs alone", alone.linfty_norm() == 0.);
      }
      {
        HostBlockMatrix<float> matrix;
        Vector<float>          rhs;
        assembler.reinit(matrix, rhs);
        std::fill_n(matrix.values(),
                    matrix.block_sparsity().n_nonzero_elements(),
                    7.f);
        assembler.assemble(system, matrix, rhs);
        compare_mixed(mesh + ", HostBlockMatrix<float>",
                      handler,
                      scalar,
                      Entries<float>{matrix},
                      Vector<double>(rhs),
                      2e-6);
      }
    }
}



/// Systems of four and five components with a coupling mask, also on curved
/// cells, against the reference assembler.
template <int dim>
void
chains()
{
  for (const std::string mesh : {"hanging periodic", "simplices", "curved"})
    {
      const bool         curved = mesh == "curved";
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      const MappingQ<dim>       mapping(3);
      const Mapping<dim>       *given = curved ? &mapping : nullptr;
      AgglomerationHandler<dim> handler(triangulation, given),
        scalar(triangulation, given);
      handler.agglomerate(make_strategy<dim>("steps"));
      scalar.agglomerate(make_strategy<dim>("steps"));
      for (const unsigned int m : {4, 5})
        {
          // Degree 0 stands for degrees 1 to 3.
          const unsigned int p = m == 5 ? (dim == 2 ? 2 : 1) : 0;
          Elasticity::distribute(handler, m, p);
          Elasticity::distribute(scalar, 1, p);
          const ChainSystem<dim>  system(m, curved);
          PolytopicAssembler<dim> assembler(handler);
          SparsityPattern         sparsity;
          SparseMatrix<double>    matrix;
          Vector<double>          rhs;
          assembler.reinit(sparsity, matrix, rhs);
          assembler.assemble(system, matrix, rhs);
          const auto        d    = system.compare(handler,
                                        scalar,
                                        matrix,
                                        rhs,
                                        (p == 0 ? 3 : p) + (curved ? 16 : 5),
                                        given);
          const std::string name = std::to_string(m) + " components, " +
                                   std::to_string(dim) + "d, " + mesh;
          check_below(name + ", matrix", d.first, 1e-12);
          check_below(name + ", rhs", d.second, 1e-12);
        }
    }
}



/// The same bits for any number of threads.
void
threads()
{
  Triangulation<3> triangulation;
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(3);
  AgglomerationHandler<3> handler(triangulation);
  handler.agglomerate(make_strategy<3>("none"));
  Elasticity::distribute(handler, 3, 1);
  PolytopicAssembler<3>   assembler(handler);
  HostBlockMatrix<double> matrix[2];
  Vector<double>          rhs[2];
  for (unsigned int i = 0; i < 2; ++i)
    {
      MultithreadInfo::set_thread_limit(1 + i);
      assembler.reinit(matrix[i], rhs[i]);
      assembler.assemble(*Elasticity::make_form<3>(false), matrix[i], rhs[i]);
    }
  check("same bits with 1 and 2 threads",
        std::memcmp(matrix[0].values(),
                    matrix[1].values(),
                    sizeof(double) *
                      matrix[0].block_sparsity().n_nonzero_elements()) == 0 &&
          rhs[0] == rhs[1]);
}



void
errors()
{
  Triangulation<2> triangulation;
  make_mesh("box", triangulation);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(make_strategy<2>("none"));
  Elasticity::distribute(handler, 2, 1);
  PolytopicAssembler<2>   assembler(handler);
  HostBlockMatrix<double> matrix;
  assembler.reinit(matrix);
  const auto says = [](const auto &function, const std::string &text) {
    const std::string message = message_of(function);
    check(text, contains(message, text));
  };
  says([&]() { assembler.assemble_matrix(MixedSystem<2>(), matrix); },
       "The system has 3 components of test functions and 3 of trial "
       "functions, but the element has 2.");
  AdvectionDiffusionReaction<2> scalar;
  scalar.set_diffusion(1.);
  says([&]() { assembler.assemble_matrix(scalar, matrix); },
       "The form is scalar, but the element has 2 components");
  Elasticity::distribute(handler, 3, 1);
  assembler.reinit(matrix);
  MixedSystem<2> system;
  system.forms[5]->set_coefficient_order(2);
  says([&]() { assembler.assemble_matrix(system, matrix); },
       "The forms of a system have coefficients of order 4 and 2");
  says([&]() { IsotropicElasticity<2> form(1., 0.); },
       "IsotropicElasticity needs finite Lame parameters");
  says(
    [&]() {
      IsotropicElasticity<2> form(1., 1.);
      form.set_force(std::make_shared<Functions::ZeroFunction<2>>(3));
    },
    "The function given as force has 3 components instead of 2.");
}



int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  compare_elasticity<2>();
  compare_elasticity<3>();
  mixed_systems();
  chains<2>();
  chains<3>();
  threads();
  errors();
}
