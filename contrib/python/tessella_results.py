# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Reads what the programs of Tessella write, and draws it.

    import tessella_results
    table = tessella_results.read_csv("results/poisson_2d.csv")
    for degree, rows in table.groups("degree").items():
        print(degree, rows.column("L2_error"))
    tessella_results.plot(table, "unknowns", "L2_error", by="degree",
                          file_name="errors.svg")

Needs nothing but Python's standard library. Pictures are SVG; if matplotlib is
there and the name of the file ends otherwise (.pdf, .png), it draws them.

From a shell:

    python3 tessella_results.py RESULTS.csv                   # prints the table
    python3 tessella_results.py RESULTS.csv X Y BY FILE.svg   # draws Y against X
"""
import csv
import html
import math
import sys


def number(text):
    """The number in a text, an int if it is one, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Table:
    """Columns by name, and rows in the order of the file.

    Empty entries are None: a first row has no rate, for example.
    """

    def __init__(self, names, rows):
        self.names = list(names)
        self.rows = [list(row) for row in rows]
        for row in self.rows:
            if len(row) != len(self.names):
                raise ValueError("A row has %d entries, but there are %d "
                                 "columns." % (len(row), len(self.names)))

    def __len__(self):
        return len(self.rows)

    def column(self, name):
        """All entries of a column."""
        if name not in self.names:
            raise KeyError("There is no column %s; there are %s." %
                           (name, ", ".join(self.names)))
        index = self.names.index(name)
        return [row[index] for row in self.rows]

    def where(self, **values):
        """Table of the rows that have the given entries."""
        chosen = self.rows
        for name, value in values.items():
            self.column(name)
            index = self.names.index(name)
            chosen = [row for row in chosen if row[index] == value]
        return Table(self.names, chosen)

    def groups(self, name):
        """Tables of the rows with equal entries in a column, by entry."""
        return {value: self.where(**{name: value})
                for value in dict.fromkeys(self.column(name))}

    def rates(self, x, y):
        """Orders of y with respect to x from row to row, the first one None."""
        xs, ys = self.column(x), self.column(y)
        result = [None] * min(1, len(self))
        for i in range(1, len(self)):
            usable = all(isinstance(v, (int, float)) and v > 0
                         for v in (xs[i - 1], xs[i], ys[i - 1], ys[i]))
            result.append(math.log(ys[i] / ys[i - 1]) /
                          math.log(xs[i] / xs[i - 1])
                          if usable and xs[i] != xs[i - 1] else None)
        return result

    def text(self):
        """The table with aligned columns."""
        cells = [self.names] + [["" if v is None else str(v) for v in row]
                                for row in self.rows]
        width = [max(len(row[c]) for row in cells)
                 for c in range(len(self.names))]
        return "\n".join("  ".join(v.rjust(w) for v, w in zip(row, width))
                         for row in cells)


def read_csv(file_name):
    """Table of a .csv file of a program."""
    with open(file_name, newline="", encoding="utf-8") as file:
        lines = [row for row in csv.reader(file) if row]
    if not lines:
        raise ValueError("The file %s is empty." % file_name)
    return Table(lines[0], [[None if text == "" else number(text)
                             for text in row] for row in lines[1:]])


COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]


def ticks(low, high):
    """Powers of ten, with 2 and 5 between them if there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1,) if last - first > 2 else (1, 2, 5)
    return [f * 10.**e for e in range(first, last + 1) for f in factors
            if 0.999 * low <= f * 10.**e <= 1.001 * high]


def svg(curves, x_label, y_label, title=""):
    """Text of an SVG with logarithmic axes; curves: (label, xs, ys)."""
    width, height, left, right, top, bottom = 480, 360, 70, 20, 30, 50
    points = [(x, y) for _, xs, ys in curves for x, y in zip(xs, ys)]
    if not points or min(min(p) for p in points) <= 0:
        raise ValueError("Logarithmic axes need positive numbers.")
    ranges = []
    for values in zip(*points):
        low, high = min(values), max(values)
        ranges.append((low / 1.2, high * 1.2))
    (x0, x1), (y0, y1) = ranges

    def px(x):
        return left + (width - left - right) * (math.log(x / x0) /
                                                math.log(x1 / x0))

    def py(y):
        return height - bottom - (height - top - bottom) * (
            math.log(y / y0) / math.log(y1 / y0))

    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' %
           (width, height, width, height),
           '<rect width="100%" height="100%" fill="white"/>']

    def text(x, y, content, extra=""):
        out.append('<text x="%.1f" y="%.1f" %s>%s</text>' %
                   (x, y, extra, html.escape(content)))

    def line(xa, ya, xb, yb, color):
        out.append('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" '
                   'stroke="%s"/>' % (xa, ya, xb, yb, color))

    for value in ticks(x0, x1):
        line(px(value), top, px(value), height - bottom, "#ddd")
        text(px(value), height - bottom + 16, "%g" % value,
             'text-anchor="middle"')
    for value in ticks(y0, y1):
        line(left, py(value), width - right, py(value), "#ddd")
        text(left - 6, py(value) + 4, "%g" % value, 'text-anchor="end"')
    text(width / 2, 18, title, 'text-anchor="middle" font-weight="bold"')
    text((left + width - right) / 2, height - 12, x_label,
         'text-anchor="middle"')
    text(16, height / 2, y_label, 'text-anchor="middle" '
         'transform="rotate(-90 16 %d)"' % (height / 2))
    for i, (label, xs, ys) in enumerate(curves):
        color = COLORS[i % len(COLORS)]
        out.append('<polyline fill="none" stroke="%s" stroke-width="2" '
                   'points="%s"/>' %
                   (color, " ".join("%.1f,%.1f" % (px(x), py(y))
                                    for x, y in zip(xs, ys))))
        for x, y in zip(xs, ys):
            out.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' %
                       (px(x), py(y), color))
        line(width - right - 130, top + 14 + 16 * i, width - right - 110,
             top + 14 + 16 * i, color)
        text(width - right - 104, top + 18 + 16 * i, label)
    out.append("</svg>\n")
    return "\n".join(out)


def plot(table, x, y, by=None, file_name="plot.svg", title=""):
    """Draws column y against column x, a curve for each entry of column by."""
    groups = {"": table} if by is None else table.groups(by)
    curves = []
    for value, rows in groups.items():
        pairs = [(a, b) for a, b in zip(rows.column(x), rows.column(y))
                 if isinstance(a, (int, float)) and isinstance(b, (int, float))]
        if pairs:
            label = y if by is None else "%s = %s" % (by, value)
            curves.append((label, [p[0] for p in pairs], [p[1] for p in pairs]))
    if file_name.endswith(".svg"):
        with open(file_name, "w", encoding="utf-8") as file:
            file.write(svg(curves, x, y, title))
        return
    try:
        import matplotlib
    except ImportError as error:
        raise RuntimeError("Without matplotlib pictures are .svg files, but %s "
                           "was asked for." % file_name) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots()
    for label, xs, ys in curves:
        axes.loglog(xs, ys, marker="o", label=label)
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.legend()
    figure.savefig(file_name)
    pyplot.close(figure)


def main(arguments):
    if len(arguments) not in (1, 5):
        sys.exit(__doc__)
    try:
        table = read_csv(arguments[0])
        if len(arguments) == 1:
            print(table.text())
        else:
            plot(table, *arguments[1:4], file_name=arguments[4])
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        sys.exit("tessella_results.py: %s" % error.args[-1])


if __name__ == "__main__":
    main(sys.argv[1:])
