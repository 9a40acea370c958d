// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration_handler.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

namespace Tessella
{
  namespace
  {
    // Entry of polytope_interface for face f of a polytope, which holds the
    // interface and its side.
    template <int dim>
    unsigned int
    interface_and_side(const PolytopicMesh<dim> &mesh,
                       const unsigned int        polytope,
                       const unsigned int        f)
    {
      AssertIndexRange(polytope, mesh.n_polytopes());
      AssertIndexRange(f,
                       mesh.polytope_interface_offset[polytope + 1] -
                         mesh.polytope_interface_offset[polytope]);
      return mesh
        .polytope_interface[mesh.polytope_interface_offset[polytope] + f];
    }

    template <int dim>
    const PolytopicDoFs &
    distributed_dofs(const AgglomerationHandler<dim> &handler)
    {
      const PolytopicDoFs &dofs = handler.polytopic_dofs();
      Assert(!dofs.degree.empty(),
             dealii::ExcMessage("Call distribute_dofs() first."));
      return dofs;
    }
  } // namespace

  template <int dim>
  bool
  PolytopeAccessor<dim>::at_boundary(const unsigned int f) const
  {
    const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
    return mesh
             .interface_boundary_id[interface_and_side(mesh, present_index, f) /
                                    2] != invalid_index;
  }

  template <int dim>
  dealii::types::boundary_id
  PolytopeAccessor<dim>::boundary_id(const unsigned int f) const
  {
    Assert(at_boundary(f),
           dealii::ExcMessage("This face is not at the boundary."));
    const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
    return mesh
      .interface_boundary_id[interface_and_side(mesh, present_index, f) / 2];
  }

  template <int dim>
  PolytopeIterator<dim>
  PolytopeAccessor<dim>::neighbor(const unsigned int f) const
  {
    const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
    return PolytopeIterator<dim>(
      *handler, mesh.neighbor(interface_and_side(mesh, present_index, f)));
  }

  template <int dim>
  unsigned int
  PolytopeAccessor<dim>::neighbor_of_agglomerated_neighbor(
    const unsigned int f) const
  {
    Assert(!at_boundary(f),
           dealii::ExcMessage("This face is at the boundary."));
    const PolytopicMesh<dim> &mesh  = handler->polytopic_mesh();
    const unsigned int        other = neighbor(f).index();
    const unsigned int entry = interface_and_side(mesh, present_index, f) ^ 1u;
    const auto         begin =
      mesh.polytope_interface.begin() + mesh.polytope_interface_offset[other];
    const auto end = mesh.polytope_interface.begin() +
                     mesh.polytope_interface_offset[other + 1];
    const auto found = std::find(begin, end, entry);
    Assert(found != end, dealii::ExcInternalError());
    return static_cast<unsigned int>(found - begin);
  }

  template <int dim>
  double
  PolytopeAccessor<dim>::diameter() const
  {
    const double *box =
      handler->polytopic_mesh().box.data() + 2 * dim * present_index;
    double square = 0.;
    for (int d = 0; d < dim; ++d)
      square += (box[dim + d] - box[d]) * (box[dim + d] - box[d]);
    return std::sqrt(square);
  }

  template <int dim>
  dealii::CellId
  PolytopeAccessor<dim>::id() const
  {
    const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
    AssertIndexRange(present_index, mesh.n_polytopes());
    if (!is_locally_owned())
      return handler
        ->ghost_first_cells[present_index - mesh.n_owned_polytopes()];
    return handler
      ->active_cell(mesh.subcell_cell[mesh.subcell_offset[present_index]])
      ->id();
  }

  template <int dim>
  dealii::types::subdomain_id
  PolytopeAccessor<dim>::subdomain_id() const
  {
    // All known cells of a ghost polytope belong to its owner.
    const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
    AssertIndexRange(present_index, mesh.n_polytopes());
    return handler
      ->active_cell(mesh.subcell_cell[mesh.subcell_offset[present_index]])
      ->subdomain_id();
  }

