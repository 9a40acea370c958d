// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_space_time_checks_h
#define tessella_tests_space_time_checks_h

// Checks of space-time slabs, in both space dimensions.

#include <algorithm>
#include <string>
#include <vector>

#include "problems.h"

// Runs three steps of different length with varying numbers of intervals.
template <int dim>
double
polynomial_error(const Tessella::AgglomerationHandler<dim> &handler,
                 const PolynomialSpaceType                  space,
                 const unsigned int                         p,
                 const bool                                 neumann)
{
  const PolynomialProblem<dim> problem(p,
                                       space ==
                                         PolynomialSpaceType::total_degree);
  AtTime<dim>                  exact(
    [problem](const Point<dim + 1> &x) { return problem.u(x); });
  Tessella::SpaceTimeForm<dim> form;
  problem.set(form, neumann);
  HostStepping<dim> stepping(handler, form, space);
  stepping.start(0.2, exact);
  Tessella::SpaceTimeErrors<dim> errors;
  for (unsigned int n = 0; n < 3; ++n)
    {
      stepping.step(0.2 + 0.15 * n,
                    n == 0 ? std::vector<unsigned int>()
                           : mixed_intervals(handler.n_polytopes()));
      errors.add(stepping.slab(), stepping.solution(), exact);
    }
  return std::max({errors.L2_L2(), errors.L2_H1(), errors.Linf_L2()});
}

