// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/manifold.h>

#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/numerics/checkpoint.h>

#include <boost/archive/binary_iarchive.hpp>
#include <fstream>
#include <map>

#include "../base/collective.h"
#include "checkpoint_files.h"

namespace Tessella
{
  using namespace internal;

  template <int dim>
  struct CheckpointReader<dim>::Implementation
  {
    using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;

    std::string      name;
    MPI_Comm         communicator;
    CheckpointHeader header;
    // ---- available after load()
    const dealii::Triangulation<dim> *triangulation = nullptr;
    std::vector<CellRecord<dim>>      records; // indexed by active cell
    // ---- available after restore()
    std::vector<const AgglomerationHandler<dim> *> handlers;
    /// Data of each polytope that this process owns, and whether the polytope
    /// is a piece of a polytope of the checkpoint.
    std::vector<CellPolynomials<dim>> polynomials;
    std::vector<bool>                 is_piece;
    bool                              any_piece = false;

    std::string
    stem() const
    {
      return name + "." + header.stem;
    }

    PolynomialSpaceType
    space(const unsigned int i) const
    {
      return header.spaces[i].space == "tensor-product"
               ? PolynomialSpaceType::tensor_product
               : PolynomialSpaceType::total_degree;
    }

    /// Whether a record has a polynomial for each handler.
    bool
    fits(const CellRecord<dim> &record) const
    {
      return !record.first || record.polynomials.size() == header.spaces.size();
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
          AssertThrow(in && record.unpack(buffer.data(), size) && fits(record),
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
          AssertThrow(record.unpack(&*data.begin(), data.size()) &&
                        fits(record),
                      dealii::ExcInternalError());
          records[cell->active_cell_index()] = std::move(record);
        });
    }

    /// Polytopes of the checkpoint of which this process has cells.
    struct OwnPolytopes
    {
      /// Polytope of each active cell.
      std::vector<unsigned int>                    ids;
      std::map<unsigned int, CellPolynomials<dim>> polynomials;
      /// Polytopes that the partition cuts, in ascending order.
      std::vector<unsigned int> cut;
    };

    /// Gathers the polytopes of the cells of this process; processes exchange
    /// the data of cut polytopes. Collective.
    OwnPolytopes
    own_polytopes(const std::vector<AgglomerationHandler<dim> *> &new_handlers,
                  const bool                                      split_cut)
    {
      OwnPolytopes                              own;
      std::map<unsigned int, unsigned int>      n_cells;
      std::map<unsigned int, std::vector<char>> own_data; // of cut polytopes
      on_all_processes(communicator, [&]() {
        AssertThrow(new_handlers.size() == header.spaces.size(),
                    ExcUserInput("The checkpoint \"" + name + "\" has " +
                                 std::to_string(header.spaces.size()) +
                                 " handlers, not " +
                                 std::to_string(new_handlers.size()) + "."));
        for (const AgglomerationHandler<dim> *handler : new_handlers)
          AssertThrow(triangulation != nullptr &&
                        &handler->get_triangulation() == triangulation,
                      ExcUserInput("restore() needs a handler of the "
                                   "triangulation that load() has filled."));
        own.ids.assign(triangulation->n_active_cells(), 0);
        std::map<unsigned int, unsigned int> complete;
        for (const auto &cell : triangulation->active_cell_iterators())
          if (cell->is_locally_owned())
            {
              const unsigned int     c      = cell->active_cell_index();
              const CellRecord<dim> &record = records[c];
              own.ids[c]                    = record.polytope;
              ++n_cells[record.polytope];
              complete[record.polytope] = record.n_cells;
              if (record.first)
                own.polynomials[record.polytope] = record.polynomials;
            }
        for (const auto &n : n_cells)
          if (n.second < complete[n.first])
            {
              own.cut.push_back(n.first);
              if (own.polynomials.count(n.first) > 0)
                pack_polynomials<dim>(own.polynomials[n.first],
                                      own_data[n.first]);
            }
        AssertThrow(split_cut || own.cut.empty(),
                    ExcUserInput(
                      "The partition cuts polytopes of the checkpoint \"" +
                      name + "\", written on " +
                      std::to_string(header.n_processes) +
                      " processes: read it on as many, agglomerate by families "
                      "of cells, which are never cut, or let them be split."));
      });
      any_piece =
        dealii::Utilities::MPI::max(own.cut.empty() ? 0 : 1, communicator) > 0;
      if (any_piece)
        for (const auto &others :
             dealii::Utilities::MPI::all_gather(communicator, own_data))
          for (const auto &other : others)
            if (n_cells.count(other.first) > 0)
              unpack_polynomials<dim>(other.second.data(),
                                      other.second.size(),
                                      own.polynomials[other.first]);
      return own;
    }

