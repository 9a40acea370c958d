// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares space-time slabs on a device to the host backend: every entry of
// matrix and right-hand side, on all kinds of meshes, for both spaces, with
// local time stepping, constant and variable coefficients, functors, code,
// values per material and per cell; coefficients that do not depend on time,
// for which the device needs matrices in space only; the same bits in every run
// and in parts; the inflow of a solution that stays on the device. Argument:
// 2d, 3d (space dimension), or text (of code that is compiled; needs no
// device). Returns 77 without a device, 1 if a check fails.

#include <tessella/forms/device_function.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "../space_time/problems.h"
#include "slab_functor.h"

namespace
{
  unsigned int n_checks = 0, n_failures = 0;

  void
  verify(const std::string &name, const double difference, const double bound)
  {
    ++n_checks;
    if (difference <= bound)
      return;
    ++n_failures;
    std::cout << name << ": FAILED, " << difference << " > " << bound
              << std::endl;
  }

  template <int dim>
  struct System
  {
    using Assembler = Tessella::PolytopicAssembler<dim + 1>;
    SparsityPattern      pattern;
    SparseMatrix<double> matrix;
    Vector<double>       rhs;
    std::string          coefficients, kernel;
    unsigned int         n_parts = 1;

    System() = default;

    System(const Tessella::SpaceTimeSlab<dim> &slab,
           const Tessella::Form<dim + 1>      &form,
           const Tessella::Backend             backend,
           const std::size_t                   memory = 0)
    {
      typename Assembler::AdditionalData data;
      data.backend       = backend;
      data.device_memory = memory;
      Assembler assembler(slab, data);
      assembler.reinit(pattern, matrix, rhs);
      assembler.assemble(form, matrix, rhs);
      coefficients = assembler.report().coefficients;
      kernel       = assembler.report().device_kernels;
      n_parts      = assembler.report().n_parts;
    }

    // Whether the rows are assembled from matrices in space.
    bool
    from_space() const
    {
      return kernel.find("matrices in space") != std::string::npos;
    }

    // Whether some rows are, and others by another kernel.
    bool
    some_rows() const
    {
      return kernel.find("rows by: ") != std::string::npos;
    }

    bool
    operator==(const System &other) const
    {
      for (auto entry = matrix.begin(), same = other.matrix.begin();
           entry != matrix.end();
           ++entry, ++same)
        if (!(entry->value() == same->value()))
          return false;
      return rhs == other.rhs;
    }
  };

  // Largest difference of rows relative to the largest entry of their block
  // row.
  template <int dim>
  void
  compare(const std::string                  &name,
          const Tessella::SpaceTimeSlab<dim> &slab,
          const System<dim>                  &first,
          const System<dim>                  &second)
  {
    const auto &offset = slab.polytopic_dofs().dof_offset;
    double      worst = 0., worst_rhs = 0.;
    for (unsigned int e = 0; e < slab.n_polytopes(); ++e)
      {
        double largest = 0., difference = 0., largest_rhs = 0.,
               difference_rhs = 0.;
        for (auto row = offset[e]; row < offset[e + 1]; ++row)
          {
            auto other = second.matrix.begin(row);
            for (auto entry = first.matrix.begin(row);
                 entry != first.matrix.end(row);
                 ++entry, ++other)
              {
                largest = std::max(largest, std::abs(entry->value()));
                difference =
                  std::max(difference,
                           std::abs(entry->value() - other->value()));
              }
            largest_rhs = std::max(largest_rhs, std::abs(first.rhs[row]));
            difference_rhs =
              std::max(difference_rhs,
                       std::abs(first.rhs[row] - second.rhs[row]));
          }
        worst = std::max(worst, difference / largest);
        worst_rhs =
          std::max(worst_rhs, difference_rhs / (largest_rhs + 1e-300));
      }
    verify(name + ", matrix", worst, 1e-12);
    // Entries of the right-hand side may cancel.
    verify(name + ", right-hand side", worst_rhs, 1e-10);
  }

