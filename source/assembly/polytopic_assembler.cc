// SPDX-License-Identifier: LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <deal.II/lac/dynamic_sparsity_pattern.h>

#include <tessella/assembly/block_sparsity.h>
#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/assembly/trilinos_block_matrix.h>
#include <tessella/base/compatibility.h>

#include <cmath>

#include "host_assembly.h"

#ifdef TESSELLA_HAVE_CUDA
#  include "cuda_assembly.h"
#endif

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct PolytopicAssembler<dim>::Implementation
  {
    Implementation(const AgglomerationHandler<dim> &handler,
                   const AdditionalData            &data)
      : handler(&handler)
      , data(data)
      , backend(data.backend == Backend::automatic
                  ? (cuda_is_available() ? Backend::cuda : Backend::host)
                  : data.backend)
    {}

    // Structure for the handler's present degrees of freedom.
    const BlockSparsity &
    get_sparsity()
    {
      const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
      if (sparsity.value_offset.empty() || dof_offset != mesh.dof_offset)
        {
          sparsity   = BlockSparsity::from_mesh(mesh);
          dof_offset = mesh.dof_offset;
        }
      return sparsity;
    }

    // Everything that assembly of @p form needs from the geometry.
    std::vector<double>
    prepare(const Form<dim> &form)
    {
      const Timer timer;
      AssertThrow(handler->n_components() == 1,
                  ExcMessage("PolytopicAssembler assembles scalar forms, but "
                             "the element has " +
                             std::to_string(handler->n_components()) +
                             " components. Use PolytopeValues for systems."));
      handler->tabulate(
        form.coefficient_order() +
        (handler->polynomial_space() == PolynomialSpaceType::tensor_product
           ? 2 * (dim - 1) * handler->max_degree()
           : 0));
      std::vector<double> sigma;
      if (form.facet_structure().penalty)
        {
          AssertThrow(data.penalty.constant >= 0. &&
                        std::isfinite(data.penalty.constant),
                      ExcMessage("The penalty constant is " +
                                 std::to_string(data.penalty.constant) +
                                 ", but it must be a finite number that is not"
                                 " negative."));
          compute_penalty_factors(*handler, data.penalty.formula);
          report.geometry_time = timer.wall_time();
          sigma = internal::compute_penalty(handler->polytopic_mesh(),
                                            form,
                                            data.penalty.constant,
                                            data.instruction_set);
        }
      else
        sigma.resize(handler->polytopic_mesh().n_facets(), 0.);
      return sigma;
    }

    void
    run(const Form<dim> &form, const internal::HostAssemblyTarget &target)
    {
      const std::vector<double> sigma = prepare(form);
#ifdef TESSELLA_HAVE_CUDA
      if (backend == Backend::cuda)
        {
          internal::Device::Target<double> device_target;
          device_target.host_values = target.values;
          device_target.host_rhs    = target.rhs;
          if (target.store_block_row)
            device_target.store_block_rows = [&](const unsigned int begin,
                                                 const unsigned int end,
                                                 const double      *values) {
              const BlockSparsity &blocks = get_sparsity();
              for (unsigned int k = begin; k < end; ++k)
                target.store_block_row(k,
                                       values + (blocks.value_offset[k] -
                                                 blocks.value_offset[begin]));
            };
          const internal::Device::Times times =
            cuda.assemble(handler->polytopic_mesh(),
                          get_sparsity(),
                          form,
                          sigma,
                          handler->polynomial_space() ==
                            PolynomialSpaceType::tensor_product,
                          data.instruction_set,
                          device_target);
          report.device_kernels   = times.kernel;
          report.kernel_time      = times.kernels;
          report.upload_time      = times.upload;
          report.download_time    = times.download;
          report.bytes_uploaded   = times.bytes_up;
          report.bytes_downloaded = times.bytes_down;
          return;
        }
#endif
      internal::assemble_on_host(handler->polytopic_mesh(),
                                 get_sparsity(),
                                 form,
                                 sigma,
                                 handler->polynomial_space() ==
                                   PolynomialSpaceType::tensor_product,
                                 data.instruction_set,
                                 target);
    }

    void
    check_size(const types::global_dof_index size,
               const std::string            &what) const
    {
      AssertThrow(size == handler->n_dofs(),
                  ExcMessage("The " + what + " has " + std::to_string(size) +
                             " entries, but there are " +
                             std::to_string(handler->n_dofs()) +
                             " degrees of freedom: call reinit() of the "
                             "assembler on it, after distribute_dofs()."));
    }

    // The locally stored entries of a vector.
    double *
    begin(TrilinosWrappers::MPI::Vector &vector) const
    {
      check_size(vector.size(), "vector");
      return vector.trilinos_vector()[0];
    }

    double *
    begin(Vector<double> &vector) const
    {
      check_size(vector.size(), "vector");
      return vector.begin();
    }

    void
    set_target(TrilinosWrappers::SparseMatrix &matrix,
               internal::HostAssemblyTarget   &target)
    {
      target.values =
        TrilinosBlockMatrix::values(matrix, get_sparsity(), dof_offset);
    }

    // deal.II's own matrix keeps the diagonal entry first in each row.
    void
    set_target(SparseMatrix<double>         &matrix,
               internal::HostAssemblyTarget &target)
    {
      const BlockSparsity &blocks = get_sparsity();
      check_size(matrix.m(), "matrix");
      AssertThrow(matrix.n_nonzero_elements() == blocks.n_nonzero_elements(),
                  ExcMessage("The matrix does not have the sparsity pattern of "
                             "this mesh and element."));
      target.store_block_row = [this, &matrix, &blocks](const unsigned int k,
                                                        const double *values) {
        const unsigned int width    = blocks.row_width[k];
        unsigned int       diagonal = 0; // position of the first row's diagonal
        for (std::uint64_t b = blocks.block_offset[k];
             blocks.block_column[b] != k;
             ++b)
          diagonal += dof_offset[blocks.block_column[b] + 1] -
                      dof_offset[blocks.block_column[b]];
        for (std::uint64_t row = dof_offset[k]; row < dof_offset[k + 1];
             ++row, ++diagonal, values += width)
          {
            auto entry     = matrix.begin(row);
            entry->value() = values[diagonal];
            ++entry;
            for (unsigned int c = 0; c < width; ++c)
              if (c != diagonal)
                {
                  entry->value() = values[c];
                  ++entry;
                }
          }
      };
    }

    template <typename MatrixType, typename VectorType>
    void
    assemble(const Form<dim> &form, MatrixType *matrix, VectorType *rhs)
    {
      const Timer                  timer;
      internal::HostAssemblyTarget target;
      report.geometry_time = 0.;
      if (matrix != nullptr)
        set_target(*matrix, target);
      if (rhs != nullptr)
        target.rhs = begin(*rhs);
      run(form, target);
      report.backend         = backend;
      report.strategy        = data.strategy;
      report.instruction_set = data.instruction_set == InstructionSet::automatic
                                 ? best_instruction_set()
                                 : data.instruction_set;
      report.n_threads       = MultithreadInfo::n_threads();
      report.assembly_time   = timer.wall_time() - report.geometry_time;
    }

    SmartPointer<const AgglomerationHandler<dim>> handler;
    AdditionalData                                data;
    BlockSparsity                                 sparsity;
    std::vector<std::uint64_t>                    dof_offset;
    Backend                                       backend; // not automatic
    AssemblyReport                                report = {};
#ifdef TESSELLA_HAVE_CUDA
    internal::CUDAAssembly<dim> cuda;
#endif
  };



  template <int dim>
  PolytopicAssembler<dim>::PolytopicAssembler(
    const AgglomerationHandler<dim> &handler, const AdditionalData &data)
    : implementation(std::make_unique<Implementation>(handler, data))
  {
    AssertThrow(handler.n_polytopes() > 0 && handler.n_dofs() > 0,
                ExcMessage("PolytopicAssembler needs degrees of freedom: call "
                           "agglomerate() and distribute_dofs() of the "
                           "AgglomerationHandler first."));
    if (data.backend == Backend::cuda)
      {
#ifndef TESSELLA_HAVE_CUDA
        AssertThrow(false,
                    ExcMessage("This build of Tessella has no CUDA backend: "
                               "use Backend::host, or build with "
                               "-DTESSELLA_WITH_CUDA=ON."));
#endif
        AssertThrow(cuda_is_available(),
                    ExcMessage("No CUDA device was found on this machine, or "
                               "its driver does not work: use Backend::host "
                               "or Backend::automatic."));
      }
    AssertThrow(data.strategy == AssemblyStrategy::block_rows ||
                  implementation->backend == Backend::cuda,
                ExcMessage("The assembly strategy " + name(data.strategy) +
                           " runs on a CUDA device only: use Backend::cuda on "
                           "a machine that has one, or the strategy " +
                           name(AssemblyStrategy::block_rows) + "."));
    AssertThrow(data.strategy == AssemblyStrategy::block_rows,
                ExcMessage("The assembly strategy " + name(data.strategy) +
                           " is not available yet: use " +
                           name(AssemblyStrategy::block_rows) + "."));
    const InstructionSet wanted = data.instruction_set;
    AssertThrow(wanted == InstructionSet::automatic ||
                  wanted <= best_instruction_set(),
                ExcMessage("This processor or this build of Tessella does not "
                           "have the instruction set " +
                           name(wanted) + "; the widest one it has is " +
                           name(best_instruction_set()) + "."));
  }



  template <int dim>
  PolytopicAssembler<dim>::~PolytopicAssembler() = default;



  template <int dim>
  void
  PolytopicAssembler<dim>::reinit(TrilinosWrappers::SparseMatrix &matrix)
  {
    const Timer          timer;
    const BlockSparsity &sparsity = implementation->get_sparsity();
    TrilinosBlockMatrix::reinit(
      matrix,
      sparsity,
      implementation->dof_offset,
      Compatibility::get_communicator(
        implementation->handler->get_triangulation()));
    implementation->report.structure_time = timer.wall_time();
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::reinit(TrilinosWrappers::MPI::Vector &vector)
  {
    const AgglomerationHandler<dim> &handler = *implementation->handler;
    vector.reinit(handler.locally_owned_dofs(),
                  Compatibility::get_communicator(handler.get_triangulation()));
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::reinit(TrilinosWrappers::SparseMatrix &matrix,
                                  TrilinosWrappers::MPI::Vector  &rhs)
  {
    reinit(matrix);
    reinit(rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::reinit(SparsityPattern      &pattern,
                                  SparseMatrix<double> &matrix,
                                  Vector<double>       &rhs)
  {
    const Timer                       timer;
    const BlockSparsity              &sparsity = implementation->get_sparsity();
    const std::vector<std::uint64_t> &offset   = implementation->dof_offset;
    matrix.clear();
    std::vector<unsigned int> row_lengths;
    row_lengths.reserve(offset.back());
    for (unsigned int k = 0; k < sparsity.row_width.size(); ++k)
      row_lengths.insert(row_lengths.end(),
                         offset[k + 1] - offset[k],
                         sparsity.row_width[k]);
    pattern.reinit(offset.back(), offset.back(), row_lengths);
    implementation->handler->make_sparsity_pattern(pattern);
    pattern.compress();
    matrix.reinit(pattern);
    rhs.reinit(offset.back());
    implementation->report.structure_time = timer.wall_time();
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble(const Form<dim>                &form,
                                    TrilinosWrappers::SparseMatrix &matrix,
                                    TrilinosWrappers::MPI::Vector  &rhs)
  {
    implementation->assemble(form, &matrix, &rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_matrix(
    const Form<dim> &form, TrilinosWrappers::SparseMatrix &matrix)
  {
    implementation->assemble(
      form, &matrix, static_cast<TrilinosWrappers::MPI::Vector *>(nullptr));
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_rhs(const Form<dim>               &form,
                                        TrilinosWrappers::MPI::Vector &rhs)
  {
    implementation->assemble(
      form, static_cast<TrilinosWrappers::SparseMatrix *>(nullptr), &rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble(const Form<dim>      &form,
                                    SparseMatrix<double> &matrix,
                                    Vector<double>       &rhs)
  {
    implementation->assemble(form, &matrix, &rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_matrix(const Form<dim>      &form,
                                           SparseMatrix<double> &matrix)
  {
    implementation->assemble(form,
                             &matrix,
                             static_cast<Vector<double> *>(nullptr));
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_rhs(const Form<dim> &form,
                                        Vector<double>  &rhs)
  {
    implementation->assemble(form,
                             static_cast<SparseMatrix<double> *>(nullptr),
                             &rhs);
  }



  template <int dim>
  std::vector<double>
  PolytopicAssembler<dim>::penalty(const Form<dim> &form) const
  {
    return implementation->prepare(form);
  }



  template <int dim>
  const AssemblyReport &
  PolytopicAssembler<dim>::report() const
  {
    return implementation->report;
  }



  template class PolytopicAssembler<2>;
  template class PolytopicAssembler<3>;
} // namespace Tessella
