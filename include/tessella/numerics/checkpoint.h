// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_checkpoint_h
#define tessella_numerics_checkpoint_h

#include <deal.II/base/mpi.h>

#include <deal.II/grid/tria.h>

#include <tessella/grid/agglomeration_handler.h>

#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /**
   * Writes mesh, polytopes, degrees and discrete functions so that
   * CheckpointReader can go on from there, by deal.II's own serialisation:
   *   - parallel::distributed::Triangulation: save() with data attached to
   *     cells; to be read on any number of processes;
   *   - parallel::fullydistributed::Triangulation: save(), to be read on as
   * many processes (deal.II 9.4 can do no other), with a file for each;
   *   - serial triangulations: a boost archive.
   * parallel::shared::Triangulation on several processes is an error.
   *
   * <b>Files.</b> @p file_name is a short text: magic word, versions, sizes and
   * checksums of the other files, and @p user_data, any text of the program
   * (parameters, time, number of the step). The others are called @p file_name,
   * a dot, a number that no earlier checkpoint of that name has, and endings of
   * deal.II. The text is written last and replaces that of an earlier
   * checkpoint at once, whose other files are removed only then: whenever a
   * program is ended, there is a whole checkpoint, the earlier one or this one.
   *
   * @p solutions may be empty. VectorType: dealii::Vector<double>,
   * LinearAlgebra::distributed::Vector<double> or
   * TrilinosWrappers::MPI::Vector. Collective; an error on one process is
   * thrown on all. (What p4est itself cannot write ends the program, and leaves
   * the earlier checkpoint.) Stored are the coefficients of every polytope and
   * 24 bytes a cell besides what deal.II writes.
   */
  template <int dim, typename VectorType>
  void
  write_checkpoint(const std::string                     &file_name,
                   dealii::Triangulation<dim>            &triangulation,
                   const AgglomerationHandler<dim>       &handler,
                   const std::vector<const VectorType *> &solutions,
                   const std::string                     &user_data = "");

  /**
   * Reads what write_checkpoint() wrote:
   *
   *     CheckpointReader<dim> reader(file_name, communicator);
   *     reader.load(triangulation);
   *     AgglomerationHandler<dim> handler(triangulation);
   *     reader.restore(handler);
   *     solution.reinit(handler.locally_owned_dofs(), communicator);
   *     reader.read(handler, solution);
   *
   * Polytopes, degrees and coefficients are the same to the last bit, on any
   * number of processes; polytopes that a new partition cuts are an error or,
   * if so wished, are split, and their functions remain what they are up to
   * rounding. Material and boundary ids are those of the coarse mesh (on serial
   * triangulations: as they were).
   *
   * Errors, on all processes: a file that is missing, is none of these, was
   * written by another version of Tessella or deal.II or for another dimension,
   * is truncated or changed (sizes and checksums of all files are compared
   * before deal.II reads them); a triangulation of another kind, or with
   * another coarse mesh; another number of processes for fully distributed
   * meshes. All functions are collective.
   */
  template <int dim>
  class CheckpointReader
  {
  public:
    CheckpointReader(const std::string &file_name, const MPI_Comm communicator);
    ~CheckpointReader();

    /// The text given to write_checkpoint().
    const std::string &
    user_data() const;

    /// Number of functions.
    unsigned int
    n_solutions() const;

    /**
     * Gives @p triangulation, of the same class as then, the mesh of the
     * checkpoint. Before, a parallel::distributed::Triangulation must hold the
     * coarse mesh, unrefined, a parallel::fullydistributed::Triangulation
     * nothing; what a serial one holds is replaced, except its manifolds.
     */
    void
    load(dealii::Triangulation<dim> &triangulation);

    /// Polytopes and degrees of freedom for a handler of that triangulation.
    /// @p split_cut: polytopes that the partition cuts are split, else they are
    /// an error.
    void
    restore(AgglomerationHandler<dim> &handler, const bool split_cut = false);

    /// The functions, for the handler that restore() filled.
    template <typename VectorType>
    void
    read(const AgglomerationHandler<dim> &handler,
         const std::vector<VectorType *> &solutions) const;
    template <typename VectorType>
    void
    read(const AgglomerationHandler<dim> &handler, VectorType &solution) const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
