// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares the forms of nonlinear_diffusion to the host, entry by entry. Their
// expressions are compiled for the device at run time and use the values and
// gradients of the iterate there. The bits are the same when repeated and in
// parts of the mesh; errors. Argument: 2d or 3d, or compiler (which needs
// NVRTC, but no device). Returns 77 if the case cannot run on this machine, 1
// if a check fails.

#include <deal.II/fe/fe_system.h>

#include <tessella/forms/device_function.h>
#include <tessella/lac/device_vector.h>

#include <filesystem>
#include <iostream>
#include <unistd.h>

#include "../../applications/nonlinear_diffusion/quasilinear_form.cc"
#include "../assembly/assembler_data.h"
#include "../forms/functor_cases.h"
#include "../tests.h"
#include "checks.h"

namespace Application = Tessella::Application;

namespace
{
  template <int dim>
  std::shared_ptr<const Function<dim>>
  function(const std::string &name, const std::vector<std::string> &texts)
  {
    std::vector<Application::Expression> components;
    for (const std::string &text : texts)
      components.emplace_back(name, text, Application::coordinate_names(dim));
    return std::make_shared<Application::ExpressionFunction<dim>>(components);
  }

  template <int dim>
  Application::QuasilinearProblem<dim>
  make_problem(const std::string &diffusion)
  {
    std::vector<std::string> variables = Application::coordinate_names(dim);
    variables.push_back("u");
    Application::QuasilinearProblem<dim> problem;
    problem.diffusion = Application::QuasilinearCoefficient<dim>(
      Application::Expression("Equation/Diffusion", diffusion, variables));
    problem.source    = function<dim>("Equation/Source", {"1 + x*exp(y)"});
    problem.dirichlet = function<dim>("values", {"x - sin(y)"});
    problem.neumann   = function<dim>("values", {"x - 2*y"});
    std::vector<std::string> flux(dim, "x*y");
    flux[0]              = "1 + y";
    problem.neumann_flux = function<dim>("fluxes", flux);
    problem.neumann_ids  = {1, 2};
    return problem;
  }

  // A function that is discontinuous on all interfaces and has the full degree.
  template <int dim>
  Vector<double>
  make_iterate(const FunctorCases<dim> &cases)
  {
    Vector<double> u(cases.piecewise);
    for (unsigned int i = 0; i < u.size(); ++i)
      u(i) += 0.02 * std::sin(1. + 7. * i);
    return u;
  }

  template <int dim>
  using Assembler = Tessella::PolytopicAssembler<dim>;

  // Largest difference relative to the largest entry of each block row.
  template <int dim>
  double
  row_difference(const FunctorCases<dim> &cases,
                 const System            &one,
                 const System            &two)
  {
    double result = 0.;
    for (unsigned int k = 0; k < cases.handler.n_polytopes(); ++k)
      {
        const auto &offset  = cases.handler.polytopic_dofs().dof_offset;
        double      largest = 0., difference = 0.;
        for (auto i = offset[k]; i < offset[k + 1]; ++i)
          for (auto a = one.matrix.begin(i), b = two.matrix.begin(i);
               a != one.matrix.end(i);
               ++a, ++b)
            {
              largest = std::max(largest, std::abs(a->value()));
              difference =
                std::max(difference, std::abs(a->value() - b->value()));
            }
        result = std::max(result, difference / largest);
      }
    Vector<double> r(one.rhs);
    r -= two.rhs;
    return std::max(result, r.linfty_norm() / one.rhs.linfty_norm());
  }



