// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Functors on the host: the same matrices as from Functions, for all kinds of
// coefficients, meshes and degrees; discrete fields; errors.

#include "../tests.h"
#include "create_functors.h"
#include "functor_cases.h"

namespace
{
  template <int dim>
  void
  test(const bool simplices, const bool hp)
  {
    const std::string name = std::to_string(dim) + "-D " +
                             (simplices ? "simplices" : "hypercubes") +
                             (hp ? ", hp: " : ": ");
#ifdef DEBUG
    // Assertions take a minute on the cells of the other build.
    const FunctorCases<dim> cases(simplices, hp, 2, dim == 2 ? 9 : 3);
#else
    const FunctorCases<dim> cases(simplices, hp, 2);
#endif
    typename Tessella::PolytopicAssembler<dim>::AdditionalData data;
    data.backend = Tessella::Backend::host;
    Tessella::PolytopicAssembler<dim> assembler(cases.handler, data);
    const Functors::Fields<dim> fields = {{cases.handler, cases.piecewise}};
    System                      one, two;
    for (const char *kind :
         {"full", "materials", "degenerate", "advection", "field"})
      {
        one.assemble(assembler, *Functors::create<dim>(kind, 2, fields));
        two.assemble(assembler, cases.reference(kind, 2));
        check_below(name + kind, one.difference(two), 1e-12);
      }
    const auto cells = cases.cell_coefficients();
    one.assemble(assembler,
                 *Functors::create<dim>("cells",
                                        2,
                                        {},
                                        {cells[0].subcell_values(),
                                         cells[1].subcell_values()}));
    two.assemble(assembler, cases.reference("cells", 2));
    check_below(name + "cells", one.difference(two), 1e-12);

    // ---- by hybridizable dG, which needs a diffusion
    HybridSystem<dim> three(cases.handler), four(cases.handler);
    const auto        hybrid = [&](const char *kind) {
      three.assemble(*Functors::create<dim>(kind,
                                            2,
                                            fields,
                                            {cells[0].subcell_values(),
                                             cells[1].subcell_values()}),
                     Tessella::Backend::host);
    };
    for (const char *kind : {"full", "materials", "field", "cells"})
      {
        hybrid(kind);
        const auto reference = cases.reference(kind, 2);
        four.assemble(reference, Tessella::Backend::host);
        check_below(name + "hybridizable, " + kind,
                    three.difference(four),
                    four.bound(reference));
      }
    check_throws<ExceptionBase>(
      name + "hybridizable, newton", [&] { hybrid("newton"); }, "conditions");
    if (!hp)
      return;

    // ---- a smooth field; the space does not contain u = x^2, but x
    Vector<double> u(cases.handler.n_dofs());
    const auto    &mesh = cases.handler.polytopic_mesh();
    const auto    &dofs = cases.handler.polytopic_dofs();
    for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
      {
        const double *box    = &mesh.box[2 * dim * k];
        double        volume = 1.;
        for (int d = 0; d < dim; ++d)
          volume *= box[dim + d] - box[d];
        u(dofs.dof_offset[k]) = 0.5 * (box[0] + box[dim]) * std::sqrt(volume);
        u(dofs.dof_offset[k] + 1) =
          0.5 * (box[dim] - box[0]) / std::sqrt(3.) * std::sqrt(volume);
      }
    const Tessella::DiscreteField<dim> field(cases.handler, u);
    one.assemble(assembler, *Functors::create<dim>("field", 2, {field}));
    Tessella::AdvectionDiffusionReaction<dim> smooth;
    smooth.set_diffusion(std::make_shared<Lambda<dim>>(
      [](const Point<dim> &x, const unsigned int) {
        return 1. + x[0] * x[0];
      }));
    smooth.set_source(1.);
    smooth.set_coefficient_order(2);
    two.assemble(assembler, smooth);
    check_below(name + "smooth field, its gradient",
                one.difference(two),
                1e-12);
    // The functor uses the present values of the vector.
    u = 0.;
    one.assemble(assembler, *Functors::create<dim>("field", 2, {field}));
    check(name + "another field", one.difference(two) > 1e-2);

    // ---- errors
    const auto fails = [&](const char                  *kind,
                           const Functors::Fields<dim> &given,
                           const std::string           &text) {
      check_throws<ExceptionBase>(
        name + kind,
        [&] {
          one.assemble(assembler, *Functors::create<dim>(kind, 2, given));
        },
        text);
    };
    fails("not_finite", {}, "right-hand side is not finite at the point");
    fails("negative", {}, "diffusion coefficient is negative at the point");
    fails("field", {}, "call add_field() once");
    fails("cells", {}, "call add_cell_values() once");
    Vector<double>                     few(3);
    const Tessella::DiscreteField<dim> wrong(cases.handler, few);
    fails("field", {wrong}, "degrees of freedom");
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test<2>(true, true);
  test<2>(false, false);
  test<3>(true, true);
  test<3>(false, false);
}
