// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Terms on interior facets that the host evaluates once for both owners are the
// same to the last bit as those that each owner evaluates, for chunks of any
// size, and so is the matrix. Each is evaluated once.

#include "../../source/backends/facet_values.h"

#include <atomic>
#include <cstring>

#include "../../source/backends/facet_penalty.h"
#include "../../source/backends/host_dispatch.h"
#include "compare.h"

namespace Internal = Tessella::internal;

/// Wraps the coefficients of another form.
template <int dim>
class CountingForm : public PointwiseForm<dim>
{
public:
  CountingForm(const Tessella::Form<dim> &form, const bool penalty_facets)
    : PointwiseForm<dim>(form)
    , penalty_facets(penalty_facets)
  {}

  bool
  has_penalty_facets(double &theta) const override
  {
    return penalty_facets && this->form.has_penalty_facets(theta);
  }

  void
  evaluate_both_sides(const Tessella::FacetPointBatch<dim> &points,
                      Tessella::FacetBlocks<dim>           &own,
                      Tessella::FacetBlocks<dim> &neighbor) const override
  {
    n_both += points.n_points;
    this->form.evaluate_both_sides(points, own, neighbor);
  }

  void
  evaluate_interior_facets(const Tessella::FacetPointBatch<dim> &points,
                           Tessella::FacetBlocks<dim> &blocks) const override
  {
    n_own += points.n_points;
    this->form.evaluate_interior_facets(points, blocks);
  }

  mutable std::atomic<std::uint64_t> n_both{0}, n_own{0};

private:
  const bool penalty_facets;
};



/// Number of arrays of interior facets.
template <int dim>
constexpr unsigned int n_arrays = 4 * dim + 2;

template <int dim>
Tessella::FacetBlocks<dim>
make_blocks(std::vector<double>            &memory,
            const unsigned int              n,
            const Tessella::FacetStructure &structure)
{
  memory.assign(n_arrays<dim> * n, -1e300);
  double                    *next   = memory.data();
  Tessella::FacetBlocks<dim> blocks = {};
  for (unsigned int side = 0; side < 2; ++side)
    {
      blocks.c[side] = next;
      next += n;
      for (unsigned int d = 0; d < dim; ++d, next += 2 * n)
        {
          blocks.b[side][d]    = structure.b ? next : nullptr;
          blocks.beta[side][d] = structure.beta ? next + n : nullptr;
        }
    }
  return blocks;
}



struct Count
{
  unsigned int n_stored = 0, n_split = 0, n_chunks = 0, n_direct = 0,
               n_points = 0;
};

/// Compares stored terms with those that the form returns; returns whether all
/// have the same bits.
template <int dim>
bool
compare(const Tessella::PolytopicMesh<dim> &mesh,
        const Tessella::PolytopicDoFs      &dofs,
        const Tessella::Form<dim>          &form,
        const std::size_t                   limit,
        Count                              &count)
{
  const Internal::HostRules<dim> rules(mesh, dofs, form.coefficient_order());
  const auto                    &kernels =
    Internal::select_kernels<dim>(Tessella::InstructionSet::automatic);
  const Internal::HostProblem<dim> problem{mesh, dofs, form, rules, kernels};
  std::vector<double>              sigma;
  Internal::compute_penalty<dim>(problem, 10., sigma);
  Internal::FacetValues<dim>      values(problem, sigma, limit);
  Internal::FacetPointBuffer<dim> points(mesh, dofs, rules, kernels);
  bool                            same = true;
  count                                = Count();
  std::vector<double> stored_memory, expected_memory;

  const auto compare_points = [&]() {
    const unsigned int n = points.n_points;
    auto stored = make_blocks<dim>(stored_memory, n, form.facet_structure());
    auto expected =
      make_blocks<dim>(expected_memory, n, form.facet_structure());
    if (n > 0)
      form.evaluate_interior_facets(points.batch(0, n), expected);
    for (const auto &segment : points.segments)
      {
        const bool contained = values.contains(segment.code / 2);
        ++(contained ? count.n_stored : count.n_direct);
        count.n_split += segment.first > 0;
        if (!contained)
          continue;
        count.n_points += segment.n_points;
        values.get(segment, stored);
        for (unsigned int i = 0; i < n_arrays<dim>; ++i)
          same =
            same &&
            std::memcmp(stored_memory.data() + i * n + segment.begin,
                        expected_memory.data() + i * n + segment.begin,
                        (segment.end - segment.begin) * sizeof(double)) == 0;
      }
    points.clear();
  };

  for (unsigned int begin = 0, end; begin < mesh.n_polytopes(); begin = end)
    {
      end = values.tabulate(begin);
      ++count.n_chunks;
      for (unsigned int k = begin; k < end; ++k)
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          if (const unsigned int code = mesh.polytope_interface[e];
              mesh.neighbor(code) != Tessella::invalid_index)
            points.append_interface(code, sigma, compare_points);
      compare_points();
    }
  return same;
}



