// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "dense_inverse.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "../base/collective.h"
#include "../lac/dense.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      // Largest number of rows that one thread inverts by itself, which takes a
      // quarter of the time of LAPACK's reference implementation.
      constexpr std::uint64_t max_rows_without_lapack = 256;

      // Returns false, and leaves the matrix as it is, if it is large or not
      // clearly positive definite.
      bool
      invert_positive(LAPACKFullMatrix<double> &dense)
      {
        const unsigned int n = dense.m();
        if (n > max_rows_without_lapack)
          return false;
        std::vector<double> copy(std::size_t(n) * n);
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int j = 0; j < n; ++j)
            copy[std::size_t(i) * n + j] = dense(i, j);
        if (!Dense::invert_positive(n, copy.data()))
          return false;
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int j = 0; j < n; ++j)
            dense(i, j) = copy[std::size_t(i) * n + j];
        return true;
      }
    } // namespace



    void
    invert_dense(LAPACKFullMatrix<double> &dense,
                 const bool                symmetric,
                 const double              epsilon)
    {
      const std::uint64_t n    = dense.m();
      const auto          norm = [n](const LAPACKFullMatrix<double> &A) {
        double largest = 0.;
        for (std::uint64_t j = 0; j < n; ++j)
          {
            double sum = 0.;
            for (std::uint64_t i = 0; i < n; ++i)
              sum += std::abs(A(i, j));
            largest = std::max(largest, sum);
          }
        return largest;
      };
      // The diagonal entries of polytopes of different size differ by many
      // orders of magnitude, which neither the factorisation nor rounded
      // entries mind, but the norms do: S A S with a diagonal of ones is
      // inverted, and S (S A S)^{-1} S taken.
      std::vector<double> scale(n, 1.);
      for (std::uint64_t i = 0; i < n; ++i)
        if (dense(i, i) != 0. && std::isfinite(dense(i, i)))
          scale[i] = 1. / std::sqrt(std::abs(dense(i, i)));
      const auto rescale = [&]() {
        for (std::uint64_t j = 0; j < n; ++j)
          for (std::uint64_t i = 0; i < n; ++i)
            dense(i, j) *= scale[i] * scale[j];
      };
      rescale();
      const double before   = norm(dense);
      bool         singular = !std::isfinite(before);
      try
        {
          if (symmetric && !singular)
            {
              // Symmetrise: the two halves differ by rounding.
              for (std::uint64_t i = 0; i < n; ++i)
                for (std::uint64_t j = 0; j < i; ++j)
                  dense(i, j) = dense(j, i) = 0.5 * (dense(i, j) + dense(j, i));
              if (!invert_positive(dense))
                {
                  dense.set_property(LAPACKSupport::symmetric);
                  dense.compute_cholesky_factorization();
                  dense.invert();
                  for (std::uint64_t i = 0; i < n; ++i)
                    for (std::uint64_t j = 0; j < i; ++j)
                      dense(j, i) = dense(i, j);
                }
            }
          else if (!singular)
            {
              dense.compute_lu_factorization();
              dense.invert();
            }
        }
      catch (const ExceptionBase &)
        {
          singular = true;
        }
      singular = singular || !(norm(dense) * before < 0.1 / epsilon);
      AssertThrow(!singular,
                  ExcMessage(
                    std::string("The matrix of the coarsest level of multigrid "
                                "is singular") +
                    (symmetric ? " or not positive definite" : "") +
                    ": check that the problem has a unique solution (a "
                    "Dirichlet, Robin or inflow boundary, or a reaction term)"
                    " and that the penalty constant is large enough. If it is "
                    "unique up to constants, declare them in "
                    "constant_null_space of Multigrid::AdditionalData."));
      rescale();
    }



    void
    invert_dense(LAPACKFullMatrix<double>               &dense,
                 const bool                              symmetric,
                 const double                            epsilon,
                 const std::vector<std::vector<double>> &null_vectors)
    {
      const std::uint64_t n       = dense.m();
      double              largest = 0.;
      for (std::uint64_t i = 0; i < n; ++i)
        largest = std::max(largest, std::abs(dense(i, i)));
      const double tolerance = std::sqrt(epsilon);
      // A becomes P A P + s q q^T for one q after the other; these are
      // orthogonal. Each s is the mean of the diagonal entries weighted by q^2,
      // so that the term is not larger than the entries to which it is added.
      std::vector<double> image(n), transposed(n), factors;
      for (const std::vector<double> &q : null_vectors)
        {
          std::fill(image.begin(), image.end(), 0.);
          std::fill(transposed.begin(), transposed.end(), 0.);
          for (std::uint64_t j = 0; j < n; ++j)
            for (std::uint64_t i = 0; i < n; ++i)
              {
                image[i] += dense(i, j) * q[j];
                transposed[j] += dense(i, j) * q[i];
              }
          double product = 0., square = 0.;
          for (std::uint64_t i = 0; i < n; ++i)
            {
              product += q[i] * image[i];
              square += image[i] * image[i] + transposed[i] * transposed[i];
            }
          const double size = std::sqrt(square) / largest;
          AssertThrow(
            !(size > tolerance),
            ExcMessage("The constants of a component were declared to be in "
                       "the null space of the matrix, but on the coarsest "
                       "level of multigrid the matrix times the normalised "
                       "constant has the norm " +
                       std::to_string(size) +
                       ", relative to the largest diagonal entry: a Dirichlet, "
                       "Robin or inflow boundary, or a reaction term, fixes "
                       "the constant, so that it must not be declared."));
          double mean = 0.;
          for (std::uint64_t i = 0; i < n; ++i)
            mean += q[i] * q[i] * std::abs(dense(i, i));
          factors.push_back(mean > 0. ? mean : 1.);
          for (std::uint64_t j = 0; j < n; ++j)
            for (std::uint64_t i = 0; i < n; ++i)
              dense(i, j) += (product + factors.back()) * q[i] * q[j] -
                             image[i] * q[j] - q[i] * transposed[j];
        }
      invert_dense(dense, symmetric, epsilon);
      for (std::size_t v = 0; v < factors.size(); ++v)
        for (std::uint64_t j = 0; j < n; ++j)
          for (std::uint64_t i = 0; i < n; ++i)
            dense(i, j) -= null_vectors[v][i] * null_vectors[v][j] / factors[v];
    }



    template <typename MatrixType>
    void
    DenseInverse<MatrixType>::reinit(const MatrixType            &matrix,
                                     const bool                   symmetric,
                                     const MPI_Comm               comm,
                                     const NullVectors           &null_vectors,
                                     const std::function<void()> &meanwhile)
    {
      communicator                     = comm;
      n                                = matrix.m();
      n_owned                          = matrix.n_owned_rows();
      const std::vector<double> values = gather(matrix);
      const NullVectors         null   = gather(null_vectors);
      if (meanwhile)
        meanwhile();
      Tessella::on_all_processes(communicator, [&] {
        constexpr double epsilon = std::numeric_limits<Number>::epsilon();
        LAPACKFullMatrix<double> dense(n, n);
        for (std::uint64_t i = 0; i < n; ++i)
          for (std::uint64_t j = 0; j < n; ++j)
            dense(i, j) = values[i * n + j];
        if (null.empty())
          invert_dense(dense, symmetric, epsilon);
        else
          invert_dense(dense, symmetric, epsilon, null);
        const std::uint64_t first =
          counts.empty() ? 0 : places[internal::this_process(communicator)];
        const auto assign = [&](Array<Number> &array, const bool transpose) {
          std::vector<Number> rows(n_owned * n);
          for (std::uint64_t i = 0; i < n_owned; ++i)
            for (std::uint64_t j = 0; j < n; ++j)
              rows[i * n + j] =
                transpose ? dense(j, first + i) : dense(first + i, j);
          array.assign(rows);
        };
        assign(inverse, false);
        if (!symmetric)
          assign(transposed_inverse, true);
        if (!counts.empty())
          {
            gathered.resize(n);
            gathered_host.resize(n);
            own_host.resize(n_owned);
          }
      });
    }



    // The whole matrix in row-major order.
    template <typename MatrixType>
    std::vector<double>
    DenseInverse<MatrixType>::gather(const MatrixType &matrix)
    {
      const BlockSparsity       &sparsity  = matrix.block_sparsity();
      const auto                &offset    = matrix.dof_offset();
      const auto                &partition = matrix.partition();
      std::vector<std::uint64_t> column(offset.begin(), offset.end() - 1);
      if (partition != nullptr)
        {
          for (unsigned int k = 0; k < sparsity.row_width.size(); ++k)
            column[k] += partition->first_row();
          partition->update_ghosts(column);
        }
      std::vector<double> own, all;
      Tessella::on_all_processes(communicator, [&] {
        own = own_rows(matrix, column);
        if (partition != nullptr)
          all.resize(n * n);
      });
      counts.clear();
      places.clear();
      if (partition == nullptr)
        return own;
      const auto &first = partition->first_rows();
      for (unsigned int r = 0; r + 1 < first.size(); ++r)
        {
          places.push_back(first[r]);
          counts.push_back(first[r + 1] - first[r]);
        }
      // Whole rows are the unit of transfer, so that counts cannot overflow
      // int.
      MPI_Datatype row;
      int          ierr = MPI_Type_contiguous(n, MPI_DOUBLE, &row);
      AssertThrowMPI(ierr);
      ierr = MPI_Type_commit(&row);
      AssertThrowMPI(ierr);
      ierr = MPI_Allgatherv(own.data(),
                            n_owned,
                            row,
                            all.data(),
                            counts.data(),
                            places.data(),
                            row,
                            communicator);
      AssertThrowMPI(ierr);
      ierr = MPI_Type_free(&row);
      AssertThrowMPI(ierr);
      return all;
    }



    template <typename MatrixType>
    typename DenseInverse<MatrixType>::NullVectors
    DenseInverse<MatrixType>::gather(const NullVectors &own) const
    {
      NullVectors result = own;
      for (std::size_t i = 0; i < own.size(); ++i)
        {
          if (!counts.empty())
            {
              result[i].resize(n);
              const int ierr = MPI_Allgatherv(own[i].data(),
                                              n_owned,
                                              MPI_DOUBLE,
                                              result[i].data(),
                                              counts.data(),
                                              places.data(),
                                              MPI_DOUBLE,
                                              communicator);
              AssertThrowMPI(ierr);
            }
          double square = 0.;
          for (const double x : result[i])
            square += x * x;
          for (double &x : result[i])
            x /= std::sqrt(square);
        }
      return result;
    }



    // Rows of this process with all columns. @p column: first global column of
    // each block.
    template <typename MatrixType>
    std::vector<double>
    DenseInverse<MatrixType>::own_rows(
      const MatrixType &matrix, const std::vector<std::uint64_t> &column) const
    {
      const BlockSparsity &sparsity = matrix.block_sparsity();
      const auto          &offset   = matrix.dof_offset();
      std::vector<double>  own(n_owned * n, 0.);
      std::vector<Number>  values(matrix.n_nonzero_elements());
      SpaceType::call([&] {
        Blocks::download(values.size(), matrix.values(), values.data());
      });
      for (unsigned int k = 0; k < sparsity.row_width.size(); ++k)
        for (std::uint64_t b = sparsity.block_offset[k];
             b < sparsity.block_offset[k + 1];
             ++b)
          {
            const unsigned int l = sparsity.block_column[b];
            const Number *value  = values.data() + sparsity.value_offset[k] +
                                  sparsity.column_offset[b];
            for (std::uint64_t i = offset[k]; i < offset[k + 1];
                 ++i, value += sparsity.row_width[k])
              for (std::uint64_t j = 0; j < offset[l + 1] - offset[l]; ++j)
                own[i * n + column[l] + j] = value[j];
          }
      return own;
    }



    template <typename MatrixType>
    void
    DenseInverse<MatrixType>::vmult(const Number *b,
                                    Number       *x,
                                    const bool    transpose)
    {
      const Number *all = b;
      if (!counts.empty())
        {
          SpaceType::call(
            [&] { Blocks::download(own_host.size(), b, own_host.data()); });
          const MPI_Datatype type =
            std::is_same<Number, double>::value ? MPI_DOUBLE : MPI_FLOAT;
          const int ierr = MPI_Allgatherv(own_host.data(),
                                          own_host.size(),
                                          type,
                                          gathered_host.data(),
                                          counts.data(),
                                          places.data(),
                                          type,
                                          communicator);
          AssertThrowMPI(ierr);
          gathered.copy_from(gathered_host);
          all = gathered.data();
        }
      SpaceType::call([&] {
        Blocks::dense_product(n_owned,
                              n,
                              transpose ? transposed_inverse.data()
                                        : inverse.data(),
                              all,
                              x);
      });
    }



    template <typename MatrixType>
    std::size_t
    DenseInverse<MatrixType>::memory_consumption() const
    {
      return inverse.memory_consumption() +
             transposed_inverse.memory_consumption();
    }



    template class DenseInverse<HostBlockMatrix<double>>;
    template class DenseInverse<HostBlockMatrix<float>>;
    template class DenseInverse<DeviceBlockMatrix<double>>;
    template class DenseInverse<DeviceBlockMatrix<float>>;
  } // namespace internal
} // namespace Tessella
