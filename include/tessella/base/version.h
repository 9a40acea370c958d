// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_version_h
#define tessella_base_version_h

#include <tessella/base/config.h>

// Comparison of the version of the installed headers, for the preprocessor, as
// DEAL_II_VERSION_GTE does. The numbers are in tessella/base/config.h.

/// Whether this version of Tessella is @p major.@p minor.@p subminor or newer.
#define TESSELLA_VERSION_GTE(major, minor, subminor)                \
  ((TESSELLA_VERSION_MAJOR * 10000 + TESSELLA_VERSION_MINOR * 100 + \
    TESSELLA_VERSION_SUBMINOR) >= (major)*10000 + (minor)*100 + (subminor))

#endif
