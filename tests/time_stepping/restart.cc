// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Advection by the dG method: a run that goes on from a checkpoint has the bits
// of one that was not stopped, for explicit and implicit methods with variable
// steps, on any number of processes; CFL steps; checkpoints of other meshes.

#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>

#include <tessella/forms/functor_integrand.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/pointwise_operator.h>
#include <tessella/time_stepping/bdf.h>
#include <tessella/time_stepping/cfl.h>
#include <tessella/time_stepping/explicit_runge_kutta.h>
#include <tessella/time_stepping/sdirk.h>
#include <tessella/time_stepping/time_state.h>

#include <fstream>

#include "../messages.h"
#include "../mpi/cases.h"
#include "../tests.h"

using Field = HostVector<double>;

struct Upwind
{
  static constexpr int n_components           = 1;
  using Fields                                = FieldComponents<1>;
  static constexpr unsigned int volume_input  = PointwiseRows::values,
                                volume_output = PointwiseRows::gradients,
                                facet_input   = PointwiseRows::values,
                                facet_output  = PointwiseRows::values;
  double b[2]                                 = {1., 0.5};

  template <typename U, typename R>
  void
  volume(const OperatorPoint<2> &, const U &u, R &r) const
  {
    for (int d = 0; d < 2; ++d)
      r.gradient[0][d] = -b[d] * u.value[0];
  }
  template <typename U, typename R>
  void
  interior_facet(
    const OperatorPoint<2> &p, const U &u0, const U &u1, R &r0, R &r1) const
  {
    const double b_n = b[0] * p.normal[0] + b[1] * p.normal[1];
    r0.value[0]      = b_n * (b_n > 0. ? u0.value[0] : u1.value[0]);
    r1.value[0]      = -r0.value[0];
  }
  template <typename U, typename R>
  void
  boundary_facet(const OperatorPoint<2> &p, const U &u, R &r) const
  {
    const double b_n = b[0] * p.normal[0] + b[1] * p.normal[1];
    r.value[0]       = b_n > 0. ? b_n * u.value[0] : 0. * u.value[0];
  }
};

class Wave : public Function<2>
{
public:
  double
  value(const Point<2> &p, const unsigned int = 0) const override
  {
    return std::sin(2. * numbers::PI * p[0]) *
           std::cos(2. * numbers::PI * p[1]);
  }
};

// The polytopes are squares, so that the basis is orthonormal: M = I.
struct Problem
{
  explicit Problem(const AgglomerationHandler<2> &handler)
    : op(handler)
    , integrand(Upwind())
  {
    op.reinit(matrix);
  }

  void
  derivative(const Field &u, Field &result)
  {
    op.residual<Field>(integrand, {&u}, result);
    result *= -1.;
  }
  void
  solve(const double tau, const Field &known, Field &u)
  {
    op.assemble_jacobian<Field>(integrand, {&u}, matrix);
    const BlockSparsity &s = matrix.block_sparsity();
    for (unsigned int k = 0; k < s.row_width.size(); ++k)
      for (unsigned int i = 0; i < 6; ++i)
        matrix.values()[s.value_offset[k] + i * (s.row_width[k] + 1) +
                        s.column_offset[s.find_block(k, k)]] += 1. / tau;
    BlockGaussSeidel<HostBlockMatrix<double>>                 preconditioner;
    BlockGaussSeidel<HostBlockMatrix<double>>::AdditionalData data;
    data.symmetric = false;
    preconditioner.initialize(matrix, data);
    Field rhs(known);
    rhs *= 1. / tau;
    SolverControl      control(100, 1e-11 * rhs.l2_norm(), false, false);
    SolverGMRES<Field> gmres(control);
    gmres.solve(matrix, u, rhs, preconditioner);
  }

  PointwiseOperator<2>        op;
  FunctorIntegrand<2, Upwind> integrand;
  HostBlockMatrix<double>     matrix;
};

const std::vector<double> steps = {0.01, 0.013, 0.009, 0.012, 0.008, 0.011};

struct Integrator
{
  Integrator(const unsigned int method, Problem &problem)
    : method(method)
    , f([&problem](const double, const Field &u, Field &r) {
      problem.derivative(u, r);
    })
    , solve([&problem](const double,
                       const double tau,
                       const Field &known,
                       Field       &u) { problem.solve(tau, known, u); })
  {}

  void
  run(const unsigned int first, const unsigned int last, double &t, Field &u)
  {
    for (unsigned int i = first; i < last; ++i)
      {
        switch (method)
          {
            case 0:
              rk.step(f, t, steps[i], u);
              break;
            case 1:
              low_storage.step(f, t, steps[i], u);
              break;
            case 2:
              sdirk.step(solve, t, steps[i], u);
              break;
            default:
              bdf.step(solve, t, steps[i], u);
          }
        t += steps[i];
      }
  }

