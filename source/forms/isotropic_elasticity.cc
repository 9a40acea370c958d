// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/base/config.h>
#include <tessella/forms/elasticity_terms.h>
#include <tessella/forms/isotropic_elasticity.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "../../cuda/forms/constant_elasticity.h"
#include "../device/with_cuda.h"
#include "host_coefficients.h"


namespace Tessella
{
  using namespace dealii;

  namespace
  {
    template <int dim>
    struct ElasticityData
    {
      using FunctionPointer = std::shared_ptr<const Function<dim>>;
      // Constants, unless the functions are set.
      double          lambda, mu;
      FunctionPointer lambda_function, mu_function;
      FunctionPointer force, dirichlet;
      struct Traction
      {
        FunctionPointer                               vector;
        std::shared_ptr<const TensorFunction<2, dim>> stress;
      };
      std::map<types::boundary_id, Traction> traction;
    };



    /// Material of ElasticityTerms that evaluates functions of deal.II.
    template <int dim>
    struct FunctionMaterial
    {
      const ElasticityData<dim> *data;

      static Point<dim>
      point(const PointData<dim> &p)
      {
        Point<dim> x;
        for (unsigned int d = 0; d < dim; ++d)
          x[d] = p.x[d];
        return x;
      }

      static double
      value(const std::shared_ptr<const Function<dim>> &function,
            const PointData<dim>                       &p,
            const unsigned int                          component)
      {
        return function == nullptr ? 0. : function->value(point(p), component);
      }

      double
      lambda(const PointData<dim> &p) const
      {
        return data->lambda_function == nullptr
                 ? data->lambda
                 : data->lambda_function->value(point(p));
      }

      double
      mu(const PointData<dim> &p) const
      {
        return data->mu_function == nullptr
                 ? data->mu
                 : data->mu_function->value(point(p));
      }

      double
      force(const PointData<dim> &p, const unsigned int component) const
      {
        return value(data->force, p, component);
      }

      double
      dirichlet(const PointData<dim> &p, const unsigned int component) const
      {
        return value(data->dirichlet, p, component);
      }

      double
      traction(const PointData<dim> &p, const unsigned int component) const
      {
        const auto &t = data->traction.at(p.boundary_id);
        if (t.stress == nullptr)
          return value(t.vector, p, component);
        const Tensor<2, dim> stress = t.stress->value(point(p));
        double               result = 0.;
        for (unsigned int d = 0; d < dim; ++d)
          result += stress[component][d] * p.normal[d];
        return result;
      }

      BoundaryType
      boundary_type(const unsigned int boundary_id) const
      {
        return data->traction.count(boundary_id) > 0 ? BoundaryType::neumann
                                                     : BoundaryType::dirichlet;
      }
    };



    /// Pair of components whose coefficients a device evaluates if they are
    /// constant and if it has no right-hand side.
    template <int dim>
    class FunctionPair : public ElasticityPair<dim, FunctionMaterial<dim>>
    {
    public:
      using Base = ElasticityPair<dim, FunctionMaterial<dim>>;
      using Base::Base;

      /// Evaluates the force at all points at once.
      void
      evaluate_volume(const PointBatch<dim> &points,
                      VolumeBlocks<dim>     &blocks) const override
      {
        VolumeBlocks<dim> matrix = blocks;
        matrix.f                 = nullptr;
        if (matrix.a[0] != nullptr)
          Base::evaluate_volume(points, matrix);
        if (blocks.f == nullptr)
          return;
        const auto &force = this->terms.material.data->force;
        std::fill_n(blocks.f, points.n_points, 0.);
        if (force == nullptr)
          return;
        std::vector<Point<dim>> x(points.n_points);
        std::vector<double>     f(points.n_points);
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int q = 0; q < points.n_points; ++q)
            x[q][d] = points.x[d][q];
        force->value_list(x, f, this->terms.test);
        for (unsigned int q = 0; q < points.n_points; ++q)
          if (!std::isfinite(f[q]))
            internal::throw_message(
              "The force of an IsotropicElasticity is "
              "not finite at a point of the domain.");
        std::copy(f.begin(), f.end(), blocks.f);
      }

      std::shared_ptr<const DeviceCoefficients<dim>>
      device_coefficients() const override
      {
        if constexpr (internal::with_cuda)
          {
            const ElasticityData<dim> &data = *this->terms.material.data;
            if (!this->constant || this->is_diagonal() ||
                data.traction.size() > internal::Device::max_traction_ids)
              return nullptr;
            std::vector<unsigned int> ids;
            for (const auto &entry : data.traction)
              ids.push_back(entry.first);
            return internal::Device::constant_elasticity<dim>(data.lambda,
                                                              data.mu,
                                                              this->terms.theta,
                                                              this->terms.test,
                                                              this->terms.trial,
                                                              ids);
          }
        else
          return nullptr;
      }

