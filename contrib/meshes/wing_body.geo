// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Half of a transport aircraft without tails in a half ball of radius R,
// tetrahedra: a body of revolution of length 10 and radius 0.6 with an ellipsoid as
// nose and a cone as tail, and a low, tapered wing of semi-span 5 whose leading edge
// is swept by 30 degrees, whose trailing edge by 15, with the section NACA 0012
// scaled to a thickness of 11 %. x is downstream, y along the span, z upwards.
// Boundary ids are those of the meshes of flows: 0 far field, 2 body and wing, 3
// the plane of symmetry.
//
// f: refinement. Cells on the wing have the size h = 0.12 / f, at its edges
// 0.35 h, on the body 1.5 h; sizes grow by 0.35 / f a unit of distance from both,
// and by 0.25 / f from the edges, so that all sizes are proportional to 1 / f.
SetFactory("OpenCASCADE");
DefineConstant[ f = {1, Name "f"}, R = {100, Name "R"} ];
h = 0.12 / f;
length = 10;
radius = 0.6;
nose = 1.5;
tail = 3;
span = 5;
wing_x = 3.6;
low = 0.25;
root = 2.4;
lead = Tan(30 * Pi / 180);
trail = Tan(15 * Pi / 180);
tip = root - span * (lead - trail);
thickness = 0.11;

// Section with the chord from (x0, y0) on, closed at its trailing edge.
n_section = 40;
Macro Section
  first = newp;
  Point(first) = {x0, y0, -low};
  last = newp;
  Point(last) = {x0 + chord, y0, -low};
  up[] = {first};
  down[] = {first};
  For i In {1 : n_section - 1}
    s = 0.5 * (1 - Cos(Pi * i / n_section));
    z = 5 * thickness * chord *
        (0.2969 * Sqrt(s) - 0.1260 * s - 0.3516 * s^2 + 0.2843 * s^3 -
         0.1036 * s^4);
    p = newp;
    Point(p) = {x0 + chord * s, y0, z - low};
    up[] += {p};
    p = newp;
    Point(p) = {x0 + chord * s, y0, -z - low};
    down[] += {p};
  EndFor
  up[] += {last};
  down[] += {last};
  upper = newl;
  Spline(upper) = {up[]};
  lower = newl;
  Spline(lower) = {down[]};
Return

// The wing begins on the plane of symmetry, inside of the body.
x0 = wing_x; y0 = 0; chord = root;
Call Section;
Curve Loop(1) = {upper, -lower};
x0 = wing_x + span * lead; y0 = span; chord = tip;
Call Section;
Curve Loop(2) = {upper, -lower};
axis = newl;
Line(axis) = {last, first};
Curve Loop(3) = {upper, axis};
Plane Surface(100) = {3};
Ruled ThruSections(1) = {1, 2};
cap[] = Extrude{ {1, 0, 0}, {0, span, -low}, -Pi }{ Surface{100}; };

// Half of the contour of the body, turned about its axis by 180 degrees.
p = newp;
Point(p) = {0, 0, 0};
Point(p + 1) = {nose, 0, 0};
Point(p + 2) = {nose, 0, radius};
Point(p + 3) = {length - tail, 0, radius};
Point(p + 4) = {length, 0, 0};
l = newl;
Ellipse(l) = {p, p + 1, p, p + 2};
Line(l + 1) = {p + 2, p + 3};
Line(l + 2) = {p + 3, p + 4};
Line(l + 3) = {p + 4, p};
contour = newll;
Curve Loop(contour) = {l, l + 1, l + 2, l + 3};
side = news;
Plane Surface(side) = {contour};
fuselage[] = Extrude{ {1, 0, 0}, {0, 0, 0}, -Pi }{ Surface{side}; };

Sphere(50) = {0.5 * length, 0, 0, R, -Pi / 2, Pi / 2, Pi};
flow[] = BooleanDifference{ Volume{50}; Delete; }
                          { Volume{1, cap[1], fuselage[1]}; Delete; };

Physical Volume(1) = {flow[]};
e = 1e-3;
body[] = Surface In BoundingBox{-e, -e, -2 * radius, length + e, 2 * span,
                                2 * radius};
plane[] = Surface In BoundingBox{-2 * R, -e, -2 * R, 2 * R, e, 2 * R};
outer[] = Surface In BoundingBox{-2 * R, -e, -2 * R, 2 * R, 2 * R, 2 * R};
plane[] -= body[];
outer[] -= plane[];
outer[] -= body[];
Physical Surface(0) = {outer[]};
Physical Surface(2) = {body[]};
Physical Surface(3) = {plane[]};

// Distances from the edges of the wing, from its planform and from the axis.
// max(a, 0) = (a + |a|) / 2.
Field[1] = MathEval;
Field[1].F = Sprintf("%g + %g * sqrt((%g * (x - %g - %g * y))^2 + (z + %g)^2 + ((y - %g + abs(y - %g)) / 2)^2)",
                     0.35 * h, 0.25 / f, Cos(30 * Pi / 180), wing_x, lead, low, span, span);
Field[2] = MathEval;
Field[2].F = Sprintf("%g + %g * sqrt((x - %g - %g * y)^2 + (z + %g)^2 + ((y - %g + abs(y - %g)) / 2)^2)",
                     0.35 * h, 0.25 / f, wing_x + root, trail, low, span, span);
Field[3] = MathEval;
Field[3].F = Sprintf("%g + %g * sqrt((z + %g)^2 + ((y - %g + abs(y - %g)) / 2)^2 + ((%g + %g * y - x + abs(%g + %g * y - x)) / 2)^2 + ((x - %g - %g * y + abs(x - %g - %g * y)) / 2)^2)",
                     h, 0.35 / f, low, span, span, wing_x, lead, wing_x, lead,
                     wing_x + root, trail, wing_x + root, trail);
Field[4] = MathEval;
Field[4].F = Sprintf("%g + %g * ((sqrt(y^2 + z^2) - %g + abs(sqrt(y^2 + z^2) - %g)) / 2 + (abs(x) - x) / 2 + (x - %g + abs(x - %g)) / 2)",
                     1.5 * h, 0.35 / f, radius, radius, length, length);
Field[5] = MathEval;
Field[5].F = Sprintf("%g + %g * sqrt(x^2 + y^2 + z^2)", 0.5 * h, 0.25 / f);
Field[6] = Min;
Field[6].FieldsList = {1, 2, 3, 4, 5};
Background Field = 6;
Mesh.CharacteristicLengthExtendFromBoundary = 0;
Mesh.CharacteristicLengthFromPoints = 0;
Mesh.CharacteristicLengthMin = 0.1 * h;
Mesh.Optimize = 1;
