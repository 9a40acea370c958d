// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_tests_cuda_checks_h
#define tessella_tests_cuda_checks_h

#include <exception>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>

// Checks of programs that print nothing where all is well.

inline unsigned int n_checks = 0, n_failures = 0;

inline void
verify(const std::string &name, const bool good, const std::string &text = "")
{
  ++n_checks;
  if (good)
    return;
  ++n_failures;
  std::cout << name << ": FAILED " << text << std::endl;
}

inline bool
contains(const std::string &text, const std::string &part)
{
  return text.find(part) != std::string::npos;
}

/// What @p function throws, in one line: deal.II breaks long texts.
inline std::string
message_of(const std::function<void()> &function)
{
  try
    {
      function();
    }
  catch (const std::exception &exception)
    {
      std::istringstream words(exception.what());
      std::string        message, word;
      while (words >> word)
        message += (message.empty() ? "" : " ") + word;
      return message;
    }
  return "no exception";
}

#endif
