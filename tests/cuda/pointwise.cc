// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares pointwise operators on a CUDA device to the host: residual, tangent,
// Jacobian and diagonal blocks, on all kinds of meshes; the same bits when
// repeated; vectors and matrices on the device; errors; the space that needs
// the most shared memory; texts. Argument: 2d, 3d, text, memory or unavailable.
// Returns 77 if the case cannot run on this machine, 1 if a check fails.

#include "../operators/pointwise.h"

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>

#include "../operators/texts.h"
#include "checks.h"
#include "pointwise_functors.h"

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
        largest        = d <= largest ? largest : d; // keeps NaN
      }
    return size == 0. ? largest : largest / size;
  }

  void
  verify_below(const std::string &name, const double value)
  {
    verify(name, value <= 1e-12, std::to_string(value * 1e12) + "e-12");
  }



  template <int dim, typename F>
  void
  compare_backends(const std::string                         &name,
                   const Handlers<dim>                       &handlers,
                   const F                                   &f,
                   const std::vector<dealii::Vector<double>> &fields,
                   const unsigned int                         order = 2)
  {
    const auto integrand = Functors::make_integrand<dim>(f);
    integrand->set_coefficient_order(order);
    integrand->set_time(0.4);
    const Results<dim> host(handlers, *integrand, fields, Backend::host);
    Results<dim>       cuda(handlers, *integrand, fields, Backend::cuda);
    verify(name + ": ran on the device",
           cuda.op.report().backend == Backend::cuda &&
             cuda.op.report().why.empty());

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
    device.vmult(y, dx);
    y.copy_to(s);
    s -= r;
    verify_below("tangent and Jacobian", s.linfty_norm() / r.linfty_norm());
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
    compare_degrees<dim>();
    check_device<dim>();
    compare_device_objects<dim>();
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
    compare("Euler", {&flow}, Texts::euler(dim, euler_state<dim>()), {u});
    compare("two fields", {&two, &one}, Texts::two_fields(), {v, w});
    compare("diffusion", {&one}, Texts::nonlinear_diffusion(), {w});
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
      test_memory();
    if (name == "text")
      {
        test_text<2>();
        test_text<3>();
      }
    if (name == "2d")
      test<2>();
    if (name == "3d")
      test<3>();
  });
}
