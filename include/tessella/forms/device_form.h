// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_device_form_h
#define tessella_forms_device_form_h

#include <tessella/forms/discrete_field.h>
#include <tessella/forms/form.h>
#include <tessella/forms/pointwise_coefficients.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#ifdef __CUDACC__
#  include <tessella/forms/device_coefficients.h>
#  include <tessella/forms/tabulation_kernels.h>

#  include <cuda_runtime.h>
#endif

namespace Tessella
{
  // Compiled by nvcc, the class has kernels; otherwise it has none. A program
  // may contain both, which must not share code.
#ifdef __CUDACC__
  inline namespace CompiledForDevice
#else
  inline namespace CompiledForHost
#endif
  {
#ifdef __CUDACC__
    /// The kernel of a functor for one of its tasks.
    template <internal::Device::CoefficientKernel kernel, int dim, typename F>
    __global__ void
    evaluate_functor(const internal::Device::TabulationTask<dim> task,
                     const F                                     f)
    {
      using internal::Device::CoefficientKernel;
      if constexpr (kernel == CoefficientKernel::volume)
        internal::Device::tabulate_volume<dim>(task, f);
      else if constexpr (kernel == CoefficientKernel::facets)
        internal::Device::tabulate_facets<dim>(task, f);
      else if constexpr (kernel == CoefficientKernel::penalty)
        internal::Device::largest_diffusion<dim>(task, f);
      else
        internal::Device::tabulate_traces<dim>(task, f);
    }



    /// Functor together with the kernels that nvcc has compiled for it.
    template <int dim, typename F>
    class FunctorCoefficients : public DeviceCoefficients<dim>
    {
    public:
      FunctorCoefficients(
        const F                               &f,
        const double                           time,
        const double                           theta,
        const std::vector<DiscreteField<dim>> &fields,
        const std::vector<std::shared_ptr<const std::vector<double>>>
          &cell_values)
        : DeviceCoefficients<dim>(time, theta, fields, cell_values)
        , f(f)
      {}

      std::string
      description() const override
      {
        return "functor on the device";
      }

      std::string
      launch(const internal::Device::CoefficientKernel    kernel,
             const internal::Device::TabulationTask<dim> &given,
             const unsigned int                           n_blocks_x,
             const unsigned int                           n_blocks_y,
             void                                        *stream) const override
      {
        using internal::Device::CoefficientKernel;
        using Coefficients = internal::PointwiseCoefficients<dim, F>;
        const internal::Device::TabulationTask<dim> task =
          this->with_parameters(given);
        const dim3         grid(n_blocks_x, n_blocks_y);
        const cudaStream_t s = static_cast<cudaStream_t>(stream);
        constexpr int      n = internal::Device::tabulation_threads;
        if (kernel == CoefficientKernel::volume)
          evaluate_functor<CoefficientKernel::volume, dim>
            <<<grid, n, 0, s>>>(task, f);
        else if (kernel == CoefficientKernel::facets)
          evaluate_functor<CoefficientKernel::facets, dim>
            <<<grid, n, 0, s>>>(task, f);
        else if (kernel == CoefficientKernel::penalty)
          {
            if constexpr (Coefficients::has_diffusion)
              evaluate_functor<CoefficientKernel::penalty, dim>
                <<<grid, 32, 0, s>>>(task, f);
          }
        else if constexpr (!Coefficients::has_facet_terms)
          evaluate_functor<CoefficientKernel::traces, dim>
            <<<grid, n, 0, s>>>(task, f);
        const cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess)
          return "";
        return std::string("A kernel of a functor could not be started: ") +
               cudaGetErrorString(error) +
               (error == cudaErrorNoKernelImageForDevice
                  ? ". Compile its .cu file for the architecture of this card "
                    "(CMAKE_CUDA_ARCHITECTURES)."
                  : ".");
      }

    private:
      const F f;
    };
#endif



