// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_check_multigrid_h
#define tessella_tests_check_multigrid_h

// Checks of block preconditioners and multigrid that are the same for host and
// device matrices.

#include <deal.II/base/function.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/quadrature_lib.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/hp/fe_collection.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "../messages.h"

namespace MultigridTest
{
  using namespace dealii;
  using namespace Tessella;

  /// Pseudo-random values in (-0.5, 0.5).
  inline double
  some_number(const std::uint64_t i)
  {
    const double x = 12.9898 * (i + 1.);
    return x * 0.618033988749895 - std::floor(x * 0.618033988749895) - 0.5;
  }

  // ---- vectors on host and device
  template <typename Number>
  void
  set(Vector<Number> &to, const Vector<double> &from)
  {
    to = from;
  }
  template <typename Number>
  void
  set(DeviceVector<Number> &to, const Vector<double> &from)
  {
    to.copy_from(from);
  }
  template <typename Number>
  Vector<double>
  get(const Vector<Number> &from)
  {
    return Vector<double>(from.begin(), from.end());
  }
  template <typename Number>
  Vector<double>
  get(const DeviceVector<Number> &from)
  {
    Vector<double> to;
    from.copy_to(to);
    return to;
  }

  inline Vector<double>
  some_vector(const unsigned int n, const unsigned int seed)
  {
    Vector<double> vector(n);
    for (unsigned int i = 0; i < n; ++i)
      vector(i) = some_number(i + 1000003ull * seed);
    return vector;
  }

  /// Mesh, polytopes and matrices of a problem.
  template <int dim, typename MatrixType>
  struct Case
  {
    using VectorType = typename MatrixType::vector_type;

    Triangulation<dim>                               triangulation;
    std::unique_ptr<AgglomerationHandler<dim>>       handler;
    AdvectionDiffusionReaction<dim>                  form;
    typename PolytopicAssembler<dim>::AdditionalData data;
    MatrixType                                       matrix, without_penalty;
    VectorType                                       rhs;

    /// @p cells in each direction, in polytopes of @p size cells. The polytopes
    /// have the entries of @p degrees in turn.
    Case(const unsigned int               cells,
         const unsigned int               size,
         const std::vector<unsigned int> &degrees,
         const bool                       simplices,
         const Tensor<1, dim>            &advection = Tensor<1, dim>(),
         const double                     diffusion = 1.)
    {
      if (simplices)
        {
          Triangulation<dim> hypercubes;
          GridGenerator::subdivided_hyper_cube(hypercubes, cells);
          GridGenerator::convert_hypercube_to_simplex_mesh(hypercubes,
                                                           triangulation);
        }
      else
        GridGenerator::subdivided_hyper_cube(triangulation, cells);
      handler = std::make_unique<AgglomerationHandler<dim>>(triangulation);
      handler->agglomerate(
        Agglomeration::rtree_parts<dim>(triangulation.n_active_cells() / size));
      hp::FECollection<dim> elements;
      for (const unsigned int p : degrees)
        elements.push_back(FE_BoundingBoxLegendre<dim>(p));
      std::vector<unsigned int> indices(handler->n_polytopes());
      for (unsigned int k = 0; k < indices.size(); ++k)
        indices[k] = k % degrees.size();
      handler->distribute_dofs(elements, indices);
      form.set_diffusion(diffusion);
      form.set_source(1.);
      if (advection.norm() > 0.)
        form.set_advection(advection);
      data.backend = std::is_same<VectorType, Vector<double>>::value ||
                         std::is_same<VectorType, Vector<float>>::value
                       ? Backend::host
                       : Backend::automatic;
      PolytopicAssembler<dim> assembler(*handler, data);
      assembler.reinit(matrix);
      assembler.reinit(without_penalty);
      reinit(assembler, rhs);
      assembler.assemble(form, matrix, rhs);
      PenaltyParameters none = data.penalty;
      none.constant          = 0.;
      assembler.set_penalty(none);
      assembler.assemble_matrix(form, without_penalty);
    }

    template <typename Number>
    void
    reinit(PolytopicAssembler<dim> &, Vector<Number> &vector)
    {
      vector.reinit(handler->n_dofs());
    }
    template <typename Number>
    void
    reinit(PolytopicAssembler<dim> &assembler, DeviceVector<Number> &vector)
    {
      assembler.reinit(vector);
    }

    MultigridHierarchy
    hierarchy(const unsigned int n_coarsest = 8) const
    {
      return MultigridHierarchy(
        *handler, NestedAgglomeration::rtree(*handler, 0, n_coarsest));
    }

    template <typename Preconditioner>
    unsigned int
    cg_iterations(const Preconditioner &preconditioner,
                  const double          tolerance = 1e-8) const
    {
      SolverControl control(500, tolerance * rhs.l2_norm(), false, false);
      VectorType    x(rhs.size());
      SolverCG<VectorType>(control).solve(matrix, x, rhs, preconditioner);
      return control.last_step();
    }

