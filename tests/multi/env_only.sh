#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tombolo run --env-only: the ranks get the variables that were chosen, and no others.
# Needs $TOMBOLO (the command).
# timeout: 60
set -u
export TMB_A=1 TMB_B=2 OTHER=3 GASNET_X_TEST=4

# expect WANTED OPTION...: the names that two ranks see
expect() {
  local wanted=$1 got
  shift
  got=$("$TOMBOLO" run -n 2 "$@" -- sh -c \
    'all=
     for n in TMB_A TMB_B TMB_C OTHER GASNET_X_TEST PATH; do
       eval "[ -n \"\${$n:-}\" ]" && all="$all$n "
     done
     echo "$all"' | sort -u)
  [ "$got" = "$wanted " ] || {
    echo "FAIL: $*: expected '$wanted', got '$got'" >&2
    exit 1
  }
}

expect "TMB_A TMB_B OTHER GASNET_X_TEST PATH"
expect "GASNET_X_TEST PATH" --env-only ""
expect "TMB_A TMB_B GASNET_X_TEST PATH" --env-only "TMB_*"
expect "OTHER GASNET_X_TEST PATH" --env-only "NONE,OTHER"
expect "TMB_B TMB_C GASNET_X_TEST PATH" --env-only NONE -E TMB_C=5 -E TMB_B
if "$TOMBOLO" run -n 1 -E =x -- true 2>/dev/null; then
  echo "FAIL: -E =x was taken" >&2
  exit 1
fi
