// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/parallel.h>

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/distributed/shared_tria.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/grid/cell_id.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/solution_transfer.h>
#include <tessella/values/polytope_values.h>

#include <functional>
#include <map>
#include <string>

#include "../base/collective.h"
#include "cell_polynomials.h"

namespace Tessella
{
  using namespace internal;

  template <int dim>
  struct PolytopicSolutionTransfer<dim>::Implementation
  {
    using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;
    using ParallelTriangulation =
      dealii::parallel::DistributedTriangulationBase<dim>;

    explicit Implementation(dealii::Triangulation<dim> &triangulation)
      : triangulation(&triangulation)
    {}

    SmartPointer<dealii::Triangulation<dim>> triangulation;
    ParallelTriangulation                   *parallel = nullptr;
    bool                                     prepared = false;
    unsigned int                             handle   = 0;

    // ---- functions on the mesh before the change
    const AgglomerationHandler<dim> *old_handler = nullptr;
    std::vector<std::vector<double>> old_values;
    std::vector<unsigned int>        subcells; // indexed by active cell
    PolynomialSpaceType              space = PolynomialSpaceType::total_degree;
    unsigned int n_components = 1, n_vectors = 0, max_degree = 0;
    // Used without a parallel triangulation only.
    std::map<dealii::CellId, CellPolynomial<dim>> stored;

    unsigned int
    n_fields() const
    {
      return n_components * n_vectors;
    }

    void
    prepare(const AgglomerationHandler<dim>   &handler,
            std::vector<std::vector<double>> &&values)
    {
      AssertThrow(&handler.get_triangulation() == &*triangulation,
                  ExcUserInput("The handler of the old functions is on another "
                               "triangulation than the transfer."));
      AssertThrow(
        (dynamic_cast<
           const dealii::parallel::fullydistributed::Triangulation<dim> *>(
           &*triangulation) == nullptr),
        ExcUserInput("A parallel::fullydistributed::Triangulation cannot be "
                     "refined: use parallel::distributed::Triangulation."));
      AssertThrow(
        (dynamic_cast<const dealii::parallel::shared::Triangulation<dim> *>(
           &*triangulation) == nullptr ||
         n_processes(handler.get_communicator()) == 1),
        ExcUserInput("Solutions are transferred on serial triangulations and "
                     "on parallel::distributed::Triangulation, not on "
                     "parallel::shared::Triangulation on several processes."));
      old_handler  = &handler;
      old_values   = std::move(values);
      space        = handler.polynomial_space();
      n_components = handler.n_components();
      n_vectors    = static_cast<unsigned int>(old_values.size());
      max_degree   = handler.max_degree();

      // Quadrature on coarsened cells, with the same rules on all processes.
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      handler.tabulate(mass_order(handler, max_degree) -
                       2 * min_degree(handler));

      subcells = subcells_of_cells(mesh, triangulation->n_active_cells());
      parallel = dynamic_cast<ParallelTriangulation *>(&*triangulation);
      if (parallel != nullptr)
        handle = parallel->register_data_attach(
          [this](const CellIterator &cell, const auto /*status*/) {
            std::vector<char> buffer;
            // A cell with children is one that will replace them.
            (cell->has_children() ? of_parent(cell) : of_active_cell(cell))
              .pack(buffer);
            return buffer;
          },
          /*returns_variable_size_data=*/true);
      else
        {
          stored.clear();
          for (const CellIterator &cell :
               triangulation->active_cell_iterators())
            if (!cell->coarsen_flag_set())
              stored[cell->id()] = of_active_cell(cell);
            else if (cell->parent()->child(0) == cell)
              stored[cell->parent()->id()] = of_parent(cell->parent());
        }
      prepared = true;
    }

    CellPolynomial<dim>
    of_active_cell(const CellIterator &cell) const
    {
      return cell_polynomial(
        old_handler->polytopic_mesh(),
        old_handler->polytopic_dofs(),
        old_handler->polytope_of_cell()[cell->active_cell_index()],
        old_values);
    }

