// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tables of coefficients for a device are the same to the last bit for all
// chunk sizes (the chunks decide which data two polytopes share), whether or
// not a form evaluates both sides of a facet at once, and whether or not values
// of the diffusion are kept from the computation of the penalty.

#include "../../applications/assembly_throughput/tabulation_cost.cc"
#include "../../source/backends/cuda_tabulation.h"
#include "../../source/backends/host_assembly.h"
#include "../../source/backends/host_dispatch.h"
#include "compare.h"

namespace Internal = Tessella::internal;

/// Wraps the coefficients of another form but does not evaluate both sides at
/// once.
template <int dim>
class OneSidedForm : public PointwiseForm<dim>
{
public:
  OneSidedForm(const Tessella::Form<dim> &form, const bool penalty_facets)
    : PointwiseForm<dim>(form)
    , penalty_facets(penalty_facets)
  {}

  bool
  has_penalty_facets(double &theta) const override
  {
    return penalty_facets && this->form.has_penalty_facets(theta);
  }

private:
  const bool penalty_facets;
};



/// Layout and evaluation of the tables.
template <int dim>
struct TableData
{
  TableData(const Tessella::PolytopicMesh<dim> &mesh,
            const Tessella::PolytopicDoFs      &dofs,
            const Tessella::Form<dim>          &form)
    : rules(mesh, dofs, form.coefficient_order())
    , kernels(
        Internal::select_kernels<dim>(Tessella::InstructionSet::automatic))
    , data(Internal::make_form_data(mesh, form, true, true))
    , tabulation{mesh, dofs, form, rules, kernels, data}
    , positions(Internal::table_positions(mesh, dofs, rules, data))
  {}

  const Internal::HostRules<dim>             rules;
  const Internal::HostKernels::Kernels<dim> &kernels;
  const Internal::Device::FormData<dim>      data;
  const Internal::HostTabulation<dim>        tabulation;
  const Internal::TablePositions             positions;
};



/// All tables, array by array, assembled from chunks of a given number of
/// polytopes.
template <int dim>
std::vector<double>
tabulate(const Tessella::PolytopicMesh<dim> &mesh,
         const Tessella::PolytopicDoFs      &dofs,
         const Tessella::Form<dim>          &form,
         const unsigned int                  chunk_size,
         const bool                          keep)
{
  const TableData<dim> tables(mesh, dofs, form);
  const auto          &tabulation = tables.tabulation;
  const auto          &positions  = tables.positions;
  const auto          &data       = tables.data;
  const Internal::Device::Range<std::uint64_t>
    subcell_points = {positions.subcell.data(), 0},
    entry_points   = {positions.entry.data(), 0};

  Internal::DiffusionValues<dim> diffusion;
  if (keep)
    AssertThrow(diffusion.reinit(mesh,
                                 dofs,
                                 tables.rules,
                                 form.volume_structure().diffusion ==
                                     Tessella::DiffusionType::tensor
                                   ? dim * dim
                                   : 1,
                                 1 << 30),
                ExcInternalError());
  std::vector<double> sigma;
  Internal::compute_penalty<dim>(
    {mesh, dofs, form, tables.rules, tables.kernels},
    10.,
    sigma,
    keep ? &diffusion : nullptr);

  const std::uint64_t n_volume = positions.subcell.back(),
                      n_facets = positions.entry.back();
  const unsigned int  V = data.volume_layout.n, F = data.facet_layout.n;
  std::vector<double> result(n_volume * V + n_facets * F);
  for (unsigned int begin = 0; begin < mesh.n_polytopes(); begin += chunk_size)
    {
      Internal::Device::Chunk chunk = {
        begin, std::min(begin + chunk_size, mesh.n_polytopes()), 0, 0};
      const std::uint64_t v = positions.subcell[mesh.subcell_offset[begin]],
                          f = positions
                                .entry[mesh.polytope_interface_offset[begin]];
      chunk.n_volume_points =
        positions.subcell[mesh.subcell_offset[chunk.end]] - v;
      chunk.n_facet_points =
        positions.entry[mesh.polytope_interface_offset[chunk.end]] - f;
      // Uninitialised entries must not look correct.
      std::vector<double> volume(chunk.n_volume_points * V, -1e300),
        facets(chunk.n_facet_points * F, -1e300);
      for (unsigned int k = chunk.begin; k < chunk.end; ++k)
        {
          tabulation.volume(subcell_points,
                            chunk,
                            k,
                            k + 1,
                            volume.data(),
                            keep ? &diffusion : nullptr);
          tabulation.facets(
            sigma.data(), entry_points, chunk, k, k + 1, facets.data());
        }
      for (unsigned int i = 0; i < V; ++i)
        std::copy_n(volume.begin() + i * chunk.n_volume_points,
                    chunk.n_volume_points,
                    result.begin() + i * n_volume + v);
      for (unsigned int i = 0; i < F; ++i)
        std::copy_n(facets.begin() + i * chunk.n_facet_points,
                    chunk.n_facet_points,
                    result.begin() + n_volume * V + i * n_facets + f);
    }
  return result;
}



