// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Space-time slabs: polynomials are reproduced on all kinds of meshes with
// local time stepping, prisms have the same matrix as their tetrahedra, several
// slabs have the same solution as one slab of several intervals, mass is
// conserved without outflow, convergence rates, invalid input.

#include <limits>

#include "checks.h"

// Mesh of a slab of triangles in which every prism is cut into three tetrahedra
// and every parallelogram into two triangles.
class SplitSlab : public Tessella::PolytopicSpace<3>
{
public:
  explicit SplitSlab(const Tessella::SpaceTimeSlab<2> &slab)
    : slab(slab)
  {
    using namespace Tessella;
    slab.fill_penalty_factors(PenaltyFormula::simplex);
    const PolytopicMesh<3> &from   = slab.polytopic_mesh();
    mesh                           = from;
    mesh.prismatic                 = false;
    mesh.revision                  = 0;
    const PolytopicDoFs &from_dofs = slab.polytopic_dofs();
    dofs                           = from_dofs;
    dofs.revision                  = 0;
    dofs.penalty_revision          = 0;
    mesh.subcell_type.clear();
    mesh.subcell_vertex_offset.assign(1, 0);
    mesh.subcell_vertices.clear();
    mesh.subcell_cell.clear();
    mesh.subcell_material.clear();
    for (unsigned int &offset : mesh.subcell_offset)
      offset *= 3;
    const auto add = [](FirstTouchVector<double> &to, const Point<3> &x) {
      for (unsigned int d = 0; d < 3; ++d)
        to.push_back(x[d]);
    };
    const auto vertex = [](const FirstTouchVector<double> &x,
                           const unsigned int              v) {
      return Point<3>(x[3 * v], x[3 * v + 1], x[3 * v + 2]);
    };
    for (unsigned int s = 0; s < from.n_subcells(); ++s)
      {
        Assert(from.subcell_type[s] == SubCellType::prism, ExcInternalError());
        Point<3> v[6];
        for (unsigned int i = 0; i < 3; ++i)
          {
            v[i] =
              vertex(from.subcell_vertices, from.subcell_vertex_offset[s] + i);
            v[3 + i] = v[i] + (vertex(from.subcell_vertices,
                                      from.subcell_vertex_offset[s] + 3) -
                               v[0]);
          }
        for (unsigned int i = 0; i < 3; ++i)
          {
            for (unsigned int j = 0; j < 4; ++j)
              add(mesh.subcell_vertices, v[i + j]);
            mesh.subcell_type.push_back(SubCellType::simplex);
            mesh.subcell_vertex_offset.push_back(
              mesh.subcell_vertex_offset.back() + 4);
            mesh.subcell_cell.push_back(from.subcell_cell[s]);
            mesh.subcell_material.push_back(from.subcell_material[s]);
          }
      }
    mesh.facet_type.clear();
    mesh.facet_vertex_offset.assign(1, 0);
    mesh.facet_vertices.clear();
    mesh.facet_normal.clear();
    mesh.facet_measure.clear();
    mesh.facet_subcell.clear();
    dofs.penalty_factor.clear();
    for (unsigned int i = 0; i < from.n_interfaces(); ++i)
      {
        for (unsigned int f = from.facet_offset[i];
             f < from.facet_offset[i + 1];
             ++f)
          {
            Point<3> v[4];
            for (unsigned int j = 0; j < 3; ++j)
              v[j] =
                vertex(from.facet_vertices, from.facet_vertex_offset[f] + j);
            v[3]             = v[1] + (v[2] - v[0]);
            const bool prism = from.facet_type[f] == FacetType::prism;
            for (unsigned int part = 0; part < (prism ? 2 : 1); ++part)
              {
                const unsigned int order[2][3] = {{0, 1, 2}, {1, 3, 2}};
                for (unsigned int j = 0; j < 3; ++j)
                  add(mesh.facet_vertices, v[order[part][j]]);
                mesh.facet_type.push_back(FacetType::simplex);
                mesh.facet_vertex_offset.push_back(
                  mesh.facet_vertex_offset.back() + 3);
                for (unsigned int d = 0; d < 3; ++d)
                  mesh.facet_normal.push_back(from.facet_normal[3 * f + d]);
                mesh.facet_measure.push_back(from.facet_measure[f] /
                                             (prism ? 2. : 1.));
                for (unsigned int side = 0; side < 2; ++side)
                  {
                    const unsigned int s = from.facet_subcell[2 * f + side];
                    mesh.facet_subcell.push_back(s == invalid_index ? s
                                                                    : 3 * s);
                    dofs.penalty_factor.push_back(
                      from_dofs.penalty_factor[2 * f + side]);
                  }
              }
          }
        mesh.facet_offset[i + 1] = mesh.facet_type.size();
      }
  }

