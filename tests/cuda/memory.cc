// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Memory and errors of the CUDA backend. Argument: messages (of errors, parts
// of meshes and the size of Epetra matrices; needs no device) or memory (limits
// of device memory have no effect on the bits, too low a limit is an error, and
// the process continues; lists that are sent while the device's copy engine is
// busy, see copies.cu). Returns 77 if the case cannot run on this machine, 1 if
// a check fails.

#include <tessella/base/config.h>
#include <tessella/lac/block_sparsity.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <string>

#include "../../cuda/device/device.h"
#include "../../cuda/device/device_share.h"
#include "../../cuda/device/pieces.h"
#include "../../source/backends/mesh_part.h"
#include "../assembly/assembler_data.h"
#include "../assembly/compare.h"
#include "checks.h"
#include "copies.h"

namespace
{
  void
  verify_contains(const std::string &text, const std::string &part)
  {
    verify(part, contains(text, part), text);
  }



  void
  check_sentences()
  {
#ifdef TESSELLA_HAVE_CUDA
    using namespace Tessella::internal::Device;
    verify("7.5", describe_availability(0, 13000, 13000, 7, 5).empty());
    verify("9.0", describe_availability(0, 13000, 12000, 9, 0).empty());
    const std::string old_card = describe_availability(0, 13000, 12000, 7, 0);
    verify_contains(old_card, "compute capability 7.0");
    verify_contains(old_card, "7.5 or newer");
    verify_contains(describe_availability(35, 0, 13000, 0, 0),
                    "no CUDA driver");
    const std::string old_driver =
      describe_availability(35, 11040, 13000, 0, 0);
    verify_contains(old_driver, "serves CUDA 11.4");
    verify_contains(old_driver, "built with CUDA 13.0");
    verify_contains(describe_availability(100, 13000, 13000, 0, 0),
                    "no device");
    verify_contains(describe_error(2, "this problem"), "not enough memory");
    verify_contains(
      describe_allocation(4096, 1024, false),
      "1024 bytes free, not enough memory for an array of 4096 bytes");
    verify_contains(describe_allocation(4096, 1024, true),
                    "a pinned buffer of 4096 bytes");
    verify_contains(describe_error(35, "the start"), "Update the driver");
    verify_contains(describe_error(209, "the start"),
                    "CMAKE_CUDA_ARCHITECTURES");
    verify_contains(describe_error(700, "the assembly"), "the assembly");
#endif
    verify("availability",
           Tessella::why_cuda_is_unavailable().empty() ==
             Tessella::cuda_is_available());
  }



  /// Processes that share one device.
  void
  check_shares()
  {
    using Tessella::internal::Device::memory_share;
    constexpr std::size_t mb = std::size_t(1) << 20;
    verify("share of 80 GB", memory_share(80000 * mb, 2) == (40000 - 512) * mb);
    verify("share of 1 GB", memory_share(1024 * mb, 4) == 224 * mb);
    verify("share of nothing", memory_share(0, 3) == 0);
    for (unsigned int n = 1; n < 9; ++n)
      for (const std::size_t bytes : {mb, 3000 * mb, 140000 * mb})
        verify("shares of " + std::to_string(n),
               n * memory_share(bytes, n) < bytes &&
                 8 * memory_share(bytes, n) >= 7 * (bytes / n));
  }



  /// Pieces of the copy to the host.
  void
  check_pieces()
  {
    using Tessella::internal::Device::piece_size;
    verify("much left", piece_size(std::size_t(1) << 40, 4096, 8) == 4096);
    verify("part of the rest", piece_size(8 * 1000, 4096, 8) == 1024);
    verify("smallest piece", piece_size(1000, 4096, 8) == 512);
    verify("last piece", piece_size(100, 4096, 8) == 100);
    for (std::size_t rest = 1000003, n = 0; rest > 0; ++n)
      {
        const std::size_t bytes = piece_size(rest, 1 << 16, 8);
        verify("piece " + std::to_string(n),
               bytes > 0 && bytes <= rest && bytes <= (1 << 16) &&
                 (bytes % 256 == 0 || bytes == rest) && n < 60);
        rest -= bytes;
      }
  }



  /// Epetra counts entries with 32 bits.
  void
  check_epetra_limit()
  {
    Tessella::BlockSparsity sparsity;
    sparsity.block_offset  = {0, 1};
    sparsity.block_column  = {0};
    sparsity.column_offset = {0};
    const std::uint64_t n  = 46341; // its square exceeds 2^31 - 1
    sparsity.row_width     = {static_cast<unsigned int>(n)};
    sparsity.value_offset  = {0, n * n};
    TrilinosWrappers::SparseMatrix matrix;
    verify_contains(message_of([&]() {
                      Tessella::TrilinosBlockMatrix::reinit(matrix,
                                                            sparsity,
                                                            {0, n},
                                                            MPI_COMM_SELF);
                    }),
                    "at most 2147483647 entries");
  }



