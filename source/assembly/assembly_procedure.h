// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_assembly_assembly_procedure_h
#define tessella_source_assembly_assembly_procedure_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <future>
#include <memory>
#include <type_traits>

#include "../backends/assembly_backend.h"
#include "../lac/matrix_traits.h"

namespace Tessella
{
  namespace internal
  {
    /// The steps that assembly has in common for all backends: structures of
    /// matrices and vectors, checks of the objects that a user passes, and the
    /// report.
    template <int dim>
    class AssemblyProcedure
    {
    public:
      /// @p make_backend returns the backend for the context that it is given.
      /// Collective.
      template <typename MakeBackend>
      AssemblyProcedure(const PolytopicSpace<dim> &space,
                        const AssemblyParameters  &parameters,
                        const MakeBackend         &make_backend)
        : context(space, parameters)
      {
        AssertThrow(space.n_global_polytopes() > 0 && space.n_dofs() > 0,
                    dealii::ExcMessage(
                      "PolytopicAssembler needs degrees of freedom: call "
                      "agglomerate() and distribute_dofs() of the "
                      "AgglomerationHandler first."));
        backend = make_backend(context);

        const InstructionSet wanted = parameters.instruction_set;
        AssertThrow(wanted == InstructionSet::automatic ||
                      wanted <= best_instruction_set(),
                    dealii::ExcMessage(
                      "This processor or this build of Tessella does not "
                      "have the instruction set " +
                      name(wanted) + "; the widest one it has is " +
                      name(best_instruction_set()) + "."));
      }

      /// Sets the structure of a matrix. @p more has arguments of
      /// MatrixTraits::reinit() between matrix and structure.
      template <typename MatrixType, typename... More>
      void
      reinit_matrix(MatrixType &matrix, More &...more)
      {
        using Traits = MatrixTraits<MatrixType>;
        const dealii::Timer timer;
        context.structure.update(*context.space);
        const std::future<void> started =
          Traits::serial_reinit ? backend->reinit() : std::future<void>();
        Traits::reinit(matrix, more..., context.structure);
        if (started.valid())
          started.wait();
        context.report.structure_time = timer.wall_time();
      }

      template <typename VectorType>
      void
      reinit_vector(VectorType &vector)
      {
        VectorTraits<VectorType>::reinit(vector,
                                         context.space->locally_owned_dofs(),
                                         context.structure);
      }

      /// Assembles a matrix, a vector, or a matrix and a vector for a Form or a
      /// SystemForm.
      template <typename FormType, typename First, typename... Second>
      void
      assemble(const FormType &form, First &first, Second &...second)
      {
        using Number = typename Traits<First>::value_type;
        const dealii::Timer    timer;
        AssemblyTarget<Number> target;
        AssemblyReport        &report = context.report;
        report.geometry_time          = 0.;
        context.structure.on_all_processes([&]() {
          context.structure.update(*context.space);
          add_destination(first, target);
          (add_destination(second, target), ...);
        });
        if constexpr (std::is_same<FormType, SystemForm<dim>>::value)
          backend->assemble_system(form, &target);
        else
          backend->assemble(form, &target);
        const InstructionSet wanted = context.parameters.instruction_set;
        report.backend              = backend->type();
        report.instruction_set =
          wanted == InstructionSet::automatic ? best_instruction_set() : wanted;
        report.n_threads     = dealii::MultithreadInfo::n_threads();
        report.assembly_time = timer.wall_time() - report.geometry_time;
      }

      AssemblyContext<dim>                  context;
      std::unique_ptr<AssemblyBackend<dim>> backend;

    private:
      template <typename Object>
      using Traits = std::conditional_t<IsMatrix<Object>::value,
                                        MatrixTraits<Object>,
                                        VectorTraits<Object>>;

      // Makes a matrix or a vector that has the structure a destination.
      template <typename Object, typename Number>
      void
      add_destination(Object &object, AssemblyTarget<Number> &target)
      {
        using T = Traits<Object>;
        T::check(object, context.structure);
        constexpr bool matrix = IsMatrix<Object>::value;
        if constexpr (T::storage == Storage::rows)
          target.store_block_rows = [this, &object](const unsigned int begin,
                                                    const unsigned int end,
                                                    const Number      *values) {
            T::store(object, context.structure, begin, end, values);
          };
        else if constexpr (T::storage == Storage::device)
          (matrix ? target.device_values : target.device_rhs) =
            T::values(object);
        else
          (matrix ? target.host_values : target.host_rhs) = T::values(object);
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