  const Tessella::PolytopicMesh<3> &
  polytopic_mesh() const override
  {
    return mesh;
  }
  const Tessella::PolytopicDoFs &
  polytopic_dofs() const override
  {
    return dofs;
  }
  PolynomialSpaceType
  polynomial_space() const override
  {
    return slab.polynomial_space();
  }
  MPI_Comm
  get_communicator() const override
  {
    return slab.get_communicator();
  }
  types::global_dof_index
  n_dofs() const override
  {
    return slab.n_dofs();
  }
  unsigned int
  n_polytopes() const override
  {
    return slab.n_polytopes();
  }
  unsigned int
  n_components() const override
  {
    return 1;
  }
  unsigned int
  max_degree() const override
  {
    return slab.max_degree();
  }
  unsigned int
  max_dofs_per_polytope() const override
  {
    return slab.max_dofs_per_polytope();
  }
  IndexSet
  locally_owned_dofs() const override
  {
    return slab.locally_owned_dofs();
  }
  void
  tabulate(const unsigned int) const override
  {}
  void
  fill_penalty_factors(const Tessella::PenaltyFormula) const override
  {}

private:
  const Tessella::SpaceTimeSlab<2> &slab;
  Tessella::PolytopicMesh<3>        mesh;
  Tessella::PolytopicDoFs           dofs;
};

