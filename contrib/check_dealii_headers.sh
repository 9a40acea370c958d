#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Checks the syntax of all sources with the headers of a deal.II other than the
# installed one.
#
#   contrib/check_dealii_headers.sh HEADERS [CMAKE_OPTION...] [-- SOURCE...]
#
# HEADERS is a folder, or an archive of one that tar can read, with the headers
# of a configured deal.II in include/ and of its bundled packages in bundled/.
# deal.II must have been configured with the MPI, Trilinos, ... that are
# installed here. Compiler flags and all other headers are those of the
# installed deal.II. The options are passed to CMake: -DTESSELLA_WITH_EPETRA=OFF
# checks a build without Epetra, -DCMAKE_CXX_FLAGS=-std=c++20 another standard.
# SOURCE is a file to check, relative to the folder of the project; by default
# all sources of library, programs and tests are checked.
#
# Tests that need a package which that deal.II does not have are left out.
# Nothing is linked or run. A warning counts as a failure. The last line is the
# number of files that passed; the exit status is 0 if and only if all did.

set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

[ $# -gt 0 ] || fail "the first argument must be a folder or an archive with" \
  "the headers of a configured deal.II."
headers=$1
shift
cmake_options=()
wanted=()
while [ $# -gt 0 ]; do
  if [ "$1" = -- ]; then
    shift
    wanted=("$@")
    break
  fi
  [[ $1 = -D* ]] ||
    fail "$1 is not an option of CMake's; names of sources follow \"--\"."
  cmake_options+=("$1")
  shift
done

folder=$(mktemp -d) || fail "there is no room for a temporary folder."
trap 'rm -rf "$folder"' EXIT

# ---- headers
[ -e "$headers" ] || fail "there is no $headers."
if [ -f "$headers" ]; then
  mkdir "$folder/headers"
  tar xf "$headers" -C "$folder/headers" ||
    fail "$headers cannot be unpacked: see tar's message above."
  headers=$folder/headers
fi
config=$(find "$(cd "$headers" && pwd)" -path '*/include/deal.II/base/config.h')
[ -n "$config" ] || fail "$1 contains no include/deal.II/base/config.h, which" \
  "deal.II's CMake writes."
[ "$(wc -l <<<"$config")" -eq 1 ] ||
  fail "there are several deal.II in $headers: name the folder of one."
headers=${config%/include/deal.II/base/config.h}
version=$(sed -n 's/^#define DEAL_II_PACKAGE_VERSION "\(.*\)"/\1/p' "$config")

# ---- the command that compiles each source
generator=(-G Ninja)
command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
cmake -S "$root" -B "$folder/build" "${generator[@]}" \
  -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DTESSELLA_PRECOMPILED_HEADERS=OFF \
  -DTESSELLA_UNITY_BUILD=OFF \
  "${cmake_options[@]}" >"$folder/configure.log" 2>&1 || {
  cat "$folder/configure.log" >&2
  fail "the configuration failed: see CMake's message above."
}
# Each line has the name of a source, a tabulator, and the command that compiles
# it, without options for output files and with the other deal.II before all
# other headers. A precompiled header needs the same flags everywhere, so -fPIC
# and tessella_EXPORTS, which do not affect the syntax, are removed.
sed -n '
  s/^ *"command": "\(.*\)",*$/\1/
  t command
  s/^ *"file": "\(.*\)",*$/\1/
  t file
  b
  :command
  s/\\\(.\)/\1/g
  s/ -o [^ ]*//
  s/ -c [^ ]*//
  s/ -Dtessella_EXPORTS / /
  s/ -fPIC / /
  s! ! -isystem '"$headers/include"' -isystem '"$headers/bundled"' -isystem '"$headers/bundled/magic_enum"' !
  h
  b
  :file
  G
  s/\n/\t/
  p' "$folder/build/compile_commands.json" |
  grep "^$root/" | sort -u -t "$(printf '\t')" -k 1,1 >"$folder/commands"
# lacks_package SOURCE: whether SOURCE is a test all of whose outputs need a
# package, as in name.with_petsc=on.output, that this deal.II does not have.
lacks_package() {
  local output package missing=false
  for output in "$root/${1%.cc}".*output; do
    [ -e "$output" ] || return 1
    missing=false
    for package in $(grep -o 'with_[a-z0-9]*=on' <<<"${output##*/}" |
      sed 's/with_//; s/=on//; s/^epetra$/trilinos/' | tr a-z A-Z); do
      grep -q "^#define DEAL_II_WITH_$package$" "$config" || missing=true
    done
    $missing || return 1
  done
  $missing
}
sources=()
commands=()
while IFS=$'\t' read -r source command; do
  name=${source#"$root"/}
  if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then
    continue
  fi
  if lacks_package "$name"; then
    echo "not checked, for deal.II $version lacks a package: $name"
    continue
  fi
  sources+=("$name")
  commands+=("$command")
done <"$folder/commands"
[ ${#sources[@]} -gt 0 ] || fail "there is nothing to check."
[ ${#wanted[@]} -eq 0 ] || [ ${#sources[@]} -eq ${#wanted[@]} ] ||
  fail "of the sources ${wanted[*]}, CMake compiles only ${sources[*]}."

# ---- a precompiled header for the most common flags, without the macros of
# tests, which no header of deal.II reads
flags() {
  sed 's/ -DSOURCE_DIR=[^ ]*//; s/ -DTESTING_ENVIRONMENT=[^ ]*//; s/  */ /g'
}
common=$(cut -f 2 "$folder/commands" | flags | sort | uniq -c | sort -n |
  tail -1 | sed 's/^ *[0-9]* //')
sed -n 's/^ *\(<[a-zA-Z_./]*>\))*$/#include \1/p' \
  "$root/cmake/tessella_precompiled_headers.cmake" >"$folder/common.h"
# An empty header would pass unnoticed.
[ -s "$folder/common.h" ] ||
  fail "no header is named in cmake/tessella_precompiled_headers.cmake."
if ! (eval "$common -x c++-header -o '$folder/common.h.gch'" \
  "'$folder/common.h'") >"$folder/common.log" 2>&1 ||
  [ -s "$folder/common.log" ]; then
  cat "$folder/common.log" >&2
  fail "the headers of deal.II $version alone cannot be compiled."
fi

# ---- the check
check() {
  local index=$1
  local log=$folder/$index.log precompiled=()
  if [ "$(flags <<<"${commands[$index]}")" = "$common" ]; then
    precompiled=(-Winvalid-pch -include "'$folder/common.h'")
  fi
  if (eval "${commands[$index]}" "${precompiled[@]}" -fsyntax-only \
    "'$root/${sources[$index]}'") >"$log" 2>&1 && [ ! -s "$log" ]; then
    touch "$folder/$index.passed"
  else
    # One call prints everything, because other files are checked at the same
    # time.
    printf '%s\n' "FAILED: ${sources[$index]}" "$(cat "$log")"
  fi
}

jobs=$(nproc)
for index in "${!sources[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
    wait -n
  done
  check "$index" &
done
wait

passed=$(find "$folder" -maxdepth 1 -name '*.passed' | wc -l)
echo "deal.II $version: $passed of ${#sources[@]} files passed."
[ "$passed" -eq ${#sources[@]} ]
