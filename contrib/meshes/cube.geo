// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Unit cube, unstructured: tetrahedra of size h, or (hexahedra = 1) hexahedra,
// four to each tetrahedron of size h, whose faces are not planar. Boundary ids: 1
// bottom, 2 top, 3 front, 4 right, 5 back, 6 left.
DefineConstant[ h = {0.25, Name "h"}, hexahedra = {0, Name "hexahedra"} ];
Point(1) = {0, 0, 0, h};
Point(2) = {1, 0, 0, h};
Point(3) = {1, 1, 0, h};
Point(4) = {0, 1, 0, h};
For i In {1:4}
  Line(i) = {i, i % 4 + 1};
EndFor
Curve Loop(1) = {1:4};
Plane Surface(1) = {1};
faces[] = Extrude {0, 0, 1} { Surface{1}; };
If (hexahedra)
  Mesh.SubdivisionAlgorithm = 2;
EndIf
Physical Surface(1) = {1};
Physical Surface(2) = {faces[0]};
For i In {2:5}
  Physical Surface(i + 1) = {faces[i]};
EndFor
Physical Volume(1) = {faces[1]};
