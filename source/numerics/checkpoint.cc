// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/manifold.h>
#include <deal.II/grid/tria_description.h>

#include <tessella/base/checksum.h>
#include <tessella/base/config.h>
#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/numerics/checkpoint.h>
#include <tessella/numerics/write_file.h>

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "../base/collective.h"
#include "../base/vector_types.h"
#include "cell_polynomials.h"
#include "new_file.h"

namespace Tessella
{
  using namespace internal;

  namespace
  {
    const char *const magic          = "tessella-checkpoint";
    const unsigned    format_version = 1;
    /// Endings of all files that deal.II and write_checkpoint() create on @p n
    /// processes.
    std::vector<std::string>
    endings(const unsigned int n)
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

    /// Size of a file, or -1 if it does not exist.
    std::int64_t
    file_size(const std::string &name)
    {
      std::ifstream in(name, std::ios::binary | std::ios::ate);
      return in ? static_cast<std::int64_t>(in.tellg()) : -1;
    }

    /// Checksum of a file that all processes see, each of which reads a share.
    /// Collective; 0 if a share cannot be read.
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
      if (n > 1)
        {
          sum    = dealii::Utilities::MPI::sum(sum, communicator);
          failed = dealii::Utilities::MPI::sum(failed, communicator);
        }
      return failed > 0 ? 0 : std::max<std::uint64_t>(sum, 1);
    }

    /// Sends a text of the first process to all processes.
    std::string
    broadcast(std::string text, const MPI_Comm communicator)
    {
#ifdef DEAL_II_WITH_MPI
      if (n_processes(communicator) > 1)
        {
          unsigned int size = static_cast<unsigned int>(text.size());
          MPI_Bcast(&size, 1, MPI_UNSIGNED, 0, communicator);
          text.resize(size);
          if (size > 0)
            MPI_Bcast(
              &text[0], static_cast<int>(size), MPI_CHAR, 0, communicator);
        }
#else
      (void)communicator;
#endif
      return text;
    }

    struct File
    {
      std::string   ending;
      std::uint64_t size = 0, checksum = 0;
    };

    /// Content of the text file of a checkpoint.
    struct Header
    {
      unsigned int  dim = 0, n_processes = 0;
      std::string   kind; ///< kind of triangulation
      std::uint64_t coarse_mesh = 0, n_cells = 0, n_polytopes = 0, n_dofs = 0;
      unsigned int  n_components = 1, n_vectors = 0;
      std::string   space;
      std::string   stem; ///< number in the file names
      std::vector<File> files;
      std::string       user_data;

      static std::string
      versions()
      {
        return std::string("Tessella ") + TESSELLA_VERSION + " deal.II " +
               DEAL_II_PACKAGE_VERSION;
      }

      std::string
      write() const
      {
        std::ostringstream out;
        out << magic << ' ' << format_version << '\n'
            << versions() << '\n'
            << "dim " << dim << " mesh " << kind << " processes " << n_processes
            << " coarse-mesh " << coarse_mesh << " cells " << n_cells
            << " polytopes " << n_polytopes << " unknowns " << n_dofs
            << " components " << n_components << " space " << space
            << " vectors " << n_vectors << " number " << stem << " files "
            << files.size() << '\n';
        for (const File &file : files)
          out << '"' << file.ending << "\" " << file.size << ' '
              << file.checksum << '\n';
        out << "user-data " << user_data.size() << '\n' << user_data << '\n';
        const std::string text = out.str();
        return text + "checksum " + std::to_string(checksum(text)) + '\n';
      }