  template <int dim>
  std::vector<typename dealii::Triangulation<dim>::active_cell_iterator>
  PolytopeAccessor<dim>::get_agglomerate() const
  {
    const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
    std::vector<typename dealii::Triangulation<dim>::active_cell_iterator>
      result;
    result.reserve(n_background_cells());
    for (unsigned int s = mesh.subcell_offset[present_index];
         s < mesh.subcell_offset[present_index + 1];
         ++s)
      result.push_back(handler->active_cell(mesh.subcell_cell[s]));
    return result;
  }

  template <int dim>
  std::vector<typename dealii::Triangulation<dim>::active_face_iterator>
  PolytopeAccessor<dim>::polytope_boundary() const
  {
    AssertThrow(is_locally_owned(),
                ExcUserInput("polytope_boundary() is known to the process that "
                             "owns the polytope only: ask for it where "
                             "is_locally_owned() is true."));
    // Faces that two cells of the polytope share lie inside of it.
    using FaceIterator = typename dealii::Triangulation<dim>::face_iterator;
    std::vector<FaceIterator>                       faces;
    std::unordered_map<int, unsigned char>          n_cells;
    const std::function<void(const FaceIterator &)> add =
      [&](const FaceIterator &face) {
        if (face->has_children())
          for (unsigned int c = 0; c < face->n_children(); ++c)
            add(face->child(c));
        else if (++n_cells[face->index()] == 1)
          faces.push_back(face);
      };
    for (const auto &cell : get_agglomerate())
      for (const unsigned int f : cell->face_indices())
        add(cell->face(f));
    std::vector<typename dealii::Triangulation<dim>::active_face_iterator>
      result;
    for (const FaceIterator &face : faces)
      if (n_cells[face->index()] == 1)
        result.emplace_back(face);
    return result;
  }

  template <int dim>
  unsigned int
  PolytopeAccessor<dim>::degree() const
  {
    return distributed_dofs(*handler).degree[present_index];
  }

  template <int dim>
  void
  PolytopeAccessor<dim>::set_active_fe_index(const unsigned int index) const
  {
    handler->check_cells();
    AssertThrow(is_locally_owned(),
                ExcUserInput("set_active_fe_index() was called for a polytope "
                             "of another process: each process chooses the "
                             "elements of the polytopes that it owns."));
    std::vector<unsigned int> &next = handler->next_fe_indices;
    if (next.empty())
      {
        next = handler->fe_indices;
        next.resize(handler->n_polytopes(), 0);
      }
    next[present_index] = index;
  }

  template <int dim>
  unsigned int
  PolytopeAccessor<dim>::n_dofs() const
  {
    const PolytopicDoFs &dofs = distributed_dofs(*handler);
    return static_cast<unsigned int>(dofs.dof_offset[present_index + 1] -
                                     dofs.dof_offset[present_index]);
  }

  template <int dim>
  void
  PolytopeAccessor<dim>::get_dof_indices(
    std::vector<dealii::types::global_dof_index> &indices) const
  {
    indices.resize(n_dofs());
    const dealii::types::global_dof_index first =
      handler->first_dof(present_index);
    for (unsigned int i = 0; i < indices.size(); ++i)
      indices[i] = first + i;
  }

  template <int dim>
  dealii::IteratorState::IteratorStates
  PolytopeIterator<dim>::state() const
  {
    const unsigned int n = this->handler->polytopic_mesh().n_polytopes();
    return this->present_index < n    ? dealii::IteratorState::valid
           : this->present_index == n ? dealii::IteratorState::past_the_end
                                      : dealii::IteratorState::invalid;
  }

  template class PolytopeAccessor<2>;
  template class PolytopeAccessor<3>;
  template class PolytopeIterator<2>;
  template class PolytopeIterator<3>;
} // namespace Tessella
