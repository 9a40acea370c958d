// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_flow_output_h
#define tessella_applications_compressible_flow_flow_output_h

#include <tessella/backends/assembly_parameters.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/svg_surface.h>

#include <array>
#include <string>
#include <vector>

#include "flow_input.h"

namespace Tessella
{
  namespace Application
  {
    /// Coefficients of forces on bodies.
    struct ForceCoefficients
    {
      double lift = 0., drag = 0., moment = 0.;
    };

    /// Pressure coefficient at a point of a body.
    template <int dim>
    struct SurfacePoint
    {
      double x[dim], pressure_coefficient, mach_number;
    };

    /// Point of a section of a body in three dimensions.
    struct SectionPoint
    {
      double x[3];
      double chord; ///< part of the chord from the smallest x to the largest
      int    side;  ///< 1: upper side, whose normal points along the lift axis
      double pressure_coefficient, mach_number;
    };

    /// Quantities of a flow on one mesh with one degree, for files and tables.
    /// All functions are collective.
    template <int dim>
    class FlowEvaluation
    {
    public:
      FlowEvaluation(const AgglomerationHandler<dim> &handler,
                     const AssemblyParameters        &parameters,
                     const FlowInput                 &input,
                     const FlowProblem<dim>          &problem,
                     const unsigned int               coefficient_order);

      /// Root of the mean of (S / S_0 - 1)^2 with the entropy S = p /
      /// rho^gamma and that of the free stream, S_0.
      double
      entropy_error(const ConservationVector &u) const;

      ForceCoefficients
      forces(const ConservationVector &u) const;

      /// Points of the bodies, sorted by their coordinates; on the first
      /// process those of all processes.
      std::vector<SurfacePoint<dim>>
      surface(const ConservationVector &u) const;

      /**
       * Section of the bodies with the plane on which the coordinate along the
       * span is @p station, in three dimensions; the span is normal to x and to
       * the lift axis. Facets of the bodies, curved ones with straight edges
       * between their vertices, are cut by the plane, and the section has two
       * points of each cut, a quarter of its length from its ends. Points are
       * sorted by x; on the first process those of all processes.
       */
      std::vector<SectionPoint>
      section(const ConservationVector &u, const double station) const;

      /// Facets of the bodies in three dimensions with the pressure
      /// coefficient in their middle, curved ones with straight edges; on the
      /// first process those of all processes, in an order that does not depend
      /// on these. They are turned around the x axis so that the lift axis is
      /// the third one.
      std::vector<SurfacePolygon>
      surface_polygons(const ConservationVector &u) const;

      /// Writes density, momentum, energy, velocity, pressure, Mach number and
      /// entropy.
      void
      write_fields(const std::string &file, const ConservationVector &u) const;

      const unsigned int coefficient_order;

    private:
      /// Pressure coefficient and Mach number of a state.
      std::array<double, 2>
      at_body(const double *state) const;

      const AgglomerationHandler<dim> &handler;
      const AssemblyParameters         parameters;
      const FlowInput                 &input;
      const FlowProblem<dim>          &problem;
    };
    /// Throws if a plane of Forces/Span stations does not meet the bodies.
    /// Collective.
    template <int dim>
    void
    check_stations(const AgglomerationHandler<dim> &handler,
                   const FlowInput                 &input);
  } // namespace Application
} // namespace Tessella

#endif
