// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_device_device_graph_h
#define tessella_device_device_graph_h

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /// Numbers of runs of a DeviceGraph by their kind.
  struct DeviceGraphReport
  {
    /// Calls of run() that recorded a graph, started a recorded one, and called
    /// the work directly.
    unsigned int n_recorded = 0, n_replayed = 0, n_direct = 0;
    /// Kernels and copies of the present graph.
    unsigned int n_operations = 0;
    /// Why the work was not recorded, as part of a sentence ("it contains a
    /// scalar product ..."); empty if nothing prevented it.
    std::string why;
  };

  /**
   * Work of a CUDA device as a CUDA graph: many short kernels and copies that
   * are started by one call, so that the device does not wait for the host
   * between them.
   *
   *     DeviceGraph graph;
   *     for (unsigned int i = 0; i < n_steps; ++i)
   *       graph.run({address(u.begin()), bits(dt)},
   *                 [&]() { method.step(derivative, 0., dt, u); });
   *
   * The work consists of kernels and copies on the device that operations of
   * DeviceVector, DeviceBlockMatrix, MatrixFreeOperator, PointwiseOperator, and
   * the preconditioners and Multigrid of a device start. The first run with a
   * key calls it directly, which also allocates what it needs; the second one
   * records it; further ones start the graph.
   *
   * <b>Key.</b> A graph keeps the addresses and numbers with which its kernels
   * were recorded, while values in device memory are those of the time of the
   * run. The key therefore has the addresses of all vectors that the work uses,
   * the revisions of matrices (BlockMatrixBase::revision()), and numbers such
   * as the length of a time step. A different key makes the graph stale: run()
   * begins again with a direct call. So does another current device.
   *
   * <b>What cannot be recorded</b>: results that the host needs (scalar
   * products, norms), copies from and to the host, exchange with other
   * processes, allocation and release of memory, assembly. run() then calls the
   * work directly, each time, and report().why has the reason. Since recording
   * calls the work a second time, code of the host in it must allow that; a
   * graph contains nothing of it.
   *
   * Results have the same bits in all cases, because the kernels, their
   * arguments and their order are the same.
   *
   * Inside the work of another DeviceGraph, run() calls its work directly, and
   * the outer graph records it. Other threads may use the device at the same
   * time. Cost: recording is worth it from a few repetitions on; the host
   * starts a graph by one call.
   *
   * Errors: exceptions of the work, after which the default stream can be used
   * and the next run() begins again; without a device the work is called
   * directly.
   */
  class DeviceGraph
  {
  public:
    using Key = std::vector<std::uint64_t>;

    /// If @p enabled is false, the work is always called directly.
    explicit DeviceGraph(const bool enabled = true);
    ~DeviceGraph();

    /// Does @p work; see above.
    void
    run(const Key &key, const std::function<void()> &work);

    /// Discards the graph.
    void
    clear();

    const DeviceGraphReport &
    report() const;

    // ---- entries of keys
    static std::uint64_t
    address(const void *pointer);
    static std::uint64_t
    bits(const double number);

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
