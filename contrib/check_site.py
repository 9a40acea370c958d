#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Checks the documentation site that the target documentation has built.

    check_site.py HTML ROOT

HTML is the folder of the site and ROOT that of the repository. Every link to a file
or to an anchor of the site must have a target, scripts and styles must not come from
the network, and every document and each of its pictures, in particular those of the
tutorials, must be in the site. The exit status is 0 if all is well.
"""
import html.parser
import os
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """Anchors, links and pictures of a page."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.anchors, self.links, self.loaded = set(), [], []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("id", "name"):
            if attributes.get(name):
                self.anchors.add(attributes[name])
        if attributes.get("href"):
            (self.loaded if tag == "link" else self.links).append(
                attributes["href"])
        for name in ("src", "data"):
            if attributes.get(name) and tag != "param":
                self.loaded.append(attributes[name])


def search_targets(folder):
    """Links of the search index, which scripts contain."""
    for path, _, files in os.walk(os.path.join(folder, "search")):
        for name in files:
            if re.match(r"[a-z]+_[0-9a-f]+\.js$", name):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    for target in re.findall(r"'\.\./([^']+)'", file.read()):
                        yield os.path.join("search", name), target


def check_links(folder, pages):
    """Messages about targets that are not there."""
    anchors_of = {name: page.anchors for name, page in pages.items()}
    n_links = 0
    links = [(name, target, target in page.loaded)
             for name, page in pages.items()
             for target in page.links + page.loaded]
    links += [(name, target, False) for name, target in search_targets(folder)]
    messages = []
    for name, target, loaded in links:
        parts = urllib.parse.urlsplit(target)
        if parts.scheme or parts.netloc:
            if loaded and parts.scheme not in ("data", "javascript"):
                messages.append("%s: loads %s from the network" %
                                (name, target))
            continue
        n_links += 1
        base = "" if name.endswith(".js") else os.path.dirname(name)
        path = urllib.parse.unquote(parts.path)
        path = os.path.normpath(os.path.join(base, path)) if path else name
        if not os.path.exists(os.path.join(folder, path)):
            messages.append("%s: there is no %s" % (name, path))
        elif parts.fragment and path in anchors_of and urllib.parse.unquote(
                parts.fragment) not in anchors_of[path]:
            messages.append("%s: there is no anchor %s in %s" %
                            (name, parts.fragment, path))
    return messages, n_links


def check_documents(folder, root, pages):
    """Messages about documents and pictures of the repository that the site
    lacks."""
    messages, n_pictures = [], 0
    for base in ("README.md", "BENCHMARKS.md", "doc", "tutorials"):
        base = os.path.join(root, base)
        documents = [base] if os.path.isfile(base) else [
            os.path.join(path, name) for path, _, files in os.walk(base)
            for name in files if name.endswith(".md")]
        for document in documents:
            name = os.path.relpath(document, root)
            page = re.sub(r"(/README)?\.md$", "", name)
            page = "index" if name == "README.md" else "page_" + re.sub(
                r"\W+", "_", page).lower()
            if page + ".html" not in pages:
                messages.append("%s: there is no page %s.html" % (name, page))
                continue
            with open(document, encoding="utf-8") as file:
                text = file.read()
            pictures = re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text)
            if re.match(r"tutorials/step", name) and not pictures:
                messages.append("%s has no picture" % name)
            for picture in pictures:
                n_pictures += 1
                with open(os.path.join(os.path.dirname(document), picture),
                          "rb") as file:
                    content = file.read()
                for shown in pages[page + ".html"].loaded:
                    shown = os.path.join(folder, shown)
                    if os.path.isfile(shown):
                        with open(shown, "rb") as file:
                            if file.read() == content:
                                break
                else:
                    messages.append("%s.html does not show %s of %s" %
                                    (page, picture, name))
    return messages, n_pictures


def main(folder, root):
    pages = {}
    for path, folders, files in os.walk(folder):
        # MathJax is not ours.
        folders[:] = [name for name in folders if name != "mathjax"]
        for name in files:
            if name.endswith(".html"):
                full = os.path.join(path, name)
                pages[os.path.relpath(full, folder)] = Page(full)
    if "index.html" not in pages:
        sys.exit("check_site.py: there is no site in %s." % folder)
    broken, n_links = check_links(folder, pages)
    missing, n_pictures = check_documents(folder, root, pages)
    for message in sorted(set(broken + missing)):
        print(message)
    if broken or missing:
        sys.exit("check_site.py: %d errors." % len(set(broken + missing)))
    print("%d pages, %d links, %d pictures: no error." %
          (len(pages), n_links, n_pictures))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
