// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_check_update_h
#define tessella_tests_check_update_h

// Checks of Multigrid::update() with a rescaled penalty, the same for host and
// device matrices.

#include <functional>
#include <string>

#include "check_multigrid.h"

namespace MultigridTest
{
  /// Takes the name of a check, whether it is passed, and what is wrong if not.
  using Verify =
    std::function<void(const std::string &, const bool, const std::string &)>;

  /// A set-up that keeps structures has the bits of a new one. @p MGMatrix:
  /// matrix of multigrid, in the precision of MatrixType or in float.
  template <int dim, typename MatrixType, typename MGMatrix>
  void
  check_rescaled_update(const std::string               &name,
                        const std::vector<unsigned int> &degrees,
                        const bool                       simplices,
                        const Verify                    &verify)
  {
    using MG         = Multigrid<MGMatrix>;
    using VectorType = typename MatrixType::vector_type;
    Case<dim, MatrixType>   test(dim == 2 ? 12 : 4, 2, degrees, simplices);
    PolytopicAssembler<dim> assembler(*test.handler, test.data);
    const auto              hierarchy = test.hierarchy(4);
    const unsigned int      n         = test.rhs.size();
    VectorType              x(n), before(n), after(n), made(n);
    set(x, some_vector(n, 1));

    typename MG::AdditionalData data;
    data.keep_structures = true;
    MG multigrid;
    multigrid.initialize(assembler, test.form, test.matrix, hierarchy, data);
    multigrid.vmult(before, x);
    bool same = true, changed = true, eigenvalues = true;
    for (const double diffusion : {7., 0.3})
      {
        // Neither the matrix nor its levels are multiples of the former ones.
        test.form.set_diffusion(diffusion);
        test.form.set_reaction(20.);
        assembler.assemble_matrix(test.form, test.matrix);
        multigrid.update(assembler, test.form, test.matrix);
        // On a device, graphs are recorded again.
        for (unsigned int repetition = 0; repetition < 3; ++repetition)
          {
            multigrid.vmult(after, x);
            changed = changed && get(after) != get(before);
            MG again;
            again.initialize(assembler, test.form, test.matrix, hierarchy);
            again.vmult(made, x);
            same = same && get(made) == get(after);
            eigenvalues =
              eigenvalues && again.report().levels[0].largest_eigenvalue ==
                               multigrid.report().levels[0].largest_eigenvalue;
          }
      }
    verify(name,
           same && changed && eigenvalues,
           std::to_string(same) + std::to_string(changed) +
             std::to_string(eigenvalues));

    // Structures that were not kept.
    MG other;
    other.initialize(assembler, test.form, test.matrix, hierarchy);
    const std::string message =
      message_of([&] { other.update(assembler, test.form, test.matrix); });
    verify(name + ", structures not kept",
           message.find("keep_structures") != std::string::npos,
           message);
  }



  template <typename MatrixType, typename FloatMatrix>
  void
  check_rescaled_updates(const Verify &verify)
  {
    check_rescaled_update<2, MatrixType, MatrixType>("2-D", {3}, false, verify);
    check_rescaled_update<3, MatrixType, MatrixType>("3-D", {2}, true, verify);
    check_rescaled_update<2, MatrixType, MatrixType>("hp",
                                                     {1, 3},
                                                     false,
                                                     verify);
    check_rescaled_update<2, MatrixType, MatrixType>("lowest degree",
                                                     {1},
                                                     false,
                                                     verify);
    check_rescaled_update<2, MatrixType, FloatMatrix>("2-D in float",
                                                      {3},
                                                      false,
                                                      verify);
    check_rescaled_update<3, MatrixType, FloatMatrix>("3-D in float",
                                                      {2},
                                                      true,
                                                      verify);
  }
} // namespace MultigridTest

#endif