/// Values of the matrix and the right-hand side of a form.
template <int dim>
std::vector<double>
assemble(const Tessella::AgglomerationHandler<dim> &handler,
         const Tessella::Form<dim>                 &form)
{
  typename Tessella::PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Tessella::Backend::host;
  Tessella::PolytopicAssembler<dim> assembler(handler, data);
  SparsityPattern                   sparsity;
  SparseMatrix<double>              matrix;
  Vector<double>                    rhs;
  assembler.reinit(sparsity, matrix, rhs);
  assembler.assemble(form, matrix, rhs);
  std::vector<double> values(rhs.begin(), rhs.end());
  for (const auto &entry : matrix)
    values.push_back(entry.value());
  return values;
}



template <int dim>
void
test()
{
  const std::string prefix   = std::to_string(dim) + "-D ";
  bool              is_split = false;
  for (const std::string mesh : {"distorted", "simplices", "hanging periodic"})
    for (const std::string strategy : {"scattered", "slabs"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        Tessella::AgglomerationHandler<dim> handler(triangulation);
        handler.agglomerate(make_strategy<dim>(strategy));
        handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(3));
        Tessella::compute_penalty_factors(handler,
                                          Tessella::PenaltyFormula::simplex);
        const auto       &view = handler.polytopic_mesh();
        const auto       &dofs = handler.polytopic_dofs();
        const std::string name = prefix + mesh + ", " + strategy;
        auto              form = make_form(full_problem<dim>(),
                              strategy == "slabs" ? Give::functions
                                                               : Give::tensor_functions,
                              2);
        Vector<double>    cell_values(triangulation.n_active_cells());
        for (unsigned int i = 0; i < cell_values.size(); ++i)
          cell_values[i] = 1. + i % 7;
        for (const bool continuous : {true, false})
          {
            if (!continuous)
              form.set_diffusion(
                Tessella::CellwiseCoefficient(view, cell_values));
            const std::string of = name + (continuous ? "" : ", jumps");
            Count             all, few, none;
            check(of + ": one chunk",
                  compare<dim>(view, dofs, form, 1 << 30, all) &&
                    all.n_chunks == 1 && all.n_stored > 0);
            // two thirds of the memory, or a little less
            const bool same =
              compare<dim>(view,
                           dofs,
                           form,
                           all.n_points * (2 + dim) * sizeof(double) / 3,
                           few);
            check(of + ": several chunks, same bits", same);
            check(of + ": several chunks",
                  few.n_chunks > 1 && few.n_stored < all.n_stored);
            check(of + ": no memory",
                  compare<dim>(view, dofs, form, 0, none) &&
                    none.n_stored == 0);
            check(of + ": periodic interfaces",
                  (all.n_direct > 0) == (mesh == "hanging periodic"));
            is_split = is_split || all.n_split > 0;

            const CountingForm<dim> shared(form, true), general(form, false);
            check(of + ": matrix",
                  assemble<dim>(handler, shared) ==
                    assemble<dim>(handler, general));
            check(of + ": evaluated once",
                  (mesh == "hanging periodic" || shared.n_own == 0) &&
                    shared.n_both > 0 && general.n_both == 0);
          }
      }
  if (dim == 3)
    check(prefix + "interfaces in parts", is_split);
}



int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();
  test<2>();
  test<3>();
}
