// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_mesh_input.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/patterns.h>

#include <tessella/base/error_message.h>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    FlowMeshInput::declare_parameters(ParameterHandler &prm)
    {
      prm.add_parameter(
        "Geometry",
        geometry,
        "A mesh around a body in flow instead of files or a generator. "
        "channel_cylinder: channel 2.2 x 0.41 with a circle at (0.2, 0.2) of "
        "radius 0.05. square_cylinder: square of side 1 in a rectangle. "
        "naca_0012: aerofoil of chord 1. bump: channel with a "
        "smooth bump on its lower wall. sphere: circle or sphere in a "
        "concentric far field. Boundary ids: 0 inflow or far field, 1 outflow, "
        "2 body or wall with the bump, 3 other walls, 4 and 5 planes of "
        "constant z. The body is curved with Mapping degree = 2, for "
        "quadrilaterals and hexahedra also with higher degrees.",
        Patterns::Selection("none|channel_cylinder|square_cylinder|naca_0012|"
                            "bump|sphere"));
      prm.add_parameter("Geometry simplices",
                        resolution.simplices,
                        "Triangles or tetrahedra instead of quadrilaterals or "
                        "hexahedra.");
      prm.add_parameter("Geometry cells",
                        resolution.n_cells,
                        "Twice the number of cells around the cylinder in the "
                        "channel (16, 32, ...), or the number of cells around "
                        "the aerofoil (even), on one side of "
                        "the square, along the wall with the bump, on a "
                        "quarter of the circle, and on an edge of the cube "
                        "that becomes the sphere.",
                        Patterns::Integer(1, 10000));
      prm.add_parameter("Geometry first height",
                        resolution.first_height,
                        "Height of the layer of cells on the body; 0: as high "
                        "as long. Not for channel_cylinder.",
                        Patterns::Double());
      prm.add_parameter("Geometry growth",
                        resolution.growth,
                        "Factor by which every layer is higher than the one "
                        "before.",
                        Patterns::Double());
      prm.add_parameter("Geometry stretch",
                        resolution.stretch,
                        "Ratio of the height of layers to the length of their "
                        "cells up to which they grow, away from naca_0012 and "
                        "sphere.",
                        Patterns::Double());
      prm.add_parameter("Geometry bunching",
                        resolution.bunching,
                        "Cells in the middle of the chord of naca_0012 are "
                        "shorter by the factor 1 - this, those at its ends "
                        "longer by 1 + this.",
                        Patterns::Double());
      prm.add_parameter("Geometry trailing edge",
                        trailing_edge,
                        "How that of naca_0012 is closed: by the last "
                        "coefficient of the thickness, 0.1036; or by the "
                        "original curve up to its zero, x = 1.00893, scaled to "
                        "chord 1.",
                        Patterns::Selection("coefficient|extended"));
      prm.add_parameter("Geometry slices",
                        resolution.n_slices,
                        "Cells in z, in 3-D, except for the sphere.",
                        Patterns::Integer(1, 10000));
      prm.add_parameter("Geometry depth",
                        depth,
                        "Length in z, in 3-D, of square_cylinder, naca_0012 "
                        "and bump.",
                        Patterns::Double());
      prm.add_parameter("Geometry radius",
                        radius,
                        "Radius of the sphere.",
                        Patterns::Double());
      prm.add_parameter(
        "Geometry far field",
        far_field,
        "Radius of the far field of naca_0012 and sphere. For square_cylinder: "
        "distances from the centre upstream, downstream and to the sides, "
        "separated by commas, or one for all of them.",
        Patterns::List(Patterns::Double(), 1, 3));
    }



    void
    FlowMeshInput::check() const
    {
      const bool one_or_three = geometry == "square_cylinder";
      AssertThrow(!is_given() || far_field.size() == 1 ||
                    (one_or_three && far_field.size() == 3),
                  ExcMessage("Mesh/Geometry far field has " +
                             std::to_string(far_field.size()) +
                             " numbers, but " + geometry + " needs " +
                             (one_or_three ? "one or three." : "one.")));
    }



    double
    FlowMeshInput::n_cells_at_least(const unsigned int dim) const
    {
      const double n = resolution.n_cells;
      // Two layers around the sphere.
      return geometry == "sphere" && dim == 3 ? 12. * n * n : n;
    }



    template <int dim>
    void
    FlowMeshInput::create(Triangulation<dim> &triangulation) const
    {
      try
        {
          if (geometry == "channel_cylinder")
            FlowMeshes::channel_cylinder(triangulation, resolution);
          else if (geometry == "square_cylinder")
            FlowMeshes::square_cylinder(triangulation,
                                        resolution,
                                        far_field[0],
                                        far_field.size() == 3 ? far_field[1]
                                                              : far_field[0],
                                        far_field.size() == 3 ? far_field[2]
                                                              : far_field[0],
                                        depth);
          else if (geometry == "bump")
            FlowMeshes::bump(triangulation, resolution, depth);
          else if (geometry == "sphere")
            FlowMeshes::sphere(triangulation, resolution, radius, far_field[0]);
          else
            {
              FlowMeshes::Resolution aerofoil = resolution;
              if (trailing_edge == "extended")
                aerofoil.trailing_edge = Naca0012::TrailingEdge::extended;
              FlowMeshes::naca_0012(triangulation,
                                    aerofoil,
                                    far_field[0],
                                    depth);
            }
        }
      catch (const std::exception &exception)
        {
          AssertThrow(false,
                      ExcMessage(
                        "The mesh of Mesh/Geometry = " + geometry +
                        " cannot be made: " + error_message(exception)));
        }
    }

    template void
    FlowMeshInput::create(Triangulation<2> &) const;
    template void
    FlowMeshInput::create(Triangulation<3> &) const;
  } // namespace Application
} // namespace Tessella
