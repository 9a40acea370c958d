// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/distributed/tria_base.h>
#include <deal.II/grid/tria_description.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/checkpoint.h>
#include <tessella/numerics/write_file.h>

#include <boost/archive/binary_oarchive.hpp>
#include <cstdio>
#include <sstream>

#include "../base/collective.h"
#include "checkpoint_files.h"
#include "new_file.h"
#include "same_polytopes.h"

namespace Tessella
{
  using namespace internal;

  namespace
  {
    /// Writes the files of one checkpoint. All functions but those that are
    /// const are collective.
    template <int dim>
    class CheckpointWriter
    {
    public:
      using Handlers = std::vector<const AgglomerationHandler<dim> *>;
      /// For each handler and each of its functions the coefficients of this
      /// process.
      using Values = std::vector<std::vector<const double *>>;

      /// The handlers have the same polytopes.
      CheckpointWriter(const std::string          &file_name,
                       dealii::Triangulation<dim> &triangulation,
                       const Handlers             &handlers,
                       const Values               &values,
                       const std::string          &user_data)
        : file_name(file_name)
        , triangulation(triangulation)
        , parallel(
            dynamic_cast<dealii::parallel::DistributedTriangulationBase<dim> *>(
              &triangulation))
        , handlers(handlers)
        , handler(*handlers[0])
        , mesh(handler.polytopic_mesh())
        , values(values)
        , comm(handler.get_communicator())
      {
        header.dim         = dim;
        header.n_processes = n_processes(comm);
        header.kind        = kind_of(triangulation, comm);
        header.coarse_mesh =
          header.kind == "p4est" ? coarse_mesh_number(triangulation) : 0;
        header.n_cells     = triangulation.n_global_active_cells();
        header.n_polytopes = handler.n_global_polytopes();
        for (unsigned int i = 0; i < handlers.size(); ++i)
          {
            const bool tensor_product = handlers[i]->polynomial_space() ==
                                        PolynomialSpaceType::tensor_product;
            CheckpointSpace space;
            space.n_dofs       = handlers[i]->n_dofs();
            space.n_components = handlers[i]->n_components();
            space.n_vectors    = static_cast<unsigned int>(values[i].size());
            space.space = tensor_product ? "tensor-product" : "total-degree";
            header.spaces.push_back(space);
          }
        header.user_data = user_data;
      }

      void
      write()
      {
        choose_number();
        std::vector<std::string> files;
        for (const std::string &ending : checkpoint_endings(header.n_processes))
          files.push_back(stem + ending);
        if (this_process(comm) == 0)
          for (const std::string &file : files)
            std::remove(file.c_str());
        UnfinishedFiles unfinished(files);

        subcell = subcells_of_cells(mesh, triangulation.n_active_cells());
        reserve_space();
        save_mesh_and_cells();
#ifdef DEAL_II_WITH_MPI
        if (header.n_processes > 1)
          MPI_Barrier(comm);
#endif
        on_all_processes(comm, [&]() { check_sizes(); });
        list_files();
        on_all_processes(comm, [&]() { publish(unfinished); });
      }

    private:
      using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;

      /// Reads the header of an earlier checkpoint of this name, if there is a
      /// valid one, and chooses the number after that of its files.
      void
      choose_number()
      {
        const std::string text = read_text(file_name, comm);
        try
          {
            old.read(text, file_name);
          }
        catch (const dealii::ExceptionBase &)
          {
            old = CheckpointHeader();
          }
        std::uint64_t number = 1;
        std::istringstream(old.stem) >> number;
        header.stem = std::to_string(old.stem.empty() ? 1 : number + 1);
        stem        = file_name + "." + header.stem;
      }

      CellRecord<dim>
      record(const CellIterator &cell) const
      {
        const unsigned int k =
          handler.polytope_of_cell()[cell->active_cell_index()];
        CellRecord<dim> result;
        result.cell     = cell->id().template to_binary<dim>();
        result.polytope = handler.global_polytope_index(k);
        result.n_cells  = mesh.subcell_offset[k + 1] - mesh.subcell_offset[k];
        result.first =
          subcell[cell->active_cell_index()] == mesh.subcell_offset[k];
        if (result.first)
          for (unsigned int i = 0; i < handlers.size(); ++i)
            result.polynomials.push_back(cell_polynomial(
              mesh, handlers[i]->polytopic_dofs(), k, values[i]));
        return result;
      }

      /// Computes a lower bound of the size that deal.II will write, and throws
      /// if there is no space for it. p4est aborts the program when it cannot
      /// write, and MPI may not notice that the disk is full.
      void
      reserve_space()
      {
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
        if (parallel != nullptr)
          {
            size_of_records =
              dealii::Utilities::MPI::sum(size_of_records, comm);
            size_of_mesh = dealii::Utilities::MPI::sum(size_of_mesh, comm);
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
          mesh_file.reserve(size_of_mesh + 4096 +
                            400 * triangulation.n_cells(0));
        });
      }

