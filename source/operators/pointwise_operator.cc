// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <tessella/base/config.h>
#include <tessella/operators/pointwise_operator.h>

#include <algorithm>
#include <set>
#include <string>

#include "../../cuda/lac/vector.h"
#include "../device/device_call.h"
#include "../lac/reproducible_sum.h"
#include "field_arrays.h"
#include "pointwise_backend.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct PointwiseOperator<dim>::Implementation
  {
    Implementation(const std::vector<const PolytopicSpace<dim> *> &spaces,
                   const unsigned int                              test,
                   const AssemblyParameters                       &data)
      : context(spaces, test, data)
      , arrays(spaces.size())
      , coefficients(spaces.size())
      , backend(internal::make_pointwise_backend(context))
    {}

    internal::MatrixStructure &
    test_structure()
    {
      return context.structures[context.test];
    }

    // Whether the backend works on vectors in device memory.
    bool
    uses_device() const
    {
      return backend->type() == Backend::cuda;
    }

    // Structures of the present degrees of freedom.
    void
    update_structures()
    {
      test_structure().on_all_processes([&]() {
        context.check_dofs();
        for (unsigned int f = 0; f < context.n_fields(); ++f)
          context.structures[f].update(*context.spaces[f]);
      });
    }

    void
    check(const Integrand &integrand, const std::size_t n_fields) const
    {
      const auto structure = integrand.structure();
      AssertThrow(structure.field_components.size() == context.n_fields() &&
                    n_fields == context.n_fields(),
                  ExcMessage("The PointwiseOperator has " +
                             std::to_string(context.n_fields()) +
                             " fields, the integrand reads " +
                             std::to_string(structure.field_components.size()) +
                             ", and " + std::to_string(n_fields) +
                             " vectors were given: these numbers must be the "
                             "same."));
      for (unsigned int f = 0; f < context.n_fields(); ++f)
        AssertThrow(
          structure.field_components[f] == context.spaces[f]->n_components(),
          ExcMessage("Field " + std::to_string(f) + " of the integrand has " +
                     std::to_string(structure.field_components[f]) +
                     " components, but the element of its handler "
                     "has " +
                     std::to_string(context.spaces[f]->n_components()) + "."));
    }

    void
    check_test_components(const Integrand &integrand) const
    {
      const unsigned int n = integrand.structure().n_components,
                         m = context.spaces[context.test]->n_components();
      AssertThrow(n == m,
                  ExcMessage(
                    "The integrand is multiplied by test functions of " +
                    std::to_string(n) +
                    " components, but the element of the test "
                    "functions has " +
                    std::to_string(m) + "."));
    }

    void
    check_field(const unsigned int field) const
    {
      AssertThrow(field < context.n_fields(),
                  ExcMessage("There is no field " + std::to_string(field) +
                             ": the PointwiseOperator has " +
                             std::to_string(context.n_fields()) +
                             ", counted from 0."));
    }

    void
    check_square(const unsigned int field) const
    {
      check_field(field);
      AssertThrow(context.spaces[field] == context.spaces[context.test],
                  ExcMessage("Jacobians are square: field " +
                             std::to_string(field) +
                             " must be in the space of the test functions, "
                             "that of handler " +
                             std::to_string(context.test) + "."));
    }

    // Boundary ids of the mesh on all processes, in ascending order.
    // Collective.
    const std::set<unsigned int> &
    boundary_ids()
    {
      if (ids_revision == 0 || ids_revision != context.spaces_revision)
        {
          std::set<unsigned int> here;
          for (const unsigned int id : context.mesh().interface_boundary_id)
            if (id != invalid_index)
              here.insert(id);
          ids.clear();
          for (const auto &process : Utilities::MPI::all_gather(
                 test_structure().communicator,
                 std::vector<unsigned int>(here.begin(), here.end())))
            ids.insert(process.begin(), process.end());
          ids_revision = context.spaces_revision;
        }
      return ids;
    }

    void
    check_boundary_ids(const Integrand &integrand)
    {
      if (integrand.boundary_ids().empty())
        return;
      const std::set<unsigned int> &present = boundary_ids();
      std::string                   names;
      for (const unsigned int id : present)
        names += (names.empty() ? "" : ", ") + std::to_string(id);
      for (const unsigned int id : integrand.boundary_ids())
        AssertThrow(present.count(id) > 0,
                    ExcMessage("The integrand of a PointwiseOperator has a "
                               "condition for the boundary id " +
                               std::to_string(id) + ", but the mesh has " +
                               (names.empty()
                                  ? "no boundary."
                                  : "the boundary ids " + names + " only.")));
    }

    // Host and device, and kernels for simplices and for all polytopes, agree
    // up to rounding only: if one process must leave the evaluation to its
    // host, or to the latter kernels, all do.
    void
    prepare_backend(const Integrand                    &integrand,
                    const internal::PointwiseResultType type)
    {
      const internal::MatrixStructure &processes = test_structure();
      // Takes a reason of another process if this one has none.
      const auto share = [&](std::string &why) {
        if (processes.n_processes > 1)
          for (const std::string &reason :
               Utilities::MPI::all_gather(processes.communicator, why))
            if (why.empty())
              why = reason;
      };
      std::string why, why_not_simplices;
      processes.on_all_processes([&]() {
        why               = backend->prepare(integrand, type);
        why_not_simplices = backend->why_not_simplices();
      });
      share(why_not_simplices);
      processes.on_all_processes([&]() {
        if (why.empty())
          why = backend->choose_kernels(why_not_simplices);
      });
      if (!uses_device())
        return;
      share(why);
      if (why.empty())
        return;
      // The host has kernels for simplices of its own.
      processes.on_all_processes([&]() {
        backend->leave_to_host(why, integrand, type);
        why_not_simplices = backend->why_not_simplices();
      });
      share(why_not_simplices);
      processes.on_all_processes(
        [&]() { backend->choose_kernels(why_not_simplices); });
    }

    // Common to all calls: checks, preparation of the context, coefficients of
    // the fields, and the report around the work.
    template <typename VectorType, typename Check, typename Work>
    void
    run(const Integrand                       &integrand,
        const internal::PointwiseResultType    type,
        const std::vector<const VectorType *> &fields,
        const Check                           &check_more,
        const Work                            &work)
    {
      const Timer     timer;
      OperatorReport &report = context.report;
      test_structure().on_all_processes([&]() {
        check(integrand, fields.size());
        for (const VectorType *field : fields)
          AssertThrow(field != nullptr,
                      ExcMessage("A field of a PointwiseOperator is a null "
                                 "pointer."));
        check_more();
      });
      context.prepare(integrand.coefficient_order());
      check_boundary_ids(integrand);
      prepare_backend(integrand, type);
      for (unsigned int f = 0; f < context.n_fields(); ++f)
        coefficients[f] =
          arrays[f].update(*fields[f], context.structures[f], uses_device());
      report.setup_time = timer.wall_time();
      work();
      const InstructionSet wanted = context.parameters.instruction_set;
      report.backend              = backend->type();
      report.instruction_set =
        wanted == InstructionSet::automatic ? best_instruction_set() : wanted;
      report.n_threads = MultithreadInfo::n_threads();
      if (report.backend == Backend::host)
        {
          report.integrand = "evaluated by the host's threads";
          report.why       = integrand.why_not_on_device();
        }
      report.time = timer.wall_time();
    }

    // Calls compute(values) with the entries of a vector of the test space, or
    // with a copy that is written to a vector on the device afterwards.
    template <typename VectorType, typename Compute>
    void
    write(VectorType &vector, const Compute &compute)
    {
      using Traits = internal::VectorTraits<VectorType>;
      test_structure().on_all_processes([&]() {
        Traits::check(vector, test_structure());
        if (Traits::storage == internal::Storage::device && uses_device())
          compute(Traits::values(vector));
        else if constexpr (Traits::storage == internal::Storage::device)
          {
            host_result.resize(test_structure().n_owned_rows);
            compute(host_result.data());
            internal::device_call([&] {
              internal::Device::upload(Traits::values(vector),
                                       host_result.data(),
                                       host_result.size());
            });
          }
        else
          compute(Traits::values(vector));
      });
    }

    template <typename VectorType>
    static void
    check_distinct(const std::vector<const VectorType *> &fields,
                   const VectorType                      &result)
    {
      for (const VectorType *field : fields)
        AssertThrow(field != &result,
                    ExcMessage("The result of a PointwiseOperator must be "
                               "another vector than its fields."));
    }

    template <typename MatrixType>
    void
    assemble(const Integrand   &integrand,
             MatrixType        &matrix,
             const unsigned int field)
    {
      using Traits = internal::MatrixTraits<MatrixType>;
      if constexpr (std::is_same<typename Traits::value_type, float>::value &&
                    Traits::storage == internal::Storage::device)
        {
          test_structure().on_all_processes(
            [&]() { Traits::check(matrix, test_structure()); });
          test_structure().on_all_processes([&]() {
            backend->jacobian({integrand, coefficients, field},
                              Traits::values(matrix));
          });
        }
      else
        assemble_rows(integrand, matrix, field);
    }

    template <typename MatrixType>
    void
    assemble_rows(const Integrand   &integrand,
                  MatrixType        &matrix,
                  const unsigned int field)
    {
      using Traits = internal::MatrixTraits<MatrixType>;
      internal::AssemblyTarget<double> target;
      internal::MatrixStructure       &structure = test_structure();
      structure.on_all_processes([&]() {
        Traits::check(matrix, structure);
        if constexpr (Traits::storage == internal::Storage::rows)
          target.store_block_rows = [&](const unsigned int begin,
                                        const unsigned int end,
                                        const double      *values) {
            Traits::store(matrix, structure, begin, end, values);
          };
        else if constexpr (Traits::storage == internal::Storage::device)
          target.device_values = Traits::values(matrix);
        else if constexpr (std::is_same<typename Traits::value_type,
                                        float>::value)
          {
            const auto  &offset     = structure.blocks.value_offset;
            float *const rounded    = Traits::values(matrix);
            target.store_block_rows = [&offset,
                                       rounded](const unsigned int begin,
                                                const unsigned int end,
                                                const double      *values) {
              std::copy(values,
                        values + (offset[end] - offset[begin]),
                        rounded + offset[begin]);
            };
          }
        else
          target.host_values = Traits::values(matrix);
      });
      structure.on_all_processes([&]() {
        backend->jacobian({integrand, coefficients, field}, target);
      });
    }

    // Sums over all processes of every m-th value.
    std::vector<double>
    sums(const std::vector<double> &values, const unsigned int m)
    {
      std::vector<double> result(m), component(values.size() / m);
      for (unsigned int c = 0; c < m; ++c)
        {
          for (std::size_t k = 0; k < component.size(); ++k)
            component[k] = values[k * m + c];
          result[c] =
            internal::value_of_all(test_structure().communicator,
                                   internal::host_sum(component.size(),
                                                      component.data()));
        }
      return result;
    }

    internal::PointwiseContext<dim>                  context;
    std::vector<internal::FieldArray>                arrays;
    internal::FieldArray                             direction;
    std::vector<const double *>                      coefficients;
    std::vector<double>                              host_result;
    std::set<unsigned int>                           ids;
    std::uint64_t                                    ids_revision = 0;
    std::unique_ptr<internal::PointwiseBackend<dim>> backend;
  };



  template <int dim>
  PointwiseOperator<dim>::PointwiseOperator(
    const AgglomerationHandler<dim> &handler, const AdditionalData &data)
    : PointwiseOperator(Handlers(1, &handler), 0, data)
  {}



  template <int dim>
  PointwiseOperator<dim>::PointwiseOperator(const Handlers       &handlers,
                                            const unsigned int    test,
                                            const AdditionalData &data)
    : implementation(std::make_unique<Implementation>(
        std::vector<const PolytopicSpace<dim> *>(handlers.begin(),
                                                 handlers.end()),
        test,
        data))
  {}



  template <int dim>
  PointwiseOperator<dim>::~PointwiseOperator() = default;



  template <int dim>
  template <typename MatrixOrVector>
  void
  PointwiseOperator<dim>::reinit(MatrixOrVector &object)
  {
    implementation->update_structures();
    internal::MatrixStructure &structure = implementation->test_structure();
    if constexpr (internal::IsMatrix<MatrixOrVector>::value)
      internal::MatrixTraits<MatrixOrVector>::reinit(object, structure);
    else
      {
        const auto &context = implementation->context;
        internal::VectorTraits<MatrixOrVector>::reinit(
          object,
          context.spaces[context.test]->locally_owned_dofs(),
          structure);
      }
  }



  template <int dim>
  template <typename VectorType>
  void
  PointwiseOperator<dim>::residual(
    const Integrand                       &integrand,
    const std::vector<const VectorType *> &fields,
    VectorType                            &result)
  {
    Implementation &i = *implementation;
    i.run(
      integrand,
      internal::PointwiseResultType::vector,
      fields,
      [&]() {
        i.check_test_components(integrand);
        i.check_distinct(fields, result);
      },
      [&]() {
        i.write(result, [&](double *values) {
          i.backend->vector({integrand, i.coefficients}, values);
        });
      });
  }



  template <int dim>
  template <typename VectorType>
  void
  PointwiseOperator<dim>::apply_tangent(
    const Integrand                       &integrand,
    const std::vector<const VectorType *> &fields,
    const VectorType                      &direction,
    VectorType                            &result,
    const unsigned int                     field)
  {
    Implementation &i = *implementation;
    i.run(
      integrand,
      internal::PointwiseResultType::vector,
      fields,
      [&]() {
        i.check_test_components(integrand);
        i.check_field(field);
        i.check_distinct(fields, result);
        i.check_distinct({&direction}, result);
      },
      [&]() {
        const double *const change =
          i.direction.update(direction,
                             i.context.structures[field],
                             i.uses_device());
        i.write(result, [&](double *values) {
          i.backend->vector({integrand, i.coefficients, field, change}, values);
        });
      });
  }



  template <int dim>
  template <typename VectorType, typename MatrixType>
  void
  PointwiseOperator<dim>::assemble_jacobian(
    const Integrand                       &integrand,
    const std::vector<const VectorType *> &fields,
    MatrixType                            &matrix,
    const unsigned int                     field)
  {
    Implementation &i = *implementation;
    i.run(
      integrand,
      internal::PointwiseResultType::jacobian,
      fields,
      [&]() {
        i.check_test_components(integrand);
        i.check_square(field);
      },
      [&]() { i.assemble(integrand, matrix, field); });
  }



  template <int dim>
  template <typename VectorType, typename MatrixType>
  void
  PointwiseOperator<dim>::add_chained_jacobian(
    const Integrand                       &integrand,
    const std::vector<const VectorType *> &fields,
    const unsigned int                     field,
    const VectorType                      &derivative,
    MatrixType                            &matrix)
  {
    using Traits      = internal::MatrixTraits<MatrixType>;
    Implementation &i = *implementation;
    i.run(
      integrand,
      internal::PointwiseResultType::jacobian,
      fields,
      [&]() {
        i.check_test_components(integrand);
        i.check_field(field);
        const auto &offset = i.context.structures[field].dof_offset;
        for (std::size_t k = 0; k + 1 < offset.size(); ++k)
          AssertThrow(offset[k + 1] - offset[k] == 1,
                      ExcMessage("A field that is a function of another one "
                                 "must have one degree of freedom on each "
                                 "polytope: take degree 0 and one "
                                 "component."));
        Traits::check(matrix, i.test_structure());
      },
      [&]() {
        const double *const d =
          i.direction.update(derivative, i.test_structure(), i.uses_device());
        internal::AssemblyTarget<double> target;
        if constexpr (Traits::storage == internal::Storage::device)
          target.device_values = Traits::values(matrix);
        else
          target.host_values = Traits::values(matrix);
        i.test_structure().on_all_processes([&]() {
          i.backend->add_chained_jacobian({integrand, i.coefficients, field},
                                          d,
                                          target);
        });
      });
  }



  template <int dim>
  template <typename VectorType>
  void
  PointwiseOperator<dim>::diagonal_blocks(
    const Integrand                       &integrand,
    const std::vector<const VectorType *> &fields,
    std::vector<double>                   &blocks,
    const unsigned int                     field)
  {
    Implementation &i = *implementation;
    i.run(
      integrand,
      internal::PointwiseResultType::jacobian,
      fields,
      [&]() {
        i.check_test_components(integrand);
        i.check_square(field);
      },
      [&]() {
        const auto &structure = i.test_structure();
        std::size_t size      = 0;
        for (unsigned int k = 0; k < structure.n_owned_polytopes; ++k)
          {
            const std::size_t n =
              structure.dof_offset[k + 1] - structure.dof_offset[k];
            size += n * n;
          }
        structure.on_all_processes([&]() {
          blocks.resize(size);
          i.backend->diagonal_blocks({integrand, i.coefficients, field},
                                     blocks.data());
        });
      });
  }



  template <int dim>
  template <typename VectorType>
  std::vector<double>
  PointwiseOperator<dim>::integrate_volume(
    const Integrand &integrand, const std::vector<const VectorType *> &fields)
  {
    Implementation     &i = *implementation;
    std::vector<double> result;
    i.run(
      integrand,
      internal::PointwiseResultType::integrals,
      fields,
      []() {},
      [&]() {
        const unsigned int  m = integrand.structure().n_components;
        std::vector<double> integrals;
        i.test_structure().on_all_processes([&]() {
          integrals.resize(std::size_t(m) *
                           i.context.mesh().n_owned_polytopes());
          i.backend->integrals({integrand, i.coefficients},
                               PointwiseRegion::volume,
                               integrals.data());
        });
        result = i.sums(integrals, m);
      });
    return result;
  }



  template <int dim>
  template <typename VectorType>
  std::map<types::boundary_id, std::vector<double>>
  PointwiseOperator<dim>::integrate_boundary(
    const Integrand &integrand, const std::vector<const VectorType *> &fields)
  {
    Implementation                                   &i = *implementation;
    std::map<types::boundary_id, std::vector<double>> result;
    i.run(
      integrand,
      internal::PointwiseResultType::integrals,
      fields,
      []() {},
      [&]() {
        const PolytopicMesh<dim> &mesh = i.context.mesh();
        const unsigned int        m    = integrand.structure().n_components;
        std::vector<double>       integrals;
        std::map<unsigned int, std::vector<double>> of_id;
        i.test_structure().on_all_processes([&]() {
          integrals.resize(mesh.polytope_interface.size() * m);
          i.backend->integrals({integrand, i.coefficients},
                               PointwiseRegion::boundary_facet,
                               integrals.data());
          for (std::size_t e = 0; e < mesh.polytope_interface.size(); ++e)
            {
              const unsigned int id =
                mesh.interface_boundary_id[mesh.polytope_interface[e] / 2];
              if (id != invalid_index)
                of_id[id].insert(of_id[id].end(),
                                 integrals.begin() + e * m,
                                 integrals.begin() + (e + 1) * m);
            }
        });
        for (const unsigned int id : i.boundary_ids())
          result[static_cast<types::boundary_id>(id)] = i.sums(of_id[id], m);
      });
    return result;
  }



  template <int dim>
  const OperatorReport &
  PointwiseOperator<dim>::report() const
  {
    return implementation->context.report;
  }



  template <int dim>
  void
  PointwiseOperator<dim>::check_finite()
  {
    implementation->test_structure().on_all_processes(
      [&]() { implementation->backend->check_finite(); });
  }



  template class PointwiseOperator<2>;
  template class PointwiseOperator<3>;

