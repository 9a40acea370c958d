// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "linear_solver.h"

#include <deal.II/lac/precondition.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>

#include <tessella/base/backend.h>
#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/device/cuda_device.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/trilinos_block_jacobi.h>
#include <tessella/lac/trilinos_block_matrix.h>
#include <tessella/lac/two_level_preconditioner.h>
#include <tessella/multigrid/multigrid.h>

DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#include <Amesos.h>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "iteration.h"
#include "program.h"


namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    LinearSolver::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Solver");
      prm.add_parameter(
        "Method",
        method,
        "direct: sparse LU (MUMPS, or KLU if Trilinos has no MUMPS). cg needs "
        "a symmetric problem: no advection, symmetric variant. auto: direct "
        "for up to 100,000 unknowns in 2-D and 10,000 in 3-D; beyond, cg for "
        "symmetric problems and gmres for others.",
        Patterns::Selection("auto|direct|cg|gmres|bicgstab"));
      prm.add_parameter("Preconditioner",
                        preconditioner,
                        "amg: block Gauss-Seidel over the polytopes smooths, "
                        "and algebraic multigrid solves for their linear "
                        "functions (constants at degree 0). multigrid: on "
                        "nested polytopes, by the host's threads. device "
                        "multigrid: the same, and the whole iteration, on a "
                        "CUDA device. block jacobi: exact inverses of the "
                        "diagonal blocks.",
                        Patterns::Selection(
                          "amg|multigrid|device multigrid|ilu|"
                          "block jacobi|none"));
      prm.add_parameter("Tolerance",
                        tolerance,
                        "Iterations end when the residual is this small beside "
                        "the right-hand side.",
                        Patterns::Double(0.));
      prm.add_parameter("Maximum iterations",
                        max_iterations,
                        "More are an error.",
                        Patterns::Integer(1));
      prm.add_parameter("GMRES basis",
                        restart,
                        "Vectors kept by gmres before it restarts.",
                        Patterns::Integer(2));
      prm.leave_subsection();
    }

    void
    LinearSolver::parse_parameters()
    {
      AssertThrow(tolerance > 0. && tolerance < 1.,
                  ExcMessage("Solver/Tolerance must lie between 0 and 1."));
    }

    std::string
    LinearSolver::present_method(const int                     dim,
                                 const types::global_dof_index n_dofs,
                                 const bool                    symmetric) const
    {
      if (method != "auto")
        return method;
      // The fill-in of a sparse factorisation is moderate in 2-D but large in
      // 3-D.
      if (n_dofs <= (dim == 2 ? 100000u : 10000u))
        return "direct";
      return symmetric ? "cg" : "gmres";
    }

    template <int dim>
    SystemMemory
    LinearSolver::memory(const AgglomerationHandler<dim> &handler,
                         const bool                       symmetric) const
    {
      const std::string present =
        present_method(dim, handler.n_dofs(), symmetric);
      SystemMemory result = SystemMemory::trilinos();
      // The factors were measured on one process.
      if (present == "direct")
        {
          // The entries of the factors over those of the matrix grow like
          // log(n) in 2-D and like n^(1/3) in 3-D with n polytopes, as those
          // of nested dissection do.
          const double n = std::max(2., 1. * handler.n_global_polytopes());
          result.per_entry +=
            dim == 2 ? 7.2 * std::log2(n) : 15. * std::cbrt(n);
        }
      else if (preconditioner != "none")
        result.per_entry += 10.;
      if (present == "gmres")
        result.per_unknown += 8. * restart;
      return result;
    }

    std::string
    LinearSolver::description() const
    {
      if (method == "auto")
        return "direct or iterative with " + preconditioner + ", by size";
      return method == "direct" ? method : method + " with " + preconditioner;
    }

    namespace
    {
      using EpetraVector = TrilinosWrappers::MPI::Vector;

      // ---- vectors on the host or on the device, where the iteration runs
      void
      copy(HostVector<double> &to, const EpetraVector &from)
      {
        to.reinit(from.locally_owned_elements(), from.get_mpi_communicator());
        std::copy(from.begin(), from.end(), to.begin());
      }

      void
      copy(EpetraVector &to, const HostVector<double> &from)
      {
        std::copy_n(from.begin(), from.locally_owned_size(), to.begin());
      }

      void
      copy(DeviceVector<double> &to, const EpetraVector &from)
      {
        to.copy_from(from);
      }

      void
      copy(EpetraVector &to, const DeviceVector<double> &from)
      {
        from.copy_to(to);
      }

      // Copies an assembled matrix to a block matrix on all processes.
      template <typename MatrixType, int dim>
      void
      copy(MatrixType                           &to,
           const TrilinosWrappers::SparseMatrix &from,
           const AgglomerationHandler<dim>      &handler)
      {
        const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
        const PolytopicDoFs      &dofs = handler.polytopic_dofs();
        const MPI_Comm            comm = handler.get_communicator();
        if (Utilities::MPI::n_mpi_processes(comm) == 1)
          {
            to.copy_from(from,
                         BlockSparsity::from_mesh(mesh, dofs),
                         dofs.dof_offset);
            return;
          }
        typename PolytopicAssembler<dim>::AdditionalData data;
        data.backend = Backend::host; // sets up the structure only
        PolytopicAssembler<dim>(handler, data).reinit(to);
        on_all_processes(comm, [&]() {
          const BlockSparsity                 &sparsity = to.block_sparsity();
          std::vector<types::global_dof_index> ghosts;
          for (unsigned int k = handler.n_polytopes(); k < mesh.n_polytopes();
               ++k)
            for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
              ghosts.push_back(handler.first_dof(k) + i);
          const double *const values = TrilinosBlockMatrix::values(
            const_cast<TrilinosWrappers::SparseMatrix &>(from),
            sparsity,
            dofs.dof_offset);
          TrilinosBlockMatrix::check_columns(from,
                                             sparsity,
                                             dofs.dof_offset,
                                             ghosts);
          to.copy_from(
            std::vector<double>(values,
                                values + sparsity.n_nonzero_elements()));
        });
      }

      /// A linear system with what preconditioners need to know about it.
      template <int dim>
      struct System
      {
        const PolytopicSpace<dim>            &space;
        const TrilinosWrappers::SparseMatrix &matrix;
        EpetraVector                         &solution;
        const EpetraVector                   &rhs;
        const bool                            symmetric;
        const MatrixSource<dim>              *source;

        template <typename Preconditioner>
        void
        iterate(const Iteration      &iteration,
                const Preconditioner &preconditioner) const
        {
          iteration.solve(matrix, solution, rhs, preconditioner);
        }
      };

      // Sets up multigrid for an assembled matrix on an R-tree of the
      // polytopes, down to 64 polytopes or fewer. The coarse operators are
      // Galerkin products with a rescaled penalty; re-discretised operators
      // where degrees vary; plain Galerkin products if the source is null. The
      // smoother is a Chebyshev polynomial for symmetric problems, otherwise
      // Gauss-Seidel by colours. MatrixType is HostBlockMatrix<double> or
      // DeviceBlockMatrix<double>.
      template <typename MatrixType, int dim>
      void
      initialize_multigrid(Multigrid<MatrixType>           &multigrid,
                           const AgglomerationHandler<dim> &handler,
                           const MatrixSource<dim>         *source,
                           const MatrixType                &matrix,
                           const bool                       symmetric)
      {
        const std::vector<unsigned int> &degree =
          handler.polytopic_dofs().degree;
        const MultigridHierarchy                       hierarchy(handler,
                                           NestedAgglomeration::rtree(handler));
        typename Multigrid<MatrixType>::AdditionalData data;
        data.symmetric = symmetric;
        if (!symmetric)
          data.smoother = Multigrid<MatrixType>::Smoother::gauss_seidel;
        if (source == nullptr)
          {
            multigrid.initialize(matrix, hierarchy, data);
            return;
          }
        const bool hp = *std::min_element(degree.begin(), degree.end()) !=
                        *std::max_element(degree.begin(), degree.end());
        if (hp)
          {
            multigrid.initialize(
              matrix,
              assemble_coarse_operators<MatrixType>(
                handler, hierarchy, source->form, source->data),
              hierarchy,
              data);
            return;
          }
        auto without_penalty             = source->data;
        without_penalty.penalty.constant = 0.;
        PolytopicAssembler<dim> assembler(handler, without_penalty);
        MatrixType              none;
        assembler.reinit(none);
        assembler.assemble_matrix(source->form, none);
        multigrid.initialize(matrix, none, hierarchy, data);
      }

      // Runs the iteration with multigrid on a copy of the matrix, if the space
      // is one that multigrid supports.
      template <typename MatrixType, int dim>
      void
      iterate_with_multigrid(const Iteration   &iteration,
                             const System<dim> &system)
      {
        if constexpr (dim < 4)
          if (const auto *handler =
                dynamic_cast<const AgglomerationHandler<dim> *>(&system.space))
            {
              MatrixType A;
              copy(A, system.matrix, *handler);
              Multigrid<MatrixType> multigrid;
              initialize_multigrid(
                multigrid, *handler, system.source, A, system.symmetric);
              std::conditional_t<
                std::is_same<MatrixType, HostBlockMatrix<double>>::value,
                HostVector<double>,
                DeviceVector<double>>
                x, b;
              copy(b, system.rhs);
              copy(x, system.solution);
              iteration.solve(A, x, b, multigrid);
              copy(system.solution, x);
              return;
            }
        AssertThrow(false,
                    ExcMessage("Solver/Preconditioner = multigrid works on "
                               "polytopic meshes in space, not on space-time "
                               "slabs: take amg or block jacobi."));
      }

      // Runs the iteration with multigrid on a CUDA device.
      template <int dim>
      void
      iterate_on_device(const Iteration &iteration, const System<dim> &system)
      {
        const MPI_Comm comm = system.space.get_communicator();
        on_all_processes(comm, []() {
          AssertThrow(cuda_is_available(),
                      ExcMessage("Solver/Preconditioner = device "
                                 "multigrid needs a CUDA device. " +
                                 why_cuda_is_unavailable() +
                                 " Take multigrid, which runs on the "
                                 "host."));
        });
        choose_cuda_device(comm,
                           system.source != nullptr ? system.source->data.device
                                                    : -1);
        iterate_with_multigrid<DeviceBlockMatrix<double>>(iteration, system);
      }

      // Runs the iteration with a preconditioner that inverts the diagonal
      // blocks. Adds advice to the message if one is singular, which another
      // process may have found.
      template <typename Preconditioner, int dim, typename... Data>
      void
      iterate_with_blocks(const Iteration   &iteration,
                          const System<dim> &system,
                          const Data &...data)
      {
        Preconditioner preconditioner;
        try
          {
            preconditioner.initialize(system.space, system.matrix, data...);
          }
        catch (const ExceptionBase &exception)
          {
            const std::string message  = error_message(exception);
            const auto        singular = message.rfind(" is singular.");
            AssertThrow(singular == std::string::npos,
                        ExcMessage(message.substr(0, singular) +
                                   " is singular: block jacobi and amg do not "
                                   "work for this problem; take Solver/Method "
                                   "= direct."));
            throw;
          }
        system.iterate(iteration, preconditioner);
      }

      // Runs the iteration with the preconditioner of this name.
      template <int dim>
      void
      iterate(const Iteration   &iteration,
              const std::string &preconditioner,
              const System<dim> &system)
      {
        if (preconditioner == "amg")
          iterate_with_blocks<TwoLevelPreconditioner<dim>>(
            iteration,
            system,
            typename TwoLevelPreconditioner<dim>::AdditionalData{
              system.symmetric});
        else if (preconditioner == "multigrid")
          iterate_with_multigrid<HostBlockMatrix<double>>(iteration, system);
        else if (preconditioner == "device multigrid")
          iterate_on_device(iteration, system);
        else if (preconditioner == "block jacobi")
          iterate_with_blocks<TrilinosBlockJacobi<dim>>(iteration, system);
        else if (preconditioner == "ilu")
          {
            TrilinosWrappers::PreconditionILU ilu;
            ilu.initialize(system.matrix);
            system.iterate(iteration, ilu);
          }
        else
          system.iterate(iteration, PreconditionIdentity());
      }
    } // namespace

    void
    solve_directly(SolverControl                        &control,
                   const TrilinosWrappers::SparseMatrix &matrix,
                   EpetraVector                         &solution,
                   const EpetraVector                   &rhs)
    {
      using Direct = TrilinosWrappers::SolverDirect;
      const std::string library =
        Amesos().Query("Amesos_Mumps") ? "Amesos_Mumps" : "Amesos_Klu";
      Direct solver(control, Direct::AdditionalData(false, library));
      solver.solve(matrix, solution, rhs);
    }

    double
    residual_norm(const TrilinosWrappers::SparseMatrix &matrix,
                  const EpetraVector                   &solution,
                  const EpetraVector                   &rhs)
    {
      EpetraVector residual(rhs);
      matrix.vmult(residual, solution);
      residual.sadd(-1., 1., rhs);
      return residual.l2_norm();
    }

    template <int dim>
    SolverReport
    LinearSolver::solve(const PolytopicSpace<dim>            &handler,
                        const TrilinosWrappers::SparseMatrix &matrix,
                        EpetraVector                         &solution,
                        const EpetraVector                   &rhs,
                        const bool                            symmetric,
                        const MatrixSource<dim>              *source) const
    {
      const std::string name = present_method(dim, matrix.m(), symmetric);
      const std::string description =
        name == "direct" ? name : name + " with " + preconditioner;
      AssertThrow(name != "cg" || symmetric,
                  ExcMessage("Solver/Method = cg needs a symmetric problem "
                             "(no advection, symmetric variant): take gmres, "
                             "bicgstab or direct."));
      SolverReport report;
      const double rhs_norm = rhs.l2_norm();
      AssertThrow(std::isfinite(rhs_norm),
                  ExcMessage("The right-hand side of the linear system is not "
                             "finite."));
      if (rhs_norm == 0.)
        {
          solution = 0.;
          return report;
        }

      SolverControl control(max_iterations, tolerance * rhs_norm, false, false);
      std::string   failure;
      try
        {
          if (name == "direct")
            solve_directly(control, matrix, solution, rhs);
          else
            {
              iterate(
                {name, restart, control},
                preconditioner,
                System<dim>{handler, matrix, solution, rhs, symmetric, source});
              report.n_iterations = control.last_step();
            }
        }
      catch (const SolverControl::NoConvergence &exception)
        {
          failure = description + " does not converge: after " +
                    std::to_string(exception.last_step) +
                    " iterations the residual is " +
                    scientific_text(exception.last_residual / rhs_norm) +
                    " of the right-hand side";
        }
      catch (const TrilinosWrappers::SolverDirect::ExcTrilinosError &)
        {
          failure = "the direct solver failed";
        }

      report.relative_residual =
        residual_norm(matrix, solution, rhs) / rhs_norm;
      // The result of a direct solver is as accurate as the conditioning
      // allows; a much larger residual means a singular matrix.
      if (failure.empty() && !(report.relative_residual <
                               (name == "direct" ? 1e-4 : 1e3 * tolerance)))
        failure = description + " ended with a residual of " +
                  scientific_text(report.relative_residual) +
                  " of the right-hand side";
      AssertThrow(failure.empty(),
                  ExcMessage("The linear system was not solved (" + failure +
                             "): the problem may have no unique solution, or "
                             "choose another Solver/Method or Preconditioner, "
                             "more iterations or a larger tolerance."));
      return report;
    }

#define INSTANTIATE(dim)                     \
  template SolverReport LinearSolver::solve( \
    const PolytopicSpace<dim> &,             \
    const TrilinosWrappers::SparseMatrix &,  \
    EpetraVector &,                          \
    const EpetraVector &,                    \
    const bool,                              \
    const MatrixSource<dim> *) const
    INSTANTIATE(2);
    INSTANTIATE(3);
    // space-time slabs over three dimensions
    INSTANTIATE(4);
#undef INSTANTIATE

    template SystemMemory
    LinearSolver::memory(const AgglomerationHandler<2> &, const bool) const;
    template SystemMemory
    LinearSolver::memory(const AgglomerationHandler<3> &, const bool) const;
  } // namespace Application
} // namespace Tessella
