// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares u, q and traces to a dense solve of the system without elimination:
// (u, q, lambda) at once, with the equations as in the definition of the method
// (fluxes on the boundary, no second integration by parts) and with basis
// functions and trace spaces of its own. Only the quadrature points are those
// of the library.

#include <deal.II/lac/lapack_full_matrix.h>

#include <tessella/hdg/hdg.h>
#include <tessella/values/polytope_quadrature.h>

#include <set>

#include "../assembly/compare.h"

/// Values and gradients of the orthonormal Legendre basis of a box, implemented
/// independently.
template <int dim>
struct Basis
{
  Basis(const Tessella::PolytopicMesh<dim> &mesh,
        const Tessella::PolytopicDoFs      &dofs,
        const unsigned int                  k,
        const bool                          tensor_product)
    : box(&mesh.box[2 * dim * k])
  {
    const int p = dofs.degree[k];
    for (int grade = 0; grade <= p; ++grade)
      for (int i = grade; i >= 0; --i)
        for (int j = grade; j >= 0; --j)
          for (int l = (dim == 3 ? grade : 0); l >= 0; --l)
            if ((tensor_product ? std::max({i, j, l}) : i + j + l) == grade)
              exponents.push_back({{i, j, l}});
  }

  static double
  legendre(const int n, const double x)
  {
    return n < 0 ? 0. : std::legendre(n, x);
  }

  static double
  derivative(const int n, const double x)
  {
    // P_n' = sum of (2 m + 1) P_m, m = n - 1, n - 3, ...
    double sum = 0.;
    for (int m = n - 1; m >= 0; m -= 2)
      sum += (2 * m + 1) * legendre(m, x);
    return sum;
  }

  double
  value(const unsigned int i, const Point<dim> &x, const int d = -1) const
  {
    double product = 1.;
    for (int e = 0; e < dim; ++e)
      {
        const double h  = box[dim + e] - box[e],
                     xi = std::min(
                       1.,
                       std::max(-1., (2. * x[e] - box[e] - box[dim + e]) / h));
        const int n = exponents[i][e];
        product *= std::sqrt((2. * n + 1.) / h) *
                   (e == d ? 2. / h * derivative(n, xi) : legendre(n, xi));
      }
    return product;
  }

  Tensor<1, dim>
  gradient(const unsigned int i, const Point<dim> &x) const
  {
    Tensor<1, dim> g;
    for (int d = 0; d < dim; ++d)
      g[d] = value(i, x, d);
    return g;
  }

  const double                   *box;
  std::vector<std::array<int, 3>> exponents;
};

/// Monomials on each patch of an interface, orthonormalised successively at
/// quadrature points.
template <int dim>
struct ReferenceTraces
{
  std::vector<std::vector<double>> values; ///< [function][point]

  ReferenceTraces(const Tessella::InterfaceQuadrature<dim> &quadrature,
                  const int                                 p,
                  const bool                                tensor_product,
                  const bool                                per_facet)
  {
    const unsigned int     n = quadrature.size();
    std::set<unsigned int> patches;
    for (unsigned int q = 0; q < n; ++q)
      patches.insert(per_facet ? quadrature.facet[q] : 0);
    for (const unsigned int patch : patches)
      {
        Tensor<1, dim> centre;
        double         size = 0., measure = 0.;
        for (unsigned int q = 0; q < n; ++q)
          if (!per_facet || quadrature.facet[q] == patch)
            {
              measure += quadrature.JxW[q];
              for (unsigned int d = 0; d < dim; ++d)
                centre[d] += quadrature.JxW[q] * quadrature.x[d][q];
            }
        centre /= measure;
        for (unsigned int q = 0; q < n; ++q)
          if (!per_facet || quadrature.facet[q] == patch)
            for (unsigned int d = 0; d < dim; ++d)
              size = std::max(size, std::abs(quadrature.x[d][q] - centre[d]));
        for (int total = 0; total <= dim * p; ++total)
          for (int i = 0; i <= p; ++i)
            for (int j = 0; j <= p; ++j)
              for (int l = 0; l <= (dim == 3 ? p : 0); ++l)
                if (i + j + l == total && (tensor_product || total <= p))
                  {
                    std::vector<double> v(n, 0.);
                    for (unsigned int q = 0; q < n; ++q)
                      if (!per_facet || quadrature.facet[q] == patch)
                        {
                          v[q]           = 1.;
                          const int e[3] = {i, j, l};
                          for (unsigned int d = 0; d < dim; ++d)
                            v[q] *=
                              std::pow((quadrature.x[d][q] - centre[d]) / size,
                                       e[d]);
                        }
                    const double before = norm(v, quadrature);
                    for (unsigned int pass = 0; pass < 2; ++pass)
                      for (const auto &w : values)
                        {
                          double s = 0.;
                          for (unsigned int q = 0; q < n; ++q)
                            s += quadrature.JxW[q] * v[q] * w[q];
                          for (unsigned int q = 0; q < n; ++q)
                            v[q] -= s * w[q];
                        }
                    const double after = norm(v, quadrature);
                    if (after > 1e-7 * before)
                      {
                        for (double &value : v)
                          value /= after;
                        values.push_back(v);
                      }
                  }
      }
  }

