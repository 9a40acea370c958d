// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Half of the wing ONERA M6 in a half ball of radius R, tetrahedra. The planform
// is that of V. Schmitt and F. Charpin, AGARD AR-138 (B1), 1979, in metres: root
// chord 0.8059, semi-span 1.1963, leading edge swept by 30 degrees, trailing edge
// by 15.8; x is downstream, y along the span and z upwards. The symmetric
// section is that of the same report; it is closed by taking x/c times the
// thickness of its trailing edge away, at most 0.07 % of the chord. The tip is the
// half body of revolution of its section. Boundary ids are those of the meshes of
// flows: 0 far field, 2 wing, 3 the plane of symmetry.
//
// f: refinement. Cells on the middle of the wing have the size h = 0.04 / f, at the
// leading edge 0.25 h, at the trailing edge and the tip 0.4 h; sizes grow by
// 0.35 / f a unit of distance from the wing, and by 0.25 / f from its edges, so
// that all sizes are proportional to 1 / f.
SetFactory("OpenCASCADE");
DefineConstant[ f = {1, Name "f"}, R = {12, Name "R"} ];
h = 0.04 / f;
root = 0.8059;
span = 1.1963;
lead = Tan(30 * Pi / 180);
trail = Tan(15.8 * Pi / 180);
tip = root - span * (lead - trail);

xc() = {0.0000165, 0.0000696, 0.0001675, 0.0003232, 0.0005508, 0.0008657,
        0.0012868, 0.0018364, 0.0025441, 0.0034428, 0.0045704, 0.0059751,
        0.0077112, 0.0098413, 0.0124479, 0.0156171, 0.0194609, 0.0241067,
        0.0297008, 0.0364261, 0.0444852, 0.0541248, 0.0656303, 0.0793366,
        0.0956354, 0.1149796, 0.1378963, 0.1649976, 0.1919327, 0.2187096,
        0.2453310, 0.2717978, 0.2981113, 0.3242726, 0.3502830, 0.3761446,
        0.4018567, 0.4274223, 0.4528441, 0.4781197, 0.5032514, 0.5282426,
        0.5530937, 0.5778043, 0.6023757, 0.6268104, 0.6511093, 0.6752726,
        0.6993027, 0.7231995, 0.7469658, 0.7705998, 0.7941055, 0.8174828,
        0.8407324, 0.8638564, 0.8868235, 0.9061905, 0.9225336, 0.9363346,
        0.9479946, 0.9578511, 0.9661860, 0.9732361, 0.9792020, 0.9842508,
        0.9885252, 0.9921438, 0.9952080, 0.9978030};
zc() = {0.0006914, 0.0014416, 0.0022554, 0.0031382, 0.0040959, 0.0051343,
        0.0062598, 0.0074784, 0.0087958, 0.0102163, 0.0117419, 0.0133708,
        0.0150951, 0.0168984, 0.0187537, 0.0206220, 0.0224545, 0.0242004,
        0.0258245, 0.0273317, 0.0287912, 0.0303278, 0.0320138, 0.0338372,
        0.0357742, 0.0377923, 0.0398522, 0.0419089, 0.0436214, 0.0450507,
        0.0462358, 0.0471987, 0.0479494, 0.0484902, 0.0488183, 0.0489296,
        0.0488202, 0.0484833, 0.0479351, 0.0471661, 0.0461903, 0.0450209,
        0.0436741, 0.0421684, 0.0405241, 0.0387613, 0.0368990, 0.0349542,
        0.0329402, 0.0308662, 0.0287365, 0.0265505, 0.0243027, 0.0219842,
        0.0195838, 0.0170915, 0.0145051, 0.0122389, 0.0102727, 0.0085827,
        0.0071423, 0.0059224, 0.0048907, 0.0040180, 0.0032796, 0.0026547,
        0.0021257, 0.0016778, 0.0012985, 0.0009773};
edge = 0.0007052;

