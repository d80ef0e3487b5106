#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A conduit that cannot be loaded or used ends the job on all ranks, with the reason once for each
# host, also when only one rank finds no conduit.
# Needs $TOMBOLO (the command) and $TMB_BUILD (the build tree).
# timeout: 60
set -u
program=$TMB_BUILD/tests/conformance/am_args
. "$(dirname "$0")/../lib/checks.sh"

# refused TEXT SETTING...: six ranks on two pretended hosts end, and TEXT comes once
refused() {
  local text=$1 out code
  shift
  out=$(env TOMBOLO_PLACES=2 "$@" "$TOMBOLO" run -n 6 --timeout 20 -- "${start[@]}" "$program" 2>&1)
  code=$?
  [ "$code" -ne 0 ] && [ "$code" -ne 124 ] || fail "$*: exit code $code: $out"
  [ "$(grep -c -- "$text" <<<"$out")" -eq 1 ] ||
    fail "$*: expected '$text' once: $out"
}

start=()
refused "TOMBOLO_NET_PLUGIN=/no/such.so cannot be loaded" TOMBOLO_CONDUIT=udp \
  TOMBOLO_NET_PLUGIN=/no/such.so
refused "the plug-in of conduit udp exports no tombolo_net" TOMBOLO_CONDUIT=udp \
  TOMBOLO_NET_PLUGIN=libm.so.6
refused "TOMBOLO_CONDUIT=smp reaches the ranks of one host" TOMBOLO_CONDUIT=smp
start=(bash -c 'mkdir "$0" 2>/dev/null && export TOMBOLO_NET_PLUGIN=/no/such.so; exec "$@"'
  "$dir/one")
refused "TOMBOLO_NET_PLUGIN=/no/such.so cannot be loaded" TOMBOLO_CONDUIT=udp

# A library without plug-ins beside it uses those of the installation, where there is one.
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$TMB_BUILD/CMakeCache.txt")
installed=$(find "$prefix" -name tombolo-net-udp.so -print -quit 2>/dev/null)

# A library that a relative LD_LIBRARY_PATH finds is named by its folder, not by the program's.
found=$(find "$TMB_BUILD/lib" -name 'libtombolo.so.?' | head -1)
if [ -n "$installed" ]; then
  echo "not tried: a library that finds no plug-in, for $installed is installed"
elif [ -n "$found" ] && ldd "$program" | grep -q libtombolo; then
  mkdir "$dir/lib"
  cp -L "$found" "$dir/lib"
  saved=$PWD
  cd "$dir" || fail "cannot enter $dir"
  refused "beside the library ($dir/lib/libtombolo" TOMBOLO_CONDUIT=udp LD_LIBRARY_PATH=lib
  cd "$saved" || fail "cannot enter $saved"
fi

# A static program has no other libc for a conduit; on one host it needs none.
printf '#include <gasnetex.h>\n%s\n' 'int main(int argc, char **argv) {
  gex_Client_t c; gex_EP_t e; gex_TM_t t;
  gex_Client_Init(&c, &e, &t, "STATIC", &argc, &argv, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(t, 0));
}' >"$dir/static.c"
if "${TMB_CC:-cc}" -static -DGASNET_PAR=1 -I"$(dirname "$0")/../../include" "$dir/static.c" \
  "$TMB_BUILD/lib/libtombolo.a" -lpthread -lm -o "$dir/static" 2>"$dir/log"; then
  "$TOMBOLO" run -n 2 "$dir/static" || fail "a static program does not run on one host"
  program=$dir/static
  refused "linked with -static, so it cannot load the conduit udp" TOMBOLO_CONDUIT=udp
  program=$TMB_BUILD/tests/conformance/am_args
fi

# A network that refuses is named, with its error and what helps.
start=()
refused "sending a message.* to rank 3 failed: conduit refuses: .* (TMB_E_LIMIT); raise" \
  TOMBOLO_CONDUIT=udp TOMBOLO_NET_PLUGIN="$TMB_BUILD/tests/plugin/net_refuses.so"

# A command that PATH has found knows where its plug-ins are.
PATH=$(dirname "$TOMBOLO"):$PATH tombolo info --network | grep -q '^ *udp .* plug-in /' ||
  fail "tombolo info, started by PATH, does not find the plug-in of udp"

# So does that of a wheel.
mkdir -p "$dir/wheel/_bin" "$dir/wheel/_lib/tombolo"
cp "$TOMBOLO" "$dir/wheel/_bin/tombolo"
cp "$TMB_BUILD/lib/tombolo/tombolo-net-udp.so" "$dir/wheel/_lib/tombolo"
"$dir/wheel/_bin/tombolo" info --network | grep -q "^ *udp .* plug-in .*$dir/wheel/" ||
  fail "tombolo info in a wheel does not find the plug-in of udp"

# Of each provider of libfabric it is said what it does, or how to find out what it lacks.
"$TOMBOLO" info --network >"$dir/info"
if grep -q '^ *ofi .* plug-in /' "$dir/info" && grep -q '^ *cxi ' "$dir/info"; then
  grep -Eq "^ *cxi  .*(injects up to [0-9]+ B;|'fi_info -p \"cxi\"' shows which)" "$dir/info" ||
    fail "tombolo info does not say what the provider cxi is, or lacks"
  ! grep -q ' available: ' "$dir/info" ||
    grep -q ' available: the first choice, if all ranks have it; domain ' "$dir/info" ||
    fail "tombolo info does not say which provider is the first choice"
fi
echo "passed"
