#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Compares the results of the library before and after a change of its
# structure.
#
#   contrib/record_results.sh record FILE [cuda]    before the change
#   contrib/record_results.sh compare FILE [cuda]   after it
#
# Builds the program record_results in build/ (or $BUILD_DIR). It assembles some
# hundred small problems: all kinds of meshes, degrees 0 to 10, hp, hanging
# nodes, periodic and curved meshes, constant and variable coefficients, cell
# values, expressions, slabs, hybridizable dG, errors and estimators; with every
# instruction set of the processor, or with "cuda" in both precisions of a
# device. It prints a checksum for each problem, and writes all values to FILE
# (300 MB) or compares them with it. This needs one minute without the build.
# The last line is the number of cases with identical bits. The exit status of
# "compare" is 0 if all other cases differ by less than 1e-14 of the largest
# entry of the block row.
#
# Results depend on the processor's instructions and on the compiler, so both
# calls must run on the same machine.

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
