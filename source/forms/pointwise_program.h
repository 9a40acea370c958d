// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_forms_pointwise_program_h
#define tessella_source_forms_pointwise_program_h

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Functions of the data of a quadrature point as a list of operations on
     * doubles. The operands of an operation precede it, equal operations occur
     * once, and operations on numbers are carried out when they are added.
     *
     * Derivatives are operations of the same list (forward differentiation
     * with symbols): what does not depend on a field costs nothing. Rules and
     * branches are those of Dual, so that both give the same derivatives up to
     * rounding.
     */
    class PointwiseProgram
    {
    public:
      enum class Operation : unsigned char
      {
        number,
        input,
        negate,
        add,
        subtract,
        multiply,
        divide,
        /// Product that is zero if the second factor is, see Dual::times().
        times,
        power,
        atan2,
        minimum,
        maximum,
        // Conditions: one if true, else zero.
        less,
        less_equal,
        equal,
        not_equal,
        logical_and,
        logical_or,
        logical_not,
        /// The second operand if the first one is not zero, else the third.
        select,
        /// Function number a, see function(), of the operand b.
        function
      };

      /// Data that a program reads.
      struct Input
      {
        enum Kind
        {
          position,
          time,
          normal,
          penalty,
          length,
          material,
          boundary_id,
          parameter,
          /// Row of a field, or of its change, on a side.
          field,
          direction
        };
        Kind         kind  = position;
        unsigned int side  = 0;
        unsigned int index = 0;

        bool
        operator<(const Input &other) const
        {
          return std::tie(kind, side, index) <
                 std::tie(other.kind, other.side, other.index);
        }
      };

      /// A value of the list; a, b and c are its operands. An input has its
      /// position in inputs() as a.
      struct Value
      {
        Operation    operation = Operation::number;
        unsigned int a = 0, b = 0, c = 0;
        double       number = 0.;
      };

      /// A function of one variable.
      struct Function
      {
        /// Name in C++.
        const char *name;
        double (*value)(double);
        /// Whether its derivative is zero, since it is piecewise constant.
        bool constant;
      };
      static const Function &
      function(const unsigned int index);
      /// Index of a function, or -1 if there is none with this name.
      static unsigned int
      find_function(const std::string &name);

      /// The list begins with the numbers zero and one.
      PointwiseProgram();
      static constexpr unsigned int zero = 0, one = 1;

      // Adding operations; the results and operands are positions in values().
      unsigned int
      number(const double x);
      unsigned int
      input(const Input &input);
      unsigned int
      apply(const Operation    operation,
            const unsigned int a,
            const unsigned int b = 0,
            const unsigned int c = 0);
      /// The function with this name, which must exist.
      unsigned int
      apply(const std::string &function, const unsigned int a);

      /// Derivatives of all present values in the direction in which inputs
      /// of fields change by the values @p seeds; inputs without an entry do
      /// not change.
      std::vector<unsigned int>
      differentiate(const std::map<Input, unsigned int> &seeds);

      const std::vector<Value> &
      values() const
      {
        return list;
      }
      const std::vector<Input> &
      inputs() const
      {
        return present_inputs;
      }
      bool
      is_number(const unsigned int value) const
      {
        return list[value].operation == Operation::number;
      }

      /// Marks the values that @p results need.
      std::vector<bool>
      needed(const std::vector<unsigned int> &results) const;
      /// Marks the values that vary with a field.
      std::vector<bool>
      active() const;

      /// Number of operands of an operation.
      static unsigned int
      n_operands(const Operation operation);
      /// Operands of a value.
      static void
      operands(const Value &value, unsigned int (&result)[3]);
      /// Result of an operation on numbers.
      static double
      compute(const Value &value,
              const double a,
              const double b,
              const double c);

    private:
      unsigned int
      add(const Value &value);
      unsigned int
      derivative(const unsigned int               value,
                 const std::vector<unsigned int> &changes);
      unsigned int
      derivative_of_function(const unsigned int value);

      using Key = std::tuple<Operation,
                             unsigned int,
                             unsigned int,
                             unsigned int,
                             unsigned long long>;
      std::vector<Value>            list;
      std::vector<Input>            present_inputs;
      std::map<Key, unsigned int>   known;
      std::map<Input, unsigned int> known_inputs;
    };



    /**
     * Evaluates results of a PointwiseProgram at many points, operation by
     * operation for a few points at a time, so that loops over points can be
     * vectorised.
     */
    class PointwiseEvaluator
    {
    public:
      static constexpr unsigned int n_lanes = 32;

      PointwiseEvaluator() = default;
      PointwiseEvaluator(const PointwiseProgram          &program,
                         const std::vector<unsigned int> &results);

      /// Inputs of the program in the order of PointwiseProgram::inputs():
      /// read(input, first point, number of points, array of n_lanes entries).
      /// Result i is written to @p results [i], unless that is null. Thread
      /// safe.
      template <typename Read>
      void
      evaluate(const unsigned int   n,
               const Read          &read,
               double *const *const results) const;

    private:
      struct Step
      {
        PointwiseProgram::Value value;
        unsigned int            to = 0, from[3] = {0, 0, 0};
        /// Steps of the operands.
        unsigned int needs[3] = {0, 0, 0};
      };
      static void
      carry_out(const Step &step, double *registers);
      std::vector<bool>
      wanted_steps(double *const *const results) const;

      std::vector<PointwiseProgram::Input> inputs;
      std::vector<Step>                    steps;
      /// Step and register of each result.
      std::vector<unsigned int> result_step, result_register;
      unsigned int              n_registers = 0;
    };



    template <typename Read>
    void
    PointwiseEvaluator::evaluate(const unsigned int   n,
                                 const Read          &read,
                                 double *const *const results) const
    {
      using Operation                = PointwiseProgram::Operation;
      const std::vector<bool> wanted = wanted_steps(results);
      std::vector<double>     registers(std::size_t(n_registers) * n_lanes, 0.);
      for (unsigned int first = 0; first < n; first += n_lanes)
        {
          const unsigned int m = n - first < n_lanes ? n - first : n_lanes;
          for (std::size_t i = 0; i < steps.size(); ++i)
            if (wanted[i])
              {
                const Step &step = steps[i];
                double *to = registers.data() + std::size_t(step.to) * n_lanes;
                if (step.value.operation == Operation::input)
                  {
                    // The lanes behind the last point repeat it.
                    read(inputs[step.value.a], first, m, to);
                    for (unsigned int q = m; q < n_lanes; ++q)
                      to[q] = to[m - 1];
                  }
                else if (step.value.operation != Operation::number ||
                         first == 0)
                  carry_out(step, registers.data());
              }
          for (std::size_t i = 0; i < result_step.size(); ++i)
            if (results[i] != nullptr)
              {
                const double *from =
                  registers.data() + std::size_t(result_register[i]) * n_lanes;
                for (unsigned int q = 0; q < m; ++q)
                  results[i][first + q] = from[q];
              }
        }
    }
  } // namespace internal
} // namespace Tessella

#endif
