// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares coefficients that a device evaluates (functors compiled by nvcc,
// code compiled at run time, discrete fields) to the host: every entry of
// matrix and right-hand side, and errors. Argument: functors, code, discrete,
// hdg, errors or compiler (which needs NVRTC, but no device). Returns 77 if the
// case cannot run on this machine, 1 if a check fails.

#include <tessella/lac/device_vector.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

#include "../../source/forms/compiled_coefficients.h"
#include "../assembly/assembler_data.h"
#include "../forms/discrete_cases.h"
#include "../tests.h"
#include "checks.h"

namespace
{
  // Fields and values per cell that functors read; the fields are in the memory
  // of the host or of the device.
  template <int dim>
  struct FunctorData
  {
    explicit FunctorData(const FunctorCases<dim> &cases)
      : vector(cases.piecewise)
      , on_host{{cases.handler, cases.piecewise}}
      , on_device{{cases.handler, vector}}
    {
      for (const auto &coefficient : cases.cell_coefficients())
        cell_values.push_back(coefficient.subcell_values());
    }

    const Tessella::DeviceVector<double> vector;
    const Functors::Fields<dim>          on_host, on_device;
    Functors::CellValues                 cell_values;
  };



  // Functors, including fields, or run-time code on one mesh.
  template <int dim>
  void
  compare(const std::string &what,
          const bool         simplices,
          const bool         hp,
          const unsigned int degree)
  {
    const FunctorCases<dim>           cases(simplices, hp, degree);
    Tessella::PolytopicAssembler<dim> host(cases.handler,
                                           on<dim>(Tessella::Backend::host)),
      device(cases.handler, on<dim>(Tessella::Backend::cuda));
    const FunctorData<dim> data(cases);
    System                 one, two, three;
    for (const char *kind : {"full",
                             "materials",
                             "degenerate",
                             "advection",
                             "field",
                             "cells",
                             "cell_tensor",
                             "picard",
                             "newton"})
      {
        const std::string name = std::to_string(dim) + "-D " + what + " " +
                                 kind + (simplices ? " simplices" : "") +
                                 (hp ? " hp" : "") + " " +
                                 std::to_string(degree);
        // Linearised forms exist only as functors; a separate test compares
        // others with nonlinear_diffusion.
        const bool linearised = contains("picard newton", kind);
        if ((linearised && what == "code") ||
            (std::string(kind) == "cell_tensor" && what != "code"))
          continue;
        const auto functor = [&](const Functors::Fields<dim> &fields) {
          return Functors::create<dim>(kind, 2, fields, data.cell_values);
        };
        if (linearised)
          one.assemble(host, *functor(data.on_host));
        else
          one.assemble(host, cases.reference(kind, 2));
        if (what == "code")
          two.assemble(device, cases.reference(kind, 2));
        else
          two.assemble(device, *functor(data.on_host));
        const double difference = one.difference(two);
        verify(name, difference < 1e-12, std::to_string(difference));
        verify(name + " on the device",
               contains(device.report().coefficients, "on the device"),
               device.report().coefficients);
        verify(name + " nothing uploaded",
               device.report().bytes_uploaded == 0.);
        if (what == "code")
          continue;
        // A field on the device, in forms on the device and on the host; the
        // same bits.
        three.assemble(device, *functor(data.on_device));
        verify(name + " repeated", two.difference(three) == 0.);
        three.assemble(host, *functor(data.on_device));
        verify(name + " functor on the host, field on the device",
               one.difference(three) < 1e-12);
      }
  }



  // Discrete functions of several components, whose vectors are on the host or
  // on the device, as coefficients of a form.
  template <int dim>
  void
  compare_discrete(const bool simplices, const bool hp, const int other)
  {
    const std::string name = std::to_string(dim) + "-D discrete function" +
                             (simplices ? " simplices" : "") +
                             (hp ? " hp" : "");
    const DiscreteCases<dim>             cases(simplices, hp, 2, other);
    const Tessella::DeviceVector<double> flow(cases.flow),
      positive(cases.positive);
    Tessella::PolytopicAssembler<dim> host(cases.handler,
                                           on<dim>(Tessella::Backend::host)),
      device(cases.handler, on<dim>(Tessella::Backend::cuda));
    System one, two, three;
    auto   form = cases.form(cases.flow, cases.positive);
    one.assemble(host, form);
    two.assemble(device, form);
    const double difference = one.difference(two);
    verify(name, difference < 1e-12, std::to_string(difference));
    verify(name + " where",
           contains(device.report().coefficients, "on the device") ==
             (other < 0),
           device.report().coefficients);
    form = cases.form(flow, positive);
    three.assemble(device, form);
    verify(name + " on the device", two.difference(three) == 0.);
    three.assemble(host, form);
    verify(name + " on the device, form on the host",
           one.difference(three) == 0.);

    // One more component than kernels can read in three dimensions.
    form.set_source(
      std::make_shared<Tessella::DiscreteFunction<dim>>(cases.handler,
                                                        cases.piecewise));
    two.assemble(device, form);
    one.assemble(host, form);
    verify(name + " of two vectors", one.difference(two) < 1e-12);
    if (other < 0)
      verify(name + " of two vectors, where",
             contains(device.report().coefficients,
                      dim == 2 ? "on the device"
                               : "coefficients and data read more than 4 "
                                 "components of discrete functions"),
             device.report().coefficients);

    HybridSystem<dim> four(cases.handler), five(cases.handler);
    form = cases.form(flow, positive);
    four.assemble(form, Tessella::Backend::host);
    five.assemble(form, Tessella::Backend::cuda);
    verify(name + " hybridizable",
           four.difference(five) <= four.bound(form),
           std::to_string(four.difference(five)));
  }



