// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_cuda_system_h
#define tessella_source_backends_cuda_system_h

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "assembly_backend.h"
#include "component_space.h"
#include "system_pairs.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Assembly of a SystemForm on a CUDA device. Every pair of components is
     * assembled as a scalar form that writes its sub-blocks to the block rows
     * of all components, which stay in the memory of the device until all pairs
     * are finished. The copy of the mesh on the device is shared by the pairs;
     * each pair keeps lists of its own.
     */
    template <int dim>
    class CUDASystem
    {
    public:
      explicit CUDASystem(AssemblyContext<dim> &context);
      ~CUDASystem();

      /// Computes the matrix and the right-hand side. Collective.
      template <typename Number>
      void
      assemble(const SystemForm<dim>        &system,
               const AssemblyTarget<Number> &target);

    private:
      /// Backend of one pair.
      struct Pair
      {
        explicit Pair(const PolytopicSpace<dim> &space,
                      const AssemblyParameters  &parameters)
          : context(space, parameters)
        {}

        AssemblyContext<dim>                  context;
        std::unique_ptr<AssemblyBackend<dim>> backend;
      };

      /// Drops the pairs of another space.
      void
      update_space();

      /// The backend for a pair of components. Collective.
      Pair &
      get(const SystemPair<dim> &pair, const std::size_t n_pairs);

      /// Whether the device has a kernel that computes all pairs at once on
      /// this space, if their terms are @p terms, which is set. Collective.
      bool
      has_constant_terms(const SystemForm<dim>    &system,
                         ConstantSystemTerms<dim> &terms) const;

      /// Computes the entries of all pairs, on the device: with one kernel if
      /// @p terms is not null, or else pair by pair.
      template <typename Number>
      void
      assemble_pairs(const std::vector<SystemPair<dim>> &pairs,
                     const ConstantSystemTerms<dim>     *terms,
                     Number                             *values,
                     Number                             *rhs);

      /// Memory of the device for the entries of a pair; null if they are not
      /// wanted.
      template <typename Number>
      AssemblyTarget<Number>
      target_of(const Pair &pair, Number *values, Number *rhs) const;

      AssemblyContext<dim>            &context;
      SpaceRevision                    revision;
      std::vector<ComponentSpace<dim>> spaces;
      std::map<std::pair<unsigned int, unsigned int>, std::unique_ptr<Pair>>
        present;
    };
  } // namespace internal
} // namespace Tessella

#endif
