#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# mpirun -np 2 by_rank.sh COMMAND_OF_PROCESS_0... --else COMMAND...
#
# Runs a command on the first process and another one on all other processes. The
# colon of mpirun itself is no substitute: mpirun of Open MPI 5.0.7 crashes on it.

rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}
if [ -z "$rank" ]; then
  echo "by_rank.sh: neither OMPI_COMM_WORLD_RANK nor PMI_RANK is set." >&2
  exit 1
fi
if [ "$rank" -gt 0 ]; then
  while [ "$1" != --else ]; do shift; done
  shift
  exec "$@"
fi
n=$#
while [ "$n" -gt 0 ]; do
  # Rotates the arguments; those from --else on are left out.
  [ "$1" = --else ] && ended=1
  [ -z "${ended:-}" ] && set -- "$@" "$1"
  shift
  n=$((n - 1))
done
exec "$@"
