// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_values_mesh_loop_h
#define tessella_values_mesh_loop_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/types.h>
#include <deal.II/base/work_stream.h>

#include <deal.II/fe/fe_update_flags.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>
#include <deal.II/meshworker/assemble_flags.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/values/polytope_interface_values.h>
#include <tessella/values/polytope_values.h>

#include <exception>
#include <functional>
#include <vector>

namespace Tessella
{
  /**
   * Workers of mesh_loop(). They are called as those of
   * dealii::MeshWorker::mesh_loop(), without the numbers of subfaces: a face of
   * a polytope is all that it shares with one neighbour or one boundary id, so
   * that there are none. An empty function is not called.
   */
  template <int dim, typename ScratchData, typename CopyData>
  struct MeshLoopWorkers
  {
    /// (polytope, scratch, copy)
    using CellWorker = std::function<
      void(const PolytopeIterator<dim> &, ScratchData &, CopyData &)>;
    /// (polytope, face, scratch, copy)
    using BoundaryWorker = std::function<void(const PolytopeIterator<dim> &,
                                              const unsigned int,
                                              ScratchData &,
                                              CopyData &)>;
    /// (polytope, face, neighbour, face of the neighbour, scratch, copy). The
    /// face of a neighbour that another process owns is
    /// numbers::invalid_unsigned_int.
    using FaceWorker = std::function<void(const PolytopeIterator<dim> &,
                                          const unsigned int,
                                          const PolytopeIterator<dim> &,
                                          const unsigned int,
                                          ScratchData &,
                                          CopyData &)>;
    /// (copy)
    using Copier = std::function<void(const CopyData &)>;
  };

  namespace internal
  {
    /// Whether a loop that visits interior faces once visits this one from
    /// @p polytope: the one with the lower index among the polytopes of all
    /// processes, so that "here" does not depend on the number of processes.
    /// A polytope that is its own neighbour through a periodic boundary has two
    /// faces there; the loop visits the first.
    template <int dim>
    bool
    visits_face_once(const PolytopeIterator<dim> &polytope,
                     const unsigned int           face,
                     const PolytopeIterator<dim> &neighbor,
                     const unsigned int           neighbor_face)
    {
      const unsigned int here  = polytope->global_index(),
                         there = neighbor->global_index();
      return here < there || (here == there && face < neighbor_face);
    }

    /// Calls the workers for the faces of @p polytope that @p flags choose.
    template <int dim, typename ScratchData, typename CopyData>
    void
    work_on_faces(
      const PolytopeIterator<dim> &polytope,
      const typename MeshLoopWorkers<dim, ScratchData, CopyData>::BoundaryWorker
        &boundary_worker,
      const typename MeshLoopWorkers<dim, ScratchData, CopyData>::FaceWorker
                                             &face_worker,
      const dealii::MeshWorker::AssembleFlags flags,
      ScratchData                            &scratch,
      CopyData                               &copy)
    {
      using namespace dealii::MeshWorker;
      for (unsigned int f = 0; f < polytope->n_faces(); ++f)
        if (polytope->at_boundary(f))
          {
            if (boundary_worker && (flags & assemble_boundary_faces))
              boundary_worker(polytope, f, scratch, copy);
          }
        else if (face_worker)
          {
            const PolytopeIterator<dim> neighbor = polytope->neighbor(f);
            const bool                  own      = neighbor->is_locally_owned();
            const AssembleFlags once = own ? assemble_own_interior_faces_once
                                           : assemble_ghost_faces_once;
            const AssembleFlags both = own ? assemble_own_interior_faces_both
                                           : assemble_ghost_faces_both;
            if (!(flags & (once | both)))
              continue;
            const unsigned int neighbor_face =
              own ? polytope->neighbor_of_agglomerated_neighbor(f)
                  : dealii::numbers::invalid_unsigned_int;
            if ((flags & both) ||
                visits_face_once<dim>(polytope, f, neighbor, neighbor_face))
              face_worker(polytope, f, neighbor, neighbor_face, scratch, copy);
          }
    }

