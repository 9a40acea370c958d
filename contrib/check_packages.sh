#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Makes the Debian packages for a release of the distribution, and checks them as a
# user of that release meets them.
#
#   contrib/check_packages.sh [--jobs N] [SUITE]
#
# SUITE is a name that debootstrap knows, by default trixie (Debian 13). The root
# SUITE-base is created from the mirror of this machine (or $DEBIAN_MIRROR) in the
# folder build-packages (or $PACKAGES_DIR), and two copies of it. In SUITE-build the
# tracked and untracked files of this tree are built, without CUDA, and packed by
# "cpack -G DEB"; it stays, so that a second run builds only what has changed.
# lintian must find no error. SUITE-user is a new copy each time: it gets the
# packages, with what they depend on, a compiler, CMake and make, nothing else. There
# contrib/check_installed.sh of the package libtessella-doc builds and runs the
# program of README.md and all tutorials, without root's rights.
#
# This needs root's rights, 8 GB on disk, and about 40 minutes on two cores. The
# packages are then in build-packages/SUITE. The exit status is 0 if and only if
# every check has passed.

set -eu
arguments=("$@")
set --
. "$(dirname "$0")/common.sh"
. "$root/contrib/roots.sh"

set -- ${arguments[@]+"${arguments[@]}"}
jobs=$(number_of_jobs)
if [ "${1:-}" = --jobs ]; then
  [ $# -gt 1 ] || fail "--jobs needs a number."
  jobs=$2
  shift 2
fi
suite=${1:-trixie}
[[ $# -le 1 && $suite != -* ]] || fail "what the arguments are is explained at" \
  "the beginning of the file."
own_mounts CHECK_PACKAGES_INSIDE ${arguments[@]+"${arguments[@]}"}
need_packages debootstrap
folder=${PACKAGES_DIR:-$root/build-packages}
mkdir -p "$folder/$suite"
folder=$(realpath "$folder")
base=$folder/$suite-base
builder=$folder/$suite-build
user=$folder/$suite-user

say "Root for the build: $builder"
make_root "$suite" "$base"
[ -f "$builder/made-by-tessella" ] || { rm -rf "$builder"; cp -a "$base" "$builder"; }
enter_root "$builder"
in_root "$builder" "apt-get update && apt-get install -y \
  --no-install-recommends $packages_to_build dpkg-dev file lintian mold"
copy_tree "$builder/tessella"

say "Packages ($jobs jobs)"
rm -f "$builder"/tessella/build-debian/*.deb
# GNU ld takes 20 seconds for a program, mold a fraction of one.
linker=
for kind in EXE SHARED MODULE; do
  linker="$linker -DCMAKE_${kind}_LINKER_FLAGS=-fuse-ld=mold"
done
in_root "$builder" "cd /tessella && cmake --preset debian -G Ninja $linker &&
  cmake --build --preset debian -j $jobs && cd build-debian && cpack -G DEB"
rm -f "$folder/$suite"/*.deb
cp "$builder"/tessella/build-debian/*.deb "$folder/$suite"

say "lintian"
in_root "$builder" "cd /tessella/build-debian &&
  lintian --allow-root --fail-on error *.deb"

say "Clean root of a user: $user"
rm -rf "$user"
cp -a "$base" "$user"
enter_root "$user"
mkdir "$user/packages"
cp "$folder/$suite"/*.deb "$user/packages"
in_root "$user" "apt-get update && apt-get install -y --no-install-recommends \
  /packages/*.deb g++ cmake make && useradd --create-home someone"

say "As a user"
in_root "$user" "su - someone -c \
  'bash /usr/share/doc/tessella/contrib/check_installed.sh /usr'"

say "Packages in $folder/$suite"
ls -l "$folder/$suite"
