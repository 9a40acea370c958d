// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// A program with the Trilinos solver stack on one and on all processes: errors,
// values at points, output; strategies on distributed meshes; serial meshes on
// several processes; errors of one process are thrown on all.

#include <deal.II/base/function_lib.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_precondition.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/error_message.h>
#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/two_level_preconditioner.h>
#include <tessella/multigrid/multigrid_hierarchy.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/vector_tools.h>

#include <set>
#include <type_traits>
#include <utility>

#include "../tests.h"
#include "cases.h"

using namespace dealii;
namespace TVT = Tessella::VectorTools;
using namespace Tessella;

// Functions that sum over polytopes must not compile with the data of this
// process alone.
template <typename Argument>
using LocalError =
  decltype(TVT::compute_global_error(std::declval<Argument>(),
                                     dealii::VectorTools::L2_norm));
template <typename Argument>
using LocalEstimate =
  decltype(ErrorEstimator::global(std::declval<Argument>()));
template <typename Argument>
using LocalTree =
  decltype(NestedAgglomeration::rtree(std::declval<Argument>()));
template <template <typename> class Call, typename Argument, typename = void>
struct Compiles : std::false_type
{};
template <template <typename> class Call, typename Argument>
struct Compiles<Call, Argument, std::void_t<Call<Argument>>> : std::true_type
{};
static_assert(Compiles<LocalTree, const AgglomerationHandler<2> &>::value &&
                !Compiles<LocalTree, const PolytopicMesh<2> &>::value &&
                !Compiles<LocalError, const Vector<float> &>::value &&
                !Compiles<LocalEstimate, const Vector<double> &>::value,
              "A sum over polytopes needs their handler.");

template <int dim>
void
refine(parallel::distributed::Triangulation<dim> &triangulation)
{
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(dim == 2 ? 4 : 3);
  refine(triangulation,
         [](const Point<dim> &center) { return center[0] < 0.3; });
}

// L2, H1 and dG error of the solution; L2 error of the projection, and of the
// interpolant from cell errors; two point values.
template <int dim>
std::vector<double>
solve(const MPI_Comm comm, const std::string &file)
{
  parallel::distributed::Triangulation<dim> triangulation(comm);
  refine(triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::complete_families<dim>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));

  const auto exact = std::make_shared<Functions::CosineFunction<dim>>();
  class Source : public Function<dim>
  {
  public:
    double
    value(const Point<dim> &p, const unsigned int) const override
    {
      return dim * .25 * numbers::PI * numbers::PI *
             Functions::CosineFunction<dim>().value(p);
    }
  };
  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(1.);
  form.set_source(std::make_shared<Source>());
  form.set_coefficient_order(4);
  BoundaryCondition<dim> boundary;
  boundary.value = exact;
  form.set_default_boundary_condition(boundary);

  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Backend::host;
  PolytopicAssembler<dim>        assembler(handler, data);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs, solution;
  assembler.reinit(matrix, rhs);
  assembler.assemble(form, matrix, rhs);
  solution.reinit(rhs);
  SolverControl control(2000, 1e-13 * rhs.l2_norm(), false, false);
  SolverCG<TrilinosWrappers::MPI::Vector> cg(control);
  TrilinosWrappers::PreconditionSSOR      preconditioner;
  preconditioner.initialize(matrix);
  cg.solve(matrix, solution, rhs, preconditioner);

  std::vector<double>   result;
  const TVT::ErrorNorms errors = TVT::compute_errors(
    handler, form, assembler.penalty(form), solution, *exact, 4);
  result = {errors.L2, errors.H1_seminorm, errors.dG};
  TrilinosWrappers::MPI::Vector other(rhs);
  TVT::project(handler, *exact, other, 4);
  result.push_back(TVT::compute_errors(
                     handler, form, assembler.penalty(form), other, *exact, 4)
                     .dG);
  TVT::interpolate(handler, *exact, other);
  Vector<float> difference;
  TVT::integrate_difference(
    handler, other, *exact, difference, dealii::VectorTools::L2_norm, 4);
  result.push_back(TVT::compute_global_error(handler,
                                             difference,
                                             dealii::VectorTools::L2_norm));
  std::vector<Point<dim>> points(2);
  for (unsigned int d = 0; d < dim; ++d)
    {
      points[0][d] = 0.21 + 0.1 * d;
      points[1][d] = 0.5;
    }
  std::vector<Vector<double>> values;
  TVT::point_values(handler, solution, points, values);
  result.push_back(values[0][0]);
  result.push_back(values[1][0]);

  if (!file.empty())
    {
      PolytopicDataOut<dim> data_out(handler);
      data_out.add_data_vector(solution, "solution");
      data_out.add_polytope_data(difference, "error");
      data_out.build_patches();
      data_out.write_vtu_file(file);
      // Except for the date, this is the file that deal.II writes by MPI.
      data_out.write_vtu_in_parallel("deal." + file, comm);
      const auto text = [](const std::string &name) {
        std::ifstream      in(name);
        std::ostringstream out;
        for (std::string line; std::getline(in, line);)
          if (line.find("#This file was generated") == std::string::npos)
            out << line << '\n';
        return out.str();
      };
      check("one file of all",
            text(file).size() > 1000 && text(file) == text("deal." + file));

      // Two levels lead to the same solution in fewer iterations.
      TwoLevelPreconditioner<dim> two_levels;
      two_levels.initialize(handler, matrix);
      other = 0.;
      SolverControl few(control.last_step(),
                        1e-13 * rhs.l2_norm(),
                        false,
                        false);
      SolverCG<TrilinosWrappers::MPI::Vector>(few).solve(matrix,
                                                         other,
                                                         rhs,
                                                         two_levels);
      other -= solution;
      check("two-level preconditioner",
            few.last_step() < control.last_step() &&
              other.l2_norm() < 1e-8 * solution.l2_norm());
    }
  return result;
}

