// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Rectangular matrices of two spaces on the same polytopes: entries against
// square matrices of the larger space, the divergence of polynomials, degrees
// that vary, and errors.

#include <deal.II/base/multithread_info.h>

#include <tessella/assembly/rectangular_assembler.h>
#include <tessella/forms/divergence_form.h>
#include <tessella/numerics/vector_tools.h>

#include "../messages.h"
#include "elasticity.h"

using namespace Tessella;

/// A polynomial of degree one, or two, and its divergence.
template <int dim>
Tensor<1, dim>
velocity(const Point<dim> &x, const bool quadratic)
{
  Tensor<1, dim> u;
  for (unsigned int d = 0; d < dim; ++d)
    u[d] = 0.3 + (d + 1.5) * x[d] - 0.7 * x[(d + 1) % dim] +
           (quadratic ? x[d] * x[d] - 0.4 * x[0] * x[1] : 0.);
  return u;
}
template <int dim>
double
divergence(const Point<dim> &x, const bool quadratic)
{
  double result = 0.;
  for (unsigned int d = 0; d < dim; ++d)
    result += d + 1.5 + (quadratic ? 2. * x[d] : 0.);
  if (quadratic)
    result -= 0.4 * (x[0] + x[1]);
  return result;
}

struct Rectangular
{
  SparsityPattern      sparsity;
  SparseMatrix<double> matrix;
  Vector<double>       rhs;
};

/// b(u, q) = - int q div u + int_boundary q u . n for a polynomial u.
template <int dim>
double
divergence_error(const AgglomerationHandler<dim> &pressure,
                 const AgglomerationHandler<dim> &speed,
                 const bool                       quadratic)
{
  const auto u = std::make_shared<VectorLambda<dim>>(
    [=](const Point<dim> &x) { return velocity(x, quadratic); });
  DivergenceForm<dim> form;
  form.set_dirichlet(u);
  RectangularAssembler<dim> assembler(pressure, speed);
  Rectangular               b;
  assembler.reinit(b.sparsity, b.matrix, b.rhs);
  assembler.assemble(form, b.matrix, b.rhs);

  Vector<double> coefficients(speed.n_dofs()), f(pressure.n_dofs()),
    result(pressure.n_dofs());
  Tessella::VectorTools::interpolate(speed, *u, coefficients);
  AdvectionDiffusionReaction<dim> source;
  source.set_reaction(1.);
  source.set_source(std::make_shared<ScalarLambda<dim>>(
    [=](const Point<dim> &x) { return -divergence(x, quadratic); }));
  PolytopicAssembler<dim> scalar(pressure);
  scalar.assemble_rhs(source, f);
  b.matrix.vmult(result, coefficients);
  result -= f;
  result -= b.rhs;
  return result.linfty_norm() / f.linfty_norm();
}



template <int dim>
void
compare_divergence()
{
  for (const std::string mesh : {"box", "distorted", "simplices", "hanging"})
    {
      if (dim == 3 && mesh == "distorted")
        continue;
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      double largest = 0.;
      for (const std::string agglomeration : {"none", "steps", "scattered"})
        {
          AgglomerationHandler<dim> pressure(triangulation),
            speed(triangulation);
          pressure.agglomerate(make_strategy<dim>(agglomeration));
          speed.agglomerate(make_strategy<dim>(agglomeration));
          // Degree 0 stands for degrees 1 to 3.
          for (const auto &degrees :
               std::vector<std::pair<unsigned int, unsigned int>>{
                 {1, 2}, {2, 3}, {3, 1}, {2, 2}, {0, 2}, {2, 0}})
            {
              Elasticity::distribute(pressure, 1, degrees.first);
              Elasticity::distribute(speed, dim, degrees.second);
              largest =
                std::max(largest,
                         divergence_error(pressure, speed, degrees.second > 1));
            }
        }
      check_below("divergence, " + std::to_string(dim) + "d, " + mesh,
                  largest,
                  1e-12);
    }
}



