// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_check_rectangular_h
#define tessella_tests_cuda_check_rectangular_h

// Rectangular matrices on a device.

#include <deal.II/distributed/tria.h>

#include <tessella/assembly/rectangular_assembler.h>
#include <tessella/forms/divergence_form.h>
#include <tessella/lac/device_rectangular_matrix.h>
#include <tessella/lac/device_vector.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../assembly/elasticity.h"

namespace RectangularTest
{
  using Tessella::AgglomerationHandler;
  using Tessella::AssemblyParameters;
  using Tessella::Backend;
  using Tessella::DeviceRectangularMatrix;
  using Tessella::DeviceVector;
  using Tessella::RectangularAssembler;

  /// Two components of test functions and dim of trial functions: volume and
  /// facets, a volume alone, and pairs without a form.
  template <int dim>
  class SomePairs : public Tessella::SystemForm<dim>
  {
  public:
    SomePairs()
    {
      Tensor<1, dim> b;
      b[0] = 1.;
      b[1] = -0.4;
      advection.set_advection(b);
      advection.set_source(2.);
      reaction.set_reaction(1.5);
      for (auto *form : {&advection, &reaction})
        form->set_coefficient_order(2);
    }
    unsigned int
    n_test_components() const override
    {
      return 2;
    }
    unsigned int
    n_trial_components() const override
    {
      return dim;
    }
    const Tessella::Form<dim> *
    form(const unsigned int test, const unsigned int trial) const override
    {
      return test == 0 && trial == 0   ? &reaction
             : test == 1 && trial == 1 ? &advection
             : test == 1 && trial == 0 ? &advection
                                       : nullptr;
    }

    Tessella::AdvectionDiffusionReaction<dim> advection, reaction;
  };



  /// The form of Stokes' problem with a velocity on the boundary.
  template <int dim>
  std::unique_ptr<Tessella::DivergenceForm<dim>>
  make_divergence()
  {
    auto form = std::make_unique<Tessella::DivergenceForm<dim>>();
    form->set_dirichlet(
      std::make_shared<VectorLambda<dim>>([](const Point<dim> &x) {
        Tensor<1, dim> u;
        for (unsigned int d = 0; d < dim; ++d)
          u[d] = 0.3 * d + x[(d + 1) % dim] - 0.5 * x[d] * x[0];
        return u;
      }));
    return form;
  }



  template <typename Number>
  std::vector<Number>
  some_values(const std::size_t n, const std::size_t first = 0)
  {
    std::vector<Number> result(n);
    for (std::size_t i = 0; i < n; ++i)
      result[i] = std::sin(1. + 0.37 * (first + i));
    return result;
  }

  template <typename Number>
  bool
  same_bits(const std::vector<Number> &a, const std::vector<Number> &b)
  {
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0;
  }

  template <typename Number>
  std::vector<Number>
  entries(const DeviceVector<Number> &vector)
  {
    std::vector<Number> result;
    vector.copy_to(result);
    return result;
  }

  /// Largest difference relative to the largest entry.
  template <typename Number>
  double
  difference(const std::vector<Number> &a, const Vector<double> &b)
  {
    double largest = 0., result = 0.;
    for (std::size_t i = 0; i < a.size(); ++i)
      {
        const double d = std::abs(a[i] - b(i));
        if (!std::isfinite(d))
          return 1e300;
        result  = std::max(result, d);
        largest = std::max(largest, std::abs(b(i)));
      }
    return a.size() != b.size() ? 1e300
           : largest == 0.      ? result
                                : result / largest;
  }



  /// Matrix and right-hand side of the host, as the reference.
  template <int dim>
  struct OnHost
  {
    OnHost(const AgglomerationHandler<dim> &test,
           const AgglomerationHandler<dim> &trial,
           const Tessella::SystemForm<dim> &form)
    {
      AssemblyParameters data;
      data.backend = Backend::host;
      RectangularAssembler<dim> assembler(test, trial, data);
      assembler.reinit(sparsity, matrix, rhs);
      assembler.assemble(form, matrix, rhs);
    }

    SparsityPattern      sparsity;
    SparseMatrix<double> matrix;
    Vector<double>       rhs;
  };