void
compare_with_tetrahedra()
{
  Triangulation<2> triangulation;
  make_mesh("simplices", triangulation);
  for (const PolynomialSpaceType space :
       {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
    for (unsigned int p = 1; p <= 3; ++p)
      {
        Tessella::AgglomerationHandler<2> handler(triangulation);
        handler.agglomerate(scattered<2>(4));
        handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(p));
        Tessella::SpaceTimeSlab<2> slab(handler, space);
        slab.reinit(0.5, 0.7, mixed_intervals(handler.n_polytopes()));
        const SplitSlab split(slab);

        Tessella::SpaceTimeForm<2> form;
        PolynomialProblem<2>(p, false).set(form, false);
        // The penalty depends on the largest value at quadrature points, and
        // where w.n changes its sign no rule is exact.
        form.set_diffusion(Tensor<2, 2>({{1., 0.2}, {0.2, 0.5}}));
        form.set_advection(Tensor<1, 2>({1., -0.4}));
        form.set_coefficient_order(2 * p + 3);
        form.set_start(slab.start());
        SparsityPattern                          patterns[2];
        SparseMatrix<double>                     matrices[2];
        Vector<double>                           rhs[2];
        const Tessella::PolytopicSpace<3> *const spaces[2] = {&slab, &split};
        for (unsigned int i = 0; i < 2; ++i)
          {
            Tessella::PolytopicAssembler<3>::AdditionalData data;
            data.backend = Tessella::Backend::host;
            Tessella::PolytopicAssembler<3> assembler(*spaces[i], data);
            assembler.reinit(patterns[i], matrices[i], rhs[i]);
            assembler.assemble(form, matrices[i], rhs[i]);
          }
        rhs[1] -= rhs[0];
        double difference = 0., largest = 0.;
        for (const auto &entry : matrices[0])
          {
            largest = std::max(largest, std::abs(entry.value()));
            difference =
              std::max(difference,
                       std::abs(entry.value() -
                                matrices[1](entry.row(), entry.column())));
          }
        const std::string name =
          (space == PolynomialSpaceType::prismatic ? "PQ" : "P") +
          std::to_string(p);
        check_below(name + " matrix of prisms and of tetrahedra",
                    difference,
                    1e-12 * largest);
        check_below(name + " right-hand side",
                    rhs[1].linfty_norm(),
                    1e-12 * rhs[0].linfty_norm());
      }
}

// Treats a function with a time of its own as a function of three variables.
void
wrap_function()
{
  const auto u = [](const Point<3> &x) {
    return x[0] + 10. * x[1] * x[2] - x[2] * x[2];
  };
  const Tessella::TimeDependentFunction<2> function(
    std::make_shared<AtTime<2>>(u));
  const std::vector<Point<3>> points = {Point<3>(0.1, 0.2, 0.3),
                                        Point<3>(0.5, 0.1, 0.3),
                                        Point<3>(0.4, 0.7, 0.9)};
  std::vector<double>         values(points.size());
  function.value_list(points, values);
  for (unsigned int q = 0; q < points.size(); ++q)
    {
      check_close("list", values[q], u(points[q]), 1e-14);
      check_close("value", function.value(points[q]), u(points[q]), 1e-14);
    }
}

void
reject_bad_input()
{
  Triangulation<2> triangulation;
  make_mesh("box", triangulation);
  Tessella::AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(scattered<2>(3));
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(1));
  Tessella::SpaceTimeSlab<2> slab(handler);
  check_throws<ExceptionBase>(
    "length zero", [&]() { slab.reinit(0., 0.); }, "positive number");
  check_throws<ExceptionBase>(
    "negative length", [&]() { slab.reinit(0., -1.); }, "positive number");
  check_throws<ExceptionBase>(
    "no interval",
    [&]() {
      slab.reinit(0., 1., {1, 0, 2});
    },
    "Polytope 1 has no time interval");
  check_throws<ExceptionBase>(
    "too few numbers", [&]() { slab.reinit(0., 1., {1}); }, "has 3");
  check_throws<ExceptionBase>(
    "full tensor products",
    [&]() {
      Tessella::SpaceTimeSlab<2>(handler, PolynomialSpaceType::tensor_product);
    },
    "total degree");

  Tessella::SpaceTimeForm<2> form;
  form.set_diffusion(1.);
  bool                           fail = false;
  Tessella::SpaceTimeStepping<2> stepping(
    handler,
    form,
    [&](const TrilinosWrappers::SparseMatrix &matrix,
        TrilinosWrappers::MPI::Vector        &solution,
        const TrilinosWrappers::MPI::Vector  &rhs,
        const bool                            changed) {
      AssertThrow(!fail, ExcMessage("no convergence"));
      solve_directly(matrix, solution, rhs, changed);
    });
  Vector<double> value(handler.n_dofs());
  // One entry only, since deal.II refuses to fill a vector with NaN in Debug
  // mode.
  value(0) = std::numeric_limits<double>::quiet_NaN();
  check_throws<ExceptionBase>(
    "initial value", [&]() { stepping.initialize(0., value); }, "not finite");
  value = 1.;
  stepping.initialize(0., value);
  stepping.step(0.5);
  const TrilinosWrappers::MPI::Vector good = stepping.value();
  fail                                     = true;
  check_throws<Tessella::ExcSlabNotSolved>(
    "solver that fails",
    [&]() { stepping.step(0.25); },
    "slab 2, from t = 0.5 to 0.75, was not solved");
  check("state is kept", stepping.time() == 0.5 && stepping.value() == good);
  fail = false;
  stepping.step(0.25);
  check("and the step can be done again", stepping.time() == 0.75);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  wrap_function();
  compare_with_tetrahedra();
  reproduce_polynomials<2>(
    {"box", "distorted", "simplices", "hanging", "curved"}, {1, 2, 0});
  compare_slabs<2>(2);
  check_cell_values<2>();
  for (unsigned int p = 1; p <= 2; ++p)
    for (const PolynomialSpaceType space :
         {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
      {
        const std::vector<unsigned int> sizes =
          p == 1 ? std::vector<unsigned int>{12, 24}
                 : std::vector<unsigned int>{4, 8};
#ifdef DEBUG
        // One case for each p, with and without local time stepping, since each
        // needs a minute in Debug mode.
        if ((p == 1) != (space == PolynomialSpaceType::total_degree))
          continue;
#endif
        converge<2>(space, p, sizes, false, argc > 1);
        converge<2>(space, p, sizes, true, argc > 1);
      }
  reject_bad_input();
}
