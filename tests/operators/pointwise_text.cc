// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Integrands that are given as text against functors in C++.

#include <tessella/forms/device_function.h>
#include <tessella/forms/functor_integrand.h>
#include <tessella/forms/pointwise_text_integrand.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "../messages.h"
#include "functors.h"
#include "integrands.h"
#include "texts.h"

namespace Generated
{
#include "text_functor.inc"
} // namespace Generated

using namespace Tessella;

template <int dim>
void
compare_with_functors()
{
  const std::string   in_dim = std::to_string(dim) + "-D ";
  std::vector<double> state(dim + 2, 0.3);
  state[0]       = 1.2;
  state[1]       = 0.5;
  state[dim + 1] = 2.7;
  Functors::Euler<dim> euler;
  std::copy(state.begin(), state.end(), euler.state);
  Functors::TwoFields<dim> two_fields;
  two_fields.indices = false;
  Integrands::check<dim>(
    in_dim + "diffusion",
    PointwiseTextIntegrand<dim>(Texts::nonlinear_diffusion()),
    FunctorIntegrand<dim, Functors::NonlinearDiffusion<dim>>(),
    {0.4});
  Integrands::check<dim>(in_dim + "Euler",
                         PointwiseTextIntegrand<dim>(Texts::euler(dim, state)),
                         FunctorIntegrand<dim, Functors::Euler<dim>>(euler),
                         state,
                         0.1);
  Integrands::check<dim>(in_dim + "two fields",
                         PointwiseTextIntegrand<dim>(Texts::two_fields()),
                         FunctorIntegrand<dim, Functors::TwoFields<dim>>(
                           two_fields),
                         {0.4, 0.1, 0.2});
  Integrands::check<dim>(
    in_dim + "three components",
    PointwiseTextIntegrand<dim>(Texts::three_components()),
    FunctorIntegrand<dim, Functors::ThreeComponents<dim>>(),
    {0.4, 0.2, -0.1});

  // ---- rows that are read and written
  const auto rows =
    PointwiseTextIntegrand<dim>(Texts::three_components()).structure();
  check(in_dim + "rows",
        rows.volume && !rows.interior_facets && rows.boundary_facets &&
          rows.volume_input == PointwiseRows::gradients &&
          rows.volume_output == PointwiseRows::values &&
          rows.facet_input == PointwiseRows::all &&
          rows.facet_output == PointwiseRows::values);

  // ---- parameters
  PointwiseTextIntegrand<dim> text(Texts::nonlinear_diffusion());
  text.set_parameter("constant", 4.);
  Functors::NonlinearDiffusion<dim> functor;
  functor.constant = 4.;
  Integrands::check<dim>(
    in_dim + "parameter",
    text,
    FunctorIntegrand<dim, Functors::NonlinearDiffusion<dim>>(functor),
    {0.4});
  check(in_dim + "no parameter",
        contains(message_of([&] { text.set_parameter("konstante", 1.); }),
                 "no parameter 'konstante'") &&
          text.parameter("constant") == 4.);
}

// All functions, on the host and as the C++ code that a device compiles.
void
compare_with_code()
{
  const PointwiseTextIntegrand<2> text(Texts::all_functions());
  std::ifstream                   file(SOURCE_DIR "/text_functor.inc");
  std::ostringstream              code;
  code << file.rdbuf();
  check("code", code.str() == text.device_code());
  if (code.str() != text.device_code())
    std::ofstream("text_functor.inc") << text.device_code();
  Generated::Functor functor;
  functor.parameter[0] = 1.7;
  Integrands::check<2>("all functions",
                       text,
                       FunctorIntegrand<2, Generated::Functor>(functor),
                       {0.4, 0.4, 0.4});
}

void
fails(const std::string &name,
      const std::string &volume,
      const std::string &part,
      const std::string &boundary = "",
      const std::string &interior = "")
{
  PointwiseTextTerms terms;
  terms.name                = "Equation";
  terms.volume              = volume;
  terms.boundary_facet      = boundary;
  terms.interior_facet      = interior;
  terms.parameters["gamma"] = 1.4;
  const std::string message =
    message_of([&] { PointwiseTextIntegrand<2> integrand(terms); });
  check(name, contains(message, part));
  if (!contains(message, part))
    dealii::deallog << message << std::endl;
}

