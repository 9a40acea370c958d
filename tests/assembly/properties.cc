// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Properties of the method: reproduction of polynomials, conservation,
// symmetry, positive definiteness at the default penalty, convergence rates,
// several spaces on one mesh.

#include <deal.II/base/convergence_table.h>

#include <deal.II/lac/lapack_full_matrix.h>
#include <deal.II/lac/sparse_direct.h>

#include <tessella/numerics/vector_tools.h>

#include "compare.h"
#include "system.h"

template <int dim>
void
solve(const Tessella::AgglomerationHandler<dim> &handler,
      const Tessella::Form<dim>                 &form,
      SparsityPattern                           &sparsity,
      SparseMatrix<double>                      &matrix,
      Vector<double>                            &rhs,
      Vector<double>                            &solution)
{
  Tessella::PolytopicAssembler<dim> assembler(handler);
  assembler.reinit(sparsity, matrix, rhs);
  assembler.assemble(form, matrix, rhs);
  solution.reinit(rhs);
  SparseDirectUMFPACK direct;
  direct.initialize(matrix);
  direct.vmult(solution, rhs);
}

template <int dim>
double
L2_error(const Tessella::AgglomerationHandler<dim> &handler,
         const Vector<double>                      &solution,
         const Function<dim>                       &exact)
{
  Vector<float> difference(handler.n_polytopes());
  Tessella::VectorTools::integrate_difference(
    handler, solution, exact, difference, VectorTools::L2_norm, 4);
  return Tessella::VectorTools::compute_global_error(handler,
                                                     difference,
                                                     VectorTools::L2_norm);
}

/// Problem with constant tensor, advection and reaction, and the exact solution
/// u = s^p, s = 0.4 + x - y / 2 (+ z / 4), from which all data are derived by
/// hand.
template <int dim>
struct PowerProblem
{
  Tensor<1, dim>          slope;
  Reference::Problem<dim> problem;

  std::function<double(const Point<dim> &)> u;

  explicit PowerProblem(const unsigned int p, const bool with_advection = true)
  {
    slope[0] = 1.;
    slope[1] = -0.5;
    if (dim == 3)
      slope[2] = 0.25;
    const Tensor<1, dim> g = slope;
    const auto           s = [g](const Point<dim> &x) { return 0.4 + g * x; };
    const auto           power = [](const double x, const int n) {
      return n < 0 ? 0. : std::pow(x, n);
    };
    Tensor<2, dim> a;
    for (unsigned int d = 0; d < dim; ++d)
      for (unsigned int e = 0; e < dim; ++e)
        a[d][e] = d == e ? 1. + 0.5 * d : 0.2;
    Tensor<1, dim> b;
    b[0]           = 0.7;
    b[1]           = 0.3;
    const double n = p;
    u              = [=](const Point<dim> &x) { return power(s(x), p); };
    problem.a      = [=](const Point<dim> &) { return a; };
    if (with_advection)
      {
        problem.b = [=](const Point<dim> &) { return b; };
        problem.c = [=](const Point<dim> &) { return 1.5; };
      }
    const double aa = g * (a * g);
    const double bb = with_advection ? b * g : 0.;
    const double cc = with_advection ? 1.5 : 0.;
    problem.f       = [=](const Point<dim> &x) {
      const int m = p;
      return -aa * n * (n - 1) * power(s(x), m - 2) +
             bb * n * power(s(x), m - 1) + cc * power(s(x), m);
    };
    problem.default_boundary.g = u;
    // Neumann on the outflow face 1, Robin on face 3.
    const auto flux = [=](const Point<dim> &x, const unsigned int d) {
      return (a * g)[d] * n * power(s(x), static_cast<int>(p) - 1);
    };
    problem.boundary[1].type  = Reference::Boundary::neumann;
    problem.boundary[1].g     = [=](const Point<dim> &x) { return flux(x, 0); };
    problem.boundary[3].type  = Reference::Boundary::robin;
    problem.boundary[3].alpha = [](const Point<dim> &) { return 0.8; };
    problem.boundary[3].g     = [=](const Point<dim> &x) {
      return flux(x, 1) + 0.8 * power(s(x), p);
    };
  }
};