  static double
  norm(const std::vector<double>                &v,
       const Tessella::InterfaceQuadrature<dim> &quadrature)
  {
    double s = 0.;
    for (unsigned int q = 0; q < v.size(); ++q)
      s += quadrature.JxW[q] * v[q] * v[q];
    return std::sqrt(s);
  }
};

template <int dim>
Point<dim>
point(const std::array<std::vector<double>, dim> &x, const unsigned int q)
{
  Point<dim> p;
  for (unsigned int d = 0; d < dim; ++d)
    p[d] = x[d][q];
  return p;
}

struct Options
{
  Tessella::TraceSpaceType trace        = Tessella::TraceSpaceType::interface;
  bool                     conservative = true;
  bool                     keep         = true;
  std::function<double(const unsigned int, const unsigned int)> tau;
};

struct Differences
{
  double u, q, trace;
};

template <int dim>
Differences
difference(const Tessella::AgglomerationHandler<dim> &handler,
           const Reference::Problem<dim>             &problem,
           const Give                                 give,
           const Options                             &options)
{
  using namespace Tessella;
  constexpr unsigned int coefficient_order = 4;
  const auto             form = make_form(problem, give, coefficient_order);
  const auto            &mesh = handler.polytopic_mesh();
  const auto            &dofs = handler.polytopic_dofs();
  const bool             tensor_product =
    handler.polynomial_space() == PolynomialSpaceType::tensor_product;

  // ---- the library
  typename HDG<dim>::AdditionalData data;
  data.trace_space  = options.trace;
  data.tau          = 1.3;
  data.tau_of_facet = options.tau;
  data.advection    = options.conservative ? AdvectionForm::conservative
                                           : AdvectionForm::convective;
  data.local_solvers =
    options.keep ? LocalSolvers::keep : LocalSolvers::recompute;
  HDG<dim>                       hdg(handler, data);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs, trace;
  hdg.reinit(form, matrix, rhs);
  hdg.assemble(form, matrix, rhs);
  trace.reinit(rhs);
  const unsigned int n_trace = rhs.size();
  if (n_trace > 0)
    {
      LAPACKFullMatrix<double> K(n_trace);
      Vector<double>           x(n_trace);
      for (unsigned int i = 0; i < n_trace; ++i)
        {
          x(i) = rhs(i);
          for (auto entry = matrix.begin(i); entry != matrix.end(i); ++entry)
            K(i, entry->column()) = entry->value();
        }
      K.compute_lu_factorization();
      K.solve(x);
      for (unsigned int i = 0; i < n_trace; ++i)
        trace(i) = x(i);
      trace.compress(VectorOperation::insert);
    }
  Vector<double> u, flux;
  hdg.recover(form, trace, u, flux);

  // ---- the system without elimination
  const unsigned int        n = dofs.dof_offset.back();
  std::vector<unsigned int> first(mesh.n_interfaces() + 1, 0);
  const auto                order = [&](const unsigned int p) {
    return 2 * p * (tensor_product ? dim : 1) + coefficient_order;
  };
  std::vector<InterfaceQuadrature<dim>> points(mesh.n_interfaces());
  std::vector<std::unique_ptr<ReferenceTraces<dim>>> traces(
    mesh.n_interfaces());
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    {
      unsigned int p = 0;
      for (unsigned int side = 0; side < 2; ++side)
        if (mesh.interface_polytope[2 * i + side] != invalid_index)
          p = std::max(p, dofs.degree[mesh.interface_polytope[2 * i + side]]);
      points[i].reinit(handler, i, 0, order(p));
      traces[i] = std::make_unique<ReferenceTraces<dim>>(
        points[i], p, tensor_product, options.trace == TraceSpaceType::facet);
      first[i + 1] = first[i] + traces[i]->values.size();
    }
  const unsigned int       N = (dim + 1) * n + first.back();
  LAPACKFullMatrix<double> A(N);
  Vector<double>           b(N);
  const auto               index = [&](const unsigned int k,
                         const unsigned int i,
                         const int          component /* -1: u */) {
    return component < 0
                           ? dofs.dof_offset[k] + i
                           : n + dim * dofs.dof_offset[k] + component * dofs.n_basis[k] + i;
  };
  // A coefficient that is constant in the form is constant here, too.
  const bool constant =
    give == Give::constants || give == Give::scalar_constant;
  const auto coefficient_point = [&](const Point<dim> &x) {
    return constant ? Point<dim>() : x;
  };
  std::vector<Basis<dim>> basis;
  for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
    {
      basis.emplace_back(mesh, dofs, k, tensor_product);
      const Basis<dim>       &phi = basis.back();
      PolytopeQuadrature<dim> quadrature;
      quadrature.reinit(handler, k, order(dofs.degree[k]));
      for (unsigned int q = 0; q < quadrature.size(); ++q)
        {
          const Point<dim> x     = point<dim>(quadrature.x, q),
                           y     = coefficient_point(x);
          const double         w = quadrature.JxW[q];
          const Tensor<2, dim> inverse =
            give == Give::functions || give == Give::scalar_constant
              ? Tensor<2, dim>(unit_symmetric_tensor<dim>()) /
                  problem.a(y)[0][0]
              : invert(problem.a(y));
          const Tensor<1, dim> beta =
            problem.b ? problem.b(y) : Tensor<1, dim>();
          const double c = problem.c ? problem.c(y) : 0.;
          for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
            {
              const double         vi = phi.value(i, x);
              const Tensor<1, dim> gi = phi.gradient(i, x);
              if (problem.f)
                b(index(k, i, -1)) += w * problem.f(x) * vi;
              for (unsigned int j = 0; j < dofs.n_basis[k]; ++j)
                {
                  const double         vj = phi.value(j, x);
                  const Tensor<1, dim> gj = phi.gradient(j, x);
                  for (unsigned int d = 0; d < dim; ++d)
                    {
                      for (unsigned int e = 0; e < dim; ++e)
                        A(index(k, i, d), index(k, j, e)) +=
                          w * inverse[d][e] * vi * vj;
                      A(index(k, i, d), index(k, j, -1)) += w * gi[d] * vj;
                      A(index(k, i, -1), index(k, j, d)) += w * gi[d] * vj;
                    }
                  A(index(k, i, -1), index(k, j, -1)) +=
                    w *
                    (c * vi * vj + (options.conservative ? -(beta * gi) * vj
                                                         : (beta * gj) * vi));
                }
            }
        }
    }
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    {
      const unsigned int m_first = (dim + 1) * n + first[i];
      const auto        &psi     = traces[i]->values;
      const bool         at_boundary =
        mesh.interface_polytope[2 * i + 1] == invalid_index;
      Reference::BoundaryData<dim> condition = problem.default_boundary;
      if (at_boundary && problem.boundary.count(mesh.interface_boundary_id[i]))
        condition = problem.boundary.at(mesh.interface_boundary_id[i]);
      const bool dirichlet =
        at_boundary && condition.type == Reference::Boundary::dirichlet;
      for (unsigned int q = 0; q < points[i].size(); ++q)
        for (unsigned int side = 0; side < (at_boundary ? 1 : 2); ++side)
          {
            const unsigned int k   = mesh.interface_polytope[2 * i + side];
            const Basis<dim>  &phi = basis[k];
            const Point<dim>   x =
              point<dim>(side == 0 ? points[i].x : points[i].neighbor_x, q);
            const Tensor<1, dim> normal =
              (side == 0 ? 1. : -1.) * point<dim>(points[i].normal, q);
            const double w = points[i].JxW[q];
            const double tau =
              options.tau ? options.tau(points[i].facet[q], side) : 1.3;
            const double bn =
              problem.b ? problem.b(coefficient_point(x)) * normal : 0.;
            const double upwind = std::max(bn, 0.);
            for (unsigned int j = 0; j < dofs.n_basis[k]; ++j)
              {
                const double vj = phi.value(j, x);
                for (unsigned int l = 0; l < dofs.n_basis[k]; ++l)
                  {
                    const double vl = phi.value(l, x);
                    // - <q.n - tau u, v> + <max(b.n, 0) u, v>
                    for (unsigned int d = 0; d < dim; ++d)
                      A(index(k, j, -1), index(k, l, d)) -=
                        w * normal[d] * vj * vl;
                    A(index(k, j, -1), index(k, l, -1)) +=
                      w * (tau + upwind - (options.conservative ? 0. : bn)) *
                      vj * vl;
                  }
                for (unsigned int m = 0; m < psi.size(); ++m)
                  {
                    const double v = w * vj * psi[m][q];
                    A(index(k, j, -1), m_first + m) += v * (bn - upwind - tau);
                    for (unsigned int d = 0; d < dim; ++d)
                      {
                        A(index(k, j, d), m_first + m) -= v * normal[d];
                        if (!dirichlet)
                          A(m_first + m, index(k, j, d)) += v * normal[d];
                      }
                    if (!dirichlet)
                      A(m_first + m, index(k, j, -1)) -= v * (tau + upwind);
                  }
              }
            for (unsigned int m = 0; m < psi.size(); ++m)
              {
                if (at_boundary && condition.g)
                  b(m_first + m) += w * condition.g(x) * psi[m][q];
                for (unsigned int l = 0; l < psi.size(); ++l)
                  {
                    const double v = w * psi[m][q] * psi[l][q];
                    A(m_first + m, m_first + l) +=
                      dirichlet ? v
                      : at_boundary
                        ? v * (tau + upwind +
                               (condition.type == Reference::Boundary::robin
                                  ? condition.alpha(x)
                                  : 0.))
                        : v * (tau + upwind - bn);
                  }
              }
          }
    }
  A.compute_lu_factorization();
  A.solve(b);

  Differences result  = {0., 0., 0.};
  double      scale_u = 0., scale_q = 0., scale_trace = 0.;
  for (unsigned int i = 0; i < n; ++i)
    {
      result.u = std::max(result.u, std::abs(u(i) - b(i)));
      scale_u  = std::max(scale_u, std::abs(b(i)));
    }
  for (unsigned int i = 0; i < dim * n; ++i)
    {
      result.q = std::max(result.q, std::abs(flux(i) - b(n + i)));
      scale_q  = std::max(scale_q, std::abs(b(n + i)));
    }
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    {
      const auto &space = hdg.trace_space();
      // The number of functions must agree, too.
      if (space.n_functions[i] != traces[i]->values.size())
        return {1e10, 1e10, 1e10};
      const std::vector<double> lambda = hdg.trace_coefficients(trace, i);
      std::vector<double>       values, scratch;
      for (unsigned int p = space.patch_offset[i];
           p < space.patch_offset[i + 1];
           ++p)
        {
          const unsigned int m = points[i].size();
          values.resize(space.n_patch_functions[p] * m);
          const double *x[dim];
          for (unsigned int d = 0; d < dim; ++d)
            x[d] = points[i].x[d].data();
          space.evaluate(p, x, m, values.data(), m, scratch);
          for (unsigned int q = 0; q < m; ++q)
            if (points[i].facet[q] >= space.facet_offset[p] &&
                points[i].facet[q] < space.facet_offset[p + 1])
              {
                double here = 0., expected = 0.;
                for (unsigned int j = 0; j < space.n_patch_functions[p]; ++j)
                  here +=
                    lambda[space.first_function[p] + j] * values[j * m + q];
                for (unsigned int j = 0; j < traces[i]->values.size(); ++j)
                  expected +=
                    b((dim + 1) * n + first[i] + j) * traces[i]->values[j][q];
                result.trace =
                  std::max(result.trace, std::abs(here - expected));
                scale_trace = std::max(scale_trace, std::abs(expected));
              }
        }
    }
  // A single periodic polytope has q = 0 for constants.
  scale_q = std::max(scale_q, scale_u);
  result.u /= scale_u;
  result.q /= scale_q;
  result.trace /= scale_trace;
  return result;
}

