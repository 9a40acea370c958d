// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Products of MatrixFreeOperator against the assembled matrix, on the host:
// cells, polytopes, degrees, coefficients, boundary conditions, slabs; solvers
// and multigrid without a matrix on the finest level; errors.

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/tensor_function.h>

#include <deal.II/grid/manifold_lib.h>
#include <deal.II/hp/fe_collection.h>
#include <deal.II/lac/solver_cg.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/lusgs.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/operators/matrix_free_operator.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>

#include "../messages.h"
#include "../mpi/cases.h"
#include "../tests.h"

using Matrix = HostBlockMatrix<double>;

namespace
{
  template <int dim>
  class VariableTensor : public TensorFunction<2, dim>
  {
  public:
    Tensor<2, dim>
    value(const Point<dim> &p) const override
    {
      Tensor<2, dim> a;
      for (unsigned int d = 0; d < dim; ++d)
        a[d][d] = 1. + d + 0.5 * std::sin(p[0] + 2. * p[dim - 1]);
      a[0][1] = a[1][0] = 0.3 * std::cos(p[0] * p[1]);
      return a;
    }
  };

  template <int dim>
  class VariableVector : public TensorFunction<1, dim>
  {
  public:
    Tensor<1, dim>
    value(const Point<dim> &p) const override
    {
      Tensor<1, dim> b;
      for (unsigned int d = 0; d < dim; ++d)
        b[d] = std::sin(3. * p[(d + 1) % dim] + d);
      return b;
    }
  };

  // A user's form: coefficients of both kinds in the volume and on facets, none
  // of which follow from others.
  template <int dim>
  class OwnForm : public Form<dim>
  {
  public:
    VolumeStructure
    volume_structure() const override
    {
      VolumeStructure s;
      s.diffusion = DiffusionType::tensor;
      s.beta = s.b = s.c = true;
      return s;
    }
    FacetStructure
    facet_structure() const override
    {
      FacetStructure s;
      s.rhs = false;
      return s;
    }
    void
    evaluate_diffusion(const PointBatch<dim> &p,
                       double *const         *a) const override
    {
      for (unsigned int q = 0; q < p.n_points; ++q)
        for (unsigned int i = 0; i < dim * dim; ++i)
          a[i][q] = (i % (dim + 1) == 0 ? 2. : 0.) + 0.1 * i * p.x[0][q];
    }
    void
    evaluate_volume(const PointBatch<dim> &p,
                    VolumeBlocks<dim>     &blocks) const override
    {
      if (blocks.a[0] != nullptr)
        evaluate_diffusion(p, blocks.a);
      for (unsigned int q = 0; q < p.n_points; ++q)
        {
          for (unsigned int d = 0; d < dim; ++d)
            {
              if (blocks.beta[d] != nullptr)
                blocks.beta[d][q] = p.x[d][q] + 0.3;
              if (blocks.b[d] != nullptr)
                blocks.b[d][q] = 1. - p.x[0][q] * d;
            }
          if (blocks.c != nullptr)
            blocks.c[q] = 2. + p.x[1][q];
        }
    }
    void
    evaluate(const FacetPointBatch<dim> &p,
             FacetBlocks<dim>           &blocks,
             const unsigned int          n_sides) const
    {
      for (unsigned int q = 0; q < p.n_points; ++q)
        for (unsigned int t = 0; t < n_sides; ++t)
          {
            for (unsigned int d = 0; d < dim; ++d)
              {
                blocks.b[t][d][q]    = p.normal[d][q] * (1. + t) + p.x[0][q];
                blocks.beta[t][d][q] = p.normal[0][q] + 0.2 * d - t;
              }
            blocks.c[t][q] = p.sigma[q] + p.normal[1][q] - 2. * t;
          }
    }
    void
    evaluate_interior_facets(const FacetPointBatch<dim> &p,
                             FacetBlocks<dim>           &blocks) const override
    {
      evaluate(p, blocks, 2);
    }
    void
    evaluate_boundary_facets(const FacetPointBatch<dim> &p,
                             FacetBlocks<dim>           &blocks) const override
    {
      evaluate(p, blocks, 1);
    }
  };

  Vector<double>
  some_vector(const unsigned int n, const double seed)
  {
    Vector<double> x(n);
    for (unsigned int i = 0; i < n; ++i)
      x(i) = std::sin(seed + 12.9898 * i);
    return x;
  }

