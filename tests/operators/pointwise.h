// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_pointwise_h
#define tessella_tests_operators_pointwise_h

// Residual, tangent and Jacobian of pointwise operators against the slow
// operator, on all kinds of meshes, and their other properties.

#include <deal.II/base/multithread_info.h>

#include <deal.II/fe/fe_system.h>

#include <tessella/forms/functor_integrand.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/operators/pointwise_operator.h>

#include <cstring>
#include <map>

#include "reference.h"

using Tessella::AgglomerationHandler;
using Tessella::FE_BoundingBoxLegendre;
using Tessella::FunctorIntegrand;
using Tessella::HostBlockMatrix;
using Tessella::PointwiseOperator;

/// Pseudo-random number in (-1, 1), the same on every machine.
inline double
random(const unsigned int i)
{
  return std::sin(12.9898 * i + 78.233 * (i % 7));
}

/// Sets a function whose components are the given constants plus @p size
/// times something.
template <int dim>
void
set_field(const AgglomerationHandler<dim> &handler,
          const std::vector<double>       &constants,
          const double                     size,
          Vector<double>                  &u)
{
  u.reinit(handler.n_dofs());
  const auto &mesh = handler.polytopic_mesh();
  const auto &dofs = handler.polytopic_dofs();
  for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
    {
      double volume = 1.;
      for (int d = 0; d < dim; ++d)
        volume *= mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
      const unsigned int n = dofs.n_basis[k];
      for (unsigned int i = 0; i < n * dofs.n_components; ++i)
        u(dofs.dof_offset[k] + i) =
          std::sqrt(volume) * ((i % n == 0 ? constants[i / n] : 0.) +
                               size * random(dofs.dof_offset[k] + i) / n);
    }
}

/// Elements of degree @p p, or hp of degrees 0 to @p p if @p hp.
template <int dim>
void
distribute(AgglomerationHandler<dim>          &handler,
           const unsigned int                  p,
           const bool                          hp,
           const unsigned int                  n_components,
           const Tessella::PolynomialSpaceType space =
             Tessella::PolynomialSpaceType::total_degree)
{
  hp::FECollection<dim>     elements;
  std::vector<unsigned int> indices(handler.n_polytopes());
  for (unsigned int degree = hp ? 0 : p; degree <= p; ++degree)
    elements.push_back(
      FESystem<dim>(FE_BoundingBoxLegendre<dim>(degree, space), n_components));
  // All degrees occur: the step has no common divisor with their number.
  const unsigned int n = elements.size(), step = n % 3 == 0 ? n - 1 : 3;
  for (unsigned int k = 0; k < indices.size(); ++k)
    indices[k] = (step * k + 1) % n;
  handler.distribute_dofs(elements, indices);
}

template <int dim>
using Handlers = typename PointwiseOperator<dim>::Handlers;



/// An integrand whose Jacobian is that of PointwiseIntegrand.
template <int dim>
class WithoutJacobian : public Tessella::PointwiseIntegrand<dim>
{
public:
  explicit WithoutJacobian(const Tessella::PointwiseIntegrand<dim> &other)
    : other(other)
  {
    this->set_time(other.get_time());
    this->set_coefficient_order(other.coefficient_order());
  }
  typename Tessella::PointwiseIntegrand<dim>::Structure
  structure() const override
  {
    return other.structure();
  }
  void
  evaluate(const PointwiseRegion       region,
           const unsigned int          n,
           const OperatorPoint<dim>   *points,
           const double *const *const *in,
           double *const *const       *out) const override
  {
    other.evaluate(region, n, points, in, out);
  }
  void
  evaluate_tangent(const PointwiseRegion       region,
                   const unsigned int          n,
                   const OperatorPoint<dim>   *points,
                   const double *const *const *in,
                   const double *const *const *direction,
                   double *const *const       *out) const override
  {
    other.evaluate_tangent(region, n, points, in, direction, out);
  }

private:
  const Tessella::PointwiseIntegrand<dim> &other;
};



