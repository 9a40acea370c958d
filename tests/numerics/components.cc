// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Functions of several components: projection and interpolation reproduce
// polynomials on all kinds of cells, and norms of components are those of
// scalar functions.

#include "components.h"

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/compatibility.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/device_form.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/vector_tools.h>

#include <functional>

#include "../messages.h"
#include "../mixed_mesh.h"
#include "../tests.h"
#include "polynomial.h"

using dealii::ComponentMask;
using dealii::Vector;
using Norm    = dealii::VectorTools::NormType;
namespace TVT = Tessella::VectorTools;
using namespace Tessella;

/// Mesh of one kind of cells in the unit cube, or of all kinds.
template <int dim>
void
make_mesh(const std::string &kind, Triangulation<dim> &triangulation)
{
  using namespace dealii;
  if (kind == "simplices")
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 3);
  else if (kind == "mixed")
    {
      if constexpr (dim == 3)
        make_mixed_mesh(triangulation);
    }
  else
    {
      GridGenerator::subdivided_hyper_cube(triangulation, 2);
      triangulation.refine_global(1);
      if (kind == "hanging")
        {
          triangulation.begin_active()->set_refine_flag();
          triangulation.execute_coarsening_and_refinement();
        }
      if (kind != "parallelepipeds")
        GridTools::distort_random(.2, triangulation, true);
    }
}

template <int dim>
void
reproduction(const std::string &kind)
{
  Triangulation<dim> triangulation;
  make_mesh(kind, triangulation);
  for (unsigned int m = 1; m <= 5; ++m)
    {
      AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(Agglomeration::by_id<dim>(scattered(triangulation)));
      distribute_components(handler, m, 2, true);
      const Polynomial<dim> exact(2, m);
      Vector<double>        u(handler.n_dofs());
      Vector<float>         difference;
      const std::string     name = std::to_string(dim) + "-D " + kind + ", " +
                               std::to_string(m) + " components, ";
      for (const bool interpolated : {true, false})
        {
          u = 0.;
          if (interpolated)
            TVT::interpolate(handler, exact, u);
          else
            TVT::project(handler, exact, u);
          for (const auto norm : {Norm::Linfty_norm, Norm::H1_seminorm})
            {
              TVT::integrate_difference(handler, u, exact, difference, norm);
              check_below(name +
                            (interpolated ? "interpolation" : "projection"),
                          TVT::compute_global_error(handler, difference, norm),
                          1e-10);
            }
        }
    }
}

/// The projection keeps the integral of each component on each polytope.
template <int dim>
void
conservation(const std::string &kind)
{
  const unsigned int m = 3;
  Triangulation<dim> triangulation;
  make_mesh(kind, triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::by_id<dim>(scattered(triangulation)));
  distribute_components(handler, m, 1, true);
  Vector<double> u(handler.n_dofs());
  TVT::project(handler, Field<dim>(m), u);
  double largest = 0.;
  for (unsigned int c = 0; c < m; ++c)
    {
      ComponentMask mask(m, false);
      mask.set(c, true);
      Vector<float> difference;
      TVT::integrate_difference(
        handler, u, Field<dim>(m), difference, Norm::mean, 4, 2., mask);
      for (const double value : difference)
        largest = std::max(largest, std::abs(value));
    }
  check_below(std::to_string(dim) + "-D conservation, " + kind, largest, 1e-14);
}

/// A form with all terms, other coefficients for each @p c.
template <int dim>
std::shared_ptr<AdvectionDiffusionReaction<dim>>
make_form(const unsigned int c)
{
  auto           form = std::make_shared<AdvectionDiffusionReaction<dim>>();
  Tensor<2, dim> a;
  Tensor<1, dim> b;
  for (int d = 0; d < dim; ++d)
    {
      a[d][d] = 1. + c + d;
      b[d]    = 2. - d - c;
    }
  a[0][1] = a[1][0] = .3;
  form->set_diffusion(a);
  form->set_advection(b);
  form->set_reaction(1.5 + c);
  form->set_source(1. - c);
  return form;
}

template <int dim>
std::vector<double>
penalty(const AgglomerationHandler<dim> &handler, const Form<dim> &form)
{
  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Backend::host;
  return PolytopicAssembler<dim>(handler, data).penalty(form);
}

/// Handlers of m components and of one on the same polytopes.
template <int dim>
struct Handlers
{
  Handlers(const Triangulation<dim> &triangulation, const unsigned int m)
    : system(triangulation)
    , scalar(triangulation)
    , u_c(0)
  {
    for (auto *handler : {&system, &scalar})
      handler->agglomerate(Agglomeration::by_id<dim>(scattered(triangulation)));
    distribute_components(system, m, 1, true);
    distribute_components(scalar, 1, 1, true);
    u.reinit(system.n_dofs());
    u_c.reinit(scalar.n_dofs());
    TVT::project(system, Field<dim>(m), u);
    for (unsigned int i = 0; i < u.size(); ++i)
      u[i] += .01 * std::sin(1. + i);
  }
  /// Returns the coefficients of component @p c.
  const Vector<double> &
  component(const unsigned int c)
  {
    copy_component(system, u, c, scalar, u_c);
    return u_c;
  }
  AgglomerationHandler<dim> system, scalar;
  Vector<double>            u, u_c;
};