// Ghost polytopes have the data of their owners; elements are chosen by owners;
// agglomerates that only some processes name; a mesh that changes.
template <int dim>
void
check_polytopes(const std::string &suffix)
{
  const MPI_Comm     comm = MPI_COMM_WORLD;
  const unsigned int me   = Utilities::MPI::this_mpi_process(comm);
  parallel::distributed::Triangulation<dim> triangulation(comm);
  refine(triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::complete_families<dim>());

  // Id, owner and element of each polytope, sorted by global number.
  const auto element = [](const CellId &id) {
    return static_cast<unsigned int>(id.to_string().back()) % 3;
  };
  std::vector<std::pair<std::string, unsigned int>> own;
  for (const auto &polytope : handler.polytope_iterators())
    {
      own.emplace_back(polytope->id().to_string(), polytope->subdomain_id());
      polytope->set_active_fe_index(element(polytope->id()));
    }
  std::vector<std::pair<std::string, unsigned int>> all;
  for (const auto &part : Utilities::MPI::all_gather(comm, own))
    all.insert(all.end(), part.begin(), part.end());
  const hp::FECollection<dim> collection(FE_BoundingBoxLegendre<dim>(1),
                                         FE_BoundingBoxLegendre<dim>(2),
                                         FE_BoundingBoxLegendre<dim>(3));
  handler.distribute_dofs(collection);
  std::set<std::string> ids;
  for (const auto &polytope : all)
    ids.insert(polytope.first);
  bool right = ids.size() == handler.n_global_polytopes(), elements = true,
       refused = false, met_ghost = false;
  for (const auto &polytope : handler.polytope_iterators())
    for (unsigned int f = 0; f < polytope->n_faces(); ++f)
      if (!polytope->at_boundary(f))
        {
          const auto  neighbor = polytope->neighbor(f);
          const auto &owners   = all[neighbor->global_index()];
          right = right && neighbor->id().to_string() == owners.first &&
                  neighbor->subdomain_id() == owners.second &&
                  (owners.second == me) == neighbor->is_locally_owned();
          elements = elements &&
                     neighbor->active_fe_index() == element(neighbor->id()) &&
                     neighbor->degree() == neighbor->get_fe().degree;
          if (neighbor->is_locally_owned() || met_ghost)
            continue;
          met_ghost = true;
          try
            {
              neighbor->set_active_fe_index(0);
            }
          catch (const ExcUserInput &)
            {
              try
                {
                  neighbor->polytope_boundary();
                }
              catch (const ExcUserInput &)
                {
                  refused = true;
                }
            }
        }
  const auto everywhere = [&](const bool value) {
    return Utilities::MPI::min(value ? 1 : 0, comm) == 1;
  };
  check("ids and owners" + suffix, everywhere(right));
  check("elements of owners" + suffix, everywhere(elements));
  check("ghosts refuse" + suffix, everywhere(refused));
  const bool last = me + 1 == Utilities::MPI::n_mpi_processes(comm);
  if (last)
    handler.begin()->set_active_fe_index(3);
  check_throws<ExceptionBase>(
    "an element that is not there" + suffix,
    [&]() { handler.distribute_dofs(collection); },
    "has element index 3, but the collection has 3 elements");

  // Two cells of the last process, before and after a change of the mesh.
  const std::uint64_t n_before = triangulation.n_global_active_cells();
  const auto          name     = [&]() {
    if (!last)
      return;
    std::vector<typename Triangulation<dim>::active_cell_iterator> cells;
    for (const auto &cell : triangulation.active_cell_iterators())
      if (cell->is_locally_owned() && cells.size() < 2)
        cells.push_back(cell);
    handler.define_agglomerate(cells);
  };
  name();
  handler.distribute_agglomerated_dofs(FE_BoundingBoxLegendre<dim>(1));
  check("named by one process" + suffix,
        handler.n_global_polytopes() == n_before - 1);
  name();
  triangulation.refine_global(1);
  check_throws<ExcUserInput>(
    "changed mesh" + suffix,
    [&]() { handler.distribute_agglomerated_dofs(collection); },
    "The triangulation has changed");
  name();
  handler.distribute_agglomerated_dofs(collection);
  check("named afresh" + suffix,
        handler.n_global_polytopes() ==
            triangulation.n_global_active_cells() - 1 &&
          handler.n_dofs() == (dim + 1) * handler.n_global_polytopes());
}

