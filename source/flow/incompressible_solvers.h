// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_flow_incompressible_solvers_h
#define tessella_source_flow_incompressible_solvers_h

#include <deal.II/lac/vector_memory.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/flow/incompressible_flow.h>
#include <tessella/flow/incompressible_operators.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/functor_integrand.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/mass_matrix.h>
#include <tessella/numerics/null_space.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/pointwise_operator.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "flow_integrand.h"
#include "incompressible_device.h"

// Linear systems of IncompressibleFlow, for vectors of the host or of a device.

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      using FlowVector = HostVector<double>;

      /// Whether vectors are in the memory of a device.
      template <typename VectorType>
      constexpr bool on_device =
        std::is_same<VectorType, DeviceVector<double>>::value;

      /// Matrices that take these vectors.
      template <typename VectorType, typename Number>
      using FlowMatrix = std::conditional_t<on_device<VectorType>,
                                            DeviceBlockMatrix<Number>,
                                            HostBlockMatrix<Number>>;

      /// Mass matrix of these vectors.
      template <int dim, typename VectorType>
      using FlowMass = std::conditional_t<on_device<VectorType>,
                                          DeviceMassMatrix<dim>,
                                          MassMatrix<dim>>;

      /// The parameters for computations on the host.
      AssemblyParameters
      on_host(const AssemblyParameters &parameters);

      /// Spaces on the same polytopes: velocity, pressure, a component of the
      /// velocity, and constants.
      template <int dim>
      struct FlowSpaces
      {
        FlowSpaces(const dealii::Triangulation<dim>   &triangulation,
                   const dealii::Mapping<dim>         *mapping,
                   const Agglomeration::Strategy<dim> &strategy,
                   const IncompressibleParameters     &parameters);

        /// Space of the vorticity.
        const AgglomerationHandler<dim> &
        vorticity() const
        {
          return dim == 2 ? scalar : velocity;
        }

        AgglomerationHandler<dim> velocity, pressure, scalar, constant;
      };

      /// Projects a function to the space of a handler, on the host.
      template <int dim, typename VectorType>
      void
      project_function(const AgglomerationHandler<dim> &handler,
                       const dealii::Function<dim>     &function,
                       VectorType                      &result)
      {
        FlowVector vector;
        vector.reinit(handler.locally_owned_dofs(), handler.get_communicator());
        typename FlowVector::Base &base = vector;
        Tessella::VectorTools::project(handler, function, base);
        assign(vector, result);
      }

      /// Work vectors of a solver, which keep their memory. Those of deal.II's
      /// GrowingVectorMemory are shared by all systems, so that vectors of
      /// different size would be allocated again in each solve, for which a
      /// device waits.
      template <typename VectorType>
      class KeptVectors : public dealii::VectorMemory<VectorType>
      {
      public:
        VectorType *
        alloc() override
        {
          for (auto &entry : vectors)
            if (!entry.second)
              {
                entry.second = true;
                return entry.first.get();
              }
          vectors.emplace_back(std::make_unique<VectorType>(), true);
          return vectors.back().first.get();
        }
        void
        free(const VectorType *const vector) override
        {
          for (auto &entry : vectors)
            if (entry.first.get() == vector)
              entry.second = false;
        }

      private:
        /// Each with a note whether it is in use.
        std::vector<std::pair<std::unique_ptr<VectorType>, bool>> vectors;
      };

      /// Conjugate gradients for one of the systems, named @p name, to a
      /// residual of parameters.tolerance |rhs|. Returns the number of
      /// iterations; an error if they do not suffice.
      template <typename VectorType,
                typename MatrixType,
                typename Preconditioner>
      unsigned int
      solve_by_cg(const std::string              &name,
                  const IncompressibleParameters &parameters,
                  const MatrixType               &matrix,
                  const Preconditioner           &preconditioner,
                  const VectorType               &rhs,
                  VectorType                     &solution,
                  KeptVectors<VectorType>        &memory);

      /**
       * Penalty constant of the pressure. The projection reduces the divergence
       * only where the interior penalty matrix is not much smaller than D
       * M^{-1} G: a component of the pressure at which it is less than half of
       * that grows from step to step, the faster the shorter the steps are. The
       * latter contains jumps of pressures that are lifted to velocities of
       * degree k, so that the penalty must be of the order of k^2/h instead of
       * p^2/h. That matters at k = 2 and p = 1, where Kovasznay's flow on
       * squares is unstable with a constant of 5 and stable with 10.
       */
      double
      pressure_penalty_constant(const IncompressibleParameters &parameters);

      /// Interior penalty matrix of -Laplace for the pressure with multigrid,
      /// which for few unknowns has one level and its nested dissection.
      template <int dim, typename VectorType>
      class PressureSolver
      {
      public:
        PressureSolver(const AgglomerationHandler<dim> &handler,
                       const IncompressibleParameters  &parameters);

        /// Whether the constants are in the null space.
        bool
        has_null_space() const
        {
          return null_space.size() > 0;
        }
        const NullSpace<VectorType> &
        constants() const
        {
          return null_space;
        }
        /// @p solution is the first guess; of @p rhs the part that is not
        /// consistent is removed.
        unsigned int
        solve(VectorType &rhs, VectorType &solution) const;
        std::size_t
        memory_consumption() const;

      private:
        /// Whether the preconditioner is a nested dissection.
        bool
        is_direct(const AgglomerationHandler<dim> &handler) const;

        const IncompressibleParameters           parameters;
        FlowMatrix<VectorType, double>           matrix;
        Multigrid<FlowMatrix<VectorType, float>> multigrid;
        NullSpace<VectorType>                    null_space;
        mutable KeptVectors<VectorType>          memory;
      };



      /**
       * Systems lambda M + nu A of the velocity, or of another vector of
       * components that diffuse. One matrix has the rows of all components,
       * which share the values of polytopes where boundary conditions have the
       * same types for all of them, see ComponentRows. A change of lambda adds
       * lambda times the mass matrix to the diagonal blocks of nu A, which are
       * kept, and assembles nothing. The preconditioner is a polynomial of
       * block Jacobi of degree 4, as in BlockChebyshev: conjugate gradients
       * need about a quarter of the iterations, with as many products.
       */
      template <int dim, typename VectorType>
      class DiffusionSolver
      {
      public:
        /// @p scalar has the space of one component of @p all_components. For
        /// each of these, @p dirichlet has the boundary ids with given values.
        /// @p name is for messages.
        DiffusionSolver(
          const std::string               &name,
          const AgglomerationHandler<dim> &scalar,
          const AgglomerationHandler<dim> &all_components,
          const IncompressibleParameters  &parameters,
          const double                     diffusivity,
          const std::vector<std::set<dealii::types::boundary_id>> &dirichlet);

        /// Returns the number of iterations, which all components share.
        unsigned int
        solve(const double lambda, const VectorType &rhs, VectorType &solution);
        std::size_t
        memory_consumption() const;

        /// Applies the preconditioner of the present lambda, for solvers.
        void
        vmult(VectorType &dst, const VectorType &src) const;

      private:
        using Matrix = FlowMatrix<VectorType, double>;
        using Data   = Tessella::internal::BlockData<Matrix>;

        /// Assembles nu A for one component.
        void
        assemble(const AgglomerationHandler<dim>            &scalar,
                 const double                                diffusivity,
                 const std::set<dealii::types::boundary_id> &dirichlet,
                 HostBlockMatrix<double>                    &result) const;

        const std::string              name;
        const IncompressibleParameters parameters;
        Matrix                         matrix;
        Data                           blocks;
        double                         largest_eigenvalue = 0.;
        double                         present_factor     = 0.;
        KeptVectors<VectorType>        vectors;
        /// Diagonal blocks of nu A and of M.
        typename Data::template Array<double> diffusion, mass;
        /// Work vectors of the preconditioner.
        typename Data::template Array<double> r, d;
      };



      /// Inverses of diagonal blocks as a preconditioner on the host.
      class HostBlockInverses
      {
      public:
        /// Makes room for all blocks. The communicator is not needed.
        void
        reinit(const PolytopicDoFs &dofs,
               const unsigned int   n_polytopes,
               const MPI_Comm);
        /// Inverts blocks again: of polytope k from place offset[k] of
        /// @p blocks on, if changed[k].
        void
        update(const std::vector<double> &blocks,
               const std::vector<char>   &changed);
        void
        vmult(FlowVector &dst, const FlowVector &src) const;

      private:
        std::vector<std::uint64_t> first;
        std::vector<std::size_t>   offset;
        std::vector<double>        inverse;
      };



      /// System of DivergencePenalty, without a matrix.
      template <int dim, typename VectorType>
      class PenaltySolver
      {
      public:
        PenaltySolver(const AgglomerationHandler<dim> &velocity,
                      const AgglomerationHandler<dim> &constant,
                      const IncompressibleParameters  &parameters);

        /// Penalties of a step of length @p dt from the velocity @p w.
        void
        set_velocity(const double dt, const VectorType &w);
        /// Replaces @p rhs = M u^ and the guess @p solution by the solution.
        unsigned int
        solve(const VectorType &rhs, VectorType &solution);
        /// Mean of |w| on each polytope.
        std::vector<double>
        mean_speeds(const VectorType &w) const;
        /// Operators whose checks may have been deferred.
        std::vector<PointwiseOperator<dim> *>
        operators()
        {
          return {&op, &speed_op};
        }

        /// Product with the matrix, for solvers.
        void
        vmult(VectorType &dst, const VectorType &src) const;

      private:
        using Integrand = FlowIntegrand<dim, DivergencePenalty<dim>>;

        // Diagonal blocks with a factor of the mass, and with the same tau and
        // |w| everywhere, by an operator of the host.
        std::vector<double>
        diagonal_blocks(PointwiseOperator<dim> &host_op,
                        const double            mass,
                        const double            tau_value,
                        const double            speed_value) const;

        // Speeds for the blocks of the preconditioner: |w| of each polytope,
        // and on a device the mean of all of them, on all processes. Most steps
        // then change no block, and none is sent and inverted.
        std::vector<double>
        speeds_of_blocks(const std::vector<double> &speeds) const;

        // The argument is speeds_of_blocks().
        void
        update_preconditioner(const double               dt,
                              const std::vector<double> &speeds);

        const AgglomerationHandler<dim> &velocity, &constant;
        const IncompressibleParameters   parameters;
        mutable PointwiseOperator<dim>   op, speed_op;
        Integrand                        integrand;
        FlowIntegrand<dim, Speed<dim>>   speed;
        std::conditional_t<on_device<VectorType>,
                           DeviceBlockInverses,
                           HostBlockInverses>
                                preconditioner;
        mutable VectorType      integral;
        VectorType              w, tau;
        KeptVectors<VectorType> memory;
        // Blocks of the mass, of the divergence and of the jumps, which are
        // computed once, and those of the preconditioner.
        std::vector<double> mass_blocks, divergence_blocks, jump_blocks, blocks;
        // Numbers of the rounded factors of divergence and jumps in the
        // preconditioner, for each polytope.
        std::vector<std::array<int, 2>> factors;
        // For each polytope, the square root of the volume of its bounding box,
        // zeta_D h/(k+1), and the binary logarithm of the latter.
        std::vector<double> root_of_volume, size, log_of_size;
      };
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella

#endif
