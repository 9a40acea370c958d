// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <deal.II/lac/dynamic_sparsity_pattern.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/device/cuda_device.h>
#include <tessella/forms/device_coefficients.h>
#include <tessella/lac/block_sparsity.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <utility>

#include "../../cuda/backends/assembly.h"
#include "../../cuda/lac/vector.h"
#include "../backends/host_assembly.h"
#include "../backends/host_dispatch.h"
#include "../base/collective.h"
#include "../device/device_call.h"
#include "../lac/store_block_row.h"

#ifdef TESSELLA_HAVE_CUDA
#  include "../backends/cuda_assembly.h"
#  include "../device/device_share.h"
#endif

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct PolytopicAssembler<dim>::Implementation
  {
    Implementation(const PolytopicSpace<dim> &handler,
                   const AdditionalData      &data)
      : handler(&handler)
      , data(data)
      , communicator(handler.get_communicator())
      , n_processes(internal::n_processes(communicator))
      , backend(data.backend != Backend::automatic ? data.backend
                : cuda_is_available()              ? Backend::cuda
                                                   : Backend::host)
    {}

    // Sparsity pattern for the current DoFs of the handler.
    const BlockSparsity &
    get_sparsity()
    {
      const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
      if (sparsity_revision != mesh.revision || mesh.revision == 0)
        {
          sparsity          = BlockSparsity::from_mesh(mesh);
          dof_offset        = mesh.dof_offset;
          sparsity_revision = mesh.revision;
          ghost_columns.clear();
          for (unsigned int k = mesh.n_owned_polytopes();
               k < mesh.n_polytopes();
               ++k)
            for (std::uint64_t i = 0; i < dof_offset[k + 1] - dof_offset[k];
                 ++i)
              ghost_columns.push_back(handler->first_dof(k) + i);
          partition.reset();
        }
      return sparsity;
    }

    // Collective; returns null on a single process.
    const std::shared_ptr<const BlockPartition> &
    get_partition()
    {
      get_sparsity();
      if (n_processes > 1 && partition == nullptr)
        {
          const PolytopicMesh<dim>  &mesh = handler->polytopic_mesh();
          std::vector<std::uint64_t> first_ghost_row;
          for (unsigned int k = mesh.n_owned_polytopes();
               k < mesh.n_polytopes();
               ++k)
            first_ghost_row.push_back(handler->first_dof(k));
          partition =
            std::make_shared<const BlockPartition>(communicator,
                                                   dof_offset,
                                                   mesh.n_owned_polytopes(),
                                                   first_ghost_row);
        }
      return partition;
    }

    // Runs @p work, which must not communicate; on an error, all processes
    // throw.
    void
    on_all_processes(const std::function<void()> &work) const
    {
      if (n_processes > 1)
        Tessella::on_all_processes(communicator, work);
      else
        work();
    }

    void
    check_one_process(const std::string &what) const
    {
      AssertThrow(n_processes == 1,
                  ExcMessage("A " + what +
                             " lives on one process, but the mesh is "
                             "distributed over " +
                             std::to_string(n_processes) +
                             ": use the classes of TrilinosWrappers, block "
                             "matrices and their vectors."));
    }

    // Penalty factors sigma and a revision that identifies them.
    struct Penalty
    {
      const std::vector<double> *sigma;
      std::uint64_t              revision;
    };

    // Prepares the quadrature and the penalty for @p form and keeps all data
    // that have not changed. If @p later, a penalty that varies in space is
    // left to the caller.
    Penalty
    prepare(const Form<dim> &form,
            const bool       keep_diffusion = false,
            const bool       later          = false)
    {
      const Timer timer;
      const bool  penalty = form.facet_structure().penalty;
      on_all_processes([&]() { prepare_quadrature(form, penalty); });
      const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
      if (penalty)
        {
          handler->fill_penalty_factors(data.penalty.formula);
          report.geometry_time = timer.wall_time();
        }

      const VolumeStructure structure = form.volume_structure();
      if (!penalty || structure.diffusion == DiffusionType::none)
        {
          // Keeping the zeros lets forms with and without penalty alternate.
          if (no_sigma.size() != mesh.n_facets())
            {
              no_sigma.assign(mesh.n_facets(), 0.);
              no_sigma_revision = PolytopicMesh<dim>::new_revision();
            }
          return {&no_sigma, no_sigma_revision};
        }
      if (later && !structure.constant)
        return {&no_sigma, 0};
      return find_penalty(form, keep_diffusion);
    }

    Penalty
    find_penalty(const Form<dim> &form, const bool keep_diffusion)
    {
      const PolytopicMesh<dim> &mesh      = handler->polytopic_mesh();
      const VolumeStructure     structure = form.volume_structure();
      // Data that sigma depends on. A sigma that varies in space is not kept.
      std::vector<double> key;
      if (structure.constant)
        key = internal::constant_diffusion(mesh, form);
      key.push_back(data.penalty.constant);
      const std::array<std::uint64_t, 3> revisions = {
        {mesh.revision, mesh.quadrature_revision, mesh.penalty_revision}};
      if (!structure.constant || mesh.revision == 0 || sigma_revision == 0 ||
          revisions != sigma_revisions || key != sigma_key)
        {
          sigma_revision = 0;
          internal::FacetExchange exchange;
          if (n_processes > 1)
            exchange = {[this](const std::function<void()> &work) {
                          on_all_processes(work);
                        },
                        [this](std::vector<double> &values) {
                          handler->exchange_facet_values(values);
                        }};
          const bool keep =
            keep_diffusion && !structure.constant &&
            !structure.penalty_diffusion &&
            diffusion.reinit(mesh,
                             *rules,
                             structure.diffusion == DiffusionType::tensor
                               ? dim * dim
                               : 1,
                             internal::diffusion_values_limit(mesh));
          internal::compute_penalty(mesh,
                                    form,
                                    data.penalty.constant,
                                    *rules,
                                    data.instruction_set,
                                    exchange,
                                    sigma,
                                    keep ? &diffusion : nullptr);
          sigma_revision  = PolytopicMesh<dim>::new_revision();
          sigma_revisions = revisions;
          sigma_key       = key;
        }
      return {&sigma, sigma_revision};
    }

    void
    prepare_quadrature(const Form<dim> &form, const bool penalty)
    {
      AssertThrow(handler->n_components() == 1,
                  ExcMessage("PolytopicAssembler assembles scalar forms, but "
                             "the element has " +
                             std::to_string(handler->n_components()) +
                             " components. Use PolytopeValues for systems."));
      AssertThrow(!penalty || (data.penalty.constant >= 0. &&
                               std::isfinite(data.penalty.constant)),
                  ExcMessage("The penalty constant is " +
                             std::to_string(data.penalty.constant) +
                             ", but it must be a finite number that is not"
                             " negative."));
      prepare_rules(form.coefficient_order());
    }

    void
    prepare_rules(const unsigned int coefficient_order)
    {
      const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
      if (degree_revision != mesh.revision || mesh.revision == 0)
        {
          max_degree      = handler->max_degree();
          degree_revision = mesh.revision;
        }
      handler->tabulate(
        coefficient_order +
        (handler->polynomial_space() == PolynomialSpaceType::tensor_product
           ? 2 * (dim - 1) * max_degree
           : 0));
      if (rules == nullptr || rules_revision != mesh.revision ||
          mesh.revision == 0 || rules_order != coefficient_order)
        {
          rules =
            std::make_unique<internal::HostRules<dim>>(mesh, coefficient_order);
          rules_revision = mesh.revision;
          rules_order    = coefficient_order;
        }
    }

    template <typename Number>
    void
    run(const Form<dim> &form, const internal::Device::Target<Number> &target)
    {
      const Timer timer;
      diffusion.clear();
      form.prepare();
      std::shared_ptr<const DeviceCoefficients<dim>> coefficients;
      if (backend == Backend::cuda &&
          data.strategy == AssemblyStrategy::block_rows)
        coefficients = form.device_coefficients();
      // Compilation may fail on some processes; all processes then use the
      // host.
      if (n_processes > 1 && backend == Backend::cuda &&
          Utilities::MPI::min(coefficients != nullptr ? 1 : 0, communicator) ==
            0)
        coefficients = nullptr;
#ifdef TESSELLA_HAVE_CUDA
      // The share is determined for each assembly, since other processes may
      // allocate or release device memory in between.
      device_memory = data.device_memory;
      if (device_memory == 0 && devices_are_shared)
        device_memory = internal::share_of_device_memory(communicator,
                                                         on_same_device,
                                                         cuda.held());
#endif
      const VolumeStructure structure = form.volume_structure();
      if (coefficients != nullptr)
        for (const auto &values : coefficients->cell_values())
          AssertThrow(values->size() == handler->polytopic_mesh().n_subcells(),
                      ExcMessage(
                        "Values of cells are used on another mesh than "
                        "they were made for: make new ones after "
                        "agglomerate()."));
      if (coefficients != nullptr)
        report.coefficients = coefficients->description();
      else if (structure.constant)
        report.coefficients = "constant";
      else
        {
          const std::string reason = form.why_not_on_device();
          report.coefficients      = "evaluated by the host's threads";
          if (backend == Backend::cuda && !reason.empty())
            report.coefficients += " (" + reason + ")";
        }
      penalty_on_device = coefficients != nullptr && n_processes == 1;
      // Alternatively, the penalty is computed together with the tables.
      ConstantFacetTerms<dim> constant_facets;
      penalty_with_tables =
        backend == Backend::cuda && coefficients == nullptr &&
        data.strategy == AssemblyStrategy::block_rows && n_processes == 1 &&
        target.has_matrix() && !structure.constant &&
        !structure.penalty_diffusion &&
        !form.constant_interior_facets(constant_facets);
      Penalty penalty = prepare(form,
                                target.has_matrix(),
                                coefficients != nullptr || penalty_with_tables);
#ifdef TESSELLA_HAVE_CUDA
      if (coefficients != nullptr && n_processes > 1 && varies(form))
        {
          find_penalty_on_devices(form, *coefficients);
          penalty = {&sigma, PolytopicMesh<dim>::new_revision()};
        }
#endif
      report.preparation_time = timer.wall_time() - report.geometry_time;
      on_all_processes([&]() {
        if (handler->n_polytopes() == 0)
          return;
#ifdef TESSELLA_HAVE_CUDA
        if (backend == Backend::cuda)
          {
            run_on_device(form, coefficients.get(), penalty, target);
            return;
          }
#endif
        run_on_host(form, penalty, target);
      });
    }

#ifdef TESSELLA_HAVE_CUDA
    // Starts to send the mesh to the device while the calling thread continues.
    // The assumed order of the coefficients is that of the last form, initially
    // that of constant ones. Errors are ignored: the assembly repeats the work
    // and reports them. Callers must wait for the result before they change the
    // mesh.
    std::future<void>
    send_mesh()
    {
      const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
      // Stored points depend on the order, so such meshes are excluded.
      if (backend != Backend::cuda || mesh.revision == 0 ||
          data.strategy != AssemblyStrategy::block_rows || devices_are_shared ||
          handler->n_polytopes() == 0 || handler->n_components() != 1 ||
          !mesh.subcell_point_weights.empty() ||
          !mesh.facet_point_weights.empty() ||
          MultithreadInfo::n_threads() == 1)
        return {};
      const BlockSparsity &blocks = get_sparsity();
      const int            device = internal::Device::current_device();
      return std::async(std::launch::async, [this, &mesh, &blocks, device]() {
        try
          {
            internal::Device::set_device(device);
            prepare_rules(rules_order);
            cuda.prepare(mesh,
                         blocks,
                         *rules,
                         rules_order,
                         handler->polynomial_space(),
                         data.device_memory);
          }
        catch (const std::exception &)
          {}
      });
    }

    // Whether the form has a penalty that varies in space.
    static bool
    varies(const Form<dim> &form)
    {
      const VolumeStructure structure = form.volume_structure();
      return !structure.constant &&
             structure.diffusion != DiffusionType::none &&
             form.facet_structure().penalty;
    }

    // Penalty factors to which polytopes on the devices of several processes
    // contribute.
    void
    find_penalty_on_devices(const Form<dim>               &form,
                            const DeviceCoefficients<dim> &coefficients)
    {
      const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
      std::vector<double>       a_bar(2 * std::size_t(mesh.n_facets()), 0.);
      on_all_processes([&]() {
        if (handler->n_polytopes() == 0)
          return;
        if (!coefficients.fields().empty())
          internal::device_call([] { internal::Device::synchronize(); });
        cuda.largest_diffusion({mesh,
                                get_sparsity(),
                                form,
                                *rules,
                                {nullptr, 0},
                                handler->polynomial_space(),
                                data.instruction_set,
                                device_memory,
                                data.strategy,
                                nullptr,
                                &coefficients,
                                false,
                                data.penalty.constant},
                               a_bar);
      });
      handler->exchange_facet_values(a_bar);
      internal::penalty_from_diffusion(mesh,
                                       data.penalty.constant,
                                       a_bar,
                                       sigma);
      sigma_revision = 0; // not interchangeable with sigma of the host
    }

    template <typename Number>
    void
    run_on_device(const Form<dim>                        &form,
                  const DeviceCoefficients<dim>          *coefficients,
                  const Penalty                          &penalty,
                  const internal::Device::Target<Number> &target)
    {
      // Assembly runs in streams of its own, other operations on vectors and
      // matrices run in the default stream.
      if (target.device_values != nullptr || target.device_rhs != nullptr ||
          (coefficients != nullptr && !coefficients->fields().empty()))
        internal::device_call([] { internal::Device::synchronize(); });
      const Timer timer;
      std::function<std::pair<internal::Device::Penalty,
                              const internal::DiffusionValues<dim> *>()>
        later;
      if (penalty_with_tables)
        later = [&]() {
          const Penalty found =
            varies(form) ? find_penalty(form, true) : penalty;
          return std::make_pair(
            internal::Device::Penalty{found.sigma->data(), found.revision},
            static_cast<const internal::DiffusionValues<dim> *>(
              diffusion.empty() ? nullptr : &diffusion));
        };
      const internal::Device::Times times =
        cuda.assemble({handler->polytopic_mesh(),
                       get_sparsity(),
                       form,
                       *rules,
                       {penalty.sigma->data(), penalty.revision},
                       handler->polynomial_space(),
                       data.instruction_set,
                       device_memory,
                       data.strategy,
                       diffusion.empty() ? nullptr : &diffusion,
                       coefficients,
                       penalty_on_device && varies(form),
                       data.penalty.constant,
                       later,
                       data.device_memory == 0
                         ? static_cast<unsigned int>(on_same_device.size())
                         : 0},
                      target);
      report.device_kernels   = times.kernel;
      report.kernel_time      = times.kernels;
      report.kernel_times     = times.kernel_times;
      report.upload_time      = times.upload;
      report.download_time    = times.download;
      report.bytes_uploaded   = times.bytes_up;
      report.bytes_downloaded = times.bytes_down;
      report.tabulation_time  = times.tabulation;
      report.handover_time    = times.idle;
      report.device_memory    = times.memory;
      report.n_parts          = times.n_parts;
      // time except for the loop over chunks
      report.preparation_time += timer.wall_time() - times.loop;
    }
#endif

    // Assembles in double precision; values for targets of another type or on
    // the device are converted or copied.
    template <typename Number>
    void
    run_on_host(const Form<dim>                        &form,
                const Penalty                          &penalty,
                const internal::Device::Target<Number> &target)
    {
      constexpr bool       is_double = std::is_same<Number, double>::value;
      const BlockSparsity &blocks    = get_sparsity();
      const std::size_t    n_values  = blocks.n_nonzero_elements(),
                        n_rows       = dof_offset[handler->n_polytopes()];

      std::vector<Number> values;
      Number             *to = target.host_values;
      if (target.device_values != nullptr)
        {
          values.resize(n_values);
          to = values.data();
        }
      std::vector<double> rhs;
      if (target.device_rhs != nullptr ||
          (target.host_rhs != nullptr && !is_double))
        rhs.resize(n_rows);

      internal::AssemblyTarget<double> host;
      if constexpr (is_double)
        {
          host.host_values      = to;
          host.host_rhs         = target.host_rhs;
          host.store_block_rows = target.store_block_rows;
        }
      else if (to != nullptr || target.store_block_rows)
        host.store_block_rows = [&](const unsigned int begin,
                                    const unsigned int end,
                                    const double      *rows) {
          const std::size_t n =
            blocks.value_offset[end] - blocks.value_offset[begin];
          if (to != nullptr)
            std::copy_n(rows, n, to + blocks.value_offset[begin]);
          else
            {
              const std::vector<Number> rounded(rows, rows + n);
              target.store_block_rows(begin, end, rounded.data());
            }
        };
      if (!rhs.empty())
        host.host_rhs = rhs.data();

      internal::assemble_on_host(handler->polytopic_mesh(),
                                 blocks,
                                 form,
                                 *penalty.sigma,
                                 *rules,
                                 handler->polynomial_space(),
                                 data.instruction_set,
                                 host,
                                 diffusion.empty() ? nullptr : &diffusion);

      if (target.host_rhs != nullptr && !rhs.empty())
        std::copy(rhs.begin(), rhs.end(), target.host_rhs);
      internal::device_call([&] {
        if (target.device_values != nullptr)
          internal::Device::upload(target.device_values,
                                   values.data(),
                                   n_values);
        if (target.device_rhs != nullptr)
          {
            const std::vector<Number> rounded(rhs.begin(), rhs.end());
            internal::Device::upload(target.device_rhs, rounded.data(), n_rows);
          }
      });
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

    // Sets the target for all entries of a vector.
#ifdef TESSELLA_HAVE_EPETRA
    void
    set_target(TrilinosWrappers::MPI::Vector    &vector,
               internal::Device::Target<double> &target)
    {
      check_size(vector.size(), "vector");
      get_sparsity();
      AssertThrow(!vector.has_ghost_elements() &&
                    static_cast<std::uint64_t>(
                      vector.trilinos_vector().MyLength()) ==
                      dof_offset[handler->n_polytopes()],
                  ExcMessage("The vector is distributed over processes in "
                             "another way than the degrees of freedom, or has "
                             "ghost entries: call reinit() of the assembler "
                             "on it."));
      target.host_rhs = vector.trilinos_vector()[0];
    }
#endif

    template <typename Number>
    void
    set_target(Vector<Number>                   &vector,
               internal::Device::Target<Number> &target) const
    {
      check_one_process("dealii::Vector");
      check_size(vector.size(), "vector");
      target.host_rhs = vector.begin();
    }

    template <typename Number>
    void
    set_target(DeviceVector<Number>             &vector,
               internal::Device::Target<Number> &target)
    {
      check_distribution(vector.size(), vector.locally_owned_size());
      target.device_rhs = vector.begin();
    }

    template <typename Number>
    void
    set_target(LinearAlgebra::distributed::Vector<Number> &vector,
               internal::Device::Target<Number>           &target)
    {
      check_distribution(vector.size(), vector.locally_owned_size());
      target.host_rhs = vector.begin();
    }

    void
    check_distribution(const types::global_dof_index size,
                       const types::global_dof_index n_here)
    {
      check_size(size, "vector");
      get_sparsity();
      AssertThrow(n_here == dof_offset[handler->n_polytopes()],
                  ExcMessage("The vector is distributed over processes in "
                             "another way than the degrees of freedom: call "
                             "reinit() of the assembler on it."));
    }

    // Sets the target for all values of a matrix.
#ifdef TESSELLA_HAVE_EPETRA
    void
    set_target(TrilinosWrappers::SparseMatrix   &matrix,
               internal::Device::Target<double> &target)
    {
      const BlockSparsity &blocks = get_sparsity();
      target.host_values =
        TrilinosBlockMatrix::values(matrix, blocks, dof_offset);
      // The column indices are checked once per matrix.
      const std::array<const void *, 3> arrays =
        TrilinosBlockMatrix::storage(matrix);
      if (checked_revision != sparsity_revision || checked_revision == 0)
        checked_arrays.clear();
      checked_revision = sparsity_revision;
      if (std::find(checked_arrays.begin(), checked_arrays.end(), arrays) ==
          checked_arrays.end())
        {
          TrilinosBlockMatrix::check_columns(matrix,
                                             blocks,
                                             dof_offset,
                                             ghost_columns);
          // Keeps the last eight matrices, so that several can alternate.
          if (checked_arrays.size() == 8)
            checked_arrays.erase(checked_arrays.begin());
          checked_arrays.push_back(arrays);
        }
    }
#endif

    template <typename Number>
    void
    set_target(SparseMatrix<Number>             &matrix,
               internal::Device::Target<Number> &target)
    {
      check_one_process("dealii::SparseMatrix");
      const BlockSparsity &blocks = get_sparsity();
      check_size(matrix.m(), "matrix");
      std::atomic<bool> matches(matrix.n_nonzero_elements() ==
                                blocks.n_nonzero_elements());
      if (matches)
        internal::for_polytopes(
          blocks.row_width.size(),
          [&](const unsigned int begin, const unsigned int end) {
            for (unsigned int k = begin; k < end; ++k)
              if (&matrix.diag_element(dof_offset[k]) -
                    &matrix.diag_element(0) !=
                  static_cast<std::ptrdiff_t>(blocks.value_offset[k]))
                matches = false;
          });
      AssertThrow(matches,
                  ExcMessage("The matrix does not have the sparsity pattern of "
                             "this mesh and element."));
      target.store_block_rows =
        [this, &matrix, &blocks](const unsigned int begin,
                                 const unsigned int end,
                                 const Number      *values) {
          for (unsigned int k = begin; k < end; ++k)
            internal::store_block_row(matrix,
                                      blocks,
                                      dof_offset,
                                      k,
                                      values + (blocks.value_offset[k] -
                                                blocks.value_offset[begin]));
        };
    }

    template <typename Number>
    void
    set_target(DeviceBlockMatrix<Number>        &matrix,
               internal::Device::Target<Number> &target)
    {
      const BlockSparsity &blocks = get_sparsity();
      check_size(matrix.m(), "matrix");
      AssertThrow(matrix.dof_offset() == dof_offset &&
                    matrix.block_sparsity().value_offset == blocks.value_offset,
                  ExcMessage("The matrix on the device does not have the "
                             "structure of this mesh and element: call reinit()"
                             " of the assembler on it, after "
                             "distribute_dofs()."));
      target.device_values = matrix.values();
    }

    template <typename Number>
    void
    set_target(HostBlockMatrix<Number>          &matrix,
               internal::Device::Target<Number> &target)
    {
      const BlockSparsity &blocks = get_sparsity();
      check_size(matrix.m(), "matrix");
      AssertThrow(matrix.dof_offset() == dof_offset &&
                    matrix.block_sparsity().value_offset == blocks.value_offset,
                  ExcMessage("The block matrix does not have the structure of "
                             "this mesh and element: call reinit() of the "
                             "assembler on it, after distribute_dofs()."));
      target.host_values = matrix.values();
    }

    template <typename MatrixType>
    void
    reinit_block_matrix(MatrixType &matrix)
    {
      const Timer          timer;
      const BlockSparsity &blocks = get_sparsity();
      const auto          &rows   = get_partition();
      on_all_processes([&] { matrix.reinit(blocks, dof_offset, rows); });
      report.structure_time = timer.wall_time();
    }

    template <typename Number, typename MatrixType, typename VectorType>
    void
    assemble(const Form<dim> &form, MatrixType *matrix, VectorType *rhs)
    {
      const Timer                      timer;
      internal::Device::Target<Number> target;
      report.geometry_time = 0.;
      on_all_processes([&]() {
        if (matrix != nullptr)
          set_target(*matrix, target);
        if (rhs != nullptr)
          set_target(*rhs, target);
      });
      run(form, target);
      report.backend         = backend;
      report.strategy        = data.strategy;
      report.instruction_set = data.instruction_set == InstructionSet::automatic
                                 ? best_instruction_set()
                                 : data.instruction_set;
      report.n_threads       = MultithreadInfo::n_threads();
      report.assembly_time   = timer.wall_time() - report.geometry_time;
    }

    template <typename Number>
    void
    reinit(SparsityPattern      &pattern,
           SparseMatrix<Number> &matrix,
           Vector<Number>       &rhs)
    {
      const Timer timer;
      check_one_process("dealii::SparseMatrix");
      const BlockSparsity &blocks = get_sparsity();
      matrix.clear();
      std::vector<unsigned int> row_lengths;
      row_lengths.reserve(dof_offset.back());
      for (unsigned int k = 0; k < blocks.row_width.size(); ++k)
        row_lengths.insert(row_lengths.end(),
                           dof_offset[k + 1] - dof_offset[k],
                           blocks.row_width[k]);
      pattern.reinit(dof_offset.back(), dof_offset.back(), row_lengths);
      for (unsigned int k = 0; k < blocks.row_width.size(); ++k)
        for (std::uint64_t i = dof_offset[k]; i < dof_offset[k + 1]; ++i)
          for (std::uint64_t b = blocks.block_offset[k];
               b < blocks.block_offset[k + 1];
               ++b)
            for (std::uint64_t j = dof_offset[blocks.block_column[b]];
                 j < dof_offset[blocks.block_column[b] + 1];
                 ++j)
              pattern.add(i, j);
      pattern.compress();
      matrix.reinit(pattern);
      rhs.reinit(dof_offset.back());
      report.structure_time = timer.wall_time();
    }

    SmartPointer<const PolytopicSpace<dim>> handler;
    AdditionalData                          data;
    BlockSparsity                           sparsity;
    std::vector<std::uint64_t>              dof_offset;
    MPI_Comm                                communicator;
    unsigned int                            n_processes;
    bool penalty_on_device = false, penalty_with_tables = false;
    std::vector<types::global_dof_index>  ghost_columns;
    std::shared_ptr<const BlockPartition> partition;
    Backend                               backend; // not automatic

    // Data kept between assemblies, and their revisions (0: none).
    std::uint64_t sparsity_revision = 0, degree_revision = 0,
                  rules_revision = 0, checked_revision = 0;
    unsigned int                              max_degree = 0, rules_order = 0;
    std::unique_ptr<internal::HostRules<dim>> rules;
    std::vector<std::array<const void *, 3>>  checked_arrays;
    std::vector<double>                       sigma, sigma_key;
    internal::DiffusionValues<dim> diffusion; // current assembly only
    std::vector<double>            no_sigma;
    std::uint64_t                  sigma_revision = 0, no_sigma_revision = 0;
    std::array<std::uint64_t, 3>   sigma_revisions = {};

    AssemblyReport report = {};
#ifdef TESSELLA_HAVE_CUDA
    // Processes that share the device of this process, and whether any device
    // of the communicator is shared.
    std::vector<unsigned int>   on_same_device;
    bool                        devices_are_shared = false;
    std::size_t                 device_memory      = 0; // current assembly only
    internal::CUDAAssembly<dim> cuda;
#endif
  };



  template <int dim>
  PolytopicAssembler<dim>::PolytopicAssembler(
    const PolytopicSpace<dim> &handler, const AdditionalData &data)
    : implementation(std::make_unique<Implementation>(handler, data))
  {
    AssertThrow(handler.n_global_polytopes() > 0 && handler.n_dofs() > 0,
                ExcMessage("PolytopicAssembler needs degrees of freedom: call "
                           "agglomerate() and distribute_dofs() of the "
                           "AgglomerationHandler first."));
    implementation->on_all_processes([&]() {
      if (data.backend == Backend::cuda)
        {
#ifndef TESSELLA_HAVE_CUDA
          AssertThrow(false,
                      ExcMessage("This build of Tessella has no CUDA backend: "
                                 "take the host backend, or build with "
                                 "-DTESSELLA_WITH_CUDA=ON."));
#endif
          AssertThrow(cuda_is_available(),
                      ExcMessage(why_cuda_is_unavailable() +
                                 " Please take the backend host or "
                                 "automatic."));
        }
    });
    // Host and device agree up to rounding only, so all processes use the same
    // backend.
    if (implementation->n_processes > 1)
      {
        AssertThrow(data.strategy == AssemblyStrategy::block_rows,
                    ExcMessage("The assembly strategy " + name(data.strategy) +
                               " runs on one process only: use the strategy " +
                               name(AssemblyStrategy::block_rows) + "."));
        if (Utilities::MPI::min(implementation->backend == Backend::cuda ? 1
                                                                         : 0,
                                implementation->communicator) == 0)
          implementation->backend = Backend::host;
      }
    AssertThrow(data.strategy == AssemblyStrategy::block_rows ||
                  implementation->backend == Backend::cuda,
                ExcMessage(
                  "The assembly strategy " + name(data.strategy) +
                  " runs on a CUDA device only: take the backend cuda on "
                  "a machine that has one, or the strategy " +
                  name(AssemblyStrategy::block_rows) + "."));
#ifdef TESSELLA_HAVE_CUDA
    if (implementation->backend == Backend::cuda)
      {
        if (implementation->n_processes > 1 || data.device >= 0)
          implementation->report.device =
            choose_cuda_device(implementation->communicator, data.device);
        const unsigned int n_processes =
          internal::n_processes_on_machine(implementation->communicator);
        try
          {
            implementation->on_all_processes([&]() {
              // Estimate with eight blocks per row (seven neighbours).
              implementation->cuda.start(
                8 * sizeof(double) *
                  handler.polytopic_mesh().dof_offset[handler.n_polytopes()] *
                  static_cast<std::size_t>(handler.max_dofs_per_polytope()),
                n_processes);
            });
          }
        catch (const ExceptionBase &)
          {
            if (data.backend != Backend::automatic)
              throw;
            implementation->backend = Backend::host;
          }
        if (implementation->n_processes > 1 &&
            implementation->backend == Backend::cuda)
          {
            implementation->on_same_device =
              internal::processes_on_device(implementation->communicator);
            implementation->devices_are_shared =
              Utilities::MPI::max(static_cast<unsigned int>(
                                    implementation->on_same_device.size()),
                                  implementation->communicator) > 1;
            implementation->report.n_processes_on_device =
              implementation->on_same_device.size();
          }
      }
#endif
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



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  void
  PolytopicAssembler<dim>::reinit(TrilinosWrappers::SparseMatrix &matrix)
  {
    const Timer timer;
    AssertThrow(
      implementation->handler->n_dofs() <=
        static_cast<std::uint64_t>(
          std::numeric_limits<TrilinosWrappers::types::int_type>::max()),
      ExcMessage("There are " +
                 std::to_string(implementation->handler->n_dofs()) +
                 " degrees of freedom, more than this deal.II can count in "
                 "Trilinos: configure it with 64-bit indices."));
    implementation->on_all_processes([&]() {
      TrilinosBlockMatrix::check_size(implementation->get_sparsity(),
                                      implementation->dof_offset);
    });
#  ifdef TESSELLA_HAVE_CUDA
    // Most of the work below runs on one thread.
    const std::future<void> mesh_sent = implementation->send_mesh();
#  endif
    TrilinosBlockMatrix::reinit(matrix,
                                implementation->get_sparsity(),
                                implementation->dof_offset,
                                implementation->communicator,
                                implementation->ghost_columns);
#  ifdef TESSELLA_HAVE_CUDA
    if (mesh_sent.valid())
      mesh_sent.wait();
#  endif
    implementation->report.structure_time = timer.wall_time();
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::reinit(TrilinosWrappers::MPI::Vector &vector)
  {
    const PolytopicSpace<dim> &handler = *implementation->handler;
    vector.reinit(handler.locally_owned_dofs(), implementation->communicator);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::reinit(TrilinosWrappers::SparseMatrix &matrix,
                                  TrilinosWrappers::MPI::Vector  &rhs)
  {
    reinit(matrix);
    reinit(rhs);
  }
#endif



  template <int dim>
  void
  PolytopicAssembler<dim>::reinit(SparsityPattern      &pattern,
                                  SparseMatrix<double> &matrix,
                                  Vector<double>       &rhs)
  {
    implementation->reinit(pattern, matrix, rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::reinit(SparsityPattern     &pattern,
                                  SparseMatrix<float> &matrix,
                                  Vector<float>       &rhs)
  {
    implementation->reinit(pattern, matrix, rhs);
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicAssembler<dim>::reinit(DeviceBlockMatrix<Number> &matrix)
  {
    implementation->reinit_block_matrix(matrix);
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicAssembler<dim>::reinit(DeviceVector<Number> &vector)
  {
    vector.reinit(implementation->handler->locally_owned_dofs(),
                  implementation->communicator);
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicAssembler<dim>::reinit(DeviceBlockMatrix<Number> &matrix,
                                  DeviceVector<Number>      &rhs)
  {
    reinit(matrix);
    reinit(rhs);
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicAssembler<dim>::reinit(HostBlockMatrix<Number> &matrix)
  {
    implementation->reinit_block_matrix(matrix);
  }



  template <int dim>
  template <typename Number, typename VectorType>
  void
  PolytopicAssembler<dim>::reinit(HostBlockMatrix<Number> &matrix,
                                  VectorType              &rhs)
  {
    reinit(matrix);
    if constexpr (std::is_same<VectorType, Vector<Number>>::value)
      {
        implementation->check_one_process("dealii::Vector");
        rhs.reinit(matrix.m());
      }
    else
      rhs.reinit(implementation->handler->locally_owned_dofs(),
                 implementation->communicator);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::set_penalty(const PenaltyParameters &penalty)
  {
    implementation->data.penalty = penalty;
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  void
  PolytopicAssembler<dim>::assemble(const Form<dim>                &form,
                                    TrilinosWrappers::SparseMatrix &matrix,
                                    TrilinosWrappers::MPI::Vector  &rhs)
  {
    implementation->template assemble<double>(form, &matrix, &rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_matrix(
    const Form<dim> &form, TrilinosWrappers::SparseMatrix &matrix)
  {
    implementation->template assemble<double>(
      form, &matrix, static_cast<TrilinosWrappers::MPI::Vector *>(nullptr));
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_rhs(const Form<dim>               &form,
                                        TrilinosWrappers::MPI::Vector &rhs)
  {
    implementation->template assemble<double>(
      form, static_cast<TrilinosWrappers::SparseMatrix *>(nullptr), &rhs);
  }
#endif



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble(const Form<dim>      &form,
                                    SparseMatrix<double> &matrix,
                                    Vector<double>       &rhs)
  {
    implementation->template assemble<double>(form, &matrix, &rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_matrix(const Form<dim>      &form,
                                           SparseMatrix<double> &matrix)
  {
    implementation->template assemble<double>(
      form, &matrix, static_cast<Vector<double> *>(nullptr));
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_rhs(const Form<dim> &form,
                                        Vector<double>  &rhs)
  {
    implementation->template assemble<double>(
      form, static_cast<SparseMatrix<double> *>(nullptr), &rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble(const Form<dim>     &form,
                                    SparseMatrix<float> &matrix,
                                    Vector<float>       &rhs)
  {
    implementation->template assemble<float>(form, &matrix, &rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_matrix(const Form<dim>     &form,
                                           SparseMatrix<float> &matrix)
  {
    implementation->template assemble<float>(
      form, &matrix, static_cast<Vector<float> *>(nullptr));
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::assemble_rhs(const Form<dim> &form,
                                        Vector<float>   &rhs)
  {
    implementation->template assemble<float>(
      form, static_cast<SparseMatrix<float> *>(nullptr), &rhs);
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicAssembler<dim>::assemble(const Form<dim>           &form,
                                    DeviceBlockMatrix<Number> &matrix,
                                    DeviceVector<Number>      &rhs)
  {
    implementation->template assemble<Number>(form, &matrix, &rhs);
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicAssembler<dim>::assemble_matrix(const Form<dim>           &form,
                                           DeviceBlockMatrix<Number> &matrix)
  {
    implementation->template assemble<Number>(
      form, &matrix, static_cast<DeviceVector<Number> *>(nullptr));
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicAssembler<dim>::assemble_rhs(const Form<dim>      &form,
                                        DeviceVector<Number> &rhs)
  {
    implementation->template assemble<Number>(
      form, static_cast<DeviceBlockMatrix<Number> *>(nullptr), &rhs);
  }



  template <int dim>
  template <typename Number, typename VectorType>
  void
  PolytopicAssembler<dim>::assemble(const Form<dim>         &form,
                                    HostBlockMatrix<Number> &matrix,
                                    VectorType              &rhs)
  {
    implementation->template assemble<Number>(form, &matrix, &rhs);
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicAssembler<dim>::assemble_matrix(const Form<dim>         &form,
                                           HostBlockMatrix<Number> &matrix)
  {
    implementation->template assemble<Number>(
      form, &matrix, static_cast<Vector<Number> *>(nullptr));
  }



  template <int dim>
  std::vector<double>
  PolytopicAssembler<dim>::penalty(const Form<dim> &form) const
  {
    form.prepare();
    return *implementation->prepare(form).sigma;
  }



  template <int dim>
  const AssemblyReport &
  PolytopicAssembler<dim>::report() const
  {
    return implementation->report;
  }



  template class PolytopicAssembler<2>;
  template class PolytopicAssembler<3>;
  template class PolytopicAssembler<4>;

#define INSTANTIATE_VECTOR(dim, Number, VectorType)                          \
  template void PolytopicAssembler<dim>::reinit(HostBlockMatrix<Number> &,   \
                                                VectorType &);               \
  template void PolytopicAssembler<dim>::assemble(const Form<dim> &,         \
                                                  HostBlockMatrix<Number> &, \
                                                  VectorType &);

#define INSTANTIATE(dim, Number)                                               \
  template void PolytopicAssembler<dim>::reinit(HostBlockMatrix<Number> &);    \
  INSTANTIATE_VECTOR(dim, Number, Vector<Number>)                              \
  INSTANTIATE_VECTOR(dim, Number, LinearAlgebra::distributed::Vector<Number>)  \
  INSTANTIATE_VECTOR(dim, Number, HostVector<Number>)                          \
  template void PolytopicAssembler<dim>::assemble_matrix(                      \
    const Form<dim> &, HostBlockMatrix<Number> &);                             \
  template void PolytopicAssembler<dim>::reinit(DeviceBlockMatrix<Number> &);  \
  template void PolytopicAssembler<dim>::reinit(DeviceVector<Number> &);       \
  template void PolytopicAssembler<dim>::reinit(DeviceBlockMatrix<Number> &,   \
                                                DeviceVector<Number> &);       \
  template void PolytopicAssembler<dim>::assemble(const Form<dim> &,           \
                                                  DeviceBlockMatrix<Number> &, \
                                                  DeviceVector<Number> &);     \
  template void PolytopicAssembler<dim>::assemble_matrix(                      \
    const Form<dim> &, DeviceBlockMatrix<Number> &);                           \
  template void PolytopicAssembler<dim>::assemble_rhs(const Form<dim> &,       \
                                                      DeviceVector<Number> &);

  INSTANTIATE(2, double)
  INSTANTIATE(2, float)
  INSTANTIATE(3, double)
  INSTANTIATE(3, float)
  INSTANTIATE(4, double)
  INSTANTIATE(4, float)
#ifdef TESSELLA_HAVE_EPETRA
  INSTANTIATE_VECTOR(4, double, TrilinosWrappers::MPI::Vector)
  INSTANTIATE_VECTOR(2, double, TrilinosWrappers::MPI::Vector)
  INSTANTIATE_VECTOR(3, double, TrilinosWrappers::MPI::Vector)
#endif
#undef INSTANTIATE
#undef INSTANTIATE_VECTOR
} // namespace Tessella
