// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_kernels_h
#define tessella_source_backends_host_kernels_h

#include <tessella/base/config.h>

// Interface of the host's SIMD kernels. Their translation units are compiled
// for one instruction set each and chosen at run time; to keep wide
// instructions out of code that other units share, this header and the
// kernels use plain types and no library.

namespace Tessella
{
  namespace internal
  {
    /**
     * The kernels vectorise over quadrature points: every array over points
     * is contiguous in the point, and lengths are multiples of `padding`.
     * Data of basis function i, row r, point q lie at
     * [i * function_stride + r * row_stride + q].
     */
    namespace HostKernels
    {
      /// All point ranges are padded to this, for every instruction set.
      constexpr unsigned int padding = 8;

      /// A reference rule whose arrays are padded with weight zero.
      struct Rule
      {
        unsigned int  n_points;
        unsigned int  n_padded;
        const double *points; ///< points[d * n_padded + q]
        const double *weights;
      };

      /// The polynomial space of one polytope.
      struct Space
      {
        unsigned int         degree;
        unsigned int         n_functions;
        const unsigned char *exponents;
        const double        *box;
        bool                 tensor_product; ///< not of total degree
      };

      /// Coefficients of a volume block at the points; null: absent.
      template <int dim>
      struct VolumeCoefficients
      {
        const double *a[dim * dim]; ///< isotropic: a[0] only
        const double *beta[dim];
        const double *b[dim];
        const double *c;
        bool          tensor;
      };

      template <int dim>
      struct Kernels
      {
        /**
         * Points and weights of an affine sub-cell, or an affine facet
         * (edges: n_edges vectors), written from position 0 on; n_padded
         * entries are written.
         */
        void (*affine_points)(const double  *origin,
                              const double  *edges,
                              unsigned int   n_edges,
                              double         determinant,
                              const Rule    &rule,
                              double *const *x,
                              double        *w);

        /// The same for the multilinear image of the unit hypercube.
        void (*multilinear_subcell)(const double  *vertices,
                                    const Rule    &rule,
                                    double *const *x,
                                    double        *w);

        /// The same for a facet that is the multilinear image of the unit
        /// hypercube of dim - 1 > 1 variables, with unit normals.
        void (*multilinear_facet)(const double  *vertices,
                                  const Rule    &rule,
                                  double *const *x,
                                  double *const *normal,
                                  double        *w);

        /// Row 0: values, rows 1..dim: gradients, of all functions.
        void (*evaluate_basis)(const Space         &space,
                               const double *const *x,
                               unsigned int         n,
                               double              *out,
                               unsigned int         function_stride,
                               unsigned int         row_stride);

        /// Trial rows of the volume block times weights, from basis rows, both
        /// with row stride n and function stride (dim + 1) n.
        void (*volume_rows)(const VolumeCoefficients<dim> &coefficients,
                            const double                  *w,
                            unsigned int                   n,
                            unsigned int                   n_functions,
                            const double                  *basis,
                            double                        *rows);

        /// out = w (direction . grad phi + c phi) for all functions; direction
        /// and c may be null.
        void (*directional)(const double *const *direction,
                            const double        *c,
                            const double        *w,
                            unsigned int         n,
                            unsigned int         n_functions,
                            const double        *basis,
                            unsigned int         function_stride,
                            unsigned int         row_stride,
                            double              *out,
                            unsigned int         out_stride);

        /// C_ij (+)= sum over rows r and points q of L_irq R_jrq; symmetric:
        /// only tiles that touch the upper triangle.
        void (*product)(unsigned int  n_left,
                        unsigned int  n_right,
                        unsigned int  n_rows,
                        unsigned int  n,
                        const double *left,
                        unsigned int  left_stride,
                        unsigned int  left_row_stride,
                        const double *right,
                        unsigned int  right_stride,
                        unsigned int  right_row_stride,
                        double       *C,
                        unsigned long ldc,
                        bool          accumulate,
                        bool          symmetric);

        /// F_i += sum_q L_iq g_q.
        void (*vector_product)(unsigned int  n_functions,
                               unsigned int  n,
                               const double *left,
                               unsigned int  left_stride,
                               const double *g,
                               double       *F);

        /// Whether tensors, dim * dim arrays over points (at least one), are
        /// symmetric.
        bool (*is_symmetric)(const double *const *a, unsigned int n_points);

        /// Largest of n . a n over the points, or zero, for each of some
        /// vectors n, of which tensors are read for four at a time; symmetric:
        /// the entries below the diagonal are not read.
        void (*largest_quadratic_forms)(const double *const *a,
                                        bool                 symmetric,
                                        unsigned int         n_points,
                                        const double        *vectors,
                                        unsigned int         n_vectors,
                                        double              *largest);

        /// Copies n numbers past the caches, to where nobody reads them soon: a
        /// line of memory is written without being read first. finish_streams()
        /// makes them visible to other threads.
        void (*stream)(const double *from, unsigned int n, double *to);
        void (*finish_streams)();
      };

      template <int dim>
      const Kernels<dim> &
      plain();

#ifdef TESSELLA_HAVE_AVX2
      template <int dim>
      const Kernels<dim> &
      avx2();
#endif

#ifdef TESSELLA_HAVE_AVX512
      template <int dim>
      const Kernels<dim> &
      avx512();
#endif
    } // namespace HostKernels
  }   // namespace internal
} // namespace Tessella

#endif