template <int dim>
void
polynomials()
{
  deallog << "polynomials, " << dim << "-D" << std::endl;
  for (const std::string mesh : {"box", "distorted", "simplices", "hanging"})
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      for (const std::string agglomeration :
           {"none", "slabs", "steps", "scattered", "one"})
        {
          Tessella::AgglomerationHandler<dim> handler(triangulation);
          handler.agglomerate(make_strategy<dim>(agglomeration));
          double worst = 0, worst_consistency = 0;
          for (unsigned int p = 1; p <= (dim == 2 ? 4 : 3); ++p)
            for (const double theta : {1., -1.})
              {
                PowerProblem<dim> power(p);
                // boundary ids 1 and 3 do not exist on simplices
                power.problem.theta = theta;
                handler.distribute_dofs(
                  Tessella::FE_BoundingBoxLegendre<dim>(p));
                const auto form = make_form(power.problem, Give::constants, p);
                SparsityPattern      sparsity;
                SparseMatrix<double> matrix;
                Vector<double>       rhs, solution;
                solve(handler, form, sparsity, matrix, rhs, solution);
                const ScalarLambda<dim> exact(power.u);
                worst = std::max(worst, L2_error(handler, solution, exact));
                // The interpolant satisfies the discrete equations.
                Vector<double> interpolant(rhs), residual(rhs);
                Tessella::VectorTools::interpolate(handler, exact, interpolant);
                matrix.residual(residual, interpolant, rhs);
                worst_consistency =
                  std::max(worst_consistency,
                           residual.linfty_norm() / rhs.linfty_norm());
              }
          check_below(mesh + ", " + agglomeration, worst, 1e-10);
          check_below(mesh + ", " + agglomeration + ", consistency",
                      worst_consistency,
                      1e-11);
        }
    }
}

/// If the equations are tested with 1 on one polytope, only source and
/// numerical fluxes remain, and the fluxes of the two sides of an interface
/// cancel. Hence, for a = 1, b constant and c = 0, the sum of matrix times u
/// over all polytopes is the flux through the boundary. A polytope is coupled
/// to the constant of another one only through their interface, so that the
/// column sums for constants have a known pattern.
template <int dim>
void
conservation()
{
  deallog << "conservation, " << dim << "-D" << std::endl;
  for (const std::string mesh : {"distorted", "simplices", "hanging"})
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      Tessella::AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(make_strategy<dim>("scattered"));
      const unsigned int p = 2;
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
      Reference::Problem<dim> problem;
      problem.a = isotropic<dim>([](const Point<dim> &) { return 1.; });
      problem.f = [](const Point<dim> &x) { return 1. + x[0]; };
      // no flux through the boundary
      problem.default_boundary.type = Reference::Boundary::neumann;
      const auto form   = make_form(problem, Give::scalar_constant, 2);
      const auto system = assemble_system(handler, form);
      const SparseMatrix<double> &matrix = system->matrix;
      const Vector<double>       &rhs    = system->rhs;
      // An arbitrary discrete function, and the constant function 1.
      Vector<double> w(rhs), Aw(rhs), one(rhs);
      for (unsigned int i = 0; i < w.size(); ++i)
        w(i) = std::sin(3. * i + 1.);
      one                = 0.;
      const auto &offset = handler.polytopic_dofs().dof_offset;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        one(offset[k]) = std::sqrt(handler.bounding_box(k).volume());
      matrix.vmult(Aw, w);
      check_below(mesh + ", fluxes cancel",
                  std::abs(one * Aw) / (one.l2_norm() * Aw.l2_norm()),
                  1e-13);
      double source = 0;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        source += one(offset[k]) * rhs(offset[k]);
      // int 1 + x over [0, 1.5] x [0, 1]^(dim - 1)
      check_close(mesh + ", source", source, 1.5 + 1.125, 1e-12);
      // Constants are in the kernel.
      matrix.vmult(Aw, one);
      check_below(mesh + ", constants are in the kernel",
                  Aw.linfty_norm() / matrix.linfty_norm(),
                  1e-13);

      // Tested with the constant of a polytope, its row is minus the sum of the
      // rows of its neighbours on the common interfaces. If the function of
      // only one neighbour is non-zero, the two must cancel.
      double worst = 0;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        {
          Vector<double> only(rhs), A_only(rhs);
          only = 0.;
          for (unsigned int i = offset[k]; i < offset[k + 1]; ++i)
            only(i) = w(i);
          matrix.vmult(A_only, only);
          double sum = 0, size = 0;
          for (unsigned int l = 0; l < handler.n_polytopes(); ++l)
            {
              sum += one(offset[l]) * A_only(offset[l]);
              size += std::abs(one(offset[l]) * A_only(offset[l]));
            }
          worst = std::max(worst, std::abs(sum) / size);
        }
      check_below(mesh + ", flux balance of each polytope", worst, 1e-12);
    }
}