/// Largest difference of residual and Jacobian to the slow operator, relative
/// to the largest entry of the residual and of the block row, and of tangents.
template <int dim, typename F>
class Comparison
{
public:
  Comparison(const Handlers<dim>               &handlers,
             const unsigned int                 finest,
             const unsigned int                 order,
             const F                           &f,
             const std::vector<Vector<double>> &fields)
    : integrand(f)
    , op(handlers, 0, host())
  {
    integrand.set_coefficient_order(order);
    integrand.set_time(0.4);
    for (const auto &field : fields)
      pointers.push_back(&field);
    op.reinit(residual);
    op.residual(integrand, pointers, residual);

    SlowOperator<dim> slow(handlers, finest, order, 0.4);
    slow.compute(
      [&](const PointwiseRegion                     region,
          const OperatorPoint<dim>                 &p,
          const std::array<std::vector<double>, 2> &in) {
        return evaluate_by_sacado<dim>(f, region, p, in);
      },
      pointers);
    Vector<double> difference = residual;
    difference -= slow.residual;
    largest[0] = relative(difference, slow.residual);

    // ---- tangents
    Vector<double> result(residual.size()), expected(residual.size());
    for (unsigned int i = 0; i < handlers.size(); ++i)
      {
        Vector<double> direction(fields[i].size());
        for (unsigned int j = 0; j < direction.size(); ++j)
          direction(j) = random(5 * j + i);
        op.apply_tangent(integrand, pointers, direction, result, i);
        slow.jacobians[i].vmult(expected, direction);
        difference = result;
        difference -= expected;
        largest[1] = std::max(largest[1], relative(difference, expected));
        if (i > 0)
          continue;
        compare_jacobian(*handlers[0], integrand, slow.jacobians[0]);
        op.reinit(jacobian);
        op.assemble_jacobian(integrand, pointers, jacobian);
        jacobian.vmult(expected, direction);
        difference = result;
        difference -= expected;
        largest[2] = relative(difference, expected);
        compare_jacobian(*handlers[0],
                         WithoutJacobian<dim>(integrand),
                         slow.jacobians[0]);
      }
  }

  void
  check(const std::string &name) const
  {
    check_below(name + ", residual", largest[0], 1e-12);
    check_below(name + ", tangent", largest[1], 1e-12);
    check_below(name + ", tangent and Jacobian", largest[2], 1e-13);
    check_below(name + ", Jacobian", largest[3], 1e-12);
    check_below(name + ", diagonal blocks", largest[4], 1e-12);
  }

  static typename PointwiseOperator<dim>::AdditionalData
  host()
  {
    typename PointwiseOperator<dim>::AdditionalData data;
    data.backend = Tessella::Backend::host;
    return data;
  }

  FunctorIntegrand<dim, F>            integrand;
  PointwiseOperator<dim>              op;
  std::vector<const Vector<double> *> pointers;
  Vector<double>                      residual;
  HostBlockMatrix<double>             jacobian;
  double                              largest[5] = {};

private:
  static double
  relative(const Vector<double> &difference, const Vector<double> &vector)
  {
    const double size = vector.linfty_norm();
    return size == 0. ? difference.linfty_norm()
                      : difference.linfty_norm() / size;
  }

