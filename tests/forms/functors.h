// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_forms_functors_h
#define tessella_tests_forms_functors_h

// Functors for tests of coefficients, in plain types, so that host and device
// use the same structs.

#include <tessella/forms/device_form.h>
#include <tessella/forms/quasilinear_terms.h>

#include <memory>
#include <vector>

namespace Functors
{
  using Tessella::BoundaryType;
  using Tessella::PointData;

  constexpr double jump = 100.;

  /// All coefficients, and three types of boundary conditions.
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

  /// Coefficients that jump with the material.
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

  /// Diffusion that vanishes in one half of the domain, and everywhere in the
  /// last direction.
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

  /// Coefficients from a discrete field and its gradient.
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

  /// Coefficients with one value per cell.
  template <int dim>
  struct Cells
  {
    static constexpr int n_cell_values = 2;

    TESSELLA_HOST_DEVICE double
    diffusion(const PointData<dim> &p) const
    {
      return p.cell_value[0];
    }
    TESSELLA_HOST_DEVICE double
    reaction(const PointData<dim> &p) const
    {
      return p.cell_value[1];
    }
  };

  /// -div((1 + x_0 u + u^2) grad u) = 1 + x_0, linearised at a field. n . a
  /// grad u = x_0 - 2 x_1 on boundary id 1, u = x_0 x_1 elsewhere.
  template <int dim>
  struct Quasilinear
  {
    static constexpr int n_fields = 1;
    using Checked = Tessella::internal::PointwiseCoefficients<dim, Quasilinear>;

    bool   newton = true;
    double theta  = 1.;

    TESSELLA_HOST_DEVICE double
    diffusion(const PointData<dim> &p) const
    {
      const double u = p.value[0];
      return 1. + p.x[0] * u + u * u;
    }
    TESSELLA_HOST_DEVICE double
    penalty_diffusion(const PointData<dim> &) const
    {
      return 1.;
    }
    TESSELLA_HOST_DEVICE double
    derivative(const PointData<dim> &p) const
    {
      return newton ? p.x[0] + 2. * p.value[0] : 0.;
    }
    TESSELLA_HOST_DEVICE Tessella::PointVector<dim>
                         beta(const PointData<dim> &p) const
    {
      Tessella::PointVector<dim> result;
      for (int d = 0; d < dim; ++d)
        result[d] = derivative(p) * p.gradient[0][d];
      return result;
    }
    TESSELLA_HOST_DEVICE double
    source(const PointData<dim> &p) const
    {
      return 1. + p.x[0];
    }

    TESSELLA_HOST_DEVICE Tessella::QuasilinearTerms::Side
    side(const PointData<dim> &p, Tessella::CoefficientError &error) const
    {
      Tessella::QuasilinearTerms::Side s = {p.value[0], 0., 0., derivative(p)};
      Checked::diffusion(*this, p, &s.a, error);
      for (int d = 0; d < dim; ++d)
        s.normal_derivative += p.gradient[0][d] * p.normal[d];
      return s;
    }
    TESSELLA_HOST_DEVICE void
    interior_facet(const PointData<dim>              &own,
                   const PointData<dim>              &neighbor,
                   const double                       sigma,
                   Tessella::InteriorFacetTerms<dim> &terms,
                   Tessella::CoefficientError        &error) const
    {
      Tessella::QuasilinearTerms::interior(side(own, error),
                                           side(neighbor, error),
                                           own.normal,
                                           sigma,
                                           theta,
                                           terms);
    }
    TESSELLA_HOST_DEVICE void
    boundary_facet(const PointData<dim>              &p,
                   const double                       sigma,
                   Tessella::BoundaryFacetTerms<dim> &terms,
                   Tessella::CoefficientError        &error) const
    {
      if (p.boundary_id == 1)
        {
          Tessella::QuasilinearTerms::neumann(p.x[0] - 2. * p.x[1], terms);
          return;
        }
      PointData<dim> q = p;
      q.value[0]       = p.x[0] * p.x[1];
      double a;
      Checked::diffusion(*this, q, &a, error);
      Tessella::QuasilinearTerms::dirichlet(
        a, q.value[0], p.normal, sigma, theta, terms);
    }
  };

  /// Beyond x = limit, negative diffusion or a source that is not finite.
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

  using CellValues = std::vector<std::shared_ptr<const std::vector<double>>>;

  template <int dim, typename F>
  FormPointer<dim>
  make(const F           &f,
       const unsigned int order,
       const Fields<dim> &fields      = {},
       const CellValues  &cell_values = {})
  {
    auto form = std::make_unique<Tessella::DeviceForm<dim, F>>(f);
    form->set_coefficient_order(order);
    form->set_time(0.25);
    for (const auto &field : fields)
      form->add_field(field);
    for (const auto &values : cell_values)
      form->add_cell_values(values);
    return form;
  }

  /// Functors by name: full, materials, degenerate, advection, field, cells,
  /// picard, newton, not_finite, negative; null for other names.
  template <int dim>
  FormPointer<dim>
  create(const char        *name,
         const unsigned int order,
         const Fields<dim> &fields      = {},
         const CellValues  &cell_values = {});
} // namespace Functors

#endif
