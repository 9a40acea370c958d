// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Mistakes in the use of pointwise operators: each ends in one sentence.

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>

#include <tessella/device/cuda_device.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/functor_integrand.h>
#include <tessella/forms/pointwise_text_integrand.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/operators/pointwise_operator.h>

#ifdef TESSELLA_HAVE_EPETRA
#  include <deal.II/lac/trilinos_sparse_matrix.h>
#endif

#include <limits>

#include "../messages.h"
#include "../tests.h"
#include "functors.h"
#include "texts.h"

using namespace Tessella;
using dealii::Vector;

// A functor of m components whose results do not depend on the field.
template <int dim, int m>
struct Source
{
  using Fields                      = FieldComponents<m>;
  static constexpr int n_components = m;

  template <typename U, typename R>
  TESSELLA_HOST_DEVICE void
  volume(const OperatorPoint<dim> &p, const U &, R &r) const
  {
    for (int c = 0; c < m; ++c)
      r.value[c] = 1. / p.x[0];
  }
};

// A term on the boundary that is not finite on a part of it.
template <int dim>
struct Infinite : public Source<dim, 1>
{
  template <typename U, typename R>
  TESSELLA_HOST_DEVICE void
  boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
  {
    r.value[0] = u.value[0] / (p.boundary_id == 1 ? 0. : 1.);
  }
};

// Two components of test functions, but one of the field.
template <int dim>
struct OneAndTwo
{
  using Fields                      = FieldComponents<1>;
  static constexpr int n_components = 2;

  template <typename U, typename R>
  TESSELLA_HOST_DEVICE void
  volume(const OperatorPoint<dim> &, const U &u, R &r) const
  {
    r.value[1] = u.value[0];
  }
};

void
fails(const std::string           &name,
      const std::function<void()> &work,
      const std::string           &sentence)
{
  const std::string message = message_of(work);
  if (!check(name, contains(message, sentence)))
    dealii::deallog << message << std::endl;
}

template <int dim>
void
distribute(AgglomerationHandler<dim> &handler,
           const unsigned int         levels_up,
           const unsigned int         n_components)
{
  handler.agglomerate(Agglomeration::parents<dim>(levels_up));
  handler.distribute_dofs(
    dealii::FESystem<dim>(FE_BoundingBoxLegendre<dim>(1), n_components));
}

// A residual that is finite with derivatives that are not, of values and of
// gradients. Those of gradients are multiplied by zero where functions are
// constant.
template <int dim>
void
check_derivatives(const AgglomerationHandler<dim> &handler,
                  const AssemblyParameters        &data,
                  const std::string               &argument,
                  const std::string               &result)
{
  PointwiseOperator<dim>  op(handler, data);
  Vector<double>          u(handler.n_dofs()), rising(u), r(u);
  HostBlockMatrix<double> matrix;
  HostBlockMatrix<float>  rounded;
  std::vector<double>     blocks;
  op.reinit(matrix);
  op.reinit(rounded);
  // Positive functions that rise with x.
  const auto &dofs = handler.polytopic_dofs();
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    for (unsigned int c = 0; c < 2; ++c)
      {
        const auto first  = dofs.dof_offset[k] + c * dofs.n_basis[k];
        rising(first)     = 4.;
        rising(first + 1) = 1.;
      }
  for (const unsigned int region : {0, 1, 2})
    {
      const PointwiseTextIntegrand<dim> integrand(
        Texts::infinite_derivative(region, argument, result));
      const std::string name = std::to_string(dim) + "-D region " +
                               std::to_string(region) + ", " + result + " of " +
                               argument + " not finite: ",
                        where =
                          " of a PointwiseOperator is not finite: component 1 "
                          "of the integrand at the point (" +
                          std::string(region == 2 ? "1, " : "");
      op.residual(integrand, {&u}, r);
      check(name + "residual is finite", r.linfty_norm() == 0.);
      fails(
        name + "tangent",
        [&] { op.apply_tangent(integrand, {&u}, rising, r); },
        "The tangent" + where);
      fails(
        name + "Jacobian",
        [&] { op.assemble_jacobian(integrand, {&u}, matrix); },
        "The Jacobian" + where);
      fails(
        name + "Jacobian, rounded",
        [&] { op.assemble_jacobian(integrand, {&u}, rounded); },
        "The Jacobian" + where);
#ifdef TESSELLA_HAVE_EPETRA
      dealii::TrilinosWrappers::SparseMatrix sparse;
      op.reinit(sparse);
      fails(
        name + "Jacobian in Trilinos",
        [&] { op.assemble_jacobian(integrand, {&u}, sparse); },
        "The Jacobian" + where);
#else
      check(name + "Jacobian in Trilinos", true);
#endif
      fails(
        name + "diagonal blocks",
        [&] { op.diagonal_blocks(integrand, {&u}, blocks); },
        "The Jacobian" + where);
      // The same operator afterwards.
      u = rising;
      op.assemble_jacobian(integrand, {&u}, matrix);
      op.diagonal_blocks(integrand, {&u}, blocks);
      u = 0.;
    }
}