  const unsigned int          method;
  const TimeDerivative<Field> f;
  const StageSolver<Field>    solve;
  ExplicitRungeKutta<Field>   rk{ExplicitMethod::ssp_3};
  LowStorageRungeKutta<Field> low_storage{LowStorageMethod::kennedy_4};
  SDIRK<Field>                sdirk{2};
  BDF<Field>                  bdf{3};
};

using Results = std::vector<std::uint64_t>;

Results
compute(const MPI_Comm comm)
{
  parallel::distributed::Triangulation<2> triangulation(comm);
  GridGenerator::hyper_cube(triangulation, 0., 1., true);
  add_periodic_faces<2>(triangulation, {0});
  triangulation.refine_global(3);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate([](const Triangulation<2> &t) {
    std::vector<unsigned int> ids(t.n_active_cells());
    std::iota(ids.begin(), ids.end(), 0U);
    return ids;
  });
  handler.distribute_agglomerated_dofs(FE_BoundingBoxLegendre<2>(2));
  Problem problem(handler);
  Field   start;
  problem.op.reinit(start);
  LinearAlgebra::distributed::Vector<double> &projected = start;
  Tessella::VectorTools::project(handler, Wave(), projected);

  Results results;
  for (unsigned int method = 0; method < 4; ++method)
    {
      Integrator whole(method, problem), first(method, problem),
        second(method, problem);
      double t = 0.;
      Field  u(start);
      whole.run(0, 6, t, u);

      TimeState                  state;
      Field                      v(start);
      std::vector<const Field *> vectors{&v};
      first.run(0, 3, state.time, v);
      store_history(first.bdf.history(), state, vectors);
      write_time_state("restart.state", handler, state, vectors);
      std::vector<Field> read;
      TimeState          restored =
        read_time_state("restart.state", handler, start, read);
      restore_history(restored, read, 1, second.bdf.history());
      second.run(3, 6, restored.time, read[0]);

      results.push_back(digest_of_vector(handler, u));
      results.push_back(digest_of_vector(handler, read[0]));
      if (restored.time != t || results.back() != results[2 * method])
        results.push_back(0);
    }

  // h / (2 (2 p + 1)) over the speed for squares of size h.
  const CFLSteps<2>         cfl(handler);
  const std::vector<double> ones(handler.n_polytopes(), 2.);
  if (std::abs(cfl.smallest(0.5, ones) - 0.5 * 0.125 / 10. / 2.) > 1e-15)
    results.push_back(1);
  const CFLSteps<2> penalty(handler, CFLLength::penalty);
  const double      ratio = penalty.smallest(1., ones) / (0.125 / 4. / 2.);
  if (!(ratio > 0.3 && ratio < 3.))
    results.push_back(2);
  return results;
}

void
check_mistakes()
{
  const auto fails = [](const std::string           &name,
                        const std::function<void()> &function,
                        const std::string           &part) {
    const std::string message = message_of(function);
    if (!check(name, contains(message, part)))
      deallog << message << std::endl;
  };
  const auto read = [](const unsigned int n, const unsigned int degree) {
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, n);
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate([](const Triangulation<2> &t) {
      std::vector<unsigned int> ids(t.n_active_cells());
      std::iota(ids.begin(), ids.end(), 0U);
      return ids;
    });
    handler.distribute_agglomerated_dofs(FE_BoundingBoxLegendre<2>(degree));
    dealii::Vector<double>              model(handler.n_dofs());
    std::vector<dealii::Vector<double>> vectors;
    read_time_state("restart.state", handler, model, vectors);
    TimeState state;
    state.history_steps = {1., 1., 1.};
    TimeHistory<dealii::Vector<double>> history(3);
    restore_history(state, vectors, 1, history);
  };
  fails(
    "another mesh", [&]() { read(4, 2); }, "for another mesh of 64");
  fails(
    "another degree", [&]() { read(8, 1); }, "6 unknowns on a polytope");
  fails(
    "too few vectors", [&]() { read(8, 2); }, "its history needs 4");
  std::string content;
  {
    std::ifstream in("restart.state", std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(in), {});
  }
  content[content.size() / 2] ^= 1;
  std::ofstream("restart.state", std::ios::binary) << content;
  fails(
    "a changed byte", [&]() { read(8, 2); }, "is damaged");
  std::ofstream("restart.state", std::ios::binary) << "text\n";
  fails(
    "another file", [&]() { read(8, 2); }, "is not a checkpoint");
  std::remove("restart.state");
  fails(
    "no file", [&]() { read(8, 2); }, "cannot be opened");
  fails(
    "another text",
    []() { TimeState::from_text("1 2 three"); },
    "not that of a TimeState");
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  const auto  results = for_numbers_of_processes<Results>(compute);
  for (unsigned int n = 1; n < results.size(); ++n)
    if (results[n] != results[0])
      deallog << "Other bits on " << n + 1 << " processes." << std::endl;
  if (results.empty())
    return 0;
  check("restart and CFL steps", results[0].size() == 8);
  check_mistakes();
}