    /// Input of the copier for one polytope: its data, or the exception
    /// that a worker threw.
    template <typename CopyData>
    struct MeshLoopItem
    {
      CopyData           data;
      std::exception_ptr error;
    };

    /// Throws unless mesh_loop() can do what @p flags say.
    void
    check_mesh_loop_flags(const dealii::MeshWorker::AssembleFlags flags,
                          const bool has_cell_worker,
                          const bool has_boundary_worker,
                          const bool has_face_worker);
  } // namespace internal

  /**
   * Loop over polytopes and their faces, with the arguments of
   * dealii::MeshWorker::mesh_loop(): workers compute local contributions on
   * several threads, and the copier adds them to global objects.
   *
   * <b>Order.</b> The copier runs on one thread at a time and in the order of
   * the polytopes, once for each of them, so that matrices and vectors have the
   * same bits for any number of threads.
   *
   * <b>Flags.</b> assemble_own_cells, assemble_boundary_faces,
   * assemble_own_interior_faces_once or _both, assemble_ghost_faces_once or
   * _both, cells_after_faces. Faces that are visited once are visited from the
   * polytope with the lower index among those of all processes, on the process
   * that owns it; a copier then writes into rows of another process, which
   * compress() sends there. Ghost polytopes have no cells on this process, so
   * that assemble_ghost_cells is an error, as are flags without their worker
   * and both kinds of visits to the same faces.
   *
   * <b>Errors.</b> If workers or the copier throw, the loop throws the
   * exception of the first polytope that has one, when all threads have come to
   * their end. The copier has then been called for the polytopes before it and
   * for none after it.
   *
   * @param polytopes handler.polytope_iterators() or a part of it.
   * @param scratch   sample of what each thread has for itself, copied for each
   *                  thread, for example a PolytopeScratchData.
   * @param copy      sample of what the copier receives, copied for each
   *                  polytope, for example a PolytopeCopyData.
   * @param queue_length, chunk_size as in dealii::WorkStream::run().
   */
  template <int dim, typename ScratchData, typename CopyData>
  void
  mesh_loop(
    const dealii::IteratorRange<PolytopeIterator<dim>> &polytopes,
    const typename MeshLoopWorkers<dim, ScratchData, CopyData>::CellWorker
      &cell_worker,
    const typename MeshLoopWorkers<dim, ScratchData, CopyData>::Copier &copier,
    const ScratchData                                                  &scratch,
    const CopyData                                                     &copy,
    const dealii::MeshWorker::AssembleFlags                             flags,
    const typename MeshLoopWorkers<dim, ScratchData, CopyData>::BoundaryWorker
      &boundary_worker = {},
    const typename MeshLoopWorkers<dim, ScratchData, CopyData>::FaceWorker
                      &face_worker  = {},
    const unsigned int queue_length = 2 * dealii::MultithreadInfo::n_threads(),
    const unsigned int chunk_size   = 8)
  {
    internal::check_mesh_loop_flags(flags,
                                    bool(cell_worker),
                                    bool(boundary_worker),
                                    bool(face_worker));
    AssertThrow(copier, dealii::ExcMessage("mesh_loop() needs a copier."));
    using Item = internal::MeshLoopItem<CopyData>;

    const auto work = [&](const PolytopeIterator<dim> &polytope,
                          ScratchData                 &thread_scratch,
                          Item                        &item) {
      item.error = nullptr;
      try
        {
          item.data            = copy;
          const bool cells     = flags & dealii::MeshWorker::assemble_own_cells;
          const bool cell_last = flags & dealii::MeshWorker::cells_after_faces;
          if (cells && !cell_last)
            cell_worker(polytope, thread_scratch, item.data);
          internal::work_on_faces<dim, ScratchData, CopyData>(polytope,
                                                              boundary_worker,
                                                              face_worker,
                                                              flags,
                                                              thread_scratch,
                                                              item.data);
          if (cells && cell_last)
            cell_worker(polytope, thread_scratch, item.data);
        }
      catch (...)
        {
          item.error = std::current_exception();
        }
    };

    std::exception_ptr first_error;
    const auto         copy_item = [&](const Item &item) {
      if (first_error != nullptr)
        return;
      first_error = item.error;
      try
        {
          if (first_error == nullptr)
            copier(item.data);
        }
      catch (...)
        {
          first_error = std::current_exception();
        }
    };

    const PolytopeIterator<dim> begin = *polytopes.begin(),
                                end   = *polytopes.end();
    if (begin == end)
      return;
    dealii::WorkStream::run(begin,
                            end,
                            work,
                            copy_item,
                            scratch,
                            Item{copy, nullptr},
                            queue_length,
                            chunk_size);
    if (first_error != nullptr)
      std::rethrow_exception(first_error);
  }