template <int dim>
void
reproduce_polynomials(const std::vector<std::string>  &meshes,
                      const std::vector<unsigned int> &degrees)
{
  for (const std::string &mesh : meshes)
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      Tessella::AgglomerationHandler<dim> handler(triangulation,
                                                  mapping_for<dim, 2>(mesh));
      handler.agglomerate(scattered<dim>(mesh == "box" ? 0 : 4));
      const bool neumann = mesh != "simplices" && mesh != "curved";
      for (const PolynomialSpaceType space :
           {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
        for (const unsigned int p : degrees)
          {
            distribute_degree(handler, p);
            check_below(
              mesh + ", " +
                (space == PolynomialSpaceType::prismatic ? "PQ" : "P") +
                (p == 0 ? " 1 and 2" : std::to_string(p)),
              polynomial_error(handler, space, p == 0 ? 1 : p, neumann),
              1e-9);
          }
    }
}

// Compares one slab of four intervals to four slabs, with the same and with
// different numbers of intervals per polytope, and checks the mass.
template <int dim>
void
compare_slabs(const unsigned int degree)
{
  for (const std::string mesh : {"simplices", "periodic"})
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      Tessella::AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(scattered<dim>(3));
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(degree));
      Tessella::SpaceTimeForm<dim> form;
      form.set_diffusion(make<dim + 1>(
        [](const Point<dim + 1> &x) { return 0.1 + x[dim] * x[dim]; }));
      if (mesh == "periodic")
        {
          Tensor<1, dim> w;
          for (unsigned int d = 0; d < dim; ++d)
            w[d] = 0.5 - 0.2 * d;
          form.set_advection(w);
        }
      Tessella::BoundaryCondition<dim + 1> neumann;
      neumann.type = Tessella::BoundaryType::neumann;
      form.set_default_boundary_condition(neumann);

      AtTime<dim>    initial([](const Point<dim + 1> &x) {
        return std::exp(-5. * (x[0] * x[0] + (x[1] - 0.4) * (x[1] - 0.4)));
      });
      Vector<double> value(handler.n_dofs());
      Tessella::VectorTools::project(handler, initial, value);
      const auto run = [&](const PolynomialSpaceType        space,
                           const unsigned int               n_steps,
                           const std::vector<unsigned int> &intervals) {
        HostStepping<dim> stepping(handler, form, space);
        stepping.initialize(0., value);
        for (unsigned int n = 0; n < n_steps; ++n)
          stepping.step(0.4 / n_steps, intervals);
        check_close("mass is conserved",
                    stepping.slab().integral(stepping.value()),
                    stepping.slab().integral(value),
                    1e-12);
        return stepping.value();
      };
      for (const PolynomialSpaceType space :
           {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
        {
          const unsigned int                  n    = handler.n_polytopes();
          const TrilinosWrappers::MPI::Vector four = run(space, 4, {});
          TrilinosWrappers::MPI::Vector       one =
            run(space, 1, std::vector<unsigned int>(n, 4));
          one -= four;
          check_below(mesh + ", one slab and four",
                      one.l2_norm(),
                      1e-11 * four.l2_norm());
          // With different numbers the results are close, but not equal.
          std::vector<unsigned int> numbers(n, 2);
          numbers[1]                          = 1;
          TrilinosWrappers::MPI::Vector mixed = run(space, 4, numbers);
          mixed -= four;
          check_below(mesh + ", mixed intervals",
                      mixed.l2_norm(),
                      2e-2 * four.l2_norm());
        }
    }
}

// Diffusion, reaction and source with a value per material or per cell. Inside
// a polytope the matrix equals that of a function with jumps; between polytopes
// a solution with a kink is reproduced. Such matrices are reused from slab to
// slab.
template <int dim>
void
check_cell_values()
{
  Triangulation<dim> triangulation;
  make_mesh("box", triangulation);
  for (const auto &cell : triangulation.active_cell_iterators())
    cell->set_material_id(cell->center()[0] < 0.5 ? 3 : 7);
  const auto jump = [](const double left, const double right) {
    return make<dim + 1>([left, right](const Point<dim + 1> &x) {
      return x[0] < 0.5 ? left : right;
    });
  };
  const auto values = [&](const Tessella::AgglomerationHandler<dim> &handler,
                          const bool                                 per_cell,
                          const double                               left,
                          const double                               right) {
    if (!per_cell)
      return Tessella::CellwiseCoefficient({{3, left}, {7, right}});
    Vector<double> numbers(triangulation.n_active_cells());
    for (const auto &cell : triangulation.active_cell_iterators())
      numbers(cell->active_cell_index()) =
        cell->material_id() == 3 ? left : right;
    return Tessella::CellwiseCoefficient(handler.polytopic_mesh(), numbers);
  };
  Tessella::AgglomerationHandler<dim> handler(triangulation);

  for (const bool per_cell : {false, true})
    {
      const std::string name = per_cell ? "cells" : "materials";
      // ---- one polytope of two intervals
      handler.agglomerate(scattered<dim>(1));
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(2));
      Tessella::SpaceTimeSlab<dim> slab(handler);
      slab.reinit(0.2, 0.5, {2});
      Tensor<2, dim> tensor = unit_symmetric_tensor<dim>();
      tensor[0][1] = tensor[1][0] = 0.3;
      Tessella::SpaceTimeForm<dim> forms[2];
      forms[0].set_diffusion(values(handler, per_cell, 1., 4.), tensor);
      forms[0].set_reaction(values(handler, per_cell, 2., 0.5));
      forms[0].set_source(values(handler, per_cell, -1., 3.));
      forms[1].set_diffusion_tensor(
        std::make_shared<SpaceTimeFunction<dim + 1>>(
          [tensor](const Point<dim + 1> &x, const unsigned int c) {
            return (x[0] < 0.5 ? 1. : 4.) * tensor[c / dim][c % dim];
          },
          dim * dim));
      forms[1].set_reaction(jump(2., 0.5));
      forms[1].set_source(jump(-1., 3.));
      SparsityPattern      patterns[2];
      SparseMatrix<double> matrices[2];
      Vector<double>       rhs[2];
      for (unsigned int i = 0; i < 2; ++i)
        {
          forms[i].set_coefficient_order(2);
          forms[i].set_slab(slab);
          typename Tessella::PolytopicAssembler<dim + 1>::AdditionalData data;
          data.backend = Tessella::Backend::host;
          Tessella::PolytopicAssembler<dim + 1> assembler(slab, data);
          assembler.reinit(patterns[i], matrices[i], rhs[i]);
          assembler.assemble(forms[i], matrices[i], rhs[i]);
        }
      double difference = 0., largest = 0.;
      for (const auto &entry : matrices[0])
        {
          const double expected = matrices[1](entry.row(), entry.column());
          largest               = std::max(largest, std::abs(expected));
          difference = std::max(difference, std::abs(entry.value() - expected));
        }
      rhs[0] -= rhs[1];
      check_below(name + ", matrix", difference, 1e-13 * largest);
      check_below(name + ", right-hand side",
                  rhs[0].linfty_norm(),
                  1e-13 * rhs[1].linfty_norm());

      // ---- a kink between polytopes: u = (x - 1/2) (1 + t) / a
      handler.agglomerate([](const Triangulation<dim> &triangulation) {
        std::vector<unsigned int> ids;
        for (const auto &cell : triangulation.active_cell_iterators())
          ids.push_back(2 * (cell->active_cell_index() / 3 % 2) +
                        (cell->material_id() == 3 ? 0 : 1));
        return ids;
      });
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
      const auto u = [](const Point<dim + 1> &x) {
        return (x[0] - 0.5) * (1. + x[dim]) / (x[0] < 0.5 ? 1. : 4.);
      };
      Tessella::SpaceTimeForm<dim> form;
      form.set_diffusion(values(handler, per_cell, 1., 4.));
      form.set_reaction(values(handler, per_cell, 2., 0.5));
      form.set_source(make<dim + 1>([u](const Point<dim + 1> &x) {
        return u(x) * (1. / (1. + x[dim]) + (x[0] < 0.5 ? 2. : 0.5));
      }));
      form.set_coefficient_order(2);
      Tessella::BoundaryCondition<dim + 1> condition;
      condition.value = make<dim + 1>(u);
      form.set_default_boundary_condition(condition);
      unsigned int      n_matrices = 0;
      HostStepping<dim> stepping(
        handler,
        form,
        PolynomialSpaceType::prismatic,
        [&](const TrilinosWrappers::SparseMatrix &matrix,
            TrilinosWrappers::MPI::Vector        &solution,
            const TrilinosWrappers::MPI::Vector  &rhs,
            const bool                            changed) {
          n_matrices += changed ? 1 : 0;
          solve_directly(matrix, solution, rhs, changed);
        });
      AtTime<dim> exact(u);
      stepping.start(0., exact);
      Tessella::SpaceTimeErrors<dim> errors;
      for (unsigned int n = 0; n < 3; ++n)
        {
          stepping.step(0.25,
                        n == 0 ? std::vector<unsigned int>()
                               : mixed_intervals(handler.n_polytopes()));
          errors.add(stepping.slab(), stepping.solution(), exact);
        }
      check_below(name + ", kink", errors.Linf_L2(), 1e-9);
      check(name + ", matrices are kept", n_matrices == 2);
    }
}

