// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_forms_functor_cases_h
#define tessella_tests_forms_functor_cases_h

// Functors of functors.h written as AdvectionDiffusionReaction with Functions,
// on meshes with polytopes of several cells, degrees and materials.

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/hp/fe_collection.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/device_function.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/hdg/hdg.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "../lambda.h"
#include "functors.h"

using namespace dealii;

template <int dim>
class TensorLambda : public TensorFunction<2, dim>
{
public:
  using Type = std::function<double(const Point<dim> &, int, int)>;

  explicit TensorLambda(const Type &f)
    : f(f)
  {}

  Tensor<2, dim>
  value(const Point<dim> &x) const override
  {
    Tensor<2, dim> a;
    for (int d = 0; d < dim; ++d)
      for (int e = 0; e < dim; ++e)
        a[d][e] = f(x, d, e);
    return a;
  }

private:
  const Type f;
};



/// Same function with device code: one text per component, or one for all, in
/// which c is the component.
template <typename Base>
class WithCode : public Base, public Tessella::DeviceFunction
{
public:
  template <typename... Arguments>
  explicit WithCode(const std::string &code, const Arguments &...arguments)
    : Base(arguments...)
    , code(code)
  {}

  std::string
  device_code(const unsigned int component) const override
  {
    return "const int c = " + std::to_string(component) + "; (void)c;\n" + code;
  }
  std::string
  origin(const unsigned int component) const override
  {
    return "component " + std::to_string(component) + " of a test";
  }
  [[noreturn]] void
  throw_not_finite(const unsigned int component,
                   const double       value,
                   const double      *x) const override
  {
    AssertThrow(false,
                ExcMessage(origin(component) + " is " +
                           (std::isnan(value) ? "nan" : "inf") +
                           " at x = " + std::to_string(x[0])));
    std::abort();
  }

private:
  const std::string code;
};



template <int dim>
struct FunctorCases
{
  /// Simplices or hypercubes that are not parallelepipeds, in polytopes of
  /// about five cells, degrees 1 to 3 if @p hp, materials 3 and 7.
  FunctorCases(const bool         simplices,
               const bool         hp,
               const unsigned int degree,
               const unsigned int n = dim == 2 ? 9 : 4)
    : triangulation(make_triangulation(simplices, n))
    , handler(*triangulation)
  {
    handler.agglomerate(Tessella::Agglomeration::metis<dim>(
      std::max(2u, triangulation->n_active_cells() / 5)));
    const unsigned int n_polytopes = handler.n_polytopes();
    if (hp)
      {
        hp::FECollection<dim> elements;
        for (unsigned int p = 1; p <= 3; ++p)
          elements.push_back(Tessella::FE_BoundingBoxLegendre<dim>(p));
        std::vector<unsigned int> indices(n_polytopes);
        for (unsigned int k = 0; k < n_polytopes; ++k)
          indices[k] = k % 3;
        handler.distribute_dofs(elements, indices);
      }
    else
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(degree));

