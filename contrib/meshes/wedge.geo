// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Channel (-0.25, 1) x (0, 1) of quadrilaterals whose lower wall rises by 10
// degrees from the origin on. Boundary ids are those of the meshes of flows: 0
// inflow, 1 outflow, 2 the wedge, 3 other walls. N: number of cells in y and on
// the wedge.
DefineConstant[ N = {4, Name "N"} ];
height = Tan(10 * Pi / 180);
Point(1) = {-0.25, 0, 0};
Point(2) = {0, 0, 0};
Point(3) = {1, height, 0};
Point(4) = {1, 1, 0};
Point(5) = {0, 1, 0};
Point(6) = {-0.25, 1, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 6};
Line(6) = {6, 1};
Line(7) = {2, 5};
Curve Loop(1) = {1, 7, 5, 6};
Curve Loop(2) = {2, 3, 4, -7};
Plane Surface(1) = {1};
Plane Surface(2) = {2};
Transfinite Curve {1, 5} = N / 4 + 1;
Transfinite Curve {2, 3, 4, 6, 7} = N + 1;
Transfinite Surface {1};
Transfinite Surface {2};
Recombine Surface {1, 2};
Physical Surface(1) = {1, 2};
Physical Curve(1) = {3};
Physical Curve(2) = {2};
Physical Curve(3) = {1, 4, 5};