  /// All products of a matrix with sums in the precision of Number.
  template <typename Number, typename Verify>
  void
  check_products(const std::string                     &name,
                 const DeviceRectangularMatrix<Number> &matrix,
                 const SparseMatrix<double>            &reference,
                 const Verify                          &verify)
  {
    // Sums of hundreds of terms, whose rounding errors are a few units.
    const double bound = 50. * std::numeric_limits<Number>::epsilon();
    for (const bool transposed : {false, true})
      {
        const std::string text   = name + (transposed ? ", transposed" : "");
        const std::size_t n_to   = transposed ? matrix.n() : matrix.m(),
                          n_from = transposed ? matrix.m() : matrix.n();
        DeviceVector<Number> x, y, b;
        x.copy_from(some_values<Number>(n_from));
        b.copy_from(some_values<Number>(n_to, 7));
        y.reinit(n_to);
        Vector<double> from(n_from), to(n_to), expected(n_to);
        x.copy_to(from);
        b.copy_to(expected);
        const auto multiply = [&](DeviceVector<Number> &dst, const bool add) {
          if (transposed)
            add ? matrix.Tvmult_add(dst, x) : matrix.Tvmult(dst, x);
          else
            add ? matrix.vmult_add(dst, x) : matrix.vmult(dst, x);
        };
        transposed ? reference.Tvmult(to, from) : reference.vmult(to, from);
        y = Number(1e30);
        multiply(y, false);
        const std::vector<Number> first = entries(y);
        verify(text, difference(first, to) <= bound, "");
        y = Number(0);
        multiply(y, true);
        verify(text + ", same bits", same_bits(first, entries(y)), "");
        y = b;
        multiply(y, true);
        to += expected;
        verify(text + ", added", difference(entries(y), to) <= bound, "");
        to.sadd(-1., 2., expected);
        matrix.subtract_product(y, x, b, transposed);
        verify(text + ", subtracted", difference(entries(y), to) <= bound, "");
        matrix.subtract_product(b, x, b, transposed);
        verify(text + ", in place", same_bits(entries(y), entries(b)), "");
      }
  }



  /// Entries of the device beside those of the host, relative to the largest
  /// one of the block row.
  template <typename Number, int dim>
  double
  largest_difference(const DeviceRectangularMatrix<Number> &matrix,
                     const AgglomerationHandler<dim>       &trial,
                     const OnHost<dim>                     &host)
  {
    std::vector<Number> values;
    matrix.copy_to(values);
    const auto &blocks  = matrix.block_sparsity();
    const auto &rows    = matrix.row_offset();
    const auto &columns = trial.polytopic_dofs().dof_offset;
    double      result  = 0.;
    for (unsigned int k = 0; k < blocks.row_width.size(); ++k)
      {
        // Entries are of order one unless all terms cancel.
        double largest = 0.1, difference = 0.;
        for (auto b = blocks.block_offset[k]; b < blocks.block_offset[k + 1];
             ++b)
          {
            const unsigned int l = blocks.block_column[b];
            for (auto i = rows[k]; i < rows[k + 1]; ++i)
              for (auto j = columns[l]; j < columns[l + 1]; ++j)
                {
                  const double
                    value = host.matrix(i, j),
                    d     = std::abs(
                      value - values[blocks.value_offset[k] +
                                     (i - rows[k]) * blocks.row_width[k] +
                                     blocks.column_offset[b] + j - columns[l]]);
                  if (!std::isfinite(d))
                    return 1e300;
                  difference = std::max(difference, d);
                  largest    = std::max(largest, std::abs(value));
                }
          }
        result = std::max(result, difference / largest);
      }
    return result;
  }



  /// The values of a matrix of the device as one of the host, so that
  /// differences of products are those of the sums.
  template <typename Number, int dim>
  void
  copy_values(const DeviceRectangularMatrix<Number> &matrix,
              const AgglomerationHandler<dim>       &trial,
              SparseMatrix<double>                  &result)
  {
    std::vector<Number> values;
    matrix.copy_to(values);
    const auto &blocks  = matrix.block_sparsity();
    const auto &rows    = matrix.row_offset();
    const auto &columns = trial.polytopic_dofs().dof_offset;
    for (unsigned int k = 0; k < blocks.row_width.size(); ++k)
      for (auto b = blocks.block_offset[k]; b < blocks.block_offset[k + 1]; ++b)
        {
          const unsigned int l = blocks.block_column[b];
          for (auto i = rows[k]; i < rows[k + 1]; ++i)
            for (auto j = columns[l]; j < columns[l + 1]; ++j)
              result.set(i,
                         j,
                         values[blocks.value_offset[k] +
                                (i - rows[k]) * blocks.row_width[k] +
                                blocks.column_offset[b] + j - columns[l]]);
        }
  }



