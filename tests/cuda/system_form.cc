// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares systems of forms on a CUDA device to the host: linear elasticity
// with constants, functions of deal.II and functors, and systems with pairs of
// several kinds, up to five components, for all meshes and degrees and on
// curved cells; the same bits when repeated; matrices in the memory of the
// device and of the host; a limit of the memory; rectangular matrices of two
// spaces, and their products. Argument: 2d, 3d, rectangular_2d, rectangular_3d
// or unavailable. Returns 77 if the case cannot run on this machine, 1 if a
// check fails.

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../assembly/chain_system.h"
#include "../assembly/elasticity.h"
#include "../assembly/mixed_system.h"
#include "../messages.h"
#include "check_rectangular.h"
#include "elasticity_functor.h"
#include "systems.h"

using namespace Tessella;

namespace
{
  template <int dim>
  std::unique_ptr<System>
  assemble(const AgglomerationHandler<dim> &handler,
           const SystemForm<dim>           &form,
           const Backend                    backend,
           std::string                     *coefficients = nullptr)
  {
    PolytopicAssembler<dim> assembler(handler, on<dim>(backend));
    auto                    result = std::make_unique<System>();
    assembler.reinit(result->sparsity, result->matrix, result->rhs);
    // Entries that are not written become visible.
    for (auto &entry : result->matrix)
      entry.value() = 1e300;
    result->rhs = 1e300;
    assembler.assemble(form, result->matrix, result->rhs);
    if (coefficients != nullptr)
      *coefficients = assembler.report().coefficients;
    if (backend == Backend::cuda)
      {
        System second;
        assembler.reinit(second.sparsity, second.matrix, second.rhs);
        assembler.assemble_matrix(form, second.matrix);
        assembler.assemble_rhs(form, second.rhs);
        verify("repeatability",
               assembler.report().backend == backend &&
                 same_bits(*result, second));
      }
    return result;
  }



  template <int dim>
  void
  compare_backends(const std::string               &name,
                   const AgglomerationHandler<dim> &handler,
                   const SystemForm<dim>           &form,
                   const std::string               &coefficients = "")
  {
    std::string text;
    compare_systems(name,
                    handler.polytopic_dofs(),
                    *assemble(handler, form, Backend::host),
                    *assemble(handler, form, Backend::cuda, &text));
    verify(name + ": coefficients", contains(text, coefficients), text);
  }



