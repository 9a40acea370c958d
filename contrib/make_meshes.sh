#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Creates meshes with gmsh from the geometries in contrib/meshes/.
#
#   contrib/make_meshes.sh [small|studies|large|wings|all] [FOLDER]
#
# small    meshes of the tests and of the short studies, which are part of the
#          repository; default FOLDER: parameter_files/meshes
# studies  sequences of unstructured meshes of the square, the cube and a square
#          with wavy sides, and the square with oscillating sides, 29 thousand
#          triangles; default FOLDER: meshes-output (not in the repository)
# large    the square with oscillating sides, 503,632 triangles with gmsh 4.8
#          (503,596 in the paper); 20 s; default FOLDER: meshes-output
# wings    half of the wing ONERA M6, tetrahedra whose sizes are proportional to
#          1, 1/1.5 and 1/2.1, and of an aircraft; minutes; default FOLDER:
#          meshes-output
# all      all of them
#
# The same version of gmsh writes the same files. Existing files are kept,
# except those of "small".

set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
what=${1:-studies}
geometries=$root/contrib/meshes

if ! command -v gmsh >/dev/null; then
  echo "gmsh was not found; Debian and Ubuntu have it in the package gmsh." >&2
  exit 1
fi

# mesh DIMENSION GEOMETRY FILE [FORMAT [NAME VALUE]...]
mesh() {
  local dim=$1 geometry=$2 file=$3 format=${4:-msh41} numbers=()
  shift 3
  [ $# -gt 0 ] && shift
  while [ $# -gt 1 ]; do
    numbers+=(-setnumber "$1" "$2")
    shift 2
  done
  # The file is first written under another name, so that an interruption leaves
  # no incomplete file.
  gmsh -v 2 -nt 1 "-$dim" "$geometries/$geometry.geo" "${numbers[@]}" \
    -format "$format" -o "$folder/.unfinished" >/dev/null
  mv "$folder/.unfinished" "$folder/$file"
  case $file in
    .*) ;;
    *) echo "  $file" ;;
  esac
}

new_mesh() {
  [ -s "$folder/$3" ] || mesh "$@"
}

use_folder() {
  folder=$1
  mkdir -p "$folder"
  echo "meshes in $folder:"
}

small() {
  use_folder "${1:-$root/parameter_files/meshes}"
  mesh 2 square square.msh msh41 h 0.2
  mesh 2 square square_v2.msh msh2 h 0.2
  mesh 2 square square_quadrilaterals.msh msh41 h 0.4 quads 1
  mesh 2 mixed mixed.msh msh41 h 0.25
  mesh 2 l_shape l_shape.msh msh41 h 0.25
  mesh 2 oscillating oscillating_coarse.msh msh41 h 0.03 waves 4 \
    amplitude 0.02
  mesh 2 wedge wedge.msh msh41
  mesh 3 cube cube.msh msh41 h 0.4
  mesh 3 cube cube_hexahedra.msh msh41 h 1 hexahedra 1
  mesh 3 onera_m6 onera_m6_coarse.msh msh41 f 0.2

  # deal.II cannot read the other files of gmsh: its .vtk is version 2 and has
  # lines before triangles, its .inp is the format of Abaqus and not of AVS UCD,
  # and its .unv has words as ids, numbers such as 1.0D+00, and beams as lines.
  to_vtk "$folder/square_v2.msh" >"$folder/square.vtk"
  mesh 2 square .quadrilaterals.msh msh2 h 0.4 quads 1
  to_ucd "$folder/.quadrilaterals.msh" >"$folder/square_quadrilaterals.inp"
  rm "$folder/.quadrilaterals.msh"
  mesh 2 square square_quadrilaterals.unv unv h 0.4 quads 1
  sed -i -E "s/^Physical[A-Za-z]*//; s/D([+-])/E\1/g
    /^  2412/,/^    -1/s/^( +[0-9]+ +)21( +[0-9]+ +0 +7 +2)/\111\2/" \
    "$folder/square_quadrilaterals.unv"
  echo "  square.vtk"
  echo "  square_quadrilaterals.inp"
}

