// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// mesh_loop(): the interior penalty form written by hand agrees with the
// assembler and has the same bits for any number of threads; which faces are
// visited; exceptions; flags that do not go together.

#include <deal.II/base/multithread_info.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/penalty.h>
#include <tessella/values/mesh_loop.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "../lambda.h"
#include "../meshes.h"
#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

constexpr double sigma = 2.5;

const MeshWorker::AssembleFlags once =
  MeshWorker::assemble_own_cells | MeshWorker::assemble_boundary_faces |
  MeshWorker::assemble_own_interior_faces_once |
  MeshWorker::assemble_ghost_faces_once;

template <int dim>
double
source(const Point<dim> &x)
{
  return 1. + x[0] * x[dim - 1];
}

template <int dim>
double
boundary_value(const Point<dim> &x)
{
  return x[0] - 2. * x[1] * x[1];
}

struct System
{
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs;
};

/// -Laplace u = f by the symmetric interior penalty method.
template <int dim>
void
assemble_by_hand(const Tessella::AgglomerationHandler<dim> &handler,
                 System                                    &system,
                 const MeshWorker::AssembleFlags            flags = once)
{
  using Scratch = PolytopeScratchData<dim>;
  using Copy    = PolytopeCopyData;
  using Cell    = PolytopeIterator<dim>;

  const auto on_polytope = [&](const Cell &cell, Scratch &scratch, Copy &copy) {
    const auto &values = scratch.reinit(cell);
    auto       &local  = copy.template add<dim>(cell);
    for (const unsigned int q : values.quadrature_point_indices())
      for (const unsigned int i : values.dof_indices())
        {
          for (const unsigned int j : values.dof_indices())
            local.matrix(i, j) += values.JxW(q) * (values.shape_grad(i, q) *
                                                   values.shape_grad(j, q));
          local.rhs(i) += values.JxW(q) * source(values.quadrature_point(q)) *
                          values.shape_value(i, q);
        }
  };
  const auto on_face = [&](const Cell        &cell,
                           const unsigned int face,
                           Scratch           &scratch,
                           Copy              &copy) {
    const auto &values = scratch.reinit(cell, face);
    auto       &local  = copy.add(values);
    for (const unsigned int q : values.quadrature_point_indices())
      for (const unsigned int i : values.dof_indices())
        {
          const double jump = values.jump_in_shape_values(i, q),
                       flux = values.average_of_shape_gradients(i, q) *
                              values.normal_vector(q);
          const double gamma = sigma * values.penalty_factor(q);
          for (const unsigned int j : values.dof_indices())
            local.matrix(i, j) +=
              values.JxW(q) *
              ((gamma * jump - flux) * values.jump_in_shape_values(j, q) -
               jump * (values.average_of_shape_gradients(j, q) *
                       values.normal_vector(q)));
          if (values.at_boundary())
            local.rhs(i) += values.JxW(q) * (gamma * jump - flux) *
                            boundary_value(values.quadrature_point(q));
        }
  };
  const auto between = [&](const Cell        &cell,
                           const unsigned int face,
                           const Cell &,
                           const unsigned int,
                           Scratch &scratch,
                           Copy &copy) { on_face(cell, face, scratch, copy); };

  system.matrix = 0.;
  system.rhs    = 0.;
  mesh_loop(
    handler.polytope_iterators(),
    on_polytope,
    [&](const Copy &copy) {
      copy.distribute_local_to_global(system.matrix, system.rhs);
    },
    Scratch(handler,
            2,
            update_values | update_gradients,
            update_values | update_gradients),
    Copy(),
    flags,
    on_face,
    between);
  system.matrix.compress(VectorOperation::add);
  system.rhs.compress(VectorOperation::add);
}

bool
same_bits(const System &a, const System &b)
{
  bool       same  = true;
  const auto equal = [&](const double x, const double y) {
    same = same && std::memcmp(&x, &y, sizeof(double)) == 0;
  };
  const auto rows = a.matrix.local_range();
  for (auto i = rows.first; i < rows.second; ++i)
    {
      auto other = b.matrix.begin(i);
      for (auto entry = a.matrix.begin(i); entry != a.matrix.end(i);
           ++entry, ++other)
        equal(entry->value(), other->value());
      equal(a.rhs(i), b.rhs(i));
    }
  return same;
}

void
check_on_all(const std::string &name, const bool condition)
{
  check(name, Utilities::MPI::min(condition ? 1 : 0, MPI_COMM_WORLD) == 1);
}