template <int dim>
void
errors(const std::string &kind)
{
  const unsigned int m    = 3;
  const std::string  name = std::to_string(dim) + "-D errors, " + kind + ", ";
  Triangulation<dim> triangulation;
  make_mesh(kind, triangulation);
  Handlers<dim>       h(triangulation, m);
  const Field<dim>    exact(m);
  std::vector<double> power(4, 0.);
  const ComponentMask last_two(std::vector<bool>{false, true, true});

  // ---- norms of polytopes
  unsigned int index = 0;
  for (const auto norm : {Norm::mean,
                          Norm::L1_norm,
                          Norm::L2_norm,
                          Norm::Lp_norm,
                          Norm::Linfty_norm,
                          Norm::H1_seminorm,
                          Norm::H1_norm})
    {
      ++index;
      Vector<float> all, two, one, scalar;
      const auto    integrate = [&](Vector<float>       &result,
                                 const ComponentMask &mask) {
        TVT::integrate_difference(
          h.system, h.u, exact, result, norm, 4, 3., mask);
        return TVT::compute_global_error(h.system, result, norm, 3.);
      };
      integrate(all, {});
      integrate(two, last_two);
      bool                same = true;
      std::vector<double> of_all(all.size()), of_two(all.size());
      for (unsigned int c = 0; c < m; ++c)
        {
          ComponentMask mask(m, false);
          mask.set(c, true);
          integrate(one, mask);
          TVT::integrate_difference(h.scalar,
                                    h.component(c),
                                    ComponentOf<dim>(exact, c),
                                    scalar,
                                    norm,
                                    4,
                                    3.);
          same = same && one == scalar;
          for (unsigned int k = 0; k < all.size(); ++k)
            for (auto *sums : {&of_all, &of_two})
              if (sums == &of_all || c > 0)
                {
                  double &s = (*sums)[k];
                  if (norm == Norm::mean || norm == Norm::L1_norm)
                    s += one[k];
                  else if (norm == Norm::Linfty_norm)
                    s = std::max<double>(s, one[k]);
                  else
                    s += one[k] * one[k];
                }
        }
      check(name + "norm " + std::to_string(index) + " of a component", same);
      // The Lp norm of several components has powers of their Euclidean length.
      if (norm == Norm::Lp_norm)
        continue;
      double difference = 0.;
      for (unsigned int k = 0; k < all.size(); ++k)
        for (auto *sums : {&of_all, &of_two})
          {
            const double value = sums == &of_all ? all[k] : two[k];
            const bool   root  = norm == Norm::L2_norm ||
                              norm == Norm::H1_seminorm ||
                              norm == Norm::H1_norm;
            difference = std::max(difference,
                                  std::abs(value - (root ? std::sqrt((*sums)[k])
                                                         : (*sums)[k])));
          }
      check_below(name + "norm " + std::to_string(index) + " of several",
                  difference,
                  1e-6);
    }

  // ---- dG norm
  std::vector<const Form<dim> *>                                forms;
  std::vector<std::shared_ptr<AdvectionDiffusionReaction<dim>>> owners;
  std::vector<std::vector<double>>                              sigma;
  for (unsigned int c = 0; c < m; ++c)
    {
      owners.push_back(make_form<dim>(c));
      forms.push_back(owners.back().get());
      sigma.push_back(penalty(h.scalar, *forms[c]));
    }
  const auto own =
    TVT::compute_component_errors(h.system, forms, sigma, h.u, exact);
  const auto common = TVT::compute_component_errors<dim>(
    h.system, {forms[1]}, {sigma[1]}, h.u, exact);
  check(name + "number of components", own.size() == m && common.size() == m);
  bool   same  = true;
  double dG[2] = {}, H1[2] = {};
  for (unsigned int c = 0; c < m; ++c)
    {
      const ComponentOf<dim> exact_c(exact, c);
      const auto             with_own = TVT::compute_errors(
        h.scalar, *forms[c], sigma[c], h.component(c), exact_c);
      const auto with_common = TVT::compute_errors(
        h.scalar, *forms[1], sigma[1], h.component(c), exact_c);
      same = same && own[c].L2 == with_own.L2 && own[c].dG == with_own.dG &&
             own[c].H1_seminorm == with_own.H1_seminorm &&
             common[c].L2 == with_common.L2 && common[c].dG == with_common.dG;
      for (unsigned int i = 0; i < 2; ++i)
        if (c >= i)
          {
            dG[i] += with_common.dG * with_common.dG;
            H1[i] += with_common.H1_seminorm * with_common.H1_seminorm;
          }
    }
  check(name + "components", same);
  const auto all =
    TVT::compute_errors(h.system, *forms[1], sigma[1], h.u, exact);
  const auto two =
    TVT::compute_errors(h.system, *forms[1], sigma[1], h.u, exact, 4, last_two);
  check_close(name + "dG", all.dG, std::sqrt(dG[0]), 1e-13 * all.dG);
  check_close(name + "H1", all.H1_seminorm, std::sqrt(H1[0]), 1e-13 * all.dG);
  check_close(name + "dG of two", two.dG, std::sqrt(dG[1]), 1e-13 * all.dG);
  check_close(name + "H1 of two",
              two.H1_seminorm,
              std::sqrt(H1[1]),
              1e-13 * all.dG);
}