template <int dim>
void
symmetry_and_definiteness()
{
  deallog << "symmetry, definiteness, " << dim << "-D" << std::endl;
  for (const std::string mesh : {"box", "distorted", "simplices", "hanging"})
    for (const std::string agglomeration :
         {"none", "slabs", "steps", "scattered", "one"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        Tessella::AgglomerationHandler<dim> handler(triangulation);
        handler.agglomerate(make_strategy<dim>(agglomeration));
        bool symmetric = true, definite = true;
        for (unsigned int p = 0; p <= 3; ++p)
          {
            handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
            if (handler.n_dofs() > 700)
              continue;
            for (const bool tensor : {false, true})
              {
                Reference::Problem<dim> problem;
                problem.a = full_problem<dim>().a;
                if (!tensor)
                  problem.a =
                    isotropic<dim>([](const Point<dim> &) { return 1.; });
                const auto form = make_form(problem, Give::tensor_functions, 2);
                const auto system = assemble_system(handler, form);
                const SparseMatrix<double> &matrix  = system->matrix;
                double                      largest = 0, asymmetry = 0;
                LAPACKFullMatrix<double>    dense(matrix.m());
                dense = 0.;
                for (auto e = matrix.begin(); e != matrix.end(); ++e)
                  {
                    dense(e->row(), e->column()) = e->value();
                    largest = std::max(largest, std::abs(e->value()));
                    asymmetry =
                      std::max(asymmetry,
                               std::abs(e->value() -
                                        matrix(e->column(), e->row())));
                  }
                symmetric &= asymmetry <= 1e-13 * largest;
                dense.set_property(LAPACKSupport::symmetric);
                try
                  {
                    dense.compute_cholesky_factorization();
                  }
                catch (const ExceptionBase &)
                  {
                    definite = false;
                  }
              }
          }
        check(mesh + ", " + agglomeration + ", symmetric", symmetric);
        check(mesh + ", " + agglomeration + ", positive definite", definite);
      }
}

template <int dim>
void
rates()
{
  deallog << "rates, " << dim << "-D" << std::endl;
  Reference::Problem<dim> problem;
  const auto              u = [](const Point<dim> &x) {
    double product = 1;
    for (unsigned int d = 0; d < dim; ++d)
      product *= std::sin(1. + 2. * x[d]);
    return product;
  };
  problem.a = isotropic<dim>([](const Point<dim> &) { return 1.; });
  problem.b = [](const Point<dim> &) {
    Tensor<1, dim> b;
    b[0] = 1.;
    b[1] = 0.5;
    return b;
  };
  problem.c = [](const Point<dim> &) { return 1.; };
  problem.f = [u](const Point<dim> &x) {
    const double value = u(x);
    double       f     = (1. + 4. * dim) * value;
    f += 2. * value / std::tan(1. + 2. * x[0]);
    f += 1. * value / std::tan(1. + 2. * x[1]);
    return f;
  };
  problem.default_boundary.g = u;
  const ScalarLambda<dim> exact(u);
  const auto              form = make_form(problem, Give::constants, 4);

  const auto error = [&](const unsigned int n, const unsigned int p) {
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, n);
    GridTools::distort_random(0.2, triangulation, true, 11);
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    const unsigned int                  n_polytopes =
      triangulation.n_active_cells() / (dim == 2 ? 9 : 8);
    // On coarse meshes METIS creates polyhedra of very different shapes, which
    // hides the rate.
    handler.agglomerate(
      dim == 2 ? Tessella::Agglomeration::metis<dim>(n_polytopes)
               : Tessella::Agglomeration::rtree_parts<dim>(n_polytopes));
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
    SparsityPattern      sparsity;
    SparseMatrix<double> matrix;
    Vector<double>       rhs, solution;
    solve(handler, form, sparsity, matrix, rhs, solution);
    return L2_error(handler, solution, exact);
  };
  std::vector<double> fine;
  for (unsigned int p = 1; p <= (dim == 2 ? 4 : 2); ++p)
    {
      const unsigned int n      = dim == 2 ? 18 : (p == 1 ? 12 : 6);
      const double       coarse = error(n, p);
      // Continuous functions in P_1 on boxes are almost only the linear ones,
      // so that in 3-D p = 1 reaches the order 2 late (1.2, 1.6, ...).
      const double lowest = (dim == 3 && p == 1) ? 1.4 : p + 0.6;
      // Polygons of METIS differ in shape from mesh to mesh, which changes
      // single rates by one. In 2-D the rate is computed over two refinements.
      const unsigned int steps = (dim == 2 ? 2 : 1);
      fine.push_back(error(n << steps, p));
      const double r = rate(coarse, fine.back()) / steps;
      check("h, p = " + std::to_string(p) + ": order p + 1",
            r > lowest && r < p + 1.8);
      if (!(r > lowest && r < p + 1.8))
        deallog << "rate " << r << std::endl;
    }
  for (unsigned int i = 1; i < fine.size(); ++i)
    check("p = " + std::to_string(i) + " to " + std::to_string(i + 1) +
            ": error falls",
          fine[i] < 0.2 * fine[i - 1]);
}

