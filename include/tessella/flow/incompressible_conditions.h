// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_incompressible_conditions_h
#define tessella_flow_incompressible_conditions_h

#include <tessella/forms/pointwise_terms.h>

#ifndef __CUDACC_RTC__
#  include <string>
#endif

// Boundary conditions and data of incompressible flow, for host and device.

namespace Tessella
{
  namespace Flow
  {
    /// Types of boundary conditions of incompressible flow. Periodic boundaries
    /// are those of the mesh and have none.
    enum class IncompressibleCondition
    {
      velocity, ///< u = g
      outflow,  ///< p and du/dn are given
      symmetry  ///< plane normal to an axis, u . n = 0 and no shear stress
    };

    /// Types of boundary conditions of the temperature.
    enum class TemperatureCondition
    {
      temperature, ///< T is given
      heat_flux,   ///< kappa dT/dn is given
      outflow      ///< dT/dn = 0; flow that comes back brings a given T
    };

    /// Types of the boundary ids. An id without a type gives results that are
    /// not numbers, which an operator reports; IncompressibleFlow finds it
    /// earlier.
    template <typename Type>
    struct BoundaryTypes
    {
      static constexpr unsigned int max_conditions = 16;

      unsigned int n_conditions = 0;
      unsigned int boundary_id[max_conditions];
      Type         type[max_conditions];

      /// Index of the condition of a boundary id; n_conditions if there is
      /// none.
      TESSELLA_HOST_DEVICE unsigned int
      find(const unsigned int id) const
      {
        for (unsigned int i = 0; i < n_conditions; ++i)
          if (boundary_id[i] == id)
            return i;
        return n_conditions;
      }
      TESSELLA_HOST_DEVICE bool
      is(const unsigned int id, const Type what) const
      {
        const unsigned int i = find(id);
        return i < n_conditions && type[i] == what;
      }
      void
      add(const unsigned int id, const Type what)
      {
        boundary_id[n_conditions] = id;
        type[n_conditions++]      = what;
      }
    };
    using IncompressibleConditions = BoundaryTypes<IncompressibleCondition>;
    using TemperatureConditions    = BoundaryTypes<TemperatureCondition>;

    /**
     * Data of a flow: boundary values and a force. Operators take any struct
     * with these members; its members are marked TESSELLA_HOST_DEVICE where a
     * device shall run them. They may depend on the point, its time
     * OperatorPoint::t and its boundary id. Those of the temperature are needed
     * only where there is one. This struct has zeros.
     */
    template <int dim>
    struct NoFlowData
    {
      /// Velocity g at a point of the boundary.
      TESSELLA_HOST_DEVICE void
      velocity(const OperatorPoint<dim> &, double *g) const
      {
        for (int d = 0; d < dim; ++d)
          g[d] = 0.;
      }
      /// Pressure at a point of an outflow part.
      TESSELLA_HOST_DEVICE double
      pressure(const OperatorPoint<dim> &) const
      {
        return 0.;
      }
      /// du/dn at a point of an outflow part.
      TESSELLA_HOST_DEVICE void
      normal_derivative(const OperatorPoint<dim> &, double *h) const
      {
        for (int d = 0; d < dim; ++d)
          h[d] = 0.;
      }
      /// Force f in u_t + div(u (x) u) + grad p - nu Laplace(u) = f.
      TESSELLA_HOST_DEVICE void
      force(const OperatorPoint<dim> &, double *f) const
      {
        for (int d = 0; d < dim; ++d)
          f[d] = 0.;
      }
      /// Temperature at a point of a part with a given one, and of fluid that
      /// comes back through an outflow part of the temperature.
      TESSELLA_HOST_DEVICE double
      temperature(const OperatorPoint<dim> &) const
      {
        return 0.;
      }
      /// kappa dT/dn at a point of a part with a given heat flux: heat that
      /// comes in, divided by density and heat capacity.
      TESSELLA_HOST_DEVICE double
      heat_flux(const OperatorPoint<dim> &) const
      {
        return 0.;
      }
      /// Source s in T_t + div(u T) - kappa Laplace(T) = s.
      TESSELLA_HOST_DEVICE double
      heat_source(const OperatorPoint<dim> &) const
      {
        return 0.;
      }
    };



#ifndef __CUDACC_RTC__
    /// Data of a flow as virtual functions of the host, which are thread safe.
    /// Those that are not overridden are zero.
    template <int dim>
    class FlowFunctions
    {
    public:
      virtual ~FlowFunctions() = default;
      virtual void
      velocity(const OperatorPoint<dim> &p, double *g) const
      {
        NoFlowData<dim>().velocity(p, g);
      }
      virtual double
      pressure(const OperatorPoint<dim> &) const
      {
        return 0.;
      }
      virtual void
      normal_derivative(const OperatorPoint<dim> &p, double *h) const
      {
        NoFlowData<dim>().normal_derivative(p, h);
      }
      virtual void
      force(const OperatorPoint<dim> &p, double *f) const
      {
        NoFlowData<dim>().force(p, f);
      }
      /// Whether there is a force; without one its integrals are left out.
      virtual bool
      has_force() const
      {
        return false;
      }
      virtual double
      temperature(const OperatorPoint<dim> &) const
      {
        return 0.;
      }
      virtual double
      heat_flux(const OperatorPoint<dim> &) const
      {
        return 0.;
      }
      virtual double
      heat_source(const OperatorPoint<dim> &) const
      {
        return 0.;
      }
      /// The same functions for a CUDA device: the members of a struct such as
      /// NoFlowData in C++, marked TESSELLA_HOST_DEVICE, with Point, which is
      /// OperatorPoint<dim>, as the type of points. Without them, which is the
      /// default, flows are computed on the host only.
      virtual std::string
      device_code() const
      {
        return "";
      }
    };

    /// The same as data of the operators, on the host. The functions must
    /// outlive the operators.
    template <int dim>
    struct FlowFunctionData
    {
      const FlowFunctions<dim> *functions = nullptr;

      void
      velocity(const OperatorPoint<dim> &p, double *g) const
      {
        functions->velocity(p, g);
      }
      double
      pressure(const OperatorPoint<dim> &p) const
      {
        return functions->pressure(p);
      }
      void
      normal_derivative(const OperatorPoint<dim> &p, double *h) const
      {
        functions->normal_derivative(p, h);
      }
      void
      force(const OperatorPoint<dim> &p, double *f) const
      {
        functions->force(p, f);
      }
      double
      temperature(const OperatorPoint<dim> &p) const
      {
        return functions->temperature(p);
      }
      double
      heat_flux(const OperatorPoint<dim> &p) const
      {
        return functions->heat_flux(p);
      }
      double
      heat_source(const OperatorPoint<dim> &p) const
      {
        return functions->heat_source(p);
      }
    };
#endif
  } // namespace Flow
} // namespace Tessella

#endif
