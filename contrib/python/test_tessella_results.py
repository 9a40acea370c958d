# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Tests of tessella_results.py and wing_section.py; run by ctest with the .csv file
of a study."""
import math
import os
import sys
import tempfile
import unittest
import xml.dom.minidom

import tessella_results as results
import wing_section


class Small(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "small.csv")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("level,degree,unknowns,L2_error,L2_rate,solver\n"
                       "0,1,100,4e-2,,direct\n"
                       "1,1,400,1e-2,2.0000,direct\n"
                       "0,2,200,8e-3,,cg\n")
        self.table = results.read_csv(self.file)

    def tearDown(self):
        self.folder.cleanup()

    def test_columns(self):
        self.assertEqual(len(self.table), 3)
        self.assertEqual(self.table.column("unknowns"), [100, 400, 200])
        self.assertEqual(self.table.column("L2_rate"), [None, 2., None])
        self.assertEqual(self.table.column("solver"),
                         ["direct", "direct", "cg"])
        with self.assertRaises(KeyError):
            self.table.column("H1")

    def test_groups_and_rates(self):
        groups = self.table.groups("degree")
        self.assertEqual([len(t) for t in groups.values()], [2, 1])
        rates = groups[1].rates("unknowns", "L2_error")
        self.assertIsNone(rates[0])
        self.assertAlmostEqual(rates[1], -1.)
        self.assertEqual(groups[2].rates("unknowns", "L2_error"), [None])

    def test_text(self):
        lines = self.table.text().splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual(len({len(line) for line in lines}), 1)

    def test_plot(self):
        file = os.path.join(self.folder.name, "plot.svg")
        results.plot(self.table, "unknowns", "L2_error", by="degree",
                     file_name=file, title="a < b")
        document = xml.dom.minidom.parse(file)
        self.assertEqual(len(document.getElementsByTagName("polyline")), 2)
        self.assertEqual(len(document.getElementsByTagName("circle")), 3)

    def test_mistakes(self):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("a,b\n1\n")
        with self.assertRaises(ValueError):
            results.read_csv(self.file)
        with self.assertRaises(ValueError):
            results.svg([("a", [1.], [0.])], "x", "y")


class Study(unittest.TestCase):
    """A file that convergence_study has written."""
    file = None

    def test_rates(self):
        if Study.file is None:
            self.skipTest("no file of a study")
        table = results.read_csv(Study.file)
        for rows in table.groups("degree").values():
            computed = rows.rates("unknowns", "L2_error")
            for mine, theirs in zip(computed, rows.column("L2_rate")):
                if theirs is None:
                    self.assertIsNone(mine)
                else: # with respect to unknowns^(-1/2)
                    self.assertTrue(math.isclose(-2 * mine, theirs,
                                                 abs_tol=1e-3))



class WingSection(unittest.TestCase):
    def test_swept_section(self):
        # Leading edge x = y / 2, trailing edge x = 1 + y / 4, C_p the chord
        # above and its square below.
        rows = []
        for y in (0.38, 0.39, 0.41, 0.42):
            lead, trail = y / 2, 1 + y / 4
            for i in range(41):
                t = i / 40
                x, z = lead + t * (trail - lead), t * (1 - t) + 0.01
                rows += [(x, y, z, t), (x, y, -z, t * t)]
        points = wing_section.section(rows, 0.4, 0.025)
        self.assertEqual(len(points), len(rows))
        for t, c, side in points:
            self.assertAlmostEqual(c, t if side > 0 else t * t, places=12)
        with self.assertRaises(SystemExit):
            wing_section.section(rows, 0.6, 0.025)

    def test_steepest_rise(self):
        upper = [(i / 400, 0. if i < 240 else 1., 1) for i in range(401)]
        place, rise = wing_section.steepest(upper)
        self.assertLess(abs(place - 0.6), 0.02)
        self.assertGreater(rise, 0.9)

if __name__ == "__main__":
    if len(sys.argv) > 1:
        Study.file = sys.argv.pop()
    unittest.main()