    // Constant on every polytope, so that it jumps on all interfaces.
    const auto &mesh = handler.polytopic_mesh();
    const auto &dofs = handler.polytopic_dofs();
    piecewise.reinit(handler.n_dofs());
    values.reinit(triangulation->n_active_cells());
    for (unsigned int k = 0; k < n_polytopes; ++k)
      {
        const double u      = 0.1 * ((k * 7) % 11);
        double       volume = 1.;
        for (int d = 0; d < dim; ++d)
          volume *= mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
        piecewise(dofs.dof_offset[k]) = u * std::sqrt(volume);
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          values(mesh.subcell_cell[s]) = 1. + u * u;
      }
  }

  /// Returns the form that corresponds to Functors::create(name).
  Tessella::AdvectionDiffusionReaction<dim>
  reference(const std::string &name, const unsigned int order) const
  {
    using Scalar      = WithCode<Lambda<dim>>;
    using Matrix      = WithCode<TensorLambda<dim>>;
    const auto scalar = [](const std::string &code,
                           const std::function<double(const Point<dim> &)> &f) {
      return std::make_shared<const Scalar>(
        code, [f](const Point<dim> &x, const unsigned int) { return f(x); });
    };
    const auto vector = [](const std::string                &code,
                           const typename Lambda<dim>::Type &f) {
      return std::shared_ptr<const Function<dim>>(
        std::make_shared<const Scalar>(code, f, dim));
    };
    const auto tensor = [](const std::string                      &code,
                           const typename TensorLambda<dim>::Type &f) {
      return std::shared_ptr<const TensorFunction<2, dim>>(
        std::make_shared<const Matrix>(code, f));
    };
    const std::string                         last = dim == 2 ? "y" : "z";
    Tessella::AdvectionDiffusionReaction<dim> form;
    Tessella::BoundaryCondition<dim>          dirichlet;
    form.set_coefficient_order(order);
    if (name == "full")
      {
        form.set_diffusion(
          tensor("return c % " + std::to_string(dim + 1) +
                   " == 0 ? 2. + x * y : 0.2 * " + last + ";",
                 [](const Point<dim> &x, const int d, const int e) {
                   return d == e ? 2. + x[0] * x[1] : 0.2 * x[dim - 1];
                 }));
        form.set_advection(
          vector("return 1.075 + (c == 0 ? x : c == 1 ? y : z);",
                 [](const Point<dim> &x, const unsigned int d) {
                   return 1.075 + x[d];
                 }));
        form.set_reaction(scalar("return 3. + x * y;", [](const Point<dim> &x) {
          return 3. + x[0] * x[1];
        }));
        form.set_source(scalar("return x - 0.25 * y;", [](const Point<dim> &x) {
          return x[0] - 0.25 * x[1];
        }));
        dirichlet.value = scalar("return x + 2. * y;", [](const Point<dim> &x) {
          return x[0] + 2. * x[1];
        });
        Tessella::BoundaryCondition<dim> neumann, robin;
        neumann.type = Tessella::BoundaryType::neumann;
        neumann.value =
          scalar("return 0.5;", [](const Point<dim> &) { return 0.5; });
        neumann.flux = vector("return c == 0 ? y : 0.;",
                              [](const Point<dim> &x, const unsigned int d) {
                                return d == 0 ? x[1] : 0.;
                              });
        robin        = neumann;
        robin.type   = Tessella::BoundaryType::robin;
        robin.robin_coefficient =
          scalar("return 1. + x;",
                 [](const Point<dim> &x) { return 1. + x[0]; });
        form.set_boundary_condition(1, neumann);
        form.set_boundary_condition(3, robin);
      }
    else if (name == "materials")
      {
        form.set_diffusion(Tessella::CellwiseCoefficient(
          std::map<types::material_id, double>{{3, 1.}, {7, Functors::jump}}));
        form.set_source(Tessella::CellwiseCoefficient(
          std::map<types::material_id, double>{{3, 1.}, {7, 2.}}));
      }
    else if (name == "degenerate")
      {
        form.set_diffusion(
          tensor("return c % " + std::to_string(dim + 1) +
                   " != 0 || c == " + std::to_string(dim * dim - 1) +
                   " || x < 0.5 ? 0. : x - 0.5;",
                 [](const Point<dim> &x, const int d, const int e) {
                   return d != e || d == dim - 1 || x[0] < 0.5 ? 0.
                                                               : x[0] - 0.5;
                 }));
        Tensor<1, dim> b;
        for (int d = 0; d < dim; ++d)
          b[d] = d == 0 ? 1. : -0.5;
        form.set_advection(b);
        dirichlet.value =
          scalar("return y;", [](const Point<dim> &x) { return x[1]; });
      }
    else if (name == "advection")
      {
        form.set_advection(
          vector("return c == 0 ? -y : c == 1 ? x + 0.1 : 0.;",
                 [](const Point<dim> &x, const unsigned int d) {
                   return d == 0 ? -x[1] : d == 1 ? x[0] + 0.1 : 0.;
                 }));
        dirichlet.value = scalar("return 1. + x;",
                                 [](const Point<dim> &x) { return 1. + x[0]; });
      }
    else if (name == "field")
      form.set_diffusion(
        Tessella::CellwiseCoefficient(handler.polytopic_mesh(), values));
    else if (name == "cells")
      {
        const auto coefficients = cell_coefficients();
        form.set_diffusion(coefficients[0]);
        form.set_reaction(coefficients[1]);
      }
    else if (name == "cell_tensor")
      {
        Tensor<2, dim> factor;
        for (int d = 0; d < dim; ++d)
          for (int e = 0; e < dim; ++e)
            factor[d][e] = d == e ? 2. + d : 0.3;
        const auto coefficients = cell_coefficients();
        form.set_diffusion(coefficients[0], factor);
        form.set_source(coefficients[1]);
      }
    else if (name == "not_finite")
      {
        form.set_diffusion(1.);
        form.set_source(scalar("return x > 0.8 ? 1. / (x - x) : 1.;",
                               [](const Point<dim> &x) {
                                 return x[0] > 0.8 ? 1. / (x[0] - x[0]) : 1.;
                               }));
      }
    else if (name == "negative")
      form.set_diffusion(
        scalar("return x > 0.8 ? -1. : 1.;",
               [](const Point<dim> &x) { return x[0] > 0.8 ? -1. : 1.; }));
    else if (name == "no_code")
      form.set_diffusion(std::make_shared<const Lambda<dim>>(
        [](const Point<dim> &x, const unsigned int) { return 1. + x[0]; }));
    else if (name == "wrong_code")
      form.set_diffusion(scalar("return 1. + undeclared;",
                                [](const Point<dim> &) { return 1.; }));
    form.set_default_boundary_condition(dirichlet);
    return form;
  }

  /// Values that differ on every cell, so that they also jump inside polytopes.
  std::vector<Tessella::CellwiseCoefficient>
  cell_coefficients() const
  {
    Vector<double> one(values.size()), two(values.size());
    for (unsigned int i = 0; i < values.size(); ++i)
      {
        one(i) = 1. + i % 7;
        two(i) = 0.5 * (i % 5);
      }
    return {Tessella::CellwiseCoefficient(handler.polytopic_mesh(), one),
            Tessella::CellwiseCoefficient(handler.polytopic_mesh(), two)};
  }

  static std::unique_ptr<Triangulation<dim>>
  make_triangulation(const bool simplices, const unsigned int n)
  {
    auto               result = std::make_unique<Triangulation<dim>>();
    Triangulation<dim> cubes;
    GridGenerator::subdivided_hyper_cube(cubes, n, 0., 1., true);
    if (simplices)
      GridGenerator::convert_hypercube_to_simplex_mesh(cubes, *result);
    else
      {
        result->copy_triangulation(cubes);
        GridTools::distort_random(0.15, *result, true, 1);
      }
    for (const auto &cell : result->active_cell_iterators())
      cell->set_material_id(cell->center()[0] > 0.5 ? 7 : 3);
    return result;
  }

  std::unique_ptr<Triangulation<dim>> triangulation;
  Tessella::AgglomerationHandler<dim> handler;
  Vector<double>                      piecewise, values;
};



