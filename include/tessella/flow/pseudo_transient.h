// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_pseudo_transient_h
#define tessella_flow_pseudo_transient_h

#include <deal.II/base/exceptions.h>

#include <tessella/backends/assembly_parameters.h>
#include <tessella/flow/artificial_viscosity.h>
#include <tessella/flow/quadratic_reconstruction.h>
#include <tessella/flow/steady_integrands.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/lusgs.h>

#include <functional>
#include <memory>
#include <string>

namespace Tessella
{
  namespace Flow
  {
    /// Exception: pseudo-transient continuation has not converged.
    DeclException1(ExcNotSteady, std::string, << arg1);

    /// Solver of the linear systems of PseudoTransient.
    enum class LinearMethod
    {
      gmres_lusgs, ///< GMRES, preconditioned by LU-SGS or SGS(k)
      gmres_ilu0,  ///< GMRES, preconditioned by block ILU(0)
      /// GMRES, preconditioned by a V-cycle of Multigrid with Galerkin
      /// operators, over the degrees down to 0 and then over joined polytopes
      gmres_multigrid,
      lusgs ///< one application of LU-SGS or SGS(k), without GMRES
    };

    /// Parameters of PseudoTransient.
    struct PseudoTransientData
    {
      /// CFL = min(largest_cfl, first_cfl (|R_0| / |R_n|)^exponent).
      double first_cfl = 10., largest_cfl = 1e12, exponent = 1.;
      /// The iteration ends when |R_n| is at most the larger one of this times
      /// |R_0| and absolute_tolerance.
      double       tolerance = 1e-10, absolute_tolerance = 0.;
      unsigned int max_steps = 500;
      /// Failures in a row after which the iteration gives up.
      unsigned int max_failures = 12;

      LinearMethod method = LinearMethod::gmres_lusgs;
      /// Ordering, and k of SGS(k). With colours, results do not depend on the
      /// number of processes. Of multigrid, k is the number of LU-SGS steps
      /// before and after the coarse correction.
      SweepData sweeps;
      /// Whether the blocks of the preconditioner are stored in float.
      /// Multigrid keeps a rounded copy of the matrix, half of its memory, and
      /// all levels in float; it is for degrees up to 3, since the matrix is
      /// not changed to other bases before it is rounded (see "Precision" of
      /// Multigrid).
      bool single_precision = false;
      /// GMRES ends when the residual of the linear system has fallen by
      /// linear_tolerance or, if tighten is set, by 0.9 (|R_n| / |R_{n-1}|)^2
      /// where that is less but not below 1e-6: choice 2 of S. C. Eisenstat and
      /// H. F. Walker, SIAM J. Sci. Comput. 17, 1996.
      double       linear_tolerance = 1e-2;
      bool         tighten          = true;
      unsigned int gmres_vectors = 60, max_iterations = 300;
      /// SolverFusedGMRES::AdditionalData::second_below. Linear systems are
      /// solved to few digits only, and the line search measures the true
      /// residual.
      double second_below = 0.1;
    };

    /// One step of PseudoTransient.
    struct PseudoTransientStep
    {
      unsigned int step = 0; ///< counted from 1
      double       cfl  = 0.;
      /// Norm of the residual after the step, and that over |R_0|.
      double residual = 0., reduction = 0.;
      /// Part of the step that was taken; 0: the step failed and was repeated
      /// with a smaller CFL number.
      double       length       = 0.;
      unsigned int n_iterations = 0;  ///< of GMRES
      double       seconds      = 0.; ///< since the beginning of the run
    };

    /// What PseudoTransient remembers between two steps, beside the solution.
    struct PseudoTransientState
    {
      unsigned int n_steps = 0;
      /// |R_0|, and |R_{n-1}|; zero before the first step.
      double first_residual = 0., last_residual = 0.;
      /// Factor of the CFL number after failures.
      double factor = 1.;
      /// Failures since the last success.
      unsigned int n_failures = 0;
    };