  // Largest |y_i - z_i| relative to the largest entry of |A| |x| in the block
  // row of i.
  template <int dim>
  double
  error(const PolytopicSpace<dim> &space,
        const Vector<double>      &y,
        const Vector<double>      &z,
        const Vector<double>      &size)
  {
    const auto &offset = space.polytopic_dofs().dof_offset;
    double      result = 0.;
    for (unsigned int k = 0; k + 1 < offset.size(); ++k)
      {
        double difference = 0., largest = 0.;
        for (auto i = offset[k]; i < offset[k + 1]; ++i)
          {
            difference = std::max(difference, std::abs(y(i) - z(i)));
            largest    = std::max(largest, size(i));
            if (!std::isfinite(y(i)))
              return 1.;
          }
        result = std::max(result, difference / largest);
      }
    return result;
  }

  template <int dim>
  void
  check(const std::string         &text,
        const PolytopicSpace<dim> &space,
        const Form<dim>           &form,
        const InstructionSet       set = InstructionSet::automatic)
  {
    typename PolytopicAssembler<dim>::AdditionalData data;
    data.backend         = Backend::host;
    data.instruction_set = set;
    Matrix                  A, absolute;
    PolytopicAssembler<dim> assembler(space, data);
    assembler.reinit(A);
    assembler.reinit(absolute);
    assembler.assemble_matrix(form, A);
    std::vector<double> values, blocks;
    A.copy_to(values);
    for (double &value : values)
      value = std::abs(value);
    absolute.copy_from(values);
    MatrixFreeOperator<dim> op;
    op.initialize(space, form, data);

    const unsigned int n = A.m();
    const auto         x = some_vector(n, 1.), b = some_vector(n, 2.);
    Vector<double>     size(n), y(n), z(n), magnitude(x);
    for (double &value : magnitude)
      value = std::abs(value);
    double worst = op.m() == n && op.n() == n ? 0. : 1.;
    for (const bool transpose : {false, true})
      {
        transpose ? absolute.Tvmult(size, magnitude)
                  : absolute.vmult(size, magnitude);
        for (double &value : size)
          value += 1.;
        transpose ? A.Tvmult(z, x) : A.vmult(z, x);
        transpose ? op.Tvmult(y, x) : op.vmult(y, x);
        worst = std::max(worst, error(space, y, z, size));
        y     = b;
        z += b;
        transpose ? op.Tvmult_add(y, x) : op.vmult_add(y, x);
        worst = std::max(worst, error(space, y, z, size));
        A.subtract_product(z, x, b, transpose);
        op.subtract_product(y, x, b, transpose);
        worst = std::max(worst, error(space, y, z, size));
      }
    op.diagonal_blocks(blocks);
    std::size_t next     = 0;
    bool        same     = true;
    const auto &sparsity = A.block_sparsity();
    for (unsigned int k = 0; k < sparsity.row_width.size(); ++k)
      {
        const auto    place = sparsity.find_block(k, k);
        const auto    N     = A.dof_offset()[k + 1] - A.dof_offset()[k];
        const double *from =
          A.values() + sparsity.value_offset[k] + sparsity.column_offset[place];
        for (unsigned int i = 0; i < N; ++i)
          for (unsigned int j = 0; j < N; ++j)
            same =
              same && blocks[next++] == from[i * sparsity.row_width[k] + j];
      }
    if (worst < 1e-13 && same && next == blocks.size())
      deallog << text << ": ok" << std::endl;
    else
      deallog << text << ": error " << worst << ", blocks " << same
              << std::endl;
  }

  template <int dim>
  void
  set_variable(AdvectionDiffusionReaction<dim> &form)
  {
    form.set_diffusion(std::make_shared<VariableTensor<dim>>());
    form.set_advection(std::make_shared<VariableVector<dim>>());
    form.set_reaction(parse<dim>("1 + x*y"));
  }