/// Entries are those of the square matrices of the larger space.
template <int dim>
void
compare_entries(const std::string &mesh)
{
  Triangulation<dim> triangulation;
  make_mesh(mesh, triangulation);
  AgglomerationHandler<dim> pressure(triangulation), speed(triangulation),
    scalar(triangulation);
  for (auto *handler : {&pressure, &speed, &scalar})
    handler->agglomerate(make_strategy<dim>("steps"));
  Elasticity::distribute(pressure, 1, 1);
  Elasticity::distribute(speed, dim, 3);
  Elasticity::distribute(scalar, 1, 3);
  const DivergenceForm<dim> form;
  RectangularAssembler<dim> assembler(pressure, speed);
  Rectangular               b, other;
  assembler.reinit(b.sparsity, b.matrix, b.rhs);
  assembler.assemble(form, b.matrix, b.rhs);
  MultithreadInfo::set_thread_limit(1);
  assembler.reinit(other.sparsity, other.matrix, other.rhs);
  assembler.assemble(form, other.matrix, other.rhs);
  MultithreadInfo::set_thread_limit(2);
  bool same = true, same_bits = true;

  const auto &rows    = pressure.polytopic_dofs(),
             &columns = speed.polytopic_dofs(),
             &large   = scalar.polytopic_dofs();
  for (unsigned int d = 0; d < dim; ++d)
    {
      PolytopicAssembler<dim> square(scalar);
      Rectangular             s;
      square.reinit(s.sparsity, s.matrix, s.rhs);
      square.assemble_matrix(*form.form(0, d), s.matrix);
      for (unsigned int k = 0; k < rows.degree.size(); ++k)
        for (unsigned int i = 0; i < rows.n_basis[k]; ++i)
          for (unsigned int l = 0; l < rows.degree.size(); ++l)
            for (unsigned int j = 0; j < large.n_basis[l]; ++j)
              {
                const auto row = rows.dof_offset[k] + i,
                           column =
                             columns.dof_offset[l] + d * large.n_basis[l] + j;
                const double value = b.matrix.el(row, column);
                same = same && value == s.matrix.el(large.dof_offset[k] + i,
                                                    large.dof_offset[l] + j);
                same_bits = same_bits && value == other.matrix.el(row, column);
              }
    }
  check("entries, " + std::to_string(dim) + "d, " + mesh, same);
  check("threads, " + std::to_string(dim) + "d, " + mesh, same_bits);
}



void
errors()
{
  Triangulation<2> triangulation;
  make_mesh("box", triangulation);
  AgglomerationHandler<2> pressure(triangulation), speed(triangulation);
  pressure.agglomerate(make_strategy<2>("none"));
  speed.agglomerate(make_strategy<2>("steps"));
  Elasticity::distribute(pressure, 1, 1);
  Elasticity::distribute(speed, 2, 2);
  const auto says = [](const auto &function, const std::string &text) {
    check(text, contains(message_of(function), text));
  };
  says([&]() { RectangularAssembler<2> assembler(pressure, speed); },
       "have different polytopes: agglomerate both handlers in the same way.");
  speed.agglomerate(make_strategy<2>("none"));
  Elasticity::distribute(speed, 2, 2, PolynomialSpaceType::tensor_product);
  says([&]() { RectangularAssembler<2> assembler(pressure, speed); },
       "must both have total degree or both be tensor-product spaces.");
  Elasticity::distribute(speed, 3, 2);
  says(
    [&]() {
      RectangularAssembler<2> assembler(pressure, speed);
      Rectangular             b;
      assembler.reinit(b.sparsity, b.matrix, b.rhs);
      assembler.assemble(DivergenceForm<2>(), b.matrix, b.rhs);
    },
    "The system has 1 components of test functions and 2 of trial functions, "
    "but the element has 1 and that of the trial functions 3.");
  says(
    [&]() {
      AssemblyParameters data;
      data.backend = Backend::cuda;
      RectangularAssembler<2> assembler(pressure, speed, data);
      Rectangular             b;
      assembler.reinit(b.sparsity, b.matrix, b.rhs);
    },
    "Rectangular matrices in the memory of the host are assembled by the host");
}



int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  compare_divergence<2>();
  compare_divergence<3>();
  compare_entries<2>("hanging periodic");
  compare_entries<3>("simplices");
  errors();
}