    /**
     * The equation of AdvectionDiffusionReaction,
     *   -div(a grad u) + b . grad u + c u = f,
     * with coefficients and data that are members of a class @p F of the user:
     *
     *     template <int dim>
     *     struct Heat
     *     {
     *       double k;
     *       TESSELLA_HOST_DEVICE double
     *       diffusion(const PointData<dim> &p) const
     *       {
     *         return p.material == 1 ? 1. : k * (1. + p.x[0]);
     *       }
     *       TESSELLA_HOST_DEVICE double
     *       source(const PointData<dim> &p) const
     *       {
     *         return exp(-p.t);
     *       }
     *     };
     *
     *     DeviceForm<3, Heat<3>> form({.k = 2.});
     *     assembler.assemble(form, matrix, rhs);
     *
     * F may have the following members, all const and marked
     * TESSELLA_HOST_DEVICE. Coefficients without a member are zero and cost
     * nothing:
     * - diffusion(PointData<dim>): a double, a DiagonalPointTensor<dim> or a
     *   PointTensor<dim>, positive semi-definite; tensors are stored in full,
     * - advection(PointData<dim>): a PointVector<dim>,
     * - reaction(), source() of PointData<dim>: doubles,
     * - boundary_type(unsigned int boundary_id): a BoundaryType; without this
     *   member, all boundary ids have Dirichlet conditions,
     * - dirichlet(), neumann(), robin_coefficient() of PointData<dim>: doubles;
     *   neumann() is g of Neumann and Robin parts and may use the normal,
     * - static constexpr int n_fields: number of discrete fields in PointData,
     * - static constexpr int n_cell_values: number of values per sub-cell.
     *
     * <b>Other terms.</b> With the following members the form may have any
     * terms whose coefficients are functions of a point and of the traces of
     * discrete fields, such as those of Newton's method for a nonlinear
     * equation (see QuasilinearTerms):
     * - beta(PointData<dim>): a PointVector<dim>, beta of VolumeBlocks,
     * - interior_facet(const PointData<dim> &own, const PointData<dim>
     *   &neighbor, double sigma, InteriorFacetTerms<dim> &terms,
     *   CoefficientError &error) and boundary_facet(const PointData<dim> &p,
     *   double sigma, BoundaryFacetTerms<dim> &terms, CoefficientError &error):
     *   all terms on facets, in place of those of the interior penalty and
     *   upwind method; sigma is the penalty, zero without diffusion. These
     *   members may report an error. They are then responsible for theta and
     *   boundary conditions. Symmetry is not exploited.
     * - penalty_diffusion(PointData<dim>): a double, from which sigma is
     *   computed in place of the diffusion.
     *
     * F is copied to the device bit by bit. Pointers in it are dereferenced on
     * the device, and the user must make sure that they are valid there.
     *
     * <b>Where F is evaluated.</b> With a host backend F is compiled by any C++
     * compiler and evaluated by threads. With Backend::cuda and in a .cu file
     * that nvcc compiles, a kernel evaluates F at the quadrature points of a
     * chunk of block rows on the device, just before the kernels that use the
     * values; no work per point remains for the host. This header and the
     * headers that it includes need no deal.II. Compiled without nvcc, F is
     * evaluated by the host's threads for the device, too. A program therefore
     * keeps F and
     *
     *     std::unique_ptr<Form<dim>> make_form();
     *
     * in a .cu file of its own, which is compiled as .cc if there is no CUDA,
     * and the rest of the program uses Form only.
     *
     * <b>Discrete fields</b> are added with add_field(). Their values and
     * gradients on the respective side are in PointData::value and
     * PointData::gradient. <b>Values of cells</b> are added with
     * add_cell_values(), and are in PointData::cell_value.
     *
     * <b>Errors.</b> Those of AdvectionDiffusionReaction, with the same
     * sentences; a number of fields other than F::n_fields; a number of cell
     * values other than F::n_cell_values.
     */
    template <int dim, typename F>
    class DeviceForm : public Form<dim>
    {
    public:
      using Coefficients = internal::PointwiseCoefficients<dim, F>;

