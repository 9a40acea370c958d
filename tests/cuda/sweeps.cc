// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// LU-SGS, block ILU(0), GMRES and products of one matrix with several
// components on a device, and their times on tetrahedra with blocks of 20 rows.

#include <deal.II/base/timer.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>

#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/lusgs.h>
#include <tessella/lac/solver_fused_gmres.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "../lac/component_cases.h"
#include "checks.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  constexpr unsigned int dim = 3;

  /// Couplings of the tetrahedra of a cube, with blocks of @p sizes rows in
  /// turn.
  BlockSparsity
  tetrahedra(const unsigned int               n_subdivisions,
             const std::vector<unsigned int> &sizes,
             std::vector<std::uint64_t>      &offset)
  {
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                        n_subdivisions);
    const unsigned int n = triangulation.n_active_cells();
    offset.assign(1, 0);
    for (unsigned int k = 0; k < n; ++k)
      offset.push_back(offset.back() + sizes[k % sizes.size()]);
    BlockSparsity sparsity;
    sparsity.block_offset.assign(1, 0);
    sparsity.value_offset.assign(1, 0);
    for (const auto &cell : triangulation.active_cell_iterators())
      {
        const unsigned int        k = cell->active_cell_index();
        std::vector<unsigned int> columns{k};
        for (const unsigned int f : cell->face_indices())
          if (!cell->at_boundary(f))
            columns.push_back(cell->neighbor(f)->active_cell_index());
        std::sort(columns.begin(), columns.end());
        unsigned int width = 0;
        for (const unsigned int l : columns)
          {
            sparsity.block_column.push_back(l);
            sparsity.column_offset.push_back(width);
            width += offset[l + 1] - offset[l];
          }
        sparsity.block_offset.push_back(sparsity.block_column.size());
        sparsity.row_width.push_back(width);
        sparsity.value_offset.push_back(sparsity.value_offset.back() +
                                        (offset[k + 1] - offset[k]) * width);
      }
    return sparsity;
  }

  /// Number between -1 and 1.
  double
  some_number(const std::uint64_t i)
  {
    const std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
    return ((z ^ (z >> 29)) * 0xbf58476d1ce4e5b9ull >> 11) * 0x1p-52 - 1.;
  }

  /// Values of a matrix that is dominated by its diagonal.
  template <typename Number>
  std::vector<Number>
  values_of(const BlockSparsity              &sparsity,
            const std::vector<std::uint64_t> &offset)
  {
    std::vector<Number> values(sparsity.n_nonzero_elements());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<Number>(some_number(i));
    for (unsigned int k = 0; k < sparsity.row_width.size(); ++k)
      {
        const unsigned int  n = offset[k + 1] - offset[k];
        const std::uint64_t first =
          sparsity.value_offset[k] +
          sparsity.column_offset[sparsity.find_block(k, k)];
        for (unsigned int i = 0; i < n; ++i)
          values[first + i * std::uint64_t(sparsity.row_width[k] + 1)] +=
            Number(2. * n);
      }
    return values;
  }

  template <typename Number>
  std::vector<Number>
  some_values(const std::size_t n, const unsigned int seed)
  {
    std::vector<Number> result(n);
    for (std::size_t i = 0; i < n; ++i)
      result[i] = static_cast<Number>(some_number(i + 1000003ull * seed));
    return result;
  }

  template <typename Number>
  HostVector<Number>
  host_vector(const std::vector<Number> &values)
  {
    HostVector<Number> result(values.size());
    std::copy(values.begin(), values.end(), result.begin());
    return result;
  }

  template <typename Number>
  double
  difference(const HostVector<Number> &x, const DeviceVector<Number> &y)
  {
    std::vector<Number> values;
    y.copy_to(values);
    double result = values.size() == x.size() ? 0. : 1.;
    for (std::size_t i = 0; i < values.size(); ++i)
      {
        const double d = std::abs(double(values[i]) - double(x.begin()[i]));
        if (!(d <= result))
          result = d;
      }
    return result / x.linfty_norm();
  }

  /// Compares both preconditioners, in both orders, with those of the host.
  template <template <typename, typename> class Preconditioner,
            typename Number,
            typename Storage>
  void
  check_preconditioner(const std::string               &name,
                       const HostBlockMatrix<Number>   &host,
                       const DeviceBlockMatrix<Number> &device,
                       const unsigned int               max_sweeps)
  {
    const std::vector<Number> b      = some_values<Number>(host.m(), 1);
    const HostVector<Number>  b_host = host_vector(b);
    HostVector<Number>        x(b.size());
    DeviceVector<Number>      b_device, y(b.size());
    b_device.copy_from(b);
    const double bound = std::is_same<Storage, double>::value ? 1e-13 : 1e-5;
    for (const auto ordering :
         {SweepOrdering::colors, SweepOrdering::hyperplanes})
      for (unsigned int n_sweeps = 1; n_sweeps <= max_sweeps; ++n_sweeps)
        {
          SweepData data;
          data.ordering = ordering;
          data.n_sweeps = n_sweeps;
          Preconditioner<HostBlockMatrix<Number>, Storage>   on_host;
          Preconditioner<DeviceBlockMatrix<Number>, Storage> on_device;
          on_host.initialize(host, data);
          on_device.initialize(device, data);
          const std::string which =
            name +
            (ordering == SweepOrdering::colors ? ", colours"
                                               : ", hyperplanes") +
            ", " + std::to_string(n_sweeps) + " sweeps";
          on_host.vmult(x, b_host);
          on_device.vmult(y, b_device);
          double d = difference(x, y);
          verify(which, d <= bound, std::to_string(d));
          on_host.Tvmult(x, b_host);
          on_device.Tvmult(y, b_device);
          d = difference(x, y);
          verify(which + ", transpose", d <= bound, std::to_string(d));
        }
  }

  template <typename Number, typename Storage>
  void
  check_matrix(const std::string &name, const std::vector<unsigned int> &sizes)
  {
    std::vector<std::uint64_t> offset;
    const BlockSparsity        sparsity = tetrahedra(3, sizes, offset);
    const std::vector<Number>  values   = values_of<Number>(sparsity, offset);
    HostBlockMatrix<Number>    host;
    DeviceBlockMatrix<Number>  device;
    host.reinit(sparsity, offset);
    host.copy_from(values);
    device.reinit(sparsity, offset);
    device.copy_from(values);
    check_preconditioner<LUSGS, Number, Storage>(name + ", LU-SGS",
                                                 host,
                                                 device,
                                                 2);
    check_preconditioner<BlockILU0, Number, Storage>(name + ", ILU(0)",
                                                     host,
                                                     device,
                                                     1);
  }

  /// D^{-1} b for a matrix with diagonal blocks of @p sizes rows, without
  /// dominance, so that elimination needs pivots.
  template <typename Number>
  std::vector<Number>
  check_inverses(const std::string               &name,
                 const std::vector<unsigned int> &sizes,
                 std::vector<Number>              values,
                 const std::vector<Number>       &b)
  {
    BlockSparsity              sparsity;
    std::vector<std::uint64_t> offset(1, 0);
    sparsity.block_offset.assign(1, 0);
    sparsity.value_offset.assign(1, 0);
    for (unsigned int k = 0; k < sizes.size(); ++k)
      {
        offset.push_back(offset.back() + sizes[k]);
        sparsity.block_column.push_back(k);
        sparsity.column_offset.push_back(0);
        sparsity.block_offset.push_back(k + 1);
        sparsity.row_width.push_back(sizes[k]);
        sparsity.value_offset.push_back(sparsity.value_offset.back() +
                                        sizes[k] * sizes[k]);
      }
    values.resize(sparsity.value_offset.back());
    HostBlockMatrix<Number>   host;
    DeviceBlockMatrix<Number> device;
    host.reinit(sparsity, offset);
    host.copy_from(values);
    device.reinit(sparsity, offset);
    device.copy_from(values);
    BlockJacobi<HostBlockMatrix<Number>>   on_host;
    BlockJacobi<DeviceBlockMatrix<Number>> on_device;
    on_device.initialize(device);
    on_host.initialize(host);
    const std::vector<Number> right(b.begin(), b.begin() + offset.back());
    const HostVector<Number>  b_host = host_vector(right);
    HostVector<Number>        x(right.size());
    DeviceVector<Number>      b_device, y(right.size());
    b_device.copy_from(right);
    const double bound = std::is_same<Number, double>::value ? 1e-10 : 1e-3;
    for (const bool transpose : {false, true})
      {
        if (transpose)
          {
            on_host.Tvmult(x, b_host);
            on_device.Tvmult(y, b_device);
          }
        else
          {
            on_host.vmult(x, b_host);
            on_device.vmult(y, b_device);
          }
        const double d = difference(x, y);
        verify(name + (transpose ? ", transpose" : ""),
               d <= bound,
               std::to_string(d));
      }
    std::vector<Number> result;
    y.copy_to(result);
    return result;
  }

  /// Inverses by one warp for each block against those of the host and of the
  /// kernel for large blocks, which a block of 33 rows at the end selects.
  template <typename Number>
  void
  check_inverses(const std::string &name)
  {
    for (const unsigned int largest : {1, 4, 8, 12, 15, 20, 24, 28, 32})
      {
        std::vector<unsigned int> sizes;
        for (unsigned int repetition = 0; repetition < 5; ++repetition)
          for (unsigned int n = largest; n > 0 && n + 5 > largest; --n)
            sizes.push_back(n);
        std::vector<Number> values =
          some_values<Number>(40 * 1024 * sizes.size(), largest);
        // Zeros on the diagonal of the first block need exchanges of rows.
        for (unsigned int i = 0; i < largest && largest > 1; ++i)
          values[i * (largest + 1)] = 0;
        const std::vector<Number> b = some_values<Number>(sizes.size() * 40, 7);
        const std::string         which =
          name + ", inverses of " + std::to_string(largest) + " rows";
        const auto small = check_inverses(which, sizes, values, b);
        sizes.push_back(33);
        const auto large = check_inverses(which + " and 33", sizes, values, b);
        double     d = 0., norm = 0.;
        for (std::size_t i = 0; i < small.size(); ++i)
          {
            d    = std::max(d, std::abs(double(small[i]) - double(large[i])));
            norm = std::max(norm, std::abs(double(small[i])));
          }
        verify(which + ", both kernels",
               d <= (std::is_same<Number, double>::value ? 1e-11 : 1e-6) * norm,
               std::to_string(d / norm));
      }
  }

  /// The device names the first singular block.
  void
  check_singular_blocks()
  {
    for (const unsigned int n : {3, 20, 32})
      {
        std::vector<double> values = some_values<double>(16 * n * n, n);
        // Two equal rows; NaN.
        std::copy_n(values.begin() + 6 * n * n,
                    n,
                    values.begin() + 6 * n * n + n);
        values[9 * n * n + 1]     = std::nan("");
        const std::string message = message_of([&] {
          check_inverses("singular",
                         std::vector<unsigned int>(16, n),
                         values,
                         some_values<double>(16 * n, 1));
        });
        verify("singular block of " + std::to_string(n) + " rows",
               contains(message, "block row 6 "),
               message);
      }
  }

  /// Several products at once have the bits of single ones.
  template <typename Number>
  void
  check_products(const std::string &name, const std::size_t n)
  {
    const unsigned int                        n_vectors = 37;
    std::vector<HostVector<Number>>           V(n_vectors);
    std::vector<DeviceVector<Number>>         W(n_vectors);
    std::vector<const HostVector<Number> *>   host;
    std::vector<const DeviceVector<Number> *> device;
    std::vector<double>                       factors;
    for (unsigned int i = 0; i < n_vectors; ++i)
      {
        std::vector<Number> values = some_values<Number>(n, i);
        // Some vectors have terms of very different magnitude.
        if (i % 5 == 3)
          for (std::size_t j = 0; j < n; ++j)
            values[j] =
              std::ldexp(values[j], int(20 * some_number(j % 1009 + i)));
        V[i] = host_vector(values);
        W[i].copy_from(values);
        host.push_back(&V[i]);
        device.push_back(&W[i]);
        factors.push_back(some_number(i));
      }
    std::vector<double> sums(n_vectors), other(n_vectors);
    Tessella::internal::MultiVector<HostVector<Number>>::dot(host,
                                                             V[2],
                                                             sums.data());
    Tessella::internal::MultiVector<DeviceVector<Number>>::dot(device,
                                                               W[2],
                                                               other.data());
    bool same = true;
    for (unsigned int i = 0; i < n_vectors; ++i)
      same = same && sums[i] == other[i] && Number(sums[i]) == V[i] * V[2];
    verify(name + ", products", same);
    HostVector<Number>   x(V[0]);
    DeviceVector<Number> y(W[0]);
    Tessella::internal::MultiVector<HostVector<Number>>::add(host,
                                                             factors.data(),
                                                             x);
    Tessella::internal::MultiVector<DeviceVector<Number>>::add(device,
                                                               factors.data(),
                                                               y);
    const double d = difference(x, y);
    verify(name + ", sum",
           d <= (std::is_same<Number, double>::value ? 1e-14 : 1e-6),
           std::to_string(d));
    // Products that stay on the device have the bits of those on the host.
    for (const unsigned int m : {0u, 1u, 31u, 32u, n_vectors})
      {
        const std::vector<const DeviceVector<Number> *> some(device.begin(),
                                                             device.begin() +
                                                               m);
        std::vector<double>  on_device(m + 1), on_host(m + 1);
        DeviceVector<Number> u(W[3]), v(W[3]);
        // Factors of order one keep the vectors finite.
        for (DeviceVector<Number> *vector : {&u, &v})
          *vector *= Number(std::ldexp(1., -30));
        Tessella::internal::MultiVector<DeviceVector<Number>>::project_out(
          some, u, on_device.data());
        Tessella::internal::project_out(some, v, on_host.data());
        std::vector<Number> first, second;
        u.copy_to(first);
        v.copy_to(second);
        verify(name + ", projection on " + std::to_string(m),
               std::memcmp(first.data(), second.data(), n * sizeof(Number)) ==
                   0 &&
                 std::memcmp(on_device.data(),
                             on_host.data(),
                             on_host.size() * sizeof(double)) == 0);
      }
  }

  /// The products of a projection do not change the memory around their
  /// results. These are allocated anew in a new thread, in one of the gaps
  /// between small vectors.
  void
  check_projection_memory()
  {
    using Vector = DeviceVector<double>;
    for (const unsigned int m : {4, 8, 9, 20, 41})
      {
        // cudaMalloc() returns multiples of 512 bytes; a result has 48 bytes.
        const unsigned int size  = ((m + 1) * 48 + 511) / 512 * 64;
        bool               equal = true;
        std::thread([&] {
          Vector                      w(size);
          std::vector<Vector>         V(m, w);
          std::vector<const Vector *> list;
          for (unsigned int i = 0; i < m; ++i)
            {
              V[i].copy_from(some_values<double>(size, i));
              list.push_back(&V[i]);
            }
          w.copy_from(some_values<double>(size, m));
          std::vector<std::unique_ptr<Vector>> around(64);
          for (auto &vector : around)
            {
              vector  = std::make_unique<Vector>(size);
              *vector = 1.;
            }
          for (unsigned int i = 1; i < around.size(); i += 2)
            around[i].reset();
          std::vector<double> products(m + 1);
          Tessella::internal::MultiVector<Vector>::project_out(list,
                                                               w,
                                                               products.data());
          for (const auto &vector : around)
            if (vector != nullptr)
              {
                vector->add(-1.);
                equal = equal && vector->l2_norm() == 0.;
              }
        }).join();
        verify("memory around a projection on " + std::to_string(m), equal);
      }
  }

  void
  check_gmres()
  {
    std::vector<std::uint64_t> offset;
    const BlockSparsity        sparsity = tetrahedra(4, {8}, offset);
    const auto                 values   = values_of<double>(sparsity, offset);
    HostBlockMatrix<double>    host;
    DeviceBlockMatrix<double>  device;
    host.reinit(sparsity, offset);
    host.copy_from(values);
    device.reinit(sparsity, offset);
    device.copy_from(values);
    LUSGS<HostBlockMatrix<double>>          on_host;
    LUSGS<DeviceBlockMatrix<double>, float> on_device;
    on_host.initialize(host);
    on_device.initialize(device);
    const std::vector<double> b      = some_values<double>(host.m(), 1);
    const HostVector<double>  b_host = host_vector(b);
    HostVector<double>        x(b.size());
    DeviceVector<double>      b_device, y(b.size());
    b_device.copy_from(b);
    SolverControl control(100, 1e-11 * b_host.l2_norm(), false, false),
      other(100, 1e-11 * b_host.l2_norm(), false, false);
    SolverFusedGMRES<HostVector<double>>(control).solve(host,
                                                        x,
                                                        b_host,
                                                        on_host);
    SolverFusedGMRES<DeviceVector<double>>(other).solve(device,
                                                        y,
                                                        b_device,
                                                        on_device);
    verify("GMRES, iterations",
           std::abs(int(control.last_step()) - int(other.last_step())) <= 1);
    const double d = difference(x, y);
    verify("GMRES, solution", d <= 1e-9, std::to_string(d));
  }

  /// Least time of a call in seconds.
  template <typename Number, typename Function>
  double
  seconds(const DeviceVector<Number> &x, const Function &function)
  {
    double least = 1e9;
    for (unsigned int r = 0; r < 6; ++r)
      {
        x.linfty_norm();
        const Timer timer;
        for (unsigned int i = 0; i < 5; ++i)
          function();
        x.linfty_norm();
        least = std::min(least, timer.wall_time() / 5);
      }
    return least;
  }

  void
  print_time(const std::string &name,
             const double       time,
             const double       n_cells,
             const double       bytes)
  {
    std::cout << name << ": " << time * 1e9 / n_cells << " ns, "
              << bytes / n_cells << " bytes a tetrahedron, "
              << bytes / time * 1e-12 << " TB/s" << std::endl;
  }

  template <typename Preconditioner, typename MatrixType>
  void
  measure_preconditioner(const std::string &name,
                         const MatrixType  &matrix,
                         const std::size_t  size)
  {
    using Number = typename MatrixType::value_type;
    const double n_cells =
      static_cast<double>(matrix.block_sparsity().row_width.size());
    DeviceVector<Number> b, y(matrix.m());
    b.copy_from(some_values<Number>(matrix.m(), 1));
    for (const auto ordering :
         {SweepOrdering::colors, SweepOrdering::hyperplanes})
      {
        SweepData data;
        data.ordering = ordering;
        Preconditioner preconditioner;
        Timer          timer;
        preconditioner.initialize(matrix, data);
        y.linfty_norm();
        const double setup = timer.wall_time();
        const double time  = seconds(y, [&] { preconditioner.vmult(y, b); });
        // Blocks once, D^{-1} twice; r, rest and x are read and written.
        const double bytes =
          (matrix.n_nonzero_elements() + 400. * n_cells) * size +
          6. * matrix.m() * sizeof(Number);
        print_time(name +
                     (ordering == SweepOrdering::colors ? ", colours"
                                                        : ", hyperplanes") +
                     " (" + std::to_string(preconditioner.n_steps()) +
                     " steps, " + "set-up " + std::to_string(int(setup * 1e3)) +
                     " ms)",
                   time,
                   n_cells,
                   bytes);
      }
  }

  /// Vector on the device for ComponentCases.
  template <typename Number>
  class TestVector
  {
  public:
    explicit TestVector(const std::vector<Number> &values)
    {
      data.copy_from(values);
    }
    DeviceVector<Number> &
    vector()
    {
      return data;
    }
    const DeviceVector<Number> &
    vector() const
    {
      return data;
    }
    std::vector<Number>
    entries() const
    {
      std::vector<Number> result;
      data.copy_to(result);
      return result;
    }

  private:
    DeviceVector<Number> data;
  };

  /// Times of products of one matrix with three components, which share its
  /// values or have their own, and of diagonal blocks in the same way.
  template <typename Number>
  void
  measure_components(const std::string               &name,
                     const DeviceBlockMatrix<Number> &one)
  {
    std::vector<Number> values, all_values;
    one.copy_to(values);
    const auto  &first   = one.block_sparsity().value_offset;
    const double n_cells = static_cast<double>(first.size()) - 1.;
    for (const bool shared : {false, true})
      {
        const ComponentRows rows(one.block_sparsity(),
                                 one.dof_offset(),
                                 dim,
                                 shared);
        all_values.clear();
        for (unsigned int k = 0; k + 1 < first.size(); ++k)
          for (unsigned int c = 0; c < (shared ? 1 : dim); ++c)
            all_values.insert(all_values.end(),
                              values.begin() + first[k],
                              values.begin() + first[k + 1]);
        DeviceBlockMatrix<Number> matrix;
        matrix.reinit(rows.sparsity, rows.dof_offset);
        matrix.copy_from(all_values);
        DeviceVector<Number> x, y(matrix.m());
        x.copy_from(some_values<Number>(matrix.m(), 2));
        const std::string of_what =
          std::string(shared ? "one matrix" : "own values") +
          " of three components, " + name;
        print_time("product, " + of_what,
                   seconds(y, [&] { matrix.vmult(y, x); }),
                   n_cells,
                   matrix.vmult_bytes());
        BlockJacobi<DeviceBlockMatrix<Number>> diagonal;
        diagonal.initialize(matrix);
        print_time("inverses, " + of_what,
                   seconds(y, [&] { diagonal.vmult(y, x); }),
                   n_cells,
                   (400. * (shared ? 1 : dim) * n_cells + 2. * matrix.m()) *
                     sizeof(Number));
      }
  }

  template <typename Number>
  void
  measure(const std::string &name)
  {
    std::vector<std::uint64_t> offset;
    const BlockSparsity        sparsity = tetrahedra(34, {20}, offset);
    DeviceBlockMatrix<Number>  matrix;
    matrix.reinit(sparsity, offset);
    matrix.copy_from(values_of<Number>(sparsity, offset));
    const double n_cells = static_cast<double>(sparsity.row_width.size());
    DeviceVector<Number>                   x, y(matrix.m());
    BlockJacobi<DeviceBlockMatrix<Number>> diagonal;
    print_time("inverses of diagonal blocks, " + name,
               seconds(y, [&] { diagonal.initialize(matrix); }),
               n_cells,
               800. * n_cells * sizeof(Number));
    if (std::is_same<Number, double>::value)
      {
        std::cout << n_cells << " tetrahedra" << std::endl;
        measure_preconditioner<LUSGS<DeviceBlockMatrix<Number>, float>>(
          "LU-SGS, double stored in float", matrix, sizeof(float));
      }
    measure_preconditioner<LUSGS<DeviceBlockMatrix<Number>>>("LU-SGS, " + name,
                                                             matrix,
                                                             sizeof(Number));
    measure_preconditioner<BlockILU0<DeviceBlockMatrix<Number>>>(
      "ILU(0), " + name, matrix, sizeof(Number));
    x.copy_from(some_values<Number>(matrix.m(), 2));
    print_time("product, " + name,
               seconds(y, [&] { matrix.vmult(y, x); }),
               n_cells,
               matrix.vmult_bytes());
    measure_components(name, matrix);
    const unsigned int                        n_vectors = 20;
    std::vector<DeviceVector<Number>>         V(n_vectors, x);
    std::vector<const DeviceVector<Number> *> list;
    for (const auto &v : V)
      list.push_back(&v);
    std::vector<double> sums(n_vectors), factors(n_vectors, 1e-3);
    const double        bytes = (n_vectors + 1.) * matrix.m() * sizeof(Number);
    using Operations = Tessella::internal::MultiVector<DeviceVector<Number>>;
    print_time("20 products of vectors, " + name,
               seconds(y, [&] { Operations::dot(list, y, sums.data()); }),
               n_cells,
               bytes);
    std::vector<double> projections(n_vectors + 1);
    print_time(
      "projection on 20 vectors, " + name,
      seconds(y, [&] { Operations::project_out(list, y, projections.data()); }),
      n_cells,
      2. * bytes);
    print_time("projection on 20 vectors, products on the host, " + name,
               seconds(y,
                       [&] {
                         Tessella::internal::project_out(list,
                                                         y,
                                                         projections.data());
                       }),
               n_cells,
               2. * bytes);
    print_time("sum of 20 vectors, " + name,
               seconds(y, [&] { Operations::add(list, factors.data(), y); }),
               n_cells,
               bytes + matrix.m() * sizeof(Number));
  }
} // namespace



