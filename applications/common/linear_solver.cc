// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "linear_solver.h"

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/lapack_full_matrix.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_bicgstab.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>

#include <tessella/base/backend.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/device/cuda_device.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/trilinos_block_matrix.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/portable/legendre.h>

DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#include <Amesos.h>
#include <Epetra_CrsMatrix.h>
#include <Epetra_Import.h>
#include <Epetra_IntVector.h>
#include <Epetra_Map.h>
#include <Teuchos_ParameterList.hpp>
#include <ml_MultiLevelPreconditioner.h>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <sstream>
#include <type_traits>
#include <vector>


namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    LinearSolver::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Solver");
      prm.declare_entry(
        "Method",
        "auto",
        Patterns::Selection("auto|direct|cg|gmres|bicgstab"),
        "direct: sparse LU (MUMPS, or KLU if Trilinos has no MUMPS). cg needs "
        "a symmetric problem: no advection, symmetric variant. auto: direct "
        "for up to 100,000 unknowns in 2-D and 10,000 in 3-D; beyond, cg for "
        "symmetric problems and gmres for others.");
      prm.declare_entry("Preconditioner",
                        "amg",
                        Patterns::Selection(
                          "amg|multigrid|device multigrid|ilu|"
                          "block jacobi|none"),
                        "amg: block Gauss-Seidel over the polytopes smooths, "
                        "and algebraic multigrid solves for their linear "
                        "functions (constants at degree 0). multigrid: on "
                        "nested polytopes, by the host's threads. device "
                        "multigrid: the same, and the whole iteration, on a "
                        "CUDA device. block jacobi: exact inverses of the "
                        "diagonal blocks.");
      prm.declare_entry("Tolerance",
                        "1e-10",
                        Patterns::Double(0.),
                        "Iterations end when the residual is this small beside "
                        "the right-hand side.");
      prm.declare_entry("Maximum iterations",
                        "10000",
                        Patterns::Integer(1),
                        "More are an error.");
      prm.declare_entry("GMRES basis",
                        "60",
                        Patterns::Integer(2),
                        "Vectors kept by gmres before it restarts.");
      prm.leave_subsection();
    }

    void
    LinearSolver::parse_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Solver");
      method         = prm.get("Method");
      preconditioner = prm.get("Preconditioner");
      tolerance      = prm.get_double("Tolerance");
      max_iterations = prm.get_integer("Maximum iterations");
      restart        = prm.get_integer("GMRES basis");
      prm.leave_subsection();
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

    std::string
    LinearSolver::description() const
    {
      if (method == "auto")
        return "direct or iterative with " + preconditioner + ", by size";
      return method == "direct" ? method : method + " with " + preconditioner;
    }

    namespace
    {
      using Vector = TrilinosWrappers::MPI::Vector;

      // Rows of the matrix that this process owns, as CSR with local columns.
      // Owned DoFs come first, in their order, followed by ghosts.
      struct Rows
      {
        int    *offset, *column;
        double *value;

        explicit Rows(const TrilinosWrappers::SparseMatrix &matrix)
        {
          const int error =
            const_cast<Epetra_CrsMatrix &>(matrix.trilinos_matrix())
              .ExtractCrsDataPointers(offset, column, value);
          AssertThrow(error == 0, ExcInternalError());
        }
      };

      // Block Jacobi: one LU-factorised block per polytope.
      template <int dim>
      class BlockJacobi
      {
      public:
        BlockJacobi(const PolytopicSpace<dim>            &handler,
                    const TrilinosWrappers::SparseMatrix &matrix)
          : offset(handler.polytopic_mesh().dof_offset)
          , blocks(handler.n_polytopes())
        {
          const Rows rows(matrix);
          on_all_processes(handler.get_communicator(), [&]() {
            for (std::size_t k = 0; k < blocks.size(); ++k)
              {
                const int begin = offset[k], end = offset[k + 1];
                auto     &block = blocks[k];
                block.reinit(end - begin);
                block = 0.;
                for (int row = begin; row < end; ++row)
                  for (int i = rows.offset[row]; i < rows.offset[row + 1]; ++i)
                    if (rows.column[i] >= begin && rows.column[i] < end)
                      block(row - begin, rows.column[i] - begin) =
                        rows.value[i];
                try
                  {
                    block.compute_lu_factorization();
                  }
                catch (const std::exception &)
                  {
                    AssertThrow(false,
                                ExcMessage(
                                  "The diagonal block of polytope " +
                                  std::to_string(k) +
                                  " is singular: block jacobi and amg do not "
                                  "work for this problem; take Solver/Method = "
                                  "direct."));
                  }
              }
          });
        }

        void
        vmult(Vector &dst, const Vector &src) const
        {
          double                *d = dst.begin();
          const double          *s = src.begin();
          dealii::Vector<double> local;
          for (std::size_t k = 0; k < blocks.size(); ++k)
            {
              const std::size_t n = offset[k + 1] - offset[k];
              if (local.size() != n)
                local.reinit(n, true);
              std::copy(s + offset[k], s + offset[k + 1], local.begin());
              blocks[k].solve(local);
              std::copy(local.begin(), local.end(), d + offset[k]);
            }
        }

        // One block Gauss-Seidel sweep for A x = b, with the polytopes in
        // ascending or descending order. Each process sweeps over its own
        // polytopes as if x were zero on the others.
        void
        sweep(const TrilinosWrappers::SparseMatrix &matrix,
              Vector                               &x,
              const Vector                         &b,
              const bool                            ascending) const
        {
          const Rows             rows(matrix);
          double                *d = x.begin();
          const double          *r = b.begin();
          dealii::Vector<double> local;
          const std::size_t      n_blocks = blocks.size();
          const int              n_own    = offset[n_blocks];
          for (std::size_t i = 0; i < n_blocks; ++i)
            {
              const std::size_t k     = ascending ? i : n_blocks - 1 - i;
              const std::size_t begin = offset[k], end = offset[k + 1];
              if (local.size() != end - begin)
                local.reinit(end - begin, true);
              for (std::size_t row = begin; row < end; ++row)
                {
                  double sum = r[row];
                  for (int j = rows.offset[row]; j < rows.offset[row + 1]; ++j)
                    if (rows.column[j] < n_own)
                      sum -= rows.value[j] * d[rows.column[j]];
                  local(row - begin) = sum;
                }
              blocks[k].solve(local);
              for (std::size_t row = begin; row < end; ++row)
                d[row] += local(row - begin);
            }
        }

      private:
        const std::vector<std::uint64_t>     &offset;
        std::vector<LAPACKFullMatrix<double>> blocks;
      };

      /*
       * Two-level preconditioner. The coarse space consists of the functions of
       * degree at most one on every polytope. These are basis functions, so the
       * coarse matrix is a submatrix. The coarse system is solved approximately
       * by algebraic multigrid with constants and linear functions as near null
       * space. The smoother is a block Gauss-Seidel sweep over the polytopes
       * before the coarse correction and one in opposite order after it, which
       * is symmetric for symmetric matrices. Couplings between processes are
       * treated as in a Jacobi method, so that the number of iterations depends
       * slightly on the number of processes.
       */
      template <int dim>
      class TwoLevel
      {
      public:
        TwoLevel(const PolytopicSpace<dim>            &handler,
                 const TrilinosWrappers::SparseMatrix &matrix,
                 const bool                            symmetric)
          : matrix(matrix)
          , smoother(handler, matrix)
          , several(
              Utilities::MPI::n_mpi_processes(handler.get_communicator()) > 1)
        {
          const auto        &mesh = handler.polytopic_mesh();
          const unsigned int n    = handler.n_polytopes();
          // local[0] and local[1 + d] are the indices of the function 1 and of
          // the linear function in direction d, in every space of degree one or
          // higher.
          const PolynomialSpaceType space = handler.polynomial_space();
          const unsigned int n_linear = Legendre::n_functions(dim, 1, space);
          std::vector<unsigned char> exponents(n_linear * dim);
          Legendre::exponents(dim, 1, space, exponents.data());
          std::array<unsigned int, dim + 1> local{};
          for (unsigned int i = 1; i < n_linear; ++i)
            {
              unsigned int sum = 0, direction = 0;
              for (int d = 0; d < dim; ++d)
                if (exponents[i * dim + d] > 0)
                  {
                    ++sum;
                    direction = d;
                  }
              if (sum == 1)
                local[1 + direction] = i;
            }

          // coarse[i] is the coarse index of the fine DoF i, or -1.
          std::vector<int> coarse(mesh.dof_offset[n], -1);
          for (unsigned int k = 0; k < n; ++k)
            for (unsigned int i = 0; i < (mesh.n_basis[k] > 1 ? dim + 1 : 1);
                 ++i)
              {
                coarse[mesh.dof_offset[k] + local[i]] = fine.size();
                fine.push_back(mesh.dof_offset[k] + local[i]);
              }

          const Rows              rows(matrix);
          const Epetra_CrsMatrix &epetra = matrix.trilinos_matrix();
          const Epetra_Comm      &comm   = epetra.Comm();
          const int               size   = fine.size();
          const Epetra_Map        map(-1, size, 0, comm);
          const int               first = map.MinMyGID();
          // The ghost exchange provides the coarse index of every local column.
          Epetra_IntVector own(epetra.DomainMap()), all(epetra.ColMap());
          for (std::size_t i = 0; i < coarse.size(); ++i)
            own[i] = coarse[i] >= 0 ? first + coarse[i] : -1;
          if (epetra.Importer() != nullptr)
            all.Import(own, *epetra.Importer(), Insert);
          else
            std::copy_n(own.Values(), own.MyLength(), all.Values());
          Epetra_CrsMatrix    submatrix(Copy, map, 0);
          std::vector<int>    columns;
          std::vector<double> values;
          for (int row = 0; row < size; ++row)
            {
              columns.clear();
              values.clear();
              const auto f = fine[row];
              for (int i = rows.offset[f]; i < rows.offset[f + 1]; ++i)
                if (all[rows.column[i]] >= 0)
                  {
                    columns.push_back(all[rows.column[i]]);
                    values.push_back(rows.value[i]);
                  }
              submatrix.InsertGlobalValues(first + row,
                                           columns.size(),
                                           values.data(),
                                           columns.data());
            }
          submatrix.FillComplete();
          coarse_matrix.reinit(submatrix, true);

          // The near null space is spanned by 1 and x_d. On the box [l, u] in
          // direction d the linear basis function is sqrt(3) xi_d phi_0.
          const unsigned int n_modes = dim + 1;
          // An empty vector would mean to ML that there is no null space.
          null_space.assign(
            std::max<std::size_t>(1, static_cast<std::size_t>(n_modes) * size),
            0.);
          for (unsigned int k = 0, c = 0; k < n; ++k)
            {
              const double *box    = mesh.box.data() + 2 * dim * k;
              double        volume = 1.;
              for (int d = 0; d < dim; ++d)
                volume *= box[dim + d] - box[d];
              const double root = std::sqrt(volume);
              null_space[c]     = root;
              for (int d = 0; d < dim; ++d)
                null_space[(d + 1) * static_cast<std::size_t>(size) + c] =
                  0.5 * (box[d] + box[dim + d]) * root;
              ++c;
              for (int d = 0; d < dim && mesh.n_basis[k] > 1; ++d, ++c)
                null_space[(d + 1) * static_cast<std::size_t>(size) + c] =
                  0.5 * (box[dim + d] - box[d]) / std::sqrt(3.) * root;
            }

          Teuchos::ParameterList parameters;
          ML_Epetra::SetDefaults(symmetric ? "SA" : "NSSA", parameters);
          parameters.set("ML output", 0);
          parameters.set("PDE equations", 1);
          parameters.set("null space: type", "pre-computed");
          parameters.set("null space: dimension", static_cast<int>(n_modes));
          parameters.set("null space: vectors", null_space.data());
          parameters.set("null space: add default vectors", false);
          parameters.set("aggregation: threshold", 0.);
          parameters.set("coarse: max size", 1000);
          parameters.set("coarse: type", "Amesos-KLU");
          if (symmetric)
            {
              parameters.set("smoother: type", "symmetric Gauss-Seidel");
              parameters.set("smoother: sweeps", 2);
            }
          else
            {
              parameters.set("smoother: type", "Gauss-Seidel");
              parameters.set("smoother: sweeps", 2);
            }
          amg.initialize(coarse_matrix, parameters);
          coarse_rhs.reinit(coarse_matrix.locally_owned_range_indices(),
                            handler.get_communicator());
          coarse_solution.reinit(coarse_rhs);
        }

        void
        vmult(Vector &dst, const Vector &src) const
        {
          if (residual.size() != src.size())
            {
              residual.reinit(src, true);
              correction.reinit(src, true);
            }
          dst = 0.;
          smoother.sweep(matrix, dst, src, true);

          matrix.vmult(residual, dst);
          residual.sadd(-1., 1., src);
          {
            double       *c = coarse_rhs.begin();
            const double *f = residual.begin();
            for (std::size_t i = 0; i < fine.size(); ++i)
              c[i] = f[fine[i]];
          }
          amg.vmult(coarse_solution, coarse_rhs);
          {
            const double *c = coarse_solution.begin();
            double       *f = dst.begin();
            for (std::size_t i = 0; i < fine.size(); ++i)
              f[fine[i]] += c[i];
          }

          if (!several)
            {
              smoother.sweep(matrix, dst, src, false);
              return;
            }
          // A sweep ignores the DoFs of other processes, so the residual is
          // computed with the whole matrix.
          matrix.vmult(residual, dst);
          residual.sadd(-1., 1., src);
          correction = 0.;
          smoother.sweep(matrix, correction, residual, false);
          dst += correction;
        }

      private:
        const TrilinosWrappers::SparseMatrix &matrix;
        const BlockJacobi<dim>                smoother;
        const bool                            several;
        std::vector<std::size_t>              fine;
        std::vector<double>                   null_space;
        TrilinosWrappers::SparseMatrix        coarse_matrix;
        TrilinosWrappers::PreconditionAMG     amg;
        mutable Vector residual, correction, coarse_rhs, coarse_solution;
      };

      template <typename Matrix, typename Vector, typename Preconditioner>
      void
      iterate(const std::string    &method,
              const unsigned int    restart,
              SolverControl        &control,
              const Matrix         &matrix,
              Vector               &solution,
              const Vector         &rhs,
              const Preconditioner &preconditioner)
      {
        if (method == "cg")
          SolverCG<Vector>(control).solve(matrix,
                                          solution,
                                          rhs,
                                          preconditioner);
        else if (method == "bicgstab")
          SolverBicgstab<Vector>(control).solve(matrix,
                                                solution,
                                                rhs,
                                                preconditioner);
        else
          {
            // Right preconditioning makes the solver test the true residual.
            typename SolverGMRES<Vector>::AdditionalData data;
            data.max_n_tmp_vectors     = restart + 2;
            data.right_preconditioning = true;
            SolverGMRES<Vector>(control, data)
              .solve(matrix, solution, rhs, preconditioner);
          }
      }

      // ---- vectors on the host or on the device, where the iteration runs
      void
      copy(HostVector<double> &to, const Vector &from)
      {
        to.reinit(from.locally_owned_elements(), from.get_mpi_communicator());
        std::copy(from.begin(), from.end(), to.begin());
      }

      void
      copy(Vector &to, const HostVector<double> &from)
      {
        std::copy_n(from.begin(), from.locally_owned_size(), to.begin());
      }

      void
      copy(DeviceVector<double> &to, const Vector &from)
      {
        to.copy_from(from);
      }

      void
      copy(Vector &to, const DeviceVector<double> &from)
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
        const MPI_Comm            comm = handler.get_communicator();
        if (Utilities::MPI::n_mpi_processes(comm) == 1)
          {
            to.copy_from(from, BlockSparsity::from_mesh(mesh), mesh.dof_offset);
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
            for (unsigned int i = 0; i < mesh.n_basis[k]; ++i)
              ghosts.push_back(handler.first_dof(k) + i);
          const double *const values = TrilinosBlockMatrix::values(
            const_cast<TrilinosWrappers::SparseMatrix &>(from),
            sparsity,
            mesh.dof_offset);
          TrilinosBlockMatrix::check_columns(from,
                                             sparsity,
                                             mesh.dof_offset,
                                             ghosts);
          to.copy_from(
            std::vector<double>(values,
                                values + sparsity.n_nonzero_elements()));
        });
      }

      // Runs the iteration with multigrid on a copy of the matrix.
      template <typename MatrixType, int dim>
      void
      iterate_with_multigrid(const std::string                    &method,
                             const unsigned int                    restart,
                             SolverControl                        &control,
                             const AgglomerationHandler<dim>      &handler,
                             const MatrixSource<dim>              *source,
                             const bool                            symmetric,
                             const TrilinosWrappers::SparseMatrix &matrix,
                             Vector                               &solution,
                             const Vector                         &rhs)
      {
        MatrixType A;
        copy(A, matrix, handler);
        Multigrid<MatrixType> multigrid;
        initialize_multigrid(multigrid, handler, source, A, symmetric);
        std::conditional_t<
          std::is_same<MatrixType, HostBlockMatrix<double>>::value,
          HostVector<double>,
          DeviceVector<double>>
          x, b;
        copy(b, rhs);
        copy(x, solution);
        iterate(method, restart, control, A, x, b, multigrid);
        copy(solution, x);
      }

      /// Runs the iteration with multigrid, after a check that multigrid
      /// supports @p space.
      template <typename MatrixType, int dim, typename... Arguments>
      void
      iterate_with_multigrid_on(const PolytopicSpace<dim> &space,
                                const std::string         &method,
                                const unsigned int         restart,
                                SolverControl             &control,
                                Arguments &&...arguments)
      {
        if constexpr (dim < 4)
          if (const auto *handler =
                dynamic_cast<const AgglomerationHandler<dim> *>(&space))
            {
              iterate_with_multigrid<MatrixType>(
                method, restart, control, *handler, arguments...);
              return;
            }
        AssertThrow(false,
                    ExcMessage("Solver/Preconditioner = multigrid works on "
                               "polytopic meshes in space, not on space-time "
                               "slabs: take amg or block jacobi."));
      }

      std::string
      scientific(const double number)
      {
        std::ostringstream stream;
        stream.precision(2);
        stream << std::scientific << number;
        return stream.str();
      }
    } // namespace

    template <typename MatrixType, int dim>
    void
    initialize_multigrid(Multigrid<MatrixType>           &multigrid,
                         const AgglomerationHandler<dim> &handler,
                         const MatrixSource<dim>         *source,
                         const MatrixType                &matrix,
                         const bool                       symmetric)
    {
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      const MultigridHierarchy  hierarchy(handler,
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
      const bool hp =
        *std::min_element(mesh.degree.begin(), mesh.degree.end()) !=
        *std::max_element(mesh.degree.begin(), mesh.degree.end());
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

    template <int dim>
    SolverReport
    LinearSolver::solve(const PolytopicSpace<dim>            &handler,
                        const TrilinosWrappers::SparseMatrix &matrix,
                        Vector                               &solution,
                        const Vector                         &rhs,
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
            {
              using Direct = TrilinosWrappers::SolverDirect;
              const std::string library =
                Amesos().Query("Amesos_Mumps") ? "Amesos_Mumps" : "Amesos_Klu";
              Direct solver(control, Direct::AdditionalData(false, library));
              solver.solve(matrix, solution, rhs);
            }
          else if (preconditioner == "amg")
            iterate(name,
                    restart,
                    control,
                    matrix,
                    solution,
                    rhs,
                    TwoLevel<dim>(handler, matrix, symmetric));
          else if (preconditioner == "multigrid")
            iterate_with_multigrid_on<HostBlockMatrix<double>>(handler,
                                                               name,
                                                               restart,
                                                               control,
                                                               source,
                                                               symmetric,
                                                               matrix,
                                                               solution,
                                                               rhs);
          else if (preconditioner == "device multigrid")
            {
              on_all_processes(handler.get_communicator(), []() {
                AssertThrow(cuda_is_available(),
                            ExcMessage("Solver/Preconditioner = device "
                                       "multigrid needs a CUDA device. " +
                                       why_cuda_is_unavailable() +
                                       " Take multigrid, which runs on the "
                                       "host."));
              });
              choose_cuda_device(handler.get_communicator(),
                                 source != nullptr ? source->data.device : -1);
              iterate_with_multigrid_on<DeviceBlockMatrix<double>>(handler,
                                                                   name,
                                                                   restart,
                                                                   control,
                                                                   source,
                                                                   symmetric,
                                                                   matrix,
                                                                   solution,
                                                                   rhs);
            }
          else if (preconditioner == "block jacobi")
            iterate(name,
                    restart,
                    control,
                    matrix,
                    solution,
                    rhs,
                    BlockJacobi<dim>(handler, matrix));
          else if (preconditioner == "ilu")
            {
              TrilinosWrappers::PreconditionILU ilu;
              ilu.initialize(matrix);
              iterate(name, restart, control, matrix, solution, rhs, ilu);
            }
          else
            iterate(name,
                    restart,
                    control,
                    matrix,
                    solution,
                    rhs,
                    PreconditionIdentity());
          if (name != "direct")
            report.n_iterations = control.last_step();
        }
      catch (const SolverControl::NoConvergence &exception)
        {
          failure = description + " does not converge: after " +
                    std::to_string(exception.last_step) +
                    " iterations the residual is " +
                    scientific(exception.last_residual / rhs_norm) +
                    " of the right-hand side";
        }
      catch (const TrilinosWrappers::SolverDirect::ExcTrilinosError &)
        {
          failure = "the direct solver failed";
        }

      Vector residual(rhs);
      matrix.vmult(residual, solution);
      residual.sadd(-1., 1., rhs);
      report.relative_residual = residual.l2_norm() / rhs_norm;
      // The result of a direct solver is as accurate as the conditioning
      // allows; a much larger residual means a singular matrix.
      if (failure.empty() && !(report.relative_residual <
                               (name == "direct" ? 1e-4 : 1e3 * tolerance)))
        failure = description + " ended with a residual of " +
                  scientific(report.relative_residual) +
                  " of the right-hand side";
      AssertThrow(failure.empty(),
                  ExcMessage("The linear system was not solved (" + failure +
                             "): the problem may have no unique solution, or "
                             "choose another Solver/Method or Preconditioner, "
                             "more iterations or a larger tolerance."));
      return report;
    }

    template <int dim>
    void
    set_to_one(const AgglomerationHandler<dim> &handler, Vector &vector)
    {
      const auto &mesh = handler.polytopic_mesh();
      vector           = 0.;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        {
          double volume = 1.;
          for (int d = 0; d < dim; ++d)
            volume *=
              mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
          vector.begin()[mesh.dof_offset[k]] = std::sqrt(volume);
        }
    }

#define INSTANTIATE(dim)                     \
  template SolverReport LinearSolver::solve( \
    const PolytopicSpace<dim> &,             \
    const TrilinosWrappers::SparseMatrix &,  \
    Vector &,                                \
    const Vector &,                          \
    const bool,                              \
    const MatrixSource<dim> *) const
#define INSTANTIATE_IN_SPACE(dim)                                            \
  INSTANTIATE(dim);                                                          \
  template void initialize_multigrid(Multigrid<HostBlockMatrix<double>> &,   \
                                     const AgglomerationHandler<dim> &,      \
                                     const MatrixSource<dim> *,              \
                                     const HostBlockMatrix<double> &,        \
                                     const bool);                            \
  template void initialize_multigrid(Multigrid<DeviceBlockMatrix<double>> &, \
                                     const AgglomerationHandler<dim> &,      \
                                     const MatrixSource<dim> *,              \
                                     const DeviceBlockMatrix<double> &,      \
                                     const bool);                            \
  template void set_to_one(const AgglomerationHandler<dim> &, Vector &)

    INSTANTIATE_IN_SPACE(2);
    INSTANTIATE_IN_SPACE(3);
    // space-time slabs over three dimensions
    INSTANTIATE(4);
#undef INSTANTIATE_IN_SPACE
#undef INSTANTIATE
  } // namespace Application
} // namespace Tessella