    /// L2 projection of the polynomials of the children.
    CellPolynomial<dim>
    of_parent(const CellIterator &parent) const
    {
      const PolytopicMesh<dim> &mesh = old_handler->polytopic_mesh();
      CellPolynomial<dim>       result;
      for (int d = 0; d < dim; ++d)
        {
          result.box[d]       = std::numeric_limits<double>::max();
          result.box[dim + d] = std::numeric_limits<double>::lowest();
        }
      std::vector<CellPolynomial<dim>> children;
      for (unsigned int c = 0; c < parent->n_children(); ++c)
        {
          children.push_back(of_active_cell(parent->child(c)));
          result.degree = std::max(result.degree, children.back().degree);
          for (const unsigned int v : parent->child(c)->vertex_indices())
            for (int d = 0; d < dim; ++d)
              {
                const double x      = parent->child(c)->vertex(v)[d];
                result.box[d]       = std::min(result.box[d], x);
                result.box[dim + d] = std::max(result.box[dim + d], x);
              }
        }

      CellPolynomialEvaluator<dim> evaluator(space);
      const unsigned int           n = evaluator.n_functions(result.degree);
      std::vector<double> m(std::size_t(n) * n, 0.), phi(n), diagonal(n),
        values;
      result.coefficients.assign(std::size_t(n) * n_fields(), 0.);
      QuadratureBatch<dim> batch;
      for (unsigned int c = 0; c < parent->n_children(); ++c)
        {
          batch.clear();
          batch.add_subcell(mesh,
                            subcells[parent->child(c)->active_cell_index()],
                            mass_order(*old_handler, result.degree));
          values.resize(std::size_t(n_fields()) * batch.size());
          evaluator.evaluate(
            children[c], batch, 0, batch.size(), values.data());
          for (unsigned int q = 0; q < batch.size(); ++q)
            {
              double x[dim];
              for (int d = 0; d < dim; ++d)
                x[d] = batch.x[d][q];
              evaluator.basis(result.degree, result.box.data(), x, phi.data());
              for (unsigned int i = 0; i < n; ++i)
                {
                  const double w_phi = batch.weight[q] * phi[i];
                  for (unsigned int j = i; j < n; ++j)
                    m[std::size_t(i) * n + j] += w_phi * phi[j];
                  for (unsigned int f = 0; f < n_fields(); ++f)
                    result.coefficients[std::size_t(f) * n + i] +=
                      w_phi * values[std::size_t(f) * batch.size() + q];
                }
            }
        }
      solve_cholesky(
        n, m.data(), n_fields(), result.coefficients.data(), diagonal.data());
      return result;
    }

    /// Polynomials of the active cells after the change.
    std::vector<CellPolynomial<dim>>
    receive()
    {
      std::vector<CellPolynomial<dim>> result(triangulation->n_active_cells());
      if (parallel != nullptr)
        parallel->notify_ready_to_unpack(
          handle,
          [&](const CellIterator &cell,
              const auto /*status*/,
              const boost::iterator_range<std::vector<char>::const_iterator>
                &data) {
            CellPolynomial<dim> polynomial;
            const std::size_t   used =
              polynomial.unpack(&*data.begin(), data.size());
            AssertThrow(used > 0, dealii::ExcInternalError());
            if (cell->is_active())
              result[cell->active_cell_index()] = std::move(polynomial);
            else
              for (unsigned int c = 0; c < cell->n_children(); ++c)
                result[cell->child(c)->active_cell_index()] = polynomial;
          });
      else
        for (const CellIterator &cell : triangulation->active_cell_iterators())
          {
            auto it = stored.find(cell->id());
            if (it == stored.end() && cell->level() > 0)
              it = stored.find(cell->parent()->id());
            AssertThrow(it != stored.end(),
                        ExcUserInput(
                          "The mesh has changed in another way than its flags "
                          "said in prepare_for_coarsening_and_refinement(): "
                          "call prepare_coarsening_and_refinement() of the "
                          "triangulation first, and change the mesh once."));
            result[cell->active_cell_index()] = it->second;
          }
      stored.clear();
      prepared = false;
      return result;
    }
  };



  template <int dim>
  PolytopicSolutionTransfer<dim>::PolytopicSolutionTransfer(
    dealii::Triangulation<dim> &triangulation)
    : implementation(std::make_unique<Implementation>(triangulation))
  {}

  template <int dim>
  PolytopicSolutionTransfer<dim>::~PolytopicSolutionTransfer() = default;



