// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_form_h
#define tessella_forms_form_h

#include <tessella/forms/point_data.h>
#include <tessella/grid/mesh_types.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  template <int dim>
  class DeviceCoefficients;

  /**
   * Points at which a form is evaluated, as structure of arrays: coordinate d
   * of point q is x[d][q].
   */
  template <int dim>
  struct PointBatch
  {
    unsigned int  n_points = 0;
    const double *x[dim];
    /// Index of the sub-cell in which each point lies (into the arrays of
    /// PolytopicMesh), and deal.II's material id of its cell.
    const unsigned int *subcell  = nullptr;
    const unsigned int *material = nullptr;
  };

  /**
   * Output of a form at the points of a volume: the entries of the coefficient
   * block [[a, beta], [b, c]] that couples rows (gradient, value) of the test
   * function with those of the trial function,
   *   a(w, v) = int  grad v . a grad w  +  grad v . beta w
   *                +  v (b . grad w)  +  v c w,
   *   l(v) = int  f v.
   * Arrays of entries that the structure does not declare, or that are not
   * requested in this call, are null; all others must be written at every
   * point.
   */
  template <int dim>
  struct VolumeBlocks
  {
    double *a[dim * dim]; ///< row-major; only a[0] if isotropic
    double *beta[dim];
    double *b[dim];
    double *c;
    double *f;
  };

  /// Type of the diffusion-like entry `a` of a form.
  enum class DiffusionType
  {
    none,
    isotropic, ///< scalar times identity
    tensor     ///< full dim x dim block
  };

  /// Entries of the volume block that a form has; absent entries cost nothing.
  struct VolumeStructure
  {
    DiffusionType diffusion = DiffusionType::none;
    bool          beta      = false;
    bool          b         = false;
    bool          c         = false;
    bool          f         = false;
    /// Whether the form is symmetric (volume and facets); only one triangle of
    /// diagonal blocks is then computed.
    bool symmetric = false;
    /// Whether the coefficients a, beta, b, c are the same at all points of all
    /// polytopes.
    bool constant = false;
    /// Whether f is the same at all points of all polytopes.
    bool constant_f = false;
    /// Whether coefficients or f depend on PointBatch::subcell, and not only on
    /// the point, the polytope and the material. The quadrature is then never
    /// compressed (see QuadratureCompression).
    bool cellwise = false;
    /// Whether evaluate_diffusion() returns another diffusion, for the penalty
    /// alone, than evaluate_volume().
    bool penalty_diffusion = false;
  };

  /// Points on facets, seen from the polytope whose rows are computed ("own");
  /// the normal points out of it.
  template <int dim>
  struct FacetPointBatch : public PointBatch<dim>
  {
    const double *normal[dim];
    /// Sub-cells and materials of the neighbour; null at the boundary.
    const unsigned int *neighbor_subcell  = nullptr;
    const unsigned int *neighbor_material = nullptr;
    /// Coordinates in the neighbour's view, which differ from x at periodic
    /// boundaries only.
    const double *neighbor_x[dim];
    /// Penalty at each point, sigma of Dong, Georgoulis and Kappas (2021),
    /// appendix A; zero if the form has no diffusion.
    const double *sigma = nullptr;
    /// Boundary id of all points of the batch (boundary batches only).
    unsigned int boundary_id = 0;
  };

  /**
   * Output of a form at points of facets: for the own test function v, the
   * entries that couple it to the own trial function w_0 (index 0) and to the
   * neighbour's w_1 (index 1),
   *   sum_t int  v (b_t . grad w_t)  +  (beta_t . grad v) w_t  +  v c_t w_t,
   *   l(v) = int  r v  +  s . grad v   (boundary only).
   * Arrays are as in VolumeBlocks; b, beta and c of index 1 are null at the
   * boundary, r and s elsewhere. Facets have no gradient-gradient entries:
   * interior penalty, upwind and Robin terms need none, and without them every
   * point costs two rows instead of dim + 1.
   */
  template <int dim>
  struct FacetBlocks
  {
    double *b[2][dim];
    double *beta[2][dim];
    double *c[2];
    double *r;
    double *s[dim];
  };

  /// Entries of the facet blocks that a form has.
  struct FacetStructure
  {
    /// Whether there are facet terms at all; if not, neighbours are not
    /// coupled.
    bool facets  = true;
    bool b       = true;
    bool beta    = true;
    bool rhs     = true; ///< r and s on the boundary
    bool penalty = true; ///< needs sigma
    /// Whether, on interior facets without a periodic shift, b of the neighbour
    /// follows from b of the own side: b'_0 = -b_1, b'_1 = -b_0, to the last
    /// bit. evaluate_both_sides() may then be called for c_0 of the neighbour
    /// alone (for forms with penalty facets, see has_penalty_facets()).
    bool mirrored = false;
    /// For mirrored forms: whether b_1 = b_0 on these facets, so that only one
    /// of the two may be requested.
    bool continuous = false;
  };

  /**
   * Constant coefficients from which the terms of an interior penalty and
   * upwind form on interior facets follow: with the normal n out of the own
   * side,
   *   b_t = -a n / 2,  beta_0 = -theta a n / 2 = -beta_1,
   *   c_0 = sigma - min(b.n, 0) = -c_1.
   */
  template <int dim>
  struct ConstantFacetTerms
  {
    double a[dim * dim]; ///< row-major
    double b[dim];
    double theta;
    /// Boundary id on which the terms hold as well, with a n zero and without
    /// data: c_0 = -min(b.n, 0) is then the only term.
    unsigned int boundary_id = invalid_index;
  };

  /**
   * Integrands of a problem: a scalar bilinear and linear form as pointwise
   * coefficient blocks. The library supplies basis, geometry, quadrature and
   * summation. Several threads evaluate a form concurrently: evaluation must be
   * const and thread safe.
   */
  template <int dim>
  class Form
  {
  public:
    virtual ~Form() = default;

    /// Called by one thread at the beginning of every assembly, before any
    /// other function. A form updates data here that have changed outside.
    virtual void
    prepare() const
    {}

    /// Code that evaluates the form on a CUDA device. If it is null, the host's
    /// threads evaluate the form and the results are copied.
    virtual std::shared_ptr<const DeviceCoefficients<dim>>
    device_coefficients() const
    {
      return nullptr;
    }

    /// Reason for a null result of device_coefficients(), in cases where a user
    /// may expect another result; for reports.
    virtual std::string
    why_not_on_device() const
    {
      return "";
    }

    virtual VolumeStructure
    volume_structure() const = 0;

    virtual FacetStructure
    facet_structure() const = 0;

    /// Polynomial degree of the coefficients for which quadrature is to be
    /// exact, in products with two basis functions; 0 for constant
    /// coefficients.
    virtual unsigned int
    coefficient_order() const
    {
      return 0;
    }

    /// Diffusion entry alone: a[0] if isotropic, all dim*dim arrays if tensor.
    /// It is the same as in evaluate_volume() unless
    /// VolumeStructure::penalty_diffusion is set. The penalty computes a-bar
    /// from it; if memory allows, these values are kept for the volume.
    virtual void
    evaluate_diffusion(const PointBatch<dim> &points,
                       double *const         *a) const = 0;

    virtual void
    evaluate_volume(const PointBatch<dim> &points,
                    VolumeBlocks<dim>     &blocks) const = 0;

    virtual void
    evaluate_interior_facets(const FacetPointBatch<dim> &points,
                             FacetBlocks<dim>           &blocks) const = 0;

    /**
     * Writes the output of evaluate_interior_facets() for @p points to @p own,
     * and its output for the same points seen from the neighbour to
     * @p neighbor, to the last bit. A form whose two sides need the same
     * coefficients can override this function to evaluate them once; the
     * default calls evaluate_interior_facets() twice. Only for points with the
     * same coordinates on both sides.
     */
    virtual void
    evaluate_both_sides(const FacetPointBatch<dim> &points,
                        FacetBlocks<dim>           &own,
                        FacetBlocks<dim>           &neighbor) const
    {
      evaluate_interior_facets(points, own);
      std::vector<double>  normal(dim * points.n_points);
      FacetPointBatch<dim> other = points;
      for (unsigned int d = 0; d < dim; ++d)
        {
          double *const n = normal.data() + d * points.n_points;
          std::transform(points.normal[d],
                         points.normal[d] + points.n_points,
                         n,
                         [](const double value) { return -value; });
          other.normal[d] = n;
          std::swap(other.x[d], other.neighbor_x[d]);
        }
      std::swap(other.subcell, other.neighbor_subcell);
      std::swap(other.material, other.neighbor_material);
      evaluate_interior_facets(other, neighbor);
    }

    /**
     * Whether the facet terms of this form are those of an interior penalty and
     * upwind method: beta_0 = theta b_0 everywhere, and on interior facets
     * beta_1 = -beta_0, c_1 = -c_0. A device then needs fewer tables and half
     * of the evaluations. False is always correct.
     */
    virtual bool
    has_penalty_facets(double & /*theta*/) const
    {
      return false;
    }

    /// Whether interior facets have exactly the terms that the structure
    /// ConstantFacetTerms describes. If so, the structure is filled, and a
    /// device computes these terms itself, without tables.
    virtual bool
    constant_interior_facets(ConstantFacetTerms<dim> &) const
    {
      return false;
    }

    /// Evaluates the terms at points on one boundary id.
    virtual void
    evaluate_boundary_facets(const FacetPointBatch<dim> &points,
                             FacetBlocks<dim>           &blocks) const = 0;

    /**
     * Whether the terms on the boundary come from Dirichlet, Neumann and Robin
     * conditions, which hybridizable methods read with boundary_type() and
     * evaluate_boundary_data(). Forms with their own terms on facets return
     * false.
     */
    virtual bool
    has_boundary_conditions() const
    {
      return false;
    }

    virtual BoundaryType
    boundary_type(const unsigned int /*boundary_id*/) const
    {
      return BoundaryType::dirichlet;
    }

    /// Data of these conditions at points on one boundary id: u of Dirichlet
    /// conditions, g (fluxes included) of others, alpha of Robin conditions
    /// (zero elsewhere). sigma of the points is not used.
    virtual void
    evaluate_boundary_data(const FacetPointBatch<dim> &points,
                           double                     *g,
                           double                     *alpha) const
    {
      std::fill_n(g, points.n_points, 0.);
      std::fill_n(alpha, points.n_points, 0.);
    }
  };
} // namespace Tessella

#endif
