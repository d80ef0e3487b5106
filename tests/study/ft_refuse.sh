#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NAS FT refuses what it cannot run: exit code 2, one line on standard error that gives the reason,
# nothing hangs. And what it writes: JSON that parses, a drawing, exit code 3 if a file cannot be
# written.
# Needs $TOMBOLO (the command) and $TMB_BUILD (the build tree).
# timeout: 120
set -u
ft=$TMB_BUILD/bench/ft
[ -x "$ft" ] || { echo "skipped: bench/ft is not built (libfftw3-dev missing?)"; exit 77; }
. "$(dirname "$0")/../lib/checks.sh"

# refused RANKS TEXT ARGS...: exit code 2, TEXT exactly once, no result
refused() {
  local ranks=$1 text=$2
  shift 2
  local out code
  out=$("$TOMBOLO" run -n "$ranks" --timeout 20 -- "$ft" "$@" 2>&1)
  code=$?
  [ "$code" -eq 2 ] || fail "ft $* on $ranks ranks: exit code $code, expected 2: $out"
  [ "$(grep -cF -- "$text" <<<"$out")" -eq 1 ] ||
    fail "ft $* on $ranks ranks: expected '$text' exactly once: $out"
  if grep -q VERIFIED <<<"$out"; then fail "ft $* on $ranks ranks: ran all the same: $out"; fi
}

# Class S or another on two ranks.
run2() {
  "$TOMBOLO" run -n 2 --timeout 30 -- "$ft" "$@"
}

refused 2 "--class is missing"
refused 2 "--class Q: expected S, W, A, B or C" --class Q
refused 2 "--grid 2: expected TYxTZ" --class S --grid 2
refused 2 "--grid 0x2: expected TYxTZ" --class S --grid 0x2
refused 2 "--schedule fast: expected" --class S --schedule fast
refused 2 "--iterations 0: expected" --class S --iterations 0
refused 2 "--fft-plan guess: expected" --class S --fft-plan guess
refused 2 "--plot x.gif: expected a name that ends in .svg or .png" --class S --plot x.gif
refused 2 "unrecognized option" --class S --colour
refused 4 "grid 1x3 has 3 places, but the job has 4 ranks; possible grids: 1x4 2x2 4x1" \
  --class S --grid 1x3
refused 3 "class S cannot be divided among 3 ranks" --class S
refused 3 "TZ = 3 must divide ny = 64 and nz = 64" --class S --grid 1x3
export GASNET_MAX_SEGSIZE=1MB/P
refused 2 "is the most a rank can have here" --class A
unset GASNET_MAX_SEGSIZE

run2 --class S --schedule all --json "$dir/ft.json" --quiet >/dev/null ||
  fail "--json FILE: exit code $?"
python3 - "$dir/ft.json" <<'P' || fail "--json: not what was expected"
import json, sys
data = json.load(open(sys.argv[1]))
assert data["class"] == "S" and data["ranks"] == 2, data
wanted = ["packed", "collective", "slabs-blocking", "slabs-signal", "slabs"]
assert [r["schedule"] for r in data["runs"]] == wanted, data
for run in data["runs"]:
    assert run["verification"] == "VERIFIED" and len(run["checksums"]) == 6, run
    parts = sum(p["mean"] for p in run["phases"].values())
    assert 0 < parts <= run["seconds"] * 1.001, (parts, run["seconds"])
P
run2 --class S --json - 2>/dev/null | python3 -m json.tool >/dev/null ||
  fail "--json -: standard output is not JSON alone"

run2 --class S --quiet --json "$dir/none/ft.json" >/dev/null 2>"$dir/err"
code=$?
[ "$code" -eq 3 ] ||
  fail "--json in a missing folder: exit code $code, expected 3: $(cat "$dir/err")"
grep -q "cannot write: No such file or directory" "$dir/err" ||
  fail "no reason given: $(cat "$dir/err")"

if command -v gnuplot >/dev/null; then
  for kind in svg png; do
    run2 --class S --schedule all --quiet --plot "$dir/it's.$kind" >/dev/null ||
      fail "--plot .$kind: exit code $?"
    [ -s "$dir/it's.$kind" ] || fail "--plot .$kind: nothing was written"
  done
  grep -q "local FFT" "$dir/it's.svg" || fail "--plot .svg: no legend entry 'local FFT'"
fi
# ft-upc takes the options of ft, and refuses what it does not know.
upc=$TMB_BUILD/bench/ft-upc
upc2() {
  "$TOMBOLO" run -n 2 --timeout 60 -- "$upc" "$@"
}
if [ -x "$upc" ]; then
  upc2 --class=S -s slabs-signal --grid 1x2 -i 2 --warmup --fft-plan estimate --quiet \
    --json "$dir/upc.json" >"$dir/out" || fail "ft-upc: exit code $?"
  grep -q "^signal .*VERIFIED" "$dir/out" || fail "ft-upc: not verified: $(cat "$dir/out")"
  python3 - "$dir/upc.json" <<'P' || fail "ft-upc --json: not what was expected"
import json, sys
run, = json.load(open(sys.argv[1]))["runs"]
assert run["schedule"] == "signal" and run["verification"] == "VERIFIED", run
assert run["puts_per_rank"] > 0 and 0 < run["phases"]["fft"]["mean"] < run["seconds"], run
P
  # Two exchanges a transform: rows and columns, in memory that is shared and not.
  for shm in 1 0; do
    TOMBOLO_TEST_SHM=$shm "$TOMBOLO" run -n 4 --timeout 60 -- "$upc" --grid 2x2 -P estimate -q \
      >"$dir/out" || fail "ft-upc --grid 2x2, TOMBOLO_TEST_SHM=$shm: exit code $?"
    [ "$(grep -c " VERIFIED" "$dir/out")" -eq 3 ] || fail "ft-upc --grid 2x2: $(cat "$dir/out")"
  done
  upc2 --inject-error -s nb -q >"$dir/out" 2>/dev/null
  code=$?
  [ "$code" -eq 1 ] && grep -q FAILED "$dir/out" || fail "ft-upc --inject-error: exit code $code"
  for words in "--class Z:expected S, W, A, B or C" "--grid 2y1:expected two numbers" \
    "--grid 2x2:has 4 places.*possible grids: 1x2 2x1" \
    "--iterations 0:expected a whole number" "--schedule x:expected bulk" \
    "--frob:there is none of this name" "--runs:expected N" "--quiet=1:expected no value"; do
    upc2 ${words%%:*} >/dev/null 2>"$dir/err"
    code=$?
    [ "$code" -eq 2 ] && grep -q "ft-upc: .*${words#*:}" "$dir/err" ||
      fail "ft-upc ${words%%:*}: exit code $code: $(cat "$dir/err")"
  done
fi
echo "all refusals and files as expected"
