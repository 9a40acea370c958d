// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// (0,2) x (0,1): triangles on the left half (material id 1), quadrilaterals on
// the right half (material id 2). Boundary ids: 1 bottom, 2 right, 3 top, 4
// left.
DefineConstant[ h = {0.25, Name "h"} ];
Point(1) = {0, 0, 0, h};
Point(2) = {1, 0, 0, h};
Point(3) = {2, 0, 0, h};
Point(4) = {2, 1, 0, h};
Point(5) = {1, 1, 0, h};
Point(6) = {0, 1, 0, h};
For i In {1:6}
  Line(i) = {i, i % 6 + 1};
EndFor
Line(7) = {2, 5};
Curve Loop(1) = {1, 7, 5, 6};
Curve Loop(2) = {2, 3, 4, -7};
Plane Surface(1) = {1};
Plane Surface(2) = {2};
Transfinite Surface{2};
Recombine Surface{2};
Physical Curve(1) = {1, 2};
Physical Curve(2) = {3};
Physical Curve(3) = {4, 5};
Physical Curve(4) = {6};
Physical Surface(1) = {1};
Physical Surface(2) = {2};