  /// A form on two spaces, assembled by the device and by the host.
  template <typename Number, int dim, typename Verify>
  void
  compare(const std::string               &name,
          const AgglomerationHandler<dim> &test,
          const AgglomerationHandler<dim> &trial,
          const Tessella::SystemForm<dim> &form,
          const Verify                    &verify)
  {
    const OnHost<dim> host(test, trial, form);
    const bool        is_double = sizeof(Number) == 8;
    // Kernels for float compute in float.
    const double        bound = is_double ? 1e-12 : 1e-5;
    std::vector<Number> values[2], rhs[2];
    for (const Backend backend : {Backend::cuda, Backend::host})
      {
        const std::string text =
          name + (backend == Backend::host ? ", from the host" : "");
        AssemblyParameters data;
        data.backend = backend;
        RectangularAssembler<dim>       assembler(test, trial, data);
        DeviceRectangularMatrix<Number> matrix;
        DeviceVector<Number>            f;
        assembler.reinit(matrix, f);
        for (unsigned int again = 0; again < 2; ++again)
          {
            // Entries that are not written become visible.
            matrix.copy_from(
              std::vector<Number>(matrix.n_nonzero_elements(), Number(1e30)));
            f = Number(1e30);
            assembler.assemble(form, matrix, f);
            matrix.copy_to(values[again]);
            rhs[again] = entries(f);
          }
        verify(text + ", repeated",
               same_bits(values[0], values[1]) && same_bits(rhs[0], rhs[1]) &&
                 assembler.report().backend == backend,
               "");
        verify(text + ", sizes",
               matrix.m() == host.matrix.m() && matrix.n() == host.matrix.n() &&
                 matrix.n_nonzero_elements() ==
                   host.matrix.n_nonzero_elements(),
               "");
        const double entries_differ = largest_difference(matrix, trial, host),
                     rhs_differs    = difference(rhs[0], host.rhs);
        verify(text + ", matrix",
               entries_differ <=
                 (backend == Backend::host && is_double ? 1e-14 : bound),
               std::to_string(entries_differ * 1e12) + " e-12");
        verify(text + ", right-hand side",
               rhs_differs <= bound,
               std::to_string(rhs_differs * 1e12) + " e-12");
        if (backend == Backend::cuda)
          {
            SparseMatrix<double> rounded(host.sparsity);
            copy_values(matrix, trial, rounded);
            check_products(name, matrix, rounded, verify);
          }
      }
  }

  /// All kinds of meshes, and degrees of which either one may be larger.
  template <int dim, typename Verify>
  void
  check_meshes(const Verify &verify)
  {
    const auto           divergence = make_divergence<dim>();
    const SomePairs<dim> pairs;
    for (const std::string mesh :
         {"box", "simplices", "hanging", "hanging periodic", "curved"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        const MappingQ<dim> mapping(3);
        for (const std::string agglomeration : {"none", "steps", "scattered"})
          {
            if (mesh == "curved" && agglomeration != "none")
              continue;
            AgglomerationHandler<dim> pressure(triangulation,
                                               mesh == "curved" ? &mapping
                                                                : nullptr),
              speed(triangulation, mesh == "curved" ? &mapping : nullptr);
            for (auto *handler : {&pressure, &speed})
              handler->agglomerate(make_strategy<dim>(agglomeration));
            // Degree 0 stands for degrees 1 to 3.
            for (const auto &degrees :
                 std::vector<std::pair<unsigned int, unsigned int>>{
                   {1, 2}, {2, 3}, {3, 1}, {2, 2}, {0, 2}, {2, 0}})
              {
                if (dim == 3 && agglomeration == "scattered" &&
                    degrees.first * degrees.second != 2)
                  continue;
                const std::string name =
                  "rectangular, " + mesh + ", " + agglomeration +
                  ", p = " + std::to_string(degrees.first) + ", " +
                  std::to_string(degrees.second);
                Elasticity::distribute(pressure, 1, degrees.first);
                Elasticity::distribute(speed, dim, degrees.second);
                compare<double>(name, pressure, speed, *divergence, verify);
                if (agglomeration != "steps")
                  continue;
                compare<float>(
                  name + ", float", pressure, speed, *divergence, verify);
                Elasticity::distribute(pressure, 2, degrees.first);
                compare<double>(
                  name + ", pairs", pressure, speed, pairs, verify);
              }
          }
      }
  }



  /// A distributed mesh.
  template <int dim>
  struct Case
  {
    parallel::distributed::Triangulation<dim> triangulation;
    AgglomerationHandler<dim>                 pressure, speed;
    DeviceRectangularMatrix<double>           matrix;
    DeviceVector<double>                      rhs, y, z;

    static const Triangulation<dim> &
    refine(parallel::distributed::Triangulation<dim> &triangulation)
    {
      GridGenerator::hyper_cube(triangulation, 0., 1., true);
      triangulation.refine_global(dim == 2 ? 4 : 2);
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->is_locally_owned() && cell->center()[0] < 0.3 &&
            cell->center()[1] > 0.5)
          cell->set_refine_flag();
      triangulation.execute_coarsening_and_refinement();
      return triangulation;
    }

    /// Degrees @p first and first + 1 if @p hp, which depend on the place
    /// alone.
    static void
    distribute(AgglomerationHandler<dim> &handler,
               const unsigned int         n_components,
               const unsigned int         first,
               const bool                 hp)
    {
      hp::FECollection<dim> elements;
      for (unsigned int p = first; p <= first + (hp ? 1 : 0); ++p)
        elements.push_back(
          FESystem<dim>(Tessella::FE_BoundingBoxLegendre<dim>(p),
                        n_components));
      std::vector<unsigned int> indices;
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        {
          const Point<dim> x = handler.bounding_box(k).center();
          indices.push_back(
            hp ? static_cast<unsigned int>(8. * (x[0] + x[1])) % 2 : 0);
        }
      handler.distribute_dofs(elements, indices);
    }

    Case(const MPI_Comm     communicator,
         const unsigned int p_pressure,
         const unsigned int p_speed,
         const bool         hp)
      : triangulation(communicator)
      , pressure(refine(triangulation))
      , speed(triangulation)
    {
      for (auto *handler : {&pressure, &speed})
        handler->agglomerate(Tessella::Agglomeration::complete_families<dim>());
      distribute(pressure, 1, p_pressure, false);
      distribute(speed, dim, p_speed, hp);
      AssemblyParameters data;
      data.backend = Backend::cuda;
      RectangularAssembler<dim> assembler(pressure, speed, data);
      assembler.reinit(matrix, rhs);
      assembler.assemble(*make_divergence<dim>(), matrix, rhs);

      DeviceVector<double> u, p;
      u.reinit(speed.locally_owned_dofs(), communicator);
      p.reinit(pressure.locally_owned_dofs(), communicator);
      y.reinit(p);
      z.reinit(u);
      u.copy_from(some_values<double>(u.locally_owned_size(), first(speed)));
      p.copy_from(some_values<double>(p.locally_owned_size(), first(pressure)));
      matrix.vmult(y, u);
      matrix.Tvmult(z, p);
      matrix.Tvmult_add(z, p);
      matrix.vmult_add(y, u);
    }

    static std::size_t
    first(const AgglomerationHandler<dim> &handler)
    {
      return handler.n_polytopes() == 0 ? 0 : handler.first_dof(0);
    }
  };

