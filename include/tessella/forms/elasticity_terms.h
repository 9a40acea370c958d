// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_elasticity_terms_h
#define tessella_forms_elasticity_terms_h

#include <tessella/forms/device_form.h>
#include <tessella/forms/system_form.h>

#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Linear elasticity, -div sigma(u) = f with sigma(u) = 2 mu eps(u) + lambda
   * div(u) I, by the interior penalty method of Riviere, Shaw, Wheeler and
   * Whiteman, Numer. Math. 95 (2003): for one pair of components, as a functor
   * of DeviceForm. In components, sigma(u e_j) n . e_i = n . a_ij grad u with
   *   a_ij = lambda e_i e_j^T + mu e_j e_i^T + mu delta_ij I,
   * so that the pair (i, j) has the terms
   *   int  grad v . a_ij grad u
   *   - int_F  {n . a_ij grad u} [v] + theta {n . a_ij^T grad v} [u]
   *            - delta_ij sigma [u] [v]
   * on polytopes and on facets between them and on the Dirichlet boundary.
   *
   * A @p Material is a class of plain data with the following members, const
   * and marked TESSELLA_HOST_DEVICE:
   * - double lambda(PointData<dim>), double mu(PointData<dim>),
   * - double force(PointData<dim>, unsigned int component): f,
   * - BoundaryType boundary_type(unsigned int boundary_id): dirichlet, or
   *   neumann where the traction is given,
   * - double dirichlet(PointData<dim>, unsigned int component): u there,
   * - double traction(PointData<dim>, unsigned int component): sigma(u) n.
   */
  template <int dim, typename Material>
  struct ElasticityTerms
  {
    Material     material;
    unsigned int test, trial; ///< components i and j
    double       theta;       ///< 1, 0, -1: symmetric, incomplete, nonsymmetric

    /// a_ij.
    TESSELLA_HOST_DEVICE PointTensor<dim>
                         diffusion(const PointData<dim> &p) const
    {
      const double     lambda = material.lambda(p), mu = material.mu(p);
      PointTensor<dim> a;
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int e = 0; e < dim; ++e)
          a[d][e] = (d == test && e == trial ? lambda : 0.) +
                    (d == trial && e == test ? mu : 0.) +
                    (test == trial && d == e ? mu : 0.);
      return a;
    }

    /// Sigma of all pairs follows from the largest n . a_ii n of all i.
    TESSELLA_HOST_DEVICE double
    penalty_diffusion(const PointData<dim> &p) const
    {
      return material.lambda(p) + 2. * material.mu(p);
    }

    TESSELLA_HOST_DEVICE double
    source(const PointData<dim> &p) const
    {
      return material.force(p, test);
    }

    /// Adds factor times a_ij n for the Lame parameters @p lambda and @p mu.
    TESSELLA_HOST_DEVICE static void
    add_conormal(const unsigned int i,
                 const unsigned int j,
                 const double       lambda,
                 const double       mu,
                 const double       factor,
                 const double      *n,
                 double            *result)
    {
      result[i] += factor * lambda * n[j];
      result[j] += factor * mu * n[i];
      if (i == j)
        for (int d = 0; d < dim; ++d)
          result[d] += factor * mu * n[d];
    }

    TESSELLA_HOST_DEVICE void
    interior_facet(const PointData<dim>    &own,
                   const PointData<dim>    &neighbor,
                   const double             sigma,
                   InteriorFacetTerms<dim> &terms,
                   CoefficientError &) const
    {
      const double *const n      = own.normal;
      const double        lambda = material.lambda(own), mu = material.mu(own);
      double              flux[dim] = {};
      add_conormal(test, trial, lambda, mu, 0.5 * theta, n, flux);
      for (int d = 0; d < dim; ++d)
        {
          terms.b[0][d] = terms.b[1][d] = 0.;
          terms.beta[0][d]              = -flux[d];
          terms.beta[1][d]              = flux[d];
        }
      // a_ij^T = a_ji.
      add_conormal(trial, test, lambda, mu, -0.5, n, terms.b[0]);
      add_conormal(trial,
                   test,
                   material.lambda(neighbor),
                   material.mu(neighbor),
                   -0.5,
                   n,
                   terms.b[1]);
      terms.c[0] = test == trial ? sigma : 0.;
      terms.c[1] = -terms.c[0];
    }

    /// The pair (i, i) has the right-hand side of all pairs (i, j).
    TESSELLA_HOST_DEVICE void
    boundary_facet(const PointData<dim>    &p,
                   const double             sigma,
                   BoundaryFacetTerms<dim> &terms,
                   CoefficientError &) const
    {
      terms.c = terms.r = 0.;
      for (int d = 0; d < dim; ++d)
        terms.b[d] = terms.beta[d] = terms.s[d] = 0.;
      if (material.boundary_type(p.boundary_id) != BoundaryType::dirichlet)
        {
          if (test == trial)
            terms.r = material.traction(p, test);
          return;
        }
      const double lambda = material.lambda(p), mu = material.mu(p);
      add_conormal(trial, test, lambda, mu, -1., p.normal, terms.b);
      add_conormal(test, trial, lambda, mu, -theta, p.normal, terms.beta);
      if (test != trial)
        return;
      terms.c = sigma;
      terms.r = sigma * material.dirichlet(p, test);
      for (unsigned int j = 0; j < dim; ++j)
        add_conormal(test,
                     j,
                     lambda,
                     mu,
                     -theta * material.dirichlet(p, j),
                     p.normal,
                     terms.s);
    }

    TESSELLA_HOST_DEVICE BoundaryType
    boundary_type(const unsigned int boundary_id) const
    {
      return material.boundary_type(boundary_id);
    }
  };