  // The iterate is a component of a function of three components. Fields with
  // other degrees are evaluated by the host.
  template <int dim>
  void
  check_components(const FunctorCases<dim>                    &cases,
                   const Vector<double>                       &u,
                   const Application::QuasilinearProblem<dim> &problem,
                   Assembler<dim>                             &device,
                   Assembler<dim>                             &host)
  {
    using Form = Application::QuasilinearForm<dim>;
    System                              one, two;
    Tessella::AgglomerationHandler<dim> system(*cases.triangulation),
      other(*cases.triangulation);
    for (auto *handler : {&system, &other})
      handler->agglomerate(
        Tessella::Agglomeration::by_id<dim>(cases.handler.polytope_of_cell()));
    hp::FECollection<dim>     systems, lower;
    std::vector<unsigned int> indices;
    for (unsigned int p = 0; p <= 3; ++p)
      {
        const Tessella::FE_BoundingBoxLegendre<dim> fe(p);
        systems.push_back(FESystem<dim>(fe, 3));
        lower.push_back(fe);
      }
    const auto &scalar = cases.handler.polytopic_dofs();
    for (unsigned int k = 0; k < cases.handler.n_polytopes(); ++k)
      indices.push_back(scalar.degree[k]);
    system.distribute_dofs(systems, indices);
    for (unsigned int &index : indices)
      index = (index + 1) % 4;
    other.distribute_dofs(lower, indices);
    Vector<double> v(system.n_dofs()), w(other.n_dofs());
    for (unsigned int i = 0; i < v.size(); ++i)
      v(i) = std::cos(3. * i);
    for (unsigned int i = 0; i < w.size(); ++i)
      w(i) = 0.1 * std::sin(3. * i);
    for (unsigned int k = 0; k < cases.handler.n_polytopes(); ++k)
      for (unsigned int i = 0; i < scalar.n_basis[k]; ++i)
        v(system.polytopic_dofs().dof_offset[k] + scalar.n_basis[k] + i) =
          u(scalar.dof_offset[k] + i);
    const Tessella::DeviceVector<double>            v_on_device(v);
    const std::vector<Tessella::DiscreteField<dim>> components = {
      {system, v, 1}, {system, v_on_device, 1}};
    one.assemble(device,
                 Form(problem,
                      Tessella::DiscreteField<dim>(cases.handler, u),
                      Form::newton,
                      1.,
                      3));
    for (const auto &component : components)
      {
        two.assemble(device, Form(problem, component, Form::newton, 1., 3));
        verify("component of a function",
               contains(device.report().coefficients, "on the device") &&
                 one.difference(two) == 0.,
               device.report().coefficients);
      }
    // ---- The host evaluates fields of other degrees.
    const Form other_degrees(
      problem, Tessella::DiscreteField<dim>(other, w), Form::newton, 1., 3);
    one.assemble(host, other_degrees);
    two.assemble(device, other_degrees);
    verify("field of other degrees",
           contains(device.report().coefficients, "host's threads") &&
             row_difference(cases, one, two) < 1e-12,
           device.report().coefficients);
  }