template <int dim>
void
compare_and_log(const std::string                         &name,
                const Tessella::AgglomerationHandler<dim> &handler,
                const Reference::Problem<dim>             &problem,
                const Give                                 give,
                const Options                             &options)
{
  const Differences d = difference(handler, problem, give, options);
  check_below(name + ", u", d.u, 1e-10);
  // The reference solves in the Legendre basis, which is ill conditioned for
  // tensor-product spaces on triangles.
  check_below(name + ", q", d.q, 1e-8);
  check_below(name + ", trace", d.trace, 1e-10);
}

template <int dim>
void
compare_all()
{
  // Neumann and Robin where the flow leaves the domain
  Reference::Problem<dim> full = full_problem<dim>();
  full.boundary[1].type        = Reference::Boundary::neumann;
  full.boundary[1].g           = [](const Point<dim> &x) { return 0.3 + x[1]; };
  full.boundary[3].type        = Reference::Boundary::robin;
  full.boundary[3].g           = [](const Point<dim> &x) { return 1. - x[0]; };
  full.boundary[3].alpha       = [](const Point<dim> &x) { return 0.5 + x[0]; };
  Reference::Problem<dim> diffusion = full;
  diffusion.b                       = nullptr;
  diffusion.c                       = nullptr;

  for (const std::string mesh :
       {"box", "simplices", "distorted", "hanging", "hanging periodic"})
    {
      if (dim == 3 && (mesh == "distorted" || mesh == "hanging periodic"))
        continue; // warped faces; large
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      if (mesh == "hanging periodic")
        diffusion.c = full.c; // otherwise nothing fixes the constant
      if (mesh == "simplices")
        for (const auto &cell : triangulation.active_cell_iterators())
          for (const unsigned int f : cell->face_indices())
            if (cell->face(f)->at_boundary())
              {
                const Point<dim> x = cell->face(f)->center();
                cell->face(f)->set_boundary_id(x[0] > 1.5 - 1e-8  ? 1
                                               : x[1] > 1. - 1e-8 ? 3
                                                                  : 0);
              }
      for (const std::string agglomeration :
           {"none", "slabs", "steps", "scattered", "one"})
        {
          if (dim == 3 && agglomeration == "none" && mesh != "simplices")
            continue;
          Tessella::AgglomerationHandler<dim> handler(triangulation);
          handler.agglomerate(make_strategy<dim>(agglomeration));
          const std::string name = mesh + ", " + agglomeration;
          for (const auto type : {Tessella::TraceSpaceType::interface,
                                  Tessella::TraceSpaceType::facet})
            {
              const std::string kind =
                type == Tessella::TraceSpaceType::facet ? ", facets" : "";
              if (dim == 3 && type == Tessella::TraceSpaceType::facet &&
                  mesh == "hanging")
                continue;
              Options options;
              options.trace = type;
              for (unsigned int p = 0; p <= (dim == 2 ? 3 : 2); ++p)
                {
                  handler.distribute_dofs(
                    Tessella::FE_BoundingBoxLegendre<dim>(p));
                  const std::string degree = ", p = " + std::to_string(p);
                  options.keep             = p % 2 == 0;
                  options.conservative     = p != 1;
                  compare_and_log(name + kind + degree,
                                  handler,
                                  full,
                                  Give::tensor_functions,
                                  options);
                  if (p == 2)
                    {
                      // tau is zero on one side of some facets, and different
                      // on the others
                      Options other = options;
                      other.keep    = false;
                      other.tau     = [](const unsigned int facet,
                                     const unsigned int side) {
                        return side == 1 && facet % 5 == 0
                                     ? 0.
                                     : 1. + side + 0.1 * (facet % 7);
                      };
                      compare_and_log(name + kind + ", diffusion",
                                      handler,
                                      diffusion,
                                      Give::functions,
                                      other);
                      compare_and_log(name + kind + ", constant",
                                      handler,
                                      diffusion,
                                      Give::constants,
                                      options);
                    }
                }
            }
        }
      // tensor-product space, hp
      Tessella::AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(make_strategy<dim>("steps"));
      handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(
        2, Tessella::PolynomialSpaceType::tensor_product));
      compare_and_log(
        mesh + ", Q2", handler, full, Give::tensor_functions, Options());
      distribute_mixed_degrees(handler, 3);
      compare_and_log(mesh + ", hp", handler, full, Give::functions, Options());
    }
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  deallog << "2-D" << std::endl;
  compare_all<2>();
  deallog << "3-D" << std::endl;
  compare_all<3>();
}