  /// Checks that every polytope of a part has the same data as in the whole
  /// mesh.
  template <int dim>
  bool
  is_part(const Tessella::PolytopicMesh<dim>      &whole,
          const Tessella::PolytopicDoFs           &whole_space,
          const Tessella::BlockSparsity           &blocks,
          const Tessella::internal::MeshPart<dim> &part)
  {
    const auto &mesh = part.mesh;
    bool good = std::is_sorted(part.polytope.begin(), part.polytope.end()) &&
                part.polytope.size() == mesh.n_polytopes();
    for (unsigned int l = 0; l < mesh.n_polytopes(); ++l)
      {
        const unsigned int k   = part.polytope[l];
        const bool         own = k >= part.begin && k < part.end;
        good = good && part.dofs.degree[l] == whole_space.degree[k] &&
               part.dofs.n_basis[l] == whole_space.n_basis[k] &&
               std::equal(&mesh.box[2 * dim * l],
                          &mesh.box[2 * dim * l] + 2 * dim,
                          &whole.box[2 * dim * k]);
        const unsigned int n_subcells =
          mesh.subcell_offset[l + 1] - mesh.subcell_offset[l];
        const std::uint64_t n_values =
          part.sparsity.value_offset[l + 1] - part.sparsity.value_offset[l];
        if (!own)
          {
            good = good && n_subcells == 0 && n_values == 0 &&
                   mesh.polytope_interface_offset[l] ==
                     mesh.polytope_interface_offset[l + 1];
            continue;
          }
        good =
          good && l == part.first + (k - part.begin) &&
          n_subcells == whole.subcell_offset[k + 1] - whole.subcell_offset[k] &&
          n_values == blocks.value_offset[k + 1] - blocks.value_offset[k] &&
          part.sparsity.row_width[l] == blocks.row_width[k];
        for (unsigned int s = 0; good && s < n_subcells; ++s)
          {
            const unsigned int a = mesh.subcell_offset[l] + s,
                               b = whole.subcell_offset[k] + s;
            const unsigned int n =
              mesh.subcell_vertex_offset[a + 1] - mesh.subcell_vertex_offset[a];
            good =
              mesh.subcell_type[a] == whole.subcell_type[b] &&
              std::equal(
                &mesh.subcell_vertices[dim * mesh.subcell_vertex_offset[a]],
                &mesh.subcell_vertices[dim * mesh.subcell_vertex_offset[a]] +
                  dim * n,
                &whole.subcell_vertices[dim * whole.subcell_vertex_offset[b]]);
            if (!whole.subcell_point_offset.empty())
              good = good && mesh.subcell_point_offset[a + 1] -
                                 mesh.subcell_point_offset[a] ==
                               whole.subcell_point_offset[b + 1] -
                                 whole.subcell_point_offset[b];
          }
        for (std::uint64_t b = 0;
             good && b < blocks.block_offset[k + 1] - blocks.block_offset[k];
             ++b)
          {
            const std::uint64_t i = part.sparsity.block_offset[l] + b,
                                j = blocks.block_offset[k] + b;
            good = part.polytope[part.sparsity.block_column[i]] ==
                     blocks.block_column[j] &&
                   part.sparsity.column_offset[i] == blocks.column_offset[j];
          }
        for (unsigned int e = 0;
             good && e < whole.polytope_interface_offset[k + 1] -
                           whole.polytope_interface_offset[k];
             ++e)
          {
            const unsigned int
              a =
                mesh.polytope_interface[mesh.polytope_interface_offset[l] + e],
              b = whole
                    .polytope_interface[whole.polytope_interface_offset[k] + e];
            const unsigned int i = a / 2, j = b / 2;
            good = a % 2 == b % 2 &&
                   (mesh.neighbor(a) == Tessella::invalid_index
                      ? whole.neighbor(b) == Tessella::invalid_index
                      : part.polytope[mesh.neighbor(a)] == whole.neighbor(b)) &&
                   mesh.interface_shift[i] == whole.interface_shift[j] &&
                   mesh.facet_offset[i + 1] - mesh.facet_offset[i] ==
                     whole.facet_offset[j + 1] - whole.facet_offset[j];
            for (unsigned int f = mesh.facet_offset[i];
                 good && f < mesh.facet_offset[i + 1];
                 ++f)
              {
                const unsigned int g =
                  whole.facet_offset[j] + (f - mesh.facet_offset[i]);
                const unsigned int n =
                  mesh.facet_vertex_offset[f + 1] - mesh.facet_vertex_offset[f];
                good =
                  part.facet[f] == g &&
                  mesh.facet_type[f] == whole.facet_type[g] &&
                  mesh.facet_measure[f] == whole.facet_measure[g] &&
                  std::equal(
                    &mesh.facet_vertices[dim * mesh.facet_vertex_offset[f]],
                    &mesh.facet_vertices[dim * mesh.facet_vertex_offset[f]] +
                      dim * n,
                    &whole.facet_vertices[dim * whole.facet_vertex_offset[g]]);
              }
          }
      }
    return good;
  }