#define INSTANTIATE_MATRIX(dim, Vector, Matrix)            \
  template void PointwiseOperator<dim>::assemble_jacobian( \
    const Integrand &,                                     \
    const std::vector<const Vector *> &,                   \
    Matrix &,                                              \
    const unsigned int);
#define INSTANTIATE_VECTOR(dim, Vector)                                  \
  template void PointwiseOperator<dim>::reinit(Vector &);                \
  template void PointwiseOperator<dim>::residual(                        \
    const Integrand &, const std::vector<const Vector *> &, Vector &);   \
  template void PointwiseOperator<dim>::apply_tangent(                   \
    const Integrand &,                                                   \
    const std::vector<const Vector *> &,                                 \
    const Vector &,                                                      \
    Vector &,                                                            \
    const unsigned int);                                                 \
  template void PointwiseOperator<dim>::diagonal_blocks(                 \
    const Integrand &,                                                   \
    const std::vector<const Vector *> &,                                 \
    std::vector<double> &,                                               \
    const unsigned int);                                                 \
  template std::vector<double> PointwiseOperator<dim>::integrate_volume( \
    const Integrand &, const std::vector<const Vector *> &);             \
  template std::map<types::boundary_id, std::vector<double>>             \
  PointwiseOperator<dim>::integrate_boundary(                            \
    const Integrand &, const std::vector<const Vector *> &);             \
  INSTANTIATE_MATRIX(dim, Vector, HostBlockMatrix<double>)               \
  INSTANTIATE_MATRIX(dim, Vector, HostBlockMatrix<float>)                \
  INSTANTIATE_MATRIX(dim, Vector, DeviceBlockMatrix<double>)             \
  INSTANTIATE_MATRIX(dim, Vector, DeviceBlockMatrix<float>)