    /// Distributes DoFs of handler @p i with the degrees of its polynomials.
    /// All processes use the same collection of finite elements. Collective.
    void
    distribute_dofs(const unsigned int         i,
                    AgglomerationHandler<dim> &new_handler) const
    {
      unsigned int here[Legendre::max_degree + 1] = {};
      unsigned int present[Legendre::max_degree + 1];
      for (const auto &of_polytope : polynomials)
        here[of_polytope[i].degree] = 1;
      dealii::Utilities::MPI::max(here, communicator, present);
      dealii::hp::FECollection<dim> collection;
      std::vector<unsigned int>     index(Legendre::max_degree + 1, 0);
      for (unsigned int p = 0; p <= Legendre::max_degree; ++p)
        if (present[p] > 0)
          {
            index[p] = collection.size();
            const FE_BoundingBoxLegendre<dim> fe(p, space(i));
            const unsigned int                n = header.spaces[i].n_components;
            if (n == 1)
              collection.push_back(fe);
            else
              collection.push_back(dealii::FESystem<dim>(fe, n));
          }
      std::vector<unsigned int> indices;
      for (const auto &of_polytope : polynomials)
        indices.push_back(index[of_polytope[i].degree]);
      new_handler.distribute_dofs(collection, indices);
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
    for (const CheckpointFile &file : data.header.files)
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
  CheckpointReader<dim>::n_handlers() const
  {
    return implementation->header.spaces.size();
  }

  template <int dim>
  unsigned int
  CheckpointReader<dim>::n_solutions(const unsigned int handler) const
  {
    const CheckpointHeader &header = implementation->header;
    AssertThrow(handler < header.spaces.size(),
                ExcUserInput("The checkpoint \"" + implementation->name +
                             "\" has " + std::to_string(header.spaces.size()) +
                             " handlers, counted from 0; there is no handler " +
                             std::to_string(handler) + "."));
    return header.spaces[handler].n_vectors;
  }



  template <int dim>
  void
  CheckpointReader<dim>::load(dealii::Triangulation<dim> &triangulation)
  {
    Implementation         &data   = *implementation;
    const CheckpointHeader &header = data.header;
    const std::string       kind   = kind_of(triangulation, data.communicator);
    const std::string       file   = "The checkpoint \"" + data.name + "\" ";
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
    restore(std::vector<AgglomerationHandler<dim> *>(1, &handler), split_cut);
  }



  template <int dim>
  void
  CheckpointReader<dim>::restore(
    const std::vector<AgglomerationHandler<dim> *> &handlers,
    const bool                                      split_cut)
  {
    Implementation &data = *implementation;
    const auto      own  = data.own_polytopes(handlers, split_cut);
    data.handlers.clear();
    data.polynomials.clear();
    data.is_piece.clear();
    for (unsigned int i = 0; i < handlers.size(); ++i)
      {
        AgglomerationHandler<dim> &handler = *handlers[i];
        handler.agglomerate(Agglomeration::by_id<dim>(own.ids));
        const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
        for (unsigned int k = 0; i == 0 && k < handler.n_polytopes(); ++k)
          {
            const unsigned int id =
              own.ids[mesh.subcell_cell[mesh.subcell_offset[k]]];
            data.polynomials.push_back(own.polynomials.at(id));
            data.is_piece.push_back(
              std::binary_search(own.cut.begin(), own.cut.end(), id));
          }
        data.distribute_dofs(i, handler);
        data.handlers.push_back(&handler);
      }
  }



  template <int dim>
  void
  CheckpointReader<dim>::read(const AgglomerationHandler<dim> &handler,
                              const VectorViews               &solutions) const
  {
    const Implementation &data = *implementation;
    const MPI_Comm        comm = data.communicator;
    const unsigned int    index =
      std::find(data.handlers.begin(), data.handlers.end(), &handler) -
      data.handlers.begin();
    unsigned int                     n_vectors = 0;
    std::vector<std::vector<double>> memory(solutions.size());
    std::vector<double *>            values;
    on_all_processes(comm, [&]() {
      AssertThrow(index < data.handlers.size(),
                  ExcUserInput("read() needs the handler that restore() has "
                               "filled."));
      n_vectors = data.header.spaces[index].n_vectors;
      AssertThrow(solutions.size() == n_vectors,
                  ExcUserInput("The checkpoint \"" + data.name + "\" has " +
                               std::to_string(n_vectors) + " vectors, not " +
                               std::to_string(solutions.size()) + "."));
      for (std::size_t i = 0; i < solutions.size(); ++i)
        values.push_back(
          solutions[i].start(handler.n_locally_owned_dofs(), memory[i]));
    });
    if (n_vectors == 0)
      return;
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    if (data.any_piece)
      {
        // The box of a piece differs from that of the stored polytope.
        std::vector<CellPolynomial<dim>> of_cells(
          data.triangulation->n_active_cells());
        for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1];
               ++s)
            of_cells[mesh.subcell_cell[s]] = data.polynomials[k][index];
        project_cell_polynomials(
          handler, of_cells, data.space(index), handler.max_degree(), values);
      }
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      if (!data.is_piece[k])
        copy_coefficients(handler.polytopic_dofs(),
                          k,
                          data.polynomials[k][index].coefficients,
                          values);
    on_all_processes(comm, [&]() {
      for (std::size_t i = 0; i < solutions.size(); ++i)
        solutions[i].finish(memory[i]);
    });
  }



  template class CheckpointReader<2>;
  template class CheckpointReader<3>;
} // namespace Tessella
