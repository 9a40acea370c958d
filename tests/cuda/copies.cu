// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Copies of lists to the device while its copy engine is busy with other data.
// A copy from memory that is not pinned may return before it arrives, and
// kernels in other streams could then read stale data.

#include "copies.h"

#ifdef TESSELLA_HAVE_CUDA
#  include <algorithm>
#  include <vector>

#  include "../../cuda/device/memory.h"

unsigned int
n_late_lists()
{
  using namespace Tessella::internal::Device;
  constexpr std::size_t size = std::size_t(1) << 28;
  Array<char>           target;
  Array<char, true>     source;
  target.resize(size);
  source.resize(size);
  const Stream busy, reader;
  unsigned int n_late = 0;
  for (const unsigned int n : {100u, 10000u, 1000000u})
    for (unsigned int repetition = 0; repetition < 4; ++repetition)
      {
        const std::vector<unsigned int> values(n, 4 * n + repetition);
        Array<unsigned int, true>       read;
        read.resize(n);
        for (unsigned int i = 0; i < 4; ++i)
          check(cudaMemcpyAsync(
                  target.data(), source.data(), size, cudaMemcpyDefault, busy),
                "a copy to the device");
        const Array<unsigned int> list(values);
        check(cudaMemcpyAsync(read.data(),
                              list.data(),
                              n * sizeof(unsigned int),
                              cudaMemcpyDefault,
                              reader),
              "a copy to the host");
        check(cudaStreamSynchronize(reader), "a copy to the host");
        n_late += !std::equal(values.begin(), values.end(), read.data());
        check(cudaStreamSynchronize(busy), "a copy to the device");
      }
  return n_late;
}



std::string
message_of_large_array()
{
  using namespace Tessella::internal::Device;
  try
    {
      Array<char> array;
      array.resize(std::size_t(1) << 45);
    }
  catch (const Error &error)
    {
      return error.what();
    }
  return "";
}
#endif
