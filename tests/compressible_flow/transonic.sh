#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# transonic.sh PROGRAM SOURCE DIRECTORY: transonic flow around an aerofoil by P1P2 with
# and without the weights of WENO (transonic.prm of the folder SOURCE).
#
# The pressure of the upper side between 0.4 and 0.9 chord:
#  - The shock is where the flow becomes subsonic. On fine meshes of this program and in
#    the literature it is at 0.62 (parameter_files/flow_naca_0012_transonic.prm). Cells
#    are 0.08 long there, so that it may be off by half a cell.
#  - In front of the shock -C_p is 1.13 at most, but for the cell of the shock, whose
#    polynomial overshoots: by 0.25 at most, a fifth of the rise of C_p in the shock.
#  - C_p rises monotonically but for a little re-expansion behind the shock. The sum of all its
#    changes is above the rise by the jumps between cells and the over- and undershoots:
#    by 1.25 at most, about the rise.
# Without the weights both bounds are violated.

program=$1 source=$2 directory=$3
rm -rf "$directory"
mkdir -p "$directory" && cd "$directory" || exit 1

# run NAME RECONSTRUCTION
run()
{
  "$program" --set "Output/Name=$1" --set "Steady/Reconstruction=$2" \
    --set "Steady/Maximum steps=80" "$source/transonic.prm" > "$1.log" 2>&1
}

# measure NAME: last supersonic point, largest -C_p, sum of changes less the rise.
measure()
{
  awk -F, 'NR > 1 && $2 > 0 && $1 >= 0.4 && $1 <= 0.9 {
      if (n++) { d = $3 - last; sum += d < 0 ? -d : d } else { first = $3; least = $3 }
      if ($4 > 1) shock = $1
      if ($3 < least) least = $3
      last = $3 }
    END { printf "%.4f %.4f %.4f\n", shock, -least, sum - (last - first) }' \
    "$1-0-p1-surface.csv"
}

holds() { awk "BEGIN { exit !($1) }"; }

run weno weno || { echo "The run with WENO fails:"; cat weno.log; exit 1; }
read -r shock suction variation <<< "$(measure weno)"
echo "WENO: shock at $shock, -C_p up to $suction, excess of the variation $variation"
holds "$shock >= 0.58 && $shock <= 0.66" || { echo "The shock is elsewhere."; exit 1; }
holds "$suction <= 1.38" || { echo "The pressure overshoots."; exit 1; }
holds "$variation <= 1.25" || { echo "The pressure oscillates."; exit 1; }

if ! run plain quadratic; then
  grep -q "has not converged" plain.log && { echo "P1P2 does not converge."; exit 0; }
  cat plain.log
  exit 1
fi
read -r shock suction variation <<< "$(measure plain)"
echo "P1P2: shock at $shock, -C_p up to $suction, excess of the variation $variation"
holds "$suction > 1.38 && $variation > 1.25" ||
  { echo "P1P2 without the weights is as good: the test shows nothing."; exit 1; }