template <int dim>
void
compare_with_assembler(const std::string                   &name,
                       Tessella::AgglomerationHandler<dim> &handler)
{
  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(1.);
  form.set_source(std::make_shared<Lambda<dim>>(
    [](const Point<dim> &x, const unsigned int) { return source(x); }));
  BoundaryCondition<dim> condition; // Dirichlet
  condition.value = std::make_shared<Lambda<dim>>(
    [](const Point<dim> &x, const unsigned int) { return boundary_value(x); });
  form.set_default_boundary_condition(condition);
  form.set_coefficient_order(2);
  AssemblyParameters parameters;
  parameters.backend          = Backend::host;
  parameters.penalty.constant = sigma;
  PolytopicAssembler<dim> assembler(handler, parameters);
  System                  fast, by_hand, again;
  for (System *system : {&fast, &by_hand, &again})
    assembler.reinit(system->matrix, system->rhs);
  assembler.assemble(form, fast.matrix, fast.rhs);

  compute_penalty_factors(handler, PenaltyFormula::simplex);
  MultithreadInfo::set_thread_limit(1);
  assemble_by_hand(handler, by_hand);
  for (const unsigned int n_threads : {2, 4})
    {
      MultithreadInfo::set_thread_limit(n_threads);
      assemble_by_hand(handler, again);
      check_on_all(name + ", bits with " + std::to_string(n_threads) +
                     " threads",
                   same_bits(by_hand, again));
    }
  assemble_by_hand(handler, again, once | MeshWorker::cells_after_faces);

  const double scale = fast.matrix.frobenius_norm();
  for (System *system : {&by_hand, &again})
    {
      system->matrix.add(-1., fast.matrix);
      check_below(name + ", matrix",
                  system->matrix.frobenius_norm() / scale,
                  1e-13);
      system->rhs -= fast.rhs;
      check_below(name + ", right-hand side",
                  system->rhs.l2_norm() / fast.rhs.l2_norm(),
                  1e-13);
    }
}

/// Counts visits and the measure of visited faces.
template <int dim>
void
count_visits(const std::string                         &name,
             const Tessella::AgglomerationHandler<dim> &handler,
             const double                               interior_measure)
{
  struct Visits
  {
    unsigned int n_polytopes = 0, n_boundary = 0, n_own = 0, n_ghost = 0;
    double       measure = 0.;
    bool         right   = true;
  };
  using Scratch  = PolytopeScratchData<dim>;
  using Cell     = PolytopeIterator<dim>;
  const auto run = [&](const MeshWorker::AssembleFlags flags) {
    Visits sum;
    mesh_loop(
      handler.polytope_iterators(),
      [](const Cell &, Scratch &, Visits &copy) { ++copy.n_polytopes; },
      [&](const Visits &copy) {
        sum.n_polytopes += copy.n_polytopes;
        sum.n_boundary += copy.n_boundary;
        sum.n_own += copy.n_own;
        sum.n_ghost += copy.n_ghost;
        sum.measure += copy.measure;
        sum.right = sum.right && copy.right;
      },
      Scratch(handler, 0, update_values, update_values),
      Visits(),
      flags,
      [](const Cell &cell, const unsigned int f, Scratch &, Visits &copy) {
        ++copy.n_boundary;
        copy.right = copy.right && cell->at_boundary(f);
      },
      [](const Cell        &cell,
         const unsigned int f,
         const Cell        &neighbor,
         const unsigned int neighbor_face,
         Scratch           &scratch,
         Visits            &copy) {
        const bool own = neighbor->is_locally_owned();
        ++(own ? copy.n_own : copy.n_ghost);
        for (const double JxW : scratch.reinit(cell, f).get_JxW_values())
          copy.measure += JxW;
        copy.right =
          copy.right && cell->neighbor(f)->index() == neighbor->index() &&
          (own ? neighbor->neighbor(neighbor_face)->index() == cell->index()
               : neighbor_face == numbers::invalid_unsigned_int);
      });
    sum.n_polytopes = Utilities::MPI::sum(sum.n_polytopes, MPI_COMM_WORLD);
    sum.n_boundary  = Utilities::MPI::sum(sum.n_boundary, MPI_COMM_WORLD);
    sum.n_own       = Utilities::MPI::sum(sum.n_own, MPI_COMM_WORLD);
    sum.n_ghost     = Utilities::MPI::sum(sum.n_ghost, MPI_COMM_WORLD);
    sum.measure     = Utilities::MPI::sum(sum.measure, MPI_COMM_WORLD);
    check_on_all(name + ", polytopes and faces of the workers", sum.right);
    return sum;
  };

  const Visits one  = run(once),
               both = run(MeshWorker::assemble_own_interior_faces_both |
                          MeshWorker::assemble_ghost_faces_both),
               none = run(MeshWorker::assemble_nothing);
  check(name + ", each polytope once",
        one.n_polytopes == handler.n_global_polytopes() &&
          both.n_polytopes == 0);
  check(name + ", boundary", one.n_boundary > 0 && both.n_boundary == 0);
  check(name + ", both sides",
        both.n_own == 2 * one.n_own && both.n_ghost == 2 * one.n_ghost);
  check(name + ", nothing",
        none.n_polytopes + none.n_boundary + none.n_own + none.n_ghost == 0);
  check_close(name + ", each interface once",
              one.measure,
              interior_measure,
              1e-12);
}

