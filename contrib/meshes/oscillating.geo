// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Unit square with oscillating sides: sin waves of given number and amplitude.
// Triangles of size h along the sides, 4 h in the middle. Boundary ids: 1
// bottom, 2 right, 3 top, 4 left.
DefineConstant[
  h         = {0.005, Name "h"},
  waves     = {16, Name "waves"},
  amplitude = {0.015, Name "amplitude"}
];
per_wave = 16;
n        = waves * per_wave;
// Side s runs from corner s to the next one, counter-clockwise; its points are
// s * n + 1, ..., (s + 1) * n.
For s In {0:3}
  For i In {0:n - 1}
    t = i / n;
    w = amplitude * Sin(2 * Pi * waves * t);
    x = s == 0 ? t : s == 1 ? 1 - w : s == 2 ? 1 - t : w;
    y = s == 0 ? w : s == 1 ? t : s == 2 ? 1 - w : 1 - t;
    Point(s * n + i + 1) = {x, y, 0, h};
  EndFor
EndFor
For s In {0:3}
  points[] = {};
  For i In {0:n}
    points[] += {(s * n + i) % (4 * n) + 1};
  EndFor
  Spline(s + 1) = points[];
  Physical Curve(s + 1) = {s + 1};
EndFor
Curve Loop(1) = {1:4};
Plane Surface(1) = {1};
Physical Surface(1) = {1};
// Distance fields have other option names in every release; a formula has not.
Field[1] = MathEval;
Field[1].F = Sprintf("%g * (1 + 48 * x * (1 - x) * y * (1 - y))", h);
Background Field = 1;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
