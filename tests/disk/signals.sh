#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# signals.sh DIRECTORY PROGRAM ARGUMENT...
#
# Ends the program by SIGINT, SIGTERM and SIGHUP while METIS is at work, which
# then has handlers of its own. The program must end by that signal, print
# nothing and leave no file.

set -u
set -m # otherwise SIGINT is ignored in the background
rm -rf "$1"
mkdir -p "$1"
cd "$1" || exit 1
shift
# Open MPI must not install a handler for SIGABRT, so that only METIS does.
export OMPI_MCA_opal_signal=

fail() {
  echo "$1"
  echo "---- output"
  cat output
  exit 1
}

for signal in INT TERM HUP; do
  "$@" >output 2>&1 &
  program=$!
  # Wait for the bit of SIGABRT among the signals with handlers.
  until caught=$(sed -n 's/^SigCgt:\t//p' "/proc/$program/status") &&
    [ -n "$caught" ] && [ $((0x$caught & 0x20)) -ne 0 ]; do
    kill -0 $program 2>/dev/null || fail "The program ended without METIS."
    sleep 0.01
  done 2>/dev/null
  kill -s $signal $program
  wait $program
  status=$?
  [ $status -eq $((128 + $(kill -l $signal))) ] ||
    fail "SIG$signal: exit status $status"
  ! grep -i "metis" output || fail "SIG$signal: METIS is blamed"
  [ "$(ls)" = output ] || fail "SIG$signal: files remain: $(ls)"
done