struct System
{
  SparsityPattern      sparsity;
  SparseMatrix<double> matrix;
  Vector<double>       rhs;

  template <int dim>
  void
  assemble(Tessella::PolytopicAssembler<dim> &assembler,
           const Tessella::Form<dim>         &form)
  {
    assembler.reinit(sparsity, matrix, rhs);
    assembler.assemble(form, matrix, rhs);
  }

  /// Largest difference of entries relative to the largest entry.
  double
  difference(const System &other) const
  {
    double largest = 0., difference = 0.;
    for (auto a = matrix.begin(), b = other.matrix.begin(); a != matrix.end();
         ++a, ++b)
      {
        largest    = std::max(largest, std::abs(a->value()));
        difference = std::max(difference, std::abs(a->value() - b->value()));
      }
    double         result = difference / largest;
    Vector<double> r(rhs);
    r -= other.rhs;
    if (rhs.linfty_norm() > 0.)
      result = std::max(result, r.linfty_norm() / rhs.linfty_norm());
    else
      result = std::max(result, r.linfty_norm());
    return result;
  }
};


/// Hybridizable dG: trace matrix, right-hand side, and u and q for given
/// traces.
template <int dim>
struct HybridSystem
{
  using Options = typename Tessella::HDG<dim>::AdditionalData;