bool
on_all(const bool condition)
{
  return Utilities::MPI::min(condition ? 1 : 0, MPI_COMM_WORLD) == 1;
}

// check_throws() on every process.
template <typename Function>
void
check_all_throw(const std::string &name,
                const Function    &function,
                const std::string &text)
{
  std::string said;
  try
    {
      function();
    }
  catch (const std::exception &exception)
    {
      said = error_message(exception);
    }
  check(name, on_all(said.find(text) != std::string::npos));
}

// Global polytope indices on the levels of nested agglomerations.
template <int dim>
void
test_nested()
{
  const std::string suffix = " in " + std::to_string(dim) + "-D";
  parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(2);
  // The last process has the finest cells, in the corner, which the first
  // process does not see.
  for (unsigned int i = 0; i < 4; ++i)
    {
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->is_locally_owned())
          {
            bool corner = true;
            for (int d = 0; d < dim; ++d)
              corner =
                corner && cell->center()[d] + cell->extent_in_direction(d) > 1.;
            if (corner)
              cell->set_refine_flag();
          }
      triangulation.execute_coarsening_and_refinement();
    }
  check("levels of the first process" + suffix,
        Utilities::MPI::min(triangulation.n_levels(), MPI_COMM_WORLD) <
          triangulation.n_global_levels());
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::none<dim>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  const unsigned int n_processes =
    Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  const auto n_coarsest = [&](const NestedAgglomeration::Parents &parents) {
    const auto n = [](const std::vector<unsigned int> &parent) {
      return parent.empty()
               ? 0u
               : 1 + *std::max_element(parent.begin(), parent.end());
    };
    return Utilities::MPI::sum(n(parents.back()), MPI_COMM_WORLD);
  };
  const auto few = [&](const unsigned int n, const unsigned int bound) {
    return on_all(n >= n_processes && n <= bound);
  };
  check("R-tree counts all polytopes" + suffix,
        few(n_coarsest(NestedAgglomeration::rtree(handler, 2, 12)), 12));
  check("METIS counts all polytopes" + suffix,
        few(n_coarsest(NestedAgglomeration::metis(handler, 2, 12)), 12));
  check("ancestors" + suffix,
        few(n_coarsest(NestedAgglomeration::ancestors(handler, 1)),
            n_processes));
}

