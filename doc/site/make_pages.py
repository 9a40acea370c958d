#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Makes the pages of the documentation site, which doxygen reads.

    make_pages.py ROOT OUTPUT MATHJAX

ROOT is the folder of the repository. Every document becomes a page in OUTPUT/pages:
links to documents become links to their pages, links to other files lead to copies
in OUTPUT/files, formulas get doxygen's commands, headings get anchors. A tutorial is
followed by its programs, whose comments become text. The part of MathJax in the
folder MATHJAX that pages need is copied to OUTPUT/mathjax. OUTPUT is emptied first.
"""
import os
import re
import shutil
import sys

REPOSITORY_FILES = (".prm", ".cc", ".cu", ".h", ".sh", ".py", ".txt")


def documents(root):
    """Documents with a page, as paths relative to the root."""
    result = ["README.md", "BENCHMARKS.md", "LICENSE.md", "tests/README.md"]
    for folder in ("doc", "tutorials"):
        for path, folders, files in os.walk(os.path.join(root, folder)):
            folders.sort()
            result += [os.path.relpath(os.path.join(path, name), root)
                       for name in sorted(files) if name.endswith(".md")]
    return result


def page_id(document):
    """Name of the page of a document or folder."""
    name = re.sub(r"(/README)?\.md$", "", document)
    return ("page_" + re.sub(r"\W+", "_", name)).lower()


def slug(heading):
    """Anchor that a heading has in common viewers of Markdown."""
    text = re.sub(r"[`*]", "", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchor(document, heading_slug):
    return page_id(document) + "_" + re.sub(r"\W", "_", heading_slug)


def split_code(text):
    """Parts of a document: (is_code, text). Code is fenced, indented or between
    backticks."""
    pattern = re.compile(
        r"^```.*?^```[ ]*$|(?<=\n\n)(?:    [^\n]*\n|\n)+|`[^`\n]+(?:\n[^`\n]+)?`",
        re.M | re.S)
    begin = 0
    for match in pattern.finditer(text):
        if match.start() > begin:
            yield False, text[begin:match.start()]
        yield True, match.group(0)
        begin = match.end()
    yield False, text[begin:]


def inline_code(part):
    """Names after two colons would be links to members."""
    if part.startswith("`::"):
        return "<code>&#58;&#58;%s</code>" % part[3:-1]
    return part


class Site:
    def __init__(self, root, output):
        self.root, self.output = root, output
        self.documents = documents(root)
        self.folders = []  # folders that documents link to
        for name in ("pages", "files"):
            os.makedirs(os.path.join(output, name))

    def copy(self, path, name):
        shutil.copyfile(os.path.join(self.root, path),
                        os.path.join(self.output, "files", name))

    def file_link(self, path):
        """Name of the copy of a file of the repository, as text."""
        name = re.sub(r"\W+", "_", os.path.dirname(path))
        name = (name + "_" if name else "") + os.path.basename(path)
        if not name.endswith(".txt"):
            name += ".txt"
        self.copy(path, name)
        return name

    def link(self, document, text, target, is_list):
        """Link of @p document to @p target."""
        if re.match(r"https?:", target):
            return "[%s](%s)" % (text, target)
        path, _, fragment = target.partition("#")
        path = os.path.normpath(
            os.path.join(os.path.dirname(document), path)) if path else document
        if fragment:
            return "[%s](@ref %s)" % (text, anchor(path, fragment))
        if path == "README.md":
            return '<a href="index.html">%s</a>' % text
        if path in self.documents:
            command = r"\subpage" if is_list else r"\ref"
            return '%s %s "%s"' % (command, page_id(path), text.replace(
                "`", ""))
        if os.path.isdir(os.path.join(self.root, path)):
            if path not in self.folders:
                self.folders.append(path)
            return '\\ref %s "%s"' % (page_id(path), text)
        if not os.path.isfile(os.path.join(self.root, path)):
            sys.exit("%s: there is no file %s." % (document, target))
        program = "page_%s_program_%s" % (page_id(document)[5:], re.sub(
            r"\W", "_", os.path.basename(path)))
        if document.startswith("tutorials/step") and \
                re.search(r"\.(cc|cu|h)$", path):
            return "[%s](@ref %s)" % (text, program)
        return '<a href="%s">%s</a>' % (self.file_link(path), text)

    def picture(self, document, text, target):
        path = os.path.normpath(os.path.join(os.path.dirname(document),
                                             target))
        name = page_id(path).replace("_png", ".png").replace("_svg", ".svg")
        self.copy(path, name)
        return '<img class="picture" src="%s" alt="%s"/>' % (name, text)

    def prose(self, document, text):
        """Text outside code with the commands of doxygen."""
        def formulas(text):
            for i, part in enumerate(re.split(r"(\$\$.*?\$\$|\$[^$]+\$)",
                                              text, flags=re.S)):
                if part.startswith("$$"):
                    yield r"\f[" + part[2:-2] + r"\f]"
                elif i % 2:
                    yield r"\f$" + part[1:-1] + r"\f$"
                else:
                    yield self.references(document, part)
        return "".join(formulas(text))

    def references(self, document, text):
        is_list = document in ("doc/README.md", "tutorials/README.md")
        text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)",
                      lambda m: self.picture(document, m.group(1),
                                             m.group(2)), text)
        text = re.sub(r"(?<!!)\[([^\]\[]+)\]\(([^)\s]+)\)",
                      lambda m: self.link(document, " ".join(
                          m.group(1).split()), m.group(2), is_list), text)
        return re.sub(r"^(##+) (.*)$",
                      lambda m: "%s %s {#%s}" % (m.group(1), m.group(2).rstrip(
                          "# "), anchor(document, slug(m.group(2)))),
                      text, flags=re.M)

    def program(self, document, name):
        """A program whose comments are text."""
        path = os.path.join(os.path.dirname(document), name)
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        copy = self.file_link(path)
        parts, kind = [], None  # [kind, lines]
        for line in lines:
            comment = re.match(r"\s*//[/!]?<? ?(.*)$", line)
            new = "text" if comment else "code"
            if not line.strip() and kind == "text":
                new = "code"
            if new != kind:
                parts.append((new, []))
                kind = new
            parts[-1][1].append(comment.group(1) if comment else line)
        result = ["\n## %s {#page_%s_program_%s}\n" % (
            "The commented program" if name.endswith(".cc") else name,
            page_id(document)[5:], re.sub(r"\W", "_", name)),
            '<a href="%s">%s as a file</a>\n' % (copy, name)]
        for kind, content in parts:
            text = "\n".join(content).strip("\n")
            if not text.strip() or text.startswith("SPDX"):
                continue
            if kind == "code":
                result.append("```{.cpp}\n%s\n```\n" % text)
            else:
                result.append(re.sub(r"([\\@<>#%*&~`|\[\]])", r"\\\1", text)
                              .replace("README.md", "The text above") + "\n")
        return "\n".join(result)

    def page(self, document):
        with open(os.path.join(self.root, document), encoding="utf-8") as file:
            text = file.read()
        title, _, body = text.partition("\n")
        # Doxygen does not see emphasis that has code in it.
        body = re.sub(r"(?<=\n\n)\*(?![*\s])([^*]+)\*(?=\n\n)",
                      r"<em>\1</em>", "\n" + body)[1:]
        body = "".join(inline_code(part) if code else self.prose(document, part)
                       for code, part in split_code("\n" + body))
        identifier = "mainpage" if document == "README.md" else page_id(
            document)
        text = "%s {#%s}\n%s" % (title, identifier, body)
        step = re.match(r"tutorials/(step-\d+)/", document)
        if step:
            folder = os.path.join(self.root, os.path.dirname(document))
            names = sorted(os.listdir(folder))
            for name in [step.group(1) + ".cc"] + [
                    n for n in names if n.endswith((".h", ".cu"))]:
                text += self.program(document, name)
        if document == "doc/README.md":
            # Every document that the page does not list itself is listed here.
            listed = set(re.findall(r"\\subpage (\w+)", text))
            text += "\n## Further pages\n\n"
            for other in self.documents:
                if page_id(other) not in listed and other != document and \
                        other != "README.md" and \
                        not other.startswith("tutorials"):
                    text += "- \\subpage %s\n" % page_id(other)
        self.write(page_id(document), text)

    def folder(self, folder):
        """A page with the files of a folder that a document links to."""
        text = "# Folder %s {#%s}\n\n" % (folder, page_id(folder))
        for name in sorted(os.listdir(os.path.join(self.root, folder))):
            path = folder + "/" + name
            if path in self.documents:
                text += "- \\ref %s\n" % page_id(path)
            elif name.endswith(REPOSITORY_FILES):
                text += '- <a href="%s">%s</a>\n' % (self.file_link(path),
                                                     name)
        self.write(page_id(folder), text)

    def write(self, name, text):
        with open(os.path.join(self.output, "pages", name + ".md"), "w",
                  encoding="utf-8") as file:
            file.write(text)


def copy_mathjax(mathjax, output):
    """Copies what the output as SVG needs, which reads no font files."""
    target = os.path.join(output, "mathjax")
    for part in ("MathJax.js", "extensions", "jax/element", "jax/input/TeX",
                 "jax/output/SVG/jax.js", "jax/output/SVG/config.js",
                 "jax/output/SVG/autoload", "jax/output/SVG/fonts/TeX"):
        source = os.path.join(mathjax, part)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(target, part))
        else:
            os.makedirs(os.path.dirname(os.path.join(target, part)),
                        exist_ok=True)
            shutil.copyfile(source, os.path.join(target, part))


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    root, output, mathjax = arguments
    shutil.rmtree(output, ignore_errors=True)
    site = Site(root, output)
    for document in site.documents:
        site.page(document)
    for folder in site.folders:
        site.folder(folder)
    copy_mathjax(mathjax, output)


if __name__ == "__main__":
    main(sys.argv[1:])