    /**
     * Pseudo-transient continuation to a steady state R(U) = 0: steps of the
     * backward Euler method with local steps,
     *   (M / dt_k + dR/dU) dU = R(U),   U <- U - lambda dU,
     * whose CFL number grows as the residual falls, so that the last steps are
     * those of Newton's method.
     *
     * <b>Local steps.</b> On polytope k of degree p, dt_k = CFL |k| / ((2p+1)
     * int_dk c / 2) with the wave speed c of the functor, for Euler |u . n| +
     * c, of the two sides the larger one.
     *
     * <b>Length of a step.</b> lambda = 1, 1/2, 1/4, ... until density and
     * pressure change by at most a part of their values at all quadrature
     * points (AdmissibleStep) of the matrix and, with a reconstruction, those
     * of the reconstructed states at all points of the residual, and the norm
     * of the residual of backward Euler,
     * M (U - U_n) / dt + R(U), falls by at least lambda / 10^4 of its value. If
     * there is none, or GMRES fails, the step is repeated with a quarter of the
     * CFL number, which recovers by a factor of two in each full step.
     *
     * <b>Norms</b> are those of the coefficients with respect to basis
     * functions that are orthonormal on bounding boxes; sums have the same bits
     * for every number of threads and processes. With sweeps by colours, so has
     * the whole iteration on the host.
     *
     * <b>Reconstruction.</b> With a QuadraticReconstruction, the residual is
     * that of the reconstructed state V, tested with the functions of U. The
     * matrix of U preconditions GMRES, which applies the exact derivative of
     * the residual without a matrix, through the least squares; the weights of
     * WENO are held fixed or not, ReconstructionData::exact_tangent.
     * LinearMethod::lusgs solves with the matrix of U.
     *
     * <b>Artificial viscosity.</b> With an ArtificialViscosity, integrands are
     * those of make_steady_integrands() for WithArtificialViscosity; the field
     * eps is that of the state in every residual, and the tangent as described
     * there.
     *
     * <b>Where it runs.</b> VectorType and MatrixType are HostVector<double>
     * and HostBlockMatrix<double>, or DeviceVector<double> and
     * DeviceBlockMatrix<double> with integrands that nvcc has compiled; then
     * all vectors stay on the device. All functions are collective.
     *
     * <b>Cost</b> of a step: one Jacobian, two residuals, one AdmissibleStep
     * and the linear system; each further halving a residual or an
     * AdmissibleStep. Memory: matrix, preconditioner, gmres_vectors + 8
     * vectors.
     *
     * <b>Errors</b>: ExcNotSteady, which names step, CFL number and residual,
     * after max_steps or max_failures; the solution is then that of the last
     * step that succeeded. An initial state that is not admissible gives the
     * exception of PointwiseOperator, with the point; with a reconstruction,
     * one that is not admissible is an error, too. Others: multigrid in single
     * precision with degrees above 3, and a reconstruction without
     * SteadyIntegrands::admissible_reconstruction.
     */
    template <int dim, typename VectorType, typename MatrixType>
    class PseudoTransient
    {
    public:
      /// @p handler, @p integrands, @p reconstruction and @p viscosity must
      /// outlive the object; the last two may be null, and one of them must.
      PseudoTransient(const AgglomerationHandler<dim> &handler,
                      const AssemblyParameters        &parameters,
                      const SteadyIntegrands<dim>     &integrands,
                      const PseudoTransientData &data = PseudoTransientData(),
                      QuadraticReconstruction<dim> *reconstruction = nullptr,
                      ArtificialViscosity<dim>     *viscosity      = nullptr);
      ~PseudoTransient();

      /// Sets the size of a vector for the solution.
      void
      reinit(VectorType &u);

      /// Norm of the residual.
      double
      residual_norm(const VectorType &u);

      /// Whether the residual is small enough. Computes it at the first call.
      bool
      has_converged(const VectorType &u);

      /// One step, which may fail: then @p u is as before and length of the
      /// result is zero.
      PseudoTransientStep
      step(VectorType &u);

      /// Steps until the iteration has converged. @p report is called after
      /// each step and may return false to end the iteration.
      void
      solve(VectorType                                             &u,
            const std::function<bool(const PseudoTransientStep &)> &report);

      /// State, for checkpoints.
      const PseudoTransientState &
      state() const;
      /// Goes on from a state, with the solution that belongs to it.
      void
      set_state(const PseudoTransientState &state);

    private:
      struct Implementation;
      std::unique_ptr<Implementation> implementation;
    };
  } // namespace Flow
} // namespace Tessella

#endif
