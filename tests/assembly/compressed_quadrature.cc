// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compressed quadrature: matrices and right-hand sides with polynomial
// coefficients agree with an independent reference to rounding, on polytopes of
// many sub-cells of all types, with several degrees, materials and threads; the
// rules have positive weights and as few points as there are polynomials; and
// forms and meshes that need the full rules keep them.

#include "../../source/grid/compressed_quadrature.h"

#include <deal.II/base/multithread_info.h>

#include <tessella/portable/legendre.h>

#include <cstring>

#include "compare.h"

using Tessella::QuadratureCompression;

template <int dim>
using Assembler = Tessella::PolytopicAssembler<dim>;

template <int dim>
typename Assembler<dim>::AdditionalData
compressed(const QuadratureCompression compression)
{
  typename Assembler<dim>::AdditionalData data;
  data.backend     = Tessella::Backend::host;
  data.compression = compression;
  return data;
}

struct System
{
  SparsityPattern      sparsity;
  SparseMatrix<double> matrix;
  Vector<double>       rhs;

  template <int dim>
  void
  reinit(Assembler<dim> &assembler)
  {
    assembler.reinit(sparsity, matrix, rhs);
  }
};

/// Largest difference of an entry, relative to the largest entry of all.
double
difference(const System &a, const System &b)
{
  double largest = 0., scale = 0.;
  for (auto x = a.matrix.begin(), y = b.matrix.begin(); x != a.matrix.end();
       ++x, ++y)
    {
      largest = std::max(largest, std::abs(x->value() - y->value()));
      scale   = std::max(scale, std::abs(x->value()));
    }
  for (unsigned int i = 0; i < a.rhs.size(); ++i)
    largest = std::max(largest, std::abs(a.rhs(i) - b.rhs(i)));
  return largest / scale;
}

bool
same_bits(const System &a, const System &b)
{
  bool same = true;
  for (auto x = a.matrix.begin(), y = b.matrix.begin(); x != a.matrix.end();
       ++x, ++y)
    same = same && x->value() == y->value();
  for (unsigned int i = 0; i < a.rhs.size(); ++i)
    same = same && a.rhs(i) == b.rhs(i);
  return same;
}



/// The rules themselves: points are points of the sub-cells, weights are
/// positive, and the number of points is at most that of the polynomials.
template <int dim>
void
test_rules(const std::string &mesh_name)
{
  Triangulation<dim> triangulation;
  make_mesh(mesh_name, triangulation);
  triangulation.refine_global(dim == 2 ? 3 : 1);
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>("steps"));
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
  const std::string name = std::to_string(dim) + "-D " + mesh_name;

  for (const unsigned int order : {1u, 2u, 4u, 6u, 9u})
    {
      const Tessella::internal::CompressedQuadrature<dim> rule(
        handler.polytopic_mesh(),
        handler.polytopic_dofs(),
        std::vector<unsigned int>(2, order));
      const unsigned int n_polynomials =
        Tessella::Legendre::n_functions(dim, order, false);
      double least = 1., volume = 0.;
      for (unsigned int q = 0; q < rule.offset.back(); ++q)
        {
          const double w = rule.points[q * (dim + 1) + dim];
          least          = std::min(least, w);
          volume += w;
        }
      const std::string what = name + ", order " + std::to_string(order) + ": ";
      check(what + "all polytopes", rule.report.n_full == 0);
      check(what + "number of points",
            rule.report.n_points <= handler.n_polytopes() * n_polynomials &&
              rule.report.n_points == rule.offset.back() &&
              rule.report.n_points < rule.report.n_full_points);
      check(what + "positive weights", least > 0.);
      check_close(what + "volume", volume, 1.5, 1e-13);
      check_below(what + "error", rule.report.largest_error, 2e-14);
    }
}



/// Matrices and right-hand sides against the reference, and against the full
/// rules.
template <int dim>
void
test_matrices(const std::string &mesh_name, const std::string &agglomeration)
{
  Triangulation<dim> triangulation;
  make_mesh(mesh_name, triangulation);
  if (dim == 2 || mesh_name == "simplices")
    triangulation.refine_global(1);
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>(agglomeration));
  const Reference::Problem<dim> problem = full_problem<dim>();
  const std::string             name =
    std::to_string(dim) + "-D " + mesh_name + ", " + agglomeration;

  double     constant = 0., varying = 0., to_full = 0.;
  const auto add = [&](double &to, const std::pair<double, double> &from) {
    to = std::max({to, from.first, from.second});
  };
  for (const bool mixed : {false, true})
    for (unsigned int p = mixed ? 2 : 0; p <= (dim == 2 ? 4 : 2); ++p)
      {
        if (mixed)
          distribute_mixed_degrees(handler, p);
        else
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
        const auto data = compressed<dim>(QuadratureCompression::always);
        const Mapping<dim> *const no_mapping = nullptr;
        // On distorted cells, points for the map of the cell are needed too.
        const unsigned int n_points = p + 4;
        add(
          constant,
          compare(
            handler, problem, Give::constants, 2, n_points, no_mapping, data));
        add(varying,
            compare(handler,
                    problem,
                    Give::tensor_functions,
                    2,
                    n_points,
                    no_mapping,
                    data));
        System         full, few;
        Assembler<dim> with_all(handler,
                                compressed<dim>(QuadratureCompression::never)),
          with_few(handler, data);
        with_all.reinit(full.sparsity, full.matrix, full.rhs);
        with_few.reinit(few.sparsity, few.matrix, few.rhs);
        const auto form = make_form(problem, Give::scalar_constant, 2);
        with_all.assemble(form, full.matrix, full.rhs);
        with_few.assemble(form, few.matrix, few.rhs);
        to_full = std::max(to_full, difference(full, few));
        if (p == 2)
          check(name + (mixed ? ", mixed degrees" : "") + ": compressed",
                with_few.report().compression.n_compressed > 0 &&
                  with_all.report().compression.n_points == 0);
      }
  check_below(name + ": constant coefficients", constant, 1e-12);
  check_below(name + ": polynomial coefficients", varying, 1e-12);
  check_below(name + ": full rules", to_full, 1e-13);
}



