#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Measures assembly on a CUDA device, for the figures behind BENCHMARKS.md.
#
#   contrib/benchmark_cuda.sh [OPTION]... [RUN]...
#
# Runs; all of them if none is named:
#   constant   a million DoFs for each p = 1 to 5 in 3-D with constant
#              coefficients; all strategies, kinds of matrices, and the host
#              (throughput_cuda.prm)
#   variable   the same with variable coefficients (throughput_cuda_variable.prm)
#   cells      block rows into a device matrix on other cells: quadrilaterals and
#              hexahedra, single ones and in polytopes, straight and distorted,
#              triangles in polygons of 12, tetrahedra in polyhedra of 30
#              (throughput_cuda.prm; about two minutes)
#   products   matrix-vector products on the device (vmult_cuda.prm; needs the
#              program matrix_vector_throughput beside assembly_throughput)
#   streaming  p = 3 of "constant" in 256 MiB of device memory
#   table4     503,632 triangles, in 8,337 polygons, in 125,981 polygons, and
#              not agglomerated (throughput_table4_*.prm); gmsh creates the mesh
#              if it does not exist
#   table6     1.57 million polyhedra (throughput_table6.prm)
#   scaling    weak and strong scaling over 1, 2, 4, ... devices, with one process
#              of 16 threads for each, and over host processes of one thread
#              (throughput_scaling_weak.prm, _strong.prm, _host.prm; mpirun)
#   slabs      a million DoFs for each p = 1 to 5 in a space-time slab
#              (throughput_space_time.prm)
#
# Options:
#   --quick           small meshes, to test that everything runs
#   --refinements N   refinements of the cubes of table6; default: 3, which
#                     needs about 60 GB on the host. Each refinement less makes
#                     the problem 8 times smaller
#   --program FILE    the program; default: $BUILD_DIR/assembly_throughput, or
#                     build/assembly_throughput
#   --output FOLDER   folder of the results; default: benchmark-output
#   --set "SECTION/NAME=VALUE"   passed on to assembly_throughput; may be repeated
#
# The output folder contains, for every parameter file, NAME.txt (tables),
# NAME.csv and NAME-kernels.csv, and NAME.log (the complete screen output). It
# also contains results.txt with a description of the machine, and the command
# and the tables of every run. A run that fails does not stop the others. The
# script can be run from any folder. The exit status is 0 if all runs
# succeeded.

set -u
root=$(cd "$(dirname "$0")/.." && pwd)
program=${BUILD_DIR:-$root/build}/assembly_throughput
output=$root/benchmark-output
quick=false
refinements=3
settings=()
runs=()

usage() {
  sed -n '3,/^$/{s/^# \{0,1\}//p}' "$0"
}

while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=true ;;
    --refinements | --program | --output | --set)
      if [ $# -lt 2 ]; then
        echo "benchmark_cuda.sh: $1 needs a value." >&2
        exit 1
      fi
      case $1 in
        --refinements) refinements=$2 ;;
        --program) program=$2 ;;
        --output) output=$2 ;;
        --set) settings+=(--set "$2") ;;
      esac
      shift
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    constant | variable | cells | products | streaming | table4 | table6 | scaling | slabs) runs+=("$1") ;;
    *)
      echo "benchmark_cuda.sh: there is no run or option '$1'." >&2
      usage >&2
      exit 1
      ;;
  esac
  shift
done
[ ${#runs[@]} -gt 0 ] || runs=(constant variable cells products streaming
  table4 table6 scaling slabs)
if [ ! -x "$program" ]; then
  echo "benchmark_cuda.sh: '$program' is not there: build the target" \
    "assembly_throughput, or name the program with --program." >&2
  exit 1
fi
mkdir -p "$output" || exit 1
output=$(cd "$output" && pwd)
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
cd "$root" || exit 1

results=$output/results.txt
{
  date -u '+%Y-%m-%d %H:%M UTC'
  echo "$(nproc) processors:$(sed -n 's/^model name[^:]*://p' /proc/cpuinfo |
    head -n 1)"
  command -v nvidia-smi >/dev/null &&
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
} >"$results"
failures=()
launcher=() # mpirun with its options, for several processes

# measure PROGRAM NAME PARAMETER_FILE OPTION...: runs PROGRAM; the names of its
# result files begin with NAME.
measure() {
  local program=$1 name=$2 file=$3 status start=$SECONDS
  shift 3
  local arguments=(--set "Output/Name=$name" --set "Output/Directory=$output"
    "$@" "parameter_files/$file")
  {
    printf '\n==== %s\n%s' "$name" "${launcher[*]:+${launcher[*]} }$(basename "$program")"
    printf ' %q' "${arguments[@]}"
    echo
  } | tee -a "$results"
  "${launcher[@]}" "$program" "${arguments[@]}" 2>&1 | tee "$output/$name.log"
  status=${PIPESTATUS[0]}
  cat "$output/$name.log" >>"$results"
  echo "($name: $((SECONDS - start)) s)"
  [ "$status" -eq 0 ] || failures+=("$name")
}

# run NAME PARAMETER_FILE OPTION...: runs assembly_throughput.
run() {
  local name=$1 file=$2
  shift 2
  measure "$program" "$name" "$file" --set "Benchmark/Threads=$(nproc)" "$@" \
    "${settings[@]}"
}

