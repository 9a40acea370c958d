// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_compare_h
#define tessella_tests_compare_h

// Code that the tests of assembly share: meshes, agglomerations, problems that
// are defined once for the library and for the reference assembler, and the
// comparison.

#include <deal.II/base/function.h>
#include <deal.II/base/tensor_function.h>

#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/hp/fe_collection.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration_handler.h>

#include <string>
#include <vector>

#include "../meshes.h"
#include "../tests.h"
#include "reference_assembler.h"

using namespace dealii;

// ---- functions from lambdas

template <int dim>
using ScalarLambda = ScalarFunctionFromFunctionObject<dim>;

template <int dim>
class VectorLambda : public Function<dim>
{
public:
  explicit VectorLambda(
    const std::function<Tensor<1, dim>(const Point<dim> &)> &f)
    : Function<dim>(dim)
    , f(f)
  {}
  double
  value(const Point<dim> &p, const unsigned int component = 0) const override
  {
    return f(p)[component];
  }
  void
  vector_value(const Point<dim> &p, Vector<double> &values) const override
  {
    const Tensor<1, dim> t = f(p);
    for (unsigned int d = 0; d < dim; ++d)
      values(d) = t[d];
  }

private:
  const std::function<Tensor<1, dim>(const Point<dim> &)> f;
};

template <int rank, int dim>
class TensorLambda : public TensorFunction<rank, dim>
{
public:
  explicit TensorLambda(
    const std::function<Tensor<rank, dim>(const Point<dim> &)> &f)
    : f(f)
  {}
  Tensor<rank, dim>
  value(const Point<dim> &p) const override
  {
    return f(p);
  }

private:
  const std::function<Tensor<rank, dim>(const Point<dim> &)> f;
};

// ---- problems

/// Representation of the coefficients in the form.
enum class Give
{
  constants,       ///< constants and constant tensors: values at the origin
  scalar_constant, ///< same, with scalar diffusion
  functions,       ///< Function; diffusion is a scalar Function
  tensor_functions ///< TensorFunction for a and b
};

template <int dim>
Tessella::AdvectionDiffusionReaction<dim>
make_form(const Reference::Problem<dim> &problem,
          const Give                     give,
          const unsigned int             coefficient_order)
{
  Tessella::AdvectionDiffusionReaction<dim> form;
  const Point<dim>                          origin;
  if (problem.a)
    switch (give)
      {
        case Give::constants:
          form.set_diffusion(problem.a(origin));
          break;
        case Give::scalar_constant:
          form.set_diffusion(problem.a(origin)[0][0]);
          break;
        case Give::functions:
          form.set_diffusion(std::make_shared<ScalarLambda<dim>>(
            [a = problem.a](const Point<dim> &p) { return a(p)[0][0]; }));
          break;
        case Give::tensor_functions:
          form.set_diffusion(std::make_shared<TensorLambda<2, dim>>(problem.a));
          break;
      }
  if (problem.b)
    switch (give)
      {
        case Give::constants:
        case Give::scalar_constant:
          form.set_advection(problem.b(origin));
          break;
        case Give::functions:
          form.set_advection(std::make_shared<VectorLambda<dim>>(problem.b));
          break;
        case Give::tensor_functions:
          form.set_advection(std::make_shared<TensorLambda<1, dim>>(problem.b));
          break;
      }
  if (problem.c)
    {
      if (give == Give::constants || give == Give::scalar_constant)
        form.set_reaction(problem.c(origin));
      else
        form.set_reaction(std::make_shared<ScalarLambda<dim>>(problem.c));
    }
  if (problem.f)
    form.set_source(std::make_shared<ScalarLambda<dim>>(problem.f));
  const auto condition = [](const Reference::BoundaryData<dim> &data) {
    Tessella::BoundaryCondition<dim> result;
    result.type = data.type == Reference::Boundary::dirichlet
                    ? Tessella::BoundaryType::dirichlet
                  : data.type == Reference::Boundary::neumann
                    ? Tessella::BoundaryType::neumann
                    : Tessella::BoundaryType::robin;
    if (data.g)
      result.value = std::make_shared<ScalarLambda<dim>>(data.g);
    if (data.alpha)
      result.robin_coefficient =
        std::make_shared<ScalarLambda<dim>>(data.alpha);
    return result;
  };
  for (const auto &entry : problem.boundary)
    form.set_boundary_condition(entry.first, condition(entry.second));
  form.set_default_boundary_condition(condition(problem.default_boundary));
  form.set_theta(problem.theta);
  form.set_coefficient_order(coefficient_order);
  return form;
}

