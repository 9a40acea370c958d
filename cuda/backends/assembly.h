// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_assembly_assembly_h
#define tessella_cuda_assembly_assembly_h

#include <tessella/base/backend.h>
#include <tessella/forms/device_coefficients.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>
#include <tessella/portable/host_device.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../source/backends/target.h"
#include "../device/device.h"
#include "../device/times.h"
#include "../device/workspace.h"

// Assembly on a CUDA device, in plain types: no deal.II header here or in what
// implements it.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// The reference rules of a mesh and form, by type and degree.
      struct RuleTables
      {
        using Entry = RuleEntry;
        Entry subcell[5][11];
        Entry facet[4][11];
        /// On sub-cells that are simplices, by order (from 1 on): for
        /// integrands known to be of lower degree than those above.
        Entry               simplex[21];
        std::vector<double> data;
      };

      /// What a form needs on the device.
      template <int dim>
      struct FormData
      {
        bool volume    = false; ///< the matrix has volume terms
        bool facets    = false;
        bool symmetric = false;
        /// Volume coefficients do not vary: C[i][j], rows and columns value
        /// (0) and gradient (1..dim).
        bool   constant_volume = false;
        double C[dim + 1][dim + 1];
        /// Only a scalar diffusion and reaction: C is diagonal.
        bool diagonal = false;
        /// Rows of C that are not zero: 1 values, 2 << d gradient.
        unsigned int volume_rows = 0;
        /// Facet terms as Form::has_penalty_facets() describes them, and
        /// whether they have derivatives at all.
        bool penalty_facets = false, flux = false;
        /// Interior facets follow from constant a, b and theta; and so do those
        /// at the bottom of a slab, without diffusion and data.
        bool         constant_facets = false, constant_bottom = false;
        double       a[dim * dim], b[dim], theta = 0.;
        VolumeLayout volume_layout;
        FacetLayout  facet_layout;
        /// Nothing in the matrix depends on the last variable but the basis.
        bool stationary = false;
        /// The right-hand side f is this one everywhere, and has no table.
        bool   constant_f = false;
        double f          = 0.;
        bool   matrix = false, rhs = false;
        /// f has a table, but is the same everywhere all the same.
        bool same_f = false;
        /// Facet tables may come as PackedTables describes it, with one b for
        /// both sides if continuous.
        bool packed_facets = false, continuous = false;

        /// The right-hand side has a volume term.
        TESSELLA_HOST_DEVICE bool
        source() const
        {
          return rhs && (constant_f || volume_layout.f >= 0);
        }
      };

      /**
       * What of the tables goes from the host to the device, where they are
       * put together: of tensors of the volume the entries above the diagonal
       * and, unless they are symmetric, after everything else those below it;
       * no f that is the same everywhere; every interior facet once, with c of
       * both sides and b of one of them (or of both, if it jumps), side 0
       * being the own one; and boundary facets with their arrays c, b, r, s.
       */
      template <int dim>
      struct PackedTables
      {
        static constexpr int max_arrays = dim * dim + 2 * dim + 2;

        explicit PackedTables(const FormData<dim> &form)
        {
          const VolumeLayout &L = form.volume_layout;
          for (int i = 0; i < L.n; ++i)
            {
              const int  d = (i - L.a) / dim, e = (i - L.a) % dim;
              const bool a =
                L.tensor && L.a >= 0 && i >= L.a && i < L.a + dim * dim;
              if (a && d > e)
                volume[i] = -2;
              else if (i == L.f && form.same_f)
                volume[i] = -1;
              else
                volume[i] = n_volume++;
            }
          for (int i = 0; i < L.n; ++i)
            {
              symmetric[i] = volume[i];
              if (volume[i] == -2)
                {
                  volume[i] = n_volume++;
                  symmetric[i] =
                    volume[L.a + (i - L.a) % dim * dim + (i - L.a) / dim];
                  ++n_lower;
                }
            }
          if (form.packed_facets)
            {
              const FacetLayout &G = form.facet_layout;
              n_interior           = 2 + (G.b[0] < 0        ? 0
                                          : form.continuous ? dim
                                                            : 2 * dim);
              n_boundary = 1 + (G.b[0] < 0 ? 0 : dim) + (G.r < 0 ? 0 : 1) +
                           (G.s < 0 ? 0 : dim);
            }
        }

        /// Arrays; the last n_lower of the volume are below the diagonal.
        int n_volume = 0, n_lower = 0, n_interior = 0, n_boundary = 0;
        /// The packed array of each array of VolumeLayout, -1 for a constant f;
        /// and if tensors are symmetric.
        int volume[max_arrays], symmetric[max_arrays];
      };

      /// A range of polytopes that the device works on at once, and how many
      /// points are tabulated for it.
      struct Chunk
      {
        unsigned int  begin, end;
        std::uint64_t n_volume_points, n_facet_points;
      };

      template <typename Number>
      using Target = AssemblyTarget<Number>;

      /// Entry i of an array of which only a range is kept.
      template <typename T>
      struct Range
      {
        const T    *data  = nullptr;
        std::size_t first = 0; ///< number of the entry data[0]

        const T &
        operator[](const std::size_t i) const
        {
          return data[i - first];
        }
      };

      /// How the host's threads evaluate a form: functions that are called by
      /// the thread that assembles.
      struct Tabulation
      {
        /// Tables of the volume and of the facets of a chunk.
        std::function<void(const Chunk &, double *, double *)> chunk;
        /// Called before the first chunk.
        std::function<void()> start_chunks;

        /**
         * If these are set, and where the tables of all polytopes fit into the
         * device's memory, they are called instead, so that every coefficient
         * is evaluated once: first the volume of chunk after chunk, all arrays
         * of PackedTables (false: those below the diagonal are needed), then,
         * as the penalty is known from there on, the facets. Those may be
         * packed: what belongs to side 0 of the chunk's polytopes, interior
         * arrays and boundary arrays.
         */
        std::function<bool(const Chunk &, double *)>           volume;
        std::function<void()>                                  start_facets;
        std::function<void(const Chunk &, double *)>           facets;
        std::function<void(const Chunk &, double *, double *)> packed_facets;
      };

      /// Penalty of all facets, and a number that stands for these values: they
      /// are uploaded when it changes. 0: unknown.
      struct Penalty
      {
        const double *sigma    = nullptr;
        std::uint64_t revision = 0;
      };

      /// What evaluation of a form on the device needs of the mesh besides (see
      /// MeshData).
      struct CoefficientArrays
      {
        std::vector<unsigned int> facet_subcell, facet_material,
          subcell_material, boundary_id;
        std::vector<std::uint64_t> dof_offset;
        unsigned int               first_subcell = 0;
      };

      /// Evaluation of a form on the device.
      template <int dim>
      struct Evaluation
      {
        const DeviceCoefficients<dim> *coefficients = nullptr;
        /// Called once for a mesh.
        std::function<CoefficientArrays()> arrays;
        /// The penalty is worked out on the device: constant * max over sides
        /// of (factor * a-bar), factor: two a facet, with a number that stands
        /// for them.
        bool          penalty         = false;
        double        constant        = 0.;
        const double *factor          = nullptr;
        std::uint64_t factor_revision = 0;
      };

      /// More device memory is needed for one block row than there is.
      struct RowTooLarge : public Error
      {
        RowTooLarge(const unsigned int polytope, const std::size_t bytes)
          : Error("")
          , polytope(polytope)
          , bytes(bytes)
        {}
        unsigned int polytope;
        std::size_t  bytes; ///< values and tables of the row
      };

      /// Of all polytopes of the whole mesh: kernels are chosen by these, so
      /// that a part of it is computed by the same ones.
      struct Degrees
      {
        unsigned int max_degree = 0, max_basis = 0, min_basis = 0;
        /// All sub-cells and facets are simplices; or sub-cells are prisms,
        /// and facets prisms or simplices.
        bool simplices = false, prisms = false;
        /// Boundary id of the bottom of a slab, after all others of a
        /// polytope; invalid_index: there is none.
        unsigned int bottom_id = invalid_index;
      };

      /**
       * Block rows of a matrix on the device. Mesh, structure and rules are
       * uploaded by the constructor; assemble() goes through the block rows in
       * chunks. While one chunk is computed the results of the one before it
       * come back in pieces through pinned buffers, from where the host's
       * threads move them on.
       *
       * A warp computes a block row, or a block of a large one (launch.h), as
       * products of test rows and trial rows at the quadrature points of the
       * volume and of the facets, which are accumulated in registers and
       * written once. No atomics; the order of summation is fixed by the mesh,
       * so results are the same to the last bit in every run, for all sizes of
       * chunks and pieces.
       *
       * <b>Parts.</b> The mesh may be a part of a larger one: only rows of the
       * polytopes in [first, last) are computed, the other polytopes are
       * neighbours of these. Polytopes, interfaces and facets must be in the
       * order that they have in the whole mesh.
       *
       * <b>Memory.</b> Workspace::limit() holds for mesh and chunks together; a
       * chunk has at least one block row.
       */
      template <int dim>
      class Assembler
      {
      public:
        /// What is passed by reference must live as long as this object does.
        Assembler(const PolytopicMesh<dim>         &mesh,
                  const BlockSparsity              &sparsity,
                  const unsigned int                first,
                  const unsigned int                last,
                  const Degrees                    &degrees,
                  const RuleTables                 &rules,
                  const std::vector<unsigned char> &exponents,
                  Workspace                        &workspace,
                  const Parallel                   &parallel);
        ~Assembler();

        /// Makes what forms need besides whose interior facets have constant
        /// coefficients; the first one does it otherwise.
        void
        expect_constant_facets();

        /**
         * Computes the block rows of the matrix and the vector (what
         * @p form asks for). Coefficients come from @p tabulation, or from
         * @p evaluation, if it is given, on the device.
         */
        template <typename Number>
        Times
        assemble(const FormData<dim>   &form,
                 const Penalty         &penalty,
                 const Tabulation      &tabulation,
                 const Target<Number>  &target,
                 const Evaluation<dim> *evaluation = nullptr);

        /// Largest n . a n over each polytope's points for its side of its
        /// facets (two numbers a facet; those of other polytopes are zero), to
        /// the host.
        void
        largest_diffusion(const Evaluation<dim> &evaluation, double *a_bar);

        /// First quadrature point of each sub-cell.
        const std::uint64_t *
        subcell_points() const;

        /// First tabulated facet point of each entry of polytope_interface,
        /// for the form being assembled.
        const std::uint64_t *
        entry_points() const;

        /// Points of packed facet tables before each entry of
        /// polytope_interface.
        const std::uint64_t *
        packed_interior_points() const;
        const std::uint64_t *
        packed_boundary_points() const;

        /// Bytes of device memory for a mesh with its structure and rules.
        static std::size_t
        memory(const PolytopicMesh<dim> &mesh,
               const BlockSparsity      &sparsity,
               const RuleTables         &rules,
               const std::size_t         n_exponents);

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };

      /// Number of quadrature points of a sub-cell of a polytope.
      template <int dim>
      inline unsigned int
      n_subcell_points(const PolytopicMesh<dim> &mesh,
                       const RuleTables         &rules,
                       const unsigned int        subcell,
                       const unsigned int        degree)
      {
        const SubCellType type = mesh.subcell_type[subcell];
        return type == SubCellType::tabulated
                 ? mesh.subcell_point_offset[subcell + 1] -
                     mesh.subcell_point_offset[subcell]
                 : rules.subcell[static_cast<unsigned int>(type)][degree]
                     .n_points;
      }

      /// Degree that quadrature on an interface goes by.
      template <int dim>
      inline unsigned int
      interface_degree(const PolytopicMesh<dim> &mesh,
                       const unsigned int        interface)
      {
        const unsigned int *polytope =
          &mesh.interface_polytope[2 * std::size_t(interface)];
        const unsigned int degree = mesh.degree[polytope[0]];
        return polytope[1] == invalid_index || mesh.degree[polytope[1]] < degree
                 ? degree
                 : mesh.degree[polytope[1]];
      }

      /// Number of quadrature points of a facet of an interface of that degree.
      template <int dim>
      inline unsigned int
      n_facet_points(const PolytopicMesh<dim> &mesh,
                     const RuleTables         &rules,
                     const unsigned int        facet,
                     const unsigned int        degree)
      {
        const FacetType type = mesh.facet_type[facet];
        return type == FacetType::tabulated
                 ? mesh.facet_point_offset[facet + 1] -
                     mesh.facet_point_offset[facet]
                 : rules.facet[static_cast<unsigned int>(type)][degree]
                     .n_points;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
