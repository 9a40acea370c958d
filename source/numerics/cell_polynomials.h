// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_cell_polynomials_h
#define tessella_source_numerics_cell_polynomials_h

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "polytope_projection.h"

namespace Tessella
{
  namespace internal
  {
    /// Polynomial on a cell, taken over from its polytope: coefficients in the
    /// Legendre basis of a box, field by field. This is the data that is sent
    /// with the cell when a mesh changes.
    template <int dim>
    struct CellPolynomial
    {
      unsigned int                degree = 0;
      std::array<double, 2 * dim> box{}; ///< as PolytopicMesh::box
      /// coefficients[field * n_functions + i]
      std::vector<double> coefficients;

      void
      pack(std::vector<char> &buffer) const
      {
        const std::uint32_t head[2] = {
          degree, static_cast<std::uint32_t>(coefficients.size())};
        append(buffer, head, sizeof(head));
        append(buffer, box.data(), sizeof(double) * box.size());
        append(buffer,
               coefficients.data(),
               sizeof(double) * coefficients.size());
      }

      /// Returns the number of bytes read, or 0 if @p size is too small.
      std::size_t
      unpack(const char *data, const std::size_t size)
      {
        std::uint32_t     head[2];
        const std::size_t fixed = sizeof(head) + sizeof(double) * box.size();
        if (size < fixed)
          return 0;
        std::memcpy(head, data, sizeof(head));
        if ((size - fixed) / sizeof(double) < head[1])
          return 0;
        degree = head[0];
        std::memcpy(box.data(),
                    data + sizeof(head),
                    sizeof(double) * box.size());
        coefficients.resize(head[1]);
        std::copy_n(data + fixed,
                    sizeof(double) * coefficients.size(),
                    reinterpret_cast<char *>(coefficients.data()));
        return fixed + sizeof(double) * coefficients.size();
      }

    private:
      static void
      append(std::vector<char> &buffer,
             const void        *data,
             const std::size_t  size)
      {
        const char *const bytes = static_cast<const char *>(data);
        buffer.insert(buffer.end(), bytes, bytes + size);
      }
    };



    /// Evaluator of polynomials of one space, each on its own box.
    template <int dim>
    class CellPolynomialEvaluator
    {
    public:
      explicit CellPolynomialEvaluator(const PolynomialSpaceType space)
        : space(space)
      {}

      unsigned int
      n_functions(const unsigned int degree) const
      {
        return Legendre::n_functions(dim, degree, space);
      }

      /// Evaluates all functions of @p degree on @p box at one point.
      void
      basis(const unsigned int  degree,
            const double *const box,
            const double       *x,
            double             *phi)
      {
        std::vector<unsigned char> &k = exponents[degree];
        if (k.empty())
          {
            k.resize(std::size_t(n_functions(degree)) * dim);
            Legendre::exponents(dim, degree, space, k.data());
          }
        legendre_basis<dim>(degree, box, n_functions(degree), k.data(), x, phi);
      }

      /// Evaluates @p polynomial at points [@p begin, @p end) of @p batch and
      /// stores values[field * batch.size() + q].
      void
      evaluate(const CellPolynomial<dim>  &polynomial,
               const QuadratureBatch<dim> &batch,
               const unsigned int          begin,
               const unsigned int          end,
               double                     *values)
      {
        const unsigned int n = n_functions(polynomial.degree);
        phi.resize(n);
        const std::size_t n_fields = polynomial.coefficients.size() / n;
        for (unsigned int q = begin; q < end; ++q)
          {
            double x[dim];
            for (int d = 0; d < dim; ++d)
              x[d] = batch.x[d][q];
            basis(polynomial.degree, polynomial.box.data(), x, phi.data());
            for (std::size_t f = 0; f < n_fields; ++f)
              {
                const double *const c   = &polynomial.coefficients[f * n];
                double              sum = 0.;
                for (unsigned int i = 0; i < n; ++i)
                  sum += c[i] * phi[i];
                values[f * batch.size() + q] = sum;
              }
          }
      }

    private:
      const PolynomialSpaceType space;
      std::array<std::vector<unsigned char>, Legendre::max_degree + 1>
                          exponents;
      std::vector<double> phi;
    };



    /// Polynomial of polytope @p k for discrete functions with coefficients
    /// @p values, one array per function.
    template <int dim, typename Array>
    CellPolynomial<dim>
    cell_polynomial(const PolytopicMesh<dim> &mesh,
                    const PolytopicDoFs      &dofs,
                    const unsigned int        k,
                    const std::vector<Array> &values)
    {
      CellPolynomial<dim> result;
      result.degree = dofs.degree[k];
      std::copy_n(&mesh.box[std::size_t(k) * 2 * dim],
                  2 * dim,
                  result.box.begin());
      for (const auto &u : values)
        result.coefficients.insert(result.coefficients.end(),
                                   &u[0] + dofs.dof_offset[k],
                                   &u[0] + dofs.dof_offset[k + 1]);
      return result;
    }

    /// Copies @p coefficients of polytope @p k, function by function, to the
    /// arrays of the functions.
    void
    copy_coefficients(const PolytopicDoFs         &dofs,
                      const unsigned int           k,
                      const std::vector<double>   &coefficients,
                      const std::vector<double *> &values);

    /// Smallest degree of all polytopes on all processes. Collective.
    template <int dim>
    unsigned int
    min_degree(const AgglomerationHandler<dim> &handler);

    /// Sub-cell of the flat view for each active cell, by active_cell_index;
    /// invalid_index for cells that this process does not own.
    template <int dim>
    std::vector<unsigned int>
    subcells_of_cells(const PolytopicMesh<dim> &mesh,
                      const unsigned int        n_active_cells);

    /**
     * L2 projection, onto the polytopes of @p handler, of the polynomials of
     * their cells. @p polynomials is indexed by active_cell_index and belongs
     * to the polynomial space @p space; its fields are the components of all
     * functions. The result is stored in @p values, the coefficients of the
     * functions on this process. @p max_degree is the largest degree in
     * @p polynomials on all processes. Collective.
     */
    template <int dim>
    void
    project_cell_polynomials(
      const AgglomerationHandler<dim>        &handler,
      const std::vector<CellPolynomial<dim>> &polynomials,
      const PolynomialSpaceType               space,
      const unsigned int                      max_degree,
      const std::vector<double *>            &values);
  } // namespace internal
} // namespace Tessella

#endif
