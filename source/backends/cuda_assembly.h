// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_cuda_assembly_h
#define tessella_source_backends_cuda_assembly_h

#include <tessella/backends/assembly_strategy.h>
#include <tessella/base/backend.h>
#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../../cuda/backends/assembly.h"
#include "../../cuda/backends/paper_strategies.h"
#include "diffusion_values.h"
#include "host_points.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * The host's part of assembly on a CUDA device: it keeps mesh and
     * structure there as long as the mesh's revision stays the same, evaluates
     * the form where its coefficients vary, and sends the mesh through the
     * device in parts (see MeshPart) if it does not fit into the memory
     * allowed.
     *
     * Results are the same to the last bit for every limit of memory.
     */
    template <int dim>
    class CUDAAssembly
    {
    public:
      struct Problem
      {
        const PolytopicMesh<dim> &mesh;
        const BlockSparsity      &sparsity;
        const Form<dim>          &form;
        const HostRules<dim>     &rules; ///< for mesh and form
        Device::Penalty           penalty;
        PolynomialSpaceType       space;
        InstructionSet            instruction_set;
        std::size_t               device_memory; ///< bytes; 0: what is free
        AssemblyStrategy          strategy;
        /// Known already, or null.
        const DiffusionValues<dim> *diffusion;
        /// Evaluates the form on the device; or null.
        const DeviceCoefficients<dim> *coefficients;
        /// The penalty is not known (Penalty is empty) and is to be worked out
        /// there, too, with this constant.
        bool   device_penalty;
        double penalty_constant;
        /// The penalty is not known, and the values of the diffusion either
        /// are not: they come with the other coefficients of the volume, or
        /// else from this function.
        std::function<
          std::pair<Device::Penalty, const DiffusionValues<dim> *>()>
          find_penalty = nullptr;
        /// Processes on the device, among which device_memory was divided; 0:
        /// the user has set it.
        unsigned int n_sharing = 0;
      };

      /// Starts the device and takes pinned buffers for results of this size,
      /// in one of @p n_processes on this machine.
      void
      start(const std::size_t result_bytes, const unsigned int n_processes = 1);

      /**
       * Sends mesh and structure to the device for forms of this coefficient
       * order, for which @p rules are, if they fit into @p device_memory bytes
       * (0: what is free); the next assemble() does it otherwise, or once more
       * if its form is of another order. Errors as in assemble().
       */
      void
      prepare(const PolytopicMesh<dim> &mesh,
              const BlockSparsity      &sparsity,
              const HostRules<dim>     &rules,
              const unsigned int        coefficient_order,
              const PolynomialSpaceType space,
              const std::size_t         device_memory);

      /// Bytes of device memory taken at present.
      std::size_t
      held() const;

      /**
       * The matrix is computed if the target has a place for it, so is the
       * vector. Errors of the device are dealii::ExcMessage; afterwards the
       * next call begins from scratch. Number: double or float.
       */
      template <typename Number>
      Device::Times
      assemble(const Problem &problem, const AssemblyTarget<Number> &target);

      /**
       * Largest n . a n over the points of each polytope for its side of its
       * facets, 2 * facet + side; zero on the side of polytopes that are not
       * owned. For a penalty that depends on polytopes of other processes.
       * Errors as in assemble().
       */
      void
      largest_diffusion(const Problem &problem, std::vector<double> &a_bar);

    private:
      using Key = std::array<std::uint64_t, 4>;

      /// @p function, with errors of the device as assemble() has them.
      template <typename Function>
      auto
      guard(const Function &function) -> decltype(function());

      /// Drops what belongs to another mesh or order.
      void
      select_mesh(const PolytopicMesh<dim> &mesh,
                  const HostRules<dim>     &rules,
                  const unsigned int        coefficient_order,
                  const PolynomialSpaceType space,
                  const AssemblyStrategy    strategy);

      /// Makes @ref device, or drops it if the mesh leaves no room for chunks.
      void
      send_mesh(const PolytopicMesh<dim> &mesh,
                const BlockSparsity      &sparsity,
                const std::size_t         device_memory);

      /// @p a_bar: nothing but largest_diffusion() is wanted.
      template <typename Number>
      Device::Times
      run(const Problem                &problem,
          const AssemblyTarget<Number> &target,
          std::vector<double>          *a_bar = nullptr);

      /// Rows that @p assembler has; polytope @p first is its polytope
      /// @p shift.
      template <typename Number, typename AssemblerType>
      Device::Times
      run_rows(const Problem                 &problem,
               const Device::FormData<dim>   &data,
               AssemblerType                 &assembler,
               const unsigned int             first,
               const unsigned int             shift,
               const Device::Penalty         &penalty,
               const AssemblyTarget<Number>  &target,
               const Device::Evaluation<dim> *evaluation = nullptr);

      /// The strategies of the paper.
      template <typename Number>
      Device::Times
      run_paper_strategy(const Problem                &problem,
                         const Device::FormData<dim>  &data,
                         const AssemblyTarget<Number> &target);

      template <typename Number>
      Device::Times
      run_parts(const Problem                &problem,
                const Device::FormData<dim>  &data,
                const AssemblyTarget<Number> &target,
                std::vector<double>          *a_bar = nullptr);

      Key                                present = {{0, 0, 0, 0}};
      Device::RuleTables                 tables;
      std::vector<unsigned char>         exponents;
      Device::Degrees                    degrees;
      std::unique_ptr<Device::Workspace> workspace;
      /// What the host finds for the penalty, see penalty_from_diffusion():
      /// kept, as memory that is touched first costs more than what is done
      /// with it.
      std::vector<double> kept_a_bar, kept_sigma;
      /// Null if the mesh goes through in parts.
      std::unique_ptr<Device::Assembler<dim>> device;
      /// By prepare(): what is free may have changed since.
      bool prepared = false;
      /// For other strategies than block rows, which work in two and three
      /// variables.
      std::unique_ptr<Device::PaperAssembler<(dim < 4 ? dim : 3)>> paper;
    };
  } // namespace internal
} // namespace Tessella

#endif
