#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# full_disk.sh DIRECTORY LIMITS LAUNCHER... -- PROGRAM ARGUMENT...
#
# Runs LAUNCHER PROGRAM ARGUMENT..., which writes its files to the folder
# results: first without a limit, then with files of at most LIMITS kB (several
# values separated by blanks), and, if this user can mount one, with results on
# a disk of 64 kB. If a limit is smaller than a file, the program must
#   - end with the exit status 1,
#   - print exactly one message, with the file and the reason,
#   - leave each file either as it was, or as it is without a limit.
# Dates and times may differ, so numbers are not compared.

set -u
directory=$1
limits=$2
shift 2
launcher=()
while [ "$1" != -- ]; do
  launcher+=("$1")
  shift
done
shift
name=$(basename "$1")
# Files in shared memory are limited, too, so processes must not use them.
export OMPI_MCA_btl=self,tcp

fail() {
  echo "$1"
  echo "---- output and errors"
  cat output errors
  exit 1
}

no_numbers() {
  sed -E 's/[-+]?[0-9][-+.0-9e:]*/0/g; s/ +/ /g' "$1"
}

# check CASE REASON: checks a run whose exit status is in $status.
check() {
  [ "$status" -eq 1 ] || fail "$1: exit status $status instead of 1"
  local said
  said=$(grep -c "^$name: " errors)
  [ "$said" -eq 1 ] || fail "$1: $said sentences instead of one"
  grep -q "^$name: .*\"results/[^\"]*\".* ($2)" errors ||
    fail "$1: neither the file nor '$2' is named"
  ! grep -qE "Additional information|The violated condition" errors ||
    fail "$1: a paragraph of deal.II"
  local file
  for file in $(find results -type f | sort); do
    cmp -s "$file" "before/${file#results/}" ||
      cmp -s <(no_numbers "$file") <(no_numbers "../whole/$file") ||
      fail "$1: $file, of $(stat -c %s "$file") bytes, is not whole"
  done
}

rm -rf "$directory"
mkdir -p "$directory/whole"
cd "$directory/whole" || exit 1
"${launcher[@]}" "$@" >output 2>errors || fail "without a limit: exit status $?"
largest=$(find results -type f -printf '%s\n' | sort -n | tail -n 1)
all=$(find results -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')

for limit in $limits; do
  [ "$largest" -gt $((1024 * limit)) ] ||
    fail "no file has more than $limit kB: take a larger problem"
  mkdir "../$limit" && cd "../$limit" || exit 1
  cp -r ../whole/results before
  find before -type f -exec sh -c 'echo earlier > "$1"' sh {} \;
  cp -r before results
  "${launcher[@]}" bash -c 'ulimit -f "$0" && exec "$@"' "$limit" "$@" \
    >output 2>errors
  status=$?
  check "$limit kB a file" "File too large"
done

[ "$all" -gt 65536 ] || exit 0
mkdir -p ../disk && cd ../disk || exit 1
mkdir results before
if ! unshare -m --propagation private mount -t tmpfs -o size=64k none results \
  2>/dev/null; then
  echo "No disk of 64 kB: only root may mount one."
  exit 0
fi
# The mount is visible only in its own namespace.
export -f fail check no_numbers
export name status
unshare -m --propagation private bash -c '
  mount -t tmpfs -o size=64k none results || exit 1
  "$@" >output 2>errors
  status=$?
  check "a disk of 64 kB" "No space left on device"' \
  bash "${launcher[@]}" "$@"
