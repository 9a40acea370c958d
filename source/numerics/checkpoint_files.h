// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_checkpoint_files_h
#define tessella_source_numerics_checkpoint_files_h

#include <deal.II/base/mpi.h>

#include <deal.II/grid/cell_id.h>
#include <deal.II/grid/tria.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cell_polynomials.h"

namespace Tessella
{
  namespace internal
  {
    /// Endings of all files that deal.II and write_checkpoint() create on @p n
    /// processes.
    std::vector<std::string>
    checkpoint_endings(const unsigned int n);

    /// Size of a file, or -1 if it does not exist.
    std::int64_t
    file_size(const std::string &name);

    /// Checksum of a file that all processes see, each of which reads a share.
    /// Collective; 0 if a share cannot be read.
    std::uint64_t
    file_checksum(const std::string  &name,
                  const std::uint64_t size,
                  const MPI_Comm      communicator);

    /// Sends a text of the first process to all processes.
    std::string
    broadcast(const std::string &text, const MPI_Comm communicator);

    /// Text of file @p name, read by the first process; empty if there is none.
    std::string
    read_text(const std::string &name, const MPI_Comm communicator);

    struct CheckpointFile
    {
      std::string   ending;
      std::uint64_t size = 0, checksum = 0;
    };

    /// Space of one handler of a checkpoint, and the number of its functions.
    struct CheckpointSpace
    {
      std::uint64_t n_dofs       = 0;
      unsigned int  n_components = 1, n_vectors = 0;
      std::string   space; ///< kind of polynomials
    };

    /// Content of the text file of a checkpoint.
    struct CheckpointHeader
    {
      unsigned int  dim = 0, n_processes = 0;
      std::string   kind; ///< kind of triangulation
      std::uint64_t coarse_mesh = 0, n_cells = 0, n_polytopes = 0;
      std::vector<CheckpointSpace> spaces;
      std::string                  stem; ///< number in the file names
      std::vector<CheckpointFile>  files;
      std::string                  user_data;

      std::string
      write() const;

      /// Throws an exception with @p name if the text is not one that write()
      /// makes.
      void
      read(const std::string &text, const std::string &name);

    private:
      /// Reads what follows the versions, and returns whether it is complete.
      bool
      read_content(std::istream &in, const std::size_t text_size);
    };

    /// Kind of triangulation, as it is written in the header.
    template <int dim>
    std::string
    kind_of(const dealii::Triangulation<dim> &triangulation,
            const MPI_Comm                    communicator);

    /// Checksum of the cells of level 0 and their vertices.
    template <int dim>
    std::uint64_t
    coarse_mesh_number(const dealii::Triangulation<dim> &triangulation);

    /// Polynomials of one polytope, one for each handler.
    template <int dim>
    using CellPolynomials = std::vector<CellPolynomial<dim>>;

    /// Appends @p polynomials to @p buffer.
    template <int dim>
    void
    pack_polynomials(const CellPolynomials<dim> &polynomials,
                     std::vector<char>          &buffer)
    {
      for (const CellPolynomial<dim> &polynomial : polynomials)
        polynomial.pack(buffer);
    }

    /// Reads what pack_polynomials() appended, to the end of the data; returns
    /// false if they are damaged.
    template <int dim>
    bool
    unpack_polynomials(const char           *data,
                       std::size_t           size,
                       CellPolynomials<dim> &polynomials)
    {
      polynomials.clear();
      while (size > 0)
        {
          polynomials.emplace_back();
          const std::size_t n = polynomials.back().unpack(data, size);
          if (n == 0)
            return false;
          data += n;
          size -= n;
        }
      return !polynomials.empty();
    }

    /// Data stored with a cell.
    template <int dim>
    struct CellRecord
    {
      using BinaryId = dealii::CellId::binary_type;

      BinaryId      cell{};       ///< its CellId
      std::uint32_t polytope = 0; ///< global index
      std::uint32_t n_cells  = 0; ///< number of cells of the polytope
      bool first = false;         ///< first cell of the polytope, with its data
      CellPolynomials<dim> polynomials;

      std::vector<char>
      pack() const
      {
        const std::uint32_t head[2] = {polytope, 2 * n_cells + first};
        std::vector<char>   buffer(head_size);
        std::memcpy(buffer.data(), head, sizeof(head));
        std::memcpy(buffer.data() + sizeof(head),
                    cell.data(),
                    sizeof(BinaryId));
        if (first)
          pack_polynomials<dim>(polynomials, buffer);
        return buffer;
      }

      bool
      unpack(const char *data, const std::size_t size)
      {
        std::uint32_t head[2];
        if (size < head_size)
          return false;
        std::memcpy(head, data, sizeof(head));
        std::memcpy(cell.data(), data + sizeof(head), sizeof(BinaryId));
        polytope = head[0];
        n_cells  = head[1] / 2;
        first    = head[1] % 2 == 1;
        return !first || unpack_polynomials<dim>(data + head_size,
                                                 size - head_size,
                                                 polynomials);
      }

    private:
      static constexpr std::size_t head_size =
        2 * sizeof(std::uint32_t) + sizeof(BinaryId);
    };
  } // namespace internal
} // namespace Tessella

#endif
