#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Checks an installed Tessella as its user meets it, with documents, tutorials and
# meshes beside this script: in a clone, or in the folder where they are installed.
#
#   contrib/check_installed.sh [--keep FOLDER] PREFIX
#
# Builds the program of README.md from the text of README.md alone and runs it;
# builds and runs all tutorials by contrib/check_tutorials.sh. Then makes mistakes:
# a missing and a broken mesh, a missing, unknown or wrong parameter, a folder that
# cannot be written (not by root, who can write any), a full disk. Each of these
# must end with status 1 and one sentence, and leave files complete or not at all, as
# must Ctrl-C at several times. FOLDER keeps programs and their files.

set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
failures=0
fail() {
  echo "check_installed.sh: $*" >&2
  exit 1
}
bad() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

folder=
if [ "${1:-}" = --keep ]; then
  [ $# -gt 1 ] || fail "--keep needs a folder."
  mkdir -p "$2"
  folder=$(realpath "$2")
  shift 2
fi
[ $# -eq 1 ] || fail "the folder where Tessella is installed is missing."
[ -d "$1" ] || fail "there is no folder $1."
prefix=$(realpath "$1")
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'chmod -R u+w "$folder" && rm -r "$folder"' EXIT
fi
meshes=$root/parameter_files/meshes
# Processes of Open MPI must not use files in shared memory, which would be limited,
# too.
export OMPI_MCA_btl=self,tcp
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# block LANGUAGE: prints the first block of this language in README.md.
block() {
  awk -v begin="\`\`\`$1" '$0 == begin { inside = 1; next }
    inside && $0 == "```" { exit } inside { print }' "$root/README.md"
}

# complete FILE: whether a file that a program has written has its end. A checkpoint
# has the size of that of the whole run.
complete() {
  case $1 in
    *.vtu | *.pvd) tail -c 200 "$1" | grep -q '</VTKFile>' ;;
    *.svg) tail -c 100 "$1" | grep -q '</svg>' ;;
    *) [ "$(stat -c %s "$1")" -eq "$(stat -c %s "$whole/$1")" ] ;;
  esac
}

# only_complete CASE: checks the files of the current folder.
only_complete() {
  local file
  while read -r file; do
    case $file in
      *.part*) bad "$1: the temporary file $file remains" ;;
      *) complete "$file" || bad "$1: $file is not complete" ;;
    esac
  done < <(find . -type f)
}

# one_sentence CASE STATUS ERRORS: checks how a program has ended after a mistake.
# The line of step-9 that says where it runs is no error.
one_sentence() {
  local lines
  lines=$(grep -v '^On ' "$3" | grep -c . || true)
  if [ "$2" -ne 1 ] || [ "$lines" -ne 1 ]; then
    bad "$1: status $2 and $lines lines on the error stream"
    cat "$3"
  else
    echo "  $1: $(cut -c 1-150 "$3")"
  fi
}

# mistake CASE PROGRAM ARGUMENT...: runs in a new folder, which stays empty.
mistake() {
  local case=$1 status=0 here=$folder/mistake
  shift
  rm -rf "$here"
  mkdir "$here"
  (cd "$here" && "$@" >../output 2>../errors) || status=$?
  one_sentence "$case" $status "$folder/errors"
  [ -z "$(ls -A "$here")" ] || bad "$case: files remain: $(ls "$here")"
}