  /**
   * Scratch data of mesh_loop(): shape functions on a polytope and on its
   * faces. A copy has its own shape functions, with the same arguments.
   */
  template <int dim>
  class PolytopeScratchData
  {
  public:
    /**
     * @param extra_order order of the quadrature above 2 p, as in
     *                    PolytopeValues, on polytopes and faces.
     * @param update_flags, face_update_flags of polytopes and of faces.
     */
    PolytopeScratchData(const AgglomerationHandler<dim> &handler,
                        const unsigned int               extra_order,
                        const dealii::UpdateFlags        update_flags,
                        const dealii::UpdateFlags        face_update_flags)
      : handler(&handler)
      , extra_order(extra_order)
      , update_flags(update_flags)
      , face_update_flags(face_update_flags)
      , polytope_values(handler, extra_order, update_flags)
      , interface_values(handler, extra_order, face_update_flags)
    {}

    PolytopeScratchData(const PolytopeScratchData &other)
      : PolytopeScratchData(*other.handler,
                            other.extra_order,
                            other.update_flags,
                            other.face_update_flags)
    {}

    PolytopeScratchData &
    operator=(const PolytopeScratchData &) = delete;

    /// Shape functions of @p polytope.
    const PolytopeValues<dim> &
    reinit(const PolytopeAccessor<dim> &polytope)
    {
      polytope_values.reinit(polytope);
      return polytope_values;
    }

    /// Shape functions on both sides of a face of @p polytope.
    const PolytopeInterfaceValues<dim> &
    reinit(const PolytopeAccessor<dim> &polytope, const unsigned int face)
    {
      interface_values.reinit(polytope, face);
      return interface_values;
    }

  private:
    const AgglomerationHandler<dim> *handler;
    unsigned int                     extra_order;
    dealii::UpdateFlags              update_flags, face_update_flags;
    PolytopeValues<dim>              polytope_values;
    PolytopeInterfaceValues<dim>     interface_values;
  };



  /**
   * Data that workers of mesh_loop() hand to its copier: a list of local
   * matrices and vectors with their global degrees of freedom, one for the
   * polytope and one for each face.
   */
  struct PolytopeCopyData
  {
    /// Contribution of a polytope or of a face.
    struct Local
    {
      dealii::FullMatrix<double>                   matrix;
      dealii::Vector<double>                       rhs;
      std::vector<dealii::types::global_dof_index> dofs;
    };

    std::vector<Local> contributions;

    /// New contribution for the given degrees of freedom, filled with zeros.
    /// References to earlier ones become invalid.
    Local &
    add(const std::vector<dealii::types::global_dof_index> &dofs)
    {
      contributions.push_back({dealii::FullMatrix<double>(dofs.size()),
                               dealii::Vector<double>(dofs.size()),
                               dofs});
      return contributions.back();
    }

    /// New contribution for the degrees of freedom of a polytope.
    template <int dim>
    Local &
    add(const PolytopeAccessor<dim> &polytope)
    {
      std::vector<dealii::types::global_dof_index> dofs;
      polytope.get_dof_indices(dofs);
      return add(dofs);
    }

