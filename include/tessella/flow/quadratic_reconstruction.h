// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_quadratic_reconstruction_h
#define tessella_flow_quadratic_reconstruction_h

#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/device_vector.h>

#include <memory>

namespace Tessella
{
  namespace Flow
  {
    /// Parameters of QuadraticReconstruction.
    struct ReconstructionData
    {
      /// Whether the quadratic part is a mean of those of the polytope and of
      /// its neighbours with weights that depend on the solution.
      bool weno = false;
      /// Weight of the polytope's own part before that of each neighbour's,
      /// and the exponent of the indicators.
      double own_weight = 10., exponent = 2.;
      /// Whether reconstruct_change() has the derivative of the weights.
      bool exact_tangent = false;
    };

    /**
     * Reconstruction of a quadratic function on each polytope from a linear
     * one (the method P1P2 or reconstructed dG of H. Luo and others, J. Comput.
     * Phys. 229, 2010, 6961-6978, here on polytopes).
     *
     * Let phi_r be the quadratic functions of polytope k and psi_r = phi_r -
     * Pi_1 phi_r, where Pi_1 is the L2 projection onto linear functions on k.
     * The result on k is V_k = U_k + sum_r c_r psi_r, where the coefficients
     * solve, in the sense of least squares, Pi_1^j (U_k + sum_r c_r psi_r) =
     * U_j for all neighbours j behind interfaces of k, with the projection onto
     * linear functions on j of the continued function. Equations are weighted
     * so that they compare coefficients with respect to functions of size one
     * on the bounding box of j.
     *
     * <b>Properties.</b> Projected onto linear functions the result is U_k
     * again, so that mean values and first moments are kept. If U is the
     * projection of a quadratic function, V is this function. The result
     * depends on U alone, not on numbers of threads.
     *
     * <b>Where it runs.</b> Vectors are in host memory or on the device; with
     * the latter, everything runs there, with the same bits in every run, and
     * results agree with those of the host up to rounding. One object serves
     * both, each with weights of its own.
     *
     * <b>Polytopes that stay linear.</b> Where the equations do not determine
     * all c_r, for example at tetrahedra with one neighbour, V_k = U_k.
     *
     * <b>WENO.</b> With ReconstructionData::weno, c becomes the mean of c and
     * of the quadratic parts of the neighbours, continued to k, with weights
     * proportional to g_i / (eps + o_i)^exponent, g_i being own_weight for k
     * and 1 for neighbours, o_i the sum of the squares of the coefficients,
     * and eps a small number that depends on the size of U_k. The
     * coefficients of a part that crosses a shock are large, so that its weight
     * is small. Quadratic functions are still reproduced, since all parts are
     * then equal.
     *
     * <b>Tangent.</b> reconstruct_change() is exact through the least squares.
     * The weights w_i are held fixed, or with ReconstructionData::exact_tangent
     * have their derivative: with l_i = ln(g_i / (eps + o_i)^exponent), the sum
     * of w_i c_i changes by that of w_i (dc_i + (dl_i - sum_j w_j dl_j) c_i).
     *
     * <b>Cost.</b> The geometry is computed once: (dim + 1) dim (dim + 1) / 2
     * numbers for each interface and side, and the integrals of all cubic
     * monomials; the first call for vectors on the device copies the blocks
     * there. A reconstruction multiplies these blocks with the coefficients of
     * neighbours. Ghosts are exchanged once, with WENO twice. The exact tangent
     * of WENO keeps u and its quadratic parts and reads them as well. For
     * tetrahedra
     * and the five components of a flow, a device reads and writes about 2 kB
     * for each, with WENO 3.4 kB.
     *
     * <b>Errors</b>, as exceptions: a space that is not that of total degree 1
     * on all polytopes; vectors of other sizes than those of the spaces; for
     * vectors on the device, those of DeviceVector.
     */
    template <int dim>
    class QuadraticReconstruction
    {
    public:
      using VectorType = dealii::LinearAlgebra::distributed::Vector<double>;

      /// @p linear must outlive the object, and its space must not change.
      explicit QuadraticReconstruction(
        const AgglomerationHandler<dim> &linear,
        const ReconstructionData        &data = ReconstructionData());
      ~QuadraticReconstruction();

      /// Number of polytopes of all processes that stay linear.
      unsigned int
      n_linear_polytopes() const;

      /// Space of the results, on the same polytopes.
      const AgglomerationHandler<dim> &
      quadratic_handler() const;

      /// Sets @p v, a vector of the quadratic space, to the reconstruction of
      /// @p u. Collective.
      void
      reconstruct(const VectorType &u, VectorType &v);
      void
      reconstruct(const DeviceVector<double> &u, DeviceVector<double> &v);

      /// The derivative of reconstruct() at the last argument of that function,
      /// a vector in the same memory, in the direction @p du. Collective.
      void
      reconstruct_change(const VectorType &du, VectorType &dv) const;
      void
      reconstruct_change(const DeviceVector<double> &du,
                         DeviceVector<double>       &dv) const;

      /// Sets @p r to those entries of @p s, a functional of the quadratic
      /// space, that belong to the functions of the linear space.
      void
      restrict_to_linear(const VectorType &s, VectorType &r) const;
      void
      restrict_to_linear(const DeviceVector<double> &s,
                         DeviceVector<double>       &r) const;

    private:
      struct Implementation;
      struct DeviceData;
      /// Data of the device, after checks of a vector of the linear space and
      /// one of the quadratic space.
      DeviceData                                 &
      device_data(const DeviceVector<double> &u,
                                                  const DeviceVector<double> &v) const;
      std::unique_ptr<Implementation> implementation;
    };
  } // namespace Flow
} // namespace Tessella

#endif
