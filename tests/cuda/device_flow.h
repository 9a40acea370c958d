// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_device_flow_h
#define tessella_tests_cuda_device_flow_h

#include <cmath>
#include <string>

#include "../flow/incompressible_functions.h"

/// MovingFlow with its functions for a device, and data of a temperature.
template <int dim>
class DeviceFlow : public MovingFlow<dim>
{
public:
  double
  temperature(const OperatorPoint<dim> &p) const override
  {
    return std::cos(p.x[0] - p.t) + p.x[1];
  }
  double
  heat_flux(const OperatorPoint<dim> &p) const override
  {
    return p.x[0] * std::sin(2. + p.t);
  }
  double
  heat_source(const OperatorPoint<dim> &p) const override
  {
    return std::sin(2. * p.x[0] + p.x[1] + p.t);
  }
  std::string
  device_code() const override
  {
    const std::string head = "TESSELLA_HOST_DEVICE ",
                      xy =
                        "const double x = p.x[0], y = p.x[1];\n(void)x;\n"
                        "(void)y;\n",
                      parameters =
                        "const double viscosity = " +
                        std::to_string(this->viscosity) +
                        ", moving = " + std::to_string(this->moving) +
                        ", a = 1. + moving * sin(2. * p.t), b = 1. + moving "
                        "* cos(3. * p.t);\n(void)viscosity;\n(void)a;\n"
                        "(void)b;\n";
    const auto member = [&](const std::string &start, const std::string &body) {
      return head + start + "\n{\n" + xy + parameters + body + "}\n";
    };
    return member("void\nvelocity(const Point &p, double *u) const",
                  "u[0] = a * x * x * y;\nu[1] = -a * x * y * y;\n" +
                    std::string(dim == 3 ? "u[2] = a * x * y;\n" : "")) +
           member("double\npressure(const Point &p) const",
                  "return b * (x * x - 3. * x * y + 2. * y);\n") +
           member("void\nnormal_derivative(const Point &p, double *h) const",
                  "h[0] = a * (2. * x * y * p.normal[0] + x * x * "
                  "p.normal[1]);\nh[1] = a * (-y * y * p.normal[0] - 2. * x "
                  "* y * p.normal[1]);\n" +
                    std::string(dim == 3 ? "h[2] = a * (y * p.normal[0] + x "
                                           "* p.normal[1]);\n"
                                         : "")) +
           member("void\nforce(const Point &p, double *f) const",
                  "const double c = 2. * moving * cos(2. * p.t), u0 = x * x "
                  "* y, u1 = -x * y * y;\n"
                  "f[0] = a * a * (u0 * 2. * x * y + u1 * x * x) + b * (2. * "
                  "x - 3. * y) + c * u0 - viscosity * a * 2. * y;\n"
                  "f[1] = a * a * (-u0 * y * y - u1 * 2. * x * y) + b * (-3. "
                  "* x + 2.) + c * u1 + viscosity * a * 2. * x;\n" +
                    std::string(
                      dim == 3
                        ? "f[2] = a * a * (u0 * y + u1 * x) + c * x * y;\n"
                        : "")) +
           member("double\ntemperature(const Point &p) const",
                  "return cos(x - p.t) + y;\n") +
           member("double\nheat_flux(const Point &p) const",
                  "return x * sin(2. + p.t);\n") +
           member("double\nheat_source(const Point &p) const",
                  "return sin(2. * x + y + p.t);\n");
  }
};

#endif
