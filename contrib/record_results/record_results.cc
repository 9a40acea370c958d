// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Computes matrices, vectors and norms of many small problems and writes them
// to a file, or compares them with such a file, to check that changes of the
// library's structure do not change its results. See contrib/record_results.sh.
//
//   record_results record|compare FILE [cuda] [TOLERANCE]
//
// Prints one line per case: its name, a checksum of all its values, and the
// difference from the file. Values are compared in groups (a block row of a
// matrix, a vector); a difference is relative to the largest value of the
// group. The exit status of "compare" is 0 if every case is in the file and no
// difference exceeds the tolerance, 1e-14 by default, and 1 otherwise.

#include <deal.II/base/function_parser.h>
#include <deal.II/base/multithread_info.h>

#include <tessella/base/checksum.h>
#include <tessella/hdg/hdg.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <map>

#include "../../applications/common/expression.h"
#include "../../tests/assembly/compare.h"

using namespace Tessella;

using Groups = std::vector<std::vector<double>>;



class Recorder
{
public:
  Recorder(const bool compare, const std::string &file, const double tolerance)
    : compare(compare)
    , tolerance(tolerance)
  {
    if (compare)
      read(file);
    else
      {
        out.open(file, std::ios::binary);
        AssertThrow(out,
                    ExcMessage("The file " + file + " cannot be written."));
      }
  }

  void
  add(const std::string &name, const Groups &groups)
  {
    std::uint64_t state = checksum_start;
    for (const auto &group : groups)
      state = checksum(reinterpret_cast<const char *>(group.data()),
                       group.size() * sizeof(double),
                       state);
    ++n_cases;
    std::cout << name << ": " << std::hex << state << std::dec;
    if (compare)
      compare_with_record(name, groups);
    else
      write(name, groups);
    std::cout << std::endl;
  }

  /// Prints the summary and returns the exit status of the program.
  int
  finish()
  {
    std::cout << n_cases << " cases";
    if (!compare)
      {
        out.close();
        std::cout << (out ? " recorded" : ": the file could not be written")
                  << std::endl;
        return out ? 0 : 1;
      }
    std::cout << ": " << n_same << " with the same bits, " << n_close
              << " within the tolerance, " << n_different << " different, "
              << n_missing << " not in the record; largest difference "
              << largest << std::endl;
    return n_different + n_missing > 0 || n_cases == 0;
  }

private:
  void
  write(const std::string &name, const Groups &groups)
  {
    write_number(name.size());
    out.write(name.data(), name.size());
    write_number(groups.size());
    for (const auto &group : groups)
      {
        write_number(group.size());
        out.write(reinterpret_cast<const char *>(group.data()),
                  group.size() * sizeof(double));
      }
  }

  void
  write_number(const std::uint64_t number)
  {
    out.write(reinterpret_cast<const char *>(&number), sizeof(number));
  }

  void
  read(const std::string &file)
  {
    std::ifstream in(file, std::ios::binary);
    AssertThrow(in, ExcMessage("The file " + file + " cannot be read."));
    const auto number = [&in]() {
      std::uint64_t result = 0;
      in.read(reinterpret_cast<char *>(&result), sizeof(result));
      return result;
    };
    for (std::uint64_t size = number(); in; size = number())
      {
        std::string name(size, ' ');
        in.read(&name[0], size);
        Groups &groups = record[name];
        groups.resize(number());
        for (auto &group : groups)
          {
            group.resize(number());
            in.read(reinterpret_cast<char *>(group.data()),
                    group.size() * sizeof(double));
          }
      }
  }

