# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
# Roots of other releases of the distribution, for scripts that build or install
# Tessella in them as root; sourced after common.sh, not run.

# own_mounts VARIABLE ARGUMENT...: runs the script once more with these arguments
# in a mount namespace of its own, with which its mounts end. VARIABLE marks the
# second run.
own_mounts() {
  local variable=$1
  shift
  [ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root's rights."
  [ -n "${!variable:-}" ] ||
    exec env "$variable=1" unshare --mount --propagation private "$0" "$@"
}

# mirror_of_this_machine: $DEBIAN_MIRROR, or that of sources.list or *.sources.
mirror_of_this_machine() {
  local mirror=${DEBIAN_MIRROR:-}
  [ -n "$mirror" ] ||
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/{*.list,*.sources} \
      2>/dev/null | awk '
    $1 == "deb" { for (i = 2; i <= NF; ++i) if ($i ~ /^https?:/) { print $i; exit } }
    $1 == "URIs:" { print $2; exit }')
  [ -n "$mirror" ] || fail "there is no mirror in the sources of apt; set" \
    "DEBIAN_MIRROR."
  echo "$mirror"
}

# make_root SUITE FOLDER: creates a root, unless FOLDER has one of a former call.
make_root() {
  [ -f "$2/made-by-tessella" ] && return
  rm -rf "$2"
  debootstrap --variant=minbase --include=ca-certificates "$1" "$2" \
    "$(mirror_of_this_machine)" && touch "$2/made-by-tessella"
}

# enter_root FOLDER: mounts what programs need in a root.
enter_root() {
  # The root needs the name servers of this machine to reach the mirror.
  cp -L /etc/resolv.conf "$1/etc/resolv.conf"
  cp /etc/apt/apt.conf.d/* "$1/etc/apt/apt.conf.d/" 2>/dev/null
  rm -f "$1"/etc/apt/apt.conf.d/20packagekit
  # Without this, the disk limits the installation, since dpkg waits for each file.
  echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/unsafe-io"
  # The library of Open MPI complains on the error stream where it finds no sysfs.
  mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" &&
    mount -t sysfs -o ro sysfs "$1/sys"
}

# in_root FOLDER COMMAND: runs COMMAND without the environment of this machine.
in_root() {
  chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -c "$2"
}

# copy_tree FOLDER: copies the tracked and untracked files of this tree. Files that
# are gone from the tree go there, too, except folders build*. The files keep their
# time stamps, so that a second run builds only changed files.
copy_tree() {
  mkdir -p "$1"
  find "$1" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
  (cd "$root" && git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [ -e "$file" ] && printf '%s\0' "$file"; done |
    tar --null --files-from - -c) | tar -C "$1" -x
}
