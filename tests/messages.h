// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_messages_h
#define tessella_tests_messages_h

#include <deal.II/base/exceptions.h>

#include <exception>
#include <sstream>
#include <string>

inline bool
contains(const std::string &text, const std::string &part)
{
  return text.find(part) != std::string::npos;
}

/// Returns the message of the exception that @p function throws, in one line.
/// deal.II breaks long messages into several lines.
template <typename Function>
std::string
message_of(const Function &function)
{
  std::ostringstream text;
  try
    {
      function();
      return "no exception";
    }
  catch (const dealii::ExceptionBase &exception)
    {
      exception.print_info(text);
    }
  catch (const std::exception &exception)
    {
      text << exception.what();
    }
  std::istringstream words(text.str());
  std::string        message;
  for (std::string word; words >> word;)
    message += (message.empty() ? "" : " ") + word;
  return message;
}

#endif