  void
  compare_with_record(const std::string &name, const Groups &groups)
  {
    const auto entry = record.find(name);
    if (entry == record.end())
      {
        ++n_missing;
        std::cout << "  NOT IN THE RECORD";
        return;
      }
    const Groups &old  = entry->second;
    bool          same = old.size() == groups.size();
    for (unsigned int g = 0; same && g < groups.size(); ++g)
      same = old[g].size() == groups[g].size();
    if (!same)
      {
        ++n_different;
        std::cout << "  OTHER SIZES";
        return;
      }
    double difference = 0.;
    for (unsigned int g = 0; g < groups.size(); ++g)
      {
        if (groups[g].empty() ||
            std::memcmp(old[g].data(),
                        groups[g].data(),
                        old[g].size() * sizeof(double)) == 0)
          continue;
        same         = false;
        double scale = 0., change = 0.;
        for (unsigned int i = 0; i < old[g].size(); ++i)
          {
            scale          = std::max(scale, std::abs(old[g][i]));
            const double d = std::abs(old[g][i] - groups[g][i]);
            if (!(d <= change))
              change = d;
          }
        if (!(change <= difference * scale))
          difference = change / scale;
      }
    if (same)
      {
        ++n_same;
        return;
      }
    std::cout << "  difference " << difference;
    if (!(difference <= largest))
      largest = difference;
    if (difference <= tolerance)
      ++n_close;
    else
      {
        ++n_different;
        std::cout << " TOO LARGE";
      }
  }

  const bool                    compare;
  const double                  tolerance;
  std::ofstream                 out;
  std::map<std::string, Groups> record;
  unsigned int n_cases = 0, n_same = 0, n_close = 0, n_different = 0,
               n_missing = 0;
  double largest         = 0.;
};

Recorder *recorder;
Backend   backend = Backend::host;



// ---- groups of values

template <typename VectorType>
std::vector<double>
values(const VectorType &vector)
{
  return std::vector<double>(vector.begin(), vector.end());
}

/// One group for each block row, and one for the right-hand side.
template <typename MatrixType, typename VectorType>
Groups
groups_of(const std::vector<types::global_dof_index> &first_row,
          const MatrixType                           &matrix,
          const VectorType                           &rhs)
{
  Groups groups;
  for (unsigned int k = 0; k + 1 < first_row.size(); ++k)
    {
      groups.emplace_back();
      for (auto row = first_row[k]; row < first_row[k + 1]; ++row)
        for (auto entry = matrix.begin(row); entry != matrix.end(row); ++entry)
          groups.back().push_back(entry->value());
    }
  groups.push_back(values(rhs));
  return groups;
}

std::vector<types::global_dof_index>
first_rows(const PolytopicDoFs &dofs)
{
  return std::vector<types::global_dof_index>(dofs.dof_offset.begin(),
                                              dofs.dof_offset.end());
}



// ---- assembly

/// Matrix, right-hand side and penalty with every instruction set of the
/// processor, or on a device in double and single precision.
template <int dim>
void
record_assembly(const std::string         &name,
                const PolytopicSpace<dim> &space,
                const Form<dim>           &form)
{
  const auto rows = first_rows(space.polytopic_dofs());
  const auto run  = [&](const InstructionSet set, const std::string &suffix) {
    typename PolytopicAssembler<dim>::AdditionalData data;
    data.backend         = backend;
    data.instruction_set = set;
    PolytopicAssembler<dim> assembler(space, data);
    SparsityPattern         sparsity;
    SparseMatrix<double>    matrix;
    Vector<double>          rhs;
    assembler.reinit(sparsity, matrix, rhs);
    assembler.assemble(form, matrix, rhs);
    Groups groups = groups_of(rows, matrix, rhs);
    groups.push_back(assembler.penalty(form));
    recorder->add(name + suffix, groups);
    if (backend == Backend::cuda)
      {
        SparsityPattern     single_sparsity;
        SparseMatrix<float> single_matrix;
        Vector<float>       single_rhs;
        assembler.reinit(single_sparsity, single_matrix, single_rhs);
        assembler.assemble(form, single_matrix, single_rhs);
        recorder->add(name + ", single precision",
                      groups_of(rows, single_matrix, single_rhs));
      }
  };
  if (backend == Backend::cuda)
    run(InstructionSet::automatic, "");
  else
    for (const auto set :
         {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512})
      if (set <= best_instruction_set())
        run(set, ", " + Tessella::name(set));
}

template <int dim>
void
distribute_hp(AgglomerationHandler<dim> &handler, const unsigned int max_degree)
{
  hp::FECollection<dim>     elements;
  std::vector<unsigned int> indices(handler.n_polytopes());
  for (unsigned int p = 0; p <= max_degree; ++p)
    elements.push_back(FE_BoundingBoxLegendre<dim>(p));
  for (unsigned int k = 0; k < indices.size(); ++k)
    indices[k] = (3 * k + 1) % (max_degree + 1);
  handler.distribute_dofs(elements, indices);
}

