// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_numerics_drawing_h
#define tessella_tests_numerics_drawing_h

#include <cctype>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/// Content of a file.
inline std::string
read(const std::string &name)
{
  std::ifstream     in(name, std::ios::binary);
  std::stringstream content;
  content << in.rdbuf();
  return content.str();
}

/// How often a text occurs.
inline unsigned int
count(const std::string &text, const std::string &what)
{
  unsigned int n = 0;
  for (std::size_t i = text.find(what); i != std::string::npos;
       i             = text.find(what, i + 1))
    ++n;
  return n;
}

/// Whether elements are closed in the right order, attributes are quoted, and
/// no reserved characters are stray.
inline bool
well_formed(const std::string &xml)
{
  std::vector<std::string> open;
  bool                     had_root = false;
  for (std::size_t i = 0; i < xml.size();)
    {
      if (xml[i] != '<')
        {
          if (xml[i] == '>' || (open.empty() && !std::isspace(xml[i])))
            return false;
          if (xml[i] == '&' && xml.substr(i, 4) != "&lt;" &&
              xml.substr(i, 4) != "&gt;" && xml.substr(i, 5) != "&amp;" &&
              xml.substr(i, 6) != "&quot;")
            return false;
          ++i;
          continue;
        }
      std::size_t end   = i + 1;
      bool        quote = false;
      while (end < xml.size() && (quote || xml[end] != '>'))
        {
          if (xml[end] == '"')
            quote = !quote;
          if (xml[end] == '<')
            return false;
          ++end;
        }
      if (end == xml.size())
        return false;
      const std::string tag = xml.substr(i + 1, end - i - 1);
      i                     = end + 1;
      if (tag[0] == '?' || tag[0] == '!')
        continue;
      if (tag[0] == '/')
        {
          if (open.empty() || open.back() != tag.substr(1))
            return false;
          open.pop_back();
        }
      else if (tag.back() != '/')
        {
          if (open.empty() && had_root)
            return false;
          had_root = true;
          open.push_back(tag.substr(0, tag.find_first_of(" \n")));
        }
    }
  return had_root && open.empty();
}

#endif
