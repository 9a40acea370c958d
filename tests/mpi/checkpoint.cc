// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Checkpoints: the same polytopes, degrees and bits of the solution on other
// numbers of processes. Damaged or unsuitable files are an error on all
// processes, and existing objects remain unchanged.

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/distributed/shared_tria.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/base/config.h>
#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/numerics/checkpoint.h>
#include <tessella/numerics/vector_tools.h>

#include "../messages.h"
#include "../tests.h"
#include "cases.h"

using namespace dealii;
namespace TVT = Tessella::VectorTools;
using namespace Tessella;

template <int dim>
void
coarse(Triangulation<dim> &triangulation)
{
  GridGenerator::subdivided_hyper_cube(triangulation, 2);
}

template <int dim>
void
refine(Triangulation<dim> &triangulation)
{
  triangulation.refine_global(dim == 2 ? 3 : 1);
  for (unsigned int step = 0; step < 2; ++step)
    refine(triangulation,
           [](const Point<dim> &center) { return center.norm() < 0.5; });
}

// hp, with values that depend only on the position
template <int dim, typename VectorType>
void
fill(AgglomerationHandler<dim> &handler,
     std::vector<VectorType>   &u,
     const PolynomialSpaceType  space,
     const unsigned int         n_components)
{
  distribute_by_position(handler, {{1, 3}}, space, n_components);
  const auto &dofs = handler.polytopic_dofs();
  for (unsigned int v = 0; v < u.size(); ++v)
    {
      u[v].reinit(handler.locally_owned_dofs(), handler.get_communicator());
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        for (auto i = dofs.dof_offset[k]; i < dofs.dof_offset[k + 1]; ++i)
          *(u[v].begin() + i) =
            std::sin(1. + v + i - dofs.dof_offset[k] +
                     100. * handler.bounding_box(k).center().norm());
    }
}

using Vectors = std::vector<TrilinosWrappers::MPI::Vector>;

template <int dim>
std::uint64_t
digest(const AgglomerationHandler<dim> &handler, const Vectors &u)
{
  std::uint64_t result = 0;
  for (const auto &v : u)
    result = 3 * result + digest_of_vector(handler, v);
  return result;
}

