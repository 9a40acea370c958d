#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Checks a report of a program.

    check_report.py REPORT.html TABLE.csv DRAWING...

The page must be well-formed, refer to no other file, have unique ids, contain the
last value of the table (a number may be rounded if its tool tip is complete), the
name of each column, and a drawing for each title.
"""
import sys
import xml.etree.ElementTree as ElementTree


def fail(message):
    sys.exit("%s: %s" % (sys.argv[1], message))


def main(page, table, drawings):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    try:
        # An undefined entity or an open element is an error.
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        fail("not well-formed: %s" % error)
    elements = list(root.iter())
    for word in ("http:", "https:", "url(", "@import", "<script"):
        if word in text:
            fail("contains '%s'" % word)
    for element in elements:
        for name in ("src", "href", "data"):
            if element.get(name, "data:").split(",")[0] != "data:":
                fail("refers to %s" % element.get(name))
    ids = [e.get("id") for e in elements if e.get("id")]
    if len(ids) != len(set(ids)):
        fail("ids are not unique")
    cells = {"".join(e.itertext()) for e in elements if e.tag in ("td", "th")}
    cells |= {e.get("title") for e in elements if e.tag == "td"}
    with open(table, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(",") for line in file]
    wanted = [name.replace("_", " ") for name in rows[0]] + rows[-1]
    for value in wanted:
        if value not in cells:
            fail("the table lacks '%s'" % value)
    captions = {}
    for figure in root.iter("figure"):
        captions.setdefault(figure.findtext("figcaption"), []).append(figure)
    for drawing in drawings:
        if not any(figure.find("svg") is not None
                   for figure in captions.get(drawing, [])):
            fail("there is no drawing '%s', but %s" % (drawing,
                                                       sorted(captions)))
    bars = [e for e in root.iter("rect") if e.get("class") == "bar"]
    if len(bars) < len(rows) - 1:
        fail("there are %d bars for %d rows" % (len(bars), len(rows) - 1))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
