// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// A program with the Trilinos solver stack on one and on all processes: errors,
// values at points, output; strategies on distributed meshes; errors that one
// process makes are thrown on all.

#include <deal.II/base/function_lib.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_precondition.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include "../tests.h"

using namespace dealii;
namespace TVT = Tessella::VectorTools;
using namespace Tessella;

template <int dim>
void
refine(parallel::distributed::Triangulation<dim> &triangulation)
{
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(dim == 2 ? 4 : 3);
  for (const auto &cell : triangulation.active_cell_iterators())
    if (cell->is_locally_owned() && cell->center()[0] < 0.3)
      cell->set_refine_flag();
  triangulation.execute_coarsening_and_refinement();
}

// L2, H1, dG error of the solution; L2 of the projection, and of the
// interpolant from cell errors; two values.
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
  result.push_back(
    TVT::compute_global_error(difference, dealii::VectorTools::L2_norm, comm));
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
      // but for the date, what deal.II writes by MPI
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
    }
  return result;
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
      // at a corner, which polytope gives the value is open
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
  // The one cell of level 0 is cut by every partition.
  check_throws<ExcUserInput>(
    "cut ancestor" + suffix,
    [&]() { handler.agglomerate(Agglomeration::ancestors_on_level<dim>(0)); },
    "The partition cuts polytopes");
  check("split" + suffix,
        n(Agglomeration::ancestors_on_level<dim>(0, true)) ==
          Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD));

  // ---- errors of the last process
  const bool last = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) + 1 ==
                    Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  handler.agglomerate(Agglomeration::none<dim>());
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
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  test<2>();
  test<3>();
}
