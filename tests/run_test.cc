// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Program of a test that is compiled in a group, see groups.cmake: run_test()
// is in the library of the group.
int
run_test(int argc, char **argv);

int
main(int argc, char **argv)
{
  return run_test(argc, argv);
}
