/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the host that the network has cut off, and the direction, from the reports of the ranks of
 * all hosts.
 *
 * Owns: no state. Called by explain_text.c. Calls: explain. A rank shows the peer that it has asked
 * in vain and heard least lately, how many such peers it has, and when it last heard anybody. A
 * host that several hosts lose is cut off, whomever it names itself; of two hosts it is the one
 * that loses more peers. A host that is cut off in one direction only receives from others, or
 * sends to them. A host that does not look for packets may be slow: of it nothing is said.
 * Invariant: each pair of hosts is reported once.
 */
#include "boot/explain/explain_words.h"

#include "base/fmt.h"

#include <stdlib.h>

#define LONG_MS 2500u /* packets are sent again more often than this */

/* Last time that somebody was heard. */
struct heard {
  uint32_t silent_ms; /* until the listener last looked for packets: at least so long */
  uint32_t since_ms;  /* until now: at most so long */
};

static const struct heard NEVER = {UINT32_MAX, UINT32_MAX};

/* Losses that hosts report of each other. */
struct losses {
  const struct tmb_snapshot *s;
  struct heard *of; /* [hosts * hosts] when h heard g last, if g does not answer it; else NEVER */
  struct heard *hears; /* [hosts] when a rank of the host last heard anybody */
  uint32_t *peers;     /* [hosts] most peers that a rank of the host has lost */
};

static struct heard *cell(const struct losses *l, uint32_t h, uint32_t g) {
  return &l->of[(size_t)h * l->s->hosts + g];
}

/* Whether host g does not answer host h. */
static bool loses(const struct losses *l, uint32_t h, uint32_t g) {
  return cell(l, h, g)->since_ms != UINT32_MAX;
}

static uint32_t ms_between(uint64_t from_ns, uint64_t to_ns) {
  const uint64_t ms = to_ns > from_ns ? (to_ns - from_ns) / 1000000 : 0;
  return (uint32_t)TMB_MIN(ms, (uint64_t)UINT32_MAX - 1);
}

/* Keep the latest. */
static void keep(struct heard *at, struct heard other) {
  at->silent_ms = TMB_MIN(at->silent_ms, other.silent_ms);
  at->since_ms = TMB_MIN(at->since_ms, other.since_ms);
}

static void collect(const struct losses *l) {
  for (uint32_t r = 0; r < l->s->size; r++) {
    const struct tmb_seen *seen = &l->s->rank[r];
    const uint64_t *net = seen->status.net, looked = net[TMB_STATUS_NET_LOOKED_NS];
    const uint64_t any = net[TMB_STATUS_NET_HEARD_NS];
    const uint32_t h = l->s->host_of[r];
    uint32_t peer;
    uint64_t silent_ns;
    if (!seen->here || !looked) continue;
    keep(&l->hears[h], (struct heard){ms_between(any, looked), ms_between(any, seen->at_ns)});
    if (!tmb_explain_asks(l->s, r, &peer, &silent_ns)) continue;
    const uint64_t lost = net[TMB_STATUS_NET_STALLED_COUNT], heard = looked - silent_ns;
    keep(cell(l, h, l->s->host_of[peer]),
         (struct heard){ms_between(heard, looked), ms_between(heard, seen->at_ns)});
    l->peers[h] = TMB_MAX(l->peers[h], (uint32_t)TMB_MIN(lost, (uint64_t)l->s->size));
  }
}

/* Number of hosts that get no answer from host g. out heard: when the best of them heard it. */
static uint32_t accusers(const struct losses *l, uint32_t g, struct heard *heard) {
  uint32_t count = 0;
  *heard = NEVER;
  for (uint32_t h = 0; h < l->s->hosts; h++) {
    if (!loses(l, h, g)) continue;
    keep(heard, *cell(l, h, g));
    count++;
  }
  return count;
}

static bool is_lost(const struct losses *l, uint32_t g) {
  struct heard heard;
  return accusers(l, g, &heard) > 0;
}

static bool is_seen(const struct losses *l, uint32_t host) {
  for (uint32_t r = 0; r < l->s->size; r++)
    if (l->s->host_of[r] == host && l->s->rank[r].here) return true;
  return false;
}

/* Whether nothing passes one way although packets pass the other way. */
static bool is_one_way(struct heard lost, struct heard passes) {
  return lost.silent_ms >= LONG_MS && passes.since_ms < lost.silent_ms / 2;
}

/* Why, as far as it is known. in heard: when others have heard host g; hears: when it has heard
 * others, or NEVER. */
static const char *direction(const struct losses *l, uint32_t g, struct heard heard,
                             struct heard hears) {
  if (!is_seen(l, g)) return "it answers nobody: it is cut off, stopped, or has no power";
  if (hears.since_ms != UINT32_MAX) {
    if (is_one_way(hears, heard))
      return "what is sent to it is lost in the network; what it sends arrives";
    if (is_one_way(heard, hears))
      return "what it sends is lost in the network; what is sent to it arrives";
    if (heard.silent_ms >= LONG_MS && hears.silent_ms >= LONG_MS)
      return "packets are lost in both directions";
  }
  return "the network between them is cut or loses packets, or that rank does not poll";
}