  void
  compare_jacobian(const AgglomerationHandler<dim>         &handler,
                   const Tessella::PointwiseIntegrand<dim> &given,
                   const FullMatrix<double>                &slow)
  {
    SparsityPattern pattern;
    handler.create_agglomeration_sparsity_pattern(pattern);
    SparseMatrix<double> matrix(pattern);
    op.assemble_jacobian(given, pointers, matrix);
    std::vector<double> blocks;
    op.diagonal_blocks(given, pointers, blocks);
    const auto &offset = handler.polytopic_dofs().dof_offset;
    std::size_t entry  = 0;
    for (unsigned int k = 0; k + 1 < offset.size(); ++k)
      {
        double size = 0., difference = 0., in_block = 0.;
        for (unsigned int i = offset[k]; i < offset[k + 1]; ++i)
          for (unsigned int j = 0; j < slow.n(); ++j)
            {
              size = std::max(size, std::abs(slow(i, j)));
              difference =
                std::max(difference, std::abs(slow(i, j) - matrix.el(i, j)));
              if (j >= offset[k] && j < offset[k + 1])
                in_block =
                  std::max(in_block, std::abs(slow(i, j) - blocks[entry++]));
            }
        size       = size == 0. ? 1. : size;
        largest[3] = std::max(largest[3], difference / size);
        largest[4] = std::max(largest[4], in_block / size);
      }
  }
};



template <int dim, typename F>
void
compare(const std::string                 &name,
        const Handlers<dim>               &handlers,
        const unsigned int                 finest,
        const F                           &f,
        const std::vector<Vector<double>> &fields,
        const unsigned int                 order = 2)
{
  Comparison<dim, F>(handlers, finest, order, f, fields).check(name);
}

/// Values of density, momentum and energy.
template <int dim>
std::vector<double>
euler_state()
{
  std::vector<double> state(dim + 2, 0.3);
  state[0]       = 1.2;
  state[1]       = 0.5;
  state[dim + 1] = 2.7;
  return state;
}

template <int dim>
Functors::Euler<dim>
euler()
{
  Functors::Euler<dim> f;
  const auto           state = euler_state<dim>();
  std::copy(state.begin(), state.end(), f.state);
  return f;
}

template <int dim>
void
set_materials(Triangulation<dim> &triangulation)
{
  for (const auto &cell : triangulation.active_cell_iterators())
    cell->set_material_id(cell->active_cell_index() % 3);
}

/// All functors on a mesh with a given agglomeration.
template <int dim>
void
compare_functors(const std::string                  &name,
                 Triangulation<dim>                 &triangulation,
                 const Mapping<dim>                 *mapping,
                 const std::string                  &agglomeration,
                 const unsigned int                  p,
                 const bool                          hp,
                 const Tessella::PolynomialSpaceType space =
                   Tessella::PolynomialSpaceType::total_degree)
{
  set_materials(triangulation);
  AgglomerationHandler<dim> one(triangulation, mapping),
    two(triangulation, mapping), three(triangulation, mapping),
    flow(triangulation, mapping);
  for (auto *handler : {&one, &two, &three, &flow})
    handler->agglomerate(make_strategy<dim>(agglomeration));
  distribute(one, p, hp, 1, space);
  distribute(two, p, hp, 2, space);
  distribute(three, p, hp, 3, space);
  distribute(flow, p, hp, dim + 2, space);
  Vector<double> u, v, w;
  set_field(one, {0.4}, 0.5, u);
  compare<dim>(
    name + ", diffusion", {&one}, 0, Functors::NonlinearDiffusion<dim>(), {u});
  set_field(two, {0.4, 0.1}, 0.5, v);
  compare<dim>(
    name + ", two fields", {&two, &one}, 0, Functors::TwoFields<dim>(), {v, u});
  set_field(three, {0.4, 0.2, -0.1}, 0.5, w);
  compare<dim>(name + ", three components",
               {&three},
               0,
               Functors::ThreeComponents<dim>(),
               {w},
               0);
  set_field(flow, euler_state<dim>(), 0.1, w);
  compare<dim>(name + ", Euler", {&flow}, 0, euler<dim>(), {w}, 1);
}

