// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_local_solver_h
#define tessella_source_hdg_local_solver_h

#include <tessella/values/polytope_quadrature.h>

#include <cstdint>
#include <vector>

#include "local_basis.h"
#include "local_problem.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Solver of the local problems of a hybridizable method, polytope by
     * polytope. Each thread has its own object, with its own buffers.
     *
     * phi are the basis functions of the polytope, n is its outer normal, psi
     * are the trace functions of all its interfaces (numbered interface by
     * interface in the polytope's order), and S = tau + max(b.n, 0). Then
     *
     *   A = (a^-1 phi_j, phi_i) per component,  H_d = (d_d phi_i, phi_j),
     *   F_d = <n_d phi_i, psi_m>,  R = <S phi_i, psi_m>,
     *   T = <(S - b.n) phi_i, psi_m>,  G = <(S - b.n) psi_l, psi_m>
     *   (at the boundary <(S + alpha) psi_l, psi_m>),
     *   E = (c phi_j, phi_i) + advection + <(S or S - b.n) phi_j, phi_i>,
     *
     *   A q + H u         = F lambda,
     *   - H^T q + E u     = T lambda + f,
     *   F^T q - R^T u + G lambda = g    (summed over the two sides).
     *
     * With the Schur complement 1/Z = E + H^T A^-1 H, with Y_T = T + H^T A^-1 F
     * and with Y_R alike, it follows that
     *   u = Z (Y_T lambda + f),  q = A^-1 (F lambda - H u),
     *   K = G + F^T A^-1 F - Y_R^T Z Y_T,   right-hand side g + Y_R^T Z f.
     * These are the matrices Z, U, Q, K of King et al., J. Sci. Comput. 60
     * (2014), (8) to (18), for q = grad u there and q = a grad u here.
     *
     * With LocalSpaces::reduced_flux, q has the first n_flux functions only: A
     * is the identity and H and F are zero for the others. For each patch, B =
     * <phi_i, psi_m> and D = <tau / h psi_l, psi_m>. Then D replaces tau in G,
     * D B in R and T, and B^T D B in E.
     *
     * phi are the functions of LocalBasis, for which A is well conditioned. A
     * is factorised by Cholesky and its factor inverted, since products run at
     * the speed of the vector units. So is 1/Z without advection; with
     * advection 1/Z is inverted by elimination with pivoting. Everything else
     * is a matrix product. All matrices are stored with the trace (or function)
     * as row, such that products contract contiguous indices. Rows are padded
     * with zeros to whole vectors. f is one more column of T. Without advection
     * K is symmetric to the last bit.
     */
    template <int dim>
    class LocalSolver
    {
    public:
      explicit LocalSolver(const LocalProblem<dim> &problem);

      /// Integrates over polytope @p k and its interfaces.
      void
      assemble(const unsigned int k);

      /// Eliminates q and u and fills K. If @p recovery, solution_row() and
      /// flux_row() then hold U, Q and the particular solution.
      void
      eliminate(const bool recovery);

      /// Solves the local problem for given traces instead. The result is row 0
      /// of solution_row() and flux_row().
      void
      solve(const double *lambda);

      // ---- after assemble()
      unsigned int polytope = 0, n_basis = 0, n_traces = 0;
      /// First trace function of each interface of the polytope; last, the
      /// number of trace functions.
      std::vector<unsigned int> column;
      /// L2 projection of Dirichlet values; only entries of Dirichlet
      /// interfaces are set.
      std::vector<double> dirichlet;
      /// Integrals of the trace functions and, on Neumann and Robin interfaces,
      /// of the trace functions times the data.
      std::vector<double> trace_integral, boundary_rhs;
      /// Integrals of |f|, and of |g| on Neumann and Robin interfaces.
      double integral_abs_f = 0., integral_abs_g = 0.;
      /// True if c or alpha is non-zero somewhere, or with advection.
      bool fixes_constant = false;

      // ---- after eliminate()
      /// K with row stride n_traces + 1; the last column is minus the
      /// right-hand side without boundary data (see boundary_rhs).
      std::vector<double> K;

      /// Coefficients of u for the trace function @p m, or for f alone
      /// (m = n_traces); n_basis entries.
      const double *
      solution_row(const unsigned int m) const
      {
        return &U[std::size_t(m) * n_padded];
      }

      /// Coefficients of component @p d of q, likewise.
      const double *
      flux_row(const unsigned int m, const unsigned int d) const
      {
        return &Q[std::size_t(m) * dim * n_padded + d * n_padded];
      }

      /// Floating-point operations since the object was constructed.
      std::uint64_t
      operations() const
      {
        return n_operations + local_basis.n_operations;
      }

    private:
      void
      assemble_volume();

      /// Fills x, w, subcells and materials with up to @p size points of the
      /// polytope, from point @p point of @p subcell on, and pads them. Both
      /// advance. Returns the number of points without padding.
      unsigned int
      fill_slice(const unsigned int size,
                 unsigned int      &subcell,
                 unsigned int      &point);

      /// Evaluates the coefficients and the inverse of a at the present slice
      /// of @p n_points points.
      void
      evaluate_coefficients(const unsigned int n_points,
                            VolumeBlocks<dim> &blocks);

      /// Adds the integrals over a slice of @p m points, padded, to A, H, E and
      /// the load.
      void
      add_volume_integrals(const unsigned int       m,
                           const VolumeBlocks<dim> &blocks);

      void
      assemble_interface(const unsigned int entry);

      /// The facet over which process_facet() integrates, seen from the present
      /// polytope.
      struct PresentFacet
      {
        unsigned int facet, patch, side, boundary_id;
        bool         boundary, dirichlet;
        /// Number of trace functions of the patch, and the first of them among
        /// those of the polytope.
        unsigned int n_psi, first;
        /// Number of quadrature points without and with padding.
        unsigned int n_points = 0, m = 0;
        /// The normal is the same at all points.
        bool planar = true;
        /// Stabilisation of u in the points, and of its projection to the
        /// traces.
        double tau = 0., projected_tau = 0.;
      };

      /// Adds all integrals over a facet, whose quadrature must be set up. The
      /// members of @p present from n_points on are set here.
      void
      process_facet(PresentFacet present);
      void
      fill_facet_points(PresentFacet &facet);
      /// Evaluates tau, b.n, S, S - b.n and the data on the boundary.
      void
      evaluate_facet_coefficients(PresentFacet &facet);
      void
      evaluate_facet_functions(const PresentFacet &facet);
      /// weighted_psi = psi times weights, and times a factor unless it is
      /// null.
      void
      weigh_traces(const PresentFacet &facet, const double *factor);
      /// C = <psi, phi> or C += <psi, phi>, with the factor of weigh_traces().
      void
      integrate_traces(const PresentFacet &facet,
                       const double       *factor,
                       double             *C,
                       const unsigned int  ldc,
                       const bool          accumulate);
      /// Adds to F, R and T.
      void
      add_trace_couplings(const PresentFacet &facet);
      /// Adds to B and D of the present patch.
      void
      add_projection(const PresentFacet &facet);
      /// Adds <(S or S - b.n) phi, phi> to E.
      void
      add_stabilisation(const PresentFacet &facet);
      /// Adds to G and to the integrals of trace functions and data.
      void
      add_trace_equation(const PresentFacet &facet);

      /// Adds the stabilisation that acts on the projection of u to the traces
      /// of a patch, which @p patch names. Its B and D must be complete.
      void
      add_projected_stabilisation(const PresentFacet &patch);

      /// Restricts q to functions of one degree less than u.
      void
      restrict_flux();

      /// Factorises A and 1/Z, and fills U, V' and W' for n_rows rows of F and
      /// T.
      void
      factorise(const unsigned int n_rows);
      /// Factorises A = L L^T and inverts L.
      void
      factorise_mass();
      /// Applies L^-1 (@p factor A_inverse) or L^-T (its transpose) to
      /// @p n_vectors rows.
      void
      apply_mass_factor(const unsigned int         n_vectors,
                        const std::vector<double> &factor,
                        const std::vector<double> &from,
                        std::vector<double>       &to);
      /// U = Z Y for n_rows rows, without and with advection. Return false if
      /// 1/Z is singular up to rounding.
      bool
      solve_symmetric(const unsigned int n_rows);
      bool
      solve_general(const unsigned int n_rows);

      /// The first n_rows rows of result = left right^T.
      void
      multiply(const unsigned int         n_rows,
               const std::vector<double> &left,
               const std::vector<double> &right,
               std::vector<double>       &result);

      /// Computes Q, and transforms U and Q from the local basis to the
      /// Legendre functions.
      void
      recover(const unsigned int n_rows);

      /// Rows of a matrix.
      struct Rows
      {
        unsigned int  n;
        const double *data;
        unsigned int  stride;
      };

      /// C = A B^T or C += A B^T, over rows of length n.
      void
      product(const Rows        &A,
              const Rows        &B,
              const unsigned int n,
              double            *C,
              const unsigned int ldc,
              const bool         accumulate,
              const bool         symmetric = false);

      std::uint64_t n_operations = 0;

      const LocalProblem<dim>  &problem;
      const PolytopicMesh<dim> &mesh;
      const PolytopicDoFs      &dofs;
      const VolumeStructure     structure;
      const bool                tensor; // a is a tensor
      const bool                advection;

      LocalBasis<dim>          local_basis;
      PolytopeQuadrature<dim>  volume_quadrature;
      InterfaceQuadrature<dim> facet_quadrature;

      unsigned int n_padded = 0, n_mass = 0, stride = 0;
      bool         stabilised = false;
      // points of a slice of the volume or of a facet
      unsigned int        capacity = 0;
      std::vector<double> point_memory;
      double             *x[dim], *trace_x[dim], *normal[dim], *w;
      double             *a[dim * dim], *inverse_a[dim * dim], *b[dim], *c;
      double             *f, *bn, *S, *S_minus_bn, *g, *alpha, *one;
      std::vector<unsigned int> subcells, materials;
      std::vector<double> basis, weighted, psi, weighted_psi, facet_product;
      std::vector<double> scratch;
      // B, D and D B of the present patch
      std::vector<double> patch_B, patch_D, patch_DB;

      // matrices
      std::vector<double> A, A_inverse, E, Z, transposed;
      std::vector<double> Ht, Vt, Ft, Wt, Rt, Tt, Yt, U, Q, Xt;
      std::vector<double> load;
      void
      reserve_points(const unsigned int n);
    };
  } // namespace internal
} // namespace Tessella

#endif