/// Same arrays from packed tables, which are unpacked like on a device.
template <int dim>
std::vector<double>
tabulate_packed(const Tessella::PolytopicMesh<dim> &mesh,
                const Tessella::PolytopicDoFs      &dofs,
                const Tessella::Form<dim>          &form,
                const unsigned int                  chunk_size,
                unsigned int                       &n_symmetric)
{
  using Internal::Device::Chunk;
  const TableData<dim>                         tables(mesh, dofs, form);
  const auto                                  &tabulation = tables.tabulation;
  const auto                                  &positions  = tables.positions;
  const auto                                  &data       = tables.data;
  const Internal::Device::PackedTables<dim>    packed(data);
  const Internal::Device::Range<std::uint64_t> subcell_points = {
    positions.subcell.data(), 0};
  const std::uint64_t n_volume = positions.subcell.back(),
                      n_facets = positions.entry.back();
  const int           V = data.volume_layout.n, F = data.facet_layout.n;
  std::vector<double> result(n_volume * V + n_facets * F, -1e300);
  std::vector<Chunk>  chunks;
  for (unsigned int begin = 0; begin < mesh.n_polytopes(); begin += chunk_size)
    chunks.push_back(
      {begin, std::min(begin + chunk_size, mesh.n_polytopes()), 0, 0});

  std::vector<double> a_bar(2 * mesh.n_facets(), 0.), sigma;
  n_symmetric = 0;
  for (Chunk &chunk : chunks)
    {
      const std::uint64_t v =
        positions.subcell[mesh.subcell_offset[chunk.begin]];
      const std::uint64_t n =
        positions.subcell[mesh.subcell_offset[chunk.end]] - v;
      chunk.n_volume_points = n;
      std::vector<double> table(n * packed.n_volume, -1e300);
      const bool          symmetric = tabulation.packed_volume(subcell_points,
                                                      chunk,
                                                      table.data(),
                                                      a_bar.data());
      n_symmetric += symmetric;
      if (symmetric) // These entries are not sent.
        std::fill(table.end() - n * packed.n_lower, table.end(), 1e300);
      for (int i = 0; i < V; ++i)
        {
          const int source = symmetric ? packed.symmetric[i] : packed.volume[i];
          for (std::uint64_t q = 0; q < n; ++q)
            result[i * n_volume + v + q] =
              source < 0 ? data.f : table[source * n + q];
        }
    }
  Internal::penalty_from_diffusion(dofs, 10., a_bar, sigma);

  // first points of interfaces, and all sent values
  std::vector<std::uint64_t> first(mesh.n_interfaces());
  const std::uint64_t        n_interior = positions.interior.back(),
                      n_boundary        = positions.boundary.back();
  std::vector<double> interior(n_interior * packed.n_interior),
    boundary(n_boundary * packed.n_boundary);
  for (const Chunk &chunk : chunks)
    {
      const unsigned int begin = mesh.polytope_interface_offset[chunk.begin],
                         end   = mesh.polytope_interface_offset[chunk.end];
      const std::uint64_t i    = positions.interior[begin],
                          b    = positions.boundary[begin],
                          n_i  = positions.interior[end] - i,
                          n_b  = positions.boundary[end] - b;
      std::vector<double> there(n_i * packed.n_interior, -1e300),
        at_boundary(n_b * packed.n_boundary, -1e300);
      tabulation.packed_facets(sigma.data(),
                               positions.interior.data(),
                               positions.boundary.data(),
                               chunk,
                               there.data(),
                               at_boundary.data());
      for (int array = 0; array < packed.n_interior; ++array)
        std::copy_n(there.begin() + array * n_i,
                    n_i,
                    interior.begin() + array * n_interior + i);
      for (int array = 0; array < packed.n_boundary; ++array)
        std::copy_n(at_boundary.begin() + array * n_b,
                    n_b,
                    boundary.begin() + array * n_boundary + b);
    }
  for (unsigned int e = 0; e < mesh.polytope_interface.size(); ++e)
    if (const unsigned int code = mesh.polytope_interface[e]; code % 2 == 0)
      first[code / 2] = (mesh.neighbor(code) == Tessella::invalid_index
                           ? positions.boundary
                           : positions.interior)[e];
  const auto &G     = data.facet_layout;
  double     *table = result.data() + n_volume * V;
  for (unsigned int e = 0; e < mesh.polytope_interface.size(); ++e)
    for (std::uint64_t q = positions.entry[e]; q < positions.entry[e + 1]; ++q)
      {
        const unsigned int  code = mesh.polytope_interface[e], side = code % 2;
        const std::uint64_t p   = first[code / 2] + q - positions.entry[e];
        const auto          set = [&](const int array, const double value) {
          table[array * n_facets + q] = value;
        };
        if (mesh.neighbor(code) == Tessella::invalid_index)
          {
            int        i    = 0;
            const auto next = [&]() { return boundary[i++ * n_boundary + p]; };
            set(G.c[0], next());
            for (int d = 0; d < dim; ++d)
              set(G.b[0] + d, next());
            set(G.r, next());
            for (int d = 0; d < dim; ++d)
              set(G.s + d, next());
          }
        else
          {
            set(G.c[0], interior[side * n_interior + p]);
            for (int d = 0; d < dim; ++d)
              {
                const double b0 = interior[(2 + d) * n_interior + p];
                const double b1 = data.continuous
                                    ? b0
                                    : interior[(2 + dim + d) * n_interior + p];
                set(G.b[0] + d, side == 0 ? b0 : -b1);
                set(G.b[1] + d, side == 0 ? b1 : -b0);
              }
          }
      }
  return result;
}



