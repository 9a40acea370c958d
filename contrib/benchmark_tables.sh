#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Prints the figures behind BENCHMARKS.md from the results of benchmark_cuda.sh.
#
#   contrib/benchmark_tables.sh [FOLDER]
#
# FOLDER is the output folder of benchmark_cuda.sh; default: benchmark-output.
# Tables of missing runs are left out. Reference values are those of Dong,
# Georgoulis, Kappas, SIAM J. Sci. Comput. 43 (2021), one P100, FP64.

set -eu
folder=${1:-$(cd "$(dirname "$0")/.." && pwd)/benchmark-output}

# table FILE PROGRAM: runs the awk program PROGRAM on a .csv file, with
# col("name") for the columns.
table() {
  [ -s "$folder/$1" ] || return 0
  awk -F, '
    function col(name) {
      if (!(name in column)) {
        print "benchmark_tables.sh: no column " name > "/dev/stderr"
        exit 1
      }
      return $column[name]
    }
    # three significant digits
    function short(x) {
      if (x == "" || x + 0 != x) return "-"
      if (x == 0) return "0"
      if (x >= 100) return sprintf("%.0f", x)
      if (x >= 10) return sprintf("%.1f", x)
      return x >= 1 ? sprintf("%.2f", x) : sprintf("%.3g", x)
    }
    function ratio(a, b) { return a == "" || b == "" || b == 0 ? "-" : short(a / b) }
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    '"$2" "$folder/$1"
}

for coefficients in constant variable; do
  name=throughput_cuda
  [ $coefficients = constant ] || name=throughput_cuda_variable
  table $name.csv '
    BEGIN {
      print "\nOne million unknowns in 3-D, '$coefficients' coefficients, milliseconds per million\n"
      print "| p | unknowns | kernels | roofline | x roofline | GFLOP/s | GB/s | re-assembly | copy | x copy | first, in all | published | times faster | host re-assembly |"
      print "|---|----------|---------|----------|------------|---------|------|-------------|------|--------|---------------|-----------|--------------|------------------|"
      split("1020 1900 3700 7200 14700", published, " ")
    }
    col("strategy") == "block_rows" && col("backend") == "CUDA" &&
      col("matrix") == "trilinos" {
      p = col("degree")
      line[p] = "| " p " | " col("unknowns") " | " short(col("kernels_ms/M")) \
        " | " short(col("roofline_ms/M")) " | " short(col("x_roofline")) " | " \
        short(col("kernel_GFLOP/s")) " | " short(col("kernel_GB/s")) " | " \
        short(col("assembly_ms/M")) " | " short(col("copy_ms/M")) " | " \
        short(col("x_copy")) " | " short(1e3 * col("total_s/M")) " | " \
        published[p] " | " ratio(published[p], 1e3 * col("total_s/M")) " | "
    }
    col("backend") == "host" && col("matrix") == "trilinos" { host[col("degree")] = 1e3 * col("assembly_s/M") }
    END {
      for (p = 0; p <= 10; ++p)
        if (p in line)
          print line[p] short(host[p]) " |"
    }'
  table $name.csv '
    col("strategy") != "block_rows" { any = 1 }
    col("backend") == "CUDA" && col("matrix") == "trilinos" {
      kernels[col("strategy"), col("degree")] = col("kernels_ms/M")
      total[col("strategy"), col("degree")] = 1e3 * col("total_s/M")
    }
    END {
      if (!any) exit
      print "\nKernels of the strategies, milliseconds per million, '$coefficients' coefficients\n"
      print "| p | block_rows | precomputed_pattern | times slower | published | published / measured | coordinate_sort | times slower | published, without sort |"
      print "|---|------------|---------------------|--------------|-----------|----------------------|-----------------|--------------|-------------------------|"
      split("30 170 570 1900 5500", second, " ")
      split("17 120 510 1800 5300", first, " ")
      for (p = 0; p <= 10; ++p)
        if (("block_rows", p) in kernels) {
          own = kernels["block_rows", p]
          pattern = kernels["precomputed_pattern", p]
          sort = kernels["coordinate_sort", p]
          print "| " p " | " short(own) " | " short(pattern) " | " \
            ratio(pattern, own) " | " second[p] " | " ratio(second[p], pattern) \
            " | " short(sort) " | " ratio(sort, own) " | " first[p] " |"
        }
    }'
  table $name-kernels.csv '
    NR == 2 {
      print "\nKernel by kernel, '$coefficients' coefficients, milliseconds per million\n"
      print "| p | strategy | kernel | ms | GFLOP/s | GB/s | x roofline |"
      print "|---|----------|--------|----|---------|------|------------|"
    }
    col("matrix") == "trilinos" {
      print "| " col("degree") " | " col("strategy") " | " col("kernel") " | " \
        short(col("ms/M")) " | " short(col("kernel_GFLOP/s")) " | " \
        short(col("kernel_GB/s")) " | " short(col("x_roofline")) " |"
    }'
done

