#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Times of kernels and between them, from a file of contrib/kernel_times.cc.

    python3 contrib/python/kernel_gaps.py FILE.csv [LABELS] [--longest]

One line is printed for each range of the file, all times in microseconds: the
number of kernels, copies and fills; the time from the first begin to the last end;
the time in which at least one of them runs, its part of the former, and the sum of
the gaps in which none runs; the median gap and the largest one; and the median and
the longest time of a kernel, copy or fill. LABELS is a file whose lines
"range N: TEXT, CALLS calls" (other lines do not matter) name the ranges; numbers
and times but medians and maxima are then divided by CALLS, so that they are those
of one call. --longest adds the five kernels that take most time.
"""
import csv
import re
import statistics
import sys


def busy_and_gaps(intervals):
    """Time in which at least one interval lies, and the gaps between them."""
    busy, gaps = 0, []
    begin, end = intervals[0]
    for b, e in intervals[1:]:
        if b > end:
            busy += end - begin
            gaps.append(b - end)
            begin, end = b, e
        else:
            end = max(end, e)
    return busy + end - begin, gaps


def read_labels(name):
    """Text and number of calls of each range."""
    labels = {}
    with open(name) as file:
        for line in file:
            found = re.match(r"range (\d+): (.*), (\d+) calls", line)
            if found:
                labels[int(found[1])] = (found[2], int(found[3]))
    return labels


def main():
    names = [a for a in sys.argv[1:] if a != "--longest"]
    if len(names) not in (1, 2):
        sys.exit(__doc__.split("\n\n")[1])
    labels = read_labels(names[1]) if len(names) == 2 else {}
    ranges = {}
    with open(names[0]) as file:
        for row in csv.DictReader(file):
            ranges.setdefault(int(row["range"]), []).append(
                (int(row["begin"]), int(row["end"]), row["name"]))
    if not ranges:
        sys.exit("%s has no kernels." % names[0])
    print("| range | operations | total | busy | part | gaps | median gap "
          "| largest | median time | longest |")
    print("| --- |" + 9 * " --- |")
    for number, rows in sorted(ranges.items()):
        rows.sort()
        text, calls = labels.get(number, (str(number), 1))
        busy, gaps = busy_and_gaps([row[:2] for row in rows])
        total = busy + sum(gaps)
        times = [row[1] - row[0] for row in rows]
        print("| %s | %.0f | %.1f | %.1f | %.0f %% | %.1f | %.2f | %.1f "
              "| %.2f | %.1f |" %
              (text, len(rows) / calls, total * 1e-3 / calls,
               busy * 1e-3 / calls, 100. * busy / total,
               sum(gaps) * 1e-3 / calls,
               1e-3 * (statistics.median(gaps) if gaps else 0.),
               1e-3 * max(gaps, default=0.), 1e-3 * statistics.median(times),
               1e-3 * max(times)))
        if "--longest" in sys.argv:
            sums = {}
            for begin, end, name in rows:
                sums[name] = sums.get(name, 0) + end - begin
            for name in sorted(sums, key=sums.get, reverse=True)[:5]:
                print("  %s %.1f" % (name, sums[name] * 1e-3 / calls))


if __name__ == "__main__":
    main()