      static_assert(std::is_trivially_copyable<F>::value,
                    "A functor is copied to the device as it is: its members "
                    "must be plain data.");

      explicit DeviceForm(const F &functor = F())
        : f(functor)
      {}

      /// Access to the functor, to change its parameters between assemblies.
      F &
      functor()
      {
        return f;
      }
      void
      set_time(const double t)
      {
        time = t;
      }
      /// Variant of the interior penalty. 1: symmetric, 0: incomplete, -1:
      /// non-symmetric.
      void
      set_theta(const double value)
      {
        theta = value;
      }
      /// Polynomial degree of the coefficients, for the choice of the
      /// quadrature; default 2.
      void
      set_coefficient_order(const unsigned int value)
      {
        order = value;
      }
      /// Adds the next of the functor's discrete fields.
      void
      add_field(const DiscreteField<dim> &field)
      {
        fields.push_back(field);
      }
      /// Adds the next of the functor's values of cells: one value for each
      /// sub-cell of PolytopicMesh. CellwiseCoefficient::subcell_values()
      /// creates them from values of cells.
      void
      add_cell_values(const std::shared_ptr<const std::vector<double>> &values)
      {
        cell_values.push_back(values);
      }

      void
      prepare() const override
      {
        if (fields.size() != static_cast<std::size_t>(Coefficients::n_fields))
          internal::throw_message(
            "The functor of this DeviceForm has n_fields discrete fields, but "
            "another number of them was given: call add_field() once for each "
            "of them.");
        if (cell_values.size() !=
            static_cast<std::size_t>(Coefficients::n_cell_values))
          internal::throw_message(
            "The functor of this DeviceForm has n_cell_values values of a "
            "cell, but another number of arrays was given: call "
            "add_cell_values() once for each of them.");
        if constexpr (Coefficients::n_fields > 0)
          for (const DiscreteField<dim> &field : fields)
            field.prepare();
      }

      std::shared_ptr<const DeviceCoefficients<dim>>
      device_coefficients() const override
      {
#ifdef __CUDACC__
        return std::make_shared<const FunctorCoefficients<dim, F>>(
          f, time, theta, fields, cell_values);
#else
        return nullptr;
#endif
      }

      std::string
      why_not_on_device() const override
      {
#ifdef __CUDACC__
        return "";
#else
        return "the functor was not compiled by nvcc";
#endif
      }

      VolumeStructure
      volume_structure() const override
      {
        VolumeStructure structure;
        structure.diffusion = !Coefficients::has_diffusion ? DiffusionType::none
                              : Coefficients::tensor ? DiffusionType::tensor
                                                     : DiffusionType::isotropic;
        structure.beta      = Coefficients::has_beta;
        structure.b         = Coefficients::has_advection;
        structure.c         = Coefficients::has_reaction;
        structure.f         = Coefficients::has_source;
        // A tensor need not be symmetric.
        structure.symmetric = !structure.b && theta == 1. &&
                              !Coefficients::tensor &&
                              !Coefficients::has_facet_terms;
        structure.cellwise          = Coefficients::n_cell_values > 0;
        structure.penalty_diffusion = Coefficients::has_penalty_diffusion;
        return structure;
      }

      FacetStructure
      facet_structure() const override
      {
        FacetStructure structure;
        structure.penalty = Coefficients::has_diffusion;
        if (Coefficients::has_facet_terms)
          return structure;
        structure.b    = Coefficients::has_diffusion;
        structure.beta = Coefficients::has_diffusion && theta != 0.;
        structure.facets =
          Coefficients::has_diffusion || Coefficients::has_advection;
        return structure;
      }

      unsigned int
      coefficient_order() const override
      {
        return order;
      }

      bool
      has_penalty_facets(double &value) const override
      {
        value = theta;
        return !Coefficients::has_facet_terms;
      }