/// Materials, values per cell, the number of assemblies, threads, and spaces
/// and meshes with full rules.
template <int dim>
void
test_choice()
{
  Triangulation<dim> triangulation;
  make_mesh("simplices", triangulation);
  triangulation.refine_global(dim == 2 ? 2 : 1);
  Vector<double> by_cell(triangulation.n_active_cells());
  for (const auto &cell : triangulation.active_cell_iterators())
    {
      cell->set_material_id(cell->center()[0] + cell->center()[1] < 1. ? 3 : 1);
      by_cell(cell->active_cell_index()) = 1. + cell->active_cell_index() % 5;
    }
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>("scattered"));
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(2));
  const std::string name = std::to_string(dim) + "-D: ";

  const auto assemble = [](auto &assembler, const auto &form, System &system) {
    system.reinit(assembler);
    assembler.assemble(form, system.matrix, system.rhs);
    return assembler.report().compression;
  };
  const auto always = compressed<dim>(QuadratureCompression::always);
  const auto never  = compressed<dim>(QuadratureCompression::never);
  {
    Tessella::AdvectionDiffusionReaction<dim> form;
    form.set_diffusion(Tessella::CellwiseCoefficient(
      std::map<types::material_id, double>{{3, 1.}, {1, 40.}}));
    form.set_reaction(2.);
    System         few, full;
    Assembler<dim> with_few(handler, always), with_all(handler, never);
    const auto     report = assemble(with_few, form, few);
    assemble(with_all, form, full);
    check(name + "materials: compressed", report.n_compressed > 0);
    check_below(name + "materials: full rules", difference(full, few), 1e-13);

    const unsigned int n_threads = MultithreadInfo::n_threads();
    MultithreadInfo::set_thread_limit(1);
    System         serial;
    Assembler<dim> alone(handler, always);
    assemble(alone, form, serial);
    MultithreadInfo::set_thread_limit(n_threads);
    check(name + "one thread: same bits", same_bits(few, serial));
  }
  {
    Tessella::AdvectionDiffusionReaction<dim> form;
    form.set_diffusion(1.);
    form.set_reaction(
      Tessella::CellwiseCoefficient(handler.polytopic_mesh(), by_cell));
    System         few, full;
    Assembler<dim> with_few(handler, always), with_all(handler, never);
    const auto     report = assemble(with_few, form, few);
    assemble(with_all, form, full);
    check(name + "values per cell: full rules, same bits",
          report.n_points == 0 && same_bits(few, full));
  }
  {
    // Two forms in turn, and a change of the space.
    Tessella::AdvectionDiffusionReaction<dim> form, other;
    form.set_diffusion(1.);
    other.set_reaction(1.);
    Assembler<dim> assembler(handler,
                             compressed<dim>(QuadratureCompression::automatic));
    System         system;
    const auto     points = [&](const auto &f) {
      return assemble(assembler, f, system).n_points;
    };
    bool few = true;
    for (unsigned int n = 1; n <= 4; ++n)
      {
        few = few && (points(form) > 0) == (n >= 3);
        few = few && (points(other) > 0) == (n >= 3);
      }
    check(name + "automatic: from the third assembly on", few);
    const std::size_t n_gradients = points(form), n_values = points(other);
    check(name + "derivatives need fewer points", n_gradients < n_values);
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
    check(name + "automatic: begins again with another space",
          points(form) == 0);
  }
  {
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(
      1, Tessella::PolynomialSpaceType::tensor_product));
    Tessella::AdvectionDiffusionReaction<dim> form;
    form.set_diffusion(1.);
    Assembler<dim> assembler(handler, always);
    System         system;
    check(name + "tensor product spaces: full rules",
          assemble(assembler, form, system).n_points == 0);
  }
  {
    Triangulation<dim> curved;
    make_mesh("curved", curved);
    Tessella::AgglomerationHandler<dim> round(curved,
                                              mapping_for<dim, 3>("curved"));
    round.agglomerate(make_strategy<dim>("one"));
    round.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
    Tessella::AdvectionDiffusionReaction<dim> form;
    form.set_diffusion(1.);
    Assembler<dim> assembler(round, always);
    System         system;
    check(name + "curved cells: full rules",
          assemble(assembler, form, system).n_points == 0);
  }
}



int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  for (const std::string mesh : {"box", "distorted", "simplices"})
    {
      test_rules<2>(mesh);
      test_rules<3>(mesh);
    }
  for (const std::string mesh : {"distorted", "simplices", "hanging periodic"})
    for (const std::string agglomeration : {"scattered", "one"})
      {
        test_matrices<2>(mesh, agglomeration);
        if (agglomeration == "one")
          test_matrices<3>(mesh, agglomeration);
      }
  test_choice<2>();
  test_choice<3>();
}
