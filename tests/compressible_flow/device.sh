#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Compressible flow on a CUDA device against the host. Usage:
#
#     device.sh PROGRAM FOLDER DIRECTORY
#
# Runs PROGRAM, compressible_flow, on parameter files of FOLDER in DIRECTORY: explicit
# and implicit methods, Euler and Navier-Stokes equations, a sensor, a restart and a
# limiter. The forces on the boundary, integrals of pressure and stress with twelve
# digits, must agree at all times, and two runs on the device must write the same
# checkpoints. Steady runs with LU-SGS, ILU(0) and multigrid, with reconstructions, viscosity,
# float and in three dimensions must have the same tables, but for the numbers of iterations, and
# three processes the table of one. Exit status 77 without a device.
set -u
program=$1 folder=$2 directory=$3
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory" || exit 1
failures=0

fail()
{
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# run NAME FILE BACKEND SETTING...
run()
{
  local name=$1 file=$2 backend=$3 setting arguments=()
  shift 3
  for setting in "Mesh/Levels=1" "Output/Directory=." "Output/Name=$name" \
      "Output/Solution=false" "Execution/Backend=$backend" "$@"; do
    arguments+=(--set "$setting")
  done
  "${launcher[@]}" "$program" --quiet "${arguments[@]}" "$folder/$file" > "$name.log" 2>&1
}
launcher=()

# compare NAME DEGREE FILE SETTING...: a run of the host, and two of the device.
compare()
{
  local name=$1 degree=$2 file=$3
  shift 3
  set -- "Time/Checkpoint every=2" "Discretisation/Degree=$degree" "$@"
  run "$name-host" "$file" host "$@" || fail "$name on the host"
  for repetition in 1 2; do
    run "$name-$repetition" "$file" cuda "$@" || { fail "$name on the device"
      tail -3 "$name-$repetition.log"; return; }
  done
  # Differences of all numbers relative to the largest one of the file.
  paste -d, "$name-host-0-p$degree-history.csv" "$name-1-0-p$degree-history.csv" |
    awk -F, -v name="$name" 'NR == 1 { n = NF / 2; next }
      { lines++
        for (i = 1; i <= n; ++i) {
          d = $i - $(i + n); if (d < 0) d = -d; if (d > largest) largest = d
          a = $i < 0 ? -$i : $i; if (a > size) size = a } }
      END { printf "%s: %d times, difference %.1e of %.3g\n", name, lines, largest, size
            exit !(lines > 1 && largest <= 2e-12 * size) }' ||
    fail "$name: host and device differ"
  cmp "$name-1-0-p$degree.checkpoint" "$name-2-0-p$degree.checkpoint" ||
    fail "$name: bits"
}

# compare_steady NAME FILE SETTING...: the tables of host and device.
compare_steady()
{
  local name=$1 file=$2 backend
  shift 2
  for backend in host cuda; do
    run "$name-$backend" "$file" $backend "$@" || { fail "$name on $backend"
      tail -3 "$name-$backend.log"; return; }
  done
  # Rounding may change the last iterations of a solver.
  for backend in host cuda; do
    awk -F'|' '/\| iterations/ { for (i = 1; i <= NF; ++i)
                 if ($i ~ /^ *iterations *$/) skip = i }
      { line = ""; for (i = 1; i <= NF; ++i) if (i != skip) line = line "|" $i
        print line }' "$name-$backend.txt" > "$name-$backend.table"
  done
  cmp "$name-host.table" "$name-cuda.table" ||
    { fail "$name: tables"; cat "$name-host.txt" "$name-cuda.txt"; return; }
  echo "$name: $(grep -c '^| [0-9]' "$name-cuda.txt") runs, the same table"
}

run probe vortex.prm cuda "Discretisation/Degree=0" "Flow/Tick=0"
# Messages have line breaks.
if tr -s ' \n' ' ' < probe.log |
    grep -q "no CUDA device\|no CUDA backend\|without CUDA\|CUDA driver"; then
  echo "There is no CUDA device."
  exit 77
fi

forces="Forces/Boundary ids=0"
compare explicit 2 vortex.prm "$forces"
compare surface 2 vortex.prm "$forces" "Flow/Wave speeds=surface"
compare viscous 2 vortex.prm "$forces" "Flow/Reynolds number=50"
compare ssp 1 vortex.prm "$forces" "Time/Method=ssp" "Time/Order=3" \
  "Agglomeration/Method=rtree" "Agglomeration/Cells per polytope=3" \
  "Discretisation/Polynomial space=total degree"