// Every process has the whole serial mesh, so polytope numbers are those of the
// whole mesh, and a vector of which it owns a part does not fit.
template <int dim>
void
test_serial_mesh()
{
  const std::string  suffix = " in " + std::to_string(dim) + "-D";
  Triangulation<dim> triangulation;
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(2);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::metis<dim>(4));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  const Functions::ConstantFunction<dim> three(3.);
  Vector<double>                         u(handler.n_dofs());
  Vector<float>                          difference;
  TVT::integrate_difference(
    handler, u, three, difference, dealii::VectorTools::L2_norm);
  const double norm = TVT::compute_global_error(handler,
                                                difference,
                                                dealii::VectorTools::L2_norm);
  check("norm on a serial mesh" + suffix,
        on_all(std::abs(norm - 3.) < 1e-6 && handler.n_polytopes() == 4 &&
               handler.n_global_polytopes() == 4));
  const unsigned int n_processes =
                       Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD),
                     process = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD);
  IndexSet owned(handler.n_dofs());
  owned.add_range(handler.n_dofs() * process / n_processes,
                  handler.n_dofs() * (process + 1) / n_processes);
  TrilinosWrappers::MPI::Vector part(owned, MPI_COMM_WORLD);
  check_all_throw(
    "part of a vector" + suffix,
    [&]() {
      TVT::integrate_difference(
        handler, part, three, difference, dealii::VectorTools::L2_norm);
    },
    "reinit() it with locally_owned_dofs()");
}

