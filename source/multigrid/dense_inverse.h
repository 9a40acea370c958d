// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_multigrid_dense_inverse_h
#define tessella_source_multigrid_dense_inverse_h

#include <deal.II/base/mpi.h>

#include <deal.II/lac/lapack_full_matrix.h>

#include <tessella/device/device_graph.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "../lac/block_space.h"

namespace Tessella
{
  namespace internal
  {
    /// Inverts a dense matrix, which must be positive definite if it is
    /// @p symmetric. Throws if it is not, or singular up to @p epsilon, the
    /// precision in which its inverse is used.
    void
    invert_dense(dealii::LAPACKFullMatrix<double> &matrix,
                 const bool                        symmetric,
                 const double                      epsilon);
    /// Replaces @p matrix by its pseudo-inverse. @p null_vectors, orthogonal to
    /// each other and normalised, span its null space; throws if they do not.
    void
    invert_dense(dealii::LAPACKFullMatrix<double>       &matrix,
                 const bool                              symmetric,
                 const double                            epsilon,
                 const std::vector<std::vector<double>> &null_vectors);

    /// Dense inverse of a block matrix. All functions are collective.
    template <typename MatrixType>
    class DenseInverse
    {
    public:
      using Number = typename MatrixType::value_type;

      /// Rows of this process of vectors that span the null space of the
      /// matrix.
      using NullVectors = std::vector<std::vector<double>>;

      /**
       * Every process gathers and inverts the whole matrix, and keeps its rows
       * of the inverse. With @p null_vectors, which must be orthogonal to each
       * other, the result is the pseudo-inverse: with Q the same vectors
       * normalised and P = 1 - Q Q^T, it is (P A P + s Q Q^T)^{-1} - Q Q^T / s
       * for any s > 0. Throws if the matrix is singular otherwise or, if it is
       * @p symmetric, not positive definite, or if A Q is not small.
       * @p meanwhile is called when the values are in host memory, to start
       * work on a device that goes on during the inversion.
       */
      void
      reinit(const MatrixType            &matrix,
             const bool                   symmetric,
             const MPI_Comm               communicator,
             const NullVectors           &null_vectors = NullVectors(),
             const std::function<void()> &meanwhile    = {});
      /// x = A^{-1} b or A^{-T} b; the latter only if the matrix is not
      /// symmetric. Pointers are to the memory of the matrix.
      void
      vmult(const Number *b, Number *x, const bool transpose);

      std::size_t
      memory_consumption() const;

      /// Adds the addresses on which vmult() depends to the key of a CUDA
      /// graph.
      void
      add_to_key(DeviceGraph::Key &key) const
      {
        key.push_back(DeviceGraph::address(inverse.data()));
        key.push_back(DeviceGraph::address(transposed_inverse.data()));
      }

    private:
      using SpaceType = Space<MatrixType>;
      using Blocks    = typename SpaceType::Blocks;
      template <typename T>
      using Array = typename SpaceType::template Array<T>;

      std::vector<double>
      gather(const MatrixType &matrix);
      std::vector<double>
      own_rows(const MatrixType                 &matrix,
               const std::vector<std::uint64_t> &first_column) const;
      /// The vectors of all processes, normalised.
      NullVectors
                    gather(const NullVectors &own) const;
      MPI_Comm      communicator = MPI_COMM_SELF;
      std::uint64_t n = 0, n_owned = 0;
      /// Rows of the inverse that belong to this process, and of the transposed
      /// inverse if the matrix is not symmetric.
      Array<Number> inverse, transposed_inverse;
      /// Right-hand side, gathered from all processes.
      Array<Number>       gathered;
      std::vector<Number> gathered_host, own_host;
      /// Numbers of rows and first rows of all processes; empty on a single
      /// process.
      std::vector<int> counts, places;
    };
  } // namespace internal
} // namespace Tessella

#endif