// An assembler that sees several spaces on one mesh computes the same bits as a
// new one for each space.
template <int dim>
void
spaces()
{
  deallog << "spaces, " << dim << "-D" << std::endl;
  for (const std::string name : {"hanging", "curved"})
    {
#ifdef DEBUG
      // It takes a minute with assertions.
      if (dim == 3 && name == "curved")
        continue;
#endif
      Triangulation<dim> triangulation;
      make_mesh(name, triangulation);
      const auto make_handler = [&]() {
        auto handler = std::make_unique<Tessella::AgglomerationHandler<dim>>(
          triangulation, mapping_for<dim, 3>(name));
        handler->agglomerate(make_strategy<dim>("scattered"));
        return handler;
      };
      const auto handler = make_handler();
      handler->distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
      Tessella::PolytopicAssembler<dim> assembler(*handler);
      for (const Give give : {Give::constants, Give::tensor_functions})
        {
          const auto form = make_form(full_problem<dim>(), give, 2);
          for (const unsigned int p : {1u, 3u, 2u})
            {
              const Tessella::FE_BoundingBoxLegendre<dim> fe(p);
              handler->distribute_dofs(fe);
              const auto other = make_handler();
              other->distribute_dofs(fe);
              Tessella::PolytopicAssembler<dim> fresh(*other);
              SparsityPattern                   sparsity[2];
              SparseMatrix<double>              matrix[2];
              Vector<double>                    rhs[2];
              assembler.reinit(sparsity[0], matrix[0], rhs[0]);
              assembler.assemble(form, matrix[0], rhs[0]);
              fresh.reinit(sparsity[1], matrix[1], rhs[1]);
              fresh.assemble(form, matrix[1], rhs[1]);
              bool same = rhs[0] == rhs[1] && matrix[0].n_nonzero_elements() ==
                                                matrix[1].n_nonzero_elements();
              for (auto a = matrix[0].begin(), b = matrix[1].begin();
                   same && a != matrix[0].end();
                   ++a, ++b)
                same = a->column() == b->column() && a->value() == b->value();
              check(name +
                      (give == Give::constants ? ", constants"
                                               : ", functions") +
                      ", p = " + std::to_string(p),
                    same);
            }
        }
    }
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  polynomials<2>();
  polynomials<3>();
  conservation<2>();
  conservation<3>();
  symmetry_and_definiteness<2>();
  symmetry_and_definiteness<3>();
  rates<2>();
  // Assertions do not change orders, and take longest in 3-D.
#ifndef DEBUG
  rates<3>();
#endif
  spaces<2>();
  spaces<3>();
}
