// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Study of the constant of the interior penalty: how large must it be, and what
// does a larger value cost? The default in tessella/grid/penalty.h is chosen
// from its results.

#include <deal.II/base/numbers.h>
#include <deal.II/base/parameter_handler.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/lapack_full_matrix.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/sparse_direct.h>
#include <deal.II/lac/sparse_matrix.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/vector_tools.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common/memory_check.h"
#include "common/program.h"
#include "common/validation.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "penalty_study",
      "the constant of the interior penalty: coercivity and accuracy",
      "Solves -div(grad u) = f with u = product of sin(pi x_d) on the unit\n"
      "square or cube, on METIS polytopes of several sizes and for several\n"
      "polynomial degrees. For each of them the program prints\n"
      "  - the critical constant: below it the matrix of the coercivity mesh\n"
      "    has a negative eigenvalue (Cholesky's factorisation fails, located\n"
      "    by bisection),\n"
      "  - for each constant of the list the L2 error on the accuracy mesh, as\n"
      "    a multiple of the smallest in the row, and the iterations of\n"
      "    conjugate gradients with SSOR (- where they break down).\n"
      "Mistakes in the input end in one sentence and a non-zero exit status.\n"};

    struct Parameters
    {
      unsigned int coercivity_cells = 24, accuracy_cells = 64,
                   max_dofs_coercivity    = 1500;
      std::string               cell_type = "hypercubes", formula = "simplex";
      double                    distortion = 0.;
      std::vector<unsigned int> cells_per_polytope, degrees;
      std::vector<double>       constants = {1., 2., 4., 10., 20., 50.};

      void
      declare(ParameterHandler &prm)
      {
        prm.add_parameter("Dimension",
                          present_dimension,
                          "",
                          Patterns::Integer(2, 3));
        prm.add_parameter("Cell type",
                          cell_type,
                          "Cells that are grouped into polytopes.",
                          Patterns::Selection("hypercubes|simplices"));
        prm.add_parameter("Distortion",
                          distortion,
                          "Random shift of inner vertices, relative to the "
                          "length of the edges.",
                          Patterns::Double(0, 0.45));
        prm.add_parameter("Cells per direction, coercivity",
                          coercivity_cells,
                          "Mesh on which the critical constant is located "
                          "(dense factorisations).",
                          Patterns::Integer(1));
        prm.add_parameter("Cells per direction, accuracy",
                          accuracy_cells,
                          "Mesh on which errors are measured.",
                          Patterns::Integer(1));
        prm.add_parameter("Largest dense matrix",
                          max_dofs_coercivity,
                          "Rows up to which the critical constant is located.",
                          Patterns::Integer(1));
        prm.declare_entry("Cells per polytope",
                          "1, 12, 100",
                          Patterns::List(Patterns::Integer(1)),
                          "Mean sizes of polytopes.");
        prm.declare_entry("Degrees",
                          "1, 2, 3, 4",
                          Patterns::List(Patterns::Integer(0, 10)),
                          "Polynomial degrees.");
        prm.add_parameter("Constants",
                          constants,
                          "Constants C_sigma for which errors are measured.",
                          Patterns::List(Patterns::Double(0)));
        prm.add_parameter("Formula",
                          formula,
                          "Geometric factor of the penalty.",
                          Patterns::Selection("simplex|bounding box"));
      }

      void
      parse(ParameterHandler &prm, const std::string &)
      {
        cells_per_polytope = parse_integers("Cells per polytope",
                                            prm.get("Cells per polytope"),
                                            1,
                                            1000000000);
        degrees = parse_integers("Degrees", prm.get("Degrees"), 0, 10);
      }

      unsigned int
      dimension() const
      {
        return present_dimension;
      }

    private:
      unsigned int present_dimension = 2;
    };

    template <int dim>
    class Study
    {
    public:
      explicit Study(const Parameters &parameters)
        : parameters(parameters)
        , exact(std::make_shared<Solution>())
        , source(std::make_shared<Source>())
      {}

      void
      run()
      {
        screen() << std::left << std::setw(8) << "cells" << std::setw(4) << "p"
                 << std::setw(10) << "critical" << std::setw(12) << "best L2";
        for (const double c : parameters.constants)
          {
            std::ostringstream title;
            title << "C=" << c;
            screen() << std::setw(14) << title.str();
          }
        screen() << std::endl;
        for (const unsigned int size : parameters.cells_per_polytope)
          {
            setup("Cells per direction, coercivity",
                  parameters.coercivity_cells,
                  size,
                  coercivity_triangulation,
                  coercivity_handler);
            setup("Cells per direction, accuracy",
                  parameters.accuracy_cells,
                  size,
                  accuracy_triangulation,
                  accuracy_handler);
            for (const unsigned int p : parameters.degrees)
              row(size, p);
          }
      }

    private:
      struct Solution : public Function<dim>
      {
        double
        value(const Point<dim> &x, const unsigned int = 0) const override
        {
          double product = 1;
          for (unsigned int d = 0; d < dim; ++d)
            product *= std::sin(numbers::PI * x[d]);
          return product;
        }
      };

      struct Source : public Solution
      {
        double
        value(const Point<dim> &x, const unsigned int = 0) const override
        {
          return dim * numbers::PI * numbers::PI * Solution::value(x);
        }
      };

      void
      setup(const std::string                          &parameter,
            const unsigned int                          n_cells,
            const unsigned int                          cells_per_polytope,
            Triangulation<dim>                         &triangulation,
            std::unique_ptr<AgglomerationHandler<dim>> &handler)
      {
        handler.reset();
        triangulation.clear();
        check_memory(dim,
                     std::pow(n_cells, dim),
                     false,
                     parameter + " = " + std::to_string(n_cells),
                     "lower " + parameter);
        if (parameters.cell_type == "simplices")
          GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                              n_cells);
        else
          GridGenerator::subdivided_hyper_cube(triangulation, n_cells);
        if (parameters.distortion > 0)
          GridTools::distort_random(parameters.distortion,
                                    triangulation,
                                    true,
                                    1);
        handler = std::make_unique<AgglomerationHandler<dim>>(triangulation);
        const unsigned int n = triangulation.n_active_cells();
        if (cells_per_polytope == 1)
          handler->agglomerate(Agglomeration::none<dim>());
        else
          handler->agglomerate(Agglomeration::repair<dim>(
            Agglomeration::metis<dim>(std::max(1u, n / cells_per_polytope))));
      }

      AdvectionDiffusionReaction<dim>
      form() const
      {
        AdvectionDiffusionReaction<dim> form;
        form.set_diffusion(1.);
        form.set_source(source);
        form.set_coefficient_order(4);
        return form;
      }

      void
      assemble(const AgglomerationHandler<dim> &handler,
               const double                     constant,
               SparsityPattern                 &sparsity,
               SparseMatrix<double>            &matrix,
               Vector<double>                  &rhs) const
      {
        typename PolytopicAssembler<dim>::AdditionalData data;
        data.penalty.constant = constant;
        data.penalty.formula  = parameters.formula == "simplex"
                                  ? PenaltyFormula::simplex
                                  : PenaltyFormula::bounding_box;
        PolytopicAssembler<dim> assembler(handler, data);
        matrix.clear();
        assembler.reinit(sparsity, matrix, rhs);
        assembler.assemble(form(), matrix, rhs);
      }

      bool
      is_positive_definite(const SparseMatrix<double> &consistent,
                           const SparseMatrix<double> &with_penalty,
                           const double                constant) const
      {
        const unsigned int       n = consistent.m();
        LAPACKFullMatrix<double> dense(n);
        dense = 0.;
        for (auto a = consistent.begin(), b = with_penalty.begin();
             a != consistent.end();
             ++a, ++b)
          dense(a->row(), a->column()) =
            a->value() + constant * (b->value() - a->value());
        dense.set_property(LAPACKSupport::symmetric);
        try
          {
            dense.compute_cholesky_factorization();
          }
        catch (const ExceptionBase &)
          {
            return false;
          }
        return true;
      }

      // The matrix is affine in the constant, so two assemblies suffice.
      double
      critical_constant() const
      {
        SparsityPattern      sparsity[2];
        SparseMatrix<double> matrix[2];
        Vector<double>       rhs;
        for (unsigned int i = 0; i < 2; ++i)
          assemble(*coercivity_handler, i, sparsity[i], matrix[i], rhs);
        double lower = 0, upper = 64;
        if (!is_positive_definite(matrix[0], matrix[1], upper))
          return std::numeric_limits<double>::infinity();
        for (unsigned int i = 0; i < 11; ++i)
          {
            const double middle = 0.5 * (lower + upper);
            (is_positive_definite(matrix[0], matrix[1], middle) ? upper
                                                                : lower) =
              middle;
          }
        return upper;
      }

      void
      row(const unsigned int size, const unsigned int p)
      {
        const FE_BoundingBoxLegendre<dim> fe(p);
        coercivity_handler->distribute_dofs(fe);
        accuracy_handler->distribute_dofs(fe);
        if (validated(*accuracy_handler, 0, p, SystemMemory::trilinos()))
          return;
        screen() << std::left << std::setw(8) << size << std::setw(4) << p;
        if (coercivity_handler->n_dofs() <= parameters.max_dofs_coercivity)
          screen() << std::setw(10) << std::setprecision(3)
                   << critical_constant() << std::flush;
        else
          screen() << std::setw(10) << "too large";

        std::vector<double>      errors;
        std::vector<std::string> iterations;
        for (const double constant : parameters.constants)
          {
            SparsityPattern      sparsity;
            SparseMatrix<double> matrix;
            Vector<double>       rhs, solution;
            assemble(*accuracy_handler, constant, sparsity, matrix, rhs);
            solution.reinit(rhs);
            SolverControl control(4000, 1e-10 * rhs.l2_norm(), false, false);
            bool          converged = true;
            try
              {
                PreconditionSSOR<SparseMatrix<double>> preconditioner;
                preconditioner.initialize(matrix);
                SolverCG<Vector<double>> solver(control);
                solver.solve(matrix, solution, rhs, preconditioner);
              }
            catch (const ExceptionBase &)
              {
                converged = false;
              }
            if (!converged || !(solution * rhs > 0))
              {
                SparseDirectUMFPACK direct;
                direct.initialize(matrix);
                direct.vmult(solution, rhs);
                converged = false;
              }
            Vector<float> difference(accuracy_handler->n_polytopes());
            VectorTools::integrate_difference(*accuracy_handler,
                                              solution,
                                              *exact,
                                              difference,
                                              dealii::VectorTools::L2_norm);
            errors.push_back(VectorTools::compute_global_error(
              *accuracy_handler, difference, dealii::VectorTools::L2_norm));
            iterations.push_back(converged ? std::to_string(control.last_step())
                                           : "-");
          }
        const double best = *std::min_element(errors.begin(), errors.end());
        screen() << std::setw(12) << std::scientific << std::setprecision(2)
                 << best << std::defaultfloat;
        for (unsigned int i = 0; i < errors.size(); ++i)
          {
            std::ostringstream cell;
            cell << std::setprecision(3) << errors[i] / best << " ("
                 << iterations[i] << ")";
            screen() << std::setw(14) << cell.str();
          }
        screen() << std::endl;
      }

      const Parameters                                  &parameters;
      const std::shared_ptr<const dealii::Function<dim>> exact, source;
      Triangulation<dim> coercivity_triangulation, accuracy_triangulation;
      std::unique_ptr<AgglomerationHandler<dim>> coercivity_handler,
        accuracy_handler;
    };

    MainFunction *const main_function = run_study<Study, Parameters>;
  } // namespace Application
} // namespace Tessella
