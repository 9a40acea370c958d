// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_svg_elements_h
#define tessella_numerics_svg_elements_h

#include <iosfwd>
#include <string>

namespace Tessella
{
  /// Elements that all drawings in the format SVG consist of.
  namespace Svg
  {
    /// Number with at most two decimals and no trailing zeros, as text.
    std::string
    number(const double value);

    /// Text with the characters that XML reserves replaced.
    std::string
    escape(const std::string &text);

    /// Begins a drawing of that size, in pixels, with a white background. The
    /// drawing ends with "</svg>".
    void
    write_header(std::ostream &out, const double width, const double height);

    /**
     * Writes @p content, in which reserved characters are already replaced, at
     * the position (@p x, @p y). @p anchor: "start", "middle" or "end", the
     * part of the text that is at this position; @p attributes: further
     * attributes of the element.
     */
    void
    write_text(std::ostream      &out,
               const double       x,
               const double       y,
               const double       size,
               const std::string &anchor,
               const std::string &content,
               const std::string &attributes = "");
  } // namespace Svg
} // namespace Tessella

#endif