    template <typename Preconditioner>
    unsigned int
    gmres_iterations(const Preconditioner &preconditioner) const
    {
      SolverControl control(300, 1e-8 * rhs.l2_norm(), false, false);
      VectorType    x(rhs.size());
      typename SolverGMRES<VectorType>::AdditionalData gmres;
      gmres.max_n_tmp_vectors     = 100;
      gmres.right_preconditioning = true;
      SolverGMRES<VectorType>(control, gmres)
        .solve(matrix, x, rhs, preconditioner);
      return control.last_step();
    }

    /// x.My - y.Nx| relative to the size of its terms; N is M or its transpose.
    template <typename Preconditioner>
    double
    asymmetry(const Preconditioner &M, const bool transpose) const
    {
      const unsigned int n = rhs.size();
      VectorType         x(n), y(n), Mx(n), My(n);
      set(x, some_vector(n, 1));
      set(y, some_vector(n, 2));
      M.vmult(My, y);
      if (transpose)
        M.Tvmult(Mx, x);
      else
        M.vmult(Mx, x);
      return std::abs((x * My) - (y * Mx)) / (x.l2_norm() * My.l2_norm());
    }

    /// Mean reduction factor of the residual norm over the last 5 of 10 cycles.
    double
    contraction(const Multigrid<MatrixType> &multigrid) const
    {
      const unsigned int n = rhs.size();
      VectorType         x(n), r(n);
      set(x, some_vector(n, 3));
      VectorType zero(n);
      double     first = 0., last = 0.;
      for (unsigned int i = 0; i <= 10; ++i)
        {
          last = matrix.residual(r, x, zero);
          if (i == 5)
            first = last;
          if (i < 10)
            multigrid.step(x, zero);
        }
      return std::pow(last / first, 0.2);
    }
  };

  /// Coefficients of the polynomial (a . x + 0.3)^p in the spaces of a level,
  /// by L2 projection on the boxes.
  template <int dim>
  Vector<double>
  coefficients(const MultigridHierarchy::Level &level, const unsigned int p)
  {
    Vector<double>             result(level.n_dofs());
    const QGauss<dim>          quadrature(p + 4);
    std::vector<unsigned char> exponents(
      dim * Legendre::n_functions(dim, Legendre::max_degree, false));
    Legendre::exponents(dim, Legendre::max_degree, false, exponents.data());
    for (unsigned int k = 0; k < level.n_polytopes(); ++k)
      {
        const double      *box = level.box.data() + 2 * dim * k;
        const unsigned int n   = level.dof_offset[k + 1] - level.dof_offset[k];
        double             volume = 1.;
        for (int d = 0; d < dim; ++d)
          volume *= box[dim + d] - box[d];
        for (unsigned int q = 0; q < quadrature.size(); ++q)
          {
            double values[dim][Legendre::max_degree + 1], sum = 0.3;
            for (int d = 0; d < dim; ++d)
              {
                const double s = quadrature.point(q)[d];
                Legendre::evaluate(level.degree[k], 2. * s - 1., values[d]);
                sum += (d + 1.) / 3. * (box[d] + s * (box[dim + d] - box[d]));
              }
            const double f =
              std::pow(sum, int(p)) * quadrature.weight(q) * std::sqrt(volume);
            for (unsigned int i = 0; i < n; ++i)
              {
                double phi = 1.;
                for (int d = 0; d < dim; ++d)
                  phi *= values[d][exponents[i * dim + d]];
                result(level.dof_offset[k] + i) += f * phi;
              }
          }
      }
    return result;
  }

  /// Largest error of injection over all levels, for polynomials that the
  /// coarser level represents exactly.
  template <int dim>
  double
  injection_error(const MultigridHierarchy &hierarchy)
  {
    double error = 0.;
    for (unsigned int l = 0; l + 1 < hierarchy.n_levels(); ++l)
      {
        const auto &fine = hierarchy.level(l), &coarse = hierarchy.level(l + 1);
        const unsigned int p =
          *std::min_element(coarse.degree.begin(), coarse.degree.end());
        const Vector<double> u = coefficients<dim>(fine, p),
                             U = coefficients<dim>(coarse, p);
        std::vector<std::uint64_t> offset;
        const std::vector<double>  T = hierarchy.injection(l, offset);
        for (unsigned int k = 0; k < fine.n_polytopes(); ++k)
          {
            const unsigned int K = fine.parent.empty() ? k : fine.parent[k];
            const unsigned int n = fine.dof_offset[k + 1] - fine.dof_offset[k],
                               N = coarse.dof_offset[K + 1] -
                                   coarse.dof_offset[K];
            for (unsigned int j = 0; j < n; ++j)
              {
                double sum = 0.;
                if (T.empty())
                  sum = j < N ? U(coarse.dof_offset[K] + j) : 0.;
                else
                  for (unsigned int i = 0; i < N; ++i)
                    sum +=
                      T[offset[k] + i * n + j] * U(coarse.dof_offset[K] + i);
                error =
                  std::max(error, std::abs(sum - u(fine.dof_offset[k] + j)));
              }
          }
      }
    return error;
  }
} // namespace MultigridTest

#endif