  template <int dim>
  void
  check_parts()
  {
    for (const std::string name :
         {"distorted", "simplices", "hanging periodic", "curved"})
      {
        Triangulation<dim> triangulation;
        make_mesh(name, triangulation);
        Tessella::AgglomerationHandler<dim> handler(triangulation,
                                                    mapping_for<dim, 3>(name));
        handler.agglomerate(make_strategy<dim>("steps"));
        handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(2));
        handler.tabulate(0);
        const auto &mesh     = handler.polytopic_mesh();
        const auto &dofs     = handler.polytopic_dofs();
        const auto  blocks   = Tessella::BlockSparsity::from_mesh(mesh, dofs);
        const unsigned int n = mesh.n_polytopes();
        for (const unsigned int size : {1u, 2u, n / 2 + 1, n})
          for (unsigned int begin = 0; begin < n; begin += size)
            verify(
              "parts of " + name,
              is_part(mesh,
                      dofs,
                      blocks,
                      Tessella::internal::MeshPart<dim>(
                        mesh, dofs, blocks, begin, std::min(begin + size, n))),
              std::to_string(begin));
      }
  }



  struct Result
  {
    TrilinosWrappers::SparseMatrix matrix;
    TrilinosWrappers::MPI::Vector  rhs;
    unsigned int                   n_parts = 0;

    bool
    operator==(Result &other)
    {
      const std::size_t n = matrix.n_nonzero_elements(), n_rows = rhs.size();
      return n == other.matrix.n_nonzero_elements() &&
             std::memcmp(matrix.trilinos_matrix()[0],
                         other.matrix.trilinos_matrix()[0],
                         n * sizeof(double)) == 0 &&
             std::memcmp(rhs.trilinos_vector()[0],
                         other.rhs.trilinos_vector()[0],
                         n_rows * sizeof(double)) == 0;
    }
  };

  /// Compression of the quadrature in all assemblies of this test.
  auto compression = Tessella::QuadratureCompression::never;

  template <int dim>
  std::unique_ptr<Result>
  assemble(const Tessella::AgglomerationHandler<dim> &handler,
           const Tessella::Form<dim>                 &form,
           const Tessella::Backend                    backend,
           const std::size_t                          memory)
  {
    auto data        = on<dim>(backend, memory);
    data.compression = compression;
    Tessella::PolytopicAssembler<dim> assembler(handler, data);
    auto                              result = std::make_unique<Result>();
    assembler.reinit(result->matrix, result->rhs);
    // twice, the second time with the stored data of the first
    for (unsigned int i = 0; i < 2; ++i)
      {
        result->rhs = 1e300;
        assembler.assemble(form, result->matrix, result->rhs);
      }
    result->n_parts = assembler.report().n_parts;
    if (memory > 0)
      verify("memory used", assembler.report().device_memory <= memory);
    return result;
  }



  template <int dim>
  void
  check_limits(const std::string                         &name,
               const Tessella::AgglomerationHandler<dim> &handler,
               const Tessella::Form<dim>                 &form)
  {
    using Tessella::Backend;
    const auto whole = assemble(handler, form, Backend::cuda, 0);
    verify(name + ", all memory", whole->n_parts == 1);
    unsigned int n_errors = 0, most_parts = 0;
    for (std::size_t bytes = std::size_t(64) << 20; bytes >= 1024; bytes /= 2)
      {
        std::string message = message_of([&]() {
          const auto limited = assemble(handler, form, Backend::cuda, bytes);
          verify(name + ", " + std::to_string(bytes) + " bytes",
                 *limited == *whole,
                 std::to_string(limited->n_parts) + " parts");
          most_parts = std::max(most_parts, limited->n_parts);
        });
        if (message == "no exception")
          verify(name + ", errors", n_errors == 0);
        else
          {
            ++n_errors;
            verify_contains(message, "device memory");
          }
      }
    verify(name + ", parts",
           most_parts > handler.n_polytopes() / 32,
           std::to_string(most_parts));
    verify(name + ", too little memory", n_errors > 0);

    // The process continues on the host and on the device.
    const auto host  = assemble(handler, form, Backend::host, 0);
    const auto again = assemble(handler, form, Backend::cuda, 0);
    verify(name + ", again", *again == *whole);
    const double norm = whole->matrix.frobenius_norm();
    host->matrix.add(-1., whole->matrix);
    verify(name + ", host", host->matrix.frobenius_norm() < 1e-11 * norm);
  }