  template <int dim>
  void
  compare(const bool simplices, const bool hp, const unsigned int degree)
  {
    using Form = Application::QuasilinearForm<dim>;
    const FunctorCases<dim>            cases(simplices,
                                  hp,
                                  degree,
                                  dim == 2 ? 18 : (simplices ? 4 : 8));
    Vector<double>                     u      = make_iterate(cases);
    const Vector<double>               before = u;
    const Tessella::DiscreteField<dim> field(cases.handler, u);
    Assembler<dim> host(cases.handler, on<dim>(Tessella::Backend::host)),
      device(cases.handler, on<dim>(Tessella::Backend::cuda));
    System one, two, three;
    for (const std::string diffusion :
         {"1 + x*u + u^2", "exp(-u) + (u > 0.5 ? x : sqrt(1 + u^2))", "2 + x"})
      {
        const auto problem = make_problem<dim>(diffusion);
        for (const auto kind : {Form::picard, Form::newton})
          for (const double theta : {1., 0., -1.})
            {
              const std::string name =
                std::to_string(dim) + "-D " + diffusion +
                (kind == Form::newton ? " newton " : " picard ") +
                std::to_string(theta) + (simplices ? " simplices " : " ") +
                std::to_string(degree);
              const Form form(problem, field, kind, theta, 3);
              one.assemble(host, form);
              two.assemble(device, form);
              const double difference = row_difference(cases, one, two);
              verify(name, difference < 1e-12, std::to_string(difference));
              verify(name + " on the device",
                     contains(device.report().coefficients, "on the device") &&
                       device.report().bytes_uploaded == 0.,
                     device.report().coefficients);
              three.assemble(device, form);
              verify(name + " repeated", two.difference(three) == 0.);
            }

        // ---- The form uses the present values of the vector.
        const Form form(problem, field, Form::newton, 1., 3);
        one.assemble(device, form);
        u *= 0.5;
        two.assemble(device, form);
        three.assemble(host, form);
        verify("another iterate",
               (diffusion == "2 + x" || one.difference(two) > 1e-3) &&
                 row_difference(cases, three, two) < 1e-12);
        u = before;

        check_components(cases, u, problem, device, host);

        // ---- Parts use the values of neighbours outside of them.
        std::size_t  too_little = 0, enough = std::size_t(1) << 26;
        unsigned int n_parts = 0;
        while (n_parts < 2 && enough - too_little > 256)
          {
            const std::size_t memory = (too_little + enough) / 2;
            n_parts                  = 0;
            try
              {
                Assembler<dim> assembler(cases.handler,
                                         on<dim>(Tessella::Backend::cuda,
                                                 memory));
                two.assemble(assembler, form);
                n_parts = assembler.report().n_parts;
              }
            catch (const ExceptionBase &)
              {}
            (n_parts == 0 ? too_little : enough) = memory;
          }
        verify(std::to_string(dim) + "-D parts " + diffusion,
               n_parts >= 2 && two.difference(one) == 0.,
               std::to_string(n_parts) + " parts, " +
                 std::to_string(one.difference(two)));
      }

    // ---- errors have the same messages
    const auto message = [&](Assembler<dim>                             &where,
                             const Application::QuasilinearProblem<dim> &what) {
      return message_of(
        [&] { one.assemble(where, Form(what, field, Form::newton, 1., 3)); });
    };
    const auto same = [&](const Application::QuasilinearProblem<dim> &what,
                          const std::string                          &part) {
      const std::string at_host = message(host, what),
                        there   = message(device, what);
      verify("error: " + part,
             contains(at_host, part) && contains(there, part),
             at_host + "\n" + there);
    };
    same(make_problem<dim>("u - 10"), "Equation/Diffusion = u - 10 is -");
    same(make_problem<dim>("1/(u - u)"), "Equation/Diffusion = 1/(u - u) is ");
    u = 0.;
    same(make_problem<dim>("if(u == 0, sqrt(u), 1)"),
         "The derivative by u of Equation/Diffusion = if(u == 0, sqrt(u), 1) "
         "is ");
    u              = before;
    auto problem   = make_problem<dim>("1 + u^2");
    problem.source = function<dim>("Equation/Source", {"1/(x - x)"});
    same(problem, "The expression '1/(x - x)' of Equation/Source is ");
    problem           = make_problem<dim>("1 + u^2");
    problem.dirichlet = function<dim>("Dirichlet values", {"log(x - 2)"});
    same(problem, "The expression 'log(x - 2)' of Dirichlet values is ");

    // ---- a function without device code
    problem        = make_problem<dim>("1 + u^2");
    problem.source = std::make_shared<const Lambda<dim>>(
      [](const Point<dim> &x, const unsigned int) { return x[0]; });
    one.assemble(device, Form(problem, field, Form::newton, 1., 3));
    verify("without code",
           contains(device.report().coefficients,
                    "host's threads (the source term is a function without"),
           device.report().coefficients);
  }



  // Sources of all kinds compile, without a device.
  template <int dim>
  void
  check_compiler(const std::string &cache)
  {
    using Form = Application::QuasilinearForm<dim>;
    Tessella::KernelCache::set_directory(cache);
    const FunctorCases<dim>            cases(true, false, 1, 2);
    const Vector<double>               u = make_iterate(cases);
    const Tessella::DiscreteField<dim> field(cases.handler, u);
    for (const std::string diffusion :
         {"1 + x*u + u^2", "2 + (x > u ? 1 : y)", "if(u == 0, sqrt(u), 1)"})
      for (const auto kind : {Form::picard, Form::newton})
        {
          const auto                    problem = make_problem<dim>(diffusion);
          Tessella::RunTimeFunctor<dim> functor;
          verify("functor",
                 Form(problem, field, kind, -1., 3).make_functor(functor));
          const std::string result =
            Tessella::check_compilation(functor, "sm_90");
          if (contains(result, "was not found") || contains(result, "no CUDA"))
            throw CannotRun{result};
          verify(diffusion, result.empty(), result);
        }
    std::filesystem::remove_all(cache);
  }
} // namespace

int
main(int argc, char **argv)
{
  const auto run = [](const std::string &name) {
    if (name == "compiler")
      {
        const std::string cache = "kernel_cache." + std::to_string(getpid());
        check_compiler<2>(cache);
        check_compiler<3>(cache);
      }
    else if (name == "2d")
      {
        compare<2>(true, false, 3);
        compare<2>(false, true, 2);
      }
    else
      {
        compare<3>(true, true, 2);
        compare<3>(false, false, 2);
      }
  };
  return run_case(argc, argv, run, "compiler");
}
