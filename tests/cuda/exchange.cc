// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Exchange of entries in device memory between processes: directly between the
// devices, through the hosts, and in both ways at once. Argument: direct, host
// or mixed. Returns 77 if the case cannot run on this machine, 1 if an entry is
// wrong.

#include <tessella/device/cuda_device.h>
#include <tessella/device/device_graph.h>

#include <iostream>

#include "../../cuda/lac/vector.h"
#include "../../source/lac/block_space.h"
#include "../../source/lac/device_exchange.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;
using namespace Tessella::internal;

namespace
{
  struct Partner
  {
    unsigned int rank;
    std::size_t  first_row, last_row;
  };

  // Every process sends its entries from 7 on, backwards, to the next one, and
  // the first process the odd ones of the first half to the last one; between
  // other neighbors entries go in one direction only. Vectors of several steps
  // are on the device from the beginning, and results are looked at in the end,
  // so that processes do not wait for their devices in between.
  template <typename Number>
  class Case
  {
  public:
    static constexpr unsigned int n_steps = 40;

    Case(const unsigned int size, const unsigned int rank, const unsigned int n)
      : n(n)
    {
      std::vector<Partner>      to, from;
      std::vector<unsigned int> entries;
      for (unsigned int other = 0; other < size; ++other)
        {
          const std::vector<unsigned int> sent     = list(size, rank, other),
                                          received = list(size, other, rank);
          if (!sent.empty())
            to.push_back({other, entries.size(), entries.size() + sent.size()});
          entries.insert(entries.end(), sent.begin(), sent.end());
          if (!received.empty())
            from.push_back(
              {other, expected.size(), expected.size() + received.size()});
          for (const unsigned int i : received)
            expected.emplace_back(other, i);
        }
      exchange = std::make_unique<DeviceExchange<Number>>(
        MPI_COMM_WORLD, to, from, entries, expected.size());
      std::vector<Number> values;
      for (unsigned int step = 0; step < n_steps; ++step)
        for (unsigned int i = 0; i < n; ++i)
          values.push_back(value(rank, i, step));
      x.assign(values);
      result.assign(std::vector<Number>(n_steps * expected.size()));
    }

    void
    start(const unsigned int step)
    {
      exchange->start(x.data() + std::size_t(step) * n);
    }

    void
    finish(const unsigned int step)
    {
      const Number *const received = exchange->finish();
      device_call([&] {
        Device::VectorOperations<Number>::copy(
          expected.size(), received, result.data() + step * expected.size());
      });
    }

    // Number of wrong entries of all steps.
    unsigned int
    n_wrong()
    {
      std::vector<Number> values(n_steps * expected.size());
      device_call([&] {
        Device::VectorOperations<Number>::download(values.size(),
                                                   result.data(),
                                                   values.data());
      });
      unsigned int count = 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        {
          const auto &from = expected[i % expected.size()];
          count +=
            values[i] != value(from.first, from.second, i / expected.size());
        }
      // The next steps must write all entries again.
      result.assign(std::vector<Number>(values.size()));
      return count;
    }

    std::unique_ptr<DeviceExchange<Number>> exchange;

  private:
    std::vector<unsigned int>
    list(const unsigned int size,
         const unsigned int from,
         const unsigned int to) const
    {
      std::vector<unsigned int> result;
      if (to == (from + 1) % size && from != to)
        for (unsigned int i = n - 1; i >= 7; --i)
          result.push_back(i);
      else if (from == 0 && to == size - 1)
        for (unsigned int i = 1; i < n / 2; i += 2)
          result.push_back(i);
      return result;
    }

    static Number
    value(const unsigned int rank,
          const unsigned int i,
          const unsigned int step)
    {
      return static_cast<Number>(5000 * rank + i) + Number(.25) * (step + 1);
    }

    const unsigned int                                 n;
    std::vector<std::pair<unsigned int, unsigned int>> expected;
    DeviceSpaceArray<Number>                           x, result;
  };
} // namespace



int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  if (!cuda_is_available())
    return 77;
  choose_cuda_device(MPI_COMM_WORLD, -1);
  const unsigned int rank = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD),
                     size = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  const std::string name  = argc > 1 ? argv[1] : "direct";
  if (name == "host")
    peer_choice = [](const unsigned int, const unsigned int) { return false; };
  else if (name == "mixed")
    peer_choice = [](const unsigned int a, const unsigned int b) {
      return a + b == 1;
    };

  // Two exchanges that overlap, of different sizes and types. Copies let the
  // devices of some processes lag behind those of others.
  constexpr unsigned int   n_steps = Case<double>::n_steps;
  Case<double>             first(size, rank, 5000);
  Case<float>              second(size, rank, 301);
  DeviceSpaceArray<double> load, load_copy;
  const std::size_t        n_load = 4000000;
  load.assign(std::vector<double>(n_load));
  load_copy.assign(std::vector<double>(n_load));
  const auto lag = [&](const unsigned int step) {
    if ((step + rank) % 3 == 0)
      device_call([&] {
        Device::VectorOperations<double>::copy(n_load,
                                               load.data(),
                                               load_copy.data());
      });
  };
  unsigned int n_wrong = 0;
  for (unsigned int round = 0; round < 5; ++round)
    {
      for (unsigned int step = 0; step < n_steps; ++step)
        {
          first.start(step);
          if (step % 3 == 0)
            first.finish(step);
          second.start(step);
          lag(step);
          if (step % 3 != 0)
            first.finish(step);
          second.finish(step);
        }
      n_wrong += first.n_wrong() + second.n_wrong();
    }
  // Memory of exchanges that are gone is used again.
  for (unsigned int k = 1; k < 8; ++k)
    {
      Case<double> other(size, rank, 100 * k);
      for (unsigned int step = 0; step < n_steps; ++step)
        {
          other.start(step);
          lag(step);
          other.finish(step);
          first.start(step);
          first.finish(step);
        }
      n_wrong += other.n_wrong() + first.n_wrong();
    }
  // A graph cannot contain an exchange: after the attempt to record it, the
  // work is called directly.
  DeviceGraph graph;
  for (unsigned int step = 0; step < n_steps; ++step)
    {
      unsigned int n_calls = 0;
      graph.run({1}, [&]() {
        ++n_calls;
        first.start(step);
        lag(step);
        first.finish(step);
      });
      n_wrong += n_calls != (step == 1 ? 2 : 1);
    }
  n_wrong += first.n_wrong();
  const unsigned int n_direct =
                       Utilities::MPI::sum(first.exchange->n_direct_partners(),
                                           MPI_COMM_WORLD),
                     n_partners =
                       Utilities::MPI::sum(first.exchange->n_partners(),
                                           MPI_COMM_WORLD);
  n_wrong = Utilities::MPI::sum(n_wrong, MPI_COMM_WORLD);
  if (rank == 0)
    std::cout << n_wrong << " wrong entries, " << n_direct << " of "
              << n_partners << " connections are direct" << std::endl;
  if (name != "host" && n_direct == 0)
    return n_wrong == 0 ? 77 : 1;
  return n_wrong == 0 && n_direct == (name == "host"    ? 0
                                      : name == "mixed" ? 2
                                                        : n_partners)
           ? 0
           : 1;
}