table throughput_cuda.csv '
  BEGIN {
    print "\nOther matrices, milliseconds per million\n"
    print "| p | matrix | structure | first | kernels | x roofline | re-assembly | x copy |"
    print "|---|--------|-----------|-------|---------|------------|-------------|--------|"
  }
  col("backend") == "CUDA" && col("strategy") == "block_rows" {
    print "| " col("degree") " | " col("matrix") " | " \
      short(1e3 * col("structure_s/M")) " | " short(1e3 * col("first_s/M")) \
      " | " short(col("kernels_ms/M")) " | " short(col("x_roofline")) " | " \
      short(col("assembly_ms/M")) " | " short(col("x_copy")) " |"
  }'

table vmult_cuda.csv '
  BEGIN {
    print "\nProducts with a matrix on the device, milliseconds\n"
    print "| p | precision | unknowns | entries | vmult | GB/s | x copy | Tvmult | GB/s | x copy |"
    print "|---|-----------|----------|---------|-------|------|--------|--------|------|--------|"
  }
  {
    print "| " col("degree") " | " col("precision") " | " col("unknowns") " | " \
      col("entries") " | " short(col("vmult_ms")) " | " \
      short(col("vmult_GB/s")) " | " short(col("vmult_x_copy")) " | " \
      short(col("Tvmult_ms")) " | " short(col("Tvmult_GB/s")) " | " \
      short(col("Tvmult_x_copy")) " |"
  }'

table throughput_cuda_streaming.csv '
  BEGIN {
    print "\nIn little device memory, milliseconds per million\n"
    print "| p | unknowns | entries | device GB | parts | kernels | re-assembly | x copy |"
    print "|---|----------|---------|-----------|-------|---------|-------------|--------|"
  }
  col("backend") == "CUDA" {
    print "| " col("degree") " | " col("unknowns") " | " col("entries") " | " \
      short(col("device_GB")) " | " col("parts") " | " \
      short(col("kernels_ms/M")) " | " short(col("assembly_ms/M")) " | " \
      short(col("x_copy")) " |"
  }'

# Table 5 of the paper has kernel times and totals for the meshes of Table 4.
first=true
for mesh in 8337 125981 none; do
  [ -s "$folder/throughput_table4_$mesh.csv" ] || continue
  if $first; then
    printf '\nMeshes of Table 4, seconds (published: prisms in 2+1 dimensions)\n\n'
    echo "| polygons | p | unknowns | kernels | first, in all | precomputed_pattern, kernels | published unknowns | published kernels | published in all |"
    echo "|----------|---|----------|---------|---------------|------------------------------|--------------------|-------------------|------------------|"
    first=false
  fi
  case $mesh in
    8337)
      unknowns="33000 83000 167000" kernels="0.012 0.2 1.5" total="1.34 1.7 3.7"
      ;;
    125981)
      unknowns="504000 1300000 2500000" kernels="0.02 0.3 2.1" total="1.9 4.6 15"
      ;;
    *)
      unknowns="2000000 5000000 10000000" kernels="0.033 0.5 3.1"
      total="2.9 9.6 32.9"
      ;;
  esac
  table throughput_table4_$mesh.csv '
    BEGIN {
      split("'"$unknowns"'", unknowns, " ")
      split("'"$kernels"'", kernels, " ")
      split("'"$total"'", total, " ")
    }
    col("backend") == "CUDA" {
      p = col("degree")
      M = 1e-6 * col("unknowns")
      n[p] = col("unknowns")
      polytopes = col("polytopes")
      time[col("strategy"), p] = 1e-3 * M * col("kernels_ms/M")
      if (col("strategy") == "block_rows")
        all[p] = M * col("total_s/M")
    }
    END {
      for (p = 1; p <= 3; ++p)
        if (p in n)
          print "| " polytopes " | " p " | " n[p] " | " \
            short(time["block_rows", p]) " | " short(all[p]) " | " \
            short(time["precomputed_pattern", p]) " | " unknowns[p] " | " \
            kernels[p] " | " total[p] " |"
    }'
done

table throughput_table6.csv '
  BEGIN {
    print "\nTable 6, seconds (published: index manipulation, quadrature, in all)\n"
    print "| p | polyhedra | unknowns | pattern and creation | first assembly | in all | re-assembly | kernels | x roofline | published, 1 GPU | times faster |"
    print "|---|-----------|----------|----------------------|----------------|--------|-------------|---------|------------|------------------|--------------|"
    split("7.4 28.5 15.1", pattern, " ")
    split("2 9.7 5.7", quadrature, " ")
    split("9.4 38.2 20.8", total, " ")
    split("6280000 15700000 3940000", unknowns, " ")
  }
  col("backend") == "CUDA" && col("strategy") == "block_rows" &&
  col("matrix") == "trilinos" {
    p = col("degree")
    M = 1e-6 * col("unknowns")
    # only for the problem sizes of the paper
    same = p in unknowns && M > 0.95e-6 * unknowns[p] && M < 1.05e-6 * unknowns[p]
    print "| " p " | " col("polytopes") " | " col("unknowns") " | " \
      short(M * col("structure_s/M")) " | " short(M * col("first_s/M")) " | " \
      short(M * col("total_s/M")) " | " short(M * col("assembly_s/M")) " | " \
      short(1e-3 * M * col("kernels_ms/M")) " | " short(col("x_roofline")) \
      " | " pattern[p] ", " quadrature[p] ", " total[p] " | " \
      (same ? ratio(total[p], M * col("total_s/M")) : "-") " |"
  }'
