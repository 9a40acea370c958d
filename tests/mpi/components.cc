// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Functions of several components with different degrees have the same bits for
// any number of processes: projection, interpolation, errors, indicators and
// output.

#include "../numerics/components.h"

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/numerics/data_postprocessor.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/discrete_function.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/solution_transfer.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/polytopewise_operator.h>

#include "../numerics/polynomial.h"
#include "../tests.h"
#include "cases.h"
#include "field_has_ghosts.h"

namespace TVT = Tessella::VectorTools;

using VectorType = LinearAlgebra::distributed::Vector<double>;
using Results    = std::vector<std::uint64_t>;

/// Quantities of a system of three components: products of values and a sum of
/// derivatives.
template <int dim>
class Quantities : public DataPostprocessor<dim>
{
public:
  std::vector<std::string>
  get_names() const override
  {
    return {"product", "derivative"};
  }
  std::vector<DataComponentInterpretation::DataComponentInterpretation>
  get_data_component_interpretation() const override
  {
    return {2, DataComponentInterpretation::component_is_scalar};
  }
  UpdateFlags
  get_needed_update_flags() const override
  {
    return update_values | update_gradients;
  }
  void
  evaluate_vector_field(const DataPostprocessorInputs::Vector<dim> &input,
                        std::vector<Vector<double>> &result) const override
  {
    for (unsigned int q = 0; q < result.size(); ++q)
      {
        const auto &u = input.solution_values[q];
        result[q][0]  = u[0] * u[1] * u[2] * u[3];
        result[q][1] =
          input.solution_gradients[q][0][1] + input.solution_gradients[q][3][0];
      }
  }
};

/// Access to the patches.
template <int dim>
struct Output : public PolytopicDataOut<dim>
{
  using PolytopicDataOut<dim>::PolytopicDataOut;

  /// Digest of vertices, fields and derived quantities on all processes.
  std::uint64_t
  digest(const unsigned int n_rows, const MPI_Comm comm) const
  {
    std::uint64_t sum = 0;
    for (const auto &patch : this->get_patches())
      {
        Digest digest;
        for (const auto &vertex : patch.vertices)
          for (int d = 0; d < dim; ++d)
            digest.add(vertex[d]);
        for (unsigned int r = 0; r < n_rows; ++r)
          for (unsigned int q = 0; q < patch.data.n_cols(); ++q)
            digest.add(double(patch.data(r, q)));
        sum += digest.state;
      }
    return Utilities::MPI::sum(sum, comm);
  }
};

