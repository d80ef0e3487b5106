/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings of explain.c, in words.
 *
 * Owns: no state. Called as explain.h says. Calls: explain, explain_words. Invariants: one line for
 * one thing; every line names ranks by number in the job, and their hosts where there are several;
 * a cause is reported once, however many ranks wait for it.
 */
#include "boot/explain/explain_words.h"

#include "base/fmt.h"
#include "boot/page/ranklist.h"

#include <stdlib.h>
#include <string.h>

#define WHO_BYTES (TMB_RANKLIST_BYTES + 16)

/* Condition of a rank, in a few words. */
static void rank_text(const struct tmb_explain *e, uint32_t rank, char *buf, size_t bytes) {
  const struct tmb_snapshot *s = e->now;
  const struct tmb_seen *a = &e->before->rank[rank], *b = &s->rank[rank];
  const uint64_t time = b->at_ns - a->at_ns;
  switch (e->condition[rank]) {
  case TMB_SEEN_ELSEWHERE:
    snprintf(buf, bytes, "is on another machine, which has not answered");
    return;
  case TMB_SEEN_ABSENT: snprintf(buf, bytes, "has not initialised the library yet"); return;
  case TMB_SEEN_ENDED: snprintf(buf, bytes, "has ended"); return;
  case TMB_SEEN_STOPPED:
    snprintf(buf, bytes,
             b->process == 't' ? "is held by a debugger"
                               : "is stopped by a signal (SIGCONT continues it)");
    return;
  case TMB_SEEN_RUNS:
    snprintf(buf, bytes, "runs its own code, or polls (%u %% of a processor)",
             (unsigned)(time ? (b->cpu_ns - a->cpu_ns) * 100 / time : 0));
    return;
  case TMB_SEEN_POLLS:
    tmb_fmt_print(
        buf, bytes,
        "polls in a loop of its own, and has found nothing for %.1f s (%u %% of a processor)",
        (double)tmb_explain_polls(s, rank) / 1e9,
        (unsigned)(time ? (b->cpu_ns - a->cpu_ns) * 100 / time : 0));
    return;
  case TMB_SEEN_SLEEPS: snprintf(buf, bytes, "sleeps in a system call of its own"); return;
  default: break;
  }
  size_t used = 0;
  buf[0] = '\0';
  for (int i = 0; i < TMB_STATUS_WAITS && used + 64 < bytes; i++) {
    const struct tmb_status_wait *w = tmb_explain_wait(s, rank, i);
    if (!w) continue;
    char text[TMB_WORDS_BYTES];
    tmb_words_wait(s, rank, w, text, sizeof text);
    const double age = (double)(b->at_ns - TMB_MIN(w->since_ns, b->at_ns)) / 1e9;
    tmb_fmt_print(buf + used, bytes - used, "%s%.1f s %s %s", used ? "; " : "waits ", age,
                  w->layer.begun ? "in" : "for", text);
    used = strlen(buf);
  }
  if (!used)
    snprintf(buf, bytes, "waits for others to start (bootstrap, round %u)", b->status.boot_rounds);
}

/* Messages in the rank's queues, and in flight on the network. */
static void queue_text(const struct tmb_snapshot *s, uint32_t rank, char *buf, size_t bytes) {
  const struct tmb_seen *seen = &s->rank[rank];
  const uint64_t *net = seen->status.net;
  char name[TMB_WORDS_NAME];
  uint32_t peer;
  uint64_t silent_ns;
  buf[0] = '\0';
  if (seen->queued[0] + seen->queued[1])
    snprintf(buf, bytes, "; unread: %llu slots of requests, %llu of replies",
             (unsigned long long)seen->queued[0], (unsigned long long)seen->queued[1]);
  const size_t used = strlen(buf);
  if (tmb_explain_stalled(s, rank, &peer, &silent_ns))
    tmb_fmt_print(buf + used, bytes - used,
                  "; network: %llu packets without acknowledgement, %llu messages queued, %llu "
                  "retransmissions so far; %s silent for %.1f s",
                  (unsigned long long)net[TMB_STATUS_NET_UNACKED],
                  (unsigned long long)net[TMB_STATUS_NET_QUEUED],
                  (unsigned long long)net[TMB_STATUS_NET_RETRANSMITS],
                  tmb_words_name(s, peer, name, sizeof name), (double)silent_ns / 1e9);
  else if (net[TMB_STATUS_NET_UNACKED] + net[TMB_STATUS_NET_QUEUED])
    snprintf(buf + used, bytes - used,
             "; network: %llu packets in flight, %llu messages queued, %llu retransmissions so far",
             (unsigned long long)net[TMB_STATUS_NET_UNACKED],
             (unsigned long long)net[TMB_STATUS_NET_QUEUED],
             (unsigned long long)net[TMB_STATUS_NET_RETRANSMITS]);
}

/* Name of a rank's host: the launcher's, else the rank's. */
static const char *host_text(const struct tmb_snapshot *s, uint32_t rank) {
  return s->hosts > 1 ? s->host_name[s->host_of[rank]] : s->rank[rank].status.host;
}