#ifdef TESSELLA_HAVE_CUDA
  /// Other allocations have exhausted the device memory.
  void
  check_full_device()
  {
    Triangulation<2> triangulation;
    make_mesh("box", triangulation);
    Tessella::AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(make_strategy<2>("none"));
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(1));
    const auto form = make_form(full_problem<2>(), Give::constants, 0);
    Tessella::PolytopicAssembler<2>::AdditionalData data;
    data.backend = Tessella::Backend::cuda;
    Tessella::PolytopicAssembler<2> assembler(handler, data);
    Result                          first, second;
    assembler.reinit(first.matrix, first.rhs);
    assembler.reinit(second.matrix, second.rhs);
    {
      const std::size_t free = Tessella::internal::Device::device_memory().free;
      // A vector's size has 32 bits, so several are needed.
      std::vector<std::unique_ptr<Tessella::DeviceVector<double>>> others;
      constexpr std::size_t largest = std::size_t(1) << 30;
      for (std::size_t n = (free - (std::size_t(100) << 20)) / sizeof(double);
           n > 0;
           n -= std::min(n, largest))
        others.push_back(std::make_unique<Tessella::DeviceVector<double>>(
          std::min(n, largest)));
      verify_contains(message_of([&]() {
                        assembler.assemble(form, first.matrix, first.rhs);
                      }),
                      "free there");
      // There is not enough memory for such a large vector.
      verify("large vector", message_of([&]() {
                               Tessella::DeviceVector<double> vector(
                                 (std::size_t(1) << 30) / sizeof(double));
                             }) != "no exception");
    }
    assembler.assemble(form, first.matrix, first.rhs);
    data.backend = Tessella::Backend::host;
    Tessella::PolytopicAssembler<2>(handler, data)
      .assemble(form, second.matrix, second.rhs);
    second.matrix.add(-1., first.matrix);
    verify("full device",
           second.matrix.frobenius_norm() <
             1e-11 * first.matrix.frobenius_norm());
  }
#endif



  template <int dim>
  void
  check_memory()
  {
    for (const std::string mesh :
         {"distorted", "simplices", "hanging periodic", "curved"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        triangulation.refine_global(dim == 2 ? 2 : 1);
        Tessella::AgglomerationHandler<dim> handler(triangulation,
                                                    mapping_for<dim, 3>(mesh));
        handler.agglomerate(make_strategy<dim>("none"));
        const Reference::Problem<dim> problem = full_problem<dim>();
        for (const unsigned int p : {1u, 3u})
          {
            handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
            const std::string name = mesh + ", p = " + std::to_string(p);
            check_limits(name, handler, make_form(problem, Give::constants, 0));
            if (p == 1)
              {
                const auto form = make_form(problem, Give::tensor_functions, 2);
                check_limits(name + ", functions", handler, form);
                // Single cells keep their points, but in another way.
                compression = Tessella::QuadratureCompression::always;
                check_limits(name + ", compressed", handler, form);
                compression = Tessella::QuadratureCompression::never;
              }
          }
        // variable degrees, where kernels must not depend on the part
        hp::FECollection<dim>     elements;
        std::vector<unsigned int> indices(handler.n_polytopes());
        for (unsigned int p = 0; p <= 3; ++p)
          elements.push_back(Tessella::FE_BoundingBoxLegendre<dim>(p));
        for (unsigned int k = 0; k < indices.size(); ++k)
          indices[k] = 4 * k / indices.size();
        handler.distribute_dofs(elements, indices);
        check_limits(mesh + ", hp",
                     handler,
                     make_form(problem, Give::constants, 0));
      }
  }
} // namespace

int
main(int argc, char **argv)
{
  const auto run = [](const std::string &name) {
    if (name == "messages")
      {
        check_shares();
        check_sentences();
        check_pieces();
        check_epetra_limit();
        check_parts<2>();
        check_parts<3>();
      }
    else
      {
#ifdef TESSELLA_HAVE_CUDA
        verify("late lists", n_late_lists() == 0);
        verify_contains(
          message_of_large_array(),
          "not enough memory for an array of 35184372088832 bytes");
        check_full_device();
#endif
        check_memory<2>();
        check_memory<3>();
      }
  };
  return run_case(argc, argv, run, "messages");
}