#define INSTANTIATE_CHAINED(dim, Vector, Matrix)              \
  template void PointwiseOperator<dim>::add_chained_jacobian( \
    const Integrand &,                                        \
    const std::vector<const Vector *> &,                      \
    const unsigned int,                                       \
    const Vector &,                                           \
    Matrix &);
#define INSTANTIATE(dim)                                                     \
  template void PointwiseOperator<dim>::reinit(HostBlockMatrix<double> &);   \
  template void PointwiseOperator<dim>::reinit(HostBlockMatrix<float> &);    \
  template void PointwiseOperator<dim>::reinit(DeviceBlockMatrix<double> &); \
  template void PointwiseOperator<dim>::reinit(DeviceBlockMatrix<float> &);  \
  INSTANTIATE_VECTOR(dim, Vector<double>)                                    \
  INSTANTIATE_VECTOR(dim, HostVector<double>)                                \
  INSTANTIATE_VECTOR(dim, LinearAlgebra::distributed::Vector<double>)        \
  INSTANTIATE_VECTOR(dim, DeviceVector<double>)                              \
  INSTANTIATE_CHAINED(dim, Vector<double>, HostBlockMatrix<double>)          \
  INSTANTIATE_CHAINED(dim, HostVector<double>, HostBlockMatrix<double>)      \
  INSTANTIATE_CHAINED(dim,                                                   \
                      LinearAlgebra::distributed::Vector<double>,            \
                      HostBlockMatrix<double>)                               \
  INSTANTIATE_CHAINED(dim, DeviceVector<double>, DeviceBlockMatrix<double>)  \
  /* reinit() of a SparseMatrix needs a pattern */                           \
  INSTANTIATE_MATRIX(dim, Vector<double>, SparseMatrix<double>)
