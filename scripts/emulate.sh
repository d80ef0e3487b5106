#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command so that programs of another processor start like those of this one.
#
# Usage: emulate.sh aarch64|riscv64 COMMAND [ARGUMENT]...
# `tombolo upcc` compiles for that processor. The kernel starts its programs by QEMU, also when
# another program executes them, as `tombolo run` does.
# QEMU is registered in a user namespace of the command's own (Linux 6.7), so that nothing changes
# outside. Where that fails, the command runs if the system has such a registration already. Exit
# code 77, with the reason, if neither works.
set -euo pipefail

processor=${1:?usage: emulate.sh aarch64|riscv64 COMMAND [ARGUMENT]...}
shift
case $processor in
  aarch64) machine=b7 ;;
  riscv64) machine=f3 ;;
  *) echo "emulate: no processor $processor; there are aarch64 and riscv64" >&2; exit 2 ;;
esac

skip() {
  echo "emulate: $*"
  exit 77
}

qemu=$(command -v "qemu-$processor-static" || command -v "qemu-$processor") ||
  skip "no qemu-$processor-static (package qemu-user-static)"
libraries=/usr/$processor-linux-gnu
[ -d "$libraries" ] || skip "no C library in $libraries (package gcc-$processor-linux-gnu)"
export QEMU_LD_PREFIX=$libraries TOMBOLO_UPC_CC=${TOMBOLO_UPC_CC:-$processor-linux-gnu-gcc}
export TMB_CC=$processor-linux-gnu-gcc TMB_CXX=$processor-linux-gnu-g++ # for tests that link
[ "${TMB_EMULATED:-}" = "$processor" ] && exec "$@"
export TMB_EMULATED=$processor

# The head of a 64-bit little-endian ELF file for this processor: an executable or a shared object.
zeros='\x00\x00\x00\x00\x00\x00\x00\x00'
ones='\xff\xff\xff\xff\xff\xff\xff'
rule=":qemu-$processor:M::\x7fELF\x02\x01\x01\x00$zeros\x02\x00\x$machine\x00"
rule+=":$ones\x00\xff$ones\xfe\xff\xff\xff:$qemu:PF"
# The loader stands in its usual place, too: `tombolo run` asks whether it is there before it
# executes a program. An overlay of the namespace adds it.
loader=$(basename "$(compgen -G "$libraries/lib/ld-linux-*.so.1" | head -n 1)")
system=$(realpath /lib)
# shellcheck disable=SC2016 # the inner shell expands these
register='mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
  printf %s "$1" >/proc/sys/fs/binfmt_misc/register &&
  { [ -e "$3/$4" ] || { mount -t tmpfs none /mnt && ln -s "$2/lib/$4" "/mnt/$4" &&
    mount -t overlay -o "lowerdir=/mnt:$3" none "$3" && umount -l /mnt; }; } &&
  { [ -z "$5" ] || mount --bind "$5" "$6"; }'
# addr2line, which programs start to name lines of theirs, is the one that reads such programs.
reader=$(command -v "$processor-linux-gnu-addr2line" || true)
place=$(command -v addr2line || true)
[ -n "$place" ] || reader=
arguments=("$rule" "$libraries" "$system" "$loader" "$reader" "$place")
inside=(unshare --user --map-root-user --mount)
if "${inside[@]}" bash -c "$register" register "${arguments[@]}" 2>/dev/null; then
  register+=' && shift 6 && exec "$@"'
  exec "${inside[@]}" bash -c "$register" register "${arguments[@]}" "$@"
fi
grep -qs '^enabled' "/proc/sys/fs/binfmt_misc/qemu-$processor" && exec "$@"
skip "the kernel starts no $processor programs: it has no binfmt_misc in user namespaces" \
  "(Linux 6.7), and none is registered on the system"