  template <int dim>
  void
  PolytopicSolutionTransfer<dim>::prepare_for_coarsening_and_refinement(
    const AgglomerationHandler<dim> &handler, const ConstVectorViews &solutions)
  {
    std::vector<std::vector<double>> values(solutions.size());
    const std::size_t                n = handler.n_locally_owned_dofs();
    on_all_processes(handler.get_communicator(), [&]() {
      AssertThrow(!solutions.empty() && handler.n_dofs() > 0,
                  ExcUserInput("There is nothing to transfer: give a handler "
                               "with degrees of freedom and a vector."));
      for (std::size_t i = 0; i < solutions.size(); ++i)
        {
          const double *const data = solutions[i].values(n, values[i]);
          if (data != values[i].data())
            values[i].assign(data, data + n);
        }
    });
    implementation->prepare(handler, std::move(values));
  }



  template <int dim>
  void
  PolytopicSolutionTransfer<dim>::project(
    const AgglomerationHandler<dim> &handler, const VectorViews &solutions)
  {
    Implementation                  &data = *implementation;
    const std::size_t                n    = handler.n_locally_owned_dofs();
    const MPI_Comm                   comm = handler.get_communicator();
    std::vector<std::vector<double>> memory(solutions.size());
    std::vector<double *>            values;
    on_all_processes(comm, [&]() {
      AssertThrow(data.prepared,
                  ExcUserInput(
                    "project() needs what the old mesh had: call "
                    "prepare_for_coarsening_and_refinement() before the mesh "
                    "changes, and project() once."));
      AssertThrow(&handler.get_triangulation() == &*data.triangulation,
                  ExcUserInput("The new handler is on another triangulation "
                               "than the transfer."));
      AssertThrow(handler.n_dofs() > 0 &&
                    handler.n_components() == data.n_components &&
                    solutions.size() == data.n_vectors,
                  ExcUserInput(
                    "The new handler must have degrees of freedom of as many "
                    "components as the old one, " +
                    std::to_string(data.n_components) +
                    ", and there must be as many vectors as before, " +
                    std::to_string(data.n_vectors) + "."));
      for (std::size_t i = 0; i < solutions.size(); ++i)
        values.push_back(solutions[i].start(n, memory[i]));
    });

    project_cell_polynomials(
      handler, data.receive(), data.space, data.max_degree, values);
    on_all_processes(comm, [&]() {
      for (std::size_t i = 0; i < solutions.size(); ++i)
        solutions[i].finish(memory[i]);
    });
  }



  template <int dim>
  void
  PolytopicSolutionTransfer<dim>::execute(
    AgglomerationHandler<dim>          &handler,
    const Agglomeration::Strategy<dim> &strategy,
    const VectorViews                  &solutions)
  {
    Implementation             &data          = *implementation;
    dealii::Triangulation<dim> &triangulation = *data.triangulation;
    const MPI_Comm              comm          = handler.get_communicator();
    triangulation.prepare_coarsening_and_refinement();
    prepare_for_coarsening_and_refinement(handler, ConstVectorViews(solutions));
    const dealii::hp::FECollection<dim> elements = handler.get_fe_collection();
    triangulation.execute_coarsening_and_refinement();

    handler.agglomerate(strategy);
    const std::vector<CellPolynomial<dim>> polynomials = data.receive();
    const PolytopicMesh<dim>              &mesh = handler.polytopic_mesh();
    std::vector<unsigned int>              indices(handler.n_polytopes(), 0);
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      {
        unsigned int degree = 0;
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          degree = std::max(degree, polynomials[mesh.subcell_cell[s]].degree);
        while (elements[indices[k]].degree != degree)
          {
            ++indices[k];
            AssertThrow(indices[k] < elements.size(),
                        dealii::ExcInternalError());
          }
      }
    handler.distribute_dofs(elements, indices);

    const std::size_t                n     = handler.n_locally_owned_dofs();
    const dealii::IndexSet           owned = handler.locally_owned_dofs();
    std::vector<std::vector<double>> memory(solutions.size());
    std::vector<double *>            values;
    for (std::size_t i = 0; i < solutions.size(); ++i)
      {
        solutions[i].reinit(owned, comm);
        values.push_back(solutions[i].start(n, memory[i]));
      }
    project_cell_polynomials(
      handler, polynomials, data.space, data.max_degree, values);
    on_all_processes(comm, [&]() {
      for (std::size_t i = 0; i < solutions.size(); ++i)
        solutions[i].finish(memory[i]);
    });
  }



  template class PolytopicSolutionTransfer<2>;
  template class PolytopicSolutionTransfer<3>;
} // namespace Tessella