      void
      evaluate_diffusion(const PointBatch<dim> &points,
                         double *const         *a) const override
      {
        for_points(points,
                   points.x,
                   points.subcell,
                   points.material,
                   0,
                   [&](const unsigned int q, const auto &p, auto &error) {
                     double entries[Coefficients::n_entries];
                     Coefficients::penalty_diffusion(f, p, entries, error);
                     for (int d = 0; d < Coefficients::n_entries; ++d)
                       a[d][q] = entries[d];
                   });
      }

      void
      evaluate_volume(const PointBatch<dim> &points,
                      VolumeBlocks<dim>     &blocks) const override
      {
        for_points(points,
                   points.x,
                   points.subcell,
                   points.material,
                   0,
                   [&](const unsigned int q, const auto &p, auto &error) {
                     if (blocks.a[0] != nullptr)
                       {
                         double a[Coefficients::n_entries];
                         Coefficients::diffusion(f, p, a, error);
                         for (int d = 0; d < Coefficients::n_entries; ++d)
                           blocks.a[d][q] = a[d];
                       }
                     if (blocks.beta[0] != nullptr)
                       {
                         double beta[dim];
                         Coefficients::beta(f, p, beta, error);
                         for (int d = 0; d < dim; ++d)
                           blocks.beta[d][q] = beta[d];
                       }
                     if (blocks.b[0] != nullptr)
                       {
                         double b[dim];
                         Coefficients::advection(f, p, b, error);
                         for (int d = 0; d < dim; ++d)
                           blocks.b[d][q] = b[d];
                       }
                     if (blocks.c != nullptr)
                       blocks.c[q] = Coefficients::reaction(f, p, error);
                     if (blocks.f != nullptr)
                       blocks.f[q] = Coefficients::source(f, p, error);
                   });
      }

      void
      evaluate_interior_facets(const FacetPointBatch<dim> &points,
                               FacetBlocks<dim> &blocks) const override
      {
        const unsigned int           n        = points.n_points;
        std::vector<PointData<dim>> &neighbor = scratch(n);
        for_points(points,
                   1,
                   invalid_index,
                   [&](const unsigned int q, const auto &p, const auto &) {
                     neighbor[q] = p;
                   });
        for_points(points,
                   0,
                   invalid_index,
                   [&](const unsigned int q, const auto &p, auto &error) {
                     InteriorFacetTerms<dim> terms;
                     Coefficients::interior_facet(
                       f, p, neighbor[q], points.sigma[q], theta, terms, error);
                     for (int side = 0; side < 2; ++side)
                       {
                         if (blocks.c[side] != nullptr)
                           blocks.c[side][q] = terms.c[side];
                         for (int d = 0; d < dim; ++d)
                           {
                             if (blocks.b[side][d] != nullptr)
                               blocks.b[side][d][q] = terms.b[side][d];
                             if (blocks.beta[side][d] != nullptr)
                               blocks.beta[side][d][q] = terms.beta[side][d];
                           }
                       }
                   });
      }

      void
      evaluate_boundary_facets(const FacetPointBatch<dim> &points,
                               FacetBlocks<dim> &blocks) const override
      {
        for_points(points,
                   0,
                   points.boundary_id,
                   [&](const unsigned int q, const auto &p, auto &error) {
                     BoundaryFacetTerms<dim> terms;
                     Coefficients::boundary_facet(
                       f, p, points.sigma[q], theta, terms, error);
                     blocks.c[0][q] = terms.c;
                     if (blocks.r != nullptr)
                       blocks.r[q] = terms.r;
                     for (int d = 0; d < dim; ++d)
                       {
                         if (blocks.b[0][d] != nullptr)
                           blocks.b[0][d][q] = terms.b[d];
                         if (blocks.beta[0][d] != nullptr)
                           blocks.beta[0][d][q] = terms.beta[d];
                         if (blocks.s[d] != nullptr)
                           blocks.s[d][q] = terms.s[d];
                       }
                   });
      }

      bool
      has_boundary_conditions() const override
      {
        return !Coefficients::has_facet_terms;
      }

