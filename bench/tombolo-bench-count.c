/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs each short path of the library a known number of times, as a SEQ client.
 *
 * Owns nothing. Called by: scripts/count_paths.py, under valgrind. Calls: bench/lib/paths.c.
 * Invariant: measures nothing by itself; see bench/lib/paths.h for the agreement with the script.
 */
#include "lib/paths.h"

int main(int argc, char **argv) {
  static struct bench b;
  size_t count;
  bench_start(&b, "count", &argc, &argv);
  gex_AM_Entry_t *handlers = paths_handlers(&count);
  bench_attach(&b, handlers, count, PATHS_BYTES);
  if (b.rank < 2) paths_run(&b);
  bench_finish(&b);
}
