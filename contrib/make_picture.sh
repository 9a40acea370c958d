#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Makes the picture of README.md, doc/images/l_shape.png: polygons of an L-shaped
# domain and the solution on them, with p = 2.
#
#   contrib/make_picture.sh [PICTURE.png]
#
# Needs the program convergence_study in build/ (or $BUILD_DIR) and Python.

set -e
cd "$(dirname "$0")/.."
build=$(realpath "${BUILD_DIR:-build}")
picture=$(realpath -m "${1:-doc/images/l_shape.png}")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# Names of mesh files in the parameter file are relative to its folder.
"$build/convergence_study" --set "Discretisation/Study=h" \
  --set "Discretisation/Degree=2" --set "Output/Directory=$folder" \
  parameter_files/l_shape_p_refinement.prm > "$folder/log" ||
  { cat "$folder/log"; exit 1; }
mkdir -p "$(dirname "$picture")"
python3 contrib/make_picture.py "$folder"/*-0-p2-solution.vtu \
  "$folder"/*-0-polytopes.vtu "$picture"
echo "Wrote $picture."
