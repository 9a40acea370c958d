// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/values/polytope_interface_values.h>

#include <algorithm>

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  PolytopeInterfaceValues<dim>::PolytopeInterfaceValues(
    const AgglomerationHandler<dim> &handler,
    const unsigned int               extra_order,
    const UpdateFlags                update_flags)
    : PolytopeValuesBase<dim>(handler, extra_order, update_flags)
    , there(handler, extra_order, update_flags)
  {}



  template <int dim>
  void
  PolytopeInterfaceValues<dim>::reinit(const unsigned int polytope,
                                       const unsigned int face)
  {
    const PolytopicMesh<dim> &mesh = this->handler->polytopic_mesh();
    AssertIndexRange(polytope, mesh.n_polytopes());
    AssertIndexRange(face,
                     mesh.polytope_interface_offset[polytope + 1] -
                       mesh.polytope_interface_offset[polytope]);
    const unsigned int interface_and_side =
      mesh.polytope_interface[mesh.polytope_interface_offset[polytope] + face];
    reinit_interface(interface_and_side / 2, interface_and_side % 2);
  }



  template <int dim>
  void
  PolytopeInterfaceValues<dim>::reinit_interface(
    const unsigned int new_interface, const unsigned int side)
  {
    const PolytopicMesh<dim> &mesh = this->handler->polytopic_mesh();
    AssertIndexRange(new_interface, mesh.n_interfaces());
    AssertIndexRange(side, 2);
    interface = new_interface;

    const unsigned int polytope = mesh.interface_polytope[2 * interface + side];
    const unsigned int neighbor =
      mesh.interface_polytope[2 * interface + 1 - side];
    Assert(polytope != invalid_index,
           ExcMessage("Boundary interfaces have side 0 only."));

    const PolytopicDoFs &dofs   = this->handler->polytopic_dofs();
    unsigned int         degree = dofs.degree[polytope];
    if (neighbor != invalid_index)
      degree = std::max(degree, dofs.degree[neighbor]);
    quadrature.reinit(*this->handler,
                      interface,
                      side,
                      internal::mass_order(*this->handler, degree) +
                        this->extra_order);
    this->fill(polytope,
               quadrature.size(),
               quadrature.x,
               quadrature.JxW,
               quadrature.subcell,
               quadrature.material,
               &quadrature.normal,
               1.);
    if (neighbor == invalid_index)
      there.clear();
    else
      there.fill(neighbor,
                 quadrature.size(),
                 quadrature.neighbor_x,
                 quadrature.JxW,
                 quadrature.neighbor_subcell,
                 quadrature.neighbor_material,
                 &quadrature.normal,
                 -1.);
  }



  template <int dim>
  types::boundary_id
  PolytopeInterfaceValues<dim>::boundary_id() const
  {
    Assert(interface != invalid_index, ExcMessage("Call reinit() first."));
    Assert(at_boundary(),
           ExcMessage("Only interfaces at the boundary have a boundary id."));
    return static_cast<types::boundary_id>(
      this->handler->polytopic_mesh().interface_boundary_id[interface]);
  }



  template <int dim>
  double
  PolytopeInterfaceValues<dim>::penalty_factor(const unsigned int q) const
  {
    const std::vector<double> &factor =
      this->handler->polytopic_dofs().penalty_factor;
    const std::size_t f = facet(q);
    AssertThrow(factor.size() > 2 * f + 1,
                ExcMessage("There are no penalty factors: call "
                           "compute_penalty_factors() for the handler."));
    return std::max(factor[2 * f], factor[2 * f + 1]);
  }



  template <int dim>
  const PolytopeValuesBase<dim> &
  PolytopeInterfaceValues<dim>::get_polytope_values(
    const unsigned int side) const
  {
    AssertIndexRange(side, 2);
    Assert(side == 0 || !at_boundary(),
           ExcMessage("There is no polytope on the other side of the "
                      "boundary."));
    if (side == 0)
      return *this;
    return there;
  }



  template <int dim>
  std::vector<types::global_dof_index>
  PolytopeInterfaceValues<dim>::get_interface_dof_indices() const
  {
    std::vector<types::global_dof_index> indices, neighbor_indices;
    this->get_dof_indices(indices);
    there.get_dof_indices(neighbor_indices);
    indices.insert(indices.end(),
                   neighbor_indices.begin(),
                   neighbor_indices.end());
    return indices;
  }



  template class PolytopeInterfaceValues<2>;
  template class PolytopeInterfaceValues<3>;
} // namespace Tessella