/// Values of another form at points, and nothing else of it: a device does not
/// know its coefficients, and it does not evaluate both sides of a facet at
/// once.
template <int dim>
class PointwiseForm : public Tessella::Form<dim>
{
public:
  explicit PointwiseForm(const Tessella::Form<dim> &form)
    : form(form)
  {}
  Tessella::VolumeStructure
  volume_structure() const override
  {
    return form.volume_structure();
  }
  Tessella::FacetStructure
  facet_structure() const override
  {
    return form.facet_structure();
  }
  unsigned int
  coefficient_order() const override
  {
    return form.coefficient_order();
  }
  void
  evaluate_diffusion(const Tessella::PointBatch<dim> &points,
                     double *const                   *a) const override
  {
    form.evaluate_diffusion(points, a);
  }
  void
  evaluate_volume(const Tessella::PointBatch<dim> &points,
                  Tessella::VolumeBlocks<dim>     &blocks) const override
  {
    form.evaluate_volume(points, blocks);
  }
  void
  evaluate_interior_facets(const Tessella::FacetPointBatch<dim> &points,
                           Tessella::FacetBlocks<dim> &blocks) const override
  {
    form.evaluate_interior_facets(points, blocks);
  }
  void
  evaluate_boundary_facets(const Tessella::FacetPointBatch<dim> &points,
                           Tessella::FacetBlocks<dim> &blocks) const override
  {
    form.evaluate_boundary_facets(points, blocks);
  }

protected:
  const Tessella::Form<dim> &form;
};

/// Full problem: variable tensor, advection, reaction, source, boundary data;
/// polynomials of degree at most 2. On the faces of the meshes below the sign
/// of b . n does not depend on rounding.
template <int dim>
Reference::Problem<dim>
full_problem()
{
  Reference::Problem<dim> problem;
  problem.a = [](const Point<dim> &x) {
    Tensor<2, dim> a;
    for (unsigned int d = 0; d < dim; ++d)
      {
        a[d][d] = 1. + 0.2 * d + 0.3 * x[d] * x[d];
        for (unsigned int e = 0; e < d; ++e)
          a[d][e] = a[e][d] = 0.1 + 0.05 * x[d] * x[e];
      }
    return a;
  };
  problem.b = [](const Point<dim> &x) {
    Tensor<1, dim> b;
    b[0] = 1. + 0.02 * x[1];
    b[1] = 0.45 + 0.02 * x[0];
    if (dim == 3)
      b[2] = 0.21 - 0.01 * x[0];
    return b;
  };
  problem.c = [](const Point<dim> &x) { return 1.5 + x[0] * x[dim - 1]; };
  problem.f = [](const Point<dim> &x) { return 2. - x[0] + x[1] * x[1]; };
  problem.default_boundary.g = [](const Point<dim> &x) {
    return 1. + x[0] - 2. * x[dim - 1] * x[1];
  };
  return problem;
}

/// Isotropic tensor field, given by the first diagonal entry of another tensor
/// field.
template <int dim>
std::function<Tensor<2, dim>(const Point<dim> &)>
isotropic(const std::function<double(const Point<dim> &)> &f)
{
  return [f](const Point<dim> &x) {
    Tensor<2, dim> a;
    for (unsigned int d = 0; d < dim; ++d)
      a[d][d] = f(x);
    return a;
  };
}

// ---- meshes

/// Names of the meshes of make_mesh() on [0, 1.5] x [0, 1] (x [0, 1]).
const std::vector<std::string> straight_meshes = {"box",
                                                  "distorted",
                                                  "simplices",
                                                  "hanging",
                                                  "periodic",
                                                  "hanging periodic",
                                                  "periodic simplices"};

