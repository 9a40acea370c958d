// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_base_dimensions_h
#define tessella_source_base_dimensions_h

/// Expands to INSTANTIATE(dim) for all dimensions of meshes: 2 and 3 in space,
/// 3 and 4 in space and time.
#define TESSELLA_FOR_DIMENSIONS(INSTANTIATE) \
  INSTANTIATE(2)                             \
  INSTANTIATE(3)                             \
  INSTANTIATE(4)

#endif