template <int dim>
void
meshes()
{
  const auto        problem = full_problem<dim>();
  const std::string suffix  = " " + std::to_string(dim) + "-D, ";
  for (const std::string mesh : {"box",
                                 "distorted",
                                 "simplices",
                                 "hanging",
                                 "periodic",
                                 "hanging periodic",
                                 "periodic simplices",
                                 "curved"})
    for (const std::string agglomeration : {"none", "scattered", "one"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        const MappingQ<dim>       mapping(3);
        AgglomerationHandler<dim> handler(triangulation,
                                          mesh == "curved" ? &mapping
                                                           : nullptr);
        handler.agglomerate(make_strategy<dim>(agglomeration));
        for (const unsigned int p : {1, 2, 3})
          {
            handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
            const std::string degree = ", p = " + std::to_string(p);
            record_assembly(mesh + suffix + agglomeration + degree,
                            handler,
                            make_form(problem,
                                      p == 2 ? Give::constants
                                             : Give::tensor_functions,
                                      3));
          }
        distribute_hp(handler, 4);
        record_assembly(mesh + suffix + agglomeration + ", hp",
                        handler,
                        make_form(problem, Give::tensor_functions, 2));
        handler.distribute_dofs(
          FE_BoundingBoxLegendre<dim>(2, PolynomialSpaceType::tensor_product));
        record_assembly(mesh + suffix + agglomeration + ", Q2",
                        handler,
                        make_form(problem, Give::constants, 2));
      }
}

template <int dim>
void
degrees()
{
  const auto        problem = full_problem<dim>();
  const std::string suffix  = " " + std::to_string(dim) + "-D, p = ";
  for (const std::string mesh : {"box", "simplices"})
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      AgglomerationHandler<dim> handler(triangulation);
      handler.agglomerate(make_strategy<dim>("slabs"));
      for (unsigned int p = 0; p <= 10; ++p)
        {
          handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
          for (const auto give : {Give::constants, Give::functions})
            record_assembly(mesh + suffix + std::to_string(p) +
                              (give == Give::constants ? ", constants"
                                                       : ", functions"),
                            handler,
                            make_form(problem, give, 1));
        }
    }
}

template <int dim>
void
forms()
{
  Triangulation<dim> triangulation;
  make_mesh("simplices", triangulation);
  triangulation.refine_global(1);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::rtree_parts<dim>(7));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
  const std::string suffix = " " + std::to_string(dim) + "-D";
  const auto        full   = full_problem<dim>();
  const auto        record = [&](const std::string             &name,
                          const Reference::Problem<dim> &problem) {
    for (const auto give : {Give::constants, Give::tensor_functions})
      record_assembly(name + suffix +
                        (give == Give::constants ? ", constants"
                                                        : ", functions"),
                      handler,
                      make_form(problem, give, 2));
  };
  {
    Reference::Problem<dim> problem;
    problem.a                = full.a;
    problem.default_boundary = full.default_boundary;
    for (const double theta : {1., 0., -1.})
      {
        problem.theta = theta;
        record("diffusion, theta " + std::to_string(theta), problem);
      }
  }
  {
    Reference::Problem<dim> problem;
    problem.b                = full.b;
    problem.default_boundary = full.default_boundary;
    record("advection", problem);
  }
  {
    Reference::Problem<dim> problem;
    problem.c = full.c;
    problem.f = full.f;
    record("reaction", problem);
  }
  {
    auto problem = full;
    problem.a    = [](const Point<dim> &) {
      Tensor<2, dim> a;
      a[0][0] = 0.8;
      return a;
    };
    record("degenerate diffusion", problem);
  }
  {
    auto problem                   = full;
    problem.default_boundary.type  = Reference::Boundary::robin;
    problem.default_boundary.alpha = [](const Point<dim> &x) {
      return 1. + x[0];
    };
    problem.b = nullptr;
    record("Robin", problem);
    problem.default_boundary.type = Reference::Boundary::neumann;
    record("Neumann", problem);
  }
  record_assembly("mass" + suffix,
                  handler,
                  MassForm<dim>(2.,
                                std::make_shared<ScalarLambda<dim>>(full.f)));
  {
    Vector<double> cells(triangulation.n_active_cells());
    for (unsigned int i = 0; i < cells.size(); ++i)
      cells(i) = 1. + 0.1 * (i % 7);
    AdvectionDiffusionReaction<dim> form;
    const CellwiseCoefficient coefficient(handler.polytopic_mesh(), cells);
    form.set_diffusion(coefficient);
    form.set_reaction(coefficient);
    record_assembly("cell values" + suffix, handler, form);
  }
  {
    // Expressions, which a device compiles at run time.
    using Text           = Application::ExpressionFunction<dim>;
    const auto variables = Application::coordinate_names(dim);
    const auto constants = Application::parse_constants("", "");
    const auto text      = [&](const std::string &expression) {
      return std::make_shared<Text>(std::vector<Application::Expression>{
        {"f", expression, variables, constants}});
    };
    AdvectionDiffusionReaction<dim> form;
    form.set_diffusion(text("1 + x^2*y^2 + 0.5*sin(3*x)"));
    form.set_reaction(text("exp(x*y)"));
    form.set_source(text("cos(pi*x)"));
    form.set_coefficient_order(3);
    record_assembly("expressions" + suffix, handler, form);
  }
}



