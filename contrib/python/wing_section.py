#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Pressure along sections of a wing from NAME-surface.csv of compressible_flow.

    python3 contrib/python/wing_section.py SURFACE.csv Y1,Y2,... WIDTH [NAME]

The file has the quadrature points of the wing. A section y = Y consists of those
whose y differs from Y by WIDTH at most. Edges of the wing are taken as straight
lines y - Y -> x there: through the smallest x of the two halves of the section, and
through the largest ones. The abscissa of a point is its part of the chord between
them, so that a swept wing is not smeared. Writes NAME-Y.csv (chord, C_p, side: 1
upper, -1 lower, of the mean line of z) and NAME-Y.svg for every section, and prints
the number of points, the smallest C_p of both sides, and where on the upper side
C_p rises most steeply over a twentieth of the chord. NAME is SURFACE without its
end by default.
"""
import sys

import tessella_results


def line(points, choose):
    """The line through the extreme points of both halves of a section, as a
    function of y."""
    halves = [[p for p in points if p[1] < 0], [p for p in points if p[1] >= 0]]
    if not all(halves):
        sys.exit("A section needs points on both sides of its plane: enlarge "
                 "WIDTH.")
    a, b = (choose(half) for half in halves)
    slope = (b[0] - a[0]) / (b[1] - a[1])
    return lambda y: a[0] + slope * (y - a[1])


def section(rows, y, width):
    """Tuples (chord, C_p, side) of the section at y, by the chord."""
    points = [(r[0], r[1] - y, r[2], r[3]) for r in rows
              if abs(r[1] - y) <= width]
    if len(points) < 8:
        sys.exit("The section y = %g has %d points: enlarge WIDTH."
                 % (y, len(points)))
    lead, trail = line(points, min), line(points, max)
    middle = sum(p[2] for p in points) / len(points)
    return sorted(((p[0] - lead(p[1])) / (trail(p[1]) - lead(p[1])), p[3],
                   1 if p[2] > middle else -1) for p in points)


def steepest(upper):
    """Centre of the twentieth of the chord over which the mean C_p of both ends
    rises most, and the rise."""
    def mean(a):
        values = [c for x, c, _ in upper if abs(x - a) <= 0.0125]
        return sum(values) / len(values) if values else None

    best = (0., 0.)
    for i in range(10, 181):
        ends = mean(i / 200 - 0.025), mean(i / 200 + 0.025)
        if None not in ends:
            best = max(best, (ends[1] - ends[0], i / 200))
    return best[1], best[0]


def drawing(sides, title):
    """SVG of -C_p against the chord, the upper side blue, the lower red."""
    values = [-c for points in sides.values() for _, c, _ in points]
    low, high = min(values), max(values)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="480" height="360" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>']

    def text(x, y, content):
        out.append('<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>'
                   % (x, y, content))

    def place(x, value):
        return 60 + 400 * x, 310 - 280 * (value - low) / (high - low)

    for i in range(int(low * 5) - 1, int(high * 5) + 2):
        if low <= i / 5 <= high:
            y = place(0, i / 5)[1]
            out.append('<line x1="60" x2="460" y1="%.1f" y2="%.1f" '
                       'stroke="#ddd"/>' % (y, y))
            text(40, y + 4, "%g" % (i / 5))
    for i in range(6):
        text(place(i / 5, low)[0], 328, "%g" % (i / 5))
    text(260, 348, "part of the chord")
    text(260, 20, "-C_p, " + title)
    for side, points in sides.items():
        for x, c, _ in points:
            out.append('<circle cx="%.1f" cy="%.1f" r="2" fill="%s"/>'
                       % (place(x, -c) + ("#0072b2" if side > 0 else "#d55e00",)
                          ))
    return "\n".join(out) + "\n</svg>\n"


def main(arguments):
    if len(arguments) not in (3, 4):
        sys.exit(__doc__)
    table = tessella_results.read_csv(arguments[0])
    names = ("x", "y", "z", "C_p")
    rows = list(zip(*(table.column(name) for name in names)))
    name = arguments[3] if len(arguments) == 4 \
        else arguments[0].rsplit(".csv", 1)[0]
    for text in arguments[1].split(","):
        points = section(rows, float(text), float(arguments[2]))
        sides = {s: [p for p in points if p[2] == s] for s in (1, -1)}
        with open("%s-%s.csv" % (name, text), "w") as out:
            out.write("chord,C_p,side\n")
            for point in points:
                out.write("%.6g,%.6g,%d\n" % point)
        with open("%s-%s.svg" % (name, text), "w") as out:
            out.write(drawing(sides, "y = " + text))
        print("y = %s: %d points, smallest C_p %.3f above, %.3f below; steepest "
              "rise above at %.3f by %.3f"
              % ((text, len(points), min(p[1] for p in sides[1]),
                  min(p[1] for p in sides[-1])) + steepest(sides[1])))


if __name__ == "__main__":
    main(sys.argv[1:])
