#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Builds this tree and runs its tests with the deal.II of other releases of the
# distribution.
#
#   contrib/check_dealii_versions.sh [OPTION]... [SUITE]...
#
# A SUITE is a name that debootstrap knows, by default trixie (Debian 13) and
# unstable. For each suite debootstrap creates a root in build-versions/SUITE
# (or $VERSIONS_DIR/SUITE) from this machine's mirror; an existing root is
# updated and used again. In it contrib/check.sh builds the tracked and
# untracked files of this tree as Release, without CUDA, and runs all tests.
# This needs root's rights, and for each suite 6 GB on disk and 20 to 30 minutes
# on two cores.
#
# Options:
#   --debug          also the Debug build and its tests
#   --cxx20 SUITE    compile with -std=c++20 in that suite; may be repeated
#   --clean          build from scratch
#
# Prints a table with the compiler, the versions of deal.II and Trilinos, and
# the numbers of compiler warnings and of passed tests. The log of each suite is
# build-versions/SUITE.log. The exit status is 0 if and only if there are no
# warnings and no failures.

set -u
arguments=("$@")
set --
. "$(dirname "$0")/common.sh"
. "$root/contrib/roots.sh"

types=Release
clean=false
suites=()
cxx20=" "
set -- "${arguments[@]}"
while [ $# -gt 0 ]; do
  case $1 in
    --debug) types="Release Debug" ;;
    --clean) clean=true ;;
    --cxx20)
      [ $# -gt 1 ] || fail "--cxx20 needs the name of a suite."
      cxx20+="$2 "
      shift
      ;;
    -*) fail "there is no option '$1'; the options are explained at the" \
      "beginning of the file." ;;
    *) suites+=("$1") ;;
  esac
  shift
done
[ ${#suites[@]} -gt 0 ] || suites=(trixie unstable)
own_mounts CHECK_VERSIONS_INSIDE "${arguments[@]}"
folder=${VERSIONS_DIR:-$root/build-versions}
mkdir -p "$folder"
need_packages debootstrap

# check_suite SUITE: prints a row of the table.
check_suite() {
  local suite=$1 target=$folder/$1 flags=
  make_root "$suite" "$target" && enter_root "$target" || return 1
  in_root "$target" "apt-get update && apt-get install -y \
    --no-install-recommends $packages_to_build $packages_to_test" || return 1
  $clean && rm -rf "$target/tessella"
  copy_tree "$target/tessella" || return 1

  case $cxx20 in
    *" $suite "*) flags=-std=c++20 ;;
  esac
  in_root "$target" "cd /tessella && BUILD_TYPES='$types' CXXFLAGS='$flags' \
    contrib/check.sh"
}

rows=()
failed=0
for suite in "${suites[@]}"; do
  say "$suite: see $folder/$suite.log"
  log=$folder/$suite.log
  begin=$SECONDS
  check_suite "$suite" >"$log" 2>&1
  status=$?
  warnings=$(grep -c 'warning:' "$log")
  tests=$(sed -n 's/^.*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' \
    "$log" | awk '{ failed += $1; all += $2 }
      END { if (NR) printf "%d of %d", all - failed, all; else print "none" }')
  about() { in_root "$folder/$suite" "$1" 2>/dev/null | tail -1; }
  package() { about "dpkg-query -W -f '\${Version}\n' $1"; }
  compiler=$(about 'c++ -dumpfullversion')
  # That of the flags with which the build compiles; without one, the compiler's.
  flag=$(about "grep -oh -- '-std=[a-z0-9+]*' /tessella/build/build.ninja | sort -u")
  case $(about "c++ $flag -dM -E -x c++ /dev/null | sed -n 's/#define __cplusplus //p'") in
    201703L) standard=C++17 ;;
    202002L) standard=C++20 ;;
    *) standard="$flag" ;;
  esac
  [ "$status" -eq 0 ] && [ "$warnings" -eq 0 ] || failed=1
  rows+=("$(printf '| %s | g++ %s, %s | %s | %s | %s | %d | %s |' \
    "$(about '. /etc/os-release; echo $PRETTY_NAME')" "$compiler" "$standard" \
    "$(package 'libdeal.ii-dev')" "$(package 'libtrilinos-epetra-dev')" \
    "$(grep -q 'tests passed' "$log" && echo passed || echo FAILED)" \
    "$warnings" "$tests")")
  echo "  $(((SECONDS - begin) / 60)) minutes, exit status $status"
done

say "Versions"
cat <<'X'
| system | compiler | deal.II | Trilinos | build | warnings | tests passed |
| --- | --- | --- | --- | --- | --- | --- |
X
printf '%s\n' "${rows[@]}"
exit $failed
