// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_time_stepping_runge_kutta_tableau_h
#define tessella_time_stepping_runge_kutta_tableau_h

#include <string>
#include <vector>

namespace Tessella
{
  /**
   * Coefficients of a Runge-Kutta method for u' = f(t, u) with s stages,
   *   u_i = u^n + dt sum_{j <= i} a_ij f(t^n + c_j dt, u_j),
   *   u^{n+1} = u^n + dt sum_i b_i f(t^n + c_i dt, u_i).
   * In explicit methods a_ii = 0; in singly diagonally implicit ones (SDIRK)
   * all a_ii are the same positive number.
   */
  struct RungeKuttaTableau
  {
    std::string  name;
    unsigned int order = 0;
    /// Row i has the entries a_i0 .. a_ii.
    std::vector<std::vector<double>> a;
    std::vector<double>              b, c;
    /// Weights of the embedded method, whose result differs from u^{n+1} by an
    /// estimate of the error of a step; empty if there is none.
    std::vector<double> b_embedded;
    /// Order of the embedded method.
    unsigned int embedded_order = 0;

    unsigned int
    n_stages() const
    {
      return b.size();
    }
    /// Whether u^{n+1} is the last stage.
    bool
    is_stiffly_accurate() const
    {
      return !a.empty() && a.back() == b;
    }
  };

  /// Explicit Runge-Kutta methods.
  enum class ExplicitMethod
  {
    /// Order 1.
    forward_euler,
    /// Strong stability preserving methods of orders 2 and 3 with as many
    /// stages (C.-W. Shu, S. Osher, J. Comput. Phys. 77, 1988, 439-471).
    ssp_2,
    ssp_3,
    /// The classical method of order 4 (W. Kutta, 1901).
    classic_4,
    /// Pair of orders 3 and 2 (P. Bogacki, L. F. Shampine, Appl. Math. Lett. 2,
    /// 1989, 321-325).
    bogacki_shampine,
    /// Pair of orders 5 and 4 (J. R. Dormand, P. J. Prince, J. Comput. Appl.
    /// Math. 6, 1980, 19-26).
    dormand_prince
  };

  RungeKuttaTableau
  explicit_tableau(const ExplicitMethod method);

  /**
   * L-stable SDIRK method of order 1 to 4; another order is an error.
   * - 1: implicit Euler, without error estimate;
   * - 2, 3: methods of R. Alexander (SIAM J. Numer. Anal. 14, 1977, 1006-1021)
   *   with 2 and 3 stages, with embedded methods of orders 1 and 2;
   * - 4: five stages, embedded method of order 3 (E. Hairer, G. Wanner, Solving
   *   Ordinary Differential Equations II, section IV.6).
   */
  RungeKuttaTableau
  sdirk_tableau(const unsigned int order);



  /// Low-storage Runge-Kutta methods.
  enum class LowStorageMethod
  {
    /// Order 3 with 3 stages (J. H. Williamson, J. Comput. Phys. 35, 1980).
    williamson_3,
    /// Order 4 with 5 stages (M. H. Carpenter, C. A. Kennedy, NASA TM 109112,
    /// 1994).
    carpenter_kennedy_4,
    /// Methods of C. A. Kennedy, M. H. Carpenter and R. M. Lewis (Appl. Numer.
    /// Math. 35, 2000), with the coefficients of dealii::TimeStepping: order 3
    /// with 3 stages, 4 with 5, 5 with 9.
    kennedy_3,
    kennedy_4,
    kennedy_5
  };

  /**
   * Coefficients of a low-storage method, in one of two forms.
   * - Two registers, k and u: for each stage k = a_i k + dt f(t_i, u) and u +=
   *   b_i k (Williamson's 2N form).
   * - Three registers, k, r and u, with r = u at first: for each stage k =
   *   f(t_i, r), r = u + a_i dt k and u += b_i dt k.
   */
  struct LowStorageTableau
  {
    unsigned int        order       = 0;
    unsigned int        n_registers = 2;
    std::vector<double> a, b, c;
  };

  LowStorageTableau
  low_storage_tableau(const LowStorageMethod method);
} // namespace Tessella

#endif