  template <int dim, typename Verify>
  void
  compare_processes(const std::string &name,
                    const Case<dim>   &all,
                    const Case<dim>   &one,
                    const Verify      &verify)
  {
    const auto on_all = [](const bool good) {
      return Utilities::MPI::min(good ? 1 : 0, MPI_COMM_WORLD) == 1;
    };
    const auto same = [](const DeviceVector<double> &part,
                         const DeviceVector<double> &whole,
                         const std::size_t           first) {
      const std::vector<double> a = entries(part), b = entries(whole);
      return same_bits(a, {b.begin() + first, b.begin() + first + a.size()});
    };
    const std::size_t row    = Case<dim>::first(all.pressure),
                      column = Case<dim>::first(all.speed);
    verify(name + ", sizes",
           on_all(all.matrix.m() == one.matrix.m() &&
                  all.matrix.n() == one.matrix.n()),
           "");
    verify(name + ", right-hand side", on_all(same(all.rhs, one.rhs, row)), "");
    verify(name + ", product", on_all(same(all.y, one.y, row)), "");
    verify(name + ", transposed", on_all(same(all.z, one.z, column)), "");
    verify(name + ", not zero",
           one.y.l2_norm() > 0. && one.z.l2_norm() > 0.,
           "");
  }

  /// Products and right-hand sides have the same bits as on one process.
  template <int dim, typename Verify>
  void
  check_processes(const Verify &verify)
  {
    for (const bool hp : {false, true})
      for (const auto &degrees :
           std::vector<std::pair<unsigned int, unsigned int>>{{1, 2},
                                                              {0, 1},
                                                              {2, 1}})
        {
          const Case<dim> all(MPI_COMM_WORLD,
                              degrees.first,
                              degrees.second,
                              hp),
            one(MPI_COMM_SELF, degrees.first, degrees.second, hp);
          compare_processes("rectangular, " + std::to_string(dim) +
                              "-D, p = " + std::to_string(degrees.first) +
                              ", " + std::to_string(degrees.second) +
                              (hp ? " hp" : ""),
                            all,
                            one,
                            verify);
        }
  }
} // namespace RectangularTest

#endif
