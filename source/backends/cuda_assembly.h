// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_cuda_assembly_h
#define tessella_source_backends_cuda_assembly_h

#include <tessella/base/backend.h>
#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../../cuda/backends/assembly.h"
#include "diffusion_values.h"
#include "host_points.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Host side of assembly on a CUDA device. It keeps the mesh on the device
     * as long as the revision of the mesh stays the same, and the space and the
     * sparsity structure as long as that of the space does, too. It evaluates
     * varying coefficients of the form, and sends the mesh through the device
     * in parts (see MeshPart) if it does not fit into the permitted memory.
     *
     * Results are the same to the last bit for every memory limit.
     */
    template <int dim>
    class CUDAAssembly
    {
    public:
      /// A space on a mesh, with rules for forms of one order.
      struct Discretisation
      {
        const PolytopicMesh<dim> &mesh;
        const PolytopicDoFs      &dofs;
        const BlockSparsity      &sparsity;
        const HostRules<dim>     &rules;
        unsigned int              coefficient_order;
        PolynomialSpaceType       space;
        std::size_t device_memory; ///< limit in bytes; 0: free memory
      };

      struct Problem : public Discretisation
      {
        const Form<dim> &form;
        Device::Penalty  penalty;
        InstructionSet   instruction_set;
        /// Diffusion values from the computation of the penalty, or null.
        const DiffusionValues<dim> *diffusion;
        /// Evaluation of the form on the device, or null.
        const DeviceCoefficients<dim> *coefficients;
        /// Whether the device computes the penalty, with the constant below;
        /// the member penalty is empty then.
        bool   device_penalty;
        double penalty_constant;
        /// If set, neither the penalty nor the diffusion values are known. They
        /// are computed from the diffusion that is tabulated with the other
        /// volume coefficients, or else by this function.
        std::function<
          std::pair<Device::Penalty, const DiffusionValues<dim> *>()>
          find_penalty = nullptr;
        /// Number of processes that share the device and among which
        /// device_memory was divided; 0 if the user set the limit.
        unsigned int n_sharing = 0;
        /// If set, the matrix is that of all pairs of a system, of which form
        /// is the pair (0, 0).
        const ConstantSystemTerms<dim> *system = nullptr;
      };

      /// Initialises the device and allocates pinned buffers for results of
      /// @p result_bytes, for one of @p n_processes processes on this machine.
      void
      start(const std::size_t result_bytes, const unsigned int n_processes = 1);

      /// Sends mesh and structure to the device if they fit into its memory. If
      /// the mesh has not been sent, or the form is of another order, the next
      /// assemble() sends it. Errors are those of assemble().
      void
      prepare(const Discretisation &discretisation);

      /// Device memory in bytes that is allocated at present.
      std::size_t
      held() const;

      /**
       * Computes the matrix and the right-hand side if the target has a
       * destination for them. Device errors are thrown as dealii::ExcMessage;
       * the next call then starts from scratch. Number is double or float.
       */
      template <typename Number>
      Device::Times
      assemble(const Problem &problem, const AssemblyTarget<Number> &target);

      /**
       * Largest n . a n over the points of each polytope for its side of each
       * of its facets, at index 2 * facet + side. Sides of polytopes that are
       * not owned are zero. This is used for penalties that depend on polytopes
       * of other processes. Errors are those of assemble().
       */
      void
      largest_diffusion(const Problem &problem, std::vector<double> &a_bar);

    private:
      using Key = std::array<std::uint64_t, 6>;

      /// Calls @p function and rethrows device errors as assemble() does.
      template <typename Function>
      auto
      guard(const Function &function) -> decltype(function());

      /// Drops data of another mesh, space or order.
      void
      select_mesh(const Discretisation &discretisation);

      /// Creates @ref device, or drops it if the mesh leaves no room for
      /// chunks.
      void
      send_mesh(const Discretisation &discretisation);

      /// If @p a_bar is set, only largest_diffusion() is computed.
      template <typename Number>
      Device::Times
      run(const Problem                &problem,
          const AssemblyTarget<Number> &target,
          std::vector<double>          *a_bar = nullptr);

      /// Assembles the rows of @p assembler. Polytope @p first of the mesh has
      /// index @p shift in the assembler.
      template <typename Number>
      Device::Times
      run_rows(const Problem                 &problem,
               const Device::FormData<dim>   &data,
               Device::Assembler<dim>        &assembler,
               const unsigned int             first,
               const unsigned int             shift,
               const Device::Penalty         &penalty,
               const AssemblyTarget<Number>  &target,
               const Device::Evaluation<dim> *evaluation = nullptr);

      template <typename Number>
      Device::Times
      run_parts(const Problem                &problem,
                const Device::FormData<dim>  &data,
                const AssemblyTarget<Number> &target,
                std::vector<double>          *a_bar = nullptr);

      /// Revisions of mesh, quadrature and space; order; kind of space;
      /// revision of the compressed quadrature.
      Key                present = {{0, 0, 0, 0, 0, 0}};
      Device::RuleTables tables;
      /// Owns the points of the tables.
      std::shared_ptr<const CompressedQuadrature<dim>> kept_compressed;
      std::vector<unsigned char>                       exponents;
      Device::Degrees                                  degrees;
      std::unique_ptr<Device::Workspace>               workspace;
      /// Results of the host for the penalty, see penalty_from_diffusion(). The
      /// memory is kept because the first touch of new memory costs more than
      /// the computation.
      std::vector<double> kept_a_bar, kept_sigma;
      /// Holds the copy of a mesh on the device until there is an assembler for
      /// another space on it.
      std::shared_ptr<const void> kept_mesh;
      /// Null if the mesh is sent in parts.
      std::unique_ptr<Device::Assembler<dim>> device;
      /// Whether prepare() sent the mesh; the free memory may have changed
      /// since.
      bool prepared = false;
    };
  } // namespace internal
} // namespace Tessella

#endif