      void
      save_mesh_and_cells()
      {
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
                       [&](std::ostream &out) { write_cells(out); });
        });
      }

      /// Writes the data of the cells of this process besides the mesh.
      void
      write_cells(std::ostream &out) const
      {
        for (const auto &cell : triangulation.active_cell_iterators())
          if (cell->is_locally_owned())
            {
              const std::vector<char> data = record(cell).pack();
              const std::uint64_t     size = data.size();
              out.write(reinterpret_cast<const char *>(&size), sizeof(size));
              out.write(data.data(), static_cast<std::streamsize>(size));
            }
      }

      /// Throws on the first process if a file of deal.II is too short.
      void
      check_sizes() const
      {
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
      }

      /// Enters the files that exist, with their checksums, into the header.
      void
      list_files()
      {
        std::string list;
        if (this_process(comm) == 0)
          for (const std::string &ending :
               checkpoint_endings(header.n_processes))
            if (file_size(stem + ending) >= 0)
              list += "\"" + ending + "\" " +
                      std::to_string(file_size(stem + ending)) + "\n";
        std::istringstream in(broadcast(list, comm));
        for (CheckpointFile file; in >> file.ending >> file.size;)
          {
            file.ending   = file.ending.substr(1, file.ending.size() - 2);
            file.checksum = file_checksum(stem + file.ending, file.size, comm);
            header.files.push_back(file);
          }
      }

      /// Makes this checkpoint the valid one and removes the earlier one.
      void
      publish(UnfinishedFiles &unfinished) const
      {
        for (const CheckpointFile &file : header.files)
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
        for (const CheckpointFile &file : old.files)
          std::remove((file_name + "." + old.stem + file.ending).c_str());
      }

      const std::string           file_name;
      dealii::Triangulation<dim> &triangulation;
      /// The same triangulation; null if it is a serial one.
      dealii::parallel::DistributedTriangulationBase<dim> *const parallel;
      const Handlers                                             handlers;
      const AgglomerationHandler<dim> &handler; ///< the first one
      const PolytopicMesh<dim>        &mesh;
      const Values                     values;
      const MPI_Comm                   comm;
      /// Headers of this checkpoint and of the earlier one.
      CheckpointHeader header, old;
      /// Beginning of the names of all files but the header.
      std::string stem;
      /// Sub-cells of the active cells.
      std::vector<unsigned int> subcell;
      std::uint64_t             size_of_records = 0, size_of_mesh = 0;
    };
  } // namespace



  template <int dim>
  void
  write_checkpoint(const std::string               &file_name,
                   dealii::Triangulation<dim>      &triangulation,
                   const AgglomerationHandler<dim> &handler,
                   const ConstVectorViews          &solutions,
                   const std::string               &user_data)
  {
    write_checkpoint(file_name,
                     triangulation,
                     std::vector<const AgglomerationHandler<dim> *>(1,
                                                                    &handler),
                     std::vector<ConstVectorViews>(1, solutions),
                     user_data);
  }



  template <int dim>
  void
  write_checkpoint(
    const std::string                                    &file_name,
    dealii::Triangulation<dim>                           &triangulation,
    const std::vector<const AgglomerationHandler<dim> *> &handlers,
    const std::vector<ConstVectorViews>                  &solutions,
    const std::string                                    &user_data)
  {
    // All processes have the same numbers of handlers and functions.
    AssertThrow(!handlers.empty() && handlers.size() == solutions.size(),
                ExcUserInput("A checkpoint needs one list of functions for "
                             "each of its handlers, but there are " +
                             std::to_string(handlers.size()) +
                             " handlers and " +
                             std::to_string(solutions.size()) + " lists."));
    std::vector<std::vector<std::vector<double>>> memory(handlers.size());
    std::vector<std::vector<const double *>>      values(handlers.size());
    on_all_processes(handlers[0]->get_communicator(), [&]() {
      for (unsigned int i = 0; i < handlers.size(); ++i)
        {
          AssertThrow(&handlers[i]->get_triangulation() == &triangulation &&
                        handlers[i]->n_dofs() > 0,
                      ExcUserInput("A checkpoint needs the triangulation of a "
                                   "handler with degrees of freedom."));
          AssertThrow(have_same_polytopes(*handlers[0], *handlers[i]),
                      ExcUserInput("The handlers of one checkpoint have "
                                   "different polytopes: agglomerate them "
                                   "alike."));
          memory[i].resize(solutions[i].size());
          for (std::size_t j = 0; j < solutions[i].size(); ++j)
            values[i].push_back(
              solutions[i][j].values(handlers[i]->n_locally_owned_dofs(),
                                     memory[i][j]));
        }
    });
    CheckpointWriter<dim>(file_name, triangulation, handlers, values, user_data)
      .write();
  }



#define TESSELLA_INSTANTIATE(dim)                                   \
  template void write_checkpoint(const std::string &,               \
                                 dealii::Triangulation<dim> &,      \
                                 const AgglomerationHandler<dim> &, \
                                 const ConstVectorViews &,          \
                                 const std::string &);              \
  template void write_checkpoint(                                   \
    const std::string &,                                            \
    dealii::Triangulation<dim> &,                                   \
    const std::vector<const AgglomerationHandler<dim> *> &,         \
    const std::vector<ConstVectorViews> &,                          \
    const std::string &);

  TESSELLA_INSTANTIATE(2)
  TESSELLA_INSTANTIATE(3)
#undef TESSELLA_INSTANTIATE
} // namespace Tessella
