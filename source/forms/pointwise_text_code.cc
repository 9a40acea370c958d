// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <cmath>
#include <locale>
#include <sstream>

#include "pointwise_text_kernels.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      using Program   = PointwiseProgram;
      using Operation = PointwiseProgram::Operation;

      std::string
      index_of(const unsigned int i)
      {
        return "[" + std::to_string(i) + "]";
      }

      std::string
      row_of(const unsigned int row, const unsigned int dim)
      {
        const unsigned int c = row / (dim + 1), r = row % (dim + 1);
        return r == 0 ? ".value" + index_of(c)
                      : ".gradient" + index_of(c) + index_of(r - 1);
      }

      std::string
      code_of_input(const Program::Input           &input,
                    const unsigned int              dim,
                    const std::vector<std::string> &fields)
      {
        switch (input.kind)
          {
            case Program::Input::position:
              return "p.x" + index_of(input.index);
            case Program::Input::time:
              return "p.t";
            case Program::Input::normal:
              return "p.normal" + index_of(input.index);
            case Program::Input::penalty:
              return "p.penalty";
            case Program::Input::length:
              return "p.h" + index_of(input.side);
            case Program::Input::material:
              return "double(p.material" + index_of(input.side) + ")";
            case Program::Input::boundary_id:
              return "double(p.boundary_id)";
            case Program::Input::parameter:
              return "parameter" + index_of(input.index);
            default:
              return fields[input.side] + row_of(input.index, dim);
          }
      }

      // Operation on the operands a, b and c; @p type is that of the result.
      std::string
      code_of_operation(const Program::Value &value,
                        const std::string    &type,
                        const std::string    &a,
                        const std::string    &b,
                        const std::string    &c)
      {
        const auto truth = [&](const std::string &text) {
          return text + " ? 1. : 0.";
        };
        switch (value.operation)
          {
            case Operation::negate:
              return "-" + a;
            case Operation::add:
              return a + " + " + b;
            case Operation::subtract:
              return a + " - " + b;
            case Operation::multiply:
              return a + " * " + b;
            case Operation::divide:
              return a + " / " + b;
            case Operation::power:
              return "pow(" + a + ", " + b + ")";
            case Operation::atan2:
              return "atan2(" + type + "(" + a + "), " + type + "(" + b + "))";
            case Operation::minimum:
            case Operation::maximum:
              return std::string(value.operation == Operation::minimum
                                   ? "minimum"
                                   : "maximum") +
                     "<" + type + ">(" + a + ", " + b + ")";
            case Operation::less:
              return truth(a + " < " + b);
            case Operation::less_equal:
              return truth(a + " <= " + b);
            case Operation::equal:
              return truth(a + " == " + b);
            case Operation::not_equal:
              return truth(a + " != " + b);
            case Operation::logical_and:
              return truth(a + " != 0. && " + b + " != 0.");
            case Operation::logical_or:
              return truth(a + " != 0. || " + b + " != 0.");
            case Operation::logical_not:
              return truth(a + " == 0.");
            case Operation::select:
              return a + " != 0. ? " + type + "(" + b + ") : " + type + "(" +
                     c + ")";
            case Operation::function:
              return std::string(Program::function(value.a).name) + "(" +
                     (Program::function(value.a).constant
                        ? "value_of(" + a + ")"
                        : a) +
                     ")";
            default: // products that are guarded occur in derivatives only
              return a;
          }
      }
    } // namespace



    std::string
    pointwise_code(const PointwiseProgram             &program,
                   const std::vector<PointwiseResult> &results,
                   const unsigned int                  dim,
                   const std::vector<std::string>     &fields,
                   const std::vector<std::string>     &outputs)
    {
      std::ostringstream text;
      text.imbue(std::locale::classic());
      std::vector<unsigned int> wanted;
      for (const PointwiseResult &result : results)
        wanted.push_back(result.value);
      const std::vector<bool> needed = program.needed(wanted),
                              active = program.active();
      const auto &values             = program.values();
      const auto  name               = [&](const unsigned int i) {
        if (!program.is_number(i))
          return "v" + std::to_string(i);
        std::ostringstream number;
        number.imbue(std::locale::classic());
        const double x = values[i].number;
        if (std::isfinite(x))
          number << '(' << std::hexfloat << x << ')';
        else
          number << (x > 0.   ? "(1. / 0.)"
                                    : x < 0. ? "(-1. / 0.)"
                                             : "(0. / 0.)");
        return number.str();
      };
      for (unsigned int i = 0; i < values.size(); ++i)
        {
          if (!needed[i] || program.is_number(i))
            continue;
          const std::string type = active[i] ? "Number" : "double";
          text << "    const " << type << " v" << i << " = ";
          if (values[i].operation == Operation::input)
            text << code_of_input(program.inputs()[values[i].a], dim, fields);
          else
            {
              unsigned int from[3];
              Program::operands(values[i], from);
              text << code_of_operation(
                values[i], type, name(from[0]), name(from[1]), name(from[2]));
            }
          text << ";\n";
        }
      for (const PointwiseResult &result : results)
        text << "    " << outputs[result.side] << row_of(result.row, dim)
             << " = " << name(result.value) << ";\n";
      return text.str();
    }
  } // namespace internal
} // namespace Tessella
