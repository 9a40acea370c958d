#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Shows that a change of the library's structure does not change its results.
#
#   contrib/record_results.sh record FILE [cuda]    before the change
#   contrib/record_results.sh compare FILE [cuda]   after it
#
# Builds the program record_results in build/ (or $BUILD_DIR), which assembles
# some hundred small problems (all kinds of meshes, degrees 0 to 10, hp, hanging
# nodes, periodic and curved meshes, constant and variable coefficients, cell
# values, expressions, slabs, hybridizable dG, errors and estimators; every
# instruction set of the processor, or with "cuda" both precisions of a device),
# prints a checksum of each, and writes all values to FILE (300 MB) or compares
# them with it. One minute without the build. The last line counts the cases that
# have the same bits; the exit status of "compare" is 0 if all others differ by
# less than 1e-14 of the largest entry of the block row.
#
# Results depend on the processor's instructions and on the compiler: both calls
# must run on the same machine.

set -u
arguments=("$@")
set --
. "$(dirname "$0")/common.sh"
build=${BUILD_DIR:-$root/build}
case "${arguments[0]:-}" in
  record | compare) ;;
  *) fail "the first argument is \"record\" or \"compare\"." ;;
esac
[ ${#arguments[@]} -ge 2 ] || fail "the second argument is the name of a file."

configure "$build" -DCMAKE_BUILD_TYPE=Release -DTESSELLA_BUILD_APPLICATIONS=ON \
  >/dev/null || fail "the configuration failed: run contrib/check.sh."
cmake --build "$build" -j "$(number_of_jobs)" --target record_results >&2 ||
  fail "the build failed: see the compiler's message above."
exec "$build/record_results" "${arguments[@]}"