// ---- slabs

template <int dim>
void
slabs()
{
  for (const bool simplices : {true, false})
    for (const auto type :
         {PolynomialSpaceType::total_degree, PolynomialSpaceType::prismatic})
      for (const unsigned int p : {1, 2, 3})
        {
          Triangulation<dim> triangulation;
          make_mesh(simplices ? "simplices" : "distorted", triangulation);
          AgglomerationHandler<dim> handler(triangulation);
          handler.agglomerate(make_strategy<dim>("slabs"));
          handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
          SpaceTimeSlab<dim> slab(handler, type);
          slab.reinit(0., 0.3);
          const std::string name =
            "slab " + std::to_string(dim) + "+1, " +
            (simplices ? "simplices" : "hypercubes") +
            (type == PolynomialSpaceType::prismatic ? ", prismatic" : "") +
            ", p = " + std::to_string(p);
          Tensor<1, dim> w;
          w[0] = 1.;
          w[1] = -0.5;
          SpaceTimeForm<dim> form;
          form.set_diffusion(0.7);
          form.set_advection(w);
          form.set_reaction(0.4);
          form.set_source(1.5);
          record_assembly(name + ", constants", slab, form);
        }
}



// ---- hybridizable dG

template <int dim>
void
hdg_case(const std::string &mesh, const std::string &agglomeration)
{
  Triangulation<dim> triangulation;
  make_mesh(mesh, triangulation);
  const auto problem = full_problem<dim>();
  for (const unsigned int p : {1, 2, 3, 5})
    for (const auto give : {Give::constants, Give::tensor_functions})
      {
        AgglomerationHandler<dim> handler(triangulation), finer(triangulation);
        for (auto *h : {&handler, &finer})
          {
            h->agglomerate(make_strategy<dim>(agglomeration));
            h->distribute_dofs(
              FE_BoundingBoxLegendre<dim>(h == &finer ? p + 1 : p));
          }
        auto given = problem;
        if (give == Give::constants)
          given.b = nullptr;
        const auto                        form = make_form(given, give, 2);
        typename HDG<dim>::AdditionalData data;
        data.backend     = backend;
        data.trace_space = agglomeration == "none" ? TraceSpaceType::facet
                                                   : TraceSpaceType::interface;
        HDG<dim>                       hdg(handler, data);
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs, trace;
        hdg.reinit(form, matrix, rhs);
        hdg.assemble(form, matrix, rhs);
        std::vector<types::global_dof_index> rows;
        for (unsigned int i = 0; i < handler.polytopic_mesh().n_interfaces();
             ++i)
          if (hdg.first_dof(i) != numbers::invalid_dof_index)
            rows.push_back(hdg.first_dof(i));
        std::sort(rows.begin(), rows.end());
        rows.push_back(hdg.n_dofs());
        Groups groups = groups_of(rows, matrix, rhs);
        trace.reinit(rhs);
        for (unsigned int i = 0; i < trace.size(); ++i)
          trace(i) = 1e-3 * ((7919 * i) % 1000);
        Vector<double> u, q, post;
        hdg.recover(form, trace, u, q);
        hdg.post_process(form, u, q, finer, post);
        for (const auto *vector : {&u, &q, &post})
          groups.push_back(values(*vector));
        recorder->add("HDG " + std::to_string(dim) + "-D, " + mesh + ", " +
                        agglomeration + ", p = " + std::to_string(p) +
                        (give == Give::constants ? ", constants"
                                                 : ", functions"),
                      groups);
      }
}