/// A field of another degree, and of another type of space, than that of the
/// test functions.
template <int dim>
void
compare_spaces()
{
  Triangulation<dim> triangulation;
  make_mesh("hanging", triangulation);
  set_materials(triangulation);
  AgglomerationHandler<dim> test(triangulation), other(triangulation);
  test.agglomerate(make_strategy<dim>("steps"));
  other.agglomerate(make_strategy<dim>("steps"));
  Vector<double> u, v;
  distribute(test, 1, false, 2);
  set_field(test, {0.3, 0.1}, 0.5, u);
  distribute(other, 3, false, 1);
  set_field(other, {0.3}, 0.5, v);
  compare<dim>(
    "degrees 1 and 3", {&test, &other}, 1, Functors::TwoFields<dim>(), {u, v});
  distribute(other, 0, false, 1);
  set_field(other, {0.3}, 0.5, v);
  compare<dim>(
    "degrees 1 and 0", {&test, &other}, 0, Functors::TwoFields<dim>(), {u, v});
}



template <int dim>
bool
same(const Vector<double> &u, const Vector<double> &v)
{
  return u.size() == v.size() &&
         std::memcmp(u.begin(), v.begin(), sizeof(double) * u.size()) == 0;
}

/// Kernels for batches of affine simplices, of more degrees than
/// compare_functors() has, and with the same bits for every number of threads.
template <int dim>
void
compare_simplices()
{
  for (const std::string mesh : {"simplices", "periodic simplices"})
    for (unsigned int p = 0; p <= (dim == 2 ? 4 : 2); p += 2)
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        set_materials(triangulation);
        AgglomerationHandler<dim> handler(triangulation);
        handler.agglomerate(make_strategy<dim>("none"));
        distribute(handler, p, false, dim + 2);
        std::vector<Vector<double>> fields(1);
        set_field(handler, euler_state<dim>(), 0.1, fields[0]);
        const std::string name = std::to_string(dim) + "-D " + mesh +
                                 ", batches, p = " + std::to_string(p);
        Comparison<dim, Functors::Euler<dim>> comparison(
          {&handler}, 0, 1, euler<dim>(), fields);
        comparison.check(name);
        Vector<double> r = comparison.residual, s = r;
        comparison.op.residual(comparison.integrand, comparison.pointers, r);
        check(name + ", kernels",
              comparison.op.report().kernels == "affine simplices");
        const unsigned int n = MultithreadInfo::n_threads();
        MultithreadInfo::set_thread_limit(1);
        comparison.op.residual(comparison.integrand, comparison.pointers, s);
        MultithreadInfo::set_thread_limit(n);
        check(name + ", threads", same<dim>(r, s));
        auto data            = Comparison<dim, Functors::Euler<dim>>::host();
        data.instruction_set = Tessella::InstructionSet::plain;
        PointwiseOperator<dim> plain(handler, data);
        plain.residual(comparison.integrand, comparison.pointers, s);
        s -= r;
        check_below(name + ", plain", s.linfty_norm() / r.linfty_norm(), 1e-13);

        // An operator keeps the tables of all orders.
        PointwiseOperator<dim> other(
          handler, Comparison<dim, Functors::Euler<dim>>::host());
        FunctorIntegrand<dim, Functors::Euler<dim>> higher(euler<dim>());
        higher.set_coefficient_order(4);
        higher.set_time(comparison.integrand.get_time());
        Vector<double> t = r, fresh = r;
        other.residual(higher, comparison.pointers, fresh);
        bool orders = true;
        for (unsigned int i = 0; i < 2; ++i)
          {
            comparison.op.residual(higher, comparison.pointers, t);
            comparison.op.residual(comparison.integrand,
                                   comparison.pointers,
                                   s);
            orders = orders && same<dim>(t, fresh) && same<dim>(s, r);
          }
        check(name + ", orders in turn",
              orders && (p == 0 || !same<dim>(t, r)));
      }
}