  template <int dim>
  void
  compare(const std::string                  &name,
          const Tessella::SpaceTimeSlab<dim> &slab,
          const Tessella::Form<dim + 1>      &form)
  {
    compare(name,
            slab,
            System<dim>(slab, form, Tessella::Backend::host),
            System<dim>(slab, form, Tessella::Backend::cuda));
  }

  // Compares @p device to the host. @p expected says whether the expected
  // kernels were chosen.
  template <int dim>
  void
  compare(const std::string                  &name,
          const Tessella::SpaceTimeSlab<dim> &slab,
          const Tessella::Form<dim + 1>      &form,
          const System<dim>                  &device,
          const bool                          expected)
  {
    compare(name,
            slab,
            System<dim>(slab, form, Tessella::Backend::host),
            device);
    verify(name + " by: " + device.kernel, expected ? 0. : 1., 0.);
  }

  template <int dim>
  void
  check_meshes(const std::vector<std::string> &meshes)
  {
    for (const std::string &mesh : meshes)
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        Tessella::AgglomerationHandler<dim> handler(triangulation,
                                                    mapping_for<dim, 2>(mesh));
        handler.agglomerate(
          scattered<dim>(mesh == "box" ? 0
                         : dim == 2    ? 4
                                    : 1 + triangulation.n_active_cells() / 8));
        for (const PolynomialSpaceType space :
             {PolynomialSpaceType::total_degree,
              PolynomialSpaceType::prismatic})
          for (unsigned int p = 0; p <= (dim == 2 ? 4u : 2u); ++p)
            {
              distribute_degree(handler, p);
              Tessella::SpaceTimeSlab<dim> slab(handler, space);
              slab.reinit(0.3, 0.4, mixed_intervals(handler.n_polytopes()));
              const std::string name =
                mesh +
                (space == PolynomialSpaceType::prismatic ? ", PQ" : ", P") +
                std::to_string(p);
              Tessella::SpaceTimeForm<dim> form;
              PolynomialProblem<dim>(2, false).set(form, mesh == "box");
              form.set_start(slab.start());
              compare(name + ", varying", slab, form);
              Tessella::SpaceTimeForm<dim> constant;
              Tensor<2, dim>               a;
              Tensor<1, dim>               w;
              for (unsigned int d = 0; d < dim; ++d)
                {
                  a[d][d] = 1. - 0.3 * d;
                  w[d]    = d % 2 == 0 ? 1. - 0.2 * d : -0.4;
                }
              a[0][1] = a[1][0] = 0.2;
              constant.set_diffusion(a);
              constant.set_advection(w);
              constant.set_reaction(1.);
              constant.set_source(1.);
              compare(name + ", constant", slab, constant);

              // inflow
              Vector<double> solution(slab.n_dofs()), value, expected(solution);
              for (unsigned int i = 0; i < solution.size(); ++i)
                solution[i] = std::sin(1. + 3. * i);
              slab.trace(solution, slab.length(), value);
              const double before = slab.length();
              slab.reinit(0.7, 0.25, mixed_intervals(handler.n_polytopes()));
              expected = 1.;
              slab.add_inflow(value, expected);
              Tessella::DeviceBlockMatrix<double> inflow;
              slab.make_inflow(inflow);
              Tessella::DeviceVector<double> u(solution), rhs(slab.n_dofs());
              rhs = 1.;
              slab.add_inflow(inflow, u, before, rhs);
              Vector<double> result;
              rhs.copy_to(result);
              result -= expected;
              verify(name + ", inflow",
                     result.linfty_norm(),
                     1e-12 * expected.linfty_norm());
            }
      }
  }

  // Function with the same values as code for a device.
  template <int D>
  class CodeFunction : public SpaceTimeFunction<D>,
                       public Tessella::DeviceFunction
  {
  public:
    CodeFunction(
      const std::function<double(const Point<D> &, const unsigned int)> &f,
      const std::vector<std::string>                                    &code)
      : SpaceTimeFunction<D>(f, code.size())
      , code(code)
    {}

    std::string
    device_code(const unsigned int component) const override
    {
      return "return " + code[component] + ";";
    }
    std::string
    origin(const unsigned int component) const override
    {
      return code[component];
    }
    [[noreturn]] void
    throw_not_finite(const unsigned int component,
                     const double,
                     const double *x) const override
    {
      AssertThrow(false,
                  ExcMessage(code[component] + " is not finite at t = " +
                             std::to_string(x[D - 1])));
      std::abort();
    }

  private:
    const std::vector<std::string> code;
  };

  template <int D>
  std::shared_ptr<const CodeFunction<D>>
  code_function(const std::function<double(const Point<D> &)> &f,
                const std::string                             &code)
  {
    return std::make_shared<CodeFunction<D>>(
      [f](const Point<D> &p, const unsigned int) { return f(p); },
      std::vector<std::string>(1, code));
  }

  // Name of the time variable in code.
  template <int dim>
  std::string
  time_name()
  {
    return dim == 2 ? "z" : "t";
  }

  // Functions that are compiled at run time, in the global time of all slabs.
  template <int dim>
  void
  set_code(Tessella::SpaceTimeForm<dim> &form, const bool tensor)
  {
    constexpr int     D           = dim + 1;
    const std::string t           = time_name<dim>();
    using Problem                 = PolynomialProblem<dim>;
    const std::string        x[3] = {"x", "y", "z"};
    std::vector<std::string> a, w;
    for (unsigned int d = 0; d < dim; ++d)
      {
        for (unsigned int e = 0; e < dim; ++e)
          a.push_back(d != e ? "0.2"
                      : d == 0
                        ? "1. + 0.5 * " + t
                        : "1. + " + x[d - 1] + " / " + std::to_string(d));
        w.push_back(d == 0 ? "1. + " + t
                           : "0.5 / " + std::to_string(d) + " - " + x[d - 1] +
                               " * " + t);
      }
    if (tensor)
      form.set_diffusion_tensor(
        std::make_shared<CodeFunction<D>>(Problem::a, a));
    else
      form.set_diffusion(
        code_function<D>([](const Point<D> &p) { return 1. + p[0] * p[dim]; },
                         "1. + x * " + t));
    form.set_advection(std::shared_ptr<const Function<D>>(
      std::make_shared<CodeFunction<D>>(Problem::w, w)));
    form.set_reaction(code_function<D>(Problem::c, "1. + x * " + t));
    form.set_source(code_function<D>(
      [](const Point<D> &p) { return std::sin(p[1] + 2. * p[dim]); },
      "sin(y + 2. * " + t + ")"));
    Tessella::BoundaryCondition<D> condition;
    condition.value =
      code_function<D>([](const Point<D> &p) { return p[0] - p[dim]; },
                       "x - " + t);
    form.set_default_boundary_condition(condition);
    form.set_coefficient_order(2);
  }

  template <int dim>
  void
  check_code(const Tessella::SpaceTimeSlab<dim> &slab)
  {
    for (const bool tensor : {false, true})
      {
        Tessella::SpaceTimeForm<dim> form;
        set_code(form, tensor);
        form.set_slab(slab);
        const System<dim> device(slab, form, Tessella::Backend::cuda);
        compare(tensor ? "code, tensor" : "code",
                slab,
                System<dim>(slab, form, Tessella::Backend::host),
                device);
        verify("code on the device: " + device.coefficients,
               device.coefficients.find("compiled at run time") == 0 ||
                   device.coefficients.find("was not found") !=
                     std::string::npos
                 ? 0.
                 : 1.,
               0.);
      }
    Tessella::SpaceTimeForm<dim> bad;
    bad.set_source(code_function<dim + 1>(
      [&](const Point<dim + 1> &p) {
        return p[dim] > slab.start() + 0.4 ? std::nan("") : 1.;
      },
      time_name<dim>() + " > " + std::to_string(slab.start() + 0.4) +
        " ? nan(\"\") : 1."));
    bad.set_diffusion(1.);
    bad.set_slab(slab);
    std::string message;
    try
      {
        System<dim>(slab, bad, Tessella::Backend::cuda);
      }
    catch (const ExceptionBase &exception)
      {
        message = exception.what();
      }
    verify("not finite: " + message,
           message.find("is not finite at") != std::string::npos ? 0. : 1.,
           0.);
  }

  // Code for run-time compilation can be generated on any machine; without a
  // device the assembly ends with an error.
  template <int dim>
  void
  check_text()
  {
    for (const bool tensor : {false, true})
      {
        Tessella::SpaceTimeForm<dim> form;
        set_code(form, tensor);
        std::string message;
        try
          {
            message = form.device_coefficients() != nullptr
                        ? ""
                        : form.why_not_on_device();
          }
        catch (const ExceptionBase &exception)
          {
            message = exception.what();
          }
        // The message may also say that there is no compiler.
        verify("text of code: " + message,
               message.find("device code") == std::string::npos &&
                   (message.empty() == Tessella::cuda_is_available() ||
                    message.find("was not found") != std::string::npos)
                 ? 0.
                 : 1.,
               0.);
      }
  }

  // Functors, and values per material (compiled to code) and per cell that jump
  // inside polytopes.
  template <int dim>
  void
  check_coefficients()
  {
    Triangulation<dim> triangulation;
    make_mesh("hanging", triangulation);
    for (const auto &cell : triangulation.active_cell_iterators())
      cell->set_material_id(cell->center()[0] < 0.7 ? 3 : 7);
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(scattered<dim>(5));
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(2));
    Tessella::SpaceTimeSlab<dim> slab(handler);
    slab.reinit(0.2, 0.5, mixed_intervals(handler.n_polytopes()));

    const std::unique_ptr<Tessella::Form<dim + 1>> functor =
      make_slab_functor<dim + 1>(slab.start());
    const System<dim> by_functor(slab, *functor, Tessella::Backend::cuda);
    verify("functor on the device",
           by_functor.coefficients == "functor on the device" ? 0. : 1.,
           0.);
    compare("functor",
            slab,
            System<dim>(slab, *functor, Tessella::Backend::host),
            by_functor);
    Tessella::SpaceTimeForm<dim> same;
    same.set_diffusion(
      make<dim + 1>([](const Point<dim + 1> &x) { return 1. + x[dim]; }));
    same.set_advection(std::shared_ptr<const Function<dim + 1>>(
      std::make_shared<SpaceTimeFunction<dim + 1>>(
        [](const Point<dim + 1> &x, const unsigned int d) {
          return x[d] * x[dim];
        },
        dim)));
    same.set_source(make<dim + 1>(
      [](const Point<dim + 1> &x) { return x[0] - 2. * x[dim]; }));
    Tessella::BoundaryCondition<dim + 1> condition;
    condition.value =
      make<dim + 1>([](const Point<dim + 1> &x) { return x[1] + x[dim]; });
    same.set_default_boundary_condition(condition);
    same.set_coefficient_order(2);
    same.set_slab(slab);
    compare("functor and functions",
            slab,
            System<dim>(slab, same, Tessella::Backend::host),
            by_functor);
    verify("same bits",
           by_functor == System<dim>(slab, *functor, Tessella::Backend::cuda)
             ? 0.
             : 1.,
           0.);

    check_code(slab);

    for (const bool per_cell : {false, true})
      {
        const auto values = [&](const double left, const double right) {
          if (!per_cell)
            return Tessella::CellwiseCoefficient({{3, left}, {7, right}});
          Vector<double> numbers(triangulation.n_active_cells());
          for (const auto &cell : triangulation.active_cell_iterators())
            numbers(cell->active_cell_index()) =
              cell->material_id() == 3 ? left : right;
          return Tessella::CellwiseCoefficient(handler.polytopic_mesh(),
                                               numbers);
        };
        Tessella::SpaceTimeForm<dim> form;
        form.set_diffusion(values(1., 4.));
        form.set_reaction(values(2., 0.5));
        form.set_source(values(-1., 3.));
        form.set_slab(slab);
        compare(per_cell ? "cells" : "materials", slab, form);
      }
  }

  // Creates a mesh of simplices with boundary id 1 on the right and 2 at the
  // bottom, both outflow of the advection below, and 0 elsewhere.
  template <int dim>
  void
  make_simplices(Triangulation<dim> &triangulation)
  {
    make_mesh("simplices", triangulation);
    for (const auto &cell : triangulation.active_cell_iterators())
      {
        cell->set_material_id(cell->center()[0] < 0.7 ? 3 : 7);
        for (const unsigned int f : cell->face_indices())
          if (cell->face(f)->at_boundary())
            cell->face(f)->set_boundary_id(
              cell->face(f)->center()[0] > 1.5 - 1e-10 ? 1
              : cell->face(f)->center()[1] < 1e-10     ? 2
                                                       : 0);
      }
  }

  // Form whose coefficients do not depend on time; the data may.
  template <int dim>
  std::shared_ptr<Tessella::SpaceTimeForm<dim>>
  stationary_form(const std::string                         &kind,
                  const Tessella::AgglomerationHandler<dim> &handler)
  {
    constexpr int  D    = dim + 1;
    auto           form = std::make_shared<Tessella::SpaceTimeForm<dim>>();
    Tensor<2, dim> a;
    Tensor<1, dim> w;
    for (unsigned int d = 0; d < dim; ++d)
      {
        a[d][d] = 1. - 0.3 * d;
        w[d]    = d == 1 ? -0.4 : 1. - 0.2 * d;
      }
    a[0][1] = a[1][0] = 0.2;
    Tessella::BoundaryCondition<D> neumann, robin;
    neumann.type  = Tessella::BoundaryType::neumann;
    neumann.value = make<D>([](const Point<D> &x) { return x[dim]; });
    robin.type    = Tessella::BoundaryType::robin;
    robin.value   = neumann.value;
    robin.robin_coefficient =
      make<D>([](const Point<D> &x) { return 1. + x[0]; });
    form->set_source(1.);
    if (kind == "heat")
      {
        form->set_diffusion(2.);
        return form;
      }
    if (kind == "advection")
      {
        form->set_advection(w);
        form->set_reaction(0.3);
        return form;
      }
    form->set_boundary_condition(1, neumann);
    if (kind == "constant")
      {
        form->set_diffusion(a);
        form->set_advection(w);
        form->set_reaction(1.5);
        form->set_theta(-1.);
        return form;
      }
    if (kind == "materials" || kind == "cells")
      {
        Vector<double> numbers(handler.get_triangulation().n_active_cells());
        for (unsigned int c = 0; c < numbers.size(); ++c)
          numbers[c] = 1. + c % 5;
        const auto values = [&](const double left, const double right) {
          return kind == "materials"
                   ? Tessella::CellwiseCoefficient({{3, left}, {7, right}})
                   : Tessella::CellwiseCoefficient(handler.polytopic_mesh(),
                                                   numbers);
        };
        form->set_diffusion(values(1., 4.), a);
        form->set_advection(w);
        form->set_reaction(values(2., 0.5));
        form->set_source(values(-1., 3.));
        return form;
      }
    // Functions of space, which are declared as independent of time. For
    // "moving" there is no declaration, and the diffusion depends on time.
    form->set_boundary_condition(2, robin);
    const bool moving = kind == "moving";
    form->set_diffusion(make<D>([moving](const Point<D> &x) {
      return 1. + x[0] + (moving ? x[dim] : 0.);
    }));
    form->set_advection(
      std::shared_ptr<const Function<D>>(std::make_shared<SpaceTimeFunction<D>>(
        [w](const Point<D> &x, const unsigned int d) {
          return w[d] * (1. + x[0] * x[1]);
        },
        dim)));
    form->set_reaction(
      make<D>([](const Point<D> &x) { return 1. + x[0] * x[1]; }));
    form->set_source(
      make<D>([](const Point<D> &x) { return std::sin(x[1] + 2. * x[dim]); }));
    // With more points on facets in space there is no such kernel.
    form->set_coefficient_order(dim == 2 ? 2 : 0);
    if (!moving)
      form->declare_matrix_stationary();
    return form;
  }

  // Block rows from matrices in space, for all degrees and both spaces.
  template <int dim>
  void
  check_space_rows(const std::string                            &mesh,
                   const Triangulation<dim>                     &triangulation,
                   const Tessella::Agglomeration::Strategy<dim> &strategy)
  {
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(strategy);
    for (const PolynomialSpaceType space :
         {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
      for (unsigned int p = 1; p <= 2; ++p)
        {
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
          Tessella::SpaceTimeSlab<dim> slab(handler, space);
          slab.reinit(0.3, 0.4);
          for (const std::string kind : {"constant", "declared"})
            {
              const auto form = stationary_form(kind, handler);
              form->set_slab(slab);
              const System<dim> device(slab, *form, Tessella::Backend::cuda);
              const std::string name =
                mesh + ", " + kind +
                (space == PolynomialSpaceType::prismatic ? ", PQ" : ", P") +
                std::to_string(p);
              compare(name, slab, *form, device, device.from_space());
            }
        }
  }

  template <int dim>
  void
  check_stationary()
  {
    Triangulation<dim> triangulation;
    make_simplices(triangulation);
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(scattered<dim>(5));
    for (const PolynomialSpaceType space :
         {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
      for (unsigned int p = 1; p <= 3; ++p)
        {
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
          Tessella::SpaceTimeSlab<dim> slab(handler, space);
          for (const std::string kind : {"heat",
                                         "advection",
                                         "constant",
                                         "materials",
                                         "cells",
                                         "declared",
                                         "moving"})
            {
              const auto        form = stationary_form(kind, handler);
              const std::string name =
                kind +
                (space == PolynomialSpaceType::prismatic ? ", PQ" : ", P") +
                std::to_string(p);
              slab.reinit(0.3, 0.4);
              form->set_slab(slab);
              const System<dim> device(slab, *form, Tessella::Backend::cuda);
              compare(name,
                      slab,
                      *form,
                      device,
                      device.from_space() == (kind != "moving") &&
                        !device.some_rows());
              verify(name + ", same bits",
                     device == System<dim>(slab, *form, Tessella::Backend::cuda)
                       ? 0.
                       : 1.,
                     0.);
              // the right-hand side alone
              typename System<dim>::Assembler::AdditionalData data;
              data.backend = Tessella::Backend::cuda;
              typename System<dim>::Assembler assembler(slab, data);
              System<dim>                     again;
              assembler.reinit(again.pattern, again.matrix, again.rhs);
              assembler.assemble_rhs(*form, again.rhs);
              verify(name + ", right-hand side alone",
                     kind == "moving" || again.rhs == device.rhs ? 0. : 1.,
                     0.);
              // With neighbours of different heights, no row or only some rows
              // are assembled from matrices in space.
              slab.reinit(0.3, 0.4, mixed_intervals(handler.n_polytopes()));
              form->set_slab(slab);
              verify(
                name + ", several intervals",
                System<dim>(slab, *form, Tessella::Backend::cuda).from_space()
                  ? 1.
                  : 0.,
                0.);
            }
        }
    handler.agglomerate(scattered<dim>(0));
    std::vector<unsigned int> intervals(handler.n_polytopes(), 1);
    intervals[0] = 2;
    for (const PolynomialSpaceType space :
         {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
      for (unsigned int p = 1; p <= 3; ++p)
        {
          handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
          Tessella::SpaceTimeSlab<dim> slab(handler, space);
          slab.reinit(0.3, 0.4, intervals);
          for (const std::string kind : {"constant", "materials"})
            {
              const auto form = stationary_form(kind, handler);
              form->set_slab(slab);
              const System<dim> device(slab, *form, Tessella::Backend::cuda);
              const std::string name =
                kind + ", some rows" +
                (space == PolynomialSpaceType::prismatic ? ", PQ" : ", P") +
                std::to_string(p);
              compare(name,
                      slab,
                      *form,
                      device,
                      device.from_space() && device.some_rows());
            }
        }
    // rows with few and with many facets and neighbours
    {
      Triangulation<dim> fine;
      make_simplices(fine);
      fine.refine_global(dim == 2 ? 2 : 1);
      check_space_rows<dim>(
        "few and many facets", fine, [](const Triangulation<dim> &mesh) {
          std::vector<unsigned int> ids(mesh.n_active_cells());
          for (unsigned int c = 0; c < ids.size(); ++c)
            ids[c] = c < 40 ? c / 2 : 20 + c % 3;
          return ids;
        });
    }
    // elements that are their own neighbours
    if constexpr (dim == 2)
      {
        Triangulation<dim> ring;
        make_simplices(ring);
        std::vector<GridTools::PeriodicFacePair<
          typename Triangulation<dim>::cell_iterator>>
          pairs;
        for (const auto &cell : ring.active_cell_iterators())
          for (const unsigned int f : cell->face_indices())
            if (cell->face(f)->at_boundary() &&
                std::abs(cell->face(f)->center()[0]) < 1e-10)
              cell->face(f)->set_boundary_id(4);
        GridTools::collect_periodic_faces(ring, 4, 1, 0, pairs);
        ring.add_periodicity(pairs);
        check_space_rows<dim>(
          "own neighbours", ring, [](const Triangulation<dim> &mesh) {
            std::vector<unsigned int> ids;
            for (const auto &cell : mesh.active_cell_iterators())
              ids.push_back(cell->center()[1] < 0.5  ? 0
                            : cell->center()[0] < 1. ? 1
                                                     : 2);
            return ids;
          });
      }
    // so many points that rows are computed in parts
    if (dim == 2)
      {
        triangulation.refine_global(2);
        Tessella::AgglomerationHandler<dim> coarse(triangulation);
        coarse.agglomerate([](const Triangulation<dim> &mesh) {
          std::vector<unsigned int> ids(mesh.n_active_cells());
          for (unsigned int c = 0; c < ids.size(); ++c)
            ids[c] = c < ids.size() / 8 ? c % 3 : 3;
          return ids;
        });
        coarse.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(3));
        Tessella::SpaceTimeSlab<dim> slab(coarse,
                                          PolynomialSpaceType::total_degree);
        slab.reinit(0.3, 0.4);
        const auto        form = stationary_form("constant", coarse);
        const System<dim> device(slab, *form, Tessella::Backend::cuda);
        compare("large rows",
                slab,
                *form,
                device,
                device.from_space() &&
                  device.kernel.find("rows in parts") != std::string::npos);
      }
  }

  // Parts of the mesh have the same bits. The memory limit leads to two parts
  // or more.
  template <int dim>
  void
  check_parts(const bool one_interval)
  {
    Triangulation<dim> triangulation;
    make_mesh("simplices", triangulation);
    triangulation.refine_global(1);
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(
      scattered<dim>(triangulation.n_active_cells() / (dim == 2 ? 3 : 4)));
    for (const unsigned int p : {1, 2})
      {
        handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
        Tessella::SpaceTimeSlab<dim> slab(handler);
        if (one_interval)
          slab.reinit(0.2, 0.5);
        else
          slab.reinit(0.2, 0.5, mixed_intervals(handler.n_polytopes()));
        Tessella::SpaceTimeForm<dim> form;
        form.set_diffusion(2.);
        form.set_source(1.);
        Tessella::BoundaryCondition<dim + 1> condition;
        condition.value = make<dim + 1>(
          [](const Point<dim + 1> &x) { return x[0] - 2. * x[dim]; });
        form.set_default_boundary_condition(condition);
        const System<dim> whole(slab, form, Tessella::Backend::cuda);
        std::size_t       too_little = 0, enough = std::size_t(1) << 28;
        unsigned int      n_parts = 0;
        bool              same    = false;
        while (n_parts < 2 && enough - too_little > 256)
          {
            const std::size_t memory = (too_little + enough) / 2;
            n_parts                  = 0;
            try
              {
                const System<dim> parts(slab,
                                        form,
                                        Tessella::Backend::cuda,
                                        memory);
                n_parts = parts.n_parts;
                same    = parts == whole;
              }
            catch (const ExceptionBase &)
              {}
            (n_parts == 0 ? too_little : enough) = memory;
          }
        verify("parts, " + std::to_string(p),
               n_parts >= 2 && same ? 0. : 1.,
               0.);
      }
  }

  // Single precision, and a matrix that stays on the device.
  template <int dim>
  void
  check_numbers()
  {
    Triangulation<dim> triangulation;
    make_mesh("simplices", triangulation);
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(scattered<dim>(5));
    for (const unsigned int p : {1, 2})
      {
        handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
        Tessella::SpaceTimeSlab<dim> slab(handler);
        slab.reinit(0., 0.5);
        Tessella::SpaceTimeForm<dim> form;
        form.set_diffusion(1.);
        form.set_source(1.);
        typename Tessella::PolytopicAssembler<dim + 1>::AdditionalData data;
        data.backend = Tessella::Backend::cuda;
        Tessella::PolytopicAssembler<dim + 1> assembler(slab, data);
        Tessella::DeviceBlockMatrix<double>   matrix;
        Tessella::DeviceVector<double>        rhs, one, product;
        assembler.reinit(matrix, rhs);
        assembler.assemble(form, matrix, rhs);
        Tessella::DeviceBlockMatrix<float> single;
        Tessella::DeviceVector<float> single_rhs, single_one, single_product;
        assembler.reinit(single, single_rhs);
        assembler.assemble(form, single, single_rhs);
        const System<dim> host(slab, form, Tessella::Backend::host);
        Vector<double>    x(slab.n_dofs()), y(slab.n_dofs()), z;
        for (unsigned int i = 0; i < x.size(); ++i)
          x[i] = std::sin(2. + 5. * i);
        host.matrix.vmult(y, x);
        one = Tessella::DeviceVector<double>(x);
        product.reinit(slab.n_dofs());
        matrix.vmult(product, one);
        product.copy_to(z);
        z -= y;
        verify("device matrix, " + std::to_string(p),
               z.linfty_norm(),
               1e-11 * y.linfty_norm());
        single_one = Tessella::DeviceVector<float>(Vector<float>(x));
        single_product.reinit(slab.n_dofs());
        single.vmult(single_product, single_one);
        Vector<float> w;
        single_product.copy_to(w);
        z = w;
        z -= y;
        verify("single precision, " + std::to_string(p),
               z.linfty_norm(),
               1e-5 * y.linfty_norm());
      }
  }

  template <int dim>
  void
  run(const std::vector<std::string> &meshes)
  {
    check_meshes<dim>(meshes);
    check_coefficients<dim>();
    check_stationary<dim>();
    for (const bool one_interval : {false, true})
      check_parts<dim>(one_interval);
    check_numbers<dim>();
  }
} // namespace

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  const std::string                name = argc > 1 ? argv[1] : "";
  if (name == "text")
    {
      check_text<2>();
      check_text<3>();
    }
  else if (!Tessella::cuda_is_available())
    {
      std::cout << Tessella::why_cuda_is_unavailable() << std::endl;
      return 77;
    }
  else if (name == "3d")
    run<3>({"box", "distorted", "simplices", "hanging", "curved", "periodic"});
  else
    run<2>({"box", "distorted", "simplices", "hanging", "curved"});
  std::cout << n_checks << " checks, " << n_failures << " failures"
            << std::endl;
  return n_failures == 0 ? 0 : 1;
}
