#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Makes the pictures of the tutorials from what contrib/check_tutorials.sh has left.
#
#   contrib/check_tutorials.sh --keep FOLDER PREFIX
#   contrib/make_tutorial_pictures.sh FOLDER
#
# Needs Python.

set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ -d "${1:-}" ] || { echo "make_tutorial_pictures.sh: give the folder of" \
  "contrib/check_tutorials.sh --keep." >&2; exit 1; }
folder=$(realpath "$1")
cd "$root/tutorials"

for picture in metis rtree rings; do
  cp "$folder/step-1/$picture.svg" step-1/
done
cp "$folder/step-9/polyhedra.svg" step-9/
for step in 2 4 5 6 8; do
  python3 "$root/contrib/make_picture.py" "$folder/step-$step/solution.vtu" \
    "$folder/step-$step/polytopes.vtu" step-$step/solution.png 400
done
python3 "$root/contrib/make_picture.py" \
  "$(ls "$folder"/step-10/solution-*.vtu | tail -n 1)" \
  "$folder/step-10/polytopes.vtu" step-10/solution.png 400

# plot STEP X Y FILE: curves of the columns Y, numbers from 1, against column X
# for each entry of column 1, of the lines that begin with a number.
plot() {
  python3 - "$@" <<'PYTHON'
import sys
step, x, ys, picture = sys.argv[1:5]
sys.path.insert(0, sys.argv[5])
import tessella_results
rows = [line.split() for line in open(step, encoding="utf-8")]
rows = [row for row in rows if row and row[0].isdigit()]
curves = []
for first in dict.fromkeys(row[0] for row in rows):
    for y in ys.split(","):
        column, label = y.split(":")
        chosen = [row for row in rows if row[0] == first]
        curves.append(("p = %s, %s" % (first, label),
                       [float(row[int(x) - 1]) for row in chosen],
                       [float(row[int(column) - 1]) for row in chosen]))
with open(picture, "w", encoding="utf-8") as file:
    file.write(tessella_results.svg(curves, "unknowns", sys.argv[6]))
PYTHON
}
# The other tables of step-3 have the degrees 1..2, or the penalty first.
awk '$1 ~ /^[123]$/ && NF == 7' "$folder/step-3/output.txt" > "$folder/rates.txt"
plot "$folder/rates.txt" 3 4:L2 step-3/rates.svg "$root/contrib/python" error
plot "$folder/step-7/output.txt" 3 4:Jacobi,5:multigrid step-7/iterations.svg \
  "$root/contrib/python" iterations
ls -l step-*/*.png step-*/*.svg