/// Remembers the fields at the points of interior facets and compares them when
/// the other owner comes.
template <int dim>
class Recorder : public Tessella::PointwiseIntegrand<dim>
{
public:
  explicit Recorder(const unsigned int m)
    : m(m)
  {}
  typename Tessella::PointwiseIntegrand<dim>::Structure
  structure() const override
  {
    typename Tessella::PointwiseIntegrand<dim>::Structure result;
    result.field_components = {m};
    result.n_components     = m;
    return result;
  }
  void
  evaluate(const PointwiseRegion       region,
           const unsigned int          n,
           const OperatorPoint<dim>   *points,
           const double *const *const *in,
           double *const *const *) const override
  {
    if (region != PointwiseRegion::interior_facet)
      return;
    std::vector<double> last;
    for (unsigned int q = 0; q < n; ++q)
      {
        std::vector<double> key, data;
        key.push_back(points[q].facet);
        for (int d = 0; d < dim; ++d)
          {
            key.push_back(points[q].x[d]);
            data.push_back(points[q].normal[d]);
          }
        for (int s = 0; s < 2; ++s)
          {
            for (unsigned int i = 0; i < (dim + 1) * m; ++i)
              data.push_back(in[s][i][q]);
            data.push_back(points[q].polytope[s]);
            data.push_back(points[q].subcell[s]);
          }
        data.push_back(points[q].penalty);
        // The padding repeats a point.
        if (key == last)
          continue;
        last             = key;
        const auto known = found.emplace(key, data);
        if (!known.second)
          {
            ++n_again;
            if (std::memcmp(known.first->second.data(),
                            data.data(),
                            sizeof(double) * data.size()) != 0)
              ++n_different;
          }
      }
  }

  const unsigned int                                         m;
  mutable std::map<std::vector<double>, std::vector<double>> found;
  mutable unsigned int n_again = 0, n_different = 0;
};

/// Fluxes have the same bits for both owners and cancel; results have the same
/// bits for every number of threads; a constant state is kept.
template <int dim>
void
check_properties()
{
  for (const std::string mesh :
       {"hanging periodic", "periodic simplices", "curved"})
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      const MappingQ<dim>       mapping(3);
      AgglomerationHandler<dim> handler(triangulation,
                                        mesh == "curved" ? &mapping : nullptr);
      handler.agglomerate(
        make_strategy<dim>(mesh == "curved" ? "none" : "scattered"));
      distribute(handler, 3, true, dim + 2);
      Vector<double> u, r, s;
      set_field(handler, euler_state<dim>(), 0.1, u);
      auto f    = euler<dim>();
      f.walls   = false;
      using Set = Tessella::InstructionSet;
      for (const Set set : {Set::plain, Set::automatic})
        {
          const std::string name =
            std::to_string(dim) + "-D " + mesh +
            (set == Set::plain ? ", plain: " : ", automatic: ");
          auto data            = Comparison<dim, Functors::Euler<dim>>::host();
          data.instruction_set = set;
          PointwiseOperator<dim>                      op(handler, data);
          FunctorIntegrand<dim, Functors::Euler<dim>> flow(f);
          op.reinit(r);
          op.reinit(s);
          HostBlockMatrix<double> one, two;
          op.reinit(one);
          op.reinit(two);
          const unsigned int n = MultithreadInfo::n_threads();
          MultithreadInfo::set_thread_limit(1);
          op.residual(flow, {&u}, r);
          op.assemble_jacobian(flow, {&u}, one);
          HostBlockMatrix<float> rounded;
          op.reinit(rounded);
          op.assemble_jacobian(flow, {&u}, rounded);
          Recorder<dim> recorder(dim + 2);
          op.residual(recorder, {&u}, s);
          check(name + "both owners see the same",
                recorder.n_again > 10 && recorder.n_different == 0 &&
                  recorder.n_again == recorder.found.size());
          MultithreadInfo::set_thread_limit(n);
          op.residual(flow, {&u}, s);
          op.assemble_jacobian(flow, {&u}, two);
          check(name + "threads, residual", same<dim>(r, s));
          check(name + "threads, Jacobian",
                std::memcmp(one.values(),
                            two.values(),
                            sizeof(double) *
                              one.block_sparsity().n_nonzero_elements()) == 0);

          std::vector<double> values;
          std::vector<float>  in_float;
          one.copy_to(values);
          rounded.copy_to(in_float);
          check(name + "Jacobian in single precision",
                in_float == std::vector<float>(values.begin(), values.end()));

          // Sum of the residual for constant test functions: the flux through
          // the boundary.
          const auto  of_id     = op.integrate_boundary(flow, {&u});
          const auto &mesh_view = handler.polytopic_mesh();
          const auto &dofs      = handler.polytopic_dofs();
          double      largest = 0., size = 0.;
          for (unsigned int c = 0; c < dim + 2; ++c)
            {
              double sum = 0.;
              for (const auto &id : of_id)
                sum -= id.second[c];
              for (unsigned int k = 0; k < mesh_view.n_polytopes(); ++k)
                {
                  double volume = 1.;
                  for (int d = 0; d < dim; ++d)
                    volume *= mesh_view.box[2 * dim * k + dim + d] -
                              mesh_view.box[2 * dim * k + d];
                  const double entry =
                    r(dofs.dof_offset[k] + c * dofs.n_basis[k]) *
                    std::sqrt(volume);
                  sum += entry;
                  size = std::max(size, std::abs(entry));
                }
              largest = std::max(largest, std::abs(sum));
            }
          check_below(name + "conservation", largest / size, 1e-13);

          Vector<double> constant;
          set_field(handler, euler_state<dim>(), 0., constant);
          op.residual(flow, {&constant}, s);
          check_below(name + "free stream",
                      s.linfty_norm() / r.linfty_norm(),
                      1e-12);
        }
    }
}

