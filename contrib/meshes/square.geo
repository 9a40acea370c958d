// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Unit square, unstructured triangles of size h, or (quads = 1) unstructured
// quadrilaterals. Boundary ids: 1 bottom, 2 right, 3 top, 4 left.
DefineConstant[ h = {0.1, Name "h"}, quads = {0, Name "quads"} ];
Point(1) = {0, 0, 0, h};
Point(2) = {1, 0, 0, h};
Point(3) = {1, 1, 0, h};
Point(4) = {0, 1, 0, h};
For i In {1:4}
  Line(i) = {i, i % 4 + 1};
  Physical Curve(i) = {i};
EndFor
Curve Loop(1) = {1:4};
Plane Surface(1) = {1};
Physical Surface(1) = {1};
If (quads)
  Mesh.SubdivisionAlgorithm = 1;
EndIf