  template <int dim>
  void
  compare_meshes()
  {
    for (const std::string &mesh : straight_meshes)
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        for (const std::string agglomeration : {"none", "steps", "scattered"})
          {
            AgglomerationHandler<dim> handler(triangulation);
            handler.agglomerate(make_strategy<dim>(agglomeration));
            // Degree 0 stands for degrees 1 to 3.
            for (const unsigned int p : {0, 1, 2, 3, 4})
              {
                if (dim == 3 && p > 2 && agglomeration != "steps")
                  continue;
                const std::string name =
                  mesh + ", " + agglomeration + ", p = " + std::to_string(p);
                Elasticity::distribute(handler, dim, p);
                // One kernel computes all pairs on simplices of one degree up
                // to 3.
                const bool simplices =
                  mesh.find("simplices") != std::string::npos;
                compare_backends(name + ", constant",
                                 handler,
                                 *Elasticity::make_form<dim>(true),
                                 simplices && p >= 1 && p <= 3
                                   ? "constants of all pairs"
                                   : "functor on the device");
                compare_backends(name + ", functor",
                                 handler,
                                 *make_elasticity_functor<dim>(1.),
                                 "functor on the device");
                if (p != 2)
                  continue;
                compare_backends(name + ", functions",
                                 handler,
                                 *Elasticity::make_form<dim>(false));
                compare_backends(name + ", nonsymmetric",
                                 handler,
                                 *Elasticity::make_form<dim>(true, -1.));
                compare_backends(name + ", incomplete",
                                 handler,
                                 *make_elasticity_functor<dim>(0.));
                Elasticity::distribute(handler, 3, p);
                compare_backends(name + ", mixed", handler, MixedSystem<dim>());
                for (const unsigned int m : {4, 5})
                  {
                    Elasticity::distribute(handler, m, m == 4 ? 2 : 0);
                    compare_backends(name + ", " + std::to_string(m) +
                                       " components",
                                     handler,
                                     ChainSystem<dim>(m, false));
                  }
              }
            Elasticity::distribute(handler,
                                   dim,
                                   2,
                                   PolynomialSpaceType::tensor_product);
            compare_backends(mesh + ", " + agglomeration + ", Q2",
                             handler,
                             *Elasticity::make_form<dim>(true));
          }
      }
  }



  /// Curved cells.
  template <int dim>
  void
  compare_curved()
  {
    const MappingQ<dim> mapping(3);
    Triangulation<dim>  triangulation;
    make_mesh("curved", triangulation);
    for (const std::string agglomeration : {"none", "steps", "scattered"})
      {
        AgglomerationHandler<dim> handler(triangulation, &mapping);
        handler.agglomerate(make_strategy<dim>(agglomeration));
        for (const unsigned int p : {0, 2})
          {
            const std::string name =
              "curved, " + agglomeration + ", p = " + std::to_string(p);
            Elasticity::distribute(handler, dim, p);
            compare_backends(name + ", constant",
                             handler,
                             *Elasticity::make_form<dim>(true));
            compare_backends(name + ", functions",
                             handler,
                             *Elasticity::make_form<dim>(false));
            for (const unsigned int m : {4, 5})
              {
                Elasticity::distribute(handler, m, p);
                compare_backends(name + ", " + std::to_string(m) +
                                   " components",
                                 handler,
                                 ChainSystem<dim>(m, true));
              }
          }
      }
  }



  template <typename Number>
  bool
  same_values(const std::vector<Number> &a, const Number *b)
  {
    return std::memcmp(a.data(), b, a.size() * sizeof(Number)) == 0;
  }



  /// Matrices on the device, in both precisions, have the values of those on
  /// the host; a limit of the memory changes no bit.
  template <int dim, typename Number>
  void
  classes(const std::string &name)
  {
    Triangulation<dim> triangulation;
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(dim == 2 ? 5 : 3);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("none"));
    Elasticity::distribute(handler, dim, 1);
    const auto                form = Elasticity::make_form<dim>(true);
    DeviceBlockMatrix<Number> device;
    DeviceVector<Number>      device_rhs;
    HostBlockMatrix<Number>   host;
    Vector<Number>            host_rhs;
    PolytopicAssembler<dim>   assembler(handler, on<dim>(Backend::cuda));
    assembler.reinit(device, device_rhs);
    assembler.assemble(*form, device, device_rhs);
    assembler.reinit(host, host_rhs);
    assembler.assemble(*form, host, host_rhs);
    Vector<Number> copy(host_rhs.size());
    device_rhs.copy_to(copy);
    verify(name + ": right-hand sides",
           std::equal(copy.begin(), copy.end(), host_rhs.begin()));

    // Products show whether the matrices are the same.
    DeviceVector<Number> x, y;
    x.reinit(device_rhs);
    y.reinit(device_rhs);
    Vector<Number> host_x(host_rhs.size()), host_y(host_rhs.size());
    for (unsigned int i = 0; i < host_x.size(); ++i)
      host_x(i) = ((7 * i) % 31) / Number(31) - Number(0.5);
    x.copy_from(host_x);
    device.vmult(y, x);
    y.copy_to(copy);
    HostVector<Number> hx, hy;
    hx.reinit(handler.locally_owned_dofs(), MPI_COMM_SELF);
    hy.reinit(handler.locally_owned_dofs(), MPI_COMM_SELF);
    std::copy(host_x.begin(), host_x.end(), hx.begin());
    host.vmult(hy, hx);
    double difference = 0., largest = 0.;
    for (unsigned int i = 0; i < copy.size(); ++i)
      {
        difference =
          std::max<double>(difference, std::abs(copy(i) - *(hy.begin() + i)));
        largest = std::max<double>(largest, std::abs(copy(i)));
      }
    verify(name + ": products",
           difference <=
             100. * std::numeric_limits<Number>::epsilon() * largest,
           std::to_string(difference / largest));

    const Vector<Number>      first_rhs = host_rhs;
    const std::vector<Number> values(
      host.values(),
      host.values() + host.block_sparsity().n_nonzero_elements());
    for (const std::size_t memory :
         {std::size_t(4) << 20, std::size_t(16) << 20})
      {
        PolytopicAssembler<dim> limited(handler,
                                        on<dim>(Backend::cuda, memory));
        limited.assemble(*form, host, host_rhs);
        verify(name + ": limit of the memory",
               same_values(values, host.values()) &&
                 std::equal(host_rhs.begin(),
                            host_rhs.end(),
                            first_rhs.begin()),
               std::to_string(limited.report().n_parts));
      }
  }



  void
  run(const std::string &name)
  {
    if (name == "unavailable")
      {
        Triangulation<2> triangulation;
        make_mesh("box", triangulation);
        AgglomerationHandler<2> handler(triangulation);
        handler.agglomerate(make_strategy<2>("none"));
        Elasticity::distribute(handler, 2, 2);
        compare_systems("automatic",
                        handler.polytopic_dofs(),
                        *assemble(handler,
                                  *Elasticity::make_form<2>(false),
                                  Backend::host),
                        *assemble(handler,
                                  *make_elasticity_functor<2>(1.),
                                  Backend::automatic));
      }
    else if (name == "rectangular_2d")
      RectangularTest::check_meshes<2>(verify);
    else if (name == "rectangular_3d")
      RectangularTest::check_meshes<3>(verify);
    else if (name == "2d")
      {
        compare_meshes<2>();
        compare_curved<2>();
        classes<2, double>("2d, double");
        classes<2, float>("2d, float");
      }
    else
      {
        compare_meshes<3>();
        compare_curved<3>();
        classes<3, double>("3d, double");
        classes<3, float>("3d, float");
      }
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, run);
}