/// Errors and integrals.
template <int dim>
void
check_errors()
{
  const std::string  name = std::to_string(dim) + "-D ";
  Triangulation<dim> triangulation;
  make_mesh("box", triangulation);
  AgglomerationHandler<dim> handler(triangulation), other(triangulation);
  handler.agglomerate(make_strategy<dim>("slabs"));
  other.agglomerate(make_strategy<dim>("steps"));
  distribute(handler, 1, false, dim + 2);
  distribute(other, 1, false, 1);
  const auto             data = Comparison<dim, Functors::Euler<dim>>::host();
  PointwiseOperator<dim> op(handler, data);
  FunctorIntegrand<dim, Functors::Euler<dim>> flow(euler<dim>());
  Vector<double>                              u, r, few(3);
  set_field(handler, euler_state<dim>(), 0., u);
  op.reinit(r);

  // The residual of a constant state tested with 1 is the flux; its pressure is
  // constant.
  const auto   of_id    = op.integrate_boundary(flow, {&u});
  const double pressure = flow.functor().pressure(flow.functor().state);
  check(name + "boundary ids", of_id.size() == 2 * dim);
  check_close(name + "force on a wall",
              of_id.at(0)[1],
              -pressure * std::pow(1., dim - 1),
              1e-13);
  Functors::ThreeComponents<dim> three;
  AgglomerationHandler<dim>      handler_3(triangulation);
  handler_3.agglomerate(make_strategy<dim>("slabs"));
  distribute(handler_3, 1, false, 3);
  Vector<double> v;
  set_field(handler_3, {1., 2., 3.}, 0., v);
  PointwiseOperator<dim> op_3(handler_3, data);
  const auto             integrals =
    op_3.integrate_boundary(FunctorIntegrand<dim, decltype(three)>(three),
                            {&v});
  check_close(name + "boundary integral",
              integrals.at(1)[2],
              2. * std::pow(2., 0.7),
              1e-13);

  const auto fails = [&](const std::string           &what,
                         const std::function<void()> &work,
                         const std::string           &text) {
    check_throws<ExceptionBase>(name + what, work, text);
  };
  fails(
    "another mesh",
    [&] {
      PointwiseOperator<dim> two({&handler, &other}, 0, data);
      FunctorIntegrand<dim, Functors::TwoFields<dim>> fields;
      two.residual(fields, {&u, &u}, r);
    },
    "components");
  AgglomerationHandler<dim> pair(triangulation);
  pair.agglomerate(make_strategy<dim>("slabs"));
  distribute(pair, 1, false, 2);
  Vector<double> x(pair.n_dofs()), y(other.n_dofs()), z(pair.n_dofs());
  fails(
    "other polytopes",
    [&] {
      PointwiseOperator<dim> two({&pair, &other}, 0, data);
      FunctorIntegrand<dim, Functors::TwoFields<dim>> fields;
      two.residual(fields, {&x, &y}, z);
    },
    "different polytopes");
  fails(
    "number of fields",
    [&] {
      op.residual(flow, {&u, &u}, r);
    },
    "these numbers must be the same");
  fails(
    "null pointer", [&] { op.residual(flow, {nullptr}, r); }, "null pointer");
  fails(
    "size", [&] { op.residual(flow, {&few}, r); }, "3 entries");
  fails(
    "result is a field", [&] { op.residual(flow, {&u}, u); }, "another vector");
  fails(
    "no tangent",
    [&] { op.apply_tangent(Recorder<dim>(dim + 2), {&u}, u, r); },
    "no tangent");
  u(0)                                   = 0.;
  u(handler.polytopic_dofs().n_basis[0]) = 1.;
  fails(
    "not finite", [&] { op.residual(flow, {&u}, r); }, "at the point (");
  fails(
    "rectangular",
    [&] {
      other.agglomerate(make_strategy<dim>("slabs"));
      distribute(other, 1, false, 1);
      y.reinit(other.n_dofs());
      PointwiseOperator<dim> two({&pair, &other}, 0, data);
      FunctorIntegrand<dim, Functors::TwoFields<dim>> fields;
      HostBlockMatrix<double>                         matrix;
      two.reinit(matrix);
      two.assemble_jacobian(fields, {&x, &y}, matrix, 1);
    },
    "square");
  fails(
    "test handler",
    [&] { PointwiseOperator<dim> wrong({&handler}, 1, data); },
    "counted from 0");
}

