// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "solvability.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      // Returns a number for every polytope of the flat view that is the same
      // for polytopes connected through faces.
      template <int dim>
      std::vector<double>
      connected_parts(const AgglomerationHandler<dim> &handler)
      {
        const auto         &mesh = handler.polytopic_mesh();
        const unsigned int  n    = handler.n_polytopes();
        std::vector<double> part(mesh.n_polytopes());
        for (unsigned int k = 0; k < part.size(); ++k)
          part[k] = handler.global_polytope_index(k);
        std::vector<unsigned int> stack;
        for (bool again = true; again;)
          {
            bool changed = false;
            for (unsigned int k = n; k-- > 0;)
              stack.push_back(k);
            // Propagate the smallest number of the neighbours until nothing
            // changes.
            while (!stack.empty())
              {
                const unsigned int k = stack.back();
                stack.pop_back();
                for (unsigned int i = mesh.polytope_interface_offset[k];
                     i < mesh.polytope_interface_offset[k + 1];
                     ++i)
                  {
                    const unsigned int neighbor =
                      mesh.neighbor(mesh.polytope_interface[i]);
                    if (neighbor == invalid_index)
                      continue;
                    if (part[neighbor] < part[k])
                      {
                        part[k] = part[neighbor];
                        changed = true;
                        stack.push_back(k);
                        break;
                      }
                    if (part[neighbor] > part[k] && neighbor < n)
                      {
                        part[neighbor] = part[k];
                        changed        = true;
                        stack.push_back(neighbor);
                      }
                  }
              }
            handler.exchange_polytope_values(part, 1);
            again = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1 &&
                    Utilities::MPI::max(changed ? 1 : 0, MPI_COMM_WORLD) > 0;
          }
        return part;
      }

      // Sets a vector to the DoFs of the constant function 1.
      template <int dim>
      void
      set_to_one(const AgglomerationHandler<dim> &handler,
                 TrilinosWrappers::MPI::Vector   &vector)
      {
        const auto &mesh = handler.polytopic_mesh();
        const auto &dofs = handler.polytopic_dofs();
        vector           = 0.;
        for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
          {
            double volume = 1.;
            for (int d = 0; d < dim; ++d)
              volume *=
                mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
            vector.begin()[dofs.dof_offset[k]] = std::sqrt(volume);
          }
      }
    } // namespace



    template <int dim>
    void
    check_solvability(const AgglomerationHandler<dim>      &handler,
                      const TrilinosWrappers::SparseMatrix &matrix,
                      const std::string                    &what,
                      const std::string                    &remedy)
    {
      TrilinosWrappers::MPI::Vector one, image;
      one.reinit(matrix.locally_owned_domain_indices(), MPI_COMM_WORLD);
      image.reinit(one);
      set_to_one(handler, one);
      matrix.vmult(image, one);

      // Maps a part to the largest entries of the image of 1 and of the
      // diagonal.
      using Largest = std::map<double, std::pair<double, double>>;
      const PolytopicDoFs      &dofs = handler.polytopic_dofs();
      const std::vector<double> part = connected_parts(handler);
      Largest                   parts;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        {
          auto      &largest = parts[part[k]];
          const auto first   = dofs.dof_offset[k];
          for (auto i = first; i < dofs.dof_offset[k + 1]; ++i)
            largest.first = std::max(largest.first, std::abs(image.begin()[i]));
          largest.second =
            std::max(largest.second,
                     std::abs(matrix.diag_element(handler.first_dof(k)) *
                              one.begin()[first]));
        }
      if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
        for (const Largest &others :
             Utilities::MPI::all_gather(MPI_COMM_WORLD, Largest(parts)))
          for (const auto &other : others)
            {
              auto &largest  = parts[other.first];
              largest.first  = std::max(largest.first, other.second.first);
              largest.second = std::max(largest.second, other.second.second);
            }
      for (const auto &largest : parts)
        AssertThrow(largest.second.first > 1e-11 * largest.second.second,
                    ExcMessage(
                      "The problem has no unique solution: nothing fixes " +
                      what + ". " + remedy));
    }



    template <int dim>
    void
    check_solvability(AgglomerationHandler<dim> &handler,
                      const Form<dim>           &form,
                      const std::string         &remedy)
    {
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(0));
      typename PolytopicAssembler<dim>::AdditionalData data;
      data.backend = Backend::host;
      PolytopicAssembler<dim>        assembler(handler, data);
      TrilinosWrappers::SparseMatrix matrix;
      assembler.reinit(matrix);
      assembler.assemble_matrix(form, matrix);
      check_solvability(handler, matrix, "the constant", remedy);
    }



#define INSTANTIATE(dim)                                                  \
  template void check_solvability(const AgglomerationHandler<dim> &,      \
                                  const TrilinosWrappers::SparseMatrix &, \
                                  const std::string &,                    \
                                  const std::string &);                   \
  template void check_solvability(AgglomerationHandler<dim> &,            \
                                  const Form<dim> &,                      \
                                  const std::string &)
    INSTANTIATE(2);
    INSTANTIATE(3);
#undef INSTANTIATE
  } // namespace Application
} // namespace Tessella
