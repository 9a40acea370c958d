// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares pointwise operators on a CUDA device to the host: residual, tangent,
// Jacobian and diagonal blocks, on all kinds of meshes; the same bits when
// repeated; vectors and matrices on the device; errors; the space that needs
// the most shared memory; texts; the kernels on affine simplices and when they
// are chosen; derivatives of functors. Argument: 2d, 3d, simplices,
// derivatives, text, memory or unavailable. Returns 77 if the case cannot run
// on this machine, 1 if a check fails.

#include "../operators/pointwise.h"

#include <deal.II/grid/grid_tools.h>

#include <tessella/flow/artificial_viscosity.h>
#include <tessella/grid/flow_meshes.h>
#include <tessella/grid/mapping_quadratic.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>

#include "../mixed_mesh.h"
#include "../operators/texts.h"
#include "checks.h"
#include "derivative_functors.h"
#include "pointwise_functors.h"
#include "simplex_functors.h"

using Tessella::Backend;
using Tessella::DeviceBlockMatrix;
using Tessella::DeviceVector;

namespace
{
  template <int dim>
  typename PointwiseOperator<dim>::AdditionalData
  with(const Backend backend)
  {
    typename PointwiseOperator<dim>::AdditionalData data;
    data.backend = backend;
    return data;
  }



  bool
  same_bits(const std::vector<double> &a, const std::vector<double> &b)
  {
    return a.size() == b.size() &&
           (a.empty() ||
            std::memcmp(a.data(), b.data(), sizeof(double) * a.size()) == 0);
  }

  template <typename Vector>
  std::vector<double>
  entries(const Vector &vector)
  {
    return std::vector<double>(vector.begin(), vector.end());
  }



  /// Integrals over the domain and over boundary ids, one after the other.
  template <int dim, typename Vector>
  std::vector<double>
  integrals(PointwiseOperator<dim>                  &op,
            const Tessella::PointwiseIntegrand<dim> &integrand,
            const std::vector<const Vector *>       &fields)
  {
    std::vector<double> result = op.integrate_volume(integrand, fields);
    for (const auto &part : op.integrate_boundary(integrand, fields))
      result.insert(result.end(), part.second.begin(), part.second.end());
    return result;
  }



  /// All results of one backend.
  template <int dim>
  struct Results
  {
    Results(const Handlers<dim>                       &handlers,
            const Tessella::PointwiseIntegrand<dim>   &integrand,
            const std::vector<dealii::Vector<double>> &fields,
            const Backend                              backend)
      : op(handlers, 0, with<dim>(backend))
    {
      for (const auto &field : fields)
        pointers.push_back(&field);
      compute(integrand);
    }

    void
    compute(const Tessella::PointwiseIntegrand<dim> &integrand)
    {
      dealii::Vector<double> r;
      op.reinit(r);
      r = 1e300;
      op.residual(integrand, pointers, r);
      kernels = op.report().kernels;
      vectors = {entries(r)};
      for (unsigned int i = 0; i < pointers.size(); ++i)
        {
          dealii::Vector<double> direction(pointers[i]->size());
          for (unsigned int j = 0; j < direction.size(); ++j)
            direction(j) = random(5 * j + i);
          r = 1e300;
          op.apply_tangent(integrand, pointers, direction, r, i);
          vectors.push_back(entries(r));
        }
      HostBlockMatrix<double> matrix;
      op.reinit(matrix);
      op.assemble_jacobian(integrand, pointers, matrix);
      sparsity = matrix.block_sparsity();
      jacobian.assign(matrix.values(),
                      matrix.values() + sparsity.n_nonzero_elements());
      op.diagonal_blocks(integrand, pointers, blocks);
      sums = integrals<dim>(op, integrand, pointers);
    }

    PointwiseOperator<dim>                      op;
    std::vector<const dealii::Vector<double> *> pointers;
    std::vector<std::vector<double>>            vectors;
    std::vector<double>                         jacobian, blocks, sums;
    Tessella::BlockSparsity                     sparsity;
    std::string                                 kernels; // of the residual
  };



  /// Largest difference of entries begin .. end, relative to the largest entry.
  double
  difference(const std::vector<double> &a,
             const std::vector<double> &b,
             const std::size_t          begin,
             const std::size_t          end)
  {
    double size = 0., largest = 0.;
    for (std::size_t i = begin; i < end; ++i)
      {
        size           = std::max(size, std::abs(a[i]));
        const double d = std::abs(a[i] - b[i]);
        if (!(d <= largest) && !std::isnan(largest))
          largest = d;
      }
    return size == 0. ? largest : largest / size;
  }

  void
  verify_below(const std::string &name, const double value)
  {
    verify(name, value <= 1e-12, std::to_string(value * 1e12) + "e-12");
  }



  /// Largest difference of the first tangent and the product of the Jacobian
  /// with its direction, relative to the largest entry of the tangent.
  double largest_difference_to_jacobian = 0.;

  template <int dim>
  double
  difference_to_jacobian(const AgglomerationHandler<dim> &handler,
                         const Results<dim>              &results,
                         const std::size_t                n)
  {
    const auto         &offset = handler.polytopic_dofs().dof_offset;
    const auto         &blocks = results.sparsity;
    std::vector<double> product(n, 0.);
    for (unsigned int k = 0; k + 1 < offset.size(); ++k)
      for (auto b = blocks.block_offset[k]; b < blocks.block_offset[k + 1]; ++b)
        {
          const unsigned int column = blocks.block_column[b];
          for (std::size_t i = 0; i < offset[k + 1] - offset[k]; ++i)
            for (std::size_t j = 0; j < offset[column + 1] - offset[column];
                 ++j)
              product[offset[k] + i] +=
                results
                  .jacobian[blocks.value_offset[k] + i * blocks.row_width[k] +
                            blocks.column_offset[b] + j] *
                random(5 * (offset[column] + j));
        }
    const double result = difference(product, results.vectors[1], 0, n);
    largest_difference_to_jacobian =
      std::max(largest_difference_to_jacobian, result);
    return result;
  }



