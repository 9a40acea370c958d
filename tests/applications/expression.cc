// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Expressions: values, first and second derivatives of every function and
// operator compared with difference quotients; precedence, constants, and
// mistakes.

#include "../../applications/common/expression.h"

#include <deal.II/base/point.h>

#include "../../applications/common/program.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella::Application;

double
value(const std::string &text, const std::map<std::string, double> &c = {})
{
  const double x[2] = {0.3, -0.7};
  return Expression("test", text, {"x", "y"}, c).value(x);
}

// Largest relative difference between derivatives and difference quotients.
double
derivative_error(const std::string &text)
{
  const Expression      e("test", text, {"x", "y"}, {{"pi", numbers::PI}});
  const Point<2>        p(0.41, 0.63);
  double                v, w;
  Tensor<1, 2>          gradient, gradient_only;
  SymmetricTensor<2, 2> hessian;
  e.derivatives<2>({p}, &v, &gradient, &hessian);
  e.derivatives<2>({p}, &w, &gradient_only, nullptr);
  double error = std::abs(v - e.value(&p[0])) + std::abs(v - w) +
                 (gradient - gradient_only).norm();
  const double h = 1e-4;
  for (unsigned int d = 0; d < 2; ++d)
    {
      Point<2> q[2] = {p, p};
      q[0][d] -= h;
      q[1][d] += h;
      double       values[2];
      Tensor<1, 2> gradients[2];
      for (unsigned int i = 0; i < 2; ++i)
        e.derivatives<2>({q[i]}, &values[i], &gradients[i], nullptr);
      const double scale = 1. + gradient.norm() + hessian.norm();
      error =
        std::max(error,
                 std::abs((values[1] - values[0]) / (2. * h) - gradient[d]) /
                   scale);
      for (unsigned int c = 0; c < 2; ++c)
        error =
          std::max(error,
                   std::abs((gradients[1][c] - gradients[0][c]) / (2. * h) -
                            hessian[c][d]) /
                     scale);
    }
  return error;
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);

  const double x = 0.3, y = -0.7;
  check_close("precedence", value("1+2*x^2-y/4"), 1 + 2 * x * x - y / 4, 1e-15);
  check_close("unary minus", value("-x^2"), -x * x, 1e-15);
  check_close("power right", value("2^3^2"), 512., 1e-12);
  check_close("power **", value("2**-1"), 0.5, 1e-15);
  check_close("nested",
              value("((x+1)*(y-(2-x)))"),
              (x + 1) * (y - 2 + x),
              1e-15);
  check_close("compare", value("(x<y)+2*(x>=y)+4*(x!=y)+8*(x==x)"), 14., 0.);
  check_close("logic", value("x>0 && y>0 || !(x>1)"), 1., 0.);
  check_close("ternary", value("x<0 ? 1 : y<0 ? 2 : 3"), 2., 0.);
  check_close("if", value("if(y<0, x, 1/0)"), x, 0.);
  check_close("min max", value("min(3,x,y)+10*max(1,2,x)"), y + 20., 1e-14);
  check_close("numbers", value("1.5e2+.5+2.+1e-1"), 152.6, 1e-12);
  check_close("constants", value("a*x", {{"a", 4.}}), 1.2, 1e-15);
  check_close("constants of constants",
              parse_constants("test", "a = 2, b = a*pi").at("b"),
              2. * numbers::PI,
              1e-14);

  // all functions, with arguments in the domain of each
  for (const std::string f :
       {"sin",  "cos",  "tan",   "cot",  "sec",   "csc",   "asin", "acos",
        "atan", "sinh", "cosh",  "tanh", "asinh", "atanh", "exp",  "log",
        "ln",   "log2", "log10", "sqrt", "cbrt",  "abs",   "sign", "floor",
        "ceil", "rint", "int",   "erf",  "erfc"})
    check_below(f, derivative_error(f + "(x*y+0.3*x+0.1)"), 1e-6);
  check_below("acosh", derivative_error("acosh(1.5+x*y)"), 1e-6);
  for (const std::string f : {"x*y+x/y-y^3",
                              "(x+y)/(1+x*y)",
                              "x^y",
                              "(1+x)^(2.5)",
                              "atan2(y-2,x-1)",
                              "pow(x+y,3)",
                              "mod(3*x,y)",
                              "min(x*x,y)+max(x^3,x*y)",
                              "if(x<y,x^2*y,1)",
                              "sin(pi*x)*sin(pi*y)*exp(-x-pi^2*x^3/12)",
                              "(x^2+y^2)^(1/3)*sin(2/3*atan2(y,x))"})
    check_below(f, derivative_error(f), 1e-6);

  // Many points at once have the same values as single points.
  {
    const Expression    e("test", "sin(x)*y+if(x>0.5,1,y^2)", {"x", "y"});
    std::vector<double> xs(1000), ys(1000), values(1000);
    for (unsigned int i = 0; i < 1000; ++i)
      {
        xs[i] = i / 1000.;
        ys[i] = 1. - i / 500.;
      }
    const double *points[2] = {xs.data(), ys.data()};
    e.values(1000, points, values.data());
    double difference = 0.;
    for (unsigned int i = 0; i < 1000; ++i)
      {
        const double p[2] = {xs[i], ys[i]};
        difference = std::max(difference, std::abs(values[i] - e.value(p)));
      }
    check_close("batch", difference, 0., 0.);
  }

  for (const std::string wrong : {"",
                                  "x+",
                                  "(x",
                                  "x)",
                                  "sin x",
                                  "sin()",
                                  "pow(x)",
                                  "foo(x)",
                                  "x y",
                                  "1..2",
                                  "x,y",
                                  "if(x,y)",
                                  "?",
                                  "x ? y",
                                  "1e999",
                                  "z",
                                  "x=y",
                                  "a b",
                                  "$"})
    check_throws<Expression::ExcSyntax>(
      "wrong '" + wrong + "'", [&]() { value(wrong); }, "does not parse");
  check_throws<Expression::ExcNotFinite>(
    "not finite",
    []() {
      ExpressionFunction<2> f({Expression("test", "log(x)", {"x", "y"})});
      f.value(Point<2>(-1., 2.));
    },
    "must be finite");
  check("integers",
        parse_integers("test", "1, 3..5, 9", 0, 10) ==
          std::vector<unsigned int>{1, 3, 4, 5, 9});
  check_throws<ExceptionBase>("integers out of range",
                              []() { parse_integers("test", "11", 0, 10); });
  check_throws<ExceptionBase>("integers wrong",
                              []() { parse_integers("test", "1;2", 0, 10); });
}
