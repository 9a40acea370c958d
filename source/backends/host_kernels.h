// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_kernels_h
#define tessella_source_backends_host_kernels_h

#include <tessella/base/config.h>

// Interface of the SIMD kernels on the host. Each of their translation units is
// compiled for one instruction set, and one of them is selected at run time.
// This header and the kernels use plain types and no library, so that wide
// instructions cannot reach code that other units share.

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
      /// All ranges of points are padded to a multiple of this length, for
      /// every instruction set.
      constexpr unsigned int padding = 8;

      /// Reference rule whose arrays are padded with zero weights.
      struct Rule
      {
        unsigned int  n_points;
        unsigned int  n_padded;
        const double *points; ///< points[d * n_padded + q]
        const double *weights;
      };

      /// Polynomial space of a polytope.
      struct Space
      {
        unsigned int         degree;
        unsigned int         n_functions;
        const unsigned char *exponents;
        const double        *box;
        bool                 tensor_product; ///< else total degree
      };

      /// Coefficients at the points, null if absent: the blocks a, beta, b and
      /// c of VolumeBlocks.
      template <int dim>
      struct VolumeCoefficients
      {
        const double *a[dim * dim]; ///< only a[0] if isotropic
        const double *beta[dim];
        const double *b[dim];
        const double *c;
        bool          tensor;
      };

      /// Coefficients of a form at the points of a volume or a facet, null if
      /// absent: those of VolumeBlocks, or of FacetBlocks with the neighbour as
      /// index 1. If they do not vary, arrays have one vector of equal entries.
      template <int dim>
      struct ProductTerms
      {
        const double *a[dim * dim]; ///< only a[0] if isotropic
        const double *beta[2][dim];
        const double *b[2][dim];
        const double *c[2];
        bool          tensor;
        bool          varying;
      };

      /// Data of several functions, one of two factors of a product.
      struct Factor
      {
        unsigned int  n_functions;
        const double *data;
        unsigned int  function_stride, row_stride;
      };

      template <int dim>
      struct Kernels
      {
        /**
         * Points and weights of an affine sub-cell or an affine facet, which is
         * spanned by n_edges edge vectors. The kernel writes n_padded entries
         * from index 0 on.
         */
        void (*affine_points)(const double  *origin,
                              const double  *edges,
                              unsigned int   n_edges,
                              double         determinant,
                              const Rule    &rule,
                              double *const *x,
                              double        *w);

        /// As above, for the multilinear image of the unit hypercube.
        void (*multilinear_subcell)(const double  *vertices,
                                    const Rule    &rule,
                                    double *const *x,
                                    double        *w);

        /// As above, for a facet that is the multilinear image of the unit
        /// hypercube in dim - 1 > 1 variables, with unit normals.
        void (*multilinear_facet)(const double  *vertices,
                                  const Rule    &rule,
                                  double *const *x,
                                  double *const *normal,
                                  double        *w);

        /// Values (row 0) and, if row_stride > 0, gradients of all functions.
        void (*evaluate_basis)(const Space         &space,
                               const double *const *x,
                               unsigned int         n,
                               double              *out,
                               unsigned int         function_stride,
                               unsigned int         row_stride);

        /// Trial rows of the volume block times weights, computed from the
        /// basis rows. Both have row stride n and function stride (dim + 1) n.
        void (*volume_rows)(const VolumeCoefficients<dim> &coefficients,
                            const double                  *w,
                            unsigned int                   n,
                            unsigned int                   n_functions,
                            const double                  *basis,
                            double                        *rows);

        /// out = w (direction . grad phi + c phi) for all functions. The
        /// arguments direction and c may be null.
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

        /// C_ij (+)= sum over n_rows rows r and n points q of L_irq R_jrq. If
        /// symmetric, only tiles that intersect the upper triangle are
        /// computed.
        void (*product)(const Factor &left,
                        const Factor &right,
                        unsigned int  n_rows,
                        unsigned int  n,
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

        /// Whether tensors are symmetric at all points, of which there is at
        /// least one. The tensors are dim * dim arrays over points.
        bool (*is_symmetric)(const double *const *a, unsigned int n_points);

        /// Largest n . a n over the points, or zero if all are negative, for
        /// each of n_vectors vectors n. Tensors are read once for every four
        /// vectors. If symmetric, entries below the diagonal are not read.
        void (*largest_quadratic_forms)(const double *const *a,
                                        bool                 symmetric,
                                        unsigned int         n_points,
                                        const double        *vectors,
                                        unsigned int         n_vectors,
                                        double              *largest);

        /// Copies n values with streaming stores, which bypass the caches, for
        /// data that are not read soon: a cache line is written without being
        /// read first. finish_streams() makes the values visible to other
        /// threads.
        void (*stream)(const double *from, unsigned int n, double *to);
        void (*finish_streams)();

        /**
         * Functions with given coefficients, out_crq = sum_i c_ci phi_irq:
         * coefficients of component c begin at c * coefficient_stride. Every
         * point is computed by the same operations, wherever it is in the
         * range.
         */
        void (*interpolate)(const double *coefficients,
                            unsigned int  coefficient_stride,
                            unsigned int  n_components,
                            const Factor &basis,
                            unsigned int  n_rows,
                            unsigned int  n,
                            double       *out,
                            unsigned int  component_stride,
                            unsigned int  out_row_stride);

        /// data_rq *= w_q for n_rows rows.
        void (*scale)(const double *w,
                      unsigned int  n,
                      unsigned int  n_rows,
                      double       *data,
                      unsigned int  row_stride);

        /// Writes function j, row r and point q of a factor to
        /// to[(r n + q) stride + j], and zeros from the number of functions to
        /// the stride, which is a multiple of the padding.
        void (*transpose)(const Factor &factor,
                          unsigned int  n_rows,
                          unsigned int  n,
                          double       *to,
                          unsigned int  stride);

        /// The same as product() with accumulation, with a right factor that
        /// has been transposed and is used several times. There are no sums
        /// over the lanes of vectors, which dominate if there are few points.
        void (*transposed_product)(const Factor &left,
                                   const double *right,
                                   unsigned int  right_stride,
                                   unsigned int  n_columns,
                                   unsigned int  n_rows,
                                   unsigned int  n,
                                   double       *C,
                                   unsigned long ldc);

        /// Value (row 0) and gradient (rows 1..dim) of one discrete function.
        void (*evaluate_function)(const Space         &space,
                                  const double *const *x,
                                  unsigned int         n,
                                  const double        *coefficients,
                                  double              *out,
                                  unsigned int         row_stride);

        /**
         * Terms of a form at points, applied to the discrete function with the
         * given coefficients, and integrated with weights against all functions
         * of the same space. The argument neighbor has the rows of the
         * neighbour's function as evaluate_function() returns them, or is null.
         * The lanes of a vector are separate sums: entry i of the result is the
         * sum of entries [i * lanes, (i + 1) * lanes) of @p sums, which has
         * `padding` entries for each function.
         */
        void (*add_product)(const Space             &space,
                            const double *const     *x,
                            const double            *w,
                            unsigned int             n,
                            const ProductTerms<dim> &terms,
                            const double            *neighbor,
                            unsigned int             row_stride,
                            const double            *coefficients,
                            double                  *sums);

        /// Sums over lanes of the results of add_product().
        void (*sum_lanes)(const double *sums, unsigned int n, double *result);
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