// Sections: 1 and 2 upper and lower curve at the root, 3 and 4 at the tip.
Macro Section
  first = newp;
  Point(first) = {x0, y0, 0};
  last = newp;
  Point(last) = {x0 + chord, y0, 0};
  up[] = {first};
  down[] = {first};
  For i In {0 : #xc[] - 1}
    z = chord * (zc[i] - edge * xc[i]);
    p = newp;
    Point(p) = {x0 + chord * xc[i], y0, z};
    up[] += {p};
    p = newp;
    Point(p) = {x0 + chord * xc[i], y0, -z};
    down[] += {p};
  EndFor
  up[] += {last};
  down[] += {last};
  upper = newl;
  Spline(upper) = {up[]};
  lower = newl;
  Spline(lower) = {down[]};
Return

x0 = 0; y0 = 0; chord = root;
Call Section;
Curve Loop(1) = {upper, -lower};
x0 = span * lead; y0 = span; chord = tip;
Call Section;
Curve Loop(2) = {upper, -lower};
axis = newl;
Line(axis) = {last, first};
Curve Loop(3) = {upper, axis};
Plane Surface(100) = {3};

Ruled ThruSections(1) = {1, 2};
cap[] = Extrude{ {1, 0, 0}, {0, span, 0}, -Pi }{ Surface{100}; };
Sphere(20) = {0.5 * root, 0, 0, R, -Pi / 2, Pi / 2, Pi};
flow[] = BooleanDifference{ Volume{20}; Delete; }{ Volume{1, cap[1]}; Delete; };

Physical Volume(1) = {flow[]};
all[] = Boundary{ Volume{flow[]}; };
e = 1e-3;
outer[] = Surface In BoundingBox{-2 * R, -e, -2 * R, 2 * R, 2 * R, 2 * R};
plane[] = Surface In BoundingBox{-2 * R, -e, -2 * R, 2 * R, e, 2 * R};
body[] = Surface In BoundingBox{-e, -e, -root, 2 * root, 2 * span, root};
outer[] -= plane[];
outer[] -= body[];
Physical Surface(0) = {outer[]};
Physical Surface(2) = {body[]};
Physical Surface(3) = {plane[]};

// Distances d from the edges and from the planform. max(a, 0) = (a + |a|) / 2.
Field[1] = MathEval;
Field[1].F = Sprintf("%g + %g * sqrt((%g * (x - %g * y))^2 + z^2 + ((y - %g + abs(y - %g)) / 2)^2)",
                     0.25 * h, 0.25 / f, Cos(30 * Pi / 180), lead, span, span);
Field[2] = MathEval;
Field[2].F = Sprintf("%g + %g * sqrt((x - %g - %g * y)^2 + z^2 + ((y - %g + abs(y - %g)) / 2)^2)",
                     0.4 * h, 0.25 / f, root, trail, span, span);
Field[3] = MathEval;
Field[3].F = Sprintf("%g + %g * sqrt((y - %g)^2 + z^2 + ((%g - x + abs(%g - x)) / 2)^2 + ((x - %g + abs(x - %g)) / 2)^2)",
                     0.4 * h, 0.25 / f, span, lead * span, lead * span,
                     lead * span + tip, lead * span + tip);
Field[4] = MathEval;
Field[4].F = Sprintf("%g + %g * sqrt(z^2 + ((y - %g + abs(y - %g)) / 2)^2 + ((%g * y - x + abs(%g * y - x)) / 2)^2 + ((x - %g - %g * y + abs(x - %g - %g * y)) / 2)^2)",
                     h, 0.35 / f, span, span, lead, lead, root, trail, root, trail);
Field[5] = Min;
Field[5].FieldsList = {1, 2, 3, 4};
Background Field = 5;
Mesh.CharacteristicLengthExtendFromBoundary = 0;
Mesh.CharacteristicLengthFromPoints = 0;
Mesh.CharacteristicLengthMin = 0.1 * h;
Mesh.Optimize = 1;