# spoil NAME PROGRAM SECONDS FILE...: runs a program that has run for SECONDS and
# written FILES where it cannot write, on a full disk, and with Ctrl-C.
spoil() {
  local name=$1 program=$2 seconds=$3 status part here=$folder/spoilt
  shift 3
  rm -rf "$here"
  mkdir "$here"
  cd "$here"
  if [ "$(id -u)" -ne 0 ] && [ $# -gt 0 ]; then
    chmod a-w .
    status=0
    "$program" >../output 2>../errors || status=$?
    chmod u+w .
    one_sentence "$name, folder read-only" $status ../errors
  fi
  if [ $# -gt 0 ] && [ -n "$(find "${@/#/$whole/}" -maxdepth 0 -size +2)" ]; then
    # Files of at most 1 kB stand for a full disk; pipes and the files of mpiexec are
    # not limited. It has messages of its own about the end of a program.
    mpiexec -np 1 bash -c 'trap "" XFSZ; ulimit -f 1 && exec "$0"' "$program" 2>&1 >/dev/null |
      cat >../all_errors
    status=${PIPESTATUS[0]}
    grep "^$name: " ../all_errors >../errors || cp ../all_errors ../errors
    one_sentence "$name, disk full" "$status" ../errors
    only_complete "$name, disk full"
  fi
  for part in 0.3 0.6 0.95; do
    set -m # otherwise programs in the background ignore SIGINT
    "$program" >../output 2>../errors &
    set +m
    sleep "$(awk "BEGIN { print $part * $seconds }")"
    kill -s INT $! 2>/dev/null || true
    status=0
    wait $! || status=$?
    # It may have ended before; then it has written all files.
    [ $status -eq 130 ] || [ $status -eq 0 ] ||
      bad "$name, Ctrl-C after $part of its time: status $status"
    only_complete "$name, Ctrl-C after $part of its time"
    rm -f ./*
  done
  echo "  $name, Ctrl-C: files complete or absent"
  cd "$folder"
}

say() { printf '\n==== %s\n' "$*"; }

say "Program of README.md"
mkdir -p "$folder/poisson"
cd "$folder/poisson"
block cpp >poisson.cc
block cmake >CMakeLists.txt
cp "$meshes/square.msh" .
cmake -S . -B build "-DCMAKE_PREFIX_PATH=$prefix" ${CMAKE_FLAGS:-} >build.log 2>&1 &&
  cmake --build build >>build.log 2>&1 ||
  { cat build.log; fail "the program of README.md could not be built."; }
./build/poisson || fail "the program of README.md has failed."
complete solution.vtu || bad "solution.vtu of README's program is not complete"

say "Tutorials"
# Files of an earlier run in FOLDER would change what the tutorials write.
rm -rf "$folder/tutorials"
bash "$root/contrib/check_tutorials.sh" --keep "$folder/tutorials" "$prefix" |
  tee "$folder/tutorials.txt"
[ "${PIPESTATUS[0]}" -eq 0 ] || fail "a tutorial has failed."

say "Mistakes with the program of README.md"
cd "$folder"
head -c 1000 "$meshes/square.msh" >short.msh
echo "This is no mesh." >text.msh
mistake "README's program, mesh missing" "$folder/poisson/build/poisson" missing.msh
mistake "README's program, mesh cut off" "$folder/poisson/build/poisson" ../short.msh
mistake "README's program, text as a mesh" "$folder/poisson/build/poisson" ../text.msh

say "Mistakes with the tutorials"
while read -r -u 3 name _ seconds _; do
  name=${name%:}
  whole=$folder/tutorials/$name
  mapfile -t files < <(cd "$whole" && ls | grep -E '\.(vtu|pvd|svg|checkpoint)$' || true)
  spoil "$name" "$whole/$name" "$seconds" ${files[@]+"${files[@]}"}
done 3<"$folder/tutorials.txt" # programs may read the standard input

say "Mistakes with the programs"
n_programs=0
for page in "$prefix"/share/man/man1/*.1*; do
  name=$(basename "${page%.1*}")
  program=$prefix/bin/$name
  # Manual pages of others may be in the same folder, and their programs may do
  # anything.
  gzip -cdf "$page" | head -n 1 | grep -qi tessella || continue
  "$program" --version </dev/null | grep -q '(Tessella)' ||
    bad "$name does not say its version"
  n_programs=$((n_programs + 1))
  [ -f "$prefix/share/bash-completion/completions/$name" ] ||
    bad "$name has no completion"
  [ "$name" = tessella_info ] ||
    mistake "$name, no such parameter file" "$program" missing.prm
done
[ $n_programs -gt 0 ] || bad "no programs are installed"
cd "$folder"
study=$root/parameter_files/changing_type.prm
mistake "parameter that does not exist" "$prefix/bin/convergence_study" \
  --set "Mesh/Nothing=1" "$study"
mistake "parameter with a wrong value" "$prefix/bin/convergence_study" \
  --set "Discretisation/Degree=two" "$study"
mistake "mesh that does not exist" "$prefix/bin/convergence_study" \
  --set "Mesh/Files=missing.msh" "$study"

[ $failures -eq 0 ] || fail "$failures checks have failed."
say "All is well."