#define INSTANTIATE_EPETRA(dim)                                               \
  template void PointwiseOperator<dim>::reinit(                               \
    TrilinosWrappers::SparseMatrix &);                                        \
  INSTANTIATE_VECTOR(dim, TrilinosWrappers::MPI::Vector)                      \
  INSTANTIATE_MATRIX(dim,                                                     \
                     TrilinosWrappers::MPI::Vector,                           \
                     TrilinosWrappers::SparseMatrix)                          \
  INSTANTIATE_MATRIX(dim, Vector<double>, TrilinosWrappers::SparseMatrix)     \
  INSTANTIATE_MATRIX(dim, HostVector<double>, TrilinosWrappers::SparseMatrix) \
  INSTANTIATE_MATRIX(dim,                                                     \
                     LinearAlgebra::distributed::Vector<double>,              \
                     TrilinosWrappers::SparseMatrix)

  INSTANTIATE(2)
  INSTANTIATE(3)
#ifdef TESSELLA_HAVE_EPETRA
  INSTANTIATE_EPETRA(2)
  INSTANTIATE_EPETRA(3)
#endif
#undef INSTANTIATE_MATRIX
#undef INSTANTIATE_VECTOR
#undef INSTANTIATE
#undef INSTANTIATE_EPETRA
} // namespace Tessella
