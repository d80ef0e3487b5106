#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests on a minimal Debian that has what a container has: /proc, /sys, a small /dev, and
# /dev/shm of 1 GiB (--shm SIZE: of that size; --no-shm: none). Needs root and mmdebstrap. The
# system is made in DIR, or in a temporary folder that is removed in the end; a DIR that is there
# already is used again.
#
# Usage: chroot_test.sh [--debian NAME] [--with PACKAGES] [--no-shm | --shm SIZE] [--user]
#                       [--at FOLDER] [--dir DIR] [COMMAND...]
# NAME: bookworm (default), trixie or sid. --with: these packages, too. COMMAND runs in a clone of
# HEAD; default: make test. --user: as a user that owns the clone instead of root; nobody else can
# read the clone in both cases. --at: the clone's folder, which may have blanks; default: clone in
# the user's home.
set -euo pipefail

shm=1g user=root dir="" keep=yes debian=bookworm at="" with=""
while [ $# -gt 0 ]; do
  case "$1" in
    --no-shm) shm=no ;;
    --shm) shm=$2; shift ;;
    --user) user=tester ;;
    --dir) dir=$2; shift ;;
    --debian) debian=$2; shift ;;
    --at) at=$2; shift ;;
    --with) with=$2; shift ;;
    -h | --help) sed -n '3,15s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --) shift; break ;;
    -*) echo "chroot_test: no option $1; see --help" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
if [ "$(id -u)" -ne 0 ] || ! command -v mmdebstrap >/dev/null; then
  echo "chroot_test: needs root and the package mmdebstrap" >&2
  exit 77
fi
top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
if [ -z "$dir" ]; then
  dir=$(mktemp -d) keep=no
fi
root=$dir/root

# A mirror of sid that is some days old is refused by default.
make_system() {
  local options=()
  [ "$debian" != sid ] || options=(--aptopt='Acquire::Check-Valid-Until "false"')
  mkdir -p "$dir"
  mmdebstrap --variant=minbase --include=ca-certificates,make "${options[@]}" "$debian" "$root"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # of registries within a site
  chroot "$root" useradd --create-home tester
}

# A clone that only its owner can read.
make_clone() {
  local place=$at
  [ -n "$place" ] || place=$(chroot "$root" sh -c "eval echo ~$user")/clone
  if [ -d "$root$place" ]; then
    git -c safe.directory='*' -C "$root$place" fetch -q "$top" HEAD
    git -c safe.directory='*' -C "$root$place" reset -q --hard FETCH_HEAD
  else
    (umask 077; git clone -q --no-hardlinks "$top" "$root$place")
  fi
  chmod 700 "$root$place"
  chroot "$root" chown -R "$user" "$place"
  printf '%s\n' "$place"
}

# In a mount namespace of its own, so that nothing stays mounted; devices as containers have them.
enter() {
  unshare --mount --pid --fork --kill-child \
    bash -s -- "$root" "$shm" "$user" "$with" "$@" <<'INSIDE'
set -eu
root=$1 shm=$2 user=$3 with=$4 clone=$5
shift 5
home=$(chroot "$root" sh -c "eval echo ~$user")
mount --bind "$root" "$root" # a mount point, so that tests may make namespaces inside
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 none "$root/dev"
for node in null:3 zero:5 full:7 random:8 urandom:9; do
  mknod -m 666 "$root/dev/${node%:*}" c 1 "${node#*:}"
done
mknod -m 666 "$root/dev/tty" c 5 0
for link in fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
  ln -s "/proc/self/${link#*:}" "$root/dev/${link%:*}"
done
mkdir "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
if [ "$shm" != no ]; then
  mkdir "$root/dev/shm"
  mount -t tmpfs -o "mode=1777,size=$shm" shm "$root/dev/shm"
fi
if [ -n "$with" ]; then
  export DEBIAN_FRONTEND=noninteractive
  chroot "$root" apt-get update -q </dev/null
  # shellcheck disable=SC2086 # words
  chroot "$root" apt-get -o DPkg::Lock::Timeout=300 install -q -y --no-install-recommends \
    $with </dev/null
fi
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
login=(env -i HOME="$home" PATH="$path")
command=(bash -c 'cd "$0" && exec "$@" </dev/null' "$clone" "$@")
if [ "$user" = root ]; then
  exec chroot "$root" "${login[@]}" "${command[@]}"
fi
chroot "$root" env TESTS=1 bash "${clone}/scripts/install_deps.sh" </dev/null
exec chroot --userspec="$user" "$root" "${login[@]}" "${command[@]}"
INSIDE
}

[ -d "$root" ] || make_system
if [ $# -eq 0 ]; then
  set -- make test
fi
clone=$(make_clone)
code=0
enter "$clone" "$@" || code=$?
if [ "$keep" = no ]; then
  rm -rf "${dir:?}"
fi
exit $code
