// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_ends_with_h
#define tessella_applications_ends_with_h

#include <string>

namespace Tessella
{
  namespace Application
  {
    /// Whether a text, such as the name of a file or of a column, has an
    /// ending.
    inline bool
    ends_with(const std::string &text, const std::string &ending)
    {
      return text.size() >= ending.size() &&
             text.compare(text.size() - ending.size(), ending.size(), ending) ==
               0;
    }
  } // namespace Application
} // namespace Tessella

#endif
