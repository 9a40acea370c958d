// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Forms whose coefficients are discrete functions, on several processes: block
// rows and right-hand side have the same bits as on one process, for all
// classes of vectors, with degrees that vary, after a change of the vectors and
// after a change of the space; values at points; errors.

#include <deal.II/base/mpi.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/discrete_function.h>
#include <tessella/lac/host_vector.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

using Distributed = LinearAlgebra::distributed::Vector<double>;

bool
on_all(const bool condition)
{
  return Utilities::MPI::min(condition ? 1 : 0, MPI_COMM_WORLD) == 1;
}

/// A mesh of one process or of all, a scalar space, and functions on spaces of
/// other degrees.
template <int dim>
struct Case
{
  parallel::distributed::Triangulation<dim> triangulation;
  AgglomerationHandler<dim>                 handler, velocity, scalar;

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

  /// Degrees @p first and @p first + 1, which depend on the place alone.
  static void
  distribute(AgglomerationHandler<dim> &handler,
             const unsigned int         n_components,
             const unsigned int         first)
  {
    hp::FECollection<dim> elements;
    for (unsigned int p = first; p <= first + 1; ++p)
      elements.push_back(
        FESystem<dim>(FE_BoundingBoxLegendre<dim>(p), n_components));
    std::vector<unsigned int> indices;
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      {
        const Point<dim> x = handler.bounding_box(k).center();
        indices.push_back(static_cast<unsigned int>(8. * (x[0] + x[1])) % 2);
      }
    handler.distribute_dofs(elements, indices);
  }

  explicit Case(const MPI_Comm communicator)
    : triangulation(communicator)
    , handler(refine(triangulation))
    , velocity(triangulation)
    , scalar(triangulation)
  {
    for (auto *space : {&handler, &velocity, &scalar})
      space->agglomerate(Agglomeration::complete_families<dim>());
    distribute(handler, 1, 1);
    distribute(velocity, dim, dim == 2 ? 2 : 1);
    distribute(scalar, 1, 0);
  }

  template <typename VectorType>
  static void
  reinit(const AgglomerationHandler<dim> &space, VectorType &vector)
  {
    vector.reinit(space.locally_owned_dofs(), space.get_communicator());
  }

  /// Sets every entry by its global index, plus one on each polytope for
  /// @p positive.
  template <typename VectorType>
  static void
  fill(const AgglomerationHandler<dim> &space,
       const bool                       positive,
       const double                     shift,
       VectorType                      &vector)
  {
    const auto  &dofs  = space.polytopic_dofs();
    const double first = space.first_dof(0);
    auto         entry = vector.begin();
    for (unsigned int k = 0; k < space.n_polytopes(); ++k)
      {
        const double size = std::sqrt(space.bounding_box(k).volume());
        for (auto i = dofs.dof_offset[k]; i < dofs.dof_offset[k + 1]; ++i)
          *entry++ = size * ((positive && i == dofs.dof_offset[k] ? 1. : 0.) +
                             (positive ? 0.004 : 0.1) *
                               std::sin(shift + 2.3 * (first + i)));
      }
  }

  template <typename VectorType>
  AdvectionDiffusionReaction<dim>
  form(const VectorType &v, const VectorType &s) const
  {
    const auto carrier = std::make_shared<DiscreteFunction<dim>>(velocity, v);
    const auto factor  = std::make_shared<DiscreteFunction<dim>>(scalar, s);
    AdvectionDiffusionReaction<dim> result;
    result.set_diffusion(factor);
    result.set_advection(carrier);
    result.set_reaction(factor);
    result.set_source(factor);
    BoundaryCondition<dim> condition;
    condition.value = factor;
    result.set_default_boundary_condition(condition);
    result.set_coefficient_order(3);
    return result;
  }
};



template <int dim>
struct System
{
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs;

  void
  assemble(const Case<dim> &c, const AdvectionDiffusionReaction<dim> &form)
  {
    AssemblyParameters data;
    data.backend = Backend::host;
    PolytopicAssembler<dim> assembler(c.handler, data);
    assembler.reinit(matrix, rhs);
    assembler.assemble(form, matrix, rhs);
  }
};

bool
same_bits(const double a, const double b)
{
  return std::memcmp(&a, &b, sizeof(double)) == 0;
}

/// Rows of this process beside those of the whole problem.
template <int dim>
void
compare(const std::string &name, const System<dim> &all, const System<dim> &one)
{
  bool matrix =
         all.matrix.m() == one.matrix.m() &&
         all.matrix.n_nonzero_elements() == one.matrix.n_nonzero_elements(),
       rhs = true;
  for (const auto i : all.rhs.locally_owned_elements())
    {
      rhs = rhs && same_bits(all.rhs(i), one.rhs(i));
      for (auto entry = all.matrix.begin(i); entry != all.matrix.end(i);
           ++entry)
        matrix = matrix &&
                 same_bits(entry->value(), one.matrix.el(i, entry->column()));
    }
  check(name + ", matrix", on_all(matrix && one.matrix.linfty_norm() > 0.));
  check(name + ", right-hand side", on_all(rhs && one.rhs.linfty_norm() > 0.));
}