      BoundaryType
      boundary_type(const unsigned int boundary_id) const override
      {
        return Coefficients::boundary_type(f, boundary_id);
      }

      void
      evaluate_boundary_data(const FacetPointBatch<dim> &points,
                             double                     *g,
                             double                     *alpha) const override
      {
        const BoundaryType type = boundary_type(points.boundary_id);
        for_points(points,
                   0,
                   points.boundary_id,
                   [&](const unsigned int q, const auto &p, auto &error) {
                     g[q]     = Coefficients::boundary_value(f, type, p, error);
                     alpha[q] = type == BoundaryType::robin
                                  ? Coefficients::robin_coefficient(f, p, error)
                                  : 0.;
                   });
      }

    private:
      static std::vector<PointData<dim>> &
      scratch(const unsigned int n)
      {
        static thread_local std::vector<PointData<dim>> data;
        if (data.size() < n)
          data.resize(n);
        return data;
      }

      // Calls function(q, data, error) for all points, with the coordinates and
      // cells of one side, without normals. Throws the first error afterwards.
      template <typename Function>
      void
      for_points(const PointBatch<dim> &points,
                 const double *const   *x,
                 const unsigned int    *subcell,
                 const unsigned int    *material,
                 const unsigned int     side,
                 const Function        &function) const
      {
        const unsigned int                      n = points.n_points;
        static thread_local std::vector<double> memory;
        if (!fields.empty() && memory.size() < fields.size() * (dim + 1) * n)
          memory.resize(fields.size() * (dim + 1) * n);
        if constexpr (Coefficients::n_fields > 0)
          for (std::size_t i = 0; i < fields.size(); ++i)
            {
              double *const begin = memory.data() + i * (dim + 1) * n;
              double       *gradients[dim];
              for (int d = 0; d < dim; ++d)
                gradients[d] = begin + (d + 1) * n;
              fields[i].evaluate(n, subcell, x, begin, gradients);
            }
        CoefficientError error;
        PointData<dim>   p = {};
        p.t                = time;
        p.side             = side;
        p.boundary_id      = invalid_index;
        for (unsigned int q = 0; q < n; ++q)
          {
            for (int d = 0; d < dim; ++d)
              p.x[d] = x[d][q];
            p.subcell = subcell[q];
            for (std::size_t i = 0; i < cell_values.size(); ++i)
              {
                if (p.subcell >= cell_values[i]->size())
                  internal::throw_message(
                    "Values of cells were given to a DeviceForm for another "
                    "mesh than it is used on.");
                p.cell_value[i] = (*cell_values[i])[p.subcell];
              }
            p.material = material[q];
            for (std::size_t i = 0; i < fields.size(); ++i)
              {
                const double *const begin = memory.data() + i * (dim + 1) * n;
                p.value[i]                = begin[q];
                for (int d = 0; d < dim; ++d)
                  p.gradient[i][d] = begin[(d + 1) * n + q];
              }
            function(q, p, error);
          }
        if (error.kind != CoefficientError::none)
          internal::throw_coefficient_error(error, dim);
      }

      // The same for the points of a facet, with normals.
      template <typename Function>
      void
      for_points(const FacetPointBatch<dim> &points,
                 const unsigned int          side,
                 const unsigned int          boundary_id,
                 const Function             &function) const
      {
        for_points(points,
                   side == 0 ? points.x : points.neighbor_x,
                   side == 0 ? points.subcell : points.neighbor_subcell,
                   side == 0 ? points.material : points.neighbor_material,
                   side,
                   [&](const unsigned int q, auto &p, auto &error) {
                     for (int d = 0; d < dim; ++d)
                       p.normal[d] = points.normal[d][q];
                     p.boundary_id = boundary_id;
                     function(q, p, error);
                   });
      }

      F                               f;
      double                          time = 0., theta = 1.;
      unsigned int                    order = 2;
      std::vector<DiscreteField<dim>> fields;
      std::vector<std::shared_ptr<const std::vector<double>>> cell_values;
    };
  } // namespace
} // namespace Tessella

#endif
