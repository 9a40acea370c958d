#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Measures the oblique shock of flow_ramp.prm in a VTU file of compressible_flow.

    python3 contrib/python/shock_angle.py FILE.vtu [FIRST LAST LINES]

On LINES vertical lines from x = FIRST to LAST (0.3, 0.95 and 27 by default), the
pressure is read where the line cuts the edges of the cells. Its plateaus are the
means over the upper tenth of the line, in front of the shock, and over the half
between the wall and the shock, behind it. The height of the shock is that of the
jump with the same integral of the pressure over the line, so that the thickness
of the shock does not matter. A straight line is fitted to these heights by least
squares. The program prints the angle of that line to the x-axis, where it meets
the x-axis, the largest distance of a height from it, and the ratio of the
pressures with its standard deviation over the lines.
"""
import base64
import math
import struct
import sys
import xml.etree.ElementTree
import zlib

TYPES = {"Float32": "f", "Float64": "d", "Int32": "i", "UInt32": "I",
         "Int64": "q", "UInt64": "Q", "UInt8": "B", "Int8": "b"}


def array(element):
    """Numbers of a DataArray, written as text or as compressed base64."""
    code = TYPES[element.get("type")]
    text = element.text.strip()
    if element.get("format") == "ascii":
        return [float(word) for word in text.split()]
    # The header holds the number of blocks, their size, the size of the last
    # one and the compressed sizes.
    n = struct.unpack("<I", base64.b64decode(text[:8])[:4])[0]
    length = 4 * ((4 * (3 + n) + 2) // 3)
    sizes = struct.unpack("<%dI" % (3 + n), base64.b64decode(text[:length]))[3:]
    data, begin, values = base64.b64decode(text[length:]), 0, b""
    for size in sizes:
        values += zlib.decompress(data[begin:begin + size])
        begin += size
    return struct.unpack("<%d%s" % (len(values) // struct.calcsize(code), code),
                         values)


def read_vtu(name, field):
    """Points, cells as lists of indices of points, and a field at the points."""
    piece = xml.etree.ElementTree.parse(name).getroot().find(".//Piece")
    x = array(piece.find("Points/DataArray"))
    points = list(zip(x[0::3], x[1::3]))
    cells = {e.get("Name"): array(e) for e in piece.find("Cells")}
    bounds = [0] + [int(end) for end in cells["offsets"]]
    corners = [int(i) for i in cells["connectivity"]]
    for element in piece.find("PointData"):
        if element.get("Name") == field:
            return points, [corners[a:b] for a, b in zip(bounds, bounds[1:])], \
                array(element)
    sys.exit("%s has no field '%s'." % (name, field))


def cuts(points, cells, values, x):
    """Pairs (y, value) where the line of all points with abscissa x cuts the
    edges of the cells, in the order of y."""
    result = []
    for cell in cells:
        abscissae = [points[i][0] for i in cell]
        if not min(abscissae) <= x < max(abscissae):
            continue
        for i, j in zip(cell, cell[1:] + cell[:1]):
            a, b = points[i][0], points[j][0]
            if (a <= x) != (b <= x):
                t = (x - a) / (b - a)
                result.append((points[i][1] + t * (points[j][1] - points[i][1]),
                               values[i] + t * (values[j] - values[i])))
    return sorted(result)


def mean(line, lower, upper):
    """Mean of the piecewise linear function through the cuts, by trapezia."""
    integral = 0.
    for (a, p), (b, q) in zip(line, line[1:]):
        begin, end = max(a, lower), min(b, upper)
        if end > begin:
            middle = p + (q - p) * (0.5 * (begin + end) - a) / (b - a)
            integral += middle * (end - begin)
    return integral / (upper - lower)


def shock(line):
    """Height of the shock, and the pressures in front of it and behind it."""
    bottom, top = line[0][0], line[-1][0]
    front = mean(line, top - 0.1 * (top - bottom), top)
    height = bottom
    behind = max(p for _, p in line)
    for _ in range(50):
        height = bottom + (mean(line, bottom, top) - front) / (behind - front) \
            * (top - bottom)
        behind = mean(line, bottom + 0.1 * (height - bottom),
                      bottom + 0.6 * (height - bottom))
    return height, front, behind


def main():
    if len(sys.argv) not in (2, 5):
        sys.exit(__doc__.split("\n\n")[1])
    first, last, n = (0.3, 0.95, 27) if len(sys.argv) == 2 else \
        (float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
    field = read_vtu(sys.argv[1], "pressure")
    # Lines avoid the vertices of the meshes.
    xs = [first + (last - first) * (i + 0.371) / n for i in range(n)]
    found = [shock(cuts(*field, x)) for x in xs]
    x_mean = sum(xs) / n
    y_mean = sum(f[0] for f in found) / n
    slope = sum((x - x_mean) * f[0] for x, f in zip(xs, found)) / \
        sum((x - x_mean)**2 for x in xs)
    distance = max(abs(f[0] - y_mean - slope * (x - x_mean))
                   for x, f in zip(xs, found))
    ratios = [f[2] / f[1] for f in found]
    ratio = sum(ratios) / n
    deviation = math.sqrt(sum((r - ratio)**2 for r in ratios) / n)
    print("angle %.3f degrees, from x = %.4f, largest distance %.1e" %
          (math.degrees(math.atan(slope)), x_mean - y_mean / slope, distance))
    print("p2/p1 %.5f, standard deviation %.1e" % (ratio, deviation))


if __name__ == "__main__":
    main()
