#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Optimal weights of Chebyshev's polynomial of the fourth kind as a smoother.

    python3 contrib/python/chebyshev_weights.py [DEGREE ...]

For each degree (7 to 12 without arguments; 4 and more) one line with the weights
that source/lac/block_data.cc tabulates, and one with the maximum of
x p(x)^2 / (1 - p(x)^2) on (0, 1] for the error polynomial p with these weights and
without (J. Lottes, Optimal polynomial smoothers for multigrid V-cycles, Numer.
Linear Algebra Appl. 30, 2023). With optimal weights it is attained at as many points
as there are steps, and at 0; these equations are solved by Newton's method.
"""
import math
import sys

START = [1.0039, 1.0404, 1.1486, 1.3827]  # near the weights of degree 4


def directions(degree, x):
    """Directions of all steps for the eigenvalue x and the right-hand side x."""
    d, r, result = 0., x, []
    for i in range(1, degree + 1):
        d = (2 * i - 3) / (2 * i + 1) * d + (8 * i - 4) / (2 * i + 1) * r
        r -= x * d
        result.append(d)
    return result


def bound(weights, x):
    p = 1. - sum(w * d for w, d in zip(weights, directions(len(weights), x)))
    return x * p * p / (1. - p * p)


def bound_at_zero(weights):
    d, slope = 0., 0.
    for i, weight in enumerate(weights, 1):
        d = (2 * i - 3) / (2 * i + 1) * d + (8 * i - 4) / (2 * i + 1)
        slope += weight * d
    return 1. / (2. * slope)


def maxima(weights):
    """Points of the local maxima of the bound, the right end included."""
    n = 400 * len(weights)
    xs = [math.sin(0.5 * math.pi * t / n)**2 for t in range(1, n + 1)]
    fs = [bound(weights, x) for x in xs]
    points = []
    for i in range(1, n - 1):
        if fs[i - 1] < fs[i] >= fs[i + 1]:
            low, high = xs[i - 1], xs[i + 1]
            for _ in range(80):
                a, b = low + (high - low) * 0.4, low + (high - low) * 0.6
                if bound(weights, a) > bound(weights, b):
                    high = b
                else:
                    low = a
            points.append(0.5 * (low + high))
    return points + [1.]


def solve(matrix, rhs):
    n = len(rhs)
    rows = [row[:] + [value] for row, value in zip(matrix, rhs)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(n):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def optimal_weights(weights):
    for _ in range(100):
        points = maxima(weights)
        if len(points) != len(weights):
            sys.exit("The start values have %d maxima." % len(points))
        residual = [bound(weights, x) - bound_at_zero(weights) for x in points]
        if max(abs(r) for r in residual) < 1e-13 * bound_at_zero(weights):
            return weights
        columns, h = [], 1e-7
        for j in range(len(weights)):
            right, left = weights[:], weights[:]
            right[j] += h
            left[j] -= h
            columns.append([(bound(right, x) - bound_at_zero(right)
                             - bound(left, x) + bound_at_zero(left)) / (2 * h)
                            for x in points])
        step = solve([list(row) for row in zip(*columns)],
                     [-r for r in residual])
        scale = min(1., 0.05 / max(abs(s) for s in step))
        weights = [w + scale * s for w, s in zip(weights, step)]
    return weights


def stretch(weights, degree):
    """Start values of a higher degree by linear interpolation."""
    result = []
    for i in range(1, degree + 1):
        t = i / degree * len(weights)
        j = min(max(int(t), 1), len(weights) - 1)
        result.append(max(1., weights[j - 1] * (1 - t + j)
                          + weights[j] * (t - j)))
    return result


def main():
    degrees = [int(a) for a in sys.argv[1:]] or list(range(7, 13))
    if min(degrees) < 4:
        sys.exit("Degrees must be 4 or more.")
    weights = START
    for degree in range(4, max(degrees) + 1):
        weights = optimal_weights(stretch(weights, degree))
        if degree in degrees:
            ones = [1.] * degree
            print("%d: %s" % (degree, ", ".join("%.14f" % w for w in weights)))
            print("   maximum %.6f, without weights %.6f" %
                  (max(bound(weights, x) for x in maxima(weights)),
                   max([bound_at_zero(ones)] +
                       [bound(ones, x) for x in maxima(ones)])))


if __name__ == "__main__":
    main()
