/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 5 */
/* again: TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop TOMBOLO_PLACES=cyclic:3+TOMBOLO_CONDUIT=loop */
/*
 * The bootstrap alone, without a conduit: barriers, gathers of many lengths, fates, the end.
 * tests/multi/hosts.py runs it over hosts of its own, too. With an argument: `hold` waits to be
 * ended after the first barrier; `lose R` has rank R die and the others, who want to go on, find
 * out; `exit C` has the last rank leave with code C.
 */
#include "base/config.h"
#include "boot/boot.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQUIRE(condition)                                                     \
 do {                                                                          \
  if (!(condition)) {                                                          \
   fprintf(stderr, "bootstrap: rank %u: failed: %s\n", boot.rank, #condition); \
   fail();                                                                     \
  }                                                                            \
 } while (0)

static struct tmb_boot boot;

_Noreturn static void leave(int code) {
  tmb_boot_record_exit(&boot, code);
  fflush(NULL);
  _exit(code);
}

_Noreturn static void fail(void) {
  leave(9);
}

static uint8_t pattern(uint32_t rank, size_t round, size_t i) {
  return (uint8_t)(rank * 29 + round * 7 + i * 3 + i / 251);
}

static void gather(size_t round, size_t bytes) {
  uint8_t *mine = malloc(bytes), *all = malloc(bytes * boot.size);
  REQUIRE(mine && all);
  for (size_t i = 0; i < bytes; i++) mine[i] = pattern(boot.rank, round, i);
  tmb_boot_allgather(&boot, mine, bytes, all);
  for (uint32_t r = 0; r < boot.size; r++)
    for (size_t i = 0; i < bytes; i++) REQUIRE(all[r * bytes + i] == pattern(r, round, i));
  free(mine);
  free(all);
}

static void gathers(void) {
  static const size_t lengths[] = {1, 8, 64, 1000, 1024, 1025, 5000, 3, 100000};
  for (size_t round = 0; round < sizeof lengths / sizeof lengths[0]; round++) {
    gather(round, lengths[round]);
    if (round % 3 == boot.rank % 3) REQUIRE(tmb_boot_barrier(&boot));
    if (round % 3 != boot.rank % 3) REQUIRE(tmb_boot_barrier(&boot));
  }
}

/* Who is where is a matter of the whole job: all say the same, and the secret is one. */
static void places(void) {
  struct {
    uint32_t host, near_index;
    uint8_t secret[TMB_BOOT_SECRET_BYTES];
    uint64_t job_id;
  } mine = {.host = boot.places.host, .near_index = boot.places.near_index}, *all;
  mine.job_id = boot.job_id;
  if (boot.secret) memcpy(mine.secret, boot.secret, sizeof mine.secret);
  all = calloc(boot.size, sizeof *all);
  REQUIRE(all);
  tmb_boot_allgather(&boot, &mine, sizeof mine, all);
  uint32_t near = 0;
  for (uint32_t r = 0; r < boot.size; r++) {
    REQUIRE(all[r].host == boot.places.host_of[r]);
    REQUIRE(all[r].near_index == boot.places.near_of[r]);
    REQUIRE(memcmp(all[r].secret, mine.secret, sizeof mine.secret) == 0);
    REQUIRE(all[r].job_id == mine.job_id);
    near += tmb_places_near(&boot.places, r);
  }
  REQUIRE(near == boot.places.near_count);
  free(all);
}

static void nap(void) {
  const struct timespec ms = {.tv_nsec = 1000000};
  nanosleep(&ms, NULL);
}

/* Rank `who` dies; the others are notified and end in good order. */
static void lose(uint32_t who) {
  tmb_boot_report(&boot, true, NULL);
  REQUIRE(tmb_boot_barrier(&boot));
  if (boot.rank == who) raise(SIGKILL);
  for (int i = 0; i < 10000 && !TMB_FATE_IS_LOST(tmb_boot_fate(&boot, who)); i++) nap();
  const uint32_t fate = tmb_boot_fate(&boot, who);
  REQUIRE(TMB_FATE_KIND(fate) == TMB_FATE_FAILED);
  REQUIRE(TMB_FATE_SIGNAL(fate) == SIGKILL);
  REQUIRE(*tmb_boot_changes(&boot) > 0);
  REQUIRE(!tmb_boot_barrier(&boot));
  printf("rank %u saw it\n", boot.rank);
  leave(0);
}

int main(int argc, char **argv) {
  if (tmb_boot_start(&boot)) return 8;
  gathers();
  places();
  REQUIRE(tmb_boot_barrier(&boot));
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "lose") == 0) lose((uint32_t)atoi(argv[2]));
  if (strcmp(what, "hold") == 0) {
    printf("rank %u holds as %d\n", boot.rank, (int)getpid());
    fflush(stdout);
    for (;;) pause();
  }
  if (strcmp(what, "exit") == 0 && boot.rank == boot.size - 1) leave(atoi(argv[2]));
  if (strcmp(what, "exit") == 0)
    for (;;) pause();
  printf("rank %u of %u well on host %u of %u\n", boot.rank, boot.size, boot.places.host,
         boot.places.hosts);
  leave(0);
}
