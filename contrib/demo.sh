#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Demo: from a mesh file to the solution of a polytopic dG problem.
#
#   contrib/demo.sh
#
# Creates unstructured triangular meshes with gmsh, groups their triangles into
# polygons with METIS, solves a Poisson problem on them with polynomials of
# degree 1, ..., 4, and shows that the L2 errors decrease with order p + 1. The
# problem is defined in parameter_files/demo.prm.
#
# Installs missing packages first (Debian or Ubuntu, with apt-get, through sudo
# unless run by root). Builds only what it needs in the folder build/ (or
# $BUILD_DIR); results are written to demo-output/. The script can be run from
# any folder, and repeatedly. The first run needs less than 10 minutes on two
# cores.

set -u
. "$(dirname "$0")/common.sh"
build=${BUILD_DIR:-$root/build}
output=$root/demo-output

need_packages $packages_to_build gmsh

say "Meshes"
"$root/contrib/make_meshes.sh" studies || fail "no meshes."

jobs=$(number_of_jobs)
say "Configuring and building (Release, $jobs jobs)"
# A first build leaves CUDA out: the demo needs no device, and kernels need most
# of the compile time. contrib/check.sh switches CUDA on again.
cuda=()
[ -f "$build/CMakeCache.txt" ] || cuda=(-DTESSELLA_WITH_CUDA=OFF)
configure "$build" -DCMAKE_BUILD_TYPE=Release "${cuda[@]}"
cmake --build "$build" -j "$jobs" --target convergence_study ||
  fail "the build failed: see the compiler's message above."

say "Solving (parameter_files/demo.prm)"
mkdir -p "$output"
cd "$root" || exit 1
"$build/convergence_study" --set "Output/Directory=$output" \
  parameter_files/demo.prm || fail "the program failed: see its message above."

say "Order of convergence in L2"
# Rates on the finest mesh; columns of demo.csv are found by their names.
awk -F, '
  NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
  { rate[$column["degree"]] = $column["L2_rate"] }
  END {
    for (p = 1; p <= 4; ++p) {
      good = (rate[p] > p + 0.75)
      printf "  p = %d: %.2f%s\n", p, rate[p], good ? "" : "  NOT p + 1"
      bad += !good
    }
    exit bad > 0
  }' "$output/demo.csv" || fail "the order is not p + 1 for every degree."

say "Results in $output"
(cd "$output" && ls -1 *.svg *.txt *.csv *.tex *.vtu 2>/dev/null | sed 's/^/  /')
echo "Pictures to open in a browser: *.svg; in ParaView: *.vtu."
