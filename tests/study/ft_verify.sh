#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NAS FT class S must match the published checksums at 1, 2, 4 and 8 ranks, on one- and
# two-dimensional grids, with every schedule; and must say FAILED, exit code 1, when one input value
# is flipped. Also: the compiled-in reference table is the one of npb_ft_reference.csv.
# Needs $TOMBOLO (the command) and $TMB_BUILD (the build tree).
# timeout: 120
set -u
ft=$TMB_BUILD/bench/ft
[ -x "$ft" ] || { echo "skipped: bench/ft is not built (libfftw3-dev missing?)"; exit 77; }
here=$(cd "$(dirname "$0")/../../study/apps/ft" && pwd)
python3 "$here/make_reference.py" --check || exit 1

fail() {
  echo "FAIL: $*" >&2
  exit 1
}

# run RANKS ARGS...: output in $out, exit code in $code
run() {
  local ranks=$1
  shift
  out=$("$TOMBOLO" run -n "$ranks" --timeout 60 -- "$ft" --class S "$@" 2>&1)
  code=$?
}

for case in 1:1x1 2:1x2 2:2x1 4:1x4 4:4x1 4:2x2 8:2x4 8:4x2; do
  ranks=${case%:*}
  grid=${case#*:}
  run "$ranks" --grid "$grid" --schedule all --quiet
  [ "$code" -eq 0 ] || fail "$ranks ranks as $grid: exit code $code, expected 0: $out"
  for schedule in packed collective slabs slabs-blocking slabs-signal; do
    grep -q "^VERIFIED: class S, $schedule, $ranks rank" <<<"$out" ||
      fail "$ranks ranks as $grid: $schedule is not reported as verified: $out"
  done
  if [ "$ranks" = 1 ] || [ "$ranks" = 4 ]; then
    run "$ranks" --grid "$grid" --schedule all --quiet --inject-error
    [ "$code" -eq 1 ] ||
      fail "$ranks ranks as $grid, flipped value: exit code $code, expected 1: $out"
    [ "$(grep -c '^FAILED: class S' <<<"$out")" -eq 5 ] ||
      fail "$ranks ranks as $grid: a flipped value was not noticed by all five schedules: $out"
  fi
done

# Ranks without common memory: slabs-signal sends parts of planes, and --bound says the least time.
for conduit in udp loop; do
  out=$(TOMBOLO_CONDUIT=$conduit TOMBOLO_PLACES=2 "$TOMBOLO" run -n 2 --timeout 60 -- "$ft" \
    --class S --schedule slabs-signal --bound 2>&1) || fail "$conduit: exit code $?: $out"
  grep -q "^VERIFIED: class S, slabs-signal" <<<"$out" || fail "$conduit: not verified: $out"
  grep -q "448 puts a rank, 16.0 KiB each" <<<"$out" || fail "$conduit: no parts of planes: $out"
  grep -qE "^bound: [0-9.]+ s: the longer one of wire \([0-9.]+ s\)" <<<"$out" ||
    fail "$conduit: no bound: $out"
  grep -qE "^bound with the processors: [0-9.]+ s: .* 2 ranks share [0-9]+; this run" <<<"$out" ||
    fail "$conduit: no bound with the processors: $out"
done
# The second bound has the kernel's part, on the processors that ranks of one machine share; with
# grids of rows and columns, too. The numbers of the report follow from each other.
json=$(mktemp)
out=$(TOMBOLO_CONDUIT=udp TOMBOLO_PLACES=2 "$TOMBOLO" run -n 4 --timeout 60 -- "$ft" --class S \
  --grid 2x2 --schedule all --bound --quiet --json "$json" 2>&1) || fail "2x2, bound: $out"
python3 - "$json" <<'EOF' || fail "the bounds in $(cat "$json")"
import json, os, sys
for run in json.load(open(sys.argv[1]))["runs"]:
    machine = run["machine"]
    assert machine == {"ranks": 4, "processors": len(os.sched_getaffinity(0))}, machine
    assert run["conduit_seconds"] >= run["kernel_seconds"] >= 0 < run["compute_alone_seconds"]
    busy = (run["compute_alone_seconds"] + run["conduit_seconds"]) * 4 / machine["processors"]
    assert run["processor_seconds"]["min"] > 0, run
    assert run["shared_bound_seconds"] >= max(busy, run["wire_seconds"]), run
EOF
rm -f "$json"
run 2 --bound --quiet
grep -q "^bound: none: all ranks share memory" <<<"$out" || fail "shared memory, --bound: $out"

# More iterations than reference rows: what has a reference is verified, and the report says how
# many that is.
run 2 --iterations 8 --quiet
[ "$code" -eq 0 ] && grep -q "6 of 8 iterations have a reference" <<<"$out" ||
  fail "8 iterations: exit code $code, expected 0 and a remark about 6 of 8: $out"

# The program can start its own ranks.
out=$(GASNET_PSHM_NODES=2 "$ft" --class S --quiet 2>&1) ||
  fail "without a launcher: exit code $?: $out"
grep -q "^VERIFIED: class S, slabs, 2 ranks (1x2)" <<<"$out" || fail "without a launcher: $out"
echo "all checksums verified"
