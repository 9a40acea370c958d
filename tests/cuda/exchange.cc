// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Exchange of entries in device memory between processes: directly between the
// devices, through the hosts, and in both ways at once. Argument: direct, host
// or mixed. Returns 77 if the case cannot run on this machine, 1 if an entry is
// wrong.

#include <tessella/device/cuda_device.h>

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

  // Every process sends its entries from 7 on, backwards, to the next process,
  // and the odd ones of the first half to the last process, which sends nothing
  // to the first one in return.
  template <typename Number>
  class Case
  {
  public:
    Case(const unsigned int size, const unsigned int rank, const unsigned int n)
      : n(n)
      , rank(rank)
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
    }

    void
    start(const unsigned int step)
    {
      std::vector<Number> values(n);
      for (unsigned int i = 0; i < n; ++i)
        values[i] = value(rank, i, step);
      x.assign(values);
      exchange->start(x.data());
      this->step = step;
    }

    // Number of wrong entries.
    unsigned int
    finish()
    {
      const Number *const received = exchange->finish();
      std::vector<Number> values(expected.size());
      device_call([&] {
        Device::VectorOperations<Number>::download(values.size(),
                                                   received,
                                                   values.data());
      });
      unsigned int result = 0;
      for (unsigned int g = 0; g < values.size(); ++g)
        result +=
          values[g] != value(expected[g].first, expected[g].second, step);
      return result;
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
      return static_cast<Number>(1000 * rank + i) + Number(.25) * (step % 1000);
    }

    const unsigned int                                 n, rank;
    unsigned int                                       step = 0;
    std::vector<std::pair<unsigned int, unsigned int>> expected;
    DeviceSpaceArray<Number>                           x;
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

  // Two exchanges that overlap, of different sizes and types.
  Case<double> first(size, rank, 5000);
  Case<float>  second(size, rank, 301);
  unsigned int n_wrong = 0;
  for (unsigned int step = 0; step < 200; ++step)
    {
      first.start(step);
      if (step % 3 == 0)
        n_wrong += first.finish();
      second.start(step + 1);
      if (step % 3 != 0)
        n_wrong += first.finish();
      n_wrong += second.finish();
    }
  // Memory of exchanges that are gone is used again.
  for (unsigned int step = 0; step < 20; ++step)
    {
      Case<double> other(size, rank, 100 * (step % 7 + 1));
      other.start(step);
      n_wrong += other.finish();
      first.start(step);
      n_wrong += first.finish();
    }
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
  if (name == "direct" && n_direct == 0)
    return n_wrong == 0 ? 77 : 1;
  return n_wrong == 0 && n_direct == (name == "host"    ? 0
                                      : name == "mixed" ? 2
                                                        : n_partners)
           ? 0
           : 1;
}