  // Same comparison for hybridizable dG: b.n on facets and boundary data are
  // evaluated on the device, too.
  template <int dim>
  void
  compare_hdg(const bool simplices, const bool hp, const unsigned int degree)
  {
    const FunctorCases<dim> cases(simplices, hp, degree);
    const FunctorData<dim>  data(cases);
    HybridSystem<dim>       one(cases.handler), two(cases.handler),
      three(cases.handler);
    const auto host = Tessella::Backend::host, cuda = Tessella::Backend::cuda;
    typename HybridSystem<dim>::Options recompute;
    recompute.backend       = cuda;
    recompute.local_solvers = Tessella::LocalSolvers::recompute;
    for (const char *kind :
         {"full", "materials", "field", "cells", "cell_tensor", "no_code"})
      {
        const std::string name = std::to_string(dim) + "-D hybridizable " +
                                 kind + (simplices ? " simplices" : "") +
                                 (hp ? " hp" : "") + " " +
                                 std::to_string(degree);
        double     bound = 0.;
        const auto check = [&](const std::string         &what,
                               const Tessella::Form<dim> &form,
                               const std::string         &how) {
          two.assemble(form, cuda);
          const double difference = one.difference(two);
          verify(name + ", " + what,
                 difference <= bound,
                 std::to_string(difference / bound));
          verify(name + ", " + what + ", where",
                 contains(two.report.coefficients, how),
                 two.report.coefficients);
          verify(name + ", " + what + ", free constants",
                 two.report.n_free_constants == one.report.n_free_constants);
          recompute.device_memory = 0;
          three.assemble(form, recompute);
          verify(name + ", " + what + ", repeated, recomputed",
                 two.difference(three) == 0.);
          // in tiles, with about the least memory that suffices
          if (!contains("full cells", kind) || hp)
            return;
          recompute.device_memory = 20000;
          while (message_of([&] { three.assemble(form, recompute); }) !=
                 "no exception")
            recompute.device_memory += recompute.device_memory / 8;
          verify(name + ", " + what + ", tiles",
                 three.report.n_tiles > 1 && two.difference(three) == 0.,
                 std::to_string(three.report.n_tiles));
        };
        const auto reference = cases.reference(kind, 2);
        one.assemble(reference, host);
        bound = one.bound(reference);
        check("code",
              reference,
              std::string(kind) == "no_code" ? "the host" : "on the device");
        if (const auto functor =
              Functors::create<dim>(kind, 2, data.on_host, data.cell_values))
          check("functor", *functor, "on the device");
        if (const auto functor =
              Functors::create<dim>(kind, 2, data.on_device, data.cell_values))
          check("functor, field on the device", *functor, "on the device");
      }
  }



  // Parts of the mesh have the same bits. Between too little memory for any
  // part and enough for the whole mesh, some limit leads to two parts or more,
  // if the mesh needs more memory than the coefficients of a block row, which
  // on hexahedra have many points.
  template <int dim>
  void
  compare_parts(const bool simplices, const bool hp, const unsigned int degree)
  {
    const FunctorCases<dim>           cases(simplices,
                                  hp,
                                  degree,
                                  dim == 2 ? 18 : (simplices ? 4 : 8));
    Tessella::PolytopicAssembler<dim> device(cases.handler,
                                             on<dim>(Tessella::Backend::cuda));
    const FunctorData<dim>            data(cases);
    System                            one, two;
    auto                              small = on<dim>(Tessella::Backend::cuda);
    for (const char *kind : {"full", "field", "cells", "newton"})
      {
        const auto form =
          Functors::create<dim>(kind, 2, data.on_device, data.cell_values);
        one.assemble(device, *form);
        std::size_t  too_little = 0, enough = std::size_t(1) << 26;
        unsigned int n_parts = 0;
        while (n_parts < 2 && enough - too_little > 256)
          {
            small.device_memory = (too_little + enough) / 2;
            n_parts             = 0;
            try
              {
                Tessella::PolytopicAssembler<dim> assembler(cases.handler,
                                                            small);
                two.assemble(assembler, *form);
                n_parts = assembler.report().n_parts;
              }
            catch (const ExceptionBase &)
              {}
            (n_parts == 0 ? too_little : enough) = small.device_memory;
          }
        verify(std::to_string(dim) + "-D functors in parts, " + kind +
                 (simplices ? ", simplices" : "") + (hp ? ", hp " : ", ") +
                 std::to_string(degree),
               n_parts >= 2 && two.difference(one) == 0.,
               std::to_string(n_parts) + " parts, " +
                 std::to_string(one.difference(two)) + ", " +
                 std::to_string(small.device_memory) + " bytes");
      }
  }



