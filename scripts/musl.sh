#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles the library with musl-gcc, and runs unit tests and conformance programs with it.
#
# Usage: musl.sh [BUILD_DIRECTORY]    (build-musl)
# The launcher needs argp.h, which musl does not have: programs start their ranks themselves, four,
# by GASNET_PSHM_NODES. Exit code 77, with the reason, where musl-gcc is missing.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build-musl}
cache=${XDG_CACHE_HOME:-~/.cache}/tombolo/cross/musl
unit='base/config_test base/fmt_test vis/shape_test coll/select/table_test os/sync/lock_test
  os/memory/peer_copy_test os/memory/memfd_test'
programs='am/am_args am/am_flood am/am_long am/am_medium client/job coll/coll_basic coll/coll_random
  event/event_sync event/nbi_region memory/segment notify/notify_sem notify/notify_signal
  rma/rma_blocking rma/rma_nb ratomic/ad_ops ratomic/ad_random team/team_random tools/tools_timer
  vis/vis_basic vis/vis_random'

if ! command -v musl-gcc >/dev/null; then
  echo "musl: skipped: no musl-gcc (package musl-tools)"
  exit 77
fi
"$root/scripts/cross_deps.sh" musl || exit $?
cmake -S "$root" -B "$build" -G Ninja --toolchain "$root/cmake/toolchains/musl.cmake" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTMB_TESTS=OFF -DTMB_BENCH=OFF -DTMB_EXAMPLES=OFF \
  -DTMB_FORTRAN=OFF -DTMB_UPC=OFF -DTMB_PYTHON=OFF -DTMB_INSTALL=OFF -DTMB_CUDA=OFF >/dev/null
cmake --build "$build" --target tombolo_static tombolo_net_udp -j 2 >"$build/build.log" 2>&1 ||
  { tail -n 40 "$build/build.log"; exit 1; }

# compile OUTPUT MODE FILE...: a program with the library.
flags=(-std=gnu17 -O1 -g "-I$root/include" "-I$root/src" "-I$root/tests/lib"
  "-I$build/generated" -isystem "$cache/kernel" "-I$cache/include")
compile() {
  local output=$1 mode=$2
  shift 2
  musl-gcc "${flags[@]}" "-DGASNET_$mode=1" "$@" "$build/lib/libtombolo.a" \
    "-L$cache/lib" -lcmocka "-Wl,-rpath,$cache/lib" -lpthread -lm -o "$output"
}

mkdir -p "$build/tests"
passed=0
failed=()
for name in $unit; do
  program=$build/tests/unit.${name//\//.}
  if compile "$program" PAR "$root/src/$name.c" && timeout 60 "$program" >"$program.log" 2>&1; then
    passed=$((passed + 1))
  else
    failed+=("$name")
  fi
done
for name in $programs; do
  program=$build/tests/$(basename "$name")
  if compile "$program" SEQ "$root/tests/conformance/$name.c" "$root/tests/lib/check.c" \
    "$root/tests/lib/job.c" &&
    GASNET_PSHM_NODES=4 timeout 60 "$program" >"$program.log" 2>&1; then
    passed=$((passed + 1))
  else
    failed+=("$name")
  fi
done
# Two pretended hosts with udp between them.
for name in rma_nb coll_random notify_sem; do
  if TOMBOLO_NET_PLUGIN=$build/lib/tombolo/tombolo-net-udp.so TOMBOLO_CONDUIT=udp \
    TOMBOLO_PLACES=2 GASNET_PSHM_NODES=4 timeout 100 "$build/tests/$name" \
    >"$build/tests/$name.udp.log" 2>&1; then
    passed=$((passed + 1))
  else
    failed+=("$name.udp")
  fi
done
echo "musl: $passed passed, ${#failed[@]} failed"
for name in "${failed[@]}"; do
  echo "musl: FAILED: $name (see $build/tests/)"
done
[ ${#failed[@]} -eq 0 ]