  template <int dim, typename F>
  void
  compare_backends(const std::string                         &name,
                   const Handlers<dim>                       &handlers,
                   const F                                   &f,
                   const std::vector<dealii::Vector<double>> &fields,
                   const unsigned int                         order   = 2,
                   const std::string                         &kernels = "")
  {
    const auto integrand = Functors::make_integrand<dim>(f);
    integrand->set_coefficient_order(order);
    integrand->set_time(0.4);
    const Results<dim> host(handlers, *integrand, fields, Backend::host);
    Results<dim>       cuda(handlers, *integrand, fields, Backend::cuda);
    verify(name + ": ran on the device",
           cuda.op.report().backend == Backend::cuda &&
             cuda.op.report().why.empty());
    verify(name + ": kernels",
           cuda.kernels.find(kernels) != std::string::npos,
           cuda.kernels);

    const auto        &offset = handlers[0]->polytopic_dofs().dof_offset;
    const unsigned int n      = offset.size() - 1;
    for (unsigned int v = 0; v < host.vectors.size(); ++v)
      verify_below(name + (v == 0 ? ": residual" : ": tangent"),
                   difference(host.vectors[v],
                              cuda.vectors[v],
                              0,
                              host.vectors[v].size()));
    double      rows = 0., diagonal = 0.;
    std::size_t begin = 0;
    for (unsigned int k = 0; k < n; ++k)
      {
        rows = std::max(rows,
                        difference(host.jacobian,
                                   cuda.jacobian,
                                   host.sparsity.value_offset[k],
                                   host.sparsity.value_offset[k + 1]));
        const std::size_t size =
          (offset[k + 1] - offset[k]) * (offset[k + 1] - offset[k]);
        diagonal =
          std::max(diagonal,
                   difference(host.blocks, cuda.blocks, begin, begin + size));
        begin += size;
      }
    verify_below(name + ": Jacobian", rows);
    verify_below(name + ": diagonal blocks", diagonal);
    const double to_jacobian =
      difference_to_jacobian(*handlers[0], cuda, fields[0].size());
    verify(name + ": tangent and Jacobian",
           to_jacobian <= 1e-13,
           std::to_string(to_jacobian * 1e13) + "e-13");
    verify_below(name + ": integrals",
                 difference(host.sums, cuda.sums, 0, host.sums.size()));

    const auto first    = cuda.vectors;
    const auto jacobian = cuda.jacobian, blocks = cuda.blocks, sums = cuda.sums;
    cuda.compute(*integrand);
    bool same = same_bits(jacobian, cuda.jacobian) &&
                same_bits(blocks, cuda.blocks) && same_bits(sums, cuda.sums);
    for (unsigned int v = 0; v < first.size(); ++v)
      same = same && same_bits(first[v], cuda.vectors[v]);
    verify(name + ": repeatability", same);
  }



  /// Integrals whose number of components is not that of the test functions.
  template <int dim>
  void
  compare_integrals(const std::string               &name,
                    const AgglomerationHandler<dim> &handler,
                    const dealii::Vector<double>    &u)
  {
    const auto integrand =
      Functors::make_integrand<dim>(Functors::Forces<dim>());
    integrand->set_coefficient_order(4);
    PointwiseOperator<dim> host(handler, with<dim>(Backend::host)),
      cuda(handler, with<dim>(Backend::cuda));
    const DeviceVector<double> on_device(u);
    const auto                 expected =
      integrals<dim, dealii::Vector<double>>(host, *integrand, {&u});
    const auto one =
      integrals<dim, dealii::Vector<double>>(cuda, *integrand, {&u});
    const auto two =
      integrals<dim, DeviceVector<double>>(cuda, *integrand, {&on_device});
    verify(name + ": integrals on the device",
           cuda.report().why.empty() &&
             contains(cuda.report().integrand, "on the device"),
           cuda.report().why);
    verify_below(name + ": forces",
                 difference(expected, one, 0, expected.size()));
    verify(name + ": forces from a vector on the device", same_bits(one, two));
  }



  /// All functors on a mesh.
  template <int dim>
  void
  compare_all(const std::string                  &name,
              Triangulation<dim>                 &triangulation,
              const Mapping<dim>                 *mapping,
              const std::string                  &agglomeration,
              const unsigned int                  p,
              const bool                          hp,
              const Tessella::PolynomialSpaceType space =
                Tessella::PolynomialSpaceType::total_degree)
  {
    set_materials(triangulation);
    AgglomerationHandler<dim> one(triangulation, mapping),
      two(triangulation, mapping), three(triangulation, mapping),
      flow(triangulation, mapping);
    for (auto *handler : {&one, &two, &three, &flow})
      handler->agglomerate(make_strategy<dim>(agglomeration));
    distribute(one, p, hp, 1, space);
    distribute(two, p, hp, 2, space);
    distribute(three, p, hp, 3, space);
    distribute(flow, p, hp, dim + 2, space);
    dealii::Vector<double> u, v, w;
    set_field(one, {0.4}, 0.5, u);
    compare_backends<dim>(name + ", diffusion",
                          {&one},
                          Functors::NonlinearDiffusion<dim>(),
                          {u});
    set_field(two, {0.4, 0.1}, 0.5, v);
    compare_backends<dim>(name + ", two fields",
                          {&two, &one},
                          Functors::TwoFields<dim>(),
                          {v, u});
    set_field(three, {0.4, 0.2, -0.1}, 0.5, w);
    compare_backends<dim>(name + ", three components",
                          {&three},
                          Functors::ThreeComponents<dim>(),
                          {w},
                          0);
    set_field(flow, euler_state<dim>(), 0.1, w);
    compare_backends<dim>(name + ", Euler", {&flow}, euler<dim>(), {w}, 1);
    compare_integrals<dim>(name, flow, w);
  }



  /// Fields of other degrees than that of the test functions.
  template <int dim>
  void
  compare_degrees()
  {
    Triangulation<dim> triangulation;
    make_mesh("hanging", triangulation);
    set_materials(triangulation);
    AgglomerationHandler<dim> test(triangulation), other(triangulation);
    test.agglomerate(make_strategy<dim>("steps"));
    other.agglomerate(make_strategy<dim>("steps"));
    dealii::Vector<double> u, v;
    for (const auto &degrees : {std::pair<unsigned int, unsigned int>(1, 3),
                                {5, 2},
                                {2, dim == 2 ? 10 : 6}})
      {
        distribute(test, degrees.first, false, 2);
        distribute(other, degrees.second, false, 1);
        set_field(test, {0.3, 0.1}, 0.5, u);
        set_field(other, {0.3}, 0.5, v);
        compare_backends<dim>("degrees " + std::to_string(degrees.first) +
                                " and " + std::to_string(degrees.second),
                              {&test, &other},
                              Functors::TwoFields<dim>(),
                              {u, v});
      }
    distribute(other, dim == 2 ? 10 : 6, false, 1);
    set_field(other, {0.3}, 0.5, v);
    compare_backends<dim>("high degree",
                          {&other},
                          Functors::NonlinearDiffusion<dim>(),
                          {v});
  }