// Errors on cubes of width 1 / n with steps of 1 / n, for two values of n.
// Local time stepping has two or three intervals in half of the domain. If @p
// log, the program writes the table.
template <int dim>
void
converge(const PolynomialSpaceType        space,
         const unsigned int               p,
         const std::vector<unsigned int> &sizes,
         const bool                       local,
         const bool                       log)
{
  // Meshes that resolve a half wave are too large in 3-D.
  const double k = dim == 2 ? numbers::PI : 1.;
  const auto   u = [k](const Point<dim + 1> &x) {
    double value = std::cos(3. * x[dim]);
    for (unsigned int d = 0; d < dim; ++d)
      value *= std::sin(k * x[d]);
    return value;
  };
  Tessella::SpaceTimeForm<dim> form;
  form.set_diffusion(1.);
  form.set_source(make<dim + 1>([k](const Point<dim + 1> &x) {
    double value =
      dim * k * k * std::cos(3. * x[dim]) - 3. * std::sin(3. * x[dim]);
    for (unsigned int d = 0; d < dim; ++d)
      value *= std::sin(k * x[d]);
    return value;
  }));
  Tessella::BoundaryCondition<dim + 1> condition;
  condition.value = make<dim + 1>(u);
  form.set_default_boundary_condition(condition);
  form.set_coefficient_order(2);
  AtTime<dim>         exact(u, [k](const Point<dim + 1> &x) {
    Tensor<1, dim> gradient;
    for (unsigned int d = 0; d < dim; ++d)
      {
        gradient[d] = k * std::cos(3. * x[dim]);
        for (unsigned int e = 0; e < dim; ++e)
          gradient[d] *= e == d ? std::cos(k * x[e]) : std::sin(k * x[e]);
      }
    return gradient;
  });
  std::vector<double> L2, H1;
  for (const unsigned int n : sizes)
    {
      Triangulation<dim> triangulation;
      GridGenerator::subdivided_hyper_cube(triangulation, 2 * n);
      Tessella::AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(blocks<dim>(2 * n));
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
      HostStepping<dim> stepping(handler, form, space);
      stepping.start(0., exact);
      std::vector<unsigned int> intervals(handler.n_polytopes(), 1);
      for (unsigned int k = 0; local && k < intervals.size(); ++k)
        if (handler.bounding_box(k).center()[0] < 0.5)
          intervals[k] = 2 + k % 2;
      Tessella::SpaceTimeErrors<dim> errors;
      for (unsigned int s = 0; s < n; ++s)
        {
          stepping.step(1. / n, intervals);
          errors.add(stepping.slab(), stepping.solution(), exact);
        }
      L2.push_back(errors.L2_L2());
      H1.push_back(errors.L2_H1());
    }
  const bool        prismatic = space == PolynomialSpaceType::prismatic;
  const std::string name      = (prismatic ? "PQ" : "P") + std::to_string(p) +
                           (local ? ", local time stepping" : "");
  const double rate_L2 = rate(L2[0], L2[1]), rate_H1 = rate(H1[0], H1[1]);
  if (log)
    deallog << name << ": " << L2[1] << " " << rate_L2 << " " << H1[1] << " "
            << rate_H1 << std::endl;
  check_below(name + " rate in L2(L2)",
              p + (prismatic ? 1. : 0.5) - 0.15,
              rate_L2);
  check_below(name + " rate in L2(H1)", p - 0.1, rate_H1);
}

#endif