  const Tessella::AgglomerationHandler<dim> &handler;
  TrilinosWrappers::SparseMatrix             matrix;
  TrilinosWrappers::MPI::Vector              rhs;
  Vector<double>                             u, q;
  Tessella::HDGReport                        report;

  explicit HybridSystem(const Tessella::AgglomerationHandler<dim> &handler)
    : handler(handler)
  {}

  /// Assembles with a different tau on each facet and side.
  void
  assemble(const Tessella::Form<dim> &form, const Options &options)
  {
    Options data      = options;
    data.tau_of_facet = [this](const unsigned int facet,
                               const unsigned int side) {
      const auto &mesh = handler.polytopic_mesh();
      return 1. + mesh.facet_vertices[dim * mesh.facet_vertex_offset[facet]] +
             0.5 * side;
    };
    Tessella::HDG<dim> hdg(handler, data);
    hdg.reinit(form, matrix, rhs);
    hdg.assemble(form, matrix, rhs);
    report = hdg.report();
    TrilinosWrappers::MPI::Vector trace(rhs);
    for (unsigned int i = 0; i < trace.size(); ++i)
      trace.begin()[i] = std::sin(1. + 0.37 * i);
    hdg.recover(form, trace, u, q);
  }

  void
  assemble(const Tessella::Form<dim>     &form,
           const Tessella::Backend        backend,
           const Tessella::InstructionSet instruction_set =
             Tessella::InstructionSet::automatic)
  {
    Options data;
    data.backend         = backend;
    data.instruction_set = instruction_set;
    assemble(form, data);
  }

  /// Largest difference relative to the largest value, for the entries of
  /// matrix and right-hand side, and for u and q in L2.
  double
  difference(const HybridSystem &other) const
  {
    const auto entries =
      [](const double *a, const double *b, const std::size_t n) {
        double largest = 0., difference = 0.;
        for (std::size_t i = 0; i < n; ++i)
          {
            largest = std::max(largest, std::abs(a[i]));
            difference =
              std::max(difference,
                       std::isfinite(b[i]) ? std::abs(a[i] - b[i]) : 1e300);
          }
        return difference > 0. ? difference / largest : 0.;
      };
    const auto values = [](const HybridSystem &system) {
      return const_cast<Epetra_CrsMatrix &>(system.matrix.trilinos_matrix())
        .ExpertExtractValues();
    };
    if (matrix.n_nonzero_elements() != other.matrix.n_nonzero_elements() ||
        rhs.size() != other.rhs.size())
      return 1e300;
    double result = std::max(
      entries(values(*this), values(other), matrix.n_nonzero_elements()),
      entries(rhs.begin(), other.rhs.begin(), rhs.size()));
    Vector<double> a(u);
    a -= other.u;
    result = std::max(result, L2_norm(a) / L2_norm(u));
    // The components of q are consecutive on each polytope.
    const auto &dofs = handler.polytopic_dofs();
    double      sum = 0., squares = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      {
        Vector<double> b(u.size());
        for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
          for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
            {
              const std::size_t to   = dofs.dof_offset[k] + i,
                                from = dim * dofs.dof_offset[k] +
                                       d * dofs.n_basis[k] + i;
              b(to) = q(from);
              a(to) = q(from) - other.q(from);
            }
        sum += std::pow(L2_norm(a), 2);
        squares += std::pow(L2_norm(b), 2);
      }
    return std::max(result, std::sqrt(sum / squares));
  }

  /// Bound for rounding errors on the host: four times the difference between
  /// two instruction sets, at least 1e-12.
  double
  bound(const Tessella::Form<dim> &form) const
  {
    HybridSystem one(handler), two(handler);
    one.assemble(form, Tessella::Backend::host);
    two.assemble(form,
                 Tessella::Backend::host,
                 Tessella::InstructionSet::plain);
    return std::max(1e-12, 4. * one.difference(two));
  }

private:
  double
  L2_norm(const Vector<double> &vector) const
  {
    Vector<float> cells;
    Tessella::VectorTools::integrate_difference(handler,
                                                vector,
                                                Functions::ZeroFunction<dim>(),
                                                cells,
                                                dealii::VectorTools::L2_norm);
    return Tessella::VectorTools::compute_global_error(
      handler, cells, dealii::VectorTools::L2_norm);
  }
};

#endif