/// Indicators of a system are the roots of the sums of the squares of those of
/// its components.
template <int dim>
void
indicators(const std::string &kind)
{
  const unsigned int m    = 3;
  const std::string  name = std::to_string(dim) + "-D indicators, " + kind;
  Triangulation<dim> triangulation;
  make_mesh(kind, triangulation);
  Handlers<dim>                  h(triangulation, m);
  std::vector<const Form<dim> *> forms;
  std::vector<std::shared_ptr<AdvectionDiffusionReaction<dim>>> owners;
  std::vector<std::vector<double>>                              sigma;
  for (unsigned int c = 0; c < m; ++c)
    {
      owners.push_back(make_form<dim>(c));
      forms.push_back(owners.back().get());
      sigma.push_back(penalty(h.scalar, *forms[c]));
    }
  for (const bool residuals : {true, false})
    for (const bool common : {true, false})
      {
        Vector<double> system, scalar, squares(h.system.n_polytopes());
        if (common && residuals)
          ErrorEstimator::residual(h.system, *forms[1], sigma[1], h.u, system);
        else if (common)
          ErrorEstimator::jumps(h.system, *forms[1], sigma[1], h.u, system);
        else if (residuals)
          ErrorEstimator::residual(h.system, forms, sigma, h.u, system);
        else
          ErrorEstimator::jumps(h.system, forms, sigma, h.u, system);
        for (unsigned int c = 0; c < m; ++c)
          {
            const unsigned int f = common ? 1 : c;
            if (residuals)
              ErrorEstimator::residual(
                h.scalar, *forms[f], sigma[f], h.component(c), scalar);
            else
              ErrorEstimator::jumps(
                h.scalar, *forms[f], sigma[f], h.component(c), scalar);
            for (unsigned int k = 0; k < squares.size(); ++k)
              squares[k] += scalar[k] * scalar[k];
          }
        double largest = 0., difference = 0., sum = 0.;
        for (unsigned int k = 0; k < squares.size(); ++k)
          {
            sum += squares[k];
            largest = std::max(largest, system[k]);
            difference =
              std::max(difference, std::abs(system[k] - std::sqrt(squares[k])));
          }
        const std::string of = name + (residuals ? ", residual" : ", jumps") +
                               (common ? ", one form" : ", own forms");
        check_below(of, difference / largest, 1e-13);
        check_close(of + ", global",
                    ErrorEstimator::global(h.system, system) / std::sqrt(sum),
                    1.,
                    1e-13);
      }
}

/// Advection by a discrete velocity, whose components are fields.
template <int dim>
struct Flow
{
  static constexpr int n_fields = dim;
  double
  diffusion(const PointData<dim> &p) const
  {
    return 1. + p.gradient[0][1] * p.gradient[0][1];
  }
  PointVector<dim>
  advection(const PointData<dim> &p) const
  {
    PointVector<dim> b;
    for (int d = 0; d < dim; ++d)
      b[d] = p.value[d];
    return b;
  }
};

