// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_point_product_h
#define tessella_cuda_operators_point_product_h

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../lac/block_matrix.h"

// Products without a matrix by sums at quadrature points, in plain types.
// Kernels run in the default stream.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Coefficients that the records of a form have; see FormTables.
      struct PointTerms
      {
        bool   isotropic, tensor;   ///< kind of diffusion, if any
        bool   beta, b, c;          ///< further arrays of volumes
        bool   facet_beta, facet_b; ///< arrays of facets besides c
        bool   penalty;             ///< only b_0, b_1 and c_0 are stored
        double theta;               ///< beta = theta b with penalty
      };

      /// A facet as one of its polytopes sees it.
      struct alignas(16) PointFacet
      {
        /// Set in places of records with one value for all points.
        static constexpr std::uint64_t constant_bit = std::uint64_t(1) << 63;

        /// Records of this side and of the other one.
        std::uint64_t own_record, other_record;
        /// First point in the tables, and its number among the points on all
        /// facets of the polytope.
        std::uint64_t  first_point;
        unsigned int   begin, n_points;
        unsigned int   neighbor; ///< invalid_index at the boundary
        unsigned short shift;    ///< index of the periodic shift
        unsigned short side;
      };

      /// Polytopes whose rows one kernel computes.
      struct PointGroup
      {
        /// Degree of these polytopes and of all their neighbours; 0 if the
        /// kernel for any degrees computes them.
        unsigned int degree = 0;
        /// Those without neighbours on other processes come first.
        std::vector<unsigned int> polytopes;
        unsigned int              n_interior = 0;
      };

      /// Points, coefficients and spaces of a product. Polytopes that the
      /// process owns come before ghosts.
      struct PointProductData
      {
        unsigned int dim = 0, n_owned = 0;
        /// Whether the spaces of the groups with a degree are tensor products.
        bool       tensor_product = false;
        PointTerms terms          = {};
        /// For each polytope: degree, number of functions, first entry, and
        /// centre of the bounding box, scales of the map to [-1,1]^dim, factor
        /// of the basis functions.
        std::vector<unsigned int>  degree, n_basis;
        std::vector<std::uint64_t> dof_offset;
        std::vector<double>        frames;
        /// Exponents of each function, 8 bits for each variable.
        std::vector<unsigned int> exponents;
        /// Coordinates and weight of each point.
        std::vector<double> volume_points, facet_points;
        std::vector<double> shift;
        /// For each owned polytope and at the end: first point of its volume,
        /// first point on its facets, first facet.
        std::vector<std::uint64_t> volume_begin, side_begin;
        /// Records of volumes; empty without terms in the volume.
        std::vector<std::uint64_t> volume_records;
        std::vector<PointFacet>    facets;
        /// Index in facets of each point on the facets of a polytope.
        std::vector<unsigned int> facet_of_point;
        /// Values of all records.
        std::vector<double>     values;
        std::vector<PointGroup> groups;
      };

      /**
       * Product with the operator of PointProductData in device memory. A warp
       * computes the rows of a polytope: each lane evaluates the functions of
       * the polytope and of its neighbours at other points, variable by
       * variable, and multiplies by the coefficients of the form. For the
       * degrees of has_kernel() a lane then adds the product with all test
       * functions to sums in its registers, which the lanes exchange and add at
       * the end; otherwise lanes are assigned to test functions and sum over
       * the points that shared memory holds.
       *
       * Facets are evaluated by both owners. The numbers of points within their
       * polytope determine which lane adds what, so that results have the same
       * bits for any number of processes, and in each run.
       */
      class PointProduct
      {
      public:
        enum class Rows : unsigned char
        {
          all,
          interior,
          boundary
        };

        /// Whether there are kernels for a degree, by which data should be
        /// divided into groups.
        static bool
        has_kernel(const unsigned int dim,
                   const unsigned int degree,
                   const bool         tensor_product);

        /// Throws Error if the shared memory cannot hold the data of a
        /// polytope.
        explicit PointProduct(const PointProductData &data);
        ~PointProduct();

        /// Computes A x, or A^T x, and stores it as @p dst demands.
        void
        vmult(const Destination<double> &dst,
              const double              *src,
              const double              *ghosts,
              const bool                 transpose,
              const Rows                 rows) const;

        std::size_t
        memory_consumption() const;

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
