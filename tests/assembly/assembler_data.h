// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_assembly_assembler_data_h
#define tessella_tests_assembly_assembler_data_h

#include <tessella/assembly/polytopic_assembler.h>

#include <cstddef>

/// Data of an assembler on a backend. @p memory: limit on a device in bytes, or
/// 0 for no limit.
template <int dim>
typename Tessella::PolytopicAssembler<dim>::AdditionalData
on(const Tessella::Backend backend, const std::size_t memory = 0)
{
  typename Tessella::PolytopicAssembler<dim>::AdditionalData data;
  data.backend       = backend;
  data.device_memory = memory;
  return data;
}

#endif