template <int dim>
void
test()
{
  const std::string suffix  = " in " + std::to_string(dim) + "-D";
  const auto        all     = solve<dim>(MPI_COMM_WORLD, "solution.vtu");
  const auto        one     = solve<dim>(MPI_COMM_SELF, "");
  const char *const names[] = {"L2 error",
                               "H1 error",
                               "dG error",
                               "dG error of the projection",
                               "L2 error of the interpolant",
                               "value at a point",
                               "value at a corner of cells"};
  for (unsigned int i = 0; i < all.size(); ++i)
    {
      // At a corner it is undetermined which polytope provides the value.
      const double tolerance = i == 4 ? 1e-6 : i == 6 ? 1e-3 : 1e-7;
      check_close(names[i] + suffix,
                  all[i],
                  one[i],
                  tolerance * std::abs(one[i]));
    }
  MPI_Barrier(MPI_COMM_WORLD);
  std::ifstream     file("solution.vtu");
  std::stringstream text;
  text << file.rdbuf();
  check("output" + suffix, text.str().find("</VTKFile>") != std::string::npos);
  MPI_Barrier(MPI_COMM_WORLD);

  // ---- strategies on the cells of each process
  parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
  refine(triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  const auto n = [&](const Agglomeration::Strategy<dim> &strategy) {
    handler.agglomerate(strategy);
    double volume = 0.;
    for (const auto &polytope : handler.polytope_iterators())
      volume += polytope.measure();
    check_close("volume" + suffix,
                Utilities::MPI::sum(volume, MPI_COMM_WORLD),
                1.,
                1e-12);
    return handler.n_global_polytopes();
  };
  check("METIS" + suffix, n(Agglomeration::metis<dim>(20)) == 20);
  check("space-filling curve" + suffix,
        n(Agglomeration::space_filling_curve<dim>(31)) == 31);
  check("R-tree" + suffix, n(Agglomeration::rtree_parts<dim>(25)) == 25);
  check("repair" + suffix,
        n(Agglomeration::repair<dim>(Agglomeration::metis<dim>(20))) >= 20);
  // Every partition cuts the single cell of level 0.
  check_throws<ExcUserInput>(
    "cut ancestor" + suffix,
    [&]() { handler.agglomerate(Agglomeration::ancestors_on_level<dim>(0)); },
    "The partition cuts polytopes");
  check("split" + suffix,
        n(Agglomeration::ancestors_on_level<dim>(0, true)) ==
          Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD));

  // ---- sums over the polytopes of all processes
  handler.agglomerate(Agglomeration::none<dim>());
  const double  n_cells = triangulation.n_global_active_cells();
  Vector<float> ones(handler.n_polytopes());
  ones = 1.f;
  Vector<double> indicators(handler.n_polytopes());
  indicators = 1.;
  check("global error" + suffix,
        on_all(TVT::compute_global_error(
                 handler, ones, dealii::VectorTools::L1_norm) == n_cells &&
               TVT::compute_global_error(
                 handler, ones, dealii::VectorTools::Linfty_norm) == 1.));
  check("global estimate" + suffix,
        on_all(ErrorEstimator::global(handler, indicators) ==
               std::sqrt(n_cells)));

  // ---- errors of the last process
  const bool last = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) + 1 ==
                    Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  ones.reinit(handler.n_polytopes() + (last ? 1 : 0));
  indicators.reinit(handler.n_polytopes() + (last ? 1 : 0));
  check_all_throw(
    "global error of other polytopes" + suffix,
    [&]() {
      TVT::compute_global_error(handler, ones, dealii::VectorTools::L2_norm);
    },
    "give the vector that integrate_difference() filled for this handler");
  check_all_throw(
    "global estimate of other polytopes" + suffix,
    [&]() { ErrorEstimator::global(handler, indicators); },
    "give the vector that residual() or jumps() filled for this handler");
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  // One process has ghosts, which precede its own entries.
  IndexSet relevant = handler.locally_owned_dofs();
  if (last)
    relevant = handler.locally_relevant_dofs();
  const TrilinosWrappers::MPI::Vector ghosted(handler.locally_owned_dofs(),
                                              relevant,
                                              MPI_COMM_WORLD);
  check_all_throw(
    "vector with ghosts" + suffix,
    [&]() {
      TVT::integrate_difference(handler,
                                ghosted,
                                Functions::ZeroFunction<dim>(),
                                ones,
                                dealii::VectorTools::L2_norm);
    },
    "The vector has ghost entries");
  const TrilinosWrappers::MPI::Vector zero(handler.locally_owned_dofs(),
                                           MPI_COMM_WORLD);
  std::vector<Point<dim>>             points(3);
  std::vector<Vector<double>>         values;
  points[1][0] = last ? .25 : .75;
  check_all_throw(
    "other points" + suffix,
    [&]() { TVT::point_values(handler, zero, points, values); },
    "need the same points");
  points.resize(last ? 1 : 2, Point<dim>());
  check_all_throw(
    "other number of points" + suffix,
    [&]() { TVT::point_values(handler, zero, points, values); },
    "need the same points");
  check_throws<ExceptionBase>(
    "element indices" + suffix,
    [&]() {
      handler.distribute_dofs(
        hp::FECollection<dim>(FE_BoundingBoxLegendre<dim>(1)),
        std::vector<unsigned int>(handler.n_polytopes() + (last ? 1 : 0), 0));
    },
    "On process");
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  class Infinite : public Function<dim>
  {
  public:
    Infinite(const bool bad)
      : bad(bad)
    {}
    double
    value(const Point<dim> &, const unsigned int) const override
    {
      return bad ? 1. / std::numeric_limits<double>::denorm_min() : 1.;
    }
    const bool bad;
  };
  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(std::make_shared<Infinite>(last));
  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Backend::host;
  PolytopicAssembler<dim>        assembler(handler, data);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs;
  assembler.reinit(matrix, rhs);
  check_throws<ExceptionBase>(
    "coefficient" + suffix,
    [&]() { assembler.assemble(form, matrix, rhs); },
    "is not finite");
  form.set_diffusion(1.);
  assembler.assemble(form, matrix, rhs);
  check("and on" + suffix, matrix.frobenius_norm() > 0.);

  check_polytopes<dim>(suffix);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  test<2>();
  test<3>();
  test_nested<2>();
  test_nested<3>();
  test_serial_mesh<2>();
  test_serial_mesh<3>();
}
