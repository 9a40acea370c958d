// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_weighted_penalty_form_h
#define tessella_source_hdg_weighted_penalty_form_h

#include <tessella/forms/form.h>

#include <algorithm>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Symmetric interior penalty with weighted averages for the coefficients of
     * another form (A. Ern, A. Stephansen, P. Zunino, IMA J. Numer. Anal. 29,
     * 2009). With the diffusion a_t = n . a n of side t, the average of a grad
     * u has the weights a_1 / (a_0 + a_1) and a_0 / (a_0 + a_1), and sigma is
     * multiplied by the harmonic mean of a_0 and a_1, divided by the larger of
     * the two. Jumps of discrete functions then cost as much as the side with
     * the smaller diffusion demands. Terms of advection, of reaction and on the
     * boundary are those of the given form.
     */
    template <int dim>
    class WeightedPenaltyForm : public Form<dim>
    {
    public:
      /// @p form must outlive the object.
      explicit WeightedPenaltyForm(const Form<dim> &form)
        : form(form)
        , diffusion(form.volume_structure().diffusion)
      {}

      void
      prepare() const override
      {
        form.prepare();
      }

      VolumeStructure
      volume_structure() const override
      {
        VolumeStructure structure = form.volume_structure();
        structure.symmetric       = false;
        return structure;
      }

      FacetStructure
      facet_structure() const override
      {
        FacetStructure structure = form.facet_structure();
        structure.mirrored = structure.continuous = false;
        if (diffusion != DiffusionType::none)
          structure.b = structure.beta = true;
        return structure;
      }

      unsigned int
      coefficient_order() const override
      {
        return form.coefficient_order();
      }

      void
      evaluate_diffusion(const PointBatch<dim> &points,
                         double *const         *a) const override
      {
        form.evaluate_diffusion(points, a);
      }

      void
      evaluate_volume(const PointBatch<dim> &points,
                      VolumeBlocks<dim>     &blocks) const override
      {
        form.evaluate_volume(points, blocks);
      }

      void
      evaluate_interior_facets(const FacetPointBatch<dim> &points,
                               FacetBlocks<dim> &blocks) const override
      {
        form.evaluate_interior_facets(points, blocks);
        if (diffusion == DiffusionType::none)
          return;
        const unsigned int  n = points.n_points;
        std::vector<double> an[2];
        an[0].resize((dim + 1) * n);
        an[1].resize((dim + 1) * n);
        conormal(points, points.normal, an[0]);
        PointBatch<dim> other = points;
        other.subcell         = points.neighbor_subcell;
        other.material        = points.neighbor_material;
        std::copy_n(points.neighbor_x, dim, other.x);
        conormal(other, points.normal, an[1]);
        for (unsigned int q = 0; q < n; ++q)
          {
            const double a_0 = an[0][dim * n + q], a_1 = an[1][dim * n + q];
            const double sum  = a_0 + a_1;
            const double w[2] = {sum > 0. ? a_1 / sum : 0.5,
                                 sum > 0. ? a_0 / sum : 0.5};
            for (unsigned int d = 0; d < dim; ++d)
              {
                for (unsigned int t = 0; t < 2; ++t)
                  if (blocks.b[t][d] != nullptr)
                    blocks.b[t][d][q] = -w[t] * an[t][d * n + q];
                const double beta = -w[0] * an[0][d * n + q];
                if (blocks.beta[0][d] != nullptr)
                  blocks.beta[0][d][q] = beta;
                if (blocks.beta[1][d] != nullptr)
                  blocks.beta[1][d][q] = -beta;
              }
            if (points.sigma == nullptr)
              continue;
            const double change =
              sum > 0. ? points.sigma[q] * (2. * std::min(a_0, a_1) / sum - 1.)
                       : 0.;
            if (blocks.c[0] != nullptr)
              blocks.c[0][q] += change;
            if (blocks.c[1] != nullptr)
              blocks.c[1][q] -= change;
          }
      }

      void
      evaluate_boundary_facets(const FacetPointBatch<dim> &points,
                               FacetBlocks<dim> &blocks) const override
      {
        form.evaluate_boundary_facets(points, blocks);
        for (unsigned int d = 0; d < dim; ++d)
          if (blocks.b[0][d] != nullptr && blocks.beta[0][d] != nullptr)
            std::copy_n(blocks.b[0][d], points.n_points, blocks.beta[0][d]);
      }

      /// a n in the first dim rows of @p values, n . a n in the last one.
      void
      conormal(const PointBatch<dim> &points,
               const double *const   *normal,
               std::vector<double>   &values) const
      {
        const unsigned int  n      = points.n_points;
        const bool          tensor = diffusion == DiffusionType::tensor;
        const unsigned int  n_rows = tensor ? dim * dim : 1;
        std::vector<double> a(n_rows * std::size_t(n));
        double             *rows[dim * dim] = {};
        for (unsigned int r = 0; r < n_rows; ++r)
          rows[r] = a.data() + r * std::size_t(n);
        form.evaluate_diffusion(points, rows);
        for (unsigned int q = 0; q < n; ++q)
          {
            double sum = 0.;
            for (unsigned int d = 0; d < dim; ++d)
              {
                double value = 0.;
                if (tensor)
                  for (unsigned int e = 0; e < dim; ++e)
                    value += rows[d * dim + e][q] * normal[e][q];
                else
                  value = rows[0][q] * normal[d][q];
                values[d * n + q] = value;
                sum += value * normal[d][q];
              }
            values[dim * n + q] = sum;
          }
      }

    private:
      const Form<dim>    &form;
      const DiffusionType diffusion;
    };
  } // namespace internal
} // namespace Tessella

#endif