  /// A Jacobian in single precision has the given entries, rounded.
  template <int dim>
  void
  check_rounded(PointwiseOperator<dim>                  &op,
                const Tessella::PointwiseIntegrand<dim> &integrand,
                const DeviceVector<double>              &u,
                const std::vector<double>               &values)
  {
    DeviceBlockMatrix<float> matrix;
    op.reinit(matrix);
    op.assemble_jacobian(integrand, {&u}, matrix);
    HostBlockMatrix<float> host;
    op.reinit(host);
    op.assemble_jacobian(integrand, {&u}, host);
    const std::vector<float> rounded(values.begin(), values.end());
    std::vector<float>       found;
    matrix.copy_to(found);
    verify("Jacobian in single precision", found == rounded);
    host.copy_to(found);
    verify("Jacobian in single precision on the host", found == rounded);
  }



  /// Vectors and matrices on the device.
  template <int dim>
  void
  compare_device_objects()
  {
    Triangulation<dim> triangulation;
    make_mesh("simplices", triangulation);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("scattered"));
    distribute(handler, 2, true, dim + 2);
    dealii::Vector<double> u, du, r, s;
    set_field(handler, euler_state<dim>(), 0.1, u);
    set_field(handler, euler_state<dim>(), 0.3, du);
    const auto integrand = Functors::make_integrand<dim>(euler<dim>());
    PointwiseOperator<dim> op(handler, with<dim>(Backend::cuda));
    op.reinit(r);
    DeviceVector<double> x, dx, y;
    for (DeviceVector<double> *vector : {&x, &dx, &y})
      op.reinit(*vector);
    x.copy_from(u);
    dx.copy_from(du);
    op.residual(*integrand, {&u}, r);
    op.residual(*integrand, {&x}, y);
    y.copy_to(s);
    verify("residual on the device", same_bits(entries(r), entries(s)));
    op.apply_tangent(*integrand, {&u}, du, r);
    op.apply_tangent(*integrand, {&x}, dx, y);
    y.copy_to(s);
    verify("tangent on the device", same_bits(entries(r), entries(s)));
    HostBlockMatrix<double>   host;
    DeviceBlockMatrix<double> device;
    op.reinit(host);
    op.reinit(device);
    op.assemble_jacobian(*integrand, {&u}, host);
    op.assemble_jacobian(*integrand, {&x}, device);
    std::vector<double> one, two;
    host.copy_to(one);
    device.copy_to(two);
    verify("Jacobian on the device", same_bits(one, two));
    check_rounded(op, *integrand, x, one);
    device.vmult(y, dx);
    y.copy_to(s);
    s -= r;
    verify("tangent and Jacobian",
           s.linfty_norm() <= 1e-13 * r.linfty_norm(),
           std::to_string(1e13 * s.linfty_norm() / r.linfty_norm()) + "e-13");
  }



  /// A finite residual whose derivative is not: tangent, Jacobians and diagonal
  /// blocks name the component and a point.
  template <int dim>
  void
  check_infinite_derivatives(const std::string               &name,
                             const AgglomerationHandler<dim> &handler,
                             const std::string               &kernels,
                             const std::string               &member)
  {
    PointwiseOperator<dim>    op(handler, with<dim>(Backend::cuda));
    const std::size_t         n = handler.n_dofs();
    dealii::Vector<double>    zero(n), rising(n), r(n);
    DeviceVector<double>      x(zero);
    HostBlockMatrix<double>   host;
    DeviceBlockMatrix<double> device;
    DeviceBlockMatrix<float>  rounded;
    std::vector<double>       blocks;
    op.reinit(host);
    op.reinit(device);
    op.reinit(rounded);
    // Positive functions that rise with x.
    const auto &dofs = handler.polytopic_dofs();
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      for (unsigned int c = 0; c < 2; ++c)
        {
          const auto first  = dofs.dof_offset[k] + c * dofs.n_basis[k];
          rising(first)     = 4.;
          rising(first + 1) = 1.;
        }
    for (const unsigned int region : {0, 1, 2})
      {
        const Tessella::PointwiseTextIntegrand<dim> integrand(
          Texts::infinite_derivative(region, member, member));
        const std::string in = name + ", infinite derivative by " + member +
                               " in region " + std::to_string(region);
        const auto fails = [&](const std::string &what,
                               const auto        &work,
                               const std::string &where =
                                 "a polytope around the point (") {
          const std::string text = message_of(work);
          verify(in + ": " + what,
                 contains(text, "is not finite: component 1 of " + where),
                 text);
        };
        op.residual(integrand, {&zero}, r);
        verify(in + ": residual", r.linfty_norm() == 0.);
        fails(
          "tangent",
          [&] { op.apply_tangent(integrand, {&zero}, rising, r); },
          "the integrand at the point (" +
            std::string(region == 2 ? "1, " : ""));
        fails("Jacobian",
              [&] { op.assemble_jacobian(integrand, {&zero}, host); });
        // Kernels of simplices have values on facets alone.
        const bool on_simplices =
          region == 0 || member.find("gradient") == std::string::npos;
        verify(in + ": kernels",
               contains(op.report().kernels,
                        on_simplices ? kernels : "all polytopes"),
               op.report().kernels);
        fails("Jacobian on the device",
              [&] { op.assemble_jacobian(integrand, {&x}, device); });
        fails("Jacobian in single precision",
              [&] { op.assemble_jacobian(integrand, {&x}, rounded); });
        fails("diagonal blocks",
              [&] { op.diagonal_blocks(integrand, {&zero}, blocks); });
        // The same operator afterwards.
        op.assemble_jacobian(integrand, {&rising}, host);
      }
  }

  template <int dim>
  void
  check_infinite_derivatives()
  {
    Triangulation<dim> boxes, simplices;
    dealii::GridGenerator::subdivided_hyper_cube(boxes, 3, 0., 1., true);
    dealii::GridGenerator::subdivided_hyper_cube_with_simplices(simplices, 2);
    // As with the colours of the boxes.
    for (const auto &face : simplices.active_face_iterators())
      if (face->at_boundary() && face->center()[0] > 1. - 1e-12)
        face->set_boundary_id(1);
    AgglomerationHandler<dim> polytopes(boxes), cells(simplices);
    polytopes.agglomerate(make_strategy<dim>("steps"));
    cells.agglomerate(make_strategy<dim>("none"));
    for (const unsigned int p : {1, 2, 3})
      {
        distribute(polytopes, p, false, 2);
        distribute(cells, p, false, 2);
        const std::string degree =
          std::to_string(dim) + "-D, degree " + std::to_string(p);
        // Derivatives by gradients are multiplied by zero where functions are
        // constant.
        for (const std::string member : {"value[1]", "gradient[1][0]"})
          {
            check_infinite_derivatives<dim>(degree,
                                            polytopes,
                                            "all polytopes",
                                            member);
            check_infinite_derivatives<dim>(degree,
                                            cells,
                                            "affine simplices",
                                            member);
          }
      }
  }



  /// A functor without device code on simplices: the host, which takes over,
  /// has its kernels for batches of them, as without a device.
  template <int dim>
  void
  check_batches_of_host(const Functors::Euler<dim> &f)
  {
    Triangulation<dim> triangulation;
    make_mesh("simplices", triangulation);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("none"));
    distribute(handler, 2, false, dim + 2);
    dealii::Vector<double> u, r, s;
    set_field(handler, euler_state<dim>(), 0.1, u);
    const FunctorIntegrand<dim, Functors::Euler<dim>> on_host(f);
    PointwiseOperator<dim> automatic(handler, with<dim>(Backend::automatic)),
      host(handler, with<dim>(Backend::host));
    automatic.reinit(r);
    host.reinit(s);
    const auto check = [&](const std::string &name) {
      verify("fall-back on simplices: " + name,
             automatic.report().kernels == "affine simplices" &&
               same_bits(entries(r), entries(s)),
             automatic.report().kernels);
    };
    automatic.residual(on_host, {&u}, r);
    host.residual(on_host, {&u}, s);
    check("residual");
    automatic.apply_tangent(on_host, {&u}, u, r);
    host.apply_tangent(on_host, {&u}, u, s);
    check("tangent");
    // A Jacobian has none, and a functor with device code needs no host.
    HostBlockMatrix<double> matrix;
    automatic.reinit(matrix);
    automatic.assemble_jacobian(on_host, {&u}, matrix);
    verify("fall-back on simplices: Jacobian",
           contains(automatic.report().kernels, "all polytopes"),
           automatic.report().kernels);
    const auto on_device = Functors::make_integrand<dim>(f);
    automatic.residual(*on_device, {&u}, r);
    host.residual(on_host, {&u}, s);
    verify("after a fall-back on simplices",
           automatic.report().why.empty() &&
             automatic.report().kernels == "affine simplices",
           automatic.report().why);
    verify_below("after a fall-back on simplices, residual",
                 difference(entries(s), entries(r), 0, r.size()));
  }



  /// Both owners of a facet see the same flux; errors; integrands without
  /// device code.
  template <int dim>
  void
  check_device()
  {
    Triangulation<dim> triangulation;
    make_mesh("hanging periodic", triangulation);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("scattered"));
    distribute(handler, 2, true, dim + 2);
    dealii::Vector<double> u, r, s;
    set_field(handler, euler_state<dim>(), 0.1, u);
    auto f                           = euler<dim>();
    f.walls                          = false;
    const auto             integrand = Functors::make_integrand<dim>(f);
    PointwiseOperator<dim> op(handler, with<dim>(Backend::cuda)),
      automatic(handler, with<dim>(Backend::automatic));
    op.reinit(r);
    op.reinit(s);
    op.residual(*integrand, {&u}, r);
    const auto  of_id = op.integrate_boundary(*integrand, {&u});
    const auto &dofs  = handler.polytopic_dofs();
    const auto &mesh  = handler.polytopic_mesh();
    for (unsigned int c = 0; c < dim + 2; ++c)
      {
        double sum = 0., size = 0.;
        for (const auto &id : of_id)
          sum -= id.second[c];
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          {
            double volume = 1.;
            for (int d = 0; d < dim; ++d)
              volume *=
                mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
            const double entry =
              r(dofs.dof_offset[k] + c * dofs.n_basis[k]) * std::sqrt(volume);
            sum += entry;
            size = std::max(size, std::abs(entry));
          }
        verify_below("conservation", std::abs(sum) / size);
      }

    // A functor that was compiled for the host only.
    const FunctorIntegrand<dim, Functors::Euler<dim>> on_host(f);
    automatic.residual(on_host, {&u}, s);
    s -= r;
    verify_below("fall-back to the host", s.linfty_norm() / r.linfty_norm());
    verify("reason of the fall-back",
           automatic.report().why.find("nvcc") != std::string::npos,
           automatic.report().why);
    check_batches_of_host(f);
    std::string text = message_of([&] { op.residual(on_host, {&u}, s); });
    verify("no device code",
           text.find("cannot run on a CUDA device") != std::string::npos,
           text);
    u(0)               = 0.;
    u(dofs.n_basis[0]) = 1.;
    text               = message_of([&] { op.residual(*integrand, {&u}, s); });
    verify("not finite",
           text.find("at the point (") != std::string::npos,
           text);
  }



  /// The largest space, whose data nearly fill the shared memory.
  void
  test_memory()
  {
    Triangulation<3> triangulation;
    dealii::GridGenerator::subdivided_hyper_rectangle(triangulation,
                                                      {2, 1, 1},
                                                      dealii::Point<3>(),
                                                      dealii::Point<3>(2.,
                                                                       1.,
                                                                       1.));
    AgglomerationHandler<3> handler(triangulation);
    handler.agglomerate(make_strategy<3>("none"));
    distribute(
      handler, 10, false, 5, Tessella::PolynomialSpaceType::tensor_product);
    dealii::Vector<double> u, r, s;
    set_field(handler, euler_state<3>(), 0.1, u);
    const auto integrand = Functors::make_integrand<3>(euler<3>());
    integrand->set_coefficient_order(0);
    PointwiseOperator<3> host(handler, with<3>(Backend::host)),
      automatic(handler, with<3>(Backend::automatic));
    host.reinit(r);
    host.reinit(s);
    const auto compare = [&](const std::string &name) {
      verify(name + " on the device",
             automatic.report().why.empty(),
             automatic.report().why);
      verify_below(name, difference(entries(r), entries(s), 0, r.size()));
    };
    host.residual(*integrand, {&u}, r);
    automatic.residual(*integrand, {&u}, s);
    compare("residual");
    host.apply_tangent(*integrand, {&u}, u, r);
    automatic.apply_tangent(*integrand, {&u}, u, s);
    compare("tangent");
    // Two such states do not fit.
    const auto two = Functors::make_integrand<3>(Functors::TwoStates<3>());
    two->set_coefficient_order(0);
    PointwiseOperator<3> on_host({&handler, &handler},
                                 0,
                                 with<3>(Backend::host)),
      by_itself({&handler, &handler}, 0, with<3>(Backend::automatic)),
      on_device({&handler, &handler}, 0, with<3>(Backend::cuda));
    on_host.residual(*two, {&u, &u}, r);
    by_itself.residual(*two, {&u, &u}, s);
    verify("too large: the reason",
           contains(by_itself.report().why,
                    "bytes of the shared memory of the device, which has"),
           by_itself.report().why);
    verify("too large: same bits as the host",
           same_bits(entries(r), entries(s)));
    const std::string text = message_of([&] {
      on_device.residual(*two, {&u, &u}, s);
    });
    verify("too large: the sentence",
           contains(text,
                    "cannot run on a CUDA device, since a polytope needs") &&
             contains(text, "take lower degrees, or the backend host"),
           text);
    verify("too large: integrals",
           same_bits(
             on_host.integrate_volume<dealii::Vector<double>>(*two, {&u, &u}),
             on_device.integrate_volume<dealii::Vector<double>>(*two,
                                                                {&u, &u})));
    // The same operator after a change of the space.
    distribute(handler, 1, false, 5);
    set_field(handler, euler_state<3>(), 0.1, u);
    automatic.reinit(s);
    automatic.residual(*integrand, {&u}, s);
    verify("smaller space", automatic.report().why.empty());
  }



  /// A device whose memory is full: a sentence with the bytes that are needed,
  /// and the same results as before when there is memory again.
  void
  test_full_device()
  {
    Triangulation<3> triangulation;
    make_mesh("simplices", triangulation);
    AgglomerationHandler<3> handler(triangulation);
    handler.agglomerate(make_strategy<3>("none"));
    distribute(handler, 2, true, 5);
    dealii::Vector<double> u, r, s;
    set_field(handler, euler_state<3>(), 0.1, u);
    const auto integrand = Functors::make_integrand<3>(euler<3>());
    const PointwiseOperator<3>::AdditionalData cuda = with<3>(Backend::cuda);
    PointwiseOperator<3> op(handler, cuda), other(handler, cuda);
    op.reinit(r);
    other.reinit(s);
    op.residual(*integrand, {&u}, r);
    s = 1.;
    {
      std::vector<std::unique_ptr<DeviceVector<double>>> filling;
      // Takes ever smaller pieces.
      for (std::size_t n = std::size_t(1) << 31; n > 100;)
        {
          bool full = false;
          try
            {
              filling.push_back(std::make_unique<DeviceVector<double>>(n));
            }
          catch (const std::exception &)
            {
              full = true;
            }
          if (full)
            n /= 2;
        }
      const std::string text =
        message_of([&] { other.residual(*integrand, {&u}, s); });
      verify("full device: the sentence",
             contains(text, "not enough memory for an array of") &&
               contains(text, " bytes"),
             text);
    }
    bool kept = true;
    for (const double value : s)
      kept = kept && value == 1.;
    verify("full device: the result is kept", kept);
    other.residual(*integrand, {&u}, s);
    verify("full device: later", same_bits(entries(r), entries(s)));
  }



  /// A cube, a pyramid, a wedge and a tetrahedron, each a polytope, and two of
  /// them in each polytope.
  void
  compare_pyramids_and_wedges()
  {
    for (const std::string strategy : {"none", "slabs"})
      for (const unsigned int p : {1, 2, 3})
        {
          Triangulation<3> triangulation;
          make_mixed_mesh(triangulation);
          compare_all<3>("3-D pyramids and wedges, " + strategy +
                           ", p = " + std::to_string(p),
                         triangulation,
                         nullptr,
                         strategy,
                         p,
                         strategy == "slabs");
        }
  }



  template <int dim>
  void
  test()
  {
    const MappingQ<dim> mapping(3);
    for (const std::string mesh : {"box",
                                   "distorted",
                                   "simplices",
                                   "hanging",
                                   "periodic",
                                   "hanging periodic",
                                   "periodic simplices",
                                   "curved"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        const Mapping<dim> *given = mesh == "curved" ? &mapping : nullptr;
        const std::string   name  = std::to_string(dim) + "-D " + mesh;
        if (dim == 2 || mesh == "simplices")
          compare_all<dim>(
            name + ", cells", triangulation, given, "none", 1, false);
        compare_all<dim>(name + ", hp",
                         triangulation,
                         given,
                         "scattered",
                         dim == 2 ? 4 : 2,
                         true);
        if (mesh == "distorted")
          compare_all<dim>(name + ", Q2",
                           triangulation,
                           given,
                           "steps",
                           dim == 2 ? 2 : 1,
                           false,
                           Tessella::PolynomialSpaceType::tensor_product);
      }
    if constexpr (dim == 3)
      compare_pyramids_and_wedges();
    compare_degrees<dim>();
    check_device<dim>();
    compare_device_objects<dim>();
    std::cout << "largest difference of tangent and Jacobian: "
              << largest_difference_to_jacobian << std::endl;
  }



  /// Simplices of different shapes, with straight edges.
  template <int dim>
  void
  make_simplices(Triangulation<dim> &triangulation)
  {
    std::vector<unsigned int> repetitions(dim, 2);
    repetitions[0] = 3;
    dealii::Point<dim> upper;
    for (int d = 0; d < dim; ++d)
      upper[d] = 1.;
    dealii::GridGenerator::subdivided_hyper_rectangle_with_simplices(
      triangulation, repetitions, dealii::Point<dim>(), upper, false);
    for (const auto &cell : triangulation.active_cell_iterators())
      for (const unsigned int f : cell->face_indices())
        if (cell->at_boundary(f))
          cell->face(f)->set_boundary_id((cell->active_cell_index() + f) % 4);
    dealii::GridTools::transform(
      [](const dealii::Point<dim> &x) {
        dealii::Point<dim> y = x;
        y[0] += 0.1 * std::sin(5. * x[1]) * x[dim - 1];
        y[dim - 1] += 0.08 * std::cos(4. * x[0]) + 0.2 * x[1] * x[0];
        return y;
      },
      triangulation);
  }

  /// All functors without gradients on facets on a mesh.
  template <int dim>
  void
  compare_simplices(const std::string        &name,
                    const Triangulation<dim> &triangulation,
                    const unsigned int        p)
  {
    const std::string         kernels = "affine simplices", strategy = "none";
    AgglomerationHandler<dim> one(triangulation), two(triangulation),
      many(triangulation), flow(triangulation), other(triangulation);
    for (auto *handler : {&one, &two, &many, &flow, &other})
      handler->agglomerate(make_strategy<dim>(strategy));
    distribute(one, p, false, 1);
    distribute(two, p, false, 2);
    distribute(many, p, false, dim == 2 ? 5 : 3);
    distribute(flow, p, false, dim + 2);
    dealii::Vector<double> u, v, w;
    set_field(one, {0.4}, 0.5, u);
    compare_backends<dim>(name + ", one component",
                          {&one},
                          Functors::OneComponent<dim>(),
                          {u},
                          2,
                          kernels);
    compare_backends<dim>(name + ", inside only",
                          {&one},
                          Functors::InsideOnly<dim>(),
                          {u},
                          1,
                          kernels);
    set_field(many, {0.4, 0.1, -0.2, 0.3, 0.2}, 0.5, w);
    compare_backends<dim>(name + ", many components",
                          {&many},
                          Functors::ManyComponents<dim>(),
                          {w},
                          2,
                          kernels);
    set_field(flow, euler_state<dim>(), 0.1, w);
    compare_backends<dim>(
      name + ", Euler", {&flow}, euler<dim>(), {w}, p, kernels);
    // A second field of another degree.
    distribute(other, (p + 2) % 5, false, 1);
    set_field(two, {0.4, 0.1}, 0.5, v);
    set_field(other, {0.4}, 0.5, u);
    compare_backends<dim>(name + ", two fields",
                          {&two, &other},
                          Functors::TwoWithField<dim>(),
                          {v, u},
                          1,
                          kernels);
  }

  /// Reasons for the kernels for all polytopes, whose results are right.
  template <int dim>
  void
  check_reasons()
  {
    const auto check = [](const std::string                  &name,
                          const Triangulation<dim>           &triangulation,
                          const Mapping<dim>                 *mapping,
                          const std::string                  &strategy,
                          const unsigned int                  p,
                          const bool                          hp,
                          const std::string                  &reason,
                          const Tessella::PolynomialSpaceType space =
                            Tessella::PolynomialSpaceType::total_degree) {
      AgglomerationHandler<dim> handler(triangulation, mapping);
      handler.agglomerate(make_strategy<dim>(strategy));
      distribute(handler, p, hp, 1, space);
      dealii::Vector<double> u;
      set_field(handler, {0.4}, 0.5, u);
      compare_backends<dim>(name,
                            {&handler},
                            Functors::OneComponent<dim>(),
                            {u},
                            2,
                            "all polytopes, since " + reason);
    };
    const std::string  d     = std::to_string(dim) + "-D ";
    const std::string  other = "not every polytope is one affine simplex";
    Triangulation<dim> triangulation;
    make_simplices(triangulation);
    check(d + "hp",
          triangulation,
          nullptr,
          "none",
          2,
          true,
          "the polytopes have different degrees");
    check(d + "degree",
          triangulation,
          nullptr,
          "none",
          dim == 2 ? 7 : 5,
          false,
          dim == 2 ? "the degree 7" : "the degree 5");
    check(
      d + "agglomerates", triangulation, nullptr, "scattered", 1, false, other);
    check(d + "tensor product",
          triangulation,
          nullptr,
          "none",
          1,
          false,
          "the spaces are not of total degree",
          Tessella::PolynomialSpaceType::tensor_product);
    {
      AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(make_strategy<dim>("none"));
      distribute(handler, 2, false, 1);
      dealii::Vector<double> u;
      set_field(handler, {0.4}, 0.5, u);
      compare_backends<dim>(
        d + "gradients on facets",
        {&handler},
        Functors::NonlinearDiffusion<dim>(),
        {u},
        2,
        "all polytopes, since the functor has gradients on facets");
    }
    if constexpr (dim == 2)
      {
        Triangulation<dim>               ring;
        Tessella::FlowMeshes::Resolution resolution;
        resolution.simplices = true;
        resolution.n_cells   = 2;
        Tessella::FlowMeshes::sphere(ring, resolution, .5, 1.2);
        const Tessella::MappingQuadratic<dim> curved(ring);
        check("curved triangles", ring, &curved, "none", 1, false, other);
      }
    make_mesh("hanging", triangulation);
    check(d + "hanging nodes", triangulation, nullptr, "none", 1, false, other);
    const MappingQ<dim> mapping(3);
    make_mesh("curved", triangulation);
    check(d + "curved", triangulation, &mapping, "none", 1, false, other);
  }

  /// Fluxes of both owners of a facet cancel to the last bit: two triangles
  /// with the same bounding box and constants.
  void
  check_cancellation()
  {
    Triangulation<2> triangulation;
    dealii::GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                                1);
    AgglomerationHandler<2> handler(triangulation), other(triangulation);
    handler.agglomerate(make_strategy<2>("none"));
    other.agglomerate(make_strategy<2>("none"));
    distribute(handler, 0, false, 2);
    distribute(other, 3, false, 1);
    dealii::Vector<double> u, v, r;
    set_field(handler, {0.4, 0.3}, 0.5, u);
    set_field(other, {0.4}, 0.5, v);
    const auto integrand =
      Functors::make_integrand<2>(Functors::TwoWithField<2>());
    PointwiseOperator<2> op({&handler, &other}, 0, with<2>(Backend::cuda));
    op.reinit(r);
    op.residual(*integrand, {&u, &v}, r);
    verify("kernels on two triangles",
           op.report().kernels == "affine simplices",
           op.report().kernels);
    for (unsigned int c = 0; c < 2; ++c)
      verify("cancellation", r(c) != 0. && r(c) == -r(2 + c));
  }

  /// Vectors on the device, results that are not finite, texts, and the same
  /// operator after a change of the space.
  template <int dim>
  void
  check_simplices()
  {
    Triangulation<dim> triangulation;
    make_simplices(triangulation);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("none"));
    PointwiseOperator<dim> op(handler, with<dim>(Backend::cuda)),
      host(handler, with<dim>(Backend::host));
    const auto integrand = Functors::make_integrand<dim>(euler<dim>());
    for (const unsigned int p : {2, 1, 3})
      {
        distribute(handler, p, false, dim + 2);
        dealii::Vector<double> u, r, s;
        DeviceVector<double>   x, y;
        set_field(handler, euler_state<dim>(), 0.1, u);
        op.reinit(r);
        op.reinit(s);
        op.reinit(x);
        op.reinit(y);
        x.copy_from(u);
        op.residual(*integrand, {&u}, r);
        op.residual(*integrand, {&x}, y);
        verify("kernels on simplices",
               op.report().kernels == "affine simplices",
               op.report().kernels);
        y.copy_to(s);
        verify("residual on simplices", same_bits(entries(r), entries(s)));
        host.residual(*integrand, {&u}, s);
        verify_below("change of the degree",
                     difference(entries(r), entries(s), 0, r.size()));
        op.apply_tangent(*integrand, {&u}, u, r);
        op.apply_tangent(*integrand, {&x}, x, y);
        y.copy_to(s);
        verify("tangent on simplices", same_bits(entries(r), entries(s)));
        DeviceBlockMatrix<double> matrix;
        std::vector<double>       values;
        op.reinit(matrix);
        op.assemble_jacobian(*integrand, {&x}, matrix);
        verify("kernel of the Jacobian on simplices",
               op.report().kernels == "affine simplices",
               op.report().kernels);
        matrix.copy_to(values);
        check_rounded(op, *integrand, x, values);
        if (p == 3)
          {
            const unsigned int n = handler.polytopic_dofs().n_basis[0];
            for (unsigned int i = 0; i < n; ++i)
              u(i) = 0.;
            u(n) = 1.;
            const std::string text =
              message_of([&] { op.residual(*integrand, {&u}, s); });
            verify("not finite on simplices",
                   text.find("at the point (") != std::string::npos,
                   text);
          }
      }
  }

  /// A text on simplices, which run-time compilation makes kernels of.
  template <int dim>
  void
  check_text_on_simplices()
  {
    Triangulation<dim> triangulation;
    make_simplices(triangulation);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("none"));
    distribute(handler, 2, false, dim + 2);
    dealii::Vector<double> u;
    set_field(handler, euler_state<dim>(), 0.1, u);
    Tessella::PointwiseTextIntegrand<dim> text(
      Texts::euler(dim, euler_state<dim>()));
    const Results<dim> expected(std::vector{&std::as_const(handler)},
                                text,
                                {u},
                                Backend::host),
      found(std::vector{&std::as_const(handler)}, text, {u}, Backend::cuda);
    for (unsigned int i = 0; i < expected.vectors.size(); ++i)
      verify_below(
        "text on simplices " + found.kernels,
        difference(expected.vectors[i], found.vectors[i], 0, u.size()));
  }

  void
  test_simplices()
  {
    check_cancellation();
    const auto compare = [](const auto dimension) {
      constexpr int      dim = decltype(dimension)::value;
      const std::string  d   = std::to_string(dim) + "-D ";
      Triangulation<dim> triangulation, periodic;
      make_simplices(triangulation);
      make_mesh("periodic simplices", periodic);
      set_materials(triangulation);
      set_materials(periodic);
      for (unsigned int p = 0; p <= (dim == 2 ? 6 : 4); ++p)
        {
          const std::string degree = ", degree " + std::to_string(p);
          compare_simplices<dim>(d + "simplices" + degree, triangulation, p);
          if (p == 1 || p == 2)
            compare_simplices<dim>(d + "periodic" + degree, periodic, p);
        }
      check_reasons<dim>();
      check_simplices<dim>();
      check_text_on_simplices<dim>();
    };
    compare(std::integral_constant<int, 2>());
    compare(std::integral_constant<int, 3>());
  }



  // Derivative with respect to a field that is a function of another one.
  template <int dim>
  void
  check_chained(const AgglomerationHandler<dim> &space,
                const AgglomerationHandler<dim> &constants,
                const dealii::Vector<double>    &u)
  {
    const Tessella::PointwiseTextIntegrand<dim> integrand(Texts::two_fields());
    dealii::Vector<double>                      w, derivative(u.size());
    set_field(constants, {0.4}, 0.5, w);
    const auto &offset = space.polytopic_dofs().dof_offset;
    for (unsigned int k = 0; k < space.n_polytopes(); k += 3)
      for (std::uint64_t i = offset[k]; i < offset[k + 1]; ++i)
        derivative(i) = random(7 * i + 2);
    const Handlers<dim>    handlers{&space, &constants};
    PointwiseOperator<dim> host(handlers, 0, with<dim>(Backend::host)),
      cuda(handlers, 0, with<dim>(Backend::cuda));
    HostBlockMatrix<double>   on_host;
    DeviceBlockMatrix<double> on_device;
    host.reinit(on_host);
    cuda.reinit(on_device);
    const DeviceVector<double> x(u), y(w), z(derivative);
    std::vector<double>        found, expected, without;
    host.assemble_jacobian(integrand, {&u, &w}, on_host);
    on_host.copy_to(without);
    host.add_chained_jacobian(integrand, {&u, &w}, 1, derivative, on_host);
    on_host.copy_to(expected);
    cuda.assemble_jacobian(integrand, {&x, &y}, on_device);
    cuda.add_chained_jacobian(integrand, {&x, &y}, 1, z, on_device);
    on_device.copy_to(found);
    verify("the chained part is not small",
           difference(expected, without, 0, found.size()) > 1e-3);
    verify_below("chained Jacobian",
                 difference(expected, found, 0, found.size()));
    verify(
      "matrix in the other memory",
      message_of([&] {
        cuda.add_chained_jacobian(integrand, {&u, &w}, 1, derivative, on_host);
      }).find("matrices on the device only") != std::string::npos);
  }



  // Sensor of shocks and its derivative.
  template <int dim>
  void
  check_sensor(const AgglomerationHandler<dim> &flow,
               const AgglomerationHandler<dim> &constants,
               const dealii::Vector<double>    &u)
  {
    Tessella::Flow::ShockSensor<dim> sensor;
    sensor.width = 6.;
    Tessella::Flow::ArtificialViscosity<dim> host(flow, sensor),
      cuda(flow, sensor);
    Tessella::HostVector<double> on_host, eps;
    PointwiseOperator<dim>(flow, with<dim>(Backend::host)).reinit(on_host);
    PointwiseOperator<dim>(constants, with<dim>(Backend::host)).reinit(eps);
    std::copy(u.begin(), u.end(), on_host.begin());
    host.compute(on_host, eps);
    const DeviceVector<double> x(u);
    DeviceVector<double>       y(eps.size());
    cuda.compute(x, y);
    std::vector<double> found, slopes;
    y.copy_to(found);
    cuda.device_derivative().copy_to(slopes);
    verify("the sensor is on its ramp",
           host.extent().second > found.size() / 2);
    verify_below("sensor", difference(entries(eps), found, 0, found.size()));
    verify_below(
      "derivative of the sensor",
      difference(entries(host.derivative()), slopes, 0, slopes.size()));
    // The sensor does not change along u itself.
    for (unsigned int i = 0; i < on_host.size(); ++i)
      on_host(i) *= 1. + i % 3;
    DeviceVector<double> direction(x);
    direction.copy_from(entries(on_host));
    host.apply_derivative(on_host, eps);
    cuda.apply_derivative(direction, y);
    y.copy_to(found);
    verify_below("derivative in a direction",
                 difference(entries(eps), found, 0, found.size()));
  }



  // Texts on the device, which run-time compilation makes kernels of, against
  // the host.
  template <int dim>
  void
  test_text()
  {
    Triangulation<dim> triangulation;
    make_mesh("hanging periodic", triangulation);
    set_materials(triangulation);
    AgglomerationHandler<dim> flow(triangulation), two(triangulation),
      one(triangulation);
    for (auto *handler : {&flow, &two, &one})
      handler->agglomerate(make_strategy<dim>("scattered"));
    distribute(flow, 2, true, dim + 2);
    distribute(two, 2, true, 2);
    distribute(one, 2, true, 1);
    dealii::Vector<double> u, v, w;
    set_field(flow, euler_state<dim>(), 0.1, u);
    set_field(two, {0.4, 0.1}, 0.5, v);
    set_field(one, {0.4}, 0.5, w);
    const auto compare = [](const std::string                         &name,
                            const Handlers<dim>                       &handlers,
                            const Tessella::PointwiseTextTerms        &terms,
                            const std::vector<dealii::Vector<double>> &fields) {
      Tessella::PointwiseTextIntegrand<dim> integrand(terms);
      integrand.set_time(0.4);
      const Results<dim> host(handlers, integrand, fields, Backend::host),
        cuda(handlers, integrand, fields, Backend::cuda);
      verify(name + ": ran on the device", cuda.op.report().why.empty());
      for (unsigned int i = 0; i < host.vectors.size(); ++i)
        verify_below(name + (i == 0 ? ": residual" : ": tangent"),
                     difference(host.vectors[i],
                                cuda.vectors[i],
                                0,
                                host.vectors[i].size()));
      verify_below(
        name + ": Jacobian",
        difference(host.jacobian, cuda.jacobian, 0, host.jacobian.size()));
      verify_below(name + ": diagonal blocks",
                   difference(host.blocks, cuda.blocks, 0, host.blocks.size()));
    };
    AgglomerationHandler<dim> constants(triangulation);
    constants.agglomerate(make_strategy<dim>("scattered"));
    distribute(constants, 0, false, 1);
    check_chained(two, constants, v);
    check_sensor(flow, constants, u);
    compare("Euler", {&flow}, Texts::euler(dim, euler_state<dim>()), {u});
    compare("two fields", {&two, &one}, Texts::two_fields(), {v, w});
    compare("diffusion", {&one}, Texts::nonlinear_diffusion(), {w});
    check_infinite_derivatives<dim>();
  }



  /// A derivative of the functor's own is that of dual numbers on the device,
  /// and each of its members is used there: another factor of it changes
  /// tangent and Jacobian, and the residual keeps its bits.
  template <int dim, typename Duals, typename Own>
  void
  compare_derivatives(const std::string         &name,
                      AgglomerationHandler<dim> &handler,
                      const unsigned int         p,
                      const std::vector<double> &state,
                      const Duals               &duals,
                      Own                        own,
                      const std::string         &kernels)
  {
    distribute(handler, p, false, Own::n_components);
    std::vector<dealii::Vector<double>> fields(1);
    set_field(handler, state, 0.5, fields[0]);
    const auto compute = [&](const auto &functor) {
      const auto integrand = Functors::make_integrand<dim>(functor);
      integrand->set_time(0.4);
      auto results = std::make_unique<Results<dim>>(Handlers<dim>{&handler},
                                                    *integrand,
                                                    fields,
                                                    Backend::cuda);
      verify(name + ": ran on the device", results->op.report().why.empty());
      verify(name + ": kernels",
             results->kernels.find(kernels) != std::string::npos,
             results->kernels);
      return results;
    };
    const auto          expected_results = compute(duals);
    const Results<dim> &expected         = *expected_results;
    const auto          check            = [&](const std::string  &case_name,
                           const Results<dim> &results,
                           const double        low,
                           const double        high) {
      const double tangent  = difference(expected.vectors[1],
                                        results.vectors[1],
                                        0,
                                        results.vectors[1].size()),
                   jacobian = difference(expected.jacobian,
                                         results.jacobian,
                                         0,
                                         results.jacobian.size());
      verify(name + case_name + ": residual",
             same_bits(expected.vectors[0], results.vectors[0]));
      verify(name + case_name + ": tangent",
             tangent >= low && tangent <= high,
             std::to_string(tangent));
      verify(name + case_name + ": Jacobian",
             jacobian >= low && jacobian <= high,
             std::to_string(jacobian));
    };
    check(", right derivative", *compute(own), 0., 1e-13);
    for (unsigned int region = 0; region < 3; ++region)
      {
        own.factor[region] = 1.5;
        check(", wrong derivative " + std::to_string(region),
              *compute(own),
              1e-3,
              1.);
        own.factor[region] = 1.;
      }
  }

  void
  test_derivatives()
  {
    Triangulation<2> polygons;
    make_mesh("distorted", polygons);
    AgglomerationHandler<2> handler(polygons);
    handler.agglomerate(make_strategy<2>("steps"));
    compare_derivatives<2>("polygons",
                           handler,
                           2,
                           {0.4},
                           Functors::NonlinearDiffusion<2>(),
                           Functors::WithDerivative<2>(),
                           "");
    Triangulation<3> simplices;
    make_simplices(simplices);
    AgglomerationHandler<3> cells(simplices), parts(simplices);
    cells.agglomerate(make_strategy<3>("none"));
    parts.agglomerate(make_strategy<3>("scattered"));
    for (const bool affine : {true, false})
      compare_derivatives<3>(affine ? "simplices" : "polyhedra",
                             affine ? cells : parts,
                             affine ? 2 : 1,
                             {0.4, 0.1, -0.2},
                             Functors::ManyComponents<3>(),
                             Functors::ManyWithDerivative<3>(),
                             affine ? "affine simplices" : "all polytopes");
  }



  void
  test_unavailable()
  {
    Triangulation<2> triangulation;
    make_mesh("box", triangulation);
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(make_strategy<2>("none"));
    distribute(handler, 1, false, 1);
    const std::string text = message_of(
      [&] { PointwiseOperator<2> op(handler, with<2>(Backend::cuda)); });
    verify("message",
           text.find("Please take the backend host or automatic") !=
             std::string::npos,
           text);
    PointwiseOperator<2> op(handler, with<2>(Backend::automatic));
    const auto           integrand =
      Functors::make_integrand<2>(Functors::NonlinearDiffusion<2>());
    dealii::Vector<double> u, r;
    set_field(handler, {0.4}, 0.5, u);
    op.reinit(r);
    op.residual(*integrand, {&u}, r);
    verify("automatic choice", op.report().backend == Backend::host);
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [](const std::string &name) {
    if (name == "unavailable")
      test_unavailable();
    if (name == "memory")
      {
        test_memory();
        test_full_device();
      }
    if (name == "text")
      {
        test_text<2>();
        test_text<3>();
      }
    if (name == "simplices")
      test_simplices();
    if (name == "derivatives")
      test_derivatives();
    // A part of it, for compute-sanitizer.
    if (name == "small")
      {
        check_cancellation();
        check_simplices<2>();
        check_simplices<3>();
      }
    if (name == "2d")
      test<2>();
    if (name == "3d")
      test<3>();
  });
}