/// A field is a component of a function, whatever its space and vector are.
template <int dim>
void
fields(const std::string &kind)
{
  const std::string  name = std::to_string(dim) + "-D fields, " + kind + ", ";
  Triangulation<dim> triangulation;
  make_mesh(kind, triangulation);
  Handlers<dim>             h(triangulation, dim);
  AgglomerationHandler<dim> space(triangulation);
  space.agglomerate(Agglomeration::by_id<dim>(scattered(triangulation)));
  distribute_components(space, 1, 2, true);
  dealii::LinearAlgebra::distributed::Vector<double> distributed(
    h.system.locally_owned_dofs(), MPI_COMM_SELF);
  HostVector<double> host;
  host.reinit(h.system.locally_owned_dofs(), MPI_COMM_SELF);
  std::copy(h.u.begin(), h.u.end(), distributed.begin());
  std::copy(h.u.begin(), h.u.end(), host.begin());

  std::vector<Vector<double>> components(dim, Vector<double>(h.u_c.size()));
  DeviceForm<dim, Flow<dim>>  of_components, of_function, of_host,
    of_distributed;
  for (unsigned int c = 0; c < dim; ++c)
    {
      components[c] = h.component(c);
      of_components.add_field({h.scalar, components[c]});
      of_function.add_field({h.system, h.u, c});
      of_host.add_field({h.system, host, c});
      of_distributed.add_field({h.system, distributed, c});
    }
  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Backend::host;
  // The space has other degrees than the fields.
  PolytopicAssembler<dim> assembler(space, data);
  HostBlockMatrix<double> expected, matrix;
  assembler.reinit(expected);
  assembler.reinit(matrix);
  assembler.assemble_matrix(of_components, expected);
  for (const auto *form : {&of_function, &of_host, &of_distributed})
    {
      assembler.assemble_matrix(*form, matrix);
      check(name + "matrix",
            std::equal(expected.values(),
                       expected.values() +
                         expected.block_sparsity().n_nonzero_elements(),
                       matrix.values()));
    }
  check(name + "no such component",
        contains(message_of([&] { DiscreteField<dim>(h.system, h.u, dim); }),
                 "but its handler has " + std::to_string(dim) +
                   " components, counted from 0."));
  check(name + "degrees",
        DiscreteField<dim>(h.system, h.u, 1)
            .has_degrees_of(h.scalar.polytopic_dofs()) &&
          !DiscreteField<dim>(h.system, h.u, 1)
             .has_degrees_of(space.polytopic_dofs()));
}

/// The Lp norm of the difference of constants.
void
lp_norm()
{
  Triangulation<2> triangulation;
  make_mesh("hanging", triangulation);
  Handlers<2> h(triangulation, 2);
  h.u = 0.;
  const dealii::Functions::ConstantFunction<2> exact(
    std::vector<double>{3., 4.});
  Vector<float> difference;
  const auto    norm = [&](const ComponentMask &mask) {
    TVT::integrate_difference(
      h.system, h.u, exact, difference, Norm::Lp_norm, 4, 3., mask);
    return TVT::compute_global_error(h.system, difference, Norm::Lp_norm, 3.);
  };
  check_close("Lp norm of two components", norm({}), 5., 1e-6);
  check_close("Lp norm of one component",
              norm(ComponentMask(std::vector<bool>{false, true})),
              4.,
              1e-6);
}

void
mistakes()
{
  Triangulation<2> triangulation;
  make_mesh("parallelepipeds", triangulation);
  Handlers<2>    h(triangulation, 3);
  const Field<2> exact(3);
  Vector<float>  difference;
  const auto     form  = make_form<2>(0);
  const auto     sigma = penalty(h.scalar, *form);
  check("mask of another size",
        contains(message_of([&] {
                   TVT::integrate_difference(h.system,
                                             h.u,
                                             exact,
                                             difference,
                                             Norm::L2_norm,
                                             4,
                                             2.,
                                             ComponentMask(2, true));
                 }),
                 "The component mask has 2 entries, but the finite element "
                 "has 3 components; they must be equal."));
  check("empty mask",
        contains(message_of([&] {
                   TVT::compute_errors(h.system,
                                       *form,
                                       sigma,
                                       h.u,
                                       exact,
                                       4,
                                       ComponentMask(3, false));
                 }),
                 "selects no component; select at least one."));
  check("number of forms",
        contains(message_of([&] {
                   TVT::compute_component_errors<2>(h.system,
                                                    {form.get(), form.get()},
                                                    {sigma, sigma},
                                                    h.u,
                                                    exact);
                 }),
                 "for each of the 3 components, or one for all, but it was "
                 "given 2 forms"));
  check("indicators, number of forms",
        contains(message_of([&] {
                   ErrorEstimator::jumps<2>(h.system,
                                            {form.get(), form.get()},
                                            {sigma, sigma},
                                            h.u,
                                            h.u_c);
                 }),
                 "for each of the 3 components, or one for all, but there are "
                 "2 forms"));
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  for (const char *kind :
       {"parallelepipeds", "distorted", "hanging", "simplices"})
    {
      reproduction<2>(kind);
      reproduction<3>(kind);
      conservation<2>(kind);
      conservation<3>(kind);
    }
  reproduction<3>("mixed");
  conservation<3>("mixed");
  errors<3>("mixed");
  indicators<3>("mixed");
  for (const char *kind : {"hanging", "simplices"})
    {
      errors<2>(kind);
      errors<3>(kind);
      indicators<2>(kind);
      indicators<3>(kind);
    }
  for (const char *kind : {"hanging", "simplices"})
    {
      fields<2>(kind);
      fields<3>(kind);
    }
  lp_norm();
  mistakes();
}