/// Makes one of these meshes or the mesh "curved". All except curved and
/// simplices have boundary ids 0 to 2 dim - 1.
template <int dim>
void
make_mesh(const std::string &name, Triangulation<dim> &triangulation)
{
  triangulation.clear();
  if (name == "curved")
    {
      if (dim == 2)
        GridGenerator::hyper_shell(triangulation, Point<dim>(), 0.5, 1., 6);
      else
        GridGenerator::hyper_ball(triangulation);
      return;
    }
  std::vector<unsigned int> repetitions(dim, 2);
  repetitions[0] = 3;
  Point<dim> upper;
  for (unsigned int d = 0; d < dim; ++d)
    upper[d] = d == 0 ? 1.5 : 1.;
  const bool is_periodic = name.find("periodic") != std::string::npos;
  if (name == "simplices" || name == "periodic simplices")
    {
      repetitions.assign(dim, 1);
      repetitions[0] = dim == 2 ? 3 : 1;
      if (dim == 2)
        repetitions[1] = 2;
      else if (is_periodic) // triangles on opposite sides must match
        repetitions[0] = repetitions[2] = 2;
      GridGenerator::subdivided_hyper_rectangle_with_simplices(
        triangulation, repetitions, Point<dim>(), upper, false);
      if (!is_periodic)
        return;
      for (const auto &cell : triangulation.active_cell_iterators())
        for (const unsigned int f : cell->face_indices())
          if (cell->at_boundary(f))
            for (unsigned int d = 0; d < dim; ++d)
              {
                const double x = cell->face(f)->center()[d];
                if (x < 1e-12 || x > upper[d] - 1e-12)
                  cell->face(f)->set_boundary_id(2 * d + (x > 0.5));
              }
    }
  else
    GridGenerator::subdivided_hyper_rectangle(
      triangulation, repetitions, Point<dim>(), upper, true);
  if (is_periodic)
    add_periodic_faces(triangulation, {0, dim - 1});
  if (name.find("hanging") != std::string::npos)
    {
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->center()[0] < 0.5 ||
            (cell->center()[0] > 1. && cell->center()[1] < 0.5))
          cell->set_refine_flag();
      triangulation.execute_coarsening_and_refinement();
    }
  if (name == "distorted")
    GridTools::distort_random(0.12, triangulation, true, 7);
}

/// Agglomerations by name: none, slabs (connected), steps (non-convex),
/// scattered (not connected), one.
template <int dim>
Tessella::Agglomeration::Strategy<dim>
make_strategy(const std::string &name)
{
  return [name](const Triangulation<dim> &triangulation) {
    const unsigned int        n = triangulation.n_active_cells();
    std::vector<unsigned int> ids(n);
    Point<dim>                lower, upper;
    for (const auto &cell : triangulation.active_cell_iterators())
      for (unsigned int d = 0; d < dim; ++d)
        {
          lower[d] = std::min(lower[d], cell->center()[d]);
          upper[d] = std::max(upper[d], cell->center()[d]);
        }
    for (const auto &cell : triangulation.active_cell_iterators())
      {
        unsigned int  &id = ids[cell->active_cell_index()];
        Tensor<1, dim> x;
        for (unsigned int d = 0; d < dim; ++d)
          x[d] = (cell->center()[d] - lower[d]) / (upper[d] - lower[d]);
        if (name == "none")
          id = cell->active_cell_index();
        else if (name == "slabs")
          id = x[0] < 0.45 ? 0 : 1;
        else if (name == "steps")
          id = (x[0] < 0.6 && x[1] < 0.6) ? 0 : 1;
        else if (name == "scattered")
          id = cell->active_cell_index() % 3;
        else
          id = 0;
      }
    // numbered by first occurrence, without gaps
    std::vector<unsigned int> number(n, static_cast<unsigned int>(-1));
    unsigned int              next = 0;
    for (unsigned int &id : ids)
      {
        if (number[id] == static_cast<unsigned int>(-1))
          number[id] = next++;
        id = number[id];
      }
    return ids;
  };
}

// ---- degrees

/// Distributes degrees 0 to @p largest.
template <int dim>
void
distribute_mixed_degrees(Tessella::AgglomerationHandler<dim> &handler,
                         const unsigned int                   largest)
{
  hp::FECollection<dim>     elements;
  std::vector<unsigned int> indices(handler.n_polytopes());
  for (unsigned int p = 0; p <= largest; ++p)
    elements.push_back(Tessella::FE_BoundingBoxLegendre<dim>(p));
  // All degrees occur: the step has no common divisor with their number.
  const unsigned int n = largest + 1, step = n % 3 == 0 ? n - 1 : 3;
  for (unsigned int k = 0; k < indices.size(); ++k)
    indices[k] = (step * k + 1) % n;
  handler.distribute_dofs(elements, indices);
}

// ---- comparison

template <int dim>
Reference::Space<dim>
make_space(const Tessella::AgglomerationHandler<dim> &handler,
           const Mapping<dim>                        *mapping = nullptr)
{
  Reference::Space<dim> space;
  space.triangulation    = &handler.get_triangulation();
  space.mapping          = mapping;
  space.polytope_of_cell = handler.polytope_of_cell();
  space.tensor_product =
    handler.polynomial_space() == Tessella::PolynomialSpaceType::tensor_product;
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    {
      space.degree.push_back(handler.polytope(k).degree());
      if (mapping != nullptr)
        space.box.push_back(handler.bounding_box(k).get_boundary_points());
    }
  space.setup();
  return space;
}

