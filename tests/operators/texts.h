// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_texts_h
#define tessella_tests_operators_texts_h

// The functors of functors.h as texts.

#include <tessella/forms/pointwise_text_integrand.h>

namespace Texts
{
  using Tessella::PointwiseTextTerms;

  inline PointwiseTextTerms
  nonlinear_diffusion()
  {
    PointwiseTextTerms terms;
    terms.volume                 = R"(
      k = 1 + u.value[0]^2;
      for (int d = 0; d < dim; ++d)
        r.gradient[0][d] = k * u.gradient[0][d];
      r.value[0] = -sin(x[0] + t);)";
    terms.interior_facet         = R"(
      for (int s = 0; s < 2; ++s)
        k[s] = 1 + u[s].value[0] * u[s].value[0];
      const double jump = u0.value[0] - u1.value[0];
      flux = constant * p.penalty * 0.5 * (k[0] + k[1]) * jump;
      for (int d = 0; d < dim; ++d)
      {
        flux -= 0.5 * n[d] *
                (k[0] * u0.gradient[0][d] + k[1] * u1.gradient[0][d]);
        for (int s = 0; s <= 1; s++)
          r[s].gradient[0][d] = -0.5 * n[d] * k[s] * jump;
      }
      r0.value[0] = flux;
      r1.value[0] = -flux;)";
    terms.boundary_facet         = R"(
      if (p.boundary_id != 1) // the other part has no condition
      {
        double jump = u.value[0] - (0.3 + 0.2 * x), k = 1 + u.value[0]^2;
        r.value[0] = constant * p.penalty * k * jump;
        for (int d = 0; d < dim; ++d)
        {
          r.value[0] -= p.normal[d] * k * u.gradient[0][d];
          r.gradient[0][d] = -p.normal[d] * k * jump;
        }
      })";
    terms.parameters["constant"] = 2.5;
    return terms;
  }

  // Two components. In one region a result of the second one is finite where
  // its argument vanishes, and its derivative is not: 0 inside of polytopes, 1
  // on facets between them, 2 on a part of the boundary. Argument and result
  // are members of the structs of a functor, such as value[1].
  inline PointwiseTextTerms
  infinite_derivative(const unsigned int region,
                      const std::string &argument = "value[1]",
                      const std::string &result   = "value[1]")
  {
    const auto in = [&](const unsigned int r, const std::string &root) {
      return r == region ? root : std::string();
    };
    PointwiseTextTerms terms;
    terms.field_components = {2};
    terms.n_components     = 2;
    terms.volume = "r.value[0] = u.value[0]; r.value[1] = u.value[1];" +
                   in(0, "r." + result + " = sqrt(u." + argument + ");");
    terms.interior_facet =
      "r0.value[0] = u1.value[0]; r1.value[0] = -u1.value[0];" +
      in(1,
         "r0." + result + " = sqrt(u1." + argument + "); r1." + result +
           " = -sqrt(u1." + argument + ");");
    terms.boundary_facet =
      "r.value[0] = u.value[0];" + in(2,
                                      "if (p.boundary_id == 1) r." + result +
                                        " = sqrt(u." + argument + ");");
    return terms;
  }

  // Normal fluxes and wave speeds of both sides, q being the states.
  inline std::string
  euler_fluxes()
  {
    return R"(
      for (int s = 0; s < 2; ++s)
      {
        square = 0;
        v = 0;
        for (int d = 0; d < dim; ++d)
        {
          square += q[s][1 + d]^2;
          v += q[s][1 + d] * n[d];
        }
        v /= q[s][0];
        pressure = (gamma - 1) * (q[s][dim + 1] - 0.5 * square / q[s][0]);
        f[s][0] = q[s][0] * v;
        for (int d = 0; d < dim; ++d)
          f[s][1 + d] = q[s][1 + d] * v + pressure * n[d];
        f[s][dim + 1] = (q[s][dim + 1] + pressure) * v;
        speed[s] = abs(v) + sqrt(gamma * pressure / q[s][0]);
        wall[s] = pressure;
      }
      for (int c = 0; c < dim + 2; ++c)
        flux[c] = 0.5 * (f[0][c] + f[1][c] +
                         max(speed[0], speed[1]) * (q[0][c] - q[1][c]));)";
  }

  inline PointwiseTextTerms
  euler(const int dim, const std::vector<double> &state)
  {
    PointwiseTextTerms terms;
    terms.field_components = {dim + 2u};
    terms.n_components     = dim + 2;
    terms.volume           = R"(
      square = 0;
      for (int d = 0; d < dim; ++d)
        square += u.value[1 + d]^2;
      pressure = (gamma - 1) * (u.value[dim + 1] - 0.5 * square / u.value[0]);
      for (int d = 0; d < dim; ++d)
      {
        v = u.value[1 + d] / u.value[0];
        r.gradient[0][d] = -u.value[1 + d];
        for (int e = 0; e < dim; ++e)
          r.gradient[1 + e][d] = -u.value[1 + e] * v - (d == e ? pressure : 0);
        r.gradient[dim + 1][d] = -(u.value[dim + 1] + pressure) * v;
      })";
    terms.interior_facet   = R"(
      for (int s = 0; s < 2; ++s)
        for (int c = 0; c < dim + 2; ++c)
          q[s][c] = u[s].value[c];)" +
                           euler_fluxes() + R"(
      for (int c = 0; c < dim + 2; ++c)
      {
        r0.value[c] = flux[c];
        r1.value[c] = -flux[c];
      })";
    terms.boundary_facet = R"(
      for (int c = 0; c < dim + 2; ++c)
      {
        q[0][c] = u.value[c];
        q[1][c] = c == 0 ? density : c == 1 ? momentum_x :
                  c <= dim ? momentum : energy;
      })" + euler_fluxes() +
                           R"(
      for (int c = 0; c < dim + 2; ++c)
        r.value[c] = p.boundary_id == 0 || p.boundary_id == 2 ?
                     (c >= 1 && c <= dim ? wall[0] * n[c == 0 || c > dim ? 0 : c - 1] : 0) :
                     flux[c];)";
    terms.parameters = {{"gamma", 1.4},
                        {"density", state[0]},
                        {"momentum_x", state[1]},
                        {"momentum", state[2]},
                        {"energy", state.back()}};
    return terms;
  }

  /// Functors::TwoFields without indices.
  inline PointwiseTextTerms
  two_fields()
  {
    PointwiseTextTerms terms;
    terms.field_components = {2, 1};
    terms.n_components     = 2;
    terms.volume           = R"(
      w = 1 + 0.1 * p.material[0] + 0.1 * p.h[0] + 0.1 * t;
      for (int i = 0; i < 2; ++i)
      {
        for (int d = 0; d < dim; ++d)
        {
          r.gradient[i][d] = w * exp(u.value[2]) * u.gradient[i][d] +
                             u.gradient[2][d] * u.value[1 - i] * x[d];
          r.value[i] += u.gradient[2][d] * u.gradient[i][d];
        }
        r.value[i] += u.value[0] * u.value[1] * u.value[2];
      })";
    terms.interior_facet   = R"(
      for (int s = 0; s < 2; ++s)
        w[s] = 1 + 0.1 * p.material[s] + 0.1 * p.h[s] + 0.1 * t;
      for (int i = 0; i < 2; ++i)
      {
        jump = u0.value[i] - u1.value[i];
        mean = 0.5 * (u0.value[2] * w[0] + u1.value[2] * w[1]);
        r0.value[i] = p.penalty * jump * mean;
        r1.value[i] = -2 * mean * tanh(u0.value[1 - i] * u1.value[i]);
        for (int d = 0; d < dim; ++d)
        {
          r0.value[i] += n[d] * u1.gradient[2][d] * u0.gradient[i][d];
          r1.value[i] -= x[d] * u0.gradient[i][d] * u1.value[i];
          r0.gradient[i][d] = n[d] * jump * u1.gradient[1 - i][d];
          r1.gradient[i][d] = u0.gradient[i][d] * jump * mean;
        }
      })";
    return terms;
  }

  /// Functors::ThreeComponents.
  inline PointwiseTextTerms
  three_components()
  {
    PointwiseTextTerms terms;
    terms.field_components = {3};
    terms.n_components     = 3;
    terms.volume           = R"(
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < dim; ++d)
          r.value[c] += cos(x[d]) * u.gradient[c][d] *
                        (1 + u.gradient[c < 2 ? c + 1 : 0][d]);)";
    terms.boundary_facet   = R"(
      r.value[2] = (1 + p.boundary_id) * pow(1 + u.value[0]^2, 0.7);
      for (int d = 0; d < dim; ++d)
        r.value[0] += n[d] * u.gradient[1][d] * p.penalty;)";
    return terms;
  }

  /// Every function and operator of the language.
  inline PointwiseTextTerms
  all_functions()
  {
    PointwiseTextTerms terms;
    terms.field_components    = {3};
    terms.n_components        = 4;
    terms.volume              = R"(
      a = u.value[0]; // in (0.1, 0.7)
      b = u.value[1];
      c = u.value[2];
      r.value[0] = sin(a) + cos(b) * tan(c) + asin(a) - acos(b) + atan(a * c) +
                   sinh(a) * cosh(b) - tanh(c) + asinh(b) + acosh(1 + a) +
                   atanh(c);
      r.value[1] = exp(a) * log(b) + ln(c) - log2(a) + log10(b) + sqrt(a * b) -
                   cbrt(c) + abs(a - b) + erf(b) * erfc(c) + cot(a) - sec(b) +
                   csc(c) + sign(a - b) * c;
      r.value[2] = floor(4 * a) + ceil(3 * b) * a + rint(5 * c) + round(a + b) +
                   int(c) + pow(a, 2) + a ** 3 - b ^ 2.5 + pow(a, c) + 2 ^ -b +
                   pow(scale, b) + atan2(a, b) - atan2(1, c) + atan2(a, 2) +
                   min(a, b, c) - max(a, 0.3) + min(0.4, b);
      r.value[3] = (a < b ? a * c : b / c) + (a <= 0.3 || b >= 0.5 ? 2 / c : 0) +
                   (a > c && !(b != c) ? 1 : a * a) + if(a == b, 1, -c) -
                   (-a / 3e0) * +b + 1.5e-1 / (b + 2.);
      if (a < 0.4)
        r.gradient[0][0] = scale * a;
      else if (b < 0.4)
      {
        r.gradient[0][0] = b * b;
        r.gradient[0][1] -= a * u.gradient[1][0];
      }
      else
        ;
      r.gradient[0][1] /= 3; /* of what is set above */
      r.gradient[0][1] *= y + pi;)";
    terms.parameters["scale"] = 1.7;
    return terms;
  }
} // namespace Texts

#endif