    /// New contribution for the degrees of freedom on both sides of a face.
    template <int dim>
    Local &
    add(const PolytopeInterfaceValues<dim> &values)
    {
      return add(values.get_interface_dof_indices());
    }

    /// Adds all contributions to a matrix and a vector of deal.II.
    template <typename MatrixType, typename VectorType>
    void
    distribute_local_to_global(MatrixType &matrix, VectorType &rhs) const
    {
      // Boundary values are imposed weakly, so that there are no constraints.
      dealii::AffineConstraints<double> constraints;
      constraints.close();
      for (const Local &local : contributions)
        constraints.distribute_local_to_global(
          local.matrix, local.rhs, local.dofs, matrix, rhs);
    }
  };



  /**
   * Adds a form of your own to a matrix and a right-hand side of deal.II, by
   * mesh_loop() with PolytopeScratchData and PolytopeCopyData:
   *
   *     assemble_by_hand<dim>(
   *       handler,
   *       extra_order,
   *       update_values | update_gradients,
   *       [&](const PolytopeValues<dim> &values,
   *           PolytopeCopyData::Local   &local) {
   *         ... local.matrix(i, j) += ... values.JxW(q);
   *       },
   *       [&](const PolytopeInterfaceValues<dim> &values,
   *           PolytopeCopyData::Local            &local) {
   *         ... values.at_boundary() ...
   *       },
   *       matrix,
   *       rhs);
   *
   * The first function is called once for each polytope, the second once for
   * each interface between polytopes and once for each boundary id of each
   * polytope, on several threads at once. Matrix and vector keep what they
   * have, and are compressed at the end; the matrix must have the entries of
   * AgglomerationHandler::make_sparsity_pattern(). Results, bits and errors: as
   * for mesh_loop(). Collective.
   *
   * @param extra_order order of the quadrature above 2 p.
   * @param flags       update flags on polytopes and on interfaces.
   */
  template <int dim, typename MatrixType, typename VectorType>
  void
  assemble_by_hand(
    const AgglomerationHandler<dim>                      &handler,
    const unsigned int                                    extra_order,
    const dealii::UpdateFlags                             flags,
    const std::function<void(const PolytopeValues<dim> &,
                             PolytopeCopyData::Local &)> &on_polytope,
    const std::function<void(const PolytopeInterfaceValues<dim> &,
                             PolytopeCopyData::Local &)> &on_interface,
    MatrixType                                           &matrix,
    VectorType                                           &rhs)
  {
    using Scratch   = PolytopeScratchData<dim>;
    const auto face = [&](const PolytopeIterator<dim> &polytope,
                          const unsigned int           f,
                          Scratch                     &scratch,
                          PolytopeCopyData            &copy) {
      const PolytopeInterfaceValues<dim> &values = scratch.reinit(polytope, f);
      on_interface(values, copy.add(values));
    };
    mesh_loop<dim, Scratch, PolytopeCopyData>(
      handler.polytope_iterators(),
      [&](const PolytopeIterator<dim> &polytope,
          Scratch                     &scratch,
          PolytopeCopyData            &copy) {
        on_polytope(scratch.reinit(polytope), copy.template add<dim>(polytope));
      },
      [&](const PolytopeCopyData &copy) {
        copy.distribute_local_to_global(matrix, rhs);
      },
      Scratch(handler, extra_order, flags, flags),
      PolytopeCopyData(),
      dealii::MeshWorker::assemble_own_cells |
        dealii::MeshWorker::assemble_boundary_faces |
        dealii::MeshWorker::assemble_own_interior_faces_once |
        dealii::MeshWorker::assemble_ghost_faces_once,
      face,
      [&](const PolytopeIterator<dim> &polytope,
          const unsigned int           f,
          const PolytopeIterator<dim> &,
          const unsigned int,
          Scratch          &scratch,
          PolytopeCopyData &copy) { face(polytope, f, scratch, copy); });
    matrix.compress(dealii::VectorOperation::add);
    rhs.compress(dealii::VectorOperation::add);
  }
} // namespace Tessella

#endif
