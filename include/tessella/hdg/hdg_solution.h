// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_hdg_hdg_solution_h
#define tessella_hdg_hdg_solution_h

#include <tessella/base/epetra.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/hdg/hdg.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/data_out.h>

#include <string>

namespace Tessella
{
  /**
   * Solution u, flux a grad u and post-processed solution u* of an HDG method,
   * computed from the traces in one call, each with the handler to which its
   * degrees of freedom belong:
   *
   *     const HDGSolution<dim> result(hdg, form, trace);
   *     PolytopicDataOut<dim> data_out(agglomeration);
   *     result.add_to(data_out);
   *     data_out.build_patches();
   *     data_out.write_vtu_file("solution.vtu");
   *
   * Vectors are on the host and distributed like the degrees of freedom of the
   * handler. Functions of VectorTools take them together with the handlers.
   *
   * u* has one degree more than u on every polytope. There is none if a
   * polytope has the largest degree that the library offers, 10.
   *
   * <b>Cost.</b> HDG::recover() and HDG::post_process(), and two handlers of
   * the same polytopes, some microseconds per cell. The constructor is
   * collective.
   */
  template <int dim>
  class HDGSolution
  {
  public:
    /// @p form is that of the last HDG::assemble(). The handler of @p hdg must
    /// outlive this object.
#ifdef TESSELLA_HAVE_EPETRA
    HDGSolution(HDG<dim>                                    &hdg,
                const Form<dim>                             &form,
                const dealii::TrilinosWrappers::MPI::Vector &trace);
#endif
    HDGSolution(HDG<dim>                   &hdg,
                const Form<dim>            &form,
                const DeviceVector<double> &trace);

    /// u, and the handler of HDG.
    const HostVector<double> &
    solution() const
    {
      return u;
    }
    const AgglomerationHandler<dim> &
    handler() const
    {
      return *of_solution;
    }

    /// a grad u, and a handler with dim components of the same degrees.
    const HostVector<double> &
    flux() const
    {
      return q;
    }
    const AgglomerationHandler<dim> &
    flux_handler() const
    {
      return of_flux;
    }

    /// Whether there is u*; the next two functions need it.
    bool
    has_post_processed() const
    {
      return post_is_there;
    }
    const HostVector<double> &
    post_processed() const;
    const AgglomerationHandler<dim> &
    post_processed_handler() const;

    /// Adds the fields @p name, @p name_flux, a vector field, and, if there is
    /// u*, @p name_post_processed. This object must outlive @p data_out.
    void
    add_to(PolytopicDataOut<dim> &data_out,
           const std::string     &name = "solution") const;

  private:
    /// Sets up the handlers, and computes u* from u and q.
    explicit HDGSolution(const AgglomerationHandler<dim> &handler);
    void
    post_process(const HDG<dim> &hdg, const Form<dim> &form);

    SmartPointer<const AgglomerationHandler<dim>> of_solution;
    AgglomerationHandler<dim>                     of_flux, of_post;
    HostVector<double>                            u, q, post;
    bool                                          post_is_there = false;
  };
} // namespace Tessella

#endif
