// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "cellwise_solver.h"

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/base/timer.h>

#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/fe_interface_values.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_sparsity_pattern.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/meshworker/mesh_loop.h>
#include <deal.II/numerics/data_out.h>
#include <deal.II/numerics/vector_tools.h>

#include <tessella/base/compatibility.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "../common/stage_times.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// Element, quadrature and mapping for the only kind of cells of a mesh.
      template <int dim>
      struct Element
      {
        std::unique_ptr<FiniteElement<dim>> fe;
        Quadrature<dim>                     cell_quadrature, error_quadrature;
        Quadrature<dim - 1>                 face_quadrature;
        const Mapping<dim>                 *mapping;

        Element(const Mesh<dim> &mesh, const unsigned int degree)
        {
          const auto kinds = mesh.triangulation->get_reference_cells();
          AssertThrow(kinds.size() == 1 &&
                        (kinds[0].is_hyper_cube() || kinds[0].is_simplex()),
                      ExcMessage(
                        "deal.II's discontinuous elements need a mesh of "
                        "hypercubes or of simplices: leave deal.II out of "
                        "End to end/Methods for this mesh."));
          const unsigned int n_points = degree + 1;
          if (kinds[0].is_hyper_cube())
            {
              fe               = std::make_unique<FE_DGQ<dim>>(degree);
              cell_quadrature  = QGauss<dim>(n_points);
              face_quadrature  = QGauss<dim - 1>(n_points);
              error_quadrature = QGauss<dim>(n_points + 1);
            }
          else
            {
              constexpr unsigned int available =
                Compatibility::max_degree_of_simplex_dg;
              AssertThrow(degree >= 1 && degree <= available,
                          ExcMessage("This deal.II has FE_SimplexDGP of "
                                     "degrees 1 to " +
                                     std::to_string(available) +
                                     " only: change Discretisation/Degree or "
                                     "leave deal.II out of End to "
                                     "end/Methods."));
              fe              = std::make_unique<FE_SimplexDGP<dim>>(degree);
              cell_quadrature = QGaussSimplex<dim>(n_points);
              face_quadrature = QGaussSimplex<dim - 1>(n_points);
              // There are no rules with more points.
              error_quadrature = QGaussSimplex<dim>(std::min(n_points + 1, 4u));
            }
          mapping = mesh.mapping
                      ? mesh.mapping.get()
                      : &kinds[0].template get_default_linear_mapping<dim>();
        }
      };



      template <int dim>
      struct ScratchData
      {
        FEValues<dim>          cell;
        FEInterfaceValues<dim> interface;

        explicit ScratchData(const Element<dim> &element)
          : cell(*element.mapping,
                 *element.fe,
                 element.cell_quadrature,
                 update_values | update_gradients | update_quadrature_points |
                   update_JxW_values)
          , interface(*element.mapping,
                      *element.fe,
                      element.face_quadrature,
                      update_values | update_gradients |
                        update_quadrature_points | update_JxW_values |
                        update_normal_vectors)
        {}

        ScratchData(const ScratchData &other)
          : cell(other.cell.get_mapping(),
                 other.cell.get_fe(),
                 other.cell.get_quadrature(),
                 other.cell.get_update_flags())
          , interface(other.interface.get_mapping(),
                      other.interface.get_fe(),
                      other.interface.get_quadrature(),
                      other.interface.get_update_flags())
        {}
      };



      struct Block
      {
        FullMatrix<double>                   matrix;
        std::vector<types::global_dof_index> indices;
      };

      struct CopyData
      {
        Block              cell;
        Vector<double>     rhs;
        std::vector<Block> faces;
      };



      /// |boundary of the cell| / |cell|.
      template <typename Iterator>
      double
      surface_over_volume(const Iterator &cell)
      {
        double surface = 0.;
        for (const unsigned int f : cell->face_indices())
          surface += cell->face(f)->measure();
        return surface / cell->measure();
      }



      /// Workers of MeshWorker::mesh_loop().
      template <int dim>
      class Assembly
      {
      public:
        using Iterator = typename DoFHandler<dim>::active_cell_iterator;

        Assembly(const Problem<dim> &problem, const unsigned int degree)
          : problem(problem)
          , penalty_factor((degree + 1.) * (degree + dim) / dim)
        {}

        void
        run(const DoFHandler<dim>          &dof_handler,
            const Element<dim>             &element,
            TrilinosWrappers::SparseMatrix &matrix,
            TrilinosWrappers::MPI::Vector  &rhs) const
        {
          const AffineConstraints<double> none;
          MeshWorker::mesh_loop(
            dof_handler.begin_active(),
            dof_handler.end(),
            [&](const Iterator &cell, auto &scratch, CopyData &copy) {
              on_cell(cell, scratch, copy);
            },
            [&](const CopyData &copy) {
              none.distribute_local_to_global(
                copy.cell.matrix, copy.rhs, copy.cell.indices, matrix, rhs);
              for (const Block &face : copy.faces)
                none.distribute_local_to_global(face.matrix,
                                                face.indices,
                                                matrix);
            },
            ScratchData<dim>(element),
            CopyData(),
            MeshWorker::assemble_own_cells |
              MeshWorker::assemble_boundary_faces |
              MeshWorker::assemble_own_interior_faces_once |
              MeshWorker::assemble_ghost_faces_once,
            [&](const Iterator    &cell,
                const unsigned int face,
                auto              &scratch,
                CopyData &copy) { on_boundary(cell, face, scratch, copy); },
            [&](const Iterator    &cell,
                const unsigned int face,
                const unsigned int subface,
                const Iterator    &neighbor,
                const unsigned int neighbor_face,
                const unsigned int neighbor_subface,
                auto              &scratch,
                CopyData          &copy) {
              scratch.interface.reinit(
                cell, face, subface, neighbor, neighbor_face, neighbor_subface);
              on_interface(0.5 * penalty_factor *
                             std::max(surface_over_volume(cell),
                                      surface_over_volume(neighbor)),
                           scratch.interface,
                           copy);
            });
          matrix.compress(VectorOperation::add);
          rhs.compress(VectorOperation::add);
        }

      private:
        const Problem<dim> &problem;
        const double        penalty_factor;

        void
        on_cell(const Iterator   &cell,
                ScratchData<dim> &scratch,
                CopyData         &copy) const
        {
          FEValues<dim> &fe = scratch.cell;
          fe.reinit(cell);
          const unsigned int n = fe.dofs_per_cell;
          copy.cell.matrix.reinit(n, n);
          copy.cell.indices.resize(n);
          cell->get_dof_indices(copy.cell.indices);
          copy.rhs.reinit(n);
          copy.faces.clear();
          std::vector<double> source(fe.n_quadrature_points);
          if (problem.source != nullptr)
            problem.source->value_list(fe.get_quadrature_points(), source);
          for (const unsigned int q : fe.quadrature_point_indices())
            for (unsigned int i = 0; i < n; ++i)
              {
                for (unsigned int j = 0; j < n; ++j)
                  copy.cell.matrix(i, j) +=
                    fe.shape_grad(i, q) * fe.shape_grad(j, q) * fe.JxW(q);
                copy.rhs(i) += source[q] * fe.shape_value(i, q) * fe.JxW(q);
              }
        }

        void
        on_boundary(const Iterator    &cell,
                    const unsigned int face,
                    ScratchData<dim>  &scratch,
                    CopyData          &copy) const
        {
          scratch.interface.reinit(cell, face);
          const double sigma = penalty_factor * surface_over_volume(cell);
          on_interface(sigma, scratch.interface, copy);

          const FEFaceValuesBase<dim> &fe =
            scratch.interface.get_fe_face_values(0);
          const auto &value =
            problem.form.boundary_condition(cell->face(face)->boundary_id())
              .value;
          if (value == nullptr)
            return;
          std::vector<double> g(fe.n_quadrature_points);
          value->value_list(fe.get_quadrature_points(), g);
          for (const unsigned int q : fe.quadrature_point_indices())
            for (unsigned int i = 0; i < fe.dofs_per_cell; ++i)
              copy.rhs(i) += g[q] *
                             (sigma * fe.shape_value(i, q) -
                              fe.shape_grad(i, q) * fe.normal_vector(q)) *
                             fe.JxW(q);
        }

        /// sigma [u][v] - {du/dn}[v] - {dv/dn}[u], on boundary faces, too.
        static void
        on_interface(const double                  sigma,
                     const FEInterfaceValues<dim> &fe,
                     CopyData                     &copy)
        {
          const unsigned int n = fe.n_current_interface_dofs();
          copy.faces.emplace_back();
          Block &block = copy.faces.back();
          block.matrix.reinit(n, n);
          block.indices = fe.get_interface_dof_indices();
          std::vector<double> jump(n), flux(n);
          for (unsigned int q = 0; q < fe.n_quadrature_points; ++q)
            {
              for (unsigned int i = 0; i < n; ++i)
                {
                  jump[i] = fe.jump_in_shape_values(i, q);
                  flux[i] = fe.average_of_shape_gradients(i, q) * fe.normal(q);
                }
              for (unsigned int i = 0; i < n; ++i)
                for (unsigned int j = 0; j < n; ++j)
                  block.matrix(i, j) +=
                    (sigma * jump[i] * jump[j] - flux[j] * jump[i] -
                     flux[i] * jump[j]) *
                    fe.JxW(q);
            }
        }
      };
    } // namespace



    template <int dim>
    void
    solve_cellwise(const Mesh<dim>         &mesh,
                   const Problem<dim>      &problem,
                   const unsigned int       degree,
                   const StoppingCriterion &stopping,
                   const SolutionFile      &file,
                   EndToEndResult          &result)
    {
      const Triangulation<dim> &triangulation = *mesh.triangulation;
      const MPI_Comm            communicator =
        Compatibility::get_communicator(triangulation);
      Timer              timer;
      const Element<dim> element(mesh, degree);
      DoFHandler<dim>    dof_handler(triangulation);
      dof_handler.distribute_dofs(*element.fe);
      result.n_cells              = triangulation.n_global_active_cells();
      result.n_dofs               = dof_handler.n_dofs();
      result.times[handler_stage] = lap(timer);

      const IndexSet                 owned = dof_handler.locally_owned_dofs();
      TrilinosWrappers::SparseMatrix matrix;
      TrilinosWrappers::MPI::Vector  rhs(owned, communicator),
        solution(owned, communicator);
      {
        TrilinosWrappers::SparsityPattern pattern(owned, communicator);
        DoFTools::make_flux_sparsity_pattern(dof_handler, pattern);
        pattern.compress();
        matrix.reinit(pattern);
      }
      result.times[structure_stage] = lap(timer);

      Assembly<dim>(problem, degree).run(dof_handler, element, matrix, rhs);
      result.times[assembly_stage] = lap(timer);

      TrilinosWrappers::PreconditionAMG                 amg;
      TrilinosWrappers::PreconditionAMG::AdditionalData amg_data;
      amg_data.elliptic              = true;
      amg_data.higher_order_elements = degree > 1;
      amg_data.constant_modes.assign(1,
                                     std::vector<bool>(owned.n_elements(),
                                                       true));
      amg.initialize(matrix, amg_data);
      result.times[setup_stage] = lap(timer);

      SolverControl control(stopping.max_iterations,
                            stopping.tolerance * rhs.l2_norm(),
                            false,
                            false);
      SolverCG<TrilinosWrappers::MPI::Vector>(control).solve(matrix,
                                                             solution,
                                                             rhs,
                                                             amg);
      result.times[solve_stage] = lap(timer);
      result.n_iterations       = control.last_step();

      // Functions on owned cells have owned unknowns only.
      if (problem.exact_solution != nullptr)
        {
          Vector<double> difference(triangulation.n_active_cells());
          dealii::VectorTools::integrate_difference(
            *element.mapping,
            dof_handler,
            solution,
            *problem.exact_solution,
            difference,
            element.error_quadrature,
            dealii::VectorTools::L2_norm);
          result.error = dealii::VectorTools::compute_global_error(
            triangulation, difference, dealii::VectorTools::L2_norm);
        }
      result.times[error_stage] = lap(timer);

      if (!file.name.empty())
        {
          DataOut<dim> data_out;
          data_out.attach_dof_handler(dof_handler);
          data_out.add_data_vector(solution, "solution");
          data_out.build_patches(*element.mapping, file.n_subdivisions);
          data_out.write_vtu_in_parallel(file.name, communicator);
        }
      result.times[output_stage] = lap(timer);
    }



    template void
    solve_cellwise(const Mesh<2> &,
                   const Problem<2> &,
                   const unsigned int,
                   const StoppingCriterion &,
                   const SolutionFile &,
                   EndToEndResult &);
    template void
    solve_cellwise(const Mesh<3> &,
                   const Problem<3> &,
                   const unsigned int,
                   const StoppingCriterion &,
                   const SolutionFile &,
                   EndToEndResult &);
  } // namespace Application
} // namespace Tessella
