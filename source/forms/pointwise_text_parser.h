// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_forms_pointwise_text_parser_h
#define tessella_source_forms_pointwise_text_parser_h

#include <map>
#include <string>
#include <vector>

#include "pointwise_program.h"

namespace Tessella
{
  namespace internal
  {
    /// Names that a text of PointwiseTextIntegrand may use, and their ranges.
    struct PointwiseTextScope
    {
      /// Origin of the text, for messages: "volume of Equation/Terms".
      std::string  name;
      unsigned int dim = 2;
      /// Number of sides: two on facets between polytopes, else one.
      unsigned int n_sides = 1;
      /// Whether there are a normal and a penalty, and a boundary id.
      bool on_facet = false, on_boundary = false;
      /// Number of components of all fields, and of the test functions.
      unsigned int n_inputs = 1, n_outputs = 1;
      /// Names of parameters in the order of PointwiseProgram::Input::index.
      std::vector<std::string> parameters;
    };

    /// Parses the statements that PointwiseTextIntegrand describes and adds
    /// them to @p program. Returns the values of the results that are not zero:
    /// entry s n_outputs (dim + 1) + row belongs to a row of side s.
    /// Errors in the text end in a sentence with line and character.
    std::map<unsigned int, unsigned int>
    parse_pointwise_text(const std::string        &text,
                         const PointwiseTextScope &scope,
                         PointwiseProgram         &program);
  } // namespace internal
} // namespace Tessella

#endif
