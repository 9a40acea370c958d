// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_assembly_chain_system_h
#define tessella_tests_assembly_chain_system_h

#include <tessella/forms/system_form.h>

#include <memory>
#include <vector>

#include "compare_pairs.h"

/// Any number of components, with a coupling mask: component i meets itself in
/// a full problem, the next one through advection, the last one through a
/// reaction without facet terms, and the one after the next through a tensor
/// with its own penalty. There are no other pairs.
template <int dim>
class ChainSystem : public Tessella::SystemForm<dim>
{
public:
  /// @p curved: whether the mesh is "curved", on whose faces b . n must not
  /// change its sign either.
  ChainSystem(const unsigned int m, const bool curved)
    : m(m)
    , problems(m * m)
    , forms(m * m)
  {
    auto full = full_problem<dim>();
    if (curved)
      full.b = [](const Point<dim> &x) {
        Tensor<1, dim> b = x;
        b[0] -= 0.3 * x[1];
        b[1] += 0.3 * x[0];
        return dim == 3 ? Tensor<1, dim>() : b;
      };
    for (unsigned int i = 0; i < m; ++i)
      {
        const double factor = 1. + 0.3 * i;
        set(i, i, [&](auto &problem) {
          problem   = full;
          problem.a = [factor, a = full.a](const Point<dim> &x) {
            return factor * a(x);
          };
          problem.f = [factor, f = full.f](const Point<dim> &x) {
            return f(x) - factor;
          };
        });
        set(i, (i + 1) % m, [&](auto &problem) { problem.b = full.b; });
        set(i, (i + m - 1) % m, [&](auto &problem) {
          problem.c = [factor](const Point<dim> &x) {
            return factor - x[0] * x[1];
          };
        });
        if (m > 3)
          set(i, (i + 2) % m, [&](auto &problem) {
            problem.a = [factor, a = full.a](const Point<dim> &x) {
              return 0.1 * factor * a(x);
            };
          });
      }
    for (unsigned int p = 0; p < m * m; ++p)
      if (problems[p] != nullptr)
        forms[p] = std::make_unique<Tessella::AdvectionDiffusionReaction<dim>>(
          make_form(*problems[p], Give::tensor_functions, curved ? 8 : 4));
  }

  unsigned int
  n_test_components() const override
  {
    return m;
  }
  const Tessella::Form<dim> *
  form(const unsigned int i, const unsigned int j) const override
  {
    return forms[m * i + j].get();
  }

  /// Largest differences of an assembled system to the reference assembler, see
  /// compare_pairs().
  std::pair<double, double>
  compare(const Tessella::AgglomerationHandler<dim> &handler,
          const Tessella::AgglomerationHandler<dim> &scalar,
          const SparseMatrix<double>                &matrix,
          const Vector<double>                      &rhs,
          const unsigned int                         n_points,
          const Mapping<dim>                        *mapping) const
  {
    Tessella::PolytopicAssembler<dim> assembler(scalar);
    return compare_pairs<dim>(
      handler,
      scalar,
      matrix,
      rhs,
      m,
      [&](const unsigned int i, const unsigned int j) {
        std::unique_ptr<ReferencePair<dim>> result;
        if (const auto &problem = problems[m * i + j])
          {
            result          = std::make_unique<ReferencePair<dim>>();
            result->problem = *problem;
            // Without diffusion there is none.
            if (problem->a)
              result->sigma = assembler.penalty(*forms[m * i + j]);
            else
              result->sigma.assign(scalar.polytopic_mesh().n_facets(), 0.);
            result->has_rhs = i == j;
          }
        return result;
      },
      n_points,
      mapping);
  }

private:
  template <typename Work>
  void
  set(const unsigned int i, const unsigned int j, const Work &work)
  {
    auto &problem = problems[m * i + j];
    problem       = std::make_unique<Reference::Problem<dim>>();
    work(*problem);
  }

  const unsigned int                                    m;
  std::vector<std::unique_ptr<Reference::Problem<dim>>> problems;
  std::vector<std::unique_ptr<Tessella::AdvectionDiffusionReaction<dim>>> forms;
};

#endif