template <int dim>
void
test()
{
  const std::string prefix = std::to_string(dim) + "-D ";
  for (const std::string mesh : {"distorted", "simplices", "hanging periodic"})
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      Tessella::AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(make_strategy<dim>("scattered"));
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(2));
      Tessella::compute_penalty_factors(handler,
                                        Tessella::PenaltyFormula::simplex);
      const auto &view = handler.polytopic_mesh();
      const auto &dofs = handler.polytopic_dofs();
      for (const Give give : {Give::functions, Give::tensor_functions})
        {
          const auto        form = make_form(full_problem<dim>(), give, 2);
          const std::string name =
            prefix + mesh +
            (give == Give::functions ? ", functions" : ", tensor functions");
          const std::vector<double> reference =
            tabulate(view, dofs, form, 1, false);
          // r and s are used on the boundary only; b of the neighbour is not
          // used
          const auto data =
            Internal::make_form_data<dim>(view, form, true, true);
          const auto positions = Internal::table_positions<dim>(
            view, dofs, Internal::HostRules<dim>(view, dofs, 2), data);
          const std::uint64_t n_volume =
                                positions.subcell.back() * data.volume_layout.n,
                              n_facets = positions.entry.back();
          const auto written = [](const double v) { return v > -1e100; };
          const auto c =
            reference.begin() + n_volume + data.facet_layout.c[0] * n_facets;
          check(name + ": all written",
                n_volume > 0 && n_facets > 0 &&
                  std::all_of(reference.begin(),
                              reference.begin() + n_volume,
                              written) &&
                  std::all_of(c, c + n_facets, written));
          const unsigned int all = view.n_polytopes();
          check(name + ": one chunk",
                tabulate(view, dofs, form, all, false) == reference);
          check(name + ": two chunks",
                tabulate(view, dofs, form, all / 2 + 1, true) == reference);
          check(name + ": kept diffusion",
                tabulate(view, dofs, form, all, true) == reference);
          check(
            name + ": one side after the other",
            tabulate(view, dofs, OneSidedForm<dim>(form, true), all, true) ==
              reference);
          if (mesh != "hanging periodic")
            {
              // several chunks, some of which have lower entries
              unsigned int n_symmetric[2];
              check(name + ": packed",
                    data.packed_facets &&
                      tabulate_packed(view, dofs, form, all, n_symmetric[0]) ==
                        reference &&
                      tabulate_packed(
                        view, dofs, form, all / 4 + 1, n_symmetric[1]) ==
                        reference &&
                      n_symmetric[0] == 1 && n_symmetric[1] > 1);
              if (give == Give::tensor_functions)
                {
                  auto problem = full_problem<dim>();
                  problem.a    = [a = problem.a](const Point<dim> &x) {
                    Tensor<2, dim> value = a(x);
                    if (x[0] > 1.2)
                      value[0][1] += 0.01 * x[1];
                    return value;
                  };
                  const auto skew =
                    make_form(problem, Give::tensor_functions, 2);
                  check(
                    name + ": packed, not symmetric",
                    tabulate_packed(view, dofs, skew, 3, n_symmetric[0]) ==
                        tabulate(view, dofs, skew, 1, false) &&
                      tabulate_packed(view, dofs, skew, all, n_symmetric[1]) ==
                        tabulate(view, dofs, skew, 1, false) &&
                      n_symmetric[1] == 0);
                }
              else
                {
                  auto cellwise = make_form(full_problem<dim>(), give, 2);
                  dealii::Vector<double> values(triangulation.n_active_cells());
                  for (unsigned int i = 0; i < values.size(); ++i)
                    values[i] = 1. + i % 7;
                  cellwise.set_diffusion(
                    Tessella::CellwiseCoefficient(view, values));
                  cellwise.set_source(2.5);
                  check(
                    name + ": packed, values per cell, constant f",
                    tabulate_packed(
                      view, dofs, cellwise, all / 2, n_symmetric[0]) ==
                        tabulate(view, dofs, cellwise, 1, false) &&
                      !Internal::make_form_data<dim>(view, cellwise, true, true)
                         .continuous);
                }
            }
          else
            check(name + ": not packed", !data.packed_facets);
          const OneSidedForm<dim> general(form, false);
          check(name + ": general form",
                tabulate(view, dofs, general, all, true) ==
                  tabulate(view, dofs, general, 1, false));
        }
    }

  // ---- the report
  Triangulation<dim> triangulation;
  make_mesh("box", triangulation);
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>("none"));
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
  const auto cost = Tessella::Application::tabulation_cost(
    handler, make_form(full_problem<dim>(), Give::functions, 2));
  // order 4: three Gauss points in each direction
  const unsigned int n = dim == 2 ? 9 : 27;
  check(prefix + "points in cells",
        cost.n_volume_points == n * triangulation.n_active_cells());
  unsigned int n_interior = 0, n_boundary = 0;
  for (const auto &cell : triangulation.active_cell_iterators())
    for (const auto f : cell->face_indices())
      (cell->at_boundary(f) ? n_boundary : n_interior) += 1;
  check(prefix + "points on interior facets",
        cost.n_interior_points % (n_interior / 2) == 0 &&
          cost.n_interior_points >= n / 3 * n_interior / 2);
  check(prefix + "points on boundary facets",
        cost.n_boundary_points * (n_interior / 2) ==
          cost.n_interior_points * n_boundary);
  check(prefix + "times", cost.volume > 0. && cost.facets > 0.);
}



int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test<2>();
  test<3>();
}