// Degrees change, and the first preparation for them fails: the next one must
// not keep what was made for the earlier degrees.
template <int dim>
struct Failing : public AgglomerationHandler<dim>
{
  using AgglomerationHandler<dim>::AgglomerationHandler;

  void
  tabulate(const unsigned int extra_order) const override
  {
    AssertThrow(!fails, dealii::ExcMessage("There are no tables."));
    AgglomerationHandler<dim>::tabulate(extra_order);
  }

  bool fails = false;
};

template <int dim>
void
check_failed_preparation(const dealii::Triangulation<dim> &triangulation,
                         const AssemblyParameters         &data)
{
  const std::string name = std::to_string(dim) + "-D preparation that fails";
  const FunctorIntegrand<dim, Functors::NonlinearDiffusion<dim>> integrand;
  Failing<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::parents<dim>(1));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  PointwiseOperator<dim> op(handler, data);
  const auto             residual = [&](PointwiseOperator<dim> &present) {
    Vector<double> u(handler.n_dofs()), r(u.size());
    for (unsigned int i = 0; i < u.size(); ++i)
      u(i) = 1. / (1. + i % 7);
    present.residual(integrand, {&u}, r);
    return r;
  };
  residual(op);
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(3));
  handler.fails = true;
  fails(
    name, [&] { residual(op); }, "There are no tables.");
  handler.fails = false;
  PointwiseOperator<dim> other(handler, data);
  check(name + ", the next one", residual(op) == residual(other));
}

