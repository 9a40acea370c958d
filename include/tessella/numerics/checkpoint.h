// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_checkpoint_h
#define tessella_numerics_checkpoint_h

#include <deal.II/base/mpi.h>

#include <deal.II/grid/tria.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/vector_view.h>

#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /**
   * Writes mesh, polytopes, degrees and discrete functions so that
   * CheckpointReader can continue from there, by deal.II's own serialisation:
   * - parallel::distributed::Triangulation: save() with data attached to cells,
   *   which can be read on any number of processes;
   * - parallel::fullydistributed::Triangulation: save() with a file for each
   *   process, which can be read only on the same number of processes (a
   *   limitation of deal.II 9.4);
   * - serial triangulations: a boost archive.
   *
   * parallel::shared::Triangulation on several processes is an error.
   *
   * <b>Files.</b> @p file_name is a short text: magic word, versions, sizes and
   * checksums of the other files, and @p user_data, any text of the program
   * (parameters, time, index of the step). The names of the other files consist
   * of @p file_name, a dot, a number that no earlier checkpoint of that name
   * has, and endings of deal.II. The text is written last and replaces that of
   * an earlier checkpoint at once, whose other files are removed only then.
   * Whenever a program is ended, there is therefore a complete checkpoint,
   * either the earlier one or this one.
   *
   * @p solutions may be empty; vectors are of any type that ConstVectorView
   * lists, and may be read into one of another type. Collective; an error on
   * one process is thrown on all. A write error inside p4est itself ends the
   * program, and leaves the earlier checkpoint intact. In addition to deal.II's
   * data, the coefficients of every polytope and 24 bytes per cell are stored.
   */
  template <int dim>
  void
  write_checkpoint(const std::string               &file_name,
                   dealii::Triangulation<dim>      &triangulation,
                   const AgglomerationHandler<dim> &handler,
                   const ConstVectorViews          &solutions,
                   const std::string               &user_data = "");

  /**
   * The same for several handlers with the same polytopes, such as those of
   * velocity and pressure, whose degrees, components and kinds of polynomials
   * may differ: solutions[i] has the functions of handlers[i].
   *
   *     write_checkpoint<dim>(file_name,
   *                           triangulation,
   *                           {&velocity_handler, &pressure_handler},
   *                           {{velocity, old_velocity}, {pressure}});
   */
  template <int dim>
  void
  write_checkpoint(
    const std::string                                    &file_name,
    dealii::Triangulation<dim>                           &triangulation,
    const std::vector<const AgglomerationHandler<dim> *> &handlers,
    const std::vector<ConstVectorViews>                  &solutions,
    const std::string                                    &user_data = "");

  /**
   * Reads a checkpoint of write_checkpoint():
   *
   *     CheckpointReader<dim> reader(file_name, communicator);
   *     reader.load(triangulation);
   *     AgglomerationHandler<dim> handler(triangulation);
   *     reader.restore(handler);
   *     solution.reinit(handler.locally_owned_dofs(), communicator);
   *     reader.read(handler, solution);
   *
   * Several handlers are restored together, and read() is called for each:
   *
   *     reader.restore({&velocity_handler, &pressure_handler});
   *
   * Polytopes, degrees and coefficients are the same to the last bit, on any
   * number of processes. Polytopes that a new partition cuts are an error or,
   * on request, are split, and their functions stay the same up to rounding.
   * Material and boundary ids are those of the coarse mesh (on serial
   * triangulations, those of the checkpoint).
   *
   * Errors, on all processes: a file that is missing, is not a checkpoint, was
   * written by another version of Tessella or deal.II or for another dimension,
   * is truncated or changed (sizes and checksums of all files are compared
   * before deal.II reads them); a triangulation of another class, or with
   * another coarse mesh; another number of processes for fully distributed
   * meshes. All functions are collective.
   */
  template <int dim>
  class CheckpointReader
  {
  public:
    CheckpointReader(const std::string &file_name, const MPI_Comm communicator);
    ~CheckpointReader();

    /// Text that was passed to write_checkpoint().
    const std::string &
    user_data() const;

    /// Number of handlers in the checkpoint.
    unsigned int
    n_handlers() const;

    /// Number of discrete functions of a handler in the checkpoint.
    unsigned int
    n_solutions(const unsigned int handler = 0) const;

    /**
     * Gives @p triangulation the mesh of the checkpoint. It must have the same
     * class as the triangulation that was written. A
     * parallel::distributed::Triangulation must contain the coarse mesh,
     * unrefined, and a parallel::fullydistributed::Triangulation must be empty;
     * the contents of a serial triangulation are replaced, except its
     * manifolds.
     */
    void
    load(dealii::Triangulation<dim> &triangulation);

    /// Restores polytopes and degrees of freedom, for a handler of that
    /// triangulation. With @p split_cut, polytopes that the partition cuts are
    /// split; otherwise they are an error.
    void
    restore(AgglomerationHandler<dim> &handler, const bool split_cut = false);

    /// The same for all handlers of the checkpoint, in their order.
    void
    restore(const std::vector<AgglomerationHandler<dim> *> &handlers,
            const bool                                      split_cut = false);

    /// Reads the functions of a handler that restore() filled.
    void
    read(const AgglomerationHandler<dim> &handler,
         const VectorViews               &solutions) const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