  template <int dim>
  void
  check_errors()
  {
    const FunctorCases<dim>           cases(true, false, 2);
    Tessella::PolytopicAssembler<dim> host(cases.handler,
                                           on<dim>(Tessella::Backend::host)),
      device(cases.handler, on<dim>(Tessella::Backend::cuda));
    System     system;
    const auto functor = [&](Tessella::PolytopicAssembler<dim> &assembler,
                             const char                        *kind) {
      return message_of(
        [&] { system.assemble(assembler, *Functors::create<dim>(kind, 2)); });
    };
    const auto code = [&](Tessella::PolytopicAssembler<dim> &assembler,
                          const char                        *kind) {
      return message_of(
        [&] { system.assemble(assembler, cases.reference(kind, 2)); });
    };
    // The first point with an error is the same in every run.
    for (const char *kind : {"not_finite", "negative"})
      {
        const std::string message = functor(device, kind);
        verify(std::string(kind) + " sentence",
               contains(message,
                        std::string(kind) == "negative"
                          ? "The diffusion coefficient is negative at the point"
                          : "The right-hand side is not finite at the point"),
               message);
        for (unsigned int i = 0; i < 3; ++i)
          verify(std::string(kind) + " repeated",
                 functor(device, kind) == message);
        verify(std::string(kind) + " host",
               message.substr(0, message.find('(')) ==
                 functor(host, kind).substr(0, message.find('(')),
               functor(host, kind));
      }
    verify("code not finite",
           contains(code(device, "not_finite"), "component 0 of a test is"),
           code(device, "not_finite"));
    verify("code negative",
           contains(code(device, "negative"),
                    "The diffusion coefficient is negative at the point"));
    verify("code wrong",
           contains(code(device, "wrong_code"),
                    "does not accept component 0 of a test"),
           code(device, "wrong_code"));
    // The next assembly works.
    system.assemble(device, *Functors::create<dim>("full", 2));
    System other;
    other.assemble(host, *Functors::create<dim>("full", 2));
    verify("after errors", other.difference(system) < 1e-12);
    // functions without device code
    system.assemble(device, cases.reference("no_code", 2));
    verify("no code",
           contains(device.report().coefficients,
                    "host's threads (the diffusion coefficient is a function "
                    "without device code)"),
           device.report().coefficients);
  }



  template <int dim>
  void
  check_hdg_errors()
  {
    const FunctorCases<dim> cases(true, false, 2);
    HybridSystem<dim>       system(cases.handler);
    const auto              check =
      [&](const std::string                               &name,
          const Tessella::AdvectionDiffusionReaction<dim> &form,
          const std::string                               &text,
          const std::string                               &on_device = "") {
        for (const auto backend :
             {Tessella::Backend::host, Tessella::Backend::cuda})
          {
            const std::string message =
              message_of([&] { system.assemble(form, backend); });
            verify("hybridizable, " + name + ", " + Tessella::name(backend),
                   contains(message,
                            backend == Tessella::Backend::cuda &&
                                !on_device.empty()
                              ? on_device
                              : text),
                   message);
          }
      };
    check("not finite",
          cases.reference("not_finite", 2),
          "right-hand side is not finite at the point",
          "component 0 of a test is");
    check("negative",
          cases.reference("negative", 2),
          "diffusion coefficient is negative at the point");
    check("advection alone",
          cases.reference("advection", 2),
          "diffusion coefficient is not positive at the point");
    check("degenerate",
          cases.reference("degenerate", 2),
          "is not symmetric and positive definite at the point");
    auto           form = cases.reference("full", 2);
    Tensor<1, dim> b;
    b[0] = -1.;
    form.set_advection(b);
    check("inflow", form, "enters the domain through boundary id 1,");
    form = cases.reference("full", 2);
    Tessella::BoundaryCondition<dim> dirichlet, robin;
    robin.type              = Tessella::BoundaryType::robin;
    robin.robin_coefficient = std::make_shared<WithCode<Lambda<dim>>>(
      "return 1. / (x - x);", [](const Point<dim> &x, const unsigned int) {
        return 1. / (x[0] - x[0]);
      });
    dirichlet.value = robin.robin_coefficient;
    form.set_boundary_condition(0, dirichlet);
    check("boundary value",
          form,
          "boundary value is not finite at the point",
          "component 0 of a test is");
    form = cases.reference("full", 2);
    form.set_boundary_condition(1, robin);
    check("Robin coefficient",
          form,
          "Robin coefficient is not finite at the point",
          "component 0 of a test is");
    // The next assembly works.
    HybridSystem<dim> other(cases.handler);
    form = cases.reference("full", 2);
    system.assemble(form, Tessella::Backend::cuda);
    other.assemble(form, Tessella::Backend::host);
    verify("hybridizable, after errors",
           other.difference(system) <= other.bound(form));
  }



