#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# check_generations.sh SOURCE FOLDER: tests that contrib/check.sh compiles
# kernels for the devices of the machine, to PTX of one generation without
# optimisation if there is none, and for the value of CUDAARCHS. cmake is
# replaced by a script that prints CUDAARCHS and CUDAFLAGS and fails, so that
# nothing is built.

set -u
source=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/bin"

stand_in() {
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
stand_in cmake 'echo "CUDAARCHS=$CUDAARCHS$CUDAFLAGS"; exit 1'
stand_in clang-format-14 'echo "clang-format version 14."'
stand_in dpkg-query 'echo "install ok installed"'

failures=0
# expect GENERATIONS CAPABILITIES [VARIABLE=VALUE]: CAPABILITIES is the output
# of nvidia-smi for the devices of the machine.
expect() {
  local generations=$1
  stand_in nvidia-smi "printf '$2'"
  local said
  said=$(env -u CUDAARCHS -u CUDAFLAGS PATH="$folder/bin:$PATH" \
    BUILD_DIR="$folder/build" BUILD_TYPES=Release ${3:-A=} "$source/contrib/check.sh" 2>&1 | grep '^CUDAARCHS=')
  if [ "$said" = "CUDAARCHS=$generations" ]; then
    echo "$generations: ok"
  else
    echo "FAILED: \"$said\" instead of $generations"
    failures=$((failures + 1))
  fi
}
expect '75-virtual -Xcicc -O0' ''
expect '75-virtual -Xcicc -O0' 'No devices were found\n'
expect '75-real;90-real' '9.0\n7.5\n9.0\n'
expect 80-real '9.0\n' CUDAARCHS=80-real
exit $failures