void
check_errors()
{
  fails("place",
        "a = 1;\n  b = a + c;",
        "The text for the terms in the volume of Equation is not correct: 'c' "
        "has no value, in line 2 at character 11, 'c;'.");
  fails("component",
        "r.value[0] = u.value[1];",
        "the index 1 of the components of the fields in 'u.value[1]' must be "
        "at least 0 and below 1");
  fails("test component", "r.value[2] = 1;", "components of the test");
  fails("derivative", "r.value[0] = u.gradient[0][2];", "the derivatives");
  fails("no index", "r.value = 1;", "'r.value' cannot be set");
  fails("no index of a gradient", "r.gradient[0] = 1;", "needs an index");
  fails("member", "r.value[0] = u.hessian[0];", "value[c] and gradient[c][d]");
  fails("side", "", "needs a side: u0 or u1", "", "r0.value[0] = u.value[0];");
  fails("one side", "", "must be at least 0 and below 1", "r1.value[0] = 1;");
  fails("normal", "r.value[0] = n[0];", "no normal inside polytopes");
  fails("penalty", "r.value[0] = p.penalty;", "no penalty inside polytopes");
  fails("boundary id", "", "on the boundary only", "", "a = p.boundary_id;");
  fails("member of p", "r.value[0] = p.q;", "the members of p are");
  fails("field is set", "u.value[0] = 1;", "cannot be changed");
  fails("parameter is set", "gamma = 1;", "'gamma' is given and cannot be set");
  fails("coordinate is set", "x = 1;", "'x' is given and cannot be set");
  fails("function", "a = sinus(x);", "there is no function 'sinus'");
  fails("arguments", "a = pow(x);", "the function pow has 2 arguments");
  fails("semicolon", "a = 1 b = 2;", "';' is expected before 'b'");
  fails("end", "a = 1", "';' is expected where the text ends");
  fails("operand", "a = 2 * ;", "';' is unexpected");
  fails("operator", "a = 2 $ 3;", "';' is expected before '$'");
  fails("parenthesis", "a = (2 + 3;", "')' is expected before ';'");
  fails("brace", "{ a = 1;", "'}' is expected where the text ends");
  fails("comment", "a = 1; /* b", "a comment does not end");
  fails("number", "a = 1.2.3;", "';' is expected before '.'");
  fails("digits", "a = 1e;", "a number is not correct");
  fails("suffix", "a = 1.f;", "a number is not correct");
  fails("comparison", "a == 1;", "'=' is expected behind 'a'");
  fails("varying index",
        "a[0] = 1; r.value[0] = a[x];",
        "an integer that is known when the text is read");
  fails("broken index", "a[0.5] = 1;", "an integer that is known");
  fails("varying loop", "for (int i = 0; i < t; ++i) ;", "an integer");
  fails("loop", "for (i = 0; i < 2; ++i) ;", "a loop begins with");
  fails("loop step", "for (int i = 0; i < 2; i += 1) ;", "step of the loop");
  fails("loop condition", "for (int i = 0; i > 2; ++i) ;", "'<' is expected");
  fails("long loop",
        "for (int i = 0; i < 1000; ++i) for (int j = 0; j < 1000; ++j) ;",
        "more than 100000 statements");
  fails("one branch",
        "if (u.value[0] > 0) a = 1; r.value[0] = a;",
        "'a' has no value");
  fails("deep", std::string(500, '{'), "nested too deeply");
  fails("deep expression",
        "a = " + std::string(5000, '(') + "1;",
        "nested too deeply");
  fails("nothing", "a = u.value[0];", "set no result");
  fails("empty", "", "set no result");
}

// The kernels compile for a device, if there is a compiler.
void
check_kernels()
{
  KernelCache::set_directory("kernels");
  const auto try_text = [](const std::string &name, const auto &integrand) {
    std::vector<double> seconds, again;
    const std::string   missing = integrand.check_compilation("sm_90", seconds);
    if (std::getenv("TESSELLA_PRINT_TIMES") != nullptr)
      for (const double s : seconds)
        std::cout << name << ' ' << s << " s" << std::endl;
    if (missing.empty())
      {
        integrand.check_compilation("sm_90", again);
        check(name + ", cache",
              seconds.size() == 5 && again.size() == 5 &&
                again[0] + again[1] + again[2] < 0.5);
      }
    else
      dealii::deallog << name << ", cache: ok" << std::endl;
  };
  try_text("compilation", PointwiseTextIntegrand<2>(Texts::all_functions()));
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  compare_with_functors<2>();
  compare_with_functors<3>();
  compare_with_code();
  check_errors();
  check_kernels();
}