  template <int dim>
  void
  test_cells()
  {
    const std::string               prefix = std::to_string(dim) + "-D ";
    AdvectionDiffusionReaction<dim> constant, variable, cellwise;
    Tensor<1, dim>                  b;
    b[0] = 0.7;
    b[1] = -0.4;
    constant.set_diffusion(1.3);
    constant.set_advection(b);
    constant.set_reaction(0.8);
    set_variable(variable);
    const OwnForm<dim> own;

    Triangulation<dim> simplices, boxes, curved;
    GridGenerator::subdivided_hyper_cube_with_simplices(simplices,
                                                        dim == 2 ? 3 : 1);
    for (unsigned int p = 0; p <= (dim == 2 ? 7 : 7); ++p)
      {
        AgglomerationHandler<dim> handler(simplices);
        handler.agglomerate(Agglomeration::none<dim>());
        handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
        const std::string name = prefix + "simplices, p = " + std::to_string(p);
        check(name + ", constant", handler, constant);
        if (p == 2 || p == 5)
          {
            check(name + ", variable", handler, variable);
            check(name + ", user's form", handler, own);
            check(name + ", plain", handler, own, InstructionSet::plain);
            check(name + ", mass", handler, MassForm<dim>(2.));
          }
      }

    make_periodic(boxes, 1, dim == 2 ? 3 : 2);
    for (const bool hp : {false, true})
      {
        AgglomerationHandler<dim> handler(boxes);
        handler.agglomerate(Agglomeration::rtree_parts<dim>(dim == 2 ? 17 : 9));
        distribute_degrees(handler, hp);
        const std::string name =
          prefix + "periodic polytopes with hanging nodes" + (hp ? ", hp" : "");
        check(name + ", constant", handler, constant);
        check(name + ", user's form", handler, own);
        if (!hp)
          continue;
        for (const double theta : {1., 0., -1.})
          {
            variable.set_theta(theta);
            check(name + ", variable", handler, variable);
          }
        variable.set_theta(1.);
      }
    {
      AgglomerationHandler<dim> handler(boxes);
      handler.agglomerate(Agglomeration::rtree_parts<dim>(7));
      handler.distribute_dofs(
        FE_BoundingBoxLegendre<dim>(2, PolynomialSpaceType::tensor_product));
      check(prefix + "tensor products", handler, variable);
    }

    GridGenerator::hyper_ball(curved);
    curved.refine_global(dim == 2 ? 1 : 0);
    const MappingQ<dim>       mapping(3);
    AgglomerationHandler<dim> handler(curved, &mapping);
    handler.agglomerate(Agglomeration::rtree_parts<dim>(4));
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(3));
    BoundaryCondition<dim> robin;
    robin.type              = BoundaryType::robin;
    robin.robin_coefficient = parse<dim>("2 + x");
    cellwise.set_diffusion(parse<dim>("1 + x^2"));
    cellwise.set_reaction(1.);
    cellwise.set_default_boundary_condition(robin);
    check(prefix + "curved, Robin", handler, cellwise);
  }

  void
  test_slab()
  {
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 3);
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(Agglomeration::rtree_parts<2>(4));
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
    SpaceTimeSlab<2> slab(handler);
    slab.reinit(0.5, 0.7);
    SpaceTimeForm<2> form;
    form.set_diffusion(1.);
    form.set_advection(Tensor<1, 2>({1., -0.4}));
    form.set_start(slab.start());
    check("slab", static_cast<const PolytopicSpace<3> &>(slab), form);
  }

  // CG with multigrid whose finest level has no matrix, and with a matrix.
  template <int dim>
  void
  test_solvers()
  {
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                        dim == 2 ? 10 : 3);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(Agglomeration::none<dim>());
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
    AdvectionDiffusionReaction<dim> form;
    form.set_diffusion(1.);
    form.set_source(1.);
    typename PolytopicAssembler<dim>::AdditionalData data;
    data.backend = Backend::host;
    Matrix                  A;
    Vector<double>          rhs;
    PolytopicAssembler<dim> assembler(handler, data);
    assembler.reinit(A, rhs);
    assembler.assemble(form, A, rhs);
    MatrixFreeOperator<dim> op;
    op.initialize(handler, form);

    const MultigridHierarchy hierarchy(
      handler, NestedAgglomeration::rtree(handler, 0, 8));
    const auto coarse = [&]() {
      return assemble_coarse_operators<Matrix>(handler, hierarchy, form, data);
    };
    Multigrid<Matrix> with, without;
    with.initialize(A, coarse(), hierarchy);
    without.initialize(op.block_diagonal(), coarse(), hierarchy);
    BlockChebyshev<Matrix> chebyshev;
    chebyshev.initialize(op.block_diagonal());
    const auto solve =
      [&](const auto &matrix, const auto &preconditioner, Vector<double> &x) {
        SolverControl control(500, 1e-10 * rhs.l2_norm(), false, false);
        x.reinit(rhs.size());
        SolverCG<Vector<double>>(control).solve(matrix, x, rhs, preconditioner);
        return control.last_step();
      };
    Vector<double>     x, y;
    const unsigned int n = solve(A, with, x), m = solve(op, without, y);
    y -= x;
    const bool good = n == m && y.l2_norm() < 1e-8 * x.l2_norm();
    deallog << dim << "-D multigrid: "
            << (good
                  ? "ok"
                  : std::to_string(n) + " and " + std::to_string(m) +
                      " iterations, difference " + std::to_string(y.l2_norm()))
            << std::endl;
    deallog << dim << "-D residual: "
            << (op.residual(y, x, rhs) < 1e-8 * rhs.l2_norm() ? "ok" : "large")
            << std::endl;
    solve(op, chebyshev, y);
    y -= x;
    deallog << dim << "-D Chebyshev: "
            << (y.l2_norm() < 1e-7 * x.l2_norm() ? "ok" : "error") << std::endl;

    Vector<double> one(rhs.size()), two(rhs.size());
    const auto     threads = MultithreadInfo::n_threads();
    op.vmult(two, x);
    MultithreadInfo::set_thread_limit(1);
    op.vmult(one, x);
    MultithreadInfo::set_thread_limit(threads);
    deallog << dim << "-D threads: " << (one == two ? "ok" : "other bits")
            << std::endl;
    if (dim == 3)
      deallog << "memory: "
              << (op.report().table_memory < A.memory_consumption() / 10
                    ? "ok"
                    : std::to_string(op.report().table_memory) + " of " +
                        std::to_string(A.memory_consumption()))
              << std::endl;
  }

  void
  test_errors()
  {
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 4);
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(Agglomeration::none<2>());
    MatrixFreeOperator<2>         op;
    AdvectionDiffusionReaction<2> form;
    form.set_diffusion(1.);
    Vector<double> x(48), y(48);
    const auto     report = [](const std::string &part, const auto &function) {
      const std::string message = message_of(function);
      deallog << part << ": "
              << (contains(message, part) ? std::string("ok") : message)
              << std::endl;
    };
    report("needs degrees of freedom", [&]() { op.initialize(handler, form); });
    report("Call initialize()", [&]() { op.vmult(x, y); });
    handler.distribute_dofs(FESystem<2>(FE_BoundingBoxLegendre<2>(1), 2));
    report("take a SystemForm", [&]() { op.initialize(handler, form); });
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
    typename MatrixFreeOperator<2>::AdditionalData data;
    data.backend = Backend::cuda;
    report("products on the host: choose",
           [&]() { op.initialize(handler, form, data); });
    data.backend = Backend::host;
    MatrixFreeOperator<2, DeviceBlockMatrix<double>> on_device;
    report("products on a CUDA device: choose",
           [&]() { on_device.initialize(handler, form, data); });
    op.initialize(handler, form);
    x.reinit(47);
    report("Dimension 47 not equal to 48", [&]() { op.vmult(y, x); });
    report("must be different vectors", [&]() { op.vmult(y, y); });
    BlockGaussSeidel<Matrix> sweeps;
    report("BlockGaussSeidel needs all blocks",
           [&]() { sweeps.initialize(op.block_diagonal()); });
    LUSGS<Matrix> lusgs;
    report("LUSGS needs all blocks",
           [&]() { lusgs.initialize(op.block_diagonal()); });
    BlockILU0<Matrix> ilu;
    report("BlockILU0 needs all blocks",
           [&]() { ilu.initialize(op.block_diagonal()); });
    const MultigridHierarchy hierarchy(
      handler, NestedAgglomeration::rtree(handler, 0, 2));
    Multigrid<Matrix>        multigrid;
    const MultigridHierarchy one_level(handler, {});
    report("The coarsest level of Multigrid needs all blocks", [&]() {
      multigrid.initialize(op.block_diagonal(),
                           std::vector<Matrix>(),
                           one_level);
    });
    report("Galerkin operator of Multigrid needs all blocks",
           [&]() { multigrid.initialize(op.block_diagonal(), hierarchy); });
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
    report("call initialize() of the MatrixFreeOperator again",
           [&]() { op.vmult(y, x); });
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test_cells<2>();
  test_cells<3>();
  test_slab();
  test_solvers<2>();
  test_solvers<3>();
  test_errors();
}
