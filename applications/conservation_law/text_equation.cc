// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "text_equation.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    TextEquation::check_names() const
    {
      for (std::size_t c = 0; c < components.size(); ++c)
        {
          const std::string &name = components[c];
          const bool         good =
            !name.empty() &&
            !std::isdigit(static_cast<unsigned char>(name[0])) &&
            std::all_of(name.begin(), name.end(), [](const char letter) {
              return std::isalnum(static_cast<unsigned char>(letter)) ||
                     letter == '_';
            });
          AssertThrow(good,
                      ExcMessage("The entry '" + name +
                                 "' of Equation/Components is not a name."));
          bool taken =
            constants.count(name) > 0 ||
            std::count(components.begin(), components.end(), name) > 1;
          for (const char *other :
               {"x", "y", "z", "t", "n", "f", "p", "r", "s", "c", "d", "dim"})
            taken = taken || name == other;
          AssertThrow(!taken,
                      ExcMessage("The name '" + name +
                                 "' of Equation/Components has another meaning "
                                 "already: please take another one."));
        }
    }



    std::string
    TextEquation::set_components(const std::string &field) const
    {
      std::string text;
      for (std::size_t c = 0; c < components.size(); ++c)
        text += components[c] + " = " + field + "[" + std::to_string(c) + "]; ";
      return text + "\n";
    }



    PointwiseTextTerms
    TextEquation::terms(const std::map<int, Condition> &conditions) const
    {
      PointwiseTextTerms result;
      const unsigned int n    = components.size();
      const std::string  last = std::to_string(n);
      result.name             = "Equation";
      result.field_components = {n};
      result.n_components     = n;
      result.parameters       = constants;
      const std::string all   = "for (int c = 0; c < " + last + "; ++c)\n";
      result.volume = set_components("u.value") + flux + "\n;\n" + all +
                      "for (int d = 0; d < dim; ++d)\n"
                      "r.gradient[c][d] = -f[c][d];\n";

      // The flux of Lax and Friedrichs for states of both sides.
      const std::string numerical_flux =
        "for (int s = 0; s < 2; ++s)\n{\n" + set_components("side_state[s]") +
        flux + "\n;\nside_speed[s] =\n" + speed + "\n;\n" + all +
        "for (int d = 0; d < dim; ++d)\nside_flux[s][c][d] = f[c][d];\n}\n" +
        all +
        "{\nnumerical_flux[c] = 0.5 * max(side_speed[0], side_speed[1]) *\n"
        "(side_state[0][c] - side_state[1][c]);\n"
        "for (int d = 0; d < dim; ++d)\n"
        "numerical_flux[c] += 0.5 * n[d] *\n"
        "(side_flux[0][c][d] + side_flux[1][c][d]);\n}\n";
      result.interior_facet = "for (int s = 0; s < 2; ++s)\n" + all +
                              "side_state[s][c] = u[s].value[c];\n" +
                              numerical_flux + all +
                              "{\nr0.value[c] = numerical_flux[c];\n"
                              "r1.value[c] = -numerical_flux[c];\n}\n";

      // The state inside is that outside, too, unless a condition gives one.
      std::string boundary = all +
                             "{\nside_state[0][c] = u.value[c];\n"
                             "side_state[1][c] = u.value[c];\n}\n";
      const auto set_state = [&](const Condition &condition) {
        std::string text = "{\n";
        if (condition.type == BoundaryKind::inflow && condition.state.empty())
          text += all + "side_state[1][c] = 0 / 0;\n";
        for (unsigned int c = 0; c < condition.state.size(); ++c)
          text += "side_state[1][" + std::to_string(c) + "] =\n" +
                  condition.state[c].text() + "\n;\n";
        return text + "}\n";
      };
      for (const auto &condition : conditions)
        if (condition.first >= 0)
          boundary +=
            "if (p.boundary_id == " + std::to_string(condition.first) + ")\n" +
            set_state(condition.second) + "else\n";
      boundary += set_state(conditions.at(-1));
      result.boundary_facet =
        boundary + numerical_flux + all + "r.value[c] = numerical_flux[c];\n";
      return result;
    }



    PointwiseTextTerms
    TextEquation::speed_terms() const
    {
      PointwiseTextTerms result;
      result.name             = "Equation/Largest speed";
      result.field_components = {static_cast<unsigned int>(components.size())};
      result.parameters       = constants;
      result.volume =
        set_components("u.value") + "r.value[0] =\n" + largest_speed + "\n;\n";
      return result;
    }



    template <int dim>
    TextIntegrand<dim>::TextIntegrand(
      const PointwiseTextTerms                       &terms,
      const std::shared_ptr<const BoundaryData<dim>> &boundary)
      : PointwiseTextIntegrand<dim>(terms)
      , boundary(boundary)
    {}



    template <int dim>
    void
    TextIntegrand<dim>::evaluate(const PointwiseRegion       region,
                                 const unsigned int          n,
                                 const OperatorPoint<dim>   *points,
                                 const double *const *const *in,
                                 double *const *const       *out) const
    {
      if (region == PointwiseRegion::boundary_facet)
        for (unsigned int q = 0; q < n; ++q)
          boundary->check(points[q].boundary_id);
      PointwiseTextIntegrand<dim>::evaluate(region, n, points, in, out);
    }



    template <int dim>
    double
    LargestSpeedOfText<dim>::operator()(const PolytopeStencil<dim> &stencil,
                                        double *) const
    {
      const unsigned int              n = stencil.n_points;
      std::vector<OperatorPoint<dim>> points(n);
      for (unsigned int q = 0; q < n; ++q)
        {
          for (int d = 0; d < dim; ++d)
            points[q].x[d] = stencil.x[d][q];
          points[q].t = equation->get_time();
        }
      std::vector<const double *> rows(stencil.n_components * (dim + 1),
                                       nullptr);
      for (unsigned int c = 0; c < stencil.n_components; ++c)
        rows[c * (dim + 1)] = stencil.values + std::size_t(c) * n;
      std::vector<double>        speeds(n, 0.);
      double                    *results[dim + 1] = {speeds.data()};
      const double *const *const in               = rows.data();
      double *const *const       out              = results;
      speed->evaluate(PointwiseRegion::volume, n, points.data(), &in, &out);
      double largest = 0.;
      for (const double s : speeds)
        {
          if (!std::isfinite(s) || s < 0.)
            return -1.;
          largest = std::max(largest, s);
        }
      return largest;
    }



    template class TextIntegrand<2>;
    template class TextIntegrand<3>;
    template struct LargestSpeedOfText<2>;
    template struct LargestSpeedOfText<3>;
  } // namespace Application
} // namespace Tessella
