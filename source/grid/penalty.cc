// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>

#include <tessella/grid/penalty.h>
#include <tessella/grid/revision.h>
#include <tessella/portable/geometry.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "cell_shapes.h"
#include "local_facets.h"
#include "mapped_rules.h"

namespace Tessella
{
  namespace
  {
    using namespace internal;

    // Largest number of facets of a polytope that is searched without a tree.
    constexpr unsigned int max_facets_without_tree = 64;
    // Number of facets per task of polytopes with more facets.
    constexpr unsigned int facets_per_task = 256;
    // Heights relative to the highest point: the search stops at good_height,
    // and tries more directions below poor_height.
    constexpr double good_height = 0.75;
    constexpr double poor_height = 0.55;



    // Diameter and estimate of the inradius of a sub-cell. The estimate is
    // exact for affine sub-cells and uses mean edge vectors for other
    // hypercubes.
    template <int dim>
    bool
    subcell_size(const PolytopicMesh<dim> &mesh,
                 const unsigned int        subcell,
                 double                   &diameter,
                 double                   &inradius)
    {
      const unsigned int first = mesh.subcell_vertex_offset[subcell];
      const unsigned int n = mesh.subcell_vertex_offset[subcell + 1] - first;
      const double      *x = &mesh.subcell_vertices[first * dim];

      diameter = 0;
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < i; ++j)
          {
            double square = 0;
            for (int d = 0; d < dim; ++d)
              square += (x[i * dim + d] - x[j * dim + d]) *
                        (x[i * dim + d] - x[j * dim + d]);
            diameter = std::max(diameter, std::sqrt(square));
          }

      const bool is_simplex   = (n == dim + 1);
      const bool is_hypercube = (n == (1u << dim));
      if (!is_simplex && !is_hypercube)
        return false;

      double edge[3][3] = {};
      for (int e = 0; e < dim; ++e)
        for (int d = 0; d < dim; ++d)
          if (is_simplex)
            edge[e][d] = x[(e + 1) * dim + d] - x[d];
          else
            for (unsigned int i = 0; i < n; ++i)
              edge[e][d] += ((i >> e) & 1u ? 2. : -2.) / n * x[i * dim + d];

