// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_tests_forms_functors_h
#define tessella_tests_forms_functors_h

// Functors for tests of coefficients, in plain types: the same structs for
// host and device.

#include <tessella/forms/device_form.h>

#include <memory>
#include <vector>

namespace Functors
{
  using Tessella::BoundaryType;
  using Tessella::PointData;

  constexpr double jump = 100.;

  /// Everything that there is, and three types of boundary.
  template <int dim>
  struct Full
  {
    double scale = 1.;

    TESSELLA_HOST_DEVICE Tessella::PointTensor<dim>
                         diffusion(const PointData<dim> &p) const
    {
      Tessella::PointTensor<dim> a;
      for (int d = 0; d < dim; ++d)
        for (int e = 0; e < dim; ++e)
          a[d][e] =
            scale * (d == e ? 2. + p.x[0] * p.x[1] : 0.2 * p.x[dim - 1]);
      return a;
    }
    TESSELLA_HOST_DEVICE Tessella::PointVector<dim>
                         advection(const PointData<dim> &p) const
    {
      Tessella::PointVector<dim> b;
      for (int d = 0; d < dim; ++d)
        b[d] = 1. + p.x[d] + 0.3 * p.t;
      return b;
    }
    TESSELLA_HOST_DEVICE double
    reaction(const PointData<dim> &p) const
    {
      return 3. + p.x[0] * p.x[1];
    }
    TESSELLA_HOST_DEVICE double
    source(const PointData<dim> &p) const
    {
      return p.x[0] - p.t * p.x[1];
    }
    TESSELLA_HOST_DEVICE BoundaryType
    boundary_type(const unsigned int id) const
    {
      return id == 1   ? BoundaryType::neumann
             : id == 3 ? BoundaryType::robin
                       : BoundaryType::dirichlet;
    }
    TESSELLA_HOST_DEVICE double
    dirichlet(const PointData<dim> &p) const
    {
      return p.x[0] + 2. * p.x[1];
    }
    TESSELLA_HOST_DEVICE double
    neumann(const PointData<dim> &p) const
    {
      return 0.5 + p.x[1] * p.normal[0];
    }
    TESSELLA_HOST_DEVICE double
    robin_coefficient(const PointData<dim> &p) const
    {
      return 1. + p.x[0];
    }
  };

  /// Jumps with the material.
  template <int dim>
  struct Materials
  {
    TESSELLA_HOST_DEVICE double
    diffusion(const PointData<dim> &p) const
    {
      return p.material == 7 ? jump : 1.;
    }
    TESSELLA_HOST_DEVICE double
    source(const PointData<dim> &p) const
    {
      return p.material == 7 ? 2. : 1.;
    }
  };

  /// Vanishes in one half, and everywhere in the last direction.
  template <int dim>
  struct Degenerate
  {
    TESSELLA_HOST_DEVICE Tessella::DiagonalPointTensor<dim>
                         diffusion(const PointData<dim> &p) const
    {
      Tessella::DiagonalPointTensor<dim> a;
      for (int d = 0; d < dim; ++d)
        a[d] = d == dim - 1 || p.x[0] < 0.5 ? 0. : p.x[0] - 0.5;
      return a;
    }
    TESSELLA_HOST_DEVICE Tessella::PointVector<dim>
                         advection(const PointData<dim> &) const
    {
      Tessella::PointVector<dim> b;
      for (int d = 0; d < dim; ++d)
        b[d] = d == 0 ? 1. : -0.5;
      return b;
    }
    TESSELLA_HOST_DEVICE double
    dirichlet(const PointData<dim> &p) const
    {
      return p.x[1];
    }
  };

  template <int dim>
  struct Advection
  {
    TESSELLA_HOST_DEVICE Tessella::PointVector<dim>
                         advection(const PointData<dim> &p) const
    {
      Tessella::PointVector<dim> b = {};
      b[0]                         = -p.x[1];
      b[1]                         = p.x[0] + 0.1;
      return b;
    }
    TESSELLA_HOST_DEVICE double
    dirichlet(const PointData<dim> &p) const
    {
      return 1. + p.x[0];
    }
  };

  /// A discrete field, and its gradient.
  template <int dim>
  struct Field
  {
    static constexpr int n_fields = 1;

    TESSELLA_HOST_DEVICE double
    diffusion(const PointData<dim> &p) const
    {
      return 1. + p.value[0] * p.value[0];
    }
    TESSELLA_HOST_DEVICE double
    source(const PointData<dim> &p) const
    {
      double sum = 0.;
      for (int d = 0; d < dim; ++d)
        sum += p.gradient[0][d] * p.gradient[0][d];
      return sum;
    }
  };

  /// Not finite or negative beyond x = limit.
  template <int dim>
  struct Bad
  {
    bool   negative = false;
    double limit    = 0.8;

    TESSELLA_HOST_DEVICE double
    diffusion(const PointData<dim> &p) const
    {
      return negative && p.x[0] > limit ? -1. : 1.;
    }
    TESSELLA_HOST_DEVICE double
    source(const PointData<dim> &p) const
    {
      return !negative && p.x[0] > limit ? 1. / (p.x[0] - p.x[0]) : 1.;
    }
  };

  template <int dim>
  using FormPointer = std::unique_ptr<Tessella::Form<dim>>;
  template <int dim>
  using Fields = std::vector<Tessella::DiscreteField<dim>>;

  template <int dim, typename F>
  FormPointer<dim>
  make(const F &f, const unsigned int order, const Fields<dim> &fields = {})
  {
    auto form = std::make_unique<Tessella::DeviceForm<dim, F>>(f);
    form->set_coefficient_order(order);
    form->set_time(0.25);
    for (const auto &field : fields)
      form->add_field(field);
    return form;
  }

  /// By name: full, materials, degenerate, advection, field, not_finite,
  /// negative; null for other names.
  template <int dim>
  FormPointer<dim>
  create(const char        *name,
         const unsigned int order,
         const Fields<dim> &fields = {});
} // namespace Functors

#endif