/// Calls compare(name, mesh, mapping, agglomeration, degree, hp, type of the
/// space) for meshes of all kinds.
template <int dim, typename Compare>
void
for_meshes(const Compare &compare)
{
  const auto          total  = Tessella::PolynomialSpaceType::total_degree;
  const auto          tensor = Tessella::PolynomialSpaceType::tensor_product;
  const MappingQ<dim> mapping(3);
  for (const std::string mesh : {"box",
                                 "distorted",
                                 "simplices",
                                 "hanging",
                                 "periodic",
                                 "hanging periodic",
                                 "periodic simplices",
                                 "curved"})
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      const Mapping<dim> *given = mesh == "curved" ? &mapping : nullptr;
      const std::string   name  = std::to_string(dim) + "-D " + mesh;
      if (dim == 2 || mesh == "simplices")
        compare(
          name + ", cells", triangulation, given, "none", 1, false, total);
      compare(name + ", hp",
              triangulation,
              given,
              "scattered",
              dim == 2 ? 4 : 2,
              true,
              total);
      if (mesh == "distorted")
        compare(name + ", Q2",
                triangulation,
                given,
                "steps",
                dim == 2 ? 2 : 1,
                false,
                tensor);
    }
}

template <int dim>
void
test_operators()
{
  for_meshes<dim>(
    [](auto &&...arguments) { compare_functors<dim>(arguments...); });
  compare_spaces<dim>();
  compare_simplices<dim>();
  check_properties<dim>();
  check_errors<dim>();
}

#endif
