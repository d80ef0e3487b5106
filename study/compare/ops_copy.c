/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memcpy within one process, for study/compare/ops.py: the floor of put and get in shared memory.
 *
 * Owns: two buffers. Compiled by ops.py; not part of the build. Calls: ops_loop.h, as rank 0 alone.
 * The size is not known to the compiler. A copy by another thread would need a hand-off more, so
 * this is what a put cannot beat. Invariant: nothing is in flight when start returns.
 */
#include "ops_loop.h"
#include "written.h"

static char *volatile from, *volatile to;

static void nothing(void) {}

static void prepare(int op, int n, size_t bytes) {
  (void)op, (void)n, (void)bytes;
}

static void start(int op, size_t bytes) {
  (void)op;
  memcpy(to, from, bytes);
}

static void complete(int op) {
  (void)op;
}

int main(int argc, char **argv) {
  from = written(OPS_BYTES_MAX);
  to = written(OPS_BYTES_MAX);
  if (!from || !to) return 1;
  const struct side s = {.has = {true},
                         .barrier = nothing,
                         .prepare = prepare,
                         .start = start,
                         .complete = complete,
                         .few = ops_asked(argc, argv, "few")};
  ops_main(&s);
  free(from);
  free(to);
  return 0;
}
