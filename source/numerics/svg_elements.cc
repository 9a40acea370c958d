// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/numerics/svg_elements.h>

#include <cstdio>
#include <ostream>

namespace Tessella
{
  namespace Svg
  {
    std::string
    number(const double value)
    {
      char text[64];
      std::snprintf(text, sizeof(text), "%.2f", value);
      std::string s(text);
      s.erase(s.find_last_not_of('0') + 1);
      if (s.back() == '.')
        s.pop_back();
      return s == "-0" ? "0" : s;
    }



    std::string
    escape(const std::string &text)
    {
      std::string result;
      for (const char c : text)
        switch (c)
          {
            case '&':
              result += "&amp;";
              break;
            case '<':
              result += "&lt;";
              break;
            case '>':
              result += "&gt;";
              break;
            case '"':
              result += "&quot;";
              break;
            default:
              // XML does not allow control characters.
              result += (static_cast<unsigned char>(c) < 32) ? ' ' : c;
          }
      return result;
    }



    void
    write_header(std::ostream &out, const double width, const double height)
    {
      out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
          << number(width) << "\" height=\"" << number(height)
          << "\" viewBox=\"0 0 " << number(width) << ' ' << number(height)
          << "\">\n"
          << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    }



    void
    write_text(std::ostream      &out,
               const double       x,
               const double       y,
               const double       size,
               const std::string &anchor,
               const std::string &content,
               const std::string &attributes)
    {
      out << "<text x=\"" << number(x) << "\" y=\"" << number(y)
          << "\" font-family=\"Helvetica, Arial, 'Liberation Sans', "
             "'DejaVu Sans', sans-serif\" font-size=\""
          << number(size) << "\" text-anchor=\"" << anchor << "\" "
          << attributes << '>' << content << "</text>\n";
    }
  } // namespace Svg
} // namespace Tessella