/* As tmb_words_name, without the host. */
static const char *short_name(const struct tmb_snapshot *s, uint32_t rank, char *buf,
                              size_t bytes) {
  tmb_words_name(s, rank, buf, bytes);
  char *host = strstr(buf, " on ");
  if (host) *host = '\0';
  return buf;
}

static bool hangs(const struct tmb_explain *e, uint32_t rank) {
  const enum tmb_condition c = e->condition[rank];
  return (c == TMB_SEEN_WAITS || c == TMB_SEEN_POLLS) && !e->live[rank];
}

void tmb_explain_ranks(const struct tmb_explain *e, FILE *out, bool all) {
  char text[2 * TMB_WORDS_BYTES], last[2 * TMB_WORDS_BYTES] = "", queue[TMB_WORDS_BYTES];
  char name[TMB_WORDS_NAME];
  const char *last_host = "";
  uint32_t alike = 0;
  for (uint32_t r = 0; r < e->now->size; r++) {
    rank_text(e, r, text, sizeof text);
    queue_text(e->now, r, queue, sizeof queue);
    const char *host = host_text(e->now, r);
    if (!all && !queue[0] && strcmp(text, last) == 0 && strcmp(host, last_host) == 0) {
      alike++;
      continue;
    }
    if (alike) fprintf(out, "  ... and the %u after it\n", alike);
    alike = 0;
    fprintf(out, "%-9s %s%s%s%s%s\n", short_name(e->now, r, name, sizeof name), host,
            host[0] ? ": " : "", text, queue, hangs(e, r) ? " [hangs]" : "");
    snprintf(last, sizeof last, "%s", text);
    last_host = host;
  }
  if (alike) fprintf(out, "  ... and the %u after it\n", alike);
}

/* ---- causes */

struct causes {
  const struct tmb_explain *e;
  FILE *out;
  uint8_t *mark, *group, *shown; /* [size] */
  bool hang;                     /* only hangs; else all waits */
};

static bool counts(const struct causes *c, uint32_t rank) {
  return c->e->condition[rank] == TMB_SEEN_WAITS && !(c->hang && c->e->live[rank]);
}

/* Whether two ranks wait in one call. */
static bool same_call(const struct tmb_snapshot *s, uint32_t a, const struct tmb_status_wait *x,
                      uint32_t b, const struct tmb_status_wait *y) {
  return x->kind == y->kind && x->number == y->number && x->what == y->what &&
         x->team < TMB_STATUS_TEAMS && y->team < TMB_STATUS_TEAMS &&
         s->rank[a].status.team[x->team].uid == s->rank[b].status.team[y->team].uid;
}

/* Mark in c->group those that wait in the call of `rank`. */
static void gather_group(struct causes *c, uint32_t rank, const struct tmb_status_wait *w) {
  const struct tmb_snapshot *s = c->e->now;
  for (uint32_t r = 0; r < s->size; r++) {
    const struct tmb_status_wait *v = counts(c, r) ? tmb_explain_wait(s, r, 0) : NULL;
    c->group[r] = v && same_call(s, rank, w, r, v);
    if (c->group[r]) c->shown[r] = 1;
  }
}

/* Print the condition of each marked rank. */
static void print_marked(const struct causes *c) {
  char text[2 * TMB_WORDS_BYTES], name[TMB_WORDS_NAME];
  uint32_t shown = 0;
  for (uint32_t r = 0; r < c->e->now->size && shown < 4; r++) {
    if (!c->mark[r]) continue;
    rank_text(c->e, r, text, sizeof text);
    fprintf(c->out, "; %s %s", tmb_words_name(c->e->now, r, name, sizeof name), text);
    shown++;
  }
}

static void print_call(struct causes *c, uint32_t rank, const struct tmb_status_wait *w) {
  const struct tmb_snapshot *s = c->e->now;
  char call[TMB_WORDS_BYTES], who[WHO_BYTES], missing[WHO_BYTES];
  uint32_t marked = 0, waiting = 0;
  (void)tmb_explain_needs(c->e, rank, w, c->mark);
  for (uint32_t r = 0; r < s->size; r++) marked += c->mark[r];
  gather_group(c, rank, w);
  for (uint32_t r = 0; r < s->size; r++) waiting += c->group[r];
  tmb_words_call(s, rank, w, call, sizeof call);
  tmb_words_ranks(s, c->group, who, sizeof who);
  tmb_words_ranks(s, c->mark, missing, sizeof missing);
  if (!marked) {
    fprintf(c->out,
            "all members have called %s, and %s still wait%s: a wake-up or a message was lost\n",
            call, who, waiting > 1 ? "" : "s");
    return;
  }
  uint32_t first = 0;
  while (!c->mark[first]) first++;
  const int at = tmb_explain_team(s, first, s->rank[rank].status.team[w->team].uid);
  bool called = at >= 0 && tmb_explain_calls(s, first, at, w) >= w->number;
  for (int i = 0; i < TMB_STATUS_MISSING; i++) called = called && !w->missing[i];
  fprintf(c->out, "%s wait%s in %s, %s %s %s", who, waiting > 1 ? "" : "s", call,
          called ? "which waits for polls of" : "which", missing,
          called        ? ""
          : marked == 1 ? "has not called"
                        : "have not called");
  print_marked(c);
  fprintf(c->out, "\n");
}