studies() {
  use_folder "${1:-$root/meshes-output}"
  local k
  for k in 0 1 2 3; do
    new_mesh 2 square "square_$k.msh" msh41 h "$(number "0.1 / 2^$k")"
    new_mesh 3 cube "cube_$k.msh" msh41 h "$(number "0.4 / 2^$k")"
  done
  for k in 0 1 2 3; do
    new_mesh 2 oscillating "waves_$k.msh" msh41 h "$(number "0.04 / 2^$k")" \
      waves 4 amplitude 0.03
  done
  new_mesh 2 oscillating oscillating.msh msh41 h 0.005
}

large() {
  use_folder "${1:-$root/meshes-output}"
  new_mesh 2 oscillating oscillating_large.msh msh41 h 0.0011928
}

wings() {
  use_folder "${1:-$root/meshes-output}"
  new_mesh 3 onera_m6 onera_m6_0.msh msh41 f 1
  new_mesh 3 onera_m6 onera_m6_1.msh msh41 f 1.5
  new_mesh 3 onera_m6 onera_m6_2.msh msh41 f 2.1
  new_mesh 3 wing_body wing_body.msh msh41 f 1.3
}

# Converts a two-dimensional .msh of version 2 to legacy VTK: cells, then
# boundary lines, with the physical ids as MaterialID.
to_vtk() {
  awk '
    section == "$Nodes" && NF == 4 { x[n++] = $2 " " $3 " " $4 }
    section == "$Elements" && NF > 4 {
      row = NF - $3 - 3
      for (i = $3 + 4; i <= NF; ++i)
        row = row " " $i - 1
      boundary = ($2 == 1)
      cells[boundary, m[boundary] + 0] = row
      ids[boundary, m[boundary] + 0] = $4
      types[boundary, m[boundary]++ + 0] = $2 == 1 ? 3 : $2 == 2 ? 5 : 9
      n_numbers += NF - $3 - 2
    }
    /^\$/ { section = $1 }
    END {
      print "# vtk DataFile Version 3.0\n" title "\nASCII"
      print "DATASET UNSTRUCTURED_GRID\nPOINTS " n " double"
      for (i = 0; i < n; ++i)
        print x[i]
      print "CELLS " m[0] + m[1] " " n_numbers
      for (b = 0; b < 2; ++b)
        for (i = 0; i < m[b]; ++i)
          print cells[b, i]
      print "CELL_TYPES " m[0] + m[1]
      for (b = 0; b < 2; ++b)
        for (i = 0; i < m[b]; ++i)
          print types[b, i]
      print "CELL_DATA " m[0] + m[1] "\nSCALARS MaterialID int 1"
      print "LOOKUP_TABLE default"
      for (b = 0; b < 2; ++b)
        for (i = 0; i < m[b]; ++i)
          print ids[b, i]
    }' title="made by make_meshes.sh" "$1"
}

# Converts a two-dimensional .msh of version 2 to AVS UCD, with the physical ids
# as material and boundary ids.
to_ucd() {
  awk '
    section == "$Nodes" && NF == 4 { nodes[n++] = $0 }
    section == "$Elements" && NF > 4 {
      row = $4 " " ($2 == 1 ? "line" : $2 == 2 ? "tri" : "quad")
      for (i = $3 + 4; i <= NF; ++i)
        row = row " " $i
      cells[m++] = row
    }
    /^\$/ { section = $1 }
    END {
      print n " " m " 0 0 0"
      for (i = 0; i < n; ++i)
        print nodes[i]
      for (i = 0; i < m; ++i)
        print i + 1 " " cells[i]
    }' "$1"
}

number() {
  awk "BEGIN { print $1 }"
}

case $what in
  small | studies | large | wings)
    "$what" ${2:+"$2"}
    ;;
  all)
    small ${2:+"$2"}
    studies ${2:+"$2"}
    large ${2:+"$2"}
    wings ${2:+"$2"}
    ;;
  *)
    sed -n '3,/^$/{s/^# \{0,1\}//p}' "$0" >&2
    exit 1
    ;;
esac