      /// Throws an exception with @p name if the text is not one that write()
      /// makes.
      void
      read(const std::string &text, const std::string &name)
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
        std::size_t n_files = 0, n_user = 0;
        in >> word >> dim >> word >> kind >> word >> n_processes >> word >>
          coarse_mesh >> word >> n_cells >> word >> n_polytopes >> word >>
          n_dofs >> word >> n_components >> word >> space >> word >>
          n_vectors >> word >> stem >> word >> n_files;
        AssertThrow(in, damaged);
        for (std::size_t i = 0; i < n_files; ++i)
          {
            File f;
            in >> f.ending >> f.size >> f.checksum;
            AssertThrow(in && f.ending.size() >= 2, damaged);
            f.ending = f.ending.substr(1, f.ending.size() - 2);
            files.push_back(f);
          }
        in >> word >> n_user;
        in.ignore();
        user_data.resize(in ? std::min(n_user, text.size()) : 0);
        if (!user_data.empty())
          in.read(&user_data[0], static_cast<std::streamsize>(n_user));
        AssertThrow(in && user_data.size() == n_user, damaged);
      }
    };

    /// Text of file @p name, read by the first process; empty if there is none.
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

    /// Checksum of the cells of level 0 and their vertices.
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

    /// Data stored with a cell.
    template <int dim>
    struct CellRecord
    {
      using BinaryId = dealii::CellId::binary_type;

      BinaryId      cell{};       ///< its CellId
      std::uint32_t polytope = 0; ///< global index
      std::uint32_t n_cells  = 0; ///< number of cells of the polytope
      bool first = false;         ///< first cell of the polytope, with its data
      CellPolynomial<dim> polynomial;

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
          polynomial.pack(buffer);
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
        return !first ||
               polynomial.unpack(data + head_size, size - head_size) > 0;
      }

    private:
      static constexpr std::size_t head_size =
        2 * sizeof(std::uint32_t) + sizeof(BinaryId);
    };
  } // namespace



  template <int dim, typename VectorType>
  void
  write_checkpoint(const std::string                     &file_name,
                   dealii::Triangulation<dim>            &triangulation,
                   const AgglomerationHandler<dim>       &handler,
                   const std::vector<const VectorType *> &solutions,
                   const std::string                     &user_data)
  {
    using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;
    const MPI_Comm              comm = handler.get_communicator();
    const PolytopicMesh<dim>   &mesh = handler.polytopic_mesh();
    std::vector<const double *> values;
    on_all_processes(comm, [&]() {
      AssertThrow(&handler.get_triangulation() == &triangulation &&
                    handler.n_dofs() > 0,
                  ExcUserInput("A checkpoint needs the triangulation of a "
                               "handler with degrees of freedom."));
      for (const VectorType *solution : solutions)
        values.push_back(
          vector_data(*solution, handler.n_locally_owned_dofs()));
    });

    Header header;
    header.dim         = dim;
    header.n_processes = n_processes(comm);
    header.kind        = kind_of(triangulation, comm);
    header.coarse_mesh =
      header.kind == "p4est" ? coarse_mesh_number(triangulation) : 0;
    header.n_cells      = triangulation.n_global_active_cells();
    header.n_polytopes  = handler.n_global_polytopes();
    header.n_dofs       = handler.n_dofs();
    header.n_components = handler.n_components();
    header.n_vectors    = static_cast<unsigned int>(solutions.size());
    header.space =
      handler.polynomial_space() == PolynomialSpaceType::tensor_product
        ? "tensor-product"
        : "total-degree";
    header.user_data = user_data;

    // ---- files of an earlier checkpoint, and a new number
    Header            old;
    const std::string old_text = read_text(file_name, comm);
    try
      {
        old.read(old_text, file_name);
      }
    catch (const dealii::ExceptionBase &)
      {
        old = Header();
      }
    std::uint64_t number = 1;
    std::istringstream(old.stem) >> number;
    header.stem = std::to_string(old.stem.empty() ? 1 : number + 1);
    const std::string        stem = file_name + "." + header.stem;
    std::vector<std::string> files;
    for (const std::string &ending : endings(header.n_processes))
      files.push_back(stem + ending);
    if (this_process(comm) == 0)
      for (const std::string &file : files)
        std::remove(file.c_str());
    UnfinishedFiles unfinished(files);

    // ---- mesh and cells
    std::vector<unsigned int> subcell =
      subcells_of_cells(mesh, triangulation.n_active_cells());
    const auto record = [&](const CellIterator &cell) {
      const unsigned int k =
        handler.polytope_of_cell()[cell->active_cell_index()];
      CellRecord<dim> result;
      result.cell     = cell->id().template to_binary<dim>();
      result.polytope = handler.global_polytope_index(k);
      result.n_cells  = mesh.subcell_offset[k + 1] - mesh.subcell_offset[k];
      result.first =
        subcell[cell->active_cell_index()] == mesh.subcell_offset[k];
      if (result.first)
        {
          result.polynomial.degree = mesh.degree[k];
          std::copy_n(&mesh.box[std::size_t(k) * 2 * dim],
                      2 * dim,
                      result.polynomial.box.begin());
          for (const double *u : values)
            result.polynomial.coefficients.insert(
              result.polynomial.coefficients.end(),
              u + mesh.dof_offset[k],
              u + mesh.dof_offset[k + 1]);
        }
      return result;
    };
    auto *const parallel =
      dynamic_cast<dealii::parallel::DistributedTriangulationBase<dim> *>(
        &triangulation);
    // Lower bound of the size that deal.II will write. p4est aborts the program
    // when it cannot write, and MPI may not notice that the disk is full.
    std::uint64_t size_of_records = 0, size_of_mesh = 0;
    if (header.kind == "p4est")
      {
        for (const auto &cell : triangulation.active_cell_iterators())
          if (cell->is_locally_owned())
            size_of_records +=
              sizeof(unsigned int) + record(cell).pack().size();
      }
    else if (parallel != nullptr)
      size_of_mesh =
        dealii::Utilities::pack(
          dealii::TriangulationDescription::Utilities::
            create_description_from_triangulation(triangulation, comm),
          /*allow_compression=*/false)
          .size();
    if (parallel != nullptr && header.n_processes > 1)
      {
        size_of_records = dealii::Utilities::MPI::sum(size_of_records, comm);
        size_of_mesh    = dealii::Utilities::MPI::sum(size_of_mesh, comm);
      }
    if (header.kind == "p4est")
      size_of_mesh = (dim + 1) * sizeof(std::int32_t) * header.n_cells;
    on_all_processes(comm, [&]() {
      if (this_process(comm) != 0 || parallel == nullptr)
        return;
      NewFile mesh_file(stem), fixed(stem + "_fixed.data"),
        records(stem + "_variable.data");
      records.reserve(size_of_records);
      fixed.reserve(header.n_cells);
      // The file also has some entries for each coarse cell.
      mesh_file.reserve(size_of_mesh + 4096 + 400 * triangulation.n_cells(0));
    });
    if (header.kind == "p4est")
      parallel->register_data_attach(
        [&](const CellIterator &cell, const auto /*status*/) {
          return record(cell).pack();
        },
        /*returns_variable_size_data=*/true);
    if (parallel != nullptr)
      parallel->save(stem);
    on_all_processes(comm, [&]() {
      if (parallel == nullptr)
        write_file(stem + ".mesh", [&](std::ostream &out) {
          boost::archive::binary_oarchive archive(out);
          triangulation.save(archive, 0);
        });
      // deal.II 9.4 mixes up data attached to fully distributed meshes.
      if (header.kind != "p4est")
        write_file(stem + ".cells" + std::to_string(this_process(comm)),
                   [&](std::ostream &out) {
                     for (const auto &cell :
                          triangulation.active_cell_iterators())
                       if (cell->is_locally_owned())
                         {
                           const std::vector<char> data = record(cell).pack();
                           const std::uint64_t     size = data.size();
                           out.write(reinterpret_cast<const char *>(&size),
                                     sizeof(size));
                           out.write(data.data(),
                                     static_cast<std::streamsize>(size));
                         }
                   });
    });

    // ---- this checkpoint becomes the valid one
#ifdef DEAL_II_WITH_MPI
    if (header.n_processes > 1)
      MPI_Barrier(comm);
#endif
    on_all_processes(comm, [&]() {
      if (this_process(comm) != 0 || parallel == nullptr)
        return;
      const auto check_size = [&](const std::string  &ending,
                                  const std::uint64_t least) {
        AssertThrow(file_size(stem + ending) >=
                      static_cast<std::int64_t>(least),
                    ExcUserInput("Writing the file \"" + stem + ending +
                                 "\" failed before its end; check that the "
                                 "disk is not full."));
      };
      if (header.kind == "p4est")
        {
          check_size("", size_of_mesh);
          check_size("_fixed.data", header.n_cells);
          check_size("_variable.data", size_of_records);
        }
      check_size(".info", 1);
    });
    std::string list;
    if (this_process(comm) == 0)
      for (const std::string &ending : endings(header.n_processes))
        if (file_size(stem + ending) >= 0)
          list += "\"" + ending + "\" " +
                  std::to_string(file_size(stem + ending)) + "\n";
    std::istringstream in(broadcast(list, comm));
    for (File file; in >> file.ending >> file.size;)
      {
        file.ending   = file.ending.substr(1, file.ending.size() - 2);
        file.checksum = file_checksum(stem + file.ending, file.size, comm);
        header.files.push_back(file);
      }
    on_all_processes(comm, [&]() {
      for (const File &file : header.files)
        AssertThrow(file.checksum != 0,
                    ExcUserInput("The file \"" + stem + file.ending +
                                 "\", just written, cannot be read: all "
                                 "processes must see the same folder."));
      if (this_process(comm) != 0)
        {
          unfinished.keep();
          return;
        }
      NewFile text(file_name);
      text.write([&](std::ostream &out) { out << header.write(); });
      unfinished.keep();
      text.publish();
      for (const File &file : old.files)
        std::remove((file_name + "." + old.stem + file.ending).c_str());
    });
  }



  template <int dim>
  struct CheckpointReader<dim>::Implementation
  {
    using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;

    std::string name;
    MPI_Comm    communicator;
    Header      header;
    // ---- available after load()
    const dealii::Triangulation<dim> *triangulation = nullptr;
    std::vector<CellRecord<dim>>      records; // indexed by active cell
    // ---- available after restore()
    const AgglomerationHandler<dim> *handler = nullptr;
    /// Data of each polytope that this process owns, and whether the polytope
    /// is a piece of a polytope of the checkpoint.
    std::vector<CellPolynomial<dim>> polynomials;
    std::vector<bool>                is_piece;
    bool                             any_piece = false;

    std::string
    stem() const
    {
      return name + "." + header.stem;
    }

    PolynomialSpaceType
    space() const
    {
      return header.space == "tensor-product"
               ? PolynomialSpaceType::tensor_product
               : PolynomialSpaceType::total_degree;
    }

    void
    load_serial(dealii::Triangulation<dim> &tria)
    {
      // An archive contains no manifolds.
      std::map<dealii::types::manifold_id,
               std::unique_ptr<dealii::Manifold<dim, dim>>>
        manifolds;
      for (const dealii::types::manifold_id id : tria.get_manifold_ids())
        if (id != dealii::numbers::flat_manifold_id)
          manifolds[id] = tria.get_manifold(id).clone();
      std::ifstream mesh(stem() + ".mesh", std::ios::binary);
      {
        boost::archive::binary_iarchive archive(mesh);
        tria.load(archive, 0);
      }
      for (const auto &manifold : manifolds)
        tria.set_manifold(manifold.first, *manifold.second);
    }

    /// Reads the data of the cells of this process that write_checkpoint()
    /// stored besides the mesh.
    void
    load_cells(const dealii::Triangulation<dim> &tria)
    {
      std::map<dealii::CellId, unsigned int> index;
      for (const auto &cell : tria.active_cell_iterators())
        if (cell->is_locally_owned())
          index[cell->id()] = cell->active_cell_index();
      const std::string file =
        stem() + ".cells" + std::to_string(this_process(communicator));
      std::ifstream     in(file, std::ios::binary);
      std::vector<char> buffer;
      for (std::size_t i = 0; i < index.size(); ++i)
        {
          std::uint64_t size = 0;
          in.read(reinterpret_cast<char *>(&size), sizeof(size));
          CellRecord<dim> record;
          if (in)
            {
              buffer.resize(size);
              in.read(buffer.data(), static_cast<std::streamsize>(size));
            }
          const std::string bad = "The file \"" + file +
                                  "\" does not fit the mesh of its "
                                  "checkpoint.";
          AssertThrow(in && record.unpack(buffer.data(), size),
                      ExcUserInput(bad));
          const auto cell = index.find(dealii::CellId(record.cell));
          AssertThrow(cell != index.end(), ExcUserInput(bad));
          records[cell->second] = std::move(record);
        }
    }

    void
    load_attached(dealii::parallel::DistributedTriangulationBase<dim> &tria)
    {
      // As in SolutionTransfer of deal.II: data attached here is never
      // requested.
      const unsigned int handle = tria.register_data_attach(
        [](const CellIterator &, const auto /*status*/) {
          return std::vector<char>();
        },
        /*returns_variable_size_data=*/true);
      tria.notify_ready_to_unpack(
        handle,
        [&](const CellIterator &cell,
            const auto /*status*/,
            const boost::iterator_range<std::vector<char>::const_iterator>
              &data) {
          CellRecord<dim> record;
          AssertThrow(record.unpack(&*data.begin(), data.size()),
                      dealii::ExcInternalError());
          records[cell->active_cell_index()] = std::move(record);
        });
    }
  };



  template <int dim>
  CheckpointReader<dim>::CheckpointReader(const std::string &file_name,
                                          const MPI_Comm     communicator)
    : implementation(std::make_unique<Implementation>())
  {
    Implementation &data   = *implementation;
    data.name              = file_name;
    data.communicator      = communicator;
    const std::string text = read_text(file_name, communicator);
    // All processes have the same text and hence throw the same errors.
    AssertThrow(!text.empty(),
                ExcUserInput("The checkpoint \"" + file_name +
                             "\" does not exist or is empty."));
    data.header.read(text, file_name);
    AssertThrow(data.header.dim == dim,
                ExcUserInput(
                  "The checkpoint \"" + file_name + "\" is of a problem in " +
                  std::to_string(data.header.dim) + " dimensions, not in " +
                  std::to_string(dim) + "."));
    for (const File &file : data.header.files)
      {
        const std::string name = data.stem() + file.ending;
        on_all_processes(communicator, [&]() {
          const std::int64_t size = file_size(name);
          AssertThrow(size >= 0,
                      ExcUserInput("The file \"" + name +
                                   "\" of the checkpoint \"" + file_name +
                                   "\" is missing or cannot be read."));
          AssertThrow(static_cast<std::uint64_t>(size) == file.size,
                      ExcUserInput("The file \"" + name +
                                   "\" of a checkpoint has " +
                                   std::to_string(size) + " bytes instead of " +
                                   std::to_string(file.size) +
                                   ": it is truncated or was changed."));
        });
        AssertThrow(file_checksum(name, file.size, communicator) ==
                      file.checksum,
                    ExcUserInput("The file \"" + name +
                                 "\" of a checkpoint was changed: its checksum "
                                 "is wrong."));
      }
  }

  template <int dim>
  CheckpointReader<dim>::~CheckpointReader() = default;



  template <int dim>
  const std::string &
  CheckpointReader<dim>::user_data() const
  {
    return implementation->header.user_data;
  }

  template <int dim>
  unsigned int
  CheckpointReader<dim>::n_solutions() const
  {
    return implementation->header.n_vectors;
  }



  template <int dim>
  void
  CheckpointReader<dim>::load(dealii::Triangulation<dim> &triangulation)
  {
    Implementation   &data   = *implementation;
    const Header     &header = data.header;
    const std::string kind   = kind_of(triangulation, data.communicator);
    const std::string file   = "The checkpoint \"" + data.name + "\" ";
    on_all_processes(data.communicator, [&]() {
      AssertThrow(kind == header.kind,
                  ExcUserInput(file + "is of a " + header.kind +
                               " triangulation, but it is to be read into a " +
                               kind + " one."));
      if (kind == "fullydistributed")
        {
          AssertThrow(n_processes(data.communicator) == header.n_processes,
                      ExcUserInput(
                        file + "is of a fully distributed mesh on " +
                        std::to_string(header.n_processes) +
                        " processes, which deal.II reads on as many "
                        "only: start that number, not " +
                        std::to_string(n_processes(data.communicator)) + "."));
          AssertThrow(triangulation.n_levels() == 0 ||
                        triangulation.n_cells() == 0,
                      ExcUserInput(file + "needs an empty triangulation."));
        }
      if (kind == "p4est")
        AssertThrow(triangulation.n_global_levels() == 1 &&
                      coarse_mesh_number(triangulation) == header.coarse_mesh,
                    ExcUserInput(file +
                                 "needs the coarse mesh that it was written "
                                 "with, unrefined, but the triangulation has "
                                 "another one."));
    });
    auto *const parallel =
      dynamic_cast<dealii::parallel::DistributedTriangulationBase<dim> *>(
        &triangulation);
    if (parallel != nullptr)
      parallel->load(data.stem());
    else
      data.load_serial(triangulation);
    data.records.assign(triangulation.n_active_cells(), CellRecord<dim>());
    if (kind == "p4est")
      data.load_attached(*parallel);
    else
      on_all_processes(data.communicator,
                       [&]() { data.load_cells(triangulation); });
    AssertThrow(triangulation.n_global_active_cells() == header.n_cells,
                dealii::ExcInternalError());
    data.triangulation = &triangulation;
  }



  template <int dim>
  void
  CheckpointReader<dim>::restore(AgglomerationHandler<dim> &handler,
                                 const bool                 split_cut)
  {
    Implementation &data = *implementation;
    const MPI_Comm  comm = data.communicator;

    // ---- polytopes of the cells of this process
    std::vector<unsigned int>                 ids;
    std::map<unsigned int, unsigned int>      n_cells;
    std::map<unsigned int, std::vector<char>> own_data; // data of cut polytopes
    std::map<unsigned int, CellPolynomial<dim>> polynomials;
    std::vector<unsigned int>                   cut;
    on_all_processes(comm, [&]() {
      AssertThrow(data.triangulation != nullptr &&
                    &handler.get_triangulation() == data.triangulation,
                  ExcUserInput("restore() needs a handler of the triangulation "
                               "that load() has filled."));
      ids.assign(data.triangulation->n_active_cells(), 0);
      std::map<unsigned int, unsigned int> complete;
      for (const auto &cell : data.triangulation->active_cell_iterators())
        if (cell->is_locally_owned())
          {
            const unsigned int     c      = cell->active_cell_index();
            const CellRecord<dim> &record = data.records[c];
            ids[c]                        = record.polytope;
            ++n_cells[record.polytope];
            complete[record.polytope] = record.n_cells;
            if (record.first)
              polynomials[record.polytope] = record.polynomial;
          }
      for (const auto &n : n_cells)
        if (n.second < complete[n.first])
          {
            cut.push_back(n.first);
            if (polynomials.count(n.first) > 0)
              polynomials[n.first].pack(own_data[n.first]);
          }
      AssertThrow(split_cut || cut.empty(),
                  ExcUserInput(
                    "The partition cuts polytopes of the checkpoint \"" +
                    data.name + "\", written on " +
                    std::to_string(data.header.n_processes) +
                    " processes: read it on as many, agglomerate by families "
                    "of cells, which are never cut, or let them be split."));
    });
    unsigned int n_cut = static_cast<unsigned int>(cut.size());
    if (n_processes(comm) > 1)
      n_cut = dealii::Utilities::MPI::max(n_cut, comm);
    data.any_piece = n_cut > 0;
    if (data.any_piece)
      for (const auto &others :
           dealii::Utilities::MPI::all_gather(comm, own_data))
        for (const auto &other : others)
          if (n_cells.count(other.first) > 0)
            polynomials[other.first].unpack(other.second.data(),
                                            other.second.size());

    handler.agglomerate(Agglomeration::by_id<dim>(ids));

    // ---- degrees of the polytopes
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    data.polynomials.clear();
    data.is_piece.clear();
    std::uint64_t degrees = 0;
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      {
        const unsigned int id = ids[mesh.subcell_cell[mesh.subcell_offset[k]]];
        data.polynomials.push_back(polynomials.at(id));
        data.is_piece.push_back(std::binary_search(cut.begin(), cut.end(), id));
        degrees |= std::uint64_t(1) << data.polynomials.back().degree;
      }
    for (unsigned int p = 0; p <= Legendre::max_degree; ++p)
      {
        const unsigned int here = (degrees >> p) & 1;
        if (n_processes(comm) > 1 &&
            dealii::Utilities::MPI::max(here, comm) > 0)
          degrees |= std::uint64_t(1) << p;
      }
    dealii::hp::FECollection<dim> collection;
    std::vector<unsigned int>     index(Legendre::max_degree + 1, 0);
    for (unsigned int p = 0; p <= Legendre::max_degree; ++p)
      if ((degrees >> p) & 1)
        {
          index[p] = collection.size();
          const FE_BoundingBoxLegendre<dim> fe(p, data.space());
          if (data.header.n_components == 1)
            collection.push_back(fe);
          else
            collection.push_back(
              dealii::FESystem<dim>(fe, data.header.n_components));
        }
    std::vector<unsigned int> indices;
    for (const auto &polynomial : data.polynomials)
      indices.push_back(index[polynomial.degree]);
    handler.distribute_dofs(collection, indices);
    data.handler = &handler;
  }



  template <int dim>
  template <typename VectorType>
  void
  CheckpointReader<dim>::read(const AgglomerationHandler<dim> &handler,
                              const std::vector<VectorType *> &solutions) const
  {
    const Implementation &data      = *implementation;
    const MPI_Comm        comm      = data.communicator;
    const unsigned int    n_vectors = data.header.n_vectors;
    std::vector<double *> values;
    on_all_processes(comm, [&]() {
      AssertThrow(data.handler == &handler,
                  ExcUserInput("read() needs the handler that restore() has "
                               "filled."));
      AssertThrow(solutions.size() == n_vectors,
                  ExcUserInput("The checkpoint \"" + data.name + "\" has " +
                               std::to_string(n_vectors) + " vectors, not " +
                               std::to_string(solutions.size()) + "."));
      for (VectorType *solution : solutions)
        values.push_back(
          vector_data(*solution, handler.n_locally_owned_dofs()));
    });
    if (n_vectors == 0)
      return;
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    const auto                copy = [&](const unsigned int         k,
                          const std::vector<double> &coefficients) {
      const std::size_t size = coefficients.size() / n_vectors;
      for (unsigned int v = 0; v < n_vectors; ++v)
        std::copy_n(coefficients.data() + v * size,
                    size,
                    values[v] + mesh.dof_offset[k]);
    };
    if (data.any_piece)
      {
        // The box of a piece differs from that of the stored polytope.
        std::vector<CellPolynomial<dim>> of_cells(
          data.triangulation->n_active_cells());
        for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1];
               ++s)
            of_cells[mesh.subcell_cell[s]] = data.polynomials[k];
        project_cell_polynomials<dim>(handler,
                                      of_cells,
                                      data.space(),
                                      handler.max_degree(),
                                      n_vectors * data.header.n_components,
                                      copy);
      }
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      if (!data.is_piece[k])
        copy(k, data.polynomials[k].coefficients);
  }

  template <int dim>
  template <typename VectorType>
  void
  CheckpointReader<dim>::read(const AgglomerationHandler<dim> &handler,
                              VectorType                      &solution) const
  {
    read(handler, std::vector<VectorType *>(1, &solution));
  }



  template class CheckpointReader<2>;
  template class CheckpointReader<3>;

#define TESSELLA_INSTANTIATE(dim, VectorType)                                  \
  template void write_checkpoint(const std::string &,                          \
                                 dealii::Triangulation<dim> &,                 \
                                 const AgglomerationHandler<dim> &,            \
                                 const std::vector<const VectorType *> &,      \
                                 const std::string &);                         \
  template void CheckpointReader<dim>::read(const AgglomerationHandler<dim> &, \
                                            const std::vector<VectorType *> &) \
    const;                                                                     \
  template void CheckpointReader<dim>::read(const AgglomerationHandler<dim> &, \
                                            VectorType &) const;

  TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 2)
  TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 3)
#undef TESSELLA_INSTANTIATE
} // namespace Tessella