/* Of a host h that loses g, and of g, which no third host loses, whether h is the one to name: it
 * is lost by others too, and has lost more peers. Of two that lose as many, it is the one with the
 * higher number. */
static bool is_other(const struct losses *l, uint32_t h, uint32_t g) {
  if (!is_lost(l, h)) return false;
  return l->peers[g] < l->peers[h] || (loses(l, g, h) && l->peers[g] == l->peers[h] && g < h);
}

static const char *seconds(double s, char age[TMB_FMT_BYTES]) {
  tmb_fmt_print(age, TMB_FMT_BYTES, "%.1f s", s);
  return age;
}

/* Last time that host g heard host h, or anybody, if it loses more hosts than that one. */
static struct heard hears_of(const struct losses *l, uint32_t g, uint32_t h) {
  if (loses(l, g, h)) return *cell(l, g, h);
  return l->peers[g] > 1 ? l->hears[g] : NEVER;
}

/* The first rank of host h that gets no answer from a rank of host g. */
static void print_pair(const struct losses *l, uint32_t h, uint32_t g, FILE *out) {
  char from[TMB_WORDS_NAME], to[TMB_WORDS_NAME], age[TMB_FMT_BYTES];
  for (uint32_t r = 0; r < l->s->size; r++) {
    uint32_t peer;
    uint64_t silent_ns;
    if (l->s->host_of[r] != h || !tmb_explain_asks(l->s, r, &peer, &silent_ns)) continue;
    if (l->s->host_of[peer] != g) continue;
    fprintf(out, "%s gets no answer from %s for %s: %s\n",
            tmb_words_name(l->s, r, from, sizeof from), tmb_words_name(l->s, peer, to, sizeof to),
            seconds((double)silent_ns / 1e9, age),
            direction(l, g, *cell(l, h, g), hears_of(l, g, h)));
    return;
  }
}

/* Last time that host g, which several hosts lose, heard anybody, if it waits for an answer of
 * somebody. */
static struct heard hears_any(const struct losses *l, uint32_t g) {
  for (uint32_t h = 0; h < l->s->hosts; h++)
    if (loses(l, g, h)) return l->hears[g];
  return NEVER;
}

/* A host that several hosts lose. */
static void print_host(const struct losses *l, uint32_t g, FILE *out) {
  struct heard heard;
  char age[TMB_FMT_BYTES];
  const struct heard hears = hears_any(l, g);
  const uint32_t count = accusers(l, g, &heard);
  const bool asks = hears.since_ms != UINT32_MAX;
  const uint32_t most = asks ? TMB_MAX(heard.silent_ms, hears.silent_ms) : heard.silent_ms;
  if (most <= TMB_EXPLAIN_STALL_MS) return;
  fprintf(out, "%u hosts get no answer from %s for %s: %s\n", count, l->s->host_name[g],
          seconds((double)most / 1000.0, age), direction(l, g, heard, hears));
}

/* Whether a pair is worth a line: one of the two has not heard the other for a while. */
static bool counts(const struct losses *l, uint32_t h, uint32_t g) {
  const uint32_t one = cell(l, h, g)->silent_ms;
  const uint32_t other = loses(l, g, h) ? cell(l, g, h)->silent_ms : 0;
  return TMB_MAX(one, other) > TMB_EXPLAIN_STALL_MS;
}

static void print_losses(const struct losses *l, FILE *out) {
  struct heard heard;
  for (uint32_t g = 0; g < l->s->hosts; g++)
    if (accusers(l, g, &heard) > 1) print_host(l, g, out);
  for (uint32_t g = 0; g < l->s->hosts; g++) {
    if (accusers(l, g, &heard) != 1) continue;
    uint32_t h = 0;
    while (!loses(l, h, g)) h++;
    if (accusers(l, h, &heard) > 1 || is_other(l, h, g)) continue; /* that one is cut off */
    if (counts(l, h, g)) print_pair(l, h, g, out);
  }
}

void tmb_explain_network(const struct tmb_explain *e, FILE *out) {
  const size_t hosts = e->now->hosts, cells = hosts * hosts + hosts;
  struct losses l = {.s = e->now};
  l.of = malloc(cells * sizeof *l.of);
  l.peers = calloc(hosts, sizeof *l.peers);
  if (l.of && l.peers) {
    for (size_t i = 0; i < cells; i++) l.of[i] = NEVER;
    l.hears = l.of + hosts * hosts;
    collect(&l);
    print_losses(&l, out);
  }
  free(l.of);
  free(l.peers);
}