template <int dim>
void
check_mistakes()
{
  const std::string          in_dim = std::to_string(dim) + "-D ";
  dealii::Triangulation<dim> triangulation;
  dealii::GridGenerator::hyper_cube(triangulation, 0., 1., true);
  triangulation.refine_global(2);
  AgglomerationHandler<dim> one(triangulation), two(triangulation),
    coarse(triangulation), empty(triangulation);
  distribute(one, 1, 1);
  distribute(two, 1, 2);
  distribute(coarse, 2, 1);
  AssemblyParameters data;
  data.backend = Backend::host;
  PointwiseOperator<dim> op(one, data), op_two(two, data);
  Vector<double>         u(one.n_dofs()), v(two.n_dofs()), r(u.size());
  for (unsigned int i = 0; i < u.size(); ++i)
    u(i) = 1.;
  const FunctorIntegrand<dim, Source<dim, 1>>              source;
  const FunctorIntegrand<dim, Source<dim, 2>>              sources;
  FunctorIntegrand<dim, Functors::NonlinearDiffusion<dim>> diffusion;

  fails(
    in_dim + "components of a field",
    [&] { op.residual(sources, {&u}, r); },
    "Field 0 of the integrand has 2 components, but the element of its "
    "handler has 1.");
  fails(
    in_dim + "components of test functions",
    [&] { op.residual(FunctorIntegrand<dim, OneAndTwo<dim>>(), {&u}, r); },
    "The integrand is multiplied by test functions of 2 components, but the "
    "element of the test functions has 1.");
  fails(
    in_dim + "fields of the integrand",
    [&] {
      op.residual(FunctorIntegrand<dim, Functors::TwoFields<dim>>(), {&u}, r);
    },
    "The PointwiseOperator has 1 fields, the integrand reads 2, and 1 vectors "
    "were given: these numbers must be the same.");
  fails(
    in_dim + "vectors",
    [&] {
      op.residual(diffusion, {&u, &u}, r);
    },
    "the integrand reads 1, and 2 vectors were given");
  fails(
    in_dim + "components of a text",
    [&] {
      op.residual(PointwiseTextIntegrand<dim>(Texts::three_components()),
                  {&u},
                  r);
    },
    "Field 0 of the integrand has 3 components");
  fails(
    in_dim + "no handler",
    [&] {
      PointwiseOperator<dim> none(typename PointwiseOperator<dim>::Handlers(),
                                  0,
                                  data);
    },
    "PointwiseOperator needs at least one handler");
  fails(
    in_dim + "no degrees of freedom",
    [&] {
      PointwiseOperator<dim> none(empty, data);
      none.reinit(r);
    },
    "PointwiseOperator needs degrees of freedom: call agglomerate() and "
    "distribute_dofs() of each AgglomerationHandler first.");
  fails(
    in_dim + "residual without degrees of freedom",
    [&] {
      PointwiseOperator<dim> none(empty, data);
      none.residual(diffusion, {&u}, r);
    },
    "PointwiseOperator needs degrees of freedom");
  fails(
    in_dim + "other polytopes",
    [&] {
      PointwiseOperator<dim> wrong({&two, &coarse}, 0, data);
      wrong.reinit(v);
      Vector<double> w(coarse.n_dofs()), result(v.size());
      wrong.residual(FunctorIntegrand<dim, Functors::TwoFields<dim>>(),
                     {&v, &w},
                     result);
    },
    "The handlers of a PointwiseOperator have different polytopes");
  fails(
    in_dim + "field",
    [&] { op.apply_tangent(diffusion, {&u}, u, r, 1); },
    "There is no field 1: the PointwiseOperator has 1, counted from 0.");

  // ---- values
  fails(
    in_dim + "not finite",
    [&] { op.residual(FunctorIntegrand<dim, Infinite<dim>>(), {&u}, r); },
    "of a PointwiseOperator is not finite: component 0 of the integrand at the "
    "point (1, ");
  fails(
    in_dim + "field is not finite",
    [&] {
      Vector<double> w(u);
      w(0) = std::numeric_limits<double>::quiet_NaN();
      op.residual(diffusion, {&w}, r);
    },
    "is not finite");
  for (const std::string argument : {"value[1]", "gradient[1][0]"})
    for (const std::string result : {"value[1]", "gradient[1][0]"})
      check_derivatives(two, data, argument, result);
  fails(
    in_dim + "singular diagonal block",
    [&] {
      HostBlockMatrix<double> matrix;
      op.reinit(matrix);
      op.assemble_jacobian(source, {&u}, matrix);
      BlockJacobi<HostBlockMatrix<double>> jacobi;
      jacobi.initialize(matrix);
    },
    "The diagonal block of block row 0 is singular");

  check_failed_preparation(triangulation, data);

  // ---- boundary ids
  diffusion.set_boundary_ids({0, 1});
  op.residual(diffusion, {&u}, r);
  diffusion.set_boundary_ids({0, 17});
  fails(
    in_dim + "boundary id",
    [&] { op.residual(diffusion, {&u}, r); },
    "The integrand of a PointwiseOperator has a condition for the boundary id "
    "17, but the mesh has the boundary ids 0, 1, 2, 3");
  check(in_dim + "ids of integrals",
        op.integrate_boundary(source, {&u}).size() == 2 * dim);

  // ---- backends
  if (!cuda_is_available())
    {
      data.backend = Backend::cuda;
      fails(
        in_dim + "no device",
        [&] { PointwiseOperator<dim> on_device(one, data); },
        "Please take the backend host or automatic.");
    }
  else
    dealii::deallog << in_dim << "no device: ok" << std::endl;
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  check_mistakes<2>();
  check_mistakes<3>();
}
