// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "checkpoint_files.h"

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/distributed/tria.h>

#include <tessella/base/checksum.h>
#include <tessella/base/config.h>
#include <tessella/base/exceptions.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "../base/collective.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      const char *const magic          = "tessella-checkpoint";
      const unsigned    format_version = 2;

      /// Versions of which a checkpoint is.
      std::string
      versions()
      {
        return std::string("Tessella ") + TESSELLA_VERSION + " deal.II " +
               DEAL_II_PACKAGE_VERSION;
      }
    } // namespace



    std::vector<std::string>
    checkpoint_endings(const unsigned int n)
    {
      std::vector<std::string> result = {"",
                                         ".info",
                                         "_fixed.data",
                                         "_variable.data",
                                         "_triangulation.data",
                                         ".mesh"};
      for (unsigned int rank = 0; rank < n; ++rank)
        result.push_back(".cells" + std::to_string(rank));
      return result;
    }



    std::int64_t
    file_size(const std::string &name)
    {
      std::ifstream in(name, std::ios::binary | std::ios::ate);
      return in ? static_cast<std::int64_t>(in.tellg()) : -1;
    }



    std::uint64_t
    file_checksum(const std::string  &name,
                  const std::uint64_t size,
                  const MPI_Comm      communicator)
    {
      constexpr std::uint64_t piece = 1 << 22;
      const unsigned int      n     = n_processes(communicator),
                         me         = this_process(communicator);
      std::ifstream     in(name, std::ios::binary);
      std::vector<char> buffer;
      std::uint64_t     sum    = 0;
      std::uint64_t     failed = 0;
      for (std::uint64_t i = me; i * piece < size; i += n)
        {
          buffer.resize(std::min(piece, size - i * piece));
          in.seekg(static_cast<std::streamoff>(i * piece));
          in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
          if (!in)
            failed = 1;
          sum += checksum(buffer.data(),
                          buffer.size(),
                          checksum_start + 0x9E3779B97F4A7C15ull * i);
        }
      sum    = dealii::Utilities::MPI::sum(sum, communicator);
      failed = dealii::Utilities::MPI::sum(failed, communicator);
      return failed > 0 ? 0 : std::max<std::uint64_t>(sum, 1);
    }



    std::string
    broadcast(const std::string &text, const MPI_Comm communicator)
    {
      return n_processes(communicator) > 1
               ? dealii::Utilities::MPI::broadcast(communicator, text)
               : text;
    }



    std::string
    read_text(const std::string &name, const MPI_Comm communicator)
    {
      std::string text;
      if (this_process(communicator) == 0)
        {
          std::ifstream      in(name, std::ios::binary);
          std::ostringstream out;
          if (in)
            out << in.rdbuf();
          // No text of a checkpoint is longer.
          text = out.str().substr(0, std::size_t(1) << 30);
        }
      return broadcast(text, communicator);
    }



    std::string
    CheckpointHeader::write() const
    {
      std::ostringstream out;
      out << magic << ' ' << format_version << '\n'
          << versions() << '\n'
          << "dim " << dim << " mesh " << kind << " processes " << n_processes
          << " coarse-mesh " << coarse_mesh << " cells " << n_cells
          << " polytopes " << n_polytopes << " handlers " << spaces.size()
          << " number " << stem << " files " << files.size() << '\n';
      for (const CheckpointSpace &space : spaces)
        out << "unknowns " << space.n_dofs << " components "
            << space.n_components << " space " << space.space << " vectors "
            << space.n_vectors << '\n';
      for (const CheckpointFile &file : files)
        out << '"' << file.ending << "\" " << file.size << ' ' << file.checksum
            << '\n';
      out << "user-data " << user_data.size() << '\n' << user_data << '\n';
      const std::string text = out.str();
      return text + "checksum " + std::to_string(checksum(text)) + '\n';
    }



    void
    CheckpointHeader::read(const std::string &text, const std::string &name)
    {
      const std::string file = "The checkpoint \"" + name + "\" ";
      const auto        damaged =
        ExcUserInput(file + "is truncated or damaged: take another one.");
      const std::string  start = std::string(magic) + ' ';
      std::istringstream in(text);
      std::string        word;
      unsigned int       version = 0;
      // A text that ends within one of the first two lines must be reported
      // as damaged, not as another file type, format or version.
      std::getline(in, word);
      AssertThrow(word.compare(0, start.size(), start) == 0 ||
                    (in.eof() && start.compare(0, word.size(), word) == 0),
                  ExcUserInput(file + "is no checkpoint of Tessella."));
      AssertThrow(!in.eof() &&
                    std::istringstream(word.substr(start.size())) >> version,
                  damaged);
      AssertThrow(version == format_version,
                  ExcUserInput(file + "has the format " +
                               std::to_string(version) +
                               ", but this program reads format " +
                               std::to_string(format_version) + "."));
      std::getline(in, word);
      AssertThrow(!in.eof(), damaged);
      AssertThrow(word == versions(),
                  ExcUserInput(file + "was written with " + word +
                               ", but this program is of " + versions() +
                               ": go on with the version that wrote it."));
      const auto end = text.rfind("checksum ");
      AssertThrow(end != std::string::npos &&
                    text.substr(end) ==
                      "checksum " +
                        std::to_string(checksum(text.substr(0, end))) + '\n',
                  damaged);
      AssertThrow(read_content(in, text.size()), damaged);
    }



    bool
    CheckpointHeader::read_content(std::istream     &in,
                                   const std::size_t text_size)
    {
      std::string word;
      std::size_t n_spaces = 0, n_files = 0, n_user = 0;
      in >> word >> dim >> word >> kind >> word >> n_processes >> word >>
        coarse_mesh >> word >> n_cells >> word >> n_polytopes >> word >>
        n_spaces >> word >> stem >> word >> n_files;
      if (!in)
        return false;
      for (std::size_t i = 0; i < n_spaces; ++i)
        {
          CheckpointSpace space;
          in >> word >> space.n_dofs >> word >> space.n_components >> word >>
            space.space >> word >> space.n_vectors;
          if (!in)
            return false;
          spaces.push_back(space);
        }
      for (std::size_t i = 0; i < n_files; ++i)
        {
          CheckpointFile f;
          in >> f.ending >> f.size >> f.checksum;
          if (!in || f.ending.size() < 2)
            return false;
          f.ending = f.ending.substr(1, f.ending.size() - 2);
          files.push_back(f);
        }
      in >> word >> n_user;
      in.ignore();
      user_data.resize(in ? std::min(n_user, text_size) : 0);
      if (!user_data.empty())
        in.read(&user_data[0], static_cast<std::streamsize>(n_user));
      return in && user_data.size() == n_user;
    }



    template <int dim>
    std::string
    kind_of(const dealii::Triangulation<dim> &triangulation,
            const MPI_Comm                    communicator)
    {
#ifdef DEAL_II_WITH_P4EST
      if (dynamic_cast<const dealii::parallel::distributed::Triangulation<dim>
                         *>(&triangulation) != nullptr)
        return "p4est";
#endif
      if (dynamic_cast<
            const dealii::parallel::fullydistributed::Triangulation<dim> *>(
            &triangulation) != nullptr)
        return "fullydistributed";
      AssertThrow(n_processes(communicator) == 1,
                  ExcUserInput("Checkpoints are for parallel::distributed, "
                               "parallel::fullydistributed and serial "
                               "triangulations, not for parallel::shared ones "
                               "on several processes."));
      return "serial";
    }



    template <int dim>
    std::uint64_t
    coarse_mesh_number(const dealii::Triangulation<dim> &triangulation)
    {
      std::uint64_t state = checksum_start;
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        for (const unsigned int v : cell->vertex_indices())
          {
            const dealii::Point<dim> x = cell->vertex(v);
            state =
              checksum(reinterpret_cast<const char *>(&x[0]), sizeof(x), state);
          }
      return state;
    }



    template std::string
    kind_of<2>(const dealii::Triangulation<2> &, const MPI_Comm);
    template std::string
    kind_of<3>(const dealii::Triangulation<3> &, const MPI_Comm);
    template std::uint64_t
    coarse_mesh_number<2>(const dealii::Triangulation<2> &);
    template std::uint64_t
    coarse_mesh_number<3>(const dealii::Triangulation<3> &);
  } // namespace internal
} // namespace Tessella
