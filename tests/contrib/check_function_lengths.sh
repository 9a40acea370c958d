#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# contrib/check_function_lengths.pl finds what it is for: in a small tree, each
# function or class of kernels that is too long, in each of its spellings, makes it
# fail and is named.
#
#   check_function_lengths.sh PROJECT WORK_FOLDER

set -u
source "$(dirname "$0")/expect.sh"
script=$1/contrib/check_function_lengths.pl
tree=$2

# An empty tree with one table of exceptions, whose rows are the arguments.
make_tree() {
  rm -rf "$tree"
  mkdir -p "$tree"/{doc,include,source,cuda,applications}
  printf '%s\n' "$@" >"$tree/doc/architecture.md"
}

# write FILE HEAD N [TAIL]: HEAD, a body of N lines from brace to brace, TAIL.
write() {
  {
    echo "$2"
    echo "{"
    for ((i = 2; i < $3; ++i)); do echo '  f("{", '"'{'"'); // {'; done
    echo "}"
    echo "${4:-}"
  } >"$tree/$1"
}

make_tree
write source/a.cc 'void a(const int i)' 100
expect 0 "1 functions and 0 classes of kernels in 1 files, 0 problems."

write source/a.cc 'void a(const int i)' 101
expect 1 "source/a.cc: a() has 101 lines, at most 100 are allowed."

# Members, operators, constructors with braced initialisers, templates with
# parentheses in their arguments, trailing words, host-device functions.
write source/a.cc 'namespace N { template <int dim> int A<dim>::b() const' 101 '}'
expect 1 "source/a.cc: A<dim>::b() has 101 lines"
write include/a.h 'struct A { bool operator<(const A &) const noexcept' 101 '};'
expect 1 "include/a.h: operator<() has 101 lines"
write include/a.h 'struct A { A(int i) : x(i), y{i, 2}, z{}' 101 'int x; };'
expect 1 "include/a.h: A() has 101 lines"
write include/a.h 'template <int n, bool b = (n > 2)> std::array<int, 2> c(int i = (1))' 101
expect 1 "include/a.h: c() has 101 lines"
write cuda/a.cu '__host__ __device__ inline double d()' 101
expect 1 "cuda/a.cu: d() has 101 lines"

# A lambda is part of its function; a long class or namespace is none.
make_tree
write source/a.cc 'void a() { const auto l = [&](int i)' 100 '; }'
expect 1 "source/a.cc: a() has 102 lines"
write source/a.cc 'namespace N { class A : public B<int>' 200 '; void f() {} }'
expect 0 "1 functions and 0 classes of kernels in 1 files, 0 problems."

# Kernels are not host code.
make_tree
write cuda/a.cu '__global__ void a(double *x)' 300 'void f() {}'
expect 0 "2 functions and 0 classes of kernels in 1 files, 0 problems."

# Exceptions: one that serves, one that is not needed, too many.
make_tree '| `source/a.cc` | `a` | a table |'
write source/a.cc 'void a()' 200
expect 0 "0 problems."
write source/a.cc 'void a()' 20
expect 1 "doc/architecture.md: no function is longer than 100 lines: source/a.cc a."
rows=()
for ((j = 0; j < 11; ++j)); do rows+=('| `source/a'$j'.cc` | `a` | a table |'); done
make_tree "${rows[@]}"
for ((j = 0; j < 11; ++j)); do write source/a$j.cc 'void a()' 200; done
expect 1 "doc/architecture.md: 11 exceptions of the kind function, at most 10 are allowed."
make_tree '| `source/a.cc` | `a` | |'
write source/a.cc 'void a()' 200
expect 1 "doc/architecture.md: an exception has no reason: source/a.cc a."

# Classes of kernels, in each of their spellings.
#   write_class HEAD N: a class of N lines from brace to brace, and a function.
make_tree
kernel='__device__ void b(); __global__ void c() {}'
write_class() {
  {
    echo "void f() {}"
    echo "$1 {"
    echo "$kernel"
    for ((i = 3; i < $2; ++i)); do echo '  int i; // {'; done
    echo "};"
  } >"$tree/cuda/a.h"
}
write_class 'struct A' 600
expect 0 "1 classes of kernels in 1 files, 0 problems."
write_class 'struct A' 601
expect 1 "cuda/a.h: struct A has 601 lines, at most 600 are allowed."
write_class 'template <int n, bool b = (n > 2)> class alignas(16) A' 601
expect 1 "cuda/a.h: struct A has 601 lines"
write_class 'template <int n> struct A<n>::B : public C<n>' 601
expect 1 "cuda/a.h: struct A<n>::B has 601 lines"
write_class 'namespace N { struct A { }; struct D' 601
echo '}' >>"$tree/cuda/a.h"
expect 1 "cuda/a.h: struct D has 601 lines"

# A class without device code may be longer.
kernel='void b();'
write_class 'struct A' 700
expect 0 "1 functions and 0 classes of kernels in 1 files, 0 problems."

# Exceptions of classes.
kernel='__device__ void b();'
make_tree '| `cuda/a.h` | `struct A` | one algorithm |'
write_class 'struct A' 700
expect 0 "0 problems."
write_class 'struct A' 70
expect 1 "doc/architecture.md: no struct is longer than 600 lines: cuda/a.h struct A."

exit $failed
