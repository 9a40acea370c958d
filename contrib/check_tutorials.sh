#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Builds and runs the tutorials from an installed Tessella, and compares what each
# of them prints with the results in its README.md.
#
#   contrib/check_tutorials.sh [--update] [--keep FOLDER] PREFIX [STEP...]
#
# PREFIX is where Tessella is installed, and STEP a number (all ten without one).
# Numbers must agree to two per cent, or to 0.03 in rates and counts below 30;
# words must be the same. A program that runs for more than 30 seconds is an
# error. With --update the results are written into README.md instead. FOLDER
# keeps programs and their files; otherwise they are removed.

set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
fail() {
  echo "check_tutorials.sh: $*" >&2
  exit 1
}

update=false folder= time_limit=30
while [[ ${1:-} == --* ]]; do
  case $1 in
    --update) update=true ;;
    --keep)
      [ $# -gt 1 ] || fail "--keep needs a folder."
      mkdir -p "$2"
      folder=$(realpath "$2")
      shift
      ;;
    *) fail "there is no option $1." ;;
  esac
  shift
done
[ $# -gt 0 ] || fail "the folder where Tessella is installed is missing."
[ -d "$1" ] || fail "there is no folder $1."
prefix=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 1 2 3 4 5 6 7 8 9 10
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -r "$folder"' EXIT
fi

for step; do
  name=step-$step
  source=$root/tutorials/$name
  [ -f "$source/$name.cc" ] || fail "there is no tutorial $step."
  mkdir -p "$folder/$name"
  cd "$folder/$name"
  { cmake -S "$source" -B . "-DCMAKE_PREFIX_PATH=$prefix" ${CMAKE_FLAGS:-} &&
    cmake --build .; } > build.log 2>&1 ||
    { cat build.log; fail "$name could not be built."; }
  begin=$(date +%s.%N)
  status=0
  timeout $time_limit "./$name" > output.txt 2> errors.txt || status=$?
  seconds=$(awk "BEGIN { print $(date +%s.%N) - $begin }")
  [ $status -ne 124 ] || fail "$name runs for more than $time_limit seconds."
  [ $status -eq 0 ] || { cat errors.txt; fail "$name ended with $status."; }
  if $update; then
    awk -v output=output.txt '
      $0 == "```text" { print; while ((getline line < output) > 0) print line
                        skip = 1; next }
      skip && $0 == "```" { skip = 0 }
      !skip { print }' "$source/README.md" > README.new
    cp README.new "$source/README.md"
    echo "$name: results written, $seconds s"
    continue
  fi
  awk '$0 == "```text" { inside = 1; next } $0 == "```" { inside = 0 }
       inside { print }' "$source/README.md" > expected.txt
  [ -s expected.txt ] || fail "README.md of $name has no results."
  awk -v expected=expected.txt '
    function is_number(text) {
      return text ~ /^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$/
    }
    function size(x) { return x < 0 ? -x : x }
    {
      if ((getline line < expected) <= 0)
        line = "(nothing)"
      n = split(line, wanted)
      bad = n != NF
      for (i = 1; i <= NF && !bad; ++i)
        if (is_number($i) && is_number(wanted[i])) {
          difference = size($i - wanted[i])
          allowed = 0.02 * size(wanted[i])
          if (size(wanted[i]) < 30 && size(wanted[i]) > 0.1 && allowed < 0.03)
            allowed = 0.03
          bad = difference > allowed
        }
        else
          bad = $i != wanted[i]
      if (bad) {
        print "line " NR " is\n  " $0 "\ninstead of\n  " line
        failed = 1
      }
    }
    END {
      if ((getline line < expected) > 0) {
        print "the line\n  " line "\nis missing"
        failed = 1
      }
      exit failed
    }' output.txt || fail "the results of $name are not those of its README.md."
  echo "$name: passed, $seconds s"
done
