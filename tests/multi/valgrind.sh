#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over udp are clean under valgrind: no byte is sent, and nothing is decided, that was not
# written before.
# Needs $TOMBOLO (the command) and $TMB_BUILD (the build tree).
# nightly: yes
# timeout: 900
set -u
. "$(dirname "$0")/../lib/checks.sh"
command -v valgrind >/dev/null || { echo "skipped: no valgrind"; exit 77; }
if ldd "$TMB_BUILD/tests/conformance/am_args" | grep -q 'libasan\|libtsan'; then
  echo "skipped: a tree of sanitizers"
  exit 77
fi
for name in am_args coll_basic; do
  for settings in TOMBOLO_UDP_STREAM=1 "TOMBOLO_UDP_STREAM=0 TOMBOLO_UDP_MTU=1500" \
    TOMBOLO_UDP_AUTH=encrypt; do
    # shellcheck disable=SC2086 # settings are words
    env $settings TOMBOLO_CONDUIT=udp TOMBOLO_PLACES=2 "$TOMBOLO" run -n 3 --timeout 200 \
      valgrind -q --error-exitcode=9 "$TMB_BUILD/tests/conformance/$name" >"$dir/out" 2>&1 ||
      fail "$name $settings: $(head -30 "$dir/out")"
  done
done
echo "passed"
