# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
# Functions of check.sh, demo.sh and other scripts; sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
start_time=$SECONDS

# say TEXT: prints a headline with the time since the start.
say() {
  local t=$((SECONDS - start_time))
  printf '\n==== [%02d:%02d] %s\n' $((t / 60)) $((t % 60)) "$*"
}

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

[ $# -eq 0 ] || fail "there are no arguments; what is done is written at the" \
  "beginning of the file."

# need_packages PACKAGE...: installs missing packages with apt-get. Does
# nothing, and needs no rights, if none is missing.
need_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu: taking for granted that what the" \
      "packages $* contain is installed."
    return
  fi
  local package missing=()
  for package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
      grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "these packages are missing, and there" \
      "is no sudo to install them as another user than root: ${missing[*]}"
    sudo=(sudo)
  fi
  say "Installing packages: ${missing[*]}"
  "${sudo[@]}" apt-get update ||
    fail "apt-get update failed: see its message above."
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]}: see its message above."
}

# A compiler needs up to 1.5 GB for a source that includes headers of deal.II.
number_of_jobs() {
  local jobs memory
  jobs=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  [ "${memory:-1}" -lt "$jobs" ] && jobs=$memory
  [ "$jobs" -lt 1 ] && jobs=1
  echo "$jobs"
}

# configure BUILD_FOLDER OPTION...: runs cmake, and prints its output only if it
# fails.
configure() {
  local build=$1 log
  shift
  mkdir -p "$build"
  log=$build/configure.log
  local generator=()
  if [ ! -f "$build/CMakeCache.txt" ]; then
    generator=(-G Ninja)
    command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
  fi
  if ! cmake -S "$root" -B "$build" "${generator[@]}" \
    -DTESSELLA_PRECOMPILED_HEADERS=ON "$@" >"$log" 2>&1; then
    cat "$log" >&2
    fail "the configuration failed: see cmake's message above."
  fi
}

packages_to_build="g++ cmake ninja-build libdeal.ii-dev"
packages_to_test="numdiff perl openmpi-bin gmsh"