#ifdef __CUDACC__
  inline namespace CompiledForDevice
#else
  inline namespace CompiledForHost
#endif
  {
    /// Form of one pair of components of linear elasticity.
    template <int dim, typename Material>
    class ElasticityPair
      : public DeviceForm<dim, ElasticityTerms<dim, Material>>
    {
    public:
      using Base = DeviceForm<dim, ElasticityTerms<dim, Material>>;

      /// @p constant: whether lambda and mu are the same everywhere.
      ElasticityPair(const ElasticityTerms<dim, Material> &terms,
                     const bool                            constant)
        : Base(terms)
        , terms(terms)
        , constant(constant)
      {}

      VolumeStructure
      volume_structure() const override
      {
        VolumeStructure structure = Base::volume_structure();
        structure.symmetric       = is_diagonal() && terms.theta == 1.;
        structure.constant        = constant;
        structure.f               = is_diagonal();
        return structure;
      }

      FacetStructure
      facet_structure() const override
      {
        FacetStructure structure = Base::facet_structure();
        structure.beta           = terms.theta != 0.;
        structure.rhs            = is_diagonal();
        structure.penalty        = is_diagonal();
        return structure;
      }

      bool
      has_penalty_facets(double &theta) const override
      {
        // a_ij is symmetric for i = j only. Without penalty facets, theta says
        // that the block has no symmetric part.
        theta = is_diagonal() ? terms.theta : 0.;
        return is_diagonal();
      }

      bool
      constant_interior_facets(ConstantFacetTerms<dim> &facets) const override
      {
        if (!constant || !is_diagonal())
          return false;
        const PointTensor<dim> a = terms.diffusion(PointData<dim>());
        for (unsigned int d = 0; d < dim; ++d)
          {
            facets.b[d] = 0.;
            for (unsigned int e = 0; e < dim; ++e)
              facets.a[d * dim + e] = a[d][e];
          }
        facets.theta = terms.theta;
        return true;
      }

    protected:
      bool
      is_diagonal() const
      {
        return terms.test == terms.trial;
      }

      const ElasticityTerms<dim, Material> terms;
      const bool                           constant;
    };



    /**
     * Linear elasticity with coefficients and data that are members of a class
     * @p Material of the user, see ElasticityTerms. In a .cu file that nvcc
     * compiles, they are evaluated on the device, otherwise by the host's
     * threads. IsotropicElasticity takes functions of deal.II instead.
     */
    template <int dim, typename Material>
    class ElasticityForm : public SystemForm<dim>
    {
    public:
      /// @p theta: 1, 0 or -1, the variant of the interior penalty;
      /// @p coefficient_order: polynomial degree of the coefficients, for the
      /// choice of the quadrature.
      explicit ElasticityForm(const Material    &material,
                              const double       theta             = 1.,
                              const unsigned int coefficient_order = 2)
      {
        for (unsigned int i = 0; i < dim; ++i)
          for (unsigned int j = 0; j < dim; ++j)
            {
              pairs.push_back(std::make_unique<ElasticityPair<dim, Material>>(
                ElasticityTerms<dim, Material>{material, i, j, theta}, false));
              pairs.back()->set_coefficient_order(coefficient_order);
            }
      }

      unsigned int
      n_test_components() const override
      {
        return dim;
      }

      const Form<dim> *
      form(const unsigned int test, const unsigned int trial) const override
      {
        return pairs[test * dim + trial].get();
      }

      /// Sets PointData::t.
      void
      set_time(const double time)
      {
        for (const auto &pair : pairs)
          pair->set_time(time);
      }

    private:
      std::vector<std::unique_ptr<ElasticityPair<dim, Material>>> pairs;
    };
  } // namespace
} // namespace Tessella

#endif