  // Compiles the sources of the cases above, without a device.
  void
  check_compiler(const std::string &cache)
  {
    Tessella::KernelCache::set_directory(cache);
    Tessella::internal::CoefficientCode code;
    WithCode<Lambda<3>>                 right("return 2. + x * z;",
                              [](const Point<3> &, const unsigned int) {
                                return 0.;
                              }),
      wrong("return 2. + undeclared;",
            [](const Point<3> &, const unsigned int) { return 0.; });
    for (unsigned int d = 0; d < 9; ++d)
      code.diffusion.push_back({right.device_code(d), &right, d});
    code.source.push_back({right.device_code(0), &right, 0});
    code.conditions[-1].value = {right.device_code(0), &right, 0};
    code.conditions[2].type   = Tessella::BoundaryType::robin;
    code.conditions[2].flux.assign(3, {right.device_code(0), &right, 0});
    const std::string first =
      Tessella::check_compilation(code.functor<3>(), "sm_90");
    if (contains(first, "was not found") || contains(first, "no CUDA"))
      throw CannotRun{first};
    verify("first", first.empty(), first);
    verify("second",
           Tessella::check_compilation(code.functor<3>(), "sm_90") ==
             "from the cache");
    verify("other architecture",
           Tessella::check_compilation(code.functor<3>(), "sm_80").empty());
    code.source[0].code += " ";
    verify("other source",
           Tessella::check_compilation(code.functor<3>(), "sm_90").empty());
    // damaged files
    for (const auto &file : std::filesystem::directory_iterator(cache))
      {
        std::fstream stream(file.path(),
                            std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(-100, std::ios::end);
        stream << "damaged";
      }
    verify("damaged",
           Tessella::check_compilation(code.functor<3>(), "sm_90").empty());
    verify("repaired",
           Tessella::check_compilation(code.functor<3>(), "sm_90") ==
             "from the cache");
    // A cache folder that cannot be created.
    Tessella::KernelCache::set_directory("/proc/nowhere");
    verify("no directory",
           Tessella::check_compilation(code.functor<3>(), "sm_90").empty());
    code.reaction.push_back({wrong.device_code(0), &wrong, 0});
    const std::string message = message_of(
      [&] { Tessella::check_compilation(code.functor<3>(), "sm_90"); });
    verify("message",
           contains(message, "does not accept component 0 of a test") &&
             contains(message, "undeclared"),
           message);
    verify("architecture",
           contains(Tessella::check_compilation(code.functor<3>(), "sm_10"),
                    "does not know the architecture"));
    std::filesystem::remove_all(cache);
  }
} // namespace

int
main(int argc, char **argv)
{
  const auto run = [](const std::string &name) {
    if (name == "compiler")
      check_compiler("kernel_cache." + std::to_string(getpid()));
    else if (name == "errors")
      {
        check_errors<3>();
        check_hdg_errors<2>();
        check_hdg_errors<3>();
      }
    else if (name == "discrete")
      {
        compare_discrete<2>(true, true, -1);
        compare_discrete<2>(false, false, 1);
        compare_discrete<3>(true, false, -1);
        compare_discrete<3>(false, true, -1);
      }
    else if (name == "hdg")
      {
        compare_hdg<2>(true, true, 2);
        compare_hdg<2>(true, false, 3);
        compare_hdg<2>(false, false, 2);
        compare_hdg<3>(true, false, 1);
        compare_hdg<3>(false, false, 2);
      }
    else
      {
        compare<2>(name, true, false, 3);
        compare<2>(name, false, true, 2);
        compare<3>(name, true, true, 2);
        compare<3>(name, true, false, 3);
        compare<3>(name, false, false, 2);
        if (name == "functors")
          {
            compare_parts<2>(true, false, 3);
            compare_parts<2>(false, true, 2);
            compare_parts<3>(true, true, 2);
            compare_parts<3>(true, false, 3);
            compare_parts<3>(false, false, 2);
          }
      }
  };
  return run_case(argc, argv, run, "compiler");
}