# scale N THREADS NAME PARAMETER_FILE OPTION...: runs assembly_throughput on N
# processes, each bound to as many processors as it has threads if there are
# enough of them.
scale() {
  local n=$1 threads=$2 name=$3 file=$4 processors
  shift 4
  processors=$(env -u OMP_NUM_THREADS nproc)
  launcher=(mpirun --bind-to none -np "$n")
  ((n * threads > processors)) ||
    launcher=(mpirun --map-by "slot:PE=$threads" --bind-to core -np "$n")
  measure "$program" "$name-$n" "$file" "$@" "${settings[@]}"
  launcher=()
}

# box CELLS N: generator arguments for [0, 1]^2 x [0, N], CELLS cells per unit
# length.
box() {
  echo "$1, $1, $(($1 * $2)) : 0, 0, 0 : 1, 1, $2 : false"
}

# cells NAME DIMENSION CELLS SIMPLICES PER_POLYTOPE DISTORTION DEGREES: block rows on
# polytopes of PER_POLYTOPE cells; CELLS squares or cubes a direction, divided into
# simplices or not.
cells() {
  local n=$3 method=matching
  $quick && n=$((n / 8))
  [ "$5" = 1 ] && method=none
  run "throughput_cuda_$1" throughput_cuda.prm --set "Mesh/Dimension=$2" \
    --set "Mesh/Generator arguments=$n : 0 : 1 : false" \
    --set "Mesh/Convert to simplices=$4" --set "Mesh/Distortion=$6" \
    --set "Agglomeration/Method=$method" \
    --set "Agglomeration/Cells per polytope=$5" \
    --set "Benchmark/Degrees of meshes=$7" --set "Benchmark/Backends=cuda" \
    --set "Benchmark/Strategies=block_rows" --set "Benchmark/Matrices=device"
}

cubes=()
if $quick; then
  cubes=(--set "Mesh/Generator arguments=8 : 0 : 1 : false | 6 : 0 : 1 : false |\
 5 : 0 : 1 : false | 4 : 0 : 1 : false | 3 : 0 : 1 : false")
fi

for what in "${runs[@]}"; do
  case $what in
    constant) run throughput_cuda throughput_cuda.prm "${cubes[@]}" ;;
    variable)
      run throughput_cuda_variable throughput_cuda_variable.prm "${cubes[@]}"
      ;;
    cells)
      cells quadrilaterals 2 250 false 1 0 "1, 2, 3, 4, 5"
      cells quadrilaterals_12 2 750 false 12 0 "1, 2, 3, 4, 5"
      cells triangles_12 2 260 true 12 0 "1, 2, 3, 4, 5"
      cells hexahedra 3 36 false 1 0 "1, 2, 3, 4"
      cells hexahedra_8 3 72 false 8 0 "1, 2, 3, 4"
      cells distorted_hexahedra_8 3 40 false 8 0.2 "1, 2, 3"
      cells tetrahedra_30 3 30 true 30 0 "1, 2, 3, 4"
      ;;
    products)
      measure "$(dirname "$program")/matrix_vector_throughput" vmult_cuda \
        vmult_cuda.prm "${cubes[@]}"
      ;;
    streaming)
      n=20 memory=256
      $quick && n=6 memory=16
      run throughput_cuda_streaming throughput_cuda.prm \
        --set "Mesh/Generator arguments=$n : 0 : 1 : false" \
        --set "Benchmark/Degrees of meshes=3" \
        --set "Benchmark/Strategies=block_rows" \
        --set "Benchmark/Matrices=trilinos" \
        --set "Execution/Device memory=$memory"
      ;;
    table4)
      mesh=meshes-output/oscillating_large.msh
      if $quick; then
        mesh=parameter_files/meshes/oscillating_coarse.msh
      elif [ ! -s $mesh ]; then
        contrib/make_meshes.sh large || {
          failures+=("mesh of table4")
          continue
        }
      fi
      for n in 8337 125981 none; do
        smaller=()
        $quick && [ $n != none ] &&
          smaller=(--set "Agglomeration/Number of polytopes=$((n / 1000))")
        run throughput_table4_$n throughput_table4_$n.prm \
          --set "Mesh/Files=$mesh" "${smaller[@]}"
      done
      ;;
    scaling)
      n_devices=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
      weak=(23 18) strong=(37 29) host=16
      $quick && weak=(3 2) strong=(4 3) host=3
      for ((n = 1; n <= n_devices || n == 1; n *= 2)); do
        scale "$n" 16 throughput_scaling_weak throughput_scaling_weak.prm \
          --set "Mesh/Generator arguments=$(box "${weak[0]}" "$n") | $(box "${weak[1]}" "$n")"
        scale "$n" 16 throughput_scaling_strong throughput_scaling_strong.prm \
          --set "Mesh/Generator arguments=$(box "${strong[0]}" 1) | $(box "${strong[1]}" 1)"
      done
      for ((n = 1; n <= $(env -u OMP_NUM_THREADS nproc) && n <= 16; n *= 2)); do
        scale "$n" 1 throughput_scaling_host throughput_scaling_host.prm \
          --set "Mesh/Generator arguments=$(box $host 1)"
      done
      ;;
    slabs)
      slabs=()
      $quick && slabs=(--set "Mesh/Generator arguments=12 : 0 : 1 : false |\
 10 : 0 : 1 : false | 8 : 0 : 1 : false | 6 : 0 : 1 : false |\
 4 : 0 : 1 : false")
      run throughput_space_time throughput_space_time.prm "${slabs[@]}"
      ;;
    table6)
      $quick && refinements=1
      run throughput_table6 throughput_table6.prm \
        --set "Mesh/Initial refinements=$refinements"
      ;;
  esac
done

echo
echo "Results: $output/results.txt"
if [ ${#failures[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failures[@]}" | tee -a "$results"
  exit 1
fi
