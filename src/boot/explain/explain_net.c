/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host that the network has cut off, and in which direction, from the reports of the ranks of
 * all hosts.
 *
 * Owns: no state. Called by explain_text.c. Calls: explain. A rank shows one peer that it
 * has asked in vain, when it last heard of it, and how many such peers it has. A host that several
 * hosts lose is cut off, whomever it names itself; of two hosts that lose each other it is the one
 * that loses more peers. A rank that is cut off in one direction only receives from others, or
 * sends to them. Invariant: each pair of hosts is reported once.
 */
#include "boot/explain/explain_words.h"

#include "base/fmt.h"

#include <stdlib.h>

#define LONG_MS 2500u /* packets are sent again more often than this */

/* Losses that hosts report of each other. */
struct losses {
  const struct tmb_snapshot *s;
  uint32_t
      *silent_ms;  /* [hosts * hosts] 1 + for how long h has not heard g; 0: not asked in vain */
  uint32_t *peers; /* [hosts] most peers that a rank of the host has lost */
};

static uint32_t *cell(const struct losses *l, uint32_t h, uint32_t g) {
  return &l->silent_ms[(size_t)h * l->s->hosts + g];
}

static void collect(const struct losses *l) {
  for (uint32_t r = 0; r < l->s->size; r++) {
    uint32_t peer;
    uint64_t silent_ns;
    if (!tmb_explain_asks(l->s, r, &peer, &silent_ns)) continue;
    const uint32_t h = l->s->host_of[r], g = l->s->host_of[peer];
    const uint32_t ms = 1 + (uint32_t)TMB_MIN(silent_ns / 1000000, (uint64_t)UINT32_MAX - 1);
    uint32_t *at = cell(l, h, g);
    if (!*at || ms < *at) *at = ms;
    const uint64_t lost = l->s->rank[r].status.net[TMB_STATUS_NET_STALLED_COUNT];
    l->peers[h] = TMB_MAX(l->peers[h], (uint32_t)TMB_MIN(lost, (uint64_t)l->s->size));
  }
}

/* How many hosts get no answer from host g. out ms: how long ago the best of them heard it. */
static uint32_t accusers(const struct losses *l, uint32_t g, uint32_t *ms) {
  uint32_t count = 0;
  *ms = UINT32_MAX;
  for (uint32_t h = 0; h < l->s->hosts; h++) {
    if (!*cell(l, h, g)) continue;
    *ms = TMB_MIN(*ms, *cell(l, h, g) - 1);
    count++;
  }
  return count;
}

/* How long ago host g has heard the one of those it asks that it heard last; UINT32_MAX: it asks
 * nobody. */
static uint32_t hears_ms(const struct losses *l, uint32_t g) {
  uint32_t ms = UINT32_MAX;
  for (uint32_t h = 0; h < l->s->hosts; h++)
    if (*cell(l, g, h)) ms = TMB_MIN(ms, *cell(l, g, h) - 1);
  return ms;
}

static bool is_seen(const struct losses *l, uint32_t host) {
  for (uint32_t r = 0; r < l->s->size; r++)
    if (l->s->host_of[r] == host && l->s->rank[r].here) return true;
  return false;
}

/* Why, as far as it is known. in heard: ms since others have heard host g. */
static const char *direction(const struct losses *l, uint32_t g, uint32_t heard) {
  const uint32_t hears = hears_ms(l, g);
  if (!is_seen(l, g)) return "it answers nobody: it is cut off, stopped, or has no power";
  if (hears == UINT32_MAX || (hears < LONG_MS && heard < LONG_MS))
    return "the network between them is cut or loses packets, or that rank does not poll";
  if (heard < LONG_MS) return "what is sent to it is lost in the network; what it sends arrives";
  if (hears < LONG_MS) return "what it sends is lost in the network; what is sent to it arrives";
  return "packets are lost in both directions";
}

/* Of two hosts that lose each other, and that no third one loses, the one to name: which has lost
 * more peers, else the one with the higher number. */
static bool is_other(const struct losses *l, uint32_t h, uint32_t g) {
  if (!*cell(l, g, h)) return false;
  return l->peers[g] < l->peers[h] || (l->peers[g] == l->peers[h] && g < h);
}

static const char *seconds(double s, char age[TMB_FMT_BYTES]) {
  tmb_fmt_print(age, TMB_FMT_BYTES, "%.1f s", s);
  return age;
}

/* The first rank of host h that gets no answer from a rank of host g. */
static void print_pair(const struct losses *l, uint32_t h, uint32_t g, FILE *out) {
  char from[TMB_WORDS_NAME], to[TMB_WORDS_NAME], age[TMB_FMT_BYTES];
  for (uint32_t r = 0; r < l->s->size; r++) {
    uint32_t peer, ms;
    uint64_t silent_ns;
    if (l->s->host_of[r] != h || !tmb_explain_asks(l->s, r, &peer, &silent_ns)) continue;
    if (l->s->host_of[peer] != g) continue;
    (void)accusers(l, g, &ms);
    fprintf(out, "%s gets no answer from %s for %s: %s\n",
            tmb_words_name(l->s, r, from, sizeof from), tmb_words_name(l->s, peer, to, sizeof to),
            seconds((double)silent_ns / 1e9, age), direction(l, g, ms));
    return;
  }
}

/* Several hosts lose host g. */
static void print_host(const struct losses *l, uint32_t g, uint32_t count, uint32_t heard,
                       FILE *out) {
  const uint32_t hears = hears_ms(l, g), most = hears == UINT32_MAX ? heard : TMB_MAX(heard, hears);
  char age[TMB_FMT_BYTES];
  fprintf(out, "%u hosts get no answer from %s for %s: %s\n", count, l->s->host_name[g],
          seconds((double)most / 1000.0, age), direction(l, g, heard));
}

/* Whether a pair is worth a line: one of the two has not heard the other for a while. */
static bool counts(const struct losses *l, uint32_t h, uint32_t g) {
  return TMB_MAX(*cell(l, h, g), *cell(l, g, h)) > TMB_EXPLAIN_STALL_MS;
}

static void print_losses(const struct losses *l, FILE *out) {
  uint32_t ms, other_ms;
  for (uint32_t g = 0; g < l->s->hosts; g++) {
    const uint32_t count = accusers(l, g, &ms);
    if (count > 1 && (ms > TMB_EXPLAIN_STALL_MS || hears_ms(l, g) > TMB_EXPLAIN_STALL_MS))
      print_host(l, g, count, ms, out);
  }
  for (uint32_t g = 0; g < l->s->hosts; g++) {
    if (accusers(l, g, &ms) != 1) continue;
    uint32_t h = 0;
    while (!*cell(l, h, g)) h++;
    if (accusers(l, h, &other_ms) > 1 || is_other(l, h, g)) continue; /* that one is cut off */
    if (counts(l, h, g)) print_pair(l, h, g, out);
  }
}

void tmb_explain_network(const struct tmb_explain *e, FILE *out) {
  const size_t hosts = e->now->hosts;
  struct losses l = {.s = e->now};
  l.silent_ms = calloc(hosts * hosts + hosts, sizeof *l.silent_ms);
  if (!l.silent_ms) return;
  l.peers = l.silent_ms + hosts * hosts;
  collect(&l);
  print_losses(&l, out);
  free(l.silent_ms);
}