/* A wait for a peer, or for anybody. */
static void print_other(struct causes *c, uint32_t rank, const struct tmb_status_wait *w) {
  const struct tmb_explain *e = c->e;
  char text[TMB_WORDS_BYTES], name[TMB_WORDS_NAME];
  tmb_words_wait(e->now, rank, w, text, sizeof text);
  const enum tmb_needs needs = tmb_explain_needs(e, rank, w, c->mark);
  fprintf(c->out, "%s waits %s %s", tmb_words_name(e->now, rank, name, sizeof name),
          w->layer.begun ? "in" : "for", text);
  if (tmb_explain_holds(e->now, rank, w))
    fprintf(c->out,
            ": it holds already, so a wake-up was lost, or it was changed by a plain store");
  else if (needs == TMB_NEEDS_ANY && c->hang)
    fprintf(c->out, ", which no other rank can bring about: all that are left wait or are stopped");
  else if (needs == TMB_NEEDS_ALL)
    print_marked(c);
  fprintf(c->out, "\n");
  c->shown[rank] = 1;
}

/* The one rank that a rank waits for, UINT32_MAX if there is none or there are several. */
static uint32_t only_need(struct causes *c, uint32_t rank) {
  const struct tmb_status_wait *w = tmb_explain_wait(c->e->now, rank, 0);
  uint32_t found = UINT32_MAX;
  if (!w || !counts(c, rank)) return UINT32_MAX;
  (void)tmb_explain_needs(c->e, rank, w, c->mark);
  for (uint32_t r = 0; r < c->e->now->size; r++) {
    if (!c->mark[r]) continue;
    if (found != UINT32_MAX) return UINT32_MAX;
    found = r;
  }
  return found;
}

/* Follow ranks that wait for just one rank; print a circle through `start` if there is one. */
static void print_circle(struct causes *c, uint32_t start) {
  const struct tmb_snapshot *s = c->e->now;
  const uint32_t size = s->size;
  char name[TMB_WORDS_NAME];
  uint32_t length = 0, r = start;
  do r = only_need(c, r);
  while (r != UINT32_MAX && r != start && ++length < size);
  if (r != start) return;
  uint32_t lowest = start; /* which prints it */
  for (r = only_need(c, start); r != start; r = only_need(c, r)) lowest = TMB_MIN(lowest, r);
  if (lowest != start) return;
  fprintf(c->out, "in a circle: %s", short_name(s, start, name, sizeof name));
  do {
    r = only_need(c, r);
    fprintf(c->out, " waits for %s", short_name(s, r, name, sizeof name));
    if (r != start) fprintf(c->out, ", which");
  } while (r != start);
  fprintf(c->out, "\n");
}

/* Ranks that poll in loops of their own while nobody does anything that could end the loops. */
static void print_polls(struct causes *c) {
  const struct tmb_explain *e = c->e;
  char who[WHO_BYTES];
  uint32_t polling = 0;
  bool alone = e->idle;
  for (uint32_t r = 0; r < e->now->size; r++) {
    const enum tmb_condition is = e->condition[r];
    c->mark[r] = is == TMB_SEEN_POLLS && !(c->hang && e->live[r]);
    polling += c->mark[r];
    alone = alone && (is == TMB_SEEN_POLLS || is == TMB_SEEN_WAITS || is == TMB_SEEN_ENDED ||
                      is == TMB_SEEN_STOPPED);
  }
  if (!polling || !alone) return;
  fprintf(c->out,
          "%s poll%s in %s own, nothing is in flight in the job, and no other rank is left to send "
          "anything%s\n",
          tmb_words_ranks(e->now, c->mark, who, sizeof who), polling > 1 ? "" : "s",
          polling > 1 ? "loops of their" : "a loop of its",
          c->hang ? "" : ": that hangs, unless the loops end by themselves");
}

void tmb_explain_causes(const struct tmb_explain *e, FILE *out) {
  const uint32_t size = e->now->size;
  struct causes c = {.e = e, .out = out, .hang = e->verdict == TMB_VERDICT_HANG};
  c.mark = calloc(3 * (size_t)size, 1);
  if (!c.mark) return;
  c.group = c.mark + size;
  c.shown = c.group + size;
  for (uint32_t r = 0; r < size; r++) {
    const struct tmb_status_wait *w = counts(&c, r) ? tmb_explain_wait(e->now, r, 0) : NULL;
    if (!w || c.shown[r]) continue;
    if (tmb_words_is_call(w) && w->team < TMB_STATUS_TEAMS)
      print_call(&c, r, w);
    else
      print_other(&c, r, w);
  }
  for (uint32_t r = 0; r < size && c.hang; r++) print_circle(&c, r);
  print_polls(&c);
  tmb_explain_network(e, out);
  free(c.mark);
}