template <int dim>
std::uint64_t
write(const MPI_Comm                      comm,
      const std::string                  &file,
      const Agglomeration::Strategy<dim> &strategy,
      const PolynomialSpaceType space = PolynomialSpaceType::total_degree,
      const unsigned int        n_components = 1)
{
  parallel::distributed::Triangulation<dim> triangulation(comm);
  coarse(triangulation);
  refine(triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(strategy);
  Vectors u(2);
  fill(handler, u, space, n_components);
  write_checkpoint(file,
                   triangulation,
                   handler,
                   std::vector<const TrilinosWrappers::MPI::Vector *>{&u[0],
                                                                      &u[1]},
                   "step 7\n\"of nine\"");
  return digest(handler, u);
}

template <int dim>
std::uint64_t
read(const MPI_Comm comm, const std::string &file, const bool split = false)
{
  CheckpointReader<dim>                     reader(file, comm);
  parallel::distributed::Triangulation<dim> triangulation(comm);
  coarse(triangulation);
  reader.load(triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  reader.restore(handler, split);
  Vectors u(reader.n_solutions());
  for (auto &v : u)
    v.reinit(handler.locally_owned_dofs(), comm);
  reader.read(handler,
              std::vector<TrilinosWrappers::MPI::Vector *>{&u[0], &u[1]});
  check("user data", reader.user_data() == "step 7\n\"of nine\"");
  const std::uint64_t result = digest(handler, u);
  // The mesh can be refined further.
  refine(triangulation,
         [](const Point<dim> &center) { return center.norm() < 0.25; });
  return result;
}

// The first process broadcasts its value.
std::uint64_t
of_first(const std::uint64_t value)
{
  return Utilities::MPI::broadcast(MPI_COMM_WORLD, value, 0);
}

template <int dim>
void
p4est()
{
  const std::string  in  = " in " + std::to_string(dim) + "-D";
  const MPI_Comm     all = MPI_COMM_WORLD;
  const unsigned int n   = Utilities::MPI::n_mpi_processes(all),
                     me  = Utilities::MPI::this_mpi_process(all);
  // written on two processes
  MPI_Comm two;
  MPI_Comm_split(all, me < 2 ? 0 : 1, static_cast<int>(me), &two);
  const std::string file     = "checkpoint-" + std::to_string(dim);
  const auto        families = Agglomeration::complete_families<dim>();
  for (unsigned int variant = 0; variant < 2; ++variant)
    {
      std::uint64_t written = 0;
      if (me < 2)
        written = write<dim>(two,
                             file,
                             families,
                             variant == 0 ? PolynomialSpaceType::total_degree
                                          : PolynomialSpaceType::tensor_product,
                             1 + variant);
      written = of_first(written);
      const std::string name =
        in + (variant == 0 ? "" : ", two components, Q_p");
      check("as many processes or more" + name,
            read<dim>(all, file) == written);
      std::uint64_t one = 0;
      if (me == 0)
        one = read<dim>(MPI_COMM_SELF, file);
      check("one process" + name, of_first(one) == written);
    }

  // ---- a single polytope, which partitions cut, written by one process
  if (me == 0)
    write<dim>(MPI_COMM_SELF,
               file + "-cut",
               Agglomeration::ancestors_on_level<dim>(0));
  MPI_Barrier(all);
  check_throws<ExcUserInput>(
    "cut polytopes" + in,
    [&]() { read<dim>(all, file + "-cut"); },
    "The partition cuts polytopes of the checkpoint");
  {
    // Functions survive the split.
    CheckpointReader<dim>                     reader(file + "-cut", all);
    parallel::distributed::Triangulation<dim> triangulation(all);
    coarse(triangulation);
    reader.load(triangulation);
    AgglomerationHandler<dim> handler(triangulation);
    reader.restore(handler, true);
    Vectors u(2);
    for (auto &v : u)
      v.reinit(handler.locally_owned_dofs(), all);
    reader.read(handler,
                std::vector<TrilinosWrappers::MPI::Vector *>{&u[0], &u[1]});
    CheckpointReader<dim> serial(file + "-cut", MPI_COMM_SELF);
    parallel::distributed::Triangulation<dim> whole(MPI_COMM_SELF);
    coarse(whole);
    serial.load(whole);
    AgglomerationHandler<dim> expected(whole);
    serial.restore(expected);
    Vectors w(2);
    for (auto &v : w)
      v.reinit(expected.locally_owned_dofs(), MPI_COMM_SELF);
    serial.read(expected,
                std::vector<TrilinosWrappers::MPI::Vector *>{&w[0], &w[1]});
    check("split" + in,
          handler.n_global_polytopes() > expected.n_global_polytopes() &&
            handler.n_global_polytopes() <= expected.n_global_polytopes() + n);
    const std::vector<Point<dim>> points = {
      dim == 2 ? Point<dim>(0.111, 0.222) : Point<dim>(),
      dim == 2 ? Point<dim>(0.555, 0.777) : Point<dim>(),
      dim == 2 ? Point<dim>(0.933, 0.111) : Point<dim>()};
    if (dim == 2)
      {
        std::vector<Vector<double>> a, b;
        TVT::point_values(handler, u[1], points, a);
        TVT::point_values(expected, w[1], points, b);
        for (unsigned int i = 0; i < points.size(); ++i)
          check_close("value", a[i][0], b[i][0], 1e-11);
      }
  }

  // ---- mistakes
  check_throws<ExcUserInput>(
    "another dimension" + in,
    [&]() { CheckpointReader<5 - dim> reader(file, all); },
    "dimensions, not in");
  check_throws<ExcUserInput>(
    "missing" + in,
    [&]() { CheckpointReader<dim> reader("no-such-file", all); },
    "does not exist");
  check_throws<ExcUserInput>(
    "another coarse mesh" + in,
    [&]() {
      CheckpointReader<dim>                     reader(file, all);
      parallel::distributed::Triangulation<dim> triangulation(all);
      GridGenerator::subdivided_hyper_cube(triangulation, 3);
      reader.load(triangulation);
    },
    "needs the coarse mesh");
  check_throws<ExcUserInput>(
    "another kind of triangulation" + in,
    [&]() {
      CheckpointReader<dim>                          reader(file, all);
      parallel::fullydistributed::Triangulation<dim> triangulation(all);
      reader.load(triangulation);
    },
    "is of a p4est triangulation");
  MPI_Comm_free(&two);
}

// Velocity and pressure: other degrees, components, kinds of polynomials and
// numbers of functions on the same polytopes. Written on two processes.
template <int dim>
void
several_handlers()
{
  const std::string  in = ", several handlers in " + std::to_string(dim) + "-D";
  const MPI_Comm     all  = MPI_COMM_WORLD;
  const unsigned int me   = Utilities::MPI::this_mpi_process(all);
  const std::string  file = "checkpoint-several-" + std::to_string(dim);
  using Vector            = TrilinosWrappers::MPI::Vector;
  MPI_Comm two;
  MPI_Comm_split(all, me < 2 ? 0 : 1, static_cast<int>(me), &two);
  std::uint64_t written[2] = {0, 0};
  if (me < 2)
    {
      parallel::distributed::Triangulation<dim> triangulation(two);
      coarse(triangulation);
      refine(triangulation);
      AgglomerationHandler<dim> velocity(triangulation),
        pressure(triangulation), other(triangulation);
      velocity.agglomerate(Agglomeration::complete_families<dim>());
      pressure.agglomerate(Agglomeration::complete_families<dim>());
      other.agglomerate(Agglomeration::none<dim>());
      Vectors u(2), p(1), w(1);
      fill(velocity, u, PolynomialSpaceType::total_degree, dim);
      distribute_by_position(pressure,
                             {{2, 1}},
                             PolynomialSpaceType::tensor_product,
                             1);
      p[0].reinit(pressure.locally_owned_dofs(), two);
      TVT::project(pressure, *parse<dim>("sin(3*x)*y"), p[0]);
      fill(other, w, PolynomialSpaceType::total_degree, 1);
      write_checkpoint<dim>(file,
                            triangulation,
                            {&velocity, &pressure},
                            {{&u[0], &u[1]}, {&p[0]}},
                            "step 8");
      written[0] = digest(velocity, u);
      written[1] = digest(pressure, p);
      check_throws<ExcUserInput>(
        "other polytopes" + in,
        [&]() {
          write_checkpoint<dim>(file,
                                triangulation,
                                {&velocity, &other},
                                {{}, {&w[0]}});
        },
        "have different polytopes");
    }
  for (std::uint64_t &value : written)
    value = of_first(value);
  MPI_Barrier(all);

  const auto read = [&](const MPI_Comm comm, const std::string &name) {
    CheckpointReader<dim>                     reader(file, comm);
    parallel::distributed::Triangulation<dim> triangulation(comm);
    coarse(triangulation);
    reader.load(triangulation);
    AgglomerationHandler<dim> velocity(triangulation), pressure(triangulation);
    const bool throws = contains(message_of([&] { reader.restore(velocity); }),
                                 "has 2 handlers, not 1.") &&
                        contains(message_of([&] { reader.n_solutions(2); }),
                                 "there is no handler 2.");
    reader.restore({&velocity, &pressure});
    Vectors u(reader.n_solutions(0)), p(reader.n_solutions(1));
    for (auto &v : u)
      v.reinit(velocity.locally_owned_dofs(), comm);
    for (auto &v : p)
      v.reinit(pressure.locally_owned_dofs(), comm);
    reader.read(velocity, std::vector<Vector *>{&u[0], &u[1]});
    reader.read(pressure, p[0]);
    const bool same =
      digest(velocity, u) == written[0] && digest(pressure, p) == written[1];
    if (me == 0)
      check(name + in,
            same && throws && reader.n_handlers() == 2 && u.size() == 2 &&
              p.size() == 1 && velocity.n_components() == dim &&
              pressure.polynomial_space() ==
                PolynomialSpaceType::tensor_product &&
              reader.user_data() == "step 8");
  };
  read(all, "all processes");
  if (me == 0)
    read(MPI_COMM_SELF, "one process");
  MPI_Comm_free(&two);
}

std::string
text_of(const std::string &name)
{
  std::ifstream      in(name, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// @p change modifies the text of a file on the first process.
template <typename Change>
void
damaged(const std::string &name,
        const std::string &file,
        const Change      &change,
        const std::string &message)
{
  const bool first = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0;
  const std::string before = text_of(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (first)
    std::ofstream(file, std::ios::binary) << change(before);
  MPI_Barrier(MPI_COMM_WORLD);
  check_throws<ExcUserInput>(
    name,
    [&]() { CheckpointReader<2> reader("checkpoint-2", MPI_COMM_WORLD); },
    message);
  MPI_Barrier(MPI_COMM_WORLD);
  if (first)
    std::ofstream(file, std::ios::binary) << before;
  MPI_Barrier(MPI_COMM_WORLD);
}

void
all_damages()
{
  const std::string header = text_of("checkpoint-2");
  // the number of the files, in the third line
  const auto         at = header.find(" number ");
  std::istringstream in(header.substr(at + 8));
  std::string        number;
  in >> number;
  const std::string data    = "checkpoint-2." + number;
  const auto        replace = [](const std::string &a, const std::string &b) {
    return [a, b](std::string text) {
      return text.replace(text.find(a), a.size(), b);
    };
  };
  const auto shorter = [](const std::string &text) {
    return text.substr(0, text.size() - 1);
  };
  damaged(
    "truncated text",
    "checkpoint-2",
    [](const std::string &text) { return text.substr(0, text.size() / 2); },
    "truncated or damaged");
  // within the magic word, before and behind the format, within the versions
  for (const unsigned int n : {5, 20, 21, 40})
    damaged(
      "text of " + std::to_string(n) + " bytes",
      "checkpoint-2",
      [n](const std::string &text) { return text.substr(0, n); },
      "truncated or damaged");
  damaged("changed text",
          "checkpoint-2",
          replace("components 2", "components 3"),
          "truncated or damaged");
  damaged(
    "no checkpoint",
    "checkpoint-2",
    [](const std::string &) { return std::string("# vtk DataFile"); },
    "is no checkpoint");
  damaged("another version",
          "checkpoint-2",
          replace(std::string("Tessella ") + TESSELLA_VERSION,
                  "Tessella 0.0.7"),
          "was written with Tessella 0.0.7");
  damaged("another format",
          "checkpoint-2",
          replace("checkpoint 2", "checkpoint 99"),
          "has the format 99");
  damaged("truncated forest", data, shorter, "bytes instead of");
  damaged("truncated data",
          data + "_variable.data",
          shorter,
          "bytes instead of");
  damaged(
    "changed data",
    data + "_variable.data",
    [](std::string text) {
      text[text.size() / 2] ^= 1;
      return text;
    },
    "checksum is wrong");
  // The unchanged file can be read.
  CheckpointReader<2> reader("checkpoint-2", MPI_COMM_WORLD);
  check("still whole", reader.n_solutions() == 2);
  // Files of earlier checkpoints are removed.
  check(
    "no old files",
    text_of("checkpoint-2." + std::to_string(std::stoi(number) - 1)).empty());
  // a folder that does not exist
  check_throws<ExceptionBase>(
    "no folder",
    [&]() {
      write<2>(MPI_COMM_WORLD,
               "no-such-folder/checkpoint",
               Agglomeration::complete_families<2>());
    },
    "cannot be written");
}

void
fully_distributed()
{
  const MPI_Comm   all = MPI_COMM_WORLD;
  Triangulation<2> serial;
  GridGenerator::subdivided_hyper_cube_with_simplices(serial, 6);
  parallel::fullydistributed::Triangulation<2> triangulation(all);
  const auto                                   strategy =
    Agglomeration::distribute<2>(serial,
                                 Agglomeration::metis<2>(11),
                                 triangulation);
  std::uint64_t written;
  {
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(strategy);
    Vectors u(1);
    fill(handler, u, PolynomialSpaceType::total_degree, 1);
    write_checkpoint("checkpoint-full",
                     triangulation,
                     handler,
                     std::vector<const TrilinosWrappers::MPI::Vector *>{&u[0]});
    written = digest(handler, u);
  }
  CheckpointReader<2>                          reader("checkpoint-full", all);
  parallel::fullydistributed::Triangulation<2> again(all);
  reader.load(again);
  AgglomerationHandler<2> handler(again);
  reader.restore(handler);
  Vectors u(1);
  u[0].reinit(handler.locally_owned_dofs(), all);
  reader.read(handler, u[0]);
  check("fully distributed", digest(handler, u) == written);
  check_throws<ExcUserInput>(
    "another number of processes",
    [&]() {
      CheckpointReader<2> reader("checkpoint-full", MPI_COMM_SELF);
      parallel::fullydistributed::Triangulation<2> triangulation(MPI_COMM_SELF);
      reader.load(triangulation);
    },
    "start that number");
}

// Each process has its own mesh.
void
serial()
{
  const std::string file =
    "checkpoint-serial-" +
    std::to_string(Utilities::MPI::this_mpi_process(MPI_COMM_WORLD));
  Triangulation<3> triangulation;
  GridGenerator::hyper_ball(triangulation);
  triangulation.refine_global(1);
  triangulation.begin_active()->set_refine_flag();
  triangulation.execute_coarsening_and_refinement();
  Vector<double> u;
  std::uint64_t  written;
  {
    AgglomerationHandler<3> handler(triangulation);
    handler.agglomerate(Agglomeration::metis<3>(9));
    handler.distribute_dofs(FE_BoundingBoxLegendre<3>(2));
    u.reinit(handler.n_dofs());
    for (unsigned int i = 0; i < u.size(); ++i)
      u[i] = std::sin(i);
    write_checkpoint(file,
                     triangulation,
                     handler,
                     std::vector<const Vector<double> *>{&u});
    written = digest_of_vector(handler, u);
  }
  for (const bool used : {false, true})
    {
      CheckpointReader<3> reader(file, MPI_COMM_SELF);
      Triangulation<3>    again;
      if (used)
        GridGenerator::hyper_ball(again);
      reader.load(again);
      AgglomerationHandler<3> handler(again);
      reader.restore(handler);
      Vector<double> v(handler.n_dofs());
      reader.read(handler, v);
      check(std::string("serial") + (used ? ", with manifolds" : ""),
            digest_of_vector(handler, v) == written);
      again.refine_global(1);
      if (used)
        check("manifolds",
              again.get_manifold(0).clone() != nullptr &&
                dynamic_cast<const FlatManifold<3> *>(&again.get_manifold(0)) ==
                  nullptr);
    }
  if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
    check_throws<ExcUserInput>(
      "shared",
      [&]() {
        parallel::shared::Triangulation<2> shared(MPI_COMM_WORLD);
        GridGenerator::hyper_cube(shared);
        shared.refine_global(3);
        AgglomerationHandler<2> handler(shared);
        handler.agglomerate(Agglomeration::none<2>());
        handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
        write_checkpoint("checkpoint-shared",
                         shared,
                         handler,
                         std::vector<const Vector<double> *>());
      },
      "not for parallel::shared");
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  p4est<2>();
  p4est<3>();
  several_handlers<2>();
  several_handlers<3>();
  all_damages();
  fully_distributed();
  serial();
}
