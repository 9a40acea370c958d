// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_assembly_h
#define tessella_cuda_assembly_h

#include <tessella/assembly/block_sparsity.h>
#include <tessella/grid/polytopic_mesh.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// Assembly on a CUDA device, in plain types: no deal.II header here or in what
// implements it.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// A call of the CUDA runtime failed; the text is a full sentence.
      struct Error : public std::runtime_error
      {
        explicit Error(const std::string &text)
          : std::runtime_error(text)
        {}
      };

      /// Number of devices that can be used; 0 without a driver.
      unsigned int
      n_devices();

      /// Name and compute capability of the current device.
      std::string
      device_name();

      /// Ceilings of the current device, measured in about 50 ms.
      struct Rates
      {
        double flops     = 0.; ///< products in double precision, per second
        double bandwidth = 0.; ///< bytes per second, reads and writes
        double download  = 0.; ///< bytes per second into pinned memory
      };

      Rates
      measure_rates();

      /// The reference rules of a mesh and form, by type and degree.
      struct RuleTables
      {
        struct Entry
        {
          unsigned int n_points = 0;
          /// Coordinates [d * n_points + q], then weights, from data[offset].
          unsigned int offset = 0;
        };
        Entry               subcell[3][11];
        Entry               facet[2][11];
        std::vector<double> data;
      };

      /// Arrays of tabulated coefficients: first array of each entry, or -1
      /// where the form does not have it. Array c holds the points of a chunk
      /// at [c * n_points + q].
      struct VolumeLayout
      {
        int  a = -1, beta = -1, b = -1, c = -1, f = -1;
        bool tensor = false;
        int  n      = 0; ///< number of arrays
      };
      struct FacetLayout
      {
        int b[2] = {-1, -1}, beta[2] = {-1, -1}, c[2] = {-1, -1};
        int r = -1, s = -1;
        int n = 0;
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
        /// Interior facets follow from constant a, b and theta.
        bool         constant_facets = false;
        double       a[dim * dim], b[dim], theta = 0.;
        VolumeLayout volume_layout;
        FacetLayout  facet_layout;
        bool         matrix = false, rhs = false;
      };

      /// A range of polytopes that the device works on at once, and how many
      /// points are tabulated for it.
      struct Chunk
      {
        unsigned int  begin, end;
        std::uint64_t n_volume_points, n_facet_points;
      };

      /**
       * Where results go; null pointers for what is not wanted there. Values
       * are in the layout of the BlockSparsity. What has a place on the device
       * stays there and is not copied to the host.
       *
       * All of them are for the whole matrix and vector: the first value of
       * the first polytope that the Assembler computes, its first entry.
       */
      template <typename Number>
      struct Target
      {
        /// In device memory; kernels write there.
        Number *device_values = nullptr, *device_rhs = nullptr;
        /// In ordinary memory of the host.
        Number *host_values = nullptr, *host_rhs = nullptr;
        /// Instead of host_values if set: receives finished block rows (first
        /// polytope, last one + 1, values). Called concurrently by the host's
        /// threads.
        std::function<void(unsigned int, unsigned int, const Number *)>
          store_block_rows;
      };

      /// Calls function(begin, end) for sub-ranges of [0, n) of about the given
      /// size, with all of the host's threads: parallel(n, size, function).
      using Parallel = std::function<
        void(std::size_t,
             std::size_t,
             const std::function<void(std::size_t, std::size_t)> &)>;

      struct Times
      {
        double      kernels = 0., upload = 0., download = 0.; ///< seconds
        double      bytes_up = 0., bytes_down = 0.;
        std::string kernel;
      };

      /**
       * Block rows of a matrix on the device. The mesh, the structure and the
       * rules are uploaded once, values stream back in chunks of block rows
       * while the next chunk is computed.
       *
       * A warp computes one block of the matrix (or a tile of a large one) as
       * the product of test rows and trial rows at the quadrature points of
       * the volume and of the facets, which is accumulated in registers and
       * written once. No atomics; the order of summation is fixed by the mesh,
       * so results are the same to the last bit in every run.
       */
      template <int dim>
      class Assembler
      {
      public:
        Assembler(const PolytopicMesh<dim>         &mesh,
                  const BlockSparsity              &sparsity,
                  const RuleTables                 &rules,
                  const std::vector<unsigned char> &exponents,
                  const Parallel                   &parallel);
        ~Assembler();

        /**
         * Computes all block rows of the matrix and the vector (what
         * @p form asks for). @p tabulate writes the coefficients of a chunk
         * into the given arrays, called from this thread. Number: double.
         */
        template <typename Number>
        Times
        assemble(const FormData<dim>       &form,
                 const std::vector<double> &sigma,
                 const std::function<void(const Chunk &, double *, double *)>
                                      &tabulate,
                 const Target<Number> &target);

        /// First quadrature point of each sub-cell.
        const std::vector<std::uint64_t> &
        subcell_points() const;

        /// First tabulated facet point of each entry of polytope_interface,
        /// for the form being assembled.
        const std::vector<std::uint64_t> &
        entry_points() const;

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
