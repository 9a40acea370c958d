#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Completes the pages that doxygen has written.

    finish_pages.py HTML SOURCE

HTML is the folder of the pages, and SOURCE that of make_pages.py, from which pictures,
files and MathJax are copied. Doxygen 1.9 announces nested classes at the top of a page
even if all of them are private, so that the page does not list them: these links are
removed.
"""
import os
import shutil
import sys

LINK = '<a href="#nested-classes">Classes</a> &#124;\n'


def main(html, source):
    shutil.copytree(os.path.join(source, "files"), html, dirs_exist_ok=True)
    shutil.copytree(os.path.join(source, "mathjax"),
                    os.path.join(html, "mathjax"), dirs_exist_ok=True)
    for name in os.listdir(html):
        if not name.endswith(".html"):
            continue
        path = os.path.join(html, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if LINK in text and 'name="nested-classes"' not in text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(LINK, ""))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