template <int dim>
Results
compute(const Triangulation<dim>           &triangulation,
        const Agglomeration::Strategy<dim> &strategy)
{
  const unsigned int        m = 3;
  AgglomerationHandler<dim> handler(triangulation), scalar(triangulation);
  handler.agglomerate(strategy);
  scalar.agglomerate(strategy);
  distribute_components(handler, m, 1, true);
  distribute_components(scalar, 1, 1, true);
  const Field<dim> exact(m);
  VectorType       u(handler.locally_owned_dofs(), handler.get_communicator());
  Results          results;
  TVT::interpolate(handler, exact, u);
  results.push_back(digest_of_vector(handler, u));
  TVT::project(handler, exact, u);
  HostVector<double> host;
  host.reinit(handler.locally_owned_dofs(), handler.get_communicator());
  TrilinosWrappers::MPI::Vector trilinos(handler.locally_owned_dofs(),
                                         handler.get_communicator());
  std::copy(u.begin(), u.end(), host.begin());
  std::copy(u.begin(), u.end(), trilinos.begin());
  AssertThrow(field_has_ghosts(handler, u) && field_has_ghosts(handler, host) &&
                field_has_ghosts(handler, trilinos),
              ExcMessage("A discrete field has wrong values of ghosts."));
  results.push_back(digest_of_vector(handler, u));

  Digest        digest;
  Vector<float> difference;
  for (const auto norm : {dealii::VectorTools::mean,
                          dealii::VectorTools::L1_norm,
                          dealii::VectorTools::L2_norm,
                          dealii::VectorTools::Lp_norm,
                          dealii::VectorTools::Linfty_norm,
                          dealii::VectorTools::H1_norm})
    for (unsigned int c = 0; c <= m; ++c)
      {
        ComponentMask mask;
        if (c < m)
          {
            mask = ComponentMask(m, false);
            mask.set(c, true);
          }
        TVT::integrate_difference(
          handler, u, exact, difference, norm, 4, 3., mask);
        digest.add(TVT::compute_global_error(handler, difference, norm, 3.));
      }
  results.push_back(digest.state);

  AdvectionDiffusionReaction<dim> form;
  Tensor<1, dim>                  b;
  b[0] = 2.;
  b[1] = -1.;
  form.set_diffusion(1.5);
  form.set_advection(b);
  form.set_reaction(1.);
  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Backend::host;
  const std::vector<double> sigma =
    PolytopicAssembler<dim>(scalar, data).penalty(form);
  digest = Digest();
  const auto errors =
    TVT::compute_component_errors<dim>(handler, {&form}, {sigma}, u, exact);
  for (const auto &e : errors)
    for (const double norm : {e.L2, e.H1_seminorm, e.dG})
      digest.add(norm);
  results.push_back(digest.state);

  Vector<double> eta;
  ErrorEstimator::residual(handler, form, sigma, u, eta);
  results.push_back(digest_of_polytopes(
    handler, [&](const unsigned int k, Digest &of_k) { of_k.add(eta[k]); }));
  digest = Digest();
  digest.add(ErrorEstimator::global(handler, eta));
  results.push_back(digest.state);

  VectorType w(scalar.locally_owned_dofs(), scalar.get_communicator());
  TVT::project(scalar, Field<dim>(1), w);
  const Quantities<dim> quantities;
  Output<dim>           output(handler);
  output.add_data_vector(u, "u");
  output.add_data_vector(scalar, w, {"w"});
  output.add_data_vector(
    std::vector<const AgglomerationHandler<dim> *>{&handler, &scalar},
    std::vector<const VectorType *>{&u, &w},
    quantities);
  output.build_patches();
  results.push_back(output.digest(m + 3, handler.get_communicator()));
  return results;
}

template <typename Function>
void
compare(const std::string &name, const Function &function)
{
  const char *const parts[] = {"interpolation",
                               "projection",
                               "norms",
                               "errors",
                               "indicators",
                               "sum of indicators",
                               "output"};
  const auto        results = for_numbers_of_processes<Results>(function);
  for (unsigned int i = 0; !results.empty() && i < results[0].size(); ++i)
    {
      bool same = true;
      for (const Results &of_n : results)
        same = same && of_n[i] == results[0][i];
      check(name + parts[i], same);
    }
}

template <int dim>
void
test()
{
  const std::string name = std::to_string(dim) + "-D ";
  compare(name + "hanging nodes, ", [](const MPI_Comm comm) {
    parallel::distributed::Triangulation<dim> triangulation(comm);
    make_l_shape(triangulation, 2);
    return compute<dim>(triangulation, Agglomeration::complete_families<dim>());
  });
  compare(name + "periodic, ", [](const MPI_Comm comm) {
    parallel::distributed::Triangulation<dim> triangulation(comm);
    make_periodic(triangulation, 1, 2);
    return compute<dim>(triangulation, Agglomeration::complete_families<dim>());
  });
  compare(name + "simplices, ", [](const MPI_Comm comm) {
    parallel::fullydistributed::Triangulation<dim> triangulation(comm);
    const auto strategy = distribute_simplices(triangulation);
    return compute<dim>(triangulation, strategy);
  });
}