/// The exception of the first polytope that throws one ends the loop, and the
/// copier has seen all polytopes before it.
template <int dim>
void
check_exceptions(const Tessella::AgglomerationHandler<dim> &handler)
{
  using Cell = PolytopeIterator<dim>;
  struct Nothing
  {};
  struct Index
  {
    unsigned int index = 0;
  };
  const unsigned int first = handler.n_polytopes() / 2;
  for (const bool in_copier : {false, true})
    for (const unsigned int n_threads : {1, 4})
      {
        MultithreadInfo::set_thread_limit(n_threads);
        unsigned int      n_copied = 0;
        const std::string message  = message_of([&]() {
          mesh_loop(
            handler.polytope_iterators(),
            [&](const Cell &cell, Nothing &, Index &copy) {
              copy.index = cell->index();
              if (!in_copier && cell->index() >= first)
                throw std::runtime_error("polytope " +
                                         std::to_string(cell->index()));
            },
            [&](const Index &copy) {
              if (in_copier && copy.index >= first)
                throw std::runtime_error("polytope " +
                                         std::to_string(copy.index));
              ++n_copied;
            },
            Nothing(),
            Index(),
            MeshWorker::assemble_own_cells);
        });
        check_on_all("exception",
                     contains(message, "polytope " + std::to_string(first)) &&
                       n_copied == first);
      }
}

template <int dim>
void
check_bad_flags(const Tessella::AgglomerationHandler<dim> &handler)
{
  struct Nothing
  {};
  const auto message = [&](const MeshWorker::AssembleFlags flags) {
    return message_of([&]() {
      mesh_loop(
        handler.polytope_iterators(),
        {},
        [](const Nothing &) {},
        Nothing(),
        Nothing(),
        flags);
    });
  };
  check("ghost polytopes",
        contains(message(MeshWorker::assemble_ghost_cells),
                 "leave assemble_ghost_cells out"));
  check("once and both",
        contains(message(MeshWorker::assemble_own_interior_faces_once |
                         MeshWorker::assemble_own_interior_faces_both),
                 "give one of the two flags"));
  check("no cell worker",
        contains(message(MeshWorker::assemble_own_cells), "a cell worker"));
  check("no boundary worker",
        contains(message(MeshWorker::assemble_boundary_faces),
                 "a boundary worker"));
  check("no face worker",
        contains(message(MeshWorker::assemble_ghost_faces_once),
                 "a face worker"));
}

template <int dim>
void
run(const unsigned int n_refinements)
{
  const std::string name = std::to_string(dim) + "d";
  for (const bool periodic : {false, true})
    {
      parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
      GridGenerator::hyper_cube(triangulation, 0., 1., true);
      if (periodic)
        add_periodic_faces(triangulation, {0});
      triangulation.refine_global(n_refinements);
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->is_locally_owned() && cell->center()[0] > 0.3 &&
            cell->center()[0] < 0.7 && cell->center()[1] > 0.5)
          cell->set_refine_flag();
      triangulation.execute_coarsening_and_refinement();
      Tessella::AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(Agglomeration::complete_families<dim>());
      hp::FECollection<dim> elements;
      elements.push_back(FE_BoundingBoxLegendre<dim>(1));
      elements.push_back(FE_BoundingBoxLegendre<dim>(2));
      for (const auto &polytope : handler.polytope_iterators())
        polytope->set_active_fe_index(polytope->global_index() % 2);
      handler.distribute_dofs(elements);
      compare_with_assembler(name + (periodic ? ", periodic" : ", hp"),
                             handler);
      if (!periodic)
        {
          check_exceptions(handler);
          check_bad_flags(handler);
        }
    }

  // A row of polytopes from one periodic boundary to the other: each is its own
  // neighbour. The interior faces are those between rows, and the periodic one.
  parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
  GridGenerator::hyper_cube(triangulation, 0., 1., true);
  add_periodic_faces(triangulation, {0});
  triangulation.refine_global(2);
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) == 1)
    {
      std::vector<unsigned int> rows;
      for (const auto &cell : triangulation.active_cell_iterators())
        rows.push_back(static_cast<unsigned int>(4. * cell->center()[1]));
      handler.agglomerate(Agglomeration::by_id<dim>(rows));
    }
  else
    handler.agglomerate(Agglomeration::complete_families<dim>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  const bool serial = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) == 1;
  count_visits(name + ", own neighbour",
               handler,
               serial ? 4. : (dim == 2 ? 3. : 4.));
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 4);
  run<2>(3);
  run<3>(2);
}
