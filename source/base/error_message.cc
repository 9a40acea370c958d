// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <tessella/base/error_message.h>

#include <new>
#include <sstream>

namespace Tessella
{
  std::string
  error_message(const std::exception &exception)
  {
    if (dynamic_cast<const std::bad_alloc *>(&exception) != nullptr)
      return "There is not enough memory for a problem of this size.";

    const auto in_one_line = [](const std::string &text) {
      std::istringstream words(text);
      std::string        line;
      for (std::string word; words >> word;)
        line += (line.empty() ? "" : " ") + word;
      return line;
    };
    const auto *e = dynamic_cast<const dealii::ExceptionBase *>(&exception);
    if (e == nullptr)
      return in_one_line(exception.what());
    std::ostringstream text;
    e->print_info(text);
    const std::string line = in_one_line(text.str());
    return line.empty() || line == "(none)"
             ? "An internal check failed: " + in_one_line(e->what())
             : line;
  }

  std::string
  error_message_of(const std::function<void()> &work)
  {
    try
      {
        work();
      }
    catch (const std::exception &exception)
      {
        return error_message(exception);
      }
    catch (...)
      {
        return "A library that the program uses failed and gave no reason.";
      }
    return "";
  }
} // namespace Tessella
