# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments and settings are named with routine, argument, value and remedy; how programs
end: shmem_global_exit with its code, exit without shmem_finalize, another code, a PE that dies."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(os.environ["TMB_BUILD"])
SOURCE = r"""
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long x, sync_array[SHMEM_SYNC_SIZE];
static uint64_t sig;
static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }
static void expect(int rc, shmem_team_t team) {
  if (rc == 0 || team != SHMEM_TEAM_INVALID) abort();
}
int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  long local = 1;
  if (is(what, "early")) shmem_barrier_all();
  int level;
  if (strncmp(what, "th", 2)) shmem_init(); else shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
  const int me = shmem_my_pe(), n = shmem_n_pes();
  if (is(what, "pe")) shmem_p(&x, 1, n);
  if (is(what, "negative")) (void)shmem_atomic_fetch(&x, -1);
  if (is(what, "address")) shmem_put(&local, &x, 1, 0);
  if (is(what, "source")) (void)shmem_g(&local, 0);
  if (is(what, "size")) shmem_putmem(shmem_malloc(64), &local, (size_t)1 << 50, 0);
  if (is(what, "signal")) shmem_put_signal(&x, &local, 1, &sig, 1, 7, 0);
  if (is(what, "aligned")) shmem_signal_add((uint64_t *)((char *)sync_array + 1), 1, 0);
  if (is(what, "cmp")) shmem_wait_until(&x, 9, 0);
  if (is(what, "signal_cmp")) shmem_signal_wait_until(&sig, 9, 0);
  if (is(what, "wait")) shmem_wait_until(&local, SHMEM_CMP_EQ, 2);
  if (is(what, "free")) shmem_free(&local);
  if (is(what, "twice")) { void *p = shmem_malloc(8); shmem_free(p); shmem_free(p); }
  if (is(what, "align")) shmem_align(24, 8);
  if (is(what, "stride")) shmem_iput(&x, &local, 0, 1, 1, 0);
  if (is(what, "set")) shmem_barrier(0, 0, n + 1, sync_array);
  if (is(what, "root")) shmem_broadcast(SHMEM_TEAM_WORLD, &x, &x, 1, n);
  if (is(what, "relock")) { shmem_set_lock(&x); shmem_set_lock(&x); }
  if (is(what, "thread")) { shmem_set_lock(&x); shmem_set_lock(&x); }
  if (is(what, "other")) { if (me == 0) shmem_set_lock(&x); shmem_barrier_all(); }
  if (is(what, "other") && me == 1) shmem_clear_lock(&x);
  if (is(what, "unlock")) shmem_clear_lock(&x);
  if (is(what, "null")) shmem_put(&x, (long *)NULL, 1, 0);
  static shmem_team_t half = SHMEM_TEAM_INVALID;
  static shmem_ctx_t ctx;
  static long both[8];
  if (is(what, "no_team") || is(what, "ended_team"))
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, is(what, "no_team") ? 1 : n, NULL, 0, &half);
  if (is(what, "ended_team")) shmem_team_destroy(half);
  if (is(what, "no_team") || is(what, "ended_team")) shmem_team_sync(half);
  if (is(what, "ended_ctx")) { shmem_ctx_create(0, &ctx); shmem_ctx_destroy(ctx); }
  if (is(what, "ended_ctx")) shmem_p(ctx, &x, 1, 0);
  if (is(what, "team_pe")) {
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &half);
    if (me == 0) shmem_team_create_ctx(half, 0, &ctx);
    if (me == 0) shmem_p(ctx, &x, 1, 1);
  }
  if (is(what, "overlap")) shmem_put(&both[1], &both[0], 4, me);
  if (is(what, "reduce")) shmem_sum_reduce(SHMEM_TEAM_WORLD, &both[1], &both[0], 4);
  if (is(what, "collect")) shmem_fcollect(SHMEM_TEAM_WORLD, &both[0], &both[0], 4);
  if (is(what, "private")) shmem_broadcast(SHMEM_TEAM_WORLD, &x, &local, 1, 0);
  if (is(what, "psync")) { sync_array[3] = -1; shmem_sync(0, 0, n, sync_array); }
  if (is(what, "ctx")) shmem_p(SHMEM_CTX_INVALID, &x, 1, 0);
  if (is(what, "level")) shmem_init_thread(9, NULL);
  if (is(what, "global") && me == n - 1) shmem_global_exit(43);
  if (is(what, "global")) shmem_wait_until(&x, SHMEM_CMP_EQ, 1);
  static shmem_team_t team, other;
  if (is(what, "start"))
    expect(shmem_team_split_strided(SHMEM_TEAM_WORLD, me, 1, 1, NULL, 0, &team), team);
  if (is(what, "size_of_team"))
    expect(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1 + me, NULL, 0, &team), team);
  if (is(what, "xrange"))
    expect(shmem_team_split_2d(SHMEM_TEAM_WORLD, 1 + me, NULL, 0, &team, NULL, 0, &other), team);
  if (is(what, "exit")) exit(0);
  if (is(what, "code")) { if (me == n - 1) exit(7); shmem_barrier_all(); }
  if (is(what, "dies")) { if (me == n - 1) abort(); shmem_wait_until(&x, SHMEM_CMP_EQ, 1); }
  if (is(what, "again")) { shmem_init(); shmem_finalize(); shmem_barrier_all(); }
  shmem_finalize();
  return 0;
}
"""
# argument of the program: what its message has
REFUSED = {
    "early": ["shmem_barrier_all", "call shmem_init first"],
    "pe": ["shmem_long_p: argument pe is 2", "PEs 0 to 1"],
    "negative": ["shmem_long_atomic_fetch: argument pe is -1"],
    "address": ["shmem_long_put: argument dest is 0x", "no symmetric address", "shmem_malloc"],
    "source": ["shmem_long_g: argument source is 0x"],
    "signal": ["shmem_long_put_signal: argument sig_op is 7", "SHMEM_SIGNAL_ADD"],
    "cmp": ["shmem_long_wait_until: argument cmp is 9"],
    "signal_cmp": [": shmem_signal_wait_until: argument cmp is 9"],
    "free": ["shmem_free: argument ptr is 0x"],
    "twice": ["shmem_free: argument ptr is 0x"],
    "align": ["shmem_align: argument alignment is 24"],
    "stride": ["shmem_long_iput: arguments dst and sst are 0 and 1"],
    "set": ["shmem_barrier: arguments PE_start, logPE_stride and PE_size are 0, 0 and 3"],
    "root": ["argument PE_root is 2", "PEs 0 to 1"],
    "relock": ["shmem_set_lock: argument lock is 0x"],
    "thread": ["shmem_set_lock: argument lock is 0x", "already"],
    "unlock": ["shmem_clear_lock: argument lock is 0x", "which this PE does not have"],
    "ctx": ["argument ctx is SHMEM_CTX_INVALID"],
    "level": ["argument requested is 9", "MULTIPLE"],
}
CHECKED = {  # with SHMEM_DEBUG=1
    "size": ["shmem_putmem: argument dest is 0x", "bytes from there pass the end"],
    "aligned": ["shmem_signal_add: argument sig_addr is 0x", "no multiple of 8"],
    "null": ["shmem_long_put: argument source is NULL"],
    "wait": ["shmem_long_wait_until: argument ivars is 0x", "no symmetric address"],
    "no_team": ["shmem_team_sync: argument team is SHMEM_TEAM_INVALID", "members"],
    "ended_team": ["shmem_team_sync: argument team is 0x", "was destroyed"],
    "ended_ctx": ["shmem_ctx_long_p: argument ctx is 0x", "was destroyed"],
    "team_pe": ["shmem_ctx_long_p: argument pe is 1", "team of the context has PEs 0 to 0"],
    "overlap": ["shmem_long_put: arguments dest and source", "32 bytes overlap", "memmove"],
    "reduce": ["shmem_long_sum_reduce: arguments dest and source", "overlap; use one array"],
    "collect": ["shmem_long_fcollect: arguments dest and source", "64 and 32 bytes"],
    "private": ["shmem_long_broadcast: argument source is 0x", "no symmetric address"],
    "psync": ["shmem_sync: argument pSync is 0x", "element 3 is -1", "SHMEM_SYNC_VALUE"],
}
WARNED = {  # the call returns an error on all PEs
    "start": ["shmem_team_split_strided: argument start is 0 on one PE", "1 on another"],
    "size_of_team": ["shmem_team_split_strided: argument size is 1 on one PE", "2 on another"],
    "xrange": ["shmem_team_split_2d: argument xrange is 1 on one PE", "2 on another"],
}
ENDS = {"global": 43, "exit": 0, "code": 7, "dies": 134, "again": 0, "": 0}