      // Volume of the parallelepiped spanned by these edges, and areas of its
      // sides; for the simplex areas of its facets, twice the areas in 3-D.
      double volume, sum = 0, largest = 0;
      if (dim == 2)
        {
          volume = std::abs(edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0]);
          const double a = std::hypot(edge[0][0], edge[0][1]);
          const double b = std::hypot(edge[1][0], edge[1][1]);
          sum            = a + b +
                std::hypot(edge[0][0] - edge[1][0], edge[0][1] - edge[1][1]);
          largest = std::max(a, b);
        }
      else
        {
          double area[3][3], total[3] = {};
          for (int e = 0; e < 3; ++e)
            {
              Geometry::cross_product(edge[e], edge[(e + 1) % 3], area[e]);
              const double norm = std::sqrt(dot<3>(area[e], area[e]));
              sum += norm;
              largest = std::max(largest, norm);
              for (int d = 0; d < 3; ++d)
                total[d] += area[e][d];
            }
          sum += std::sqrt(dot<3>(total, total));
          volume = std::abs(dot<3>(area[0], edge[2]));
        }
      if (!(largest > 0))
        return false;
      // Simplex: dim |K| / |boundary|. In 2-D volume is twice the area; in 3-D
      // it is six times the volume and the areas count twice. Both cases yield
      // volume / sum.
      inradius = is_simplex ? volume / sum : 0.5 * volume / largest;
      return true;
    }



    template <int dim>
    bool
    is_coverable(const PolytopicMesh<dim> &mesh,
                 const unsigned int        polytope,
                 const unsigned int        n_facets)
    {
      if (n_facets > 2 * dim)
        return false;
      double        extent   = std::numeric_limits<double>::max();
      double        diagonal = 0;
      const double *box      = &mesh.box[2 * dim * polytope];
      for (int d = 0; d < dim; ++d)
        {
          const double width = box[dim + d] - box[d];
          extent             = std::min(extent, width);
          diagonal += width * width;
        }
      // The diagonal of the box is an upper bound of the diameter, and half its
      // smallest extent an upper bound of the inradius. A single convex
      // sub-cell always covers itself.
      diagonal                 = std::sqrt(diagonal);
      const unsigned int begin = mesh.subcell_offset[polytope];
      const unsigned int end   = mesh.subcell_offset[polytope + 1];
      if (end - begin == 1 &&
          mesh.subcell_type[begin] != SubCellType::tabulated)
        return true;
      for (unsigned int s = begin; s < end; ++s)
        {
          double diameter, inradius;
          if (mesh.subcell_type[s] == SubCellType::tabulated ||
              !subcell_size(mesh, s, diameter, inradius) ||
              diameter < 0.5 * diagonal || inradius < 0.25 * extent)
            return false;
        }
      return true;
    }



    // Largest height found for a simplex or pyramid on a facet of a polytope.
    template <int dim>
    class HeightSearch
    {
    public:
      HeightSearch(const PolytopicMesh<dim> &mesh,
                   const unsigned int        polytope,
                   const LocalPolytope<dim> &local,
                   const unsigned int        base)
        : mesh(mesh)
        , local(local)
        , base(base)
        , facet(local.facets[base])
        , normal(facet.inner_normal)
        , box(&mesh.box[2 * dim * polytope])
      {
        for (int d = 0; d < dim; ++d)
          gauge.height[d] = normal[d];
        gauge.height_0 = -dot<dim>(normal, facet.centre);
      }

      double
      largest_height()
      {
        find_highest_point();
        inspect_subcell();
        if (!(highest > 0))
          return best;
        gauge.tolerance = gauge_tolerance * highest;
        if (best >= good_height * highest)
          return best;

        list_obstacles();
        double box_centre[dim];
        for (int d = 0; d < dim; ++d)
          box_centre[d] = 0.5 * (box[d] + box[dim + d]);
        const bool found = search(normal) || search_to(target) ||
                           search_to(box_centre) ||
                           (has_summit && search_to(summit()));
        if (!found && best < poor_height * highest)
          search_oblique_directions();
        return best;
      }

    private:
      // Highest point of the polytope above the base, or an upper bound of its
      // height.
      void
      find_highest_point()
      {
        highest = 0;
        if (!local.use_tree)
          for (unsigned int g = 0; g < local.facets.size(); ++g)
            {
              evaluate_heights(gauge, local.facets[g], heights[g]);
              top[g]  = largest_of_corners<dim>(heights[g]);
              highest = std::max(highest, top[g]);
            }
        has_summit = !local.use_tree && !local.curved && highest > 0;
        if (local.use_tree || local.curved)
          {
            highest = gauge.height_0;
            for (int d = 0; d < dim; ++d)
              highest += normal[d] * box[normal[d] > 0 ? dim + d : d];
          }
      }

      // The first of the highest corners, if has_summit.
      const double *
      summit() const
      {
        for (unsigned int g = 0; g < local.facets.size(); ++g)
          if (top[g] == highest)
            for (int j = 0; j < local.facets[g].n_corners; ++j)
              if (heights[g][j] == highest)
                return local.facets[g].corner[j];
        Assert(false, dealii::ExcInternalError());
        return facet.centre;
      }

      // Lists the facets, except for the base, that may be in the way. Those of
      // a search tree are found by the tree.
      void
      list_obstacles()
      {
        n_obstacles = 0;
        if (local.use_tree)
          return;
        for (unsigned int g = 0; g < local.facets.size(); ++g)
          if (g != base &&
              (local.facets[g].n_points > 0 || top[g] > gauge.tolerance))
            obstacles[n_obstacles++] = g;
      }

      // Finds the height in the adjacent sub-cell and a point of it to which
      // the search goes.
      void
      inspect_subcell()
      {
        // The vertex of the adjacent sub-cell that is farthest from the base is
        // an apex if the sub-cell is convex.
        const unsigned int s     = facet.subcell;
        const unsigned int first = mesh.subcell_vertex_offset[s];
        const unsigned int n     = mesh.subcell_vertex_offset[s + 1] - first;
        const double      *x     = &mesh.subcell_vertices[first * dim];
        const SubCellType  type  = mesh.subcell_type[s];
        double             own   = 0;
        const double      *apex  = x;
        for (unsigned int j = 0; j < n; ++j)
          {
            const double z = gauge.evaluate_height(x + j * dim);
            if (z > own)
              {
                own  = z;
                apex = x + j * dim;
              }
          }
        const bool convex = type == SubCellType::simplex ||
                            type == SubCellType::parallelepiped ||
                            (type == SubCellType::hypercube && dim == 2);
        // If the sub-cell may not be convex, the start value is half of its
        // height, which remains if every direction fails.
        best = convex ? own : 0.5 * own;
        if (type == SubCellType::simplex)
          {
            std::copy_n(apex, dim, target);
            return;
          }
        // A product with 1 / n is as exact as a quotient where n is a power of
        // two, which it is but for curved triangles.
        std::fill_n(target, dim, 0.);
        const double inverse = 1. / n;
        for (unsigned int j = 0; j < n; ++j)
          for (int d = 0; d < dim; ++d)
            target[d] += x[j * dim + d] * inverse;
      }

      // Improves the best height by that along a direction; true if it is good
      // enough to end the search.
      bool
      search(const double *direction)
      {
        double square = 0, inward = 0;
        for (int d = 0; d < dim; ++d)
          {
            square += direction[d] * direction[d];
            inward += direction[d] * normal[d];
          }
        if (inward < 0.1 * std::sqrt(square) ||
            !gauge.set_direction(facet, direction))
          return false;
        double inverse = 1. / highest;
        // A direction that cannot exceed the present best height is abandoned.
        const double limit =
          best > 0 ? 1. / best : std::numeric_limits<double>::infinity();
        if (local.use_tree)
          {
            // Beyond this bound the height is less than the best one in spite
            // of rounding, so that the tree need not be finished.
            const double bound =
              limit * (1. + 4. * std::numeric_limits<double>::epsilon());
            inverse =
              local.tree.tighten(gauge, local.facets, base, inverse, bound);
          }
        else
          for (unsigned int i = 0; i < n_obstacles; ++i)
            {
              const unsigned int g = obstacles[i];
              inverse =
                tighten(gauge, local.facets[g], heights[g], inverse, limit);
              if (inverse >= limit)
                {
                  // It probably is in the way of the next direction, too.
                  std::swap(obstacles[0], obstacles[i]);
                  return false;
                }
            }
        best = std::max(best, (local.curved ? 0.9 : 1.) / inverse);
        return best >= good_height * highest;
      }

      bool
      search_to(const double *point)
      {
        double direction[dim];
        for (int d = 0; d < dim; ++d)
          direction[d] = point[d] - facet.centre[d];
        return search(direction);
      }

      // Tries directions between the normal and the tangents of the base.
      void
      search_oblique_directions()
      {
        double tangent[2][3] = {}, length = 0;
        for (int d = 0; d < dim; ++d)
          {
            tangent[0][d] = facet.corner[1][d] - facet.corner[0][d];
            length += tangent[0][d] * tangent[0][d];
          }
        length = std::sqrt(length);
        if (!(length > 0))
          return;
        for (int d = 0; d < dim; ++d)
          tangent[0][d] /= length;
        if (dim == 3)
          {
            const double m[3] = {normal[0], normal[1], normal[dim - 1]};
            Geometry::cross_product(m, tangent[0], tangent[1]);
          }
        for (const double slope : {0.5, 1.2})
          for (int t = 0; t < dim - 1; ++t)
            for (const double sign : {-1., 1.})
              {
                double direction[dim];
                for (int d = 0; d < dim; ++d)
                  direction[d] = normal[d] + sign * slope * tangent[t][d];
                if (search(direction))
                  return;
              }
      }

      const PolytopicMesh<dim> &mesh;
      const LocalPolytope<dim> &local;
      const unsigned int        base;
      const LocalFacet<dim>    &facet;
      const double             *normal, *box;
      Gauge<dim>                gauge;
      double                    highest = 0, best = 0;
      bool                      has_summit = false;
      double                    target[dim];
      // Heights of the corners of all facets, and those that may be in the way;
      // without a search tree only.
      double heights[max_facets_without_tree][LocalFacet<dim>::max_corners];
      // The largest height of each facet's corners.
      double       top[max_facets_without_tree];
      unsigned int obstacles[max_facets_without_tree], n_obstacles;
    };



    // Writes the heights of facets [begin, end) of a polytope to the entries of
    // their sides.
    template <int dim>
    inline void
    search_heights(const PolytopicMesh<dim> &mesh,
                   const unsigned int        polytope,
                   const LocalPolytope<dim> &local,
                   const unsigned int        begin,
                   const unsigned int        end,
                   std::vector<double>      &height)
    {
      for (unsigned int i = begin; i < end; ++i)
        height[local.facets[i].side] =
          HeightSearch<dim>(mesh, polytope, local, i).largest_height();
    }

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    // The same with all functions inlined and compiled for registers of 32
    // bytes. Without fused operations, which this instruction set does not
    // contain, the results have the same bits.
