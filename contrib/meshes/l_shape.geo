// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// (-1,1)^2 without [0,1] x [-1,0], triangles of size h, at the re-entrant corner
// of size h / grading. Boundary ids: 1 the two sides of the corner, 2 the rest.
DefineConstant[ h = {0.2, Name "h"}, grading = {1, Name "grading"} ];
Point(1) = {0, 0, 0, h / grading};
Point(2) = {1, 0, 0, h};
Point(3) = {1, 1, 0, h};
Point(4) = {-1, 1, 0, h};
Point(5) = {-1, -1, 0, h};
Point(6) = {0, -1, 0, h};
For i In {1:6}
  Line(i) = {i, i % 6 + 1};
EndFor
Curve Loop(1) = {1:6};
Plane Surface(1) = {1};
Physical Curve(1) = {1, 6};
Physical Curve(2) = {2:5};
Physical Surface(1) = {1};
