#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Builds everything and runs all tests.
#
#   contrib/check.sh
#
# Installs missing packages first (Debian or Ubuntu, with apt-get, through sudo
# unless run by root). Checks the formatting; builds library, programs and tests
# as Release in the folder build/ (or $BUILD_DIR), and the library with its
# tests as Debug in build-debug/, and runs the tests of both. A second run
# builds only files that have changed. The script can be run from any folder.
# The first run needs 24 to 60 minutes on two cores. The exit status is 0 if and
# only if every check has passed.
#
# Environment:
#   BUILD_DIR    folder of the Release build; that of Debug is BUILD_DIR-debug
#   BUILD_TYPES  "Release", "Debug" or both, the default
#   CUDAARCHS    architectures that kernels are compiled for, as in CMake;
#                default: those of this machine. If it has no device, kernels
#                are compiled to PTX for the oldest generation without optimisation,
#                which takes a sixth of the time (the tests
#                cuda/compute_capability_* compile the code that differs on later
#                generations), and the host code beside them with -O1, which takes
#                half the time of -O3

set -u
. "$(dirname "$0")/common.sh"
build=${BUILD_DIR:-$root/build}
types=${BUILD_TYPES:-Release Debug}
device_options=()
if [ -z "${CUDAARCHS:-}" ]; then
  CUDAARCHS=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader \
    2>/dev/null | grep -E '^[0-9]+\.[0-9]+$' | sort -u |
    sed 's/\.//; s/$/-real/' | paste -s -d ';' -)
  if [ -z "$CUDAARCHS" ]; then
    CUDAARCHS=75-virtual
    export CUDAFLAGS="${CUDAFLAGS:-} -Xcicc -O0"
    device_options=("-DCMAKE_CUDA_FLAGS_RELEASE=-O1 -DNDEBUG")
  fi
  export CUDAARCHS
fi

need_packages $packages_to_build $packages_to_test
# The layout of code depends on the version of clang-format; Debian 12 has 14.
if ! command -v clang-format-14 >/dev/null &&
  apt-cache show clang-format-14 >/dev/null 2>&1; then
  need_packages clang-format-14
fi
# GNU ld takes up to 20 seconds for a program or a group of tests, mold a fraction
# of one.
if apt-cache show mold >/dev/null 2>&1; then
  need_packages mold
fi
linker=()
if ${CXX:-c++} -fuse-ld=mold -x c++ -o /dev/null - <<<'int main() {}' 2>/dev/null; then
  for kind in EXE SHARED MODULE; do
    linker+=("-DCMAKE_${kind}_LINKER_FLAGS=${LDFLAGS:-} -fuse-ld=mold")
  done
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
  # One call for many files; an error names the file in front of a colon.
  if ! said=$(cd "$root" && printf '%s\0' "${sources[@]}" |
    xargs -0 -n 50 "$clang_format" --dry-run --Werror 2>&1); then
    sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: .*/  \1/p' <<<"$said" | sort -u
    formatting="FAILED: run $clang_format -i on the files named above"
  fi
  [ "$formatting" = passed ] || failures+=("formatting")
fi
echo "$formatting"

jobs=$(number_of_jobs)
# On few cores, large groups of files take least time, since each group loads the
# headers of deal.II and instantiates templates. The compiler needs up to 4 GB for
# one.
groups=()
if [ "$jobs" -le 4 ] &&
  [ "$(awk '/MemAvailable/ { print int($2 / 4000000) }' /proc/meminfo)" -ge "$jobs" ]; then
  groups=(-DTESSELLA_UNITY_BATCH_SIZE=24 -DTESSELLA_TEST_GROUP_SIZE=200000)
fi

# This concerns the tests that are not compiled in groups, see tests/groups.cmake.
# If the file interrupt_guard.cc of a test exists when the test begins, deal.II
# assumes that the last run was interrupted, and links the test again. After a
# run the file is called interrupt_guard.cc_bck. The files get their first name
# before a build and the second one after it, so that nothing is linked twice.
guards() {
  local folder=$1 from=$2 to=$3
  [ -d "$folder/tests" ] || return 0
  find "$folder/tests" -name "$from" | while read -r file; do
    mv "$file" "$(dirname "$file")/$to"
  done
}

# configure_type TYPE: configures the build of a type.
configure_type() {
  local options
  case $1 in
    Release)
      options=(-DTESSELLA_BUILD_APPLICATIONS=ON -DTESSELLA_WITH_CUDA=AUTO
        ${device_options[@]+"${device_options[@]}"})
      ;;
    # This build checks the assertions of the library and of deal.II, and that
    # everything works without CUDA.
    Debug)
      options=(-DTESSELLA_BUILD_APPLICATIONS=OFF -DTESSELLA_WITH_CUDA=OFF
        -DTESSELLA_DEBUG_SYMBOLS=OFF)
      ;;
  esac
  configure "$(folder_of "$1")" -DCMAKE_BUILD_TYPE="$1" \
    -DTESSELLA_BUILD_TESTS=ON ${groups[@]+"${groups[@]}"} \
    ${linker[@]+"${linker[@]}"} "${options[@]}"
}

folder_of() {
  case $1 in
    Release) echo "$build" ;;
    Debug) echo "$build-debug" ;;
  esac
}

# build_and_test TYPE
build_and_test() {
  local type=$1 folder begin=$SECONDS
  folder=$(folder_of "$type")
  say "$type: building with $jobs jobs in $folder"
  guards "$folder" interrupt_guard.cc_bck interrupt_guard.cc
  cmake --build "$folder" -j "$jobs" --target all test_programs ||
    fail "the build failed: see the compiler's message above."
  guards "$folder" interrupt_guard.cc interrupt_guard.cc_bck
  local built=$SECONDS
  say "$type: tests"
  local result=passed
  (cd "$folder" && ctest -j "$jobs" --output-on-failure --no-tests=error) ||
    result=FAILED
  summary+=("$(printf '%-8s build %4d s, tests %s in %d s' "$type" \
    $((built - begin)) $result $((SECONDS - built)))")
  [ $result = passed ] ||
    failures+=("$type tests, see $folder/Testing/Temporary/LastTest.log")
}

for type in $types; do
  [ -n "$(folder_of "$type")" ] ||
    fail "BUILD_TYPES has \"$type\", which is neither Release nor Debug."
done
# CMake works on one core.
say "Configuring: $types"
configurations=()
for type in $types; do
  configure_type "$type" &
  configurations+=($!)
done
for process in "${configurations[@]}"; do
  wait "$process" || exit 1
done

summary=()
for type in $types; do
  build_and_test "$type"
done

say "Summary"
echo "Formatting $formatting"
printf '%s\n' "${summary[@]}"
if [ ${#failures[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failures[@]}"
  exit 1
fi
echo "All is well."
