// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_assembly_h
#define tessella_cuda_backends_assembly_h

#include <tessella/base/backend.h>
#include <tessella/forms/constant_system.h>
#include <tessella/forms/device_coefficients.h>
#include <tessella/grid/polytopic_dofs.h>
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

// Assembly on a CUDA device, in plain types: neither this header nor its
// implementation includes deal.II headers.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Reference quadrature rules of a mesh and a form, by type and degree.
      struct RuleTables
      {
        using Entry = RuleEntry;
        /// On a mesh of parallelepipeds, the entries of simplices are the rules
        /// of parallelepipeds and, in 3-D, those of parallelograms with half of
        /// their weights, whose sum is then that of weights on triangles.
        Entry subcell[5][11];
        Entry facet[4][11];
        /// Rules on simplicial sub-cells, by order from 1 on, for integrands
        /// whose degree is known to be lower than the rules above assume.
        Entry               simplex[21];
        std::vector<double> data;

        /**
         * Points of a compressed quadrature: those of sub-cell s have the
         * numbers offset[s] .. offset[s+1], and points holds coordinates and
         * weight, dim + 1 values per point, from number offset[0] on. Both are
         * null if sub-cells have the rules above.
         */
        struct VolumePoints
        {
          const unsigned int *offset = nullptr;
          const double       *points = nullptr;
        };
        VolumePoints volume_points;
      };

      /// Data of a form that the device needs.
      template <int dim>
      struct FormData
      {
        bool volume    = false; ///< the matrix has volume terms
        bool facets    = false;
        bool symmetric = false;
        /// Volume coefficients are constant: C[i][j], where rows and columns
        /// are value (0) and gradient (1..dim).
        bool   constant_volume = false;
        double C[dim + 1][dim + 1];
        /// The volume terms are a scalar diffusion and a reaction, so that C is
        /// diagonal.
        bool diagonal = false;
        /// Bits of the non-zero rows of C: 1 value, 2 << d gradient.
        unsigned int volume_rows = 0;
        /// penalty_facets: the facet terms are as described for
        /// Form::has_penalty_facets(). flux: the facet terms contain
        /// derivatives.
        bool penalty_facets = false, flux = false;
        /// constant_facets: the terms of interior facets follow from constant
        /// a, b and theta. constant_bottom: so do those at the bottom of a
        /// slab, which then have neither diffusion nor data.
        bool         constant_facets = false, constant_bottom = false;
        double       a[dim * dim], b[dim], theta = 0.;
        VolumeLayout volume_layout;
        FacetLayout  facet_layout;
        /// Apart from the basis, no term of the matrix depends on the last
        /// variable.
        bool stationary = false;
        /// The right-hand side has the constant value f and needs no table.
        bool   constant_f = false;
        double f          = 0.;
        bool   matrix = false, rhs = false;
        /// f has a table, but the same value at all points.
        bool same_f = false;
        /// Facet tables may be packed as PackedTables describes, with a single
        /// b for both sides if b is continuous.
        bool packed_facets = false, continuous = false;

        /// The right-hand side has a volume term.
        TESSELLA_HOST_DEVICE bool
        source() const
        {
          return rhs && (constant_f || volume_layout.f >= 0);
        }
      };

      /**
       * Layout of the tables that are sent from the host to the device, where
       * the full tables are reconstructed from them. Volume tensors: entries on
       * and above the diagonal and, unless the tensors are symmetric, those
       * below it after all other arrays. f: left out if it is the same at all
       * points. Interior facets: once each, with c of both sides and b of one
       * side (of both sides if b jumps), where side 0 counts as own side.
       * Boundary facets: the arrays c, b, r, s.
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

        /// Numbers of arrays; the last n_lower volume arrays are below the
        /// diagonal.
        int n_volume = 0, n_lower = 0, n_interior = 0, n_boundary = 0;
        /// Index of the packed array of each array of VolumeLayout, -1 for a
        /// constant f; symmetric: the same if the tensors are symmetric.
        int volume[max_arrays], symmetric[max_arrays];
      };

      /// Range of polytopes that the device processes at once, and the number
      /// of points that are tabulated for it.
      struct Chunk
      {
        unsigned int  begin, end;
        std::uint64_t n_volume_points, n_facet_points;
      };

      template <typename Number>
      using Target = AssemblyTarget<Number>;

      /// Array of which only a range is stored; operator[] takes the index in
      /// the whole array.
      template <typename T>
      struct Range
      {
        const T    *data  = nullptr;
        std::size_t first = 0; ///< index of the entry data[0]

        const T &
        operator[](const std::size_t i) const
        {
          return data[i - first];
        }
      };

      /// Functions that evaluate a form with the host's threads; they are
      /// called by the thread that assembles.
      struct Tabulation
      {
        /// Computes the volume and facet tables of a chunk.
        std::function<void(const Chunk &, double *, double *)> chunk;
        /// Called before the first chunk.
        std::function<void()> start_chunks;

        /**
         * If these functions are set and the tables of all polytopes fit into
         * device memory, they are called instead, so that every coefficient is
         * evaluated once. The first pass tabulates the volume, chunk by chunk,
         * with all arrays of PackedTables; `volume` returns false if the
         * entries below the diagonal are needed. Then the penalty is known, and
         * the second pass tabulates the facets. Facet tables may be packed:
         * points of side 0 of the chunk's polytopes, arrays of interior and of
         * boundary facets.
         */
        std::function<bool(const Chunk &, double *)>           volume;
        std::function<void()>                                  start_facets;
        std::function<void(const Chunk &, double *)>           facets;
        std::function<void(const Chunk &, double *, double *)> packed_facets;
      };

      /// Penalty factor of all facets, and a revision that identifies these
      /// values: they are uploaded when it changes. 0: unknown.
      struct Penalty
      {
        const double *sigma    = nullptr;
        std::uint64_t revision = 0;
      };

      /// Mesh data that the evaluation of a form on the device needs in
      /// addition (see MeshData). Arrays that are the same as those of the mesh
      /// that is on the device may be left empty, except for facet_material.
      struct CoefficientArrays
      {
        std::vector<unsigned int> facet_subcell, facet_material,
          subcell_material;
        std::vector<std::uint64_t> dof_offset;
        unsigned int               first_subcell = 0;
      };

      /// Settings for the evaluation of a form on the device.
      template <int dim>
      struct Evaluation
      {
        const DeviceCoefficients<dim> *coefficients = nullptr;
        /// Called once per mesh.
        std::function<CoefficientArrays()> arrays;
        /// If true, the penalty factor is computed on the device: constant *
        /// max over sides of (factor * a-bar). factor: two values per facet,
        /// with a revision that identifies them.
        bool          penalty         = false;
        double        constant        = 0.;
        const double *factor          = nullptr;
        std::uint64_t factor_revision = 0;
      };

      /// A single block row needs more device memory than is available.
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

      /// Properties of all polytopes of the whole mesh. Kernels are selected by
      /// them, so that the same kernels compute a part of the mesh.
      struct Degrees
      {
        unsigned int max_degree = 0, max_basis = 0, min_basis = 0;
        /// simplices: all sub-cells and facets are simplices. prisms: sub-cells
        /// are prisms, and facets are prisms or simplices. parallelepipeds: all
        /// sub-cells are parallelepipeds (parallelograms in 2-D) and all facets
        /// segments or parallelograms.
        bool simplices = false, prisms = false, parallelepipeds = false;
        /// Boundary id of the bottom of a slab, which follows all other
        /// boundary ids of a polytope; invalid_index if the mesh is not a slab.
        unsigned int bottom_id = invalid_index;
      };

      /// The rows of polytopes [first, last) of a mesh, and what their assembly
      /// needs. Objects given by reference must outlive the Assembler.
      template <int dim>
      struct AssemblerInput
      {
        const PolytopicMesh<dim>         &mesh;
        const PolytopicDoFs              &dofs;
        const BlockSparsity              &sparsity;
        const unsigned int                first, last;
        const Degrees                     degrees;
        const RuleTables                 &rules;
        const std::vector<unsigned char> &exponents;
        Workspace                        &workspace;
        const Parallel                    parallel;
      };

      /// Numbers of tabulated points that precede each sub-cell and each entry
      /// of polytope_interface.
      struct PointPositions
      {
        const std::uint64_t *subcell, *entry;
        /// Counterparts of entry for packed tables, see PackedTables.
        const std::uint64_t *interior, *boundary;
      };

      /**
       * Assembly of block rows of a matrix on the device. The constructor takes
       * the mesh from DeviceMesh, or uploads it if it cannot be shared, and
       * uploads structure and rules; assemble() processes the block rows in
       * chunks (ChunkPlanner). The coefficients of a chunk come from a
       * CoefficientSource, its results go to a ResultSink: while one chunk is
       * computed, the results of the preceding one are copied in pieces to
       * pinned buffers, from where the host's threads move them to their
       * target.
       *
       * A warp computes a block row, or a block of a large one (launch.h), as
       * products of test rows and trial rows at the quadrature points of the
       * volume and of the facets, which are accumulated in registers and
       * written once. The kernels use no atomics, and the mesh determines the
       * order of summation. Results are therefore the same to the last bit in
       * every run, for all sizes of chunks and pieces.
       *
       * <b>Parts.</b> The mesh may be a part of a larger one: only rows of the
       * polytopes in [first, last) are computed, the other polytopes are their
       * neighbours. Polytopes, interfaces and facets must be in the order that
       * they have in the whole mesh.
       *
       * <b>Memory.</b> Workspace::limit() applies to mesh and chunks together;
       * a chunk has at least one block row.
       */
      template <int dim>
      class Assembler
      {
      public:
        explicit Assembler(const AssemblerInput<dim> &input);
        ~Assembler();

        /// Prepares the data for forms whose interior facets have constant
        /// coefficients. Without a call of this function, the first such form
        /// does so.
        void
        expect_constant_facets();

        /**
         * Computes the block rows of the matrix, the vector, or both, as @p
         * form requests. Coefficients come from @p tabulation or, if @p
         * evaluation is given, are evaluated on the device. If @p system is
         * given, the block rows of the matrix are those of all its pairs, form
         * is that of the pair (0, 0), and the blocks' positions are those of
         * this pair in the matrix of all components.
         */
        template <typename Number>
        Times
        assemble(const FormData<dim>            &form,
                 const Penalty                  &penalty,
                 const Tabulation               &tabulation,
                 const Target<Number>           &target,
                 const Evaluation<dim>          *evaluation = nullptr,
                 const ConstantSystemTerms<dim> *system     = nullptr);

        /// Computes the largest n . a n over the points of each polytope on its
        /// side of its facets and copies it to the host: two values per facet;
        /// those of polytopes outside of [first, last) are zero.
        void
        largest_diffusion(const Evaluation<dim> &evaluation, double *a_bar);

        /// Positions of the points for the form that is being assembled.
        PointPositions
        points() const;

        /// The copy of the mesh on the device, if others may share it. Who
        /// holds it keeps the copy for assemblers of other spaces.
        std::shared_ptr<const void>
        shared_mesh() const;

        /// Bytes of device memory for a mesh with its structure and rules.
        static std::size_t
        memory(const PolytopicMesh<dim> &mesh,
               const PolytopicDoFs      &dofs,
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
        if (const unsigned int *const offset = rules.volume_points.offset)
          return offset[subcell + 1] - offset[subcell];
        const SubCellType type = mesh.subcell_type[subcell];
        return type == SubCellType::tabulated
                 ? mesh.subcell_point_offset[subcell + 1] -
                     mesh.subcell_point_offset[subcell]
                 : rules.subcell[static_cast<unsigned int>(type)][degree]
                     .n_points;
      }

      /// Degree that determines the quadrature on an interface.
      template <int dim>
      inline unsigned int
      interface_degree(const PolytopicMesh<dim> &mesh,
                       const PolytopicDoFs      &dofs,
                       const unsigned int        interface)
      {
        const unsigned int *polytope =
          &mesh.interface_polytope[2 * std::size_t(interface)];
        const unsigned int degree = dofs.degree[polytope[0]];
        return polytope[1] == invalid_index || dofs.degree[polytope[1]] < degree
                 ? degree
                 : dofs.degree[polytope[1]];
      }

      /// Number of quadrature points of a facet of an interface of the given
      /// degree.
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