/// Finds the penalty of a facet by the position of the facet.
template <int dim>
std::function<double(const Point<dim> &, const Point<dim> &, const bool)>
penalty_by_place(const Tessella::PolytopicMesh<dim> &mesh,
                 const std::vector<double>          &sigma)
{
  return [&mesh, sigma](const Point<dim> &centre,
                        const Point<dim> &other_centre,
                        const bool        periodic) {
    for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
      if ((mesh.interface_shift[i] != 0) == periodic)
        for (unsigned int f = mesh.facet_offset[i];
             f < mesh.facet_offset[i + 1];
             ++f)
          {
            Point<dim>         c;
            const unsigned int begin = mesh.facet_vertex_offset[f];
            const unsigned int end   = mesh.facet_vertex_offset[f + 1];
            for (unsigned int v = begin; v < end; ++v)
              for (unsigned int d = 0; d < dim; ++d)
                c[d] += mesh.facet_vertices[v * dim + d] / (end - begin);
            if (c.distance(centre) < 1e-8 || c.distance(other_centre) < 1e-8)
              return sigma[f];
          }
    AssertThrow(false, ExcMessage("The flat view lacks a facet."));
    return 0.;
  };
}

/// Largest difference of an entry, relative to the largest entry of its block
/// row in the reference.
template <int dim, typename MatrixType>
double
matrix_difference(const MatrixType             &matrix,
                  const Reference::System<dim> &system,
                  const Reference::Space<dim>  &space)
{
  const unsigned int        n = space.offset.back();
  FullMatrix<double>        dense(n, n);
  const std::vector<double> scale = system.row_scale(space.degree.size());
  for (const auto &b : system.block)
    for (unsigned int i = 0; i < b.second.m(); ++i)
      for (unsigned int j = 0; j < b.second.n(); ++j)
        dense(space.offset[b.first.first] + i,
              space.offset[b.first.second] + j) = b.second(i, j);
  if (matrix.m() != n)
    return std::numeric_limits<double>::quiet_NaN();
  double difference = 0;
  for (unsigned int k = 0; k < space.degree.size(); ++k)
    for (unsigned int i = space.offset[k]; i < space.offset[k + 1]; ++i)
      for (unsigned int j = 0; j < n; ++j)
        {
          const double d = std::abs(matrix.el(i, j) - dense(i, j)) / scale[k];
          if (!(d <= difference))
            difference = d;
        }
  return difference;
}

template <int dim, typename VectorType>
double
rhs_difference(const VectorType             &rhs,
               const Reference::System<dim> &system,
               const Reference::Space<dim>  &space)
{
  double       difference = 0;
  const double global     = system.rhs.linfty_norm();
  for (unsigned int k = 0; k < space.degree.size(); ++k)
    {
      double scale = 1e-2 * global;
      for (unsigned int i = space.offset[k]; i < space.offset[k + 1]; ++i)
        scale = std::max(scale, std::abs(system.rhs(i)));
      for (unsigned int i = space.offset[k]; i < space.offset[k + 1]; ++i)
        {
          const double d = std::abs(rhs(i) - system.rhs(i)) / scale;
          if (!(d <= difference))
            difference = d;
        }
    }
  return difference;
}

/// Differences of matrix and right-hand side for one form on one agglomeration.
template <int dim>
std::pair<double, double>
compare(const Tessella::AgglomerationHandler<dim> &handler,
        const Reference::Problem<dim>             &problem,
        const Give                                 give,
        const unsigned int                         coefficient_order,
        const unsigned int                         n_points,
        const Mapping<dim>                        *mapping = nullptr,
        const typename Tessella::PolytopicAssembler<dim>::AdditionalData &data =
          typename Tessella::PolytopicAssembler<dim>::AdditionalData())
{
  const auto form = make_form(problem, give, coefficient_order);
  Tessella::PolytopicAssembler<dim> assembler(handler, data);
  SparsityPattern                   sparsity;
  SparseMatrix<double>              matrix;
  Vector<double>                    rhs;
  assembler.reinit(sparsity, matrix, rhs);
  assembler.assemble(form, matrix, rhs);

  // A coefficient that is constant in the form is constant in the reference,
  // too.
  Reference::Problem<dim> frozen = problem;
  if (give == Give::constants || give == Give::scalar_constant)
    {
      const Point<dim> origin;
      if (problem.a)
        frozen.a = [a = problem.a(origin)](const Point<dim> &) { return a; };
      if (problem.b)
        frozen.b = [b = problem.b(origin)](const Point<dim> &) { return b; };
      if (problem.c)
        frozen.c = [c = problem.c(origin)](const Point<dim> &) { return c; };
    }
  const Reference::Space<dim>  space = make_space(handler, mapping);
  const Reference::System<dim> system =
    Reference::assemble(space,
                        frozen,
                        n_points,
                        penalty_by_place(handler.polytopic_mesh(),
                                         assembler.penalty(form)));
  return {matrix_difference(matrix, system, space),
          rhs_difference(rhs, system, space)};
}

#endif
