// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_matrix_free_cases_h
#define tessella_tests_operators_matrix_free_cases_h

// Meshes, spaces and forms on which products of MatrixFreeOperator are compared
// with those of the matrix that the host assembles.

#include <deal.II/base/tensor_function.h>

#include <deal.II/grid/manifold_lib.h>
#include <deal.II/hp/fe_collection.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/operators/matrix_free_operator.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>

#include <functional>

#include "../mpi/cases.h"
#include "../tests.h"

namespace MatrixFreeTest
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

  // A system of m components whose pairs have forms of several kinds: diffusion
  // with advection on the diagonal, and beside it a form of a user, a reaction
  // without terms on facets, advection, or no form at all.
  template <int dim>
  class SomeSystem : public SystemForm<dim>
  {
  public:
    explicit SomeSystem(const unsigned int m)
      : m(m)
    {
      variable.set_diffusion(std::make_shared<VariableTensor<dim>>());
      variable.set_advection(std::make_shared<VariableVector<dim>>());
      constant.set_diffusion(1.3);
      constant.set_reaction(0.4);
      reaction.set_reaction(1.5);
      Tensor<1, dim> b;
      b[0] = 0.7;
      b[1] = -0.4;
      advection.set_advection(b);
      // That of the user's form: all have the same points.
      for (auto *form : {&variable, &constant, &reaction, &advection})
        form->set_coefficient_order(own.coefficient_order());
    }
    unsigned int
    n_test_components() const override
    {
      return m;
    }
    const Form<dim> *
    form(const unsigned int i, const unsigned int j) const override
    {
      const Form<dim> *const forms[] = {
        &own, &reaction, &advection, nullptr, &own};
      return i != j       ? forms[(2 * i + j) % 5]
             : i % 2 == 0 ? &variable
                          : &constant;
    }

  private:
    const unsigned int              m;
    OwnForm<dim>                    own;
    AdvectionDiffusionReaction<dim> variable, constant, reaction, advection;
  };

  inline Vector<double>
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
  set_variable(AdvectionDiffusionReaction<dim> &form)
  {
    form.set_diffusion(std::make_shared<VariableTensor<dim>>());
    form.set_advection(std::make_shared<VariableVector<dim>>());
    form.set_reaction(parse<dim>("1 + x*y"));
  }

  inline void
  copy(const Vector<double> &from, Vector<double> &to)
  {
    to = from;
  }
  inline void
  copy(const DeviceVector<double> &from, Vector<double> &to)
  {
    from.copy_to(to);
  }

  template <typename MatrixType>
  class Cases
  {
  public:
    /// Gets the name of each case, whether it is right, and details if not.
    using Report =
      std::function<void(const std::string &, const bool, const std::string &)>;

    explicit Cases(const Report &report)
      : report(report)
    {}

    template <int dim>
    void
    test_cells() const;

    template <int dim>
    void
    test_slab() const;

    /// Systems of 1 to 5 components, on the host.
    template <int dim>
    void
    test_systems() const;

  private:
    /// FormType: Form<dim> or SystemForm<dim>.
    template <int dim, typename FormType>
    void
    check(const std::string         &name,
          const PolytopicSpace<dim> &space,
          const FormType            &form,
          const InstructionSet       set = InstructionSet::automatic) const;

    const Report report;
  };

  template <typename MatrixType>
  template <int dim, typename FormType>
  void
  Cases<MatrixType>::check(const std::string         &name,
                           const PolytopicSpace<dim> &space,
                           const FormType            &form,
                           const InstructionSet       set) const
  {
    using Operator = MatrixFreeOperator<dim, MatrixType>;
    constexpr bool on_device =
      std::is_same<MatrixType, DeviceBlockMatrix<double>>::value;
    typename PolytopicAssembler<dim>::AdditionalData data;
    data.backend         = Backend::host;
    data.instruction_set = set;
    HostBlockMatrix<double> A, absolute;
    PolytopicAssembler<dim> assembler(space, data);
    assembler.reinit(A);
    assembler.reinit(absolute);
    assembler.assemble_matrix(form, A);
    std::vector<double> values, blocks;
    A.copy_to(values);
    for (double &value : values)
      value = std::abs(value);
    absolute.copy_from(values);
    Operator op;
    if (on_device)
      data.backend = Backend::cuda;
    op.initialize(space, form, data);

    const unsigned int n = A.m();
    const auto         x = some_vector(n, 1.), b = some_vector(n, 2.);
    Vector<double>     size(n), y(n), z(n), magnitude(x);
    for (double &value : magnitude)
      value = std::abs(value);
    const typename Operator::vector_type X(x), B(b);
    typename Operator::vector_type       Y(x);
    // Compares Y with z.
    const auto compare = [&]() {
      copy(Y, y);
      return error(space, y, z, size);
    };
    double worst = op.m() == n && op.n() == n ? 0. : 1.;
    for (const bool transpose : {false, true})
      {
        transpose ? absolute.Tvmult(size, magnitude)
                  : absolute.vmult(size, magnitude);
        for (double &value : size)
          value += 1.;
        transpose ? A.Tvmult(z, x) : A.vmult(z, x);
        transpose ? op.Tvmult(Y, X) : op.vmult(Y, X);
        worst = std::max(worst, compare());
        // The same bits in each run.
        const Vector<double> first(y);
        transpose ? op.Tvmult(Y, X) : op.vmult(Y, X);
        copy(Y, y);
        if (!(y == first))
          worst = 1.;
        Y = B;
        z += b;
        transpose ? op.Tvmult_add(Y, X) : op.vmult_add(Y, X);
        worst = std::max(worst, compare());
        A.subtract_product(z, x, b, transpose);
        op.subtract_product(Y, X, B, transpose);
        worst = std::max(worst, compare());
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
    std::ostringstream text;
    text << "error " << worst << ", blocks " << same;
    report(name, worst < 1e-13 && same && next == blocks.size(), text.str());
  }

  template <typename MatrixType>
  template <int dim>
  void
  Cases<MatrixType>::test_cells() const
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
    for (unsigned int p = 1; p <= (dim == 2 ? 5 : 4); ++p)
      {
        AgglomerationHandler<dim> handler(boxes);
        handler.agglomerate(Agglomeration::rtree_parts<dim>(p == 2 ? 7 : 3));
        handler.distribute_dofs(
          FE_BoundingBoxLegendre<dim>(p, PolynomialSpaceType::tensor_product));
        check(prefix + "tensor products, p = " + std::to_string(p),
              handler,
              variable);
      }
    for (unsigned int p = 1; p <= 6; ++p)
      {
        AgglomerationHandler<dim> handler(simplices);
        handler.agglomerate(Agglomeration::rtree_parts<dim>(3));
        handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
        check(prefix + "agglomerates, p = " + std::to_string(p), handler, own);
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

  template <typename MatrixType>
  template <int dim>
  void
  Cases<MatrixType>::test_slab() const
  {
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, dim == 2 ? 3 : 2);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(Agglomeration::rtree_parts<dim>(4));
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
    SpaceTimeSlab<dim> slab(handler);
    slab.reinit(0.5, 0.7);
    SpaceTimeForm<dim> form;
    form.set_diffusion(1.);
    Tensor<1, dim> b;
    b[0] = 1.;
    b[1] = -0.4;
    form.set_advection(b);
    form.set_start(slab.start());
    check(std::to_string(dim) + "-D slab",
          static_cast<const PolytopicSpace<dim + 1> &>(slab),
          form);
  }

  template <typename MatrixType>
  template <int dim>
  void
  Cases<MatrixType>::test_systems() const
  {
    const std::string  prefix = std::to_string(dim) + "-D system, ";
    Triangulation<dim> simplices, boxes, curved;
    GridGenerator::subdivided_hyper_cube_with_simplices(simplices,
                                                        dim == 2 ? 3 : 1);
    make_periodic(boxes, 1, dim == 2 ? 3 : 2);
    GridGenerator::hyper_ball(curved);
    const MappingQ<dim> mapping(3);
    for (unsigned int m = 1; m <= 5; ++m)
      {
        const SomeSystem<dim> system(m);
        const std::string     of_m = ", m = " + std::to_string(m);
        {
          AgglomerationHandler<dim> handler(simplices);
          handler.agglomerate(Agglomeration::rtree_parts<dim>(m == 2 ? 3 : 5));
          handler.distribute_dofs(
            FESystem<dim>(FE_BoundingBoxLegendre<dim>(6 - m), m));
          check<dim, SystemForm<dim>>(prefix + "simplices" + of_m,
                                      handler,
                                      system);
        }
        {
          AgglomerationHandler<dim> handler(boxes);
          handler.agglomerate(
            Agglomeration::rtree_parts<dim>(dim == 2 ? 17 : 9));
          hp::FECollection<dim>     elements;
          std::vector<unsigned int> indices(handler.n_polytopes());
          for (unsigned int p = 1; p <= 3; ++p)
            elements.push_back(
              FESystem<dim>(FE_BoundingBoxLegendre<dim>(p), m));
          for (unsigned int k = 0; k < indices.size(); ++k)
            indices[k] = (k * k + m) % 3;
          handler.distribute_dofs(elements, indices);
          check<dim, SystemForm<dim>>(
            prefix + "periodic polytopes with hanging nodes, hp" + of_m,
            handler,
            system);
        }
        if (m == 2 || m == 3)
          {
            AgglomerationHandler<dim> handler(curved, &mapping);
            handler.agglomerate(Agglomeration::rtree_parts<dim>(3));
            handler.distribute_dofs(
              FESystem<dim>(FE_BoundingBoxLegendre<dim>(2), m));
            check<dim, SystemForm<dim>>(prefix + "curved" + of_m,
                                        handler,
                                        system);
          }
      }
  }
} // namespace MatrixFreeTest

#endif
