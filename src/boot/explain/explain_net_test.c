/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the host that is named as cut off, from what the ranks of three hosts show.
 *
 * Owns: a snapshot made by hand, one rank on each of the hosts a, b and c. Run by ctest. Calls:
 * tmb_explain_network. Invariants: times are in ms before the question; each host has a clock of
 * its own.
 */
#define _GNU_SOURCE
#include "base/unit_test.h"
#include "boot/explain/explain.h"

#include <string.h>

#define HOSTS 3
#define MS    UINT64_C(1000000)

/* What a rank shows. */
struct shows {
  uint32_t peer;     /* 1 + the peer that does not answer it; 0: none */
  uint32_t heard_ms; /* when it last heard that one */
  uint32_t any_ms;   /* when it last heard anybody */
  uint32_t count;    /* peers that do not answer it */
  uint32_t looked_ms;
};

static struct tmb_seen seen[HOSTS];
static char *said;

static int after(void **state) {
  (void)state;
  free(said);
  said = NULL;
  return 0;
}

static void ask(const struct shows rank[HOSTS]) {
  static char names[HOSTS][TMB_CTL_HOST_BYTES] = {"a", "b", "c"};
  static uint32_t host_of[HOSTS] = {0, 1, 2};
  const struct tmb_snapshot s = {
      .size = HOSTS, .hosts = HOSTS, .host_of = host_of, .host_name = names, .rank = seen};
  const struct tmb_explain e = {.now = &s};
  for (uint32_t r = 0; r < HOSTS; r++) {
    const uint64_t now = 100000 * MS * (r + 1);
    uint64_t *net = seen[r].status.net;
    seen[r].here = true;
    seen[r].at_ns = now;
    net[TMB_STATUS_NET_STALLED] = rank[r].peer;
    net[TMB_STATUS_NET_STALLED_HEARD_NS] = now - rank[r].heard_ms * MS;
    net[TMB_STATUS_NET_LOOKED_NS] = now - rank[r].looked_ms * MS;
    net[TMB_STATUS_NET_STALLED_COUNT] = rank[r].count;
    net[TMB_STATUS_NET_HEARD_NS] = now - rank[r].any_ms * MS;
  }
  size_t bytes;
  FILE *out = open_memstream(&said, &bytes);
  assert_non_null(out);
  tmb_explain_network(&e, out);
  fclose(out);
}

static void expect(const struct shows rank[HOSTS], const char *wanted) {
  ask(rank);
  assert_string_equal(said, wanted);
}

TEST_BETWEEN(a_host_that_hears_nobody, NULL, after) {
  expect(
      (const struct shows[]){{3, 500, 100, 1, 20}, {3, 900, 100, 1, 20}, {1, 4000, 4000, 2, 20}},
      "2 hosts get no answer from c for 4.0 s: what is sent to it is lost in the network; what it "
      "sends arrives\n");
}

TEST_BETWEEN(a_host_that_nobody_hears, NULL, after) {
  expect(
      (const struct shows[]){{3, 4000, 100, 1, 20}, {3, 4000, 100, 1, 20}, {1, 900, 800, 2, 20}},
      "2 hosts get no answer from c for 4.0 s: what it sends is lost in the network; what is sent "
      "to it arrives\n");
}

/* c asks a, which sends it nothing, as well as b, which does. */
TEST_BETWEEN(a_host_that_asks_more_than_lose_it, NULL, after) {
  expect((const struct shows[]){{0, 0, 100, 0, 20}, {3, 4020, 100, 1, 20}, {1, 4000, 800, 2, 20}},
         "rank 1 on b gets no answer from rank 2 on c for 4.0 s: what it sends is lost in the "
         "network; what is sent to it arrives\n");
}

TEST_BETWEEN(a_host_that_neither_hears_nor_is_heard, NULL, after) {
  expect(
      (const struct shows[]){{3, 4000, 100, 1, 20}, {3, 4300, 100, 1, 20}, {1, 4200, 4200, 2, 20}},
      "2 hosts get no answer from c for 4.2 s: packets are lost in both directions\n");
}

/* c has not looked at what came. */
TEST_BETWEEN(a_slow_host_does_not_lose_packets, NULL, after) {
  static const struct shows late[] = {
      {3, 4000, 100, 1, 20}, {3, 4000, 100, 1, 20}, {1, 4100, 4050, 2, 3900}};
  expect(late, "2 hosts get no answer from c for 4.0 s: the network between them is cut or loses "
               "packets, or that rank does not poll\n");
}

TEST_BETWEEN(a_slow_host_accuses_nobody, NULL, after) {
  expect((const struct shows[]){{0, 0, 100, 0, 20}, {0, 0, 100, 0, 20}, {1, 4100, 4050, 2, 4000}},
         "");
}

/* The hosts are looked at one after the other. */
TEST_BETWEEN(moments_of_two_hosts_differ, NULL, after) {
  ask((const struct shows[]){{3, 2600, 100, 1, 20}, {3, 2600, 100, 1, 20}, {1, 2300, 2300, 2, 20}});
  assert_non_null(strstr(said, "from c for 2.6 s: the network between them"));
}

int main(void) {
  return unit_run(NULL, NULL);
}