#  define TESSELLA_WIDE_HEIGHTS
    template <int dim>
    __attribute__((flatten, noinline, target("avx2"))) void
    search_heights_avx2(const PolytopicMesh<dim> &mesh,
                        const unsigned int        polytope,
                        const LocalPolytope<dim> &local,
                        const unsigned int        begin,
                        const unsigned int        end,
                        std::vector<double>      &height)
    {
      search_heights(mesh, polytope, local, begin, end, height);
    }
#endif

    template <int dim>
    void
    find_heights(const PolytopicMesh<dim> &mesh,
                 const unsigned int        polytope,
                 const LocalPolytope<dim> &local,
                 const unsigned int        begin,
                 const unsigned int        end,
                 std::vector<double>      &height)
    {
#ifdef TESSELLA_WIDE_HEIGHTS
      if (__builtin_cpu_supports("avx2"))
        {
          search_heights_avx2(mesh, polytope, local, begin, end, height);
          return;
        }
#endif
      search_heights(mesh, polytope, local, begin, end, height);
    }
#undef TESSELLA_WIDE_HEIGHTS



    // Penalty factors of one polytope of degree p by PenaltyFormula::
    // bounding_box.
    template <int dim>
    void
    bounding_box_factors(const PolytopicMesh<dim> &mesh,
                         const unsigned int        polytope,
                         const double              p,
                         std::vector<double>      &penalty_factor)
    {
      const double *box = &mesh.box[2 * dim * polytope];
      for (unsigned int e = mesh.polytope_interface_offset[polytope];
           e < mesh.polytope_interface_offset[polytope + 1];
           ++e)
        {
          const unsigned int interface = mesh.polytope_interface[e] / 2;
          const unsigned int side      = mesh.polytope_interface[e] % 2;
          for (unsigned int f = mesh.facet_offset[interface];
               f < mesh.facet_offset[interface + 1];
               ++f)
            {
              double extent = 0;
              for (int d = 0; d < dim; ++d)
                extent += std::abs(mesh.facet_normal[f * dim + d]) *
                          (box[dim + d] - box[d]);
              penalty_factor[2 * f + side] = p * p / extent;
            }
        }
    }



    template <int dim>
    void
    compute_factors(const PolytopicMesh<dim> &mesh,
                    const Outline            &outline,
                    const PenaltyFormula      formula,
                    PolytopicDoFs            &dofs)
    {
      dofs.penalty_revision = new_revision();
      dofs.penalty_factor.assign(2 * static_cast<std::size_t>(mesh.n_facets()),
                                 0.);

      const auto work_on_polytope = [&](const unsigned int  k,
                                        LocalPolytope<dim> &local) {
        const double p = std::max(dofs.degree[k], 1u);

        if (formula == PenaltyFormula::bounding_box)
          {
            bounding_box_factors(mesh, k, p, dofs.penalty_factor);
            return;
          }

        collect_facets(mesh, outline, k, local);
        const unsigned int n_facets = local.facets.size();
        local.use_tree              = n_facets > max_facets_without_tree;
        local.coverable             = is_coverable(mesh, k, n_facets);
        if (local.use_tree)
          local.tree.build(local.facets);

        const double coverable_factor =
          local.coverable ? std::pow(p, 2 * (dim - 1)) / mesh.measure[k]
                          : std::numeric_limits<double>::infinity();
        const auto work_on_facets = [&](const unsigned int begin,
                                        const unsigned int end) {
          find_heights(mesh, k, local, begin, end, dofs.penalty_factor);
          for (unsigned int i = begin; i < end; ++i)
            {
              const unsigned int side   = local.facets[i].side;
              double            &factor = dofs.penalty_factor[side];
              factor =
                p * p *
                std::min(dim / factor,
                         coverable_factor * mesh.facet_measure[side / 2]);
            }
        };
        if (n_facets > 2 * facets_per_task)
          dealii::parallel::apply_to_subranges(0u,
                                               n_facets,
                                               work_on_facets,
                                               facets_per_task);
        else
          work_on_facets(0, n_facets);
      };

      const unsigned int grain_size = static_cast<unsigned int>(
        std::min<std::size_t>(64,
                              1 + std::size_t(2) * facets_per_task *
                                    mesh.n_polytopes() /
                                    (mesh.n_facets() + 1)));
      dealii::parallel::apply_to_subranges(
        0u,
        mesh.n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          LocalPolytope<dim> local;
          for (unsigned int k = begin; k < end; ++k)
            work_on_polytope(k, local);
        },
        grain_size);
    }



    // Curved facets in the points of the rule by which their normal and area
    // are found.
    template <int dim>
    Outline
    outline_facets(const AgglomerationHandler<dim>          &handler,
                   const std::vector<internal::CurvedFacet> &curved_facets)
    {
      const CellShapes<dim>      &shapes  = CellShapes<dim>::get();
      const dealii::Mapping<dim> &mapping = handler.get_mapping();
      const unsigned int          degree  = mapping_degree(mapping);
      const PolytopicMesh<dim>   &mesh    = handler.polytopic_mesh();
      const auto rule_of = [&](const CurvedFacet &facet, auto &cache) -> auto &
      {
        const CellShape<dim> &shape =
          shapes(handler.active_cell(facet.cell)->reference_cell());
        return cache(shape, facet.face, facet_shape_order(shape, degree));
      };

      Outline result;
      result.offset.assign(mesh.n_facets() + std::size_t(1), 0);
      MappedRuleCache<dim> sizes(mapping);
      for (const CurvedFacet &facet : curved_facets)
        result.offset[facet.facet + 1] =
          rule_of(facet, sizes).rule.points.size();
      std::partial_sum(result.offset.begin(),
                       result.offset.end(),
                       result.offset.begin());
      result.points.resize(result.offset.back() * dim);

      dealii::parallel::apply_to_subranges(
        std::size_t(0),
        curved_facets.size(),
        [&](const std::size_t begin, const std::size_t end) {
          MappedRuleCache<dim> cache(mapping);
          for (std::size_t i = begin; i < end; ++i)
            {
              const CurvedFacet &facet = curved_facets[i];
              MappedRule<dim>   &rule  = rule_of(facet, cache);
              rule.mapped.reinit(handler.active_cell(facet.cell));
              // Entry 0 of the shifts is zero.
              const double *shift =
                mesh.shift.data() +
                (facet.side == 1 ? std::size_t(dim) * facet.shift : 0);
              double *x =
                result.points.data() + result.offset[facet.facet] * dim;
              for (std::size_t q = 0; q < rule.rule.points.size(); ++q)
                for (int d = 0; d < dim; ++d)
                  *x++ = rule.mapped.point(q)[d] - shift[d];
            }
        },
        64);
      return result;
    }
  } // namespace



  template <int dim>
  void
  AgglomerationHandler<dim>::fill_penalty_factors(
    const PenaltyFormula formula) const
  {
    if (penalty_state == static_cast<int>(formula))
      return;
    PolytopicDoFs &space = mutable_polytopic_dofs();
    Outline        outline;
    if (!curved_facets.empty() && formula == PenaltyFormula::simplex)
      outline = outline_facets(*this, curved_facets);
    compute_factors(mesh, outline, formula, space);
    exchange_facet_values(space.penalty_factor);
    penalty_state = static_cast<int>(formula);
  }



  template <int dim>
  void
  compute_penalty_factors(const AgglomerationHandler<dim> &handler,
                          const PenaltyFormula             formula)
  {
    handler.fill_penalty_factors(formula);
  }



  template void
  AgglomerationHandler<2>::fill_penalty_factors(const PenaltyFormula) const;
  template void
  AgglomerationHandler<3>::fill_penalty_factors(const PenaltyFormula) const;
  template void
  compute_penalty_factors(const AgglomerationHandler<2> &,
                          const PenaltyFormula);
  template void
  compute_penalty_factors(const AgglomerationHandler<3> &,
                          const PenaltyFormula);
} // namespace Tessella
