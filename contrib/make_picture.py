#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Draws a solution with the edges of its polygons as PNG.

    make_picture.py SOLUTION.vtu POLYTOPES.vtu PICTURE.png [WIDTH]

The files are those that convergence_study writes in two dimensions,
NAME-LEVEL-pDEGREE-solution.vtu and NAME-LEVEL-polytopes.vtu. Needs nothing but
Python's standard library.
"""
import base64
import re
import struct
import sys
import zlib

FORMATS = {"Float32": "f", "Float64": "d", "Int32": "i", "UInt32": "I",
           "Int64": "q", "UInt64": "Q", "UInt8": "B", "Int8": "b"}


def decode(text, compressed, number):
    """Numbers of a DataArray in base64, with or without compression."""
    text = "".join(text.split())
    if compressed:
        n_blocks, = struct.unpack("<I", base64.b64decode(text[:8])[:4])
        length = 4 * ((4 * (3 + n_blocks) + 2) // 3)
        header = struct.unpack("<%dI" % (3 + n_blocks),
                               base64.b64decode(text[:length]))
        data = base64.b64decode(text[length:])
        parts, begin = [], 0
        for size in header[3:]:
            parts.append(zlib.decompress(data[begin:begin + size]))
            begin += size
        data = b"".join(parts)
    else:
        data = base64.b64decode(text)[8:]
    n = len(data) // struct.calcsize(number)
    return struct.unpack("<%d%s" % (n, number), data[:n *
                                                     struct.calcsize(number)])


def read(file_name):
    """Arrays of all pieces of a .vtu file by their names."""
    with open(file_name, encoding="latin-1") as file:
        text = file.read()
    compressed = "compressor=" in text.split("<UnstructuredGrid", 1)[0]
    arrays = {}
    for match in re.finditer(r"<DataArray([^>]*)>([^<]*)</DataArray>", text):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', match.group(1)))
        if attributes.get("format") == "binary":
            arrays.setdefault(attributes.get("Name", "Points"),
                              decode(match.group(2), compressed,
                                     FORMATS[attributes["type"]]))
    return arrays


def points(arrays):
    p = arrays["Points"]
    return [(p[3 * i], p[3 * i + 1]) for i in range(len(p) // 3)]


def cells(arrays):
    begin = 0
    for end in arrays["offsets"]:
        yield arrays["connectivity"][begin:end]
        begin = end


# Colours from dark blue through green to yellow.
COLORS = [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98),
          (253, 231, 37)]


def color(t):
    t = min(max(t, 0.), 1.) * (len(COLORS) - 1)
    i = min(int(t), len(COLORS) - 2)
    return tuple(round(a + (t - i) * (b - a))
                 for a, b in zip(COLORS[i], COLORS[i + 1]))


class Picture:
    def __init__(self, corners, width):
        self.x0 = min(p[0] for p in corners)
        self.y1 = max(p[1] for p in corners)
        self.scale = (width - 9) / (max(p[0] for p in corners) - self.x0)
        self.width = width
        self.height = 9 + round(self.scale *
                                (self.y1 - min(p[1] for p in corners)))
        self.rows = [bytearray(b"\xff" * (3 * width))
                     for _ in range(self.height)]

    def pixel(self, p):
        return (4 + self.scale * (p[0] - self.x0),
                4 + self.scale * (self.y1 - p[1]))

    def triangle(self, corners, values):
        (ax, ay), (bx, by), (cx, cy) = map(self.pixel, corners)
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if area == 0.:
            return
        for y in range(int(min(ay, by, cy)), int(max(ay, by, cy)) + 2):
            for x in range(int(min(ax, bx, cx)), int(max(ax, bx, cx)) + 2):
                s = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area
                t = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area
                if (min(s, t) >= -1e-9 and s + t <= 1 + 1e-9
                        and x < self.width and y < self.height):
                    self.rows[y][3 * x:3 * x + 3] = bytes(
                        color(values[0] + s * (values[1] - values[0]) +
                              t * (values[2] - values[0])))

    def line(self, p, q):
        (ax, ay), (bx, by) = self.pixel(p), self.pixel(q)
        n = int(2 * max(abs(bx - ax), abs(by - ay))) + 1
        for i in range(n + 1):
            x = int(ax + (bx - ax) * i / n + .5)
            y = int(ay + (by - ay) * i / n + .5)
            for row in self.rows[y:y + 2]:
                row[3 * x:3 * x + 6] = b"\0" * len(row[3 * x:3 * x + 6])

    def write(self, file_name):
        def chunk(name, data):
            return (struct.pack(">I", len(data)) + name + data +
                    struct.pack(">I", zlib.crc32(name + data)))
        with open(file_name, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(
                b"IHDR", struct.pack(">IIBBBBB", self.width, self.height, 8, 2,
                                     0, 0, 0)) + chunk(
                b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row)
                                                for row in self.rows), 9)) +
                chunk(b"IEND", b""))


def main(arguments):
    if len(arguments) < 3:
        sys.exit(__doc__)
    solution, polygons = read(arguments[0]), read(arguments[1])
    width = int(arguments[3]) if len(arguments) > 3 else 480
    x, u = points(solution), solution["solution"]
    low, high = min(u), max(u)
    picture = Picture(x, width)
    for cell in cells(solution):
        for i in range(1, len(cell) - 1):
            corners = (cell[0], cell[i], cell[i + 1])
            picture.triangle([x[c] for c in corners],
                             [(u[c] - low) / (high - low or 1.)
                              for c in corners])
    x = points(polygons)
    for cell in cells(polygons):
        for a, b in zip(cell, cell[1:] + cell[:1]):
            picture.line(x[a], x[b])
    picture.write(arguments[2])


if __name__ == "__main__":
    main(sys.argv[1:])