/// Velocity and pressure keep their integrals, and polynomials, while the mesh
/// is refined and coarsened.
template <int dim>
Results
transfer(Triangulation<dim> &triangulation, const MPI_Comm comm)
{
  const unsigned int m[] = {3, 1};
  using Handler          = AgglomerationHandler<dim>;
  using Transfer         = PolytopicSolutionTransfer<dim>;
  std::unique_ptr<Handler> handlers[2];
  // A polynomial and another function of each handler.
  VectorType u[2][2];
  const auto distribute = [&]() {
    for (unsigned int i = 0; i < 2; ++i)
      {
        handlers[i] = std::make_unique<Handler>(triangulation);
        handlers[i]->agglomerate(Agglomeration::complete_families<dim>());
        distribute_components(*handlers[i], m[i], 2 - i, true);
        for (auto &v : u[i])
          v.reinit(handlers[i]->locally_owned_dofs(), comm);
      }
  };
  const auto integrals = [&]() {
    std::vector<double> result;
    for (unsigned int i = 0; i < 2; ++i)
      for (const double value :
           PolytopewiseOperator<dim>(*handlers[i]).integrals(u[i][1]))
        result.push_back(value);
    return result;
  };
  distribute();
  for (unsigned int i = 0; i < 2; ++i)
    {
      TVT::project(*handlers[i], Polynomial<dim>(2 - i, m[i]), u[i][0]);
      TVT::project(*handlers[i], Field<dim>(m[i]), u[i][1]);
    }
  const std::vector<double> before = integrals();

  for (const auto &cell : triangulation.active_cell_iterators())
    if (cell->is_locally_owned())
      {
        if (cell->center()[0] < 0.3)
          cell->set_refine_flag();
        else if (cell->center()[0] > 0.5)
          cell->set_coarsen_flag();
      }
  const unsigned int n_cells = triangulation.n_global_active_cells();
  triangulation.prepare_coarsening_and_refinement();
  Transfer transfers[2] = {Transfer(triangulation), Transfer(triangulation)};
  for (unsigned int i = 0; i < 2; ++i)
    transfers[i].prepare_for_coarsening_and_refinement(
      *handlers[i], std::vector<const VectorType *>{&u[i][0], &u[i][1]});
  triangulation.execute_coarsening_and_refinement();
  distribute();
  for (unsigned int i = 0; i < 2; ++i)
    transfers[i].project(*handlers[i],
                         std::vector<VectorType *>{&u[i][0], &u[i][1]});

  const std::vector<double> after = integrals();
  double                    error = 0., change = 0.;
  for (unsigned int i = 0; i < after.size(); ++i)
    change = std::max(change, std::abs(after[i] - before[i]));
  Results results;
  Digest  digest;
  for (unsigned int i = 0; i < 2; ++i)
    {
      Vector<float> difference;
      TVT::integrate_difference(*handlers[i],
                                u[i][0],
                                Polynomial<dim>(2 - i, m[i]),
                                difference,
                                dealii::VectorTools::Linfty_norm);
      error =
        std::max(error,
                 TVT::compute_global_error(*handlers[i],
                                           difference,
                                           dealii::VectorTools::Linfty_norm));
      for (const auto &v : u[i])
        digest.add(digest_of_vector(*handlers[i], v));
    }
  results.push_back(digest.state);
  results.push_back(n_cells != triangulation.n_global_active_cells());
  results.push_back(error < 1e-11);
  results.push_back(after.size() == 4 && change < 1e-13);
  return results;
}

template <int dim>
void
check_transfer()
{
  const std::string name = std::to_string(dim) + "-D transfer, ";
  auto results = for_numbers_of_processes<Results>([](const MPI_Comm comm) {
    parallel::distributed::Triangulation<dim> triangulation(comm);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(dim == 2 ? 4 : 2);
    return transfer<dim>(triangulation, comm);
  });
  if (results.empty())
    return;
  Triangulation<dim> serial;
  GridGenerator::hyper_cube(serial);
  serial.refine_global(dim == 2 ? 4 : 2);
  results.push_back(transfer<dim>(serial, MPI_COMM_SELF));
  const char *const parts[] = {"same bits",
                               "mesh changes",
                               "polynomials",
                               "integrals"};
  for (unsigned int i = 0; i < 4; ++i)
    {
      bool good = true;
      for (const Results &of_n : results)
        good = good && of_n[i] == (i == 0 ? results[0][0] : 1);
      check(name + parts[i], good);
    }
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  test<2>();
  test<3>();
  check_transfer<2>();
  check_transfer<3>();
}
