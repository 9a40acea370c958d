// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/fe/fe_system.h>
#include <deal.II/hp/fe_collection.h>

#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/hdg/hdg_solution.h>
#include <tessella/portable/legendre.h>

#include <vector>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    /// A mesh of several types of cells has straight cells.
    template <int dim>
    const Mapping<dim> *
    mapping_of(const AgglomerationHandler<dim> &handler)
    {
      return handler.get_triangulation().get_reference_cells().size() == 1
               ? &handler.get_mapping()
               : nullptr;
    }

    /// Gives @p other the polytopes of @p handler with elements of degrees that
    /// are @p more above those of @p handler.
    template <int dim>
    void
    copy_polytopes(const AgglomerationHandler<dim> &handler,
                   const unsigned int               more,
                   const unsigned int               n_components,
                   AgglomerationHandler<dim>       &other)
    {
      other.agglomerate(Agglomeration::by_id<dim>(handler.polytope_of_cell()));
      hp::FECollection<dim> elements;
      for (unsigned int i = 0; i < handler.get_fe_collection().size(); ++i)
        {
          const FE_BoundingBoxLegendre<dim> element(handler.get_fe(i).degree +
                                                      more,
                                                    handler.polynomial_space());
          if (n_components == 1)
            elements.push_back(element);
          else
            elements.push_back(FESystem<dim>(element, n_components));
        }
      std::vector<unsigned int> indices(handler.n_polytopes());
      for (unsigned int k = 0; k < indices.size(); ++k)
        indices[k] = handler.active_fe_index(k);
      other.distribute_dofs(elements, indices);
    }
  } // namespace



  template <int dim>
  HDGSolution<dim>::HDGSolution(const AgglomerationHandler<dim> &handler)
    : of_solution(&handler)
    , of_flux(handler.get_triangulation(), mapping_of(handler))
    , of_post(handler.get_triangulation(), mapping_of(handler))
  {
    copy_polytopes(handler, 0, dim, of_flux);
    unsigned int largest = 0;
    for (unsigned int i = 0; i < handler.get_fe_collection().size(); ++i)
      largest = std::max(largest, handler.get_fe(i).degree);
    post_is_there = largest < Legendre::max_degree;
    if (post_is_there)
      copy_polytopes(handler, 1, 1, of_post);
  }



  template <int dim>
  void
  HDGSolution<dim>::post_process(const HDG<dim> &hdg, const Form<dim> &form)
  {
    if (post_is_there)
      hdg.post_process(form, u, q, of_post, post);
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  HDGSolution<dim>::HDGSolution(HDG<dim>                            &hdg,
                                const Form<dim>                     &form,
                                const TrilinosWrappers::MPI::Vector &trace)
    : HDGSolution(hdg.handler())
  {
    hdg.recover(form, trace, u, q);
    post_process(hdg, form);
  }
#endif



  template <int dim>
  HDGSolution<dim>::HDGSolution(HDG<dim>                   &hdg,
                                const Form<dim>            &form,
                                const DeviceVector<double> &trace)
    : HDGSolution(hdg.handler())
  {
    DeviceVector<double> device_u, device_q;
    hdg.recover(form, trace, device_u, device_q);
    const auto copy = [](const DeviceVector<double> &from,
                         HostVector<double>         &to) {
      Vector<double> values;
      from.copy_to(values);
      to.reinit(from.size());
      std::copy(values.begin(), values.end(), to.begin());
    };
    copy(device_u, u);
    copy(device_q, q);
    post_process(hdg, form);
  }



  template <int dim>
  const HostVector<double> &
  HDGSolution<dim>::post_processed() const
  {
    AssertThrow(post_is_there,
                ExcUserInput("There is no post-processed solution, since its "
                             "degree would be above " +
                             std::to_string(Legendre::max_degree) + "."));
    return post;
  }

  template <int dim>
  const AgglomerationHandler<dim> &
  HDGSolution<dim>::post_processed_handler() const
  {
    post_processed();
    return of_post;
  }



  template <int dim>
  void
  HDGSolution<dim>::add_to(PolytopicDataOut<dim> &data_out,
                           const std::string     &name) const
  {
    using namespace DataComponentInterpretation;
    data_out.add_data_vector(*of_solution, u, {name});
    data_out.add_data_vector(
      of_flux,
      q,
      std::vector<std::string>(dim, name + "_flux"),
      std::vector<DataComponentInterpretation::DataComponentInterpretation>(
        dim, component_is_part_of_vector));
    if (post_is_there)
      data_out.add_data_vector(of_post, post, {name + "_post_processed"});
  }



  template class HDGSolution<2>;
  template class HDGSolution<3>;
} // namespace Tessella