template <int dim>
void
hdg()
{
  for (const std::string mesh :
       {"box", "distorted", "simplices", "hanging", "periodic simplices"})
    for (const std::string agglomeration : {"none", "slabs"})
      hdg_case<dim>(mesh, agglomeration);
}



// ---- evaluation of the solution

template <int dim>
void
numerics()
{
  if (backend == Backend::cuda)
    return;
  const auto              problem = full_problem<dim>();
  const auto              form = make_form(problem, Give::tensor_functions, 2);
  const ScalarLambda<dim> function(
    [](const Point<dim> &x) { return std::sin(3. * x[0]) * (1. + x[1]); });
  for (const std::string mesh : {"distorted", "simplices", "hanging", "curved"})
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      const MappingQ<dim>       mapping(3);
      AgglomerationHandler<dim> handler(triangulation,
                                        mesh == "curved" ? &mapping : nullptr);
      handler.agglomerate(make_strategy<dim>("scattered"));
      distribute_hp(handler, 3);
      PolytopicAssembler<dim> assembler(handler);
      const auto              sigma = assembler.penalty(form);
      Groups                  groups(1, sigma);
      Vector<double>          interpolated(handler.n_dofs()),
        projected(handler.n_dofs()), indicators;
      Tessella::VectorTools::interpolate(handler, function, interpolated);
      Tessella::VectorTools::project(handler, function, projected);
      groups.push_back(values(interpolated));
      groups.push_back(values(projected));
      for (const auto norm : {dealii::VectorTools::L2_norm,
                              dealii::VectorTools::H1_seminorm,
                              dealii::VectorTools::mean})
        {
          Vector<float> difference;
          Tessella::VectorTools::integrate_difference(
            handler, interpolated, function, difference, norm);
          groups.push_back(values(difference));
        }
      const auto errors = Tessella::VectorTools::compute_errors(
        handler, form, sigma, interpolated, function);
      groups.push_back({errors.L2, errors.H1_seminorm, errors.dG});
      ErrorEstimator::residual(handler, form, sigma, interpolated, indicators);
      groups.push_back(values(indicators));
      recorder->add("numerics " + std::to_string(dim) + "-D, " + mesh, groups);
    }
}



template <int dim>
void
all()
{
  meshes<dim>();
  degrees<dim>();
  forms<dim>();
  slabs<dim>();
  hdg<dim>();
  numerics<dim>();
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv);
  const std::vector<std::string>   arguments(argv + 1, argv + argc);
  if (arguments.size() < 2 ||
      (arguments[0] != "record" && arguments[0] != "compare"))
    {
      std::cerr << "Usage: record_results record|compare FILE [cuda] "
                   "[TOLERANCE]"
                << std::endl;
      return 2;
    }
  double tolerance = 1e-14;
  for (unsigned int i = 2; i < arguments.size(); ++i)
    if (arguments[i] == "cuda")
      backend = Backend::cuda;
    else
      tolerance = Utilities::string_to_double(arguments[i]);
  try
    {
      Recorder object(arguments[0] == "compare", arguments[1], tolerance);
      recorder = &object;
      all<2>();
      all<3>();
      return object.finish();
    }
  catch (const std::exception &exception)
    {
      std::cerr << "record_results: " << exception.what() << std::endl;
      return 1;
    }
}