def run(program, word, **env):
    begin = time.monotonic()
    done = subprocess.run(
        [str(BUILD / "bin/oshrun"), "-np", "2", str(program), word],
        env=dict(os.environ, **env), capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr, time.monotonic() - begin


def expect(condition, word, result):
    if not condition:
        sys.exit(f"faults: '{word}': code {result[0]}, {result[2]:.1f} s\n{result[1]}")


def line_of(word):
    """The place of the call in the program, in front of the message."""
    lines = SOURCE.split("\n")
    line = next(i for i, text in enumerate(lines, 1) if f'"{word}"' in text)
    return rf": fault\.c:{line}: shmem_"


def check_settings(program):
    for value in ("20q", "20kk", "-5", "x", "0"):
        result = run(program, "", SHMEM_SYMMETRIC_SIZE=value)
        expect(result[0] == 1 and f"SHMEM_SYMMETRIC_SIZE is '{value}'" in result[1], value, result)
    result = run(program, "", SMA_SYMMETRIC_SIZE="3.1m", SHMEM_INFO="1", SHMEM_VERSION="1")
    expect(result[0] == 0 and "OpenSHMEM 1.6" in result[1], "info", result)
    size = int(result[1].split("here ")[1].split()[0])
    expect(3250586 <= size < 3250586 + 4096, "info", result)
    info = json.loads(subprocess.run([os.environ["TOMBOLO"], "info", "--json"], check=True,
                                     env=dict(os.environ, SHMEM_SYMMETRIC_SIZE="3m"),
                                     capture_output=True, text=True, timeout=60).stdout)["shmem"]
    expect(info["specification"] == "1.6" and "SIZE=3m" in info["symmetric_heap"], "info", result)
    result = run(program, "", SHMEM_SYMMETRIC_SIZE="900t")
    expect(result[0] == 1 and "lower SHMEM_SYMMETRIC_SIZE" in result[1], "900t", result)


def main():
    with tempfile.TemporaryDirectory(prefix="a clone ") as name:
        source, program = Path(name) / "fault.c", Path(name) / "fault"
        source.write_text(SOURCE)
        compiler = [str(BUILD / "bin/oshcc"), "-O1", "-g", "-w"]
        names = dict(os.environ, CC="oshcc", OSHCC="oshcc")  # as makefiles set them
        subprocess.run([*compiler, str(source), "-o", str(program)], check=True, env=names,
                       timeout=60)
        for word, texts in REFUSED.items():
            result = run(program, word)
            expect(result[0] == 1 and all(t in result[1] for t in texts), word, result)
            if shutil.which("addr2line") and word != "level":
                expect(re.search(line_of(word), result[1]), word, result)
        for word, texts in CHECKED.items():
            result = run(program, word, SHMEM_DEBUG="1")
            expect(result[0] == 1 and all(t in result[1] for t in texts), word, result)
        for word, texts in WARNED.items():
            result = run(program, word)
            expect(result[0] == 0 and all(t in result[1] for t in texts), word, result)
        result = run(program, "other")
        expect(result[0] == 1 and "shmem_clear_lock: argument lock is 0x" in result[1], "other",
               result)
        for word, code in ENDS.items():
            result = run(program, word)
            expect(result[0] == code and result[2] < 10, word, result)
        check_settings(program)
    print("faults: passed")


main()