/// Forms are made before the vectors have their values.
template <int dim, typename VectorType>
void
compare_vectors(const std::string &name, Case<dim> &all, Case<dim> &one)
{
  VectorType v[2], s[2];
  Case<dim> *cases[2] = {&all, &one};
  for (unsigned int c = 0; c < 2; ++c)
    {
      Case<dim>::reinit(cases[c]->velocity, v[c]);
      Case<dim>::reinit(cases[c]->scalar, s[c]);
    }
  const auto  on_many = all.form(v[0], s[0]), alone = one.form(v[1], s[1]);
  System<dim> system[2];
  for (const double shift : {0.3, 1.4})
    {
      for (unsigned int c = 0; c < 2; ++c)
        {
          Case<dim>::fill(cases[c]->velocity, false, shift, v[c]);
          Case<dim>::fill(cases[c]->scalar, true, shift, s[c]);
          system[c].assemble(*cases[c], c == 0 ? on_many : alone);
        }
      compare(name + (shift < 1. ? "" : ", other values"),
              system[0],
              system[1]);
    }
}

/// The spaces of the functions get higher degrees while the form stays.
template <int dim>
void
compare_new_degrees(const std::string &name)
{
  Case<dim>   all(MPI_COMM_WORLD), one(MPI_COMM_SELF);
  Case<dim>  *cases[2] = {&all, &one};
  Distributed v[2], s[2];
  System<dim> system[2];
  for (unsigned int c = 0; c < 2; ++c)
    {
      Case<dim> &given = *cases[c];
      Case<dim>::reinit(given.velocity, v[c]);
      Case<dim>::reinit(given.scalar, s[c]);
      const auto form = given.form(v[c], s[c]);
      Case<dim>::distribute(given.velocity, dim, dim == 2 ? 3 : 2);
      Case<dim>::distribute(given.scalar, 1, 2);
      Case<dim>::reinit(given.velocity, v[c]);
      Case<dim>::reinit(given.scalar, s[c]);
      Case<dim>::fill(given.velocity, false, 0.3, v[c]);
      Case<dim>::fill(given.scalar, true, 0.3, s[c]);
      system[c].assemble(given, form);
    }
  compare(name + ", other degrees", system[0], system[1]);
}

/// Values and gradients at points of owned polytopes, and errors.
template <int dim>
void
check_points(const std::string &name)
{
  Case<dim>   all(MPI_COMM_WORLD), one(MPI_COMM_SELF);
  Distributed v, w;
  Case<dim>::reinit(all.velocity, v);
  Case<dim>::reinit(one.velocity, w);
  DiscreteFunction<dim> function(all.velocity, v), reference(one.velocity, w);
  Case<dim>::fill(all.velocity, false, 0.3, v);
  Case<dim>::fill(one.velocity, false, 0.3, w);
  function.prepare();
  reference.prepare();
  bool same = true;
  for (unsigned int k = 0; k < all.velocity.n_polytopes(); ++k)
    {
      const auto corners = all.velocity.bounding_box(k).get_boundary_points();
      const Point<dim> x =
        corners.first + 0.7 * (corners.second - corners.first);
      for (unsigned int c = 0; c < dim; ++c)
        same = same && function.value(x, c) == reference.value(x, c) &&
               function.gradient(x, c) == reference.gradient(x, c);
    }
  check(name + ", values at points", on_all(same));

  const auto says = [](const auto &work, const std::string &text) {
    return on_all(contains(message_of(work), text));
  };
  const Vector<double> whole(all.velocity.n_dofs());
  check(name + ", vector of one process",
        says([&]() { DiscreteFunction<dim> wrong(all.velocity, whole); },
             "needs a distributed vector"));
  Case<dim>::distribute(all.velocity, dim, 4);
  Case<dim>::reinit(all.velocity, v);
  const Point<dim> inside = all.velocity.bounding_box(0).center();
  check(name + ", value before prepare()",
        says([&]() { function.value(inside); }, "call prepare()"));
  check(name + ", gradient before prepare()",
        says([&]() { function.gradient(inside); }, "call prepare()"));
  function.prepare();
  check(name + ", value after prepare()", on_all(function.value(inside) == 0.));
}

template <int dim>
void
run()
{
  const std::string name = std::to_string(dim) + "-D";
  {
    Case<dim> all(MPI_COMM_WORLD), one(MPI_COMM_SELF);
    compare_vectors<dim, Distributed>(name + " deal.II", all, one);
    compare_vectors<dim, HostVector<double>>(name + " HostVector", all, one);
    compare_vectors<dim, TrilinosWrappers::MPI::Vector>(name + " Trilinos",
                                                        all,
                                                        one);
  }
  compare_new_degrees<dim>(name);
  check_points<dim>(name);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  run<2>();
  run<3>();
}
