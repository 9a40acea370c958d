#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds everything and runs all tests.
#
#   contrib/check.sh
#
# Installs missing packages first (Debian or Ubuntu, with apt-get, through sudo
# unless run by root). Builds in the folder build/ (or $BUILD_DIR); run again, it
# builds only what has changed. Can be run from anywhere. About 15 minutes on two
# cores the first time. The exit status is 0 if and only if all is well.

set -u
. "$(dirname "$0")/common.sh"
build=${BUILD_DIR:-$root/build}

need_packages $packages_to_build numdiff perl openmpi-bin gmsh
# The layout of code depends on clang-format's version: 14 is Debian 12's.
if ! command -v clang-format-14 >/dev/null &&
  apt-cache show clang-format-14 >/dev/null 2>&1; then
  need_packages clang-format-14
fi

failures=()

say "Formatting (clang-format 14)"
clang_format=
for candidate in clang-format-14 clang-format; do
  if [ -z "$clang_format" ] &&
    $candidate --version 2>/dev/null | grep -q 'version 14\.'; then
    clang_format=$candidate
  fi
done
if [ -z "$clang_format" ]; then
  formatting="not checked, there is no clang-format 14 here"
else
  formatting=passed
  mapfile -d '' sources < <(cd "$root" &&
    find include source cuda applications tests \
      \( -name '*.h' -o -name '*.cc' -o -name '*.cu' \) -print0 2>/dev/null |
    sort -z)
  for file in "${sources[@]}"; do
    if ! (cd "$root" && "$clang_format" --dry-run --Werror "$file") \
      >/dev/null 2>&1; then
      echo "  $file"
      formatting="FAILED: run $clang_format -i on the files named above"
    fi
  done
  [ "$formatting" = passed ] || failures+=("formatting")
fi
echo "$formatting"

jobs=$(number_of_jobs)
say "Configuring and building (Release, $jobs jobs)"
configure "$build" -DCMAKE_BUILD_TYPE=Release -DTESSELLA_BUILD_TESTS=ON \
  -DTESSELLA_BUILD_APPLICATIONS=ON
cmake --build "$build" -j "$jobs" --target all test_programs ||
  fail "the build failed: see the compiler's message above."
build_time=$((SECONDS - start_time))

say "Tests"
(cd "$build" && ctest -j "$jobs" --output-on-failure --no-tests=error) ||
  failures+=("tests, see above and $build/Testing/Temporary/LastTest.log")
test_time=$((SECONDS - start_time - build_time))

say "Summary"
echo "formatting  $formatting"
echo "build       passed, $build_time s with packages and formatting"
if [[ "${failures[*]:-}" == *tests* ]]; then
  echo "tests       FAILED, $test_time s"
else
  echo "tests       passed, $test_time s"
fi
if [ ${#failures[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failures[@]}"
  exit 1
fi
echo "All is well."