      std::string
      why_not_on_device() const override
      {
        return this->constant ? ""
                              : "lambda and mu are functions of deal.II: "
                                "ElasticityForm evaluates functors on the "
                                "device";
      }
    };
  } // namespace



  template <int dim>
  struct IsotropicElasticity<dim>::Implementation
  {
    ElasticityData<dim>                             data;
    double                                          theta = 1.;
    unsigned int                                    order = 2;
    std::vector<std::unique_ptr<FunctionPair<dim>>> pairs;

    void
    make_pairs()
    {
      pairs.clear();
      const bool constant = data.lambda_function == nullptr;
      for (unsigned int i = 0; i < dim; ++i)
        for (unsigned int j = 0; j < dim; ++j)
          {
            pairs.push_back(std::make_unique<FunctionPair<dim>>(
              ElasticityTerms<dim, FunctionMaterial<dim>>{{&data}, i, j, theta},
              constant));
            pairs.back()->set_coefficient_order(order);
          }
    }
  };



  template <int dim>
  IsotropicElasticity<dim>::IsotropicElasticity(const double lambda,
                                                const double mu)
    : implementation(std::make_unique<Implementation>())
  {
    AssertThrow(
      std::isfinite(lambda) && std::isfinite(mu) && mu > 0. &&
        lambda + 2. * mu >= 0.,
      ExcMessage("IsotropicElasticity needs finite Lame parameters with mu > 0 "
                 "and lambda + 2 mu >= 0."));
    implementation->data.lambda = lambda;
    implementation->data.mu     = mu;
    implementation->make_pairs();
  }



  template <int dim>
  IsotropicElasticity<dim>::IsotropicElasticity(const FunctionPointer &lambda,
                                                const FunctionPointer &mu)
    : implementation(std::make_unique<Implementation>())
  {
    internal::check_components(lambda.get(), 1, "lambda");
    internal::check_components(mu.get(), 1, "mu");
    implementation->data.lambda_function = lambda;
    implementation->data.mu_function     = mu;
    implementation->make_pairs();
  }



  template <int dim>
  IsotropicElasticity<dim>::~IsotropicElasticity() = default;



  template <int dim>
  void
  IsotropicElasticity<dim>::set_force(const FunctionPointer &f)
  {
    if (f != nullptr)
      internal::check_components(f.get(), dim, "force");
    implementation->data.force = f;
  }



  template <int dim>
  void
  IsotropicElasticity<dim>::set_dirichlet(const FunctionPointer &g)
  {
    if (g != nullptr)
      internal::check_components(g.get(), dim, "displacement on the boundary");
    implementation->data.dirichlet = g;
  }



  template <int dim>
  void
  IsotropicElasticity<dim>::set_traction(const types::boundary_id id,
                                         const FunctionPointer   &t)
  {
    if (t != nullptr)
      internal::check_components(t.get(), dim, "traction");
    implementation->data.traction[id] = {t, nullptr};
  }



  template <int dim>
  void
  IsotropicElasticity<dim>::set_boundary_stress(
    const types::boundary_id                             id,
    const std::shared_ptr<const TensorFunction<2, dim>> &stress)
  {
    implementation->data.traction[id] = {nullptr, stress};
  }



  template <int dim>
  void
  IsotropicElasticity<dim>::set_theta(const double theta)
  {
    AssertThrow(theta == 1. || theta == 0. || theta == -1.,
                ExcMessage("theta of an IsotropicElasticity must be 1 "
                           "(symmetric), 0 (incomplete) or -1 "
                           "(nonsymmetric)."));
    implementation->theta = theta;
    implementation->make_pairs();
  }



  template <int dim>
  void
  IsotropicElasticity<dim>::set_coefficient_order(const unsigned int order)
  {
    implementation->order = order;
    implementation->make_pairs();
  }



  template <int dim>
  unsigned int
  IsotropicElasticity<dim>::n_test_components() const
  {
    return dim;
  }



  template <int dim>
  const Form<dim> *
  IsotropicElasticity<dim>::form(const unsigned int test,
                                 const unsigned int trial) const
  {
    return implementation->pairs[test * dim + trial].get();
  }



  template <int dim>
  bool
  IsotropicElasticity<dim>::constant_terms(
    ConstantSystemTerms<dim> &terms) const
  {
    const ElasticityData<dim> &data = implementation->data;
    if (data.lambda_function != nullptr ||
        data.traction.size() > terms.max_neumann_ids)
      return false;
    for (unsigned int p = 0; p < terms.n_pairs; ++p)
      {
        const PointTensor<dim> a =
          ElasticityTerms<dim, FunctionMaterial<dim>>{{&data},
                                                      p / dim,
                                                      p % dim,
                                                      0.}
            .diffusion(PointData<dim>());
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int e = 0; e < dim; ++e)
            terms.a[p][d * dim + e] = a[d][e];
      }
    terms.theta         = implementation->theta;
    terms.n_neumann_ids = 0;
    for (const auto &entry : data.traction)
      terms.neumann_id[terms.n_neumann_ids++] = entry.first;
    return true;
  }



  template class IsotropicElasticity<2>;
  template class IsotropicElasticity<3>;
} // namespace Tessella