for method in sdirk bdf; do
  compare $method 1 vortex_implicit.prm "$forces" "Time/Method=$method" \
    "Newton/Tolerance=1e-13" "Newton/Linear tolerance=1e-8" "Flow/Tick=0.25"
done
compare matrix_free 1 vortex_implicit.prm "$forces" "Newton/Jacobian=matrix-free" \
  "Newton/Tolerance=1e-13" "Newton/Linear tolerance=1e-8" "Flow/Tick=0.25" \
  "Flow/Reynolds number=50"
compare sensor 2 vortex.prm "$forces" "Shock capturing/Sensor=persson-peraire" \
  "Shock capturing/Threshold=-6" "Shock capturing/Width=6"
for jacobian in matrix matrix-free; do
  compare sensor_$jacobian 1 vortex_implicit.prm "$forces" "Newton/Jacobian=$jacobian" \
    "Newton/Tolerance=1e-13" "Newton/Linear tolerance=1e-8" "Flow/Tick=0.25" \
    "Flow/Reynolds number=50" "Shock capturing/Sensor=persson-peraire" "Shock capturing/Threshold=-6" \
    "Shock capturing/Width=6"
done

# A restart on the device continues the history, and ends with the same bits.
set -- "$forces" "Flow/Wave speeds=surface" "Time/Checkpoint every=2"
run part vortex.prm cuda "$@" "Time/Stop after=11" || fail "run with a stop"
run part vortex.prm cuda "$@" "Time/Restart from=part-0-p2.checkpoint" ||
  fail "restart"
run whole vortex.prm cuda "$@" || fail "whole run"
cmp part-0-p2.checkpoint whole-0-p2.checkpoint || fail "bits after a restart"
cmp part-0-p2-history.csv whole-0-p2-history.csv || fail "history after a restart"

# Limiters are applied on the device. Slopes of linear functions are limited everywhere,
# and change continuously with rounding errors.
compare limiter 2 vortex.prm "$forces" "Flow/Positivity=true"
compare slopes 1 vortex.prm "$forces" "Limiter/Slopes=tvb" "Flow/Positivity=true"

exact=("Flow/Numerical flux=hllc" "Steady/Jacobian=exact" "Steady/Ordering=colors")
compare_steady lusgs steady.prm "${exact[@]}" "Steady/Solver=gmres lu-sgs"
compare_steady ilu0 steady.prm "${exact[@]}" "Steady/Solver=gmres ilu0"
# The solution of the first degree is a start, which is solved here as well.
compare_steady multigrid multigrid.prm "${exact[@]}" "Steady/Start tolerance=1e-10"
compare_steady reconstruction reconstruction.prm "${exact[@]}"
compare_steady weno weno.prm "${exact[@]}"
compare_steady sweeps steady.prm "${exact[@]}" "Steady/Solver=lu-sgs" "Steady/Sweeps=2" \
  "Discretisation/Degree=1" "Steady/Tolerance=1e-6"
compare_steady steady_viscous steady.prm "${exact[@]}" "Flow/Reynolds number=50"
compare_steady float steady.prm "${exact[@]}" "Steady/Single precision=true"
compare_steady space steady.prm "${exact[@]}" "Mesh/Dimension=3" "Mesh/Initial refinements=2" \
  "Discretisation/Degree=1"

# Processes that share the device have the table of one process.
if command -v mpirun > /dev/null; then
  launcher=(mpirun --oversubscribe -np 3)
  run lusgs-processes steady.prm cuda "${exact[@]}" "Steady/Solver=gmres lu-sgs" ||
    { fail "three processes"; tail -3 lusgs-processes.log; }
  launcher=()
  cmp lusgs-cuda.txt lusgs-processes.txt || fail "the table of three processes"
fi

# The check of the device's memory comes before the first matrix.
run small vortex_implicit.prm cuda "Execution/Device memory=0.001" &&
  fail "a run with too little memory"
tr -s ' \n' ' ' < small.log | grep -q "needs at least [0-9]* bytes" || { fail "memory"; tail -3 small.log; }

echo "$failures failures"
exit $((failures > 0))