int
main(int argc, char **argv)
{
  return run_case(argc, argv, [](const std::string &name) {
    if (name == "unavailable")
      {
        verify("message",
               contains(message_of([] { DeviceVector<double> x(3); }), "CUDA"));
        return;
      }
    if (name == "checks")
      {
        check_matrix<double, double>("double, 20", {20});
        check_matrix<double, double>("double, 3 to 40", {3, 10, 17, 40});
        check_matrix<double, float>("double stored in float", {4, 8, 1});
        check_matrix<float, float>("float, 4", {4, 2});
        check_matrix<float, float>("float, 12", {12});
        check_matrix<float, float>("float, 10", {10, 16});
        check_matrix<float, float>("float, 12 to 36", {20, 36, 12});
        check_matrix<float, float>("float, 10 to 50", {10, 50});
        check_matrix<double, float>("double stored in float, 20", {20});
        check_matrix<double, float>("double stored in float, 14", {14, 6});
        check_matrix<double, float>("double stored in float, 6 to 70", {6, 70});
        check_inverses<double>("double");
        check_inverses<float>("float");
        check_singular_blocks();
        for (const std::size_t n : {1, 1000, 300007})
          {
            check_products<double>("double, " + std::to_string(n), n);
            check_products<float>("float, " + std::to_string(n), n);
          }
        check_projection_memory();
        check_gmres();
        const auto report = [](const std::string &what, const bool right) {
          verify(what, right);
        };
        ComponentCases::check_all<DeviceBlockMatrix<double>,
                                  TestVector<double>>("double", true, report);
        ComponentCases::check_all<DeviceBlockMatrix<float>, TestVector<float>>(
          "float", true, report);
        return;
      }
    measure<double>("double");
    measure<float>("float");
    verify("measured", true);
  });
}
